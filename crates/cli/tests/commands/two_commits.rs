//! `bakeoff compare --git`, and revisions as levels of a study: real repositories, built and raced.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::processes::alive_in;
use crate::common::{Sandbox, Shown};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A sandbox with a repository of a small program: `slow` steps are what a trial takes.
struct Repository(Sandbox);

const SETTINGS: &str = "git config user.name n; git config user.email e@example.org; git config commit.gpgsign false; \
                        git config tag.gpgsign false";

fn program(steps: u32) -> String {
    format!(
        "#include <stdio.h>\nint main(void) {{ volatile double s = 0;\n\
         for (int i = 0; i < {steps}; i++) s += i; printf(\"done\\n\"); return 0; }}\n"
    )
}

impl Repository {
    fn new() -> Self {
        let repository = Self(Sandbox::new(""));
        fs::create_dir(repository.dir()).unwrap();
        repository.sh(&format!("git init -q -b main; {SETTINGS}"));
        repository.write("prog.c", &program(1_000_000));
        repository.write("Makefile", "prog: prog.c\n\tcc -O1 -o prog prog.c\n");
        repository.write("README.md", "A program.\n");
        repository.sh("echo prog > .gitignore; git add .; git commit -qm one; git tag v1");
        repository
    }

    fn dir(&self) -> PathBuf {
        self.0.path().join("repo")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.dir().join(name), text).unwrap();
    }

    fn sh(&self, script: &str) {
        let done = Command::new("sh").args(["-ec", script]).current_dir(self.dir()).status();
        assert!(done.unwrap().success(), "{script}");
    }

    fn commit(&self, name: &str, text: &str) {
        self.write(name, text);
        self.sh("git add .; git commit -qm more");
    }

    fn id(&self, revision: &str) -> String {
        let output = Command::new("git").args(["rev-parse", revision]).current_dir(self.dir()).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.0.command_as_typed(&[&["compare"], words].concat());
        command.current_dir(self.dir());
        command
    }

    fn compare(&self, words: &[&str]) -> Shown {
        Shown::of(&self.command(words).output().unwrap())
    }
}

#[test]
fn what_is_printed_is_shown_and_progress_is_left_out_as_for_commands() {
    let repository = Repository::new();
    repository.commit("prog.c", &program(2_000_000));
    let words = ["--git", "v1", "--git", "HEAD", "--build", "make", "./prog", "--blocks", "3"];
    let shown = repository.compare(&[&words[..], &["--show-output", "--style", "none"]].concat());
    assert_eq!(shown.err.matches("done\n").count(), 12, "{}", shown.err);
    assert!(!shown.err.contains("block 1 of 3"), "{}", shown.err);
    let inherited = repository.compare(&[&words[..], &["--output", "inherit"]].concat());
    assert_eq!(inherited.err.matches("done\n").count(), 12, "{}", inherited.err);
}

#[test]
fn a_slowdown_is_found_and_the_second_time_nothing_is_built() {
    let repository = Repository::new();
    repository.commit("prog.c", &program(2_000_000));
    let words = ["--git", "v1", "--git", "HEAD", "--build", "make", "./prog"];
    let (v1, head) = (repository.id("v1"), repository.id("HEAD"));
    // A twin that differs stands before the answer, and makes its names shorter.
    let rows = [&v1, &head].map(|id| format!("({}) ", &id[..7]));
    let slower = ["is faster: HEAD", rows[0].trim(), rows[1].trim()];
    let first = repository.compare(&words);
    first.expect(0, &[&["building program for"][..], &slower].concat());
    let again = repository.compare(&words);
    again.expect(0, &slower);
    // It takes about twice as long: where the words change.
    for shown in [&first, &again] {
        assert!(shown.out.contains("% slower") || shown.out.contains("× as long"), "{}", shown.out);
    }
    assert!(!again.err.contains("building") && !again.err.contains("fetching"), "{}", again.err);
    // Nothing was written into the repository.
    repository.sh("test -z \"$(git status --porcelain --ignored)\"");
}

#[test]
fn a_change_of_docs_is_the_same_program_and_an_answer() {
    let repository = Repository::new();
    repository.commit("README.md", "A good program.\n");
    repository.write("prog.c", &format!("{}/* It counts. */\n", program(1_000_000)));
    let words = ["--git", "v1", "--git", "main", "--git", "worktree", "--build", "make", "./prog"];
    let shown = repository.compare(&words);
    shown.expect(
        0,
        &["all revisions produce the same program", "their trees differ only in README.md, prog.c,", "--anyway"],
    );
    repository.compare(&[&words[..], &["--json"]].concat()).expect(0, &["\"shared\"", "worktree"]);
    // Whatever else was asked for is answered, too.
    let asked = ["--gate", "0.1%", "--junit", "j.xml", "--export-markdown", "m.md", "--export-csv", "c.csv"];
    let more = ["--export-findings", "f.json", "--export-json", "h.json", "--html", "p.html"];
    let shown = repository.compare(&[&words[..], &asked, &more].concat());
    shown.expect(0, &["all revisions produce the same program", "The gate passes: main (", "cannot be slower"]);
    for (file, part) in [
        ("m.md", "are the same program, so there is nothing to measure"),
        ("c.csv", "same_program"),
        ("f.json", "\"shared\""),
        ("h.json", "\"results\": []"),
        ("p.html", "are the same program"),
        ("j.xml", "<testcase"),
    ] {
        let text = fs::read_to_string(repository.dir().join(file)).unwrap();
        assert!(text.contains(part), "{file}: {text}");
    }
    let shown = repository.compare(&[&words[..], &["--export-csv", "-", "--quiet"]].concat());
    assert!(shown.out.starts_with("study,") && shown.code == 0, "{shown:?}");
    repository
        .compare(&["--git", "v1", "--git", "v1", "--build", "make", "./prog"])
        .expect(0, &["(2): both revisions produce the same program", "the same, file for file"]);
    // A command that compiles runs something other than what was built.
    let compiles = ["--git", "v1", "--git", "worktree", "--build", "make", "--blocks", "1", "make -n"];
    let shown = repository.compare(&compiles);
    assert!(!shown.out.contains("same program"), "{}", shown.out);
    // Without a build, the source is what may be run.
    let shown = repository.compare(&["--git", "HEAD", "--git", "worktree", "--blocks", "1", "wc -c prog.c"]);
    shown.expect(0, &["HEAD ("]);
    let shown = repository.compare(&["--git", "v1", "--git", "HEAD", "--blocks", "1", "wc -c README.md"]);
    assert!(!shown.out.contains("same program"), "the command names it: {}", shown.out);
    let shown = repository.compare(&[&words[..], &["--anyway", "--blocks", "1"]].concat());
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(!shown.out.contains("same program, so"), "{}", shown.out);
}

#[test]
fn the_working_tree_with_untracked_files_is_built_as_it_is() {
    let repository = Repository::new();
    repository.write("more.h", "#define MORE 1\n");
    repository.write("prog.c", &format!("#include \"more.h\"\n{}", program(1_000_000).replace("done", "more")));
    let words = ["--git", "HEAD", "--git", "worktree", "--build", "make", "--blocks", "1", "./prog"];
    // The output of the two differs, which says that each run its own.
    repository.compare(&words).expect(0, &["worktree", "output"]);
    repository.write("more.h", "#error broken\n");
    repository.compare(&words).expect(4, &["error: worktree cannot be built", "#error broken", "the full log is in"]);
}

#[test]
fn a_folder_of_the_repository_is_where_it_is_built_and_executed() {
    let repository = Repository::new();
    repository.sh("mkdir sub; git mv Makefile prog.c sub; git commit -qm sub");
    repository.commit("sub/prog.c", &program(1_500_000));
    let words = ["--git", "HEAD~1", "--git", "HEAD", "--build", "make", "--blocks", "1", "./prog"];
    let mut command = repository.command(&words);
    command.current_dir(repository.dir().join("sub"));
    Shown::of(&command.output().unwrap()).expect(0, &["HEAD~1 ("]);
    let mut command = repository.command(&words);
    command.args(["--repository", "repo/sub"]).current_dir(repository.0.path());
    let shown = Shown::of(&command.output().unwrap());
    shown.expect(0, &["HEAD~1 ("]);
    assert!(!shown.err.contains("building"), "{}", shown.err);
    repository.compare(&words).expect(4, &["cannot be built", "no makefile found"]);
}

#[test]
fn what_cannot_be_compared_says_what_to_do() {
    let repository = Repository::new();
    let compare = |words: &[&str]| repository.compare(words);
    compare(&["--git", "v1", "./prog"]).expect(2, &["a comparison needs two revisions", "--git worktree"]);
    compare(&["--git", "v1", "--git", "HEAD", "./prog", "true"])
        .expect(2, &["--git takes exactly one command, not 2", "give one command"]);
    compare(&["--git", "v1", "--git", "v9", "./prog"]).expect(2, &["has no `v9`"]);
    compare(&["--git", "v1", "--git", "HEAD", "-L", "n", "1,2", "./prog {n}"])
        .expect(2, &["cannot combine --git with parameters"]);
    compare(&["--build", "make", "a", "b"]).expect(2, &["--git"]);
    repository.commit("prog.c", &program(1_100_000));
    compare(&["--git", "v1", "--git", "HEAD", "./prog"])
        .expect(2, &["`./prog` does not exist in the tree", "--build make"]);
    compare(&["--git", "v1", "--git", "HEAD", "--build", "exit 3", "./prog"])
        .expect(4, &["cannot be built", "exited 3"]);
    let mut outside = repository.command(&["--git", "v1", "--git", "HEAD", "./prog"]);
    outside.current_dir(repository.0.path());
    Shown::of(&outside.output().unwrap()).expect(2, &["is not in a Git repository", "--repository DIR"]);
    let tools = repository.0.path().join("tools");
    fs::create_dir(&tools).unwrap();
    let mut without = repository.command(&["--git", "v1", "--git", "HEAD", "./prog"]);
    Shown::of(&without.env("PATH", &tools).output().unwrap()).expect(2, &["`git` is not on PATH; install it"]);
}

#[test]
fn a_build_that_is_killed_is_begun_again() {
    let repository = Repository::new();
    repository.commit("prog.c", &program(2_000_000));
    let flag = repository.0.path().join("flag");
    let build = format!("touch begun; until test -e '{}'; do sleep 0.05; done; make", flag.display());
    let words = ["--git", "v1", "--git", "HEAD", "--build", &build, "--blocks", "2", "./prog"];
    let mut child = repository.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    let builds = repository.0.path().join("cache/builds");
    let is_building = || {
        let prefixes = fs::read_dir(&builds).into_iter().flatten().flatten();
        prefixes.filter(|prefix| prefix.path().join("begun").exists()).count() > 0
    };
    while !is_building() {
        assert!(began.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    while !alive_in(repository.0.path()).is_empty() {
        assert!(began.elapsed() < Duration::from_secs(80));
        std::thread::yield_now();
    }
    fs::write(&flag, "").unwrap();
    repository.compare(&words).expect(0, &["building program for", "HEAD ("]);
}

/// The same as a study: the repository lies beside it.
const STUDY: &str = r#"
format = 1
name = "commits"
[build_factors.commit]
old = { revision = "v1" }
"main" = { revision = "main" }
[sources.app]
git = "../repo"
[[build]]
name = "app"
source = "app"
script = 'make && mkdir -p "$PREFIX/bin" && cp prog "$PREFIX/bin"'
[workloads.count]
run = '"$PREFIX/bin/prog"'
[decide]
baseline = { commit = "old" }
"#;

#[test]
fn a_locked_revision_stays_when_the_branch_moves() {
    let repository = Repository::new();
    repository.commit("prog.c", &program(2_000_000));
    let sandbox = &repository.0;
    sandbox.write("study.toml", STUDY);
    sandbox.execute(&["run", "STUDY"]).expect(2, &["source `app@v1` has no `sha256`", "bakeoff lock STUDY"]);
    let main = repository.id("main");
    sandbox.execute(&["lock", "STUDY"]).expect(0, &["app@v1: locked now", "app@main: locked now: ", &main]);
    sandbox.execute(&["plan", "STUDY"]).expect(0, &[&format!("source app@main: commit {main}")]);
    sandbox.execute(&["build", "STUDY", "--quiet"]).expect(0, &["commit=main: built"]);
    let check = sandbox.execute(&["lock", "STUDY", "--check"]);
    check.expect(0, &["app@main: already locked"]);
    assert!(!check.out.contains("by now"), "{}", check.out);

    repository.commit("prog.c", &program(3_000_000));
    let moved = repository.id("main");
    sandbox.execute(&["lock", "STUDY", "--check"]).expect(
        0,
        &["app@main: already locked", &format!("`main` is now commit {moved} (use --update=app@main to lock it)")],
    );
    sandbox.execute(&["build", "STUDY", "--quiet"]).expect(0, &["commit=main: in the cache"]);
    sandbox.execute(&["lock", "STUDY", "--update=app@main"]).expect(0, &["app@main: changed", &main, "→", &moved]);
    sandbox.execute(&["build", "STUDY", "--quiet"]).expect(0, &["baseline: in the cache", "commit=main: built"]);
    sandbox.execute(&["run", "STUDY", "--quiet", "--blocks", "8"]).expect(0, &["commit=main", "slower"]);

    // A change of docs is an answer here too, and no mistake of the study.
    repository.sh("git checkout -q -b docs v1");
    repository.commit("README.md", "A good program.\n");
    sandbox.write("study.toml", &STUDY.replace("revision = \"main\"", "revision = \"docs\""));
    sandbox.execute(&["lock", "STUDY"]).expect(0, &["app@docs: locked"]);
    let run = ["run", "STUDY", "--quiet", "--blocks", "1"];
    sandbox.execute(&run).expect(0, &["baseline, commit=main: all revisions produce the same program", "--anyway"]);
    sandbox.execute(&[&run[..], &["--anyway"]].concat()).expect(0, &["commit=main"]);
    repository.sh("git checkout -q main");

    sandbox.write("study.toml", &STUDY.replace("revision = \"main\"", "revision = \"worktree\""));
    sandbox
        .execute(&["lock", "STUDY"])
        .expect(0, &["app@docs: removed from study.lock", "app@worktree: a working tree, never locked"]);
    repository.write("prog.c", &program(4_000_000));
    sandbox.execute(&["build", "STUDY", "--quiet"]).expect(0, &["commit=main: built"]);
    sandbox.execute(&["build", "STUDY", "--quiet"]).expect(0, &["commit=main: in the cache"]);
}

#[test]
fn a_range_of_commits_is_not_a_revision() {
    let repository = Repository::new();
    repository.commit("README.md", "More.\n");
    for range in ["HEAD~1..main", "HEAD~1...main", "^HEAD~1", "HEAD~1..", "main^!"] {
        let option = format!("--git={range}");
        let words = ["compare", "--repository", "repo", "--git", "HEAD", &option, "./prog", "--build", "make"];
        let shown = repository.0.execute(&words);
        assert!(shown.code == 2 && shown.err.contains(range) && shown.out.is_empty(), "{range}: {shown:?}");
    }
    let words = ["compare", "--repository", "repo", "--git", "HEAD~1..main", "--git", "HEAD", "./prog"];
    repository.0.execute(&words).expect(2, &["is a range of commits", "--git OLD --git NEW"]);
}

#[test]
fn the_same_code_at_other_addresses_is_the_same_program_and_an_answer() {
    let repository = Repository::new();
    let added = format!("{}\nint added(int n) {{ return n * 3; }}\n", program(1_000_000));
    repository.commit("prog.c", &added);
    let words = ["--git", "v1", "--git", "main", "--build", "make", "./prog"];
    let shown = repository.compare(&words);
    let headline = "both revisions produce the same program; only addresses differ, so there is nothing to measure";
    shown.expect(0, &[headline, "equal in prog, and nothing refers to the others", "--layouts one"]);
    let page = ["--gate", "0.1%", "--json", "--export-markdown", "m.md"];
    repository.compare(&[&words[..], &page].concat()).expect(0, &["\"same_in\": \"code\"", "The gate passes: main ("]);
    // The question may be about the files.
    let one = repository.compare(&[&words[..], &["--layouts", "one", "--blocks", "1"]].concat());
    assert!(one.code == 0 && !one.out.contains("same program"), "{one:?}");
    repository.commit("prog.c", &added.replace("1000000", "1000001"));
    let changed = repository.compare(&[&words[..], &["--blocks", "1"]].concat());
    changed.expect(0, &["these functions or data differ: main ("]);
}
