//! Digests of a prefix: of what is loaded of its ELF files, and of all of its files. Two builds with the same digest
//! are the same thing, but for the name of their folder.
//!
//! Of an ELF file counts what is loaded: the sections with the flag `SHF_ALLOC`, their names, sizes, flags and content.
//! So debugging information, the compiler's signature and symbol tables that are stripped some day do not count, and
//! neither does the note with the build's identity, which is a checksum over all of them. Of an object file nothing is
//! loaded yet: all of its sections count that are not debugging information. An ELF file that is broken counts by its
//! whole content.
//!
//! Of the members of an archive (`.a`) name and content count, and not when and by whom they were put there. Any other
//! file counts by its content, byte for byte: a time stamp in a compressed file or in a compiled Python module makes two
//! builds differ, and that is what they do.

use super::neutral::Neutral;
use crate::error::{At, Error};
use crate::files::entries;
use bakeoff_model::digest::Digest;
use object::read::archive::ArchiveFile;
use object::{Object, ObjectKind, ObjectSection, SectionFlags, elf};
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// How ELF files begin.
const ELF: &[u8] = b"\x7fELF";

/// How archives begin.
const ARCHIVE: &[u8] = b"!<arch>\n";

/// Holds a checksum over the whole file.
const BUILD_ID: &[u8] = b".note.gnu.build-id";

/// How the names of sections begin, in object files, that say nothing of the program.
const NOT_PROGRAM: [&[u8]; 6] = [b".debug", b".zdebug", b".rela.debug", b".rel.debug", b".comment", BUILD_ID];

/// The digest of what is loaded of all ELF files, if there are any, and that of all files. Neither, if some file may
/// not be read: then nothing can be said.
pub(super) fn digests(prefix: &Path, neutral: &Neutral) -> Result<(Option<String>, Option<String>), Error> {
    let seen = PrefixDigests::of(prefix, neutral)?;
    if seen.unread {
        return Ok((None, None));
    }
    Ok((seen.any_binaries.then(|| seen.binaries.hex()), Some(seen.files.hex())))
}

/// What counts of each file, link and folder, by its name; none, if some file may not be read.
pub(super) fn by_name(prefix: &Path, neutral: &Neutral) -> Result<Option<BTreeMap<Vec<u8>, String>>, Error> {
    let seen = PrefixDigests::of(prefix, neutral)?;
    Ok((!seen.unread).then_some(seen.by_name))
}

struct PrefixDigests<'a> {
    neutral: &'a Neutral,
    prefix: &'a Path,
    binaries: Digest,
    files: Digest,
    any_binaries: bool,
    unread: bool,
    by_name: BTreeMap<Vec<u8>, String>,
}

impl<'a> PrefixDigests<'a> {
    fn of(prefix: &'a Path, neutral: &'a Neutral) -> Result<Self, Error> {
        let (binaries, files) = (Digest::of("binaries"), Digest::of("files"));
        let by_name = BTreeMap::new();
        let mut seen = PrefixDigests { neutral, prefix, binaries, files, any_binaries: false, unread: false, by_name };
        seen.folder(prefix)?;
        Ok(seen)
    }

    fn folder(&mut self, folder: &Path) -> Result<(), Error> {
        for path in entries(folder)? {
            let meta = fs::symlink_metadata(&path).at("inspect", &path)?;
            let relative = path.strip_prefix(self.prefix).unwrap_or(&path).as_os_str().as_bytes();
            let name = self.neutral.bytes(relative).into_owned();
            if meta.is_dir() {
                self.files.field("folder", &name);
                self.by_name.insert(name, "folder".to_owned());
                self.folder(&path)?;
            } else if meta.is_symlink() {
                let target = fs::read_link(&path).at("read", &path)?;
                let target = self.neutral.bytes(target.as_os_str().as_bytes());
                self.files.field("link", &name).field("target", &target);
                self.by_name.insert(name, format!("link {}", String::from_utf8_lossy(&target)));
            } else if meta.is_file() {
                self.files.field("file", &name).field("mode", &(meta.mode() & 0o7777).to_le_bytes());
                let counts = self.file(&path, &name)?;
                self.by_name.insert(name, format!("{:o} {counts}", meta.mode() & 0o7777));
            } else {
                self.files.field("special", &name);
                self.by_name.insert(name, "special".to_owned());
            }
        }
        Ok(())
    }

    /// What counts of a file.
    fn file(&mut self, path: &Path, name: &[u8]) -> Result<String, Error> {
        let content = match fs::read(path) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                self.unread = true;
                return Ok(String::new());
            }
            content => content.at("read", path)?,
        };
        let (kind, digest) = if content.starts_with(ELF) {
            let digest = loaded(&content, self.neutral);
            self.any_binaries = true;
            self.binaries.field("file", name).field("loaded", digest.as_bytes());
            ("loaded", digest)
        } else if content.starts_with(ARCHIVE) {
            ("members", members(&content, self.neutral))
        } else {
            ("content", whole(&content, self.neutral))
        };
        self.files.field(kind, digest.as_bytes());
        Ok(format!("{kind} {digest}"))
    }
}

fn whole(content: &[u8], neutral: &Neutral) -> String {
    Digest::of("content").field("bytes", &neutral.bytes(content)).hex()
}

/// The digest of what is loaded of an ELF file.
pub(super) fn loaded(content: &[u8], neutral: &Neutral) -> String {
    sections(content, neutral).unwrap_or_else(|| whole(content, neutral))
}

/// None if the file is broken, or if it has no section headers.
fn sections(content: &[u8], neutral: &Neutral) -> Option<String> {
    let file = object::File::parse(content).ok()?;
    let is_linked = file.kind() != ObjectKind::Relocatable;
    let mut digest = Digest::of("elf");
    digest.field("architecture", format!("{:?}", file.architecture()).as_bytes());
    let mut any = false;
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else { return None };
        let name = section.name_bytes().ok()?;
        let counts = if is_linked {
            sh_flags.0 & elf::SHF_ALLOC.0 != 0 && name != BUILD_ID
        } else {
            !NOT_PROGRAM.iter().any(|start| name.starts_with(start))
        };
        if counts {
            any = true;
            digest.field("section", name).field("flags", &sh_flags.0.to_le_bytes());
            digest.field("size", &section.size().to_le_bytes());
            digest.field("content", &neutral.bytes(section.data().ok()?));
        }
    }
    any.then(|| digest.hex())
}

/// The digest of an archive's members; of its whole content if it is broken, or if its members are elsewhere.
fn members(content: &[u8], neutral: &Neutral) -> String {
    let read = || {
        let archive = ArchiveFile::parse(content).ok().filter(|archive| !archive.is_thin())?;
        let mut digest = Digest::of("archive");
        for member in archive.members() {
            let member = member.ok()?;
            let content = member.data(content).ok()?;
            let of = if content.starts_with(ELF) { loaded(content, neutral) } else { whole(content, neutral) };
            digest.field("member", member.name()).field("content", of.as_bytes());
        }
        Some(digest.hex())
    };
    read().unwrap_or_else(|| whole(content, neutral))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    const ONE: &str = "11111111111111111111111111111111";
    const OTHER: &str = "22222222222222222222222222222222";

    /// The digests of a prefix of this name that `fill` filled.
    fn of(name: &str, fill: impl Fn(&Path)) -> (Option<String>, Option<String>) {
        let folder = tempfile::tempdir().unwrap();
        let prefix = folder.path().join(name);
        fs::create_dir(&prefix).unwrap();
        fill(&prefix);
        digests(&prefix, &Neutral::of(name)).unwrap()
    }

    #[test]
    fn the_name_of_the_folder_does_not_count_and_all_else_does() {
        let fill = |prefix: &Path| {
            let name = prefix.file_name().unwrap().to_str().unwrap();
            fs::write(prefix.join("text"), format!("/builds/{name}/lib")).unwrap();
            fs::write(prefix.join(format!("of-{name}")), "").unwrap();
            symlink(format!("../{name}/text"), prefix.join("link")).unwrap();
        };
        let (binaries, files) = of(ONE, fill);
        assert_eq!(binaries, None, "there is no ELF file");
        assert_eq!(files, of(OTHER, fill).1);
        let differs = |change: &dyn Fn(&Path)| {
            let changed = of(ONE, |prefix| {
                fill(prefix);
                change(prefix);
            });
            assert_ne!(changed.1, files);
        };
        differs(&|prefix| fs::write(prefix.join("text"), "/builds/elsewhere").unwrap());
        differs(&|prefix| fs::rename(prefix.join("text"), prefix.join("txt")).unwrap());
        differs(&|prefix| fs::set_permissions(prefix.join("text"), fs::Permissions::from_mode(0o755)).unwrap());
        differs(&|prefix| fs::create_dir(prefix.join("empty")).unwrap());
        differs(&|prefix| {
            fs::remove_file(prefix.join("link")).unwrap();
            symlink("text", prefix.join("link")).unwrap();
        });
    }

    #[test]
    fn a_broken_elf_file_counts_by_its_content() {
        let write = |content: &'static [u8]| move |prefix: &Path| fs::write(prefix.join("broken"), content).unwrap();
        let (binaries, files) = of(ONE, write(b"\x7fELF but no more"));
        assert!(binaries.is_some() && files.is_some());
        assert_eq!(of(OTHER, write(b"\x7fELF but no more")), (binaries.clone(), files));
        assert_ne!(of(ONE, write(b"\x7fELF but other")).0, binaries);
    }

    #[test]
    fn of_what_cannot_be_read_nothing_is_said() {
        let closed = |prefix: &Path| {
            fs::write(prefix.join("closed"), "").unwrap();
            fs::set_permissions(prefix.join("closed"), fs::Permissions::from_mode(0o0)).unwrap();
        };
        let folder = tempfile::tempdir().unwrap();
        closed(folder.path());
        if fs::read(folder.path().join("closed")).is_ok() {
            println!("skipped: this user may read everything");
            return;
        }
        assert_eq!(of(ONE, closed), (None, None));
    }

    /// An archive with one member, put there at this time by this user.
    fn archive(time: &str, member: &str) -> String {
        let size = member.len();
        format!("!<arch>\n{:<16}{time:<12}{:<6}{:<6}{:<8}{size:<10}`\n{member}", "a.txt/", 0, 0, 644)
    }

    #[test]
    fn archives_count_by_their_members() {
        let of = |content: String| of(ONE, move |prefix| fs::write(prefix.join("lib.a"), &content).unwrap()).1;
        let first = of(archive("1700000000", "four"));
        assert_eq!(of(archive("1800000000", "four")), first);
        assert_ne!(of(archive("1700000000", "FOUR")), first);
        let torn = archive("1700000000", "four").replace('`', "'");
        assert_ne!(of(torn.clone()), first);
        assert_ne!(of(torn.replace("17", "18")), of(torn), "what is broken counts by its whole content");
    }
}
