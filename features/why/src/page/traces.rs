//! What running a workload under observation showed: system calls whose counts differ, the files that were really
//! run, and paths that only some variants opened or looked for.

use super::names::{row_name, variants};
use crate::findings::{Executed, PathDifference, Profile, TraceTable};
use bakeoff_host::tracer::Calls;
use bakeoff_model::grouped::grouped;
use bakeoff_report::draw::grid::{Flush, Grid};
use bakeoff_report::draw::paint::{Ink, Page, Piece};
use bakeoff_report::draw::text::{clean, foreign, width};
use bakeoff_report::format::count;
use bakeoff_report::words::named;

/// What the names of variants have at least, beside the columns of calls.
const NAMES_MIN: usize = 24;
/// Of more paths that differ, the rest is only counted.
const PATHS_MAX: usize = 8;
/// How a path below the variant's own prefix begins.
const PREFIX: &str = "$PREFIX/";

pub(super) fn print(trace: &TraceTable, page: &mut Page, columns: usize) {
    page.gap();
    let workload = clean(&trace.workload);
    let heading = match &trace.service {
        None => format!("{workload}: one traced run of each variant, stopped at every system call"),
        Some(service) => format!("{}, a service of {workload}: system calls during that run", clean(service)),
    };
    if let (Some(service), true) = (&trace.service, trace.profiles.iter().all(|profile| profile.total.count == 0)) {
        let text = format!("{}, a service of {workload}, made no system calls during that run", clean(service));
        page.paragraph(text, columns, 2, Ink::Plain);
        return;
    }
    page.paragraph(&heading, columns, 2, Ink::Heading);
    calls(trace, page, columns);
    children(trace, page, columns);
    trace.executed.iter().for_each(|executed| files(executed, trace.executed.len() == 1, page, columns));
    paths("looked for these files without finding them", &trace.paths, |path| &path.missed_by, page, columns);
    paths("opened these files", &trace.paths, |path| &path.found_by, page, columns);
}

/// `18 (10)`: calls, and those that returned an error.
fn cell(calls: Calls) -> Piece {
    let Calls { count: all, errors } = calls;
    let text = if errors == 0 { count(all) } else { format!("{} ({})", count(all), count(errors)) };
    Piece::amount(text, all)
}

/// A row for all variants with the same counts.
fn calls(trace: &TraceTable, page: &mut Page, columns: usize) {
    let of = |profile: &Profile, name: &str| cell(profile.calls.get(name).copied().unwrap_or_default());
    let row = |profile: &Profile| Row {
        name: row_name(&profile.variants),
        first: vec![cell(profile.total)],
        calls: trace.differing.iter().map(|name| of(profile, name)).collect(),
    };
    let shown = side_by_side(trace, &["all calls"], trace.profiles.iter().map(row).collect(), page, columns);
    let rest: Vec<String> = trace.differing.iter().skip(shown).map(|name| clean(name)).collect();
    if !rest.is_empty() {
        page.paragraph(format!("also different: {}", rest.join(", ")), columns, 2, Ink::Plain);
    }
    let has_errors = trace.profiles.iter().any(|profile| profile.total.errors > 0);
    if has_errors {
        page.paragraph("in brackets: calls that returned an error", columns, 2, Ink::Aside);
    }
}

/// What the processes did that a service began meanwhile.
fn children(trace: &TraceTable, page: &mut Page, columns: usize) {
    let row = |profile: &Profile| {
        let children = profile.children.as_ref()?;
        let of = |name: &String| mean(children.calls.get(name).copied().unwrap_or_default());
        Some(Row {
            name: row_name(&profile.variants),
            first: vec![Piece::amount(count(children.processes), children.processes), mean(children.all)],
            calls: trace.differing.iter().map(of).collect(),
        })
    };
    let rows: Vec<Row> = trace.profiles.iter().filter_map(row).collect();
    if rows.is_empty() {
        return;
    }
    page.paragraph("average for each process that the service started during that run:", columns, 2, Ink::Plain);
    side_by_side(trace, &["processes", "all calls"], rows, page, columns);
}

/// A mean of counts.
fn mean(mean: f64) -> Piece {
    let whole = mean.round() as u64;
    let text = if mean.fract() == 0.0 || mean >= 100.0 { count(whole) } else { format!("{mean:.1}") };
    Piece::amount(text, whole)
}

/// Cells of one row; of calls there is one for each that differs.
struct Row {
    name: String,
    first: Vec<Piece>,
    calls: Vec<Piece>,
}

/// Prints as many of the calls that differ as there is room for, and says how many these are.
fn side_by_side(trace: &TraceTable, first: &[&str], rows: Vec<Row>, page: &mut Page, columns: usize) -> usize {
    let wide = |title: &str, cell: &dyn Fn(&Row) -> usize| rows.iter().map(cell).fold(width(title), usize::max) + 2;
    let fixed = (0..).zip(first).map(|(place, title)| wide(title, &|row: &Row| row.first[place].text.width()));
    let mut room = columns.saturating_sub(NAMES_MIN + fixed.sum::<usize>());
    let mut shown = 0;
    for name in &trace.differing {
        let Some(rest) = room.checked_sub(wide(name, &|row: &Row| row.calls[shown].text.width())) else { break };
        (room, shown) = (rest, shown + 1);
    }
    let names = trace.differing[..shown].iter().map(|name| clean(name));
    let titles = first.iter().map(|&title| title.to_owned()).chain(names).map(|title| (title, Flush::Right));
    let mut grid = Grid::new(std::iter::once(("variant".to_owned(), Flush::Left)).chain(titles));
    for row in rows {
        let cells = row.first.into_iter().chain(row.calls.into_iter().take(shown));
        grid.row(std::iter::once(Piece::plain(row.name)).chain(cells).collect());
    }
    grid.print(page, columns);
    shown
}

/// What was really run of the prefix, and what of the system differs from the first variant's.
fn files(executed: &Executed, is_all: bool, page: &mut Page, columns: usize) {
    let of_prefix = || executed.files.iter().filter(|path| path.starts_with(PREFIX));
    let has_own = of_prefix().next().is_some();
    if is_all && !has_own && executed.more.is_empty() && executed.fewer.is_empty() {
        return;
    }
    let who = if is_all { "all".to_owned() } else { row_name(&executed.variants) };
    let list = |paths: &mut dyn Iterator<Item = &String>| {
        named(paths.map(|path| foreign(path, columns.saturating_sub(4))).collect())
    };
    let mut parts = vec![if has_own { list(&mut of_prefix()) } else { "nothing of $PREFIX".to_owned() }];
    if !executed.more.is_empty() {
        parts.push(format!("besides {}", list(&mut executed.more.iter())));
    }
    if !executed.fewer.is_empty() {
        parts.push(format!("but not {}", list(&mut executed.fewer.iter())));
    }
    page.paragraph(format!("run by {who}: {}", parts.join("; ")), columns, 2, Ink::Plain);
}

/// Paths of which only some variants are in this list: a line for each, below the variants that it is about.
fn paths(
    what: &str,
    all: &[PathDifference],
    who: fn(&PathDifference) -> &Vec<String>,
    page: &mut Page,
    columns: usize,
) {
    let by_whom = all.iter().filter(|path| !who(path).is_empty()).map(|path| (who(path), path));
    for (by, paths) in grouped(by_whom) {
        page.paragraph(format!("only {} {what}:", variants(by)), columns, 2, Ink::Plain);
        let shown = if paths.len() > PATHS_MAX + 1 { PATHS_MAX } else { paths.len() };
        for path in &paths[..shown] {
            page.line(vec![Piece::plain(format!("  {}", foreign(&path.path, columns.saturating_sub(2))))]);
        }
        if shown < paths.len() {
            let rest = paths.len() - shown;
            page.line(vec![Piece::plain(format!("  and {rest} more (see `bakeoff report --json`)"))]);
        }
    }
}
