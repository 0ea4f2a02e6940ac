//! Removes from a record what only its owner should know: names of hosts and users, and folders. Record in, record out;
//! lines the same. Names of files, programs and versions stay, because a result without them cannot be understood; so
//! does the text of the study, which its author wrote for others. It opens no file: its caller says who the users are,
//! and which paths are there. Where a text leaves it open how far a path goes, rather too much is removed than too
//! little.
#![allow(missing_docs, reason = "the names of fields say what they are; where not, a comment does")]

use super::{Attempt, AwayKey, FeatureLine, Line, MadeLine, Record};
use regex::{Captures, Regex};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// What stands in the place of a host's name.
const HOST: &str = "HOST";
/// The member of a line that says what kind it is.
const TAG: &str = "line";
/// What stands in the place of a user's name.
const USER: &str = "USER";

/// Folders that every system has; below them nothing is anybody's.
const OF_THE_SYSTEM: [&str; 13] =
    ["bin", "boot", "dev", "etc", "gnu", "lib", "lib32", "lib64", "nix", "proc", "sbin", "sys", "usr"];

/// A path, and what stands before it: the beginning, a character that ends a word, or an option such as `-I`. What
/// ends it is what ends a word in a shell, a list of folders, or a message such as `FILE:12: error`.
const PATH: &str = r#"(^|[^\w./~+-]|(?:^|\s)-[A-Za-z]+)(/+[^\s/'"`,:;()\[\]{}<>|&\x00-\x1f]+(?:/+[^\s/'"`,:;()\[\]{}<>|&\x00-\x1f]+)*/*)"#;

/// A path in quotation marks, in which there may be anything else.
const QUOTED: &str = r#"(['"`‘“])(/[^'"`’”\x00-\x1f]*/[^'"`’”\x00-\x1f]*)(['"`’”])"#;

/// What may follow a path with a blank in it: more words, up to the one with the last slash.
const MORE: &str = r#"^(?:(?: [^\s/'"`,:;()\[\]{}<>|&=.~$-][^\s/'"`,:;()\[\]{}<>|&=]*)*? [^\s/'"`,:;()\[\]{}<>|&=.~$-][^\s/'"`,:;()\[\]{}<>|&=]*(?:/+[^\s/'"`,:;()\[\]{}<>|&=]+)+)+"#;

/// At most this many words after a blank may belong to a path that is there.
const MOST_WORDS: usize = 8;

/// What follows the name of a host in a network's own names.
const DOMAIN: &str = r"(?:(?:\.[a-z0-9-]+){2,}|\.(?:local|lan|home|internal|localdomain|corp|intranet))?";

/// What is removed, and what was. The same folder always becomes the same word, in all that one redaction sees.
#[derive(Debug)]
pub struct Redaction {
    path: Regex,
    quoted: Regex,
    more: Regex,
    /// What is at a path: a folder or not; none if nothing is.
    is_folder: fn(&str) -> Option<bool>,
    /// Whether a line's maker can read it.
    is_made: fn(&MadeLine) -> bool,
    /// Files, by what the record itself tells.
    files: BTreeSet<String>,
    /// What is sought as a word, with what takes its place.
    words: Vec<(Regex, &'static str)>,
    hosts: BTreeSet<String>,
    users: BTreeSet<String>,
    folders: Vec<String>,
}

/// What was removed: for the user's own eyes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Removed {
    pub hosts: Vec<String>,
    pub users: Vec<String>,
    /// Folders; the first of them stands as `~1`, and so on.
    pub folders: Vec<String>,
}

/// Whether a text that consists of a name alone is replaced too.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whole {
    Replaced,
    Kept,
}

impl Redaction {
    /// Of this record: its hosts, these users, and those whose home folders it names. `root` is nobody's name.
    /// `is_folder` tells what is at a path on this machine, and `is_made` whether a line's maker can read it.
    ///
    /// # Errors
    /// Passes on the serialiser's word, should a value have no form in JSON.
    pub fn of(
        record: &Record,
        users: &[String],
        is_folder: fn(&str) -> Option<bool>,
        is_made: fn(&MadeLine) -> bool,
    ) -> serde_json::Result<Self> {
        let hosts: BTreeSet<String> = record.sessions.iter().map(|session| session.place.host.clone()).collect();
        let mut text = serde_json::to_string(&(&record.study, &record.sessions, &record.made))?;
        record.features.iter().for_each(|line| text.push_str(line.text()));
        let homes = compiled(r#"/(?:home|Users)/([^/\s"'\\]+)"#);
        let in_homes = homes.captures_iter(&text).map(|found| found[1].to_owned());
        let users: BTreeSet<String> = in_homes.chain(users.iter().cloned()).filter(|name| name != "root").collect();
        let word = |name: &str, more, instead| {
            (!name.is_empty()).then(|| (compiled(&format!(r"(?i)\b{}{more}\b", regex::escape(name))), instead))
        };
        let named = hosts.iter().filter(|host| *host != "localhost");
        // The whole name, the network's part of it, and the machine's alone, whatever network follows.
        let parts = named.flat_map(|host| match host.split_once('.') {
            Some((short, domain)) if domain.contains('.') => vec![host.as_str(), domain, short],
            Some((short, _)) => vec![host.as_str(), short],
            None => vec![host.as_str()],
        });
        let words = parts.filter_map(|host| word(host, DOMAIN, HOST));
        let words = words.chain(users.iter().filter_map(|user| word(user, "", USER))).collect();
        let commands = record.study.variants.iter().filter_map(|variant| variant.run.as_deref());
        let programs = commands.filter_map(|command| command.split_whitespace().next());
        let listed = record.study.basis.iter().flat_map(|basis| basis.files.keys()).map(String::as_str);
        let files = programs.chain(listed).filter(|path| path.starts_with('/')).map(str::to_owned).collect();
        let [path, quoted, more] = [PATH, QUOTED, MORE].map(compiled);
        Ok(Self { path, quoted, more, is_folder, is_made, files, words, hosts, users, folders: vec![] })
    }

    /// The record without them.
    ///
    /// # Errors
    /// Passes on the parser's word, should a record be none any more.
    pub fn record(&mut self, record: &Record) -> serde_json::Result<Record> {
        let mut other = record.clone();
        other.study = self.value(&record.study)?;
        other.sessions = self.all(&record.sessions)?;
        for session in &mut other.sessions {
            HOST.clone_into(&mut session.place.host);
        }
        other.away.values_mut().for_each(|from| from.node = self.node(&from.node));
        let anonymous =
            |(key, from): &(AwayKey, Attempt)| (key.clone(), Attempt { node: self.node(&from.node), ..from.clone() });
        other.run_again = record.run_again.iter().map(anonymous).collect();
        other.made = record.made.iter().map(|line| self.made(line)).collect::<Result<_, _>>()?;
        other.blocks = self.all(&record.blocks)?;
        other.trials = self.all(&record.trials)?;
        other.boots = self.all(&record.boots)?;
        other.stopped = self.all(&record.stopped)?;
        other.features = record.features.iter().map(|line| self.feature(line)).collect::<Result<_, _>>()?;
        Ok(other)
    }

    /// The line without them.
    ///
    /// # Errors
    /// The same.
    pub fn line(&mut self, line: &Line) -> serde_json::Result<Line> {
        if let Line::Feature(line) = line {
            return Ok(Line::Feature(self.feature(line)?));
        }
        if let Line::Made(line) = line {
            return Ok(Line::Made(self.made(line)?));
        }
        let mut redacted = self.value_read(line, Line::read)?;
        match (line, &mut redacted) {
            (_, Line::Session(session)) => HOST.clone_into(&mut session.place.host),
            (Line::Away(known), Line::Away(away)) => away.from.node = self.node(&known.from.node),
            _ => {}
        }
        Ok(redacted)
    }

    /// A node's name: one of several machines is still another one than the rest.
    fn node(&self, name: &str) -> String {
        let number = self.hosts.iter().position(|host| host == name);
        number.map_or_else(|| HOST.to_owned(), |number| format!("node {}", number + 1))
    }

    /// What was removed so far.
    pub fn removed(&self) -> Removed {
        Removed {
            hosts: self.hosts.iter().cloned().collect(),
            users: self.users.iter().cloned().collect(),
            folders: self.folders.clone(),
        }
    }

    fn all<T: Serialize + DeserializeOwned + Clone>(&mut self, values: &[T]) -> serde_json::Result<Vec<T>> {
        values.iter().map(|value| self.value(value)).collect()
    }

    fn value<T: Serialize + DeserializeOwned + Clone>(&mut self, value: &T) -> serde_json::Result<T> {
        self.value_read(value, |text| serde_json::from_slice(text))
    }

    /// A value without them; as it is where there is nothing to remove, which most trials are.
    fn value_read<T: Serialize + Clone>(
        &mut self,
        value: &T,
        read: fn(&[u8]) -> serde_json::Result<T>,
    ) -> serde_json::Result<T> {
        let text = serde_json::to_string(value)?;
        if !text.contains('/') && self.words.iter().all(|(word, _)| !word.is_match(&text)) {
            return Ok(value.clone());
        }
        self.parsed(&serde_json::from_str(&text)?, |value| read(value.to_string().as_bytes()))
    }

    /// A line that its maker can read as well as before.
    fn made(&mut self, line: &MadeLine) -> serde_json::Result<MadeLine> {
        let is_made = if (self.is_made)(line) { self.is_made } else { |_: &MadeLine| true };
        self.parsed(&serde_json::to_value(line)?, |value| {
            let line = serde_json::from_value(value)?;
            if is_made(&line) {
                Ok(line)
            } else {
                Err(serde::de::Error::custom("the redacted line cannot be read back"))
            }
        })
    }

    fn feature(&mut self, line: &FeatureLine) -> serde_json::Result<FeatureLine> {
        self.parsed(&serde_json::from_str(line.text())?, |value| FeatureLine::read(value.to_string().as_bytes()))
    }

    /// What is parsed of a value without them. The kind of a line stays, because a host may be called like one; where
    /// it is called like another word of the format, that word stays as well.
    fn parsed<T>(&mut self, read: &Value, parse: impl Fn(Value) -> serde_json::Result<T>) -> serde_json::Result<T> {
        let mut parsed = |whole| {
            let mut walked = self.walk(read, whole);
            if let (Some(kind), Some(place)) = (read.get(TAG), walked.get_mut(TAG)) {
                *place = kind.clone();
            }
            parse(walked)
        };
        parsed(Whole::Replaced).or_else(|_| parsed(Whole::Kept))
    }

    fn walk(&mut self, value: &Value, whole: Whole) -> Value {
        match value {
            Value::String(text) => Value::String(self.string(text, whole)),
            Value::Array(values) => Value::Array(values.iter().map(|value| self.walk(value, whole)).collect()),
            Value::Object(members) => {
                let walked = members.iter().map(|(name, value)| {
                    let value = self.walk(value, whole);
                    (self.string(name, whole), value)
                });
                Value::Object(walked.collect::<Map<_, _>>())
            }
            other => other.clone(),
        }
    }

    fn string(&mut self, text: &str, whole: Whole) -> String {
        let mut text = self.without_folders(text);
        for (word, instead) in &self.words {
            let is_whole = word.find(&text).is_some_and(|found| found.len() == text.len());
            if !is_whole || whole == Whole::Replaced {
                text = word.replace_all(&text, *instead).into_owned();
            }
        }
        text
    }
}

impl Redaction {
    /// A text whose folders are numbers.
    fn without_folders(&mut self, text: &str) -> String {
        // A text that is a path has nothing in it that ends one.
        if text.starts_with('/') && (self.is_folder)(text).is_some() {
            return self.renamed(text);
        }
        let quoted = self.quoted.clone();
        let text = quoted.replace_all(text, |found: &Captures<'_>| {
            let path = if is_of_system(&found[2]) { found[2].to_owned() } else { self.renamed(&found[2]) };
            [&found[1], &path, &found[3]].concat()
        });
        let (mut out, mut rest) = (String::new(), &*text);
        let path = self.path.clone();
        while let Some(found) = path.captures(rest) {
            let (before, at) = (found[1].to_owned(), found.get(2).map_or(0..0, |path| path.range()));
            let is_web = before == ":" && found[2].starts_with("//");
            let is_file = rest[..at.start].to_ascii_lowercase().ends_with("file:");
            let end = at.start + self.length(&rest[at.start..], at.len());
            let path = &rest[at.start..end];
            out.push_str(&rest[..at.start]);
            // The first name of `file://host/…` may be a host's.
            if (is_web && !is_file) || is_of_system(path) || !self.is_whole(path) {
                out.push_str(path);
            } else {
                out.push_str(&self.renamed(path));
            }
            rest = &rest[end..];
        }
        out + rest
    }

    /// How much of a text is a path, of which the pattern has found so much.
    fn length(&self, text: &str, found: usize) -> usize {
        let is_file = |path: &str| self.files.contains(path) || (self.is_folder)(path) == Some(false);
        if is_file(&text[..found]) || is_of_system(text) {
            return found;
        }
        // As far as there is something; else as far as words with slashes follow a name that is no file's.
        let ends = text[found..].char_indices().filter(|(_, c)| " '\",:;()".contains(*c)).map(|(at, _)| found + at);
        let ends: Vec<usize> = ends.chain([text.len()]).take(MOST_WORDS).collect();
        let is_there = |end: &&usize| **end > found && (self.is_folder)(text[..**end].trim_end()).is_some();
        if let Some(end) = ends.iter().rev().find(is_there) {
            return *end;
        }
        let last = text[..found].rsplit('/').next().unwrap_or_default();
        let more = self.more.find(&text[found..]).filter(|_| !last.contains('.'));
        found + more.map_or(0, |more| more.end())
    }

    /// Whether it is more than one name: only then a path that is not here is one.
    fn is_whole(&self, path: &str) -> bool {
        path.trim_matches('/').contains('/') || (self.is_folder)(path) == Some(true)
    }

    /// A path whose folder is a number. Its last name stays if it is a file's: because one is there, or the record
    /// tells so, or by its ending.
    fn renamed(&mut self, path: &str) -> String {
        let path = path.trim_end_matches('/');
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        let is_file = match (self.is_folder)(path) {
            Some(is_folder) => !is_folder,
            None => self.files.contains(path) || name.trim_start_matches('.').contains('.'),
        };
        let folder = if is_file { above } else { path };
        let number = self.folders.iter().position(|known| known == folder).unwrap_or_else(|| {
            self.folders.push(folder.to_owned());
            self.folders.len() - 1
        });
        if is_file { format!("~{}/{name}", number + 1) } else { format!("~{}", number + 1) }
    }
}

/// Whether a path is every system's.
fn is_of_system(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    OF_THE_SYSTEM.contains(&first)
}

/// A pattern of ours: it compiles, as the tests show.
#[expect(clippy::expect_used, reason = "the patterns are constants, or escaped names")]
fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of ours")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{MadeLine, Place, Session, StudyLine, Trial, VariantLine};

    fn record(host: &str) -> Record {
        let mut record = Record::new(StudyLine::default());
        let place = Place { host: host.to_owned(), cpu: "A cpu".to_owned(), ..Place::default() };
        record.push(Line::Session(Session { session: 1, place, ..Session::default() }));
        record
    }

    fn redaction(user: &str) -> Redaction {
        let is_folder = |path: &str| match path {
            "/srv/a/My Clients/Acme Ltd" | "/acme" => Some(true),
            "/home/ada/src/prog" | "/srv/a/g" | "/srv/a/f" | "/srv/b/f" => Some(false),
            _ => None,
        };
        Redaction::of(&record("build7.example.org"), &[user.to_owned()], is_folder, |_| true).unwrap()
    }

    #[test]
    fn nodes_have_numbers_in_the_place_of_names() {
        let mut record = record("bench07");
        record.push(Line::Session(Session {
            session: 2,
            place: Place { host: "bench12".to_owned(), ..Place::default() },
            ..Session::default()
        }));
        let from = |node: &str| Attempt { node: node.to_owned(), ..Attempt::default() };
        let key = (1, "w".to_owned(), "idle".to_owned());
        record.away.insert(key.clone(), from("bench12"));
        record.run_again.insert((key, from("bench07")));
        let mut redaction = Redaction::of(&record, &[], |_| None, |_| true).unwrap();
        let other = redaction.record(&record).unwrap();
        assert_eq!(other.away.values().map(|from| &*from.node).collect::<Vec<_>>(), ["node 2"]);
        assert_eq!(other.run_again.iter().map(|(_, from)| &*from.node).collect::<Vec<_>>(), ["node 1"]);
        let line = Line::Away(Box::new(super::super::Away { from: from("bench07"), ..Default::default() }));
        let Line::Away(away) = redaction.line(&line).unwrap() else { panic!("{line:?}") };
        assert_eq!(away.from.node, "node 1");
    }

    #[test]
    fn folders_hosts_and_users_go_and_what_everybody_has_stays() {
        let check = |text: &str, expect: &str| {
            assert_eq!(redaction("ada").string(text, Whole::Replaced), expect, "{text}");
        };
        check("/home/ada/src/prog -k in.txt", "~1/prog -k in.txt");
        check("/usr/bin/gcc-12 12.2.0", "/usr/bin/gcc-12 12.2.0");
        check("/bin/sh", "/bin/sh");
        check("-I/srv/x/include -L/srv/x/lib", "-I~1 -L~2");
        check("'/srv/a/f' \"/srv/b/f\" /srv/a/g", "'~1/f' \"~2/f\" ~1/g");
        check("/srv/a/f.c:12: error", "~1/f.c:12: error");
        check("PATH=/usr/bin:/srv/a/bin:/srv/b/bin", "PATH=/usr/bin:~1:~2");
        check("cannot read '/srv/My Clients/Acme Ltd/input.txt'", "cannot read '~1/input.txt'");
        check("cat: /srv/My Clients/Acme Ltd/in.txt: No such file", "cat: ~1/in.txt: No such file");
        check("cd /srv/a/My Clients/Acme Ltd now", "cd ~1 now");
        check("cd: /srv/clients/acme: no", "cd: ~1: no");
        check("/home/ada/src/prog data/in.txt", "~1/prog data/in.txt");
        check("cc -c /srv/a/x.c src/y.c -isystem/srv/a/include", "cc -c ~1/x.c src/y.c -isystem~2");
        check("file:///srv/a/x.txt and FILE:///srv/a/y.txt", "file:~1/x.txt and FILE:~1/y.txt");
        check("in /acme and /s", "in ~1 and /s");
        check("on BUILD7, build7.local and Build7.Example.Org of example.org", "on HOST, HOST and HOST of HOST");
        check("Ada and ADA", "USER and USER");
        check("https://example.com/a/b", "https://example.com/a/b");
        check("op/s, 3/4, a/b/c, ./a/b, ../a/b, ~/a/b", "op/s, 3/4, a/b/c, ./a/b, ../a/b, ~/a/b");
        check("by ada@build7.example.org on build7.example.org", "by USER@HOST on HOST");
        check("adam and Canada", "adam and Canada");
        check("root is nobody", "root is nobody");
    }

    /// A host may be called like a word that the maker of a line reads: then that stays.
    #[test]
    fn what_was_made_can_still_be_read() {
        let mut record = record("built");
        let made = serde_json::json!({ "digest": "", "variants": [], "outcome": "built", "by": "on built" });
        record.push(Line::Made(MadeLine::of(&made).unwrap()));
        let is_made = |line: &MadeLine| line.more["outcome"] == "built";
        let mut redaction = Redaction::of(&record, &[], |_| None, is_made).unwrap();
        let other = redaction.record(&record).unwrap();
        assert_eq!((&other.made[0].more["outcome"], &other.made[0].more["by"]), (&"built".into(), &"on HOST".into()));
        assert_eq!(redaction.line(&Line::Made(record.made[0].clone())).unwrap(), Line::Made(other.made[0].clone()));
    }

    #[test]
    fn a_record_stays_a_record_and_its_names_stay_one() {
        let mut record = record("trial");
        record.study.variants = vec![VariantLine { name: "/srv/a/p x".to_owned(), ..VariantLine::default() }];
        let made = serde_json::json!({ "digest": "", "variants": ["/srv/a/p x"], "tools": { "cc": "/home/eve/bin/cc 9" },
            "foreseen": { "text": "no", "line": "/srv/a/f.c: no" } });
        record.push(Line::Made(MadeLine::of(&made).unwrap()));
        record.push(Line::Trial(Trial { variant: "/srv/a/p x".to_owned(), block: 3, ..Trial::default() }));
        let line = FeatureLine::new("evidence", &serde_json::json!({"file": "/srv/a/p", "by": "eve"})).unwrap();
        record.push(Line::Feature(line));
        let mut redaction = Redaction::of(
            &record,
            &["root".to_owned()],
            |path| (path == "/srv/a/p" || path == "/home/eve/bin/cc").then_some(false),
            |_| true,
        )
        .unwrap();
        let other = redaction.record(&record).unwrap();
        assert_eq!(other.study.variants[0].name, "~1/p x");
        assert_eq!((other.trials[0].variant.as_str(), other.trials[0].block), ("~1/p x", 3));
        assert_eq!(other.made[0].variants, ["~1/p x"]);
        assert_eq!(other.sessions[0].place.host, HOST);
        assert_eq!(other.sessions[0].place.cpu, "A cpu");
        let text = serde_json::to_string(&(&other.study, &other.made, &other.trials, &other.sessions)).unwrap()
            + other.features[0].text();
        assert!(!text.contains("srv") && !text.contains("home") && !text.contains("eve\""), "{text}");
        assert_eq!(redaction.removed().users, ["eve"]);
        assert_eq!(redaction.removed().folders, ["/srv/a", "/home/eve/bin"]);
        // Line by line it is the same, even of a host that is called like a line.
        for (line, expect) in [
            (Line::Trial(record.trials[0].clone()), Line::Trial(other.trials[0].clone())),
            (Line::Session(record.sessions[0].clone()), Line::Session(other.sessions[0].clone())),
            (Line::Feature(record.features[0].clone()), Line::Feature(other.features[0].clone())),
        ] {
            assert_eq!(redaction.line(&line).unwrap(), expect);
        }
    }
}
