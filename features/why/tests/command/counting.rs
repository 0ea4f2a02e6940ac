//! Counting, end to end: programs with planted causes, whose doses are known to the instruction, and programs that fork, load,
//! are stripped or are killed. Ranks, names and counts are compared, and no time: counts are the same on every machine.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::{Sandbox, each_trial_once, is_missing};
use bakeoff_why::counts::{CodeKind, Counted, CountsLine, FunctionCount};
use serde_json::Value;
use std::process::Stdio;

const DOSES: &str = r#"
format = 1
name = "doses"
[build_factors.dose]
none = { DOSE = "", WITH = "" }
slow = { DOSE = "-DSLOW=1300", WITH = "" }
calls = { DOSE = "-DCALLS=20000", WITH = "" }
start = { DOSE = "-DSTART=500000", WITH = "" }
relocations = { DOSE = "-DRELOCATIONS=20000", WITH = "" }
plt = { DOSE = "-Wl,-Bsymbolic", WITH = "" }
allocator = { DOSE = "-DROUNDS=2000", WITH = "allocator.c" }
same = { DOSE = '-DTEXT="_other"', WITH = "" }
cpuid = { DOSE = "-DCPUID=300", WITH = "" }
apart = { DOSE = "-DAPART", WITH = "" }
[[build]]
name = "p"
tools = ["cc"]
files = ["doses.c", "own.c", "allocator.c"]
script = '''
mkdir -p "$PREFIX/bin" "$PREFIX/lib"
options="-O2 -fcf-protection=none -Wl,-z,lazy"
link=-Wl,-Bsymbolic dose=$DOSE
# The library is the one that calls by its PLT.
[ "$DOSE" != -Wl,-Bsymbolic ] || link= dose=
cc $options -fPIC -shared $link -o "$PREFIX/lib/libown.so" own.c
cc $options -DUNIT=5000 $dose -pthread -fPIE -pie -fno-builtin -o "$PREFIX/bin/p" doses.c $WITH -L"$PREFIX/lib" -lown \
    -Wl,-rpath,'$ORIGIN/../lib'
'''
[workloads.work]
run = '"$PREFIX/bin/p" $LENGTH'
lengths = ["1", "3"]
[plan]
blocks = 3
layouts = "one"
variants = "one-at-a-time"
[decide]
baseline = { dose = "none" }
metrics = ["wall", "user"]
"#;
const COUNT: &str = "[evidence]\ncount = [\"work\"]\n";
/// Units of work at the longest length.
const UNITS: i64 = 3;

const WAYS: &str = r#"
format = 1
name = "ways"
[run_factors.way]
none = { WAY = "" }
fork = { WAY = "fork" }
exec = { WAY = "exec" }
threads = { WAY = "threads" }
strings = { WAY = "strings" }
load = { WAY = "load" }
user = { WAY = "user" }
[[build]]
name = "p"
tools = ["cc"]
files = ["ways.c", "own.c"]
script = '''
mkdir -p "$PREFIX/bin" "$PREFIX/lib"
cc -O2 -fcf-protection=none -fPIC -shared -o "$PREFIX/lib/libown.so" own.c
cc -O2 -fcf-protection=none -pthread -o "$PREFIX/bin/all ways" ways.c -ldl
'''
[workloads.work]
run = 'true | "$PREFIX/bin/all ways" $WAY "$PREFIX/lib/libown.so" | cat'
[plan]
blocks = 3
layouts = "one"
variants = "one-at-a-time"
[decide]
baseline = { way = "none" }
metrics = ["wall"]
"#;

/// How many instructions a shell may need more for process numbers that are longer by a digit.
const SHELL: i64 = 500;

/// Whether nothing can be counted here, which is said. Nothing is installed for these tests.
pub(super) fn cannot_count() -> bool {
    if !cfg!(target_arch = "x86_64") {
        println!("skipped: instructions are counted on x86-64 only");
        return true;
    }
    is_missing(&["valgrind", "cc"])
}

fn sandbox(study: &str) -> Sandbox {
    let sandbox = Sandbox::new(study);
    sandbox.write("doses.c", include_str!("planted/doses.c"));
    sandbox.write("own.c", include_str!("planted/own.c"));
    sandbox.write("allocator.c", include_str!("planted/allocator.c"));
    sandbox.write("ways.c", include_str!("planted/ways.c"));
    sandbox
}

/// What was counted of a variant at the longest length.
fn counted(sandbox: &Sandbox, variant: &str) -> Counted {
    let lines = CountsLine::of(&sandbox.record());
    let line = lines.iter().find(|line| line.variant == variant).unwrap_or_else(|| panic!("{variant} has no counts"));
    assert_eq!(line.missing, None, "{variant}");
    line.counted.last().unwrap().clone()
}

/// The function of that name, which is in one file only.
#[track_caller]
fn function<'c>(counted: &'c Counted, name: &str) -> &'c FunctionCount {
    let is_it = |one: &&FunctionCount| one.name == name && one.kind == CodeKind::Function;
    let all: Vec<&FunctionCount> = counted.functions.iter().filter(is_it).collect();
    assert_eq!(all.len(), 1, "{name}: {all:?}");
    all[0]
}

/// A loop of so many instructions, with those that a function has besides.
#[track_caller]
fn has_loop(counted: &Counted, name: &str, instructions: u64) {
    let found = function(counted, name).instructions;
    assert!((instructions..instructions + 16).contains(&found), "{name}: {found} and not {instructions}");
}

/// How many lines a journal has of each variant's counts.
fn lines_of(sandbox: &Sandbox) -> Vec<String> {
    let record = sandbox.record();
    let lines = record.features.iter().filter_map(|line| line.fields::<CountsLine>().ok());
    lines.map(|line| line.variant).collect()
}

/// The accounts of a study, also of variants that are not shown to differ.
struct Accounts(Vec<Value>);

impl Accounts {
    fn of(sandbox: &Sandbox) -> Self {
        let shown = sandbox.execute(&["report", "STUDY", "--json"]);
        assert_eq!(shown.code, 0, "{}", shown.err);
        let findings: Value = serde_json::from_str(&shown.out).unwrap();
        Self(findings["evidence"]["accounts"].as_array().unwrap().clone())
    }

    fn account(&self, dose: &str) -> &Value {
        let variant = format!("dose={dose}");
        self.0.iter().find(|account| account["variant"] == *variant).unwrap_or_else(|| panic!("{variant}"))
    }

    /// The row of a cause, by its place: the largest is number 0.
    fn row(&self, dose: &str, number: usize) -> &Value {
        &self.account(dose)["rows"][number]
    }

    #[track_caller]
    fn is_first(&self, dose: &str, kind: &str, name: &str) {
        let cause = &self.row(dose, 0)["cause"];
        let found = if kind == "function" { &cause[kind]["name"] } else { &cause[kind] };
        assert_eq!(found, name, "{dose}: {:#}", self.account(dose)["rows"]);
    }

    fn difference(&self, dose: &str) -> i64 {
        self.account(dose)["difference"].as_i64().unwrap()
    }
}

/// What the second number of a pair is more than the first.
fn more(pair: &Value) -> i64 {
    pair[1].as_i64().unwrap() - pair[0].as_i64().unwrap()
}

/// To one part in a hundred.
#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 0.01 * expected.abs(), "{found} and not {expected}");
}

#[test]
fn planted_causes_come_first_with_their_counts() {
    if cannot_count() {
        return;
    }
    let sandbox = sandbox(&format!("{DOSES}{COUNT}"));
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    let accounts = Accounts::of(&sandbox);
    // `explain` counted nothing again.
    let lines = lines_of(&sandbox);
    assert_eq!(lines.iter().collect::<std::collections::BTreeSet<_>>().len(), 10, "{lines:?}");
    assert_eq!(lines.len(), 10, "{lines:?}");
    sandbox.execute(&["explain", "STUDY", "dose=slow", "--quiet"]).expect(0, &["slow", "+100.0 %", "A second count "]);
    assert_eq!(lines_of(&sandbox), lines);

    functions_are_named(&accounts);
    mechanisms_are_named(&accounts);
    start_is_apart_from_work(&accounts);
    same_instructions_have_no_cause(&accounts);
}

fn functions_are_named(accounts: &Accounts) {
    accounts.is_first("slow", "function", "slow");
    let row = accounts.row("slow", 0);
    assert_eq!((more(&row["instructions"]), more(&row["calls"])), (600 * 1000 * UNITS, 0));
    assert_eq!(row["split"]["dearer_calls"], 600 * 1000 * UNITS);
    assert!((accounts.difference("slow") - 600 * 1000 * UNITS).abs() < SHELL);

    accounts.is_first("calls", "function", "tiny");
    let row = accounts.row("calls", 0);
    assert_eq!((more(&row["calls"]), row["split"]["dearer_calls"].as_i64()), (20_000 * UNITS, Some(0)));
    // The loop around it is in `main`.
    assert_eq!(accounts.row("calls", 1)["cause"]["function"]["name"], "main");
}

fn mechanisms_are_named(accounts: &Accounts) {
    accounts.is_first("plt", "mechanism", "own-stubs");
    let row = accounts.row("plt", 0);
    assert_eq!(more(&row["calls"]), 4 * 5000 * UNITS);
    near(more(&row["instructions"]) as f64, (4 * 5000 * UNITS) as f64);
    assert_eq!(row["parts"][0]["name"], "own_tiny");

    accounts.is_first("allocator", "mechanism", "allocator");
    assert_eq!(accounts.account("allocator")["allocators"], serde_json::json!(["libc", "program"]));
    let parts = accounts.row("allocator", 0)["parts"].as_array().unwrap();
    let own = parts.iter().find(|part| part["name"] == "malloc" && part["files"][1] == "$PREFIX/bin/p").unwrap();
    near(own["instructions"][1].as_f64().unwrap(), (4000 * 1000 * UNITS) as f64);

    accounts.is_first("relocations", "mechanism", "loader");
    assert!(accounts.difference("relocations") > 2 * 20_000);
}

fn start_is_apart_from_work(accounts: &Accounts) {
    let growth = |dose: &str| {
        let growth = &accounts.account(dose)["growth"];
        [growth["start"].as_f64().unwrap(), growth["per_unit"].as_f64().unwrap()]
    };
    let [start, per_unit] = growth("slow");
    assert!(start.abs() < SHELL as f64, "{start}");
    near(per_unit, 600_000.0);
    let [start, per_unit] = growth("start");
    assert!(per_unit.abs() < SHELL as f64, "{per_unit}");
    near(start, 1_000_000.0);
    let [start, per_unit] = growth("relocations");
    assert!(per_unit.abs() < SHELL as f64, "{per_unit}");
    near(start, accounts.difference("relocations") as f64);
}

fn same_instructions_have_no_cause(accounts: &Accounts) {
    for dose in ["same", "cpuid", "apart"] {
        let account = accounts.account(dose);
        assert_eq!((&account["is_nothing"], &account["rows"]), (&Value::Bool(true), &Value::Array(vec![])), "{dose}");
        let all = account["instructions"][0].as_f64().unwrap();
        assert!(accounts.difference(dose).abs() as f64 <= 1e-4 * all, "{dose}");
    }
    assert!(accounts.difference("same").abs() < SHELL && accounts.difference("apart").abs() < SHELL);
    assert!(accounts.difference("cpuid") > 0, "the loop around the instruction");
}

#[test]
fn a_kill_while_it_counts_loses_nothing() {
    if cannot_count() {
        return;
    }
    let study =
        DOSES.lines().filter(|line| !["plt", "same", "apart", "cpuid"].iter().any(|dose| line.starts_with(dose)));
    let study = study.collect::<Vec<_>>().join("\n");
    let sandbox = sandbox(&format!("{study}\n{COUNT}"));
    for counted in [1, 2, 4] {
        let mut child = sandbox.command(&["run", "STUDY", "--quiet"]);
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let so_far = || {
            let journals = sandbox.journals();
            let contents = journals.first().and_then(|path| bakeoff_journal::read(path).ok());
            contents.map_or(0, |contents| CountsLine::of(&contents.record).len())
        };
        while so_far() < counted && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    let doses = ["slow", "calls", "start", "relocations", "allocator"].map(|dose| format!("dose={dose}"));
    let all: Vec<String> = std::iter::once("baseline".to_owned()).chain(doses).collect();
    assert_eq!(lines_of(&sandbox), all);
    assert!(all.iter().all(|variant| counted(&sandbox, variant).again.is_some()));
    each_trial_once(&sandbox.record(), 7 * 3);
}

#[test]
fn children_threads_libraries_and_strings_are_counted() {
    if cannot_count() {
        return;
    }
    let sandbox = sandbox(&format!("{WAYS}{COUNT}"));
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    let of = |way: &str| counted(&sandbox, &format!("way={way}"));
    let program = |counted: &Counted, is_forked: bool| {
        let is_it =
            |one: &&bakeoff_why::counts::ProgramCount| one.path == "$PREFIX/bin/all ways" && one.is_forked == is_forked;
        counted.programs.iter().find(is_it).map_or((0, 0), |one| (one.processes, one.instructions))
    };
    let none = counted(&sandbox, "baseline");
    assert!(none.programs.iter().any(|one| one.path.ends_with("cat")), "the pipeline: {:?}", none.programs);
    assert_eq!((program(&none, false).0, program(&none, true).0), (1, 0));

    let fork = of("fork");
    has_loop(&fork, "before", 2_000_000);
    has_loop(&fork, "in_child", 1_000_000);
    let (processes, instructions) = program(&fork, true);
    assert!(processes == 1 && (1_000_000..1_100_000).contains(&instructions), "{:?}", fork.programs);

    let exec = of("exec");
    has_loop(&exec, "before_exec", 500_000);
    has_loop(&exec, "after_exec", 250_000);
    assert_eq!((program(&exec, true).0, program(&exec, false).0), (1, 2), "a call that fails starts nothing");

    let threads = of("threads");
    near(function(&threads, "contend").instructions as f64, 4.0 * 200.0 * 100_000.0);
    let (once, again) = (threads.instructions(), threads.again.unwrap());
    assert!(once.abs_diff(again) as f64 <= 1e-4 * once as f64, "{once} {again}");

    let strings = of("strings");
    assert_eq!(strings.repetitions - none.repetitions, 100_001, "each byte, and the look that finds none left");
    assert!(function(&strings, "fill").instructions < 16);
    near(function(&strings, "numbers").instructions as f64, 5.0 * 100_000.0);

    // Files of the folder are not for the user that it becomes.
    has_loop(&of("user"), "in_child", 1_000_000);

    let load = of("load");
    assert_eq!((function(&load, "own_calls").calls, function(&load, "own_tiny").calls), (2, 20_000));
}

/// A study of `doses.c`, linked and treated in one of several ways.
const FORMS: &str = r#"
format = 1
name = "forms"
[build_factors.form]
none = { LINK = "-fPIE -pie", AFTER = "true" }
stripped = { LINK = "-fPIE -pie", AFTER = "strip" }
sections = { LINK = "-fPIE -pie", AFTER = "./sections" }
fixed = { LINK = "-no-pie", AFTER = "true" }
static = { LINK = "-static", AFTER = "true" }
pie = { LINK = "-static-pie -fPIE", AFTER = "true" }
slots = { LINK = "-fPIE -pie -fno-plt -Wl,--no-relax", AFTER = "true" }
[[build]]
name = "p"
tools = ["cc", "strip", "true"]
files = ["doses.c", "own.c", "sections.c"]
script = '''
mkdir -p "$PREFIX/bin"
cc -o sections sections.c
cc -O2 -fcf-protection=none -DUNIT=500 -pthread $LINK -fno-builtin -o "$PREFIX/bin/p" doses.c own.c
$AFTER "$PREFIX/bin/p"
'''
[workloads.work]
run = '"$PREFIX/bin/p" 1'
[plan]
blocks = 3
layouts = "one"
variants = "one-at-a-time"
[decide]
baseline = { form = "none" }
metrics = ["wall"]
"#;
/// How many calls of a function have a known caller.
fn calls_of(counted: &Counted, name: &str) -> u64 {
    let place =
        counted.functions.iter().position(|one| one.name == name && one.kind == CodeKind::Function).unwrap() as u32;
    counted.edges.iter().filter(|edge| edge.1 == place).map(|edge| edge.2).sum()
}

#[test]
fn programs_of_every_form_are_counted() {
    if cannot_count() || is_missing(&["strip"]) {
        return;
    }
    let sandbox = sandbox(&format!("{FORMS}{COUNT}"));
    sandbox.write("sections.c", include_str!("planted/sections.c"));
    // A stripped program is the same to Bakeoff.
    sandbox.execute(&["run", "STUDY", "--quiet", "--anyway"]).expect(0, &[]);
    let none = counted(&sandbox, "baseline");
    let nameless = |counted: &Counted| {
        let is_it = |one: &&FunctionCount| one.kind == CodeKind::Nameless && one.file == "$PREFIX/bin/p";
        counted.functions.iter().filter(is_it).map(|one| one.instructions).sum::<u64>()
    };
    for form in ["fixed", "static", "pie"] {
        let counted = counted(&sandbox, &format!("form={form}"));
        has_loop(&counted, "work", 500 * 2002);
        assert_eq!(function(&counted, "work").calls, 500, "{form}");
    }
    // Rust calls its own functions by slots, too.
    let (direct, by_slots) = (calls_of(&none, "own_calls"), calls_of(&counted(&sandbox, "form=slots"), "own_calls"));
    assert!(direct > 0 && direct == by_slots, "{direct} {by_slots}");
    let own = none.functions.iter().filter(|one| one.file == "$PREFIX/bin/p");
    let own: u64 = own.map(|one| one.instructions).sum();
    for form in ["stripped", "sections"] {
        let counted = counted(&sandbox, &format!("form={form}"));
        assert!(counted.instructions().abs_diff(none.instructions()) < SHELL as u64, "{form}");
        assert!(nameless(&counted) as f64 > 0.99 * own as f64, "{form}: {:?}", counted.functions);
        assert_eq!(counted.repetitions, none.repetitions, "{form}");
    }
}

/// Another program at the same place: what is there in the end is not what was executed first.
const REPLACED: &str = r#"
format = 1
name = "replaced"
[run_factors.ways]
none = { HOW = "true" }
two = { HOW = 'cp "$PREFIX/bin/other" new; mv new one; ./one after' }
[[build]]
name = "p"
tools = ["cc"]
files = ["ways.c"]
script = '''
mkdir -p "$PREFIX/bin"
cc -O2 -fcf-protection=none -pthread -o "$PREFIX/bin/p" ways.c
cc -O0 -fcf-protection=none -pthread -o "$PREFIX/bin/other" ways.c
'''
[workloads.work]
run = 'cp "$PREFIX/bin/p" one; ./one after; eval "$HOW"'
[plan]
blocks = 3
layouts = "one"
variants = "one-at-a-time"
[decide]
baseline = { ways = "none" }
metrics = ["wall"]
"#;

#[test]
fn a_program_that_was_replaced_is_not_taken_for_the_other() {
    if cannot_count() {
        return;
    }
    let sandbox = sandbox(&format!("{REPLACED}{COUNT}"));
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    has_loop(&counted(&sandbox, "baseline"), "after_exec", 250_000);
    let two = counted(&sandbox, "ways=two");
    has_loop(&two, "after_exec", 250_000);
    let nameless = two.functions.iter().filter(|one| one.kind == CodeKind::Nameless && one.file.ends_with("/one"));
    assert!(nameless.map(|one| one.instructions).sum::<u64>() >= 250_000, "{:?}", two.functions);
}

const HURT: &str = r#"
format = 1
name = "hurt"
[run_factors.way]
none = { WAY = "true", VALGRIND_OPTS = "--leak-check=full" }
fails = { WAY = "exit 9", VALGRIND_OPTS = "" }
killed = { WAY = "kill -9 $$", VALGRIND_OPTS = "" }
child = { WAY = '"$PREFIX/bin/p" killed', VALGRIND_OPTS = "" }
[[build]]
name = "p"
tools = ["cc"]
files = ["ways.c"]
script = 'mkdir -p "$PREFIX/bin"; cc -O2 -pthread -o "$PREFIX/bin/p" ways.c'
[workloads.work]
run = 'test -z "$VALGRIND_LIB" || eval "$WAY"'
[plan]
blocks = 3
layouts = "one"
variants = "one-at-a-time"
[decide]
baseline = { way = "none" }
metrics = ["wall"]
"#;

#[test]
fn what_cannot_be_counted_is_reported_with_its_reason() {
    if cannot_count() {
        return;
    }
    let sandbox = sandbox(&format!("{HURT}{COUNT}"));
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    each_trial_once(&sandbox.record(), 5 * 3);
    // Options for other tools are left alone.
    assert!(counted(&sandbox, "baseline").instructions() > 0);
    let lines = CountsLine::of(&sandbox.record());
    let why = |way: &str| {
        let line = lines.iter().find(|line| line.variant == format!("way={way}")).unwrap();
        assert_eq!(line.counted, [], "{way}");
        line.missing.clone().unwrap_or_else(|| panic!("{way} was counted"))
    };
    assert!(why("fails").contains("code 9"), "{}", why("fails"));
    assert!(why("killed").contains("KILL"), "{}", why("killed"));
    assert!(why("child").contains(" processes were killed before they wrote their counts"), "{}", why("child"));
    let shown = sandbox.execute(&["explain", "STUDY", "way=fails", "--quiet"]);
    shown.expect(0, &["exited with code 9"]);
}
