//! The methods of ministat and benchstat, and ours, of comparing two variants. Promises measure our test against theirs;
//! further methods are in `benches/peers`. Each is the method by the book, with what is known of the tool; none is the
//! tool itself.

use super::levels::ALPHA;
use super::orders::Simulated;
use bakeoff_stats::describe::{mean, sd};
use bakeoff_stats::rank::MannWhitney;
use bakeoff_stats::signflip::SignFlip;
use bakeoff_stats::student::t_quantile;

/// A method of comparing two variants, at 5 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// Student's t with pooled variance on the values, as ministat: knows no order.
    PooledT,
    /// Mann and Whitney's test of the logarithms, with Hodges and Lehmann's interval, as benchstat tests: knows no order.
    MannWhitney,
    /// The winsorised sign-flip test.
    SignFlip,
}

/// What a method says of a study.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// Whether it calls the variants different.
    pub differs: bool,
    /// Width of its interval at 95 % confidence, as a part of the value; none if it has none.
    pub width: Option<f64>,
}

impl Judged {
    /// From an interval of a difference of logarithms.
    pub fn of_logs(interval: Option<[f64; 2]>) -> Self {
        Self {
            differs: interval.is_some_and(|[low, high]| low > 0.0 || high < 0.0),
            width: interval.map(|[low, high]| high.exp() - low.exp()),
        }
    }

    /// A two-sample t test of the values, with the squared standard error and the degrees of freedom that come of both
    /// standard deviations and n. Its width is a part of the first variant's mean, as ministat has it.
    pub fn two_sample_t(study: &Simulated, error: impl Fn([f64; 2], f64) -> (f64, f64)) -> Self {
        let (a, b) = (study.values(0), study.values(1));
        let half = sd(&a).zip(sd(&b)).and_then(|(sd_a, sd_b)| {
            let (squared, degrees_of_freedom) = error([sd_a, sd_b], a.len() as f64);
            Some(t_quantile(1.0 - ALPHA / 2.0, degrees_of_freedom)? * squared.sqrt())
        });
        let difference = mean(&b) - mean(&a);
        Self {
            differs: half.is_some_and(|half| difference.abs() > half),
            width: half.map(|half| 2.0 * half / mean(&a)),
        }
    }
}

impl Peer {
    /// Compares the second variant of a study with the first.
    pub fn judge(self, study: &Simulated) -> Judged {
        match self {
            Self::PooledT => Judged::two_sample_t(study, |[a, b], n| ((a * a + b * b) / n, 2.0 * (n - 1.0))),
            Self::MannWhitney => mann_whitney(study),
            Self::SignFlip => {
                let Some(mut test) = SignFlip::new(&study.contrasts(0, 1), 0) else { return Judged::of_logs(None) };
                Judged { differs: test.p(0.0) <= ALPHA, ..Judged::of_logs(test.interval(ALPHA)) }
            }
        }
    }
}

fn mann_whitney(study: &Simulated) -> Judged {
    let [a, b] = [0, 1].map(|variant| {
        let mut ascending = study.logs(variant).to_vec();
        ascending.sort_by(f64::total_cmp);
        ascending
    });
    let Some(test) = MannWhitney::new(&b, &a) else { return Judged::of_logs(None) };
    Judged { differs: test.p() <= ALPHA, ..Judged::of_logs(test.interval(ALPHA)) }
}
