//! Lists the definitions in source code, each with its symbol path, lines and text.
//! The symbol paths are those of the chunks of indexed code.

use std::ops::Range;
use std::path::Path;
use tree_sitter::Node;

use super::code::{DEPTH, Grammar, tree};
use super::split::Lines;
use super::symbols::symbol;

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
    /// Whether it only adds to something that is defined elsewhere, as an `impl` block does.
    pub fn is_addition(&self) -> bool {
        last_part(&self.symbol).starts_with("impl ")
    }
}

/// Returns the last part of a symbol path.
fn last_part(symbol: &str) -> &str {
    symbol.rsplit(" > ").next().unwrap_or(symbol)
}

/// Returns the identifier that a symbol path defines: `parse` of `impl Foo > fn parse`, `Foo` of `impl Display for Foo<T>`.
pub fn defined_name(symbol: &str) -> &str {
    let part = last_part(symbol);
    let end = part.find('<').filter(|at| *at > 0).unwrap_or(part.len());
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    part[..end].trim_end_matches(|c| !is_letter(c)).rsplit(|c| !is_letter(c)).next().unwrap_or_default()
}

/// Whether the definitions of a file can be listed, by its name.
pub fn has_definitions(path: &Path) -> bool {
    grammar(path).is_some()
}

fn grammar(path: &Path) -> Option<Grammar> {
    let lower = |text: Option<&std::ffi::OsStr>| text.map(|text| text.to_string_lossy().to_lowercase());
    Grammar::of(&lower(path.file_name())?, &lower(path.extension()).unwrap_or_default())
}

/// Returns the definitions in a file, outer ones before those in them. Empty for a language without a grammar, and for source
/// that the parser gives up on.
pub fn definitions(path: &Path, source: &str) -> Vec<Definition> {
    let Some(tree) = grammar(path).and_then(|grammar| tree(source, grammar)) else { return Vec::new() };
    let mut all = Vec::new();
    let lines = Lines::new(source);
    each(tree.root_node(), source, None, 0, &mut |symbol, range| {
        let name = defined_name(&symbol).to_owned();
        if !name.is_empty() {
            all.push(Definition { lines: lines.of(&range), symbol, name, range });
        }
    });
    all
}

fn each(
    node: Node<'_>,
    source: &str,
    around: Option<&str>,
    depth: usize,
    add: &mut dyn FnMut(String, Range<usize>),
) {
    let mut cursor = node.walk();
    let mut more = cursor.goto_first_child();
    while more {
        let child = cursor.node();
        match symbol(child, source) {
            // A decorated or exported definition is inside another node of the same name.
            Some(own) if around.is_none_or(|around| last_part(around) != own || !is_wrapper(node.kind())) => {
                let path = around.map_or_else(|| own.clone(), |around| format!("{around} > {own}"));
                add(path.clone(), child.byte_range());
                if depth < DEPTH {
                    each(child, source, Some(&path), depth + 1, add);
                }
            }
            Some(_) | None if depth < DEPTH => each(child, source, around, depth + 1, add),
            Some(_) | None => {}
        }
        more = cursor.goto_next_sibling();
    }
}

fn is_wrapper(kind: &str) -> bool {
    matches!(kind, "decorated_definition" | "export_statement" | "ambient_declaration" | "type_definition")
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
            ("", ""),
        ] {
            assert_eq!(defined_name(symbol), name);
        }
    }
}
