//! Builds a copy of the source once as it is, through the crate `builds`: with its cache, its log, and what its wrappers saw.
//! The whole tree is kept afterwards, to be looked at. A build that fails is tried once more in another way.

use crate::origin::Origin;
use crate::progress::watched;
use crate::recognise::{Found, How, System};
use crate::write::{layers, source};
use bakeoff_builds::{BuildEvent, Cache, Made, build_all, made_by};
use bakeoff_command::study_folder::StudyFolder;
use bakeoff_command::{Code, CommandError, Features, screen};
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{BuildLine, BuildOutcome};
use bakeoff_report::format;
use std::path::PathBuf;

/// What a plain build came to.
pub(crate) struct Plain {
    /// The tree after it.
    pub(crate) tree: PathBuf,
    pub(crate) made: Made,
    /// How it was built in the end.
    pub(crate) how: How,
    /// How long its script took, in seconds.
    pub(crate) wall_s: f64,
}

/// Builds it.
///
/// # Errors
/// If it cannot be built, with the last lines of what was printed.
pub(crate) fn build(cache: &Cache, origin: &Origin, found: &Found, features: Features) -> Result<Plain, CommandError> {
    let how = How::default();
    let (how, line) = match attempt(cache, origin, found, how, features)? {
        line if line.outcome == BuildOutcome::Built => (how, line),
        failed if found.system == System::Cargo || found.system == System::Go => return Err(failure(&failed)),
        failed => {
            screen::err("the build failed; once more, with one job at a time\n");
            let how = How { one_job: true, ..how };
            let again = attempt(cache, origin, found, how, features)?;
            if again.outcome != BuildOutcome::Built {
                return Err(failure(&failed));
            }
            (how, again)
        }
    };
    let plain = seen(cache, &line, how);
    if plain.made.compilations > 0 || found.system != System::Make {
        return Ok(plain);
    }
    // A build in this folder before left everything that make looks for.
    screen::err("nothing was compiled: it had been built before; once more after `make clean`\n");
    let how = How { clean: true, ..how };
    match attempt(cache, origin, found, how, features)? {
        line if line.outcome == BuildOutcome::Built => Ok(seen(cache, &line, how)),
        _ => Ok(plain),
    }
}

fn seen(cache: &Cache, line: &BuildLine, how: How) -> Plain {
    let tree = cache.prefix_of(&line.digest).join("tree");
    let made = made_by(cache.root(), &line.digest).unwrap_or_default();
    Plain { tree, made, how, wall_s: line.cost.get("wall").copied().unwrap_or_default() }
}

/// One build, in a study that nobody sees. A study compares something, so two variants share the build.
fn attempt(
    cache: &Cache,
    origin: &Origin,
    found: &Found,
    how: How,
    features: Features,
) -> Result<BuildLine, CommandError> {
    let folder = tempfile::tempdir().map_err(CommandError::usage)?;
    let mut script = found.script(how);
    script.extend(found.back().map(str::to_owned));
    script.push("cp -a . \"$PREFIX/tree\"".to_owned());
    let source = source(origin, true);
    let build = layers("plain", &origin.name, found, &script);
    let study = format!(
        "format = 1\nname = \"plain\"\nquestion = \"?\"\n[run_factors.executed]\nonce = {{}}\ntwice = {{ TWICE = \"1\" }}\n\
         {source}{build}[workloads.none]\nrun = \"true\"\n[decide]\nbaseline = {{ executed = \"once\" }}\n"
    );
    std::fs::write(folder.path().join("study.toml"), study).map_err(CommandError::usage)?;
    // What belongs to the study in the folder that it will be written into is no part of this source either.
    let mut folder = StudyFolder::open(folder.path(), features)?;
    folder.own.push(origin.study_dir.join("study.toml"));
    let plan = Plan::of(&folder.study, "default")?;
    let shown = found.script(how).join(" && ").replace("\\ && ", "");
    screen::err(&format!("building it as it is, in a copy: {shown}\n"));
    let lines = watched(|| build_all(cache, &folder.request(&plan, 1), &tell))?;
    lines.into_iter().next().ok_or_else(|| CommandError::usage("there is nothing to build"))
}

/// What happens, on standard error.
pub(crate) fn tell(event: BuildEvent) {
    let line = match event {
        BuildEvent::Waiting { what, .. } => format!("waiting: {what}"),
        BuildEvent::Started { variants, layer } if layer != "plain" => {
            format!("building {layer} for {}", variants.join(", "))
        }
        BuildEvent::Finished { wall_s, layer, .. } => format!("built {layer} in {}", format::waiting_time(wall_s)),
        _ => return,
    };
    screen::erase();
    screen::err(&format!("{line}\n"));
}

/// That a build failed, for the end of the command.
pub(crate) fn failure(line: &BuildLine) -> CommandError {
    let BuildOutcome::Failed { why, tail, log, .. } = &line.outcome else {
        return CommandError::usage("the build failed");
    };
    let mut text = format!("error: it cannot be built: {why}\n");
    tail.iter().for_each(|line| text.push_str(&format!("    {line}\n")));
    let log = log.as_ref().map_or_else(String::new, |log| format!("; the whole log: {log}"));
    CommandError::text(Code::VariantFailed, text)
        .hint(format!("install what it says is missing, and execute the command again{log}"))
}
