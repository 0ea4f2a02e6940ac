//! Five hundred archives that were good before something happened to their bytes: whatever comes of each, it comes in
//! bounded time and does nothing outside of its folder.

use crate::Limits;
use crate::building_tests::archives::{Cage, Raw, packed, tar_of, zip_of};

/// Archives that are unpacked.
const MUTANTS: usize = 500;

/// Processor time that one may take, in seconds; most take a few milliseconds.
const MOST_S: f64 = 20.0;

/// Processor time of this thread, in seconds: what other programs do is no part of it.
fn used_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    // utime and stime, in hundredths of a second (proc_pid_stat(5)).
    fields[11..13].iter().map(|ticks| ticks.parse::<f64>().unwrap()).sum::<f64>() / 100.0
}

/// xorshift64*: mutants need no better one.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound.max(1)
    }
}

/// Links, long names and enough content that a flipped bit can hit any part of the format.
fn good() -> Vec<Raw<'static>> {
    vec![
        (b'5', "top/", "", b""),
        (b'0', "top/a", "", b"some content that can be packed, can be packed, can be packed"),
        (b'L', "././@LongLink", "", b"top/a-name-that-came-in-a-header-of-its-own\0"),
        (b'0', "top/cut", "", &[7; 3000]),
        (b'x', "pax", "", b"20 path=top/sub/pax\n"),
        (b'0', "top/cut", "", b"pax"),
        (b'1', "top/hard", "top/a", b""),
        (b'2', "top/sub/soft", "../a", b""),
        (b'0', "top/sub/last", "", b"end"),
    ]
}

/// Entries that lead out; a header of one of them is spliced into what was good.
const HOSTILE: [Raw<'static>; 6] = [
    (b'0', "../outside", "", b"x"),
    (b'2', "top/sub/soft", "../../../victim", b""),
    (b'2', "top", "../victim", b""),
    (b'1', "top/cut", "../outside", b""),
    (b'0', "top/sub/soft/file", "", b"x"),
    (b'L', "././@LongLink", "", b"../victim/file\0"),
];

/// Flips bits, overwrites, cuts, repeats or removes a piece.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        let place = random.below(bytes.len());
        let piece = random.below(64).min(bytes.len() - place);
        match random.below(6) {
            0 | 1 => bytes[place] ^= 1 << random.below(8),
            2 => bytes[place] = random.below(256) as u8,
            3 => bytes.truncate(place.max(1)),
            4 => drop(bytes.drain(place..place + piece)),
            _ => {
                let copy = bytes[place..place + piece].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, copy);
            }
        }
        if bytes.is_empty() {
            bytes.push(0);
        }
    }
}

/// A tar with damage that leaves the checksums of its headers right, so that it is read.
fn spliced(random: &mut Random) -> Vec<u8> {
    let mut entries = good();
    let place = random.below(entries.len() + 1);
    entries.insert(place, HOSTILE[random.below(HOSTILE.len())]);
    if random.below(2) == 0 {
        let gone = random.below(entries.len());
        entries.remove(gone);
    }
    tar_of(&entries)
}

fn mutant(number: usize, random: &mut Random) -> (&'static str, Vec<u8>) {
    const LINK: u32 = 0o120_777;
    let zip: [(&str, u32, &[u8]); 4] = [
        ("top/a", 0o644, b"some content that can be packed, can be packed, can be packed"),
        ("top/sub/", 0o755, b""),
        ("top/sub/soft", LINK, b"../a"),
        ("top/b", 0o755, &[7; 3000]),
    ];
    let splice = random.below(3) == 0;
    let (name, mut bytes) = match number % 6 {
        5 => {
            let mut entries = zip.to_vec();
            if splice {
                let bad: [(&str, u32, &[u8]); 3] =
                    [("../outside", 0o644, b"x"), ("top/l", LINK, b"../../victim"), ("top/sub/soft/x", 0o644, b"x")];
                entries.insert(random.below(5), bad[random.below(3)]);
            }
            ("zip", zip_of(&entries))
        }
        kind => {
            let tar = if splice { spliced(random) } else { tar_of(&good()) };
            // Damage below the packing passes its checksum; damage above it must be noticed there.
            let mut tar = tar;
            if !splice && random.below(2) == 0 {
                mutate(&mut tar, random);
            }
            match packed(&tar).into_iter().nth(kind) {
                Some(packed) => packed,
                None => ("tar", tar),
            }
        }
    };
    if !splice || random.below(4) == 0 {
        mutate(&mut bytes, random);
    }
    (name, bytes)
}

#[test]
fn mutated_archives_do_nothing_outside_of_their_folder() {
    let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64 | 1;
    let seed = std::env::var("BAKEOFF_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(seed);
    println!("BAKEOFF_SEED={seed}");
    let mut random = Random(seed);
    let limits = Limits { bytes: 64 << 20, small_bytes: 16 << 20, entries: 10_000, ..Limits::default() };
    let (mut unpacked, mut refused) = (0, 0);
    for number in 0..MUTANTS {
        let (name, bytes) = mutant(number, &mut random);
        println!("mutant {number}: {name}, {} bytes", bytes.len());
        let cage = Cage::new();
        let before_s = used_s();
        match cage.unpack(&bytes, &limits) {
            Ok(_) => unpacked += 1,
            Err(error) => {
                println!("    {error}");
                refused += 1;
            }
        }
        let took_s = used_s() - before_s;
        assert!(took_s < MOST_S, "mutant {number} took {took_s} s");
    }
    // Otherwise the mutants are too mild or too wild to show anything.
    assert!(unpacked >= MUTANTS / 50 && refused >= MUTANTS / 4, "{unpacked} unpacked, {refused} refused");
}
