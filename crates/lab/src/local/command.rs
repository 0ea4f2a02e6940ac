//! Command texts of a study: whether one needs a shell, and the words that are executed.

use bakeoff_model::plan::Plan;

/// How a command text is executed: by `sh -c`, or directly.
pub(super) fn argv(text: &str, shell: bool) -> Vec<String> {
    if shell {
        ["sh", "-c", text].map(str::to_owned).to_vec()
    } else {
        text.split_whitespace().map(str::to_owned).collect()
    }
}

/// Whether any trial of a plan needs a shell: then all get one, or the shell would be what differs.
pub(super) fn any_needs_a_shell(plan: &Plan) -> bool {
    let texts = plan.variants.iter().flat_map(|variant| {
        plan.workloads.iter().map(|workload| variant.run.as_deref().unwrap_or(workload.run.as_str()))
    });
    !texts.into_iter().all(is_plain)
}

/// Whether a command is nothing but plain words, which can be executed without a shell: it dilutes a short trial.
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
}
