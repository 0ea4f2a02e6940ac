//! `bakeoff serve` as a whole: who gets a page and who does not, and that a run writes it for one who serves.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use crate::common::{Sandbox, Shown, small};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

/// `bakeoff` as it is typed.
fn typed(sandbox: &Sandbox, words: &[&str]) -> Shown {
    Shown::of(&sandbox.command_as_typed(words).output().unwrap())
}

fn run(sandbox: &Sandbox, blocks: &str) {
    let words = ["run", "STUDY", "--quiet", "--blocks", blocks, "--simulate=noise:0.01"];
    typed(sandbox, &words).expect(0, &["more: bakeoff"]);
}

/// A server that ends with the test.
struct Serving {
    child: Child,
    port: String,
    token: String,
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Serving {
    fn of(sandbox: &Sandbox, studies: &[&str]) -> Self {
        let words = [&["serve"], studies].concat();
        let mut child = sandbox.command_as_typed(&words).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let rest = line.trim().strip_prefix("http://127.0.0.1:").unwrap().trim_end_matches('/');
        let (port, token) = rest.split_once('/').unwrap();
        assert!(token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit()), "{line}");
        Self { port: port.to_owned(), token: token.to_owned(), child }
    }

    /// The whole answer to a request.
    fn ask(&self, method: &str, path: &str, host: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port.parse().unwrap())).unwrap();
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn get(&self, path: &str) -> String {
        self.ask("GET", &format!("/{}{path}", self.token), &format!("127.0.0.1:{}", self.port))
    }
}

#[track_caller]
fn check(answer: &str, parts: &[&str]) {
    for part in parts {
        assert!(answer.contains(part), "{part} is not in {answer}");
    }
}

#[test]
fn a_page_is_sent_to_one_who_knows_the_address_and_to_nobody_else() {
    let sandbox = small();
    run(&sandbox, "6");
    let serving = Serving::of(&sandbox, &["STUDY"]);
    let page = serving.get("/");
    check(&page, &["HTTP/1.1 200", "text/html", "no-store", "default-src 'none'", "is foreign load", "id=\"figures\""]);
    let host = format!("localhost:{}", serving.port);
    check(&serving.ask("GET", &format!("/{}/", serving.token), &host), &["HTTP/1.1 200"]);
    check(&serving.ask("GET", "/", &host), &["HTTP/1.1 403"]);
    check(&serving.ask("GET", &format!("/{}/", "0".repeat(32)), &host), &["HTTP/1.1 403"]);
    check(&serving.ask("GET", &format!("/{}/", serving.token), "example.org"), &["HTTP/1.1 403"]);
    check(&serving.ask("POST", &format!("/{}/", serving.token), &host), &["HTTP/1.1 405"]);
    check(&serving.get("/../../etc/passwd"), &["HTTP/1.1 404"]);
    check(&serving.get("/2/"), &["HTTP/1.1 404"]);
}

#[test]
fn several_studies_get_an_index() {
    let sandbox = small();
    run(&sandbox, "6");
    let serving = Serving::of(&sandbox, &["STUDY", "STUDY"]);
    check(&serving.get("/"), &["HTTP/1.1 200", "href=\"1/\"", "href=\"2/\""]);
    check(&serving.get("/2/"), &["HTTP/1.1 200", "id=\"figures\""]);
    check(&serving.get("/3/"), &["HTTP/1.1 404"]);
}

#[test]
fn a_run_writes_the_page_for_one_who_serves_and_for_nobody_else() {
    let sandbox = small();
    run(&sandbox, "4");
    let folder = sandbox.study().join(".bakeoff");
    let snapshot = || {
        let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        files.into_iter().find(|path| path.to_string_lossy().ends_with(".snapshot.html"))
    };
    assert_eq!(snapshot(), None);
    let serving = Serving::of(&sandbox, &["STUDY"]);
    run(&sandbox, "6");
    let text = fs::read_to_string(snapshot().unwrap()).unwrap();
    check(&text, &["is foreign load", "</html>"]);
    // Nothing is executed now, and the journal has grown since.
    check(&serving.get("/"), &["6 blocks"]);
    drop(serving);
    fs::remove_file(snapshot().unwrap()).unwrap();
    run(&sandbox, "8");
    assert_eq!(snapshot(), None, "nobody asks any more");
}

#[test]
fn what_cannot_be_served_is_said() {
    let sandbox = small();
    typed(&sandbox, &["serve", "STUDY"]).expect(2, &["has not been executed yet", "hint: execute it"]);
    run(&sandbox, "4");
    let serving = Serving::of(&sandbox, &["STUDY"]);
    typed(&sandbox, &["serve", "STUDY", "--port", &serving.port]).expect(2, &["cannot listen on", "hint: without"]);
}
