//! Levels that a training makes, by a profile or by BOLT, and the workloads that are that training: for these, such a level shows
//! the best case. A journal has the names of those workloads in the flags of the build, as a variable that no level can have.

use crate::bolt::KEY;
use crate::journal::{BuildLine, FlagSeen, PROFILE};
use crate::spec::Spec;
use bakeoff_model::plan::Variant;
use bakeoff_report::draw::text::clean;
use bakeoff_report::format::count;
use bakeoff_report::words::{counted, listed};

/// That variable.
const TRAINED_ON: &str = "trained on";

/// Whether a training runs a workload: it is the same command, or one of its commands is, or what its last one comes to.
pub(crate) fn executes(training: &str, run: &str) -> bool {
    let (all, run) = (one_line(training), one_line(run));
    let mut parts = training.split([';', '\n', '|', '&']);
    all == run || all.ends_with(&format!("&& {run}")) || parts.any(|part| one_line(part) == run)
}

/// A command on one line.
pub(crate) fn one_line(command: &str) -> String {
    command.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The workloads that trained the variants of a build. No compiler has seen them.
pub(crate) fn marks(line: &BuildLine, variants: &[Variant]) -> Vec<FlagSeen> {
    let own = variants.iter().find(|variant| line.variants.contains(&variant.name));
    let names = own.into_iter().flat_map(|variant| &Spec::of(variant).tuning.trained_on);
    names.map(|name| FlagSeen { variable: TRAINED_ON.to_owned(), flag: name.clone(), ..FlagSeen::default() }).collect()
}

/// What a training made of a build, as a clause; none of what is said of something else.
pub(crate) fn used(seen: &FlagSeen) -> Option<String> {
    let reached = count(seen.reached);
    let of = |noun| counted(seen.of as u32, noun);
    match seen.variable.as_str() {
        PROFILE => Some(format!("{reached} of {} used a profile", of("compilation"))),
        KEY => Some(format!("{} rewrote {reached} of {}", clean(&seen.flag), of("file"))),
        _ => None,
    }
}

/// Whether it is about a training, and about no word of a compiler.
pub(crate) fn is_about(seen: &FlagSeen) -> bool {
    seen.variable == TRAINED_ON || used(seen).is_some()
}

/// What is said of a build with such marks, behind what its training made of it.
pub(crate) fn clause(line: &BuildLine) -> String {
    let names: Vec<String> =
        line.proof.flags.iter().filter(|seen| seen.variable == TRAINED_ON).map(|seen| seen.flag.clone()).collect();
    match &names[..] {
        [] => String::new(),
        [only] => format!("; trained on the measured workload {only} itself, so this is the best case"),
        several => {
            format!("; trained on the measured workloads {} themselves, so this is the best case", listed(several))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_workload_is_the_training() {
        let check = |training: &str, run: &str, expect: bool| assert_eq!(executes(training, run), expect, "{training}");
        check("\"$PREFIX/p\"  x\n", "\"$PREFIX/p\" x", true);
        check("cp a b && p x; q", "p x", true);
        check("cp a b && p x | sort", "p x | sort", true);
        check("p x", "p", false);
        check("p", "p x", false);
    }

    #[test]
    fn a_build_says_by_which_workload_it_was_trained() {
        let seen = |variable: &str, flag: &str, of: u64| {
            let (variable, flag) = (variable.to_owned(), flag.to_owned());
            FlagSeen { variable, flag, reached: of / 2, of, ..FlagSeen::default() }
        };
        assert_eq!(used(&seen(PROFILE, "-fprofile-use", 4)).unwrap(), "2 of 4 compilations used a profile");
        assert_eq!(used(&seen(KEY, "llvm-bolt-22", 2)).unwrap(), "llvm-bolt-22 rewrote 1 of 2 files");
        assert!(!is_about(&seen("append", "-O3", 2)));
        let mut line = BuildLine::default();
        assert_eq!(clause(&line), "");
        line.proof.flags = vec![seen("append", "-O3", 2), seen(TRAINED_ON, "main", 0)];
        assert_eq!(clause(&line), "; trained on the measured workload main itself, so this is the best case");
        line.proof.flags.push(seen(TRAINED_ON, "other", 0));
        assert!(clause(&line).starts_with("; trained on the measured workloads main and other themselves"));
        assert!(
            line.proof.flags.iter().skip(1).all(is_about) && line.proof.flags.iter().all(|seen| used(seen).is_none())
        );
    }
}
