//! A line that the core keeps without knowing what it says: a feature wrote it, or a later version. Its text stays as it
//! was read.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// One such line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureLine {
    kind: String,
    text: String,
}

/// The tag of any line.
#[derive(Deserialize)]
struct Tag {
    line: String,
}

#[derive(Serialize)]
struct Tagged<'a, T> {
    line: &'a str,
    #[serde(flatten)]
    rest: &'a T,
}

impl FeatureLine {
    /// A line of this kind with these fields.
    ///
    /// # Errors
    /// Passes on the serialiser's word, should a value have no form in JSON.
    pub fn new<T: Serialize>(kind: &str, fields: &T) -> serde_json::Result<Self> {
        let text = serde_json::to_string(&Tagged { line: kind, rest: fields })?;
        Ok(Self { kind: kind.to_owned(), text })
    }

    /// The line with this JSON.
    ///
    /// # Errors
    /// If it is no object with a `line`.
    pub(crate) fn read(text: &[u8]) -> serde_json::Result<Self> {
        Ok(Self::of(Self::kind_of(text)?, text))
    }

    /// The line of this kind with this JSON.
    pub(super) fn of(kind: String, text: &[u8]) -> Self {
        Self { kind, text: String::from_utf8_lossy(text).into_owned() }
    }

    /// The kind of a line.
    ///
    /// # Errors
    /// If it is no object with a `line`.
    pub(super) fn kind_of(text: &[u8]) -> serde_json::Result<String> {
        let Tag { line: kind } = serde_json::from_slice(text)?;
        Ok(kind)
    }

    /// Its JSON, without a line feed.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// What kind of line it is.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Its fields; fields that `T` does not know are passed over.
    ///
    /// # Errors
    /// If they are not those of `T`.
    pub fn fields<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_slice(self.text.as_bytes())
    }
}
