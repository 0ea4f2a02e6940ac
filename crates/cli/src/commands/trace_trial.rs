//! `bakeoff trace-trial`: what a diagnostic trial is launched as. It is not for people, and so is in no help: it does what
//! a file orders, which the lab wrote.

use bakeoff_command::error::{Code, CommandError};
use std::path::PathBuf;

/// Execute the command of an order, stopped at every system call
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file with the order
    order: PathBuf,
}

pub(crate) fn execute(args: &Args) -> Result<Code, CommandError> {
    match bakeoff_host::tracer::execute(&args.order) {
        // It ends as the command did, with whatever code.
        Ok(code) => std::process::exit(code),
        Err(error) => Err(CommandError::new(Code::Internal, error)),
    }
}
