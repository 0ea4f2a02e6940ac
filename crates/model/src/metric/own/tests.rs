//! Names of metrics, and what workloads declare.

use super::*;

fn workloads() -> Vec<Workload> {
    let text = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let value = |name: &str, from, unit, better| ValueSpec {
        name: name.to_owned(),
        from,
        unit,
        scale: 1.0,
        better,
        exact: false,
    };
    let regex = ValueSource::Regex("score (.*)".to_owned());
    vec![
        Workload {
            name: "mail".to_owned(),
            phases: text(&["load", "scan"]),
            ops: Some(OpSpec { unit: "message".to_owned(), count: Some(178), names: vec![] }),
            values: vec![value("heap", ValueSource::Mark, Unit::Bytes, Direction::Less)],
            ..Workload::default()
        },
        Workload {
            name: "cache".to_owned(),
            phases: text(&["warm"]),
            ops: Some(OpSpec { unit: "call".to_owned(), count: None, names: text(&["get", "set"]) }),
            services: text(&["store"]),
            values: vec![value("score", regex, Unit::Count, Direction::More)],
            ..Workload::default()
        },
        Workload { name: "plain".to_owned(), phases: text(&["boot"]), ..Workload::default() },
    ]
}

#[test]
fn what_workloads_declare_is_described() {
    for (name, unit, better, what, source) in [
        ("scan.wall", Unit::Seconds, Direction::Less, "elapsed time of the phase `scan`", "marks: phase scan"),
        ("op.p50", Unit::Seconds, Direction::Less, "latency that 50 % of ops (message) do not exceed", "marks: op"),
        (
            "scan.op.p99.9",
            Unit::Seconds,
            Direction::Less,
            "latency that 99.9 % of ops (message) do not exceed, in phase `scan`",
            "marks: op",
        ),
        ("op.get.rate", Unit::PerSecond, Direction::More, "ops `get` per second", "marks: op"),
        ("warm.op.set.mean", Unit::Seconds, Direction::Less, "mean latency of ops `set`, in phase `warm`", "marks: op"),
        ("op.count", Unit::Count, Direction::Less, "number of ops (message)", "marks: op"),
        (
            "store.cpu",
            Unit::Seconds,
            Direction::Less,
            "service `store`: CPU time during the trial",
            "CPU clocks of the service's processes",
        ),
        ("heap", Unit::Bytes, Direction::Less, "a value that the workload reports", "marks: value heap"),
        ("score", Unit::Count, Direction::More, "a number that the workload prints", "standard output: /score (.*)/"),
    ] {
        let metric = find(name, &workloads()).unwrap();
        assert_eq!((&*metric.name, metric.unit, metric.better), (name, unit, better));
        assert_eq!((&*metric.what, &*metric.source), (what, source), "{name}");
        assert_eq!(own(name, &workloads()), Ok(metric));
    }
    // One of the table is known, but no study's own.
    assert_eq!(find("wall", &workloads()).map(|metric| metric.unit), Ok(Unit::Seconds));
    assert!(own("wall", &workloads()).is_err());
}

#[test]
fn every_name_that_is_suggested_is_known() {
    let names = all_own(&workloads());
    assert_eq!(names.len(), 2 + 4 + 5 + 9 * 3 + 9 * 2 * 3);
    for name in names {
        assert!(own(&name, &workloads()).is_ok(), "{name}");
    }
}

#[test]
fn what_nobody_declares_is_refused_with_a_remedy() {
    for (name, why, remedy) in [
        ("wal", "there is no metric `wal`", "did you mean `wall`?"),
        ("scam.wall", "no workload has a phase `scam`", "did you mean `scan`?"),
        ("scan.wal", "there is no metric `scan.wal`", "did you mean `scan.wall`?"),
        ("scan.op.p98", "`scan.op.p98` does not end with an op statistic", ".p99, .p99.9, .max"),
        ("op.gett.p99", "no workload has ops named `gett`", "did you mean `get`?"),
        ("scam.op.p99", "no workload with ops has a phase `scam`", "did you mean `scan`?"),
        ("heep", "there is no metric `heep`", "did you mean `heap`?"),
        ("parsing.wall", "no workload has a phase `parsing`", "available: load, scan, warm, boot"),
        ("op.delete.p99", "no workload has ops named `delete`", "available: get, set"),
        ("load.op.get.p99", "no workload with ops named `get` has a phase", "available: warm"),
        ("op.get.median", "`op.get.median` does not end with an op statistic", "one of .p50, .p90"),
        ("scan.page_faults", "there is no metric `scan.page_faults`", "`PHASE.wall`"),
        ("zzzzzzzzzz", "there is no metric `zzzzzzzzzz`", "available: wall, user"),
        ("", "there is no metric ``", "available: "),
    ] {
        let unknown = find(name, &workloads()).unwrap_err();
        assert!(unknown.why.contains(why) && unknown.remedy.contains(remedy), "{name}: {unknown}");
    }
    for (name, why, remedy) in [
        ("op.p99", "no workload has ops", "declare them in the workload, for example `ops = { unit = \"message\" }`"),
        (
            "scan.wall",
            "no workload has a phase `scan`",
            "declare the phases that the workload marks: `phases = [\"…\"]`",
        ),
    ] {
        let unknown = find(name, &[Workload::default()]).unwrap_err();
        assert_eq!((unknown.why.as_str(), unknown.remedy.as_str()), (why, remedy));
    }
    let unknown = find("op.get.p99", &workloads()[..1]).unwrap_err();
    assert!(unknown.remedy.contains("names"), "{unknown}");
}

#[test]
fn a_value_means_the_same_everywhere() {
    let mut workloads = workloads();
    workloads[1].values[0].name = "heap".to_owned();
    let unknown = find("heap", &workloads).unwrap_err();
    assert!(
        unknown.why.contains("a different unit, direction or exactness in workload `cache` than in `mail`"),
        "{unknown}"
    );
}

#[test]
fn units_have_a_base() {
    for (text, expect) in [
        ("s", Some((Unit::Seconds, 1.0))),
        ("ms", Some((Unit::Seconds, 1e-3))),
        ("us", Some((Unit::Seconds, 1e-6))),
        ("µs", Some((Unit::Seconds, 1e-6))),
        ("μs", Some((Unit::Seconds, 1e-6))),
        (" ns ", Some((Unit::Seconds, 1e-9))),
        ("kB", Some((Unit::Bytes, 1e3))),
        ("KB", Some((Unit::Bytes, 1e3))),
        ("MiB", Some((Unit::Bytes, 1024.0 * 1024.0))),
        ("GiB", Some((Unit::Bytes, 1024.0 * 1024.0 * 1024.0))),
        ("1", Some((Unit::Count, 1.0))),
        ("%", Some((Unit::Count, 0.01))),
        ("/s", Some((Unit::PerSecond, 1.0))),
        ("MB/s", Some((Unit::PerSecond, 1e6))),
        ("mb", None),
        ("S", None),
        ("", None),
    ] {
        assert_eq!(Unit::of(text), expect, "{text}");
    }
    for listed in Unit::KNOWN.split([',', ';']) {
        assert!(Unit::of(listed).is_some(), "{listed}");
    }
}
