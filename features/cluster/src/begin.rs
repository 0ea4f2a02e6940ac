//! How a run on other machines begins, or is found again: the same study, machines and options are one run, which has copies.

use crate::calls::tar;
use crate::machines::{self, Machines, Way};
use crate::order::Order;
use crate::run_folder::{ORDER, RunFolder, STUDY, Status, sha256, unreadable, unwritten, write, write_bytes};
use crate::site::Site;
use crate::slurm_site::SlurmSite;
use crate::ssh_site::SshSite;
use crate::standing::of_shards;
use bakeoff_command::estimates::trials_s;
use bakeoff_command::{CommandError, ElsewhereOrder};
use bakeoff_model::digest::Digest;
use bakeoff_model::plan::Plan;
use bakeoff_model::study::STATE_FOLDER;
use bakeoff_model::until::Until;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Below the study's own state: one file for each of its runs.
pub(crate) const AWAY: &str = "away";
/// Digits of a run's name.
const NAME_DIGITS: usize = 8;

/// Where a run is, for later commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pointer {
    pub(crate) machines: String,
    pub(crate) dir: PathBuf,
}

pub(crate) struct Begun {
    pub(crate) name: String,
    pub(crate) run: RunFolder,
    pub(crate) order: Order,
    pub(crate) site: Box<dyn Site>,
    /// Shards at a time.
    pub(crate) nodes: u32,
    /// How long a pass takes, if that is known.
    pub(crate) pass_s: Option<f64>,
    /// How building had failed before this command began. Times would not tell: each machine has its own clock.
    pub(crate) failed_before: Option<Status>,
}

/// Fails if a plan cannot be run elsewhere.
pub(crate) fn refuse(plan: &Plan) -> Result<(), CommandError> {
    let why = match (plan.boots(), &plan.building) {
        (true, _) => "the variants of this plan boot kernels, and a shard is run on one that is there",
        (false, Some(_)) => "this plan measures building, and shards build nothing",
        (false, None) => return Ok(()),
    };
    Err(CommandError::usage(format!("--on: {why}")).hint("run it without --on"))
}

/// Begins a run, or finds it.
pub(crate) fn begin(name: &str, wanted: &ElsewhereOrder<'_>) -> Result<Begun, CommandError> {
    let ElsewhereOrder { dir: study_dir, file, study, plan, words, .. } = wanted;
    let machines = machines::read(name, study_dir)?;
    let files = study_files(study_dir)?;
    let id = run_name(name, wanted, &files)?;
    let state = study_dir.join(STATE_FOLDER).join(AWAY);
    let dir = match &machines.way {
        Way::Slurm(_) => Path::new(&machines.folder).join("runs").join(&id),
        Way::Ssh(_) => state.join(&id),
    };
    let run = RunFolder::at(&dir);
    make_folder(&dir)?;
    make_folder(&state)?;
    write(&state.join(format!("{id}.json")), &Pointer { machines: name.to_owned(), dir: dir.clone() })?;
    freeze(&files, study_dir, &dir)?;
    let (nodes, site) = (machines.nodes, site(machines.clone(), &id));
    if run.is_dry()
        && let Ok(order) = run.order()
    {
        // Shards that were run by hand behind ssh are seen only there.
        let _ = site.fetch(&run, &order);
        run.forget_order_if_dry()?;
    }
    let mut order = match dir.join(ORDER).exists() {
        true => known(&run, plan)?,
        false => {
            let program = program(&dir)?;
            let builds = study.builds();
            let study = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let cache = format!("{}/cache", machines.folder);
            Order { program, study, cache, ..Order::of(words.clone(), plan, builds) }
        }
    };
    // Corrections hold from the next attempt on.
    (order.scratch, order.jobs) = (machines.scratch, wanted.jobs);
    run.write_order(&order)?;
    let failed_before = run.build_status()?;
    let pass_s = trials_s(study_dir, plan).map(|all_s| all_s / f64::from(plan.blocks.max(1)));
    Ok(Begun { name: name.to_owned(), run, order, site, nodes, pass_s, failed_before })
}

/// The order of a run that has begun.
fn known(run: &RunFolder, plan: &Plan) -> Result<Order, CommandError> {
    let order = run.order()?;
    let most = order.blocks;
    let error = if plan.until != Until::Blocks && most != plan.blocks {
        format!("this run has the rule `{}` with at most {most} blocks, not {}", plan.until, plan.blocks)
    } else if plan.blocks < most && of_shards(run, &order)?.iter().any(|shard| !shard.is_done) {
        format!("this run has {most} blocks, more than the {} of this command", plan.blocks)
    } else {
        return Ok(order);
    };
    let hint = format!("use --blocks {most}, or remove {} to begin another run", run.shown());
    Err(CommandError::usage(error).hint(hint))
}

/// What reaches these machines.
pub(crate) fn site(machines: Machines, id: &str) -> Box<dyn Site> {
    match machines.way.clone() {
        Way::Slurm(settings) => Box::new(SlurmSite::of(settings, machines, id)),
        Way::Ssh(hosts) => Box::new(SshSite::of(hosts, machines, id)),
    }
}

/// All files of a study but what belongs to Bakeoff or names machines, by their names in it, sorted.
fn study_files(dir: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let (mut files, mut folders) = (vec![], vec![PathBuf::new()]);
    while let Some(folder) = folders.pop() {
        let path = dir.join(&folder);
        let failed = |error: io::Error| unreadable(&path, &error);
        for entry in fs::read_dir(&path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = folder.join(entry.file_name());
            let is_folder = entry.file_type().map_err(failed)?.is_dir();
            match is_folder {
                true if name == Path::new(STATE_FOLDER) => {}
                // How machines are reached is not what is run: a longer time limit goes on with the same run.
                false if name == Path::new(machines::FILE) => {}
                true => folders.push(name),
                false => files.push(name),
            }
        }
    }
    files.sort();
    Ok(files)
}

fn run_name(machines: &str, wanted: &ElsewhereOrder<'_>, files: &[PathBuf]) -> Result<String, CommandError> {
    let mut digest = Digest::of("run elsewhere");
    digest.field("machines", machines.as_bytes());
    digest.field("study", wanted.file.file_name().unwrap_or_default().as_encoded_bytes());
    wanted.words.iter().for_each(|word| _ = digest.field("word", word.as_bytes()));
    for file in files {
        let path = wanted.dir.join(file);
        digest.field("file", file.as_os_str().as_encoded_bytes());
        let content = match fs::read_link(&path) {
            Ok(target) => target.into_os_string().into_encoded_bytes(),
            Err(_) => fs::read(&path).map_err(|error| unreadable(&path, &error))?,
        };
        let is_extended = path == wanted.file && wanted.plan.until == Until::Blocks;
        let of_study = if is_extended { without_blocks(&content) } else { None };
        digest.field("content", &of_study.unwrap_or(content));
    }
    Ok(digest.hex()[..NAME_DIGITS].to_owned())
}

/// What a study says, but for the number of blocks: more of them are more shards of the same run.
fn without_blocks(text: &[u8]) -> Option<Vec<u8>> {
    let mut study: toml::Table = std::str::from_utf8(text).ok()?.parse().ok()?;
    for (name, value) in &mut study {
        let plans = match name.as_str() {
            "plan" => vec![value],
            "plans" => value.as_table_mut()?.iter_mut().map(|(_, plan)| plan).collect(),
            _ => vec![],
        };
        plans.into_iter().filter_map(toml::Value::as_table_mut).for_each(|plan| _ = plan.remove("blocks"));
    }
    serde_json::to_vec(&study).ok()
}

/// Copies the study, unless it is there: into another folder, which then gets its name.
fn freeze(files: &[PathBuf], from: &Path, run: &Path) -> Result<(), CommandError> {
    let to = run.join(STUDY);
    if to.exists() {
        return Ok(());
    }
    let failed = |error: io::Error| unwritten(&to, &error);
    let part = TempDir::with_prefix_in(".study.", run).map_err(failed)?;
    let [list, tarball, study] = ["list", "tar", STUDY].map(|name| part.path().join(name));
    // A listing with NULs takes all names. Times and modes stay, as trials may look at them.
    let names: Vec<u8> = files.iter().flat_map(|file| [file.as_os_str().as_encoded_bytes(), b"\0"].concat()).collect();
    fs::write(&list, names).map_err(failed)?;
    let (list, tarball) = (list.as_os_str(), tarball.as_os_str());
    tar(from, &["-cf".as_ref(), tarball, "--null".as_ref(), "--no-recursion".as_ref(), "-T".as_ref(), list])?;
    fs::create_dir(&study).map_err(failed)?;
    tar(&study, &["-xf".as_ref(), tarball])?;
    match fs::rename(&study, &to) {
        // Another command was faster, with the same files.
        Err(_) if to.exists() => Ok(()),
        renamed => renamed.map_err(failed),
    }
}

/// Copies this program into a run's folder, and returns its name there.
fn program(dir: &Path) -> Result<String, CommandError> {
    let own = std::env::current_exe().map_err(CommandError::usage)?;
    let bytes = fs::read(&own).map_err(|error| unreadable(&own, &error))?;
    let name = format!("bakeoff-{}", &sha256(&bytes)[..NAME_DIGITS]);
    let path = dir.join(&name);
    if !path.exists() {
        write_bytes(&path, &bytes)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).map_err(|error| unwritten(&path, &error))?;
    }
    Ok(name)
}

fn make_folder(dir: &Path) -> Result<(), CommandError> {
    fs::create_dir_all(dir).map_err(|error| {
        unwritten(dir, &error)
            .hint("`folder` in machines.toml must be a folder that you can write to, and that all nodes see")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_number_of_blocks_is_the_same_study() {
        let of = |text: &str| without_blocks(text.as_bytes());
        let text = "name = \"a\"\n[plan]\nblocks = 6\nseed = 1\n[plans.long]\nblocks = 60\n";
        assert!(of(text).is_some());
        assert_eq!(of(text), of("# longer\nname = \"a\"\n[plan]\nseed = 1\n[plans.long]\nblocks = 90\n"));
        assert_ne!(of(text), of(&text.replace("seed = 1", "seed = 2")));
        assert_ne!(of(text), of(&text.replace("plans.long", "plans.short")));
        assert_eq!(of("name ="), None, "what is no TOML counts as it is");
    }
}
