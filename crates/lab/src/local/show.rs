//! What trials print, shown to somebody after each of them. Who that is and where it is shown is not known here.

use super::outcome::Outputs;
use super::stage::folder_error;
use crate::Error;

/// Shows bytes.
pub type Shower<'a> = Box<dyn FnMut(&[u8]) + 'a>;

/// Who shows it, if anybody does.
#[derive(Default)]
pub(super) struct Show<'a>(pub(super) Option<Shower<'a>>);

impl Show<'_> {
    pub(super) fn outputs(&mut self, outputs: &[Outputs]) -> Result<(), Error> {
        let Some(show) = &mut self.0 else { return Ok(()) };
        for path in outputs.iter().flat_map(|outputs| [&outputs.stdout, &outputs.stderr]) {
            show(&std::fs::read(path).map_err(|source| folder_error(path, source))?);
        }
        Ok(())
    }
}

impl std::fmt::Debug for Show<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Show({})", self.0.is_some())
    }
}
