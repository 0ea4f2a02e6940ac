//! Files for processors that are not there: of every class and byte order, with every type of relocation, named as readelf
//! names it.

use crate::agreement::{census_agrees, elf};
use crate::readelf::Said;
use bakeoff_why::facts::ByteOrder;
use std::path::Path;

/// A machine: its number, its class, its byte order, and the types for calls and for addresses.
struct Machine {
    number: u16,
    wide: bool,
    big: bool,
    slots: [u32; 2],
    /// First and last of the types that binutils 2.40 knows too.
    types: &'static [(u32, u32)],
}

const MACHINES: [Machine; 9] = [
    Machine { number: 62, wide: true, big: false, slots: [7, 6], types: &[(0, 42)] },
    Machine { number: 3, wide: false, big: false, slots: [7, 6], types: &[(0, 45)] },
    Machine {
        number: 183,
        wide: true,
        big: false,
        slots: [1026, 1025],
        types: &[(257, 313), (512, 573), (1024, 1032)],
    },
    Machine { number: 183, wide: true, big: true, slots: [1026, 1025], types: &[(257, 313), (1024, 1032)] },
    Machine { number: 40, wide: false, big: false, slots: [22, 21], types: &[(0, 110)] },
    Machine { number: 243, wide: true, big: false, slots: [5, 5], types: &[(0, 11), (13, 40), (42, 57)] },
    Machine { number: 21, wide: true, big: true, slots: [21, 20], types: &[(0, 110)] },
    Machine { number: 20, wide: false, big: true, slots: [21, 20], types: &[(0, 95)] },
    Machine { number: 22, wide: true, big: true, slots: [11, 10], types: &[(0, 61)] },
];

struct Writer<'a> {
    machine: &'a Machine,
    bytes: Vec<u8>,
}

impl Writer<'_> {
    fn number(&mut self, number: u64, size: usize) {
        match self.machine.big {
            true => self.bytes.extend(&number.to_be_bytes()[8 - size..]),
            false => self.bytes.extend(&number.to_le_bytes()[..size]),
        }
    }

    /// A number as wide as an address.
    fn word(&mut self, number: u64) {
        self.number(number, if self.machine.wide { 8 } else { 4 });
    }

    /// Types of 32 bits stand in the low half of a 64-bit word, and in the low byte of a 32-bit one.
    fn relocation(&mut self, kind: u32, symbol: u64, with_addend: bool) {
        self.word(0x1000);
        self.word(if self.machine.wide { symbol << 32 | u64::from(kind) } else { symbol << 8 | u64::from(kind) });
        if with_addend {
            self.word(0);
        }
    }

    fn symbol(&mut self, name: u64, section: u64) {
        self.number(name, 4);
        if self.machine.wide {
            self.number(0x12, 1);
            self.number(0, 1);
            self.number(section, 2);
            self.word(0);
            self.word(0);
        } else {
            self.word(0);
            self.word(0);
            self.number(0x12, 1);
            self.number(0, 1);
            self.number(section, 2);
        }
    }

    fn section(&mut self, name: u64, kind: u64, (offset, size): (u64, u64), (link, entry): (u64, u64)) {
        self.number(name, 4);
        self.number(kind, 4);
        self.word(2);
        self.word(0);
        self.word(offset);
        self.word(size);
        self.number(link, 4);
        self.number(1, 4);
        self.word(8);
        self.word(entry);
    }
}

/// A shared object of two tables of relocations, with and without addends; three symbols, of which the second is its own.
fn image(machine: &Machine) -> Vec<u8> {
    let names = b"\0.dynsym\0.dynstr\0.rela.dyn\0.rel.dyn\0.shstrtab\0";
    let header = if machine.wide { 64 } else { 52 };
    let mut writer = Writer { machine, bytes: vec![0; header] };
    let mut places = vec![];
    let mut part = |writer: &mut Writer<'_>, write: &dyn Fn(&mut Writer<'_>)| {
        writer.bytes.resize(writer.bytes.len().next_multiple_of(8), 0);
        let begin = writer.bytes.len() as u64;
        write(writer);
        places.push((begin, writer.bytes.len() as u64 - begin));
    };
    part(&mut writer, &|w| {
        w.symbol(0, 0);
        w.symbol(1, 0);
        w.symbol(8, 1);
        // The empty one is local.
        let kind = if machine.wide { 4 } else { 12 };
        w.bytes[header.next_multiple_of(8) + kind] = 0;
    });
    part(&mut writer, &|w| w.bytes.extend(b"\0theirs\0ours\0"));
    for with_addend in [true, false] {
        part(&mut writer, &|w| {
            let types = machine.types.iter().flat_map(|(first, last)| *first..=*last);
            types.for_each(|kind| w.relocation(kind, 0, with_addend));
            for slot in machine.slots {
                w.relocation(slot, 1, with_addend);
                w.relocation(slot, 2, with_addend);
            }
        });
    }
    part(&mut writer, &|w| w.bytes.extend(names));
    writer.bytes.resize(writer.bytes.len().next_multiple_of(8), 0);
    let headers = writer.bytes.len() as u64;
    let [symbol, rela, rel] = if machine.wide { [24, 24, 16] } else { [16, 12, 8] };
    writer.section(0, 0, (0, 0), (0, 0));
    writer.section(1, 11, places[0], (2, symbol));
    writer.section(9, 3, places[1], (0, 0));
    writer.section(17, 4, places[2], (1, rela));
    writer.section(27, 9, places[3], (1, rel));
    writer.section(36, 3, places[4], (0, 0));
    let body = writer.bytes.split_off(header);
    writer.bytes.clear();
    writer.bytes.extend(b"\x7fELF");
    writer.bytes.extend([if machine.wide { 2 } else { 1 }, if machine.big { 2 } else { 1 }, 1, 0]);
    writer.bytes.extend([0; 8]);
    writer.number(3, 2);
    writer.number(machine.number.into(), 2);
    writer.number(1, 4);
    writer.word(0);
    writer.word(0);
    writer.word(headers);
    writer.number(0, 4);
    let (header_bytes, section_bytes) = if machine.wide { (64, 64) } else { (52, 40) };
    for number in [header_bytes, 0, 0, section_bytes, 6, 5] {
        writer.number(number, 2);
    }
    assert_eq!(writer.bytes.len(), header);
    writer.bytes.extend(body);
    writer.bytes
}

#[test]
fn every_class_and_byte_order_and_every_type_s_name() {
    let folder = tempfile::tempdir().unwrap();
    for machine in &MACHINES {
        let path = folder.path().join(format!("{}-{}-{}", machine.number, machine.wide, machine.big));
        std::fs::write(&path, image(machine)).unwrap();
        check(machine, &path);
    }
}

fn check(machine: &Machine, path: &Path) {
    let facts = elf(path);
    println!("{}: {}", path.display(), facts.machine);
    let order = if machine.big { ByteOrder::Big } else { ByteOrder::Little };
    assert_eq!((facts.class_bits == 64, facts.byte_order), (machine.wide, order));
    let slots = &facts.relocations.jump_slots;
    // In two tables, of both symbols and without any; RISC-V has no type for addresses, and calls are made twice.
    let twice = if machine.slots[0] == machine.slots[1] { 2 } else { 1 };
    assert_eq!((slots.total, slots.own), (2 * (1 + 2 * twice), 2 * twice), "{}", facts.machine);
    assert!(slots.own_names.iter().flatten().all(|name| name == "ours"), "{slots:?}");
    census_agrees(&facts.relocations, &Said::of(path), path);
}
