//! Where the commands of a new study are run as its trials will be: in the study's folder, with an empty `HOME`, and with
//! what was built. What they showed is for others to say; nothing of this is part of a result.

use crate::fault::Fault;
use crate::workload::Workload;
use bakeoff_command::CommandError;
use bakeoff_command::locale;
use bakeoff_host::{Command, End, Launcher, Limits, Patience};
use bakeoff_model::metric;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// No workload of a benchmark takes longer, in seconds.
pub(crate) const MOST_S: f64 = 600.0;

/// Where commands are run, and with what.
pub(crate) struct Stage {
    scratch: TempDir,
    launcher: Launcher,
    dir: PathBuf,
    prefix: PathBuf,
    /// A folder of programs that come before all others.
    pub(crate) before: Option<PathBuf>,
    /// What takes longer is killed, in seconds.
    pub(crate) most_s: f64,
}

/// The locale by which the user's text is read, as one name.
pub(crate) fn locale_of_user() -> String {
    let all = locale::of_user();
    let name = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| all.get(*name));
    name.cloned().unwrap_or_else(|| "C".to_owned())
}

/// How a command ended that succeeded.
pub(crate) struct Ended {
    pub(crate) stdout: Vec<u8>,
    pub(crate) wall_s: f64,
}

impl Stage {
    /// # Errors
    /// Those of the launcher, and of files.
    pub(crate) fn new(dir: &Path, prefix: &Path) -> Result<Self, CommandError> {
        let scratch = tempfile::tempdir().map_err(CommandError::usage)?;
        let (dir, prefix) = (dir.to_owned(), prefix.to_owned());
        Ok(Self { scratch, launcher: Launcher::start(None)?, dir, prefix, before: None, most_s: MOST_S })
    }

    /// A new `HOME`, in which all is prepared for a workload; or why it cannot be, in words.
    ///
    /// # Errors
    /// As of [`Self::new`].
    pub(crate) fn prepared(&mut self, workload: &Workload) -> Result<TempDir, Fault> {
        let home = tempfile::tempdir_in(self.scratch.path()).map_err(CommandError::usage)?;
        if let Some(prepare) = &workload.prepare {
            self.execute(prepare, home.path())?;
        }
        Ok(home)
    }

    /// Runs a command with this `HOME`; or why it fails, in words.
    ///
    /// # Errors
    /// As of [`Self::new`].
    pub(crate) fn execute(&mut self, run: &str, home: &Path) -> Result<Ended, Fault> {
        let [stdout, stderr] = ["stdout", "stderr"].map(|name| self.scratch.path().join(name));
        let folder = home.display().to_string();
        let usual = std::env::var("PATH").unwrap_or_default();
        let path = match &self.before {
            Some(before) => format!("{}:{usual}", before.display()),
            None => usual,
        };
        let env = [
            ("PATH", path),
            ("LC_ALL", locale_of_user()),
            ("PREFIX", self.prefix.display().to_string()),
            ("HOME", folder.clone()),
            ("TMPDIR", folder),
        ];
        let env: BTreeMap<String, String> = env.map(|(name, value)| (name.to_owned(), value)).into();
        let argv = ["sh", "-c", run].map(str::to_owned).to_vec();
        let (out, err) = (stdout.clone(), stderr.clone());
        let command = Command { argv, dir: self.dir.clone(), env, stdin: None, stdout: out, stderr: err };
        let limits = Limits { timeout_s: Some(self.most_s), ..Limits::default() };
        let ended =
            self.launcher.execute_within(&limits, &command, Patience::FirstInterrupt).map_err(CommandError::from)?;
        let read = |path: &Path| std::fs::read(path).map_err(CommandError::usage);
        let why = match ended.end {
            End::Exited(0) => {
                let wall_s = ended.measurements.get(metric::WALL).copied().unwrap_or_default();
                return Ok(Ended { stdout: read(&stdout)?, wall_s });
            }
            End::Exited(code) => format!("it exited with {code}"),
            End::Signalled(signal) => format!("it was killed by signal {signal}"),
            End::TimedOut => format!("it took longer than {} s", self.most_s),
            End::Interrupted => return Err(CommandError::from(bakeoff_building::Error::Interrupted).into()),
            End::OutOfMemory => "it used too much memory".to_owned(),
            End::NotStarted { what, why } => format!("could not start {what}: {why}"),
        };
        let said =
            String::from_utf8_lossy(&read(&stderr)?).trim().lines().last().map(|line| format!(": {}", line.trim()));
        Err(Fault::Useless(why + &said.unwrap_or_default()))
    }
}
