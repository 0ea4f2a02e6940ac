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
    "install" "tasks/install.md" "what Bakeoff needs, how to install and remove it, and where its files are"
    "ten-minutes" "tasks/ten-minutes.md" "from nothing to a verdict about your program"
    "compare-commands" "tasks/compare-commands.md" "compare two commands, now or with a saved comparison"
    "hyperfine" "tasks/coming-from-hyperfine.md" "hyperfine's options and their counterparts in Bakeoff"
    "compare-commits" "tasks/compare-commits.md" "compare two commits, or your changes with a commit"
    "your-program" "tasks/your-program.md" "compare builds of your program: flags, compilers, profiles"
    "best-build" "tasks/tune.md" "find the best of many builds within a budget"
    "slower-commit" "tasks/bisect.md" "find the commit that changed the speed"
    "ci" "tasks/ci.md" "fail a pipeline if a change is too slow"
    "suites" "tasks/suites.md" "benchmark suites of Go, Google Benchmark, Criterion, JMH and pytest"
    "servers" "tasks/servers.md" "servers, load and latencies"
    "kernels" "tasks/kernels.md" "compare kernels by booting them"
    "clusters" "tasks/clusters.md" "run on the nodes of a cluster, or on machines behind ssh"
    "why" "tasks/explain.md" "which functions account for how much of a difference"
    "share" "tasks/share.md" "export, import, redact and publish results"
    "numbers" "tasks/numbers.md" "judge numbers that were measured elsewhere"
    "published" "tasks/published.md" "check figures that were published"
    "troubleshooting" "tasks/troubleshooting.md" "undecided, a busy machine, a twin that differs, and other surprises"
    "reading" "understanding/report.md" "how to read the report and the page"
    "terms" "understanding/terms.md" "what the words mean, and what you may conclude"
    "machine" "understanding/machine.md" "whether you can trust this machine"
    "promises" "understanding/promises.md" "what the statistics promise, and how `calibrate` checks it"
    "layouts" "understanding/layouts.md" "why Bakeoff links programs again for each pass"
    "searching" "understanding/searching.md" "how often `tune` and `bisect` err, and what they cost"
    "causes" "understanding/causes.md" "how far you can trust `explain`"
    "perf-diff" "understanding/perf-diff.md" "what explain, perf diff, cg_annotate and strace show about one pair"
    "study-file" "reference/study-file.md" "every key of study.toml"
    "metrics" "reference/metrics.md" "what Bakeoff measures in a trial"
    "marks" "reference/marks.md" "phases, operations and latencies that a program reports"
    "levels" "reference/levels.md" "levels and sources: how builds are made, cached and checked"
    "files" "reference/files.md" "what `facts` reads from programs and libraries"
    "formats" "reference/formats.md" "journal, findings and exports"
    "findings-schema" "reference/findings.schema.json" "JSON schema of the findings"
    "statistics" "reference/statistics.md" "every method, with its source"
    "guarantees" "reference/guarantees.md" "interrupts, full disks, killed commands, and limits"
    "compatibility" "reference/compatibility.md" "which files and commands stay valid in later versions"
}
