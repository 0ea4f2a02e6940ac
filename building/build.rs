//! Compiles the compiler wrapper, a freestanding program, into a file that the crate includes.

#![allow(clippy::expect_used, reason = "a build script ends where something is not as it should be")]

#[path = "../crates/host/freestanding/compile.rs"]
mod compile;

fn main() {
    println!("cargo::rerun-if-changed=../crates/host/freestanding");
    compile::compile("wrapper");
}
