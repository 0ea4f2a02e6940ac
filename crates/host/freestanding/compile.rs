//! Compiles a freestanding program into a file that a crate includes, for build scripts: no crate of Cargo's can depend
//! on another one's executable, and none of its profiles fits a program without a standard library.

use std::env;
use std::path::PathBuf;
use std::process::Command;

const FLAGS: &[&str] = &[
    "--edition=2024",
    "--cap-lints=warn",
    "-Cpanic=abort",
    "-Copt-level=s",
    // In one piece they are smaller, and their size no longer depends on how many files they are cut into.
    "-Ccodegen-units=1",
    // At fixed addresses and without relocations, there is nothing to be done before it begins.
    "-Crelocation-model=static",
    "-Cstrip=symbols",
    "-Clink-arg=-nostartfiles",
    "-Clink-arg=-nostdlib",
    "-Clink-arg=-static",
];

pub(crate) fn compile(name: &str) {
    println!("cargo::rerun-if-changed={name}");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR")).join(name);
    let target = env::var("TARGET").expect("Cargo sets TARGET");
    let mut compiler = Command::new(env::var_os("RUSTC").expect("Cargo sets RUSTC"));
    compiler.args(FLAGS).arg(format!("--crate-name=bakeoff_{name}")).args(["--target", &target]);
    compiler.arg(format!("{name}/main.rs")).arg("-o").arg(out);
    if target.contains("musl") {
        // There rustc brings what goes before a `main`, which this program has not got.
        compiler.arg("-Clink-self-contained=no");
    }
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        compiler.arg("-C").arg(format!("linker={}", linker.display()));
    }
    let status = compiler.status().expect("the compiler can be started");
    assert!(status.success(), "{name} could not be compiled: {status}");
}
