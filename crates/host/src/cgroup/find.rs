//! Finds the hierarchies of control groups that are mounted here, and our place in each, from two files of /proc.

use crate::files::Files;
use std::path::{Path, PathBuf};

/// A mounted hierarchy, and where we are in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hierarchy {
    /// Its controllers if it is of version 1; version 2 says for itself which it has.
    pub(crate) controllers: Option<Vec<String>>,
    /// Where it is mounted.
    pub(crate) top: PathBuf,
    /// The folder of our own group.
    pub(crate) own: PathBuf,
}

impl Hierarchy {
    pub(crate) fn is_v2(&self) -> bool {
        self.controllers.is_none()
    }

    /// Whether it is of version 1 and has this controller.
    pub(crate) fn has(&self, controller: &str) -> bool {
        self.controllers.iter().flatten().any(|c| c == controller)
    }
}

/// The hierarchies that reach a process, whose `/proc/PID/cgroup` is given; version 2 first.
pub(crate) fn hierarchies(files: &Files, groups: &str) -> Vec<Hierarchy> {
    let mounts: Vec<Mount> = files.read("proc/self/mountinfo").unwrap_or_default().lines().filter_map(mount).collect();
    let mut found: Vec<Hierarchy> = groups.lines().filter_map(|line| hierarchy(line, &mounts)).collect();
    found.sort_by_key(|hierarchy| !hierarchy.is_v2());
    found
}

/// One line of /proc/PID/cgroup: `4:memory:/path`, `0::/path`.
fn hierarchy(line: &str, mounts: &[Mount]) -> Option<Hierarchy> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (names, path) = (fields.next()?, Path::new(fields.next()?));
    let controllers: Vec<String> = names.split(',').filter(|name| !name.is_empty()).map(ToOwned::to_owned).collect();
    // Version 2 has no names in this file, and its mount no options with the names of controllers.
    let fits =
        |mount: &&Mount| mount.is_v2 == controllers.is_empty() && controllers.iter().all(|c| mount.options.contains(c));
    mounts.iter().filter(fits).find_map(|mount| {
        // A container may see a part of the hierarchy only; a group outside that part cannot be reached.
        let below = path.strip_prefix(&mount.root).ok()?;
        if below.components().any(|part| part == std::path::Component::ParentDir) {
            return None;
        }
        let own = if below.as_os_str().is_empty() { mount.top.clone() } else { mount.top.join(below) };
        Some(Hierarchy { controllers: (!mount.is_v2).then(|| controllers.clone()), top: mount.top.clone(), own })
    })
}

struct Mount {
    is_v2: bool,
    /// Which group is mounted.
    root: PathBuf,
    top: PathBuf,
    options: Vec<String>,
}

/// One line of mountinfo (proc(5)): the fourth field is the root, the fifth the mount point; after a lone dash come
/// type, source and options.
fn mount(line: &str) -> Option<Mount> {
    let (place, kind) = line.split_once(" - ")?;
    let mut place = place.split(' ').skip(3);
    let mut kind = kind.split(' ');
    let is_v2 = match kind.next()? {
        "cgroup2" => true,
        "cgroup" => false,
        _ => return None,
    };
    let options = kind.nth(1)?.split(',').map(ToOwned::to_owned).collect();
    Some(Mount { is_v2, root: unescaped(place.next()?), top: unescaped(place.next()?), options })
}

/// Blanks and backslashes stand in mountinfo as three octal digits.
fn unescaped(field: &str) -> PathBuf {
    let mut out = String::new();
    let mut parts = field.split('\\');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        match part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(code) => {
                out.push(char::from(code));
                out.push_str(&part[3..]);
            }
            None => out.push_str(part),
        }
    }
    PathBuf::from(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n\
        32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n\
        35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n\
        40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

    #[test]
    fn where_we_are() {
        let check = |mounts: &str, groups: &str, expect: &[(Option<&str>, &str)]| {
            let root = tempfile::tempdir().unwrap();
            let files = Files::made_of(root.path(), &[("proc/self/mountinfo", mounts)]);
            let found = hierarchies(&files, groups);
            let found: Vec<(Option<String>, &str)> =
                found.iter().map(|h| (h.controllers.as_ref().map(|c| c.join(",")), h.own.to_str().unwrap())).collect();
            let found: Vec<(Option<&str>, &str)> = found.iter().map(|(c, own)| (c.as_deref(), *own)).collect();
            assert_eq!(found, expect, "{groups}");
        };
        let v2 =
            "38 31 0:38 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n";
        check(v2, "0::/user.slice/run-7.scope\n", &[(None, "/sys/fs/cgroup/user.slice/run-7.scope")]);
        check(v2, "0::/\n", &[(None, "/sys/fs/cgroup")]);
        check(
            HYBRID,
            "9:name=systemd:/x\n4:memory:/api/7\n2:cpu,cpuacct:/\n0::/\n",
            &[
                (None, "/sys/fs/cgroup/unified"),
                (Some("name=systemd"), "/sys/fs/cgroup/systemd/x"),
                (Some("memory"), "/sys/fs/cgroup/memory/api/7"),
                (Some("cpu,cpuacct"), "/sys/fs/cgroup/cpu,cpuacct"),
            ],
        );
        // A container whose own group is mounted, with and without a namespace of its own; and one that is elsewhere.
        let inside = "38 31 0:38 /docker/7 /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
        check(inside, "0::/docker/7\n", &[(None, "/sys/fs/cgroup")]);
        check(inside, "0::/docker/8\n", &[]);
        check(v2, "0::/../8\n", &[]);
        check(&v2.replace("/sys/fs/cgroup ", "/my\\040groups "), "0::/a\n", &[(None, "/my groups/a")]);
        check("", "0::/\n", &[]);
        check(v2, "", &[]);
    }
}
