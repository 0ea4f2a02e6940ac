//! Which values belong together: keys, projections and filters, a subset of the language of golang.org/x/perf's
//! `benchproc/syntax`. Keys are `.name`, `.fullname`, `.unit`, `.file`, a part `/key` of a name, the `key` of a line
//! `key: value`, or `.config`, which is all of these lines. A projection is a list of keys with commas. A filter is `key:value`, `key:(a OR b)`, `-x`, `x y` or
//! `x AND y`, `x OR y`, `(x)` and `*`; words with other characters stand in quotes. No regular expressions, no orders.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// The group of all settings.
pub const CONFIG: &str = ".config";

/// What is known of one value.
pub trait Keys {
    /// The value of a key; empty if it has none. `without` are keys that `.fullname` leaves out.
    fn get<'a>(&'a self, key: &str, without: &[&str]) -> Cow<'a, str>;

    /// The settings that hold for it.
    fn settings(&self) -> Option<&BTreeMap<String, String>> {
        None
    }
}

/// All settings but those that are named.
pub(super) fn config<'a>(of: &'a dyn Keys, named: &'a [&str]) -> impl Iterator<Item = (String, String)> + 'a {
    let all = of.settings().into_iter().flatten();
    all.filter(|(key, _)| !named.contains(&key.as_str())).map(|(key, value)| (key.clone(), value.clone()))
}

/// An error in what the user wrote: what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadSyntax(String);

/// Keys whose values, joined by blanks, make a label.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Projection(Vec<String>);

impl Projection {
    /// Reads a list of keys with commas between.
    ///
    /// # Errors
    /// If a key is empty, unknown, or carries an order such as `@alpha`.
    pub fn parse(text: &str) -> Result<Self, BadSyntax> {
        let keys = text.split([',', ' ']).filter(|key| !key.is_empty());
        let keys: Vec<String> = keys.map(key).collect::<Result<_, _>>()?;
        if keys.is_empty() { Err(BadSyntax("a list of keys cannot be empty".to_owned())) } else { Ok(Self(keys)) }
    }

    /// Its keys.
    pub fn keys(&self) -> &[String] {
        &self.0
    }

    /// The label of something, where these keys are named; with the names of parts and file keys if there are several.
    pub(super) fn label(&self, of: &dyn Keys, named: &[&str]) -> String {
        let several = self.0.len() > 1;
        let shown = self.0.iter().map(|key| match of.get(key, named) {
            _ if key == CONFIG => {
                config(of, named).map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
            }
            value if several && !value.is_empty() && !key.starts_with('.') => {
                format!("{}={value}", key.trim_start_matches('/'))
            }
            value => value.into_owned(),
        });
        shown.filter(|value| !value.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

fn key(text: &str) -> Result<String, BadSyntax> {
    let bad = |why: &str| Err(BadSyntax(format!("`{text}` {why}")));
    if text.contains('@') {
        return bad("sets a sort order, but Bakeoff keeps the order of files and names; remove `@…`");
    }
    if text == "/" {
        return bad("does not name a part; write /PART");
    }
    if text.starts_with('.') && ![".name", ".fullname", ".unit", ".file", CONFIG].contains(&text) {
        return bad("is not a key; use .name, .fullname, .unit, .file, .config, /PART or KEY");
    }
    Ok(text.to_owned())
}

/// Which values are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter(Expression);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum Expression {
    #[default]
    All,
    Is(String, String),
    Not(Box<Expression>),
    And(Vec<Expression>),
    Or(Vec<Expression>),
}

impl Filter {
    /// Reads an expression.
    pub fn parse(text: &str) -> Result<Self, BadSyntax> {
        let mut parser = Parser { words: words(text)?, at: 0, depth: 0 };
        if parser.words.is_empty() {
            return Ok(Self::default());
        }
        let expression = parser.or()?;
        match parser.words.get(parser.at) {
            None => Ok(Self(expression)),
            Some(word) => Err(BadSyntax(format!("unexpected `{}` in the filter", word.text()))),
        }
    }

    pub(super) fn wants(&self, of: &dyn Keys) -> bool {
        self.0.holds(of)
    }

    /// Whether it wants everything.
    pub(super) fn is_all(&self) -> bool {
        self.0 == Expression::All
    }
}

impl Expression {
    fn holds(&self, of: &dyn Keys) -> bool {
        match self {
            Self::All => true,
            Self::Is(key, value) => of.get(key, &[]) == value.as_str(),
            Self::Not(inner) => !inner.holds(of),
            Self::And(all) => all.iter().all(|one| one.holds(of)),
            Self::Or(any) => any.iter().any(|one| one.holds(of)),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Word {
    Sign(char),
    Text(String),
}

impl Word {
    fn text(&self) -> String {
        match self {
            Self::Sign(sign) => sign.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

fn words(text: &str) -> Result<Vec<Word>, BadSyntax> {
    let mut words = vec![];
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let begins_word = !matches!(words.last(), Some(Word::Sign(':')));
        if let Some(quoted) = rest.strip_prefix('"') {
            let Some((word, after)) = quoted.split_once('"') else {
                return Err(BadSyntax("a quote is not closed".to_owned()));
            };
            words.push(Word::Text(word.to_owned()));
            rest = after;
        } else if "():*".contains(first) || (first == '-' && begins_word) {
            words.push(Word::Sign(first));
            rest = &rest[1..];
        } else {
            let end = rest.find(|c: char| c.is_whitespace() || "():\"".contains(c)).unwrap_or(rest.len());
            words.push(Word::Text(rest[..end].to_owned()));
            rest = &rest[end..];
        }
        rest = rest.trim_start();
    }
    Ok(words)
}

struct Parser {
    words: Vec<Word>,
    at: usize,
    depth: u32,
}

impl Parser {
    /// Deeper nesting than anyone means.
    const DEPTH_MAX: u32 = 100;

    fn takes(&mut self, word: &Word) -> bool {
        let found = self.words.get(self.at) == Some(word);
        self.at += usize::from(found);
        found
    }

    fn takes_text(&mut self, text: &str) -> bool {
        self.takes(&Word::Text(text.to_owned()))
    }

    fn or(&mut self) -> Result<Expression, BadSyntax> {
        self.depth += 1;
        if self.depth > Self::DEPTH_MAX {
            return Err(BadSyntax("the filter is nested too deeply".to_owned()));
        }
        let mut any = vec![self.and()?];
        while self.takes_text("OR") {
            any.push(self.and()?);
        }
        self.depth -= 1;
        Ok(one_or(any, Expression::Or))
    }

    fn and(&mut self) -> Result<Expression, BadSyntax> {
        let mut all = vec![self.term()?];
        loop {
            let joined = self.takes_text("AND");
            let ends = match self.words.get(self.at) {
                None | Some(Word::Sign(')')) => true,
                Some(Word::Text(text)) => text == "OR",
                Some(Word::Sign(_)) => false,
            };
            if ends && !joined {
                return Ok(one_or(all, Expression::And));
            }
            all.push(self.term()?);
        }
    }

    fn term(&mut self) -> Result<Expression, BadSyntax> {
        let mut negative = false;
        while self.takes(&Word::Sign('-')) {
            negative = !negative;
        }
        let term = if self.takes(&Word::Sign('*')) {
            Expression::All
        } else if self.takes(&Word::Sign('(')) {
            let inner = self.or()?;
            self.closes()?;
            inner
        } else {
            self.comparison()?
        };
        Ok(if negative { Expression::Not(Box::new(term)) } else { term })
    }

    fn comparison(&mut self) -> Result<Expression, BadSyntax> {
        let key = key(&self.word("a key such as .name")?)?;
        if key == CONFIG {
            return Err(BadSyntax("a filter needs a single key, but .config stands for many".to_owned()));
        }
        if !self.takes(&Word::Sign(':')) {
            return Err(BadSyntax(format!("a filter needs `:` and a value after `{key}`")));
        }
        if !self.takes(&Word::Sign('(')) {
            return Ok(Expression::Is(key, self.value()?));
        }
        let mut any = vec![Expression::Is(key.clone(), self.value()?)];
        while self.takes_text("OR") {
            any.push(Expression::Is(key.clone(), self.value()?));
        }
        self.closes()?;
        Ok(one_or(any, Expression::Or))
    }

    fn value(&mut self) -> Result<String, BadSyntax> {
        let value = self.word("a value")?;
        let regular = value.len() > 1 && value.starts_with('/') && value.ends_with('/');
        if regular {
            return Err(BadSyntax(format!("`{value}`: regular expressions are not supported; write (a OR b)")));
        }
        Ok(value)
    }

    fn closes(&mut self) -> Result<(), BadSyntax> {
        if self.takes(&Word::Sign(')')) { Ok(()) } else { Err(BadSyntax("a `)` is missing".to_owned())) }
    }

    fn word(&mut self, what: &str) -> Result<String, BadSyntax> {
        match self.words.get(self.at) {
            Some(Word::Text(text)) => {
                self.at += 1;
                Ok(text.clone())
            }
            Some(word) => Err(BadSyntax(format!("expected {what}, found `{}`", word.text()))),
            None => Err(BadSyntax(format!("expected {what} at the end of the filter"))),
        }
    }
}

fn one_or(mut list: Vec<Expression>, several: fn(Vec<Expression>) -> Expression) -> Expression {
    if list.len() == 1 { list.remove(0) } else { several(list) }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Keys for BTreeMap<&str, &str> {
        fn get<'a>(&'a self, key: &str, _: &[&str]) -> Cow<'a, str> {
            Cow::Borrowed(BTreeMap::get(self, key).copied().unwrap_or(""))
        }
    }

    #[test]
    fn filters() {
        let of = BTreeMap::from([(".name", "Sort"), ("/n", "10"), ("goos", "linux"), (".unit", "sec/op")]);
        let check = |text: &str, expect: bool| {
            assert_eq!(Filter::parse(text).unwrap().wants(&of), expect, "{text}");
        };
        check("", true);
        check("*", true);
        check("-*", false);
        check(".name:Sort", true);
        check(".name:Sort /n:10", true);
        check(".name:Sort AND /n:11", false);
        check(".name:Sort /n:11 OR goos:linux", true);
        check("-(.name:Sort OR goos:plan9)", false);
        check("/n:(9 OR 10)", true);
        check("-/n:(9 OR 11) .unit:sec/op", true);
        check(".name:\"Sort\"", true);
        check("none:\"\"", true);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        let check = |text: &str, part: &str| {
            let error = Filter::parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        };
        check(".name", "needs `:`");
        check(".name:", "expected a value at the end");
        check(".nome:x", "is not a key");
        check("(.name:x", "`)` is missing");
        check(".name:x)", "unexpected `)` in the filter");
        check(".name:/S.*/", "regular expressions");
        check(".config:x", "a single key");
        check(".name:\"x", "quote");
        check(&"(".repeat(1000), "nested too deeply");
        assert!(Projection::parse("").is_err());
        assert!(Projection::parse(".name@alpha").unwrap_err().to_string().contains("order"));
        assert_eq!(
            Projection::parse(".name,/n").unwrap().label(&BTreeMap::from([(".name", "S"), ("/n", "1")]), &[]),
            "S n=1"
        );
    }
}
