//! What a command is made of: its place in the help, its arguments, the screen, errors with exit codes, a study's folder
//! and journals; and [`Registry`], where features register commands and more. It holds no command.

pub mod alone;
pub mod arguments;
mod asked;
pub mod changes;
pub mod check;
mod elsewhere;
pub mod error;
pub mod estimates;
pub mod exits;
mod explained;
mod explaining;
mod feature;
pub mod journals;
pub mod locale;
mod maker;
mod remote_place;
pub mod saved;
pub mod scratch;
pub mod screen;
pub mod selection;
pub mod shard;
mod source;
pub mod state;
pub mod study_folder;
pub mod target;
pub mod user_state;
pub mod walls;

/// The hidden command that a traced trial is launched as.
pub const TRACE_TRIAL: &str = "trace-trial";

/// Returns the words that start a command of this program; none if our own path is not text.
pub fn own_command(name: &str) -> Vec<String> {
    let own = std::env::current_exe().ok().and_then(|path| path.into_os_string().into_string().ok());
    own.map_or_else(Vec::new, |own| vec![own, name.to_owned()])
}

pub use asked::FeatureArgs;
pub use elsewhere::{Elsewhere, ElsewhereOrder, Returned};
pub use error::{Code, CommandError};
pub use explaining::{CONFIRM, Confirmation, EXPLAIN, Explainer, IsolatingLevel, StudySections};
pub use feature::{
    Against, CommandMode, Concluded, Conclusion, Feature, FeatureFindings, FindingsSection, Finished, Gathering,
    Instrument, OpenedInstrument, OwnTrials,
};
pub use feature::{Group, Reach, Reached, Registry, Subcommand};
pub use maker::{Foreseen, Made, Maker, MakerRegistration, Merged, Order};
pub use remote_place::{PlaceSetting, RemotePlace};
pub use source::{Explain, Prepared, SourceRequest, VariantSource};
