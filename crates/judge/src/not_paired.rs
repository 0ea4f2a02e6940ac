//! Numbers of a comparison that was saved on another day, next to today's: what each day measured, and why the two are not
//! paired. It makes no claim about their difference: what changed on the machine in between is part of it.
#![allow(missing_docs, reason = "the names of fields say what they are; where not, a comment does")]

use crate::findings::{Findings, Summary};
use bakeoff_model::metric::Unit;
use bakeoff_model::record::Place;
use serde::{Deserialize, Serialize};

/// Both days.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NotPaired {
    pub saved: String,
    /// When it began, in seconds since 1970-01-01 UTC.
    pub started_unix_s: f64,
    pub metric: String,
    /// What of the machine and of the options is another one today.
    pub differs: Vec<String>,
    /// The saved variants that do not race again.
    pub reasons: Vec<Reason>,
    /// A row for each workload and variant: first those that do not race again, then those of today.
    pub rows: Vec<BothDays>,
}

/// Why a variant does not race again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    pub variant: String,
    /// Why, in words that go on from its name.
    pub why: String,
}

/// What a variant measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BothDays {
    pub workload: String,
    pub variant: String,
    pub unit: Unit,
    /// On that day; none if it was not measured.
    pub that_day: Option<Summary>,
    pub today: Option<Summary>,
}

impl NotPaired {
    /// What was saved, by today's metric: why some of it does not race again, other options, and today's findings.
    pub fn of(
        saved: &str,
        then: &Findings,
        reasons: Vec<Reason>,
        options: Vec<String>,
        now: &Findings,
        again: &[String],
    ) -> Self {
        let metric = now.method.deciding_metric.clone();
        let mut rows: Vec<BothDays> = vec![];
        let is_left = |name: &String| reasons.iter().any(|reason| reason.variant == *name);
        for (findings, is_today) in [(then, false), (now, true)] {
            for table in findings.tables.iter().filter(|table| table.metric == metric) {
                for row in &table.rows {
                    let races_again = if is_today { again.contains(&row.variant) } else { !is_left(&row.variant) };
                    if races_again {
                        continue;
                    }
                    let key = (&table.workload, &row.variant);
                    let known = rows.iter().position(|known| (&known.workload, &known.variant) == key);
                    let at = known.unwrap_or_else(|| {
                        let (workload, variant) = (table.workload.clone(), row.variant.clone());
                        rows.push(BothDays { workload, variant, unit: table.unit, that_day: None, today: None });
                        rows.len() - 1
                    });
                    *(if is_today { &mut rows[at].today } else { &mut rows[at].that_day }) = row.summary.clone();
                }
            }
        }
        rows.sort_by_key(|row| now.tables.iter().position(|table| table.workload == row.workload));
        let mut differs = of_machine(then.places.first(), now.places.first());
        differs.extend(options);
        Self { saved: saved.to_owned(), started_unix_s: then.started_unix_s, metric, differs, reasons, rows }
    }
}

/// What of the machine is another one.
fn of_machine(then: Option<&Place>, now: Option<&Place>) -> Vec<String> {
    let (Some(then), Some(now)) = (then, now) else { return vec![] };
    let parts = [
        ("the host", then.host == now.host),
        ("the system", then.os == now.os),
        ("the kernel", then.kernel == now.kernel),
        ("the processor", (&then.cpu, then.cpus) == (&now.cpu, now.cpus)),
        ("the memory", then.memory_bytes == now.memory_bytes),
    ];
    parts.into_iter().filter(|(_, is_same)| !is_same).map(|(name, _)| name.to_owned()).collect()
}
