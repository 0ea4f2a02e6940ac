//! The last line of the screen, one sentence: the fastest variant, by how much, and how sure; or why there is no
//! answer.

use super::amounts::{Amount, most_apart, not_apart};
use super::facts::depends_on_condition;
use super::rows::distinct;
use super::view::{Absence, Stand, View};
use crate::draw::rendered::{Rendered, Role};
use crate::draw::text::{clean, middle};
use crate::failures::failure_in_full;
use crate::format::{percent, quantity};
use crate::words::{self, counted, is_open, is_same_program};
use bakeoff_judge::findings::{Caveat, Comparison, Findings, Inferred, Lack, Ranking, Scale, Table, Verdict};
use bakeoff_model::metric::{Direction, Unit};
use bakeoff_model::plan::BASELINE;

/// What gives way until the sentence fits.
#[derive(Clone, Copy)]
struct Form {
    /// Longer names are shortened in the middle.
    length: usize,
    /// Words that are understood are left out, such as what variants are compared with.
    terse: bool,
    /// Without the interval, which the rows have.
    bare: bool,
    /// Where nothing is better: with the largest loss.
    with_loss: bool,
}

/// From the longest form to the shortest.
const FORMS: [Form; 9] = {
    const LONG: Form = Form { length: 48, terse: false, bare: false, with_loss: true };
    const TERSE: Form = Form { length: 32, terse: true, ..LONG };
    const BARE: Form = Form { length: 8, bare: true, ..TERSE };
    [
        LONG,
        Form { length: 32, ..LONG },
        TERSE,
        Form { length: 24, ..TERSE },
        Form { length: 18, ..TERSE },
        Form { length: 12, ..TERSE },
        Form { length: 8, ..TERSE },
        BARE,
        Form { with_loss: false, ..BARE },
    ]
};

/// The shortest form that keeps names: the rows show the interval and the next variant.
const EXACT: Form = Form { length: 24, terse: true, bare: true, with_loss: true };

/// Whether names may be cut.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    /// No name is cut below the length of [`EXACT`], and the losers stay; the answer may be too wide.
    Exact,
    /// Names are cut until the answer fits.
    Cut,
}

/// More variants than this that share the lead are counted.
const LEAD_NAMED: usize = 3;

/// The answer in at most `columns`, where shorter names can make it so.
pub(super) fn answer(findings: &Findings, view: Option<&View<'_>>, columns: usize, names: Names) -> Rendered {
    let Some(view) = view else { return nothing(findings) };
    let teller = |form| Teller { findings, view, form };
    let mut answer = Rendered::default();
    let mut loss = Rendered::default();
    let forms: Vec<Form> = match names {
        Names::Exact => FORMS.into_iter().filter(|form| form.length >= EXACT.length).chain([EXACT]).collect(),
        Names::Cut => FORMS.to_vec(),
    };
    for form in forms {
        (answer, loss) = (teller(form).answer(), teller(form).loss_of_others());
        if answer.width() <= columns {
            break;
        }
    }
    // Who reads of the winner alone would not look for the losers.
    if !loss.is_empty() {
        // The interval of what is better stays; the next one gives way to the last.
        let is_best = view.compared().all(|(_, comparison)| comparison.verdict == Verdict::Slower);
        let terse = |bare| teller(Form { length: 32, terse: true, bare, with_loss: true }).answer();
        let mut texts = [answer.clone(), terse(false), terse(is_best)].map(|text| text![text, "; ", &loss]).into_iter();
        let all = text![&answer, "; ", &loss];
        let otherwise = if names == Names::Cut { answer } else { all };
        answer = texts.find(|text| text.width() <= columns).unwrap_or(otherwise);
    }
    if depends_on_condition(findings, view) {
        let here = text![" under ", clean(view.condition)];
        if answer.width() + here.width() <= columns {
            answer += here;
        }
    }
    answer
}

/// Why there is no answer at all.
fn nothing(findings: &Findings) -> Rendered {
    if let Some(why) = &findings.besides.no_answer {
        return text!["no answer: ", why];
    }
    if let Some(all) = words::one_program(findings) {
        let names = Rendered::listed(all.iter().map(|name| Rendered::name(name)).collect());
        let how = words::how_same(words::same_in(&findings.shared));
        return text![names, " are the same program", how, ", so there is nothing to measure"];
    }
    let deciding = &findings.method.deciding_metric;
    if findings.missing.iter().any(|group| group.metrics.contains(deciding)) {
        return text!["no answer: ", clean(words::metric(deciding)), " could not be measured here"];
    }
    if !findings.failures.is_empty() {
        let first = findings.failures.iter().find_map(|trials| trials.example.as_ref());
        let first = first.map_or_else(String::new, |first| format!("; first failed trial: {}", failure_in_full(first)));
        return text!["no answer: every trial failed or is void", first];
    }
    if findings.tables.iter().any(|table| table.rows.iter().any(|row| row.summary.is_some())) {
        return text!["no answer: no trial has a value for ", clean(words::metric(deciding))];
    }
    "no answer yet: no trial has finished; run the study again to resume it".into()
}

/// Nothing is inferred yet.
fn too_few_blocks(compared: &[(&str, &Comparison)]) -> Rendered {
    let blocks = compared.iter().map(|(_, comparison)| comparison.blocks).max().unwrap_or(0);
    let lack = compared.iter().flat_map(|(_, comparison)| &comparison.caveats).find_map(|caveat| match caveat {
        Caveat::TooFewBlocks { lack, .. } => Some(lack),
        _ => None,
    });
    let why = match lack {
        Some(Lack::FirstLook { needed }) => {
            format!("{}; the stopping rule first checks after {needed}", counted(blocks, "block"))
        }
        Some(Lack::Inference { needed }) => {
            format!("too few blocks ({blocks}); use --blocks {needed} or more")
        }
        _ => format!("too few blocks ({blocks}); use --blocks to run more"),
    };
    text!["no answer yet: ", why]
}

#[derive(Clone, Copy)]
struct Teller<'a> {
    findings: &'a Findings,
    view: &'a View<'a>,
    form: Form,
}

impl Teller<'_> {
    fn answer(&self) -> Rendered {
        let compared: Vec<(&str, &Comparison)> = self.view.compared().collect();
        let text = match compared.as_slice() {
            _ if !self.view.lines.is_empty() && self.view.baseline().is_empty() => {
                let baseline = self.findings.variants.first().map_or("", |first| first.name.as_str());
                self.not_compared(baseline)
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
        text![simulated, so_far, text]
    }

    fn name(&self, variant: &str) -> Rendered {
        if variant == BASELINE {
            return "the baseline".into();
        }
        // Two that are cut must not look alike.
        let names: Vec<String> = self.findings.variants.iter().map(|known| clean(&known.name)).collect();
        let at = self.findings.variants.iter().position(|known| known.name == variant);
        let cut = distinct(names.iter().map(String::as_str).collect(), self.form.length);
        Rendered::name(&at.map_or_else(|| middle(&clean(variant), self.form.length), |at| cut[at].clone()))
    }

    fn baseline(&self) -> Rendered {
        self.name(self.view.baseline())
    }

    fn margin(&self) -> String {
        format!("±{}", percent(self.findings.method.margin))
    }

    /// No variant has a comparison.
    fn alone(&self) -> Rendered {
        let failed = |absence: Absence| {
            self.view.lines.iter().any(|line| matches!(line.stand, Stand::Absent(why) if why == absence))
        };
        if self.view.lines.len() == 1 {
            return self.described();
        }
        if let [one, other] = self.view.lines.as_slice() {
            let is_absent = matches!(one.stand, Stand::Absent(_));
            return self.not_compared(if is_absent { one.variant } else { other.variant });
        }
        let why = if failed(Absence::AllFailed) {
            "all other variants failed"
        } else if failed(Absence::NotBuilt) {
            "no other variant was built"
        } else {
            "no other variant has a valid trial"
        };
        text!["no comparison: ", why]
    }

    /// One variant is missing, and with it the comparison.
    fn not_compared(&self, variant: &str) -> Rendered {
        let line = self.view.lines.iter().find(|line| line.variant == variant);
        let name = self.name(variant);
        match line.map(|line| line.stand) {
            Some(Stand::Absent(Absence::AllFailed)) => text!["no comparison: every trial of ", name, " failed"],
            Some(Stand::Absent(Absence::NotBuilt)) => text!["no comparison: ", name, " was not built"],
            _ => text!["no comparison: ", name, " has no valid trial"],
        }
    }

    /// One variant alone: its typical value, with the interval where there is one.
    fn described(&self) -> Rendered {
        let is_it = |table: &&Table| table.metric == self.view.metric && table.condition == self.view.condition;
        let table = self.findings.tables.iter().find(is_it);
        let summary = table.and_then(|table| table.rows.first()).and_then(|row| row.summary.as_ref());
        let Some(summary) = summary else { return text!["only ", self.baseline(), " was measured"] };
        let interval = summary.median_interval.map(|ends| ends.map(|end| self.value(end)));
        let interval =
            interval.map(|[low, high]| text![" ", Rendered::new(Role::Interval, format!("({low} … {high})"))]);
        let verb = if self.view.unit == Unit::Seconds { " takes " } else { " has " };
        text![self.baseline(), verb, self.value(summary.median), interval]
    }

    fn amount(&self, comparison: &Comparison) -> Amount {
        Amount::of(comparison, self.view.unit, self.view.better)
    }

    /// `8.0 % slower (4.6 … 10.4 %)`, with the metric where that is not a time.
    fn claim(&self, comparison: &Comparison) -> Rendered {
        let Amount { claim, interval, .. } = self.amount(comparison);
        let of = match (self.view.unit, self.view.metric) {
            (Unit::Seconds, "wall") => Rendered::default(),
            (Unit::Seconds, other) => text![" in ", clean(words::metric(other))],
            // The line below the question says of what, where there is no room.
            (Unit::GuestInstructions, _) if self.form.terse => Rendered::default(),
            (Unit::GuestInstructions, metric) => text![" ", clean(words::instructions(metric))],
            (unit, metric) => text![" ", clean(words::metric_in(metric, unit))],
        };
        text![claim, of, self.bracketed(interval)]
    }

    /// `b is 8.0 % slower (4.6 … 10.4 %)`.
    fn claimed(&self, variant: &str, comparison: &Comparison) -> Rendered {
        text![self.name(variant), " ", self.has(comparison), " ", self.claim(comparison)]
    }

    /// ` (4.6 … 10.4 %)`, unless it gives way.
    fn bracketed(&self, interval: Rendered) -> Rendered {
        if self.form.bare { Rendered::default() } else { interval.bracketed() }
    }

    /// The claim about the second best.
    fn next(&self, comparison: &Comparison) -> Rendered {
        if !self.form.terse {
            return self.claim(comparison);
        }
        let Amount { claim, interval, .. } = self.amount(comparison);
        text![claim, self.bracketed(interval)]
    }

    /// ` than the baseline`, or ` as the baseline`.
    fn than(&self, comparison: &Comparison) -> Rendered {
        let [_, word] = self.amount(comparison).joints(self.wording());
        if self.form.terse { Rendered::default() } else { text![" ", word, " ", self.baseline()] }
    }

    /// The verb before a claim.
    fn does(&self, comparison: &Comparison) -> &'static str {
        self.amount(comparison).joints(self.wording())[0]
    }

    /// The verb before a claim that names its metric: `has 20.0 % higher throughput`.
    fn has(&self, comparison: &Comparison) -> &'static str {
        if self.view.unit == Unit::PerSecond { "has" } else { self.does(comparison) }
    }

    fn wording(&self) -> words::Wording {
        words::Wording::of(self.view.unit, self.view.better)
    }

    fn pair(&self, variant: &str, comparison: &Comparison) -> Rendered {
        let (name, baseline) = (self.name(variant), self.baseline());
        let (mut in_metric, mut interval) = (Rendered::default(), Rendered::default());
        if !self.form.terse {
            in_metric = text![" in ", clean(words::metric_in(self.view.metric, self.view.unit))];
            interval = self.amount(comparison).interval.bracketed();
        }
        if is_same_program(comparison) {
            return text![name, " and ", baseline, " are the same program, so any difference is noise"];
        }
        match comparison.verdict {
            Verdict::Faster => {
                let values = self.values(comparison).filter(|_| !self.form.terse);
                let rest = values.map_or_else(|| self.than(comparison), |values| text![": ", values]);
                text![self.claimed(variant, comparison), rest]
            }
            Verdict::Slower => {
                let claim = self.claimed(variant, comparison);
                text![baseline, " ", self.wording().verb()[0], " ", self.better_word(), ": ", claim]
            }
            Verdict::Withheld => text!["no verdict on ", name],
            Verdict::Undecided { .. } if self.form.terse => {
                let most = most_apart(comparison, self.view.unit).filter(|_| self.form.length > 24);
                let most = most.map(|most| format!(" (at most {most} apart)"));
                text![baseline, " and ", name, " cannot be distinguished", most.unwrap_or_default()]
            }
            _ => {
                let margin = self.findings.method.margin;
                let text = not_apart(comparison, [baseline, name], in_metric, margin, self.view.unit);
                text![text, comparison.is_within().then_some(interval)]
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

    fn several(&self, compared: &[(&str, &Comparison)]) -> Rendered {
        if compared.iter().all(|(_, comparison)| is_same_program(comparison) && is_open(comparison)) {
            return "all variants are the same program, so any difference is noise".into();
        }
        if let Some(ranking) = self.view.ranking.filter(|ranking| ranking.variants.len() > 1) {
            return self.ranked(ranking, compared);
        }
        let better: Vec<&(&str, &Comparison)> =
            compared.iter().filter(|(_, comparison)| comparison.verdict == Verdict::Faster).collect();
        match better.as_slice() {
            [] => self.none_better(compared),
            [(variant, comparison)] => text![self.claimed(variant, comparison), self.than(comparison)],
            [(best, comparison), others @ ..] => {
                let rest = counted(others.len() as u32, "other");
                let than = (!self.form.terse).then(|| text![" than ", self.baseline()]);
                let verb = if self.wording().takes_is() { "are" } else { self.wording().verb()[1] };
                let both = text![self.name(best), " and ", rest, " ", verb, " ", self.better_word(), than];
                text![both, ": ", self.claim(comparison)]
            }
        }
    }

    fn none_better(&self, compared: &[(&str, &Comparison)]) -> Rendered {
        if compared.iter().all(|(_, comparison)| comparison.is_within()) {
            return text!["all are equivalent to ", self.baseline(), ", within ", self.margin()];
        }
        if compared.iter().all(|(_, comparison)| comparison.verdict == Verdict::Slower) {
            return self.followed(self.baseline(), compared[0].0, Some(compared[0].1));
        }
        let Form { terse, bare, with_loss, .. } = self.form;
        let small = self.negligibly_better(compared);
        let loss = self.largest_loss(compared).filter(|_| with_loss);
        let own = self.view.typical().filter(|_| !terse).map(|typical| format!(" ({})", self.value(typical)));
        let than = (!terse || loss.is_none()).then(|| text![" than ", self.baseline(), own.unwrap_or_default()]);
        let beyond = small.as_ref().map(|_| format!(" by more than {}", percent(self.findings.method.margin)));
        let [_, be] = self.wording().verb();
        let shown = text!["nothing is shown to ", be, " ", self.better_word()];
        let mut text = text![shown, than, beyond.unwrap_or_default()];
        for more in small.filter(|_| with_loss && !bare).into_iter().chain(loss) {
            text += text!["; ", more];
        }
        text
    }

    /// The best one, and the next where there is room.
    fn followed(&self, first: Rendered, next: &str, comparison: Option<&Comparison>) -> Rendered {
        let claim = comparison.map(|comparison| text![", ", self.next(comparison)]);
        let next = (!self.form.bare).then(|| text!["; next is ", self.name(next), claim]);
        text![first, " is the ", self.best_word(), next]
    }

    /// A variant that is shown to be better, but within the margin: `b is 3.9 % faster (3.5 … 4.2 %)`.
    fn negligibly_better(&self, compared: &[(&str, &Comparison)]) -> Option<Rendered> {
        let verdict = match self.view.better {
            Direction::Less => |c: &Comparison| c.estimate < 1.0,
            Direction::More => |c: &Comparison| c.estimate > 1.0,
        };
        let is_it = |c: &Comparison| c.verdict == Verdict::Negligible && c.scale == Scale::Ratio && verdict(c);
        let (variant, comparison) = compared.iter().find(|(_, comparison)| is_it(comparison))?;
        Some(self.short(variant, &Comparison { verdict: Verdict::Faster, ..(*comparison).clone() }))
    }

    /// The largest loss that is shown: `c is 88.0 % lower (86.1 … 89.9 %)`.
    fn largest_loss(&self, compared: &[(&str, &Comparison)]) -> Option<Rendered> {
        let (variant, comparison) = compared.iter().rev().find(|(_, c)| c.verdict == Verdict::Slower)?;
        Some(self.short(variant, comparison))
    }

    /// The same, where variants that are better, or the next one, are the answer, among several; else nothing.
    fn loss_of_others(&self) -> Rendered {
        let compared: Vec<(&str, &Comparison)> = self.view.compared().collect();
        let wins = compared.iter().any(|(_, comparison)| comparison.verdict == Verdict::Faster);
        let is_best = compared.len() > 1 && compared.iter().all(|(_, c)| c.verdict == Verdict::Slower);
        self.largest_loss(&compared).filter(|_| wins || is_best).unwrap_or_default()
    }

    /// A claim without its interval, which the rows have.
    fn short(&self, variant: &str, comparison: &Comparison) -> Rendered {
        let (verb, claim) = match self.form.terse {
            true => (self.does(comparison), self.amount(comparison).claim),
            false => {
                let bare = Self { form: Form { bare: true, ..self.form }, ..*self };
                (self.has(comparison), bare.claim(comparison))
            }
        };
        text![self.name(variant), " ", verb, " ", claim]
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
        self.wording().verdict(Verdict::Faster)
    }

    /// By the letters: those that share the first one's are not shown to differ from it.
    fn ranked(&self, ranking: &Ranking, compared: &[(&str, &Comparison)]) -> Rendered {
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
        let best = against(&first.variant);
        // Letters tell negligible differences apart, too; these make nobody the fastest.
        let better = best.filter(|comparison| comparison.verdict == Verdict::Faster);
        let all_within = compared.iter().all(|(_, comparison)| comparison.is_within());
        if all_within || better.is_none() && lead != [self.view.baseline()] {
            return self.none_better(compared);
        }
        if lead.len() == 1 {
            let Some(comparison) = best else {
                return self.followed(name, &ranking.variants[1].variant, against(&ranking.variants[1].variant));
            };
            let claim = text![self.claim(comparison), self.than(comparison)];
            return text![name, " is the ", self.best_word(), ": ", claim];
        }
        let named = if self.form.terse && lead.len() > 2 { 1 } else { LEAD_NAMED };
        let names: Vec<Rendered> = lead.iter().take(named).map(|variant| self.name(variant)).collect();
        let names = match lead.len().saturating_sub(named) {
            0 => Rendered::listed(names),
            more => text![Rendered::joined(names, ", "), format!(" and {more} more")],
        };
        if lead.len() == ranking.variants.len() {
            return text![names, " cannot be distinguished"];
        }
        let best = better.map(|comparison| match self.form.terse {
            true => text![": ", self.claim(comparison)],
            false => text![": ", self.claimed(&first.variant, comparison)],
        });
        text![names, " share the lead", best]
    }
}
