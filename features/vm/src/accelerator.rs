//! What runs the guest's instructions: the processor (KVM), or the emulator (TCG). Whether KVM works is found out by
//! booting: /dev/kvm can be there, open, and then never run anything.

use crate::spec::Wanted;
use bakeoff_host::search_path::find as find_on;
use bakeoff_host::{Command, End, Job, Launcher, Limits, Patience};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The program, as it is called where it is installed.
pub(crate) const QEMU: &str = "qemu-system-x86_64";
/// What the machine exits with that did all that it should: the port's device makes 2n + 1 of n.
pub(crate) const GOOD_CODE: u8 = 21;
/// [`GOOD_CODE`], as qemu exits.
pub(crate) const GOOD_EXIT: i32 = 2 * GOOD_CODE as i32 + 1;

/// The probe ends within a second where it works.
const LIMIT_S: f64 = 10.0;
/// A sector that the firmware boots: it writes [`GOOD_CODE`] to the port that ends the machine, and halts.
const SECTOR: [u8; 10] = [0xba, 0x01, 0x05, 0xb0, GOOD_CODE, 0xee, 0xf4, 0xeb, 0xfd, 0x90];
const SECTOR_BYTES: usize = 512;

/// What runs the guest's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accelerator {
    Kvm,
    Tcg,
}

/// What was found out, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Emulator {
    pub(crate) qemu: PathBuf,
    pub(crate) accelerator: Accelerator,
    /// Why it is not KVM, if it is not.
    pub(crate) why: String,
}

/// Finds qemu and what it can use; or says why a study that wants this cannot be run here.
pub(crate) fn find(wanted: Wanted) -> Result<Emulator, String> {
    let qemu = qemu().ok_or_else(|| format!("{QEMU} is not installed, so Bakeoff cannot boot a kernel"))?;
    let emulated = |why: String| Emulator { qemu: qemu.clone(), accelerator: Accelerator::Tcg, why };
    match (wanted, boots(&qemu, "kvm")) {
        (Wanted::Tcg, _) => Ok(emulated("the study requests the emulator".to_owned())),
        (_, Ok(())) => Ok(Emulator { qemu, accelerator: Accelerator::Kvm, why: String::new() }),
        (Wanted::Auto, Err(why)) => Ok(emulated(why)),
        (Wanted::Kvm, Err(why)) => Err(format!("the study requests KVM, but {why}")),
    }
}

/// Where qemu is.
pub(crate) fn qemu() -> Option<PathBuf> {
    find_on(QEMU, std::env::var_os("PATH")?, Path::new(""))
}

/// Boots a machine that ends at once; what it did in its place, if it did not.
pub(crate) fn boots(qemu: &Path, accelerator: &str) -> Result<(), String> {
    if accelerator == "kvm" && !Path::new("/dev/kvm").exists() {
        return Err("there is no /dev/kvm".to_owned());
    }
    let broken = |error: &dyn std::fmt::Display| format!("the test of {accelerator} failed: {error}");
    let folder = tempfile::tempdir().map_err(|error| broken(&error))?;
    let mut sector = vec![0; SECTOR_BYTES];
    sector[..SECTOR.len()].copy_from_slice(&SECTOR);
    sector[SECTOR_BYTES - 2..].copy_from_slice(&[0x55, 0xaa]);
    std::fs::write(folder.path().join("sector"), sector).map_err(|error| broken(&error))?;
    let words = [
        "-nodefaults",
        "-no-user-config",
        "-display",
        "none",
        "-no-reboot",
        "-m",
        "16M",
        "-accel",
        accelerator,
        "-device",
        "isa-debug-exit,iobase=0x501,iosize=2",
        "-drive",
        "file=sector,format=raw,if=ide",
    ];
    // As studies have it: some hosts fail only with their own processor's features.
    let processor: &[&str] = if accelerator == "kvm" { &["-cpu", "host"] } else { &[] };
    let words = words.iter().chain(processor).map(|word| (*word).to_owned());
    let argv = std::iter::once(qemu.display().to_string()).chain(words).collect();
    boot_within(argv, folder.path(), LIMIT_S)
        .map_err(|why| format!("a machine does not boot under {accelerator}: {why}"))
}

/// Starts a machine in a folder, which is to end itself within `limit_s` seconds by the clock; what it did instead.
pub(crate) fn boot_within(argv: Vec<String>, folder: &Path, limit_s: f64) -> Result<(), String> {
    let broken = |error: &dyn std::fmt::Display| format!("the test could not run: {error}");
    let log = folder.join("log");
    let command = Command {
        argv,
        dir: folder.to_owned(),
        env: BTreeMap::new(),
        stdin: None,
        stdout: log.clone(),
        stderr: log.clone(),
    };
    let limits = Limits { timeout_s: Some(limit_s), ..Limits::default() };
    let mut launcher = Launcher::start(None).map_err(|error| broken(&error))?;
    launcher
        .launch(&Job { commands: vec![command.into()], limits, ..Job::default() })
        .map_err(|error| broken(&error))?;
    let ended = launcher.wait(Patience::FirstInterrupt).map_err(|error| broken(&error))?;
    let said = std::fs::read_to_string(&log).unwrap_or_default();
    let said = said.lines().map(str::trim).find(|line| !line.is_empty());
    let said = said.map(|line| format!(": {line}")).unwrap_or_default();
    match ended.processes.first().map(|process| &process.end) {
        Some(End::Exited(code)) if *code == GOOD_EXIT => Ok(()),
        Some(End::TimedOut) => Err(format!("it hung for {limit_s} s{said}")),
        end => Err(in_words(end.unwrap_or(&End::OutOfMemory)) + &said),
    }
}

/// How qemu ended.
pub(crate) fn in_words(end: &End) -> String {
    match end {
        End::Exited(code) => format!("qemu exited with {code}"),
        End::Signalled(signal) => format!("qemu was killed by signal {signal}"),
        End::TimedOut => "qemu took too long".to_owned(),
        End::OutOfMemory => "qemu was killed because it used too much memory".to_owned(),
        End::NotStarted { what, why } => format!("could not start {what}: {why}"),
        End::Interrupted => "it was interrupted".to_owned(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    /// A program in the place of qemu.
    fn stand_in(script: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(QEMU);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        (folder, path)
    }

    #[test]
    fn it_boots_if_the_machine_says_so_and_only_then() {
        let check = |script: &str, part: Option<&str>| {
            let (_folder, path) = stand_in(script);
            match (boots(&path, "tcg"), part) {
                (Ok(()), None) => {}
                (Err(why), Some(part)) => assert!(why.contains(part), "{why}"),
                (other, _) => panic!("{script}: {other:?}"),
            }
        };
        check("exit 43", None);
        check("exit 0", Some("qemu exited with 0"));
        check("echo 'KVM internal error' >&2; exit 1", Some("KVM internal error"));
        check("kill -9 $$", Some("signal 9"));
        // The sector is what a firmware boots.
        check("[ \"$(tail -c 2 sector | od -An -tx1)\" = ' 55 aa' ] && exit 43", None);
    }

    #[test]
    fn the_real_one_boots_under_emulation() {
        let Some(qemu) = qemu() else {
            println!("skipped: {QEMU} is not installed");
            return;
        };
        assert_eq!(boots(&qemu, "tcg"), Ok(()));
    }
}
