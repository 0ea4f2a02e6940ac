//! Accounts of small made-up counts: a rule each, with the cases that a simpler rule would get wrong.

mod examples;
mod properties;

use super::fixture::*;
use super::result::*;
use super::time::{TimeInput, Times};
use super::{export, page};
use crate::counts::{CodeKind, Counted, FunctionCount, Instrument};
use bakeoff_testkit::foreign::{is_harmless, steered};

#[test]
fn static_functions_of_one_name_are_told_apart_by_their_sources() {
    let side = |one, other| {
        let helper = |source, instructions| of(source, f("helper", PROGRAM, 10, instructions));
        counted(vec![helper("a.c", one), helper("b.c", other), f("main", PROGRAM, 1, 100)], &[])
    };
    // In another order.
    let mut variant = side(1000, 9000);
    variant.functions.reverse();
    let account = account(side(1000, 5000), variant);
    let found: Vec<_> = all(&account, "helper").iter().map(|one| (one.source.as_deref(), one.instructions)).collect();
    assert_eq!(found, [(Some("b.c"), [5000, 9000]), (Some("a.c"), [1000, 1000])]);
}

#[test]
fn what_cachegrind_counted_has_neither_calls_nor_mechanisms() {
    let side = |malloc, work| {
        let functions = vec![f("malloc", "", 0, malloc), f("work", "", 0, work)];
        Counted { instrument: Instrument::Cachegrind, ..counted(functions, &[]) }
    };
    let account = account(side(100, 1000), side(300, 2000));
    let is_function = |row: &Row| matches!(row.cause, Cause::Function { .. });
    assert!(account.rows.len() == 2 && account.rows.iter().all(is_function), "{:?}", account.rows);
    assert_eq!((account.is_by_names, account.allocators), (true, [None, None]));
    let text = page::text(&account, ["baseline", "variant"], 120);
    assert!(text.contains("Counted by cachegrind") && !text.contains("call"), "{text}");
}

#[test]
fn rows_of_one_name_have_their_places() {
    let helper = |source, instructions| of(source, f("helper", PROGRAM, 10, instructions));
    let side = |one, other| counted(vec![helper("a.c", one), helper("b.c", other)], &[]);
    let account = account(side(1000, 1000), side(2000, 3000));
    let text = page::text(&account, ["baseline", "variant"], 120);
    assert!(text.contains("helper in a.c") && text.contains("helper in b.c"), "{text}");
}

#[test]
fn what_may_be_several_functions_is_not_matched() {
    let helper = |source| of(source, f("helper", PROGRAM, 10, 1000));
    let account = account(counted(vec![helper("a.c")], &[]), counted(vec![helper("b.c"), helper("c.c")], &[]));
    assert_eq!(account.matched, Matched { only: [1000, 2000], ..Matched::default() });
    // Nor is one alone, if it is static in another source.
    let account = super::of(&[counted(vec![helper("a.c")], &[])], &[counted(vec![helper("b.c")], &[])], None);
    assert_eq!(account.matched.only, [1000, 1000]);
}

#[test]
fn a_function_that_moved_into_a_library_is_the_same() {
    let a = counted(vec![f("sv_clear", PROGRAM, 10, 700), f("main", PROGRAM, 1, 5)], &[]);
    let b = counted(vec![f("sv_clear", LIBRARY, 10, 900), f("main", PROGRAM, 1, 5)], &[]);
    let account = account(a, b);
    let moved = only(&account, "sv_clear");
    assert_eq!((moved.instructions, moved.rule), ([700, 900], Some(Rule::Name)));
    assert_eq!(moved.files, [Some(PROGRAM.to_owned()), Some(LIBRARY.to_owned())]);
    assert_eq!(account.matched, Matched { by_name: 1610, ..Matched::default() });
}

#[test]
fn of_one_name_in_program_and_library_each_is_matched_with_its_own() {
    let side = |one, other| counted(vec![f("init", PROGRAM, 1, one), f("init", LIBRARY, 1, other)], &[]);
    let account = account(side(100, 200), side(300, 200));
    assert_eq!(all(&account, "init").iter().map(|one| one.instructions).collect::<Vec<_>>(), [[100, 300], [200, 200]]);
}

#[test]
fn the_systems_libraries_are_matched_within_themselves() {
    let a = counted(vec![f("strlen", LIBC, 10, 100), f("_start", LOADER, 1, 10)], &[]);
    let b = counted(vec![f("strlen", PROGRAM, 10, 300), f("_start", PROGRAM, 1, 10)], &[]);
    let account = account(a, b);
    assert_eq!(account.matched, Matched { only: [110, 310], ..Matched::default() });
}

#[test]
fn clones_are_folded_onto_their_functions() {
    // The part is entered from the function itself, and 5 times from where its head was inlined.
    let a = counted(vec![f("fresh", PROGRAM, 30, 1000), f("main", PROGRAM, 1, 5)], &[]);
    let functions = vec![
        f("fresh", PROGRAM, 20, 300),
        of("sv.c", f("fresh.part.0", PROGRAM, 15, 400)),
        of("sv.c", f("fresh.constprop.0.isra.1", PROGRAM, 5, 500)),
        f("main", PROGRAM, 1, 5),
    ];
    let account = account(a, counted(functions, &[(0, 1, 10), (3, 1, 5), (3, 2, 5), (3, 0, 20)]));
    let fresh = only(&account, "fresh");
    assert_eq!((fresh.instructions, fresh.calls, fresh.rule), ([1000, 1200], [30, 30], Some(Rule::Name)));
    assert_eq!(fresh.split, Some(Split { more_calls: 0, dearer_calls: 200 }));
}

#[test]
fn hashes_do_not_keep_functions_apart() {
    let name = |hash: char| format!("_ZN4core3fmt5write17h{}E", hash.to_string().repeat(16));
    let a = counted(vec![f(&name('a'), PROGRAM, 1, 100), f("_ZN3FooC1Ev", PROGRAM, 1, 10)], &[]);
    let b = counted(vec![f(&name('b'), PROGRAM, 1, 300), f("_ZN3FooC2Ev", PROGRAM, 1, 10)], &[]);
    let account = account(a, b);
    assert_eq!(only(&account, "core::fmt::write").instructions, [100, 300]);
    assert_eq!(account.matched, Matched { by_base_name: 420, ..Matched::default() });
}

#[test]
fn the_same_code_is_matched_if_nothing_else_has_it_and_both_call_the_same() {
    let with = |code: u64, function: FunctionCount| FunctionCount { code: Some(code), ..function };
    let [x, y] = ["x", "y"].map(|name| f(name, PROGRAM, 1, 10));
    let a = || vec![x.clone(), y.clone(), with(7, f("old", PROGRAM, 1, 100))];
    let b = || vec![x.clone(), y.clone(), with(7, f("new", PROGRAM, 1, 200))];
    let is_matched = |a: Counted, b: Counted| account(a, b).matched.by_same_code;
    assert_eq!(is_matched(counted(a(), &[]), counted(b(), &[])), 300);
    assert_eq!(is_matched(counted(a(), &[(2, 0, 1)]), counted(b(), &[(2, 0, 1)])), 300);
    let one = account(counted(a(), &[]), counted(b(), &[]));
    assert_eq!(only(&one, "old").symbols, [vec!["old"], vec!["new"]]);
    assert_eq!(only(&one, "old").rule, Some(Rule::SameCode));
    // They call different functions.
    assert_eq!(is_matched(counted(a(), &[(2, 0, 1)]), counted(b(), &[(2, 1, 1)])), 0);
    // Two have this code, of which one has a name on both sides.
    let third = || with(7, f("third", PROGRAM, 1, 5));
    assert_eq!(is_matched(counted([a(), vec![third()]].concat(), &[]), counted([b(), vec![third()]].concat(), &[])), 0);
    // It is known by name already.
    let known = vec![x.clone(), with(7, f("old", PROGRAM, 1, 10)), f("new", PROGRAM, 1, 10)];
    assert_eq!(is_matched(counted(a(), &[]), counted([known, b()].concat(), &[])), 0);
}

#[test]
fn an_inlined_function_is_given_to_its_callers() {
    let a = counted(vec![f("one", PROGRAM, 10, 1000), f("two", PROGRAM, 10, 2000)], &[]);
    let functions = vec![f("one", PROGRAM, 10, 700), f("two", PROGRAM, 10, 1900), f("inner", PROGRAM, 40, 401)];
    let account = account(a, counted(functions, &[(0, 2, 30), (1, 2, 10)]));
    assert_eq!(only(&account, "one").instructions, [1000, 700 + 301]);
    assert_eq!(only(&account, "two").instructions, [2000, 1900 + 100]);
    assert_eq!(only(&account, "one").with, ["inner"]);
    assert!(all(&account, "inner").is_empty());
}

/// On both sides: who calls it is all that is known of it.
#[test]
fn functions_without_a_name_are_given_to_their_callers() {
    let nameless = |place: &str, calls, cost| stub(CodeKind::Nameless, f(place, PROGRAM, calls, cost));
    let side = |cost, alone| {
        let functions = vec![f("one", PROGRAM, 10, 1000), nameless("0x10", 30, cost), nameless("0x90", 5, alone)];
        counted(functions, &[(0, 1, 30)])
    };
    let account = account(side(500, 70), side(900, 90));
    assert_eq!(only(&account, "one").instructions, [1500, 1900]);
    assert!(only(&account, "one").with.is_empty(), "a number says nothing");
    // Nobody is known to call the other one.
    let row = row(&account, |cause| *cause == Cause::Mechanism(Mechanism::Nameless));
    assert_eq!(row.instructions, [70, 90]);
}

#[test]
fn what_is_called_through_pointers_stays_in_part() {
    let a = counted(vec![f("one", PROGRAM, 10, 1000)], &[]);
    let functions = vec![f("one", PROGRAM, 10, 1000), f("inner", PROGRAM, 40, 4000)];
    let account = account(a, counted(functions, &[(0, 1, 10)]));
    assert_eq!(only(&account, "one").instructions, [1000, 2000]);
    assert_eq!(only(&account, "inner").instructions, [0, 3000]);
    let text = page::text(&account, ["baseline", "variant"], 120);
    assert!(text.contains("inner (only in the variant)") && text.contains("one (+ inner)"), "{text}");
}

#[test]
fn recursion_is_given_away_as_one() {
    // inner calls itself; even and odd call each other; all of them ran in the variant only.
    let a = counted(vec![f("main", PROGRAM, 1, 1000)], &[]);
    let functions = vec![
        f("main", PROGRAM, 1, 500),
        f("inner", PROGRAM, 1_000_001, 3000),
        f("even", PROGRAM, 500_001, 2000),
        f("odd", PROGRAM, 500_000, 1000),
    ];
    let calls = [(0, 1, 1), (1, 1, 1_000_000), (1, 2, 1), (2, 3, 500_000), (3, 2, 500_000)];
    let account = account(a, counted(functions, &calls));
    let main = only(&account, "main");
    assert_eq!((main.instructions, &*main.with), ([1000, 6500], &["inner", "even", "odd"].map(str::to_owned)[..]));
    // A circle without a known caller stays.
    let a = counted(vec![f("main", PROGRAM, 1, 1000)], &[]);
    let functions = vec![f("main", PROGRAM, 1, 500), f("even", PROGRAM, 9, 20), f("odd", PROGRAM, 9, 10)];
    let account = super::of(&[a], &[counted(functions, &[(1, 2, 9), (2, 1, 8)])], None);
    assert_eq!((only(&account, "even").instructions, only(&account, "odd").instructions), ([0, 20], [0, 10]));
}

#[test]
fn a_long_chain_of_calls_does_not_exhaust_the_stack() {
    let length = 50_000_u32;
    let chain = (0..length).map(|place| f(&format!("f{place}"), PROGRAM, 1, 10)).collect();
    let calls: Vec<(u32, u32, u64)> = (1..length).map(|place| (place - 1, place, 1)).collect();
    let account = account(counted(vec![f("f0", PROGRAM, 1, 10)], &[]), counted(chain, &calls));
    assert_eq!(only(&account, "f0").instructions, [10, 500_000]);
}

#[test]
fn calls_through_a_stub_are_calls_of_what_is_behind() {
    let a = counted(vec![f("main", PROGRAM, 1, 1000)], &[]);
    let functions = vec![
        f("main", LIBRARY, 1, 500),
        stub(CodeKind::OwnStub, f("inner", LIBRARY, 10, 30)),
        f("inner", LIBRARY, 10, 800),
    ];
    let account = account(a, counted(functions, &[(0, 1, 10), (1, 2, 10)]));
    assert_eq!(only(&account, "main").instructions, [1000, 1300]);
    let stubs = row(&account, |cause| *cause == Cause::Mechanism(Mechanism::OwnStubs));
    assert_eq!((stubs.instructions, stubs.calls, stubs.permille), ([0, 30], Some([0, 10]), 91));
}

fn of_mechanism(account: &Account, mechanism: Mechanism) -> [u64; 2] {
    let members = account.functions.iter().filter(|function| function.mechanism == Some(mechanism));
    members.fold([0, 0], |sum, one| [sum[0] + one.instructions[0], sum[1] + one.instructions[1]])
}

#[test]
fn mechanisms_take_what_is_theirs() {
    let perl = "$PREFIX/bin/perl";
    let functions = vec![
        f("do_lookup_x", LOADER, 1, 1),
        f("memcpy", LIBC, 1, 2),
        stub(CodeKind::Stub, f("memcpy", perl, 1, 4)),
        stub(CodeKind::OwnStub, f("Perl_sv_free2", perl, 1, 8)),
        f("Perl_yyparse", perl, 1, 16),
        of("toke.c", f("S_anything", perl, 1, 32)),
        stub(CodeKind::Nameless, f("", perl, 0, 64)),
        FunctionCount { own_addresses: 128, ..f("Perl_pp_add", perl, 1, 128 + 256) },
        f("malloc", LIBC, 1, 512),
        stub(CodeKind::Stub, f("free", perl, 1, 1024)),
        f("Perl_safesysfree", perl, 1, 2048),
        f("je_arena_malloc", "/usr/lib/libjemalloc.so.2", 1, 4096),
        FunctionCount { own_addresses: 1, ..f("sin", "/lib/libm.so.6", 1, 8192) },
        stub(CodeKind::Nameless, f("", LOADER, 0, 16384)),
    ];
    let a = Counted { unnamed: 32768, ..counted(functions, &[]) };
    let account = account(a, Counted::default());
    let expect = [
        (Mechanism::Loader, 1 + 16384),
        (Mechanism::Libc, 2),
        (Mechanism::Stubs, 4),
        (Mechanism::OwnStubs, 8),
        (Mechanism::Compiling, 16 + 32),
        (Mechanism::Nameless, 64 + 32768),
        (Mechanism::OwnAddresses, 128),
        (Mechanism::Allocator, 512 + 1024 + 2048 + 4096),
    ];
    for (mechanism, instructions) in expect {
        assert_eq!(of_mechanism(&account, mechanism), [instructions, 0], "{mechanism:?}");
    }
    let own = all(&account, "Perl_pp_add").into_iter().map(|one| (one.mechanism, one.instructions[0]));
    assert_eq!(own.collect::<Vec<_>>(), [(None, 256), (Some(Mechanism::OwnAddresses), 128)]);
    assert_eq!(account.allocators, [Some(Allocator::Jemalloc), None]);
}

#[test]
fn errno_is_the_allocators_if_that_keeps_it() {
    let side = |by_allocator, by_others| {
        let functions = vec![
            f("Perl_safesysfree", "$PREFIX/bin/perl", 100, 300),
            stub(CodeKind::Stub, f("__errno_location", "$PREFIX/bin/perl", 100, 200)),
            f("__errno_location", LIBC, 100, 300),
            f("Perl_pp_open", "$PREFIX/bin/perl", 100, 100),
        ];
        counted(functions, &[(0, 1, by_allocator), (3, 1, by_others), (1, 2, by_allocator + by_others)])
    };
    for (by_allocator, by_others, expect) in [(100, 5, 800), (5, 100, 300)] {
        let account = account(side(by_allocator, by_others), Counted::default());
        assert_eq!(of_mechanism(&account, Mechanism::Allocator), [expect, 0]);
    }
}

#[test]
fn an_allocator_is_one_group_on_both_sides() {
    let perl = "$PREFIX/bin/perl";
    let a = vec![f("_int_free", LIBC, 100, 8400), f("malloc", LIBC, 100, 4100), f("main", perl, 1, 5)];
    let b = vec![f("Perl_malloc", perl, 100, 2000), f("Perl_mfree", perl, 100, 1000), f("main", perl, 1, 5)];
    let account = account(counted(a, &[]), counted(b, &[(2, 0, 100), (2, 1, 100)]));
    let [row, _] = &*account.rows else { panic!("{:?}", account.rows) };
    assert_eq!((row.permille, row.parts.len()), (1000, 4));
    let text = page::text(&account, ["baseline", "malloc=perl"], 120);
    assert!(text.contains("allocator: C library → Perl"), "{text}");
}

#[test]
fn a_difference_is_split_by_calls_and_by_cost() {
    let split = |a: (u64, u64), b: (u64, u64)| {
        let side = |(calls, instructions)| counted(vec![f("f", PROGRAM, calls, instructions)], &[]);
        account(side(a), side(b)).functions[0].split.map(|split| (split.more_calls, split.dearer_calls))
    };
    assert_eq!(split((10, 1000), (20, 2000)), Some((1000, 0)));
    assert_eq!(split((10, 1000), (10, 1500)), Some((0, 500)));
    assert_eq!(split((10, 1000), (20, 4000)), Some((1500, 1500)));
    assert_eq!(split((0, 0), (20, 4000)), Some((4000, 0)));
    assert_eq!(split((20, 4000), (0, 0)), Some((-4000, 0)));
    assert_eq!(split((0, 10), (20, 4000)), None);
    assert_eq!(split((0, 10), (0, 20)), None);
}

#[test]
fn small_rows_and_many_functions_become_the_rest() {
    let side = |extra: u64| {
        let function = |place: u64| f(&format!("f{place:02}"), PROGRAM, 10, 1000 + extra * (100 - place));
        counted((0..20).map(function).chain([f("small", PROGRAM, 1, 10 + extra)]).collect(), &[])
    };
    let account = account(side(0), side(1));
    assert_eq!(account.rows.len(), 13);
    assert_eq!(account.rows[12].cause, Cause::Rest(9));
    assert!(account.rows.windows(2).take(11).all(|pair| pair[0].permille >= pair[1].permille));
}

fn at(length: &str, counted: Counted) -> Counted {
    Counted { length: Some(length.to_owned()), ..counted }
}

#[test]
fn two_lengths_separate_work_at_start() {
    let a = |length: u64| counted(vec![f("load", LOADER, 1, 1000), f("work", PROGRAM, length, 10 * length)], &[]);
    let b = |length: u64| counted(vec![f("load", LOADER, 1, 5000), f("work", PROGRAM, length, 14 * length)], &[]);
    // In any order, and with one that is not needed.
    let first = [at("1000", a(1000)), at("100", a(100)), at("500", a(500))];
    let second = [at("100", b(100)), at("500", b(500)), at("1000", b(1000))];
    let account = super::of(&first, &second, None);
    check(&account);
    assert_eq!((account.length.as_deref(), account.shorter.as_deref()), (Some("1000"), Some("100")));
    assert_eq!(account.growth, Some(Growth { start: 4000.0, per_unit: 4.0 }));
    let loader = row(&account, |cause| *cause == Cause::Mechanism(Mechanism::Loader));
    assert_eq!((loader.permille, loader.growth), (500, Some(Growth { start: 4000.0, per_unit: 0.0 })));
    let text = page::text(&account, ["baseline", "variant"], 120);
    assert!(text.contains("50.0 % of the difference at length 1000 is start-up work"), "{text}");
    // A time at a third length is explained on the line; one of which nothing is known is not.
    let time = |length: &str| {
        let user = Times { baseline_s: 1.0, variant_s: 2.0, interval_s: None };
        super::of(&first, &second, Some(TimeInput { length: Some(length.to_owned()), user, sys: None, wall: None }))
            .time
    };
    let long = time("10000").unwrap();
    assert!((long.ns[0] - 1e9 / 101_000.0).abs() < 1e-6 && (long.ns[1] - 2e9 / 145_000.0).abs() < 1e-6, "{long:?}");
    assert_eq!(time("all"), None);
}

#[test]
fn lengths_that_are_no_numbers_are_one() {
    let side = |instructions| counted(vec![f("work", PROGRAM, 1, instructions)], &[]);
    let account = super::of(&[at("small", side(10)), at("large", side(90))], &[at("large", side(99))], None);
    assert_eq!((account.instructions, account.growth), ([90, 99], None));
    let text = page::text(&account, ["baseline", "variant"], 120);
    assert!(text.contains("With only one workload length, start-up work cannot be separated from the rest."), "{text}");
}

#[test]
fn counts_that_agree_have_nothing_to_explain() {
    let side = |one, other| counted(vec![f("one", PROGRAM, 1, one), f("other", PROGRAM, 1, other)], &[]);
    let same = account(side(1_000_000, 2_000_000), side(1_000_000, 2_000_300));
    assert!(same.is_nothing && same.rows.is_empty());
    let differs = account(side(1_000_000, 2_000_000), side(1_000_000, 2_000_301));
    assert!(!differs.is_nothing);
    let within_residue = Counted { again: Some(3_001_000), ..side(1_000_000, 2_000_000) };
    assert!(account(within_residue, side(1_000_000, 2_000_999)).is_nothing);
    let moved = account(side(1_000_000, 2_000_000), side(2_000_000, 1_000_000));
    let text = page::text(&moved, ["baseline", "variant"], 120);
    assert!(text.contains("Functions differ by 2,000,000 instructions"), "{text}");
    assert!(super::of(&[], &[], None).is_nothing);
}

#[test]
fn a_side_without_counts_is_empty() {
    let a = counted(vec![f("one", PROGRAM, 1, 1000)], &[]);
    let account = super::of(&[a], &[], None);
    check(&account);
    assert_eq!((account.instructions, account.rows[0].permille), ([1000, 0], 1000));
}

#[test]
fn time_is_explained_in_two_parts() {
    let side = |instructions| counted(vec![f("work", PROGRAM, 1, instructions)], &[]);
    let user = Times { baseline_s: 1.0, variant_s: 1.2, interval_s: Some([1.1, 1.3]) };
    let sys = Times { baseline_s: 0.1, variant_s: 0.2, interval_s: None };
    let wall = |variant_s| Some(Times { baseline_s: 1.5, variant_s, interval_s: None });
    let of = |user, wall| {
        let input = TimeInput { length: None, user, sys: Some(sys), wall };
        super::of(&[side(1_000_000_000)], &[side(1_100_000_000)], Some(input)).time
    };
    let time = of(user, wall(1.7)).unwrap();
    assert_eq!(time.by_number.estimate_s + time.by_speed.estimate_s, time.user.estimate_s);
    assert!((time.by_number.estimate_s - 0.1 * (1.0 + 1.2 / 1.1) / 2.0).abs() < 1e-9);
    let [low, high] = time.user.interval_s.unwrap();
    assert!((low - 0.1).abs() < 1e-9 && (high - 0.3).abs() < 1e-9);
    let [low, high] = time.by_speed.interval_s.unwrap();
    assert!(low < time.by_speed.estimate_s && time.by_speed.estimate_s < high);
    assert!((time.waiting.unwrap().estimate_s + 0.1).abs() < 1e-9);
    // Several threads: user and system time exceed wall time.
    assert_eq!(of(user, wall(1.3)).unwrap().waiting, None);
    assert_eq!(of(Times { variant_s: f64::NAN, ..user }, None), None);
    assert_eq!(of(Times { baseline_s: 0.0, ..user }, None), None);
}

#[test]
fn csv_quotes_what_it_must() {
    let a = counted(vec![f("operator,(\"x\")", PROGRAM, 1, 1000), f("=1+1", PROGRAM, 1, 10)], &[]);
    let lines = export::csv(&pair(account(a, Counted::default())));
    assert!(
        lines.contains("\nb,a,loop,,,\"operator,(\"\"x\"\")\",,,,,$PREFIX/bin/program,,1000,0,1,0,-1000,"),
        "{lines}"
    );
    assert!(lines.contains("\nb,a,loop,,,'=1+1,"), "{lines}");
    let titles = lines.lines().next().unwrap().split(',').count();
    assert_eq!(lines.lines().nth(2).unwrap().split(',').count(), titles);
}

#[test]
fn no_name_steers_a_terminal() {
    let mut tried = 0;
    let account = serde_json::to_value(examples::shared()).unwrap();
    for steered in steered(&account) {
        // Keys and words of enums are not somebody else's.
        let Ok(account) = serde_json::from_value::<Account>(steered) else { continue };
        assert!(is_harmless(&page::text(&account, ["baseline", "variant"], 100)));
        assert!(is_harmless(&export::csv(&pair(account.clone()))));
        tried += 1;
    }
    assert!(tried > 10, "only {tried} strings were found");
}

#[test]
fn many_functions_of_one_name_and_large_circles_take_no_time() {
    let many = 20_000_u32;
    let helper = |place: u32| of(&format!("{place}.c"), f("helper", PROGRAM, 1, 10));
    let same = || counted((0..many).map(helper).collect(), &[]);
    assert_eq!(account(same(), same()).matched.by_name, 20 * u64::from(many));
    let circle = (0..many).map(|place| f(&format!("f{place}"), PROGRAM, 1, 10));
    let functions = circle.chain([f("main", PROGRAM, 1, 10)]).collect();
    let calls: Vec<_> = (0..many).flat_map(|place| [(place, (place + 1) % many, 1), (many, place, 1)]).collect();
    let account = account(counted(vec![f("main", PROGRAM, 1, 10)], &[]), counted(functions, &calls));
    assert_eq!(only(&account, "main").instructions, [10, 10 + 10 * u64::from(many)]);
}
