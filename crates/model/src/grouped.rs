//! Lists whose items belong together, or are there several times; their order stays.

/// What belongs to each key, in the order in which the keys come first.
pub fn grouped<K: PartialEq, T>(pairs: impl IntoIterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = vec![];
    for (key, item) in pairs {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, items)) => items.push(item),
            None => groups.push((key, vec![item])),
        }
    }
    groups
}

/// Each item once, in the order in which they come first.
pub fn unique<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    grouped(items.into_iter().map(|item| (item, ()))).into_iter().map(|(item, _)| item).collect()
}
