//! The instructions of a build factor's level that concern every call of a compiler: `append` and its like, `rustflags`,
//! `compiler`, and `profile`; and `bolt`, which concerns what was linked. What a compiler makes of a word is not known here, but some words would change what the build is.

use super::buildable::{Buildable, by_layer};
use crate::bolt::Bolt;
use crate::tuning::{Tuning, cxx_of, split};
use crate::wrapper::{takes_rust_value, takes_value};
use bakeoff_model::study_file::{Section, Sink, Title, check_below_prefix};
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;
use toml::de::DeValue;

/// The key for rustc, whose options are others.
const RUST: &str = "rustflags";

/// Reads one of these into the level's tuning.
pub(super) fn read(
    sink: &Sink,
    key: &str,
    value: &Spanned<DeValue<'_>>,
    buildable: &Buildable<'_>,
    tuning: &mut Tuning,
) {
    if key == "profile" {
        tuning.training = training(sink, value, buildable);
        return;
    }
    if key == "bolt" {
        tuning.bolt = rewriting(sink, value);
        return;
    }
    let Some(text) = value.get_ref().as_str() else {
        let message = format!("`{key}` is text in quotes, and concerns all layers of the build");
        let example = match key {
            "compiler" => "compiler = \"clang\"",
            RUST => "rustflags = \"-C target-cpu=native\"",
            _ => "append = \"-O3 -flto=auto\"",
        };
        return sink.report(value.span(), &message, "", &format!("for example `{example}`"));
    };
    if key == "compiler" {
        tuning.compiler = compiler(sink, text, value.span());
        return;
    }
    let words = words(sink, key, text, value.span());
    match key {
        "append" => tuning.all = words,
        "append_c" => tuning.c = words,
        "append_cxx" => tuning.cxx = words,
        RUST => tuning.rust = words,
        _ => tuning.link = words,
    }
}

/// `profile = "COMMAND"`, or `profile = { perl = "COMMAND" }` where several layers could be meant.
fn training(sink: &Sink, value: &Spanned<DeValue<'_>>, buildable: &Buildable<'_>) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let of_layers = match buildable.layers {
        // It need not have a source.
        [only] if !value.get_ref().is_table() => vec![(only.name.clone(), value)],
        _ => by_layer(sink, value, "profile", buildable),
    };
    for (layer, value) in of_layers {
        match value.get_ref().as_str().filter(|command| !command.trim().is_empty()) {
            Some(command) => drop(all.insert(layer, command.to_owned())),
            None => {
                let message = "`profile` is a command in quotes that executes what was built";
                let remedy = "for example `profile = '\"$PREFIX/bin/prog\" input'`; it starts where the script does";
                sink.report(value.span(), message, "", remedy);
            }
        }
    }
    all
}

/// `bolt = "COMMAND"`, or `bolt = { training = "COMMAND", files = ["bin/prog"] }`.
fn rewriting(sink: &Sink, value: &Spanned<DeValue<'_>>) -> Option<Bolt> {
    let (training, files) = match value.get_ref() {
        DeValue::Table(table) => {
            let section = Section::new(Title::Key("bolt"), table, value.span(), sink);
            let training = section.required_string("training", "a command that executes what was built");
            let files = section.strings("files");
            section.finish();
            (training?.0, files)
        }
        other => (other.as_str().unwrap_or_default().to_owned(), vec![]),
    };
    if training.trim().is_empty() {
        let remedy = "for example `bolt = '\"$PREFIX/bin/prog\" input'`; it starts beside the source and the `files` of the last [[build]]";
        sink.report(value.span(), "`bolt` is a command in quotes that executes what was built", "", remedy);
        return None;
    }
    files.iter().for_each(|(file, span)| check_below_prefix(sink, file, span.clone()));
    Some(Bolt { training, files: files.into_iter().map(|(file, _)| file).collect() })
}

/// `compiler = "clang-14"`: the name or path of a C compiler whose C++ compiler is known.
fn compiler(sink: &Sink, text: &str, span: Range<usize>) -> Option<String> {
    let is_relative = text.contains('/') && !text.starts_with('/');
    let (message, remedy) = match text {
        _ if text.split_whitespace().count() > 1 => {
            (format!("{text:?} is more than a compiler"), "put its options into `append`")
        }
        _ if is_relative => (format!("{text:?} is neither a name nor a whole path"), "begin the path with `/`"),
        _ if cxx_of(text).is_none() => (
            format!("{text:?} is no C compiler whose C++ compiler is known"),
            "name a C compiler, such as gcc, gcc-12 or clang; its C++ compiler (g++, g++-12, clang++) comes with it",
        ),
        _ => return Some(text.to_owned()),
    };
    sink.report(span, &message, "", remedy);
    None
}

fn words(sink: &Sink, key: &str, text: &str, span: Range<usize>) -> Vec<String> {
    let words = match split(text) {
        Ok(words) if !words.is_empty() => words,
        Ok(_) => {
            let message = format!("`{key}` appends nothing");
            sink.report(span, &message, "", "leave the key out: `{}` is a level that appends nothing");
            return vec![];
        }
        Err(why) => {
            sink.report(span, &format!("`{key}` cannot be cut into words: {why}"), "", "close it, or leave it out");
            return vec![];
        }
    };
    let mut is_value = false;
    let takes = if key == RUST { takes_rust_value } else { takes_value };
    for word in &words {
        let problem = match key {
            _ if word.contains('\n') => {
                Some((format!("a word of `{key}` contains a line break"), "write it on one line".to_owned()))
            }
            _ if is_value => None,
            _ => problem_of(key, word),
        };
        is_value = !is_value && takes(word.as_bytes());
        if let Some((message, remedy)) = problem {
            sink.report(span.clone(), &message, "", &remedy);
            return vec![];
        }
    }
    if is_value {
        let last = words.last().map(String::as_str).unwrap_or_default();
        sink.report(span, &format!("`{last}` lacks its value"), "", "add the value, or leave the option out");
    }
    words
}

/// What is wrong with a word that is no option's value: the message and the remedy.
fn problem_of(key: &str, word: &str) -> Option<(String, String)> {
    const OF_BUILD: [&str; 8] = ["-c", "-S", "-E", "-M", "-MM", "-o", "-x", "-fsyntax-only"];
    const OF_CARGO: [&str; 20] = [
        "--crate-name",
        "--crate-type",
        "--edition",
        "--emit",
        "--out-dir",
        "-o",
        "--target",
        "--test",
        "--print",
        "--explain",
        "--error-format",
        "--json",
        "--color",
        "--sysroot",
        "--cap-lints",
        "-V",
        "-vV",
        "--version",
        "-h",
        "--help",
    ];
    let (of_build, who, example, option) = match key {
        RUST => (&OF_CARGO[..], "cargo", "-C opt-level=3", "-C "),
        _ => (&OF_BUILD[..], "the project's build", "-O3", "-"),
    };
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    if of_build.contains(&name) || name.starts_with("-o") {
        let message = format!("`{word}` would change what every call makes, not how");
        return Some((message, format!("that is for {who} to say; append options such as `{example}`")));
    }
    if key.starts_with("append_c") && ["-Wl,", "-l", "-L", "-fuse-ld="].iter().any(|start| word.starts_with(start)) {
        return Some((format!("`{word}` is for linking"), "put it into `append_link`, or into `append`".to_owned()));
    }
    if !word.starts_with('-') || word == "-" || word == "--" {
        let message = format!("{word:?} is no option: every call would take it for a file");
        let is_name = word.starts_with(|c: char| c.is_ascii_alphabetic());
        let remedy = if is_name { format!("did you mean `{option}{word}`?") } else { "leave it out".to_owned() };
        return Some((message, remedy));
    }
    None
}
