//! The folder that a script starts in: the source unpacked and patched, the study's files beside it.

use super::patches;
use crate::cache::{fresh_folder, wipe};
use crate::error::At;
use crate::inputs::{Inputs, Node};
use crate::shell::{Environment, Shell, Stop};
use crate::unpack::unpack;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Makes the folder that the script starts in, `work/tree`: the source unpacked, the study's files beside it.
pub(super) fn lay_out(
    shell: &mut Shell,
    inputs: &Inputs<'_>,
    node: &Node<'_>,
    source: Option<&Path>,
    env: &Environment,
    work: &Path,
) -> Result<PathBuf, Stop> {
    let tree = work.join("tree");
    match source {
        Some(file) => unpack(shell, env, file, work)?,
        None => fresh_folder(&tree)?,
    }
    patches::apply(shell, &node.patches, &tree, env, work)?;
    for file in &inputs.files {
        let target = tree.join(file.name);
        let folder = target.parent().unwrap_or(&tree);
        fs::create_dir_all(folder).at("make the folder", folder)?;
        wipe(&target)?;
        fs::write(&target, &file.content).at("write", &target)?;
        let mode = if file.executable { 0o755 } else { 0o644 };
        fs::set_permissions(&target, fs::Permissions::from_mode(mode)).at("set the permissions of", &target)?;
    }
    Ok(tree)
}
