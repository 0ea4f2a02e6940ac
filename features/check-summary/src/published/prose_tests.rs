//! Figures among prose: whole write-ups with made-up figures, and lines in which a number is read or is an error with its
//! place. A number is never part of a name because nobody could read it.

use super::claim::Claim;
use super::{Published, read};

const KERNELS: &str = include_str!("../../tests/samples/kernel-article.txt");
const DAEMON: &str = include_str!("../../tests/samples/daemon-mail.txt");

fn good(text: &str) -> Published {
    read("file", text).unwrap_or_else(|problems| panic!("{text:?}\n{}", problems.render(false)))
}

fn names(published: &Published) -> Vec<(Option<&str>, &str)> {
    published.summaries.iter().map(|s| (s.quantity.as_deref(), s.name.as_str())).collect()
}

#[test]
fn tables_of_resources_below_long_headings_are_of_systems() {
    let published = good(KERNELS);
    let kernel = |threads: &str, compiler: &str| {
        format!("Building world, {threads}-threaded, on a GENERIC kernel compiled by {compiler}")
    };
    let systems = [("single", "clang 5.2"), ("single", "gcc 4.7.1"), ("multi", "clang 5.2"), ("multi", "gcc 4.7.1")];
    let systems = systems.map(|(threads, compiler)| kernel(threads, compiler));
    for (at, system) in systems.iter().enumerate() {
        assert_eq!(names(&published)[17 * at], (Some("real"), system.as_str()));
        assert_eq!(names(&published)[17 * at + 16], (Some("nivcsw"), system.as_str()));
    }
    assert_eq!(published.summaries.len(), 68);
    assert_eq!((published.lines_unread.len(), published.lines_left_out), (22, 10));
    let claim = |text: &str| Claim::read(text, &published.summaries, 0).map(|claim| (claim.subject, claim.object));
    assert_eq!(claim("sys: D ~4.6% slower than C"), Ok((53, 36)));
    assert_eq!(claim(&format!("real: {} ~1.4% slower than {}", systems[1], systems[0])), Ok((17, 0)));
    // Without headings they are still of systems, and one table is never compared within itself.
    let bare: String = KERNELS.lines().filter(|line| line.contains("  ")).map(|line| format!("{line}\n")).collect();
    assert_eq!(names(&good(&bare))[17], (Some("real"), "B"));
    let one = good("N Min Max Median Avg Stddev\nreal 3 1 3 2 2 1\nuser 3 1 3 2 2 1\n");
    assert_eq!(names(&one), [(Some("real"), "A"), (Some("user"), "A")]);
    // With their units, too.
    let with = |one: &str, two: &str, three: &str| {
        let table = format!("N Min Max Median Avg Stddev\n{one} 3 1 3 2 2 1\n{two} 3 1 3 2 2 1\n{three} 3 1 3 2 2 1\n");
        let published = good(&format!("old kernel\n{table}\nnew kernel\n{table}"));
        let show = |s: &super::Summary| {
            format!("{} {}, {}", s.label().unwrap_or("-"), s.unit.as_deref().unwrap_or("-"), s.name)
        };
        published.summaries.iter().map(show).collect::<Vec<_>>()[2..4].to_owned()
    };
    assert_eq!(with("real (s)", "user (s)", "maxrss (kB)"), ["maxrss kB, old kernel", "real s, new kernel"]);
    assert_eq!(with("real(s)", "user(s)", "maxrss(kB)"), ["maxrss kB, old kernel", "real s, new kernel"]);
    assert_eq!(with("real-time", "user-time", "Max RSS [kB]"), ["Max RSS kB, old kernel", "real-time -, new kernel"]);
    assert_eq!(
        with("Elapsed_Time", "A", "wall clock time"),
        ["wall clock time -, old kernel", "Elapsed_Time -, new kernel"]
    );
    assert_eq!(with("real_s", "user time, s", "maxrss_kb"), ["maxrss_kb -, old kernel", "real_s -, new kernel"]);
    let lines = good("old kernel\nreal avg 3 n 3\nuser avg 2 n 3\n\nnew kernel\nreal avg 3 n 3\nuser avg 2 n 3\n");
    assert_eq!(names(&lines)[2], (Some("real"), "new kernel"));
}

#[test]
fn figures_of_a_mail_are_read_and_its_prose_is_counted() {
    for text in
        [DAEMON.to_owned(), DAEMON.lines().map(|line| format!("> {line}\n")).collect(), DAEMON.replace('\n', "\r\n")]
    {
        let published = good(&text);
        assert_eq!(names(&published)[0], (Some("charge"), "no fix + load"));
        assert_eq!(names(&published)[11], (Some("reserve"), "fix + no load"));
        assert_eq!((published.summaries.len(), published.lines_unread.len()), (12, 14));
    }
}

#[test]
fn a_number_is_read_or_is_an_error_with_its_place() {
    for (text, place) in [
        ("old: 5.2 s (n=10)", "1:6"),
        ("A: 5.2 +- 0.1 n 10", "1:4"),
        ("A: 5.2 ± 0.1 s", "1:1"),
        ("A 0.153* n 3", "1:3"),
        ("A/B: 5 (n 3)", "1:6"),
        ("A=5.2 n=3", "1:3"),
        ("A (5.2 s) n=3", "1:3"),
        ("A 5.2 sd 0.1 n 3", "1:3"),
        ("A n>10 avg 3", "1:5"),
        ("A avg five n 3", "1:3"),
        ("A avg ½ n 3", "1:3"),
        ("old avg <0.153 n 3", "1:9"),
        ("avg ~0.153", "1:1"),
        ("avg < 0.153", "1:1"),
        ("A avg 0.153* n 3", "1:7"),
        ("A avg 0.153† n 3", "1:7"),
        ("A avg 0.153[1] n 3", "1:7"),
        ("A avg 1'234 n 3", "1:7"),
        ("A avg 1,234 n 3", "1:9"),
        ("A avg 1 234 n 3", "1:9"),
        ("A avg 5.2-5.4 n 3", "1:7"),
        ("A avg 5.2±0.1 n 3", "1:7"),
        ("A avg 5.2 ± 0.1 n 3", "1:11"),
        ("A avg 5.2(1) n 3", "1:11"),
        ("A avg 1:02 n 3", "1:9"),
        ("A n 10k avg 3", "1:5"),
        ("A n 10-12 avg 3", "1:5"),
        ("charge avg_t : 0.61*", "1:16"),
        ("charge avg_t : ~0.61", "1:1"),
        ("N Min Max Median Avg Stddev\nx 3 1 3 2 2* 1\n+ 3 1 3 2 2 1", "2:1"),
        ("N Min Max Median Avg Stddev\nx 5.2s 3 1 3 2 2 1", "2:3"),
        ("* B: 5.2 s", "1:1"),
        ("- B: 5.2 s", "1:1"),
        ("x 5.2 s", "1:1"),
        ("B: 5.2 s", "1:1"),
        ("B took 5.2 s", "1:1"),
        ("B 5.2", "1:1"),
        ("The times:\nold 4.24\nnew 4.31", "2:1"),
        ("real\t0m5.2s", "1:1"),
        ("12.34* real 11.20 user 0.9 sys", "1:1"),
        ("5.2 s avg, 5.1 s min, n 3", "1:25"),
    ] {
        is_an_error(text, place);
    }
}

#[test]
fn a_number_before_the_figures_is_no_part_of_the_name() {
    for (text, place) in [
        ("old total 0.153 avg 5 n 3", "1:11"),
        ("old total 3 avg 5 n 3", "1:11"),
        ("old 0.153 0.2 0.3 avg 5 n 3", "1:5"),
        ("old 5.1 5.2 avg 5 n 3", "1:5"),
        ("A 0.153 avg 5 n 3", "1:3"),
        ("A 5.2e-3 avg 5 n 3", "1:3"),
        ("A -0.5 avg 5 n 3", "1:3"),
        ("A p90 5.2 avg 5 n 3", "1:7"),
        ("A real 5.2 avg 5 n 3", "1:8"),
        ("A cv 3 avg 5 n 3", "1:6"),
        ("A [0.1 0.2] avg 5 n 3", "1:3"),
        ("B avg 3 n 3\nold: 5.2 s on average", "2:1"),
        ("B avg 3 n 3\nold: roughly 5.2 seconds, 3 runs", "2:1"),
        ("B avg 3 n 3\nold: 3 s total", "2:1"),
        ("fix + load\n(2 runs)\ncharge avg_t : 0.4", "2:1"),
        ("name,n,avg\nA,3,5\nc;10;7;0.1", "3:1"),
        ("name,n,avg\nA,3,5\nc,10 runs", "3:1"),
        ("name,n,avg\nA,3,5\nc,failed", "3:1"),
    ] {
        is_an_error(text, place);
    }
}

/// Alone, and above and below what can be read.
fn is_an_error(text: &str, place: &str) {
    let number = |line: usize| format!("file:{}:{}", line + place[..1].parse::<usize>().unwrap(), &place[2..]);
    for (text, line) in
        [(text.to_owned(), 0), (format!("{text}\n\nC avg 3 n 3\n"), 0), (format!("C avg 3 n 3\n\n{text}\n"), 2)]
    {
        let problems = read("file", &text).map(|published| format!("{:?}", names(&published)));
        let problems = problems.map_err(|problems| problems.render(false)).expect_err(&text);
        assert!(
            problems.contains(&number(line)) || (line == 0 && problems.contains("the input has no figures")),
            "{text:?}: {problems}"
        );
    }
}

#[test]
fn columns_of_other_numbers_are_named_and_are_no_names() {
    let published = good("name,n,avg,err,part\nA,3,5.2,±0.1,100%\nB,3,5.1,0.2 s,98%");
    assert_eq!(names(&published), [(None, "A"), (None, "B")]);
    assert_eq!(published.columns_unread, ["err", "part"]);
    let published = good("name,p99,total,n,avg\nA,0.153,7,3,5\nA,0.154,8,3,6");
    assert_eq!((names(&published)[1].1, published.columns_unread.len()), ("A (2)", 2));
    let published = good("name,n,avg,std dev,std error\nA,3,5,null,0.1\nB,3,6,0.2,None\n\nOf them, none failed.");
    assert_eq!(published.summaries[1].sd.as_ref().map(|sd| sd.value), Some(0.2));
    assert_eq!(names(&published), [(None, "A"), (None, "B")]);
    assert_eq!(published.columns_unread, ["std error"]);
}

#[test]
fn numbers_of_names_and_of_sentences_are_no_figures() {
    for (text, name) in [
        ("gcc 4.2 avg 5 n 3", "gcc 4.2"),
        ("gcc 4.2 -O2: min 5 n 3", "gcc 4.2 -O2"),
        ("100 MB file avg 3 n 4", "100 MB file"),
        ("timeout 5 s: avg 3 n 4", "timeout 5 s"),
        ("gcc 4.2\navg 5 n 3", "gcc 4.2"),
        ("it avg 5.2 n 3", "it"),
        ("it was avg 5 n 3", "it was"),
        ("it is old: avg 5.2", "it is old"),
        ("it avg 5.2", "it"),
        ("We built it 3 times, on 2 processors.\n\nA avg 5 n 3", "A"),
        ("A avg 5 n 3\n\nOf all runs the mean 5.2 was some 3 % below the others.", "A"),
        ("Mon May 31 07:52:57 MDT 2010\n\nA avg 5 n 3\n\nSize: 13149 bytes\nOS: FreeBSD 10.0", "A"),
    ] {
        assert_eq!(good(text).summaries[0].name, name, "{text}");
    }
}

/// A mail with figures, and with one more line of prose: alone, at the end of a paragraph, and right below figures.
#[test]
fn prose_is_skipped_wherever_it_stands() {
    let figures = "old avg 5.2 n 3\nnew avg 5.1 n 3\n";
    for line in [
        "load average: 0.05, 0.10, 0.20",
        " 10:15am  up 3 days, 2 users, load averages: 0.05, 0.10, 0.20",
        "$ ./stress.pl 1 100",
        "2010-05-31",
        "Date: 2010-05-31",
        "31.05.2010",
        "Mon, 31 May 2010 07:52:57 -0600",
        "% ./stress.pl 1 100",
        "See section 5.2",
        "The real time dropped by 3%.",
        "Phone: 030 / 123-456",
        "5/31/2010",
        "@@ -1,3 +1,4 @@",
        "+1",
        "Tel: +49 30 1",
        "2. Then 3 runs.",
        "1) Build it 5 times",
        "The build took 3 min 5 s.",
        "The mean was 5.2 and the sd 0.1",
        "I think the avg was 5.2 here",
        "We saw max 4 processes",
        "(2 rows)",
        "It ran with max 4 processes.",
    ] {
        let sentence = "We then measured the whole of it again, to be sure of what we had seen,";
        for text in [
            format!("{line}\n\n{figures}"),
            format!("{figures}\n{line}\n\nbye\n"),
            format!("{sentence}\n{line}\n\n{figures}"),
            format!("{figures}\n{sentence}\n{line}\nand all was well with the world again.\n"),
            format!("{figures}{line}\n"),
        ] {
            let published = good(&text);
            assert_eq!(names(&published), [(None, "old"), (None, "new")], "{text}");
            let at = text.lines().position(|known| known == line).unwrap() + 1;
            assert!(published.lines_unread.contains(&at) || published.lines_left_out == 1, "{text} {published:?}");
        }
    }
    for line in ["with max 4 processes", "max 4 processes", "at an avg: 5.2", "avg: 5.2"] {
        let text = format!(
            "{figures}\nWe then measured the whole of it again, to be sure of what we had seen,\n{line}\nand all was well.\n"
        );
        let published = good(&text);
        assert_eq!((names(&published).len(), published.lines_unread.as_slice()), (2, &[4, 5, 6][..]), "{text}");
    }
    let remark = "# fix\n(idle)\ncharge avg_t : 0.4\n# no fix\n(idle, too)\ncharge avg_t : 0.5\n";
    assert_eq!(names(&good(remark)), [(Some("charge"), "fix"), (Some("charge"), "no fix")]);
    // Alone it may be anybody's.
    for line in ["max 4 processes", "avg: 5.2"] {
        let problems = read("file", &format!("{figures}\n{line}\n")).expect_err(line).render(false);
        assert!(problems.contains("file:4:1"), "{line}: {problems}");
    }
}

#[test]
fn dashes_and_quotes_of_names_stay() {
    for (text, name) in [
        ("-O2 avg 5 n 3", "-O2"),
        ("--fast: avg 5 n 3", "--fast"),
        ("-O2 -pipe\navg 5 n 3", "-O2 -pipe"),
        ("--- old ---\navg 5 n 3", "old"),
        ("---old---\navg 5 n 3", "old"),
        ("- old avg 5 n 3", "old"),
        ("old - avg 5 n 3", "old"),
        ("name,n,avg\n\"new \"\"x\"\"\",3,5", "new \"x\""),
        ("name,n,avg\n\"a,\"\"b\"\"\",3,5", "a,\"b\""),
    ] {
        assert_eq!(good(text).summaries[0].name, name, "{text}");
    }
}

fn shown(text: &str) -> Vec<String> {
    let show = |s: &super::Summary| {
        let figure = |f: &Option<super::Figure>| f.as_ref().map_or("-".to_owned(), |f| f.text.clone());
        let figures = [&s.min, &s.max, &s.median, &s.mean, &s.sd].map(figure).join(" ");
        let n = s.n.map_or("-".to_owned(), |n| n.to_string());
        format!("{} | {} {figures} {}", s.name, n, s.unit.as_deref().unwrap_or("-"))
    };
    good(text).summaries.iter().map(show).collect()
}

#[test]
fn tables_of_other_tools_are_read() {
    let hyperfine = "| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |\n|:---|---:|---:|---:|---:|\n\
                     | `sleep 0.1` | 101.5 ± 0.3 | 101.0 | 102.5 | 1.00 |\n\
                     | `sleep 0.2` | 203.1 ± 0.4 | 202.5 | 204.0 | 2.00 ± 0.01 |\n| `once` | 3.0 | 3.0 | 3.0 | 1.1 |\n";
    let expect = ["sleep 0.1 | - 101.0 102.5 - 101.5 0.3 ms", "sleep 0.2 | - 202.5 204.0 - 203.1 0.4 ms"];
    assert_eq!(shown(hyperfine)[..2], expect);
    assert_eq!(good(hyperfine).columns_unread, ["Relative"]);
    let aligned = "compiler N Avg (s) Stddev (s)\nold 10 5.2 0.1\nnew one 10 5.0 0.1\n";
    assert_eq!(shown(aligned), ["old | 10 - - - 5.2 0.1 s", "new one | 10 - - - 5.0 0.1 s"]);
    let piped = hyperfine.replace("sleep 0.1", "echo a \\| sort \\|\\| b");
    assert_eq!(shown(&piped)[0], "echo a | sort || b | - 101.0 102.5 - 101.5 0.3 ms");
    let newer = "| Command | Mean Wall Time [ms] | Change | Factor |\n|:---|---:|---:|:---|\n\
                 | `a 1` | 17.0 ± 1.1 |  |  |\n| `a 2` | 25.7 ± 3.6 | +50.6% | (1.5x slower) |\n";
    assert_eq!(shown(newer), ["a 1 | - - - - 17.0 1.1 ms", "a 2 | - - - - 25.7 3.6 ms"]);
    let jmh = "# Run complete. Total time: 00:05:02\n\n\
               Benchmark                (size)  Mode  Cnt     Score    Error  Units\n\
               MyBench.foo                 100  avgt   25   123.456 ±  1.234  ns/op\n\
               MyBench.bar                 100  avgt   25     150.1 ±    2.5  ns/op\n\
               MyBench.once                100    ss          5.123           ms/op\n\
               MyBench.foo:·gc             100  avgt   25       ≈ 0          counts\n";
    // By hand: the quantile of t with 24 degrees of freedom at 0.9995 is 3.7454; 1.234 · 5 / 3.7454 = 1.6474.
    let expect = [
        "MyBench.foo (size)=100 | 25 - - - 123.456 1.6474 ns/op",
        "MyBench.bar (size)=100 | 25 - - - 150.1 3.34 ns/op",
    ];
    assert_eq!(shown(jmh)[..2], expect);
    assert_eq!((shown(jmh).len(), good(jmh).lines_unread.len()), (3, 2));
    let comma = read("file", &jmh.replace("123.456", "123,456")).expect_err("comma").render(false);
    assert!(comma.contains("file:4:46") && comma.contains("`123,456` is not a number"), "{comma}");
    let jmh = "[\n  {\n    \"jmhVersion\": \"1.37\",\n    \"primaryMetric\": {}\n  }\n]\n";
    let jmh = read("file", jmh).expect_err("JMH's JSON").render(false);
    assert!(jmh.contains("this looks like JSON") && jmh.contains("`bakeoff stat`"), "{jmh}");
    let list = read("file", "[1, 2.5]\n").expect_err("a list").render(false);
    assert!(list.contains("this looks like JSON") && list.contains("`bakeoff stat`"), "{list}");
    let wiki = "{| class=\"wikitable\"\n! name !! n !! avg\n|-\n| old || 3 || 5.2\n|}\n";
    let wiki = read("file", wiki).expect_err("a wiki's table").render(false);
    assert!(wiki.contains("this looks like a wiki table") && !wiki.contains("JSON"), "{wiki}");
    assert_eq!(shown("{old} avg 5 n 3\n[new] avg 6 n 3")[1], "[new] | 3 - - - 6 - -");
    let other = read("file", "{\"a\": 1}").expect_err("other").render(false);
    assert!(other.contains("this looks like JSON") && other.contains("`bakeoff stat`"), "{other}");
}
