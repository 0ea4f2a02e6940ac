//! What the tests of several crates share. Only tests use it (`dev-dependencies`); nothing of it is in the program.

pub mod files;
pub mod findings;
pub mod foreign;
pub mod oracle;
pub mod records;
pub mod stage;

pub use bakeoff_report::letters;
