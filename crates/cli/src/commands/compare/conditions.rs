//! The condition under which commands are compared, and how each of them is executed: its shell, its input and output,
//! its environment, and what counts as failing.

use bakeoff_command::error::CommandError;
use bakeoff_command::screen;
use bakeoff_model::plain::clean;
use bakeoff_model::plan::Shell;
use bakeoff_model::study::{Condition, ExitCodes, LoadOf, LoadSpec, OutputUse};
use bakeoff_model::study_file::cpus;
use bakeoff_report::words::counted;
use std::collections::BTreeMap;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

/// How commands run
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Running commands")]
pub(super) struct Execution {
    /// Run every command with this shell and these options; `default` uses sh for commands that need a shell, and
    /// `none` is the same as -N
    #[arg(long, short = 'S', value_name = "SHELL", default_value = "default", conflicts_with = "no_shell")]
    shell: String,
    /// Run every command without a shell
    #[arg(short = 'N', id = "no_shell")]
    no_shell: bool,
    /// Exit codes not to treat as failure, such as 1,2; without CODES, no exit code is a failure
    #[arg(long, short, value_name = "CODES", num_args = 0..=1, require_equals = true, default_missing_value = "all",
          value_parser = exit_codes)]
    ignore_failure: Option<Accepted>,
    /// Standard input of the commands: a file, or `null` for none
    #[arg(long, value_name = "FILE", default_value = "null")]
    input: PathBuf,
    /// What to do with standard output: `compared` (compare it with the baseline's), `varies` (record it), or `null`
    /// (discard it)
    ///
    /// For users of hyperfine: `pipe` is the same as `compared`, and `inherit` also shows the output.
    #[arg(long, value_name = "WHAT", default_value = "compared", value_parser = output)]
    output: Vec<Printed>,
    /// Show the output of the commands after each trial
    #[arg(long, conflicts_with = "output")]
    show_output: bool,
    /// Set an environment variable for every command; repeat the option to set several
    #[arg(long, value_name = "NAME=VALUE", value_parser = variables)]
    env: Vec<Assignments>,
    /// Run the commands in this folder
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Kill a trial after this many seconds, and mark it as failed
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) timeout: Option<f64>,
}

/// What becomes of what the commands print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Printed {
    Compared,
    Varies,
    Null,
    Shown,
}

/// Exit codes, as one argument.
#[derive(Debug, Clone)]
struct Accepted(ExitCodes);

impl Execution {
    pub(super) fn shell(&self) -> Result<Shell, CommandError> {
        match self.shell.as_str() {
            _ if self.no_shell => Ok(Shell::Never),
            "none" => Ok(Shell::Never),
            "default" => Ok(Shell::IfNeeded),
            shell => match shell_words::split(shell).is_ok_and(|words| !words.is_empty()) {
                true => Ok(Shell::Always(shell.to_owned())),
                false => Err(CommandError::usage(format!("`{}` is not a shell", clean(shell))).hint(
                    "give the shell's name and options, such as --shell 'bash --norc'; for hyperfine 2.0's -S, use \
                     --shell default",
                )),
            },
        }
    }

    /// A command that is executed without a shell must be divided into words.
    pub(super) fn check(&self, commands: &[&str]) -> Result<(), CommandError> {
        if self.shell()? != Shell::Never {
            return Ok(());
        }
        let is_odd = |command: &&&str| !shell_words::split(command).is_ok_and(|words| !words.is_empty());
        match commands.iter().find(is_odd) {
            None => Ok(()),
            Some(odd) => Err(CommandError::usage(format!("`{}` cannot be split into words", clean(odd)))
                .hint("close its quotation marks, or omit -N and --shell none")),
        }
    }

    pub(super) fn exit_codes(&self) -> ExitCodes {
        self.ignore_failure.clone().map(|accepted| accepted.0).unwrap_or_default()
    }

    /// The file that is standard input, as the commands' folder names it.
    pub(super) fn input(&self) -> Result<Option<String>, CommandError> {
        if self.input == Path::new("null") {
            return Ok(None);
        }
        let wrong = |why: String| {
            CommandError::usage(format!("the input {}: {why}", clean(&self.input.display().to_string())))
                .hint("--input takes a readable file or `null`, not a pipe, because a pipe can be read only once")
        };
        let path = std::path::absolute(&self.input).map_err(|error| wrong(error.to_string()))?;
        let file = std::fs::File::open(&path).map_err(|error| wrong(error.to_string()))?;
        match file.metadata() {
            Ok(found) if !found.is_file() => Err(wrong("it is not a file".to_owned())),
            Err(error) => Err(wrong(error.to_string())),
            Ok(_) => match path.to_str() {
                Some(path) => Ok(Some(path.to_owned())),
                None => Err(wrong("its name is not UTF-8".to_owned())),
            },
        }
    }

    pub(super) fn output(&self) -> OutputUse {
        match self.output.first() {
            None | Some(Printed::Compared | Printed::Shown) => OutputUse::Noted,
            Some(Printed::Varies) => OutputUse::Varies,
            Some(Printed::Null) => OutputUse::Null,
        }
    }

    pub(super) fn is_shown(&self) -> bool {
        self.show_output || self.output.contains(&Printed::Shown)
    }

    /// What is given once for each command must be the same for all, because all are executed alike.
    pub(super) fn check_alike(&self, commands: usize, parameters: &[String]) -> Result<(), CommandError> {
        let given = self.output.len();
        if given > 1 && (given != commands || self.output.iter().any(|one| *one != self.output[0])) {
            let error = match given == commands {
                true => "--output cannot differ between commands".to_owned(),
                false => format!("--output is given {given} times for {}", counted(commands as u32, "command")),
            };
            return Err(CommandError::usage(error).hint("give --output once; it applies to all commands"));
        }
        let all = || self.env.iter().flat_map(|one| &one.0);
        let clash = all().find(|(name, value)| all().any(|(other, another)| name == other && value != another));
        let has = |value: &str| parameters.iter().any(|name| value.contains(&format!("{{{name}}}")));
        let Some((name, value)) = clash.or_else(|| all().find(|(_, value)| has(value))) else { return Ok(()) };
        let error = format!("--env can set {} to only one value", clean(name));
        Err(CommandError::usage(error).hint(format!(
            "set the variable in each command: 'env {}={} COMMAND'",
            clean(name),
            clean(value)
        )))
    }

    /// Says so if there is something on standard input, which no command gets.
    pub(super) fn note_unread_input(&self) {
        let given = std::fs::metadata("/dev/stdin").is_ok_and(|about| about.is_file() || about.file_type().is_fifo());
        if given && self.input == Path::new("null") {
            screen::err(
                "note: the commands do not read Bakeoff's standard input; use --input FILE to give each command a \
                    file\n",
            );
        }
    }

    pub(super) fn environment(&self) -> BTreeMap<String, String> {
        // A variable that is not text cannot be handed on; no program of ours could name it.
        let own = std::env::vars_os().filter_map(|(n, v)| Some((n.into_string().ok()?, v.into_string().ok()?)));
        own.chain(self.env.iter().flat_map(|one| one.0.clone())).collect()
    }

    pub(super) fn folder(&self) -> Result<PathBuf, CommandError> {
        let here =
            std::env::current_dir().map_err(|error| CommandError::new(bakeoff_command::Code::Internal, error))?;
        let Some(folder) = &self.cwd else { return Ok(here) };
        let folder = here.join(folder);
        match folder.is_dir() {
            true => Ok(folder),
            false => Err(CommandError::usage(format!("{} is not a folder", clean(&folder.display().to_string())))
                .hint("set --cwd to an existing folder")),
        }
    }
}

fn exit_codes(text: &str) -> Result<Accepted, String> {
    if ["all", "all-non-zero"].contains(&text) {
        return Ok(Accepted(ExitCodes::Any));
    }
    let codes: Option<Vec<u8>> = text.split(',').map(|code| code.trim().parse().ok()).collect();
    let mut codes = codes
        .ok_or_else(|| "expected `all`, or exit codes from 0 to 255 separated by commas, such as 1,2".to_owned())?;
    codes.insert(0, 0);
    codes.sort_unstable();
    codes.dedup();
    Ok(Accepted(ExitCodes::Only(codes)))
}

fn output(text: &str) -> Result<Printed, String> {
    match text {
        "compared" | "pipe" => Ok(Printed::Compared),
        "varies" => Ok(Printed::Varies),
        "null" => Ok(Printed::Null),
        "inherit" => Ok(Printed::Shown),
        _ => Err(format!(
            "expected compared, varies, null, pipe or inherit; to keep a command's output, write the command as \
             'COMMAND > {}'",
            clean(text)
        )),
    }
}

/// Variables, as one argument.
#[derive(Debug, Clone)]
struct Assignments(Vec<(String, String)>);

/// One assignment; or several with blanks between, quoted as in a shell.
fn variables(text: &str) -> Result<Assignments, String> {
    let variable = |text: &str| match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Some((name.to_owned(), value.to_owned())),
        _ => None,
    };
    let words = shell_words::split(text).unwrap_or_default();
    let several: Option<Vec<(String, String)>> = words.iter().map(|word| variable(word)).collect();
    let found = several.filter(|_| words.len() > 1 || text.is_empty()).or_else(|| Some(vec![variable(text)?]));
    found.map(Assignments).ok_or_else(|| "expected a variable and its value, such as LC_ALL=C".to_owned())
}

fn seconds(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|s| *s > 0.0 && *s <= 1e6);
    number.ok_or_else(|| "expected a number of seconds above 0 and up to 1000000, such as 10".to_owned())
}

/// The condition under which the commands are compared; by default, the machine as it is
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Condition")]
pub(super) struct InCondition {
    /// Run N processes of a command at once; the trial ends when the last one ends
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    processes: u32,
    /// Keep N copies of the baseline running during each trial, as load
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=256))]
    copies: u32,
    /// Run trials on these processors only, such as 0,2-3
    #[arg(long, value_name = "LIST", value_parser = processors)]
    cpus: Option<Processors>,
    /// Disable address-space randomisation
    #[arg(long)]
    no_aslr: bool,
}

/// A list of processors, as one argument.
#[derive(Debug, Clone)]
struct Processors(Vec<u32>);

impl InCondition {
    pub(super) fn condition(&self) -> Condition {
        let spec = LoadSpec { copies: self.copies, of: LoadOf::Baseline, pace_s: None, cpus: None };
        let condition = Condition {
            load: (self.copies > 0).then_some(spec),
            processes: self.processes,
            cpus: self.cpus.clone().map(|cpus| cpus.0),
            aslr: self.no_aslr.then_some(false),
            ..Condition::default()
        };
        let plain = Condition { processes: 1, ..Condition::default() };
        let name = if condition == plain { "idle" } else { "as asked" };
        Condition { name: name.to_owned(), ..condition }
    }
}

fn processors(text: &str) -> Result<Processors, String> {
    let why = || "expected processor numbers or ranges separated by commas, such as 0,2-3".to_owned();
    cpus(text).map(Processors).ok_or_else(why)
}
