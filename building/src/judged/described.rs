//! What the journal says of a build, in full, for pages about where trials come from: layers with their logs, sources,
//! tools. It judges nothing.

use crate::journal::{BuildLine, BuildOutcome, LayerLine, LinkSeen, Repeated};
use bakeoff_model::metric::Measurements;
use bakeoff_model::plain::clean;
use bakeoff_model::record::MadeLine;
use bakeoff_report::Sheet;
use bakeoff_report::draw::paint::Ink;
use bakeoff_report::format::{bytes, duration};

/// Writes it.
pub(crate) fn describe(line: &MadeLine, sheet: &mut Sheet) {
    let Ok(build) = line.fields::<BuildLine>() else {
        return sheet.detail(Ink::Worse, "cannot read the journal's record of this build");
    };
    sheet.detail(Ink::Plain, &format!("digest {}", build.digest));
    match &build.outcome {
        BuildOutcome::Built => {
            let how = if build.cached { "taken from the cache" } else { "built by this study" };
            let size = build.prefix_bytes.map_or(String::new(), |size| format!(", {}", bytes(size as f64)));
            sheet.detail(Ink::Plain, &format!("{how}{size}"));
        }
        BuildOutcome::Failed { layer, why, log, .. } => {
            let log = log.as_ref().map_or(String::new(), |log| format!("; full log: {log}"));
            sheet.detail(Ink::Worse, &format!("not built: layer {layer}: {why}{log}"));
        }
    }
    if build.layers.is_empty() {
        sheet.detail(Ink::Plain, &format!("cost: {}", cost(&build.cost)));
    }
    build.layers.iter().for_each(|layer| describe_layer(layer, sheet));
    for (name, sha256) in &build.sources {
        sheet.detail(Ink::Plain, &format!("source {name}: SHA-256 {sha256}"));
    }
    for (name, identity) in &build.tools {
        sheet.detail(Ink::Plain, &format!("tool {name}: {identity}"));
    }
    for link in &build.proof.links {
        sheet.detail(Ink::Plain, &sentence_on_link(link));
    }
    for (what, digest) in [("binaries", &build.proof.binaries), ("files", &build.proof.files)] {
        if let Some(digest) = digest {
            sheet.detail(Ink::Plain, &format!("digest of the {what}: {digest}"));
        }
    }
}

/// What came of repeating a link.
pub(crate) fn sentence_on_link(link: &LinkSeen) -> String {
    let file = clean(&link.file);
    match &link.repeated {
        Repeated::Same { seconds, is_changed_later } => {
            let later = if *is_changed_later { "; stripped, or changed elsewhere, after the link" } else { "" };
            format!("link of {file}: Bakeoff repeated it with the same bytes in {}{later}", duration(*seconds))
        }
        Repeated::Unseen => format!("link of {file}: Bakeoff cannot repeat it, because it saw no linker call"),
        Repeated::ChangedLater => {
            format!("link of {file}: Bakeoff repeated it, but the build changed the file after the link")
        }
        Repeated::Gone { input } => format!("link of {file}: its input {} no longer exists", clean(input)),
        Repeated::LinkTimeOptimised => {
            format!("link of {file}: it compiles (link-time optimisation, not by gcc), so Bakeoff cannot repeat it")
        }
        Repeated::Differs => format!("link of {file}: Bakeoff repeated it, but the bytes differ"),
        Repeated::NotFromCopies => {
            format!("link of {file}: Bakeoff repeated it with the same bytes, but not from copies of its objects")
        }
        Repeated::Failed { why } => format!("link of {file}: Bakeoff repeated it, but the linker {}", clean(why)),
        Repeated::Untried => format!("link of {file}: repeating the other links took too long to try this one"),
    }
}

fn describe_layer(layer: &LayerLine, sheet: &mut Sheet) {
    let how = if layer.cached { ", from the cache" } else { "" };
    sheet.detail(Ink::Plain, &format!("layer {}{how}", layer.name));
    sheet.detail_of_detail(Ink::Plain, &format!("digest {}", layer.digest));
    sheet.detail_of_detail(Ink::Plain, &format!("cost: {}", cost(&layer.cost)));
    if let Some(by) = &layer.compiler_cache {
        sheet.detail_of_detail(Ink::Open, &format!("compiled through {by}, so the cost is not comparable"));
    }
    if let Some(log) = &layer.log {
        sheet.detail_of_detail(Ink::Plain, &format!("log {log}"));
    }
}

/// What building cost, in the order in which people ask.
fn cost(cost: &Measurements) -> String {
    let known = ["wall", "user", "sys", "maxrss"];
    let each = known.iter().filter_map(|name| Some(format!("{name} {}", Sheet::value(name, *cost.get(name)?))));
    let each: Vec<String> = each.collect();
    if each.is_empty() { "unknown".to_owned() } else { each.join(", ") }
}
