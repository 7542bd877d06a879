//! Decides on text alone where a file defines a symbol, without a syntax tree.
//! A tree takes milliseconds and the words around a name microseconds. Where they decide nothing, the caller parses.

use crate::ingest::{Definition, defined_name};

/// Where a name stands as a whole word.
fn words<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).map(|(at, _)| at).filter(move |&at| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        !before.ends_with(is_letter) && !after.starts_with(is_letter)
    })
}

/// Whether a text contains a name as a whole word.
pub(super) fn has_word(text: &str, name: &str) -> bool {
    !name.is_empty() && words(text, name).next().is_some()
}

/// Whether a text may define a name: it stands somewhere after another word or the end of a type, as no call does.
pub(super) fn may_define(text: &str, name: &str) -> bool {
    let is_after_word = |at: usize| {
        let before = line_before(text, at);
        let trimmed = before.trim_end();
        // C, Java and JavaScript put methods after nothing but their indentation.
        trimmed.is_empty()
            || (trimmed.len() < before.len() || trimmed.ends_with('*'))
                && trimmed
                    .ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ')' | '>' | '*' | ']'))
    };
    words(text, name).any(is_after_word)
}

/// Returns the text between the beginning of a line and a byte in it.
fn line_before(text: &str, at: usize) -> &str {
    &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..at]
}

/// Returns the byte at which a text defines a symbol, if the keyword before its name and the lines around it say so.
/// `None` decides nothing.
pub(super) fn plainly_defined(text: &str, symbol: &str) -> Option<usize> {
    let mut parts: Vec<&str> = symbol.split(" > ").collect();
    let last = parts.pop()?;
    let (name, keyword) = (defined_name(last), last.split(' ').next()?);
    if name.is_empty() || keyword == name {
        return None;
    }
    let scopes: Vec<&str> = parts.into_iter().map(defined_name).collect();
    words(text, name).find(|&at| {
        let before = line_before(text, at).trim_end();
        // Go's receiver stands between the keyword and the name.
        let follows = before.ends_with(keyword)
            || (before.ends_with(')') && before.trim_start().starts_with(keyword) && last.contains('('));
        follows && are_around(text, at, &scopes)
    })
}

/// Whether the lines around a byte, each less indented than the ones in it, contain all of some names.
fn are_around(text: &str, at: usize, names: &[&str]) -> bool {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut missing: Vec<&str> = names.to_vec();
    let here = line_before(text, at);
    let mut least = indent(here);
    let above = text[..at - here.len()].lines().rev().filter(|line| !line.trim().is_empty());
    for line in above {
        if missing.is_empty() || least == 0 {
            break;
        }
        if indent(line) < least {
            least = indent(line);
            missing.retain(|name| !has_word(line, name));
        }
    }
    missing.is_empty()
}

/// Whether a definition is the one that a symbol path names, apart from generic parameters and the kind of definition.
pub(super) fn is_same(definition: &Definition, symbol: &str) -> bool {
    let names = |symbol: &str| symbol.split(" > ").map(defined_name).map(str::to_owned).collect::<Vec<_>>();
    definition.symbol == symbol || names(&definition.symbol) == names(symbol)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUST: &str = "\
use a::new;

impl Foo {
    pub fn new() -> Self {
        renew();
        x.parse(new)
    }
}

impl Bar {

    // More about it.
    fn parse<T>(self) {}
}
";

    #[test]
    fn a_keyword_and_the_lines_around_name_a_definition() {
        let line =
            |text: &str, symbol: &str| plainly_defined(text, symbol).map(|at| text[..at].lines().count());
        assert_eq!(line(RUST, "impl Foo > fn new"), Some(4));
        assert_eq!(line(RUST, "impl Bar > fn new"), None);
        assert_eq!(line(RUST, "impl Bar > fn parse"), Some(13));
        assert_eq!(line(RUST, "impl Foo > fn parse"), None);
        assert_eq!(line(RUST, "fn renew"), None);
        let go = "func (s *Server) Serve() {\n\ts.Stop()\n}\n";
        assert_eq!(line(go, "func (s *Server) Serve"), Some(1));
        assert_eq!(line(go, "func (x *Server) Stop"), None);
        assert_eq!(line("class A:\n    def f(self):\n        pass\n", "class A > def f"), Some(2));
    }

    #[test]
    fn a_call_defines_nothing() {
        for text in ["fn go() {", "static int go(void)", "void\ngo(void)", "char *go(void)", "  go(a) {"] {
            assert!(may_define(text, "go"), "{text}");
        }
        for text in ["x.go()", "a = b(go)", "going = 1", "a::go()", "if (!go) x"] {
            assert!(!may_define(text, "go"), "{text}");
        }
    }
}
