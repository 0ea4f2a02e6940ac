//! Brings the program, the study and the order of a run to a far machine, once each, and fails if the machine cannot run
//! them. It starts no shard.

use super::far::{Failure, Far, fatal};
use crate::calls::tar;
use crate::run_folder::{ORDER, RunFolder, STUDY, sha256, unreadable, unwritten};
use bakeoff_command::CommandError;
use bakeoff_model::plain::clean;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The only system that Bakeoff runs on.
const SYSTEM: &str = "Linux";
/// Architectures that `uname -m` calls as Rust does. On others, it shows when the program is tried.
const MACHINES: [&str; 4] = ["x86_64", "aarch64", "riscv64", "s390x"];

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

    fn value(&self, word: &str) -> &str {
        self.0.get(word).and_then(|values| values.first()).map_or("", String::as_str)
    }

    /// Fails if the machine cannot do what is asked of it.
    fn check(&self, name: &str) -> Result<(), CommandError> {
        let (system, machine, own) = (self.value("system"), self.value("machine"), std::env::consts::ARCH);
        if system != SYSTEM {
            let error = format!("{name} has the system {}, and Bakeoff runs on {SYSTEM} only", clean(system));
            return Err(CommandError::usage(error).hint("remove it from `ssh` in machines.toml"));
        }
        if MACHINES.contains(&own) && machine != own {
            let error = format!("{name} has {} processors, and this program is for {own}", clean(machine));
            return Err(CommandError::usage(error)
                .hint("start the command on a machine of that kind, or remove this one from `ssh` in machines.toml"));
        }
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
            .hint("use the static one of `make tarball`, which needs no libraries there"),
        other => fatal(far, &other),
    })?;
    if !seen.0.contains_key("study") {
        let tar = archive(&run.dir.join(STUDY))?;
        let sent = Sent::of(tar.path().to_owned())?;
        far.ask("study", &[&sent.sha256], Some(&sent.path)).map_err(failed)?;
    }
    let order = Sent::of(run.dir.join(ORDER))?;
    if seen.value("order") != order.sha256 {
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
    fn a_machine_that_cannot_run_the_program_is_refused() {
        let own = std::env::consts::ARCH;
        let check = |text: &str| Seen::of(text.as_bytes()).check("box").map_err(|error| error.render());
        assert_eq!(check(&format!("system Linux\nmachine {own}\nprogram\n")), Ok(()));
        let why = |text: &str| check(text).unwrap_err().lines().next().unwrap().to_owned();
        assert_eq!(why("system Darwin\n"), "error: box has the system Darwin, and Bakeoff runs on Linux only");
        if MACHINES.contains(&own) {
            let expect = format!("error: box has pdp11 processors, and this program is for {own}");
            assert_eq!(why("system Linux\nmachine pdp11\n"), expect);
        }
        let lacks = format!("system Linux\nmachine {own}\nlacks flock\nlacks setsid\n");
        assert_eq!(why(&lacks), "error: box has no flock, setsid");
    }
}
