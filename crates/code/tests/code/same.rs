//! Edits that leave code alone.

use super::*;

#[track_caller]
fn check(from: &str, to: &str) {
    for flags in FLAGS {
        let words = words_for(flags);
        let (one, other) = (of(&edited("", ""), flags, words), of(&edited(from, to), flags, words));
        assert_eq!(answer(&one, &other), Answer::Same, "{flags:?}");
    }
}

#[test]
fn the_program_itself() {
    check("", "");
}

#[test]
fn a_function_that_nobody_calls() {
    check("int called(int n, int m) {", "int added(int n) { return n * 3; }\nint called(int n, int m) {");
    check(
        "static int __attribute__((noinline)) helper",
        "int added(int n) { switch (n) { case 1: return 8; case 2: return 99; case 3: return 4; case 4: return n * n; \
         case 5: return n / 3; case 6: return n << 5; } return 2; }\nstatic int __attribute__((noinline)) helper",
    );
    check("int main(", "int added(const char *a) { static int x; x += *a; return x; }\nint main(");
    check("static int counted", "char *added(int n) { return n ? \"none\" : \"two\"; }\nstatic int counted");
}

#[test]
fn data_that_nobody_uses() {
    check("static const int table", "char unused[4097] = \"unused\";\nstatic const int table");
    check("static volatile int plain = 7;", "int added[3] = { 1, 2, 3 };\nstatic volatile int plain = 7;");
    check(
        "static volatile int plain = 7;",
        "static int added __attribute__((used)) = 5;\nstatic volatile int plain = 7;",
    );
    check("int (*hook)", "const char *text = \"something else\";\nint (*hook)");
    check("int (*hook)", "int zeros[100];\nint (*hook)");
}

#[test]
fn functions_in_another_order() {
    let called = "int called(int n, int m) { return helper(n) - helper(m + 1); }\n";
    let scaled = "double scaled(double x) { return x * 1.75 + 0.25; }\n";
    check(&format!("{called}{scaled}"), &format!("{scaled}{called}"));
}

#[test]
fn objects_in_another_order() {
    for flags in FLAGS {
        let words = words_for(flags);
        let mut sources = edited("", "");
        let one = of(&sources, flags, words);
        sources.reverse();
        assert_eq!(answer(&one, &of(&sources, flags, words)), Answer::Same, "{flags:?}");
    }
}

#[test]
fn names_of_variables_with_numbers() {
    check(
        "static int __attribute__((noinline)) chosen",
        "int added(int n) { static int calls = 3; return calls += n; }\nstatic int __attribute__((noinline)) chosen",
    );
}

#[test]
fn another_file() {
    let mut more = edited("", "");
    more.insert(1, ("more.c", "int more(int n) { return n + 4; }\n".to_owned()));
    assert_eq!(answer(&of(&edited("", ""), &["-O2"], &[]), &of(&more, &["-O2"], &[])), Answer::Same);
}

#[test]
fn a_function_in_another_file() {
    let mut moved = edited("double scaled(double x) { return x * 1.75 + 0.25; }\n", "");
    moved.push(("scale.c", "double scaled(double x) { return x * 1.75 + 0.25; }\n".to_owned()));
    assert_eq!(answer(&of(&edited("", ""), &["-O2"], &[]), &of(&moved, &["-O2"], &[])), Answer::Same);
}

const CPP: &str = r#"
#include <string>
#include <vector>
#include <stdexcept>
#include <cstdio>
struct Shape { virtual ~Shape() {} virtual double area() const = 0; };
struct Square : Shape { double side = 2.0; double area() const override { return side * side; } };
double total(const std::vector<Shape *> &all) {
    double sum = 0;
    for (auto shape : all) sum += shape->area();
    return sum;
}
int main(int argc, char **) {
    try {
        std::vector<Shape *> all;
        for (int i = 0; i < argc; i++) all.push_back(new Square);
        std::printf("%g\n", total(all));
        if (argc > 5) throw std::runtime_error("too many");
    } catch (const std::exception &error) {
        std::puts(error.what());
        return 1;
    }
}
"#;

#[test]
fn cpp() {
    let one = built(&[("main.cc", CPP)], &["-O2"], &[]);
    for added in ["int added(int n) { return n * 7; }\n", "const char *added() { return \"added\"; }\n"] {
        let text = CPP.replace("double total", &format!("{added}double total"));
        assert_eq!(answer(&one, &built(&[("main.cc", &text)], &["-O2"], &[])), Answer::Same);
    }
    for (from, to) in
        [("side * side", "side * 3"), ("side = 2.0", "side = 2.5"), ("argc > 5", "argc > 6"), ("too many", "too much")]
    {
        let other = built(&[("main.cc", &CPP.replace(from, to))], &["-O2"], &[]);
        assert!(matches!(answer(&one, &other), Answer::Differs(_)), "{from}");
    }
}

/// Clang lets what cannot be reached lead to the end of the function.
#[test]
fn a_table_of_jumps_that_leads_to_the_end() {
    if Command::new("clang").arg("--version").output().is_err() {
        println!("skipped: clang is not installed");
        return;
    }
    let text = "int work(int);\nint chosen(int n) { switch (n) { case 0: return work(3); case 1: return n + work(4); case 2: \
                return work(n) * 5; case 3: return 7 - work(8); case 7: return work(6) / 3; } __builtin_unreachable(); }\n";
    let compiled = |added: &str, text: &str| {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.c"), format!("{added}{text}")).unwrap();
        let ended = Command::new("clang").args(["-O2", "-c", "a.c"]).current_dir(folder.path()).status().unwrap();
        assert!(ended.success());
        fs::read(folder.path().join("a.o")).unwrap()
    };
    let [one, other, changed] = [
        compiled("", text),
        compiled("int added(int n) { return n * 9; }\n", text),
        compiled("", &text.replace("case 2", "case 4")),
    ];
    let of = |content: &[u8], other: &[u8]| {
        let [one, other] = [content, other]
            .map(|content| Program { parts: vec![Part { name: "a.o", content }], ..Program::default() });
        compare(&one, &other)
    };
    assert_eq!(of(&one, &other), Answer::Same);
    assert!(matches!(of(&one, &changed), Answer::Differs(_)));
}
