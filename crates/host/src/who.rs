//! Whose a process is, with which command, in which folder, and since when, as far as /proc (proc(5)) shows it to us.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

/// Ticks in a second in what the kernel tells programs (USER_HZ), on every machine that we are built for.
const TICKS: f64 = 100.0;

/// Who a process is.
#[derive(Debug, Clone, PartialEq)]
pub struct Who {
    /// The user's name, or number.
    pub user: String,
    /// The words of its command, as they were given.
    pub command: String,
    /// Its folder, where we may know it.
    pub folder: Option<PathBuf>,
    /// For how many seconds it has been there.
    pub for_s: f64,
}

impl Who {
    /// None if there is no such process any more.
    pub fn of(process: u32) -> Option<Self> {
        let read = |file: &str| fs::read(format!("/proc/{process}/{file}")).ok();
        let words = String::from_utf8_lossy(&read("cmdline")?).replace('\0', " ");
        let user = fs::metadata(format!("/proc/{process}")).ok()?.uid();
        let names = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let is_it = |line: &&str| line.split(':').nth(2) == Some(&user.to_string());
        let name = names.lines().find(is_it).and_then(|line| line.split(':').next());
        // The name, in brackets, may have blanks in it; the 22nd field is the moment of its beginning.
        let stat = String::from_utf8(read("stat")?).ok()?;
        let began: f64 = stat.rsplit(')').next()?.split_whitespace().nth(19)?.parse().ok()?;
        let up_s: f64 = fs::read_to_string("/proc/uptime").ok()?.split(' ').next()?.parse().ok()?;
        Some(Self {
            user: name.map_or_else(|| user.to_string(), str::to_owned),
            command: words.trim().to_owned(),
            folder: fs::read_link(format!("/proc/{process}/cwd")).ok(),
            for_s: (up_s - began / TICKS).max(0.0),
        })
    }
}
