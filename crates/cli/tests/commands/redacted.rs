//! Names of hosts, users and folders are planted wherever a command meets them; with `--redact` none of them is in the bytes of
//! any output, nor in what a parcel unpacks to.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use crate::common::{Sandbox, Shown, small};
use std::fs;
use std::path::{Path, PathBuf};

/// Parts of planted names; in small letters, as they are searched.
const PLANTED: [&str; 6] = ["planted", "acme", "my clients", "plantuser", "planthost", "intra.example"];

/// What a script says when it fails: paths with blanks, addresses of files, short and full names of the host, other letters.
const SAYS: &str = "PlantHost.intra.example: cannot read '$D/Input File.txt'\n\
                    planthost: $D/a.txt: No such file; cd: $D: no; file://$D/b.txt\n\
                    by plantuser@PLANTHOST and PlantUser, planthost.local, data=$D/sub/c.txt,$D\n";

/// A comparison in a folder with planted names, of commands with planted labels, one of which fails with planted words.
fn comparison() -> (Sandbox, PathBuf) {
    let sandbox = small();
    let folder = sandbox.path().join("planted/My Clients/Acme Ltd");
    fs::create_dir_all(&folder).unwrap();
    let says = SAYS.replace("$D", &folder.display().to_string());
    fs::write(folder.join("fail.sh"), format!("cat >&2 <<'END'\n{says}END\nexit 1\n")).unwrap();
    fs::write(folder.join("a.txt"), "1\n").unwrap();
    let script = folder.join("fail.sh").display().to_string();
    let (fails, works) = (format!("sh '{script}'"), format!("cat '{}'", folder.join("a.txt").display()));
    let label = format!("as in {}", folder.display());
    let words = ["compare", &works, &fails, "true", "-n", &label, "-n", "on PlantHost", "-n", "by plantuser"];
    let more = ["--blocks", "6", "--journal", "j.jsonl", "--quiet", "--keep-going"];
    let mut command = sandbox.command(&[&words[..], &more].concat());
    let shown = Shown::of(&command.current_dir(&folder).env("USER", "plantuser").output().unwrap());
    assert_eq!(shown.code, 4, "{shown:?}");
    plant_host(&folder.join("j.jsonl"));
    (sandbox, folder)
}

/// Another host in a journal.
fn plant_host(journal: &Path) {
    let host = bakeoff_journal::read(journal).unwrap().record.sessions[0].place.host.clone();
    let [now, then] = ["planthost.intra.example", &host].map(|name| format!("\"host\":\"{name}\""));
    let text = crate::common::unsealed(journal);
    assert!(text.contains(&then));
    fs::write(journal, text.replace(&then, &now)).unwrap();
}

#[track_caller]
fn has_none(what: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).to_lowercase();
    for part in PLANTED {
        let at = text.find(part);
        assert_eq!(
            at,
            None,
            "{what} has `{part}`: {}",
            at.map_or("", |at| &text[text[..at].len().saturating_sub(80)..])
        );
    }
}

#[test]
fn no_output_has_a_planted_name() {
    let (sandbox, folder) = comparison();
    let journal = folder.join("j.jsonl").display().to_string();
    let printed: [&[&str]; 6] = [
        &[],
        &["--all"],
        &["--json"],
        &["--provenance"],
        &["--section", "failed"],
        &["--trial", "command/idle/1/twin"],
    ];
    for words in printed {
        let words = [&["report", journal.as_str(), "--redact"], words].concat();
        let mut command = sandbox.command_as_typed(&words);
        let output = command.current_dir(&folder).env("USER", "plantuser").output().unwrap();
        assert!(!output.stdout.is_empty(), "{words:?}: {output:?}");
        has_none(&words.join(" "), &output.stdout);
    }
    for format in ["markdown", "csv", "trials", "json", "findings", "go"] {
        let option = format!("--export-{format}");
        for option in [option.as_str(), "--html", "--svg", "--junit"] {
            let mut words = vec!["report", journal.as_str(), "--redact", option, "out", "--style", "none"];
            words.extend((option == "--junit").then_some(["--gate", "2%"]).into_iter().flatten());
            let mut command = sandbox.command_as_typed(&words);
            let output = command.current_dir(&folder).env("USER", "plantuser").output().unwrap();
            let bytes = fs::read(folder.join("out")).unwrap_or_else(|error| panic!("{option}: {error}: {output:?}"));
            has_none(option, &bytes);
            fs::remove_file(folder.join("out")).unwrap();
        }
    }
}

#[test]
fn nothing_in_a_parcel_has_a_planted_name() {
    let sandbox = small();
    let planted = sandbox.path().join("planted");
    fs::create_dir(&planted).unwrap();
    let says = SAYS.replace("$D", &planted.display().to_string());
    fs::write(sandbox.path().join("fail.sh"), format!("cat >&2 <<'END'\n{says}END\nexit 1\n")).unwrap();
    let study = fs::read_to_string(sandbox.study().join("study.toml")).unwrap();
    let study = study.replace("run = '\"$PREFIX/bin/hello\"'", "run = '\"$PREFIX/bin/hello\"; sh ../../fail.sh'");
    sandbox.write(
        "study.toml",
        &study.replace("\"hello.out\"", "\"hello.out\"\noutput = \"null\"").replace("expect", "# expect"),
    );
    let run = |words: &[&str]| {
        let output = sandbox.command_as_typed(words).env("USER", "plantuser").output().unwrap();
        Shown::of(&output)
    };
    run(&["run", "STUDY", "--quiet", "--blocks", "3"]).expect(4, &[]);
    plant_host(&sandbox.journal());
    run(&["export", "STUDY", "-o", "parcel.tar.zst", "--redact"]).expect(0, &["removed before sharing"]);
    run(&["import", "parcel.tar.zst", "unpacked"]).expect(0, &[]);
    let mut left = vec![sandbox.path().join("unpacked")];
    let mut files = 0;
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            files += 1;
            has_none(&path.display().to_string(), &fs::read(&path).unwrap());
        }
    }
    assert!(files > 2, "{files}");
}
