//! Diagnostic trials: after all that is measured, each variant runs a workload once more under a tracer. Which of
//! them are missing, and their order, is decided here; how one is run is the executor's business, and what they
//! show is the diagnosis's. They never stand between measured trials.

use crate::evidence::{Evidence, EvidenceLine, Traced};
use crate::probing;
use crate::trace::Tracing;
use bakeoff_lab::{Diagnosed, Error, Executor, Subject};
use bakeoff_model::plan::Plan;

/// The diagnostic trials that the journal does not hold, the baseline's first: of every variant, and of the listed workloads
/// that the plan takes. One that could not be had is asked for again, for what kept it may be gone. The twin is the
/// baseline, and has none.
pub(crate) fn missing<'a>(plan: &'a Plan, trace: &'a [String], known: &[EvidenceLine]) -> Vec<Subject<'a>> {
    let taken = trace.iter().filter(|name| plan.workloads.iter().any(|workload| workload.name == **name));
    let subject = |workload| plan.variants.iter().map(move |variant| Subject { variant: &variant.name, workload });
    let all = taken.flat_map(|workload| subject(workload.as_str()));
    let is_held = |subject: &Subject<'_>| {
        known.iter().any(|line| {
            line.subject() == (subject.variant, Some(subject.workload)) && matches!(line.evidence, Evidence::Traced(_))
        })
    };
    all.filter(|subject| !is_held(subject)).collect()
}

/// Runs one, with a tracer that these words start; none if it was interrupted.
///
/// # Errors
/// If nothing can be run any more.
pub fn execute(
    subject: Subject<'_>,
    tracer: &[String],
    executor: &mut dyn Executor,
) -> Result<Option<Evidence>, Error> {
    let workload = subject.workload.to_owned();
    if tracer.is_empty() {
        return Ok(Some(Evidence::Missing { workload: Some(workload), why: "nothing traces here".to_owned() }));
    }
    let mut tracing = Tracing::with(tracer);
    let traced = match executor.diagnose(subject, &mut tracing)? {
        None => return Ok(None),
        Some(Diagnosed::Missing { why }) => return Ok(Some(Evidence::Missing { workload: Some(workload), why })),
        Some(Diagnosed::Failed(failure)) => Traced { workload, failure: Some(failure), ..Traced::default() },
        Some(Diagnosed::Executed { ops, failure }) => {
            let (services, services_unseen) = probing::told(tracing.seen_of_services);
            Traced { workload, failure, ops, command: tracing.seen, services, services_unseen }
        }
    };
    Ok(Some(Evidence::of_trial(traced)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_model::plan::Variant;
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

    fn line(subject: Subject<'_>, evidence: Evidence) -> EvidenceLine {
        EvidenceLine { session: 1, variant: subject.variant.to_owned(), evidence }
    }

    #[test]
    fn what_is_held_is_not_gathered_again_and_what_could_not_be_had_is() {
        let plan = plan();
        let trace = ["scan", "not planned"].map(str::to_owned);
        let names = |known: &[EvidenceLine]| {
            let missing = missing(&plan, &trace, known);
            missing.iter().map(|subject| format!("{} {}", subject.workload, subject.variant)).collect::<Vec<_>>()
        };
        assert_eq!(names(&[]), ["scan baseline", "scan f=b", "scan f=c"]);
        let traced = |subject: Subject<'_>| {
            line(subject, Evidence::of_trial(Traced { workload: subject.workload.to_owned(), ..Traced::default() }))
        };
        let missed = |subject: Subject<'_>| {
            let why = "refused".to_owned();
            line(subject, Evidence::Missing { workload: Some(subject.workload.to_owned()), why })
        };
        let subject = |variant| Subject { variant, workload: "scan" };
        let known = [traced(subject("baseline")), missed(subject("f=b"))];
        assert_eq!(names(&known), ["scan f=b", "scan f=c"]);
        let all = ["scan", "loop"].map(str::to_owned);
        assert_eq!(super::missing(&plan, &all, &known).len(), 5);
    }
}
