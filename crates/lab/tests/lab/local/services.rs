//! What a trial has beside it, for real: services that are ready, late, dying or wrong; a load that works or fails;
//! several processes at once; an oracle.

use bakeoff_lab::Executor as _;
use bakeoff_model::record::{Failure, Held, Outcome};
use bakeoff_model::study::{LoadOf, LoadSpec, OpSpec, Per, Ready, Service};
use bakeoff_testkit::stage::{Stage, alive, execute_in, failed_part, marker, service};

/// A server of one line of Perl: accepts connections at its port and answers each with its process id.
const SERVER: &str = r#"exec perl -MIO::Socket::INET -e '$| = 1; my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1:$ENV{PORT_x}", Listen => 5, ReuseAddr => 1) or die "bind: $!\n"; print "serving\n"; while (my $c = $s->accept) { print $c "$$\n"; close $c }' "#;
/// Connects to it and prints what it says.
const CLIENT: &str = r#"perl -MIO::Socket::INET -e 'my $c = IO::Socket::INET->new("127.0.0.1:$ENV{PORT_x}") or die "connect: $!\n"; print <$c>'"#;

fn tcp() -> Ready {
    Ready::Tcp("$PORT_x".to_owned())
}

/// A server whose command line holds the marker.
fn server(marker: &str) -> Service {
    service("x", &format!("{SERVER}{marker}"), tcp())
}

#[test]
fn a_service_is_there_for_its_trial_and_gone_afterwards() {
    let marker = marker();
    let stage = Stage::new(&format!("{CLIENT} | grep -q '^[0-9]'")).service(server(&marker));
    let execution = stage.execute("a");
    assert_eq!(execution.outcome, Outcome::Ok);
    for metric in ["cpu", "user", "sys", "maxrss", "peak"] {
        assert!(execution.measurements.contains_key(&format!("x.{metric}")), "{metric}: {:?}", execution.measurements);
    }
    assert!(execution.measurements["x.maxrss"] > 1e6, "perl needs more than that");
    assert!(alive(&marker).is_empty(), "{:?}", alive(&marker));
}

#[test]
fn a_service_whose_log_has_the_line_is_ready() {
    let run = "exec perl -e '$| = 1; select undef, undef, undef, 0.2; print \"I am ready now\\n\"; sleep 60'";
    let stage = Stage::new("grep -q ready scratch/service-x.log");
    let stage = stage.service(service("x", run, Ready::Log("ready".to_owned())));
    assert_eq!(stage.outcome(), Outcome::Ok);
}

#[test]
fn a_service_whose_command_succeeds_is_ready() {
    let run = "sleep 0.2; touch up; exec sleep 60";
    let stage = Stage::new("test -e up").service(service("x", run, Ready::Command("test -e up".to_owned())));
    assert_eq!(stage.outcome(), Outcome::Ok);
}

#[test]
fn services_start_in_order_and_stop_in_reverse() {
    let one = |name: &str| {
        let run = format!(
            "trap 'echo -{name} >> order; exit 0' TERM; echo +{name} >> order; touch {name}; while :; do sleep 0.01; done"
        );
        service(name, &run, Ready::Command(format!("test -e {name}")))
    };
    let stage = Stage::new("true").service(one("x")).service(one("y"));
    assert_eq!(stage.outcome(), Outcome::Ok);
    assert_eq!(std::fs::read_to_string(stage.path().join("order")).unwrap(), "+x\n+y\n-y\n-x\n");
}

#[test]
fn a_service_that_ends_before_it_is_ready_fails_the_trial() {
    let stage = Stage::new("touch executed").service(service("x", "echo no such table; exit 7", tcp()));
    let (part, why, tail) = failed_part(&stage.outcome());
    assert_eq!((part.as_str(), tail), ("service x", vec!["no such table".to_owned()]));
    assert!(why.contains("before it was ready") && why.contains("exited with 7"), "{why}");
    assert!(!stage.path().join("executed").exists(), "the trial was executed without its service");
}

#[test]
fn a_service_that_is_never_ready_fails_the_trial_in_time() {
    let marker = marker();
    let mut slow = service("x", &format!("echo thinking; exec sleep {marker}"), Ready::Log("ready".to_owned()));
    slow.ready_within_s = 0.3;
    let (part, why, tail) = failed_part(&Stage::new("true").service(slow).outcome());
    assert_eq!((part.as_str(), tail), ("service x", vec!["thinking".to_owned()]));
    assert!(why.contains("not ready within 0.3 s") && why.contains("`ready`"), "{why}");
    assert!(alive(&marker).is_empty(), "{:?}", alive(&marker));
}

#[test]
fn a_service_that_cannot_be_started_fails_the_trial() {
    let stage = Stage::new("true").service(service("x", "no-such-server --at-all", tcp()));
    let (part, why, _) = failed_part(&stage.outcome());
    assert!(part == "service x" && why.contains("no-such-server"), "{part}: {why}");
}

#[test]
fn a_service_at_another_port_is_not_ready() {
    let mut wrong = service("x", "exec sleep 60", tcp());
    wrong.ready_within_s = 0.2;
    let (_, why, _) = failed_part(&Stage::new("true").service(wrong.clone()).outcome());
    assert!(why.contains("nothing listens on port $PORT_x"), "{why}");
    wrong.ready = Ready::Tcp("$PORT_y".to_owned());
    let (_, why, _) = failed_part(&Stage::new("true").service(wrong).outcome());
    assert!(why.contains("the undefined variable `$PORT_y`"), "{why}");
}

#[test]
fn a_service_that_finds_its_port_taken_gets_another() {
    // The first time it finds its port taken; it says so as every server does.
    let run =
        format!("if ! test -e again; then touch again; echo 'bind: Address already in use'; exit 1; fi; {SERVER}");
    let stage = Stage::new(&format!("{CLIENT} | grep -q '^[0-9]'")).service(service("x", &run, tcp()));
    assert_eq!(stage.outcome(), Outcome::Ok);
    // It is not tried for ever.
    let run = "echo >> tries; echo 'bind: Address already in use'; exit 1";
    let stage = Stage::new("true").service(service("x", run, tcp()));
    let (_, why, tail) = failed_part(&stage.outcome());
    assert!(why.contains("exited with 1") && tail == ["bind: Address already in use"], "{why} {tail:?}");
    assert_eq!(std::fs::read_to_string(stage.path().join("tries")).unwrap(), "\n\n\n");
}

#[test]
fn a_service_that_dies_during_the_trial_fails_it() {
    let run = format!("kill $({CLIENT}); while {CLIENT} 2>/dev/null; do :; done");
    let stage = Stage::new(&run).service(server(&marker()));
    let (part, why, _) = failed_part(&stage.outcome());
    assert!(part == "service x" && why.contains("signal 15"), "{part}: {why}");
}

#[test]
fn a_service_for_a_block_stays_for_its_trials_only() {
    let marker = marker();
    let mut server = server(&marker);
    server.per = Per::Block;
    let stage = Stage::new(&format!("{CLIENT} >> pids; echo $PREFIX >> prefixes")).service(server);
    let mut local = stage.local();
    for (block, variant) in [(1, "a"), (1, "b"), (2, "b")] {
        let execution = execute_in(&mut local, block, variant);
        assert_eq!(execution.outcome, Outcome::Ok);
        assert!(execution.measurements.contains_key("x.cpu"), "{:?}", execution.measurements);
        assert_eq!(alive(&marker).len(), 1);
    }
    local.block_ended().unwrap();
    assert!(alive(&marker).is_empty(), "{:?}", alive(&marker));
    let pids = std::fs::read_to_string(stage.path().join("pids")).unwrap();
    let pids: Vec<&str> = pids.lines().collect();
    assert!(pids[0] == pids[1] && pids[1] != pids[2], "{pids:?}");
}

/// The mebibytes of `NAME.maxrss`, and the seconds of `NAME.cpu`, in trials that `client` is, one after the other in
/// one block.
fn used_by(server: Service, client: &str, trials: u32) -> Vec<(Option<f64>, f64)> {
    let stage = Stage::new(client).service(server);
    let mut local = stage.local();
    let used = (0..trials).map(|_| {
        let execution = execute_in(&mut local, 1, "a");
        assert_eq!(execution.outcome, Outcome::Ok);
        let maxrss = execution.measurements.get("x.maxrss").map(|bytes| bytes / 1024.0 / 1024.0);
        (maxrss, execution.measurements["x.cpu"])
    });
    used.collect()
}

/// A server that does its work each time when a file `ask` is there: it holds 64 MiB and uses 0.1 s of processor time.
const BURNS: &str = r#"$| = 1;
sub work { my $held; vec($held, 64 << 20, 8) = 1; my ($since) = times; while ((times)[0] - $since < 0.1) {} undef $held }
sub done { rename "ask", "done" }
print "up\n";
while (1) { if (-e "ask") { WORK } select undef, undef, undef, 0.001 }"#;

fn burning(work: &str, per: Per) -> Service {
    let run = format!("exec perl -e '{}'", BURNS.replace("WORK", work));
    Service { per, ..service("x", &run, Ready::Log("up".to_owned())) }
}

const ASKS: &str = "rm -f done; touch ask; until test -e done; do :; done";

#[test]
fn the_processor_time_and_memory_of_a_service_are_those_of_each_trial() {
    for per in [Per::Trial, Per::Block] {
        for (maxrss, cpu_s) in used_by(burning("work; done", per), ASKS, 2) {
            assert!(cpu_s >= 0.1 && maxrss.is_some_and(|mib| mib > 64.0), "{per:?}: {cpu_s} s, {maxrss:?} MiB");
        }
    }
    // Only the first trial asks it for anything.
    let once = format!("test -e done || {{ {ASKS}; }}");
    let used = used_by(burning("work; done", Per::Block), &once, 2);
    assert!(used[0].0 > Some(64.0) && used[1].0 < Some(64.0) && used[1].0 > Some(1.0), "{used:?}");
    assert!(used[0].1 >= 0.1 && used[1].1 < 0.1, "{used:?}");
}

#[test]
fn what_a_service_has_forked_belongs_to_it() {
    // A grandchild that stays when its parent has ended.
    let stays = "unless (fork) { exit if fork; work; done; sleep 60 } sleep 60";
    // A child that it waits for: its time is known, its memory only where the service ends with the trial.
    let waits = "unless (fork) { work; exit } wait; done";
    for per in [Per::Trial, Per::Block] {
        let used = used_by(burning(waits, per), ASKS, 1)[0];
        let is_known = if per == Per::Trial { used.0 > Some(64.0) } else { used.0.is_none() };
        assert!(used.1 >= 0.09 && is_known, "{per:?}: {used:?}");
    }
    let used = used_by(burning(stays, Per::Trial), ASKS, 1)[0];
    assert!(used.1 >= 0.1 && used.0 > Some(64.0), "{used:?}");
}

#[test]
fn a_service_for_a_block_that_died_is_told_and_started_again() {
    let mut server = server("");
    server.per = Per::Block;
    let stage = Stage::new(&format!("{CLIENT} > pid; if test -e kill; then rm kill; kill $(cat pid); fi"));
    let stage = stage.service(server);
    let mut local = stage.local();
    std::fs::write(stage.path().join("kill"), "").unwrap();
    // It dies at the end of a trial: of that one, or between it and the next.
    let outcomes: Vec<Outcome> = (0..3).map(|_| execute_in(&mut local, 1, "a").outcome).collect();
    let failed: Vec<_> = outcomes.iter().filter(|outcome| **outcome != Outcome::Ok).collect();
    assert_eq!(failed.len(), 1, "{outcomes:?}");
    assert_eq!(failed_part(failed[0]).0, "service x");
    assert_eq!(outcomes[2], Outcome::Ok);
}

#[test]
fn a_service_that_ignores_its_signal_is_killed() {
    let marker = marker();
    let run = format!("trap '' TERM; echo up; while :; do sleep {marker}; done");
    let mut stubborn = service("x", &run, Ready::Log("up".to_owned()));
    stubborn.stop_within_s = 0.1;
    assert_eq!(Stage::new("true").service(stubborn).outcome(), Outcome::Ok);
    assert!(alive(&marker).is_empty(), "{:?}", alive(&marker));
}

#[test]
fn services_have_the_variables_of_the_variant() {
    let mut stage = Stage::new("cat seen").expect("b /prefix/b\n");
    stage.plan.variants[1].run_variables = [("LEVEL".to_owned(), "b".to_owned())].into();
    let run = "echo \"$LEVEL $PREFIX\" > seen; echo up; exec sleep 60";
    let stage = stage.service(service("x", run, Ready::Log("up".to_owned())));
    assert_eq!(stage.execute("b").outcome, Outcome::Ok);
}

#[test]
fn the_load_is_alive_while_the_trial_lasts_and_gone_afterwards() {
    let marker = marker();
    // Each copy works for a moment, and is started again.
    let copy = format!(": {marker}; i=0; while test $i -lt 500; do i=$((i+1)); done");
    let stage = Stage::new("sleep 1").load(2, &copy);
    let execution = stage.execute("a");
    assert_eq!(execution.outcome, Outcome::Ok);
    let (rate, cpu) = (execution.measurements["load_rate"], execution.measurements["load_cpu"]);
    assert!(rate > 2.0, "{rate} copies in a second");
    assert!(cpu > 0.01 && cpu < 4.0, "{cpu} s");
    assert!(alive(&marker).is_empty(), "{:?}", alive(&marker));
    // Copies that take longer than the trial: none ends, and their work is seen all the same.
    let stage = Stage::new("sleep 0.5").load(1, &format!("while :; do : {marker}; done"));
    let execution = stage.execute("a");
    assert_eq!((execution.outcome.clone(), execution.measurements["load_rate"]), (Outcome::Ok, 0.0));
    assert!(execution.measurements["load_cpu"] > 0.02, "{:?}", execution.measurements);
    assert!(alive(&marker).is_empty(), "{:?}", alive(&marker));
}

/// Ten starts in a second, of copies that take turns: a trial of half a second meets about five of them, neither all
/// ten nor none.
#[test]
fn copies_of_a_paced_load_take_turns() {
    let paced = LoadSpec { copies: 10, of: LoadOf::Command("true".to_owned()), pace_s: Some(1.0), cpus: None };
    let stage = Stage::new("sleep 0.5").condition(|c| c.load = Some(paced));
    let execution = stage.execute("a");
    let rate = execution.measurements["load_rate"];
    assert_eq!(execution.outcome, Outcome::Ok);
    // Late starts are made up for, so on a machine with much else to do there may be more of them; none is what is wrong.
    assert!(rate > 0.0 && rate <= 40.0, "{rate} copies in a second");
}

#[test]
fn copies_of_the_workload_itself_have_a_number_and_a_home_each() {
    let run = "if test -n \"$BAKEOFF_COPY\"; then echo \"$PREFIX $BAKEOFF_COPY $HOME\" >> copies; sleep 60; fi";
    for (of, prefix) in [(LoadOf::Baseline, "/prefix/a"), (LoadOf::Itself, "/prefix/b")] {
        let stage = Stage::new(&format!("{run}; while test $(wc -l < copies) -lt 2; do sleep 0.01; done"))
            .condition(|c| c.load = Some(LoadSpec { copies: 2, of, pace_s: None, cpus: None }));
        assert_eq!(stage.execute("b").outcome, Outcome::Ok);
        let text = std::fs::read_to_string(stage.path().join("copies")).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        let home = |copy: u32| stage.path().join(format!("scratch/load-{copy}")).display().to_string();
        assert_eq!(lines, [format!("{prefix} 1 {}", home(1)), format!("{prefix} 2 {}", home(2))]);
        assert!(!stage.path().join("scratch/load-1").exists());
    }
}

#[test]
fn copies_of_a_workload_that_marks_do_not_mark() {
    // A workload that marks can be a load as well: what its copies mark is nobody's.
    let run = "echo 'phase load' >&$BAKEOFF_MARKS; sleep 0.2; echo op >&$BAKEOFF_MARKS";
    let stage = Stage::new(run)
        .condition(|c| c.load = Some(LoadSpec { copies: 2, of: LoadOf::Itself, pace_s: None, cpus: None }))
        .workload(|w| w.phases = vec!["load".to_owned()]);
    let execution = stage.execute("a");
    assert_eq!((execution.outcome, execution.marks.ops_count()), (Outcome::Ok, 1));
}

#[test]
fn a_load_that_fails_fails_the_trial() {
    let stage = Stage::new("sleep 0.3").load(2, "echo out of luck >&2; exit 3");
    let (part, why, tail) = failed_part(&stage.outcome());
    // Copies share a log with those that they follow.
    assert_eq!((part.as_str(), tail.last().map(String::as_str)), ("load", Some("out of luck")));
    assert!(why.contains("failed"), "{why}");
    // It is the words of the one that failed which are shown, whatever others said before.
    let second = "echo $BAKEOFF_COPY >&2; test $BAKEOFF_COPY = 1 && sleep 60";
    let (_, _, tail) = failed_part(&Stage::new("sleep 0.3").load(2, second).outcome());
    assert!(!tail.is_empty() && tail.iter().all(|line| line == "2"), "{tail:?}");
    let (part, ..) = failed_part(&Stage::new("true").load(1, "no-such-program --at-all").outcome());
    assert_eq!(part, "load");
}

#[test]
fn processes_at_once_overlap_and_have_folders_of_their_own() {
    // Each waits for all others: one after the other they would wait for ever.
    let run = "echo > seen-$BAKEOFF_PROCESS; echo $HOME; \
               while test $(ls seen-* | wc -l) -lt $BAKEOFF_PROCESSES; do sleep 0.01; done";
    let stage = Stage::new(run).condition(|c| c.processes = 3).workload(|w| w.timeout_s = Some(60.0));
    let execution = stage.execute("a");
    assert_eq!(execution.outcome, Outcome::Ok);
    assert_eq!(execution.processes.len(), 3);
    let each = execution.processes.iter().map(|process| process["wall"]).sum::<f64>() / 3.0;
    assert!((execution.measurements["each_wall"] - each).abs() < 1e-12);
    assert!(execution.measurements["wall"] >= each);
    // Each one's output is checked, and none has another's home.
    let printed = |run: &str| Stage::new(run).expect("yes\n").condition(|c| c.processes = 3).outcome();
    assert_eq!(printed("touch $HOME/x-$BAKEOFF_PROCESS; test $(ls $HOME | wc -l) = 1 && echo yes"), Outcome::Ok);
    let third = printed("test $BAKEOFF_PROCESS = 3 && echo no || echo yes");
    assert!(matches!(third, Outcome::Failed(Failure::WrongOutput { .. })), "{third:?}");
}

#[test]
fn processes_at_once_divide_the_work_where_they_are_said_to() {
    // Lines 1 to 6: each process has every third of them, and marks each.
    let run = "for n in 1 2 3 4 5 6; do \
               if test $((n % BAKEOFF_PROCESSES + 1)) = $BAKEOFF_PROCESS; then \
               echo \"line $n\"; echo op 0.001 >&$BAKEOFF_MARKS; fi; done";
    let stage = |run: &str, processes| {
        Stage::new(run)
            .expect("line 1\nline 2\nline 3\nline 4\nline 5\nline 6\n")
            .condition(|c| c.processes = processes)
    };
    let divided = |run: &str, processes| {
        let ops = OpSpec { unit: "line".to_owned(), count: Some(6), names: vec![] };
        stage(run, processes).workload(|w| (w.divided, w.ops) = (true, Some(ops))).outcome()
    };
    assert_eq!(divided(run, 3), Outcome::Ok);
    assert_eq!(divided(run, 1), Outcome::Ok);
    let wrong = |line, expected: Option<&str>, printed: Option<&str>| {
        let [expected, printed] = [expected, printed].map(|line| line.map(str::to_owned));
        Outcome::Failed(Failure::WrongOutput { line, expected, printed })
    };
    let off = run.replace("echo \"line $n\"", "echo \"line $((n == 5 ? 55 : n))\"");
    assert_eq!(divided(&off, 3), wrong(5, Some("line 5"), Some("line 55")));
    assert_eq!(divided(&off, 1), wrong(5, Some("line 5"), Some("line 55")));
    let all = run.replace("test $((n % BAKEOFF_PROCESSES + 1)) = $BAKEOFF_PROCESS", "true");
    assert_eq!(divided(&all, 3), wrong(7, None, Some("line 1")));
    let silent = run.replace("echo op 0.001", "test $n = 4 || echo op 0.001");
    let told = divided(&silent, 3);
    let Outcome::Failed(Failure::BadMarks { why }) = &told else { panic!("{told:?}") };
    assert_eq!(why, "the command marked 5 ops (line), not 6");
    // One process keeps to the order, and those that do not divide the work do all of it.
    let backwards = run.replace("1 2 3 4 5 6", "6 5 4 3 2 1");
    assert_eq!(divided(&backwards, 3), Outcome::Ok);
    assert_eq!(divided(&backwards, 1), wrong(1, Some("line 1"), Some("line 6")));
    assert_eq!(stage(run, 3).outcome(), wrong(1, Some("line 1"), Some("line 3")));
}

#[test]
fn one_of_several_processes_that_fails_fails_the_trial() {
    let stage = Stage::new("test $BAKEOFF_PROCESS != 2 || { echo I am 2 >&2; exit 9; }").condition(|c| c.processes = 2);
    let outcome = stage.outcome();
    assert_eq!(outcome, Outcome::Failed(Failure::Exit { code: 9, stderr: vec!["I am 2".to_owned()] }));
}

#[test]
fn a_variable_of_one_service_reaches_that_one_only() {
    let mut stage = Stage::new("cat seen; echo $LEVEL").expect("own\nof-all\nof-all\n");
    let variables = [("LEVEL", "of-all"), ("x.LEVEL", "own")];
    stage.plan.variants[1].run_variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let run = "echo $LEVEL >> seen; exec sleep 60";
    // Its check belongs to it.
    let ready = |level| Ready::Command(format!("grep $LEVEL seen && test $LEVEL = {level}"));
    let stage = stage.service(service("x", run, ready("own"))).service(service("xy", run, ready("of-all")));
    assert_eq!(stage.execute("b").outcome, Outcome::Ok);
}

#[test]
fn an_oracle_that_fails_fails_the_trial_while_services_are_up() {
    let with = |oracle: &str| {
        Stage::new(&format!("{CLIENT} > said")).service(server("")).workload(|w| w.oracle = Some(oracle.to_owned()))
    };
    assert_eq!(with(&format!("test \"$({CLIENT})\" = \"$(cat said)\"")).outcome(), Outcome::Ok);
    let (part, why, tail) = failed_part(&with("echo 3 sets are missing; exit 4").outcome());
    assert_eq!((part.as_str(), why.as_str()), ("oracle", "it exited with 4"));
    assert_eq!(tail, ["3 sets are missing"]);
    // A trial that failed is not judged a second time.
    let stage = Stage::new("exit 5").workload(|w| w.oracle = Some("touch judged".to_owned()));
    assert!(matches!(stage.outcome(), Outcome::Failed(Failure::Exit { code: 5, .. })));
    assert!(!stage.path().join("judged").exists());
}

/// What a trial left at home is there for its oracle, of every process, and gone afterwards.
#[test]
fn an_oracle_sees_what_the_trial_left_at_home() {
    let run = "test \"$HOME\" = \"$TMPDIR\" && echo $BAKEOFF_PROCESS > \"$HOME/left\"";
    let oracle = "test \"$HOME\" = \"$TMPDIR\" && test $BAKEOFF_PROCESSES = 2 && \
        cat \"$HOME/left\" \"$BAKEOFF_HOME_1/left\" \"$BAKEOFF_HOME_2/left\" | tr -d '\\n' | grep -x 112 >/dev/null";
    let stage = Stage::new(run).workload(|w| w.oracle = Some(oracle.to_owned())).condition(|c| c.processes = 2);
    assert_eq!(stage.outcome(), Outcome::Ok);
    for home in ["home", "home-2"] {
        assert!(!stage.setup.scratch.join(home).exists(), "{home}");
    }
}

#[test]
fn a_trial_that_takes_too_long_is_killed_and_told() {
    let marker = marker();
    let run = format!("echo so far >&2; sleep {marker} & exec sleep {marker}");
    let stage = Stage::new(&run).workload(|w| w.timeout_s = Some(0.3));
    let outcome = stage.outcome();
    let Outcome::Failed(Failure::TimedOut { after_s, stderr }) = outcome else { panic!("{outcome:?}") };
    assert!((after_s - 0.3).abs() < 1e-12);
    assert_eq!(stderr, ["so far"]);
    assert!(alive(&marker).is_empty(), "{:?}", alive(&marker));
}

#[test]
fn each_part_of_a_condition_is_held_observed_or_unavailable() {
    let idle = Stage::new("true").local().surroundings();
    assert_eq!(idle.len(), 1, "{idle:?}");
    assert!(matches!(&idle[0].state, Held::Observed(metric) if metric == "foreign_cpu") || idle[0].state != Held::Held);
    let stage = Stage::new("true").load(4, "true").condition(|c| {
        c.processes = 2;
        c.aslr = Some(false);
        c.drop_caches = true;
        c.environment = [("LC_ALL".to_owned(), "C".to_owned())].into();
    });
    let parts = stage.local().surroundings();
    let words: Vec<&str> = parts.iter().map(|part| part.what.as_str()).collect();
    let expected = [
        "4 copies of `true` alongside",
        "2 processes at once",
        "addresses not randomised",
        "LC_ALL=C",
        "file system caches dropped before each trial",
    ];
    assert_eq!(words, expected);
    for part in &parts {
        assert_eq!(part.condition, "c");
        match &part.state {
            Held::Unavailable(why) => assert!(!why.is_empty()),
            state => assert_eq!(*state, Held::Held),
        }
    }
    // Processors that no machine has.
    let stage = Stage::new("true").condition(|c| c.cpus = Some(vec![4000]));
    let local = stage.local();
    let parts = local.surroundings();
    assert!(matches!(&parts[0].state, Held::Unavailable(why) if !why.is_empty()), "{parts:?}");
    assert_eq!(stage.outcome(), Outcome::Ok, "it executes without what cannot be had");
}
