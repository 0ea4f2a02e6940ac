//! How variants are named below the tables: all of them in a row, the first few in a sentence.

use bakeoff_report::draw::text::clean;
use bakeoff_report::words::named;

/// Variants by name; of many, the rest is only counted.
pub(super) fn variants(names: &[String]) -> String {
    named(names.iter().map(|name| clean(name)).collect())
}

/// Variants as the first cell of a row, which must tell of all.
pub(super) fn row_name(names: &[String]) -> String {
    clean(&names.join(", "))
}
