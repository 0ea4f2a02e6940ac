//! Variants that run on this host without a study file: the head of their journal, the files they depend on, the place.

use crate::executed;
use bakeoff_command::error::CommandError;
use bakeoff_command::{locale, screen};
use bakeoff_lab::Executor;
use bakeoff_lab::local::{Local, Setup, Watch};
use bakeoff_lab::watched::Watched;
use bakeoff_model::digest::Digest;
use bakeoff_model::plan::Plan;
use bakeoff_model::record::StudyLine;
use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;

/// The head of the journal, and the files to check between blocks. Commands run in `folder`, with `locale`.
pub(crate) fn head(
    plan: &Plan,
    setup: &Setup,
    digests: &BTreeMap<String, String>,
    folder: &[u8],
    locale: Option<String>,
) -> (StudyLine, Vec<Watched>) {
    let programs = executed::programs(plan, setup, []);
    let mut watched = programs.system;
    let mut inputs = Digest::of("inputs");
    inputs.field("folder", folder);
    for program in &watched {
        inputs.field(&program.name, program.content().unwrap_or_default().as_bytes());
    }
    if let Some(locale) = &locale {
        inputs.field("the locale", locale.as_bytes());
    }
    let mut study = plan.study_line(digests, &inputs.hex(), None);
    if let Some(basis) = &mut study.basis {
        basis.keys.insert(executed::FOLDER.to_owned(), Digest::of("folder").field("path", folder).hex());
        basis.keys.extend(locale.map(|locale| (locale::KEY.to_owned(), locale)));
        watched.extend(executed::data(plan, setup));
        let content = |file: &Watched| (file.name.clone(), file.content().unwrap_or_default().to_owned());
        basis.files = watched.iter().map(content).collect();
    }
    watched.extend(programs.built);
    (study, watched)
}

/// This host, with what is looked at between blocks; `is_shown` shows what trials print.
pub(crate) fn executor<'a>(
    plan: &Plan,
    setup: &Setup,
    watch: Watch<'a>,
    keep: BorrowedFd<'_>,
    is_shown: bool,
) -> Result<Box<dyn Executor + 'a>, CommandError> {
    let local = Local::new(plan, setup.clone(), Some(keep))?.watching(watch);
    let show = |printed: &[u8]| screen::err(&String::from_utf8_lossy(printed));
    Ok(Box::new(if is_shown { local.showing(Box::new(show)) } else { local }))
}
