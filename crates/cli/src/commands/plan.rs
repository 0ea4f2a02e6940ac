//! `bakeoff plan`: what a study would do, before it does it. It builds and executes nothing.

use super::options::Extent;
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::estimates::{about, at_most, trials_s};
use bakeoff_command::selection::{Jobs, Selection};
use bakeoff_command::study_folder::StudyFolder;
use bakeoff_command::{Foreseen, Order, Registry, locale, screen};
use bakeoff_model::percent::percent;
use bakeoff_model::plain::clean;
use bakeoff_model::plan::Plan;
use bakeoff_model::until::Until;
use std::fmt::Write as _;

mod cells;

/// Show what a study would do, and how long it may take
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    extent: Extent,
    /// Show the order of the trials in every block
    #[arg(long)]
    order: bool,
    #[command(flatten)]
    jobs: Jobs,
}

pub(crate) fn execute(args: &Args, features: &Registry) -> Result<Code, CommandError> {
    let folder = StudyFolder::open(&args.selection.study, features)?;
    let mut plan = args.selection.plan(&folder.study)?;
    args.extent.apply(&mut plan, None)?;
    args.extent.apply_layouts(&mut plan)?;
    folder.expected()?;
    let order = folder.order(&plan, args.jobs.at_a_time(), false);
    let foreseen = match features.maker(&folder.study)? {
        Some(maker) => maker.foresee(&order)?,
        None => Foreseen { variants: "\nBuilds: none\n".to_owned(), ..Foreseen::default() },
    };
    if foreseen.has_one_layout {
        plan.keep_layouts();
    }
    let order = folder.order(&plan, args.jobs.at_a_time(), false);
    let mut text = head(&plan);
    text.push_str(&foreseen.variants);
    text.push('\n');
    text.push_str(&takes(&order, &foreseen));
    text.push_str(&foreseen.during);
    if args.order {
        text.push_str(&order_text(&plan));
    }
    screen::out(&text);
    Ok(Code::Done)
}

/// What the study takes before it has its answer, as far as anybody knows.
pub(super) fn takes(order: &Order<'_>, foreseen: &Foreseen) -> String {
    let (plan, mut out) = (order.plan, foreseen.takes.clone());
    let trials_s = trials_s(order.dir, plan);
    match trials_s {
        Some(trials_s) => _ = writeln!(out, "Trials: {}{}", at_most(plan), about(trials_s)),
        None => out.push_str("Trials: not timed yet; set `takes` in [workloads.NAME] to get an estimate\n"),
    }
    if let Some((all_s, trials_s)) = foreseen.takes_s.zip(trials_s).filter(|(all_s, _)| *all_s > 0.0) {
        let _ = writeln!(out, "In all: {}{}", at_most(plan), about(all_s + trials_s));
    }
    out
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
        let _ = writeln!(out, "Locale: {} (yours), unless a condition or a level sets another", clean(&locale));
    }
    let _ = writeln!(
        out,
        "Blocks: {}{} for each workload and condition{}; seed {}; {}{} trials in all",
        at_most(plan),
        plan.blocks,
        rule(plan),
        plan.seed,
        at_most(plan),
        plan.trials()
    );
    let least = bakeoff_stats::blocks::least(1.0 - plan.decide.confidence);
    if plan.blocks < least {
        let _ =
            writeln!(out, "  Use at least {least} blocks; with fewer, no difference can be shown at this confidence");
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
        Until::Anytime => ", until every variant has a verdict, checked after every pass".to_owned(),
        Until::Decided => {
            let looks = bakeoff_stats::spending::looks(plan.blocks);
            let looks: Vec<String> = looks.iter().map(u32::to_string).collect();
            format!(", until every variant has a verdict, checked after {} blocks", looks.join(", "))
        }
    }
}

fn order_text(plan: &Plan) -> String {
    let mut out = String::from("\nOrder:\n");
    for block in (1..=plan.blocks).flat_map(|pass| plan.pass(pass)) {
        let order = block.order.join(", ");
        let _ = writeln!(out, "  {:>4}  {} ({}): {order}", block.block, block.workload, block.condition);
    }
    out
}
