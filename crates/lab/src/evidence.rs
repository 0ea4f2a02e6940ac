//! Diagnostic trials: after all that is measured, each variant executes a workload once more under a tracer. Which of
//! them are missing, and their order, is decided here; how one is executed is the executor's business, and what they
//! show is the analysis's. They never stand between measured trials.

pub use crate::Subject;

use crate::{Ending, Executor};
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{Evidence, Record};

/// What happens, in the order in which it happens.
#[derive(Debug, Clone, PartialEq)]
pub enum Gathering<'a> {
    /// A diagnostic trial is about to begin.
    Begins {
        /// Of what.
        subject: Subject<'a>,
        /// Which it is of this session's, from 1.
        number: usize,
        /// How many there are.
        of: usize,
    },
    /// This is what it showed.
    Found {
        /// Of what.
        subject: Subject<'a>,
        /// What was found.
        evidence: Evidence,
    },
}

/// The diagnostic trials that a record does not hold, the baseline's first: of every variant, and of the listed workloads
/// that the plan takes. One that could not be had is asked for again, for what kept it may be gone. The twin is the
/// baseline, and has none.
pub fn missing<'a>(plan: &'a Plan, trace: &'a [String], record: &Record) -> Vec<Subject<'a>> {
    let taken = trace.iter().filter(|name| plan.workloads.iter().any(|workload| workload.name == **name));
    let subject = |workload| plan.variants.iter().map(move |variant| Subject { variant: &variant.name, workload });
    let all = taken.flat_map(|workload| subject(workload.as_str()));
    let is_held = |subject: &Subject<'_>| {
        record.evidence.iter().any(|line| {
            line.subject() == (subject.variant, Some(subject.workload)) && matches!(line.evidence, Evidence::Traced(_))
        })
    };
    all.filter(|subject| !is_held(subject)).collect()
}

/// Executes diagnostic trials, one after the other. `emit` hears of each and may fail, which ends it at once; `stop` is
/// asked before each.
pub fn gather<E: From<crate::Error>>(
    subjects: &[Subject<'_>],
    executor: &mut dyn Executor,
    emit: &mut dyn FnMut(Gathering<'_>) -> Result<(), E>,
    stop: &dyn Fn() -> bool,
) -> Result<Ending, E> {
    for (number, &subject) in (1..).zip(subjects) {
        if stop() {
            return Ok(Ending::Stopped);
        }
        emit(Gathering::Begins { subject, number, of: subjects.len() })?;
        let Some(evidence) = executor.diagnose(subject)? else { return Ok(Ending::Stopped) };
        emit(Gathering::Found { subject, evidence })?;
    }
    Ok(Ending::Complete)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;
    use crate::{Error, Execution, Task};
    use bakeoff_model::plan::Variant;
    use bakeoff_model::record::{EvidenceLine, Line, StudyLine, Traced};
    use bakeoff_model::study::Workload;

    fn plan() -> Plan {
        let variant = |name: &str| Variant { name: name.to_owned(), ..Variant::default() };
        let workload = |name: &str| Workload { name: name.to_owned(), ..Workload::default() };
        Plan {
            variants: vec![variant("baseline"), variant("f=b"), variant("f=c")],
            workloads: vec![workload("loop"), workload("scan")],
            ..Plan::default()
        }
    }

    /// Traces everything but what has this name, and is interrupted at that.
    struct Tracing(&'static str);

    impl Executor for Tracing {
        fn execute(&mut self, _task: Task<'_>) -> Result<Option<Execution>, Error> {
            unreachable!("no trial is measured")
        }

        fn diagnose(&mut self, subject: Subject<'_>) -> Result<Option<Evidence>, Error> {
            let traced = Traced { workload: subject.workload.to_owned(), ..Traced::default() };
            Ok((subject.variant != self.0).then_some(Evidence::of_trial(traced)))
        }
    }

    /// One session; what it gathered goes into the record.
    fn session(plan: &Plan, trace: &[String], record: &mut Record, stopped_at: &'static str) -> (Ending, Vec<String>) {
        let (mut lines, mut begun) = (vec![], vec![]);
        let mut emit = |gathering: Gathering<'_>| -> Result<(), Error> {
            match gathering {
                Gathering::Begins { subject, number, of } => {
                    begun.push(format!("{number}/{of} {} {}", subject.workload, subject.variant));
                }
                Gathering::Found { subject, evidence } => {
                    lines.push(EvidenceLine { session: 1, variant: subject.variant.to_owned(), evidence });
                }
            }
            Ok(())
        };
        let subjects = missing(plan, trace, record);
        let ending = gather(&subjects, &mut Tracing(stopped_at), &mut emit, &|| false).unwrap();
        lines.into_iter().for_each(|line| record.push(Line::Evidence(line)));
        (ending, begun)
    }

    #[test]
    fn what_an_interrupt_left_out_is_gathered_by_the_next_session_and_nothing_twice() {
        let (plan, mut record) = (plan(), Record::new(StudyLine::default()));
        let trace = ["scan", "not planned"].map(str::to_owned);
        let (ending, begun) = session(&plan, &trace, &mut record, "f=b");
        assert_eq!((ending, begun), (Ending::Stopped, vec!["1/3 scan baseline".into(), "2/3 scan f=b".into()]));
        let (ending, begun) = session(&plan, &trace, &mut record, "");
        assert_eq!((ending, begun), (Ending::Complete, vec!["1/2 scan f=b".into(), "2/2 scan f=c".into()]));
        assert_eq!(session(&plan, &trace, &mut record, ""), (Ending::Complete, vec![]));
        let more = ["scan", "loop"].map(str::to_owned);
        assert_eq!(session(&plan, &more, &mut record, "").1.len(), 3);
        assert_eq!(record.evidence.len(), 6);
    }

    #[test]
    fn what_could_not_be_had_is_asked_for_again_and_nothing_is_begun_by_who_is_to_stop() {
        let (plan, mut record) = (plan(), Record::new(StudyLine::default()));
        let trace = ["loop".to_owned()];
        let subjects = missing(&plan, &trace, &record);
        for subject in &subjects {
            let evidence = subject.missing("refused");
            let line = EvidenceLine { session: 1, variant: subject.variant.to_owned(), evidence };
            record.push(Line::Evidence(line));
        }
        assert_eq!(missing(&plan, &trace, &record), subjects);
        let nothing = &mut |_: Gathering<'_>| -> Result<(), Error> { panic!("something was begun") };
        assert_eq!(gather(&subjects, &mut Tracing(""), nothing, &|| true).unwrap(), Ending::Stopped);
    }
}
