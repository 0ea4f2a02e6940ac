//! How many blocks it takes, as a page: a table for each workload, condition and metric. It computes nothing but the
//! layout, and the time that a number of blocks takes.

use bakeoff_judge::planning::{Aim, Outlook, PILOT_MIN, Planning};
use bakeoff_report::draw::Style;
use bakeoff_report::draw::grid::{Flush, Grid};
use bakeoff_report::draw::paint::{Ink, Page, Piece};
use bakeoff_report::draw::text::{clean, glue};
use bakeoff_report::format::{count, exponent, fixed, percent, waiting_time};
use bakeoff_report::words::counted;

/// Planning as a page. It ends in a line feed.
pub(crate) fn power(planning: &Planning, layouts: Option<f64>, style: Style) -> String {
    let mut page = Page::default();
    for rows in planning.rows.chunk_by(|one, next| title(one) == title(next)) {
        page.gap();
        if let Some(title) = rows.first().and_then(title) {
            page.paragraph(&title, style.width, 0, Ink::Heading);
        }
        let with_times = grid(&planning.aim, rows, true);
        if with_times.width() <= style.width {
            with_times.print(&mut page, style.width);
        } else {
            grid(&planning.aim, rows, false).print(&mut page, style.width);
            let block_s = rows.iter().filter_map(|row| row.block_s).reduce(f64::max);
            let time = block_s.map(|s| format!("100 blocks take about {}", glue(&waiting_time(100.0 * s))));
            time.iter().for_each(|time| page.paragraph(time, style.width, 2, Ink::Plain));
        }
    }
    page.gap();
    page.paragraph(legend(planning, layouts), style.width, 0, Ink::Aside);
    page.print(style.colour)
}

fn title(row: &Outlook) -> Option<String> {
    let Outlook { workload, condition, metric, .. } = row;
    (!metric.is_empty()).then(|| clean(&format!("{metric}, {workload} ({condition})")))
}

/// The table, with or without the time that each number of blocks takes.
fn grid(aim: &Aim, rows: &[Outlook], times: bool) -> Grid {
    let from_pilot = rows.iter().any(|row| row.block_s.is_some());
    let mut columns = vec![("variant".to_owned(), Flush::Left), ("sd".to_owned(), Flush::Right)];
    columns.extend(aim.see.iter().map(|see| (format!("see {}", percent(*see)), Flush::Right)));
    columns.push((format!("equal ±{}", percent(aim.margin)), Flush::Right));
    if from_pilot {
        columns.push(("seen so far".to_owned(), Flush::Right));
    }
    let mut grid = Grid::new(columns);
    for row in rows {
        let blocks = |blocks: &Option<u32>| Piece::plain(in_blocks(*blocks, row.block_s.filter(|_| times)));
        let variant = if row.variant.is_empty() { "any" } else { &row.variant };
        let mut cells = vec![Piece::plain(clean(variant)), Piece::plain(row.sd.map_or("–".to_owned(), digits))];
        cells.extend(row.to_see.iter().map(blocks));
        cells.push(blocks(&row.to_show_equivalent));
        if from_pilot {
            cells.push(Piece::plain(row.seen.map_or("–".to_owned(), digits)));
        }
        grid.row(cells);
    }
    grid
}

/// A number of blocks, and the time that they take.
fn in_blocks(blocks: Option<u32>, block_s: Option<f64>) -> String {
    let Some(blocks) = blocks else { return "–".to_owned() };
    let number = count(u64::from(blocks));
    match block_s {
        Some(block_s) => format!("{number} ({})", waiting_time(block_s * f64::from(blocks))),
        None => number,
    }
}

/// A fraction in percent, with two digits.
fn digits(fraction: f64) -> String {
    let percent = 100.0 * fraction;
    let decimals = if percent == 0.0 { 0 } else { usize::try_from(1 - exponent(percent, 2)).unwrap_or(0) };
    format!("{} %", fixed(percent, decimals))
}

fn legend(planning: &Planning, layouts: Option<f64>) -> String {
    let Aim { power, confidence, family, .. } = &planning.aim;
    let [power, confidence] = [power, confidence].map(|x| glue(&percent(*x)));
    let among = if *family > 1 { format!(" among {family} comparisons") } else { String::new() };
    let basis = match &planning.study {
        None => {
            let layouts = layouts.map(|sd| format!(", with the spread of both layouts ({})", glue(&percent(sd))));
            format!("sd is the value that you gave{}. `–` means more than a million", layouts.unwrap_or_default())
        }
        Some(study) => format!(
            "sd is the standard deviation between the blocks of study {}. The plan uses the upper bound of sd at 80 % \
             confidence. `–` means more than a million, or unknown because there are fewer than {} or a value is not \
             positive",
            clean(study),
            counted(PILOT_MIN, "block"),
        ),
    };
    format!(
        "Blocks needed for each workload and condition to show the given difference, or equivalence if there is no \
         difference. The probability of success is {power}, at {confidence} confidence{among}. The plan assumes \
         normally distributed logarithms; {basis}."
    )
}
