//! What trials of this host run and read, looked at between blocks: some files by what the system says of them, each
//! time; everything else that was built only where somebody may have touched it, and at the end. Here it is only found out.

use super::stage::Cell;
use crate::watched::{State, Watched};
use crate::{Error, Look};
use bakeoff_host::folders::Folders;
use bakeoff_model::digest::Digest;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// No trial was seen to be slowed by a look at so few files (docs/dev/decisions/0007).
const FELT: usize = 16;

/// What is to be looked at.
#[derive(Default)]
pub struct Watch<'a> {
    /// Files that are looked at each time: programs, what runs with them, and files of the study.
    pub files: Vec<Watched>,
    /// Where what was built is installed.
    pub prefixes: Vec<PathBuf>,
    /// Looks at all that was built, content included: the names of what is missing or changed.
    pub all: Option<Box<dyn Fn() -> Vec<String> + 'a>>,
}

/// The files that are watched, and their state.
#[derive(Default)]
pub struct Watching<'a> {
    watch: Watch<'a>,
    /// Says whether to look at all that was built. Where it cannot, everything is looked at each time.
    folders: Option<Folders>,
    /// Variant, workload and condition of which a trial was run: what the first one writes trials write.
    cells: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
    /// Whether the first trial of a cell was run since the last look.
    is_first: bool,
    /// What the last look saw, as long as nothing is seen to be otherwise.
    digest: Option<String>,
}

impl<'a> Watching<'a> {
    /// That of files as they are now.
    pub fn new(watch: Watch<'a>) -> Self {
        let prefixes = watch.prefixes.iter().map(PathBuf::as_path);
        let folders = watch.all.as_ref().and_then(|_| Folders::watch(prefixes).ok());
        Self { watch, folders, cells: BTreeMap::new(), is_first: false, digest: None }
    }

    /// Whether a look goes through enough files for the next trial to feel it. To launch something costs as much as a
    /// short trial: where there is little to be looked at, the remedy would be worse.
    pub(super) fn is_felt(&self) -> bool {
        self.watch.files.len() > FELT || self.watch.all.is_some()
    }

    /// A trial begins. The twin runs what the baseline does, but it, too, may come first.
    pub(super) fn trial_begins(&mut self, cell: Cell<'_>) {
        let [variant, workload, condition] = [&cell.variant.name, &cell.workload.name, &cell.condition.name];
        let known = self.cells.get(variant).and_then(|of| of.get(workload)).is_some_and(|of| of.contains(condition));
        if !known {
            let of = self.cells.entry(variant.clone()).or_default().entry(workload.clone()).or_default();
            self.is_first |= of.insert(condition.clone());
        }
    }

    /// Files of the study that the first trial of a cell has written; they are looked at no more.
    pub(super) fn written(&mut self) -> Vec<String> {
        if !self.is_first {
            return vec![];
        }
        let mut written = vec![];
        self.watch.files.retain_mut(|file| {
            let is_written = file.may_be_written && file.look() != State::Same;
            if is_written {
                written.push(file.name.clone());
            }
            !is_written
        });
        if !written.is_empty() {
            self.digest = None;
        }
        written
    }

    /// A look between two blocks.
    pub fn look(&mut self) -> Result<Look, Error> {
        // A service may write at its end.
        let mut look = Look { written: self.written(), ..Look::default() };
        self.is_first = false;
        for file in &mut self.watch.files {
            match file.look() {
                State::Same => {}
                State::Touched => look.touched.push(file.name.clone()),
                State::Changed => look.changed.push(file.name.clone()),
            }
        }
        if self.folders.as_ref().is_none_or(Folders::were_changed) {
            let more: Vec<String> = self.all().into_iter().filter(|name| !look.changed.contains(name)).collect();
            look.changed.extend(more);
        }
        if !look.written.is_empty() || !look.touched.is_empty() || !look.changed.is_empty() {
            self.digest = None;
        }
        if !self.watch.files.is_empty() || self.watch.all.is_some() {
            let files = &self.watch.files;
            look.files = self.digest.get_or_insert_with(|| digest(files)).clone();
        }
        Ok(look)
    }

    /// A look at everything.
    pub fn look_at_all(&mut self) -> Result<Look, Error> {
        let mut look = self.look()?;
        if look.changed.is_empty() {
            look.changed = self.all();
            look.whole_session = !look.changed.is_empty();
        }
        Ok(look)
    }

    fn all(&self) -> Vec<String> {
        self.watch.all.as_ref().map(|all| all()).unwrap_or_default()
    }
}

fn digest(files: &[Watched]) -> String {
    let mut digest = Digest::of("files");
    files.iter().for_each(|file| file.add_to(&mut digest));
    digest.hex()
}
