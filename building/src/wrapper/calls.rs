//! Reads what the wrapper wrote down. A record that is not whole, which a full disk can leave, is passed over.

use super::expand;
use super::tool::{ToolKind, kind_of_file};
use super::wire::{Head, MAGIC, UNREADABLE};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    /// The name it was called by.
    pub(crate) name: OsString,
    /// The real tool.
    pub(crate) tool: PathBuf,
    /// The folder it was called in.
    pub(crate) dir: PathBuf,
    /// Its arguments in their order, without the program.
    pub(crate) words: Vec<OsString>,
    /// The response files that the first words beginning with `@` name: what they hold (the first 256 KiB), or none if
    /// they could not be read.
    pub(crate) response_files: Vec<Option<Vec<u8>>>,
    /// The process.
    pub(crate) pid: u32,
    /// The process that called it.
    pub(crate) parent: u32,
    /// How many objects were shuffled; see [`crate::wrapper`].
    pub(crate) shuffled: u32,
    /// Whether a driver of gcc called it.
    pub(crate) of_gcc: bool,
}

impl Call {
    /// What it does, by its name; unusual names are those of compilers.
    pub(crate) fn kind(&self) -> ToolKind {
        kind_of_file(self.tool.as_os_str().as_bytes(), self.name.as_bytes()).unwrap_or(ToolKind::Driver)
    }

    /// What it writes, if it says so.
    pub(crate) fn output(&self) -> Option<OsString> {
        let words = self.all_words();
        let apart = words.windows(2).find(|pair| pair[0] == "-o").map(|pair| pair[1].clone());
        let joined = words.iter().filter_map(|word| word.as_bytes().strip_prefix(b"-o"));
        apart.or_else(|| joined.map(|path| OsStr::from_bytes(path).to_owned()).find(|path| !path.is_empty()))
    }

    /// Its arguments, with the words of response files in their places, as text.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.all_words().iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    /// Its arguments, with the words of response files in their places.
    pub(crate) fn all_words(&self) -> Vec<OsString> {
        let mut files = self.response_files.iter();
        let mut all = vec![];
        for word in &self.words {
            let file = if word.as_bytes().starts_with(b"@") { files.next().and_then(Option::as_ref) } else { None };
            let Some(file) = file else {
                all.push(word.clone());
                continue;
            };
            let mut text = [file.as_slice(), b"\0"].concat();
            let mut starts = vec![];
            expand::split(&mut text, |start| starts.push(start));
            let end = |start: usize| start + text[start..].iter().position(|&byte| byte == 0).unwrap_or(0);
            all.extend(starts.iter().map(|&start| OsString::from_vec(text[start..end(start)].to_vec())));
        }
        all
    }
}

/// What a log holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Calls {
    /// The calls, in the order in which they began.
    pub(crate) whole: Vec<Call>,
    /// How often something stood there that is no whole record.
    pub(crate) damaged: usize,
}

/// The calls in a log that wrappers wrote.
pub(crate) fn calls(log: &[u8]) -> Calls {
    let mut calls = Calls::default();
    let mut rest = log;
    while !rest.is_empty() {
        match record(rest) {
            Some((call, length)) => {
                calls.whole.push(call);
                rest = &rest[length..];
            }
            None => {
                calls.damaged += 1;
                let magic = MAGIC.to_ne_bytes();
                let next = rest[1..].windows(magic.len()).position(|window| window == magic);
                rest = next.map_or(&[], |next| &rest[next + 1..]);
            }
        }
    }
    calls
}

/// The record at the start of these bytes, and its length.
fn record(bytes: &[u8]) -> Option<(Call, usize)> {
    let (head, body) = bytes.split_at_checked(size_of::<Head>())?;
    let long = |at: usize| Some(u64::from_ne_bytes(head.get(at..at + 8)?.try_into().ok()?));
    let [pid, parent, words, files, shuffled, nested] =
        std::array::from_fn(|nth| head[16 + 4 * nth..].first_chunk().map_or(0, |bytes| u32::from_ne_bytes(*bytes)));
    let head = Head { magic: long(0)?, length: long(8)?, pid, parent, words, files, shuffled, nested };
    let length = usize::try_from(head.length).ok()?;
    let mut body = body.get(..length).filter(|_| head.magic == MAGIC)?;
    let mut string = || {
        let end = body.iter().position(|&byte| byte == 0)?;
        let string = OsString::from_vec(body[..end].to_vec());
        body = &body[end + 1..];
        Some(string)
    };
    let (name, tool, dir) = (string()?, string()?, string()?);
    let mut words = (0..head.words).map(|_| string()).collect::<Option<Vec<_>>>()?;
    let mut response_files = vec![];
    for _ in 0..head.files {
        let (length, after) = body.split_at_checked(8)?;
        let length = u64::from_ne_bytes(length.try_into().ok()?);
        let kept = if length == UNREADABLE { 0 } else { usize::try_from(length).ok()? };
        let (content, after) = after.split_at_checked(kept)?;
        response_files.push((length != UNREADABLE).then(|| content.to_vec()));
        body = after;
    }
    let follows = bytes.get(size_of::<Head>() + length..)?;
    if !body.is_empty() || !(follows.is_empty() || follows.starts_with(&MAGIC.to_ne_bytes())) {
        return None;
    }
    words.drain(..1.min(words.len()));
    let call = Call {
        name,
        tool: tool.into(),
        dir: dir.into(),
        words,
        response_files,
        pid: head.pid,
        parent: head.parent,
        shuffled: head.shuffled,
        of_gcc: head.nested != 0,
    };
    Some((call, size_of::<Head>() + length))
}
