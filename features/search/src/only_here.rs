//! The option of `run` that a search refuses with its reason.

/// Options of `run` that a search refuses.
#[derive(Debug, clap::Args)]
pub(crate) struct OnlyHere {
    #[arg(long, value_name = "NAME", hide = true, value_parser = refuse)]
    on: Option<String>,
}

fn refuse(_: &str) -> Result<String, &'static str> {
    Err("a search decides after each block what comes next, so all of its trials run on this machine")
}
