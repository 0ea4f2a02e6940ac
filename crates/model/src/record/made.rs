//! What a journal says of something that was made for variants before they could run: its identity, its variants, and what
//! only its maker reads.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What became of one thing that was to be made.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MadeLine {
    /// Digest of everything that went in.
    pub digest: String,
    /// Display names of the variants that run it.
    pub variants: Vec<String>,
    /// What else its maker says of it.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl MadeLine {
    /// The line with the fields of a maker's own value.
    ///
    /// # Errors
    /// If that has no digest or no variants.
    pub fn of<T: Serialize>(line: &T) -> serde_json::Result<Self> {
        serde_json::from_value(serde_json::to_value(line)?)
    }

    /// The maker's own value.
    ///
    /// # Errors
    /// If the fields are not those of `T`.
    pub fn fields<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_value(serde_json::to_value(self)?)
    }

    /// The line with this JSON, which also has its tag.
    pub(super) fn read(text: &[u8]) -> serde_json::Result<Self> {
        let mut line: Self = serde_json::from_slice(text)?;
        line.more.shift_remove("line");
        Ok(line)
    }
}
