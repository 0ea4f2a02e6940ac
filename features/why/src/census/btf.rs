//! Reads the kernel's own description of its types (BTF, Linux's `Documentation/bpf/btf.rst`): where a member is in a
//! structure, and nothing else. It trusts no number in the file: whatever does not fit gives no answer.

/// A kind of type has a number of 32-bit words behind its head, or some for each member.
enum Behind {
    Words(usize),
    Each(usize),
}

const STRUCT: u32 = 4;
const UNION: u32 = 5;
const MAGIC: u16 = 0xeb9f;
const HEAD_BYTES: usize = 12;
/// Structures without a name lie in others, but not in this many.
const MOST_DEPTH: u32 = 8;

/// A description, whose types are found by their numbers.
struct Types<'a> {
    /// Where each begins, the first of them having number 1.
    starts: Vec<usize>,
    section: &'a [u8],
    strings: &'a [u8],
}

/// The head of a type.
struct Type<'a> {
    name: u32,
    kind: u32,
    /// Members count from here, 3 words each.
    behind: &'a [u8],
    /// Whether offsets have the width of bit fields in their highest byte.
    has_widths: bool,
}

/// How many bytes a member is from the beginning of a structure.
pub(super) fn offset_of(file: &[u8], structure: &str, member: &str) -> Option<u32> {
    let types = Types::read(file)?;
    let mut found = (0..types.starts.len()).filter_map(|at| {
        let of = types.at(at)?;
        let is_it = of.kind == STRUCT && types.is_name(of.name, structure);
        is_it.then(|| types.offset_in(&of, member, MOST_DEPTH)).flatten()
    });
    let bits = found.next()?;
    bits.is_multiple_of(8).then_some(bits / 8)
}

impl<'a> Types<'a> {
    fn read(file: &'a [u8]) -> Option<Self> {
        if u16::from_ne_bytes(*file.first_chunk()?) != MAGIC {
            return None;
        }
        let size = |at| Some(word(file, at)? as usize);
        let head = size(4)?;
        let section = |offset: usize, length: usize| {
            let begin = head.checked_add(offset)?;
            file.get(begin..begin.checked_add(length)?)
        };
        let (of_types, strings) = (section(size(8)?, size(12)?)?, section(size(16)?, size(20)?)?);
        let mut starts = vec![];
        let mut at = 0;
        while at < of_types.len() {
            starts.push(at);
            at = at.checked_add(HEAD_BYTES + behind(word(of_types, at + 4)?)?)?;
        }
        Some(Self { starts, section: of_types, strings })
    }

    fn at(&self, index: usize) -> Option<Type<'a>> {
        let start = *self.starts.get(index)?;
        let info = word(self.section, start + 4)?;
        let begin = start + HEAD_BYTES;
        Some(Type {
            name: word(self.section, start)?,
            kind: kind(info),
            behind: self.section.get(begin..begin + behind(info)?)?,
            has_widths: info >> 31 == 1,
        })
    }

    /// In bits; also of a member of structures without a name.
    fn offset_in(&self, of: &Type<'_>, member: &str, depth: u32) -> Option<u32> {
        if ![STRUCT, UNION].contains(&of.kind) {
            return None;
        }
        let mut members = of.behind.chunks_exact(HEAD_BYTES);
        members.find_map(|bytes| {
            let (name, is_of, offset) = (word(bytes, 0)?, word(bytes, 4)?, word(bytes, 8)?);
            let offset = if of.has_widths { offset & 0xff_ffff } else { offset };
            if self.is_name(name, member) {
                return Some(offset);
            }
            if !self.is_name(name, "") {
                return None;
            }
            let inner = self.at((is_of as usize).checked_sub(1)?)?;
            offset.checked_add(self.offset_in(&inner, member, depth.checked_sub(1)?)?)
        })
    }

    fn is_name(&self, at: u32, name: &str) -> bool {
        let rest = self.strings.get(at as usize..).and_then(|rest| rest.strip_prefix(name.as_bytes()));
        rest.is_some_and(|rest| rest.first() == Some(&0))
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_ne_bytes(*word))
}

fn kind(info: u32) -> u32 {
    info >> 24 & 0x1f
}

/// Bytes behind the head of a type; none if there is no such kind.
fn behind(info: u32) -> Option<usize> {
    let words = match kind(info) {
        // Integers, variables and tags of declarations.
        1 | 14 | 17 => Behind::Words(1),
        // Arrays.
        3 => Behind::Words(3),
        // Structures, unions, sections and enumerations of 64 bits.
        STRUCT | UNION | 15 | 19 => Behind::Each(3),
        // Enumerations and prototypes.
        6 | 13 => Behind::Each(2),
        // Pointers, forward declarations, names, qualifiers, functions, floats and tags of types.
        2 | 7..=12 | 16 | 18 => Behind::Words(0),
        _ => return None,
    };
    Some(
        4 * match words {
            Behind::Words(words) => words,
            Behind::Each(words) => words * (info & 0xffff) as usize,
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Types as words, and strings: `a` at 1, `task_struct` at 3, `pid` at 15.
    fn file(types: &[u32]) -> Vec<u8> {
        let strings = b"\0a\0task_struct\0pid\0";
        let length = 4 * types.len() as u32;
        let mut bytes = MAGIC.to_ne_bytes().to_vec();
        bytes.extend([1, 0]);
        for word in [24, 0, length, length, strings.len() as u32].iter().chain(types) {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend(strings);
        bytes
    }

    const INT: [u32; 4] = [1, 1 << 24, 4, 32];
    const PID: Option<u32> = Some(12);

    fn example() -> Vec<u8> {
        // int; struct { int a; int pid; }; struct task_struct { int a; (8 bytes on) struct { … }; }
        let inner = [0, STRUCT << 24 | 2, 8, 1, 1, 0, 15, 1, 32];
        let outer = [3, STRUCT << 24 | 1 << 31 | 2, 16, 1, 1, 8 << 24, 0, 2, 64];
        file(&[&INT[..], &inner, &outer].concat())
    }

    #[test]
    fn a_member_is_found_in_a_structure_without_a_name_within_another() {
        assert_eq!(offset_of(&example(), "task_struct", "pid"), PID);
        assert_eq!(offset_of(&example(), "task_struct", "a"), Some(0));
        assert_eq!(offset_of(&example(), "task_struct", "pi"), None);
        assert_eq!(offset_of(&example(), "task", "pid"), None);
    }

    #[test]
    fn a_structure_that_contains_itself_ends() {
        let own = [3, STRUCT << 24 | 1, 16, 0, 1, 0];
        assert_eq!(offset_of(&file(&own), "task_struct", "pid"), None);
        let bit = [3, STRUCT << 24 | 1, 16, 15, 1, 7];
        assert_eq!(offset_of(&file(&bit), "task_struct", "pid"), None, "a bit field has no offset in bytes");
    }

    #[test]
    fn what_is_cut_off_has_no_answer() {
        let whole = example();
        for length in 0..whole.len() {
            assert_eq!(offset_of(&whole[..length], "task_struct", "pid"), None, "{length}");
        }
    }

    #[test]
    fn this_kernel_s_tasks_have_a_number() {
        // Not every kernel describes its types.
        let Ok(file) = std::fs::read("/sys/kernel/btf/vmlinux") else { return };
        let offset = offset_of(&file, "task_struct", "pid").unwrap();
        assert!(offset > 0 && offset.is_multiple_of(4), "{offset}");
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            offset_of(&bytes, "task_struct", "pid");
        }

        #[test]
        fn nor_does_a_changed_file(changes in proptest::collection::vec((0..150_usize, any::<u8>()), 1..6)) {
            let mut bytes = example();
            for (at, byte) in changes {
                let length = bytes.len();
                bytes[at % length] = byte;
            }
            offset_of(&bytes, "task_struct", "pid");
        }
    }
}
