//! The instructions of a build factor's level that concern every call of a compiler: `append` and its like,
//! `rustflags`,
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
        let message = format!("`{key}` must be a string in quotes; it applies to all layers of the build");
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
                let message = "`profile` must be a command, in quotes, that runs the built program";
                let remedy = "for example `profile = '\"$PREFIX/bin/prog\" input'`; the command runs in the same \
                    folder as the script";
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
            let training = section.required_string("training", "add a command that runs the built program");
            let files = section.strings("files");
            section.finish();
            (training?.0, files)
        }
        other => (other.as_str().unwrap_or_default().to_owned(), vec![]),
    };
    if training.trim().is_empty() {
        let remedy = "for example `bolt = '\"$PREFIX/bin/prog\" input'`; the command runs in the folder with the \
            source and the `files` of the last [[build]]";
        sink.report(value.span(), "`bolt` must be a command, in quotes, that runs the built program", "", remedy);
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
            (format!("`compiler` must be a single program, not {text:?}"), "put the options into `append`")
        }
        _ if is_relative => (format!("{text:?} is neither a name nor an absolute path"), "begin the path with `/`"),
        _ if cxx_of(text).is_none() => (
            format!("{text:?} is not a C compiler with a known C++ counterpart"),
            "name a C compiler, such as gcc, gcc-12 or clang; Bakeoff then uses the C++ compiler that belongs to it \
             (g++, g++-12, clang++)",
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
            sink.report(span, &message, "", "remove the key; write `{}` for a level that appends nothing");
            return vec![];
        }
        Err(why) => {
            sink.report(
                span,
                &format!("cannot split `{key}` into words: {why}"),
                "",
                "close the quote, or remove the backslash",
            );
            return vec![];
        }
    };
    let mut is_value = false;
    let takes = if key == RUST { takes_rust_value } else { takes_value };
    for word in &words {
        let problem = match key {
            _ if word.contains('\n') => {
                Some((format!("a word of `{key}` contains a line break"), "write the value on one line".to_owned()))
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
        sink.report(span, &format!("`{last}` needs a value"), "", "add the value, or remove the option");
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
        let message = format!("`{word}` changes what the compiler produces, not how it compiles");
        return Some((message, format!("leave that to {who}; append options such as `{example}`")));
    }
    if key.starts_with("append_c") && ["-Wl,", "-l", "-L", "-fuse-ld="].iter().any(|start| word.starts_with(start)) {
        return Some((format!("`{word}` is an option for linking"), "use it in `append_link` or `append`".to_owned()));
    }
    if !word.starts_with('-') || word == "-" || word == "--" {
        let message = format!("{word:?} is not an option: the compiler would take it for a file");
        let is_name = word.starts_with(|c: char| c.is_ascii_alphabetic());
        let remedy = if is_name { format!("did you mean `{option}{word}`?") } else { "remove it".to_owned() };
        return Some((message, remedy));
    }
    None
}
