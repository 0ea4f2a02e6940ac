//! What the answer rests on, where nothing is in doubt about it: outputs, conditions, builds, trials, and noise.

use bakeoff_judge::findings::{ConditionParts, Findings, Part, Scale};
use bakeoff_model::plain::clean;
use bakeoff_model::record::{Held, Outcome, Record};
use bakeoff_report::draw::rendered::Rendered;
use bakeoff_report::draw::text::unglue;
use bakeoff_report::format::count;
use bakeoff_report::provenance::claim;
use bakeoff_report::words::{Change, counted};
use bakeoff_report::{About, of_part, text};

/// One thing that the answer rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ground {
    /// Whether it holds in full, or only in part.
    pub(crate) is_full: bool,
    /// In a few words.
    pub(crate) title: Rendered,
    /// The figures, or what it means.
    pub(crate) details: Vec<Rendered>,
}

/// Everything that the answer rests on.
pub(crate) fn grounds(findings: &Findings, record: &Record, about: Option<&About<'_>>) -> Vec<Ground> {
    let record = &*record.once();
    let mut grounds: Vec<Ground> = outputs(findings, record).into_iter().collect();
    grounds.extend(trials(record));
    grounds.extend(about.and_then(noise));
    grounds.extend(findings.conditions.iter().filter_map(|condition| surroundings(findings, condition)));
    grounds.extend(builds(findings));
    grounds
}

/// Whether all printed the same; what is not the same is an alarm, or has a section of its own.
fn outputs(findings: &Findings, record: &Record) -> Option<Ground> {
    if !findings.outputs.is_empty() || findings.variants.len() < 2 {
        return None;
    }
    let counting = || record.trials.iter().filter(|trial| trial.outcome == Outcome::Ok);
    let seen = counting().filter(|trial| !trial.output.is_empty()).count();
    counting().next()?;
    let (title, detail) = match seen {
        0 => ("outputs were not compared", "no trial recorded its output".into()),
        seen => ("outputs match in all variants", text!["compared in ", counted(seen as u32, "trial")]),
    };
    Some(Ground { is_full: seen > 0, title: title.into(), details: vec![detail] })
}

fn trials(record: &Record) -> Option<Ground> {
    let total = record.trials.len();
    let of = |is: fn(&Outcome) -> bool| record.trials.iter().filter(|trial| is(&trial.outcome)).count();
    let failed = of(|outcome| matches!(outcome, Outcome::Failed(_)));
    let void = of(|outcome| matches!(outcome, Outcome::Void(_)));
    let lost = [(failed, "failed"), (void, "void")].into_iter().filter(|(n, _)| *n > 0);
    let lost: Vec<String> = lost.map(|(n, what)| format!("{} {what}", count(n as u64))).collect();
    let ok = total - failed - void;
    (total > 0).then(|| Ground {
        is_full: lost.is_empty(),
        title: text![count(ok as u64), " of ", counted(total as u32, "trial"), " valid"],
        details: if lost.is_empty() { vec![] } else { vec![lost.join(", ").into()] },
    })
}

fn noise(about: &About<'_>) -> Option<Ground> {
    let twin = about.twin.filter(|twin| twin.scale == Scale::Ratio)?;
    let range = Change::interval_alone(twin, twin.interval().filter(|[low, high]| low < high), about.unit)?;
    Some(Ground {
        is_full: twin.is_within(),
        title: text!["the machine's noise: ", unglue(&range)],
        details: vec!["the baseline against its hidden twin (the same program)".into()],
    })
}

/// A condition, by the worst of its parts.
fn surroundings(findings: &Findings, condition: &ConditionParts) -> Option<Ground> {
    let rank = |part: &Part| match part.state {
        Held::Held => 0,
        Held::Observed(_) => 1,
        Held::Unavailable(_) => 2,
    };
    let worst = condition.parts.iter().map(rank).max()?;
    let name = clean(&condition.condition);
    let held = condition.parts.iter().filter(|part| rank(part) == 0).count();
    let parts = counted(condition.parts.len() as u32, "part");
    let title: Rendered = match worst {
        0 => text!["condition ", name, ": held"],
        1 if held == 0 => text!["condition ", name, ": observed, not enforced"],
        _ => text!["condition ", name, format!(": {held} of {parts} held")],
    };
    let open = condition.parts.iter().filter(|part| worst == 0 || rank(part) > 0);
    let details = open.map(|part| unglue(&of_part(findings, part).0).into()).collect();
    Some(Ground { is_full: worst == 0, title, details })
}

/// Which builds the claims are about.
fn builds(findings: &Findings) -> Option<Ground> {
    let [title, meaning] = claim(findings)?;
    let is_full = findings.layouts.as_ref().is_some_and(|layouts| layouts.passes > 0 && layouts.passes == layouts.of);
    Some(Ground { is_full, title: unglue(&title).into(), details: vec![unglue(&meaning).into()] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_model::record::{Failure, Output, Trial};
    use bakeoff_report::{Context, brief};
    use bakeoff_testkit::letters;
    use bakeoff_testkit::records::{execute, measure, noise, study};

    fn grounds_of(record: &Record) -> Vec<Ground> {
        let findings = bakeoff_judge::judge(record);
        grounds(&findings, record, brief(&findings, Context::default()).about.as_ref())
    }

    fn record(fill: impl Fn(&mut Trial)) -> Record {
        let mut record = study(&["baseline", "b"], &["idle"], &["wall"]);
        execute(&mut record, 12, |trial| {
            let value = noise(trial);
            measure(trial, "wall", value);
            fill(trial);
        });
        record
    }

    #[test]
    fn what_holds_is_said_to_hold_and_nothing_else() {
        let check = |record: &Record, expect: &[(&str, bool)]| {
            let said = grounds_of(record);
            for (title, is_full) in expect {
                let found = said.iter().find(|ground| letters(&ground.title).starts_with(title));
                assert_eq!(found.map(|ground| ground.is_full), Some(*is_full), "{title}: {said:?}");
            }
        };
        let printed = |trial: &mut Trial| {
            trial.output = vec![Output { bytes: 3, sha256: "a".repeat(64) }];
        };
        let noisy = "the machine's noise: ";
        check(&record(|_| {}), &[("outputs were not compared", false), ("36 of 36 trials valid", true), (noisy, true)]);
        check(&record(printed), &[("outputs match in all variants", true)]);
        let lost = record(|trial| match trial.block {
            1 => trial.outcome = Outcome::Failed(Failure::Exit { code: 1, stderr: vec![] }),
            2 => trial.outcome = Outcome::Void("busy".to_owned()),
            _ => {}
        });
        check(&lost, &[("30 of 36 trials valid", false)]);
        let none = study(&["baseline", "b"], &["idle"], &["wall"]);
        assert_eq!(grounds_of(&none), []);
    }
}
