//! Tables of texts that are read, and of texts that are refused with which words.

use super::claim::{Amount, Claim, Says};
use super::{Figure, Printing, Published, read};

const MINISTAT: &str = "\
x gcc
+ clang
+--------------------------------------------------------------------------+
|x        x        *        *         *                                   +|
|    |_____________A______________|                                        |
+--------------------------------------------------------------------------+
    N           Min           Max        Median           Avg        Stddev
x   5             1             5             3             3     1.5811388
+   4             3             9             5          5.25     2.6299556
No difference proven at 95.0% confidence
";

fn good(text: &str) -> Published {
    read("file", text).unwrap_or_else(|problems| panic!("{}", problems.render(false)))
}

fn shown(text: &str) -> String {
    let figure = |f: &Option<Figure>| f.as_ref().map_or("-".to_owned(), |f| f.text.clone());
    let published = good(text);
    let lines = published.summaries.iter().map(|s| {
        let figures = [&s.min, &s.max, &s.median, &s.mean, &s.sd].map(figure).join(" ");
        let n = s.n.map_or("-".to_owned(), |n| n.to_string());
        let quantity = s.quantity.as_ref().map_or(String::new(), |quantity| format!("{quantity}/"));
        let unit = s.unit.as_ref().map_or(String::new(), |unit| format!(" {unit}"));
        format!("{quantity}{}: {n} {figures}{unit}", s.name)
    });
    lines.collect::<Vec<_>>().join("; ")
}

#[test]
fn many_ways_of_writing_are_read() {
    let both = "gcc: 5 1 5 3 3 1.5811388; clang: 4 3 9 5 5.25 2.6299556";
    let table = MINISTAT.lines().skip(6).collect::<Vec<_>>().join("\n");
    for (text, expect) in [
        (MINISTAT, both),
        (&MINISTAT.replace('\n', "\r\n"), both),
        (&table, "x: 5 1 5 3 3 1.5811388; +: 4 3 9 5 5.25 2.6299556"),
        ("A avg 0.203 min 0.187 max 0.295 n 75", "A: 75 0.187 0.295 - 0.203 -"),
        ("quote, idle: avg=0.203s, min=0.187s, max=0.295s (n=75)", "quote, idle: 75 0.187 0.295 - 0.203 - s"),
        ("avg 0.203 s sd 0.01 n 3\navg 2 s n 3", "A: 3 - - - 0.203 0.01 s; B: 3 - - - 2 - s"),
        ("name,n,avg,sd\ngcc -O2,3,4.24,0.01\n\"clang\",3,4.1,-", "gcc -O2: 3 - - - 4.24 0.01; clang: 3 - - - 4.1 -"),
        ("| what | n | mean (ms) |\n|---|--:|--:|\n| a | 3 | 1.5 |\n", "a: 3 - - - 1.5 - ms"),
        ("n min median max\nold 3 1 2 3\nold 3 1 2 4", "old: 3 1 3 2 - -; old (2): 3 1 4 2 - -"),
        ("a;n;avg_ms\nb;3;1e-3", "b: 3 - - - 1e-3 - ms"),
        ("B n 3 avg 1e99", "B: 3 - - - 1e99 -"),
    ] {
        assert_eq!(shown(text), expect, "{text}");
    }
}

#[test]
fn what_cannot_be_read_is_named_with_its_line_and_a_remedy() {
    for (text, place, message, remedy) in [
        ("", "file:1:1", "the input has no figures", "give one line for each system"),
        (" \n\r\n", "file:1:1", "the input has no figures", "give one line for each system"),
        ("A n 3 avg 1\nhello 3 4\n", "file:2:1", "cannot read any figures in this line", "give one line"),
        ("A n 3 avg nan", "file:1:11", "`nan` is not a number", "`-`"),
        ("n avg\nA 3 -inf", "file:2:5", "`-inf` is not a number", "an infinite value has no mean"),
        ("name,n,avg\nA,3,abc", "file:2:5", "`abc` is not a number", "plain number"),
        ("name;n;avg\nA;3;1,234.5", "file:2:5", "`1,234.5` is not a number", "without commas"),
        ("name,n,avg\nA,3", "file:2:1", "cells (2) is not the number of titles (3)", "every title one cell"),
        ("A n 0 avg 1", "file:1:5", "n is `0`", "1, 2, 3"),
        ("A n -3 avg 1", "file:1:5", "n is `-3`", "1, 2, 3"),
        ("A n 2.5 avg 1", "file:1:5", "n is `2.5`", "1, 2, 3"),
        ("gcc 4.24\nclang 4.31\nA n 3 avg 1", "file:1:1", "cannot read any figures in this line", "titles"),
        ("charge speed = 3\nA n 3 avg 1", "file:1:1", "cannot read any figures in this line", "titles"),
        ("x 3 4.21 4.27 4.24", "file:1:1", "cannot read any figures in this line", "titles"),
        ("A n 3 avg 1 foo 2", "file:1:17", "`2` is not a known name, such as `avg` or `sd`", "the names are"),
        ("A n 3 avg 1 s foo bar", "file:1:15", "`foo` is not a known name, such as `avg` or `sd`", "the names are"),
        ("A n 3 avg 1 avg 2", "file:1:17", "twice", "once"),
        ("A n 3 avg 1 s\nB n 3 avg 1 ms", "file:2:1", "the unit `ms` next to `s`", "the same unit"),
        ("n avg\nA 3 1 7 9", "file:2:3", "numbers without a title", "a title"),
        ("A n 3 avg 1e308", "file:1:11", "`1e308` is not a number", "too large"),
    ] {
        let problems = read("file", text).expect_err(text).render(false);
        for part in [place, message, remedy] {
            assert!(problems.contains(part), "{part:?} is missing for {text:?} in\n{problems}");
        }
    }
}

#[test]
fn a_unit_is_of_the_figures_that_have_it() {
    for (text, place, message) in [
        ("old avg 0.2 n 5\nnew avg 170ms n 5", "file:1:1", "no unit next to `ms`"),
        ("new avg 170 ms n 5\n\nold avg 0.2 n 5", "file:3:1", "no unit next to `ms`"),
        ("old avg 0.2 sd 3ms n 5", "file:1:16", "the unit `ms` next to a figure without a unit"),
        ("mid avg 0.17 sd 3% n 75", "file:1:17", "the unit `%` next to a figure without a unit"),
        ("mid sd 3% avg 0.17 n 75", "file:1:15", "no unit next to `%`"),
        ("mid avg 170 ms sd 3% n 75", "file:1:19", "the unit `%` next to `ms`"),
        ("name,n,avg,sd (%)\nold,3,0.17,3\n", "file:2:12", "the unit `%` next to a figure without a unit"),
        ("name,n,avg_ms,unit\nold,3,0.17,s\n", "file:2:7", "the unit `ms` next to `s`"),
        ("old avg_ms 0.17 s n 3", "file:1:12", "the unit `s` next to `ms`"),
        ("old avg 0.17x n 3\nnew avg 0.18x n 3", "file:1:9", "`0.17x` is not a number"),
        ("old avg 0.17a n 3\nnew avg 0.18b n 3", "file:1:9", "`0.17a` is not a number"),
        ("old avg 9 MB/s n 3\nnew avg 9000 kB/s n 3", "file:2:1", "the unit `kB/s` next to `MB/s`"),
        (
            "before:\navg: 0.2\nmax: 170 ms\nafter:\navg: 0.2\nmax: 0.3",
            "file:3:6",
            "the unit `ms` next to a figure without a unit",
        ),
        ("avg 1 min 3 s n 75", "file:1:11", "the unit `s` next to a figure without a unit"),
        ("max 9 s avg 1 min 3s n 75", "file:1:19", "the unit `s` next to a figure without a unit"),
    ] {
        let problems = read("file", text).map(|_| shown(text)).map_err(|problems| problems.render(false));
        let problems = problems.expect_err(text);
        for part in [place, message] {
            assert!(problems.contains(part), "{part:?} is missing for {text:?} in\n{problems}");
        }
    }
    for (text, expect) in [
        ("A avg 0.203 s min 0.187 max 0.295 n 75", "A: 75 0.187 0.295 - 0.203 - s"),
        ("A avg 2 sec sd 1 s n 3\nB avg 3 kB n 4", "A: 3 - - - 2 1 s; B: 4 - - - 3 - kB"),
        ("name,n,avg,unit\nold,3,5,%\nnew,3,6,%\n", "old: 3 - - - 5 - %; new: 3 - - - 6 - %"),
        ("name,n,avg (s),sd\nold,3,5,1\n", "old: 3 - - - 5 1 s"),
        ("avg: 5 s\nsd: -\nmax: 6", "A: - - 6 - 5 - s"),
    ] {
        assert_eq!(shown(text), expect, "{text}");
    }
}

#[test]
fn digits_tell_what_a_number_can_stand_for() {
    for (text, low, high) in [
        ("4.213", 4.2125f64, 4.2135f64),
        ("-4", -4.5, -3.5),
        ("1.50e-3", 1.495e-3, 1.505e-3),
        (".5", 0.45, 0.55),
        ("+7.", 6.5, 7.5),
    ] {
        let [a, b] = Figure::read(text).unwrap().range();
        assert!((a - low).abs() < 1e-9 * high.abs() && (b - high).abs() < 1e-9 * high.abs(), "{text}: {a} {b}");
        assert!(a <= low && high <= b, "{text}: {a} {b}");
    }
    for text in ["", "-", ".", "e5", "1e", "nan", "inf", "0x1f", "1_000", "1,5", "1 2", "٣", "1e99999999999"] {
        assert_eq!(Figure::read(text), None, "{text}");
    }
    let eight = good(MINISTAT);
    assert_eq!(eight.printing, Printing::EightDigits);
    assert!(eight.summaries[1].mean.as_ref().unwrap().half_width < 6e-8);
    assert_eq!(good("n avg\nA 3 5.25").printing, Printing::AsShown);
    assert_eq!(good("N Min Max Median Avg Stddev\nx 3 1 3 2 2 1").printing, Printing::AsShown);
    assert_eq!(good("N Min Max Median Avg Stddev\nx 3 1 3 2 2.3333333 1").printing, Printing::EightDigits);
    // ministat prints no zero at the end of a fraction, whatever the layout.
    let by_hand = "    N           Min           Max        Median           Avg        Stddev\n\
                   x   5          4.01          4.21          4.10          4.11         0.071";
    assert_eq!(good(by_hand).printing, Printing::AsShown);
    assert_eq!(good(&by_hand.replace("4.10", " 4.1")).printing, Printing::EightDigits);
}

#[test]
fn claims_are_read() {
    let names = good("gcc n 3 avg 1\nnew clang n 3 avg 2").summaries;
    let read = |text: &str| {
        let claim = Claim::read(text, &names, 0).unwrap_or_else(|problems| panic!("{}", problems.render(false)));
        let amount = |amount: &Amount| match amount {
            Amount::Percent(f) => format!("{}%", f.text),
            Amount::Times(f) => format!("{}x", f.text),
            Amount::Absolute(f, unit) => format!("{} {}", f.text, unit.as_deref().unwrap_or("-")),
        };
        let says = match claim.says {
            Says::Differs { way, amount: by } => format!("{way:?} {}", by.as_ref().map_or(String::new(), amount)),
            Says::Equal { within } => format!("Equal {}", within.map_or(String::new(), |f| f.text)),
            other => format!("{other:?}"),
        };
        format!("{}/{} {}", claim.subject, claim.object, says.trim_end())
    };
    for (text, expect) in [
        ("B 1.4% slower", "1/0 Slower 1.4%"),
        ("new clang is 1.4 % slower than gcc.", "1/0 Slower 1.4%"),
        ("gcc faster than new clang by 3.2 s", "0/1 Faster 3.2 s"),
        ("gcc is faster", "0/1 Faster"),
        ("2x faster", "1/0 Faster 2x"),
        ("B 3 times slower", "1/0 Slower 3x"),
        ("B is 3x more", "1/0 More 3x"),
        ("B 3% lower than A", "1/0 Less 3%"),
        ("1.4 percent slower", "1/0 Slower 1.4%"),
        ("equal within 0.5%", "1/0 Equal 0.5"),
        ("A = B", "0/1 Equal"),
        ("A=B", "0/1 Equal"),
        ("no difference", "1/0 Equal"),
        ("no significant difference", "1/0 NotSignificant"),
        ("not significant", "1/0 NotSignificant"),
        ("A differs from B", "0/1 Different"),
        ("B slower by 0.5s", "1/0 Slower 0.5 s"),
        ("16.8% slower", "1/0 Slower 16.8%"),
        ("16.8 % slower than A", "1/0 Slower 16.8%"),
        ("slower than B", "0/1 Slower"),
        ("than A, B is 16.8% slower", "1/0 Slower 16.8%"),
        ("B ~1.4% slower", "1/0 Slower ~1.4%"),
        ("equally fast", "1/0 Equal"),
        ("A and B are equally fast", "0/1 Equal"),
        ("gcc and new clang equally fast within 1%", "0/1 Equal 1"),
        ("New Clang slower", "1/0 Slower"),
    ] {
        assert_eq!(read(text), expect, "{text}");
    }
}

#[test]
fn claims_that_are_half_understood_are_refused() {
    let names = good("gcc n 3 avg 1\nclang n 3 avg 2\nicc n 3 avg 2").summaries;
    for (text, message) in [
        ("", "does not name two summaries"),
        ("clang 1.4% sluggish", "cannot understand `sluggish`"),
        ("tcc slower", "cannot understand `tcc`"),
        ("3% slower", "does not name two summaries"),
        ("clang slower than clang", "does not name two summaries"),
        ("clang 1% slower by 3 s", "two amounts"),
        ("clang not slower", "cannot understand `not slower`"),
        ("clang", "no word such as faster, slower"),
        ("clang -3% faster", "above 0"),
        ("clang = gcc within 3 s", "equality needs a percentage"),
        ("clang faster and slower", "cannot understand `faster slower`"),
        ("clang faster 0.5x", "1 or more"),
        ("clang half slower than gcc", "cannot understand `half`"),
        ("clang 98% as fast as gcc", "cannot understand `as`"),
        ("clang 1.4% sluggish", "`B 2x slower`"),
        ("clang 1.4% sluggish", "gcc, clang, icc"),
    ] {
        let problems = Claim::read(text, &names, 0).expect_err(text).render(false);
        assert!(problems.contains(message), "{message:?} is missing for {text:?} in\n{problems}");
    }
    // Prose, of which a part could be read as something else.
    let names = good("gcc n 3 avg 1\nnew clang n 3 avg 2").summaries;
    for text in [
        "B takes 3 times more",
        "gcc is as fast as new clang",
        "B significantly slower",
        "not equal",
        "compared with gcc, new clang is 16.8% slower",
        "B is about 20 % faster",
        "A and B take just as long",
        "new clang takes twice as long",
        "B takes about twice as long as A",
        "B is twice as fast as A",
        "B takes half the time",
        "B is half as fast",
        "B takes a third of the time",
        "B is three times as fast",
        "B takes 3x as long",
        "B takes three times the time of A",
        "B needs twice as much as A",
        "not as fast",
        "no significant difference within 3%",
        "differs by 3%",
    ] {
        let problems = Claim::read(text, &names, 0).expect_err(text).render(false);
        assert!(problems.contains("cannot understand") || problems.contains("needs a direction"), "{text}: {problems}");
    }
    let alone = good("gcc n 3 avg 1").summaries;
    assert!(Claim::read("faster", &alone, 0).expect_err("alone").render(false).contains("needs two"));
}
