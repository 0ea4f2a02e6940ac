//! Text for people, of which only writers get the letters. A program that reads its own sentences to learn what they mean breaks
//! with the next wording. So what is needed of a text besides its letters has to exist as data, which is checked when it is compiled.

use super::text::{clean, glue, middle, unglue, width, wrap};
use std::ops::AddAssign;

/// A text of parts: words, names, and other texts.
#[macro_export]
macro_rules! text {
    ($($part:expr),* $(,)?) => {{
        let mut text = $crate::draw::rendered::Rendered::default();
        $(text += $part;)*
        text
    }};
}

/// What a piece of text is; with colour, how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// Text.
    Plain,
    /// A heading, or the answer.
    Heading,
    /// What can be skipped.
    Aside,
    /// Faster.
    Better,
    /// Slower, or failed.
    Worse,
    /// Equivalent.
    Same,
    /// Undecided, or missing.
    Open,
}

impl Ink {
    /// Parameters of "select graphic rendition" (ECMA-48, 8.3.117).
    pub(super) fn sgr(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Heading => "1",
            Self::Aside => "2",
            Self::Better => "32",
            Self::Worse => "31",
            Self::Same => "36",
            Self::Open => "33",
        }
    }
}

/// What a part of a text is. A page may show it so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Words.
    Plain,
    /// A name that somebody else gave.
    Name,
    /// What is claimed.
    Claim(Ink),
    /// The interval of a claim.
    Interval,
    /// The number of a footnote; its letters have brackets and commas.
    Note(usize),
}

/// A text, part by part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rendered(Vec<(Role, String)>);

/// Puts text on a screen or into a file.
pub trait Writer {
    /// Takes the next part.
    fn part(&mut self, role: Role, text: &str);
}

impl Rendered {
    /// A text of one part.
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        let text = text.into();
        Self(if text.is_empty() { vec![] } else { vec![(role, text)] })
    }

    /// A name that somebody else gave, made harmless.
    pub fn name(name: &str) -> Self {
        Self::new(Role::Name, clean(name))
    }

    /// Texts in a row, with something between them.
    pub fn joined(texts: impl IntoIterator<Item = Self>, between: &str) -> Self {
        let mut joined = Self::default();
        for (at, text) in texts.into_iter().enumerate() {
            joined += if at > 0 { between } else { "" };
            joined += text;
        }
        joined
    }

    /// `a, b and c`.
    pub fn listed(mut texts: Vec<Self>) -> Self {
        let last = texts.pop().unwrap_or_default();
        if texts.is_empty() { last } else { text![Self::joined(texts, ", "), " and ", last] }
    }

    /// ` (4.6 … 10.4 %)`; nothing of nothing.
    pub fn bracketed(self) -> Self {
        let Some((role, _)) = self.0.first() else { return self };
        let role = *role;
        text![" ", Self::new(role, format!("({})", self.letters()))]
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Columns of the screen that it takes.
    pub fn width(&self) -> usize {
        width(&self.letters())
    }

    /// Passes it to a writer.
    pub fn write_to(&self, writer: &mut (impl Writer + ?Sized)) {
        self.0.iter().for_each(|(role, text)| writer.part(*role, text));
    }

    pub(crate) fn glued(self) -> Self {
        Self(self.0.into_iter().map(|(role, text)| (role, glue(&text))).collect())
    }

    /// The same, with claims and intervals that are never broken.
    pub(crate) fn with_whole_claims(self) -> Self {
        let glued = |(role, text): (Role, String)| match role {
            Role::Claim(_) | Role::Interval => {
                (role, text.chars().take(1).chain(glue(&text).chars().skip(1)).collect())
            }
            _ => (role, text),
        };
        Self(self.0.into_iter().map(glued).collect())
    }

    /// The same with all spaces as places where a line may break.
    pub(crate) fn unglued(self) -> Self {
        Self(self.0.into_iter().map(|(role, text)| (role, unglue(&text))).collect())
    }

    /// The lines of a paragraph; see [`wrap`].
    pub(crate) fn wrapped(&self, columns: usize, indent: usize) -> Vec<Self> {
        wrap(&self.letters(), columns, indent).into_iter().map(Self::from).collect()
    }

    /// The same in at most `columns`: a longer text loses its middle.
    pub(crate) fn middle(&self, columns: usize) -> Self {
        if self.width() <= columns { self.clone() } else { middle(&self.letters(), columns).into() }
    }

    /// The same in at most `columns`: a longer text loses its end, between clauses, or else between words.
    pub(crate) fn shortened(&self, columns: usize) -> Self {
        let text = clean(&unglue(&self.letters()));
        if width(&text) <= columns {
            return text.into();
        }
        let fits = text.char_indices().map_while(|(at, _)| (width(&text[..at]) + 2 <= columns).then_some(at)).last();
        let clauses = fits.and_then(|end| text[..end].rfind(", ").into_iter().chain(text[..end].rfind("; ")).max());
        if let Some(end) = clauses.filter(|end| width(&text[..*end]) > columns / 2) {
            return format!("{} …", &text[..end]).into();
        }
        let first = wrap(&text, columns.saturating_sub(2), 0).into_iter().next().unwrap_or_default();
        middle(&format!("{first} …"), columns).into()
    }

    /// The letters, for unit tests.
    #[cfg(test)]
    pub(crate) fn shown(&self) -> String {
        self.letters()
    }

    /// The letters, for those who lay it out.
    pub(in crate::draw) fn letters(&self) -> String {
        self.0.iter().map(|(_, text)| text.as_str()).collect()
    }
}

impl From<String> for Rendered {
    fn from(text: String) -> Self {
        Self::new(Role::Plain, text)
    }
}

impl From<&str> for Rendered {
    fn from(text: &str) -> Self {
        Self::new(Role::Plain, text)
    }
}

impl From<&String> for Rendered {
    fn from(text: &String) -> Self {
        Self::new(Role::Plain, text)
    }
}

impl From<&Self> for Rendered {
    fn from(text: &Self) -> Self {
        text.clone()
    }
}

impl From<Option<Self>> for Rendered {
    fn from(text: Option<Self>) -> Self {
        text.unwrap_or_default()
    }
}

impl<T: Into<Self>> AddAssign<T> for Rendered {
    fn add_assign(&mut self, text: T) {
        self.0.extend(text.into().0);
    }
}
