//! `bakeoff calibrate`: the scale, tested on itself, by simulated studies whose truth is known. It judges nothing that
//! anybody asked about.

pub mod calibration;
mod command;
mod page;
pub mod searches;

use bakeoff_command::{Code, Feature, Group, Registry, Subcommand};

/// The slice.
#[derive(Debug)]
pub struct Calibrate;

impl Feature for Calibrate {
    fn register(&self, to: &mut Registry) {
        to.commands.push(Subcommand::new("calibrate", command::execute).group(Group::Maintain).exits(&[
            (Code::GateFailed, "a promise does not hold"),
            (Code::Interrupted, "interrupted; no results are kept"),
        ]));
    }
}
