//! What the kernel did, as a table below the account of time. Numbers are of one watched execution of each side; the table
//! says so and of which threads they are, and computes nothing but differences.

use super::super::result::{FaultKind, KernelAccount, KernelWork};
use super::time::signed;
use crate::census::Path;
use bakeoff_report::draw::grid::{Flush, Grid};
use bakeoff_report::draw::paint::{Ink, Page, Piece};
use bakeoff_report::draw::text::{clean, glue};
use bakeoff_report::format::{count, duration};

pub(super) fn print(kernel: &KernelAccount, page: &mut Page, columns: usize) {
    page.gap();
    let heading = match kernel.is_traced {
        true => "system calls, counted by the tracer in one run of each",
        false => "system calls, page faults and waiting, in one watched run of each",
    };
    page.paragraph(heading, columns, 2, Ink::Heading);
    if kernel.rows.is_empty() {
        page.paragraph("No number differs.", columns, 2, Ink::Plain);
    } else {
        table(kernel, page, columns);
    }
    if kernel.is_traced {
        return;
    }
    page.paragraph(note(kernel), columns, 2, Ink::Aside);
}

/// What the numbers are.
fn note(kernel: &KernelAccount) -> String {
    let waiting = kernel.run_queue_s.map_or_else(
        || "Waiting is not shown, because several runs did not account for 97 to 103 % of the time. ".to_owned(),
        |times| {
            let [before, after] = times.map(|time| glue(&duration(time)));
            format!("Run queue: {before} → {after}; this depends on the machine, not on the variant. ")
        },
    );
    let faults = if kernel.has_faults { "" } else { "This kernel does not report page faults. " };
    let threads = match &kernel.no_path {
        _ if kernel.has_path => {
            "Blocked times are those of the path that ends last, traced from the end of the command back through the \
             threads that woke it. Other times are sums over all threads."
                .to_owned()
        }
        Some(why) => {
            format!("All times are sums over all threads: the path that ends last is unknown ({}).", clean(why))
        }
        None => "All times are sums over all threads.".to_owned(),
    };
    format!("{waiting}{faults}The time of a call excludes time blocked in it. {threads} One run has no interval.")
}

fn table(kernel: &KernelAccount, page: &mut Page, columns: usize) {
    let numbers = if kernel.is_traced { 2 } else { 3 };
    let titles = ["baseline", "variant", "time"].into_iter().take(numbers).map(|title| (title, Flush::Right));
    let mut grid = Grid::new([("what differs", Flush::Left)].into_iter().chain(titles));
    for row in &kernel.rows {
        let sides = match (&row.what, row.times_s) {
            (KernelWork::Blocked(_), Some(times_s)) => times_s.map(|time| Piece::plain(glue(&duration(time)))),
            _ => row.counts.map(|number| Piece::amount(count(number), number)),
        };
        let change = row.times_s.map_or_else(String::new, |[before, after]| signed(after - before));
        let [before, after] = sides;
        let numbers = [before, after, Piece::plain(change)].into_iter().take(numbers);
        grid.row(std::iter::once(Piece::plain(name(&row.what))).chain(numbers).collect());
    }
    grid.print(page, columns);
}

pub(crate) fn name(what: &KernelWork) -> String {
    match what {
        KernelWork::Call(name) => clean(name),
        KernelWork::Blocked(name) if name == Path::NO_CALL => "blocked outside system calls".to_owned(),
        KernelWork::Blocked(name) => format!("blocked in {}", clean(name)),
        KernelWork::Fault(FaultKind::ReadAbsent) => "page faults, first read".to_owned(),
        KernelWork::Fault(FaultKind::WriteAbsent) => "page faults, first write".to_owned(),
        KernelWork::Fault(FaultKind::ReadPresent) => "page faults, refused read".to_owned(),
        KernelWork::Fault(FaultKind::CopyOnWrite) => "copy on write".to_owned(),
    }
}
