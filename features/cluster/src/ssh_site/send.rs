//! Brings the program, the study and the order of a run to a far machine, or fails if it cannot run them.

use super::far::{Failure, Far, fatal};
use crate::calls::tar;
use crate::run_folder::{ORDER, RunFolder, STUDY, sha256, unreadable, unwritten};
use bakeoff_command::CommandError;
use bakeoff_model::plain::clean;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A file, and its digest, by which the far side knows it.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    pub(super) path: PathBuf,
    pub(super) sha256: String,
}

impl Sent {
    pub(super) fn of(path: PathBuf) -> Result<Self, CommandError> {
        let bytes = std::fs::read(&path).map_err(|error| unreadable(&path, &error))?;
        Ok(Self { sha256: sha256(&bytes), path })
    }
}

/// What a machine tells about itself: lines of a word and perhaps another.
struct Seen(BTreeMap<String, Vec<String>>);

impl Seen {
    fn of(out: &[u8]) -> Self {
        let mut seen: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for line in String::from_utf8_lossy(out).lines() {
            let (word, value) = line.split_once(' ').unwrap_or((line, ""));
            seen.entry(word.to_owned()).or_default().push(value.to_owned());
        }
        Self(seen)
    }

    /// Fails if the machine cannot do what is asked of it.
    fn check(&self, name: &str) -> Result<(), CommandError> {
        match self.0.get("lacks") {
            None => Ok(()),
            Some(tools) => Err(CommandError::usage(format!("{name} has no {}", clean(&tools.join(", "))))
                .hint("install them there; Debian has them in coreutils, findutils, tar and util-linux")),
        }
    }
}

/// Brings everything to a machine that it lacks.
pub(super) fn send(far: &Far<'_>, run: &RunFolder, program: &Sent) -> Result<(), CommandError> {
    let failed = |failure: Failure| fatal(far, &failure);
    let seen = Seen::of(&far.ask("look", &[&program.sha256], None).map_err(failed)?);
    seen.check(&far.name())?;
    if !seen.0.contains_key("program") {
        far.ask("program", &[&program.sha256], Some(&program.path)).map_err(failed)?;
    }
    far.ask("try", &[&program.sha256], None).map_err(|failure| match failure {
        Failure::Refused(why) => CommandError::usage(format!("this program does not run on {}: {why}", far.name()))
            .hint("use the static one of `make tarball`, which needs no libraries there; both need Linux on the same processors"),
        other => fatal(far, &other),
    })?;
    if !seen.0.contains_key("study") {
        let tar = archive(&run.dir.join(STUDY))?;
        let sent = Sent::of(tar.path().to_owned())?;
        far.ask("study", &[&sent.sha256], Some(&sent.path)).map_err(failed)?;
    }
    let order = Sent::of(run.dir.join(ORDER))?;
    if seen.0.get("order").is_none_or(|there| *there != [order.sha256.clone()]) {
        far.ask("order", &[&order.sha256], Some(&order.path)).map_err(failed)?;
    }
    Ok(())
}

/// A folder as a tar.
fn archive(folder: &Path) -> Result<tempfile::NamedTempFile, CommandError> {
    let file = tempfile::NamedTempFile::new().map_err(|error| unwritten(&std::env::temp_dir(), &error))?;
    tar(folder, &["-cf".as_ref(), file.path().as_os_str(), ".".as_ref()])?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_the_tools_is_refused() {
        let check = |text: &str| Seen::of(text.as_bytes()).check("box").map_err(|error| error.render());
        assert_eq!(check("program\n"), Ok(()));
        let why = check("lacks flock\nlacks setsid\n").unwrap_err();
        assert_eq!(why.lines().next(), Some("error: box has no flock, setsid"));
    }
}
