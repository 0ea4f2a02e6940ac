//! The pairs of Perls that were measured, with their numbers made up again from the published tables: the account must say
//! of them what those tables say.

use crate::account::fixture::*;
use crate::account::result::*;
use crate::account::time::{TimeInput, Times};
use crate::account::{self, page};
use crate::counts::{CodeKind, Counted, FunctionCount};

const PERL: &str = "$PREFIX/bin/perl";
const LIBPERL: &str = "$PREFIX/lib/libperl.so";

/// `cc=gcc-O` against `cc=gcc-O2`: 100,680,435 instructions and 2,620,973 more.
fn slower_compiler() -> Account {
    const TOTAL: u64 = 100_680_435;
    const NET: i64 = 2_620_973;
    // Calls, instructions per call and share in percent; what is only an estimate there is one here.
    let measured = [
        ("Perl_sv_clear", 150_648_u32, 74.3, 30.7),
        ("Perl_free_tmps", 51_501, 46.2, 19.1),
        ("Perl_sv_upgrade", 51_172, 114.3, 13.5),
        ("Perl_safesysfree", 100_230, 3.0, 11.5),
        ("Perl_pp_split", 500, 9267.0, -11.4),
        ("Perl_save_vptr", 50_000, 15.0, 9.5),
        ("Perl_newSVpvn_flags", 50_000, 45.0, -7.6),
        ("Perl_pop_scope", 50_500, 9.0, 5.8),
        ("Perl_sv_free2", 150_648, 23.0, -5.7),
        ("Perl_sv_2pv_flags", 70_000, 99.0, -5.3),
        ("Perl_push_scope", 51_000, 11.0, 3.9),
    ];
    let mut a = vec![of("sv.c", f("S_sv_setpvn_fresh.part.0", PERL, 50_033, 34 * 50_033))];
    let mut b = vec![
        of("sv.c", f("S_sv_setpvn_fresh", PERL, 50_033, 30 * 50_033)),
        f("Perl_sv_grow_fresh", PERL, 50_033, 21 * 50_033),
    ];
    for (name, calls, cost, share) in measured {
        let before = (f64::from(calls) * cost) as u64;
        let change = (NET as f64 * share / 100.0) as i64;
        a.push(f(name, PERL, calls.into(), before));
        b.push(f(name, PERL, calls.into(), before.checked_add_signed(change).unwrap()));
    }
    let sum = |all: &[FunctionCount]| all.iter().map(|function| function.instructions).sum::<u64>();
    let (left_a, left_b) = (TOTAL - sum(&a), TOTAL.checked_add_signed(NET).unwrap() - sum(&b));
    // 369 more, whose changes nearly cancel out.
    for place in 0..369_u64 {
        let name = format!("Perl_pp_{place}");
        let part = |left: u64| left / 369 + if place == 0 { left % 369 } else { 0 };
        let wobble = if place == 0 { 0 } else { 1000 - 2000 * (place % 2) as i64 };
        a.push(f(&name, PERL, 500, part(left_a)));
        b.push(f(&name, PERL, 500, part(left_b).checked_add_signed(wobble).unwrap()));
    }
    account(counted(a, &[]), counted(b, &[(0, 1, 50_033)]))
}

#[test]
fn a_slower_compiler_is_explained_by_cost_per_call() {
    let account = slower_compiler();
    assert_eq!((account.instructions[0], account.difference), (100_680_435, 2_620_973));
    let name = |row: &Row| match &row.cause {
        Cause::Function { name, .. } => name.clone(),
        Cause::Mechanism(mechanism) => format!("{mechanism:?}"),
        Cause::Rest(number) => format!("rest {number}"),
    };
    let found: Vec<(String, i64)> = account.rows.iter().map(|row| (name(row), row.permille)).collect();
    let expect = [
        ("S_sv_setpvn_fresh", 325),
        ("Perl_sv_clear", 307),
        ("Perl_free_tmps", 191),
        ("Perl_sv_upgrade", 135),
        ("Allocator", 115),
        ("Perl_pp_split", -114),
        ("Perl_save_vptr", 95),
        ("Perl_newSVpvn_flags", -76),
        ("Perl_pop_scope", 58),
        ("Perl_sv_free2", -57),
        ("Perl_sv_2pv_flags", -53),
        ("Perl_push_scope", 39),
        ("rest 369", 35),
    ];
    assert_eq!(found.len(), expect.len(), "{found:?}");
    for ((name, permille), (expect, about)) in found.iter().zip(expect) {
        assert!(name == expect && (permille - about).abs() <= 1, "{found:?}");
    }
    let first = &account.rows[0];
    let Cause::Function { with, .. } = &first.cause else { panic!("{first:?}") };
    assert_eq!((with.as_slice(), first.calls), (&["Perl_sv_grow_fresh".to_owned()][..], Some([50_033, 50_033])));
    assert_eq!(first.instructions, [34 * 50_033, 51 * 50_033]);
    assert!(account.gross > 17 * account.difference.unsigned_abs() / 10);
    let split = account.split.unwrap();
    assert!(split.more_calls.abs() < 10 && split.dearer_calls > 2_000_000, "{split:?}");
}

/// `libperl=shared` against `libperl=static`, at 50 and at 500 times, with times.
pub(super) fn shared() -> Account {
    let at = |times: u64, is_shared: bool| {
        let (file, calls) = (if is_shared { LIBPERL } else { PERL }, 100 * times);
        let own = |name: &str, calls: u64, costs: [u64; 2], loads: u64| {
            let own_addresses = if is_shared { loads * calls } else { 0 };
            FunctionCount { own_addresses, ..f(name, file, calls, calls * costs[usize::from(is_shared)]) }
        };
        let mut functions = vec![
            own("Perl_pp_mapwhile", calls, [160, 190], 18),
            own("Perl_push_scope", calls, [11, 23], 3),
            own("Perl_sv_clear", 3 * calls, [74, 79], 4),
            f("Perl_runops_standard", file, 1, 6 * calls),
            f("do_lookup_x", LOADER, 1000, if is_shared { 700_000 } else { 180_000 }),
            f("_dl_relocate_object", LOADER, 3, if is_shared { 328_364 } else { 60_993 }),
            f("_int_free", LIBC, 2 * calls, 168 * calls),
            f("__memmove_avx_unaligned_erms", LIBC, calls, 21 * calls),
        ];
        if is_shared {
            functions.push(of("sv.c", f("S_sv_setpvn_fresh", file, calls, 26 * calls)));
            functions.push(f("Perl_sv_grow_fresh", file, calls, 21 * calls));
            functions.push(stub(CodeKind::OwnStub, f("Perl_sv_clear", file, 3 * calls, 3 * calls)));
            functions.push(stub(CodeKind::OwnStub, f("Perl_sv_free2", file, 25 * calls, 25 * calls)));
        } else {
            functions.push(of("sv.c", f("S_sv_setpvn_fresh.part.0", file, calls, 34 * calls)));
        }
        let calls = if is_shared { vec![(8, 9, calls)] } else { vec![] };
        let length = Some(times.to_string());
        Counted { length, again: Some(0), ..counted(functions, &calls) }
    };
    let counts = |is_shared| [at(50, is_shared), at(500, is_shared)].map(with_second_count);
    let ms = |baseline: f64, variant: f64, ends: Option<[f64; 2]>| Times {
        baseline_s: baseline / 1e3,
        variant_s: variant / 1e3,
        interval_s: ends.map(|ends| ends.map(|end| end / 1e3)),
    };
    let time = TimeInput {
        length: Some("500".to_owned()),
        user: ms(114.0, 130.7, Some([122.0, 137.9])),
        sys: Some(ms(4.0, 5.1, Some([4.8, 5.5]))),
        wall: Some(ms(120.0, 138.0, None)),
    };
    let account = account::of(&counts(false), &counts(true), Some(time));
    check(&account);
    account
}

fn with_second_count(counted: Counted) -> Counted {
    Counted { again: Some(counted.instructions()), ..counted }
}

#[test]
fn a_shared_library_is_explained_by_its_mechanisms() {
    let account = shared();
    let of = |mechanism| row(&account, |cause| *cause == Cause::Mechanism(mechanism));
    assert_eq!(of(Mechanism::OwnStubs).calls, Some([0, 28 * 50_000]));
    assert_eq!(of(Mechanism::OwnAddresses).instructions, [0, 33 * 50_000]);
    let loader = of(Mechanism::Loader).growth.unwrap();
    assert!((loader.start - 787_371.0).abs() < 1e-3 && loader.per_unit.abs() < 1e-6, "{loader:?}");
    let share = account.growth.unwrap().start / account.difference as f64;
    assert!((share - 787_371.0 / account.difference as f64).abs() < 1e-9);
}

#[test]
fn the_page_is_as_expected() {
    for width in [80, 120] {
        let page = page::text(&shared(), ["libperl=static", "libperl=shared"], width);
        let path = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/account/tests/snapshots");
        let path = path.join(format!("shared-{width}.txt"));
        if std::env::var("BAKEOFF_UPDATE").is_ok_and(|value| value == "1") {
            std::fs::write(&path, &page).unwrap();
        }
        assert_eq!(page, std::fs::read_to_string(&path).unwrap(), "BAKEOFF_UPDATE=1 writes {}", path.display());
    }
}
