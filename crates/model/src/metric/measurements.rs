//! What was measured, by the names of metrics: a sorted map in one piece of memory, as it is made between two trials.
#![allow(missing_docs, reason = "methods named like those of the standard library's maps do the same")]

use super::{CPU, MAXRSS, SYS, USER};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

/// The name of a metric; those of the table need no memory.
type Name = Cow<'static, str>;

/// Values by the names of their metrics, in base units.
#[derive(Clone, PartialEq, Default)]
pub struct Measurements(Vec<(Name, f64)>);

impl Measurements {
    pub const fn new() -> Self {
        Self(vec![])
    }

    /// None, with room for this number.
    pub fn with_capacity(count: usize) -> Self {
        Self(Vec::with_capacity(count))
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        // Mostly they come in order.
        match self.0.last() {
            Some((last, _)) if **last < *name => Err(self.0.len()),
            _ => self.0.binary_search_by(|(known, _)| (**known).cmp(name)),
        }
    }

    pub fn get(&self, name: &str) -> Option<&f64> {
        self.place(name).ok().map(|place| &self.0[place].1)
    }

    pub fn get_mut(&mut self, name: &str) -> Option<&mut f64> {
        self.place(name).ok().map(|place| &mut self.0[place].1)
    }

    pub fn contains_key(&self, name: &str) -> bool {
        self.place(name).is_ok()
    }

    pub fn insert(&mut self, name: impl Into<Name>, value: f64) {
        *self.get_or_insert(name, value) = value;
    }

    /// Its value, which is this one if it had none.
    pub fn get_or_insert(&mut self, name: impl Into<Name>, value: f64) -> &mut f64 {
        let name = name.into();
        let place = self.place(&name).unwrap_or_else(|place| {
            self.0.insert(place, (name, value));
            place
        });
        &mut self.0[place].1
    }

    pub fn remove(&mut self, name: &str) -> Option<f64> {
        self.place(name).ok().map(|place| self.0.remove(place).1)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Names and values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, value)| (&**name, *value))
    }

    /// The names, sorted.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|(name, _)| name)
    }

    /// The values, by name.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut f64> {
        self.0.iter_mut().map(|(_, value)| value)
    }
}

/// The value of a metric among what was measured: as it is, or as the sum or choice that the table calls it.
pub fn value(name: &str, measurements: &Measurements) -> Option<f64> {
    let measured = |name: &str| measurements.get(name).copied();
    match name {
        // Where the kernel does not separate the two, only their sum is there.
        CPU => measured(CPU).or_else(|| Some(measured(USER)? + measured(SYS)?)),
        "peak" => measured("cgroup_peak").or_else(|| measured(MAXRSS)),
        "sec/op" => measured("sec/op").or_else(|| Some(1.0 / measured("ops/s").filter(|rate| *rate > 0.0)?)),
        _ => measured(name),
    }
}

impl std::ops::Index<&str> for Measurements {
    type Output = f64;

    fn index(&self, name: &str) -> &f64 {
        self.get(name).unwrap_or_else(|| panic!("no {name} in {self:?}"))
    }
}

impl<N: Into<Name>> Extend<(N, f64)> for Measurements {
    fn extend<I: IntoIterator<Item = (N, f64)>>(&mut self, others: I) {
        others.into_iter().for_each(|(name, value)| self.insert(name, value));
    }
}

impl<N: Into<Name>> FromIterator<(N, f64)> for Measurements {
    fn from_iter<I: IntoIterator<Item = (N, f64)>>(all: I) -> Self {
        let mut measurements = Self::new();
        measurements.extend(all);
        measurements
    }
}

impl<N: Into<Name>, const COUNT: usize> From<[(N, f64); COUNT]> for Measurements {
    fn from(all: [(N, f64); COUNT]) -> Self {
        all.into_iter().collect()
    }
}

impl IntoIterator for Measurements {
    type Item = (Name, f64);
    type IntoIter = std::vec::IntoIter<(Name, f64)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Debug for Measurements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Serialize for Measurements {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Measurements {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Measurements;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Measurements, A::Error> {
        let mut measurements = Measurements::with_capacity(map.size_hint().unwrap_or(0).min(64));
        while let Some((Read(name), value)) = map.next_entry::<Read, f64>()? {
            measurements.insert(name, value);
        }
        Ok(measurements)
    }
}

struct Read(Name);

impl<'de> Deserialize<'de> for Read {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(NameReader).map(Self)
    }
}

struct NameReader;

impl Visitor<'_> for NameReader {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E>(self, name: &str) -> Result<Name, E> {
        static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| {
            let mut names: Vec<&str> = super::METRICS.iter().map(|metric| &*metric.name).collect();
            names.sort_unstable();
            names
        });
        let known = NAMES.binary_search(&name).ok().map(|place| NAMES[place]);
        Ok(known.map_or_else(|| name.to_owned().into(), Cow::Borrowed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn it_is_the_map_that_it_looks_like() {
        let names = ["wall", "user", "a.b", "sys", "user", "", "wall", "zz"];
        let pairs = || names.iter().zip(1..).map(|(name, value)| ((*name).to_owned(), f64::from(value)));
        let map: BTreeMap<String, f64> = pairs().collect();
        let mut measurements: Measurements = pairs().collect();
        let same = |measurements: &Measurements, map: &BTreeMap<String, f64>| {
            assert!(measurements.iter().eq(map.iter().map(|(name, value)| (name.as_str(), *value))));
            assert_eq!(measurements.len(), map.len());
            assert_eq!(format!("{measurements:?}"), format!("{map:?}"));
            let json = serde_json::to_string(measurements).unwrap();
            assert_eq!(json, serde_json::to_string(map).unwrap());
            assert_eq!(serde_json::from_str::<Measurements>(&json).unwrap(), *measurements);
        };
        same(&measurements, &map);
        same(&Measurements::new(), &BTreeMap::new());
        for name in names.iter().chain(&["absent"]) {
            assert_eq!(measurements.get(name), map.get(*name), "{name}");
        }
        measurements.insert("m", 7.0);
        assert_eq!(*measurements.get_or_insert("m", 8.0), 7.0);
        assert_eq!((measurements.remove("m"), measurements.remove("m")), (Some(7.0), None));
        same(&measurements, &map);
    }

    #[test]
    fn the_last_one_of_a_name_counts_and_other_things_are_refused() {
        let read = |text: &str| serde_json::from_str::<Measurements>(text);
        assert_eq!(read(r#"{"wall":1,"a":2.5,"wall":3}"#).unwrap(), Measurements::from([("a", 2.5), ("wall", 3.0)]));
        assert!(read(r#"{"wall":"1"}"#).is_err() && read("[1]").is_err() && read("7").is_err());
    }
}
