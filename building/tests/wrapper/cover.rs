//! Compilers that a confined script calls by their full path.

use super::tools::Tools;
use crate::wrapper::{APPEND, Call};
use bakeoff_host::confinement;
use std::fs;
use std::path::Path;
use std::process::Output;

/// Runs a script for which compilers are covered; none if that is not possible here.
fn covered(tools: &Tools, script: &str) -> Option<Output> {
    if let Err(why) = confinement() {
        println!("skipped: {why}");
        return None;
    }
    fs::write(tools.log(), "").unwrap();
    let command = tools.wrappers.confined(&[&tools.dir(), &tools.log()], &[], true, &["sh", "-ec", script]);
    let temporary = tools.dir().join("tmp");
    fs::create_dir_all(&temporary).unwrap();
    let mut command_line = tools.command(&command[0]);
    let output = command_line.args(&command[1..]).env(APPEND, "-DX=1").env("TMPDIR", temporary).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("are not seen: errno") {
        println!("skipped: {said}");
        return None;
    }
    assert!(output.status.success(), "{script}: {said}");
    Some(output)
}

/// The calls of drivers: their names, and how often the word arrived in them.
fn seen(tools: &Tools) -> Vec<(String, usize)> {
    let word = |call: &Call| call.words.iter().filter(|word| *word == "-DX=1").count();
    let drivers = |call: &Call| !call.name.to_str().is_some_and(|name| ["ld", "ar"].contains(&name)) && !call.of_gcc;
    tools
        .calls()
        .iter()
        .filter(|call| drivers(call))
        .map(|call| (call.name.to_str().unwrap().to_owned(), word(call)))
        .collect()
}

const PROGRAM: &str =
    "printf 'int f(void); int main(void) { return f() - X; }' > a.c; printf 'int f(void) { return X; }' > b.c; ";

#[test]
fn a_compiler_is_seen_that_is_called_by_its_full_path() {
    let Some(tools) = Tools::here() else { return };
    if !["/usr/bin/gcc", "/usr/bin/cc"].iter().all(|path| Path::new(path).exists()) {
        println!("skipped: no gcc and cc in /usr/bin");
        return;
    }
    let check = |script: &str, expect: &[(&str, usize)]| {
        let Some(_) = covered(&tools, &format!("{PROGRAM}{script}")) else { return };
        let expect: Vec<_> = expect.iter().map(|&(name, count)| (name.to_owned(), count)).collect();
        assert_eq!(seen(&tools), expect, "{script}");
    };
    check("/usr/bin/gcc a.c b.c -o a; ./a", &[("gcc", 1)]);
    check("gcc -c a.c; /usr/bin/gcc -c b.c; /usr/bin/cc a.o b.o -o a; ./a", &[("gcc", 1), ("gcc", 1), ("cc", 1)]);
    check("cd /usr/bin; ./gcc -c \"$OLDPWD/a.c\" -o \"$OLDPWD/a.o\"", &[("gcc", 1)]);
    // What gcc runs in turn, to optimise the link, is a part of that call.
    check("/usr/bin/gcc -O2 -flto=auto a.c b.c -o a; ./a", &[("gcc", 1)]);
    // By another path it finds the same parts.
    check("mkdir -p bin; ln -sf \"$(command -v /usr/bin/gcc)\" bin/own; bin/own -c a.c", &[("own", 1)]);
    check("test \"$(gcc -print-prog-name=cc1)\" = \"$(/usr/bin/gcc -print-prog-name=cc1)\"", &[("gcc", 0), ("gcc", 0)]);
    // Its environment may be emptied, and its search path.
    check("env -i PATH=/usr/bin:/bin /usr/bin/gcc a.c b.c -o a; ./a", &[("gcc", 1)]);
    check("env -i PATH=/usr/bin:/bin gcc a.c b.c -o a; ./a", &[("gcc", 1)]);
    check("env -i PATH=\"$PATH\" gcc a.c b.c -o a; ./a", &[("gcc", 1)]);
}

#[test]
fn what_lies_behind_the_covers_cannot_be_written() {
    let Some(tools) = Tools::here() else { return };
    let outside = tools.dir().with_file_name("outside");
    fs::write(&outside, "old").unwrap();
    let (uncovered, path) = (tools.wrappers.folder().with_file_name("uncovered"), outside.display());
    let script = format!("grep -q old '{0}{path}'; ! echo new > '{0}{path}'", uncovered.display());
    if covered(&tools, &script).is_some() {
        assert_eq!(fs::read_to_string(&outside).unwrap(), "old");
    }
    // Nobody else sees any of it.
    assert!(fs::read_dir(uncovered).unwrap().next().is_none());
}
