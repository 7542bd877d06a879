//! Turns the marks inside a paragraph of reStructuredText into text: roles, references, literals and emphasis.

use std::collections::HashMap;

use super::blocks::without_marks;
use super::missing_marks::MissingMarks;

/// Longest text of a substitution, in bytes; a longer one is no text inside a sentence.
const LONGEST: usize = 1 << 10;

/// The texts that a document defines for `|name|`.
#[derive(Default)]
pub(super) struct Substitutions {
    texts: HashMap<String, String>,
}

impl Substitutions {
    /// Finds the definitions, which may stand behind their use.
    pub(super) fn of(source: &str) -> Self {
        let mut texts = HashMap::new();
        for line in source.lines() {
            let Some((name, rest)) =
                line.trim_start().strip_prefix(".. |").and_then(|rest| rest.split_once('|'))
            else {
                continue;
            };
            let Some((kind, text)) = rest.trim_start().split_once("::") else { continue };
            let text = if kind == "replace" { text.trim() } else { "" };
            if text.len() <= LONGEST && (kind == "replace" || kind == "image") {
                texts.insert(name.to_owned(), text.to_owned());
            }
        }
        Self { texts }
    }
}

/// Returns a paragraph as its reader sees it.
pub(super) fn shown(text: &str, substitutions: &Substitutions) -> String {
    let mut inline = Inline {
        rest: text,
        shown: String::with_capacity(text.len()),
        missing: MissingMarks::default(),
        added: 0,
    };
    inline.read(substitutions);
    without_marks(&inline.shown, &['*'])
}

struct Inline<'a> {
    rest: &'a str,
    shown: String,
    missing: MissingMarks,
    /// Bytes that substitutions have added.
    added: usize,
}

impl Inline<'_> {
    fn read(&mut self, substitutions: &Substitutions) {
        while let Some(letter) = self.rest.chars().next() {
            let is_taken = match letter {
                '`' => self.backticks(),
                ':' => self.role(),
                '|' => self.substitution(substitutions),
                '_' => self.reference(),
                '\\' => self.escape(),
                _ => false,
            };
            if !is_taken {
                self.shown.push(letter);
                self.rest = &self.rest[letter.len_utf8()..];
            }
        }
    }

    /// Reads a literal, a reference, or text with a role behind it.
    fn backticks(&mut self) -> bool {
        if self.rest.starts_with("``") {
            let Some(code) = self.missing.until(&mut self.rest, 2, "``") else { return false };
            // A backtick at its end belongs to the literal.
            let more = self.rest.len() - self.rest.trim_start_matches('`').len();
            self.rest = &self.rest[more..];
            if code.contains('`') || more > 0 {
                self.shown.push_str(code);
                self.shown.push_str(&"`".repeat(more));
            } else {
                self.put(&["`", code, "`"]);
            }
            return true;
        }
        let Some(text) = self.missing.until(&mut self.rest, 1, "`") else { return false };
        let mut role = "";
        if let Some((name, rest)) = self.rest.strip_prefix(':').and_then(|rest| rest.split_once(':'))
            && is_role(name)
        {
            (role, self.rest) = (name, rest);
        }
        self.rest = self.rest.strip_prefix("__").or_else(|| self.rest.strip_prefix('_')).unwrap_or(self.rest);
        self.interpreted(role, text);
        true
    }

    /// Reads `:role:` before backticks.
    fn role(&mut self) -> bool {
        // No role of docutils or Sphinx has a longer name.
        let end = self.rest.bytes().take(40).position(|byte| byte == b'`');
        let Some(name) =
            end.and_then(|end| self.rest[1..end.max(1)].strip_suffix(':')).filter(|name| is_role(name))
        else {
            return false;
        };
        if self.rest[name.len() + 2..].starts_with("``") {
            return false;
        }
        let Some(text) = self.missing.until(&mut self.rest, name.len() + 3, "`") else { return false };
        self.interpreted(name, text);
        true
    }

    /// Writes the text of a role or a reference: `text <target>` without its target.
    fn interpreted(&mut self, role: &str, text: &str) {
        match role {
            "math" => return self.put(&["$", text, "$"]),
            // How many cells a cell of a flat-table spans.
            "cspan" | "rspan" => return,
            _ => {}
        }
        if let Some((shown, target)) = text.strip_suffix('>').and_then(|text| text.rsplit_once('<'))
            && (shown.is_empty() || shown.ends_with(char::is_whitespace))
        {
            let shown = shown.trim_end();
            return self.put(&[if shown.is_empty() { target } else { shown }]);
        }
        let name = text.trim_start_matches(['~', '!']);
        // A number alone says nothing without its kind: `PEP 8`, `RFC 1234`.
        if !role.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) {
            return self.put(&[&role.to_uppercase(), " ", name]);
        }
        self.put(&[name]);
    }

    fn put(&mut self, parts: &[&str]) {
        for part in parts {
            self.shown.push_str(part);
        }
    }

    fn substitution(&mut self, substitutions: &Substitutions) -> bool {
        let end = self.rest[1..].bytes().take(80).position(|byte| byte == b'|');
        let Some(name) = end.and_then(|end| self.rest.get(1..=end)) else { return false };
        if name.starts_with(' ') || name.ends_with(' ') {
            return false;
        }
        let Some(text) = substitutions.texts.get(name).filter(|text| self.added + text.len() <= 64 * LONGEST)
        else {
            return false;
        };
        self.added += text.len();
        self.shown.push_str(text);
        self.rest = self.rest[name.len() + 2..].trim_start_matches('_');
        true
    }

    /// Drops the `_` behind the word or the bracket that it makes a reference.
    fn reference(&mut self) -> bool {
        let behind = self.rest.trim_start_matches('_');
        let length = self.rest.len() - behind.len();
        let is_end = !behind.starts_with(|letter: char| letter.is_alphanumeric() || "`*".contains(letter));
        let is_mark = length <= 2
            && is_end
            && self.shown.ends_with(|letter: char| letter.is_alphanumeric() || letter == ']');
        let is_target = length == 1
            && behind.starts_with('`')
            && !self.shown.ends_with(|letter: char| letter.is_alphanumeric());
        if is_mark || is_target {
            self.rest = behind;
        } else {
            self.shown.push_str(&self.rest[..length]);
            self.rest = behind;
        }
        true
    }

    /// Reads a backslash: it and the white space behind it vanish; another sign loses its meaning.
    fn escape(&mut self) -> bool {
        let Some(next) = self.rest[1..].chars().next() else { return false };
        if next == '*' {
            self.shown.push('\\');
        }
        if !next.is_whitespace() {
            self.shown.push(next);
        }
        self.rest = &self.rest[1 + next.len_utf8()..];
        true
    }
}

fn is_role(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_:.+".contains(&byte))
}
