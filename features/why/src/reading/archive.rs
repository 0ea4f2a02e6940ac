//! Static archives: what their members are, summed. A member that is broken makes the archive broken; one that is no ELF
//! file is counted.

use super::content::{ELF, elf_at};
use super::depth::Depth;
use super::error::{Broken, In as _};
use super::source::{Allowance, Source};
use crate::facts::{ArchiveFacts, Content};
use object::read::archive::ArchiveFile;
use object::read::{ReadCache, ReadCacheOps, ReadRef as _};

/// The facts of an archive of this size.
pub(super) fn read<S: ReadCacheOps>(mut cache: ReadCache<S>, size_bytes: u64) -> Result<ArchiveFacts, Broken> {
    let mut facts = ArchiveFacts::default();
    let mut members = vec![];
    {
        let allowance = Allowance::of(size_bytes);
        let data = Source::new(&cache, &allowance, 0, size_bytes);
        let archive = ArchiveFile::parse(data).within("the archive")?;
        facts.thin = archive.is_thin();
        if facts.thin {
            return Ok(facts);
        }
        for member in archive.members() {
            let member = member.within("a member of the archive")?;
            let name = String::from_utf8_lossy(member.name()).into_owned();
            members.push((name, member.file_range()));
        }
    }
    let mut summed_bytes = 0u64;
    for (name, (offset, size)) in members {
        let outside = || Broken(format!("member {name} lies outside the archive"));
        summed_bytes = summed_bytes.checked_add(size).filter(|sum| *sum <= size_bytes).ok_or_else(outside)?;
        if offset.checked_add(size).is_none_or(|end| end > size_bytes) {
            return Err(outside());
        }
        // What one member needed is not needed for the next.
        cache.clear();
        let mut magic: &[u8] = &[];
        if size >= 4 {
            magic = (&cache).read_bytes_at(offset, 4).ok().within("a member of the archive")?;
        }
        if magic == ELF {
            let member = elf_at(&cache, (offset, size), Depth::All);
            if let Content::Elf(member) = member.map_err(|Broken(what)| Broken(format!("member {name}: {what}")))? {
                facts.add(&member);
            }
        } else {
            facts.other_members += 1;
        }
    }
    Ok(facts)
}
