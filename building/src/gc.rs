//! What of a cache may go, and making it go. A rule says how old and how large; what a study in reach needs, what a
//! process is at work on and what is young stays, whatever the rule. How a study's needs are found out is not known here.

use crate::cache::Cache;
use crate::error::{At, Error};
use crate::files::wipe;
use crate::inventory::{Inventory, Item, ItemKind, aside, lock_of};
use crate::paths::short;
use crate::uses::Needs;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What was made or used within this time stays: somebody may be about to use it.
pub(crate) const YOUNG_S: f64 = 3600.0;

/// What is to go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rule {
    /// Whatever was last used longer ago than this, in seconds; none: age alone removes nothing.
    pub(crate) older_than_s: Option<f64>,
    /// As much as it takes, the longest unused first, until the whole cache is no larger than this, in bytes.
    pub(crate) keep_bytes: Option<u64>,
    /// What is made or used within this many seconds stays; [`YOUNG_S`].
    pub(crate) young_s: f64,
    /// The present, in seconds since 1970-01-01 UTC.
    pub(crate) now_unix_s: f64,
}

/// What is decided of one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// It goes.
    Goes(Why),
    /// A study in reach needs it.
    Needed,
    /// A process is at work on it.
    Locked,
    /// It was made or used a short time ago.
    Young,
    /// The rule leaves it alone.
    Stays,
}

/// Why something goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// It is what is left of a build that failed or was killed, and nothing can use it.
    Remains,
    /// Nobody has used it for too long.
    Old,
    /// It is the longest unused, and the cache is too large.
    Size,
}

/// Decides of every thing in a cache, in the order of the inventory.
pub(crate) fn choose(inventory: &Inventory, rule: &Rule, needed: &Needs) -> Vec<Decision> {
    let needed: BTreeSet<&str> = needed.layers.iter().chain(&needed.sources).map(|digest| short(digest)).collect();
    let mut decisions: Vec<Decision> = inventory.items.iter().map(|item| rule.decides(item, &needed)).collect();
    let Some(keep_bytes) = rule.keep_bytes else { return decisions };
    let both = inventory.items.iter().zip(&decisions);
    let goes = both.filter(|(_, decision)| matches!(decision, Decision::Goes(_)));
    let mut left = inventory.total_bytes() - goes.map(|(item, _)| item.bytes).sum::<u64>();
    let mut oldest: Vec<usize> = (0..decisions.len()).filter(|&at| decisions[at] == Decision::Stays).collect();
    oldest.sort_by(|&a, &b| inventory.items[a].last_used_unix_s.total_cmp(&inventory.items[b].last_used_unix_s));
    for at in oldest {
        if left <= keep_bytes {
            break;
        }
        left -= inventory.items[at].bytes;
        decisions[at] = Decision::Goes(Why::Size);
    }
    decisions
}

impl Rule {
    /// By age and use alone. The log of a failed build is no use to a build; but its study may still be looked at.
    fn decides(&self, item: &Item, needed: &BTreeSet<&str>) -> Decision {
        let age_s = self.now_unix_s - item.last_used_unix_s;
        match item.kind {
            _ if item.locked => Decision::Locked,
            _ if age_s < self.young_s => Decision::Young,
            ItemKind::Remains => Decision::Goes(Why::Remains),
            _ if needed.contains(item.name.as_str()) => Decision::Needed,
            _ if self.older_than_s.is_some_and(|limit_s| age_s > limit_s) => Decision::Goes(Why::Old),
            _ => Decision::Stays,
        }
    }
}

/// Removes one thing of the inventory; false if somebody took it up since it was looked at; then it stays. What makes it
/// visible goes first: whatever kills us in between, nothing half is ever taken for whole. After an error, the next call
/// removes what is left.
pub(crate) fn remove(cache: &Cache, item: &Item) -> Result<bool, Error> {
    let Some(_lock) = lock_of(&cache.paths.lock_of(&item.name))? else { return Ok(false) };
    if aside(cache).contains(&item.name) {
        return Ok(false);
    }
    let mut paths = item.paths.iter();
    {
        // Who uses a thing says so under this lock before looking for it: so either we see that it is used, or it is
        // no longer seen.
        let _uses = cache.lock_uses()?;
        let mut uses = cache.last_uses()?.into_iter();
        let used = uses.any(|(digest, at)| short(&digest) == item.name && at > item.last_used_unix_s);
        let became_whole = item.kind != ItemKind::Layer && cache.finished(&item.name).is_some();
        if used || became_whole {
            return Ok(false);
        }
        match item.kind {
            ItemKind::Layer => paths.next().map_or(Ok(()), |record| wipe(record))?,
            ItemKind::Source => paths.next().map_or(Ok(()), |folder| remove_at_once(cache, item, folder))?,
            ItemKind::Log | ItemKind::Remains => {}
        }
    }
    paths.try_for_each(|path| wipe(path))?;
    Ok(true)
}

/// Moves a source out of sight first, because a folder cannot be removed in one step.
fn remove_at_once(cache: &Cache, item: &Item, folder: &Path) -> Result<(), Error> {
    let aside = cache.paths.work_of(&item.name);
    wipe(&aside)?;
    fs::rename(folder, &aside).at("remove", folder)?;
    wipe(&aside)
}

impl Cache {
    /// Forgets who used what is no longer there; call it after things were removed.
    pub(crate) fn forget_what_is_gone(&self, needed: &Needs) -> Result<(), Error> {
        let there: BTreeSet<String> = Inventory::of(self)?.items.into_iter().map(|item| item.name).collect();
        let needs = |digest: &str| needed.layers.contains(digest) || needed.sources.contains(digest);
        self.forget_uses(|digest| needs(digest) || there.contains(short(digest)))
    }
}
