//! Converts manual pages to Markdown and chunks them.
//! It reads the macros of `man(7)`, the common ones of `mdoc(7)`, and tables of `tbl(1)`, in one pass over the lines. Each line of
//! output remembers its source line. Macros that it does not know keep their words.
//!
//! Sources: `groff_man(7)`, `groff_mdoc(7)` and `groff_char(7)` of groff 1.23.

use super::converted::{Converted, cell};
use super::draft::ParsedFile;
use crate::config::Settings;

/// Lines in which the first request must stand.
const HEAD: usize = 60;

/// Ends a block of lines that a condition opened.
const BLOCK_END: &str = "\\}";

/// Whether a text is a manual page: its name ends with a section, and a page's first macro is among its first lines.
pub(super) fn is_page(extension: &str, text: &str) -> bool {
    let is_section =
        extension.starts_with(|letter: char| letter.is_ascii_digit() || matches!(letter, 'n' | 'l'));
    is_section
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && text
            .lines()
            .take(HEAD)
            .any(|line| [".TH ", ".Dd ", ".SH ", ".Dt "].iter().any(|head| line.starts_with(head)))
}

/// Converts and chunks a page. Its title is its name with its section and what its first section says of it.
pub(super) fn parse(text: &str, settings: &Settings) -> ParsedFile {
    let page = Page::read(text);
    let (heading, drafts) = page.out.chunks(settings);
    ParsedFile { title: page.title.or(heading), drafts, ..ParsedFile::default() }
}

/// Where the next text stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Paragraph,
    /// The label of an item, on the next line.
    Label,
    /// The text of an item.
    Item,
}

#[derive(Default)]
struct Page {
    out: Converted,
    title: Option<String>,
    /// The name that `.Nm` stands for.
    name: String,
    place: Place,
    is_code: bool,
    /// Ends the lines that are left out: a macro's definition, or a block whose condition is false.
    skipped_until: Option<&'static str>,
    /// Whether the last condition held, for its `.el`.
    held: bool,
    /// The separator of a table's cells, once its format is over.
    table: Option<Table>,
}

/// The state of a table: lines up to the one that ends with a full stop are its format.
struct Table {
    separator: char,
    is_format: bool,
    /// Whether its next row is its first.
    is_head: bool,
}

impl Page {
    fn read(text: &str) -> Self {
        let mut page = Self::default();
        for (line, number) in text.lines().zip(1..) {
            page.out.number = number;
            page.line(line);
        }
        page.end_code();
        page
    }

    fn line(&mut self, line: &str) {
        if let Some(end) = self.skipped_until {
            if line.trim() == end || (end == BLOCK_END && line.contains(BLOCK_END)) {
                self.skipped_until = None;
            }
            return;
        }
        if self.table.is_some() && !line.starts_with(".TE") {
            return self.row(line);
        }
        match line.strip_prefix(['.', '\'']) {
            Some(request) => self.request(request.trim_start()),
            None => self.text(&plain(line)),
        }
    }

    fn request(&mut self, request: &str) {
        let (name, rest) = request.split_at(request.find([' ', '\t']).unwrap_or(request.len()));
        let rest = rest.trim();
        if name.starts_with("\\\"") || name == BLOCK_END {
            return;
        }
        let words = || words(rest);
        match name {
            "TH" | "Dt" => {
                let mut words = words().into_iter();
                self.title = words.next().map(|name| match words.next() {
                    Some(section) => format!("{}({section})", name.to_lowercase()),
                    None => name.to_lowercase(),
                });
            }
            "SH" | "Sh" => self.heading("#", &words().join(" ")),
            "SS" | "Ss" => self.heading("##", &words().join(" ")),
            "PP" | "LP" | "P" | "HP" | "Pp" | "sp" | "RE" | "El" => self.paragraph(),
            "TP" | "TQ" => {
                self.paragraph();
                self.place = Place::Label;
            }
            "IP" | "It" => {
                self.paragraph();
                self.place = Place::Label;
                let label = if name == "It" {
                    mdoc(rest, &mut self.name)
                } else {
                    words().into_iter().next().unwrap_or_default()
                };
                // A mark without a word is the list's own.
                if label.contains(char::is_alphanumeric) {
                    self.text(&label);
                }
            }
            "nf" | "EX" | "Bd" => self.begin_code(),
            "fi" | "EE" | "Ed" => self.end_code(),
            "TS" => {
                self.paragraph();
                self.table = Some(Table { separator: '\t', is_format: true, is_head: true });
            }
            "TE" => {
                self.table = None;
                self.paragraph();
            }
            "de" | "de1" | "am" | "ig" => self.skipped_until = Some(".."),
            "if" | "ie" => self.condition(rest),
            "el" if self.held => self.skip(rest),
            "el" => self.rest_of_condition(rest),
            "br" | "RS" | "Bl" | "Os" | "Dd" | "ad" | "na" | "hy" | "nh" | "ne" | "in" | "ti" | "ll"
            | "nr" | "ds" | "so" | "ft" | "ps" | "vs" | "tr" | "mso" | "cc" | "ta" | "UE" | "ME" | "SY"
            | "YS" | "PD" | "DT" | "pl" | "rm" | "rn" | "tm" | "ce" | "fam" | "color" | "lf" | "rr"
            | "als" | "nop" | "ss" | "bp" | "it" | "Bk" | "Ek" | "Rs" | "Re" | "UC" | "AT" => {}
            // Their words alternate between two fonts without blanks.
            "BR" | "RB" | "BI" | "IB" | "IR" | "RI" => self.text(&words().concat()),
            "UR" | "MT" => self.text(&format!("<{rest}>")),
            "Nd" => {
                let text = mdoc(rest, &mut self.name);
                self.text(&format!("— {text}"));
            }
            "B" | "I" | "SM" | "SB" | "R" => self.text(&words().join(" ")),
            _ if name.len() <= 3 && name.starts_with(|letter: char| letter.is_ascii_uppercase()) => {
                let text = mdoc(request, &mut self.name);
                self.text(&text);
            }
            _ => {}
        }
    }

    /// Reads a condition. `n` holds, because the page is read as a terminal would show it; all others are taken as false.
    fn condition(&mut self, rest: &str) {
        let (condition, rest) = rest.split_at(rest.find([' ', '\\']).unwrap_or(rest.len()));
        self.held = condition == "n" || condition == "!t";
        if self.held {
            self.rest_of_condition(rest);
        } else {
            self.skip(rest);
        }
    }

    /// Reads what stands behind a condition that holds; a block goes on in the next lines.
    fn rest_of_condition(&mut self, rest: &str) {
        let rest = rest.trim_start().trim_start_matches("\\{").trim_start_matches('\\').trim_start();
        if !rest.is_empty() {
            self.line(rest);
        }
    }

    fn skip(&mut self, rest: &str) {
        if rest.contains("\\{") && !rest.contains(BLOCK_END) {
            self.skipped_until = Some(BLOCK_END);
        }
    }

    fn paragraph(&mut self) {
        if !self.is_code && !self.out.text.is_empty() && !self.out.text.ends_with("\n\n") {
            self.out.put("");
        }
        self.place = Place::Paragraph;
    }

    fn heading(&mut self, level: &str, title: &str) {
        self.end_code();
        self.paragraph();
        if !title.is_empty() {
            self.out.put(&format!("{level} {}", sentence_case(title)));
            self.out.put("");
        }
    }

    fn text(&mut self, text: &str) {
        if self.is_code {
            return self.out.put(text);
        }
        let text = text.trim();
        match (text.is_empty(), self.place) {
            (true, Place::Label) => {}
            (true, _) => self.paragraph(),
            (false, Place::Label) => {
                self.out.put(&format!("- {text}"));
                self.place = Place::Item;
            }
            (false, Place::Item) => self.out.put(&format!("  {text}")),
            (false, Place::Paragraph) => self.out.put(text),
        }
    }

    fn begin_code(&mut self) {
        if !self.is_code {
            self.paragraph();
            self.out.put("```");
            self.is_code = true;
        }
    }

    fn end_code(&mut self) {
        if self.is_code {
            self.out.put("```");
            self.is_code = false;
            self.paragraph();
        }
    }

    fn row(&mut self, line: &str) {
        let Some(table) = &mut self.table else { return };
        if table.is_format {
            if let Some((_, after)) = line.split_once("tab(") {
                table.separator = after.chars().next().unwrap_or('\t');
            }
            table.is_format = !line.trim_end().ends_with('.');
            return;
        }
        if line.starts_with('.') || line.trim().is_empty() || matches!(line.trim(), "_" | "=") {
            return;
        }
        let cells: Vec<String> = line
            .split(table.separator)
            .map(|text| cell(plain(text.trim().trim_start_matches("T{").trim_end_matches("T}")).trim()))
            .collect();
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        self.out.put_row(&cells, std::mem::take(&mut table.is_head));
    }
}

/// Returns a heading in capitals in the case of a sentence: the model knows those words better.
fn sentence_case(title: &str) -> String {
    if title.chars().any(char::is_lowercase) {
        return title.to_owned();
    }
    let mut letters = title.chars();
    letters.next().into_iter().chain(letters.flat_map(char::to_lowercase)).collect()
}

/// Returns the arguments of a macro: words, or several in quotation marks, without escapes.
fn words(rest: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut letters = rest.chars().peekable();
    while let Some(&first) = letters.peek() {
        if first == ' ' || first == '\t' {
            letters.next();
            continue;
        }
        let is_quoted = first == '"';
        if is_quoted {
            letters.next();
        }
        let mut word = String::new();
        while let Some(letter) = letters.next() {
            match letter {
                '"' if is_quoted && letters.peek() == Some(&'"') => {
                    letters.next();
                    word.push('"');
                }
                '"' if is_quoted => break,
                ' ' | '\t' if !is_quoted => break,
                '\\' => {
                    word.push('\\');
                    word.extend(letters.next());
                }
                letter => word.push(letter),
            }
        }
        found.push(plain(&word));
    }
    found
}

/// Returns the words of a line of mdoc(7), whose macros stand among them: `Fl a Ar file` is `-a file`.
fn mdoc(line: &str, name: &mut String) -> String {
    let mut text = String::new();
    let (mut is_joined, mut is_option, mut closing) = (true, false, Vec::new());
    let words = words(line);
    for (at, word) in words.iter().enumerate() {
        let is_macro = matches!(word.as_bytes(), [b'A'..=b'Z', b'a'..=b'z']);
        if is_macro {
            match word.as_str() {
                "Fl" => is_option = true,
                "Ns" => is_joined = true,
                "Op" | "Bq" => {
                    push(&mut text, "[", is_joined);
                    is_joined = true;
                    closing.push("]");
                }
                "Nm" if words
                    .get(at + 1)
                    .is_none_or(|next| next.starts_with(|c: char| c.is_ascii_uppercase())) =>
                {
                    push(&mut text, name, is_joined);
                    is_joined = false;
                }
                "Nm" if name.is_empty() => name.clone_from(&words[at + 1]),
                _ => {}
            }
            continue;
        }
        let is_mark = word.len() == 1 && word.starts_with(['.', ',', ';', ':', ')', ']', '?', '!']);
        let is_section = at >= 2 && words[at - 2] == "Xr";
        let shown = if is_option {
            format!("-{word}")
        } else if is_section {
            format!("({word})")
        } else {
            word.clone()
        };
        push(&mut text, &shown, is_joined || is_mark || is_section);
        (is_joined, is_option) = (word == "(" || word == "[", false);
    }
    text.extend(closing);
    text
}

fn push(text: &mut String, word: &str, is_joined: bool) {
    if !is_joined && !text.is_empty() {
        text.push(' ');
    }
    text.push_str(word);
}

/// Special characters by their names of two letters, as in `\(em`.
const CHARACTERS: [(&str, &str); 22] = [
    ("bu", "•"),
    ("em", "—"),
    ("en", "–"),
    ("hy", "-"),
    ("mi", "−"),
    ("aq", "'"),
    ("dq", "\""),
    ("lq", "“"),
    ("rq", "”"),
    ("oq", "‘"),
    ("cq", "’"),
    ("ga", "`"),
    ("ha", "^"),
    ("ti", "~"),
    ("rs", "\\"),
    ("co", "©"),
    ("rg", "®"),
    ("tm", "™"),
    ("->", "→"),
    ("<-", "←"),
    (">=", "≥"),
    ("<=", "≤"),
];

/// Returns a line without its escapes.
fn plain(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let Some(letter) = after.chars().next() else { return text };
        rest = &after[letter.len_utf8()..];
        match letter {
            'e' | '\\' => text.push('\\'),
            '-' => text.push('-'),
            '\'' => text.push('\''),
            '`' => text.push('`'),
            ' ' | '~' | '0' => text.push(' '),
            '"' | '#' => return text,
            '(' | '[' => {
                let name = argument(letter, &mut rest);
                let known =
                    CHARACTERS.iter().find(|(known, _)| *known == name).map(|(_, shown)| (*shown).to_owned());
                let by_code = || {
                    let code = u32::from_str_radix(name.strip_prefix('u')?, 16).ok()?;
                    char::from_u32(code).map(String::from)
                };
                text.push_str(&known.or_else(by_code).unwrap_or_default());
            }
            // Fonts, sizes, strings, registers, motions: their argument is not shown.
            'f' | 'F' | 'm' | 'M' | 'n' | 'k' | 'g' => {
                following(&mut rest);
            }
            '*' => match following(&mut rest) {
                "lq" => text.push('“'),
                "rq" => text.push('”'),
                _ => {}
            },
            's' => {
                rest = rest.trim_start_matches(['+', '-']);
                following(&mut rest);
            }
            'w' | 'h' | 'v' | 'o' | 'b' | 'l' | 'L' | 'D' | 'R' | 'X' | 'x' | 'S' | 'H' | 'Z' | 'A' | 'N' => {
                argument('\'', &mut rest);
            }
            // `\&`, `\|`, `\^`, `\%`, `\:`, `\/`, `\,`, `\c` and whatever else is unknown.
            _ => {}
        }
    }
    text.push_str(rest);
    text
}

/// Takes the argument of an escape: one letter, two after `(`, or those in brackets.
fn following<'a>(rest: &mut &'a str) -> &'a str {
    match rest.chars().next() {
        Some(open @ ('(' | '[' | '\'')) => {
            *rest = &rest[1..];
            argument(open, rest)
        }
        Some(letter) => take(rest, letter.len_utf8()),
        None => "",
    }
}

/// Takes an argument whose opening sign was taken.
fn argument<'a>(open: char, rest: &mut &'a str) -> &'a str {
    let close = match open {
        '(' => {
            let end = rest.char_indices().nth(2).map_or(rest.len(), |(at, _)| at);
            return take(rest, end);
        }
        '[' => ']',
        quote => {
            if open == '\'' && rest.starts_with('\'') {
                *rest = &rest[1..];
            }
            quote
        }
    };
    let Some(end) = rest.find(close) else { return take(rest, rest.len()) };
    let found = take(rest, end);
    *rest = &rest[close.len_utf8()..];
    found
}

fn take<'a>(rest: &mut &'a str, end: usize) -> &'a str {
    let (taken, left) = rest.split_at(end);
    *rest = left;
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(page: &str, expected: &str) {
        Page::read(page).out.check(page, expected);
    }

    #[test]
    fn headings_paragraphs_and_fonts() {
        check(
            ".\\\" a comment\n.TH GETENT 1 2023-01-07 \"Linux man-pages\"\n.SH NAME\ngetent \\- get entries\n.SH \"SEE ALSO\"\n\
             .BR passwd (5),\n.PP\nThe\n.B getent\ncommand\\(em\\fIshort\\fP.\n",
            "# Name\n\ngetent - get entries\n\n# See also\n\npasswd(5),\n\nThe\ngetent\ncommand—short.",
        );
    }

    #[test]
    fn items_code_and_tables() {
        check(
            ".TP 10\n.B \\-a\nAll\nof it.\n.IP \\(bu 2\nA point.\n.PP\nAfter:\n.nf\nls \\-l\n  x\n.fi\nEnd.\n",
            "- -a\n  All\n  of it.\n\n- A point.\n\nAfter:\n\n```\nls -l\n  x\n```\n\nEnd.",
        );
        check(".TS\ntab(;);\nl l.\nKey;Value\n_\na;b\n.TE\n", "| Key | Value |\n|---|---|\n| a | b |");
    }

    #[test]
    fn macros_of_the_footer_leave_no_text() {
        check(".TH A 1\n.UC 4\n.SH NAME\na - b\n.AT 3\n", "# Name\n\na - b");
    }

    #[test]
    fn definitions_and_false_conditions_are_left_out() {
        check(
            ".de XX\nhidden\n..\n.if t hidden\n.if n shown\n.ie \\n(.g hidden\n.el also shown\nend\n",
            "shown\nalso shown\nend",
        );
        check(".if t \\{\\\nhidden\n.br\n.\\}\nend\n", "end");
    }

    #[test]
    fn the_macros_of_mdoc() {
        check(
            ".Dd May 1, 2024\n.Dt LS 1\n.Sh NAME\n.Nm ls\n.Nd list files\n.Sh SYNOPSIS\n.Nm\n.Op Fl a\n.Ar file ...\n.Pp\nSee\n.Xr stat 2 .\n",
            "# Name\n\nls\n— list files\n\n# Synopsis\n\nls\n[-a]\nfile ...\n\nSee\nstat(2).",
        );
    }

    #[test]
    fn escapes_are_read() {
        for (line, expected) in [
            ("a\\fBb\\f(CWc\\f[R]d\\s-1e\\s0", "abcde"),
            ("\\(bu\\[u00E9]\\[lq]x\\[rq]\\*(lqy\\*(rq", "•é“x”“y”"),
            ("1\\~2\\0 3\\|4\\&5\\e", "1 2  345\\"),
            ("x\\w'abc'y\\h'1n'z \\\" rest", "xyz "),
            ("end\\", "end"),
            ("\\(b", ""),
            ("\\[never closed", ""),
        ] {
            assert_eq!(plain(line), expected, "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_page_makes_it_panic(
            lines in prop::collection::vec(
                "([.'](TH|SH|TP|IP|B|BR|if n|if t|ie|el|de|ig|TS|TE|nf|fi|It|Nm|Op|Xr|\\\\}|\\\\\") ?)?([a-zé\"; ]|\\\\[fs(\\[w*n'hé{}]?){0,9}",
                0..30,
            ),
        ) {
            let text = format!(".TH A 1\n{}", lines.join("\n"));
            let settings = Settings { markdown_chunk_max: 60, markdown_chunk_min: 20, ..Settings::default() };
            for draft in parse(&text, &settings).drafts {
                prop_assert!(1 <= draft.lines.0 && draft.lines.0 <= draft.lines.1);
                prop_assert!(draft.lines.1 as usize <= text.lines().count() + 1);
            }
        }
    }

    #[test]
    fn a_page_is_known_by_its_name_and_its_first_macro() {
        let text = "'\\\" t\n.TH A 1\n";
        assert!(is_page("1", text) && is_page("3posix", text) && is_page("n", text));
        assert!(!is_page("1", "1.0 released\n") && !is_page("txt", text) && !is_page("", text));
    }
}
