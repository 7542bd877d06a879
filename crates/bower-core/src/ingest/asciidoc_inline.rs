//! Turns the marks inside a paragraph of `AsciiDoc` into text: attributes, macros, links, quotation marks and emphasis.

use std::cell::Cell;
use std::collections::HashMap;

use super::blocks::without_marks;
use super::missing_marks::MissingMarks;

/// Longest value of an attribute, in bytes; values contain others, so that without a limit they would double with each line.
const LONGEST_VALUE: usize = 2 << 10;

/// Bytes that all references to attributes may add to a document.
const MOST_EXPANDED: usize = 1 << 20;

/// Attributes that are always set (docs.asciidoctor.org, "Character Replacement Attributes Reference").
const INTRINSIC: [(&str, &str); 31] = [
    ("blank", ""),
    ("empty", ""),
    ("sp", " "),
    ("nbsp", " "),
    ("zwsp", ""),
    ("wj", ""),
    ("apos", "'"),
    ("quot", "\""),
    ("lsquo", "‘"),
    ("rsquo", "’"),
    ("ldquo", "“"),
    ("rdquo", "”"),
    ("deg", "°"),
    ("plus", "+"),
    ("brvbar", "¦"),
    ("vbar", "|"),
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("startsb", "["),
    ("endsb", "]"),
    ("caret", "^"),
    ("asterisk", "*"),
    ("tilde", "~"),
    ("backslash", "\\"),
    ("backtick", "`"),
    ("two-colons", "::"),
    ("two-semicolons", ";;"),
    ("cpp", "C++"),
    ("cxx", "C++"),
    ("pp", "++"),
];

/// The attributes that a document has set.
#[derive(Default)]
pub(super) struct Attributes {
    values: HashMap<String, String>,
    /// Bytes that references have added.
    added: Cell<usize>,
}

impl Attributes {
    /// Sets an attribute; a name with `!` unsets it.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        if name.contains('!') {
            self.values.remove(name.trim_matches('!'));
        } else {
            let mut value = self.expanded(value);
            if value.len() <= LONGEST_VALUE {
                value.shrink_to_fit();
                self.values.insert(name.to_owned(), value);
            }
        }
    }

    /// Returns a text with the values of its attributes. Unknown ones stay as they are.
    pub(super) fn expanded(&self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('{') {
            shown.push_str(&rest[..at]);
            rest = &rest[at..];
            if shown.ends_with('\\') {
                shown.pop();
                shown.push('{');
                rest = &rest[1..];
                continue;
            }
            let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
            let length = rest[1..].bytes().take_while(|&byte| is_name(byte)).count();
            let value = rest[1 + length..].starts_with('}').then(|| self.value(&rest[1..=length])).flatten();
            if let Some(value) = value.filter(|value| self.added.get() + value.len() <= MOST_EXPANDED) {
                self.added.set(self.added.get() + value.len());
                shown.push_str(value);
                rest = &rest[length + 2..];
            } else {
                shown.push_str(&rest[..=length]);
                rest = &rest[1 + length..];
            }
        }
        shown.push_str(rest);
        shown
    }

    fn value(&self, name: &str) -> Option<&str> {
        let intrinsic = || INTRINSIC.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        self.values.get(name).map(String::as_str).or_else(intrinsic)
    }
}

/// Returns a paragraph as its reader sees it.
pub(super) fn shown(text: &str, known: &Attributes) -> String {
    let expanded = known.expanded(text);
    let mut inline = Inline {
        rest: &expanded,
        shown: String::with_capacity(expanded.len()),
        word: 0,
        missing: MissingMarks::default(),
    };
    inline.read();
    // `'` marks emphasis in AsciiDoc.py.
    without_marks(&inline.shown, &['*', '_', '#', '\'', '+'])
}

struct Inline<'a> {
    rest: &'a str,
    shown: String,
    /// Where the current word begins in `shown`.
    word: usize,
    missing: MissingMarks,
}

impl Inline<'_> {
    fn read(&mut self) {
        while let Some(letter) = self.rest.chars().next() {
            let is_taken = match letter {
                '[' => self.brackets(),
                '<' => self.reference(),
                '(' => self.index_term(),
                '`' => self.code(),
                '"' | '\'' => self.curved_quotes(letter),
                '+' => self.passed_through(),
                '^' | '~' => self.raised(letter),
                '\\' => {
                    // It takes the meaning of the next sign away.
                    let is_macro = self.rest[1..]
                        .starts_with(|next: char| "[<({".contains(next) || next.is_alphanumeric());
                    if is_macro {
                        self.rest = &self.rest[1..];
                        self.word = usize::MAX;
                    }
                    is_macro
                }
                _ => false,
            };
            if !is_taken {
                self.shown.push(letter);
                self.rest = &self.rest[letter.len_utf8()..];
                if letter.is_whitespace() || "(,".contains(letter) {
                    self.word = self.shown.len();
                }
            }
        }
    }

    /// Reads the brackets of a macro, an anchor, or a role before marked text.
    fn brackets(&mut self) -> bool {
        let (before, tail) = self.shown.split_at(self.word.min(self.shown.len()));
        let start = before.len();
        let colon = tail.find(':');
        if let Some(name_end) = colon {
            let letters = tail[..name_end].bytes().rev();
            let length = letters
                .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
                .count();
            let name = tail[name_end - length..name_end].to_owned();
            let target = tail[name_end + 1..].to_owned();
            if name.starts_with(|letter: char| letter.is_ascii_alphabetic())
                && let Some(inside) = self.until_bracket(1)
            {
                self.shown.truncate(start + name_end - length);
                self.put_macro(&name, &target, &inside);
                self.word = self.shown.len();
                return true;
            }
        }
        self.word = usize::MAX;
        if self.rest.starts_with("[[") {
            let anchor = self.rest[2..]
                .split_once("]]")
                .filter(|(inside, _)| inside.len() < 200 && !inside.contains(['\n', '[']));
            if let Some((_, rest)) = anchor {
                self.rest = rest;
                return true;
            }
        }
        // `[.role]#text#`
        let role = self.rest[1..].bytes().take(100).position(|byte| byte == b']');
        if let Some(end) = role.filter(|&end| end > 0)
            && self.rest[end + 2..].starts_with(['#', '*', '_', '`'])
            && self.rest[1..]
                .starts_with(|letter: char| letter == '.' || letter == '#' || letter.is_alphabetic())
            && !self.shown.ends_with(char::is_alphanumeric)
        {
            self.rest = &self.rest[end + 2..];
            return true;
        }
        false
    }

    /// Takes what stands before `]`; `\]` ends nothing.
    fn until_bracket(&mut self, skip: usize) -> Option<String> {
        let mut inside = self.missing.until(&mut self.rest, skip, "]")?.to_owned();
        while inside.ends_with('\\')
            && let Some(more) = self.missing.until(&mut self.rest, 0, "]")
        {
            inside.pop();
            inside.push(']');
            inside.push_str(more);
        }
        Some(inside)
    }

    fn put_macro(&mut self, name: &str, target: &str, inside: &str) {
        let is_section = inside.len() < 10 && inside.starts_with(|letter: char| letter.is_ascii_digit());
        let text = link_text(inside);
        match name {
            "anchor" | "indexterm" | "toc" | "icon" => {}
            "image" | "video" | "audio" => self.shown.push_str(alternative(inside)),
            "stem" | "latexmath" | "asciimath" => {
                self.shown.push('$');
                self.shown.push_str(inside);
                self.shown.push('$');
            }
            "footnote" | "footnoteref" => {
                self.shown.push_str(" (");
                self.shown.push_str(inside.trim());
                self.shown.push(')');
            }
            "kbd" | "btn" | "pass" | "indexterm2" | "term" => self.shown.push_str(inside),
            "menu" => {
                self.shown.push_str(target);
                self.shown.push_str(if inside.is_empty() { "" } else { " > " });
                self.shown.push_str(inside);
            }
            // A page of the manual, as in `linkgit:git-add[1]`.
            _ if is_section && !target.is_empty() && !target.starts_with("//") => {
                self.shown.push_str(target);
                self.shown.push('(');
                self.shown.push_str(inside);
                self.shown.push(')');
            }
            _ if !text.is_empty() => self.shown.push_str(text),
            "http" | "https" | "ftp" | "irc" => {
                self.shown.push_str(name);
                self.shown.push(':');
                self.shown.push_str(target);
            }
            _ => self.shown.push_str(target.trim_end_matches('#')),
        }
    }

    /// Reads `<<id,text>>`.
    fn reference(&mut self) -> bool {
        if !self.rest.starts_with("<<") || self.rest[2..].starts_with([' ', '<', '-']) {
            return false;
        }
        let Some(inside) = self.missing.until(&mut self.rest, 2, ">>") else { return false };
        let (id, text) = inside.split_once(',').unwrap_or((inside, ""));
        let text = if text.trim().is_empty() { id.trim_start_matches('#') } else { text };
        self.shown.push_str(text.trim());
        true
    }

    /// Reads `((term))`, which is shown, and `(((term)))`, which is not.
    fn index_term(&mut self) -> bool {
        if self.rest.starts_with("(((") {
            return self.missing.until(&mut self.rest, 3, ")))").is_some();
        }
        let is_term = self.rest.starts_with("((") && !self.rest[2..].starts_with([' ', '(']);
        if let Some(term) = is_term.then(|| self.missing.until(&mut self.rest, 2, "))")).flatten() {
            self.shown.push_str(term);
            return true;
        }
        false
    }

    /// Reads code between backticks, and the quotation marks of AsciiDoc.py.
    fn code(&mut self) -> bool {
        if self.rest.starts_with("``")
            && !self.rest[2..].starts_with(['`', ' '])
            && let Some(quoted) =
                self.rest[2..].find("''").filter(|end| !self.rest[2..2 + end].contains('`') && *end < 500)
        {
            self.shown.push('“');
            self.shown.push_str(&self.rest[2..2 + quoted]);
            self.shown.push('”');
            self.rest = &self.rest[quoted + 4..];
            return true;
        }
        let mark = if self.rest.starts_with("``") { "``" } else { "`" };
        let is_open = self.rest[mark.len()..].starts_with(|next: char| !next.is_whitespace() && next != '`');
        let Some(code) = is_open.then(|| self.missing.until(&mut self.rest, mark.len(), mark)).flatten()
        else {
            return false;
        };
        let code = code.strip_prefix('+').and_then(|code| code.strip_suffix('+')).unwrap_or(code);
        let code = code.strip_prefix("++").and_then(|code| code.strip_suffix("++")).unwrap_or(code);
        self.shown.push('`');
        self.shown.push_str(code);
        self.shown.push('`');
        self.word = self.shown.len();
        true
    }

    /// Reads quotation marks around backticks, which make them curved.
    fn curved_quotes(&mut self, letter: char) -> bool {
        let (open, close, shown) =
            if letter == '"' { ("\"`", "`\"", ['“', '”']) } else { ("'`", "`'", ['‘', '’']) };
        let Some(quoted) =
            self.rest.starts_with(open).then(|| self.missing.until(&mut self.rest, 2, close)).flatten()
        else {
            return false;
        };
        self.shown.push(shown[0]);
        self.shown.push_str(quoted);
        self.shown.push(shown[1]);
        true
    }

    /// Reads text without white space between two signs that raise or lower it.
    fn raised(&mut self, sign: char) -> bool {
        let is_end = |byte: u8| byte == sign as u8 || byte.is_ascii_whitespace();
        let end = self.rest[1..].bytes().take(80).position(is_end).filter(|&end| end > 0);
        let Some(end) = end.filter(|&end| self.rest[1 + end..].starts_with(sign)) else { return false };
        self.shown.push_str(&self.rest[1..=end]);
        self.rest = &self.rest[end + 2..];
        true
    }

    fn passed_through(&mut self) -> bool {
        let mark = if self.rest.starts_with("+++") { "+++" } else { "++" };
        let is_open =
            self.rest.starts_with(mark) && !self.rest[mark.len()..].starts_with([' ', '+', '\n', ',', '.']);
        let Some(inside) = is_open.then(|| self.missing.until(&mut self.rest, mark.len(), mark)).flatten()
        else {
            return false;
        };
        self.shown.push_str(inside);
        true
    }
}

/// Returns the text of a link without the attributes behind it.
fn link_text(inside: &str) -> &str {
    let inside = inside.trim();
    if let Some((quoted, _)) = inside.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
        return quoted;
    }
    let end = inside.find(',').filter(|&at| inside[at..].contains('=')).unwrap_or(inside.len());
    let first = &inside[..end];
    let is_attribute =
        first.split_once('=').is_some_and(|(name, _)| name.bytes().all(|byte| byte.is_ascii_lowercase()));
    if is_attribute { "" } else { first.trim_end_matches('^') }
}

/// Returns the alternative text of an image.
fn alternative(inside: &str) -> &str {
    let named = inside.split(',').find_map(|part| part.trim().strip_prefix("alt="));
    named.unwrap_or_else(|| link_text(inside.split(',').next().unwrap_or_default())).trim_matches('"')
}
