//! Words that levels have appended, or took away: when a level is believed to be what it is called.

use super::judged::{caveats_of, crossed, judged};
use super::records::BuiltRecord;
use crate::journal::{FlagSeen, LayerLine};
use crate::judged::doubts as doubts_about_builds;
use crate::judged::kinds_of_doubts::{FlagFate, Lost};
use std::collections::BTreeSet;

/// A cache that answers in the compiler's place hides compilations from Bakeoff, and keeps the words away from them.
#[test]
fn a_level_that_appends_to_fewer_compilations_than_another_has_is_not_believed() {
    let doubts = |seen: [Option<u64>; 2], reached: u64| {
        let mut record = crossed(&[("opt", &[("own", ""), ("O3", "-O3")])]);
        let line = |text: &str| [("append".to_owned(), text.to_owned())].into();
        record.study.build_factors[0].levels = [("own".to_owned(), [].into()), ("O3".to_owned(), line("-O3"))].into();
        for (build, compilations) in record.builds.iter_mut().zip(seen) {
            build.layers = vec![LayerLine { name: "p".to_owned(), compilations, ..LayerLine::default() }];
        }
        let (layer, variable, flag) = ("p".to_owned(), "append".to_owned(), "-O3".to_owned());
        let of = seen[1].unwrap_or(0);
        record.builds[1].proof.flags = vec![FlagSeen { layer, variable, flag, reached, of, ..FlagSeen::default() }];
        let found = doubts_about_builds(&record.study, &record.builds).flags;
        found.into_iter().map(|doubt| (doubt.fate, doubt.factor.unwrap(), doubt.reached, doubt.of)).collect::<Vec<_>>()
    };
    let opt = || "opt".to_owned();
    assert_eq!(doubts([Some(103), Some(103)], 103), []);
    assert_eq!(doubts([Some(103), Some(0)], 0), [(FlagFate::NeverArrived, opt(), 0, 103)]);
    assert_eq!(doubts([Some(103), Some(90)], 90), [(FlagFate::Partly, opt(), 90, 103)]);
    // A compiler that is called by its path: nothing was appended anywhere.
    assert_eq!(doubts([Some(0), Some(0)], 0), [(FlagFate::NeverArrived, opt(), 0, 0)]);
}

/// The record of two levels, `own` and `O3`, that say this and whose builds gave `a.c` and `b.c` these words. Of `CFLAGS` they
/// name the flags, as builds do.
fn with_words(key: &str, levels: [&str; 2], words: [&str; 2]) -> BuiltRecord {
    let mut record = crossed(&[("opt", &[("own", ""), ("O3", "-O3")])]);
    let line = |text: &str| match text {
        "" => [].into(),
        text => [(key.to_owned(), text.to_owned())].into(),
    };
    let [own, other] = levels.map(line);
    record.study.build_factors[0].levels = [("own".to_owned(), own), ("O3".to_owned(), other)].into();
    for (build, words) in record.builds.iter_mut().zip(words) {
        let words: BTreeSet<String> = words.split_whitespace().map(str::to_owned).collect();
        build.proof.words = ["a.c", "b.c"].map(|file| (file.to_owned(), words.clone())).into();
    }
    let flags = levels.map(|text| text.split_whitespace().filter(|_| key == "CFLAGS").map(str::to_owned));
    for (build, flags) in record.builds.iter_mut().zip(flags) {
        let (layer, variable) = ("p".to_owned(), key.to_owned());
        let seen = FlagSeen { layer, variable, reached: 1, of: 1, ..FlagSeen::default() };
        build.proof.flags = flags.map(|flag| FlagSeen { flag, ..seen.clone() }).collect();
    }
    record
}

#[test]
fn words_that_a_level_took_away_are_a_doubt() {
    let lost = |key: &str, levels: [&str; 2], words: [&str; 2]| {
        let record = with_words(key, levels, words);
        let found = doubts_about_builds(&record.study, &record.builds).lost.into_iter();
        let of = |lost: Lost| {
            let words = lost.words.iter().map(|lost| format!("{} {}", lost.word, lost.files)).collect::<Vec<_>>();
            (lost.variants.join(" "), lost.against, words.join(", "))
        };
        found.map(of).collect::<Vec<_>>()
    };
    let of =
        |variant: &str, against: &str, words: &str| vec![(variant.to_owned(), against.to_owned(), words.to_owned())];
    let (own, o3) = ("baseline", "opt=O3");
    // What the level itself says is no loss of the others, and what the plain one lacks is none either.
    assert_eq!(lost("CFLAGS", ["", "-O3 -DX"], ["-DLUA -std=c99", "-DX -fnew"]), of(o3, own, "-DLUA 2, -std=c99 2"));
    assert_eq!(lost("append", ["", "-O3"], ["", ""]), []);
    // Without a plain level each is compared with the other.
    assert_eq!(lost("CFLAGS", ["-O2", "-O3"], ["", "-DY"]), of(own, o3, "-DY 2"));
    // Levels of other things may change what they like.
    assert_eq!(lost("THREADS", ["", "--enable-threads"], ["-DLUA", ""]), []);

    let findings = judged(with_words("CFLAGS", ["", "-O3"], ["-DLUA", ""]), |_| 1.0);
    assert!(caveats_of(&findings, o3).contains(&"words-lost".to_owned()), "{:?}", caveats_of(&findings, o3));
}

#[test]
fn the_same_program_is_believed_only_if_its_words_won() {
    let unproven = |reached: u64, unseen: u64| {
        let mut record = with_words("append", ["", "-O3"], ["", ""]);
        for build in &mut record.builds {
            build.proof.files = Some("f".to_owned());
            build.layers = vec![LayerLine { name: "p".to_owned(), compilations: Some(3), ..LayerLine::default() }];
        }
        let (layer, variable, flag) = ("p".to_owned(), "append".to_owned(), "-O3".to_owned());
        let seen = FlagSeen { layer, variable, flag, reached, of: 3, ..FlagSeen::default() };
        record.builds[1].proof.flags = vec![seen];
        if unseen > 0 {
            record.builds[1].proof.unseen = [("p".to_owned(), unseen)].into();
        }
        let doubts = doubts_about_builds(&record.study, &record.builds);
        let flags = doubts.flags.iter().map(|doubt| (doubt.reached, doubt.of, doubt.unseen)).collect::<Vec<_>>();
        (doubts.identical.into_iter().map(|group| group.unproven.join(" ")).collect::<Vec<_>>(), flags)
    };
    assert_eq!(unproven(3, 0), (vec![String::new()], vec![]));
    assert_eq!(unproven(2, 0), (vec!["-O3".to_owned()], vec![(2, 3, 0)]));
    // Objects of which no call was seen.
    assert_eq!(unproven(3, 4), (vec!["-O3".to_owned()], vec![(3, 7, 4)]));
}

/// Words for rustc have a number of their own, which another level's is held against.
#[test]
fn crates_that_rustflags_did_not_reach_are_a_doubt() {
    let mut record = with_words("rustflags", ["-O", "-C opt-level=1"], ["", ""]);
    for (build, (flag, of)) in record.builds.iter_mut().zip([("-C opt-level=3", 46), ("-C opt-level=1", 0)]) {
        build.layers = vec![LayerLine { name: "p".to_owned(), compilations: Some(1), ..LayerLine::default() }];
        let (layer, variable, flag) = ("p".to_owned(), "rustflags".to_owned(), flag.to_owned());
        build.proof.flags = vec![FlagSeen { layer, variable, flag, reached: of, of, ..FlagSeen::default() }];
    }
    let found = doubts_about_builds(&record.study, &record.builds).flags;
    let found: Vec<_> = found.iter().map(|doubt| (&*doubt.flag, &doubt.fate, doubt.of)).collect();
    assert_eq!(found, [("-C opt-level=1", &FlagFate::NeverArrived, 46)]);
}

/// A program that the training does not run has no profile, and that is no doubt; a cache in the compiler's place is one.
#[test]
fn a_profile_that_few_compilations_used_is_doubted() {
    let doubts = |own: u64, reached: u64, of: u64| {
        let mut record = crossed(&[("opt", &[("own", ""), ("pgo", "x")])]);
        let line = |text: &str| [("profile".to_owned(), text.to_owned())].into();
        record.study.build_factors[0].levels = [("own".to_owned(), [].into()), ("pgo".to_owned(), line("x"))].into();
        for (build, compilations) in record.builds.iter_mut().zip([own, of]) {
            let compilations = Some(compilations);
            build.layers = vec![LayerLine { name: "p".to_owned(), compilations, ..LayerLine::default() }];
        }
        let (layer, variable, flag) = ("p".to_owned(), "profile".to_owned(), "-fprofile-use".to_owned());
        record.builds[1].proof.flags = vec![FlagSeen { layer, variable, flag, reached, of, ..FlagSeen::default() }];
        let found = doubts_about_builds(&record.study, &record.builds).flags;
        found.into_iter().map(|doubt| (doubt.fate, doubt.factor.unwrap(), doubt.reached, doubt.of)).collect::<Vec<_>>()
    };
    assert_eq!(doubts(32, 31, 32), []);
    assert_eq!(doubts(32, 3, 32), [(FlagFate::Partly, "opt".to_owned(), 3, 32)]);
    assert_eq!(doubts(32, 3, 3), [(FlagFate::Partly, "opt".to_owned(), 3, 32)]);
}

/// What was compiled before is no proof, whether a level says words or a compiler; words that came nowhere came nowhere.
#[test]
fn a_level_whose_program_has_parts_of_before_is_not_proven() {
    let fates = |key: &str, text: &str, seen: Option<(u64, u64)>| {
        let mut record = with_words(key, ["", text], ["", ""]);
        let build = &mut record.builds[1];
        build.layers = vec![LayerLine { name: "p".to_owned(), compilations: Some(3), ..LayerLine::default() }];
        build.proof.left_before = [("p".to_owned(), ["a.o".to_owned()].into())].into();
        let seen = seen.map(|(reached, of)| {
            let (layer, variable, flag) = ("p".to_owned(), key.to_owned(), text.to_owned());
            FlagSeen { layer, variable, flag, reached, of, ..FlagSeen::default() }
        });
        build.proof.flags = seen.into_iter().collect();
        let found = doubts_about_builds(&record.study, &record.builds).flags;
        found.into_iter().map(|doubt| (doubt.flag, doubt.fate, doubt.reached, doubt.of)).collect::<Vec<_>>()
    };
    let before = || FlagFate::LeftBefore { files: vec!["a.o".to_owned()] };
    assert_eq!(fates("append", "-O3", Some((3, 3))), [("-O3".to_owned(), before(), 3, 3)]);
    assert_eq!(fates("CFLAGS", "-O3", Some((3, 3))), [("-O3".to_owned(), before(), 3, 3)]);
    assert_eq!(fates("compiler", "clang", None), [("clang".to_owned(), before(), 3, 3)]);
    assert_eq!(fates("append", "-O3", Some((0, 3))), [("-O3".to_owned(), FlagFate::NeverArrived, 0, 3)]);
    assert_eq!(fates("rustflags", "-O", Some((3, 3))), []);
}
