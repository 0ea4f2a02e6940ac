//! Values in marks and in outputs, and why some are not there.

use super::*;
use crate::metric::Direction;

fn spec(from: ValueSource) -> ValueSpec {
    ValueSpec { name: "v".to_owned(), from, unit: Unit::Seconds, scale: 0.001, better: Direction::Less, exact: false }
}

/// In milliseconds, as the study says.
#[track_caller]
fn check(from: ValueSource, stdout: &[u8], expect: Result<f64, &str>) {
    let (values, missing) = read(&[spec(from.clone())], &ParsedValues::new(), stdout);
    let place = format!("{from:?} in {}", String::from_utf8_lossy(stdout));
    match expect {
        Ok(ms) => assert!(missing.is_empty() && (values["v"] - ms / 1000.0).abs() < 1e-12, "{place}: {missing:?}"),
        Err(part) => {
            assert!(values.is_empty() && missing.len() == 1, "{place}: {values:?}");
            let text = missing[0].to_string();
            assert!(text.starts_with("value `v`: ") && text.contains(part) && !text.contains('\n'), "{place}: {text}");
        }
    }
}

#[test]
fn the_last_match_of_a_regular_expression_counts() {
    for (regex, stdout, expect) in [
        (r"took ([0-9.]+) ms", b"took 1 ms\ntook 2.5 ms\n".as_slice(), Ok(2.5)),
        (r"[0-9]+", b"a 1 b 22 c", Ok(22.0)),
        (r"(?:avg|mean)=(\S+)", b"avg=1e3 x", Ok(1000.0)),
        (r"^total: (.*)$", b"x\r\ntotal:  7\r\nend\r\n", Ok(7.0)),
        (r"n=(.)", b"\xff\xfe n=4 \xff", Ok(4.0)),
        (r"took (.*) ms", b"took 1,234 ms", Err("/took (.*) ms/ found `1,234`, not a number")),
        (r"took (.*) ms", b"took long ms", Err("found `long`, not a number")),
        (r"took (.*) ms", b"took inf ms", Err("found `inf`")),
        (r"(a)?b", b"b", Err("found `b`, not a number")),
        (r"took", b"done\nall good\n\n", Err("matches nothing in the standard output (last line: `all good`)")),
        (r"took", b"", Err("matches nothing in the standard output (empty)")),
        (r"took (", b"took 1", Err("/took (/ is not a regular expression: unclosed group")),
        (r"(.*)", &[b'9'; 400], Err("not a number")),
        (r"([0-9e]+)", b"1e90", Ok(1e90)),
        (r"([0-9e]+)", b"1e308", Err("too large")),
    ] {
        check(ValueSource::Regex(regex.to_owned()), stdout, expect);
    }
}

#[test]
fn a_field_of_json_is_found_by_its_path() {
    let one =
        br#"{"a": {"b": [{"c": 1.5}, {"c": "2.5"}], "d": null}, "n": -3, "big": 18446744073709551615}"#.as_slice();
    let lines = [b"warming up\n{\"n\": 1}\n[not json\n{\"n\": 2}\ndone 7\n42\n".as_slice(), b"\n"].concat();
    for (path, stdout, expect) in [
        ("a.b.0.c", one, Ok(1.5)),
        ("a.b.1.c", one, Ok(2.5)),
        ("n", one, Ok(-3.0)),
        ("big", one, Ok(18_446_744_073_709_551_615.0)),
        ("n", lines.as_slice(), Ok(2.0)),
        ("1", b"[1, 2]\n", Ok(2.0)),
        ("a.x", one, Err("JSON field `a.x`: `a` has no `x`; it has b, d")),
        ("x", one, Err("the JSON has no `x`; it has a, big, n")),
        ("a.b.2", one, Err("`a.b` has no `2`; it is a list of size 2, indexed from 0")),
        ("n.m", one, Err("`n` has no `m`; it is `-3`")),
        ("a.d", one, Err("is `null`, not a number")),
        ("a.b", one, Err("not a number")),
        ("n", b"hello\n", Err("there is no JSON in the standard output (last line: `hello`)")),
        ("n", b"{}", Err("the JSON has no `n`; it is empty")),
        ("n", b"\xff\xff", Err("there is no JSON")),
    ] {
        check(ValueSource::Json(path.to_owned()), stdout, expect);
    }
}

#[test]
fn a_column_of_csv_is_found_by_name_or_number() {
    let table = b"name, ms ,2\na,1,10\n\"b, c\",2,20\nd,3.5,30\n".as_slice();
    let of = |column: &str, take| ValueSource::Csv { column: column.to_owned(), take };
    for (column, take, stdout, expect) in [
        ("ms", Take::Last, table, Ok(3.5)),
        ("ms", Take::Sum, table, Ok(6.5)),
        ("ms", Take::Mean, table, Ok(6.5 / 3.0)),
        ("ms", Take::Max, table, Ok(3.5)),
        // A heading that is a number is a name.
        ("2", Take::Last, table, Ok(30.0)),
        ("3", Take::Max, table, Ok(30.0)),
        ("x", Take::Last, b"x\n-5\n-7\n", Ok(-7.0)),
        ("x", Take::Max, b"x\n-5\n-7\n", Ok(-5.0)),
        ("x", Take::Last, table, Err("there is no CSV column `x`; the heading line has `name, ms, 2`")),
        ("0", Take::Last, table, Err("there is no CSV column `0`")),
        ("1", Take::Last, table, Err("line 2 has `a`, not a number")),
        ("9", Take::Last, table, Err("line 2 ends after column 3: `a,1,10`")),
        ("ms", Take::Last, b"name,ms\n", Err("no rows below the heading line")),
        ("ms", Take::Last, b"", Err("there is no CSV column `ms`")),
        ("x", Take::Last, b"x,y\n,1\n", Err("has ``, not a number")),
        ("x", Take::Last, b"x\n\xff\n", Err("not a number")),
    ] {
        check(of(column, take), stdout, expect);
    }
}

#[test]
fn a_mark_may_bring_its_own_unit() {
    let marked =
        |number: f64, unit: Option<&str>| ParsedValues::from([("v".to_owned(), (number, unit.map(str::to_owned)))]);
    for (marked, expect) in [
        (marked(5.0, None), Ok(0.005)),
        (marked(5.0, Some("s")), Ok(5.0)),
        (marked(5.0, Some("µs")), Ok(0.000_005)),
        (marked(5.0, Some("MB")), Err("the mark is in `MB`, but the study expects seconds")),
        (marked(5.0, Some("parsec")), Err("the mark has the unknown unit `parsec`; available: s, ms")),
        (marked(f64::MAX, Some("h")), Err("too large")),
        (ParsedValues::new(), Err("there is no mark `value v …`; the marks report no values")),
        (ParsedValues::from([("w".to_owned(), (1.0, None))]), Err("the marks report only w")),
    ] {
        let (values, missing) = read(&[spec(ValueSource::Mark)], &marked, b"");
        match expect {
            Ok(seconds) => assert!((values["v"] - seconds).abs() < 1e-12, "{values:?} {missing:?}"),
            Err(part) => assert!(missing[0].to_string().contains(part), "{missing:?}"),
        }
    }
}

#[test]
fn what_is_there_is_kept_though_something_is_missing() {
    let there = ValueSpec { name: "a".to_owned(), ..spec(ValueSource::Regex("[0-9]".to_owned())) };
    let missing = ValueSpec { name: "b".to_owned(), ..spec(ValueSource::Mark) };
    let (values, missing) = read(&[missing, there], &ParsedValues::new(), b"7");
    assert_eq!((values, missing.len()), (Measurements::from([("a".to_owned(), 0.007)]), 1));
}

#[test]
fn places_are_checked_beforehand() {
    let csv = |column: &str| ValueSource::Csv { column: column.to_owned(), take: Take::Last };
    for (source, expect) in [
        (ValueSource::Mark, None),
        (ValueSource::Regex("a(b)".to_owned()), None),
        (ValueSource::Json("a.0.b".to_owned()), None),
        (csv("ms"), None),
        (csv("1"), None),
        (ValueSource::Regex("a(b".to_owned()), Some("/a(b/ is not a regular expression: unclosed group")),
        (ValueSource::Regex(r"\w{9999}{9999}".to_owned()), Some("is not a regular expression")),
        (ValueSource::Json("a..b".to_owned()), Some("a part of the JSON path `a..b` is empty")),
        (ValueSource::Json(String::new()), Some("a part of the JSON path `` is empty")),
        (csv(" "), Some("needs a name or a number")),
        (csv("0"), Some("start at 1")),
    ] {
        let why = check_place(&source);
        assert!(why.as_deref().unwrap_or_default().contains(expect.unwrap_or_default()), "{why:?}");
        assert_eq!((why.is_some(), why.unwrap_or_default().contains('\n')), (expect.is_some(), false));
    }
}

fn check_place(source: &ValueSource) -> Option<String> {
    super::check(source).err()
}
