//! The words that the kernel gave us, and the environment: pointers to strings on the stack.

use core::ffi::CStr;

/// Pointers to strings that end in NUL; a null pointer follows the last.
#[derive(Clone, Copy)]
pub(super) struct Words {
    first: *mut usize,
    count: usize,
}

impl Words {
    /// # Safety
    /// So many pointers to strings are there, and a null pointer after them, for as long as the program lives, and
    /// nobody else uses them.
    pub(super) unsafe fn new(first: *mut usize, count: usize) -> Self {
        Self { first, count }
    }

    /// The words and, behind them, the environment.
    ///
    /// # Safety
    /// It is the stack that the kernel made, of which nothing was changed.
    pub(super) unsafe fn of_stack(stack: *mut usize) -> (Self, Self) {
        // SAFETY: the number of words, the words, null, the environment, null.
        unsafe {
            let words = Self { first: stack.add(1), count: *stack };
            let first = words.first.add(words.count + 1);
            let mut count = 0;
            while *first.add(count) != 0 {
                count += 1;
            }
            (words, Self { first, count })
        }
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn pointers(&self) -> *mut usize {
        self.first
    }

    pub(super) fn get(&self, nth: usize) -> &'static CStr {
        if nth >= self.count {
            return c"";
        }
        // SAFETY: `new` and `of_stack` were promised so many strings.
        unsafe { string(*self.first.add(nth)) }
    }

    /// The bytes of a word, without its NUL.
    pub(super) fn bytes(&self, nth: usize) -> &'static [u8] {
        self.get(nth).to_bytes()
    }

    /// Puts another string into that place.
    ///
    /// # Safety
    /// It stays for as long as the words are used.
    pub(super) unsafe fn set(&mut self, nth: usize, string: &CStr) {
        if nth < self.count {
            // SAFETY: the place is there, and nobody else uses it.
            unsafe { *self.first.add(nth) = string.as_ptr() as usize };
        }
    }

    /// All but the first so many.
    pub(super) fn after(&self, count: usize) -> Self {
        let count = count.min(self.count);
        // SAFETY: it stays among them.
        Self { first: unsafe { self.first.add(count) }, count: self.count - count }
    }

    /// The value of a variable, if these are an environment and it is there and not empty.
    pub(super) fn variable(&self, name: &str) -> Option<&'static CStr> {
        (0..self.count).find_map(|nth| {
            // SAFETY: as in `get`; bytes are looked at as far as they are like the name, so never beyond the NUL.
            unsafe {
                let mut at = *self.first.add(nth) as *const u8;
                for byte in name.bytes().chain([b'=']) {
                    if at.read() != byte {
                        return None;
                    }
                    at = at.add(1);
                }
                Some(string(at as usize)).filter(|value| !value.is_empty())
            }
        })
    }
}

/// # Safety
/// A string that ends in NUL and stays is there.
unsafe fn string(address: usize) -> &'static CStr {
    let start = address as *const u8;
    let mut length = 0;
    // SAFETY: up to the NUL it is there. Volatile, because a plain loop would become a call of strlen(3).
    unsafe {
        while start.add(length).read_volatile() != 0 {
            length += 1;
        }
        CStr::from_bytes_with_nul_unchecked(core::slice::from_raw_parts(start, length + 1))
    }
}
