//! Which commands of a plan certainly cannot be started, found out before the first trial: a typing error shall not cost
//! all blocks. What only a shell could tell, or a service may still make, is left to the trials. It starts nothing.

use super::command::{By, is_plain};
use super::stage::{Cell, Ports, Setup};
use bakeoff_host::search_path;
use bakeoff_model::grouped::unique;
use bakeoff_model::plan::Plan;
use bakeoff_model::problem::did_you_mean;
use bakeoff_model::study::LoadOf;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Utilities that a shell may have built in, so that no file needs to be there: POSIX.1-2024, dash, bash and ksh. Reserved
/// words and special built-ins are no plain commands ([`is_plain`]).
const BUILT_IN: &[&str] = &[
    "[",
    "autoload",
    "bind",
    "builtin",
    "caller",
    "chdir",
    "compgen",
    "complete",
    "compopt",
    "coproc",
    "declare",
    "dirs",
    "disown",
    "do",
    "done",
    "echo",
    "elif",
    "else",
    "enable",
    "esac",
    "false",
    "fc",
    "fi",
    "function",
    "functions",
    "help",
    "history",
    "in",
    "integer",
    "kill",
    "let",
    "logout",
    "mapfile",
    "nohup",
    "popd",
    "print",
    "printf",
    "pushd",
    "pwd",
    "readarray",
    "select",
    "shopt",
    "source",
    "stop",
    "suspend",
    "test",
    "then",
    "time",
    "true",
    "typeset",
    "whence",
];

/// A command that cannot be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Absent {
    /// The variant's display name.
    pub variant: String,
    /// What has the command, such as `workload loop` or `the oracle of workload loop`.
    pub part: String,
    /// The program, as the command names it.
    pub program: String,
    /// What is wrong with it, in words that go on from its name.
    pub why: String,
    /// A program of a similar name that is there.
    pub meant: Option<String>,
}

/// All commands of the plan's trials that certainly cannot be started here, each once for every variant.
pub fn absent(plan: &Plan, setup: &Setup) -> Vec<Absent> {
    let by = By::of(plan);
    let mut absent: Vec<Absent> = vec![];
    for variant in &plan.variants {
        let prefix = setup.prefixes.get(&variant.name).map(PathBuf::as_path);
        for workload in &plan.workloads {
            for condition in &plan.conditions {
                let cell = Cell { variant, workload, condition, prefix, padding: 0 };
                absent.extend(of_cell(plan, setup, cell, &by));
            }
        }
    }
    unique(absent)
}

/// Those of one cell: its own command, its oracle, its services and its load.
fn of_cell(plan: &Plan, setup: &Setup, cell: Cell<'_>, by: &By) -> Vec<Absent> {
    let place =
        CommandSurroundings { dir: setup.dir_of(cell.prefix), env: setup.environment_of(cell, &Ports::new(), None) };
    let workload = &cell.workload.name;
    let own = cell.variant.run.as_deref().unwrap_or(&cell.workload.run);
    let services = plan.services.iter().filter(|service| cell.workload.services.contains(&service.name));
    let load = cell.condition.load.as_ref().and_then(|load| match &load.of {
        LoadOf::Command(text) => Some(text.as_str()),
        LoadOf::Itself | LoadOf::Baseline => None,
    });
    let mut commands = vec![(format!("workload {workload}"), own, by.is_shell())];
    if let By::Shell(words) = by {
        commands.extend(words.first().map(|shell| (format!("the shell of workload {workload}"), &**shell, false)));
    }
    commands
        .extend(cell.workload.oracle.iter().map(|text| (format!("the oracle of workload {workload}"), &**text, true)));
    let named = |(name, own): &(&str, Option<_>), usual: Option<_>| {
        own.or(usual).map(|text| (format!("`{name}` of workload {workload}"), text, true))
    };
    let usual = cell.workload.around.named();
    commands.extend(cell.variant.around.named().iter().zip(usual).filter_map(|(own, (_, usual))| named(own, usual)));
    commands.extend(services.map(|known| (format!("service {}", known.name), &*known.run, !is_plain(&known.run))));
    commands.extend(load.map(|text| (format!("the load of condition {}", cell.condition.name), text, !is_plain(text))));
    // A service, or the trial itself, may make a file before it is wanted.
    let is_made = |part: &str| !cell.workload.services.is_empty() || part.starts_with("the oracle");
    let absent = commands.into_iter().filter_map(|(part, text, shell)| {
        let program = program(text, shell, &place.env)?;
        let is_built = cell.prefix.is_some_and(|prefix| Path::new(&program).starts_with(prefix));
        let is_file = program.contains('/') && !is_built;
        if is_file && is_made(&part) {
            return None;
        }
        let why = place.missing(&program)?;
        let meant = place.similar(&program);
        Some(Absent { variant: cell.variant.name.clone(), part, program, why: why.to_owned(), meant })
    });
    absent.collect()
}

/// The program that a command text certainly starts first and must start to succeed; none if only a shell could tell.
fn program(text: &str, shell: bool, env: &BTreeMap<String, String>) -> Option<String> {
    let text = text.trim();
    if !shell {
        let quoted = shell_words::split(text).ok().and_then(|words| words.into_iter().next());
        return quoted.or_else(|| text.split_whitespace().next().map(str::to_owned));
    }
    // One simple command: nothing that could end it, make it a part of something else, or excuse its failing.
    if text.contains(|c: char| ";&|()`!\n\\".contains(c)) || text.contains("$(") {
        return None;
    }
    // A function of bash's that was exported is a command to every bash that is started as sh.
    if env.keys().any(|name| name.starts_with("BASH_FUNC_")) {
        return None;
    }
    // A shell that gives its place to a program finds no built-in one.
    let (text, is_file) = text.strip_prefix("exec ").map_or((text, false), |rest| (rest.trim(), true));
    let first = text.split_whitespace().next()?;
    let bare = first.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let is_quoted = bare.is_some();
    let bare = bare.unwrap_or(first);
    if let Some(rest) = ["$PREFIX/", "${PREFIX}/"].iter().find_map(|start| bare.strip_prefix(start)) {
        let is_one_word = |prefix: &str| is_plain(prefix) && !prefix.contains(' ');
        let prefix = env.get("PREFIX").filter(|prefix| is_quoted || is_one_word(prefix))?;
        return is_plain(rest).then(|| format!("{prefix}/{rest}"));
    }
    let is_certain = is_plain(bare) && !bare.starts_with('-') && (is_file || !BUILT_IN.contains(&bare));
    is_certain.then(|| bare.to_owned())
}

struct CommandSurroundings {
    dir: PathBuf,
    env: BTreeMap<String, String>,
}

impl CommandSurroundings {
    /// What is wrong with a program; none if it is there. What cannot be looked at may be there.
    fn missing(&self, program: &str) -> Option<&'static str> {
        if program.contains('/') {
            return match std::fs::metadata(self.dir.join(program)) {
                Ok(found) if found.is_dir() => Some("is a folder"),
                Ok(found) if found.permissions().mode() & 0o111 == 0 => Some("is not executable"),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some("does not exist"),
                Ok(_) | Err(_) => None,
            };
        }
        // Without PATH, a shell looks where its makers told it to.
        let path = self.env.get("PATH")?;
        // In a folder that we may not look into a trial, which is ours, finds nothing either.
        search_path::find(program, path, &self.dir).is_none().then_some("was not found in PATH")
    }

    fn similar(&self, program: &str) -> Option<String> {
        let (folders, name, start) = match program.rsplit_once('/') {
            Some((folder, name)) => (vec![self.dir.join(format!("{folder}/"))], name, format!("{folder}/")),
            None => {
                let path = self.env.get("PATH").map(String::as_str).unwrap_or_default();
                (std::env::split_paths(path).map(|folder| self.dir.join(folder)).collect(), program, String::new())
            }
        };
        let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort_unstable();
        let fit = |near: &&String| self.missing(&format!("{start}{near}")).is_none() && *near != name;
        let mut names: Vec<&String> = names.iter().collect();
        names.dedup();
        let meant = did_you_mean(name, names.into_iter().map(String::as_str))?.to_owned();
        Some(&meant).filter(fit).map(|near| format!("{start}{near}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_certain_is_a_program() {
        let env: BTreeMap<String, String> = [("PREFIX".to_owned(), "/p".to_owned())].into();
        let check =
            |text: &str, expect: Option<&str>| assert_eq!(program(text, true, &env).as_deref(), expect, "{text}");
        check("slep 1", Some("slep"));
        check("perl x.pl \"$A\" > out 2>err", Some("perl"));
        check("\"$PREFIX/bin/perl\" loop.pl", Some("/p/bin/perl"));
        check("${PREFIX}/bin/perl loop.pl", Some("/p/bin/perl"));
        check("./x 'a b'", Some("./x"));
        check("exec slep 1", Some("slep"));
        check("exec \"$PREFIX/bin/x\"", Some("/p/bin/x"));
        for uncertain in [
            "slep 1 || true",
            "slep 1; true",
            "slep 1 &",
            "slep | cat",
            "! slep",
            "slep() { :; }",
            "A=1 slep",
            "$SLEP 1",
            "'slep' 1",
            "\"$PREFIX/$X\"",
            "\"$PREFIX\"",
            "if x",
            "exec -a slep",
            "exec 3>x",
            "echo 1",
            "[ 1 = 1 ]",
            "time slep",
            "x $(y)",
            "slep\nslep",
            "~/slep",
            "sl*p",
            "s\\lep",
            "",
            "\"a b\" c",
            "< in cat",
            "{ slep",
        ] {
            check(uncertain, None);
        }
        assert_eq!(program("echo 1", false, &env).as_deref(), Some("echo"), "without a shell nothing is built in");
        let exported: BTreeMap<String, String> = [("BASH_FUNC_slep%%".to_owned(), "() { :; }".to_owned())].into();
        assert_eq!(program("slep 1", true, &exported), None);
        let spaced: BTreeMap<String, String> = [("PREFIX".to_owned(), "/a b".to_owned())].into();
        assert_eq!(program("$PREFIX/bin/x", true, &spaced), None);
        assert_eq!(program("\"$PREFIX/bin/x\"", true, &spaced).as_deref(), Some("/a b/bin/x"));
    }
}
