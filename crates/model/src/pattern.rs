//! Patterns of names and of paths, as a study writes them. They look at text alone: what there is, is found elsewhere.

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

/// Whether a path, given by its parts, fits: `*` stands for any characters of one part, `**` for any number of parts.
pub fn fits_path(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        (["**", rest @ ..], _) if fits_path(rest, path) => true,
        (["**", ..], [_, below @ ..]) => fits_path(pattern, below),
        ([first, rest @ ..], [name, below @ ..]) => fits(first, name) && fits_path(rest, below),
        _ => false,
    }
}

/// Whether anything below this folder can be one that the pattern means.
pub fn may_fit_below(pattern: &[&str], folder: &[&str]) -> bool {
    match (pattern, folder) {
        (["**", ..], _) => true,
        (_, []) => !pattern.is_empty(),
        ([first, rest @ ..], [name, below @ ..]) => fits(first, name) && may_fit_below(rest, below),
        _ => false,
    }
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

    #[test]
    fn two_stars_stand_for_folders() {
        let parts = |text: &'static str| text.split('/').collect::<Vec<_>>();
        let check = |pattern, path, expect| {
            assert_eq!(fits_path(&parts(pattern), &parts(path)), expect, "{pattern} {path}");
        };
        check("bin/perl", "bin/perl", true);
        check("bin/*", "bin/perl", true);
        check("bin/*", "bin/deep/perl", false);
        check("**/*.so", "libperl.so", true);
        check("lib/**/*.so", "lib/a/b/libperl.so", true);
        check("lib/**/*.so", "bin/a.so", false);
        check("lib/**", "lib/a/b", true);

        let below = |pattern, path, expect| {
            assert_eq!(may_fit_below(&parts(pattern), &parts(path)), expect, "{pattern} {path}");
        };
        below("lib/**/*.so", "lib", true);
        below("lib/**/*.so", "lib/a/b", true);
        below("lib/**/*.so", "bin", false);
        below("bin/*", "bin", true);
        below("bin/*", "bin/deep", false);
        below("bin", "bin", false);
    }
}
