//! What the wrapper does, by the name that it is called by. As a tool: it finds the real one, appends what levels ask
//! for, writes down what the tool gets, and becomes it. As [`wire::CONFINE`]: it confines itself, and becomes the command.
//! As [`wire::RUSTC`]: cargo calls it before rustc, which its first word names. As sccache: it becomes the compiler behind that.
//!
//! The crate `building` compiles these modules too when it is tested or linted, but never calls them.

mod append;
mod confine;
mod cover;
mod driver;
mod expand;
mod find;
mod record;
mod rust;
mod shuffle;
#[allow(dead_code, unused_imports, reason = "each program uses its part")]
#[path = "../../../crates/host/freestanding/sys/mod.rs"]
mod sys;
#[allow(dead_code, unused_imports, reason = "each program uses its part")]
#[path = "../../../crates/host/freestanding/text.rs"]
mod text;
mod tool;
mod tune;
mod wire;
mod words;

use core::ffi::CStr;
use core::slice;
use find::{LONGEST, Search};
use record::Call;
use shuffle::Object;
use tool::{Kind, kind, last_part};
use tune::Tuning;
use wire::variable;
use words::Words;

/// As shells have it: a command that is not there, and one that cannot be executed.
const NOT_FOUND: u32 = 127;
const NOT_EXECUTABLE: u32 = 126;

/// What a build has copied while we were in a compiler's place is no compiler.
const UNCOVERED: &[u8] =
    b": cannot be executed; it may be a copy of what stands in the place of a compiler during a build\n";

/// Longer calls are not shuffled; with all their words in one place the kernel might not take them.
const MOST_TO_EXPAND: usize = 1 << 20;

/// # Safety
/// It is the stack that the kernel made, of which nothing was changed, and nobody else uses it.
pub(crate) unsafe fn main(stack: *mut usize) -> ! {
    // SAFETY: promised by the caller.
    let (words, env) = unsafe { Words::of_stack(stack) };
    let name = last_part(words.bytes(0), b'/');
    if name == wire::CONFINE.as_bytes() {
        confined(&words, &env)
    }
    if name == wire::PROGRAM.as_bytes() {
        // Somebody tries whether it can be executed.
        sys::exit(0)
    }
    let env = cover::completed(env);
    if name == wire::RUSTC.as_bytes() {
        rust(true, words.after(1), &env)
    }
    let mut room = [0; LONGEST];
    if let Some(file) = cover::covered(&mut room) {
        covered(file, name, words, &env)
    }
    if tool::is_server(name) {
        without_server(name, words, &env)
    }
    wrapped(name, words, &env, None)
}

/// The end after a defect of our own.
pub(crate) fn last_resort() -> ! {
    sys::exit(70)
}

fn confined(words: &Words, env: &Words) -> ! {
    let end_after = |start: usize| (start..words.len()).find(|&nth| words.bytes(nth) == b"--").unwrap_or(words.len());
    // SAFETY: some of the words; the words end in null, which is not asked for.
    let between =
        |start: usize, end: usize| unsafe { Words::new(words.after(start).pointers(), end.saturating_sub(start)) };
    let middle = end_after(1);
    let end = end_after(middle + 1);
    // A confined process can mount nothing.
    cover::cover(&between(middle + 1, end), env);
    confine::confine(&between(1, middle));
    let search = Search::new(env.variable("PATH"), words.bytes(end + 1), None);
    become_one_of(search, words.bytes(end + 1), words.after(end + 1), |_, words| (words, *env))
}

/// In place of a compiler that was called by its path. One that a compiler calls, such as those that optimise a link, is a
/// part of a call that was seen.
fn covered(file: &CStr, name: &'static [u8], words: Words, env: &Words) -> ! {
    if env.variable("COLLECT_GCC").is_none() && env.variable(variable::WITHIN).is_none() {
        wrapped(name, words, env, Some(file))
    }
    become_that(file, words, |_, words| (words, *env), UNCOVERED)
}

/// In place of the tool `covered`, or of the next of that name on PATH.
fn wrapped(name: &'static [u8], words: Words, env: &Words, covered: Option<&CStr>) -> ! {
    let kind = kind(name).unwrap_or(Kind::Driver);
    if kind == Kind::Rust {
        rust(false, words, env)
    }
    let (words, shuffled) = match env.variable(variable::SEED) {
        Some(seed) => shuffle(kind, seed.to_bytes(), words, env),
        None => (words, 0),
    };
    let tuning = (kind == Kind::Driver).then(|| Tuning::of(name, expanded(words).unwrap_or(words), env));
    let mut told = false;
    let before = |real: &CStr, words: Words| {
        let (words, env) = tuning.as_ref().map_or((words, *env), |tuning| tuning.tuned(real, words, *env));
        if let Some(log) = env.variable(variable::LOG).filter(|_| !told) {
            told = true;
            let nested = env.variable("COLLECT_GCC").is_some();
            record::append(log, &Call { name, real, words, shuffled, nested });
        }
        if let Some(cache) = env.variable(variable::CACHE).filter(|_| kind == Kind::Driver) {
            // SAFETY: the number of words stands before them, where the kernel put it or we did; it has been read.
            unsafe {
                let first = words.pointers().sub(1);
                *first = cache.as_ptr() as usize;
                *words.pointers() = real.as_ptr() as usize;
                sys::exec(cache, first, env.pointers());
            }
        }
        (words, env)
    };
    match (tuning.as_ref().and_then(Tuning::compiler), covered) {
        (Some(compiler), _) => {
            become_that(compiler, words, before, b": cannot be executed, although a level names it as the compiler\n")
        }
        (None, Some(covered)) => become_that(covered, words, before, UNCOVERED),
        (None, None) => {
            let search = Search::new(env.variable("PATH"), name, tuning.as_ref().and_then(Tuning::within));
            become_one_of(search, name, words, before)
        }
    }
}

/// Becomes the compiler that stands behind a cache which is a server: the server would serve other builds too, with the
/// environment of the first and where that was confined to. What asks something of the cache gets it.
fn without_server(name: &'static [u8], words: Words, env: &Words) -> ! {
    let (program, rest) = (words.get(1), words.after(1));
    match program.to_bytes() {
        b"" | [b'-', ..] => {
            become_one_of(Search::new(env.variable("PATH"), name, None), name, words, |_, words| (words, *env))
        }
        path if path.contains(&b'/') => {
            // It may be covered, or one of our links: then we are called again.
            // SAFETY: the words and the environment that the kernel gave us.
            unsafe { sys::exec(program, rest.pointers(), env.pointers()) };
            complain(path, b": cannot be executed\n", NOT_EXECUTABLE)
        }
        compiler => wrapped(compiler, rest, env, None),
    }
}

/// Becomes rustc. Cargo says where it is, or what the project puts before it, and the study may put something before both;
/// who calls us by the name of rustc wants the next on PATH.
fn rust(by_cargo: bool, words: Words, env: &Words) -> ! {
    let mut told = false;
    let before = |real: &CStr, words: Words| {
        let words = tune::of_rust(words, expanded(words).unwrap_or(words), env);
        if let Some(log) = env.variable(variable::LOG).filter(|_| !told) {
            told = true;
            record::append(log, &Call { name: b"rustc", real, words, shuffled: 0, nested: false });
        }
        if let Some(first) = env.variable(variable::RUSTC_WRAPPER).filter(|_| by_cargo) {
            // SAFETY: a slot goes before them, where the kernel or we put another word, which nobody needs any more.
            unsafe {
                let pointer = words.pointers().sub(1);
                *pointer = first.as_ptr() as usize;
                sys::exec(first, pointer, env.pointers());
            }
        }
        (words, *env)
    };
    let program = words.get(0);
    if by_cargo && program.to_bytes().contains(&b'/') {
        become_it(program, words, &mut { before });
        complain(program.to_bytes(), b": cannot be executed\n", NOT_EXECUTABLE)
    }
    let name = last_part(program.to_bytes(), b'/');
    become_one_of(Search::new(env.variable("PATH"), name, None), name, words, before)
}

/// The words with the objects among them in the order that the seed says, and how many objects that are.
fn shuffle(kind: Kind, seed: &[u8], words: Words, env: &Words) -> (Words, u32) {
    let words = expanded(words).unwrap_or(words);
    let count = words.len();
    let each = size_of::<&[u8]>() + size_of::<Object>() + size_of::<usize>() + size_of::<u32>();
    let Ok(memory) = sys::map((count * each).max(1)) else { return (words, 0) };
    // SAFETY: one array behind the other, the stricter aligned first; all but the first may be zeros, and that is
    // filled before it is looked at.
    let (texts, objects, moved, places) = unsafe {
        let texts = memory.cast::<&[u8]>();
        let objects = texts.add(count).cast::<Object>();
        let moved = objects.add(count).cast::<usize>();
        let places = moved.add(count).cast::<u32>();
        (0..count).for_each(|nth| texts.add(nth).write(words.bytes(nth)));
        (
            slice::from_raw_parts(texts, count),
            slice::from_raw_parts_mut(objects, count),
            slice::from_raw_parts_mut(moved, count),
            slice::from_raw_parts_mut(places, count),
        )
    };
    let temporary = env.variable("TMPDIR").map_or(&b"/tmp"[..], CStr::to_bytes);
    let shuffled = shuffle::order(kind, seed, temporary, texts, objects, places);
    // SAFETY: `order` gives numbers of words.
    unsafe {
        for (moved, object) in moved.iter_mut().zip(&objects[..shuffled]) {
            *moved = *words.pointers().add(object.word as usize);
        }
        for (moved, place) in moved.iter().zip(&places[..shuffled]) {
            *words.pointers().add(*place as usize) = *moved;
        }
    }
    (words, shuffled as u32)
}

/// The words with those of response files in the place of their names; none if there is no such file, or too much of it.
fn expanded(words: Words) -> Option<Words> {
    if !(1..words.len()).any(|nth| words.bytes(nth).starts_with(b"@")) {
        return None;
    }
    // A word of a file has at least a byte and a separator. A slot goes before the first, as on the kernel's stack.
    let most = words.len() + MOST_TO_EXPAND / 2 + 2;
    let memory = sys::map(most * size_of::<usize>() + MOST_TO_EXPAND).ok()?;
    // SAFETY: the pointers, the first of them left out, and behind them the texts.
    let (first, texts) = unsafe {
        let texts = memory.add(most * size_of::<usize>());
        (memory.cast::<usize>().add(1), slice::from_raw_parts_mut(texts, MOST_TO_EXPAND))
    };
    let (mut count, mut texts) = (0, texts);
    let mut push = |pointer: usize| {
        // SAFETY: there are never more words than that.
        unsafe { first.add(count).write(pointer) };
        count += 1;
    };
    for nth in 0..words.len() {
        let file = words.get(nth).to_bytes_with_nul().strip_prefix(b"@").filter(|_| nth > 0);
        let file = file.and_then(|path| sys::open(CStr::from_bytes_with_nul(path).ok()?, 0).ok());
        let Some(file) = file else {
            push(words.get(nth).as_ptr() as usize);
            continue;
        };
        let mut filled = 0;
        while let Ok(more @ 1..) = sys::read(file, &mut texts[filled..]) {
            filled += more;
        }
        sys::close(file);
        if filled == texts.len() {
            return None;
        }
        let (text, rest) = texts.split_at_mut(filled + 1);
        texts = rest;
        let start = text.as_ptr() as usize;
        expand::split(text, |at| push(start + at));
    }
    // SAFETY: so many were written, and zeros follow.
    Some(unsafe { Words::new(first, count) })
}

/// Executes the first program of the search that can be. `before` hears of each, with the words that it would get; it
/// says which words and environment it gets.
fn become_one_of(
    mut search: Search<'_>,
    name: &[u8],
    words: Words,
    mut before: impl FnMut(&CStr, Words) -> (Words, Words),
) -> ! {
    let mut path = [0; LONGEST];
    let mut why = NOT_FOUND;
    while let Some(real) = search.next(&mut path) {
        become_it(real, words, &mut before);
        why = NOT_EXECUTABLE;
    }
    let complaint: &[u8] = if why == NOT_FOUND { b": not found on PATH\n" } else { b": cannot be executed\n" };
    complain(name, complaint, why)
}

/// Executes that program, whatever was called, or ends with the complaint.
fn become_that(
    program: &CStr,
    words: Words,
    mut before: impl FnMut(&CStr, Words) -> (Words, Words),
    complaint: &[u8],
) -> ! {
    become_it(program, words, &mut before);
    complain(program.to_bytes(), complaint, NOT_EXECUTABLE)
}

/// Returns only if the program cannot be executed.
fn become_it(real: &CStr, mut words: Words, before: &mut impl FnMut(&CStr, Words) -> (Words, Words)) {
    // SAFETY: the path is on a stack that nobody leaves but by executing or ending.
    unsafe { words.set(0, real) };
    let (words, env) = before(real, words);
    let mut room = [0; LONGEST];
    let real = cover::behind(real, &mut room).unwrap_or(real);
    // SAFETY: the words and the environment that the kernel gave us, or arrays like them.
    unsafe { sys::exec(real, words.pointers(), env.pointers()) };
}

fn complain(what: &[u8], complaint: &[u8], code: u32) -> ! {
    for piece in [b"bakeoff: ", what, complaint] {
        let _ = sys::write(2, piece);
    }
    sys::exit(code)
}
