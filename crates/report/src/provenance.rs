//! How it was judged, from how much, where and when: the few lines without which no number above may be believed.

use crate::caveats::study::seen_time;
use crate::draw::paint::{Ink, Page};
use crate::draw::rendered::Rendered;
use crate::draw::text::{clean, glue};
use crate::format::{bytes, count, date, percent};
use crate::words::{self, counted, listed, named};
use bakeoff_judge::findings::{Caveat, Comparison, Findings, Inferred, Layouts, Scale, Stopping, Test};
use bakeoff_model::grouped::{grouped, unique};
use bakeoff_model::record::Place;
use bakeoff_model::until::Until;

pub(crate) fn print(findings: &Findings, page: &mut Page, columns: usize) {
    page.gap();
    paragraphs(findings).iter().for_each(|paragraph| page.paragraph(paragraph.line(), columns, 2, Ink::Aside));
}

/// A paragraph: what it is about, and the rest. Numbers and their units hang together by spaces that do not break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paragraph {
    /// Such as `method`.
    pub what: &'static str,
    /// What is said of it.
    pub text: Rendered,
}

impl Paragraph {
    /// `method: …`.
    pub fn line(&self) -> Rendered {
        text![self.what, ": ", &self.text]
    }
}

/// All of them.
pub fn paragraphs(findings: &Findings) -> Vec<Paragraph> {
    let all = [
        ("method", Some(method(findings))),
        ("stopping", stopping(findings)),
        ("measured", sources(findings)),
        ("counted", counted_instead(findings)),
        ("not measured here", missing(findings)),
        ("study", Some(extent(findings))),
    ];
    let said = all.into_iter().filter_map(|(what, text)| Some(Paragraph { what, text: text?.into() }));
    said.chain([machines(findings)]).collect()
}

fn comparisons(findings: &Findings) -> impl Iterator<Item = &Comparison> {
    let rows = findings.tables.iter().flat_map(|table| table.rows.iter().chain(&table.noise_floor));
    rows.filter_map(|row| row.comparison.as_ref())
}

fn method(findings: &Findings) -> String {
    let tests = unique(comparisons(findings).map(test_words));
    let method = &findings.method;
    let [margin, confidence, narrower] =
        [method.margin, method.confidence, 2.0 * method.confidence - 1.0].map(|x| glue(&percent(x)));
    let limits = format!(
        "margin ±{margin} (equivalent: the {narrower} interval is within the margin); confidence {confidence}."
    );
    if tests.is_empty() {
        return format!("nothing was compared; {limits}");
    }
    let family = match method.family {
        0 | 1 => String::new(),
        // More than a table has are those of a suite's benchmarks.
        family if family as usize >= findings.variants.len() => {
            format!(" the {family} intervals of a suite hold together, and decide the verdicts;")
        }
        family => format!(" the {family} intervals of a table hold together, and decide the verdicts;"),
    };
    let these = claim(findings).map_or(String::new(), |[what, meaning]| format!(" {what}: {meaning}."));
    format!("{};{family} {limits}{these}", tests.join("; "))
}

/// Which builds the claims are about: what was done, and what follows.
pub fn claim(findings: &Findings) -> Option<[String; 2]> {
    if findings.variants.iter().all(|variant| variant.build.is_none()) {
        return None;
    }
    Some(match &findings.layouts {
        Some(layouts) if layouts.passes > 0 => {
            let Layouts { passes, of, matched, few, .. } = layouts;
            let linked = match matched {
                true => "linked again in a random layout, the same for all variants",
                false => "linked again in random layouts that do not match",
            };
            let about = "programs in typical layouts";
            let over = glue(&counted(few.unwrap_or(*passes), "layout"));
            if passes == of {
                let (each, over) = match few {
                    Some(_) => {
                        (format!("The programs were {linked}"), format!("averaged over {over}, which count once each"))
                    }
                    None => (format!("For each block, the programs were {linked}"), format!("averaged over {over}")),
                };
                [each, format!("the claims are about the {about}, {over}{}{}", spread(layouts), as_built(layouts))]
            } else {
                let about = format!("the claims are partly about these builds and partly about the {about}");
                [format!("In {passes} of {of} passes, the programs were {linked}"), about]
            }
        }
        _ => ["The claims are about these builds", "one build is one sample of memory layout"].map(str::to_owned),
    })
}

/// What layouts alone are worth, to a tenth of a percent: nobody knows more.
fn spread(layouts: &Layouts) -> String {
    let tenths = |spread: f64| (spread * 1e3).round() / 1e3;
    let shown = |spread: f64| glue(&percent(tenths(spread)));
    match layouts.spread.map(tenths) {
        Some(spread) if spread > 0.0 => {
            let interval = layouts.spread_interval.map(|[low, high]| format!(" ({} … {})", shown(low), shown(high)));
            format!("; layouts alone spread ±{}{}", shown(spread), interval.unwrap_or_default())
        }
        Some(_) => "; layouts alone spread less than the noise".to_owned(),
        None => String::new(),
    }
}

fn as_built(Layouts { as_built, .. }: &Layouts) -> String {
    match as_built.as_slice() {
        [] => String::new(),
        names => format!("; under {}, they are about these files", listed(names)),
    }
}

/// Which test made a comparison, in words.
pub fn test_words(comparison: &Comparison) -> String {
    let (of, each) = match comparison.scale {
        Scale::Ratio => ("log ratios", "logarithms of the values"),
        Scale::Difference => ("differences", "values"),
    };
    let tested = match &comparison.inferred {
        Inferred::Tested(tested) => tested,
        Inferred::Exact => return "values that cannot vary by chance, compared directly".to_owned(),
        Inferred::TooFew => return "no test where there are too few blocks".to_owned(),
        Inferred::TooCoarse => return "no test where a clock is too coarse".to_owned(),
    };
    match tested.test {
        Test::SignFlip => format!("winsorised sign-flip test on per-block {of}, exact"),
        Test::SignFlipMonteCarlo { seed } => {
            format!("winsorised sign-flip test on per-block {of}, by Monte Carlo (seed {seed})")
        }
        Test::SignFlipEdgeworth => format!("winsorised sign-flip test on per-block {of}, by an Edgeworth series"),
        Test::SignFlipEvidence => {
            format!("sign-flip e-process (betting against fair coins) on per-block {of}, with its confidence sequence")
        }
        Test::PairedLogT => format!("paired t test on {each} (for few blocks; assumes a normal distribution)"),
        Test::LinearModel { .. } => format!("linear model of {each} on block and factors, with HC3 standard errors"),
        Test::MannWhitney => format!("exact Mann-Whitney test of unpaired {each}"),
        Test::MannWhitneyNormal => format!("Mann-Whitney test of unpaired {each}, by normal approximation"),
    }
}

/// By which rule the study stops, if by one, and where it stands.
fn stopping(findings: &Findings) -> Option<String> {
    let Stopping { until, looks, judged_blocks, most_blocks, enough } = findings.method.stopping.as_ref()?;
    let rule = match until {
        Until::Blocks => return None,
        Until::Precision(_) => format!("when every interval is within {until} (widened to account for this rule)"),
        Until::Decided => {
            let looks: Vec<String> = looks.iter().map(u32::to_string).collect();
            format!("when every variant has a verdict, checked after {} blocks", words::listed(&looks))
        }
        Until::Anytime => "as soon as every variant has a verdict; p and intervals are valid at any time".to_owned(),
    };
    let judged = counted(*judged_blocks, "block");
    let stands = match (enough, judged_blocks) {
        (true, _) => format!("stopped after {judged}, of at most {most_blocks}"),
        (false, judged_blocks) if judged_blocks >= most_blocks => format!("not reached within {judged}"),
        (false, 0) => format!("no block has been judged yet, and at most {most_blocks} will be"),
        (false, _) => format!("not reached yet after {judged}, of at most {most_blocks}"),
    };
    let metric = clean(&findings.method.deciding_metric);
    Some(format!("fixed beforehand, on {metric}: {rule}; {stands}."))
}

/// Where each metric comes from; those of one source together.
fn sources(findings: &Findings) -> Option<String> {
    let sources = grouped(findings.metrics.iter().map(|metric| (&metric.source, &*metric.name)));
    let each = sources.iter().map(|(source, names)| format!("{} by {}", clean(&names.join(", ")), clean(source)));
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| each.join("; "))
}

/// How much of the time of each variant a count can see, where something is counted and nothing measured.
fn counted_instead(findings: &Findings) -> Option<String> {
    findings.caveats.iter().find_map(|caveat| match caveat {
        Caveat::Counted { what, seen } => Some(clean(&format!("{what}. {}", seen_time(seen)))),
        _ => None,
    })
}

/// What the study asks for and could not have, each reason once.
fn missing(findings: &Findings) -> Option<String> {
    let each =
        findings.missing.iter().map(|group| format!("{} ({})", clean(&group.metrics.join(", ")), clean(&group.why)));
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| each.join("; "))
}

fn extent(findings: &Findings) -> String {
    let Findings { study, plan, seed, blocks_finished, blocks_total, blocks_wanted, sessions, .. } = findings;
    let each = if blocks_total == blocks_wanted {
        String::new()
    } else {
        format!(" ({blocks_wanted} for each workload and condition)")
    };
    let when = if *sessions > 0 { format!("; begun {}", date(findings.started_unix_s)) } else { String::new() };
    let sessions = if *sessions > 1 { format!(" in {}", counted(*sessions, "session")) } else { String::new() };
    format!(
        "{}, plan {}, seed {seed}; {} of {} blocks{each}{sessions}{when}",
        clean(study),
        clean(plan),
        count(u64::from(*blocks_finished)),
        count(u64::from(*blocks_total)),
    )
}

pub(crate) fn machines(findings: &Findings) -> Paragraph {
    // Machines of one kind share a description.
    let kind = |place: &Place| machine(&Place { host: String::new(), ..place.clone() });
    let kinds = grouped(findings.places.iter().map(|place| (kind(place), place)));
    let one = |(kind, places): (String, Vec<&Place>)| match places.as_slice() {
        [place] => machine(place),
        several => {
            let hosts = named(several.iter().map(|place| clean(&place.host)).filter(|host| !host.is_empty()).collect());
            format!("{hosts}{}{} machines: {kind}", if hosts.is_empty() { "" } else { "; " }, several.len())
        }
    };
    let described: Vec<String> = kinds.into_iter().map(one).collect();
    let what = if findings.places.len() > 1 { "machines" } else { "machine" };
    Paragraph { what, text: if described.is_empty() { "none yet".into() } else { described.join("; ").into() } }
}

pub(crate) fn machine(place: &Place) -> String {
    let memory = glue(&bytes(place.memory_bytes as f64));
    let within = place.virtualisation.as_ref().map_or(String::new(), |kind| format!(", in {kind}"));
    let Place { host, os, kernel, cpu, cpus, .. } = place;
    // A machine need not have a name, as where it is not passed on.
    let host = if host.is_empty() { String::new() } else { format!("{host}: ") };
    clean(&format!("{host}{os}, kernel {kernel}, {cpus} × {cpu}, {memory}{within}{}", settings(place)))
}

/// How a machine of several is set up, as far as it tells.
fn settings(place: &Place) -> String {
    let words = [
        ("governor", "governor"),
        ("microcode", "microcode"),
        ("enclosure", "trials kept together by"),
        ("allowed", "trials on processors"),
        ("programs", "programs on"),
        ("scratch", "trials' folders on"),
    ];
    let known = words.iter().filter_map(|(name, words)| Some(format!(", {words} {}", place.settings.get(*name)?)));
    known.collect()
}
