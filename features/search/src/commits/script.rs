//! `bakeoff bisect --script`: the answer for the commit that Git has checked out, as an exit code for `git bisect run`. It is a
//! bisection of three commits: the change is before the one in the middle, or after it.

use super::args::Args;
use super::files::Files;
use super::work::{Work, named};
use crate::blocks::lock;
use bakeoff_building::Commits;
use bakeoff_command::{Code, CommandError, Registry, screen};
use bakeoff_searching::bisect::Ending;

/// Git takes most codes for "bad", so every error aborts its bisection.
pub(super) fn execute(args: &Args, features: &Registry) -> Result<Code, CommandError> {
    answer(args, features).map_err(|mut error| {
        error.code = error.code.worst(Code::Abort);
        error
    })
}

fn answer(args: &Args, features: &Registry) -> Result<Code, CommandError> {
    let Some(bad) = &args.bad else {
        return Err(CommandError::usage("--script needs --bad, because HEAD moves while Git bisects")
            .hint("name the bad commit by its hash, a tag or a branch"));
    };
    let commits = Commits::of(args.subject(features)?, &[&args.good, "HEAD", bad])?;
    let [good, own, bad] = [0, 1, 2].map(|at| &commits.all[at]);
    let tell = |code: Code, what: &str| {
        screen::out(&format!("{what}: {}\n", named(own)));
        Ok(code)
    };
    if own.hash == good.hash {
        return tell(Code::Done, "good");
    }
    if own.hash == bad.hash {
        return tell(Code::GateFailed, "bad");
    }
    let files = Files::of(args, &commits)?;
    let _lock = lock(&files.dir)?;
    let mut work = Work::of(args, &commits, &files, features)?;
    // A commit that cannot be built is skipped, however good and bad run.
    let built = work.build(&[0, 2]).and_then(|_| work.build(&[1]));
    let searched = built.and_then(|failed| if failed.is_empty() { work.search() } else { Ok(()) });
    work.finish(searched)?;
    if !work.skipped().is_empty() {
        return tell(Code::Untestable, "cannot be tested");
    }
    match work.bisection.ending() {
        Some(Ending::Proved(proof)) if proof.pair == [0, 1] => tell(Code::GateFailed, "bad"),
        Some(Ending::Proved(proof)) if proof.pair == [1, 2] => tell(Code::Done, "good"),
        Some(Ending::NotShown(_)) => {
            Err(CommandError::usage("good and bad are not shown to differ, so there is nothing to bisect")
                .hint("use a longer input, or commits that are further apart"))
        }
        _ => tell(Code::Untestable, "cannot be tested"),
    }
}
