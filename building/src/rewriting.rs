//! The layer that BOLT makes: programs that count are put in the place of those that were installed, the training runs
//! them, and BOLT rewrites the installed ones by what was counted. A variant is never left as it was in place of that.

use crate::Building;
use crate::bolt::{KEY, LAYER, Step, WORDS, package_of};
use crate::cache::Cache;
use crate::cost::add;
use crate::error::{At, Error, Stop};
use crate::files::{entries, fresh_folder};
use crate::journal::FlagSeen;
use crate::shell::Shell;
use crate::site::Site;
use crate::trained::one_line;
use bakeoff_model::metric::Measurements;
use bakeoff_report::words::counted;
use object::{Architecture, Object as _, ObjectKind};
use std::fs;
use std::path::{Path, PathBuf};

/// Words by which a linker leaves symbols out.
const STRIPPING: [&str; 3] = ["-s", "-Wl,-s", "-Wl,--strip-all"];

/// A file that is rewritten.
struct Program {
    /// Its path below the prefix.
    name: String,
    /// The file, links resolved.
    path: PathBuf,
    /// Where its copies and profiles are, with other endings.
    aside: PathBuf,
}

impl Program {
    /// The copy, or the profile, with that ending.
    fn aside(&self, ending: &str) -> String {
        format!("{}.{ending}", self.aside.display())
    }

    /// What processes left.
    fn profiles(&self) -> Result<Vec<String>, Error> {
        let start = self.aside("profile.");
        let files = entries(self.aside.parent().unwrap_or(Path::new("/")))?.into_iter();
        Ok(files.map(|path| path.display().to_string()).filter(|path| path.starts_with(&start)).collect())
    }
}

/// One layer that BOLT makes.
struct Work<'w> {
    shell: &'w mut Shell,
    site: &'w Site,
    step: &'w Step<'w>,
    cost: Measurements,
}

/// Makes the layer in a prefix that holds what the layers before installed; `restore` makes that again. What it cost,
/// and how many programs were rewritten.
pub(crate) fn rewrite(
    shell: &mut Shell,
    cache: &Cache,
    step: &Step<'_>,
    site: &Site,
    restore: impl Fn(&Path) -> Result<(), Error>,
) -> Result<(Measurements, FlagSeen), Stop> {
    let mut work = Work { shell, site, step, cost: Measurements::new() };
    let programs = work.programs()?;
    for program in &programs {
        work.instrument(program)?;
    }
    let trained = site.train(work.shell, &step.bolt.training).map_err(without_chatter)?;
    add(&mut work.cost, &trained);
    restore(&site.prefix)?;
    let calls = fs::read_to_string(cache.paths.calls_of(&step.previous)).unwrap_or_default();
    let is_stripped = calls.split_whitespace().any(|word| STRIPPING.contains(&word));
    let mut reached = 0;
    for program in &programs {
        reached += u64::from(work.optimise(program, is_stripped)?);
    }
    if reached == 0 {
        let names = programs.iter().map(|program| program.name.as_str()).collect::<Vec<_>>().join(", ");
        let why = format!(
            "the training `{}` wrote no profile of {names}: it must run the program from $PREFIX, and the program must \
                exit normally. A program that is statically linked, or ended by a signal or _exit(2), writes no \
                profile",
            one_line(&step.bolt.training)
        );
        return Err(work.failure(why));
    }
    let (layer, variable, of) = (LAYER.to_owned(), KEY.to_owned(), programs.len() as u64);
    let flag = step.tools[0].clone();
    Ok((work.cost, FlagSeen { layer, variable, flag, reached, of, ..FlagSeen::default() }))
}

/// A failure that shows nothing of what BOLT prints when all is well.
fn without_chatter(mut stop: Stop) -> Stop {
    if let Stop::Failure(failure) = &mut stop {
        failure.tail.retain(|line| !line.starts_with("BOLT-IN"));
    }
    stop
}

impl Work<'_> {
    fn failure(&self, why: String) -> Stop {
        without_chatter(self.site.failure(self.shell, why).map_or_else(Stop::from, Stop::from))
    }

    /// The files that the level names, all of which BOLT can rewrite.
    fn programs(&self) -> Result<Vec<Program>, Stop> {
        let folder = self.site.work.join(LAYER);
        fresh_folder(&folder)?;
        let mut programs: Vec<Program> = vec![];
        for pattern in &self.step.bolt.files {
            let found = Building::files_meant(&self.site.prefix, &[pattern])?;
            if found.is_empty() {
                return Err(self.failure(format!(
                    "nothing to rewrite: no layer installed `{pattern}` in $PREFIX; correct the path in the study"
                )));
            }
            for name in found.into_keys() {
                let path = self.site.prefix.join(&name);
                let path = path.canonicalize().at("resolve", &path)?;
                if let Some(why) = unfit(&fs::read(&path).at("read", &path)?) {
                    return Err(self.failure(format!("BOLT cannot rewrite {name}: {why}")));
                }
                if programs.iter().all(|known| known.path != path) {
                    let aside = folder.join(programs.len().to_string());
                    programs.push(Program { name, path, aside });
                }
            }
        }
        Ok(programs)
    }

    /// Puts a program that counts in the place of the installed one.
    fn instrument(&mut self, program: &Program) -> Result<(), Stop> {
        let (plain, counting) = (program.aside("plain"), program.aside("counting"));
        fs::copy(&program.path, &plain).at("write", Path::new(&plain))?;
        let profile = format!("--instrumentation-file={}", program.aside("profile"));
        // Each process has a file, also after a fork.
        let words = ["-instrument", &plain, "-o", &counting, &profile, "--instrumentation-file-append-pid"];
        self.tool(0, &words, &program.name)?;
        self.replace(program, &counting)
    }

    /// Puts a file in the place of the installed one, which keeps its names and permissions. Not by ourselves: a
    /// process that another thread is starting would for a moment have the file open for writing, too, and the training
    /// could not run it.
    fn replace(&mut self, program: &Program, by: &str) -> Result<(), Stop> {
        let mode = fs::metadata(&program.path).at("inspect", &program.path)?.permissions();
        self.execute(&["cp", "-f", by, &program.path.display().to_string()], &program.name)?;
        Ok(fs::set_permissions(&program.path, mode).at("set the permissions of", &program.path)?)
    }

    /// Rewrites an installed program by its profile; false if it has none.
    fn optimise(&mut self, program: &Program, is_stripped: bool) -> Result<bool, Stop> {
        let profiles = program.profiles()?;
        let (name, count) = (&program.name, profiles.len());
        self.shell.note(&format!("{name}: {} (one for each process)", counted(count as u32, "profile")))?;
        if profiles.is_empty() {
            return Ok(false);
        }
        let [plain, sum, rewritten] = ["plain", "sum", "rewritten"].map(|ending| program.aside(ending));
        let merging: Vec<&str> = ["-o", &sum].into_iter().chain(profiles.iter().map(String::as_str)).collect();
        self.tool(1, &merging, name)?;
        let mut words = vec![plain.as_str(), "-o", &rewritten, "-data", &sum];
        words.extend(WORDS);
        // Not by strip(1): what that leaves of a rewritten program crashes.
        words.extend(is_stripped.then_some("--remove-symtab"));
        self.tool(0, &words, name)?;
        self.replace(program, &rewritten)?;
        Ok(true)
    }

    /// Runs one of the tools.
    fn tool(&mut self, number: usize, words: &[&str], program: &str) -> Result<(), Stop> {
        self.execute(&[&[self.step.tools[number].as_str()][..], words].concat(), program)
    }

    fn execute(&mut self, argv: &[&str], program: &str) -> Result<(), Stop> {
        let tool = argv.first().copied().unwrap_or_default();
        let ended = self.shell.execute(argv, &self.site.tree, &self.site.plain_env())?;
        add(&mut self.cost, &ended.measurements);
        let Some(complaint) = self.shell.complaint(&ended.end) else { return Ok(()) };
        let mut failure = self.shell.failure(format!("{tool} {complaint} for {program}"), &self.site.work)?;
        if let Some(line) = failure.tail.iter().rev().find(|line| line.contains("BOLT-ERROR")) {
            failure.why = format!("{}: {}{}", failure.why, line.trim(), hint(line, tool));
        }
        Err(failure.into())
    }
}

/// Why BOLT cannot rewrite a file of that content; none if that is not known yet.
fn unfit(content: &[u8]) -> Option<String> {
    const REMEDY: &str = "name the program itself: bolt = { training = \"COMMAND\", files = [\"bin/prog\"] }";
    let Ok(file) = object::File::parse(content).map_err(drop) else {
        let what = if content.starts_with(b"#!") { "is a script" } else { "is not an ELF file" };
        return Some(format!("it {what}; {REMEDY}"));
    };
    let has = |name: &str| file.section_by_name(name).is_some();
    match () {
        () if file.architecture() != Architecture::X86_64 => {
            Some("it is not for x86-64, the only architecture supported here".to_owned())
        }
        () if file.kind() == ObjectKind::Relocatable => Some(format!("it is an object file; {REMEDY}")),
        () if file.kind() == ObjectKind::Executable && !has(".interp") => {
            Some("it is statically linked, so it would write no profile when it exits; link it dynamically".to_owned())
        }
        () if file.symbols().next().is_none() => Some(
            "it was stripped after linking; do not strip it in the script (for example with `install -s`)".to_owned(),
        ),
        () if !has(".rela.text") => {
            let words = "was not linked with `-Wl,--emit-relocs`";
            Some(format!(
                "it has no relocations: it {words}, or something removed them; the table of builds shows where the \
                 flag arrived"
            ))
        }
        () => None,
    }
}

/// What helps against an error of BOLT, if that is known.
fn hint(error: &str, tool: &str) -> String {
    match (error.contains("library not found"), package_of(tool)) {
        (true, Some(package)) => format!("; install all of {package}"),
        _ => String::new(),
    }
}
