//! Adds a level to a study that is there, and touches nothing else of the file: comments, order and white space stay.

use crate::levels::{Level, parse};
use crate::write::replace;
use bakeoff_command::study_folder::StudyFolder;
use bakeoff_command::{Code, CommandError, Registry, screen};
use std::path::Path;
use toml_edit::{DocumentMut, Item};

/// Adds levels to the study in a folder.
///
/// # Errors
/// If there is no study, or it is no study any more with them: then the file stays as it was.
pub(crate) fn add(
    dir: &Path,
    factor: Option<&str>,
    levels: &[String],
    features: &Registry,
) -> Result<Code, CommandError> {
    let folder = StudyFolder::open(dir, features)?;
    let before = std::fs::read_to_string(&folder.file).map_err(CommandError::usage)?;
    let mut document: DocumentMut = before.parse().map_err(CommandError::usage)?;
    for text in levels {
        let (factor, mut level) = meant(&document, factor, text)?;
        let trains = level.training().is_some();
        if level.training().is_some_and(|command| command.is_empty()) {
            return Err(CommandError::usage(format!("the level `{text}` needs a training command"))
                .hint("add one that runs the program in $PREFIX: 'pgo=profile:\"$PREFIX/bin/prog\" input'"));
        }
        insert(&mut document, &factor, &level)?;
        screen::out(&format!("added to {factor}: {} = {}\n", level.name, level.table()));
        if trains {
            screen::out(
                "the training runs in the same folder as the build script; if it reads files of the study, list them \
                    in `files` of the [[build]]\n",
            );
        }
    }
    replace(&folder.file, document.to_string().as_bytes()).map_err(CommandError::usage)?;
    if let Err(error) = StudyFolder::open(dir, features) {
        replace(&folder.file, before.as_bytes()).map_err(CommandError::usage)?;
        screen::err("note: the change to study.toml was undone\n");
        return Err(error);
    }
    screen::out(&format!("next: bakeoff run {}\n", dir.display()));
    Ok(Code::Done)
}

/// The factor and the level. A name before `=` that is a factor's means that one, and the words name the level.
fn meant(document: &DocumentMut, factor: Option<&str>, text: &str) -> Result<(String, Level), CommandError> {
    let factors = document.get("build_factors").and_then(Item::as_table_like);
    let names: Vec<&str> = factors.map(|table| table.iter().map(|(name, _)| name).collect()).unwrap_or_default();
    if let Some((name, words)) = text.split_once('=').filter(|(name, _)| names.contains(name) && factor.is_none()) {
        return Ok((name.to_owned(), parse(words)?));
    }
    let factor = match (factor, &names[..]) {
        (Some(factor), names) if names.contains(&factor) => factor,
        (None, [only]) => only,
        (_, []) => {
            return Err(CommandError::usage("the study has no build factors, so no level can be added")
                .hint("add a table [build_factors.NAME] to study.toml; see `bakeoff help study-file`"));
        }
        (Some(other), _) => {
            return Err(CommandError::usage(format!("the study has no build factor `{other}`"))
                .hint(format!("available: {}", names.join(", "))));
        }
        (None, _) => {
            return Err(CommandError::usage(format!("the study has several factors, so name one for `{text}`"))
                .hint(format!("use --factor NAME; available: {}", names.join(", "))));
        }
    };
    Ok((factor.to_owned(), parse(text)?))
}

fn insert(document: &mut DocumentMut, factor: &str, level: &Level) -> Result<(), CommandError> {
    let table = document.get_mut("build_factors").and_then(|factors| factors.get_mut(factor));
    let table = table.and_then(Item::as_table_like_mut);
    let Some(table) = table else {
        return Err(CommandError::usage(format!("`build_factors.{factor}` is not a table")));
    };
    if table.contains_key(&level.name) {
        return Err(CommandError::usage(format!("`{factor}` already has a level `{}`", level.name))
            .hint("choose another name: --add-level NAME=WORDS"));
    }
    table.insert(&level.name, Item::Value(level.table()));
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;

    const STUDY: &str =
        "# A study.\n[build_factors.opt]  # levels\nO2 = { append = \"-O2\" }   # two\n\n# the rest\n[decide]\n";

    fn added(study: &str, factor: Option<&str>, text: &str) -> Result<String, String> {
        let mut document: DocumentMut = study.parse().unwrap();
        let (factor, level) = meant(&document, factor, text).map_err(|error| error.render())?;
        insert(&mut document, &factor, &level).map_err(|error| error.render())?;
        Ok(document.to_string())
    }

    #[test]
    fn a_level_is_added_and_nothing_else_changes() {
        let new = STUDY.replace("# two\n", "# two\nOs = { append = \"-Os\" }\n");
        assert_eq!(added(STUDY, None, "opt=-Os").unwrap(), new, "the factor's name");
        assert_eq!(added(STUDY, None, "Os=-Os").unwrap(), new, "the level's name");
        assert_eq!(added(STUDY, Some("opt"), "-Os").unwrap(), new);
        let trained = added(STUDY, None, "pgo=profile:\"$PREFIX/p\" x").unwrap();
        assert!(trained.contains("pgo = { profile = '\"$PREFIX/p\" x' }\n"), "{trained}");
    }

    #[test]
    fn what_is_not_clear_is_asked_back() {
        assert!(added(STUDY, Some("cc"), "-Os").unwrap_err().contains("available: opt"));
        assert!(added(STUDY, None, "O2=-O1").unwrap_err().contains("`opt` already has a level `O2`"));
        let two = format!("{STUDY}[build_factors.cc]\ngcc = {{}}\n");
        assert!(added(&two, None, "Os=-Os").unwrap_err().contains("opt, cc"));
        assert!(added(&two, None, "opt=-Os").is_ok());
    }
}
