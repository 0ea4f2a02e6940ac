//! Archives of any known kind, recognised by how they begin and never by their names. What a hostile one could do is held in
//! by [`super::tree`] and [`super::limits`]; what a source becomes is the business of [`super`].

use super::error::{Fault, Refusal, UnpackError};
use super::limits::{Limits, Meter, Metered};
use super::tree::{Root, Tree};
use super::{tar_entries, zip_entries};
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// More memory than this is not given to a decoder for what it looks back to; `xz -9` needs 64 MiB.
const DICTIONARY_KIB: u32 = 1 << 20;

/// One of these is what a packed stream begins with.
const GZIP: &[u8] = &[0x1f, 0x8b, 8];
const BZIP2: &[u8] = b"BZh";
/// After `BZh` and a digit.
const BZIP2_BLOCK: &[u8] = &[0x31, 0x41, 0x59, 0x26, 0x53, 0x59];
const XZ: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// And these are archives by themselves. A zip without entries has only an end.
const ZIP: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];
const AR: &[u8] = b"!<arch>\n";

/// What became of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unpacked {
    /// Files, folders and links; of a tar also the headers that only describe what follows.
    pub entries: u64,
    /// Bytes of all files together; of a tar with its headers.
    pub bytes: u64,
}

impl Limits {
    /// Unpacks an archive, which may be anybody's, into a folder, which is made if need be and must be empty: a tar, alone
    /// or packed with gzip, bzip2, xz or zstd; a zip; or what a Debian package installs.
    ///
    /// Nothing outside of the folder is read, written or linked to, whatever the archive says. Files and folders belong to
    /// who unpacks them and keep their times; of permissions only whether a file is executable is kept. After an error
    /// the folder holds a part of the archive, and no symbolic link.
    ///
    /// # Errors
    /// Names the archive, the entry and what is wrong: a name that is absolute or has `..` or a NUL in it or goes through
    /// a link, a link that leads outside, a device, pipe or socket, more than the limits allow, damage, an interrupt
    /// ([`Refusal::Interrupted`]), and what the system says.
    pub fn unpack(&self, file: &Path, into: &Path) -> Result<Unpacked, UnpackError> {
        unpack_within(file, into, self, Root::Itself)
    }
}

/// The same, where links may have to stay inside of the only folder.
pub(crate) fn unpack_within(file: &Path, into: &Path, limits: &Limits, root: Root) -> Result<Unpacked, UnpackError> {
    unpack_file(file, into, limits, root).map_err(|Fault { entry, why }| {
        // About the archive itself the words of a refusal need a subject.
        let entry = entry.filter(|_| !matches!(why, Refusal::Interrupted));
        UnpackError { archive: file.to_owned(), entry, why }
    })
}

fn unpack_file(path: &Path, into: &Path, limits: &Limits, root: Root) -> Result<Unpacked, Fault> {
    let mut file = File::open(path)?;
    let meter = Meter::new(*limits, file.metadata()?.len());
    let mut magic = vec![];
    (&mut file).take(8).read_to_end(&mut magic)?;
    file.rewind()?;

    fs::create_dir_all(into)?;
    if fs::read_dir(into)?.next().is_some() {
        return Err(Refusal::NotEmpty.into());
    }
    let mut tree = Tree::new(into, &meter);
    if ZIP.iter().any(|zip| magic.starts_with(zip)) {
        zip_entries::add_all(file, &meter, &mut tree)?;
    } else if magic == AR {
        let content = debian_content(file)?;
        add_tar(content, &meter, &mut tree)?;
    } else {
        add_tar(file, &meter, &mut tree)?;
    }
    tree.finish(root)?;
    let (bytes, entries) = meter.counted();
    Ok(Unpacked { entries, bytes })
}

/// Adds the entries of a tar, whatever it is packed with.
fn add_tar(packed: impl Read, meter: &Meter, tree: &mut Tree<'_>) -> Result<(), Fault> {
    let mut stream = Metered { inner: unpacked(packed)?, meter };
    let mut first = vec![];
    let read = (&mut stream).take(tar_entries::BLOCK_BYTES as u64).read_to_end(&mut first);
    read?;
    if !tar_entries::begins_tar(&first) {
        return Err(Refusal::NoArchive.into());
    }
    tar_entries::add_all(&mut first.chain(stream), meter, tree)
}

/// The stream with its packing undone, if it has one.
fn unpacked<'a>(packed: impl Read + 'a) -> Result<Box<dyn Read + 'a>, Refusal> {
    let mut packed = BufReader::with_capacity(1 << 16, packed);
    let mut magic = vec![];
    (&mut packed).take(10).read_to_end(&mut magic)?;
    // Texts can begin like the first three bytes of bzip2.
    let begins = |with: &[u8]| magic.starts_with(with) && (with != BZIP2 || magic.ends_with(BZIP2_BLOCK));
    let kind = [GZIP, BZIP2, XZ, ZSTD].into_iter().find(|&with| begins(with));
    let packed = BufReader::new(io::Cursor::new(magic).chain(packed));
    Ok(match kind {
        Some(GZIP) => Box::new(flate2::bufread::MultiGzDecoder::new(packed)),
        Some(BZIP2) => Box::new(bzip2::bufread::MultiBzDecoder::new(packed)),
        Some(XZ) => Box::new(lzma_rust2::XzReader::new_mem_limit(packed, true, DICTIONARY_KIB)),
        Some(ZSTD) => Box::new(zstd::Decoder::with_buffer(packed)?),
        _ => Box::new(packed),
    })
}

/// The member `data.tar`, however packed, of a Debian package (ar(5)).
fn debian_content(mut file: File) -> Result<impl Read, Refusal> {
    file.seek(SeekFrom::Start(AR.len() as u64))?;
    loop {
        let mut header = [0; 60];
        file.read_exact(&mut header).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Refusal::NoArchive,
            _ => error.into(),
        })?;
        let size = std::str::from_utf8(&header[48..58]).ok().and_then(|size| size.trim_end().parse::<u32>().ok());
        let size = size.filter(|_| header[58..] == *b"`\n").ok_or(Refusal::NoArchive)?;
        if header.starts_with(b"data.tar") {
            return Ok(file.take(size.into()));
        }
        // Members begin at even places.
        file.seek(SeekFrom::Current(i64::from(size) + i64::from(size % 2)))?;
    }
}
