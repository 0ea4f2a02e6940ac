//! `bakeoff studies`: lists the studies that the program carries, and writes one out.

use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::screen;
use bakeoff_report::draw::text::clean;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// A file of a study.
struct File {
    /// Below the folder of all studies: its first name is the study's.
    path: &'static str,
    is_executable: bool,
    content: &'static [u8],
}

const FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/studies.rs"));

/// List the studies that come with Bakeoff, or copy one
///
/// Each study is a folder that you can read, run and change. `bakeoff plan` shows what a study would do, and how long it may take.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bakeoff studies
  bakeoff studies copy sqlite-journal
  bakeoff plan sqlite-journal")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List the studies (the default)
    List,
    /// Copy a study into a new folder
    Copy {
        /// The study
        name: String,
        /// The new folder [default: one named after the study, in the current folder]
        folder: Option<PathBuf>,
    },
}

pub(crate) fn execute(args: &Args) -> Result<Code, CommandError> {
    match &args.action {
        None | Some(Action::List) => screen::out(&list()),
        Some(Action::Copy { name, folder }) => {
            screen::out(&copy(name, folder.as_deref().unwrap_or(Path::new(name)))?);
        }
    }
    Ok(Code::Done)
}

/// The name of the study that a file belongs to, and the file's path in it.
fn parts(file: &File) -> (&'static str, &'static str) {
    file.path.split_once('/').unwrap_or((file.path, ""))
}

fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = FILES.iter().map(|file| parts(file).0).collect();
    names.dedup();
    names
}

fn text_of(study: &str, path: &str) -> &'static str {
    let file = FILES.iter().find(|file| parts(file) == (study, path));
    file.and_then(|file| std::str::from_utf8(file.content).ok()).unwrap_or_default()
}

/// The study's question, as its file has it.
fn question(study: &str) -> &'static str {
    let line = text_of(study, "study.toml").lines().find_map(|line| line.strip_prefix("question"));
    line.and_then(|line| line.split('"').nth(1)).unwrap_or_default()
}

fn list() -> String {
    let longest = names().iter().map(|name| name.len()).max().unwrap_or(0);
    let mut text = "Studies (`bakeoff studies copy NAME` copies one into a new folder):\n".to_owned();
    for name in names() {
        let _ = writeln!(text, "  {name:longest$}  {}", question(name));
    }
    text
}

/// Copies a study, and returns what to do next.
fn copy(name: &str, folder: &Path) -> Result<String, CommandError> {
    let files: Vec<&File> = FILES.iter().filter(|file| parts(file).0 == name).collect();
    if files.is_empty() {
        let error = format!("there is no study `{}`", clean(name));
        return Err(CommandError::usage(error).hint(format!("there are: {}", names().join(", "))));
    }
    let shown = clean(&folder.display().to_string());
    let failed = |error: &io::Error, hint: &str| {
        CommandError::unwritten(&format!("cannot write the study into {shown}"), error).hint(hint)
    };
    fs::create_dir(folder).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => failed(&error, "nothing was changed; name a folder that does not exist yet"),
        _ => failed(&error, "name a new folder inside an existing one that you may write to"),
    })?;
    for file in files {
        write(file, &folder.join(parts(file).1))
            .map_err(|error| failed(&error, "remove the folder before you copy the study again"))?;
    }
    // `PROGRAM=PACKAGE` names the package of a program.
    let package = |word: &'static str| word.rsplit('=').next().unwrap_or(word);
    let needs = text_of(name, "packages").split_whitespace().map(package).collect::<Vec<_>>().join(" ");
    let needs = if needs.is_empty() { needs } else { format!("Needed Debian packages: {needs}\n") };
    Ok(format!(
        "The study {name} is in {shown}.\n{needs}Next: `bakeoff plan {shown}` shows what the study does; \
         `bakeoff run {shown}` runs it.\n"
    ))
}

fn write(file: &File, to: &Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    let mode = if file.is_executable { 0o755 } else { 0o644 };
    OpenOptions::new().write(true).create_new(true).mode(mode).open(to)?.write_all(file.content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_study_has_its_file_and_a_question() {
        for name in names() {
            assert!(!question(name).is_empty(), "{name}");
            assert!(text_of(name, "study.toml").contains(&format!("\"{name}\"")), "{name}");
        }
        assert!(names().contains(&"perl-options") && !FILES.iter().any(|file| file.path.contains("/.")));
    }
}
