//! Diagnoses: which causes a difference has, and which pairs of variants isolate them. Records are built by hand, with numbers
//! as a Perl with and without a shared library has them.

use crate::Why;
use crate::account::result::{KernelWork, Mechanism};
use crate::census::{Report, Spent, SyscallSums, Times};
use crate::counts::{self, CodeKind, Counted, CountsLine, FunctionCount};
use crate::evidence::{Evidence, EvidenceLine, Traced};
use crate::facts::{Content, ElfFacts, FileFacts, Linking, RelocationTable, Relocations, Slots};
use crate::findings::{Diagnosis, Gathered, Standing, Unseen, What};
use crate::kernel::{self, KernelLine};
use bakeoff_command::Registry;
use bakeoff_host::tracer::{Calls, Census, Children, Mapped, Opened};
use bakeoff_judge::findings::{EffectKind, Findings, Verdict};
use bakeoff_model::record::{Failure, FeatureLine, Line, Record, TWIN, VariantLine};
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

fn function(name: &str, file: &str, instructions: u64) -> FunctionCount {
    FunctionCount {
        name: name.to_owned(),
        file: file.to_owned(),
        calls: 1000,
        instructions,
        ..FunctionCount::default()
    }
}

/// Counts of a variant on the workload: code, stubs that lead to the same file, an allocator.
fn count(record: &mut Record, variant: &str, code: u64, stubs: u64, allocator: u64) {
    let of_program = "$PREFIX/bin/perl";
    let functions = vec![
        function("Perl_pp_mapwhile", of_program, code),
        FunctionCount { kind: CodeKind::OwnStub, ..function("Perl_sv_clear", of_program, stubs) },
        function("_int_malloc", "/lib/x86_64-linux-gnu/libc.so.6", allocator),
    ];
    let counted = vec![Counted { workload: "loop".to_owned(), functions, ..Counted::default() }];
    let (variant, workload) = (variant.to_owned(), "loop".to_owned());
    let line = CountsLine { session: 1, variant, workload, counted, ..CountsLine::default() };
    record.push(Line::Feature(FeatureLine::new(counts::LINE, &line).unwrap()));
}

/// Another library also makes the code longer; malloc changes nothing but itself.
fn with_counts(record: &mut Record) {
    for (name, code, stubs, allocator) in [
        ("baseline", 1_000_000, 0, 200_000),
        (SHARED, 1_050_000, 40_000, 200_000),
        (SYMBOLIC, 1_050_000, 0, 200_000),
        (MALLOC, 1_000_000, 0, 20_000),
    ] {
        count(record, name, code, stubs, allocator);
    }
}

/// Causes with their shares in tenths of a percent.
fn causes(findings: &Findings, variant: &str) -> Vec<(What, Option<i64>, Standing)> {
    let causes = diagnosis(findings, variant).expect("a diagnosis").causes;
    causes.into_iter().map(|cause| (cause.what, cause.permille, cause.standing)).collect()
}

fn longer() -> What {
    What::Function("Perl_pp_mapwhile".to_owned())
}

#[test]
fn causes_are_ranked_and_a_pair_isolates_one() {
    let mut record = record(shared_is_slower);
    with_counts(&mut record);
    let findings = judge(&record);
    let stubs = What::Mechanism(Mechanism::OwnStubs);
    let expected = [(longer(), Some(556), Standing::Consistent), (stubs.clone(), Some(444), Standing::Shown)];
    assert_eq!(causes(&findings, SHARED), expected);
    let found = diagnosis(&findings, SHARED).expect("a diagnosis");
    assert_eq!(found.claim.map(|claim| claim.comparison.verdict), Some(Verdict::Slower));
    let [pair] = found.causes[1].isolated.as_slice() else { panic!("{:?}", found.causes) };
    assert_eq!((pair.variant.as_str(), pair.against.as_str(), pair.permille), (SYMBOLIC, SHARED, 1000));
    assert_eq!(pair.claim.comparison.verdict, Verdict::Faster);
    let [low, high] = pair.claim.comparison.interval().expect("an interval");
    assert!(low < 1.0 / 1.1 && 1.0 / 1.1 < high && high < 1.0, "{low} {high}");
}

/// A factor that changes the allocator and nothing else isolates it.
#[test]
fn a_pair_that_differs_in_one_cause_alone_isolates_it_itself() {
    let mut record = record(shared_is_slower);
    with_counts(&mut record);
    let allocator = What::Mechanism(Mechanism::Allocator);
    assert_eq!(causes(&judge(&record), MALLOC), [(allocator, Some(1000), Standing::Shown)]);
}

/// The allocator is isolated by `malloc`, which says nothing of what the library does to it.
#[test]
fn another_factor_shows_nothing() {
    let mut record = record(shared_is_slower);
    with_counts(&mut record);
    count(&mut record, SHARED, 1_050_000, 0, 290_000);
    count(&mut record, SYMBOLIC, 1_050_000, 0, 290_000);
    let expected = [
        (What::Mechanism(Mechanism::Allocator), Some(643), Standing::Consistent),
        (longer(), Some(357), Standing::Consistent),
    ];
    assert_eq!(causes(&judge(&record), SHARED), expected);
}

/// Without the stubs it is just as slow: whatever it is, it is not they.
#[test]
fn what_an_isolating_pair_does_not_confirm_is_withdrawn() {
    let mut record = record(|name| if [SHARED, SYMBOLIC].contains(&name) { 1.1 } else { 1.0 });
    with_counts(&mut record);
    let stubs = What::Mechanism(Mechanism::OwnStubs);
    let expected = [(longer(), Some(556), Standing::Consistent), (stubs, Some(444), Standing::Withdrawn)];
    assert_eq!(causes(&judge(&record), SHARED), expected);
}

#[test]
fn what_works_against_a_difference_is_no_cause_of_it() {
    let mut record = record(shared_is_slower);
    count(&mut record, "baseline", 1_000_000, 0, 200_000);
    count(&mut record, SHARED, 1_200_000, 0, 100_000);
    assert_eq!(causes(&judge(&record), SHARED), [(longer(), Some(2000), Standing::Consistent)]);
}

/// Counts are explained where no difference was decided, too; and where they agree, there is no cause.
#[test]
fn what_was_not_decided_has_causes_without_a_claim() {
    let mut record = record(|_| 1.0);
    with_counts(&mut record);
    let findings = judge(&record);
    let found = diagnosis(&findings, SHARED).expect("a diagnosis");
    assert_eq!((found.claim.is_some(), found.causes.len()), (false, 2));
    // Equally fast with and without them.
    assert_eq!(found.causes[1].standing, Standing::Withdrawn);
    count(&mut record, LOCALE, 1_000_000, 0, 200_000);
    assert_eq!(causes(&judge(&record), LOCALE), []);
}

#[test]
fn a_decided_difference_with_the_same_instructions_is_unexplained() {
    let mut record = record(|name| if name == LOCALE { 1.1 } else { 1.0 });
    count(&mut record, "baseline", 1_000_000, 0, 200_000);
    count(&mut record, LOCALE, 1_000_000, 0, 200_000);
    assert_eq!(causes(&judge(&record), LOCALE), [(What::Speed, None, Standing::Unexplained)]);
}

/// Nearly the same instructions, and ten thousand calls: the kernel's work comes first.
#[test]
fn the_work_of_the_kernel_is_a_cause() {
    let mut record = record(|name| if name == LOCALE { 1.1 } else { 1.0 });
    count(&mut record, "baseline", 1_000_000, 0, 200_000);
    count(&mut record, LOCALE, 1_000_100, 0, 200_000);
    for (name, calls) in [("baseline", 10), (LOCALE, 10_010)] {
        let spent = Spent { time_s: calls as f64 * 1e-5, blocked_s: 0.0, times_blocked: 0 };
        let syscalls = [("newfstatat".to_owned(), SyscallSums { count: calls, spent })].into();
        let times = Times { on_cpu_s: 1.0, lifetime_s: 1.0, ..Times::default() };
        let report = Some(Report { tasks: 1, syscalls, times, ..Report::default() });
        let (variant, workload) = (name.to_owned(), "loop".to_owned());
        let line = KernelLine { session: 1, variant, workload, report, ..KernelLine::default() };
        record.push(Line::Feature(FeatureLine::new(kernel::LINE, &line).unwrap()));
    }
    let found = diagnosis(&judge(&record), LOCALE).expect("a diagnosis");
    let [cause] = found.causes.as_slice() else { panic!("{:?}", found.causes) };
    assert_eq!(cause.what, What::Kernel(KernelWork::Call("newfstatat".to_owned())));
    assert_eq!((cause.counts, cause.permille, cause.standing), (Some([10, 10_010]), None, Standing::Consistent));
    assert!(cause.time.is_some_and(|time| (time.estimate_s - 0.1).abs() < 1e-9), "{cause:?}");
}

#[test]
fn what_of_the_kernels_work_is_missing_has_its_reason() {
    let mut record = record(|_| 1.0);
    for name in ["baseline", LOCALE] {
        let (variant, workload) = (name.to_owned(), "loop".to_owned());
        let (report, tracer) = (Some(Report::default()), Some("no bpf(2)".to_owned()));
        let services_unseen = [("daemon".to_owned(), "it was killed".to_owned())].into();
        let line = KernelLine { variant, workload, report, tracer, services_unseen, ..KernelLine::default() };
        record.push(Line::Feature(FeatureLine::new(kernel::LINE, &line).unwrap()));
    }
    let missing = gathered(&judge(&record)).missing;
    let told: Vec<_> = missing.iter().map(|one| (one.what, one.service.as_deref(), one.why.as_str())).collect();
    assert_eq!(told, [(Unseen::KernelTimes, None, "no bpf(2)"), (Unseen::Kernel, Some("daemon"), "it was killed")]);
    assert!(missing.iter().all(|one| one.variants == ["baseline", LOCALE]));
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
}
