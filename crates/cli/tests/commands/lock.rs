//! `bakeoff lock` as its user sees it, and what its file does for the other commands.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::Sandbox;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::symlink;
use std::path::Path;

/// A study whose only layer takes the source `data`, and that has others besides.
const STUDY: &str = r#"
format = 1
name = "locked"
[sources.data]
fetch = 'cp data.txt "$DOWNLOAD/"'
[sources.here]
path = "data.txt"
[build_factors.greeting]
short = { GREETING = "hi" }
long = { GREETING = "hello" }
[[build]]
name = "program"
source = "data"
tools = []
script = 'echo $GREETING; cp data.txt "$PREFIX/"'
[workloads.w]
run = 'cat "$PREFIX/data.txt"'
[plan]
blocks = 6
[decide]
baseline = { greeting = "short" }
"#;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(STUDY);
    sandbox.write("data.txt", "1\n");
    sandbox
}

const CONTENT: &[u8] = b"1\n";

/// The SHA-256 of the two contents.
const ONE: &str = "4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865";
const TWO: &str = "53c234e5e8472b6ac51c1ae1cab3fe06fad053beb8ebfd8977b010655bfdd3c3";

#[test]
fn what_has_no_hash_is_locked_once_and_then_builds() {
    let sandbox = sandbox();
    for command in ["build", "plan", "run"] {
        sandbox.execute(&[command, "STUDY"]).expect(2, &["source `data` has no `sha256`", "bakeoff lock"]);
    }
    sandbox.execute(&["lock", "STUDY", "--check"]).expect(1, &["data: not locked"]);
    let words = [format!("data: locked now: {ONE}, 2 B"), "here: a path, never locked".to_owned()];
    sandbox.execute(&["lock", "STUDY"]).expect(0, &words.each_ref().map(String::as_str));
    let text = fs::read_to_string(sandbox.study().join("study.lock")).unwrap();
    assert!(text.starts_with("# ") && text.contains("[sources.data]") && text.contains(ONE), "{text}");
    sandbox.execute(&["lock", "STUDY"]).expect(0, &["data: already locked"]);
    sandbox.execute(&["lock", "STUDY", "--check"]).expect(0, &["data: already locked"]);
    assert_eq!(fs::read_to_string(sandbox.study().join("study.lock")).unwrap(), text);
    sandbox.execute(&["build", "STUDY"]).expect(0, &["greeting=long: built"]);
}

#[test]
fn what_changed_upstream_is_refused_until_it_is_updated() {
    let sandbox = sandbox();
    sandbox.execute(&["lock", "STUDY"]).expect(0, &[]);
    sandbox.write("data.txt", "2\n");
    // The lock found it, and so it is in the cache; elsewhere it is not.
    fs::remove_dir_all(sandbox.path().join("cache")).unwrap();
    sandbox.execute(&["build", "STUDY"]).expect(4, &[ONE, TWO, "bakeoff lock STUDY --update=data"]);
    let words = [format!("data: changed: {ONE} → {TWO}")];
    sandbox.execute(&["lock", "STUDY", "--update=data"]).expect(0, &words.each_ref().map(String::as_str));
    // The words may stand in any order: what follows the option is not its name.
    sandbox.execute(&["lock", "--update", "STUDY"]).expect(0, &["data: unchanged"]);
    sandbox.execute(&["build", "STUDY"]).expect(0, &["baseline: built"]);
}

#[test]
fn a_hash_of_another_origin_does_not_count() {
    let sandbox = sandbox();
    sandbox.execute(&["lock", "STUDY"]).expect(0, &[]);
    sandbox.write(
        "study.toml",
        &STUDY
            .replace("cp data.txt \"$DOWN", "cat data.txt data.txt > \"$DOWN")
            .replace("LOAD/\"'", "LOAD/data.txt\"'"),
    );
    sandbox
        .execute(&["lock", "STUDY", "--check"])
        .expect(1, &["data: not locked: hash ", "belongs to an earlier origin"]);
    sandbox.execute(&["build", "STUDY"]).expect(2, &["source `data` has no `sha256`"]);
    sandbox.execute(&["lock", "STUDY"]).expect(0, &["data: locked again, because its origin changed", "→"]);

    let pinned = STUDY.replace("[sources.here]", &format!("sha256 = \"{ONE}\"\n[sources.here]"));
    sandbox.write("study.toml", &pinned);
    sandbox.execute(&["lock", "STUDY"]).expect(0, &["data: removed from study.lock", "data: pinned in study.toml"]);
    sandbox.execute(&["lock", "STUDY", "--update=data"]).expect(2, &["its hash is in study.toml"]);
    sandbox.execute(&["lock", "STUDY", "--update=here"]).expect(2, &["it is a path"]);
    sandbox.execute(&["lock", "STUDY", "--update=date"]).expect(2, &["no source `date`", "did you mean `data`?"]);
}

#[test]
fn a_source_that_cannot_be_had_is_told_and_the_others_are_locked() {
    let sandbox = sandbox();
    sandbox.write(
        "study.toml",
        &STUDY.replace("[sources.here]", "[sources.gone]\nfetch = 'echo no route; exit 3'\n[sources.here]"),
    );
    sandbox
        .execute(&["lock", "STUDY"])
        .expect(4, &["source `gone`: the fetch command exited 3", "no route", "data: locked now"]);
    sandbox.execute(&["lock", "STUDY", "--check"]).expect(1, &["data: already locked", "gone: not locked"]);
}

#[test]
fn a_lock_file_that_is_broken_is_shown_with_its_place() {
    let sandbox = sandbox();
    sandbox.write("study.lock", "format = 1\n[sources.data]\nsha256 = \"1\"\n");
    sandbox.execute(&["build", "STUDY"]).expect(2, &["study.lock:3:10", "64 lower-case", "remedy"]);
    fs::remove_file(sandbox.study().join("study.lock")).unwrap();
    fs::create_dir(sandbox.study().join("study.lock")).unwrap();
    sandbox.execute(&["lock", "STUDY"]).expect(2, &["cannot read the lock file"]);
}

/// Gives everybody the content of the study's file; the port.
fn server() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            assert!(stream.read(&mut [0; 1024]).unwrap() > 0);
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", CONTENT.len());
            stream.write_all(&[head.as_bytes(), CONTENT].concat()).unwrap();
        }
    });
    port
}

#[test]
fn an_address_needs_curl_or_wget() {
    let sandbox = sandbox();
    let origin = format!("url = 'http://127.0.0.1:{}/data.txt'", server());
    sandbox.write("study.toml", &STUDY.replace("fetch = 'cp data.txt \"$DOWNLOAD/\"'", &origin));
    let tools = sandbox.path().join("tools");
    fs::create_dir(&tools).unwrap();
    let lock = || {
        let mut command = sandbox.command(&["lock", "STUDY"]);
        crate::common::Shown::of(&command.env("PATH", &tools).output().unwrap())
    };
    let install = |name: &str| {
        let path = std::env::var_os("PATH").unwrap();
        let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file());
        found.map(|path: std::path::PathBuf| symlink(Path::new(&path), tools.join(name)).unwrap()).is_some()
    };
    assert!(install("sh") && install("cp"));
    lock().expect(4, &["neither is on PATH; install one of them"]);
    if install("wget") {
        lock().expect(0, &["data: locked now", ONE]);
    } else {
        println!("skipped: there is no wget");
    }
}
