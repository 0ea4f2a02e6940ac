//! Load that varies: processes of ours that work for a while and rest for a while, so that the machine is not the same
//! from second to second. A calibration has it beside its trials; it is no condition of a study, and nothing of it is
//! measured.

use bakeoff_host::{Command, Enclosure, End, Ended, Launcher, Options, Patience};
use bakeoff_lab::Error;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

/// One process: bursts of up to about a third of a second and rests of up to half a second, in a sequence of its own
/// (the generator is that of the C standard's example, 7.22.2). It ends when the file is gone.
const SCRIPT: &str = r#"
worker() {
    x=$1
    while test -e "$2"; do
        x=$(( (x * 1103515245 + 12345) % 2147483648 ))
        n=$(( x / 65536 % 32768 * 8 ))
        while test "$n" -gt 0; do n=$((n - 1)); done
        x=$(( (x * 1103515245 + 12345) % 2147483648 ))
        sleep "0.$(( x / 65536 % 5 ))$(( x / 1048576 % 10 ))"
    done
}
i=0
while test "$i" -lt "$1"; do
    i=$((i + 1))
    worker "$((i * 7919))" "$2" &
done
wait
"#;

/// Load that goes on until this value is dropped. If we are killed, its launcher kills it; an interrupt ends it at once.
#[derive(Debug)]
pub(crate) struct VaryingLoad {
    /// As long as it is there, the processes go on.
    file: PathBuf,
    launched: Option<JoinHandle<Result<Ended, bakeoff_host::Error>>>,
}

impl VaryingLoad {
    /// Starts this many processes; `scratch` is a folder of ours for one file.
    ///
    /// # Errors
    /// [`Error::Folder`] if the file cannot be created, [`Error::Host`] if no launcher can be started.
    pub(crate) fn start(processes: u32, scratch: &Path) -> Result<Self, Error> {
        let file = scratch.join("load");
        std::fs::write(&file, "").map_err(|source| Error::Folder { path: file.clone(), source })?;
        let within = Some(&Enclosure::open(None));
        let mut launcher = Launcher::start_with(&Options { within, ..Options::default() })?;
        let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".to_owned());
        let words = ["sh", "-c", SCRIPT, "load", &processes.to_string(), &file.to_string_lossy()];
        let command = Command {
            argv: words.map(str::to_owned).to_vec(),
            dir: scratch.to_owned(),
            env: BTreeMap::from([("PATH".to_owned(), path)]),
            stdin: None,
            stdout: PathBuf::from("/dev/null"),
            stderr: PathBuf::from("/dev/null"),
        };
        // It sleeps in the kernel until the load has ended.
        let launched = std::thread::spawn(move || launcher.execute(&command, Patience::FirstInterrupt));
        Ok(Self { file, launched: Some(launched) })
    }

    /// How it ended, if it has ended on its own; a load must not.
    ///
    /// # Errors
    /// [`Error::Host`] if its launcher could not go on.
    pub(crate) fn ended(&mut self) -> Result<Option<End>, Error> {
        if !self.launched.as_ref().is_some_and(JoinHandle::is_finished) {
            return Ok(None);
        }
        self.wait().map(|ended| ended.map(|ended| ended.end))
    }

    fn wait(&mut self) -> Result<Option<Ended>, Error> {
        match self.launched.take().map(JoinHandle::join) {
            Some(Ok(ended)) => Ok(Some(ended?)),
            // It does not panic; if it did, there is no load any more.
            Some(Err(_)) | None => Ok(None),
        }
    }
}

impl Drop for VaryingLoad {
    fn drop(&mut self) {
        // Each process sees it before its next burst.
        let _ = std::fs::remove_file(&self.file);
        let _ = self.wait();
    }
}
