//! Compiles the launcher, a freestanding program, into a file that the crate includes.

#![allow(clippy::expect_used, reason = "a build script ends where something is not as it should be")]

#[path = "freestanding/compile.rs"]
mod compile;

fn main() {
    println!("cargo::rerun-if-changed=freestanding");
    compile::compile("launcher");
}
