//! Packs a parcel: looks at every member first, writes the list of them, then the members. What changes in between is an
//! error. The parcel appears under its name when it is whole.

use super::error::{At, Error};
use super::format::{FORMAT, MANIFEST, Manifest, Member};
use super::name;
use bakeoff_model::digest::hex;
use sha2::{Digest as _, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// How hard zstd tries: about the density of `xz -1` at many times its speed.
const LEVEL: i32 = 9;

/// What is to be packed.
#[derive(Debug)]
pub struct Packing {
    study: String,
    latest: Option<String>,
    cache: Option<String>,
    members: Vec<(Member, From)>,
}

#[derive(Debug)]
enum From {
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
        let executable = fs::metadata(path).at("look at", path)?.permissions().mode() & 0o111 != 0;
        let mut sum = Sum::default();
        io::copy(&mut File::open(path).at("read", path)?, &mut sum).at("read", path)?;
        self.add(name, sum, executable, From::File(path.to_owned()))
    }

    /// Adds a file of this content.
    ///
    /// # Errors
    /// [`Error::Strange`] if it cannot have this name.
    pub fn bytes(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), Error> {
        let mut sum = Sum::default();
        sum.take(&bytes);
        self.add(name, sum, false, From::Bytes(bytes))
    }

    /// Adds a folder, as one file that is a tar of all that is in it.
    ///
    /// # Errors
    /// [`Error::File`] if something in it cannot be read; [`Error::Strange`] if it cannot have this name.
    pub fn tree(&mut self, name: &str, folder: &Path) -> Result<(), Error> {
        let mut sum = Sum::default();
        write_tree(folder, &mut sum).at("read", folder)?;
        self.add(name, sum, false, From::Tree(folder.to_owned()))
    }

    fn add(&mut self, name: &str, sum: Sum, executable: bool, from: From) -> Result<(), Error> {
        if let Some(complaint) = name::complaint(name) {
            let path = PathBuf::from(name);
            return Err(Error::Strange { path, why: format!("cannot be packed: its name {complaint}") });
        }
        let (bytes, sha256) = (sum.bytes, hex(&sum.sha256.finalize()));
        self.members.push((Member { name: name.to_owned(), bytes, sha256, executable }, from));
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
        sweep(out);
        let mut aside = out.as_os_str().to_owned();
        aside.push(format!(".{}{ASIDE}", std::process::id()));
        let aside = PathBuf::from(aside);
        let written = self.write_to(&aside, &manifest).and_then(|()| {
            // Linking refuses what renaming would replace: somebody else may have made it meanwhile.
            let placed = if replace { fs::rename(&aside, out) } else { fs::hard_link(&aside, out) };
            match placed {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    Err(Error::Exists { path: out.to_owned() })
                }
                // Not every file system has links.
                Err(_) if !replace && out.symlink_metadata().is_err() => fs::rename(&aside, out).at("write", out),
                placed => placed.at("write", out),
            }
        });
        let bytes = fs::metadata(out).map_or(0, |meta| meta.len());
        // After a rename it is gone, after a link or an error it must go.
        let _ = fs::remove_file(&aside);
        written.map(|()| Packed { bytes, manifest })
    }

    fn write_to(&self, path: &Path, manifest: &Manifest) -> Result<(), Error> {
        let file = File::create(path).at("write", path)?;
        let encoder = || {
            let mut encoder = zstd::Encoder::new(io::BufWriter::new(file), LEVEL)?;
            encoder.include_checksum(true)?;
            Ok(encoder)
        };
        let mut tar = tar::Builder::new(encoder().at("write", path)?);
        let top = name::top_of(&self.study);
        let list = serde_json::to_vec_pretty(manifest).map_err(io::Error::from).at("write", path)?;
        append(&mut tar, &format!("{top}/{MANIFEST}"), list.len() as u64, false, &mut &list[..], path)?;
        for (member, from) in &self.members {
            let name = format!("{top}/{}", member.name);
            match from {
                From::Bytes(bytes) => {
                    append(&mut tar, &name, member.bytes, false, &mut &bytes[..], path)?;
                }
                From::File(file) => {
                    let mut input = Checked::of(File::open(file).at("read", file)?, member);
                    append(&mut tar, &name, member.bytes, member.executable, &mut input, path)?;
                    input.finish_comparing(file)?;
                }
                From::Tree(folder) => append_tree(&mut tar, &name, member, folder, path)?,
            }
        }
        let finish = || -> io::Result<()> {
            let buffer = tar.into_inner()?.finish()?;
            buffer.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
        };
        finish().at("write", path)
    }
}

/// One member, without owner and time.
fn append(
    tar: &mut tar::Builder<impl Write>,
    name: &str,
    bytes: u64,
    executable: bool,
    content: &mut dyn Read,
    out: &Path,
) -> Result<(), Error> {
    let mut header = tar::Header::new_ustar();
    header.set_path(name).map_err(|_| Error::Strange {
        path: PathBuf::from(name),
        why: "cannot be packed: its name is too long for an archive; 100 bytes of a file's name and 155 of its \
              folders' are allowed"
            .to_owned(),
    })?;
    header.set_size(bytes);
    header.set_mode(if executable { 0o755 } else { 0o644 });
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_cksum();
    tar.append(&header, content).at("write", out)
}

/// A folder that does not fit into memory: through a pipe, so that it is read once and never copied aside.
fn append_tree(
    tar: &mut tar::Builder<impl Write>,
    name: &str,
    member: &Member,
    folder: &Path,
    out: &Path,
) -> Result<(), Error> {
    let (reader, writer) = io::pipe().at("read", folder)?;
    std::thread::scope(|scope| {
        let feeding = scope.spawn(move || write_tree(folder, &mut io::BufWriter::new(writer)));
        let mut input = Checked::of(reader, member);
        let appended = append(tar, name, member.bytes, false, &mut input, out);
        let same = input.finish_comparing(folder);
        // The writer must not wait for a reader that has enough.
        drop(input);
        let fed = feeding.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        appended?;
        same?;
        fed.at("read", folder)
    })
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
                return Err(io::Error::other(format!("{} is neither a file nor a folder nor a link", path.display())));
            }
        }
    }
    tar.into_inner()?.flush()
}

/// Counts and sums what is written to it.
#[derive(Default)]
struct Sum {
    sha256: Sha256,
    bytes: u64,
}

impl Sum {
    fn take(&mut self, bytes: &[u8]) {
        self.sha256.update(bytes);
        self.bytes += bytes.len() as u64;
    }
}

impl Write for Sum {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.take(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads as many bytes as a member has, zeros where there are fewer, and knows whether they are the member's.
struct Checked<'a, R> {
    input: R,
    member: &'a Member,
    sum: Sum,
    short: bool,
}

impl<'a, R: Read> Checked<'a, R> {
    fn of(input: R, member: &'a Member) -> Self {
        Self { input, member, sum: Sum::default(), short: false }
    }

    /// Fails unless what was read is what was looked at, and nothing follows.
    fn finish_comparing(&mut self, path: &Path) -> Result<(), Error> {
        let more = self.input.read(&mut [0]).at("read", path)? > 0;
        let sum = std::mem::take(&mut self.sum);
        let same = !self.short && !more && hex(&sum.sha256.finalize()) == self.member.sha256;
        if same { Ok(()) } else { Err(Error::Changed { path: path.to_owned() }) }
    }
}

impl<R: Read> Read for Checked<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = (self.member.bytes - self.sum.bytes).min(buffer.len() as u64) as usize;
        let buffer = &mut buffer[..wanted];
        let mut n = self.input.read(buffer)?;
        if n == 0 && !buffer.is_empty() {
            self.short = true;
            buffer.fill(0);
            n = buffer.len();
        }
        self.sum.take(&buffer[..n]);
        Ok(n)
    }
}
/// Ends the name of a parcel that is being written: the parcel's, and the process's number.
const ASIDE: &str = ".aside";

/// Removes what processes left that were killed while they wrote this parcel.
fn sweep(out: &Path) {
    let place = out.parent().filter(|place| !place.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = out.file_name().unwrap_or_default().to_string_lossy();
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let found = entry.file_name().to_string_lossy().into_owned();
        let process = found.strip_prefix(&*name).and_then(|rest| rest.strip_prefix('.')?.strip_suffix(ASIDE));
        let process = process.and_then(|number| number.parse::<u32>().ok());
        if process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_export_left_goes_and_what_others_write_stays() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("a.parcel");
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        let [dead, ours] =
            [ended.id(), std::process::id()].map(|id| folder.path().join(format!("a.parcel.{id}.aside")));
        let others = ["b.parcel.1.aside", "a.parcel.x.aside", "a.parcel"].map(|name| folder.path().join(name));
        for path in others.iter().chain([&dead, &ours]) {
            fs::write(path, "").unwrap();
        }
        sweep(&out);
        assert!(!dead.exists() && ours.exists() && others.iter().all(|path| path.exists()));
    }
}
