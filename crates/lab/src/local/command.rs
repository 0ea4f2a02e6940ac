//! Command texts of a study: whether one needs a shell, and the words that are run.

use bakeoff_model::plan::{Plan, Shell};

/// How a command text is run: by `sh -c`, or directly.
pub(super) fn argv(text: &str, shell: bool) -> Vec<String> {
    if shell {
        ["sh", "-c", text].map(str::to_owned).to_vec()
    } else {
        text.split_whitespace().map(str::to_owned).collect()
    }
}

/// What runs the commands of trials: the same for all of them, or it would be what differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum By {
    /// The launcher. All of them are plain words, or are divided as a shell does it.
    Launcher { quoted: bool },
    /// These words, and the command behind `-c`.
    Shell(Vec<String>),
}

impl By {
    pub(super) fn of(plan: &Plan) -> Self {
        match &plan.shell {
            Shell::Never => Self::Launcher { quoted: true },
            Shell::Always(shell) => Self::Shell(words(shell)),
            Shell::IfNeeded if any_needs_a_shell(plan) => Self::Shell(vec!["sh".to_owned()]),
            Shell::IfNeeded => Self::Launcher { quoted: false },
        }
    }

    /// Whether a shell does.
    pub(super) fn is_shell(&self) -> bool {
        matches!(self, Self::Shell(_))
    }

    pub(super) fn argv(&self, text: &str) -> Vec<String> {
        match self {
            Self::Launcher { quoted: false } => argv(text, false),
            Self::Launcher { quoted: true } => words(text),
            Self::Shell(shell) => shell.iter().cloned().chain(["-c".to_owned(), text.to_owned()]).collect(),
        }
    }
}

/// The words of a text, as a shell divides it. Who asks for that has looked whether it can be done.
fn words(text: &str) -> Vec<String> {
    shell_words::split(text).unwrap_or_else(|_| argv(text, false))
}

/// Whether any trial of a plan needs a shell: then all get one.
fn any_needs_a_shell(plan: &Plan) -> bool {
    let texts = plan.variants.iter().flat_map(|variant| {
        plan.workloads.iter().map(|workload| variant.run.as_deref().unwrap_or(workload.run.as_str()))
    });
    !texts.into_iter().all(is_plain)
}

/// Whether a command is nothing but plain words, which can be run without a shell: it dilutes a short trial.
pub(super) fn is_plain(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || " _@%+=:,./-".contains(c);
    let first = text.split_whitespace().next().unwrap_or_default();
    text.chars().all(plain) && !first.contains('=') && !SHELL_WORDS.contains(&first)
}

/// First words that only a shell understands (POSIX.1-2024, sections 2.4 and 2.15, and the usual built-in utilities).
const SHELL_WORDS: &[&str] = &[
    "", ".", ":", "alias", "bg", "break", "case", "cd", "command", "continue", "eval", "exec", "exit", "export", "fg",
    "for", "getopts", "hash", "if", "jobs", "local", "read", "readonly", "return", "set", "shift", "times", "trap",
    "type", "ulimit", "umask", "unalias", "unset", "until", "wait", "while",
];

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_model::plan::Variant;
    use bakeoff_model::study::Workload;

    #[test]
    fn a_shell_is_used_only_where_it_is_needed() {
        for (text, expect) in [
            ("true", true),
            ("sleep  0.1", true),
            ("dd if=/dev/zero bs=1M", true),
            ("A=1 env", false),
            ("exit 3", false),
            (":", false),
            ("echo $HOME", false),
            ("ls *", false),
            ("\"$PREFIX/bin/perl\" x.pl", false),
            ("", false),
        ] {
            assert_eq!(is_plain(text), expect, "{text:?}");
        }
        assert_eq!(argv("sleep  0.1", false), ["sleep", "0.1"]);
        assert_eq!(argv("sleep  0.1", true), ["sh", "-c", "sleep  0.1"]);
    }

    #[test]
    fn one_command_that_needs_a_shell_gives_all_of_them_one() {
        let plan = |shell: &Shell, commands: &[&str]| {
            let variant = |run: &&str| Variant { run: Some((*run).to_owned()), ..Variant::default() };
            Plan {
                shell: shell.clone(),
                variants: commands.iter().map(variant).collect(),
                workloads: vec![Workload::default()],
                ..Plan::default()
            }
        };
        let check = |shell: &Shell, commands: &[&str], expect: &[&str]| {
            assert_eq!(By::of(&plan(shell, commands)).argv(commands[0]), expect, "{shell:?} {commands:?}");
        };
        check(&Shell::IfNeeded, &["a  b"], &["a", "b"]);
        check(&Shell::IfNeeded, &["a b", "c | d"], &["sh", "-c", "a b"]);
        check(&Shell::Never, &["a 'b c' | d"], &["a", "b c", "|", "d"]);
        check(&Shell::Always("zsh -f".to_owned()), &["a"], &["zsh", "-f", "-c", "a"]);
    }
}
