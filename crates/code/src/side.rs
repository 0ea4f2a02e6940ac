//! One of the two programs: its objects, and which of them defines each symbol.

use crate::answer::{Program, Why};
use crate::nouns::{Kind, Object, Place, Symbol};
use crate::read::object;
use object::elf;
use std::collections::{BTreeMap, HashMap, HashSet};

pub(crate) struct Side<'a> {
    pub(crate) objects: Vec<Object<'a>>,
    /// What the linker takes for each name.
    pub(crate) globals: BTreeMap<&'a str, Definition>,
    /// The names that some object needs from elsewhere.
    pub(crate) named: HashSet<&'a str>,
    /// The sections that are run or read as a whole, with the parts that have them in their order.
    pub(crate) wholes: BTreeMap<&'a str, Vec<Whole<'a>>>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Definition {
    pub(crate) object: usize,
    pub(crate) symbol: usize,
    /// Of common symbols the largest.
    pub(crate) size: u64,
    rank: u8,
}

pub(crate) struct Whole<'a> {
    /// What it is found by on the other side: the name of its part, or the signature of its group.
    pub(crate) of: &'a str,
    pub(crate) object: usize,
    pub(crate) section: usize,
}

impl<'a> Side<'a> {
    pub(crate) fn of(program: &Program<'a>) -> Result<Self, Why> {
        let read = program.parts.iter().map(|part| object(part.name, part.content));
        Self::with(read.collect::<Result<_, _>>()?)
    }

    pub(crate) fn with(objects: Vec<Object<'a>>) -> Result<Self, Why> {
        let mut side =
            Self { objects: vec![], globals: BTreeMap::new(), named: HashSet::new(), wholes: BTreeMap::new() };
        // The first object that has a group of sections keeps it.
        let mut groups: HashMap<&str, usize> = HashMap::new();
        for (number, object) in objects.iter().enumerate() {
            let mut is_kept = vec![];
            for (index, section) in object.sections.iter().enumerate() {
                let first = section.signature.map(|signature| *groups.entry(signature).or_insert(number));
                is_kept.push(first.is_none_or(|first| first == number));
                if section.kind == Kind::Whole && is_kept[index] {
                    let of = section.signature.unwrap_or(object.name);
                    side.wholes.entry(section.name).or_default().push(Whole { of, object: number, section: index });
                }
            }
            for (index, symbol) in object.symbols.iter().enumerate().filter(|(_, symbol)| symbol.is_global()) {
                side.take(number, index, symbol, &is_kept)?;
            }
        }
        side.objects = objects;
        Ok(side)
    }

    fn take(&mut self, object: usize, index: usize, symbol: &Symbol<'a>, is_kept: &[bool]) -> Result<(), Why> {
        let rank = match symbol.place {
            Place::In(section) if !is_kept[section] => return Ok(()),
            Place::Undefined => {
                self.named.insert(symbol.name);
                return Ok(());
            }
            Place::In(_) if symbol.bind == elf::STB_WEAK => 1,
            Place::Common => 2,
            Place::In(_) => 3,
        };
        let one = Definition { object, symbol: index, size: symbol.size, rank };
        let known = self.globals.entry(symbol.name).or_insert(one);
        if known.object == object && known.symbol == index {
            return Ok(());
        }
        // Only words that are not common allow that; a mixture with common symbols depends on the linker.
        if rank >= 2 && known.rank >= 2 && rank != known.rank || rank == 3 && known.rank == 3 {
            return Err(Why::Unusual);
        }
        let size = known.size.max(one.size);
        if rank > known.rank {
            *known = one;
        } else if rank == 2 {
            known.size = size;
        }
        Ok(())
    }

    pub(crate) fn symbol(&self, definition: &Definition) -> &Symbol<'a> {
        &self.objects[definition.object].symbols[definition.symbol]
    }
}
