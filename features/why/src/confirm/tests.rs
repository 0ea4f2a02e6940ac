//! Which level isolates which mechanism, and on which side.

use super::{mechanism, of};
use crate::account::result::{Account, Allocator, Cause, Function, Mechanism, Row};
use crate::findings::PairAccount;
use std::path::Path;

fn pair(mechanism: Mechanism, instructions: [u64; 2], part: &str) -> PairAccount {
    let parts = vec![Function { name: part.to_owned(), ..Function::default() }];
    let row = Row {
        cause: Cause::Mechanism(mechanism),
        instructions,
        calls: None,
        split: None,
        permille: 1000,
        growth: None,
        parts,
    };
    let account = Account { workload: "loop".to_owned(), rows: vec![row], ..Account::default() };
    PairAccount { variant: "b".to_owned(), against: "a".to_owned(), account }
}

/// The variant that changes, and what it is said to get.
fn level(pair: &PairAccount, of_what: Mechanism) -> Option<(String, String)> {
    let found = of(pair, of_what, Some(Path::new("/lib/libjemalloc.so.2")))?;
    assert_eq!(mechanism(&found.level), Some(of_what));
    assert_eq!((found.variant.as_str(), found.against.as_str(), found.workload.as_str()), ("b", "a", "loop"));
    Some((found.changed, found.level.says))
}

#[test]
fn the_side_with_more_of_it_gets_the_level() {
    let found = |mechanism: Mechanism, instructions: [u64; 2], part: &str| {
        level(&pair(mechanism, instructions, part), mechanism).map(|(changed, says)| format!("{changed} {says}"))
    };
    assert_eq!(found(Mechanism::OwnStubs, [1, 9], "").as_deref(), Some("b -Wl,-Bsymbolic"));
    assert_eq!(found(Mechanism::OwnStubs, [9, 1], "").as_deref(), Some("a -Wl,-Bsymbolic"));
    assert_eq!(found(Mechanism::Stubs, [1, 9], "").as_deref(), Some("b -fno-plt"));
    assert_eq!(found(Mechanism::Libc, [1, 9], "setlocale").as_deref(), Some("b LC_ALL=C"));
    assert_eq!(found(Mechanism::Libc, [1, 9], "memcpy"), None);
    assert_eq!(found(Mechanism::Compiling, [1, 9], ""), None);
}

#[test]
fn only_the_allocator_of_the_c_library_is_replaced() {
    let found = |allocators| {
        let mut pair = pair(Mechanism::Allocator, [1, 9], "malloc");
        pair.account.allocators = allocators;
        level(&pair, Mechanism::Allocator).map(|(changed, _)| changed)
    };
    assert_eq!(found([Some(Allocator::Libc), Some(Allocator::Perl)]).as_deref(), Some("a"));
    assert_eq!(found([Some(Allocator::Perl), Some(Allocator::Libc)]).as_deref(), Some("b"));
    assert_eq!(found([Some(Allocator::Perl), Some(Allocator::Program)]), None);
    let nothing_to_preload = of(&pair(Mechanism::Allocator, [1, 9], "malloc"), Mechanism::Allocator, None);
    assert_eq!(nothing_to_preload, None);
}
