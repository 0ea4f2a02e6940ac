//! Short texts without an allocator: paths with numbers in them, and files that are looked at in one piece.

use super::sys;
use core::ffi::CStr;

/// Longest path that is put together here.
const MOST: usize = 512;

/// A path of pieces. What does not fit makes it empty, which no file is.
pub struct Path {
    bytes: [u8; MOST],
    length: usize,
}

impl Path {
    pub fn new(pieces: &[&[u8]]) -> Self {
        let mut path = Self { bytes: [0; MOST], length: 0 };
        for piece in pieces {
            let Some(room) = path.bytes.get_mut(path.length..path.length + piece.len()) else { return Self::new(&[]) };
            room.copy_from_slice(piece);
            path.length += piece.len();
        }
        path
    }

    pub fn c_str(&self) -> &CStr {
        // The last byte is NUL unless the path fills its room, and then there is no file of that name.
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or_default()
    }
}

/// The digits of a number.
pub struct Digits {
    bytes: [u8; 20],
    start: usize,
}

impl Digits {
    pub fn new(mut number: u64) -> Self {
        let mut digits = Self { bytes: [0; 20], start: 20 };
        loop {
            digits.start -= 1;
            digits.bytes[digits.start] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return digits;
            }
        }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

/// The number that these digits are, as far as they go.
pub fn number(digits: &[u8]) -> i32 {
    let digits = digits.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0_i32, |number, digit| number.saturating_mul(10).saturating_add(i32::from(digit - b'0')))
}

/// `/proc/PID/FILE`.
pub fn of_process(pid: i32, file: &[u8]) -> Path {
    Path::new(&[b"/proc/", Digits::new(u64::from(pid.unsigned_abs())).bytes(), b"/", file])
}

/// `/proc/PID/` and these.
pub fn of_process_in(pid: i32, pieces: &[&[u8]; 3]) -> Path {
    let [one, two, three] = pieces;
    Path::new(&[b"/proc/", Digits::new(u64::from(pid.unsigned_abs())).bytes(), b"/", one, two, three])
}

/// What of a file fits; nothing if it cannot be read.
pub fn read<'a>(path: &CStr, into: &'a mut [u8]) -> &'a [u8] {
    let mut filled = 0;
    if let Ok(file) = sys::open(path, 0) {
        while let Ok(more @ 1..) = sys::read(file, &mut into[filled..]) {
            filled += more;
        }
        sys::close(file);
    }
    &into[..filled]
}
