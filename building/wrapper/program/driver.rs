//! What a call of a compiler does, as far as its words and folder tell: one definition for the wrapper, which appends
//! words to it, and for the judging of how far flags came. It looks at no file, and knows no compiler.

use super::tool::{is_cxx, last_part};

/// What a source is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    /// C.
    C,
    /// C++.
    Cxx,
    /// Objective-C.
    ObjectiveC,
    /// Fortran.
    Fortran,
    /// What an assembler reads.
    Assembler,
}

/// A call that compiles or links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// A bit for each language that it compiles.
    languages: u8,
    /// Whether it makes a program or library.
    pub links: bool,
    /// Whether it only finds out what the machine has.
    pub is_probe: bool,
}

impl Task {
    /// That of a linker.
    pub fn link() -> Self {
        Self { languages: 0, links: true, is_probe: false }
    }

    /// Whether it compiles that language.
    pub fn compiles(&self, language: Language) -> bool {
        self.languages & bit(language) != 0
    }

    /// Whether it compiles anything but what an assembler reads.
    pub fn compiles_code(&self) -> bool {
        self.languages & !bit(Language::Assembler) != 0
    }
}

fn bit(language: Language) -> u8 {
    1 << language as u8
}

/// Options whose value is the next word.
const VALUES: &[&[u8]] = &[
    b"-o",
    b"-x",
    b"-T",
    b"-u",
    b"-z",
    b"-L",
    b"-l",
    b"-I",
    b"-D",
    b"-U",
    b"-A",
    b"-e",
    b"-B",
    b"-include",
    b"-isystem",
    b"-isysroot",
    b"-iquote",
    b"-idirafter",
    b"-imacros",
    b"-MF",
    b"-MT",
    b"-MQ",
    b"-MJ",
    b"-Xlinker",
    b"-Xclang",
    b"-Xassembler",
    b"-Xpreprocessor",
    b"-mllvm",
    b"-target",
    b"-arch",
    b"-dumpbase",
    b"-dumpdir",
    b"--param",
    b"-wrapper",
    b"-aux-info",
    b"-framework",
    b"--sysroot",
    b"-specs",
];

/// What only asks something.
const QUESTIONS: [&[u8]; 10] = [
    b"-E",
    b"-M",
    b"-MM",
    b"-fsyntax-only",
    b"--version",
    b"-###",
    b"-dumpversion",
    b"-dumpfullversion",
    b"-dumpmachine",
    b"-dumpspecs",
];

/// Whether the option's value is the next word.
pub fn takes_value(word: &[u8]) -> bool {
    VALUES.contains(&word)
}

/// What a call by this name does, in the folder `dir`; none if it only asks or preprocesses, or has no input. The words
/// are those after the program, with those of response files in their places. `temporary` is the folder for temporary
/// files, where only probes are compiled.
pub fn task<'w>(
    name: &[u8],
    words: impl Iterator<Item = &'w [u8]> + Clone,
    dir: &[u8],
    temporary: &[u8],
) -> Option<Task> {
    let asks = |word: &[u8]| {
        QUESTIONS.contains(&word)
            || [&b"-print-"[..], b"--print-", b"--help"].iter().any(|start| word.starts_with(start))
    };
    if words.clone().any(asks) {
        return None;
    }
    let mut task = Task::link();
    let (mut has_input, mut only_files) = (false, false);
    let mut forced: Option<Option<Language>> = None;
    let mut rest = words;
    while let Some(word) = rest.next() {
        if !only_files && takes_value(word) {
            let value = rest.next();
            match word {
                b"-x" => forced = value.filter(|name| *name != b"none").map(of_name),
                b"-o" => task.is_probe |= value.is_some_and(|path| is_probe(dir, path, temporary)),
                _ => {}
            }
        } else if !only_files && word == b"--" {
            only_files = true;
        } else if let Some(name) = word.strip_prefix(b"-x").filter(|_| !only_files) {
            forced = (name != b"none").then(|| of_name(name));
        } else if only_files || !word.starts_with(b"-") || word == b"-" {
            has_input = true;
            let language = forced.unwrap_or_else(|| of_file(word, is_cxx(name)));
            task.languages |= language.map_or(0, bit);
            task.is_probe |= is_probe(dir, word, temporary);
        } else {
            task.links &= ![&b"-c"[..], b"-S", b"-r", b"-Wl,-r"].contains(&word);
        }
    }
    has_input.then_some(task)
}

/// The language of `-x`; none for headers and what is not known.
fn of_name(name: &[u8]) -> Option<Language> {
    match name {
        b"c" | b"cpp-output" => Some(Language::C),
        b"c++" | b"c++-cpp-output" => Some(Language::Cxx),
        b"objective-c" | b"objective-c++" => Some(Language::ObjectiveC),
        b"assembler" | b"assembler-with-cpp" => Some(Language::Assembler),
        name if name.starts_with(b"f") => Some(Language::Fortran),
        _ => None,
    }
}

/// The language of a file by its name, as a C compiler takes it; none of what is no source.
pub fn language_of(path: &[u8]) -> Option<Language> {
    of_file(path, false)
}

fn of_file(path: &[u8], by_cxx: bool) -> Option<Language> {
    let name = last_part(path, b'/');
    let ending = last_part(name, b'.');
    match ending {
        _ if ending.len() == name.len() => None,
        b"c" | b"i" => Some(if by_cxx { Language::Cxx } else { Language::C }),
        b"cc" | b"cp" | b"cxx" | b"cpp" | b"CPP" | b"c++" | b"C" | b"ii" => Some(Language::Cxx),
        b"m" | b"mi" | b"mm" | b"M" | b"mii" => Some(Language::ObjectiveC),
        b"f" | b"for" | b"ftn" | b"F" | b"FOR" | b"f90" | b"f95" | b"f03" | b"f08" | b"F90" | b"F95" | b"F03"
        | b"F08" => Some(Language::Fortran),
        b"s" | b"S" | b"sx" => Some(Language::Assembler),
        _ => None,
    }
}

/// Whether a file is a probe of what finds out what the machine has: Autoconf, Perl's Configure, CMake, Meson, or a
/// script's own, which are compiled from standard input or where temporary files lie.
fn is_probe(dir: &[u8], path: &[u8], temporary: &[u8]) -> bool {
    const FOLDERS: [&[u8]; 6] =
        [b"UU", b"CMakeTmp", b"CMakeScratch", b"CompilerIdC", b"CompilerIdCXX", b"meson-private"];
    let name = last_part(path, b'/');
    let stem = match name.iter().rposition(|&byte| byte == b'.') {
        Some(dot @ 1..) => &name[..dot],
        _ => name,
    };
    let of_name = stem.starts_with(b"conftest") || stem.starts_with(b"sanitycheck") || stem == b"try" || stem == b"-";
    let is_absolute = path.starts_with(b"/");
    let dir = if is_absolute { b"" } else { dir };
    let parts = dir.split(|&byte| byte == b'/').chain(path[..path.len() - name.len()].split(|&byte| byte == b'/'));
    let mut parts = parts.filter(|part| !part.is_empty());
    let of_folder = |part: &[u8]| FOLDERS.contains(&part) || part.windows(10).any(|some| some == b"TryCompile");
    let in_temporary = below(if is_absolute { path } else { dir }, temporary);
    // Go compiles and links the C parts of a project there; of the files that it tries something with it has one.
    let of_go = in_temporary.is_some_and(|rest| rest.starts_with(b"/go-build") || rest.starts_with(b"/go-link"));
    of_name
        || parts.any(of_folder)
        || path.starts_with(b"/dev/")
        || (in_temporary.is_some() && (!of_go || stem == b"trivial"))
}

/// What follows the folder in a path that leads to it or below.
fn below<'p>(path: &'p [u8], folder: &[u8]) -> Option<&'p [u8]> {
    let folder = folder.strip_suffix(b"/").unwrap_or(folder);
    let rest = path.strip_prefix(folder).filter(|_| !folder.is_empty())?;
    (rest.is_empty() || rest.starts_with(b"/")).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `C` compiles C, `+` C++, `a` assembles, `L` links, `p` probes.
    fn check(dir: &str, line: &str, expect: Option<&str>) {
        let mut words = line.split(' ').map(str::as_bytes);
        let name = words.next().unwrap();
        let seen = task(name, words, dir.as_bytes(), b"/w/tmp/").map(|task| {
            let letters = [
                (task.compiles(Language::C), 'C'),
                (task.compiles(Language::Cxx), '+'),
                (task.compiles(Language::Assembler), 'a'),
                (task.links, 'L'),
                (task.is_probe, 'p'),
            ];
            letters.iter().filter(|(is, _)| *is).map(|(_, letter)| *letter).collect::<String>()
        });
        assert_eq!(seen.as_deref(), expect, "{line}");
    }

    #[test]
    fn what_a_call_does() {
        let check = |line: &str, expect| check("/w/tree", line, expect);
        check("gcc -c a.c", Some("C"));
        check("gcc -O2 -o a a.c b.o -lm", Some("CL"));
        check("gcc a.o -o a", Some("L"));
        check("g++-12 -c a.c", Some("+"));
        check("cc -c a.cc b.c a.S", Some("C+a"));
        check("cc -x c++ -c a.c -x none b.c", Some("C+"));
        check("cc -xc -c a.cc", Some("C"));
        check("gcc -r a.o b.o -o c.o", Some(""));
        check("clang -c -- -strange.c", Some("C"));
        check("gcc -include config.c -I x.c -c a.s", Some("a"));
        check("gcc --sysroot x.c -specs y.c -c a.s", Some("a"));
        for question in ["gcc -v", "gcc --version", "gcc -E a.c", "gcc -print-prog-name=ld", "gcc -M a.c", "gcc -O2"] {
            check(question, None);
        }
        check("gcc -MD -MF a.d -c a.c -dumpbase x.c", Some("C"));
    }

    #[test]
    fn what_a_probe_is() {
        let here = |line: &str, expect| check("/w/tree", line, expect);
        here("gcc -o conftest conftest.c", Some("CLp"));
        here("gcc -c try.c", Some("Cp"));
        here("gcc -xc - -c -o x.o", Some("Cp"));
        here("gcc a.c -o /dev/null", Some("CLp"));
        here("gcc -c /w/tmp/cg1/dummy.c", Some("Cp"));
        here("gcc -c /w/tmpfiles/a.c", Some("C"));
        here("gcc -c CMakeFiles/CMakeScratch/TryCompile-x/a.c", Some("Cp"));
        here("gcc -c tryout.c", Some("C"));
        check("/w/tree/meson-private/tmp1", "cc -c testfile.c", Some("Cp"));
        check("/w/tree/meson-private/tmp1", "cc -c /w/tree/a.c", Some("C"));
        check("/w/tmp", "cc -c a.c", Some("Cp"));
        here("gcc -xc -c /dev/null -o x.o", Some("Cp"));
        // Of Go: a part of the project in C, and a question.
        check("/w/tmp/go-build12/b001", "gcc -o /w/tmp/go-build12/b001/_x001.o -c m.cgo2.c", Some("C"));
        here("gcc -m64 -o /w/tmp/go-build12/b001/exe/a.out /w/tmp/go-link-3/go.o", Some("L"));
        here("gcc -m64 -o /w/tmp/go-link-3/a.out -static /w/tmp/go-link-3/trivial.c", Some("CLp"));
    }
}
