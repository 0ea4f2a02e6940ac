//! The machine that this process runs on, as its scheduler calls it. It asks nobody.

/// The node's name where a scheduler gives one, else the host's.
pub(crate) fn name() -> String {
    let given = std::env::var("SLURMD_NODENAME").ok().filter(|name| !name.is_empty());
    given.unwrap_or_else(bakeoff_host::place::host_name)
}
