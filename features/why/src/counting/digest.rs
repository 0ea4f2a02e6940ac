//! The machine code of a function without the addresses in it, as one number: two functions that have it in common are the same
//! code at other places. It knows no names, and does not look at the data that the code reads.

use iced_x86::{Code, Decoder, DecoderOptions, Instruction, OpKind};
use std::ops::Range;

/// Functions of fewer instructions are the same by chance, like getters of fields at the same place.
const FEW: usize = 16;

/// The number of the function at `start` that has these bytes. `fixed` is where a file that is not moved lies: numbers in there are
/// addresses. None of a short function, and of one that cannot be decoded.
pub(super) fn digest(bytes: &[u8], start: u64, fixed: &Range<u64>) -> Option<u64> {
    let mut decoder = Decoder::with_ip(64, bytes, start, DecoderOptions::NONE);
    let own = start..start.saturating_add(bytes.len() as u64);
    // FNV-1a: the number is kept in journals, so it must not change with the standard library.
    let mut number = 0xcbf2_9ce4_8422_2325_u64;
    let (mut one, mut instructions) = (Instruction::default(), 0);
    while decoder.can_decode() {
        let at = decoder.position();
        decoder.decode_out(&mut one);
        if one.code() == Code::INVALID {
            return None;
        }
        let mut code = bytes[at..decoder.position()].to_vec();
        let places = decoder.get_constant_offsets(&one);
        let is_far = one.op0_kind() == OpKind::NearBranch64 && !own.contains(&one.near_branch_target());
        if places.has_displacement() && (one.is_ip_rel_memory_operand() || fixed.contains(&one.memory_displacement64()))
        {
            blank(&mut code, places.displacement_offset(), places.displacement_size());
        }
        if places.has_immediate() && (is_far || has_immediate_in(&one, fixed)) {
            blank(&mut code, places.immediate_offset(), places.immediate_size());
        }
        for byte in code {
            number = (number ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        instructions += 1;
    }
    (instructions >= FEW).then_some(number)
}

fn has_immediate_in(one: &Instruction, fixed: &Range<u64>) -> bool {
    let is_number = |kind| matches!(kind, OpKind::Immediate32 | OpKind::Immediate64 | OpKind::Immediate32to64);
    (0..one.op_count()).any(|operand| is_number(one.op_kind(operand)) && fixed.contains(&one.immediate(operand)))
}

fn blank(code: &mut [u8], start: usize, size: usize) {
    code.iter_mut().skip(start).take(size).for_each(|byte| *byte = 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `call`, `lea` of an address, a number, a jump back to the beginning, and padding.
    fn code(call: i32, lea: i32, number: i32) -> Vec<u8> {
        let mut code = vec![0xe8];
        code.extend(call.to_le_bytes());
        code.extend([0x48, 0x8d, 0x05]);
        code.extend(lea.to_le_bytes());
        code.push(0xbf);
        code.extend(number.to_le_bytes());
        code.extend([0xeb, 0xed]);
        code.extend([0x90; FEW]);
        code
    }

    #[test]
    fn addresses_make_no_difference_and_numbers_do() {
        let of = |code: &[u8], fixed: Range<u64>| digest(code, 0x0040_1000, &fixed);
        let (one, other) = (code(1000, 50, 0x0040_3000), code(2000, 70, 0x0040_4000));
        let fixed = 0x0040_0000..0x0041_0000;
        assert_eq!(of(&one, fixed.clone()), of(&other, fixed));
        assert_ne!(of(&one, 0..0), of(&other, 0..0));
        assert_eq!(of(&one, 0..0), of(&code(2000, 70, 0x0040_3000), 0..0));
        assert_ne!(of(&one, 0..0), of(&one[..one.len() - 1], 0..0));
        assert_eq!(of(&[0x90; FEW - 1], 0..0), None);
        // Recursion is not the call of another function.
        assert_ne!(of(&code(-5, 50, 1), 0..0), of(&one, 0..0));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(0_u8.., 0..60), start: u64) {
            let _ = digest(&bytes, start, &(0..1 << 32));
        }
    }
}
