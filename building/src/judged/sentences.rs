//! Doubts about the builds that a comparison rests on, as sentences and with what the screen shows of them.

use super::described::sentence_on_link;
use super::kinds_of_doubts::{Confounded, FlagDoubt, FlagFate, Lost, Same};
use crate::journal::LinkSeen;
use bakeoff_judge::findings::{Alarm, Idle, Objection};
use bakeoff_model::plain::clean;
use bakeoff_report::format::count;
use bakeoff_report::name;
use bakeoff_report::words::{counted, listed, named};

/// Of more settings than this in one doubt, the rest is only counted.
const SETTINGS_NAMED: usize = 3;

/// A longer value is cut to this many characters.
const VALUE_CHARACTERS: usize = 60;

/// Of more variants, the rest is only counted.
const VARIANTS_SHOWN: usize = 4;

/// A doubt of which the screen shows nothing.
fn objection(kind: &str, text: String) -> Objection {
    Objection { kind: kind.to_owned(), text, line: None, same_program: false }
}

/// Of programs and libraries that have the layout of the build in all passes.
pub(super) fn kept_layouts(links: &[&LinkSeen]) -> Objection {
    let names: Vec<String> = links.iter().take(VARIANTS_SHOWN).map(|link| clean(&link.file)).collect();
    let more = links.len() - names.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let (them, why) = (if links.len() == 1 { "it" } else { "one of them" }, sentence_on_link(links[0]));
    let text = format!(
        "{}{more} kept one layout in all passes ({why}), so where the workload runs {them}, a difference may be layout",
        listed(&names)
    );
    objection("one-layout", text)
}

/// Of a flag; `None` if it came through in part.
pub(super) fn flag(doubt: &FlagDoubt) -> Option<Objection> {
    let FlagDoubt { flag, variable, layer, reached, of, fate, .. } = doubt;
    Some(match fate {
        FlagFate::NeverArrived if *of == 0 => objection(
            "flag-never-arrived",
            format!("{flag} of {variable} reached no compiler; Bakeoff saw no compiler call in layer {layer}"),
        ),
        FlagFate::NeverArrived => objection(
            "flag-never-arrived",
            format!("{flag} of {variable} {} in layer {layer}, so the level did not take effect", reached_none(*of)),
        ),
        FlagFate::Overridden { by } => {
            let by = by.as_deref().unwrap_or("another flag");
            let text = format!(
                "{flag} of {variable} was overridden by {by} in every compilation and link that it reached in layer \
                 {layer} ({reached} in all)"
            );
            objection("flag-overridden", text)
        }
        FlagFate::Partly | FlagFate::LeftBefore { .. } => return None,
    })
}

/// What the screen says of a flag before anything else; `None` if it came through in part.
pub(super) fn alarm(doubt: &FlagDoubt) -> Option<Alarm> {
    let flag = clean(&doubt.flag);
    let whose = match doubt.variants.as_slice() {
        [] => String::new(),
        [one] => format!(" of {}", name(one)),
        [one, others @ ..] => format!(" of {} and {}", name(one), counted(others.len() as u32, "other")),
    };
    let (kind, text, short) = match &doubt.fate {
        FlagFate::NeverArrived => (
            "flag-never-arrived",
            format!("{flag} {}{whose}", reached_none(doubt.of)),
            format!("{flag} reached nothing"),
        ),
        FlagFate::Overridden { by } => {
            let by = by.as_deref().map_or_else(|| "another flag".to_owned(), clean);
            let text = format!("{flag}{whose} was overridden by {by} wherever it arrived");
            ("flag-overridden", text, format!("{flag} was overridden"))
        }
        FlagFate::LeftBefore { files } => (
            "flag-unproven",
            format!("{flag}{whose} may lack effect, because {} not compiled by the build", were(files)),
            format!("{flag} is not proven"),
        ),
        FlagFate::Partly => return None,
    };
    let has_no_effect = matches!(doubt.fate, FlagFate::NeverArrived | FlagFate::Overridden { .. });
    let idle = has_no_effect.then(|| Idle { word: doubt.flag.clone(), variants: doubt.variants.clone() });
    Some(Alarm { kind: kind.to_owned(), text, short, idle })
}

/// Of words that a level took away.
pub(super) fn lost(lost: &Lost) -> Objection {
    objection("words-lost", format!("{}, so the variants may be different programs", lost_words(lost)))
}

/// What the screen says of them before anything else.
pub(super) fn lost_alarm(lost: &Lost) -> Alarm {
    let text = clean(&lost_words(lost));
    Alarm { kind: "words-lost".to_owned(), text, short: "flags were lost".to_owned(), idle: None }
}

/// `O3 lacks -DX (34 source files), which own has`.
pub(super) fn lost_words(lost: &Lost) -> String {
    let files = |number: u64| if number == 1 { "1 source file".to_owned() } else { format!("{number} source files") };
    let named = lost.words.iter().take(SETTINGS_NAMED);
    let mut words: Vec<String> = named.map(|lost| format!("{} ({})", lost.word, files(lost.files))).collect();
    if lost.words.len() > words.len() {
        words.push(format!("{} more", lost.words.len() - words.len()));
    }
    let (who, verb) = (listed(&lost.variants), if lost.variants.len() == 1 { "lacks" } else { "lack" });
    format!("{who} {verb} {}, unlike {}", listed(&words), lost.against)
}

/// Of variants that are the same thing.
pub(super) fn identical(same: Same, as_what: &str) -> Objection {
    let (kind, how, so) = match same {
        Same::Build => ("identical-build", "the same build as", "any difference is noise"),
        Same::Files => {
            ("identical-build", "built separately, but file for file identical to", "any difference is noise")
        }
        Same::Binaries => (
            "identical-binaries",
            "built separately, but with the same programs and libraries as",
            "any difference is noise or comes from other files",
        ),
    };
    Objection { same_program: same != Same::Binaries, ..objection(kind, format!("{how} {as_what}, so {so}")) }
}

/// Of variants that are the same, file for file, and were judged different.
pub(super) fn identical_differs(differ: usize, of: usize) -> Objection {
    let of = counted(of as u32, "comparison");
    let text = format!(
        "variants that are identical, file for file, were judged different in {differ} of {of}, so differences of \
         that size are noise on this machine"
    );
    let line = format!("the same program was judged different from itself in {differ} of {of}");
    Objection { line: Some(line), ..objection("identical-differs", text) }
}

/// Of variants that could not be built.
pub(super) fn failed(variants: &[String]) -> Objection {
    let line = format!("not built: {}", named(variants.iter().map(|name| clean(name)).collect()));
    let text = format!("not compared, because they could not be built: {}", variants.join(", "));
    Objection { line: Some(line), ..objection("failed-builds", text) }
}

/// Of settings that follow the same factors.
pub(super) fn confounded(follows: &[String], together: bool, settings: &[&Confounded]) -> Objection {
    let changes = changes(settings);
    if let Some(factor) = settings.first().and_then(|doubt| doubt.comes_with()) {
        return objection("also-changes", format!("{factor} also changes {changes}"));
    }
    let (it, differs) = if settings.len() == 1 { ("it", "differs") } else { ("them", "differ") };
    let text = match follows {
        [] => format!("{changes} {differs} between these builds, and no factor mentions {it}"),
        [one] => format!("confounded: {changes} changed with {one}, which does not mention {it}"),
        several => {
            let how = if together { " together" } else { "" };
            let none = none_of(several.len());
            format!(
                "confounded: {changes} changed with {}{how}, and {none} of them mentions {it}",
                several.join(" and ")
            )
        }
    };
    let names = settings.iter().map(|doubt| clean(&doubt.setting)).collect();
    let line = format!("builds also differ in {}, which no factor mentions", named(names));
    Objection { line: Some(line), ..objection("confounded", text) }
}

fn changes(settings: &[&Confounded]) -> String {
    let named: Vec<String> = settings.iter().take(SETTINGS_NAMED).map(|doubt| change(doubt)).collect();
    let more = settings.len() - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", named.join(", "))
}

/// `d_fork (undef → define)`.
fn change(doubt: &Confounded) -> String {
    let short = |value: &Option<String>| match value {
        None => "absent".to_owned(),
        Some(value) if value.is_empty() => "present".to_owned(),
        Some(value) if value.chars().count() > VALUE_CHARACTERS => {
            value.chars().take(VALUE_CHARACTERS - 1).collect::<String>() + "…"
        }
        Some(value) => value.clone(),
    };
    let setting = &doubt.setting;
    match doubt.telling().as_slice() {
        [one, other] => format!("{setting} ({} → {})", short(one), short(other)),
        several => format!("{setting} ({} values)", several.len()),
    }
}

/// The word for not one of several: `neither` of two.
pub(super) fn none_of(number: usize) -> &'static str {
    if number == 2 { "neither" } else { "none" }
}

/// That a flag reached none of these compilations and links, in words that follow its name.
pub(super) fn reached_none(of: u64) -> String {
    match of {
        1 => "did not reach the only compilation or link".to_owned(),
        of => format!("reached none of the {} compilations and links", count(of)),
    }
}

/// Some variants by their names.
pub(super) fn variants(names: &[String]) -> String {
    let shown = names.len().min(VARIANTS_SHOWN);
    let shown = if names.len() == VARIANTS_SHOWN + 1 { names.len() } else { shown };
    let mut list: Vec<String> = names[..shown].iter().map(|name| clean(name)).collect();
    if shown < names.len() {
        list.push(format!("{} more", names.len() - shown));
    }
    listed(&list)
}

/// Some files, the first of them by name, in words that end in a verb.
pub(super) fn were(files: &[String]) -> String {
    let verb = if files.len() == 1 { "was" } else { "were" };
    format!("{} {verb}", variants(files))
}
