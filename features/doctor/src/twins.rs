//! The machine's own calibration: what the twin of every finished study said, a line each, in
//! `twins.jsonl` in the user's state folder. The lines are copies of what
//! the journals say, so losing the file loses no trial; a study that was judged again replaces its older line.

use crate::twin_history::{TwinHistory, TwinOfStudy, twin_history};
use bakeoff_command::{screen, user_state};
use bakeoff_judge::findings::Findings;
use bakeoff_model::record::Record;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::PathBuf;

const FILE: &str = "twins.jsonl";

/// One twin: where, of what, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Line {
    host: String,
    started_unix_s: f64,
    study: String,
    identity: String,
    workload: String,
    condition: String,
    metric: String,
    #[serde(flatten)]
    twin: TwinOfStudy,
}

impl Line {
    /// A finished study has one line for each of these.
    fn key(&self) -> (String, u64, String, String) {
        let started = self.started_unix_s.to_bits();
        (self.identity.clone(), started, self.workload.clone(), self.condition.clone())
    }
}

/// Remembers the twin of a finished study; of a simulated or unfinished one nothing. That it cannot be written is worth
/// a note and no more: the study itself is safe.
pub(crate) fn remember(record: &Record, findings: &Findings) {
    if findings.simulated.is_some() || findings.blocks_finished < findings.blocks_total {
        return;
    }
    let lines = lines(record, findings);
    let Some(path) = path() else { return };
    let known = read(&path);
    let new: Vec<&Line> = lines.iter().filter(|line| known.get(&line.key()) != Some(line)).collect();
    if let Err(error) = append(&path, &new) {
        let file = path.display();
        screen::err(&format!("note: cannot add the twin's verdict to {file} for `bakeoff doctor`: {error}\n"));
    }
}

/// What the twins of this machine amount to.
pub(crate) fn of_this_machine() -> TwinHistory {
    let host = bakeoff_host::place::fingerprint().host;
    let lines = path().map(|path| read(&path)).unwrap_or_default();
    let here = lines.into_values().filter(|line| line.host == host);
    twin_history(&here.map(|line| line.twin).collect::<Vec<_>>())
}

fn lines(record: &Record, findings: &Findings) -> Vec<Line> {
    let Some(place) = findings.places.first().filter(|_| findings.places.len() == 1) else { return vec![] };
    let deciding = findings.tables.iter().filter(|table| table.metric == findings.method.deciding_metric);
    let line = |table: &bakeoff_judge::findings::Table| {
        let comparison = table.noise_floor.as_ref()?.comparison.as_ref()?;
        Some(Line {
            host: place.host.clone(),
            started_unix_s: findings.started_unix_s,
            study: findings.study.clone(),
            identity: record.study.identity.clone(),
            workload: table.workload.clone(),
            condition: table.condition.clone(),
            metric: table.metric.clone(),
            twin: TwinOfStudy { p: comparison.tested()?.p?, blocks: comparison.blocks },
        })
    };
    deciding.filter_map(line).collect()
}

/// The last word on every study; lines that cannot be read are as good as none.
fn read(path: &std::path::Path) -> BTreeMap<(String, u64, String, String), Line> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
    lines.map(|line| (line.key(), line)).collect()
}

/// Each line in one write, so that two commands at once do not tear each other's.
fn append(path: &std::path::Path, lines: &[&Line]) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path)?;
    for line in lines {
        file.write_all((serde_json::to_string(line)? + "\n").as_bytes())?;
    }
    Ok(())
}

fn path() -> Option<PathBuf> {
    user_state::folder().map(|folder| folder.join(FILE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_on_a_study_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/twins.jsonl");
        let line = |p| Line {
            host: "ash".to_owned(),
            started_unix_s: 1e9,
            study: "test".to_owned(),
            identity: "0".to_owned(),
            workload: "loop".to_owned(),
            condition: "idle".to_owned(),
            metric: "wall".to_owned(),
            twin: TwinOfStudy { p, blocks: 12 },
        };
        let other = Line { condition: "busy".to_owned(), ..line(0.5) };
        append(&path, &[&line(0.1), &other]).unwrap();
        append(&path, &[&line(0.2)]).unwrap();
        let mut torn = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        torn.write_all(b"{\"host\"\n").unwrap();
        let known = read(&path);
        assert_eq!(known.len(), 2);
        assert_eq!(known.get(&line(0.0).key()), Some(&line(0.2)));
    }
}
