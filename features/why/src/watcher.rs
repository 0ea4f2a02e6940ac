//! `bakeoff watch-trial`: what a trial is launched as that the kernel watches or samples. It is not for people, and so is in no
//! help. It runs the command of an order at the command's own speed, and reports what the census or the sampler saw.

use crate::census::{Detail, Report, Watch};
use crate::sampler::Sampler;
use bakeoff_command::{Code, CommandError};
use bakeoff_host::tracer::{Order, Watcher, execute_watched};
use std::io;
use std::path::PathBuf;

/// The command of [`execute`].
pub(crate) const WATCH_TRIAL: &str = "watch-trial";
/// Its option by which it samples.
pub(crate) const PERIOD: &str = "--period-ns";

/// Execute the command of an order while the kernel watches it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Sample where its user time is, each time this much of it has passed
    #[arg(long)]
    period_ns: Option<u64>,
    /// The file with the order
    order: PathBuf,
}

pub(crate) fn execute(args: &Args) -> Result<Code, CommandError> {
    let ended = match args.period_ns {
        Some(period_ns) => execute_watched(&args.order, |pid, _| Sampler::start(pid, period_ns)),
        None => execute_watched(&args.order, Window::open),
    };
    match ended {
        // It ends as the command did, with whatever code.
        Ok(code) => std::process::exit(code),
        Err(error) => Err(CommandError::new(Code::Internal, error)),
    }
}

/// The census, and what it saw until a file came and until it had gone.
struct Window {
    watch: Watch,
    before: Option<Report>,
    after: Option<Report>,
}

impl Window {
    fn open(pid: u32, order: &Order) -> Result<Self, String> {
        // What a service does before and after has no place on the path.
        let detail = if order.during.is_some() { Detail::Times } else { Detail::Path };
        let watch = Watch::start(pid, detail).map_err(|refused| refused.to_string())?;
        Ok(Self { watch, before: None, after: None })
    }
}

impl Watcher for Window {
    type Seen = Report;

    fn look(&mut self, exists: bool) {
        // What cannot be read now is read at the end.
        if exists && self.before.is_none() {
            self.before = self.watch.so_far().ok();
        } else if !exists && self.before.is_some() && self.after.is_none() {
            self.after = self.watch.so_far().ok();
        }
    }

    /// Returns what happened in between; all of it without a file.
    fn finish(self) -> io::Result<Report> {
        let last = self.watch.finish()?;
        Ok(match self.before {
            Some(before) => self.after.unwrap_or(last).since(&before),
            None => last,
        })
    }
}
