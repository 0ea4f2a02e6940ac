//! What a look at the programs and files of trials found, between two blocks: they are as they were, or they are not. Here
//! are the two lines. Nothing here looks; what they mean for the trials before them is [`super::Record`]'s.

use serde::{Deserialize, Serialize};

/// Programs and files of trials are as they were: the trials so far count for good.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Checked {
    /// The session that looked.
    pub session: u32,
    /// A digest of what the system tells of all these files: device, inode, size, and times.
    pub files: String,
}

/// Some of them were changed: the trials since the last [`Checked`] are void.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Changed {
    /// The session that looked.
    pub session: u32,
    /// The names of the files; empty if only the time between two sessions is known.
    pub files: Vec<String>,
    /// Nobody knows when it was: all trials of the session are void.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole_session: bool,
    /// When the files were changed, if that is known: every block is void of which a trial ended later. In seconds since
    /// 1970-01-01 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_unix_s: Option<f64>,
}

impl Changed {
    /// Why trials before it are void.
    pub fn why(&self) -> String {
        match self.files.as_slice() {
            [one] if self.from_unix_s.is_some() => format!("{one} was changed before the end of the block"),
            [one, more @ ..] if self.from_unix_s.is_some() => {
                format!("{one} and {} more were changed before the end of the block", more.len())
            }
            [] => "a program under test was changed before the next check".to_owned(),
            [one] => format!("{one} was changed during the block"),
            [one, more @ ..] => format!("{one} and {} more were changed during the block", more.len()),
        }
    }
}
