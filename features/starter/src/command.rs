//! `bakeoff init`: the steps from a source to its study, in their order, and what is printed of each.

use crate::add_level;
use crate::ask::{Answers, say};
use crate::debian::Missing;
use crate::levels::{Level, OWN, own_optimisation, parse, proposed, without_own};
use crate::library::Library;
use crate::offer::{Chosen, bring, chosen};
use crate::origin::{Origin, resolve, shown};
use crate::plain::{Attempt, Plain, failure, log, reason};
use crate::products::{Product, ranked};
use crate::progress::step;
use crate::recognise::{BuildSystem, System, recognise};
use crate::rust;
use crate::script::{Program, guess};
use crate::shell::quoted;
use crate::start::Start;
use crate::training;
use crate::workload::names;
use bakeoff_building::Cache;
use bakeoff_command::{Code, CommandError, Registry, screen};
use bakeoff_model::plain::clean;
use bakeoff_report::format;
use bakeoff_report::words::counted;
use std::path::{Path, PathBuf};

/// Create a study of a program from its source code
///
/// Init recognises the build system of the source (Cargo, Go, Meson, CMake, configure, Autoconf, make, debian/rules).
/// It builds an unchanged copy once, finds the program, and writes a study.toml with comments on what it found. Then it
/// builds one changed level and prints how many compilations the flag reached. It runs the workload on the plain build:
/// twice to record the expected output, then for a few seconds to see how much the run time varies. If SOURCE is a
/// folder, init writes the study there; otherwise, it creates a new folder.
///
/// If standard input is a terminal, init asks about anything it cannot determine. Otherwise, or with --yes, it assumes
/// the first answer and prints it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The source: a folder, a Git URL, an archive or its URL, debian:PACKAGE, crate:NAME or go:MODULE
    #[arg(value_name = "SOURCE", default_value = ".")]
    source: String,
    /// The workload, as you would type it in the source's folder: './prog input'
    #[arg(long, value_name = "COMMAND")]
    run: Option<String>,
    /// Use this level instead of the proposed ones; repeat the option for several. A level is a set of compiler flags
    /// added after the project's own (`-O3 -flto=auto`, or for rustc `-C target-cpu=native`), a compiler (`clang`), or
    /// a variable (`GOAMD64=v3`). You can put its name first: `lto=-O3 -flto=auto`. Add `profile` for a profile-guided
    /// build trained on the workload, or `profile:COMMAND` to train it on another command. Add `bolt` or
    /// `bolt:COMMAND` to have LLVM's BOLT optimise the linked program
    #[arg(long, value_name = "LEVEL", allow_hyphen_values = true)]
    level: Vec<String>,
    /// Add a level to the existing study in SOURCE, and change nothing else. LEVEL is `NAME=WORDS`, or `FACTOR=WORDS`
    /// if the study has several factors
    #[arg(long, value_name = "LEVEL", allow_hyphen_values = true, conflicts_with_all = ["level", "run", "product", "options"])]
    add_level: Vec<String>,
    /// Ask nothing; assume the first answer to every question
    #[arg(long, short)]
    yes: bool,
    /// The name or path of the program to measure, if the build produces several
    #[arg(long, help_heading = "Override what init finds", value_name = "PROGRAM")]
    product: Option<String>,
    /// The file of the build system to use if several are recognised, such as 'debian/rules'
    #[arg(long, help_heading = "Override what init finds", value_name = "FILE")]
    build_system: Option<String>,
    /// Extra options for the configure step, or for the build if there is no configure step: '-DTESTS=OFF' for CMake,
    /// '--disable-nls' for configure, '--features x' for Cargo
    #[arg(long, help_heading = "Override what init finds", value_name = "WORDS", allow_hyphen_values = true)]
    options: Option<String>,
    /// Name of the factor that the levels belong to
    #[arg(long, help_heading = "Override what init finds", value_name = "NAME")]
    factor: Option<String>,
}

pub(crate) fn execute(args: &Args, features: &Registry) -> Result<Code, CommandError> {
    if !args.add_level.is_empty() {
        return add_level::add(Path::new(&args.source), args.factor.as_deref(), &args.add_level, features);
    }
    let asked = args.level.iter().map(|text| parse(text)).collect::<Result<Vec<Level>, _>>()?;
    bakeoff_host::interrupt::install()?;
    let cache = Cache::open(Cache::default_root()?)?;
    let origin = resolve(&cache, &args.source)?;
    let file = origin.study_dir.join("study.toml");
    let is_replaced = file.exists();
    if is_replaced && let Some(code) = changed(args, &origin, &file, features)? {
        return Ok(code);
    }
    let written = || {
        let systems = build_systems(&origin, args.build_system.as_deref())?;
        Missing::of(&origin.tree).iter().for_each(|missing| say(&missing.sentence()));
        let run = args.run.as_deref();
        run.map_or(Ok(()), |run| bring(run, &origin))?;
        let steps = if run.is_some() { 3 } else { 4 };
        step(1, steps, "building the plain program");
        let (found, wanted, plain) = built(args, &cache, &origin, systems, &asked, features)?;
        let answers = Answers::here(args.yes);
        let product = chosen_product(&origin, &found, &plain, args.product.as_deref(), run, answers)?;
        let (mut levels, seen) = chosen_levels(wanted, &origin, &found, &plain, &product)?;
        let (cache, origin, found, plain) = (&cache, &origin, &found, &plain);
        let start = Start { cache, origin, found, plain, product: &product, target: None, features, steps };
        if run.is_none() {
            step(2, steps, "choosing a workload");
        }
        let Chosen { workload, product, target } = chosen(&start, &levels, run, args.product.is_some(), answers)?;
        training::complete(&mut levels, found, origin, &product, &workload)?;
        let start = Start { product: &product, target: target.as_ref(), ..start };
        start.write(args.factor.as_deref(), &levels, &seen, workload, &file)
    };
    let code = written().inspect_err(|error| {
        // It was not finished: the same command begins it again, and finds what was built.
        if error.code == Code::Interrupted {
            let _ = std::fs::remove_file(&file);
        }
        if is_replaced && !file.exists() {
            let _ = std::fs::rename(file.with_extension("toml.old"), &file);
        }
    })?;
    screen::out(&format!("next: bakeoff run {}\n", shown(&origin.study_dir)));
    Ok(code)
}

/// What becomes of a study that is there already, as the user wants it; none: it is written again.
fn changed(args: &Args, origin: &Origin, file: &Path, features: &Registry) -> Result<Option<Code>, CommandError> {
    let there = format!("a study already exists: {}", file.display());
    let dir = &origin.study_dir;
    let answers = Answers::here(args.yes);
    if answers == Answers::Nobody {
        let level = args.level.first().map_or_else(|| "NAME=WORDS".to_owned(), |level| quoted(level));
        return Err(CommandError::usage(there).hint(format!(
            "`bakeoff init {} --add-level {level}` adds a level to it; remove the file to start over",
            shown(dir)
        )));
    }
    let choices = ["leave it unchanged", "add a level to it", "replace it (the old one is kept as study.toml.old)"];
    match answers.choose(&there, &choices.map(str::to_owned), "--add-level")? {
        0 => Ok(Some(Code::Done)),
        1 => {
            let mut levels = args.level.clone();
            if levels.is_empty() {
                levels.extend(answers.text("Level, such as lto=-O3 -flto=auto: ")?);
            }
            add_level::add(dir, args.factor.as_deref(), &levels, features).map(Some)
        }
        _ => {
            std::fs::rename(file, file.with_extension("toml.old")).map_err(CommandError::usage)?;
            Ok(None)
        }
    }
}

/// The build systems of a source, the first choice first; only the one that is named, if one is.
fn build_systems(origin: &Origin, named: Option<&str>) -> Result<Vec<BuildSystem>, CommandError> {
    let mut all = recognise(&origin.tree);
    if let Some(named) = named {
        let known: Vec<String> = all.iter().map(|found| found.file.clone()).collect();
        all.retain(|found| Path::new(&found.file) == Path::new(named));
        if all.is_empty() && !known.is_empty() {
            return Err(CommandError::usage(format!(
                "`{}` is not the file of a recognised build system",
                clean(named)
            ))
            .hint(format!("available: {}", known.join(", "))));
        }
    }
    let [found, others @ ..] = &all[..] else {
        let error = format!("no known build system in {}", origin.tree.display());
        return Err(CommandError::usage(error).hint(
            "that folder has no Cargo.toml, go.mod, meson.build, CMakeLists.txt, configure, configure.ac, Makefile \
             or debian/rules; write the study yourself (see `bakeoff help study-file`)",
        ));
    };
    let others: Vec<&str> = others.iter().map(|other| other.file.as_str()).collect();
    let others = if others.is_empty() { String::new() } else { format!(" (not used: {})", others.join(", ")) };
    say(&format!("{}: built by {}{others}", origin.name, found.file));
    Ok(all)
}

/// Builds the source as it is by the first of its build systems that can build it and compiles anything: a patched
/// Makefile may be of use only to debian/rules, which calls it with what it needs. A build in part is enough only with
/// a program that is called like the source, or where no other system builds more.
fn built(
    args: &Args,
    cache: &Cache,
    origin: &Origin,
    systems: Vec<BuildSystem>,
    asked: &[Level],
    features: &Registry,
) -> Result<(BuildSystem, Vec<Level>, Plain), CommandError> {
    let mut systems = systems.into_iter().peekable();
    let (mut failed, mut in_part) = (None, None);
    while let Some(mut found) = systems.next() {
        found.options = args.options.clone().unwrap_or_default();
        let wanted = if asked.is_empty() { proposed(&found) } else { asked.to_vec() };
        let guess = guess(&found, &origin.tree, args.product.as_deref(), args.run.as_deref(), &origin.name);
        let file = found.file.clone();
        let now = systems.peek().map_or_else(String::new, |next| format!("; trying {}", next.file));
        let program = Program { product: &guess, libraries: &[], target: None };
        let attempt = Attempt { cache, origin, found: &found, program, levels: &wanted, features };
        match attempt.plain() {
            Ok(plain) if found.calls_compilers() && plain.made.compilations == 0 && !now.is_empty() => {
                say(&format!("{file} compiled nothing{now}"));
            }
            Ok(plain) => {
                let is_meant = |program: &Product| program.is_named && !program.is_aside;
                let has_it = || ranked(&plain.tree, &linked(&plain), &origin.name).programs.iter().any(is_meant);
                match &plain.lacks {
                    Some(why) if !has_it() => {
                        say(&format!("{file} could not build all of the source{why}{now}"));
                        in_part.get_or_insert((found, wanted, plain));
                    }
                    Some(why) => {
                        say(&format!("Part of the source could not be built{why}, but the program was built."));
                        return Ok((found, wanted, plain));
                    }
                    None => return Ok((found, wanted, plain)),
                }
            }
            Err(fault) => {
                let line = *fault.useless()?;
                if !now.is_empty() {
                    say(&format!("{file} could not build the source{}{now}{}", reason(&line), log(&line)));
                }
                failed.get_or_insert(line);
            }
        }
    }
    match (in_part, failed) {
        (Some((found, wanted, plain)), _) => {
            say(&format!("init uses the part that {} could build.", found.file));
            Ok((found, wanted, plain))
        }
        (None, Some(line)) => Err(failure(&line, Missing::of(&origin.tree))),
        (None, None) => Err(CommandError::usage("there is nothing to build")),
    }
}

fn chosen_product(
    origin: &Origin,
    found: &BuildSystem,
    plain: &Plain,
    named: Option<&str>,
    run: Option<&str>,
    answers: Answers,
) -> Result<Product, CommandError> {
    let products = ranked(&plain.tree, &linked(plain), &origin.name).programs;
    let list = |all: &[&Product]| -> Vec<String> {
        all.iter().map(|one| format!("{} ({})", one.path.display(), format::bytes(one.bytes as f64))).collect()
    };
    if products.is_empty() {
        let built = format!("{}, but no program to run", compilations(plain));
        let library = match found.system {
            System::Cargo => Library::of_crate(&plain.tree),
            _ => Library::of(&plain.tree).filter(|_| found.install().is_some()),
        };
        return library.map(Product::driver).ok_or_else(|| {
            CommandError::usage(format!("there is nothing to measure: {built}")).hint(
                "if the source is a library, write a program that uses it and a study that builds both (see `bakeoff \
                 help study-file`)",
            )
        });
    }
    let serious: Vec<&Product> = products.iter().filter(|one| !one.is_aside).collect();
    let offered = if serious.is_empty() { products.iter().collect() } else { serious };
    if let Some(named) = named {
        let fits = |one: &&Product| one.name() == named || one.path == Path::new(named);
        return products.iter().find(fits).cloned().ok_or_else(|| {
            CommandError::usage(format!("the build produces no program `{named}`"))
                .hint(format!("available: {}", list(&offered).join(", ")))
        });
    }
    if let Some(meant) = run.and_then(|typed| products.iter().find(|one| names(typed, &one.name(), &one.path))) {
        return Ok(meant.clone());
    }
    let chosen = answers.choose("Which program?", &list(&offered), "--product")?;
    Ok(offered[chosen].clone())
}

/// What was linked; where the wrappers do not see that, what lies where the system puts programs.
fn linked(plain: &Plain) -> Vec<PathBuf> {
    let below = |folder: &str| {
        let entries = plain.tree.join(folder).read_dir().into_iter().flatten().flatten();
        entries.map(|entry| Path::new(folder).join(entry.file_name())).collect::<Vec<_>>()
    };
    let mut all = plain.made.linked.clone();
    all.extend(below("target/release").into_iter().filter(|path| !all.contains(path)).collect::<Vec<_>>());
    if plain.tree.join("go.mod").exists() {
        all.extend(below("bakeoff-build"));
    }
    all
}

fn compilations(plain: &Plain) -> String {
    counted(plain.made.compilations as u32, "compilation")
}

/// The levels with the plain one, and what was seen, as sentences for the file.
fn chosen_levels(
    wanted: Vec<Level>,
    origin: &Origin,
    found: &BuildSystem,
    plain: &Plain,
    product: &Product,
) -> Result<(Vec<Level>, Vec<String>), CommandError> {
    let made = &plain.made;
    let own = match own_optimisation(made) {
        Some(own) => format!("all with {own}"),
        None if made.optimisation.len() > 1 => {
            let each = made
                .optimisation
                .iter()
                .map(|(word, n)| format!("{n} with {}", if word.is_empty() { "none" } else { word }));
            format!("-O differs: {}", each.collect::<Vec<_>>().join(", "))
        }
        None => "none with -O".to_owned(),
    };
    let took = format!("The plain build took {}", format::waiting_time(plain.wall_s));
    let calls = if found.calls_compilers() { format!(": {}, {own}", compilations(plain)) } else { String::new() };
    let program = match product.library {
        Some(_) => "the source is a library, not a program".to_owned(),
        None => format!("the program is {}", product.path.display()),
    };
    let seen = format!("{took}{calls}; {program}.");
    say(&seen);
    if found.calls_compilers() && made.compilations == 0 {
        say("Bakeoff saw no compiler calls. Either the project ships its own compiler, or a compiler cache answered \
             instead. In both cases, flags that levels append will have no effect.");
    }
    let rust = if found.system == System::Cargo { rust::own(&origin.tree) } else { vec![] };
    let (kept, left) = without_own(wanted, made, &rust);
    let mut seen = vec![seen];
    for level in left {
        let line = format!("Omitted: {}, because the project already builds that way.", level.name);
        say(&line);
        seen.push(line);
    }
    let mut levels = vec![Level { name: OWN.to_owned(), entries: vec![] }];
    levels.extend(kept.into_iter().filter(|level| level.name != OWN));
    if levels.len() < 2 {
        return Err(CommandError::usage("no level differs from the project's own flags")
            .hint("name a level that changes something, such as --level 'O3=-O3 -march=native'"));
    }
    Ok((levels, seen))
}
