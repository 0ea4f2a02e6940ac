//! What a bisection will cost, and how long it takes yet, by the medians of simulated ones.

use super::args::Args;
use crate::budget::{Budget, Spent};
use bakeoff_building::Commits;
use bakeoff_command::estimates::about;
use bakeoff_model::plain::clean;
use bakeoff_report::format::{count, waiting_time};
use bakeoff_report::words::counted;

/// Blocks of good and bad that may show no difference, without a budget.
pub(super) const ENDS_BLOCKS: u32 = 200;

/// Counting with a tool takes as long as this many trials.
pub(super) const TOOL_TRIALS: u64 = 50;

/// Rows of the page: a change and the noise, and trials of simulated searches: in all cases, and for each halving.
const USUAL: [(&str, f64, f64); 2] = [("2 % at 1 % noise", 23.0, 22.0), ("1 % at 1 % noise", 50.0, 72.0)];

/// What a search will cost, for people.
pub(super) fn page(args: &Args, commits: &Commits) -> String {
    let n = commits.all.len() - 1;
    let mut out = match n {
        1 => "Did this commit change the speed?\n".to_owned(),
        n => format!("Which of {} changed the speed?\n", counted(n as u32, "commit")),
    };
    for (what, commit) in [("good", &commits.all[0]), ("bad ", &commits.all[n])] {
        out += &format!("  {what}  {} {}\n", commit.short(), clean(&commit.subject));
    }
    let of_study = args.study().map(|study| format!("the study {}", study.display()));
    out += &format!("  run   {}\n", clean(&of_study.unwrap_or_else(|| args.command())));
    if let Some(build) = &args.build {
        out += &format!("  build {}\n", clean(build));
    }
    let halvings = halvings(n);
    out += &format!("\n  {:<34}{:>8}{:>10}{:>10}\n", "in the median, for a change of", "builds", "blocks", "trials");
    let builds = if args.builds() { count(halvings as u64 + 2) } else { "-".to_owned() };
    for (what, all, each) in USUAL {
        let trials = all + each * halvings;
        out += &format!("  {what:<34}{builds:>8}{:>10}{:>10}\n", count((trials / 2.6) as u64), count(trials as u64));
    }
    let none = "none; ends after 3,000 blocks (200 if no difference shows)";
    let budget = args.budget.map_or(none.to_owned(), Budget::shown);
    out += &format!("\nBudget: {budget}; seed {}\n", args.seed);
    out + "Numbers are those of simulated searches. Bakeoff shows the time once the first\n\
           blocks have run. If the budget ends first, it names the commits that are left.\n"
}

fn halvings(commits: usize) -> f64 {
    (commits as f64).log2().ceil()
}

/// The row of a difference as clear as this.
fn usual(clarity: f64) -> (&'static str, f64, f64) {
    USUAL[usize::from(clarity < 1.0)]
}

/// Whether counts with a tool take less time than the trials of each halving that they are there for.
pub(super) fn are_counts_cheaper(commits: usize, clarity: f64) -> bool {
    let (_, _, each) = usual(clarity);
    TOOL_TRIALS as f64 * (halvings(commits) + 2.0) < each * halvings(commits)
}

/// How long it takes yet, as a text; `clarity` is none until good and bad are shown to differ.
pub(super) fn time_left(commits: usize, spent: &Spent, budget: Option<Budget>, clarity: Option<f64>) -> String {
    let Some(trial_s) = spent.trial_s() else { return "time unknown".to_owned() };
    let Some(clarity) = clarity else {
        let trials = (2 * u64::from(ENDS_BLOCKS)).saturating_sub(spent.trials);
        let left_s = budget.and_then(|budget| spent.left_s(budget)).unwrap_or(trials as f64 * trial_s);
        return format!("at most {} of this", waiting_time(left_s));
    };
    let (_, all, each) = usual(clarity);
    let trials = all + each * halvings(commits) - spent.trials as f64;
    let builds = (halvings(commits) + 2.0 - spent.builds as f64).max(0.0);
    let build_s = spent.building_s / spent.builds.max(1) as f64;
    format!("{} left", about(trials.max(4.0) * trial_s + builds * build_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_count_only_where_that_is_faster() {
        // A clear difference takes 22 trials for each halving, and a count 50.
        assert!(!are_counts_cheaper(1_000, 2.0));
        assert!(are_counts_cheaper(1_000, 0.5) && !are_counts_cheaper(8, 0.5));
    }
}
