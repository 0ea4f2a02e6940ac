//! Programs and libraries that this machine's gcc makes in a folder of the test's own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A library with functions and data for others, calls among its own functions, and one that is chosen when it is loaded.
const LIBRARY: &str = r#"
#include <stdio.h>
int shared_data = 7;
const char *words[] = { "one", "two", "three", "four" };
int inner(int n) { return n + shared_data; }
int outer(int n) { return inner(n) + inner(n + 1); }
__attribute__((visibility("hidden"))) int hidden(int n) { return n * 3; }
__attribute__((visibility("protected"))) int guarded(int n) { return hidden(n); }
static int fast(int n) { return n; }
static int (*choose(void))(int) { return fast; }
int chosen(int n) __attribute__((ifunc("choose")));
int speak(int n) { puts(words[n & 3]); return chosen(n) + guarded(n); }
_Thread_local int each_thread;
"#;

const PROGRAM: &str = r#"
#include <stdio.h>
#include <math.h>
static int fast(int n) { return n; }
static int (*choose(void))(int) { return fast; }
int chosen(int n) __attribute__((ifunc("choose")));
const char *const table[] = { "a", "b", "c" };
int main(int argc, char **argv) { printf("%s %d %f\n", table[argc % 3], chosen(argc), sin(argc)); return 0; }
"#;

/// Needs no C library, so that it can be linked for 32 bits where only the compiler is there.
const BARE: &str = r#"
int data = 1; int *pointers[] = { &data, &data };
int inner(int n) { return n + *pointers[n & 1]; }
int outer(int n) { return inner(n) + inner(n + 1); }
"#;

/// A folder with sources, in which gcc is called.
pub(crate) struct Workshop {
    pub(crate) folder: TempDir,
}

impl Workshop {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("library.c", LIBRARY), ("program.c", PROGRAM), ("bare.c", BARE)] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Makes a file; none if this machine's tools cannot.
    pub(crate) fn try_gcc(&self, name: &str, arguments: &str) -> Option<PathBuf> {
        let arguments = arguments.split_whitespace().chain(["-o", name]);
        let output = Command::new("gcc").args(arguments).current_dir(self.folder.path()).output().unwrap();
        if !output.status.success() {
            println!("skipped: {name}: {}", String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default());
        }
        output.status.success().then(|| self.path(name))
    }

    pub(crate) fn gcc(&self, name: &str, arguments: &str) -> PathBuf {
        self.try_gcc(name, arguments).unwrap_or_else(|| panic!("gcc {arguments}"))
    }

    pub(crate) fn sh(&self, command: &str) {
        let status = Command::new("sh").args(["-ec", command]).current_dir(self.folder.path()).status().unwrap();
        assert!(status.success(), "{command}");
    }

    /// One of each sort of file that gcc makes.
    pub(crate) fn everything(&self) -> Vec<PathBuf> {
        let sorts = [
            ("pie", "program.c -O2 -pie -fPIE -lm"),
            ("no-pie", "program.c -O2 -no-pie -fno-pie -lm"),
            ("static", "program.c -static -lm"),
            ("static-pie", "program.c -static-pie -fPIE -lm"),
            ("now", "program.c -Wl,-z,now -lm"),
            ("lazy", "program.c -Wl,-z,lazy -lm"),
            ("norelro", "program.c -Wl,-z,norelro -lm"),
            ("execstack", "program.c -Wl,-z,execstack -lm"),
            ("rpath", "program.c -Wl,--disable-new-dtags,-rpath,/nowhere -lm"),
            ("runpath", "program.c -Wl,--enable-new-dtags,-rpath,$ORIGIN/../lib -lm"),
            ("cet", "program.c -fcf-protection=full -Wl,-z,ibt,-z,shstk -lm"),
            ("stripped", "program.c -s -lm"),
            ("no-build-id", "program.c -Wl,--build-id=none -lm"),
            ("kept-relocations", "program.c -Wl,--emit-relocs -lm"),
            ("dwarf4", "program.c -g -gdwarf-4 -O1 -lm"),
            ("dwarf5", "program.c -g -gdwarf-5 -O1 -lm"),
            ("dwarf64", "program.c -g -gdwarf-5 -gdwarf64 -lm"),
            ("dwarf-zlib", "program.c -g -gz=zlib -lm"),
            ("command-line", "program.c -frecord-gcc-switches -lm"),
            ("lib.so", "library.c -shared -fPIC -Wl,-soname,lib.so.1"),
            ("symbolic.so", "library.c -shared -fPIC -Wl,-Bsymbolic"),
            ("symbolic-functions.so", "library.c -shared -fPIC -Wl,-Bsymbolic-functions"),
            ("no-plt.so", "library.c -shared -fPIC -fno-plt"),
            ("nodelete.so", "library.c -shared -fPIC -Wl,-z,nodelete,-z,origin,-z,now"),
            ("relr.so", "library.c -shared -fPIC -Wl,-z,pack-relative-relocs"),
            ("sysv-hash.so", "library.c -shared -fPIC -Wl,--hash-style=sysv"),
            ("object.o", "library.c -c -fPIC -g"),
            ("object-sections.o", "library.c -c -O2 -ffunction-sections -fdata-sections -g -gdwarf-4"),
            ("together.o", "library.c -r -nostdlib -g -fPIC"),
            ("bare32.so", "-m32 bare.c -shared -fPIC -nostdlib"),
            ("bare32.o", "-m32 bare.c -c -g"),
            ("bare32-textrel.so", "-m32 bare.c -shared -fno-pic -nostdlib -Wl,-z,notext"),
        ];
        sorts.iter().filter_map(|(name, arguments)| self.try_gcc(name, arguments)).collect()
    }
}

/// Files of this machine that every developer's has, if this one does.
pub(crate) fn of_this_machine() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = ["/usr/bin/perl", "/bin/sh", "/usr/bin/readelf"].map(PathBuf::from).to_vec();
    for asked in ["-print-prog-name=cc1", "-print-file-name=libc.so.6", "-print-file-name=crt1.o"] {
        let output = Command::new("gcc").arg(asked).output().unwrap();
        paths.push(PathBuf::from(String::from_utf8(output.stdout).unwrap().trim()));
    }
    paths.retain(|path| is_there(path));
    paths
}

fn is_there(path: &Path) -> bool {
    let there = path.is_file();
    if !there {
        println!("skipped: {} is not there", path.display());
    }
    there
}
