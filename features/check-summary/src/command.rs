//! `bakeoff check-summary`: published figures in, what they show out. It reads a file or standard input and executes
//! nothing.

use crate::check::{Follows, Outcome, Terms, check_summary};
use crate::page;
use crate::published::claim::Claim;
use crate::published::{Published, read};
use bakeoff_command::arguments::{confidence, margin};
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::screen;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// No published table is larger; what is, is another file.
const BYTES_MAX: u64 = 16 << 20;

/// Check published figures: are they possible, and what do they show?
///
/// Bakeoff reads published summaries of measurements (n, mean, sd, …). It checks whether the figures are possible at
/// all, computes the differences with their intervals, and judges your claims and equivalence within the margin. Each
/// published number stands for all values that would be printed with the same digits.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Args {
    /// The file to read [default: `-`, standard input]
    file: Option<PathBuf>,
    /// Judge this claim, such as 'B 1.4% slower than A'; repeat the option for more claims
    #[arg(long = "claim", short, value_name = "CLAIM", allow_hyphen_values = true)]
    claims: Vec<String>,
    /// Exit with 1 unless all figures are possible, and all claims and the conclusions printed with the figures are
    /// supported
    #[arg(long)]
    require: bool,
    /// Print all findings as JSON
    #[arg(long)]
    json: bool,
    /// Compare the other summaries with this one [default: the first summary of each quantity]
    #[arg(long, help_heading = "How to judge", value_name = "NAME")]
    baseline: Option<String>,
    /// The largest difference that does not matter, in percent; summaries that differ by less, either way, are
    /// equivalent
    #[arg(long, help_heading = "How to judge", value_name = "PERCENT", default_value = "1%", value_parser = margin)]
    margin: f64,
    /// Confidence level of the intervals
    #[arg(long, help_heading = "How to judge", value_name = "C", default_value = "0.95", value_parser = confidence)]
    confidence: f64,
    /// Treat higher values as better; by default, lower values are better unless their unit is a rate, such as ops/s
    #[arg(long, help_heading = "How to judge")]
    higher_is_better: bool,
}

const EXAMPLE: &str = "\
FILE may contain:
  - all of ministat's output, only its table, or several such tables under headings
  - a table with column titles; blanks, commas or bars separate the columns, and columns of words
    are allowed
  - one line for each system, with the names of its figures, as in the example below
  - one figure per line, such as `charge avg_t : 0.61`, below a line that names the system
  - output of BSD's `time -l`, below a line that names the system

Example:
  bakeoff check-summary --claim 'new 26% faster' --claim 'new = old' <<END
  old avg 0.203 min 0.187 max 0.295 n 75
  new avg 0.150 min 0.140 max 0.210 n 75
  END

Names of figures: n, min, max, median, avg (mean), sd (stddev). `-` stands for an unknown figure.
Bakeoff compares only figures of the same quantity and unit, and lists the lines that it did not
understand.

Claims: 'B slower', 'B 1.4% slower than A', 'B ~20% faster', 'A faster than B by 3.2 s',
'B 2x slower', 'B 3% higher', 'A = B', 'equally fast', 'equal within 0.5%', 'A differs from B',
'no difference', 'no significant difference'. If there are several quantities, put the quantity
first: 'charge: B slower'.";

pub(crate) fn execute(args: &Args) -> Result<Code, CommandError> {
    let (name, text) = text_of(args.file.as_deref())?;
    let refuse = |problems: bakeoff_model::problem::Problems| {
        CommandError::text(Code::Usage, problems.render(screen::err_colour()))
    };
    let published = read(&name, &text).map_err(refuse)?;
    let baseline = baseline(args, &published)?;
    let read_claim = |claim: &String| Claim::read(claim, &published.summaries, baseline).map_err(refuse);
    let claims = args.claims.iter().map(read_claim).collect::<Result<Vec<_>, _>>()?;
    let terms =
        Terms { baseline, margin: args.margin, confidence: args.confidence, more_is_better: args.higher_is_better };
    let findings = check_summary(&published, &claims, terms);
    let page =
        if args.json { page::check_summary_json(&findings)? } else { page::check_summary(&findings, screen::style()) };
    screen::page(&page, args.json);
    let hold = findings.summaries.iter().all(|summary| summary.impossible.is_none())
        && findings.stated.iter().all(|stated| stated.follows == Follows::Yes)
        && findings.claims.iter().all(|claim| claim.outcome == Outcome::Supported);
    Ok(if args.require && !hold { Code::GateFailed } else { Code::Done })
}

/// The name of what is read, for problems, and its text.
fn text_of(file: Option<&Path>) -> Result<(String, String), CommandError> {
    let file = file.filter(|path| *path != Path::new("-"));
    let name = file.map_or("standard input".to_owned(), |path| path.display().to_string());
    let mut bytes = vec![];
    let counted = match file {
        Some(path) => std::fs::File::open(path).and_then(|file| file.take(BYTES_MAX + 1).read_to_end(&mut bytes)),
        None => std::io::stdin().lock().take(BYTES_MAX + 1).read_to_end(&mut bytes),
    };
    if let Err(error) = counted {
        return Err(CommandError::usage(format!("cannot read {name}: {error}")));
    }
    if bytes.len() as u64 > BYTES_MAX {
        let error = CommandError::usage(format!("{name} is larger than {} MiB", BYTES_MAX >> 20));
        return Err(error.hint("give summaries (n, mean, sd), not lists of values; `bakeoff stat` reads lists"));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok((name, text.trim_start_matches('\u{feff}').to_owned())),
        Err(error) => {
            let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count();
            Err(CommandError::usage(format!("{name}: line {line} is not UTF-8"))
                .hint("convert the text with `iconv -t UTF-8`"))
        }
    }
}

fn baseline(args: &Args, published: &Published) -> Result<usize, CommandError> {
    let Some(wanted) = &args.baseline else { return Ok(0) };
    published.summaries.iter().position(|summary| summary.name == *wanted).ok_or_else(|| {
        let names = published.summaries.iter().map(|summary| summary.name.as_str());
        CommandError::usage(format!("there is no summary named `{wanted}`"))
            .hint(bakeoff_model::problem::suggest(wanted, names))
    })
}
