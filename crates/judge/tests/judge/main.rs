//! The judge, from records in to findings out: one folder of tests, one program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "all of this is tests")]

mod comparison_laws;
mod conditions;
mod counts;
mod diagnostics;
mod directions;
mod effects;
mod families;
mod latencies;
mod nodes;
mod only;
mod outputs;
mod samples;
mod suites;
mod ticks;
mod trends;
mod verdicts;

use bakeoff_judge::findings::{Effect, EffectKind, Effects, Findings, Subject};

/// What an effect is about and against what, in short, for tests to name it.
fn labels(family: &Effects, effect: &Effect) -> [String; 2] {
    match &effect.subject {
        Subject::Levels(steps) => {
            let levels: Vec<String> = steps.iter().map(|step| format!("{}={}", step.factor, step.level)).collect();
            let against: Vec<String> = steps.iter().map(|step| format!("{}={}", step.factor, step.against)).collect();
            [levels.join(" × "), against.join(", ")]
        }
        Subject::Steps { factor } => [factor.clone(), String::new()],
        Subject::Condition { variant, condition, against } => [format!("{variant}: {condition}"), against.clone()],
        Subject::Variant { variant, against } => match (&family.condition, &family.first_condition) {
            (Some(condition), Some(first)) => [format!("{variant} × {condition}"), first.clone()],
            _ => [variant.clone(), against.clone()],
        },
    }
}

fn label(family: &Effects, effect: &Effect) -> String {
    let [label, _] = labels(family, effect);
    label
}

fn family(findings: &Findings, kind: EffectKind) -> &Effects {
    findings.effects.iter().find(|effects| effects.kind == kind).expect("a family of this kind")
}

fn names(family: &Effects) -> Vec<String> {
    family.effects.iter().map(|effect| label(family, effect)).collect()
}
