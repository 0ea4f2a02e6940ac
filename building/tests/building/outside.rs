//! Files outside of a source: what they change must be seen, or they must not get into a build.

use crate::Error;
use crate::building_tests::study::{Study, are_here, layer};
use crate::{Source, SourceFrom};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

/// A study that installs what `cat` reads of a source beside it; and the folder that both are in.
fn project(script: &str) -> (Study, PathBuf) {
    let mut study = Study::new(&[layer("program", script)]);
    let dir = study.dir();
    fs::create_dir_all(dir.join("source/sub")).unwrap();
    fs::create_dir_all(dir.join("else/deep")).unwrap();
    fs::write(dir.join("source/main.c"), "int main(void) { return 0; }\n").unwrap();
    fs::write(dir.join("else/deep/x.h"), "one").unwrap();
    let from = SourceFrom::Path("source".to_owned());
    study.sources = vec![Source { name: "source".to_owned(), from, sha256: None, unpack: true, disk_bytes: None }];
    study.layers[0].source = Some("source".to_owned());
    (study, dir)
}

#[test]
fn what_a_link_out_of_a_source_leads_to_is_part_of_it() {
    let check = |link: &str, target: &str, read: &str| {
        let (study, dir) = project(&format!("cat {read} > \"$PREFIX/seen\"; test ! -L {read}"));
        symlink(target.replace("DIR", &dir.display().to_string()), dir.join("source").join(link)).unwrap();
        let seen = || fs::read_to_string(study.built().1.join("seen")).unwrap();
        assert_eq!(seen(), "one", "{link} {target}");
        fs::write(dir.join("else/deep/x.h"), "two").unwrap();
        assert_eq!(seen(), "two", "{link} {target}");
        study.build();
        assert_eq!(study.built_layers(), [""; 0], "{link} {target}");
        fs::write(dir.join("else/deep/more.h"), "").unwrap();
        study.build();
        assert_eq!(study.built_layers().len(), usize::from(read.contains('/') && !target.ends_with(".h")), "{link}");
    };
    check("x.h", "DIR/else/deep/x.h", "x.h");
    check("x.h", "../else/deep/x.h", "x.h");
    check("sub/x.h", "../../else/deep/x.h", "sub/x.h");
    check("inc", "DIR/else/deep", "inc/x.h");
    check("sub/inc", "../../else", "sub/inc/deep/x.h");
}

#[test]
fn links_within_a_source_stay_and_those_that_never_end_are_refused() {
    let (study, dir) = project("test -L x.h && test ! -L y.h; test -L gone; cat x.h y.h > \"$PREFIX/seen\"");
    let source = dir.join("source");
    fs::write(source.join("sub/x.h"), "in").unwrap();
    symlink("sub/x.h", source.join("x.h")).unwrap();
    // By its full path, it would lead from the copy to here.
    symlink(source.join("sub/x.h"), source.join("y.h")).unwrap();
    symlink("/nowhere/at/all", source.join("gone")).unwrap();
    symlink("/dev/null", source.join("null")).unwrap();
    assert_eq!(fs::read_to_string(study.built().1.join("seen")).unwrap(), "inin");
    let refused = |link: &str, target: PathBuf| {
        symlink(target, source.join(link)).unwrap();
        let error = study.try_build().unwrap_err();
        fs::remove_file(source.join(link)).unwrap();
        let Error::File { path, source, .. } = error else { panic!("{error}") };
        (path, source.to_string())
    };
    let (path, why) = refused("loop", dir.clone());
    assert!(path.ends_with("source/loop") && why.contains("that folder contains the link"), "{path:?} {why}");
    symlink("../../source/sub", dir.join("else/deep/again")).unwrap();
    symlink("../../else/deep", source.join("sub/around")).unwrap();
    let error = study.try_build().unwrap_err().to_string();
    assert!(error.contains("around"), "{error}");
}

#[test]
fn a_link_of_a_commit_that_leads_elsewhere_is_refused_by_name() {
    if !are_here(&["git"]) {
        return;
    }
    let (mut study, dir) = project("cat sub/x.h > \"$PREFIX/seen\"");
    symlink(dir.join("else/deep/x.h"), dir.join("source/sub/x.h")).unwrap();
    symlink("/etc/passwd", dir.join("source/system")).unwrap();
    let script = "git init -q . && git add . && git -c user.name=a -c user.email=a@b commit -qm x";
    assert!(
        std::process::Command::new("sh")
            .args(["-c", script])
            .current_dir(dir.join("source"))
            .status()
            .unwrap()
            .success()
    );
    study.sources[0].from = SourceFrom::git("source", "HEAD");
    let found = study.cache.find_source(&study.dir(), &study.sources[0], &|_| {}).unwrap();
    study.sources[0].sha256 = Some(found.sha256);
    let (why, _) = study.failed();
    assert!(why.contains("link `sub/x.h` points to ") && why.contains("else/deep/x.h, outside the source"), "{why}");
    // So is that of a working tree, of which Git knows the link only.
    study.sources[0].from = SourceFrom::Worktree("source".to_owned());
    study.sources[0].sha256 = None;
    let (why, _) = study.failed();
    assert!(why.contains("link `sub/x.h` points to ") && why.contains(", outside the source"), "{why}");
}

/// What a script reads by its path. Where nothing can be confined, nothing can be said.
#[test]
fn a_script_reads_nothing_of_which_its_name_knows_nothing() {
    if bakeoff_host::confinement().is_err() || !are_here(&["gcc", "make"]) {
        return println!("skipped: nothing can be confined here");
    }
    let check = |script: &str, expect: &str| {
        let (mut study, dir) = project("");
        let outside = dir.join("else/deep");
        fs::write(outside.join("x.h"), "#define X 1\n").unwrap();
        fs::write(outside.join("x.mk"), "Y = 1\n").unwrap();
        fs::write(outside.join("tool"), "#!/bin/sh\ntrue\n").unwrap();
        study.layers[0].script = script.replace("OUT", &outside.display().to_string());
        let (why, tail) = study.failed();
        assert!(
            why.contains("it may read only those folders, and files of the system") && why.contains("`files`"),
            "{why}"
        );
        assert!(tail.iter().any(|line| line.contains(expect)), "{script}: {tail:?}");
    };
    let main = "echo '#include \"x.h\"' > m.c; echo 'int main(void) { return X; }' >> m.c;";
    check("cat OUT/x.h > \"$PREFIX/x\"", "x.h: Permission denied");
    check(&format!("{main} gcc -IOUT m.c -o \"$PREFIX/m\""), "x.h: Permission denied");
    check("gcc -include OUT/x.h main.c -o \"$PREFIX/m\"", "x.h: Permission denied");
    check("printf 'include OUT/x.mk\\nall:\\n\\ttouch $(PREFIX)/x\\n' > Makefile; make", "x.mk: Permission denied");
    check("sh OUT/tool; touch \"$PREFIX/x\"", "tool");
    // What belongs to the system, to tools, and to the build can be read.
    let (mut study, _) = project("cat /etc/passwd /proc/self/status main.c > /dev/null; gcc main.c -o \"$PREFIX/m\"");
    study.built();
    study.layers[0].script = "echo a > $HOME/a; echo b > $TMPDIR/b; cat $HOME/a $TMPDIR/b > $PREFIX/c".to_owned();
    study.built();
}

/// Cargo reads configurations in all folders above that of a build: the cache is below the home folder, as a rule.
#[test]
fn a_configuration_of_cargo_above_the_cache_is_part_of_what_cargo_builds() {
    let (mut study, _) = project("cat DIR/.cargo/config.toml > \"$PREFIX/cargo\"");
    let above = study.cache.root().parent().unwrap().to_owned();
    study.layers[0].script = study.layers[0].script.replace("DIR", &above.display().to_string());
    fs::create_dir(above.join(".cargo")).unwrap();
    let seen = |text: &str| {
        fs::write(above.join(".cargo/config.toml"), text).unwrap();
        fs::read_to_string(study.built().1.join("cargo")).unwrap()
    };
    assert_eq!((seen("a = 1").as_str(), seen("a = 2").as_str()), ("a = 1", "a = 2"));
}
