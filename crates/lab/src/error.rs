//! Why the lab cannot go on; a trial that goes wrong is no error.

/// Why the lab cannot go on. A trial that goes wrong is not an error but a [`bakeoff_model::record::Outcome::Failed`].
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the names of fields say what they are")]
pub enum Error {
    /// The place cannot run anything any more.
    #[error("cannot run any more trials here")]
    Host(#[from] bakeoff_host::Error),
    /// A task is of something that is not in the plan.
    #[error("the {what} is not in the plan")]
    Unplanned { what: String },
    /// Nothing can be built here any more.
    #[error("cannot build what the trials need")]
    Building(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The same seed gives another program than when the pass began.
    #[error(
        "cannot continue pass {pass}: relinking `{variant}` now gives a different program, so the linker or the cache \
         path changed; restore both, or change `seed` in the plan to start again"
    )]
    OtherLayout { pass: u32, variant: String },
    /// A trial's folder cannot be prepared or read.
    #[error("cannot use the trial folder `{}`", path.display())]
    Folder { path: std::path::PathBuf, source: std::io::Error },
}
