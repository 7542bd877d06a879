//! Converts RTF to Markdown and chunks it.
//! One pass over the bytes; each line of output remembers its source line. Letters are decoded with the code page of their font.
//! Pictures, headers, footers, hidden text and destinations that may be ignored are left out.
//!
//! Source: Rich Text Format Specification 1.9.1.

use encoding_rs::Encoding;
use serde_json::Value;
use std::collections::HashMap;

use super::blocks::{Blocks, Row};
use super::draft::ParsedFile;
use super::tags;
use crate::config::Settings;

/// Most groups inside each other; deeper ones share the state of the last.
const MOST_NESTED: usize = 1_000;

/// Converts and chunks a file; the error is the reason why it is skipped.
pub(super) fn parse(bytes: &[u8], settings: &Settings) -> Result<ParsedFile, String> {
    if !bytes.starts_with(b"{\\rtf") {
        return Err("not an RTF file, although its name says so".to_owned());
    }
    let mut document = Document::new(bytes);
    document.read();
    let (heading, drafts) = document.blocks.out.chunks(settings);
    let mut file = ParsedFile { drafts, ..ParsedFile::default() };
    for (field, value) in document.fields {
        match field {
            Target::Title => file.title = Some(value),
            Target::Keywords => value.split([',', ';']).for_each(|tag| tags::add(&mut file.tags, tag)),
            Target::Author => {
                file.metadata.insert("author".to_owned(), Value::String(value));
            }
            Target::Text | Target::Nothing | Target::Fonts | Target::Styles | Target::Mark => {}
        }
    }
    file.title = file.title.or(heading);
    Ok(file)
}

/// Where the letters of a group go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Text,
    Nothing,
    Fonts,
    Styles,
    Title,
    Author,
    Keywords,
    /// The bullet or the number of an item.
    Mark,
}

/// What holds in a group.
#[derive(Clone, Copy)]
struct State {
    target: Target,
    /// Letters that stand for a Unicode sign in older programs.
    replaced: usize,
    encoding: &'static Encoding,
    is_hidden: bool,
    /// Whether the group is a note, which ends with a bracket.
    is_note: bool,
}

/// What holds for a paragraph.
#[derive(Clone, Default)]
struct Paragraph {
    style: Option<i32>,
    outline: Option<i32>,
    is_row: bool,
    is_item: bool,
    depth: usize,
}

struct Document<'a> {
    bytes: &'a [u8],
    at: usize,
    number: u32,
    blocks: Blocks,
    state: State,
    states: Vec<State>,
    /// Groups that were opened beyond the deepest.
    beyond: usize,
    /// Bytes that are not decoded yet.
    raw: Vec<u8>,
    text: String,
    begin: u32,
    /// The text of a field of the file, a style's name or an item's mark.
    aside: String,
    /// Letters that a Unicode sign replaces.
    skipped: usize,
    paragraph: Paragraph,
    mark: String,
    rows: Vec<(Row, u32)>,
    row: Row,
    encodings: HashMap<i32, &'static Encoding>,
    font: i32,
    style: i32,
    levels: HashMap<i32, usize>,
    default: &'static Encoding,
    fields: Vec<(Target, String)>,
}

impl<'a> Document<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let default = encoding_rs::WINDOWS_1252;
        let state =
            State { target: Target::Text, replaced: 1, encoding: default, is_hidden: false, is_note: false };
        Self {
            bytes,
            at: 0,
            number: 1,
            blocks: Blocks::default(),
            state,
            states: Vec::new(),
            beyond: 0,
            raw: Vec::new(),
            text: String::new(),
            begin: 1,
            aside: String::new(),
            skipped: 0,
            paragraph: Paragraph::default(),
            mark: String::new(),
            rows: Vec::new(),
            row: Row::new(),
            encodings: HashMap::new(),
            font: 0,
            style: 0,
            levels: HashMap::new(),
            default,
            fields: Vec::new(),
        }
    }

    fn read(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'{' => {
                    self.decode();
                    if self.states.len() < MOST_NESTED {
                        self.states.push(self.state);
                    } else {
                        self.beyond += 1;
                    }
                    self.state.is_note = false;
                }
                b'}' => self.close(),
                b'\\' => self.control(),
                b'\n' => self.number += 1,
                b'\r' | 0 => {}
                _ if self.skipped > 0 => self.skipped -= 1,
                _ => self.raw.push(byte),
            }
        }
        self.decode();
        self.end_paragraph();
        self.end_table();
    }

    fn close(&mut self) {
        self.decode();
        self.skipped = 0;
        if self.state.is_note {
            self.text.push(')');
        }
        if self.beyond > 0 {
            self.beyond -= 1;
            return;
        }
        let Some(outer) = self.states.pop() else { return };
        let target = self.state.target;
        if target != outer.target || target == Target::Styles {
            let aside = std::mem::take(&mut self.aside);
            self.take_aside(target, aside.trim().trim_end_matches(';'));
        }
        self.state = outer;
    }

    /// Uses the text of a group that is not shown itself.
    fn take_aside(&mut self, target: Target, text: &str) {
        match target {
            Target::Styles => {
                let name = text.to_lowercase();
                let level =
                    name.strip_prefix("heading ").and_then(|level| level.trim().parse::<usize>().ok());
                if let Some(level) = level.filter(|level| (1..=9).contains(level)) {
                    self.levels.insert(self.style, level);
                }
                self.style = 0;
            }
            Target::Title | Target::Author | Target::Keywords if !text.is_empty() => {
                self.fields.push((target, text.to_owned()));
            }
            Target::Mark => {
                self.paragraph.is_item = true;
                text.trim().clone_into(&mut self.mark);
            }
            Target::Title
            | Target::Author
            | Target::Keywords
            | Target::Text
            | Target::Nothing
            | Target::Fonts => {}
        }
    }

    /// Decodes the bytes that were collected.
    fn decode(&mut self) {
        if self.raw.is_empty() {
            return;
        }
        let raw = std::mem::take(&mut self.raw);
        if self.state.is_hidden || matches!(self.state.target, Target::Nothing | Target::Fonts) {
            return;
        }
        let (text, _, _) = self.state.encoding.decode(&raw);
        self.put(&text);
    }

    fn put(&mut self, text: &str) {
        if self.state.is_hidden {
            return;
        }
        match self.state.target {
            Target::Text => {
                if self.text.is_empty() {
                    self.begin = self.number;
                }
                self.text.push_str(text);
            }
            Target::Nothing | Target::Fonts => {}
            Target::Styles | Target::Title | Target::Author | Target::Keywords | Target::Mark => {
                self.aside.push_str(text);
            }
        }
    }

    /// Reads what stands behind a backslash.
    fn control(&mut self) {
        let Some(&sign) = self.bytes.get(self.at) else { return };
        if !sign.is_ascii_alphabetic() {
            self.at += 1;
            return self.sign(sign);
        }
        let rest = &self.bytes[self.at..];
        // No control word of the specification is longer than 32 letters.
        let length = rest.iter().take(40).take_while(|byte| byte.is_ascii_alphabetic()).count();
        let name = std::str::from_utf8(&rest[..length]).unwrap_or_default();
        let is_negative = rest.get(length) == Some(&b'-');
        let from = length + usize::from(is_negative);
        let digits =
            rest[from.min(rest.len())..].iter().take(10).take_while(|byte| byte.is_ascii_digit()).count();
        let number = std::str::from_utf8(&rest[from.min(rest.len())..][..digits])
            .unwrap_or_default()
            .parse::<i32>()
            .ok();
        let end = if digits > 0 { from + digits } else { length };
        self.at += end + usize::from(rest.get(end) == Some(&b' '));
        self.word(name, number.map(|number| if is_negative { -number } else { number }));
    }

    fn sign(&mut self, sign: u8) {
        match sign {
            b'\'' => {
                let hex = self.bytes.get(self.at..self.at + 2).and_then(|hex| std::str::from_utf8(hex).ok());
                let Some(byte) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) else { return };
                self.at += 2;
                if self.skipped > 0 { self.skipped -= 1 } else { self.raw.push(byte) }
            }
            b'*' => {
                // A destination that may be ignored is one that this reader does not know, except for these.
                let is_known = |name: &[u8]| self.bytes[self.at..].starts_with(name);
                if !is_known(b"\\shppict") && !is_known(b"\\shptxt") {
                    self.state.target = Target::Nothing;
                }
            }
            b'{' | b'}' | b'\\' => self.raw.push(sign),
            b'~' => self.raw.push(b' '),
            b'_' => self.raw.push(b'-'),
            b'\n' => {
                self.number += 1;
                self.decode();
                self.end_paragraph();
            }
            _ => {}
        }
    }

    fn word(&mut self, name: &str, number: Option<i32>) {
        if name != "u" {
            self.decode();
        }
        let is_on = number != Some(0);
        match name {
            "par" | "sect" | "page" => self.end_paragraph(),
            "line" | "softline" => self.put("\n"),
            "tab" => self.put(" "),
            "cell" | "nestcell" => self.end_cell(),
            "row" | "nestrow" => self.end_row(),
            "pard" => {
                self.paragraph = Paragraph::default();
                self.mark.clear();
            }
            "plain" => self.state.is_hidden = false,
            "v" | "deleted" => self.state.is_hidden = is_on,
            "intbl" => self.paragraph.is_row = true,
            "outlinelevel" if self.state.target == Target::Styles => {
                let level = number.filter(|level| (0..9).contains(level));
                level.map(|level| self.levels.insert(self.style, level as usize + 1));
            }
            "outlinelevel" => self.paragraph.outline = number,
            "s" if self.state.target == Target::Styles => self.style = number.unwrap_or(0),
            "s" => self.paragraph.style = number,
            "ls" => self.paragraph.is_item = is_on,
            "ilvl" => self.paragraph.depth = number.unwrap_or(0).clamp(0, 8) as usize,
            "u" => {
                let code = number.unwrap_or(0);
                self.unicode(if code < 0 { code + 65_536 } else { code } as u32);
            }
            "uc" => self.state.replaced = number.unwrap_or(1).clamp(0, 9) as usize,
            "bin" => self.at = (self.at + number.unwrap_or(0).max(0) as usize).min(self.bytes.len()),
            "ansicpg" => {
                self.default = of_code_page(number.unwrap_or(0));
                self.state.encoding = self.default;
            }
            "mac" => self.default = encoding_rs::MACINTOSH,
            "f" if self.state.target == Target::Fonts => self.font = number.unwrap_or(0),
            "f" => {
                self.state.encoding =
                    self.encodings.get(&number.unwrap_or(0)).copied().unwrap_or(self.default);
            }
            "fcharset" => {
                let encoding = number.and_then(code_page).map_or(self.default, of_code_page);
                self.encodings.insert(self.font, encoding);
            }
            _ => self.destination(name),
        }
    }

    fn destination(&mut self, name: &str) {
        const SIGNS: [(&str, &str); 9] = [
            ("emdash", "—"),
            ("endash", "–"),
            ("bullet", "•"),
            ("lquote", "‘"),
            ("rquote", "’"),
            ("ldblquote", "“"),
            ("rdblquote", "”"),
            ("emspace", " "),
            ("enspace", " "),
        ];
        if let Some((_, shown)) = SIGNS.iter().find(|(known, _)| *known == name) {
            return self.put(shown);
        }
        let target = match name {
            "fonttbl" => Target::Fonts,
            "stylesheet" => Target::Styles,
            "info" | "colortbl" | "pict" | "objdata" | "header" | "headerl" | "headerr" | "headerf"
            | "footer" | "footerl" | "footerr" | "footerf" | "fldinst" | "listtable"
            | "listoverridetable" | "revtbl" | "generator" | "nonshppict" | "xe" | "tc" | "rxe" | "txe"
            | "template" | "themedata" | "datastore" | "filetbl" | "themecolor" => Target::Nothing,
            "title" if self.state.target == Target::Nothing => Target::Title,
            "author" if self.state.target == Target::Nothing => Target::Author,
            "keywords" if self.state.target == Target::Nothing => Target::Keywords,
            "listtext" | "pntext" if self.state.target == Target::Text => Target::Mark,
            "footnote" if self.state.target == Target::Text => {
                self.put(" (");
                self.state.is_note = true;
                return;
            }
            _ => return,
        };
        self.state.target = target;
        if !matches!(target, Target::Nothing | Target::Fonts) {
            self.aside.clear();
        }
    }

    /// Reads a unit of UTF-16; two of them may make one sign.
    fn unicode(&mut self, unit: u32) {
        self.decode();
        self.skipped = self.state.replaced;
        let high = self
            .text
            .chars()
            .next_back()
            .filter(|_| (0xDC00..0xE000).contains(&unit))
            .filter(|last| ('\u{F0000}'..'\u{F0400}').contains(last));
        let sign = match (unit, high) {
            // The first of two waits in a plane for private use.
            (0xD800..0xDC00, _) => char::from_u32(unit - 0xD800 + 0xF_0000),
            (_, Some(high)) => {
                self.text.pop();
                char::from_u32(0x1_0000 + ((high as u32 - 0xF_0000) << 10) + (unit - 0xDC00))
            }
            _ => char::from_u32(unit),
        };
        if let Some(sign) = sign {
            self.put(sign.encode_utf8(&mut [0; 4]));
        }
    }

    fn end_paragraph(&mut self) {
        if self.state.target != Target::Text {
            return self.put(" ");
        }
        if self.paragraph.is_row {
            return self.put(" ");
        }
        self.end_table();
        let text = std::mem::take(&mut self.text);
        if text.trim().is_empty() {
            return;
        }
        let outline =
            self.paragraph.outline.filter(|level| (0..9).contains(level)).map(|level| level as usize + 1);
        let level = outline.or_else(|| self.levels.get(&self.paragraph.style.unwrap_or(0)).copied());
        self.blocks.at(self.begin);
        if let Some(level) = level {
            return self.blocks.heading(level, &text);
        }
        if self.paragraph.is_item {
            let number: String = self.mark.chars().filter(char::is_ascii_digit).take(4).collect();
            let mark = if number.is_empty() { "-".to_owned() } else { format!("{number}.") };
            self.blocks.item(self.paragraph.depth, &mark);
        } else {
            self.blocks.leave(0);
            self.blocks.gap();
        }
        self.blocks.add(&text);
        self.blocks.at(self.number);
        self.blocks.take().map(|text| self.blocks.write(&text)).unwrap_or_default();
    }

    fn end_cell(&mut self) {
        let text = std::mem::take(&mut self.text);
        self.row.push((text, 1, 1));
    }

    fn end_row(&mut self) {
        if !self.text.trim().is_empty() {
            self.end_cell();
        }
        let row = std::mem::take(&mut self.row);
        self.rows.push((row, self.number));
    }

    fn end_table(&mut self) {
        if !self.row.is_empty() {
            let text = std::mem::take(&mut self.text);
            self.end_row();
            self.text = text;
        }
        if !self.rows.is_empty() {
            let rows = std::mem::take(&mut self.rows);
            self.blocks.leave(0);
            self.blocks.table(&rows);
        }
    }
}

/// Returns the code page of a font's character set; `None` for the file's own.
fn code_page(charset: i32) -> Option<i32> {
    Some(match charset {
        77 => 10_000,
        128 => 932,
        129 => 949,
        134 => 936,
        136 => 950,
        161 => 1_253,
        162 => 1_254,
        163 => 1_258,
        177 => 1_255,
        178 => 1_256,
        186 => 1_257,
        204 => 1_251,
        222 => 874,
        238 => 1_250,
        _ => return None,
    })
}

/// Returns the encoding of a Windows code page. Those without one are read as the Western one, in which most letters are the same.
fn of_code_page(page: i32) -> &'static Encoding {
    match page {
        866 => encoding_rs::IBM866,
        874 => encoding_rs::WINDOWS_874,
        932 => encoding_rs::SHIFT_JIS,
        936 => encoding_rs::GBK,
        949 => encoding_rs::EUC_KR,
        950 => encoding_rs::BIG5,
        1_250 => encoding_rs::WINDOWS_1250,
        1_251 => encoding_rs::WINDOWS_1251,
        1_253 => encoding_rs::WINDOWS_1253,
        1_254 => encoding_rs::WINDOWS_1254,
        1_255 => encoding_rs::WINDOWS_1255,
        1_256 => encoding_rs::WINDOWS_1256,
        1_257 => encoding_rs::WINDOWS_1257,
        1_258 => encoding_rs::WINDOWS_1258,
        10_000 => encoding_rs::MACINTOSH,
        65_001 => encoding_rs::UTF_8,
        _ => encoding_rs::WINDOWS_1252,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, expected: &str) {
        let source = format!("{{\\rtf1\\ansi\\ansicpg1252{body}}}");
        let mut document = Document::new(source.as_bytes());
        document.read();
        document.blocks.out.check(&source, expected);
    }

    #[test]
    fn headings_paragraphs_and_items() {
        check(
            "{\\stylesheet{\\s0 Normal;}{\\s1\\outlinelevel0 Kop;}{\\s2 heading 2;}}\\pard\\s1 One\\par\\pard\\s2 Two\\par\\pard plain {\\b bold}\\par\n\
             \\pard{\\listtext\\bullet\\tab}\\ls1 a\\par{\\listtext\\bullet\\tab}\\ilvl1 b\\par\\pard{\\pntext 3.\\tab}c\\par\\pard end",
            "# One\n\n## Two\n\nplain bold\n\n- a\n  - b\n3. c\n\nend",
        );
    }

    #[test]
    fn tables_and_notes() {
        check(
            "\\trowd\\pard\\intbl Name\\cell Age\\cell\\row\\trowd\\pard\\intbl Ann\\par Lee\\cell 40\\cell\\row\\pard x{\\footnote Why.} y\\par",
            "| Name | Age |\n|---|---|\n| Ann Lee | 40 |\n\nx (Why.) y",
        );
    }

    #[test]
    fn letters_are_decoded() {
        check(
            "{\\fonttbl{\\f0\\fcharset0 A;}{\\f1\\fcharset204 B;}{\\f2\\fcharset128 C;}}\\f0 caf\\'e9 \\f1\\'cf\\'f0 \\f2\\'93\\'fa\\f0 \\u8364? \\u-10179?\\u-8704? {\\uc0\\u233}x\\~\\{\\}",
            "café Пр 日€ 😀 éx {}",
        );
    }

    #[test]
    fn what_no_reader_sees_is_left_out() {
        check(
            "{\\info{\\title T}{\\author A}}{\\*\\generator G;}{\\header H\\par}a{\\v hidden}{\\pict 00ff}{\\field{\\*\\fldinst HYPERLINK \"x\"}{\\fldrslt link}}\\bin3 xyzb",
            "alinkb",
        );
        let made = parse(
            b"{\\rtf1{\\info{\\title The title}{\\author Ann}{\\keywords a, b}}text}",
            &Settings::default(),
        )
        .expect("RTF");
        assert_eq!(made.title.as_deref(), Some("The title"));
        assert_eq!((made.tags.len(), made.metadata["author"].as_str()), (2, Some("Ann")));
        assert!(parse(b"text", &Settings::default()).is_err());
    }
}
