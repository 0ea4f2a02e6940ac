//! The documents, held to what the program does: every `$ bakeoff …` in a `console` block is run in a folder of the document's
//! own with a copy of the studies, and what stands below it is compared with what is printed. `…` stands for anything, and alone on a line
//! for any lines; `$ echo $?` with a number below it is the exit code of the command before. `docs/reference/commands.md` is generated.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::Shown;
use bakeoff_model::metric::{METRICS, Unit};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A command line of a document, what should be printed, and the exit code.
struct Example {
    line: usize,
    command: String,
    expect: Vec<String>,
    code: i32,
}

fn examples(text: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = vec![];
    let mut in_console = false;
    let mut is_code = false;
    for (number, line) in (1..).zip(text.lines()) {
        if line.starts_with("```") {
            in_console = line == "```console";
        } else if !in_console {
            continue;
        } else if line == "$ echo $?" {
            is_code = true;
        } else if let Some(command) = line.strip_prefix("$ ") {
            is_code = false;
            examples.push(Example { line: number, command: command.to_owned(), expect: vec![], code: 0 });
        } else if let Some(example) = examples.last_mut() {
            if is_code {
                example.code = line.parse().unwrap();
            } else {
                example.expect.push(line.to_owned());
            }
        }
    }
    examples
}

/// A line that was measured, without its figures and without the picture: these are other ones each time.
fn without_figures(line: &str) -> String {
    let kept = line.chars().filter(|c| !"│┊├┤─●┼".contains(*c));
    let figures: String = kept.map(|c| if c.is_ascii_digit() || ".,+−".contains(c) { '#' } else { c }).collect();
    let words = figures.split_whitespace().map(|word| {
        let mut word = word.replace('#', "\u{1}");
        while word.contains("\u{1}\u{1}") {
            word = word.replace("\u{1}\u{1}", "\u{1}");
        }
        word
    });
    words.filter(|word| !word.contains("\u{1}%")).collect::<Vec<_>>().join(" ")
}

/// What a screen says, whatever the machine does meanwhile: without figures, without the doubts that a busy machine raises,
/// and without the interval in the answer, which gives way to such a doubt. Question, rows, claims and answer stay.
fn form(lines: &[&str]) -> Vec<String> {
    let of_the_machine = |line: &&&str| line.starts_with('▲');
    let of_line = |line: &&str| {
        let doubts = ["busy machine, the twin differs; ", "busy machine; ", "the twin differs; "];
        let line = doubts.iter().find_map(|doubt| line.strip_prefix(doubt)).unwrap_or(line);
        without_figures(line).replace(" (\u{1} … \u{1} %)", "")
    };
    lines.iter().filter(|line| !of_the_machine(line)).map(of_line).collect()
}

/// Whether a printed line is the expected one, in which `…` stands for anything.
fn line_matches(expect: &str, line: &str) -> bool {
    let parts: Vec<&str> = expect.split('…').collect();
    let (first, last) = (parts[0], parts[parts.len() - 1]);
    if parts.len() == 1 {
        return expect == line;
    }
    if !line.starts_with(first) || !line[first.len()..].ends_with(last) {
        return false;
    }
    let mut rest = &line[first.len()..line.len() - last.len()];
    parts[1..parts.len() - 1].iter().all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

fn lines_match(expect: &[String], lines: &[&str]) -> bool {
    match expect.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first == "…" => (0..=lines.len()).any(|skipped| lines_match(rest, &lines[skipped..])),
        Some((first, rest)) => {
            lines.split_first().is_some_and(|(line, more)| line_matches(first, line) && lines_match(rest, more))
        }
    }
}

/// How often what is measured is measured again.
const TRIES: u32 = 4;

#[test]
fn every_command_in_the_documents_does_what_they_say() {
    let folder = tempfile::tempdir().unwrap();
    let copy = |from: &Path, to: &Path| {
        assert!(Command::new("cp").arg("-rL").arg(from).arg(to).status().unwrap().success());
    };
    let studies = folder.path().join("studies");
    copy(&root().join("studies"), &studies);
    // What was run in this checkout is not part of the documents.
    for study in fs::read_dir(&studies).unwrap() {
        let _ = fs::remove_dir_all(study.unwrap().path().join(".bakeoff"));
    }
    let program = Path::new(env!("CARGO_BIN_EXE_bakeoff")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut documents = vec![root().join("README.md")];
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() { folders.push(path) } else { documents.push(path) }
        }
    }
    documents.retain(|path| path.extension().is_some_and(|e| e == "md"));
    let (mut executed, mut differ) = (0, vec![]);
    for document in documents {
        // A reader has one document open; what another one has made under the same name is not there.
        let own = tempfile::tempdir_in(folder.path()).unwrap();
        let examples = examples(&fs::read_to_string(&document).unwrap());
        if !examples.is_empty() {
            copy(&studies, own.path());
        }
        for example in examples {
            let execute = || {
                let mut command = Command::new("sh");
                command.args(["-c", &example.command]).current_dir(own.path()).env("PATH", &path);
                command.env("BAKEOFF_CACHE", folder.path().join("cache")).env("BAKEOFF_LOCKS", folder.path());
                command
                    .env("BAKEOFF_STATE", folder.path().join("state"))
                    .env_remove("COLUMNS")
                    .env("LC_ALL", "C.UTF-8");
                Shown::of(&command.output().unwrap())
            };
            let place = format!("{}:{}: {}", document.display(), example.line, example.command);
            // A machine that does much else may hide a difference, or show one of another size.
            let mut printed = String::new();
            let as_shown = (0..TRIES).any(|again| {
                let shown = execute();
                // What writes a study cannot be repeated.
                if again > 0 && shown.code != example.code {
                    return false;
                }
                assert_eq!(shown.code, example.code, "{place}\n{}{}", shown.out, shown.err);
                let lines: Vec<&str> = shown.err.lines().chain(shown.out.lines()).map(str::trim_end).collect();
                printed = lines.join("\n");
                let is_measured = example.command.starts_with("bakeoff compare");
                let expect: Vec<&str> = example.expect.iter().map(String::as_str).collect();
                let is_alike = || form(&expect) == form(&lines);
                expect.is_empty() || lines_match(&example.expect, &lines) || is_measured && is_alike()
            });
            if !as_shown {
                differ.push(format!("{place}\nexpected\n{}\nprinted\n{printed}\n", example.expect.join("\n")));
            }
            executed += 1;
        }
    }
    println!("{executed} commands were executed");
    assert!(differ.is_empty(), "{}", differ.join("\n"));
    assert!(executed > 3, "{executed}");
}

#[test]
fn the_pages_of_commands_are_current() {
    let (folder, pages) = (root().join("docs/reference"), bakeoff_cli::command_pages());
    if std::env::var_os("BAKEOFF_UPDATE").is_some() {
        let _ = fs::remove_dir_all(folder.join("commands"));
        fs::create_dir(folder.join("commands")).unwrap();
        pages.iter().for_each(|(file, page)| fs::write(folder.join(file), page).unwrap());
    }
    for (file, page) in &pages {
        let written = fs::read_to_string(folder.join(file)).unwrap_or_default();
        assert!(written == *page, "docs/reference/{file} is not current; BAKEOFF_UPDATE=1 make test rewrites it");
    }
    // Options of a feature must not bring a description of the whole command.
    assert!(pages.iter().any(|(_, page)| page.contains("Build, run and judge a study, or resume it")));
    let there = fs::read_dir(folder.join("commands")).unwrap().count();
    assert_eq!(there + 1, pages.len(), "a page in docs/reference/commands is of no command");
}

/// The example of the format is a study without problems, but for its checksum.
#[test]
fn the_example_of_the_study_file_is_one() {
    let page = fs::read_to_string(root().join("docs/reference/study-file.md")).unwrap();
    let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let text = example.replace("…64 hexadecimal digits…", &"0".repeat(64));
    let features = bakeoff_cli::features();
    if let Err(list) = bakeoff_model::study_file::parse_with(&text, &features.sections, features.recipe_reader()) {
        panic!("{}", bakeoff_model::problem::Problems::new("docs/reference/study-file.md", &text, list).render(false));
    }
}

/// The study of one's own Makefile, with such a Makefile.
#[test]
fn the_study_by_hand_runs() {
    let page = fs::read_to_string(root().join("docs/tasks/your-program.md")).unwrap();
    let study = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (source, bench) = (folder.path().join("sum"), folder.path().join("sum/bench"));
    fs::create_dir_all(&bench).unwrap();
    fs::write(bench.join("study.toml"), study).unwrap();
    fs::write(source.join("Makefile"), "sum: sum.c\n\t$(CC) $(CFLAGS) -o $@ sum.c\n").unwrap();
    // Something that another level compiles to other instructions.
    let sum = "double s, a[999];\nint main(void) {\n  for (int i = 0; i < 999; i++) a[i] = s += 1.0 / (i + 1.0) * a[i];\n  return s < 0;\n}\n";
    fs::write(source.join("sum.c"), sum).unwrap();
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bakeoff"));
        command.args(words).current_dir(&source).env("LC_ALL", "C.UTF-8");
        command.env("BAKEOFF_CACHE", folder.path().join("cache")).env("BAKEOFF_LOCKS", folder.path());
        let shown = Shown::of(&command.env("BAKEOFF_STATE", folder.path().join("state")).output().unwrap());
        assert_eq!(shown.code, 0, "{words:?}\n{}{}", shown.out, shown.err);
        shown.out
    };
    run(&["plan", "bench"]);
    // The second run goes on with the first: its journal, which lies in the source, is no change of it.
    for _ in 0..2 {
        let screen = run(&["run", "bench", "--blocks", "1", "--quiet"]);
        assert!(screen.contains("native"), "{screen}");
    }
    let entries = fs::read_dir(bench.join(".bakeoff")).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(entries.filter(|path| path.extension().is_some_and(|e| e == "jsonl")).count(), 1);
}

/// The tables of `docs/reference/metrics.md` have each metric once, with its unit, and no other name.
#[test]
fn every_metric_is_in_the_table_with_its_unit_and_every_name_there_is_a_metric() {
    let page = fs::read_to_string(root().join("docs/reference/metrics.md")).unwrap();
    let section = page.split("\n## ").find(|section| section.starts_with("The metrics\n")).unwrap();
    // The first column has names between backticks, the second their unit.
    let mut listed: Vec<(&str, &str)> = vec![];
    for row in section.lines().filter_map(|line| line.strip_prefix("| ")).filter(|row| row.starts_with('`')) {
        let cells: Vec<&str> = row.split(" | ").collect();
        listed.extend(cells[0].split('`').skip(1).step_by(2).map(|name| (name, cells[1])));
    }
    let word = |unit: Unit| match unit {
        Unit::Seconds => "s",
        Unit::Bytes => "B",
        Unit::Count => "1",
        Unit::PerSecond => "1/s",
        Unit::GuestInstructions => "guest instructions",
    };
    let mut known: Vec<(&str, &str)> = METRICS.iter().map(|metric| (&*metric.name, word(metric.unit))).collect();
    listed.sort_unstable();
    known.sort_unstable();
    assert_eq!(listed, known);
}

#[test]
fn a_busy_machine_changes_no_form_and_another_claim_does() {
    let calm = [
        "a or b: which is faster?",
        "wall time; 12 blocks; machine's noise −0.3 … +0.5 %",
        "",
        "                             95 % interval        +92%",
        "a                   11.1 ms                 │┊",
        "b  90.6 % slower (+10.0 ms)  89.6 … 91.5 %  │┊       ●",
        "",
        "a is faster: b is 90.6 % slower (89.6 … 91.5 %)",
    ];
    let busy = [
        "a or b: which is faster?",
        "▲ other programs used more than 10 % of the processors in 30 of 36 trials",
        "wall time; 12 blocks; machine's noise −13.0 … +8 %",
        "",
        "                             95 % interval       +120%",
        "a                   14.1 ms                 │┊",
        "b  71.2 % slower (+10.1 ms)    31 … 119.0 %  │┊   ├●──┤",
        "▲ a few blocks are far from the others; they are kept",
        "",
        "busy machine; a is faster: b is 71.2 % slower",
    ];
    assert_eq!(form(&calm), form(&busy));
    for (place, other) in
        [(0, "a or c: which is faster?"), (5, "b  undecided  −1 … +9 %"), (7, "a and b are equivalent")]
    {
        let mut changed = calm;
        changed[place] = other;
        assert_ne!(form(&calm), form(&changed), "{other}");
    }
}

#[test]
fn an_ellipsis_stands_for_anything_and_nothing_else_does() {
    for (expect, line, matches) in [
        ("a", "a", true),
        ("a", "b", false),
        ("a … c", "a b c", true),
        ("a … c", "a b d", false),
        ("…", "", true),
        ("x…", "xyz", true),
        ("…z", "xy", false),
        ("a…b…c", "a1b2c", true),
        ("a…b…c", "a12c", false),
        ("ab…b", "ab", false),
    ] {
        assert_eq!(line_matches(expect, line), matches, "{expect} {line}");
    }
}
