//! The options that several commands share, and what each of them asks for. A command's own stand in its file.

use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::{Concluded, FeatureArgs, Registry, screen};
use bakeoff_judge::findings::{Findings, Verdict};
use bakeoff_lab::Ending;
use bakeoff_model::plain::clean;
use bakeoff_model::plan::Plan;
use bakeoff_model::record::Record;
use bakeoff_model::study::Layouts;
use bakeoff_model::study_file::MOST_BLOCKS;
use bakeoff_model::until::{self, Until};
use bakeoff_report::format::percent;
use bakeoff_report::words::counted;
use bakeoff_report::{Cause, Context, SECTIONS, SectionPage, TimeUnit, terminal_with};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ColorChoice};
use std::path::{Path, PathBuf};

/// How long a study is.
#[derive(Debug, Args)]
pub(super) struct Extent {
    /// Run N blocks per workload and condition instead of the number in the plan. A larger N extends a finished study,
    /// unless the study has a stopping rule
    ///
    /// By default, `compare` runs 12 blocks, or 3 if it counts instructions without hardware counters.
    #[arg(long, short, visible_alias = "runs", visible_short_alias = 'r', value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=MOST_BLOCKS))]
    blocks: Option<u32>,
    /// When to stop: `decided`, `anytime`, a precision such as `±1%` (or `1%`), or `blocks`
    ///
    /// `decided` and `anytime` stop when every variant has a verdict: `decided` checks up to five times, and `anytime`
    /// checks after every pass (one block per workload and condition). `±1%` stops when every interval is that narrow;
    /// `blocks` runs all planned blocks. The rule is fixed before the first block and applies to the deciding metric.
    /// Except with `blocks`, the maximum is `--blocks`: 200 by default, or 40 for `decided`.
    #[arg(long, value_name = "RULE", value_parser = until)]
    until: Option<Until>,
    /// Keep running variants that failed in each of their first three blocks
    #[arg(long)]
    keep_going: bool,
    /// Layouts of the built programs: `fresh` links them again for each pass; `one` measures the files as built
    /// [default: the study's `layouts`; otherwise `fresh`, if the links can be repeated]
    ///
    /// `both` measures both, as two conditions. A number, such as 6, is for programs that take long to link: Bakeoff
    /// makes that many layouts and uses each for the same number of passes. Each layout then has the same weight.
    #[arg(long, value_name = "HOW", value_parser = Layouts::parse)]
    layouts: Option<Layouts>,
    /// Do not trace the variants after the trials
    ///
    /// A traced run shows which files a variant uses. Without a traced run, Bakeoff does not notice changes to files
    /// that no command names, either during the trials or before you resume.
    #[arg(long)]
    no_trace: bool,
}

const NO_LAYOUTS: &str = "use --layouts with a study that has build factors, or with `compare --git`";

impl Extent {
    /// What a session has to know to trace which files are used; below these folders they are of no interest.
    pub(super) fn trace(&self, apart: &[&Path]) -> Option<Vec<PathBuf>> {
        (!self.no_trace).then(|| apart.iter().map(|&folder| folder.to_owned()).collect())
    }

    /// Where a rule has at most `most` blocks unless it says otherwise.
    pub(super) fn apply(&self, plan: &mut Plan, most: Option<u32>) -> Result<(), CommandError> {
        plan.keep_going = self.keep_going;
        let hint = "raise --blocks, or leave it out";
        plan.extend(self.until, self.blocks.or(most.filter(|_| self.until.is_some())))
            .map_err(|why| CommandError::usage(why).hint(hint))
    }

    /// The options that ask for the same, but for the number of blocks.
    pub(super) fn words(&self) -> Vec<String> {
        let until = self.until.map(|rule| ["--until".to_owned(), rule.to_string()]);
        let layouts = self.layouts.map(|how| ["--layouts".to_owned(), how.to_string()]);
        let goes_on = self.keep_going.then(|| "--keep-going".to_owned());
        until.into_iter().chain(layouts).flatten().chain(goes_on).collect()
    }

    /// Whether the command line says how many blocks there are.
    pub(super) fn has_length(&self) -> bool {
        self.blocks.is_some() || self.until.is_some()
    }

    /// Whether the command line asks for files as they were built.
    pub(super) fn asks_for_one_layout(&self) -> bool {
        self.layouts == Some(Layouts::One)
    }

    /// In how many layouts programs are measured, if the command line says so.
    pub(super) fn apply_layouts(&self, plan: &mut Plan) -> Result<(), CommandError> {
        if let Some(how) = self.layouts {
            plan.set_layouts(how).map_err(|why| CommandError::usage(why).hint(NO_LAYOUTS))?;
        }
        plan.check_layouts().map_err(|(why, hint)| CommandError::usage(why).hint(hint))?;
        let confidence = plan.decide.confidence;
        let least = bakeoff_stats::blocks::least(1.0 - confidence);
        // Fewer than 6 are judged by Student's t.
        match plan.layouts.filter(|layouts| (bakeoff_judge::SIGN_FLIP_MIN as u32..least).contains(layouts)) {
            Some(layouts) => {
                let why = format!("{layouts} layouts cannot show a difference at confidence {}", percent(confidence));
                Err(CommandError::usage(why).hint(format!("use at least {least} layouts, or --layouts fresh")))
            }
            None => Ok(()),
        }
    }

    /// Leaves the programs as they were built if these have no other layouts.
    pub(super) fn keep_layouts_without(&self, has_layouts: bool, plan: &mut Plan) -> Result<(), CommandError> {
        if plan.counted.is_some() {
            plan.keep_layouts();
        }
        if has_layouts || !plan.relinks() {
            return Ok(());
        }
        plan.keep_layouts();
        match self.layouts {
            Some(how) if how != Layouts::One => {
                let error = "--layouts: not every build has a program whose link can be repeated";
                Err(CommandError::usage(error)
                    .hint("the logs of the builds show why; without --layouts, programs are measured as built"))
            }
            _ => Ok(()),
        }
    }
}

fn until(text: &str) -> Result<Until, String> {
    Until::parse(text).ok_or_else(|| until::REMEDY.to_owned())
}

/// What keeps together all that is started.
#[derive(Debug, Args)]
pub(super) struct Kept {
    /// Run everything in a user namespace, so that no process survives if Bakeoff itself is killed
    ///
    /// Root does not need this option, because Bakeoff uses a PID namespace wherever one is permitted. In a user
    /// namespace, files of other users appear to belong to `nobody`.
    #[arg(long, help_heading = None::<&str>)]
    user_namespace: bool,
}

impl Kept {
    /// Whether the command line asks for a user namespace.
    pub(super) fn is_asked(&self) -> bool {
        self.user_namespace
    }

    /// To be called before there is a second thread.
    pub(super) fn apply(&self) -> Result<(), CommandError> {
        if !self.user_namespace {
            return Ok(());
        }
        let failed = |what: &str, why: &str| {
            CommandError::usage(format!("cannot create a {what}: {why}"))
                .hint("omit --user-namespace; if Bakeoff is killed, its next run kills the remaining processes")
        };
        bakeoff_host::user_namespace::enter().map_err(|error| failed("user namespace", &error.to_string()))?;
        // Some containers permit the one and not what it is for.
        match bakeoff_host::Enclosure::open(None).why_no_namespace() {
            None => Ok(()),
            Some(why) => Err(failed("PID namespace in a user namespace", why)),
        }
    }
}

fn is_section(name: &str, pages: &[SectionPage]) -> Result<(), CommandError> {
    let names: Vec<&str> = SECTIONS.iter().copied().chain(pages.iter().map(|page| page.name)).collect();
    match names.contains(&name) {
        true => Ok(()),
        false => Err(CommandError::usage(format!("there is no section `{}`", clean(name)))
            .hint(format!("there are: {}", names.join(", ")))),
    }
}

/// How findings are shown, and what the exit code says of them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Report")]
pub(super) struct Showing {
    /// Print all findings as JSON instead of the report
    #[arg(long)]
    pub(super) json: bool,
    /// Print all tables, effects, doubts, builds and failures instead of a one-screen summary
    #[arg(long, visible_alias = "verbose", conflicts_with = "json")]
    all: bool,
    /// Print one section of --all: answer, outputs, effects, tables, nodes, latencies, conditions, building, doubts,
    /// builds, failed, provenance, evidence, harness or saved
    #[arg(long, value_name = "NAME", conflicts_with_all = ["json", "all"])]
    section: Option<String>,
    /// Exit with 3 unless every variant has a verdict on the deciding metric
    #[arg(long)]
    require_verdict: bool,
    #[command(flatten)]
    look: Look,
    #[command(flatten)]
    pub(super) asked: FeatureArgs,
}

/// How the report looks.
#[derive(Debug, Args)]
struct Look {
    /// Sort rows by result, best first (`auto`, `mean-time`), or keep the order of the command line or the study
    /// (`command`)
    #[arg(long, value_name = "ORDER", default_value = "auto")]
    sort: Sort,
    /// Show times in this unit; numbers in CSV and JSON are always in seconds
    #[arg(long, short = 'u', value_name = "UNIT", value_parser = time_unit())]
    time_unit: Option<TimeUnit>,
    /// When to use colour
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,
    /// Colour and progress: one of hyperfine's styles
    ///
    /// `full`: colour and progress; `color`: colour only; `nocolor`: progress only; `basic`: neither; `none`: no report
    /// either.
    #[arg(long, value_name = "STYLE", default_value = "auto")]
    style: Looks,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Sort {
    Auto,
    Command,
    MeanTime,
}

fn time_unit() -> impl TypedValueParser<Value = TimeUnit> {
    PossibleValuesParser::new(["second", "millisecond", "microsecond"]).map(|name| match name.as_str() {
        "second" => TimeUnit::Second,
        "millisecond" => TimeUnit::Millisecond,
        _ => TimeUnit::Microsecond,
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Looks {
    Auto,
    Basic,
    Full,
    Nocolor,
    Color,
    None,
}

impl Look {
    /// Whether there is colour, where it does not depend on the terminal.
    fn colour(&self) -> Option<bool> {
        match (self.color, self.style) {
            (ColorChoice::Always, _) | (ColorChoice::Auto, Looks::Full | Looks::Color) => Some(true),
            (ColorChoice::Never, _) | (ColorChoice::Auto, Looks::Basic | Looks::Nocolor) => Some(false),
            (ColorChoice::Auto, Looks::Auto | Looks::None) => None,
        }
    }
}

/// What a comparison that has no study has come to.
pub(super) struct Compared<'a> {
    /// Its journal, if it is kept.
    pub(super) journal: Option<&'a Path>,
    pub(super) is_last: bool,
    pub(super) record: &'a Record,
    pub(super) findings: Findings,
    pub(super) ending: Ending,
    /// Whether some of what was asked for stands next to the rest without a pair, and so without a verdict.
    pub(super) has_unpaired: bool,
}

impl Showing {
    pub(super) fn is_quiet(&self) -> bool {
        matches!(self.look.style, Looks::Basic | Looks::Color | Looks::None)
    }

    /// Whether all that is asked for can be done; to be called before anything is executed.
    pub(super) fn check(&self, features: &Registry) -> Result<(), CommandError> {
        screen::use_colour(self.look.colour());
        if features.take_output(&self.asked) && (self.json || self.all || self.section.is_some()) {
            let error = "`-` cannot be combined with --json, --all or --section";
            return Err(CommandError::usage(error).hint("name a file instead of `-`, or omit the other option"));
        }
        features.check(&self.asked)
    }

    /// Prints the findings of a record that was just executed.
    pub(super) fn show_new(&self, record: &Record, more: &str, features: &Registry) -> Result<Code, CommandError> {
        let findings = features.judge(record);
        self.show_findings(record, &findings, more, true, features)
    }

    /// The same of a comparison that has no study, and what its ending means.
    pub(super) fn show_compared(&self, compared: &Compared<'_>, features: &Registry) -> Result<Code, CommandError> {
        let more = match compared.journal {
            Some(journal) => format!("bakeoff report {}", clean(&journal.display().to_string())),
            None if compared.is_last => "bakeoff report --last".to_owned(),
            None => "bakeoff compare …".to_owned(),
        };
        let code = self.show_findings(compared.record, &compared.findings, &more, true, features)?;
        match compared.ending {
            Ending::Complete if compared.has_unpaired && self.require_verdict => Ok(code.worst(Code::Undecided)),
            Ending::Complete => Ok(code),
            Ending::Changed => Ok(Code::Usage),
            Ending::Stopped => {
                let findings = &compared.findings;
                let kept = match compared.journal {
                    Some(journal) => {
                        format!(
                            "the trials are in {}; run the same command again to resume",
                            clean(&journal.display().to_string())
                        )
                    }
                    None if compared.is_last => {
                        "`bakeoff report --last` shows the trials; next time, use --journal FILE to be able to resume"
                            .to_owned()
                    }
                    None => {
                        "the trials were not kept; next time, use --journal FILE to keep them and be able to resume"
                            .to_owned()
                    }
                };
                screen::err(&format!(
                    "stopped after {} of {}: {kept}\n",
                    findings.blocks_finished,
                    counted(findings.blocks_total, "block")
                ));
                Ok(Code::Interrupted)
            }
        }
    }

    /// What it is worth that all variants are one program, of which this is the record, without a trial. Where that is
    /// an answer, it is printed, and written wherever findings were asked for; an error is one, unless a feature knows
    /// an answer.
    pub(super) fn without_trials(
        &self,
        record: &Record,
        otherwise: Result<String, CommandError>,
        features: &Registry,
    ) -> Result<Code, CommandError> {
        let (findings, pages) = (features.judge(record), features.pages());
        let concluded = self.concluded(record, &findings, &[], &pages);
        let answer = match otherwise {
            Ok(answer) => answer,
            Err(error) => return features.decide(&self.asked, &concluded)?.ok_or(error),
        };
        if features.take_output(&self.asked) || self.look.style == Looks::None {
            // As with any other report.
        } else if self.json {
            screen::json(&bakeoff_report::json(&findings, std::env::var("HOME").ok().as_deref())?);
        } else {
            screen::out(&answer);
        }
        features.conclude(&self.asked, &concluded, Code::Done)
    }

    /// Prints the findings of a record, of only these variants, and returns the exit code that they deserve. What was
    /// asked instead of the study's own question comes first.
    pub(super) fn show(
        &self,
        record: &Record,
        more: &str,
        asked: Vec<String>,
        only: &[String],
        features: &Registry,
    ) -> Result<Code, CommandError> {
        let mut findings = features.judge(record);
        findings.asked = asked;
        if let Some(unknown) = findings.retain(only) {
            let known = findings.variants.iter().map(|variant| clean(&variant.name)).collect::<Vec<_>>().join(", ");
            return Err(CommandError::usage(format!("the journal has no variant `{}`", clean(&unknown)))
                .hint(format!("there are: {known}")));
        }
        self.show_findings(record, &findings, more, false, features)
    }

    /// `more` is the command that prints more of it; `is_raced` that of [`Concluded`].
    fn show_findings(
        &self,
        record: &Record,
        findings: &Findings,
        more: &str,
        is_raced: bool,
        features: &Registry,
    ) -> Result<Code, CommandError> {
        let pages = [vec![bakeoff_report::SAVED], features.pages()].concat();
        if let Some(name) = &self.section {
            is_section(name, &pages)?;
        }
        let causes = features.causes(findings);
        if features.take_output(&self.asked) || self.look.style == Looks::None {
            // What is asked for takes the place of the report.
        } else if self.json {
            screen::json(&bakeoff_report::json(findings, std::env::var("HOME").ok().as_deref())?);
        } else if self.all || self.section.is_some() {
            let only = self.section.as_deref();
            screen::out(&terminal_with(findings, &pages, only, screen::style(), self.look.time_unit));
        } else {
            let as_typed = self.look.sort == Sort::Command;
            let context = Context { more, causes: &causes, as_typed, time_unit: self.look.time_unit };
            screen::out(&bakeoff_report::screen(findings, context, screen::style()));
            if findings.sections.contains_key(bakeoff_report::SAVED.name) {
                let saved = terminal_with(findings, &pages, Some("saved"), screen::style(), self.look.time_unit);
                screen::out(&format!("\n{saved}"));
            }
        }
        let concluded = Concluded { is_raced, ..self.concluded(record, findings, &causes, &pages) };
        features.conclude(&self.asked, &concluded, self.code(findings))
    }

    fn concluded<'a>(
        &self,
        record: &'a Record,
        findings: &'a Findings,
        causes: &'a [Cause],
        pages: &'a [SectionPage],
    ) -> Concluded<'a> {
        Concluded {
            record,
            findings,
            is_raced: false,
            causes,
            pages,
            is_json: self.json,
            time_unit: self.look.time_unit,
        }
    }

    fn code(&self, findings: &Findings) -> Code {
        let is_unmade = findings.besides.unmade.iter().any(|unmade| !unmade.is_foreseen);
        // A cell whose trials are all void was not measured either.
        if is_unmade || findings.failures.iter().any(|f| f.failed > 0 || f.void == f.of) {
            return Code::VariantFailed;
        }
        let deciding = || findings.tables.iter().filter(|t| t.metric == findings.method.deciding_metric);
        // A metric that cannot be measured has no table.
        let is_missing = deciding().next().is_none();
        let undecided = is_missing
            || deciding().flat_map(|t| t.rows.iter().skip(1)).any(|row| {
                row.comparison
                    .as_ref()
                    .is_none_or(|c| matches!(c.verdict, Verdict::Undecided { .. } | Verdict::Withheld))
            });
        if self.require_verdict && undecided { Code::Undecided } else { Code::Done }
    }
}
