//! The four origins: what a command leaves, a file or folder of this machine, an address, a Git repository. Each
//! brings one file or one folder into a folder of the cache; whether that is accepted is decided in [`super`].

use super::tree;
use crate::files::entries;
use crate::shell::{Environment, Shell, Stop, complaint};
use crate::tools::find;
use bakeoff_model::study::{Source, SourceFrom};
use std::fs;
use std::path::{Path, PathBuf};

/// Puts what a Git repository holds at a revision into `$DOWNLOAD`, and its commit into `$WORK/commit`. A tag, a branch
/// or a whole commit is had without its past where the other side allows it; whatever else Git understands needs all.
const GIT: &str = r#"
git init -q "$GIT_DIR"
if git fetch -q --no-tags --depth 1 -- "$URL" "$REVISION"; then
    commit=FETCH_HEAD
else
    git fetch -q --tags -- "$URL" '+refs/heads/*:refs/remotes/origin/*'
    commit=refs/remotes/origin/$REVISION
    git rev-parse -q --verify "$commit^{commit}" >&2 || commit=$REVISION
fi
git rev-parse --verify "$commit^{commit}" > "$WORK/commit"
read -r commit < "$WORK/commit"
if git ls-tree -r "$commit" | grep '^160000 '; then
    exit 64
fi
git -c core.autocrlf=false -c core.symlinks=true --work-tree="$DOWNLOAD" checkout -q --force "$commit" -- .
"#;

/// How the script above says that there are submodules.
const SUBMODULES: i32 = 64;

/// Variables that would make Git look at another repository than the one it is given.
const GIT_VARIABLES: [&str; 6] =
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_NAMESPACE"];

/// How long bringing a source may take, and how large a file may become meanwhile.
#[derive(Debug, Clone, Copy)]
pub(super) struct Most {
    pub(super) seconds: f64,
    pub(super) bytes: u64,
}

impl Default for Most {
    /// Far above what a source is; nothing was measured for them.
    fn default() -> Self {
        Self { seconds: 2.0 * 3600.0, bytes: 32 << 30 }
    }
}

/// What was brought.
pub(super) struct Loaded {
    /// A file, or a folder that counts by its content.
    pub(super) path: PathBuf,
    /// Of a Git repository: the whole name of the commit.
    pub(super) commit: Option<String>,
}

/// Where something is brought to, and by whom.
pub(super) struct Site<'a> {
    pub(super) study_dir: &'a Path,
    pub(super) shell: &'a mut Shell,
    /// Kept for the user to look at after a failure.
    pub(super) work: &'a Path,
    /// Empty; within the work folder.
    pub(super) download: &'a Path,
    pub(super) most: Most,
}

impl Site<'_> {
    /// Brings a source from where it is.
    pub(super) fn load(&mut self, source: &Source) -> Result<Loaded, Stop> {
        let name = &source.name;
        self.shell.note(&format!("fetching source `{name}`"))?;
        let path = match &source.from {
            SourceFrom::Fetch(command) => self.fetch(name, command)?,
            SourceFrom::Path(path) => self.path(path)?,
            SourceFrom::Url(url) => self.url(name, url)?,
            SourceFrom::Git { url, revision } => return self.git(name, url, revision),
        };
        Ok(Loaded { path, commit: None })
    }

    fn refused<T>(&self, name: &str, why: &str) -> Result<T, Stop> {
        Err(self.shell.failure(format!("source `{name}`: {why}"), self.work)?.into())
    }

    /// Executes a script in the study's folder. Not in the empty environment of a build: who fetches may need proxies,
    /// keys and a home folder.
    fn execute(&mut self, script: &str, variables: &[(&str, &str)]) -> Result<bakeoff_host::Ended, Stop> {
        self.shell.note(script.trim())?;
        let mut env: Environment =
            std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?))).collect();
        env.insert("DOWNLOAD".to_owned(), self.download.display().to_string());
        if !variables.is_empty() {
            GIT_VARIABLES.iter().for_each(|&name| drop(env.remove(name)));
        }
        env.extend(variables.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())));
        self.shell.timeout_s = Some(self.most.seconds);
        // In units of 512 bytes (POSIX).
        let limited = format!("ulimit -f {}\n{script}", self.most.bytes / 512);
        Ok(self.shell.execute(&["sh", "-e", "-c", &limited], self.study_dir, &env)?)
    }

    /// What is wrong with an end; none if it succeeded. What fails with a file that has reached its limit has failed for
    /// that.
    fn complaint(&self, end: &bakeoff_host::End) -> Option<String> {
        const REMEDY: &str = "bring it yourself, and name the file with `path`";
        let is_full = |path: &Path| path.metadata().is_ok_and(|about| about.len() / 512 >= self.most.bytes / 512);
        match complaint(end)? {
            _ if *end == bakeoff_host::End::TimedOut => {
                Some(format!("did not end within {} s and was killed; {REMEDY}", self.most.seconds))
            }
            _ if entries(self.download).is_ok_and(|files| files.iter().any(|file| is_full(file))) => Some(format!(
                "was stopped at a file of {} MiB, the limit of what is loaded; {REMEDY}",
                self.most.bytes >> 20
            )),
            other => Some(other),
        }
    }

    /// What the study's command leaves: one file; or else a folder's content, which is that of the only folder if
    /// there is nothing beside it.
    fn fetch(&mut self, name: &str, command: &str) -> Result<PathBuf, Stop> {
        let ended = self.execute(command, &[])?;
        if let Some(complaint) = self.complaint(&ended.end) {
            return self.refused(name, &format!("the fetch command {complaint}"));
        }
        match &entries(self.download)?[..] {
            [] => self.refused(name, "the fetch command left nothing in $DOWNLOAD"),
            [only] if only.is_symlink() || !(only.is_file() || only.is_dir()) => {
                self.refused(name, "what is in $DOWNLOAD is neither a file nor a folder")
            }
            [only] if only.is_dir() && entries(only)?.is_empty() => {
                self.refused(name, "the fetch command left an empty folder in $DOWNLOAD")
            }
            [only] => Ok(only.clone()),
            _ => Ok(self.download.to_owned()),
        }
    }

    fn path(&mut self, path: &str) -> Result<PathBuf, Stop> {
        let from = super::pins::resolved(self.study_dir, path)?;
        let to = self.download.join(from.file_name().unwrap_or_default());
        tree::copy(&from, &to)?;
        Ok(to)
    }

    fn url(&mut self, name: &str, url: &str) -> Result<PathBuf, Stop> {
        let file = self.download.join(file_name(url));
        let scheme = url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase()).unwrap_or_default();
        if scheme == "file" {
            return self.refused(name, &format!("`{url}` is not loaded: name a file of this machine with `path`"));
        }
        if !["http", "https", "ftp"].contains(&scheme.as_str()) {
            return self.refused(name, &format!("`{url}` is not loaded: only http, https and ftp addresses are"));
        }
        let search_path = std::env::var_os("PATH").unwrap_or_default();
        let script = if find("curl", &search_path).is_some() {
            "curl -fgLsS --proto '=http,https,ftp' --proto-redir '=http,https,ftp' --connect-timeout 30 \
             --speed-time 60 --speed-limit 1 -o \"$FILE\" -- \"$URL\""
        } else if find("wget", &search_path).is_none() {
            let why = "an address is loaded with `curl` or `wget`, and neither is on PATH; install one of them";
            return self.refused(name, why);
        } else {
            "wget -nv --timeout=60 --tries=3 -O \"$FILE\" -- \"$URL\""
        };
        let ended = self.execute(script, &[("URL", url), ("FILE", &file.display().to_string())])?;
        if let Some(complaint) = self.complaint(&ended.end) {
            let program = script.split(' ').next().unwrap_or_default();
            return self.refused(name, &format!("{program} {complaint} for {url}"));
        }
        match file.is_file() {
            true => Ok(file),
            false => self.refused(name, &format!("nothing was loaded from {url}")),
        }
    }

    fn git(&mut self, name: &str, url: &str, revision: &str) -> Result<Loaded, Stop> {
        if url.starts_with('-') || revision.starts_with('-') {
            return self.refused(name, "neither the repository nor the revision may begin with `-`");
        }
        if find("git", &std::env::var_os("PATH").unwrap_or_default()).is_none() {
            return self.refused(name, "`git` is not on PATH; install it");
        }
        let git_dir = self.work.join("git");
        let (git_dir, work) = (git_dir.display().to_string(), self.work.display().to_string());
        let variables = [
            ("URL", url),
            ("REVISION", revision),
            ("GIT_DIR", &git_dir),
            ("WORK", &work),
            ("GIT_TERMINAL_PROMPT", "0"),
        ];
        let ended = self.execute(GIT, &variables)?;
        if ended.end == bakeoff_host::End::Exited(SUBMODULES) {
            let why = "the repository has submodules, which are not followed; make each of them a source of its own, \
                       or use `fetch` with `git clone --recurse-submodules`";
            return self.refused(name, why);
        }
        if let Some(complaint) = self.complaint(&ended.end) {
            return self.refused(name, &format!("git {complaint} for revision `{revision}` of {url}"));
        }
        let commit = fs::read_to_string(self.work.join("commit")).unwrap_or_default().trim().to_owned();
        Ok(Loaded { path: self.download.to_owned(), commit: Some(commit) })
    }
}

/// The last name of an address, without what follows `?` or `#`.
fn file_name(url: &str) -> &str {
    let path = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    match path.rsplit_once('/') {
        Some((_, name)) if !["", ".", ".."].contains(&name) => name,
        _ => "download",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_host::lock::Lock;
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    #[test]
    fn a_file_is_called_as_its_address_ends() {
        for (url, expect) in [
            ("https://example.org/a/perl-5.42.0.tar.xz", "perl-5.42.0.tar.xz"),
            ("https://example.org/x.tgz?token=1/2#top", "x.tgz"),
            ("https://example.org/", "download"),
            ("https://example.org", "download"),
            ("file:///tmp/..", "download"),
        ] {
            assert_eq!(file_name(url), expect, "{url}");
        }
    }

    /// Answers one request, and goes on with zeros until nobody takes them any more.
    fn endless() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/x", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            assert!(stream.read(&mut [0; 1024]).unwrap() > 0);
            stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n").unwrap();
            while stream.write_all(&[0; 65536]).is_ok() {}
        });
        url
    }

    #[test]
    fn what_has_no_end_is_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let lock = Lock::take(&folder.path().join("lock")).unwrap();
        let check = |from: SourceFrom, most: Most, expect: &str| {
            let mut shell = Shell::start(&lock, folder.path().join("log")).unwrap();
            let download = folder.path().join("download");
            crate::files::fresh_folder(&download).unwrap();
            let (study_dir, work) = (folder.path(), folder.path());
            let mut site = Site { study_dir, shell: &mut shell, work, download: &download, most };
            let source = Source { name: "data".to_owned(), from, sha256: None, unpack: false, disk_bytes: None };
            let Err(Stop::Failure(failure)) = site.load(&source) else { panic!("it is loaded") };
            assert!(failure.why.contains(expect) && failure.why.contains("with `path`"), "{}", failure.why);
        };
        let small = Most { bytes: 1 << 20, ..Most::default() };
        check(SourceFrom::Fetch("cat /dev/zero > $DOWNLOAD/x".to_owned()), small, "a file of 1 MiB");
        if find("curl", &std::env::var_os("PATH").unwrap()).is_some() {
            check(SourceFrom::Url(endless()), small, "a file of 1 MiB");
        } else {
            println!("skipped: there is no curl");
        }
        let short = Most { seconds: 0.1, ..Most::default() };
        check(SourceFrom::Fetch("sleep 1000".to_owned()), short, "within 0.1 s");
    }
}
