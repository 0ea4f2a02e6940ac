//! bpf(2): maps, programs and the raw tracepoints that they are attached to. Wrappers only: what programs count is not known
//! here. Descriptors close when they are dropped or this process ends, and with the last one of a program's the kernel detaches
//! it.
#![allow(unsafe_code, reason = "bpf has no safe wrapper in rustix, nor a function in libc")]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};

const MAP_CREATE: libc::c_int = 0;
const MAP_LOOKUP: libc::c_int = 1;
const MAP_NEXT_KEY: libc::c_int = 4;
const PROGRAM_LOAD: libc::c_int = 5;
const RAW_TRACEPOINT_OPEN: libc::c_int = 17;

/// BPF_PROG_TYPE_RAW_TRACEPOINT.
const RAW_TRACEPOINT: u32 = 17;

/// The kernel lends some helpers only to programs that may be had under the GPL; ours may under the MIT licence too.
const LICENCE: &CStr = c"Dual MIT/GPL";

/// What the verifier may say of a program that it refuses.
const MOST_LOG: usize = 1 << 16;

/// Kinds of maps (linux/bpf.h).
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// With any keys.
    Hash = 1,
    /// With keys of 32 bits from 0 on, each of which is always there.
    Array = 2,
}

/// A map, with the sizes of its keys and values. Only programs write to it.
#[derive(Debug)]
pub struct Map {
    descriptor: OwnedFd,
    key_bytes: usize,
    value_bytes: usize,
}

#[repr(C)]
struct MapAttributes {
    kind: u32,
    key_bytes: u32,
    value_bytes: u32,
    most_entries: u32,
    flags: u32,
}

#[repr(C)]
struct ElementAttributes {
    map: u32,
    padding: u32,
    key: u64,
    /// Or where the next key goes.
    value: u64,
    flags: u64,
}

#[repr(C)]
struct ProgramAttributes {
    kind: u32,
    instructions: u32,
    code: u64,
    licence: u64,
    log_level: u32,
    log_bytes: u32,
    log: u64,
}

#[repr(C)]
struct TracepointAttributes {
    name: u64,
    program: u32,
    padding: u32,
}

/// # Safety
/// `attributes` is what this command takes, without padding; the pointers in it are valid for what the
/// kernel does with them.
unsafe fn bpf<T>(command: libc::c_int, attributes: &T) -> io::Result<i32> {
    // SAFETY: the kernel reads as many bytes as we say from a pointer that is valid for them; the caller answers for the rest.
    let answer = unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(attributes), size_of::<T>()) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer as i32) }
}

/// # Safety
/// As for [`bpf`], and the command returns a new descriptor.
unsafe fn open<T>(command: libc::c_int, attributes: &T) -> io::Result<OwnedFd> {
    // SAFETY: the caller answers for the command; nobody else knows the new descriptor, which is closed at exec.
    unsafe { Ok(OwnedFd::from_raw_fd(bpf(command, attributes)?)) }
}

fn address<T: ?Sized>(of: &T) -> u64 {
    std::ptr::from_ref(of).cast::<u8>() as u64
}

impl Map {
    /// Creates one.
    ///
    /// # Errors
    /// The system's word.
    pub fn create(kind: Kind, key_bytes: usize, value_bytes: usize, most_entries: u32) -> io::Result<Self> {
        let attributes = MapAttributes {
            kind: kind as u32,
            key_bytes: key_bytes as u32,
            value_bytes: value_bytes as u32,
            most_entries,
            flags: 0,
        };
        // SAFETY: there are no pointers in it.
        let descriptor = unsafe { open(MAP_CREATE, &attributes)? };
        Ok(Self { descriptor, key_bytes, value_bytes })
    }

    /// For programs, which keep the map themselves once they are loaded.
    pub fn descriptor(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }

    fn element(&self, key: u64, value: u64) -> ElementAttributes {
        ElementAttributes { map: self.descriptor() as u32, padding: 0, key, value, flags: 0 }
    }

    fn check(&self, key: &[u8]) -> io::Result<()> {
        if key.len() == self.key_bytes { Ok(()) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    /// The value of a key; none if it is not there.
    ///
    /// # Errors
    /// The system's word, or that the key is not of the map's size.
    pub fn lookup(&self, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        self.check(key)?;
        let mut value = vec![0_u8; self.value_bytes];
        // SAFETY: the kernel reads a key and writes a value of the map's sizes, which is not one for each processor.
        none_if_absent(unsafe { bpf(MAP_LOOKUP, &self.element(address(key), value.as_mut_ptr() as u64)) }, value)
    }

    /// The key after this one, or the first.
    ///
    /// # Errors
    /// The system's word, or that the key is not of the map's size.
    pub fn next_key(&self, after: Option<&[u8]>) -> io::Result<Option<Vec<u8>>> {
        after.map_or(Ok(()), |key| self.check(key))?;
        let mut next = vec![0_u8; self.key_bytes];
        let attributes = self.element(after.map_or(0, address), next.as_mut_ptr() as u64);
        // SAFETY: the kernel reads a key, if there is one, and writes another, both of the map's size.
        none_if_absent(unsafe { bpf(MAP_NEXT_KEY, &attributes) }, next)
    }
}

fn none_if_absent(answer: io::Result<i32>, found: Vec<u8>) -> io::Result<Option<Vec<u8>>> {
    match answer {
        Ok(_) => Ok(Some(found)),
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Loads a program for raw tracepoints; `code` has its instructions (linux/bpf.h, `struct bpf_insn`).
///
/// # Errors
/// The system's word; if the verifier refuses it, its last words.
pub fn load(code: &[u64]) -> io::Result<OwnedFd> {
    let mut attributes = ProgramAttributes {
        kind: RAW_TRACEPOINT,
        instructions: code.len() as u32,
        code: address(code),
        licence: address(LICENCE),
        log_level: 0,
        log_bytes: 0,
        log: 0,
    };
    // SAFETY: the kernel reads that many instructions of 64 bits, and a string that ends in NUL.
    let refused = match unsafe { open(PROGRAM_LOAD, &attributes) } {
        Err(error) if error.raw_os_error() != Some(libc::EPERM) => error,
        other => return other,
    };
    let mut log = vec![0_u8; MOST_LOG];
    (attributes.log_level, attributes.log_bytes, attributes.log) = (1, MOST_LOG as u32, log.as_mut_ptr() as u64);
    // SAFETY: as above, and the kernel writes at most `log_bytes` to the log.
    if let Ok(program) = unsafe { open(PROGRAM_LOAD, &attributes) } {
        return Ok(program);
    }
    let log = String::from_utf8_lossy(&log);
    let said = log.trim_end_matches('\0').lines().rev().find(|line| !line.is_empty() && !line.starts_with("processed"));
    Err(said.map_or(refused, io::Error::other))
}

/// Lets a program run at a tracepoint for as long as the descriptor is open.
///
/// # Errors
/// ENOENT if there is no such tracepoint, EINVAL if it has fewer arguments than the program reads.
pub fn attach(program: &OwnedFd, tracepoint: &CStr) -> io::Result<OwnedFd> {
    let program = program.as_raw_fd() as u32;
    // SAFETY: the kernel reads a string that ends in NUL.
    unsafe {
        open(
            RAW_TRACEPOINT_OPEN,
            &TracepointAttributes { name: address(tracepoint.to_bytes_with_nul()), program, padding: 0 },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_have_what_they_are_asked_for_and_take_no_other_size() {
        let create = |kind| match Map::create(kind, 4, 8, 2) {
            Ok(map) => Some(map),
            Err(error) => {
                println!("skipped: maps of bpf(2): {error}");
                None
            }
        };
        let (Some(hash), Some(array)) = (create(Kind::Hash), create(Kind::Array)) else { return };
        let [first, second, third] = [0_u32, 1, 2].map(u32::to_ne_bytes);
        assert_eq!((hash.next_key(None).unwrap(), hash.lookup(&first).unwrap()), (None, None));
        assert_eq!((array.lookup(&second).unwrap(), array.lookup(&third).unwrap()), (Some(vec![0; 8]), None));
        assert_eq!(array.next_key(None).unwrap(), Some(first.to_vec()));
        assert_eq!(array.next_key(Some(&first)).unwrap(), Some(second.to_vec()));
        assert_eq!(array.next_key(Some(&second)).unwrap(), None);
        for refused in [array.lookup(&[1; 5]), array.next_key(Some(&[1]))] {
            assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::InvalidInput);
        }
    }
}
