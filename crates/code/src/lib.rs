//! Whether two programs have the same code at other addresses, by the objects that they were linked from. There the relocations still
//! say what each address means; in the linked file they are gone. Functions and data are compared by what they are and refer
//! to, from what can be reached by name: each symbol that other files see, and each section that is run or read as a whole. Nothing is
//! read from the disk here.
//!
//! *Same* is a claim, and a wrong one would hide a change. So everything that is not understood is [`Answer::Unknown`], and a
//! doubt about two references is a difference. Not compared are addresses, alignment, unwinding tables and debugging information.

mod answer;
mod compared;
mod decoded;
mod linked;
mod nouns;
mod pieces;
mod read;
mod side;

pub use answer::{Answer, Difference, Part, Program, What, Why};
use compared::Comparison;
use side::Side;

/// Compares two programs.
#[must_use]
pub fn compare(one: &Program<'_>, other: &Program<'_>) -> Answer {
    let both = [one, other];
    if both.iter().any(|program| program.words.iter().any(|word| is_script(word))) {
        return Answer::Unknown(Why::Script);
    }
    let sides = match both.map(Side::of) {
        [Ok(one), Ok(other)] => [one, other],
        [Err(why), _] | [_, Err(why)] => return Answer::Unknown(why),
    };
    let mut comparison = Comparison::of(&sides);
    if one.words != other.words {
        comparison.differs(What::Words, "", [None; 2]);
    }
    comparison.named_by(&one.words);
    match (one.linked, other.linked) {
        (None, None) => {}
        (Some(one), Some(other)) => match [one, other].map(linked::Loading::of) {
            [Ok(one), Ok(other)] => {
                if let Some(name) = one.difference(&other) {
                    comparison.differs(What::Loading, name, [None; 2]);
                }
                comparison.take_place(&[one, other]);
            }
            [Err(why), _] | [_, Err(why)] => return Answer::Unknown(why),
        },
        _ => return Answer::Unknown(Why::NotMachineCode),
    }
    comparison.answer()
}

/// Whether a word gives the linker a script of sections or an order of symbols.
fn is_script(word: &[u8]) -> bool {
    let long = word.strip_prefix(b"-").unwrap_or(word);
    let is_address = long == b"-Ttext" || long.starts_with(b"Ttext") || long.starts_with(b"-section-start");
    is_address || word.starts_with(b"-T") || long.starts_with(b"-script") || long.starts_with(b"-default-script")
}
