//! Doubts about builds in plain words: flags that did not come through, variants that are the same thing, and settings
//! that no factor names. Whether there is a doubt is decided elsewhere.

use crate::judged::kinds_of_doubts::{
    BuildDoubts, Confounded, CostDoubt, FlagDoubt, FlagFate, Identical, Lost, Same, SettingValue,
};
use crate::judged::sentences::{lost_words, none_of, reached_none, variants, were};
use bakeoff_report::draw::paint::{Ink, Page};
use bakeoff_report::draw::text::{clean, foreign};
use bakeoff_report::format::count;
use bakeoff_report::words::listed;

/// Of more settings that follow the same factor, the rest is only counted.
const SETTINGS_SHOWN: usize = 5;

/// No more of a setting's value is shown, in columns.
const VALUE_COLUMNS: usize = 60;

/// The doubts as a page of their own; empty if there is none. With `all`, every setting is shown.
pub(crate) fn build_doubts(doubts: &BuildDoubts, width: usize, all: bool) -> String {
    let mut page = Page::default();
    let more = if all { None } else { Some("`bakeoff build --verbose` shows them") };
    print(doubts, &mut page, width, more);
    if doubts.is_empty() { String::new() } else { page.print(false) }
}

/// All doubts, each a paragraph. `more` says who shows the settings that are left out; without it none is.
pub(super) fn print(doubts: &BuildDoubts, page: &mut Page, columns: usize, more: Option<&str>) {
    let mut say = |text: String, ink: Ink| page.paragraph(&text, columns, 2, ink);
    for doubt in &doubts.flags {
        say(flag(doubt), if doubt.fate == FlagFate::Partly { Ink::Plain } else { Ink::Worse });
    }
    doubts.lost.iter().for_each(|lost| say(clean(&lost_in_full(lost)), Ink::Worse));
    doubts.identical.iter().for_each(|group| say(identical(group), Ink::Worse));
    let way = |doubt: &Confounded| (doubt.follows.clone(), doubt.together, doubt.comes_with().is_some());
    let mut ways: Vec<(Vec<String>, bool, bool)> = vec![];
    for doubt in &doubts.confounded {
        if !ways.contains(&way(doubt)) {
            ways.push(way(doubt));
        }
    }
    // Settings that follow no factor are often a date, and less telling.
    ways.sort_by_key(|(follows, _, comes_with)| (*comes_with, follows.is_empty()));
    for of_these in ways {
        let settings: Vec<&Confounded> = doubts.confounded.iter().filter(|doubt| way(doubt) == of_these).collect();
        // To count a single one takes as much room as to show it.
        let is_long = more.is_some() && settings.len() > SETTINGS_SHOWN + 1;
        let shown = if is_long { SETTINGS_SHOWN } else { settings.len() };
        let (what, ink) = if of_these.2 { ("also changed", Ink::Plain) } else { ("confounded", Ink::Worse) };
        settings[..shown].iter().for_each(|doubt| say(format!("{what}: {}", confounded(doubt)), ink));
        if let Some(who) = more.filter(|_| shown < settings.len()) {
            let rest = settings.len() - shown;
            say(format!("{what}: {rest} more settings that {}; {who}", alike(&of_these.0)), ink);
        }
    }
    doubts.costs.iter().for_each(|doubt| say(cost(doubt), Ink::Plain));
}

fn lost_in_full(lost: &Lost) -> String {
    format!("lost: {}; `append` in a level adds flags but never removes any", lost_words(lost))
}

fn calls(number: u64) -> String {
    if number == 1 { "1 compilation or link".to_owned() } else { format!("{} compilations and links", count(number)) }
}

fn flag(doubt: &FlagDoubt) -> String {
    let FlagDoubt { reached, of, .. } = doubt;
    let [flag, variable, layer] = [&doubt.flag, &doubt.variable, &doubt.layer].map(|text| clean(text));
    let whose = format!("{flag} (from {variable}, for {})", variants(&doubt.variants));
    let not_seen = match doubt.unseen {
        0 => String::new(),
        unseen => {
            format!(
                "; for {unseen} of the compilations, Bakeoff saw only the object file, because the compiler bypassed \
                 the wrapper"
            )
        }
    };
    let what = match &doubt.fate {
        FlagFate::NeverArrived if *of == 0 => {
            format!("never arrived: {whose}; Bakeoff saw no compiler call in layer {layer}")
        }
        FlagFate::NeverArrived => {
            format!("never arrived: {whose} {} in layer {layer}", reached_none(*of))
        }
        FlagFate::Overridden { by } => {
            let by = by.as_ref().map_or_else(|| "another flag".to_owned(), |by| clean(by));
            format!(
                "overridden: {whose} reached {} of {} in layer {layer}, but {by} came after it each time",
                reached,
                calls(*of)
            )
        }
        FlagFate::LeftBefore { files } => format!(
            "not proven: {whose} took effect in {reached} of {} in layer {layer}; {} not compiled by this build, \
             because the source already contained {}",
            calls(*of),
            were(files),
            if files.len() == 1 { "it" } else { "them" }
        ),
        FlagFate::Partly => format!("partly: {whose} took effect in only {reached} of {} in layer {layer}", calls(*of)),
    };
    what + &not_seen
}

fn identical(group: &Identical) -> String {
    let who = variants(&group.variants);
    let words: Vec<String> = group.unproven.iter().map(|word| clean(word)).collect();
    let not_believed = match words.as_slice() {
        [] => String::new(),
        words => {
            format!("; {} did not take effect everywhere and could still make a difference", listed(words))
        }
    };
    let what = match group.same {
        Same::Build => format!(
            "identical: {who} share one build because no layer uses the levels in which they differ, so comparing \
                them shows only noise"
        ),
        Same::Files => format!(
            "identical: {who} were built separately but are the same program, file for file, so comparing them shows \
             only noise"
        ),
        Same::Binaries => format!(
            "identical: {who} were built separately, but everything loaded from their programs and libraries \
             is the same; only other files differ"
        ),
    };
    what + &not_believed
}

/// What settings that follow the same factors have in common.
fn alike(follows: &[String]) -> String {
    match follows {
        [] => "no factor explains".to_owned(),
        [one] => format!("change with {}", clean(one)),
        several => format!("change with {}", listed(&several.iter().map(|factor| clean(factor)).collect::<Vec<_>>())),
    }
}

fn confounded(doubt: &Confounded) -> String {
    let setting = clean(&doubt.setting);
    let besides = match doubt.named_by.as_slice() {
        [] => String::new(),
        names => format!(
            "; {} alone would not explain it",
            listed(&names.iter().map(|name| clean(name)).collect::<Vec<_>>())
        ),
    };
    if let Some(factor) = doubt.comes_with() {
        return format!("{setting}, by {} ({})", clean(factor), values(doubt));
    }
    match doubt.follows.as_slice() {
        [] => {
            let is_everywhere_other =
                doubt.values.len() > 2 && doubt.values.iter().all(|value| value.variants.len() == 1);
            let values = if is_everywhere_other {
                format!("{} different values", doubt.values.len())
            } else {
                by_variant(doubt)
            };
            format!("{setting} differs, and no factor explains it ({values}){besides}")
        }
        several if doubt.together => {
            let factors: Vec<String> = several.iter().map(|factor| clean(factor)).collect();
            let values = by_variant(doubt);
            format!(
                "{setting} changes with {} together, but {} of these factors mentions it ({values}){besides}",
                listed(&factors),
                none_of(factors.len())
            )
        }
        [one] => {
            format!(
                "{setting} changes with {}, but that factor does not mention it ({}){besides}",
                clean(one),
                values(doubt)
            )
        }
        several => {
            let factors: Vec<String> = several.iter().map(|factor| clean(factor)).collect();
            format!(
                "{setting} changes with {}, but {} of them mentions it ({}), so the builds cannot tell these factors \
                    apart{besides}",
                listed(&factors),
                none_of(factors.len()),
                values(doubt)
            )
        }
    }
}

/// `1 in baseline and malloc=perl, 2 in threads=on`.
fn by_variant(doubt: &Confounded) -> String {
    let of = |(value, text): (&SettingValue, &Option<String>)| {
        format!("{} in {}", shown(text.as_deref()), variants(&value.variants))
    };
    doubt.values.iter().zip(&doubt.telling()).map(of).collect::<Vec<_>>().join(", ")
}

/// `undef → define`; of more than two values with the levels: `off: 1, on: 2, fast: 3`.
fn values(doubt: &Confounded) -> String {
    let parts = doubt.telling();
    match parts.as_slice() {
        [one, other] => format!("{} → {}", shown(one.as_deref()), shown(other.as_deref())),
        several => {
            let levels =
                |value: &SettingValue| value.levels.iter().map(|level| clean(level)).collect::<Vec<_>>().join("/");
            let of = |(value, text): (&SettingValue, &Option<String>)| {
                format!("{}: {}", levels(value), shown(text.as_deref()))
            };
            doubt.values.iter().zip(several).map(of).collect::<Vec<_>>().join(", ")
        }
    }
}

fn shown(value: Option<&str>) -> String {
    match value {
        None => "absent".to_owned(),
        Some("") => "present".to_owned(),
        Some(value) => foreign(value, VALUE_COLUMNS),
    }
}

fn cost(doubt: &CostDoubt) -> String {
    format!(
        "cost of layer {} ({}): {} reused compiler output from one build to the next, so the times are not comparable",
        clean(&doubt.layer),
        variants(&doubt.variants),
        clean(&doubt.compiler_cache)
    )
}
