//! A small reader of Rust source for the rules: tokens without comments and literals, and every path named.
//! It never fails: what it cannot understand it passes over.

/// A word or a sign of the source, with the line it stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// An identifier or keyword, `::`, or one other character.
    pub text: String,
    /// Counted from 1.
    pub line: usize,
}

/// A path that the source names, from `use` (groups flattened) or in the middle of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The parts between the `::`, as written: `["super", "item", "RowId"]`; a glob ends in `*`, a macro in `!`.
    pub parts: Vec<String>,
    /// Inline modules (`mod tests { … }`) around it, outermost first.
    pub inside: Vec<String>,
    /// From a `use` that is visible outside of its module.
    pub is_exported: bool,
    /// Where it begins, counted from 1.
    pub line: usize,
}

impl Named {
    /// The path from the crate's root, named in the module `here`; `None` where it does not say that it leads into the crate (by `crate`,
    /// `self` or `super`), or leads above its root.
    pub fn absolute(&self, here: &[String]) -> Option<Vec<String>> {
        let mut path: Vec<String> = here.iter().chain(&self.inside).cloned().collect();
        let rest = match self.parts.first()?.as_str() {
            "crate" => {
                path.clear();
                &self.parts[1..]
            }
            "self" => &self.parts[1..],
            "super" => {
                let ups = self.parts.iter().take_while(|part| *part == "super").count();
                path.truncate(path.len().checked_sub(ups)?);
                &self.parts[ups..]
            }
            _ => return None,
        };
        path.extend_from_slice(rest);
        Some(path)
    }
}

/// The module of a file by its path below `src/`: its parts, none for the crate's root.
pub fn module_of(path: &str) -> Option<Vec<String>> {
    let mut parts: Vec<String> = path.strip_suffix(".rs")?.split('/').map(str::to_owned).collect();
    if matches!(parts.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        parts.pop();
    }
    Some(parts)
}

/// The tokens of a source text. Comments vanish, string and character literals too; lifetimes keep their name only.
pub fn tokens(source: &str) -> Vec<Token> {
    let chars: Vec<char> = source.chars().collect();
    let (mut tokens, mut at, mut line) = (Vec::new(), 0, 1);
    while at < chars.len() {
        let rest = &chars[at..];
        let skipped = comment(rest).or_else(|| string(rest)).or_else(|| character(rest));
        if let Some(length) = skipped {
            line += rest[..length].iter().filter(|c| **c == '\n').count();
            at += length;
        } else if is_word(rest[0]) {
            let length = rest.iter().take_while(|c| is_word(**c)).count();
            tokens.push(Token { text: rest[..length].iter().collect(), line });
            at += length;
        } else if rest.starts_with(&[':', ':']) {
            tokens.push(Token { text: "::".into(), line });
            at += 2;
        } else {
            if rest[0] == '\n' {
                line += 1;
            } else if !rest[0].is_whitespace() && rest[0] != '\'' {
                tokens.push(Token { text: rest[0].into(), line });
            }
            at += 1;
        }
    }
    tokens
}

/// The tokens without what is compiled for tests alone: an item under `#[cfg(test)]` or `#[test]`, to its end.
pub fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let (mut kept, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        if starts(&tokens[at..], &["#", "[", "cfg", "(", "test", ")", "]"])
            || starts(&tokens[at..], &["#", "[", "test", "]"])
        {
            at += item_length(&tokens[at..]);
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// Every path of the source: each leaf of each `use` tree, and each `a::b::c` or `name!` in code.
pub fn named(tokens: &[Token]) -> Vec<Named> {
    let mut found = Vec::new();
    let mut braces: Vec<Option<String>> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let token = &tokens[at];
        let inside: Vec<String> = braces.iter().flatten().cloned().collect();
        match token.text.as_str() {
            "use" => {
                let first = found.len();
                let is_exported = at > 0 && matches!(text(tokens, at - 1), "pub" | ")");
                at = leaves(tokens, at + 1, &[], &inside, &mut found);
                found[first..].iter_mut().for_each(|named| named.is_exported = is_exported);
            }
            "mod" if text(tokens, at + 2) == "{" => {
                braces.push(Some(text(tokens, at + 1).to_owned()));
                at += 3;
            }
            "{" => {
                braces.push(None);
                at += 1;
            }
            "}" => {
                braces.pop();
                at += 1;
            }
            word if word.starts_with(is_word) => {
                let mut parts = vec![word.to_owned()];
                let mut next = at + 1;
                while text(tokens, next) == "::" && text(tokens, next + 1).starts_with(is_word) {
                    parts.push(text(tokens, next + 1).to_owned());
                    next += 2;
                }
                if text(tokens, next) == "!" && text(tokens, next + 1) != "=" {
                    parts.push("!".into());
                }
                if parts.len() > 1 {
                    found.push(Named { parts, inside, is_exported: false, line: token.line });
                }
                at = next;
            }
            _ => at += 1,
        }
    }
    found
}

/// Reads one `use` tree from `at`, adds its leaves, and returns the place after it.
fn leaves(
    tokens: &[Token],
    mut at: usize,
    before: &[String],
    inside: &[String],
    found: &mut Vec<Named>,
) -> usize {
    let mut parts = before.to_vec();
    let line = tokens.get(at).map_or(0, |token| token.line);
    if text(tokens, at) == "::" {
        at += 1;
    }
    loop {
        match text(tokens, at) {
            "{" => {
                at += 1;
                while !matches!(text(tokens, at), "}" | "" | ";") {
                    at = leaves(tokens, at, &parts, inside, found);
                    if text(tokens, at) == "," {
                        at += 1;
                    }
                }
                return at + 1;
            }
            "::" => at += 1,
            "as" => at += 2,
            word if word == "*" || word.starts_with(is_word) => {
                parts.push(word.to_owned());
                at += 1;
            }
            _ => {
                found.push(Named { parts, inside: inside.to_vec(), is_exported: false, line });
                return at;
            }
        }
    }
}

fn text(tokens: &[Token], at: usize) -> &str {
    tokens.get(at).map_or("", |token| token.text.as_str())
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn starts(tokens: &[Token], words: &[&str]) -> bool {
    tokens.len() >= words.len() && tokens.iter().zip(words).all(|(token, word)| token.text == *word)
}

/// How many tokens an item takes, attributes included: to its `;` or its closing brace.
fn item_length(tokens: &[Token]) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => {
                depth = depth.saturating_sub(1);
                if depth == 0 && token.text == "}" {
                    return at + 1;
                }
            }
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// The length of a comment that begins here. Block comments nest.
fn comment(rest: &[char]) -> Option<usize> {
    if rest.starts_with(&['/', '/']) {
        return Some(rest.iter().take_while(|c| **c != '\n').count());
    }
    if !rest.starts_with(&['/', '*']) {
        return None;
    }
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        if rest[at..].starts_with(&['/', '*']) {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(&['*', '/']) {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return Some(at);
            }
        } else {
            at += 1;
        }
    }
    Some(rest.len())
}

/// The length of a string literal that begins here: plain, byte, C or raw.
fn string(rest: &[char]) -> Option<usize> {
    let prefix = rest.iter().take_while(|c| matches!(c, 'b' | 'c' | 'r')).count();
    if prefix > 2 {
        return None;
    }
    let raw = rest[..prefix].contains(&'r');
    let hashes = rest[prefix..].iter().take_while(|c| **c == '#').count();
    if rest.get(prefix + hashes) != Some(&'"') || (hashes > 0 && !raw) {
        return None;
    }
    let mut at = prefix + hashes + 1;
    while at < rest.len() {
        if rest[at] == '\\' && !raw {
            at += 2;
        } else if rest[at] == '"' && rest[at + 1..].iter().take_while(|c| **c == '#').count() >= hashes {
            return Some(at + 1 + hashes);
        } else {
            at += 1;
        }
    }
    Some(rest.len())
}

/// The length of a character literal that begins here; a lifetime is none.
fn character(rest: &[char]) -> Option<usize> {
    let start = usize::from(rest.starts_with(&['b', '\'']));
    if rest.get(start) != Some(&'\'') {
        return None;
    }
    match rest.get(start + 1)? {
        '\\' => {
            let end = rest[start + 3..].iter().position(|c| *c == '\'')?;
            Some(start + 3 + end + 1)
        }
        _ => (rest.get(start + 2) == Some(&'\'')).then_some(start + 3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> String {
        tokens(source).iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    fn paths(source: &str) -> Vec<String> {
        named(&tokens(source)).iter().map(|named| named.parts.join("::")).collect()
    }

    #[test]
    fn comments_and_literals_vanish_and_lines_are_counted() {
        assert_eq!(words("a // unsafe\n/* x /* y */ z */ b \"c \\\" d\" e"), "a b e");
        assert_eq!(words(r##"r#"unsafe " x"# br"y\" c"z" k"##), "k");
        assert_eq!(words(r"'x' '\'' b'\n' '\u{1F600}' f<'a>(g: &'static h)"), "f < a > ( g : & static h )");
        let last = tokens("\"two\nlines\" /*\n*/ end").pop().unwrap();
        assert_eq!((last.text.as_str(), last.line), ("end", 3));
    }

    #[test]
    fn groups_are_flattened_and_modules_remembered() {
        assert_eq!(
            paths("use crate::{item::{RowId, Scored as S}, error::*}; fn f() { super::store::open(); }"),
            ["crate::item::RowId", "crate::item::Scored", "crate::error::*", "super::store::open"]
        );
        assert_eq!(paths("println!(\"{}\", a != b); std::env::var(x)"), ["println::!", "std::env::var"]);
        let named = named(&tokens("mod tests { use super::x; } mod other; use super::y;"));
        assert_eq!(named[0].inside, ["tests"]);
        assert!(named[1].inside.is_empty());
    }

    #[test]
    fn test_items_are_left_out_to_their_end() {
        let kept = without_tests(&tokens("a #[cfg(test)] mod tests { b { c } } d #[test] fn e() { f } g"));
        assert_eq!(kept.iter().map(|token| token.text.as_str()).collect::<String>(), "adg");
        let kept = without_tests(&tokens("#[cfg(test)] use x::{y}; z"));
        assert_eq!(kept.last().unwrap().text, "z");
    }
}
