//! Sentences of doubts about the builds that a comparison rests on.

use crate::words::listed;
use bakeoff_judge::findings::{Caveat, Flag, Lost, Other, Same, SettingChange};

/// Of more settings than this in one doubt, the rest is only counted.
const SETTINGS_NAMED: usize = 3;

/// A longer value is cut to this many characters.
const VALUE_CHARACTERS: usize = 60;

pub(super) fn sentence(caveat: &Caveat) -> Option<String> {
    Some(match caveat {
        Caveat::FlagNeverArrived(Flag { flag, variable, layer, of: 0 }) => {
            format!("{flag} of {variable} arrived nowhere: no call of a compiler was seen in layer {layer}")
        }
        Caveat::FlagNeverArrived(Flag { flag, variable, layer, of }) => format!(
            "{flag} of {variable} reached none of {of} compilations and links of layer {layer}: the level did not take \
             effect as declared"
        ),
        Caveat::FlagOverridden { flag: Flag { flag, variable, layer, of }, by } => {
            let by = by.as_deref().unwrap_or("another flag");
            format!(
                "{flag} of {variable} was overridden by {by} in each of the {of} compilations and links of layer {layer} \
                 that had it"
            )
        }
        Caveat::WordsLost(lost) => format!("{}: they may be different programs", lost_words(lost)),
        Caveat::Identical { same, as_what } => identical(*same, as_what),
        Caveat::AlsoChanges { factor, settings } => format!("{factor} also changes {}", changes(settings)),
        Caveat::Confounded { follows, together, settings } => confounded(follows, *together, settings),
        _ => return None,
    })
}

/// `O3 lacks -DX (34 source files), which own has`.
pub(crate) fn lost_words(lost: &Lost) -> String {
    let files = |number: u64| if number == 1 { "1 source file".to_owned() } else { format!("{number} source files") };
    let named = lost.words.iter().take(SETTINGS_NAMED);
    let mut words: Vec<String> = named.map(|lost| format!("{} ({})", lost.word, files(lost.files))).collect();
    if lost.words.len() > words.len() {
        words.push(format!("{} more", lost.words.len() - words.len()));
    }
    let (who, verb) = (listed(&lost.variants), if lost.variants.len() == 1 { "lacks" } else { "lack" });
    format!("{who} {verb} {}, which {} has", listed(&words), lost.against)
}

fn identical(same: Same, as_what: &Other) -> String {
    let how = match same {
        Same::Build => "one and the same build as",
        Same::Files => "built apart, but the same file for file as",
        Same::Binaries => "built apart, but in its programs and libraries the same as",
    };
    let so = match same {
        Same::Build | Same::Files => "a difference is noise",
        Same::Binaries => "a difference is noise, or comes of other files",
    };
    let as_what = match as_what {
        Other::Baseline => "the baseline".to_owned(),
        Other::Variant(name) => name.clone(),
        Other::Level { factor, level } => format!("with {factor}={level}"),
    };
    format!("{how} {as_what}: {so}")
}

fn confounded(follows: &[String], together: bool, settings: &[SettingChange]) -> String {
    let names = changes(settings);
    let (it, differs) = if settings.len() == 1 { ("it", "differs") } else { ("them", "differ") };
    match follows {
        [] => format!("{names}: {differs} between these builds, and no factor names {it}"),
        [one] => format!("confounded: {names}: follows {one}, which does not name {it}"),
        several => {
            let how = if together { "together, and none of them" } else { "of which none" };
            format!("confounded: {names}: follows {} {how} names {it}", several.join(" and "))
        }
    }
}

fn changes(settings: &[SettingChange]) -> String {
    let named: Vec<String> = settings.iter().take(SETTINGS_NAMED).map(change).collect();
    let more = settings.len() - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", named.join(", "))
}

/// `d_fork (undef → define)`.
fn change(SettingChange { setting, values }: &SettingChange) -> String {
    let short = |value: &Option<String>| match value {
        None => "absent".to_owned(),
        Some(value) if value.is_empty() => "present".to_owned(),
        Some(value) if value.chars().count() > VALUE_CHARACTERS => {
            value.chars().take(VALUE_CHARACTERS - 1).collect::<String>() + "…"
        }
        Some(value) => value.clone(),
    };
    match values.as_slice() {
        [one, other] => format!("{setting} ({} → {})", short(one), short(other)),
        several => format!("{setting} ({} values)", several.len()),
    }
}
