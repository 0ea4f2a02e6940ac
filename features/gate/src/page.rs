//! A gate in one paragraph: what it comes to, and why, in the words of the report. Plain text; it decides nothing.

use crate::decision::{Broken, Case, Decision, Gate, JudgedSlowdown, Open, Outcome, Passed};
use bakeoff_judge::findings::Verdict;
use bakeoff_model::metric::{Direction, Unit};
use bakeoff_model::percent::percent;
use bakeoff_model::plain::clean;
use bakeoff_model::record::SameIn;
use bakeoff_report::draw::text::wrap;
use bakeoff_report::format::{fixed, signed};
use bakeoff_report::words::{Wording, counted, listed, metric_in, same_program, subject};
use std::collections::BTreeSet;

/// Of more cases than this, the rest is only counted.
const CASES_SHOWN: usize = 3;

/// No percentage shows more decimals.
const MOST_DECIMALS: usize = 6;

/// The paragraph, broken to fit, with a line feed at its end.
pub(crate) fn paragraph(gate: &Gate, columns: usize) -> String {
    wrap(&text(gate), columns, 0).into_iter().map(|line| line + "\n").collect()
}

/// The same in one line.
pub(crate) fn text(gate: &Gate) -> String {
    let words = Words::of(gate);
    let mut sentences = match gate.outcome {
        Outcome::Passes => words.passes(),
        Outcome::Fails => words.fails(),
        Outcome::Undecided => words.undecided(),
        Outcome::Broken => words.broken(),
    };
    sentences.extend(words.others());
    sentences.extend(words.prints_otherwise());
    sentences.join(" ")
}

/// Why a case is what it is, in one line: for JUnit.
pub(crate) fn of_case(gate: &Gate, case: &Case) -> String {
    Words::of(gate).case(case)
}

/// How the cases of one gate are named.
struct Words<'a> {
    gate: &'a Gate,
    wording: Wording,
    names_workload: bool,
    names_condition: bool,
}

impl<'a> Words<'a> {
    fn of(gate: &'a Gate) -> Self {
        let several = |name: fn(&Case) -> &str| gate.cases.iter().map(name).collect::<BTreeSet<_>>().len() > 1;
        Self {
            gate,
            wording: Wording::of(gate.unit.unwrap_or(Unit::Seconds), gate.better),
            names_workload: several(|case| &case.workload),
            names_condition: several(|case| &case.condition),
        }
    }

    fn baseline(&self) -> String {
        subject(&clean(&self.gate.baseline))
    }

    fn metric(&self) -> String {
        let name = clean(&self.gate.metric);
        self.gate.unit.map_or(name.clone(), |unit| metric_in(&name, unit).to_owned())
    }

    /// ` on loop under idle`, as far as that needs to be said.
    fn place(&self, case: &Case) -> String {
        let mut place = String::new();
        if self.names_workload {
            place += &format!(" on {}", clean(&case.workload));
        }
        if self.names_condition {
            place += &format!(" under {}", clean(&case.condition));
        }
        place
    }

    /// `after on loop`.
    fn name(&self, case: &Case) -> String {
        clean(&case.variant) + &self.place(case)
    }

    /// `at most 0.6 % slower`, for the end of an interval that counts.
    fn amount(&self, slowdown: f64, decimals: usize) -> String {
        let side = if slowdown < 0.0 { Verdict::Faster } else { Verdict::Slower };
        format!("{} % {}", fixed(100.0 * slowdown.abs(), decimals), self.wording.verdict(side))
    }

    /// `95 % interval −0.4 … +0.6 %; limit 2 %`.
    fn numbers(&self, case: &Case, seen: &JudgedSlowdown) -> String {
        let limit = format!("limit {}", self.limit(case));
        let decimals = decimals(seen, case.limit);
        let Some([low, high]) = seen.interval else {
            return format!("no interval from {}; {limit}", counted(seen.blocks, "block"));
        };
        // As the report has it: of a yield, less is worse.
        let [low, high] = if self.gate.better == Direction::More { [-high, -low] } else { [low, high] };
        let [low, high] = [low, high].map(|end| signed(100.0 * end, decimals));
        format!("{} interval {low} … {high} %; {limit}", percent(seen.confidence))
    }

    /// The limit as a change of the metric.
    fn limit(&self, case: &Case) -> String {
        let sign = if self.gate.better == Direction::More { "−" } else { "+" };
        format!("{sign}{}", percent(case.limit))
    }

    fn passes(&self) -> Vec<String> {
        let gate = self.gate;
        let compared: Vec<(&Case, &JudgedSlowdown)> =
            gate.cases.iter().filter_map(|c| Some((c, c.seen.as_ref()?))).collect();
        let distance =
            |(case, seen): &(&Case, &JudgedSlowdown)| case.limit - seen.interval.map_or(seen.slowdown, |ends| ends[1]);
        let Some((case, seen)) = compared.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))) else {
            return vec![format!("The gate passes: {}.", self.same_program())];
        };
        let bounded = self.bounded(case, seen, true);
        if gate.cases.len() == 1 {
            return vec![format!("The gate passes: in {}, {bounded}.", self.metric())];
        }
        let mut sentences = vec![format!(
            "The gate passes: in {}, a slowdown beyond the limit is excluded in {} of {}. Closest to its limit: \
             {bounded}.",
            self.metric(),
            compared.len(),
            counted(gate.cases.len() as u32, "comparison"),
        )];
        if self.same().next().is_some() {
            sentences.push(format!("Of the rest, {}.", self.same_program()));
        }
        sentences
    }

    fn same(&self) -> impl Iterator<Item = &Case> {
        self.gate.cases.iter().filter(|case| same_in(case).is_some())
    }

    /// Which variants are the same program as the baseline.
    fn same_program(&self) -> String {
        let names = names(self.same());
        let it = if names.len() == 1 { "it" } else { "they" };
        let is_code = self.same().any(|case| same_in(case) == Some(SameIn::Code));
        let how = if is_code { SameIn::Code } else { SameIn::Files };
        format!("{}, so {it} cannot be slower", same_program(names, &self.baseline(), how))
    }

    /// `after is at most 0.6 % slower than the baseline (…)`, or at least so much where that is the end that counts. What
    /// loses at most less than nothing gains at least that.
    fn bounded(&self, case: &Case, seen: &JudgedSlowdown, is_most: bool) -> String {
        let (bound, amount, why) = match seen.interval {
            None => ("", seen.slowdown, self.exact(case, seen)),
            Some([_, high]) if is_most && high >= 0.0 => ("at most ", high, self.numbers(case, seen)),
            Some([low, high]) => ("at least ", if is_most { high } else { low }, self.numbers(case, seen)),
        };
        let (amount, verb) = (self.amount(amount, decimals(seen, case.limit)), self.wording.verb()[0]);
        format!("{} {verb} {bound}{amount} than {} ({why})", self.name(case), self.baseline())
    }

    fn exact(&self, case: &Case, seen: &JudgedSlowdown) -> String {
        let why = match seen.confidence < 1.0 {
            true => format!("no variation in {}", counted(seen.blocks, "block")),
            false => "exact".to_owned(),
        };
        format!("{why}; limit {}", self.limit(case))
    }

    fn fails(&self) -> Vec<String> {
        let shown: Vec<String> = self.shown(Outcome::Fails);
        let mut sentences = vec![format!("The gate fails: in {}, {}.", self.metric(), listed(&shown))];
        if self.gate.cases.len() > 1 {
            let error = percent(1.0 - self.gate.confidence);
            let all = counted(self.gate.cases.len() as u32, "comparison");
            sentences.push(format!("Across all {all}, a gate fails by mistake in at most {error} of studies."));
        }
        sentences
    }

    fn undecided(&self) -> Vec<String> {
        let gate = self.gate;
        let [finished, total] = gate.blocks;
        if gate.with(Outcome::Undecided).any(|case| case.decision == Decision::Undecided(Open::Unfinished)) {
            let missing = total.saturating_sub(finished);
            let be = if missing == 1 { "is" } else { "are" };
            return vec![format!(
                "The gate is undecided: {} of the plan {be} missing ({finished} of {total} done). Run the study again \
                 to resume it.",
                counted(missing, "block"),
            )];
        }
        let shown = self.shown(Outcome::Undecided);
        let mut sentences = vec![format!("The gate is undecided: in {}, {}.", self.metric(), listed(&shown))];
        let is_open = |case: &&Case| matches!(case.decision, Decision::Undecided(Open::Interval { .. }));
        if gate.with(Outcome::Undecided).any(|case| is_open(&case)) {
            sentences.push(match gate.more_blocks {
                Some(more) => format!("About {} would probably suffice.", counted(more, "more block")),
                None => {
                    "More blocks would probably not help, because the noise is too large or the slowdown is too close \
                     to the limit."
                        .to_owned()
                }
            });
        }
        sentences
    }

    fn broken(&self) -> Vec<String> {
        vec![format!("The gate does not pass: {}.", listed(&self.shown(Outcome::Broken)))]
    }

    /// The first cases of that outcome, and the number of the rest.
    fn shown(&self, outcome: Outcome) -> Vec<String> {
        let mut shown: Vec<String> = vec![];
        for case in self.gate.with(outcome) {
            let text = self.case(case);
            if !shown.contains(&text) {
                shown.push(text);
            }
        }
        if shown.len() > CASES_SHOWN + 1 {
            let rest = shown.len() - CASES_SHOWN;
            shown.truncate(CASES_SHOWN);
            shown.push(format!("{rest} more"));
        }
        shown
    }

    /// How many cases have another outcome, where some are worse.
    fn others(&self) -> Option<String> {
        let mut parts = vec![];
        for (outcome, words) in
            [(Outcome::Fails, ["fails", "fail"]), (Outcome::Undecided, ["is undecided", "are undecided"])]
        {
            let number = self.gate.with(outcome).count();
            if outcome < self.gate.outcome && number > 0 {
                parts.push(format!("{number} {}", words[usize::from(number > 1)]));
            }
        }
        let of = counted(self.gate.cases.len() as u32, "comparison");
        (!parts.is_empty()).then(|| format!("Of {of}, {}.", listed(&parts)))
    }

    fn prints_otherwise(&self) -> Option<String> {
        let names = names(self.gate.cases.iter().filter(|case| case.prints_otherwise));
        let verb = if names.len() == 1 { "prints" } else { "print" };
        let all = listed(&names);
        (!names.is_empty()).then(|| format!("Note: {all} {verb} different output."))
    }

    fn case(&self, case: &Case) -> String {
        let (name, baseline) = (self.name(case), self.baseline());
        match (&case.decision, &case.seen) {
            (Decision::Passes(Passed::Interval), Some(seen)) => self.bounded(case, seen, true),
            (Decision::Passes(_), _) => {
                same_program(vec![clean(&case.variant)], &baseline, same_in(case).unwrap_or_default())
            }
            (Decision::Fails, Some(seen)) => self.bounded(case, seen, false),
            (Decision::Fails, None) => format!("{name} exceeds its limit"),
            (Decision::Undecided(open), seen) => self.open(case, open, seen.as_ref()),
            (Decision::Broken(broken), _) => self.is_broken(case, broken),
        }
    }

    fn open(&self, case: &Case, open: &Open, seen: Option<&JudgedSlowdown>) -> String {
        let (name, baseline) = (self.name(case), self.baseline());
        match (open, seen) {
            (Open::Interval { .. }, Some(seen)) => {
                let [_, verb] = self.wording.verb();
                let [slower, numbers] = [self.wording.verdict(Verdict::Slower).to_owned(), self.numbers(case, seen)];
                format!("{name} may or may not {verb} {slower} than {baseline} by more than the limit ({numbers})")
            }
            (Open::Interval { .. }, None) => format!("{name} has too few blocks for an interval"),
            (Open::Unfinished, _) => format!("blocks of {name} are missing"),
            (Open::ClockTooCoarse, _) => format!("the clock is too coarse for {name}"),
            (Open::MemoryFloor, _) => format!("{name} and {baseline} may need less memory than their launcher process"),
            (Open::UnseenTime, _) => {
                format!("instruction counts cover too little of the run time of {name} and {baseline}")
            }
            (Open::NotMeasured, _) => format!("{name} has no value for this metric"),
            (Open::NoPercentage, _) => {
                format!("the typical value of {baseline}{} is 0 or less, so there is no percentage", self.place(case))
            }
        }
    }

    fn is_broken(&self, case: &Case, broken: &Broken) -> String {
        let (name, place) = (clean(&case.variant), self.place(case));
        match broken {
            Broken::TrialsFailed { variant, failed, of } => {
                format!("{failed} of {} of {}{place} failed", counted(*of, "trial"), subject(&clean(variant)))
            }
            Broken::NotBuilt => format!("{name} could not be built (`bakeoff build` shows why)"),
            Broken::OtherOutput => format!("{name} prints different output{place}, so it may not do the same work"),
            Broken::FlagWithoutEffect { flag } => format!(
                "the flag {} had no effect, although it should distinguish {name} from {}",
                clean(flag),
                self.baseline()
            ),
        }
    }
}

/// The variants of cases, each once.
fn names<'a>(cases: impl Iterator<Item = &'a Case>) -> Vec<String> {
    let names: BTreeSet<String> = cases.map(|case| clean(&case.variant)).collect();
    names.into_iter().collect()
}

/// Decimals, at least one, with which all numbers are seen on their own side of the limit and of 0, and the interval has a
/// width.
fn decimals(seen: &JudgedSlowdown, limit: f64) -> usize {
    let ends = seen.interval.map_or(vec![seen.slowdown], |ends| ends.to_vec());
    let is_clear = |decimals: &usize| {
        let apart = |one: f64, other: f64| {
            (one - other).abs() < 1e-9 || fixed(100.0 * one, *decimals) != fixed(100.0 * other, *decimals)
        };
        ends.iter().all(|end| apart(*end, limit) && apart(*end, 0.0))
            && seen.interval.is_none_or(|[low, high]| apart(low, high))
    };
    (1..MOST_DECIMALS).find(is_clear).unwrap_or(MOST_DECIMALS)
}

/// In what the case is the same program as the baseline, if it is.
fn same_in(case: &Case) -> Option<SameIn> {
    match case.decision {
        Decision::Passes(Passed::SameProgram) => Some(SameIn::Files),
        Decision::Passes(Passed::SameCode) => Some(SameIn::Code),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests;
