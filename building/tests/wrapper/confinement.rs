//! What a confined script cannot do, and what it still can.

use super::tools::Tools;
use bakeoff_host::confinement;
use std::fs;
use std::path::Path;
use std::process::Output;

/// Runs a script confined to a folder `in`, beside which there is `out`; None if that is not possible here.
fn confined(tools: &Tools, script: &str) -> Option<Output> {
    if let Err(why) = confinement() {
        println!("skipped: {why}");
        return None;
    }
    for folder in ["in", "out"] {
        fs::create_dir_all(tools.dir().join(folder)).unwrap();
    }
    fs::write(tools.dir().join("out/old"), "old").unwrap();
    let inside = tools.dir().join("in");
    let words = tools.wrappers.confined(
        &[&inside, &tools.log(), Path::new("/nonexistent")],
        &[],
        false,
        &["sh", "-ec", script],
    );
    Some(tools.command(&words[0]).args(&words[1..]).output().unwrap())
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn nothing_outside_can_be_written() {
    let Some(tools) = Tools::here() else { return };
    let outside = [
        "echo new > out/new",
        "echo new >> out/old",
        ": > out/old",
        "rm out/old",
        "mkdir out/folder",
        "ln -s x out/link",
        "mv out/old in/old",
        "cp in/a out/a",
        "ln in/a out/a",
        "mkfifo out/fifo",
        // Its children, and theirs.
        "sh -c 'sh -c \"echo new > out/new\"'",
        "(setsid sh -c 'echo new > out/new' &) ; sleep 0; test -e out/new",
        "cd in; echo new > ../out/new",
        "ln -s ../out in/link; echo new > in/link/new",
    ];
    for script in outside {
        let Some(output) = confined(&tools, &format!("echo a > in/a; {script}")) else { return };
        assert!(!output.status.success(), "{script}");
        let names: Vec<_> = fs::read_dir(tools.dir().join("out")).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["old"], "{script}");
        assert_eq!(read(tools.dir().join("out/old")), "old", "{script}");
        fs::remove_dir_all(tools.dir().join("in")).unwrap();
    }
}

#[test]
fn everything_inside_can_be_done() {
    let Some(tools) = Tools::here() else { return };
    let script = "cd in; mkdir a b; echo x > a/x; mv a/x b/y; ln b/y a/z; ln -s b/y link; echo y >> a/z; : > b/y
        rm link; mkfifo fifo; echo z | tee copy > /dev/null; cat ../out/old
        echo 'int main(void) { return 0; }' > a.c; TMPDIR=$PWD gcc a.c -o a.out; ./a.out; rmdir a 2> /dev/null || rm -r a";
    let Some(output) = confined(&tools, script) else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "old");
    assert_eq!(read(tools.dir().join("in/copy")), "z\n");
    assert_eq!(tools.calls().len(), 2, "the log of tools can be written to");
}

#[test]
fn standard_output_can_be_opened_anew() {
    let Some(tools) = Tools::here() else { return };
    if confined(&tools, "true").is_none() {
        return;
    }
    let inside = tools.dir().join("in");
    let words =
        tools.wrappers.confined(&[&inside], &[], false, &["sh", "-ec", "echo a >> /dev/stdout; echo b >> /dev/stderr"]);
    let output = fs::File::create(tools.dir().join("output")).unwrap();
    let mut command = tools.command(&words[0]);
    command.args(&words[1..]).stdout(output.try_clone().unwrap()).stderr(output);
    assert!(command.status().unwrap().success());
    assert_eq!(read(tools.dir().join("output")), "a\nb\n");
}

#[test]
fn a_command_that_is_not_there() {
    let Some(tools) = Tools::here() else { return };
    let words = tools.wrappers.confined(&[], &[], false, &["no-such-command"]);
    let output = tools.command(&words[0]).args(&words[1..]).output().unwrap();
    assert_eq!(output.status.code(), Some(127));
}
