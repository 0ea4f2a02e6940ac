//! Makes the folder that this Bakeoff has for its groups, in each hierarchy that permits it. Its name has our process, so
//! that the next Bakeoff removes what a killed one left. What the folder is good for is tried out.

use super::find::Hierarchy;
use super::home::{Home, Needs, Nest, SELF, enable, move_into, words};
use super::{counts, hierarchies, tree, try_out, values};
use crate::files::Files;
use crate::launchers::our_processes;
use bakeoff_model::metric::Measurements;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

const PREFIX: &str = "bakeoff-";
/// What a controller of version 2 must be enabled for. That for CPU limits is enabled when one is asked for.
pub(super) const WANTED: &[&str] = &["memory", "io", "pids"];

/// One for the whole process: launchers share it.
static HOME: Mutex<Weak<Home>> = Mutex::new(Weak::new());

impl Home {
    /// Ours; or why there is none.
    pub fn of_this_process() -> Result<Arc<Self>, String> {
        if std::env::var_os(super::SWITCH).is_some_and(|word| word == "off") {
            return Err(format!("cgroups are switched off ({} is off)", super::SWITCH));
        }
        let mut home = HOME.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(home) = home.upgrade() {
            return Ok(home);
        }
        let files = Files::here();
        let groups = files.read("proc/self/cgroup").unwrap_or_default();
        let made = Arc::new(Self::make(hierarchies(&files, &groups), &own_name(&files))?);
        *home = Arc::downgrade(&made);
        Ok(made)
    }

    pub(super) fn make(hierarchies: Vec<Hierarchy>, name: &str) -> Result<Self, String> {
        if hierarchies.is_empty() {
            return Err("no cgroups are mounted here".to_owned());
        }
        let mut refused = None;
        let mut nests = vec![];
        for hierarchy in hierarchies {
            let has_v2 = nests.iter().any(|nest: &Nest| nest.hierarchy.is_v2());
            if !is_of_use(&hierarchy, has_v2) {
                continue;
            }
            match settle(&hierarchy, name).and_then(|folder| Ok((tree::Dir::open(&folder)?, folder))) {
                Ok((dir, folder)) => nests.push(Nest { hierarchy, folder, dir, files: vec![] }),
                Err(error) => {
                    refused.get_or_insert_with(|| why_not(&error));
                }
            }
        }
        let mut home = Self {
            contains_self: nests.iter().any(|nest| nest.hierarchy.is_v2() && nest.folder.join(SELF).exists()),
            nests,
            clones_into: true,
            unavailable: vec![],
            next: AtomicU64::new(0),
            limits_cpu: OnceLock::new(),
        };
        // A hierarchy that takes no process of ours is of no use; a kernel that cannot clone into one has another way.
        while let Err(refusal) = try_out::a_process(&home) {
            match refusal {
                try_out::Refusal::Clone => home.clones_into = false,
                try_out::Refusal::Join(nth, error) => {
                    let nest = home.nests.remove(nth);
                    let _ = tree::remove(&nest.folder);
                    refused.get_or_insert_with(|| why_not(&error));
                }
                try_out::Refusal::Fork(error) => return Err(format!("cannot put a process into a cgroup: {error}")),
            }
        }
        if home.nests.is_empty() {
            return Err(refused.unwrap_or_else(|| "no usable cgroup hierarchy is mounted here".to_owned()));
        }
        home.look_at_a_group().map_err(|error| why_not(&error))?;
        Ok(home)
    }

    /// Finds out which files of a group tell something here.
    fn look_at_a_group(&mut self) -> io::Result<()> {
        let group = self.group(&Needs::everything())?;
        let mut measured = Measurements::new();
        for (nth, folder) in &group.folders {
            let nest = &mut self.nests[*nth];
            nest.files = counts::that_tell(&nest.hierarchy, folder, &mut measured);
        }
        self.unavailable = counts::unavailable(&measured);
        group.remove(self)
    }
}

/// Those that tell or limit something that nothing better does.
fn is_of_use(hierarchy: &Hierarchy, has_v2: bool) -> bool {
    match hierarchy.has("blkio") {
        // Newer kernels count nothing here unless a limit is set.
        true => ["blkio.throttle.io_service_bytes_recursive", "blkio.bfq.io_service_bytes_recursive"]
            .iter()
            .any(|name| tree::read(&hierarchy.top.join(name)).is_ok_and(|text| values::blkio_counts(&text))),
        false => {
            let is_there = |controller: &str| hierarchy.has(controller);
            hierarchy.is_v2() || ["memory", "pids", "cpu"].into_iter().any(is_there) || !has_v2 && is_there("cpuacct")
        }
    }
}

/// Makes our folder in a hierarchy, after removing those of the dead.
fn settle(hierarchy: &Hierarchy, name: &str) -> io::Result<PathBuf> {
    let own = outside_of_ourselves(&hierarchy.own);
    bury_the_dead(own);
    if hierarchy.is_v2() {
        return settle_v2(hierarchy, own, name, WANTED);
    }
    let folder = made(own, name)?;
    // Before Linux 5.11 groups pass nothing on to those above unless asked to.
    let _ = tree::write(&folder.join("memory.use_hierarchy"), "1");
    Ok(folder)
}

/// In version 2 a group with processes cannot hand its controllers on ("no internal processes"), unless it is the
/// topmost. If ours cannot, we leave it for a group below, provided that nobody else is in it; or our folder goes
/// beside our own group rather than below. Else what the missing controllers would tell is lost.
pub(super) fn settle_v2(hierarchy: &Hierarchy, own: &Path, name: &str, wanted: &[&str]) -> io::Result<PathBuf> {
    let offered = words(&own.join("cgroup.controllers"));
    let wanted: Vec<&str> = wanted.iter().copied().filter(|c| offered.iter().any(|o| o == c)).collect();
    let is_whole = |folder: &Path| {
        let has = words(&folder.join("cgroup.controllers"));
        wanted.iter().all(|c| has.iter().any(|h| h == c))
    };
    enable(own, &wanted);
    let below = made(own, name);
    if let Ok(folder) = &below {
        if !is_whole(folder) && only_we_live_in(own) && move_into(&folder.join(SELF)) {
            enable(own, &wanted);
            if !is_whole(folder) {
                // Nothing is won by it: back again.
                move_into(own);
                let _ = fs::remove_dir(folder.join(SELF));
            }
        }
        if is_whole(folder) {
            enable(folder, &wanted);
            return below;
        }
    }
    if own != hierarchy.top
        && let Some(parent) = own.parent()
    {
        bury_the_dead(parent);
        enable(parent, &wanted);
        if let Ok(sibling) = made(parent, name) {
            if is_whole(&sibling) {
                if let Ok(folder) = &below {
                    let _ = tree::remove(folder);
                }
                enable(&sibling, &wanted);
                return Ok(sibling);
            }
            let _ = tree::remove(&sibling);
        }
    }
    if let Ok(folder) = &below {
        enable(folder, &wanted);
    }
    below
}

fn made(parent: &Path, name: &str) -> io::Result<PathBuf> {
    let folder = parent.join(name);
    match fs::create_dir(&folder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(folder),
        done => done.map(|()| folder),
    }
}

/// Whether all processes of a group are this one and its launchers.
fn only_we_live_in(folder: &Path) -> bool {
    let ours = our_processes();
    let living = words(&folder.join("cgroup.procs"));
    !living.is_empty() && living.iter().all(|pid| pid.parse().is_ok_and(|pid| ours.contains(&pid)))
}

/// A process that had moved into its own folder and makes it again begins where it came from.
fn outside_of_ourselves(own: &Path) -> &Path {
    let is = |path: &Path, fits: fn(&str) -> bool| path.file_name().and_then(OsStr::to_str).is_some_and(fits);
    match own.parent() {
        Some(home) if is(own, |name| name == SELF) && is(home, |name| name.starts_with(PREFIX)) => {
            home.parent().unwrap_or(own)
        }
        _ => own,
    }
}

/// `bakeoff-PID-START-NAMESPACE`: process ids come again and differ between namespaces, so the name has both.
pub(super) fn own_name(files: &Files) -> String {
    let me = std::process::id();
    format!("{PREFIX}{me}-{}-{}", start_ticks(files, me).unwrap_or(0), pid_namespace())
}

fn pid_namespace() -> u64 {
    fs::metadata("/proc/self/ns/pid").map_or(0, |meta| meta.ino())
}

/// When a process started, in clock ticks after boot: field 22 of its stat, counted behind its name.
fn start_ticks(files: &Files, pid: u32) -> Option<u64> {
    let stat = files.read(&format!("proc/{pid}/stat"))?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

/// Removes the folders of Bakeoffs that live no more, with everything that lives in them.
pub(super) fn bury_the_dead(parent: &Path) {
    for folder in tree::below(parent) {
        if folder.file_name().and_then(OsStr::to_str).is_some_and(is_of_the_dead) {
            // What cannot be removed is another user's, or will be tried again.
            let _ = tree::remove(&folder);
        }
    }
}

fn is_of_the_dead(name: &str) -> bool {
    let Some(fields) = name.strip_prefix(PREFIX) else { return false };
    let fields: Vec<u64> = fields.split('-').map_while(|field| field.parse().ok()).collect();
    let &[pid, start, namespace] = fields.as_slice() else { return false };
    let Some(id) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else { return false };
    if namespace != pid_namespace() {
        return false;
    }
    match start_ticks(&Files::here(), pid as u32) {
        Some(now) => now != start,
        // A process that hides from us is not dead.
        None => rustix::process::test_kill_process(id) == Err(rustix::io::Errno::SRCH),
    }
}

fn why_not(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => "no permission to create cgroups here".to_owned(),
        ErrorKind::ReadOnlyFilesystem => "cgroups are read-only here".to_owned(),
        _ => format!("cannot create cgroups here ({error})"),
    }
}
