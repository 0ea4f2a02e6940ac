//! Lines of figures with their names: `A avg 0.203 min 0.187 n 75`, and one figure a line, `charge avg_t : 0.61`.

use super::Summary;
use super::reader::{Reader, RowForm, Value, nothing, problem, two_units};
use super::words::{
    Column, SIGNS, Word, bare, column, is_other_figure, is_timed, is_unknown, is_value, looks_like_a_unit,
    names_figure, number_in, pieces, shape, spelled, split_unit, title, words,
};
use bakeoff_model::problem::Problem;
use std::ops::Range;

impl Reader {
    /// A line of words with numbers; false if it is none.
    pub(super) fn pairs(&mut self, number: usize, line: &str, start: usize) -> bool {
        let found = words(line, start, |c| c.is_whitespace() || ",;=:()".contains(c));
        let known = |word: &str| column(word).filter(|(column, _)| column.is_figure());
        let stands_for_one = |word: &str| is_value(split_unit(word).0) || is_value(word);
        let pair = found.windows(2).position(|pair| known(pair[0].text).is_some() && stands_for_one(pair[1].text));
        let Some(first) = pair else { return self.joined(number, line, &found, start) };
        let mut pairs = vec![];
        if let Err(problem) = take(&found[first..], &mut pairs) {
            // `20 repeats each, n 20 of them` tells no figure: a remark.
            let is_count = matches!(pairs.as_slice(), [(Column::N, ..)]) && found.len() > first + 3;
            if is_count || (shape(line).is_sentence && pairs.len() < 2) {
                return false;
            }
            self.problems.push(problem);
            return true;
        }
        let before = &line[..found[first].start - start];
        let (label, closed) = (bare(before, ":,;=(-"), before.trim_end().ends_with(':'));
        if let Some(stray) = stray(label, start + line.find(label).unwrap_or(0), &pairs, closed) {
            let remedy = "write the name of a figure, such as `avg` or `sd`, before the number; if the number is part \
                of a name, end that name with a colon";
            self.problem(stray.span(), format!("`{}` has no name", stray.text), remedy);
            return true;
        }
        if self.is_in_sentence(label, &pairs) {
            self.unread.push(number);
            return true;
        }
        let colon = is_colon(line, &found[first], &found[first + 1], start);
        self.figures(number, label, &pairs, start..start + line.len(), colon);
        true
    }

    /// Whether a single figure stands in a sentence of several lines: behind `with` and its like, before a noun, or
    /// alone.
    fn is_in_sentence(&self, label: &str, pairs: &[Value<'_>]) -> bool {
        const JOINTS: &str = " a an the at of with by to from and or than in on ";
        let [(column, _, unit)] = pairs else { return false };
        let is_noun = unit.as_deref().is_some_and(|unit| unit.len() > 3 && unit.chars().all(char::is_lowercase));
        let is_joined = label.split_whitespace().next_back().is_some_and(|last| JOINTS.contains(&format!(" {last} ")));
        let is_amid = is_noun || is_joined || (label.is_empty() && self.around.is_followed);
        *column != Column::N && is_amid && self.is_continued()
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
        let colon = is_colon(line, key, value, start);
        match one_unit(name.unit, unit, value.span()) {
            Err(problem) => self.problems.push(problem),
            Ok(unit) => {
                let pairs = vec![(name.column, Word { text: digits, start: value.start }, unit)];
                self.figures(number, &name.quantity.unwrap_or_default(), &pairs, start..start + line.len(), colon);
            }
        }
        true
    }

    fn figures(&mut self, number: usize, label: &str, pairs: &[Value<'_>], span: Range<usize>, colon: bool) {
        let mut summary = nothing(label.to_owned(), number);
        if pairs.len() > 1 {
            self.fill(&mut summary, pairs);
            return self.add(summary, RowForm::Pairs, vec![], span);
        }
        // One figure a line: more of the same may stand above.
        self.open(false);
        let section = self.sections.len() - 1;
        let same = |row: &super::reader::Row| {
            row.section == section && row.summary.name == label && matches!(row.kind, RowForm::Keyed { .. })
        };
        let Some(at) = self.rows.iter().rposition(same) else {
            self.fill(&mut summary, pairs);
            return self.add(summary, RowForm::Keyed { lines: 1, colon }, vec![], span);
        };
        let mut known = std::mem::take(&mut self.rows[at].summary);
        let held = |summary: &Summary| summary.figures().count() + usize::from(summary.n.is_some());
        let before = (held(&known), self.problems.len());
        self.fill(&mut known, pairs);
        if (held(&known), self.problems.len()) == before && !pairs.iter().any(|(_, word, _)| is_unknown(word.text)) {
            let remedy = "give each figure only once for each name, or write a line such as `before` above the \
                figures of each system";
            let of = if label.is_empty() { String::new() } else { format!(" of `{label}`") };
            self.problem(span, format!("this figure{of} appears twice"), remedy);
        }
        self.rows[at].summary = known;
        if let RowForm::Keyed { lines, .. } = &mut self.rows[at].kind {
            *lines += 1;
        }
    }
}

/// Takes names and numbers in turn, with units between; the problem where they end.
fn take<'a>(found: &[Word<'a>], pairs: &mut Vec<Value<'a>>) -> Result<(), Problem> {
    let mut at = 0;
    while at < found.len() {
        let Some((figure, unit)) = column(found[at].text).filter(|(column, _)| column.is_figure()) else {
            let message = format!("`{}` is not a known name, such as `avg` or `sd`", found[at].text);
            return Err(problem(found[at].span(), message, "the names are n, min, max, median, avg and sd"));
        };
        let Some(value) = found.get(at + 1) else {
            let message = format!("`{}` has no number", found[at].text);
            return Err(problem(found[at].span(), message, "write a number after the name, or remove the name"));
        };
        let (digits, stuck) = split_unit(value.text);
        if !digits.is_empty() && (!looks_like_a_unit(stuck) || (figure == Column::N && !stuck.is_empty())) {
            let remedy = "write a plain number and its unit, without signs or separators, such as `4.213 s`";
            return Err(problem(value.span(), format!("`{}` is not a number", value.text), remedy));
        }
        let is_unit = |word: &&Word<'_>| column(word.text).is_none() && looks_like_a_unit(word.text);
        let apart = found.get(at + 2).filter(|_| stuck.is_empty()).filter(is_unit);
        let unit = one_unit(unit, apart.map_or(stuck, |word| word.text), value.span())?;
        let text = if digits.is_empty() { value.text } else { digits };
        pairs.push((figure, Word { text, start: value.start }, unit));
        at += if apart.is_some() { 3 } else { 2 };
    }
    Ok(())
}

/// The unit in the name of a figure, or behind the number.
fn one_unit(named: Option<String>, behind: &str, span: Range<usize>) -> Result<Option<String>, Problem> {
    match (named, spelled(behind)) {
        (named, behind) if behind.is_empty() => Ok(named),
        (Some(named), behind) if spelled(&named) != behind => Err(two_units(Some(&behind), Some(&named), span)),
        (_, behind) => Ok(Some(behind)),
    }
}

/// A number in a name that may be a figure: one with signs; one after a colon; a time, or the last word where neither
/// mean nor median was given, unless a colon ends the name.
fn stray<'a>(label: &'a str, start: usize, pairs: &[Value<'_>], is_closed: bool) -> Option<Word<'a>> {
    let has_middle = pairs.iter().any(|(column, ..)| matches!(column, Column::Mean | Column::Median));
    let is_count = pairs.iter().all(|(column, ..)| *column == Column::N);
    let parts = pieces(label, start);
    let is_stray = |at: &usize| {
        let Some(written) = number_in(parts[*at].text) else { return false };
        let before = label[..parts[*at].start - start].trim_end();
        let is_after_sign = before.ends_with(SIGNS) || ["±", "+-", "+/-"].iter().any(|s| before.ends_with(s));
        let next = parts.get(at + 1).map(|word| word.text);
        let is_timed = written.is_timed || next.is_some_and(is_timed);
        let is_last = next.is_none() || (is_timed && at + 2 == parts.len());
        let is_named = *at > 0 && (names_figure(parts[at - 1].text) || is_other_figure(parts[at - 1].text));
        // A version is neither `0.153` nor `5.2e-3`, and stands alone.
        let text = parts[*at].text.trim_matches(['(', '[', ')', ']']);
        let is_odd = text.starts_with(['0', '-']) || text.contains(['e', 'E']) || next.is_some_and(is_decimal);
        let is_other = is_named || (is_odd && is_decimal(text));
        is_after_sign
            || (!is_closed && is_other)
            || (!is_closed && (is_count || written.is_marked || is_timed || (is_last && !has_middle)))
    };
    // `A avg five n 3`.
    let is_name = |at: &usize| matches!(column(parts[*at].text), Some((Column::Mean | Column::Median | Column::Sd, _)));
    let found = (0..parts.len()).find(is_stray).or_else(|| (0..parts.len()).find(is_name));
    found.map(|at| parts[at])
}

fn is_decimal(word: &str) -> bool {
    number_in(word).is_some_and(|written| !written.is_whole)
}

/// Whether a colon stands between a name and its number.
fn is_colon(line: &str, key: &Word<'_>, value: &Word<'_>, start: usize) -> bool {
    line[key.span().end - start..value.start - start].contains([':', '='])
}
