//! Levels that a training makes, by a profile or by BOLT, and the workloads that are that training: for these, such a level shows
//! the best case.

/// Whether a training executes a workload: it is the same command, or one of its commands is, or what its last one comes to.
pub(crate) fn executes(training: &str, run: &str) -> bool {
    let (all, run) = (one_line(training), one_line(run));
    let mut parts = training.split([';', '\n', '|', '&']);
    all == run || all.ends_with(&format!("&& {run}")) || parts.any(|part| one_line(part) == run)
}

/// A command on one line.
pub(crate) fn one_line(command: &str) -> String {
    command.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::executes;

    #[test]
    fn which_workload_is_the_training() {
        let check = |training: &str, run: &str, expect: bool| assert_eq!(executes(training, run), expect, "{training}");
        check("\"$PREFIX/p\"  x\n", "\"$PREFIX/p\" x", true);
        check("cp a b && p x; q", "p x", true);
        check("cp a b && p x | sort", "p x | sort", true);
        check("p x", "p", false);
        check("p", "p x", false);
    }
}
