//! The part of the study file that says what is built: `[sources.x]`, `[[build]]`, and the instructions in the levels of
//! build factors. It reads text, not files.

mod bolt;
mod buildable;
mod check;
mod layers;
mod levels;
pub(crate) mod lock;
mod revisions;
mod sources;
mod tuned;
mod words;

use crate::Building;
use crate::nouns::Chain;
use bakeoff_model::kept::Kept;
use bakeoff_model::problem::Problem;
use bakeoff_model::study::Recipe;
use bakeoff_model::study_file::{PlacedFactor, RecipeReader, Referred, Section};
use buildable::Buildable;
use levels::Said;
use std::sync::Arc;

impl RecipeReader for Building {
    fn keys(&self) -> &'static [&'static str] {
        &levels::KEYS
    }

    fn read(
        &self,
        file: &Section<'_>,
        factors: &mut [PlacedFactor<'_>],
        Referred { plans, workloads }: Referred<'_>,
    ) -> Arc<dyn Recipe> {
        let placed = sources::sources(file);
        let sources: Vec<_> = placed.iter().map(|placed| placed.source.clone()).collect();
        let mut layers = layers::layers(file, &sources);
        levels::kernels(file.sink, factors);
        let buildable = Buildable { sources: &sources, layers: &layers };
        let mut said: Vec<Said<'_>> = factors.iter().map(|placed| Said::read(file.sink, placed, &buildable)).collect();
        let sources = revisions::sources(file.sink, placed, &layers, &mut said);
        tuned::mark_trained(&mut said, workloads);
        bolt::complete(file, &mut said, &mut layers, plans, workloads);
        check::variables_are_used(file.sink, &said, &layers);
        check::layers_name_what_there_is(file, &said, &layers);
        check::plans_build_what_there_is(file, plans, &layers);
        check::building_can_be_measured(file, plans, &layers, workloads);
        tuned::in_one_factor(file.sink, &said, "compiler", "chooses the compiler");
        tuned::no_cache_comes_between(file, &said, &layers);
        tuned::one_factor_profiles(file.sink, &said);
        tuned::profiled_layers_compile(file.sink, &said, &layers);
        tuned::plans_allow_a_profile(file.sink, plans, &said);
        let specs: Vec<_> = said.into_iter().flat_map(|said| said.levels).map(|level| level.spec).collect();
        let levels = factors.iter_mut().flat_map(|placed| &mut placed.factor.levels);
        levels.zip(specs).for_each(|(level, spec)| level.spec = Kept::new(spec));
        Arc::new(Chain { sources, layers })
    }

    fn locked(&self, recipe: &dyn Recipe, lock: &str) -> Result<Arc<dyn Recipe>, Vec<Problem>> {
        let mut chain = Chain::of_recipe(Some(recipe)).clone();
        Building::parse_lock(lock)?.apply(&mut chain.sources);
        Ok(Arc::new(chain))
    }
}

#[cfg(test)]
mod tests;
