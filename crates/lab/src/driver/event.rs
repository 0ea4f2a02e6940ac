//! What a session emits, and how it ends. Types only.

use bakeoff_model::record::{Block, Boot, Stopped, Trial};

/// What happens, in the order in which it happens.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A block begins, and its order is fixed; not repeated when an interrupted block is taken up again.
    BlockBegins(Block),
    /// A trial is about to be launched. The listener must be done when this returns.
    TrialBegins {
        /// The variant's display name, or the twin's.
        variant: String,
    },
    /// A trial ended. If it is void and not final ([`Trial::is_final`]), it begins again.
    TrialEnded(Box<Trial>),
    /// A boot ended, with all of its trials.
    BootEnded(Box<Boot>),
    /// A variant failed in each of its first blocks, and takes no part in those to come; or takes part again.
    Stops(Stopped),
    /// Trials turned out to write these files, which they were thought to depend on.
    Written(Vec<String>),
    /// What trials run is as it was; a digest of what was looked at.
    Checked(String),
    /// Files of what trials run were changed: the trials since the last [`Self::Checked`] are void. If they are what
    /// they were again, the block begins again; else the session ends.
    Changed {
        /// Their names.
        files: Vec<String>,
        /// Nobody knows when it was: all trials of the session are void.
        whole_session: bool,
    },
    /// Every trial of a block has ended.
    BlockEnded,
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Every trial of the plan is in the record, or as many passes as are enough.
    Complete,
    /// It was asked to stop; what is missing can be run later.
    Stopped,
    /// What trials run was changed.
    Changed,
}
