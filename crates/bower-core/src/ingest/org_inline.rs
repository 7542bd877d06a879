//! Turns the marks inside a paragraph of Org into text: links, code, notes at the foot and emphasis.

use super::blocks::without_marks;
use super::latex_symbols;
use super::missing_marks::MissingMarks;

/// Returns a paragraph as its reader sees it.
pub(super) fn shown(text: &str) -> String {
    let mut inline =
        Inline { rest: text, shown: String::with_capacity(text.len()), missing: MissingMarks::default() };
    inline.read();
    without_marks(&inline.shown, &['*', '/', '_', '+'])
}

struct Inline<'a> {
    rest: &'a str,
    shown: String,
    missing: MissingMarks,
}

impl Inline<'_> {
    fn read(&mut self) {
        while let Some(letter) = self.rest.chars().next() {
            let is_taken = match letter {
                '[' => self.link() || self.note(),
                '=' => self.code("="),
                '~' => self.code("~"),
                '<' => self.target(),
                '@' if self.rest.starts_with("@@") => self.missing.until(&mut self.rest, 2, "@@").is_some(),
                '{' => self.call(),
                '\\' => self.entity(),
                '*' if self.rest.starts_with("**") => {
                    // Two stars are no emphasis in Org, but in Markdown.
                    self.shown.push_str("\\*\\*");
                    self.rest = &self.rest[2..];
                    true
                }
                _ => false,
            };
            if !is_taken {
                self.shown.push(letter);
                self.rest = &self.rest[letter.len_utf8()..];
            }
        }
    }

    /// Reads `[[target][text]]`.
    fn link(&mut self) -> bool {
        let Some(inside) =
            self.rest.starts_with("[[").then(|| self.missing.until(&mut self.rest, 2, "]]")).flatten()
        else {
            return false;
        };
        let (target, text) = inside.split_once("][").unwrap_or((inside, ""));
        let target = ["file:", "id:", "#", "*"]
            .iter()
            .fold(target, |target, kind| target.strip_prefix(kind).unwrap_or(target));
        self.shown.push_str(if text.is_empty() { target } else { text });
        true
    }

    /// Reads `[fn:1]`, a note at the foot, or `[fn:: text]`, whose text stands here.
    fn note(&mut self) -> bool {
        let Some(inside) =
            self.rest.starts_with("[fn:").then(|| self.missing.until(&mut self.rest, 4, "]")).flatten()
        else {
            return false;
        };
        if let Some((_, text)) = inside.split_once(':') {
            self.shown.push_str(" (");
            self.shown.push_str(text.trim());
            self.shown.push(')');
        } else {
            self.shown.push('[');
            self.shown.push_str(inside);
            self.shown.push(']');
        }
        true
    }

    /// Reads code between two signs, of which the first stands before a word and the second behind one.
    fn code(&mut self, sign: &'static str) -> bool {
        let before = self.shown.chars().next_back().unwrap_or(' ');
        let opens = |letter: char| letter.is_whitespace() || "-—({'\"[|".contains(letter);
        let is_open = opens(before) && self.rest[1..].starts_with(|next: char| !next.is_whitespace());
        if !is_open {
            return false;
        }
        // Code goes over few lines; farther signs are others.
        let limit = self.rest.char_indices().nth(400).map_or(self.rest.len(), |(at, _)| at);
        let ends = self.rest[1..limit].match_indices(sign).map(|(at, _)| at + 1);
        let end = ends.filter(|&at| at > 1).find(|&at| {
            let behind = self.rest[at + 1..].chars().next().unwrap_or(' ');
            let is_end = behind.is_whitespace() || "-—.,;:!?'\")}[]\\|*/_+".contains(behind);
            is_end && !self.rest[..at].ends_with(char::is_whitespace)
        });
        let Some(end) = end else { return false };
        let code = &self.rest[1..end];
        if code.contains('`') {
            self.shown.push_str(code);
        } else {
            self.shown.push('`');
            self.shown.push_str(code);
            self.shown.push('`');
        }
        self.rest = &self.rest[end + 1..];
        true
    }

    /// Drops `<<target>>`, and keeps the text of `<<<target>>>`.
    fn target(&mut self) -> bool {
        if self.rest.starts_with("<<<") {
            let Some(text) = self.missing.until(&mut self.rest, 3, ">>>") else { return false };
            self.shown.push_str(text);
            return true;
        }
        let is_target =
            self.rest.starts_with("<<") && self.rest[2..].starts_with(|next: char| next.is_alphanumeric());
        is_target && self.missing.until(&mut self.rest, 2, ">>").is_some()
    }

    /// Keeps the arguments of a macro: `{{{name(a,b)}}}`.
    fn call(&mut self) -> bool {
        let Some(inside) =
            self.rest.starts_with("{{{").then(|| self.missing.until(&mut self.rest, 3, "}}}")).flatten()
        else {
            return false;
        };
        let arguments = inside.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
        self.shown.push_str(arguments.unwrap_or_default());
        true
    }

    /// Reads `\alpha`, `\nbsp{}`, and `\\` at the end of a line.
    fn entity(&mut self) -> bool {
        let rest = &self.rest[1..];
        if rest.starts_with("\\\n") || rest == "\\" {
            self.rest = &rest[1..];
            return true;
        }
        let length = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let Some(symbol) = latex_symbols::symbol(&rest[..length]) else { return false };
        self.shown.push_str(symbol);
        let behind = &rest[length..];
        self.rest = behind.strip_prefix("{}").unwrap_or(behind);
        true
    }
}
