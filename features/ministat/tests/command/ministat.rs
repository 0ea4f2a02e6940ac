//! `bakeoff stat --ministat=legacy` against Debian's ministat: what both print, byte for byte, and how they exit, over
//! inputs that are generated from a seed. `make test` installs ministat; without it these tests say so and end.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

const SEED: u64 = 178;
const INPUTS: usize = 1000;

/// SplitMix64 (Steele, Lea & Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    /// Mostly small, sometimes up to 197.
    fn size(&mut self) -> u64 {
        let bound = self.pick(&[1, 4, 10, 30, 198]);
        self.below(bound)
    }

    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// A kind of numbers, and how they are written.
fn number(kind: u64, shift: f64, random: &mut Random) -> String {
    let z = random.normal();
    match kind {
        0 => format!("{}", 100.0 + shift + z),
        1 => format!("{}", (50.0 + shift + 9.0 * z).round()),
        2 => format!("{:e}", 1e-300 * (5.0 + shift + z)),
        3 => format!("{:.3e}", 1e90 * (5.0 + shift + z)),
        4 => format!("{:.2}", -70.0 - shift + z),
        5 => format!("{:.4}", z + shift),
        6 => "7.25".to_owned(),
        7 => format!("{}", 1e9 + (shift + 3.0 * z).round()),
        8 => format!("{:+.1}E+02", 3.0 + shift + z),
        9 => (*random.pick(&["1", "2", "-0", "0", "0.0", "3"])).to_owned(),
        10 => format!("{:.6}", (shift / 10.0 + z).exp()),
        11 => format!("0x{:x}.8p{}", random.below(4096), random.below(9)),
        _ => format!("{:.1e}", 1e12 + shift),
    }
}

const KINDS: u64 = 13;

struct Input {
    arguments: Vec<String>,
    files: Vec<(String, String)>,
}

/// The `index`th input. The first ones go through every quantile that can be asked for.
fn input(index: usize) -> Input {
    let mut random = Random(SEED.wrapping_mul(1_000_003).wrapping_add(index as u64));
    let levels = ["80", "90", "95", "98", "99", "99.5"];
    let mut arguments = vec![];
    let tour = index < 6 * 17;
    let level = if tour { levels[index / 17] } else { random.pick(&levels) };
    if tour || random.below(4) > 0 {
        arguments.extend(["-c".to_owned(), level.to_owned()]);
    }
    let sets = if tour { 7 } else { random.pick(&[1, 2, 2, 2, 3, 4, 5, 6, 7]) };
    let column = if tour { 1 } else { random.pick(&[1, 1, 1, 2, 3]) };
    let delimiter = if tour { " " } else { random.pick(&[" ", "\t", ",", " ;", "  "]) };
    if column > 1 || random.below(8) == 0 {
        arguments.push(format!("-C{column}"));
    }
    if [",", " ;"].contains(&delimiter) {
        arguments.extend(["-d".to_owned(), delimiter.to_owned()]);
    }
    for flag in ["-A", "-n", "-s"] {
        if random.below(5) == 0 {
            arguments.push(flag.to_owned());
        }
    }
    if random.below(3) == 0 {
        arguments.extend(["-w".to_owned(), random.pick(&["0", "2", "3", "10", "60", "74", "131", "400"]).to_owned()]);
    }
    let kind = if tour { 0 } else { random.below(KINDS) };
    let files = (0..sets).map(|set| {
        let n = match () {
            // With the first set's 3 values: 4 to 105 degrees of freedom.
            () if tour => {
                if set == 0 {
                    3
                } else {
                    3 + (index % 17) * 6 + set - 1
                }
            }
            () if random.below(60) == 0 => 1000 + random.below(3000) as usize,
            () => 3 + random.size() as usize,
        };
        let shift = random.pick(&[0.0, 0.0, 0.5, 1.0, 3.0, 30.0]) * set as f64;
        (format!("set{set}"), text(n, kind, shift, column, delimiter, &mut random))
    });
    let files = files.collect();
    Input { arguments, files }
}

fn text(n: usize, kind: u64, shift: f64, column: usize, delimiter: &str, random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..n {
        match random.below(20) {
            0 => text.push_str("# a comment\n"),
            1 => text.push('\n'),
            2 if column > 1 => text.push_str("word # nothing here\n"),
            _ => {}
        }
        for _ in 1..column {
            let _ = write!(text, "word{delimiter}");
        }
        text += &number(kind, shift, random);
        match random.below(12) {
            0 => text += &format!("{delimiter}# said of it"),
            1 => text += &format!("{delimiter}more"),
            2 => text.push('\r'),
            3 => text.push(' '),
            _ => {}
        }
        text.push('\n');
    }
    if random.below(5) == 0 {
        text.pop();
    }
    text
}

fn original() -> Option<&'static str> {
    let found = Command::new("ministat").stdin(Stdio::null()).output().is_ok();
    if !found {
        println!("skipped: ministat is not installed; `make test` installs it");
    }
    found.then_some("ministat")
}

fn execute(program: &str, before: &[&str], arguments: &[String], folder: &Path, stdin: Option<&str>) -> Output {
    let stdin = match stdin {
        Some(file) => Stdio::from(fs::File::open(folder.join(file)).unwrap()),
        None => Stdio::null(),
    };
    let mut command = Command::new(program);
    command.args(before).args(arguments).current_dir(folder).stdin(stdin).env_remove("COLUMNS").output().unwrap()
}

/// Standard error without our notes.
fn complaints(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.lines().filter(|line| !line.starts_with("note: ")).map(|line| format!("{line}\n")).collect()
}

/// What differs, if anything does.
fn difference(arguments: &[String], folder: &Path, stdin: Option<&str>) -> Option<String> {
    let theirs = execute("ministat", &[], arguments, folder, stdin);
    let ours = execute(env!("CARGO_BIN_EXE_bakeoff"), &["stat", "--ministat=legacy"], arguments, folder, stdin);
    if theirs.status.code().is_none() {
        // It was killed by a signal; we refuse, and say so.
        let refused = ours.status.code() == Some(2) && complaints(&ours).contains("ministat crashes with this data");
        return (!refused).then(|| format!("{arguments:?}: ministat crashes, and we end with {:?}", ours.status));
    }
    let same = (theirs.status.code(), &theirs.stdout, complaints(&theirs))
        == (ours.status.code(), &ours.stdout, complaints(&ours));
    (!same).then(|| {
        let show = |output: &Output| {
            let text = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy);
            format!("{:?}\n{}{}", output.status.code(), text[0], text[1])
        };
        format!("{arguments:?}\nministat: {}\nbakeoff: {}", show(&theirs), show(&ours))
    })
}

#[test]
fn a_thousand_inputs_are_printed_byte_for_byte() {
    if original().is_none() {
        return;
    }
    println!("seed {SEED}, {INPUTS} inputs");
    let next = AtomicUsize::new(0);
    let worker = || {
        let folder = tempfile::tempdir().unwrap();
        let mut wrong = vec![];
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= INPUTS {
                return wrong;
            }
            let Input { mut arguments, files } = input(index);
            for (name, text) in &files {
                fs::write(folder.path().join(name), text).unwrap();
            }
            // Sometimes by standard input, by `-` or without a word.
            let stdin = (index % 10 == 3).then_some("set0");
            arguments.extend(files.iter().skip(usize::from(stdin.is_some())).map(|(name, _)| name.clone()));
            if stdin.is_some() && files.len() > 1 {
                arguments.push("-".to_owned());
            }
            wrong.extend(difference(&arguments, folder.path(), stdin).map(|what| format!("input {index}: {what}")));
        }
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{} of {INPUTS} differ; the first: {}", wrong.len(), wrong[0]);
}

/// Files that have something wrong with them, or nearly.
const BAD_FILES: &[(&str, &str)] = &[
    ("a", "1\n2\n3\n4\n"),
    ("text", "1\n2\nx\n"),
    ("two", "1\n2\n"),
    ("empty", ""),
    ("nan", "nan\n1\n2\n"),
    ("inf", "inf\n1\n2\n"),
    ("same", "5\n5\n5\n"),
    ("huge", "1e300\n2e300\n3e300\n"),
    ("wide", "-1e308\n1e308\n3\n"),
    ("crlf", "1\r\n2\r\n3\r\n"),
    ("big", "9007199254740993\n9007199254740992\n9007199254740994\n"),
    ("zeros", "0\n-0\n0\n-0\n"),
    ("bytes", "1\n2\u{e9}\n3\n"),
];

/// Command lines with something wrong, or nearly: words between bars, lines between semicolons.
const BAD_COMMANDS: &str = "-c|50|a;-c||a;-c|x|a;-c|0x5f|a;-c|95|-c|50|a;-c|95.0|a;-C|0|a;-C|x|a;-C||a;-C|-1|a;\
    -C|4294967297|a;-C|9|a;-d||a;-w|x|a;-w|-3|a;-w||a;-w| 5|a;nope;a|nope;text;a|text;two;empty;\
    a|two;a|a|a|a|a|a|a|a;a|a|a|a|a|a|a;/;a|/;;-;-n|nan;nan;-A|nan|a;-n|inf|a;-A|inf|a;same;\
    same|same;same|a;a|same;huge;huge|a;-A|wide;crlf;big|big;big|a;zeros;zeros|a;a|zeros;bytes;\
    -An|a|a;-ns|a;-w3|a|a;-w0|a|a|same;--|a;a|-A";

#[test]
fn bad_input_is_complained_of_in_the_same_words() {
    if original().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in BAD_FILES {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let words = |line: &str| line.split('|').map(str::to_owned).collect::<Vec<_>>();
    for line in BAD_COMMANDS.split(';') {
        let arguments = words(line).into_iter().filter(|word| !line.is_empty() || !word.is_empty());
        let arguments: Vec<String> = arguments.collect();
        let difference = difference(&arguments, folder.path(), None);
        assert!(difference.is_none(), "{}", difference.unwrap());
    }
}

#[test]
fn a_plot_that_kills_ministat_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("inf"), "inf\n1\n2\n").unwrap();
    let arguments = ["inf".to_owned()];
    let ours = execute(env!("CARGO_BIN_EXE_bakeoff"), &["stat", "--ministat"], &arguments, folder.path(), None);
    assert_eq!(ours.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ours.stderr).contains("ministat crashes with this data"));
}

/// The defects are named where they matter, and only there.
#[test]
fn defects_are_named_on_standard_error() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("iguana", "50\n200\n150\n400\n750\n400\n150\n"),
        ("chameleon", "150\n400\n720\n500\n930\n"),
        ("far", "1000000000\n1000000001\n1000000002\n"),
        ("low", "1\n2\n3\n"),
        ("high", "1001\n1002\n1003\n"),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let check = |words: &[&str], expect: &[&str]| {
        let arguments: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let program = env!("CARGO_BIN_EXE_bakeoff");
        let output = execute(program, &["stat"], &arguments, folder.path(), None);
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(err.lines().count(), expect.len(), "{words:?}: {err}");
        for part in expect {
            assert!(err.contains(part), "{words:?}: {part:?} is missing in {err}");
        }
    };
    check(&["--ministat=legacy", "-n", "iguana", "chameleon"], &[]);
    check(&["--ministat=legacy", "iguana", "chameleon"], &["does not mean \"identical\""]);
    check(&["--ministat=legacy", "-c80", "iguana", "chameleon"], &["should be ± 102.3"]);
    check(&["--ministat=freebsd", "-c80", "iguana", "chameleon"], &[]);
    check(&["--ministat=legacy", "-c99.5", "iguana", "chameleon"], &["99.8%", "does not mean \"identical\""]);
    check(&["--ministat=legacy", "far"], &["standard deviation of far is 1.0000000"]);
    check(&["--ministat=freebsd", "far"], &[]);
    check(&["--ministat=freebsd", "-A", "low", "high"], &[]);
}
