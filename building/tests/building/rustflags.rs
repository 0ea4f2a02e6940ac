//! Words of levels on their way to rustc, through a real cargo that knows nothing of them.

use crate::building_tests::study::{Study, layer};
use crate::journal::BuildLine;
use bakeoff_testkit::files::read;
use std::fs;
use std::process::Command;

/// The folder of a toolchain's own programs: what rustup puts before them needs the user's home. None, and a word about
/// it, if there is none.
fn toolchain() -> Option<String> {
    let found = Command::new("sh").args(["-c", "rustc --print sysroot && command -v cargo"]).output().unwrap();
    let text = String::from_utf8(found.stdout).unwrap();
    let sysroot = text.lines().next().filter(|_| found.status.success());
    if sysroot.is_none() {
        println!("skipped: no cargo or rustc on PATH");
    }
    sysroot.map(|sysroot| format!("{sysroot}/bin"))
}

/// A package with a build script, a library, a program, a procedural macro in a package of its own, and a configuration
/// that has flags.
const PACKAGE: &str = r#"
mkdir -p src .cargo m/src
echo '[build]
rustflags = ["--cfg", "configured"]' > .cargo/config.toml
echo '[package]
name = "p"
version = "1.0.0"
edition = "2021"
[dependencies]
m = { path = "m" }
[workspace]' > Cargo.toml
echo '[package]
name = "m"
version = "1.0.0"
edition = "2021"
[lib]
proc-macro = true' > m/Cargo.toml
echo 'use proc_macro::TokenStream;
#[proc_macro] pub fn one(_: TokenStream) -> TokenStream { "1".parse().unwrap() }' > m/src/lib.rs
echo 'fn main() { println!("cargo::rustc-env=SCRIPT={}", cfg!(ours)); }' > build.rs
echo 'pub fn library() -> bool { cfg!(ours) }' > src/lib.rs
echo 'fn main() {
    let script = env!("SCRIPT");
    println!("{} {} {} {script} {}", cfg!(configured), cfg!(ours), p::library(), m::one!());
}' > src/main.rs
export CARGO_HOME="$HOME/cargo"
"#;

fn study(bin: &str, rest: &str) -> Study {
    // Behind the wrappers, which stand before rustc, too.
    let path = format!("PATH=$(echo \"$PATH\" | sed \"s|:|:{bin}:|\")\n");
    let mut study = Study::new(&[layer("program", &format!("{path}{PACKAGE}{rest}"))]);
    study.variant("v", &[]);
    study.variants[0].tuning.rust = ["-C", "opt-level=1", "--cfg", "ours"].map(str::to_owned).to_vec();
    study
}

/// Flag, reached, of, overridden.
fn seen(line: &BuildLine) -> Vec<(&str, u64, u64, u64)> {
    line.proof.flags.iter().map(|seen| (&*seen.flag, seen.reached, seen.of, seen.overridden)).collect()
}

#[test]
fn words_come_behind_those_of_cargo_and_displace_none() {
    let Some(bin) = toolchain() else { return };
    let build = "cargo build --release --offline --quiet; target/release/p > \"$PREFIX/said\"; : $RUSTC_WRAPPER";
    let mut study = study(&bin, build);
    let (line, prefix) = study.built();
    // Of the configuration, ours in the program, in its library, not in the build script; the macro works.
    assert_eq!(read(prefix.join("said")), "true true true false 1");
    assert_eq!(seen(&line), [("-C opt-level=1", 2, 2, 0), ("--cfg ours", 2, 2, 0)]);

    // What the level itself puts between cargo and rustc stays there.
    let first = study.write("first", "#!/bin/sh\necho x >> \"$TMPDIR/first\"\nexec \"$@\"\n");
    assert!(Command::new("chmod").arg("+x").arg(&first).status().unwrap().success());
    study.layers[0].script.push_str("; cp \"$TMPDIR/first\" \"$PREFIX\"");
    study.variants[0].build_variables.insert("RUSTC_WRAPPER".to_owned(), first.display().to_string());
    let (line, prefix) = study.built();
    assert!(read(prefix.join("first")).lines().count() > 4);
    assert_eq!(seen(&line), [("-C opt-level=1", 2, 2, 0), ("--cfg ours", 2, 2, 0)]);
}

#[test]
fn rustc_that_no_cargo_calls_gets_them_too() {
    let Some(bin) = toolchain() else { return };
    let build = "rustc -C opt-level=3 src/lib.rs --crate-name p --crate-type rlib --emit=metadata -o \"$PREFIX/x\"
        rustc --version";
    let study = study(&bin, build);
    assert_eq!(seen(&study.built().0), [("-C opt-level=1", 1, 1, 0), ("--cfg ours", 1, 1, 0)]);
}

#[test]
fn a_script_that_takes_the_wrapper_away_is_seen() {
    let Some(bin) = toolchain() else { return };
    let build =
        format!("RUSTC_WRAPPER= RUSTC={bin}/rustc cargo build --offline --quiet; cp target/debug/p \"$PREFIX\"");
    let study = study(&bin, &build);
    assert_eq!(seen(&study.built().0), [("-C opt-level=1", 0, 0, 0), ("--cfg ours", 0, 0, 0)]);
}

#[test]
fn what_the_configuration_puts_before_rustc_stays_there() {
    let Some(bin) = toolchain() else { return };
    let build = "cargo build --release --offline --quiet; target/release/p > \"$PREFIX/said\"";
    let mut study = study(&bin, build);
    let script = &study.layers[0].script;
    let script = script.replace("> .cargo/config.toml", "> unused").replace("cfg!(configured)", "cfg!(wrapped)");
    let before = "printf '#!/bin/sh\\nexec \"$@\" --cfg wrapped\\n' > before; chmod +x before";
    study.layers[0].script = format!("{before}\n{script}");
    fs::create_dir(study.dir().join(".cargo")).unwrap();
    study.layers[0].files = vec![".cargo/config.toml".to_owned()];
    // sccache is no part of what the project says: nobody needs to have it.
    for (wrapper, expect) in [("./before", "true true true false 1"), ("sccache", "false true true false 1")] {
        let is_here = Command::new(wrapper).arg("--version").output().is_ok();
        if wrapper == "sccache" && !is_here {
            println!("skipped: no sccache on PATH");
            continue;
        }
        study.write(".cargo/config.toml", &format!("[build]\nrustc-wrapper = \"{wrapper}\"\n"));
        let (line, prefix) = study.built();
        assert_eq!(read(prefix.join("said")), expect, "{wrapper}");
        assert_eq!(seen(&line), [("-C opt-level=1", 2, 2, 0), ("--cfg ours", 2, 2, 0)]);
        let log = read(line.layers[0].log.as_ref().unwrap());
        assert!(log.contains("before rustc, as set in .cargo/config.toml") && !log.contains("still running"), "{log}");
    }
}
