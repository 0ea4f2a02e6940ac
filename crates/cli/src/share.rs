//! How much of a study is run here: all that is missing, or the shard of one machine of several. A study of which other machines
//! ran blocks does not go on here without a word: its trials would be of one more machine.

use crate::continued;
use crate::race::{Keep, Race};
use bakeoff_command::error::CommandError;
use bakeoff_command::shard::Shard;
use bakeoff_command::state::{State, StateFolder};
use bakeoff_command::{Made, Maker, Order};
use bakeoff_judge::stopping;
use bakeoff_lab::Standing;
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{Record, StudyLine};
use bakeoff_report::words::counted;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// How much of a study is run here.
pub(crate) enum Share {
    /// All of it, or what that journal lacks; its journals are in this folder.
    Whole(StateFolder, Option<PathBuf>),
    Shard(Shard),
}

/// Makes the variants of an order.
type Make = fn(&dyn Maker, &Order<'_>) -> Result<Made, CommandError>;

impl Share {
    /// That of a file, or the whole of a study in that folder.
    pub(crate) fn of(file: Option<&Path>, dir: &Path, plan: &mut Plan, here: bool) -> Result<Self, CommandError> {
        if let Some(file) = file {
            let shard = Shard::read(file)?;
            shard.restrict(plan);
            return Ok(Self::Shard(shard));
        }
        let state = StateFolder::of(dir)?;
        let begun = begun_elsewhere(&state, plan);
        let rest_of =
            begun.map(|(path, record)| if here { Ok(path) } else { Err(refusal(&record, plan)) }).transpose()?;
        Ok(Self::Whole(state, rest_of))
    }

    /// What the variants run. A shard names it, and makes nothing.
    pub(crate) fn make(&self, maker: &dyn Maker, order: &Order<'_>, make: Make) -> Result<Made, CommandError> {
        match self {
            Self::Whole(..) => make(maker, order),
            Self::Shard(shard) => shard.made(maker, order),
        }
    }

    /// Where the journal is.
    pub(crate) fn state(&self, study: &mut StudyLine, older: &str) -> State {
        match self {
            Self::Whole(folder, rest_of) => continued::choose(folder, study, older, rest_of.as_deref()),
            Self::Shard(shard) => State::at(&shard.journal),
        }
    }

    /// Where trials have their own folders.
    pub(crate) fn scratch(&self, state: &State) -> PathBuf {
        match self {
            Self::Shard(Shard { scratch: Some(scratch), .. }) => scratch.clone(),
            _ => state.scratch(),
        }
    }

    /// A race as this much of it: what is seen of one machine of several says nothing of the others.
    pub(crate) fn shape<'a>(&self, race: Race<'a>) -> Race<'a> {
        match self {
            Self::Whole(..) => race,
            Self::Shard(shard) => {
                let node = Some((shard.node.clone(), self.scratch(race.state)));
                Race { keep: Keep::Named, node, trace: None, evidence: None, ..race }
            }
        }
    }
}

/// The latest journal of this plan, if it has blocks of other machines and lacks some.
fn begun_elsewhere(state: &StateFolder, plan: &Plan) -> Option<(PathBuf, Record)> {
    let (path, record) = continued::of_plan(state, &plan.name, None).into_iter().next()?;
    let Standing { blocks, blocks_done, .. } = Standing::of(plan, &record);
    let is_begun = !record.away.is_empty() && !stopping::enough(&record) && blocks != blocks_done;
    is_begun.then_some((path, record))
}

fn refusal(record: &Record, plan: &Plan) -> CommandError {
    let Standing { blocks, blocks_done, .. } = Standing::of(plan, record);
    let nodes: BTreeSet<&str> = record.away.values().map(|from| from.node.as_str()).collect();
    let error = format!(
        "{} of {} of this study ran on {}; this command would run the rest on this machine",
        blocks_done,
        counted(blocks as u32, "block"),
        counted(nodes.len() as u32, "other machine")
    );
    CommandError::usage(error).hint("use --on NAME to run them there, or --here to run them on this machine")
}
