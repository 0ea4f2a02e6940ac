//! What was gathered beside the trials, and what it explains: accounts with their causes, the files of the builds, what
//! diagnostic trials showed from inside. It stands below the tables whose differences it is about, and none of it is
//! compared; whether something is a cause is decided elsewhere.

pub(crate) mod diagnoses;
mod names;
mod traces;

use crate::account;
use crate::findings::{Diagnosis, FileNumbers, FileTable, Gathered, NotGathered, PairAccount, Unseen};
use bakeoff_judge::findings::Findings;
use bakeoff_report::Cause;
use bakeoff_report::draw::grid::{Flush, Grid};
use bakeoff_report::draw::notes::Notes;
use bakeoff_report::draw::paint::{Ink, Page, Piece};
use bakeoff_report::draw::text::clean;
use bakeoff_report::format::{bytes, count};
use names::{row_name, variants};

/// The section; nothing if nothing was to be gathered.
pub(crate) fn print(findings: &Findings, page: &mut Page, notes: &mut Notes, columns: usize) {
    let Some(gathered) = &Gathered::of(findings) else { return };
    page.gap();
    let heading = "evidence gathered after the measured trials: it explains their results and is never compared";
    page.paragraph(heading, columns, 2, Ink::Heading);
    for (pair, diagnosis) in gathered.accounts.iter().zip(&gathered.diagnoses) {
        diagnoses::print(diagnosis, page, columns);
        account::page::print(&pair.account, [&pair.against, &pair.variant], page, columns);
    }
    bakeoff_report::levels(findings, page, notes, columns);
    gathered.files.iter().for_each(|file| of_file(file, page, columns));
    legend(gathered, page, columns);
    gathered.traces.iter().for_each(|trace| traces::print(trace, page, columns));
    if !gathered.missing.is_empty() {
        page.gap();
        gathered.missing.iter().for_each(|missing| not_gathered(missing, page, columns));
    }
}

/// What explains how each variant differs that has an account, in a few words: of a workload and its services, the account
/// with the largest difference.
pub(crate) fn causes(findings: &Findings) -> Vec<Cause> {
    let Some(gathered) = Gathered::of(findings) else { return vec![] };
    let mut largest: Vec<(&PairAccount, &Diagnosis)> = vec![];
    for (pair, diagnosis) in gathered.accounts.iter().zip(&gathered.diagnoses) {
        let is_its = |(known, _): &&mut (&PairAccount, &Diagnosis)| {
            (&known.variant, &known.account.workload) == (&pair.variant, &pair.account.workload)
        };
        match largest.iter_mut().find(is_its) {
            Some(known) if known.0.size() < pair.size() => *known = (pair, diagnosis),
            Some(_) => {}
            None => largest.push((pair, diagnosis)),
        }
    }
    let in_short = |(pair, diagnosis): (&PairAccount, &Diagnosis)| {
        let largest = account::page::largest(&pair.account).map(|row| &row.cause);
        let more = diagnoses::in_short(diagnosis, largest).map_or_else(String::new, |more| format!("; {more}"));
        let what = format!("{}{more}", account::page::in_short(&pair.account));
        Cause { variant: pair.variant.clone(), what }
    };
    largest.into_iter().map(in_short).collect()
}

/// One file in all variants.
fn of_file(file: &FileTable, page: &mut Page, columns: usize) {
    page.gap();
    page.paragraph(format!("{} of the builds", clean(&file.name)), columns, 2, Ink::Heading);
    let titles = ["relocations", "PLT slots", "own slots", "code", "size"].map(|title| (title, Flush::Right));
    let mut grid = Grid::new([("variant", Flush::Left)].into_iter().chain(titles));
    for row in &file.rows {
        let FileNumbers { size_bytes, text_bytes, relocations, jump_slots, own_jump_slots, .. } = row.numbers;
        let size = |size: u64| Piece::amount(bytes(size as f64), size);
        let counts = [relocations, jump_slots, own_jump_slots].map(|number| Piece::amount(count(number), number));
        let sizes = [text_bytes.map_or(Piece::new("–", Ink::Aside), size), size(size_bytes)];
        grid.row([Piece::plain(row_name(&row.variants))].into_iter().chain(counts).chain(sizes).collect());
    }
    grid.print(page, columns);
    let with = |is: fn(&FileNumbers) -> bool| {
        let rows = file.rows.iter().filter(|row| is(&row.numbers));
        rows.flat_map(|row| row.variants.iter().cloned()).collect::<Vec<String>>()
    };
    let marked = [
        ("linked with -Bsymbolic", with(|numbers| numbers.symbolic == Some(true))),
        ("the loader writes to the code", with(|numbers| numbers.textrel == Some(true))),
        ("absent", file.absent.clone()),
    ];
    for (what, names) in marked.into_iter().filter(|(_, names)| !names.is_empty()) {
        page.paragraph(format!("{what}: {}", row_name(&names)), columns, 2, Ink::Plain);
    }
}

/// What the columns mean, once.
fn legend(gathered: &Gathered, page: &mut Page, columns: usize) {
    if gathered.files.is_empty() {
        return;
    }
    page.gap();
    let text = "relocations: places that the loader fills in when a program starts; PLT slots: functions that are \
                called through a table; own slots: those for functions that the file itself defines";
    page.paragraph(text, columns, 2, Ink::Plain);
}

pub(crate) fn not_gathered(missing: &NotGathered, page: &mut Page, columns: usize) {
    let what = match missing.what {
        Unseen::Files => "files of builds",
        Unseen::Trace => "trace",
        Unseen::Counts => "instructions",
        Unseen::Calls => "calls and mechanisms",
        Unseen::Kernel => "system calls, page faults and waiting",
        Unseen::KernelTimes => "times of system calls, page faults and waiting",
        Unseen::Samples => "user time by function",
    };
    let service =
        missing.service.as_ref().map_or(String::new(), |service| format!(" of the service {}", clean(service)));
    let workload = missing.workload.as_ref().map_or(String::new(), |workload| format!(" of {}", clean(workload)));
    let what = format!("{what}{service}{workload}");
    let text = format!("not gathered: {what}, for {}: {}", variants(&missing.variants), clean(&missing.why));
    page.paragraph(&text, columns, 2, Ink::Open);
}

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;
