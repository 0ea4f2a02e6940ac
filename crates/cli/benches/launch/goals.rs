//! Ratios, with their intervals, and the goals that they are held to. It prints; it measures nothing.

use bakeoff_judge::samples::{SampleFindings, Terms};
use bakeoff_judge::{findings::Comparison, judge_samples};
use bakeoff_model::metric::Direction as Better;
use bakeoff_readers::Sample;
use std::io::IsTerminal as _;

const CONFIDENCE: f64 = 0.99;
const MARGIN: f64 = 0.02;

/// One value of each block, for each contestant. The first is what the others are compared with.
pub(crate) struct Measured {
    what: String,
    samples: Vec<Sample>,
}

impl Measured {
    /// Nothing yet, of these contestants; tables list them in this order.
    pub(crate) fn new<'a>(what: &str, contestants: impl Iterator<Item = &'a str>) -> Self {
        let empty = |contestant: &str| Sample {
            row: what.to_owned(),
            col: contestant.to_owned(),
            unit: "s".to_owned(),
            better: Better::Less,
            ..Sample::default()
        };
        Self { what: what.to_owned(), samples: contestants.map(empty).collect() }
    }

    /// Adds a block's value, in seconds.
    pub(crate) fn push(&mut self, contestant: &str, value_s: f64) {
        let sample = self.samples.iter_mut().find(|sample| sample.col == contestant);
        sample.unwrap().values.push(value_s);
    }

    /// Judged with a baseline; the samples that are compared with it are all, or those that are named.
    pub(crate) fn judge(&self, baseline: &str, of: Option<&[&str]>) -> Judged {
        let named = |name: &str| of.is_none_or(|names| name == baseline || names.contains(&name));
        // Who reports no median has no sample of them.
        let wanted = |sample: &&Sample| named(&sample.col) && !sample.values.is_empty();
        let mut samples: Vec<Sample> = self.samples.iter().filter(wanted).cloned().collect();
        samples.sort_by_key(|sample| sample.col != baseline);
        let baseline = Some(baseline.to_owned());
        let terms = Terms { confidence: CONFIDENCE, margin: MARGIN, paired: true, baseline };
        Judged { what: self.what.clone(), findings: judge_samples(samples, &terms).unwrap() }
    }
}

/// Contestants beside a baseline.
pub(crate) struct Judged {
    what: String,
    findings: SampleFindings,
}

impl Judged {
    /// The table, as `bakeoff stat` prints it.
    pub(crate) fn print(&self) {
        let style = bakeoff_report::Style { width: 100, colour: std::io::stdout().is_terminal() };
        println!("\n{}", bakeoff_stat::page::stat(&self.findings, &[], style));
    }

    fn comparison(&self, contestant: &str) -> Option<&Comparison> {
        let row = self.findings.tables.first()?.samples.iter().find(|row| row.sample == contestant)?;
        row.comparison.as_ref()
    }

    /// The ratio to the baseline beside the goal: the bounds within which the whole interval is to lie.
    pub(crate) fn goal(&self, contestant: &str, [least, most]: [f64; 2]) {
        let Some(comparison) = self.comparison(contestant) else {
            return println!("{}, {contestant}: not measured", self.what);
        };
        let goal = if least > 0.0 { format!("{least} … {most}") } else { format!("≤ {most}") };
        let Some([low, high]) = comparison.interval() else {
            return println!("{}, {contestant}: ×{:.4}, goal {goal}: too few blocks", self.what, comparison.estimate);
        };
        let word = match (least <= low && high <= most, high < least || low > most) {
            (true, _) => "held",
            (_, true) => "MISSED",
            _ => "undecided",
        };
        let (what, estimate) = (&self.what, comparison.estimate);
        println!("{what}, {contestant}: ×{estimate:.4} ({low:.4} … {high:.4}), goal {goal}: {word}");
    }
}
