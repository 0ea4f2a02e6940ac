//! What is written down of calls, and that nothing else changes by it.

use super::tools::Tools;
use crate::wrapper::{CACHE, KEPT, LOG, ToolKind, calls, kept_name};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Stdio;

#[test]
fn what_a_tool_is_told() {
    let Some(tools) = Tools::here() else { return };
    let odd = ["-c", "a b\n.c", "-DTEXT=\"x\ty\"", "", "-DE=\u{e4}\\", "-o", "out put.o"];
    fs::write(tools.dir().join(odd[1]), "int a;\n").unwrap();
    // gcc has no use for an empty word.
    let told: Vec<&str> = odd.iter().copied().filter(|word| !word.is_empty()).collect();
    assert!(tools.command("gcc").args(&told).status().unwrap().success());
    let _ = tools.command("gcc").args(odd).stderr(Stdio::null()).status().unwrap();

    let [plain, with_empty] = tools.calls().try_into().unwrap();
    assert_eq!((plain.name.to_str(), plain.kind()), (Some("gcc"), ToolKind::Driver));
    assert_eq!(plain.words, told);
    assert_eq!(with_empty.words, odd);
    assert_eq!(plain.dir, fs::canonicalize(tools.dir()).unwrap());
    assert!(
        plain.tool.is_absolute() && plain.tool.ends_with("gcc") && !plain.tool.starts_with(tools.wrappers.folder())
    );
    assert!(!plain.of_gcc && plain.shuffled == 0);
}

#[test]
fn a_link_reaches_our_linker() {
    let Some(tools) = Tools::here() else { return };
    tools.sh("echo 'int main(void) { return 0; }' > a.c; gcc -c a.c; gcc a.o -o a -Wl,-O1", &[]);
    let calls = tools.calls();
    let names: Vec<_> = calls.iter().map(|call| call.name.to_str().unwrap()).collect();
    assert_eq!(names, ["gcc", "gcc", "ld"]);
    assert!(calls[2].of_gcc && calls[2].words.iter().any(|word| word == "-O1"));
}

#[test]
fn the_objects_of_a_link_are_kept() {
    let Some(tools) = Tools::here() else { return };
    let temporary = tools.dir().join("tmp").display().to_string();
    let kept = format!("{}{KEPT}", tools.log().display());
    let script = "mkdir tmp \"$BAKEOFF_TOOL_LOG.kept\"; echo 'int main(void) { return 0; }' > a.c; gcc a.c -o a; gcc -c a.c; gcc a.o -o b";
    tools.sh(script, &[("TMPDIR", &temporary)]);
    let names = |folder: &str| -> Vec<_> {
        fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|e| e == "o"))
            .collect()
    };
    assert_eq!(names(&temporary).len(), 0, "gcc removes what it made");
    let objects = names(&kept);
    assert!(objects.iter().all(|path| fs::read(path).unwrap().starts_with(b"\x7fELF")));
    let own = kept_name(&fs::canonicalize(tools.dir()).unwrap().join("a.o"));
    assert!(objects.iter().any(|path| path.file_name() == Some(&own)), "{objects:?}");
    assert!(objects.iter().any(|path| path.display().to_string().contains("tmp\\cc")), "{objects:?}");
}

#[test]
fn objects_are_the_same_as_without() {
    let Some(tools) = Tools::here() else { return };
    let source = "#include <stdio.h>\nint main(void) { printf(\"%s\", __FILE__); return 0; }\n";
    fs::write(tools.dir().join("a.c"), source).unwrap();
    let usual = std::env::var("PATH").unwrap();
    let build = "gcc -g -O2 -frecord-gcc-switches -c a.c; gcc a.o -o a; ar rcsD liba.a a.o; ./a";
    let objects = || ["a.o", "a", "liba.a"].map(|name| fs::read(tools.dir().join(name)).unwrap());
    let with = tools.sh(build, &[]);
    let wrapped = objects();
    let without = tools.sh(build, &[("PATH", &usual)]);
    assert!(wrapped == objects());
    assert_eq!((with.stdout, with.stderr), (without.stdout, without.stderr));
    assert_eq!(tools.calls().len(), 4, "gcc, gcc, ld, ar");
}

#[test]
fn exit_codes_and_standard_error_are_the_tools() {
    let Some(tools) = Tools::here() else { return };
    let usual = std::env::var("PATH").unwrap();
    let wrong = |path: &str| tools.command("gcc").env("PATH", path).args(["-c", "missing.c"]).output().unwrap();
    let (with, without) = (wrong(tools.path().to_str().unwrap()), wrong(&usual));
    assert_eq!(with.status, without.status);
    assert_eq!(with.stderr, without.stderr);
}

#[test]
fn parallel_calls_leave_whole_records() {
    let Some(tools) = Tools::here() else { return };
    // Longer than a pipe would take in one piece.
    let long = "x".repeat(30_000);
    std::thread::scope(|scope| {
        for nth in 0..64 {
            let (tools, long) = (&tools, &long);
            scope.spawn(move || {
                let mut command = tools.command("gcc");
                command.args(["--version", &format!("-DNTH={nth}"), &format!("-DLONG={long}")]).stdout(Stdio::null());
                assert!(command.status().unwrap().success());
            });
        }
    });
    let calls = tools.calls();
    let seen: BTreeSet<_> = calls.iter().map(|call| call.words[1].to_str().unwrap().to_owned()).collect();
    assert_eq!((calls.len(), seen.len()), (64, 64));
    assert!(calls.iter().all(|call| call.words.len() == 3 && call.words[2].len() == long.len() + 7));
}

#[test]
fn response_files_are_read() {
    let Some(tools) = Tools::here() else { return };
    let script =
        "echo 'int a;' > a.c; printf '%s' '-c -DX=\"b c\" a.c' > flags; gcc @flags -DY; gcc @missing a.o || true";
    tools.sh(script, &[]);
    let calls = tools.calls();
    assert_eq!(calls[0].words, ["@flags", "-DY"]);
    assert_eq!(calls[0].all_words(), ["-c", "-DX=b c", "a.c", "-DY"]);
    assert_eq!(calls[1].all_words(), ["@missing", "a.o"]);
    assert_eq!(calls[1].response_files, [None]);
}

#[test]
fn a_path_that_was_baked_works_later() {
    let Some(tools) = Tools::here() else { return };
    let baked = tools.wrappers.folder().join("gcc");
    // Neither the wrappers on PATH, nor a log.
    let usual = std::env::var("PATH").unwrap();
    let mut command = tools.command(&baked);
    assert!(
        command.env("PATH", usual).env_remove(LOG).arg("--version").stdout(Stdio::null()).status().unwrap().success()
    );
    assert_eq!(tools.calls(), []);
    // A log that is not there is not made.
    let missing = tools.dir().join("missing");
    let status = tools.command(&baked).env(LOG, &missing).arg("--version").stdout(Stdio::null()).status().unwrap();
    assert!(status.success() && !missing.exists());
    // Without the real one it is as if it were not there.
    let nothing = tools.command(&baked).env("PATH", "/nonexistent").output().unwrap();
    assert_eq!(nothing.status.code(), Some(127));
    assert_eq!(String::from_utf8_lossy(&nothing.stderr), "bakeoff: gcc: not found on PATH\n");
}

#[test]
fn wrappers_and_caches_are_passed_over() {
    let Some(tools) = Tools::here() else { return };
    let [farm, other] = ["farm", "other"].map(|name| tools.dir().join(name));
    fs::create_dir(&farm).unwrap();
    // As Debian's package of ccache has it, and somebody's own link to that.
    for (link, target) in [("gcc", "cc"), ("cc", "ccache")] {
        symlink(target, farm.join(link)).unwrap();
    }
    fs::write(farm.join("ccache"), "#!/bin/sh\nexit 99\n").unwrap();
    fs::set_permissions(farm.join("ccache"), fs::Permissions::from_mode(0o755)).unwrap();
    let usual = std::env::var_os("PATH").unwrap();
    let others = crate::wrapper::Wrappers::install(&other, &usual, &BTreeSet::new()).unwrap();
    let folders = [others.folder(), farm, tools.wrappers.folder(), others.folder()];
    let path = std::env::join_paths(folders.into_iter().chain(std::env::split_paths(&usual))).unwrap();
    let mut command = tools.command(tools.wrappers.folder().join("gcc"));
    assert!(command.env("PATH", path).arg("--version").stdout(Stdio::null()).status().unwrap().success());
    assert_eq!(tools.calls().len(), 1);
}

#[test]
fn a_cache_is_put_before_compilers_only() {
    let Some(tools) = Tools::here() else { return };
    let cache = tools.dir().join("cache");
    fs::write(&cache, "#!/bin/sh\necho \"$@\" >> cached\nexec \"$@\"\n").unwrap();
    fs::set_permissions(&cache, fs::Permissions::from_mode(0o755)).unwrap();
    let script = "echo 'int main(void) { return 0; }' > a.c; gcc -c a.c; gcc a.o -o a; ar rc liba.a a.o";
    tools.sh(script, &[(CACHE, cache.to_str().unwrap())]);
    let gcc = tools.calls()[0].tool.display().to_string();
    let cached = fs::read_to_string(tools.dir().join("cached")).unwrap();
    assert_eq!(cached, format!("{gcc} -c a.c\n{gcc} a.o -o a\n"));
    // One that is not there is no reason to fail.
    tools.sh("gcc -c a.c", &[(CACHE, "/nonexistent/ccache")]);
}

#[test]
fn what_is_damaged_is_passed_over() {
    let Some(tools) = Tools::here() else { return };
    for nth in ["1", "2", "3"] {
        tools.sh("gcc --version $NTH", &[("NTH", &format!("-DN={nth}"))]);
    }
    let log = fs::read(tools.log()).unwrap();
    let third = log.len() / 3;
    let last = |log: &[u8]| {
        let calls = calls(log);
        (calls.whole.iter().map(|call| call.words[1].to_str().unwrap().to_owned()).collect::<Vec<_>>(), calls.damaged)
    };
    let words = |numbers: &[u32]| numbers.iter().map(|n| format!("-DN={n}")).collect::<Vec<_>>();
    assert_eq!(last(&log), (words(&[1, 2, 3]), 0));
    assert_eq!(last(&log[..log.len() - 1]), (words(&[1, 2]), 1));
    assert_eq!(last(&[&log[..third - 10], &log[third..]].concat()), (words(&[2, 3]), 1));
    assert_eq!(last(b"nothing like it"), (vec![], 1));
    assert_eq!(last(b""), (vec![], 0));
}
