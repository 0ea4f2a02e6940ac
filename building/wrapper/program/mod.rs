//! The wrapper's program, which acts by the name that it is called by. As a tool, it finds the real one, appends the words of
//! levels, logs the words that the tool gets, and runs it. As [`wire::CONFINE`], it confines itself and runs the
//! command. As [`wire::RUSTC`], cargo calls it before rustc, which its first word names. As sccache, it runs the
//! compiler that sccache was to run.
//!
//! The crate `building` compiles these modules too when it is tested or linted, but never calls them.

mod append;
mod confine;
mod cover;
mod driver;
mod expand;
mod find;
mod keep;
mod landlock;
mod mounts;
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
use tool::{ToolKind, kind, kind_of_file, last_part};
use tune::Tuning;
use wire::variable;
use words::Words;

/// The exit codes of shells for a command that does not exist, and for one that cannot be run.
const NOT_FOUND: u32 = 127;
const NOT_EXECUTABLE: u32 = 126;

/// A build may have copied the wrapper while it covered a compiler; the copy is not a compiler.
const UNCOVERED: &[u8] =
    b": cannot be executed; it may be a copy of the wrapper that replaces a compiler during a build\n";

/// Longer calls are not shuffled: expanded, they might exceed what the kernel accepts.
const MOST_TO_EXPAND: usize = 1 << 20;

/// # Safety
/// `stack` is the initial stack from the kernel, unchanged, and nothing else uses it.
pub(crate) unsafe fn main(stack: *mut usize) -> ! {
    // SAFETY: promised by the caller.
    let (words, env) = unsafe { Words::of_stack(stack) };
    let name = last_part(words.bytes(0), b'/');
    if name == wire::CONFINE.as_bytes() {
        confined(&words, &env)
    }
    if name == wire::PROGRAM.as_bytes() {
        // Probe: exit 0 to show that this filesystem allows exec.
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

/// Exits after a defect of the wrapper itself.
pub(crate) fn last_resort() -> ! {
    sys::exit(70)
}

fn confined(words: &Words, env: &Words) -> ! {
    let end_after = |start: usize| (start..words.len()).find(|&nth| words.bytes(nth) == b"--").unwrap_or(words.len());
    // SAFETY: a part of the words; the null that ends all of them is not read.
    let between =
        |start: usize, end: usize| unsafe { Words::new(words.after(start).pointers(), end.saturating_sub(start)) };
    let middle = end_after(1);
    let end = end_after(middle + 1);
    // A confined process can mount nothing.
    cover::cover(&between(middle + 1, end), env);
    confine::confine(&between(1, middle));
    let search = Search::new(env.variable("PATH"), words.bytes(end + 1), None);
    exec_first(search, words.bytes(end + 1), words.after(end + 1), |_, words| (words, *env))
}

/// Acts in place of a compiler that was called by its path. A call by another compiler, such as for link-time optimisation,
/// passes unchanged: it is part of a call that was logged. That of a linker is not. One file may also be tools of which
/// nothing is known: lld is a linker for other systems, too.
fn covered(file: &CStr, name: &'static [u8], words: Words, env: &Words) -> ! {
    let is_part = env.variable("COLLECT_GCC").is_some() || env.variable(variable::WITHIN).is_some();
    let is_other = kind(name).is_none() && kind(last_part(file.to_bytes(), b'/')) == Some(ToolKind::Linker);
    let is_linker = matches!(kind_of_file(file.to_bytes(), name), Some(ToolKind::Linker | ToolKind::GoLinker));
    if !is_part && !is_other || is_linker {
        wrapped(name, words, env, Some(file))
    }
    exec_or_die(file, words, |_, words| (words, *env), UNCOVERED)
}

/// Acts in place of the tool `covered`, or of the next tool of that name on PATH.
fn wrapped(name: &'static [u8], words: Words, env: &Words, covered: Option<&CStr>) -> ! {
    let file = covered.map_or(&b""[..], CStr::to_bytes);
    let kind = kind_of_file(file, name).unwrap_or(ToolKind::Driver);
    if kind == ToolKind::Rust {
        rust(false, words, env)
    }
    let (words, shuffled) = match env.variable(variable::SEED) {
        Some(seed) => shuffle(kind, seed.to_bytes(), words, env),
        None => (words, 0),
    };
    let tuning = (kind == ToolKind::Driver).then(|| Tuning::of(name, expanded(words).unwrap_or(words), env));
    let mut told = false;
    let before = |real: &CStr, words: Words| {
        let (words, env) = tuning.as_ref().map_or((words, *env), |tuning| tuning.tuned(real, words, *env));
        if let Some(log) = env.variable(variable::LOG).filter(|_| !told) {
            told = true;
            let nested = env.variable("COLLECT_GCC").is_some();
            record::append(log, &Call { name, real, words, shuffled, nested });
        }
        if let (ToolKind::Linker | ToolKind::GoLinker, Some(log)) = (kind, env.variable(variable::LOG)) {
            keep::objects(expanded(words).unwrap_or(words), log, kind == ToolKind::GoLinker);
        }
        if let Some(cache) = env.variable(variable::CACHE).filter(|_| kind == ToolKind::Driver) {
            // SAFETY: the slot before the words holds their number, which has been read.
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
            exec_or_die(compiler, words, before, b": cannot be executed, although a level names it as the compiler\n")
        }
        // Which linker one file is depends on the name that it is called by.
        (None, Some(_)) if kind == ToolKind::Linker && cover::behind(words.get(0), &mut [0; LONGEST]).is_some() => {
            exec_or_die(words.get(0), words, before, UNCOVERED)
        }
        (None, Some(covered)) => exec_or_die(covered, words, before, UNCOVERED),
        (None, None) => {
            let search = Search::new(env.variable("PATH"), name, tuning.as_ref().and_then(Tuning::within));
            exec_first(search, name, words, before)
        }
    }
}

/// Runs the compiler that a caching server was to run. The server would serve other builds too, with the environment and
/// the confinement of the first. A question to the cache itself goes to the cache.
fn without_server(name: &'static [u8], words: Words, env: &Words) -> ! {
    let (program, rest) = (words.get(1), words.after(1));
    match program.to_bytes() {
        b"" | [b'-', ..] => {
            exec_first(Search::new(env.variable("PATH"), name, None), name, words, |_, words| (words, *env))
        }
        path if path.contains(&b'/') => {
            // If it is covered, or one of our links, the wrapper is called again.
            // SAFETY: the words and the environment that the kernel gave us.
            unsafe { sys::exec(program, rest.pointers(), env.pointers()) };
            complain(path, b": cannot be executed\n", NOT_EXECUTABLE)
        }
        compiler => wrapped(compiler, rest, env, None),
    }
}

/// Runs rustc. Cargo passes its path, or that of the project's own wrapper, and the study may put a program before both;
/// a call by the name of rustc means the next one on PATH.
fn rust(by_cargo: bool, words: Words, env: &Words) -> ! {
    let mut told = false;
    let before = |real: &CStr, words: Words| {
        let words = tune::of_rust(words, expanded(words).unwrap_or(words), env);
        if let Some(log) = env.variable(variable::LOG).filter(|_| !told) {
            told = true;
            record::append(log, &Call { name: b"rustc", real, words, shuffled: 0, nested: false });
        }
        if let Some(first) = env.variable(variable::RUSTC_WRAPPER).filter(|_| by_cargo) {
            // SAFETY: the slot before the words holds another word, which is no longer needed.
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
        try_exec(program, words, &mut { before });
        complain(program.to_bytes(), b": cannot be executed\n", NOT_EXECUTABLE)
    }
    let name = last_part(program.to_bytes(), b'/');
    exec_first(Search::new(env.variable("PATH"), name, None), name, words, before)
}

/// Shuffles the object files among the words by the seed, and returns the words and the number of objects.
fn shuffle(kind: ToolKind, seed: &[u8], words: Words, env: &Words) -> (Words, u32) {
    let words = expanded(words).unwrap_or(words);
    let count = words.len();
    let each = size_of::<&[u8]>() + size_of::<Object>() + size_of::<usize>() + size_of::<u32>();
    let Ok(memory) = sys::map((count * each).max(1)) else { return (words, 0) };
    // SAFETY: the arrays follow each other, the stricter aligned first; all but the first may hold zeros, and the first is
    // filled before it is read.
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

/// Replaces the names of response files by their words; `None` if there are none, or if they are too long.
fn expanded(words: Words) -> Option<Words> {
    if !(1..words.len()).any(|nth| words.bytes(nth).starts_with(b"@")) {
        return None;
    }
    // A word in a file takes at least two bytes. One slot stays free before the first word, as on the kernel's stack.
    let most = words.len() + MOST_TO_EXPAND / 2 + 2;
    let memory = sys::map(most * size_of::<usize>() + MOST_TO_EXPAND).ok()?;
    // SAFETY: the pointers, without the first slot, and the texts after them.
    let (first, texts) = unsafe {
        let texts = memory.add(most * size_of::<usize>());
        (memory.cast::<usize>().add(1), slice::from_raw_parts_mut(texts, MOST_TO_EXPAND))
    };
    let (mut count, mut texts) = (0, texts);
    let mut push = |pointer: usize| {
        // SAFETY: `most` bounds the number of words.
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
    // SAFETY: `count` words were written, and zeros follow.
    Some(unsafe { Words::new(first, count) })
}

/// Runs the first program of the search that can be run. `before` gets each program and its words, and returns the
/// words and the environment to run it with.
fn exec_first(
    mut search: Search<'_>,
    name: &[u8],
    words: Words,
    mut before: impl FnMut(&CStr, Words) -> (Words, Words),
) -> ! {
    let mut path = [0; LONGEST];
    let mut why = NOT_FOUND;
    while let Some(real) = search.next(&mut path) {
        try_exec(real, words, &mut before);
        why = NOT_EXECUTABLE;
    }
    let complaint: &[u8] = if why == NOT_FOUND { b": not found on PATH\n" } else { b": cannot be executed\n" };
    complain(name, complaint, why)
}

/// Runs that program, or exits with the complaint.
fn exec_or_die(
    program: &CStr,
    words: Words,
    mut before: impl FnMut(&CStr, Words) -> (Words, Words),
    complaint: &[u8],
) -> ! {
    try_exec(program, words, &mut before);
    complain(program.to_bytes(), complaint, NOT_EXECUTABLE)
}

/// Runs a program; returns only if it cannot be run.
fn try_exec(real: &CStr, mut words: Words, before: &mut impl FnMut(&CStr, Words) -> (Words, Words)) {
    // SAFETY: `real` outlives exec: the frame that holds it never returns on success.
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
