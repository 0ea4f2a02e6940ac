//! What levels change in a call of a compiler: another compiler, and words behind the project's own. Which words a call
//! gets is in `append.rs`; here the call is put together, and nothing is run.
//!
//! A compiler may call us again: a script that stands before it does. Such a call is left as it is, because its words
//! have been appended, and no compiler that is being run is run again.

use super::append::{AppendedWords, place};
use super::driver::{Task, task};
use super::find::{LONGEST, is_clang};
use super::rust::{rust_task, rust_words};
use super::sys;
use super::tool::{is_cxx, standard};
use super::wire::variable;
use super::words::Words;
use core::ffi::CStr;
use core::slice;

/// What is asked for in the environment.
pub(super) struct Tuning {
    asked: AppendedWords<'static>,
    /// The compiler in place of the one that was called.
    compiler: Option<&'static CStr>,
    /// The compilers that are being run; none if nobody but the build calls us.
    within: Option<&'static CStr>,
    standard: Option<&'static CStr>,
    /// What the call does; none if it gets no words.
    task: Option<Task>,
}

impl Tuning {
    /// What concerns a driver called by this name. `seen` are its words, with those of
    /// response files in their places.
    pub(super) fn of(name: &[u8], seen: Words, env: &Words) -> Self {
        let lines = |name| env.variable(name).map_or(&b""[..], CStr::to_bytes);
        let asked = AppendedWords {
            all: lines(variable::APPEND),
            c: lines(variable::APPEND_C),
            cxx: lines(variable::APPEND_CXX),
            link: lines(variable::APPEND_LINK),
            profile: lines(variable::PROFILE),
            profile_clang: lines(variable::PROFILE_CLANG),
        };
        let compiler = env.variable(if is_cxx(name) { variable::CXX } else { variable::CC });
        let within = env.variable(variable::WITHIN);
        let mut room = [0; LONGEST];
        let dir = sys::folder(&mut room).map_or(&b""[..], |dir| dir.strip_suffix(b"\0").unwrap_or(dir));
        let words = (1..seen.len()).map(|nth| seen.bytes(nth));
        let task = task(name, words, dir, lines("TMPDIR")).filter(|_| within.is_none());
        let compiler = compiler.filter(|_| within.is_none());
        Self { asked, compiler, within, standard: compiler.and(standard(name)), task }
    }

    /// The compiler that is run, wherever others are.
    pub(super) fn compiler(&self) -> Option<&'static CStr> {
        self.compiler
    }

    /// The compilers that must not be run again.
    pub(super) fn within(&self) -> Option<&'static CStr> {
        self.within
    }

    /// Words and environment of the call, if `real` is run; those that it has if there is no memory.
    pub(super) fn tuned(&self, real: &CStr, words: Words, env: Words) -> (Words, Words) {
        (self.with_words(real, words).unwrap_or(words), self.with_within(real, env).unwrap_or(env))
    }

    fn with_words(&self, real: &CStr, words: Words) -> Option<Words> {
        if self.compiler.is_none() && self.asked.is_empty() {
            return None;
        }
        let each = |visit: &mut dyn FnMut(&'static [u8])| {
            if let Some(task) = &self.task {
                self.asked.words(task, is_clang(real), self.compiler.is_some(), visit);
            }
        };
        let at = place((0..words.len()).map(|nth| words.bytes(nth)));
        appended(words, at, self.standard, each)
    }

    /// The environment, in which `real` is one of those that are being run.
    fn with_within(&self, real: &CStr, env: Words) -> Option<Words> {
        let before = self.within.map_or(&b""[..], CStr::to_bytes);
        let name = variable::WITHIN.as_bytes();
        let is_it = |text: &[u8]| text.strip_prefix(name).is_some_and(|rest| rest.starts_with(b"="));
        let mut list = List::new(env.len() + 1, name.len() + before.len() + real.count_bytes() + 3)?;
        for nth in (0..env.len()).filter(|&nth| !is_it(env.bytes(nth))) {
            list.push(env.get(nth).as_ptr() as usize);
        }
        list.copy(&[name, b"=", before, if before.is_empty() { b"" } else { b":" }, real.to_bytes()]);
        Some(list.words())
    }
}

/// The words of a call of rustc with those behind them that are asked for; as they are if there is no memory, or if a wrapper
/// of the project has called us again. `seen` has those of response files in their places.
pub(super) fn of_rust(words: Words, seen: Words, env: &Words) -> Words {
    let lines = env.variable(variable::RUSTFLAGS).map_or(&b""[..], CStr::to_bytes);
    let task = rust_task((1..seen.len()).map(|nth| seen.bytes(nth)));
    task.and_then(|task| with_rust_words(words, |visit| rust_words(task, lines, visit))).unwrap_or(words)
}

fn with_rust_words(words: Words, each: impl Fn(&mut dyn FnMut(&'static [u8]))) -> Option<Words> {
    let (mut count, mut same) = (0, 0);
    each(&mut |_| count += 1);
    let before = words.len().checked_sub(count);
    let mut nth = before.unwrap_or(0);
    each(&mut |word| {
        same += usize::from(words.bytes(nth) == word);
        nth += 1;
    });
    if count == 0 || (before.is_some() && same == count) {
        return None;
    }
    appended(words, words.len(), None, each)
}

/// The words with those that `each` hands over before that place, and with `second` behind the program.
fn appended(
    words: Words,
    at: usize,
    second: Option<&'static CStr>,
    each: impl Fn(&mut dyn FnMut(&'static [u8])),
) -> Option<Words> {
    let (mut count, mut bytes) = (words.len() + usize::from(second.is_some()), 0);
    each(&mut |word| {
        count += 1;
        bytes += word.len() + 1;
    });
    let mut list = List::new(count, bytes)?;
    for nth in 0..=words.len() {
        if nth == at {
            each(&mut |word| list.copy(&[word]));
        }
        if nth < words.len() {
            list.push(words.get(nth).as_ptr() as usize);
        }
        if let Some(second) = second.filter(|_| nth == 0) {
            list.push(second.as_ptr() as usize);
        }
    }
    Some(list.words())
}

/// Pointers to strings, and strings of our own, in memory that stays.
pub(super) struct List {
    first: *mut usize,
    count: usize,
    texts: &'static mut [u8],
}

impl List {
    /// Room for this number of strings, and of bytes for those that are copied. A slot goes before the first, as on the
    /// kernel's stack, and zeros follow the last.
    pub(super) fn new(count: usize, bytes: usize) -> Option<Self> {
        let pointers = (count + 2) * size_of::<usize>();
        let memory = sys::map(pointers + bytes).ok()?;
        // SAFETY: the pointers, the first of them left out, and behind them the texts; nobody else has this memory.
        unsafe {
            let texts = slice::from_raw_parts_mut(memory.add(pointers), bytes);
            Some(Self { first: memory.cast::<usize>().add(1), count: 0, texts })
        }
    }

    pub(super) fn push(&mut self, string: usize) {
        // SAFETY: the strings were counted before the list was made.
        unsafe { self.first.add(self.count).write(string) };
        self.count += 1;
    }

    /// A string that these pieces make.
    fn copy(&mut self, pieces: &[&[u8]]) {
        let length: usize = pieces.iter().map(|piece| piece.len()).sum();
        let texts = core::mem::take(&mut self.texts);
        let Some((text, rest)) = texts.split_at_mut_checked(length + 1) else { return };
        let mut end = 0;
        for piece in pieces {
            text[end..end + piece.len()].copy_from_slice(piece);
            end += piece.len();
        }
        self.texts = rest;
        // The memory is filled with zeros.
        self.push(text.as_ptr() as usize);
    }

    pub(super) fn words(&self) -> Words {
        // SAFETY: that number was written, and zeros follow.
        unsafe { Words::new(self.first, self.count) }
    }
}
