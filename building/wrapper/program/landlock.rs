//! Landlock: rules by which this process and all that it starts may write only to some files. Which, is not known here.

use super::sys::{Result, call, number, plain};

/// The version of Landlock that the kernel has.
pub fn version() -> Result<usize> {
    const LANDLOCK_CREATE_RULESET_VERSION: usize = 1;
    plain(number::LANDLOCK_CREATE_RULESET, 0, 0, LANDLOCK_CREATE_RULESET_VERSION)
}

/// A new set of rules: these rights on files are given to nobody but by a rule.
pub fn rules(handled: u64) -> Result<u32> {
    // SAFETY: the first field of struct landlock_ruleset_attr, and its size.
    let made = unsafe { call(number::LANDLOCK_CREATE_RULESET, [(&raw const handled) as usize, 8, 0, 0, 0, 0]) };
    made.map(|descriptor| descriptor as u32)
}

/// Gives rights on a file, or on a folder and all below it.
pub fn allow(rules: u32, below: u32, rights: u64) -> Result<()> {
    /// struct landlock_path_beneath_attr.
    #[repr(C, packed)]
    struct Below {
        rights: u64,
        descriptor: i32,
    }
    const LANDLOCK_RULE_PATH_BENEATH: usize = 1;
    let below = Below { rights, descriptor: below as i32 };
    let arguments = [rules as usize, LANDLOCK_RULE_PATH_BENEATH, (&raw const below) as usize, 0, 0, 0];
    // SAFETY: the structure of this kind of rule.
    unsafe { call(number::LANDLOCK_ADD_RULE, arguments) }.map(drop)
}

/// From here on the rules hold for us and for all that we start.
pub fn restrict(rules: u32) -> Result<()> {
    plain(number::LANDLOCK_RESTRICT_SELF, rules as usize, 0, 0).map(drop)
}
