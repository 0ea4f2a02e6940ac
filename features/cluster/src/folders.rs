//! Folders as users write them, with variables and `~`. No shell is asked.

use bakeoff_command::CommandError;

/// The folder with `$NAME`, `${NAME}` and a leading `~` replaced by the values that they have on this machine. One that is
/// relative is in the home folder here.
pub(crate) fn expanded(folder: &str) -> Result<String, CommandError> {
    let value = |name: &str| {
        let given = std::env::var(name).ok().filter(|value| !value.is_empty());
        given.ok_or_else(|| {
            CommandError::usage(format!("the folder `{}` needs ${name}, which has no value here", folder))
                .hint("write the folder without it in machines.toml, or have `setup` set it")
        })
    };
    let (mut out, mut rest) = match folder.strip_prefix("~/") {
        Some(rest) => (value("HOME")? + "/", rest),
        None => (String::new(), folder),
    };
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let (name, more) = match after.strip_prefix('{').and_then(|braced| braced.split_once('}')) {
            Some(found) => found,
            None => after.split_at(after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len())),
        };
        out.push_str(&value(name)?);
        rest = more;
    }
    out.push_str(rest);
    if !out.starts_with('/') {
        out = format!("{}/{out}", value("HOME")?);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_and_the_home_folder_are_replaced() {
        let home = std::env::var("HOME").unwrap();
        assert_eq!(expanded("/a/$HOME/b${HOME}c").unwrap(), format!("/a/{home}/b{home}c"));
        assert_eq!(expanded("~/x").unwrap(), format!("{home}/x"));
        assert_eq!(expanded("x/y").unwrap(), format!("{home}/x/y"));
        assert_eq!(expanded("/a~/x").unwrap(), "/a~/x");
        assert!(expanded("$NOBODY_HAS_THIS/x").is_err());
    }
}
