//! Files that were made to hurt: whatever they hold, reading them ends soon, with facts or with a word on what is
//! wrong.

use crate::fixtures::Workshop;
use bakeoff_why::reading::{Depth, Error, facts_of};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// No file of some hundred kilobytes takes longer, on a machine that is busy with all other tests.
const PATIENCE: Duration = Duration::from_secs(20);

/// What becomes of a file.
#[derive(Debug, Clone)]
enum Mutation {
    /// So many parts of the file, per mille, are kept.
    Cut(u16),
    /// Bytes at a place, per million, become others.
    Write(u32, Vec<u8>),
    /// The same in the headers, where most of what is dangerous stands.
    Header(u16, Vec<u8>),
    /// A number of eight bytes at an aligned place becomes another.
    Number(u32, u64),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let bytes = || prop::collection::vec(any::<u8>(), 1..9);
    let numbers = prop_oneof![
        Just(0),
        Just(1),
        Just(u64::MAX),
        Just(u64::MAX / 2 + 1),
        Just(0xffff_ffff),
        0u64..1 << 20,
        any::<u64>()
    ];
    prop_oneof![
        1 => (0u16..1000).prop_map(Mutation::Cut),
        3 => (0u32..1_000_000, bytes()).prop_map(|(at, bytes)| Mutation::Write(at, bytes)),
        3 => (0u16..1024, bytes()).prop_map(|(at, bytes)| Mutation::Header(at, bytes)),
        6 => (0u32..1_000_000, numbers).prop_map(|(at, number)| Mutation::Number(at, number)),
    ]
}

fn mutate(bytes: &mut Vec<u8>, mutation: &Mutation) {
    let place = |per_million: u32, length: usize| length * per_million as usize / 1_000_000;
    let (at, new) = match mutation {
        Mutation::Cut(per_mille) => return bytes.truncate(bytes.len() * usize::from(*per_mille) / 1000),
        Mutation::Write(at, new) => (place(*at, bytes.len()), new.clone()),
        Mutation::Header(at, new) => (usize::from(*at), new.clone()),
        Mutation::Number(at, number) => (place(*at, bytes.len()) & !7, number.to_le_bytes().to_vec()),
    };
    let end = (at + new.len()).min(bytes.len());
    if at < end {
        bytes[at..end].copy_from_slice(&new[..end - at]);
    }
}

/// Reads a file that may be anything.
fn survives(path: &Path) {
    let begin = Instant::now();
    for depth in [Depth::Counts, Depth::Relocations, Depth::All] {
        match facts_of(path, depth) {
            Ok(_) | Err(Error::OtherFormat { .. }) => {}
            Err(Error::Broken { path: named, what }) => assert!(named == path && !what.is_empty()),
            Err(error @ Error::Read { .. }) => panic!("{error:?}"),
        }
    }
    assert!(begin.elapsed() < PATIENCE, "{:?}", begin.elapsed());
}

#[test]
fn mutated_files_are_read_or_refused() {
    let workshop = Workshop::new();
    workshop.sh("gcc -c -g library.c -o member.o; ar rc all.a member.o; objcopy --only-keep-debug member.o debug.o");
    let mut originals = workshop.everything();
    originals.retain(|path| fs::metadata(path).unwrap().len() < 200_000);
    originals.extend([workshop.path("all.a"), workshop.path("debug.o")]);
    let originals: Vec<Vec<u8>> = originals.iter().map(|path| fs::read(path).unwrap()).collect();
    let seed: u64 = std::env::var("SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(178);
    println!("seed {seed}, {} files", originals.len());
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let rules = ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() };
    let strategy = (0..originals.len(), prop::collection::vec(mutation(), 1..6));
    let path = workshop.path("mutated");
    let outcome = TestRunner::new_with_rng(rules, rng).run(&strategy, |(which, mutations)| {
        let mut bytes = originals[which].clone();
        mutations.iter().for_each(|mutation| mutate(&mut bytes, mutation));
        fs::write(&path, &bytes).unwrap();
        survives(&path);
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
}

/// Every byte of the file header, of all values that matter.
#[test]
fn every_byte_of_a_header_may_be_anything() {
    let workshop = Workshop::new();
    let original = fs::read(workshop.gcc("lib.so", "library.c -shared -fPIC -g")).unwrap();
    let path = workshop.path("mutated");
    for at in 0..64 {
        for value in [0, 1, 2, 0x7f, 0x80, 0xff] {
            let mut bytes = original.clone();
            bytes[at] = value;
            fs::write(&path, &bytes).unwrap();
            survives(&path);
        }
    }
}

/// A thousand section headers, each of which is the same huge table.
#[test]
fn a_table_that_is_told_a_thousand_times_is_refused() {
    let workshop = Workshop::new();
    let mut bytes = fs::read(workshop.gcc("lib.so", "library.c -shared -fPIC")).unwrap();
    let (table, table_bytes) = (bytes.len() as u64, 24u64 << 16);
    bytes.resize(bytes.len() + table_bytes as usize, 0);
    let headers = bytes.len() as u64;
    bytes.extend([0; 64]);
    for _ in 0..1000 {
        let mut header = [0u8; 64];
        header[4..8].copy_from_slice(&4u32.to_le_bytes());
        header[24..32].copy_from_slice(&table.to_le_bytes());
        header[32..40].copy_from_slice(&table_bytes.to_le_bytes());
        header[56..64].copy_from_slice(&24u64.to_le_bytes());
        bytes.extend(header);
    }
    bytes[0x28..0x30].copy_from_slice(&headers.to_le_bytes());
    bytes[0x3c..0x3e].copy_from_slice(&1001u16.to_le_bytes());
    bytes[0x3e..0x40].copy_from_slice(&0u16.to_le_bytes());
    let path = workshop.path("many");
    fs::write(&path, &bytes).unwrap();
    let error = facts_of(&path, Depth::All).unwrap_err();
    assert!(matches!(&error, Error::Broken { what, .. } if what.contains("larger than the file")), "{error}");
}

/// A file whose headers promise more than any memory holds, in a file that has it, all zeros.
#[test]
fn a_file_of_a_terabyte_of_nothing_is_refused() {
    let workshop = Workshop::new();
    let path = workshop.gcc("lib.so", "library.c -shared -fPIC");
    let mut bytes = fs::read(&path).unwrap();
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let headers = word(0x28);
    let count = usize::from(u16::from_le_bytes(bytes[0x3c..0x3e].try_into().unwrap()));
    for number in 1..count {
        let at = headers + 64 * number;
        // The table of dynamic relocations grows over all of the file.
        if u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()) == 4 {
            bytes[at + 32..at + 40].copy_from_slice(&(24u64 << 35).to_le_bytes());
        }
    }
    fs::write(&path, &bytes).unwrap();
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    if file.set_len(1 << 40).is_err() {
        println!("skipped: this file system has no files of a terabyte");
        return;
    }
    let error = facts_of(&path, Depth::All).unwrap_err();
    assert!(matches!(error, Error::Broken { .. }), "{error}");
}

#[test]
fn a_section_that_unpacks_to_more_than_it_says_is_refused() {
    let workshop = Workshop::new();
    let path = workshop.gcc("packed", "program.c -g3 -gz=zlib -lm");
    let mut bytes = fs::read(&path).unwrap();
    let magic = 1u64.to_le_bytes();
    // Every header of something packed: type zlib, a size, an alignment of 1 or 8.
    let mut found = 0;
    for at in 0..bytes.len() - 26 {
        let alignment = u64::from_le_bytes(bytes[at + 16..at + 24].try_into().unwrap());
        if bytes[at..at + 8] == magic && (alignment == 1 || alignment == 8) && bytes[at + 24] == 0x78 {
            bytes[at + 8..at + 16].copy_from_slice(&(1u64 << 40).to_le_bytes());
            found += 1;
        }
    }
    assert!(found > 0);
    fs::write(&path, &bytes).unwrap();
    let error = facts_of(&path, Depth::All).unwrap_err();
    assert!(matches!(&error, Error::Broken { what, .. } if what.contains("is too large")), "{error}");
}
