//! Somebody else's text: whatever string of findings or of a journal says, no page hands it to the terminal raw. Every
//! string that can be any text is made to steer a terminal once, and every page is looked at.

use bakeoff_judge::findings::Findings;
use bakeoff_judge::side_by_side::side_by_side as pair;
use bakeoff_model::record::{Block, MadeLine, Outcome, Record, Session, StudyLine, Trial, VariantLine};
use bakeoff_report::draw::paint::Ink;
use bakeoff_report::{Context, Sheet, Style, brief, provenance, screen, side_by_side, terminal, trace};
use bakeoff_testkit::foreign::{is_harmless, steered};
use bakeoff_testkit::letters;

const STYLE: Style = Style { width: 100, colour: false };
#[test]
fn no_string_of_findings_steers_a_terminal() {
    let mut tried = 0;
    for (name, findings) in bakeoff_testkit::findings::all() {
        let value = serde_json::to_value(&findings).unwrap();
        for steered in steered(&value) {
            // What cannot be any text, such as a verdict, is no longer findings.
            let Ok(steered) = serde_json::from_value::<Findings>(steered) else { continue };
            let beside = side_by_side(&pair(&steered, &findings), &steered, &findings, STYLE);
            let context = Context { more: "bakeoff report STUDY", ..Context::default() };
            let screen = screen(&steered, context, STYLE);
            for page in [screen, terminal(&steered, STYLE), letters(&brief(&steered, context).answer), beside] {
                assert!(is_harmless(&page), "{name}: {page:?}");
            }
            tried += 1;
        }
    }
    assert!(tried > 200, "only {tried} strings were found");
}

/// A record with something everywhere.
fn record() -> Record {
    let line = |build| MadeLine::of(&build).unwrap();
    let mut made = line(bakeoff_testkit::findings::built(&["baseline"], false, 61.0));
    made.more.insert("log".to_owned(), "logs/0.log".into());
    let variant = VariantLine {
        name: "baseline".to_owned(),
        levels: [("malloc".to_owned(), "system".to_owned())].into(),
        build: Some(made.digest.clone()),
        run: Some("perl x".to_owned()),
    };
    let study = StudyLine {
        study: "options".to_owned(),
        plan: "default".to_owned(),
        identity: "i".to_owned(),
        variants: vec![variant],
        ..StudyLine::default()
    };
    let trial = Trial {
        block: 1,
        workload: "loop".to_owned(),
        condition: "idle".to_owned(),
        position: 1,
        variant: "baseline".to_owned(),
        session: 1,
        outcome: Outcome::Void("too busy".to_owned()),
        measurements: [("wall".to_owned(), 1.5), ("maxrss".to_owned(), 4096.0), ("faults".to_owned(), 3.0)].into(),
        leftovers: 1,
        ..Trial::default()
    };
    let again = Trial { attempt: 1, outcome: Outcome::Ok, ..trial.clone() };
    let order = vec!["baseline".to_owned(), "twin".to_owned()];
    let block = Block {
        block: 1,
        workload: "loop".to_owned(),
        condition: "idle".to_owned(),
        order,
        padding: 16,
        ..Block::default()
    };
    let session = Session { session: 1, place: bakeoff_testkit::findings::place(), ..Session::default() };
    let mut record = Record::new(study);
    record.sessions = vec![session];
    record.made = vec![made, line(bakeoff_testkit::findings::unbuilt("threads=on"))];
    record.blocks = vec![block];
    record.trials = vec![trial, again];
    record
}

fn pages(record: &Record) -> [String; 2] {
    let attempts: Vec<&Trial> = record.trials.iter().collect();
    [provenance(record, describe, STYLE), trace(record, &attempts, describe, STYLE)]
}

/// As a maker would.
fn describe(line: &MadeLine, sheet: &mut Sheet) {
    sheet.detail(Ink::Plain, &format!("digest {}", line.digest));
    for text in line.more.values().filter_map(|value| value.as_str()) {
        sheet.detail_of_detail(Ink::Plain, text);
    }
}

#[test]
fn everything_behind_a_trial_is_told() {
    let record = record();
    let [provenance, trace] = pages(&record).map(|page| page.split_whitespace().collect::<Vec<_>>().join(" "));
    for part in [record.made[0].digest.as_str(), "logs/0.log", "session 1", "machine: ash"] {
        assert!(provenance.contains(part) && trace.contains(part), "{part}\n{provenance}\n{trace}");
    }
    for part in ["void: too busy", "attempt 2: ok", "wall 1.50 s", "maxrss 4.00 KiB", "order: baseline, twin"] {
        assert!(trace.contains(part), "{part}\n{trace}");
    }
}

/// A record is no JSON of its own; its lines are.
#[test]
fn no_string_of_a_journal_steers_a_terminal() {
    let record = record();
    let mut tried = 0;
    let mut check = |record: &Record| {
        pages(record).iter().for_each(|page| assert!(is_harmless(page), "{page:?}"));
        tried += 1;
    };
    macro_rules! steer {
        ($part:expr, $put:expr) => {
            for steered in steered(&serde_json::to_value(&$part).unwrap()) {
                let Ok(part) = serde_json::from_value(steered) else { continue };
                let mut record = record.clone();
                $put(&mut record, part);
                check(&record);
            }
        };
    }
    steer!(record.study, |record: &mut Record, part| record.study = part);
    steer!(record.sessions, |record: &mut Record, part| record.sessions = part);
    steer!(record.made, |record: &mut Record, part| record.made = part);
    steer!(record.blocks, |record: &mut Record, part| record.blocks = part);
    steer!(record.trials, |record: &mut Record, part| record.trials = part);
    assert!(tried > 50, "only {tried} strings were found");
}
