//! Matching functions, end to end: one program of C++ by two compilers, and with other names. `tools/matches` compares more pairs
//! with what debugging information says of them.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::{Sandbox, is_missing};
use serde_json::Value;

const STUDY: &str = r#"
format = 1
name = "matched"
[build_factors.how]
gcc = { CXX = "g++" }
clang = { CXX = "clang++" }
renamed = { CXX = "g++ -Dwords=texts -Dmixed=stirred -Dsorted=ordered -Dmatching=hits -Dshapes=forms" }
[[build]]
name = "p"
tools = ["g++", "clang++"]
files = ["words.cc"]
script = '''
mkdir -p "$PREFIX/bin"
$CXX -O2 -o "$PREFIX/bin/p" words.cc
'''
[workloads.work]
run = '"$PREFIX/bin/p" 100'
[plan]
blocks = 3
layouts = "one"
variants = "one-at-a-time"
[decide]
baseline = { how = "gcc" }
metrics = ["wall"]
[evidence]
count = ["work"]
"#;

/// What of all instructions is matched by these rules.
fn part(account: &Value, rules: &[&str]) -> f64 {
    let matched = &account["matched"];
    let number = |value: &Value| value.as_f64().unwrap();
    let all: f64 = ["by_name", "by_base_name", "by_same_code"].iter().map(|rule| number(&matched[*rule])).sum();
    let all = all + number(&matched["only"][0]) + number(&matched["only"][1]);
    rules.iter().map(|rule| number(&matched[*rule])).sum::<f64>() / all
}

/// The functions of this name that a rule matched, with the symbols of the other side.
fn matched(account: &Value, name: &str, rule: &str) -> Vec<String> {
    let functions = account["functions"].as_array().unwrap().iter();
    let found = functions.filter(|function| function["name"] == *name && function["rule"] == *rule);
    found
        .flat_map(|function| function["symbols"][1].as_array().unwrap())
        .map(|s| s.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn functions_of_cpp_are_matched_by_names_and_by_code() {
    if !cfg!(target_arch = "x86_64") {
        println!("skipped: instructions are counted on x86-64 only");
        return;
    }
    if is_missing(&["valgrind", "cc", "g++", "clang++"]) {
        return;
    }
    let sandbox = Sandbox::new(STUDY);
    sandbox.write("words.cc", include_str!("matched/words.cc"));
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    let accounts = |variant: &str| -> Value {
        let shown = sandbox.execute(&["explain", "STUDY", variant, "--json"]);
        assert_eq!(shown.code, 0, "{}", shown.err);
        serde_json::from_str::<Value>(&shown.out).unwrap()["accounts"][0].clone()
    };

    let clang = accounts("how=clang");
    let share = part(&clang, &["by_name", "by_base_name"]);
    assert!(share > 0.8, "{share}: {:#}", clang["matched"]);
    for (name, rule, symbol) in [
        ("matching(int)", "name", "_ZL8matchingi"),
        ("shapes(int)", "name", "_ZL6shapesi"),
        ("main", "name", "main"),
        // Only clang++ writes down here that they return a string of C++11.
        ("count(int)", "base-name", "_ZL5countB5cxx11i"),
        ("(anonymous namespace)::word()", "base-name", "_ZN12_GLOBAL__N_14wordB5cxx11Ev"),
    ] {
        assert_eq!(matched(&clang, name, rule), [symbol], "{name}");
    }
    let shown = sandbox.execute(&["explain", "STUDY", "how=clang", "--functions"]);
    shown.expect(0, &["std::map<std::string, int>::operator[](", "matched by name", "by base name"]);

    let renamed = accounts("how=renamed");
    let share = part(&renamed, &["by_name", "by_base_name", "by_same_code"]);
    assert!(share > 0.999, "{share}: {:#}", renamed["matched"]);
    let mixed = |of: &str| format!("words::mixed<{of}>(std::vector<{of}, std::allocator<{of}>> const&)");
    for (name, symbol) in [
        ("matching(int)", "_ZL4hitsi"),
        ("shapes(int)", "_ZL5formsi"),
        (&mixed("unsigned int"), "_ZN5texts7stirredIjEET_RKSt6vectorIS1_SaIS1_EE"),
        (&mixed("unsigned long"), "_ZN5texts7stirredImEET_RKSt6vectorIS1_SaIS1_EE"),
    ] {
        assert_eq!(matched(&renamed, name, "same-code"), [symbol], "{name}");
    }
}
