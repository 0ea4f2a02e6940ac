//! Doubts about published figures: what no summary can tell. JSON has each as its kind and its sentence.

use serde::ser::{Serialize, SerializeStruct, Serializer};

/// A doubt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Caveat {
    /// The order in which the values came about is not known.
    OrderUnknown,
    /// Intervals and p assume independent values and normal means.
    ModelBased,
    /// The number of values was not published for all.
    NUnknown,
    /// Several comparisons, each judged on its own.
    Uncorrected,
    /// No exact test can reach the confidence.
    TooFewValues {
        /// The number of values of the baseline, and of the other.
        n: [u64; 2],
        /// The confidence.
        confidence: f64,
        /// The smallest p of any order of the values.
        smallest_p: f64,
    },
    /// A standard deviation is known to a range only.
    SdBounded,
}

impl Caveat {
    /// A stable name for machines.
    pub fn kind(self) -> &'static str {
        match self {
            Self::OrderUnknown => "order-unknown",
            Self::ModelBased => "model-based",
            Self::NUnknown => "n-unknown",
            Self::Uncorrected => "uncorrected",
            Self::TooFewValues { .. } => "too-few-values",
            Self::SdBounded => "sd-bounded",
        }
    }

    /// The sentence.
    pub fn text(self) -> String {
        match self {
            Self::OrderUnknown => {
                "A summary does not show the order of the measurements. If all values of one system were measured \
                    before all values of the other, anything that changed in between (load, heat, a reboot) looks like a difference. No p or interval here accounts for that."
            }
            Self::ModelBased => {
                "Intervals and p assume that the values are independent and the means normally distributed; a summary \
                    can confirm neither."
            }
            Self::NUnknown => {
                "The number of values (n) was not published for every summary. Without n, there is no interval or p. \
                    The means can then be compared, but neither a difference nor equality can be shown. A figure is called possible if some value of n allows it."
            }
            Self::Uncorrected => {
                "Each comparison is judged on its own, so if there are many, expect some to show a difference by \
                 chance."
            }
            Self::SdBounded => {
                "A standard deviation was not published. The other figures limit it to a range, and every interval \
                    allows for the whole range."
            }
            Self::TooFewValues { n: [n_a, n_b], confidence, smallest_p } => {
                return format!(
                    "With n = {n_a} and {n_b}, no exact test can reach {} % confidence, because the smallest possible \
                        p is {smallest_p:.3}. Any result here rests on the assumption of a normal distribution, not on the values.",
                    (confidence * 1e8).round() / 1e6
                );
            }
        }
        .to_owned()
    }
}

impl Serialize for Caveat {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Caveat", 2)?;
        fields.serialize_field("kind", self.kind())?;
        fields.serialize_field("text", &self.text())?;
        fields.end()
    }
}
