//! Whether the variants did the same work, by what they printed. The baseline and its twin say what a difference means:
//! where their own outputs differ from trial to trial, nothing follows from another one; where all of them are the same,
//! a variant whose output is another one did something else, and gets no verdict, unless the study wants it judged all
//! the same. Only trials that count are looked at, and two of the baseline's are the least.

use super::contrasts::Weights;
use super::ids::{Cell, Ids, Place};
use super::trials::Trials;
use crate::findings::{OtherOutput, Outputs, Refusal, Table, Verdict};
use bakeoff_model::record::{Outcome, Output, Record, TWIN, Trial};
use bakeoff_model::study::OutputUse;

/// Fewer trials of the baseline than this cannot show that its output does not vary.
const BASELINE_MIN: usize = 2;

/// One entry for each workload × condition in which something was printed that is not what the baseline prints.
pub(super) fn outputs(record: &Record, trials: &Trials<'_>) -> Vec<Outputs> {
    trials.ids.places(&record.study).filter_map(|place| of_place(record, trials, place)).collect()
}

fn of_place(record: &Record, trials: &Trials<'_>, place: Place) -> Option<Outputs> {
    let (study, (workload, condition)) = (&record.study, trials.ids.names(place));
    let output = study.outputs.get(workload).copied().unwrap_or_default();
    if matches!(output, OutputUse::Varies | OutputUse::Null) {
        return None;
    }
    let of = |variant: &str| printing(trials, place, variant);
    let (baseline, others) = study.variants.split_first()?;
    let own: Vec<&Trial> = of(&baseline.name).into_iter().chain(of(TWIN)).collect();
    let first = &own.first()?.output;
    let varies = own.iter().any(|trial| trial.output != *first);
    let difference = |variant: &str| {
        let cell = (variant, workload, condition);
        let mut its =
            record.trials.iter().filter(|trial| (&*trial.variant, &*trial.workload, &*trial.condition) == cell);
        its.find_map(|trial| trial.output_difference.clone())
    };
    let is_known = own.len() >= BASELINE_MIN && !varies;
    let others = others.iter().filter(|variant| is_known && variant.name != TWIN).filter_map(|variant| {
        let all = of(&variant.name);
        let trials = all.iter().filter(|trial| trial.output != *first).count() as u32;
        let (name, of, bytes) = (variant.name.clone(), all.len() as u32, bytes(&all));
        (trials > 0).then(|| OtherOutput { first: difference(&name), variant: name, trials, of, bytes })
    });
    let others: Vec<OtherOutput> = others.collect();
    (varies || !others.is_empty()).then(|| Outputs {
        workload: workload.to_owned(),
        condition: condition.to_owned(),
        output,
        baseline_trials: own.len() as u32,
        varies,
        baseline_bytes: bytes(&own),
        first: [baseline.name.as_str(), TWIN].into_iter().find_map(difference).filter(|_| varies),
        others,
    })
}

/// The trials of a variant that count and have printed something.
fn printing<'a>(trials: &Trials<'a>, place: Place, variant: &str) -> Vec<&'a Trial> {
    let variant = trials.ids.variant(variant);
    let of_block = trials.blocks(place).filter_map(|block| block.get(&variant).copied());
    of_block.filter(|trial| trial.outcome == Outcome::Ok && !trial.output.is_empty()).collect()
}

/// The least and the most of all.
fn bytes(trials: &[&Trial]) -> [u64; 2] {
    let all = || trials.iter().map(|trial| trial.output.iter().map(|output: &Output| output.bytes).sum::<u64>());
    [all().min().unwrap_or(0), all().max().unwrap_or(0)]
}

/// Whether a variant is not judged there.
pub(super) fn is_withheld(outputs: &[Outputs], ids: &Ids<'_>, cell: Cell) -> bool {
    let here = |o: &&Outputs| ids.place(&o.workload, &o.condition) == cell.place && o.output == OutputUse::Compared;
    outputs.iter().filter(here).flat_map(|o| &o.others).any(|other| ids.variant(&other.variant) == cell.variant)
}

/// Why a contrast of whole variants lacks an estimate, if one's output made [`Trials::without`] leave out its trials.
pub(super) fn lacking(outputs: &[Outputs], ids: &Ids<'_>, weights: &Weights) -> Option<Refusal> {
    let compared = outputs.iter().filter(|outputs| outputs.output == OutputUse::Compared);
    let mut others = compared.flat_map(|outputs| outputs.others.iter().map(move |other| (outputs, other)));
    let is_needed = |(outputs, other): &(&Outputs, &OtherOutput)| {
        let place = ids.place(&outputs.workload, &outputs.condition);
        weights.contains_key(&Cell { variant: ids.variant(&other.variant), place })
    };
    let (outputs, other) = others.find(is_needed)?;
    Some(Refusal::OtherOutput { variant: other.variant.clone(), workload: outputs.workload.clone() })
}

/// Takes away the verdicts of those that printed something else.
pub(super) fn withhold(tables: &mut [Table], outputs: &[Outputs], ids: &Ids<'_>) {
    for table in tables {
        let place = ids.place(&table.workload, &table.condition);
        for row in &mut table.rows {
            let cell = Cell { variant: ids.variant(&row.variant), place };
            if let Some(comparison) = row.comparison.as_mut().filter(|_| is_withheld(outputs, ids, cell)) {
                comparison.verdict = Verdict::Withheld;
                comparison.detectable = None;
            }
        }
    }
}
