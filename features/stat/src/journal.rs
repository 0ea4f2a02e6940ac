//! Our own journals as samples: of each workload and condition a table, of each variant a sample of the metric that the study
//! decides on, in the order of its blocks. Only blocks in which every variant counts are taken, so that the values correspond.
//! The record was read elsewhere.

use bakeoff_model::metric::{Metric, Unit};
use bakeoff_model::range::is_usable;
use bakeoff_model::record::{Outcome, Record, Trial};
use bakeoff_readers::keys::{Keys, Projection};
use bakeoff_readers::{Error, Gathered, Options, Origin, Tool};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What tells the samples of a journal apart, and those of several journals, if nothing else is asked for.
const VARIANT: &str = "/variant";
const JOURNAL_AND_VARIANT: &str = ".file,/variant";

/// What a journal says of a value.
struct JournalLabels<'a> {
    workload: &'a str,
    condition: &'a str,
    variant: &'a str,
    file: &'a str,
    unit: &'a str,
}

impl Keys for JournalLabels<'_> {
    fn get<'a>(&'a self, key: &str, without: &[&str]) -> Cow<'a, str> {
        let with = |name: &str, value: &str| match without.contains(&name) {
            true => String::new(),
            false => format!("{name}={value}"),
        };
        Cow::Borrowed(match key {
            ".name" | "/workload" => self.workload,
            ".fullname" => {
                let condition = with("/condition", self.condition);
                return Cow::Owned(format!("{}{condition}{}", self.workload, with(VARIANT, self.variant)));
            }
            "/condition" => self.condition,
            VARIANT => self.variant,
            ".unit" => self.unit,
            ".file" => self.file,
            _ => "",
        })
    }
}

/// The samples of one journal; whether it is the only file says how they are called.
///
/// # Errors
/// If there is no block in which every variant counts.
pub(crate) fn journal(
    record: &Record,
    is_alone: bool,
    origin: &Origin<'_>,
    options: &Options,
) -> Result<Gathered, Error> {
    let record = &*record.in_parts();
    let study = &record.study;
    let unknown =
        || origin.whole("its study decides on no metric that is known here", "`bakeoff report` shows what there is");
    let name = study.decide.metrics.first().ok_or_else(unknown)?;
    let metric = study.metric(name).ok_or_else(unknown)?;
    let usual = if is_alone { VARIANT } else { JOURNAL_AND_VARIANT };
    let options = Options { col: options.col.clone().or_else(|| Projection::parse(usual).ok()), ..options.clone() };
    let unit = unit_of(&metric);
    let mut gathered = Gathered::default();
    gathered.kind = Some(Tool::Journal);
    let mut lost = 0;
    for ((workload, condition), blocks) in blocks(record) {
        for trials in blocks.values() {
            let value = |variant: &str| {
                let trial = trials.get(variant).filter(|trial| trial.outcome == Outcome::Ok);
                trial?.value(name).filter(|value| is_usable(*value))
            };
            let values: Option<Vec<f64>> = study.variants.iter().map(|variant| value(&variant.name)).collect();
            let Some(values) = values else {
                lost += 1;
                continue;
            };
            for (variant, value) in study.variants.iter().zip(values) {
                let (variant, file, unit) = (variant.name.as_str(), origin.label, unit.as_str());
                let place = JournalLabels { workload, condition, variant, file, unit };
                if options.wants(&place) {
                    gathered.add(&options, &place, unit, metric.better, value);
                }
            }
        }
    }
    if gathered.samples.is_empty() {
        let remedy = "`bakeoff report` shows what there is, and `bakeoff run` goes on";
        return Err(origin.whole("there is no block in it in which every variant counts", remedy));
    }
    if lost > 0 {
        let are = if lost == 1 { "block is" } else { "blocks are" };
        gathered.notes.push(format!("{}: {lost} {are} left out, as not every variant counts there", origin.name));
    }
    Ok(gathered)
}

/// The last attempt of each variant, by block, workload and condition.
type Blocks<'a> = BTreeMap<u32, BTreeMap<&'a str, &'a Trial>>;

fn blocks(record: &Record) -> Vec<((&str, &str), Blocks<'_>)> {
    let mut known: BTreeMap<(&str, &str), Blocks<'_>> = BTreeMap::new();
    for trial in &record.trials {
        let place = (trial.workload.as_str(), trial.condition.as_str());
        known.entry(place).or_default().entry(trial.block).or_default().insert(&trial.variant, trial);
    }
    let study = &record.study;
    let places = study.workloads.iter().flat_map(|w| study.conditions.iter().map(move |c| (w.as_str(), c.as_str())));
    places.filter_map(|place| Some((place, known.remove(&place)?))).collect()
}

/// The unit as Go's tools call it.
fn unit_of(metric: &Metric) -> String {
    match metric.unit {
        Unit::Seconds => "sec".to_owned(),
        Unit::Bytes => "B".to_owned(),
        Unit::Count => metric.name.to_string(),
        Unit::PerSecond => format!("{}/s", metric.name),
        Unit::GuestInstructions => "Ginstructions".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_model::record::{StudyLine, TWIN, VariantLine};
    use bakeoff_model::study::Decide;

    const ORIGIN: Origin<'_> = Origin { name: "j.jsonl", label: "j.jsonl" };

    /// Two variants and a twin under two conditions, in three blocks each; the value says which one it is.
    fn record() -> Record {
        let variant = |name: &str| VariantLine { name: name.to_owned(), ..VariantLine::default() };
        let mut record = Record::new(StudyLine {
            variants: vec![variant("a"), variant("b")],
            workloads: vec!["w".to_owned()],
            conditions: vec!["idle".to_owned(), "busy".to_owned()],
            decide: Decide { metrics: vec!["wall".to_owned(), "maxrss".to_owned()], ..Decide::default() },
            ..StudyLine::default()
        });
        for block in 1..=3 {
            for (c, condition) in [(1.0, "idle"), (2.0, "busy")] {
                // The order changes from block to block; that of the values does not.
                for (v, variant) in if block == 2 { [(20.0, "b"), (10.0, "a")] } else { [(10.0, "a"), (20.0, "b")] } {
                    record.trials.push(Trial {
                        block,
                        workload: "w".to_owned(),
                        condition: condition.to_owned(),
                        variant: variant.to_owned(),
                        measurements: [("wall".to_owned(), 100.0 * f64::from(block) + v + c)].into(),
                        ..Trial::default()
                    });
                }
                let twin = Trial { block, variant: TWIN.to_owned(), ..record.trials[0].clone() };
                record.trials.push(twin);
            }
        }
        record
    }

    fn samples(record: &Record, is_alone: bool, options: &Options) -> Vec<(String, String, Vec<f64>)> {
        let gathered = journal(record, is_alone, &ORIGIN, options).unwrap();
        gathered.samples.into_iter().map(|sample| (sample.row, sample.col, sample.values)).collect()
    }

    fn sample(row: &str, col: &str, values: &[f64]) -> (String, String, Vec<f64>) {
        (row.to_owned(), col.to_owned(), values.to_vec())
    }

    #[test]
    fn each_variant_is_a_sample_in_the_order_of_its_blocks() {
        let expect = [
            sample("w/condition=idle", "a", &[111.0, 211.0, 311.0]),
            sample("w/condition=idle", "b", &[121.0, 221.0, 321.0]),
            sample("w/condition=busy", "a", &[112.0, 212.0, 312.0]),
            sample("w/condition=busy", "b", &[122.0, 222.0, 322.0]),
        ];
        assert_eq!(samples(&record(), true, &Options::default()), expect);
        let cols = |is_alone| samples(&record(), is_alone, &Options::default())[0].1.clone();
        assert_eq!([cols(true), cols(false)], ["a", "j.jsonl variant=a"]);
    }

    #[test]
    fn a_block_counts_if_every_variant_does() {
        let mut record = record();
        record.trials[0].outcome = Outcome::Void("too early".to_owned());
        let idle = |record: &Record| samples(record, true, &Options::default())[0].2.len();
        assert_eq!(idle(&record), 2);
        let notes = journal(&record, true, &ORIGIN, &Options::default()).unwrap().notes;
        assert_eq!(notes, ["j.jsonl: 1 block is left out, as not every variant counts there"]);
        // A void trial that was repeated counts by its last attempt.
        let again = Trial { outcome: Outcome::Ok, attempt: 1, ..record.trials[0].clone() };
        record.trials.push(again);
        assert_eq!(idle(&record), 3);
    }

    #[test]
    fn what_is_asked_for_counts() {
        let parse = |text| Some(Projection::parse(text).unwrap());
        let options = Options {
            col: parse("/condition"),
            filter: bakeoff_readers::keys::Filter::parse("/variant:b").unwrap(),
            ..Options::default()
        };
        let found = samples(&record(), true, &options);
        let expect = [
            sample("w/variant=b", "idle", &[121.0, 221.0, 321.0]),
            sample("w/variant=b", "busy", &[122.0, 222.0, 322.0]),
        ];
        assert_eq!(found, expect);
    }

    #[test]
    fn what_has_no_values_is_refused_with_a_remedy() {
        let check = |record: &Record, part: &str| {
            let error = journal(record, true, &ORIGIN, &Options::default()).unwrap_err();
            assert!(error.message.contains(part) && !error.remedy.is_empty(), "{error:?}");
        };
        let mut empty = record();
        empty.trials.clear();
        check(&empty, "no block in it");
        let mut unknown = record();
        unknown.study.decide.metrics = vec!["no such metric".to_owned()];
        check(&unknown, "decides on no metric");
    }
}
