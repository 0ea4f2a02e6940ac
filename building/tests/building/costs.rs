//! What building takes, next to what it gains.

use super::judged::judge;
use super::records::BuiltRecord;
use crate::journal::{BuildLine, LayerLine};
use crate::judged::BuiltAndExecuted;
use bakeoff_model::record::{Building, Record};
use bakeoff_report::{Context, brief};
use bakeoff_testkit::letters;
use bakeoff_testkit::records::{execute, measure, noise, study};

/// A study of builds: 6 passes of a workload, and 4 of building, where `b` takes twice as long; and in the workload no
/// longer than the baseline.
fn built() -> Record {
    let mut record = study(&["baseline", "b"], &["idle"], &["wall"]);
    record.study.variants.iter_mut().for_each(|variant| variant.build = Some("5e1f09".to_owned()));
    let only_workloads = record.clone();
    execute(&mut record, 6, |trial| {
        let wall_s = 0.5 * noise(trial);
        measure(trial, "wall", wall_s);
    });
    let mut building = only_workloads;
    execute(&mut building, 4, |trial| {
        let wall_s = if trial.variant == "b" { 4.0 } else { 2.0 } * noise(trial);
        measure(trial, "wall", wall_s);
        measure(trial, "installed", 12_345.0);
        trial.workload = "build-perl".to_owned();
    });
    building.blocks.iter_mut().for_each(|block| block.workload = "build-perl".to_owned());
    record.blocks.extend(building.blocks);
    record.trials.extend(building.trials);
    record.study.building =
        Some(Building { workloads: vec!["build-perl".to_owned()], condition: "idle".to_owned(), blocks: 4 });
    record
}

/// What the layers take together, where a variant differs in several, and of those only in which it differs.
#[test]
fn building_stands_beside_speed() {
    let mut record = built();
    let building = record.study.building.as_mut().unwrap();
    building.workloads.insert(0, "build-configure".to_owned());
    let second = |workload: &String| workload == "build-perl";
    let blocks: Vec<_> = record.blocks.iter().filter(|block| second(&block.workload)).cloned().collect();
    let trials: Vec<_> = record.trials.iter().filter(|trial| second(&trial.workload)).cloned().collect();
    record.blocks.extend(blocks.into_iter().map(|mut block| {
        block.workload = "build-configure".to_owned();
        block
    }));
    // Configuring takes 6 s, whatever is configured: 8 s and 10 s altogether.
    record.trials.extend(trials.into_iter().map(|mut trial| {
        trial.workload = "build-configure".to_owned();
        let wall_s = 6.0 * noise(&trial);
        measure(&mut trial, "wall", wall_s);
        trial
    }));
    for trial in record.trials.iter_mut().filter(|trial| trial.workload == "loop" && trial.variant == "b") {
        trial.measurements.values_mut().for_each(|value| *value *= 0.9);
    }
    let layer = |name: &str, digest: &str| LayerLine {
        name: name.to_owned(),
        digest: digest.to_owned(),
        ..LayerLine::default()
    };
    let build = |variant: &str, layers: Vec<LayerLine>, bytes: u64| BuildLine {
        digest: variant.to_owned(),
        variants: vec![variant.to_owned()],
        prefix_bytes: Some(bytes),
        layers,
        ..BuildLine::default()
    };
    let builds = vec![
        build("baseline", vec![layer("configure", "1"), layer("perl", "2")], 1 << 20),
        build("b", vec![layer("configure", "3"), layer("perl", "4")], 2 << 20),
    ];
    let mut record = BuiltRecord::of(record, builds);
    let costs = |record: &BuiltRecord| {
        let findings = judge(record);
        let brief = brief(&findings, Context::default());
        let costs = brief.facts.iter().filter(|fact| fact.id == "costs").map(|fact| letters(&fact.text));
        (costs.collect::<Vec<String>>(), letters(&brief.answer), findings.sections.get("built_and_executed").cloned())
    };
    let (both, answer, built) = costs(&record);
    assert_eq!(both, ["b builds 25.0 % slower", "b takes 2.00 MiB on disk instead of 1.00 MiB"]);
    assert!(answer.starts_with("b is 10.0 % faster (9.9 … 10.1 %)"), "{answer}");
    let built: Vec<BuiltAndExecuted> = serde_json::from_value(built.unwrap()).unwrap();
    let interval = built[0].building.interval().unwrap().map(|end| (1000.0 * end).round());
    assert_eq!((interval, built[0].layers.len()), ([1247.0, 1252.0], 2));
    // Built upon the same configuration.
    record.builds[1].layers[0].digest = "1".to_owned();
    let (one, _, built) = costs(&record);
    assert_eq!(built.unwrap()[0]["layers"], serde_json::json!(["perl"]));
    assert!(one[0].starts_with("b builds 99.9 % slower") || one[0].starts_with("b builds 2.00 ×"), "{one:?}");
    // What is undecided is not weighed against anything.
    record.trials.iter_mut().filter(|trial| trial.workload == "loop" && trial.variant == "b").for_each(|trial| {
        let sign = if trial.block % 2 == 0 { 1.3 } else { 0.8 };
        trial.measurements.values_mut().for_each(|value| *value *= sign);
    });
    assert_eq!(costs(&record).0, Vec::<String>::new());
}
