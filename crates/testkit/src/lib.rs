//! What the tests of several crates share. Only tests use it (`dev-dependencies`); nothing of it is in the program.

pub mod files;
pub mod findings;
pub mod foreign;
pub mod oracle;
pub mod records;
pub mod stage;

use bakeoff_report::draw::rendered::{Rendered, Role, Writer};

/// The letters of a text, which nothing but a writer gets: a test may look at what is printed.
pub fn letters(text: &Rendered) -> String {
    struct Letters(String);
    impl Writer for Letters {
        fn part(&mut self, _: Role, text: &str) {
            self.0.push_str(text);
        }
    }
    let mut letters = Letters(String::new());
    text.write_to(&mut letters);
    letters.0
}
