//! What surrounds trials, and must not differ from what was asked for in silence: the locale, processors, standard
//! input, and data that is not there.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::{Sandbox, Shown};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A study whose trials write their locale into a file of the study's folder.
fn locales(more: &str) -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new("");
    let seen = sandbox.path().join("seen");
    let show = format!("echo \\\"$LC_ALL,$LANG,$LC_TIME\\\" >> {}", seen.display());
    sandbox.write(
        "study.toml",
        &format!(
            "format = 1\nname = \"x\"\n[run_factors.a]\nb = {{ A = \"1\" }}\nc = {{ A = \"2\" }}\n\
             [workloads.w]\nrun = \"{show}\"\n[plan]\nblocks = 6\n[decide]\nbaseline = {{ a = \"b\" }}\n{more}"
        ),
    );
    (sandbox, seen)
}

/// The locales of all trials of a command that has these variables.
fn seen(sandbox: &Sandbox, file: &PathBuf, words: &[&str], variables: &[(&str, &str)]) -> (Vec<String>, Shown) {
    let _ = fs::remove_file(file);
    let mut command = sandbox.command(words);
    command.env_remove("LC_ALL").env_remove("LANG").envs(variables.iter().copied());
    let shown = Shown::of(&command.output().unwrap());
    let text = fs::read_to_string(file).unwrap_or_default();
    let mut all: Vec<String> = text.lines().map(str::to_owned).collect();
    all.sort();
    all.dedup();
    (all, shown)
}

#[test]
fn a_study_and_a_comparison_have_the_users_locale() {
    let check = |variables: &[(&str, &str)], study: &str, compared: &str| {
        let (sandbox, file) = locales("");
        let (found, shown) = seen(&sandbox, &file, &["run", "STUDY", "--quiet"], variables);
        assert_eq!(found, [study], "{shown:?}");
        let show = format!("echo \"$LC_ALL,$LANG,$LC_TIME\" >> {}", file.display());
        let words = ["compare", &show, &format!("true; {show}"), "--blocks", "6", "--quiet"];
        assert_eq!(seen(&sandbox, &file, &words, variables).0, [compared]);
    };
    check(&[("LC_ALL", "C.UTF-8"), ("LANG", "de_DE.UTF-8")], "C.UTF-8,,", "C.UTF-8,de_DE.UTF-8,");
    check(&[("LANG", "C.UTF-8"), ("LC_TIME", "POSIX")], ",C.UTF-8,POSIX", ",C.UTF-8,POSIX");
    check(&[], "C,,", ",,");
}

#[test]
fn a_study_that_says_a_locale_has_that_one_and_a_plan_shows_which() {
    let (sandbox, file) = locales("[conditions.c]\nlocale = \"POSIX\"\n");
    let user = [("LC_ALL", "C.UTF-8")];
    assert_eq!(seen(&sandbox, &file, &["run", "STUDY", "--quiet"], &user).0, ["POSIX,,"]);
    let (sandbox, file) = locales("");
    seen(&sandbox, &file, &["plan", "STUDY"], &user).1.expect(0, &["Locale: LC_ALL=C.UTF-8 (yours)"]);
    // Trials by another locale are another study's.
    seen(&sandbox, &file, &["run", "STUDY", "--blocks", "7"], &user).1.expect(0, &[]);
    seen(&sandbox, &file, &["run", "STUDY", "--blocks", "8"], &[("LC_ALL", "C")])
        .1
        .expect(0, &["starting a new journal", "the locale of the trials (LC_ALL, or LANG and its like), now removed"]);
}

#[test]
fn a_locale_that_is_not_here_is_named_before_the_first_block() {
    if !Command::new("locale").arg("-a").output().is_ok_and(|output| output.status.success()) {
        return println!("skipped: there is no `locale`");
    }
    let note = "note: this machine has no locale `xx_YY.UTF-8`, so programs that request it use C";
    let (sandbox, file) = locales("[conditions.c]\nlocale = \"xx_YY.UTF-8\"\n");
    let shown = seen(&sandbox, &file, &["run", "STUDY", "--quiet"], &[]).1;
    assert_eq!(shown.expect(0, &[note]).err.matches("has no locale").count(), 1);
    let words = ["compare", "true", "true; true", "--blocks", "6", "--quiet", "--env", "LC_ALL=xx_YY.UTF-8"];
    seen(&sandbox, &file, &words, &[]).1.expect(0, &[note]);
    let shown = seen(&sandbox, &file, &words[..6], &[("LC_ALL", "C.UTF-8")]).1;
    assert!(!shown.err.contains("has no locale"), "{}", shown.err);
}

#[test]
fn processors_that_are_not_there_are_refused() {
    let sandbox = Sandbox::new("");
    let words = ["compare", "true", "true; true", "--blocks", "6", "--cpus"];
    let refused = ["processor 3999 is not online here, so trials cannot be pinned to it", "lscpu --extended"];
    sandbox.execute(&[&words[..], &["0,3999"]].concat()).expect(2, &refused);
    sandbox.execute(&[&words[..], &["0"]].concat()).expect(0, &[]);
    let (sandbox, _) = locales("[conditions.pinned]\ncpus = \"3999\"\n");
    sandbox.execute(&["run", "STUDY"]).expect(2, &refused);
    assert!(sandbox.journals().is_empty());
}

#[test]
fn standard_input_that_nobody_reads_is_noted() {
    let sandbox = Sandbox::new("");
    let note = "note: the commands do not read Bakeoff's standard input; use --input FILE";
    sandbox.write("data", "x\n");
    let noted = |input: Stdio, more: &[&str]| {
        let words = [&["compare", "cat", "cat -u", "--blocks", "6", "--quiet"], more].concat();
        let shown = Shown::of(&sandbox.command(&words).stdin(input).output().unwrap());
        assert_eq!(shown.code, 0, "{shown:?}");
        shown.err.contains(note)
    };
    let file = || Stdio::from(fs::File::open(sandbox.study().join("data")).unwrap());
    assert!(noted(Stdio::piped(), &[]) && noted(file(), &[]));
    assert!(!noted(Stdio::null(), &[]) && !noted(file(), &["--input", "study/data"]));
}

#[test]
fn a_pointer_of_git_lfs_is_not_measured() {
    const POINTER: &str = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n";
    let refused = |name: &str| [format!("{name} is a Git LFS pointer, not the data"), "git lfs pull".to_owned()];
    let check = |shown: &Shown, name: &str| {
        let parts = refused(name);
        shown.expect(2, &parts.iter().map(String::as_str).collect::<Vec<_>>());
    };
    let sandbox = Sandbox::new("");
    fs::write(sandbox.path().join("data.bin"), POINTER).unwrap();
    check(&sandbox.execute(&["compare", "cat data.bin", "cat -u data.bin"]), "data.bin");
    let shown = sandbox.execute(&["compare", "cat", "cat -u", "--input", "data.bin"]);
    assert!(shown.code == 2 && shown.err.contains("data.bin is a Git LFS pointer"), "{shown:?}");
    let (sandbox, _) = locales("");
    let study = fs::read_to_string(sandbox.study().join("study.toml")).unwrap();
    sandbox.write("study.toml", &study.replace("run = \"", "run = \"cat data.bin > /dev/null; "));
    sandbox.write("data.bin", POINTER);
    check(&sandbox.execute(&["run", "STUDY"]), "data.bin");
    let built = Sandbox::new(&format!(
        "format = 1\nname = \"x\"\n[build_factors.a]\nb = {{ A = \"1\" }}\nc = {{ A = \"2\" }}\n[[build]]\nname = \"p\"\ntools = []\n\
         script = '''echo $A > $PREFIX/a; cat > $PREFIX/data.bin <<E\n{POINTER}E\n'''\n[workloads.w]\n\
         run = 'cat \"$PREFIX/data.bin\"'\n[decide]\nbaseline = {{ a = \"b\" }}\n"
    ));
    check(&built.execute(&["run", "STUDY"]), "$PREFIX/data.bin");
    // That of a commit is in the tree that the command is run in.
    let git = format!(
        "git init -q r; cd r; printf '%s' '{POINTER}' > data.bin; git add .; git -c user.name=a -c user.email=a@b commit -qm x; \
         echo >> other; git add .; git -c user.name=a -c user.email=a@b commit -qm y"
    );
    assert!(Command::new("sh").args(["-ec", &git]).current_dir(sandbox.path()).status().unwrap().success());
    let words = ["compare", "--repository", "r", "--git", "HEAD", "--git", "HEAD~1", "--anyway", "cat data.bin"];
    // Both revisions have it.
    let both = "data.bin and 1 other file are Git LFS pointers, not the data";
    sandbox.execute(&words).expect(2, &[both, "git lfs pull"]);
}
