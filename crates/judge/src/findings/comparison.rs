//! One comparison: estimate, intervals, p, the test they are from, the verdict and its doubts. Plain data.

use super::caveat::Caveat;
use super::verdict::{Scale, Verdict};
use bakeoff_model::metric::{Direction, Unit};
use serde::{Deserialize, Serialize};

/// A variant against the baseline, over the blocks in which both count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Number of blocks with both.
    pub blocks: u32,
    pub scale: Scale,
    /// Robust centre.
    pub estimate: f64,
    /// The study's confidence, 1 − α.
    #[serde(default = "usual_confidence")]
    pub confidence: f64,
    #[serde(flatten)]
    pub inferred: Inferred,
    /// By how much the ticks of a clock have widened the intervals, each way: of logarithms, or of values, as `scale` says.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub resolution: f64,
    pub verdict: Verdict,
    /// Where undecided: the smallest difference that this number of blocks would have shown with 80 % power, as `scale`
    /// says: the larger ratio of the two, or a difference above 0. None if it is unknown, or if they could show none.
    #[serde(default)]
    pub detectable: Option<f64>,
    /// Ratio of arithmetic means with Fieller's paired interval; none unless both means are positive.
    pub ratio_of_means: Option<RatioOfMeans>,
    /// Ratio of the largest values; none unless positive.
    pub ratio_of_max: Option<f64>,
    /// In how many of the blocks the variant was the better one; none where the comparison is no pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better_in: Option<u32>,
    /// Doubts about this comparison.
    pub caveats: Vec<Caveat>,
}

/// What is inferred from the blocks of a comparison, beyond its estimate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(from = "Fields", into = "Fields")]
pub enum Inferred {
    /// Nothing: there are too few blocks.
    TooFew,
    /// Nothing: the values are times on the grid of a clock whose ticks are beyond the margin.
    TooCoarse,
    /// No chance is involved: the metric is exact, and all values of each variant are the same.
    Exact,
    /// By a test.
    Tested(Tested),
}

/// What a test infers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tested {
    pub test: Test,
    /// p of no difference, uncorrected for the family, but for the stopping rule; none where the test has none.
    pub p: Option<f64>,
    /// p corrected for the family, by the test whose inversion the interval is.
    pub p_corrected: Option<f64>,
    /// Interval at the study's confidence, for the whole family; none for too few blocks. It decides on a difference.
    pub interval: Option<[f64; 2]>,
    /// Interval at confidence 1 − 2α, of this comparison alone: the one that must lie within the margin to show equivalence
    /// (TOST).
    pub equivalence_interval: Option<[f64; 2]>,
}

impl Inferred {
    /// What a test says, if one was used.
    pub fn tested(&self) -> Option<&Tested> {
        match self {
            Self::Tested(tested) => Some(tested),
            Self::TooFew | Self::TooCoarse | Self::Exact => None,
        }
    }
}

impl Comparison {
    /// What a test says, if one was used.
    pub fn tested(&self) -> Option<&Tested> {
        self.inferred.tested()
    }

    /// The interval at the study's confidence: see [`Tested::interval`].
    pub fn interval(&self) -> Option<[f64; 2]> {
        self.tested()?.interval
    }

    /// p of no difference, corrected for the family: see [`Tested::p_corrected`].
    pub fn p_corrected(&self) -> Option<f64> {
        self.tested()?.p_corrected
    }

    /// The interval that is compared with the margin: see [`Tested::equivalence_interval`].
    pub fn equivalence_interval(&self) -> Option<[f64; 2]> {
        self.tested()?.equivalence_interval
    }

    /// The interval that the verdict rests on: the one held against the margin for equivalent and negligible.
    pub fn shown_interval(&self) -> Option<[f64; 2]> {
        if self.is_within() { self.equivalence_interval() } else { self.interval() }
    }

    /// The same as it is printed: values that can vary and did not have no interval, and none of width 0.
    pub fn printed_interval(&self) -> Option<[f64; 2]> {
        self.shown_interval().filter(has_width)
    }

    /// In how many runs the values did not vary, if they might have.
    pub fn unvaried(&self) -> Option<u32> {
        self.caveats.iter().find_map(|caveat| match caveat {
            Caveat::Unvaried { runs, .. } => Some(*runs),
            _ => None,
        })
    }

    /// The confidence of [`Self::shown_interval`].
    pub fn shown_confidence(&self) -> f64 {
        // Rounded to where decimal fractions such as 0.95 end: 2 · 0.95 − 1 is 0.8999999999999999.
        let narrower = ((2.0 * self.confidence - 1.0) * 1e12).round() / 1e12;
        if self.is_within() { narrower } else { self.confidence }
    }

    /// Whether it is shown to lie within the margin.
    pub fn is_within(&self) -> bool {
        matches!(self.verdict, Verdict::Equivalent | Verdict::Negligible)
    }

    /// The same comparison the other way round.
    pub fn turned(&self) -> Self {
        let turned = |x: f64| if self.scale == Scale::Ratio { 1.0 / x } else { -x };
        let ends = |interval: Option<[f64; 2]>| interval.map(|[low, high]| [turned(high), turned(low)]);
        let inferred = match self.inferred {
            Inferred::Tested(tested) => Inferred::Tested(Tested {
                interval: ends(tested.interval),
                equivalence_interval: ends(tested.equivalence_interval),
                ..tested
            }),
            other => other,
        };
        Self {
            estimate: turned(self.estimate),
            inferred,
            verdict: match self.verdict {
                Verdict::Faster => Verdict::Slower,
                Verdict::Slower => Verdict::Faster,
                other => other,
            },
            ratio_of_means: None,
            ratio_of_max: self.ratio_of_max.map(|x| 1.0 / x),
            better_in: None,
            ..self.clone()
        }
    }

    /// How far from no difference: above 0 for more than the baseline, for ratios and differences of one table alike.
    pub fn departure(&self) -> f64 {
        if self.scale == Scale::Ratio { self.estimate.ln() } else { self.estimate }
    }

    /// Whether a difference is shown, by the verdict.
    pub fn differs(&self) -> bool {
        matches!(self.verdict, Verdict::Faster | Verdict::Slower | Verdict::Negligible)
    }
}

/// Ratio of arithmetic means, variant ÷ baseline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RatioOfMeans {
    pub estimate: f64,
    /// Fieller's interval at the study's confidence; none if unbounded.
    pub interval: Option<[f64; 2]>,
}

/// How interval and p were obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    /// Winsorised sign-flip test, exact by the randomisation of the blocks; interval by inversion.
    SignFlip,
    /// The same by seeded Monte Carlo, beyond the number of blocks that can be enumerated.
    SignFlipMonteCarlo { seed: u64 },
    /// The same by Edgeworth's series, beyond the number of blocks for which chance need be asked.
    SignFlipEdgeworth,
    /// Student's t on paired differences of logarithms: 3 to 5 blocks; assumes a normal distribution.
    PairedLogT,
    /// The linear model with HC3 errors and Student's t: factors of which not every combination has values.
    LinearModel {
        /// Degrees of freedom.
        df: u32,
    },
    /// A bet against the coins that put on the labels (e-process): it may be looked at at any time. p is 1/E, the interval a
    /// confidence sequence.
    SignFlipEvidence,
    /// Mann and Whitney's test of unpaired samples, exact; interval by order statistics of all differences.
    MannWhitney,
    /// The same by the normal approximation, for long samples.
    MannWhitneyNormal,
}

/// A comparison, and of what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    pub workload: String,
    pub condition: String,
    pub metric: String,
    pub unit: Unit,
    pub better: Direction,
    /// What the blocks say; its caveats stand with the comparison itself.
    pub comparison: Comparison,
}

/// What is inferred as JSON has it, whatever it was: fields of the comparison.
#[derive(Serialize, Deserialize)]
struct Fields {
    interval: Option<[f64; 2]>,
    equivalence_interval: Option<[f64; 2]>,
    p: Option<f64>,
    p_corrected: Option<f64>,
    test: TestOrNone,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum TestOrNone {
    None(Without),
    Test(Test),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Without {
    TooFew,
    TooCoarse,
    Deterministic,
}

/// What findings of format 1, which did not say, mostly had.
fn usual_confidence() -> f64 {
    0.95
}

fn has_width([low, high]: &[f64; 2]) -> bool {
    low < high
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

impl From<Inferred> for Fields {
    fn from(inferred: Inferred) -> Self {
        let tested = inferred.tested().copied();
        let test = match inferred {
            Inferred::TooFew => TestOrNone::None(Without::TooFew),
            Inferred::TooCoarse => TestOrNone::None(Without::TooCoarse),
            Inferred::Exact => TestOrNone::None(Without::Deterministic),
            Inferred::Tested(tested) => TestOrNone::Test(tested.test),
        };
        Self {
            interval: tested.and_then(|tested| tested.interval).filter(has_width),
            equivalence_interval: tested.and_then(|tested| tested.equivalence_interval).filter(has_width),
            p: tested.and_then(|tested| tested.p),
            p_corrected: tested.and_then(|tested| tested.p_corrected),
            test,
        }
    }
}

impl From<Fields> for Inferred {
    fn from(Fields { interval, equivalence_interval, p, p_corrected, test }: Fields) -> Self {
        match test {
            TestOrNone::None(Without::TooFew) => Self::TooFew,
            TestOrNone::None(Without::TooCoarse) => Self::TooCoarse,
            TestOrNone::None(Without::Deterministic) => Self::Exact,
            TestOrNone::Test(test) => Self::Tested(Tested { test, p, p_corrected, interval, equivalence_interval }),
        }
    }
}
