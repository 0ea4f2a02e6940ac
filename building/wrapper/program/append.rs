//! Which words a call of a compiler gets behind the project's own. Words in, words out: what the call does is in
//! `driver.rs`, and nothing is run here.
//!
//! A call that only asks, or preprocesses, gets none. What does not link gets no words for the linker. A probe gets only
//! what changes the code (`-O`, `-m`, `-f`), so that what links in a probe links in the build too, and of that nothing
//! that needs files or looks for faults: a probe's profile would be that of another probe.

use super::driver::{Language, Task, takes_value};

/// The words that levels ask for, each on a line of its own.
#[derive(Debug, Clone, Copy, Default)]
pub struct AppendedWords<'a> {
    pub all: &'a [u8],
    pub c: &'a [u8],
    pub cxx: &'a [u8],
    pub link: &'a [u8],
    /// For gcc to make or use a profile.
    pub profile: &'a [u8],
    /// For clang likewise.
    pub profile_clang: &'a [u8],
}

/// What makes clang accept in silence what it has no use for: words of gcc, and words for another step.
const TOLERANT: &[u8] = b"-Qunused-arguments";

impl<'a> AppendedWords<'a> {
    /// Whether no word is asked for.
    pub fn is_empty(&self) -> bool {
        let all = [self.all, self.c, self.cxx, self.link, self.profile, self.profile_clang];
        all.iter().all(|lines| lines.is_empty())
    }

    /// Hands over each word that such a call gets. `of_clang` is whether the compiler is clang, `is_swapped` whether the
    /// project has called another one.
    pub fn words(&self, task: &Task, of_clang: bool, is_swapped: bool, mut each: impl FnMut(&'a [u8])) {
        let mut any = is_swapped;
        let of_language = [(self.c, task.compiles(Language::C)), (self.cxx, task.compiles(Language::Cxx))];
        let profile = if of_clang { self.profile_clang } else { self.profile };
        // What assemblers read has nothing to count.
        let first = [(profile, task.compiles_code() || task.links), (self.all, true)];
        for (lines, is_concerned) in first.into_iter().chain(of_language).chain([(self.link, task.links)]) {
            let mut words = lines.split(|&byte| byte == b'\n').filter(|word| !word.is_empty() && is_concerned);
            while let Some(word) = words.next() {
                let value = if takes_value(word) { words.next() } else { None };
                if (task.links || !is_for_linking(word)) && (!task.is_probe || is_of_code(word)) {
                    any = true;
                    each(word);
                    value.into_iter().for_each(&mut each);
                }
            }
        }
        if of_clang && any {
            each(TOLERANT);
        }
    }
}

/// Whether only linking has a use for the word.
pub fn is_for_linking(word: &[u8]) -> bool {
    const WHOLE: [&[u8]; 10] = [
        b"-shared",
        b"-static",
        b"-static-pie",
        b"-pie",
        b"-no-pie",
        b"-rdynamic",
        b"-s",
        b"-nostartfiles",
        b"-nodefaultlibs",
        b"-Xlinker",
    ];
    const STARTS: [&[u8]; 5] = [b"-Wl,", b"-l", b"-L", b"-static-lib", b"-fuse-ld="];
    WHOLE.contains(&word) || STARTS.iter().any(|start| word.starts_with(start))
}

/// Whether the word changes the code that comes out, and nothing else.
fn is_of_code(word: &[u8]) -> bool {
    let changes = [&b"-O"[..], b"-m", b"-f"].iter().any(|start| word.starts_with(start));
    changes && ![&b"-fprofile"[..], b"-fsanitize"].iter().any(|start| word.starts_with(start))
}

/// Before which of the words, the program among them, others are appended: behind `--` there are only files.
pub fn place<'w>(words: impl Iterator<Item = &'w [u8]>) -> usize {
    let mut count = 0;
    for word in words {
        if word == b"--" {
            break;
        }
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::super::driver::task;
    use super::*;

    const ASKED: AppendedWords<'_> = AppendedWords {
        all: b"-O3\n-flto=auto\n-Wl,-O1\n-DX=a b\n--param\nx=1\n-fprofile-use=/p",
        c: b"-std=gnu99",
        cxx: b"-fno-rtti",
        link: b"-fuse-ld=gold\n-lm",
        profile: b"",
        profile_clang: b"",
    };

    fn check_with(of_clang: bool, is_swapped: bool, line: &str, expect: &str) {
        let mut words = line.split(' ').map(str::as_bytes);
        let name = words.next().unwrap();
        let mut appended: Vec<&str> = vec![];
        if let Some(task) = task(name, words, b"/w", b"/tmp") {
            ASKED.words(&task, of_clang, is_swapped, |word| appended.push(std::str::from_utf8(word).unwrap()));
        }
        assert_eq!(appended.join(" "), expect, "{line}");
    }

    #[test]
    fn what_is_appended_to_which_call() {
        let check = |line: &str, expect: &str| check_with(false, false, line, expect);
        let compiled = "-O3 -flto=auto -DX=a b --param x=1 -fprofile-use=/p";
        let linked = "-O3 -flto=auto -Wl,-O1 -DX=a b --param x=1 -fprofile-use=/p";
        check("gcc -O2 -c a.c", &format!("{compiled} -std=gnu99"));
        check("g++ -O2 -c a.cc", &format!("{compiled} -fno-rtti"));
        check("gcc a.o -o a", &format!("{linked} -fuse-ld=gold -lm"));
        check("gcc a.c -o a", &format!("{linked} -std=gnu99 -fuse-ld=gold -lm"));
        check("gcc -c a.s", compiled);
        check("gcc -c conftest.c", "-O3 -flto=auto");
        check("gcc conftest.c -o conftest", "-O3 -flto=auto -fuse-ld=gold");
        for nothing in ["gcc -E a.c", "gcc -M a.c", "gcc --version", "gcc -v", "gcc -print-search-dirs", "gcc -O2"] {
            check(nothing, "");
        }
    }

    #[test]
    fn a_profile_is_made_by_what_compiles_code_or_links_and_by_no_probe() {
        let asked = AppendedWords {
            profile: b"-fprofile-use=/p\n-Wx",
            profile_clang: b"-fprofile-use=/c",
            ..AppendedWords::default()
        };
        let check = |of_clang: bool, line: &str, expect: &str| {
            let mut words = line.split(' ').map(str::as_bytes);
            let task = task(words.next().unwrap(), words, b"/w", b"/tmp").unwrap();
            let mut appended: Vec<&str> = vec![];
            asked.words(&task, of_clang, false, |word| appended.push(std::str::from_utf8(word).unwrap()));
            assert_eq!(appended.join(" "), expect, "{line}");
        };
        for line in ["gcc -c a.c", "g++ -c a.cc", "gcc a.o -o a"] {
            check(false, line, "-fprofile-use=/p -Wx");
            check(true, line, "-fprofile-use=/c -Qunused-arguments");
        }
        for line in ["gcc -c a.s", "gcc -c conftest.c", "gcc conftest.c -o conftest", "gcc -xc - -o /dev/null"] {
            check(false, line, "");
        }
    }

    #[test]
    fn clang_is_made_tolerant() {
        let tolerant = "-O3 -flto=auto -DX=a b --param x=1 -fprofile-use=/p -Qunused-arguments";
        check_with(true, false, "gcc -Werror -c a.s", tolerant);
        check_with(true, true, "gcc -E a.c", "");
    }

    #[test]
    fn where_they_are_appended() {
        let check = |line: &str, at: usize| assert_eq!(place(line.split(' ').map(str::as_bytes)), at, "{line}");
        check("gcc -c a.c", 3);
        check("clang -c -- a.c", 2);
    }
}
