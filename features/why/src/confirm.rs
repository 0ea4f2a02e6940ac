//! Levels that isolate a cause: for the mechanisms that one option or one variable changes alone. Whether such a level shows
//! the cause is decided by the trials with it and without.

use crate::account::result::{Allocator, Cause as RowCause, Mechanism, Row, difference};
use crate::findings::{Diagnosis, PairAccount, Standing, What};
use bakeoff_command::{Confirmation, IsolatingLevel};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Names of levels.
const BSYMBOLIC: &str = "bsymbolic";
const NO_PLT: &str = "no-plt";
const LOCALE: &str = "locale-C";
const ALLOCATOR: &str = "allocator";

/// Folders of libraries, as Linux distributions have them.
const FOLDERS: [&str; 5] =
    ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"];

/// Allocators that may be there, by the names of their libraries, and their packages in Debian.
const ALLOCATORS: [&str; 3] = ["libjemalloc.so.2", "libmimalloc.so.2", "libtcmalloc_minimal.so.4"];

/// The first cause of which nothing is shown that a level can isolate, and the level.
pub(crate) fn first(pair: &PairAccount, diagnosis: &Diagnosis) -> Option<(Mechanism, Confirmation)> {
    let open = diagnosis.causes.iter().filter(|cause| cause.standing == Standing::Consistent);
    open.filter_map(|cause| match cause.what {
        What::Mechanism(mechanism) => Some((mechanism, of(pair, mechanism, allocator_here().as_deref())?)),
        _ => None,
    })
    .next()
}

/// The mechanism that a level isolates.
pub(crate) fn mechanism(level: &IsolatingLevel) -> Option<Mechanism> {
    let all = [
        (BSYMBOLIC, Mechanism::OwnStubs),
        (NO_PLT, Mechanism::Stubs),
        (LOCALE, Mechanism::Libc),
        (ALLOCATOR, Mechanism::Allocator),
    ];
    all.into_iter().find(|(name, _)| *name == level.name).map(|(_, mechanism)| mechanism)
}

fn of(pair: &PairAccount, mechanism: Mechanism, other_allocator: Option<&Path>) -> Option<Confirmation> {
    let row = pair.account.rows.iter().find(|row| row.cause == RowCause::Mechanism(mechanism))?;
    // The side that has more of it is to have none.
    let more = if difference(row.instructions) > 0 { &pair.variant } else { &pair.against };
    let confirmation = |changed: &str, level: IsolatingLevel| Confirmation {
        variant: pair.variant.clone(),
        against: pair.against.clone(),
        changed: changed.to_owned(),
        workload: pair.account.workload.clone(),
        level,
    };
    match mechanism {
        Mechanism::OwnStubs => Some(confirmation(more, built(BSYMBOLIC, "-Wl,-Bsymbolic"))),
        Mechanism::Stubs => Some(confirmation(more, built(NO_PLT, "-fno-plt"))),
        Mechanism::Libc if is_of_locale(row) => Some(confirmation(more, variable(LOCALE, "LC_ALL", "C"))),
        Mechanism::Allocator => {
            let sides = [&pair.against, &pair.variant].into_iter().zip(pair.account.allocators);
            // The allocator of the C library can be replaced from outside, and no other one.
            let (changed, _) = sides.into_iter().find(|(_, allocator)| *allocator == Some(Allocator::Libc))?;
            Some(confirmation(changed, variable(ALLOCATOR, "LD_PRELOAD", &other_allocator?.to_string_lossy())))
        }
        _ => None,
    }
}

fn is_of_locale(row: &Row) -> bool {
    row.parts.iter().any(|part| part.name.contains("locale"))
}

fn built(name: &str, words: &str) -> IsolatingLevel {
    let built = Some(("append".to_owned(), words.to_owned()));
    IsolatingLevel { name: name.to_owned(), says: words.to_owned(), built, variables: BTreeMap::new() }
}

fn variable(name: &str, variable: &str, value: &str) -> IsolatingLevel {
    let variables = [(variable.to_owned(), value.to_owned())].into();
    IsolatingLevel { name: name.to_owned(), says: format!("{variable}={value}"), built: None, variables }
}

/// An allocator of this machine that can be preloaded.
fn allocator_here() -> Option<PathBuf> {
    let paths = ALLOCATORS.iter().flat_map(|name| FOLDERS.iter().map(move |folder| Path::new(folder).join(name)));
    paths.into_iter().find(|path| path.is_file())
}

#[cfg(test)]
mod tests;
