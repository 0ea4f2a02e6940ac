//! Made-up counts: functions in one line each, and calls by their places.

use super::result::{Account, Cause, Function, Row};
use crate::counts::{CodeKind, Counted, Edge, FunctionCount};
use crate::findings::PairAccount;

pub(super) const PROGRAM: &str = "$PREFIX/bin/program";
pub(super) const LIBRARY: &str = "$PREFIX/lib/libprogram.so";
pub(super) const LIBC: &str = "/lib/x86_64-linux-gnu/libc.so.6";
pub(super) const LOADER: &str = "/lib64/ld-linux-x86-64.so.2";

/// A function with its calls and instructions.
pub(super) fn f(name: &str, file: &str, calls: u64, instructions: u64) -> FunctionCount {
    FunctionCount { name: name.to_owned(), file: file.to_owned(), calls, instructions, ..FunctionCount::default() }
}

/// The same, static in this source.
pub(super) fn of(source: &str, function: FunctionCount) -> FunctionCount {
    FunctionCount { source: Some(source.to_owned()), ..function }
}

pub(super) fn stub(kind: CodeKind, function: FunctionCount) -> FunctionCount {
    FunctionCount { kind, ..function }
}

pub(super) fn counted(functions: Vec<FunctionCount>, calls: &[(u32, u32, u64)]) -> Counted {
    let edges = calls.iter().map(|(from, to, calls)| Edge(*from, *to, *calls)).collect();
    Counted { workload: "loop".to_owned(), functions, edges, ..Counted::default() }
}

pub(super) fn account(a: Counted, b: Counted) -> Account {
    let account = super::of(&[a], &[b], None);
    check(&account);
    account
}

/// What holds of every account.
pub(super) fn check(account: &Account) {
    for side in 0..2 {
        let sum: u64 = account.functions.iter().map(|function| function.instructions[side]).sum();
        assert_eq!(sum, account.instructions[side], "functions lose instructions");
    }
    for (instructions, split) in account.rows.iter().map(|row| (row.instructions, row.split)) {
        if let Some(split) = split {
            let change = i128::from(instructions[1]) - i128::from(instructions[0]);
            assert_eq!(i128::from(split.more_calls) + i128::from(split.dearer_calls), change);
        }
    }
    if account.is_nothing {
        assert!(account.rows.is_empty());
        return;
    }
    assert_eq!(account.rows.iter().map(|row| row.permille).sum::<i64>(), 1000);
    for side in 0..2 {
        let sum: u64 = account.rows.iter().map(|row| row.instructions[side]).sum();
        assert_eq!(sum, account.instructions[side], "rows lose instructions");
    }
}

/// The functions of this name, the largest difference first.
pub(super) fn all<'a>(account: &'a Account, name: &str) -> Vec<&'a Function> {
    account.functions.iter().filter(|function| function.name == name).collect()
}

/// The only one.
pub(super) fn only<'a>(account: &'a Account, name: &str) -> &'a Function {
    let all = all(account, name);
    assert_eq!(all.len(), 1, "{name}: {all:?}");
    all[0]
}

pub(super) fn row(account: &Account, is: impl Fn(&Cause) -> bool) -> &Row {
    account.rows.iter().find(|row| is(&row.cause)).unwrap()
}

/// An account as that of a pair.
pub(super) fn pair(account: Account) -> Vec<PairAccount> {
    vec![PairAccount { variant: "b".to_owned(), against: "a".to_owned(), account }]
}
