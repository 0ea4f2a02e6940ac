//! How watching ends early or never begins: a refusal has a reason in one line. That nothing remains attached is tested where
//! programs are attached, in `crates/host/tests/bpf/`.

use super::support::{Place, end, skipped, watch, watcher};
use bakeoff_why::census::Detail;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

pub(crate) const CASES: &[(&str, fn())] = &[
    ("a_launched_process_that_executes_nothing_has_done_nothing", nothing_executed),
    ("an_ordinary_user_is_told_why", an_ordinary_user),
];

fn nothing_executed() {
    let mut child = Command::new("sleep").arg("600").spawn().unwrap();
    let watch = watch(child.id(), Detail::Times);
    end(&mut child);
    let Some(watch) = watch else { return };
    let report = watch.finish().unwrap();
    assert_eq!((report.tasks, report.syscalls.len(), report.times.accounted()), (0, 0, None));
}

fn an_ordinary_user() {
    let place = Place::new();
    let copy = place.path("watcher");
    std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(copy.parent().unwrap(), open).unwrap();
    let like = watcher(std::process::id());
    let mut command = Command::new(copy);
    command.args(like.get_args()).env_clear().uid(65534).gid(65534);
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return skipped("what an ordinary user reads", &error.to_string()),
    };
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!((said.as_str(), output.status.code()), ("bpf(2) is not permitted; it needs root privileges\n", Some(0)));
}
