//! What the JSON of a tool says of a value: its name, parameters and settings; and how dependent values count.

use super::super::Gathered;
use super::super::keys::Keys;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What a tool says of a value.
#[derive(Default)]
pub(crate) struct Labels<'a> {
    /// Without parameters, where the tool keeps them apart.
    pub(crate) name: &'a str,
    /// With all parameters.
    pub(crate) full: String,
    /// What parameters that remain are appended to if some are left out; none where they cannot be.
    pub(crate) stem: Option<&'a str>,
    pub(crate) file: &'a str,
    pub(crate) unit: &'a str,
    pub(crate) parameters: BTreeMap<String, String>,
    pub(crate) settings: BTreeMap<String, String>,
}

/// A name with parameters in the way of Go's names.
pub(crate) fn with_parameters<'a>(stem: &str, parameters: impl Iterator<Item = (&'a String, &'a String)>) -> String {
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

/// Says once how values that depend on each other are counted.
pub(super) fn note_means(tool: &str, what: &str, gathered: &mut Gathered) {
    let note = format!(
        "{tool}: each {what} counts as one value, the mean of its own, as values of one {what} depend on each other"
    );
    if !gathered.notes.contains(&note) {
        gathered.notes.push(note);
    }
}
