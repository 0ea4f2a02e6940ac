//! The causes of a difference, the largest first, from the account of its pair. A cause is consistent with the difference
//! until a pair of variants isolates it, and unexplained if it is only another speed. Verdicts come from the tables as they are.

use super::isolating::{Isolating, claim_of};
use crate::account::result::{Cause as RowCause, Interval, KernelRow, KernelWork, Row, TimeAccount, difference};
use crate::findings::{Cause, Diagnosis, PairAccount, Standing, What};
use bakeoff_judge::findings::{Claim, Findings, Verdict};

/// Of a diagnosis, the most causes.
const MOST: usize = 6;

/// A smaller part of the difference, in tenths of a percent, is not worth a line.
const LEAST_PERMILLE: i64 = 100;

/// What a page fault takes, about: 1.9 µs of wall time were measured for one that needs a new page. It ranks faults, and is
/// printed nowhere.
const FAULT_S: f64 = 1.5e-6;

/// One for each account, in their order.
pub(super) fn diagnoses(accounts: &[PairAccount], findings: &Findings, isolating: &Isolating<'_>) -> Vec<Diagnosis> {
    let of = |pair: &PairAccount| {
        let claim = claim(pair, findings, isolating);
        Diagnosis {
            variant: pair.variant.clone(),
            against: pair.against.clone(),
            workload: pair.account.workload.clone(),
            causes: causes(pair, claim.as_ref(), isolating),
            claim,
        }
    };
    accounts.iter().map(of).collect()
}

/// How the pair differs by the deciding metric, if that was decided.
fn claim(pair: &PairAccount, findings: &Findings, isolating: &Isolating<'_>) -> Option<Claim> {
    let PairAccount { against, variant, account } = pair;
    let claim = match isolating.is_baseline(against) {
        true => claim_of(findings, &findings.method.deciding_metric, &account.workload, variant),
        false => isolating.claim(against, variant, &account.workload),
    };
    claim.filter(|claim| matches!(claim.comparison.verdict, Verdict::Faster | Verdict::Slower))
}

/// A cause, and about how much time it adds or saves.
struct Ranked {
    change: f64,
    cause: Cause,
}

/// Only what has the direction of the difference: as it was decided, or else of user time, or else of instructions.
fn causes(pair: &PairAccount, claim: Option<&Claim>, isolating: &Isolating<'_>) -> Vec<Cause> {
    let account = &pair.account;
    let is_more = match (claim, account.time) {
        (Some(claim), _) => claim.comparison.verdict == Verdict::Slower,
        (None, Some(time)) if time.is_shown() => time.user.estimate_s > 0.0,
        _ => account.difference > 0,
    };
    let fits = |change: f64| if is_more { change > 0.0 } else { change < 0.0 };
    let mut all: Vec<Ranked> = vec![];
    if !account.is_few() && fits(account.difference as f64) {
        let by_number_s = account.time.map_or(1.0, |time| time.by_number.estimate_s.abs());
        let rows = account.rows.iter().filter(|row| row.permille >= LEAST_PERMILLE);
        all.extend(rows.filter_map(|row| of_row(pair, row, by_number_s, isolating)));
    }
    let total_s = account.time.map_or(0.0, |time| {
        let parts = [Some(time.user), time.sys, time.waiting];
        parts.into_iter().flatten().map(|part| part.estimate_s.abs()).sum()
    });
    let least_s = total_s * LEAST_PERMILLE as f64 / 1000.0;
    // A service that waits has nothing to do.
    let is_work = |row: &&KernelRow| account.service.is_none() || !matches!(row.what, KernelWork::Blocked(_));
    let kernel = account.kernel.iter().flat_map(|kernel| &kernel.rows).filter(is_work).filter_map(of_kernel);
    all.extend(kernel.filter(|one| fits(one.change) && one.change.abs() >= least_s));
    if let Some(time) = account.time.filter(TimeAccount::is_shown) {
        all.extend(Some(of_speed(time.by_speed)).filter(|one| fits(one.change) && one.change.abs() >= least_s));
    }
    if all.is_empty() && claim.is_some() && account.is_few() {
        // The difference was decided by another metric than user time.
        let cause = Cause { time: None, ..of_speed(Interval::default()).cause };
        all.push(Ranked { change: 0.0, cause });
    }
    all.sort_by(|one, other| other.change.abs().total_cmp(&one.change.abs()));
    all.truncate(MOST);
    all.into_iter().map(|one| one.cause).collect()
}

/// A mechanism or a function; none of the rest, which is no cause.
fn of_row(pair: &PairAccount, row: &Row, by_number_s: f64, isolating: &Isolating<'_>) -> Option<Ranked> {
    let (what, isolated) = match &row.cause {
        RowCause::Mechanism(mechanism) => {
            let change = difference(row.instructions);
            (What::Mechanism(*mechanism), isolating.of(pair, *mechanism, change))
        }
        RowCause::Function { name, .. } => (What::Function(name.clone()), vec![]),
        RowCause::Rest(_) => return None,
    };
    let standing = match (isolated.iter().any(|one| one.confirms), isolated.iter().any(|one| !one.confirms)) {
        (true, false) => Standing::Shown,
        (false, true) => Standing::Withdrawn,
        _ => Standing::Consistent,
    };
    let change = by_number_s * row.permille as f64 / 1000.0;
    Some(Ranked {
        change,
        cause: Cause { what, permille: Some(row.permille), time: None, counts: None, standing, isolated },
    })
}

/// Work of the kernel that one side has more of.
fn of_kernel(row: &KernelRow) -> Option<Ranked> {
    let change = match (&row.what, row.times_s) {
        (_, Some([before, after])) => after - before,
        (KernelWork::Fault(_), None) => (row.counts[1] as f64 - row.counts[0] as f64) * FAULT_S,
        _ => return None,
    };
    let time = row.times_s.map(|[before, after]| Interval { estimate_s: after - before, interval_s: None });
    let what = What::Kernel(row.what.clone());
    let counts = Some(row.counts);
    Some(Ranked {
        change,
        cause: Cause { what, permille: None, time, counts, standing: Standing::Consistent, isolated: vec![] },
    })
}

fn of_speed(by_speed: Interval) -> Ranked {
    let cause = Cause {
        what: What::Speed,
        permille: None,
        time: Some(by_speed),
        counts: None,
        standing: Standing::Unexplained,
        isolated: vec![],
    };
    Ranked { change: by_speed.estimate_s, cause }
}
