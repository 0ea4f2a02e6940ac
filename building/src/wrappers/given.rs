//! What decides which program comes of the source files that a script compiled: the words of each file that say what it
//! means (`-D`, `-I`, `-std`, `-f`), and what `configure` has written into `config.h`. Words that only say how well it is
//! compiled are not here, nor is it known which build should have which.

use super::call_summary::below;
use super::flags::builds;
use crate::wrapper::{Call, takes_value};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

/// What is known of a file, by its path below the script's folder.
pub(super) type WordsOfFiles = BTreeMap<String, BTreeSet<String>>;

/// Of what `configure` writes, the usual name.
const HEADER: &str = "config.h";
/// Headers are looked for this deep, and not beyond this number of entries.
const DEPTH: usize = 4;
const MOST_ENTRIES: usize = 20_000;
/// No more of a header is read.
const MOST_BYTES: u64 = 1 << 20;

/// What the calls of a script that started in `tree` gave each source file, and what its headers say.
pub(super) fn given(calls: &[Call], tree: &Path, temporary: &Path) -> WordsOfFiles {
    let mut given = WordsOfFiles::new();
    for build in builds(calls, temporary).iter().filter(|build| build.task.compiles_code()) {
        let words = meaning(&build.words, temporary);
        for file in build.sources() {
            if let Some(file) = below(&build.dir.join(file), tree) {
                given.entry(file.display().to_string()).or_default().extend(words.iter().cloned());
            }
        }
    }
    headers(tree, tree, DEPTH, &mut MOST_ENTRIES.clone(), &mut given);
    given
}

/// The words that say what a file means, each whole: `-D X` is `-DX`.
fn meaning(words: &[String], temporary: &Path) -> Vec<String> {
    const STARTS: [&str; 7] = ["-D", "-U", "-I", "-std=", "-ansi", "-f", "-include"];
    /// Of those, what names files of the build, or changes what is said and not what is done.
    const NOT: [&str; 7] = [
        "-fprofile",
        "-fdebug-prefix-map",
        "-ffile-prefix-map",
        "-fmacro-prefix-map",
        "-frandom-seed",
        "-fdiagnostics",
        "-fmessage-length",
    ];
    let temporary = temporary.display().to_string();
    let mut all = vec![];
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let whole = match word.as_str() {
            "-D" | "-U" | "-I" | "-include" => format!("{word}{}", words.next().map_or("", String::as_str)),
            word if takes_value(word.as_bytes()) => {
                words.next();
                continue;
            }
            _ => word.clone(),
        };
        let is_one = STARTS.iter().any(|start| whole.starts_with(start));
        if is_one && !NOT.iter().any(|not| whole.starts_with(not)) && !whole.contains(&temporary) {
            all.push(whole);
        }
    }
    all
}

/// The lines of headers that `configure` writes. Those that quote options are left out: they name them, and no more.
fn headers(folder: &Path, tree: &Path, depth: usize, left: &mut usize, given: &mut WordsOfFiles) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        if *left == 0 {
            return;
        }
        *left -= 1;
        if kind.is_dir() && depth > 0 {
            headers(&path, tree, depth - 1, left, given);
        } else if kind.is_file() && entry.file_name() == HEADER {
            let mut text = String::new();
            let read = File::open(&path).and_then(|file| file.take(MOST_BYTES).read_to_string(&mut text));
            if let (Ok(_), Some(name)) = (read, below(&path, tree)) {
                let is_one = |line: &&str| line.starts_with("#define ") || line.starts_with("/* #undef ");
                let lines = text.lines().map(str::trim).filter(is_one).filter(|line| !line.contains(" -"));
                let lines = lines.filter(|line| !line.contains("\"-")).map(str::to_owned);
                given.entry(name.display().to_string()).or_default().extend(lines);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::called::called;
    use super::*;

    #[test]
    fn words_that_say_what_a_file_means() {
        let folder = tempfile::tempdir().unwrap();
        let (tree, temporary) = (folder.path().join("tree"), folder.path().join("tmp"));
        fs::create_dir_all(tree.join("src")).unwrap();
        let header = "/* Made */\n#define HAVE_X 1\n/* #undef HAVE_Y */\n#define FLAGS \"-O2\"\nint x;\n";
        fs::write(tree.join("src/config.h"), header).unwrap();
        let call = |pid, line: &str| Call { pid, ..called(tree.join("src"), &format!("gcc {line}")) };
        let in_temporary = format!("-I{} -c b.c", temporary.display());
        let calls = [
            call(1, "-O2 -g -Wall -D X=1 -I .. -std=gnu99 -fPIC -frandom-seed=7 -c ../a.c -o x.o -MF x.c"),
            call(2, &in_temporary),
            call(3, "-E -DNO a.c"),
            call(4, "-c f.s -DNO"),
        ];
        let given = given(&calls, &tree, &temporary);
        let shown: Vec<String> = given
            .iter()
            .map(|(file, words)| format!("{file}: {}", words.iter().cloned().collect::<Vec<_>>().join(" ")))
            .collect();
        let header = "src/config.h: #define HAVE_X 1 /* #undef HAVE_Y */";
        assert_eq!(shown, ["a.c: -DX=1 -I.. -fPIC -std=gnu99", "src/b.c: ", header]);
    }
}
