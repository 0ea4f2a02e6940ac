//! What the page's script looks values up in: every trial's value, in four bytes each, for as many metrics as there is room for.
//! It is JSON that cannot end the element that it stands in.

use crate::cells::{Cell, PlaceCells, State, Values, places};
use crate::look::{Look, unit_of};
use bakeoff_judge::findings::Findings;
use bakeoff_model::plain::clean;
use bakeoff_model::record::Record;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Serialize;
use std::collections::BTreeMap;

/// Values of all metrics together; beyond, metrics are left out, the deciding one last.
const MOST_VALUES: usize = 350_000;

#[derive(Debug, Serialize)]
struct Data<'a> {
    /// Names of the variants, the twin's last.
    v: Vec<String>,
    w: Vec<String>,
    c: Vec<String>,
    /// The deciding metric first.
    m: Vec<&'a str>,
    /// Blocks from which dots that fall together are drawn once.
    dense: u32,
    /// For each metric, the places as the page counts them.
    p: Vec<Vec<PlaceData>>,
}

#[derive(Debug, Serialize)]
struct PlaceData {
    w: usize,
    c: usize,
    /// The last block.
    b: u32,
    /// Size, name and decimals of the unit.
    u: (f64, &'static str, usize),
    /// By variant.
    s: BTreeMap<usize, CellData>,
}

#[derive(Debug, Serialize)]
struct CellData {
    /// Values, as little-endian floats of four bytes in base64; what was not measured is no number.
    x: String,
    /// Blocks of the values, where they are not 1, 2, 3 and so on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    t: Vec<u32>,
    /// Which of them failed, and which are void.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    f: Vec<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    o: Vec<usize>,
}

/// The metrics whose values are on the page: as many as there is room for.
pub(crate) fn metrics<'a>(record: &Record, findings: &'a Findings) -> Vec<&'a str> {
    let mut metrics: Vec<&str> = vec![&findings.method.deciding_metric];
    for table in &findings.tables {
        if !metrics.contains(&table.metric.as_str()) {
            metrics.push(&table.metric);
        }
    }
    metrics.truncate((MOST_VALUES / record.trials.len().max(1)).max(1));
    metrics
}

/// All of it, for a `script` element.
///
/// # Errors
/// Passes on the serialiser's word, should a value have no form in JSON.
pub(crate) fn json(look: &Look<'_>, record: &Record, deciding: &[PlaceCells<'_>]) -> serde_json::Result<String> {
    let metrics = metrics(record, look.findings);
    let names = look.findings.variants.iter().map(|variant| clean(&variant.name));
    let all = |names: &[String]| names.iter().map(|name| clean(name)).collect();
    let of_metric = |metric: &&str| -> Vec<PlaceData> {
        let own = (*metric != look.metric).then(|| places(record, look.findings, metric));
        own.as_deref().unwrap_or(deciding).iter().map(|place| of_place(look, place)).collect()
    };
    let data = Data {
        v: names.chain(["the baseline’s twin".to_owned()]).collect(),
        w: all(look.workloads),
        c: all(look.conditions),
        p: metrics.iter().map(of_metric).collect(),
        m: metrics,
        dense: crate::strips::DENSE,
    };
    Ok(serde_json::to_string(&data)?.replace('<', "\\u003c"))
}

fn of_place(look: &Look<'_>, place: &PlaceCells<'_>) -> PlaceData {
    let unit = unit_of(place.unit, Values::over(place.values(), 1.0).map_or(1.0, |scale| scale.high));
    PlaceData {
        w: look.workload(place.workload).unwrap_or(0),
        c: look.condition(place.condition).unwrap_or(0),
        b: place.blocks,
        u: (unit.size, unit.name, unit.decimals),
        s: place.cells.iter().map(|cell| (look.cell_id(cell), of_cell(cell))).collect(),
    }
}

fn of_cell(cell: &Cell<'_>) -> CellData {
    let value = |value: Option<f64>| (value.unwrap_or(f64::NAN) as f32).to_le_bytes();
    let bytes: Vec<u8> = cell.dots.iter().flat_map(|dot| value(dot.value)).collect();
    let is_whole = cell.dots.iter().zip(1..).all(|(dot, number)| dot.block == number);
    let of = |state: State| {
        let dots = cell.dots.iter().enumerate().filter(move |(_, dot)| dot.state == state);
        dots.map(|(at, _)| at).collect()
    };
    CellData {
        x: BASE64.encode(bytes),
        t: if is_whole { vec![] } else { cell.dots.iter().map(|dot| dot.block).collect() },
        f: of(State::Failed),
        o: of(State::Void),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_testkit::records::{execute, measure, study};

    #[test]
    fn values_can_be_read_back_and_names_cannot_end_the_script() {
        let hostile = "</script><script>alert(1)</script>\u{202e}";
        let mut record = study(&["baseline", hostile], &["idle"], &["wall", "user"]);
        execute(&mut record, 4, |trial| {
            measure(trial, "wall", 0.25 * f64::from(trial.block));
            measure(trial, "user", 0.125);
        });
        let findings = bakeoff_judge::judge(&record);
        let look = Look {
            findings: &findings,
            workloads: &record.study.workloads,
            conditions: &record.study.conditions,
            metric: "wall",
        };
        let deciding = places(&record, &findings, "wall");
        let text = json(&look, &record, &deciding).unwrap();
        assert!(!text.contains('<') && !text.contains('\u{202e}'), "{text}");
        let data: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(data["v"][1], clean(hostile));
        assert_eq!(data["m"], serde_json::json!(["wall", "user"]));
        let bytes = BASE64.decode(data["p"][0][0]["s"]["1"]["x"].as_str().unwrap()).unwrap();
        let values: Vec<f32> = bytes.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
        assert_eq!(values, [0.25, 0.5, 0.75, 1.0]);
    }
}
