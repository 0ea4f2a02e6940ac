//! The end of `bakeoff init`: the study is written, a level of it proven, the workload run, and what that showed is
//! written, too. What is in the study is decided before.

use crate::ask::say;
use crate::expect::{self, Observed};
use crate::levels::Level;
use crate::library::Library;
use crate::origin::{Origin, shown};
use crate::plain::Plain;
use crate::products::{Product, own_libraries, ranked};
use crate::progress::step;
use crate::prove::prove;
use crate::recognise::{BuildSystem, System};
use crate::script::{self, Program};
use crate::stage::{Stage, locale_of_user};
use crate::targets::Target;
use crate::workload::{Workload, WorkloadKind, files_of_study, stub};
use crate::write::{BLOCKS, Output, Written, replace, text};
use bakeoff_building::Cache;
use bakeoff_command::{Code, CommandError, Registry, screen};
use bakeoff_host::executed_with;
use bakeoff_model::study_file::MOST_BLOCKS;
use bakeoff_report::format;
use std::path::{Path, PathBuf};

/// What is known when the study is written.
pub(crate) struct Start<'a> {
    pub(crate) cache: &'a Cache,
    pub(crate) origin: &'a Origin,
    pub(crate) found: &'a BuildSystem,
    pub(crate) plain: &'a Plain,
    pub(crate) product: &'a Product,
    pub(crate) target: Option<&'a Target>,
    pub(crate) features: &'a Registry,
    /// How many steps the command has; these are the last two.
    pub(crate) steps: usize,
}

impl Start<'_> {
    /// Writes the study, proves a level, runs the workload, and writes the study again with what that showed.
    pub(crate) fn write(
        &self,
        factor: Option<&str>,
        levels: &[Level],
        seen: &[String],
        mut workload: Workload,
        file: &Path,
    ) -> Result<Code, CommandError> {
        let origin = self.origin;
        let factor = factor.unwrap_or(if self.found.system == System::Go { "settings" } else { "flags" });
        let (name, locale) = (self.product.name(), locale_of_user());
        let libraries = self.libraries();
        if !libraries.is_empty() {
            say(&format!("the build also installs the libraries of the program: {}", libraries.join(", ")));
        }
        let program = Program { product: self.product, libraries: &libraries, target: self.target };
        let script = script::lines(self.found, self.plain.how, levels, &program);
        let driver = self.product.library.as_ref().map(Library::file);
        let (levels, files) = (&self.with_libraries(levels, &libraries)[..], self.files(levels));
        let save = |workload: &Workload, output: Output, timed: &[String]| {
            let written = Written {
                origin,
                elsewhere: false,
                factor,
                levels,
                seen,
                found: self.found,
                driver: driver.as_deref(),
                script: &script,
                files: &files,
                program: &name,
                workload,
                output,
                locale: &locale,
                timed,
            };
            std::fs::create_dir_all(&origin.study_dir).and_then(|()| replace(file, text(&written).as_bytes()))
        };
        save(&workload, Output::Unknown, &[]).map_err(CommandError::usage)?;
        let expected = origin.study_dir.join(self.product.expected());
        let proven = prove(self.cache, file, expected, self.features, self.steps, self.plain.wall_s)?;
        step(self.steps, self.steps, "running the workload, at least twice");
        if workload.prepare.is_none() && !libraries.is_empty() && !self.loads_own(&proven.own, &libraries) {
            say("the program finds its libraries only with LD_LIBRARY_PATH, so the workload sets it");
            workload.run = format!("LD_LIBRARY_PATH=\"$PREFIX/lib\" {}", workload.run);
        }
        if workload.is_stub() && driver.is_none() {
            workload.run = self.starting(&proven.own)?.unwrap_or(workload.run);
        }
        let seen = match expect::execute(&workload, &origin.study_dir, &proven.own) {
            Ok(seen) => seen,
            Err(fault) => {
                let why = fault.useless()?;
                save(&workload, Output::Unknown, &[]).map_err(CommandError::usage)?;
                screen::err(&format!("error: the workload `{}` fails: {why}\n", workload.run));
                screen::err(&format!("hint: correct `run` in {}\n", shown(file)));
                return Ok(Code::VariantFailed);
            }
        };
        let output = match &seen.output {
            _ if workload.harness.is_some() => Output::Unknown,
            // It may print times, or sizes and sums of the program itself.
            _ if matches!(workload.kind, WorkloadKind::Benchmark | WorkloadKind::Tests) => Output::Free,
            // The skeleton will print something else once it does something.
            Some(_) if driver.is_some() && workload.is_stub() => Output::Unknown,
            Some(bytes) => {
                let file = self.product.expected();
                replace(&origin.study_dir.join(&file), bytes).map_err(CommandError::usage)?;
                Output::Expected(file)
            }
            None if seen.varies => Output::Varies,
            None => Output::Unknown,
        };
        let is_timed = !workload.is_stub() && workload.harness.is_none();
        let timed = if is_timed { timed(&seen, levels.len()) } else { vec![] };
        save(&workload, output, &timed).map_err(CommandError::usage)?;
        timed.iter().for_each(|line| say(line));
        screen::out(&format!("wrote {}\n", shown(file)));
        Ok(if proven.is_built { Code::Done } else { Code::VariantFailed })
    }

    /// How the program is started so that it succeeds, if it can be in one of the usual ways.
    fn starting(&self, prefix: &Path) -> Result<Option<String>, CommandError> {
        const USUAL: [&str; 5] = [" --version", " --help", " -V", " -h", ""];
        let mut stage = Stage::new(&self.origin.study_dir, prefix)?;
        stage.most_s = 10.0;
        for words in USUAL {
            let run = stub(&self.product.name(), words);
            match stage.prepared(&run).and_then(|home| stage.execute(&run.run, home.path())) {
                Ok(_) => return Ok(Some(run.run)),
                Err(fault) => drop(fault.useless()?),
            }
        }
        Ok(None)
    }

    /// The levels, whose trainings find the program's own libraries.
    fn with_libraries(&self, levels: &[Level], libraries: &[String]) -> Vec<Level> {
        let mut levels = levels.to_vec();
        for command in levels.iter_mut().filter_map(Level::training).filter(|_| !libraries.is_empty()) {
            *command = format!("export LD_LIBRARY_PATH=\"$PREFIX/lib\"; {command}");
        }
        levels
    }

    /// The study's files that trainings read.
    fn files(&self, levels: &[Level]) -> Vec<String> {
        let mut levels = levels.to_vec();
        let commands = levels.iter_mut().filter_map(Level::training);
        let of = |command: &mut String| files_of_study(command, &self.origin.tree, &self.origin.study_dir);
        let mut files: Vec<String> = commands.flat_map(of).collect();
        files.sort_unstable();
        files.dedup();
        files
    }

    /// Libraries of the tree that the program would take from the system once it lies elsewhere.
    pub(crate) fn libraries(&self) -> Vec<String> {
        let shared = ranked(&self.plain.tree, &self.plain.made.linked, &self.origin.name).shared;
        own_libraries(&self.plain.tree, &self.product.path, &shared)
    }

    /// Whether the program in a prefix takes its libraries from there.
    fn loads_own(&self, prefix: &Path, libraries: &[String]) -> bool {
        let loaded = executed_with(&[prefix.join("bin").join(self.product.name())], None, 1000);
        let of = |name: &String| {
            let is_it = |path: &&PathBuf| {
                path.file_name().is_some_and(|file| file.to_string_lossy().starts_with(&format!("{name}.so")))
            };
            loaded.iter().find(is_it).is_some_and(|path| path.starts_with(prefix))
        };
        libraries.iter().all(of)
    }
}

/// What was seen of the workload, a sentence each.
fn timed(seen: &Observed, levels: usize) -> Vec<String> {
    let mut lines =
        vec![format!("The workload takes about {} ({} runs).", format::duration(seen.median_s()), seen.walls.len())];
    if seen.varies {
        lines.push("Its output differs from run to run.".to_owned());
    }
    match seen.blocks_for_one_percent(levels) {
        None => {}
        Some(blocks) if i64::from(blocks) > MOST_BLOCKS => lines.push(format!(
            "Its time varies too much here to detect a difference of 1 %, even with {MOST_BLOCKS} blocks, the \
             maximum; use a quieter machine or a longer workload. The study has {BLOCKS}."
        )),
        Some(blocks) => lines.push(format!(
            "To detect a difference of 1 %, you need about {blocks} blocks on this machine (`--blocks {blocks}`); the \
             study has {BLOCKS}."
        )),
    }
    lines
}
