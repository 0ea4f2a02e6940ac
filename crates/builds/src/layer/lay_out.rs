//! The folder that a script starts in: the source unpacked and patched, the study's files beside it.

use super::patches;
use super::source_tree::unpack;
use crate::error::At;
use crate::files::{fresh_folder, wipe};
use crate::inputs::{Inputs, Node};
use crate::shell::{Shell, Stop};
use crate::site::Site;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Makes the folder that the script starts in, `work/tree`: the source unpacked, the study's files beside it.
pub(crate) fn lay_out(
    shell: &mut Shell,
    inputs: &Inputs<'_>,
    node: &Node<'_>,
    source: Option<&Path>,
    site: &mut Site,
) -> Result<(), Stop> {
    match source {
        Some(file) => unpack(shell, file, &site.work)?,
        None => fresh_folder(&site.tree)?,
    }
    patches::apply(shell, &node.patches, site)?;
    for file in &inputs.files {
        let target = site.tree.join(file.name);
        let folder = target.parent().unwrap_or(&site.tree);
        fs::create_dir_all(folder).at("make the folder", folder)?;
        wipe(&target)?;
        fs::write(&target, &file.content).at("write", &target)?;
        let mode = if file.executable { 0o755 } else { 0o644 };
        fs::set_permissions(&target, fs::Permissions::from_mode(mode)).at("set the permissions of", &target)?;
    }
    if let Some(first) = site.around.heed(&site.tree, &mut site.env) {
        shell.note(&format!("{first} is called before rustc, as .cargo/config.toml has it"))?;
    }
    Ok(())
}
