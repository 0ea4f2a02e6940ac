//! Patches: unified diffs of the study's folder that are applied with GNU `patch` to a source before anything is built
//! of it. They apply exactly or not at all: lines may have moved, but with `--fuzz=0` none of a hunk's context is
//! ignored, because a level that takes effect in the wrong place is worse than one that does not build. Other kinds of
//! diff are not looked for: an ed script, of all kinds, would be run.

use crate::error::{At, Failure, Stop};
use crate::inputs::StudyFile;
use crate::shell::Shell;
use crate::site::Site;
use bakeoff_report::words::counted;
use std::fs;

/// Where `patch` leaves what it rejects, in the tree: it writes nowhere else.
const REJECTED: &str = ".bakeoff-rejected";

/// How many lines of what was rejected are shown.
const REJECTED_LINES: usize = 60;

/// What `patch` says of a patch that is in there already, or the wrong way round.
const REVERSED: &str = "Reversed (or previously applied) patch detected";

/// Applies the patches in their order, as `patch -p1` does; one that does not apply is shown with what was rejected.
pub(super) fn apply(shell: &mut Shell, patches: &[StudyFile<'_>], site: &Site) -> Result<(), Stop> {
    for patch in patches {
        let file = site.work.join("patch");
        fs::write(&file, &patch.content).at("write", &file)?;
        shell.note(&format!("applying {}", patch.name))?;
        let path = file.display().to_string();
        let how = ["--unified", "-p1", "--fuzz=0", "--forward", "--batch", "--no-backup-if-mismatch"];
        let argv = [&["patch"][..], &how, &["-r", REJECTED, "-i", &path]].concat();
        let ended = shell.execute(&argv, &site.tree, &site.env)?;
        if let Some(complaint) = shell.complaint(&ended.end) {
            return Err(refused(shell, patch.name, &complaint, site)?.into());
        }
    }
    Ok(())
}

/// A failure that shows what `patch` said of the file and its hunks, and those that it rejected.
fn refused(shell: &Shell, name: &str, complaint: &str, site: &Site) -> Result<Failure, Stop> {
    let bytes = fs::read(site.tree.join(REJECTED)).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let mut rejected: Vec<String> = text.lines().take(REJECTED_LINES).map(str::to_owned).collect();
    let more = text.lines().count() - rejected.len();
    if more > 0 {
        rejected.push(format!("({} of rejected hunks)", counted(more as u32, "more line")));
    }
    let why = format!("cannot apply the patch `{name}`: `patch` {complaint}");
    let mut failure = shell.failure(why, &site.work)?;
    let said = |words: &str| failure.tail.iter().any(|line| line.contains(words));
    if said(REVERSED) {
        failure.why.push_str("; the patch is already applied or reversed");
    } else if said("dangerous file name") || said("Invalid file name") || said("is not a regular file") {
        failure.why.push_str("; the patch names a file outside the source");
    }
    shell.show(&rejected)?;
    failure.tail.append(&mut rejected);
    Ok(failure)
}
