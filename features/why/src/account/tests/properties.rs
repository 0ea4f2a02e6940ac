//! What holds whatever was counted: no instruction is lost, shares sum to 100.0 %, and nothing panics.

use crate::account::fixture::{LIBC, LIBRARY, LOADER, PROGRAM, check, pair};
use crate::account::result::Account;
use crate::account::{self, export, page};
use crate::counts::{CodeKind, Counted, Edge, FunctionCount};
use proptest::prelude::*;

const NAMES: [&str; 11] =
    ["f", "f.part.0", "g", "g.cold", "h", "i", "malloc", "__errno_location", "Perl_mfree", "", "_ZN1AC1Ev"];
const FILES: [&str; 7] = [PROGRAM, LIBRARY, LIBC, LOADER, "/usr/lib/libz.so.1", "$PREFIX/bin/perl", ""];
const SOURCES: [Option<&str>; 5] = [None, None, Some("a.c"), Some("b.c"), Some("toke.c")];
const KINDS: [CodeKind; 6] =
    [CodeKind::Function, CodeKind::Function, CodeKind::Function, CodeKind::OwnStub, CodeKind::Stub, CodeKind::Nameless];

/// Small and large numbers, and some that no program reaches.
fn hostile() -> BoxedStrategy<u64> {
    prop_oneof![6 => 0_u64..1000, 3 => 0_u64..1_000_000_000, 1 => Just(0), 1 => any::<u64>(), 1 => Just(u64::MAX)]
        .boxed()
}

fn credible() -> BoxedStrategy<u64> {
    (0_u64..1_000_000).boxed()
}

fn function(numbers: &BoxedStrategy<u64>) -> impl Strategy<Value = FunctionCount> + use<> {
    let [name, file] = [&NAMES[..], &FILES[..]].map(prop::sample::select);
    let (source, kind) = (prop::sample::select(&SOURCES[..]), prop::sample::select(&KINDS[..]));
    let all = (name, file, source, kind, [numbers.clone(), numbers.clone(), numbers.clone()]);
    all.prop_map(|(name, file, source, kind, [calls, instructions, own_addresses])| FunctionCount {
        code: (calls % 3 == 0).then_some(instructions % 7),
        name: name.to_owned(),
        file: file.to_owned(),
        source: source.map(str::to_owned),
        kind,
        calls,
        instructions,
        own_addresses,
    })
}

fn counted(numbers: &BoxedStrategy<u64>) -> impl Strategy<Value = Counted> + use<> {
    let functions = prop::collection::vec(function(numbers), 0..12);
    let edges = prop::collection::vec((0_u32..14, 0_u32..14, numbers.clone()), 0..30);
    let length = prop_oneof![Just(None), Just(Some("1")), Just(Some("7")), Just(Some("x"))];
    (functions, edges, length, numbers.clone()).prop_map(|(functions, edges, length, unnamed)| Counted {
        workload: "loop".to_owned(),
        length: length.map(str::to_owned),
        functions,
        edges: edges.into_iter().map(|(from, to, calls)| Edge(from, to, calls)).collect(),
        unnamed,
        ..Counted::default()
    })
}

fn side() -> impl Strategy<Value = Vec<Counted>> {
    prop::collection::vec(counted(&hostile()), 0..4)
}

proptest! {
    #[test]
    fn hostile_counts_lose_nothing_and_panic_nowhere(a in side(), b in side()) {
        let account = account::of(&a, &b, None);
        check(&account);
        let text = page::text(&account, ["baseline", "variant"], 80);
        prop_assert!(!text.is_empty());
        prop_assert_eq!(export::csv(&pair(account.clone())).lines().count(), account.functions.len() + 1);
        let again: Account = serde_json::from_str(&serde_json::to_string(&account).unwrap()).unwrap();
        prop_assert_eq!(again, account);
    }

    #[test]
    fn all_that_was_counted_is_explained(a in counted(&credible()), b in counted(&credible())) {
        let (a, b) = (Counted { length: None, ..a }, Counted { length: None, ..b });
        let account = account::of(std::slice::from_ref(&a), std::slice::from_ref(&b), None);
        check(&account);
        prop_assert_eq!(account.instructions, [a.instructions(), b.instructions()]);
        // The other way round everything is the other way round.
        let back = account::of(std::slice::from_ref(&b), std::slice::from_ref(&a), None);
        prop_assert_eq!((back.difference, back.gross), (-account.difference, account.gross));
    }
}
