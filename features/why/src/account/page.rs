//! An account as text: the table of causes, what they add up to, and the account of time below it. It computes nothing but
//! quotients of what it shows.

mod kernel;
mod samples;
mod time;

pub(crate) use kernel::name as kernel_name;
pub(crate) use time::signed as signed_time;

use super::readable::short;
use super::result::{Account, Allocator, Cause, Growth, Mechanism, Row, Side, Split, TimeAccount, difference};
use bakeoff_report::draw::grid::{Flush, Grid};
use bakeoff_report::draw::paint::{Ink, Page, Piece};
use bakeoff_report::draw::text::{clean, glue};
use bakeoff_report::format::{count, fixed, signed, signed_count};
use bakeoff_report::words::{counted, listed};

/// From this share on, code without a name is worth a hint.
const NAMELESS_PERMILLE: i64 = 100;

/// Functions that were given to one, in its name.
const WITH: usize = 2;

#[cfg(test)]
/// The whole page, `columns` wide; `names` are those of the baseline and of the variant.
pub(crate) fn text(account: &Account, names: [&str; 2], columns: usize) -> String {
    let mut page = Page::default();
    print(account, names, &mut page, columns);
    page.print(false)
}

/// The same as a part of a page.
pub(crate) fn print(account: &Account, names: [&str; 2], page: &mut Page, columns: usize) {
    page.gap();
    page.paragraph(heading(account, names), columns, 2, Ink::Heading);
    if account.is_nothing {
        nothing(account, page, columns);
    } else {
        table(account, page, columns);
        below(account, page, columns);
    }
    if let Some(time) = &account.time {
        time::print(time, page, columns);
    }
    if let Some(samples) = &account.samples {
        samples::print(samples, account.time.as_ref(), page, columns);
    }
    if let Some(kernel) = &account.kernel {
        kernel::print(kernel, page, columns);
    }
}

/// In a few words: how many instructions more, the largest cause, and how much of the time they explain.
pub(crate) fn in_short(account: &Account) -> String {
    let [before, after] = account.instructions;
    let speed = account.time.as_ref().and_then(explained);
    let service = account.service.as_ref().map_or(String::new(), |service| format!(" in {}", clean(service)));
    if account.is_nothing {
        return format!("the same instructions{}", if speed.is_some() { ", at another speed" } else { "" });
    }
    if account.is_few() {
        // A cause of all of it would be taken for the cause of what was measured.
        return format!("nearly the same instructions ({})", relative(before, after).trim_matches([' ', '(', ')']));
    }
    let largest = largest(account).map_or(String::new(), |row| {
        let part = glue(&format!("{} %", fixed(row.permille as f64 / 10.0, 1)));
        format!(", {part} of them in {}", cause(row, account.allocators))
    });
    let speed = speed.map_or(String::new(), |part| format!("; {part}"));
    format!("{} instructions{service}{largest}{speed}", relative(before, after).trim_matches([' ', '(', ')']))
}

/// The row that stands for all in a few words.
pub(crate) fn largest(account: &Account) -> Option<&Row> {
    account.rows.iter().find(|row| !matches!(row.cause, Cause::Rest(_)))
}

/// What the number of instructions would make of user time, and what a shown difference is.
fn explained(time: &TimeAccount) -> Option<String> {
    let [expected, measured] = [time.by_number, time.user].map(|part| time::signed(part.estimate_s));
    time.is_shown().then(|| format!("{measured} of user time ({expected} expected from the instructions)"))
}

/// `libperl=shared against baseline on loop, length 500: 100,680,435 → 108,228,605 instructions, +7,548,170 (+7.5 %)`.
fn heading(account: &Account, [baseline, variant]: [&str; 2]) -> String {
    let Account { instructions: [before, after], workload, .. } = account;
    let length = account.length.as_ref().map_or(String::new(), |length| format!(", length {}", clean(length)));
    let service = account.service.as_ref().map_or(String::new(), |service| format!(", service {}", clean(service)));
    let (baseline, variant, workload) = (clean(baseline), clean(variant), clean(workload));
    format!(
        "{variant} against {baseline} on {workload}{service}{length}: {} → {} instructions, {}{}",
        count(*before),
        count(*after),
        signed_count(*before, *after),
        relative(*before, *after)
    )
}

fn relative(before: u64, after: u64) -> String {
    if before == 0 || before == after {
        return String::new();
    }
    format!(" ({})", share(difference([before, after]) as f64 / before as f64))
}

/// A part of a whole with its sign: `+19.4 %`.
fn share(part: f64) -> String {
    glue(&format!("{} %", signed(100.0 * part, 1)))
}

fn nothing(account: &Account, page: &mut Page, columns: usize) {
    page.paragraph("Nothing to explain: the counts agree.", columns, 2, Ink::Plain);
    let most = account.instructions.into_iter().max().unwrap_or(0);
    // Work that moved without becoming more is worth a sentence from the size on at which a difference would be.
    if account.gross as f64 > 0.01 * most as f64 {
        let text =
            format!("Functions differ by {} instructions, but these differences cancel out.", count(account.gross));
        page.paragraph(text, columns, 2, Ink::Plain);
    }
}

/// A table without rows, with the columns that are known.
fn grid(account: &Account, first: &'static str) -> Grid {
    let calls: &[&str] = if account.is_by_names { &[] } else { &["calls", "instructions per call"] };
    let growth: &[&str] = if account.growth.is_some() { &["at start", "per unit of work"] } else { &[] };
    let right = [&["baseline", "variant"][..], calls, &["share"], growth].concat();
    Grid::new([(first, Flush::Left)].into_iter().chain(right.into_iter().map(|title| (title, Flush::Right))))
}

fn table(account: &Account, page: &mut Page, columns: usize) {
    let mut grid = grid(account, "cause or function");
    for row in &account.rows {
        let Row { instructions, calls, growth, permille, .. } = row;
        let share_of_row = glue(&format!("{} %", signed(*permille as f64 / 10.0, 1)));
        let numbers = cells(account, *instructions, *calls, share_of_row, *growth);
        grid.row([vec![Piece::plain(cause(row, account.allocators))], numbers].concat());
        for part in &row.parts {
            let share = share(difference(part.instructions) as f64 / account.difference as f64);
            let numbers = cells(account, part.instructions, Some(part.calls), share, part.growth);
            grid.row([vec![Piece::indented(clean(&short(&part.name)))], numbers].concat());
        }
    }
    grid.print(page, columns);
}

fn cells(
    account: &Account,
    instructions: [u64; 2],
    calls: Option<[u64; 2]>,
    share: String,
    growth: Option<Growth>,
) -> Vec<Piece> {
    let calls = calls.filter(|calls| *calls != [0, 0]);
    let costs = calls.map(|calls| [0, 1].map(|side| cost(instructions[side], calls[side])));
    let [before, after] = instructions.map(|number| Piece::amount(count(number), number));
    let called = [calls.map(|calls| calls.map(count)), costs];
    let called = called.into_iter().filter(|_| !account.is_by_names);
    let called = called.map(|sides| Piece::plain(sides.map_or_else(String::new, change))).collect();
    [vec![before, after], called, vec![Piece::plain(share)], growth_cells(account, growth)].concat()
}

/// Both, or one if both are the same.
fn change([before, after]: [String; 2]) -> String {
    if before == after { before } else { format!("{before} → {after}") }
}

fn cost(instructions: u64, calls: u64) -> String {
    if calls == 0 { "–".to_owned() } else { fixed(instructions as f64 / calls as f64, 1) }
}

/// What a row has at start and per unit; empty cells where it is not known, and no cells with one length.
fn growth_cells(account: &Account, growth: Option<Growth>) -> Vec<Piece> {
    if account.growth.is_none() {
        return vec![];
    }
    let numbers =
        growth.map(|Growth { start, per_unit }| [signed(start.round(), 0), signed(per_unit, decimals(per_unit))]);
    numbers.unwrap_or_default().map(Piece::plain).to_vec()
}

/// Whole instructions, but where there are only a few.
fn decimals(number: f64) -> usize {
    if number.abs() < 100.0 && number != 0.0 { 1 } else { 0 }
}

fn cause(row: &Row, allocators: [Option<Allocator>; 2]) -> String {
    match &row.cause {
        Cause::Mechanism(Mechanism::Allocator) => {
            let used = allocators.map(|one| one.map_or("none", allocator).to_owned());
            format!("allocator: {}", change(used))
        }
        Cause::Mechanism(mechanism) => mechanism_name(*mechanism).to_owned(),
        Cause::Rest(functions) => format!("rest, {}", number(*functions, "function")),
        Cause::Function { name, with, only, place } => {
            let with = if with.is_empty() { String::new() } else { format!(" (+ {})", given(with)) };
            let place = place.as_ref().map_or(String::new(), |place| format!(" in {}", clean(place)));
            let only = match only {
                Some(Side::Baseline) => " (only in the baseline)",
                Some(Side::Variant) => " (only in the variant)",
                None => "",
            };
            format!("{}{place}{with}{only}", clean(name))
        }
    }
}

fn given(names: &[String]) -> String {
    let mut shown: Vec<String> = names.iter().take(WITH).map(|name| clean(name)).collect();
    // Two of one template may be the same when they are cut.
    shown.dedup();
    if names.len() > shown.len() {
        shown.push(number((names.len() - shown.len()) as u64, "other"));
    }
    listed(&shown)
}

fn number(number: u64, noun: &str) -> String {
    counted(u32::try_from(number).unwrap_or(u32::MAX), noun)
}

pub(crate) fn mechanism_name(mechanism: Mechanism) -> &'static str {
    match mechanism {
        Mechanism::OwnStubs => "PLT stubs to own functions",
        Mechanism::Stubs => "PLT stubs to other libraries",
        Mechanism::OwnAddresses => "addresses of own exported symbols",
        Mechanism::Loader => "dynamic loader",
        Mechanism::Allocator => "allocator",
        Mechanism::Libc => "C library without its allocator",
        Mechanism::Compiling => "compiling in the interpreter",
        Mechanism::Nameless => "code without a name",
    }
}

fn allocator(allocator: Allocator) -> &'static str {
    match allocator {
        Allocator::Libc => "C library",
        Allocator::Jemalloc => "jemalloc",
        Allocator::Tcmalloc => "tcmalloc",
        Allocator::Mimalloc => "mimalloc",
        Allocator::Perl => "Perl",
        Allocator::Program => "the program",
    }
}

/// What the rows add up to.
fn below(account: &Account, page: &mut Page, columns: usize) {
    let net = account.difference as f64;
    let mut sentences = vec![];
    if let Some(Split { more_calls, dearer_calls }) = account.split {
        let [calls, cost] = [more_calls, dearer_calls].map(|part| share(part as f64 / net));
        sentences
            .push(format!("In functions, the number of calls accounts for {calls} and the cost per call for {cost}."));
    }
    let gross = glue(&format!("{} %", fixed(100.0 * account.gross as f64 / net.abs(), 0)));
    sentences.push(format!("Changes in both directions add up to {gross} of the net difference."));
    let length = clean(account.length.as_deref().unwrap_or_default());
    sentences.push(match account.growth {
        Some(growth) => format!(
            "{} of the difference at length {length} is start-up work; each further unit of work adds {} instructions.",
            glue(&format!("{} %", fixed(100.0 * growth.start / net, 1))),
            signed(growth.per_unit, decimals(growth.per_unit))
        ),
        None => "With only one workload length, start-up work cannot be separated from the rest.".to_owned(),
    });
    let nameless = account.rows.iter().find(|row| row.cause == Cause::Mechanism(Mechanism::Nameless));
    if !account.is_by_names && nameless.is_some_and(|row| row.permille.abs() >= NAMELESS_PERMILLE) {
        sentences.push("To see names, install the program's debugging symbols, or keep them in the build.".to_owned());
    }
    sentences.push("A share is part of the net difference; a negative share works against that difference.".to_owned());
    page.paragraph(sentences.join(" "), columns, 2, Ink::Plain);
    page.paragraph(matched(account), columns, 2, Ink::Aside);
}

/// How functions were matched, as shares of the instructions of both sides.
fn matched(account: &Account) -> String {
    let found = account.matched;
    let all: f64 = [found.by_name, found.by_base_name, found.by_same_code]
        .into_iter()
        .chain(found.only)
        .map(|part| part as f64)
        .sum();
    let part = |part: u64| glue(&format!("{} %", fixed(if all > 0.0 { 100.0 * part as f64 / all } else { 0.0 }, 1)));
    let [a, b] = found.only;
    let residue = match account.residues.into_iter().flatten().max() {
        Some(0) => " A second count was equal.".to_owned(),
        Some(residue) => format!(" A second count differed by {} instructions.", count(residue)),
        None => String::new(),
    };
    let same_code = match found.by_same_code {
        0 => String::new(),
        same_code => format!(", {} by the same code", part(same_code)),
    };
    let by = match account.is_by_names {
        true => "Counted by cachegrind, which merges functions of the same name and does not name PLT stubs. ",
        false => "",
    };
    format!(
        "{by}Instructions in named functions: {} matched by name, {} by base name{same_code}; {} only in the baseline, {} only in the \
         variant.{residue}",
        part(found.by_name),
        part(found.by_base_name),
        part(a),
        part(b)
    )
}

/// All functions, the largest difference first.
pub(crate) fn functions(account: &Account, page: &mut Page, columns: usize) {
    page.gap();
    page.paragraph("all functions", columns, 2, Ink::Heading);
    let mut grid = grid(account, "function");
    for function in account.functions.iter().filter(|function| function.instructions[0] != function.instructions[1]) {
        let part = difference(function.instructions) as f64 / account.difference as f64;
        let share = if account.difference == 0 { "–".to_owned() } else { share(part) };
        let numbers = cells(account, function.instructions, Some(function.calls), share, function.growth);
        let name = if function.name.is_empty() { "(no name)".to_owned() } else { clean(&short(&function.name)) };
        grid.row([vec![Piece::plain(name)], numbers].concat());
    }
    grid.print(page, columns);
}
