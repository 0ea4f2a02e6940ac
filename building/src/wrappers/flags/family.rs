//! Flags of one family: of those the last one counts.

/// The flag that overrides this one in a call that has it; none if it counts.
pub(super) fn overriding<'w>(flag: &str, words: &'w [String]) -> Option<&'w str> {
    let family = family(flag)?;
    let last = words.iter().rev().find(|word| self::family(word).as_ref() == Some(&family))?;
    (same(last) != same(flag)).then_some(last)
}

/// What a flag is called that has another name, too.
fn same(flag: &str) -> &str {
    match flag {
        "-O" => "-O1",
        "-g" | "-ggdb" => "-g2",
        flag => flag,
    }
}

/// Options of which each occurrence counts.
const ALL_COUNT: [&str; 10] = [
    "sanitize",
    "sanitize-recover",
    "sanitize-trap",
    "plugin",
    "debug-prefix-map",
    "file-prefix-map",
    "macro-prefix-map",
    "instrument-functions-exclude-file-list",
    "llvm",
    "profile-prefix-map",
];

/// The name of a flag's family; none if every flag counts.
fn family(flag: &str) -> Option<String> {
    if flag.starts_with("-O") {
        return Some("-O".to_owned());
    }
    if flag == "-ansi" || flag.starts_with("-std=") {
        return Some("-std".to_owned());
    }
    if let Some(level) = flag.strip_prefix("-g") {
        let level = level.strip_prefix("gdb").unwrap_or(level);
        if level.is_empty() || level.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some("-g".to_owned());
        }
        return level.starts_with("dwarf").then(|| "-gdwarf".to_owned());
    }
    if ["-pie", "-no-pie", "-static-pie"].contains(&flag) {
        return Some("-pie".to_owned());
    }
    if let Some(of_linker) = flag.strip_prefix("-Wl,") {
        let name = of_linker.split_once('=').map(|(name, _)| name);
        return if of_linker.starts_with("-O") { Some("-Wl,-O".to_owned()) } else { Some(format!("-Wl,{}", name?)) };
    }
    if let Some(macro_name) = flag.strip_prefix("-D").or_else(|| flag.strip_prefix("-U")) {
        return Some(format!("-D{}", macro_name.split('=').next()?));
    }
    let (letter, rest) = ["-f", "-m", "-W"].iter().find_map(|letter| Some((letter, flag.strip_prefix(letter)?)))?;
    let without_no = rest.strip_prefix("no-").unwrap_or(rest);
    let name = without_no.split('=').next()?;
    if name.is_empty() || name.contains(',') || ALL_COUNT.contains(&name) {
        return None;
    }
    let name = match (*letter, name) {
        ("-f", "pic" | "PIC" | "pie" | "PIE") => "pic",
        (_, name) => name,
    };
    Some(format!("{letter}{name}"))
}
