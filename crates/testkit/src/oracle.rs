//! Asking an oracle: a script gets numbers on its standard input and prints numbers, one list a line.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test ends where something is not as it should be")]

use libtest_mimic::{Arguments, Trial};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One test.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// What the test is called.
    pub name: &'static str,
    /// Whom it asks.
    pub oracle: Oracle,
    /// The test; it panics where ours and theirs differ.
    pub check: fn(),
}

/// Whom to ask.
#[derive(Debug, Clone, Copy)]
pub enum Oracle {
    /// R with its `stats` package.
    R,
    /// Python with scipy and statsmodels, from the environment that `tools/oracles` makes.
    Python,
}

impl Oracle {
    fn command(self) -> Command {
        let (program, arguments): (PathBuf, &[&str]) = match self {
            Oracle::R => ("Rscript".into(), &["--vanilla"]),
            Oracle::Python => {
                let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
                let made = std::env::var_os("BAKEOFF_ORACLES").map_or(root.join("target/oracles"), PathBuf::from);
                (made.join("bin/python"), &[])
            }
        };
        let mut command = Command::new(program);
        command.args(arguments);
        command
    }

    /// Why it cannot be asked, if it cannot.
    pub fn missing(self) -> Option<String> {
        let silent = |command: &mut Command| command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        let found = match self {
            // `Rscript --vanilla --version` fails: it wants a file.
            Oracle::R => silent(self.command().args(["-e", "0"])),
            Oracle::Python => silent(self.command().args(["-c", "import scipy, statsmodels"])),
        };
        let hint = "`make test` installs it";
        (!found.is_ok_and(|status| status.success())).then(|| format!("{self:?} is not installed; {hint}"))
    }

    /// Runs the script at this path, hands it these lists of numbers, a line each, and returns what it prints.
    /// Numbers travel with all of their digits; `nan`, `inf` and R's `NA` are understood.
    pub fn ask(self, script: &str, lists: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let mut child =
            self.command().arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the oracle starts");
        let line = |list: &Vec<f64>| list.iter().map(f64::to_string).collect::<Vec<_>>().join(" ") + "\n";
        let input: String = lists.iter().map(line).collect();
        let mut stdin = child.stdin.take().unwrap();
        // Beside the reading of its answers, or two full pipes would wait for each other.
        let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
        let output = child.wait_with_output().unwrap();
        let _ = writer.join();
        assert!(output.status.success(), "{script} ended with {}", output.status);
        let text = String::from_utf8(output.stdout).unwrap();
        let number = |word: &str| match word {
            "NA" | "NaN" => f64::NAN,
            "Inf" => f64::INFINITY,
            "-Inf" => f64::NEG_INFINITY,
            word => word.parse().unwrap_or_else(|_| panic!("{script} printed {word:?}")),
        };
        text.lines().map(|line| line.split_whitespace().map(number).collect()).collect()
    }
}

/// Fails unless the two agree to a relative difference, or are both not a number.
#[track_caller]
pub fn assert_close(what: &str, ours: f64, theirs: f64, relative: f64) {
    let agree = ours == theirs
        || (ours.is_nan() && theirs.is_nan())
        || (ours - theirs).abs() <= relative * ours.abs().max(theirs.abs()).max(1e-300);
    assert!(agree, "{what}: {ours}, but the oracle says {theirs}");
}

/// Runs the tests, as their program's `main`.
pub fn main(cases: Vec<Case>) -> ! {
    let trial = |case: Case| {
        let missing = case.oracle.missing();
        let name = missing.as_ref().map_or(case.name.to_owned(), |why| format!("{} (skipped: {why})", case.name));
        let check = move || {
            (case.check)();
            Ok(())
        };
        Trial::test(name, check).with_ignored_flag(missing.is_some())
    };
    libtest_mimic::run(&Arguments::from_args(), cases.into_iter().map(trial).collect()).exit()
}
