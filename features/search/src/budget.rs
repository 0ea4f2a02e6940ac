//! What a search may cost, and what it has cost so far. All of that is in its files, so a command that resumes counts the same.

use bakeoff_report::format::{count, waiting_time};
use bakeoff_report::words::counted;

/// The fewest blocks of the confirmation: what they cost is kept for it, but no less and no more than these shares of the budget.
pub(crate) const CONFIRMING_BLOCKS: u32 = 12;
const LEAST_KEPT: f64 = 0.05;
const MOST_KEPT: f64 = 0.5;

/// Of a budget of time, this share may go before the last build begins: a race of few is worth more than builds alone.
const BUILDING_SHARE: f64 = 0.8;

/// Ends an answer that a larger budget can improve.
pub(crate) const LARGER: &str = "; run the same command with a larger --budget to resume";

/// What is allowed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Budget {
    Seconds(f64),
    Trials(u64),
    Builds(u64),
}

impl Budget {
    /// Reads `90min`, `400 trials` or `30 builds`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let number = number.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
        let whole = number.filter(|number| number.fract() == 0.0).map(|number| number as u64);
        let seconds = |each: f64| number.map(|number| Self::Seconds(number * each));
        let budget = match unit.trim() {
            "s" => seconds(1.0),
            "min" => seconds(60.0),
            "h" => seconds(3600.0),
            "d" => seconds(86_400.0),
            "trial" | "trials" => whole.map(Self::Trials),
            "build" | "builds" => whole.map(Self::Builds),
            _ => None,
        };
        budget.ok_or_else(|| {
            "expected a time, trials or builds, such as 90min, 2h, '400 trials' or '30 builds'".to_owned()
        })
    }

    /// As it is shown.
    pub(crate) fn shown(self) -> String {
        match self {
            Self::Seconds(seconds) => waiting_time(seconds),
            Self::Trials(trials) => format!("{} trials", count(trials)),
            Self::Builds(builds) => counted(u32::try_from(builds).unwrap_or(u32::MAX), "build"),
        }
    }
}

/// What was spent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Spent {
    pub(crate) trials: u64,
    /// How many trials would have taken as long as what was counted.
    pub(crate) counts: u64,
    pub(crate) builds: u64,
    /// Of builds, and of trials and counts.
    pub(crate) building_s: f64,
    pub(crate) running_s: f64,
}

impl Spent {
    /// `120 trials, 9 builds`
    pub(crate) fn shown(&self) -> String {
        let trials = format!("{} trials", count(self.trials));
        if self.builds == 0 { trials } else { format!("{trials}, {}", counted(self.builds as u32, "build")) }
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.building_s + self.running_s
    }

    /// How long a trial takes, by those that were run.
    pub(crate) fn trial_s(&self) -> Option<f64> {
        let all = self.trials + self.counts;
        (all > 0).then(|| self.running_s / all as f64)
    }

    /// The share of the budget that was used.
    pub(crate) fn share(&self, budget: Budget) -> f64 {
        match budget {
            Budget::Seconds(most_s) => self.seconds() / most_s,
            Budget::Trials(most) => (self.trials + self.counts) as f64 / most as f64,
            Budget::Builds(most) => self.builds as f64 / most as f64,
        }
    }

    /// The share of the budget that a trial uses.
    #[cfg(feature = "building")]
    pub(crate) fn trial_share(&self, budget: Budget) -> f64 {
        match budget {
            Budget::Seconds(most_s) => self.trial_s().unwrap_or(0.0) / most_s,
            Budget::Trials(most) => 1.0 / most as f64,
            Budget::Builds(_) => 0.0,
        }
    }

    /// How many more builds may begin.
    pub(crate) fn room(&self, budget: Budget) -> usize {
        match budget {
            Budget::Builds(most) => most.saturating_sub(self.builds) as usize,
            Budget::Seconds(most_s) if self.seconds() > BUILDING_SHARE * most_s => 0,
            _ => usize::MAX,
        }
    }

    /// Whether this number of trials fits, if those of the confirmation are to fit too.
    pub(crate) fn fits(&self, budget: Budget, trials: u64, confirming: u64) -> bool {
        let fits = |used: f64, each: f64, most: f64| {
            let kept = (each * confirming as f64).max(LEAST_KEPT * most).min(MOST_KEPT * most);
            used + each * trials as f64 + kept <= most
        };
        match budget {
            Budget::Seconds(most_s) => fits(self.seconds(), self.trial_s().unwrap_or(0.0), most_s),
            Budget::Trials(most) => fits(self.trials as f64, 1.0, most as f64),
            Budget::Builds(_) => true,
        }
    }

    /// How long the budget lasts at most.
    pub(crate) fn left_s(&self, budget: Budget) -> Option<f64> {
        match budget {
            Budget::Seconds(most_s) => Some((most_s - self.seconds()).max(0.0)),
            Budget::Trials(most) => Some(most.saturating_sub(self.trials) as f64 * self.trial_s()?),
            Budget::Builds(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_have_a_unit() {
        let check = |text: &str, expect: Budget| assert_eq!(Budget::parse(text), Ok(expect), "{text}");
        check("90min", Budget::Seconds(5400.0));
        check("2 h", Budget::Seconds(7200.0));
        check("400 trials", Budget::Trials(400));
        check("30builds", Budget::Builds(30));
        for wrong in ["", "2", "h", "-1h", "0 trials", "1.5 builds", "2 weeks", "infh"] {
            assert!(Budget::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_share_is_kept_for_the_confirmation() {
        let spent = Spent { trials: 300, running_s: 300.0, ..Spent::default() };
        for budget in [Budget::Trials(400), Budget::Seconds(400.0)] {
            assert!(spent.fits(budget, 52, 48) && !spent.fits(budget, 53, 48));
            assert!(spent.fits(budget, 80, 8) && !spent.fits(budget, 81, 8));
        }
        // However small it is, some of it is for the search.
        assert!(Spent::default().fits(Budget::Trials(40), 20, 48));
        // And of the time, some is for the race.
        assert_eq!([400.0, 370.0].map(|most_s| spent.room(Budget::Seconds(most_s))), [usize::MAX, 0]);
        assert_eq!(Spent { builds: 28, ..spent }.room(Budget::Builds(30)), 2);
    }
}
