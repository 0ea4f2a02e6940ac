//! The forms in which whole write-ups print their figures, each with made-up ones: ministat's tables below
//! several headings, single figures below headings, CSV with titles and words, and the lists of `time -l`.

use super::claim::Claim;
use super::{Published, Stated, read};

const SECTIONS: &str = "\
Times of two kernels, three builds of everything each.

real
x gcc.txt
+ clang.txt
* clang-lto.txt
+--------------------------------------------------------------------------+
|  x   x    x                   +    +   *  +                            * |
||____A____|                  |_____A_____|                                |
+--------------------------------------------------------------------------+
    N           Min           Max        Median           Avg        Stddev
x   3        100.11         100.9         100.4        100.47    0.39962482
+   3        101.62         102.4         102.1        102.04    0.39344631
Difference at 95.0% confidence
\t1.57 +/- 0.898835
\t1.56266% +/- 0.894630%
\t(Student's t, pooled s = 0.396548)
*   3         101.9         103.3         102.6         102.6           0.7
Difference at 95.0% confidence
\t2.13 +/- 1.29186

user:
x gcc.txt
+ clang.txt
    N           Min           Max        Median           Avg        Stddev
x   3          80.1          80.9          80.4     80.466667     0.4041452
+   3          80.2          80.8          80.3     80.433333     0.3214550
No difference proven at 95.0% confidence
";

const CHARGES: &str = "\
=== modules loaded after the fork ===
charge avg_t : 0.61
charge min_t : 0.40
charge max_t : 1.92
quote avg_t : 0.153
quote max_t : 0.31

=== preloaded ===
charge avg_t : 0.44
charge min_t : 0.31
charge max_t : 1.20
quote avg_t : 0.114
quote max_t : 0.25
";

const CSV: &str = "\
Scan times of Perl's builds
178 messages, 20 repeats
compiler,version,flags,n,min (s),avg (s),stddev (s),year
gcc,4.2,-O2,20,11.8,12.31,0.21,2013
gcc,4.6,-O2,20,11.5,12.02,0.25,2013
\"clang, own\",3.2,\"-O2 -g\",20,12.0,12.52,0.19,2013
";

const LISTS: &str = "\
kernel by gcc:
       12.34 real        11.20 user         0.90 sys
    123456  maximum resident set size
        42  voluntary context switches

kernel by clang:
       12.10 real        11.21 user         0.80 sys
    123460  maximum resident set size
        40  voluntary context switches
";

fn good(text: &str) -> Published {
    read("file", text).unwrap_or_else(|problems| panic!("{}", problems.render(false)))
}

fn shown(published: &Published) -> Vec<String> {
    let line = |s: &super::Summary| {
        let figure = |f: &Option<super::Figure>| f.as_ref().map_or("-".to_owned(), |f| f.text.clone());
        let figures = [&s.min, &s.max, &s.median, &s.mean, &s.sd].map(figure).join(" ");
        let n = s.n.map_or("-".to_owned(), |n| n.to_string());
        let unit = s.unit.as_deref().unwrap_or("-");
        format!("{} | {} | {unit} | {n} {figures}", s.quantity.as_deref().unwrap_or("-"), s.name)
    };
    published.summaries.iter().map(line).collect()
}

#[test]
fn sections_of_ministat_are_families() {
    let expect = [
        "real | gcc.txt | - | 3 100.11 100.9 100.4 100.47 0.39962482",
        "real | clang.txt | - | 3 101.62 102.4 102.1 102.04 0.39344631",
        "real | clang-lto.txt | - | 3 101.9 103.3 102.6 102.6 0.7",
        "user | gcc.txt | - | 3 80.1 80.9 80.4 80.466667 0.4041452",
        "user | clang.txt | - | 3 80.2 80.8 80.3 80.433333 0.3214550",
    ];
    let published = good(SECTIONS);
    assert_eq!(shown(&published), expect);
    assert_eq!(published.lines_unread, [1]);
    assert_eq!(published.lines_left_out, 4);
    // One line of titles for all, and names of the sections below it.
    let lines = SECTIONS.lines();
    let mut titles = 0;
    let once: Vec<&str> =
        lines.filter(|line| !line.contains("Stddev") || std::mem::replace(&mut titles, 1) == 0).collect();
    assert_eq!(shown(&good(&once.join("\n"))), expect);
    let first = SECTIONS.find("real").unwrap();
    let above = "    N           Min           Max        Median           Avg        Stddev";
    let below = format!("{above}\n{}", SECTIONS[first..].replace(&format!("{above}\n"), ""));
    assert_eq!(shown(&good(&below)), expect);
    // Without headings each table is still a family of its own.
    let bare = good(&SECTIONS.replace("user:\n", "").replace("real\n", ""));
    assert_eq!(bare.summaries[0].quantity.as_deref(), Some("table 1"), "{:?}", shown(&bare));
    assert_eq!(bare.summaries[4].quantity.as_deref(), Some("table 2"));
}

#[test]
fn a_count_above_a_table_is_none_of_its_rows() {
    let text = "n 120\n    N           Min           Max        Median           Avg        Stddev\n\
                x  10  99.1  101.2  100.1  100.2  0.7\n+  10  101.1  103.2  102.1  102.2  0.7\n\
                Difference at 95.0% confidence\n\t2 +/- 0.657\n";
    let published = good(text);
    let stated = &published.stated[0];
    assert_eq!((stated.subject, stated.object, published.summaries.len()), (1, 0, 2));
    assert_eq!(published.summaries[1].mean.as_ref().unwrap().value, 102.2);
}

#[test]
fn what_ministat_says_of_a_difference_is_read() {
    let published = good(SECTIONS);
    let say = |stated: &Stated| {
        let both = |pair: &Option<[super::Figure; 2]>| pair.as_ref().map(|[a, b]| format!("{} ± {}", a.text, b.text));
        let difference = stated.difference.as_ref();
        let absolute = difference.and_then(|d| both(&d.absolute)).unwrap_or_default();
        let percent = difference.and_then(|d| both(&d.percent)).unwrap_or_default();
        let pooled = difference.and_then(|d| d.pooled_sd.as_ref()).map_or(String::new(), |s| s.text.clone());
        let Stated { subject, object, confidence, .. } = stated;
        format!("{subject}/{object} at {}: {absolute}; {percent}; {pooled}", confidence.text)
    };
    assert_eq!(
        published.stated.iter().map(say).collect::<Vec<_>>(),
        [
            "1/0 at 95.0: 1.57 ± 0.898835; 1.56266 ± 0.894630; 0.396548",
            "2/0 at 95.0: 2.13 ± 1.29186; ; ",
            "4/3 at 95.0: ; ; ",
        ]
    );
    assert!(published.stated[2].difference.is_none());
    let table = "    N Min Max Median Avg Stddev\nx 3 1 3 2 2 1\n+ 3 1 3 2 2 1\n";
    for (text, message) in [
        ("Difference at 95.0% confidence\n".to_owned() + table, "file:1:1"),
        (table.to_owned() + "Difference at some confidence\n", "this line has no confidence level"),
        (table.to_owned() + "Difference at 95% confidence\n\tmuch +/- 3\n", "expected a difference and its half-width"),
        (
            table.to_owned() + "Difference at 95% confidence\n\t(Student's t, pooled s = few)\n",
            "pooled s is not a number",
        ),
        (table.to_owned() + "\t0.3 +/- 0.1\n", "a line `Difference at …` must come before"),
        ("n avg\nA 3 1\nNo difference proven at 95.0% confidence\n".to_owned(), "this line needs two rows"),
    ] {
        let problems = read("file", &text).expect_err(&text).render(false);
        assert!(problems.contains(message) && problems.contains("file:"), "{message:?} is missing in\n{problems}");
    }
}

#[test]
fn single_figures_below_headings_are_of_systems() {
    let published = good(CHARGES);
    let expect = [
        "charge | modules loaded after the fork | - | - 0.40 1.92 - 0.61 -",
        "quote | modules loaded after the fork | - | - - 0.31 - 0.153 -",
        "charge | preloaded | - | - 0.31 1.20 - 0.44 -",
        "quote | preloaded | - | - - 0.25 - 0.114 -",
    ];
    assert_eq!(shown(&published), expect);
    assert_eq!((published.lines_unread.len(), published.lines_left_out), (0, 0));
    // Other ways of the same.
    for (from, to) in [(" avg_t :", "_avg_t ="), ("avg_t", "avg_time"), (" : ", ":\t"), ("avg_t ", "Average ")] {
        assert_eq!(shown(&good(&CHARGES.replace(from, to))), expect, "{to}");
    }
    let with_n =
        CHARGES.replace("quote max_t", "quote count : 75\nquote max_t").replace("===\ncharge", "===\nn : 90\ncharge");
    let with_n = good(&with_n);
    assert_eq!(with_n.summaries.iter().map(|s| s.n).collect::<Vec<_>>(), [Some(90), Some(75), Some(90), Some(75)]);
    // Without headings, and below one, the labels are the systems.
    for heading in ["", "Averages:\n"] {
        let plain = format!("{heading}before avg : 0.61\nbefore min : 0.4\nafter avg : 0.44\n");
        assert_eq!(shown(&good(&plain)), ["- | before | - | - 0.4 - - 0.61 -", "- | after | - | - - - - 0.44 -"]);
    }
    let twice = CHARGES.replace("=== preloaded ===\n", "");
    let problems = read("file", &twice).expect_err("twice").render(false);
    assert!(problems.contains("file:8:1") && problems.contains("`charge` appears twice"), "{problems}");
}

#[test]
fn lines_of_several_figures_below_headings() {
    let both = "A avg 2 n 3\nB avg 3 n 3\n";
    let idle = shown(&good(&format!("idle\n{both}\nloaded:\n{both}")));
    assert_eq!(idle[0], "idle | A | - | 3 - - - 2 -");
    assert_eq!(idle[3], "loaded | B | - | 3 - - - 3 -");
    let tests = "Timings, 5 runs each.\nTest: quote\nbefore: mean 2 s, sd 0.1 s\nafter: mean 3 s, sd 0.1 s\n";
    let tests = good(&format!("{tests}\n{}", tests.replace("quote", "charge")));
    assert_eq!(shown(&tests)[3], "Test: charge | after | s | - - - - 3 0.1");
    assert_eq!(tests.lines_unread, [1, 6]);
    // One line each: the headings are the names.
    assert_eq!(shown(&good("# old\navg 2 n 3\n# new\navg 3 n 3\n"))[1], "- | new | - | 3 - - - 3 -");
    assert_eq!(shown(&good("old\nquote avg 2 n 3\nnew\nquote avg 3 n 3\n"))[1], "quote | new | - | 3 - - - 3 -");
    // A remark between two lines is no family.
    let remark = good("A avg 2 n 3\nand then\nB avg 3 n 3\n");
    assert_eq!((shown(&remark)[1].as_str(), remark.lines_unread.as_slice()), ("- | B | - | 3 - - - 3 -", &[2][..]));
}

#[test]
fn csv_has_titles_above_and_words_among_the_numbers() {
    let published = good(CSV);
    assert_eq!(
        shown(&published),
        [
            "- | gcc -O2 4.2 | s | 20 11.8 - - 12.31 0.21",
            "- | gcc -O2 4.6 | s | 20 11.5 - - 12.02 0.25",
            "- | clang, own -O2 -g 3.2 | s | 20 12.0 - - 12.52 0.19",
        ]
    );
    assert_eq!(published.lines_unread, [1, 2]);
    assert_eq!(published.columns_unread, ["year"]);
    // Titles may have numbers; a value that nobody could read is another thing.
    let titled = good(&CSV.replace("178 messages", "Perl 5.14, Pentium 4, 178 messages\nFive of them are large."));
    assert_eq!((titled.summaries.len(), titled.lines_unread.as_slice()), (3, &[1, 2, 3][..]));
    let below = read("file", &format!("{CSV}speed 4.2\n")).expect_err("below").render(false);
    assert!(below.contains("file:7:1") && below.contains("cannot read any figures in this line"), "{below}");
    // Semicolons and tabs; columns of several quantities; a column that tells the quantity or the unit.
    assert_eq!(shown(&good(&CSV.replace("clang, own", "clang").replace(',', ";"))).len(), 3);
    assert_eq!(
        shown(&good("build;n;scan avg (s);scan sd (s);peak avg (kB)\nold;3;2.0;0.1;9000\nnew;3;1.9;0.1;9100\n")),
        [
            "scan | old | s | 3 - - - 2.0 0.1",
            "peak | old | kB | 3 - - - 9000 -",
            "scan | new | s | 3 - - - 1.9 0.1",
            "peak | new | kB | 3 - - - 9100 -",
        ]
    );
    assert_eq!(
        shown(&good("build,phase,unit,n,avg\nold,load,s,3,2\nold,peak,kB,3,90\nnew,load,s,3,1\nnew,peak,kB,3,91\n")),
        [
            "load | old | s | 3 - - - 2 -",
            "peak | old | kB | 3 - - - 90 -",
            "load | new | s | 3 - - - 1 -",
            "peak | new | kB | 3 - - - 91 -",
        ]
    );
}

#[test]
fn lists_have_the_value_before_its_name() {
    let published = good(LISTS);
    let lines = shown(&published);
    assert_eq!(lines.len(), 10);
    assert_eq!(lines[0], "real | kernel by gcc | s | 1 - - - 12.34 -");
    assert_eq!(lines[3], "maximum resident set size | kernel by gcc | - | 1 - - - 123456 -");
    assert_eq!(lines[9], "voluntary context switches | kernel by clang | - | 1 - - - 40 -");
    // Three runs of one system.
    let runs = format!("{LISTS}\n{}\n{LISTS}", LISTS.replace("12.34", "12.64").replace("12.10", "12.40"));
    assert_eq!(shown(&good(&runs))[0], "real | kernel by gcc | s | 3 12.34 12.64 - 12.440 0.173");
    let headless = LISTS.replace("kernel by gcc:\n", "").replace("kernel by clang:\n", "");
    let problems = read("file", &headless).expect_err("headless").render(false);
    assert!(problems.contains("a second `real`") && problems.contains("file:5:8"), "{problems}");
    let unknown = LISTS.replace("voluntary context switches", "pages of something");
    assert_eq!(shown(&good(&unknown))[4], "pages of something | kernel by gcc | - | 1 - - - 42 -");
    let problems = read("file", "A n 3 avg 1\n5 apples and 3 pears\n7 7 apples\n").expect_err("apples").render(false);
    assert!(problems.contains("file:3:1"), "{problems}");
}

#[test]
fn claims_name_the_quantity_where_there_are_several() {
    let read_claim = |text: &str, claim: &str| {
        let summaries = good(text).summaries;
        Claim::read(claim, &summaries, 0).map(|c| (c.subject, c.object)).map_err(|problems| problems.render(false))
    };
    for (text, claim, expect) in [
        (CHARGES, "charge: preloaded 27.9% faster", (2, 0)),
        (CHARGES, "quote is 25% faster when preloaded", (3, 1)),
        (CHARGES, "preloaded is faster, charge", (2, 0)),
        (SECTIONS, "user: equally fast", (4, 3)),
        (SECTIONS, "real: + is 1.6% slower than x", (1, 0)),
        (SECTIONS, "real: than x, * is slower", (2, 0)),
        (SECTIONS, "clang-lto.txt is slower", (2, 0)),
        (LISTS, "Maximum Resident Set Size of kernel by clang is higher", (8, 3)),
        (LISTS, "kernel by clang slower by 3 kB, real", (5, 0)),
        (CSV, "C 1.7% slower than A", (2, 0)),
    ] {
        let claim_text = claim.replace("when ", "");
        assert_eq!(read_claim(text, &claim_text), Ok(expect), "{claim}");
    }
    for (text, claim, message) in [
        (CHARGES, "preloaded is faster", "the claim could be about several quantities"),
        (CHARGES, "preloaded is faster", "name a quantity first, such as `charge: …`; available: charge, quote"),
        (CHARGES, "charge and quote are equal", "the claim does not name two summaries"),
        (SECTIONS, "real: 3% slower", "the claim does not name two summaries"),
        ("A avg 3 s n 3\nB avg 3 kB n 3", "B slower", "two summaries of the same quantity and unit"),
    ] {
        let problems = read_claim(text, claim).expect_err(claim);
        assert!(problems.contains(message), "{message:?} is missing for {claim:?} in\n{problems}");
    }
}
