//! The sum of costs: of the layers of a build, or of the commands of a layer. What costs anything is not known here.

use bakeoff_model::metric::Measurements;

/// Adds a cost: times add up, the peak of memory is the higher one.
pub(crate) fn add(cost: &mut Measurements, more: &Measurements) {
    for name in ["wall", "user", "sys", "maxrss"] {
        let Some(&value) = more.get(name) else { continue };
        let sum = cost.get_or_insert(name, 0.0);
        *sum = if name == "maxrss" { sum.max(value) } else { *sum + value };
    }
}
