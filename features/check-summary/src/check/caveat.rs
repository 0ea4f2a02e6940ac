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
                "A summary does not tell in which order the values came about. If all of one were measured before all of the \
                 other, whatever changed meanwhile (load, heat, another boot) is counted as the difference, and no p or interval \
                 here covers it."
            }
            Self::ModelBased => {
                "Intervals and p take the values of each as independent of each other and the means as normally distributed; a \
                 summary shows neither."
            }
            Self::NUnknown => {
                "The number of values (n) was not published for all. Without it there is no interval and no p, so that means can \
                 be compared, but nothing can be shown; and a figure is called possible if it is so for any n."
            }
            Self::Uncorrected => {
                "Each comparison is judged on its own: among many, one that is shown by chance is to be expected."
            }
            Self::SdBounded => {
                "A standard deviation was not published; the other figures leave a range, and every interval is given for all of \
                 it."
            }
            Self::TooFewValues { n: [n_a, n_b], confidence, smallest_p } => {
                return format!(
                    "With n = {n_a} and {n_b} no exact test can reach {} % confidence: the smallest p of any order of the values \
                     is {smallest_p:.3}. What is shown here is shown by the normal distribution, not by the values.",
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
