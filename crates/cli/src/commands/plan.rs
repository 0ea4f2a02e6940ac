//! `bakeoff plan`: what a study would do, before it does it. It builds and executes nothing.

use super::build::Jobs;
use super::estimates::at_most;
use super::options::{Extent, Selection};
use bakeoff_building::{Cache, Request, Wanted, survey};
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::study_folder::StudyFolder;
use bakeoff_command::{Registry, locale, screen};
use bakeoff_model::percent::percent;
use bakeoff_model::plain::clean;
use bakeoff_model::plan::{Plan, Variant};
use bakeoff_model::study::{Source, SourceFrom};
use bakeoff_model::until::Until;
use std::fmt::Write as _;

mod cells;
mod relinking;
pub(super) mod takes;

/// Show what a study would do: variants, builds, blocks, and how long it may take
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    extent: Extent,
    /// Show the order of every block
    #[arg(long)]
    order: bool,
    #[command(flatten)]
    jobs: Jobs,
}

pub(crate) fn execute(args: &Args, features: &Registry) -> Result<Code, CommandError> {
    let folder = StudyFolder::open(&args.selection.study, features)?;
    let mut plan = args.selection.plan(&folder.study)?;
    args.extent.apply(&mut plan)?;
    folder.expected()?;
    let cache = Cache::open(Cache::default_root()?)?;
    let builds = survey(&cache, &Request::of(&folder, &plan, args.jobs.at_a_time()))?;
    let mut text = head(&plan);
    text.push_str(&builds_text(&plan, &builds));
    text.push_str(&commits_text(&folder.study.sources));
    text.push('\n');
    text.push_str(&takes::text(&folder, &plan, &builds, &cache, args.jobs.at_a_time()));
    text.push_str(&relinking::text(&plan, &folder.study.layers, &builds));
    if args.order {
        text.push_str(&order_text(&plan));
    }
    screen::out(&text);
    Ok(Code::Done)
}

fn head(plan: &Plan) -> String {
    let mut out = format!("Study {}, plan {}\n", plan.study, plan.name);
    if let Some(question) = &plan.question {
        let _ = writeln!(out, "{question}");
    }
    let _ = writeln!(out, "\nVariants: {}", plan.variants.len());
    for variant in &plan.variants {
        let levels: Vec<String> = variant.levels.iter().map(|(f, l)| format!("{f}={l}")).collect();
        if variant.name == bakeoff_model::plan::BASELINE {
            let _ = writeln!(out, "  {}  ({})", variant.name, levels.join(" "));
        } else {
            let _ = writeln!(out, "  {}", variant.name);
        }
    }
    out.push_str("  and a hidden twin of the baseline in every block, to show the machine's noise floor\n");
    if !plan.excluded.is_empty() {
        let _ = writeln!(out, "\nExcluded: {}", plan.excluded.len());
    }
    for excluded in &plan.excluded {
        let _ = writeln!(out, "  {}: {}", excluded.name, excluded.reason);
    }
    let names = |list: Vec<&str>| list.join(", ");
    let workloads = names(plan.workloads.iter().map(|w| w.name.as_str()).collect());
    let conditions = names(plan.conditions.iter().map(|c| c.name.as_str()).collect());
    let cells = plan.variants.len() * plan.workloads.len() * plan.conditions.len();
    let _ = writeln!(out, "\nWorkloads: {workloads}; conditions: {conditions}; cells: {cells}");
    out.push_str(&cells::text(plan));
    if let Some(locale) = locale::shown(&locale::of_user()) {
        let _ = writeln!(out, "Locale: {} (yours), where neither a condition nor a level sets another", clean(&locale));
    }
    let _ = writeln!(
        out,
        "Blocks: {}{} for each workload and condition{}, seed {}; {} trials in all",
        at_most(plan),
        plan.blocks,
        rule(plan),
        plan.seed,
        plan.trials()
    );
    let least = bakeoff_stats::blocks::least(1.0 - plan.decide.confidence);
    if plan.blocks < least {
        let _ = writeln!(
            out,
            "  That is too few: at least {least} blocks are needed to show any difference at this confidence"
        );
    }
    out.push_str(&cells::rules(plan));
    let [margin, confidence] = [plan.decide.margin, plan.decide.confidence].map(percent);
    let metrics = plan.decide.metrics.join(", ");
    let _ = writeln!(out, "Judged: {metrics}; margin ±{margin}, confidence {confidence}");
    out
}

/// When it stops before that.
fn rule(plan: &Plan) -> String {
    match plan.until {
        Until::Blocks => String::new(),
        Until::Precision(_) => format!(", until every interval is within {}", plan.until),
        Until::Anytime => ", until every variant has a verdict, whenever that is".to_owned(),
        Until::Decided => {
            let looks = bakeoff_stats::spending::looks(plan.blocks);
            let looks: Vec<String> = looks.iter().map(u32::to_string).collect();
            format!(", until every variant has a verdict, looked at after {}", looks.join(", "))
        }
    }
}

fn builds_text(plan: &Plan, builds: &[Wanted]) -> String {
    if builds.is_empty() {
        return "\nBuilds: none\n".to_owned();
    }
    let cached = builds.iter().filter(|b| b.layers.iter().all(|l| l.cached)).count();
    let mut out = format!("\nBuilds: {}, of which {cached} in the cache\n", builds.len());
    for build in builds {
        let variants = build.variants.join(", ");
        let digest = &build.digest[..12];
        let state = match (&build.missing_tool, build.missing().next()) {
            _ if build.failed_before.is_some() => "cannot be built, as foreseen".to_owned(),
            (Some(missing), _) => format!("will fail: layer {} {}", missing.layer, missing.why()),
            (None, None) => "in the cache".to_owned(),
            (None, Some(layer)) => format!("to be built from layer {}", layer.name),
        };
        let _ = writeln!(out, "  {digest}  {variants}: {state}");
    }
    if builds.iter().any(|build| is_same_twice(plan, build)) {
        out.push_str("  Variants that share a build are the same program: comparing them shows noise only.\n");
    }
    out
}

/// Which commit each revision is, as it is locked.
fn commits_text(sources: &[Source]) -> String {
    let mut out = String::new();
    for source in sources {
        let (name, what) = match &source.from {
            SourceFrom::Git { revision, .. } => (&source.name, format!("commit {revision}")),
            SourceFrom::Worktree(_) => (&source.name, "the files as they are now".to_owned()),
            _ => continue,
        };
        let _ = writeln!(out, "  source {}: {}", clean(name), clean(&what));
    }
    out
}

/// Whether two variants execute this build, and no run factor tells them apart.
fn is_same_twice(plan: &Plan, build: &Wanted) -> bool {
    let of_build: Vec<_> = plan.variants.iter().filter(|variant| build.variants.contains(&variant.name)).collect();
    let same =
        |former: &&Variant, latter: &&Variant| former.run == latter.run && former.run_variables == latter.run_variables;
    of_build.iter().enumerate().any(|(at, variant)| of_build[..at].iter().any(|before| same(before, variant)))
}

fn order_text(plan: &Plan) -> String {
    let mut out = String::from("\nOrder:\n");
    for block in (1..=plan.blocks).flat_map(|pass| plan.pass(pass)) {
        let order = block.order.join(", ");
        let _ = writeln!(out, "  {:>4}  {} ({}): {order}", block.block, block.workload, block.condition);
    }
    out
}
