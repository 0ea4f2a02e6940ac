//! One layer: source and files into a fresh folder, the script in an empty environment, the `verify` lines, and the
//! record. It builds what `schedule.rs` orders, which decides what has to be built, and in which order.

mod lay_out;
mod patches;
mod source_tree;

use crate::cache::{Cache, LayerRecord};
use crate::cost::add;
use crate::error::{At, Error, Failure, Stop};
use crate::event::{BuildEvent, Notify};
use crate::files::{entries, fresh_folder, wipe};
use crate::inputs::Node;
use crate::journal::FlagSeen;
use crate::links;
use crate::paths::{LINKS, PROFILE};
use crate::profile::{self, Profile};
use crate::proof;
use crate::relocate::relocated_copy;
use crate::rewriting;
use crate::shell::{Shell, basic_environment};
use crate::site::Site;
use crate::sources::Sources;
use crate::wrappers::{Around, Between};
use bakeoff_host::disk;
use bakeoff_model::metric::Measurements;
pub(crate) use lay_out::lay_out;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// With less than this left, in bytes, a disk is full: what a script was about to write was larger.
const FULL_BYTES: u64 = 1024 * 1024;

/// How programs say so themselves; they speak English to us (`LC_ALL=C`).
const NO_SPACE: &str = "No space left on device";

/// What every layer of a command is built with.
pub(crate) struct Builder<'a> {
    pub(crate) cache: &'a Cache,
    pub(crate) sources: Sources<'a>,
    pub(crate) notify: Notify<'a>,
    pub(crate) between: Arc<Between>,
}

/// A layer that is there, and whether it had been before.
pub(crate) struct Ready {
    pub(crate) record: LayerRecord,
    pub(crate) cached: bool,
}

impl Builder<'_> {
    /// The layer, built upon that of the digest `previous` with this many `$JOBS`; unless another process has finished it
    /// while we waited for it.
    pub(crate) fn ready(&self, node: &Node<'_>, previous: Option<&str>, jobs: usize) -> Result<Ready, Stop> {
        // Before the layer's lock is taken: no thread waits for the lock of a source while it holds that of a layer.
        let source = node.source.map(|index| self.sources.obtain(index)).transpose()?;

        let (variants, layer) = (node.variants.clone(), node.layer.name.clone());
        let waiting = |what: String| move |process| (self.notify)(BuildEvent::Waiting { what: what.clone(), process });
        let lock = self.cache.lock(&node.digest, waiting(format!("layer `{layer}`")))?;
        if let Some(record) = node.finished(self.cache)
            && self.cache.damage_of(&node.digest).is_empty()
        {
            (self.notify)(BuildEvent::Cached { variants, layer });
            return Ok(Ready { record, cached: true });
        }
        // Who holds a layer waits only for layers before it, so that nobody waits in a circle.
        let below = |digest| self.cache.share(digest, waiting(format!("the layer below `{layer}`")));
        let below = previous.map(below).transpose()?;
        if previous.is_some_and(|digest| self.cache.finished(digest).is_none()) {
            return Err(Error::Removed { layer }.into());
        }
        (self.notify)(BuildEvent::Started { variants, layer });
        let mut shell = Shell::start(&lock, self.cache.paths.log_of(&node.digest))?;
        let built = self.build(&mut shell, node, previous, source.as_deref(), jobs);
        drop(below);
        let record = built.map_err(|stop| self.explain_full_disk(stop, &node.digest))?;
        Ok(Ready { record, cached: false })
    }

    fn build(
        &self,
        shell: &mut Shell,
        node: &Node<'_>,
        previous: Option<&str>,
        source: Option<&Path>,
        jobs: usize,
    ) -> Result<LayerRecord, Stop> {
        let (cache, layer) = (self.cache, node.layer);
        cache.wipe_layer(&node.digest)?;
        let mut site = self.site(node, jobs, &node.digest)?;
        shell.note(&header(node))?;
        site.around.note(shell)?;
        if let Some(why) = site.around.cannot_tune(&layer.name, node.tuning) {
            return Err(shell.failure(why, &site.work)?.into());
        }
        let below = previous.map(|digest| cache.prefix_of(digest));
        let begin = |shell: &mut Shell, site: &mut Site| -> Result<(), Stop> {
            begin_prefix(below.as_deref(), &site.prefix)?;
            shell.timeout_s = None;
            lay_out(shell, node, source, site)?;
            shell.timeout_s = layer.timeout_s;
            Ok(())
        };
        begin(shell, &mut site)?;
        let trained = node.training().map(|command| self.trained(shell, node, &mut site, command));
        let trained = trained.transpose()?;
        let has_profile = trained.is_some();
        if has_profile {
            begin(shell, &mut site)?;
        }
        let done = make(shell, cache, node, &site, below.as_deref());
        // Also of a script that failed: perhaps that is why.
        let (mut flags, compilations) = site.around.flags_seen(cache, node, &site.work)?;
        let (mut cost, rewritten) = done?;
        let script_s = cost.get("wall").copied().unwrap_or(0.0);
        flags.extend(rewritten);
        if let Some((profile, more)) = trained {
            flags.push(profile.seen(shell, &layer.name, &site)?);
            add(&mut cost, &more);
        }
        verify(shell, &layer.verify, &site)?;
        let links = links::repeat(shell, &site, below.as_deref(), &node.digest, script_s)?;
        proof::observe(shell, cache, layer, &node.digest, &site, links)?;
        let [profile, links] = [PROFILE, LINKS].map(|name| site.work.join(name));
        keep(&site, &[(layer.leaves_tree(), &site.tree), (has_profile, &profile), (links.is_dir(), &links)])?;
        Ok(cache.finish(&node.digest, &layer.name, cost, node.tools_with_versions(cache)?, flags, compilations)?)
    }

    /// Builds the laid-out layer so that it leaves a profile, runs it, and leaves the folders empty for the build that
    /// uses the profile; with what it cost.
    fn trained(
        &self,
        shell: &mut Shell,
        node: &Node<'_>,
        site: &mut Site,
        command: &str,
    ) -> Result<(Profile, Measurements), Stop> {
        let profile = Profile::begin(site, command)?;
        shell.note("the first of two builds: its programs write a profile when they run")?;
        let built = script(shell, &node.layer.script, site);
        let explained = |failure: Failure| {
            let hint = profile::hint(&failure.tail);
            let why = format!("{} in the first of two builds, the one that writes the profile{hint}", failure.why);
            // The calls of its compilers may say why.
            let _ = site.around.flags_seen(self.cache, node, &site.work);
            Stop::Failure(Failure { why, ..failure })
        };
        let mut cost = built.map_err(|stop| stop.with(explained))?;
        add(&mut cost, &profile.train(shell, site)?);
        wipe(&site.prefix)?;
        wipe(&site.tree)?;
        for name in ["home", "tmp"] {
            fresh_folder(&site.work.join(name))?;
        }
        site.around.forget_calls()?;
        shell.note("the second build, which uses the profile")?;
        Ok((profile, cost))
    }

    /// If there is no space left, says so, and makes room: what there is of the layer would only be in the way.
    pub(crate) fn explain_full_disk(&self, stop: Stop, digest: &str) -> Stop {
        let root = self.cache.root();
        let free_bytes = disk::free_bytes(root).unwrap_or(u64::MAX);
        let is_full = match &stop {
            Stop::Failure(failure) => {
                free_bytes < FULL_BYTES || failure.tail.iter().any(|line| line.contains(NO_SPACE))
            }
            Stop::Error(error) => matches!(error, Error::DiskFull { .. }),
        };
        if !is_full {
            return stop;
        }
        let _ = self.cache.wipe_layer(digest);
        // Who found no space may have removed what was half written. It says nothing about the layer, which is built again
        // as soon as there is space.
        stop.with(|_| Stop::Error(Error::DiskFull { doing: "build in", path: root.to_owned(), free_bytes }))
    }

    /// Where a node is built, with the whole environment of its script and `verify` lines: its work folder is new but for what
    /// the environment names there.
    pub(crate) fn site(&self, node: &Node<'_>, jobs: usize, name: &str) -> Result<Site, Error> {
        let (prefix, work) = (self.cache.prefix_of(name), self.cache.paths.work_of(name));
        let mut env = basic_environment();
        env.extend(node.variables.iter().map(|(&name, &value)| (name.to_owned(), value.to_owned())));
        for (name, folder) in [("HOME", "home"), ("TMPDIR", "tmp")] {
            let folder = work.join(folder);
            fresh_folder(&folder)?;
            env.insert(name.to_owned(), folder.display().to_string());
        }
        env.insert("PREFIX".to_owned(), prefix.display().to_string());
        env.insert("JOBS".to_owned(), jobs.to_string());
        let compiler_cache = node.layer.compiler_cache;
        let around = Around::prepare(Arc::clone(&self.between), compiler_cache, self.cache, &prefix, &work, &mut env)?;
        around.tune(&node.layer.name, node.tuning, &mut env);
        Ok(Site { tree: work.join("tree"), prefix, work, env, around })
    }
}

/// The start of a prefix: what the layer before installed, or nothing.
pub(crate) fn begin_prefix(previous: Option<&Path>, prefix: &Path) -> Result<(), Error> {
    match previous {
        Some(previous) => relocated_copy(previous, prefix),
        None => fs::create_dir(prefix).at("create the folder", prefix),
    }
}

/// Makes a laid-out layer: its script installs it, or BOLT rewrites what is `below`. What it cost, and what BOLT did.
pub(crate) fn make(
    shell: &mut Shell,
    cache: &Cache,
    node: &Node<'_>,
    site: &Site,
    below: Option<&Path>,
) -> Result<(Measurements, Option<FlagSeen>), Stop> {
    let Some(step) = &node.bolt else { return Ok((script(shell, &node.layer.script, site)?, None)) };
    let restore = |prefix: &Path| {
        wipe(prefix)?;
        begin_prefix(below, prefix)
    };
    let (cost, seen) = rewriting::rewrite(shell, cache, step, site, restore)?;
    Ok((cost, Some(seen)))
}

/// Runs a layer's script, which must install something; what it cost.
pub(crate) fn script(shell: &mut Shell, script: &str, site: &Site) -> Result<Measurements, Stop> {
    let ended = site.execute(shell, &["sh", "-e", "-c", script])?;
    if ended.leftovers > 0 {
        shell.note(&format!("processes that outlived the script and were killed: {}", ended.leftovers))?;
    }
    if let Some(complaint) = shell.complaint(&ended.end) {
        return Err(site.failure(shell, format!("the script {complaint}"))?.into());
    }
    if !site.prefix.is_dir() || entries(&site.prefix)?.is_empty() {
        return Err(shell.failure("the script installed nothing into $PREFIX".to_owned(), &site.work)?.into());
    }
    Ok(ended.measurements)
}

/// Leaves nothing of the work folder but those of these folders that are to be kept.
fn keep(site: &Site, folders: &[(bool, &Path)]) -> Result<(), Error> {
    let kept: Vec<&Path> = folders.iter().filter(|(is_kept, _)| *is_kept).map(|(_, folder)| *folder).collect();
    if kept.is_empty() {
        return wipe(&site.work);
    }
    entries(&site.work)?.iter().filter(|path| !kept.contains(&path.as_path())).try_for_each(|path| wipe(path))
}

/// Runs the `verify` lines of a layer, all of which must exit 0.
pub(crate) fn verify(shell: &mut Shell, lines: &[String], site: &Site) -> Result<(), Stop> {
    for (number, line) in (1..).zip(lines) {
        shell.note(&format!("verify line {number}: {line}"))?;
        let verified = site.execute(shell, &["sh", "-c", line])?;
        if let Some(complaint) = shell.complaint(&verified.end) {
            let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
            return Err(site.failure(shell, format!("verify line {number} {complaint}: {line}"))?.into());
        }
        shell.note(&format!("verify line {number} succeeded"))?;
    }
    Ok(())
}

/// The head of a log: everything that the digest covers, for people.
fn header(node: &Node<'_>) -> String {
    let mut lines =
        vec![format!("layer {} of {}", node.layer.name, node.variants.join(", ")), format!("digest {}", node.digest)];
    lines.extend(node.tools.iter().map(|(name, identity)| format!("tool {name}: {identity}")));
    lines.extend(node.variables.iter().map(|(name, value)| format!("variable {name}={value}")));
    lines.extend(node.tuning.texts().into_iter().map(|(key, text)| format!("{key} {text}")));
    lines.extend(node.files.iter().map(|file| format!("file {}", file.name)));
    lines.extend(node.layer.script.lines().map(|line| format!("script {line}")));
    lines.join("\n")
}
