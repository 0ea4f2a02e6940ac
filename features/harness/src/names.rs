//! The harnesses that are known: their names, what each of them writes, and what a command must look like so that it does.

use bakeoff_readers::Kind;

/// A harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    /// Its name in study files and on the command line.
    pub(crate) name: &'static str,
    /// What it is called.
    pub(crate) title: &'static str,
    /// What its files are.
    pub(crate) kind: Kind,
    /// What the command must say; the end of a sentence.
    pub(crate) command: &'static str,
}

/// All of them.
pub(crate) const KNOWN: &[Known] = &[
    Known {
        name: "go",
        title: "go test -bench",
        kind: Kind::Go,
        command: "it must print lines of benchmarks, as `go test -run '^$' -bench .` does",
    },
    Known {
        name: "google",
        title: "Google Benchmark",
        kind: Kind::Google,
        command: "it must print JSON (`--benchmark_format=json`), or write it (`--benchmark_out=\"$BAKEOFF_HARNESS\"`)",
    },
    Known {
        name: "criterion",
        title: "criterion.rs",
        kind: Kind::Criterion,
        command: "it must write its folder there: `CRITERION_HOME=\"$BAKEOFF_HARNESS\" ./BENCH --bench`",
    },
    Known {
        name: "jmh",
        title: "JMH",
        kind: Kind::Jmh,
        command: "it must write JSON: `-rf json -rff \"$BAKEOFF_HARNESS\"`",
    },
    Known {
        name: "pytest",
        title: "pytest-benchmark",
        kind: Kind::Pytest,
        command: "it must write JSON: `--benchmark-json=\"$BAKEOFF_HARNESS\"`",
    },
];

/// The harness of that name.
pub(crate) fn find(name: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.name == name)
}

/// Their names, for errors.
pub(crate) fn all() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().map(|known| known.name)
}
