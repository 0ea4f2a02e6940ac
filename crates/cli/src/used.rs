//! Which files trials use, beyond those that their commands name: after the trials each variant runs once more under a tracer.
//! A file that was changed since the trials began makes later blocks void; the states of the others go into the journal, so
//! that a later command can compare them. Files that trials write are no inputs. Nothing is measured here.

use bakeoff_host::tracer::{Order, TraceReport, Used};
use bakeoff_host::{Command, End};
use bakeoff_lab::watched::content;
use bakeoff_lab::{Diagnosed, Error, Executor, IntrusiveProbe, Subject, Unseen};
use bakeoff_model::record::{CHANGED, Record, Session, StudyLine};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// A trial that takes longer is not run once more, in seconds.
pub(crate) const LONGEST_S: f64 = 60.0;
/// A traced run may take this many times the longest trial, and at least this many seconds.
const SLOWER: f64 = 5.0;
const LEAST_S: f64 = 10.0;
/// Set for a traced run, so that a workload that makes very many calls may do less of the same.
const TRACED: &str = "BAKEOFF_TRACED";
/// How the files of a traced run are called in the scratch folder.
const FILES: &str = "files-";
/// Of a larger file only size and time are compared, in bytes.
const LARGE: u64 = 256 << 20;
/// A path that passes more symbolic links leads nowhere (see path_resolution(7)).
const MOST_LINKS: usize = 40;
/// By how much the clock of file systems may lag behind that of trials, in seconds: a tick of 100 Hz, and some more.
const LAG_S: f64 = 0.02;
/// Changes with every library that is installed; the libraries themselves are compared.
const INDEX: &str = "/etc/ld.so.cache";
const ABSENT: &str = "absent";
const PRELOAD: &str = "ld.so.preload";

/// The probe: a tracer in the place of the command and of each service.
struct Probe<'a> {
    tracer: &'a [String],
    most_s: f64,
    scratch: PathBuf,
    /// Where the tracers report, the command's last.
    outputs: Vec<PathBuf>,
    /// Their standard input.
    inputs: Vec<String>,
    sight: Sight,
}

#[derive(Default)]
pub(crate) struct Sight {
    pub(crate) workload: String,
    /// When it began to be prepared, in seconds since 1970-01-01 UTC.
    begun_unix_s: f64,
    used: Used,
    pub(crate) failed: bool,
    /// The folders in which its command was looked for.
    path: Vec<PathBuf>,
}

impl IntrusiveProbe for Probe<'_> {
    fn times_slower(&self) -> f64 {
        SLOWER
    }

    fn most_s(&self) -> Option<f64> {
        Some(self.most_s)
    }

    fn begin(&mut self, scratch: &Path) -> Result<(), Error> {
        let failed = |source| Error::Folder { path: scratch.to_owned(), source };
        self.scratch = std::path::absolute(scratch).map_err(failed)?;
        Ok(())
    }

    fn take_over(&mut self, command: &mut Command, _service: Option<&str>) -> Result<(), Error> {
        let at = |what: &str| self.scratch.join(format!("{FILES}{what}-{}", self.outputs.len()));
        let (order, output) = (at("order"), at("used"));
        command.env.insert(TRACED.to_owned(), "1".to_owned());
        // The launcher opens it, not the command.
        self.inputs.extend(command.stdin.iter().map(|path| command.dir.join(path).to_string_lossy().into_owned()));
        let path = command.env.get("PATH").map_or("", String::as_str);
        self.sight.path = path.split(':').filter(|folder| !folder.is_empty()).map(|f| command.dir.join(f)).collect();
        let (argv, env) = (std::mem::take(&mut command.argv), std::mem::take(&mut command.env));
        let text = serde_json::to_vec(&Order { argv, env, output: output.clone(), files: true, ..Order::default() });
        let written = text.map_err(std::io::Error::from).and_then(|text| fs::write(&order, text));
        written.map_err(|source| Error::Folder { path: order.clone(), source })?;
        command.argv = self.tracer.to_vec();
        command.argv.push(order.to_string_lossy().into_owned());
        self.outputs.push(output);
        Ok(())
    }

    fn trial_begins(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn trial_ended(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn see(&mut self, _end: &End) -> Result<(), Unseen> {
        let output = self.outputs.pop().ok_or(Unseen::Silent)?;
        match read(&output) {
            Some(TraceReport::Used(used)) => {
                self.sight.used = used;
                self.sight.used.read.extend(std::mem::take(&mut self.inputs));
            }
            Some(TraceReport::Refused { why }) => return Err(Unseen::Refused(why)),
            Some(TraceReport::NotStarted { what, why }) => return Err(Unseen::NotStarted { what, why }),
            _ => return Err(Unseen::Silent),
        }
        Ok(())
    }

    fn see_services(&mut self) {
        for output in &self.outputs {
            if let Some(TraceReport::Used(used)) = read(output) {
                self.sight.used.read.extend(used.read);
                self.sight.used.written.extend(used.written);
                self.sight.used.missed.extend(used.missed);
            }
        }
    }

    fn forget(&mut self, scratch: &Path) {
        let files = fs::read_dir(scratch).into_iter().flatten().flatten();
        for file in files.filter(|file| file.file_name().to_string_lossy().starts_with(FILES)) {
            let _ = fs::remove_file(file.path());
        }
    }
}

fn read(output: &Path) -> Option<TraceReport> {
    serde_json::from_slice(&fs::read(output).ok()?).ok()
}

/// Runs a variant once more, under a tracer; the inner error is why nothing was seen. None if it was interrupted.
pub(crate) fn trace(
    subject: Subject<'_>,
    tracer: &[String],
    longest_s: f64,
    executor: &mut dyn Executor,
) -> Result<Option<Result<Sight, String>>, Error> {
    let sight =
        Sight { workload: subject.workload.to_owned(), begun_unix_s: bakeoff_host::now_unix_s(), ..Sight::default() };
    let most_s = (SLOWER * longest_s).max(LEAST_S);
    let mut probe = Probe { tracer, most_s, scratch: PathBuf::new(), outputs: vec![], inputs: vec![], sight };
    Ok(match executor.diagnose(subject, &mut probe)? {
        None => None,
        Some(Diagnosed::Executed { failure, .. }) => Some(Ok(Sight { failed: failure.is_some(), ..probe.sight })),
        Some(Diagnosed::Failed(_)) => Some(Err("the traced run could not be prepared".to_owned())),
        Some(Diagnosed::Missing { why }) => Some(Err(why)),
    })
}

/// The state of a file, by which it is compared: a digest of its content, or of the names in a folder.
fn state_of(path: &Path) -> String {
    let Ok(about) = fs::metadata(path) else { return ABSENT.to_owned() };
    if about.is_dir() {
        let names = fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let names: BTreeSet<_> = names.collect();
        return content(
            names.iter().flat_map(|name| [name.as_encoded_bytes(), b"\0"].concat()).collect::<Vec<_>>().as_slice(),
        );
    }
    let by_stat = || format!("{} bytes of {}.{:09}", about.len(), about.mtime(), about.mtime_nsec());
    if !about.is_file() || about.len() > LARGE {
        return by_stat();
    }
    fs::read(path).map_or_else(|_| by_stat(), |bytes| content(&bytes))
}

/// Looks at the files that trials of a journal were seen to use, so that the study as it is now can be compared.
pub(crate) fn look_again(known: &StudyLine, now: &mut StudyLine) {
    if let (Some(known), Some(now)) = (&known.basis, &mut now.basis) {
        now.seen = known.seen.keys().map(|path| (path.clone(), state_of(Path::new(path)))).collect();
    }
}

/// The symbolic links on the way to a file, and the file.
fn on_the_way(path: &Path) -> (Vec<PathBuf>, PathBuf) {
    let (mut links, mut rest) = (vec![], path.to_owned());
    while links.len() < MOST_LINKS {
        let mut so_far = PathBuf::new();
        let mut parts = rest.components();
        let link = parts.by_ref().find_map(|part| {
            so_far.push(part);
            fs::read_link(&so_far).ok()
        });
        let Some(target) = link else { break };
        let mut next = so_far.parent().unwrap_or(Path::new("/")).join(target);
        next.extend(parts);
        links.push(so_far);
        rest = next;
    }
    let file = fs::canonicalize(&rest).unwrap_or(rest);
    (links, file)
}

impl Sight {
    /// The files that it wrote, or that it has written under a lock before.
    fn written(&self) -> Vec<PathBuf> {
        let Used { read, written, .. } = &self.used;
        // What is opened for both is only read where it did not change.
        let is_written = |path: &&String| {
            let about = fs::metadata(path).ok().filter(|_| read.contains(*path));
            about.is_none_or(|about| ctime(&about) >= self.begun_unix_s - LAG_S)
        };
        let locked = written.iter().filter_map(|path| path.strip_suffix(".lock"));
        let written = written.iter().filter(is_written).map(String::as_str).chain(locked);
        written.map(|path| on_the_way(Path::new(path)).1).collect()
    }
}

#[derive(Default)]
pub(crate) struct FileStates {
    /// Their states now; of those that were changed [`CHANGED`].
    pub(crate) seen: BTreeMap<String, String>,
    /// When the first of them was changed, and which were.
    pub(crate) changed: Option<(f64, Vec<String>)>,
}

pub(crate) struct Files<'a> {
    pub(crate) record: &'a Record,
    /// Below these nothing is looked at: scratch folders, and what was built, which is watched by itself.
    pub(crate) apart: Vec<PathBuf>,
    /// Files that are looked at between blocks, and need no second look.
    pub(crate) watched: BTreeSet<PathBuf>,
    /// Files that we write while trials run, and folders in which we or the user write.
    pub(crate) open: BTreeSet<PathBuf>,
}

/// When the trials of a workload began, and when each of its conditions had had a block.
struct Times {
    began: f64,
    /// From the beginning of each session to its first trial: what is set up meanwhile is set up again.
    set_up: Vec<[f64; 2]>,
    first_pass_ended: f64,
}

impl Files<'_> {
    pub(crate) fn judge(&self, sights: &[Sight]) -> FileStates {
        let (mut found, mut times) = (FileStates::default(), vec![]);
        let written: BTreeSet<PathBuf> = sights.iter().flat_map(Sight::written).collect();
        for sight in sights {
            let Some(of) = self.times(&sight.workload) else { continue };
            self.judge_one(sight, &of, &written, &mut found, &mut times);
        }
        let first = times.iter().map(|(at, _)| *at).reduce(f64::min);
        let names: BTreeSet<String> = times.into_iter().map(|(_, name)| name).collect();
        found.seen.extend(names.iter().map(|name| (name.clone(), CHANGED.to_owned())));
        found.changed = first.map(|first| (first, names.into_iter().collect()));
        found
    }

    fn judge_one(
        &self,
        sight: &Sight,
        times: &Times,
        written: &BTreeSet<PathBuf>,
        found: &mut FileStates,
        changed: &mut Vec<(f64, String)>,
    ) {
        let is_open =
            |folder: &Path| self.open.contains(folder) || written.iter().any(|file| file.parent() == Some(folder));
        let is_during = |at: f64, born: Option<f64>| {
            // What is written for each run, or by the first, is the trials' own; but not what was there before.
            let is_old = born.is_some_and(|born| born < times.began - LAG_S);
            let is_set_up = times.set_up.iter().any(|[from, to]| *from <= at && at < *to);
            !is_set_up
                && at < sight.begun_unix_s - LAG_S
                && (at > times.first_pass_ended || (at > times.began && is_old))
        };
        let known = self.record.study.basis.as_ref().map(|basis| &basis.seen);
        for path in &sight.used.read {
            let (links, file) = on_the_way(Path::new(path));
            let Ok(about) = fs::metadata(&file) else { continue };
            if path == INDEX || is_open(&file) || written.contains(&file) || self.is_apart(&file) {
                continue;
            }
            let links = links.iter().filter_map(|link| fs::symlink_metadata(link).ok());
            let stamps = links.map(|link| (ctime(&link), born(&link)));
            let own = if about.is_dir() { (mtime(&about), None) } else { (ctime(&about), born(&about)) };
            let at = stamps.chain([own]).filter(|(at, born)| is_during(*at, *born)).map(|(at, _)| at).reduce(f64::max);
            let before = known.and_then(|known| known.get(path));
            match (at, before) {
                (Some(at), before) if before.is_none_or(|before| *before != state_of(&file)) => {
                    changed.push((at, path.clone()));
                }
                // What trials, or what sets them up, have made is made again.
                _ if before.is_none() && times.set_up.first().is_some_and(|[from, _]| own.0 >= *from) => {}
                _ => drop(found.seen.entry(path.clone()).or_insert_with(|| state_of(&file))),
            }
        }
        for path in sight.used.missed.iter().map(Path::new).filter(|path| !self.is_apart(path)) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            // What the loader takes first is in a folder of many other things.
            let is_library = name.contains(".so") && name != PRELOAD;
            let Some(folder) = path.parent().filter(|folder| is_library || sight.path.iter().any(|p| p == folder))
            else {
                continue;
            };
            let there = fs::symlink_metadata(path).ok().map(|about| (path, ctime(&about), born(&about)));
            let folder =
                fs::metadata(folder).ok().filter(|_| !is_open(folder)).map(|about| (folder, mtime(&about), None));
            let came = there.into_iter().chain(folder).find(|(_, at, born)| is_during(*at, *born));
            match came {
                Some((path, at, _)) => changed.push((at, path.display().to_string())),
                None if is_library => drop(found.seen.insert(path.display().to_string(), state_of(path))),
                None => {}
            }
        }
    }

    fn is_apart(&self, file: &Path) -> bool {
        self.watched.contains(file) || self.apart.iter().any(|folder| file.starts_with(folder))
    }

    fn times(&self, workload: &str) -> Option<Times> {
        let trials = || self.record.trials.iter().filter(|trial| trial.workload == workload);
        let began = trials().map(|trial| trial.started_unix_s).reduce(f64::min)?;
        let mut first: BTreeMap<&str, u32> = BTreeMap::new();
        trials().for_each(|trial| {
            first.entry(&trial.condition).or_insert(trial.block);
        });
        let of_first = trials().filter(|trial| first.get(&*trial.condition) == Some(&trial.block));
        let first_pass_ended = of_first.map(|trial| trial.ended_unix_s()).reduce(f64::max)?;
        let first = |session: &Session| {
            let of_it = self.record.trials.iter().filter(|trial| trial.session == session.session);
            let first = of_it.map(|trial| trial.started_unix_s).reduce(f64::min);
            first.map(|first| [session.started_unix_s, first])
        };
        let set_up = self.record.sessions.iter().filter_map(first).collect();
        Some(Times { began, set_up, first_pass_ended })
    }
}

fn ctime(about: &Metadata) -> f64 {
    about.ctime() as f64 + about.ctime_nsec() as f64 / 1e9
}

fn mtime(about: &Metadata) -> f64 {
    about.mtime() as f64 + about.mtime_nsec() as f64 / 1e9
}

/// When it was made; none where the file system does not tell.
fn born(about: &Metadata) -> Option<f64> {
    let since = about.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(since.as_secs_f64())
}
