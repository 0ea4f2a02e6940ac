//! What the screen is about: the deciding metric, of the only workload or over all of them, under the study's first
//! condition; its rows in their order, the best first. Nothing is put into words here.

use crate::format::{TimeUnit, duration_in};
use bakeoff_judge::findings::{Comparison, EffectKind, Effects, Findings, Ranking, Table};
use bakeoff_model::metric::{Direction, Unit};
use bakeoff_model::study::OutputUse;

#[derive(Debug, Clone)]
pub(super) struct Line<'a> {
    pub(super) variant: &'a str,
    pub(super) stand: Stand<'a>,
}

/// Where a variant stands.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stand<'a> {
    /// It is what the others are compared with; its typical value, where there is one workload.
    Baseline(Option<f64>),
    /// Against the baseline.
    Compared(&'a Comparison),
    /// It has no comparison.
    Absent(Absence),
}

/// Why a variant has no comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Absence {
    NotBuilt,
    OtherOutput,
    AllFailed,
    /// It has values, but the baseline has none.
    NoBaseline,
    NoTrials,
}

/// The rows and what belongs to all of them.
pub(super) struct View<'a> {
    pub(super) metric: &'a str,
    pub(super) unit: Unit,
    pub(super) better: Direction,
    /// Workloads that a row is about.
    pub(super) workloads: Vec<&'a str>,
    pub(super) condition: &'a str,
    pub(super) lines: Vec<Line<'a>>,
    pub(super) twin: Option<&'a Comparison>,
    pub(super) ranking: Option<&'a Ranking>,
    /// The unit of times, if one is asked for.
    pub(super) time_unit: Option<TimeUnit>,
}

impl<'a> View<'a> {
    /// None where the deciding metric has no values at all.
    pub(super) fn of(findings: &'a Findings) -> Option<Self> {
        let first = deciding(findings).next()?;
        Self::under(findings, &first.condition)
    }

    /// The same under another condition.
    pub(super) fn under(findings: &'a Findings, condition: &'a str) -> Option<Self> {
        let tables: Vec<&Table> = deciding(findings).filter(|table| table.condition == condition).collect();
        let first = *tables.first()?;
        let suite = families(findings, EffectKind::Suite, condition).next();
        let mut view = Self {
            metric: &first.metric,
            unit: first.unit,
            better: first.better,
            workloads: tables.iter().map(|table| table.workload.as_str()).collect(),
            condition,
            lines: vec![],
            twin: first.noise_floor.as_ref().and_then(|row| row.comparison.as_ref()),
            ranking: first.ranking.as_ref(),
            time_unit: None,
        };
        match suite.filter(|_| tables.len() > 1) {
            Some(suite) => view.of_suite(findings, suite),
            None => {
                view.workloads.truncate(1);
                view.of_table(findings, first);
            }
        }
        if view.lines.iter().all(|line| matches!(line.stand, Stand::Absent(_) | Stand::Baseline(None)))
            && tables.iter().all(|table| table.rows.iter().all(|row| row.summary.is_none()))
        {
            return None;
        }
        view.sort();
        Some(view)
    }

    fn of_table(&mut self, findings: &'a Findings, table: &'a Table) {
        for (at, row) in table.rows.iter().enumerate() {
            let stand = match (&row.summary, &row.comparison) {
                (Some(summary), _) if at == 0 => Stand::Baseline(Some(summary.median)),
                (Some(_), Some(comparison)) => Stand::Compared(comparison),
                (Some(_), None) => Stand::Absent(Absence::NoBaseline),
                (None, _) => Stand::Absent(absence(findings, &row.variant)),
            };
            self.lines.push(Line { variant: &row.variant, stand });
        }
    }

    fn of_suite(&mut self, findings: &'a Findings, suite: &'a Effects) {
        self.twin = suite.twin.as_ref();
        self.ranking = suite.ranking.as_ref();
        for (at, variant) in findings.variants.iter().enumerate() {
            let effect = suite.effects.iter().find(|effect| effect.variant() == Some(&variant.name));
            let stand = match effect.and_then(|effect| effect.comparison.as_ref()) {
                _ if at == 0 => Stand::Baseline(None),
                Some(comparison) => Stand::Compared(comparison),
                None => Stand::Absent(absence(findings, &variant.name)),
            };
            self.lines.push(Line { variant: &variant.name, stand });
        }
    }

    fn sort(&mut self) {
        let place = |line: &Line<'_>| match line.stand {
            Stand::Baseline(_) => (0, 0.0),
            Stand::Compared(comparison) if self.better == Direction::More => (0, -comparison.departure()),
            Stand::Compared(comparison) => (0, comparison.departure()),
            Stand::Absent(_) => (1, 0.0),
        };
        let mut lines = std::mem::take(&mut self.lines);
        lines.sort_by(|a, b| {
            let ((a, x), (b, y)) = (place(a), place(b));
            a.cmp(&b).then(x.total_cmp(&y))
        });
        self.lines = lines;
    }

    /// The lines in the order of the variants.
    pub(super) fn as_typed(&self, findings: &Findings) -> Vec<Line<'a>> {
        let place = |line: &Line<'_>| findings.variants.iter().position(|variant| variant.name == line.variant);
        let mut lines = self.lines.clone();
        lines.sort_by_key(place);
        lines
    }

    pub(super) fn duration(&self, seconds: f64) -> String {
        duration_in(seconds, self.time_unit)
    }

    pub(super) fn baseline(&self) -> &'a str {
        let is_baseline = |line: &&Line<'a>| matches!(line.stand, Stand::Baseline(_));
        self.lines.iter().find(is_baseline).map_or("", |line| line.variant)
    }

    /// The typical value of the baseline, where there is one.
    pub(super) fn typical(&self) -> Option<f64> {
        self.lines.iter().find_map(|line| match line.stand {
            Stand::Baseline(value) => value,
            _ => None,
        })
    }

    /// The comparisons, the best first.
    pub(super) fn compared(&self) -> impl Iterator<Item = (&'a str, &'a Comparison)> + use<'a, '_> {
        self.lines.iter().filter_map(|line| match line.stand {
            Stand::Compared(comparison) => Some((line.variant, comparison)),
            _ => None,
        })
    }
}

pub(super) fn deciding(findings: &Findings) -> impl Iterator<Item = &Table> {
    findings.tables.iter().filter(|table| table.metric == findings.method.deciding_metric)
}

/// Families of that kind on the deciding metric, under a condition.
pub(super) fn families<'a>(
    findings: &'a Findings,
    kind: EffectKind,
    condition: &'a str,
) -> impl Iterator<Item = &'a Effects> {
    let all = findings.effects.iter().filter(|family| family.metric == findings.method.deciding_metric);
    all.filter(move |family| family.kind == kind && family.condition.as_deref() == Some(condition))
}

fn absence(findings: &Findings, variant: &str) -> Absence {
    if findings.besides.is_unmade(variant) {
        return Absence::NotBuilt;
    }
    let compared = findings.outputs.iter().filter(|outputs| outputs.output == OutputUse::Compared);
    if compared.flat_map(|outputs| &outputs.others).any(|other| other.variant == variant) {
        return Absence::OtherOutput;
    }
    let failed = findings.failures.iter().any(|lost| lost.variant == variant && lost.failed > 0);
    if failed { Absence::AllFailed } else { Absence::NoTrials }
}
