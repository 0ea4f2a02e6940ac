//! What a stop at a system call says: which call it is, by its name, and which of its arguments is a path that it opens or
//! looks for. A machine whose calls have no names here, or a call that is newer, has its number for a name.

use super::sys::INFO_WORDS;
use super::used::Use;
use syscalls::{aarch64, arm, x86, x86_64};

/// A call: the machine that its number is of (AUDIT_ARCH), and the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Call {
    machine: u32,
    number: u64,
}

/// Machines by their numbers in linux/audit.h.
const X86_64: u32 = 0xc000_003e;
const I386: u32 = 0x4000_0003;
const AARCH64: u32 = 0xc000_00b7;
const ARM: u32 = 0x4000_0028;
/// Set in the number of calls of the x32 ABI, which otherwise has x86-64's.
const X32: u64 = 0x4000_0000;

/// Flags of open(2), which are the same on all these machines: not only reading, O_WRONLY, O_CREAT, O_TRUNC.
const O_ACCESS: u64 = 3;
const O_WRITE_ONLY: u64 = 1;
const O_CREATE: u64 = 0o100;
const O_TRUNCATE: u64 = 0o1000;

/// Arguments that name files: of each the folder's descriptor, if it takes one, and the path.
pub(super) type NamedBy = &'static [(Option<usize>, usize)];

/// This machine.
pub(super) fn own_machine() -> u32 {
    if cfg!(target_arch = "x86_64") { X86_64 } else { AARCH64 }
}

/// The numbers of its calls that name files.
pub(super) fn own_naming_files() -> Vec<u32> {
    const HIGHEST: u32 = 512;
    let names = |number: &u32| {
        let call = Call { machine: own_machine(), number: u64::from(*number) };
        call.file_use(&[0; 6]).is_some()
    };
    (0..HIGHEST).filter(names).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// A call is about to be made, with these arguments.
    Entry(Call, [u64; 6]),
    /// It has returned; true if with an error.
    Exit(bool),
    /// Neither.
    Other,
}

impl Stop {
    /// Reads `struct ptrace_syscall_info` (ptrace(2)).
    pub(super) fn of(words: &[u64; INFO_WORDS]) -> Self {
        let head = words[0].to_ne_bytes();
        let machine = u32::from_ne_bytes([head[4], head[5], head[6], head[7]]);
        match head[0] {
            // Of a filter's stop, all that is read here lies where a call's does.
            1 | 3 => Self::Entry(
                Call { machine, number: words[3] },
                [words[4], words[5], words[6], words[7], words[8], words[9]],
            ),
            2 => Self::Exit(words[4].to_ne_bytes()[0] != 0),
            _ => Self::Other,
        }
    }
}

/// Returns the name of a system call of this machine's programs, or of the 32-bit programs that it runs too; a number without a
/// name is returned as text.
pub fn name_of(number: u64, is_32_bit: bool) -> String {
    let machine = match own_machine() {
        X86_64 if is_32_bit => I386,
        _ if is_32_bit => ARM,
        own => own,
    };
    Call { machine, number }.name()
}

impl Call {
    /// `execve` as this machine's own programs call it.
    pub(super) fn own_execve() -> Self {
        Self { machine: own_machine(), number: libc::SYS_execve.unsigned_abs() }
    }

    /// `openat`, likewise.
    pub(super) fn own_openat() -> Self {
        Self { machine: own_machine(), number: libc::SYS_openat.unsigned_abs() }
    }

    /// Its name, or its number.
    pub(super) fn name(self) -> String {
        let named = self.known_name().map(|name| name.trim_start_matches("r#").to_owned());
        named.unwrap_or_else(|| self.number.cast_signed().to_string())
    }

    fn known_name(self) -> Option<&'static str> {
        let number = |mask: u64| usize::try_from(self.number & !mask).ok();
        match self.machine {
            X86_64 => x86_64::Sysno::new(number(X32)?).map(|call| call.name()),
            I386 => x86::Sysno::new(number(0)?).map(|call| call.name()),
            AARCH64 => aarch64::Sysno::new(number(0)?).map(|call| call.name()),
            ARM => arm::Sysno::new(number(0)?).map(|call| call.name()),
            _ => None,
        }
    }

    /// Which argument is a path that it opens or looks for, if one is.
    pub(super) fn path_argument(self) -> Option<usize> {
        match self.known_name()? {
            "open" | "stat" | "lstat" | "stat64" | "lstat64" | "access" | "readlink" | "execve" => Some(0),
            "openat" | "openat2" | "newfstatat" | "fstatat" | "fstatat64" | "statx" | "faccessat" | "faccessat2"
            | "readlinkat" | "execveat" => Some(1),
            _ => None,
        }
    }

    /// What it does with files, and which arguments name them.
    pub(super) fn file_use(self, arguments: &[u64; 6]) -> Option<(Use, NamedBy)> {
        const FIRST: NamedBy = &[(None, 0)];
        const IN_FOLDER: NamedBy = &[(Some(0), 1)];
        let by = |flags: usize| match arguments[flags] {
            flags if flags & (O_ACCESS | O_CREATE | O_TRUNCATE) == 0 => Use::Read,
            flags if flags & O_ACCESS == O_WRITE_ONLY || flags & O_TRUNCATE != 0 => Use::Write,
            _ => Use::Both,
        };
        Some(match self.known_name()? {
            "open" => (by(1), FIRST),
            "openat" => (by(2), IN_FOLDER),
            // Its flags are in memory: the caller reads them.
            "openat2" | "execveat" => (Use::Read, IN_FOLDER),
            "execve" => (Use::Read, FIRST),
            "stat" | "lstat" | "stat64" | "lstat64" | "access" | "readlink" => (Use::Look, FIRST),
            "newfstatat" | "fstatat" | "fstatat64" | "statx" | "faccessat" | "faccessat2" | "readlinkat" => {
                (Use::Look, IN_FOLDER)
            }
            "creat" | "unlink" | "rmdir" | "mkdir" | "truncate" | "truncate64" | "chmod" | "chown" | "lchown"
            | "mknod" | "utime" | "utimes" => (Use::Write, FIRST),
            "unlinkat" | "mkdirat" | "fchmodat" | "fchownat" | "mknodat" | "utimensat" | "futimesat" => {
                (Use::Write, IN_FOLDER)
            }
            "rename" => (Use::Write, &[(None, 0), (None, 1)]),
            "renameat" | "renameat2" => (Use::Write, &[(Some(0), 1), (Some(2), 3)]),
            "link" | "symlink" => (Use::Write, &[(None, 1)]),
            "linkat" => (Use::Write, &[(Some(2), 3)]),
            "symlinkat" => (Use::Write, &[(Some(1), 2)]),
            _ => return None,
        })
    }

    /// Whether its flags are at the address that is its third argument.
    pub(super) fn has_flags_in_memory(self) -> bool {
        self.known_name() == Some("openat2")
    }

    /// Whether it replaces the program of its process.
    pub(super) fn is_exec(self) -> bool {
        self.known_name().is_some_and(|name| name == "execve" || name == "execveat")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_their_machine_s_name_or_else_a_number() {
        for (machine, number, name, path) in [
            (X86_64, 0, "read", None),
            (X86_64, 257, "openat", Some(1)),
            (X86_64, 59, "execve", Some(0)),
            (X86_64, X32 | 2, "open", Some(0)),
            (X86_64, u64::MAX, "-1", None),
            (I386, 5, "open", Some(0)),
            (I386, 17, "break", None),
            (AARCH64, 56, "openat", Some(1)),
            (AARCH64, 79, "fstatat", Some(1)),
            (ARM, 322, "openat", Some(1)),
            (X86_64, 99_999, "99999", None),
            (7, 2, "2", None),
        ] {
            let call = Call { machine, number };
            assert_eq!((call.name().as_str(), call.path_argument()), (name, path), "{machine:x} {number}");
        }
        assert_eq!(Call::own_execve().name(), "execve");
        let own = libc::SYS_openat.unsigned_abs();
        assert_eq!((name_of(own, false).as_str(), name_of(5, true).as_str()), ("openat", "open"));
    }

    #[test]
    fn a_stop_is_read_as_the_kernel_lays_it_out() {
        let word = |op: u8| {
            let [a, b, c, d] = X86_64.to_ne_bytes();
            u64::from_ne_bytes([op, 0, 0, 0, a, b, c, d])
        };
        let flag = u64::from_ne_bytes([1, 0, 0, 0, 0, 0, 0, 0]);
        let call = Call { machine: X86_64, number: 2 };
        let entry = [word(1), 0, 0, 2, 10, 11, 12, 13, 14, 15, 0];
        assert_eq!(Stop::of(&entry), Stop::Entry(call, [10, 11, 12, 13, 14, 15]));
        assert_eq!(Stop::of(&[word(2), 0, 0, 2_u64.wrapping_neg(), flag, 0, 0, 0, 0, 0, 0]), Stop::Exit(true));
        assert_eq!(Stop::of(&[word(2), 0, 0, 7, 0, 0, 0, 0, 0, 0, 0]), Stop::Exit(false));
        assert_eq!(Stop::of(&[word(0), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), Stop::Other);
    }
}
