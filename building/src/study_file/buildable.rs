//! What instructions can refer to, and the layers that one is about: it names them, or is of the only one with a
//! source.

use crate::nouns::{Layer, Source};
use bakeoff_model::problem::suggest;
use bakeoff_model::study_file::Sink;
use std::ops::Range;
use toml::Spanned;
use toml::de::DeValue;

/// What the levels of a build factor can refer to.
pub(super) struct Buildable<'a> {
    pub(super) sources: &'a [Source],
    pub(super) layers: &'a [Layer],
}

/// The instruction's value for each layer that it is about.
pub(super) fn by_layer<'a>(
    sink: &Sink,
    value: &'a Spanned<DeValue<'a>>,
    word: &str,
    buildable: &Buildable<'_>,
) -> Vec<(String, &'a Spanned<DeValue<'a>>)> {
    let Some(table) = value.get_ref().as_table() else {
        return only_layer(sink, value.span(), word, buildable).map(|layer| (layer, value)).into_iter().collect();
    };
    let mut found = vec![];
    for (key, value) in table.iter() {
        let name = key.get_ref().as_ref();
        if buildable.layers.iter().any(|layer| layer.name == name) {
            found.push((name.to_owned(), value));
        } else {
            let known = buildable.layers.iter().map(|layer| layer.name.as_str());
            sink.report(key.span(), &format!("there is no layer `{name}`"), "", &suggest(name, known));
        }
    }
    found
}

fn only_layer(sink: &Sink, span: Range<usize>, word: &str, buildable: &Buildable<'_>) -> Option<String> {
    let with_source: Vec<&str> =
        buildable.layers.iter().filter(|layer| layer.source.is_some()).map(|layer| layer.name.as_str()).collect();
    match with_source[..] {
        [only] => return Some(only.to_owned()),
        [] => sink.report(span, &format!("`{word}` needs a layer with a source"), "", "add `source` to a [[build]]"),
        [first, ..] => {
            let message = format!("`{word}` must name one of the layers with a source: {}", with_source.join(", "));
            sink.report(span, &message, "", &format!("for example `{word} = {{ {first} = … }}`"));
        }
    }
    None
}
