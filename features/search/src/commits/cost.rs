//! What a bisection will cost, and how long it takes yet, by the medians of simulated ones.

use super::args::Args;
use crate::budget::{Budget, Spent};
use bakeoff_building::Commits;
use bakeoff_command::estimates::about;
use bakeoff_model::plain::clean;
use bakeoff_report::format::{count, waiting_time};
use bakeoff_report::words::counted;
use std::fmt::Write as _;

/// Blocks of good and bad that may show no difference.
pub(super) const ENDS_BLOCKS: u32 = 60;

/// Rows of the page: a change and the noise, and trials of simulated searches: in all cases, and for each halving.
const USUAL: [(&str, f64, f64); 2] = [("2 % at 1 % noise", 23.0, 22.0), ("1 % at 1 % noise", 50.0, 72.0)];

/// What a search will cost, for people.
pub(super) fn page(args: &Args, commits: &Commits) -> String {
    let n = commits.all.len() - 1;
    let mut out = format!("Which of {} changed the speed?\n", counted(n as u32, "commit"));
    for (what, commit) in [("good", &commits.all[0]), ("bad ", &commits.all[n])] {
        let _ = writeln!(out, "  {what}  {} {}", commit.short(), clean(&commit.subject));
    }
    let _ = writeln!(out, "  run   {}", clean(&args.command()));
    if let Some(build) = &args.build {
        let _ = writeln!(out, "  build {}", clean(build));
    }
    let halvings = halvings(n);
    let _ =
        writeln!(out, "\n  {:<34}{:>8}{:>10}{:>10}", "in the median, for a change of", "builds", "blocks", "trials");
    let builds = if args.build.is_some() { count(halvings as u64 + 2) } else { "-".to_owned() };
    for (what, all, each) in USUAL {
        let trials = all + each * halvings;
        let _ =
            writeln!(out, "  {what:<34}{builds:>8}{:>10}{:>10}", count((trials / 2.6) as u64), count(trials as u64));
    }
    let budget = args.budget.map_or("none; the search ends after 3,000 blocks".to_owned(), Budget::shown);
    let _ = writeln!(out, "\nBudget: {budget}; seed {}", args.seed);
    out + "Numbers are those of simulated searches. Bakeoff shows the time once the first\n\
           blocks have run. If the budget ends first, it names the commits that are left.\n"
}

fn halvings(commits: usize) -> f64 {
    (commits as f64).log2().ceil().max(1.0)
}

/// The trials that a search needs in the median, by how clear the difference is.
fn usual_trials(commits: usize, clarity: f64) -> f64 {
    let (_, all, each) = USUAL[usize::from(clarity < 1.0)];
    all + each * halvings(commits)
}

/// How long it takes yet, as a text; `clarity` is none until good and bad are shown to differ.
pub(super) fn time_left(commits: usize, spent: &Spent, clarity: Option<f64>) -> String {
    let Some(trial_s) = spent.trial_s() else { return "time unknown".to_owned() };
    let Some(clarity) = clarity else {
        let trials = (2 * u64::from(ENDS_BLOCKS)).saturating_sub(spent.trials);
        return format!("at most {} of this", waiting_time(trials as f64 * trial_s));
    };
    let trials = usual_trials(commits, clarity) - spent.trials as f64;
    let builds = (halvings(commits) + 2.0 - spent.builds as f64).max(0.0);
    let build_s = spent.building_s / spent.builds.max(1) as f64;
    format!("{} left", about(trials.max(4.0) * trial_s + builds * build_s))
}
