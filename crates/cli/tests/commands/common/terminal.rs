//! A command at a terminal: script(1) gives it one.

use super::Shown;
use std::ffi::OsStr;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};

/// Whether script(1) cannot give a command a terminal here; then prints that the test is skipped.
pub fn is_missing() -> bool {
    let tried = Command::new("script").args(["-qec", "true", "/dev/null"]).stdin(Stdio::null()).output();
    let is_missing = !tried.is_ok_and(|output| output.status.success());
    if is_missing {
        println!("skipped: script(1) is not installed, or there are no terminals");
    }
    is_missing
}

/// A command that runs at a terminal.
pub struct Terminal(Child);

impl Terminal {
    /// Starts it at a terminal of this width.
    pub fn of(command: &Command, columns: usize) -> Self {
        let quoted = |word: &OsStr| format!("'{}'", word.to_str().unwrap().replace('\'', "'\\''"));
        let words: Vec<String> = std::iter::once(command.get_program()).chain(command.get_args()).map(quoted).collect();
        // A background job of a script ignores SIGINT, and so would all that it starts.
        let line = format!("stty -echo rows 24 cols {columns}; exec env --default-signal=INT {}", words.join(" "));
        let mut script = Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).env("SHELL", "/bin/sh");
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => script.env(name, value),
                None => script.env_remove(name),
            };
        }
        script.current_dir(command.get_current_dir().unwrap());
        script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(script.spawn().unwrap())
    }

    /// Types this.
    pub fn type_in(mut self, text: &str) -> Self {
        self.0.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
        self
    }

    /// Waits until it has printed this; none of what was printed up to there is in what [`Self::ended`] returns.
    pub fn shows(&mut self, text: &str) {
        let (mut shown, mut byte) = (vec![], [0]);
        while !shown.ends_with(text.as_bytes()) {
            self.0.stdout.as_mut().unwrap().read_exact(&mut byte).unwrap();
            shown.push(byte[0]);
        }
    }

    /// Presses Ctrl-C, for which a terminal sends SIGINT to all processes in its foreground, and waits until the command ends.
    pub fn interrupted(self) -> Shown {
        let mut terminal = self.type_in("\x03");
        // The end of what is typed would be an answer.
        let _open = terminal.0.stdin.take();
        terminal.ended()
    }

    /// Waits until the command ends. All that it printed is in `out`.
    pub fn ended(self) -> Shown {
        Shown::of(&self.0.wait_with_output().unwrap())
    }
}

/// The lines that a terminal showed, also those that were drawn over.
pub fn drawn(shown: &Shown) -> Vec<String> {
    shown.out.replace("\x1b[K", "").split(['\r', '\n']).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}
