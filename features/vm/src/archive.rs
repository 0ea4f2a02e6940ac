//! An archive of the kind that a kernel unpacks into its memory (cpio, "newc"; Documentation/driver-api/early-userspace/
//! buffer-format.rst of Linux), to be appended to a root that exists: what is in it is added, or takes the place of what has
//! the same name. It writes; it reads nothing.

use std::collections::BTreeSet;
use std::io::{self, Write};

const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const DEVICE: u32 = 0o020_600;

/// An archive that is being written.
pub(crate) struct Archive<W> {
    to: W,
    written: u64,
    entries: u32,
    folders: BTreeSet<String>,
}

impl<W: Write> Archive<W> {
    pub(crate) fn new(to: W) -> Self {
        Self { to, written: 0, entries: 0, folders: BTreeSet::new() }
    }

    /// A file that may be run, by its path without the first slash; folders above it come first.
    pub(crate) fn file(&mut self, path: &str, content: &[u8]) -> io::Result<()> {
        self.folders_above(path)?;
        self.entry(path, PROGRAM, [0, 0], content)
    }

    /// A folder, and those above it.
    pub(crate) fn folder(&mut self, path: &str) -> io::Result<()> {
        self.folders_above(&format!("{path}/"))
    }

    /// A character device.
    pub(crate) fn device(&mut self, path: &str, numbers: [u32; 2]) -> io::Result<()> {
        self.folders_above(path)?;
        self.entry(path, DEVICE, numbers, b"")
    }

    /// The last entry.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.entry("TRAILER!!!", 0, [0, 0], b"")?;
        Ok(self.to)
    }

    fn folders_above(&mut self, path: &str) -> io::Result<()> {
        let ends: Vec<usize> = path.match_indices('/').map(|(at, _)| at).collect();
        for end in ends {
            let folder = &path[..end];
            if self.folders.insert(folder.to_owned()) {
                self.entry(folder, FOLDER, [0, 0], b"")?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, path: &str, mode: u32, device: [u32; 2], content: &[u8]) -> io::Result<()> {
        self.entries += 1;
        let size = u32::try_from(content.len()).map_err(|_| io::Error::other("a file is larger than 4 GiB"))?;
        let links = if mode == FOLDER { 2 } else { 1 };
        // inode, mode, uid, gid, links, mtime, size, device (2), device node (2), length of the name, checksum.
        let [major, minor] = device;
        let name_bytes = path.len() as u32 + 1;
        let fields = [self.entries, mode, 0, 0, links, 0, size, 0, 0, major, minor, name_bytes, 0];
        let mut header = String::from("070701");
        fields.iter().for_each(|field| header.push_str(&format!("{field:08x}")));
        self.write(header.as_bytes())?;
        self.write(path.as_bytes())?;
        self.write(b"\0")?;
        self.align()?;
        self.write(content)?;
        self.align()
    }

    fn align(&mut self) -> io::Result<()> {
        let missing = (4 - self.written % 4) % 4;
        self.write(&[0; 4][..missing as usize])
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written += bytes.len() as u64;
        self.to.write_all(bytes)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;

    #[test]
    fn an_archive_has_folders_before_files_and_everything_at_multiples_of_four() {
        let mut archive = Archive::new(vec![]);
        archive.file("a/b/c", b"12345").unwrap();
        archive.device("dev/null", [1, 3]).unwrap();
        archive.folder("a/tmp").unwrap();
        let bytes = archive.finish().unwrap();
        assert_eq!(bytes.len() % 4, 0);
        let mut names = vec![];
        let mut at = 0;
        let number =
            |from: usize| usize::from_str_radix(std::str::from_utf8(&bytes[from..from + 8]).unwrap(), 16).unwrap();
        let round = |n: usize| n.div_ceil(4) * 4;
        while at < bytes.len() {
            assert_eq!(&bytes[at..at + 6], b"070701");
            let (mode, size, name_bytes) = (number(at + 14), number(at + 54), number(at + 94));
            let name = std::str::from_utf8(&bytes[at + 110..at + 110 + name_bytes - 1]).unwrap();
            let content = round(at + 110 + name_bytes);
            names.push((name, mode, &bytes[content..content + size]));
            at = round(content + size);
        }
        let expect: Vec<(&str, usize, &[u8])> = vec![
            ("a", 0o040_755, b""),
            ("a/b", 0o040_755, b""),
            ("a/b/c", 0o100_755, b"12345"),
            ("dev", 0o040_755, b""),
            ("dev/null", 0o020_600, b""),
            ("a/tmp", 0o040_755, b""),
            ("TRAILER!!!", 0, b""),
        ];
        assert_eq!(names, expect);
    }
}
