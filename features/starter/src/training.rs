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
                "`{name}` has a profile, and {} calls neither gcc nor clang",
                found.file
            ))
            .hint("leave the level out: profiles are those of these compilers"));
        }
        if command.is_empty() && workload.is_stub() {
            let word = if is_bolted { "bolt" } else { "profile" };
            return Err(CommandError::usage(format!("`{name}` is to be trained by the workload, and there is none"))
                .hint(format!("name it with --run COMMAND, or the training: --level '{name}={word}:./prog input'")));
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
