//! Memory: what a program has touched is what it is said to have needed at most, whoever launched it and whatever was
//! launched before it.

use crate::support::{MIB, Place, within};
use bakeoff_host::{End, Job};
use std::hint::black_box;

/// The peaks of a program that touches so many MiB, by all that tells them. The process itself, its page tables and what
/// the kernel charges ahead are the tolerance.
fn peaks(place: &mut Place, mib: f64) {
    let ended = place.ended(&format!("touch {}", mib * MIB));
    let tolerance = 0.01 * mib * MIB + 1.5 * MIB;
    for metric in ["maxrss", "cgroup_peak"] {
        let Some(peak) = place.measured(&ended, metric) else { continue };
        within(&format!("{metric} of {mib} MiB"), peak, [mib * MIB, mib * MIB + tolerance]);
    }
}

/// The peak of a program that does nothing.
fn nothing(place: &mut Place) {
    let command = place.command(&["/bin/true"]);
    let ended = place.execute(&Job { commands: vec![command.into()], ..Job::default() });
    assert_eq!(ended.processes[0].end, End::Exited(0), "{ended:?}");
    for metric in ["maxrss", "cgroup_peak"] {
        let Some(peak) = place.measured(&ended, metric) else { continue };
        within(&format!("{metric} of /bin/true"), peak, [1.0, most_of_nothing(metric)]);
    }
}

/// A process of Debian 12's `/bin/true` has 1.2 to 1.4 MiB; other C libraries need more or less.
fn most_of_nothing(metric: &str) -> f64 {
    let debian = std::fs::read_to_string("/etc/debian_version").is_ok_and(|version| version.starts_with("12"));
    // A cgroup is charged for what the kernel keeps of the process, and in batches of 64 pages for each processor.
    if metric == "maxrss" && debian { 1.4 * MIB } else { 3.0 * MIB }
}

#[test]
fn what_is_touched_is_the_peak() {
    let Some(mut place) = Place::new() else { return };
    [1.0, 64.0, 1024.0].into_iter().for_each(|mib| peaks(&mut place, mib));
}

#[test]
fn the_one_before_does_not_show() {
    let Some(mut place) = Place::new() else { return };
    nothing(&mut place);
    place.ended(&format!("touch {}", 300.0 * MIB));
    nothing(&mut place);
    [1.0, 64.0].into_iter().for_each(|mib| peaks(&mut place, mib));
}

#[test]
fn who_owns_the_launcher_does_not_show() {
    // Touched before the launcher is started, and still there while it runs.
    let fat = black_box(vec![1_u8; 300 << 20]);
    let Some(mut place) = Place::new() else { return };
    nothing(&mut place);
    [1.0, 64.0].into_iter().for_each(|mib| peaks(&mut place, mib));
    drop(black_box(fat));
}

#[test]
fn the_launcher_is_smaller_than_any_program() {
    let Some(mut place) = Place::new() else { return };
    nothing(&mut place);
    let Some(floor) = place.launcher.memory_floor_bytes() else {
        panic!("/proc does not tell the launcher's own peak");
    };
    within("the launcher's own peak", floor as f64, [1.0, most_of_nothing("maxrss")]);
}
