//! Chunks source code by its syntax tree: whole definitions where they fit, with the comments above them.
//! Chunks do not overlap. (`text-splitter` separates every ninth definition from its comment, and takes quadratic time:
//! 5.4 s for 1.6 MB, here 0.3 s.)

use std::ops::{ControlFlow, Range};
use tree_sitter::{Node, ParseOptions, Parser, Tree};

use super::draft::{Draft, ParsedFile};
use super::languages::CodeLanguage;
use super::split::{Lines, fits, pieces, trim};
use super::symbols::{SymbolPaths, symbol};
use super::text;
use crate::config::Settings;
use crate::cpu_time::thread_seconds;

/// A part of a file that is not split.
#[derive(Debug)]
struct Atom {
    range: Range<usize>,
    /// Index in the table of symbol paths.
    symbol: Option<usize>,
    /// Whether it belongs to the atom after it: a comment or attribute directly above.
    leads: bool,
    /// Whether it is a whole definition, which is its own chunk unless it is short.
    whole: bool,
}

/// Largest source that is parsed; larger ones were generated, and their trees take about twenty times their bytes.
const TREE_BYTES: usize = 2 << 20;
/// Limit on the parser's calls, one per 100 operations. Valid code needs one for 12 bytes or more (a long list in Dart; about 115
/// in the median of 900 files in 13 languages). Inputs made to exhaust error recovery cause any number, about 65 to 140 microseconds each.
/// So a fixed number is allowed for each file, and one for some of its bytes. A call during recovery counts as several
/// (C headers with macros have many).
const CALLS: usize = 2_000;
const BYTES_A_CALL: usize = 10;
const CALLS_OF_RECOVERY: usize = 4;
/// Limit on the CPU time of one parse, in seconds. A call usually takes microseconds, but a third of a second after 40 KB of
/// operators that never end an expression. Valid files of [`TREE_BYTES`] take less than a tenth of the limit.
const PARSE_SECONDS: f64 = 5.0;
/// Deepest nesting of definitions; deeper ones are split at lines.
pub(super) const DEPTH: usize = 40;

/// Parses a file in one of the languages that its name allows; by lines if their grammars give up.
pub(super) fn parse(source: &str, languages: &[&'static CodeLanguage], settings: &Settings) -> ParsedFile {
    let max = settings.code_chunk_max;
    let drafts = match tree(source, languages) {
        Some((language, tree)) => chunks(source, &tree, language, max),
        None => text::drafts(source, max, 0),
    };
    ParsedFile { drafts, ..ParsedFile::default() }
}

/// Parses a source in the first language that understands all of it, else in the one that understands most of it. `None` if the
/// source is too large, or takes too many steps or too long.
pub(super) fn tree(
    source: &str,
    languages: &[&'static CodeLanguage],
) -> Option<(&'static CodeLanguage, Tree)> {
    let mut best: Option<(usize, &CodeLanguage, Tree)> = None;
    for language in languages {
        let Some(tree) = tree_within(source, language, PARSE_SECONDS) else { continue };
        let errors = error_bytes(tree.root_node());
        if best.as_ref().is_none_or(|best| errors < best.0) {
            best = Some((errors, language, tree));
        }
        if errors == 0 {
            break;
        }
    }
    best.map(|(_, language, tree)| (language, tree))
}

/// Returns how many bytes a grammar could not read; each missing part counts one more.
fn error_bytes(root: Node<'_>) -> usize {
    let mut bytes = 0;
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if node.is_error() || node.is_missing() {
            bytes += node.byte_range().len() + usize::from(node.is_missing());
        } else if node.has_error() {
            open.extend(node.children(&mut node.walk()));
        }
    }
    bytes
}

fn tree_within(source: &str, language: &CodeLanguage, seconds: f64) -> Option<Tree> {
    if source.len() > TREE_BYTES {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&(language.grammar)()).ok()?;
    // The budget is in operations: files that keep the time limit give the same chunks on every machine.
    let mut calls = CALLS + source.len() / BYTES_A_CALL;
    let end = thread_seconds() + seconds;
    let mut progress = |state: &tree_sitter::ParseState| {
        let cost = if state.has_error() { CALLS_OF_RECOVERY } else { 1 };
        match calls.checked_sub(cost) {
            Some(left) if thread_seconds() < end => {
                calls = left;
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Break(()),
        }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let bytes = source.as_bytes();
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
}

fn chunks(source: &str, tree: &Tree, language: &CodeLanguage, max: usize) -> Vec<Draft> {
    let mut walk = Cutter {
        source,
        language,
        max,
        atoms: Vec::new(),
        paths: Vec::new(),
        symbols: SymbolPaths::default(),
    };
    let end = walk.inside(tree.root_node(), None, 0, 0);
    walk.lines(end..source.len(), None);
    let lines = Lines::new(source);
    let mut drafts = Vec::new();
    for group in groups(source, &walk.atoms, max) {
        let atoms = &walk.atoms[group];
        let range = trim(source, atoms[0].range.start..atoms[atoms.len() - 1].range.end);
        if range.is_empty() {
            continue;
        }
        // The first definition names the chunk; if none begins here, the enclosing one does.
        let named = |whole: bool| atoms.iter().find(|atom| atom.whole == whole && atom.symbol.is_some());
        let symbol = named(true).or_else(|| named(false)).and_then(|atom| atom.symbol);
        drafts.push(Draft {
            content: source[range.clone()].to_owned(),
            section: symbol.map(|at| walk.paths[at].clone()),
            lines: lines.of(&range),
            tags: Vec::new(),
        });
    }
    drafts
}

struct Cutter<'a> {
    source: &'a str,
    language: &'a CodeLanguage,
    max: usize,
    atoms: Vec<Atom>,
    paths: Vec<String>,
    symbols: SymbolPaths,
}

impl Cutter<'_> {
    /// Splits the inside of a node from `start` on, and returns where it stopped. White space belongs to what follows it.
    fn inside(&mut self, node: Node<'_>, symbol: Option<usize>, mut start: usize, depth: usize) -> usize {
        let mut cursor = node.walk();
        let mut more = cursor.goto_first_child();
        while more {
            let child = cursor.node();
            let end = child.end_byte();
            if end > start {
                start = self.node(child, symbol, start, depth);
            }
            more = cursor.goto_next_sibling();
        }
        start
    }

    fn node(&mut self, node: Node<'_>, around: Option<usize>, start: usize, depth: usize) -> usize {
        let range = start..node.end_byte();
        let outer = around.map(|at| self.paths[at].as_str());
        let name = match self.symbols.of(node, self.source, self.language, outer) {
            Some(path) => {
                self.paths.push(path);
                Some(self.paths.len() - 1)
            }
            None => around,
        };
        let whole = name != around;
        if fits(&self.source[trim(self.source, range.clone())], self.max)
            && (whole || depth >= DEPTH || !self.holds_definitions(node))
        {
            let leads = self.language.leads(node.kind());
            self.atoms.push(Atom { range: range.clone(), symbol: name, leads, whole });
            return range.end;
        }
        if node.child_count() == 0 || depth >= DEPTH {
            self.lines(range.clone(), name);
            return range.end;
        }
        let first = self.atoms.len();
        let end = self.inside(node, name, start, depth + 1);
        if end < range.end {
            self.lines(end..range.end, name);
        }
        // The head of a definition names its first chunk.
        if whole && let Some(atom) = self.atoms.get_mut(first) {
            atom.whole = true;
        }
        range.end
    }

    /// Whether definitions are directly in a node: a list of statements, or what a preprocessor's condition holds.
    fn holds_definitions(&self, node: Node<'_>) -> bool {
        node.named_children(&mut node.walk()).any(|child| symbol(child, self.source, self.language).is_some())
    }

    fn lines(&mut self, range: Range<usize>, symbol: Option<usize>) {
        for piece in pieces(&self.source[range.clone()], self.max, 0) {
            let range = range.start + piece.start..range.start + piece.end;
            self.atoms.push(Atom { range, symbol, leads: false, whole: false });
        }
    }
}

/// Groups atoms into chunks. A definition begins a chunk unless it or the one before it is short.
fn groups(source: &str, atoms: &[Atom], max: usize) -> Vec<Range<usize>> {
    // A fifth of a chunk is about ten lines.
    let short = max / 5;
    let mut groups: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < atoms.len() {
        // A run of comments and the definition directly below stay together, if they fit.
        let mut end = at + 1;
        while end < atoms.len()
            && atoms[end - 1].leads
            && touches(source, &atoms[end])
            && fits(text_of(source, atoms, at..end + 1), max)
        {
            end += 1;
        }
        let joins = groups.last().is_some_and(|last| {
            let whole = atoms[at..end].iter().any(|atom| atom.whole);
            let room = fits(text_of(source, atoms, last.start..end), max);
            let both_long = || {
                !fits(text_of(source, atoms, last.clone()), short)
                    && !fits(text_of(source, atoms, at..end), short)
            };
            room && !(whole && both_long())
        });
        match groups.last_mut() {
            Some(last) if joins => last.end = end,
            _ => groups.push(at..end),
        }
        at = end;
    }
    groups
}

/// Whether an atom begins on the line below the one before it.
fn touches(source: &str, atom: &Atom) -> bool {
    let text = &source[atom.range.clone()];
    let space = &text[..text.len() - text.trim_start().len()];
    space.bytes().filter(|&byte| byte == b'\n').count() <= 1
}

fn text_of<'a>(source: &'a str, atoms: &[Atom], range: Range<usize>) -> &'a str {
    &source[trim(source, atoms[range.start].range.start..atoms[range.end - 1].range.end)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, extension: &str, max: usize, expected: &[(&str, &str)]) {
        let languages = CodeLanguage::of("", extension, "");
        let settings = Settings { code_chunk_max: max, ..Settings::default() };
        let reading = parse(source, &languages, &settings);
        let got: Vec<_> = reading
            .drafts
            .iter()
            .map(|draft| (draft.section.as_deref().unwrap_or_default(), draft.content.as_str()))
            .collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn comments_stay_with_what_they_explain() {
        let source = "use a::b;\n\n/// Adds one to it.\n#[inline]\nfn first(a: u32) -> u32 {\n    a + 1\n}\n\n\
                      /// Takes one off it.\nfn second(a: u32) -> u32 {\n    a - 1\n}\n";
        check(
            source,
            "rs",
            100,
            &[
                (
                    "fn first",
                    "use a::b;\n\n/// Adds one to it.\n#[inline]\nfn first(a: u32) -> u32 {\n    a + 1\n}",
                ),
                ("fn second", "/// Takes one off it.\nfn second(a: u32) -> u32 {\n    a - 1\n}"),
            ],
        );
    }

    #[test]
    fn a_long_definition_is_cut_inside_and_keeps_its_path() {
        let source = "class Shelf:\n    def put(self, book):\n        self.books.append(book)\n\n    def take(self, name):\n        \
                      return self.books.pop(name)\n";
        check(
            source,
            "py",
            80,
            &[
                ("class Shelf", "class Shelf:\n    def put(self, book):\n        self.books.append(book)"),
                ("class Shelf > def take", "    def take(self, name):\n        return self.books.pop(name)"),
            ],
        );
    }

    #[test]
    fn a_long_definition_below_a_decorator_is_named_once() {
        let source = "@total\nclass Shelf:\n    def put(self, book):\n        self.books.append(book)\n\n    def take(self, name):\n        \
                      return self.books.pop(name)\n";
        check(
            source,
            "py",
            80,
            &[
                ("class Shelf", "@total\nclass Shelf:"),
                ("class Shelf > def put", "    def put(self, book):\n        self.books.append(book)"),
                ("class Shelf > def take", "    def take(self, name):\n        return self.books.pop(name)"),
            ],
        );
    }

    #[test]
    #[cfg(unix)]
    fn operators_that_never_end_an_expression_are_given_up() {
        let js = CodeLanguage::of("", "js", "")[0];
        let source = "** a\n*** b\n".repeat(2_000);
        assert!(tree_within(&source, js, 0.05).is_none());
        assert!(tree_within("let a = 1;\n", js, 0.05).is_some());
    }

    #[test]
    fn long_sound_code_keeps_its_tree() {
        // Dense code: few bytes per operation of the parser.
        for (extension, line) in [
            ("c", "int a#[] = {1,2,3,4,5,6,7,8,9};\n"),
            ("cpp", "int a#[] = {1,2,3,4,5,6,7,8,9};\n"),
            ("cs", "class A# { int[] a = {1,2,3,4,5,6,7,8,9}; }\n"),
            ("dart", "const a# = [1,2,3,4,5,6,7,8,9];\n"),
            ("go", "var a# = []int{1,2,3,4,5,6,7,8,9}\n"),
            ("java", "class A# { int[] a = {1,2,3,4,5,6,7,8,9}; }\n"),
            ("kt", "val a# = f(1,2,3,4,5,6,7,8,9)\n"),
            ("lua", "local a# = {1,2,3,4,5,6,7,8,9}\n"),
            ("php", "$a# = [1,2,3,4,5,6,7,8,9];\n"),
            ("ps1", "$a# = @(1,2,3,4,5,6,7,8,9)\n"),
            ("py", "a# = [1,2,3,4,5,6,7,8,9]\n"),
            ("r", "a# <- c(1,2,3,4,5,6,7,8,9)\n"),
            ("rb", "a# = [1,2,3,4,5,6,7,8,9]\n"),
            ("rs", "const A#: [u8; 9] = [1,2,3,4,5,6,7,8,9];\n"),
            ("scala", "val a# = f(1,2,3,4,5,6,7,8,9)\n"),
            ("sh", "a#=(1 2 3 4 5 6 7 8 9)\n"),
            ("swift", "let a# = [1,2,3,4,5,6,7,8,9]\n"),
            ("ts", "const a# = [1,2,3,4,5,6,7,8,9];\n"),
            ("zig", "const a# = [_]u8{1,2,3,4,5,6,7,8,9};\n"),
        ] {
            let head = match extension {
                "go" => "package a\n",
                "php" => "<?php\n",
                _ => "",
            };
            let lines: String = (0..25_000).map(|at| line.replace('#', &at.to_string())).collect();
            let source = format!("{head}{lines}");
            let languages = CodeLanguage::of("", extension, "");
            let (_, tree) =
                tree(&source, &languages).unwrap_or_else(|| panic!("{extension}: {} bytes", source.len()));
            assert!(!tree.root_node().has_error(), "{extension}");
        }
    }

    #[test]
    fn every_language_names_its_definitions() {
        for (extension, source, section) in [
            ("c", "static int *next(void) { return 0; }", "next"),
            ("cpp", "template <class T>\nT Shelf<T>::take(int at) const { return at; }", "Shelf<T>::take"),
            ("cs", "namespace A;\n\n[Serializable]\npublic record Point(int X, int Y);", "record Point"),
            ("dart", "@immutable\nclass Shelf extends Base {}", "class Shelf"),
            ("go", "package a\n\nfunc (s *Server) Serve() {}", "func (s *Server) Serve"),
            ("h", "class EXPORT Shelf {\n  int size() const { return 1; }\n};", "class Shelf"),
            ("h", "struct shelf { int size; };", "struct shelf"),
            ("java", "class A { }", "class A"),
            ("js", "export const go = async () => 1;", "const go"),
            ("kt", "fun interface Taker {\n    fun take(name: String): Int\n}", "interface Taker"),
            ("kt", "fun String.first(): Int = 1", "fun first"),
            ("lua", "local take = function(a) return a end", "function take"),
            ("lua", "function M:put(a) return a end", "function M:put"),
            ("php", "<?php\nnamespace A;\n\n#[Route('/')]\nfinal class Shelf {}", "class Shelf"),
            ("ps1", "function Get-Book {\n    param([string]$Name)\n}", "function Get-Book"),
            ("py", "@cached\ndef f(): pass", "def f"),
            ("r", "#' Takes one.\ntake <- function(a) a", "function take"),
            ("rb", "def self.open(a)\n  a\nend", "def self.open"),
            ("rs", "impl Display for Foo<T> { }", "impl Display for Foo<T>"),
            ("scala", "case class Shelf[T](x: Int) extends Base", "class Shelf"),
            ("sh", "# Takes one.\ntake() {\n  echo \"$1\"\n}", "function take"),
            ("swift", "public actor Shelf { }", "actor Shelf"),
            ("swift", "extension Shelf: Codable { }", "extension of Shelf"),
            ("ts", "export interface Bird { name: string }", "interface Bird"),
            ("tsx", "function App() { return <a/>; }", "function App"),
            ("zig", "/// A shelf.\npub const Shelf = struct {\n    x: u32,\n};", "struct Shelf"),
        ] {
            check(source, extension, 2_500, &[(section, source)]);
        }
    }
}
