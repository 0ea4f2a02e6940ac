//! The page of the calibration: what it says of promises that hold and that do not.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use super::calibration;
use crate::calibration::{Calibration, Cell, FORMAT, Goal, Measure, Row, World};
use bakeoff_report::Style;

const STYLE: Style = Style { width: 80, colour: false };

fn row(property: &str, measure: Measure, goal: Goal, measured: f64, holds: bool) -> Row {
    let interval = Some([0.9 * measured, 1.1 * measured]);
    Row {
        name: property.replace(' ', "-"),
        property: property.to_owned(),
        design: "10 blocks".to_owned(),
        measure,
        goal,
        cells: vec![Cell { world: World::Spiky, studies: 10_000, measured, interval, holds }],
    }
}

fn some() -> Calibration {
    let goal = |least, most| Goal { least, most };
    let rows = vec![
        row("false difference", Measure::Rate, goal(Some(0.04), Some(0.055)), 0.048, true),
        row("width", Measure::Ratio, goal(None, Some(0.45)), 0.5, false),
    ];
    Calibration { format: FORMAT, studies: 10_000, seed: 1, short: false, rows }
}

#[test]
fn promises_that_hold_and_those_that_do_not() {
    let page = calibration(&some(), STYLE);
    let expect = "\
1 of 2 promises held: up to 10,000 simulated studies in each world, seed 1.

promise                   goal  measured   95 % interval  holds
10 blocks
  false difference  4 to 5.5 %
    spiky                         4.80 %  4.32 to 5.28 %  yes
  width                 ≤ 0.45
    spiky                          0.500  0.450 to 0.550  NO
";
    let table = |page: &str| page.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n");
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat(&table(&page)).starts_with(&flat(expect)), "{page}");
    assert!(page.contains("A promise holds if the measured number meets its goal."), "{page}");
    let short = calibration(&Calibration { short: true, ..some() }, STYLE);
    assert!(short.contains("The short form"), "{short}");
}

#[test]
fn machines_get_the_same_numbers() {
    let text = bakeoff_report::pretty_json(&some()).unwrap();
    assert_eq!(serde_json::from_str::<Calibration>(&text).unwrap(), some());
}
