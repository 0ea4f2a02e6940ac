//! The topics: pages of `docs/`, under names that no command has. Design documents and pages about the code are not
//! among them.

/// A page that the program carries.
pub(crate) struct Topic {
    /// What the user types.
    pub(crate) name: &'static str,
    /// One line about it.
    pub(crate) about: &'static str,
    /// Its text, in Markdown, or JSON.
    pub(crate) text: &'static str,
}

macro_rules! topics {
    ($($name:literal $file:literal $about:literal)*) => {
        /// All topics, in the order in which a newcomer needs them.
        pub(crate) const TOPICS: &[Topic] = &[$(Topic {
            name: $name,
            about: $about,
            text: include_str!(concat!("../../../docs/", $file)),
        }),*];
    };
}

topics! {
    "install" "install.md" "what Bakeoff needs, how to install and remove it, and where its files are"
    "concepts" "concepts.md" "terms, and what you may conclude from a comparison"
    "hyperfine" "coming-from-hyperfine.md" "hyperfine's options and their counterparts in Bakeoff"
    "two-commits" "two-commits.md" "compare two commits, by hand or in CI"
    "your-program" "your-program.md" "compare builds of your own program"
    "study-file" "study-file.md" "every key of study.toml"
    "builds" "builds.md" "how builds are made, cached and checked; profiles and BOLT"
    "layouts" "layouts.md" "why Bakeoff links programs again for each pass"
    "flags" "flags.md" "the effect of compiler flags on published programs"
    "measuring" "measuring.md" "conditions, and what Bakeoff measures in a trial"
    "marks" "marks.md" "phases, operations and latencies that a program reports"
    "harness" "harness.md" "benchmark suites of Go, Google Benchmark, Criterion, JMH and pytest"
    "reading" "report.md" "how to read the report"
    "page" "page.md" "the HTML page and its charts"
    "why" "explain.md" "which functions account for how much of a difference"
    "perf-diff" "perf-diff.md" "what explain, perf diff, cg_annotate and strace tell of one pair"
    "statistics" "statistics.md" "every method, with its source"
    "promises" "calibration.md" "error rates, and how `calibrate` checks them"
    "another-day" "another-day.md" "compare with a saved comparison"
    "gates" "gate.md" "fail a pipeline if a change is too slow"
    "numbers" "stat.md" "judge numbers that were measured elsewhere"
    "published" "check-summary.md" "check figures that were published"
    "files" "facts.md" "what `facts` reads from programs and libraries"
    "sharing" "sharing.md" "export, import and redact results"
    "formats" "formats.md" "journal, findings and exports"
    "findings-schema" "findings.schema.json" "JSON schema of the findings"
    "reliability" "reliability.md" "interrupts, full disks, killed commands"
    "bugs" "bugs.md" "report a bug or a security problem"
}
