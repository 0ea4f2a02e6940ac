//! `bakeoff cache`: what the cache holds, how large it is, when it was last used and what it would cost to have again.

use crate::{Cache, Inventory, Item, ItemKind};
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::screen;
use bakeoff_model::plain::clean;
use bakeoff_report::format;
use bakeoff_report::words::counted;
use serde::Serialize;
use std::collections::BTreeMap;

/// List the layers, sources, logs and leftovers in the cache, with their sizes and last use
///
/// The cache is $BAKEOFF_CACHE, or $XDG_CACHE_HOME/bakeoff, or ~/.cache/bakeoff. To shrink it, use `bakeoff gc`
/// with --older-than or --keep-size. While no Bakeoff command is running, you may delete the whole folder.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print JSON with an entry for each layer, source, log and leftover; sizes are in bytes and times in seconds
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Page<'a> {
    root: String,
    total_bytes: u64,
    other_bytes: u64,
    items: &'a [Item],
    studies: Vec<StudyLine>,
}

#[derive(Serialize)]
struct StudyLine {
    folder: String,
    there: bool,
    last_used_unix_s: f64,
    layers: usize,
    sources: usize,
}

pub(crate) fn execute(args: &Args) -> Result<Code, CommandError> {
    let cache = Cache::open(Cache::default_root()?)?;
    let inventory = Inventory::of(&cache)?;
    let studies: Vec<StudyLine> = cache.known_studies()?.iter().map(study).collect();
    if args.json {
        let page = Page {
            root: inventory.root.display().to_string(),
            total_bytes: inventory.total_bytes(),
            other_bytes: inventory.other_bytes,
            items: &inventory.items,
            studies,
        };
        screen::json(&(serde_json::to_string_pretty(&page)? + "\n"));
        return Ok(Code::Done);
    }
    let mut text = format!("{}: {}\n", inventory.root.display(), size(inventory.total_bytes()));
    text.push_str(&table(&inventory, bakeoff_host::now_unix_s()));
    if studies.iter().any(|study| study.there) {
        text.push_str("\nstudies using the cache\n");
    }
    for study in studies.iter().filter(|study| study.there) {
        let ago = ago(bakeoff_host::now_unix_s() - study.last_used_unix_s);
        let folder = clean(&study.folder);
        let [layers, sources] =
            [(study.layers, "layer"), (study.sources, "source")].map(|(number, noun)| counted(number as u32, noun));
        text.push_str(&format!("  {folder}: {layers}, {sources}, used {ago}\n"));
    }
    let gone = studies.iter().filter(|study| !study.there).count();
    if gone > 0 {
        text.push_str(&format!(
            "studies that no longer exist: {gone}; use `bakeoff gc --older-than AGE` to remove items that only \
             they used\n"
        ));
    }
    screen::out(&text);
    Ok(Code::Done)
}

fn study(known: &crate::KnownStudy) -> StudyLine {
    StudyLine {
        folder: known.dir.display().to_string(),
        there: known.dir.join("study.toml").is_file(),
        last_used_unix_s: known.last_used_unix_s,
        layers: known.used.layers.len(),
        sources: known.used.sources.len(),
    }
}

/// What is added up in one row.
#[derive(Default)]
struct Group {
    number: u64,
    bytes: u64,
    last_used_unix_s: f64,
    wall_s: f64,
    locked: u64,
}

/// One row for each layer of a study, and one for each of the others.
fn table(inventory: &Inventory, now_unix_s: f64) -> String {
    let mut groups: BTreeMap<(ItemKind, String), Group> = BTreeMap::new();
    for item in &inventory.items {
        let name = match item.kind {
            ItemKind::Layer => format!("layer {}", clean(&item.of)),
            ItemKind::Source => "sources".to_owned(),
            ItemKind::Log => "logs of failed or removed builds".to_owned(),
            ItemKind::Remains => "leftovers of failed builds".to_owned(),
        };
        let group = groups.entry((item.kind, name)).or_default();
        group.number += 1;
        group.bytes += item.bytes;
        group.last_used_unix_s = group.last_used_unix_s.max(item.last_used_unix_s);
        group.wall_s += item.wall_s.unwrap_or(0.0);
        group.locked += u64::from(item.locked);
    }
    let mut text = format!("{:<32} {:>6} {:>10}  {:<14}  {}\n", "", "number", "size", "last used", "to build again");
    for ((_, name), group) in groups {
        let again = if group.wall_s > 0.0 { format::waiting_time(group.wall_s) } else { "–".to_owned() };
        let locked = if group.locked > 0 { format!(" ({} being worked on)", group.locked) } else { String::new() };
        let (number, bytes) = (format::count(group.number), size(group.bytes));
        let used = ago(now_unix_s - group.last_used_unix_s);
        text.push_str(&format!("{name:<32} {number:>6} {bytes:>10}  {used:<14}  {again}{locked}\n"));
    }
    text.push_str(&format!("{:<32} {:>6} {:>10}\n", "locks and lists", "", size(inventory.other_bytes)));
    text
}

/// How long ago something was.
pub(super) fn ago(seconds: f64) -> String {
    if seconds < 60.0 { "just now".to_owned() } else { format!("{} ago", format::waiting_time(seconds)) }
}

pub(super) fn size(bytes: u64) -> String {
    format::bytes(bytes as f64)
}
