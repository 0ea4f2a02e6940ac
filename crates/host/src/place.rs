//! What machine this is, by its files: enough to notice that a study has moved. How good it is, `doctor` says.

use crate::files::Files;
use bakeoff_model::record::Place;
use std::collections::BTreeMap;
use std::path::Path;

/// This machine. What it does not tell is "unknown", or 0.
pub fn fingerprint() -> Place {
    place(&Files::here())
}

fn place(files: &Files) -> Place {
    let unknown = || "unknown".to_owned();
    Place {
        host: host(files),
        os: os(files).unwrap_or_else(unknown),
        kernel: files.read("proc/sys/kernel/osrelease").unwrap_or_else(unknown),
        cpu: cpu(files).unwrap_or_else(unknown),
        cpus: cpus(files),
        memory_bytes: memory_bytes(files).unwrap_or(0),
        virtualisation: virtualisation(files),
        settings: BTreeMap::new(),
    }
}

/// How this machine is set up: [`Place::settings`]. Programs and folders of trials are below `programs` and `scratch`.
pub fn settings(programs: &Path, scratch: &Path) -> BTreeMap<String, String> {
    let files = Files::here();
    let mut found = of_processors(&files);
    let mounts = files.read("proc/self/mountinfo").unwrap_or_default();
    for (name, folder) in [("programs", programs), ("scratch", scratch)] {
        found.extend(file_system(&mounts, folder).map(|kind| (name.to_owned(), kind)));
    }
    found
}

/// What the kernel tells of the processors' frequency, threads and microcode (Documentation/admin-guide/pm/cpufreq.rst).
fn of_processors(files: &Files) -> BTreeMap<String, String> {
    let cpu = "sys/devices/system/cpu";
    let turbo =
        || files.read(&format!("{cpu}/intel_pstate/no_turbo")).map(|no| if no == "0" { "1" } else { "0" }.to_owned());
    let allowed = files.field("proc/self/status", "Cpus_allowed_list");
    let known = [
        ("governor", files.read(&format!("{cpu}/cpu0/cpufreq/scaling_governor"))),
        ("turbo", files.read(&format!("{cpu}/cpufreq/boost")).or_else(turbo)),
        ("smt", files.read(&format!("{cpu}/smt/control"))),
        ("microcode", files.field("proc/cpuinfo", "microcode")),
        (
            "allowed",
            allowed.filter(|list| bakeoff_model::study_file::cpus(list).is_some_and(|l| l.len() as u32 != cpus(files))),
        ),
    ];
    known.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// The kind of file system that a folder is on, by the last mount point above it (proc_pid_mountinfo(5)).
fn file_system(mounts: &str, folder: &Path) -> Option<String> {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let mount = |line: &str| {
        let (left, right) = line.split_once(" - ")?;
        let point = left.split(' ').nth(4)?.replace("\\040", " ");
        let kind = right.split(' ').next()?.to_owned();
        folder.starts_with(&point).then_some((point.len(), kind))
    };
    mounts.lines().filter_map(mount).max_by_key(|(len, _)| *len).map(|(_, kind)| kind)
}

/// This machine's name.
pub fn host_name() -> String {
    host(&Files::here())
}

fn host(files: &Files) -> String {
    files.read("proc/sys/kernel/hostname").unwrap_or_else(|| "unknown".to_owned())
}

fn os(files: &Files) -> Option<String> {
    let text = files.read("etc/os-release").or_else(|| files.read("usr/lib/os-release"))?;
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim_matches(['"', '\'']).to_owned())
}

/// x86 and POWER name the model; Arm gives numbers, or the board in the device tree.
fn cpu(files: &Files) -> Option<String> {
    let field = |key| files.field("proc/cpuinfo", key);
    field("model name")
        .or_else(|| field("cpu"))
        .or_else(|| files.read("proc/device-tree/model"))
        .or_else(|| Some(format!("implementer {}, part {}", field("CPU implementer")?, field("CPU part")?)))
}

/// Number of processors online; 0 if unknown.
pub fn cpus(files: &Files) -> u32 {
    let online = files.read("sys/devices/system/cpu/online").and_then(|list| bakeoff_model::study_file::cpus(&list));
    let listed = || {
        let text = files.read("proc/cpuinfo").unwrap_or_default();
        text.lines().filter(|line| line.starts_with("processor")).count() as u32
    };
    online.map_or_else(listed, |list| list.len() as u32)
}

fn memory_bytes(files: &Files) -> Option<u64> {
    let kib: u64 = files.field("proc/meminfo", "MemTotal")?.strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// The hypervisor and the container, if they show themselves.
pub fn virtualisation(files: &Files) -> Option<String> {
    let seen: Vec<String> = [hypervisor(files), container(files)].into_iter().flatten().collect();
    (!seen.is_empty()).then(|| seen.join(", "))
}

/// Names by which hypervisors introduce themselves in DMI, where processors have no hypervisor flag.
const HYPERVISORS: &[&str] =
    &["QEMU", "KVM", "VMware", "VirtualBox", "innotek", "Xen", "Bochs", "Parallels", "Virtual Machine", "Firecracker"];

fn hypervisor(files: &Files) -> Option<String> {
    let dmi: Vec<String> = ["sys_vendor", "product_name"]
        .iter()
        .filter_map(|name| files.read(&format!("sys/class/dmi/id/{name}")))
        .collect();
    let dmi = dmi.join(" ");
    let named = files.read("sys/hypervisor/type").or_else(|| files.read("proc/device-tree/hypervisor/compatible"));
    let flagged = files.field("proc/cpuinfo", "flags").is_some_and(|f| f.split(' ').any(|flag| flag == "hypervisor"));
    let known = HYPERVISORS.iter().any(|name| dmi.contains(name));
    if !flagged && named.is_none() && !known {
        return None;
    }
    let name = named.or_else(|| (!dmi.is_empty()).then_some(dmi));
    Some(name.map_or_else(|| "virtual machine".to_owned(), |name| format!("virtual machine ({name})")))
}

fn container(files: &Files) -> Option<String> {
    let kind = if files.exists(".dockerenv") {
        "docker".to_owned()
    } else if files.exists("run/.containerenv") {
        "podman".to_owned()
    } else {
        files.read("run/systemd/container")?
    };
    Some(format!("container ({kind})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_processors() {
        let len = |list| bakeoff_model::study_file::cpus(list).map(|list| list.len());
        let check = |list, expect| assert_eq!(len(list), expect, "{list}");
        check("0", Some(1));
        check("0-3", Some(4));
        check("0-1,4,6-7", Some(5));
        check("", None);
        check("3-1", None);
    }

    #[test]
    fn virtualisation_as_it_shows_itself() {
        let check = |machine: &[(&str, &str)], expect: Option<&str>| {
            let root = tempfile::tempdir().unwrap();
            assert_eq!(virtualisation(&Files::made_of(root.path(), machine)).as_deref(), expect);
        };
        check(&[("proc/cpuinfo", "flags\t\t: fpu sse2\n")], None);
        check(&[("proc/cpuinfo", "flags\t\t: fpu hypervisor sse2\n")], Some("virtual machine"));
        check(
            &[("sys/class/dmi/id/sys_vendor", "QEMU\n"), ("sys/class/dmi/id/product_name", "Standard PC\n")],
            Some("virtual machine (QEMU Standard PC)"),
        );
        check(&[("sys/class/dmi/id/sys_vendor", "LENOVO\n"), (".dockerenv", "")], Some("container (docker)"));
        check(
            &[("sys/hypervisor/type", "xen\n"), ("run/systemd/container", "lxc\n")],
            Some("virtual machine (xen), container (lxc)"),
        );
    }

    #[test]
    fn the_file_system_of_a_folder_is_that_of_the_nearest_mount_point() {
        let mounts = "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n22 21 0:40 / /nowhere rw - nfs4 server:/nowhere rw\n\
                      23 22 0:41 / /nowhere/a\\040b rw - tmpfs tmpfs rw\n";
        let check =
            |folder: &str, kind| assert_eq!(file_system(mounts, Path::new(folder)).as_deref(), kind, "{folder}");
        check("/nowhere/x", Some("nfs4"));
        check("/nowhere/a b/c", Some("tmpfs"));
        check("/nowherelse", Some("ext4"));
    }

    #[test]
    fn a_machine_that_tells_nothing_is_unknown() {
        let root = tempfile::tempdir().unwrap();
        let place = place(&Files::made_of(root.path(), &[]));
        assert_eq!((place.host.as_str(), place.cpus, place.memory_bytes), ("unknown", 0, 0));
    }

    #[test]
    fn this_machine_has_a_kernel_processors_and_memory() {
        let place = fingerprint();
        assert_eq!(Some(place.kernel.as_str()), Files::here().read("proc/sys/kernel/osrelease").as_deref());
        assert!(place.cpus as usize >= std::thread::available_parallelism().map_or(1, usize::from));
        assert!(place.memory_bytes > 1 << 20);
    }
}
