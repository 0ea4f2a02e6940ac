//! In which functions the user time differs, as a table below the account of time. What is not shown is grey, and the table
//! says so; if nothing is shown there is no table.

use super::super::files::base;
use super::super::result::{SampledAccount, SampledCode, SampledRow, TimeAccount};
use super::time::signed;
use bakeoff_report::draw::grid::{Flush, Grid};
use bakeoff_report::draw::paint::{Ink, Page, Piece};
use bakeoff_report::draw::text::{clean, glue};
use bakeoff_report::format::{count, duration};
use bakeoff_report::words::counted;

pub(super) fn print(samples: &SampledAccount, time: Option<&TimeAccount>, page: &mut Page, columns: usize) {
    let SampledAccount { blocks, tested, lost, sum, rows, .. } = samples;
    page.gap();
    page.paragraph(
        format!("user time by function, sampled in {blocks} further runs of each"),
        columns,
        2,
        Ink::Heading,
    );
    let mut sentences = vec![];
    if rows.iter().any(|row| row.is_shown) {
        table(samples, page, columns);
        sentences.push(format!(
            "`by number` is the change in instructions × the mean time of an instruction; `by speed` is the rest, with a \
             95 % interval (Student's t, {blocks} blocks). `shown` is judged at 5 %, after Holm's correction over the {} \
             with at least 1 % of the samples. The rows add up.",
            counted(*tested, "function")
        ));
    } else {
        let text = format!("The samples do not show which functions run at a different speed; n = {blocks} blocks.");
        page.paragraph(text, columns, 2, Ink::Plain);
    }
    let of_trials = time.map_or(String::new(), |time| format!("; in the trials, by {}", signed(time.user.estimate_s)));
    sentences
        .push(format!("In the samples, user time differs by {}{of_trials}.", signed(sum.user_s[1] - sum.user_s[0])));
    if *lost > 0 {
        sentences.push(format!("{} samples were lost.", count(*lost)));
    }
    page.paragraph(sentences.join(" "), columns, 2, Ink::Aside);
}

fn table(samples: &SampledAccount, page: &mut Page, columns: usize) {
    let titles = ["baseline", "variant", "difference", "by number", "by speed"].map(|title| (title, Flush::Right));
    let last = [("interval", Flush::Left), ("shown", Flush::Left)];
    let mut grid = Grid::new([("function", Flush::Left)].into_iter().chain(titles).chain(last));
    let names: Vec<String> = samples.rows.iter().map(|row| name(&row.what)).collect();
    for (row, name) in samples.rows.iter().zip(&names) {
        let is_alone = names.iter().filter(|other| *other == name).count() == 1;
        let place = match &row.what {
            SampledCode::Function { file, .. } if !is_alone => format!(" in {}", clean(base(file))),
            _ => String::new(),
        };
        grid.row(cells(format!("{name}{place}"), row));
    }
    grid.row(cells(name(&samples.sum.what), &SampledRow { is_shown: true, p: None, ..samples.sum.clone() }));
    grid.print(page, columns);
}

fn cells(name: String, row: &SampledRow) -> Vec<Piece> {
    let ink = if row.is_shown { Ink::Plain } else { Ink::Aside };
    let [before, after] = row.user_s;
    let interval = row.by_speed.interval_s.map(|ends| ends.map(signed)).map(|[low, high]| format!("{low} … {high}"));
    let shown = match (row.p, row.is_shown) {
        (None, _) => "",
        (Some(_), true) => "yes",
        (Some(_), false) => "no",
    };
    let times = [before, after].map(|time| glue(&duration(time)));
    let changes = [after - before, row.by_number_s, row.by_speed.estimate_s].map(signed);
    let texts =
        std::iter::once(name).chain(times).chain(changes).chain([interval.unwrap_or_default(), shown.to_owned()]);
    texts.map(|text| Piece::new(text, ink)).collect()
}

fn name(what: &SampledCode) -> String {
    match what {
        SampledCode::All => "all".to_owned(),
        SampledCode::Function { name, .. } => clean(name),
        SampledCode::Nameless => "code without a name".to_owned(),
        SampledCode::Rest(functions) => {
            format!("rest, {}", counted(u32::try_from(*functions).unwrap_or(u32::MAX), "function"))
        }
    }
}
