//! What a call of rustc does, as far as its words tell, and which words it gets behind those of cargo: one definition
//! for the wrapper and for the judging of how far they came. What links in the end is the C compiler's call.
//!
//! A build script and a procedural macro are run while the project is built and are no part of what it makes, so
//! they get no words. What only they need cannot be told from the rest.

/// A call that compiles a crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RustTask {
    /// Whether it only finds out what the compiler can do.
    pub is_probe: bool,
    /// Whether it makes a build script or a procedural macro.
    pub is_of_build: bool,
}

/// Options whose value is the next word.
const VALUES: [&[u8]; 33] = [
    b"-C",
    b"--codegen",
    b"-Z",
    b"-L",
    b"-l",
    b"-o",
    b"-A",
    b"-W",
    b"-D",
    b"-F",
    b"--allow",
    b"--warn",
    b"--deny",
    b"--forbid",
    b"--force-warn",
    b"--cap-lints",
    b"--cfg",
    b"--check-cfg",
    b"--crate-name",
    b"--crate-type",
    b"--edition",
    b"--emit",
    b"--print",
    b"--out-dir",
    b"--explain",
    b"--target",
    b"--extern",
    b"--sysroot",
    b"--error-format",
    b"--json",
    b"--color",
    b"--remap-path-prefix",
    b"--diagnostic-width",
];

/// Whether the option's value is the next word.
pub fn takes_rust_value(word: &[u8]) -> bool {
    VALUES.contains(&word)
}

/// What a call of rustc with these words does, which stand behind the program, with those of response files in their
/// places; none if it compiles nothing and asks for nothing that options change. A wrapper of the project may stand
/// before them.
pub fn rust_task<'w>(words: impl Iterator<Item = &'w [u8]>) -> Option<RustTask> {
    let mut task = RustTask { is_probe: false, is_of_build: false };
    let (mut has_input, mut asks) = (false, false);
    let mut rest = words;
    while let Some(word) = rest.next() {
        let (option, value) = match word.iter().position(|&byte| byte == b'=') {
            Some(at) if word.starts_with(b"--") => (&word[..at], Some(&word[at + 1..])),
            _ if takes_rust_value(word) => (word, rest.next()),
            _ => (word, None),
        };
        match (option, value) {
            (b"-V" | b"-vV" | b"-Vv" | b"--version" | b"-h" | b"--help" | b"--explain", _) => return None,
            (b"--print", _) => asks = true,
            // As cargo calls a script of the name `build.rs`, and of any other.
            (b"--crate-name", Some(name)) => task.is_of_build |= name.starts_with(b"build_script_"),
            (b"--crate-type", Some(kinds)) => {
                task.is_of_build |= kinds.split(|&byte| byte == b',').any(|kind| kind == b"proc-macro");
            }
            (b"-", None) => (has_input, task.is_probe) = (true, true),
            (file, None) if file.ends_with(b".rs") && !file.starts_with(b"-") => has_input = true,
            _ => {}
        }
    }
    task.is_probe |= asks;
    (has_input || asks).then_some(task)
}

/// Hands over each word that such a call gets, of those that are asked for, each on a line of its own. A probe gets what
/// changes the code, so that it finds what the build will have.
pub fn rust_words<'a>(task: RustTask, lines: &'a [u8], mut each: impl FnMut(&'a [u8])) {
    if task.is_of_build {
        return;
    }
    let mut words = lines.split(|&byte| byte == b'\n').filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        let value = if takes_rust_value(word) { words.next() } else { None };
        let is_of_code = [&b"-C"[..], b"--codegen", b"-O", b"-Z"].iter().any(|start| word.starts_with(start));
        if is_of_code || !task.is_probe {
            each(word);
            value.into_iter().for_each(&mut each);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expect: &str) {
        let mut appended: Vec<&str> = vec![];
        if let Some(task) = rust_task(line.split(' ').map(str::as_bytes)) {
            let lines = b"-C\nopt-level=1\n--cfg\nx\n-Ctarget-cpu=x86-64-v3";
            rust_words(task, lines, |word| appended.push(std::str::from_utf8(word).unwrap()));
        }
        assert_eq!(appended.join(" "), expect, "{line}");
    }

    #[test]
    fn what_is_appended_to_which_call() {
        let all = "-C opt-level=1 --cfg x -Ctarget-cpu=x86-64-v3";
        let code = "-C opt-level=1 -Ctarget-cpu=x86-64-v3";
        check("--crate-name a --edition=2024 src/main.rs --crate-type bin --emit=dep-info,link -C opt-level=3", all);
        check("/usr/bin/rustc --crate-name a src/lib.rs --crate-type lib", all);
        check("a.rs", all);
        check("--crate-name build_script_build build.rs --crate-type bin", "");
        check("--crate-name build_script_main --crate-type bin tools/main.rs", "");
        check("--crate-name derive src/lib.rs --crate-type proc-macro", "");
        check("--crate-name derive src/lib.rs --crate-type=proc-macro", "");
        check("- --crate-name ___ --print=file-names --crate-type bin --print=cfg", code);
        check("--crate-name probe0 --crate-type=lib --emit=metadata -", code);
        for question in ["-vV", "--version", "--explain E0001", "-C opt-level=3", "-C help"] {
            check(question, "");
        }
        check("--print sysroot", code);
        check("-o strange.rs", "");
    }
}
