//! Pairs of variants that isolate a cause: they differ in one factor, and nearly all of their difference in instructions is
//! that cause. What such a pair says of time, the cause does.

use crate::account;
use crate::account::result::{Account, Cause, Mechanism, Row, difference};
use crate::counts::CountsLine;
use crate::findings::{Isolation, PairAccount};
use bakeoff_command::CONFIRM;
use bakeoff_judge::findings::{Claim, Comparison, Findings, Table, Verdict};
use bakeoff_judge::{Question, judge};
use bakeoff_model::record::{Record, TWIN, VariantLine};
use bakeoff_model::study::Levels;
use std::cell::OnceCell;

/// The part of the difference in instructions that a cause must be, in tenths of a percent.
const NEARLY_ALL_PERMILLE: i64 = 800;

/// All movement, of which the net difference is a part, may be this many times as much.
const MOST_GROSS: u64 = 2;

/// All pairs of which both variants were counted.
pub(super) struct Isolating<'a> {
    record: &'a Record,
    lines: &'a [CountsLine],
    metric: &'a str,
    /// Accounts of many pairs take a moment, and are needed only if there is a cause.
    pairs: OnceCell<Vec<Pair<'a>>>,
}

/// Two variants that differ in one factor, on one workload.
struct Pair<'a> {
    against: &'a str,
    variant: &'a str,
    workload: &'a str,
    service: Option<&'a str>,
    factor: &'a str,
    account: Account,
}

/// What came of a pair that was run to isolate a mechanism.
pub(crate) struct Outcome {
    /// The share of the mechanism in its difference in instructions, in tenths of a percent.
    pub(crate) permille: i64,
    pub(crate) isolates: bool,
    pub(crate) claim: Claim,
}

impl<'a> Isolating<'a> {
    pub(super) fn new(record: &'a Record, lines: &'a [CountsLine], metric: &'a str) -> Self {
        Self { record, lines, metric, pairs: OnceCell::new() }
    }

    /// The pairs that isolate a mechanism where an account is of, if it changes at least half as much, and how each compares.
    /// Those that decide nothing are left out, and those of other factors: what an option does is not shown by another one.
    pub(super) fn of(&self, explained: &PairAccount, mechanism: Mechanism, change: i64) -> Vec<Isolation> {
        let pairs = self.pairs.get_or_init(|| self.all());
        let PairAccount { variant, against, account } = explained;
        let place = (account.workload.as_str(), account.service.as_deref());
        let isolates = |pair: &&Pair<'_>| {
            (pair.workload, pair.service) == place
                && self.is_about(pair, variant, against)
                && pair.isolated(mechanism, change).is_some()
        };
        pairs.iter().filter(isolates).filter_map(|pair| self.isolation(pair, mechanism, change)).collect()
    }

    /// What a pair says that was run to isolate a mechanism, whether it does or not: the share of the mechanism in its
    /// difference in instructions, and how it compares.
    pub(super) fn outcome(
        &self,
        workload: &str,
        [against, variant]: [&str; 2],
        mechanism: Mechanism,
    ) -> Option<Outcome> {
        let pairs = self.pairs.get_or_init(|| self.all());
        let wanted = (workload, None, against, variant);
        let is_it = |pair: &&Pair<'_>| (pair.workload, pair.service, pair.against, pair.variant) == wanted;
        let pair = pairs.iter().find(is_it)?;
        let row = pair.account.rows.iter().find(|row| row.cause == Cause::Mechanism(mechanism));
        let claim = self.claim(against, variant, workload)?;
        Some(Outcome { permille: row.map_or(0, |row| row.permille), isolates: pair.is_alone(row), claim })
    }

    fn all(&self) -> Vec<Pair<'a>> {
        let line = |variant: &str, workload: &str| {
            self.lines.iter().find(|line| (line.variant.as_str(), line.workload.as_str()) == (variant, workload))
        };
        let variants: Vec<&VariantLine> = self.record.study.variants.iter().filter(|one| one.name != TWIN).collect();
        let mut pairs = vec![];
        for workload in &self.record.study.workloads {
            for (place, one) in variants.iter().enumerate() {
                for other in &variants[place + 1..] {
                    let Some(factor) = only_factor(&one.levels, &other.levels) else { continue };
                    let both = [one, other].map(|variant| line(&variant.name, workload));
                    let [Some(a), Some(b)] = both else { continue };
                    for service in std::iter::once(None).chain(a.services.keys().map(|name| Some(name.as_str()))) {
                        let [Some(a), Some(b)] = [a, b].map(|line| line.of_service(service)) else { continue };
                        let account = account::of(a, b, None);
                        pairs.push(Pair {
                            against: &one.name,
                            variant: &other.name,
                            workload,
                            service,
                            factor,
                            account,
                        });
                    }
                }
            }
        }
        pairs
    }

    /// None unless the pair is decided.
    fn isolation(&self, pair: &Pair<'_>, mechanism: Mechanism, change: i64) -> Option<Isolation> {
        let row = pair.isolated(mechanism, change)?;
        let claim = self.claim(pair.against, pair.variant, pair.workload)?;
        let is_more = difference(row.instructions) > 0;
        let as_expected = if is_more { Verdict::Slower } else { Verdict::Faster };
        let is_decided = matches!(
            claim.comparison.verdict,
            Verdict::Faster | Verdict::Slower | Verdict::Equivalent | Verdict::Negligible
        );
        is_decided.then(|| Isolation {
            variant: pair.variant.to_owned(),
            against: pair.against.to_owned(),
            permille: row.permille,
            confirms: claim.comparison.verdict == as_expected,
            claim,
        })
    }

    /// Whether a pair says something about the difference between these two: it has one of them, and by their own factor.
    fn is_about(&self, pair: &Pair<'_>, variant: &str, against: &str) -> bool {
        let has = |name: &str| pair.variant == name || pair.against == name;
        has(variant) || has(against) && (pair.factor == CONFIRM || self.differ_in(pair.factor, variant, against))
    }

    fn differ_in(&self, factor: &str, variant: &str, against: &str) -> bool {
        let levels = |name: &str| self.record.study.variants.iter().find(|one| one.name == name).map(|one| &one.levels);
        levels(variant).zip(levels(against)).is_some_and(|(one, other)| one.get(factor) != other.get(factor))
    }

    pub(super) fn is_baseline(&self, variant: &str) -> bool {
        self.record.study.variants.first().is_some_and(|first| first.name == variant)
    }

    /// How two variants compare by the deciding metric.
    pub(super) fn claim(&self, against: &str, variant: &str, workload: &str) -> Option<Claim> {
        let question = Question {
            baseline: Some(against.to_owned()),
            metric: Some(self.metric.to_owned()),
            workload: Some(workload.to_owned()),
            ..Question::default()
        };
        let findings = judge(&question.of(self.record.clone()).ok()?);
        claim_of(&findings, self.metric, workload, variant)
    }
}

impl Pair<'_> {
    /// The row of a mechanism that is nearly all of the difference, and that changes at least half as much as it does where it
    /// is to be a cause.
    fn isolated(&self, mechanism: Mechanism, change: i64) -> Option<&Row> {
        let row = self.account.rows.iter().find(|row| row.cause == Cause::Mechanism(mechanism))?;
        let own = difference(row.instructions).unsigned_abs();
        (self.is_alone(Some(row)) && own >= change.unsigned_abs() / 2).then_some(row)
    }

    fn is_alone(&self, row: Option<&Row>) -> bool {
        row.is_some_and(|row| row.permille >= NEARLY_ALL_PERMILLE)
            && self.account.gross <= MOST_GROSS.saturating_mul(self.account.difference.unsigned_abs())
    }
}

/// How a variant compares by a metric on a workload, in the first condition.
pub(super) fn claim_of(findings: &Findings, metric: &str, workload: &str, variant: &str) -> Option<Claim> {
    let table = findings.tables.iter().find(|table| table.metric == metric && table.workload == workload)?;
    let comparison = table.rows.iter().find(|row| row.variant == variant)?.comparison.clone()?;
    let Table { workload, condition, metric, unit, better, .. } = table.clone();
    Some(Claim { workload, condition, metric, unit, better, comparison: Comparison { caveats: vec![], ..comparison } })
}

/// Whether variants differ in a single factor.
pub(crate) fn in_one_factor(one: &Levels, other: &Levels) -> bool {
    only_factor(one, other).is_some()
}

/// The only factor in which they differ.
fn only_factor<'l>(one: &'l Levels, other: &Levels) -> Option<&'l str> {
    let mut differing = one.iter().filter(|(factor, level)| other.get(*factor) != Some(*level));
    let factor = differing.next()?.0;
    differing.next().is_none().then_some(factor.as_str())
}
