//! Lines of progress at a terminal.

use crate::common::terminal::{self, Terminal, drawn};
use crate::common::{SMALL, Sandbox};

#[test]
fn a_line_of_progress_is_cut_to_the_terminal() {
    if terminal::is_missing() {
        return;
    }
    let long = "a-level-whose-name-is-wider-than-the-terminal-on-which-it-is-drawn";
    let sandbox = Sandbox::new(&SMALL.replace("\ntwice =", &format!("\n{long} =")));
    sandbox.write("hello.out", "hello\n");
    let words = ["run", "STUDY", "--blocks", "6", "--simulate", "pause:0.001"];
    for columns in [40, 50, 140] {
        let shown = Terminal::of(&sandbox.command(&words), columns).ended();
        shown.expect(0, &[]);
        let lines: Vec<String> = drawn(&shown).into_iter().filter(|line| line.starts_with("block ")).collect();
        let widest = lines.iter().map(|line| line.chars().count()).max();
        // Where it is wide enough, nothing is cut.
        assert!(
            widest.is_some_and(|widest| widest < columns && (widest == columns - 1) == (columns < 140)),
            "{lines:?}"
        );
        assert_eq!(lines.iter().any(|line| line.ends_with('…')), columns < 140, "{lines:?}");
        assert_eq!(lines.iter().any(|line| line.ends_with(long)), columns == 140, "{lines:?}");
        std::fs::remove_dir_all(sandbox.study().join(".bakeoff")).unwrap();
    }
}
