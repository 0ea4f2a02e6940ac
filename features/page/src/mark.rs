//! The signs of the page, each a shape of its own: none depends on colour, or on what a font has. They are defined once and
//! used by name. Which sign a comparison gets is its verdict's, and nothing is judged here.

use bakeoff_judge::findings::{Comparison, Scale, Verdict};
use maud::{Markup, html};

/// What a comparison looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The class, which has the colour, and the word.
    pub(crate) class: &'static str,
    /// The shape's id.
    pub(crate) shape: &'static str,
}

impl Mark {
    /// Of a comparison; the arrow points to where it lies, whichever side is the better one.
    pub(crate) fn of(comparison: &Comparison) -> Self {
        let is_less = match comparison.scale {
            Scale::Ratio => comparison.estimate < 1.0,
            Scale::Difference => comparison.estimate < 0.0,
        };
        let arrow = if is_less { "m-less" } else { "m-more" };
        let (class, shape) = match comparison.verdict {
            Verdict::Faster => ("better", arrow),
            Verdict::Slower => ("worse", arrow),
            Verdict::Equivalent => ("same", "m-same"),
            Verdict::Negligible => ("same", "m-small"),
            Verdict::Undecided { .. } => ("open", "m-open"),
            Verdict::Withheld => ("doubt", "m-none"),
        };
        Self { class, shape }
    }
}

/// The outline of each shape around 0, for drawings that stand alone.
pub(crate) fn outline(shape: &str) -> &'static str {
    match shape {
        "m-less" => "M4-4.6V4.6L-4.4 0Z",
        "m-more" => "M-4-4.6V4.6L4.4 0Z",
        "m-same" => "M0-4.6L4.6 0 0 4.6-4.6 0Z",
        "m-small" => "M-3.3-3.3H3.3V3.3H-3.3Z",
        "m-open" => "M-3.7 0A3.7 3.7 0 1 1 3.7 0A3.7 3.7 0 1 1-3.7 0Z",
        _ => "M-3.6-3.6L3.6 3.6M-3.6 3.6L3.6-3.6",
    }
}

/// All of them, for a page.
pub(crate) fn definitions() -> Markup {
    html! {
        @for shape in ["m-less", "m-more", "m-same", "m-small", "m-open"] {
            path id=(shape) d=(outline(shape)) {}
        }
        path id="m-none" d=(outline("m-none")) fill="none" stroke="currentColor" stroke-width="1.8" {}
        path id="cap" d="M0-5V5" {}
        path id="i-look" d="M0-5L5.4 4.4H-5.4Z" {}
        g id="i-part" { circle r="4" fill="none" stroke="currentColor" {} path d="M0-4A4 4 0 0 0 0 4Z" {} }
        circle id="i-full" r="4.4" {}
    }
}

/// A sign in a line of text, next to words that say the same.
pub(crate) fn sign(shape: &str, class: &str) -> Markup {
    html! {
        svg class={ "i " (class) } aria-hidden="true" { use href={ "#" (shape) } x="6" y="6" {} }
    }
}
