//! The harnesses that are known: their names, what each of them writes, and what a command must look like so that it
//! does.

use bakeoff_readers::Tool;

/// A harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HarnessFormat {
    /// Its name in study files and on the command line.
    pub(crate) name: &'static str,
    /// What it is called.
    pub(crate) title: &'static str,
    /// What its files are.
    pub(crate) kind: Tool,
    /// What the command must say; the end of a sentence.
    pub(crate) command: &'static str,
}

/// All of them.
pub(crate) const KNOWN: &[HarnessFormat] = &[
    HarnessFormat {
        name: "go",
        title: "go test -bench",
        kind: Tool::Go,
        command: "the command must print benchmark lines, as `go test -run '^$' -bench .` does",
    },
    HarnessFormat {
        name: "google",
        title: "Google Benchmark",
        kind: Tool::Google,
        command: "the command must print JSON (`--benchmark_format=json`) or write it \
            (`--benchmark_out=\"$BAKEOFF_HARNESS\"`)",
    },
    HarnessFormat {
        name: "criterion",
        title: "criterion.rs",
        kind: Tool::Criterion,
        command: "the command must write its results to $BAKEOFF_HARNESS: `CRITERION_HOME=\"$BAKEOFF_HARNESS\" \
            ./BENCH --bench`",
    },
    HarnessFormat {
        name: "jmh",
        title: "JMH",
        kind: Tool::Jmh,
        command: "the command must write JSON (`-rf json -rff \"$BAKEOFF_HARNESS\"`)",
    },
    HarnessFormat {
        name: "pytest",
        title: "pytest-benchmark",
        kind: Tool::Pytest,
        command: "the command must write JSON (`--benchmark-json=\"$BAKEOFF_HARNESS\"`)",
    },
];

/// The harness of that name.
pub(crate) fn find(name: &str) -> Option<&'static HarnessFormat> {
    KNOWN.iter().find(|known| known.name == name)
}

/// Their names, for errors.
pub(crate) fn all() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().map(|known| known.name)
}
