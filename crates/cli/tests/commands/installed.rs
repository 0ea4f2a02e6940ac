//! What `make install` and `make tarball` leave: tools/install and tools/tarball, with the executable of these tests in place
//! of a release. man and the shells read what was made for them; one that is not there is skipped by name.

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn tool(name: &str, words: &[&str], target: &Path) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools").join(name);
    let mut tool = Command::new("sh");
    tool.arg(path).args(words).env("CARGO_TARGET_DIR", target);
    text(&tool.output().unwrap())
}

/// What a command prints that has nothing to complain of.
#[track_caller]
fn text(output: &Output) -> String {
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && complaints.is_empty(), "{}: {complaints}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn has(program: &str) -> bool {
    let asked = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let has = asked.is_ok_and(|status| status.success());
    if !has {
        println!("skipped: {program} is not installed");
    }
    has
}

#[test]
fn what_is_installed_is_read_by_man_and_by_the_shells() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("root/usr/local");
    tool("install", &[to.to_str().unwrap(), env!("CARGO_BIN_EXE_bakeoff")], folder.path());
    let version = text(&Command::new(to.join("bin/bakeoff")).arg("--version").output().unwrap());
    assert_eq!(version.trim(), concat!("bakeoff ", env!("CARGO_PKG_VERSION")));
    if has("man") {
        for (page, parts) in
            [("bakeoff.1", "bakeoff-gate(1)"), ("bakeoff-gate.1", "EXIT STATUS"), ("bakeoff-gc.1", "EXAMPLES")]
        {
            let mut man = Command::new("man");
            man.args(["--warnings", "-l"]).arg(to.join("share/man/man1").join(page));
            let shown = text(&man.env("LC_ALL", "C.UTF-8").env("MANWIDTH", "100").output().unwrap());
            assert!(shown.contains(parts), "{page}: {shown}");
        }
    }
    let share = |path: &str| to.join("share").join(path).to_string_lossy().into_owned();
    let bash = r#". "$1"; complete -p bakeoff > /dev/null
                  COMP_WORDS=(bakeoff comp) COMP_CWORD=1; _bakeoff bakeoff comp bakeoff; echo "${COMPREPLY[@]}""#;
    let zsh = r#"fpath=("${1:h}" $fpath); autoload -U compinit; compinit -u -D; [ "$_comps[bakeoff]" = _bakeoff ]
                 autoload +X _bakeoff; whence -w _bakeoff; grep -o "'[a-z]*:Which of these" "$1""#;
    let fish = r#"source $argv[1]; complete -C "bakeoff comp""#;
    for (shell, script, file) in [
        ("bash", vec!["-c", bash, "bash"], "bash-completion/completions/bakeoff"),
        ("zsh", vec!["-efc", zsh, "zsh"], "zsh/site-functions/_bakeoff"),
        ("fish", vec!["-c", fish], "fish/vendor_completions.d/bakeoff.fish"),
    ] {
        if has(shell) {
            let completed = text(&Command::new(shell).args(script).arg(share(file)).output().unwrap());
            assert!(completed.contains("compare"), "{shell}: {completed}");
        }
    }
}

#[test]
fn the_archive_has_all_of_it_and_is_the_same_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let pack = || {
        let path = tool("tarball", &[env!("CARGO_BIN_EXE_bakeoff")], folder.path());
        let bytes = std::fs::read(path.trim()).unwrap();
        (path.trim().to_owned(), bytes)
    };
    let ((path, first), (_, second)) = (pack(), pack());
    assert!(first == second, "{} and {} bytes", first.len(), second.len());
    let names = text(&Command::new("tar").args(["-tzf", &path]).output().unwrap());
    let name = Path::new(&path).file_name().unwrap().to_string_lossy().replace(".tar.gz", "");
    let documents = [
        "share/doc/bakeoff/LICENSE-MIT",
        "share/doc/bakeoff/README.md",
        "share/doc/bakeoff/docs/reference/commands.md",
    ];
    for expect in ["bin/bakeoff", "share/man/man1/bakeoff-run.1"].into_iter().chain(documents) {
        assert!(names.lines().any(|line| line == format!("{name}/{expect}")), "{names}");
    }
    // A folder that can be unpacked, and nothing besides it.
    assert!(names.lines().all(|line| line.starts_with(&format!("{name}/"))), "{names}");
    let packages = Path::new(&path).parent().unwrap();
    let sums = Command::new("sha256sum").args(["--check", "SHA256SUMS"]).current_dir(packages).output().unwrap();
    assert_eq!(text(&sums), format!("{name}.tar.gz: OK\n"));

    // What `cargo binstall` makes of the metadata.
    let manifest: toml::Table = toml::from_str(include_str!("../../Cargo.toml")).unwrap();
    let metadata = &manifest["package"]["metadata"]["binstall"];
    let filled = |key: &str| {
        let template = metadata[key].as_str().unwrap().replace("{ version }", env!("CARGO_PKG_VERSION"));
        template.replace("{ target-arch }", std::env::consts::ARCH).replace("{ bin }", "bakeoff")
    };
    let url = filled("pkg-url");
    assert_eq!(url.rsplit_once('/').unwrap().1, format!("{name}.tar.gz"));
    assert!(names.lines().any(|line| line == filled("bin-dir")), "{names}");
}

#[test]
fn the_pages_name_the_oldest_rust() {
    let rust = concat!("Rust ", env!("CARGO_PKG_RUST_VERSION"), " or later");
    for page in [include_str!("../../../../README.md"), include_str!("../../../../docs/tasks/install.md")] {
        assert!(page.contains(rust), "{rust}");
    }
}

/// A comment on a group of options once replaced the description of `compare`.
#[test]
fn each_command_is_listed_with_its_own_description() {
    let listed = text(&Command::new(env!("CARGO_BIN_EXE_bakeoff")).arg("--help").output().unwrap());
    for (command, about) in [("compare", "Compare commands"), ("run", "Build, run and judge"), ("help", "Print help")] {
        let is_listed = |line: &str| line.trim_start().strip_prefix(command).is_some_and(|rest| rest.contains(about));
        assert!(listed.lines().any(is_listed), "{command}: {listed}");
    }
}

/// A full disk is one thing wherever files are written, with one exit code.
#[test]
fn what_cannot_be_written_for_lack_of_space_is_said_to_be_that() {
    let folder = tempfile::tempdir().unwrap();
    let full = folder.path().join("full");
    std::fs::create_dir(&full).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=16k", "bakeoff-test"]).arg(&full).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        println!("skipped: mounting a tmpfs needs root");
        return;
    }
    let _ = std::fs::write(full.join("fill"), vec![0; 1 << 20]);
    let ended = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bakeoff"));
        command.args(words).current_dir(&full).env("BAKEOFF_STATE", folder.path().join("state"));
        command.env("BAKEOFF_LOCKS", folder.path()).output().unwrap()
    };
    let outputs = [
        ended(&["studies", "copy", "perl-options"]),
        ended(&["manual", "man"]),
        ended(&["compare", "true", "true", "--blocks", "1", "--export-csv", "x.csv"]),
        #[cfg(feature = "building")]
        {
            let mut command = Command::new(env!("CARGO_BIN_EXE_bakeoff"));
            command.args(["cache"]).env("BAKEOFF_CACHE", full.join("cache")).output().unwrap()
        },
    ];
    let unmounted = Command::new("umount").arg(&full).status().unwrap();
    assert!(unmounted.success());
    for output in outputs {
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(5) && said.contains("hint: the disk is full"), "{output:?}");
    }
}
