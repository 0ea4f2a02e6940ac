//! Git repositories as sources: what a revision is, what cannot be had, and that nothing of a repository is run.

use crate::building_tests::study::{Study, had, layer};
use crate::error::Failure;
use crate::journal::BuildOutcome;
use crate::{BuildEvent, FoundSource};
use crate::{Source, SourceFrom};
use bakeoff_testkit::files::{read, sh, sha256};
use std::fs;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Lists what there is in the folder that the script starts in.
const FIND: &str = "find . ! -name . | sort | tr '\\n' ' ' > $PREFIX/found";

/// A study that takes what its repository `repo` holds at a revision.
fn study(revision: &str) -> Study {
    let mut study = Study::new(&[layer("program", FIND)]);
    study.source("", "");
    study.sources[0].from = SourceFrom::git("repo", revision);
    study.sources[0].sha256 = None;
    study
}

/// The same, and the repository: the tag `v1`, the branch `next` and a file for each of the two.
fn with_repository(revision: &str) -> Study {
    let study = study(revision);
    git_init(&study, "repo");
    in_repo(
        &study,
        "echo 1 > one; chmod +x one; git add one; git commit -qm one; git tag -a v1 -m v1; \
         git checkout -qb next; echo 2 > two; git add two; git commit -qm two; git checkout -q main",
    );
    study
}

fn git_init(study: &Study, name: &str) {
    sh(
        &study.dir(),
        &format!(
            "git init -q -b main {name}; cd {name}; git config user.name n; git config user.email e@example.org; \
             git config commit.gpgsign false; git config tag.gpgsign false"
        ),
    );
}

fn in_repo(study: &Study, script: &str) {
    sh(&study.dir().join("repo"), script);
}

fn commit(study: &Study, revision: &str) -> String {
    in_repo(study, &format!("git rev-parse '{revision}^{{commit}}' > ../commit"));
    read(study.dir().join("commit"))
}

fn find_with(study: &Study, source: &Source) -> Result<FoundSource, Failure> {
    had(study.cache.find_source(&study.dir(), source, &|event| study.events.lock().unwrap().push(event)))
}

fn find(study: &Study) -> FoundSource {
    find_with(study, &study.sources[0]).unwrap()
}

#[track_caller]
fn not_found(study: &Study, parts: &[&str]) {
    let why = find_with(study, &study.sources[0]).unwrap_err().why;
    parts.iter().for_each(|part| assert!(why.contains(part), "{part:?} is missing in {why:?}"));
}

/// Pins the source as it is now, and builds it; what the script found.
fn found(study: &mut Study) -> String {
    if study.sources[0].sha256.is_none() && !study.sources[0].from.is_as_it_is_now() {
        study.sources[0].sha256 = Some(find(study).sha256);
    }
    read(study.built().1.join("found"))
}

#[test]
fn a_revision_of_a_repository_is_a_tree_without_its_past() {
    let mut study = with_repository("v1");
    let (v1, next) = (commit(&study, "v1"), commit(&study, "next"));
    let whole = format!("file://{}", study.dir().join("repo").display());
    sh(&study.dir(), "git -C repo bundle create -q ../bundle --all");
    for url in ["repo", &whole, "bundle"] {
        for (revision, commit) in [
            ("v1", &v1),
            ("main", &v1),
            ("HEAD", &v1),
            (&v1[..], &v1),
            (&v1[..9], &v1),
            ("next", &next),
            (&next[..9], &next),
            ("next~1", &v1),
            ("v1^{commit}", &v1),
        ] {
            study.sources[0].from = SourceFrom::git(url, revision);
            assert_eq!(find(&study).commit.as_ref(), Some(commit), "{url} {revision}");
        }
    }
    in_repo(&study, "git checkout -q next");
    for revision in ["HEAD~1", "@~1", ":/one", "main@{0}", "main"] {
        study.sources[0].from = SourceFrom::git("repo", revision);
        assert_eq!(find(&study).commit.as_ref(), Some(&v1), "{revision}");
    }
    study.sources[0].from = SourceFrom::git("repo", "next");
    study.sources[0].sha256 = Some(find(&study).sha256);
    fs::remove_dir_all(study.dir().join("repo")).unwrap();
    assert_eq!(found(&mut study), "./one ./two", "it is in the cache");
}

#[test]
fn a_pinned_revision_stays_what_it_was_when_the_branch_moves() {
    let study = with_repository("main");
    let dir = study.dir().join("repo");
    let pin = |revision: &str| {
        let report = |event| study.events.lock().unwrap().push(event);
        study.cache.pinned_revision(&dir, revision, &report).unwrap()
    };
    let fetched = || study.count(|event| matches!(event, BuildEvent::Fetching { .. }));
    let (before, v1) = (pin("main"), commit(&study, "v1"));
    assert_eq!(before.from, SourceFrom::git(&dir.display().to_string(), &v1));
    assert_eq!((pin("v1").sha256, fetched()), (before.sha256.clone(), 1), "the cache remembers the commit");
    assert_eq!(study.cache.commit_now(&study.dir(), &study.sources[0]).unwrap(), Some(v1));
    in_repo(&study, "git merge -q next");
    let after = pin("main");
    assert_eq!(study.cache.commit_now(&study.dir(), &study.sources[0]).unwrap(), Some(commit(&study, "next")));
    assert!(after.from != before.from && after.sha256 != before.sha256);
    assert_eq!(pin("next").sha256, after.sha256);
    assert_eq!(fetched(), 2);
}

#[test]
fn what_cannot_be_had_says_what_to_do() {
    let mut study = study("v1");
    not_found(&study, &["the folder `", "repo` does not exist", "the address of a Git repository"]);
    fs::create_dir(study.dir().join("repo")).unwrap();
    not_found(&study, &["is not in a Git repository", "git init"]);
    fs::remove_dir(study.dir().join("repo")).unwrap();
    let known = study;
    study = with_repository("v2");
    drop(known);
    not_found(&study, &["has no `v2`", "log --oneline --all", "fetch"]);
    for revision in ["HEAD^{tree}", "HEAD:one"] {
        study.sources[0].from = SourceFrom::git("repo", revision);
        not_found(&study, &["is not a commit"]);
    }
    study.sources[0].from = SourceFrom::git("repo", "--upload-pack=x");
    not_found(&study, &["neither the repository nor the revision may begin with `-`"]);
    study.sources[0].from = SourceFrom::git("http://127.0.0.1:1/x.git", "v1");
    not_found(&study, &["git cannot fetch from http://127.0.0.1:1/x.git", "git ls-remote"]);
    study.sources[0].from = SourceFrom::git("file:///absent/x.git", "v1");
    not_found(&study, &["git cannot fetch from file:///absent/x.git"]);
    sh(&study.dir(), "git -C repo bundle create -q ../bundle --all");
    study.sources[0].from = SourceFrom::git("bundle", "v2");
    not_found(&study, &["the repository bundle has no `v2`", "ls-remote"]);
    study.sources[0].from = SourceFrom::git("repo", "v1");
    study.sources[0].sha256 = Some(sha256(""));
    let (why, _) = study.failed();
    assert!(why.contains("the folder's tree has SHA-256"), "{why}");
}

#[test]
fn a_shallow_clone_and_a_commit_that_has_vanished_are_named() {
    let mut study = with_repository("HEAD~1");
    in_repo(&study, "git checkout -q next");
    sh(&study.dir(), "git clone -q --depth 1 \"file://$PWD/repo\" shallow");
    study.sources[0].from = SourceFrom::git("shallow", "HEAD");
    assert_eq!(find(&study).commit, Some(commit(&study, "next")));
    study.sources[0].from = SourceFrom::git("shallow", "HEAD~1");
    not_found(&study, &["has no `HEAD~1`", "shallow clone", "fetch --unshallow"]);

    let next = commit(&study, "next");
    study.sources[0].from = SourceFrom::git("repo", &next);
    study.sources[0].sha256 = Some(find(&study).sha256);
    in_repo(
        &study,
        "git checkout -q main; git branch -qD next; git reflog expire --expire=now --all; git gc -q --prune=now",
    );
    study.built();
    fs::remove_dir_all(study.cache.root().join("sources")).unwrap();
    fs::create_dir(study.cache.root().join("sources")).unwrap();
    fs::remove_dir_all(study.cache.root().join("records")).unwrap();
    fs::create_dir(study.cache.root().join("records")).unwrap();
    let (why, _) = study.failed();
    assert!(why.contains(&format!("has no `{next}`")), "{why}");
}

#[test]
fn a_repository_of_somebody_else_is_left_alone() {
    let study = with_repository("v1");
    let owned = Command::new("chown").args(["-R", "12345", "repo"]).current_dir(study.dir()).output().unwrap();
    if !owned.status.success() {
        println!("skipped: this user cannot give files away");
        return;
    }
    match find_with(&study, &study.sources[0]) {
        Ok(_) => println!("skipped: this user's Git trusts everybody"),
        Err(Failure { why, .. }) => {
            for part in ["belongs to another user", "git config --global --add safe.directory "] {
                assert!(why.contains(part), "{why}");
            }
        }
    }
}

/// Everything in a repository that could make Git run something: each makes a file in `canary`.
fn trap(study: &Study) -> PathBuf {
    let canary = study.dir().join("canary");
    fs::create_dir(&canary).unwrap();
    let bite = |name: &str| format!("touch '{}/{name}'", canary.display());
    let hooks = study.dir().join("repo/.git/hooks");
    for hook in [
        "post-checkout",
        "post-index-change",
        "reference-transaction",
        "post-merge",
        "pre-auto-gc",
        "fsmonitor-watchman",
        "post-commit",
    ] {
        let text = format!("#!/bin/sh\n{}\n", bite(hook));
        fs::write(hooks.join(hook), text).unwrap();
        sh(&hooks, &format!("chmod +x {hook}"));
    }
    let set = |key: &str, value: &str| {
        let done = Command::new("git").args(["config", key, value]).current_dir(study.dir().join("repo")).status();
        assert!(done.unwrap().success());
    };
    for key in [
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "core.editor",
        "core.askPass",
        "core.gitProxy",
        "core.alternateRefsCommand",
        "diff.external",
        "diff.evil.textconv",
        "diff.evil.command",
        "merge.evil.driver",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "uploadpack.packObjectsHook",
        "gpg.program",
        "credential.helper",
        "tar.tar.gz.command",
        "sequence.editor",
        "interactive.diffFilter",
        "remote.origin.uploadpack",
    ] {
        set(key, &format!("{}; cat", bite(key)));
    }
    set("submodule.sub.update", &format!("!{}", bite("submodule.update")));
    for name in ["rev-parse", "ls-files", "read-tree"] {
        set(&format!("alias.{name}"), &format!("!{}", bite(name)));
    }
    set("pager.ls-files", &bite("pager"));
    set("protocol.ext.allow", "always");
    set("remote.origin.url", &format!("ext::sh -c {}", bite("ext").replace(' ', "% ")));
    in_repo(
        study,
        "printf '* filter=evil diff=evil merge=evil export-subst\\n' > .gitattributes; \
         printf '[submodule \"sub\"]\\n path = sub\\n url = ext::sh -c true\\n update = !true\\n' > .gitmodules; \
         echo '$Format:%H$' > one",
    );
    canary
}

fn bites(canary: &Path) -> Vec<String> {
    let entries = fs::read_dir(canary).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn nothing_of_a_repository_is_executed() {
    let mut study = with_repository("HEAD");
    let canary = trap(&study);
    // What is committed without its own filters is what is laid out.
    in_repo(
        &study,
        "git -c core.fsmonitor=false -c core.hooksPath=/dev/null -c filter.evil.clean= -c filter.evil.process= \
         -c filter.evil.required=false add . && \
         git -c core.fsmonitor=false -c core.hooksPath=/dev/null -c filter.evil.clean= -c filter.evil.process= \
         commit -qm trap",
    );
    let before = bites(&canary);
    assert_eq!(before, Vec::<String>::new());
    let head = find(&study);
    assert_eq!(found(&mut study), "./.gitattributes ./.gitmodules ./one");
    let filtered =
        |event: &BuildEvent| matches!(event, BuildEvent::NotFiltered { filter, files: 3, .. } if filter == "evil");
    assert!(study.count(|event| filtered(event)) <= 1);
    let dir = study.dir().join("repo");
    study.cache.pinned_revision(&dir, "v1", &|_| {}).unwrap();
    study.cache.place_in_repository(&dir).unwrap();
    // The working tree is the same as the commit, and shares its build.
    study.sources[0].from = SourceFrom::git("repo", "worktree");
    study.sources[0].sha256 = None;
    assert!(study.built().0.cached);
    sh(&dir, "echo 3 > three");
    assert_eq!(found(&mut study), "./.gitattributes ./.gitmodules ./one ./three");
    // What is marked as a cache is none of its files, though nothing ignores it.
    sh(
        &dir,
        "mkdir -p target/x; echo Signature: 8a477f597d28d172789f06886806bc55 > target/CACHEDIR.TAG; echo > target/x/y",
    );
    assert_eq!(found(&mut study), "./.gitattributes ./.gitmodules ./one ./three");
    // Of an object that is missing, the remote is not asked.
    in_repo(&study, "git config remote.origin.promisor true; git config extensions.partialClone origin");
    let blob = commit(&study, "HEAD");
    sh(&dir, "rm -f .git/objects/$(git -c core.fsmonitor=false rev-parse HEAD:one | sed 's,..,&/,')");
    study.sources[0].from = SourceFrom::git("repo", &blob);
    not_found(&study, &["cannot check out commit", "partial clone"]);
    study.sources[0].from = SourceFrom::git("repo", &"1".repeat(40));
    not_found(&study, &["has no `1111"]);
    assert_eq!(bites(&canary), Vec::<String>::new());
    assert_eq!(read(study.cache.root().join("sources").join(&head.sha256).join("tree/one")), "$Format:%H$");

    // The trap is one: Git itself, without our care, walks into it.
    let _ = Command::new("git").args(["status"]).current_dir(&dir).output().unwrap();
    let _ = Command::new("git").args(["checkout", "-qf", "next"]).current_dir(&dir).output().unwrap();
    assert!(bites(&canary).len() > 1, "{:?}", bites(&canary));
}

#[test]
fn filters_are_reported_and_files_are_as_the_commit_has_them() {
    let mut study = with_repository("HEAD");
    in_repo(
        &study,
        "printf '*.bin filter=lfs -text\\n*.txt eol=crlf\\n' > .gitattributes; echo pointer > a.bin; echo pointer > b.bin; \
         echo text > c.txt; git -c filter.lfs.clean= -c filter.lfs.process= -c filter.lfs.required=false add . && \
         git commit -qm lfs",
    );
    let sha256 = find(&study).sha256;
    let lfs = BuildEvent::NotFiltered { source: "upstream".to_owned(), filter: "lfs".to_owned(), files: 2 };
    assert_eq!(study.count(|event| *event == lfs), 1);
    let tree = study.cache.root().join("sources").join(sha256).join("tree");
    assert_eq!(fs::read(tree.join("a.bin")).unwrap(), b"pointer\n");
    assert_eq!(fs::read(tree.join("c.txt")).unwrap(), b"text\r\n", "line ends are as a checkout has them");
    assert!(found(&mut study).contains("./a.bin"));
}

#[test]
fn submodules_are_the_commits_that_are_recorded() {
    let mut study = with_repository("HEAD");
    git_init(&study, "sub");
    sh(&study.dir(), "cd sub; echo 1 > inner; git add .; git commit -qm one");
    in_repo(
        &study,
        "git -c protocol.file.allow=always submodule --quiet add ../sub lib/sub 2> /dev/null; git commit -qm sub",
    );
    // What comes after the recorded commit does not count.
    sh(&study.dir(), "cd sub; echo 2 > later; git add .; git commit -qm two");
    assert_eq!(found(&mut study), "./.gitmodules ./lib ./lib/sub ./lib/sub/inner ./one");
    // Its objects are also there where it is not checked out.
    in_repo(&study, "git submodule --quiet deinit -f --all");
    assert_eq!(find(&study).sha256, study.sources[0].sha256.clone().unwrap());
    // The working tree with it is the same; without it, not.
    study.sources[0] = Source { from: SourceFrom::git("repo", "worktree"), sha256: None, ..study.sources[0].clone() };
    assert_eq!(found(&mut study), "./.gitmodules ./lib ./lib/sub ./one");
    in_repo(&study, "git -c protocol.file.allow=always submodule --quiet update --init");
    assert!(study.built().0.cached);
    in_repo(&study, "echo 3 > lib/sub/untracked");
    assert_eq!(found(&mut study), "./.gitmodules ./lib ./lib/sub ./lib/sub/inner ./lib/sub/untracked ./one");
    // A clone that never had it.
    sh(&study.dir(), "git clone -q repo clone");
    study.sources[0].from = SourceFrom::git("clone", "HEAD");
    not_found(&study, &["submodule `lib/sub` points to `../sub`", "submodule update --init --recursive"]);
    study.sources[0].sha256 = Some(sha256(""));
    assert!(study.build().iter().all(|line| line.outcome != BuildOutcome::Built));
}

/// Serves the repositories of a folder until the test ends; the port.
fn daemon(folder: PathBuf) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = OwnedFd::from(stream.unwrap());
            let mut command = Command::new("git");
            command.args(["daemon", "--inetd", "--export-all", &format!("--base-path={}", folder.display())]);
            command.stdin(stream.try_clone().unwrap()).stdout(stream).stderr(Stdio::null());
            std::thread::spawn(move || command.status().unwrap());
        }
    });
    port
}

#[test]
fn an_address_is_fetched_with_its_submodules() {
    let programs = Command::new("git").arg("--exec-path").output().unwrap().stdout;
    if !Path::new(String::from_utf8(programs).unwrap().trim()).join("git-daemon").exists() {
        println!("skipped: there is no git daemon");
        return;
    }
    let mut study = with_repository("HEAD");
    git_init(&study, "sub");
    sh(&study.dir(), "cd sub; echo 1 > inner; git add .; git commit -qm one");
    in_repo(
        &study,
        "git -c protocol.file.allow=always submodule --quiet add ../sub lib 2> /dev/null; git commit -qm sub; \
         git config -f .gitmodules submodule.lib.url \"file://$PWD/../sub\"; git commit -qam file; \
         git -c protocol.file.allow=always clone -q --depth 1 \"file://$PWD\" ../shallow",
    );
    let url = |name: &str, port: u16| format!("git://127.0.0.1:{port}/{name}");
    let port = daemon(study.dir());
    study.sources[0].from = SourceFrom::git(&url("repo", port), "HEAD~1");
    assert_eq!(found(&mut study), "./.gitmodules ./lib ./lib/inner ./one");
    // The whole id of a commit that no branch ends with, as it is in a lock file.
    let commit = commit(&study, "HEAD~1");
    study.sources[0].from = SourceFrom::git(&url("repo", port), &commit);
    assert_eq!(find(&study).sha256, study.sources[0].sha256.clone().unwrap());
    study.sources[0].from = SourceFrom::git(&url("repo", port), "HEAD");
    not_found(&study, &["submodule `lib` points to `file://", "only http, https, ssh and git"]);
    study.sources[0].from = SourceFrom::git(&url("shallow", port), "HEAD~1");
    not_found(&study, &["has no `HEAD~1`", "git ls-remote git://"]);
    study.sources[0].from = SourceFrom::git(&url("absent", port), "HEAD");
    not_found(&study, &["git cannot fetch from git://"]);
}

#[test]
fn the_working_tree_is_what_git_does_not_ignore() {
    let mut study = with_repository("worktree");
    in_repo(&study, "echo 'ignored*' > .gitignore; echo 2 > two; touch ignored; mkdir .bakeoff; touch .bakeoff/x");
    assert_eq!(found(&mut study), "./.gitignore ./one ./two");
    let (line, _) = study.built();
    in_repo(&study, "echo 3 > ignored-too; touch one");
    assert_eq!(study.built().0.digest, line.digest);
    in_repo(&study, "echo 4 >> one");
    assert_ne!(study.built().0.digest, line.digest);
    in_repo(&study, "rm one");
    assert_eq!(found(&mut study), "./.gitignore ./two");
    // A tracked file behind a link is not there, and no file outside is read.
    in_repo(
        &study,
        "mkdir d; echo 5 > d/f; git add .; git commit -qm d; rm -r d; mkdir ../e; echo 6 > ../e/f; ln -s ../e d",
    );
    assert_eq!(found(&mut study), "./.gitignore ./d ./two");
    // Of a folder within, it is the whole tree.
    in_repo(&study, "mkdir -p s/t; touch s/t/x");
    study.sources[0].from = SourceFrom::git("repo/s/t", "worktree");
    assert_eq!(found(&mut study), "./.gitignore ./d ./s ./s/t ./s/t/x ./two");
    assert_eq!(study.cache.place_in_repository(&study.dir().join("repo/s/t")).unwrap(), PathBuf::from("s/t/"));
    sh(&study.dir(), "git clone -q --bare repo bare");
    study.sources[0].from = SourceFrom::git("bare", "worktree");
    let error = study.try_build().unwrap_err().to_string();
    assert!(error.contains("has no working tree"), "{error}");
}
