//! Builds a copy of the source once as it is, through the crate `builds`: with its cache, its log, and what its
//! wrappers saw. The whole tree is kept afterwards, to be looked at. A build that fails is tried once more in another
//! way.

use crate::debian::Missing;
use crate::fault::Fault;
use crate::levels::{Level, OWN};
use crate::origin::Origin;
use crate::products::ranked;
use crate::progress::watched;
use crate::recognise::{BuildMode, BuildSystem, Errors, System};
use crate::script::{self, Program, found_nothing};
use crate::workload::stub;
use crate::write::{Output, Written, text};
use bakeoff_building::{BuildEvent, Cache, CallSummary, Chain, Request};
use bakeoff_building::{BuildLine, BuildOutcome};
use bakeoff_command::study_folder::StudyFolder;
use bakeoff_command::{Code, CommandError, Registry, screen};
use bakeoff_model::metric;
use bakeoff_model::plan::Plan;
use bakeoff_report::format;
use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::time::Instant;

/// What a plain build came to.
pub(crate) struct Plain {
    /// The tree after it.
    pub(crate) tree: PathBuf,
    pub(crate) made: CallSummary,
    /// How it was built in the end.
    pub(crate) how: BuildMode,
    /// How long its script took, in seconds.
    pub(crate) wall_s: f64,
    /// Why not all of it could be built.
    pub(crate) lacks: Option<String>,
}

/// What is built, and for what.
pub(crate) struct Attempt<'a> {
    pub(crate) cache: &'a Cache,
    pub(crate) origin: &'a Origin,
    pub(crate) found: &'a BuildSystem,
    pub(crate) program: Program<'a>,
    pub(crate) levels: &'a [Level],
    pub(crate) features: &'a Registry,
}

impl Attempt<'_> {
    /// Builds it, as the plain level of a study with these levels. Then that level is built already, if nothing else is
    /// chosen.
    ///
    /// # Errors
    /// What failed first, and those of building.
    pub(crate) fn plain(&self) -> Result<Plain, Fault<Box<BuildLine>>> {
        let plain = match self.once(BuildMode::default()) {
            Err(Fault::Useless(failed)) => self.otherwise(&failed)?.ok_or(Fault::Useless(failed))?,
            built => built?,
        };
        if plain.made.compilations > 0 || self.found.system != System::Make {
            return Ok(plain);
        }
        // A build in this folder before left everything that make looks for.
        screen::err("nothing was compiled, because the source was already built; building again after `make clean`\n");
        match self.once(BuildMode { clean: true, ..plain.how }) {
            Err(Fault::Useless(_)) => Ok(plain),
            built => built,
        }
    }

    /// One build, in a study that nobody sees, expected to take `expected_s` seconds (0: unknown); what came of it.
    pub(crate) fn line(&self, how: BuildMode, keeps_tree: bool, expected_s: f64) -> Result<BuildLine, CommandError> {
        let folder = tempfile::tempdir().map_err(CommandError::usage)?;
        std::fs::write(folder.path().join("study.toml"), self.study(how)).map_err(CommandError::usage)?;
        // What belongs to the study in the folder that it will be written into is no part of this source either.
        let mut folder = StudyFolder::open(folder.path(), self.features)?;
        let own = ["study.toml".to_owned(), self.program.product.expected()];
        folder.own.extend(own.map(|name| self.origin.study_dir.join(name)));
        let plan = Plan::of(&folder.study, "default")?;
        let mut layers = Chain::of(&folder.study).layers.clone();
        layers.iter_mut().rfind(|layer| !layer.rewrites).into_iter().for_each(|layer| layer.keeps_tree = keeps_tree);
        let baseline = std::slice::from_ref(plan.baseline());
        let request = Request { layers: &layers, variants: baseline, ..Request::of(&folder.order(&plan, 1, true)) };
        let told = |event| {
            if !matches!(event, BuildEvent::Started { .. }) {
                tell(event)
            }
        };
        let mut lines = watched(expected_s, || self.cache.build_all(&request, &told))?;
        lines.pop().ok_or_else(|| CommandError::usage("there is nothing to build"))
    }

    /// What could not be built in the usual way is built with one job at a time, and on behind what fails. None if the
    /// program is not there then.
    fn otherwise(&self, failed: &BuildLine) -> Result<Option<Plain>, CommandError> {
        let uses_make =
            matches!(self.found.system, System::Make | System::Configure | System::Autoconf | System::CMake);
        if !uses_make {
            return Ok(None);
        }
        screen::err(&format!(
            "the build failed{}; trying again with one job at a time{}\n",
            reason(failed),
            log(failed)
        ));
        let began = Instant::now();
        let failed = match self.once(BuildMode { one_job: true, errors: Errors::GoOn, ..BuildMode::default() }) {
            Ok(plain) => return Ok(Some(plain)),
            Err(fault) => fault.useless()?,
        };
        let Some((tree, made)) = self.cache.kept_tree(&failed.digest).zip(self.cache.call_summary(&failed.digest))
        else {
            return Ok(None);
        };
        let programs = ranked(&tree, &made.linked, &self.origin.name).programs;
        if !programs.iter().any(|program| !program.is_aside) {
            return Ok(None);
        }
        let (wall_s, how) =
            (began.elapsed().as_secs_f64(), BuildMode { errors: Errors::Ignored, ..BuildMode::default() });
        Ok(Some(Plain { tree, made, how, wall_s, lacks: Some(reason(&failed)) }))
    }

    /// One build; or what failed.
    fn once(&self, how: BuildMode) -> Result<Plain, Fault<Box<BuildLine>>> {
        let shown = self.found.script(how).join(" && ").replace("\\ && ", "");
        screen::err(&format!("building an unchanged copy: {shown}\n"));
        let began = Instant::now();
        let line = self.line(how, true, 0.0)?;
        let is_whole = line.outcome == BuildOutcome::Built;
        let is_built = match &line.outcome {
            BuildOutcome::Failed { tail, .. } => found_nothing(tail),
            _ => is_whole,
        };
        let Some(tree) = self.cache.kept_tree(&line.digest).filter(|_| is_built) else {
            return Err(Fault::Useless(Box::new(line)));
        };
        let known_s = line.cost.get(metric::WALL).copied().filter(|_| is_whole);
        let wall_s = known_s.unwrap_or(began.elapsed().as_secs_f64());
        if !is_whole {
            screen::err(&format!("built it in {}\n", format::waiting_time(wall_s)));
        }
        let made = self.cache.call_summary(&line.digest).unwrap_or_default();
        Ok(Plain { tree, made, how, wall_s, lacks: None })
    }

    fn study(&self, how: BuildMode) -> String {
        let own = Level { name: OWN.to_owned(), entries: vec![] };
        let mut levels: Vec<Level> =
            std::iter::once(own).chain(self.levels.iter().filter(|level| level.name != OWN).cloned()).collect();
        // What a profile is to be trained by is not known yet, and only the plain level is built here.
        for command in levels.iter_mut().filter_map(Level::training).filter(|command| command.is_empty()) {
            "true".clone_into(command);
        }
        let program = self.program.product.name();
        text(&Written {
            origin: self.origin,
            elsewhere: true,
            factor: "flags",
            levels: &levels,
            seen: &[],
            found: self.found,
            script: &script::lines(self.found, how, &levels, &self.program),
            driver: None,
            files: &[],
            program: &program,
            workload: &stub(&program, ""),
            output: Output::Unknown,
            locale: "C",
            timed: &[],
        })
    }
}

/// What happens, on standard error.
pub(crate) fn tell(event: BuildEvent) {
    let line = match event {
        BuildEvent::Waiting { what, process: Some(process) } => format!("waiting for process {process}: {what}"),
        BuildEvent::Waiting { what, process: None } => format!("waiting: {what}"),
        BuildEvent::Started { variants, layer } => format!("building {layer} for {}", variants.join(", ")),
        BuildEvent::Finished { wall_s, layer, .. } => format!("built {layer} in {}", format::waiting_time(wall_s)),
        event => match event.note() {
            Some(note) => note,
            None => return,
        },
    };
    screen::erase();
    screen::err(&format!("{line}\n"));
}

/// Why a build failed, in a few words that follow others.
pub(crate) fn reason(line: &BuildLine) -> String {
    let BuildOutcome::Failed { why, tail, log, .. } = &line.outcome else { return String::new() };
    let said = log.as_ref().map(|log| printed(log)).unwrap_or_default();
    format!(" ({})", of_tool(&said).or_else(|| telling(tail)).unwrap_or(why))
}

/// Where the log of a failed build is, in a few words that follow others.
pub(crate) fn log(line: &BuildLine) -> String {
    match &line.outcome {
        BuildOutcome::Failed { log: Some(log), .. } => format!(" (log: {log})"),
        _ => String::new(),
    }
}

/// What a build has printed, as far as that is looked at, without lines of ours.
fn printed(log: &str) -> Vec<String> {
    const MOST_BYTES: u64 = 64 << 20;
    let mut bytes = vec![];
    let _ = File::open(log).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes);
    text.lines().filter(|line| !line.starts_with("bakeoff: ")).map(str::to_owned).collect()
}

/// The line of a failed build's last ones that says most: of a tool, else of make, else the last.
fn telling(tail: &[String]) -> Option<&str> {
    let line = of_tool(tail).or_else(|| tail.iter().find(|line| line.contains("***")).map(String::as_str));
    line.or(tail.last().map(String::as_str)).map(str::trim)
}

/// The first line that a tool complains in, and not make of a tool.
fn of_tool(lines: &[String]) -> Option<&str> {
    const OF_TOOLS: [&str; 10] = [
        "error:",
        "error[",
        "Error: ",
        "cannot find",
        ": not found",
        "command not found",
        "No rule to make",
        "No such file",
        "Error at ",
        "undefined reference",
    ];
    let is_of_tool = |line: &&String| OF_TOOLS.iter().any(|words| line.contains(words)) && !line.contains("*** [");
    lines.iter().find(is_of_tool).map(|line| line.trim())
}

/// That a build failed, for the end of the command.
pub(crate) fn failure(line: &BuildLine, missing: Option<Missing>) -> CommandError {
    let install = missing.map_or_else(
        || "if dependencies are missing, install them".to_owned(),
        |missing| format!("install the missing build dependencies with `{}`", missing.command()),
    );
    failed(
        line,
        &format!("{install}, or use --options to disable the part that needs them; then run the same command again"),
    )
}

/// That the build of a level failed where the plain one did not.
pub(crate) fn failure_of_level(line: &BuildLine) -> CommandError {
    failed(line, "the plain build works, so correct or remove this level in study.toml")
}

fn failed(line: &BuildLine, remedy: &str) -> CommandError {
    let BuildOutcome::Failed { why, tail, log, .. } = &line.outcome else {
        return CommandError::usage("the build failed");
    };
    let mut text = format!("error: cannot build the source: {why}\n");
    let said = log.as_ref().map(|log| printed(log)).unwrap_or_default();
    if let Some(first) = of_tool(&said).filter(|first| !tail.iter().any(|line| line.trim() == *first)) {
        text.push_str(&format!("the first error:\n    {first}\nthe last lines:\n"));
    }
    tail.iter().for_each(|line| text.push_str(&format!("    {line}\n")));
    let log = log.as_ref().map_or_else(String::new, |log| format!(" (full log: {log})"));
    CommandError::text(Code::VariantFailed, text).hint(format!("{remedy}{log}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_says_most_is_shown() {
        let check = |tail: &[&str], expect: Option<&str>| {
            let tail: Vec<String> = tail.iter().map(|&line| line.to_owned()).collect();
            assert_eq!(telling(&tail), expect, "{tail:?}");
        };
        let make = "make: *** [Makefile:9: all] Error 2";
        check(&["cc -c x.c", "x.c:1:1: error: expected ;", make], Some("x.c:1:1: error: expected ;"));
        check(
            &["  missing: line 81: makeinfo: command not found", make],
            Some("missing: line 81: makeinfo: command not found"),
        );
        check(&["cc -o x", make, "make: Leaving directory"], Some(make));
        check(&["make: *** [Makefile:3: x] Error 127: No such file", "x: not found"], Some("x: not found"));
        check(&["no luck"], Some("no luck"));
        check(&[], None);
    }
}
