//! Where the launcher moves itself, in place, just before it launches a job whose processes join cgroups of version 1.
//! The first to move a process after a pause waits until every processor has passed a quiet point (Linux's
//! cgroup_threadgroup_rwsem): 8 to 16 ms here, where the next one takes 10 µs. It is not to be the trial that waits.

use crate::files::Files;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

/// The `cgroup.procs` of a group of version 1 that the process is in; none if there is none, or it may not be written.
pub(super) fn own_group(pid: u32) -> Option<File> {
    OpenOptions::new().write(true).open(path(&Files::here(), pid)?).ok()
}

fn path(files: &Files, pid: u32) -> Option<PathBuf> {
    let groups = files.read(&format!("proc/{pid}/cgroup"))?;
    let mounts = files.read("proc/self/mountinfo")?;
    // `7:freezer:/a/b`; those without a controller are of version 2, or systemd's.
    let mut of_version_1 = groups.lines().filter_map(|line| {
        let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
        let controller = controllers.split(',').next().filter(|name| !name.is_empty() && !name.contains('='))?;
        Some((controller, group))
    });
    of_version_1.find_map(|(controller, group)| {
        mounts.lines().find_map(|line| {
            // `33 31 0:30 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer` (proc(5))
            let (place, what) = line.split_once(" - cgroup ")?;
            let mut place = place.split(' ').skip(3);
            let (root, mount) = (place.next()?, place.next()?);
            what.split([' ', ',']).any(|word| word == controller).then_some(())?;
            let below = Path::new(group).strip_prefix(root).ok()?;
            Some(Path::new(mount).join(below).join("cgroup.procs"))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_found_where_they_are_mounted() {
        let mounts = "31 1 0:30 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n\
                      32 1 0:31 /docker/x /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                      33 1 0:32 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let check = |groups: &str, expect: Option<&str>| {
            let root = tempfile::tempdir().unwrap();
            let files = Files::made_of(root.path(), &[("proc/self/mountinfo", mounts), ("proc/7/cgroup", groups)]);
            assert_eq!(path(&files, 7).as_deref(), expect.map(Path::new), "{groups}");
        };
        check("0::/a\n", None);
        check("1:name=systemd:/a\n0::/a\n", None);
        check("3:pids:/a/b\n0::/a\n", Some("/sys/fs/cgroup/pids/a/b/cgroup.procs"));
        check("3:pids:/\n", Some("/sys/fs/cgroup/pids/cgroup.procs"));
        check("4:memory:/docker/x/y\n3:pids:/\n", Some("/sys/fs/cgroup/memory/y/cgroup.procs"));
        check("4:memory:/elsewhere\n3:pids:/p\n", Some("/sys/fs/cgroup/pids/p/cgroup.procs"));
    }
}
