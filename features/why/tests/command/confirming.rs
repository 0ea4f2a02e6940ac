//! `explain --confirm`, end to end: a library that calls its own functions through the PLT, and one that could be told not to.
//! What the trials show depends on the machine; what is run, counted and said does not.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use super::why_counting::cannot_count;
use crate::common::{SMALL, Sandbox};
use bakeoff_why::counts::{CodeKind, CountsLine};

const STUDY: &str = r#"
format = 1
name = "own"
[build_factors.library]
static = { HOW = "-static" }
shared = { HOW = "-shared" }
[[build]]
name = "p"
tools = ["cc"]
files = ["own.c", "main.c"]
script = '''
mkdir -p "$PREFIX/bin" "$PREFIX/lib"
if [ $HOW = -static ]; then
    cc -O2 -fcf-protection=none -o "$PREFIX/bin/p" main.c own.c
else
    # Longer code, too: or the library would isolate the stubs itself.
    cc -O0 -fcf-protection=none -fPIC -shared -Wl,-z,lazy -o "$PREFIX/lib/libown.so" own.c
    cc -O2 -o "$PREFIX/bin/p" main.c -L"$PREFIX/lib" -lown -Wl,-rpath,"$PREFIX/lib"
fi
'''
[workloads.work]
run = '"$PREFIX/bin/p"'
[plan]
blocks = 3
layouts = "one"
[decide]
baseline = { library = "static" }
metrics = ["wall"]
"#;
const OWN: &str = "
__attribute__((noinline)) unsigned tiny(unsigned a) { return a * 31 + 7; }
unsigned work(unsigned n) { unsigned s = 1; for (unsigned i = 0; i < n; i++) s = tiny(s) ^ tiny(i); return s; }
";
const MAIN: &str = "unsigned work(unsigned n); int main(void) { return work(100000) == 1; }\n";

#[test]
fn a_level_is_run_that_isolates_the_first_cause() {
    if cannot_count() {
        return;
    }
    let sandbox = Sandbox::new(STUDY);
    sandbox.write("own.c", OWN);
    sandbox.write("main.c", MAIN);
    let plain = sandbox.execute(&["explain", "STUDY", "library=shared", "--quiet"]);
    let words = plain.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let hint = "To show or refute PLT stubs to own functions, add --confirm: it runs library=shared with and without -Wl,-Bsymbolic.";
    assert!(plain.code == 0 && words.contains(hint), "{}{}", plain.out, plain.err);
    let shown = sandbox.execute(&["explain", "STUDY", "library=shared", "--confirm"]);
    shown.expect(0, &["to confirm, library=shared with and without -Wl,-Bsymbolic: 12 trials follow"]);

    // The confirmation has a journal of its own: the baseline, the variant without the level, and with it.
    let journals = sandbox.journals();
    let is_its = |path: &&std::path::PathBuf| path.to_string_lossy().contains("/confirm-");
    let journal = journals.iter().find(is_its).unwrap_or_else(|| panic!("{journals:?}"));
    let record = bakeoff_journal::read(journal).unwrap().record;
    assert_eq!(record.study.plan, "confirm");
    let stubs = |variant: &str| {
        let lines = CountsLine::of(&record);
        let line = lines.iter().find(|line| line.variant == variant).unwrap_or_else(|| panic!("{variant}"));
        let functions = line.counted.last().unwrap().functions.iter();
        functions.filter(|one| one.kind == CodeKind::OwnStub && one.name == "tiny").map(|one| one.calls).sum::<u64>()
    };
    let all = ["baseline", "library=shared", "library=shared confirm=bsymbolic"];
    assert_eq!(all.map(stubs), [0, 200_000, 0]);

    // Nothing is run twice.
    let before = std::fs::read(journal).unwrap();
    sandbox.execute(&["explain", "STUDY", "library=shared", "--confirm", "--quiet"]).expect(0, &[]);
    assert_eq!(std::fs::read(journal).unwrap(), before);
}

#[test]
fn a_journal_runs_nothing_and_a_factor_of_that_name_is_refused() {
    if cannot_count() {
        return;
    }
    let sandbox = Sandbox::new(&STUDY.replace("library", "confirm"));
    sandbox.write("own.c", OWN);
    sandbox.write("main.c", MAIN);
    let refused = sandbox.execute(&["explain", "STUDY", "confirm=shared", "--confirm", "--quiet"]);
    refused.expect(2, &["error: the study already has a factor `confirm`", "hint: rename it"]);
    let journal = sandbox.journal().display().to_string();
    sandbox.execute(&["explain", &journal, "confirm=shared", "--confirm"]).expect(
        2,
        &["error: --confirm runs trials, so it needs a study, not a journal", "hint: name the study instead"],
    );
}

#[test]
fn a_journal_without_counts_says_that_and_knows_its_variants() {
    let sandbox = Sandbox::new(&SMALL.replace("expect = \"hello.out\"\n", ""));
    let run = ["run", "STUDY", "--quiet", "--blocks", "12", "--simulate", "echo=twice:1.5,noise:0.003"];
    sandbox.execute(&run).expect(0, &["slower"]);
    let journal = sandbox.journal().display().to_string();
    sandbox.execute(&["explain", &journal]).expect(0, &["no counts of these variants", "name the study"]);
    sandbox.execute(&["explain", &journal, "echo=thrice"]).expect(2, &["no variant `echo=thrice`", "echo=twice"]);
}
