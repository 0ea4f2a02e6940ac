//! Flags of levels among the words of calls.

use super::super::called::called;
use super::*;

/// What was seen of `variable`'s only flag: reached, of, overridden, by what.
fn of(variable: &str, value: &str, lines: &[&str]) -> (u64, u64, u64, Option<String>) {
    let calls: Vec<Call> = (100..).zip(lines).map(|(pid, line)| Call { pid, ..called("/w/tree", line) }).collect();
    let layer = Layer { flags: vec!["OPTIMIZE".to_owned()], ..Layer::default() };
    let variables = BTreeMap::from([(variable, value)]);
    let declared = declared(&layer, &variables);
    let [seen] = seen("layer", &declared, &calls, Path::new("/w/tmp")).0.try_into().unwrap();
    assert_eq!((seen.layer.as_str(), seen.variable.as_str()), ("layer", variable));
    (seen.reached, seen.of, seen.overridden, seen.overridden_by)
}

#[test]
fn what_counts_as_declared() {
    let layer = Layer { flags: vec!["OPTIMIZE".to_owned()], ..Layer::default() };
    let variables = BTreeMap::from([
        ("CC", "gcc -m32"),
        ("CFLAGS", "-O2 x -O2 -g -"),
        ("MALLOC", "-Dusemymalloc"),
        ("OPTIMIZE", "-O3 -Wl,-z,now"),
    ]);
    let flags: Vec<_> = declared(&layer, &variables).iter().map(|d| (d.variable, d.flag, d.purpose)).collect();
    let c = For::Compiling(Some(Language::C));
    assert_eq!(
        flags,
        [
            ("CC", "-m32", c),
            ("CFLAGS", "-O2", c),
            ("CFLAGS", "-g", c),
            ("OPTIMIZE", "-O3", For::Compiling(None)),
            ("OPTIMIZE", "-Wl,-z,now", For::Linking)
        ]
    );
}

#[test]
fn only_what_compiles_or_links_counts() {
    let check = |variable: &str, value: &str, lines: &[&str], expect: (u64, u64)| {
        let (reached, of, ..) = of(variable, value, lines);
        assert_eq!((reached, of), expect, "{variable}={value}: {lines:?}");
    };
    check("CFLAGS", "-O2", &["gcc -O2 -c a.c", "gcc -c b.c", "gcc a.o b.o -o a"], (1, 2));
    check("CFLAGS", "-O2", &["gcc -O2 --version", "gcc -O2 -E a.c", "gcc -print-prog-name=ld -O2", "gcc -O2"], (0, 0));
    check("CFLAGS", "-O2", &["gcc -O2 -c conftest.c", "gcc -O2 -o try try.c", "gcc -O2 -xc -", "gcc -c a.c"], (0, 1));
    check("CFLAGS", "-O2", &["gcc -O2 -c /w/tmp/a.c", "gcc -O2 -c CMakeFiles/CMakeScratch/TryCompile-x/a.c"], (0, 0));
    check("CFLAGS", "-O2", &["g++ -c a.cc", "gcc -c a.S", "gcc -O2 -x c -c a.cc"], (1, 1));
    check("CXXFLAGS", "-O2", &["g++ -O2 -c a.cc", "gcc -O2 -c a.cpp", "gcc -c a.c"], (2, 2));
    check("CPPFLAGS", "-Ia", &["g++ -Ia -c a.cc", "gcc -c a.c", "gcc -c a.S"], (1, 2));
    check("OPTIMIZE", "-O2", &["cc -O2 -c a.c", "cc -O2 a.o -o a"], (1, 1));
    check("LDFLAGS", "-Lx", &["gcc -c a.c -Lx", "gcc a.o -o a -Lx", "gcc a.c", "ld -r a.o -o b.o", "ld -v"], (1, 2));
    check("LDFLAGS", "-Wl,-z,now", &["gcc a.o -Wl,-z -Wl,now", "gcc a.o -Wl,-z,relro", "ld -z now a.o"], (2, 3));
    check("LDFLAGS", "-fuse-ld=gold", &["gcc a.o -fuse-ld=gold", "ld a.o"], (1, 1));
    check("CFLAGS", "-DX=\\\"y\\\"", &["gcc -DX=\"y\" -c a.c"], (1, 1));
    check("CC", "gcc-12 -m32", &["gcc-12 -m32 -c a.c", "gcc-12 -c b.c"], (1, 2));
    check("CFLAGS", "-O2", &[], (0, 0));
}

#[test]
fn a_later_flag_of_the_family_overrides() {
    let check = |value: &str, words: &str, by: Option<&str>| {
        let (reached, of, overridden, overridden_by) = of("CFLAGS", value, &[&format!("gcc {words} -c a.c")]);
        let expect = (1, 1, u64::from(by.is_some()), by.map(str::to_owned));
        assert_eq!((reached, of, overridden, overridden_by), expect, "{value} in {words}");
    };
    check("-O2", "-O2 -O1", Some("-O1"));
    check("-O2", "-O1 -O2", None);
    check("-O2", "-O2 -O1 -O2", None);
    check("-O", "-O -O1", None);
    check("-O3", "-O3 -O", Some("-O"));
    check("-march=native", "-march=native -mtune=generic -march=x86-64", Some("-march=x86-64"));
    check("-std=c99", "-std=c99 -ansi", Some("-ansi"));
    check("-g", "-g -g0", Some("-g0"));
    check("-g", "-g -g2", None);
    check("-g", "-g -gdwarf-4", None);
    check("-fno-plt", "-fno-plt -fplt", Some("-fplt"));
    check("-fno-plt", "-fno-plt -fno-common", None);
    check("-fPIC", "-fPIC -fno-pie", Some("-fno-pie"));
    check("-fsanitize=address", "-fsanitize=address -fsanitize=undefined", None);
    check("-mavx", "-mavx -mno-avx", Some("-mno-avx"));
    check("-DX=1", "-DX=1 -UX", Some("-UX"));
    check("-DX", "-DX -DXY", None);
    check("-I.", "-I. -Ix", None);
}

#[test]
fn a_linker_that_a_compiler_called_is_not_a_link_of_its_own() {
    let gcc = Call { pid: 10, ..called("/w", "gcc a.o -Lx") };
    let by_gcc = Call { pid: 12, parent: 11, of_gcc: true, ..called("/w", "ld a.o") };
    let clang = Call { pid: 20, ..called("/w", "clang b.o -Lx") };
    let by_clang = Call { pid: 21, parent: 20, ..called("/w", "ld b.o") };
    // A script that becomes the compiler.
    let c99 = Call { pid: 30, ..called("/w", "c99 c.o -Lx") };
    let became = Call { pid: 30, ..called("/w", "gcc -std=c99 c.o -Lx") };
    let variables = BTreeMap::from([("LDFLAGS", "-Lx")]);
    let layer = Layer::default();
    let calls = [gcc, by_gcc, clang, by_clang, c99, became];
    let (seen, compilations) = seen("", &declared(&layer, &variables), &calls, Path::new("/tmp"));
    assert_eq!((seen[0].reached, seen[0].of, compilations), (3, 3, 0));
}

#[test]
fn what_levels_append_is_declared_too() {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect();
    let tuning =
        Tuning { all: words("-O3 -D X -Wl,-O1"), cxx: words("-fno-rtti"), link: words("-s"), ..Tuning::default() };
    let (any, cxx) = (For::Compiling(None), For::Compiling(Some(Language::Cxx)));
    let flags: Vec<_> = appended(&tuning).iter().map(|d| (d.variable, d.flag, d.purpose)).collect();
    assert_eq!(
        flags,
        [
            ("append", "-O3", any),
            ("append", "-Wl,-O1", For::Linking),
            ("append_cxx", "-fno-rtti", cxx),
            ("append_link", "-s", For::Linking)
        ]
    );
}
