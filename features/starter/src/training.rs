//! The trainings of levels that are built by a profile, or rewritten by BOLT: what `--level` left open becomes a command of the study. Nothing is
//! run here.

use crate::levels::Level;
use crate::offer::bring;
use crate::origin::Origin;
use crate::products::Product;
use crate::recognise::BuildSystem;
use crate::workload::{Workload, of_command};
use bakeoff_command::CommandError;

/// Completes these levels: each has a command that runs the program in the prefix.
pub(crate) fn complete(
    levels: &mut [Level],
    found: &BuildSystem,
    origin: &Origin,
    product: &Product,
    workload: &Workload,
) -> Result<(), CommandError> {
    for level in levels {
        let (name, is_bolted) = (level.name.clone(), level.is_bolted());
        let Some(command) = level.training() else { continue };
        if !found.calls_compilers() && !is_bolted {
            return Err(CommandError::usage(format!(
                "the level `{name}` needs profiles from gcc or clang, but {} calls neither",
                found.file
            ))
            .hint("remove the level"));
        }
        if command.is_empty() && workload.is_stub() {
            let word = if is_bolted { "bolt" } else { "profile" };
            return Err(CommandError::usage(format!(
                "the level `{name}` is trained on the workload, but there is no workload"
            ))
            .hint(format!(
                "name one with --run COMMAND, or name a training command: --level '{name}={word}:./prog input'"
            )));
        }
        *command = match command.is_empty() {
            true => match &workload.prepare {
                Some(prepare) => format!("{prepare} && {}", workload.run),
                None => workload.run.clone(),
            },
            false => of_command(command, &product.name(), &product.path).run,
        };
        bring(command, origin)?;
    }
    Ok(())
}
