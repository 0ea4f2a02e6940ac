//! The terminal: what goes to standard output and standard error, how wide it is and whether it likes colour. All text
//! goes through here, and nothing of it can steer a terminal. A reader that goes away (`| head`) is no error.

use crate::error::Code;
use bakeoff_model::plain::{escaped, harmless};
use bakeoff_report::Style;
use bakeoff_report::draw::text::foreign;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Width where the output is no terminal: what fits into a mail.
const PLAIN_WIDTH: usize = 80;
/// Wider than this, a table is no easier to read.
const MOST_WIDTH: usize = 132;
/// To the beginning of the line, and nothing is left in it.
const ERASE: &str = "\r\x1b[K";

/// Whether the reader of standard output went away, and whether a write to it failed otherwise.
static IS_CLOSED: AtomicBool = AtomicBool::new(false);
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

/// Writes to standard output. [`settled`] accounts for a write that fails; the command first finishes its other work.
pub fn out(text: &str) {
    let text = harmless(text, style().colour);
    out_bytes(if is_utf8() { text.to_string() } else { ascii(&text) }.as_bytes());
}

/// Like [`out`], for JSON: it says what it said.
pub fn json(text: &str) {
    out_bytes(escaped(text).as_bytes());
}

/// Writes text for people, or JSON.
pub fn page(text: &str, is_json: bool) {
    if is_json { json(text) } else { out(text) }
}

/// Like [`out`], for what need not be text and must stay as it is, byte for byte.
pub fn out_bytes(bytes: &[u8]) {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => IS_CLOSED.store(true, Ordering::SeqCst),
        Err(error) => {
            if !HAS_FAILED.swap(true, Ordering::SeqCst) {
                err(&format!("error: cannot write to standard output\ncaused by: {error}\n"));
            }
        }
    }
}

/// Returns the exit code of a command that would otherwise end with `code`: output that could not be written is an error of
/// its own. If only the reader went away, the process ends by SIGPIPE, as other Unix tools do, unless `code` reports more.
pub fn settled(code: Code) -> Code {
    if HAS_FAILED.load(Ordering::SeqCst) {
        return code.worst(Code::Internal);
    }
    if IS_CLOSED.load(Ordering::SeqCst) && code == Code::Done {
        bakeoff_host::end_by_closed_pipe();
    }
    code
}

/// Writes to standard error; there is nobody left to tell if that fails.
pub fn err(text: &str) {
    let _ = io::stderr().lock().write_all(harmless(text, err_colour()).as_bytes());
}

/// Writes a line to standard error: on a terminal in the place of the one that was drawn before.
pub fn draw(line: &str) {
    if err_is_terminal() {
        // What goes on in the next line could not be erased.
        let columns =
            terminal_size::terminal_size_of(io::stderr()).map_or(PLAIN_WIDTH, |(width, _)| usize::from(width.0));
        let line = foreign(line, columns.saturating_sub(1));
        let _ = io::stderr().lock().write_all(format!("{ERASE}{line}").as_bytes());
    } else {
        err(&format!("{line}\n"));
    }
}

/// Whether the locale's text is UTF-8: see locale(7) for which variable counts.
fn is_utf8() -> bool {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG")).unwrap_or_default();
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// Our own signs in ASCII, each as wide as it was, where that can be.
fn ascii(text: &str) -> String {
    let sign = |c: char| match c {
        '−' | '–' | '─' => "-",
        '×' => "x",
        '│' | '├' | '┤' => "|",
        '┊' => ":",
        '┼' => "+",
        '●' => "*",
        '▲' => "!",
        '→' => ">",
        'µ' => "u",
        '±' => "+-",
        '…' => "...",
        '÷' => "/",
        _ => "?",
    };
    let of = |c: char| if c.is_ascii() { c.to_string() } else { sign(c).to_owned() };
    text.replace(" … ", "...").chars().map(of).collect()
}

/// Removes what was drawn.
pub fn erase() {
    if err_is_terminal() {
        let _ = io::stderr().lock().write_all(ERASE.as_bytes());
    }
}

/// Whether standard error is a terminal, on which a line can be drawn again.
pub fn err_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// How a report is drawn on standard output.
pub fn style() -> Style {
    let terminal = io::stdout().is_terminal();
    let width = if terminal { terminal_width().unwrap_or(PLAIN_WIDTH) } else { PLAIN_WIDTH };
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    Style { width: columns.unwrap_or(width).clamp(40, MOST_WIDTH), colour: colour_on(terminal) }
}

/// Whether text on standard error may be coloured.
pub fn err_colour() -> bool {
    colour_on(err_is_terminal())
}

/// Whether there is colour, whatever the terminal is; none leaves it to the terminal.
static COLOUR: OnceLock<Option<bool>> = OnceLock::new();

/// Asks for colour or for none, once and for all; `None` leaves it to the terminal.
pub fn use_colour(colour: Option<bool>) {
    let _ = COLOUR.set(colour);
}

fn colour_on(is_terminal: bool) -> bool {
    COLOUR.get().copied().flatten().unwrap_or_else(|| is_terminal && likes_colour())
}

/// See <https://no-color.org>.
fn likes_colour() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// The width of ministat's plot: `usual`, or on a terminal what `COLUMNS` says, or the terminal's width less two.
pub fn plot_width(usual: usize) -> usize {
    if !io::stdout().is_terminal() {
        return usual;
    }
    match std::env::var("COLUMNS") {
        Ok(columns) if !columns.is_empty() => columns.trim().parse().unwrap_or(0),
        _ => terminal_width().map_or(usual, |width| width.saturating_sub(2)),
    }
}

fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}
