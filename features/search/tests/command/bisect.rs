//! `bakeoff bisect` as users see it: on repositories that the tests make, with planted truths, where the same search must end the
//! same however often it is killed, and with small real programs.

use crate::common::processes::{kill_ten_times, nothing_stays_in};
use crate::common::{Sandbox, Shown, each_trial_once};
use bakeoff_host::lock::Lock;
use bakeoff_model::shuffle::Stream;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// A repository in a sandbox.
struct Repository(Sandbox);

/// What a commit has in the file `prog`.
fn nap(milliseconds: u32) -> String {
    format!("#!/bin/sh\nsleep 0.0{milliseconds:02}\n")
}

impl Repository {
    fn new() -> Self {
        let repository = Self(Sandbox::new(""));
        fs::create_dir(repository.dir()).unwrap();
        repository.git(&["init", "-q", "-b", "main"]);
        repository
    }

    /// With this number of commits after the first one, which differ in a comment.
    fn of(commits: u32) -> Self {
        let repository = Self::new();
        (0..=commits).for_each(|number| repository.commit(&format!("#!/bin/sh\n# {number}\n"), number));
        repository
    }

    /// The same without its files, as fast as Git can.
    fn of_many(commits: u32) -> Self {
        let repository = Self::new();
        let mut stream = String::new();
        for number in 0..=commits {
            let who = format!("n <e@example.org> {} +0000", 1_700_000_000 + number);
            let _ = write!(stream, "commit refs/heads/main\ncommitter {who}\ndata 1\n{}\n", number % 10);
        }
        let file = repository.0.path().join("stream");
        fs::write(&file, stream).unwrap();
        let mut import = Command::new("git");
        import.args(["fast-import", "--quiet"]).current_dir(repository.dir()).stdin(fs::File::open(file).unwrap());
        assert!(import.status().unwrap().success());
        repository
    }

    fn dir(&self) -> PathBuf {
        self.0.path().join("repo")
    }

    /// Programs in the cache; the program's own tools are there too.
    fn kept_builds(&self) -> u64 {
        let records = fs::read_dir(self.0.path().join("cache/records")).unwrap();
        let texts = records.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
        texts.filter(|text| text.contains("\"layer\": \"program\"")).count() as u64
    }

    fn git(&self, words: &[&str]) -> String {
        let mut git = Command::new("git");
        let of = ["GIT_AUTHOR", "GIT_COMMITTER"].into_iter().flat_map(|who| {
            [("NAME", "n"), ("EMAIL", "e@example.org"), ("DATE", "1700000000 +0000")]
                .map(|(what, value)| (format!("{who}_{what}"), value))
        });
        git.envs(of).env("HOME", self.0.path()).env("GIT_CONFIG_NOSYSTEM", "1").current_dir(self.dir());
        let done = git.args(words).output().unwrap();
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    }

    fn commit(&self, prog: &str, number: u32) {
        fs::write(self.dir().join("prog"), prog).unwrap();
        self.git(&["add", "."]);
        self.git(&["commit", "-q", "--allow-empty", "-m", &format!("prog: step {number}")]);
    }

    fn id(&self, revision: &str) -> String {
        self.git(&["rev-parse", revision])
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.0.command_as_typed(&[&["bisect"], words].concat());
        command.env("HOME", self.0.path()).current_dir(self.dir());
        command
    }

    fn bisect(&self, words: &[&str]) -> Shown {
        Shown::of(&self.command(words).output().unwrap())
    }

    /// The journals of all searches.
    fn blocks(&self) -> Vec<PathBuf> {
        let searches = fs::read_dir(self.0.path().join("state/bisect")).into_iter().flatten();
        let files = searches.flat_map(|search| fs::read_dir(search.unwrap().path()).unwrap());
        let mut all: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
        all.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
        all
    }

    /// Fails if the user's repository is not as it was.
    fn is_untouched(&self) {
        assert_eq!(self.git(&["status", "--short", "--ignored"]), "");
        assert_eq!(self.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
    }
}

fn found(shown: &Shown) -> Value {
    shown.expect(0, &[]);
    serde_json::from_str(&shown.out).unwrap_or_else(|error| panic!("{error}: {shown:?}"))
}

#[test]
fn the_planted_commit_is_proved() {
    let repository = Repository::of(32);
    let slow = repository.id("HEAD~10");
    let truth = format!("noise:0.01,{slow}:1.03");
    let words = ["--good", "HEAD~32", "--simulate", &truth, "sh prog"];
    let shown = repository.bisect(&words);
    shown.expect(0, &["Which of 32 commits changed the speed?", "good and bad: 32 of 32 commits left", "proof: "]);
    let last = shown.out.lines().last().unwrap();
    let begin = format!("{} (“prog: step 22”) is ", &slow[..7]);
    assert!(last.starts_with(&begin) && last.contains(" % slower than its parent (95 % interval "), "{last}");
    let parent = &repository.id("HEAD~11")[..7];
    let next = format!("next: bakeoff compare --git {parent} --git {} --explain -- 'sh prog'\n", &slow[..7]);
    assert!(shown.out.contains(&next), "{shown:?}");
    // All is in the files: nothing is run again, and the answer is the same.
    let found = found(&repository.bisect(&[&words[..], &["--json"]].concat()));
    assert_eq!((found["answer"].as_str(), found["ending"].as_str()), (Some(last), Some("proved")));
    assert_eq!(found["commit"]["hash"], slow);
    assert_eq!(found["blocks"], repository.blocks().len());
    assert_eq!(found["uncounted"], "the search is simulated");
    repository.is_untouched();
}

#[test]
fn what_is_not_proved_is_reported_as_it_is() {
    let repository = Repository::of(8);
    let ask = |truth: &str, budget: &[&str]| {
        let words = ["--good", "HEAD~8", "--json", "--simulate", truth, "sh prog"];
        found(&repository.bisect(&[budget, &words].concat()))
    };
    let none = ask("noise:0.01", &[]);
    assert_eq!((none["ending"].as_str(), none["blocks"].as_u64()), (Some("not shown"), Some(200)), "{none:#}");
    let answer = none["answer"].as_str().unwrap();
    assert!(answer.starts_with("good and bad are not shown to differ: bad takes "), "{answer}");
    assert!(
        answer.ends_with(", 200 blocks); run the same command with a --budget for more blocks (SIMULATED)"),
        "{answer}"
    );
    // A budget is used up before it ends so.
    let more = ask("noise:0.01", &["--budget", "600 trials"]);
    assert_eq!((more["ending"].as_str(), more["blocks"].as_u64()), (Some("not shown"), Some(300)), "{more:#}");
    let interval: [f64; 2] = serde_json::from_value(more["interval"].clone()).unwrap();
    assert!(interval[0] < 0.0 && 0.0 < interval[1], "{more:#}");
    let larger = "; run the same command with a larger --budget to resume (SIMULATED)";
    assert!(more["answer"].as_str().unwrap().ends_with(larger), "{more:#}");
    let slow = format!("noise:0.01,{}:1.03", repository.id("HEAD~4"));
    let early = ask(&slow, &["--budget", "50 trials"]);
    assert_eq!((early["ending"].as_str(), early["trials"].as_u64() <= Some(50)), (Some("not proved"), true));
    let likely = early["likely"].as_array().unwrap();
    assert!(likely.iter().any(|one| one["hash"] == repository.id("HEAD~4")), "{early:#}");
    assert!(early["answer"].as_str().unwrap().ends_with(larger), "{early:#}");
    // A larger budget resumes.
    let later = ask(&slow, &["--budget", "400 trials"]);
    assert_eq!((later["folder"].clone(), later["ending"].as_str()), (early["folder"].clone(), Some("proved")));
    // The same commit, if it is faster, with another one that is slower: the larger change is named.
    let faster = format!("noise:0.005,{}:0.94,{}:1.02", repository.id("HEAD~5"), repository.id("HEAD~1"));
    let two = ask(&faster, &[]);
    assert_eq!(two["commit"]["hash"], repository.id("HEAD~5"), "{two:#}");
    assert!(two["answer"].as_str().unwrap().contains(" % faster than its parent ("));
}

/// Kills a search at random moments, then lets it end.
fn kill_and_finish(repository: &Repository, words: &[&str], most_ms: u64) -> Shown {
    kill_ten_times(&mut Stream::of(57, &["bisect", "kill"]), most_ms, || repository.command(words));
    repository.bisect(words)
}

#[test]
fn a_bisection_that_is_killed_ends_as_one_that_is_not() {
    let [whole, killed] = [(), ()].map(|()| Repository::of(16));
    let truth = format!("noise:0.01,pause:0.005,{}:1.02", whole.id("HEAD~3"));
    let words = ["--good", "HEAD~16", "--json", "--simulate", &truth, "sh prog"];
    let expect = whole.bisect(&words);
    expect.expect(0, &["\"proved\""]);
    let shown = kill_and_finish(&killed, &words, 300);
    assert_eq!((shown.code, &shown.out), (0, &expect.out), "{}", shown.err);
    assert_eq!(killed.blocks().len(), whole.blocks().len());
}

/// A plan has at most 1,000 variants, and a release may have more commits.
#[test]
fn histories_may_be_long() {
    let repository = Repository::of_many(1_500);
    let slow = repository.id("HEAD~345");
    let truth = format!("noise:0.005,{slow}:1.05");
    let found = found(&repository.bisect(&["--good", "HEAD~1500", "--json", "--simulate", &truth, "true"]));
    assert_eq!((found["commits"].as_u64(), &found["commit"]["hash"]), (Some(1_500), &Value::String(slow)), "{found:#}");
}

/// Six commits of a script that sleeps; the third cannot be built, and the fourth is slower.
fn real() -> Repository {
    let repository = Repository::new();
    for number in 0..6 {
        let prog = nap(if number < 3 { 10 } else { 40 });
        let prog = if number == 2 { prog.replace("sleep", "break") } else { prog };
        repository.commit(&format!("{prog}# {number}\n"), number);
    }
    repository
}

#[test]
fn a_real_bisection_loses_and_doubles_no_trial_when_it_is_killed() {
    let repository = real();
    let words = ["--good", "HEAD~5", "--build", "grep -q sleep prog", "--", "sh", "prog"];
    let shown = kill_and_finish(&repository, &words, 500);
    nothing_stays_in(repository.0.path());
    let [skipped, last] = ["HEAD~3", "HEAD~2"].map(|revision| repository.id(revision)[..7].to_owned());
    let end = format!("{skipped} and {last}; {skipped} cannot be built or run (use another --seed to try again)");
    shown.expect(0, &["one of these 2 commits made it ", " % slower than ", &end]);
    let last = shown.out.lines().last().unwrap();
    assert!(last.ends_with("; this is about these binaries"), "{last}");
    // Before it, both commits are compared as by `compare --git`, and nothing is built again.
    let [before, after] = ["HEAD~4", "HEAD~2"].map(|revision| repository.id(revision)[..7].to_owned());
    assert!(shown.out.contains(&format!("{before} or {after}: which is faster?\n")), "{shown:?}");
    let found = found(&repository.bisect(&[&["--json"], &words[..]].concat()));
    let (builds, skipped) = (found["builds"].as_u64().unwrap(), found["skipped"].as_array().unwrap().len() as u64);
    assert_eq!(repository.kept_builds(), builds - skipped, "{found:#}");
    assert!(!shown.err.contains("built program for "), "{shown:?}");
    for journal in repository.blocks() {
        let record = bakeoff_journal::read(&journal).unwrap().record;
        assert_eq!(record.blocks.len(), 1, "{}", journal.display());
        each_trial_once(&record, record.blocks[0].order.len());
    }
    // A budget that is used up has no room for the comparison.
    let shown = repository.bisect(&[&["--budget", "1 trials"], &words[..]].concat());
    let next = format!("next: bakeoff compare --git {before} --git {after} --build 'grep -q sleep prog' --explain -- ");
    shown.expect(0, &[&next]);
    assert!(!shown.out.contains("which is faster?"), "{shown:?}");
    let page = repository.0.path().join("page.html");
    repository
        .bisect(&[&["--html", page.to_str().unwrap()], &words[..]].concat())
        .expect(0, &["one of these 2 commits"]);
    assert!(fs::read_to_string(page).unwrap().contains("<svg"));
    assert_eq!(found["skipped"][0]["commit"]["hash"], repository.id("HEAD~3"), "{found:#}");
    assert_eq!(found["likely"].as_array().unwrap().len(), 2, "{found:#}");
    repository.is_untouched();
}

/// What kept good from being built, or from running, may be gone when the same command is typed again.
#[test]
fn what_ended_a_bisection_is_tried_again() {
    let repository = real();
    let flag = repository.0.path().join("flag");
    let build = format!("test -e {0} && grep -q sleep prog", flag.display());
    let words = ["--good", "HEAD~5", "--budget", "4 trials", "--build", &build, "sh prog"];
    repository.bisect(&words).expect(4, &["cannot be built: "]);
    fs::write(&flag, "").unwrap();
    repository.bisect(&words).expect(0, &["not shown to differ"]);
    fs::remove_file(&flag).unwrap();
    let command = format!("test -e {} && sh prog", flag.display());
    let words = ["--good", "HEAD~5", "--budget", "12 trials", &command];
    repository.bisect(&words).expect(4, &["3 runs of ", "failed: exited with code 1"]);
    assert_eq!(
        repository.blocks().iter().filter(|path| path.ends_with("10001.jsonl")).count(),
        1,
        "of the search before"
    );
    fs::write(&flag, "").unwrap();
    repository.bisect(&words).expect(0, &["good and bad are not shown to differ: "]);
}

#[test]
fn builds_that_are_gone_are_built_again_and_none_is_begun_that_no_trial_follows() {
    let repository = real();
    let words = ["--good", "HEAD~5", "--json", "--build", "grep -q sleep prog", "sh prog"];
    let ask = |budget: &str| found(&repository.bisect(&[&["--budget", budget], &words[..]].concat()));
    ask("2 trials");
    for folder in ["builds", "records"] {
        fs::remove_dir_all(repository.0.path().join("cache").join(folder)).unwrap();
    }
    let before = ask("4 builds");
    assert_eq!(before["builds"], 4, "{before:#}");
    let after = ask("12 trials");
    assert_eq!((&after["builds"], &after["trials"]), (&before["builds"], &before["trials"]), "{after:#}");
}

#[test]
fn commits_that_print_different_things_are_told() {
    let repository = Repository::new();
    for number in 0..6 {
        let (prog, says) = if number < 3 { (nap(10), "a") } else { (nap(40), "b") };
        repository.commit(&format!("{prog}echo {says}\n# {number}\n"), number);
    }
    let shown = repository.bisect(&["--good", "HEAD~5", "--budget", "12 trials", "sh prog"]);
    shown.expect(0, &["note: good and bad print different things"]);
}

/// A study of two factors and two workloads, whose source is the repository; the fourth of six commits is slower.
#[test]
fn a_study_says_how_commits_are_built_and_run() {
    let repository = real();
    let study = repository.0.path().join("naps");
    fs::create_dir(&study).unwrap();
    let text = format!(
        "format = 1\nname = \"naps\"\n[sources.naps]\ngit = \"{}\"\nrevision = \"HEAD\"\n[build_factors.word]\na = {{ WORD = \"a\" }}\n\
         b = {{ WORD = \"b\" }}\n[[build]]\nname = \"naps\"\nsource = \"naps\"\ntools = []\n\
         script = 'grep -q sleep prog; echo $WORD; cp prog \"$PREFIX/\"'\n[workloads.once]\nrun = 'sh \"$PREFIX/prog\"'\n\
         [workloads.twice]\nrun = 'sh \"$PREFIX/prog\" && sh \"$PREFIX/prog\"'\n[decide]\nbaseline = {{ word = \"b\" }}\n",
        repository.dir().display()
    );
    fs::write(study.join("study.toml"), text).unwrap();
    // Of two other searches, one was killed, and one is at work.
    let [killed, _at_work] = ["0123456789ab", "ba9876543210"].map(|name| {
        let search = repository.0.path().join("state/bisect").join(name);
        fs::create_dir_all(&search).unwrap();
        fs::write(study.join(format!(".bisect-{name}-study.toml")), "").unwrap();
        Lock::take(&search.join("search.lock")).unwrap()
    });
    drop(killed);
    let words = ["--good", "HEAD~5", study.to_str().unwrap()];
    let shown = repository.bisect(&words);
    let found = found(&repository.bisect(&[&["--json"], &words[..]].concat()));
    let last = shown.out.lines().last().unwrap();
    assert!(last.starts_with("one of these 2 commits made it "), "{shown:?}");
    assert!(!shown.out.contains("which is faster?"), "a study is not compared: {shown:?}");
    assert_eq!(
        (found["answer"].as_str(), found["skipped"].as_array().map(Vec::len)),
        (Some(last), Some(1)),
        "{found:#}"
    );
    let record = bakeoff_journal::read(&repository.blocks()[0]).unwrap().record;
    assert_eq!(record.study.workloads, ["once", "twice"]);
    let left = fs::read_dir(&study).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(left.filter(|name| name.contains("bisect")).collect::<Vec<_>>(), [".bisect-ba9876543210-study.toml"]);
    repository.is_untouched();
    let check = |text: &str, expect: &str| {
        fs::write(study.join("study.toml"), text).unwrap();
        repository.bisect(&words).expect(2, &[expect]);
    };
    let whole = fs::read_to_string(study.join("study.toml")).unwrap();
    check(
        &whole.replace("git = \"", "path = \"").replace("revision = \"HEAD\"\n", ""),
        "bisect needs a study with one source from a Git repository",
    );
    check(
        &whole.replace("git = \"", "git = \"https://example.org"),
        "hint: clone it, and name the clone with --repository",
    );
    check(&whole.replace("factors.word", "factors.commit").replace("word = ", "commit = "), "has a factor `commit`");
    let both = ["--build", "make", "--good", "HEAD~5", study.to_str().unwrap()];
    repository.bisect(&both).expect(2, &["a study says itself how commits are built"]);
}

#[test]
fn git_bisect_run_gets_its_exit_codes() {
    let repository = Repository::of(4);
    let [good, slow, bad] = ["HEAD~4", "HEAD~2", "HEAD"].map(|revision| repository.id(revision));
    let truth = format!("noise:0.01,{slow}:1.05");
    // What is checked out is between good and bad: the truth of the search names it, or not.
    let check = |at: &str, truth: &str, code: i32, out: &str| {
        repository.git(&["checkout", "-q", at]);
        let shown = repository.bisect(&["--script", "--good", &good, "--bad", &bad, "--simulate", truth, "sh", "prog"]);
        shown.expect(code, &[out]);
    };
    check("main~2", &truth, 1, "bad: ");
    check("main~3", &format!("noise:0.01,{bad}:1.05"), 0, "good: ");
    check("main~1", "noise:0.01", 128, "good and bad are not shown to differ");
    check("main~4", &truth, 0, "good: ");
    check("main", &truth, 1, "bad: ");
    let shown = repository.bisect(&["--script", "--good", &good, "sh prog"]);
    shown.expect(128, &["--script needs --bad, because HEAD moves"]);
    // Git would take another code for "bad".
    repository.bisect(&["--script", "--god", &good, "sh prog"]).expect(128, &["unexpected argument '--god'"]);
    let builds = ["--script", "--good", &good, "--bad", &bad, "--build", "! grep -q '# 3' prog", "sh prog"];
    repository.git(&["checkout", "-q", "main~1"]);
    repository
        .bisect(&builds)
        .expect(125, &["cannot be tested: ", "cannot be built, so it is skipped (use another --seed to try again): "]);
}

#[test]
fn what_cannot_be_bisected_is_refused_with_a_remedy() {
    let repository = Repository::of(3);
    let check = |words: &[&str], code: i32, expect: &[&str]| {
        repository.bisect(words).expect(code, expect);
    };
    check(&["sh prog"], 2, &["--good <REVISION>"]);
    check(&["--good", "HEAD~3"], 2, &["<COMMAND|STUDY>"]);
    check(&["--good", "nowhere", "sh prog"], 2, &["has no `nowhere`", "log --oneline --all"]);
    check(&["--good", "HEAD", "sh prog"], 2, &["good and bad are the same commit", "hint: name an older commit"]);
    let swapped = ["--good", "HEAD", "--bad", "HEAD~2", "sh prog"];
    check(&swapped, 2, &["the good commit is not an ancestor of the bad one", "hint: swap --good and --bad"]);
    repository.git(&["checkout", "-q", "-b", "side", "HEAD~2"]);
    repository.commit("#!/bin/sh\n# side\n", 9);
    repository.git(&["checkout", "-q", "main"]);
    check(&["--good", "side", "sh prog"], 2, &["not an ancestor", "git merge-base "]);
    repository.git(&["merge", "-q", "-s", "ours", "-m", "merge", "side"]);
    check(&["--good", "side", "sh prog"], 2, &["not on the path of first parents", "with --good"]);
    check(&["--good", "HEAD~1", "--repository", "/", "sh prog"], 2, &["not in a Git repository"]);
    check(&["--good", "HEAD~1", "--budget", "2", "sh prog"], 2, &["expected a time, trials or builds"]);
    check(&["--good", "HEAD~1", "--on", "lab", "sh prog"], 2, &["so all of its trials run on this machine"]);
    check(&["--good", "HEAD~1", "--simulate", "x:1.03", "sh prog"], 2, &["in --simulate"]);
    check(&["--good", "HEAD~1", "--dry-run", "--json", "sh prog"], 2, &["'--dry-run' cannot be used with '--json'"]);
    check(&["--good", "HEAD~1", "--html", "/nowhere/a.html", "sh prog"], 2, &["there is no folder /nowhere"]);
    check(
        &["--good", "HEAD~1", "--build", "echo no luck >&2; exit 3", "sh prog"],
        4,
        &["cannot be built: layer program: the script exited 3: no luck; the log is /", "hint: name another commit"],
    );
    check(&["--good", "HEAD~1", "./prog.bin input"], 4, &["failed: exited with code 127: sh: ", "or add --build"]);
    // A study that does not exist is no command. A path may name a program that is built, or that only commits have.
    fs::create_dir(repository.dir().join("empty")).unwrap();
    for word in ["./naps", "naps", "naps.toml", "../naps/study.toml", "/no/naps", "empty", "./empty"] {
        let error = format!("there is neither a study nor a program `{word}` hint: name a folder with a study.toml");
        check(&["--good", "HEAD~1", word], 2, &[&error]);
    }
    for words in [["--bad=main", "true"], ["--bad=main", "./naps"], ["--build=make", "./naps"], ["--seed=1", "$PROG"]] {
        check(&[&["--good", "HEAD~1", "--dry-run"], &words[..]].concat(), 0, &["Did this commit change the speed?"]);
    }
}

#[test]
fn before_it_begins_a_bisection_says_what_it_will_cost() {
    let repository = Repository::of(16);
    let shown = repository.bisect(&["--good", "HEAD~16", "--build", "make", "--budget", "2h", "--dry-run", "./prog"]);
    let [good, bad] = ["HEAD~16", "HEAD"].map(|revision| repository.id(revision)[..7].to_owned());
    let page = format!(
        "Which of 16 commits changed the speed?\n  good  {good} prog: step 0\n  bad   {bad} prog: step 16\n  \
         run   ./prog\n  build make\n\n  \
         in the median, for a change of      builds    blocks    trials\n  \
         2 % at 1 % noise                         6        42       111\n  \
         1 % at 1 % noise                         6       130       338\n\n\
         Budget: 2 h; seed 1\n\
         Numbers are those of simulated searches. Bakeoff shows the time once the first\n\
         blocks have run. If the budget ends first, it names the commits that are left.\n"
    );
    assert_eq!((shown.code, shown.out.as_str()), (0, page.as_str()), "{}", shown.err);
    assert!(page.lines().count() < 24 && page.lines().all(|line| line.chars().count() <= 80));
    assert!(!repository.0.path().join("state").exists());
}

/// A program in C whose loop is `steps` long. The number only changes a comment.
fn program(steps: u32, number: u32) -> String {
    format!(
        "/* {number} */\nint main(void) {{\n  volatile double s = 0;\n  for (int i = 0; i < {steps}; i++) s += i;\n  \
         return 0;\n}}\n"
    )
}

/// 64 commits: +3 % at 20, −2 % at 45, one that cannot be built, and many that change a comment only. It takes minutes.
#[test]
fn of_two_real_changes_the_larger_one_is_found_however_often_it_is_killed() {
    if std::env::var_os("BAKEOFF_BISECT").is_none() {
        println!("skipped: it takes minutes; make long PART=bisect runs it");
        return;
    }
    let repository = Repository::new();
    for number in 0..=64_u32 {
        let steps = match number {
            ..20 => 100_000_000,
            20..45 => 103_000_000,
            _ => 100_940_000,
        };
        let broken = if number == 31 { "#error\n" } else { "" };
        fs::write(repository.dir().join("prog.c"), broken.to_owned() + &program(steps, number)).unwrap();
        repository.commit("prog: prog.c\n", number);
    }
    let [before, slow] = [44, 20].map(|number| repository.id(&format!("HEAD~{}", 64 - number)));
    let build = "cc -O1 -o prog.bin prog.c";
    // Up to the second change, there is one.
    let words = ["--good", "HEAD~64", "--bad", &before, "--json", "--build", build, "./prog.bin"];
    let shown = kill_and_finish(&repository, &words, 20_000);
    let one = found(&shown);
    println!("{} {} builds, {} trials", one["answer"], one["builds"], one["trials"]);
    assert_eq!(one["commit"]["hash"], slow, "{one:#}");
    for journal in repository.blocks() {
        let record = bakeoff_journal::read(&journal).unwrap().record;
        each_trial_once(&record, record.blocks[0].order.len());
    }
    nothing_stays_in(repository.0.path());
    let words = ["--good", "HEAD~64", "--json", "--budget", "20min", "--build", build, "./prog.bin"];
    let two = found(&repository.bisect(&words));
    println!("{} {} builds, {} trials", two["answer"], two["builds"], two["trials"]);
    // Whatever is shown to be slower than something before it is so because of the first change; the second one hides it in part.
    if two["ending"] == "proved" {
        assert_eq!(two["commit"]["hash"], slow, "{two:#}");
    } else {
        let step =
            |at: usize| two["between"][at]["subject"].as_str().unwrap().rsplit_once(' ').unwrap().1.parse::<u32>();
        assert!((..20).contains(&step(0).unwrap()) && (20..).contains(&step(1).unwrap()), "{two:#}");
    }
}
