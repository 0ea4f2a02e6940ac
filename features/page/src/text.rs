//! Text of the report and of others in HTML: sentences in which claims stand out, and names that are seen as names. The template
//! escapes everything; what could steer a reader's eye (controls, directions) is made visible by `clean` before.

use bakeoff_judge::findings::Findings;
use bakeoff_model::plain::clean;
use bakeoff_report::draw::paint::Ink;
use bakeoff_report::draw::rendered::{Rendered, Role, Writer};
use maud::{Markup, PreEscaped, html};

/// A name of others.
pub(crate) fn name(text: &str) -> Markup {
    html! { bdi.v { (clean(text)) } }
}

/// A sentence of the report, whatever names are in it; a number and its per cent stay in one line.
pub(crate) fn sentence(text: &str) -> String {
    clean(text).replace(" %", "\u{a0}%")
}

/// By which number the page calls a variant.
pub(crate) fn variant_id(findings: &Findings, variant: &str) -> Option<usize> {
    findings.variants.iter().position(|known| known.name == variant)
}

/// The class of an ink.
pub(crate) fn class_of(ink: Ink) -> &'static str {
    match ink {
        Ink::Plain => "",
        Ink::Heading => "heading",
        Ink::Aside => "quiet",
        Ink::Better => "better",
        Ink::Worse => "worse",
        Ink::Same => "same",
        Ink::Open => "open",
    }
}

/// A text of the report: names as names, claims bold and in their colour, intervals small, footnotes as links.
pub(crate) fn markup(text: &Rendered) -> Markup {
    struct Html(String);
    impl Writer for Html {
        fn part(&mut self, role: Role, text: &str) {
            let markup = match role {
                Role::Plain => html! { (sentence(text)) },
                Role::Name => name(text),
                Role::Claim(ink) => html! { b class=(class_of(ink)) { (sentence(text)) } },
                Role::Interval => {
                    let words = text.trim_start();
                    html! { @if words.len() < text.len() { " " } small { (sentence(words)) } }
                }
                Role::Note(number) => html! { a.fn href={ "#n" (number) } { (number) } },
            };
            self.0 += &markup.into_string();
        }
    }
    let mut html = Html(String::new());
    text.write_to(&mut html);
    PreEscaped(html.0)
}

/// Its words, where there can be no markup.
pub(crate) fn plain(text: &Rendered) -> String {
    struct Words(String);
    impl Writer for Words {
        fn part(&mut self, role: Role, text: &str) {
            if !matches!(role, Role::Note(_)) {
                self.0 += text;
            }
        }
    }
    let mut words = Words(String::new());
    text.write_to(&mut words);
    sentence(&words.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_text_are_shown_as_what_they_are() {
        let mut text = Rendered::name("O2 <lto>");
        text += " is ";
        text += Rendered::new(Role::Claim(Ink::Better), "7.5 % faster");
        text += Rendered::new(Role::Note(3), "\u{a0}[3]");
        let expect = "<bdi class=\"v\">O2 &lt;lto&gt;</bdi> is <b class=\"better\">7.5\u{a0}% faster</b><a class=\"fn\" href=\"#n3\">3</a>";
        assert_eq!(markup(&text).into_string(), expect);
        assert_eq!(plain(&text), "O2 <lto> is 7.5\u{a0}% faster");
    }

    #[test]
    fn text_of_others_is_text() {
        let shown = name("<img src=x onerror=alert(1)>\u{202e}\u{1b}[2J").into_string();
        assert_eq!(shown, "<bdi class=\"v\">&lt;img src=x onerror=alert(1)&gt;??[2J</bdi>");
    }
}
