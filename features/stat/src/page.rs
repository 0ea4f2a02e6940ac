//! Samples that somebody else measured, as a page for people: the answer first, a table of what was seen, a table of
//! what was inferred, the doubts. The numbers come from [`bakeoff_judge::judge_samples`].

use bakeoff_judge::findings::{Comparison, Inferred, Summary};
use bakeoff_judge::findings::{Scale, Test, Verdict};
use bakeoff_judge::samples::{SampleFindings, SampleRow, SampleTable};
use bakeoff_model::metric::{Direction, Unit};
use bakeoff_report::caveats::caveats;
use bakeoff_report::draw::Style;
use bakeoff_report::draw::grid::{Flush, Grid};
use bakeoff_report::draw::notes::Notes;
use bakeoff_report::draw::paint::{Ink, Page, Piece};
use bakeoff_report::draw::plot::LEGEND;
use bakeoff_report::draw::rendered::Rendered;
use bakeoff_report::draw::text::{clean, glue};
use bakeoff_report::format::{decimals_of, fitting, fixed, percent, units};
use bakeoff_report::words::{self, Change, Wording, counted, listed};
use bakeoff_report::{Amount, append_picture, not_apart, p_of, text};
use std::collections::BTreeSet;

/// The page. It ends in a line feed. `remarks` are footnotes of the reader's.
pub fn stat(findings: &SampleFindings, remarks: &[String], style: Style) -> String {
    let own = own_keys(findings);
    let mut sheet = Sheet { findings, own, page: Page::default(), notes: Notes::default(), columns: style.width };
    let doubts = sheet.notes.mark(caveats(&findings.caveats).chain(remarks.iter().map(Rendered::from)));
    sheet.page.paragraph(text![sheet.answer(), doubts], style.width, 0, Ink::Heading);
    let mut has_pictures = false;
    for table in &findings.tables {
        has_pictures |= sheet.print(table);
    }
    let Sheet { mut page, notes, .. } = sheet;
    legend(findings, &mut page, style.width, has_pictures);
    notes.print(&mut page, style.width);
    page.gap();
    page.paragraph(method(findings), style.width, 2, Ink::Aside);
    page.print(style.colour)
}

/// The page while it is drawn.
struct Sheet<'a> {
    findings: &'a SampleFindings,
    /// The keys of settings in which tables differ.
    own: BTreeSet<&'a str>,
    page: Page,
    notes: Notes,
    columns: usize,
}

/// The kind of unit that a name stands for, and what it is per: `sec/op` is seconds, per op.
fn kind(unit: &str) -> (Unit, &str) {
    let (name, per) = unit.find('/').map_or((unit, ""), |at| unit.split_at(at));
    match name {
        "sec" => (Unit::Seconds, per),
        "B" => (Unit::Bytes, per),
        _ => (Unit::Count, ""),
    }
}

/// How a table's differences are worded. Numbers without a unit may be of anything, so nothing *needs* them.
fn wording(table: &SampleTable) -> (Unit, Wording) {
    let unit = match kind(&table.unit) {
        (_, "/s" | "/sec") => Unit::PerSecond,
        (Unit::Count, _) if table.unit.ends_with("/s") => Unit::PerSecond,
        (unit, _) => unit,
    };
    let better = if table.unit.is_empty() { Direction::More } else { table.better };
    (unit, Wording::of(unit, better))
}

/// The word for a verdict.
fn word(table: &SampleTable, row: &SampleRow, comparison: &Comparison) -> &'static str {
    match row.refused {
        Some(_) => "none",
        None => Wording::of(wording(table).0, table.better).verdict(comparison.verdict),
    }
}

fn compared(table: &SampleTable) -> impl Iterator<Item = (&SampleRow, &Comparison)> {
    table.samples.iter().filter_map(|row| Some((row, row.comparison.as_ref()?)))
}

/// The keys of the settings in which some table is not as the first: a setting that not all have in common has such a
/// key.
fn own_keys(findings: &SampleFindings) -> BTreeSet<&str> {
    let Some((first, others)) = findings.tables.split_first() else { return BTreeSet::new() };
    let differing = others.iter().flat_map(|other| {
        let keys = first.settings.keys().chain(other.settings.keys());
        keys.filter(|key| first.settings.get(*key) != other.settings.get(*key)).map(String::as_str)
    });
    differing.collect()
}

fn baseline(table: &SampleTable) -> &str {
    table.samples.first().map_or("", |row| &row.sample)
}

/// How the values of one table are written.
struct Values {
    size: f64,
    name: String,
    decimals: usize,
}

impl Values {
    /// The unit fits the largest median, which gets four digits; the smallest gets three at least.
    fn of(table: &SampleTable) -> Self {
        let (unit, per) = kind(&table.unit);
        let sizes: Vec<f64> = table
            .samples
            .iter()
            .flat_map(|row| [row.summary.median.abs(), row.summary.max.abs()])
            .filter(|size| *size > 0.0)
            .collect();
        let largest = sizes.iter().copied().fold(0.0, f64::max);
        let smallest = sizes.iter().copied().fold(largest, f64::min);
        let (size, name) = fitting(largest, units(unit));
        let name = clean(&if unit == Unit::Count { table.unit.clone() } else { format!("{name}{per}") });
        let whole = size == 1.0 && sizes.iter().all(|size| size.fract() == 0.0);
        let decimals = match whole {
            true => 0,
            false => decimals_of(largest / size, 4).max(decimals_of(smallest / size, 3)).min(9),
        };
        Self { size, name, decimals }
    }

    fn write(&self, value: f64) -> String {
        fixed(value / self.size, self.decimals)
    }

    /// A number that was computed, and of whole numbers need not be one.
    fn write_computed(&self, value: f64) -> String {
        let more = usize::from(self.decimals == 0 && value.fract() != 0.0);
        fixed(value / self.size, self.decimals + more)
    }
}

impl Sheet<'_> {
    /// The answer: a sentence for each comparison, or a count of the verdicts if there are many.
    fn answer(&self) -> Rendered {
        let all: Vec<(&SampleTable, &SampleRow, &Comparison)> = self
            .findings
            .tables
            .iter()
            .flat_map(|table| compared(table).map(move |(row, c)| (table, row, c)))
            .collect();
        match all.as_slice() {
            [] if self.findings.tables.iter().all(|table| table.samples.len() < 2) => {
                "Nothing to compare: no table has a second sample.".into()
            }
            [] => "Nothing to compare: no table has the baseline.".into(),
            few if few.len() <= 3 => {
                let sentences = few.iter().map(|(table, row, comparison)| self.sentence(table, row, comparison));
                Rendered::joined(sentences, " ")
            }
            many => {
                let mut counts: Vec<(&str, u32)> = vec![];
                for (table, row, comparison) in many {
                    let word = word(table, row, comparison);
                    match counts.iter_mut().find(|(known, _)| *known == word) {
                        Some((_, count)) => *count += 1,
                        None => counts.push((word, 1)),
                    }
                }
                let parts: Vec<String> = counts
                    .iter()
                    .map(|(word, count)| {
                        format!("{count} {}", if *word == "none" { "without a verdict" } else { word })
                    })
                    .collect();
                format!("Of {}: {}.", counted(many.len() as u32, "comparison"), listed(&parts)).into()
            }
        }
    }

    /// What a table is of: its row, and its settings of the keys in which tables differ.
    fn place(&self, table: &SampleTable) -> String {
        let own = table.settings.iter().filter(|(key, _)| self.own.contains(key.as_str()));
        let own = own.map(|(key, value)| format!("{}: {}", clean(key), clean(value.trim())));
        let own = own.collect::<Vec<_>>().join(", ");
        match (table.row.is_empty(), own.is_empty()) {
            (_, true) => clean(&table.row),
            (true, _) => own,
            (false, false) => format!("{} ({own})", clean(&table.row)),
        }
    }

    fn sentence(&self, table: &SampleTable, row: &SampleRow, comparison: &Comparison) -> Rendered {
        let (unit, wording) = wording(table);
        let (variant, baseline) = (Rendered::name(&row.sample), Rendered::name(baseline(table)));
        let of_what = |before: &str| match table.unit.as_str() {
            "" => Rendered::default(),
            _ if unit == Unit::Seconds => Rendered::default(),
            name => text![before, clean(name)],
        };
        let Amount { interval, .. } = Amount::of(comparison, unit, table.better);
        let body = match comparison.verdict {
            _ if row.refused.is_some() => {
                let change = Change::with(comparison, comparison.printed_interval(), unit);
                let range = change.signed_range().map(|range| format!(" ({})", glue(&range)));
                text![
                    "No verdict on ",
                    variant,
                    " against ",
                    baseline,
                    ": ",
                    glue(&change.signed()),
                    range.unwrap_or_default()
                ]
            }
            Verdict::Faster | Verdict::Slower => {
                let amount = Amount::of(comparison, unit, table.better);
                let [verb, than] = amount.joints(wording);
                let of = of_what(if wording.takes_is() { " in " } else { " " });
                text![variant, " ", verb, " ", amount.claim, of, interval.bracketed(), " ", than, " ", baseline]
            }
            _ => {
                let text = not_apart(comparison, [baseline, variant], of_what(" in "), self.findings.margin, unit);
                text![text, comparison.is_within().then(|| interval.bracketed())]
            }
        };
        let place = self.place(table);
        text![&place, if place.is_empty() { "" } else { ": " }, body, "."]
    }

    /// One table of samples and their comparisons; says whether it holds pictures.
    fn print(&mut self, table: &SampleTable) -> bool {
        let values = Values::of(table);
        self.page.gap();
        let unit = if values.name.is_empty() { String::new() } else { format!("in {}", values.name) };
        let heading: Vec<String> = [self.place(table), unit].into_iter().filter(|part| !part.is_empty()).collect();
        if !heading.is_empty() {
            self.page.paragraph(heading.join("; "), self.columns, 2, Ink::Heading);
        }
        self.seen(table, &values);
        compared(table).next().is_some() && self.inferred(table, &values)
    }

    /// What was seen of each sample.
    fn seen(&mut self, table: &SampleTable, values: &Values) {
        let right = |title: &str| (title.to_owned(), Flush::Right);
        let interval = format!("[{} interval]", percent(self.findings.confidence));
        let mut grid = Grid::new([
            ("sample".to_owned(), Flush::Left),
            right("n"),
            right("min"),
            right("median"),
            (interval, Flush::Left),
            right("max"),
            right("mean"),
            right("sd"),
        ]);
        for row in &table.samples {
            let Summary { n, min, median, median_interval, max, mean, sd, .. } = &row.summary;
            let interval = median_interval
                .filter(|[low, high]| low < high)
                .map_or("[none]".to_owned(), |[low, high]| format!("[{}, {}]", values.write(low), values.write(high)));
            let computed = |value: f64| values.write_computed(value);
            let doubts = self.notes.mark(caveats(&row.caveats));
            grid.row(vec![
                Piece::plain(text![clean(&row.sample), doubts]),
                Piece::plain(n.to_string()),
                Piece::new(values.write(*min), Ink::Aside),
                Piece::plain(computed(*median)),
                Piece::plain(interval),
                Piece::new(values.write(*max), Ink::Aside),
                Piece::new(computed(*mean), Ink::Aside),
                Piece::new(sd.map_or("–".to_owned(), computed), Ink::Aside),
            ]);
        }
        grid.print(&mut self.page, self.columns);
    }

    /// What was inferred about each against the first; says whether it holds pictures.
    fn inferred(&mut self, table: &SampleTable, values: &Values) -> bool {
        self.page.gap();
        let title = format!("against {}", clean(baseline(table)));
        let what = if compared(table).any(|(_, c)| c.scale == Scale::Difference) { "difference" } else { "ratio" };
        let interval = format!("{what} [{} interval]", percent(self.findings.confidence));
        let mut grid = Grid::new([
            (title, Flush::Left),
            (interval, Flush::Left),
            ("p".to_owned(), Flush::Right),
            ("verdict".to_owned(), Flush::Left),
        ]);
        let mut pictured = vec![];
        for (row, comparison) in compared(table) {
            let doubts = caveats(row.refused.iter().chain(&comparison.caveats));
            let verdict = text![word(table, row, comparison), self.notes.mark(doubts)];
            let ink = if row.refused.is_some() { Ink::Open } else { words::ink(comparison.verdict) };
            grid.row(vec![
                Piece::plain(clean(&row.sample)),
                Piece::plain(words::against_baseline(comparison, values.size)),
                Piece::plain(p_of(comparison).unwrap_or_else(|| "–".to_owned())),
                Piece::new(verdict, ink),
            ]);
            pictured.push(Some((comparison, ink)));
        }
        let drawn = append_picture(&mut grid, &pictured, self.findings.margin, self.columns);
        grid.print(&mut self.page, self.columns);
        drawn
    }
}

/// What the columns mean, where that is not said by their titles.
fn legend(findings: &SampleFindings, page: &mut Page, columns: usize, pictures: bool) {
    let scales: Vec<Scale> = findings.tables.iter().flat_map(compared).map(|(_, c)| c.scale).collect();
    let margin = glue(&percent(findings.margin));
    let mut said = vec![];
    if scales.contains(&Scale::Ratio) {
        said.push(format!("Ratio: sample ÷ baseline; margin ±{margin}."));
    }
    if scales.contains(&Scale::Difference) {
        said.push("Difference: sample − baseline, because some values are not positive.".to_owned());
    }
    if findings.tables.iter().any(|table| table.family > 1) {
        said.push("p and intervals are corrected for all comparisons in the same unit.".to_owned());
    }
    if pictures {
        said.push(LEGEND.to_owned());
    }
    if !said.is_empty() {
        page.gap();
        page.paragraph(said.join(" "), columns, 0, Ink::Aside);
    }
}

/// How it was judged.
fn method(findings: &SampleFindings) -> String {
    let mut tests: Vec<String> = vec![];
    for comparison in findings.tables.iter().flat_map(compared).map(|(_, comparison)| comparison) {
        let test = match comparison.inferred {
            Inferred::TooFew => "no test where there are too few values".to_owned(),
            _ => bakeoff_report::provenance::test_words(comparison),
        };
        if !tests.contains(&test) {
            tests.push(test);
        }
    }
    let shift = findings
        .tables
        .iter()
        .flat_map(compared)
        .any(|(_, c)| c.tested().is_some_and(|t| matches!(t.test, Test::MannWhitney | Test::MannWhitneyNormal)));
    if shift {
        tests.push("Hodges–Lehmann estimate and interval".to_owned());
    }
    let family = findings.tables.iter().map(|table| table.family).max().unwrap_or(0);
    if family > 1 {
        tests.push(format!("Bonferroni correction for {family} comparisons"));
    }
    if tests.is_empty() {
        tests.push("description only".to_owned());
    }
    let limits = glue(&percent(findings.confidence)) + ", margin ±" + &glue(&percent(findings.margin));
    format!("method: {}; confidence {limits}", tests.join("; "))
}
