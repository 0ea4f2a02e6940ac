//! Layers that are built by a profile: the real compilers of this machine, and what they say themselves.

use crate::building_tests::study::{Study, are_here, had, layer, told};
use crate::journal::BuildLine;
use bakeoff_testkit::files::read;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Whether a compiler can make profiles here; a word about it if not.
fn can_profile(compiler: &str) -> bool {
    let script = "cd \"$(mktemp -d)\" && echo 'int main(void) { return 0; }' > a.c && \
                  $0 -fprofile-generate=$PWD a.c -o a && ./a && \
                  { test $0 = gcc || for tool in profdata nm; do command -v $($0 -print-prog-name=llvm-$tool) || exit 1; done; }";
    let done = Command::new("sh").args(["-c", script, compiler]).output().unwrap();
    if !done.status.success() {
        println!("skipped: {compiler} cannot make profiles here: {}", String::from_utf8_lossy(&done.stderr));
    }
    done.status.success()
}

/// A program of two files; another one, which nobody runs; a helper, which the build runs; and a probe.
const SCRIPT: &str = "
    echo 'int main(void) { return 0; }' > conftest.c; gcc conftest.c -o conftest; ./conftest
    gcc -O2 -Werror gen.c -o gen; ./gen > gen.h
    gcc -O2 -Werror -c a.c; gcc -O2 -Werror -c b.c -o ./b.o; gcc a.o b.o -o \"$PREFIX/prog\"
    gcc -O2 -Werror other.c -o \"$PREFIX/other\"";

fn project(script: &str, training: &str) -> Study {
    let mut study = Study::new(&[layer("program", script)]);
    study.variant("v", &[]);
    study.variants[0].tuning.training = [("program".to_owned(), training.to_owned())].into();
    let files = [
        ("gen.c", "#include <stdio.h>\nint main(void) { return puts(\"#define N 1000\") < 0; }\n"),
        (
            "a.c",
            "#include \"gen.h\"\nint b(int);\nint main(void) { int s = 0; for (int i = 0; i < N; i++) s += b(i); return s == 1; }\n",
        ),
        ("b.c", "static int odd(int x) { return x & 1; }\nint b(int x) { return odd(x) ? 3 * x + 1 : x / 2; }\n"),
        ("other.c", "int main(void) { return 1; }\n"),
    ];
    for (name, text) in files {
        study.write(name, text);
        study.layers[0].files.push(name.to_owned());
    }
    study
}

/// Reached, and of how many.
fn used(line: &BuildLine) -> (u64, u64) {
    let seen = line.proof.flags.iter().find(|seen| seen.variable == "profile").unwrap();
    (seen.reached, seen.of)
}

fn log(line: &BuildLine) -> String {
    fs::read_to_string(line.layers[0].log.as_ref().unwrap()).unwrap()
}

fn calls(line: &BuildLine) -> String {
    read(Path::new(line.layers[0].log.as_ref().unwrap()).with_extension("tools"))
}

#[test]
fn what_the_training_executes_is_built_by_its_profile_and_the_rest_is_counted() {
    if !can_profile("gcc") {
        return;
    }
    let mut study = project(SCRIPT, "\"$PREFIX/prog\"");
    study.variants[0].tuning.training.clear();
    let plain = study.built().0;
    let mut study = project(SCRIPT, "\"$PREFIX/prog\"");
    // gcc's own word about it: a warning for each file without a profile.
    study.variants[0].tuning.all = vec!["-Wmissing-profile".to_owned(), "-Wno-error=missing-profile".to_owned()];
    let (line, prefix) = study.built();
    assert_ne!(line.digest, plain.digest, "the training is part of a build's name");
    // Neither the program that nobody run, nor the helper, whose profile is not of the training.
    assert_eq!(used(&line), (2, 4), "{}", log(&line));
    let log = log(&line);
    assert_eq!(log.matches("profile count data file not found").count(), 2, "{log}");
    for said in ["2 of 4 compilations used a profile", "without a profile: gen\n", "training: \"$PREFIX/prog\""] {
        assert!(log.contains(said), "{said}: {log}");
    }
    let calls = calls(&line);
    assert!(!calls.contains("-fprofile-generate") && calls.contains("-c a.c -fprofile-use="), "{calls}");
    assert!(calls.contains("conftest.c -o conftest\n"), "{calls}");
    assert!(prefix.join("prog").exists() && prefix.join("other").exists());
    assert!(line.cost["wall"] > 0.0);
    // Found again, with what was seen.
    let again = study.built().0;
    assert!(again.cached);
    assert_eq!(used(&again), (2, 4));
    study.variants[0].tuning.training = [("program".to_owned(), "\"$PREFIX/prog\" x".to_owned())].into();
    assert_ne!(study.survey()[0].digest, line.digest);
}

#[test]
fn clang_has_one_profile_for_all_and_its_objects_tell_who_used_it() {
    if !can_profile("clang") {
        return;
    }
    let mut study = project(SCRIPT, "\"$PREFIX/prog\"; \"$PREFIX/prog\"");
    study.variants[0].tuning.compiler = Some("clang".to_owned());
    let (line, _) = study.built();
    assert_eq!(used(&line), (2, 4), "{}", log(&line));
    assert!(calls(&line).contains("/clang.profdata"), "{}", calls(&line));
}

#[test]
fn a_training_starts_where_the_script_does_and_knows_nothing_of_the_wrapper() {
    if !can_profile("gcc") {
        return;
    }
    let training = "test -f b.c && test \"$MODE\" = fast && \"$PREFIX/prog\"
        ! env | grep BAKEOFF_PROFILE; gcc -c b.c -o training.o; ! nm training.o | grep gcov";
    let mut study = project(SCRIPT, training);
    study.variants[0].build_variables = [("MODE".to_owned(), "fast".to_owned())].into();
    let (line, _) = study.built();
    assert_eq!(used(&line), (2, 4), "{}", log(&line));
}

#[test]
fn a_program_that_one_call_makes_of_one_file_of_its_name() {
    if !can_profile("gcc") {
        return;
    }
    let (line, _) = project("gcc -O2 other.c -o \"$PREFIX/other\"", "! \"$PREFIX/other\"").built();
    assert_eq!(used(&line), (1, 1), "{}", log(&line));
}

#[test]
fn what_cannot_have_a_profile_fails_and_says_why() {
    if !can_profile("gcc") {
        return;
    }
    let check = |script: &str, training: &str, expect: &str| {
        let study = project(script, training);
        let (why, _) = study.failed();
        assert!(why.contains(expect), "{why}");
        assert_eq!(study.count(|event| matches!(event, crate::BuildEvent::Failed { .. })), 1);
    };
    check(SCRIPT, "\"$PREFIX/prog\"\n  exit 3", "the training exited 3: \"$PREFIX/prog\" exit 3");
    check(SCRIPT, "true", "the training `true` wrote no profile: it must run a program from $PREFIX");
    check("echo exit > \"$PREFIX/other\"", "true", "nothing to profile");
    check("false", "true", "the script exited 1 in the first of two builds");
    let elsewhere = "mkdir $$; cd $$; gcc -c ../other.c; gcc other.o -o \"$PREFIX/other\"";
    check(elsewhere, "! \"$PREFIX/other\"", "no compilation found its profile (compilations: 1, profiles: 1);");
}

/// A program whose parts have the same name in two folders, and which counts in several processes.
fn in_folders(script: &str, training: &str) -> Study {
    let mut study = Study::new(&[layer("program", script)]);
    study.variant("v", &[]);
    study.variants[0].tuning.training = [("program".to_owned(), training.to_owned())].into();
    let main = "#include <stdlib.h>\n#include <sys/wait.h>\n#include <unistd.h>\nint one(int), two(int);\n\
                int main(int n, char **words) {\n  int process, sum = 0;\n  for (process = 0; process < 3 && fork(); process++);\n  \
                for (int i = 0; i < 1000; i++) sum += one(i) + two(i);\n  \
                while (wait(0) > 0);\n  if (n > 2) _exit(0);\n  if (n > 1) abort();\n  exit(sum == 1 + 0 * **words);\n}\n";
    let step = |name: &str| {
        format!(
            "__attribute__((noinline)) static int odd(int x) {{ return x & 1; }}\n\
             int {name}(int x) {{ return odd(x) ? 3 * x + 1 : x / 2; }}\n"
        )
    };
    for (name, text) in [("main.c", main.to_owned()), ("one/step.c", step("one")), ("two/step.c", step("two"))] {
        let folder = study.dir().join(name);
        fs::create_dir_all(folder.parent().unwrap()).unwrap();
        study.write(name, &text);
        study.layers[0].files.push(name.to_owned());
    }
    study
}

#[test]
fn cmake_builds_in_another_folder_and_links_with_optimisation() {
    if !can_profile("gcc") || !are_here(&["cmake", "make"]) {
        return;
    }
    let script = "printf 'cmake_minimum_required(VERSION 3.10)\\nproject(p C)\\n' > CMakeLists.txt
        echo 'add_executable(p main.c one/step.c two/step.c)' >> CMakeLists.txt
        cmake -S . -B build -DCMAKE_BUILD_TYPE=Release; make -C build; cp build/p \"$PREFIX\"";
    // Processes that count at once leave one profile.
    let mut study = in_folders(script, "\"$PREFIX/p\" & \"$PREFIX/p\"; wait");
    study.variants[0].tuning.all = vec!["-flto=auto".to_owned()];
    let (line, _) = study.built();
    assert_eq!(used(&line), (3, 3), "{}", log(&line));
    assert!(
        !calls(&line).lines().any(|call| call.contains("CMakeTmp") && call.contains("-fprofile")),
        "{}",
        calls(&line)
    );
}

#[test]
fn meson_builds_cxx_by_clang() {
    if !can_profile("gcc") || !are_here(&["g++", "meson", "ninja"]) {
        return;
    }
    let script = "cat > shape.h <<'END'
#include <memory>
template <class T> struct Shape { virtual ~Shape() = default; virtual T area(T x) const { return x & 1 ? 3 * x : x; } };
std::unique_ptr<Shape<int>> make(int);
END
        printf '#include \"shape.h\"\\nint main() { int s = 0; for (int i = 0; i < 999; i++) s += make(i)->area(i); return s == 1; }' > a.cpp
        printf '#include \"shape.h\"\\nnamespace { struct A : Shape<int> {}; }\\nstd::unique_ptr<Shape<int>> make(int) { return std::make_unique<A>(); }' > b.cc
        printf \"project('p', 'cpp', default_options: ['werror=true'])\\nexecutable('p', 'a.cpp', 'b.cc')\\n\" > meson.build
        meson setup build --buildtype=release; ninja -C build; cp build/p \"$PREFIX\"";
    let mut study = in_folders(script, "\"$PREFIX/p\"");
    // By clang, whose profile has the functions of all files under the names that the linker knows.
    study.variants[0].tuning.compiler = can_profile("clang").then(|| "clang".to_owned());
    let (line, _) = study.built();
    assert_eq!(used(&line), (2, 2), "{}", log(&line));
}

#[test]
fn a_debian_package_is_built_twice_from_the_same_path() {
    if !can_profile("gcc") || !are_here(&["dpkg-buildflags", "make"]) {
        return;
    }
    // What debhelper hands over: among it -ffile-prefix-map of this folder, and link-time optimisation where it is on.
    let script = "for file in main one/step two/step; do
            gcc $(DEB_BUILD_MAINT_OPTIONS='hardening=+all optimize=+lto' dpkg-buildflags --get CFLAGS) -c $file.c -o $file.o
        done
        gcc $(DEB_BUILD_MAINT_OPTIONS='hardening=+all optimize=+lto' dpkg-buildflags --get LDFLAGS) main.o */step.o -o p
        strip p; cp p \"$PREFIX\"";
    let study = in_folders(script, "\"$PREFIX/p\"");
    let (line, _) = study.built();
    assert_eq!(used(&line), (3, 3), "{}", log(&line));
    assert!(calls(&line).contains("-ffile-prefix-map="), "{}", calls(&line));
}

#[test]
fn an_object_that_several_sources_become_has_no_profile_of_its_own() {
    if !can_profile("gcc") {
        return;
    }
    let script = "gcc -O2 -c main.c -omain.o; for part in one two; do gcc -O2 -c $part/step.c; mv step.o $part.o; done
        gcc main.o one.o two.o -o \"$PREFIX/p\"";
    let study = in_folders(script, "\"$PREFIX/p\"");
    let (line, _) = study.built();
    assert_eq!(used(&line), (1, 3), "{}", log(&line));
    let note = "without a profile: step.o (another file is compiled to an object file of the same name)";
    assert_eq!(log(&line).matches(note).count(), 2, "{}", log(&line));
}

#[test]
fn what_ends_without_a_profile_is_no_training() {
    if !can_profile("gcc") {
        return;
    }
    let script = "gcc -O2 main.c one/step.c two/step.c -o \"$PREFIX/p\"";
    for training in ["\"$PREFIX/p\" abort || true", "\"$PREFIX/p\" and _exit"] {
        let (why, _) = in_folders(script, training).failed();
        assert!(
            why.contains("a program ended by a signal or _exit(2) writes no profile")
                && why.contains("the training `\"$PREFIX/p\""),
            "{why}"
        );
    }
}

#[test]
fn crates_of_rust_are_counted_without_a_profile() {
    // What rustup puts before rustc needs the user's home.
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output();
    let Some(sysroot) = sysroot.ok().filter(|output| output.status.success() && can_profile("gcc")) else {
        return println!("skipped: no rustc on PATH");
    };
    let path = format!(
        "PATH=$(echo \"$PATH\" | sed \"s|:|:{}/bin:|\")",
        String::from_utf8(sysroot.stdout).unwrap().trim_end()
    );
    let main =
        "echo 'unsafe extern \"C\" { safe fn one(x: i32) -> i32; } fn main() { assert_eq!(one(2), 1) }' > main.rs";
    let script = format!(
        "{path}; {main}; gcc -O2 -c one/step.c; ar rcs libone.a step.o
        rustc -O -L . -l static=one main.rs -o \"$PREFIX/p\""
    );
    let study = in_folders(&script, "\"$PREFIX/p\"");
    let (line, _) = study.built();
    assert_eq!(used(&line), (1, 2), "{}", log(&line));
    assert!(log(&line).contains("without a profile: 1 crate; pass profiles for rustc and Go"), "{}", log(&line));

    let script = format!("{path}; echo 'fn main() {{}}' > main.rs; rustc main.rs -o \"$PREFIX/p\"");
    let (why, _) = in_folders(&script, "\"$PREFIX/p\"").failed();
    assert!(why.contains("nothing to profile: rustc compiled 1 crate, "), "{why}");
}

/// A layout of the only build, and the log of it; or why there is none.
fn layout(study: &Study) -> Result<String, String> {
    let dir = study.dir();
    let mut aside = study.aside(&dir);
    let made = had(aside.layout("v", "v", 7));
    let logs = fs::read_dir(study.cache.root().join("logs")).unwrap();
    let mut logs =
        logs.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|end| end == "log"));
    let log = logs.find_map(|path| Some(read(path)).filter(|log| log.contains("layout of layer"))).unwrap();
    made.map(|_| log).map_err(told).map_err(|(_, why, tail)| format!("{why}: {tail:?}"))
}

#[test]
fn a_layout_is_built_by_the_profile_of_the_build() {
    if !can_profile("gcc") {
        return;
    }
    let compile = |tree: &str| format!("for part in main one/step two/step; do gcc -c {tree}$part.c -o $part.o; done");
    let link = "gcc main.o one/step.o two/step.o -o \"$PREFIX/p\"";
    let mut study = in_folders("", "\"$PREFIX/p\"");
    for compiler in ["gcc", "clang"] {
        if !can_profile(compiler) {
            continue;
        }
        study.variants[0].tuning.compiler = Some(compiler.to_owned());
        (study.layers[0].script, study.layers[0].relink) = (format!("{}; {link}", compile("")), None);
        let (line, _) = study.built();
        assert_eq!(used(&line), (3, 3), "{}", log(&line));
        let of_layout = layout(&study).unwrap();
        assert!(of_layout.contains("3 of 3 compilations used a profile"), "{of_layout}");
        // Of what is kept for that, nothing may be missing.
        fs::remove_dir_all(study.cache.root().join("work").join(&line.digest[..32]).join("profile")).unwrap();
        assert!(!study.survey()[0].layers[0].cached);

        // Which is in vain where names are those of full paths, but for what only links.
        study.layers[0].script = format!("{}; {link}", compile("$PWD/"));
        study.built();
        let why = layout(&study).unwrap_err();
        assert!(why.contains("by their full paths") && why.contains("give the layer a `relink` script"), "{why}");
        study.layers[0].relink = Some(link.to_owned());
        study.built();
        layout(&study).unwrap();
    }
}
