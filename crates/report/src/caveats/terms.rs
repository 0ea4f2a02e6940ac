//! Terms of the linear model by name.

use bakeoff_judge::findings::Term;

pub(super) fn term(term: &Term) -> String {
    match term {
        Term::Blocks => "the blocks".to_owned(),
        Term::Main(factor) => factor.clone(),
        Term::TwoWay(one, other) => format!("{one} × {other}"),
    }
}

pub(super) fn terms(terms: &[Term]) -> String {
    terms.iter().map(term).collect::<Vec<_>>().join(", ")
}
