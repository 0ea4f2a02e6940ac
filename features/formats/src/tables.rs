//! The tables of the deciding metric in AsciiDoc and for Emacs' Org mode, as hyperfine writes tables: a caption and the rows.
//! In both formats a text can be a command, so that all of it is made plain text; cells come from `bakeoff_report`.

use bakeoff_command::Concluded;
use bakeoff_judge::findings::Findings;
use bakeoff_report::{TableText, TimeUnit, table_texts, words};

/// The tables of the deciding metric.
fn deciding(findings: &Findings, time_unit: Option<TimeUnit>) -> (Vec<TableText>, Vec<String>) {
    let (tables, notes) = table_texts(findings, time_unit);
    let deciding = bakeoff_model::plain::clean(&findings.method.deciding_metric);
    let tables: Vec<TableText> = tables.into_iter().filter(|table| table.metric == deciding).collect();
    let cells = || tables.iter().flat_map(|table| table.rows.iter().flatten().chain([&table.noise]));
    // Footnotes keep their numbers; those of other tables are left out.
    let is_used = |number: usize| {
        cells().any(|cell| {
            let mark = cell.rsplit_once(" [").and_then(|(_, mark)| mark.split_once(']'));
            mark.is_some_and(|(numbers, _)| numbers.split(',').any(|one| one == number.to_string()))
        })
    };
    let notes: Vec<String> = (1..)
        .zip(&notes)
        .filter(|(number, _)| is_used(*number))
        .map(|(number, note)| format!("[{number}] {}", bakeoff_model::plain::clean(note)))
        .collect();
    (tables, notes)
}

/// What is written in the place of tables, where all variants are one program.
fn without_tables(concluded: &Concluded<'_>) -> Option<String> {
    let all = words::one_program(concluded.findings)?;
    Some(format!("{} are the same program", words::listed(&all)))
}

/// All of it in AsciiDoc.
pub(crate) fn asciidoc(concluded: &Concluded<'_>) -> String {
    let (tables, notes) = deciding(concluded.findings, concluded.time_unit);
    let mut out = without_tables(concluded).map_or_else(String::new, |text| asciidoc_text(&text) + "\n");
    for table in &tables {
        let columns = vec![">"; table.titles.len().saturating_sub(1)].join(",");
        out += &format!(".{}\n[cols=\"<,{columns}\",options=\"header\"]\n|===\n", asciidoc_text(&table.caption));
        for row in std::iter::once(&table.titles).chain(&table.rows) {
            // Each cell in a line of its own: what stands before a bar in the same line is a command.
            row.iter().for_each(|cell| out += &format!("| {}\n", asciidoc_text(cell)));
            out.push('\n');
        }
        out += &format!("|===\n\n{}\n\n", asciidoc_text(&table.noise));
    }
    notes.iter().for_each(|note| out += &format!("{}\n\n", asciidoc_text(note)));
    out
}

/// Letters, digits and a few signs stay; everything else that is ASCII becomes a character reference, which is text wherever
/// it stands.
fn asciidoc_text(text: &str) -> String {
    let stays = |before: Option<char>, c: char, after: Option<char>| match c {
        // Two of them are a dash or an ellipsis; one at the beginning is a list or a title.
        '-' | '.' | ',' | '%' => before.is_some_and(|b| b != c) && after.is_some_and(|a| a != c),
        '=' => before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric),
        ' ' => true,
        c => c.is_ascii_alphanumeric() || !c.is_ascii(),
    };
    let chars: Vec<char> = text.trim().chars().collect();
    let mut out = String::new();
    for (at, &c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| chars[at]);
        let is_number = at > 0 || !c.is_ascii_digit() || !begins_a_list(text.trim());
        if is_number && stays(before, c, chars.get(at + 1).copied()) {
            out.push(c);
        } else {
            out += &format!("&#{};", u32::from(c));
        }
    }
    out
}

/// Whether a text begins as an item of a numbered list does.
fn begins_a_list(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let behind = rest.strip_prefix(['.', ')']);
    rest.len() < text.len() && behind.is_some_and(|behind| behind.is_empty() || behind.starts_with(' '))
}

/// All of it for Org mode.
pub(crate) fn org(concluded: &Concluded<'_>) -> String {
    let (tables, notes) = deciding(concluded.findings, concluded.time_unit);
    // Names of metrics have underscores, which are no subscripts.
    let mut out = "#+OPTIONS: ^:nil\n\n".to_owned();
    out += &without_tables(concluded).map_or_else(String::new, |text| org_text(&text) + "\n");
    for table in &tables {
        out += &format!("#+CAPTION: {}\n", org_text(&table.caption));
        let row = |cells: &[String], is_name: bool| {
            let cells = cells.iter().enumerate();
            let texts = cells.map(|(at, cell)| if at == 0 && is_name { org_code(cell) } else { org_text(cell) });
            format!("| {} |\n", texts.collect::<Vec<_>>().join(" | "))
        };
        out += &row(&table.titles, false);
        out += &format!("|{}|\n", vec!["--"; table.titles.len()].join("+"));
        table.rows.iter().for_each(|cells| out += &row(cells, true));
        out += &format!("\n{}\n\n", org_text(&table.noise));
    }
    notes.iter().for_each(|note| out += &format!("{}\n\n", org_text(note)));
    out
}

/// A name as code, in which nothing is a command; what would end a cell or the code is replaced by what looks like it.
fn org_code(name: &str) -> String {
    let one = |c: char| match c {
        '|' => '∣',
        '~' => '∼',
        c => c,
    };
    let code: String = name.trim().chars().map(one).collect();
    if code.is_empty() { "–".to_owned() } else { format!("~{code}~") }
}

/// A sentence with names in it. What begins or ends a command (Org syntax, "Objects") is replaced by what looks like it: signs
/// that mean something by themselves, colons within a word, which make links, and signs of emphasis where one could end.
fn org_text(text: &str) -> String {
    let chars: Vec<char> = text.trim().chars().collect();
    let one = |at: usize| {
        let before = at.checked_sub(1).map(|at| chars[at]);
        let after = chars.get(at + 1).copied();
        let ends_a_word = before.is_some_and(|c| !c.is_whitespace()) && after.is_none_or(|c| !c.is_alphanumeric());
        let is_in_a_word = before.is_some_and(|c| !c.is_whitespace()) && after.is_some_and(|c| !c.is_whitespace());
        match chars[at] {
            '|' => '∣',
            '~' => '∼',
            '$' => '＄',
            '\\' => '＼',
            '@' => '＠',
            '{' => '｛',
            '}' => '｝',
            '<' => '＜',
            '>' => '＞',
            '[' if after == Some('[') => '［',
            ']' if before == Some(']') => '］',
            ':' if is_in_a_word => '∶',
            // Also what would call a program.
            '_' if ends_a_word || chars[..at].ends_with(&['c', 'a', 'l', 'l']) => '＿',
            '*' if ends_a_word => '∗',
            '/' if ends_a_word => '∕',
            '=' if ends_a_word => '＝',
            '+' if ends_a_word => '＋',
            c => c,
        }
    };
    (0..chars.len()).map(one).collect()
}
