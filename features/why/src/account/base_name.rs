//! Base names: what two builds of one function have in common in their symbols. Suffixes of clones, hashes of Rust,
//! variants of constructors and tags of C++ are taken off. Nothing is demangled.

/// What compilers append to the name of a clone, perhaps with a number behind it.
const CLONES: [&str; 8] = [".isra", ".part", ".constprop", ".cold", ".lto_priv", ".llvm", ".clone", ".localalias"];
/// `17h`, 16 hexadecimal digits and `E`: how mangled names of Rust ended before v0.
const HASH: usize = 20;

/// A symbol, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BaseName {
    /// The name that all clones, hashes and variants share.
    pub(super) name: String,
    /// It is a clone of the function of that name.
    pub(super) is_clone: bool,
    /// It is Rust's. Its source is a codegen unit, which changes with the build.
    pub(super) is_rust: bool,
}

impl BaseName {
    pub(super) fn of(symbol: &str) -> Self {
        let name = without_clones(symbol);
        let is_clone = name.len() < symbol.len();
        let is_v0 = name.strip_prefix("_R").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
        if is_v0 {
            return Self { name: format!("_R{}", v0(&name[2..])), is_clone, is_rust: true };
        }
        if let Some(name) = without_hash(name) {
            return Self { name, is_clone, is_rust: true };
        }
        let name = if name.starts_with("_Z") { cpp(name) } else { name.to_owned() };
        Self { name, is_clone, is_rust: false }
    }
}

/// The symbol of which it is a clone, or itself.
pub(super) fn without_clones(symbol: &str) -> &str {
    let mut name = symbol;
    while let Some(shorter) = without_clone(name) {
        name = shorter;
    }
    name
}

/// Without one suffix; none if there is none, or nothing before it.
fn without_clone(name: &str) -> Option<&str> {
    let numbered = name.rsplit_once('.').filter(|(_, end)| !end.is_empty() && end.bytes().all(|b| b.is_ascii_digit()));
    let name = numbered.map_or(name, |(rest, _)| rest);
    CLONES.iter().find_map(|suffix| name.strip_suffix(suffix)).filter(|rest| !rest.is_empty())
}

fn without_hash(name: &str) -> Option<String> {
    let start = name.len().checked_sub(HASH).filter(|_| name.starts_with("_ZN"))?;
    let (rest, hash) = (name.get(..start)?, name.get(start..)?);
    let digits = hash.strip_prefix("17h")?.strip_suffix('E')?;
    digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| format!("{rest}E"))
}

/// How many bytes an identifier takes with the length before it: `3foo` 4.
fn identifier(text: &str) -> Option<usize> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let end = digits.checked_add(text[..digits].parse().ok()?)?;
    text.is_char_boundary(end).then_some(end)
}

/// The same in v0, where `_` may stand between the length and what it is the length of.
fn separated(text: &str) -> Option<usize> {
    let end = identifier(text)?;
    let is_separated = text.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with('_');
    let end = end + usize::from(is_separated);
    text.is_char_boundary(end).then_some(end)
}

/// How many bytes a number between a letter and `_` takes, with both: of `S1_` 3.
fn numbered(text: &str, is_digit: fn(&u8) -> bool) -> Option<usize> {
    let digits = text.bytes().skip(1).take_while(is_digit).count();
    (text.as_bytes().get(digits + 1) == Some(&b'_')).then_some(digits + 2)
}

/// A name of C++ without variants of constructors and destructors, and without ABI tags.
fn cpp(name: &str) -> String {
    let (mut kept, mut rest) = (String::with_capacity(name.len()), name);
    while !rest.is_empty() {
        let (keep, take) = cpp_piece(rest);
        kept.push_str(&rest[..keep]);
        rest = &rest[take..];
    }
    kept
}

/// How many bytes of the next piece are kept, and how many it has. Pieces are read only so far that no letter inside an
/// identifier, a number or a literal is taken for one that says something.
fn cpp_piece(rest: &str) -> (usize, usize) {
    let bytes = rest.as_bytes();
    let at = |place: usize| bytes.get(place).copied().unwrap_or(0);
    let same = |length: Option<usize>| length.map(|length| (length, length));
    let found = match at(0) {
        b'0'..=b'9' => same(identifier(rest)),
        b'B' => identifier(&rest[1..]).map(|length| (0, 1 + length)),
        b'C' if matches!(at(1), b'1'..=b'3') && matches!(at(2), b'E' | b'B' | b'I') => Some((1, 2)),
        b'D' if matches!(at(1), b'0'..=b'2') && matches!(at(2), b'E' | b'B') => Some((1, 2)),
        b'S' => same(numbered(rest, |b| b.is_ascii_digit() || b.is_ascii_uppercase())),
        b'T' | b'A' => same(numbered(rest, u8::is_ascii_digit)),
        b'L' if at(1).is_ascii_lowercase() => same(rest.find('E').map(|end| end + 1)),
        _ => None,
    };
    let one = rest.chars().next().map_or(1, char::len_utf8);
    found.unwrap_or((one, one))
}

/// A v0 name of Rust, from behind `_R`, without disambiguators. Back references are to places in the text, so they are
/// moved to where these places are now; of two references to one place both are the same afterwards.
fn v0(name: &str) -> String {
    let (mut kept, mut rest) = (String::with_capacity(name.len()), name);
    // Where each byte of the name went.
    let mut places = Vec::with_capacity(name.len());
    let mut before = 0;
    while let Some(first) = rest.chars().next() {
        let is_number = |b: &u8| b.is_ascii_alphanumeric();
        let of_identifier = if first.is_ascii_digit() { separated(rest) } else { None };
        let number = if matches!(first, 's' | 'B') { numbered(rest, is_number) } else { None };
        let one = of_identifier.or(number).unwrap_or(first.len_utf8());
        places.extend(std::iter::repeat_n(kept.len(), one));
        match (first, number) {
            ('s', Some(end)) if is_disambiguator(before, &rest[end..]) => {}
            ('B', Some(end)) => {
                let place = base62(&rest[1..end - 1]).and_then(|place| places.get(place));
                kept.push_str(&place.map_or_else(|| rest[..end].to_owned(), |place| format!("B{place}_")));
            }
            // An `s` that is no disambiguator is a type, and what follows is read by itself.
            ('s', Some(_)) => {
                places.truncate(places.len() - one + 1);
                kept.push('s');
                (before, rest) = (b's', &rest[1..]);
                continue;
            }
            _ => kept.push_str(&rest[..one]),
        }
        before = rest.as_bytes()[0];
        rest = &rest[one..];
    }
    kept
}

/// Disambiguators are behind the tags of crates and impls, and before identifiers.
fn is_disambiguator(before: u8, behind: &str) -> bool {
    let behind = behind.strip_prefix('u').unwrap_or(behind);
    matches!(before, b'C' | b'M' | b'X') || behind.starts_with(|c: char| c.is_ascii_digit())
}

/// A number as v0 writes it: nothing is 0, `0` is 1.
fn base62(digits: &str) -> Option<usize> {
    if digits.is_empty() {
        return Some(0);
    }
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(usize::from(digit - b'0')),
        b'a'..=b'z' => Some(usize::from(digit - b'a') + 10),
        b'A'..=b'Z' => Some(usize::from(digit - b'A') + 36),
        _ => None,
    };
    let number = digits.bytes().try_fold(0_usize, |sum, digit| sum.checked_mul(62)?.checked_add(value(digit)?));
    number?.checked_add(1)
}

#[cfg(test)]
mod tests {
    use super::BaseName;
    use proptest::prelude::*;

    fn base(symbol: &str) -> String {
        BaseName::of(symbol).name
    }

    #[test]
    fn suffixes_of_clones_are_taken_off() {
        for (symbol, expect) in [
            ("S_sv_setpvn_fresh.part.0", "S_sv_setpvn_fresh"),
            ("f.isra.0.constprop.1.cold", "f"),
            ("f.llvm.1234567890", "f"),
            ("f.lto_priv.0.lto_priv.1", "f"),
            ("f.localalias", "f"),
            ("f.12", "f.12"),
            (".cold", ".cold"),
            ("part", "part"),
            ("", ""),
        ] {
            assert_eq!(base(symbol), expect);
            assert_eq!(BaseName::of(symbol).is_clone, symbol != expect);
        }
    }

    #[test]
    fn hashes_of_rust_are_taken_off() {
        let old = "_ZN11miniz_oxide7deflate4core8compress17h0123456789abcdefE";
        assert_eq!(base(old), "_ZN11miniz_oxide7deflate4core8compressE");
        assert!(BaseName::of(old).is_rust);
        assert_eq!(base("_ZN3foo3bar17h0123456789abcdegE"), "_ZN3foo3bar17h0123456789abcdegE");
        // The crate's hash is longer in one build, so that the back reference is another.
        let one = "_RINvCs1234_7mycrate3fooNtB2_3BarE";
        let other = "_RINvCsabcdefg_7mycrate3fooNtB2_3BarE";
        assert_eq!(base(one), base(other));
        assert_eq!(base("_RNvNvCs12_3abc4main1f"), base("_RNvNvCs9z_3abc4main1f"));
        assert_eq!(base("_RNvNvCs12_3abc4mains_1f"), base("_RNvNvCs9z_3abc4main1f"));
        assert_eq!(base("_RNvMs0_Cs1_3abc1f"), base("_RNvMsb_Csz_3abc1f"));
        // An identifier with such letters in it stays.
        assert_eq!(base("_RNvC5Cs1_23foo"), "_RNvC5Cs1_23foo");
    }

    #[test]
    fn back_references_follow_what_they_refer_to() {
        // Both refer to the second crate, whose place moves by the length of the first disambiguator.
        let (one, other) = ("_RINvCs1_3abc1fNtCs2_3def1TNtBe_1UE", "_RINvCs12345_3abc1fNtCs2_3def1TNtBi_1UE");
        assert_eq!(base(one), base(other));
        assert_ne!(base("_RINvNtC3abc1m1fNtB4_1TE"), base("_RINvNtC3abc1m1fNtB2_1TE"));
    }

    #[test]
    fn variants_and_tags_of_cpp_are_taken_off() {
        for (symbol, expect) in [
            ("_ZN3FooC1Ev", "_ZN3FooCEv"),
            ("_ZN3FooC2Ei", "_ZN3FooCEi"),
            ("_ZN3FooD0Ev", "_ZN3FooDEv"),
            ("_ZN3FooC2IiEET_", "_ZN3FooCIiEET_"),
            ("_Z3fooB5cxx11v", "_Z3foov"),
            ("_ZNSt7__cxx1112basic_stringB5cxx11IcEC1Ev", "_ZNSt7__cxx1112basic_stringIcECEv"),
            ("_ZN3C1E3fooEv", "_ZN3C1E3fooEv"),
            ("_Z1fI3FooLi12EEvT12_SB3_", "_Z1fI3FooLi12EEvT12_SB3_"),
            ("_ZL6helperv", "_ZL6helperv"),
            ("_Z99short", "_Z99short"),
        ] {
            assert_eq!(base(symbol), expect);
        }
    }

    proptest! {
        #[test]
        fn no_symbol_makes_it_panic(symbol in ".{0,40}", tail in "[0-9CDBSTLsEMI_h]{0,30}") {
            for start in ["", "_R", "_RN", "_Z", "_ZN"] {
                let _ = BaseName::of(&format!("{start}{symbol}{tail}"));
                let _ = BaseName::of(&format!("{start}{tail}{symbol}"));
            }
        }
    }
}
