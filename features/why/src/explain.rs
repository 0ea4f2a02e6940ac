//! `bakeoff explain` as far as causes are concerned: which variants are in question, what has to be gathered of them, and the
//! explanation on the screen. The core runs the study.

use crate::account::{self, export};
use crate::accounts::{self, Pairs};
use crate::confirm;
use crate::diagnosis;
use crate::findings::{Diagnosis, PairAccount};
use crate::page::{self, not_gathered};
use crate::spec::{EvidenceSpec, NAME};
use bakeoff_command::{CommandError, Confirmation, StudySections, screen};
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
const CONFIRM: &str = "confirm";

pub(crate) fn options(command: clap::Command) -> clap::Command {
    let flag = |name: &'static str, help: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    command
        .arg(Arg::new(VARIANTS).value_name("VARIANT").num_args(0..=2).index(2).help(
            "The variant to explain; or A and B, to explain how B differs from A [default: each variant that was shown \
                to differ from the baseline]",
        ))
        .arg(Arg::new(WORKLOAD).long(WORKLOAD).value_name("NAME").help("Explain only this workload [default: all]"))
        .arg(flag(FUNCTIONS, "Also print all functions that differ"))
        .arg(flag(CSV, "Print all functions as CSV").conflicts_with(JSON))
        .arg(flag(JSON, "Print the explanation as JSON"))
        .arg(
            flag(CONFIRM, "Also run a level that isolates the first cause of each difference, to show or refute it")
                .conflicts_with_all([CSV, JSON]),
        )
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

    /// Whether a study has all of them.
    fn check(&self, variants: &[&str], workloads: &[&str], baseline: &str) -> Result<(), CommandError> {
        for (what, name, known) in [
            ("variant", &self.against, variants),
            ("variant", &self.variant, variants),
            ("workload", &self.workload, workloads),
        ] {
            if let Some(name) = name.as_deref().filter(|name| !known.contains(name)) {
                let error = format!("there is no {what} `{}`", clean(name));
                return Err(CommandError::usage(error).hint(format!("there are: {}", clean(&known.join(", ")))));
            }
        }
        let baseline = self.against.as_deref().unwrap_or(baseline);
        if self.variant.as_deref() == Some(baseline) {
            let error = format!("`{}` cannot be compared with itself", clean(baseline));
            return Err(CommandError::usage(error).hint("name another variant, or two"));
        }
        Ok(())
    }
}

/// Has instructions counted, and user time sampled: of the workloads and variants in question.
pub(crate) fn gather(matches: &ArgMatches, plan: &Plan, sections: &mut StudySections) -> Result<(), CommandError> {
    let named = Named::of(matches);
    let variants: Vec<&str> = plan.variants.iter().map(|variant| variant.name.as_str()).collect();
    let workloads: Vec<&str> = plan.workloads.iter().map(|workload| workload.name.as_str()).collect();
    named.check(&variants, &workloads, &plan.baseline().name)?;
    let mut spec = EvidenceSpec::of(sections.get(NAME));
    let workloads = plan.workloads.iter().map(|workload| workload.name.clone());
    spec.count = workloads.filter(|name| named.workload.as_ref().is_none_or(|only| only == name)).collect();
    let baseline = named.against.unwrap_or_else(|| plan.baseline().name.clone());
    spec.of = Some(named.variant.map_or_else(Vec::new, |variant| vec![baseline, variant]));
    spec.with_siblings = is_set(matches, CONFIRM);
    spec.samples = true;
    sections.insert(NAME.to_owned(), serde_json::to_value(spec)?);
    Ok(())
}

fn is_set(matches: &ArgMatches, name: &str) -> bool {
    matches.try_get_one::<bool>(name).is_ok_and(|flag| flag == Some(&true))
}

/// What is explained.
struct Explained {
    accounts: Vec<PairAccount>,
    /// One for each.
    diagnoses: Vec<Diagnosis>,
}

impl Explained {
    fn of(matches: &ArgMatches, record: &Record, findings: &Findings) -> Self {
        let Named { against, variant, workload } = Named::of(matches);
        let pairs = Pairs { against: against.as_deref(), variant: variant.as_deref(), workload: workload.as_deref() };
        let record = record.without_building();
        let mut accounts = accounts::of(&record, pairs);
        if variant.is_none() {
            accounts.retain(|pair| accounts::differs(findings, &pair.variant));
        }
        let diagnoses = diagnosis::diagnoses(&record, &accounts, findings);
        Self { accounts, diagnoses }
    }
}

/// Prints the accounts of the pairs in question.
pub(crate) fn print(matches: &ArgMatches, record: &Record, findings: &Findings) -> Result<(), CommandError> {
    let variants: Vec<&str> = record.study.variants.iter().map(|variant| variant.name.as_str()).collect();
    let workloads: Vec<&str> = record.study.workloads.iter().map(String::as_str).collect();
    Named::of(matches).check(&variants, &workloads, variants.first().copied().unwrap_or_default())?;
    let Explained { accounts, diagnoses } = Explained::of(matches, record, findings);
    let missing = accounts::missing(record);
    if is_set(matches, JSON) {
        let all = serde_json::json!({ "accounts": accounts, "causes": diagnoses, "missing": missing });
        screen::json(&serde_json::to_string_pretty(&all)?);
        return Ok(());
    }
    let width = screen::style().width;
    let mut page = Page::default();
    missing.iter().for_each(|missing| not_gathered(missing, &mut page, width));
    if is_set(matches, CSV) {
        screen::out(&export::csv(&accounts));
        screen::err(&page.print(false));
        return Ok(());
    }
    if accounts.is_empty() && missing.is_empty() {
        let differs = variants.iter().any(|variant| accounts::differs(findings, variant));
        let text = if differs || Named::of(matches).variant.is_some() {
            "The journal has no counts of these variants; name the study instead to count them."
        } else {
            "No variant was shown to differ from the baseline on the deciding metric, so there is nothing to explain. More \
             blocks, or a metric with less noise such as cpu, may show a difference. In a study, you can name a variant to \
             explain it in any case."
        };
        page.paragraph(text, width, 0, Ink::Plain);
    }
    for (pair, diagnosis) in accounts.iter().zip(&diagnoses) {
        account::page::print(&pair.account, [&pair.against, &pair.variant], &mut page, width);
        if is_set(matches, FUNCTIONS) {
            account::page::functions(&pair.account, &mut page, width);
        }
        // What is read first stands last on a terminal.
        page::diagnoses::print(diagnosis, &mut page, width);
        if let Some((mechanism, confirmation)) = confirm::first(pair, diagnosis).filter(|_| !is_set(matches, CONFIRM)) {
            page::diagnoses::hint(mechanism, &confirmation, &mut page, width);
        }
    }
    screen::page(&page.print(screen::style().colour), false);
    Ok(())
}

/// The first cause of each pair in question that a level can isolate, if that is asked for.
pub(crate) fn to_confirm(
    matches: &ArgMatches,
    record: &Record,
    findings: &Findings,
) -> Result<Vec<Confirmation>, CommandError> {
    if !is_set(matches, CONFIRM) {
        return Ok(vec![]);
    }
    let Explained { accounts, diagnoses } = Explained::of(matches, record, findings);
    let confirmations: Vec<Confirmation> = accounts
        .iter()
        .zip(&diagnoses)
        .filter_map(|(pair, diagnosis)| Some(confirm::first(pair, diagnosis)?.1))
        .collect();
    if confirmations.is_empty() && !accounts.is_empty() {
        screen::err("nothing to confirm: Bakeoff knows no level that would isolate any of the causes not yet shown\n");
    }
    Ok(confirmations)
}

/// Has the instructions of both variants of a confirmation counted, and of the baseline.
pub(crate) fn gather_confirming(
    confirmation: &Confirmation,
    plan: &Plan,
    sections: &mut StudySections,
) -> Result<(), CommandError> {
    let all = plan.variants.iter().map(|variant| variant.name.clone()).collect();
    let spec = EvidenceSpec { count: vec![confirmation.workload.clone()], of: Some(all), ..EvidenceSpec::default() };
    sections.insert(NAME.to_owned(), serde_json::to_value(spec)?);
    Ok(())
}

/// Prints the causes again, with what the level says of them.
pub(crate) fn confirmed(confirmation: &Confirmation, record: &Record, findings: &Findings) {
    let Confirmation { variant, against, changed, workload, level } = confirmation;
    let pairs = Pairs { against: Some(against), variant: Some(variant), workload: Some(workload) };
    let record = record.without_building();
    let accounts = accounts::of(&record, pairs);
    let width = screen::style().width;
    let mut page = Page::default();
    accounts::missing(&record).iter().for_each(|missing| not_gathered(missing, &mut page, width));
    for diagnosis in diagnosis::diagnoses(&record, &accounts, findings) {
        page::diagnoses::print(&diagnosis, &mut page, width);
    }
    if let Some(mechanism) = confirm::mechanism(level) {
        let with = record.study.variants.iter().find(|one| one.levels.values().any(|name| *name == level.name));
        let pair = [changed.as_str(), with.map_or("", |with| with.name.as_str())];
        let outcome = diagnosis::outcome(&record, findings, workload, pair, mechanism);
        outcome.iter().for_each(|outcome| page::diagnoses::outcome(outcome, confirmation, mechanism, &mut page, width));
    }
    screen::page(&page.print(screen::style().colour), false);
}
