//! Patterns of names, as a study writes them. They look at text alone: what there is, is found elsewhere.

/// Whether a name is one that the pattern means; `*` stands for any characters, or none.
pub fn fits(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        // The leftmost place leaves the most for what follows.
        let Some(place) = left.find(part) else { return false };
        left = &left[place + part.len()..];
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        let check = |pattern, name, expect| assert_eq!(fits(pattern, name), expect, "{pattern} {name}");
        check("d_fork", "d_fork", true);
        check("d_fork", "d_forks", false);
        check("d_*_r", "d_ctime_r", true);
        check("d_*_r", "d_r", false);
        check("d_*_r", "d__r", true);
        check("*", "", true);
        check("a*b*c", "a-b-b-c", true);
        check("a*b*c", "a-c-b", false);
        check("*a", "aaa", true);
        check("aa*aa", "aaa", false);
    }
}
