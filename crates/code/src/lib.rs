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
mod image;
mod linked;
mod meant;
mod nouns;
mod pieces;
mod read;
mod side;

pub use answer::{Answer, Difference, Part, Program, What, Why};
use compared::Comparison;
use image::Image;
use linked::Loading;
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
        (Some(one), Some(other)) => match [one, other].map(Loading::of) {
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

/// Compares two programs by the linked files alone. There are fewer answers than by objects: only for programs of C that can be
/// loaded anywhere, with their symbols, and without tables of exceptions.
#[must_use]
pub fn compare_files(one: &[u8], other: &[u8]) -> Answer {
    if one == other {
        return Answer::Same;
    }
    files(one, other).unwrap_or_else(Answer::Unknown)
}

fn files(one: &[u8], other: &[u8]) -> Result<Answer, Why> {
    let loadings = [Loading::of(one)?, Loading::of(other)?];
    let [one, other] = [Image::of(one)?, Image::of(other)?];
    let (is_told_alike, are_explained) = (one.told == other.told, one.explains(&other));
    let sides = [Side::with(vec![one.object])?, Side::with(vec![other.object])?];
    let mut comparison = Comparison::of(&sides);
    if let Some(name) = loadings[0].difference(&loadings[1]) {
        comparison.differs(What::Loading, name, [None; 2]);
    } else if !is_told_alike {
        comparison.differs(What::Loading, "what the loader does", [None; 2]);
    }
    Ok(match comparison.answer_of_files() {
        Answer::Same if !are_explained => Answer::Unknown(Why::Unnamed),
        answer => answer,
    })
}

/// Whether a word gives the linker a script of sections or an order of symbols.
fn is_script(word: &[u8]) -> bool {
    let long = word.strip_prefix(b"-").unwrap_or(word);
    let is_address = long == b"-Ttext" || long.starts_with(b"Ttext") || long.starts_with(b"-section-start");
    is_address || word.starts_with(b"-T") || long.starts_with(b"-script") || long.starts_with(b"-default-script")
}
