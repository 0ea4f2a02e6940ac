//! The options of features in a command's own arguments: the command carries them, and features read them.

use clap::ArgMatches;

/// What the options of features ask for, in a command that comes to findings: flatten it into the command's own
/// options.
#[derive(Debug, Clone)]
pub struct FeatureArgs(pub(crate) ArgMatches);

impl clap::FromArgMatches for FeatureArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(matches.clone()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        matches.clone_into(&mut self.0);
        Ok(())
    }
}

impl clap::Args for FeatureArgs {
    // The options are those of features, of which this crate knows none: they are added where the commands are put together.
    fn augment_args(command: clap::Command) -> clap::Command {
        command
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        command
    }
}
