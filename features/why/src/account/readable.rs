//! Names as their authors wrote them: symbols of C++ and Rust demangled, and long ones cut so that they fit a table. Functions are
//! matched by symbols, never by these.

use super::base_name::without_clones;
use cpp_demangle::{BorrowedSymbol, DemangleOptions};
use std::fmt::{self, Write};

/// The longest name of a table, in characters.
const WIDE: usize = 56;
/// The longest name at all: a short symbol may refer to itself so often that its name fills the memory.
const LONGEST: usize = 16_384;

/// What C++ calls by a long name, and everyone by a short one.
const SHORTER: [(&str, &str); 5] = [
    ("[abi:cxx11]", ""),
    ("std::__cxx11::", "std::"),
    ("std::__1::", "std::"),
    ("std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string"),
    (" >", ">"),
];

/// Arguments of templates that nobody writes, because they are what is taken without them.
const DEFAULTS: [&str; 7] = [
    ", std::allocator<",
    ", std::less<",
    ", std::char_traits<",
    ", std::hash<",
    ", std::equal_to<",
    ", std::default_delete<",
    ", std::_Select1st<",
];

/// Text up to the longest name; an error beyond.
#[derive(Default)]
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// Whether it is a name of C++ or Rust.
pub(super) fn is_mangled(symbol: &str) -> bool {
    symbol.starts_with("_Z") || symbol.starts_with("_R")
}

/// The name of a function without suffixes of clones, or its symbol if that is not mangled.
pub(super) fn readable(symbol: &str) -> String {
    let whole = without_clones(symbol);
    if !is_mangled(whole) || whole.len() > LONGEST {
        return whole.to_owned();
    }
    let mut name = Bounded::default();
    if let Ok(rust) = rustc_demangle::try_demangle(whole) {
        // Without the hash.
        return if write!(name, "{rust:#}").is_ok() { name.0 } else { whole.to_owned() };
    }
    let options = DemangleOptions::new().no_return_type().hide_expression_literal_types();
    let symbol = BorrowedSymbol::new(whole.as_bytes());
    if !symbol.is_ok_and(|symbol| symbol.structured_demangle(&mut name, &options).is_ok()) {
        return whole.to_owned();
    }
    SHORTER.iter().fold(name.0, |name, (long, short)| name.replace(long, short))
}

/// A name for a table, without default arguments of templates. Of one that is too long, first the parameters are left out, then arguments of templates from the inside,
/// and then the
/// beginning of the path. Paths within brackets go before the arguments do.
pub(super) fn short(name: &str) -> String {
    let mut shorter = DEFAULTS.iter().fold(name.to_owned(), |name, default| without_default(&name, default));
    let ways: [fn(&str) -> String; 5] = [
        |name| without(name, '(', 0),
        without_paths,
        |name| without(name, '<', 2),
        |name| without(name, '<', 1),
        |name| without(name, '<', 0),
    ];
    for way in ways {
        if shorter.chars().count() <= WIDE {
            return shorter;
        }
        shorter = way(&shorter);
    }
    let length = shorter.chars().count();
    if length <= WIDE {
        return shorter;
    }
    // The cut is a character, too.
    let start = shorter.char_indices().nth(length - WIDE + 1).map_or(0, |(start, _)| start);
    let end = &shorter[start..];
    format!("…{}", end.split_once("::").map_or(end, |(_, path)| path))
}

/// Without an argument that begins so, wherever it is in a name.
fn without_default(name: &str, default: &str) -> String {
    let (mut kept, mut rest) = (String::with_capacity(name.len()), name);
    while let Some((before, behind)) = rest.split_once(default) {
        kept.push_str(before);
        let mut open = 1;
        let end = behind.char_indices().find(|(_, character)| {
            open += i32::from(*character == '<') - i32::from(*character == '>');
            open == 0
        });
        rest = end.map_or("", |(end, _)| &behind[end + 1..]);
    }
    kept + rest
}

/// Without what is in brackets of a kind at this depth of nesting. The first brackets of `<Vec as Drop>::drop` stay.
fn without(name: &str, kind: char, depth: usize) -> String {
    let close = if kind == '(' { ')' } else { '>' };
    let mut kept = String::with_capacity(name.len());
    // Of each bracket that is open, whether what is in it is deeper.
    let mut open: Vec<bool> = vec![];
    for (at, character) in name.char_indices() {
        let (before, rest) = name.split_at(at);
        let is_bracket = kind == '(' || !is_of_operator(before, character);
        if character == close && is_bracket {
            open.pop();
        }
        let deep = open.iter().filter(|is_deeper| **is_deeper).count();
        if deep <= depth {
            kept.push(character);
        }
        if character == kind && is_bracket {
            let is_first = before.bytes().all(|byte| byte == b'<') || rest.starts_with("(anonymous namespace)");
            open.push(!is_first);
            if deep == depth && !is_first && !rest[1..].starts_with(close) {
                kept.push('…');
            }
        }
    }
    kept
}

/// With types in angle brackets by their last names: `<Range<T> as Iterator>::next`.
fn without_paths(name: &str) -> String {
    let (mut kept, mut open) = (String::with_capacity(name.len()), 0_usize);
    for (at, character) in name.char_indices() {
        let before = &name[..at];
        if matches!(character, '<' | '>') && !is_of_operator(before, character) {
            open = if character == '<' { open + 1 } else { open.saturating_sub(1) };
        }
        let colons = kept.strip_suffix(':').filter(|_| open > 0 && character == ':');
        let path = colons.map(|name| name.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len());
        if let Some(path) = path.filter(|path| path + 1 < kept.len()) {
            kept.truncate(path);
            continue;
        }
        kept.push(character);
    }
    kept
}

/// Whether `<` or `>` is a part of `operator<<`, `operator->`, or an arrow.
fn is_of_operator(before: &str, character: char) -> bool {
    before.trim_end_matches(['<', '>', '=', '-']).ends_with("operator") || character == '>' && before.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn symbols_are_as_they_were_written() {
        for (symbol, expect) in [
            ("main", "main"),
            ("f.isra.0", "f"),
            ("_ZN3FooC1Ei", "Foo::Foo(int)"),
            ("_ZN3FooC2Ei.cold", "Foo::Foo(int)"),
            ("_Z3fooB5cxx11v", "foo()"),
            ("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int>>::push_back(int const&)"),
            ("_ZN11miniz_oxide7deflate4core8compress17h0123456789abcdefE", "miniz_oxide::deflate::core::compress"),
            ("_RNvNvCs12_3abc4main1f", "abc::main::f"),
            ("_Zwhatever", "_Zwhatever"),
        ] {
            assert_eq!(readable(symbol), expect);
        }
    }

    #[test]
    fn long_names_fit_a_table() {
        for (name, expect) in [
            ("Perl_pp_mapwhile", "Perl_pp_mapwhile"),
            ("std::vector<int, std::allocator<int>>::push_back(int const&)", "std::vector<int>::push_back(int const&)"),
            (
                "<a::b::Long<core::option::Option<u64>> as core::iter::traits::Iterator>::next",
                "<Long<Option<u64>> as Iterator>::next",
            ),
            ("f(std::pair<std::pair<std::pair<int, int>, int>, int>, int, int, int)", "f(…)"),
            (
                "std::map<std::string, int, std::less<std::string>, std::allocator<std::pair<std::string const, int>>>::at(int)",
                "std::map<std::string, int>::at(int)",
            ),
        ] {
            assert_eq!(short(name), expect);
        }
        let operator =
            "std::basic_ostream<char, std::char_traits<char>>& std::operator<< <std::char_traits<char>>(int, int, int)";
        assert_eq!(short(operator), "std::basic_ostream<…>& std::operator<< <…>(…)");
        let path = short(&"module::".repeat(20));
        assert!(path.starts_with("…module::"), "{path}");
    }

    #[test]
    fn a_symbol_that_refers_to_itself_fills_nothing() {
        // f(pair<int, int>, pair<S0, S0>, pair<S1, S1>, …)
        let digit = |number: u32| char::from_digit(number, 36).unwrap().to_ascii_uppercase();
        let pairs: String = (0..35).map(|number| format!("S_IS{0}_S{0}_E", digit(number))).collect();
        let symbol = |pairs: &str| format!("_Z1fSt4pairIiiE{pairs}");
        assert_eq!(
            readable(&symbol(&pairs[..10])),
            "f(std::pair<int, int>, std::pair<std::pair<int, int>, std::pair<int, int>>)"
        );
        assert_eq!(readable(&symbol(&pairs)), symbol(&pairs));
        let deep = format!("_Z1f{}i", "P".repeat(16_000));
        assert_eq!(readable(&deep), deep);
    }

    proptest! {
        #[test]
        fn no_symbol_makes_it_panic(symbol in ".{0,40}", tail in "[0-9CDBSTLsEMI_h]{0,30}") {
            for start in ["", "_R", "_RN", "_Z", "_ZN"] {
                let name = readable(&format!("{start}{symbol}{tail}"));
                prop_assert!(short(&name).chars().count() <= WIDE);
            }
        }

        #[test]
        fn short_names_are_no_longer(name in "[a-f<>():, ]{0,120}") {
            prop_assert!(short(&name).chars().count() <= WIDE);
        }
    }
}
