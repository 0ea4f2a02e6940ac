//! Builds that are not what they are called, by the real compiler: a script that ignores its flags, two variants that
//! are the same program, and a setting that changes behind one's back. What is judged of them is in the `analysis`
//! crate's tests.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::Sandbox;

/// A study of one program, `p.c`, that is built by this script; with these factors.
fn study(factors: &str, baseline: &str, layer: &str) -> Sandbox {
    let sandbox = Sandbox::new(&format!(
        "format = 1\nname = \"doubtful\"\n{factors}\n[[build]]\nname = \"p\"\n{layer}\n\
         [workloads.w]\nrun = '\"$PREFIX/bin/p\"'\noutput = \"varies\"\n[plan]\nblocks = 3\n[decide]\nbaseline = {{ {baseline} }}\n"
    ));
    sandbox.write("p.c", "#include <stdio.h>\nint main(void) { puts(PREFIX); return 0; }\n");
    sandbox
}

/// Compiles with debugging information, which knows the work folder, into a program that knows its prefix.
fn compile(flags: &str) -> String {
    format!("mkdir -p \"$PREFIX/bin\"; cc {flags} -g -DPREFIX=\"\\\"$PREFIX\\\"\" -o \"$PREFIX/bin/p\" p.c")
}

const OPTIMIZE: &str = "[build_factors.optimize]\nO2 = { CFLAGS = \"-O2\" }\nO3 = { CFLAGS = \"-O3\" }";

/// What is printed with all line breaks of paragraphs taken out.
fn unwrapped(text: &str) -> String {
    text.replace("\n  ", " ")
}

/// Both variants are compiled in folders of their own, from the same code to the same program; the report says so too.
#[test]
fn two_identical_binaries_are_recognised() {
    let layer = format!("files = [\"p.c\"]\nscript = '''\n: $CFLAGS\n{}\n'''", compile("-O1"));
    let sandbox = study(OPTIMIZE, "optimize = \"O2\"", &layer);
    let built = sandbox.execute(&["build", "STUDY"]);
    assert_eq!(built.code, 0, "{}", built.err);
    let said = "identical: baseline and optimize=O3 were built separately but are the same program, file for file";
    assert!(unwrapped(&built.out).contains(said), "{}", built.out);

    // Nothing is left to compare.
    let shown = sandbox.execute(&["run", "STUDY"]);
    shown.expect(
        2,
        &["note: baseline, optimize=O3 are the same program, file for file", "nothing to compare", "--anyway"],
    );
    assert!(sandbox.journals().is_empty());
    let shown = sandbox.execute(&["run", "STUDY", "--quiet", "--anyway"]);
    shown.expect(0, &["optimize=O3 is the same program as the baseline, file for file"]);
    assert!(unwrapped(&shown.out).contains(said) && !shown.out.contains("cannot be distinguished"), "{}", shown.out);
    let record = sandbox.record();
    assert_eq!(record.made.len(), 2);
    let [one, other] = [0, 1].map(|at| &record.made[at].more["proof"]);
    assert!(one["binaries"].is_string() && one["files"].is_string());
    assert_eq!((&one["binaries"], &one["files"]), (&other["binaries"], &other["files"]));
    assert_eq!(record.study.build_factors[0].levels["O3"]["CFLAGS"], "-O3");
}

/// A variant that is the same program as another one is not raced against it; what differs is, also when the study is
/// taken up again.
#[test]
fn identical_variants_race_once_and_share_a_row() {
    let levels =
        "[build_factors.optimize]\nO2 = { CFLAGS = \"-O2\" }\nO3 = { CFLAGS = \"-O3\" }\nx = { CFLAGS = \"-DX\" }";
    let script =
        "mkdir -p \"$PREFIX/bin\"; case $CFLAGS in *X) def=-DX ;; *) def= ;; esac; cc $def -o \"$PREFIX/bin/p\" p.c";
    let layer = format!("files = [\"p.c\"]\nscript = '''\n{script}\n'''");
    let sandbox = study(levels, "optimize = \"O2\"", &layer);
    sandbox.write(
        "p.c",
        "int f(int n) { return n; }\n#ifdef X\nint g(int n) { return n + 1; }\n#endif\nint \
        main(void) { return f(0); }\n",
    );
    let shown = sandbox.execute(&["run", "STUDY"]);
    shown.expect(0, &["optimize=O3 is the same program as the baseline, file for file", "baseline = optimize=O3"]);
    assert!(shown.err.contains("note: baseline, optimize=O3 are the same program"), "{}", shown.err);
    let record = sandbox.record();
    let names: Vec<&str> = record.study.variants.iter().map(|variant| variant.name.as_str()).collect();
    assert_eq!(names, ["baseline", "optimize=x"]);
    let shared = &record.study.shared;
    assert_eq!((shared.len(), &*shared[0].variant.name, &*shared[0].with), (1, "optimize=O3", "baseline"));
    assert_eq!(record.trials.len(), 12, "two variants, and the baseline twice again, in three blocks");

    let again = sandbox.execute(&["run", "STUDY", "--quiet"]);
    assert_eq!((again.code, sandbox.journals().len(), sandbox.record().trials.len()), (0, 1, 12), "{}", again.err);
    let apart = sandbox.execute(&["run", "STUDY", "--quiet", "--anyway", "-b", "1"]);
    apart.expect(0, &["starting a new journal", "optimize=O3, no longer in a shared row"]);
    assert_eq!(sandbox.journals().len(), 2);
}

#[test]
fn different_programs_are_not_identical() {
    let layer = format!(
        "files = [\"p.c\"]\nscript = '''\n{}\n'''",
        compile("$CFLAGS -DX=\"\\\"$CFLAGS\\\"\" -frecord-gcc-switches")
    );
    let sandbox = study(OPTIMIZE, "optimize = \"O2\"", &layer);
    sandbox.write("p.c", "#include <stdio.h>\nint main(void) { puts(PREFIX X); return 0; }\n");
    let built = sandbox.execute(&["build", "STUDY"]);
    assert_eq!(built.code, 0, "{}", built.err);
    assert!(!built.out.contains("identical"), "{}", built.out);
}

/// As `Configure` scripts do: what the options ask for, then a hint file has its own idea of another option.
const CONFIGURE: &str = "#!/bin/sh
d_fork=define
usethreads=undef
for option; do
  case $option in
    -Dusethreads) usethreads=define ;;
  esac
done
. ./hints.sh
echo \"usethreads='$usethreads'\" >config.sh
echo \"d_fork='$d_fork'\" >>config.sh
echo \"prefix='$PREFIX'\" >>config.sh
";

const THREADS: &str = "[build_factors.threads]\noff = { THREADS = \"\" }\non = { THREADS = \"-Dusethreads\" }";

#[test]
fn a_setting_that_a_hint_file_changes_is_named() {
    let script = "sh configure $THREADS\nmkdir \"$PREFIX/bin\"\ncp config.sh \"$PREFIX\"\nprintf '#!/bin/sh\\n' >\"$PREFIX/bin/p\"\nchmod +x \"$PREFIX/bin/p\"";
    let layer = |more: &str| {
        format!(
            "files = [\"configure\", \"hints.sh\"]\nscript = '''\n{script}\n'''\ndescribe = ['cat \"$PREFIX/config.sh\"']\n{more}"
        )
    };
    let write = |sandbox: &Sandbox| {
        sandbox.write("configure", CONFIGURE);
        sandbox.write("hints.sh", "[ $usethreads = undef ] || d_fork=undef\n");
    };
    let sandbox = study(THREADS, "threads = \"off\"", &layer(""));
    write(&sandbox);
    let built = sandbox.execute(&["build", "STUDY"]);
    assert_eq!(built.code, 0, "{}", built.err);
    let said = "also changed: d_fork, by threads (define → undef)";
    assert!(unwrapped(&built.out).contains(said), "{}", built.out);
    assert_eq!(built.out.matches("also changed").count(), 1, "{}", built.out);

    let shown = sandbox.execute(&["run", "STUDY", "--quiet"]);
    assert!(unwrapped(&shown.out).contains(said), "{}", shown.out);

    let implied = study(THREADS, "threads = \"off\"", &layer("implied = { threads = [\"d_*\"] }"));
    write(&implied);
    let built = implied.execute(&["build", "STUDY"]);
    assert_eq!(built.code, 0, "{}", built.err);
    assert!(!built.out.contains("also changed"), "{}", built.out);
}

/// The planted lie: the level says `-O3`, and the script compiles as it likes.
#[test]
fn a_script_that_ignores_its_flags_is_caught() {
    let layer = format!("files = [\"p.c\"]\nscript = '''\n: $CFLAGS\n{}\n'''", compile("-O1"));
    let sandbox = study(OPTIMIZE, "optimize = \"O2\"", &layer);
    let built = sandbox.execute(&["build", "STUDY"]);
    assert_eq!(built.code, 0, "{}", built.err);
    let said = "never arrived: -O3 (from CFLAGS, for optimize=O3) did not reach the only compilation or link";
    assert!(unwrapped(&built.out).contains(said), "{}", built.out);
    let shown = sandbox.execute(&["run", "STUDY", "--quiet"]);
    assert!(shown.code == 2 && unwrapped(&shown.err).contains(said), "{}", shown.err);
    let honest = format!("files = [\"p.c\"]\nscript = '''\n{}\n'''", compile("$CFLAGS"));
    let honest = study(OPTIMIZE, "optimize = \"O2\"", &honest).execute(&["build", "STUDY"]);
    assert!(honest.code == 0 && !honest.out.contains("never arrived"), "{}", honest.out);
}

/// The Makefile has flags of its own and ignores the environment, as those of many projects do. The level's words come
/// behind them, and the report shows in how many compilations they won, and in how many a profile was used.
#[test]
fn appended_words_reach_a_makefile_that_ignores_its_environment() {
    let layer =
        "files = [\"p.c\", \"q.c\", \"Makefile\"]\nscript = 'make && mkdir \"$PREFIX/bin\" && cp p \"$PREFIX/bin\"'";
    let factors = "[build_factors.opt]\nown = {}\nO2 = { append = \"-O2\" }\nO3 = { append = \"-O3\" }\n\
                   pgo = { profile = '\"$PREFIX/bin/p\"', append = \"-O2\" }\n";
    let sandbox = study(factors, "opt = \"O2\"", layer);
    let source = "long f(long n) { long s = 0; for (long i = 0; i < n; i++) s += i ^ n; return s; }\n";
    sandbox.write("q.c", source);
    sandbox.write("p.c", "long f(long n);\nint main(int n, char **v) { (void)v; return f(n) == 77; }\n");
    sandbox.write("Makefile", "CC = cc\nCFLAGS = -O1\np: p.o q.o\n\t$(CC) $(CFLAGS) -o $@ p.o q.o\n");
    if !["cc", "make"].iter().all(|tool| std::process::Command::new(tool).arg("--version").output().is_ok()) {
        println!("skipped: no cc or make on PATH");
        return;
    }
    let shown = sandbox.execute(&["run", "STUDY", "--quiet", "--all", "--anyway"]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let line = |flag: &str| {
        let mut lines = shown.out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        lines.find(|words| words.first() == Some(&flag)).unwrap_or_else(|| panic!("{}", shown.out))
    };
    assert_eq!(line("-O2"), ["-O2", "2", "2", "2", "baseline,", "opt=pgo"]);
    assert!(shown.out.contains("opt=pgo: 2 of 2 compilations used a profile"), "{}", shown.out);
    assert_eq!(line("-O3"), ["-O3", "2", "2", "2", "opt=O3"]);
    let record = sandbox.record();
    assert_eq!(record.study.build_factors[0].levels["O3"]["append"], "-O3");
    let compilations = record.made.iter().map(|made| &made.more["layers"][0]["compilations"]);
    assert_eq!(compilations.collect::<Vec<_>>(), [2; 4]);
    // What the project says itself, and what the others say, is not the same program.
    let binaries: std::collections::BTreeSet<String> =
        record.made.iter().map(|made| made.more["proof"]["binaries"].to_string()).collect();
    assert!(binaries.len() >= 3);
}

/// A study in the project that it builds: what is done to the study, and to the repository, leaves the builds alone;
/// what is done to the program does not.
#[test]
fn a_commit_or_an_edit_of_the_study_builds_nothing_again() {
    let layer = format!("source = \"p\"\nscript = '''\n{}\n'''", compile("$CFLAGS"));
    let factors = format!("[sources.p]\npath = \".\"\n{OPTIMIZE}");
    let sandbox = study(&factors, "optimize = \"O2\"", &layer);
    let text = std::fs::read_to_string(sandbox.study().join("study.toml")).unwrap();
    let sh = |script: &str| {
        let done = std::process::Command::new("sh").args(["-ec", script]).current_dir(sandbox.study()).status();
        assert!(done.unwrap().success(), "{script}");
    };
    sh("git init -q -b main; git config user.name n; git config user.email e@example.org");
    sh("git config commit.gpgsign false; git add .; git commit -qm one");
    let built = |expect: &str| {
        let shown = sandbox.execute(&["build", "STUDY"]);
        shown.expect(0, &[]);
        assert_eq!(shown.out.matches(expect).count(), 2, "{expect}: {}", shown.out);
    };
    built(": built");
    // The output that is expected is new, and so is what the study says of it.
    sandbox.write("study.toml", &text.replace("output = \"varies\"", "expect = \"p.out\""));
    sandbox.write("p.out", "x\n");
    sh("git add .; git commit -qm two");
    built(": in the cache");
    sandbox.write("Makefile", "all:\n");
    built(": built");
}
