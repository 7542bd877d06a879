//! Names the definitions in source code by its syntax tree, such as `fn parse` or `class Shelf`.
//! It reads only the head of a node.

use tree_sitter::Node;

use super::languages::{CodeLanguage, DefinitionRow};

/// Longest name in characters; a longer one (a macro's arguments, a generated type) is cut.
const NAME_MAX: usize = 80;
/// Most nodes between a definition and its name; more occur only in generated code.
const DEPTH: usize = 16;

/// Names the definitions of a syntax tree, whose nodes are visited from the outside inwards.
#[derive(Default)]
pub(super) struct SymbolPaths {
    /// Id of the last node that was named, so that a definition is not named again inside what wraps it.
    named: Option<usize>,
}

impl SymbolPaths {
    /// Returns the path of a definition below the path `around`: `impl Foo > fn parse`. `None` for other nodes.
    pub(super) fn of(
        &mut self,
        node: Node<'_>,
        source: &str,
        language: &CodeLanguage,
        around: Option<&str>,
    ) -> Option<String> {
        let own = symbol(node, source, language).filter(|own| self.named != Some(own.node))?;
        self.named = Some(own.node);
        Some(match around {
            Some(around) => format!("{around} > {}", own.name),
            None => own.name,
        })
    }
}

/// A definition and its name.
pub(super) struct Symbol {
    /// What a section path calls it, e.g. `impl Display for Foo`.
    name: String,
    /// Id of the node that defines it: the node itself, or one inside, such as the class after `export`.
    node: usize,
}

/// Returns the name of a definition; `None` for other nodes.
pub(super) fn symbol(mut node: Node<'_>, source: &str, language: &CodeLanguage) -> Option<Symbol> {
    for _ in 0..DEPTH {
        if !node.is_named() {
            return None;
        }
        let kind = node.kind();
        let mut inner = None;
        for definition in language.definitions().filter(|definition| definition.kind == kind) {
            match definition.label.strip_prefix('=') {
                Some(path) => inner = inner.or_else(|| part(node, path)),
                None if allowed(node, definition, source) => {
                    if let Some(name) = label(node, definition.label, source, language) {
                        return Some(Symbol { name, node: node.id() });
                    }
                }
                None => {}
            }
        }
        node = inner?;
    }
    None
}

/// Whether the part that a definition depends on is there and has an allowed kind or text.
fn allowed(node: Node<'_>, definition: &DefinitionRow, source: &str) -> bool {
    let Some((path, values)) = definition.only else { return true };
    part(node, path).is_some_and(|part| {
        values.is_empty() || values.contains(&part.kind()) || values.contains(&&source[part.byte_range()])
    })
}

/// Fills a label: each path in braces becomes the text of that part. `None` if a part is missing.
fn label(node: Node<'_>, label: &str, source: &str, language: &CodeLanguage) -> Option<String> {
    let mut pieces = label.split('{');
    let mut name = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (path, rest) = piece.split_once('}')?;
        name.push_str(&text(innermost(part(node, path)?, language), source));
        name.push_str(rest);
    }
    Some(name)
}

/// Follows a path from a node. A step is a field, the kind of a child, or `0` for the first named child.
fn part<'a>(mut node: Node<'a>, path: &str) -> Option<Node<'a>> {
    for step in path.split('.') {
        node = match step {
            "0" => node.named_child(0)?,
            _ => node.child_by_field_name(step).or_else(|| {
                let mut cursor = node.walk();
                node.children(&mut cursor).find(|child| child.kind() == step)
            })?,
        };
    }
    Some(node)
}

/// Returns what is inside the nodes that only wrap a name: in C a pointer, an array, parameters or parentheses.
fn innermost<'a>(mut node: Node<'a>, language: &CodeLanguage) -> Node<'a> {
    for _ in 0..DEPTH {
        if !language.wraps.contains(&node.kind()) {
            break;
        }
        match node.child_by_field_name("declarator").or_else(|| node.named_child(0)) {
            Some(inner) => node = inner,
            None => break,
        }
    }
    node
}

/// Returns a node's text as one line.
fn text(node: Node<'_>, source: &str) -> String {
    let text = &source[node.byte_range()];
    let mut name = String::new();
    for word in text.split_whitespace() {
        if !name.is_empty() {
            name.push(' ');
        }
        name.push_str(word);
        if name.len() > NAME_MAX {
            break;
        }
    }
    match name.char_indices().nth(NAME_MAX) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name,
    }
}
