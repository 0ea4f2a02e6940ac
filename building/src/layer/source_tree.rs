//! A source becomes the folder that a script starts in: an archive is unpacked, anything else is copied. Where sources
//! come from, and how an archive is read safely, is known elsewhere.

use crate::error::{At, Error, Stop};
use crate::files::{entries, fresh_folder, wipe};
use crate::shell::Shell;
use crate::sources::copy;
use crate::unpack::{Limits, Refusal, Root, UnpackError, unpack_within};
use std::fs;
use std::path::Path;

/// Endings of names that promise an archive.
const ARCHIVES: [&str; 10] = [".tar", ".tgz", ".tbz", ".tbz2", ".txz", ".tlz", ".tzst", ".crate", ".zip", ".deb"];

/// Unpacks `file` to the new folder `work/tree`. If all that it holds is one folder, that folder becomes the tree. A
/// file that is no archive is copied into the tree as it is, unless its name says that it is one. A folder in place of
/// a file becomes the tree by being copied.
pub(super) fn unpack(shell: &mut Shell, file: &Path, work: &Path) -> Result<(), Stop> {
    let tree = work.join("tree");
    if file.is_dir() {
        shell.note(&format!("copying {}", file.display()))?;
        wipe(&tree)?;
        return Ok(copy(file, &tree)?);
    }
    let unpacked = work.join("unpacked");
    fresh_folder(&unpacked)?;
    shell.note(&format!("unpacking {}", file.display()))?;
    match unpack_within(file, &unpacked, &Limits::default(), Root::OnlyFolder) {
        Ok(_) => {
            let found = entries(&unpacked)?;
            let top = match &found[..] {
                [only] if only.is_dir() && !only.is_symlink() => only,
                _ => &unpacked,
            };
            fs::rename(top, &tree).at("move the unpacked source to", &tree)?;
        }
        Err(UnpackError { why: Refusal::Interrupted, .. }) => return Err(Error::Interrupted.into()),
        Err(UnpackError { why: Refusal::NoArchive, .. }) if !is_archive_name(file) => {
            shell.note("not an archive; copied unchanged")?;
            fs::create_dir(&tree).at("create the folder", &tree)?;
            copy(file, &tree.join(file.file_name().unwrap_or_default()))?;
        }
        Err(error) => {
            // What it had become by then is of no use to anybody, and may be large.
            wipe(&unpacked)?;
            return Err(shell.failure(error.to_string(), work)?.into());
        }
    }
    Ok(wipe(&unpacked)?)
}

fn is_archive_name(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    ARCHIVES.iter().any(|ending| name.ends_with(ending)) || name.contains(".tar.")
}
