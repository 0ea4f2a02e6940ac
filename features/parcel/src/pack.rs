//! Packs a parcel: looks at every member first, writes the list of them, then the members. What changes in between is
//! an error. The parcel appears under its name when it is whole.

use super::error::{At, Error};
use super::format::{FORMAT, MANIFEST, Manifest, Member};
use super::name;
use bakeoff_command::scratch::Scratch;
use bakeoff_model::digest::hex;
use sha2::{Digest as _, Sha256};
use std::fs::{self, File};
use std::io::{self, Read as _, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// How hard zstd tries: about the density of `xz -1` at many times its speed.
const LEVEL: i32 = 9;
/// A tar consists of blocks of this size, and ends with two that are empty.
const BLOCK_BYTES: usize = 512;

/// What is to be packed.
#[derive(Debug)]
pub struct Packing {
    study: String,
    latest: Option<String>,
    cache: Option<String>,
    members: Vec<(Member, Content)>,
}

#[derive(Debug)]
enum Content {
    Bytes(Vec<u8>),
    File(PathBuf),
    /// A folder, as a tar of its own: links, permissions and all.
    Tree(PathBuf),
}

/// A parcel that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// Its size.
    pub bytes: u64,
    /// Its head.
    pub manifest: Manifest,
}

impl Packing {
    /// Nothing yet, of the study of that name.
    pub fn new(study: &str) -> Self {
        Self { study: study.to_owned(), latest: None, cache: None, members: vec![] }
    }

    /// Says which journal is the one that a report is about.
    pub fn latest(&mut self, journal: &str) {
        self.latest = Some(journal.to_owned());
    }

    /// Says where the prefixes were built.
    pub fn built_in(&mut self, cache: &Path) {
        self.cache = Some(cache.display().to_string());
    }

    /// Adds a file as it is now.
    ///
    /// # Errors
    /// [`Error::File`] if it cannot be read; [`Error::Strange`] if it cannot have this name.
    pub fn file(&mut self, name: &str, path: &Path) -> Result<(), Error> {
        let executable = fs::metadata(path).at("inspect", path)?.permissions().mode() & 0o111 != 0;
        self.add(name, executable, Content::File(path.to_owned()))
    }

    /// Adds a file of this content.
    ///
    /// # Errors
    /// [`Error::Strange`] if it cannot have this name.
    pub fn bytes(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), Error> {
        self.add(name, false, Content::Bytes(bytes))
    }

    /// Adds a folder, as one file that is a tar of all that is in it.
    ///
    /// # Errors
    /// [`Error::File`] if something in it cannot be read; [`Error::Strange`] if it cannot have this name.
    pub fn tree(&mut self, name: &str, folder: &Path) -> Result<(), Error> {
        self.add(name, false, Content::Tree(folder.to_owned()))
    }

    fn add(&mut self, name: &str, executable: bool, content: Content) -> Result<(), Error> {
        let path = Path::new(name);
        if let Some(complaint) = name::complaint(name) {
            let why = format!("cannot be packed: its path {complaint}");
            return Err(Error::Strange { path: path.to_owned(), why });
        }
        let (bytes, sha256) = content.write(&mut io::sink(), path)?;
        self.members.push((Member { name: name.to_owned(), bytes, sha256, executable }, content));
        Ok(())
    }

    /// Writes the parcel.
    ///
    /// # Errors
    /// [`Error::Exists`] if `out` is there and not to be replaced; [`Error::Changed`] if a member is no longer what it
    /// was when it was added; [`Error::File`] if something cannot be read or written. Nothing is at `out` then that was
    /// not there before.
    pub fn write(mut self, out: &Path, replace: bool) -> Result<Packed, Error> {
        if !replace && out.symlink_metadata().is_ok() {
            return Err(Error::Exists { path: out.to_owned() });
        }
        self.members.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
        self.members.dedup_by(|(a, _), (b, _)| a.name == b.name);
        let manifest = Manifest {
            format: FORMAT,
            bakeoff: env!("CARGO_PKG_VERSION").to_owned(),
            study: self.study.clone(),
            latest: self.latest.clone(),
            cache: self.cache.clone(),
            members: self.members.iter().map(|(member, _)| member.clone()).collect(),
        };
        // In the same folder, to be moved to its name in one step.
        let place = out.parent().filter(|place| !place.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let aside = Scratch::new(".bakeoff-export-", place).at("write", out)?;
        let file = aside.path().join("parcel");
        self.write_to(&file, &manifest).map_err(|error| match error {
            Error::File { doing: "write", source, .. } => Error::File { doing: "write", path: out.to_owned(), source },
            error => error,
        })?;
        let bytes = fs::metadata(&file).map_or(0, |meta| meta.len());
        let whole = TempPath::try_from_path(file).at("write", out)?;
        // Somebody else may have made it during the packing.
        let placed = if replace { whole.persist(out) } else { whole.persist_noclobber(out) };
        match placed.map_err(|error| error.error) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(Error::Exists { path: out.to_owned() }),
            placed => placed.at("write", out).map(|()| Packed { bytes, manifest }),
        }
    }

    fn write_to(&self, path: &Path, manifest: &Manifest) -> Result<(), Error> {
        let file = File::create(path).at("write", path)?;
        let mut tar = zstd::Encoder::new(io::BufWriter::new(file), LEVEL).at("write", path)?;
        tar.include_checksum(true).at("write", path)?;
        let top = name::top_of(&self.study);
        let list = serde_json::to_vec_pretty(manifest).map_err(io::Error::from).at("write", path)?;
        let head = Member {
            name: MANIFEST.to_owned(),
            bytes: list.len() as u64,
            sha256: hex(&Sha256::digest(&list)),
            executable: false,
        };
        let list = Content::Bytes(list);
        let members = self.members.iter().map(|(member, content)| (member, content));
        for (member, content) in std::iter::once((&head, &list)).chain(members) {
            tar.write_all(header(&format!("{top}/{}", member.name), member)?.as_bytes()).at("write", path)?;
            let (bytes, sha256) = content.write(&mut tar, path)?;
            if (bytes, &sha256) != (member.bytes, &member.sha256) {
                return Err(Error::Changed { path: content.place(path).to_owned() });
            }
            let padding = bytes.next_multiple_of(BLOCK_BYTES as u64) - bytes;
            tar.write_all(&[0; BLOCK_BYTES][..padding as usize]).at("write", path)?;
        }
        tar.write_all(&[0; 2 * BLOCK_BYTES]).at("write", path)?;
        let buffer = tar.finish().at("write", path)?;
        buffer.into_inner().map_err(io::IntoInnerError::into_error).and_then(|file| file.sync_all()).at("write", path)
    }
}

impl Content {
    /// Where it is read from; bytes are at hand when `out` is written.
    fn place<'a>(&'a self, out: &'a Path) -> &'a Path {
        match self {
            Self::Bytes(_) => out,
            Self::File(path) | Self::Tree(path) => path,
        }
    }

    /// Writes the content to `to`, a part of the file `out`. Returns how many bytes it has, and their SHA-256.
    fn write(&self, to: &mut dyn Write, out: &Path) -> Result<(u64, String), Error> {
        let mut summed = Summed::new(to);
        let written = match self {
            Self::Bytes(bytes) => summed.write_all(bytes),
            Self::File(path) => File::open(path).and_then(|mut file| io::copy(&mut file, &mut summed).map(drop)),
            Self::Tree(folder) => write_tree(folder, &mut summed),
        };
        match summed.is_refused {
            true => written.at("write", out)?,
            false => written.at("read", self.place(out))?,
        }
        Ok(summed.finish())
    }
}

/// The header of a member, without owner and time.
fn header(name: &str, member: &Member) -> Result<tar::Header, Error> {
    let mut header = tar::Header::new_ustar();
    header.set_path(name).map_err(|_| Error::Strange {
        path: PathBuf::from(name),
        why: "has a name too long for an archive; shorten it to at most 100 bytes for the file and 155 for its folders"
            .to_owned(),
    })?;
    header.set_size(member.bytes);
    header.set_mode(if member.executable { 0o755 } else { 0o644 });
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_cksum();
    Ok(header)
}

/// A tar of all that is in a folder: sorted, without owners and times, with permissions; links as links.
fn write_tree(folder: &Path, out: &mut impl Write) -> io::Result<()> {
    let mut tar = tar::Builder::new(out);
    tar.mode(tar::HeaderMode::Deterministic);
    tar.follow_symlinks(false);
    let mut left = vec![PathBuf::new()];
    while let Some(below) = left.pop() {
        let path = folder.join(&below);
        let meta = fs::symlink_metadata(&path)?;
        if meta.is_dir() {
            let mut inside =
                fs::read_dir(&path)?.map(|entry| Ok(below.join(entry?.file_name()))).collect::<io::Result<Vec<_>>>()?;
            inside.sort_by(|a, b| b.cmp(a));
            left.extend(inside);
        }
        if below != Path::new("") {
            let mut header = tar::Header::new_gnu();
            header.set_metadata_in_mode(&meta, tar::HeaderMode::Complete);
            for field in [tar::Header::set_uid, tar::Header::set_gid, tar::Header::set_mtime] {
                field(&mut header, 0);
            }
            if meta.is_symlink() {
                tar.append_link(&mut header, &below, fs::read_link(&path)?)?;
            } else if meta.is_dir() {
                tar.append_data(&mut header, &below, io::empty())?;
            } else if meta.is_file() {
                let exactly = File::open(&path)?.take(meta.len());
                tar.append_data(&mut header, &below, exactly)?;
            } else {
                return Err(io::Error::other(format!("{} is not a file, folder or symbolic link", path.display())));
            }
        }
    }
    tar.into_inner()?.flush()
}

/// Counts and sums what is written through it.
pub(crate) struct Summed<'a> {
    to: &'a mut dyn Write,
    sha256: Sha256,
    bytes: u64,
    /// The writing failed, and not the reading.
    pub(crate) is_refused: bool,
}

impl<'a> Summed<'a> {
    pub(crate) fn new(to: &'a mut dyn Write) -> Self {
        Self { to, sha256: Sha256::new(), bytes: 0, is_refused: false }
    }

    /// The size, and the SHA-256.
    pub(crate) fn finish(self) -> (u64, String) {
        (self.bytes, hex(&self.sha256.finalize()))
    }
}

impl Write for Summed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes).inspect_err(|_| self.is_refused = true)?;
        self.sha256.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
