//! Removes from a record what only its owner should know: names of hosts and users, and folders. Record in, record out; lines
//! the same. Names of files, programs and versions stay, because a result without them cannot be understood; so does the text
//! of the study, which its author wrote for others. It opens no file: its caller says who the users are.

use super::{FeatureLine, Line, Record};
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

/// A path of at least two names, and what stands before it: the beginning, a character that ends a word, or a compiler's
/// `-I`. What ends it is what ends a word in a shell, a list of folders, or a compiler's message.
const PATH: &str = r#"(^|[^\w./~+-]|(?:^|\s)-[A-Za-z])(/+[^\s/'"`,:;()\[\]{}<>|&\x00-\x1f]+(?:/+[^\s/'"`,:;()\[\]{}<>|&\x00-\x1f]+)+/*)"#;

/// What is removed, and what was. The same folder always becomes the same word, in all that one redaction sees.
#[derive(Debug)]
pub struct Redaction {
    path: Regex,
    /// What is sought as a word, with what takes its place.
    words: Vec<(Regex, &'static str)>,
    hosts: BTreeSet<String>,
    users: BTreeSet<String>,
    folders: Vec<String>,
}

/// What was removed: for the user's own eyes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Removed {
    /// Names of hosts.
    pub hosts: Vec<String>,
    /// Names of users.
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
    ///
    /// # Errors
    /// Passes on the serialiser's word, should a value have no form in JSON.
    pub fn of(record: &Record, users: &[String]) -> serde_json::Result<Self> {
        let hosts: BTreeSet<String> = record.sessions.iter().map(|session| session.place.host.clone()).collect();
        let mut text = serde_json::to_string(&(&record.study, &record.sessions, &record.builds))?;
        record.features.iter().for_each(|line| text.push_str(line.text()));
        let homes = compiled(r#"/(?:home|Users)/([^/\s"'\\]+)"#);
        let in_homes = homes.captures_iter(&text).map(|found| found[1].to_owned());
        let users: BTreeSet<String> = in_homes.chain(users.iter().cloned()).filter(|name| name != "root").collect();
        let word = |name: &String, instead| {
            (!name.is_empty()).then(|| (compiled(&format!(r"\b{}\b", regex::escape(name))), instead))
        };
        let words = hosts.iter().filter(|host| *host != "localhost").filter_map(|host| word(host, HOST));
        let words = words.chain(users.iter().filter_map(|user| word(user, USER))).collect();
        Ok(Self { path: compiled(PATH), words, hosts, users, folders: vec![] })
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
        other.builds = self.all(&record.builds)?;
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
        let mut line = self.value(line)?;
        if let Line::Session(session) = &mut line {
            HOST.clone_into(&mut session.place.host);
        }
        Ok(line)
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

    /// A value without them; as it is where there is nothing to remove, which most trials are.
    fn value<T: Serialize + DeserializeOwned + Clone>(&mut self, value: &T) -> serde_json::Result<T> {
        let text = serde_json::to_string(value)?;
        if !text.contains('/') && self.words.iter().all(|(word, _)| !word.is_match(&text)) {
            return Ok(value.clone());
        }
        self.parsed(&serde_json::from_str(&text)?, serde_json::from_value)
    }

    fn feature(&mut self, line: &FeatureLine) -> serde_json::Result<FeatureLine> {
        self.parsed(&serde_json::from_str(line.text())?, |value| FeatureLine::read(value.to_string().as_bytes()))
    }

    /// What is parsed of a value without them. The kind of a line stays, because a host may be called like one; where it is called
    /// like another word of the format, that word stays as well.
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
        let folders = &mut self.folders;
        let text = self.path.replace_all(text, |found: &Captures<'_>| {
            let (before, path) = (&found[1], &found[2]);
            if is_of_all(before, path) { found[0].to_owned() } else { format!("{before}{}", renamed(folders, path)) }
        });
        let mut text = text.into_owned();
        for (word, instead) in &self.words {
            let is_whole = word.find(&text).is_some_and(|found| found.len() == text.len());
            if !is_whole || whole == Whole::Replaced {
                text = word.replace_all(&text, *instead).into_owned();
            }
        }
        text
    }
}

/// Whether a path is every system's, or the rest of an address on the web.
fn is_of_all(before: &str, path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    (before == ":" && path.starts_with("//")) || OF_THE_SYSTEM.contains(&first)
}

/// A path whose folder is a number.
fn renamed(folders: &mut Vec<String>, path: &str) -> String {
    let (folder, name) = path.trim_end_matches('/').rsplit_once('/').unwrap_or(("", path));
    let number = folders.iter().position(|known| known == folder).unwrap_or_else(|| {
        folders.push(folder.to_owned());
        folders.len() - 1
    });
    format!("~{}/{name}", number + 1)
}

/// A pattern of ours: it compiles, as the tests show.
#[expect(clippy::expect_used, reason = "the patterns are constants, or escaped names")]
fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of ours")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{BuildLine, Foreseen, Place, Session, StudyLine, Trial, VariantLine};

    fn record(host: &str) -> Record {
        let mut record = Record::new(StudyLine::default());
        let place = Place { host: host.to_owned(), cpu: "A cpu".to_owned(), ..Place::default() };
        record.push(Line::Session(Session { session: 1, place, ..Session::default() }));
        record
    }

    fn redaction(user: &str) -> Redaction {
        Redaction::of(&record("build7.example.org"), &[user.to_owned()]).unwrap()
    }

    #[test]
    fn folders_hosts_and_users_go_and_what_everybody_has_stays() {
        let check = |text: &str, expect: &str| {
            assert_eq!(redaction("ada").string(text, Whole::Replaced), expect, "{text}");
        };
        check("/home/ada/src/prog -k in.txt", "~1/prog -k in.txt");
        check("/usr/bin/gcc-12 12.2.0", "/usr/bin/gcc-12 12.2.0");
        check("/bin/sh", "/bin/sh");
        check("-I/srv/x/include -L/srv/x/lib", "-I~1/include -L~1/lib");
        check("'/srv/a/f' \"/srv/b/f\" /srv/a/g", "'~1/f' \"~2/f\" ~1/g");
        check("/srv/a/f.c:12: error", "~1/f.c:12: error");
        check("PATH=/usr/bin:/srv/a/bin:/srv/b/bin", "PATH=/usr/bin:~1/bin:~2/bin");
        check("https://example.org/a/b", "https://example.org/a/b");
        check("op/s, 3/4, a/b/c, ./a/b, ../a/b, ~/a/b", "op/s, 3/4, a/b/c, ./a/b, ../a/b, ~/a/b");
        check("by ada@build7.example.org on build7.example.org", "by USER@HOST on HOST");
        check("adam and Canada", "adam and Canada");
        check("root is nobody", "root is nobody");
    }

    #[test]
    fn a_record_stays_a_record_and_its_names_stay_one() {
        let mut record = record("trial");
        record.study.variants = vec![VariantLine { name: "/srv/a/p x".to_owned(), ..VariantLine::default() }];
        let tools = [("cc".to_owned(), "/home/eve/bin/cc 9".to_owned())].into();
        let foreseen = Some(Foreseen { text: "no".to_owned(), line: Some("/srv/a/f.c: no".to_owned()) });
        let variants = vec!["/srv/a/p x".to_owned()];
        record.push(Line::Build(BuildLine { tools, variants, foreseen, ..BuildLine::default() }));
        record.push(Line::Trial(Trial { variant: "/srv/a/p x".to_owned(), block: 3, ..Trial::default() }));
        let line = FeatureLine::new("evidence", &serde_json::json!({"file": "/srv/a/p", "by": "eve"})).unwrap();
        record.push(Line::Feature(line));
        let mut redaction = Redaction::of(&record, &["root".to_owned()]).unwrap();
        let other = redaction.record(&record).unwrap();
        assert_eq!(other.study.variants[0].name, "~1/p x");
        assert_eq!((other.trials[0].variant.as_str(), other.trials[0].block), ("~1/p x", 3));
        assert_eq!(other.builds[0].variants, ["~1/p x"]);
        assert_eq!(other.sessions[0].place.host, HOST);
        assert_eq!(other.sessions[0].place.cpu, "A cpu");
        let text = serde_json::to_string(&(&other.study, &other.builds, &other.trials, &other.sessions)).unwrap()
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
