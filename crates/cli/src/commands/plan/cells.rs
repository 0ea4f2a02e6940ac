//! The part of a plan's page about what surrounds a trial: what workloads tell and need, services, the parts of
//! conditions, what is varied, and when a trial does not count. A study that names none of it has none of these lines.

use bakeoff_model::metric::{self, Metric, Unit};
use bakeoff_model::plan::Plan;
use bakeoff_model::study::{ExitCodes, OpSpec, Per, Ready, Service, Vary, VoidRule, Workload};
use bakeoff_report::format::{bytes, count, duration, percent};
use bakeoff_report::words::counted;
use std::fmt::Write as _;

/// The lines, indented below the one that counts the cells.
pub(super) fn text(plan: &Plan) -> String {
    let mut out = String::new();
    let mut part = |kind: &str, name: &str, parts: Vec<String>| {
        if !parts.is_empty() {
            let _ = writeln!(out, "  {kind} {name}: {}", parts.join("; "));
        }
    };
    plan.workloads.iter().for_each(|workload| part("workload", &workload.name, workload_parts(workload)));
    plan.services.iter().for_each(|service| part("service", &service.name, service_parts(service)));
    for condition in &plan.conditions {
        part("condition", &condition.name, condition.parts().into_iter().map(|(_, words)| words).collect());
    }
    out
}

/// What varies and what is void, below the number of blocks.
pub(super) fn rules(plan: &Plan) -> String {
    let mut out = String::new();
    for vary in &plan.vary {
        let what = match vary {
            Vary::EnvSize => "the size of the environment",
            Vary::LinkOrder if plan.boots() => "the link order",
            Vary::LinkOrder => {
                "the link order (this is for kernels; for programs, use `layouts`: `bakeoff help layouts`)"
            }
            Vary::Layouts => "the layout of the programs",
        };
        let _ = writeln!(out, "Varied at random in every pass: {what}");
    }
    let rules: Vec<String> = plan.void_if.iter().map(|rule| rule_text(rule, plan)).collect();
    if !rules.is_empty() {
        let _ = writeln!(out, "Trials with {} are void and run again within their block", rules.join(" or "));
    }
    out
}

fn workload_parts(workload: &Workload) -> Vec<String> {
    let mut parts = vec![];
    if !workload.phases.is_empty() {
        parts.push(format!("phases {}", workload.phases.join(", ")));
    }
    parts.extend(workload.ops.as_ref().map(ops_text));
    if !workload.values.is_empty() {
        let names: Vec<&str> = workload.values.iter().map(|value| value.name.as_str()).collect();
        parts.push(format!("values {}", names.join(", ")));
    }
    if !workload.services.is_empty() {
        parts.push(format!("services {}", workload.services.join(", ")));
    }
    if workload.divided {
        parts.push("divided among concurrent processes".to_owned());
    }
    parts.extend(workload.oracle.iter().map(|command| format!("`{command}` must succeed afterwards")));
    parts.extend(workload.input.iter().map(|input| format!("reads {input}")));
    match &workload.exit_codes {
        codes if *codes == ExitCodes::default() => {}
        ExitCodes::Any => parts.push("any exit code is accepted".to_owned()),
        ExitCodes::Only(codes) => {
            let codes: Vec<String> = codes.iter().map(u8::to_string).collect();
            parts.push(format!("exit codes {}", codes.join(", ")));
        }
    }
    if workload.warmup > 0 {
        let warmup = counted(workload.warmup, "unmeasured trial");
        parts.push(format!("warmed up with {warmup} of each variant"));
    }
    for (name, command) in workload.around.named() {
        parts.extend(command.map(|command| format!("{name} `{command}`")));
    }
    parts.extend(workload.timeout_s.map(|limit_s| format!("killed after {limit_s} s")));
    parts
}

fn ops_text(ops: &OpSpec) -> String {
    let many = ops.count.map_or(String::new(), |number| format!("{} ", count(number)));
    match ops.names.as_slice() {
        [] => format!("{many}ops ({})", ops.unit),
        names => format!("{many}ops ({}: {})", ops.unit, names.join(", ")),
    }
}

fn service_parts(service: &Service) -> Vec<String> {
    let per = match service.per {
        Per::Trial => "fresh for every trial",
        Per::Block => "one for all trials of a block",
    };
    let ready = match &service.ready {
        Ready::Started => None,
        Ready::Tcp(port) => Some(format!("port {port} accepts a connection")),
        Ready::Command(command) => Some(format!("`{command}` exits 0")),
        Ready::Log(text) => Some(format!("it prints {text:?}")),
    };
    let ready = ready
        .map_or("ready at once".to_owned(), |check| format!("ready when {check}, within {} s", service.ready_within_s));
    vec![per.to_owned(), ready]
}

fn rule_text(rule: &VoidRule, plan: &Plan) -> String {
    let known = metric::find(&rule.metric, &plan.workloads).ok();
    format!("{} above {}", rule.metric, amount(rule.above, known.as_ref()))
}

fn amount(above: f64, metric: Option<&Metric>) -> String {
    match metric.map(|metric| metric.unit) {
        Some(Unit::Seconds) => duration(above),
        Some(Unit::Bytes) => bytes(above),
        Some(Unit::PerSecond) => format!("{above}/s"),
        // Shares are counts below 1: less than one whole thing is none.
        Some(Unit::Count) if above > 0.0 && above < 1.0 => percent(above),
        Some(Unit::Count | Unit::GuestInstructions) | None => format!("{above}"),
    }
}
