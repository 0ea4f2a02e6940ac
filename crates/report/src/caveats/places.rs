//! Sentences of doubts about the machines that blocks ran on.

use crate::places::{amount, there_and_elsewhere};
use bakeoff_judge::findings::Caveat;

pub(super) fn sentence(caveat: &Caveat) -> Option<String> {
    Some(match caveat {
        Caveat::PlacesDiffer(unlike) => format!(
            "{} differs from the other nodes ({}), so the verdict holds on the whole and not on each node",
            unlike.place,
            there_and_elsewhere(unlike)
        ),
        Caveat::NoisyPlaces { seen } => {
            let each = seen.iter().map(|one| {
                let [there, elsewhere] = [one.there, one.elsewhere].map(|x| amount(x, one.scale, one.unit));
                format!("{} on {} under {}, {there} against {elsewhere}", one.place, one.workload, one.condition)
            });
            let each: Vec<String> = each.collect();
            format!(
                "on some nodes the baseline's twin differs from the baseline by more than elsewhere ({})",
                each.join("; ")
            )
        }
        Caveat::FewOnPlaces { places, of, needed } => format!(
            "too few blocks to tell nodes apart: {places} of {of} nodes have fewer than {needed} blocks of some workload"
        ),
        _ => return None,
    })
}
