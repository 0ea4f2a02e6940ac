//! A page of Markdown as text for a terminal: paragraphs fill the width, code and tables stay as they are, and links keep
//! only their text. It knows what our own pages use of Markdown, and no more.

use bakeoff_report::Style;
use bakeoff_report::draw::text::wrap;

/// A page as it is printed; what is not Markdown (JSON) stays as it is.
pub(crate) fn shown(page: &str, style: Style) -> String {
    if page.starts_with('{') {
        return page.to_owned();
    }
    let (mut out, mut paragraph, mut is_code) = (String::new(), String::new(), false);
    for line in page.lines() {
        let is_fence = line.trim_start().starts_with("```");
        let stays = is_code || is_fence || line.starts_with(['|', '#']) || line.starts_with("    ");
        if stays || line.is_empty() || is_item(line) {
            fill(&mut out, &mut paragraph, style.width);
        }
        match line {
            _ if is_fence => is_code = !is_code,
            _ if is_code => out += &format!("    {line}\n"),
            _ if line.starts_with('#') => out += &heading(line.trim_start_matches('#').trim(), style),
            _ if stays || line.is_empty() => out += &format!("{}\n", without_links(line)),
            _ if paragraph.is_empty() => paragraph.push_str(line),
            _ => paragraph.extend([" ", line.trim_start()]),
        }
    }
    fill(&mut out, &mut paragraph, style.width);
    out
}

fn heading(text: &str, style: Style) -> String {
    let text = text.to_uppercase();
    if style.colour { format!("\u{1b}[1m{text}\u{1b}[0m\n") } else { format!("{text}\n") }
}

/// Whether the line begins an item of a list.
fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let number = line.split_once(". ").is_some_and(|(number, _)| number.chars().all(|c| c.is_ascii_digit()));
    line.starts_with("- ") || line.starts_with("* ") || (number && line.starts_with(|c: char| c.is_ascii_digit()))
}

fn fill(out: &mut String, paragraph: &mut String, columns: usize) {
    if paragraph.is_empty() {
        return;
    }
    let text = without_links(&std::mem::take(paragraph));
    let before = text.len() - text.trim_start().len();
    let indent = if is_item(&text) { before + text.trim_start().find(' ').map_or(0, |at| at + 1) } else { before };
    for line in wrap(&text, columns, indent) {
        out.extend([&line, "\n"]);
    }
}

/// `[text](address)` is the text, with the address where it is one of the web; emphasis goes.
fn without_links(line: &str) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while let Some((before, label, address, after)) = link(rest) {
        out.extend([before.trim_end_matches('!'), label]);
        if address.contains("://") && address != label {
            out.extend([" (", address, ")"]);
        }
        rest = after;
    }
    (out + rest).replace("**", "")
}

/// What stands before the first link, its text, its address, and what follows.
fn link(line: &str) -> Option<(&str, &str, &str, &str)> {
    let middle = line.find("](")?;
    let begin = line[..middle].rfind('[')?;
    let end = middle + line[middle..].find(')')?;
    Some((&line[..begin], &line[begin + 1..middle], &line[middle + 2..end], &line[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_fills_the_width_and_keeps_code_and_tables() {
        let page = "# One **two**\n\nA [word](builds.md) and\n[the web](https://example.org).\n- an item\n  that goes on\n\
                    | a | b |\n\n```sh\nls  -l\n```\n";
        let style = Style { width: 40, colour: false };
        let expect = "ONE **TWO**\n\nA word and the web\n(https://example.org).\n- an item that goes on\n| a | b |\n\n    \
                      ls  -l\n";
        assert_eq!(shown(page, style), expect);
        assert_eq!(shown("{\"a\": 1}", style), "{\"a\": 1}");
    }
}
