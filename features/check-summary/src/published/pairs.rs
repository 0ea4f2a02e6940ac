//! Lines of figures with their names: `A avg 0.203 min 0.187 n 75`, and one figure a line, `charge avg_t : 0.61`.

use super::reader::{Kind, Reader, nothing, problem};
use super::words::{
    Column, SIGNS, Word, column, is_timed, is_value, looks_like_a_unit, number_in, pieces, shape, split_unit, title,
    words,
};
use bakeoff_model::problem::Problem;
use std::ops::Range;

/// Figures of a line, and the units that stood at them.
#[derive(Default)]
struct Pairs<'a> {
    values: Vec<(Column, Word<'a>)>,
    units: Vec<(String, Word<'a>)>,
}

impl Reader {
    /// A line of words with numbers; false if it is none.
    pub(super) fn pairs(&mut self, number: usize, line: &str, start: usize) -> bool {
        let found = words(line, start, |c| c.is_whitespace() || ",;=:()".contains(c));
        let known = |word: &str| column(word).filter(|(column, _)| column.is_figure());
        let stands_for_one = |word: &str| is_value(split_unit(word).0) || is_value(word);
        let is_pair = |pair: &[Word<'_>]| known(pair[0].text).is_some() && stands_for_one(pair[1].text);
        let Some(first) = found.windows(2).position(is_pair) else { return self.joined(number, line, &found, start) };
        let mut pairs = Pairs::default();
        if let Err(problem) = take(&found[first..], &mut pairs) {
            // `20 repeats each, n 20 of them` tells no figure: a remark.
            let is_count = matches!(pairs.values.as_slice(), [(Column::N, _)]) && found.len() > first + 3;
            if is_count || (shape(line).is_sentence && pairs.values.len() < 2) {
                return false;
            }
            self.problems.push(problem);
            return true;
        }
        let label = line[..found[first].start - start].trim_matches([' ', '\t', ':', ',', ';', '=', '(', '-']);
        let closed = line[..found[first].start - start].trim_end().ends_with(':');
        if let Some(stray) = stray(label, start + line.find(label).unwrap_or(0), &pairs, closed) {
            let remedy =
                "write the name of the figure before it, such as `avg` or `sd`; a colon ends a name that has numbers";
            self.problem(stray.span(), format!("what is `{}`?", stray.text), remedy);
            return true;
        }
        let colon = is_colon(line, &found[first], &found[first + 1], start);
        self.figures(number, label, pairs, start..start + line.len(), colon);
        true
    }

    /// `charge_avg_t : 0.61`, where the name of the figure is a part of a word.
    fn joined(&mut self, number: usize, line: &str, found: &[Word<'_>], start: usize) -> bool {
        let ([key, value] | [key, value, _]) = found else { return false };
        let Some(name) = title(key.text).filter(|title| title.quantity.is_some()) else { return false };
        let (digits, stuck) = split_unit(value.text);
        if !is_value(digits)
            || !looks_like_a_unit(stuck)
            || found.get(2).is_some_and(|word| !looks_like_a_unit(word.text))
        {
            return false;
        }
        let unit = found.get(2).map_or(stuck, |word| word.text);
        let mut pairs = Pairs { values: vec![(name.column, Word { text: digits, start: value.start })], units: vec![] };
        let units = name.unit.into_iter().chain((!unit.is_empty()).then(|| unit.to_owned()));
        pairs.units.extend(units.map(|unit| (unit, *value)));
        let colon = is_colon(line, key, value, start);
        self.figures(number, &name.quantity.unwrap_or_default(), pairs, start..start + line.len(), colon);
        true
    }

    fn figures(&mut self, number: usize, label: &str, pairs: Pairs<'_>, span: Range<usize>, colon: bool) {
        let mut summary = nothing(label.to_owned(), number);
        for (unit, word) in &pairs.units {
            self.meet_unit(&mut summary.unit, unit, word.span());
        }
        if pairs.values.len() > 1 {
            self.fill(&mut summary, &pairs.values);
            return self.add(summary, Kind::Pairs, vec![], span);
        }
        // One figure a line: more of the same may stand above.
        self.open(false);
        let section = self.sections.len() - 1;
        let same = |row: &super::reader::Row| {
            row.section == section && row.summary.name == label && matches!(row.kind, Kind::Keyed { .. })
        };
        let Some(at) = self.rows.iter().rposition(same) else {
            self.fill(&mut summary, &pairs.values);
            return self.add(summary, Kind::Keyed { lines: 1, colon }, vec![], span);
        };
        let mut one = nothing(label.to_owned(), number);
        self.fill(&mut one, &pairs.values);
        for (unit, word) in &pairs.units {
            let mut known = self.rows[at].summary.unit.take();
            self.meet_unit(&mut known, unit, word.span());
            self.rows[at].summary.unit = known;
        }
        let row = &mut self.rows[at];
        let known = &mut row.summary;
        let twice = known.n.is_some() && one.n.is_some()
            || [(&known.min, &one.min), (&known.max, &one.max), (&known.median, &one.median), (&known.mean, &one.mean)]
                .into_iter()
                .chain([(&known.sd, &one.sd)])
                .any(|(known, new)| known.is_some() && new.is_some());
        if twice {
            let remedy = "one of each for every name; write a line such as `before` above those of each system";
            self.problem(span, format!("this figure of `{label}` stands here twice"), remedy);
            return;
        }
        known.n = known.n.or(one.n);
        for (known, new) in [
            (&mut known.min, one.min),
            (&mut known.max, one.max),
            (&mut known.median, one.median),
            (&mut known.mean, one.mean),
            (&mut known.sd, one.sd),
        ] {
            *known = known.take().or(new);
        }
        if let Kind::Keyed { lines, .. } = &mut row.kind {
            *lines += 1;
        }
    }
}

/// Takes names and numbers in turn, with units between; the problem where they end.
fn take<'a>(found: &[Word<'a>], pairs: &mut Pairs<'a>) -> Result<(), Problem> {
    let mut at = 0;
    while at < found.len() {
        let Some((figure, unit)) = column(found[at].text).filter(|(column, _)| column.is_figure()) else {
            let message = format!("`{}` stands where the name of a figure should", found[at].text);
            return Err(problem(found[at].span(), message, "known are n, min, max, median, avg and sd"));
        };
        let Some(value) = found.get(at + 1) else {
            let message = format!("`{}` has no number", found[at].text);
            return Err(problem(found[at].span(), message, "write the number behind it, or leave it out"));
        };
        let (digits, stuck) = split_unit(value.text);
        if !digits.is_empty() && (!looks_like_a_unit(stuck) || (figure == Column::N && !stuck.is_empty())) {
            let remedy = "write a plain number and its unit, without signs and separators, such as `4.213 s`";
            return Err(problem(value.span(), format!("`{}` is not a number", value.text), remedy));
        }
        let is_unit = |word: &&Word<'_>| column(word.text).is_none() && looks_like_a_unit(word.text);
        let apart = found.get(at + 2).filter(|_| stuck.is_empty()).filter(is_unit);
        for unit in unit.as_deref().into_iter().chain(apart.map(|word| word.text)).chain([stuck]) {
            if !unit.is_empty() && !digits.is_empty() && figure != Column::N {
                pairs.units.push((unit.to_owned(), *value));
            }
        }
        let text = if digits.is_empty() { value.text } else { digits };
        pairs.values.push((figure, Word { text, start: value.start }));
        at += if apart.is_some() { 3 } else { 2 };
    }
    Ok(())
}

/// A number in a name that may be a figure: one with signs; one after a colon; a time, or the last word where neither mean
/// nor median was given, unless a colon ends the name.
fn stray<'a>(label: &'a str, start: usize, pairs: &Pairs<'_>, is_closed: bool) -> Option<Word<'a>> {
    let has = |wanted: &[Column]| pairs.values.iter().any(|(column, _)| wanted.contains(column));
    let has_middle = has(&[Column::Mean, Column::Median]);
    let is_count = pairs.values.iter().all(|(column, _)| *column == Column::N);
    let parts = pieces(label, start);
    let is_stray = |at: &usize| {
        let Some(written) = number_in(parts[*at].text) else { return false };
        let before = label[..parts[*at].start - start].trim_end();
        let is_after_sign = before.ends_with(SIGNS) || ["±", "+-", "+/-"].iter().any(|s| before.ends_with(s));
        let next = parts.get(at + 1).map(|word| word.text);
        let is_timed = written.is_timed || next.is_some_and(is_timed);
        let is_last = next.is_none() || (is_timed && at + 2 == parts.len());
        is_after_sign || (!is_closed && (is_count || written.is_marked || is_timed || (is_last && !has_middle)))
    };
    // `A avg five n 3`.
    let is_name = |at: &usize| matches!(column(parts[*at].text), Some((Column::Mean | Column::Median | Column::Sd, _)));
    let found = (0..parts.len()).find(is_stray).or_else(|| (0..parts.len()).find(is_name));
    found.map(|at| parts[at])
}

/// Whether a colon stands between a name and its number.
fn is_colon(line: &str, key: &Word<'_>, value: &Word<'_>, start: usize) -> bool {
    line[key.span().end - start..value.start - start].contains([':', '='])
}
