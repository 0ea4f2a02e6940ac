//! `bakeoff stat --ministat`: the same text, options and exit codes as ministat. Its messages are its own, byte for
//! byte, and so are its defects; where one of them matters for the data at hand, a note on standard error says so.

use crate::args::Args;
use crate::arithmetic::{Edition, Relative, Vitals};
use crate::page::{self, Look, SETS_MAX, Set};
use crate::reading;
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::screen;
use bakeoff_stats::ministat::LEVELS;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::unix::ffi::OsStrExt as _;

/// 99.5, which is not what it says.
const WRONG_LEVEL: usize = LEVELS.len() - 1;
/// What is read at a time.
const BUFFER_BYTES: usize = 1 << 18;

pub(crate) fn execute(args: &Args, edition: Edition) -> Result<Code, CommandError> {
    let wishes = Wishes::of(args, edition)?;
    let stdin = [OsStr::new("-")];
    let files: Vec<&OsStr> = match args.files.as_slice() {
        [] => stdin.to_vec(),
        files => files.iter().map(|file| file.as_os_str()).collect(),
    };
    if files.len() > SETS_MAX {
        return Err(usage(edition, "Too many datasets."));
    }
    let look = Look {
        edition,
        level: wishes.level,
        plot: (!args.own.raw && !args.own.no_plot).then_some(wishes.width),
        separate_bars: args.own.separate,
        compare: !args.own.raw,
        quiet: args.own.quiet,
    };
    let data = read_all(&files, &wishes, edition)?;
    let sets: Vec<Set<'_>> =
        data.iter().map(|data| Set { name: data.name.as_bytes(), values: &data.values, vitals: data.vitals }).collect();
    let text = page::ministat(&sets, look).map_err(|_| {
        let hint =
            "use -A to omit the plot; or omit --ministat, and Bakeoff will describe the data or explain why it cannot";
        CommandError::usage("ministat crashes with this data or at this width, so there is no plot to print").hint(hint)
    })?;
    screen::out_bytes(&text);
    screen::err(&notes(&data, look));
    Ok(Code::Done)
}

/// What the options say, once ministat has accepted them.
struct Wishes {
    column: usize,
    delimiters: Vec<u8>,
    level: usize,
    width: usize,
}

impl Wishes {
    fn of(args: &Args, edition: Edition) -> Result<Self, CommandError> {
        let whine = |text| usage(edition, text);
        let mut wishes = Self { column: 1, delimiters: b" \t".to_vec(), level: usize::MAX, width: 74 };
        for text in &args.columns {
            match integer(text.as_bytes()).ok_or_else(|| whine("Invalid column number."))? {
                ..=0 => return Err(whine("Column number should be positive.")),
                column => wishes.column = column as usize,
            }
        }
        for text in &args.confidence {
            let text = text.as_bytes();
            // C's strtod takes nothing at all for 0.
            let percent = if text.is_empty() { Some(0.0) } else { reading::strtod(text) };
            let percent = percent.ok_or_else(|| whine("Not a floating point number"))?;
            wishes.level = LEVELS.iter().position(|level| *level == percent).unwrap_or(wishes.level);
            if wishes.level == usize::MAX {
                return Err(whine("No support for confidence level"));
            }
        }
        for text in &args.delimiters {
            if text.is_empty() {
                return Err(whine("Can't use empty delimiter string"));
            }
            wishes.delimiters = text.as_bytes().to_vec();
        }
        wishes.width = screen::plot_width(wishes.width);
        for text in &args.own.width {
            match integer(text.as_bytes()).ok_or_else(|| whine("Invalid width, not a number."))? {
                ..0 => return Err(whine("Unable to move beyond left margin.")),
                width => wishes.width = width as usize,
            }
        }
        wishes.level = if wishes.level == usize::MAX { 2 } else { wishes.level };
        Ok(wishes)
    }
}

/// C's `strtol`, of which the lower 32 bits are taken; nothing at all is 0.
fn integer(text: &[u8]) -> Option<i32> {
    let text = std::str::from_utf8(text).ok()?;
    let text = text.trim_start_matches([' ', '\t', '\n', '\u{b}', '\u{c}', '\r']);
    if text.is_empty() {
        return Some(0);
    }
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let saturated = if text.starts_with('-') { i64::MIN } else { i64::MAX };
    Some(text.parse::<i64>().unwrap_or(saturated) as i32)
}

/// What ministat says before it gives up, and with which exit code.
type Complaint = (Code, String);

/// One file, read and looked at.
struct Data<'a> {
    name: &'a OsStr,
    values: Vec<f64>,
    vitals: Vitals,
    /// Variance in two passes, to compare with.
    honest_variance: f64,
}

/// Reads all files, several at a time; of what goes wrong, the first file's counts.
fn read_all<'a>(files: &[&'a OsStr], wishes: &Wishes, edition: Edition) -> Result<Vec<Data<'a>>, CommandError> {
    std::thread::scope(|scope| {
        let read = |&file: &&'a OsStr| scope.spawn(move || read(file, wishes, edition));
        let readers: Vec<_> = files.iter().map(read).collect();
        let join = |reader: std::thread::ScopedJoinHandle<'_, Result<Data<'a>, Complaint>>| {
            let read = reader.join().unwrap_or_else(|_| Err((Code::Internal, "error: a reader failed\n".to_owned())));
            read.map_err(|(code, text)| CommandError::text(code, text))
        };
        readers.into_iter().map(join).collect()
    })
}

fn read<'a>(file: &'a OsStr, wishes: &Wishes, edition: Edition) -> Result<Data<'a>, Complaint> {
    let (name, mut reader): (&OsStr, Box<dyn BufRead>) = match file.as_bytes() {
        b"-" => (OsStr::new("<stdin>"), Box::new(BufReader::with_capacity(BUFFER_BYTES, io::stdin()))),
        _ => {
            let opened = File::open(file).map_err(|error| cannot_open(file, &error, edition))?;
            (file, Box::new(BufReader::with_capacity(BUFFER_BYTES, opened)))
        }
    };
    let shown = name.to_string_lossy();
    let mut values = reading::read(&mut *reader, wishes.column, &wishes.delimiters)
        .map_err(|invalid| (Code::Usage, format!("ministat: Invalid data on line {} in {shown}\n", invalid.line)))?;
    let too_few = || (Code::Usage, format!("Dataset {shown} must contain at least 3 data points\n"));
    if values.len() < 3 {
        return Err(too_few());
    }
    let vitals = Vitals::new(&mut values, edition).ok_or_else(too_few)?;
    let n = values.len() as f64;
    let honest_variance = values.iter().map(|a| (a - vitals.mean).powi(2)).sum::<f64>() / (n - 1.0);
    Ok(Data { name, values, vitals, honest_variance })
}

fn cannot_open(file: &OsStr, error: &io::Error, edition: Edition) -> Complaint {
    let reason = error.to_string();
    let reason = reason.split(" (os error").next().unwrap_or_default();
    let code = if edition == Edition::Legacy { Code::GateFailed } else { Code::Usage };
    (code, format!("ministat: Cannot open {}: {reason}\n", file.to_string_lossy()))
}

/// Its complaint, and how it wants to be used.
fn usage(edition: Edition, whine: &str) -> CommandError {
    let (flags, more) = match edition {
        Edition::Legacy => ("Ans", ""),
        Edition::Freebsd => ("Anqs", "\t-q : suppress printing summary-statistics headers and data-set names\n"),
    };
    let text = format!(
        "{whine}\nUsage: ministat [-C column] [-c confidence] [-d delimiter(s)] [-{flags}] [-w width] [file [file \
         ...]]\n\tconfidence = {{80%, 90%, 95%, 98%, 99%, 99.5%}}\n\t-A : print statistics only. suppress the \
         graph.\n\t-C : column number to extract (starts and defaults to 1)\n\t-d : delimiter(s) string, default to \
         \" \\t\"\n\t-n : print summary statistics only, no graph/test\n{more}\t-s : print avg/median/stddev bars on \
         separate lines\n\t-w : width of graph/test output (default 74 or terminal width)\n"
    );
    CommandError::text(Code::Usage, text)
}

/// The defects that these data meet, each in a line.
fn notes(data: &[Data<'_>], look: Look) -> String {
    let legacy = look.edition == Edition::Legacy;
    let mut notes = vec![];
    let inexact = |data: &&Data<'_>| {
        let (theirs, honest) = (data.vitals.variance, data.honest_variance);
        // Written so that what is not a number counts.
        honest.is_finite() && (theirs.is_nan() || (theirs - honest).abs() > 1e-6 * honest)
    };
    if let Some(data) = data.iter().find(inexact).filter(|_| legacy) {
        notes.push(format!(
            "the standard deviation of {} is {:.7}, not the printed value, because ministat's one-pass computation \
                loses digits if values are far from 0",
            data.name.to_string_lossy(),
            data.honest_variance.sqrt()
        ));
    }
    let compared = || {
        let others = if look.compare { data.get(1..).unwrap_or_default() } else { &[] };
        others.iter().map(|set| (set, Relative::new(&set.vitals, &data[0].vitals, look.level, look.edition)))
    };
    if look.level == WRONG_LEVEL && compared().next().is_some() {
        let misprinted = compared().any(|(set, _)| (5..=12).contains(&(set.vitals.n + data[0].vitals.n - 2)));
        let misprint = if misprinted { "; its table also has misprints for samples this small" } else { "" };
        notes.push(format!(
            "ministat's 99.5% confidence level is really 99.8%, because ministat uses the quantile t(.999){misprint}"
        ));
    }
    let understated = compared().find_map(|(set, theirs)| {
        let better = Relative::new(&set.vitals, &data[0].vitals, look.level, Edition::Freebsd);
        let off = (better.percent_half_width / theirs.percent_half_width - 1.0).abs() > 0.01;
        (legacy && theirs.differs() && off).then(|| better.percent_half_width.abs())
    });
    if let Some(percent) = understated {
        notes.push(format!(
            "the uncertainty of the percentage should be ± {percent:.4}%, but ministat treats the mean of the first set as exact"
        ));
    }
    if compared().any(|(_, relative)| !relative.differs()) {
        notes.push(
            "according to ministat's manual, \"no difference proven\" does not mean \"identical\"; without \
                --ministat, Bakeoff also judges equivalence"
                .to_owned(),
        );
    }
    notes.into_iter().map(|note| format!("note: {note}\n")).collect()
}
