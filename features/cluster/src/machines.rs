//! `machines.toml`: the machines that a study can run on, by name. The study's file comes before the user's.

mod section;
mod settings;

use crate::run_folder::{shown, unreadable};
use bakeoff_command::CommandError;
use bakeoff_command::study_folder::problems;
use bakeoff_host::disk::read_text;
use bakeoff_model::problem::suggest;
use section::{Login, parse};
pub(crate) use settings::{Host, Machines, SlurmSettings, Way, slurm_time_s};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// The file's name, in both places.
pub(crate) const FILE: &str = "machines.toml";

/// No such file is larger.
const FILE_BYTES: u64 = 1 << 20;

fn listed(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| shown(path)).collect::<Vec<_>>().join(" or ")
}

/// Returns the machines of that name: those of the study's file, else those of the user's.
///
/// # Errors
/// A file cannot be read or has problems (all of them are shown), or no file has that name.
pub(crate) fn read(name: &str, study_dir: &Path) -> Result<Machines, CommandError> {
    let login = Login::of(study_dir, |variable| std::env::var_os(variable));
    let places = [Some(study_dir.join(FILE)), users_file(|variable| std::env::var_os(variable))];
    find(name, places.into_iter().flatten().collect(), &login)
}

/// `$XDG_CONFIG_HOME/bakeoff/machines.toml`, else `~/.config/bakeoff/machines.toml`.
fn users_file(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")))?;
    Some(folder.join("bakeoff").join(FILE))
}

fn find(name: &str, places: Vec<PathBuf>, login: &Login) -> Result<Machines, CommandError> {
    let (mut read, mut names) = (vec![], vec![]);
    for path in &places {
        let text = match read_text(path, FILE_BYTES) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(unreadable(path, &error)),
        };
        for machines in parse(&text, login).map_err(|list| problems(path, &text, list))? {
            if machines.name == name {
                return Ok(machines);
            }
            if !names.contains(&machines.name) {
                names.push(machines.name);
            }
        }
        read.push(path.clone());
    }
    if read.is_empty() {
        let hint = "create one of them with a section such as `[lab]`, with `slurm = { partition = \"…\" }` or \
            `ssh = [\"user@host\"]` in it";
        let error = format!("there is no {FILE}, so `{name}` is unknown; looked for {}", listed(&places));
        return Err(CommandError::usage(error).hint(hint));
    }
    let hint = match &*suggest(name, names.iter().map(String::as_str)) {
        "" => "add this section; the file has none".to_owned(),
        suggestion => suggestion.to_owned(),
    };
    Err(CommandError::usage(format!("there is no [{name}] in {}", listed(&read))).hint(hint))
}

#[cfg(test)]
mod tests;
