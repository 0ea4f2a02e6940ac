//! The comparison: pairs of things that must be equal, beginning with what is known by name. What two equal things refer to
//! at the same place is the next pair. A thing has one partner, or they differ.

use crate::answer::{Answer, Difference, What, Why};
use crate::linked::Loading;
use crate::nouns::{Atom, Instruction, Kind, Object, Place, Section, Target};
use crate::side::{Definition, Side};

use object::elf;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Zeros of this number may follow a datum without a name, up to the next one.
const MOST_FILL: u64 = 64;

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
    partners: [HashMap<Spot, Spot>; 2],
    left: Vec<Pair<'a>>,
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
            partners: Default::default(),
            left: vec![],
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
            (first, second) => first == second,
        };
        if !is_same || !is_paired {
            self.differs(What::Symbol, name, [Some(one.size), Some(other.size)]);
        }
    }

    /// Pairs what only its own object sees, where the name says which it is.
    fn locals(&mut self, one: usize, other: usize) {
        let names = |object: &Object<'a>| {
            let mut names: BTreeMap<&'a str, Option<(usize, u64)>> = BTreeMap::new();
            for symbol in object.symbols.iter().filter(|symbol| !symbol.is_global() && !symbol.name.contains('.')) {
                if let (Place::In(section), true) = (symbol.place, symbol.size > 0) {
                    let at = Some((section, symbol.value));
                    names.entry(symbol.name).and_modify(|known| *known = None).or_insert(at);
                }
            }
            names
        };
        let (first, second) = (names(&self.sides[0].objects[one]), names(&self.sides[1].objects[other]));
        for (name, at) in first {
            let (Some((section, at)), Some(Some((same, there)))) = (at, second.get(name)) else { continue };
            if !self.named([(one, section, at), (other, *same, *there)], name) {
                self.differs(What::Symbol, name, [None; 2]);
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

    /// A symbol that only one program defines may take the place of one in a library; then the library's is missing there.
    pub(crate) fn take_place(&mut self, loadings: &[Loading<'_>; 2]) {
        for (number, names) in self.alone.iter().enumerate() {
            if !loadings[1 - number].lacks(names, &loadings[number]) {
                self.unknown = self.unknown.or(Some(Why::Interposed));
            }
        }
    }

    pub(crate) fn answer(mut self) -> Answer {
        while let Some(pair) = self.left.pop() {
            self.compare(&pair);
        }
        match self.unknown {
            _ if !self.differences.is_empty() => {
                self.differences.sort_by(|a, b| (a.what, &a.name).cmp(&(b.what, &b.name)));
                Answer::Differs(self.differences)
            }
            Some(why) => Answer::Unknown(why),
            None => Answer::Same,
        }
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
                    self.handlers([first, second], pair) && self.code([first, second], pair)
                }
                (Kind::Code | Kind::Left, ..) => false,
                (Kind::Whole, ..) => a.size == b.size && self.data([a, b], a.size, pair, name),
                (_, Some(first), Some(second)) => {
                    first.size == second.size && self.data([a, b], first.size, pair, name)
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
        match both.map(|atom| atom.handlers) {
            [None, None] => true,
            [Some(one), Some(other)] => self.targets([one, other], pair.objects(), both[0].name),
            _ => false,
        }
    }

    fn code(&mut self, both: [&'c Atom<'a>; 2], pair: &Pair<'a>) -> bool {
        let [mut one, mut other] = both.map(|atom| atom.code.iter().filter(|instruction| !instruction.fills));
        let by = both[0].name;
        loop {
            match (one.next(), other.next()) {
                (None, None) => return true,
                (Some(a), Some(b)) if self.instruction([a, b], pair, by) => {}
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
        if a.bytes(from, from + length) != b.bytes(there, there + length) || ones.len() != others.len() {
            return false;
        }
        ones.iter().zip(others).all(|(one, other)| {
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
        let ends = [0, 1].map(|side| {
            let section = both[side];
            let next = section.marks.partition_point(|mark| *mark <= pair.spots[side].2);
            section.marks.get(next).copied().unwrap_or(section.size).min(section.size)
        });
        let lengths = [0, 1].map(|side| ends[side].saturating_sub(pair.spots[side].2));
        let length = lengths[0].min(lengths[1]);
        let is_filled = |side: usize| {
            let from = pair.spots[side].2 + length;
            let is_short = ends[side] - from < MOST_FILL && both[side].relocations(from, ends[side]).is_empty();
            is_short && both[side].bytes(from, ends[side]).iter().all(|byte| *byte == 0)
        };
        let is_end = both[0].is_zero && lengths[0] != lengths[1];
        length > 0 && !is_end && is_filled(0) && is_filled(1) && self.data(both, length, pair, pair.by)
    }

    /// Whether two references mean the same.
    fn targets(&mut self, targets: [Target<'a>; 2], objects: [usize; 2], by: &'a str) -> bool {
        let [one, other] = match targets {
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

impl Atom<'_> {
    /// How many instructions are before the one that begins there.
    fn instruction(&self, at: u64) -> Option<usize> {
        if at == self.start + self.size {
            return Some(usize::MAX);
        }
        let found = self.code.binary_search_by_key(&at, |instruction| instruction.at).ok()?;
        Some(self.code[found].index)
    }
}

/// The text that begins there, up to its zero.
fn text<'a>(section: &Section<'a>, at: u64) -> Option<&'a [u8]> {
    let (rest, unit) = (section.data.get(at as usize..)?, section.unit as usize);
    let end = rest.chunks_exact(unit).position(|letter| letter.iter().all(|byte| *byte == 0))?;
    Some(&rest[..end * unit])
}

/// The constant that this place is in, and where in it.
fn constant<'a>(section: &Section<'a>, at: u64) -> Option<(&'a [u8], u64)> {
    let inside = at % section.unit;
    let start = (at - inside) as usize;
    Some((section.data.get(start..start + section.unit as usize)?, inside))
}
