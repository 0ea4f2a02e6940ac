//! Pages of many kinds: what is in them, and what a browser makes of them. Text of others is text everywhere; a browser opens them,
//! sorts, filters, walks by keyboard and prints, asks nobody for anything, and finds nothing wrong.

use crate::page::{Content, page};
use crate::svg;
use bakeoff_command::{Against, Concluded};
use bakeoff_judge::findings::Findings;
use bakeoff_model::record::{Attempt, Failure, Outcome, Output, Record, StudyLine, Trial};
use bakeoff_testkit::letters;
use bakeoff_testkit::records::{execute, measure, noise, study};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names that would do something if they were not text.
const HOSTILE: [&str; 5] = [
    "<img src=x onerror=window.hostile=1>",
    "</script><script>window.hostile=1</script>",
    "\u{202e}desrever\u{1b}[2J",
    "\" onfocus=\"window.hostile=1\" autofocus=\"",
    "javascript:window.hostile=1",
];

/// A study of this number of variants, each a little slower than the one before it.
fn many(variants: usize, conditions: &[&str], passes: u32) -> Record {
    let names: Vec<String> =
        (0..variants).map(|n| if n == 0 { "baseline".to_owned() } else { format!("opt=O{n} lto=on") }).collect();
    let mut record = study(&names.iter().map(String::as_str).collect::<Vec<_>>(), conditions, &["wall", "maxrss"]);
    execute(&mut record, passes, |trial| {
        let own = names.iter().position(|name| *name == trial.variant).unwrap_or(0);
        fill(trial, 1.0 + 0.004 * own as f64);
    });
    record
}

fn fill(trial: &mut Trial, factor: f64) {
    let value = 0.086 * factor * noise(trial);
    measure(trial, "wall", value);
    measure(trial, "maxrss", 1e7 * factor);
    trial.output = vec![Output { bytes: 12, sha256: "a".repeat(64) }];
}

/// Names, values and outcomes of others.
fn hostile() -> Record {
    let mut record = study(&[&["baseline"], &HOSTILE[..]].concat(), &[HOSTILE[0], "busy"], &["wall"]);
    record.study.question = Some(HOSTILE[1].to_owned());
    record.study.study = HOSTILE[0].to_owned();
    record.study.workloads = vec![HOSTILE[2].to_owned()];
    execute(&mut record, 12, |trial| {
        fill(trial, if trial.variant == HOSTILE[0] { 1.2 } else { 1.0 });
        HOSTILE[2].clone_into(&mut trial.workload);
        if trial.variant == HOSTILE[1] {
            trial.outcome = Outcome::Failed(Failure::Exit { code: 1, stderr: vec![HOSTILE[1].to_owned()] });
        }
        if trial.variant == HOSTILE[4] && trial.block == 3 {
            trial.outcome = Outcome::Void(HOSTILE[0].to_owned());
        }
    });
    record.blocks.iter_mut().for_each(|block| HOSTILE[2].clone_into(&mut block.workload));
    let node = |pass: u32| Attempt { node: HOSTILE[pass as usize % 2].to_owned(), ..Attempt::default() };
    record.away = record.blocks.iter().map(|block| (block.key(), node(block.block))).collect();
    record
}

/// A study of which nothing counts.
fn failed() -> Record {
    let mut record = study(&["baseline", "lto=on", "opt=Os"], &["idle"], &["wall"]);
    execute(&mut record, 12, |trial| {
        fill(trial, 1.0);
        let stderr = vec!["Segmentation fault".to_owned()];
        trial.outcome = Outcome::Failed(Failure::Signal { signal: 11, stderr });
    });
    record
}

/// One in which nothing is decided, with noise beyond the margin.
fn open() -> Record {
    let mut record = study(&["baseline", "lto=on", "opt=Os"], &["idle"], &["wall"]);
    execute(&mut record, 8, |trial| fill(trial, 1.0 + 30.0 * (noise(trial) - 1.0)));
    record
}

fn kinds() -> Vec<(&'static str, Record)> {
    vec![
        ("empty", Record::new(StudyLine::default())),
        ("no-trial", study(&["baseline", "b"], &["idle"], &["wall"])),
        ("one", many(1, &["idle"], 12)),
        ("pair", many(2, &["idle", "busy"], 12)),
        ("open", open()),
        ("failed", failed()),
        ("hostile", hostile()),
        ("forty-five", many(45, &["idle"], 12)),
    ]
}

fn with<T>(record: &Record, done: impl FnOnce(&Concluded<'_>) -> T) -> T {
    let findings: Findings = bakeoff_judge::judge(record);
    done(&Concluded {
        record,
        findings: &findings,
        causes: &[],
        pages: &[],
        is_raced: false,
        is_json: false,
        time_unit: None,
    })
}

#[test]
fn every_page_has_the_answer_of_the_screen_and_every_trial() {
    for (name, record) in kinds() {
        with(&record, |concluded| {
            let text = page(concluded, None).unwrap();
            let brief = bakeoff_report::brief(concluded.findings, bakeoff_report::Context::default());
            let plain = plain(&text);
            let answer = letters(&brief.answer);
            assert!(plain.contains(&answer), "{name}: {answer} is not in {plain}");
            for doubt in &brief.doubts {
                assert!(plain.contains(&letters(&doubt.text)), "{name}: {doubt:?}");
            }
            let strips = text.matches("role=\"img\" aria-label=\"").count();
            assert!(record.trials.is_empty() || strips > record.study.variants.len(), "{name}: {strips} strips");
            assert!(text.len() < 2_000_000, "{name}: {} bytes", text.len());
        });
    }
}

#[test]
fn text_of_others_is_text_in_every_page_and_chart() {
    with(&hostile(), |concluded| {
        let text = page(concluded, None).unwrap();
        assert_eq!(text.matches("<script").count(), 2);
        assert!(!text.contains("<img") && !text.contains('\u{202e}') && !text.contains('\u{1b}'));
        assert!(text.contains("Node by node") && text.contains("&lt;img src=x onerror=window.hostile=1&gt;"));
        assert!(!text.contains(" onfocus=\"") && !text.contains("href=\"javascript"));
        for name in svg::CHARTS {
            let chart = svg::chart(&Content::of(concluded), name).unwrap();
            assert!(!chart.contains("<img") && !chart.contains("<script") && !chart.contains('\u{202e}'), "{name}");
        }
    });
}

#[test]
fn a_chart_of_nothing_is_an_error_with_a_remedy() {
    with(&failed(), |concluded| {
        for name in svg::CHARTS {
            let said = svg::chart(&Content::of(concluded), name).unwrap_err().render();
            assert!(said.contains("nothing to draw") && said.contains("hint: "), "{said}");
        }
    });
}

/// The text that is seen.
fn plain(html: &str) -> String {
    let body = html.split_once("<body>").map_or(html, |(_, body)| body);
    let mut text = String::new();
    let mut is_tag = false;
    for c in body.chars() {
        match c {
            '<' => is_tag = true,
            '>' => is_tag = false,
            c if !is_tag => text.push(c),
            _ => {}
        }
    }
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    text.replace('\u{a0}', " ")
}

/// A Python that can drive a browser, if there is one.
fn python() -> Option<&'static str> {
    let can = |python: &&str| {
        Command::new(python).args(["-c", "import selenium"]).output().is_ok_and(|output| output.status.success())
    };
    ["python3", "/usr/bin/python3"].into_iter().find(can)
}

/// What `tools/axe` fetches.
fn axe() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/axe");
    let file = root.join("node_modules/axe-core/axe.min.js");
    file.is_file().then_some(file)
}

#[test]
#[allow(clippy::print_stdout, reason = "a test says what it cannot do here")]
fn a_browser_finds_nothing_wrong() {
    let Some(python) = python().filter(|_| Path::new("/usr/bin/chromedriver").is_file()) else {
        println!("skipped: there is no chromium-driver with python3-selenium");
        return;
    };
    let axe = axe();
    if axe.is_none() {
        println!("skipped in part: axe-core is not there, which tools/axe fetches");
    }
    let folder = tempfile::tempdir().unwrap();
    let large = [("large", many(24, &["idle", "busy"], 2000))];
    for (name, record) in kinds().into_iter().chain(large) {
        let text = with(&record, |concluded| page(concluded, None).unwrap());
        assert!(text.len() < 5_000_000, "{name}: {} bytes", text.len());
        std::fs::write(folder.path().join(name).with_extension("html"), text).unwrap();
    }
    let [here, there] =
        [many(6, &["idle", "busy"], 12), many(6, &["idle", "busy"], 8)].map(|r| bakeoff_judge::judge(&r));
    let pairs = bakeoff_judge::side_by_side::side_by_side(&here, &there);
    let two = crate::against::page(&Against { pairs: &pairs, here: &here, there: &there });
    std::fs::write(folder.path().join("two.html"), two).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser.py");
    let output = Command::new(python).arg(script).arg(folder.path()).args(axe).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    println!("{said}");
}
