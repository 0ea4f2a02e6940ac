//! The sentences of doubts: each kind of [`Caveat`], and why an effect is not estimated, in English.

pub(crate) mod comparison;
mod places;
mod samples;
mod seen;
pub(crate) mod study;
mod terms;

use crate::draw::rendered::Rendered;
use bakeoff_judge::findings::{Alias, Caveat, Refusal};
use terms::{term, terms};

/// A doubt as a sentence without its stop.
pub fn caveat(caveat: &Caveat) -> Rendered {
    let sentences: [fn(&Caveat) -> Option<String>; 5] =
        [comparison::sentence, study::sentence, seen::sentence, samples::sentence, places::sentence];
    sentences.iter().find_map(|sentence| sentence(caveat)).unwrap_or_else(|| caveat.kind()).into()
}

/// Doubts, each as a sentence.
pub fn caveats<'a>(caveats: impl IntoIterator<Item = &'a Caveat>) -> impl Iterator<Item = Rendered> {
    caveats.into_iter().map(caveat)
}

/// Why an effect is not estimated.
pub fn refusal(refusal: &Refusal) -> Rendered {
    let why = match refusal {
        Refusal::InTheTable => {
            "this level was compared only at the baseline levels of the other factors; see the table for that \
             comparison"
                .to_owned()
        }
        Refusal::SameProgram => "both are the same program".to_owned(),
        Refusal::OtherOutput { variant, workload } => {
            format!("{variant} did not print the same output as the baseline on {workload}")
        }
        Refusal::NoTrial => "no valid trial covers this effect".to_owned(),
        Refusal::NoError => "there are too few trials to estimate the error".to_owned(),
        Refusal::Aliased { with } => {
            format!("the variants that ran cannot separate this effect from {}", terms(with))
        }
    };
    why.into()
}

/// Effects that no trial tells apart: `malloc from threads × opt`.
pub fn alias(Alias { term: one, with }: &Alias) -> Rendered {
    text![term(one), " from ", terms(with)]
}
