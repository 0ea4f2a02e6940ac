//! The texts in which the kernel tells what it counted in a group, read into base units. Pure: it opens no file.

/// The number of a file that holds nothing else.
pub(super) fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}

/// The same, from ns to s.
pub(super) fn seconds_of_ns(text: &str) -> Option<f64> {
    Some(number(text)? / 1e9)
}

/// The number behind a key, in a file of such lines: `usage_usec 12`.
pub(super) fn keyed(text: &str, key: &str) -> Option<f64> {
    text.lines().find_map(|line| number(line.strip_prefix(key)?.strip_prefix(' ')?))
}

/// The number behind a key, from µs to s.
pub(super) fn keyed_us(text: &str, key: &str) -> Option<f64> {
    Some(keyed(text, key)? / 1e6)
}

/// The sum over all devices of a key of io.stat: `254:0 rbytes=1 wbytes=2 …`. An empty file is a sum of nothing.
pub(super) fn io_stat(text: &str, key: &str) -> f64 {
    let value = |field: &str| field.strip_prefix(key)?.strip_prefix('=').and_then(number);
    sum(text.split_whitespace().filter_map(value))
}

/// The sum over all devices of a kind of blkio's files: `254:0 Read 1`.
pub(super) fn blkio(text: &str, kind: &str) -> f64 {
    let value = |line: &str| {
        let mut fields = line.split(' ').skip(1);
        (fields.next()? == kind).then(|| number(fields.next()?))?
    };
    sum(text.lines().filter_map(value))
}

/// The standard library's sum of nothing is −0, which journals would show.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, value| sum + value)
}

/// Whether one of blkio's files knows any device; without, it counts nothing.
pub(super) fn blkio_counts(text: &str) -> bool {
    text.lines().any(|line| line.contains(':'))
}

/// The total of the line `some` of a pressure file, from µs to s.
pub(super) fn some_total_s(text: &str) -> Option<f64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let us = some.split(' ').find_map(|field| number(field.strip_prefix("total=")?))?;
    Some(us / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_kernels_write() {
        let check = |found: Option<f64>, expect: Option<f64>| assert_eq!(found, expect);
        check(number("4325376\n"), Some(4_325_376.0));
        check(number("max\n"), None);
        check(number(""), None);
        let stat = "usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\nnice_usec 0\n";
        check(keyed_us(stat, "usage_usec"), Some(1.5));
        check(keyed_us(stat, "user_usec"), Some(1.0));
        check(keyed_us(stat, "usage"), None);
        check(keyed("low 0\nmax 3\noom 1\noom_kill 2\noom_group_kill 0\n", "oom_kill"), Some(2.0));
        check(keyed("oom_kill_disable 0\nunder_oom 0\noom_kill 1\n", "oom_kill"), Some(1.0));
        let io = "254:0 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0\n8:0 rbytes=1 wbytes=512 rios=1 wios=1\n";
        check(Some(io_stat(io, "rbytes")), Some(4097.0));
        check(Some(io_stat(io, "wbytes")), Some(512.0));
        check(Some(io_stat("", "wbytes")), Some(0.0));
        let blk = "8:0 Read 4096\n8:0 Write 1\n8:0 Total 4097\n254:0 Read 4\n254:0 Write 2\nTotal 4103\n";
        check(Some(blkio(blk, "Read")), Some(4100.0));
        check(Some(blkio(blk, "Write")), Some(3.0));
        let psi =
            "some avg10=0.00 avg60=0.10 avg300=0.00 total=250000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        check(some_total_s(psi), Some(0.25));
        check(some_total_s("full avg10=0.00 total=7\n"), None);
        assert!(io_stat("", "wbytes").is_sign_positive() && blkio("Total 0", "Read").is_sign_positive());
        assert!(blkio_counts(blk) && !blkio_counts("Total 0\n") && !blkio_counts(""));
    }
}
