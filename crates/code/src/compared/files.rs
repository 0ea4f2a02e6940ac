//! What is compared besides in linked files, where no relocation says what an address means: references that may mean one of two
//! things, and what only one of the files has.

use super::{Comparison, Spot};
use crate::answer::{Answer, What, Why};
use crate::nouns::{Kind, Target};
use object::elf;

impl<'a> Comparison<'_, 'a> {
    /// Of linked files. There a reference may only seem to be to what is at its address. So one file must have a partner for
    /// all that is in it, and no address may be taken shortly in front of what the other one has besides.
    pub(crate) fn answer_of_files(mut self) -> Answer {
        self.compare_all();
        while let Some((targets, objects, by)) = self.near.pop() {
            if !self.is_near_same(targets, objects, by) {
                self.differs(What::Symbol, by, [None; 2]);
            }
            self.compare_all();
        }
        let singles = [0, 1].map(|side| self.singles(side));
        let is_doubtful = [0, 1].iter().any(|side| {
            singles[*side].iter().any(|single| {
                let section = self.section(*side, *single);
                let Some(datum) = section.atom(single.2).filter(|atom| atom.sort != elf::STT_NOTYPE) else {
                    return false;
                };
                section.kind == Kind::Data && section.doubts.iter().any(|doubt| doubt.may_mean(datum))
            })
        });
        if is_doubtful || singles.iter().all(|singles| !singles.is_empty()) {
            self.unknown = self.unknown.or(Some(Why::Unusual));
        }
        self.conclude()
    }

    /// Whether two places are as far from the same next datum, or, if that cannot be, in the same datum.
    fn is_near_same(&mut self, targets: [Target<'a>; 2], objects: [usize; 2], by: &'a str) -> bool {
        let [one, other] = targets;
        let Target::Near { next, distance, in_datum, text } = one else { return false };
        let Target::Near { next: others_next, distance: same, in_datum: others_datum, text: others } = other else {
            return false;
        };
        if text == others && !text.is_empty() {
            return true;
        }
        let spots =
            |one: (usize, u64), other: (usize, u64)| [(objects[0], one.0, one.1), (objects[1], other.0, other.1)];
        if distance == same && self.pair(spots(next, others_next), by) {
            return true;
        }
        let (Some(one), Some(other)) = (in_datum, others_datum) else { return false };
        one.2 == other.2 && self.pair(spots((one.0, one.1), (other.0, other.1)), by)
    }

    /// The functions and data of a file without a partner.
    fn singles(&self, side: usize) -> Vec<Spot> {
        let objects = self.sides[side].objects.iter().enumerate();
        let sections =
            objects.flat_map(|(object, of)| of.sections.iter().enumerate().map(move |(n, one)| (object, n, one)));
        let spots = sections.flat_map(|(object, n, one)| one.atoms.iter().map(move |atom| (object, n, atom.start)));
        spots.filter(|spot| !self.partners[side].contains_key(spot)).collect()
    }
}
