//! The commands of features as a whole, a line each; the tests lie in their folders. Cargo tells only the tests of this crate
//! where the executable is.

#[path = "../../../../features/calibrate/tests/command/calibrate.rs"]
mod calibrate;
#[path = "../../../../features/check-summary/tests/command/check_summary.rs"]
mod check_summary;
#[cfg(feature = "building")]
#[cfg(feature = "building")]
#[path = "../../../../features/cluster/tests/command/faults.rs"]
mod cluster_faults;
#[cfg(feature = "building")]
#[path = "../../../../features/cluster/tests/command/lab.rs"]
mod cluster_lab;
#[cfg(feature = "building")]
#[path = "../../../../features/cluster/tests/command/long.rs"]
mod cluster_long;
#[cfg(feature = "building")]
#[path = "../../../../features/cluster/tests/rig/mod.rs"]
mod cluster_rig;
#[cfg(feature = "building")]
#[path = "../../../../features/cluster/tests/command/runs.rs"]
mod cluster_runs;
#[path = "../../../../features/cluster/tests/command/ssh.rs"]
mod cluster_ssh;
#[path = "../../../../features/doctor/tests/command/doctor.rs"]
mod doctor;
#[path = "../../../../features/formats/tests/command/formats.rs"]
mod formats;
#[path = "../../../../features/formats/tests/command/readers.rs"]
mod formats_readers;
#[path = "../../../../features/gate/tests/command/gate.rs"]
mod gate;
#[path = "../../../../features/gate/tests/command/recipe.rs"]
mod gate_recipe;
#[path = "../../../../features/handbook/tests/command/handbook.rs"]
mod handbook;
#[path = "../../../../features/harness/tests/command/harness.rs"]
mod harness;
#[path = "../../../../features/ministat/tests/command/ministat.rs"]
mod ministat;
#[path = "../../../../features/page/tests/command/page.rs"]
mod page;
#[cfg(feature = "building")]
#[path = "../../../../features/page/tests/command/parcels.rs"]
mod page_parcels;
#[cfg(feature = "building")]
#[path = "../../../../features/parcel/tests/command/parcel.rs"]
mod parcel;
#[path = "../../../../features/power/tests/command/power.rs"]
mod power;
#[cfg(feature = "building")]
#[path = "../../../../features/search/tests/command/bisect.rs"]
mod search_bisect;
#[cfg(feature = "building")]
#[path = "../../../../features/search/tests/command/tune.rs"]
mod search_tune;
#[cfg(feature = "building")]
#[path = "../../../../features/starter/tests/command/init.rs"]
mod starter;
#[cfg(feature = "building")]
#[path = "../../../../features/starter/tests/command/steps.rs"]
mod starter_steps;
#[cfg(feature = "building")]
#[path = "../../../../features/starter/tests/command/systems.rs"]
mod starter_systems;
#[path = "../../../../features/stat/tests/command/stat.rs"]
mod stat;
#[path = "../../../../features/stat/tests/command/benchstat.rs"]
mod stat_benchstat;
#[path = "../../../../features/stat/tests/command/inputs.rs"]
mod stat_inputs;
#[cfg(feature = "building")]
#[path = "../../../../features/vm/tests/command/boots.rs"]
mod vm_boots;
#[cfg(feature = "building")]
#[path = "../../../../features/why/tests/command/cachegrind.rs"]
mod why_cachegrind;
#[cfg(feature = "building")]
#[path = "../../../../features/why/tests/command/confirming.rs"]
mod why_confirming;
#[cfg(feature = "building")]
#[path = "../../../../features/why/tests/command/counting.rs"]
mod why_counting;
#[cfg(feature = "building")]
#[path = "../../../../features/why/tests/command/evidence.rs"]
mod why_evidence;
#[cfg(feature = "building")]
#[path = "../../../../features/why/tests/command/facts.rs"]
mod why_facts;
#[cfg(feature = "building")]
#[path = "../../../../features/why/tests/command/instructions.rs"]
mod why_instructions;
#[cfg(feature = "building")]
#[path = "../../../../features/why/tests/command/kernel.rs"]
mod why_kernel;
#[cfg(feature = "building")]
#[path = "../../../../features/why/tests/command/matched.rs"]
mod why_matched;
#[cfg(feature = "building")]
#[path = "../../../../features/why/tests/command/samples.rs"]
mod why_samples;
#[cfg(feature = "building")]
#[path = "../../../../features/why/tests/command/served.rs"]
mod why_served;
