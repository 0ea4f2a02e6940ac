//! Another question to the same trials: another baseline, metric, workload, condition or confidence. It makes a record whose
//! study asks that, to be judged like any other; what was not measured cannot be asked. Which rows are shown is not asked here.
#![allow(missing_docs, reason = "the names of fields say what they are; where not, a comment does")]

use crate::study::variants;
use bakeoff_model::metric::METRICS;
use bakeoff_model::plan::BASELINE;
use bakeoff_model::record::{Record, TWIN, is_baseline_again};

/// What the former baseline is called where another variant takes its place.
const FORMER: &str = "study-baseline";

/// What is asked instead of the study's own; nothing is what the study asks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Question {
    /// The variant that others are compared with.
    pub baseline: Option<String>,
    pub metric: Option<String>,
    pub workload: Option<String>,
    pub condition: Option<String>,
    pub confidence: Option<f64>,
}

/// What cannot be asked of a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the journal has no {what} `{name}`")]
pub struct Unasked {
    pub what: &'static str,
    pub name: String,
    pub known: Vec<String>,
}

impl Question {
    /// The record as if its study had asked this.
    pub fn of(&self, record: Record) -> Result<Record, Unasked> {
        if *self == Self::default() {
            return Ok(record);
        }
        let mut asked = record;
        // What is asked of the whole process stays where a suite is parted into its benchmarks.
        let is_measured = |name: &&String| asked.trials.iter().any(|trial| trial.value(name).is_some());
        let of_whole = self.metric.as_ref().filter(is_measured).cloned();
        asked.study.decide.metrics.extend(of_whole);
        let mut record = asked.in_parts().into_owned();
        if let Some(name) = &self.workload {
            only(&mut record.study.workloads, name, "workload")?;
            record.trials.retain(|trial| trial.workload == *name);
            record.blocks.retain(|block| block.workload == *name);
        }
        if let Some(name) = &self.condition {
            only(&mut record.study.conditions, name, "condition")?;
            record.trials.retain(|trial| trial.condition == *name);
            record.blocks.retain(|block| block.condition == *name);
        }
        if let Some(name) = &self.metric {
            decide_on(&mut record, name)?;
        }
        if let Some(confidence) = self.confidence {
            record.study.decide.confidence = confidence;
        }
        if let Some(name) = &self.baseline {
            compare_with(&mut record, name)?;
        }
        Ok(record)
    }
}

fn only(names: &mut Vec<String>, name: &str, what: &'static str) -> Result<(), Unasked> {
    if !names.iter().any(|known| known == name) {
        return Err(Unasked { what, name: name.to_owned(), known: names.clone() });
    }
    names.retain(|known| known == name);
    Ok(())
}

fn decide_on(record: &mut Record, name: &str) -> Result<(), Unasked> {
    let is_measured = |name: &str| record.trials.iter().any(|trial| trial.value(name).is_some());
    if record.study.metric(name).is_none() || !is_measured(name) {
        let known = record.study.metrics.iter().chain(METRICS).map(|known| known.name.to_string());
        let known = known.filter(|known| is_measured(known)).collect();
        return Err(Unasked { what: "metric", name: name.to_owned(), known });
    }
    let decide = &mut record.study.decide;
    decide.metrics.retain(|known| known != name);
    decide.metrics.insert(0, name.to_owned());
    Ok(())
}

/// The twin is one of the former baseline, and says nothing of another: its trials are left out.
fn compare_with(record: &mut Record, name: &str) -> Result<(), Unasked> {
    let names: Vec<String> = variants(&record.study).map(|variant| variant.name.clone()).collect();
    let Some(at) = names.iter().position(|known| known == name) else {
        return Err(Unasked { what: "variant", name: name.to_owned(), known: names });
    };
    if at == 0 {
        return Ok(());
    }
    record.study.variants.retain(|variant| variant.name != TWIN);
    record.trials.retain(|trial| !is_baseline_again(&trial.variant));
    record.study.variants[..=at].rotate_right(1);
    record.study.decide.baseline = record.study.variants[0].levels.clone();
    let renamed = |known: &mut String| {
        if known == BASELINE {
            FORMER.clone_into(known);
        }
    };
    record.study.variants.iter_mut().for_each(|variant| renamed(&mut variant.name));
    record.study.shared.iter_mut().for_each(|one| renamed(&mut one.with));
    record.trials.iter_mut().for_each(|trial| renamed(&mut trial.variant));
    record.made.iter_mut().flat_map(|made| &mut made.variants).for_each(renamed);
    for block in &mut record.blocks {
        block.order.retain(|variant| !is_baseline_again(variant));
        block.order.iter_mut().for_each(renamed);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_model::record::StudyLine;
    use bakeoff_model::record::{Block, Trial, VariantLine};

    fn record() -> Record {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let variant = |name: &&str| VariantLine { name: (*name).to_owned(), ..VariantLine::default() };
        let mut record = Record::new(StudyLine {
            variants: [BASELINE, "b", "c"].iter().map(variant).collect(),
            workloads: names(&["loop", "regex"]),
            conditions: names(&["idle", "busy"]),
            ..StudyLine::default()
        });
        record.study.decide.metrics = names(&["wall"]);
        for workload in ["loop", "regex"] {
            for variant in [BASELINE, "b", "c", TWIN] {
                record.trials.push(Trial {
                    workload: workload.to_owned(),
                    condition: "idle".to_owned(),
                    variant: variant.to_owned(),
                    measurements: [("wall".to_owned(), 1.0), ("user".to_owned(), 0.9)].into(),
                    ..Trial::default()
                });
            }
            let order = names(&[TWIN, "b", BASELINE, "c"]);
            let (workload, condition) = (workload.to_owned(), "idle".to_owned());
            record.blocks.push(Block { workload, condition, order, ..Block::default() });
        }
        record
    }

    #[test]
    fn a_question_is_asked_of_a_part_of_the_record() {
        let asked = |question: Question| question.of(record());
        let one = asked(Question { workload: Some("regex".to_owned()), ..Question::default() })
            .unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((one.study.workloads.len(), one.trials.len(), one.blocks.len()), (1, 4, 1));
        let user = asked(Question { metric: Some("user".to_owned()), ..Question::default() })
            .unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(user.study.decide.metrics, ["user", "wall"]);
        let other =
            asked(Question { baseline: Some("c".to_owned()), ..Question::default() }).unwrap_or_else(|e| panic!("{e}"));
        let names: Vec<&str> = other.study.variants.iter().map(|variant| variant.name.as_str()).collect();
        assert_eq!(names, ["c", FORMER, "b"]);
        assert!(other.trials.iter().all(|trial| trial.variant != TWIN && trial.variant != BASELINE));
        assert_eq!(other.blocks[0].order, ["b", FORMER, "c"]);
    }

    #[test]
    fn what_a_record_does_not_have_cannot_be_asked() {
        let refused = |question: Question| question.of(record()).err().map(|e| (e.to_string(), e.known.len()));
        let question = Question { condition: Some("loud".to_owned()), ..Question::default() };
        assert_eq!(refused(question), Some(("the journal has no condition `loud`".to_owned(), 2)));
        let question = Question { metric: Some("majflt".to_owned()), ..Question::default() };
        assert_eq!(refused(question), Some(("the journal has no metric `majflt`".to_owned(), 3)));
        // A metric of the study that no trial has a value of is not offered either.
        let mut silent = record();
        silent.study.decide.metrics.push("web.cpu".to_owned());
        let question = Question { metric: Some("web.cpu".to_owned()), ..Question::default() };
        let known = question.of(silent).err().map(|e| e.known).unwrap_or_default();
        assert_eq!(known, ["wall", "user", "throughput"]);
        let question = Question { baseline: Some("d".to_owned()), ..Question::default() };
        assert_eq!(refused(question), Some(("the journal has no variant `d`".to_owned(), 3)));
    }
}
