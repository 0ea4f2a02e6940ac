//! Archives, which are hostile input: what they hold is written below one folder and nowhere else, and within limits.
//! What becomes of it is known to the caller.

mod archive;
mod error;
mod limits;
mod tar_entries;
mod tree;
mod zip_entries;

#[cfg(test)]
pub(crate) use archive::Unpacked;
pub(crate) use archive::unpack_within;
pub(crate) use error::Refusal;
pub(crate) use error::UnpackError;
pub use limits::Limits;
pub(crate) use tree::Root;
