//! Problems: what is wrong in a user's file, each with its place and its remedy. They are collected, never thrown,
//! so that all of a file's are shown at once. What goes wrong while building or running is a failure, and is
//! not found here.

use crate::plain::harmless;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::fmt::Write as _;
use std::ops::Range;

/// As many problems of one file are shown: each costs a walk through the file, and nobody reads more of them at once.
const SHOWN: usize = 100;

/// One thing that is wrong in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Bytes of the file that the caret underlines.
    pub span: Range<usize>,
    /// What is wrong, in one line.
    pub message: String,
    /// A few words at the caret; may be empty.
    pub label: String,
    /// What to do about it.
    pub remedy: String,
}

/// All that is wrong in one file, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems {
    /// The file's name, as the user gave it.
    pub file: String,
    /// Its text.
    pub text: String,
    /// What is wrong; never empty.
    pub list: Vec<Problem>,
}

impl Problems {
    /// Sorts by place.
    pub fn new(file: &str, text: &str, mut list: Vec<Problem>) -> Self {
        list.sort_by_key(|p| (p.span.start, p.span.end));
        Self { file: file.to_owned(), text: text.to_owned(), list }
    }

    /// The first hundred problems, each with its line, a caret and the remedy, and a last line that counts all of them.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let mut out = String::new();
        for problem in self.list.iter().take(SHOWN) {
            let [message, label, remedy] =
                [&problem.message, &problem.label, &problem.remedy].map(|text| harmless(text, false));
            let span = problem.span.start.min(self.text.len())..problem.span.end.min(self.text.len());
            let mut annotation = AnnotationKind::Primary.span(span);
            if !label.is_empty() {
                annotation = annotation.label(&*label);
            }
            let snippet = Snippet::source(self.text.as_str()).path(self.file.as_str()).annotation(annotation);
            let group = Level::ERROR.with_name("problem").primary_title(&*message).element(snippet);
            let group = match &*remedy {
                "" => group,
                remedy => group.element(Level::HELP.with_name("remedy").message(remedy)),
            };
            out.push_str(&renderer.render(&[group]));
            out.push_str("\n\n");
        }
        let plural = if self.list.len() == 1 { "problem" } else { "problems" };
        let first = if self.list.len() > SHOWN { format!("; the first {SHOWN} are shown") } else { String::new() };
        let _ = writeln!(out, "{} {plural} in {}{first}", self.list.len(), self.file);
        out
    }
}

/// The nearest of some known words, if it is near enough to be meant.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let close = |candidate: &str| strsim::damerau_levenshtein(&word.to_lowercase(), &candidate.to_lowercase());
    known
        .into_iter()
        .map(|candidate| (close(candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().min(word.len()) / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// A remedy that suggests the nearest known word, or else lists all of them.
pub fn suggest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match did_you_mean(word, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if known.is_empty() => String::new(),
        None => format!("available: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_suggested_and_far_ones_are_not() {
        for (word, expect) in
            [("blcks", Some("blocks")), ("seeed", Some("seed")), ("colour", None), ("BLOCKS", Some("blocks"))]
        {
            assert_eq!(did_you_mean(word, ["blocks", "seed", "vary"]), expect, "{word}");
        }
    }

    #[test]
    fn a_problem_shows_its_line_its_caret_and_its_remedy() {
        let text = "a = 1\nblcks = 2\n";
        let problem = Problem {
            span: 6..11,
            message: "unknown key `blcks`".into(),
            label: String::new(),
            remedy: "did you mean `blocks`?".into(),
        };
        let shown = Problems::new("study.toml", text, vec![problem]).render(false);
        for part in ["study.toml:2:1", "2 | blcks = 2", "^^^^^", "did you mean `blocks`?", "1 problem in study.toml"] {
            assert!(shown.contains(part), "{part:?} is missing in\n{shown}");
        }
    }

    #[test]
    fn of_very_many_problems_the_first_hundred_are_shown_and_all_are_counted() {
        let text: String = (0..20_000).map(|i| format!("k{i} = 1\n")).collect();
        let list = text.match_indices('k').map(|(at, _)| Problem {
            span: at..at + 1,
            message: "m".into(),
            label: String::new(),
            remedy: String::new(),
        });
        let shown = Problems::new("f", &text, list.collect()).render(false);
        assert_eq!(shown.matches("problem: m").count(), 100);
        assert!(shown.ends_with("20000 problems in f; the first 100 are shown\n"), "{shown}");
    }

    #[test]
    fn a_span_beyond_the_end_of_the_file_is_shown_at_its_end() {
        let problem = Problem { span: 90..99, message: "m".into(), label: String::new(), remedy: String::new() };
        assert!(Problems::new("f", "a = 1\n", vec![problem]).render(false).contains("problem: m"));
    }
}
