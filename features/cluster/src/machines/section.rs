//! Reads the text of `machines.toml`: every section, or all of its problems, each with its place and its remedy.

use super::settings::{Host, Machines, SlurmSettings, Way, slurm_time_s};
use bakeoff_model::problem::Problem;
use bakeoff_model::study_file::{Placed, Section, Sink, Title, check_name};
use std::ffi::OsString;
use std::ops::Range;
use std::path::Path;
use toml::de::DeTable;

/// More nodes than this are a slip of the finger.
const MOST_NODES: u32 = 100_000;
/// The folder of machines behind ssh, if the file names none; relative to the home there.
const SSH_FOLDER: &str = ".cache/bakeoff";
/// The folder below the study's, if the file names none for Slurm.
const STUDY_FOLDER: &str = ".bakeoff/away";

/// Options of sbatch that are not for `extra`, and what to do instead.
const RESERVED: &[(&str, &str)] = &[
    ("--partition -p", "use the key `partition`"),
    ("--account -A", "use the key `account`"),
    ("--constraint -C", "use the key `constraint`"),
    ("--time -t", "use the key `time`"),
    ("--exclude -x", "use the key `exclude`"),
    ("--exclusive", "use `exclusive`, next to `slurm`"),
    ("--requeue --no-requeue", "use `requeue`, next to `slurm`"),
    ("--nodes -N", "remove it; each job uses one node; `nodes`, next to `slurm`, limits the jobs at a time"),
    ("--output -o --error -e --open-mode", "remove it; Bakeoff puts the logs into `folder`"),
    ("--export --export-file", "remove it; use `setup` or `modules` for what the jobs need"),
    ("--clusters -M", "remove it, and log in to that cluster"),
    (
        "--job-name -J --array -a --input -i --chdir -D --dependency -d --kill-on-invalid-dep",
        "remove it; Bakeoff sets it",
    ),
    ("--wrap --wait -W --test-only --parsable", "remove it; Bakeoff submits the script itself"),
];

/// What the login side knows, and a file may refer to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Login {
    /// `$USER`.
    pub(crate) user: Option<String>,
    /// `$HOME`.
    pub(crate) home: Option<String>,
    /// The study's folder, absolute.
    pub(crate) study: String,
}

impl Login {
    /// From the environment.
    pub(crate) fn of(study_dir: &Path, variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let text = |name: &str| variable(name)?.into_string().ok().filter(|text| !text.is_empty());
        let study = std::path::absolute(study_dir).unwrap_or_else(|_| study_dir.to_owned());
        Self { user: text("USER"), home: text("HOME"), study: study.display().to_string() }
    }

    /// Replaces `$USER`, `$HOME`, and both with braces; the error is the part that cannot be replaced, and why.
    fn expand(&self, text: &str) -> Result<String, String> {
        let value = |name: &str| match name {
            "USER" => self.user.clone().map(Some).ok_or("is not set here"),
            "HOME" => self.home.clone().map(Some).ok_or("is not set here"),
            _ => Err("is not expanded here"),
        };
        let expanded = shellexpand::env_with_context(text, value);
        expanded.map(Into::into).map_err(|wrong| format!("`${}` {}", wrong.var_name, wrong.cause))
    }
}

/// Reads a file: all of its sections, in their order.
pub(crate) fn parse(text: &str, login: &Login) -> Result<Vec<Machines>, Vec<Problem>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let sink = Sink::default();
    for error in &errors {
        let message = format!("this is not valid TOML: {}", error.message());
        sink.report(error.span().unwrap_or(0..0), &message, "", "see https://toml.io for the syntax");
    }
    // A tree that was recovered from broken text has gaps; what seems to be missing may only be misread.
    if !errors.is_empty() {
        return Err(sink.into_list());
    }
    let file = Section::new(Title::File("the file"), table.get_ref(), 0..0, &sink);
    let mut all = vec![];
    for (name, span, value) in file.entries() {
        let Some(table) = value.get_ref().as_table() else {
            let remedy = format!("move `{name}` below the section of the machines that it is about, such as `[lab]`");
            sink.report(span, &format!("`{name}` is outside of any section"), "", &remedy);
            continue;
        };
        check_name(&sink, name, span.clone(), "the name of machines");
        let section = Section::new(Title::Heading(name.to_owned()), table, span, &sink);
        all.extend(machines(name, &section, login));
    }
    let list = sink.into_list();
    if list.is_empty() { Ok(all) } else { Err(list) }
}

/// One section; none only if it says no way, which is a problem.
fn machines(name: &str, section: &Section<'_>, login: &Login) -> Option<Machines> {
    let slurm = section.section("slurm").map(|table| slurm_settings(&table));
    let hosts = hosts(section);
    let count = section.number_of("nodes", "nodes", MOST_NODES);
    let (exclusive, requeue) = (section.boolean("exclusive"), section.boolean("requeue"));
    let modules = section.strings("modules");
    modules.iter().for_each(|(module, span)| check_word(section, "modules", module, span.clone()));
    let setup = section.strings("setup");
    setup.iter().for_each(|(line, span)| check_line(section.sink, line, span.clone()));
    let folder = one_line(section, "folder");
    let scratch = scratch(section);
    section.finish();
    let report = |key: &str, message: &str, remedy: &str| {
        let span = section.place_of(key).unwrap_or_else(|| section.span.clone());
        section.sink.report(span, message, "", remedy);
    };
    let (way, nodes, folder) = match (section.has("slurm"), section.has("ssh")) {
        (true, true) => {
            let message = format!("{} has both `slurm` and `ssh`", section.title);
            report("ssh", &message, "keep one of them, and add a second section for the other machines");
            return None;
        }
        (false, false) => {
            let message = format!("{} does not say how to reach the machines", section.title);
            report("", &message, "add `slurm = { partition = \"…\" }` or `ssh = [\"user@host\"]`");
            return None;
        }
        (true, false) => {
            if !section.has("nodes") {
                let message = format!("{} has no `nodes`", section.title);
                report("", &message, "add the number of nodes to use at a time, such as `nodes = 4`");
            }
            (Way::Slurm(slurm.unwrap_or_default()), count.unwrap_or(1), shared_folder(section, folder, login))
        }
        (false, true) => {
            for key in ["exclusive", "requeue"].into_iter().filter(|key| section.has(key)) {
                report(key, &format!("`{key}` is for Slurm only"), "remove it");
            }
            let most = u32::try_from(hosts.len()).unwrap_or(u32::MAX);
            if count.is_some_and(|count| count > most) && most > 0 {
                let message = format!("{} lists {most} in `ssh`, fewer than `nodes`", section.title);
                report("nodes", &message, "add machines to `ssh`, or remove `nodes` to use all of them");
            }
            (Way::Ssh(hosts), count.unwrap_or(most), far_folder(section, folder))
        }
    };
    let [modules, setup] = [modules, setup].map(|list| list.into_iter().map(|(text, _)| text).collect());
    let (exclusive, requeue) = (exclusive.unwrap_or(true), requeue.unwrap_or(false));
    Some(Machines { name: name.to_owned(), way, nodes, exclusive, modules, setup, folder, scratch, requeue })
}

fn slurm_settings(table: &Section<'_>) -> SlurmSettings {
    let word = |key| {
        let (text, span) = table.string(key)?;
        check_word(table, key, &text, span);
        Some(text)
    };
    let (partition, account, constraint, exclude) =
        (word("partition"), word("account"), word("constraint"), word("exclude"));
    let time_s = table.string("time").and_then(|(text, span)| {
        let time_s = slurm_time_s(&text);
        if time_s.is_none() {
            let message = format!("`time` of {}: {text:?} is not a duration as Slurm writes it", table.title);
            let remedy =
                "write minutes, such as \"90\", or \"HOURS:MINUTES:SECONDS\", or \"DAYS-HOURS:MINUTES:SECONDS\"";
            table.sink.report(span, &message, "", remedy);
        }
        time_s
    });
    let extra = table.strings("extra");
    extra.iter().for_each(|(option, span)| check_option(table.sink, option, span.clone()));
    table.finish();
    let extra = extra.into_iter().map(|(option, _)| option).collect();
    SlurmSettings { partition, account, constraint, time_s, exclude, extra }
}

/// Values become lines of a script, or words of one.
fn check_word(section: &Section<'_>, key: &str, text: &str, span: Range<usize>) {
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || "'\"`$\\".contains(c);
    if text.is_empty() || text.starts_with('-') || text.chars().any(is_odd) {
        let message = format!("`{key}` of {}: {text:?} is not one word", section.title);
        let remedy = "write it without spaces, quotes, `$` and `\\`, and without a `-` in front";
        section.sink.report(span, &message, "", remedy);
    }
}

/// A string with a line end would be two lines of the script.
fn check_line(sink: &Sink, line: &str, span: Range<usize>) {
    if line.trim().is_empty() || line.chars().any(char::is_control) {
        let remedy = "write one command of the shell in each string, such as \"export OMP_NUM_THREADS=1\"";
        sink.report(span, &format!("{line:?} in `setup` is not a line of shell"), "", remedy);
    }
}

/// An option for sbatch is a line of the script, and not one that Bakeoff or a key of ours decides.
fn check_option(sink: &Sink, option: &str, span: Range<usize>) {
    let is_option = option.starts_with('-') && option.len() > 1 && !option.starts_with("---") && option != "--";
    if !is_option || option.chars().any(char::is_control) {
        let remedy = "write an option of sbatch with its value, such as \"--reservation=bench\"";
        sink.report(span, &format!("{option:?} in `extra` is not an option"), "", remedy);
        return;
    }
    let word = option.split(|c: char| c == '=' || c.is_whitespace()).next().unwrap_or_default();
    let meant = |options: &'static str| options.split(' ').find(|option| is_meant(word, option));
    if let Some((option, remedy)) = RESERVED.iter().find_map(|(options, remedy)| Some((meant(options)?, remedy))) {
        sink.report(span, &format!("`{option}` cannot be in `extra`"), "", remedy);
    }
}

/// sbatch accepts the beginning of a long option, and the value right behind a short one.
fn is_meant(word: &str, option: &str) -> bool {
    if word.starts_with("--") {
        option.starts_with(word)
    } else {
        !option.starts_with("--") && word.starts_with(option)
    }
}

fn hosts(section: &Section<'_>) -> Vec<Host> {
    let list = section.strings("ssh");
    if list.is_empty()
        && section.any("ssh").is_some_and(|(value, _)| value.as_array().is_some_and(|list| list.is_empty()))
    {
        let span = section.place_of("ssh").unwrap_or_else(|| section.span.clone());
        let message = format!("`ssh` of {} lists no machine", section.title);
        section.sink.report(span, &message, "", "add one, such as \"user@host\"");
    }
    let mut hosts: Vec<Host> = vec![];
    for (text, span) in list {
        match Host::parse(&text) {
            None => {
                let remedy = "write \"host\", \"user@host\" or \"host:port\"";
                section.sink.report(span, &format!("{text:?} is not a destination for ssh"), "", remedy);
            }
            Some(host) if hosts.contains(&host) => {
                section.sink.report(span, &format!("{text:?} is listed twice"), "", "remove one");
            }
            Some(host) => hosts.push(host),
        }
    }
    hosts
}

fn one_line(section: &Section<'_>, key: &'static str) -> Placed<String> {
    let (text, span) = section.string(key)?;
    if text.chars().any(char::is_control) {
        let message = format!("`{key}` of {} has line ends or control characters", section.title);
        section.sink.report(span, &message, "", "remove them");
        return None;
    }
    Some((text, span))
}

/// The folder that all nodes and this host see.
fn shared_folder(section: &Section<'_>, folder: Placed<String>, login: &Login) -> String {
    let Some((text, span)) = folder else { return format!("{}/{STUDY_FOLDER}", login.study) };
    let remedy = "write an absolute path that all nodes see, such as \"/scratch/bakeoff\"; only $USER and \
        $HOME are expanded";
    let (expanded, wrong) = match login.expand(&text) {
        Ok(expanded) => {
            let wrong = (!expanded.starts_with('/')).then(|| format!("{text:?} is relative"));
            (expanded, wrong)
        }
        Err(why) => (String::new(), Some(why)),
    };
    if let Some(why) = wrong {
        section.sink.report(span, &format!("`folder` of {}: {why}", section.title), "", remedy);
    }
    expanded
}

/// The folder on the far side of ssh, where the user and the home may be others.
fn far_folder(section: &Section<'_>, folder: Placed<String>) -> String {
    let Some((text, span)) = folder else { return SSH_FOLDER.to_owned() };
    if text.starts_with('~') || text.contains('$') {
        let message = format!("`folder` of {}: {text:?} is not expanded on machines behind ssh", section.title);
        let remedy = format!("write an absolute path, or one relative to the home there, such as \"{SSH_FOLDER}\"");
        section.sink.report(span, &message, "", &remedy);
    }
    text
}

/// The node's shell expands it between double quotes; it may have variables, but run nothing.
fn scratch(section: &Section<'_>) -> Option<String> {
    let (text, span) = one_line(section, "scratch")?;
    if text.contains(['"', '`', '\\']) || text.contains("$(") || !text.starts_with(['/', '$']) {
        let message = format!("`scratch` of {}: {text:?} is not an absolute path", section.title);
        let remedy = "write a path of the nodes, such as \"/local/bakeoff\", or one that starts with a variable of the \
            job, such as \"$TMPDIR\"";
        section.sink.report(span, &message, "", remedy);
    }
    Some(text)
}
