//! Names the definitions in source code by its syntax tree, such as `fn parse` or `class Shelf`.
//! It reads only the head of a node.

use tree_sitter::Node;

/// Longest name; a longer one (a macro's arguments, a generated type) is cut.
const NAME_MAX: usize = 80;

/// Returns the name of a definition, e.g. `fn parse`, `impl Display for Foo`, `class Shelf`, `func (s *Server) Serve`;
/// `None` for other nodes.
pub(super) fn symbol(node: Node<'_>, source: &str) -> Option<String> {
    let named = |word: &str| Some(format!("{word} {}", text(node.child_by_field_name("name")?, source)));
    match node.kind() {
        // Rust
        "function_item" | "function_signature_item" => named("fn"),
        "struct_item" => named("struct"),
        "enum_item" | "enum_declaration" => named("enum"),
        "union_item" => named("union"),
        "trait_item" => named("trait"),
        "mod_item" => named("mod"),
        "macro_definition" => named("macro"),
        "const_item" => named("const"),
        "static_item" => named("static"),
        "type_item" | "type_alias_declaration" => named("type"),
        "impl_item" => {
            let of = text(node.child_by_field_name("type")?, source);
            Some(match node.child_by_field_name("trait") {
                Some(name) => format!("impl {} for {of}", text(name, source)),
                None => format!("impl {of}"),
            })
        }
        // Python; `class_definition` has its own arm
        "decorated_definition" => symbol(node.child_by_field_name("definition")?, source),
        "class_definition" => named("class"),
        "function_definition" => match node.child_by_field_name("declarator") {
            // C, where the name is innermost in the declarator
            Some(declarator) => Some(text(declared(declarator)?, source)),
            None => named("def"),
        },
        // JavaScript and TypeScript
        "export_statement" => symbol(node.child_by_field_name("declaration")?, source),
        "ambient_declaration" => symbol(node.named_child(0)?, source),
        "function_declaration" if node.child_by_field_name("result").is_some() || is_go(node) => {
            named("func")
        }
        "function_declaration" | "generator_function_declaration" => named("function"),
        "class_declaration" | "abstract_class_declaration" | "class" if node.is_named() => named("class"),
        "interface_declaration" => named("interface"),
        "internal_module" | "module" if node.is_named() => named("namespace"),
        "method_definition" => named("method"),
        "lexical_declaration" | "variable_declaration" => {
            let declarator = node.named_child(0)?;
            let function = matches!(
                declarator.child_by_field_name("value")?.kind(),
                "arrow_function" | "function_expression" | "class" | "call_expression" | "object"
            );
            let name = declarator.child_by_field_name("name")?;
            function.then(|| format!("const {}", text(name, source)))
        }
        // Java and Go both have `method_declaration`
        "method_declaration" => match node.child_by_field_name("receiver") {
            Some(receiver) => {
                let name = text(node.child_by_field_name("name")?, source);
                Some(format!("func {} {name}", text(receiver, source)))
            }
            None => named("method"),
        },
        "constructor_declaration" => named("constructor"),
        "record_declaration" => named("record"),
        "annotation_type_declaration" => named("@interface"),
        "type_declaration" => {
            Some(format!("type {}", text(node.named_child(0)?.child_by_field_name("name")?, source)))
        }
        // C
        "struct_specifier" if node.child_by_field_name("body").is_some() => named("struct"),
        "union_specifier" if node.child_by_field_name("body").is_some() => named("union"),
        "enum_specifier" if node.child_by_field_name("body").is_some() => named("enum"),
        "type_definition" => {
            Some(format!("typedef {}", text(declared(node.child_by_field_name("declarator")?)?, source)))
        }
        "preproc_function_def" => named("#define"),
        _ => None,
    }
}

/// Whether a function declaration is Go's. JavaScript has the same kind of node, but only Go's keyword is `func`.
fn is_go(node: Node<'_>) -> bool {
    node.child(0).is_some_and(|keyword| keyword.kind() == "func")
}

/// Returns the identifier that a C declarator declares: inside pointers, arrays, parameters, parentheses.
fn declared(mut node: Node<'_>) -> Option<Node<'_>> {
    // Deeper declarators occur only in generated code.
    for _ in 0..16 {
        if matches!(node.kind(), "identifier" | "type_identifier" | "field_identifier") {
            return Some(node);
        }
        node = node.child_by_field_name("declarator").or_else(|| node.named_child(0))?;
    }
    None
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
