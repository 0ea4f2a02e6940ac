//! The accounts of a record: for each variant of which instructions were counted, on each workload, what explains how it
//! differs from the baseline. What an account is made of is in `account/`; nothing is put into words here.

use crate::account;
use crate::account::result::Account;
use crate::account::time::{TimeInput, Times};
use crate::counts::CountsLine;
use crate::findings::{NotGathered, PairAccount, Unseen};
use crate::kernel::KernelLine;
use crate::samples::{Sampled, SamplesLine};
use bakeoff_judge::findings::{Comparison, Findings, Table};
use bakeoff_judge::{Question, judge};
use bakeoff_model::metric;
use bakeoff_model::record::{Record, TWIN};
use bakeoff_stats::describe::median;

/// The pairs that were asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pairs<'a> {
    /// What the others are compared with; the baseline of the study without.
    pub(crate) against: Option<&'a str>,
    /// The only variant, if there is but one.
    pub(crate) variant: Option<&'a str>,
    pub(crate) workload: Option<&'a str>,
}

/// The account of each pair of which both sides were counted.
pub(crate) fn of(record: &Record, pairs: Pairs<'_>) -> Vec<PairAccount> {
    let (lines, watched, sampled) = (CountsLine::of(record), KernelLine::of(record), SamplesLine::of(record));
    let Some(first) = record.study.variants.first() else { return vec![] };
    let against = pairs.against.unwrap_or(&first.name);
    let counted = |variant: &str, workload: &str| {
        lines.iter().find(|line| line.variant == variant && line.workload == workload && line.missing.is_none())
    };
    let kernel = |names: [&str; 2], workload: &str, service: Option<&str>| {
        let seen = names.map(|variant| watched.iter().find(|line| line.is_of(variant, workload))?.of_service(service));
        let [Some(before), Some(after)] = seen else { return None };
        Some(account::kernel::of([before, after]))
    };
    let mut accounts = vec![];
    for workload in &record.study.workloads {
        let is_meant = pairs.workload.is_none_or(|name| name == workload.as_str());
        let Some(baseline) = counted(against, workload).filter(|_| is_meant) else { continue };
        let spent = Spent::of(record, workload, against);
        for variant in record.study.variants.iter().filter(|variant| variant.name != against && variant.name != TWIN) {
            let is_meant = pairs.variant.is_none_or(|name| name == variant.name);
            let Some(line) = counted(&variant.name, workload).filter(|_| is_meant) else { continue };
            let names = [against, &variant.name];
            let time = spent.input(line, &variant.name);
            let mut account = account::of(&baseline.counted, &line.counted, time);
            account.kernel = kernel(names, workload, None);
            let services = baseline.services.keys().filter_map(|service| {
                let [Some(a), Some(b)] = [baseline, line].map(|line| line.of_service(Some(service))) else {
                    return None;
                };
                let kernel = kernel(names, workload, Some(service));
                Some(Account { service: Some(service.clone()), kernel, ..account::of(a, b, None) })
            });
            // One that did nothing meanwhile has no account.
            let services = services.filter(|account| account.instructions != [0, 0]);
            account.samples =
                account::samples::of([&baseline.counted, &line.counted], &blocks_of(&sampled, workload, names));
            let all = std::iter::once(account).chain(services);
            accounts.extend(all.map(|account| PairAccount {
                variant: variant.name.clone(),
                against: against.to_owned(),
                account,
            }));
        }
    }
    accounts
}

/// The blocks in which both variants were sampled on a workload, as it was in the last of them.
fn blocks_of<'a>(lines: &'a [SamplesLine], workload: &str, variants: [&str; 2]) -> Vec<[&'a Sampled; 2]> {
    let of_it = || lines.iter().filter(|line| line.workload == workload);
    let length = of_it().rev().find(|line| line.runs_of(variants).is_some()).map(|line| &line.length);
    let blocks = of_it().filter(|line| length == Some(&line.length));
    blocks.filter_map(|line| line.runs_of(variants)).collect()
}

/// Whether a variant is shown to differ from the baseline on the deciding metric.
pub(crate) fn differs(findings: &Findings, variant: &str) -> bool {
    let tables = findings.tables.iter().filter(|table| table.metric == findings.method.deciding_metric);
    let mut rows = tables.flat_map(|table| &table.rows).filter(|row| row.variant == variant);
    rows.any(|row| row.comparison.as_ref().is_some_and(Comparison::differs))
}

/// What could not be counted or watched, each reason once.
pub(crate) fn missing(record: &Record) -> Vec<NotGathered> {
    let mut all: Vec<NotGathered> = vec![];
    let of = |workload: &str, service: Option<&String>, why: &str, what: Unseen| NotGathered {
        workload: Some(workload.to_owned()),
        service: service.cloned(),
        variants: vec![],
        why: why.to_owned(),
        what,
    };
    let mut add = |one: NotGathered, variant: &str| {
        let variants = vec![variant.to_owned()];
        match all.iter_mut().find(|known| NotGathered { variants: vec![], ..(*known).clone() } == one) {
            Some(known) => known.variants.extend(variants),
            None => all.push(NotGathered { variants, ..one }),
        }
    };
    for line in CountsLine::of(record) {
        if let Some(why) = &line.missing {
            add(of(&line.workload, None, why, Unseen::Counts), &line.variant);
        }
        if let Some(why) = &line.cachegrind {
            add(of(&line.workload, None, why, Unseen::Calls), &line.variant);
        }
        for (service, why) in &line.services_unseen {
            add(of(&line.workload, Some(service), why, Unseen::Counts), &line.variant);
        }
    }
    for line in KernelLine::of(record) {
        let counted = line.tracer.as_ref().map(|why| (why, Unseen::KernelTimes));
        if let Some((why, what)) = line.missing.as_ref().map(|why| (why, Unseen::Kernel)).or(counted) {
            add(of(&line.workload, None, why, what), &line.variant);
        }
        for (service, why) in &line.services_unseen {
            add(of(&line.workload, Some(service), why, Unseen::Kernel), &line.variant);
        }
    }
    for line in SamplesLine::of(record) {
        for variant in line.missing.iter().flat_map(|_| &line.variants) {
            add(of(&line.workload, None, line.missing.as_deref().unwrap_or_default(), Unseen::Samples), variant);
        }
    }
    all
}

/// The times of variants on a workload, and how they compare with one of them.
struct Spent<'a> {
    record: &'a Record,
    workload: &'a str,
    against: &'a str,
    /// One for each metric of [`TIMES`]; judging a record takes longer than all else here.
    tables: [Option<Table>; 3],
}

const TIMES: [&str; 3] = [metric::USER, metric::SYS, metric::WALL];

impl<'a> Spent<'a> {
    /// Of the first condition, which counts are taken under. The comparisons are by blocks.
    fn of(record: &'a Record, workload: &'a str, against: &'a str) -> Self {
        let tables = TIMES.map(|metric| {
            let question = Question {
                baseline: Some(against.to_owned()),
                metric: Some(metric.to_owned()),
                workload: Some(workload.to_owned()),
                ..Question::default()
            };
            let findings = judge(&question.of(record.clone()).ok()?);
            findings.tables.into_iter().find(|table| table.metric == metric)
        });
        Self { record, workload, against, tables }
    }

    fn input(&self, line: &CountsLine, variant: &str) -> Option<TimeInput> {
        let length = line.counted.last().and_then(|counted| counted.length.clone());
        let [user, sys, wall] = std::array::from_fn(|number| self.times(number, variant));
        Some(TimeInput { length, user: user?, sys, wall })
    }

    fn times(&self, number: usize, variant: &str) -> Option<Times> {
        let medians = [self.against, variant].map(|name| self.median(TIMES[number], name));
        let [Some(before), Some(after)] = medians else { return None };
        let table = self.tables[number].as_ref();
        let row = table.and_then(|table| table.rows.iter().find(|row| row.variant == variant));
        Some(Times::of([before, after], row.and_then(|row| row.comparison.as_ref())))
    }

    fn median(&self, metric: &str, variant: &str) -> Option<f64> {
        let condition = self.record.trials.iter().find(|trial| trial.workload == self.workload)?.condition.clone();
        let trials = self.record.trials.iter().filter(|trial| {
            trial.variant == variant && trial.workload == self.workload && trial.condition == condition
        });
        let values: Vec<f64> = trials.filter_map(|trial| trial.value(metric)).collect();
        median(&values)
    }
}
