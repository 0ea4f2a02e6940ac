//! A source becomes the folder that a script starts in. The system's `tar` does the work, so whatever it can unpack can
//! be a source; this knows only what to make of what it did.

use crate::cache::{entries, fresh_folder, wipe};
use crate::error::{At, Error};
use crate::shell::{Environment, Shell, Stop, complaint};
use std::fs;
use std::path::Path;

/// Endings of names that promise an archive which `tar` unpacks.
const ARCHIVES: [&str; 8] = [".tar", ".tgz", ".tbz", ".tbz2", ".txz", ".tlz", ".tzst", ".crate"];

/// Unpacks `file` to the new folder `work/tree`. If all that it holds is one folder, that folder becomes the tree. A
/// file that is no archive is copied into the tree as it is, unless its name says that it is one.
pub(crate) fn unpack(shell: &mut Shell, env: &Environment, file: &Path, work: &Path) -> Result<(), Stop> {
    let tree = work.join("tree");
    let unpacked = work.join("unpacked");
    fresh_folder(&unpacked)?;
    let path = file.display().to_string();
    shell.note(&format!("unpacking {path}"))?;
    // Who packed it does not matter here, and root would otherwise make files that belong to strangers.
    let ended = shell.execute(&["tar", "--no-same-owner", "-xf", &path], &unpacked, env)?;
    let found = entries(&unpacked)?;

    match complaint(&ended.end) {
        None if !found.is_empty() => {
            let top = match &found[..] {
                [only] if only.is_dir() && !only.is_symlink() => only,
                _ => &unpacked,
            };
            fs::rename(top, &tree).at("move the unpacked source to", &tree)?;
        }
        Some(complaint) if is_archive_name(file) => {
            return Err(shell.failure(format!("{path} cannot be unpacked: tar {complaint}"), work)?.into());
        }
        _ => {
            shell.note("it is no archive that tar can unpack: copied as it is")?;
            fs::create_dir(&tree).at("make the folder", &tree)?;
            copy_into(file, &tree)?;
        }
    }
    Ok(wipe(&unpacked)?)
}

fn copy_into(file: &Path, folder: &Path) -> Result<(), Error> {
    let target = folder.join(file.file_name().unwrap_or_default());
    fs::copy(file, &target).at("copy the source to", &target)?;
    Ok(())
}

fn is_archive_name(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    ARCHIVES.iter().any(|ending| name.ends_with(ending)) || name.contains(".tar.")
}
