//! `[vm]`: the machine that each variant's kernel is booted in. It makes trials comparable, so it is part of a plan's identity.

use bakeoff_model::study_file::{Extension, Section, SectionContext, Sink, check_below_prefix};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The section's name.
pub(crate) const NAME: &str = "vm";

const MEMORY_BYTES: u64 = 512 << 20;
const BOOT_LIMIT_S: f64 = 300.0;

/// The machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Spec {
    /// The initramfs: a file of the finished build, relative to its prefix.
    pub(crate) root: String,
    /// Memory, in bytes.
    pub(crate) memory_bytes: u64,
    /// Processors.
    pub(crate) processors: u32,
    /// What runs its instructions.
    pub(crate) accelerator: Wanted,
    /// More arguments for qemu.
    pub(crate) arguments: Vec<String>,
    /// Processor time of qemu after which a boot is killed, in seconds.
    pub(crate) boot_limit_s: f64,
}

/// What is to run the guest's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Wanted {
    /// KVM, where it boots; else the emulator.
    #[default]
    Auto,
    /// The processor.
    Kvm,
    /// The emulator, which counts them.
    Tcg,
}

impl Spec {
    /// From what a study or plan keeps of the section; none if it has none.
    pub(crate) fn of(section: Option<&Value>) -> Option<Self> {
        serde_json::from_value(section?.clone()).ok()
    }
}

/// Reads the section.
#[derive(Debug)]
pub(crate) struct VmSection;

impl Extension for VmSection {
    fn name(&self) -> &'static str {
        NAME
    }

    fn is_of_trials(&self) -> bool {
        true
    }

    fn missing(&self, sink: &Sink, known: SectionContext<'_>) {
        if let Some(kernel) = known.kernel {
            let remedy = "add `[vm]` with `root = \"FILE\"`, where FILE is an initramfs (path relative to $PREFIX) \
                that a layer installs";
            sink.report(kernel.clone(), "a level has a kernel, but the study has no `[vm]`", "", remedy);
        }
    }

    fn read(&self, section: &Section<'_>, known: SectionContext<'_>) -> Value {
        let report = |key: &str, message: &str, remedy: &str| {
            let span = section.place_of(key).unwrap_or_else(|| section.span.clone());
            section.sink.report(span, message, "", remedy);
        };
        if known.kernel.is_none() {
            report(
                "",
                "no level has a kernel for `[vm]` to boot",
                "add `kernel = \"FILE\"` to the levels, or remove the section",
            );
        }
        let remedy = "name an initramfs that a layer installs, such as `root = \"boot/root.cpio.gz\"`";
        let root = section.required_string("root", remedy);
        root.iter().for_each(|(root, span)| check_below_prefix(section.sink, root, span.clone()));
        let accelerator = match section.string("accelerator").as_ref().map(|(text, _)| text.as_str()) {
            None | Some("auto") => Wanted::Auto,
            Some("kvm") => Wanted::Kvm,
            Some("tcg") => Wanted::Tcg,
            Some(other) => {
                report("accelerator", &format!("there is no accelerator {other:?}"), "use auto, kvm or tcg");
                Wanted::Auto
            }
        };
        let arguments = section.strings("arguments").into_iter().map(|(text, _)| text).collect();
        let spec = Spec {
            root: root.map(|(root, _)| root).unwrap_or_default(),
            memory_bytes: section.size("memory").unwrap_or(MEMORY_BYTES),
            processors: section.number_of("processors", "processors", 64).unwrap_or(1).max(1),
            accelerator,
            arguments,
            boot_limit_s: section.duration("boot_limit").unwrap_or(BOOT_LIMIT_S),
        };
        section.finish();
        serde_json::to_value(&spec).unwrap_or_default()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;
    use bakeoff_model::plan::Plan;
    use bakeoff_model::study_file::parse_with;

    fn study(levels: &str, vm: &str) -> String {
        format!(
            "format = 1\nname = \"k\"\n[build_factors.cc]\n{levels}\n[[build]]\nname = \"k\"\nscript = 'make $CC'\n{vm}\n\
             [workloads.w]\nrun = 'make'\n[decide]\nbaseline = {{ cc = \"gcc\" }}\n"
        )
    }

    const LEVELS: &str =
        "gcc = { CC = \"gcc\", kernel = \"boot/vmlinux\" }\nclang = { CC = \"clang\", kernel = \"boot/vmlinux\" }";

    #[test]
    fn a_section_is_read_with_its_defaults() {
        let read = |vm: &str| parse_with(&study(LEVELS, vm), &[&VmSection], Some(&bakeoff_building::Building)).unwrap();
        let one = read("[vm]\nroot = \"boot/root\"");
        let expect = Spec {
            root: "boot/root".to_owned(),
            memory_bytes: MEMORY_BYTES,
            processors: 1,
            accelerator: Wanted::Auto,
            arguments: vec![],
            boot_limit_s: BOOT_LIMIT_S,
        };
        assert_eq!(Spec::of(one.sections.get(NAME)), Some(expect));
        let other = read("[vm]\nroot = \"boot/root\"\nmemory = \"1GiB\"");
        let identity = |study| Plan::of(study, "default").unwrap().identity(&[].into(), "");
        assert_ne!(identity(&one), identity(&other), "another machine makes other trials");
    }

    #[test]
    fn problems_name_their_remedy() {
        let check = |levels: &str, vm: &str, message: &str| {
            let problems =
                parse_with(&study(levels, vm), &[&VmSection], Some(&bakeoff_building::Building)).unwrap_err();
            assert!(problems.iter().any(|problem| problem.message.contains(message)), "{message}: {problems:?}");
            assert!(problems.iter().all(|problem| !problem.remedy.is_empty()), "{problems:?}");
        };
        check(LEVELS, "", "the study has no `[vm]`");
        check(LEVELS, "[vm]", "[vm] has no `root`");
        check(LEVELS, "[vm]\nroot = \"/boot/root\"", "is outside $PREFIX");
        check(LEVELS, "[vm]\nroot = \"r\"\naccelerator = \"xen\"", "there is no accelerator");
        check(LEVELS, "[vm]\nroot = \"r\"\nprocessor = 1", "processor");
        check(
            "gcc = { CC = \"gcc\" }\nclang = { CC = \"clang\" }",
            "[vm]\nroot = \"r\"",
            "no level has a kernel for `[vm]` to boot",
        );
        check(
            "gcc = { CC = \"gcc\", kernel = \"k\" }\nclang = { CC = \"clang\" }",
            "[vm]\nroot = \"r\"",
            "factor `cc` has no `kernel` in level clang",
        );
        check(
            "gcc = { CC = \"gcc\", kernel = \"../k\" }\nclang = { CC = \"clang\", kernel = \"k\" }",
            "[vm]\nroot = \"r\"",
            "is outside",
        );
        check(
            "gcc = { CC = \"gcc\", kernel = 1 }\nclang = { CC = \"clang\", kernel = \"k\" }",
            "[vm]\nroot = \"r\"",
            "must be the quoted path",
        );
    }
}
