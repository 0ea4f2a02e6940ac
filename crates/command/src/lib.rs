//! What a command is made of: its place in the help, its arguments, the screen, errors with exit codes, a study's folder
//! and journals; and [`Feature`], the trait by which a slice adds commands of its own. The commands of the core are in
//! `cli`, those of features in their folders; neither are here.

pub mod alone;
pub mod arguments;
mod elsewhere;
pub mod error;
pub mod exits;
mod feature;
pub mod journals;
pub mod locale;
pub mod saved;
pub mod scratch;
pub mod screen;
pub mod source_notes;
pub mod state;
pub mod study_folder;
pub mod target;
pub mod user_state;

pub use elsewhere::{Elsewhere, PlaceSetting};
pub use error::{Code, CommandError};
pub use feature::{Against, Asked, Concluded, Conclusion, Feature, Features, Finished, Form, Planning, Subcommand};
