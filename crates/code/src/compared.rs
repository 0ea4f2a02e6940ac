//! The comparison: pairs of things that must be equal, beginning with what is known by name. What two equal things refer to
//! at the same place is the next pair. A thing has one partner, or they differ.

mod files;

use crate::answer::{Answer, Difference, What, Why};
use crate::linked::Loading;
use crate::nouns::{Atom, Instruction, Kind, Object, Place, Section, Target};
use crate::pieces::{constant, next, text, without_zeros};
use crate::side::{Definition, Side};

use object::elf;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Zeros of this number may follow a datum without a name, up to the next one.
const MOST_FILL: u64 = 64;

/// What is aligned to this, or to more, was aligned on purpose: so that it has a line of the cache, or a page, for itself.
const CACHE_LINE: u64 = 64;

/// Data that nothing was seen to refer to: bytes, and of each relocation in them its kind and addend.
type Unreached<'a> = (&'a [u8], Vec<(u32, i64)>);

/// Where a thing begins: the numbers of its object and section, and a place in that.
type Spot = (usize, usize, u64);

/// Two things, and the name of one that refers to them.
struct Pair<'a> {
    spots: [Spot; 2],
    by: &'a str,
}

pub(crate) struct Comparison<'c, 'a> {
    sides: &'c [Side<'a>; 2],
    /// The objects of one that are in the other, too, byte for byte.
    equal: HashMap<usize, usize>,
    /// The objects that both have, and that are not equal.
    changed: Vec<[usize; 2]>,
    partners: [HashMap<Spot, Spot>; 2],
    left: Vec<Pair<'a>>,
    /// References that may mean one of two things, with their objects, and the name of what has them.
    near: Vec<([Target<'a>; 2], [usize; 2], &'a str)>,
    /// The names of symbols that only one of them defines.
    alone: [Vec<&'a str>; 2],
    differences: Vec<Difference>,
    unknown: Option<Why>,
}

impl<'c, 'a> Comparison<'c, 'a> {
    pub(crate) fn of(sides: &'c [Side<'a>; 2]) -> Self {
        let [one, other] = sides;
        let mut comparison = Self {
            sides,
            equal: HashMap::new(),
            changed: vec![],
            partners: Default::default(),
            left: vec![],
            near: vec![],
            alone: Default::default(),
            differences: vec![],
            unknown: None,
        };
        let numbers: HashMap<&str, usize> =
            other.objects.iter().enumerate().map(|(i, object)| (object.name, i)).collect();
        for (number, object) in one.objects.iter().enumerate() {
            let Some(&same) = numbers.get(object.name) else { continue };
            if other.objects[same].content == object.content {
                comparison.equal.insert(number, same);
            } else {
                comparison.locals(number, same);
                comparison.changed.push([number, same]);
                if object.personalities != other.objects[same].personalities {
                    comparison.differs(What::Section, ".eh_frame", [None; 2]);
                }
            }
        }
        comparison.find_problems();
        comparison.globals();
        comparison.wholes();
        comparison
    }

    /// What cannot be compared in an object matters only if the other program has another one.
    fn find_problems(&mut self) {
        let [one, other] = self.sides;
        let known: HashSet<usize> = self.equal.values().copied().collect();
        let ones = one.objects.iter().enumerate().filter(|(number, _)| !self.equal.contains_key(number));
        let others = other.objects.iter().enumerate().filter(|(number, _)| !known.contains(number));
        let problem = ones.chain(others).find_map(|(_, object)| object.problem);
        self.unknown = self.unknown.or(problem);
    }

    /// Pairs what both programs define, and finds what only one of them does.
    fn globals(&mut self) {
        let [one, other] = self.sides;
        for (&name, definition) in &one.globals {
            if let Some(same) = other.globals.get(name) {
                self.definitions(name, [definition, same]);
            }
        }
        for (number, [side, against]) in [[one, other], [other, one]].into_iter().enumerate() {
            for (&name, definition) in side.globals.iter().filter(|(name, _)| !against.globals.contains_key(*name)) {
                self.alone[number].push(name);
                if against.named.contains(name) {
                    let size = Some(side.symbol(definition).size);
                    self.differs(What::Symbol, name, if number == 0 { [size, None] } else { [None, size] });
                }
            }
        }
    }

    fn definitions(&mut self, name: &'a str, both: [&Definition; 2]) {
        let [one, other] = [0, 1].map(|side| self.sides[side].symbol(both[side]));
        let is_code = one.sort == elf::STT_FUNC || one.sort == elf::STT_GNU_IFUNC;
        let is_same = (one.sort, one.bind, one.visibility) == (other.sort, other.bind, other.visibility)
            && (is_code || both[0].size == both[1].size);
        let is_paired = match (one.place, other.place) {
            (Place::In(first), Place::In(second)) => {
                self.named([(both[0].object, first, one.value), (both[1].object, second, other.value)], name)
            }
            // The value of a common symbol is its alignment.
            (first, second) => first == second && one.value == other.value,
        };
        if !is_same || !is_paired {
            self.differs(What::Symbol, name, [Some(one.size), Some(other.size)]);
        }
    }

    /// Pairs what only its own object sees, where the name says which it is.
    fn locals(&mut self, one: usize, other: usize) {
        let names = |object: &Object<'a>| {
            let mut names: BTreeMap<(&'a str, &'a str), Option<(usize, u64)>> = BTreeMap::new();
            for symbol in object.symbols.iter().filter(|symbol| !symbol.is_global() && !symbol.name.contains('.')) {
                if let (Place::In(section), true) = (symbol.place, symbol.size > 0) {
                    let at = Some((section, symbol.value));
                    names.entry((symbol.name, symbol.file)).and_modify(|known| *known = None).or_insert(at);
                }
            }
            names
        };
        let (first, second) = (names(&self.sides[0].objects[one]), names(&self.sides[1].objects[other]));
        for (name, at) in first {
            let (Some((section, at)), Some(Some((same, there)))) = (at, second.get(&name)) else { continue };
            if !self.named([(one, section, at), (other, *same, *there)], name.0) {
                self.differs(What::Symbol, name.0, [None; 2]);
            }
        }
    }

    /// Pairs what is run or read as a whole; a linker puts them one behind the other.
    fn wholes(&mut self) {
        let [one, other] = self.sides;
        let names: BTreeSet<&str> = one.wholes.keys().chain(other.wholes.keys()).copied().collect();
        for name in names {
            let [mut first, mut second] = self
                .sides
                .each_ref()
                .map(|side| side.wholes.get(name).map(|wholes| wholes.iter().collect::<Vec<_>>()).unwrap_or_default());
            // Each is found by its own function.
            let is_found = name.starts_with(".gcc_except_table");
            if is_found {
                first.sort_by_key(|whole| whole.of);
                second.sort_by_key(|whole| whole.of);
            }
            let order = |wholes: &[&crate::side::Whole<'a>]| wholes.iter().map(|whole| whole.of).collect::<Vec<_>>();
            let (mut ones, mut others) = (order(&first), order(&second));
            if ones != others {
                ones.sort_unstable();
                others.sort_unstable();
                self.differs(if ones == others { What::Order } else { What::Section }, name, [None; 2]);
                continue;
            }
            for (one, other) in first.into_iter().zip(second) {
                let spots = [(one.object, one.section, 0), (other.object, other.section, 0)];
                if !self.pair(spots, name) {
                    self.differs(What::Section, name, [None; 2]);
                }
            }
        }
    }

    /// Pairs what has a name; in a section that is read as a whole it has a place.
    fn named(&mut self, spots: [Spot; 2], name: &'a str) -> bool {
        let [one, other] = spots;
        let is_whole = self.section(0, one).kind == Kind::Whole;
        match is_whole {
            true => one.2 == other.2 && self.pair([(one.0, one.1, 0), (other.0, other.1, 0)], name),
            false => self.pair(spots, name),
        }
    }

    fn section(&self, side: usize, spot: Spot) -> &'c Section<'a> {
        &self.sides[side].objects[spot.0].sections[spot.1]
    }

    /// Makes them partners; whether they can be.
    fn pair(&mut self, spots: [Spot; 2], by: &'a str) -> bool {
        let [one, other] = spots;
        match (self.partners[0].get(&one), self.partners[1].get(&other)) {
            (Some(known), Some(back)) => *known == other && *back == one,
            (None, None) => {
                self.partners[0].insert(one, other);
                self.partners[1].insert(other, one);
                let is_equal = self.equal.get(&one.0) == Some(&other.0) && (one.1, one.2) == (other.1, other.2);
                if !is_equal {
                    self.left.push(Pair { spots, by });
                }
                true
            }
            _ => false,
        }
    }

    pub(crate) fn differs(&mut self, what: What, name: &str, sizes: [Option<u64>; 2]) {
        let one = Difference { what, name: name.to_owned(), sizes };
        if !self.differences.iter().any(|known| (known.what, &known.name) == (what, &one.name)) {
            self.differences.push(one);
        }
    }

    /// What only one program defines may be named by the words of both: they have no effect where it is missing.
    pub(crate) fn named_by(&mut self, words: &[&[u8]]) {
        for name in self.alone.concat() {
            let is_value = |word: &&&[u8]| {
                let before = word.strip_suffix(name.as_bytes());
                before.is_some_and(|before| {
                    before.last().is_none_or(|last| !last.is_ascii_alphanumeric() && *last != b'_')
                })
            };
            if words.iter().any(|word| is_value(&word)) {
                self.differs(What::Symbol, name, [None; 2]);
            }
        }
    }

    /// A symbol that only one program defines may take the place of one in a library; then the library's is missing there.
    pub(crate) fn take_place(&mut self, loadings: &[Loading<'_>; 2]) {
        for (number, names) in self.alone.iter().enumerate() {
            if !loadings[1 - number].lacks(names, &loadings[number]) {
                self.unknown = self.unknown.or(Some(Why::Interposed));
            }
        }
    }

    fn compare_all(&mut self) {
        while let Some(pair) = self.left.pop() {
            self.compare(&pair);
        }
    }

    pub(crate) fn answer(mut self) -> Answer {
        self.compare_all();
        for [one, other] in std::mem::take(&mut self.changed) {
            let (ones, others) = (self.unreached(0, one), self.unreached(1, other));
            // What only one of them has may have been added; of a changed datum, each has its own.
            if ones.iter().any(|datum| !others.contains(datum)) && others.iter().any(|datum| !ones.contains(datum)) {
                self.differs(What::Section, "data", [None; 2]);
            }
        }
        self.conclude()
    }

    fn conclude(mut self) -> Answer {
        match self.unknown {
            _ if !self.differences.is_empty() => {
                self.differences.sort_by(|a, b| (a.what, &a.name).cmp(&(b.what, &b.name)));
                Answer::Differs(self.differences)
            }
            Some(why) => Answer::Unknown(why),
            None => Answer::Same,
        }
    }

    /// The data of an object that nothing was seen to refer to, without zeros around them. An index that does not begin at 0
    /// makes a place in front of its datum, which seems to be in another one.
    fn unreached(&self, side: usize, number: usize) -> Vec<Unreached<'a>> {
        let mut unreached = vec![];
        let sections = &self.sides[side].objects[number].sections;
        for (index, section) in sections.iter().enumerate().filter(|(_, section)| section.kind == Kind::Data) {
            let mut from = 0;
            let mut left = |from: u64, to: u64| {
                let bytes = without_zeros(section.bytes(from, to.max(from)));
                let relocations = section.relocations(from, to);
                let meant = relocations.iter().map(|one| (one.sort, one.addend)).collect::<Vec<_>>();
                if !bytes.is_empty() || !meant.is_empty() {
                    unreached.push((bytes, meant));
                }
            };
            let alone =
                section.atoms.iter().filter(|atom| self.alone[side].contains(&atom.name)).map(|atom| atom.start);
            let partners = self.partners[side].keys().filter(|spot| (spot.0, spot.1) == (number, index));
            let starts: BTreeSet<u64> = partners.map(|spot| spot.2).chain(alone).collect();
            for start in starts {
                if start >= from {
                    left(from, start);
                    from = section.end(start);
                }
            }
            left(from, section.size);
        }
        unreached
    }

    fn compare(&mut self, pair: &Pair<'a>) {
        let [one, other] = pair.spots;
        let sides = self.sides;
        let problem = [0, 1].map(|side| sides[side].objects[pair.spots[side].0].problem);
        self.unknown = self.unknown.or(problem[0]).or(problem[1]);
        let [a, b] = [0, 1].map(|side| self.section(side, pair.spots[side]));
        let [first, second] = [a.atom(one.2), b.atom(other.2)];
        let name = first.map_or(pair.by, |atom| atom.name);
        let sizes = [first.map(|atom| atom.size), second.map(|atom| atom.size)];
        let is_same = (a.kind, a.flags, a.is_sealed, a.is_zero) == (b.kind, b.flags, b.is_sealed, b.is_zero)
            && match (a.kind, first, second) {
                (Kind::Code, Some(first), Some(second)) => {
                    a.align == b.align
                        && first.sort == second.sort
                        && self.handlers([first, second], pair)
                        && self.code([first, second], a.align, pair)
                }
                (Kind::Code | Kind::Left, ..) => false,
                (Kind::Whole, ..) => a.size == b.size && self.data([a, b], a.size, pair, name),
                (_, Some(first), Some(second)) => {
                    let alignments = [a.alignment(first.start), b.alignment(second.start)];
                    // A line of the cache, or a page: what is so aligned was meant to be.
                    let is_aligned = alignments[0] == alignments[1] || alignments.iter().all(|one| *one < CACHE_LINE);
                    is_aligned
                        && (first.size, first.sort) == (second.size, second.sort)
                        && self.data([a, b], first.size, pair, name)
                }
                (_, None, None) => self.unnamed([a, b], pair),
                _ => false,
            };
        if !is_same {
            let what = if a.kind == Kind::Whole { What::Section } else { What::Symbol };
            self.differs(what, if a.kind == Kind::Whole { a.name } else { name }, sizes);
        }
    }

    /// What catches exceptions of a function: its place in a section that is compared as a whole.
    fn handlers(&mut self, both: [&'c Atom<'a>; 2], pair: &Pair<'a>) -> bool {
        if both[0].is_unwound != both[1].is_unwound {
            return false;
        }
        match both.map(|atom| atom.handlers) {
            [None, None] => true,
            [Some(one), Some(other)] => self.targets([one, other], pair.objects(), both[0].name),
            _ => false,
        }
    }

    /// What fills up must be the same, too, until a branch has another length.
    fn code(&mut self, both: [&'c Atom<'a>; 2], align: u64, pair: &Pair<'a>) -> bool {
        let [mut one, mut other] = both.map(|atom| atom.code.iter());
        let mut is_level = both[0].start % align == both[1].start % align;
        loop {
            let ((filled, a), (same, b)) = (next(&mut one), next(&mut other));
            match (a, b) {
                _ if is_level && filled != same => return false,
                (None, None) => return true,
                (Some(a), Some(b)) if self.instruction([a, b], pair, both[0].name) => {
                    is_level &= a.bytes.len() == b.bytes.len();
                }
                _ => return false,
            }
        }
    }

    fn instruction(&mut self, [a, b]: [&Instruction<'a>; 2], pair: &Pair<'a>, by: &'a str) -> bool {
        let is_same = a.branch == b.branch
            && a.references.len() == b.references.len()
            && if a.branch.is_some() { a.prefixes() == b.prefixes() } else { a.rest() == b.rest() };
        let mut references = a.references.iter().zip(&b.references);
        is_same && references.all(|(a, b)| a.sort == b.sort && self.targets([a.target, b.target], pair.objects(), by))
    }

    /// The bytes from the pair's spots on, and what relocations in them mean.
    fn data(&mut self, [a, b]: [&Section<'a>; 2], length: u64, pair: &Pair<'a>, by: &'a str) -> bool {
        let [from, there] = pair.spots.map(|spot| spot.2);
        let (ones, others) = (a.relocations(from, from + length), b.relocations(there, there + length));
        if ones.len() != others.len() || a.plain(from, from + length) != b.plain(there, there + length) {
            return false;
        }
        ones.iter().zip(others).all(|(one, other)| {
            // Whether it is a distance from its own place, or one in an instruction, is not known there.
            let symbols = &self.sides[0].objects[pair.spots[0].0].symbols;
            let is_named = symbols.get(one.symbol).is_some_and(|symbol| symbol.is_global());
            if a.kind == Kind::Whole && one.is_relative() && !is_named {
                return false;
            }
            let (at, same) = (one.at - from, other.at - there);
            // A distance from its own place, in a table of them, is one from the table's beginning.
            let fix = if one.is_relative() { (at as i64).wrapping_neg() } else { 0 };
            let [first, second] = [0, 1].map(|side| {
                let object = &self.sides[side].objects[pair.spots[side].0];
                [one, other][side].target(&object.sections, &object.symbols, fix)
            });
            match (first, second) {
                (Ok(first), Ok(second)) => {
                    at == same && one.sort == other.sort && self.targets([first, second], pair.objects(), by)
                }
                _ => false,
            }
        })
    }

    /// A datum without a name: it ends where the next thing begins that something refers to.
    fn unnamed(&mut self, both: [&Section<'a>; 2], pair: &Pair<'a>) -> bool {
        let ends = [0, 1].map(|side| both[side].end(pair.spots[side].2));
        let lengths = [0, 1].map(|side| ends[side].saturating_sub(pair.spots[side].2));
        let length = lengths[0].min(lengths[1]);
        let is_filled = |side: usize| {
            let from = pair.spots[side].2 + length;
            let is_short = ends[side] - from < MOST_FILL && both[side].relocations(from, ends[side]).is_empty();
            is_short && without_zeros(both[side].bytes(from, ends[side])).is_empty()
        };
        // Zeros may be what fills up to a datum that an index is added to.
        let is_fill = |side: usize| {
            let from = pair.spots[side].2;
            let bytes = both[side].bytes(from, from + length);
            without_zeros(bytes).is_empty() && both[side].relocations(from, from + length).is_empty()
        };
        length > 0
            && !is_fill(0)
            && !is_fill(1)
            && is_filled(0)
            && is_filled(1)
            && self.data(both, length, pair, pair.by)
    }

    /// Whether two references mean the same.
    fn targets(&mut self, targets: [Target<'a>; 2], objects: [usize; 2], by: &'a str) -> bool {
        let [one, other] = match targets {
            [
                Target::Content(one) | Target::Near { text: one, .. },
                Target::Content(other) | Target::Near { text: other, .. },
            ] if matches!(targets, [Target::Content(_), _] | [_, Target::Content(_)]) => return one == other,
            [Target::Near { .. }, Target::Near { .. }] => {
                self.near.push((targets, objects, by));
                return true;
            }
            [Target::Named(name, plus), Target::Named(same, distance)] => return name == same && plus == distance,
            [Target::Place { section, at, plus }, Target::Place { section: same, at: there, plus: distance }] => {
                [(section, at, plus), (same, there, distance)]
            }
            _ => return false,
        };
        let sides = self.sides;
        let [a, b] =
            [(0, one.0), (1, other.0)].map(|(side, section)| &sides[side].objects[objects[side]].sections[section]);
        if a.kind != b.kind || a.unit != b.unit && a.kind != Kind::Data || one.2 != other.2 {
            return false;
        }
        // An index that begins at 1 makes a place in front of the first datum.
        if let (true, Some(first), Some(second)) = (one.1 < 0 && other.1 < 0, a.atoms.first(), b.atoms.first()) {
            let [at, there] = [(one.1, first), (other.1, second)].map(|(at, atom)| at.wrapping_sub(atom.start as i64));
            let spots = [(objects[0], one.0, first.start), (objects[1], other.0, second.start)];
            return at == there && a.kind == Kind::Data && self.pair(spots, by);
        }
        let (Ok(at), Ok(there)) = (u64::try_from(one.1), u64::try_from(other.1)) else { return false };
        let mut pair = |start, same| self.pair([(objects[0], one.0, start), (objects[1], other.0, same)], by);
        match a.kind {
            Kind::Left => false,
            Kind::Whole => at == there && at <= a.size && pair(0, 0),
            Kind::Strings => text(a, at).is_some_and(|one| Some(one) == text(b, there)),
            Kind::Constants => constant(a, at).is_some_and(|one| Some(one) == constant(b, there)),
            // What cannot be reached may lead to the end of a function.
            Kind::Code => match (a.around(at).or(a.before(at)), b.around(there).or(b.before(there))) {
                (Some(first), Some(second)) => {
                    let number = first.instruction(at);
                    number.is_some() && number == second.instruction(there) && pair(first.start, second.start)
                }
                _ => false,
            },
            Kind::Data => match (a.around(at), b.around(there)) {
                (Some(first), Some(second)) => {
                    at - first.start == there - second.start && pair(first.start, second.start)
                }
                (None, None) if at < a.size && there < b.size => pair(at, there),
                (None, None) if at == a.size && there == b.size => match (a.before(at), b.before(there)) {
                    (Some(first), Some(second)) => first.size == second.size && pair(first.start, second.start),
                    _ => false,
                },
                _ => false,
            },
        }
    }
}

impl Pair<'_> {
    fn objects(&self) -> [usize; 2] {
        self.spots.map(|spot| spot.0)
    }
}
