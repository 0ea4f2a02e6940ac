//! The origins: what a command leaves, a file or folder of this machine, an address; a Git repository is in [`git`].
//! Each brings one file or one folder into a folder of the cache; whether that is accepted is decided in [`super`].

use super::bring::{Loaded, Site, environment};
use super::{git, tree};
use crate::error::Stop;
use crate::files::entries;
use crate::nouns::SourceFrom;
use crate::tools::find;
use std::path::PathBuf;

/// Brings a source from where it is.
pub(super) fn load(site: &mut Site<'_>, from: &SourceFrom) -> Result<Loaded, Stop> {
    site.shell.note(&format!("fetching source `{}`", site.name))?;
    let path = match from {
        SourceFrom::Fetch(command) => site.fetch(command)?,
        SourceFrom::Path(path) => site.path(path)?,
        SourceFrom::Url(url) => site.url(url)?,
        SourceFrom::Git { url, revision } => return git::load(site, url, revision),
        SourceFrom::Worktree(url) => return git::load_worktree(site, url),
    };
    Ok(Loaded { path, commit: None })
}

impl Site<'_> {
    /// What the study's command leaves: one file; or else a folder's content, which is that of the only folder if
    /// there is nothing beside it.
    fn fetch(&mut self, command: &str) -> Result<PathBuf, Stop> {
        let ended = self.execute(command, environment(), &[])?;
        if let Some(complaint) = self.complaint(&ended.end) {
            return self.refused(&format!("the fetch command {complaint}"));
        }
        match &entries(self.download)?[..] {
            [] => self.refused("the fetch command put nothing into $DOWNLOAD"),
            [only] if only.is_symlink() || !(only.is_file() || only.is_dir()) => {
                self.refused("the only entry in $DOWNLOAD is not a file or folder")
            }
            [only] if only.is_dir() && entries(only)?.is_empty() => {
                self.refused("the fetch command put an empty folder into $DOWNLOAD")
            }
            [only] => Ok(only.clone()),
            _ => Ok(self.download.to_owned()),
        }
    }

    fn path(&mut self, path: &str) -> Result<PathBuf, Stop> {
        let from = super::pins::resolved(self.request.study_dir, path)?;
        let to = self.download.join(from.file_name().unwrap_or_default());
        let built = super::pins::built_before(self.cache, &from, self.request.own)?;
        tree::copy_without(&from, &to, &tree::Without::of_study(self.request.own).and_built(&built.left_out))?;
        self.report_built(&from, &built)?;
        Ok(to)
    }

    fn url(&mut self, url: &str) -> Result<PathBuf, Stop> {
        let file = self.download.join(file_name(url));
        let scheme = url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase()).unwrap_or_default();
        if scheme == "file" {
            return self.refused(&format!("cannot download `{url}`; use `path` for a file on this machine"));
        }
        if !["http", "https", "ftp"].contains(&scheme.as_str()) {
            return self.refused(&format!("cannot download `{url}`: only http, https and ftp are supported"));
        }
        let search_path = std::env::var_os("PATH").unwrap_or_default();
        let script = if find("curl", &search_path).is_some() {
            "curl -fgLsS --proto '=http,https,ftp' --proto-redir '=http,https,ftp' --connect-timeout 30 \
             --speed-time 60 --speed-limit 1 -o \"$FILE\" -- \"$URL\""
        } else if find("wget", &search_path).is_none() {
            let why = "Bakeoff needs `curl` or `wget` to download, but neither is on PATH; install one of them";
            return self.refused(why);
        } else {
            "wget -nv --timeout=60 --tries=3 -O \"$FILE\" -- \"$URL\""
        };
        let ended = self.execute(script, environment(), &[("URL", url), ("FILE", &file.display().to_string())])?;
        if let Some(complaint) = self.complaint(&ended.end) {
            let program = script.split(' ').next().unwrap_or_default();
            return self.refused(&format!("cannot download {url}: {program} {complaint}"));
        }
        match file.is_file() {
            true => Ok(file),
            false => self.refused(&format!("nothing was downloaded from {url}")),
        }
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
    use super::super::bring::Most;
    use super::*;
    use crate::cache::Cache;
    use crate::request::Request;
    use crate::shell::Shell;
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
            let (request, name, work) = (Request::nothing(folder.path()), "data", folder.path());
            let cache = &Cache::open(folder.path().join("cache")).unwrap();
            let notify = &|_| {};
            let mut site = Site { cache, notify, request, name, shell: &mut shell, work, download: &download, most };
            let Err(Stop::Failure(failure)) = load(&mut site, &from) else { panic!("it is loaded") };
            assert!(failure.why.contains(expect) && failure.why.contains("set `path`"), "{}", failure.why);
        };
        let small = Most { bytes: 1 << 20, ..Most::default() };
        check(SourceFrom::Fetch("cat /dev/zero > $DOWNLOAD/x".to_owned()), small, "stopped at 1 MiB");
        if find("curl", &std::env::var_os("PATH").unwrap()).is_some() {
            check(SourceFrom::Url(endless()), small, "stopped at 1 MiB");
        } else {
            println!("skipped: there is no curl");
        }
        let short = Most { seconds: 0.1, ..Most::default() };
        check(SourceFrom::Fetch("sleep 1000".to_owned()), short, "within 0.1 s");
    }
}
