//! What valgrind's cachegrind writes, where our own tool cannot be made: the instructions of each function, by its name. It knows
//! no calls, and no file that a function is in, so functions of one name are one. A process that forked has counts of its parent
//! in its own, so then nothing was counted.

use crate::counts::{CodeKind, Counted, FunctionCount, Instrument};
use bakeoff_lab::Unseen;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What cachegrind calls code without a name.
const NAMELESS: &str = "???";

/// What stands in the log of a program that was started. A process that forked has no log.
const STARTED: &str = " Command: ";

/// A file that was written for a process, with its text.
type Written = (PathBuf, String);

/// Adds up the counts of processes. Their logs have the same names, with an extension.
pub(super) fn add_up(logs: &[Written], counts: &[Written]) -> Result<Counted, Unseen> {
    let started: Vec<PathBuf> =
        logs.iter().filter(|(_, text)| text.contains(STARTED)).map(|(path, _)| path.with_extension("")).collect();
    let is_forked = |path: &Path| !started.iter().any(|known| known == path);
    let forked = counts.iter().filter(|(path, _)| is_forked(path)).count();
    if forked > 0 {
        let why = format!("{forked} of {} processes were forked and include their parents' instructions", counts.len());
        return Err(Unseen::Refused(why));
    }
    let mut functions: BTreeMap<&str, u64> = BTreeMap::new();
    let whole = counts.iter().filter(|(_, text)| add(text, &mut functions)).count();
    match started.len() {
        0 => return Err(Unseen::Silent),
        all if all > whole => {
            return Err(Unseen::Refused(format!("{} of {all} processes ended without counts", all - whole)));
        }
        _ => {}
    }
    let function = |(name, instructions): (&str, u64)| {
        let (name, kind) = if name == NAMELESS { ("", CodeKind::Nameless) } else { (name, CodeKind::Function) };
        FunctionCount { name: name.to_owned(), kind, instructions, ..FunctionCount::default() }
    };
    let functions = functions.into_iter().map(function).collect();
    Ok(Counted { instrument: Instrument::Cachegrind, functions, ..Counted::default() })
}

/// Adds what a process counted, line by line of its sources; false if it was not written to its end.
fn add<'t>(text: &'t str, functions: &mut BTreeMap<&'t str, u64>) -> bool {
    let (mut function, mut is_whole) = (NAMELESS, false);
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("fn=") {
            // Versions are no part of a name.
            function = name.split('@').next().unwrap_or(name);
        } else if line.starts_with(|first: char| first.is_ascii_digit()) {
            let number = line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0);
            let sum: &mut u64 = functions.entry(function).or_default();
            *sum = sum.saturating_add(number);
        }
        is_whole |= line.starts_with("summary:");
    }
    is_whole
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTS: &str = "desc: I1 cache: 32768 B\ncmd: ./p 1\nevents: Ir\nfl=/src/p.c\nfn=work\n7 100\n8 20\nfl=/usr/include/h.h\n\
        fn=work\n3 4\nfl=???\nfn=malloc@@GLIBC_2.2.5\n0 30\nfn=???\n0 5\nsummary: 159\n";

    fn written(name: &str, text: &str) -> Written {
        (name.into(), text.to_owned())
    }

    fn why(logs: &[Written], counts: &[Written]) -> Unseen {
        add_up(logs, counts).unwrap_err()
    }

    #[test]
    fn processes_are_added_up_by_function() {
        let log = |name: &str| written(name, "==1== Cachegrind\n==1== Command: ./p 1\n");
        let counts = |name: &str| written(name, COUNTS);
        let counted = add_up(&[log("c.1.said"), log("c.2.said")], &[counts("c.1"), counts("c.2")]).unwrap();
        let all: Vec<_> = counted.functions.iter().map(|one| (&*one.name, one.kind, one.instructions)).collect();
        let named = |name, instructions| (name, CodeKind::Function, instructions);
        assert_eq!(all, [("", CodeKind::Nameless, 10), named("malloc", 60), named("work", 248)]);
        assert_eq!((counted.instructions(), counted.instrument), (2 * 159, Instrument::Cachegrind));

        let one = log("c.1.said");
        let forked = "1 of 2 processes were forked and include their parents' instructions";
        let forked = Unseen::Refused(forked.to_owned());
        assert_eq!(why(std::slice::from_ref(&one), &[counts("c.1"), counts("c.2")]), forked);
        let killed = Unseen::Refused("1 of 2 processes ended without counts".to_owned());
        assert_eq!(why(&[one.clone(), log("c.2.said")], &[counts("c.1")]), killed);
        let half = written("c.2", COUNTS.split("summary").next().unwrap());
        assert_eq!(why(&[one, log("c.2.said")], &[counts("c.1"), half]), killed);
        assert_eq!(why(&[], &[]), Unseen::Silent);
    }
}
