//! Objects in the order that a seed says, by the real linker.

use super::tools::Tools;
use crate::wrapper::SEED;
use std::collections::BTreeSet;

const NAMES: [&str; 8] = ["alfa", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel"];

/// Compiles a function of each name, and a main.
fn compile(tools: &Tools) {
    let mut script = "echo 'int main(void) { return 0; }' > main.c; gcc -c main.c".to_owned();
    for name in NAMES {
        script += &format!("; echo 'void {name}(void) {{}}' > {name}.c; gcc -c {name}.c");
    }
    tools.sh(&script, &[]);
}

/// The functions of a program in the order of their addresses.
fn order(tools: &Tools, link: &str, seed: Option<&str>) -> Vec<String> {
    let variables: Vec<(&str, &str)> = seed.map(|seed| (SEED, seed)).into_iter().collect();
    tools.sh(link, &variables);
    let nm = tools.sh("nm -n program", &[]).stdout;
    let symbols = String::from_utf8(nm).unwrap();
    let symbols = symbols.lines().filter_map(|line| line.split(" T ").nth(1));
    symbols.filter(|name| NAMES.contains(name)).map(str::to_owned).collect()
}

fn objects() -> String {
    NAMES.map(|name| format!("{name}.o")).join(" ")
}

/// Every way to link: orders change with the seed, and only with it.
#[test]
fn the_order_is_that_of_the_seed() {
    let Some(tools) = Tools::here() else { return };
    compile(&tools);
    let objects = objects();
    let by_driver = format!("gcc main.o {objects} -o program");
    let in_response = format!("echo '{objects}' > list; gcc main.o @list -o program");
    let partly = format!("ld -r {objects} -o part.ro; cp part.ro part.obj; gcc main.o part.obj -o program");
    let archive = format!(
        "rm -f lib.a; ar rc lib.a {objects}; gcc main.o -Wl,--whole-archive lib.a -Wl,--no-whole-archive -o program"
    );
    let mut of_seed = BTreeSet::new();
    for link in [&by_driver, &in_response, &partly, &archive] {
        assert_eq!(order(&tools, link, None), NAMES, "{link}");
        let orders: Vec<Vec<String>> = (1..=4).map(|seed| order(&tools, link, Some(&seed.to_string()))).collect();
        assert_eq!(orders.iter().collect::<BTreeSet<_>>().len(), 4, "{link}");
        assert_eq!(order(&tools, link, Some("1")), orders[0], "{link}");
        of_seed.insert(orders[0].clone());
    }
    assert_eq!(of_seed.len(), 1, "whoever puts them into order, it is the same: {of_seed:?}");
}

#[test]
fn what_was_shuffled_is_told() {
    let Some(tools) = Tools::here() else { return };
    compile(&tools);
    order(&tools, &format!("gcc main.o {} -o program", objects()), Some("1"));
    let told: Vec<(String, u32)> =
        tools.calls().iter().map(|call| (call.name.to_str().unwrap().to_owned(), call.shuffled)).collect();
    assert!(told[..told.len() - 2].iter().all(|(_, shuffled)| *shuffled == 0), "{told:?}");
    assert_eq!(told[told.len() - 2..], [("gcc".to_owned(), 9), ("ld".to_owned(), 9)]);
}

#[test]
fn objects_of_the_driver_keep_their_place() {
    let Some(tools) = Tools::here() else { return };
    compile(&tools);
    let sources = NAMES.map(|name| format!("{name}.c")).join(" ");
    std::fs::create_dir(tools.dir().join("tmp")).unwrap();
    let link = format!("TMPDIR=$PWD/tmp gcc main.c {sources} -o program");
    assert_eq!(order(&tools, &link, Some("1")), NAMES);
}
