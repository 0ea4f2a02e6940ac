//! What a bisection has found, in one line and as JSON. It knows no file, and decides nothing.

use super::args::Args;
use super::cost::TOOL_TRIALS;
use super::work::{ALPHA, MOST_BLOCKS, Work, named};
use crate::budget::{Budget, LARGER};
use bakeoff_building::{Commit, Commits};
use bakeoff_model::percent::percent;
use bakeoff_report::format::fixed;
use bakeoff_report::words::{counted, listed};
use bakeoff_searching::bisect::{Ending, Proof};
use serde_json::{Value, json};

/// A comparison has at most this number of trials: 12 blocks with each commit twice.
const COMPARING_TRIALS: u64 = 48;
/// No more commits are named.
const NAMED: usize = 5;

/// A change of a smaller part of the difference is not the only one.
const MOST: f64 = 0.8;

/// All that an answer is made of.
pub(super) struct Answer<'a> {
    pub(super) args: &'a Args,
    pub(super) commits: &'a Commits,
    pub(super) work: &'a Work<'a>,
}

impl Answer<'_> {
    /// The answer in the last line, and what goes before it.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        if self.work.print_other() {
            out += "note: good and bad print different things, so they may not do the same work\n";
        }
        if let Some(Ending::Proved(proof)) = self.work.bisection.ending() {
            let most = proof.interval[0].abs().max(proof.interval[1].abs()) / proof.whole.abs();
            if let Some(share) = share(proof).filter(|_| most < MOST) {
                let part = fixed(100.0 * share, 0);
                out += &format!("about {part} % of the difference between good and bad is due to this commit\n");
            }
            let next = self.compare(proof.pair, true).filter(|_| self.args.simulate.is_some() || !self.explains());
            out += &next.map_or(String::new(), |words| format!("next: bakeoff {}\n", shell_words::join(words)));
            if self.args.simulate.is_none() && self.comparison().is_some() {
                out += "above: new blocks of both commits; below: the blocks that proved the change\n";
            }
        }
        out + &self.line() + "\n"
    }

    fn line(&self) -> String {
        match self.work.bisection.ending() {
            Some(Ending::Proved(proof)) => self.proved(proof) + &self.about(),
            Some(Ending::Unproved { between, likely }) => self.unproved(*between, likely) + &self.about(),
            Some(Ending::NotShown(interval)) => self.not_shown(*interval) + &self.about(),
            None => String::new(),
        }
    }

    fn proved(&self, proof: &Proof) -> String {
        let [before, after] = proof.pair;
        let change = proof.estimate;
        let amount = |ln: f64| fixed(100.0 * if change > 0.0 { ln.exp_m1() } else { -ln.exp_m1() }, 1);
        let direction = if change > 0.0 { "slower" } else { "faster" };
        let [low, high] = proof.interval.map(amount);
        let [low, high] = if change > 0.0 { [low, high] } else { [high, low] };
        let blocks = counted(proof.blocks, "block");
        let by = format!("{} % {direction}", amount(change));
        let shown = format!("({} interval {low} to {high} %, {blocks})", percent(1.0 - ALPHA));
        if after - before == 1 {
            return format!("{} is {by} than its parent {shown}", named(&self.commits.all[after]));
        }
        let of = counted((after - before) as u32, "commit");
        let than = self.commits.all[before].short();
        let what = format!("one of these {of} made it {by} than {than} {shown}: {}", self.list(before + 1..=after));
        format!("{what}; {} cannot be built or run (use another --seed to try again)", self.list(before + 1..after))
    }

    fn unproved(&self, [good, bad]: [usize; 2], likely: &[usize]) -> String {
        let [from, to] = [good, bad].map(|at| self.commits.all[at].short());
        let left = match likely {
            [only] => format!("most likely {}", named(&self.commits.all[*only])),
            all => format!("most likely one of these {} commits: {}", all.len(), self.list(all.iter().copied())),
        };
        let inside = counted((bad - good) as u32, "commit");
        format!("not proved: {from} and {to}, {inside} apart, are shown to differ; {left}{}", self.budget())
    }

    fn not_shown(&self, [low, high]: [f64; 2]) -> String {
        let blocks = counted(self.work.bisection.blocks(), "block");
        let within = match low.is_finite() && high.is_finite() {
            true => {
                let [low, high] = [low, high].map(|ln| fixed(100.0 * ln.exp_m1(), 1));
                format!("bad takes {low} to {high} % longer ({} interval, {blocks})", percent(1.0 - ALPHA))
            }
            false => format!("too few blocks for an interval ({blocks})"),
        };
        format!("good and bad are not shown to differ: {within}{}", self.budget())
    }

    /// How to resume, if more blocks may help.
    fn budget(&self) -> &'static str {
        match self.args.budget {
            _ if self.work.bisection.blocks() >= MOST_BLOCKS => "",
            None => "; run the same command with a --budget for more blocks",
            Some(budget @ Budget::Builds(_)) if self.work.spent.share(budget) <= 0.5 => "",
            Some(_) => LARGER,
        }
    }

    /// What the answer is about.
    fn about(&self) -> String {
        let is_real = self.args.simulate.is_none();
        let simulated = if is_real { "" } else { " (SIMULATED)" };
        let are_files = is_real && self.args.builds() && self.work.is_laid_out == Some(false);
        format!("{}{simulated}", if are_files { "; this is about these binaries" } else { "" })
    }

    /// The commits, or the first and the last of many.
    fn list(&self, commits: impl Iterator<Item = usize>) -> String {
        let all: Vec<String> = commits.map(|at| self.commits.all[at].short().to_owned()).collect();
        match &all[..] {
            [first, .., last] if all.len() > NAMED => format!("{first} to {last}"),
            all => listed(all),
        }
    }

    /// The command of this program that compares the two commits of the proof, and says why they differ if the budget has
    /// room for that. There is none for a study.
    pub(super) fn comparison(&self) -> Option<Vec<String>> {
        let Some(Ending::Proved(proof)) = self.work.bisection.ending() else { return None };
        self.compare(proof.pair, self.explains()).filter(|_| self.work.has_room(COMPARING_TRIALS))
    }

    fn explains(&self) -> bool {
        self.work.has_room(COMPARING_TRIALS + 2 * TOOL_TRIALS)
    }

    fn compare(&self, pair: [usize; 2], explains: bool) -> Option<Vec<String>> {
        if self.args.study().is_some() {
            return None;
        }
        let mut words = vec!["compare".to_owned()];
        for commit in pair.map(|at| &self.commits.all[at]) {
            words.extend(["--git".to_owned(), commit.short().to_owned()]);
        }
        if let Some(repository) = &self.args.repository {
            words.extend(["--repository".to_owned(), repository.display().to_string()]);
        }
        words.extend(self.args.build.iter().flat_map(|build| ["--build".to_owned(), build.clone()]));
        words.extend(self.args.html.iter().flat_map(|file| ["--html".to_owned(), file.display().to_string()]));
        words.extend(explains.then(|| "--explain".to_owned()));
        words.extend(["--".to_owned(), self.args.command()]);
        Some(words)
    }

    fn commit(&self, at: usize) -> Value {
        let Commit { hash, subject } = &self.commits.all[at];
        json!({ "hash": hash, "subject": subject })
    }

    fn all(&self, which: &[usize]) -> Vec<Value> {
        which.iter().map(|at| self.commit(*at)).collect()
    }

    /// All of it. `kept` are the files of the search, relative to the state folder.
    pub(super) fn json(&self, kept: &str) -> Value {
        let (work, commits) = (self.work, self.commits);
        let last = commits.all.len() - 1;
        let mut found = match work.bisection.ending() {
            Some(Ending::Proved(proof)) => json!({
                "ending": "proved",
                "parent": self.commit(proof.pair[0]),
                "commit": self.commit(proof.pair[1]),
                "likely": self.all(&(proof.pair[0] + 1..=proof.pair[1]).collect::<Vec<_>>()),
                "estimate": proof.estimate.exp_m1(),
                "interval": proof.interval.map(f64::exp_m1),
                "proof_blocks": proof.blocks,
                "share": share(proof),
                "next": self.compare(proof.pair, true),
            }),
            Some(Ending::Unproved { between, likely }) => {
                json!({ "ending": "not proved", "between": self.all(between), "likely": self.all(likely) })
            }
            Some(Ending::NotShown(interval)) => {
                let interval = interval.iter().all(|end| end.is_finite()).then(|| interval.map(f64::exp_m1));
                json!({ "ending": "not shown", "interval": interval })
            }
            None => json!({}),
        };
        let skipped = |(at, why): (usize, String)| json!({ "commit": self.commit(at), "why": why });
        let counts = |(at, count): (&usize, &f64)| json!({ "commit": self.commit(*at), "instructions": count });
        let rest = json!({
            "format": 1,
            "good": self.commit(0),
            "bad": self.commit(last),
            "commits": last,
            "seed": self.args.seed,
            "confidence": 1.0 - ALPHA,
            "budget": self.args.budget.map(Budget::shown),
            "prints_other": work.print_other(),
            "simulated": self.args.simulate,
            "layouts": work.is_laid_out.map(|is_laid_out| if is_laid_out { "matched" } else { "as built" }),
            "counts": work.counts.iter().map(counts).collect::<Vec<_>>(),
            "uncounted": work.uncounted,
            "skipped": work.skipped().into_iter().map(skipped).collect::<Vec<_>>(),
            "blocks": work.bisection.blocks(),
            "trials": work.spent.trials,
            "builds": work.spent.builds,
            "seconds": work.spent.seconds(),
            "folder": kept,
            "answer": self.line(),
        });
        if let (Some(found), Value::Object(rest)) = (found.as_object_mut(), rest) {
            found.extend(rest);
        }
        found
    }
}

/// The part of the whole difference that a proved one is.
fn share(proof: &Proof) -> Option<f64> {
    let share = proof.estimate.abs() / proof.whole.abs();
    share.is_finite().then_some(share)
}
