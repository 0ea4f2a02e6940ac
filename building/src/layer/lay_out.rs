//! The folder that a script starts in: the source unpacked and patched, the study's files beside it.

use super::patches;
use super::source_tree::unpack;
use crate::error::{At, Error, Stop};
use crate::files::{below, fresh_folder, wipe};
use crate::inputs::Node;
use crate::shell::Shell;
use crate::site::Site;
use crate::sources::leads_out;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Makes the folder that the script starts in, `work/tree`: the source unpacked, the study's files beside it.
pub(crate) fn lay_out(shell: &mut Shell, node: &Node<'_>, source: Option<&Path>, site: &mut Site) -> Result<(), Stop> {
    match source {
        Some(file) => unpack(shell, file, &site.work)?,
        None => fresh_folder(&site.tree)?,
    }
    patches::apply(shell, &node.patches, site)?;
    for file in &*node.files {
        let target = site.tree.join(file.name);
        let folder = target.parent().unwrap_or(&site.tree);
        fs::create_dir_all(folder).at("create the folder", folder)?;
        wipe(&target)?;
        fs::write(&target, &file.content).at("write", &target)?;
        let mode = if file.executable { 0o755 } else { 0o644 };
        fs::set_permissions(&target, fs::Permissions::from_mode(mode)).at("set the permissions of", &target)?;
    }
    if let Some(why) = link_out(site)? {
        return Err(shell.failure(why, &site.work)?.into());
    }
    if let Some(first) = site.around.heed(&site.tree, &mut site.env) {
        shell.note(&format!("{first} is called before rustc, as set in .cargo/config.toml"))?;
    }
    Ok(())
}

/// That a link leads out of the source to what is in no build's name. Where a script is confined, it could not read
/// that; but not everywhere can it be confined.
fn link_out(site: &Site) -> Result<Option<String>, Error> {
    let mut links = below(&site.tree)?.into_iter().filter(|(_, meta)| meta.is_symlink()).map(|(path, _)| path);
    Ok(links.find_map(|path| {
        let target = leads_out(&site.tree, &path).filter(|target| !site.around.may_read(target))?;
        Some(format!(
            "the symbolic link `{}` points to {}, outside the source, where Bakeoff would not notice changes; put \
             the file into the source, or list it in `files`",
            path.strip_prefix(&site.tree).unwrap_or(&path).display(),
            target.display()
        ))
    }))
}
