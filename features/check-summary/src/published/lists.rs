//! Lists with the value before its name, as BSD's `time -l` prints them: `12.34 real 11.20 user 0.90 sys`, and below it
//! `123456  maximum resident set size` and its like. Each list is of one execution; lists below the same
//! heading are repeats of the same system.

use super::reader::{Reader, RowForm, nothing};
use super::words::{Word, is_resource, words};
use super::{Figure, Summary};
use bakeoff_stats::describe::{mean, sd};

/// Names of times that `time` prints.
const TIMES: [&str; 3] = ["real", "user", "sys"];
impl Reader {
    /// A line of values before their names; false if it is none. Below others of its kind any name is taken.
    pub(super) fn list(&mut self, number: usize, line: &str, start: usize) -> bool {
        let Some(entries) = entries(line, start) else { return false };
        let is_time = |name: &str| TIMES.contains(&name);
        let goes_on = self.rows.last().is_some_and(|row| matches!(row.kind, RowForm::Listed { .. }));
        let is_list = match entries.as_slice() {
            [(_, name)] => goes_on || is_resource(name),
            several => several.iter().all(|(_, name)| is_time(name)),
        };
        if !is_list {
            return false;
        }
        self.open(false);
        let section = self.sections.len() - 1;
        for (word, name) in entries {
            let Some(figure) = Figure::read(word.text) else { continue };
            let same = |row: &super::reader::Row| {
                row.section == section && row.summary.name == name && matches!(row.kind, RowForm::Listed { .. })
            };
            if let Some(row) = self.rows.iter().rposition(same) {
                if self.sections[section].is_none() {
                    let message = format!("there is a second `{name}` without a system name");
                    let remedy = "write a line such as `gcc` above each list; several lists below one line are repeats \
                                  of one system";
                    self.problem(word.span(), message, remedy);
                } else if let RowForm::Listed { values } = &mut self.rows[row].kind {
                    values.push(figure);
                }
                continue;
            }
            let mut summary: Summary = nothing(name.clone(), number);
            summary.unit = is_time(&name).then(|| "s".to_owned());
            self.add(summary, RowForm::Listed { values: vec![figure] }, vec![], start..start + line.len());
        }
        true
    }
}

/// Values, each with the words behind it; none unless the line is made of these.
fn entries(line: &str, start: usize) -> Option<Vec<(Word<'_>, String)>> {
    let mut entries: Vec<(Word<'_>, String)> = vec![];
    for word in words(line, start, char::is_whitespace) {
        match (Figure::read(word.text), entries.last_mut()) {
            (Some(_), Some((_, name))) if name.is_empty() => return None,
            (Some(_), _) => entries.push((word, String::new())),
            (None, None) => return None,
            (None, Some((_, name))) if name.is_empty() => word.text.clone_into(name),
            (None, Some((_, name))) => *name = format!("{name} {}", word.text),
        }
    }
    let ends_in_a_name = entries.last().is_some_and(|(_, name)| !name.is_empty());
    ends_in_a_name.then_some(entries)
}

/// What several runs give: n, smallest, largest, mean, and the standard deviation, as far as their digits tell. Changing
/// every value by h or less changes the mean by h at most, and the deviation by h √(n/(n−1)) at most, for it is a
/// seminorm of the values.
pub(super) fn of_runs(summary: &mut Summary, values: &[Figure]) {
    summary.n = Some(values.len() as u64);
    if let [only] = values {
        summary.mean = Some(only.clone());
        return;
    }
    let by_value = |a: &&Figure, b: &&Figure| a.value.total_cmp(&b.value);
    summary.min = values.iter().min_by(by_value).cloned();
    summary.max = values.iter().max_by(by_value).cloned();
    let n = values.len() as f64;
    let exact: Vec<f64> = values.iter().map(|figure| figure.value).collect();
    let half = values.iter().map(|figure| figure.half_width).fold(0.0, f64::max);
    summary.mean = Some(Figure::computed(mean(&exact), half));
    summary.sd = sd(&exact).map(|sd| Figure::computed(sd, half * (n / (n - 1.0)).sqrt()));
}
