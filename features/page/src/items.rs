//! Sections of the report in HTML: the items that a terminal would lay out in columns become headings, paragraphs, tables and
//! quotations, with the same words. It knows no section by name.

use crate::forest::pc;
use crate::text::{class_of, sentence};
use bakeoff_report::draw::paint::{Flush, Ink, Item, Piece};
use maud::{Markup, html};

/// What a quoted line begins with.
const QUOTE: &str = "  | ";

/// A list of more lines is folded on a card.
const LISTED: usize = 3;

/// Items in their order.
pub(crate) fn items(items: &[Item]) -> Markup {
    let is_quoted = |item: &Item| quoted(item).is_some();
    let groups = items.chunk_by(|one, other| is_quoted(one) && is_quoted(other));
    html! {
        @for group in groups {
            @match group {
                [first, ..] if is_quoted(first) => {
                    pre.quote tabindex="0" { @for item in group { (sentence(quoted(item).unwrap_or_default())) "\n" } }
                }
                [item, ..] => { (one(item)) }
                [] => {}
            }
        }
    }
}

/// Items as cards: each heading begins one. Long lists in them are folded.
pub(crate) fn cards(all: &[Item]) -> Markup {
    let cards = all.chunk_by(|_, next| !is_heading(next));
    html! { div.cards { @for card in cards { article.card { (folded(card)) } } } }
}

/// The same as [`items`], where a long list is behind the words that introduce it.
fn folded(all: &[Item]) -> Markup {
    let is_quoted = |item: &Item| quoted(item).is_some();
    let is_listed =
        |item: &Item| matches!(item, Item::Line(pieces) if pieces.len() == 1) && !is_quoted(item) && !is_heading(item);
    let groups = all.chunk_by(|one, next| is_listed(next) || (is_quoted(one) && is_quoted(next)));
    html! {
        @for group in groups {
            @match group {
                [Item::Paragraph(head), list @ ..] if list.len() > LISTED && head.ink != Ink::Heading => {
                    details.more { summary { (marked(&head.text)) } (items(list)) }
                }
                _ => { (items(group)) }
            }
        }
    }
}

fn is_heading(item: &Item) -> bool {
    match item {
        Item::Paragraph(piece) => piece.ink == Ink::Heading,
        Item::Line(pieces) => matches!(pieces.as_slice(), [only] if only.ink == Ink::Heading),
        Item::Table { .. } => false,
    }
}

/// A line of what something printed.
fn quoted(item: &Item) -> Option<&str> {
    match item {
        Item::Line(pieces) => match pieces.as_slice() {
            [only] => only.text.strip_prefix(QUOTE),
            _ => None,
        },
        _ => None,
    }
}

fn one(item: &Item) -> Markup {
    match item {
        Item::Paragraph(piece) => paragraph(piece),
        Item::Line(pieces) => match pieces.as_slice() {
            [only] if only.ink != Ink::Heading => {
                html! { p class={ "item tight " (class_of(only.ink)) } { (marked(&only.text)) } }
            }
            [only] => paragraph(only),
            several => html! { p.item { @for piece in several { (text(piece)) } } },
        },
        Item::Table { columns, rows } => table(columns, rows),
    }
}

fn paragraph(piece: &Piece) -> Markup {
    html! {
        @match piece.ink {
            Ink::Heading => { h3 { (marked(&piece.text)) } }
            ink => { p class={ "item " (class_of(ink)) } { (marked(&piece.text)) } }
        }
    }
}

fn text(piece: &Piece) -> Markup {
    html! { span class=(class_of(piece.ink)) { (marked(&piece.text)) } }
}

/// A name for a table: its first title, and how large it is, so that a reader knows which of several it is.
fn label(columns: &[(String, Flush)], rows: &[Vec<Piece>]) -> String {
    let first = columns.first().map_or("", |(title, _)| title.as_str());
    format!("Table by {}, {} rows", sentence(first), rows.len())
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

fn table(columns: &[(String, Flush)], rows: &[Vec<Piece>]) -> Markup {
    let is_number = |at: usize| columns.get(at).is_some_and(|(_, flush)| *flush == Flush::Right);
    let largest: Vec<Option<u64>> = (0..columns.len()).map(|at| largest(rows, at)).collect();
    html! {
        div.scroll tabindex="0" role="region" aria-label=(label(columns, rows)) {
            table.data {
                thead { tr {
                    @for (at, (title, _)) in columns.iter().enumerate() {
                        th.num[is_number(at)] scope="col" { (sentence(title)) }
                    }
                } }
                tbody {
                    @for row in rows {
                        tr {
                            @for (at, piece) in row.iter().enumerate() {
                                @if at == 0 { th.in[piece.text.starts_with(' ')] scope="row" { (text(piece)) } }
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

/// A text whose last footnotes, such as ` [1,3]`, are links.
pub(crate) fn marked(text: &str) -> Markup {
    let (text, numbers) = footnotes(text);
    html! {
        (sentence(text.trim_start()))
        @for number in numbers { a.fn href={ "#n" (number) } { (number) } }
    }
}

/// A text and the numbers of the footnotes that it ends with.
pub(crate) fn footnotes(text: &str) -> (&str, Vec<&str>) {
    let is_number = |part: &str| !part.is_empty() && part.len() < 4 && part.bytes().all(|b| b.is_ascii_digit());
    let split = text.trim_end().strip_suffix(']').and_then(|rest| rest.rsplit_once([' ', '\u{a0}']));
    let numbers = split.and_then(|(before, marks)| {
        let numbers: Vec<&str> = marks.strip_prefix('[')?.split(',').collect();
        numbers.iter().all(|number| is_number(number)).then_some((before, numbers))
    });
    numbers.unwrap_or((text, vec![]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Equal amounts are no picture.
    #[test]
    fn amounts_that_differ_have_bars() {
        let row = |one, two| vec![Piece::plain("v"), Piece::amount("1", one), Piece::amount("2", two)];
        let columns = ["variant", "calls", "size"].map(|title| (title.to_owned(), Flush::Right)).to_vec();
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
        let page = cards(&[list(4), vec![line("  | said"), line("  | more")]].concat()).into_string();
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
    fn footnotes_are_told_from_intervals() {
        let check = |text: &str, expect: (&str, &[&str])| {
            let (rest, numbers) = footnotes(text);
            assert_eq!((rest, numbers.as_slice()), expect, "{text}");
        };
        check("faster [1,3]", ("faster", &["1", "3"]));
        check("faster [12]", ("faster", &["12"]));
        check("0.84 [0.83, 0.85]", ("0.84 [0.83, 0.85]", &[]));
        check("+3 [+1, +5]", ("+3 [+1, +5]", &[]));
        check("1.04 [none]", ("1.04 [none]", &[]));
        check("[]", ("[]", &[]));
    }

    #[test]
    fn the_words_of_a_terminal_are_the_words_of_the_page() {
        let title = |text: &str, flush| (text.to_owned(), flush);
        let all = [
            Item::Paragraph(Piece::new("loop (idle): wall", Ink::Heading)),
            Item::Table {
                columns: vec![title("variant", Flush::Left), title("n", Flush::Right)],
                rows: vec![vec![Piece::plain("<b>"), Piece::new("12 [1]", Ink::Better)]],
            },
            Item::Line(vec![Piece::new("  | <script>", Ink::Aside)]),
            Item::Line(vec![Piece::new("  | second", Ink::Aside)]),
        ];
        let page = items(&all).into_string();
        for part in ["<h3>loop (idle): wall</h3>", "&lt;b&gt;", "href=\"#n1\"", "&lt;script&gt;\nsecond\n</pre>"] {
            assert!(page.contains(part), "{part} is not in {page}");
        }
        assert!(!page.contains("<script>") && !page.contains("<b>"), "{page}");
    }
}
