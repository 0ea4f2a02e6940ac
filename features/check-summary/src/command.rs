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

/// Are these published figures possible, and what do they show?
///
/// Reads the figures that somebody printed about measurements, and works out what they are worth: whether such figures
/// are possible at all, the differences with their intervals, equivalence within the margin, and whether claims about
/// them hold. Each number stands for all values that could have been printed like that.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Args {
    /// The file; without one, or with `-`, standard input
    file: Option<PathBuf>,
    /// A claim to judge, such as 'B 1.4% slower than A'; repeat the option for more claims
    #[arg(long = "claim", short, value_name = "CLAIM", allow_hyphen_values = true)]
    claims: Vec<String>,
    /// The summary that the others are compared with; without it, the first of each quantity
    #[arg(long, value_name = "NAME")]
    baseline: Option<String>,
    /// Half-width of the zone of equivalence, in percent
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = margin)]
    margin: f64,
    /// Confidence of intervals
    #[arg(long, value_name = "C", default_value = "0.95", value_parser = confidence)]
    confidence: f64,
    /// Higher values are better; without this option, lower ones are faster, except where the unit is that of a rate, such as ops/s
    #[arg(long)]
    higher_is_better: bool,
    /// Exit with 1 unless all figures are possible, the lines printed with them follow from them, and all claims are
    /// supported
    #[arg(long)]
    require: bool,
    /// Print all findings as JSON instead of a page
    #[arg(long)]
    json: bool,
}

const EXAMPLE: &str = "\
FILE can hold ministat's whole output or its table, or several tables below headings; a table with
titles (blanks, commas or bars between the columns), which may also have columns of words; a line
for each system, with the names of its figures; one figure a line, such as `charge avg_t : 0.61`,
below a line that names the system; or lists of BSD's `time -l`, each below such a line:

  bakeoff check-summary --claim 'new 26% faster' --claim 'new = old' <<END
  old avg 0.203 min 0.187 max 0.295 n 75
  new avg 0.150 min 0.140 max 0.210 n 75
  END

Names of figures: n, min, max, median, avg (mean), sd (stddev). `-` stands for an unknown figure.
Only figures of the same quantity and unit are compared. The page says which lines were not read.

Claims: 'B slower', 'B 1.4% slower than A', 'B ~20% faster', 'A faster than B by 3.2 s',
'B 2x slower', 'B 3% higher', 'A = B', 'equally fast', 'equal within 0.5%', 'A differs from B',
'no difference', 'no significant difference'. If there are several quantities, a claim names
one: 'charge: B slower'.";

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
        let error = CommandError::usage(format!("{name} is longer than {} MiB", BYTES_MAX >> 20));
        return Err(error.hint("give the figures of a list (n, mean, sd), not the list; `bakeoff stat` reads lists"));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok((name, text.trim_start_matches('\u{feff}').to_owned())),
        Err(error) => {
            let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count();
            Err(CommandError::usage(format!("{name}, line {line}, is not UTF-8"))
                .hint("`iconv -t UTF-8` converts text"))
        }
    }
}

fn baseline(args: &Args, published: &Published) -> Result<usize, CommandError> {
    let Some(wanted) = &args.baseline else { return Ok(0) };
    published.summaries.iter().position(|summary| summary.name == *wanted).ok_or_else(|| {
        let names = published.summaries.iter().map(|summary| summary.name.as_str());
        CommandError::usage(format!("there is no summary `{wanted}`"))
            .hint(bakeoff_model::problem::suggest(wanted, names))
    })
}
