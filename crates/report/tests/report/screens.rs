//! The screen of generated studies: 1 to 40 variants, 1 to 6 workloads, 1 to 3 conditions, failures, ties, exclusions, and
//! studies in which nothing differs; a variant that prints different output, a busy machine, and causes that features
//! found. Each is judged, printed, and read again. `BAKEOFF_SCREENS=1000` generates as many.

use bakeoff_judge::findings::{Comparison, EffectKind, Findings, Verdict};
use bakeoff_judge::judge;
use bakeoff_model::record::{Block, Excluded, Failure, Outcome, Output, Record, Session};
use bakeoff_model::record::{StudyLine, TWIN, Trial, VariantLine};
use bakeoff_model::shuffle::Stream;
use bakeoff_model::study::Decide;
use bakeoff_report::{Cause, Context, Style, screen};
use bakeoff_testkit::records::decide;

const COLUMNS: usize = 80;
/// Of those in which nothing differs, at most this part carries a doubt: 5 of 100, and in 100 studies by chance up to 10.
const DOUBTFUL_MOST: f64 = 0.05;

/// A whole number below `end`.
fn below(chance: &mut Stream, end: usize) -> usize {
    ((chance.unit() * end as f64) as usize).min(end - 1)
}

/// A study drawn from a seed.
struct Generated {
    record: Record,
    /// Nothing differs in it.
    is_same: bool,
    /// The variant that prints different output.
    prints_other: Option<String>,
    /// Other programs use half of the processors.
    is_busy: bool,
    causes: Vec<Cause>,
}

fn generated(seed: u64) -> Generated {
    let mut chance = Stream::of(seed, &["screens"]);
    let is_same = chance.unit() < 0.35;
    let variants = if chance.unit() < 0.9 { 1 + below(&mut chance, 12) } else { 1 + below(&mut chance, 40) };
    let (workloads, conditions) = (1 + below(&mut chance, 6), 1 + below(&mut chance, 3));
    let workloads = if variants > 12 { workloads.min(2) } else { workloads };
    let names: Vec<String> = (0..variants).map(|at| name(&mut chance, at)).collect();
    let names_of = |what: &str, n: usize| (0..n).map(|at| format!("{what}{at}")).collect::<Vec<String>>();
    let (workloads, conditions) = (names_of("work", workloads), names_of("load", conditions));
    let blocks = [3, 6, 10, 12, 20][below(&mut chance, 5)];
    let noise = [0.001, 0.01, 0.03, 0.1][below(&mut chance, 4)];
    // Ties are as frequent as differences.
    let ratios: Vec<f64> = (0..variants)
        .map(|at| match (at, is_same) {
            (0, _) | (_, true) => 1.0,
            _ => [1.0, 1.0, 1.005, 0.9, 1.2, 3.0, 0.3][below(&mut chance, 7)],
        })
        .collect();
    let failing = (!is_same && chance.unit() < 0.3).then(|| below(&mut chance, variants));
    let always = chance.unit() < 0.5;
    let mut record = Record::new(StudyLine {
        format: 1,
        study: "generated".to_owned(),
        question: (chance.unit() < 0.7).then(|| "Which way of building this program is faster?".to_owned()),
        plan: "default".to_owned(),
        seed,
        variants: names.iter().map(|name| VariantLine { name: name.clone(), ..VariantLine::default() }).collect(),
        excluded: match chance.unit() < 0.2 {
            true => vec![Excluded { name: "odd".to_owned(), reason: "does not link".to_owned() }],
            false => vec![],
        },
        workloads: workloads.clone(),
        conditions: conditions.clone(),
        decide: Decide { metrics: vec!["wall".to_owned()], ..decide() },
        ..StudyLine::default()
    });
    record.sessions.push(Session { session: 1, started_unix_s: 1e9, blocks, ..Session::default() });
    for block in 1..=blocks {
        for workload in &workloads {
            for condition in &conditions {
                let level = 1.0 + 0.1 * chance.unit();
                let mut order: Vec<usize> = (0..=variants).collect();
                for at in (1..order.len()).rev() {
                    order.swap(at, below(&mut chance, at + 1));
                }
                for (position, who) in (1..).zip(&order) {
                    let bell: f64 = (0..6).map(|_| chance.unit() - 0.5).sum::<f64>() * 1.414;
                    let ratio = ratios.get(*who).copied().unwrap_or(1.0);
                    let fails = failing == Some(*who) && (always || chance.unit() < 0.2);
                    let failure = Failure::Exit { code: 1, stderr: vec!["no such table".to_owned()] };
                    record.trials.push(Trial {
                        block,
                        workload: workload.clone(),
                        condition: condition.clone(),
                        position,
                        variant: names.get(*who).cloned().unwrap_or_else(|| TWIN.to_owned()),
                        session: 1,
                        started_unix_s: 1e9 + f64::from(block),
                        outcome: if fails { Outcome::Failed(failure) } else { Outcome::Ok },
                        measurements: [("wall".to_owned(), level * ratio * (noise * bell).exp())].into(),
                        ..Trial::default()
                    });
                }
                let order = order.iter().map(|w| names.get(*w).cloned().unwrap_or_else(|| TWIN.to_owned())).collect();
                let (workload, condition) = (workload.clone(), condition.clone());
                record.blocks.push(Block { block, workload, condition, order, ..Block::default() });
            }
        }
    }
    beset(seed, record, &names, &ratios, is_same)
}

/// Adds what may happen besides: different output, a busy machine, causes.
fn beset(seed: u64, mut record: Record, names: &[String], ratios: &[f64], is_same: bool) -> Generated {
    let variants = names.len();
    let mut more = Stream::of(seed, &["screens", "more"]);
    let printing = if !is_same && variants > 1 && more.unit() < 0.2 { 1 + below(&mut more, variants - 1) } else { 0 };
    let prints_other = (printing > 0).then(|| names[printing].clone());
    let is_busy = !is_same && more.unit() < 0.15;
    for trial in &mut record.trials {
        let text = if Some(&trial.variant) == prints_other.as_ref() { "other" } else { "same" };
        trial.output = vec![Output { bytes: text.len() as u64, sha256: text.to_owned() }];
        if is_busy {
            trial.measurements.insert("foreign_cpu".to_owned(), 0.5);
        }
    }
    let differing = names.iter().zip(ratios).filter(|(_, ratio)| **ratio != 1.0).map(|(name, _)| name);
    let causes = differing.filter(|_| more.unit() < 0.4).map(|name| cause(name)).collect();
    Generated { record, is_same, prints_other, is_busy, causes }
}

fn cause(variant: &str) -> Cause {
    let what = "−8.2 % instructions, 78.4 % of them in PLT stubs to own functions; shown by libperl=shared".to_owned();
    Cause { variant: variant.to_owned(), what }
}

/// Names of all lengths.
fn name(chance: &mut Stream, at: usize) -> String {
    match (at, below(chance, 4)) {
        (0, _) => "baseline".to_owned(),
        (_, 0) => format!("v{at}"),
        (_, 1) => format!("opt=O{at}"),
        (_, 2) => format!("cc=clang-{at} malloc=perl threads=on"),
        _ => format!("libperl=shared+no-interposition-{at} optimize=O3-march-native threads=on malloc=perl"),
    }
}

/// The comparisons that the rows show: of the only workload, or over all, under the first condition.
fn rows(findings: &Findings) -> Vec<(&str, Option<&Comparison>)> {
    let condition = &findings.tables[0].condition;
    let here = || findings.tables.iter().filter(|table| table.condition == *condition);
    let suite = findings
        .effects
        .iter()
        .find(|family| family.kind == EffectKind::Suite && family.condition.as_ref() == Some(condition))
        .filter(|_| here().count() > 1);
    match suite {
        Some(suite) => suite.effects.iter().filter_map(|e| Some((e.variant()?, e.comparison.as_ref()))).collect(),
        None => here().take(1).flat_map(|t| &t.rows).skip(1).map(|r| (&*r.variant, r.comparison.as_ref())).collect(),
    }
}

/// What makes a comparison doubtful stands in the first three lines, and in the last; of two doubts one, where there is no
/// room.
fn check_alarms(study: &Generated, findings: &Findings, page: &str) {
    let lines: Vec<&str> = page.lines().collect();
    let (first, answer) = (lines[..lines.len().min(3)].join("\n"), lines.last().unwrap_or(&""));
    let counts = |variant: &str| {
        let mut rows = findings.tables.iter().flat_map(|table| &table.rows);
        rows.any(|row| row.variant == variant && row.summary.is_some())
    };
    let baseline = findings.variants.first().is_some_and(|variant| counts(&variant.name));
    if study.prints_other.as_ref().is_some_and(|variant| baseline && counts(variant)) {
        assert!(first.contains("different output"), "{page}");
        assert!(answer.contains("different output"), "{page}");
    }
    if study.is_busy && baseline {
        assert!(first.contains("other programs "), "{page}");
        assert!(answer.contains("busy machine") || answer.contains("different output"), "{page}");
    }
}

fn check(seed: u64, findings: &Findings, page: &str) {
    let lines: Vec<&str> = page.lines().collect();
    let context = || format!("seed {seed}\n{page}");
    let most = 24 + findings.variants.len().saturating_sub(12);
    assert!(lines.len() <= most, "{} lines, at most {most}: {}", lines.len(), context());
    assert!(lines.iter().all(|line| line.chars().count() <= COLUMNS), "{}", context());
    let answer = *lines.last().unwrap_or(&"");
    assert!(!answer.is_empty() && !answer.starts_with("more"), "{}", context());
    assert!(lines[lines.len() - 2].is_empty() || lines[lines.len() - 2].contains("--all"), "{}", context());
    if findings.tables.is_empty() {
        return;
    }
    let rows = rows(findings);
    let of = |verdict: fn(Verdict) -> bool| {
        rows.iter().filter(|(_, c)| c.is_some_and(|comparison| verdict(comparison.verdict))).count()
    };
    let (better, worse) = (of(|v| v == Verdict::Faster), of(|v| v == Verdict::Slower));
    // The words of the rows are the verdicts, each as often.
    let first = lines.iter().position(|line| line.contains("95 % interval")).map_or(lines.len(), |at| at + 1);
    let table = &lines[first..(first + rows.len() + 1).min(lines.len())];
    let mut names: Vec<&str> = table.iter().map(|line| line.split("  ").next().unwrap_or_default()).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all, "two rows look alike: {}", context());
    let rows_with = |words: [&str; 2]| table.iter().filter(|line| words.iter().any(|word| line.contains(word))).count();
    assert_eq!(rows_with([" faster ", "as fast"]), better, "{}", context());
    assert_eq!(rows_with([" slower ", "as long"]), worse, "{}", context());
    let says = |words: &str| answer.contains(words);
    if better == 0 {
        assert!(!says("% faster") && !says("as fast"), "{}", context());
    }
    if better + worse == 0 {
        assert!(!says("fastest") && !says("share the lead"), "{}", context());
    }
    if says("equivalent") {
        assert!(rows.iter().all(|(_, c)| c.is_none_or(Comparison::is_within)), "{}", context());
    }
    let why = lines.iter().filter_map(|line| line.strip_prefix("why ")?.split_once(':')).map(|(name, _)| name);
    for name in why.filter(|name| !name.contains('…')) {
        let mut tables = findings.tables.iter().flat_map(|table| &table.rows).filter(|row| row.variant == name);
        assert!(tables.any(|row| row.comparison.as_ref().is_some_and(Comparison::differs)), "{}", context());
    }
    if says("cannot be distinguished") {
        assert_eq!(better, 0, "{}", context());
    }
}

/// Of a study in which nothing differs, its screen if that has a doubt.
fn tried(seed: u64) -> Option<Option<String>> {
    let study = generated(seed);
    let findings = judge(&study.record);
    let context = Context { more: "bakeoff report studies/generated", causes: &study.causes, ..Context::default() };
    let page = screen(&findings, context, Style { width: COLUMNS, colour: false });
    check(seed, &findings, &page);
    check_alarms(&study, &findings, &page);
    let is_doubt = |line: &str| line.starts_with('▲') && !line.contains("twin");
    study.is_same.then(|| page.lines().any(is_doubt).then(|| format!("seed {seed}\n{page}")))
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test asks how many studies it is to generate")]
fn screens_of_generated_studies_are_short_and_true() {
    let studies = std::env::var("BAKEOFF_SCREENS").ok().and_then(|n| n.parse().ok()).unwrap_or(40);
    let halves = std::thread::scope(|scope| {
        let half = |odd: u64| move || (1..=studies).filter(|seed| seed % 2 == odd).map(tried).collect::<Vec<_>>();
        [0, 1].map(|odd| scope.spawn(half(odd))).map(|half| half.join().unwrap())
    });
    let of_same: Vec<_> = halves.concat().into_iter().flatten().collect();
    let (same, doubtful): (usize, Vec<String>) = (of_same.len(), of_same.into_iter().flatten().collect());
    println!("{studies} studies; nothing differs in {same}, and {} of these carry a doubt", doubtful.len());
    // Three standard deviations above the rate that is promised.
    let expected = DOUBTFUL_MOST * same as f64;
    let most = expected + 3.0 * (expected * (1.0 - DOUBTFUL_MOST)).sqrt();
    assert!((doubtful.len() as f64) <= most, "{} of {same}, e.g. {:?}", doubtful.len(), doubtful.first());
}

/// A doubt before an answer in which many share the lead: it was longer than a line.
#[test]
fn an_answer_behind_a_doubt_is_one_line() {
    tried(455);
}
