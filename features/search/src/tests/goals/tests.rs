//! The goals, in short, or in full where `tools/long` asks for it.

use super::*;

/// BAKEOFF_SEARCH=PART:RUNS:SEED measures one part and prints its table.
#[test]
#[allow(clippy::disallowed_methods, reason = "how tools/long asks a test for more")]
fn searching_reaches_its_goals() {
    let asked = std::env::var("BAKEOFF_SEARCH").ok();
    let words: Vec<&str> = asked.iter().flat_map(|asked| asked.split(':')).collect();
    let number = |at: usize, or: u64| words.get(at).and_then(|word| word.parse().ok()).unwrap_or(or);
    // Fewer do not tell a ratio that is reached from one that is not.
    let options = Options { runs: number(1, 20) as u32, seed: number(2, 55), short: asked.is_none() };
    for part in PARTS.into_iter().filter(|part| words.first().is_none_or(|word| *word == part.name())) {
        let rows = measure(part, options);
        println!("## {}, seed {}\n\n{}", part.name(), options.seed, markdown(&rows));
        let missed: Vec<&Row> = rows.iter().filter(|row| !row.holds).collect();
        assert!(missed.is_empty() || !options.short, "seed {}: {missed:#?}", options.seed);
    }
}
