//! What probes have in common that stand in the place of a trial's commands: orders to a tracer or watcher and its answers, and
//! the files of both in the scratch folder. What is ordered, and what an answer means, is theirs.

use bakeoff_host::Command;
use bakeoff_host::tracer::{Order, TraceReport};
use bakeoff_lab::{Error, Unseen};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The scratch folder of a trial, absolute, because services may be run elsewhere.
pub(crate) fn absolute(scratch: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(scratch).map_err(|source| folder_error(scratch, source))
}

fn folder_error(path: &Path, source: io::Error) -> Error {
    Error::Folder { path: path.to_owned(), source }
}

/// Makes a command an order in that file, and puts the tracer in its place, with nothing in its environment.
pub(crate) fn order(command: &mut Command, tracer: &[String], file: &Path, order: Order) -> Result<(), Error> {
    // One that is started again has reported nothing yet.
    let _ = fs::remove_file(&order.output);
    let (argv, env) = (std::mem::take(&mut command.argv), std::mem::take(&mut command.env));
    let text = serde_json::to_vec(&Order { argv, env, ..order });
    let written = text.map_err(io::Error::from).and_then(|text| fs::write(file, text));
    written.map_err(|source| folder_error(file, source))?;
    command.argv = tracer.to_vec();
    command.argv.push(file.to_string_lossy().into_owned());
    Ok(())
}

/// What a tracer or watcher saw, or why it saw nothing.
pub(crate) fn seen<S: DeserializeOwned>(file: &Path) -> Result<S, Unseen> {
    let report: Option<TraceReport<S>> = fs::read(file).ok().and_then(|text| serde_json::from_slice(&text).ok());
    match report {
        Some(TraceReport::Seen(seen)) => Ok(seen),
        Some(TraceReport::NotStarted { what, why }) => Err(Unseen::NotStarted { what, why }),
        Some(TraceReport::Refused { why }) => Err(Unseen::Refused(why)),
        Some(TraceReport::Used(_)) | None => Err(Unseen::Silent),
    }
}

/// Creates the file that is there while the trial lasts: what services do meanwhile counts.
pub(crate) fn begin(during: &Path) -> Result<(), Error> {
    fs::write(during, "").map_err(|source| folder_error(during, source))
}

/// Removes it.
pub(crate) fn end(during: &Path) -> Result<(), Error> {
    fs::remove_file(during).map_err(|source| folder_error(during, source))
}

/// The files there that begin so, in order.
pub(crate) fn files(scratch: &Path, stem: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(scratch).into_iter().flatten().flatten();
    let is_of_it = |file: &fs::DirEntry| file.file_name().to_string_lossy().starts_with(stem);
    let mut files: Vec<PathBuf> = files.filter(is_of_it).map(|file| file.path()).collect();
    files.sort();
    files
}

/// Removes them.
pub(crate) fn forget(scratch: &Path, stem: &str) {
    for file in files(scratch, stem) {
        let _ = fs::remove_file(file);
    }
}

/// What was seen of services, and why nothing was seen of the others.
pub(crate) fn told<T>(all: BTreeMap<String, Result<T, String>>) -> (BTreeMap<String, T>, BTreeMap<String, String>) {
    let (mut seen, mut unseen) = (BTreeMap::new(), BTreeMap::new());
    for (service, one) in all {
        match one {
            Ok(one) => drop(seen.insert(service, one)),
            Err(why) => drop(unseen.insert(service, why)),
        }
    }
    (seen, unseen)
}

/// Why nothing was seen, in one line; `silent` says it of what reported nothing.
pub(crate) fn in_words(unseen: &Unseen, silent: &str) -> String {
    match unseen {
        Unseen::Refused(why) => why.clone(),
        Unseen::NotStarted { what, why } => format!("{what}: {why}"),
        Unseen::Silent => silent.to_owned(),
    }
}
