//! Diagnoses: which decided differences evidence may explain, and where it must be silent. Records are built by hand,
//! with numbers of slots and calls as a Perl with and without a shared library has them.

use crate::Why;
use crate::evidence;
use crate::evidence::{Evidence, EvidenceLine, Traced};
use crate::facts::{Content, ElfFacts, FileFacts, Linking, RelocationTable, Relocations, Slots};
use crate::findings::{CauseKind, Diagnosis, Gathered};
use bakeoff_command::Registry;
use bakeoff_host::tracer::{Calls, Census, Children, Mapped, Opened};
use bakeoff_judge::findings::{EffectKind, Findings, Subject, Verdict};
use bakeoff_model::marks::{Latencies, OpLatencies};
use bakeoff_model::metric::{Direction, Metric, Unit};
use bakeoff_model::record::{Failure, Line, Record, TWIN, VariantLine};
use bakeoff_testkit::records::{execute, measure, noise, study};

const SHARED: &str = "libperl=shared";
const SYMBOLIC: &str = "libperl=symbolic";
const MALLOC: &str = "malloc=perl";
const LOCALE: &str = "locale=utf8";
const BOTH: &str = "libperl=shared malloc=perl";

fn variant(name: &str, build: &str) -> VariantLine {
    let level = |factor: &str, usual: &str| {
        let own = name.split(' ').find_map(|term| term.strip_prefix(&format!("{factor}=")));
        (factor.to_owned(), own.unwrap_or(usual).to_owned())
    };
    let levels = [level("libperl", "static"), level("malloc", "system"), level("locale", "c")].into();
    VariantLine { name: name.to_owned(), levels, build: Some(build.to_owned()), run: None }
}

/// A study of all variants; `wall_s` says how long each takes, of a second or so.
fn record(wall_s: fn(&str) -> f64) -> Record {
    let names = ["baseline", SHARED, SYMBOLIC, MALLOC, LOCALE, BOTH];
    let mut record = study(&names, &["idle"], &["wall"]);
    // The locale is set when a program is run: it shares the baseline's build.
    record.study.variants =
        names.iter().map(|name| variant(name, if *name == LOCALE { "baseline" } else { name })).collect();
    execute(&mut record, 12, |trial| {
        let name = if trial.variant == TWIN { "baseline" } else { &trial.variant };
        let value_s = wall_s(name) * noise(trial);
        measure(trial, "wall", value_s);
    });
    record
}

fn elf(path: &str, symbols: u64, relative: u64, slots: [u64; 2]) -> FileFacts {
    let [total, own] = slots;
    let table = |name: &str, count: u64| RelocationTable {
        section: format!(".rela.{name}"),
        loaded: true,
        entries: count,
        relocations: count,
        by_type: [(format!("R_X86_64_{name}"), count)].into(),
        ..RelocationTable::default()
    };
    let relocations = Relocations {
        tables: vec![table("RELATIVE", relative), table("GLOB_DAT", symbols), table("JUMP_SLOT", total)],
        jump_slots: Slots { total, own, own_names: None },
        glob_dat: Slots { total: symbols, own: 0, own_names: None },
    };
    let linking = Linking { dynamic: true, ..Linking::default() };
    let elf = ElfFacts { relocations, linking, ..ElfFacts::default() };
    FileFacts { path: path.to_owned(), size_bytes: 4_000_000, content: Content::Elf(Box::new(elf)) }
}

fn add(record: &mut Record, variant: &str, evidence: Evidence) {
    let line = EvidenceLine { session: 1, variant: variant.to_owned(), evidence };
    record.push(Line::Feature(line.line().unwrap()));
}

/// A library in a folder that is called after the platform, which each variant may call as it likes.
fn library(variant: &str, slots: [u64; 2]) -> FileFacts {
    elf(&format!("lib/{}/libperl.so", variant.len()), 100, 7700, slots)
}

/// The files of every variant: the program alone, or with a library.
fn with_facts(record: &mut Record) {
    add(record, "baseline", Evidence::Facts(vec![elf("bin/perl", 100, 7700, [280, 0])]));
    add(record, MALLOC, Evidence::Facts(vec![elf("bin/perl", 100, 7704, [282, 0])]));
    for (name, slots) in [(SHARED, [1137, 897]), (SYMBOLIC, [239, 0]), (BOTH, [1137, 897])] {
        add(record, name, Evidence::Facts(vec![elf("bin/perl", 10, 40, [20, 0]), library(name, slots)]));
    }
}

fn traced(calls: &[(&str, u64, u64)], mapped: &[&str]) -> Traced {
    let calls =
        calls.iter().map(|(name, count, errors)| ((*name).to_owned(), Calls { count: *count, errors: *errors }));
    let executable = |path: &&str| Mapped { path: (*path).to_owned(), executable: true };
    let command = Census {
        tasks: 1,
        syscalls: calls.collect(),
        mapped: mapped.iter().map(executable).collect(),
        ..Census::default()
    };
    Traced { workload: "loop".to_owned(), command, ..Traced::default() }
}

/// Judged with the section, by way of its JSON as any report is.
fn judge(record: &Record) -> Findings {
    Registry::of(&[&Why]).judge(record)
}

fn gathered(findings: &Findings) -> Gathered {
    Gathered::of(findings).expect("evidence")
}

fn diagnosis(findings: &Findings, variant: &str) -> Option<Diagnosis> {
    gathered(findings).diagnoses.into_iter().find(|diagnosis| diagnosis.variant == variant)
}

fn kinds(findings: &Findings, variant: &str) -> Vec<CauseKind> {
    diagnosis(findings, variant).expect("a diagnosis").causes.iter().map(|cause| cause.kind).collect()
}

#[test]
fn without_evidence_nothing_is_said_of_causes() {
    let findings = judge(&record(|name| if name == SHARED { 1.1 } else { 1.0 }));
    assert_eq!(Gathered::of(&findings), None);
    assert!(findings.effects.iter().all(|family| family.kind != EffectKind::Levels));
}

#[test]
fn files_stand_side_by_side_and_equal_ones_together() {
    let mut record = record(|_| 1.0);
    with_facts(&mut record);
    let findings = judge(&record);
    let files = &gathered(&findings).files;
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["bin/perl", "libperl.so"]);
    // Of the locale nothing was read: it runs the build of the baseline.
    let rows: Vec<&[String]> = files[0].rows.iter().map(|row| row.variants.as_slice()).collect();
    assert_eq!(rows, [&["baseline", LOCALE][..], &[SHARED, SYMBOLIC, BOTH], &[MALLOC]]);
    assert_eq!(files[1].absent, ["baseline", MALLOC, LOCALE]);
    let shared = &files[1].rows[0];
    assert_eq!(
        (shared.variants.as_slice(), shared.path.as_str()),
        (&[SHARED, BOTH].map(str::to_owned)[..], "lib/14/libperl.so")
    );
    let numbers = &shared.numbers;
    assert_eq!((numbers.jump_slots, numbers.own_jump_slots, numbers.glob_dat), (1137, 897, 100));
    assert_eq!((numbers.relocations, numbers.relative, numbers.symbolic), (1137 + 100 + 7700, 7700, Some(false)));
}

/// Two files of one name in one variant: nobody knows which is which, but by their paths.
#[test]
fn files_of_an_ambiguous_name_are_matched_by_path() {
    let mut record = record(|_| 1.0);
    let x = |path: &str| elf(path, 1, 1, [1, 0]);
    add(&mut record, "baseline", Evidence::Facts(vec![x("lib/a/x.so"), x("lib/b/x.so")]));
    add(&mut record, SHARED, Evidence::Facts(vec![x("lib/a/x.so")]));
    let findings = judge(&record);
    let files = gathered(&findings).files;
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["lib/a/x.so", "lib/b/x.so"]);
    assert_eq!(gathered(&findings).files[1].absent, [SHARED]);
}

/// The shared library costs a tenth, and linked with -Bsymbolic nothing.
fn shared_is_slower(name: &str) -> f64 {
    match name {
        SHARED | BOTH => 1.1,
        MALLOC => 0.85,
        _ => 1.0,
    }
}

#[test]
fn own_slots_are_consistent_with_a_slower_loop_and_a_pair_isolates_them() {
    let mut record = record(shared_is_slower);
    with_facts(&mut record);
    let findings = judge(&record);
    let found = diagnosis(&findings, SHARED).expect("a diagnosis");
    assert_eq!((found.against.as_str(), found.factor.as_str(), found.is_same), ("baseline", "libperl", false));
    assert_eq!(found.claim.comparison.verdict, Verdict::Slower);
    let [cause] = found.causes.as_slice() else { panic!("{:?}", found.causes) };
    assert_eq!(
        (cause.kind, cause.numbers, cause.about.as_slice()),
        (CauseKind::OwnSlots, [0, 897], &["libperl.so".to_owned()][..])
    );
    let [pair] = cause.isolated.as_slice() else { panic!("{:?}", cause.isolated) };
    assert_eq!((pair.variant.as_str(), pair.number, pair.comparison.verdict), (SYMBOLIC, 0, Verdict::Faster));
    let [low, high] = pair.comparison.interval().expect("an interval");
    assert!(low < 1.0 / 1.1 && 1.0 / 1.1 < high && high < 1.0, "{low} {high}");
    // The pair is a finding of its own too.
    let levels = findings.effects.iter().find(|family| family.kind == EffectKind::Levels).expect("pairs");
    let subjects: Vec<&Subject> = levels.effects.iter().map(|effect| &effect.subject).collect();
    assert_eq!(subjects, [&Subject::Variant { variant: SYMBOLIC.to_owned(), against: SHARED.to_owned() }]);
}

#[test]
fn what_no_rule_explains_is_unexplained_and_several_factors_are_not_asked() {
    let mut record = record(shared_is_slower);
    with_facts(&mut record);
    let findings = judge(&record);
    let malloc = diagnosis(&findings, MALLOC).expect("a diagnosis");
    assert_eq!((malloc.causes.len(), malloc.is_same, malloc.claim.comparison.verdict), (0, false, Verdict::Faster));
    assert_eq!(diagnosis(&findings, BOTH), None);
    // Nothing was decided about these.
    assert_eq!(diagnosis(&findings, SYMBOLIC), None);
    assert_eq!(diagnosis(&findings, LOCALE), None);
}

#[test]
fn evidence_that_is_the_same_explains_nothing() {
    let mut record = record(|name| if name == LOCALE { 1.2 } else { 1.0 });
    with_facts(&mut record);
    let findings = judge(&record);
    let locale = diagnosis(&findings, LOCALE).expect("a diagnosis");
    assert_eq!((locale.causes.len(), locale.is_same), (0, true));
}

/// More slots of its own, and faster all the same: that is no cause.
#[test]
fn a_contradictory_direction_is_not_claimed() {
    let mut record = record(|name| if name == SHARED { 0.9 } else { 1.0 });
    with_facts(&mut record);
    assert_eq!(kinds(&judge(&record), SHARED), []);
}

/// Without the slots it is just as slow: whatever it is, it is not they.
#[test]
fn a_pair_can_contradict_a_cause() {
    let mut record = record(|name| if [SHARED, SYMBOLIC].contains(&name) { 1.1 } else { 1.0 });
    with_facts(&mut record);
    assert_eq!(kinds(&judge(&record), SHARED), []);
}

/// A library that was built and is not what is run says nothing.
#[test]
fn what_is_not_executed_is_no_cause() {
    let check = |library: &str, expect: &[CauseKind]| {
        let mut record = record(shared_is_slower);
        with_facts(&mut record);
        let calls = [("read", 10, 0)];
        for name in ["baseline", SYMBOLIC, MALLOC, LOCALE, BOTH] {
            add(&mut record, name, Evidence::of_trial(traced(&calls, &["$PREFIX/bin/perl"])));
        }
        add(&mut record, SHARED, Evidence::of_trial(traced(&calls, &["$PREFIX/bin/perl", library])));
        assert_eq!(kinds(&judge(&record), SHARED), expect, "{library}");
    };
    check("/usr/lib/x86_64-linux-gnu/libperl.so.5.36", &[]);
    check("$PREFIX/lib/14/libperl.so", &[CauseKind::OwnSlots]);
}

/// A program that starts and ends: there relocations can be what differs. In a loop of a second they cannot.
#[test]
fn relocations_matter_only_where_they_could_take_so_long() {
    let mut record = record(|name| if name == SHARED { 0.0011 } else { 0.001 });
    add(&mut record, "baseline", Evidence::Facts(vec![elf("bin/perl", 100, 7700, [280, 0])]));
    add(&mut record, SHARED, Evidence::Facts(vec![elf("bin/perl", 100, 7700, [1280, 0])]));
    assert_eq!(kinds(&judge(&record), SHARED), [CauseKind::Relocations]);
    let mut slower = super_record(1000.0);
    add(&mut slower, "baseline", evidence::of(&record)[0].evidence.clone());
    add(&mut slower, SHARED, evidence::of(&record)[1].evidence.clone());
    assert_eq!(kinds(&judge(&slower), SHARED), []);
}

/// The same in which everything takes this many times as long.
fn super_record(times: f64) -> Record {
    let mut record = record(|name| if name == SHARED { 0.0011 } else { 0.001 });
    for trial in &mut record.trials {
        trial.measurements.values_mut().for_each(|value| *value *= times);
    }
    record
}

#[test]
fn system_calls_are_consistent_only_with_what_they_could_take() {
    let of = |baseline: u64, locale: u64, times: f64| {
        let mut record = record(|name| if name == LOCALE { 1.1 } else { 1.0 });
        record.trials.iter_mut().for_each(|t| t.measurements.values_mut().for_each(|value| *value *= times));
        for name in ["baseline", SHARED, SYMBOLIC, MALLOC, BOTH] {
            add(&mut record, name, Evidence::of_trial(traced(&[("read", 10, 0), ("openat", baseline, 2)], &[])));
        }
        add(&mut record, LOCALE, Evidence::of_trial(traced(&[("read", 10, 0), ("openat", locale, 8)], &[])));
        judge(&record)
    };
    // 100 ms more, and 40,000 more calls.
    let findings = of(20_000, 60_000, 1.0);
    assert_eq!(kinds(&findings, LOCALE), [CauseKind::SystemCalls]);
    let found = diagnosis(&findings, LOCALE).expect("a diagnosis");
    assert_eq!(
        (found.causes[0].numbers, found.causes[0].about.as_slice()),
        ([20_010, 60_010], &["openat".to_owned()][..])
    );
    assert_eq!(kinds(&of(20, 26, 1.0), LOCALE), []);
    assert_eq!(kinds(&of(20, 26, 0.0001), LOCALE), [CauseKind::SystemCalls]);
    // Fewer calls, and slower.
    assert_eq!(kinds(&of(60_000, 20_000, 1.0), LOCALE), []);
    // A twentieth more is chance.
    assert_eq!(kinds(&of(60_000, 62_000, 0.01), LOCALE), []);
    let trace = &gathered(&findings).traces[0];
    assert_eq!((trace.workload.as_str(), trace.differing.as_slice()), ("loop", &["openat".to_owned()][..]));
    assert_eq!(trace.profiles.len(), 2);
    assert_eq!(trace.profiles[1].variants, [LOCALE]);
    assert_eq!(trace.profiles[1].calls["openat"], Calls { count: 60_000, errors: 8 });
}

/// Of an op all calls are known, those of services too. So there is more to say of them than that they cannot be all.
#[test]
fn calls_of_an_op_are_told_with_the_part_that_they_can_be() {
    let of = |before: u64, after: u64, ops: u64, metric: &str| {
        let mut record = study(&["baseline", LOCALE], &["idle"], &[metric]);
        record.study.variants = ["baseline", LOCALE].map(|name| variant(name, "baseline")).into();
        let (name, better) = (metric.to_owned().into(), Direction::Less);
        record.study.metrics = vec![Metric {
            name,
            unit: Unit::Seconds,
            better,
            what: "latency".into(),
            source: "marks".into(),
            exact: false,
        }];
        execute(&mut record, 12, |trial| {
            let latency_s = if trial.variant == LOCALE { 0.05 } else { 0.01 } * noise(trial);
            let latencies = Latencies::of([latency_s]).expect("an op");
            trial.marks.ops.push(OpLatencies { phase: None, name: None, latencies });
        });
        for (name, calls) in [("baseline", before), (LOCALE, after)] {
            let daemon = Census {
                syscalls: [("stat".to_owned(), Calls { count: calls, errors: 0 })].into(),
                ..Census::default()
            };
            let services = [("daemon".to_owned(), daemon)].into();
            add(&mut record, name, Evidence::of_trial(Traced { ops, services, ..traced(&[("read", 100, 0)], &[]) }));
        }
        judge(&record)
    };
    // 40 ms more, and in ten ops 10,000 calls more: at 10 µs each a quarter.
    let findings = of(900, 10_900, 10, "op.mean");
    let found = diagnosis(&findings, LOCALE).expect("a diagnosis");
    let [cause] = found.causes.as_slice() else { panic!("{:?}", found.causes) };
    assert_eq!((cause.kind, cause.numbers, cause.about[0].as_str()), (CauseKind::CallsOfAnOp, [100, 1100], "stat"));
    let share = cause.most_of_it.expect("not all").share;
    assert!((share - 0.25).abs() < 0.02, "{share}");
    let all = of(900, 100_900, 10, "op.mean");
    let all = &diagnosis(&all, LOCALE).expect("a diagnosis").causes;
    assert_eq!((all.len(), all[0].most_of_it), (1, None));
    // A twentieth of it is not worth a word, nor are fewer calls; where no op is marked nothing is known of one, and
    // the longest op is not all of them.
    for (before, after, ops, metric) in [
        (900, 2_500, 10, "op.mean"),
        (10_900, 900, 10, "op.mean"),
        (900, 10_900, 0, "op.mean"),
        (900, 10_900, 10, "op.max"),
    ] {
        assert_eq!(kinds(&of(before, after, ops, metric), LOCALE), [], "{before} {after} {ops} {metric}");
    }
}

#[test]
fn libraries_and_paths_that_differ_are_told() {
    let mut record = record(|_| 1.0);
    let system = "/lib/libc.so.6";
    let open = |path: &str, found, missed| Opened { path: path.to_owned(), found, missed };
    let mut baseline = traced(&[("read", 1, 0)], &[system, "$PREFIX/bin/perl"]);
    baseline.command.opened = vec![open("/etc/passwd", 1, 0), open("/etc/tmp", 1, 0)];
    let mut shared = traced(&[("read", 1, 0)], &[system, "$PREFIX/bin/perl", "/lib/libm.so.6"]);
    shared.command.opened = vec![open("/etc/passwd", 2, 1), open("/etc/nothing", 0, 3)];
    add(&mut record, "baseline", Evidence::of_trial(baseline.clone()));
    add(&mut record, SHARED, Evidence::of_trial(shared));
    baseline.command.mapped[1].path = "$PREFIX/other/bin/perl".to_owned();
    add(&mut record, MALLOC, Evidence::of_trial(baseline));
    let findings = judge(&record);
    let trace = &gathered(&findings).traces[0];
    assert_eq!((trace.profiles.len(), trace.differing.len()), (1, 0));
    let executed = &trace.executed;
    assert_eq!(executed[0].variants, ["baseline", MALLOC]);
    assert_eq!(executed[0].files, ["$PREFIX/bin/perl", system]);
    assert_eq!((executed[1].more.as_slice(), executed[1].fewer.len()), (&["/lib/libm.so.6".to_owned()][..], 0));
    let paths: Vec<(&str, usize, usize)> =
        trace.paths.iter().map(|path| (path.path.as_str(), path.found_by.len(), path.missed_by.len())).collect();
    assert_eq!(paths, [("/etc/nothing", 0, 1), ("/etc/tmp", 2, 0)]);
    assert_eq!(trace.paths[0].times, 3);
}

/// What services did stands next to it, with what each process of theirs did; one that was seen in some variants only
/// is of those.
#[test]
fn services_have_tables_of_their_own() {
    let mut record = record(|_| 1.0);
    let calls = |count, errors| Calls { count, errors };
    let with_daemon = |reads: u64, processes| {
        let syscalls = [("read".to_owned(), calls(reads, 2)), ("accept".to_owned(), calls(5, 0))];
        let children = Children { processes, syscalls: [("read".to_owned(), calls(reads - 3, 0))].into() };
        let seen = Census { tasks: processes + 1, syscalls: syscalls.into(), children, ..Census::default() };
        Traced { services: [("daemon".to_owned(), seen)].into(), ..traced(&[("write", 7, 0)], &[]) }
    };
    let unseen = [("daemon".to_owned(), "it was killed".to_owned())];
    let untold = Traced { services_unseen: unseen.into(), ..traced(&[("write", 7, 0)], &[]) };
    for (name, traced) in [
        ("baseline", with_daemon(403, 4)),
        (SHARED, with_daemon(13, 4)),
        (MALLOC, with_daemon(103, 0)),
        (LOCALE, untold),
    ] {
        add(&mut record, name, Evidence::of_trial(traced));
    }
    let findings = judge(&record);
    let traces = gathered(&findings).traces;
    let [command, daemon] = traces.as_slice() else { panic!("{traces:?}") };
    assert_eq!((&command.service, command.differing.len(), command.profiles.len()), (&None, 0, 1));
    assert_eq!(command.profiles[0].children, None);
    assert_eq!((daemon.service.as_deref(), daemon.workload.as_str()), (Some("daemon"), "loop"));
    assert_eq!(daemon.differing, ["read"]);
    let rows: Vec<_> = daemon.profiles.iter().map(|profile| (profile.variants[0].as_str(), profile.total)).collect();
    assert_eq!(rows, [("baseline", calls(408, 2)), (SHARED, calls(18, 2)), (MALLOC, calls(108, 2))]);
    let each = |row: usize| daemon.profiles[row].children.as_ref().map(|c| (c.processes, c.all, c.calls["read"]));
    assert_eq!([each(0), each(1), each(2)], [Some((4, 100.0, 100.0)), Some((4, 2.5, 2.5)), None]);
    let missing = gathered(&findings).missing;
    let [unseen] = missing.as_slice() else { panic!("{missing:?}") };
    assert_eq!((unseen.workload.as_deref(), unseen.service.as_deref()), (Some("loop"), Some("daemon")));
    assert_eq!((unseen.variants.as_slice(), unseen.why.as_str()), (&[LOCALE.to_owned()][..], "it was killed"));
}

/// What could not be had is said, once, and nothing is concluded from its absence.
#[test]
fn missing_evidence_is_told_and_not_taken_as_nothing() {
    let mut record = record(shared_is_slower);
    with_facts(&mut record);
    let why = "ptrace: are not permitted";
    for name in ["baseline", SHARED] {
        let missing = Evidence::Missing { workload: Some("loop".to_owned()), why: why.to_owned() };
        add(&mut record, name, missing);
    }
    let failure = Some(Failure::Exit { code: 1, stderr: vec![] });
    add(&mut record, MALLOC, Evidence::of_trial(Traced { failure, ..traced(&[("read", 3, 3)], &[]) }));
    let findings = judge(&record);
    let missing = gathered(&findings).missing;
    let [denied, failed] = missing.as_slice() else { panic!("{missing:?}") };
    assert_eq!(
        (denied.why.as_str(), denied.variants.len(), failed.variants.as_slice()),
        (why, 2, &[MALLOC.to_owned()][..])
    );
    assert!(gathered(&findings).traces.is_empty());
    // What was read of the files still tells; without them nothing is said.
    assert_eq!(kinds(&findings, SHARED), [CauseKind::OwnSlots]);
    record.features.retain(|line| line.fields::<EvidenceLine>().unwrap().variant != SHARED);
    assert_eq!(diagnosis(&judge(&record), SHARED), None);
}

/// What is counted over a trial says nothing of a phase, and nothing at all of memory.
#[test]
fn only_differences_in_time_are_diagnosed() {
    let mut record = record(|_| 1.0);
    record.study.decide.metrics = vec!["maxrss".to_owned()];
    for trial in &mut record.trials {
        let bytes = if trial.variant == SHARED { 2e7 } else { 1e7 };
        trial.measurements = [("maxrss".to_owned(), bytes)].into();
    }
    with_facts(&mut record);
    assert_eq!(gathered(&judge(&record)).diagnoses, []);
}
