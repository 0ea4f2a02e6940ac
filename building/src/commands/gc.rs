//! `bakeoff gc`: removes from the cache what has not been used for long, or what makes it too large. Which studies are
//! in reach and what they need is found out here; what may go is decided in `gc.rs` of the crate.

use super::cache::{ago, size as shown_size};
use crate::journal::BuildLine;
use crate::{Cache, Decision, Inventory, Item, ItemKind, Needs, Request, Rule, Why, YOUNG_S, choose, needs, remove};
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::state::{imported_in, journals_of, latest_of};
use bakeoff_command::study_folder::StudyFolder;
use bakeoff_command::{Registry, screen};
use bakeoff_model::plain::clean;
use bakeoff_model::plan::Plan;
use bakeoff_report::words::counted;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Show or remove old builds and sources in the cache, or shrink the cache to a given size
///
/// Without --older-than, --keep-size or --all, gc only shows what --older-than 30d would remove. It never removes
/// anything that a process is working on. Except with --all, it also keeps whatever a known study needs and whatever
/// was created or used within the last hour. A known study is one that you name, or one that was built with this cache
/// and whose folder still exists. A study needs whatever its current plans would use and whatever its latest journal
/// names. Whichever option you give, gc also removes older leftovers of failed builds. If you need a removed build
/// again, Bakeoff rebuilds it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Args {
    /// Additional studies (folders with a study.toml) whose builds and sources gc must keep
    studies: Vec<PathBuf>,
    /// Remove items that have not been used for this long (such as 12h, 30d or 4w)
    #[arg(long, value_name = "AGE", value_parser = bakeoff_command::arguments::age)]
    older_than: Option<f64>,
    /// Remove the least recently used items until the cache is no larger than this size (such as 500M or 20G)
    #[arg(long, value_name = "SIZE", value_parser = bakeoff_command::arguments::size)]
    keep_size: Option<u64>,
    /// Remove everything that no process is working on, even items that known studies need or that were just built
    #[arg(long, conflicts_with_all = ["older_than", "keep_size", "studies"])]
    all: bool,
    /// Show what would be removed, but remove nothing
    #[arg(long)]
    dry_run: bool,
}

const EXAMPLE: &str = "\
Examples:
  bakeoff gc                               show items unused for 30 days that no study needs
  bakeoff gc --older-than 30d              remove items unused for 30 days that no study needs
  bakeoff gc --keep-size 20G --dry-run     show what a limit of 20 GiB would remove
  bakeoff gc --all                         remove everything that is not in use";

/// The age of which the command speaks if none is given.
const USUAL_AGE_S: f64 = 30.0 * 86_400.0;

pub(crate) fn execute(args: &Args, features: &Registry) -> Result<Code, CommandError> {
    bakeoff_host::interrupt::install()?;
    let cache = Cache::open(Cache::default_root()?)?;
    let without_rule = args.older_than.is_none() && args.keep_size.is_none() && !args.all;
    let only_say = args.dry_run || without_rule;
    // Nothing of ours works while a trial is in flight; so the question what is needed comes after the wait.
    let _leave = if only_say { None } else { Some(cache.leave_to_remove(waiting)?) };
    let needed = if args.all { Needs::default() } else { needed(&cache, &args.studies, features)? };
    let inventory = Inventory::of(&cache)?;
    let rule = Rule {
        older_than_s: args.older_than.or(without_rule.then_some(USUAL_AGE_S)).or(args.all.then_some(f64::NEG_INFINITY)),
        keep_bytes: args.keep_size,
        young_s: if args.all { f64::NEG_INFINITY } else { YOUNG_S },
        now_unix_s: bakeoff_host::now_unix_s(),
    };
    let decisions = choose(&inventory, &rule, &needed);
    let mut gone = Sums::default();
    for (item, decision) in inventory.items.iter().zip(&decisions) {
        let Decision::Goes(why) = decision else { continue };
        if !only_say && !remove(&cache, item)? {
            screen::out(&format!("{} was kept because a process has just started using it\n", what(item)));
            continue;
        }
        screen::out(&line(item, *why, only_say, rule.now_unix_s));
        gone.add(item);
    }
    if !only_say {
        cache.forget_what_is_gone(&needed)?;
    }
    screen::out(&summary(&inventory, &decisions, &gone, only_say));
    if without_rule {
        let hint = "nothing was removed; use `bakeoff gc --older-than 30d` to remove items unused for 30 days, or \
            --keep-size 20G to limit the cache size\n";
        screen::out(hint);
    }
    Ok(Code::Done)
}

fn waiting(process: Option<u32>) {
    let who = process.map_or(String::new(), |process| format!(" for process {process}"));
    screen::err(&format!("waiting{who}: removing files would disturb the running trials\n"));
}

/// A number of things and their size.
#[derive(Default)]
struct Sums {
    number: u64,
    bytes: u64,
}

impl Sums {
    fn add(&mut self, item: &Item) {
        self.number += 1;
        self.bytes += item.bytes;
    }
}

fn what(item: &Item) -> String {
    let name = item.name.get(..12).unwrap_or(&item.name);
    match item.kind {
        ItemKind::Layer => format!("layer {} {name}", clean(&item.of)),
        ItemKind::Source => format!("source {} {name}", clean(&item.of)),
        ItemKind::Log => format!("log {name}"),
        ItemKind::Remains => format!("leftover {name}"),
    }
}

fn line(item: &Item, why: Why, only_say: bool, now_unix_s: f64) -> String {
    let verb = if only_say { "would remove" } else { "removed" };
    let used = ago(now_unix_s - item.last_used_unix_s);
    let why = match why {
        Why::Remains => format!("left by a build that failed or was killed {used}"),
        Why::Old => format!("last used {used}"),
        Why::Size => format!("least recently used ({used})"),
    };
    format!("{verb} {}, {}: {why}\n", what(item), shown_size(item.bytes))
}

fn summary(inventory: &Inventory, decisions: &[Decision], gone: &Sums, only_say: bool) -> String {
    let mut stays: BTreeMap<&str, Sums> = BTreeMap::new();
    for (item, decision) in inventory.items.iter().zip(decisions) {
        let why = match decision {
            Decision::Goes(_) => continue,
            Decision::Needed => "needed by known studies",
            Decision::Locked => "in use by a process",
            Decision::Young => "created or used within the last hour",
            Decision::Stays => "not selected",
        };
        stays.entry(why).or_default().add(item);
    }
    let verb = if only_say { "would remove" } else { "removed" };
    let total = inventory.total_bytes();
    let (gone_size, left) = (shown_size(gone.bytes), shown_size(total - gone.bytes));
    let mut text = format!(
        "{verb} {gone_size} of {} ({}), leaving {left}\n",
        shown_size(total),
        counted(gone.number as u32, "item")
    );
    for (why, sums) in stays {
        text.push_str(&format!("  {why}: {}, {}\n", sums.number, shown_size(sums.bytes)));
    }
    text
}

/// What all studies in reach need.
fn needed(cache: &Cache, named: &[PathBuf], features: &Registry) -> Result<Needs, CommandError> {
    let mut all = Needs::default();
    let mut seen = BTreeSet::new();
    for path in named {
        let folder = StudyFolder::open(path, features)?;
        all.extend(of_plans(cache, &folder)?);
        all.extend(of_latest_journal(&folder.dir));
        seen.insert(std::fs::canonicalize(&folder.dir).unwrap_or(folder.dir));
    }
    for known in cache.known_studies()? {
        if seen.contains(&known.dir) || !known.dir.join("study.toml").exists() {
            continue;
        }
        all.extend(of_latest_journal(&known.dir));
        match StudyFolder::open(&known.dir, features).and_then(|folder| of_plans(cache, &folder)) {
            Ok(needs) => all.extend(needs),
            Err(error) if error.code == Code::Interrupted => return Err(error),
            // Who cannot be asked keeps everything.
            Err(_) => {
                let dir = clean(&known.dir.display().to_string());
                screen::err(&format!("note: cannot read the study in {dir}, so everything it ever used is kept\n"));
                all.extend(known.used);
            }
        }
    }
    Ok(all)
}

/// What any plan of a study would use now.
fn of_plans(cache: &Cache, folder: &StudyFolder) -> Result<Needs, CommandError> {
    let mut all = Needs::default();
    for spec in &folder.study.plans {
        let plan = Plan::of(&folder.study, &spec.name)?;
        all.extend(needs(cache, &Request::of(&folder.order(&plan, 1, true)))?);
    }
    Ok(all)
}

/// What a study's latest journal names: a command may be executing it.
fn of_latest_journal(dir: &Path) -> Needs {
    let mut all = Needs::default();
    let latest = latest_of(dir).map(|(name, imported)| match imported {
        true => imported_in(dir).join(name),
        false => journals_of(dir).into_iter().find(|path| path.ends_with(&name)).unwrap_or_default(),
    });
    let Some(contents) = latest.and_then(|path| bakeoff_journal::read(&path).ok()) else { return all };
    for build in BuildLine::all(&contents.record.made) {
        all.layers.extend(build.layers.into_iter().map(|layer| layer.digest));
        all.layers.insert(build.digest);
        all.sources.extend(build.sources.into_values());
    }
    all
}
