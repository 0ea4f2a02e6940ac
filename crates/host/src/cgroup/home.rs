//! The folder that this Bakeoff has for its groups, in each hierarchy where it could be made. It is named after the
//! process, so that what a Bakeoff left that was killed is recognised and removed by the next one. What all jobs
//! together used is told by the folder itself, because groups pass on to those above them what they count.

use super::find::Hierarchy;
use super::group::Group;
use super::{counts, hierarchies, tree, try_out, values};
use crate::files::Files;
use crate::launchers::our_processes;
use bakeoff_model::metric::Measurements;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

const PREFIX: &str = "bakeoff-";
/// The group below ours into which we move ourselves, where nothing else makes the controllers of version 2 available.
const SELF: &str = "self";
/// What a controller of version 2 must be enabled for. That for CPU limits is enabled when one is asked for.
pub(super) const WANTED: &[&str] = &["memory", "io", "pids"];

/// Our folder in every hierarchy of use. It is removed when the last user lets go.
#[derive(Debug)]
pub(crate) struct Home {
    pub(super) nests: Vec<Nest>,
    /// Whether the kernel clones processes into a group of version 2.
    pub(super) clones_into: bool,
    /// Metrics that groups do not tell here, and why.
    pub(crate) untold: Vec<(&'static str, String)>,
    is_around_us: bool,
    next: AtomicU64,
    limits_cpu: OnceLock<bool>,
}

/// What a job's group is for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Needs<'a> {
    /// These metrics.
    pub(crate) metrics: &'a [&'static str],
    /// All metrics that there may be.
    pub(crate) whatever_there_is: bool,
    /// A limit of memory.
    pub(crate) memory_limit: bool,
    /// A limit of CPU time.
    pub(crate) cpu_limit: bool,
}

impl Needs<'_> {
    /// Whatever a group may tell.
    pub(crate) fn everything() -> Self {
        Self { whatever_there_is: true, ..Self::default() }
    }
}

/// Our folder in one hierarchy.
#[derive(Debug)]
pub(super) struct Nest {
    pub(super) hierarchy: Hierarchy,
    pub(super) folder: PathBuf,
    pub(super) dir: tree::Dir,
    /// What is read of a group of it after a job.
    pub(super) files: Vec<&'static counts::File>,
}

impl Nest {
    /// Whether a controller of version 2 is there in the groups below.
    fn hands_on(&self, controller: &str) -> bool {
        words(&self.folder.join("cgroup.subtree_control")).iter().any(|c| c == controller)
    }
}

/// One for the whole process: launchers share it.
static HOME: Mutex<Weak<Home>> = Mutex::new(Weak::new());

impl Home {
    /// Ours; or why there is none.
    pub(crate) fn of_this_process() -> Result<Arc<Self>, String> {
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

    /// Makes the folders, in as many of these hierarchies as let us.
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
            is_around_us: nests.iter().any(|nest| nest.hierarchy.is_v2() && nest.folder.join(SELF).exists()),
            nests,
            clones_into: true,
            untold: vec![],
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
                try_out::Refusal::Fork(error) => return Err(format!("no process could be put into a cgroup: {error}")),
            }
        }
        if home.nests.is_empty() {
            return Err(refused.unwrap_or_else(|| "no cgroup hierarchy of use is mounted here".to_owned()));
        }
        home.look_at_a_group().map_err(|error| why_not(&error))?;
        Ok(home)
    }

    /// Finds out which files of a group tell something here.
    fn look_at_a_group(&mut self) -> io::Result<()> {
        let group = self.group(&Needs::everything())?;
        let mut told = Measurements::new();
        for (nth, folder) in &group.folders {
            let nest = &mut self.nests[*nth];
            nest.files = counts::that_tell(&nest.hierarchy, folder, &mut told);
        }
        self.untold = counts::untold(&told);
        group.remove(self)
    }

    /// A new group in each hierarchy that is needed for it.
    pub(crate) fn group(&self, needs: &Needs<'_>) -> io::Result<Group> {
        let name = self.next.fetch_add(1, Ordering::Relaxed).to_string();
        let mut group = Group { name, folders: vec![] };
        for (nth, nest) in self.nests.iter().enumerate() {
            if !self.is_needed(nest, needs) {
                continue;
            }
            let folder = nest.folder.join(&group.name);
            match nest.dir.create(&group.name) {
                // What of this name stands there is left over from a job whose group could not be removed.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    tree::remove(&folder)?;
                    nest.dir.create(&group.name)?;
                }
                made => made?,
            }
            group.folders.push((nth, folder));
        }
        Ok(group)
    }

    /// CPU time of all jobs so far, also of those that go on, in seconds.
    pub(crate) fn cpu_s(&self) -> Option<f64> {
        if let Some(v2) = self.v2() {
            return values::keyed_us(&v2.dir.read("cpu.stat").ok()?, "usage_usec");
        }
        let nest = self.nests.iter().find(|nest| nest.hierarchy.has("cpuacct"))?;
        Some(values::number(&nest.dir.read("cpuacct.usage").ok()?)? / 1e9)
    }

    /// Whether this very process is in the folder, and so counted with the jobs.
    pub(crate) fn is_around_us(&self) -> bool {
        self.is_around_us
    }

    /// Whether there is a controller for CPU limits. The first call enables it, if it can be.
    pub(crate) fn limits_cpu(&self) -> bool {
        *self.limits_cpu.get_or_init(|| {
            if let Some(v2) = self.v2() {
                if let Some(above) = v2.folder.parent() {
                    enable(above, &["cpu"]);
                }
                enable(&v2.folder, &["cpu"]);
                if v2.hands_on("cpu") {
                    return true;
                }
            }
            self.nests.iter().any(|nest| nest.hierarchy.has("cpu") && nest.folder.join("cpu.cfs_quota_us").exists())
        })
    }

    /// Whether there is a controller for limits of memory.
    pub(crate) fn limits_memory(&self) -> bool {
        self.nests.iter().any(|nest| nest.hierarchy.has("memory") || nest.hierarchy.is_v2() && nest.hands_on("memory"))
    }

    /// Whether the kernel clones processes into a group.
    pub(crate) fn clones_into(&self) -> bool {
        self.clones_into && self.v2().is_some()
    }

    /// Whether hierarchies of version 1 are in use.
    pub(crate) fn has_v1(&self) -> bool {
        self.nests.iter().any(|nest| !nest.hierarchy.is_v2())
    }

    /// Which of the three worlds this is, in words.
    pub(crate) fn world(&self) -> &'static str {
        match (self.v2().is_some(), self.has_v1()) {
            (true, true) => "hybrid of versions 1 and 2",
            (true, false) => "version 2",
            (false, _) => "version 1",
        }
    }

    pub(super) fn v2(&self) -> Option<&Nest> {
        self.nests.iter().find(|nest| nest.hierarchy.is_v2())
    }

    /// Whether a job needs a group in this hierarchy. Version 2 has most for the price of one, and kills at once; in it,
    /// or where it is not here in cpuacct, the time of all jobs is counted.
    fn is_needed(&self, nest: &Nest, needs: &Needs<'_>) -> bool {
        let of = |controllers: &[&str]| controllers.iter().any(|controller| nest.hierarchy.has(controller));
        let tells = || nest.files.iter().any(|file| file.metrics.iter().any(|(name, _)| needs.metrics.contains(name)));
        nest.hierarchy.is_v2()
            || tells()
            || of(&["cpuacct"]) && self.v2().is_none()
            || needs.memory_limit && of(&["memory"])
            || needs.cpu_limit && of(&["cpu"])
            || needs.whatever_there_is && of(&["memory", "pids", "blkio", "cpuacct"])
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        for nest in &self.nests {
            if self.is_around_us && nest.hierarchy.is_v2() && !move_out(&nest.folder) {
                continue;
            }
            let _ = tree::remove(&nest.folder);
        }
    }
}

/// Back to where we came from, which takes processes again once it hands no controllers on. What does not work here
/// must not end in our own death: then the folder stays, empty but for us, and is removed by whoever comes next.
fn move_out(folder: &Path) -> bool {
    let Some(own) = folder.parent() else { return false };
    for group in tree::below(folder).iter().filter(|group| !group.ends_with(SELF)) {
        let _ = tree::remove(group);
    }
    for folder in [folder, own] {
        for controller in words(&folder.join("cgroup.subtree_control")) {
            let _ = tree::write(&folder.join("cgroup.subtree_control"), &format!("-{controller}"));
        }
    }
    move_into(own) && fs::remove_dir(folder.join(SELF)).is_ok()
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
    // Before Linux 5.11 groups pass nothing on to those above unless told so.
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
        if let Ok(beside) = made(parent, name) {
            if is_whole(&beside) {
                if let Ok(folder) = &below {
                    let _ = tree::remove(folder);
                }
                enable(&beside, &wanted);
                return Ok(beside);
            }
            let _ = tree::remove(&beside);
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

/// Hands controllers on to the groups below; each for itself, because one refusal would refuse all. A group with
/// processes is let alone: it would hand on those that also work for threads, and after that no group below could
/// take a process ("domain invalid").
fn enable(folder: &Path, controllers: &[&str]) {
    let is_top = !folder.join("cgroup.type").exists();
    if !is_top && !words(&folder.join("cgroup.procs")).is_empty() {
        return;
    }
    for controller in controllers {
        let _ = tree::write(&folder.join("cgroup.subtree_control"), &format!("+{controller}"));
    }
}

fn words(file: &Path) -> Vec<String> {
    tree::read(file).unwrap_or_default().split_whitespace().map(ToOwned::to_owned).collect()
}

/// Whether all processes of a group are this one and its launchers.
fn only_we_live_in(folder: &Path) -> bool {
    let ours = our_processes();
    let living = words(&folder.join("cgroup.procs"));
    !living.is_empty() && living.iter().all(|pid| pid.parse().is_ok_and(|pid| ours.contains(&pid)))
}

fn move_into(folder: &Path) -> bool {
    let _ = fs::create_dir(folder);
    let moved = |pid: &u32| tree::write(&folder.join("cgroup.procs"), &pid.to_string()).is_ok();
    our_processes().iter().all(moved)
}

/// A process that had moved into its own folder and makes it anew begins where it came from.
fn outside_of_ourselves(own: &Path) -> &Path {
    let is = |path: &Path, fits: fn(&str) -> bool| path.file_name().and_then(OsStr::to_str).is_some_and(fits);
    match own.parent() {
        Some(home) if is(own, |name| name == SELF) && is(home, |name| name.starts_with(PREFIX)) => {
            home.parent().unwrap_or(own)
        }
        _ => own,
    }
}

/// `bakeoff-PID-START-NAMESPACE`: process ids come again and differ between namespaces, so both are told apart.
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
        ErrorKind::PermissionDenied => "no permission to make cgroups here".to_owned(),
        ErrorKind::ReadOnlyFilesystem => "cgroups are read-only here".to_owned(),
        _ => format!("no cgroup can be made here ({error})"),
    }
}
