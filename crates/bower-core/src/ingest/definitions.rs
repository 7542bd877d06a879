//! Lists the definitions in source code, each with its symbol path, lines and text.
//! The symbol paths are those of the chunks of indexed code.

use std::ops::Range;
use std::path::Path;
use tree_sitter::Node;

use super::code::{DEPTH, tree};
use super::languages::CodeLanguage;
use super::split::Lines;
use super::symbols::SymbolPaths;

/// A definition in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Symbol path: `impl Foo > fn parse`.
    pub symbol: String,
    /// The identifier that it defines: `parse`. Of an `impl` block, the type.
    pub name: String,
    /// First and last line, from 1.
    pub lines: (u32, u32),
    /// Its bytes in the file.
    pub range: Range<usize>,
}

impl Definition {
    /// Whether it only adds to something that is defined elsewhere, as an `impl` block of Rust or an extension of Swift does.
    pub fn is_addition(&self) -> bool {
        ADDITIONS.iter().any(|keyword| last_part(&self.symbol).starts_with(keyword))
    }
}

/// How the last part of a symbol path begins if its definition only adds to another one.
const ADDITIONS: [&str; 2] = ["impl ", "extension of "];

/// Returns the last part of a symbol path.
fn last_part(symbol: &str) -> &str {
    symbol.rsplit(" > ").next().unwrap_or(symbol)
}

/// Returns the identifier that a symbol path defines: `parse` of `impl Foo > fn parse`, `Foo` of `impl Display for Foo<T>`.
pub fn defined_name(symbol: &str) -> &str {
    let part = last_part(symbol);
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    // Type arguments are no part of the name, as in `Shelf<T>::take`.
    let mut open = 0_usize;
    let names = part.split(|letter| {
        match letter {
            '<' => open += 1,
            '>' => open = open.saturating_sub(1),
            _ => {}
        }
        open > 0 || !is_letter(letter)
    });
    names.fold("", |last, name| if name.is_empty() { last } else { name })
}

/// Whether the definitions of a file can be listed, by its name.
pub fn has_definitions(path: &Path) -> bool {
    !languages(path, "").is_empty()
}

fn languages(path: &Path, source: &str) -> Vec<&'static CodeLanguage> {
    let lower = |text: Option<&std::ffi::OsStr>| {
        text.map(|text| text.to_string_lossy().to_lowercase()).unwrap_or_default()
    };
    CodeLanguage::of(&lower(path.file_name()), &lower(path.extension()), source)
}

/// Returns the definitions in a file, outer ones before those in them. Empty for a language without a grammar, and for source
/// that the parser gives up on.
pub fn definitions(path: &Path, source: &str) -> Vec<Definition> {
    let Some((language, tree)) = tree(source, &languages(path, source)) else { return Vec::new() };
    let mut walk = Walk {
        source,
        language,
        lines: Lines::new(source),
        symbols: SymbolPaths::default(),
        all: Vec::new(),
    };
    walk.inside(tree.root_node(), None, 0);
    walk.all
}

struct Walk<'a> {
    source: &'a str,
    language: &'static CodeLanguage,
    lines: Lines,
    symbols: SymbolPaths,
    all: Vec<Definition>,
}

impl Walk<'_> {
    fn inside(&mut self, node: Node<'_>, around: Option<&str>, depth: usize) {
        let mut cursor = node.walk();
        let mut more = cursor.goto_first_child();
        while more {
            self.node(cursor.node(), around, depth);
            more = cursor.goto_next_sibling();
        }
    }

    fn node(&mut self, node: Node<'_>, around: Option<&str>, depth: usize) {
        let path = self.symbols.of(node, self.source, self.language, around);
        if let Some(symbol) = path.clone() {
            let name = defined_name(&symbol).to_owned();
            let range = node.byte_range();
            if !name.is_empty() {
                self.all.push(Definition { lines: self.lines.of(&range), symbol, name, range });
            }
        }
        if depth < DEPTH {
            self.inside(node, path.as_deref().or(around), depth + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_have_paths_names_and_lines() {
        let check = |file: &str, source: &str, expected: &[(&str, &str, (u32, u32))]| {
            let all = definitions(Path::new(file), source);
            let all: Vec<_> =
                all.iter().map(|one| (one.symbol.as_str(), one.name.as_str(), one.lines)).collect();
            assert_eq!(all, expected);
        };
        check(
            "a.rs",
            "/// It.\nstruct Foo<T>(T);\n\nimpl<T> Foo<T> {\n    fn new() -> Self {\n        x\n    }\n}\n",
            &[
                ("struct Foo", "Foo", (2, 2)),
                ("impl Foo<T>", "Foo", (4, 8)),
                ("impl Foo<T> > fn new", "new", (5, 7)),
            ],
        );
        check(
            "a.py",
            "@cached\ndef f():\n    pass\n\nclass A:\n    def g(self): pass\n",
            &[("def f", "f", (1, 3)), ("class A", "A", (5, 6)), ("class A > def g", "g", (6, 6))],
        );
        check(
            "a.go",
            "package a\n\nfunc (s *Server) Serve() {}\n",
            &[("func (s *Server) Serve", "Serve", (3, 3))],
        );
        check("a.c", "static int *next(void) { return 0; }\n", &[("next", "next", (1, 1))]);
        check("a.txt", "fn main() {}", &[]);
    }

    #[test]
    fn a_symbol_path_ends_with_a_name() {
        for (symbol, name) in [
            ("impl Display for Foo<Vec<T>>", "Foo"),
            ("impl Foo > fn parse", "parse"),
            ("func (s *Server[T]) Serve", "Serve"),
            ("#define MAX", "MAX"),
            ("namespace a > Shelf<Vec<T>>::take", "take"),
            ("extension of Shelf", "Shelf"),
            ("method operator <", "operator"),
            ("", ""),
        ] {
            assert_eq!(defined_name(symbol), name);
        }
    }
}
