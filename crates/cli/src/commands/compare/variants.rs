//! Variants out of the words of the command line: commands with names, the one that all others are compared with,
//! values of parameters, and what stands around the trials of each.

use super::parameters::{COMMAND, Parameter, Parameters, combinations, substitute};
use bakeoff_command::error::CommandError;
use bakeoff_model::plain::clean;
use bakeoff_model::plan::{BASELINE, Variant};
use bakeoff_model::record::{RELAID, TWIN, is_baseline_again};
use bakeoff_model::study::{Around, Levels};
use bakeoff_report::words::counted;

/// Names of commands, and the baseline
#[derive(Debug, Default, clap::Args)]
pub(super) struct Named {
    /// Name a command; repeat the option for each command, in order
    #[arg(long = "name", short = 'n', visible_alias = "command-name", value_name = "NAME")]
    names: Vec<String>,
    /// Compare with this command instead of the first; give its name, text or number (counting from 1)
    #[arg(long, value_name = "NAME", conflicts_with = "reference")]
    baseline: Option<String>,
    /// Add a command as the baseline
    #[arg(long, value_name = "COMMAND")]
    reference: Option<String>,
    /// Name the --reference command
    #[arg(long, value_name = "NAME", requires = "reference")]
    reference_name: Option<String>,
}

/// Commands around the trials, outside the measured time: give each option once, or once per command, in order
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Around trials")]
pub(super) struct AroundTrials {
    /// Run each command N times, unmeasured, before the first block
    #[arg(long, short, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub(super) warmup: u32,
    /// Run this once for each command, before the first block
    ///
    /// If the setup uses a parameter that the command does not use, Bakeoff runs the setup before each trial.
    #[arg(long, short, value_name = "COMMAND")]
    setup: Vec<String>,
    /// Run this before each trial
    #[arg(long, short, value_name = "COMMAND")]
    prepare: Vec<String>,
    /// Run this after each trial
    #[arg(long, short = 'C', value_name = "COMMAND")]
    conclude: Vec<String>,
    /// Run this once for each command, after the last block
    #[arg(long, short, value_name = "COMMAND")]
    cleanup: Vec<String>,
}

impl Named {
    pub(super) fn has_baseline(&self) -> bool {
        self.baseline.is_some() || self.reference.is_some()
    }
}

/// How the name of a variant begins that was saved on another day.
const SAVED: &str = "saved ";

/// The name of a variant of the comparison that was saved under that name; `own` is its name there, if there are
/// several.
pub(super) fn saved_name(saved: &str, own: Option<&String>, taken: &[Variant]) -> String {
    let name = format!("{SAVED}{saved}{}", own.map_or(String::new(), |own| format!(": {own}")));
    let is_free = |name: &String| taken.iter().all(|variant| variant.name != *name);
    let mut numbered = (1..).map(|n| if n == 1 { name.clone() } else { format!("{name} ({n})") });
    numbered.find(is_free).unwrap_or(name)
}

/// Whether a variant has such a name, and not because that is its command.
pub(super) fn is_saved(name: &str, run: Option<&str>) -> bool {
    name.starts_with(SAVED) && run != Some(name)
}

#[derive(Debug, Default)]
pub(super) struct Variants {
    /// The baseline first.
    pub(super) all: Vec<Variant>,
    /// Commands around the trials of all of them.
    pub(super) around: Around,
    /// Parameters that rise from value to value.
    pub(super) trends: Vec<String>,
}

/// A command before parameters are put in.
struct Template {
    text: String,
    /// What it is called; none if that is the command itself.
    name: Option<String>,
    around: Around,
}

impl Variants {
    pub(super) fn of(
        commands: &[String],
        named: &Named,
        around: &AroundTrials,
        parameters: &Parameters,
    ) -> Result<Self, CommandError> {
        let parameters = parameters.read()?;
        let (mut templates, for_all) = templates(commands, named, around, !parameters.is_empty())?;
        templates.iter_mut().for_each(|template| template.set_up_each_trial(&parameters));
        if let Some(unused) = parameters.iter().find(|parameter| !templates.iter().any(|t| t.has(parameter))) {
            let error = format!("no command has `{{{}}}`", clean(&unused.name));
            return Err(CommandError::usage(error).hint("write the parameter in braces where its value belongs"));
        }
        let mut all = vec![];
        for values in combinations(&parameters) {
            for template in &templates {
                let is_plain = !parameters.iter().any(|parameter| template.has(parameter));
                // One that has no parameter is the same for all values.
                if !is_plain
                    || parameters.is_empty()
                    || !all.iter().any(|known: &Variant| known.run.as_deref() == Some(&template.text))
                {
                    let parameters = if is_plain { &[] } else { parameters.as_slice() };
                    all.push(variant(template, templates.len() > 1, parameters, &values));
                }
            }
        }
        if all.iter().any(|variant| variant.name.trim().is_empty()) {
            return Err(CommandError::usage("a name is empty").hint("omit --name to use the commands as names"));
        }
        number_alike(&mut all, parameters.is_empty());
        choose_baseline(&mut all, named.baseline.as_deref())?;
        let trends = parameters.into_iter().filter(|parameter| parameter.is_numeric).map(|parameter| parameter.name);
        Ok(Self { all, around: for_all, trends: trends.collect() })
    }
}

impl Template {
    /// Whether the command has the parameter, or what stands around its trials.
    fn has(&self, parameter: &Parameter) -> bool {
        let Around { setup, prepare, conclude, cleanup } = &self.around;
        let around = [setup, prepare, conclude, cleanup].into_iter().flatten();
        std::iter::once(&self.text).chain(around).any(|text| uses(text, parameter))
    }

    /// Once before the first block is too early for a setup that makes one command several things, as `git checkout
    /// {branch}` does: all would find what the last one left. It is executed before each trial.
    fn set_up_each_trial(&mut self, parameters: &[Parameter]) {
        let Around { setup, prepare, .. } = &mut self.around;
        let makes_others = |setup: &mut String| parameters.iter().any(|p| uses(setup, p) && !uses(&self.text, p));
        if let Some(text) = setup.take_if(makes_others) {
            *prepare =
                Some(prepare.take().map_or(text.clone(), |prepare| format!("{{ {text}\n}} && {{ {prepare}\n}}")));
        }
    }
}

fn uses(text: &str, parameter: &Parameter) -> bool {
    text.contains(&format!("{{{}}}", parameter.name))
}

/// A place among the commands around trials.
type Part = fn(&mut Around) -> &mut Option<String>;

/// The commands, and what stands around all of them.
fn templates(
    commands: &[String],
    named: &Named,
    around: &AroundTrials,
    have_parameters: bool,
) -> Result<(Vec<Template>, Around), CommandError> {
    let Named { names, reference, reference_name, .. } = named;
    if !names.is_empty() && names.len() != commands.len() {
        let error =
            format!("{} for {}", counted(names.len() as u32, "name"), counted(commands.len() as u32, "command"));
        return Err(CommandError::usage(error).hint("give one --name for each command, or none"));
    }
    let mut given = names.iter().chain(reference_name);
    if let Some(taken) = given.find(|name| [BASELINE, TWIN, RELAID].contains(&name.as_str()) || name.starts_with(SAVED))
    {
        return Err(CommandError::usage(format!("the name `{taken}` is reserved")).hint("choose another name"));
    }
    let first = reference.iter().map(|text| (text, reference_name.as_ref()));
    let others = commands.iter().enumerate().map(|(at, text)| (text, names.get(at)));
    let mut templates: Vec<Template> = first
        .chain(others)
        .map(|(text, name)| Template { text: text.clone(), name: name.cloned(), around: Around::default() })
        .collect();
    if templates.iter().any(|template| template.text.trim().is_empty()) {
        return Err(CommandError::usage("a command is empty").hint("to run nothing, use the command `true`"));
    }
    let mut for_all = Around::default();
    let AroundTrials { setup, prepare, conclude, cleanup, .. } = around;
    let parts: [(&str, &[String], Part); 4] = [
        ("setup", setup, |around| &mut around.setup),
        ("prepare", prepare, |around| &mut around.prepare),
        ("conclude", conclude, |around| &mut around.conclude),
        ("cleanup", cleanup, |around| &mut around.cleanup),
    ];
    for (option, texts, part) in parts {
        match texts {
            [] => {}
            [one] if !have_parameters => *part(&mut for_all) = Some(one.clone()),
            [one] => templates.iter_mut().for_each(|template| *part(&mut template.around) = Some(one.clone())),
            each if each.len() == templates.len() => {
                templates
                    .iter_mut()
                    .zip(each)
                    .for_each(|(template, text)| *part(&mut template.around) = Some(text.clone()));
            }
            each => {
                let error = format!(
                    "--{option} is given {} times for {}",
                    each.len(),
                    counted(templates.len() as u32, "command")
                );
                return Err(CommandError::usage(error).hint("give it once for all commands, or once for each"));
            }
        }
    }
    Ok((templates, for_all))
}

fn variant(template: &Template, are_several: bool, parameters: &[Parameter], values: &[&str]) -> Variant {
    let put = |text: &String| substitute(text, parameters, values);
    let own = template.name.as_ref().unwrap_or(&template.text);
    let mut levels = Levels::new();
    if are_several || parameters.is_empty() {
        levels.insert(COMMAND.to_owned(), own.clone());
    }
    let settings =
        parameters.iter().zip(values).map(|(parameter, value)| (parameter.name.clone(), (*value).to_owned()));
    levels.extend(settings.clone());
    // What a name, or a command without one, shows anyhow is not said again.
    let shown = template.name.as_ref().unwrap_or(&template.text);
    let is_hidden = |name: &str| !shown.contains(&format!("{{{name}}}"));
    let hidden = settings.clone().filter(|(name, _)| is_hidden(name)).map(|(name, value)| format!("{name}={value}"));
    let settings = settings.map(|(name, value)| format!("{name}={value}"));
    let words: Vec<String> = match (parameters.is_empty(), are_several, &template.name) {
        (true, ..) => vec![own.clone()],
        (false, false, None) => settings.collect(),
        (false, ..) => std::iter::once(put(shown)).chain(hidden).collect(),
    };
    let Around { setup, prepare, conclude, cleanup } = &template.around;
    let [setup, prepare, conclude, cleanup] = [setup, prepare, conclude, cleanup].map(|text| text.as_ref().map(put));
    Variant {
        name: words.join(" "),
        levels,
        run: Some(put(&template.text)),
        around: Around { setup, prepare, conclude, cleanup },
        ..Variant::default()
    }
}

/// Gives those that are called the same a number, in their levels too, if these are names.
fn number_alike(all: &mut [Variant], levels_are_names: bool) {
    for at in 0..all.len() {
        let name = all[at].name.clone();
        let is_free =
            |wanted: &String| !is_baseline_again(wanted) && !all[..at].iter().any(|known| known.name == *wanted);
        let numbered = (1..).map(|n| if n == 1 { name.clone() } else { format!("{name} ({n})") });
        let free = numbered.into_iter().find(is_free).unwrap_or(name);
        if levels_are_names {
            all[at].levels.insert(COMMAND.to_owned(), free.clone());
        }
        all[at].name = free;
    }
}

fn choose_baseline(all: &mut [Variant], wanted: Option<&str>) -> Result<(), CommandError> {
    let Some(wanted) = wanted else { return Ok(()) };
    let by_name = all.iter().position(|variant| variant.name == wanted || variant.run.as_deref() == Some(wanted));
    let by_number =
        || wanted.parse::<usize>().ok().and_then(|number| number.checked_sub(1)).filter(|at| *at < all.len());
    let Some(at) = by_name.or_else(by_number) else {
        let names: Vec<String> = all.iter().map(|variant| clean(&variant.name)).collect();
        let error = format!("there is no variant `{}` to compare with", clean(wanted));
        return Err(CommandError::usage(error).hint(format!("there are: {}", names.join(", "))));
    };
    all[..=at].rotate_right(1);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{FromArgMatches as _, Parser};

    #[derive(Debug, Parser)]
    struct Line {
        commands: Vec<String>,
        #[command(flatten)]
        named: Named,
        #[command(flatten)]
        around: AroundTrials,
        #[command(flatten)]
        parameters: Parameters,
    }

    fn of(words: &[&str]) -> Result<Variants, CommandError> {
        let line = Line::try_parse_from(std::iter::once("x").chain(words.iter().copied())).unwrap();
        Variants::of(&line.commands, &line.named, &line.around, &line.parameters)
    }

    #[track_caller]
    fn check(words: &[&str], expect: &[(&str, &str)]) {
        let variants = of(words).map_err(|error| error.render()).unwrap().all;
        let found: Vec<(&str, &str)> =
            variants.iter().map(|v| (v.name.as_str(), v.run.as_deref().unwrap_or_default())).collect();
        assert_eq!(found, expect);
    }

    #[track_caller]
    fn refused(words: &[&str], part: &str) {
        let error = of(words).map(|_| ()).unwrap_err().render();
        assert!(error.contains(part) && error.contains("hint: "), "{error}");
    }

    #[test]
    fn names_stand_anywhere_and_alike_ones_are_numbered() {
        check(&["a", "b"], &[("a", "a"), ("b", "b")]);
        check(&["-n", "one", "a", "-n", "two", "b"], &[("one", "a"), ("two", "b")]);
        check(&["a", "a", "a"], &[("a", "a"), ("a (2)", "a"), ("a (3)", "a")]);
        refused(&["-n", "one", "a", "b"], "1 name for 2 commands");
        refused(&["-n", "baseline", "-n", "x", "a", "b"], "`baseline` is reserved");
        refused(&["a", " "], "a command is empty");
        refused(&["a", ""], "a command is empty");
    }

    #[test]
    fn the_baseline_is_chosen_by_name_command_or_number() {
        check(&["a", "b", "c", "--baseline", "c"], &[("c", "c"), ("a", "a"), ("b", "b")]);
        check(&["a", "b", "--baseline", "2"], &[("b", "b"), ("a", "a")]);
        check(&["-n", "x", "-n", "y", "a", "b", "--baseline", "b"], &[("y", "b"), ("x", "a")]);
        check(&["a", "--reference", "r", "--reference-name", "R"], &[("R", "r"), ("a", "a")]);
        refused(&["a", "b", "--baseline", "3"], "no variant `3`");
    }

    #[test]
    fn parameters_are_factors() {
        check(&["-P", "n", "1", "3", "f {n}"], &[("n=1", "f 1"), ("n=2", "f 2"), ("n=3", "f 3")]);
        check(
            &["-L", "a", "x,y", "-L", "b", "1,2", "f {a}{b}"],
            &[("a=x b=1", "f x1"), ("a=x b=2", "f x2"), ("a=y b=1", "f y1"), ("a=y b=2", "f y2")],
        );
        check(&["-L", "a", "x,y", "f {a}", "g {a}"], &[("f x", "f x"), ("g x", "g x"), ("f y", "f y"), ("g y", "g y")]);
        check(&["-L", "a", "x,y", "f {a}", "--reference", "g"], &[("g", "g"), ("f x", "f x"), ("f y", "f y")]);
        let of = of(&["-P", "n", "1", "3", "-L", "w", "a,b", "f {n} {w}"]).unwrap();
        assert_eq!((of.trends, of.all.len(), of.all[0].levels.len()), (vec!["n".to_owned()], 6, 2));
        refused(&["-P", "n", "1", "3", "f"], "no command has `{n}`");
    }

    #[test]
    fn what_stands_around_is_for_all_or_for_each() {
        let one = of(&["a", "b", "--prepare", "p"]).unwrap();
        assert_eq!((one.around.prepare.as_deref(), one.all[0].around.prepare.as_deref()), (Some("p"), None));
        let each = of(&["a", "b", "--prepare", "p", "--prepare", "q", "--baseline", "b"]).unwrap();
        let own: Vec<_> = each.all.iter().map(|variant| variant.around.prepare.as_deref()).collect();
        assert_eq!((each.around.prepare, own), (None, vec![Some("q"), Some("p")]));
        let put = of(&["-L", "x", "1,2", "f {x}", "--setup", "make {x}"]).unwrap();
        let own: Vec<_> = put.all.iter().map(|variant| variant.around.setup.as_deref()).collect();
        assert_eq!(own, [Some("make 1"), Some("make 2")]);
        refused(&["a", "b", "c", "--cleanup", "1", "--cleanup", "2"], "2 times for 3 commands");
    }

    #[test]
    fn options_have_the_letters_that_people_know() {
        let words = ["x", "-w", "3", "-s", "s", "-p", "p", "-C", "c", "-c", "d", "a"];
        let matches = <Line as clap::CommandFactory>::command().try_get_matches_from(words).unwrap();
        let line = Line::from_arg_matches(&matches).unwrap();
        assert_eq!(
            (line.around.warmup, line.around.conclude[0].as_str(), line.around.cleanup[0].as_str()),
            (3, "c", "d")
        );
    }
}
