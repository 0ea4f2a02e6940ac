//! Which names a parcel may have, for itself and for its members. Whatever passes here can be joined to a folder's path
//! and stays in it. It looks at no file system.

use super::format::PARTS;

/// The longest name of a folder or file that common file systems take, in bytes.
const COMPONENT_MAX: usize = 255;
/// How deep a member may lie.
const DEPTH_MAX: usize = 64;

/// What is wrong with the name of a member; none if it is fine.
pub(crate) fn complaint(name: &str) -> Option<&'static str> {
    let components: Vec<&str> = name.split('/').collect();
    if components.len() < 2 || !PARTS.contains(&components[0]) {
        return Some("is outside the folders of a parcel");
    }
    if components.len() > DEPTH_MAX {
        return Some("is nested too deeply");
    }
    if components.iter().any(|component| component.is_empty() || component.len() > COMPONENT_MAX) {
        return Some("has a part that is not a valid file name");
    }
    // `.` and `..` among them; and a folder's hidden files are where other programs keep what they run.
    if components.iter().any(|component| component.starts_with('.')) {
        return Some("has a part that begins with a dot");
    }
    // Journals lie in a study's folder beside the other parts.
    if components[0] == "journals" && (components.len() > 2 || !components[1].ends_with(".jsonl")) {
        return Some("is not a journal");
    }
    name.chars().any(|c| c.is_control() || c == '\\').then_some("has a control character or a backslash")
}

/// Whether a parcel's folder may have this name.
pub(crate) fn is_top(name: &str) -> bool {
    let fine = |b: u8| b.is_ascii_alphanumeric() || b"-_.+".contains(&b);
    (1..=100).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(fine)
}

/// A name for the folder of a study's parcel: letters, digits and dashes, whatever the study is called.
pub(crate) fn top_of(study: &str) -> String {
    let fine = |c: char| if c.is_ascii_alphanumeric() || "-_+".contains(c) { c } else { '-' };
    let name: String = study.chars().map(fine).take(60).collect();
    if name.is_empty() { "study".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_stay_inside_are_fine() {
        for fine in ["study/study.toml", "study/a/b c.pl", "journals/default-0.jsonl", "study/größe"] {
            assert_eq!(complaint(fine), None, "{fine}");
        }
        let long = format!("study/{}", "x".repeat(256));
        let deep = format!("study{}", "/x".repeat(64));
        let wrong = [
            "",
            "study",
            "study/",
            "/study/x",
            "study//x",
            "study/../x",
            "../x",
            "study/..",
            "study/.git/hooks/x",
            "study/.",
            "other/x",
            "journals/layers",
            "journals/a/b.jsonl",
            "study/a\\b",
            "study/a\0b",
            "study/a\u{1b}[2Jb",
            "Study/x",
            &long,
            &deep,
        ];
        for wrong in wrong {
            assert!(complaint(wrong).is_some(), "{wrong:?}");
        }
    }

    #[test]
    fn every_study_has_a_folder() {
        for study in ["perl-options", "../x", "", "größe und mehr", &"x".repeat(500)] {
            assert!(is_top(&top_of(study)), "{study}");
        }
        for wrong in ["", ".", "..", ".x", "a/b", "a b", "ä"] {
            assert!(!is_top(wrong), "{wrong}");
        }
    }
}
