//! How far the words of `rustflags` came: which calls of rustc had them, and which had another option of the same name
//! behind them. Only calls that compile a crate count, and neither build scripts nor procedural macros nor probes.

use super::call::is_same;
use crate::journal::FlagSeen;
use crate::wrapper::{Call, ToolKind, rust_task, takes_rust_value};
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;

/// What became of each option among these words.
pub(in crate::wrappers) fn of_rust(layer: &str, words: &[String], calls: &[Call]) -> Vec<FlagSeen> {
    let crates = crates(calls);
    let mut all: Vec<FlagSeen> = vec![];
    for flag in options(words) {
        if all.iter().any(|known| known.flag == flag) {
            continue;
        }
        let reached: Vec<&Vec<String>> = crates.iter().filter(|own| own.contains(&flag)).collect();
        let later: Vec<&String> = reached.iter().filter_map(|own| overriding(&flag, own)).collect();
        all.push(FlagSeen {
            layer: layer.to_owned(),
            variable: "rustflags".to_owned(),
            flag,
            reached: reached.len() as u64,
            of: crates.len() as u64,
            overridden: later.len() as u64,
            overridden_by: later.first().map(|&by| by.clone()),
        });
    }
    all
}

/// How many calls count.
pub(in crate::wrappers) fn crates_of_rust(calls: &[Call]) -> usize {
    crates(calls).len()
}

/// The options of each call that counts.
fn crates(calls: &[Call]) -> Vec<Vec<String>> {
    let mut latest: BTreeMap<u32, (usize, &Call)> = BTreeMap::new();
    let mut crates: Vec<Option<Vec<String>>> = vec![];
    for call in calls.iter().filter(|call| call.kind() == ToolKind::Rust) {
        if let Some((place, _)) = latest.get(&call.pid).filter(|(_, before)| is_same(before, call)) {
            crates[*place] = None;
        }
        latest.insert(call.pid, (crates.len(), call));
        let words = call.all_words();
        let task = rust_task(words.iter().map(|word| word.as_bytes()));
        let counts = task.is_some_and(|task| !task.is_probe && !task.is_of_build);
        crates.push(counts.then(|| options(&call.texts())));
    }
    crates.into_iter().flatten().collect()
}

/// The options among the words, each in one spelling: `-C opt-level=3`, `--cfg x`.
fn options(words: &[String]) -> Vec<String> {
    let mut all = vec![];
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let joined = ["-C", "-Z", "-L", "-l", "-A", "-W", "-D", "-F"].into_iter().find(|name| word.starts_with(name));
        let (name, value) = match (joined, word.split_once('=')) {
            _ if takes_rust_value(word.as_bytes()) => (word.as_str(), words.next().map(String::as_str)),
            (Some(name), _) => (name, Some(&word[name.len()..])),
            (None, Some((name, value))) if name.starts_with("--") => (name, Some(value)),
            _ => (word.as_str(), None),
        };
        let option = match (name, value) {
            ("-O", None) => "-C opt-level=3".to_owned(),
            ("-g", None) => "-C debuginfo=2".to_owned(),
            ("--codegen", Some(value)) => format!("-C {value}"),
            (name, Some(value)) => format!("{name} {value}"),
            (name, None) => name.to_owned(),
        };
        if option.starts_with('-') {
            all.push(option);
        }
    }
    all
}

/// Options of `-C` of which each occurrence counts.
const ALL_COUNT: [&str; 8] =
    ["link-arg", "link-args", "pre-link-args", "llvm-args", "target-feature", "metadata", "remark", "passes"];

/// The option that overrides this one among those of a call that has it; none if it counts.
fn overriding<'o>(flag: &str, options: &'o [String]) -> Option<&'o String> {
    let name = |option: &str| -> Option<String> {
        let (kind, setting) = option.split_once(' ').filter(|(kind, _)| ["-C", "-Z"].contains(kind))?;
        let name = setting.split('=').next().unwrap_or(setting);
        (!ALL_COUNT.contains(&name)).then(|| format!("{kind} {}", name.replace('_', "-")))
    };
    let own = name(flag)?;
    let last = options.iter().rev().find(|option| name(option).as_ref() == Some(&own))?;
    (last != flag).then_some(last)
}

#[cfg(test)]
mod tests {
    use super::super::super::called::called;
    use super::*;

    fn call(pid: u32, line: &str) -> Call {
        Call { pid, ..called("/w/tree", &format!("rustc {line}")) }
    }

    fn check(words: &str, lines: &[&str], expect: (u64, u64, u64, Option<&str>)) {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let calls: Vec<Call> = (1..).zip(lines).map(|(pid, line)| call(pid, line)).collect();
        let [seen] = of_rust("l", &words, &calls).try_into().unwrap();
        let FlagSeen { reached, of, overridden, overridden_by, .. } = seen;
        assert_eq!((reached, of, overridden, overridden_by.as_deref()), expect, "{words:?} {lines:?}");
    }

    #[test]
    fn the_last_of_a_name_wins() {
        let cargo = "--crate-name a src/main.rs --crate-type bin -C opt-level=3";
        check("-C opt-level=1", &[&format!("{cargo} -C opt-level=1")], (1, 1, 0, None));
        check("-Copt-level=1", &[&format!("{cargo} --codegen=opt-level=1"), cargo], (1, 2, 0, None));
        check("-O", &[&format!("{cargo} -O -Copt_level=s")], (1, 1, 1, Some("-C opt_level=s")));
        check("--cfg x", &[&format!("{cargo} --cfg x --cfg y")], (1, 1, 0, None));
        check(
            "-Ctarget-feature=+avx",
            &[&format!("{cargo} -C target-feature=+avx -C target-feature=+bmi1")],
            (1, 1, 0, None),
        );
    }

    #[test]
    fn only_crates_of_the_program_count() {
        let lines = [
            "-vV",
            "- --crate-name ___ --print=cfg",
            "--crate-name build_script_build build.rs --crate-type bin",
            "--crate-name m src/lib.rs --crate-type proc-macro",
            "--crate-name a src/lib.rs -Cx=1",
        ];
        check("-C x=1", &lines, (1, 1, 0, None));
        // What a wrapper of the project became is the same call.
        let twice = [call(7, "--crate-name a a.rs -O"), call(7, "--crate-name a a.rs -O")];
        assert_eq!(of_rust("l", &["-O".to_owned()], &twice)[0].of, 1);
    }
}
