//! Patches: the files of the study that are applied with `patch` to a source before anything is built of it.

use super::Site;
use crate::error::At;
use crate::inputs::StudyFile;
use crate::shell::{Shell, Stop, complaint};
use std::fs;

/// Applies the patches in their order, as `patch -p1` does; one that does not apply is shown with what was rejected.
pub(super) fn apply(shell: &mut Shell, patches: &[StudyFile<'_>], site: &Site) -> Result<(), Stop> {
    for patch in patches {
        let file = site.work.join("patch");
        fs::write(&file, &patch.content).at("write", &file)?;
        shell.note(&format!("applying {}", patch.name))?;
        let path = file.display().to_string();
        let argv = ["patch", "-p1", "--forward", "--batch", "--no-backup-if-mismatch", "-r", "-", "-i", &path];
        let ended = shell.execute(&argv, &site.tree, &site.env)?;
        if let Some(complaint) = complaint(&ended.end) {
            return Err(shell
                .failure(format!("the patch {} does not apply: patch {complaint}", patch.name), &site.work)?
                .into());
        }
    }
    Ok(())
}
