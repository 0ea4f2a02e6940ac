//! Folders as users write them, with variables and `~`. No shell is asked.

use bakeoff_command::CommandError;

/// The folder with `$NAME`, `${NAME}` and a leading `~` replaced; a relative one is in the home folder.
pub(crate) fn expanded(folder: &str) -> Result<String, CommandError> {
    let home = folder.strip_prefix("~/").map(|rest| format!("$HOME/{rest}"));
    let is_below_home = home.is_none() && !folder.starts_with(['/', '$']);
    let text = home.unwrap_or_else(|| if is_below_home { format!("$HOME/{folder}") } else { folder.to_owned() });
    let value = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty()).map(Some).ok_or(());
    shellexpand::env_with_context(&text, value).map(Into::into).map_err(|missing| {
        let error = format!("the folder `{folder}` needs ${}, which has no value here", missing.var_name);
        CommandError::usage(error).hint("write the folder without it in machines.toml, or have `setup` set it")
    })
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
