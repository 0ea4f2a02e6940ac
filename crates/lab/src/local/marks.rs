//! What a trial reported, by marks and in its output, against what its study says that it reports.

use super::outcome::Outputs;
use super::stage::Cell;
use crate::Execution;
use bakeoff_host::{JobEnded, MOST_MARKED_BYTES};
use bakeoff_model::marks::{self, Marks, ParsedMarks};
use bakeoff_model::metric::{self, Measurements, Unit};
use bakeoff_model::study::{ValueSource, Workload};
use bakeoff_model::values;

/// Puts marks and values of all processes into the execution. Where several processes run at once, their ops are
/// pooled, rates are summed, and of all other values the mean is taken; each process keeps its own beside that.
///
/// # Errors
/// In one line, what was not as the study says; what was, is taken all the same.
pub(super) fn take(
    cell: Cell<'_>,
    ended: &JobEnded,
    outputs: &[Outputs],
    execution: &mut Execution,
) -> Result<(), String> {
    // Before all else: of what was not read, everything else only seems to be wrong.
    let mut wrong = (ended.marks_lost_bytes > 0).then(|| {
        format!(
            "they exceed the limit of {} MiB per process by {} bytes; mark fewer ops, for example every hundredth",
            MOST_MARKED_BYTES >> 20,
            ended.marks_lost_bytes
        )
    });
    let mut all: Vec<(Marks, Measurements)> = vec![];
    for (number, process) in (0..).zip(&ended.processes) {
        let chunks = ended.marks.get(number).map(Vec::as_slice).unwrap_or_default();
        // All times are since the first launch, so that those of several processes fit together.
        let after_first_s = if number == 0 { 0.0 } else { (process.started_unix_s - ended.started_unix_s).max(0.0) };
        let ended_s = after_first_s + process.measurements.get(metric::WALL).copied().unwrap_or_default();
        let parsed = marks::read(chunks, ended.started_monotonic_s, ended_s).unwrap_or_else(|why| {
            wrong.get_or_insert_with(|| why.to_string());
            ParsedMarks::default()
        });
        let declared = phases_as_declared(cell.workload, &parsed.marks);
        if let Err(why) = declared.and_then(|()| match cell.workload.divided {
            true => Ok(()),
            false => ops_as_declared(cell.workload, parsed.marks.ops_count()),
        }) {
            wrong.get_or_insert(why);
        }
        let stdout = outputs.get(number).map(|outputs| printed(cell.workload, outputs)).unwrap_or_default();
        let (values, missing) = values::read(&cell.workload.values, &parsed.values, &stdout);
        if let Some(missing) = missing.first() {
            wrong.get_or_insert_with(|| missing.to_string());
        }
        if let Some(own) = execution.processes.get_mut(number) {
            own.extend(values.clone());
        }
        all.push((parsed.marks, values));
    }
    if cell.workload.divided {
        let marked = all.iter().map(|(marks, _)| marks.ops_count()).sum();
        if let Err(why) = ops_as_declared(cell.workload, marked) {
            wrong.get_or_insert(why);
        }
    }
    merge(cell.workload, all, execution);
    wrong.map_or(Ok(()), Err)
}

fn merge(workload: &Workload, all: Vec<(Marks, Measurements)>, execution: &mut Execution) {
    for spec in &workload.values {
        let each: Vec<f64> = all.iter().filter_map(|(_, values)| values.get(&spec.name).copied()).collect();
        if each.is_empty() {
            continue;
        }
        let sum: f64 = each.iter().sum();
        let value = if spec.unit == Unit::PerSecond { sum } else { sum / each.len() as f64 };
        execution.measurements.insert(spec.name.clone(), value);
    }
    let mut marks: Vec<Marks> = all.into_iter().map(|(marks, _)| marks).collect();
    execution.marks = if marks.len() == 1 { marks.remove(0) } else { Marks::merge(&marks) };
}

/// Whether a process marked the phases that its study declares.
fn phases_as_declared(workload: &Workload, marks: &Marks) -> Result<(), String> {
    let is_marked = |phase: &&String| marks.phases.iter().any(|known| known.name == **phase);
    match workload.phases.iter().find(|phase| !is_marked(phase)) {
        Some(phase) => Err(format!("the command did not mark the phase `{phase}`")),
        None => Ok(()),
    }
}

/// Whether this number of ops is what its study declares: of each process, or of all that divide the work.
fn ops_as_declared(workload: &Workload, marked: u64) -> Result<(), String> {
    let Some(ops) = &workload.ops else { return Ok(()) };
    let unit = if ops.unit.is_empty() { "op" } else { &ops.unit };
    match (marked, ops.count) {
        (1, Some(count)) if count != 1 => Err(format!("the command marked 1 op ({unit}), not {count}")),
        (marked, Some(count)) if marked != count => {
            Err(format!("the command marked {marked} ops ({unit}), not {count}"))
        }
        (0, None) => Err(format!("the command marked no ops ({unit})")),
        _ => Ok(()),
    }
}

/// What a process printed, if a value is looked for in it.
fn printed(workload: &Workload, outputs: &Outputs) -> Vec<u8> {
    let is_read = workload.values.iter().any(|spec| spec.from != ValueSource::Mark);
    // An output that cannot be read has no values, and the record says so.
    if is_read { std::fs::read(&outputs.stdout).unwrap_or_default() } else { vec![] }
}
