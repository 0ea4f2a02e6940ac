//! Sections of the report in HTML: the items that a terminal would lay out in columns become headings, paragraphs, tables and
//! quotations, with the same words. It knows no section by name.

use crate::forest::pc;
use crate::text::{class_of, markup, plain};
use bakeoff_report::draw::paint::{Flush, Ink, Item, Piece};
use bakeoff_report::draw::rendered::Rendered;
use bakeoff_report::words::counted;
use maud::{Markup, html};

/// A table of more columns needs the whole width.
const NARROW: usize = 3;

/// A list of more lines is folded on a card.
const LISTED: usize = 3;

/// Parts of a page of which more than these are folded.
const OPEN: usize = 4;

/// The first of them, and the others folded, all in elements of a class.
pub(crate) fn first_few(class: &str, all: &[Markup]) -> Markup {
    let (first, rest) = all.split_at(all.len().min(OPEN));
    html! {
        div class=(class) { @for one in first { (one) } }
        @if !rest.is_empty() {
            details.more { summary { (rest.len()) " more" } div class=(class) { @for one in rest { (one) } } }
        }
    }
}

/// Items in their order.
pub(crate) fn items(items: &[Item]) -> Markup {
    let groups = items.chunk_by(|one, other| is_quoted(one) && is_quoted(other));
    html! {
        @for group in groups {
            @match group {
                [first, ..] if is_quoted(first) => {
                    pre.quote tabindex="0" { @for item in group { @if let Item::Quote(line) = item { (plain(line)) "\n" } } }
                }
                [item, ..] => { (one(item)) }
                [] => {}
            }
        }
    }
}

fn is_wide(card: &[Item]) -> bool {
    card.iter().any(|item| matches!(item, Item::Table { columns, .. } if columns.len() > NARROW))
}

/// Items as cards: each heading begins one. Long lists in them are folded.
pub(crate) fn cards(all: &[Item]) -> Markup {
    let cards = all.chunk_by(|_, next| !is_heading(next));
    html! { div.cards { @for card in cards { article.card.wide[is_wide(card)] { (folded(card)) } } } }
}

/// The same as [`items`], where a long list is behind the words that introduce it.
fn folded(all: &[Item]) -> Markup {
    let is_listed = |item: &Item| matches!(item, Item::Line(pieces) if pieces.len() == 1) && !is_heading(item);
    let groups = all.chunk_by(|one, next| is_listed(next) || (is_quoted(one) && is_quoted(next)));
    html! {
        @for group in groups {
            @match group {
                [Item::Paragraph(head), list @ ..] if list.len() > LISTED && head.ink != Ink::Heading => {
                    details.more { summary { (markup(&head.text)) } (items(list)) }
                }
                _ => { (items(group)) }
            }
        }
    }
}

/// Whether it is the heading of what follows.
pub(crate) fn is_heading(item: &Item) -> bool {
    match item {
        Item::Paragraph(piece) => piece.ink == Ink::Heading,
        Item::Line(pieces) => matches!(pieces.as_slice(), [only] if only.ink == Ink::Heading),
        Item::Quote(_) | Item::Table { .. } => false,
    }
}

/// A line of what something printed.
fn is_quoted(item: &Item) -> bool {
    matches!(item, Item::Quote(_))
}

fn one(item: &Item) -> Markup {
    match item {
        Item::Paragraph(piece) => paragraph(piece),
        Item::Line(pieces) => match pieces.as_slice() {
            [only] if only.ink != Ink::Heading => {
                html! { p class={ "item tight " (class_of(only.ink)) } { (markup(&only.text)) } }
            }
            [only] => paragraph(only),
            several => html! { p.item { @for piece in several { (text(piece)) } } },
        },
        Item::Quote(line) => html! { pre.quote { (plain(line)) } },
        Item::Table { columns, rows } => table(columns, rows),
    }
}

fn paragraph(piece: &Piece) -> Markup {
    html! {
        @match piece.ink {
            Ink::Heading => { h3 { (markup(&piece.text)) } }
            ink => { p class={ "item " (class_of(ink)) } { (markup(&piece.text)) } }
        }
    }
}

fn text(piece: &Piece) -> Markup {
    html! { span class=(class_of(piece.ink)) { (markup(&piece.text)) } }
}

/// A name for a table: its first title, and how large it is, so that a reader knows which of several it is.
fn label(columns: &[(Rendered, Flush)], rows: &[Vec<Piece>]) -> String {
    let first = columns.first().map_or(String::new(), |(title, _)| plain(title));
    format!("Table by {first}, {}", counted(rows.len() as u32, "row"))
}

/// The largest amount of a column whose amounts differ.
fn largest(rows: &[Vec<Piece>], at: usize) -> Option<u64> {
    let amounts = || rows.iter().filter_map(|row| row.get(at)?.amount);
    amounts().max().filter(|max| amounts().any(|amount| amount != *max))
}

/// How much of the largest amount a cell is, as a bar below its number. The number says the same, so a screen reader does not meet it.
fn bar(amount: u64, largest: u64) -> Markup {
    let part = 100.0 * amount as f64 / largest as f64;
    html! { svg.amount aria-hidden="true" { rect width="100%" height="100%" {} rect.of x={ (pc(100.0 - part)) } width=(pc(part)) height="100%" {} } }
}

fn table(columns: &[(Rendered, Flush)], rows: &[Vec<Piece>]) -> Markup {
    let is_number = |at: usize| columns.get(at).is_some_and(|(_, flush)| *flush == Flush::Right);
    let largest: Vec<Option<u64>> = (0..columns.len()).map(|at| largest(rows, at)).collect();
    html! {
        div.scroll tabindex="0" role="region" aria-label=(label(columns, rows)) {
            table.data {
                thead { tr {
                    @for (at, (title, _)) in columns.iter().enumerate() {
                        th.num[is_number(at)] scope="col" { (markup(title)) }
                    }
                } }
                tbody {
                    @for row in rows {
                        tr {
                            @for (at, piece) in row.iter().enumerate() {
                                @if at == 0 { th.in[piece.is_indented] scope="row" { (text(piece)) } }
                                @else {
                                    td.num[is_number(at)] {
                                        (text(piece))
                                        @if let (Some(amount), Some(largest)) = (piece.amount, largest[at]) { (bar(amount, largest)) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_report::draw::rendered::Role;
    use bakeoff_report::text;

    /// Equal amounts are no picture.
    #[test]
    fn amounts_that_differ_have_bars() {
        let row = |one, two| vec![Piece::plain("v"), Piece::amount("1", one), Piece::amount("2", two)];
        let columns = ["variant", "calls", "size"].map(|title| (title.into(), Flush::Right)).to_vec();
        let page = items(&[Item::Table { columns, rows: vec![row(30, 7), row(120, 7), row(0, 7)] }]).into_string();
        assert_eq!(page.matches("class=\"amount\"").count(), 3, "{page}");
        assert!(page.contains("width=\"25.00%\"") || page.contains("width=\"25%\""), "{page}");
    }

    #[test]
    fn a_long_list_is_folded_on_a_card() {
        let line = |text: &str| Item::Line(vec![Piece::plain(text)]);
        let list = |n: usize| {
            let head = Item::Paragraph(Piece::plain("opened by a only:"));
            std::iter::once(head).chain((0..n).map(|at| line(&format!("/lib/{at}")))).collect::<Vec<_>>()
        };
        assert!(!cards(&list(3)).into_string().contains("<details"));
        let quote = |text: &str| Item::Quote(text.into());
        let page = cards(&[list(4), vec![quote("said"), quote("more")]].concat()).into_string();
        assert!(page.contains("<summary>opened by a only:</summary>") && page.contains("/lib/3"), "{page}");
        assert_eq!(page.matches("<pre").count(), 1, "{page}");
    }

    #[test]
    fn each_heading_begins_a_card() {
        let heading = |text: &str| Item::Paragraph(Piece::new(text, Ink::Heading));
        let line = |text: &str| Item::Line(vec![Piece::plain(text)]);
        let page = cards(&[line("before"), heading("one"), line("a"), line("b"), heading("two")]).into_string();
        let cards: Vec<&str> = page.split("<article class=\"card\">").skip(1).collect();
        assert_eq!(cards.len(), 3, "{page}");
        assert!(cards[1].contains("one") && cards[1].contains("b</p>") && !cards[1].contains("two"), "{page}");
    }

    #[test]
    fn the_words_of_a_terminal_are_the_words_of_the_page() {
        let title = |text: &str, flush| (text.into(), flush);
        let all = [
            Item::Paragraph(Piece::new("loop (idle): wall", Ink::Heading)),
            Item::Table {
                columns: vec![title("variant", Flush::Left), title("n", Flush::Right)],
                rows: vec![vec![
                    Piece::plain("<b>"),
                    Piece::new(text!["12", Rendered::new(Role::Note(1), " [1]")], Ink::Better),
                ]],
            },
            Item::Quote("<script>".into()),
            Item::Quote("second".into()),
        ];
        let page = items(&all).into_string();
        for part in ["<h3>loop (idle): wall</h3>", "&lt;b&gt;", "href=\"#n1\"", "&lt;script&gt;\nsecond\n</pre>"] {
            assert!(page.contains(part), "{part} is not in {page}");
        }
        assert!(!page.contains("<script>") && !page.contains("<b>"), "{page}");
    }
}
