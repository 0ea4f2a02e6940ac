//! The published schema of the findings: it is one, all findings of the tests fit it, and it says of each field what it is.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use bakeoff_building::Building;
use bakeoff_command::Registry;
use bakeoff_judge::findings::{FORMAT, Findings};
use bakeoff_model::record::{Attempt, Failure, Outcome};
use bakeoff_testkit::findings::all;
use bakeoff_testkit::records;
use boon::{CompileError, Compiler, SchemaIndex, Schemas};
use serde_json::{Map, Value, json};

fn schema() -> Value {
    serde_json::from_str(include_str!("../../../docs/reference/findings.schema.json")).unwrap()
}

/// A later version may add fields, so the schema is open. Of this version it has to know all.
fn closed(mut schema: Value) -> Value {
    fn close(value: &mut Value) {
        if let Value::Object(fields) = &mut *value {
            let is_object =
                fields.get("type").is_some_and(|kind| kind == "object") && fields.contains_key("properties");
            if is_object && !fields.contains_key("additionalProperties") {
                fields.insert("additionalProperties".to_owned(), json!(false));
            }
        }
        match value {
            Value::Object(fields) => fields.values_mut().for_each(close),
            Value::Array(items) => items.iter_mut().for_each(close),
            _ => {}
        }
    }
    close(&mut schema);
    schema
}

/// A schema, compiled. Compiling checks it against the schema of schemas.
struct Validator(Schemas, SchemaIndex);

impl Validator {
    fn new(schema: Value) -> Self {
        Self::compile(schema).unwrap_or_else(|error| panic!("{error:#}"))
    }

    fn compile(schema: Value) -> Result<Self, Box<CompileError>> {
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource("findings.json", schema)?;
        let index = compiler.compile("findings.json", &mut schemas)?;
        Ok(Self(schemas, index))
    }

    fn complaint(&self, value: &Value) -> Option<String> {
        self.0.validate(value, self.1).err().map(|error| format!("{error:#}"))
    }
}

fn value(findings: &Findings) -> Value {
    serde_json::from_str(&bakeoff_report::json(findings, None).unwrap()).unwrap()
}

#[test]
fn it_is_a_schema_and_has_the_version_of_the_findings() {
    let schema = schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    Validator::new(schema.clone());
    let mut bad = schema.clone();
    bad["properties"]["format"]["type"] = json!("no-such-type");
    assert!(Validator::compile(bad).is_err(), "a schema that is none is refused");
    assert_eq!(schema["properties"]["format"]["const"], FORMAT);
    assert_eq!(schema["$id"], format!("urn:bakeoff:findings:{FORMAT}"));
}

/// Findings of trials, as they are judged: several conditions, a rate, trials that failed, no twin that is quiet.
fn judged() -> Findings {
    let mut record = records::study(&["one", "two", "three"], &["idle", "busy"], &["wall", "throughput", "majflt"]);
    records::execute(&mut record, 12, |trial| {
        let value = records::noise(trial) * if trial.condition == "busy" { 2.0 } else { 1.0 };
        records::measure(trial, "wall", if trial.variant == "two" { 1.2 * value } else { value });
        records::measure(trial, "majflt", f64::from(trial.position / 3));
        if trial.variant == "three" && trial.block < 4 {
            trial.outcome = Outcome::Failed(Failure::TimedOut { after_s: 1.0, stderr: vec![] });
        }
    });
    Registry::of(&[&Building]).judge(&record)
}

/// The same of blocks that ran on two nodes, on one of which `two` is slower.
fn on_nodes() -> Findings {
    let mut record = records::study(&["one", "two"], &["idle"], &["wall"]);
    records::execute(&mut record, 24, |trial| {
        let is_slower = trial.variant == "two" && trial.block % 2 == 1;
        let value = records::noise(trial) * if is_slower { 1.2 } else { 1.0 };
        records::measure(trial, "wall", value);
    });
    for block in &record.blocks {
        let shard = block.block % 2;
        let key = (block.block, block.workload.clone(), block.condition.clone());
        record.away.insert(key, Attempt { node: format!("n{shard}"), shard, attempt: 0 });
    }
    record.run_again = [((1, String::new(), String::new()), Default::default())].into();
    let findings = Registry::of(&[&Building]).judge(&record);
    assert!(findings.by_place.iter().any(|row| row.unlike.is_some()), "{:?}", findings.by_place);
    findings
}

#[test]
fn all_findings_fit_it() {
    let (open, strict) = (Validator::new(schema()), Validator::new(closed(schema())));
    let mut seen: Vec<String> = vec![];
    for (name, findings) in all().into_iter().chain([("judged", judged()), ("nodes", on_nodes())]) {
        let value = value(&findings);
        for validator in [&open, &strict] {
            assert_eq!(validator.complaint(&value), None, "{name}");
        }
        seen.extend(value.as_object().unwrap().keys().cloned());
    }
    // What features add is open, so a new field of the core would not be missed there.
    let known = schema()["properties"].as_object().unwrap().clone();
    let unknown: Vec<&String> = seen.iter().filter(|key| !known.contains_key(*key)).collect();
    assert!(unknown.is_empty(), "not in the schema: {unknown:?}");
}

#[test]
fn what_is_not_as_it_should_be_does_not_fit() {
    let strict = Validator::new(closed(schema()));
    let good = value(&all().into_iter().find(|(name, _)| *name == "pair").unwrap().1);
    let check = |pointer: &str, with: Value| {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer} is not there")) = with;
        assert!(strict.complaint(&bad).is_some(), "{pointer}");
    };
    check("/format", json!(FORMAT + 1));
    check("/variants", json!("x"));
    check("/tables/0/unit", json!("minutes"));
    check("/tables/0/rows/1/comparison/verdict", json!("better"));
    check("/tables/0/rows/1/comparison/interval", json!([1.0]));
    check("/tables/0/rows/1/comparison/test", json!("no-such-test"));
    check("/tables/0/rows/1/summary/n", json!(-1));
    let mut more = good.clone();
    more["tables"][0]["rows"][0]["unknown"] = json!(1);
    assert!(strict.complaint(&more).is_some());
    let mut less = good;
    less.as_object_mut().unwrap().remove("seed");
    assert!(strict.complaint(&less).is_some());
}

#[test]
fn every_field_is_described() {
    fn look(name: &str, fields: &Map<String, Value>, found: &mut Vec<String>) {
        for (field, about) in fields {
            let is_described = about.get("description").is_some() || about.get("const").is_some();
            if !is_described && about.get("properties").is_none() {
                found.push(format!("{name}.{field}"));
            }
        }
    }
    let schema = schema();
    let mut found = vec![];
    look("findings", schema["properties"].as_object().unwrap(), &mut found);
    for (name, about) in schema["$defs"].as_object().unwrap() {
        assert!(about["description"].is_string(), "{name}");
        if let Some(fields) = about["properties"].as_object() {
            look(name, fields, &mut found);
        }
    }
    assert!(found.is_empty(), "{found:?}");
}
