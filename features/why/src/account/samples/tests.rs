//! Made-up samples: what is shown, that rows add up, and what is sampled and not counted.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use super::*;
use crate::account::fixture::{LIBC, PROGRAM, counted, f};
use crate::account::page;
use crate::account::result::Account;
use proptest::prelude::*;

const PERIOD_NS: u64 = 1_000_000;

fn run(functions: &[(&str, &str, u64)], unnamed: u64) -> Sampled {
    let functions = functions.iter().map(|(name, file, samples)| FunctionSamples {
        name: (*name).to_owned(),
        file: (*file).to_owned(),
        samples: *samples,
        ..FunctionSamples::default()
    });
    Sampled { period_ns: PERIOD_NS, functions: functions.collect(), unnamed, lost: 0 }
}

/// Ten blocks: of each, both runs.
fn blocks(of: impl Fn(u64) -> [Sampled; 2]) -> Vec<[Sampled; 2]> {
    (0..10).map(of).collect()
}

fn account(counts: [&Counted; 2], blocks: &[[Sampled; 2]]) -> SampledAccount {
    let counts = counts.map(|counted| vec![counted.clone()]);
    let blocks: Vec<[&Sampled; 2]> = blocks.iter().map(<[Sampled; 2]>::each_ref).collect();
    let account = of([&counts[0], &counts[1]], &blocks).unwrap();
    adds_up(&account);
    account
}

#[track_caller]
fn adds_up(account: &SampledAccount) {
    let parts = |row: &SampledRow| [row.user_s[0], row.user_s[1], row.by_number_s, row.by_speed.estimate_s];
    for (place, whole) in parts(&account.sum).into_iter().enumerate() {
        let sum: f64 = account.rows.iter().map(|row| parts(row)[place]).sum();
        assert!((sum - whole).abs() < 1e-9, "part {place}: {sum} and not {whole}");
    }
    let SampledRow { user_s: [before, after], by_number_s, by_speed, .. } = account.sum;
    assert!((after - before - by_number_s - by_speed.estimate_s).abs() < 1e-9);
}

fn named(row: &SampledRow) -> &str {
    match &row.what {
        SampledCode::Function { name, .. } => name,
        _ => "",
    }
}

fn row<'a>(account: &'a SampledAccount, name: &str) -> &'a SampledRow {
    account.rows.iter().find(|row| named(row) == name).unwrap_or_else(|| panic!("{name}: {account:#?}"))
}

fn text(samples: &SampledAccount) -> String {
    let account = Account { is_nothing: true, samples: Some(samples.clone()), ..Account::default() };
    page::text(&account, ["a", "b"], 120)
}

#[test]
fn what_is_slower_at_the_same_instructions_is_shown_and_what_has_more_of_them_is_not() {
    // Half of all time is work that the variant does twice; 20 ms are of `slow` alone.
    let a = counted(vec![f("slow", PROGRAM, 1, 1000), f("more", PROGRAM, 1, 1000), f("same", PROGRAM, 1, 1000)], &[]);
    let b = counted(vec![f("slow", PROGRAM, 1, 1000), f("more", PROGRAM, 2, 2000), f("same", PROGRAM, 1, 1000)], &[]);
    let of = |slow, more, same| run(&[("slow", PROGRAM, slow), ("more", PROGRAM, more), ("same", PROGRAM, same)], 0);
    let blocks = blocks(|block| [of(30 + block % 2, 30, 30 + block % 3), of(60 - block % 2, 66, 30 + block % 4)]);
    let account = account([&a, &b], &blocks);
    assert_eq!((account.blocks, account.tested, account.samples[0]), (10, 3, 914));
    assert_eq!(named(&account.rows[0]), "slow");
    assert!(row(&account, "slow").is_shown && !row(&account, "same").is_shown, "{account:#?}");
    // 1000 instructions × (91.4 ms ÷ 3000 + 156.8 ms ÷ 4000) ÷ 2.
    let by_number_s = row(&account, "more").by_number_s;
    assert!((by_number_s - 0.034_833).abs() < 1e-6, "{by_number_s}");
    assert_eq!((row(&account, "slow").by_number_s, row(&account, "same").by_number_s), (0.0, 0.0));
    let text = text(&account);
    assert!(text.contains("slow") && text.contains(" yes") && text.contains(" no"), "{text}");
}

#[test]
fn one_of_many_functions_is_not_shown_by_chance() {
    // Two functions that vary alike; one of them is always a little larger.
    let differs = |block: u64| [7, 0, 6, 1, 5, 0, 7, 2, 1, 6][block as usize];
    let names: Vec<String> = (0..12).map(|number| format!("f{number:02}")).collect();
    let check = |number: usize, is_shown: bool| {
        let names = &names[..number];
        let counted = counted(names.iter().map(|name| f(name, PROGRAM, 1, 1000)).collect(), &[]);
        let of = |first: u64| {
            let all: Vec<(&str, &str, u64)> = names
                .iter()
                .map(|name| (name.as_str(), PROGRAM, if name == "f00" { 100 + first } else { 100 }))
                .collect();
            run(&all, 0)
        };
        let account = account([&counted, &counted], &blocks(|block| [of(0), of(differs(block))]));
        let row = row(&account, "f00");
        let [low, _] = row.by_speed.interval_s.unwrap();
        // Its own interval is off 0 in any case.
        assert!(low > 0.0 && row.is_shown == is_shown, "{row:#?}");
        let is_told =
            text(&account).contains("The samples do not show which functions run at a different speed; n = 10 blocks.");
        assert_eq!(is_told, !is_shown);
    };
    check(2, true);
    check(12, false);
}

#[test]
fn at_most_six_functions_have_rows_and_small_ones_are_not_tested() {
    let names: Vec<String> = (0..9).map(|number| format!("f{number}")).collect();
    let counted = counted(names.iter().map(|name| f(name, PROGRAM, 1, 1000)).collect(), &[]);
    let of = |more: u64| {
        let all = names.iter().zip(0..);
        let all: Vec<(&str, &str, u64)> = all
            .map(|(name, number)| (name.as_str(), PROGRAM, if number == 8 { 1 } else { 100 + more * number }))
            .collect();
        run(&all, 3)
    };
    let account = account([&counted, &counted], &blocks(|block| [of(0), of(4 + block % 2)]));
    let found: Vec<&str> = account.rows.iter().map(named).collect();
    assert_eq!(found, ["f7", "f6", "f5", "f4", "f3", "f2", ""]);
    assert_eq!((account.tested, &account.rows[6].what), (8, &SampledCode::Rest(4)));
    assert!(account.rows[6].p.is_none() && !account.rows[6].is_shown);
}

#[test]
fn code_is_known_by_names_of_counts_and_without_them() {
    // The variant has inlined `part`; libc takes another function than under valgrind; some code was made during the run.
    let a = counted(
        vec![f("main", PROGRAM, 1, 1000), f("part", PROGRAM, 10, 500), f("memcpy_avx", LIBC, 1, 10)],
        &[(0, 1, 10)],
    );
    let b = counted(vec![f("main", PROGRAM, 1, 1500), f("memcpy_avx", LIBC, 1, 10)], &[]);
    let before = run(&[("main", PROGRAM, 10), ("part", PROGRAM, 5), ("memcpy_avx512", LIBC, 5)], 5);
    let after = run(&[("main", PROGRAM, 15), ("memcpy_avx512", LIBC, 8)], 7);
    let account = account([&a, &b], &blocks(|_| [before.clone(), after.clone()]));
    let main = row(&account, "main");
    assert!((main.user_s[0] - 0.015).abs() < 1e-9 && main.by_number_s == 0.0 && !main.is_shown, "{main:#?}");
    assert!(row(&account, "memcpy_avx512").is_shown);
    let nameless = account.rows.iter().find(|row| row.what == SampledCode::Nameless).unwrap();
    assert!((nameless.by_speed.estimate_s - 0.002).abs() < 1e-9);
}

#[test]
fn without_blocks_or_samples_there_is_no_account() {
    let counts = [counted(vec![f("main", PROGRAM, 1, 1000)], &[])];
    let (none, some) = (run(&[], 0), run(&[("main", PROGRAM, 5)], 0));
    let of = |blocks: &[[&Sampled; 2]]| of([&counts, &counts], blocks);
    assert_eq!(of(&[]), None);
    assert_eq!(of(&[[&some, &some]]), None);
    assert_eq!(of(&[[&none, &some], [&none, &some]]), None);
    assert!(of(&[[&some, &some], [&some, &some]]).is_some());
    assert_eq!(super::of([&counts, &[]], &[[&some, &some], [&some, &some]]), None);
}

proptest! {
    /// Whatever a journal has, nothing overflows.
    #[test]
    fn any_samples_add_up_or_are_refused(samples in prop::collection::vec(any::<u64>(), 8), period_ns: u64) {
        let counts = [counted(vec![f("main", PROGRAM, 1, u64::MAX), f("part", PROGRAM, 1, 7)], &[(0, 1, u64::MAX)])];
        let of_run = |at: usize| Sampled { period_ns, ..run(&[("main", PROGRAM, samples[at]), ("part", LIBC, samples[at + 1])], samples[at]) };
        let runs: Vec<Sampled> = (0..7).map(of_run).collect();
        let blocks: Vec<[&Sampled; 2]> = runs.windows(2).map(|pair| [&pair[0], &pair[1]]).collect();
        if let Some(account) = super::of([&counts, &counts], &blocks) {
            let all = account.rows.iter().chain([&account.sum]);
            prop_assert!(all.flat_map(|row| row.user_s).all(f64::is_finite));
        }
    }
}
