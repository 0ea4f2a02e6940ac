//! The text of a job script, which also works by hand with `sbatch FILE`; and how an array's numbers are written.

use crate::machines::SlurmSettings;
use std::fmt::Write as _;
use std::path::PathBuf;

/// What a job does, and how it is called.
#[derive(Debug, Clone, Default)]
pub(crate) struct Job {
    /// Its name, which is ours: jobs are found by it. Letters, digits and `-`.
    pub(crate) name: String,
    /// The numbers of its tasks, sorted; none is a job without an array.
    pub(crate) array: Option<Vec<u32>>,
    /// How many tasks run at a time.
    pub(crate) limit: u32,
    /// Whether it has a node, with all of its memory, to itself: trials do, builds do not.
    pub(crate) exclusive: bool,
    /// How many processors it asks for.
    pub(crate) cpus: Option<u16>,
    /// A command line for `sh` that begins with a program. `$SHARD` is the task's number.
    pub(crate) command: String,
    /// The folder of its logs, absolute; it has to be there when the job starts, or the job fails without a trace.
    pub(crate) log: PathBuf,
    /// What gets the node ready, as lines of shell.
    pub(crate) prelude: String,
    /// Whether Slurm starts it again by itself after its node was lost.
    pub(crate) requeue: bool,
}

/// What one call of sbatch submits: the tasks that one array can have, or a job without tasks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Array {
    pub(super) name: String,
    /// The value of `--array`: numbers below the cluster's limit, and how many of them run at a time.
    pub(super) numbers: Option<String>,
    /// A task's shard is its number and this one.
    pub(super) offset: u32,
}

impl Array {
    pub(super) fn option(&self) -> Option<String> {
        self.numbers.as_ref().map(|numbers| format!("--array={numbers}"))
    }
}

impl Job {
    /// Its tasks, cut so that each array has only numbers below `most`, which is Slurm's MaxArraySize.
    pub(super) fn arrays(&self, most: u32) -> Vec<Array> {
        let Some(tasks) = &self.array else {
            return vec![Array { name: self.name.clone(), numbers: None, offset: 0 }];
        };
        // A cluster without arrays refuses them itself.
        let most = most.max(1);
        let array = |tasks: &[u32]| {
            let offset = tasks[0] - tasks[0] % most;
            let numbers: Vec<u32> = tasks.iter().map(|task| task - offset).collect();
            let name = if offset == 0 { self.name.clone() } else { format!("{}.{offset}", self.name) };
            Array { name, numbers: Some(format!("{}%{}", ranges(&numbers), self.limit)), offset }
        };
        tasks.chunk_by(|one, next| one / most == next / most).map(array).collect()
    }

    /// The script's text. `login` is the shell's line for the variables that a job gets from there.
    pub(super) fn script(&self, settings: &SlurmSettings, login: &str, most: u32) -> String {
        let arrays = self.arrays(most);
        let mut out = "#!/bin/sh\n# Written by Bakeoff. It also works by hand: sbatch FILE\n".to_owned();
        for array in arrays.iter().skip(1) {
            let (name, option) = (&array.name, array.option().unwrap_or_default());
            let _ = writeln!(out, "# and then: sbatch --job-name={name} {option} FILE {}", array.offset);
        }
        for option in self.options(settings, arrays.first()) {
            let _ = writeln!(out, "#SBATCH {option}");
        }
        out += login;
        out += &self.prelude;
        if self.array.is_some() {
            out += "SHARD=$((${SLURM_ARRAY_TASK_ID:-0} + ${1:-0}))\n";
        }
        out + "exec " + &self.command + "\n"
    }

    fn options(&self, settings: &SlurmSettings, array: Option<&Array>) -> Vec<String> {
        let with = |option: &str, value: &Option<String>| value.as_ref().map(|value| format!("{option}={value}"));
        let folder = self.log.display().to_string();
        let mut options = vec![format!("--job-name={}", self.name)];
        options.extend(array.and_then(Array::option));
        options.push("--nodes=1".to_owned());
        if self.exclusive {
            options.extend(["--exclusive".to_owned(), "--mem=0".to_owned()]);
        }
        options.extend(self.cpus.map(|cpus| format!("--cpus-per-task={cpus}")));
        options.extend(settings.time_s.map(|seconds| format!("--time={}", minutes(seconds))));
        options.push(if self.requeue { "--requeue" } else { "--no-requeue" }.to_owned());
        options.push("--export=NONE".to_owned());
        options.push(format!("--chdir={}", quoted(&folder)));
        // Ids are used again, and so are names of logs.
        options.push("--open-mode=append".to_owned());
        // A file for each job id, and number of an array.
        let pattern = if self.array.is_some() { "%A_%a" } else { "%j" };
        options.push(format!("--output={}", quoted(&format!("{}/{pattern}", folder.replace('%', "%%")))));
        options.extend(with("--partition", &settings.partition));
        options.extend(with("--account", &settings.account));
        options.extend(with("--constraint", &settings.constraint));
        options.extend(with("--exclude", &settings.exclude));
        options.extend(settings.extra.iter().cloned());
        options
    }
}

/// Slurm counts whole minutes, and would round up as well.
pub(super) fn minutes(seconds: u64) -> u64 {
    seconds.div_ceil(60)
}

/// A value on a line of options: sbatch knows double quotes and backslashes there, and takes `#` for a comment.
fn quoted(value: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    if value.chars().all(is_plain) {
        return value.to_owned();
    }
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Sorted numbers as Slurm writes them: `0-3,7`.
fn ranges(numbers: &[u32]) -> String {
    let range = |range: &[u32]| match range {
        [first, .., last] => format!("{first}-{last}"),
        range => range.iter().map(u32::to_string).collect(),
    };
    numbers.chunk_by(|one, next| one + 1 == *next).map(range).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;

    fn job() -> Job {
        Job {
            name: "bakeoff-3f9a1c02".to_owned(),
            array: Some(vec![0, 1, 2, 3, 7]),
            limit: 8,
            exclusive: true,
            command: "/scratch/b/bakeoff-b4a0f0ec shard /scratch/b \"$SHARD\"".to_owned(),
            log: PathBuf::from("/scratch/b/log"),
            prelude: "module load gcc/13 || exit\nexport BAKEOFF_LOCKS=/tmp/$SLURMD_NODENAME\n".to_owned(),
            ..Job::default()
        }
    }

    fn settings() -> SlurmSettings {
        let word = |text: &str| Some(text.to_owned());
        SlurmSettings {
            partition: word("bench"),
            account: word("perl"),
            constraint: word("zen4&fast"),
            time_s: Some(3601),
            exclude: word("n[07-09]"),
            extra: vec!["--reservation=x".to_owned(), "--mem-bind local".to_owned()],
        }
    }

    const LOGIN: &str = "export PATH='/usr/bin:/opt/my tools' HOME=/home/alice\n";

    #[test]
    fn a_script_for_trials_has_a_node_to_itself() {
        let expect = r#"#!/bin/sh
# Written by Bakeoff. It also works by hand: sbatch FILE
#SBATCH --job-name=bakeoff-3f9a1c02
#SBATCH --array=0-3,7%8
#SBATCH --nodes=1
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --time=61
#SBATCH --no-requeue
#SBATCH --export=NONE
#SBATCH --chdir=/scratch/b/log
#SBATCH --open-mode=append
#SBATCH --output=/scratch/b/log/%A_%a
#SBATCH --partition=bench
#SBATCH --account=perl
#SBATCH --constraint=zen4&fast
#SBATCH --exclude=n[07-09]
#SBATCH --reservation=x
#SBATCH --mem-bind local
export PATH='/usr/bin:/opt/my tools' HOME=/home/alice
module load gcc/13 || exit
export BAKEOFF_LOCKS=/tmp/$SLURMD_NODENAME
SHARD=$((${SLURM_ARRAY_TASK_ID:-0} + ${1:-0}))
exec /scratch/b/bakeoff-b4a0f0ec shard /scratch/b "$SHARD"
"#;
        assert_eq!(job().script(&settings(), LOGIN, 1001), expect);
    }

    #[test]
    fn a_script_for_builds_shares_its_node() {
        let short = SlurmSettings { time_s: Some(600), ..SlurmSettings::default() };
        let job = Job {
            array: None,
            exclusive: false,
            command: "true".to_owned(),
            log: PathBuf::from("/a 100%/\"l#og\""),
            prelude: String::new(),
            requeue: true,
            cpus: Some(16),
            ..job()
        };
        let expect = r#"#!/bin/sh
# Written by Bakeoff. It also works by hand: sbatch FILE
#SBATCH --job-name=bakeoff-3f9a1c02
#SBATCH --nodes=1
#SBATCH --cpus-per-task=16
#SBATCH --time=10
#SBATCH --requeue
#SBATCH --export=NONE
#SBATCH --chdir="/a 100%/\"l#og\""
#SBATCH --open-mode=append
#SBATCH --output="/a 100%%/\"l#og\"/%j"
export PATH='/usr/bin:/opt/my tools' HOME=/home/alice
exec true
"#;
        assert_eq!(job.script(&short, LOGIN, 1001), expect);
    }

    #[test]
    fn numbers_beyond_the_largest_array_are_further_arrays() {
        let job = Job { array: Some(vec![0, 4, 5, 9, 10, 13, 21]), ..job() };
        let array = |name: &str, numbers: &str, offset| {
            let numbers = Some(numbers.to_owned());
            Array { name: format!("bakeoff-3f9a1c02{name}"), numbers, offset }
        };
        let expect = [array("", "0,4-5,9%8", 0), array(".10", "0,3%8", 10), array(".20", "1%8", 20)];
        assert_eq!(job.arrays(10), expect);
        let script = job.script(&settings(), LOGIN, 10);
        for part in [
            "#SBATCH --array=0,4-5,9%8\n",
            "# and then: sbatch --job-name=bakeoff-3f9a1c02.10 --array=0,3%8 FILE 10\n",
            "# and then: sbatch --job-name=bakeoff-3f9a1c02.20 --array=1%8 FILE 20\n",
        ] {
            assert!(script.contains(part), "{part:?} is missing in\n{script}");
        }
        assert_eq!(
            Job { array: Some(vec![0, 1]), ..job }.arrays(0).len(),
            2,
            "a cluster without arrays refuses them itself"
        );
    }

    #[test]
    fn numbers_are_written_as_ranges() {
        for (numbers, expect) in
            [(&[][..], ""), (&[3], "3"), (&[0, 1], "0-1"), (&[0, 2, 3, 4, 9], "0,2-4,9"), (&[7, 8, 10], "7-8,10")]
        {
            assert_eq!(ranges(numbers), expect);
        }
    }
}
