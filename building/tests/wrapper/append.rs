//! Words behind the project's own, and another compiler in place of the one that was called.

use super::tools::Tools;
use crate::wrapper::{APPEND, APPEND_C, APPEND_CXX, APPEND_LINK, CC, Call};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = "int main(void) { return 0; }\n";

const ASKED: [(&str, &str); 4] =
    [(APPEND, "-O3\n-DX=a b"), (APPEND_C, "-DC"), (APPEND_CXX, "-DCXX"), (APPEND_LINK, "-Wl,-O1")];

/// The calls of drivers that this script makes, with those words asked for.
fn calls(tools: &Tools, script: &str) -> Vec<Call> {
    fs::write(tools.dir().join("a.c"), SOURCE).unwrap();
    fs::write(tools.log(), "").unwrap();
    tools.sh(script, &ASKED);
    tools
        .calls()
        .into_iter()
        .filter(|call| !call.of_gcc && call.name.to_str().is_some_and(|name| name != "ld"))
        .collect()
}

fn line(call: &Call) -> String {
    call.words.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join("|")
}

/// A program of the folder `own`, which comes before the usual ones.
fn own(tools: &Tools, name: &str, script: &str) -> PathBuf {
    let path = tools.dir().join("own").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn appended_words_come_last_where_they_belong() {
    let Some(tools) = Tools::here() else { return };
    let check = |script: &str, expect: &str| {
        let lines: Vec<String> = calls(&tools, script).iter().map(line).collect();
        assert_eq!(lines, [expect], "{script}");
    };
    check("gcc -O2 -c a.c", "-O2|-c|a.c|-O3|-DX=a b|-DC");
    check("gcc -O2 a.c -o a", "-O2|a.c|-o|a|-O3|-DX=a b|-DC|-Wl,-O1");
    check("cp a.c conftest.c; gcc conftest.c -o conftest", "conftest.c|-o|conftest|-O3");
    for nothing in ["gcc --version", "gcc -E a.c", "gcc -M a.c", "gcc -v", "gcc -print-prog-name=ld"] {
        check(nothing, &nothing.replace("gcc ", "").replace(' ', "|"));
    }
}

/// It says that nothing is linked, which the call itself does not.
#[test]
fn a_response_file_is_read_first() {
    let Some(tools) = Tools::here() else { return };
    let [call] = calls(&tools, "echo -c -o a.o a.c > words; gcc @words").try_into().unwrap();
    assert_eq!(line(&call), "@words|-O3|-DX=a b|-DC");
}

/// As `c99` may be, or a script that paints messages: it finds us again, and we find it again.
#[test]
fn a_script_before_the_compiler_neither_loops_nor_doubles() {
    let Some(tools) = Tools::here() else { return };
    own(&tools, "gcc", "exec gcc -DOWN \"$@\"");
    let script = "PATH=${PATH%%:*}:$PWD/own:${PATH#*:}; timeout 60 gcc -c a.c";
    let [outer, inner] = calls(&tools, script).try_into().unwrap();
    assert!(outer.tool.ends_with("own/gcc") && !inner.tool.starts_with(tools.dir()));
    assert_eq!(line(&outer), "-c|a.c|-O3|-DX=a b|-DC");
    assert_eq!(line(&inner), "-DOWN|-c|a.c|-O3|-DX=a b|-DC");
}

/// A cache's folder of links before the usual ones, and a build that puts the cache before the compiler.
#[test]
fn a_cache_of_compilers_neither_loops_nor_doubles() {
    let Some(tools) = Tools::here() else { return };
    let found = Command::new("sh").args(["-c", "command -v ccache"]).output().unwrap().stdout;
    let real = PathBuf::from(String::from_utf8(found).unwrap().trim());
    let fake = own(&tools, "ccache", "exec \"$@\"");
    let caches = [Some(fake), real.is_absolute().then_some(real)];
    if caches[1].is_none() {
        println!("skipped in part: no ccache on PATH");
    }
    for ccache in caches.iter().flatten() {
        let folder = tools.dir().join("links");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        symlink(ccache, folder.join("gcc")).unwrap();
        let path = "PATH=${PATH%%:*}:$PWD/links:${PATH#*:}; export CCACHE_DISABLE=1 CCACHE_DIR=$PWD/cache;";
        for call in ["gcc".to_owned(), format!("{} gcc", ccache.display())] {
            let made = calls(&tools, &format!("{path} timeout 60 {call} -c a.c"));
            let lines: Vec<String> = made.iter().map(line).collect();
            assert_eq!(lines, ["-c|a.c|-O3|-DX=a b|-DC"], "{call}");
            assert!(!made[0].tool.starts_with(tools.dir()));
        }
    }
}

#[test]
fn another_compiler_takes_the_place_of_any() {
    let Some(tools) = Tools::here() else { return };
    let clang = own(&tools, "clang", "echo \"$@\"");
    let shown = |script: &str, asked: &[(&str, &str)]| {
        let variables: Vec<(&str, &str)> = asked.iter().copied().chain([(CC, clang.to_str().unwrap())]).collect();
        String::from_utf8(tools.sh(script, &variables).stdout).unwrap()
    };
    assert_eq!(shown("gcc -c a.c", &ASKED[..1]), "-c a.c -O3 -DX=a b -Qunused-arguments\n");
    assert_eq!(shown("gcc -c a.c", &[]), "-c a.c -Qunused-arguments\n");
    // What clang is asked, it answers itself.
    assert_eq!(shown("gcc --version", &ASKED), "--version\n");
    let standard = tools.wrappers.folder().join("c99");
    if standard.exists() {
        assert_eq!(shown("c99 -c a.c", &[]), "-std=c99 -c a.c -Qunused-arguments\n");
    }
    let gone = tools.command("gcc").args(["-c", "a.c"]).env(CC, Path::new("/nowhere/clang")).output().unwrap();
    assert_eq!(gone.status.code(), Some(126));
    let said = String::from_utf8(gone.stderr).unwrap();
    assert!(said.contains("/nowhere/clang: cannot be executed, although a level names it"), "{said}");
}
