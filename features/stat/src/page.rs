//! Samples that somebody else measured, as a page for people: the answer first, a table of what was seen, a table of what
//! was inferred, the doubts. The numbers come from [`bakeoff_judge::judge_samples`].

use bakeoff_judge::findings::{Comparison, Inferred, Summary};
use bakeoff_judge::findings::{Scale, Test, Verdict};
use bakeoff_judge::samples::{SampleFindings, SampleRow, SampleTable};
use bakeoff_model::metric::Direction as Better;
use bakeoff_model::metric::Unit;
use bakeoff_report::caveats::caveats;
use bakeoff_report::draw::Style;
use bakeoff_report::draw::grid::{Flush, Grid};
use bakeoff_report::draw::notes::Notes;
use bakeoff_report::draw::paint::{Ink, Page, Piece};
use bakeoff_report::draw::plot::{Axis, LEGEND};
use bakeoff_report::draw::printf;
use bakeoff_report::draw::text::{clean, glue};
use bakeoff_report::format::{decimals_of, fitting, fixed, percent, units};
use bakeoff_report::text;
use bakeoff_report::words::{self, Change, counted, listed};
use std::collections::BTreeSet;

/// On narrower pages there are no pictures.
const PICTURE_PAGE_MIN: usize = 100;
/// Widths of a picture.
const PICTURE_MIN: usize = 18;
const PICTURE_MAX: usize = 41;
/// Numbers without a unit are written in full between these, and in powers of ten beyond.
const IN_FULL: std::ops::Range<f64> = 1e-4..1e9;
/// Whole numbers are written in full below this.
const WHOLE_MAX: f64 = 1e16;
/// Significant digits of a number in powers of ten.
const DIGITS: usize = 5;

/// The page. It ends in a line feed. `notes` are footnotes of the reader's.
pub fn stat(findings: &SampleFindings, remarks: &[String], style: Style) -> String {
    let Style { width, colour } = style;
    let (mut page, mut notes) = (Page::default(), Notes::default());
    let doubts = caveats(&findings.caveats).chain(remarks.iter().cloned());
    let doubts = notes.mark(doubts);
    let own = own_keys(findings);
    page.paragraph(text![answer(findings, &own), doubts], width, 0, Ink::Heading);
    let mut pictures = false;
    for table in &findings.tables {
        pictures |= print(findings, &own, table, &mut page, &mut notes, width);
    }
    legend(findings, &mut page, width, pictures);
    notes.print(&mut page, width);
    page.gap();
    page.paragraph(method(findings), width, 2, Ink::Aside);
    page.print(colour)
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

/// Whether less of the unit is a matter of speed.
fn is_speed(table: &SampleTable) -> bool {
    let (unit, per) = kind(&table.unit);
    unit == Unit::Seconds || per == "/s" || per == "/sec" || table.unit.ends_with("/s")
}

/// The word for a verdict: of time and of rates faster or slower, of anything else less or more.
fn word(table: &SampleTable, row: &SampleRow, comparison: &Comparison) -> &'static str {
    if row.refused.is_some() {
        return "none";
    }
    let verdict = match (comparison.verdict, table.better) {
        (verdict, _) if is_speed(table) => return words::verdict(verdict, Unit::Seconds),
        (Verdict::Faster, Better::More) => Verdict::Slower,
        (Verdict::Slower, Better::More) => Verdict::Faster,
        (verdict, _) => verdict,
    };
    words::verdict(verdict, Unit::Count)
}

fn compared(table: &SampleTable) -> impl Iterator<Item = (&SampleRow, &Comparison)> {
    table.samples.iter().filter_map(|row| Some((row, row.comparison.as_ref()?)))
}

/// The answer: a sentence for each comparison, or a count of the verdicts if there are many.
fn answer(findings: &SampleFindings, own: &BTreeSet<&str>) -> String {
    let all: Vec<(&SampleTable, &SampleRow, &Comparison)> =
        findings.tables.iter().flat_map(|table| compared(table).map(move |(row, c)| (table, row, c))).collect();
    match all.as_slice() {
        [] if findings.tables.iter().all(|table| table.samples.len() < 2) => {
            "Nothing to compare: there is one sample of each.".to_owned()
        }
        [] => "Nothing to compare: no table has the baseline.".to_owned(),
        few if few.len() <= 3 => {
            let sentences = few.iter().map(|(table, row, comparison)| sentence(findings, own, table, row, comparison));
            sentences.collect::<Vec<_>>().join(" ")
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
                .map(|(word, count)| format!("{count} {}", if *word == "none" { "without a verdict" } else { word }))
                .collect();
            format!("Of {}: {}.", counted(many.len() as u32, "comparison"), listed(&parts))
        }
    }
}

/// The keys of the settings in which some table is not as the first: a setting that not all have in common has such a key.
fn own_keys(findings: &SampleFindings) -> BTreeSet<&str> {
    let Some((first, others)) = findings.tables.split_first() else { return BTreeSet::new() };
    let differing = others.iter().flat_map(|other| {
        let keys = first.settings.keys().chain(other.settings.keys());
        keys.filter(|key| first.settings.get(*key) != other.settings.get(*key)).map(String::as_str)
    });
    differing.collect()
}

/// What a table is of: its row, and its settings of the keys in which tables differ.
fn place(own: &BTreeSet<&str>, table: &SampleTable) -> String {
    let own = table.settings.iter().filter(|(key, _)| own.contains(key.as_str()));
    let own = own.map(|(key, value)| format!("{}: {}", clean(key), clean(value.trim())));
    let own = own.collect::<Vec<_>>().join(", ");
    match (table.row.is_empty(), own.is_empty()) {
        (_, true) => clean(&table.row),
        (true, _) => own,
        (false, false) => format!("{} ({own})", clean(&table.row)),
    }
}

fn sentence(
    findings: &SampleFindings,
    own: &BTreeSet<&str>,
    table: &SampleTable,
    row: &SampleRow,
    comparison: &Comparison,
) -> String {
    let name = |row: &SampleRow| clean(&row.sample);
    let (variant, baseline) = (name(row), table.samples.first().map_or(String::new(), name));
    let place = match place(own, table) {
        place if place.is_empty() => place,
        place => format!("{place}: "),
    };
    let of_what =
        if table.unit.is_empty() || is_speed(table) { String::new() } else { format!(" {}", clean(&table.unit)) };
    let change = ChangeText::of(comparison, comparison.printed_interval(), kind(&table.unit).0);
    let confidence = comparison.shown_confidence();
    let within = |range: Option<String>| match range {
        Some(range) => format!(" ({} interval {})", glue(&percent(confidence)), glue(&range)),
        None if comparison.inferred == Inferred::Exact => " (the values never vary)".to_owned(),
        None => {
            comparison.unvaried().map_or(" (no interval)".to_owned(), |runs| format!(" (did not vary in {runs} runs)"))
        }
    };
    let margin = glue(&format!("±{}", percent(findings.margin)));
    let verb = if is_speed(table) { "is" } else { "has" };
    let amount = glue(&change.amount);
    let body = if row.refused.is_some() {
        format!(
            "No verdict on {variant} against {baseline}: {}{}",
            glue(&change.signed),
            within(change.signed_range.clone())
        )
    } else {
        match comparison.verdict {
            Verdict::Faster | Verdict::Slower => {
                let word = word(table, row, comparison);
                let rate = is_speed(table) && table.better == Better::More;
                let range = within(if rate { change.signed_range.clone() } else { change.range.clone() });
                match (is_speed(table), rate) {
                    (_, true) => format!("{variant} is {word} than {baseline}: {}{range}", glue(&change.signed)),
                    (true, _) => format!("{variant} is {amount} {word} than {baseline}{range}"),
                    _ => format!("{variant} has {amount} {word}{of_what} than {baseline}{range}"),
                }
            }
            Verdict::Negligible => {
                let differs = format!("{variant} differs from {baseline}{of_what}, but negligibly, within {margin}");
                format!("{differs}: {}{}", glue(&change.signed), within(change.signed_range.clone()))
            }
            Verdict::Equivalent => {
                let is = if of_what.is_empty() { "is".to_owned() } else { format!("{verb}{of_what}") };
                format!(
                    "{variant} {is} equivalent to {baseline} within {margin}{}",
                    within(change.signed_range.clone())
                )
            }
            // Numbers have no output.
            Verdict::Withheld => format!("No verdict on {variant} against {baseline}"),
            Verdict::Undecided { more_blocks } => {
                let more = words::more_blocks(Verdict::Undecided { more_blocks });
                let range = within(change.signed_range.clone());
                format!("Nothing was decided about {variant} against {baseline}{more}: {}{range}", glue(&change.signed))
            }
        }
    };
    format!("{place}{body}.")
}

/// A change in words: as [`Change`] tells it, or in powers of ten where that would take hundreds of digits.
struct ChangeText {
    amount: String,
    signed: String,
    range: Option<String>,
    signed_range: Option<String>,
}

impl ChangeText {
    fn of(comparison: &Comparison, interval: Option<[f64; 2]>, unit: Unit) -> Self {
        if !is_extreme(comparison) {
            let change = Change::with(comparison, interval, unit);
            let (amount, signed) = (change.amount(), change.signed());
            return Self { amount, signed, range: change.range(), signed_range: change.signed_range() };
        }
        let before = if comparison.scale == Scale::Ratio { "a factor of " } else { "" };
        let range = interval.map(|[low, high]| format!("{} … {}", power(low), power(high)));
        let estimate = format!("{before}{}", power(comparison.estimate));
        Self { amount: estimate.clone(), signed: estimate, range: range.clone(), signed_range: range }
    }
}

/// Whether numbers are too large or too small to be written in full.
fn is_extreme(comparison: &Comparison) -> bool {
    let numbers = comparison.printed_interval().into_iter().flatten().chain([comparison.estimate]);
    let sizes: Vec<f64> = numbers.map(f64::abs).filter(|size| *size > 0.0).collect();
    match comparison.scale {
        Scale::Ratio => sizes.iter().any(|size| !(1e-6..1e6).contains(size)),
        Scale::Difference => sizes.iter().any(|size| *size >= IN_FULL.end),
    }
}

/// Estimate and interval as the table shows them.
fn against(comparison: &Comparison, unit_size: f64) -> String {
    if !is_extreme(comparison) {
        return words::against_baseline(comparison, unit_size);
    }
    let size = if comparison.scale == Scale::Ratio { 1.0 } else { unit_size };
    let write = |value: f64| power(value / size);
    let interval = comparison.printed_interval();
    let interval = interval.map_or("none".to_owned(), |[low, high]| format!("{}, {}", write(low), write(high)));
    format!("{} [{interval}]{}", write(comparison.estimate), words::narrower(comparison))
}

/// A number in as few signs as C's `%g` needs.
fn power(value: f64) -> String {
    printf::g(value, DIGITS).replace('-', "−").replace("e−", "e-")
}

/// How the values of one table are written.
struct Values {
    size: f64,
    name: String,
    /// None for powers of ten.
    decimals: Option<usize>,
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
        let decimals = match () {
            () if whole && largest < WHOLE_MAX => Some(0),
            () if largest > 0.0 && !IN_FULL.contains(&(largest / size)) => None,
            () => Some(decimals_of(largest / size, 4).max(decimals_of(smallest / size, 3)).min(9)),
        };
        Self { size, name, decimals }
    }

    fn write(&self, value: f64) -> String {
        self.write_with(value, 0)
    }

    /// With more decimals than the others, for a number that was computed.
    fn write_with(&self, value: f64, more: usize) -> String {
        let value = value / self.size;
        match self.decimals {
            Some(decimals) if value.abs() < WHOLE_MAX => fixed(value, decimals + more),
            _ => power(value),
        }
    }
}

/// One table of samples and their comparisons; says whether it holds pictures.
fn print(
    findings: &SampleFindings,
    own: &BTreeSet<&str>,
    table: &SampleTable,
    page: &mut Page,
    notes: &mut Notes,
    columns: usize,
) -> bool {
    let values = Values::of(table);
    page.gap();
    let unit = if values.name.is_empty() { String::new() } else { format!("in {}", values.name) };
    let heading: Vec<String> = [place(own, table), unit].into_iter().filter(|part| !part.is_empty()).collect();
    if !heading.is_empty() {
        page.paragraph(heading.join("; "), columns, 2, Ink::Heading);
    }
    seen(findings, table, &values, page, notes, columns);
    let any = compared(table).next().is_some();
    if any { inferred(findings, table, &values, page, notes, columns) } else { false }
}

/// What was seen of each sample.
fn seen(
    findings: &SampleFindings,
    table: &SampleTable,
    values: &Values,
    page: &mut Page,
    notes: &mut Notes,
    columns: usize,
) {
    let right = |title: &str| (title.to_owned(), Flush::Right);
    let interval = format!("[{} interval]", percent(findings.confidence));
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
    let more = usize::from(values.decimals == Some(0));
    for row in &table.samples {
        let Summary { n, min, median, median_interval, max, mean, sd, .. } = &row.summary;
        let interval = median_interval
            .filter(|[low, high]| low < high)
            .map_or("[none]".to_owned(), |[low, high]| format!("[{}, {}]", values.write(low), values.write(high)));
        let computed =
            |value: f64| if value.fract() == 0.0 { values.write(value) } else { values.write_with(value, more) };
        let doubts = notes.mark(caveats(&row.caveats));
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
    grid.print(page, columns);
}

/// What was inferred about each against the first; says whether it holds pictures.
fn inferred(
    findings: &SampleFindings,
    table: &SampleTable,
    values: &Values,
    page: &mut Page,
    notes: &mut Notes,
    columns: usize,
) -> bool {
    page.gap();
    let baseline = table.samples.first().map_or(String::new(), |row| clean(&row.sample));
    let title = format!("against {baseline}");
    let what = if compared(table).any(|(_, c)| c.scale == Scale::Difference) { "difference" } else { "ratio" };
    let interval = format!("{what} [{} interval]", percent(findings.confidence));
    let mut grid = Grid::new([
        (title, Flush::Left),
        (interval, Flush::Left),
        ("p".to_owned(), Flush::Right),
        ("verdict".to_owned(), Flush::Left),
    ]);
    for (row, comparison) in compared(table) {
        let doubts = caveats(row.refused.iter().chain(&comparison.caveats));
        let verdict = text![word(table, row, comparison), notes.mark(doubts)];
        let ink = if row.refused.is_some() { Ink::Open } else { words::ink(comparison.verdict) };
        grid.row(vec![
            Piece::plain(clean(&row.sample)),
            Piece::plain(against(comparison, values.size)),
            Piece::plain(comparison.p_corrected().map_or("–".to_owned(), p)),
            Piece::new(verdict, ink),
        ]);
    }
    let drawn = columns >= PICTURE_PAGE_MIN && compared(table).all(|(_, c)| c.scale == Scale::Ratio);
    if drawn {
        let room = columns.saturating_sub(grid.width() + 2).clamp(PICTURE_MIN, PICTURE_MAX);
        let ratios = compared(table).flat_map(|(_, c)| c.printed_interval().into_iter().flatten().chain([c.estimate]));
        let axis = Axis::over(ratios, findings.margin, room);
        let rows = compared(table).map(|(row, c)| {
            let ink = if row.refused.is_some() { Ink::Open } else { words::ink(c.verdict) };
            Piece::new(axis.row(Some(c.estimate), c.printed_interval()), ink)
        });
        let rows = rows.collect();
        grid.append(axis.title(), Flush::Left, rows);
    }
    grid.print(page, columns);
    drawn
}

fn p(p: f64) -> String {
    if p < 1e-4 { "<0.0001".to_owned() } else { format!("{p:.4}") }
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
        said.push("Difference: sample − baseline, as some value is not positive.".to_owned());
    }
    if findings.tables.iter().any(|table| table.family > 1) {
        said.push("p and intervals: corrected for all comparisons of the unit.".to_owned());
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
        tests.push("estimate and interval by Hodges and Lehmann".to_owned());
    }
    let family = findings.tables.iter().map(|table| table.family).max().unwrap_or(0);
    if family > 1 {
        tests.push(format!("Bonferroni's correction over {family} comparisons"));
    }
    if tests.is_empty() {
        tests.push("description only".to_owned());
    }
    let limits = glue(&percent(findings.confidence)) + ", margin ±" + &glue(&percent(findings.margin));
    format!("method: {}; confidence {limits}", tests.join("; "))
}

/// The findings as pretty-printed JSON with a final line feed.
///
/// # Errors
/// Passes on the serialiser's word, should a value ever have no form in JSON.
pub fn stat_json(findings: &SampleFindings) -> Result<String, serde_json::Error> {
    bakeoff_report::pretty_json(findings)
}
