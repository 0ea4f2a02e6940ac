//! `bakeoff explain` as far as causes are concerned: which variants are in question, what has to be gathered of them, and the
//! explanation on the screen. The core runs the study.

use crate::account::{self, export};
use crate::accounts::{self, Pairs};
use crate::page::not_gathered;
use crate::spec::{EvidenceSpec, NAME};
use bakeoff_command::{CommandError, StudySections, screen};
use bakeoff_judge::findings::Findings;
use bakeoff_model::plain::clean;
use bakeoff_model::plan::Plan;
use bakeoff_model::record::Record;
use bakeoff_report::draw::paint::{Ink, Page};
use clap::{Arg, ArgAction, ArgMatches};

const VARIANTS: &str = "variants";
const WORKLOAD: &str = "workload";
const FUNCTIONS: &str = "functions";
const CSV: &str = "csv";
const JSON: &str = "json";

pub(crate) fn options(command: clap::Command) -> clap::Command {
    let flag = |name: &'static str, help: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    command
        .arg(
            Arg::new(VARIANTS).value_name("VARIANT").num_args(0..=2).index(2).help(
                "The variant to explain, or two: A and B [default: every variant of the plan, against the baseline]",
            ),
        )
        .arg(Arg::new(WORKLOAD).long(WORKLOAD).value_name("NAME").help("Explain only this workload [default: all]"))
        .arg(flag(FUNCTIONS, "Print all functions that differ, too"))
        .arg(flag(CSV, "Print all functions as CSV").conflicts_with(JSON))
        .arg(flag(JSON, "Print the explanation as JSON"))
}

/// The variants that were named: the one to explain, and what it is compared with.
struct Named {
    against: Option<String>,
    variant: Option<String>,
    workload: Option<String>,
}

impl Named {
    fn of(matches: &ArgMatches) -> Self {
        // Another command may ask for an explanation without these options.
        let names = matches.try_get_many::<String>(VARIANTS).ok().flatten();
        let names: Vec<String> = names.into_iter().flatten().cloned().collect();
        let (against, variant) = match <[String; 2]>::try_from(names) {
            Ok([against, variant]) => (Some(against), Some(variant)),
            Err(names) => (None, names.into_iter().next()),
        };
        Self { against, variant, workload: matches.try_get_one::<String>(WORKLOAD).ok().flatten().cloned() }
    }

    /// Whether the plan has all of them.
    fn check(&self, plan: &Plan) -> Result<(), CommandError> {
        let variants: Vec<&str> = plan.variants.iter().map(|variant| variant.name.as_str()).collect();
        let workloads: Vec<&str> = plan.workloads.iter().map(|workload| workload.name.as_str()).collect();
        for (what, name, known) in [
            ("variant", &self.against, &variants),
            ("variant", &self.variant, &variants),
            ("workload", &self.workload, &workloads),
        ] {
            if let Some(name) = name.as_deref().filter(|name| !known.contains(name)) {
                let error = format!("the plan has no {what} `{}`", clean(name));
                return Err(CommandError::usage(error).hint(format!("there are: {}", clean(&known.join(", ")))));
            }
        }
        let baseline = self.against.as_deref().unwrap_or(&plan.baseline().name);
        if self.variant.as_deref() == Some(baseline) {
            let error = format!("`{}` is what others are compared with", clean(baseline));
            return Err(CommandError::usage(error).hint("name another variant, or two"));
        }
        Ok(())
    }
}

/// Has instructions counted: of the workloads and variants in question.
pub(crate) fn gather(matches: &ArgMatches, plan: &Plan, sections: &mut StudySections) -> Result<(), CommandError> {
    let named = Named::of(matches);
    named.check(plan)?;
    let mut spec = EvidenceSpec::of(sections.get(NAME));
    let workloads = plan.workloads.iter().map(|workload| workload.name.clone());
    spec.count = workloads.filter(|name| named.workload.as_ref().is_none_or(|only| only == name)).collect();
    let baseline = named.against.unwrap_or_else(|| plan.baseline().name.clone());
    spec.of = Some(named.variant.map_or_else(Vec::new, |variant| vec![baseline, variant]));
    sections.insert(NAME.to_owned(), serde_json::to_value(spec)?);
    Ok(())
}

/// Prints the accounts of the pairs in question.
pub(crate) fn print(matches: &ArgMatches, record: &Record, findings: &Findings) -> Result<(), CommandError> {
    let Named { against, variant, workload } = Named::of(matches);
    let pairs = Pairs { against: against.as_deref(), variant: variant.as_deref(), workload: workload.as_deref() };
    let mut accounts = accounts::of(&record.without_building(), pairs);
    if variant.is_none() {
        accounts.retain(|pair| accounts::differs(findings, &pair.variant));
    }
    let missing = accounts::missing(record);
    let flag = |name: &str| matches.try_get_one::<bool>(name).is_ok_and(|flag| flag == Some(&true));
    if flag(JSON) {
        let all = serde_json::json!({ "accounts": accounts, "missing": missing });
        screen::json(&serde_json::to_string_pretty(&all)?);
        return Ok(());
    }
    let width = screen::style().width;
    let mut page = Page::default();
    missing.iter().for_each(|missing| not_gathered(missing, &mut page, width));
    if flag(CSV) {
        screen::out(&export::csv(&accounts));
        screen::err(&page.print(false));
        return Ok(());
    }
    if accounts.is_empty() && missing.is_empty() {
        let text = "No variant was shown to differ from the baseline on the deciding metric, so there is nothing to explain. \
            Name a variant to have its instructions counted nevertheless.";
        page.paragraph(text, width, 0, Ink::Plain);
    }
    for pair in &accounts {
        account::page::print(&pair.account, [&pair.against, &pair.variant], &mut page, width);
        if flag(FUNCTIONS) {
            account::page::functions(&pair.account, &mut page, width);
        }
    }
    screen::page(&page.print(screen::style().colour), false);
    Ok(())
}
