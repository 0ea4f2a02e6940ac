//! Stopping rules: when they stop, what they make of the numbers, and how often they call a difference where there is
//! none. The simulated worlds are the calibration's; the seed is fixed and printed; the bounds are the goals, with room
//! for the error of that many simulated studies.
use crate::calibration::World;
use bakeoff_judge::findings::{Findings, Inferred, Verdict};
use bakeoff_judge::stopping::enough;
use bakeoff_judge::{judge, planning};
use bakeoff_model::record::{Block, Line, Outcome, Place, Record, Session, StudyLine, TWIN, Trial, VariantLine};
use bakeoff_model::shuffle::Stream;
use bakeoff_model::study::Decide;
use bakeoff_model::until::Until;
use bakeoff_stats::eprocess::{self, EProcess};
use bakeoff_stats::signflip::SignFlip;
use bakeoff_stats::spending;
use bakeoff_testkit::records::sentence;

const SEED: u64 = 178;
const WORLDS: [World; 3] = [World::Normal, World::Spiky, World::Drift];

/// A record without blocks of a baseline and two variants.
fn empty(until: Until, most: u32) -> Record {
    let variant =
        |name: &str| VariantLine { name: name.to_owned(), levels: Default::default(), build: None, run: None };
    let mut record = Record::new(StudyLine {
        format: 1,
        bakeoff: "0".to_owned(),
        study: "s".to_owned(),
        question: None,
        plan: "default".to_owned(),
        identity: "i".to_owned(),
        seed: 1,
        variants: ["baseline", "a", "b"].map(variant).to_vec(),
        workloads: vec!["w".to_owned()],
        conditions: vec!["idle".to_owned()],
        decide: Decide {
            baseline: Default::default(),
            metrics: vec!["wall".to_owned(), "maxrss".to_owned()],
            margin: 0.01,
            confidence: 0.95,
            ..Decide::default()
        },
        until,
        looks_until: (until == Until::Decided).then_some(most),
        simulated: None,
        ..StudyLine::default()
    });
    record.push(Line::Session(Session {
        session: 1,
        started_unix_s: 0.0,
        blocks: most,
        place: Place::default(),
        memory_floor_bytes: None,
        ..Session::default()
    }));
    record
}

/// Adds a pass; the last `missing` trials of it are not there yet.
fn pass(record: &mut Record, walls: [f64; 4], missing: usize) {
    let block = record.blocks.len() as u32 + 1;
    let order = ["baseline", "a", "b", TWIN].map(str::to_owned);
    let [workload, condition] = ["w", "idle"].map(str::to_owned);
    let begun = Block {
        block,
        workload: workload.clone(),
        condition: condition.clone(),
        order: order.to_vec(),
        ..Block::default()
    };
    record.push(Line::Block(begun));
    for (position, (variant, wall)) in (1..).zip(order.into_iter().zip(walls)).take(4 - missing) {
        record.push(Line::Trial(Trial {
            block,
            workload: workload.clone(),
            condition: condition.clone(),
            position,
            variant,
            session: 1,
            started_unix_s: 0.0,
            outcome: Outcome::Ok,
            measurements: [("wall".to_owned(), wall), ("maxrss".to_owned(), 1e6)].into(),
            leftovers: 0,
            ..Trial::default()
        }));
    }
}

/// Passes with this noise, variant `a` slower by this ratio; as many as the rule asks for, at most `most`.
fn study(until: Until, most: u32, noise: f64, ratio: f64) -> Record {
    let mut record = empty(until, most);
    let mut stream = Stream::of(SEED, &["study"]);
    for _ in 0..most {
        let mut wall = |ratio: f64| ratio * (noise * (12.0f64).sqrt() * (stream.unit() - 0.5)).exp();
        let walls = [wall(1.0), wall(ratio), wall(1.0), wall(1.0)];
        pass(&mut record, walls, 0);
        if enough(&record) {
            break;
        }
    }
    record
}

fn verdicts(findings: &Findings) -> Vec<Verdict> {
    findings.tables[0].rows.iter().filter_map(|row| Some(row.comparison.as_ref()?.verdict)).collect()
}

#[test]
fn each_rule_stops_where_it_should_and_says_so() {
    let check = |until: Until, most: u32, noise: f64, expect: std::ops::RangeInclusive<u32>| {
        let record = study(until, most, noise, 1.05);
        let findings = judge(&record);
        let stopping = findings.method.stopping.clone().unwrap();
        let blocks = record.blocks.len() as u32;
        assert!(expect.contains(&blocks), "{until}: stopped after {blocks}");
        assert_eq!((stopping.judged_blocks, stopping.most_blocks), (blocks, most), "{until}");
        assert_eq!(stopping.enough, enough(&record), "{until}");
        assert_eq!(findings.blocks_finished, findings.blocks_total, "{until}: it is complete");
        assert!(findings.caveats.is_empty(), "{until}: {:?}", findings.caveats);
        (verdicts(&findings), findings)
    };
    let decided = [Verdict::Slower, Verdict::Equivalent];
    // The first look can show one difference of two: 2⁻⁷ is less than its level.
    assert_eq!(check(Until::Decided, 40, 0.002, 8..=8).0, decided);
    assert_eq!(check(Until::Decided, 40, 0.01, 18..=40).1.method.stopping.unwrap().looks, [8, 12, 18, 27, 40]);
    assert_eq!(check(Until::Anytime, 100, 0.005, 8..=14).0, decided);
    assert_eq!(check(Until::Precision(0.01), 100, 0.003, 10..=10).0, decided);
    check(Until::Precision(0.01), 60, 0.012, 11..=30);
    let (verdicts, findings) = check(Until::Decided, 20, 0.2, 20..=20);
    assert!(matches!(verdicts[..], [Verdict::Undecided { .. }, Verdict::Undecided { .. }]), "{verdicts:?}");
    assert!(!findings.method.stopping.unwrap().enough);
}

#[test]
fn precision_is_the_half_width_of_every_interval() {
    let record = study(Until::Precision(0.01), 100, 0.012, 1.05);
    let reach = |record: &Record| {
        let findings = judge(record);
        let rows = findings.tables[0].rows.clone();
        let half = |[low, high]: [f64; 2]| (high / low).ln() / 2.0;
        rows.iter().filter_map(|row| Some(half(row.comparison.as_ref()?.interval()?))).fold(0.0, f64::max)
    };
    assert!(reach(&record) <= 1.01f64.ln());
    let mut before = record.clone();
    before.blocks.pop();
    before.trials.truncate(before.trials.len() - 4);
    assert!(reach(&before) > 1.01f64.ln() && !enough(&before));
    // What is taken at 97 % is wider than what would be at 95 %.
    let mut fixed = record.clone();
    fixed.study.until = Until::Blocks;
    assert!(reach(&fixed) < reach(&record));
}

#[test]
fn nothing_is_judged_between_the_looks() {
    let whole = study(Until::Decided, 40, 0.2, 1.0);
    let first = |passes: usize, missing: usize| {
        let mut record = whole.clone();
        record.blocks.truncate(passes);
        record.trials.truncate(4 * passes - missing);
        record
    };
    let tables = |record: &Record| judge(record).tables;
    assert_eq!(tables(&first(12, 0)), tables(&first(13, 0)));
    assert_eq!(tables(&first(12, 0)), tables(&first(18, 1)), "a pass that is not finished is no look");
    assert_ne!(tables(&first(12, 0)), tables(&first(18, 0)));
    let between = judge(&first(15, 0));
    assert!(between.caveats.iter().any(|caveat| caveat.kind() == "after-the-look"), "{:?}", between.caveats);
    assert!(
        between.caveats.iter().any(|caveat| sentence(caveat).contains("of at most 40 blocks")),
        "{:?}",
        between.caveats
    );
    let early = judge(&first(7, 0));
    let comparison = early.tables[0].rows[1].comparison.clone().unwrap();
    assert_eq!(comparison.inferred, Inferred::TooFew);
    assert!(sentence(&comparison.caveats[0]).contains("first checks after 8"), "{:?}", comparison.caveats);
}

#[test]
fn a_fixed_number_of_blocks_is_never_stopped_and_says_nothing_of_rules() {
    let record = study(Until::Blocks, 15, 0.001, 1.05);
    assert_eq!(record.blocks.len(), 15);
    assert_eq!(judge(&record).method.stopping, None);
    assert!(!enough(&empty(Until::Anytime, 10)));
    assert!(!enough(&empty(Until::Precision(0.5), 10)));
}

#[test]
fn an_undecided_comparison_says_what_it_could_have_seen() {
    let findings = judge(&study(Until::Blocks, 20, 0.05, 1.0));
    let comparison = findings.tables[0].rows[1].comparison.clone().unwrap();
    assert!(matches!(comparison.verdict, Verdict::Undecided { .. }));
    // Two values with a noise of 5 % each, 20 blocks: 5 % · √2 · (t(.9875) + t(.8)) / √20.
    assert!(comparison.detectable.is_some_and(|seen| (1.03..1.09).contains(&seen)), "{:?}", comparison.detectable);
    let decided = judge(&study(Until::Blocks, 20, 0.001, 1.0));
    assert_eq!(decided.tables[0].rows[1].comparison.clone().unwrap().detectable, None);
}

#[test]
fn a_pilot_tells_how_many_blocks_it_takes() {
    let planning = planning::from_pilot(&study(Until::Blocks, 10, 0.01, 1.0), &[0.01, 0.05], 0.8);
    assert_eq!(planning.rows.len(), 4, "two variants, two metrics");
    let row = &planning.rows[0];
    let (sd, bound) = (row.sd.unwrap(), row.planned_sd.unwrap());
    assert!((0.008..0.02).contains(&sd) && (bound / sd - 1.2929).abs() < 0.001, "{row:?}");
    assert!(row.to_see[0] > row.to_see[1] && row.to_see[1] == Some(6), "{row:?}");
    assert!((row.block_s.unwrap() - 4.0).abs() < 0.1, "{row:?}");
    let few = planning::from_pilot(&study(Until::Blocks, 5, 0.01, 1.0), &[0.01], 0.8);
    assert_eq!((few.rows[0].sd, &few.rows[0].to_see[..], few.rows[0].seen), (None, &[None][..], None));
}

/// The contrasts of a study of a thing against itself: a coin decides which of two slots is whose.
fn contrasts(world: World, blocks: usize, stream: &mut Stream) -> Vec<f64> {
    let noise = world.noise(2 * blocks, stream);
    noise
        .chunks_exact(2)
        .map(|slots| if stream.unit() < 0.5 { slots[1] - slots[0] } else { slots[0] - slots[1] })
        .collect()
}

/// In every world, `claim` holds for a part of the studies that is not significantly larger than `most`.
fn rarely(what: &str, studies: u32, blocks: usize, most: f64, claim: impl Fn(&[f64]) -> bool) {
    for world in WORLDS {
        let mut stream = Stream::of(SEED, &[what, world.name()]);
        let claims = (0..studies).filter(|_| claim(&contrasts(world, blocks, &mut stream))).count();
        let part = claims as f64 / f64::from(studies);
        let room = 2.5 * (most * (1.0 - most) / f64::from(studies)).sqrt();
        println!("seed {SEED}, {studies} studies, {}: {what}: {part}", world.name());
        assert!(part <= most + room, "{}: {what}: {part}; seed {SEED}", world.name());
    }
}

#[test]
fn looks_call_few_differences_where_there_are_none() {
    // Up to 36 blocks all is exact, and fast.
    let looks = spending::looks(36);
    let levels = spending::levels(&looks, 0.05).unwrap();
    rarely("looks", 1500, 36, 0.05, |contrasts| {
        looks
            .iter()
            .zip(&levels)
            .any(|(look, level)| SignFlip::new(&contrasts[..*look as usize], 0).unwrap().p(0.0) <= *level)
    });
}

#[test]
fn the_bet_calls_few_differences_where_there_are_none() {
    rarely("bet", 5_000, 40, 0.05, |contrasts| EProcess::of(contrasts).unwrap().largest() >= 20.0);
    rarely("confidence sequence", 200, 30, 0.05, |contrasts| {
        (8..=contrasts.len())
            .any(|n| eprocess::interval(&contrasts[..n], 0.05).is_some_and(|[low, high]| low > 0.0 || high < 0.0))
    });
}

#[test]
fn precision_calls_few_differences_where_there_are_none() {
    rarely("precision", 1000, 30, 0.05, |contrasts| {
        let level = 0.6 * 0.05;
        let mut at = 10;
        loop {
            let mut test = SignFlip::new(&contrasts[..at], 0).unwrap();
            let [low, high] = test.interval(level).unwrap();
            if (high - low) / 2.0 <= 1.01f64.ln() || at == contrasts.len() {
                return test.p(0.0) <= level;
            }
            at += 1;
        }
    });
}
