//! A gate as JUnit's XML, as pipelines show it: a test case for each variant on each workload. What fails is a failure, what is
//! broken an error, what is undecided is skipped. Bytes out; it writes no file.

use crate::decision::{Gate, Outcome};
use crate::page;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::collections::BTreeSet;
use std::io;

/// The whole file.
pub(crate) fn junit(gate: &Gate) -> io::Result<Vec<u8>> {
    let number = |outcome: Outcome| gate.with(outcome).count();
    let counts = [gate.cases.len(), number(Outcome::Fails), number(Outcome::Broken), number(Outcome::Undecided)];
    let several_conditions = gate.cases.iter().map(|case| &case.condition).collect::<BTreeSet<_>>().len() > 1;
    document(&text(&gate.study), counts, |writer| {
        for case in &gate.cases {
            let place = if several_conditions { format!(" ({})", case.condition) } else { String::new() };
            let class = text(&format!("{}.{}{place}", gate.study, case.workload));
            let why = text(&page::of_case(gate, case));
            test_case(writer, [&class, &text(&case.variant)], case.decision.outcome(), &why)?;
        }
        let all = text(&page::text(gate));
        writer.create_element("system-out").write_text_content(BytesText::new(&all))?;
        Ok(())
    })
}

/// The file while no gate has decided yet: one test case, which is an error.
pub(crate) fn not_reached() -> io::Result<Vec<u8>> {
    let why = "Bakeoff ended before the gate could decide; its output has the reason.";
    document("gate", [1, 0, 1, 0], |writer| test_case(writer, ["gate", "not reached"], Outcome::Broken, why))
}

/// A file with one suite; `counts` are tests, failures, errors and those skipped.
fn document(
    study: &str,
    counts: [usize; 4],
    cases: impl FnOnce(&mut Writer<Vec<u8>>) -> io::Result<()>,
) -> io::Result<Vec<u8>> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let counts = counts.map(|count| count.to_string());
    let counts = || ["tests", "failures", "errors", "skipped"].into_iter().zip(counts.iter().map(String::as_str));
    let suites = writer.create_element("testsuites").with_attribute(("name", "bakeoff gate")).with_attributes(counts());
    suites.write_inner_content(|writer| {
        let suite = writer.create_element("testsuite").with_attribute(("name", study)).with_attributes(counts());
        suite.write_inner_content(cases)?;
        Ok(())
    })?;
    let mut bytes = writer.into_inner();
    bytes.push(b'\n');
    Ok(bytes)
}

/// A test case, by its class and name.
fn test_case(writer: &mut Writer<Vec<u8>>, [class, name]: [&str; 2], outcome: Outcome, why: &str) -> io::Result<()> {
    let test = writer.create_element("testcase").with_attributes([("classname", class), ("name", name)]);
    let (element, is_text) = match outcome {
        Outcome::Passes => ("system-out", true),
        Outcome::Fails => ("failure", false),
        Outcome::Broken => ("error", false),
        Outcome::Undecided => ("skipped", false),
    };
    test.write_inner_content(|writer| {
        let element = writer.create_element(element);
        match is_text {
            true => element.write_text_content(BytesText::new(why))?,
            false => element.with_attribute(("message", why)).write_empty()?,
        };
        Ok(())
    })?;
    Ok(())
}

/// What XML 1.0 can hold, and no terminal obeys: names are those of others.
fn text(text: &str) -> String {
    bakeoff_model::plain::clean(text)
        .chars()
        .map(|c| if matches!(c, '\u{fffe}' | '\u{ffff}') { '?' } else { c })
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;
    use crate::simulated::{at, executed};
    use quick_xml::{Reader, XmlVersion};
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    /// Every element with its attributes and text, as a reader of XML sees them.
    fn elements(xml: &[u8]) -> Vec<(String, Vec<String>)> {
        let mut reader = Reader::from_reader(xml);
        let mut found = vec![];
        loop {
            match reader.read_event().unwrap() {
                Event::Start(element) | Event::Empty(element) => {
                    let name = element.name().as_ref().to_owned();
                    let value = |attribute: Result<quick_xml::events::attributes::Attribute<'_>, _>| {
                        attribute.unwrap().normalized_value(XmlVersion::Implicit1_0).unwrap().into_owned()
                    };
                    found.push((name, element.attributes().map(value).collect()));
                }
                Event::Eof => return found,
                _ => {}
            }
        }
    }

    #[test]
    fn each_outcome_has_its_element() {
        let ratio = |variant: &str, workload: &str| match (variant, workload) {
            ("c", "loop") => 1.1,
            ("c", _) => 1.02,
            _ => 1.0,
        };
        let mut record = executed(&["loop", "sort"], &["baseline", "b", "c"], ratio);
        let trial = record.trials.iter_mut().find(|trial| trial.variant == "b" && trial.workload == "sort").unwrap();
        trial.outcome =
            bakeoff_model::record::Outcome::Failed(bakeoff_model::record::Failure::BadMarks { why: "x".to_owned() });
        let found = elements(&junit(&at(&record, 0.02).unwrap()).unwrap());
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            [
                "testsuites",
                "testsuite",
                "testcase",
                "system-out",
                "testcase",
                "failure",
                "testcase",
                "error",
                "testcase",
                "skipped",
                "system-out"
            ]
        );
        assert_eq!(found[1].1, ["test", "4", "1", "1", "1"]);
        assert_eq!(found[4].1, ["test.loop", "c"]);
        assert!(found[5].1[0].contains("slower than the baseline"), "{found:?}");
        assert!(found[7].1[0].contains("1 of 12 trials of b on sort failed"), "{found:?}");
    }

    /// Whatever a name holds, every reader gets it back: our own, and Python's, which is expat.
    #[test]
    fn hostile_names_do_no_harm() {
        let evil = "\"><failure/>&lt;]]>'\u{1b}[31m\u{0}\u{fffe}é";
        let record = executed(&[evil], &["baseline", evil], |_, _| 1.0);
        let xml = junit(&at(&record, 0.02).unwrap()).unwrap();
        let found = elements(&xml);
        assert!(!found.iter().any(|(name, _)| name == "failure"), "{found:?}");
        assert_eq!(found[2].1[1], text(evil));
        assert!(text(evil).starts_with("\"><failure/>&lt;]]>'"));
        let parse = "import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.stdin.buffer)";
        let reader = Command::new("python3").args(["-c", parse]).stdin(Stdio::piped()).spawn();
        let Ok(mut reader) = reader else { return println!("skipped: python3 is not installed") };
        reader.stdin.take().unwrap().write_all(&xml).unwrap();
        assert!(reader.wait().unwrap().success(), "{}", String::from_utf8_lossy(&xml));
    }
}
