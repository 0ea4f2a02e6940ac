//! `bakeoff import`: unpacks what `bakeoff export` packed, which may come from anybody. It executes nothing and believes
//! nothing but sums; what came is kept apart from what this machine will measure.

use crate::error::{At as _, Error};
use crate::format::Manifest;
use crate::name::top_of;
use crate::open::{Bounds, open};
use bakeoff_building::Cache;
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::scratch::Scratch;
use bakeoff_command::screen;
use bakeoff_command::state::{StateFolder, imported_in, remember_imported_as_latest};
use bakeoff_model::plain::clean;
use bakeoff_report::format;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Unpack an exported study to judge it again or repeat it on this machine
///
/// Import never runs anything from the parcel. It writes only to FOLDER, except
/// that it adds sources to the cache if they match their SHA-256. Journals,
/// records and logs go to FOLDER/.bakeoff/imported/. Finished builds (prefixes)
/// go there too, but only for inspection. Afterwards:
///
///   bakeoff report FOLDER                       print the exported report
///   bakeoff run FOLDER                          repeat the study here, in a new journal
///   bakeoff report FOLDER --against imported    compare the two
///
/// The study's scripts come from someone else, so read them before you build or
/// run the study.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// The file that `bakeoff export` wrote
    parcel: PathBuf,
    /// The folder to create [default: one named after the study, in the current folder]
    folder: Option<PathBuf>,
    /// Refuse a parcel that unpacks to more than this size
    #[arg(long, value_name = "SIZE", default_value = "16G", value_parser = bakeoff_command::arguments::size)]
    most: u64,
}

pub(crate) fn execute(args: &Args) -> Result<Code, CommandError> {
    let place = match &args.folder {
        Some(folder) => {
            refuse_existing(folder)?;
            folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
        }
        None => PathBuf::from("."),
    };
    // Beside its later place, so that it can be moved there in one step; gone if we do not come so far.
    let aside = Scratch::new(".bakeoff-import-", &place).at("create a folder in", &place)?;
    let bounds = Bounds { bytes: args.most, ..Bounds::default() };
    let manifest = open(&args.parcel, aside.path(), bounds)?;
    let folder = args.folder.clone().unwrap_or_else(|| place.join(top_of(&manifest.study)));
    refuse_existing(&folder)?;
    let study = aside.path().join("study");
    let imported = imported_in(&study);
    StateFolder::of(&study)?;
    fs::create_dir(&imported).at("create the folder", &imported)?;
    for part in ["layers", "prefixes", "sources"] {
        let from = aside.path().join(part);
        if from.is_dir() {
            fs::rename(&from, imported.join(part)).at("move", &from)?;
        }
    }
    for path in in_folder(&aside.path().join("journals"))? {
        let name = path.file_name().unwrap_or_default();
        fs::rename(&path, imported.join(name)).at("move", &path)?;
    }
    let list = imported.join("MANIFEST.json");
    fs::write(&list, serde_json::to_vec_pretty(&manifest)?).at("write", &list)?;
    if let Some(latest) = &manifest.latest {
        remember_imported_as_latest(&study, latest)?;
    }
    let taken = take_sources(&imported.join("sources"));
    refuse_existing(&folder)?;
    fs::rename(&study, &folder).at("move the study to", &folder)?;
    screen::out(&summary(&folder, &manifest, &taken));
    Ok(Code::Done)
}

fn refuse_existing(folder: &Path) -> Result<(), CommandError> {
    match folder.symlink_metadata() {
        Ok(_) => Err(Error::Exists { path: folder.to_owned() }.into()),
        Err(_) => Ok(()),
    }
}

/// What is in a folder, sorted; nothing if there is none.
fn in_folder(folder: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let list = || fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>();
    match list() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(vec![]),
        listed => {
            let mut paths = listed.at("list", folder)?;
            paths.sort();
            Ok(paths)
        }
    }
}

/// What became of the sources that came.
#[derive(Default)]
struct Taken {
    accepted: u32,
    /// Why others are kept in the study's folder only.
    refused: Vec<String>,
}

/// Takes sources into the cache by their hashes. That one cannot be taken is no reason to not import the study: it can
/// be fetched.
fn take_sources(folder: &Path) -> Taken {
    let mut taken = Taken::default();
    let all = in_folder(folder).unwrap_or_default();
    if all.is_empty() {
        return taken;
    }
    let cache = match Cache::default_root().and_then(Cache::open) {
        Ok(cache) => cache,
        Err(error) => {
            taken.refused.push(format!("sources were not added to the cache: {error}"));
            return taken;
        }
    };
    for path in all {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (sha256, is_tree) = match name.strip_suffix(".tar") {
            Some(sha256) => (sha256.to_owned(), true),
            None => (name.clone(), false),
        };
        let file = if is_tree { Some(path.clone()) } else { in_folder(&path).ok().and_then(|mut files| files.pop()) };
        let wrong = || format!("source {} was not added to the cache: it does not match its hash", clean(&name));
        match file.map(|file| cache.import_source(&file, &sha256, is_tree)) {
            Some(Ok(true)) => {
                taken.accepted += 1;
                // It has its place now; what is left here would only take room.
                let _ = if is_tree { fs::remove_file(&path) } else { fs::remove_dir_all(&path) };
            }
            Some(Err(error)) => {
                taken.refused.push(format!("source {} was not added to the cache: {error}", clean(&name)))
            }
            Some(Ok(false)) | None => taken.refused.push(wrong()),
        }
    }
    // It stays if something is left in it.
    let _ = fs::remove_dir(folder);
    taken
}

fn summary(folder: &Path, manifest: &Manifest, taken: &Taken) -> String {
    let of = |part: &str| manifest.members.iter().filter(|member| member.name.split('/').next() == Some(part)).count();
    let bytes = format::bytes(manifest.members.iter().map(|member| member.bytes).sum::<u64>() as f64);
    let (study, shown) = (clean(&manifest.study), folder.display());
    let mut text = format!(
        "imported {study} into {shown}, {bytes}; files of the study: {}, journals: {}\n",
        of("study"),
        of("journals")
    );
    if taken.accepted > 0 {
        text.push_str(&format!("sources checked by hash and added to the cache: {}\n", taken.accepted));
    }
    taken.refused.iter().for_each(|why| text.push_str(&format!("note: {why}\n")));
    if of("prefixes") > 0 {
        let where_to = imported_in(folder).join("prefixes");
        text.push_str(&format!(
            "note: prefixes are in {}, for inspection only; Bakeoff cannot verify them, so it rebuilds them\n",
            where_to.display()
        ));
    }
    if manifest.latest.is_some() {
        text.push_str(&format!("to see the report: bakeoff report {shown}\n"));
    } else {
        text.push_str("the parcel has no journal, because the study had not run\n");
    }
    text.push_str("the study's scripts come from someone else, so read them before you build or run the study\n");
    text
}
