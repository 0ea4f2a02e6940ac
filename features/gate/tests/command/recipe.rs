//! The recipe of `docs/tasks/ci.md`: two commits of a repository in a pipeline. Its study and its script are taken from the page,
//! and run on a repository that is made here.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::Shown;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The first block of this kind on the page.
fn block<'a>(page: &'a str, kind: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("```{kind}\n")).unwrap_or_else(|| panic!("the page has no {kind}"));
    rest.split("```").next().unwrap()
}

fn sh(folder: &Path, script: &str) {
    let mut command = Command::new("sh");
    command
        .args(["-ec", script])
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null");
    for (who, name) in [("AUTHOR", "a"), ("COMMITTER", "c")] {
        command.env(format!("GIT_{who}_NAME"), name).env(format!("GIT_{who}_EMAIL"), format!("{name}@localhost"));
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{script}\n{}", String::from_utf8_lossy(&output.stderr));
}

/// A repository with a program on the branch `main`, and the study of the page in it.
fn repository(folder: &Path, page: &str) {
    let count = "int main(void) {\n  volatile unsigned x = 0;\n  for (unsigned i = 0; i < TIMES; i++) x += i;\n  return 0;\n}\n";
    fs::write(folder.join("count.c"), count.replace("TIMES", "40000000u")).unwrap();
    fs::write(folder.join("Makefile"), "count: count.c\n\t$(CC) -O1 -o $@ count.c\n").unwrap();
    fs::create_dir(folder.join("bench")).unwrap();
    fs::write(folder.join("bench/study.toml"), block(page, "toml")).unwrap();
    fs::write(folder.join(".gitignore"), "count\n.cache\ngate.xml\nbench/study.lock\nbench/.bakeoff\n").unwrap();
    sh(folder, "git init -q -b main . && git add . && git commit -qm begin && git checkout -qb change");
}

fn has(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok()
}

#[test]
fn the_recipe_for_a_pipeline_gates_on_two_commits() {
    if let Some(missing) = ["git", "make", "cc"].into_iter().find(|tool| !has(tool)) {
        return println!("skipped: {missing} is not installed");
    }
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tasks/ci.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let repo: PathBuf = folder.path().join("repo");
    fs::create_dir(&repo).unwrap();
    repository(&repo, &page);
    let program = Path::new(env!("CARGO_BIN_EXE_bakeoff")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    // The page's branch is that of a server; here it is the repository's own.
    let script = block(&page, "sh").replace("origin/main", "main");
    let pipeline = || {
        let mut command = Command::new("sh");
        command.args(["-c", &script]).current_dir(&repo).env("PATH", &path).env("LC_ALL", "C.UTF-8");
        command.env("BAKEOFF_LOCKS", folder.path()).env("BAKEOFF_STATE", folder.path().join("state"));
        Shown::of(&command.output().unwrap())
    };

    // Documents only: the same program, without a trial.
    sh(&repo, "echo words > README && git add . && git commit -qm docs");
    pipeline().expect(0, &["The gate passes: commit=new is the same program as the baseline, file for file"]);
    let xml = fs::read_to_string(repo.join("gate.xml")).unwrap();
    assert!(xml.contains("failures=\"0\" errors=\"0\" skipped=\"0\""), "{xml}");

    // A change that makes it slower.
    sh(&repo, "sed -i s/40000000u/160000000u/ count.c && git commit -qam slower");
    pipeline().expect(1, &["The gate fails: in wall time, commit=new is at least", "limit +2 %"]);
    let journals = fs::read_dir(repo.join("bench/.bakeoff")).unwrap().map(|entry| entry.unwrap().path());
    let journal = journals.into_iter().find(|path| path.extension().is_some_and(|e| e == "jsonl")).unwrap();
    let builds = bakeoff_journal::read(&journal).unwrap().record.made;
    let is_cached =
        |variant: &str| builds.iter().find(|build| build.variants == [variant]).unwrap().more["cached"] == true;
    assert!(is_cached("baseline") && !is_cached("commit=new"), "the old commit is not built again: {builds:?}");
    let xml = fs::read_to_string(repo.join("gate.xml")).unwrap();
    assert!(
        xml.contains("<testcase classname=\"commits.count\" name=\"commit=new\">") && xml.contains("<failure "),
        "{xml}"
    );

    // One that makes it faster.
    sh(&repo, "sed -i s/160000000u/4000000u/ count.c && git commit -qam faster");
    pipeline().expect(0, &["The gate passes: in wall time, commit=new is at least", "% faster than the baseline"]);

    // One that does not compile.
    sh(&repo, "echo nonsense >> count.c && git commit -qam broken");
    pipeline().expect(4, &[]);
}
