//! The folder that a script starts in: the source unpacked and patched, the study's files beside it.

use super::patches;
use super::source_tree::unpack;
use crate::error::{At, Error};
use crate::files::{entries, fresh_folder, wipe};
use crate::inputs::{Inputs, Node};
use crate::shell::{Shell, Stop};
use crate::site::Site;
use crate::sources::leads_out;
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
    if let Some(why) = link_out(&site.tree, &site.tree, site)? {
        return Err(shell.failure(why, &site.work)?.into());
    }
    if let Some(first) = site.around.heed(&site.tree, &mut site.env) {
        shell.note(&format!("{first} is called before rustc, as .cargo/config.toml has it"))?;
    }
    Ok(())
}

/// That a link leads out of the source to what is in no build's name. Where a script is confined, it could not read that; but
/// not everywhere can it be confined.
fn link_out(tree: &Path, folder: &Path, site: &Site) -> Result<Option<String>, Error> {
    for place in entries(folder)? {
        if place.is_symlink() {
            if let Some(target) = leads_out(tree, &place).filter(|target| !site.around.may_read(target)) {
                let link = place.strip_prefix(tree).unwrap_or(&place).display();
                return Ok(Some(format!(
                    "the source's link `{link}` leads out of it, to {}, which no build's name covers; put the file itself into \
                     the source, or list it in `files`",
                    target.display()
                )));
            }
        } else if place.is_dir()
            && let Some(why) = link_out(tree, &place, site)?
        {
            return Ok(Some(why));
        }
    }
    Ok(None)
}
