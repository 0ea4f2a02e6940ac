//! What the JSON of a tool says of a value: its name, parameters and settings; and how dependent values count.

use super::super::Gathered;
use super::super::keys::Keys;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What a tool says of a value.
#[derive(Debug, Default)]
pub struct Labels<'a> {
    /// Without parameters, where the tool keeps them apart.
    pub name: &'a str,
    /// With all parameters.
    pub full: String,
    /// What parameters that remain are appended to if some are left out; none where they cannot be.
    pub stem: Option<&'a str>,
    /// The file's label.
    pub file: &'a str,
    /// The base unit.
    pub unit: &'a str,
    /// Each parameter with its value.
    pub parameters: BTreeMap<String, String>,
    /// What else was the same for all of it.
    pub settings: BTreeMap<String, String>,
}

/// A name with parameters in the way of Go's names.
pub fn with_parameters<'a>(stem: &str, parameters: impl Iterator<Item = (&'a String, &'a String)>) -> String {
    parameters.fold(stem.to_owned(), |full, (key, value)| format!("{full}/{key}={value}"))
}

/// Parameters of any type, as text.
pub(super) fn texts(parameters: BTreeMap<String, serde_json::Value>) -> BTreeMap<String, String> {
    let text = |value| match value {
        serde_json::Value::String(text) => text,
        // hyperfine 2.0 says of each parameter what kind it is.
        serde_json::Value::Object(mut members) if members.contains_key("value") => {
            let value = members.remove("value").unwrap_or_default();
            value.as_str().map_or_else(|| value.to_string(), str::to_owned)
        }
        mut other => {
            // The same parameters in another order are the same.
            other.sort_all_objects();
            other.to_string()
        }
    };
    parameters.into_iter().map(|(key, value)| (key, text(value))).collect()
}

impl Keys for Labels<'_> {
    fn get<'a>(&'a self, key: &str, without: &[&str]) -> Cow<'a, str> {
        let left_out = |parameter: &String| without.iter().any(|key| key.strip_prefix('/') == Some(parameter));
        match (key, self.stem) {
            (".name", _) => Cow::Borrowed(self.name),
            (".fullname", Some(stem)) if self.parameters.keys().any(left_out) => {
                let kept = self.parameters.iter().filter(|(parameter, _)| !left_out(parameter));
                Cow::Owned(with_parameters(stem, kept))
            }
            (".fullname", _) => Cow::Borrowed(&self.full),
            (".unit", _) => Cow::Borrowed(self.unit),
            (".file", _) => Cow::Borrowed(self.file),
            (key, _) => {
                let found = match key.strip_prefix('/') {
                    Some(parameter) => self.parameters.get(parameter),
                    None => self.settings.get(key),
                };
                found.map_or(Cow::Borrowed(""), |value| Cow::Borrowed(value.as_str()))
            }
        }
    }

    fn settings(&self) -> Option<&BTreeMap<String, String>> {
        Some(&self.settings)
    }
}

/// The means of lists that are not empty. Values of one list depend on each other, so each list counts as one value,
/// and a note says so once.
pub(super) fn means(tool: &str, what: &str, lists: &[&[f64]], gathered: &mut Gathered) -> Vec<f64> {
    let note = format!(
        "{tool}: each {what} contributes only its mean, because values from the same {what} depend on each other"
    );
    if lists.iter().any(|list| list.len() > 1) && !gathered.notes.contains(&note) {
        gathered.notes.push(note);
    }
    let lists = lists.iter().filter(|list| !list.is_empty());
    lists.map(|list| list.iter().sum::<f64>() / list.len() as f64).collect()
}

/// How many of this unit of time are in a second.
pub(super) fn in_a_second(unit: &str) -> Option<f64> {
    match unit {
        "ns" => Some(1e9),
        "us" => Some(1e6),
        "ms" => Some(1e3),
        "s" => Some(1.0),
        "min" => Some(1.0 / 60.0),
        "hr" => Some(1.0 / 3600.0),
        "day" => Some(1.0 / 86400.0),
        _ => None,
    }
}
