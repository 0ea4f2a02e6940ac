//! Layouts as users see them: programs that are linked again for each pass, and what pages and the
//! journal say of it.

use crate::common::{Sandbox, Shown, each_trial_once};
use bakeoff_model::record::RELAID;
use std::collections::BTreeSet;
use std::process::Stdio;

const STUDY: &str = r#"
format = 1
name = "laid"
[build_factors.loop]
short = { N = "3000000" }
long = { N = "9000000" }
[[build]]
name = "p"
files = ["main.c", "step.c"]
script = 'cc -O1 -DN=$N -c main.c; cc -O1 -c step.c; cc -o p main.o step.o; install -D p "$PREFIX/bin/p"; mkdir "$PREFIX/share"; echo "$PREFIX" > "$PREFIX/share/place"'
[workloads.w]
run = '$PREFIX/bin/p'
output = "varies"
[plan]
blocks = 6
seed = 3
[decide]
baseline = { loop = "short" }
metrics = ["user"]
"#;

const MAIN: &str = "#include <stdio.h>\nint step(int); int main(void) { int s = 0; for (int i = 0; i < N; i++) s += step(i); printf(\"%d\\n\", s); return 0; }\n";

fn sandbox(study: &str) -> Sandbox {
    let sandbox = Sandbox::new(study);
    sandbox.write("main.c", MAIN);
    sandbox.write("step.c", "int step(int x) { return x * 3 + 1; }\n");
    sandbox
}

#[test]
fn a_claim_is_about_programs_where_each_pass_has_its_own_layouts() {
    let sandbox = sandbox(STUDY);
    sandbox.execute(&["plan", "STUDY"]).expect(0, &["Linked again for each of 6 passes, if the links"]);
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    let record = sandbox.record();
    let mut drawn = BTreeSet::new();
    for block in &record.blocks {
        assert_eq!(block.linked["baseline"], block.linked["twin"], "the twin shows the machine's noise alone");
        drawn.insert(&block.linked["baseline"]);
        drawn.insert(&block.linked[RELAID]);
        assert_eq!(block.linked.len(), 4);
    }
    assert_eq!(drawn.len(), 12);
    let words =
        ["linked again in a random layout, the same for all variants", "programs in typical layouts", "6 layouts"];
    let report = sandbox.execute(&["report", "STUDY", "--all"]);
    report.expect(0, &words).expect(0, &["layouts alone spread"]);
    assert!(!report.out.contains(RELAID), "{}", report.out);
    let planned = sandbox.execute(&["plan", "STUDY"]);
    planned.expect(0, &["Linked again for each of 6 passes, at random: 3 links in each"]);
    let one = sandbox.execute(&["run", "STUDY", "--quiet", "--layouts", "one"]);
    one.expect(0, &["starting a new journal"]);
    let records = sandbox.journals().into_iter().map(|path| bakeoff_journal::read(&path).unwrap().record);
    let as_built = records.into_iter().find(|record| record.study.vary.is_empty()).unwrap();
    assert!(as_built.blocks.iter().all(|block| block.layout.is_none() && block.order.len() == 3));
    sandbox.execute(&["report", "STUDY", "--all"]).expect(0, &["one build is one sample of memory layout"]);
    let left = std::fs::read_dir(sandbox.study().with_file_name("cache").join("aside")).unwrap().count();
    assert_eq!(left, 0, "no layout stays");
}

#[test]
fn a_study_without_links_is_measured_as_built_and_says_so_if_it_was_asked() {
    let script = STUDY.replace("cc -o p main.o step.o;", "echo \"exit 0 # $N\" > p;");
    let sandbox = sandbox(&script);
    let refused = sandbox.execute(&["run", "STUDY", "--quiet", "--layouts", "fresh"]);
    refused.expect(2, &["not every build has a program whose link can be repeated", "the logs of the builds show why"]);
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    assert!(sandbox.record().blocks.iter().all(|block| block.layout.is_none()));
    let planned = sandbox.execute(&["plan", "STUDY"]);
    planned.expect(0, &["Measured as built: not all builds have a link", "18 trials in all"]);
    assert!(!planned.out.contains("Varied"), "{}", planned.out);
}

#[test]
fn a_program_that_keeps_its_layout_is_named() {
    let changed = "cc -DN=2 -o other main.c step.c; objcopy --add-section .extra=main.c --set-section-flags \
                   .extra=alloc,readonly,data other \"$PREFIX/bin/other\"; mkdir \"$PREFIX/share\"";
    let sandbox = sandbox(&STUDY.replace("mkdir \"$PREFIX/share\"", changed));
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    let report = sandbox.execute(&["report", "STUDY", "--all"]);
    report.expect(0, &["bin/other kept one layout in all passes", "changed the file after the link"]);
}

/// The code that gcc makes in the link is linked again: as a whole, and so without a match.
#[test]
fn programs_with_link_time_optimisation_have_layouts_that_do_not_match() {
    let sandbox = sandbox(&STUDY.replace("cc ", "cc -flto "));
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    let record = sandbox.record();
    let drawn: BTreeSet<&String> = record.blocks.iter().map(|block| &block.linked["baseline"]).collect();
    assert_eq!(drawn.len(), 6);
    let trials = record.trials.iter().filter(|trial| trial.block > 0);
    assert!(trials.clone().all(|trial| trial.outcome == bakeoff_model::record::Outcome::Ok), "all of them run");
    let report = sandbox.execute(&["report", "STUDY", "--all"]);
    report.expect(0, &["linked again in random layouts that do not", "averaged over 6"]);
}

#[test]
fn few_layouts_are_linked_once_and_count_once() {
    let sandbox = sandbox(&STUDY.replace("blocks = 6", "blocks = 6\nlayouts = 3"));
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    let record = sandbox.record();
    let linked = |block: u32| &record.blocks.iter().find(|one| one.block == block).unwrap().linked;
    assert_eq!((linked(1), linked(2), linked(3)), (linked(4), linked(5), linked(6)));
    assert_eq!((1..=6).map(linked).collect::<BTreeSet<_>>().len(), 3);
    let json = sandbox.execute(&["report", "STUDY", "--json"]).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["tables"][0]["rows"][1]["comparison"]["blocks"], 3);
    let report = sandbox.execute(&["report", "STUDY", "--all"]);
    report.expect(0, &["averaged over 3 layouts, which count once each"]);
    sandbox.execute(&["plan", "STUDY"]).expect(0, &["Linked again for each of 3 layouts, at random: 3 links in each"]);
    let refused = |arguments: &[&str], words: &[&str]| {
        sandbox.execute(&[&["run", "STUDY"], arguments].concat()).expect(2, words);
    };
    refused(&["--blocks", "7"], &["7 blocks cannot give 3 layouts the same number of passes", "use --blocks 6 or 9"]);
    refused(&["--until", "decided"], &["`decided` cannot judge a fixed number of layouts", "--layouts fresh"]);
    refused(&["--layouts", "2"], &["use at least 3 layouts, or `one`"]);
}

#[test]
fn files_as_built_race_beside_programs_where_both_are_asked_for() {
    let sandbox = sandbox(STUDY);
    sandbox.execute(&["run", "STUDY", "--quiet", "--layouts", "both"]).expect(0, &[]);
    let record = sandbox.record();
    for block in &record.blocks {
        let is_as_built = block.condition.ends_with("-as-built");
        assert_eq!((block.layout.is_none(), block.linked.is_empty()), (is_as_built, is_as_built));
        assert_eq!(block.order.len(), if is_as_built { 3 } else { 4 });
    }
    assert_eq!(record.blocks.len(), 12);
    let report = sandbox.execute(&["report", "STUDY", "--all"]);
    report.expect(0, &["the claims are about the programs in typical layouts, averaged over 6 layouts"]);
    report.expect(0, &["-as-built, they are about these files"]);
}

/// An object begins at the same address although the linker drops functions of one in front of it, and a path that the
/// build changed after the link is changed in layouts.
#[test]
fn what_the_linker_drops_and_what_is_changed_later_is_heeded() {
    let run = r#"nm "$PREFIX/bin/p" | sed -n "s/ T step//p" >> places; strings "$PREFIX/bin/p" | grep -q /lib/x"#;
    let study = STUDY
        .replace("cc -O1", "cc -O1 -ffunction-sections")
        .replace("-c main.c", "-c $MORE main.c")
        .replace("short = {", "short = { MORE = \"\",")
        .replace("long = {", "long = { MORE = \"-DMORE\",")
        .replace("main.o step.o;", "main.o step.o -Wl,--gc-sections,-rpath,/built; sed -i 's|/built|/lib/x|' p;")
        .replace("script = 'cc", "script = '''cc")
        .replace("share/place\"'", "share/place\"'''")
        .replace("$PREFIX/bin/p'\noutput", &format!("{run}'\noutput"));
    let sandbox = sandbox(&study);
    sandbox.write("main.c", &format!("{MAIN}#ifdef MORE\nint nobody(int x) {{ return x * x + N; }}\n#endif\n"));
    sandbox.execute(&["run", "STUDY", "--quiet", "--layouts", "fresh"]).expect(0, &[]);
    let places = std::fs::read_to_string(sandbox.study().join("places")).unwrap();
    let mut times = std::collections::BTreeMap::new();
    places.lines().for_each(|place| *times.entry(place).or_insert(0) += 1);
    let matched = times.values().filter(|&&times| times >= 3).count();
    assert_eq!(matched, 6, "{places}");
}

/// Between a relink and its trial, and within a block: what is linked again for the same pass is the same.
#[test]
fn killed_in_between_it_goes_on_in_the_same_layouts() {
    let sandbox = sandbox(STUDY);
    let aside = sandbox.study().with_file_name("cache").join("aside");
    let is_linking = || std::fs::read_dir(&aside).is_ok_and(|mut names| names.next().is_some());
    for trials in [0, 2, 5, 9] {
        let mut child = sandbox.command(&["run", "STUDY", "--quiet"]).stdout(Stdio::null()).spawn().unwrap();
        while (sandbox.trials_so_far() < trials || !is_linking()) && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    let record = sandbox.record();
    each_trial_once(&record, 24);
    let linked = |pass: u32| record.blocks.iter().filter(move |block| block.block == pass).map(|block| &block.linked);
    for pass in 1..=6 {
        assert_eq!(linked(pass).collect::<BTreeSet<_>>().len(), 1, "pass {pass}");
    }
}

/// What two programs that Bakeoff did not build say, with these texts in place of others in the second one.
fn two_programs(sandbox: &Sandbox, from: &str, to: &str) {
    for (folder, text) in [("old", MAIN.to_owned()), ("new", MAIN.replace(from, to))] {
        std::fs::create_dir_all(sandbox.study().join(folder)).unwrap();
        sandbox.write(&format!("{folder}/main.c"), &text);
        let (main, program) = (format!("{folder}/main.c"), format!("{folder}/prog"));
        let words = ["-O2", "-DN=1000", &main, "step.c", "-o", &program];
        let ended = std::process::Command::new("gcc").args(words).current_dir(sandbox.study()).status();
        assert!(ended.is_ok_and(|status| status.success()));
    }
}

#[test]
fn two_files_with_the_same_code_are_not_raced() {
    let sandbox = sandbox("");
    let compare = |commands: [&str; 2], words: &[&str]| {
        let cwd = sandbox.study().display().to_string();
        sandbox.execute(&[&["compare", "--cwd", &cwd, "--blocks", "1"][..], &commands, words].concat())
    };
    let both = ["./old/prog x", "./new/prog x"];
    two_programs(&sandbox, "int step", "int nobody(int x) { return x * 5; }\nint step");
    let headline = "both commands run the same program; only addresses differ, so there is nothing to measure";
    compare(both, &[])
        .expect(0, &[headline, "equal in ./old/prog and ./new/prog, and nothing refers", "--layouts one"]);
    compare(both, &["--json"]).expect(0, &["\"same_in\": \"code\""]);
    for (commands, words) in [
        (both, &["--layouts", "one"][..]),
        (both, &["--anyway"]),
        (["./old/prog x", "./new/prog y"], &[]),
        (both, &["--save", "it"]),
    ] {
        let shown = compare(commands, words);
        assert!(shown.code == 0 && !shown.out.contains("same program"), "{words:?}: {shown:?}");
    }
    two_programs(&sandbox, "s += step", "s -= step");
    compare(both, &[]).expect(0, &["note: these functions or data differ: main ("]);
}

/// A folder of Go with another linker: one of a version that cannot draw layouts.
const OLD_GO: &str = r#"
root=$(go env GOROOT); tools=pkg/tool/$(go env GOOS)_$(go env GOARCH); mkdir -p old/bin "old/$tools"
for one in "$root"/*; do case ${one##*/} in bin|pkg) ;; *) ln -s "$one" old;; esac; done
for one in "$root"/pkg/*; do case ${one##*/} in tool) ;; *) ln -s "$one" old/pkg;; esac; done
for one in "$root/$tools"/*; do case ${one##*/} in link) ;; *) ln -s "$one" "old/$tools";; esac; done
printf '#!/bin/sh\ncase "$*" in *-randlayout*) echo flag provided but not defined >&2; exit 2;; esac\nexec "%s" "$@"\n' "$root/$tools/link" > "old/$tools/link"
printf '#!/bin/sh\nGOROOT=%s exec "%s" "$@"\n' "$PWD/old" "$root/bin/go" > old/bin/go
chmod +x old/bin/go "old/$tools/link"
"#;

#[test]
fn a_linker_of_go_that_draws_no_layouts_is_a_reason() {
    if crate::common::is_missing(&["go"]) {
        return;
    }
    let script = r#"script = 'export GOCACHE=$PWD/cache; go build -ldflags="-X main.n=$N" -o "$PREFIX/bin/p" .'"#;
    let build = STUDY.lines().find(|line| line.starts_with("script")).unwrap();
    let study = STUDY.replace(build, script).replace(r#"["main.c", "step.c"]"#, r#"["main.go", "go.mod"]"#);
    let sandbox = Sandbox::new(&study);
    sandbox.write("main.go", "package main\nvar n string\nfunc main() { println(n) }\n");
    sandbox.write("go.mod", "module example.org/p\n\ngo 1.18\n");
    let made = std::process::Command::new("sh").args(["-ec", OLD_GO]).current_dir(sandbox.path()).status();
    assert!(made.is_ok_and(|status| status.success()));
    // The linker that it starts must not be among those that Bakeoff finds.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let others = std::env::split_paths(&path).filter(|folder| !folder.join("go").exists());
    let path = std::env::join_paths(std::iter::once(sandbox.path().join("old/bin")).chain(others)).unwrap();
    let execute = |words: &[&str]| Shown::of(&sandbox.command(words).env("PATH", &path).output().unwrap());
    let refused = execute(&["run", "STUDY", "--quiet", "--layouts", "fresh"]);
    refused.expect(2, &["not every build has a program whose link can be repeated"]);
    execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    execute(&["report", "STUDY", "--provenance"]).expect(0, &["does not know -randlayout"]);
}
