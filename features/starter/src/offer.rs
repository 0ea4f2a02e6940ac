//! The workload of a new study: what the user types, or else a benchmark or the tests of the source, if they prove to
//! be of use, or else a stub. What a source offers is known to [`crate::targets`], of what use it is to
//! [`crate::tryout`].

use crate::ask::{Answers, say};
use crate::fault::Fault;
use crate::levels::Level;
use crate::library::{DRIVER, Library};
use crate::origin::{Origin, shown};
use crate::plain::{Attempt, reason};
use crate::products::{Product, ranked};
use crate::progress::as_plain;
use crate::script::Program;
use crate::stage::Stage;
use crate::start::Start;
use crate::targets::{Offer, Target, offers};
use crate::tryout;
use crate::workload::{Workload, WorkloadKind, bring_files, of_benchmark, of_command, of_target, stub};
use crate::write::replace;
use bakeoff_building::BuildOutcome;
use bakeoff_command::{CommandError, screen};

/// How a stub starts the program, as long as nothing better is known.
const STARTED: &str = " --version";

/// Where nobody is asked, tests may take this long, in seconds, and benchmarks.
const TESTS_S: f64 = 60.0;
const BENCHMARK_S: f64 = 120.0;

/// The workload, and what it runs.
pub(crate) struct Chosen {
    pub(crate) workload: Workload,
    pub(crate) product: Product,
    pub(crate) target: Option<Target>,
}

/// Chooses the workload; `is_named` if the user has said which program is meant.
pub(crate) fn chosen(
    start: &Start<'_>,
    levels: &[Level],
    run: Option<&str>,
    is_named: bool,
    answers: Answers,
) -> Result<Chosen, CommandError> {
    let (origin, product) = (start.origin, start.product);
    let of = |workload: Workload| Chosen { workload, product: product.clone(), target: None };
    if let Some(library) = &product.library
        && let Some(stub) = driver(library, origin)?
    {
        return Ok(of(stub));
    }
    let typed = |typed: &str| -> Result<Chosen, CommandError> {
        let workload = of_command(typed, &product.name(), &product.path);
        bring(&workload.run, origin)?;
        Ok(of(workload))
    };
    if let Some(run) = run {
        return typed(run);
    }
    let programs = ranked(&start.plain.tree, &start.plain.made.linked, &origin.name).programs;
    let mut left = offers(start.found, &start.plain.tree, &programs);
    left.retain(|offer| !(is_named && matches!(offer, Offer::Program(_))));
    while !left.is_empty() {
        let at = match answers {
            Answers::Nobody => 0,
            Answers::User => {
                let mut choices: Vec<String> = left.iter().map(Offer::shown).collect();
                choices.extend(["a command that you type".to_owned(), "only the start of the program".to_owned()]);
                answers.choose("What do you want to measure?", &choices, "--run")?
            }
        };
        if at > left.len() {
            return Ok(of(stub(&product.name(), STARTED)));
        }
        if at == left.len() {
            break;
        }
        let offer = left.remove(at);
        match tried(start, levels, &offer, answers) {
            Ok(chosen) => {
                say(&format!("the workload is {} (choose another with --run COMMAND)", offer.shown()));
                return Ok(chosen);
            }
            Err(fault) => say(&format!("not used: {} {}", offer.shown(), fault.useless()?)),
        }
    }
    let question = format!(
        "Which command do you want to measure, as you would type it in the source's folder? [only start {}]: ",
        product.path.display()
    );
    match answers.text(&question)? {
        Some(answer) => typed(&answer),
        None => {
            let name = product.name();
            say(&format!("assumed: the workload only starts {name} (choose another with --run COMMAND)"));
            Ok(of(stub(&name, STARTED)))
        }
    }
}

/// Whether a benchmark does anything without words: it is run where it was linked, before anything is built for it.
fn starts(start: &Start<'_>, product: &Product, most_s: f64) -> Result<(), Fault> {
    let mut stage = Stage::new(&start.origin.study_dir, &start.plain.tree)?;
    stage.most_s = most_s;
    let run = Workload { run: format!("\"$PREFIX/{}\"", product.path.display()), ..Workload::default() };
    let home = stage.prepared(&run)?;
    let ended = stage.execute(&run.run, home.path()).map_err(|fault| fault.after("is not a usable workload: "))?;
    if String::from_utf8_lossy(&ended.stdout).to_lowercase().contains("usage") {
        return Err(Fault::Useless("only prints its usage".to_owned()));
    }
    Ok(())
}

/// Builds what is needed for an offer, and tries it; or why it is of no use, in words that follow its name.
fn tried(start: &Start<'_>, levels: &[Level], offer: &Offer, answers: Answers) -> Result<Chosen, Fault> {
    let (product, target, workload) = match offer {
        Offer::Program(product) => {
            let content = std::fs::read(start.plain.tree.join(&product.path)).map_err(CommandError::usage)?;
            (product.clone(), None, of_benchmark(&product.name(), &content))
        }
        Offer::Target(target) => (start.product.clone(), Some(target.clone()), of_target(target)),
    };
    let Start { cache, origin, found, features, .. } = *start;
    std::fs::create_dir_all(&origin.study_dir).map_err(CommandError::usage)?;
    let most_s = match (answers, workload.kind) {
        (Answers::User, _) => crate::stage::MOST_S,
        (_, WorkloadKind::Tests) => TESTS_S,
        _ => BENCHMARK_S,
    };
    if target.is_none() {
        starts(start, &product, most_s)?;
    }
    let libraries = Start { product: &product, ..*start }.libraries();
    let program = Program { product: &product, libraries: &libraries, target: target.as_ref() };
    let plain_s = start.plain.wall_s;
    screen::err(&format!("trying {}: building it{} and running it twice\n", offer.shown(), as_plain(1, plain_s)));
    let attempt = Attempt { cache, origin, found, program, levels, features };
    let line = attempt.line(start.plain.how, false, plain_s)?;
    if line.outcome != BuildOutcome::Built {
        return Err(Fault::Useless(format!("cannot run in its build folder{}", reason(&line))));
    }
    let mut trial = workload.clone();
    if target.is_none() && !libraries.is_empty() {
        trial.run = format!("LD_LIBRARY_PATH=\"$PREFIX/lib\" {}", trial.run);
    }
    tryout::twice(&trial, &origin.study_dir, &cache.prefix_of(&line.digest), most_s)?;
    Ok(Chosen { workload, product, target })
}

/// Copies what a command reads into the study. Before the first build, so that all builds have the same source if the
/// study is in it.
pub(crate) fn bring(run: &str, origin: &Origin) -> Result<(), CommandError> {
    let here = std::env::current_dir().map_err(CommandError::usage)?;
    let brought = bring_files(run, &[&here, &origin.tree], &origin.study_dir).map_err(CommandError::usage)?;
    if !brought.is_empty() {
        screen::out(&format!("copied into the study: {}\n", brought.join(", ")));
    }
    Ok(())
}

/// Sees to it that the program that uses the library is in the study: the user's, from there or from here; or else a
/// skeleton, for which the workload is a stub.
fn driver(library: &Library, origin: &Origin) -> Result<Option<Workload>, CommandError> {
    let file = library.file();
    let here = std::env::current_dir().map_err(CommandError::usage)?;
    let brought = bring_files(&file, &[&here], &origin.study_dir).map_err(CommandError::usage)?;
    let is_own = |text: Vec<u8>| text != library.skeleton().as_bytes();
    if !brought.is_empty() || std::fs::read(origin.study_dir.join(&file)).is_ok_and(is_own) {
        screen::out(&format!("the program that uses the library: {file}\n"));
        return Ok(None);
    }
    std::fs::create_dir_all(&origin.study_dir).map_err(CommandError::usage)?;
    let place = origin.study_dir.join(&file);
    replace(&place, library.skeleton().as_bytes()).map_err(CommandError::usage)?;
    screen::out(&format!("wrote the skeleton {}; add calls to the code that you want to measure\n", shown(&place)));
    Ok(Some(Workload { run: format!("\"$PREFIX/bin/{DRIVER}\""), kind: WorkloadKind::Stub, ..Workload::default() }))
}
