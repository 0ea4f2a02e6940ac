//! Which exit codes each command may have, in the words of its help. What a code means everywhere is in [`Code`].

use crate::error::Code;

/// An exit code and when a command has it, as its help says so.
pub type Exit = (Code, &'static str);

/// Those of every command.
const OF_ALL: [Exit; 3] = [
    (Code::Done, "done"),
    (Code::Usage, "a problem with the command line, the study, or a named file"),
    (Code::Internal, "an internal error, a full disk, or unwritable standard output"),
];

/// The line before the codes.
pub const TITLE: &str = "Exit codes:";

/// All exits of a command that has these of its own.
fn all(own: &[Exit]) -> impl Iterator<Item = &Exit> {
    OF_ALL.iter().chain(own)
}

pub(crate) fn has(own: &[Exit], code: Code) -> bool {
    all(own).any(|(known, _)| *known == code)
}

pub(crate) fn explained(command: clap::Command, own: &[Exit]) -> clap::Command {
    let mut codes: Vec<Code> = all(own).map(|(code, _)| *code).collect();
    codes.sort_by_key(|code| *code as u8);
    codes.dedup();
    let before = command.get_after_help().map(|text| format!("{text}\n\n"));
    let mut text = before.unwrap_or_default() + TITLE + "\n\n";
    for code in codes {
        let mut when: Vec<&str> = all(own).filter(|(known, _)| *known == code).map(|(_, when)| *when).collect();
        when.dedup();
        text += &format!("- {}: {}\n", code as u8, when.join("; or "));
    }
    command.after_help(text.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_in_order_and_each_stands_once() {
        let own = [(Code::Interrupted, "stopped"), (Code::GateFailed, "a"), (Code::GateFailed, "b")];
        let command = explained(clap::Command::new("x").after_help("Examples:"), &own);
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let (examples, codes) = help.split_once("\n\nExit codes:\n\n").unwrap();
        assert_eq!(examples, "Examples:");
        let lines: Vec<&str> = codes.lines().collect();
        assert_eq!((lines[0], lines[1]), ("- 0: done", "- 1: a; or b"));
        assert!(lines[2].starts_with("- 2: ") && lines[3].starts_with("- 5: "), "{codes}");
        assert_eq!(lines[4..], ["- 130: stopped"]);
        assert!(has(&own, Code::Internal) && has(&own, Code::GateFailed) && !has(&own, Code::Undecided));
    }
}
