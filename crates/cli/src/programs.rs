//! What is said, before the first trial, of commands that cannot be started. Which these are is the lab's word.

use bakeoff_command::error::CommandError;
use bakeoff_command::study_folder::words;
use bakeoff_command::{locale, screen};
use bakeoff_lab::local::{Absent, Setup};
use bakeoff_lab::watched::is_lfs_pointer;
use bakeoff_model::plain::clean;
use bakeoff_model::plan::Plan;
use bakeoff_model::study::Condition;
use bakeoff_report::words::{counted, listed};
use std::path::Path;

/// Ends the command if the baseline cannot be started. Other variants get a note; their trials fail.
pub(crate) fn of_study(absent: &[Absent], baseline: &str) -> Result<(), CommandError> {
    if let Some(first) = absent.iter().find(|one| one.variant == baseline) {
        let Absent { part, program, why, .. } = first;
        let error = format!("the baseline cannot run {part}: `{program}` {why}");
        return Err(refused(error, first));
    }
    for Absent { variant, part, program, why, meant } in absent {
        let meant = meant.as_ref().map_or(String::new(), |meant| format!(" (did you mean `{meant}`?)"));
        screen::err(&format!(
            "note: trials of {variant} will fail because {part} cannot run: `{program}` {why}{meant}\n"
        ));
    }
    Ok(())
}

/// Ends the command where any of the commands to be compared cannot be started.
pub(crate) fn of_commands(absent: &[Absent]) -> Result<(), CommandError> {
    let Some(first) = absent.first() else { return Ok(()) };
    let Absent { variant, program, why, .. } = first;
    let error = format!("cannot run `{variant}`: `{program}` {why}");
    // `compare sleep 1 sleep 2` without quotes.
    if first.meant.is_none() && variant == program {
        return Err(CommandError::usage(error).hint("put a command of several words in quotes, such as 'sleep 1'"));
    }
    Err(refused(error, first))
}

pub(crate) fn locales(plan: &Plan, setup: &Setup) {
    let of_conditions = plan.conditions.iter().flat_map(|condition| &condition.environment);
    let of_variants = plan.variants.iter().flat_map(|variant| &variant.run_variables);
    for name in locale::lacking(setup.environment.iter().chain(of_conditions).chain(of_variants)) {
        screen::err(&format!(
            "note: this machine has no locale `{}`, so programs that request it use C; `locale -a` lists the locales\n",
            clean(&name)
        ));
    }
}

/// Ends the command where trials would read a Git LFS pointer in the place of the data; `names` are those of such
/// files.
pub(crate) fn pointers(names: impl Iterator<Item = String>) -> Result<(), CommandError> {
    let names: Vec<String> = names.map(|name| clean(&name)).collect();
    let Some(first) = names.first() else { return Ok(()) };
    let error = match names.len() - 1 {
        0 => format!("{first} is a Git LFS pointer, not the data"),
        more => format!("{first} and {} are Git LFS pointers, not the data", counted(more as u32, "other file")),
    };
    Err(CommandError::usage(error).hint("run `git lfs pull` to fetch the data"))
}

/// The same of files of builds: those that commands name below `$PREFIX`, or in the variant's folder.
pub(crate) fn pointers_in_builds(plan: &Plan, setup: &Setup) -> Result<(), CommandError> {
    let of_variants = plan.variants.iter().filter_map(|variant| variant.run.as_deref());
    let commands = of_variants.chain(plan.workloads.iter().map(|workload| workload.run.as_str()));
    let is_pointer = |word: &&str| {
        let below = word.strip_prefix("$PREFIX/").or(word.strip_prefix("${PREFIX}/")).map(Path::new);
        let place = below.map(Path::to_owned).or_else(|| Some(setup.below_prefix.as_ref()?.join(word)));
        place.is_some_and(|place| setup.prefixes.values().any(|prefix| is_lfs_pointer(&prefix.join(&place))))
    };
    pointers(commands.flat_map(words).filter(is_pointer).map(str::to_owned))
}

/// Ends the command where a condition asks for processors that are not there: trials would go without.
pub(crate) fn processors(plan: &Plan) -> Result<(), CommandError> {
    let wanted =
        |condition: &Condition| [condition.cpus.clone(), condition.load.as_ref().and_then(|load| load.cpus.clone())];
    let wanted: Vec<u32> = plan.conditions.iter().flat_map(wanted).flatten().flatten().collect();
    let absent: Vec<String> = bakeoff_host::offline(&wanted).iter().map(u32::to_string).collect();
    if absent.is_empty() {
        return Ok(());
    }
    let error = match absent.as_slice() {
        [one] => format!("processor {one} is not online here, so trials cannot be pinned to it"),
        several => format!("processors {} are not online here, so trials cannot be pinned to them", listed(several)),
    };
    Err(CommandError::usage(error).hint("`lscpu --extended` lists the processors that are online"))
}

fn refused(error: String, first: &Absent) -> CommandError {
    let hint = first.meant.as_ref().map(|meant| format!("did you mean `{meant}`?"));
    CommandError::usage(error).hint(hint.unwrap_or_else(|| "nothing ran; correct the command".to_owned()))
}
