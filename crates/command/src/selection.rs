//! Which study a command is about, which part of it, and how much may be made at a time: options that several commands
//! share.

use crate::CommandError;
use bakeoff_model::plan::Plan;
use bakeoff_model::study::Study;
use std::path::PathBuf;

/// Which study, and which part of it.
#[derive(Debug, clap::Args)]
pub struct Selection {
    /// The study: a folder that holds a study.toml, or the file itself
    #[arg(default_value = ".")]
    pub study: PathBuf,
    /// The plan to use: `default` is [plan] in the study file; any other NAME is [plans.NAME]
    #[arg(long, value_name = "NAME", default_value = "default")]
    plan: String,
    /// Use only these variants and the baseline. Give a display name, or `factor=level` terms separated by blanks to
    /// select every variant that has all these levels. Separate several selections with commas, or repeat the option
    #[arg(long, value_name = "VARIANT", value_delimiter = ',')]
    only: Vec<String>,
}

impl Selection {
    /// The plan that is meant, of the variants that are meant.
    pub fn plan(&self, study: &Study) -> Result<Plan, CommandError> {
        let mut plan = Plan::of(study, &self.plan)?;
        plan.only(&self.only)?;
        Ok(plan)
    }

    /// The options that choose the same part of a study.
    pub fn words(&self) -> Vec<String> {
        let only = self.only.iter().flat_map(|variant| ["--only".to_owned(), variant.clone()]);
        ["--plan".to_owned(), self.plan.clone()].into_iter().chain(only).collect()
    }
}

/// How many steps of building are at work at a time.
#[derive(Debug, clap::Args)]
pub struct Jobs {
    /// Number of build steps to run at once; they share the processors, and no trial runs in the meantime [default: the
    /// number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
}

impl Jobs {
    /// How many at a time: as was asked for, else one for each processor.
    pub fn at_a_time(&self) -> usize {
        let cpus = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.map_or_else(cpus, usize::from)
    }
}
