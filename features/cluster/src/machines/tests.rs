//! The texts of `machines.toml`: what is read from good ones, and what is said of others. The two files are in a folder of
//! the test.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use super::section::{Login, parse};
use super::*;
use bakeoff_model::problem::Problems;
use std::fs;

const GOOD: &str = r#"
[lab]
slurm     = { partition = "bench", account = "perl", constraint = "zen4&fast", time = "1:00:00", exclude = "n[07-09]", extra = ["--reservation=x", "--mem-bind local"] }
nodes     = 8
modules   = ["gcc/13"]
setup     = ["export TMPDIR=/local/$USER", "ulimit -s 8192"]
folder    = "/scratch/$USER/bakeoff"
scratch   = "$TMPDIR"
requeue   = true
[boxes]
ssh    = ["alice@box1", "box2:2222"]
folder = "cache/bakeoff"
[small]
slurm = {}
nodes = 1
exclusive = false
"#;

fn login() -> Login {
    let text = |text: &str| Some(text.to_owned());
    Login { user: text("alice"), home: text("/home/alice"), study: "/studies/perl".to_owned() }
}

/// The problems of a text, as they are shown.
fn shown(text: &str) -> String {
    Problems::new(FILE, text, parse(text, &login()).unwrap_err()).render(false)
}

#[test]
fn everything_is_read_and_what_is_left_out_has_a_default() {
    let all = parse(GOOD, &login()).unwrap();
    let word = |text: &str| Some(text.to_owned());
    let settings = SlurmSettings {
        partition: word("bench"),
        account: word("perl"),
        constraint: word("zen4&fast"),
        time_s: Some(3600),
        exclude: word("n[07-09]"),
        extra: vec!["--reservation=x".to_owned(), "--mem-bind local".to_owned()],
    };
    let lab = Machines {
        name: "lab".to_owned(),
        way: Way::Slurm(settings),
        nodes: 8,
        exclusive: true,
        modules: vec!["gcc/13".to_owned()],
        setup: vec!["export TMPDIR=/local/$USER".to_owned(), "ulimit -s 8192".to_owned()],
        folder: "/scratch/alice/bakeoff".to_owned(),
        scratch: word("$TMPDIR"),
        requeue: true,
    };
    let hosts = vec![
        Host { destination: "alice@box1".to_owned(), port: None },
        Host { destination: "box2".to_owned(), port: Some(2222) },
    ];
    let boxes = Machines {
        name: "boxes".to_owned(),
        way: Way::Ssh(hosts),
        nodes: 2,
        modules: vec![],
        setup: vec![],
        folder: "cache/bakeoff".to_owned(),
        scratch: None,
        requeue: false,
        ..lab.clone()
    };
    let small = Machines {
        name: "small".to_owned(),
        way: Way::Slurm(SlurmSettings::default()),
        nodes: 1,
        exclusive: false,
        folder: "/studies/perl/.bakeoff/away".to_owned(),
        ..boxes.clone()
    };
    assert_eq!(all, [lab, boxes, small]);
    let folder = |text: &str| parse(text, &login()).unwrap().remove(0).folder;
    assert_eq!(folder("[b]\nssh = [\"box\"]"), ".cache/bakeoff");
    assert_eq!(folder("[b]\nslurm = {}\nnodes = 1\nfolder = \"${HOME}/b\""), "/home/alice/b");
}

#[test]
fn every_problem_of_a_file_is_shown_at_its_place() {
    let text = r#"nodes = 3
[lab]
slurm = { partitoin = "bench", time = "1h", account = "two words", extra = ["reservation", "-Jx", "--arr=3"] }
nodse = 2
folder = "scratch/bakeoff"
exclusive = "yes"
[both]
slurm = { partition = 1 }
ssh = ["alice@box1"]
[neither]
folder = "/x"
"#;
    let text_of_problems = shown(text);
    for part in [
        "`nodes` is outside of any section",
        "machines.toml:3:11",
        "`slurm` has no key `partitoin`",
        "did you mean `partition`?",
        "\"1h\" is not a duration as Slurm writes it",
        "\"HOURS:MINUTES:SECONDS\"",
        "`account` of `slurm`: \"two words\" is not one word",
        "\"reservation\" in `extra` is not an option",
        "`-J` cannot be in `extra`",
        "`--array` cannot be in `extra`",
        "[lab] has no `nodes`",
        "[lab] has no key `nodse`",
        "did you mean `nodes`?",
        "\"scratch/bakeoff\" is relative",
        "`exclusive` of [lab] must be true or false",
        "[both] has both `slurm` and `ssh`",
        "`partition` of `slurm` must be a string in quotes",
        "[neither] does not say how to reach the machines",
        "14 problems in machines.toml",
    ] {
        assert!(text_of_problems.contains(part), "{part:?} is missing in\n{text_of_problems}");
    }
    assert_eq!(text_of_problems.matches("remedy: ").count(), 14, "{text_of_problems}");
}

#[test]
fn problems_name_their_remedy() {
    let check = |text: &str, message: &str| {
        let problems = parse(text, &login()).unwrap_err();
        assert!(problems.iter().any(|problem| problem.message.contains(message)), "{message}: {problems:?}");
        assert!(problems.iter().all(|problem| !problem.remedy.is_empty()), "{problems:?}");
    };
    check("[lab", "this is not valid TOML");
    check("[lab]\nslurm = {}\nnodes = 0", "invalid number of nodes: 0");
    check("[lab]\nslurm = {}\nnodes = 1\nfolder = \"/x/$JOB\"", "`$JOB` is not expanded here");
    check("[lab]\nslurm = {}\nnodes = 1\nfolder = \"~/x\"", "\"~/x\" is relative");
    check("[lab]\nslurm = {}\nnodes = 1\nfolder = \"/a\\nb\"", "line ends");
    check("[lab]\nslurm = {}\nnodes = 1\nmodules = [\"gcc; rm\"]", "is not one word");
    check("[lab]\nslurm = {}\nnodes = 1\nsetup = [\"a\\nb\"]", "in `setup` is not a line of shell");
    check("[lab]\nslurm = {}\nnodes = 1\nsetup = [\" \"]", "in `setup` is not a line of shell");
    check("[lab]\nslurm = {}\nnodes = 1\nsetup = \"a\"", "must be a list of strings");
    check("[lab]\nslurm = {}\nnodes = 1\nscratch = \"$(ls)\"", "`scratch` of [lab]");
    check("[lab]\nslurm = {}\nnodes = 1\nscratch = \"tmp\"", "`scratch` of [lab]");
    check("[lab]\nslurm = { extra = [\"--x\\n#SBATCH\"] }\nnodes = 1", "is not an option");
    check("[lab]\nslurm = { extra = [\"-N2\"] }\nnodes = 1", "`-N` cannot be in `extra`");
    check("[lab]\nslurm = \"bench\"\nnodes = 1", "`slurm` of [lab] must be a table");
    check("[boxes]\nssh = []", "lists no machine");
    check("[boxes]\nssh = \"box\"", "must be a list of strings");
    check("[boxes]\nssh = [\"a:b\"]", "is not a destination for ssh");
    check("[boxes]\nssh = [\"a\", \"a\"]", "is listed twice");
    check("[boxes]\nssh = [\"a\"]\nnodes = 2", "lists 1 in `ssh`, fewer than `nodes`");
    check("[boxes]\nssh = [\"a\"]\nrequeue = true", "`requeue` is for Slurm only");
    check("[boxes]\nssh = [\"a\"]\nfolder = \"/x/$USER\"", "is not expanded on machines behind ssh");
    check("[\"two words\"]\nssh = [\"a\"]", "the name of machines");
}

#[test]
fn a_variable_that_is_not_set_is_named() {
    let nobody = Login { study: "/s".to_owned(), ..Login::default() };
    let problems = parse("[lab]\nslurm = {}\nnodes = 1\nfolder = \"/x/$USER\"", &nobody).unwrap_err();
    assert!(problems[0].message.contains("`$USER` is not set here"), "{problems:?}");
}

#[test]
fn the_users_file_is_where_other_programs_have_theirs() {
    let check = |set: &[(&str, &str)], expect: Option<&str>| {
        let variable = |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        assert_eq!(users_file(variable), expect.map(PathBuf::from), "{set:?}");
    };
    check(&[("XDG_CONFIG_HOME", "/x"), ("HOME", "/h")], Some("/x/bakeoff/machines.toml"));
    check(&[("XDG_CONFIG_HOME", "x"), ("HOME", "/h")], Some("/h/.config/bakeoff/machines.toml"));
    check(&[], None);
}

#[test]
fn the_studys_file_comes_before_the_users() {
    let folder = tempfile::tempdir().unwrap();
    let (study, user) = (folder.path().join("study.toml"), folder.path().join("user.toml"));
    let find_in = |name: &str| find(name, vec![study.clone(), user.clone()], &login());
    let error = find_in("lab").unwrap_err().render();
    assert!(error.contains("there is no machines.toml") && error.contains("hint: create one"), "{error}");
    fs::write(&user, GOOD).unwrap();
    assert_eq!(find_in("lab").unwrap().nodes, 8);
    fs::write(&study, "[lab]\nslurm = {}\nnodes = 2\n").unwrap();
    assert_eq!(find_in("lab").unwrap().nodes, 2);
    assert_eq!(find_in("boxes").unwrap().nodes, 2, "what the study's file does not have is the user's");
    let error = find_in("boxs").unwrap_err().render();
    assert!(error.contains("there is no [boxs] in") && error.contains("did you mean `boxes`?"), "{error}");
    let error = find_in("cluster").unwrap_err().render();
    assert!(error.contains("available: lab, boxes, small"), "{error}");
    fs::write(&study, "[lab]\nslurm = {}\n").unwrap();
    let error = find_in("boxes").unwrap_err().render();
    assert!(error.contains("study.toml:1:2") && error.contains("[lab] has no `nodes`"), "{error}");
    fs::remove_file(&study).unwrap();
    fs::create_dir(&study).unwrap();
    assert!(find_in("lab").unwrap_err().render().contains("cannot read"), "a folder is not a file");
}
