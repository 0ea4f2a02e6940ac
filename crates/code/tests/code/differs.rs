//! Edits that change what a program does, or with what.

use super::*;
use bakeoff_code::What;

#[track_caller]
fn check(from: &str, to: &str, expect: &str) {
    for flags in FLAGS {
        let words = words_for(flags);
        let (one, other) = (of(&edited("", ""), flags, words), of(&edited(from, to), flags, words));
        let Answer::Differs(differences) = answer(&one, &other) else {
            panic!("{from}: called the same with {flags:?}")
        };
        let names: Vec<&str> = differences.iter().map(|one| one.name.as_str()).collect();
        assert!(names.iter().any(|name| name.starts_with(expect)), "{from} with {flags:?}: {names:?}");
    }
}

#[test]
fn constants() {
    check("argc + 50", "argc + 51", "main");
    check("+ 0.5)", "+ 0.75)", "main");
    check("x * 1.75", "x * 1.5", "scaled");
    check("{ 3, 4, 4.5 }", "{ 3, 4, 4.25 }", "items");
    check("3, 1, 4, 1, 5", "3, 1, 4, 2, 5", "table");
    check("plain = 7", "plain = 8", "plain");
}

#[test]
fn texts() {
    check("\"loud enough\"", "\"loud anough\"", "main");
    check("\"loud enough\"", "\"loud enough!\"", "main");
    check("\"loud enough\"", "\"enough\"", "main");
    check("\"three\"", "\"threw\"", "words");
    check("\"two\", \"three\"", "\"three\", \"two\"", "words");
}

#[test]
fn code() {
    check("called(n, 3)", "called(3, n)", "chosen");
    check("called(3, n) * 5", "counted(n) * 5", "chosen");
    check("i < argc + 50", "i <= argc + 50", "main");
    check("items[i].b", "items[i].a", "main");
    check("case 4: return puts(\"fourth\");", "case 6: return puts(\"fourth\");", "chosen");
    check("counted(n) - 9", "counted(n) - 8", "chosen");
    check("helper(n) - helper(m + 1)", "helper(m) - helper(n + 1)", "called");
    check("    return sum & 1;", "    for (volatile int k = 0; k < 10; k++) ;\n    return sum & 1;", "main");
    check("hook)(int, int) = called", "hook)(int, int) = 0", "hook");
    check("calls = 0;", "calls = 1;", "");
    check("int (*hook)(int, int) = called", "int (*const hook)(int, int) = called", "hook");
}

/// In the linked file it is the same: no other file sees it.
#[test]
fn who_sees_a_function() {
    let other = edited("static int __attribute__((noinline)) chosen", "int __attribute__((noinline)) chosen");
    let [one, other] = [edited("", ""), other].map(|sources| of(&sources, &["-O2"], &[]));
    assert!(matches!(compare(&one.program(), &other.program()), Answer::Differs(_)));
    assert_eq!(of_files(&one, &other), Answer::Same);
}

#[test]
fn optimisation() {
    let [one, other] = ["-O1", "-O2"].map(|flag| of(&edited("", ""), &[flag], &[]));
    assert!(matches!(answer(&one, &other), Answer::Differs(_)));
}

#[test]
fn layouts_of_structures() {
    let change = |(name, text): (&'static str, String)| (name, text.replace("int a; int b;", "int b; int a;"));
    let changed: Vec<_> = edited("", "").into_iter().map(change).collect();
    assert!(matches!(answer(&of(&edited("", ""), &["-O2"], &[]), &of(&changed, &["-O2"], &[])), Answer::Differs(_)));
}

#[test]
fn functions_that_take_the_place_of_a_library_s() {
    // The last one is of the objects that each program begins with.
    for added in [
        "int abs(int n) { return n; }\n",
        "void *malloc(unsigned long n) { return 0; }\n",
        "void __gmon_start__(void) {}\n",
    ] {
        let (one, other) =
            (of(&edited("", ""), &["-O2", "-fno-builtin"], &[]), edited("int (*hook)", &format!("{added}int (*hook)")));
        let other = of(&other, &["-O2", "-fno-builtin"], &[]);
        assert_ne!(answer(&one, &other), Answer::Same, "{added}");
    }
}

#[test]
fn what_catches_exceptions() {
    let built = |one: &str, other: &str| {
        let text = format!(
            "void h();\nvoid f() {one} {{ h(); h(); }}\nvoid g() {other} {{ h(); h(); }}\nvoid h() {{ throw 1; }}\n\
             int main() {{ f(); g(); }}\n"
        );
        built(&[("main.cc", &text)], &["-O1", "-fno-inline", "-fno-ipa-pure-const", "-fno-ipa-icf"], &[])
    };
    // Code and tables of handlers are the same there.
    let (one, other) = (built("noexcept", ""), built("", "noexcept"));
    assert!(matches!(answer(&one, &other), Answer::Differs(_)));
    assert_eq!(answer(&one, &built("noexcept", "")), Answer::Same);
}

#[test]
fn what_others_can_find() {
    let other = edited("int (*hook)", "int added(int n) { return n + 7; }\nint (*hook)");
    for words in [&["-shared"], &["-rdynamic"]] {
        let [one, other] = [&edited("", ""), &other].map(|sources| of(sources, &["-O2", "-fpic"], words));
        let Answer::Differs(differences) = answer(&one, &other) else { panic!("called the same with {words:?}") };
        assert_eq!(differences[0].what, What::Loading);
    }
}

#[test]
fn the_link() {
    let one = of(&edited("", ""), &["-O2"], &[]);
    for words in [["-Wl,--no-as-needed", "-lm"], ["-Wl,-rpath,/elsewhere", "-lc"], ["-z", "execstack"], ["-z", "now"]] {
        let mut other = of(&edited("", ""), &["-O2"], &words);
        assert!(matches!(answer(&one, &other), Answer::Differs(_)), "{words:?}");
        // Even if the words were not seen.
        other.words.clear();
        let is_told = matches!(answer(&one, &other), Answer::Differs(_));
        assert!(is_told || words[1] == "now", "{words:?}");
    }
    let mut scripted = of(&edited("", ""), &["-O2"], &[]);
    scripted.words = vec!["-T".to_owned(), "script".to_owned()];
    assert_eq!(answer(&scripted, &scripted), Answer::Unknown(bakeoff_code::Why::Script));
}

/// Two files with a function that is run before `main`, or one that both define.
fn two(one: &str, other: &str) -> [Built; 2] {
    let main = ("main.c", "int shared(void);\nint main(void) { return shared(); }\n");
    [[("a.c", one), ("b.c", other)], [("b.c", other), ("a.c", one)]]
        .map(|[first, second]| built(&[main, first, second], &["-O2"], &[]))
}

#[test]
fn the_order_of_constructors() {
    let first = "#include <stdio.h>\nstatic void __attribute__((constructor)) one(void) { puts(\"one\"); }\nint shared(void) { return 2; }\n";
    let second = "#include <stdio.h>\nstatic void __attribute__((constructor)) two(void) { puts(\"two\"); }\n";
    let [one, other] = two(first, second);
    let Answer::Differs(differences) = answer(&one, &other) else { panic!("called the same") };
    assert_eq!((differences[0].what, differences[0].name.as_str()), (What::Order, ".init_array"));
    let [one, other] = two(first, "int more(void) { return 1; }\n");
    assert_eq!(answer(&one, &other), Answer::Same);
}

#[test]
fn the_order_of_weak_definitions() {
    let weak = |n: u32| format!("int __attribute__((weak)) shared(void) {{ return {n}; }}\n");
    let [one, other] = two(&weak(1), &weak(2));
    assert!(matches!(answer(&one, &other), Answer::Differs(_)));
    let [one, other] = two(&weak(1), &weak(1));
    assert_eq!(answer(&one, &other), Answer::Same);
    let [one, other] = two(&weak(1), "int shared(void) { return 2; }\n");
    assert_eq!(answer(&one, &other), Answer::Same);
}

#[test]
fn a_weak_reference_that_is_fulfilled() {
    let main = "int __attribute__((weak)) extra(void);\nint main(void) { return extra ? extra() : 0; }\n";
    let one = built(&[("main.c", main)], &["-O2"], &[]);
    let other = built(&[("main.c", main), ("extra.c", "int extra(void) { return 5; }\n")], &["-O2"], &[]);
    assert!(matches!(answer(&one, &other), Answer::Differs(_)));
}

#[test]
fn lists_of_a_section() {
    let entry = |names: &[&str]| {
        let all: String = names
            .iter()
            .map(|name| {
                format!("static const char *const __attribute__((used, section(\"list\"))) {name} = \"{name}\";\n")
            })
            .collect();
        format!(
            "{all}extern const char *const __start_list[], *const __stop_list[];\nint main(void) {{ return __stop_list - __start_list; }}\n"
        )
    };
    let built = |names: &[&str]| built(&[("main.c", &entry(names))], &["-O2"], &[]);
    let one = built(&["first", "second"]);
    assert_eq!(answer(&one, &built(&["first", "second"])), Answer::Same);
    for others in [&["second", "first"][..], &["first"], &["first", "second", "third"]] {
        assert!(matches!(answer(&one, &built(others)), Answer::Differs(_)), "{others:?}");
    }
}

#[test]
fn code_without_a_function_cannot_be_told() {
    let asm = |n: u32| format!("asm(\".text\\n mov ${n}, %eax\\n ret\");\nint main(void) {{ return 1; }}\n");
    let [one, other] = [1, 2].map(|n| built(&[("main.c", &asm(n))], &["-O2"], &[]));
    assert_eq!(answer(&one, &other), Answer::Unknown(bakeoff_code::Why::Unnamed));
    assert_eq!(answer(&one, &one), Answer::Same, "of equal objects all is known");
}

#[test]
fn code_that_is_made_in_the_link_cannot_be_told() {
    let [one, other] = ["argc + 50", "argc + 51"].map(|to| of(&edited("argc + 50", to), &["-O2", "-flto"], &["-flto"]));
    assert!(!matches!(answer(&one, &other), Answer::Same));
}

/// Not the same, whatever else the answer is.
#[track_caller]
fn is_not_same(both: [&str; 2], flags: [&[&str]; 2], words: &[&str]) {
    let [one, other] = [0, 1].map(|number| built(&[("x.c", both[number])], flags[number], words));
    assert_ne!(answer(&one, &other), Answer::Same, "{}", both[1]);
}

#[test]
fn places_in_front_of_a_datum() {
    let check = |text: &str, flags: &[&str], words: &[&str]| {
        is_not_same([&text.replace("VALUE", "7"), &text.replace("VALUE", "70")], [flags; 2], words);
    };
    let other =
        "__attribute__((noinline)) int f(int i) { static const int t1[9] = {1,2,3,4,5,6,7,8,9}; return t1[i & 7]; }\n";
    let table = "static const int t2[9] = {5,6,VALUE,8,9,10,11,12,1};";
    let before = format!(
        "__attribute__((noinline)) int g(int *n) {{ {table} const int *a = t2 - 1; int s = 0; do s += a[*n]; while (*++n); \
         return s; }}\n{other}int main(int c, char **v) {{ int n[] = {{c, c + 2, 0}}; return f(c) + g(n); }}\n"
    );
    check(&before, &["-O2"], &[]);
    let index = |less: &str| {
        format!(
            "{other}__attribute__((noinline)) int g(long i) {{ {table} return t2[i - {less}]; }}\n\
             int main(int c, char **v) {{ return f(c) + g(c + {less}); }}\n"
        )
    };
    for less in ["3", "'0'"] {
        check(&index(less), &["-O2", "-fno-pie"], &["-no-pie"]);
        check(&index(less).replace("static const", "static"), &["-O2", "-fno-pie"], &["-no-pie"]);
    }
    let hot =
        index("1").replace("__attribute__((noinline)) int g", "__attribute__((noinline, section(\"hot\"))) int g");
    check(&hot, &["-O2"], &[]);
}

#[test]
fn alignment_that_was_asked_for() {
    let shared = "int one; int two;\nvoid a(void) { __atomic_fetch_add(&one, 1, 0); }\n\
        void b(void) { __atomic_fetch_add(&two, 1, 0); }\nint main(void) { a(); b(); return 0; }\n";
    let apart = shared
        .replace("int one; int two", "int __attribute__((aligned(64))) one; int __attribute__((aligned(64))) two");
    is_not_same([shared, &apart], [&["-O2"]; 2], &[]);
    is_not_same([shared, &apart], [&["-O2", "-fcommon"]; 2], &[]);
    let sum = "int main(int c, char **v) { volatile int s = 0; for (int i = 0; i < c * 9; i++) { s += i; if (s > 7) s ^= i; } \
        return s; }\n";
    let mut changed = 0;
    for option in ["-falign-loops=64", "-falign-functions=64", "-fno-align-loops"] {
        let flags: [&[&str]; 2] = [&["-O2"], &["-O2", option]];
        let programs = flags.map(|flags| built(&[("x.c", sum)], flags, &[]));
        if programs[0].parts[0].1 != programs[1].parts[0].1 {
            changed += 1;
            is_not_same([sum, sum], flags, &[]);
        }
    }
    assert!(changed >= 2, "the compiler aligned nothing: {changed}");
}

#[test]
fn nops_that_somebody_wrote() {
    let text = |number: &str| {
        format!(
            "__attribute__((noinline)) void delay(long n) {{ do {{ __asm__ volatile(\".rept {number}\\n nop\\n .endr\"); }} \
             while (--n); }}\nint main(void) {{ delay(1000); return 0; }}\n"
        )
    };
    is_not_same([&text("8"), &text("800")], [&["-O2"]; 2], &[]);
    is_not_same([&text("1"), &text("2")], [&["-O2"]; 2], &[]);
}

#[test]
fn what_the_linker_and_the_loader_are_told() {
    let main = "int main(void) { return 0; }\n";
    let started = format!("#include <stdio.h>\nvoid start_up(void) {{ puts(\"hi\"); }}\n{main}");
    is_not_same([&format!("#include <stdio.h>\n{main}"), &started], [&["-O2"]; 2], &["-Wl,-init,start_up"]);
    let unwound =
        "void cb(void); int each(void) { cb(); cb(); return 3; } void cb(void) {} int main(void) { return each(); }\n";
    is_not_same([unwound; 2], [&["-O2"], &["-O2", "-fno-asynchronous-unwind-tables"]], &[]);
}
