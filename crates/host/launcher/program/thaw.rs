//! A process may have frozen itself with its cgroup, and the frozen do not die: its groups are thawed.

use super::sys::{self, O_WRONLY};
use super::text::{self, Path};

/// Thaws the groups of all who are visited.
pub(super) fn thaw_all(visit_each: impl Fn(&mut dyn FnMut(i32))) {
    let mut ours = [0; 2048];
    let ours = text::read(c"/proc/self/cgroup", &mut ours);
    visit_each(&mut |pid| {
        let mut groups = [0; 2048];
        let groups = text::read(text::of_process(pid, b"cgroup").c_str(), &mut groups);
        // We are not frozen, so nobody is who is where we are.
        if groups != ours {
            thaw(groups);
        }
    });
}

fn thaw(groups: &[u8]) {
    for line in groups.split(|&byte| byte == b'\n') {
        // `7:freezer:/a/b`, `0::/a/b`
        let mut fields = line.splitn(3, |&byte| byte == b':');
        let (Some(_), Some(controllers), Some(group)) = (fields.next(), fields.next(), fields.next()) else { continue };
        if controllers.is_empty() {
            with_mount(b"cgroup2", b"", |mount| thaw_upwards(mount, group, b"/cgroup.freeze", b"0"));
        } else if controllers.split(|&byte| byte == b',').any(|controller| controller == b"freezer") {
            with_mount(b"cgroup", b"freezer", |mount| thaw_upwards(mount, group, b"/freezer.state", b"THAWED"));
        }
    }
}

/// A group thaws only if none around it is frozen.
fn thaw_upwards(mount: &[u8], mut group: &[u8], file: &[u8], text: &[u8]) {
    loop {
        group = group.strip_suffix(b"/").unwrap_or(group);
        let path = Path::new(&[mount, group, file]);
        let opened = match sys::open(path.c_str(), O_WRONLY) {
            // It may have been made unreadable; its owner, and so are we, can undo that.
            Err(sys::EACCES) => {
                let _ = sys::chmod(Path::new(&[mount, group]).c_str(), 0o755);
                let _ = sys::chmod(path.c_str(), 0o644);
                sys::open(path.c_str(), O_WRONLY)
            }
            other => other,
        };
        if let Ok(file) = opened {
            let _ = sys::write(file, text);
            sys::close(file);
        }
        match group.iter().rposition(|&byte| byte == b'/') {
            Some(end) => group = &group[..end],
            None => return,
        }
    }
}

/// Where a hierarchy is mounted: `33 31 0:30 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer` (proc(5)).
fn with_mount(kind: &[u8], option: &[u8], visit: impl Fn(&[u8])) {
    let Ok(file) = sys::open(c"/proc/self/mountinfo", 0) else { return };
    let (mut buffer, mut filled) = ([0; 4096], 0);
    while let Ok(more @ 1..) = sys::read(file, &mut buffer[filled..]) {
        filled += more;
        while let Some(end) = buffer[..filled].iter().position(|&byte| byte == b'\n') {
            if let Some(mount) = mount_point(&buffer[..end], kind, option) {
                visit(mount);
            }
            buffer.copy_within(end + 1..filled, 0);
            filled -= end + 1;
        }
        if filled == buffer.len() {
            filled = 0; // a line of this length is none of those
        }
    }
    sys::close(file);
}

fn mount_point<'a>(line: &'a [u8], kind: &[u8], option: &[u8]) -> Option<&'a [u8]> {
    let mut words = line.split(|&byte| byte == b' ');
    let mount = words.nth(4)?;
    words.find(|&word| word == b"-")?;
    let matches = words.next()? == kind;
    let mut options = words.nth(1)?.split(|&byte| byte == b',');
    (matches && (option.is_empty() || options.any(|word| word == option))).then_some(mount)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_told_apart() {
        let line = b"33 31 0:30 / /sys/fs/cgroup/freezer rw,relatime shared:9 - cgroup cgroup rw,freezer";
        let two = b"38 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
        assert_eq!(mount_point(line, b"cgroup", b"freezer"), Some(&b"/sys/fs/cgroup/freezer"[..]));
        assert_eq!(mount_point(line, b"cgroup", b"memory"), None);
        assert_eq!(mount_point(line, b"cgroup2", b""), None);
        assert_eq!(mount_point(two, b"cgroup2", b""), Some(&b"/sys/fs/cgroup"[..]));
        assert_eq!(mount_point(b"nonsense", b"cgroup", b""), None);
    }
}
