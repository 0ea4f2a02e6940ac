//! Latencies of ops: a histogram of three significant digits (HdrHistogram) with the exact count, sum, least and
//! greatest. It is kept encoded, as HdrHistogram's other implementations read it: V2 with deflate, in base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

/// Significant digits that the histogram keeps.
const DIGITS: u8 = 3;
/// Longer latencies are counted as this long: an hour, in nanoseconds.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// Longer ones are taken for this long, in seconds: no process is 30 years old.
pub(super) const POSSIBLE_S: f64 = 1e9;
/// The quantiles that are looked up once and kept.
const KEPT: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// Takes latencies one by one. Its memory does not depend on how many they are.
#[derive(Debug, Clone)]
pub struct Recorder {
    /// There always is one: three digits are few enough.
    histogram: Option<Histogram<u64>>,
    count: u64,
    sum_s: f64,
    min_s: f64,
    max_s: f64,
    beyond_hour: u64,
}

impl Default for Recorder {
    fn default() -> Self {
        let histogram = Histogram::new(DIGITS).ok();
        Self { histogram, count: 0, sum_s: 0.0, min_s: f64::INFINITY, max_s: 0.0, beyond_hour: 0 }
    }
}

impl Recorder {
    /// Takes one, in seconds, from 0 to 1e9; less or no number counts as 0, more as 1e9.
    pub fn record(&mut self, latency_s: f64) {
        let latency_s = if latency_s.is_nan() { 0.0 } else { latency_s.clamp(0.0, POSSIBLE_S) };
        self.count += 1;
        self.sum_s += latency_s;
        self.min_s = self.min_s.min(latency_s);
        self.max_s = self.max_s.max(latency_s);
        let ns = (latency_s * 1e9).round() as u64;
        self.beyond_hour += u64::from(ns > LONGEST_NS);
        if let Some(histogram) = &mut self.histogram {
            // It grows as needed, up to an hour: some 260 kB.
            let _ = histogram.record(ns.min(LONGEST_NS));
        }
    }

    /// What they amount to; none if there were none.
    pub fn finish(self) -> Option<Latencies> {
        if self.count == 0 {
            return None;
        }
        let encoded = self.histogram.as_ref().and_then(encode)?;
        let Self { count, sum_s, min_s, max_s, beyond_hour, .. } = self;
        Latencies::try_from(Encoded { count, sum_s, min_s, max_s, beyond_hour, histogram: encoded }).ok()
    }
}

/// How long some ops took; at least one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Encoded", into = "Encoded")]
pub struct Latencies {
    encoded: Encoded,
    /// At [`KEPT`], in seconds.
    quantiles_s: [f64; 4],
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Encoded {
    count: u64,
    sum_s: f64,
    min_s: f64,
    max_s: f64,
    /// How many were longer than an hour. Quantiles count them as an hour; sum, mean and the longest are right.
    #[serde(default, skip_serializing_if = "is_zero")]
    beyond_hour: u64,
    histogram: String,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Latencies {
    /// Of these latencies, in seconds; none if there are none.
    pub fn of(latencies_s: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut recorder = Recorder::default();
        latencies_s.into_iter().for_each(|s| recorder.record(s));
        recorder.finish()
    }

    /// Of all of these together; none if there are none.
    pub fn merge<'a>(all: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        Self::pool(all)?.finish()
    }

    /// A quantile, as [`Self::quantile`], of all of these together; none if there are none.
    pub fn quantile_of_all<'a>(all: impl IntoIterator<Item = &'a Self>, q: f64) -> Option<f64> {
        let pool = Self::pool(all)?;
        let histogram = pool.histogram.filter(|_| pool.count > 0)?;
        Some(quantile(&histogram, q, pool.min_s, pool.max_s))
    }

    fn pool<'a>(all: impl IntoIterator<Item = &'a Self>) -> Option<Recorder> {
        let mut pool = Recorder::default();
        let histogram = pool.histogram.as_mut()?;
        for Self { encoded, .. } in all {
            histogram.add(decode(&encoded.histogram).ok()?).ok()?;
            pool.count += encoded.count;
            pool.sum_s += encoded.sum_s;
            pool.min_s = pool.min_s.min(encoded.min_s);
            pool.max_s = pool.max_s.max(encoded.max_s);
            pool.beyond_hour += encoded.beyond_hour;
        }
        Some(pool)
    }

    /// How many there are; never 0.
    pub fn count(&self) -> u64 {
        self.encoded.count
    }

    /// Their sum, in seconds.
    pub fn sum_s(&self) -> f64 {
        self.encoded.sum_s
    }

    /// The shortest, in seconds.
    pub fn min_s(&self) -> f64 {
        self.encoded.min_s
    }

    /// The longest, in seconds.
    pub fn max_s(&self) -> f64 {
        self.encoded.max_s
    }

    /// Their arithmetic mean, in seconds.
    pub fn mean_s(&self) -> f64 {
        self.encoded.sum_s / self.encoded.count as f64
    }

    /// The latency that a share `q` of all does not exceed, in seconds: at most 0.1 % (or half a nanosecond) too high.
    /// 0 gives the shortest and 1 the longest.
    pub fn quantile(&self, q: f64) -> f64 {
        if let Some(at) = KEPT.iter().position(|kept| *kept == q) {
            return self.quantiles_s[at];
        }
        match decode(&self.encoded.histogram) {
            Ok(histogram) => quantile(&histogram, q, self.encoded.min_s, self.encoded.max_s),
            // It was decoded once before, so this cannot be.
            Err(_) => self.encoded.max_s,
        }
    }

    /// The histogram of nanoseconds: HdrHistogram's V2 encoding, deflated, in base64.
    pub fn histogram(&self) -> &str {
        &self.encoded.histogram
    }
}

impl From<Latencies> for Encoded {
    fn from(latencies: Latencies) -> Self {
        latencies.encoded
    }
}

impl TryFrom<Encoded> for Latencies {
    type Error = String;

    fn try_from(encoded: Encoded) -> Result<Self, String> {
        let histogram = decode(&encoded.histogram)?;
        let Encoded { count, sum_s, min_s, max_s, .. } = encoded;
        if count == 0 || histogram.len() != count {
            return Err(format!("a histogram is damaged: its count is {count}, but it holds {}", histogram.len()));
        }
        if !(0.0 <= min_s && min_s <= max_s && max_s.is_finite() && sum_s.is_finite()) {
            return Err(format!("latencies from {min_s} s to {max_s} s are impossible"));
        }
        let quantiles_s = KEPT.map(|q| quantile(&histogram, q, min_s, max_s));
        Ok(Self { encoded, quantiles_s })
    }
}

/// The histogram's answer is the highest that it cannot tell from the true one; it is never beyond what there was.
fn quantile(histogram: &Histogram<u64>, q: f64, min_s: f64, max_s: f64) -> f64 {
    if q >= 1.0 {
        return max_s;
    }
    if q <= 0.0 {
        return min_s;
    }
    let ns = histogram.value_at_quantile(q) as f64;
    (ns / 1e9).clamp(min_s, max_s)
}

/// The same counts give the same text, however they came together: the written range depends on the greatest alone.
fn encode(histogram: &Histogram<u64>) -> Option<String> {
    let high = (histogram.max() + 1).next_power_of_two().max(4096);
    let mut tight = Histogram::<u64>::new_with_bounds(1, high, DIGITS).ok()?;
    tight.add(histogram).ok()?;
    let mut bytes = vec![];
    V2DeflateSerializer::new().serialize(&tight, &mut bytes).ok()?;
    Some(BASE64.encode(bytes))
}

fn decode(text: &str) -> Result<Histogram<u64>, String> {
    let bytes = BASE64.decode(text).map_err(|error| format!("a histogram is not valid base64: {error}"))?;
    Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|error| format!("a histogram is damaged: {error}"))
}
