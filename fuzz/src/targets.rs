//! The targets: each takes bytes that anybody may have written to one reader of ours, and on through whatever follows it.

use bakeoff_building::{Building, Limits};
use bakeoff_check_summary::published;
use bakeoff_host::executed_with;
use bakeoff_command::Registry;
use bakeoff_ministat::reading;
use bakeoff_model::marks::{self, Chunk};
use bakeoff_model::plan::Plan;
use bakeoff_model::study_file;
use bakeoff_parcel::{Bounds, open};
use bakeoff_readers::{Options, Origin};
use bakeoff_report::Style;
use bakeoff_why::reading::{Depth, facts_of};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Those that read what others write.
fn features() -> Registry {
    Registry::of(&[&bakeoff_why::Why])
}

pub type Target = fn(&[u8]);

/// By name.
pub const ALL: &[(&str, Target)] = &[
    ("study", study),
    ("lock", locked),
    ("journal", journal),
    ("marks", marked),
    ("samples", sampled),
    ("ministat", columns),
    ("published", summary),
    ("archive", archive),
    ("parcel", parcel),
    ("elf", elf),
    ("wire", wire),
];

/// Analysis takes longer than reading; what is larger is only read.
const MOST_TRIALS: usize = 60;
/// What an archive may become.
const SMALL: u64 = 1 << 20;

fn text(data: &[u8]) -> Option<&str> {
    std::str::from_utf8(data).ok()
}

fn study(data: &[u8]) {
    let Some(text) = text(data) else { return };
    match study_file::parse_with(text, &features().sections, Some(&Building)) {
        Ok(study) => {
            let names: Vec<String> = study.plans.iter().map(|plan| plan.name.clone()).collect();
            for plan in names.iter().filter_map(|name| Plan::of(&study, name).ok()) {
                let _ = (plan.pass(1), plan.trials(), plan.keys());
            }
        }
        Err(list) => {
            let problems = bakeoff_model::problem::Problems::new("study.toml", text, list);
            let _ = problems.render(true);
        }
    }
}

fn locked(data: &[u8]) {
    if let Some(Ok(lock)) = text(data).map(Building::parse_lock) {
        let _ = lock.render();
    }
}

fn journal(data: &[u8]) {
    with_file(data, |path| {
        let Ok(contents) = bakeoff_journal::read(path) else { return };
        if contents.record.trials.len() <= MOST_TRIALS {
            let features = features();
            let findings = features.judge(&contents.record);
            let style = Style { width: 80, colour: false };
            let _ = bakeoff_report::terminal_with(&findings, &features.pages(), None, style, None);
            let context = bakeoff_report::Context { more: "bakeoff report STUDY", ..Default::default() };
            let _ = bakeoff_report::screen(&findings, context, style);
            let _ = bakeoff_report::json(&findings, None);
        }
    });
}

/// The first byte says how the rest is divided.
fn marked(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let pieces = rest.chunks(usize::from(*first).max(1)).zip(1..);
    let chunks: Vec<Chunk> =
        pieces.map(|(bytes, at)| Chunk { at_s: f64::from(at) / 1e3, bytes: bytes.to_vec() }).collect();
    if let Ok(told) = marks::read(&chunks, 0.0, 1.0) {
        let _ = (told.marks.ops_count(), told.marks.value("op.p99", Some(1.0)));
    }
}

fn sampled(data: &[u8]) {
    let origin = Origin { name: "f", label: "f" };
    let mut reader = data;
    let Ok(gathered) = bakeoff_readers::read(&mut reader, &origin, &Options::default()) else { return };
    let values: usize = gathered.samples.iter().map(|sample| sample.values.len()).sum();
    if values > 200 {
        return;
    }
    let terms = bakeoff_judge::samples::Terms { confidence: 0.95, margin: 0.01, paired: false, baseline: None };
    if let Ok(findings) = bakeoff_judge::judge_samples(gathered.samples, &terms) {
        let _ = bakeoff_stat::page::stat(&findings, &[], Style { width: 80, colour: false });
        let _ = bakeoff_report::pretty_json(&findings);
    }
}

fn columns(data: &[u8]) {
    let mut reader = data;
    let _ = reading::read(&mut reader, 1, b" \t");
}

fn summary(data: &[u8]) {
    if let Some(text) = text(data) {
        let _ = published::read("f", text);
    }
}

fn archive(data: &[u8]) {
    with_file(data, |path| {
        let into = folder().join("unpacked");
        let _ = bakeoff_host::disk::wipe(&into);
        let limits = Limits { bytes: SMALL, entries: 200, ratio: 100, small_bytes: SMALL };
        let _ = limits.unpack(path, &into);
    });
}

fn parcel(data: &[u8]) {
    with_file(data, |path| {
        let into = folder().join("parcel");
        let _ = bakeoff_host::disk::wipe(&into);
        if std::fs::create_dir(&into).is_ok() {
            let _ = open(path, &into, Bounds { bytes: SMALL, members: 100 });
        }
    });
}

fn elf(data: &[u8]) {
    with_file(data, |path| {
        for depth in [Depth::Counts, Depth::Relocations, Depth::All] {
            let _ = facts_of(path, depth);
        }
        let _ = executed_with(&[path.to_owned()], None, 100);
    });
}

fn wire(data: &[u8]) {
    bakeoff_host::fuzz_wire(data);
}

/// In memory, and gone with us.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new("/dev/shm").join(format!("bakeoff-fuzz-{}", std::process::id()));
        let _ = std::fs::create_dir_all(&folder);
        folder
    })
}

fn with_file(data: &[u8], read: impl FnOnce(&Path)) {
    let path = folder().join("input");
    if std::fs::write(&path, data).is_ok() {
        read(&path);
    }
}
