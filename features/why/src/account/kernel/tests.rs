//! Rows of made-up reports: which there are, in which order, and what of a report is not believed.

use super::super::result::{Account, FaultKind, KernelAccount, KernelRow, KernelWork};
use super::of;
use crate::account::fixture::{PROGRAM, account, counted, f};
use crate::account::page;
use crate::census::{Blocked, Faults, Path, Report, Spent, SyscallSums, Times};

const FAULTS: Faults = Faults { read_absent: 10, write_absent: 20, read_present: 0, write_present: 5 };

fn call(count: u64, time_s: f64, blocked_s: f64) -> SyscallSums {
    let times_blocked = u64::from(blocked_s > 0.0);
    SyscallSums { count, spent: Spent { time_s, blocked_s, times_blocked } }
}

fn report(calls: &[(&str, SyscallSums)], faults: Faults) -> Report {
    let times = Times { on_cpu_s: 0.06, run_queue_s: 0.01, blocked_s: 0.03, lifetime_s: 0.1, ..Times::default() };
    let syscalls = calls.iter().map(|(name, sums)| ((*name).to_owned(), *sums)).collect();
    Report { tasks: 1, syscalls, faults: Some(faults), times, ..Report::default() }
}

fn names(rows: &[KernelRow]) -> Vec<&KernelWork> {
    rows.iter().map(|row| &row.what).collect()
}

#[test]
fn what_differs_has_a_row_and_the_largest_is_first() {
    let a = report(&[("read", call(5, 0.001, 0.0)), ("newfstatat", call(1, 1e-6, 0.0))], FAULTS);
    let more = Faults { write_present: 2005, ..FAULTS };
    let sleep = ("clock_nanosleep", call(1, 0.021, 0.02));
    let b = report(&[("read", call(5, 0.009, 0.0)), ("newfstatat", call(1001, 5.5e-4, 0.0)), sleep], more);
    let account = of([&a, &b]);
    let expected = [
        KernelWork::Blocked("clock_nanosleep".to_owned()),
        KernelWork::Fault(FaultKind::CopyOnWrite),
        KernelWork::Call("clock_nanosleep".to_owned()),
        KernelWork::Call("newfstatat".to_owned()),
    ];
    assert_eq!(names(&account.rows), expected.iter().collect::<Vec<_>>(), "equal counts have no row");
    assert_eq!((account.rows[0].counts, account.rows[0].times_s), ([0, 1], Some([0.0, 0.02])));
    assert_eq!((account.rows[1].counts, account.rows[1].times_s), ([5, 2005], None));
    let own = account.rows[2].times_s.unwrap();
    assert!((own[1] - 0.001).abs() < 1e-9, "its own time only: {own:?}");
    assert_eq!((account.rows[3].counts, account.run_queue_s), ([1, 1001], Some([0.01, 0.01])));
    assert!(of([&a, &a]).rows.is_empty());
}

#[test]
fn there_are_six_rows_at_most() {
    let many: Vec<String> = (0..9).map(|number| format!("call{number}")).collect();
    let calls: Vec<(&str, SyscallSums)> =
        many.iter().zip(1..).map(|(name, times)| (name.as_str(), call(1, 1e-3 * f64::from(times), 0.0))).collect();
    let account = of([&report(&[], FAULTS), &report(&calls, FAULTS)]);
    assert_eq!(account.rows.len(), 6);
    assert_eq!(account.rows[0].what, KernelWork::Call("call8".to_owned()));
}

#[test]
fn time_that_is_not_accounted_for_is_no_time() {
    let a = report(&[("read", call(1, 0.001, 0.0))], FAULTS);
    for lifetime_s in [0.2, 0.0, f64::INFINITY, -0.1] {
        let mut b = report(&[("read", call(3, 0.05, 0.04))], FAULTS);
        b.times.lifetime_s = lifetime_s;
        let account = of([&a, &b]);
        assert_eq!(names(&account.rows), [&KernelWork::Call("read".to_owned())], "no waiting: {lifetime_s}");
        assert_eq!((account.rows[0].counts, account.rows[0].times_s, account.run_queue_s), ([1, 3], None, None));
    }
}

#[test]
fn short_waits_and_waits_for_children_have_no_row() {
    let a = report(&[("wait4", call(1, 0.001, 0.001)), ("futex", call(1, 0.001, 0.001))], FAULTS);
    let b = report(&[("wait4", call(1, 0.02, 0.02)), ("futex", call(1, 0.00105, 0.00105))], FAULTS);
    assert!(of([&a, &b]).rows.is_empty());
}

fn with_path(report: Report, blocked: &[(&str, f64, u64)]) -> Report {
    let blocked = blocked.iter().map(|&(name, time_s, times)| (name.to_owned(), Blocked { time_s, times })).collect();
    Report { path: Some(Path { total_s: 0.1, blocked }), ..report }
}

/// A convoy: its threads wait for each other all the time, but only sleeping makes it longer.
#[test]
fn waiting_is_that_of_the_path_where_both_sides_have_one() {
    let waits = |blocked_s| [("futex", call(1, 0.1, 3.0 * blocked_s)), ("clock_nanosleep", call(1, 0.1, blocked_s))];
    let a = with_path(report(&waits(0.001), FAULTS), &[("clock_nanosleep", 0.001, 10), ("wait4", 0.001, 1)]);
    let path = [("clock_nanosleep", 0.025, 160), (Path::NO_CALL, 0.003, 2), ("wait4", 0.01, 1)];
    let b = with_path(report(&waits(0.03), FAULTS), &path);
    let blocked = |name: &str| KernelWork::Blocked(name.to_owned());
    let found = of([&a, &b]);
    assert_eq!(names(&found.rows), [&blocked("clock_nanosleep"), &blocked(Path::NO_CALL)]);
    assert_eq!((found.rows[0].counts, found.rows[0].times_s), ([10, 160], Some([0.001, 0.025])));
    assert_eq!((found.has_path, found.no_path), (true, None));
    // An older line of a journal, and one whose log was too short.
    for no_path in [None, Some("it is long")] {
        let c = Report { path: None, no_path: no_path.map(str::to_owned), ..b.clone() };
        let found = of([&a, &c]);
        assert_eq!(names(&found.rows), [&blocked("futex"), &blocked("clock_nanosleep")]);
        assert_eq!((found.has_path, found.no_path.as_deref()), (false, no_path));
    }
    let unaccounted = Report { times: Times::default(), ..b };
    assert_eq!(of([&a, &unaccounted]), of([&a, &Report { path: None, ..unaccounted.clone() }]));
}

#[test]
fn the_page_tells_of_which_threads_times_are() {
    let side = |instructions| counted(vec![f("main", PROGRAM, 1, instructions)], &[]);
    let mut account = account(side(1000), side(2000));
    let mut text = |has_path, no_path: Option<&str>| {
        let no_path = no_path.map(str::to_owned);
        account.kernel = Some(KernelAccount { has_path, no_path, ..KernelAccount::default() });
        page::text(&account, ["baseline", "variant"], 400)
    };
    let of_path = "Blocked times are those of the path that ends last, traced from the end of the command back through \
                   the threads that woke it. ";
    assert!(text(true, None).contains(of_path));
    assert!(text(false, None).contains("All times are sums over all threads. "));
    let shown = text(false, Some("it is\u{1b} long"));
    assert!(shown.contains("is unknown (it is") && !shown.contains('\u{1b}'), "{shown}");
}

#[test]
fn where_faults_are_not_reported_there_are_none() {
    let a = report(&[], FAULTS);
    let b = Report { faults: None, ..report(&[], FAULTS) };
    let account = of([&a, &b]);
    assert!(account.rows.is_empty() && !account.has_faults);
}

#[test]
fn what_the_tracer_counted_has_numbers_and_no_times() {
    let counted = |count| {
        let calls = [("read", SyscallSums { count, spent: Spent::default() })];
        Report { times: Times::default(), faults: None, ..report(&calls, FAULTS) }
    };
    let account = of([&counted(5), &counted(7)]);
    let read = KernelRow { what: KernelWork::Call("read".to_owned()), counts: [5, 7], times_s: None };
    assert_eq!((account.rows.as_slice(), account.is_traced), ([read].as_slice(), true));
    let account = Account { kernel: Some(account), is_nothing: true, ..Account::default() };
    let text = page::text(&account, ["a", "b"], 100);
    assert!(text.contains("system calls, counted by the tracer") && !text.contains("time"), "{text}");
}
