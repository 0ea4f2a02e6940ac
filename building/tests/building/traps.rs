//! What is known to take appended words away, each with the real tool: caches of compilers, build systems that remember
//! or replace the compiler, Debian's packaging, and compilers that other languages call.

use crate::building_tests::study::{Study, are_here, layer, program};
use crate::journal::BuildLine;
use crate::{Source, SourceFrom};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Two sources, of which nobody is astonished.
const SOURCES: &str = "
echo 'int b(void); int main(void) { return b(); }' > a.c
echo 'int b(void) { return 0; }' > b.c
";

/// A build to which a level appends `-O3 -DLEVEL`.
fn study(script: &str) -> Study {
    let mut study = Study::new(&[layer("program", &format!("{SOURCES}{script}"))]);
    study.variant("v", &[]);
    study.variants[0].tuning.all = vec!["-O3".to_owned(), "-DLEVEL".to_owned()];
    study.layers[0].timeout_s = Some(300.0);
    study
}

/// In how many compilations `-O3` was the last, and of how many.
fn won(line: &BuildLine) -> (u64, u64) {
    let flags: Vec<_> = line.proof.flags.iter().map(|seen| (&*seen.flag, seen.reached, seen.of)).collect();
    assert_eq!((flags[0].0, flags[1]), ("-O3", ("-DLEVEL", flags[0].1, flags[0].2)), "{flags:?}");
    (flags[0].1 - line.proof.flags[0].overridden, flags[0].2)
}

/// The calls of its compilers, as a shell would read them.
fn calls(line: &BuildLine) -> String {
    fs::read_to_string(Path::new(line.layers[0].log.as_ref().unwrap()).with_extension("tools")).unwrap()
}

/// Commands as another level of the same study would have them: without its words, with the cache.
const OF_ANOTHER_LEVEL: &str = "env -u BAKEOFF_APPEND -u CCACHE_DISABLE";

#[test]
fn ccache_has_an_object_of_another_level() {
    if !are_here(&["gcc", "ccache"]) {
        return;
    }
    // The cache is filled without the words. With it they would then have reached nothing, which is the trap.
    let script = format!(
        "export CCACHE_DIR=\"$HOME/cache\"; {OF_ANOTHER_LEVEL} ccache gcc -O2 -c b.c
        cp b.o plain.o; env -u CCACHE_DISABLE ccache gcc -O2 -c b.c; cmp b.o plain.o
        ccache gcc -O2 -c b.c; ccache gcc -O2 -c a.c; cp a.o b.o \"$PREFIX\""
    );
    // The first had no words, the second was never called.
    assert_eq!(won(&study(&script).built().0), (2, 3));
}

#[test]
fn ccache_before_and_behind_the_wrapper_on_path() {
    if !are_here(&["gcc", "ccache"]) {
        return;
    }
    // A folder of links, as /usr/lib/ccache. It and the wrapper must not call each other for ever, whichever is first,
    // nor where the script wants the cache.
    for cache in ["", "unset CCACHE_DISABLE; export CCACHE_DIR=\"$HOME/cache\"; "] {
        for path in ["$PWD/links:$PATH", "$(echo \"$PATH\" | sed \"s|:|:$PWD/links:|\")"] {
            let script = format!(
                "mkdir links; ln -s \"$(command -v ccache)\" links/gcc; {cache}PATH={path}
                gcc -O2 -c a.c; gcc -O2 -c b.c; gcc a.o b.o -o \"$PREFIX/a\""
            );
            assert_eq!(won(&study(&script).built().0), (2, 2), "{cache}{path}");
        }
    }
}

#[test]
fn meson_takes_ccache_by_itself() {
    if !are_here(&["gcc", "ccache", "meson", "ninja"]) {
        return;
    }
    // If sccache is there, Meson prefers it; that is another test.
    let script = format!(
        "export CCACHE_DIR=\"$HOME/cache\"; mkdir bin
        for folder in $(echo \"${{PATH#*:}}\" | tr : ' '); do ln -s \"$folder\"/* bin 2> /dev/null || true; done
        rm -f bin/sccache; PATH=${{PATH%%:*}}:$PWD/bin
        echo \"project('p', 'c', default_options: ['optimization=2']) \" > meson.build
        echo \"executable('p', 'a.c', 'b.c')\" >> meson.build
        {OF_ANOTHER_LEVEL} meson setup plain; {OF_ANOTHER_LEVEL} ninja -C plain
        grep -q ccache plain/build.ninja
        meson setup changed; ninja -C changed; cp changed/p \"$PREFIX\""
    );
    let study = study(&script);
    let (line, _) = study.built();
    // Two compilations of the plain build had no words, two of the changed one had them, and were compiled.
    assert_eq!(won(&line), (2, 4));
    let calls = calls(&line);
    assert!(calls.contains("meson-private") && calls.contains("-O3"), "{calls}");
    assert!(!calls.lines().any(|call| call.contains("sanitycheck") && call.contains("-DLEVEL")), "{calls}");
}

#[test]
fn a_server_that_caches_is_left_out() {
    if !are_here(&["gcc", "sccache", "meson", "ninja"]) {
        return;
    }
    // A server of another build, which the calls would reach: it has neither our words nor our folder.
    let script = "echo \"project('p', 'c', default_options: ['optimization=2']) \" > meson.build
        echo \"executable('p', 'a.c', 'b.c')\" >> meson.build
        meson setup build; ninja -C build; grep -q 'sccache' build/build.ninja; cp build/p \"$PREFIX\"
        sccache gcc -O2 -c a.c; sccache $(command -v gcc) -O2 -c b.c; sccache --version > \"$PREFIX/version\"";
    let study = study(script);
    let (line, prefix) = study.built();
    assert_eq!(won(&line), (4, 4), "{}", calls(&line));
    assert!(bakeoff_testkit::files::read(prefix.join("version")).starts_with("sccache "));
    let log = bakeoff_testkit::files::read(line.layers[0].log.as_ref().unwrap());
    assert!(!log.contains("outlived"), "{log}");
}

#[test]
fn cmake_remembers_the_wrapper_and_a_launcher() {
    if !are_here(&["gcc", "ccache", "cmake", "make"]) {
        return;
    }
    let script = "export CCACHE_DIR=\"$HOME/cache\"
        printf 'cmake_minimum_required(VERSION 3.10)\\nproject(p C)\\nadd_executable(p a.c b.c)\\n' > CMakeLists.txt
        cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE=-O2 -DCMAKE_C_COMPILER_LAUNCHER=ccache
        make -C build; cp build/p \"$PREFIX\"";
    let study = study(script);
    let (line, _) = study.built();
    assert_eq!(won(&line), (2, 2), "{}", calls(&line));
    assert!(!calls(&line).lines().any(|call| call.contains("TryCompile") && call.contains("-DLEVEL")));
}

#[test]
fn libtool_compiles_twice_and_links_its_own_way() {
    if !are_here(&["gcc", "libtool"]) {
        return;
    }
    let script = "lt() { libtool --tag=CC --mode=\"$@\"; }
        lt compile gcc -O2 -c b.c; lt link gcc -O2 -o libb.la b.lo -rpath \"$PREFIX/lib\"
        lt compile gcc -O2 -c a.c; lt link gcc -O2 -o a a.lo libb.la
        mkdir \"$PREFIX/lib\" \"$PREFIX/bin\"; lt install cp libb.la \"$PREFIX/lib\"; lt install cp a \"$PREFIX/bin\"
        \"$PREFIX/bin/a\"";
    let mut study = study(script);
    study.variants[0].tuning.link = vec!["-Wl,-z,now".to_owned()];
    let (line, prefix) = study.built();
    // Each source with and without -fPIC; the links are the library, the program, and perhaps the program once more.
    assert!(won(&line).0 >= 4 && won(&line).0 == won(&line).1, "{}", calls(&line));
    let links = line.proof.flags.iter().find(|seen| seen.variable == "append_link").unwrap();
    assert!(links.of >= 2 && links.reached == links.of, "{links:?}");
    assert!(prefix.join("lib/libb.so").exists());
}

#[test]
fn a_debian_package_keeps_its_own_flags() {
    if !are_here(&["gcc", "dpkg-buildpackage", "make"]) {
        return;
    }
    let rules = "#!/usr/bin/make -f\ninclude /usr/share/dpkg/buildflags.mk\ninclude /usr/share/dpkg/buildtools.mk\n\
                 build-arch build:\n\t$(CC) $(CFLAGS) $(CPPFLAGS) -c a.c\n\t$(CC) $(CFLAGS) $(CPPFLAGS) -c b.c\n\t\
                 $(CC) $(LDFLAGS) a.o b.o -o p\nclean:\nbinary-indep:\nbinary-arch binary: build\n\t\
                 mkdir -p debian/p/DEBIAN debian/p/usr/bin\n\tcp p debian/p/usr/bin\n\tdpkg-gencontrol -Pdebian/p\n\t\
                 dpkg-deb --root-owner-group -b debian/p ..\n";
    let script = format!(
        "mkdir -p debian/source; echo '3.0 (native)' > debian/source/format
        printf 'p (1) unstable; urgency=low\\n\\n  * x\\n\\n -- X <x@example.org>  Thu, 01 Jan 2026 00:00:00 +0000\\n' \
           > debian/changelog
        printf 'Source: p\\nMaintainer: X <x@example.org>\\nStandards-Version: 4.6.2\\nRules-Requires-Root: no\\n\\n' \
           > debian/control
        printf 'Package: p\\nArchitecture: any\\nDescription: p\\n p\\n' >> debian/control
        cat > debian/rules <<'END'\n{rules}END\nchmod +x debian/rules
        dpkg-buildpackage -b -nc -d -us -uc; cp debian/p/usr/bin/p \"$PREFIX\""
    );
    let study = study(&script);
    let (line, _) = study.built();
    assert_eq!(won(&line), (2, 2), "{}", calls(&line));
    // Under the name that Debian gives it, with the flags that CFLAGS in the environment would have replaced.
    let of_debian = |call: &&str| call.contains("-linux-gnu-gcc ") && call.contains("-fstack-protector-strong");
    assert_eq!(calls(&line).lines().filter(of_debian).count(), 2, "{}", calls(&line));
}

#[test]
fn cgo_gets_the_words_and_a_cache_of_its_own() {
    if !are_here(&["gcc", "go"]) {
        return;
    }
    let script = "mkdir p; cd p; export GOTOOLCHAIN=local GOFLAGS=-mod=mod GOPATH=\"$HOME/go\"
        printf 'module p\\ngo 1.18\\n' > go.mod
        printf '#ifdef LEVEL\\nint f(void) { return 7; }\\n#else\\nint f(void) { return 0; }\\n#endif\\n' > f.c
        printf 'package main\\n// int f(void);\\nimport \"C\"\\nfunc main() { println(C.f()) }\\n' > m.go
        go build -o \"$PREFIX/p\" .; \"$PREFIX/p\" 2> \"$PREFIX/said\"; go env GOCACHE > \"$PREFIX/cache\"";
    let study = study(script);
    let (line, prefix) = study.built();
    let (won, of) = won(&line);
    assert!(won == of && won >= 3, "{won} of {of}: {}", calls(&line));
    assert_eq!(bakeoff_testkit::files::read(prefix.join("said")), "7");
    let cache = bakeoff_testkit::files::read(prefix.join("cache"));
    assert!(Path::new(cache.trim_end()).ends_with("home/go-build"), "{cache}");
}

#[test]
fn compilers_that_are_called_by_their_full_path_get_the_words() {
    if !are_here(&["gcc", "make", "cmake"]) {
        return;
    }
    let gcc = program("gcc").unwrap();
    let scripts = [
        format!("printf 'all: a.o b.o\\n\\t$(CC) -flto=auto a.o b.o -o p\\n' > Makefile; make CC={gcc}; cp p \"$PREFIX\""),
        format!("{gcc} -O2 -c a.c; env -i TMPDIR=\"$TMPDIR\" PATH=/usr/bin:/bin gcc -c b.c; {gcc} a.o b.o -o \"$PREFIX/p\""),
        format!(
            "printf 'cmake_minimum_required(VERSION 3.10)\\nproject(p C)\\nadd_executable(p a.c b.c)\\n' > CMakeLists.txt
            cmake -S . -B build -DCMAKE_C_COMPILER={gcc} -DCMAKE_C_FLAGS=-O1; make -C build; cp build/p \"$PREFIX\""
        ),
    ];
    for script in scripts {
        let study = study(&script);
        let (line, prefix) = study.built();
        let log = fs::read_to_string(line.layers[0].log.as_ref().unwrap()).unwrap();
        if let Some(why) =
            log.lines().find(|line| line.contains("are not seen: errno") || line.contains("not confined"))
        {
            // Where they cannot be covered, they are counted.
            println!("skipped: {why}");
            assert!(line.proof.unseen["program"] >= 1, "{line:?}");
            continue;
        }
        assert_eq!((won(&line), line.proof.unseen.len()), ((2, 2), 0), "{script}: {}", calls(&line));
        assert!(Command::new(prefix.join("p")).status().unwrap().success());
    }
}

/// The crate `cc` and what it needs, of the user's registry or of crates.io, vendored; none, and a word about it, if
/// there is neither.
fn crate_cc() -> Option<tempfile::TempDir> {
    let folder = tempfile::tempdir().unwrap();
    let manifest = "[package]\nname = \"p\"\nversion = \"1.0.0\"\nedition = \"2021\"\nbuild = \"build.rs\"\n\
                    [build-dependencies]\ncc = \"1\"\n[workspace]\n";
    fs::create_dir(folder.path().join("src")).unwrap();
    for (name, content) in [
        ("Cargo.toml", manifest),
        ("build.rs", "fn main() { cc::Build::new().file(\"f.c\").compile(\"f\"); }\n"),
        ("f.c", "#ifdef LEVEL\nint f(void) { return 7; }\n#else\nint f(void) { return 0; }\n#endif\n"),
        ("src/main.rs", "unsafe extern \"C\" { safe fn f() -> i32; }\nfn main() { println!(\"{}\", f()); }\n"),
    ] {
        fs::write(folder.path().join(name), content).unwrap();
    }
    for offline in [&["--offline"][..], &[]] {
        let vendor = Command::new("cargo").args(["vendor", "-q"]).args(offline).current_dir(folder.path()).output();
        if let Ok(output) = vendor.inspect_err(|why| println!("cargo: {why}"))
            && output.status.success()
        {
            fs::create_dir(folder.path().join(".cargo")).unwrap();
            let vendored = "[source.crates-io]\nreplace-with = \"v\"\n[source.v]\ndirectory = \"vendor\"\n";
            fs::write(folder.path().join(".cargo/config.toml"), vendored).unwrap();
            return Some(folder);
        }
    }
    println!("skipped: the crate cc is neither in cargo's registry here nor to be loaded");
    None
}

#[test]
fn cargo_compiles_c_by_the_crate_cc() {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output();
    let Some(sysroot) = sysroot.ok().filter(|output| output.status.success() && are_here(&["gcc", "cargo"])) else {
        return println!("skipped: no rustc, cargo or gcc on PATH");
    };
    let Some(package) = crate_cc() else { return };
    let bin = format!("{}/bin", String::from_utf8(sysroot.stdout).unwrap().trim_end());
    // What rustup puts before cargo needs the user's home.
    let script = format!(
        "PATH=$(echo \"$PATH\" | sed \"s|:|:{bin}:|\"); export CARGO_HOME=\"$HOME/cargo\"
        cargo build --release --offline --quiet; cp target/release/p \"$PREFIX\"; target/release/p > \"$PREFIX/said\""
    );
    let mut study = study(&script);
    let path = package.path().to_str().unwrap().to_owned();
    let from = SourceFrom::Path(path);
    study.sources = vec![Source { name: "package".to_owned(), from, sha256: None, unpack: true, disk_bytes: None }];
    study.layers[0].source = Some("package".to_owned());
    let (line, prefix) = study.built();
    assert_eq!(won(&line), (1, 1), "{}", calls(&line));
    assert_eq!(bakeoff_testkit::files::read(prefix.join("said")), "7");
}

#[test]
fn what_is_no_compilation_is_left_alone_and_what_is_unusual_is_not() {
    if !are_here(&["gcc", "c99", "make"]) {
        return;
    }
    let script =
        "gcc -v 2> /dev/null; gcc -E a.c > /dev/null; gcc -M a.c > /dev/null; gcc -dumpmachine; gcc -### a.c 2> x
        gcc -print-prog-name=ld; gcc -x c -c /dev/null -o null.o; echo 'int x;' | gcc -x c - -c -o stdin.o
        printf '.text\\nf:\\n' > f.s; gcc -Werror -c f.s
        echo '-c -O2 \"b.c\"' > words; gcc @words
        c99 -c a.c
        echo 'int main(void) { return 0; }' > helper.c; gcc helper.c -o helper; ./helper
        gcc a.o b.o f.o -o \"$PREFIX/a\"";
    let study = study(script);
    let (line, _) = study.built();
    let calls = calls(&line);
    // b.c of the response file, a.c by a script that calls gcc, and the helper, which is run while it is built.
    assert_eq!(won(&line), (3, 3), "{calls}");
    assert!(!calls.contains("-O3 -DLEVEL -O3"), "{calls}");
    let with_words = |part: &str| calls.lines().filter(|call| call.contains(part) && call.contains("-DLEVEL")).count();
    for question in [" -v", " -E ", " -M ", "-dumpmachine", "-###", "-print-prog-name", "/dev/null", "stdin.o"] {
        assert_eq!(with_words(question), 0, "{question}: {calls}");
    }
    assert_eq!(with_words("-Werror -c f.s"), 1, "{calls}");
}
