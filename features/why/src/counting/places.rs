//! Functions by places in files, for what counts nothing. The names are those that counts have.

use super::binary::Binary;
use super::dump::Mapped;
use super::functions::what_is;
use crate::counts::CodeKind;
use std::path::PathBuf;

/// Files that were read already.
#[derive(Debug, Default)]
pub(crate) struct Places {
    files: Vec<(Mapped, File)>,
}

/// The places in a file.
#[derive(Debug)]
pub(crate) struct File(Binary);

impl Places {
    pub(crate) fn file(&mut self, path: PathBuf, inode: u64) -> &File {
        let file = Mapped { path, inode };
        let known = self.files.iter().position(|(known, _)| *known == file);
        let place = known.unwrap_or_else(|| {
            let binary = Binary::read(&file);
            self.files.push((file, File(binary)));
            self.files.len() - 1
        });
        &self.files[place].1
    }
}

impl File {
    /// Its name, the source of a static function, and what kind of code it is.
    pub(crate) fn function(&self, offset: u64) -> (String, Option<String>, CodeKind) {
        let nameless = || (String::new(), None, CodeKind::Nameless);
        self.0.address(offset).map_or_else(nameless, |address| what_is(&self.0, self.0.at(address)))
    }
}
