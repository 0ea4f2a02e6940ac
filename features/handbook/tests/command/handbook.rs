//! `bakeoff help` and `bakeoff studies`, as users meet them.

use crate::common::Sandbox;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

fn sandbox() -> Sandbox {
    Sandbox::new("")
}

#[test]
fn topics_are_listed_and_printed_and_none_is_called_like_a_command() {
    let sandbox = sandbox();
    let listed = sandbox.execute(&["help", "topics"]);
    listed.expect(0, &["study-file", "hyperfine"]);
    let names = listed.out.lines().skip(1).map(|line| line.split_whitespace().next().unwrap());
    let topics: Vec<&str> = names.collect();
    assert!(topics.len() > 15, "{topics:?}");
    let program = bakeoff_cli::command();
    for topic in topics {
        assert!(program.find_subcommand(topic).is_none(), "{topic} is a command and a topic");
        let page = sandbox.execute(&["help", topic]);
        page.expect(0, &[]);
        assert!(page.out.len() > 500, "{topic}");
    }
    sandbox.execute(&["help", "study-file"]).expect(0, &["STUDY FILE", "[workloads."]);
    sandbox.execute(&["help", "levles"]).expect(2, &["did you mean `bakeoff help levels`?"]);
    sandbox.execute(&["help", "nonesuch"]).expect(2, &["no command or topic `nonesuch`", "bakeoff help topics"]);
}

/// Messages and help refer to what an installed program has.
#[test]
fn every_topic_that_a_message_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let found = Command::new("grep")
        .args(["-rhoE", "--include=*.rs", "bakeoff help [a-z-]+", "crates", "features", "building"])
        .current_dir(root)
        .output()
        .unwrap();
    let listed = sandbox().execute(&["help", "topics"]).out;
    let program = bakeoff_cli::command();
    let mut names: Vec<&str> = std::str::from_utf8(&found.stdout).unwrap().lines().collect();
    names.sort_unstable();
    names.dedup();
    assert!(names.len() > 5, "{names:?}");
    for name in names.iter().filter_map(|line| line.strip_prefix("bakeoff help ")) {
        let is_topic = listed.lines().any(|line| line.split_whitespace().next() == Some(name));
        // The last two are words of tests.
        let is_known = is_topic || program.find_subcommand(name).is_some() || ["topics", "nonesuch"].contains(&name);
        assert!(is_known || name.starts_with('-'), "there is no topic {name}");
    }
}

#[test]
fn help_of_a_command_is_the_same_in_both_forms() {
    let sandbox = sandbox();
    let [by_name, by_option] = [["help", "compare"], ["compare", "--help"]].map(|words| sandbox.execute(&words).out);
    assert_eq!(by_name, by_option);
    let all = sandbox.execute(&["help"]).out;
    assert_eq!(all, sandbox.execute(&["--help"]).out);
    let groups = ["\nMeasure:\n", "\nReport:\n", "\nBuild:\n", "\nShare:\n", "\nMaintain:\n", "\nLearn:\n"];
    let places: Vec<usize> = groups.iter().map(|group| all.find(group).unwrap()).collect();
    assert!(places.is_sorted(), "{all}");
    assert!(all.lines().all(|line| line.chars().count() <= 100), "{all}");
}

#[test]
fn a_study_is_copied_whole_and_never_over_anything() {
    let sandbox = sandbox();
    let listed = sandbox.execute(&["studies"]).out;
    assert_eq!(listed, sandbox.execute(&["studies", "list"]).out);
    let folder = sandbox.study().join("copied");
    let to = folder.to_str().unwrap();
    let studies = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    let names: Vec<&str> = listed.lines().skip(1).map(|line| line.split_whitespace().next().unwrap()).collect();
    let there = fs::read_dir(&studies).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir()).count();
    assert_eq!(names.len(), there, "{listed}");
    for name in names {
        sandbox.execute(&["studies", "copy", name, to]).expect(0, &["bakeoff plan"]);
        let (mine, theirs) = (folder.join("study.toml"), studies.join(name).join("study.toml"));
        assert_eq!(fs::read(mine).unwrap(), fs::read(theirs).unwrap());
        sandbox.execute(&["plan", to]).expect(0, &["Blocks:"]);
        // What is there stays, whatever it is.
        sandbox.execute(&["studies", "copy", name, to]).expect(2, &["cannot write the study", "does not exist yet"]);
        fs::remove_dir_all(&folder).unwrap();
    }
    sandbox.execute(&["studies", "copy", "perl-options", to]).expect(0, &["Debian packages: ", "gcc"]);
    let fetch = folder.join("fetch-debian.sh");
    assert!(!fs::symlink_metadata(&fetch).unwrap().is_symlink(), "a copy needs nothing outside");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o100;
    assert_eq!(mode(&fetch), mode(&studies.join("fetch-debian.sh")));
    sandbox.execute(&["studies", "copy", "nonesuch"]).expect(2, &["no study `nonesuch`", "perl-options"]);
    let nowhere = sandbox.study().join("no/such");
    sandbox
        .execute(&["studies", "copy", "perl-options", nowhere.to_str().unwrap()])
        .expect(2, &["folder inside an existing one"]);
}
