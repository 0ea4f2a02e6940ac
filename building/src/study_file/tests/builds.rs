//! What is said of sources, layers and the instructions of levels.

use super::{messages, parse};
use crate::nouns::{Chain, CompilerCache, SourceFrom};
use crate::spec::Spec;
use bakeoff_model::plan::Plan;
use bakeoff_model::study::Study;

const STUDY: &str = r#"
format = 1
name = "t"
[build_factors.version]
old = { source = "perl-5.36" }
new = { source = "perl-5.40", patches = ["new.patch"] }
[build_factors.malloc]
system = { MALLOC = "-Un" }
perl = { MALLOC = "-Dn", patches = ["a.patch", "b.patch"] }
[workloads.loop]
run = "true"
[decide]
baseline = { version = "old", malloc = "system" }
[sources."perl-5.36"]
fetch = "sh fetch.sh"
[sources."perl-5.40"]
url = "https://example.org/perl.tar.xz"
"#;

const PERL: &str = "[[build]]\nname = \"perl\"\nsource = \"perl-5.36\"\nscript = 'sh Configure $MALLOC'\n";

fn study(tail: &str) -> Study {
    let text = text(tail);
    parse(&text).unwrap_or_else(|_| panic!("{}", messages(&text)))
}

/// Names of sources are plain, without a dot.
fn text(tail: &str) -> String {
    format!("{STUDY}{PERL}{tail}").replace("5.36", "536").replace("5.40", "540")
}

#[track_caller]
fn refused(tail: &str, message: &str, remedy: &str) {
    let shown = messages(&text(tail));
    assert!(shown.contains(message) && shown.contains(remedy), "{tail}\n{shown}");
    assert!(shown.contains("1 problem in"), "{tail}\n{shown}");
}

#[test]
fn a_source_has_one_origin() {
    let study =
        study("[sources.here]\npath = \"../perl\"\n[sources.there]\ngit = \"u\"\nrevision = \"v1\"\nunpack = false\n");
    let there = SourceFrom::Git { url: "u".to_owned(), revision: "v1".to_owned() };
    assert_eq!(Chain::of(&study).sources[2].from, SourceFrom::Path("../perl".to_owned()));
    assert_eq!((&Chain::of(&study).sources[3].from, Chain::of(&study).sources[3].unpack), (&there, false));

    refused("[sources.x]\n", "has no origin", "`fetch`, `path`, `url` or `git`");
    refused("[sources.x]\npath = \"a\"\nurl = \"b\"\n", "more than one origin", "keep only one of");
    refused("[sources.x]\ngit = \"u\"\n", "has no `revision`", "a commit, tag or branch");
    refused("[sources.x]\nurl = \"u\"\nrevision = \"v1\"\n", "`revision` needs `git`", "");
    refused("[sources.x]\nurl = \"u\"\nsha256 = \"12\"\n", "64 lower-case hexadecimal", "bakeoff lock");
}

#[test]
fn instructions_of_levels_are_of_the_only_layer_with_a_source_or_name_theirs() {
    let one = study("");
    assert_eq!(Spec::of_level(&one.build_factors[0].levels[1]).sources["perl"], "perl-540");
    assert_eq!(Spec::of_level(&one.build_factors[1].levels[1]).patches["perl"], ["a.patch", "b.patch"]);

    let second = "[[build]]\nname = \"modules\"\nsource = \"perl-536\"\nscript = \"make\"\n";
    let shown = messages(&text(second));
    assert!(shown.contains("`source` must name one of the layers with a source"), "{shown}");
    let named = |list: &str| format!("{second}[build_factors.fix]\nno = {{}}\nyes = {{ patches = {list} }}\n");
    let shown = messages(&text(&named("{ perl = [\"x.patch\"], mod = [] }")));
    assert!(shown.contains("there is no layer `mod`"), "{shown}");
    let shown = messages(&text(&named("{ perl = \"x.patch\" }")));
    assert!(shown.contains("`patches` must be a list of files"), "{shown}");
    let shown = messages(&text(&named("{ perl = [\"../x.patch\"] }")));
    assert!(shown.contains("is outside the study's folder"), "{shown}");

    let run = "[run_factors.r]\na = { patches = [\"x\"] }\n";
    let shown = messages(&text(run));
    assert!(shown.contains("`patches` is not allowed in a run factor"), "{shown}");
}

#[test]
fn a_level_may_be_one_that_cannot_be_built() {
    let cure = |fails: &str| text("").replace("patches = [\"new.patch\"]", &format!("fails = {fails}"));
    let one = parse(&cure("\"R_X86_64_PC32\"")).unwrap();
    assert_eq!(Spec::of_level(&one.build_factors[0].levels[1]).fails, ["R_X86_64_PC32"]);
    for wrong in ["true", "\" \"", "\"a\\nb\""] {
        let shown = messages(&cure(wrong));
        assert!(shown.contains("must be text from one line of the failing build's log"), "{shown}");
    }
    let shown = messages(&text("[run_factors.r]\na = { fails = \"x\" }\n"));
    assert!(shown.contains("`fails` is not allowed in a run factor"), "{shown}");
}

#[test]
fn layers_follow_the_file_or_the_one_that_they_name() {
    let layer =
        |name: &str, after: &str| format!("[[build]]\nname = \"{name}\"\nscript = \"make\"\nafter = \"{after}\"\n");
    let names =
        |tail: &str| Chain::of(&study(tail)).layers.iter().map(|l| l.name.clone()).collect::<Vec<_>>().join(" ");
    assert_eq!(names(&layer("modules", "perl")), "perl modules");
    assert_eq!(names(&(layer("last", "modules") + &layer("modules", "perl"))), "perl modules last");
    refused(&layer("modules", "prel"), "there is no layer `prel`", "did you mean `perl`?");
    refused(
        &layer("a", "a"),
        "layer `a` is built after `a`, and following `after` from there leads into a cycle",
        "remove one `after` to break the cycle",
    );
    let shown = messages(&text(&(layer("a", "b") + &layer("b", "c") + &layer("c", "a"))));
    assert_eq!(shown.matches("circular layers").count(), 3, "{shown}");
}

#[test]
fn the_keys_of_a_layer_are_read() {
    let keys = "flags = [\"MALLOC\"]\ndescribe = [\"perl -V\"]\nimplied = { malloc = [\"d_*\"] }\nsizes = [\"bin/*\"]\n\
                relink = \"make relink\"\ncache = \"ccache\"\ntimeout = \"2 min\"\npatches = [\"all.patch\"]\n";
    let layer = Chain::of(&study(keys)).layers[0].clone();
    assert_eq!(
        (&*layer.flags, &*layer.describe, &*layer.sizes),
        (&["MALLOC".to_owned()][..], &["perl -V".to_owned()][..], &["bin/*".to_owned()][..])
    );
    assert_eq!(layer.implied["malloc"], ["d_*"]);
    assert_eq!((layer.relink.as_deref(), layer.compiler_cache), (Some("make relink"), Some(CompilerCache::Ccache)));
    assert_eq!((layer.timeout_s, &*layer.patches), (Some(120.0), &["all.patch".to_owned()][..]));

    refused("cache = \"cache\"\n", "`cache` is not a supported compiler cache", "did you mean `ccache`?");
    refused("implied = { maloc = [] }\n", "names `maloc`", "did you mean `malloc`?");
    refused("flags = [\"MALOC\"]\n", "lists `MALOC`", "did you mean `MALLOC`?");
}

#[test]
fn building_is_measured_only_under_a_name_of_its_own_and_without_a_compiler_cache() {
    let plan = "[plans.built]\nrebuild = 3\n";
    assert_eq!(study(plan).plans[1].rebuild, 3);
    refused(&format!("{plan}[workloads.build-perl]\nrun = 'x'\n"), "a workload has this name", "rename the workload");
    refused(&format!("cache = \"ccache\"\n{plan}"), "would measure the compiler cache", "remove `cache`");
}

const TUNED: &str = "[build_factors.opt]\nown = {}\nO3 = { append = \"-O3 '-DX=a b'\", append_link = \"-s\" }\n";

#[test]
fn a_level_may_append_words_to_every_call_of_a_compiler() {
    let text =
        |tail: &str| text(&format!("{TUNED}{tail}")).replace("version = \"old\"", "version = \"old\", opt = \"own\"");
    let cc =
        "[build_factors.cc]\ngcc = { compiler = \"gcc-12\", append = \"-pipe\" }\nclang = { compiler = \"clang\" }\n";
    let whole = text(cc).replace("opt = \"own\"", "opt = \"own\", cc = \"gcc\"");
    let study = parse(&whole).unwrap_or_else(|_| panic!("{}", messages(&whole)));
    let opt = &Spec::of_level(&study.build_factors[2].levels[1]).tuning;
    assert_eq!((opt.all.as_slice(), opt.link.as_slice()), (&["-O3".into(), "-DX=a b".into()][..], &["-s".into()][..]));
    assert!(Spec::of_level(&study.build_factors[2].levels[0]).tuning.is_empty());
    assert_eq!(Spec::of_level(&study.build_factors[3].levels[1]).tuning.compiler.as_deref(), Some("clang"));

    let plan = Plan::of(&study, "default").unwrap();
    let last = plan.variants.last().unwrap();
    assert_eq!(last.name, "version=new malloc=perl opt=O3 cc=clang");
    // Words of several factors are joined in the order of the file.
    let both = plan.variants.iter().find(|variant| variant.name == "opt=O3").unwrap();
    assert_eq!(Spec::of(both).tuning.all, ["-O3", "-DX=a b", "-pipe"]);
    assert_eq!(plan.build_factors[2].levels["O3"]["append"], "-O3 -DX=a b");

    let rust = whole.replace("own = {}", "own = { rustflags = \"-C opt-level=1 -Ctarget-cpu=native\" }");
    let study = parse(&rust).unwrap_or_else(|_| panic!("{}", messages(&rust)));
    let own = &Spec::of_level(&study.build_factors[2].levels[0]).tuning;
    assert_eq!(own.rust, ["-C", "opt-level=1", "-Ctarget-cpu=native"]);
    assert_eq!(own.texts()["rustflags"], "-C opt-level=1 -Ctarget-cpu=native");

    let second = whole.replace("own = {}", "own = { compiler = \"gcc\" }");
    assert!(messages(&second).contains("factor `opt` already chooses the compiler"), "{}", messages(&second));
}

#[test]
fn what_cannot_be_appended_is_refused_at_its_place() {
    let check = |level: &str, message: &str, remedy: &str| {
        let tail = format!("[build_factors.opt]\nO3 = {{ {level} }}\n");
        let shown = messages(&text(&tail).replace("version = \"old\"", "version = \"old\", opt = \"O3\""));
        assert!(shown.contains(message) && shown.contains(remedy), "{level}\n{shown}");
        assert!(shown.contains("1 problem in") && shown.contains("O3 = {"), "{level}\n{shown}");
    };
    check("append = [\"-O3\"]", "`append` must be a string in quotes", "append = \"-O3 -flto=auto\"");
    check("append = \" \"", "`append` appends nothing", "`{}` for a level that appends nothing");
    check("append = \"O3\"", "\"O3\" is not an option: the compiler would take it for a file", "did you mean `-O3`?");
    check("append = \"-O3 -c\"", "`-c` changes what the compiler produces", "append options such as `-O3`");
    check("append = \"-O3 -oa\"", "`-oa` changes what the compiler produces", "");
    check("append = \"-DX='a\"", "a quote is not closed", "close the quote");
    check("append = \"-mllvm\"", "`-mllvm` needs a value", "add the value");
    check("append_c = \"-lm\"", "`-lm` is an option for linking", "`append_link`");
    check("compiler = \"clang -O2\"", "`compiler` must be a single program, not \"clang -O2\"", "`append`");
    check("compiler = \"bin/clang\"", "neither a name nor an absolute path", "begin the path with `/`");
    check("compiler = \"g++\"", "is not a C compiler with a known C++ counterpart", "name a C compiler");
    check("rustflags = [\"-O\"]", "`rustflags` must be a string in quotes", "rustflags = \"-C target-cpu=native\"");
    check("rustflags = \"opt-level=3\"", "\"opt-level=3\" is not an option", "did you mean `-C opt-level=3`?");
    check("rustflags = \"-C\"", "`-C` needs a value", "add the value");
    check(
        "rustflags = \"-O --edition=2021\"",
        "`--edition=2021` changes what the compiler produces",
        "leave that to cargo",
    );
    check("apend = \"-O3\"", "unknown key `apend` in level `O3`", "did you mean `append`?");
    let shown = messages(&text("[run_factors.r]\na = { append = \"-O3\" }\n"));
    assert!(shown.contains("`append` is not allowed in a run factor"), "{shown}");
}

#[test]
fn no_compiler_cache_comes_between_levels_that_append() {
    let tail = "cache = \"ccache\"\n[build_factors.opt]\nO3 = { append = \"-O3\" }\n";
    let shown = messages(&text(tail).replace("version = \"old\"", "version = \"old\", opt = \"O3\""));
    assert!(shown.contains("has a compiler cache") && shown.contains("remove `cache`"), "{shown}");
}

#[test]
fn what_compiles_nothing_says_so_and_has_no_profile() {
    let study = parse(&text("compiles = false\n")).unwrap();
    assert!(
        Chain::of(&study).layers[0].compiles_nothing
            && !Chain::of(&parse(&text("compiles = true\n")).unwrap()).layers[0].compiles_nothing
    );
    assert!(messages(&text("compiles = \"no\"\n")).contains("true or false"));
    let shown = messages(&text(&format!("compiles = false\n{PROFILED}")));
    assert!(shown.contains("layer `perl` has a profile, but also `compiles = false`"), "{shown}");
}

const PROFILED: &str = "[build_factors.opt]\nown = {}\npgo = { profile = '\"$PREFIX/p\" x', append = \"-O3\" }\n";

#[test]
fn a_level_may_be_built_by_the_profile_of_a_training() {
    let text = |tail: &str| text(tail).replace("version = \"old\"", "version = \"old\", opt = \"own\"");
    let whole = text(PROFILED);
    let study = parse(&whole).unwrap_or_else(|_| panic!("{}", messages(&whole)));
    let tuning = &Spec::of_level(&study.build_factors[2].levels[1]).tuning;
    assert_eq!(tuning.training, [("perl".to_owned(), "\"$PREFIX/p\" x".to_owned())].into());
    assert!(tuning.concerns("perl") && tuning.mentions("perl", "PREFIX") && !tuning.mentions("perl", "MALLOC"));
    let plan = Plan::of(&study, "default").unwrap();
    assert_eq!(plan.build_factors[2].levels["pgo"]["profile"], "\"$PREFIX/p\" x");
    let variant = plan.variants.iter().find(|variant| variant.name == "opt=pgo").unwrap();
    assert_eq!(Spec::of(variant).tuning.training["perl"], "\"$PREFIX/p\" x");

    // Of several layers it names its own.
    let second = "[[build]]\nname = \"modules\"\nsource = \"perl-536\"\nscript = \"make\"\n";
    let shown = messages(&text(&format!("{second}{PROFILED}")));
    assert!(shown.contains("`profile` must name one of the layers with a source"), "{shown}");
    let named = PROFILED.replace("profile = '\"$PREFIX/p\" x'", "profile = { modules = 'x' }");
    let second = second.replace("source = \"perl-536\"\n", "");
    let study = parse(&text(&format!("{second}{named}"))).unwrap();
    let tuning = &Spec::of_level(&study.build_factors[2].levels[1]).tuning;
    assert_eq!(tuning.training, [("modules".to_owned(), "x".to_owned())].into());
}

#[test]
fn what_cannot_have_a_profile_is_refused_at_its_place() {
    let check = |tail: &str, message: &str, remedy: &str| {
        let baseline = "version = \"old\", opt = \"own\"";
        let baseline =
            if tail.contains("factors.cc]") { format!("{baseline}, cc = \"gcc\"") } else { baseline.to_owned() };
        let shown = messages(&text(tail).replace("version = \"old\"", &baseline));
        assert!(shown.contains(message) && shown.contains(remedy), "{tail}\n{shown}");
        assert!(shown.contains("1 problem in"), "{tail}\n{shown}");
    };
    let level = |level: &str| format!("[build_factors.opt]\nown = {{}}\npgo = {{ {level} }}\n");
    check(
        &level("profile = true"),
        "`profile` must be a command, in quotes",
        "the command runs in the same folder as the script",
    );
    check(&level("profile = \" \""), "`profile` must be a command, in quotes", "");
    check(&level("profile = { prel = \"x\" }"), "there is no layer `prel`", "did you mean `perl`?");
    let hand = level("profile = \"x\", append = \"-fprofile-use=y\"");
    check(&hand, "`profile` conflicts with `-fprofile-use=y`, which a level appends", "remove that flag");
    let two = format!("{PROFILED}[build_factors.cc]\ngcc = {{ profile = \"x\" }}\nclang = {{}}\n");
    check(&two, "factor `opt` already has a profile", "`append` is allowed in every factor");
    check(&format!("cache = \"ccache\"\n{PROFILED}"), "has a compiler cache", "remove `cache`");
    let plan = |keys: &str| format!("{PROFILED}[plan]\n{keys}\n");
    check(
        &plan("rebuild = 3"),
        "`rebuild` can measure only a single script",
        "the table of builds shows the cost of each build",
    );
    let shown = messages(&text("[run_factors.r]\na = { profile = \"x\" }\n"));
    assert!(shown.contains("`profile` is not allowed in a run factor"), "{shown}");
}
