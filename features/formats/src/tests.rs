//! Every format with names and values that mean something to it: what is read back is what was written, no more and no less.
//! The tools that the formats are made for read them in `tests/command/readers.rs`.

use crate::{go, hyperfine, markdown, trials, wide};
use bakeoff_command::Concluded;
use bakeoff_judge::findings::Findings;
use bakeoff_model::plain::clean;
use bakeoff_model::record::{Failure, Outcome, Record};
use bakeoff_testkit::findings::all;
use bakeoff_testkit::records::{self, execute, measure, noise};
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// What means something in one of the formats.
const HOSTILE: [&str; 44] = [
    "<img src=x onerror=alert(1)>",
    "</details>",
    "<!--",
    "|",
    "\\|",
    "`",
    "``",
    "```",
    "~~~",
    "\n\n",
    "\r\n",
    "# x",
    "*x*",
    "__x__",
    "[x](javascript:alert(1))",
    "![x](http://example.org/x.png)",
    "@somebody",
    "#123",
    "http://example.org",
    "www.example.org",
    "&lt;",
    "&amp;#124;",
    "$x$",
    "=cmd|' /C calc'!A0",
    "+1",
    "-1",
    "@SUM(1)",
    "\t=1",
    "\"",
    "\",\"",
    ",",
    "'",
    "gzip-9",
    "a/b=c",
    "a b",
    "a_b",
    "+++<b>+++",
    "pass:[<b>]",
    "include::/etc/passwd[]",
    "{docname}",
    "[[elisp:(delete)][x]]",
    "@@html:<b>@@",
    "call_x()",
    "\u{1b}[2J\u{202e}",
];

/// A study of three variants with these names, on a workload with a name, under a condition with one.
fn study(names: &[String; 3], workload: &str, condition: &str) -> (Record, Findings) {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut record = records::study(&names, &[condition], &["wall", "user", "maxrss"]);
    record.study.workloads = vec![workload.to_owned()];
    execute(&mut record, 12, |trial| {
        let factor = if trial.variant == names[1] { 1.1 } else { 1.0 };
        let value = factor * noise(trial);
        measure(trial, "wall", value);
        measure(trial, "user", 0.9 * value);
        measure(trial, "sys", 0.05);
        measure(trial, "maxrss", 1e6);
        if trial.variant == names[2] && trial.block == 3 {
            trial.outcome = Outcome::Failed(Failure::Exit { code: 1, stderr: vec![names[2].to_owned()] });
        }
        workload.clone_into(&mut trial.workload);
    });
    record.blocks.iter_mut().for_each(|block| workload.clone_into(&mut block.workload));
    let findings = bakeoff_judge::judge(&record);
    (record, findings)
}

fn plain() -> (Record, Findings) {
    study(&["one", "two", "three"].map(str::to_owned), "loop", "idle")
}

fn concluded<'a>((record, findings): &'a (Record, Findings)) -> Concluded<'a> {
    of(record, findings)
}

fn of<'a>(record: &'a Record, findings: &'a Findings) -> Concluded<'a> {
    Concluded { record, findings, causes: &[], pages: &[], is_raced: false, is_json: false, time_unit: None }
}

/// What a renderer makes of a page: the cells of its tables, and the tags of HTML that are in it.
#[derive(Debug, Default)]
struct Rendered {
    tables: Vec<Vec<Vec<String>>>,
    tags: Vec<String>,
    links: usize,
    code: String,
    text: String,
}

fn rendered(page: &str) -> Rendered {
    let mut rendered = Rendered::default();
    let mut in_cell = false;
    let mut in_code = false;
    for event in Parser::new_ext(page, Options::all() - Options::ENABLE_SMART_PUNCTUATION) {
        match event {
            Event::Start(Tag::Table(_)) => rendered.tables.push(vec![]),
            Event::Start(Tag::TableHead | Tag::TableRow) => rendered.tables.last_mut().unwrap().push(vec![]),
            Event::Start(Tag::TableCell) => {
                in_cell = true;
                rendered.tables.last_mut().unwrap().last_mut().unwrap().push(String::new());
            }
            Event::End(TagEnd::TableCell) => in_cell = false,
            Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::FootnoteDefinition(_)) => rendered.links += 1,
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Text(text) if in_code => rendered.code += &text,
            Event::Text(text) | Event::Code(text) => {
                rendered.text += &text;
                if in_cell {
                    *rendered.tables.last_mut().unwrap().last_mut().unwrap().last_mut().unwrap() += &text;
                }
            }
            Event::Html(html) | Event::InlineHtml(html) => rendered.tags.push(html.trim().to_owned()),
            Event::FootnoteReference(_) | Event::InlineMath(_) | Event::DisplayMath(_) | Event::TaskListMarker(_) => {
                rendered.links += 1;
            }
            Event::SoftBreak | Event::HardBreak => rendered.text.push('\n'),
            _ => {}
        }
    }
    rendered
}

/// As a renderer shows it: it joins blanks.
fn shown(name: &str) -> String {
    clean(name).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn check_markdown(study: &(Record, Findings), names: &[String; 3]) {
    let page = markdown::page(&concluded(study));
    let rendered = rendered(&page);
    assert_eq!(rendered.tables.len(), 1 + study.1.tables.len(), "{page}");
    let (answer, details) = (&rendered.tables[0], &rendered.tables[1..]);
    for (table, columns) in std::iter::once((answer, 4)).chain(details.iter().map(|table| (table, 7))) {
        assert_eq!(table.len(), 4, "{page}");
        assert!(table.iter().all(|row| row.len() == columns), "{table:?}\n{page}");
        let mut found: Vec<String> = table[1..].iter().map(|row| joined(&row[0])).collect();
        let mut expect: Vec<String> = names.iter().map(|name| shown(name)).collect();
        expect.iter_mut().filter(|name| name.is_empty()).for_each(|name| "–".clone_into(name));
        found.sort();
        expect.sort();
        assert_eq!(found, expect, "{page}");
    }
    let summary = "<summary>All metrics, machine, method, and how to repeat the study</summary>";
    let ours = ["<details>", summary, "</details>", "<code>", "</code>", "<!-- -->"];
    assert!(rendered.tags.iter().all(|tag| ours.contains(&tag.as_str())), "{:?}\n{page}", rendered.tags);
    assert_eq!(rendered.links, 0, "{page}");
    assert!(rendered.code.starts_with("bakeoff run STUDY"), "{:?}", rendered.code);
    // What a forge finds in the text that is seen is parted in the page.
    let visible: String = page.lines().filter(|line| !line.starts_with("bakeoff ")).collect::<Vec<_>>().join("\n");
    let outside = visible.replace("<code>", "\u{1}").replace("</code>", "\u{2}");
    let outside: String = outside.split('\u{1}').map(|part| part.rsplit('\u{2}').next().unwrap_or("")).collect();
    let mut seen = outside.replace("&#64;", "@").replace("&#58;", ":").replace("&#35;", "\u{3}");
    while let Some(at) = seen.find("&#") {
        let end = at + seen[at..].find(';').unwrap();
        seen.replace_range(at..=end, " ");
    }
    let seen = seen.replace('\u{3}', "#");
    assert!(!["://", "www.e", "@s", "#1"].iter().any(|called| seen.contains(called)), "{seen}\n{page}");
}

fn read_csv(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect()
}

fn check_csv(study: &(Record, Findings), names: &[String; 3]) {
    let wide = read_csv(&wide::csv(&study.1).unwrap());
    // Three metrics, and three variants and the twin of each.
    assert_eq!(wide.len(), 1 + 3 * 4);
    let trials = read_csv(&trials::csv(&concluded(study)).unwrap());
    assert_eq!(trials.len(), 1 + 12 * 4);
    for (lines, column) in [(&wide, "variant"), (&trials, "variant")] {
        let at = lines[0].iter().position(|title| title == column).unwrap();
        for name in names {
            let expect = clean(name);
            let is_it = |cell: &String| *cell == expect || *cell == format!("'{expect}");
            assert!(lines.iter().any(|line| is_it(&line[at])), "{expect:?}");
        }
        for cell in lines.iter().flatten() {
            let is_number = cell.parse::<f64>().is_ok() && !names.contains(cell);
            assert!(is_number || !cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{cell:?}");
        }
    }
    let reason = trials[0].iter().position(|title| title == "reason").unwrap();
    let outcome = trials[0].iter().position(|title| title == "outcome").unwrap();
    let failed: Vec<&Vec<String>> = trials.iter().filter(|line| line[outcome] == "failed").collect();
    assert_eq!(failed.len(), 1);
    assert!(failed[0][reason].contains("exited with code 1"), "{failed:?}");
}

fn check_json(study: &(Record, Findings), names: &[String; 3]) {
    let text = hyperfine::json(&concluded(study)).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let entries = value["results"].as_array().unwrap();
    let commands: Vec<&str> = entries.iter().map(|entry| entry["command"].as_str().unwrap()).collect();
    assert_eq!(commands, names.iter().map(|name| clean(name)).collect::<Vec<_>>());
    let n: Vec<usize> = entries.iter().map(|entry| entry["times"].as_array().unwrap().len()).collect();
    assert_eq!(n, [12, 12, 11], "the failed one does not count");
}

fn check_go(study: &(Record, Findings)) {
    let text = go::lines(&concluded(study));
    let col = bakeoff_readers::keys::Projection::parse("/variant").unwrap();
    let options = bakeoff_readers::Options { col: Some(col), ..Default::default() };
    let origin = bakeoff_readers::Origin { name: "f", label: "f" };
    let gathered = bakeoff_readers::read(&mut text.as_bytes(), &origin, &options).unwrap();
    let mut wall: Vec<usize> =
        gathered.samples.iter().filter(|sample| sample.unit == "sec/op").map(|sample| sample.values.len()).collect();
    wall.sort_unstable();
    assert_eq!(wall, [11, 12, 12], "{text}");
    assert!(gathered.notes.is_empty(), "{:?}", gathered.notes);
}

fn check_all(names: &[String; 3], workload: &str, condition: &str) {
    let study = study(names, workload, condition);
    check_markdown(&study, names);
    check_csv(&study, names);
    check_json(&study, names);
    check_go(&study);
    let texts = [
        markdown::page(&concluded(&study)),
        wide::csv(&study.1).unwrap(),
        trials::csv(&concluded(&study)).unwrap(),
        hyperfine::json(&concluded(&study)).unwrap(),
        go::lines(&concluded(&study)),
    ];
    for text in texts {
        assert!(bakeoff_testkit::foreign::is_harmless(&text), "{text:?}");
    }
}

#[test]
fn plain_names_are_written_in_every_format() {
    check_all(&["one", "two", "three"].map(str::to_owned), "loop", "idle");
}

#[test]
fn each_hostile_name_is_only_a_name() {
    for hostile in HOSTILE {
        let names = [hostile.to_owned(), format!("x{hostile}y"), format!("{hostile} {hostile}")];
        check_all(&names, hostile, hostile);
    }
}

/// Names made of pieces that mean something, and of any characters.
fn name() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        2 => proptest::sample::select(&HOSTILE[..]).prop_map(str::to_owned),
        1 => proptest::collection::vec(any::<char>(), 0..6).prop_map(|chars| chars.into_iter().collect()),
        1 => "[ -~]{0,6}",
    ];
    proptest::collection::vec(piece, 1..4).prop_map(|pieces| pieces.concat())
}

/// As many names that differ, also to one who reads them.
fn names() -> impl Strategy<Value = [String; 3]> {
    [name(), name(), name()].prop_filter("names of variants differ and are not empty", |names| {
        let shown: Vec<String> = names.iter().map(|name| shown(name)).collect();
        let differ = shown[0] != shown[1] && shown[0] != shown[2] && shown[1] != shown[2];
        let reserved = |name: &String| name == bakeoff_model::record::TWIN || name == bakeoff_model::plan::BASELINE;
        differ && shown.iter().all(|name| !name.is_empty()) && !names.iter().any(reserved)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_name_does_harm_in_any_format(names in names(), workload in name(), condition in name()) {
        check_all(&names, &workload, &condition);
    }
}

#[test]
fn the_summary_says_what_the_screen_says() {
    let context = || bakeoff_report::Context { more: "bakeoff report STUDY", ..Default::default() };
    for (name, findings) in all() {
        let record = plain().0;
        let page = markdown::page(&of(&record, &findings));
        // So wide that no answer is cut.
        let screen = bakeoff_report::screen(&findings, context(), bakeoff_report::Style { width: 200, colour: false });
        let rendered = rendered(&page);
        let answer = screen.lines().last().unwrap();
        assert!(joined(&rendered.text).contains(&joined(answer)), "{name}: {answer}\n{page}");
        let Some(table) = rendered.tables.first().filter(|_| !findings.tables.is_empty()) else { continue };
        for row in &table[1..] {
            let claim = row[1].trim_start_matches("baseline, ").split(" (").next().unwrap();
            let line = screen.lines().find(|line| line.trim_start().starts_with(&row[0]));
            let line = line.unwrap_or_else(|| panic!("{name}: {:?} has no line in\n{screen}", row[0]));
            assert!(joined(line).contains(&joined(claim)), "{name}: {claim:?} is not in {line:?}");
        }
    }
}

#[test]
fn n_and_medians_are_those_of_the_findings() {
    let study = plain();
    let text = hyperfine::json(&concluded(&study)).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let wall = study.1.tables.iter().find(|table| table.metric == "wall").unwrap();
    for (entry, row) in value["results"].as_array().unwrap().iter().zip(&wall.rows) {
        let summary = row.summary.as_ref().unwrap();
        assert_eq!(entry["median"], summary.median);
        assert_eq!(entry["mean"], summary.mean);
        assert_eq!(entry["stddev"], summary.sd.unwrap());
        assert_eq!([&entry["min"], &entry["max"]], [summary.min, summary.max]);
        assert_eq!(entry["times"].as_array().unwrap().len(), summary.n as usize);
        assert_eq!(entry["exit_codes"].as_array().unwrap().len(), summary.n as usize);
        assert_eq!(entry["memory_usage_byte"][0], 1_000_000);
    }
    let lines = read_csv(&wide::csv(&study.1).unwrap());
    let at = |title: &str| lines[0].iter().position(|known| known == title).unwrap();
    for row in &wall.rows {
        let is_it = |line: &&Vec<String>| line[at("metric")] == "wall" && line[at("variant")] == row.variant;
        let line = lines.iter().find(is_it).unwrap();
        assert_eq!(line[at("median")].parse::<f64>().unwrap(), row.summary.as_ref().unwrap().median);
        let estimate = row.comparison.as_ref().map_or(String::new(), |c| c.estimate.to_string());
        assert_eq!(line[at("estimate")], estimate);
    }
}

#[test]
fn go_knows_where_more_is_better_and_what_building_takes_is_in_the_wide_file() {
    let mut record = records::study(&["one", "two"], &["idle"], &["wall", "throughput"]);
    execute(&mut record, 8, |trial| measure(trial, "wall", noise(trial)));
    let findings = bakeoff_judge::judge(&record);
    let text = go::lines(&of(&record, &findings));
    let origin = bakeoff_readers::Origin { name: "f", label: "f" };
    let mut gathered = bakeoff_readers::read(&mut text.as_bytes(), &origin, &Default::default()).unwrap();
    gathered.settle(true);
    let better = |unit: &str| gathered.samples.iter().find(|sample| sample.unit == unit).map(|sample| sample.better);
    use bakeoff_model::metric::Direction::{Less, More};
    assert_eq!([better("sec/op"), better("throughput/s")], [Some(Less), Some(More)], "{text}");
    assert!(text.contains("Unit throughput/s better=higher\n"), "{text}");
    let lines = read_csv(&wide::csv(&findings).unwrap()).len();
    let with_building = Findings { building: Some(Box::new(findings.clone())), ..findings };
    assert_eq!(read_csv(&wide::csv(&with_building).unwrap()).len(), 2 * lines - 1);
}

#[test]
fn an_emulated_clock_has_no_seconds_for_hyperfine() {
    let (mut record, findings) = plain();
    record.study.clock = bakeoff_model::metric::Clock::GuestInstructions;
    let error = hyperfine::json(&of(&record, &findings)).unwrap_err();
    assert!(error.render().contains("hint: use --export-findings"), "{}", error.render());
}

#[test]
fn a_study_without_trials_is_written_in_every_format() {
    let (mut record, _) = plain();
    record.trials.clear();
    record.blocks.clear();
    let findings = bakeoff_judge::judge(&record);
    let study = (record, findings);
    assert!(markdown::page(&concluded(&study)).contains("no answer yet"));
    assert_eq!(hyperfine::json(&concluded(&study)).unwrap(), "{\n  \"results\": []\n}\n");
    assert_eq!(read_csv(&trials::csv(&concluded(&study)).unwrap()).len(), 1);
    assert!(!go::lines(&concluded(&study)).contains("Benchmark"));
    wide::csv(&study.1).unwrap();
}

#[test]
fn that_all_variants_are_one_program_is_written_where_people_read_it() {
    let (mut record, _) = plain();
    record.trials.clear();
    record.blocks.clear();
    let variant = record.study.variants.split_off(1).remove(0);
    let (name, with) = (variant.name.clone(), record.study.variants[0].name.clone());
    record.study.shared = vec![bakeoff_model::record::SharedLine { variant, with: with.clone(), ..Default::default() }];
    let findings = bakeoff_judge::judge(&record);
    let study = (record, findings);
    let page = markdown::page(&concluded(&study));
    assert!(page.contains("are the same program, so there is nothing to measure"), "{page}");
    let lines = read_csv(&wide::csv(&study.1).unwrap());
    let of = |title: &str| lines[1][lines[0].iter().position(|known| known == title).unwrap()].clone();
    assert_eq!(
        [of("variant"), of("baseline"), of("n"), of("verdict")],
        [name, with, "0".into(), "same_program".into()]
    );
}

/// As hyperfine has it: pages that people read have the unit that is asked for, and files for programs have seconds.
#[test]
fn times_are_in_the_unit_that_is_asked_for_where_people_read_them() {
    let study = plain();
    let asked = |time_unit| Concluded { time_unit, ..concluded(&study) };
    let (fitting, ms) = (asked(None), asked(Some(bakeoff_report::TimeUnit::Millisecond)));
    let [before, after] = [&fitting, &ms].map(markdown::page);
    assert!(before.contains("exit; in s\n") && !before.contains("exit; in ms\n"), "{before}");
    assert!(after.contains("exit; in ms\n") && !after.contains("exit; in s\n"), "{after}");
    // The row of the baseline, above everything that is folded.
    let typical = format!(
        "baseline, {}",
        bakeoff_report::format::duration_in(study.1.tables[0].rows[0].summary.as_ref().unwrap().median, ms.time_unit)
    );
    assert!(markdown::page(&ms).contains(&typical), "{typical}");
    assert_eq!(hyperfine::json(&ms).unwrap(), hyperfine::json(&fitting).unwrap());
    assert_eq!(trials::csv(&ms).unwrap(), trials::csv(&fitting).unwrap());
}
