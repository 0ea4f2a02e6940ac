//! A tiny assembler for the kernel's virtual machine (Linux's
//! `Documentation/bpf/standardization/instruction-set.rst`): text in, instructions out. It knows no map and no tracepoint,
//! and leaves it to the kernel's verifier to judge programs.
//!
//! # The language
//! Statements end at `;` or at the end of a line; words are divided by spaces. A name stands for a number that the caller
//! gives. Registers are `r0` (what a call returns) to `r10` (the end of the stack); a call loses `r1` to `r5`.
//!
//! | statement | |
//! |---|---|
//! | `r1 = r2`, `r1 += 5`; also `-=`, `\|=`, `&=`, `<<=` | computes; a number has its sign extended to 64 bits |
//! | `r1 = long r7 SINCE`, `long r7 SINCE = r1` | loads and stores 64 bits, `word` 32 bits |
//! | `lock r0 TASKS += r1` | adds to 64 bits in memory, also if another processor does the same |
//! | `fetch r0 TASKS += r1` | the same, and r1 becomes what was there before |
//! | `r1 = map TASKS` | takes a map by its descriptor |
//! | `call LOOKUP` | calls a function of the kernel by its number |
//! | `if r1 == 5 goto end`, `goto end`; also `!=`, `<=`, `&` | jumps, comparing numbers without a sign |
//! | `end:` | takes all jumps to this name that were written before: there are no jumps back |
//! | `exit` | |

use std::collections::BTreeMap;

/// A program that is being written.
#[derive(Debug)]
pub(super) struct Assembler<'a> {
    names: &'a BTreeMap<&'static str, i32>,
    code: Vec<u64>,
    /// Jumps that lead nowhere yet: where they are, and to what.
    jumps: Vec<(usize, String)>,
}

const LOAD: u8 = 0x61;
const STORE_VALUE: u8 = 0x62;
const STORE: u8 = 0x63;
const LOCKED_ADD: u8 = 0xdb;
const COMPUTE: u8 = 0x07;
const WITH_REGISTER: u8 = 0x08;
const JUMP: u8 = 0x05;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;
/// Takes two instructions; the source says that the number is the descriptor of a map.
const LOAD_LONG: u8 = 0x18;
const IS_MAP: u8 = 1;

/// The instructions of a program; none if there is something in it that is not of the language.
pub(super) fn assemble(text: &str, names: &BTreeMap<&'static str, i32>) -> Option<Vec<u64>> {
    let mut asm = Assembler { names, code: vec![], jumps: vec![] };
    for statement in text.split(['\n', ';']) {
        asm.statement(&statement.split_whitespace().collect::<Vec<_>>())?;
    }
    asm.jumps.is_empty().then_some(asm.code)
}

impl Assembler<'_> {
    fn push(&mut self, opcode: u8, target: u8, source: u8, offset: i16, value: i32) {
        let [low, high] = offset.to_le_bytes();
        let [a, b, c, d] = value.to_le_bytes();
        self.code.push(u64::from_le_bytes([opcode, target | source << 4, low, high, a, b, c, d]));
    }

    fn value(&self, word: &str) -> Option<i32> {
        self.names.get(word).copied().or_else(|| word.parse().ok())
    }

    fn offset(&self, word: &str) -> Option<i16> {
        self.value(word)?.try_into().ok()
    }

    fn statement(&mut self, words: &[&str]) -> Option<()> {
        match *words {
            [] => {}
            ["exit"] => self.push(EXIT, 0, 0, 0, 0),
            [label] => self.land(label.strip_suffix(':')?)?,
            ["call", helper] => self.push(CALL, 0, 0, 0, self.value(helper)?),
            ["goto", label] => self.jump(0, 0, 0, label),
            ["if", of, how, value, "goto", label] => {
                self.jump(condition(how)?, register(of)?, self.value(value)?, label)
            }
            [to, "=", "map", map] => {
                self.push(LOAD_LONG, register(to)?, IS_MAP, 0, self.value(map)?);
                self.code.push(0);
            }
            [to, "=", size, from, offset] => {
                self.push(LOAD | width(size)?, register(to)?, register(from)?, self.offset(offset)?, 0);
            }
            [how @ ("lock" | "fetch"), to, offset, "+=", from] => {
                self.push(LOCKED_ADD, register(to)?, register(from)?, self.offset(offset)?, i32::from(how == "fetch"));
            }
            [size, to, offset, "=", from] => match register(from) {
                Some(from) => self.push(STORE | width(size)?, register(to)?, from, self.offset(offset)?, 0),
                None => {
                    self.push(STORE_VALUE | width(size)?, register(to)?, 0, self.offset(offset)?, self.value(from)?);
                }
            },
            [to, how, from] => match register(from) {
                Some(from) => self.push(COMPUTE | WITH_REGISTER | operation(how)?, register(to)?, from, 0, 0),
                None => self.push(COMPUTE | operation(how)?, register(to)?, 0, 0, self.value(from)?),
            },
            _ => return None,
        }
        Some(())
    }

    fn jump(&mut self, condition: u8, register: u8, value: i32, label: &str) {
        self.jumps.push((self.code.len(), label.to_owned()));
        self.push(JUMP | condition, register, 0, 0, value);
    }

    fn land(&mut self, label: &str) -> Option<()> {
        for (at, _) in self.jumps.extract_if(.., |(_, to)| to == label) {
            let offset = i16::try_from(self.code.len() - at - 1).ok()?;
            self.code[at] |= u64::from(offset.cast_unsigned()) << 16;
        }
        Some(())
    }
}

fn register(word: &str) -> Option<u8> {
    word.strip_prefix('r')?.parse().ok().filter(|&number| number <= 10)
}

fn width(word: &str) -> Option<u8> {
    match word {
        "word" => Some(0x00),
        "long" => Some(0x18),
        _ => None,
    }
}

fn operation(word: &str) -> Option<u8> {
    let of = [("=", 0xb0), ("+=", 0x00), ("-=", 0x10), ("|=", 0x40), ("&=", 0x50), ("<<=", 0x60)];
    of.into_iter().find_map(|(name, bits)| (name == word).then_some(bits))
}

fn condition(word: &str) -> Option<u8> {
    let of = [("==", 0x10), ("&", 0x40), ("!=", 0x50), ("<=", 0xb0)];
    of.into_iter().find_map(|(name, bits)| (name == word).then_some(bits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn assembled(text: &str) -> Option<Vec<u64>> {
        assemble(text, &BTreeMap::from([("SINCE", 24), ("TASKS", 7), ("TASK", -8)]))
    }

    /// As `llvm-mc -triple bpfel -show-encoding` encodes the same instructions.
    #[test]
    fn instructions_are_encoded_as_the_kernel_reads_them() {
        for (text, bytes) in [
            ("r1 = long r6 8", [0x79, 0x61, 8, 0, 0, 0, 0, 0]),
            ("r1 = word r7 SINCE", [0x61, 0x71, 24, 0, 0, 0, 0, 0]),
            ("long r10 TASK = r1", [0x7b, 0x1a, 0xf8, 0xff, 0, 0, 0, 0]),
            ("word r7 28 = 2", [0x62, 0x07, 28, 0, 2, 0, 0, 0]),
            ("lock r0 8 += r1", [0xdb, 0x10, 8, 0, 0, 0, 0, 0]),
            ("fetch r0 8 += r1", [0xdb, 0x10, 8, 0, 1, 0, 0, 0]),
            ("r2 -= r3", [0x1f, 0x32, 0, 0, 0, 0, 0, 0]),
            ("r8 = r0", [0xbf, 0x08, 0, 0, 0, 0, 0, 0]),
            ("r1 &= -2", [0x57, 0x01, 0, 0, 0xfe, 0xff, 0xff, 0xff]),
            ("r1 |= r8", [0x4f, 0x81, 0, 0, 0, 0, 0, 0]),
            ("r1 <<= 5", [0x67, 0x01, 0, 0, 5, 0, 0, 0]),
            ("call 1", [0x85, 0, 0, 0, 1, 0, 0, 0]),
            ("exit", [0x95, 0, 0, 0, 0, 0, 0, 0]),
        ] {
            assert_eq!(assembled(text), Some(vec![u64::from_le_bytes(bytes)]), "{text}");
        }
        let map = assembled("r1 = map TASKS").unwrap().into_iter().map(u64::to_le_bytes);
        assert_eq!(map.collect::<Vec<_>>(), [[0x18, 0x11, 0, 0, 7, 0, 0, 0], [0; 8]]);
    }

    #[test]
    fn jumps_lead_to_the_next_label_of_their_name() {
        let jumps = assembled("if r1 <= 510 goto a; goto a; exit\na: if r0 & 1 goto a");
        assert_eq!(jumps, None, "a statement behind a label needs a line");
        let code = assembled("if r1 <= 510 goto a; goto a; exit\na:; if r0 & 1 goto a; exit\na: ; exit").unwrap();
        let offsets: Vec<u8> = code.iter().map(|instruction| instruction.to_le_bytes()[2]).collect();
        assert_eq!(offsets, [2, 1, 0, 1, 0, 0]);
        assert_eq!(code[0].to_le_bytes(), [0xb5, 0x01, 2, 0, 0xfe, 1, 0, 0]);
        assert_eq!(assembled("goto nowhere; exit"), None);
        assert_eq!(assembled("back:; goto back"), None);
        assert_eq!(assembled(&format!("goto far; {} far:", "exit;".repeat(40_000))), None);
    }

    #[test]
    fn what_is_not_of_the_language_is_refused() {
        for text in [
            "r11 = 1",
            "r1 = NOTHING",
            "r1 ^= 1",
            "half r1 0 = r2",
            "if r1 > 1 goto a; a:",
            "call",
            "r1 = long r2 40000",
        ] {
            assert_eq!(assembled(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(words in proptest::collection::vec("(r1|=|long|if|goto|a:?|-9|map|lock|fetch|&|;|[a-z])", 0..20)) {
            assembled(&words.join(" "));
        }
    }
}
