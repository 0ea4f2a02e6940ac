//! The identity of a plan: a digest of all that makes trials comparable. Journals are continued under it and no other,
//! so what a plan does not use leaves no trace in it: an older journal goes on where a newer version knows more.

use super::{Plan, Shell, Variant};
use crate::digest::Digest;
use crate::metric::{Direction, Unit};
use crate::record::VARIANT_KEY;
use crate::study::{
    Around, Condition, ExitCodes, LoadOf, LoadSpec, OpSpec, OutputUse, Per, Ready, Service, Take, ValueSource,
    ValueSpec, Vary, Workload,
};
use crate::until::Until;
use std::collections::BTreeMap;

impl Plan {
    /// Digest of all that makes trials comparable: variants with their builds and variables, workloads with what they
    /// must print, mark and leave behind, services, conditions with their parts, what is varied, what is void, and the
    /// seed; `inputs` stands for the files that trials depend on. The number of blocks is not part of it: a study can
    /// be prolonged. But a rule that stops it earlier is, with all that it asks: it is fixed before the first block, and
    /// another one begins another journal.
    pub fn identity(&self, builds: &BTreeMap<String, String>, inputs: &str) -> String {
        self.parts(builds, inputs).whole.hex()
    }

    /// A digest of each key of the study that makes trials comparable, by its name there; all of [`Self::identity`] but
    /// builds and inputs.
    pub fn keys(&self) -> BTreeMap<String, String> {
        let mut parts = self.parts(&BTreeMap::new(), "");
        // In the digest of all, it is the order of the variants that says which one is the baseline.
        let baseline = self.variants.first().map_or("", |variant| variant.name.as_str());
        parts.keys.entry("the baseline".to_owned()).or_default().field("name", baseline.as_bytes());
        let short = |digest: Digest| digest.hex()[..KEY_DIGITS].to_owned();
        parts.keys.into_iter().map(|(key, digest)| (key, short(digest))).collect()
    }

    fn parts(&self, builds: &BTreeMap<String, String>, inputs: &str) -> Parts {
        let mut parts = Parts { whole: Digest::of("plan"), keys: BTreeMap::new(), at: String::new() };
        let digest = &mut parts;
        digest.at("name").field("study", self.study.as_bytes());
        digest.at("seed").field("seed", &self.seed.to_le_bytes());
        for item in &self.variants {
            variant(digest, item, builds.get(&item.name).map_or("", String::as_str));
        }
        self.workloads.iter().for_each(|item| workload(digest, item));
        self.services.iter().for_each(|item| service(digest, item));
        self.conditions.iter().for_each(|item| condition(digest, item));
        digest.whole.field("inputs", inputs.as_bytes());
        digest.at("until");
        if self.until != Until::Blocks {
            digest.field("until", self.until.to_string().as_bytes());
            digest.at("decide");
            digest.field("metric", self.decide.metrics.first().map_or("", String::as_str).as_bytes());
            digest.field("margin", &self.decide.margin.to_le_bytes());
            digest.field("confidence", &self.decide.confidence.to_le_bytes());
        }
        digest.at("until").each("looks", self.looks_until().map(u32::to_le_bytes));
        let word = |vary: &Vary| match vary {
            Vary::EnvSize => "env-size",
            Vary::LinkOrder => "link-order",
            Vary::Layouts => "layouts",
        };
        digest.at("vary").each("vary", self.vary.iter().map(word));
        digest.each("layouts", self.layouts.map(u32::to_le_bytes));
        for (name, value) in &self.sections {
            digest.at(&format!("[{name}]")).field("a section", value.to_string().as_bytes());
        }
        let shell = match &self.shell {
            Shell::IfNeeded => None,
            Shell::Never => Some(""),
            Shell::Always(shell) => Some(shell.as_str()),
        };
        digest.at("the shell").each("the shell", shell);
        digest.at("the clock").each("the clock", (!self.clock.is_of_seconds()).then_some("guest instructions"));
        let instrument = self.counted.as_ref().map(|counted| counted.source.as_bytes());
        digest.at("the instrument").each("the instrument", instrument);
        digest.at("void_if");
        for rule in &self.void_if {
            digest.field("void if", rule.metric.as_bytes()).field("above", &rule.above.to_le_bytes());
        }
        parts
    }
}

/// Hexadecimal digits that are kept of the digest of a key.
const KEY_DIGITS: usize = 16;

struct Parts {
    whole: Digest,
    keys: BTreeMap<String, Digest>,
    /// The key that fields belong to.
    at: String,
}

impl Parts {
    /// What follows is of this key.
    fn at(&mut self, key: &str) -> &mut Self {
        key.clone_into(&mut self.at);
        self
    }

    fn field(&mut self, name: &str, value: &[u8]) -> &mut Self {
        self.whole.field(name, value);
        self.keys.entry(self.at.clone()).or_default().field(name, value);
        self
    }

    /// A field for each of some values. What is not there leaves no trace.
    fn each(&mut self, name: &str, values: impl IntoIterator<Item: AsRef<[u8]>>) -> &mut Self {
        values.into_iter().for_each(|value| _ = self.field(name, value.as_ref()));
        self
    }
}

// Fields of format 1 have plain words as names, and so may factors; later ones have a blank, which no factor has.

fn variant(digest: &mut Parts, variant: &Variant, build: &str) {
    digest.at(&format!("{VARIANT_KEY}{}", variant.name)).field("variant", variant.name.as_bytes());
    for (factor, level) in &variant.levels {
        digest.field(factor, level.as_bytes());
    }
    digest.field("run", variant.run.as_deref().unwrap_or_default().as_bytes());
    around(digest, |_| format!("{VARIANT_KEY}{}", variant.name), &variant.around);
    digest.each("it boots", &variant.kernel);
    // A build is no key of the study.
    digest.whole.field("build", build.as_bytes());
    for (name, value) in &variant.run_variables {
        digest.field("run variable", name.as_bytes()).field("its value", value.as_bytes());
    }
}

fn workload(digest: &mut Parts, workload: &Workload) {
    let key = |name: &str| format!("workloads.{}.{name}", workload.name);
    digest.at(&key("run")).field("workload", workload.name.as_bytes()).field("run", workload.run.as_bytes());
    digest.at(&key("phases")).each("its phase", &workload.phases);
    digest.at(&key("ops"));
    if let Some(OpSpec { unit, count, names }) = &workload.ops {
        digest.field("its ops", unit.as_bytes()).each("its count", count.map(u64::to_le_bytes)).each("its op", names);
    }
    digest.at(&key("values"));
    workload.values.iter().for_each(|item| value(digest, item));
    digest.at(&key("services")).each("its service", &workload.services);
    digest.at(&key("divided")).each("its work", workload.divided.then_some("divided"));
    digest.at(&key("oracle")).each("its oracle", &workload.oracle);
    digest.at(&key("timeout")).each("its timeout", workload.timeout_s.map(f64::to_le_bytes));
    // Where output goes changes what is measured. Journals from before there was a choice do not go on.
    let place: &[u8] = if workload.output == OutputUse::Null { b"null" } else { b"memory" };
    digest.at(&key("output")).field("its output", place);
    // Only where it is said, so that older journals keep their identity.
    digest.at(&key("harness")).each("its harness", &workload.harness);
    digest.at(&key("input")).each("its input", &workload.input);
    match &workload.exit_codes {
        codes if *codes == ExitCodes::default() => {}
        ExitCodes::Only(codes) => _ = digest.at(&key("exit_codes")).field("its exit codes", codes),
        ExitCodes::Any => _ = digest.at(&key("exit_codes")).field("its exit codes are all", b""),
    }
    digest.at(&key("warmup")).each("its warmup", (workload.warmup > 0).then(|| workload.warmup.to_le_bytes()));
    digest.at(&key("lengths")).each("its length", workload.lengths.last());
    around(digest, key, &workload.around);
}

fn around(digest: &mut Parts, key: impl Fn(&str) -> String, around: &Around) {
    for (name, command) in around.named() {
        if let Some(command) = command {
            digest.at(&key(name)).field("around it", name.as_bytes()).field("the command", command.as_bytes());
        }
    }
}

fn value(digest: &mut Parts, value: &ValueSpec) {
    let unit = match value.unit {
        Unit::Seconds => "s",
        Unit::Bytes => "B",
        Unit::Count => "1",
        Unit::PerSecond => "1/s",
        Unit::GuestInstructions => "guest instructions",
    };
    let better = match value.better {
        Direction::Less => "less",
        Direction::More => "more",
    };
    digest.field("its value", value.name.as_bytes()).field("in unit", unit.as_bytes());
    digest.field("in scale", &value.scale.to_le_bytes()).field("is better", better.as_bytes());
    // Only where it is said, so that older journals keep their identity.
    digest.each("is exact", value.exact.then_some(""));
    match &value.from {
        ValueSource::Mark => digest.field("by mark", b""),
        ValueSource::Regex(pattern) => digest.field("by regex", pattern.as_bytes()),
        ValueSource::Json(path) => digest.field("by json", path.as_bytes()),
        ValueSource::Csv { column, take } => {
            let take = match take {
                Take::Last => "last",
                Take::Sum => "sum",
                Take::Mean => "mean",
                Take::Max => "max",
            };
            digest.field("by csv", column.as_bytes()).field("it takes", take.as_bytes())
        }
    };
}

fn service(digest: &mut Parts, service: &Service) {
    digest
        .at(&format!("services.{}", service.name))
        .field("a service", service.name.as_bytes())
        .field("it runs", service.run.as_bytes());
    let (kind, check) = match &service.ready {
        Ready::Started => ("is ready", ""),
        Ready::Tcp(port) => ("is ready by tcp", port.as_str()),
        Ready::Command(command) => ("is ready by command", command.as_str()),
        Ready::Log(line) => ("is ready by log", line.as_str()),
    };
    let per = match service.per {
        Per::Trial => "trial",
        Per::Block => "block",
    };
    digest.field(kind, check.as_bytes()).field("is ready within", &service.ready_within_s.to_le_bytes());
    digest.field("is started per", per.as_bytes()).field("is stopped by", &service.stop_signal.to_le_bytes());
    digest.field("is stopped within", &service.stop_within_s.to_le_bytes());
}

fn condition(digest: &mut Parts, condition: &Condition) {
    let Condition {
        name,
        load,
        processes,
        cpus,
        realtime,
        aslr,
        environment,
        drop_caches,
        memory_bytes,
        cpu_limit,
        as_built,
    } = condition;
    digest.at(&format!("conditions.{name}")).field("condition", name.as_bytes());
    if let Some(LoadSpec { copies, of, pace_s, cpus }) = load {
        let (kind, command) = match of {
            LoadOf::Baseline => ("copies of baseline", ""),
            LoadOf::Itself => ("copies of self", ""),
            LoadOf::Command(command) => ("copies of command", command.as_str()),
        };
        digest.field("its copies", &copies.to_le_bytes()).field(kind, command.as_bytes());
        digest.each("its pace", pace_s.map(f64::to_le_bytes)).each("its load on", cpus.as_deref().map(listed));
    }
    digest.each("its processes", (*processes > 1).then(|| processes.to_le_bytes()));
    digest.each("its processors", cpus.as_deref().map(listed));
    digest.each("as built", as_built.then_some(""));
    digest.each("its realtime", realtime.map(u32::to_le_bytes)).each("its aslr", aslr.map(|on| [u8::from(on)]));
    for (name, value) in environment {
        digest.field("its variable", name.as_bytes()).field("its value", value.as_bytes());
    }
    digest.each("its caches", drop_caches.then_some("dropped"));
    digest.each("its memory", memory_bytes.map(u64::to_le_bytes));
    digest.each("its limit", cpu_limit.map(f64::to_le_bytes));
}

fn listed(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}
