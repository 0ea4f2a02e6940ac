//! `bakeoff export`: a study with all that its trials can be traced by, in one file. What goes in is decided here; the
//! file itself is written by [`crate::pack`].

use crate::error::{At as _, Error};
use crate::format::Member;
use crate::name::{complaint, top_of};
use crate::pack::{Packed, Packing};
use bakeoff_building::{BuildLine, Cache, Chain, KeptSource};
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::journals::{redaction, tell_removed};
use bakeoff_command::scratch::Scratch;
use bakeoff_command::state::{imported_in, imported_journals, journals_of, latest_of};
use bakeoff_command::study_folder::StudyFolder;
use bakeoff_command::target::Target;
use bakeoff_command::{Registry, screen};
use bakeoff_model::record::Record;
use bakeoff_report::format;
use bakeoff_report::words::counted;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

/// Pack a study with its journals and build logs into one file for sharing or archiving
///
/// The file is a .tar.zst archive for `bakeoff import`. It contains all files in the study's folder except hidden ones.
/// It also contains each journal up to its last complete line, so you can export a running study. For every build that
/// the journals name, it contains the record, manifest and log of each layer, if the cache has them. If nothing has
/// changed, a second export produces the same bytes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The study: a folder with a study.toml, or the file itself
    study: PathBuf,
    /// The file to write, or `-` for standard output [default: NAME.tar.zst in the current folder, where NAME is the
    /// name of the study]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Pack only the journal that `bakeoff report` would use
    #[arg(long)]
    latest_only: bool,
    /// Also pack the sources of the builds, if the cache has them
    #[arg(long)]
    sources: bool,
    /// Also pack the finished builds, for inspection; they run only where the cache has the same path
    #[arg(long)]
    prefixes: bool,
    /// Remove the names of hosts, users and folders from the journals, and omit the records and logs of layers; the
    /// study's own files are not changed
    #[arg(long, conflicts_with_all = ["sources", "prefixes"])]
    redact: bool,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
}

/// What is left out, and why: said once the rest is packed.
type Notes = BTreeSet<String>;

pub(crate) fn execute(args: &Args, features: &Registry) -> Result<Code, CommandError> {
    let folder = StudyFolder::open(&args.study, features)?;
    let name = &folder.study.name;
    let out = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.tar.zst", top_of(name))));
    let mut packing = Packing::new(name);
    let mut notes = Notes::new();
    // A parcel that lies in the study's folder is no part of the study.
    let old = fs::canonicalize(&out).ok();
    for (name, path) in crate::folder::files_of_study(&folder.dir)? {
        if fs::canonicalize(&path).ok() != old || old.is_none() {
            packing.file(&format!("study/{name}"), &path)?;
        }
    }
    let records = journals(args, &folder.dir, features, &mut packing, &mut notes)?;
    let root = Cache::default_root().ok().and_then(|root| fs::canonicalize(root).ok());
    if args.redact {
        notes.insert("records and logs of layers, because they contain folder names".to_owned());
    } else {
        layers(&folder.dir, root.as_deref(), &records, &mut packing, &mut notes)?;
    }
    match &root {
        Some(root) => {
            if args.sources {
                sources(&folder, root, &records, &mut packing, &mut notes)?;
            }
            if args.prefixes {
                prefixes(root, &records, &mut packing, &mut notes)?;
            }
        }
        None if args.redact => {}
        None => drop(notes.insert("layers, sources and prefixes, because there is no cache".to_owned())),
    }
    if Target::is_output(&out) {
        to_output(packing)?;
    } else {
        let packed = packing.write(&out, args.force)?;
        screen::out(&summary(&out, &packed));
    }
    notes.iter().for_each(|note| screen::err(&format!("not packed: {note}\n")));
    Ok(Code::Done)
}

/// Writes the parcel to standard output, unless somebody would have to read it there.
fn to_output(packing: Packing) -> Result<(), CommandError> {
    if io::stdout().is_terminal() {
        return Err(CommandError::usage("cannot write a parcel to a terminal")
            .hint("name a file with -o FILE, or pipe it: bakeoff export STUDY -o - | ssh HOST 'cat > study.tar.zst'"));
    }
    let folder = Scratch::new("bakeoff-export-", &std::env::temp_dir()).map_err(CommandError::usage)?;
    let file = folder.path().join("parcel");
    packing.write(&file, false)?;
    let copy = || io::copy(&mut fs::File::open(&file)?, &mut io::stdout().lock());
    match copy() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(CommandError::new(Code::Internal, format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Packs the journals; what they hold. Those that were imported are packed only where the study was not executed here:
/// they are somebody else's, who has them.
fn journals(
    args: &Args,
    dir: &Path,
    features: &Registry,
    packing: &mut Packing,
    notes: &mut Notes,
) -> Result<Vec<Record>, CommandError> {
    let latest = latest_of(dir);
    let imported = latest.as_ref().is_some_and(|(_, imported)| *imported);
    let mut paths = if imported { imported_journals(dir) } else { journals_of(dir) };
    paths.sort();
    if !imported && !imported_journals(dir).is_empty() {
        notes.insert("imported journals, because they are in the file that you imported".to_owned());
    }
    let mut records = vec![];
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_latest = latest.as_ref().is_some_and(|(latest, _)| *latest == name);
        if args.latest_only && !is_latest {
            continue;
        }
        // Another command may be appending: up to the last whole line it stays what it is.
        let mut bytes = fs::read(&path).at("read", &path)?;
        bytes.truncate(bytes.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1));
        match bakeoff_journal::read(&path) {
            Ok(contents) => {
                if args.redact {
                    let mut redaction = redaction(&contents.record, features)?;
                    bytes = bakeoff_journal::redacted(&path, &mut redaction)?;
                    tell_removed(&redaction.removed());
                }
                records.push(contents.record);
            }
            Err(error) if args.redact => return Err(error.into()),
            Err(error) => {
                notes.insert(format!("records and logs of layers of a journal that cannot be read: {error}"));
            }
        }
        packing.bytes(&format!("journals/{name}"), bytes)?;
        if is_latest {
            packing.latest(&name);
        }
    }
    Ok(records)
}

fn builds(records: &[Record]) -> impl Iterator<Item = BuildLine> {
    records.iter().flat_map(|record| BuildLine::all(&record.made))
}

/// Digests of all layers that the journals name; the last layer of a build has the build's own.
fn digests(records: &[Record]) -> BTreeSet<String> {
    let layers = builds(records).flat_map(|build| build.layers).map(|layer| layer.digest);
    layers.chain(builds(records).map(|build| build.digest)).collect()
}

fn layers(
    dir: &Path,
    root: Option<&Path>,
    records: &[Record],
    packing: &mut Packing,
    notes: &mut Notes,
) -> Result<(), CommandError> {
    let mut missing = 0;
    for digest in &digests(records) {
        let name = Cache::short_name(digest).unwrap_or_default();
        let kept = root.into_iter().flat_map(|root| Cache::kept_of_layer(root, digest));
        let mut files: Vec<_> = kept.map(|(file, path)| (format!("layers/{name}/{file}"), path)).collect();
        if files.is_empty() {
            files = imported_layer(dir, digest);
        }
        missing += u32::from(files.is_empty());
        for (name, path) in files {
            packing.file(&name, &path)?;
        }
    }
    if missing > 0 {
        notes.insert(format!("records and logs of {} (not in the cache)", counted(missing, "layer")));
    }
    Ok(())
}

/// What came with the study of a layer that this cache has never seen.
fn imported_layer(dir: &Path, digest: &str) -> Vec<(String, PathBuf)> {
    let Some(name) = Cache::short_name(digest) else { return vec![] };
    let folder = imported_in(dir).join("layers").join(name);
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path()).filter(|path| path.is_file() && !path.is_symlink());
    files.filter_map(|path| Some((format!("layers/{name}/{}", path.file_name()?.to_str()?), path.clone()))).collect()
}

fn sources(
    folder: &StudyFolder,
    root: &Path,
    records: &[Record],
    packing: &mut Packing,
    notes: &mut Notes,
) -> Result<(), CommandError> {
    let mut wanted: BTreeSet<(String, String)> = BTreeSet::new();
    for source in &Chain::of(&folder.study).sources {
        wanted.extend(source.sha256.clone().map(|sha256| (source.name.clone(), sha256)));
    }
    wanted.extend(builds(records).flat_map(|build| build.sources));
    let mut packed = BTreeSet::new();
    for (source, sha256) in &wanted {
        match source_of(root, sha256) {
            Some(_) if !packed.insert(sha256) => {}
            Some((name, path, true)) => packing.tree(&name, &path)?,
            Some((name, path, false)) => packing.file(&name, &path)?,
            None => {
                let source = bakeoff_model::plain::clean(source);
                notes.insert(format!("source `{source}` (not in the cache; `bakeoff build` fetches it)"));
            }
        }
    }
    Ok(())
}

/// What the cache with that root keeps of a source: a file as itself, anything else as one tar of its folder. The name
/// in a parcel, where it is, and whether it is a folder.
fn source_of(root: &Path, sha256: &str) -> Option<(String, PathBuf, bool)> {
    let folder = |folder: PathBuf| Some((format!("sources/{sha256}.tar"), folder, true));
    match Cache::kept_source(root, sha256)? {
        KeptSource::Folder(path) => folder(path),
        KeptSource::File(file) => {
            let name = format!("sources/{sha256}/{}", file.file_name()?.to_str().unwrap_or_default());
            match complaint(&name) {
                None => Some((name, file, false)),
                Some(_) => folder(file.parent()?.to_owned()),
            }
        }
    }
}

fn prefixes(root: &Path, records: &[Record], packing: &mut Packing, notes: &mut Notes) -> Result<(), CommandError> {
    packing.built_in(root);
    let ends: BTreeSet<String> = builds(records).map(|build| build.digest).collect();
    let mut missing = 0;
    for digest in &ends {
        match Cache::short_name(digest).zip(Cache::kept_prefix(root, digest)) {
            Some((name, path)) => packing.tree(&format!("prefixes/{name}.tar"), &path)?,
            None => missing += 1,
        }
    }
    if missing > 0 {
        notes.insert(format!("prefixes of {} (not in the cache)", counted(missing, "build")));
    }
    Ok(())
}

fn summary(out: &Path, packed: &Packed) -> String {
    let manifest = &packed.manifest;
    let study = bakeoff_model::plain::clean(&manifest.study);
    let mut text = format!("packed {study} into {}, {}\n", out.display(), format::bytes(packed.bytes as f64));
    for (part, one, several) in [
        ("study", "file of the study", "files of the study"),
        ("journals", "journal", "journals"),
        ("layers", "record or log of a layer", "records and logs of layers"),
        ("sources", "source", "sources"),
        ("prefixes", "prefix", "prefixes"),
    ] {
        let of = |member: &&Member| member.name.split('/').next() == Some(part);
        let sizes: Vec<u64> = manifest.members.iter().filter(of).map(|member| member.bytes).collect();
        if !sizes.is_empty() {
            let bytes = format::bytes(sizes.iter().sum::<u64>() as f64);
            let what = if sizes.len() == 1 { one } else { several };
            text.push_str(&format!("  {} {what}, {bytes}\n", format::count(sizes.len() as u64)));
        }
    }
    if manifest.latest.is_none() {
        text.push_str("  no journal, because this study has not run\n");
    }
    text
}

impl From<Error> for CommandError {
    fn from(error: Error) -> Self {
        match &error {
            Error::Exists { .. } => Self::usage(error)
                .hint("name another path, or remove the existing one; `export --force` overwrites a file"),
            _ => Self::usage(error),
        }
    }
}
