//! What this machine can measure and what will be noisy, by its own checks and by the twins of the studies that were finished
//! on it.

mod checks;
mod command;
mod twin_history;
mod twins;

use bakeoff_command::{Code, Conclusion, Feature, Group, Registry, Subcommand};

/// The slice.
#[derive(Debug)]
pub struct Doctor;

impl Feature for Doctor {
    fn register(&self, to: &mut Registry) {
        to.commands.push(Subcommand::with_features("doctor", command::execute).group(Group::Maintain));
        to.conclusions.push(Conclusion {
            options: |command| command,
            check: |_| Ok(()),
            exits: &[],
            takes_output: |_| false,
            decides: |_| false,
            conclude: |_, concluded| {
                if concluded.is_raced {
                    twins::remember(concluded.record, concluded.findings);
                }
                Ok(Code::Done)
            },
        });
    }
}
