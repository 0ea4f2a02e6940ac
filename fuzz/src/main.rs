//! One executable for all fuzz targets: `BAKEOFF_FUZZ` names the one that libFuzzer feeds. A target fails by a panic, by
//! memory without bound or by time without end; what it returns is of no interest.

#![no_main]

mod targets;

use std::sync::OnceLock;

/// The target that was chosen.
static TARGET: OnceLock<targets::Target> = OnceLock::new();

libfuzzer_sys::fuzz_target!(
    init: {
        let name = std::env::var("BAKEOFF_FUZZ").unwrap_or_default();
        let known = || targets::ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" ");
        let Some((_, target)) = targets::ALL.iter().find(|(known, _)| *known == name) else {
            eprintln!("BAKEOFF_FUZZ names one of: {}", known());
            std::process::exit(2);
        };
        let _ = TARGET.set(*target);
    },
    |data: &[u8]| {
        if let Some(target) = TARGET.get() {
            target(data);
        }
    }
);
