//! The plan as a story: who takes part, in which order, and what changes neither.

use super::{Error, Plan, link_seed};
use crate::metric::{self, Direction, Metric, Unit};
use crate::record::{FactorLine, RELAID, TWIN};
use crate::study::Layouts;
use crate::study::{Levels, OpSpec, OutputUse, Vary, VoidRule};
use crate::until::Until;
use std::collections::{BTreeMap, BTreeSet};

const STUDY: &str = r#"
format = 1
name = "t"
[build_factors.cc]
gcc = { CC = "gcc" }
clang = { CC = "clang" }
[build_factors.opt]
O2 = { OPT = "-O2" }
O1 = { OPT = "-O1" }
O3 = { OPT = "-O3" }
[[exclude]]
when = { cc = "clang", opt = "O1" }
reason = "does not build"
[[build]]
name = "hello"
script = 'make CC=$CC OPT=$OPT'
[workloads.small]
run = 'small'
[workloads.large]
run = 'large'
[plan]
blocks = 4
seed = 178
layouts = "one"
[plans.each]
variants = "one-at-a-time"
[plans.one]
variants = [{ opt = "O3", cc = "clang" }]
[plans.barred]
variants = [{ opt = "O1", cc = "clang" }]
[decide]
baseline = { cc = "gcc", opt = "O2" }
"#;

fn plan(name: &str) -> Result<Plan, Error> {
    Plan::of(&crate::study_file::tests::parse(STUDY).unwrap(), name)
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.variants.iter().map(|v| v.name.as_str()).collect()
}

#[test]
fn the_default_is_every_combination_and_the_baseline_comes_first() {
    let plan = plan("default").unwrap();
    assert_eq!(names(&plan), ["baseline", "opt=O1", "opt=O3", "cc=clang", "cc=clang opt=O3"]);
    assert_eq!(plan.excluded[0].name, "cc=clang opt=O1");
    assert_eq!(plan.excluded[0].reason, "does not build");
    assert_eq!(plan.study_line(&BTreeMap::new(), "", None).excluded, plan.excluded);
    assert_eq!(plan.variants[4].spec.get::<Levels>().unwrap()["CC"], "clang");
    assert_eq!(plan.trials(), 4 * 2 * 6);
}

#[test]
fn several_levels_are_left_out_at_once() {
    let text = STUDY.replace("opt = \"O1\" }\nreason", "opt = [\"O1\", \"O3\"] }\nreason");
    let plan = Plan::of(&crate::study_file::tests::parse(&text).unwrap(), "default").unwrap();
    assert_eq!(names(&plan), ["baseline", "opt=O1", "opt=O3", "cc=clang"]);
    let excluded: Vec<&str> = plan.excluded.iter().map(|excluded| excluded.name.as_str()).collect();
    assert_eq!(excluded, ["cc=clang opt=O1", "cc=clang opt=O3"]);
    for (list, remedy) in [("[]", "remove the factor"), ("[\"O4\"]", "did you mean"), ("[1]", "")] {
        let text = text.replace("[\"O1\", \"O3\"]", list);
        let problem = &crate::study_file::tests::parse(&text).unwrap_err()[0];
        assert!(problem.message.contains("`opt`") && problem.remedy.contains(remedy), "{problem:?}");
    }
}

#[test]
fn rules_choose_who_takes_part() {
    assert_eq!(names(&plan("each").unwrap()), ["baseline", "cc=clang", "opt=O1", "opt=O3"]);
    assert_eq!(names(&plan("one").unwrap()), ["baseline", "cc=clang opt=O3"]);
    assert_eq!(plan("barred"), Err(Error::NothingToCompare));
    assert!(plan("eech").unwrap_err().to_string().contains("did you mean `each`?"));
}

#[test]
fn an_excluded_baseline_is_an_error_that_says_why() {
    let text = STUDY.replace("cc = \"clang\", opt = \"O1\" }\nreason", "cc = \"gcc\", opt = \"O2\" }\nreason");
    let error = Plan::of(&crate::study_file::tests::parse(&text).unwrap(), "default").unwrap_err();
    assert!(error.to_string().contains("does not build"), "{error}");
}

#[test]
fn a_selection_keeps_the_baseline() {
    let select = |pattern: &str| {
        let mut plan = plan("default").unwrap();
        plan.only(&[pattern.to_owned()]).map(|()| names(&plan).join(", "))
    };
    assert_eq!(select("opt=O3").unwrap(), "baseline, opt=O3", "a name means the variant that has it");
    assert_eq!(select("opt=O3 opt=O3").unwrap(), "baseline, opt=O3, cc=clang opt=O3", "terms mean all that have them");
    assert_eq!(select("opt=O3 cc=gcc").unwrap(), "baseline, opt=O3");
    assert_eq!(select("cc=clang opt=O3").unwrap(), "baseline, cc=clang opt=O3");
    assert!(select("opt=O4").unwrap_err().to_string().contains("did you mean `opt=O"));
    assert!(
        select("opt=33").is_err() && select("cc=clng").unwrap_err().to_string().contains("did you mean `cc=clang`?")
    );
    assert_eq!(select("baseline"), Err(Error::NothingToCompare));
}

#[test]
fn every_block_has_every_variant_and_the_twin_once() {
    let plan = plan("default").unwrap();
    let all: BTreeSet<&str> = names(&plan).into_iter().chain([TWIN]).collect();
    let mut orders = BTreeSet::new();
    for pass in 1..=4 {
        let blocks = plan.pass(pass);
        let workloads: BTreeSet<&str> = blocks.iter().map(|b| b.workload.as_str()).collect();
        assert_eq!(workloads, BTreeSet::from(["large", "small"]));
        for block in blocks {
            assert_eq!(block.order.len(), all.len());
            assert_eq!(block.order.iter().map(String::as_str).collect::<BTreeSet<_>>(), all);
            orders.insert(block.order);
        }
    }
    assert!(orders.len() > 4, "blocks have orders of their own");
}

#[test]
fn the_order_of_a_block_depends_on_nothing_but_seed_pass_and_names() {
    let plan_a = plan("default").unwrap();
    let mut plan_b = plan_a.clone();
    plan_b.blocks = 40;
    plan_b.workloads.reverse();
    let of = |plan: &Plan, workload| plan.pass(3).into_iter().find(|b| b.workload == workload).unwrap();
    assert_eq!(of(&plan_a, "large"), of(&plan_b, "large"));
    plan_b.seed = 179;
    assert_ne!(plan_a.pass(3), plan_b.pass(3));
}

#[test]
fn a_change_of_builds_or_inputs_changes_the_identity_and_more_blocks_do_not() {
    let mut plan = plan("default").unwrap();
    let builds = BTreeMap::from([("baseline".to_owned(), "d1".to_owned())]);
    let identity = plan.identity(&builds, "x");
    plan.blocks += 1;
    assert_eq!(plan.identity(&builds, "x"), identity);
    assert_ne!(plan.identity(&BTreeMap::new(), "x"), identity);
    assert_ne!(plan.identity(&builds, "y"), identity);
    plan.seed += 1;
    assert_ne!(plan.identity(&builds, "x"), identity);
}

/// Journals of earlier versions go on under these, since the standard output of trials is kept.
#[test]
fn the_identity_of_a_study_without_newer_parts_is_what_it_always_was() {
    let builds = BTreeMap::from([("baseline".to_owned(), "d1".to_owned())]);
    let check = |name: &str, until: Option<Until>, expect: &str| {
        let mut plan = plan(name).unwrap();
        plan.extend(until, None).unwrap();
        assert_eq!(plan.identity(&builds, "x"), expect, "{name}");
    };
    check("default", None, "cfd537eea2449cc594ddb6d92bb2ab0e2f844d5f117ac6eca9952a0ab8bedf24");
    check("each", None, "8a271d44e531a09bc598f9a8cc2fa4a7faa8afe43e2e0c25fcd9720d8c7167af");
    check("default", Some(Until::Decided), "b57c8a145b896c46387bf4aea4a1270928d4cdca94d6a45d4fd54e999e22fab0");
}

/// A study that varies only how a program is run, with all that its trials can depend on.
const SURROUNDED: &str = include_str!("../../tests/data/surrounded.toml");

fn surrounded(text: &str, name: &str) -> Plan {
    let study = crate::study_file::tests::parse(text)
        .unwrap_or_else(|list| panic!("{}", crate::problem::Problems::new("study.toml", text, list).render(false)));
    Plan::of(&study, name).unwrap()
}

#[test]
fn a_plan_takes_its_workloads_their_services_and_its_conditions() {
    let whole = surrounded(SURROUNDED, "default");
    let variables: Vec<_> = whole.variants.iter().map(|v| v.run_variables.get("CACHE").map(String::as_str)).collect();
    assert_eq!(variables, [None, Some("1")]);
    assert_eq!((whole.workloads.len(), whole.services.len(), whole.conditions.len()), (2, 2, 2));
    assert_eq!(whole.trials(), 12 * 2 * 2 * 3);
    let quick = surrounded(SURROUNDED, "quick");
    assert_eq!(quick.workloads[0].name, "find");
    assert_eq!(quick.services[0].name, "spare");
    assert_eq!(quick.conditions[0].name, "idle");
    assert_eq!((quick.workloads.len(), quick.services.len(), quick.conditions.len()), (1, 1, 1));
    assert_eq!(quick.pass(1).len(), 1);
}

#[test]
fn a_workload_that_takes_no_part_takes_its_metrics_with_it() {
    let judged = |metrics: &str, name: &str| {
        let text = SURROUNDED.replace("[decide]", &format!("[decide]\nmetrics = {metrics}"));
        Plan::of(&crate::study_file::tests::parse(&text).unwrap(), name)
    };
    let metrics = r#"["wall", "load.wall", "op.p99", "lost"]"#;
    let whole = judged(metrics, "default").unwrap();
    assert_eq!(whole.decide.metrics, ["wall", "load.wall", "op.p99", "lost"]);
    let own = |plan: &Plan| plan.study_line(&BTreeMap::new(), "x", None).metrics.len();
    assert_eq!(own(&whole), 3, "they are described in the journal's head");
    let quick = judged(metrics, "quick").unwrap();
    assert_eq!((&quick.decide.metrics[..], own(&quick)), (&["wall".to_owned()][..], 0));
    let error = judged(r#"["load.wall", "wall"]"#, "quick").unwrap_err();
    assert!(error.to_string().contains("no workload of the plan has the deciding metric `load.wall`"), "{error}");
}

#[test]
fn the_environments_size_is_drawn_for_a_pass_and_is_the_same_for_all_of_its_blocks() {
    let plan = surrounded(SURROUNDED, "default");
    let paddings: Vec<BTreeSet<u32>> =
        (1..=8).map(|pass| plan.pass(pass).iter().map(|block| block.padding).collect()).collect();
    assert!(paddings.iter().all(|of_pass| of_pass.len() == 1 && !of_pass.contains(&0)), "{paddings:?}");
    assert!(paddings.iter().flatten().collect::<BTreeSet<_>>().len() > 4, "{paddings:?}");
    assert!(surrounded(&SURROUNDED.replace("vary = [\"env-size\"]", ""), "default").pass(1)[0].padding == 0);
}

#[test]
fn whatever_trials_depend_on_is_part_of_the_identity() {
    let identity = |text: &str| surrounded(text, "default").identity(&BTreeMap::new(), "x");
    let mut seen = BTreeMap::from([(identity(SURROUNDED), "nothing")]);
    for (from, to) in [
        ("CACHE = \"1\"", "CACHE = \"2\""),
        ("run = 'store $PORT_store'", "run = 'shop $PORT_store'"),
        ("ready = { tcp = \"$PORT_store\" }", ""),
        ("ready = { tcp = \"$PORT_store\" }", "ready = { tcp = \"$PORT_spare\" }"),
        ("ready = { tcp = \"$PORT_store\" }", "ready = { log = \"$PORT_store\" }"),
        ("ready = { tcp = \"$PORT_store\" }", "ready = { command = \"$PORT_store\" }"),
        ("ready = { tcp = \"$PORT_store\" }", "ready = { tcp = \"$PORT_store\", within = \"1 s\" }"),
        ("run = 'spare'", "run = 'spare'\nper = \"block\""),
        ("run = 'spare'", "run = 'spare'\nstop = { signal = \"INT\" }"),
        ("run = 'spare'", "run = 'spare'\nstop = { within = \"1 s\" }"),
        ("phases = [\"load\"]", "phases = [\"load\", \"scan\"]"),
        ("phases = [\"load\"]", "phases = [\"load\"]\ndivided = true"),
        ("\"message\"", "\"mail\""),
        ("count = 178", "count = 179"),
        ("count = 178, ", ""),
        ("names = [\"quote\"]", "names = [\"book\"]"),
        ("services = [\"store\"]", "services = [\"store\", \"spare\"]"),
        ("oracle = 'check'", ""),
        ("oracle = 'check'", "oracle = 'verify'"),
        ("timeout = \"30 s\"", "timeout = \"31 s\""),
        ("lost = {", "gone = {"),
        ("unit = \"1\"", "unit = \"%\""),
        ("unit = \"1\"", "unit = \"B\""),
        ("unit = \"1\"", "unit = \"1\", better = \"more\""),
        ("csv = \"lost\"", "csv = \"late\""),
        ("take = \"sum\"", "take = \"max\""),
        ("csv = \"lost\", take = \"sum\"", "regex = 'lost'"),
        ("csv = \"lost\", take = \"sum\"", "json = 'lost'"),
        (", csv = \"lost\", take = \"sum\"", ""),
        ("copies = 4", "copies = 3"),
        ("of = { command = \"spin\" }", "of = { command = \"spun\" }"),
        ("of = { command = \"spin\" }", "of = \"self\""),
        ("of = { command = \"spin\" }", ""),
        ("pace = \"10/s\"", ""),
        ("load_cpus = \"1\"", "load_cpus = \"0-1\""),
        ("processes = 2", "processes = 3"),
        ("\ncpus = \"0\"", "\ncpus = \"0-1\""),
        ("realtime = 5", "realtime = 6"),
        ("aslr = false", "aslr = true"),
        ("aslr = false", ""),
        ("locale = \"C\"", "locale = \"C.UTF-8\""),
        ("drop_caches = true", ""),
        ("memory = \"1 GiB\"", "memory = \"2 GiB\""),
        ("cpu = 0.5", "cpu = 1.5"),
        ("vary = [\"env-size\"]", ""),
        ("steal = \">1%\"", "steal = \">2%\""),
        ("steal = \">1%\"", "foreign_cpu = \">1%\""),
        ("void_if = { steal = \">1%\" }", ""),
    ] {
        assert!(SURROUNDED.contains(from), "{from}");
        if let Some(before) = seen.insert(identity(&SURROUNDED.replace(from, to)), to) {
            panic!("{from} → {to} has the identity of {before:?}");
        }
    }
    let lone = |text: &str| text.replace("[conditions.busy]", "[conditions.busy]\nprocesses = 1");
    let plain = STUDY.replace("[plan]", "[conditions.idle]\n[conditions.busy]\n[plan]");
    assert_eq!(identity(&plain), identity(&lone(&plain)), "one process is what there always was");
}

#[test]
fn where_output_goes_is_part_of_the_identity_and_what_follows_from_it_is_not() {
    let with = |keys: &str| {
        let text = SURROUNDED.replacen(
            "[workloads.send]",
            &format!("[workloads.print]\nrun = 'x'\n{keys}\n[workloads.send]"),
            1,
        );
        assert_ne!(text, SURROUNDED);
        let plan = surrounded(&text, "default");
        (
            plan.identity(&BTreeMap::new(), "x"),
            plan.study_line(&BTreeMap::new(), "", None).outputs.get("print").copied(),
        )
    };
    let (usual, null) = (with(""), with("output = \"null\""));
    assert_eq!(usual.1, None);
    assert_eq!(with("output = \"compared\""), usual);
    assert_eq!(with("output = \"varies\""), (usual.0.clone(), Some(OutputUse::Varies)));
    assert_eq!(with("divided = true").1, Some(OutputUse::Varies));
    assert_eq!(with("divided = true\noutput = \"compared\"").1, None);
    assert_eq!(null.1, Some(OutputUse::Null));
    assert_ne!(null.0, usual.0);
}

#[test]
fn the_head_of_a_journal_describes_the_metrics_that_the_table_does_not() {
    let mut plan = plan("default").unwrap();
    plan.workloads[1].phases = vec!["scan".to_owned()];
    plan.workloads[1].ops = Some(OpSpec { unit: "message".to_owned(), ..OpSpec::default() });
    plan.decide.metrics = ["scan.op.rate", "wall", "op.p99"].map(str::to_owned).to_vec();
    let rule = |metric: &str| VoidRule { metric: metric.to_owned(), above: 1.0 };
    plan.void_if = ["op.p99", "scan.wall", "steal"].map(rule).to_vec();
    let described = plan.study_line(&BTreeMap::new(), "", None).metrics;
    let names: Vec<&str> = described.iter().map(|metric| &*metric.name).collect();
    assert_eq!(names, ["scan.op.rate", "op.p99", "scan.wall"]);
    assert_eq!((described[0].unit, described[0].better), (Unit::PerSecond, Direction::More));
}

/// The study, with these lines in its plan.
fn with(lines: &str) -> Plan {
    let text = STUDY.replacen("seed = 178\n", &format!("seed = 178\n{lines}\n"), 1);
    Plan::of(&crate::study_file::tests::parse(&text).unwrap(), "default").unwrap()
}

#[test]
fn building_is_measured_in_the_first_passes_and_changes_nothing_else() {
    let (plain, built) = (plan("default").unwrap(), with("rebuild = 2"));
    assert_eq!(built.trials(), plain.trials() + 2 * 6);
    for pass in 1..=4 {
        let (building, others): (Vec<_>, Vec<_>) =
            built.pass(pass).into_iter().partition(|block| block.workload == "build-hello");
        assert_eq!(others, plain.pass(pass));
        assert_eq!(building.len(), usize::from(pass <= 2), "pass {pass}");
        for block in building {
            assert_eq!((block.condition.as_str(), block.order.len()), ("idle", 6));
        }
    }
    let builds = BTreeMap::new();
    assert_eq!(built.identity(&builds, ""), plain.identity(&builds, ""), "a study can be given it later");
    let line = built.study_line(&builds, "", None);
    let building = line.building.unwrap();
    assert_eq!((building.step("build-hello"), building.step("build-world")), (Some("hello"), None));
    assert!(line.metrics.iter().any(|metric| metric.name == "installed"));

    let mut fewer = with("rebuild = 9");
    assert_eq!(fewer.building_passes(), 4);
    fewer.extend(None, Some(3)).unwrap();
    assert_eq!(fewer.building_passes(), 3);
}

#[test]
fn a_plan_that_builds_nothing_anew_leaves_no_trace_in_its_journal() {
    let plain = plan("default").unwrap();
    let line = serde_json::to_string(&plain.study_line(&BTreeMap::new(), "", None)).unwrap();
    let block = serde_json::to_string(&plain.pass(1)).unwrap();
    assert!(!line.contains("building") && !block.contains("layout"), "{line} {block}");
}

#[test]
fn the_order_of_linking_is_drawn_for_every_pass_and_from_it_for_every_variant() {
    let varied = with("vary = [\"link-order\"]");
    let layouts: Vec<Option<u32>> = (1..=4).map(|pass| varied.pass(pass)[0].layout).collect();
    for (pass, layout) in (1..).zip(&layouts) {
        assert!(varied.pass(pass).iter().all(|block| block.layout == *layout), "one for the whole pass");
    }
    let different: BTreeSet<_> = layouts.iter().flatten().collect();
    assert_eq!(different.len(), 4);
    let pass = layouts[0].unwrap();
    let seeds: BTreeSet<u32> = ["baseline", "opt=O1", TWIN].map(|name| link_seed(pass, name)).into();
    assert_eq!(seeds.len(), 3);
    // Golden: what was linked once must be linked so again.
    assert_eq!((pass, link_seed(pass, TWIN)), (2_594_706_697, 3_778_248_270));
    assert_ne!(varied.identity(&BTreeMap::new(), ""), plan("default").unwrap().identity(&BTreeMap::new(), ""));
}

#[test]
fn what_is_built_is_linked_again_by_default_and_the_baseline_once_more() {
    let read = |line: &str| {
        let text = STUDY.replace("layouts = \"one\"", line);
        Plan::of(&crate::study_file::tests::parse(&text).unwrap(), "default").unwrap()
    };
    for line in ["", "layouts = \"fresh\""] {
        let plan = read(line);
        assert_eq!(plan.vary, [Vary::Layouts]);
        let trials = plan.trials_of_block(&plan.conditions[0]);
        assert_eq!(trials, plan.variants.len() as u64 + 2);
        for block in plan.pass(1) {
            assert!(block.layout.is_some() && block.linked.is_empty());
            assert_eq!(block.order.iter().filter(|name| *name == RELAID).count(), 1);
            assert_eq!(block.order.len() as u64, trials);
        }
    }
    // Where the order of linking is varied, nothing matches.
    assert_eq!(read("vary = [\"link-order\"]").vary, [Vary::LinkOrder]);
    let mut one = read("layouts = \"one\"");
    assert!(!one.relinks());
    one.build_factors = vec![FactorLine::default()];
    one.set_layouts(Layouts::Fresh).unwrap();
    assert_eq!(one.identity(&BTreeMap::new(), ""), read("").identity(&BTreeMap::new(), ""));
    one.build_factors.clear();
    assert!(one.set_layouts(Layouts::Fresh).is_err(), "nothing is built");
    assert_eq!(one.set_layouts(Layouts::One), Ok(()), "that is so already");
}

#[test]
fn few_layouts_take_turns_and_files_as_built_are_a_condition() {
    let with = |line: &str| {
        let text = STUDY.replace("layouts = \"one\"", line);
        Plan::of(&crate::study_file::tests::parse(&text).unwrap(), "default").unwrap()
    };
    let mut plan = with("layouts = 3");
    let layouts: Vec<_> = (1..=12).map(|pass| plan.pass(pass)[0].layout.unwrap()).collect();
    assert_eq!(layouts[..3], layouts[9..]);
    assert_eq!(layouts.iter().collect::<BTreeSet<_>>().len(), 3);
    assert_ne!(plan.identity(&BTreeMap::new(), ""), with("layouts = 4").identity(&BTreeMap::new(), ""));
    plan.blocks = 12;
    assert_eq!(plan.check_layouts(), Ok(()));
    plan.blocks = 10;
    let (why, remedy) = plan.check_layouts().unwrap_err();
    assert_eq!(why, "10 blocks cannot give 3 layouts the same number of passes");
    assert_eq!(remedy, "use --blocks 9 or 12");
    for until in [Until::Decided, Until::Anytime, Until::Precision(0.01)] {
        assert!(Plan { blocks: 30, until, ..plan.clone() }.check_layouts().is_err());
    }

    let (both, fresh) = (with("layouts = \"both\""), with("layouts = \"fresh\""));
    assert_eq!(both.conditions.len(), 2 * fresh.conditions.len());
    for block in both.pass(1) {
        let is_as_built = block.condition.ends_with("-as-built");
        assert_eq!(block.layout.is_none(), is_as_built);
        assert_eq!(block.order.iter().any(|name| name == RELAID), !is_as_built);
    }
    let trials = (1..=both.blocks).flat_map(|pass| both.pass(pass)).map(|block| block.order.len()).sum::<usize>();
    assert_eq!(both.trials(), trials as u64);
    let mut again = both.clone();
    again.build_factors = vec![FactorLine::default()];
    again.set_layouts(Layouts::Fresh).unwrap();
    assert_eq!((again.conditions, again.vary), (fresh.conditions, fresh.vary));
}

#[test]
fn what_is_counted_is_another_study_and_has_no_layouts() {
    let mut plan = surrounded(SURROUNDED, "default");
    let measured = plan.identity(&BTreeMap::new(), "");
    let metric = metric::by_name("instructions", &[]).unwrap().clone();
    plan.count(Metric { counted: true, ..metric });
    assert_ne!(plan.identity(&BTreeMap::new(), ""), measured);
    assert!(plan.vary.is_empty() && plan.pass(1)[0].padding == 0);
    let head = plan.study_line(&BTreeMap::new(), "", None);
    assert!(head.metric("instructions").is_some_and(|metric| metric.counted));
}
