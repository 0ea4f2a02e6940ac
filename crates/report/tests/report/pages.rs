//! Whole pages, compared with the files in `snapshots/`, and what holds for every page. `BAKEOFF_UPDATE=1` writes the
//! files anew; look at them before you commit them.

use bakeoff_judge::findings::{BusySeen, Caveat, Comparison, Findings, OtherOutput, Outputs, Verdict};
use bakeoff_model::metric::Direction;
use bakeoff_model::record::OutputDifference;
use bakeoff_model::study::OutputUse;
use bakeoff_report::{Context, Style, brief, caveats, json, screen, terminal};
use bakeoff_testkit::letters;
use serde_json::Value;
use serde_json::json as data;
use std::path::PathBuf;

fn page(findings: &Findings, width: usize) -> String {
    terminal(findings, Style { width, colour: false })
}

fn on_screen(findings: &Findings, width: usize) -> String {
    screen(findings, Context { more: "bakeoff report STUDY", ..Context::default() }, Style { width, colour: false })
}

fn answer(findings: &Findings) -> String {
    letters(&brief(findings, Context::default()).answer)
}

/// Compares a page with its file, or writes the file.
#[expect(clippy::disallowed_methods, reason = "the tests of this pure crate read and write the expected pages")]
fn check(name: &str, page: &str) -> Result<(), String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    if std::env::var("BAKEOFF_UPDATE").is_ok_and(|value| value == "1") {
        return std::fs::write(&path, page).map_err(|why| format!("{name}: {why}"));
    }
    let expect = std::fs::read_to_string(&path).map_err(|why| format!("{name}: {why}; BAKEOFF_UPDATE=1 writes it"))?;
    if page == expect { Ok(()) } else { Err(format!("{name} differs\n--- expected\n{expect}\n--- printed\n{page}")) }
}

#[test]
fn pages_are_as_expected() {
    let mut differences = vec![];
    for (name, findings) in bakeoff_testkit::findings::all() {
        for width in [80, 120] {
            differences.extend(check(&format!("{name}-{width}.txt"), &page(&findings, width)).err());
            differences.extend(check(&format!("{name}-screen-{width}.txt"), &on_screen(&findings, width)).err());
        }
        differences.extend(check(&format!("{name}-answer.txt"), &(answer(&findings) + "\n")).err());
    }
    differences.extend(check("pair.json", &json(&bakeoff_testkit::findings::pair(), None).unwrap()).err());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

fn compared(findings: &mut Findings) -> impl Iterator<Item = &mut Comparison> {
    findings.tables.iter_mut().flat_map(|table| &mut table.rows).filter_map(|row| row.comparison.as_mut())
}

/// The other interval of what lies within the margin is nowhere on the page, nor in its pictures.
#[test]
fn only_the_interval_that_the_verdict_rests_on_is_shown() {
    let findings = bakeoff_testkit::findings::five_verdicts();
    let mut other = findings.clone();
    compared(&mut other)
        .filter(|c| c.is_within())
        .for_each(|c| bakeoff_testkit::findings::tested(c).interval = Some([0.2, 5.0]));
    assert_ne!(findings, other);
    assert_eq!(page(&findings, 120), page(&other, 120));
}

#[test]
fn a_negligible_interaction_is_shown_in_the_table() {
    let mut findings = bakeoff_testkit::findings::factorial();
    let told = |findings: &Findings| {
        let page = page(findings, 120);
        page.split("combined effect of two options")
            .nth(1)
            .unwrap_or_default()
            .split("\n\n")
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let has = |findings: &Findings, name: &str, word: &str| {
        told(findings).lines().any(|line| line.starts_with(name) && line.contains(word))
    };
    assert!(has(&findings, "malloc=perl × threads=on", "more"), "{}", told(&findings));
    assert!(!has(&findings, "malloc=perl × optimize=O", ""), "{}", told(&findings));
    findings.effects[1].effects[1].comparison.as_mut().unwrap().verdict = Verdict::Negligible;
    assert!(has(&findings, "malloc=perl × optimize=O", "negligible"), "{}", told(&findings));
    findings.effects[1].effects[0].comparison.as_mut().unwrap().verdict = Verdict::Equivalent;
    assert!(!has(&findings, "malloc=perl × threads=on", ""), "{}", told(&findings));
    assert!(told(&findings).contains("shown to be within ±1 %: malloc=perl × threads=on"), "{}", told(&findings));
}

/// The variants of the rows below a heading.
fn order<'a>(page: &'a str, heading: &str, names: &[&'a str]) -> Vec<&'a str> {
    let table = page.split(heading).nth(1).unwrap_or_default().split("\n\n").next().unwrap_or_default();
    let first = |line: &'a str| names.iter().copied().find(|name| line.trim_start().split("  ").next() == Some(*name));
    table.lines().filter_map(first).collect()
}

#[test]
fn rows_stand_in_the_order_of_the_deciding_metric() {
    let mut findings = bakeoff_testkit::findings::five_verdicts();
    let mut memory = findings.tables[0].clone();
    memory.metric = "maxrss".to_owned();
    memory.rows[1].comparison.as_mut().unwrap().estimate = 3.0;
    findings.tables[0].rows[3].comparison = None;
    findings.tables.push(memory);
    let names = ["baseline", "malloc=perl", "optimize=O", "libperl=symbolic", "threads=on", "libperl=shared"];
    let shown = |findings: &Findings, heading: &str| {
        order(&page(findings, 200), heading, &names).iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(shown(&findings, "loop (idle): wall"), names);
    assert_eq!(shown(&findings, "also measured"), names[1..]);
    // Of a yield the most is the best.
    findings.tables[0].better = Direction::More;
    assert_eq!(
        shown(&findings, "also measured"),
        ["threads=on", "libperl=symbolic", "optimize=O", "malloc=perl", "libperl=shared"]
    );
    assert!(json(&findings, None).unwrap().find("libperl=shared") < json(&findings, None).unwrap().find("optimize=O"));
}

/// `docs/understanding/report.md` shows pieces of these pages.
#[test]
#[expect(clippy::disallowed_methods, reason = "the test reads a document")]
fn the_document_shows_what_is_printed() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/understanding/report.md");
    let document = std::fs::read_to_string(path).unwrap();
    let shown = [
        bakeoff_testkit::findings::conditions(),
        bakeoff_testkit::findings::factorial(),
        other_output(OutputUse::Compared),
    ];
    let mut pages: Vec<String> =
        shown.iter().flat_map(|findings| [80, 120].map(|width| page(findings, width))).collect();
    pages.extend(bakeoff_testkit::findings::all().iter().map(|(_, findings)| on_screen(findings, 80)));
    let pieces: Vec<&str> =
        document.split("```text\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect();
    assert!(pieces.len() > 4, "the document has {} pieces", pieces.len());
    for piece in pieces {
        assert!(pages.iter().any(|page| page.contains(piece)), "this is not printed:\n{piece}");
    }
}

/// The text without its "select graphic rendition" sequences.
fn strip(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| plain + part.split_once('m').map_or("", |(_, rest)| rest))
}

#[test]
fn colour_adds_nothing_but_escape_codes() {
    for (name, findings) in bakeoff_testkit::findings::all() {
        for width in [80, 100, 120] {
            let coloured = terminal(&findings, Style { width, colour: true });
            let plain = page(&findings, width);
            assert!(coloured.contains("\u{1b}["), "{name}: no colour");
            assert!(!plain.contains('\u{1b}'), "{name}: an escape code without colour");
            assert_eq!(strip(&coloured), plain, "{name} at {width}");
        }
    }
}

/// Where no shorter warning makes room, names are cut, but the losers stay.
#[test]
fn warnings_give_way_before_names_do() {
    let answer = |columns| {
        let screen = on_screen(&bakeoff_testkit::findings::doubtful(), columns);
        screen.lines().last().unwrap().to_owned()
    };
    let whole = answer(120);
    assert!(
        whole.starts_with("-O3 reached nothing; ") && whole.contains("optimize=O3 threads=on is 20.4 % slower"),
        "{whole}"
    );
    let cut = answer(80);
    assert!(cut.starts_with("-O3 reached nothing; ") && cut.ends_with("…=on is 20.4 % slower"), "{cut}");
}

/// What makes a comparison meaningless stands in the first three lines, and the answer begins with it.
#[test]
fn what_makes_a_comparison_meaningless_is_the_answer() {
    let check = |findings: &Findings, above: &str, answer: &str| {
        let screen = on_screen(findings, 80);
        let lines: Vec<&str> = screen.lines().collect();
        assert!(lines[..3].iter().any(|line| line.contains(above)), "{screen}");
        assert!(lines[lines.len() - 1].contains(answer), "{screen}");
    };
    check(
        &other_output(OutputUse::Compared),
        "prints different output on loop, first in line 2",
        "prints different output; no verdict",
    );
    check(&other_output(OutputUse::Noted), "check that it does the same work", "faster");
    check(&bakeoff_testkit::findings::doubtful(), "is the same program as the baseline", "-O3 reached nothing; ");
    let mut busy = bakeoff_testkit::findings::five_verdicts();
    let seen = |disturbed| BusySeen { variant: None, condition: "idle".to_owned(), disturbed, of: 72, all: 72 };
    busy.caveats = vec![Caveat::BusyMachine { seen: vec![seen(40)], from: 0.1 }];
    check(&busy, "other programs used more than 10 % of processor time in 40 of 72 trials", "busy machine; ");
    let some = BusySeen { of: 45, ..seen(40) };
    busy.caveats = vec![Caveat::BusyMachine { seen: vec![some], from: 0.1 }];
    check(&busy, "in 40 of the 45 trials where this was measured", "busy machine; ");
    busy.caveats = vec![Caveat::HighLoad { condition: "idle".to_owned(), load: 11.0, cpus: 2 }];
    check(&busy, "the load average of other programs was 11.0 on 2 processors", "busy machine; ");
    let mut twin = bakeoff_testkit::findings::five_verdicts();
    let floor = twin.tables[0].noise_floor.as_mut().and_then(|row| row.comparison.as_mut()).unwrap();
    (floor.verdict, floor.estimate) = (Verdict::Slower, 1.448);
    twin.caveats = vec![Caveat::TwinDiffers { differ: 1, of: 1 }];
    check(&twin, "the baseline's twin is 44.8 % slower, so do not trust smaller differences", "the twin differs; ");
}

fn other_output(output: OutputUse) -> Findings {
    let mut findings = bakeoff_testkit::findings::pair();
    let difference = OutputDifference {
        process: 1,
        byte: 6,
        line: 2,
        baseline: Some("2,000 words".to_owned()),
        printed: Some("1,999 words".to_owned()),
    };
    let variant = findings.variants[1].name.clone();
    let other = OtherOutput { variant, trials: 12, of: 12, bytes: [14, 14], first: Some(difference) };
    findings.outputs = vec![Outputs {
        workload: "loop".to_owned(),
        condition: "idle".to_owned(),
        output,
        baseline_trials: 24,
        varies: false,
        baseline_bytes: [12, 12],
        first: None,
        others: vec![other],
    }];
    if output == OutputUse::Compared {
        let rows = findings.tables.iter_mut().flat_map(|table| &mut table.rows);
        rows.filter_map(|row| row.comparison.as_mut()).for_each(|comparison| comparison.verdict = Verdict::Withheld);
    }
    findings
}

#[test]
fn another_output_stands_before_the_numbers() {
    let withheld = page(&other_output(OutputUse::Compared), 80);
    assert!(
        withheld.starts_with(
            "fix=with prints different output; no verdict on fix=with\n▲ fix=with prints different output on loop, first in"
        ),
        "{withheld}"
    );
    assert!(withheld.contains("  other output "), "{withheld}");
    let noted = page(&other_output(OutputUse::Noted), 80);
    let doubt = "▲ fix=with prints different output; check that it does the same work\n";
    assert!(noted.lines().take(3).any(|line| line == doubt.trim_end()), "{noted}");
    assert!(noted.contains("in 12 of 12\n  trials") && !noted.contains("no verdict"), "{noted}");

    let mut varying = other_output(OutputUse::Compared);
    varying.outputs[0].varies = true;
    varying.outputs[0].first = varying.outputs[0].others.pop().and_then(|other| other.first);
    let varying = page(&varying, 80);
    assert!(varying.contains("varies from trial to trial") && varying.contains("| then: 1,999 words"), "{varying}");

    let mut binary = other_output(OutputUse::Noted);
    let first = binary.outputs[0].others[0].first.as_mut().unwrap();
    (first.baseline, first.printed) = (None, None);
    assert!(page(&binary, 80).contains("first at byte 6 (not text"));
}

#[test]
fn every_verdict_has_a_word() {
    let page = page(&bakeoff_testkit::findings::five_verdicts(), 120);
    for (variant, word) in [
        ("baseline", "baseline"),
        ("malloc=perl", "faster"),
        ("threads=on", "slower"),
        ("libperl=shared", "negligible"),
        ("optimize=O", "equivalent"),
        ("libperl=symbolic", "undecided"),
    ] {
        let says = |line: &str| line.starts_with(&format!("{variant} ")) && line.contains(&format!("  {word} "));
        assert!(page.lines().any(says), "{variant} is not called {word} in\n{page}");
    }
    assert!(page.contains("undecided (needs about 14 more blocks)"), "{page}");
}

#[test]
fn pages_fit_their_width() {
    for (name, findings) in bakeoff_testkit::findings::all() {
        for width in [80, 100, 120, 200] {
            for line in page(&findings, width).lines() {
                let columns = unicode_width::UnicodeWidthStr::width(line);
                assert!(columns <= width, "{name}: {columns} columns of {width}: {line}");
                assert_eq!(line, line.trim_end(), "{name}: spaces at the end");
            }
        }
    }
}

/// What `bakeoff report > file` writes can be pasted into a mail as it is.
#[test]
fn a_page_without_a_terminal_is_fit_for_a_mail() {
    for (name, findings) in bakeoff_testkit::findings::all() {
        let page = page(&findings, 80);
        assert!(!page.chars().any(|c| c.is_control() && c != '\n'), "{name}: a control character");
        let widest = page.lines().map(unicode_width::UnicodeWidthStr::width).max();
        assert!(widest.is_some_and(|widest| widest <= 80), "{name}: {widest:?} columns");
        assert!(page.ends_with('\n') && !page.ends_with("\n\n"), "{name}");
    }
}

#[test]
fn the_page_begins_with_the_answer() {
    for (name, findings) in bakeoff_testkit::findings::all() {
        let joined = page(&findings, 80).split_whitespace().collect::<Vec<_>>().join(" ");
        let answer = answer(&findings);
        assert!(joined.starts_with(&answer), "{name}: {answer}");
        assert_eq!(answer.starts_with("SIMULATED"), findings.simulated.is_some(), "{name}: {answer}");
    }
}

#[test]
fn json_has_every_field_and_of_doubts_kind_and_sentence() {
    for (name, findings) in bakeoff_testkit::findings::all() {
        let text = json(&findings, None).unwrap();
        let mut value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string_pretty(&value).unwrap() + "\n", text, "{name}");
        let of = |doubt: &Caveat| serde_json::json!({ "kind": doubt.kind(), "text": letters(&caveats::caveat(doubt)) });
        let doubts: Vec<Value> = findings.caveats.iter().map(of).collect();
        assert_eq!(value["caveats"], Value::from(doubts), "{name}");
        let members = value.as_object_mut().unwrap();
        ["claims", "facts", "doubts"].iter().for_each(|name| assert!(members.shift_remove(*name).unwrap().is_array()));
        let said = ["answer", "verdict"].map(|name| members.shift_remove(name).unwrap());
        assert!(said.iter().all(|said| said.as_str().is_some_and(|said| !said.is_empty())), "{said:?}");
        // Without the doubts, it reads back as equal findings.
        without_words(&mut value);
        let mut own = serde_json::to_value(&findings).unwrap();
        without_words(&mut own);
        assert_eq!(serde_json::from_value::<Findings>(value).unwrap(), serde_json::from_value(own).unwrap(), "{name}");
    }
}

fn without_words(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.get_mut("caveats").into_iter().for_each(|doubts| *doubts = Value::Array(vec![]));
            fields.get_mut("refused").into_iter().for_each(|why| *why = Value::Null);
            fields.get_mut("aliases").into_iter().for_each(|aliases| *aliases = Value::Array(vec![]));
            fields.values_mut().for_each(without_words);
        }
        Value::Array(items) => items.iter_mut().for_each(without_words),
        _ => {}
    }
}

/// JSON is passed on: it names no folder of the user, wherever a path stands.
#[test]
fn json_names_no_folder_of_the_user() {
    for (name, mut findings) in bakeoff_testkit::findings::all() {
        let log = "/srv/ann/cache/logs/5e1f.log".to_owned();
        findings.besides.files = vec![log.clone()];
        let said = data!([{ "log": log, "tool": "/home/ann/bin/gcc 12.2", "said": "cc: /home/ann/x.c: no such file" }]);
        findings.sections.insert("made".to_owned(), said);
        let text = json(&findings, Some("/home/ann/")).unwrap();
        assert!(!text.contains("/ann"), "{name}: {text}");
        assert!(text.contains("\"logs/5e1f.log\"") && text.contains("~/bin/gcc 12.2"), "{name}: {text}");
    }
}
