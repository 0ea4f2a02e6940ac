//! The features, a line each: to remove one, remove its folder and its line here (and in `tests/commands/features.rs`).

use bakeoff_command::{Feature, Registry};

const FEATURES: &[&dyn Feature] = &[
    &bakeoff_power::Power,
    #[cfg(feature = "building")]
    &bakeoff_building::Building,
    &bakeoff_doctor::Doctor,
    &bakeoff_calibrate::Calibrate,
    &bakeoff_check_summary::CheckSummary,
    #[cfg(feature = "building")]
    &bakeoff_parcel::Parcel,
    &bakeoff_stat::Stat,
    &bakeoff_ministat::Ministat,
    #[cfg(feature = "building")]
    &bakeoff_why::Why,
    &bakeoff_cluster::Cluster,
    &bakeoff_search::Search,
    &bakeoff_vm::Vm,
    &bakeoff_formats::Formats,
    &bakeoff_gate::Gate,
    &bakeoff_handbook::Handbook,
    &bakeoff_harness::Harness,
    &bakeoff_page::Page,
    #[cfg(feature = "building")]
    &bakeoff_starter::Starter,
];

/// Returns what they register.
pub fn features() -> Registry {
    Registry::of(FEATURES)
}
