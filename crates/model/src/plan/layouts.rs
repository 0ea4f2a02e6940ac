//! In how many layouts a plan measures programs that are built: which passes have which, and which conditions have none.
//! What a layout is, it does not know.

use super::{AS_BUILT, Plan};
use crate::metric::Metric;
use crate::study::{Condition, Layouts, Vary};
use crate::until::Until;

impl Plan {
    /// Which of `shards` parts a pass belongs to, from 0. Where layouts take turns, all passes of a turn belong together:
    /// else one machine would have some of the layouts only.
    pub fn shard_of(&self, pass: u32, shards: u32) -> u32 {
        pass.saturating_sub(1) / self.layouts.unwrap_or(1).max(1) % shards.max(1)
    }

    /// In how many layouts the programs are measured.
    ///
    /// # Errors
    /// Why that makes no sense for this plan.
    pub fn set_layouts(&mut self, layouts: Layouts) -> Result<(), &'static str> {
        let is_built = !self.boots() && !self.build_factors.is_empty();
        if !is_built && layouts == Layouts::One {
            return Ok(());
        }
        if !is_built {
            return Err("--layouts needs programs that Bakeoff builds, but no variant of this plan has any");
        }
        if layouts != Layouts::One && !self.can_lay_out() {
            return Err("--layouts: the plan has `vary = [\"link-order\"]`, which already links again for each pass");
        }
        self.lay_out(layouts);
        Ok(())
    }

    /// Whether programs that are built can have other layouts.
    pub(super) fn can_lay_out(&self) -> bool {
        !self.boots() && !self.vary.contains(&Vary::LinkOrder)
    }

    pub(super) fn lay_out(&mut self, layouts: Layouts) {
        self.keep_layouts();
        if layouts == Layouts::One {
            return;
        }
        self.vary.push(Vary::Layouts);
        match layouts {
            Layouts::Few(few) => self.layouts = Some(few),
            Layouts::Both => {
                let as_built = |condition: &Condition| Condition {
                    name: format!("{}{AS_BUILT}", condition.name),
                    as_built: true,
                    ..condition.clone()
                };
                let more: Vec<Condition> = self.conditions.iter().map(as_built).collect();
                self.conditions.extend(more);
            }
            Layouts::Fresh | Layouts::One => {}
        }
    }

    /// Leaves every program in the layout that it was built in.
    pub fn keep_layouts(&mut self) {
        self.vary.retain(|vary| *vary != Vary::Layouts);
        self.conditions.retain(|condition| !condition.as_built);
        self.layouts = None;
    }

    /// Has an instrument count the metric, in programs as they were built: the same count each time is the aim.
    pub fn count(&mut self, metric: Metric) {
        self.keep_layouts();
        self.vary.clear();
        self.counted = Some(metric);
    }

    /// Whether that number of layouts can be judged.
    ///
    /// # Errors
    /// The reason, and what helps.
    pub fn check_layouts(&self) -> Result<(), (String, String)> {
        let Some(layouts) = self.layouts else { return Ok(()) };
        if self.until != Until::Blocks {
            let why = format!("the stopping rule `{}` cannot judge a fixed number of layouts", self.until);
            return Err((why, "leave out `until`, or use --layouts fresh".to_owned()));
        }
        if !self.blocks.is_multiple_of(layouts) || self.blocks == 0 {
            let [below, above] = [self.blocks / layouts * layouts, (self.blocks / layouts + 1) * layouts];
            let numbers = if below > 0 { format!("{below} or {above}") } else { above.to_string() };
            let why = format!("{} blocks cannot give {layouts} layouts the same number of passes", self.blocks);
            return Err((why, format!("use --blocks {numbers}")));
        }
        Ok(())
    }
}
