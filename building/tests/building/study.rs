//! A small study to build: its folder, its cache, and what was told about its builds.

use crate::error::Stop;
use crate::journal::{BuildLine, BuildOutcome};
use crate::{BuildEvent, Cache, Error, Layer, OnDemand, Request, Source, SourceFrom, Spec, Tuning, Wanted};
use bakeoff_host::machine::Machine;
use bakeoff_model::kept::Kept;
use bakeoff_model::plan;
use bakeoff_model::record::Failure;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use tempfile::TempDir;

/// A variant, as far as it is built.
#[derive(Clone, Default)]
pub(crate) struct Variant {
    pub(crate) name: String,
    pub(crate) build_variables: BTreeMap<String, String>,
    pub(crate) patches: BTreeMap<String, Vec<String>>,
    pub(crate) sources: BTreeMap<String, String>,
    pub(crate) fails: Vec<String>,
    pub(crate) tuning: Tuning,
}

impl Variant {
    /// The same, as a plan has it.
    pub(crate) fn planned(&self) -> plan::Variant {
        let Self { name, build_variables: variables, patches, sources, fails, tuning } = self.clone();
        let spec = Kept::new(Spec { variables, patches, sources, fails, tuning, ..Spec::default() });
        plan::Variant { name, spec, ..plan::Variant::default() }
    }
}

/// Everything that a request is made of.
pub(crate) struct Study {
    folder: TempDir,
    pub(crate) cache: Cache,
    pub(crate) sources: Vec<Source>,
    pub(crate) layers: Vec<Layer>,
    pub(crate) variants: Vec<Variant>,
    pub(crate) events: Mutex<Vec<BuildEvent>>,
    /// How many layers are built at a time.
    pub(crate) jobs: usize,
}

impl Study {
    /// A study of one variant without variables.
    pub(crate) fn new(layers: &[Layer]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("study")).unwrap();
        let cache = Cache::open(folder.path().join("cache")).unwrap().on(Machine::in_folder(folder.path()));
        let mut study = Self {
            folder,
            cache,
            sources: vec![],
            layers: layers.to_vec(),
            variants: vec![],
            events: Mutex::default(),
            jobs: 2,
        };
        study.variant("only", &[]);
        study
    }

    /// The study's folder.
    pub(crate) fn dir(&self) -> PathBuf {
        self.folder.path().join("study")
    }

    /// Writes a file into the study's folder.
    pub(crate) fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.dir().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// Copies a file of the machine there, as one of the first layer.
    pub(crate) fn bring(&mut self, name: &str, from: impl AsRef<Path>) {
        fs::copy(from, self.dir().join(name)).unwrap();
        self.layers[0].files.push(name.to_owned());
    }

    /// Adds a variant; the first one replaces the nameless default.
    pub(crate) fn variant(&mut self, name: &str, variables: &[(&str, &str)]) {
        self.variants.retain(|known| known.name != "only");
        let variables = variables.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        self.variants.push(Variant { name: name.to_owned(), build_variables: variables, ..Variant::default() });
    }

    /// Adds a source, and makes the first layer take it.
    pub(crate) fn source(&mut self, fetch: &str, sha256: &str) {
        let source = Source {
            name: "upstream".to_owned(),
            from: SourceFrom::Fetch(fetch.to_owned()),
            sha256: Some(sha256.to_owned()),
            unpack: true,
            disk_bytes: None,
        };
        self.sources = vec![source];
        self.layers[0].source = Some("upstream".to_owned());
    }

    /// All of it, in the study's folder `dir`.
    pub(crate) fn request<'a>(&'a self, dir: &'a Path) -> Request<'a> {
        Request {
            study_dir: dir,
            own: &[],
            sources: &self.sources,
            layers: &self.layers,
            // It lives as long as the test, which is not long.
            variants: Vec::leak(self.variants.iter().map(Variant::planned).collect()),
            jobs: self.jobs,
        }
    }

    /// Makes all builds.
    pub(crate) fn try_build(&self) -> Result<Vec<BuildLine>, Error> {
        self.events.lock().unwrap().clear();
        self.cache.build_all(&self.request(&self.dir()), &|event| self.events.lock().unwrap().push(event))
    }

    /// Makes all builds.
    pub(crate) fn build(&self) -> Vec<BuildLine> {
        self.try_build().unwrap()
    }

    /// Makes the only build, which must succeed; its line and its prefix.
    pub(crate) fn built(&self) -> (BuildLine, PathBuf) {
        let [line] = self.build().try_into().unwrap();
        assert_eq!(line.outcome, BuildOutcome::Built);
        let prefix = self.cache.prefix_of(&line.digest);
        (line, prefix)
    }

    /// Tries to make the only build, which must fail; why, and the last lines of the log.
    pub(crate) fn failed(&self) -> (String, Vec<String>) {
        let [line] = self.build().try_into().unwrap();
        let BuildOutcome::Failed { why, tail, .. } = line.outcome else { panic!("it was built") };
        (why, tail)
    }

    /// Somebody who builds aside; `dir` is the study's folder.
    pub(crate) fn aside<'a>(&'a self, dir: &'a Path) -> OnDemand<'a> {
        OnDemand::open(&self.cache, &self.request(dir), |_| {}).unwrap()
    }

    /// What would have to be done.
    pub(crate) fn survey(&self) -> Vec<Wanted> {
        self.cache.survey(&self.request(&self.dir())).unwrap()
    }

    /// The layers that were built by the last call, in the order of their names, once for each time.
    pub(crate) fn built_layers(&self) -> Vec<String> {
        let name = |event: &BuildEvent| match event {
            BuildEvent::Finished { layer, .. } => Some(layer.clone()),
            _ => None,
        };
        let mut names: Vec<String> = self.events.lock().unwrap().iter().filter_map(name).collect();
        names.sort();
        names
    }

    /// How many events are like this.
    pub(crate) fn count(&self, like: impl Fn(&BuildEvent) -> bool) -> usize {
        self.events.lock().unwrap().iter().filter(|event| like(event)).count()
    }
}

/// A layer that needs no tools.
pub(crate) fn layer(name: &str, script: &str) -> Layer {
    Layer { name: name.to_owned(), script: script.to_owned(), ..Layer::default() }
}

/// The real place of a program; none, and a word about it, if it is not on PATH.
pub(crate) fn program(name: &str) -> Option<String> {
    let found = Command::new("sh").args(["-c", &format!("command -v {name}")]).output().unwrap().stdout;
    let found = String::from_utf8(found).unwrap().trim_end().to_owned();
    if found.is_empty() {
        println!("skipped: no {name} on PATH");
    }
    (!found.is_empty()).then_some(found)
}

/// Whether these programs are on PATH; a word about the first that is not.
pub(crate) fn are_here(names: &[&str]) -> bool {
    names.iter().all(|name| program(name).is_some())
}

/// What was had, or why not; that nothing can be had at all ends the test.
pub(super) fn had<T, F>(result: Result<T, Stop<F>>) -> Result<T, F> {
    result.map_err(|stop| match stop {
        Stop::Failure(failure) => failure,
        Stop::Error(error) => panic!("{error}"),
    })
}

/// The layer of a failure on demand, in words, its reason and the end of its log.
pub(super) fn told(failure: Failure) -> (String, String, Vec<String>) {
    let Failure::Surroundings { part, why, tail } = failure else { panic!("{failure:?}") };
    (part, why, tail)
}
