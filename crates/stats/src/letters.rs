//! The compact letter display of all pairs: items that share a letter were not shown to differ, items that share none
//! were. It knows which pairs were shown to differ, and not how; a shared letter never says that two are equal.
//!
//! Insert and absorb (Piepho 2004, "An algorithm for a letter-based representation of all-pairwise comparisons", J.
//! Comput. Graph. Stat. 13): begin with one letter for all; for every pair shown to differ, split each letter that both
//! have into one without the first and one without the second; drop letters whose items all share another. Then
//! sweep: take a letter off an item wherever the item's every other companion under it is so under another letter.

/// More letters than this on the way, and there is no display: it would not be read, and their number can grow
/// exponentially.
const LETTERS_MAX: usize = 2048;

/// Places of the items, smallest estimate first; equal ones, and those that are not a number, which come last, stay in
/// the order given.
pub fn order(estimates: &[f64]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..estimates.len()).collect();
    places.sort_by(|a, b| {
        let (a, b) = (estimates[*a], estimates[*b]);
        a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
    });
    places
}

/// The letters of `items` items, as sets of them in ascending order: the letter of the first item first. `differ` has
/// the pairs that were shown to differ, in any order and direction; a pair that is none (an item with itself, or beyond
/// the last) is ignored. None if more than 2048 letters would be needed on the way.
///
/// Two items share a letter if and only if their pair is not in `differ`. No letter can be taken off an item, and
/// none can be left out, without breaking that.
fn groups(items: usize, differ: &[(usize, usize)]) -> Option<Vec<Vec<usize>>> {
    let mut pairs: Vec<(usize, usize)> = differ.iter().map(|(a, b)| (*a.min(b), *a.max(b))).collect();
    pairs.retain(|(a, b)| a < b && *b < items);
    pairs.sort_unstable();
    pairs.dedup();
    let mut letters: Vec<Vec<usize>> = if items == 0 { Vec::new() } else { vec![(0..items).collect()] };
    for (a, b) in pairs {
        letters = split(letters, a, b);
        if letters.len() > LETTERS_MAX {
            return None;
        }
    }
    letters.sort_unstable();
    sweep(&mut letters, items);
    letters.sort_unstable();
    Some(letters)
}

/// The letters of each item, as text: `a` has the first item. After `z` come `A` to `Z`, then `a′` and so on. None as
/// for [`groups`].
pub fn display(items: usize, differ: &[(usize, usize)]) -> Option<Vec<String>> {
    let mut texts = vec![String::new(); items];
    for (number, group) in groups(items, differ)?.iter().enumerate() {
        let letter = letter(number);
        group.iter().for_each(|item| texts[*item].push_str(&letter));
    }
    Some(texts)
}

fn letter(number: usize) -> String {
    let alphabet = ('a'..='z').chain('A'..='Z');
    let one = alphabet.cycle().nth(number % 52).map(String::from).unwrap_or_default();
    one + &"′".repeat(number / 52)
}

/// Inserts one pair, and absorbs. A letter that was not split cannot have become part of another.
fn split(letters: Vec<Vec<usize>>, a: usize, b: usize) -> Vec<Vec<usize>> {
    let both = |letter: &Vec<usize>| letter.binary_search(&a).is_ok() && letter.binary_search(&b).is_ok();
    let (to_split, mut letters): (Vec<Vec<usize>>, Vec<Vec<usize>>) = letters.into_iter().partition(both);
    let without = |item: usize| {
        let halves =
            to_split.iter().map(move |letter| letter.iter().copied().filter(|i| *i != item).collect::<Vec<_>>());
        halves.collect::<Vec<_>>()
    };
    for half in [without(b), without(a)].concat() {
        if !letters.iter().any(|letter| is_part(&half, letter)) {
            letters.push(half);
        }
    }
    letters
}

/// True if all of `part`, ascending, is in `whole`, ascending.
fn is_part(part: &[usize], whole: &[usize]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|item| rest.any(|other| other == item))
}

/// Takes letters off items where other letters say the same; what has no items left is gone. The last letters are
/// thinned first.
fn sweep(letters: &mut Vec<Vec<usize>>, items: usize) {
    // How many letters each pair of items has in common; of an item with itself, how many it has.
    let mut shared = vec![0usize; items * items];
    let count = |shared: &mut Vec<usize>, letter: &[usize], item: usize, change: isize| {
        for other in letter {
            for place in [item * items + other, other * items + item] {
                shared[place] = shared[place].wrapping_add_signed(change);
            }
        }
    };
    for letter in letters.iter() {
        for (place, item) in letter.iter().enumerate() {
            count(&mut shared, &letter[..place], *item, 1);
            shared[item * items + item] += 1;
        }
    }
    for letter in letters.iter_mut().rev() {
        for item in letter.clone().into_iter().rev() {
            let others: Vec<usize> = letter.iter().copied().filter(|other| *other != item).collect();
            let spare = others.iter().all(|other| shared[item * items + other] > 1);
            if spare && shared[item * items + item] > 1 {
                count(&mut shared, &others, item, -1);
                shared[item * items + item] -= 1;
                *letter = others;
            }
        }
    }
    letters.retain(|letter| !letter.is_empty());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_table() {
        let check = |items, differ: &[(usize, usize)], expect: &[&str]| {
            assert_eq!(display(items, differ).unwrap_or_default(), expect, "{items} {differ:?}");
        };
        check(0, &[], &[]);
        check(1, &[(0, 0), (0, 1)], &["a"]);
        check(3, &[], &["a", "a", "a"]);
        check(2, &[(1, 0), (0, 1)], &["a", "b"]);
        check(3, &[(0, 2)], &["a", "ab", "b"]);
        check(3, &[(0, 1), (0, 2), (1, 2)], &["a", "b", "c"]);
        // The first and the last are alike, the one between differs from both: order does not matter.
        check(3, &[(0, 1), (1, 2)], &["a", "b", "a"]);
        // A circle of five: each is like its two neighbours only.
        check(5, &[(0, 2), (0, 3), (1, 3), (1, 4), (2, 4)], &["ab", "ac", "cd", "de", "be"]);
    }

    #[test]
    fn many_letters_stay_distinct() {
        let names: std::collections::BTreeSet<String> = (0..300).map(letter).collect();
        assert_eq!(names.len(), 300);
        assert_eq!([letter(25), letter(26), letter(52)], ["z", "A", "a′"]);
    }

    /// All different: without absorbing, there would be more letters on the way than can be counted.
    #[test]
    fn all_different() {
        let all: Vec<(usize, usize)> = (0..40).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
        assert_eq!(groups(40, &all), Some((0..40).map(|item| vec![item]).collect()));
    }

    /// Triples that differ within and not between: 3²⁴ largest sets of items that are alike.
    #[test]
    fn too_many_letters_are_refused() {
        let triples: Vec<(usize, usize)> =
            (0..24).flat_map(|t| [(3 * t, 3 * t + 1), (3 * t, 3 * t + 2), (3 * t + 1, 3 * t + 2)]).collect();
        assert_eq!(groups(72, &triples), None);
    }

    #[test]
    fn order_is_by_estimate() {
        assert_eq!(order(&[2.0, f64::NAN, 1.0, 2.0, f64::NEG_INFINITY]), [4, 2, 0, 3, 1]);
        assert!(order(&[]).is_empty());
    }
}
