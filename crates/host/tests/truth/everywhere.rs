//! The same truths under other conditions: this executable is run again as root and as an ordinary user, with
//! cgroups and without. What had to be skipped there is counted and printed. It shows nothing itself but that they hold.

use crate::support::skipped;
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Set in what is run again: the folder for the C program. Such a one does not go on to run itself.
const INNER: &str = "BAKEOFF_TRUTH_FOLDER";
const NOBODY: u32 = 65534;

/// The folder that whoever ran us again wants to be used; none if nobody did.
pub(crate) fn inner() -> Option<PathBuf> {
    std::env::var_os(INNER).map(PathBuf::from)
}

/// Where an ordinary user gets cgroups from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cgroups {
    /// As they are.
    Here,
    /// From root, who has handed folders over, as systemd does for a session or a unit with `Delegate=`.
    HandedOver,
    Off,
}

#[test]
fn the_same_holds_for_others_and_without_cgroups() {
    if inner().is_some() {
        return;
    }
    let is_root = rustix::process::getuid().is_root();
    let (mut said, mut failed) = (vec![], vec![]);
    for root in [true, false] {
        for cgroups in [Cgroups::Here, Cgroups::HandedOver, Cgroups::Off] {
            // Root has them as they are; and as we are ourselves, the other tests show it.
            let pointless = root && cgroups == Cgroups::HandedOver || root == is_root && cgroups == Cgroups::Here;
            if pointless {
                continue;
            }
            let name = name(root, cgroups);
            if !is_root && (root || cgroups == Cgroups::HandedOver) {
                said.push(format!("{name}: skipped: we are not root"));
                continue;
            }
            match again(is_root && !root, cgroups) {
                Ok(what) => said.push(format!("{name}: {what}")),
                Err(what) => failed.push(format!("{name}: {what}")),
            }
        }
    }
    let _ = writeln!(std::io::stderr(), "the same truths:\n{}", said.join("\n"));
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

fn name(root: bool, cgroups: Cgroups) -> String {
    let who = if root { "root" } else { "an ordinary user" };
    let how = match cgroups {
        Cgroups::Here => "with the cgroups that there are",
        Cgroups::HandedOver => "with cgroups that root has handed over",
        Cgroups::Off => "without cgroups",
    };
    format!("{who}, {how}")
}

/// Runs all tests of this executable again, and says what came of it, in a few lines; or all that they printed.
fn again(as_nobody: bool, cgroups: Cgroups) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    open(folder.path(), 0o755);
    let (executable, scratch) = (folder.path().join("truth-tests"), folder.path().join("scratch"));
    // The one that cargo built may stand where others cannot look.
    // Not by ourselves: a process started meanwhile would hold the copy open for writing, and it could not be run.
    let copied = Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&executable).status().unwrap();
    assert!(copied.success());
    open(&executable, 0o755);
    std::fs::create_dir(&scratch).unwrap();
    if as_nobody {
        chown(&scratch, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let handed = match (cgroups == Cgroups::HandedOver).then(HandedOver::new) {
        Some(handed) if handed.folders.is_empty() => {
            return Ok("skipped: no cgroup can be made to hand over".to_owned());
        }
        handed => handed,
    };
    // The shell joins the cgroups, as root; then it becomes the user, and that the tests.
    let join = "while test \"$1\" != --; do echo 0 > \"$1\" || exit 76; shift; done; shift; exec \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", join, "join"]);
    command.args(handed.iter().flat_map(|handed| &handed.folders).map(|folder| folder.join("cgroup.procs")));
    command.arg("--");
    if as_nobody {
        let user = NOBODY.to_string();
        command.args(["setpriv", "--reuid", &user, "--regid", &user, "--clear-groups", "--"]);
    }
    command.arg(&executable).current_dir(&scratch).env(INNER, &scratch).env("TMPDIR", &scratch).env("HOME", &scratch);
    if cgroups == Cgroups::Off {
        command.env("BAKEOFF_CGROUPS", "off");
    }
    let output = command.output().unwrap();
    let said = summary(&output);
    if let Some(handed) = handed {
        handed.take_back();
    }
    said
}

/// How many passed, and what was skipped, how often and why; or all that was printed.
fn summary(output: &Output) -> Result<String, String> {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let passed = out.lines().filter(|line| line.starts_with("test ") && line.ends_with(" ... ok")).count();
    if !output.status.success() || passed < 20 {
        return Err(format!("{}, {passed} passed\n{out}\n{err}", output.status));
    }
    let mut skips: BTreeMap<&str, u32> = BTreeMap::new();
    for line in err.lines().filter_map(|line| line.strip_prefix("skipped: ")) {
        *skips.entry(line).or_default() += 1;
    }
    let mut said = format!("{passed} passed; {} skipped in them", skips.values().sum::<u32>());
    for (what, times) in skips {
        said += &format!("\n    {times} × {what}");
    }
    Ok(said)
}

/// Folders of cgroups that belong to the ordinary user.
struct HandedOver {
    folders: Vec<PathBuf>,
}

impl HandedOver {
    /// One beneath our own in each hierarchy, as far as that can be had.
    fn new() -> Self {
        let ours = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let folders = ours.lines().filter_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (controllers, path) = (parts.next()?, parts.next()?);
            let mount = mounts.lines().find_map(|mount| mounted(mount, controllers))?;
            // In a container the path may be that outside of it.
            let whole = mount.join(path.trim_start_matches('/'));
            let parent = if whole.join("cgroup.procs").exists() { whole } else { mount };
            let folder = parent.join(format!("truth-of-bakeoff-{}", std::process::id()));
            std::fs::create_dir(&folder).ok()?;
            // A v1 cpuset begins empty, and nobody can join it.
            for file in ["cpuset.cpus", "cpuset.mems"] {
                if let Ok(set) = std::fs::read(parent.join(file)) {
                    let _ = std::fs::write(folder.join(file), set);
                }
            }
            for name in ["", "cgroup.procs", "tasks", "cgroup.threads", "cgroup.subtree_control"] {
                let _ = chown(folder.join(name), Some(NOBODY), Some(NOBODY));
            }
            Some(folder)
        });
        Self { folders: folders.collect() }
    }

    /// Removes them. Nobody may be left inside; a group of Bakeoff's own that it was in itself may.
    fn take_back(self) {
        for folder in &self.folders {
            let mut inner: Vec<PathBuf> = vec![folder.clone()];
            let mut nth = 0;
            while let Some(folder) = inner.get(nth).cloned() {
                let left = std::fs::read_to_string(folder.join("cgroup.procs")).unwrap();
                assert_eq!(left, "", "processes are left in {}", folder.display());
                let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
                inner.extend(entries.filter(|path| path.is_dir()));
                nth += 1;
            }
            inner.iter().rev().for_each(|folder| std::fs::remove_dir(folder).unwrap());
        }
    }
}

/// The folder where a hierarchy with these controllers is mounted, if this line says so.
fn mounted(line: &str, controllers: &str) -> Option<PathBuf> {
    let fields: Vec<&str> = line.split(' ').collect();
    let [_, folder, kind, options, ..] = fields[..] else { return None };
    let is_it = match (kind, controllers) {
        ("cgroup2", "") => true,
        ("cgroup", wanted) if !wanted.is_empty() => wanted.split(',').all(|one| options.split(',').any(|o| o == one)),
        _ => false,
    };
    is_it.then(|| PathBuf::from(folder))
}

#[test]
fn whoever_cannot_say_why_something_lacks_is_found_out() {
    // The reasons of skips are the machine's; a test that skips without one would show nothing, and look as if it did.
    let refused = std::panic::catch_unwind(|| {
        let place = crate::support::Place::new();
        let Some(place) = place else {
            skipped("metrics without a reason", "no C compiler");
            panic!("as expected");
        };
        place.measured(&bakeoff_host::JobEnded::default(), "no-such-metric")
    });
    assert!(refused.is_err());
}
