//! `bakeoff doctor` as a whole.

use crate::common::small;

#[test]
fn the_doctor_says_what_is_good_noisy_and_missing() {
    let shown = small().execute(&["doctor"]);
    shown.expect(0, &["good", "missing", "CPUs", "kernel"]);
}
