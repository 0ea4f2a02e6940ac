//! Control groups: finds out which of them we may make here, gives every job one in each hierarchy that tells or limits
//! something, reads what the kernel counted, and removes them. Processes are placed by a [`crate::probe::Confinement`].
//!
//! There are three worlds. In *full v2* one hierarchy has all controllers. In the *hybrid* one the controllers are
//! bound to hierarchies of version 1, and that of version 2 still tells CPU time and pressure, and kills. Or there is
//! *none* that we may use. Which it is is found by trying, hierarchy by hierarchy, and never assumed.

mod counts;
mod find;
mod group;
mod home;
mod make;
mod tree;
mod try_out;
mod values;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use counts::NAMES;
pub(crate) use find::hierarchies;
pub(crate) use group::Group;
pub use home::Home;
pub(crate) use home::Needs;

/// Set to `off`, it keeps Bakeoff from making control groups.
pub const SWITCH: &str = "BAKEOFF_CGROUPS";
