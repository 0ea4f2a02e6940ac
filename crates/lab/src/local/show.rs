//! What trials print, shown to somebody after each of them. Who that is and where it is shown is not known here.

use super::outcome::Outputs;
use super::stage::folder_error;
use crate::Error;

/// Shows bytes.
pub type Shower<'a> = Box<dyn FnMut(&[u8]) + 'a>;

/// Shows what the processes of a trial printed, if somebody is there who does.
pub(super) fn outputs(show: &mut Option<Shower<'_>>, outputs: &[Outputs]) -> Result<(), Error> {
    let Some(show) = show else { return Ok(()) };
    for path in outputs.iter().flat_map(|outputs| [&outputs.stdout, &outputs.stderr]) {
        show(&std::fs::read(path).map_err(|source| folder_error(path, source))?);
    }
    Ok(())
}
