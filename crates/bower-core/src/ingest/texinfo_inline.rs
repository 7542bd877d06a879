//! Turns the commands inside a paragraph of Texinfo into text: fonts, references, signs and notes.

use std::collections::HashMap;
use unicode_normalization::char::compose;

use super::latex_commands::accent;
use super::latex_symbols::symbol;

/// Longest value of `@set`, in bytes.
const LONGEST: usize = 200;

/// References inside of references that are read.
const DEEPEST: usize = 4;

/// The values that `@set` gave.
#[derive(Default)]
pub(super) struct TexinfoValues {
    values: HashMap<String, String>,
}

impl TexinfoValues {
    /// Reads what stands behind `@set`.
    pub(super) fn set(&mut self, rest: &str) {
        let (name, value) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
        if value.len() <= LONGEST && !value.contains('@') {
            self.values.insert(name.to_owned(), value.trim().to_owned());
        }
    }
}

/// Returns a paragraph as its reader sees it. In code, signs stand for themselves, and nothing is marked as code.
pub(super) fn shown(text: &str, values: &TexinfoValues, is_code: bool) -> String {
    inline(text, values, is_code, 0)
}

fn inline(text: &str, values: &TexinfoValues, is_code: bool, depth: usize) -> String {
    let mut inline = Inline {
        rest: text,
        shown: String::with_capacity(text.len()),
        closes: Vec::new(),
        values,
        depth,
        is_code,
    };
    inline.read();
    inline.shown
}

struct Inline<'a> {
    rest: &'a str,
    shown: String,
    /// What is written where each open brace closes.
    closes: Vec<&'static str>,
    values: &'a TexinfoValues,
    depth: usize,
    is_code: bool,
}

impl<'a> Inline<'a> {
    fn read(&mut self) {
        const SIGNS: [(&str, &str); 4] = [("---", "—"), ("--", "–"), ("``", "“"), ("''", "”")];
        while let Some(letter) = self.rest.chars().next() {
            match letter {
                '@' => {
                    self.rest = &self.rest[1..];
                    self.command();
                    continue;
                }
                '}' => {
                    let close = self.closes.pop().unwrap_or_default();
                    self.shown.push_str(close);
                }
                '{' => {
                    if self.closes.is_empty() && self.is_code {
                        self.shown.push('{');
                    }
                    self.closes.push("");
                }
                '-' | '`' | '\'' if !self.is_code && !self.closes.contains(&"`") => {
                    if let Some((sign, shown)) = SIGNS.iter().find(|(sign, _)| self.rest.starts_with(sign)) {
                        self.shown.push_str(shown);
                        self.rest = &self.rest[sign.len()..];
                        continue;
                    }
                    self.shown.push(letter);
                }
                _ => self.shown.push(letter),
            }
            self.rest = &self.rest[letter.len_utf8()..];
        }
        while let Some(close) = self.closes.pop() {
            self.shown.push_str(close);
        }
    }

    fn command(&mut self) {
        let length = self.rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        if length == 0 {
            return self.sign();
        }
        let (name, rest) = self.rest.split_at(length);
        self.rest = rest;
        if matches!(name, "c" | "comment") {
            self.rest = &self.rest[self.rest.find('\n').unwrap_or(self.rest.len())..];
            return;
        }
        let Some(rest) = self.rest.strip_prefix('{') else { return };
        if let Some(combining) = accent(name).filter(|_| length == 1 || name == "u") {
            return self.accented(combining);
        }
        match name {
            "xref" | "ref" | "pxref" | "inforef" | "url" | "uref" | "email" | "image" | "acronym"
            | "abbr" | "value" | "anchor" | "inlineraw" | "inlinefmt" | "U" | "link" | "indicateurl" => {
                self.with_arguments(name);
            }
            "math" => self.open(rest, "$", "$"),
            "footnote" => self.open(rest, " (", ")"),
            "code" | "samp" | "command" | "option" | "kbd" | "verb"
                if !self.is_code && !self.closes.contains(&"`") && !rest.starts_with(['`', '}']) =>
            {
                self.open(rest, "`", "`");
            }
            _ => {
                let text = sign(name).or_else(|| symbol(name));
                match text.filter(|_| rest.starts_with('}')) {
                    Some(text) => {
                        self.shown.push_str(text);
                        self.rest = &rest[1..];
                    }
                    None => self.open(rest, "", ""),
                }
            }
        }
    }

    fn open(&mut self, rest: &'a str, before: &str, behind: &'static str) {
        self.shown.push_str(before);
        self.closes.push(behind);
        self.rest = rest;
    }

    /// Reads a command that is one sign.
    fn sign(&mut self) {
        let Some(sign) = self.rest.chars().next() else { return };
        self.rest = &self.rest[sign.len_utf8()..];
        match sign {
            '@' | '{' | '}' | '.' | '!' | '?' | '&' | '\\' => self.shown.push(sign),
            ' ' | '\n' | '\t' | '*' => self.shown.push(if sign == '*' { ' ' } else { sign }),
            '\'' | '`' | '"' | '^' | '~' | '=' => self.accented(accent(&sign.to_string()).unwrap_or(' ')),
            ',' => self.accented('\u{327}'),
            _ => {}
        }
    }

    /// Puts an accent on the next letter, which may stand in braces.
    fn accented(&mut self, combining: char) {
        let is_grouped = self.rest.starts_with('{');
        let rest = &self.rest[usize::from(is_grouped)..];
        let Some(letter) = rest.chars().next().filter(|letter| letter.is_alphabetic()) else { return };
        self.rest = &rest[letter.len_utf8()..];
        match compose(letter, combining) {
            Some(composed) => self.shown.push(composed),
            None => self.shown.extend([letter, combining]),
        }
        if is_grouped {
            self.rest = self.rest.strip_prefix('}').unwrap_or(self.rest);
        }
    }

    /// Reads a command whose arguments stand between commas.
    fn with_arguments(&mut self, name: &str) {
        let Some(inside) = self.braces() else {
            self.rest = self.rest.strip_prefix('{').unwrap_or(self.rest);
            return;
        };
        let arguments: Vec<&str> = inside.split(',').map(str::trim).collect();
        let argument = |at: usize| arguments.get(at).copied().filter(|argument| !argument.is_empty());
        let first = argument(0).unwrap_or_default();
        let text = match name {
            "value" => self.values.values.get(first).cloned().unwrap_or_else(|| format!("{{{first}}}")),
            "anchor" => String::new(),
            "image" => argument(3).unwrap_or_default().to_owned(),
            "xref" => format!("See {}", argument(2).or(argument(1)).unwrap_or(first)),
            "pxref" => format!("see {}", argument(2).or(argument(1)).unwrap_or(first)),
            "acronym" | "abbr" => argument(1).map_or(first.to_owned(), |long| format!("{first} ({long})")),
            "inlineraw" | "inlinefmt" => {
                argument(1).filter(|_| first == "plaintext").unwrap_or_default().to_owned()
            }
            "U" => u32::from_str_radix(first, 16)
                .ok()
                .and_then(char::from_u32)
                .map(String::from)
                .unwrap_or_default(),
            _ => argument(2).or(argument(1)).unwrap_or(first).to_owned(),
        };
        if self.depth < DEEPEST && name != "value" {
            let is_code = self.is_code || self.closes.contains(&"`");
            self.shown.push_str(&inline(&text, self.values, is_code, self.depth + 1));
        } else {
            self.shown.push_str(&text);
        }
    }

    /// Takes what stands in braces.
    fn braces(&mut self) -> Option<&'a str> {
        // References go over few lines.
        const FARTHEST: usize = 2 << 10;
        let (mut depth, mut is_escaped) = (0_usize, false);
        for (at, byte) in self.rest.bytes().enumerate().take(FARTHEST) {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'@' => is_escaped = true,
                b'{' => depth += 1,
                b'}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                let inside = &self.rest[1..at];
                self.rest = &self.rest[at + 1..];
                return Some(inside);
            }
        }
        None
    }
}

/// Returns what a command of Texinfo's own shows.
fn sign(name: &str) -> Option<&'static str> {
    Some(match name {
        "result" => "⇒",
        "expansion" => "↦",
        "print" => "⊣",
        "equiv" => "≡",
        "error" => "error→",
        "point" => "⋆",
        "minus" => "−",
        "comma" => ",",
        "tie" => " ",
        "atchar" => "@",
        "lbracechar" => "{",
        "rbracechar" => "}",
        "backslashchar" => "\\",
        "hashchar" => "#",
        "arrow" => "→",
        "exclamdown" => "¡",
        "questiondown" => "¿",
        "enddots" => "…",
        "quotedblleft" => "“",
        "quotedblright" => "”",
        "quoteleft" => "‘",
        "quoteright" => "’",
        "registeredsymbol" => "®",
        _ => return None,
    })
}
