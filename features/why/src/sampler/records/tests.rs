//! Made-up records: samples are given to what a process had at an address then.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use super::*;

fn record(kind: u32, flags: u16, words: &[u64], rest: &[u8]) -> Vec<u8> {
    let body: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).chain(rest.iter().copied()).collect();
    let size = u16::try_from(body.len() + 8).unwrap();
    [&kind.to_ne_bytes()[..], &flags.to_ne_bytes(), &size.to_ne_bytes(), &body].concat()
}

/// Two halves of a word.
fn pair(first: u32, second: u32) -> u64 {
    let [first, second] = [first, second].map(u32::to_ne_bytes);
    u64::from_ne_bytes([first, second].concat().try_into().unwrap())
}

fn sample(pid: u32, time_ns: u64, address: u64) -> Vec<u8> {
    record(SAMPLE, 2, &[address, pair(pid, pid + 1), time_ns], &[])
}

fn end(pid: u32, time_ns: u64) -> Vec<u8> {
    [pair(pid, pid), time_ns].iter().flat_map(|word| word.to_ne_bytes()).collect()
}

fn mapped(pid: u32, time_ns: u64, [start, length, offset, inode]: [u64; 4], path: &str) -> Vec<u8> {
    let mut name = path.as_bytes().to_vec();
    name.resize((path.len() / 8 + 1) * 8, 0);
    name.extend(end(pid, time_ns));
    record(MAPPED, 2, &[pair(pid, pid), start, length, offset, pair(8, 1), inode, 0, pair(5, 2)], &name)
}

fn forked(pid: u32, parent: u32, time_ns: u64) -> Vec<u8> {
    record(FORK, 0, &[pair(pid, parent), pair(pid, parent), time_ns], &end(pid, time_ns))
}

fn executed(pid: u32, time_ns: u64, flags: u16) -> Vec<u8> {
    let name = [b"program\0".to_vec(), end(pid, time_ns)].concat();
    record(COMMAND, flags, &[pair(pid, pid)], &name)
}

/// A path, and the samples by place.
type InFile = (String, Vec<[u64; 2]>);

/// The samples by file and place, and those in no file.
fn added_up(records: &[Vec<u8>]) -> (Vec<InFile>, u64) {
    let (mut events, lost) = read(&records.concat());
    assert_eq!(lost, 0);
    events.sort_by_key(|event| event.time_ns);
    let mut sums = Sums::default();
    events.into_iter().for_each(|event| sums.add(event));
    let (files, unnamed) = sums.files();
    (files.into_iter().map(|file| (file.path.display().to_string(), file.places)).collect(), unnamed)
}

#[test]
fn samples_are_in_the_file_that_was_mapped_there() {
    let records = [
        // From another ring, so that it comes before what happened earlier.
        sample(1, 30, 0x1010),
        mapped(1, 10, [0x1000, 0x1000, 0x400, 7], "/bin/program"),
        sample(1, 20, 0x1010),
        sample(1, 21, 0x1fff),
        sample(1, 22, 0x2000),
        mapped(1, 23, [0x7000, 0x1000, 0, 0], "//anon"),
        sample(1, 24, 0x7001),
        sample(2, 25, 0x1010),
    ];
    assert_eq!(added_up(&records), (vec![("/bin/program".to_owned(), vec![[0x410, 2], [0x13ff, 1]])], 3));
}

#[test]
fn children_have_the_code_of_their_parents_until_they_run_a_program() {
    let records = [
        mapped(1, 10, [0x1000, 0x1000, 0, 7], "/a"),
        forked(2, 1, 11),
        forked(1, 1, 12),
        sample(2, 13, 0x1001),
        executed(1, 14, 0),
        sample(1, 15, 0x1001),
        executed(2, 16, BY_EXEC),
        sample(2, 17, 0x1001),
        mapped(2, 18, [0x1000, 0x1000, 0, 8], "/b"),
        sample(2, 19, 0x1002),
    ];
    assert_eq!(added_up(&records), (vec![("/a".to_owned(), vec![[1, 2]]), ("/b".to_owned(), vec![[2, 1]])], 1));
}

#[test]
fn what_is_mapped_later_lies_above_what_was_there() {
    let records = [
        mapped(1, 10, [0x1000, 0x3000, 0, 7], "/a"),
        mapped(1, 11, [0x2000, 0x1000, 0, 8], "/b"),
        sample(1, 12, 0x1fff),
        sample(1, 13, 0x2000),
        sample(1, 14, 0x3001),
        mapped(1, 15, [0x0, 0x9000, 0, 9], "/c"),
        sample(1, 16, 0x2000),
    ];
    let expected = [("/a", vec![[0xfff, 1], [0x2001, 1]]), ("/b", vec![[0, 1]]), ("/c", vec![[0x2000, 1]])];
    assert_eq!(added_up(&records), (expected.map(|(path, places)| (path.to_owned(), places)).to_vec(), 0));
}

#[test]
fn losses_are_counted_and_broken_records_left_out() {
    let lost = record(LOST, 0, &[3, 40], &end(1, 5));
    let throttled = record(THROTTLE, 0, &[5, 3, 3], &end(1, 5));
    let unknown = record(77, 0, &[1, 2, 3], &[]);
    let short = record(SAMPLE, 0, &[1], &[]);
    let all = [lost, throttled, unknown, short, sample(1, 2, 3), record(MAPPED, 0, &[1], &[])].concat();
    let (events, lost) = read(&all);
    assert_eq!((events.len(), lost), (1, 41));
    // What ends early, or has no length, ends it.
    assert_eq!(read(&sample(1, 2, 3)[..31]), (vec![], 0));
    assert_eq!(read(&[0; 64]), (vec![], 0));
}
