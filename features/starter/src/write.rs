//! The study file: a text with comments that say what was seen, for people who will go on with it. It is written whole or not
//! at all; what is in it is decided elsewhere.

use crate::levels::{Level, OWN};
use crate::origin::{Origin, study_name};
use crate::recognise::BuildSystem;
use crate::shell::in_prefix;
use crate::workload::{Workload, WorkloadKind};
use std::io;
use std::path::Path;
use toml_edit::Value;

/// All that a study file is made of.
pub(crate) struct Written<'a> {
    pub(crate) origin: &'a Origin,
    /// It is not written into the folder of the study.
    pub(crate) elsewhere: bool,
    pub(crate) factor: &'a str,
    pub(crate) levels: &'a [Level],
    /// What was seen of the plain build, a sentence each.
    pub(crate) seen: &'a [String],
    pub(crate) found: &'a BuildSystem,
    pub(crate) script: &'a [String],
    /// The file of the study that the build compiles, if it compiles one.
    pub(crate) driver: Option<&'a str>,
    /// Files of the study that a training reads.
    pub(crate) files: &'a [String],
    pub(crate) program: &'a str,
    pub(crate) workload: &'a Workload,
    /// What the workload prints, if that is known.
    pub(crate) output: Output,
    /// The locale of trials.
    pub(crate) locale: &'a str,
    /// Sentences about the workload.
    pub(crate) timed: &'a [String],
}

/// What is known of the workload's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Output {
    Unknown,
    /// It is in this file.
    Expected(String),
    /// It differs from one execution to the next.
    Varies,
    /// It may say what differs from one program to the other, and does not matter: the exit code says whether all is well.
    Free,
}

/// A text in quotes, as TOML has it.
fn quoted(text: &str) -> String {
    let literal = !text.contains(['\'', '\n']) && text.contains(['"', '\\']);
    if literal { format!("'{text}'") } else { Value::from(text).decorated("", "").to_string() }
}

/// The section of the source. In a study elsewhere its path is absolute.
fn source(origin: &Origin, elsewhere: bool) -> String {
    let mut text = format!("[sources.{}]\n", origin.name);
    for (key, value) in &origin.keys {
        let value = match value == "." && elsewhere {
            true => origin.study_dir.display().to_string(),
            false => value.clone(),
        };
        text += &format!("{key} = {}\n", quoted(&value));
    }
    text
}

/// The sections of the layers: of what the build loads, if that is a layer of its own, and of the build itself, to which
/// more keys may be added.
fn layers(name: &str, source: &str, found: &BuildSystem, script: &[String]) -> String {
    let tools: Vec<String> = found.tools().iter().map(|tool| quoted(tool)).collect();
    let layer = |name: &str, compiles: &str, script: &[String]| {
        let lines = script.join("\n");
        // Three quotes would end it.
        let lines = if lines.contains("'''") { quoted(&lines) } else { format!("'''\n{lines}\n'''") };
        format!(
            "[[build]]\nname = {}\nsource = {}\n{compiles}tools = [{}]\nscript = {lines}\n",
            quoted(name),
            quoted(source),
            tools.join(", "),
        )
    };
    let loads = found.loads().map(|script| layer(LOADS, NOTHING_COMPILED, &script) + "\n").unwrap_or_default();
    loads + &layer(name, "", script)
}

/// The name of the layer that loads what the build needs.
const LOADS: &str = "packages";

/// What that layer says, so that no level makes it again.
const NOTHING_COMPILED: &str = "compiles = false\n";

/// The whole file.
pub(crate) fn text(study: &Written<'_>) -> String {
    let Written { origin, factor, workload, program, .. } = study;
    let comments = |lines: &[String]| lines.iter().map(|line| format!("# {line}\n")).collect::<String>();
    let mut text = format!(
        "# Written by `bakeoff init`; edit it as you like. `bakeoff help study-file` explains all keys.\n{}\nformat = \
         1\nname = {}\nquestion = {}\n\n",
        comments(study.seen),
        quoted(&origin.name),
        quoted(&format!("Which level of {factor} makes {program} fastest?")),
    );
    text += &format!("[build_factors.{factor}]   # `bakeoff init --add-level NAME=WORDS` adds another level\n");
    text += &levels(study);
    text += &format!(
        "\n{}\n{}",
        source(origin, study.elsewhere),
        layers(&study_name(program), &origin.name, study.found, study.script)
    );
    let files: Vec<String> =
        study.driver.into_iter().chain(study.files.iter().map(String::as_str)).map(quoted).collect();
    if !files.is_empty() {
        text += &format!("files = [{}]\n", files.join(", "));
    }
    text += &format!(
        "verify = [{}]\nsizes = [{}]\n\n",
        quoted(&format!("test -x {}", in_prefix(program))),
        quoted(&format!("bin/{program}"))
    );
    if let Some(file) = study.driver.filter(|_| workload.is_stub()) {
        text += &format!("# {file} is a skeleton: add calls to the code that you want to measure.\n");
    } else {
        text += match workload.kind {
            WorkloadKind::Main => "",
            WorkloadKind::Stub => STUB,
            WorkloadKind::Benchmark if workload.harness.is_some() => HARNESS,
            WorkloadKind::Benchmark => BENCHMARK,
            WorkloadKind::Tests => TESTS,
        };
    }
    text += &comments(study.timed);
    text += &format!("[workloads.{}]\n", workload.kind.name());
    if let Some(harness) = workload.harness {
        text += &format!("harness = {}\n", quoted(harness));
    }
    if let Some(prepare) = &workload.prepare {
        text += &format!("prepare = {}   # not measured\n", quoted(prepare));
    }
    text += &format!("run = {}\n", quoted(&workload.run));
    match &study.output {
        Output::Unknown => {}
        Output::Expected(file) => {
            text += &format!("expect = {}   # the plain build printed this twice\n", quoted(file))
        }
        Output::Free => text += "output = \"varies\"   # only the exit code is checked\n",
        Output::Varies => text += "output = \"varies\"   # the plain build printed different output the second time\n",
    }
    text += &format!(
        "\n[conditions.idle]\nlocale = {}   # your terminal's locale; it affects how programs read and sort text\n",
        quoted(study.locale)
    );
    text += &format!("\n[decide]\nbaseline = {{ {factor} = {} }}\n", quoted(OWN));
    text += &format!("\n[plan]\nblocks = {BLOCKS}   # other options move code; see `bakeoff help layouts`\n");
    text
}

/// Programs of different options share no object, so their layouts do not match. At a spread of 2 % and a noise of 0.5 %, a
/// difference of 2 % is found in 56 % of studies with 12 blocks, and in 85 % with these (simulated).
pub(crate) const BLOCKS: u32 = 24;

/// The lines of the levels; the one that BOLT could make besides is a comment, where BOLT is installed.
fn levels(study: &Written<'_>) -> String {
    let mut text = String::new();
    for level in study.levels {
        text += &format!("{} = {}", quoted_key(&level.name), level.table());
        let is_profiled = level.entries.iter().any(|(key, _)| key == "profile");
        let is_bolted = level.is_bolted();
        text += match level.name == OWN {
            true => "   # the project's own flags\n",
            false if is_profiled => "   # built twice, see `bakeoff help levels`: Profile-guided optimisation\n",
            false if is_bolted => "   # rewritten after linking, see `bakeoff help levels`: BOLT\n",
            false => "\n",
        };
    }
    let starts_it = !study.workload.is_stub() && study.workload.run.contains(&in_prefix(study.program));
    let offered =
        Level::bolted(&study.workload.run).filter(|_| starts_it && !study.levels.iter().any(Level::is_bolted));
    if let Some(level) = offered {
        text += &format!(
            "# {} = {}   # another level, because LLVM's BOLT is installed; see `bakeoff help levels`: BOLT\n",
            level.name,
            level.table()
        );
    }
    text
}

/// What is said of the kinds of workloads.
const STUB: &str = "# A stub that only starts the program. Replace it with a command that does real work for a second \
                    or two. Put the\n# files that it needs into this folder.\n";
const BENCHMARK: &str = "# The project's own benchmark. If it runs for a fixed time, its elapsed time means nothing: \
                         give it a fixed amount\n# of work, or measure the number that it prints (`values`, see \
                         `bakeoff help study-file`).\n";
const HARNESS: &str =
    "# The project's own benchmarks. Each is judged by its time per operation (see `bakeoff help suites`).\n";
const TESTS: &str = "# The project's own tests. They do everything only once, and spend part of their time in shells. \
                     A command that does\n# what users do is a better workload.\n";

/// A name as a key: in quotes unless it is bare.
fn quoted_key(name: &str) -> String {
    let is_bare = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if is_bare { name.to_owned() } else { format!("\"{name}\"") }
}

/// Writes a file whole or not at all.
///
/// # Errors
/// What the system says.
pub(crate) fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let aside = path.with_extension("new");
    std::fs::write(&aside, text)?;
    std::fs::rename(&aside, path)
}
