//! What is known of a layer's calls of compilers, where its script may write, and caches of compilers.

use crate::CompilerCache;
use crate::building_tests::study::{Study, layer, program};
use crate::journal::{BuildLine, BuildOutcome, FlagSeen};
use bakeoff_testkit::files::read;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A study of one layer that compiles two sources and links them.
fn study(script: &str, variables: &[(&str, &str)]) -> Study {
    let mut study = Study::new(&[layer("program", script)]);
    study.variant("v", variables);
    study.layers[0].files = vec!["a.c".to_owned(), "b.c".to_owned()];
    study.write("a.c", "int b(void);\nint main(void) { return b(); }\n");
    study.write("b.c", "int b(void) { return 0; }\n");
    study
}

/// Of the only flag: reached, of, overridden, by what.
fn seen(study: &Study) -> (u64, u64, u64, Option<String>) {
    let [FlagSeen { layer, reached, of, overridden, overridden_by, .. }] =
        study.built().0.proof.flags.try_into().unwrap();
    assert_eq!(layer, "program");
    (reached, of, overridden, overridden_by)
}

#[test]
fn a_script_that_ignores_its_flags_is_seen() {
    if program("cc").is_none() {
        return;
    }
    let flags = [("CFLAGS", "-O2")];
    // It mentions them; that is all.
    let ignores = study("echo $CFLAGS; cc -c a.c; cc -c b.c; cc a.o b.o -o $PREFIX/a", &flags);
    assert_eq!(seen(&ignores), (0, 2, 0, None));
    // As it stands in the record, too.
    assert_eq!(seen(&ignores), (0, 2, 0, None));

    let half = study("cc $CFLAGS -c a.c; cc -c b.c; cc a.o b.o -o $PREFIX/a", &flags);
    assert_eq!(seen(&half), (1, 2, 0, None));
    let overrides = study("cc $CFLAGS -O1 -c a.c; cc $CFLAGS -c b.c; cc a.o b.o -o $PREFIX/a", &flags);
    assert_eq!(seen(&overrides), (2, 2, 1, Some("-O1".to_owned())));
    let links = study("cc a.c b.c -o $PREFIX/a $LDFLAGS", &[("LDFLAGS", "-Wl,-z,now")]);
    assert_eq!(seen(&links), (1, 1, 0, None));
}

#[test]
fn a_compiler_that_the_project_brings_along_tells_nothing() {
    let Some(gcc) = program("gcc") else { return };
    let mut study = study(
        "chmod +x own; export GCC_EXEC_PREFIX=\"$(dirname \"$(gcc -print-libgcc-file-name)\")/../../\"
        ./own $CFLAGS a.c b.c -o $PREFIX/a",
        &[("CFLAGS", "-O2")],
    );
    study.bring("own", gcc);
    assert_eq!(seen(&study), (0, 0, 0, None));
}

#[test]
fn what_a_script_probes_does_not_count() {
    if program("cc").is_none() {
        return;
    }
    let script = "echo 'int main(void) { return 0; }' > conftest.c; cc $CFLAGS conftest.c -o conftest
        cp conftest.c $TMPDIR/x.c; cc $CFLAGS -c $TMPDIR/x.c -o x.o; echo 'int x;' | cc $CFLAGS -xc -c - -o y.o
        cc $CFLAGS --version; cc $CFLAGS -E a.c > /dev/null; cc -c a.c; cp a.o $PREFIX";
    assert_eq!(seen(&study(script, &[("CFLAGS", "-O2")])), (0, 1, 0, None));
}

#[test]
fn calls_are_kept_for_people() {
    let Some(cc) = program("cc") else { return };
    let study = study("mkdir sub; cd sub; cc -c ../a.c -DX='a b'; cp a.o $PREFIX", &[]);
    let (line, prefix) = study.built();
    let tools = Path::new(line.layers[0].log.as_ref().unwrap()).with_extension("tools");
    let text = fs::read_to_string(&tools).unwrap();
    assert!(text.contains("/tree/sub\n"), "{text}");
    assert!(text.ends_with(&format!("\n{cc} -c ../a.c '-DX=a b'\n")), "{text}");
    assert!(prefix.join("a.o").exists());
    assert!(!fs::exists(study.cache.root().join("work").join(prefix.file_name().unwrap())).unwrap());
}

#[test]
fn the_path_of_a_compiler_is_the_same_for_all_variants() {
    if program("cc").is_none() {
        return;
    }
    let mut study = study("command -v cc > $PREFIX/cc; echo $V > $PREFIX/v", &[("V", "1")]);
    study.variants.push(study.variants[0].clone());
    study.variants[1].name = "other".to_owned();
    study.variants[1].build_variables.insert("V".to_owned(), "2".to_owned());
    let paths: Vec<String> =
        study.build().iter().map(|line| read(study.cache.prefix_of(&line.digest).join("cc"))).collect();
    assert_eq!(paths.len(), 2);
    assert_eq!(paths[0], paths[1]);
    assert!(Path::new(&paths[0]).starts_with(study.cache.root()), "{paths:?}");
    assert!(Command::new(&paths[0]).arg("--version").output().unwrap().status.success());
}

/// A layer that writes there as well; why it failed, or nothing if scripts cannot be confined here.
fn escape(script: &str) -> Option<String> {
    if let Err(why) = bakeoff_host::confinement() {
        println!("skipped: {why}");
        return None;
    }
    let mut study = Study::new(&[layer("l", "")]);
    let outside = study.write("outside", "as it was");
    study.layers[0].script = format!("echo x > $PREFIX/x; {script}").replace("OUTSIDE", outside.to_str().unwrap());
    let (why, _) = study.failed();
    assert_eq!(read(&outside), "as it was");
    Some(why)
}

#[test]
fn a_script_writes_only_in_its_own_folders() {
    let only_there = "a script may write only to its own folder, $PREFIX, $HOME and $TMPDIR";
    for script in ["echo y > OUTSIDE", "sh -c 'sh -c \"rm OUTSIDE\"'", "mv OUTSIDE .", "echo y > $PREFIX/../other"] {
        let Some(why) = escape(script) else { return };
        assert!(why.contains(only_there), "{script}: {why}");
    }
    let Some(why) = escape("exit 3") else { return };
    assert_eq!(why, "the script exited 3");

    let inside = "cd \"$HOME\"; echo x > x; mv x \"$TMPDIR\"; mv \"$TMPDIR/x\" \"$PREFIX\"; echo y > /dev/null
        echo said >> /dev/stderr";
    let mut study = Study::new(&[layer("l", inside)]);
    study.layers[0].verify = vec!["test -e \"$PREFIX/x\" && touch verified".to_owned()];
    let (line, _) = study.built();
    let log = fs::read_to_string(line.layers[0].log.as_ref().unwrap()).unwrap();
    assert!(log.contains("\nsaid\n") && log.contains("\nbakeoff: confined: "), "{log}");
    study.layers[0].verify = vec!["touch ../../../elsewhere".to_owned()];
    assert!(study.failed().0.contains(only_there));
}

#[test]
fn wrappers_that_cannot_be_are_gone_without() {
    let study = study("echo $CFLAGS > $PREFIX/x", &[("CFLAGS", "-O2")]);
    fs::write(study.cache.root().join("wrappers"), "in the way").unwrap();
    let (line, _) = study.built();
    let log = fs::read_to_string(line.layers[0].log.as_ref().unwrap()).unwrap();
    assert!(log.contains("\nbakeoff: compiler calls are not logged, and the script is not confined: "), "{log}");
    assert_eq!((line.proof.flags[0].reached, line.proof.flags[0].of), (0, 0));
}

#[test]
fn ccache_is_used_where_it_is_asked_for() {
    let (Some(_), Some(_)) = (program("cc"), program("ccache")) else { return };
    let script = "cc -c a.c; cc -c b.c; cc a.o b.o -o $PREFIX/a; ccache -s --format=tab > $PREFIX/stats 2> /dev/null \
                  || ccache --print-stats > $PREFIX/stats; echo $V > $PREFIX/v";
    let mut study = study(script, &[("V", "1")]);
    let (plain, _) = study.built();
    assert_eq!(plain.layers[0].compiler_cache, None);
    study.layers[0].compiler_cache = Some(CompilerCache::Ccache);
    let hits = |study: &Study| {
        let (line, prefix) = study.built();
        assert_eq!(line.layers[0].compiler_cache.as_deref(), Some("ccache"));
        assert!(line.tools.contains_key("ccache"));
        let stats = fs::read_to_string(prefix.join("stats")).unwrap();
        let number = |line: &str| line.split_whitespace().nth(1)?.parse::<u32>().ok();
        let of = |name: &str| stats.lines().filter(|line| line.contains(name)).filter_map(number).sum::<u32>();
        of("direct_cache_hit") + of("preprocessed_cache_hit")
    };
    let first = study.built().0;
    assert_ne!(first.digest, plain.digest, "with a cache of compilers it is another build");
    assert_eq!(hits(&study), 0);
    // Another layer, in another folder.
    study.variants[0].build_variables.insert("V".to_owned(), "2".to_owned());
    assert_eq!(hits(&study), 2);
    assert!(study.cache.root().join("ccache").is_dir());
}

#[test]
fn sccache_is_a_server_for_each_layer() {
    let (Some(_), Some(_)) = (program("cc"), program("sccache")) else { return };
    // Each may write only into its own folders, and both are built at once.
    let script = "cc -c a.c; cc -c b.c; cc a.o b.o -o $PREFIX/a; echo $SCCACHE_SERVER_PORT $V > $PREFIX/port
        sccache --show-stats | grep 'Compile requests ' | head -n 1 | tr -d '[:alpha:] ' > $PREFIX/requests";
    let mut study = study(script, &[("V", "1")]);
    study.variant("w", &[("V", "1 ")]);
    study.layers[0].compiler_cache = Some(CompilerCache::Sccache);
    // sccache 0.4 has a race: when two servers started at once, 2 of 80 never answered, without Bakeoff too. The layer
    // then fails, and the next call builds it.
    let no_answer = |line: &BuildLine| match &line.outcome {
        BuildOutcome::Failed { tail, .. } => tail.iter().any(|line| line.contains("waiting for server startup")),
        _ => false,
    };
    let lines = (0..5).map(|_| study.build()).find(|lines| !lines.iter().any(no_answer)).unwrap();
    assert!(lines.iter().all(|line| !matches!(line.outcome, BuildOutcome::Failed { .. })), "{lines:?}");
    let read_of = |name: &str| -> Vec<String> {
        lines.iter().map(|line| read(study.cache.prefix_of(&line.digest).join(name))).collect()
    };
    let ports = read_of("port");
    assert!(ports[0] != ports[1] && ports.iter().all(|port| port != " 1"), "{ports:?}");
    // Its own: two that compile, and one that links.
    assert_eq!(read_of("requests"), ["3", "3"]);
}

#[test]
fn a_cache_of_compilers_that_is_not_there_is_told_first() {
    if program("sccache").is_some() {
        // Once more, where it is not.
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/bin/sh", folder.path().join("sh")).unwrap();
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", "building_tests::wrappers::a_cache_of_compilers_that_is_not_there_is_told_first"]);
        let done = again.env("PATH", folder.path()).output().unwrap();
        let said = String::from_utf8_lossy(&done.stdout);
        return assert!(done.status.success() && said.contains("1 passed"), "{said}");
    }
    let mut study = study("echo x > $PREFIX/x", &[]);
    study.layers[0].compiler_cache = Some(CompilerCache::Sccache);
    assert_eq!(study.survey()[0].missing_tool.as_ref().unwrap().tool, "sccache");
    assert!(study.failed().0.contains("needs `sccache`, which is not on PATH"));
}
