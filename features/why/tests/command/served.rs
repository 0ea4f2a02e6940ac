//! Counting services, end to end: a daemon that forks, works when it starts and when it ends, and its client.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use super::why_counting::cannot_count;
use crate::common::Sandbox;
use bakeoff_why::counts::CountsLine;
use bakeoff_why::kernel::KernelLine;

const SERVES: &str = r#"
format = 1
name = "serves"
[build_factors.work]
little = { SERVE = "100000" }
much = { SERVE = "300000" }
[[build]]
name = "p"
tools = ["cc"]
files = ["serves.c"]
script = 'mkdir -p "$PREFIX/bin"; cc -O2 -fcf-protection=none -DSERVE=$SERVE -o "$PREFIX/bin/p" serves.c'
[services.daemon]
run = 'exec "$PREFIX/bin/p" serve "$PORT_daemon"'
ready = { log = "listening" }
[workloads.ask]
run = '"$PREFIX/bin/p" client "$PORT_daemon"'
services = ["daemon"]
[plan]
blocks = 3
layouts = "one"
variants = "one-at-a-time"
[evidence]
count = ["ask"]
[decide]
baseline = { work = "little" }
metrics = ["wall"]
"#;

/// A service is counted while the command runs: not its start, and not its end.
#[test]
fn services_are_counted_while_the_command_runs() {
    if cannot_count() {
        return;
    }
    let sandbox = Sandbox::new(SERVES);
    sandbox.write("serves.c", include_str!("planted/serves.c"));
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    let lines = CountsLine::of(&sandbox.record());
    for (variant, serve) in [("baseline", 100_000_u64), ("work=much", 300_000)] {
        let line = lines.iter().find(|line| line.variant == variant).unwrap();
        assert_eq!((&line.missing, line.services_unseen.len()), (&None, 0));
        let daemon = line.services["daemon"].last().unwrap();
        // Three connections, each served by a child.
        let served = daemon.functions.iter().find(|one| one.name == "serve").unwrap();
        assert_eq!(served.calls, 3, "{variant}");
        let each = served.instructions / (3 * serve);
        assert!((3..8).contains(&each), "{variant}: {each}");
        for absent in ["at_start", "afterwards"] {
            assert!(!daemon.functions.iter().any(|one| one.name == absent), "{variant}: {absent} is counted");
        }
        assert!(!line.counted.last().unwrap().functions.iter().any(|one| one.name == "serve"));
    }
    for line in KernelLine::of(&sandbox.record()) {
        // Nothing may be traced here.
        let Some(daemon) = line.services.get("daemon") else { continue };
        let calls = |name: &str| daemon.syscalls.get(name).map_or(0, |sums| sums.count);
        assert_eq!((calls("wait4"), calls("bind"), calls("listen")), (3, 0, 0), "{daemon:?}");
    }
    let shown = sandbox.execute(&["explain", "STUDY", "work=much", "--quiet"]);
    shown.expect(0, &["ask, service daemon: ", "+100.0 %"]);
}
