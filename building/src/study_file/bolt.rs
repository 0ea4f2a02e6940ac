//! What a level with `bolt` means for the whole study: one more layer, and for all levels of its factor words for
//! links, so that they differ in nothing but what BOLT does. The key itself is read in `words.rs`.

use super::levels::Said;
use super::tuned::{in_one_factor, with};
use crate::bolt::{KEY, LAYER, LINKED_WITH};
use crate::nouns::Layer;
use bakeoff_model::study::{PlanSpec, Workload};
use bakeoff_model::study_file::Section;

/// Completes a study with such a level: its files, the words for links, and the layer.
pub(super) fn complete(
    file: &Section<'_>,
    factors: &mut [Said<'_>],
    layers: &mut Vec<Layer>,
    plans: &[PlanSpec],
    workloads: &[Workload],
) {
    let first = with(factors, KEY).next().map(|(factor, at)| (factor.to_owned(), at));
    let (Some((first, at)), Some(last)) = (first, layers.last().cloned()) else { return };
    in_one_factor(file.sink, factors, KEY, "has `bolt`");
    if layers.iter().any(|layer| layer.name == LAYER) {
        let at = file.place_of("build").unwrap_or_default();
        file.sink.report(
            at,
            "the name `bolt` is reserved for the layer that BOLT creates",
            "",
            "rename this [[build]]",
        );
    }
    if plans.iter().any(|plan| plan.rebuild > 0) {
        let remedy = "remove `rebuild` from the plan; the table of builds shows the cost of each build";
        file.sink.report(
            at.clone(),
            "`rebuild` can measure only scripts, but a level has `bolt`",
            "not a script",
            remedy,
        );
    }
    let mut started: Vec<String> = workloads.iter().filter_map(|workload| started(&workload.run)).collect();
    started.sort();
    started.dedup();
    for said in factors.iter_mut().filter(|said| said.placed.factor.name == first) {
        for level in &mut said.levels {
            let tuning = &mut level.spec.tuning;
            tuning.link.extend(LINKED_WITH.map(str::to_owned));
            let Some(bolt) = tuning.bolt.as_mut().filter(|bolt| bolt.files.is_empty()) else { continue };
            if started.is_empty() {
                let remedy = "name the file: bolt = { training = \"COMMAND\", files = [\"bin/prog\"] }";
                let message = "no workload starts a program in $PREFIX, so Bakeoff cannot tell which file BOLT should \
                               rewrite";
                return file.sink.report(at, message, "", remedy);
            }
            bolt.files.clone_from(&started);
        }
    }
    layers.push(Layer {
        name: LAYER.to_owned(),
        source: last.source,
        files: last.files,
        patches: last.patches,
        timeout_s: last.timeout_s,
        compiles_nothing: true,
        rewrites: true,
        ..Layer::default()
    });
}

/// The program that a command starts, below the prefix: the first word that is one. What a variable is set to is none.
fn started(run: &str) -> Option<String> {
    run.split([' ', '\t', '\n', ';', '(', ')', '|', '&']).find_map(|word| {
        let bare = word.replace(['"', '\''], "");
        Some(bare.strip_prefix("$PREFIX/").or_else(|| bare.strip_prefix("${PREFIX}/"))?.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::started;

    #[test]
    fn which_program_a_command_starts() {
        let check = |run: &str, expect: Option<&str>| assert_eq!(started(run).as_deref(), expect, "{run}");
        check("\"$PREFIX/bin/lua\" bench.lua", Some("bin/lua"));
        check("LD_LIBRARY_PATH=\"$PREFIX/lib\" \"$PREFIX\"/bin/p \"$PREFIX/share/x\"", Some("bin/p"));
        check("cd x && (${PREFIX}/bin/p) | sort", Some("bin/p"));
        check("perl \"$WORK/x.pl\"", None);
    }
}
