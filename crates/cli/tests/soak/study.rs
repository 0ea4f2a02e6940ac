//! The study that the soak runs: builds, services, load, tracing, and workloads that do what no workload should.

pub(crate) const STUDY: &str = r#"
format = 1
name = "soaked"
[build_factors.naps]
one = { NAPS = "1" }
two = { NAPS = "2" }
[[build]]
name = "napper"
tools = []
script = '''
mkdir -p "$PREFIX/bin"
printf '%s\n' '#!/bin/sh' 'setsid sleep 1000 &' "for i in \$(seq $NAPS); do sleep 0.003; done" > "$PREFIX/bin/nap"
chmod +x "$PREFIX/bin/nap"
'''
[services.shelf]
run = 'setsid sleep 1000 & exec perl shelf.pl'
ready = { tcp = "$PORT_shelf" }
[workloads.nap]
run = '"$PREFIX/bin/nap"'
oracle = 'sleep 0.001'
[workloads.hostile]
run = 'HOSTILE'
[conditions.idle]
[conditions.busy]
copies = 1
of = { command = 'sleep 0.003; setsid sleep 1000 & exit 0' }
[plan]
blocks = 2
[decide]
baseline = { naps = "one" }
"#;

pub(crate) const EVIDENCE: &str = "[evidence]\ntrace = [\"nap\"]\n";

pub(crate) const SHELF: &str = r#"use IO::Socket::INET;
my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1:$ENV{PORT_shelf}", Listen => 5, ReuseAddr => 1) or die "bind: $!";
while (my $c = $s->accept) { close $c }
"#;

/// What the second workload does; each is run by `sh`.
pub(crate) const HOSTILE: [&str; 6] = [
    "for i in 1 2 3 4 5 6 7 8; do (sleep 1000 &); setsid sleep 1000 & done; exit 0",
    "head -c 1000000 /dev/zero",
    "trap \"\" TERM INT HUP; sleep 1000 & kill -STOP $!; exit 0",
    "sleep 1000 & kill -9 $$",
    "setsid sh -c \"(sleep 1000 &) ; sleep 1000\" & kill -9 $PPID; sleep 1000",
    "exec 0<&- 1>&- 2>&-; nohup sleep 1000 & true",
];
