//! Doubts about a study as a whole. Those about one comparison are in [`super::conclude`].

use super::rule::DecisionRule;
use super::trials::Trials;
use super::{builds, conditions, provided};
use crate::findings::{Caveat, Findings, Verdict};
use bakeoff_model::metric;
use bakeoff_model::record::{BuildOutcome, Record, StudyLine};
use bakeoff_model::until::Until;

/// All doubts that apply, the gravest first. `findings` is complete but for these.
pub(super) fn about(findings: &Findings, record: &Record, trials: &Trials<'_>, rule: DecisionRule) -> Vec<Caveat> {
    let doubts = [
        ("simulated", simulated(findings)),
        ("twin-differs", twin_differs(findings)),
        ("identical-differs", builds::identical_differs(findings)),
        ("failed-builds", failed_builds(findings)),
        ("unfinished", unfinished(findings)),
        ("several-places", several_places(findings)),
        ("interrupted-blocks", interrupted_blocks(trials)),
        ("prolonged", prolonged(record)),
        ("after-the-look", after_the_look(findings, record)),
        ("leftovers", leftovers(record)),
        ("clock-set", clock_set(record)),
        ("unequal-load", conditions::unequal_load(&record.study, trials, rule)),
        ("busy-machine", conditions::busy_machine(record, trials)),
        ("two-kinds-of-peak", provided::two_kinds_of_peak(&findings.tables, trials)),
        ("blind-rules", provided::blind_rules(&record.study, &findings.missing)),
        ("unknown-metric", unknown_metrics(&record.study)),
    ];
    let caveat = |(kind, text): (&str, Option<String>)| Some(Caveat { kind: kind.to_owned(), text: text? });
    doubts.into_iter().filter_map(caveat).collect()
}

fn simulated(findings: &Findings) -> Option<String> {
    let truth = findings.simulated.as_ref()?;
    Some(format!("the trials were simulated, with this planted truth: {truth}"))
}

fn twin_differs(findings: &Findings) -> Option<String> {
    let verdicts: Vec<Verdict> = findings
        .tables
        .iter()
        .filter_map(|table| table.noise_floor.as_ref()?.comparison.as_ref())
        .map(|comparison| comparison.verdict)
        .collect();
    let differ = verdicts.iter().filter(|v| matches!(v, Verdict::Faster | Verdict::Slower)).count();
    let of = verdicts.len();
    (differ > 0).then(|| {
        format!(
            "the baseline's twin, which is the same thing under another name, was judged different from it in {differ} \
             of {of} tables: differences of that size are this machine's noise"
        )
    })
}

fn failed_builds(findings: &Findings) -> Option<String> {
    let failed = findings.builds.iter().filter(|build| build.outcome != BuildOutcome::Built);
    let variants: Vec<&str> = failed.flat_map(|build| &build.variants).map(String::as_str).collect();
    (!variants.is_empty()).then(|| format!("could not be built, and so not compared: {}", variants.join(", ")))
}

fn unfinished(findings: &Findings) -> Option<String> {
    let (finished, total) = (findings.blocks_finished, findings.blocks_total);
    let at_most = if findings.method.stopping.is_some() { "at most " } else { "" };
    (finished < total).then(|| format!("the study is not finished: {finished} of {at_most}{total} blocks"))
}

fn several_places(findings: &Findings) -> Option<String> {
    let places = findings.places.len();
    (places > 1).then(|| format!("the blocks were executed in {places} different places"))
}

fn interrupted_blocks(trials: &Trials<'_>) -> Option<String> {
    let spans = trials.all_blocks().filter(|block| {
        let mut sessions = block.values().map(|trial| trial.session);
        let first = sessions.next();
        sessions.any(|session| Some(session) != first)
    });
    let spans = spans.count();
    let were = if spans == 1 { "block was" } else { "blocks were" };
    (spans > 0).then(|| format!("{spans} {were} begun in one session and finished in a later one"))
}

/// Stopping when one likes what one sees is a stopping rule without an error rate.
fn prolonged(record: &Record) -> Option<String> {
    // A stopping rule may be given more room: it would have gone on all the same, whatever the difference.
    if record.study.until != Until::Blocks {
        return None;
    }
    let mut wanted: Vec<u32> = record.sessions.iter().map(|session| session.blocks).collect();
    wanted.dedup();
    let raised = wanted.windows(2).filter(|pair| pair[1] > pair[0]).count();
    let times = if raised == 1 { "once".to_owned() } else { format!("{raised} times") };
    (raised > 0).then(|| {
        format!(
            "the number of blocks was raised {times} after trials had been seen; the error rates stated are those of a \
             number fixed beforehand"
        )
    })
}

/// Looking between the looks would be one look more than the error rates allow for.
fn after_the_look(findings: &Findings, record: &Record) -> Option<String> {
    let stopping = findings.method.stopping.as_ref().filter(|stopping| !stopping.looks.is_empty())?;
    let passes = record.blocks.iter().map(|block| block.block).max().unwrap_or(0);
    let looked = stopping.looks.contains(&stopping.judged_blocks);
    (looked && passes > stopping.judged_blocks).then(|| {
        format!(
            "the stopping rule looked at {} blocks of each workload and condition; what came after them is not judged",
            stopping.judged_blocks
        )
    })
}

fn leftovers(record: &Record) -> Option<String> {
    let trials = record.trials.iter().filter(|trial| trial.leftovers > 0);
    let mut variants: Vec<&str> = trials.map(|trial| trial.variant.as_str()).collect();
    let of = variants.len();
    variants.sort_unstable();
    variants.dedup();
    let whose = variants.join(", ");
    (of > 0).then(|| {
        format!(
            "in {of} trials ({whose}) processes outlived the main one and were killed; what they did is not measured"
        )
    })
}

fn clock_set(record: &Record) -> Option<String> {
    let steps = &record.clock_set;
    let most = steps.iter().map(|step| step.by_s).max_by(|a, b| a.abs().total_cmp(&b.abs()))?;
    let way = if most < 0.0 { "back" } else { "forward" };
    let times = if steps.len() == 1 { "was set".to_owned() } else { format!("was set {} times", steps.len()) };
    let by = if steps.len() == 1 { "" } else { "at most " };
    Some(format!(
        "the system's clock {times} while trials were executed ({by}{:.0} s {way}): times of day do not fit; durations come \
         from another clock",
        most.abs()
    ))
}

fn unknown_metrics(study: &StudyLine) -> Option<String> {
    let metrics = study.decide.metrics.iter().map(String::as_str);
    let unknown: Vec<&str> = metrics.filter(|name| metric::by_name(name, &study.metrics).is_none()).collect();
    (!unknown.is_empty()).then(|| format!("metrics that this version does not know: {}", unknown.join(", ")))
}
