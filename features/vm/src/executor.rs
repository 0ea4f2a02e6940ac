//! Boots: from a variant's kernel to what its trials measured. It puts together what others do: the machine is a job of
//! a launcher, so it ends with us, whichever process is killed; the trials are the agent's.

use crate::accelerator::{Accelerator, Emulator, boot_within};
use crate::agent::{Order, Ordered, Received, execution};
use crate::archive::Archive;
use crate::ended::{Left, failure};
use crate::guest::{FIRST, HOME, ONLY_BOOT, program_words};
use crate::machine::{CONSOLE, LINES, MOST_PRINTED, Machine};
use crate::spec::{Spec, Wanted};
use bakeoff_command::{CommandError, PlaceSetting, RemotePlace, screen};
use bakeoff_host::{Command, End, Job, Launcher, Limits, Options, Patience};
use bakeoff_lab::local::{Setup, Watching};
use bakeoff_lab::on_demand::{self, Layouts};
use bakeoff_lab::{BootTask, Booted, Error, Execution, Executor, Linked, Look, Pass, Task};
use bakeoff_model::metric::{self, Clock};
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{Drawn, Failure, Outcome, TWIN};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

/// Seconds of the guest's clock after which its kernel has nothing left to do of its own.
const SETTLE_S: f64 = 10.0;
/// Seconds of the guest's clock after which a trial is killed that has no limit of its own.
const MOST_S: f64 = 3600.0;
/// Libraries that our own program needs.
const MOST_LIBRARIES: usize = 64;
/// The limit by the clock, as a multiple of the limit of processor time.
const BY_THE_CLOCK: f64 = 4.0;
/// No more is read of what a guest's console and qemu have printed, and of the agent's lines, in bytes.
const MOST_SAID: u64 = 1 << 20;
const MOST_LINES: u64 = 256 << 20;
const INSTRUCTIONS_IN_A_SECOND: f64 = 1e9;

/// Machines of one study on this host.
#[derive(Debug)]
pub(crate) struct Machines {
    pub(crate) spec: Spec,
    pub(crate) found: Emulator,
}

impl RemotePlace for Machines {
    fn clock(&mut self, plan: &Plan, setup: &Setup) -> Result<Clock, CommandError> {
        if self.found.accelerator == Accelerator::Kvm
            && let Err(why) = self.boots_under_kvm(plan, setup)
        {
            let why = format!("the baseline's kernel does not boot under KVM: {why}");
            match self.spec.accelerator {
                Wanted::Kvm => {
                    return Err(
                        CommandError::usage(why).hint("emulate the machine with `accelerator = \"tcg\"` in [vm]")
                    );
                }
                _ => self.found = Emulator { accelerator: Accelerator::Tcg, why, ..self.found.clone() },
            }
        }
        if self.found.accelerator == Accelerator::Tcg {
            self.emulated()?;
        }
        Ok(match self.found.accelerator {
            Accelerator::Kvm => Clock::Seconds,
            Accelerator::Tcg => Clock::GuestInstructions,
        })
    }

    fn programs(&self) -> Vec<PathBuf> {
        vec![self.found.qemu.clone()]
    }

    fn executor<'a>(&'a self, mut setting: PlaceSetting<'a>) -> Result<Box<dyn Executor + 'a>, CommandError> {
        let scratch = setting.setup.scratch.clone();
        let fail = |source: io::Error| {
            CommandError::new(bakeoff_command::Code::Internal, Error::Folder { path: scratch.clone(), source })
        };
        fs::create_dir_all(&scratch).map_err(fail)?;
        let launcher = Launcher::start_with(&options(&setting.keep)).map_err(Error::from)?;
        let (ours, has_loader) = ours(&setting).map_err(fail)?;
        let watching = Watching::new(std::mem::take(&mut setting.watch));
        let layouts = Layouts::new();
        Ok(Box::new(Vm { machines: self, setting, launcher, watching, layouts, ours, has_loader }))
    }
}

fn options(keep: &std::os::fd::OwnedFd) -> Options<'_> {
    Options { keep: Some(keep.as_fd()), ..Options::default() }
}

impl Machines {
    /// Says once that the machine is emulated; and refuses what cannot be.
    fn emulated(&self) -> Result<(), CommandError> {
        if self.spec.processors > 1 {
            let error = format!(
                "cannot count instructions with {} emulated processors; the machine is emulated because {}",
                self.spec.processors, self.found.why
            );
            return Err(CommandError::usage(error).hint("write `processors = 1` in [vm], or use a machine with KVM"));
        }
        screen::err(&format!(
            "note: Bakeoff compares kernels in guest instructions, not in seconds, because {}\n",
            self.found.why
        ));
        Ok(())
    }

    /// A kernel is booted that does nothing but end the machine: what a small sector can do under KVM, a kernel may
    /// not.
    fn boots_under_kvm(&self, plan: &Plan, setup: &Setup) -> Result<(), String> {
        let kernel = plan.baseline().kernel.as_deref().unwrap_or_default();
        let Some(prefix) = setup.prefixes.get(&plan.baseline().name) else { return Ok(()) };
        let (kernel, root) = (prefix.join(kernel), prefix.join(&self.spec.root));
        // What is missing is a failure of the first boot, with its name.
        if !kernel.is_file() || !root.is_file() {
            return Ok(());
        }
        let broken = |error: &dyn std::fmt::Display| format!("the test could not run: {error}");
        let folder = tempfile::tempdir().map_err(|error| broken(&error))?;
        let initrd = folder.path().join("root");
        let (ours, has_loader) = program().map_err(|error| broken(&error))?;
        let ours = ours.finish().map_err(|error| broken(&error))?;
        append(&root, &[&ours], &initrd).map_err(|error| broken(&error))?;
        let mut first = program_words(has_loader, &format!("/{HOME}/bakeoff"));
        first.extend([FIRST, ONLY_BOOT].map(str::to_owned));
        let machine = Machine {
            qemu: &self.found.qemu,
            accelerator: Accelerator::Kvm,
            spec: &self.spec,
            kernel: &kernel,
            root: &initrd,
            drawn: Drawn::default(),
            first: &first,
        };
        boot_within(machine.argv(), folder.path(), KVM_LIMIT_S)
    }
}

/// Seconds within which a kernel boots under KVM, if it does.
const KVM_LIMIT_S: f64 = 30.0;

/// A root, with more behind it.
fn append(root: &Path, more: &[&[u8]], into: &Path) -> io::Result<()> {
    let mut to = File::create(into)?;
    let copied = io::copy(&mut File::open(root)?, &mut to)?;
    // Each part begins at a multiple of four.
    to.write_all(&[0; 4][..((4 - copied % 4) % 4) as usize])?;
    more.iter().try_for_each(|part| to.write_all(part))
}

/// The part of the root that is the same for all boots: our own program with what it needs, and the study's files.
/// Whether a loader is among it.
fn ours(setting: &PlaceSetting<'_>) -> io::Result<(Vec<u8>, bool)> {
    let (mut archive, has_loader) = program()?;
    archive.file(&format!("{HOME}/study/study.toml"), &fs::read(&setting.study_file)?)?;
    for name in &setting.files {
        archive.file(&format!("{HOME}/study/{name}"), &fs::read(setting.setup.dir.join(name))?)?;
    }
    Ok((archive.finish()?, has_loader))
}

/// Our own program with what it needs to be the first process; whether a loader is among it.
fn program() -> io::Result<(Archive<Vec<u8>>, bool)> {
    let mut archive = Archive::new(vec![]);
    for folder in ["dev", "proc", "sys", "tmp"] {
        archive.folder(folder)?;
    }
    // The kernel opens the one before anything is mounted, and every program expects the other.
    archive.device("dev/console", [5, 1])?;
    archive.device("dev/null", [1, 3])?;
    let program = std::env::current_exe()?;
    archive.file(&format!("{HOME}/bakeoff"), &fs::read(&program)?)?;
    let with = bakeoff_host::executed_with(std::slice::from_ref(&program), None, MOST_LIBRARIES);
    let mut has_loader = false;
    for library in with.iter().filter(|path| **path != program) {
        let name = library.file_name().unwrap_or_default().to_string_lossy();
        let is_loader = name.starts_with("ld-linux") || name.starts_with("ld-musl");
        has_loader |= is_loader;
        let path = if is_loader { format!("{HOME}/loader") } else { format!("{HOME}/lib/{name}") };
        archive.file(&path, &fs::read(library)?)?;
    }
    Ok((archive, has_loader))
}

/// Boots a variant's kernel for each of its passes.
struct Vm<'a> {
    machines: &'a Machines,
    setting: PlaceSetting<'a>,
    launcher: Launcher,
    watching: Watching<'a>,
    /// The prefixes of the present pass, where kernels are relinked for each.
    layouts: Layouts,
    ours: Vec<u8>,
    has_loader: bool,
}

/// What a boot needs.
struct Images {
    kernel: PathBuf,
    root: PathBuf,
}

impl Vm<'_> {
    /// The kernel of a variant or the twin, and the root; or why a boot of it must fail.
    fn images(&self, boot: &BootTask<'_>) -> Result<Images, Failure> {
        let plan = self.setting.plan;
        let name = if boot.variant == TWIN { &plan.baseline().name } else { boot.variant };
        let variant = plan.variants.iter().find(|variant| variant.name == *name);
        let is_relinked = boot.tasks.iter().any(|task| task.block.layout.is_some());
        let prefix = match self.layouts.get(boot.variant) {
            Some(Err(failure)) if is_relinked => return Err(failure.clone()),
            Some(Ok(layout)) if is_relinked => Some(&layout.prefix),
            _ => self.setting.setup.prefixes.get(name),
        };
        let file = |name: &str| {
            let path = prefix.map(|prefix| prefix.join(name)).filter(|path| path.is_file());
            path.ok_or_else(|| died(format!("the build has no file {name}"), vec![]))
        };
        let kernel = variant.and_then(|variant| variant.kernel.as_deref()).unwrap_or_default();
        Ok(Images { kernel: file(kernel)?, root: file(&self.machines.spec.root)? })
    }

    /// The study's root, then what is ours, then what this boot is to do.
    fn write_root(&self, root: &Path, boot: &BootTask<'_>, into: &Path) -> io::Result<()> {
        let ordered = |task: &Task<'_>| Ordered {
            block: bakeoff_model::record::Block { layout: None, ..task.block.clone() },
            position: task.position,
            attempt: task.attempt,
        };
        let order = Order {
            plan: self.setting.plan.name.clone(),
            variant: boot.variant.to_owned(),
            tasks: boot.tasks.iter().map(ordered).collect(),
            settle_s: SETTLE_S,
            most_s: MOST_S,
        };
        let mut archive = Archive::new(vec![]);
        archive.file(&format!("{HOME}/order"), &serde_json::to_vec(&order)?)?;
        append(root, &[&self.ours, &archive.finish()?], into)
    }

    fn booted(&mut self, boot: &BootTask<'_>, images: &Images) -> Result<Option<Booted>, Error> {
        let scratch = self.setting.setup.scratch.clone();
        let io = |source| Error::Folder { path: scratch.clone(), source };
        let initrd = scratch.join("root");
        self.write_root(&images.root, boot, &initrd).map_err(io)?;
        for file in [CONSOLE, LINES] {
            File::create(scratch.join(file)).map_err(io)?;
        }
        let Machines { spec, found } = self.machines;
        let mut first = program_words(self.has_loader, &format!("/{HOME}/bakeoff"));
        first.push(FIRST.to_owned());
        let machine = Machine {
            qemu: &found.qemu,
            accelerator: found.accelerator,
            spec,
            kernel: &images.kernel,
            root: &initrd,
            drawn: boot.drawn,
            first: &first,
        };
        let log = scratch.join("qemu");
        let command = Command {
            argv: limited(machine.argv()),
            dir: scratch.clone(),
            env: BTreeMap::from([("TMPDIR".to_owned(), scratch.display().to_string())]),
            stdin: None,
            stdout: log.clone(),
            stderr: log.clone(),
        };
        let limits = Limits { timeout_s: Some(BY_THE_CLOCK * spec.boot_limit_s), ..Limits::default() };
        let job = Job { commands: vec![command.into()], limits, ..Job::default() };
        let ended = self.launcher.launch(&job).and_then(|()| self.launcher.wait(Patience::SecondInterrupt));
        let ended = match ended {
            Err(bakeoff_host::Error::LauncherEnded { how }) => {
                self.launcher = Launcher::start_with(&options(&self.setting.keep))?;
                let why = format!("the machine's launcher process was killed ({how})");
                return Ok(Some(all_failed(boot, &died(why, vec![]))));
            }
            ended => ended?,
        };
        let Some(process) = ended.processes.first() else { return Ok(None) };
        if process.end == End::Interrupted {
            return Ok(None);
        }
        let text = |file: &Path| both_ends(file, MOST_SAID).map_err(io);
        let mut lines = vec![];
        File::open(scratch.join(LINES)).and_then(|file| file.take(MOST_LINES).read_to_end(&mut lines)).map_err(io)?;
        let received = Received::of(&lines);
        let left = Left {
            end: &process.end,
            received: &received,
            console: &text(&scratch.join(CONSOLE))?,
            log: &text(&log)?,
            ordered: boot.tasks.len(),
            limit_s: spec.boot_limit_s,
        };
        let failed = failure(&left);
        let Received { place, unavailable, trials, .. } = received;
        let mut booted = Booted { place, cost: ended.measurements, unavailable, executions: vec![] };
        let mut trials = trials.into_iter();
        for _ in boot.tasks {
            let mut execution = trials.next().map(execution).unwrap_or_default();
            self.count_instructions(&mut execution);
            if let Some(failure) = &failed {
                execution.outcome = Outcome::Failed(failure.clone());
            }
            booted.executions.push(execution);
        }
        Ok(Some(booted))
    }

    /// What its clock counts, by its own name.
    fn count_instructions(&self, execution: &mut Execution) {
        let wall_s = execution.measurements.get(metric::WALL).copied();
        if let (Accelerator::Tcg, Some(wall_s)) = (self.machines.found.accelerator, wall_s) {
            let count = (wall_s * INSTRUCTIONS_IN_A_SECOND).round();
            execution.measurements.insert("guest_instructions".to_owned(), count);
        }
    }
}

/// The command with a limit of the files that it writes: a guest may print without end.
fn limited(argv: Vec<String>) -> Vec<String> {
    // In units of 512 bytes (POSIX).
    let script = format!("ulimit -f {}; exec \"$@\"", MOST_PRINTED / 512);
    ["/bin/sh", "-c", &script, "sh"].map(str::to_owned).into_iter().chain(argv).collect()
}

/// A text; of one that is longer than `most` bytes, half as much of its beginning and of its end.
fn both_ends(file: &Path, most: u64) -> io::Result<String> {
    let (mut file, mut bytes) = (File::open(file)?, vec![]);
    let length = file.metadata()?.len();
    (&file).take(if length > most { most / 2 } else { most }).read_to_end(&mut bytes)?;
    if length > most {
        bytes.extend(format!("\n[{} bytes omitted]\n", length - most / 2 * 2).into_bytes());
        file.seek(io::SeekFrom::End(-(most as i64 / 2)))?;
        file.take(most / 2).read_to_end(&mut bytes)?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn died(why: String, tail: Vec<String>) -> Failure {
    Failure::Surroundings { part: "boot".to_owned(), why, tail }
}

fn all_failed(boot: &BootTask<'_>, failure: &Failure) -> Booted {
    let started_unix_s = bakeoff_host::now_unix_s();
    let failed =
        |_: &Task<'_>| Execution { started_unix_s, outcome: Outcome::Failed(failure.clone()), ..Execution::default() };
    Booted { executions: boot.tasks.iter().map(failed).collect(), ..Booted::default() }
}

impl Executor for Vm<'_> {
    fn execute(&mut self, task: Task<'_>) -> Result<Option<Execution>, Error> {
        Err(Error::Unplanned { what: format!("trial of `{}` outside a boot", task.variant) })
    }

    fn boot(&mut self, boot: &BootTask<'_>) -> Result<Option<Booted>, Error> {
        match self.images(boot) {
            Ok(images) => self.booted(boot, &images),
            Err(failure) => Ok(Some(all_failed(boot, &failure))),
        }
    }

    fn look(&mut self) -> Result<Look, Error> {
        self.watching.look()
    }

    fn look_at_all(&mut self) -> Result<Look, Error> {
        self.watching.look_at_all()
    }

    fn pass_begins(&mut self, pass: &Pass<'_>) -> Result<Option<Linked>, Error> {
        let Some(layouts) = on_demand::layouts(&mut self.setting.on_demand, pass)? else { return Ok(None) };
        self.layouts = layouts;
        Ok(Some(on_demand::digests(&self.layouts)))
    }

    fn pass_ended(&mut self) -> Result<(), Error> {
        self.layouts.clear();
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;

    #[test]
    fn of_a_console_without_end_only_both_ends_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("console");
        fs::write(&file, "short").unwrap();
        assert_eq!(both_ends(&file, 10).unwrap(), "short");
        // A hole: as long as one that once took all memory, and nothing on the disk.
        let mut console = File::create(&file).unwrap();
        console.write_all(b"first").unwrap();
        console.seek(io::SeekFrom::Start(64 << 30)).unwrap();
        console.write_all(b"last!").unwrap();
        let text = both_ends(&file, 10).unwrap();
        assert_eq!(text, format!("first\n[{} bytes omitted]\nlast!", (64_u64 << 30) - 5));
    }
}
