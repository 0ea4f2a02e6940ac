//! All pairs of a table's variants in one list: who shares a letter with whom, and how far each is from the first.

use crate::draw::grid::{Flush, Grid};
use crate::draw::paint::{Ink, Page, Piece};
use crate::draw::text::{clean, glue};
use crate::format::percent;
use crate::words;
use crate::words::{counted, named};
use bakeoff_judge::findings::{Findings, Ranked, Ranking, Scale, Table};

pub(crate) fn print(findings: &Findings, table: &Table, page: &mut Page, columns: usize) {
    let Some(ranking) = &table.ranking else { return };
    let Some(best) = ranking.variants.first() else { return };
    page.gap();
    let heading = format!(
        "{} ({}): all pairs, by {}; shown to differ: {} of {}",
        clean(&table.workload),
        clean(&table.condition),
        table.metric,
        ranking.differ,
        counted(ranking.pairs, "pair")
    );
    page.paragraph(&heading, columns, 2, Ink::Heading);
    let left = |title: String| (title, Flush::Left);
    let confidence = percent(findings.method.confidence);
    let against = format!("against the first [{confidence}]");
    let mut grid = Grid::new([left("variant".to_owned()), left("letters".to_owned()), left(against)]);
    for ranked in &ranking.variants {
        let letters = if best.letters.contains(|c| ranked.letters.contains(c)) { Ink::Same } else { Ink::Plain };
        let cells = [
            Piece::plain(clean(&ranked.variant)),
            Piece::new(ranked.letters.clone(), letters),
            Piece::plain(distance(ranked)),
        ];
        grid.row(cells.to_vec());
    }
    grid.print(page, columns);
    let shared = "Variants that share a letter are not shown to differ; this does not show that they are equal.";
    let families = format!(
        "For pairs with the baseline, see the table above. The claims about all other pairs hold jointly at {} \
            confidence.",
        glue(&confidence)
    );
    let equivalent = equivalent(findings, ranking);
    let left_out = match ranking.left_out.as_slice() {
        [] => String::new(),
        names => {
            format!(
                " Not compared here (see the table for the reason): {}.",
                named(names.iter().map(|n| clean(n)).collect())
            )
        }
    };
    page.paragraph(format!("{shared} {families} {equivalent}{left_out}"), columns, 2, Ink::Plain);
}

fn distance(ranked: &Ranked) -> String {
    match (ranked.against_best, ranked.scale) {
        (None, _) => "–".to_owned(),
        (Some(estimate), Scale::Ratio) => words::ratio(estimate, ranked.against_best_interval, "none"),
        (Some(estimate), Scale::Difference) => words::difference(estimate, ranked.against_best_interval, 1.0, "none"),
    }
}

/// The other mark: the pairs that are shown to be equivalent.
fn equivalent(findings: &Findings, ranking: &Ranking) -> String {
    let margin = glue(&format!("±{}", percent(findings.method.margin)));
    let pairs = ranking.equivalent.iter().map(|[a, b]| format!("{} = {}", clean(a), clean(b))).collect::<Vec<_>>();
    if pairs.is_empty() {
        format!("No pair is shown to be equivalent within {margin}.")
    } else {
        format!("Shown to be equivalent within {margin}: {}.", named(pairs))
    }
}
