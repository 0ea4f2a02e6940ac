//! What a tool is, by its name. It looks at no file.

/// What it does with what it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// Compiles, and has others link.
    Driver,
    /// Only preprocesses.
    Preprocessor,
    /// Links.
    Linker,
    /// Puts objects into archives.
    Archiver,
    /// Compiles Rust, and has a driver link.
    Rust,
    /// Links Go.
    GoLinker,
}

const DRIVERS: [&[u8]; 8] = [b"cc", b"gcc", b"g++", b"c++", b"c89", b"c99", b"clang", b"clang++"];
const LINKERS: [&[u8]; 7] = [b"ld", b"ld.bfd", b"ld.gold", b"ld.lld", b"ld.mold", b"lld", b"mold"];

/// The kind of a usual name, which may have a version behind it and a machine before it; none for any other name.
pub fn kind(name: &[u8]) -> Option<ToolKind> {
    let base = last_part(without_version(name), b'-');
    if DRIVERS.contains(&base) {
        Some(ToolKind::Driver)
    } else if LINKERS.contains(&base) {
        Some(ToolKind::Linker)
    } else {
        match base {
            b"cpp" => Some(ToolKind::Preprocessor),
            b"ar" => Some(ToolKind::Archiver),
            b"rustc" => Some(ToolKind::Rust),
            _ => None,
        }
    }
}

/// The kind of a file that is called by that name. Go's linker has the name of another tool, so its folder tells.
pub fn kind_of_file(file: &[u8], name: &[u8]) -> Option<ToolKind> {
    let is_of_go = file.ends_with(b"/link") && file.windows(10).any(|part| part == b"/pkg/tool/");
    if is_of_go { Some(ToolKind::GoLinker) } else { kind(name) }
}

/// Whether it is a cache of compilers that runs them in a server, which outlives who called it.
pub fn is_server(name: &[u8]) -> bool {
    name == b"sccache"
}

/// Whether a driver of that name takes C for C++.
pub fn is_cxx(name: &[u8]) -> bool {
    without_version(name).ends_with(b"++")
}

/// The standard that the name of a driver stands for; none for most.
pub fn standard(name: &[u8]) -> Option<&'static core::ffi::CStr> {
    match last_part(without_version(name), b'-') {
        b"c89" => Some(c"-std=c89"),
        b"c99" => Some(c"-std=c99"),
        _ => None,
    }
}

/// What follows the last separator; all of it without one.
pub fn last_part(text: &[u8], separator: u8) -> &[u8] {
    text.rsplit(|&byte| byte == separator).next().unwrap_or(text)
}

/// `gcc` of `gcc-12.2`.
fn without_version(name: &[u8]) -> &[u8] {
    let version = last_part(name, b'-');
    let is_version = version.first().is_some_and(u8::is_ascii_digit)
        && version.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    match name.len().checked_sub(version.len() + 1) {
        Some(length) if is_version => &name[..length],
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linker_of_go_is_known_by_its_folder() {
        let check = |file: &str, name: &str, expect| assert_eq!(kind_of_file(file.as_bytes(), name.as_bytes()), expect);
        check("/usr/local/go/pkg/tool/linux_amd64/link", "link", Some(ToolKind::GoLinker));
        check("/usr/local/go/pkg/tool/linux_amd64/asm", "asm", None);
        check("/usr/bin/link", "link", None);
        check("/usr/bin/x86_64-linux-gnu-ld.bfd", "ld", Some(ToolKind::Linker));
        check("", "gcc-12", Some(ToolKind::Driver));
    }
}
