//! Archives: what good ones become, and that bad ones are refused by name and do nothing outside of their folder.

use crate::{Limits, Refusal, UnpackError, Unpacked};
use bakeoff_testkit::files::{read, sh};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder that must not change, with a folder in it to unpack into.
pub(crate) struct Cage {
    folder: TempDir,
    before: String,
}

impl Cage {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("victim/sub")).unwrap();
        fs::write(folder.path().join("victim/file"), "precious").unwrap();
        fs::write(folder.path().join("outside"), "precious").unwrap();
        let before = listing(folder.path());
        Self { folder, before }
    }

    pub(crate) fn inner(&self) -> PathBuf {
        self.folder.path().join("into")
    }

    /// Unpacks, checks that nothing has changed around, and that no link leads out.
    pub(crate) fn unpack(&self, archive: &[u8], limits: &Limits) -> Result<Unpacked, UnpackError> {
        let elsewhere = tempfile::tempdir().unwrap();
        let file = elsewhere.path().join("archive");
        fs::write(&file, archive).unwrap();
        let unpacked = limits.unpack(&file, &self.inner());
        assert_eq!(listing(self.folder.path()), self.before, "something outside has changed");
        assert_no_way_out(&self.inner(), &self.inner());
        unpacked
    }
}

/// Everything in a cage but what was unpacked: kinds, modes, sizes, number of names, content.
fn listing(folder: &Path) -> String {
    let mut out = String::new();
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries.into_iter().filter(|path| !path.ends_with("into")) {
        let meta = fs::symlink_metadata(&path).unwrap();
        // A folder's number of names tells of folders, not of links to it.
        let links = if meta.is_dir() { 0 } else { meta.nlink() };
        out += &format!("{} {:o} {links} {:?}\n", path.display(), meta.mode(), meta.modified());
        if meta.is_dir() {
            out += &listing(&path);
        } else if meta.is_file() {
            out += &format!("{:?}\n", fs::read(&path).unwrap());
        }
    }
    out
}

/// There is nothing but files, folders and links that stay inside; none may be set to run as somebody else.
fn assert_no_way_out(root: &Path, folder: &Path) {
    let root = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let meta = fs::symlink_metadata(&path).unwrap();
        if meta.is_symlink() {
            let target = fs::read_link(&path).unwrap();
            assert!(target.is_relative(), "{} → {}", path.display(), target.display());
            if let Ok(real) = fs::canonicalize(&path) {
                assert!(real.starts_with(&root), "{} → {}", path.display(), real.display());
            }
        } else {
            assert!(meta.is_dir() || meta.is_file(), "{}", path.display());
            assert_eq!(meta.permissions().mode() & 0o7022, 0, "{}", path.display());
            if meta.is_dir() {
                assert_no_way_out(&root, &path);
            }
        }
    }
}

/// One entry of a tar, as raw as it gets: type, name, what it links to, content.
pub(crate) type Raw<'a> = (u8, &'a str, &'a str, &'a [u8]);

/// A tar of such entries. Names go into the header byte by byte, whatever they are.
pub(crate) fn tar_of(entries: &[Raw<'_>]) -> Vec<u8> {
    let mut out = vec![];
    for &(kind, name, target, content) in entries {
        let mut header = tar::Header::new_gnu();
        let old = header.as_old_mut();
        old.name[..name.len()].copy_from_slice(name.as_bytes());
        old.linkname[..target.len()].copy_from_slice(target.as_bytes());
        header.set_entry_type(tar::EntryType::new(kind));
        header.set_size(content.len() as u64);
        header.set_mode(0o6755);
        header.set_mtime(1_000_000_000);
        header.set_cksum();
        out.extend_from_slice(header.as_bytes());
        out.extend_from_slice(content);
        out.resize(out.len().next_multiple_of(512), 0);
    }
    out.resize(out.len() + 1024, 0);
    out
}

fn pax(key: &str, value: &str) -> Vec<u8> {
    let length = |digits: usize| digits + key.len() + value.len() + 3;
    let digits = (1..5).find(|&digits| length(digits).to_string().len() == digits).unwrap();
    format!("{} {key}={value}\n", length(digits)).into_bytes()
}

/// A zip of names, modes and contents.
pub(crate) fn zip_of(entries: &[(&str, u32, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(vec![]));
    for &(name, mode, content) in entries {
        let options = zip::write::SimpleFileOptions::default().unix_permissions(mode);
        if mode & 0o170_000 == 0o120_000 {
            zip.add_symlink(name, std::str::from_utf8(content).unwrap(), options).unwrap();
        } else {
            zip.start_file(name, options).unwrap();
            zip.write_all(content).unwrap();
        }
    }
    zip.finish().unwrap().into_inner()
}

/// The same bytes, packed in every way that is known.
pub(crate) fn packed(bytes: &[u8]) -> [(&'static str, Vec<u8>); 4] {
    let mut gz = flate2::write::GzEncoder::new(vec![], flate2::Compression::default());
    gz.write_all(bytes).unwrap();
    let mut bz2 = bzip2::write::BzEncoder::new(vec![], bzip2::Compression::fast());
    bz2.write_all(bytes).unwrap();
    let mut xz = lzma_rust2::XzWriter::new(vec![], lzma_rust2::XzOptions::with_preset(1)).unwrap();
    xz.write_all(bytes).unwrap();
    [
        ("gz", gz.finish().unwrap()),
        ("bz2", bz2.finish().unwrap()),
        ("xz", xz.finish().unwrap()),
        ("zst", zstd::encode_all(bytes, 1).unwrap()),
    ]
}

#[test]
fn good_archives_become_what_they_hold() {
    let work = tempfile::tempdir().unwrap();
    let long = "n".repeat(150);
    sh(
        work.path(),
        &format!(
            "mkdir -p top/sub; echo 1 > top/a; echo 2 > top/sub/{long}; chmod 4711 top/sub/{long}; ln top/a top/hard; \
             ln -s ../a top/sub/soft; ln -s nowhere top/dangling; touch -d @1000000000 top/a top/sub; \
             for format in gnu ustar pax v7; do \
                 tar --format=$format -cf $format.tar --exclude={long} top; \
             done; \
             tar --format=gnu -cf long.tar top; tar --format=pax -czf long.tar.gz top; tar -cf ./dot.tar -C top ."
        ),
    );
    for name in ["gnu.tar", "ustar.tar", "pax.tar", "v7.tar", "long.tar", "long.tar.gz", "dot.tar"] {
        let cage = Cage::new();
        cage.unpack(&fs::read(work.path().join(name)).unwrap(), &Limits::default()).unwrap();
        let top = if name == "dot.tar" { cage.inner() } else { cage.inner().join("top") };
        assert_eq!(read(top.join("a")), "1", "{name}");
        assert_eq!(fs::metadata(top.join("hard")).unwrap().ino(), fs::metadata(top.join("a")).unwrap().ino());
        assert_eq!(read(top.join("sub/soft")), "1");
        assert_eq!(fs::read_link(top.join("dangling")).unwrap(), Path::new("nowhere"));
        assert_eq!(fs::metadata(top.join("a")).unwrap().mtime(), 1_000_000_000, "{name}");
        assert_eq!(fs::metadata(top.join("sub")).unwrap().mtime(), 1_000_000_000, "{name}");
        if name.starts_with("long") {
            assert_eq!(read(top.join("sub").join(&long)), "2", "{name}");
            assert_eq!(fs::metadata(top.join("sub").join(&long)).unwrap().mode() & 0o7777, 0o755, "{name}");
        }
    }
}

#[test]
fn every_packing_is_known_by_how_it_begins() {
    let tar = tar_of(&[(b'0', "a", "", b"content"), (b'0', "b", "", &[7; 1000])]);
    let all = packed(&tar);
    let twice = ("gz of two members", [packed(&tar[..700])[0].1.clone(), packed(&tar[700..])[0].1.clone()].concat());
    let zip = ("zip", zip_of(&[("a", 0o644, b"content"), ("sub/", 0o755, b""), ("sub/c", 0o755, b"2")]));
    let mut deb = b"!<arch>\n".to_vec();
    for (name, content) in [("debian-binary", &b"2.0\n1"[..]), ("data.tar.xz", &all[2].1)] {
        deb.extend(format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 100_644, content.len()).bytes());
        deb.extend(content);
        deb.resize(deb.len().next_multiple_of(2), b'\n');
    }
    for (name, bytes) in all.into_iter().chain([("tar", tar), twice, zip, ("deb", deb)]) {
        let cage = Cage::new();
        cage.unpack(&bytes, &Limits::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(read(cage.inner().join("a")), "content", "{name}");
    }
}

#[test]
fn what_is_no_archive_and_what_is_damaged_are_told_apart() {
    let tar = tar_of(&[(b'0', "a", "", &[7; 5000])]);
    let check = |bytes: &[u8], no_archive: bool| {
        let error = Cage::new().unpack(bytes, &Limits::default()).unwrap_err();
        assert_eq!(matches!(error.why, Refusal::NoArchive), no_archive, "{error}");
    };
    for bytes in [&b""[..], b"text", &[0; 4096], &[0x1f, 0x8b, 0], b"BZh91AY and so on", b"!<arch>\n"] {
        check(bytes, true);
    }
    packed(b"text").iter().for_each(|(_, bytes)| check(bytes, true));
    check(&tar[..1000], false);
    check(&tar[..512], false);
    for (_, bytes) in packed(&tar) {
        check(&bytes[..bytes.len() - 3], false);
    }
    let zip = zip_of(&[("a", 0o644, b"content")]);
    check(&zip[..zip.len() - 10], false);
    let full = Cage::new();
    fs::create_dir(full.inner()).unwrap();
    fs::write(full.inner().join("x"), "").unwrap();
    assert!(matches!(full.unpack(&tar, &Limits::default()).unwrap_err().why, Refusal::NotEmpty));
    assert_eq!(read(full.inner().join("x")), "");
}

/// Refused, and the refusal names the entry and says this.
fn refused(archive: &[u8], entry: &str, says: &str) {
    let error = Cage::new().unpack(archive, &Limits::default()).map(|_| entry).unwrap_err();
    assert!(error.entry.as_deref().is_some_and(|found| found.contains(entry)), "{entry}: {error:?}");
    assert!(error.to_string().contains(says), "{says:?} is missing in: {error}");
    assert!(error.to_string().starts_with("cannot unpack `") && error.to_string().contains("archive`: "), "{error}");
}

#[test]
fn a_tar_does_not_escape() {
    let file = (b'0', "pwned", "", &b"x"[..]);
    let links = |entries: &[(&'static str, &'static str)]| {
        tar_of(&entries.iter().map(|&(name, target)| (b'2', name, target, &b""[..])).collect::<Vec<_>>())
    };
    for (name, says) in [
        ("/tmp/pwned", "is absolute"),
        ("../outside", "contains `..`"),
        ("a/../../outside", "contains `..`"),
        ("a/..", "contains `..`"),
        ("..", "contains `..`"),
        (".", "its name is the name of the top folder"),
        ("", "is empty"),
    ] {
        for kind in *b"0127" {
            let target = if kind == b'0' || kind == b'7' { "" } else { "pwned" };
            refused(&tar_of(&[file, (kind, name, target, b"")]), name, says);
        }
    }
    // Folders have names, too.
    refused(&tar_of(&[(b'5', "../new", "", b"")]), "../new", "contains `..`");
    // Long names, the GNU way and that of pax.
    refused(&tar_of(&[(b'L', "././@LongLink", "", b"../outside\0"), file]), "../outside", "contains `..`");
    refused(&tar_of(&[(b'L', "././@LongLink", "", b"a\0b\0"), file]), "a", "NUL");
    refused(&tar_of(&[(b'x', "x", "", &pax("path", "/tmp/pwned")), file]), "/tmp/pwned", "is absolute");
    refused(&tar_of(&[(b'x', "x", "", &pax("path", "a\0b")), file]), "a", "NUL");
    refused(&tar_of(&[(b'K', "x", "", b"../outside\0"), (b'2', "l", "fine", b"")]), "l", "outside the archive");
    refused(&tar_of(&[(b'x', "x", "", &pax("linkpath", "../outside")), (b'2', "l", "fine", b"")]), "l", "outside");
    refused(&tar_of(&[(b'g', "g", "", &pax("path", "../outside")), file]), "g", "sets one name");

    // Links out, and ways through links.
    refused(&links(&[("l", "/etc/passwd")]), "l", "is absolute");
    refused(&links(&[("l", "../outside")]), "l", "outside the archive");
    refused(&links(&[("a/b/l", "../../../outside")]), "a/b/l", "outside the archive");
    refused(&links(&[("a/up", ".."), ("l", "a/up/../outside")]), "l", "outside the archive");
    refused(&links(&[("x/y/up", "../.."), ("z", "x/y/up/..")]), "z", "outside the archive");
    refused(&links(&[("b", "c"), ("c", "d"), ("d", "sub/.."), ("sub/x", ""), ("l", "b/..")]), "sub/x", "is empty");
    refused(&links(&[("b", "c"), ("c", "d"), ("d", "sub/.."), ("l", "b/..")]), "l", "outside the archive");
    refused(&tar_of(&[(b'2', "l", "sub", b""), (b'0', "l/file", "", b"x")]), "l/file", "through a symbolic link");
    refused(&tar_of(&[(b'2', "l", "/tmp", b""), (b'0', "l/pwned", "", b"x")]), "l", "is absolute");
    refused(&tar_of(&[(b'2', "l", "..", b""), (b'5', "l/new", "", b"")]), "l/new", "through a symbolic link");
    refused(&tar_of(&[(b'0', "f", "", b"x"), (b'0', "f/file", "", b"x")]), "f/file", "through a file");

    // Hard links.
    refused(&tar_of(&[(b'1', "h", "/etc/passwd", b"")]), "h", "not a valid entry name");
    refused(&tar_of(&[(b'1', "h", "../outside", b"")]), "h", "not a valid entry name");
    refused(&tar_of(&[(b'1', "h", "later", b""), (b'0', "later", "", b"x")]), "h", "not an earlier entry");
    refused(&tar_of(&[(b'5', "d", "", b""), (b'1', "h", "d", b"")]), "h", "is a folder");
    refused(&tar_of(&[file, (b'1', "pwned", "pwned", b"")]), "pwned", "is itself");
    let moved = [(b'2', "a/l", "../ok", &b""[..]), (b'1', "h", "a/l", b"")];
    refused(&tar_of(&moved), "h", "outside the archive");

    // What is neither file nor folder nor link.
    for (kind, says) in
        [(b'3', "a device"), (b'4', "a device"), (b'6', "a named pipe"), (b'S', "a sparse file"), (b'Z', "`Z`")]
    {
        refused(&tar_of(&[(kind, "node", "", b"")]), "node", says);
    }
    refused(&tar_of(&[(b'5', "d", "", b""), (b'0', "d", "", b"x")]), "d", "an earlier folder");
    refused(&tar_of(&[(b'0', "f", "", b"x"), (b'5', "f", "", b"")]), "f", "an earlier file or link");
    refused(&tar_of(&[(b'0', "\u{1b}[2Jx", "", b""), (b'3', "\u{1b}[2Jx", "", b"")]), "\\u{1b}[2Jx", "a device");
}

#[test]
fn what_a_tar_may_do_it_can() {
    let cage = Cage::new();
    let entries: [Raw<'_>; 8] = [
        (b'0', "f", "", b"old"),
        (b'1', "h", "f", b""),
        (b'0', "f", "", b"new"),
        (b'2', "a/l", "../h", b""),
        (b'2', "loop", "loop", b""),
        (b'2', "was-link", "f", b""),
        (b'0', "was-link", "", b"file"),
        (b'V', "volume", "", b""),
    ];
    cage.unpack(&tar_of(&entries), &Limits::default()).unwrap();
    for (name, expect) in [("f", "new"), ("h", "old"), ("a/l", "old"), ("was-link", "file")] {
        assert_eq!(read(cage.inner().join(name)), expect, "{name}");
    }
}

#[test]
fn a_zip_does_not_escape() {
    let link = 0o120_777;
    for (name, says) in
        [("/tmp/pwned", "is absolute"), ("../outside", "contains `..`"), ("a/../../outside", "contains `..`")]
    {
        refused(&zip_of(&[("fine", 0o644, b""), (name, 0o644, b"x")]), name, says);
    }
    // The writer makes no such name: it is put in place of another one.
    let mut nul = zip_of(&[("a_b", 0o644, b"x")]);
    let places: Vec<usize> = (0..nul.len()).filter(|&place| nul[place..].starts_with(b"a_b")).collect();
    places.iter().for_each(|place| nul[place + 1] = 0);
    refused(&nul, "a", "NUL");
    refused(&zip_of(&[("l", link, b"/etc/passwd")]), "l", "is absolute");
    refused(&zip_of(&[("l", link, b"../outside")]), "l", "outside the archive");
    refused(&zip_of(&[("x/y/up", link, b"../.."), ("z", link, b"x/y/up/..")]), "z", "outside the archive");
    refused(&zip_of(&[("l", link, b"sub"), ("l/file", 0o644, b"x")]), "l/file", "through a symbolic link");
    let long = "n/".repeat(3000);
    refused(&zip_of(&[("l", link, long.as_bytes())]), "l", "too long");
    // The writer makes no pipes: another type in the mode of the only entry.
    let mut pipe = zip_of(&[("node", 0o644, b"")]);
    let mode = (0o100_644u32 << 16).to_le_bytes();
    let place = pipe.windows(4).position(|window| window == mode).unwrap();
    pipe[place..place + 4].copy_from_slice(&(0o010_644u32 << 16).to_le_bytes());
    refused(&pipe, "node", "a device, a pipe or a socket");
}

#[test]
fn bombs_are_refused_by_the_limit_that_they_break() {
    let zeros = vec![0; 8 << 20];
    let tar = tar_of(&[(b'0', "zeros", "", &zeros)]);
    let small = Limits { small_bytes: 1 << 20, ..Limits::default() };
    let mut all: Vec<(&str, Vec<u8>)> = packed(&tar).into();
    all.push(("zip", zip_of(&[("zeros", 0o644, &zeros)])));
    for (name, bytes) in &all {
        let error = Cage::new().unpack(bytes, &small).unwrap_err();
        assert!(matches!(error.why, Refusal::Bomb { limit: 250, .. }), "{name}: {error}");
        let error = Cage::new().unpack(bytes, &Limits { bytes: 4 << 20, ..Limits::default() }).unwrap_err();
        assert!(matches!(error.why, Refusal::TooManyBytes { limit } if limit == 4 << 20), "{name}: {error}");
        assert!(error.to_string().contains("4194304 bytes"), "{error}");
        Cage::new().unpack(bytes, &Limits::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let many = Limits { entries: 2, ..Limits::default() };
    let names = ["a", "b", "c"];
    let tar = tar_of(&names.map(|name| (b'0', name, "", &b""[..])));
    for archive in [tar, zip_of(&names.map(|name| (name, 0o644, &b""[..])))] {
        let error = Cage::new().unpack(&archive, &many).unwrap_err();
        assert!(matches!(error.why, Refusal::TooManyEntries { limit: 2 }), "{error}");
    }
    // A header that claims to describe the next one in more bytes than there is memory.
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::GNULongName);
    header.set_size(u64::MAX / 2);
    header.set_cksum();
    let error = Cage::new().unpack(header.as_bytes(), &Limits::default()).unwrap_err();
    assert!(error.to_string().contains("an entry's description is too long"), "{error}");
}
