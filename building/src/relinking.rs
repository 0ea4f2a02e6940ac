//! The part of a plan's page about what is built while the study runs: relinking for every pass, and building that is
//! measured itself. A study that asks for neither has none of these lines.

use crate::nouns::Layer;
use crate::on_demand::first_linked;
use crate::{Cache, Wanted};
use bakeoff_command::estimates::{about, at_most};
use bakeoff_model::plan::Plan;
use bakeoff_model::study::Vary;
use bakeoff_report::words::counted;
use std::fmt::Write as _;

/// The lines, below those about what is built beforehand and how long the trials take.
pub(crate) fn text(plan: &Plan, cache: &Cache, layers: &[Layer], builds: &[Wanted]) -> String {
    let mut out = String::new();
    if plan.vary.contains(&Vary::LinkOrder) {
        out.push_str(&linking(plan, layers, builds));
    }
    if plan.vary.contains(&Vary::Layouts) {
        out.push_str(&matching(plan, cache, builds));
    }
    if let Some(building) = &plan.building {
        let (passes, blocks) = (plan.building_passes(), plan.building_trials());
        let names = building.workloads.join(", ");
        let takes_s = mean_s(builds, |_| true).map(|sum_s| sum_s * f64::from(passes) * linked(plan));
        let _ = writeln!(
            out,
            "Building, measured in {passes} {}: {names}; {blocks} trials{}",
            if passes == 1 { "pass" } else { "passes" },
            takes_s.map_or(String::new(), |sum_s| format!(", {}", about(sum_s)))
        );
    }
    out
}

/// How many links give each pass its layouts, as far as the builds are there.
fn matching(plan: &Plan, cache: &Cache, builds: &[Wanted]) -> String {
    // Layouts that take turns are linked once.
    let (most, blocks) = (at_most(plan), plan.layouts.unwrap_or(plan.blocks));
    let of = if plan.layouts.is_some() { "layouts" } else { "passes" };
    if !are_built(builds) {
        return format!("Linked again for each of {most}{blocks} {of}, if the links of all builds can be repeated\n");
    }
    if have_one_layout(cache, builds) {
        return "Measured as built: not all builds have a link that can be repeated (`bakeoff build` shows why)\n"
            .to_owned();
    }
    // The baseline has one layout more.
    let all = || builds.first().into_iter().chain(builds).flat_map(|build| cache.links_of(build));
    format!(
        "Linked again for each of {most}{blocks} {of}, at random: {} in each, {most}{} in all\n",
        counted(all().count() as u32, "link"),
        about(all().sum::<f64>() * f64::from(blocks))
    )
}

fn are_built(builds: &[Wanted]) -> bool {
    builds.iter().all(|build| build.missing().next().is_none())
}

/// Whether it is known that some build has no link that can be repeated.
pub(crate) fn have_one_layout(cache: &Cache, builds: &[Wanted]) -> bool {
    let has_none = |build: &Wanted| build.missing().next().is_none() && cache.links_of(build).is_empty();
    builds.iter().any(has_none)
}

/// What is relinked, and how.
fn linking(plan: &Plan, layers: &[Layer], builds: &[Wanted]) -> String {
    let first = first_linked(layers.iter());
    let Some(layer) = layers.get(first) else { return String::new() };
    let how = match &layer.relink {
        Some(_) => format!("layer {} with its `relink` script", layer.name),
        None => format!("layer {} with its whole script (no layer has `relink`)", layer.name),
    };
    let after: Vec<&str> = layers.iter().skip(first + 1).map(|layer| layer.name.as_str()).collect();
    let after = if after.is_empty() { String::new() } else { format!(", then {}", after.join(", ")) };
    // How long a relink script takes, nobody has timed.
    let is_known = |number: usize| number >= first && (number > first || layer.relink.is_none());
    let takes_s = mean_s(builds, is_known).filter(|_| layer.relink.is_none());
    let all_s = takes_s.map(|sum_s| sum_s * f64::from(plan.blocks) * linked(plan));
    format!(
        "Relinked before each of {}{} passes, for each variant and the twin: {how}{after}{}\n",
        at_most(plan),
        plan.blocks,
        all_s.map_or(String::new(), |all_s| format!("; {}{}", at_most(plan), about(all_s)))
    )
}

/// The variants and the twin.
fn linked(plan: &Plan) -> f64 {
    plan.variants.len() as f64 + 1.0
}

/// The time that those layers of a build take by their places, in seconds, in the mean over the builds; none if it is not
/// known of all.
fn mean_s(builds: &[Wanted], takes: impl Fn(usize) -> bool) -> Option<f64> {
    let of_layers = |build: &Wanted| -> Option<f64> {
        build.layers.iter().enumerate().filter(|(number, _)| takes(*number)).map(|(_, l)| l.expected_wall_s).sum()
    };
    let all: Option<Vec<f64>> = builds.iter().map(of_layers).collect();
    all.filter(|all| !all.is_empty()).map(|all| all.iter().sum::<f64>() / all.len() as f64)
}
