//! Why: what may have caused a difference. Facts of the builds' files, diagnostic trials under a tracer, and what of both is
//! consistent with what was decided. It changes no verdict, and compares nothing; only its [`counting::instrument`]
//! is used for trials that are judged.
//!
//! In the order in which a study meets it: [`spec`] reads `[evidence]`; when the trials are over, [`gather`] reads files
//! ([`reading`]), runs [`trials`] with the probe [`trace`] and lets the [`census`] watch the kernel; each piece of
//! [`evidence`] is a line of the journal; [`diagnosis`] makes the section of the [`findings`] of them, and [`page`] draws it.

mod account;
mod accounts;
pub mod census;
mod command;
mod confirm;
mod counting;
pub mod counts;
mod diagnosis;
pub mod evidence;
mod explain;
pub mod facts;
mod facts_page;
mod findings;
mod gather;
pub mod kernel;
mod page;
mod probing;
pub mod reading;
mod relinked;
mod sampler;
pub mod samples;
mod spec;
mod trace;
pub mod trials;
mod watcher;

use bakeoff_command::{
    Conclusion, Explainer, Feature, FeatureFindings, FindingsSection, Gathering, Group, OwnTrials, Registry,
    Subcommand, TRACE_TRIAL, own_command,
};
use bakeoff_report::SectionPage;

/// The slice.
#[derive(Debug)]
pub struct Why;

impl Feature for Why {
    fn register(&self, to: &mut Registry) {
        to.commands.push(Subcommand::with_features("facts", command::execute).group(Group::Build));
        to.commands.push(Subcommand::new(watcher::WATCH_TRIAL, watcher::execute).hidden());
        to.sections.push(&spec::EvidenceSection);
        to.instruments.push(counting::instrument::INSTRUMENT);
        to.gatherings.push(Gathering {
            line: evidence::LINE,
            gather: gather::facts,
            trials: Some(OwnTrials {
                are_missing: gather::has_missing_trials,
                execute: |study, executor| gather::traces(study, executor, &own_command(TRACE_TRIAL)),
            }),
        });
        to.gatherings.push(Gathering {
            line: counts::LINE,
            gather: |_| Ok(()),
            trials: Some(OwnTrials { are_missing: counting::gather::are_missing, execute: counting::gather::counts }),
        });
        to.gatherings.push(Gathering {
            line: kernel::LINE,
            gather: |_| Ok(()),
            trials: Some(OwnTrials { are_missing: kernel::gather::are_missing, execute: kernel::gather::watch }),
        });
        to.gatherings.push(Gathering {
            line: samples::LINE,
            gather: |_| Ok(()),
            trials: Some(OwnTrials { are_missing: samples::gather::are_missing, execute: samples::gather::sample }),
        });
        to.explainers.push(Explainer {
            options: explain::options,
            gather: explain::gather,
            print: explain::print,
            to_confirm: explain::to_confirm,
            gather_confirming: explain::gather_confirming,
            confirmed: explain::confirmed,
        });
        to.conclusions.push(Conclusion {
            options: |command| command,
            check: |_| Ok(()),
            exits: &[],
            takes_output: |_| false,
            decides: |_| false,
            conclude: |_, concluded| relinked::conclude(concluded),
        });
        to.findings.push(FindingsSection {
            page: SectionPage { name: findings::SECTION, draw: page::print, causes: page::causes, below_doubts: false },
            needs_levels: |record| record.features.iter().any(|line| line.kind() == evidence::LINE),
            find: |record, findings| {
                let gathered = diagnosis::gathered(&record.without_building(), findings);
                FeatureFindings::section(
                    findings::SECTION,
                    gathered.and_then(|gathered| serde_json::to_value(gathered).ok()),
                )
            },
        });
    }
}
