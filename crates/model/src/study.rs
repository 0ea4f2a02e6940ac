//! A study, as it was written down: factors and their levels, sources and layers, workloads, conditions, plans and
//! how to decide. It is what [`crate::study_file`] makes of a `study.toml` without problems; it is not yet a plan:
//! no variant has been formed and nothing has been excluded.

use crate::until::Until;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One question written down.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    /// Short name; used in file names and headings.
    pub name: String,
    /// The question in the author's words.
    pub question: Option<String>,
    /// What changes how the program is built.
    pub build_factors: Vec<Factor>,
    /// What changes only how it is executed.
    pub run_factors: Vec<Factor>,
    /// Combinations of levels that are left out, each with its reason.
    pub excludes: Vec<Exclude>,
    /// Inputs of builds, pinned by their SHA-256.
    pub sources: Vec<Source>,
    /// The build steps, in order; all of them install into one prefix.
    pub layers: Vec<Layer>,
    /// What is executed and measured.
    pub workloads: Vec<Workload>,
    /// The surroundings in which it is executed.
    pub conditions: Vec<Condition>,
    /// The default plan first, then the named ones in the order of the file.
    pub plans: Vec<PlanSpec>,
    /// How the measurements are judged.
    pub decide: Decide,
}

/// Something varied on purpose.
#[derive(Debug, Clone, PartialEq)]
pub struct Factor {
    /// Its name in the study file.
    pub name: String,
    /// Its settings, in the order of the file.
    pub levels: Vec<Level>,
}

/// One setting of a factor.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Level {
    /// Its name in the study file.
    pub name: String,
    /// Environment variables for the scripts: the UPPER-CASE keys.
    pub variables: BTreeMap<String, String>,
    /// Replaces the workload's command: the instruction `run`.
    pub run: Option<String>,
}

/// Levels by factor: a point, or a corner, of the space of variants.
pub type Levels = BTreeMap<String, String>;

/// A combination that is not built and not executed.
#[derive(Debug, Clone, PartialEq)]
pub struct Exclude {
    /// Every variant that has all of these levels is left out.
    pub when: Levels,
    /// Why; printed with the plan.
    pub reason: String,
}

/// An input of a build.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// Its name in the study file.
    pub name: String,
    /// A shell command that leaves one file in the folder `$DOWNLOAD`.
    pub fetch: String,
    /// The file is accepted if this is its SHA-256 (64 lower-case hexadecimal digits).
    pub sha256: String,
}

/// One cached build step.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Its name in the study file.
    pub name: String,
    /// The source that is unpacked into the script's folder, if any.
    pub source: Option<String>,
    /// A `sh -e` script that installs into `$PREFIX`.
    pub script: String,
    /// Shell commands that must exit 0 afterwards: did every level take effect?
    pub verify: Vec<String>,
    /// Files of the study's folder that the script needs; copied beside the source.
    pub files: Vec<String>,
    /// Programs whose path and version are part of the build's name.
    pub tools: Vec<String>,
    /// About how long it takes, in seconds, as the author saw it; for estimates before anything was timed here.
    pub takes_s: Option<f64>,
}

/// One repeatable way to exercise the program.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// Its name in the study file.
    pub name: String,
    /// The command; see `docs/study-file.md` for its folder and environment.
    pub run: String,
    /// A file of the study's folder: the standard output that every trial must print.
    pub expect: Option<String>,
    /// Files of the study's folder that the command needs, beside those that it names: a trial on changed ones is not
    /// comparable with one on the old.
    pub files: Vec<String>,
    /// About how long a trial takes, in seconds, as the author saw it; for estimates before anything was timed here.
    pub takes_s: Option<f64>,
}

/// The surroundings of a trial. Only the idle machine exists so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// Its name in the study file.
    pub name: String,
}

/// How many blocks, of which variants, in which order.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanSpec {
    /// `default` for `[plan]`; otherwise the name of `[plans.NAME]`.
    pub name: String,
    /// Number of blocks for every workload × condition; the most of them, if there is a rule for stopping earlier.
    pub blocks: u32,
    /// When there are blocks enough.
    pub until: Until,
    /// The seed from which every order is drawn.
    pub seed: u64,
    /// Which of the possible variants take part.
    pub variants: VariantRule,
}

/// Which variants a plan takes.
#[derive(Debug, Clone, PartialEq)]
pub enum VariantRule {
    /// Every combination of levels.
    All,
    /// The baseline, and every other level of every factor alone.
    OneAtATime,
    /// The baseline and these; levels that are not named are the baseline's.
    Listed(Vec<Levels>),
}

/// How the measurements are judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decide {
    /// The levels of the baseline: one for every factor.
    pub baseline: Levels,
    /// Names of metrics ([`crate::metric`]); the first one is the one that the answer is about.
    pub metrics: Vec<String>,
    /// Half-width of the zone of equivalence, as a fraction: 0.01 is 1 %.
    pub margin: f64,
    /// Confidence of intervals and verdicts, between 0 and 1.
    pub confidence: f64,
}

impl Layer {
    /// Whether the script or a verify line mentions the variable, as `$NAME` or inside `${…}`. Only the variables that
    /// a layer mentions are part of its name, so that an unrelated level rebuilds nothing. A file listed in `files`
    /// sees only the variables that the script hands to it by mentioning them.
    pub fn mentions(&self, variable: &str) -> bool {
        std::iter::once(&self.script).chain(&self.verify).any(|text| mentions(text, variable))
    }
}

fn mentions(text: &str, variable: &str) -> bool {
    text.match_indices('$').any(|(at, _)| {
        let rest = &text[at + 1..];
        let name = rest.strip_prefix('{').map_or(rest, |braced| braced.trim_start_matches('#'));
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
        &name[..end] == variable
    })
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn a_variable_is_mentioned_by_its_whole_name() {
        for (text, expect) in [
            ("make $CC", true),
            ("make ${CC}", true),
            ("make ${CC:-gcc}", true),
            ("echo \"$CC\"", true),
            ("make $CCX", false),
            ("make CC", false),
            ("$X$CC", true),
            ("cost $", false),
        ] {
            assert_eq!(mentions(text, "CC"), expect, "{text}");
        }
    }
}
