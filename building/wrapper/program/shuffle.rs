//! Which objects of a link may change places, and into which order a seed puts them. It looks at words only.
//!
//! The order is that of a hash of the seed and the object's base name, ties in the order they came in: so it does not
//! depend on where the objects lie, and to put the same objects into order twice changes nothing the second time,
//! which matters where both a driver and the linker that it calls come by here.

use super::driver::takes_value;
use super::tool::{ToolKind, last_part};
use core::ops::Range;

/// An object that may change places.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Object {
    key: u64,
    /// The number of its word.
    pub word: u32,
}

/// What begins or ends a program by its place in the order of linking.
const BEGINNINGS: [&[u8]; 9] =
    [b"crt1.o", b"Scrt1.o", b"gcrt1.o", b"grcrt1.o", b"rcrt1.o", b"Mcrt1.o", b"crt0.o", b"crti.o", b"crtfastmath.o"];
const ENDINGS: [&[u8]; 1] = [b"crtn.o"];

/// Options of linkers whose value is the next word.
const LINKER_VALUES: &[&[u8]] = &[
    b"-o",
    b"--output",
    b"-T",
    b"--script",
    b"-dT",
    b"--default-script",
    b"-plugin",
    b"--plugin",
    b"-plugin-opt",
    b"--plugin-opt",
    b"-Map",
    b"--Map",
    b"-R",
    b"--just-symbols",
    b"-dynamic-linker",
    b"--dynamic-linker",
    b"-I",
    b"-soname",
    b"--soname",
    b"-h",
    b"-e",
    b"--entry",
    b"-u",
    b"--undefined",
    b"-y",
    b"--trace-symbol",
    b"-z",
    b"-L",
    b"--library-path",
    b"-l",
    b"--library",
    b"-m",
    b"-A",
    b"--architecture",
    b"-c",
    b"--mri-script",
    b"-F",
    b"--filter",
    b"-f",
    b"--auxiliary",
    b"-G",
    b"-init",
    b"-fini",
    b"-defsym",
    b"--defsym",
    b"-rpath",
    b"--rpath",
    b"-rpath-link",
    b"--rpath-link",
    b"--version-script",
    b"-version-script",
    b"--dynamic-list",
    b"-Ttext",
    b"-Tdata",
    b"-Tbss",
    b"--section-start",
    b"--wrap",
    b"-wrap",
    b"--retain-symbols-file",
    b"--out-implib",
    b"--dependency-file",
];

/// A driver that is told one of these does not link, or not what its words say.
const NO_LINK: &[&[u8]] =
    &[b"-c", b"-S", b"-E", b"-M", b"-MM", b"-fsyntax-only", b"-x", b"-###", b"--version", b"-v", b"-dM"];

/// Finds the objects of a link that may change places, and their new order: `objects[n]` goes where the word
/// `places[n]` was. How many they are; 0 if the call links nothing or is not understood. `temporary` is the folder in
/// which drivers put objects of their own, whose names are drawn by lot.
pub fn order(
    kind: ToolKind,
    seed: &[u8],
    temporary: &[u8],
    words: &[&[u8]],
    objects: &mut [Object],
    places: &mut [u32],
) -> usize {
    let Some(range) = span(kind, words) else { return 0 };
    let has_value = |word: &[u8]| match kind {
        ToolKind::Archiver => false,
        ToolKind::Linker => LINKER_VALUES.contains(&word),
        _ => takes_value(word),
    };
    let (mut at, mut count, mut lazily) = (range.start, 0, false);
    while at < range.end {
        let word = words[at];
        match word {
            b"--start-lib" | b"-Wl,--start-lib" => lazily = true,
            b"--end-lib" | b"-Wl,--end-lib" => lazily = false,
            _ if has_value(word) => at += 1,
            _ if !lazily && is_object(word) && !is_of_driver(word, temporary) => {
                objects[count] = Object { key: key(seed, last_part(word, b'/')), word: at as u32 };
                places[count] = at as u32;
                count += 1;
            }
            _ => {}
        }
        at += 1;
    }
    objects[..count].sort_unstable();
    count
}

/// The words among which objects may change places.
fn span(kind: ToolKind, words: &[&[u8]]) -> Option<Range<usize>> {
    match kind {
        ToolKind::Preprocessor | ToolKind::Rust | ToolKind::GoLinker => None,
        ToolKind::Archiver => {
            // Only what puts members at the end, as `r` and `q` do where no place is named.
            let operation = words.get(1)?;
            let letters = operation.strip_prefix(b"-").unwrap_or(operation);
            let puts = letters.iter().any(|letter| b"rq".contains(letter));
            let plain = letters.iter().all(|letter| b"rqcsuvDUSTPlo".contains(letter));
            (puts && plain).then_some(2..words.len())
        }
        ToolKind::Driver if words.iter().any(|word| NO_LINK.contains(word)) => None,
        // Files of a format of their own.
        ToolKind::Linker if words.iter().any(|word| [b"-b" as &[u8], b"--format"].contains(word)) => None,
        ToolKind::Linker if words.iter().any(|word| word.starts_with(b"--format=")) => None,
        ToolKind::Driver | ToolKind::Linker => {
            let is_one = |word: &[u8], names: &[&[u8]], stem| {
                let name = last_part(word, b'/');
                !word.starts_with(b"-") && (names.contains(&name) || is_crt(name, stem))
            };
            let start = words.iter().rposition(|word| is_one(word, &BEGINNINGS, b"crtbegin")).unwrap_or(0) + 1;
            let end = words.iter().position(|word| is_one(word, &ENDINGS, b"crtend")).unwrap_or(words.len());
            (start < end).then_some(start..end)
        }
    }
}

/// `crtbegin.o`, `crtbeginS.o`, `clang_rt.crtbegin-x86_64.o`.
fn is_crt(name: &[u8], stem: &[u8]) -> bool {
    name.strip_prefix(b"clang_rt.").unwrap_or(name).starts_with(stem) && name.ends_with(b".o")
}

fn is_object(word: &[u8]) -> bool {
    let ending = [&b".o"[..], b".obj", b".lo"].iter().any(|ending| word.ends_with(ending));
    ending && !word.starts_with(b"-") && !word.starts_with(b"@")
}

/// Whether the object lies directly in the folder for temporary files.
fn is_of_driver(word: &[u8], temporary: &[u8]) -> bool {
    let folder = &word[..word.len() - last_part(word, b'/').len()];
    let bare = |path: &[u8]| path.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1);
    bare(folder) > 0 && folder[..bare(folder)] == temporary[..bare(temporary)]
}

/// FNV-1a, and the last step of SplitMix64, which makes all bits depend on all.
fn key(seed: &[u8], name: &[u8]) -> u64 {
    let bytes = seed.iter().chain(b"\0").chain(name);
    let hash = bytes
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shuffled(kind: ToolKind, seed: &str, line: &str) -> (usize, String) {
        let words: Vec<&[u8]> = line.split_whitespace().map(str::as_bytes).collect();
        let (mut objects, mut places) = (vec![Object::default(); words.len()], vec![0; words.len()]);
        let count = order(kind, seed.as_bytes(), b"/tmp", &words, &mut objects, &mut places);
        let mut after = words.clone();
        for (object, place) in objects.iter().zip(&places).take(count) {
            after[*place as usize] = words[object.word as usize];
        }
        (count, after.iter().map(|word| std::str::from_utf8(word).unwrap()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn only_objects_between_the_start_files_change_places() {
        let line = "ld -o out.o 0.o /l/crt1.o /l/crti.o /l/crtbeginS.o -L/l a.o b.o x/c.o -lm d.o -plugin-opt=p.o \
                    -Map m.o /tmp/ccAbCdEf.o lib.a e.o --start-lib s.o --end-lib /l/crtendS.o /l/crtn.o z.o";
        let mut orders = std::collections::BTreeSet::new();
        for seed in 0..50 {
            let (count, after) = shuffled(ToolKind::Linker, &seed.to_string(), line);
            assert_eq!(count, 5);
            let fixed = |line: &str| {
                let mobile = ["a.o", "b.o", "x/c.o", "d.o", "e.o"];
                line.split(' ')
                    .map(|word| if mobile.contains(&word) { "_" } else { word })
                    .collect::<Vec<_>>()
                    .join(" ")
            };
            assert_eq!(fixed(&after), fixed(&line.split_whitespace().collect::<Vec<_>>().join(" ")));
            // Another time changes nothing.
            assert_eq!(shuffled(ToolKind::Linker, &seed.to_string(), &after), (5, after.clone()));
            orders.insert(after);
        }
        assert!(orders.len() > 35, "{} orders of 120 by 50 seeds", orders.len());
    }

    #[test]
    fn all_orders_are_about_as_likely() {
        let mut times = std::collections::BTreeMap::new();
        for seed in 0..6000 {
            *times.entry(shuffled(ToolKind::Linker, &format!("{seed}"), "ld a.o b.o c.o").1).or_insert(0) += 1;
        }
        assert_eq!(times.len(), 6);
        assert!(times.values().all(|&times: &i32| (850..1150).contains(&times)), "{times:?}");
    }

    #[test]
    fn the_order_does_not_depend_on_folders() {
        let names = |line: &str| shuffled(ToolKind::Linker, "7", line).1.replace("/x/", "").replace("/elsewhere/", "");
        assert_eq!(names("ld /x/a.o /x/b.o /x/c.o /x/d.o"), names("ld /elsewhere/a.o /elsewhere/b.o /x/c.o /x/d.o"));
    }

    #[test]
    fn what_links_nothing_is_left_alone() {
        let check = |kind, line: &str, count| assert_eq!(shuffled(kind, "1", line).0, count, "{line}");
        check(ToolKind::Driver, "gcc a.o b.o -o x", 2);
        check(ToolKind::Driver, "gcc -c a.c -o b.o -MT c.o", 0);
        check(ToolKind::Driver, "gcc -x c a.o b.o", 0);
        check(ToolKind::Linker, "ld -r a.o b.o -o c.o", 2);
        check(ToolKind::Linker, "ld -b binary a.o b.o -o c.o", 0);
        check(ToolKind::Archiver, "ar rcs libx.a a.o b.o", 2);
        check(ToolKind::Archiver, "ar -cr libx.a a.o b.o", 2);
        check(ToolKind::Archiver, "ar x libx.a a.o b.o", 0);
        check(ToolKind::Archiver, "ar rb a.o libx.a b.o", 0);
        check(ToolKind::Preprocessor, "cpp a.o b.o", 0);
    }
}
