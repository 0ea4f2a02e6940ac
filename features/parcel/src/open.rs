//! Opens a parcel, which may come from anybody: nothing in it is run, followed or trusted. Only plain files are
//! taken, only those that the list names, in its order, with its sizes and sums; only with names that cannot leave the
//! folder; and only into a folder that was made for them. What does not hold to this is refused as a whole.

use super::error::{At, Error};
use super::format::{FORMAT, MANIFEST, Manifest, Member};
use super::name;
use super::pack::Summed;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// No list of members is longer, in bytes.
const MANIFEST_MAX: u64 = 64 << 20;
/// What follows the last member: the end marks of tar, padded to a record.
const END_MAX: u64 = 1 << 20;

/// How much a parcel may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Size of all its members, in bytes.
    pub bytes: u64,
    /// Their number.
    pub members: usize,
}

impl Default for Bounds {
    /// 16 GiB in 100,000 members.
    fn default() -> Self {
        Self { bytes: 16 << 30, members: 100_000 }
    }
}

/// Unpacks the parcel into the folder `into`, which is there and empty, and returns its list. After an error the folder
/// holds whatever came before the place that is wrong; it is of no use and can be removed.
///
/// # Errors
/// [`Error::Refused`] for what is no parcel, or a damaged one, or lies; [`Error::File`] if something cannot be read or
/// written.
pub fn open(parcel: &Path, into: &Path, bounds: Bounds) -> Result<Manifest, Error> {
    let refused = |why: String| Error::Refused { path: parcel.to_owned(), why };
    let damaged = |error: io::Error| refused(format!("it is not a readable .tar.zst file: {error}"));
    let file = File::open(parcel).at("read", parcel)?;
    if !file.metadata().at("inspect", parcel)?.is_file() {
        return Err(refused("it is not a file".to_owned()));
    }
    let mut tar = tar::Archive::new(zstd::Decoder::new(file).map_err(damaged)?);
    // Raw: names are in the headers or nowhere; extensions of the format, which can be of any size, are no members.
    let mut entries = tar.entries().map_err(damaged)?.raw(true);

    let (top, manifest) = match entries.next() {
        Some(first) => read_manifest(first.map_err(damaged)?).map_err(refused)?,
        None => return Err(refused("it is empty".to_owned())),
    };
    check(&manifest, bounds).map_err(refused)?;
    let free = bakeoff_host::disk::free_bytes(into).at("inspect", into)?;
    let wanted: u64 = manifest.members.iter().map(|member| member.bytes).sum();
    if wanted > free {
        return Err(refused(format!("it unpacks to {wanted} bytes, but only {free} bytes are free; free more space")));
    }
    for member in &manifest.members {
        let name = &member.name;
        let entry = entries.next().ok_or_else(|| refused(format!("`{name}` is listed but missing")))?;
        let entry = entry.map_err(damaged)?;
        if entry.path_bytes() != format!("{top}/{name}").as_bytes() {
            let found = String::from_utf8_lossy(&entry.path_bytes()).escape_debug().to_string();
            return Err(refused(format!("it has `{found}` where its list has `{name}`")));
        }
        if entry.header().entry_type() != tar::EntryType::Regular || entry.size() != member.bytes {
            return Err(refused(format!("`{name}` should be a file of {} bytes, but is not", member.bytes)));
        }
        match unpack(entry, member, &into.join(name))? {
            true => {}
            false => {
                let why = format!("`{name}` is damaged (its SHA-256 differs from the list); copy the parcel again");
                return Err(refused(why));
            }
        }
    }
    if let Some(extra) = entries.next() {
        let name = String::from_utf8_lossy(&extra.map_err(damaged)?.path_bytes()).escape_debug().to_string();
        return Err(refused(format!("it contains `{name}`, but its list does not")));
    }
    nothing_follows(tar.into_inner()).map_err(damaged)?;
    Ok(manifest)
}

/// The parcel's folder and its list; what is wrong with it otherwise.
fn read_manifest(entry: tar::Entry<'_, impl Read>) -> Result<(String, Manifest), String> {
    let no_parcel = || format!("it is not a parcel, because it does not begin with {MANIFEST}");
    let path = String::from_utf8(entry.path_bytes().into_owned()).map_err(|_| no_parcel())?;
    let top = path.strip_suffix(&format!("/{MANIFEST}")).filter(|top| name::is_top(top)).ok_or_else(no_parcel)?;
    if entry.header().entry_type() != tar::EntryType::Regular {
        return Err(no_parcel());
    }
    if entry.size() > MANIFEST_MAX {
        return Err(format!("its list has {} bytes, but only {MANIFEST_MAX} are allowed", entry.size()));
    }
    let mut bytes = vec![];
    entry.take(MANIFEST_MAX).read_to_end(&mut bytes).map_err(|e| format!("its list cannot be read: {e}"))?;
    #[derive(serde::Deserialize)]
    struct Head {
        format: u32,
    }
    let wrong = |e: serde_json::Error| format!("its list is invalid: {e}");
    let Head { format } = serde_json::from_slice(&bytes).map_err(wrong)?;
    if format > FORMAT {
        return Err(format!(
            "it has format {format}, but this version of Bakeoff reads formats only up to {FORMAT}; use a newer version"
        ));
    }
    Ok((top.to_owned(), serde_json::from_slice(&bytes).map_err(wrong)?))
}

/// What is wrong with a list, if anything.
fn check(manifest: &Manifest, bounds: Bounds) -> Result<(), String> {
    let members = &manifest.members;
    if members.len() > bounds.members {
        return Err(format!("it lists {} members, but only {} are allowed", members.len(), bounds.members));
    }
    let mut bytes = 0_u64;
    for member in members {
        let name = member.name.escape_debug();
        if let Some(complaint) = name::complaint(&member.name) {
            return Err(format!("the path `{name}` in its list {complaint}"));
        }
        bytes = bytes.saturating_add(member.bytes);
        if bytes > bounds.bytes {
            return Err(format!("it unpacks to more than the allowed {} bytes", bounds.bytes));
        }
    }
    if let Some(pair) = members.windows(2).find(|pair| pair[0].name >= pair[1].name) {
        return Err(format!("its list is not sorted at `{}`", pair[1].name.escape_debug()));
    }
    let names: BTreeSet<&str> = members.iter().map(|member| member.name.as_str()).collect();
    for member in members {
        let mut folder = member.name.as_str();
        while let Some((above, _)) = folder.rsplit_once('/') {
            if names.contains(above) {
                return Err(format!("its list has `{}` both as a file and as a folder", above.escape_debug()));
            }
            folder = above;
        }
    }
    if !names.contains("study/study.toml") {
        return Err("it has no study.toml".to_owned());
    }
    match &manifest.latest {
        Some(latest) if latest.contains('/') || !names.contains(format!("journals/{latest}").as_str()) => {
            Err(format!("its latest journal `{}` is missing", latest.escape_debug()))
        }
        _ => Ok(()),
    }
}

/// Writes a member; says whether it is what the list says.
fn unpack(mut entry: tar::Entry<'_, impl Read>, member: &Member, to: &Path) -> Result<bool, Error> {
    let folder = to.parent().unwrap_or(to);
    fs::create_dir_all(folder).at("create the folder", folder)?;
    let mode = if member.executable { 0o777 } else { 0o666 };
    let mut file = File::options().write(true).create_new(true).mode(mode).open(to).at("write", to)?;
    let mut summed = Summed::new(&mut file);
    match io::copy(&mut entry, &mut summed) {
        // A damaged stream ends here.
        Err(_) if !summed.is_refused => return Ok(false),
        copied => copied.at("write", to)?,
    };
    Ok(summed.finish() == (member.bytes, member.sha256.clone()))
}

/// The stream must end here, but for the end marks of tar, and its own sum must hold.
fn nothing_follows(mut stream: impl Read) -> io::Result<()> {
    let mut rest = vec![];
    stream.by_ref().take(END_MAX + 1).read_to_end(&mut rest)?;
    let clean = rest.len() as u64 <= END_MAX && rest.iter().all(|byte| *byte == 0);
    if clean { Ok(()) } else { Err(io::Error::other("extra data follows the end of the archive")) }
}
