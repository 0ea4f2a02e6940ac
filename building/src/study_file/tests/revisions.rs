//! Revisions of a repository as levels.

use super::{messages, parse};
use crate::nouns::{Chain, SourceFrom};
use crate::spec::Spec;
use bakeoff_model::plan::Plan;

const STUDY: &str = r#"
format = 1
name = "t"
[build_factors.commit]
LEVELS
[[build]]
name = "app"
source = "app"
script = "make install"
[workloads.loop]
run = "true"
[decide]
baseline = { commit = "old" }
[sources.app]
git = "https://example.org/app.git"
"#;

const LEVELS: &str = "old = { revision = \"v1.0\" }\nnew = { revision = \"HEAD~1\" }";

fn text(levels: &str, tail: &str) -> String {
    format!("{}{tail}", STUDY.replace("LEVELS", levels))
}

fn revision(revision: &str) -> SourceFrom {
    SourceFrom::git("https://example.org/app.git", revision)
}

#[track_caller]
fn refused(levels: &str, tail: &str, message: &str, remedy: &str) {
    let text = text(levels, tail);
    let shown = messages(&text);
    assert!(shown.contains(message) && shown.contains(remedy), "{text}\n{shown}");
    assert!(shown.contains("1 problem in"), "{text}\n{shown}");
}

#[test]
fn each_revision_is_a_source_of_its_own() {
    let study = parse(&text(LEVELS, "")).unwrap();
    let sources: Vec<(&str, &SourceFrom)> =
        Chain::of(&study).sources.iter().map(|s| (s.name.as_str(), &s.from)).collect();
    assert_eq!(sources, [("app@v1.0", &revision("v1.0")), ("app@HEAD~1", &revision("HEAD~1"))]);
    let plan = Plan::of(&study, "default").unwrap();
    assert_eq!(Spec::of(&plan.variants[0]).sources["app"], "app@v1.0");
    assert_eq!(Spec::of(&plan.variants[1]).sources["app"], "app@HEAD~1");
    assert!(plan.build_factors[0].takes_sources);
}

#[test]
fn a_level_without_one_takes_the_revision_of_the_source() {
    let levels = "old = {}\nnew = { revision = \"main\" }\nsame = { revision = \"v1.0\" }";
    let study = parse(&text(levels, "revision = \"v1.0\"\n")).unwrap();
    let names: Vec<&str> = Chain::of(&study).sources.iter().map(|source| source.name.as_str()).collect();
    assert_eq!(names, ["app", "app@main"]);
    let plan = Plan::of(&study, "default").unwrap();
    assert_eq!(Spec::of(&plan.variants[0]).sources.get("app"), None);
    assert_eq!(Spec::of(&plan.variants[2]).sources["app"], "app", "it is the source's own");
    refused(levels, "", "[sources.app] has no `revision`", "in each level");
    refused(LEVELS, &format!("sha256 = \"{}\"\n", "0".repeat(64)), "`sha256` is not allowed here", "remove it");
}

#[test]
fn a_revision_is_one_of_a_repository_of_one_layer() {
    let with = |value: &str| format!("old = {{ revision = \"v1.0\" }}\nnew = {{ revision = {value} }}");
    refused(&with("1"), "", "a revision must be a string in quotes", "HEAD~1");
    refused(&with("\"-x\""), "", "is not a revision", "a branch");
    refused(&with("{ lib = \"v1\" }"), "", "no layer `lib`", "app");
    refused(&with("\"worktree\""), "", "is not a folder on this machine", "clone");
    let other = "old = { revision = \"v1.0\" }\nnew = { source = \"tar\", revision = \"v1.0\" }";
    refused(other, "[sources.tar]\nurl = \"u\"\n", "`tar` is not a Git repository", "[sources.tar]");
    let chosen = "[build_factors.fork]\nmine = { revision = \"a\" }\nyours = { revision = \"b\" }\n";
    let text = text(LEVELS, chosen).replace("commit = \"old\" }", "commit = \"old\", fork = \"mine\" }");
    assert!(
        messages(&text).contains("factor `commit` also chooses the source or revision of `app`"),
        "{}",
        messages(&text)
    );
    let run = "[run_factors.x]\na = { revision = \"v1\" }\n";
    let text = self::text(LEVELS, run).replace("commit = \"old\" }", "commit = \"old\", x = \"a\" }");
    assert!(messages(&text).contains("`revision` is not allowed in a run factor"), "{}", messages(&text));
}

#[test]
fn a_working_tree_is_of_a_folder_of_this_machine() {
    let levels = "old = { revision = \"HEAD\" }\nnew = { revision = \"worktree\" }";
    for folder in ["../app", "/src/app", "file:///src/app", "./a:b"] {
        let study = parse(&text(levels, "").replace("https://example.org/app.git", folder)).unwrap();
        assert_eq!(Chain::of(&study).sources[1].from, SourceFrom::Worktree(folder.to_owned()));
        assert!(Chain::of(&study).sources[1].from.is_as_it_is_now());
    }
    for address in ["https://example.org/a", "git@example.org:a", "host:a"] {
        let text = text(levels, "").replace("https://example.org/app.git", address);
        assert!(messages(&text).contains("is not a folder on this machine"), "{address}");
    }
}

#[test]
fn a_level_may_be_called_as_its_revision_in_quotes() {
    let levels = "\"HEAD~1\" = { revision = \"HEAD~1\" }\n\"v1.0\" = { revision = \"v1.0\" }";
    let study = parse(&text(levels, "").replace("\"old\"", "\"HEAD~1\"")).unwrap();
    assert_eq!(study.build_factors[0].levels[1].name, "v1.0");
    for (name, wrong) in
        [("HEAD~1", "not valid TOML"), ("feature/x", "not valid TOML"), ("v1.0", "as a key in a table `v1`")]
    {
        let text = text(&format!("old = {{ revision = \"a\" }}\n{name} = {{ revision = \"b\" }}"), "");
        let shown = messages(&text);
        assert!(shown.contains(wrong), "{shown}");
        assert!(shown.contains(&format!("write the name in quotes: `\"{name}\" = ")), "{shown}");
    }
    let shown = messages(&text("old = { revision = \"a\" }\n-O3 -flto = { revision = \"b\" }", ""));
    assert!(shown.contains("not valid TOML") && shown.contains("write the name as one word: `O3-flto = …`"), "{shown}");
    for (value, expect) in
        [("HEAD~1", "HEAD~1"), ("main", "main"), ("-O3 -flto=auto", "-O3 -flto=auto"), ("1.x", "see https")]
    {
        let shown = messages(&text(&format!("old = {{ revision = {value} }}"), ""));
        assert!(shown.contains(expect) && shown.contains("not valid TOML"), "{shown}");
        assert_eq!(shown.contains("write strings in quotes"), expect == value, "{shown}");
    }
    let shown = messages(&text("old = { revision = \"a\" }\n\"a b\" = {}", ""));
    assert!(shown.contains("is reserved or has invalid characters"), "{shown}");
}
