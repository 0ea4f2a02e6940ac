//! The last line of the screen: the fastest variant, by how much, and how sure that is; or why there is no such answer. One
//! sentence, which fits into a line.

use super::amounts::Amount;
use super::facts::depends_on_condition;
use super::rows::distinct;
use super::view::{Absence, Stand, View};
use crate::draw::text::{clean, middle, width};
use crate::failures::failure_in_full;
use crate::format::{percent, quantity};
use crate::words::{self, counted, is_open, is_same_program, listed};
use bakeoff_judge::findings::{Caveat, Comparison, Findings, Inferred, Lack, Ranking, Scale, Table, Verdict};
use bakeoff_model::metric::{Direction, Unit};
use bakeoff_model::plan::BASELINE;
use bakeoff_model::record::BuildOutcome;

/// Until the sentence fits, names are shortened to these lengths, and what they are compared with is left out; the interval,
/// which the rows have, goes then, and last of all the largest loss.
const ATTEMPTS: [(usize, bool, bool, bool); 9] = [
    (48, false, false, true),
    (32, false, false, true),
    (32, true, false, true),
    (24, true, false, true),
    (18, true, false, true),
    (12, true, false, true),
    (8, true, false, true),
    (8, true, true, true),
    (8, true, true, false),
];

/// More variants than this that share the lead are counted.
const LEAD_NAMED: usize = 3;

/// The answer in at most `columns`, where shorter names can make it so.
pub(super) fn answer(findings: &Findings, view: Option<&View<'_>>, columns: usize) -> String {
    let mut answer = String::new();
    let mut loss = None;
    for (length, terse, bare, with_loss) in ATTEMPTS {
        answer = match view {
            Some(view) => {
                let teller = Teller { findings, view, length, terse, bare, with_loss };
                loss = teller.loss_of_others();
                teller.answer()
            }
            None => nothing(findings),
        };
        if width(&answer) <= columns {
            break;
        }
    }
    // Who reads of the winner alone would not look for the losers.
    if let (Some(loss), Some(view)) = (loss, view) {
        // The interval of what is better stays; the next one gives way to the last.
        let is_best = view.compared().all(|(_, comparison)| comparison.verdict == Verdict::Slower);
        let terse = |bare| Teller { findings, view, length: 32, terse: true, bare, with_loss: true }.answer();
        let mut texts =
            [answer.clone(), terse(false), terse(is_best)].map(|text| format!("{text}; {loss}")).into_iter();
        answer = texts.find(|text| width(text) <= columns).unwrap_or(answer);
    }
    if let Some(view) = view.filter(|view| depends_on_condition(findings, view)) {
        let here = format!(" under {}", clean(view.condition));
        if width(&answer) + width(&here) <= columns {
            answer += &here;
        }
    }
    answer
}

/// Why there is no answer at all.
fn nothing(findings: &Findings) -> String {
    if !findings.builds.is_empty() && findings.builds.iter().all(|build| build.outcome != BuildOutcome::Built) {
        return format!("no answer: none of {} succeeded", counted(findings.builds.len() as u32, "build"));
    }
    if let Some(all) = words::one_program(findings) {
        return format!("{} are the same program, so that there is no difference to measure", listed(&all));
    }
    let deciding = &findings.method.deciding_metric;
    if findings.missing.iter().any(|group| group.metrics.contains(deciding)) {
        return format!("no answer: {} was not measured here", words::metric(deciding));
    }
    if !findings.failures.is_empty() {
        let first = findings.failures.iter().find_map(|trials| trials.example.as_ref());
        let first = first.map_or_else(String::new, |first| format!("; the first {}", failure_in_full(first)));
        return format!("no answer: every trial failed or is void{first}");
    }
    if findings.tables.iter().any(|table| table.rows.iter().any(|row| row.summary.is_some())) {
        return format!("no answer: no trial has {}", words::metric(deciding));
    }
    "no answer yet: no trial has ended; `bakeoff run` goes on".to_owned()
}

/// Nothing is inferred yet.
fn too_few_blocks(compared: &[(&str, &Comparison)]) -> String {
    let blocks = compared.iter().map(|(_, comparison)| comparison.blocks).max().unwrap_or(0);
    let lack = compared.iter().flat_map(|(_, comparison)| &comparison.caveats).find_map(|caveat| match caveat {
        Caveat::TooFewBlocks { lack, .. } => Some(lack),
        _ => None,
    });
    match lack {
        Some(Lack::FirstLook { needed }) => {
            format!("no answer yet: {}; the rule for stopping looks at {needed} first", counted(blocks, "block"))
        }
        Some(Lack::Inference { needed }) => {
            format!("no answer yet: {blocks} of at least {}; --blocks asks for more", counted(*needed, "block"))
        }
        _ => format!("no answer yet: too few blocks ({blocks}); --blocks asks for more"),
    }
}

struct Teller<'a> {
    findings: &'a Findings,
    view: &'a View<'a>,
    /// Longer names are shortened in the middle.
    length: usize,
    /// Words that are understood are left out.
    terse: bool,
    /// Without the interval.
    bare: bool,
    /// Where nothing is better: with the largest loss.
    with_loss: bool,
}

impl Teller<'_> {
    fn answer(&self) -> String {
        let compared: Vec<(&str, &Comparison)> = self.view.compared().collect();
        let text = match compared.as_slice() {
            _ if self.view.lines.first().is_some_and(|_| self.baseline_failed()) => {
                let baseline = self.findings.variants.first().map_or(String::new(), |first| self.name(&first.name));
                format!("no comparison: every trial of {baseline} failed")
            }
            [] => self.alone(),
            several if several.iter().all(|(_, comparison)| comparison.inferred == Inferred::TooFew) => {
                too_few_blocks(several)
            }
            [(variant, comparison)] if self.view.lines.len() == 2 => self.pair(variant, comparison),
            several => self.several(several),
        };
        let (finished, total) = (self.findings.blocks_finished, self.findings.blocks_total);
        let simulated = if self.findings.simulated.is_some() { "SIMULATED: " } else { "" };
        let so_far = if finished < total { "so far " } else { "" };
        format!("{simulated}{so_far}{text}")
    }

    fn name(&self, variant: &str) -> String {
        if variant == BASELINE {
            return "the baseline".to_owned();
        }
        // Two that are cut must not look alike.
        let names: Vec<String> = self.findings.variants.iter().map(|known| clean(&known.name)).collect();
        let at = self.findings.variants.iter().position(|known| known.name == variant);
        let cut = distinct(names.iter().map(String::as_str).collect(), self.length);
        at.map_or_else(|| middle(&clean(variant), self.length), |at| cut[at].clone())
    }

    fn baseline(&self) -> String {
        self.name(self.view.baseline())
    }

    fn baseline_failed(&self) -> bool {
        self.view.baseline().is_empty()
    }

    fn margin(&self) -> String {
        format!("±{}", percent(self.findings.method.margin))
    }

    /// No variant has a comparison.
    fn alone(&self) -> String {
        let failed = |absence: Absence| {
            self.view.lines.iter().any(|line| matches!(line.stand, Stand::Absent(why) if why == absence))
        };
        if self.view.lines.len() == 1 {
            return self.described();
        }
        if let [one, other] = self.view.lines.as_slice() {
            let variant = if matches!(one.stand, Stand::Absent(_)) { one.variant } else { other.variant };
            let what = match failed(Absence::AllFailed) {
                true => format!("every trial of {} failed", self.name(variant)),
                false if failed(Absence::NotBuilt) => format!("{} was not built", self.name(variant)),
                false => format!("{} has no trial that counts", self.name(variant)),
            };
            return format!("no comparison: {what}");
        }
        let why = if failed(Absence::AllFailed) {
            "the trials of all others failed"
        } else if failed(Absence::NotBuilt) {
            "no other variant was built"
        } else {
            "no other variant has a trial that counts"
        };
        format!("no comparison: {why}")
    }

    /// One variant alone: its typical value, with the interval where there is one.
    fn described(&self) -> String {
        let is_it = |table: &&Table| table.metric == self.view.metric && table.condition == self.view.condition;
        let table = self.findings.tables.iter().find(is_it);
        let summary = table.and_then(|table| table.rows.first()).and_then(|row| row.summary.as_ref());
        let Some(summary) = summary else { return format!("only {} was measured", self.baseline()) };
        let value = |value: f64| self.value(value);
        let interval = summary.median_interval.map(|[low, high]| format!(" ({} … {})", value(low), value(high)));
        let verb = if self.view.unit == Unit::Seconds { "takes" } else { "has" };
        format!("{} {verb} {}{}", self.baseline(), value(summary.median), interval.unwrap_or_default())
    }

    fn amount(&self, comparison: &Comparison) -> Amount {
        Amount::of(comparison, self.view.unit, self.view.better)
    }

    /// `8.0 % slower (4.6 … 10.4 %)`, with the metric where that is not a time.
    fn claim(&self, comparison: &Comparison) -> String {
        let Amount { claim, interval } = self.amount(comparison);
        let of = if self.view.unit == Unit::Seconds {
            match self.view.metric {
                "wall" => String::new(),
                other => format!(" in {}", words::metric(other)),
            }
        } else if self.view.unit == Unit::GuestInstructions {
            // The line below the question says of what, where there is no room.
            let what = words::metric_in(self.view.metric, self.view.unit).trim_start_matches("guest ");
            if self.terse { String::new() } else { format!(" {what}") }
        } else {
            format!(" {}", clean(words::metric_in(self.view.metric, self.view.unit)))
        };
        let interval = if interval.is_empty() || self.bare { String::new() } else { format!(" ({interval})") };
        format!("{claim}{of}{interval}")
    }

    /// The claim about the second best.
    fn next(&self, comparison: &Comparison) -> String {
        if !self.terse {
            return self.claim(comparison);
        }
        let Amount { claim, interval } = self.amount(comparison);
        if self.bare || interval.is_empty() { claim } else { format!("{claim} ({interval})") }
    }

    /// ` than the baseline`, or ` as the baseline`.
    fn than(&self, claim: &str) -> String {
        let word = if claim.contains('×') { "as" } else { "than" };
        if self.terse { String::new() } else { format!(" {word} {}", self.baseline()) }
    }

    /// `is`, or what one does with an amount.
    fn verb(&self, claim: &str) -> &'static str {
        if claim.contains("as long") { "takes" } else { words::Wording::of(self.view.unit, self.view.better).verb()[0] }
    }

    fn pair(&self, variant: &str, comparison: &Comparison) -> String {
        let (name, baseline) = (self.name(variant), self.baseline());
        let in_metric = match self.terse {
            true => String::new(),
            false => format!(" in {}", words::metric_in(self.view.metric, self.view.unit)),
        };
        let interval = || match self.terse {
            true => String::new(),
            false => format!(" ({})", self.amount(comparison).interval),
        };
        if is_same_program(comparison) {
            return format!("{name} and {baseline} are the same program: a difference can only be noise");
        }
        match comparison.verdict {
            Verdict::Faster => {
                let claim = self.claim(comparison);
                let values = self.values(comparison).filter(|_| !self.terse);
                let rest = values.map_or_else(|| self.than(&claim), |values| format!(": {values}"));
                format!("{name} {} {claim}{rest}", self.verb(&claim))
            }
            Verdict::Slower => {
                let claim = self.claim(comparison);
                let verb = self.verb("");
                format!("{baseline} {verb} {}: {name} {} {claim}", self.better_word(), self.verb(&claim))
            }
            Verdict::Negligible => {
                format!("{baseline} and {name} differ{}, but within {}{}", in_metric, self.margin(), interval())
            }
            Verdict::Equivalent => {
                format!("{baseline} and {name} are equivalent{}: within {}{}", in_metric, self.margin(), interval())
            }
            Verdict::Withheld => format!("no verdict on {name}"),
            Verdict::Undecided { .. } => {
                let most = self.at_most(comparison).filter(|_| self.length > 24);
                let most = most.map_or(String::new(), |most| match self.terse {
                    true => format!(" (at most {most} apart)"),
                    false => format!(": if they differ, then by at most {most}"),
                });
                format!("{baseline} and {name} cannot be distinguished{most}")
            }
        }
    }

    /// `8.3 ms instead of 36.1 ms`.
    fn values(&self, comparison: &Comparison) -> Option<String> {
        let before = self.view.typical()?;
        let is_time = self.view.unit == Unit::Seconds && comparison.scale == Scale::Ratio;
        is_time.then(|| {
            format!("{} instead of {}", self.view.duration(before * comparison.estimate), self.view.duration(before))
        })
    }

    /// The larger end of an undecided interval.
    fn at_most(&self, comparison: &Comparison) -> Option<String> {
        words::Change::furthest(comparison, self.view.unit).filter(|_| comparison.scale == Scale::Ratio)
    }

    fn several(&self, compared: &[(&str, &Comparison)]) -> String {
        if compared.iter().all(|(_, comparison)| is_same_program(comparison) && is_open(comparison)) {
            return "all variants are the same program: a difference can only be noise".to_owned();
        }
        if let Some(ranking) = self.view.ranking.filter(|ranking| ranking.variants.len() > 1) {
            return self.ranked(ranking, compared);
        }
        let better: Vec<&(&str, &Comparison)> =
            compared.iter().filter(|(_, comparison)| comparison.verdict == Verdict::Faster).collect();
        match better.as_slice() {
            [] => self.none_better(compared),
            [(variant, comparison)] => {
                let claim = self.claim(comparison);
                format!("{} {} {claim}{}", self.name(variant), self.verb(&claim), self.than(&claim))
            }
            [(best, comparison), others @ ..] => {
                let rest = counted(others.len() as u32, "other");
                let (word, claim) = (self.better_word(), self.claim(comparison));
                let than = if self.terse { String::new() } else { format!(" than {}", self.baseline()) };
                format!("{} and {rest} are {word}{than}: {claim}", self.name(best))
            }
        }
    }

    fn none_better(&self, compared: &[(&str, &Comparison)]) -> String {
        let all_within = compared.iter().all(|(_, comparison)| comparison.is_within());
        if all_within {
            return format!("all are equivalent to {}, within {}", self.baseline(), self.margin());
        }
        match compared.iter().all(|(_, comparison)| comparison.verdict == Verdict::Slower) {
            true => self.followed(&self.baseline(), compared[0].0, Some(compared[0].1)),
            false => {
                let own =
                    self.view.typical().filter(|_| !self.terse).map(|typical| format!(" ({})", self.value(typical)));
                let than = format!("{} than {}{}", self.better_word(), self.baseline(), own.unwrap_or_default());
                let small = self.negligibly_better(compared);
                let loss = self.largest_loss(compared).filter(|_| self.with_loss);
                let than = if self.terse && loss.is_some() { self.better_word().to_owned() } else { than };
                let beyond = match small {
                    Some(_) => format!(" by more than {}", percent(self.findings.method.margin)),
                    None => String::new(),
                };
                let small = small.filter(|_| self.with_loss && !self.bare);
                let more: String = small.into_iter().chain(loss).map(|part| format!("; {part}")).collect();
                format!("nothing is shown to be {than}{beyond}{more}")
            }
        }
    }

    /// The best one, and the next where there is room.
    fn followed(&self, first: &str, next: &str, comparison: Option<&Comparison>) -> String {
        let claim = comparison.map_or(String::new(), |comparison| format!(", {}", self.next(comparison)));
        let next = if self.bare { String::new() } else { format!("; next is {}{claim}", self.name(next)) };
        format!("{first} is the {}{next}", self.best_word())
    }

    /// A variant that is shown to be better, but within the margin: `b is 3.9 % faster (3.5 … 4.2 %)`.
    fn negligibly_better(&self, compared: &[(&str, &Comparison)]) -> Option<String> {
        let verdict = match self.view.better {
            Direction::Less => |c: &Comparison| c.estimate < 1.0,
            Direction::More => |c: &Comparison| c.estimate > 1.0,
        };
        let is_it = |c: &Comparison| c.verdict == Verdict::Negligible && c.scale == Scale::Ratio && verdict(c);
        let (variant, comparison) = compared.iter().find(|(_, comparison)| is_it(comparison))?;
        let claim = self.short(&Comparison { verdict: Verdict::Faster, ..(*comparison).clone() });
        Some(format!("{} {} {claim}", self.name(variant), self.verb(&claim)))
    }

    /// The largest loss that is shown: `c is 88.0 % lower (86.1 … 89.9 %)`.
    fn largest_loss(&self, compared: &[(&str, &Comparison)]) -> Option<String> {
        let (variant, comparison) = compared.iter().rev().find(|(_, c)| c.verdict == Verdict::Slower)?;
        let claim = self.short(comparison);
        Some(format!("{} {} {claim}", self.name(variant), self.verb(&claim)))
    }

    /// The same, where variants that are better, or the next one, are the answer, among several.
    fn loss_of_others(&self) -> Option<String> {
        let compared: Vec<(&str, &Comparison)> = self.view.compared().collect();
        let wins = compared.iter().any(|(_, comparison)| comparison.verdict == Verdict::Faster);
        let is_best = compared.len() > 1 && compared.iter().all(|(_, c)| c.verdict == Verdict::Slower);
        self.largest_loss(&compared).filter(|_| wins || is_best)
    }

    /// A claim without its interval, which the rows have.
    fn short(&self, comparison: &Comparison) -> String {
        let Amount { claim, .. } = self.amount(comparison);
        if self.terse { claim } else { Self { bare: true, ..*self }.claim(comparison) }
    }

    fn value(&self, value: f64) -> String {
        match self.view.unit {
            Unit::Seconds => self.view.duration(value),
            unit => quantity(value, unit),
        }
    }

    fn best_word(&self) -> &'static str {
        match (self.view.unit, self.view.better) {
            (Unit::Seconds, Direction::Less) => "fastest",
            (Unit::Count | Unit::GuestInstructions, Direction::Less) => "lowest",
            (_, Direction::Less) => "smallest",
            (_, Direction::More) => "highest",
        }
    }

    fn better_word(&self) -> &'static str {
        words::Wording::of(self.view.unit, self.view.better).verdict(Verdict::Faster)
    }

    /// By the letters: those that share the first one's are not shown to differ from it.
    fn ranked(&self, ranking: &Ranking, compared: &[(&str, &Comparison)]) -> String {
        let Some(first) = ranking.variants.first() else { return self.none_better(compared) };
        let shares = |letters: &str| letters.chars().any(|letter| first.letters.contains(letter));
        let lead: Vec<&str> = ranking
            .variants
            .iter()
            .filter(|ranked| shares(&ranked.letters))
            .map(|ranked| ranked.variant.as_str())
            .collect();
        let against = |variant: &str| compared.iter().find(|(name, _)| *name == variant).map(|(_, c)| *c);
        let name = self.name(&first.variant);
        // Letters tell negligible differences apart, too; these make nobody the fastest.
        let is_better = against(&first.variant).is_some_and(|comparison| comparison.verdict == Verdict::Faster);
        let all_within = compared.iter().all(|(_, comparison)| comparison.is_within());
        if all_within || !is_better && lead != [self.view.baseline()] {
            return self.none_better(compared);
        }
        if let [alone] = lead.as_slice() {
            return match against(alone) {
                Some(comparison) => {
                    let claim = self.claim(comparison);
                    format!("{name} is the {}: {claim}{}", self.best_word(), self.than(&claim))
                }
                None => self.followed(&name, &ranking.variants[1].variant, against(&ranking.variants[1].variant)),
            };
        }
        let named = if self.terse && lead.len() > 2 { 1 } else { LEAD_NAMED };
        let names: Vec<String> = lead.iter().take(named).map(|variant| self.name(variant)).collect();
        let names = match lead.len().saturating_sub(named) {
            0 => listed(&names),
            more => format!("{} and {more} more", names.join(", ")),
        };
        if lead.len() == ranking.variants.len() {
            return format!("{names} cannot be distinguished");
        }
        let best = match against(&first.variant).filter(|comparison| comparison.verdict == Verdict::Faster) {
            Some(comparison) => {
                let claim = self.claim(comparison);
                match self.terse {
                    true => format!(": {claim}"),
                    false => format!(": {name} {} {claim}", self.verb(&claim)),
                }
            }
            None => String::new(),
        };
        format!("{names} share the lead{best}")
    }
}
