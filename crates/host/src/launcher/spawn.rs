//! One posix_spawn, with everything that can be prepared done before the clock starts: a session of its own, default
//! signals, an empty mask, and no descriptors but 0, 1 and 2. It is glibc's posix_spawn because that is a vfork.
#![allow(unsafe_code, reason = "neither std nor rustix offers posix_spawn with a session and a folder")]

use super::Command;
use super::program::{self, NotStarted};
use rustix::process::Pid;
use std::ffi::{CString, OsStr, c_char, c_int, c_short};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::ptr;

/// A command that is ready to start.
pub(super) struct Launch<'a> {
    command: &'a Command,
    program: PathBuf,
    program_c: CString,
    argv: Strings,
    env: Strings,
    actions: Actions,
    attributes: Attributes,
    /// Open until the command has them.
    _outputs: [Option<File>; 2],
}

impl<'a> Launch<'a> {
    /// Finds the program and opens the files. `null` is an open /dev/null.
    pub(super) fn prepare(command: &'a Command, null: &File) -> Result<Self, NotStarted> {
        let program = program::find(command)?;
        let program_c = c_string(program.as_os_str())?;
        let argv = Strings::new(command.argv.iter().map(OsStr::new))?;
        let env: Vec<String> = command.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let env = Strings::new(env.iter().map(OsStr::new))?;
        let dir = c_string(command.dir.as_os_str())?;
        let stdout = create(&command.stdout)?;
        let stderr = if command.stderr == command.stdout { None } else { Some(create(&command.stderr)?) };
        let descriptors = [null.as_raw_fd(), stdout.as_raw_fd(), stderr.as_ref().unwrap_or(&stdout).as_raw_fd()];
        let failed = |error: io::Error| NotStarted::path(&program, error);
        let actions = Actions::new(descriptors, dir).map_err(failed)?;
        let attributes = Attributes::new().map_err(failed)?;
        Ok(Self { command, program, program_c, argv, env, actions, attributes, _outputs: [Some(stdout), stderr] })
    }

    /// Starts it; returns once the program has replaced this one in the new process, or could not.
    pub(super) fn spawn(&self) -> Result<Pid, NotStarted> {
        let mut pid = 0;
        // SAFETY: every pointer is to something that `self` owns and that was initialised by its constructor; both
        // vectors end in a null pointer; posix_spawn keeps none of them.
        let code = unsafe {
            libc::posix_spawn(
                &raw mut pid,
                self.program_c.as_ptr(),
                &raw const *self.actions.raw,
                &raw const *self.attributes.raw,
                self.argv.pointers.as_ptr(),
                self.env.pointers.as_ptr(),
            )
        };
        check(code)
            .and_then(|()| Pid::from_raw(pid).ok_or_else(|| io::Error::from(io::ErrorKind::Other)))
            .map_err(|error| program::explain(&error, self.command, &self.program))
    }
}

fn create(path: &Path) -> Result<File, NotStarted> {
    File::create(path).map_err(|error| NotStarted::path(path, error))
}

fn c_string(text: &OsStr) -> Result<CString, NotStarted> {
    CString::new(text.as_bytes()).map_err(|_| NotStarted::new(text.to_string_lossy(), "it contains a NUL byte"))
}

fn check(code: c_int) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) }
}

/// An array of C strings as exec wants it.
struct Strings {
    pointers: Vec<*mut c_char>,
    _owned: Vec<CString>,
}

impl Strings {
    fn new<'s>(texts: impl Iterator<Item = &'s OsStr>) -> Result<Self, NotStarted> {
        let owned = texts.map(c_string).collect::<Result<Vec<_>, _>>()?;
        let pointers = owned.iter().map(|text| text.as_ptr().cast_mut()).chain([ptr::null_mut()]).collect();
        Ok(Self { pointers, _owned: owned })
    }
}

/// What the new process does to its folder and descriptors. Boxed, because C may hold on to its address.
struct Actions {
    raw: Box<libc::posix_spawn_file_actions_t>,
}

impl Actions {
    fn new(descriptors: [RawFd; 3], dir: CString) -> io::Result<Self> {
        let mut raw = Box::new(MaybeUninit::uninit());
        // SAFETY: init is given memory of its type, and fills it.
        check(unsafe { libc::posix_spawn_file_actions_init(raw.as_mut_ptr()) })?;
        // SAFETY: init has succeeded.
        let mut actions = Self { raw: unsafe { raw.assume_init() } };
        // SAFETY: `raw` is initialised, and the path is copied.
        check(unsafe { libc::posix_spawn_file_actions_addchdir_np(&raw mut *actions.raw, dir.as_ptr()) })?;
        for (target, descriptor) in (0..).zip(descriptors) {
            // SAFETY: `raw` is initialised; descriptors are plain numbers here, and stay open until the spawn.
            check(unsafe { libc::posix_spawn_file_actions_adddup2(&raw mut *actions.raw, descriptor, target) })?;
        }
        Ok(actions)
    }
}

impl Drop for Actions {
    fn drop(&mut self) {
        // SAFETY: `raw` was initialised and is destroyed once.
        unsafe { libc::posix_spawn_file_actions_destroy(&raw mut *self.raw) };
    }
}

/// Session and signals of the new process.
struct Attributes {
    raw: Box<libc::posix_spawnattr_t>,
}

impl Attributes {
    fn new() -> io::Result<Self> {
        let mut raw = Box::new(MaybeUninit::uninit());
        // SAFETY: init is given memory of its type, and fills it.
        check(unsafe { libc::posix_spawnattr_init(raw.as_mut_ptr()) })?;
        // SAFETY: init has succeeded.
        let mut attributes = Self { raw: unsafe { raw.assume_init() } };
        let mut all = MaybeUninit::uninit();
        let mut none = MaybeUninit::uninit();
        let flags =
            libc::POSIX_SPAWN_SETSID | libc::POSIX_SPAWN_SETSIGDEF as c_short | libc::POSIX_SPAWN_SETSIGMASK as c_short;
        // SAFETY: the sets are filled before they are read, and are copied; `raw` is initialised.
        unsafe {
            // Not sigfillset: it leaves out the two that glibc uses itself, and they would arrive ignored.
            ptr::write_bytes(all.as_mut_ptr(), u8::MAX, 1);
            libc::sigemptyset(none.as_mut_ptr());
            check(libc::posix_spawnattr_setsigdefault(&raw mut *attributes.raw, all.as_ptr()))?;
            check(libc::posix_spawnattr_setsigmask(&raw mut *attributes.raw, none.as_ptr()))?;
            check(libc::posix_spawnattr_setflags(&raw mut *attributes.raw, flags))?;
        }
        Ok(attributes)
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: `raw` was initialised and is destroyed once.
        unsafe { libc::posix_spawnattr_destroy(&raw mut *self.raw) };
    }
}
