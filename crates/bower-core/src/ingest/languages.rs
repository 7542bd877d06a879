//! Lists the languages with a grammar: their files, and the nodes of their syntax trees that define something.
//! A further language is one more row and, if it is new, one more crate.

/// A language with a grammar.
pub(super) struct CodeLanguage {
    /// Extensions of its files, in lower case.
    extensions: &'static [&'static str],
    /// Whole names of its files, in lower case.
    names: &'static [&'static str],
    /// Programs that run it, as the first line of a script names them, without their version.
    interpreters: &'static [&'static str],
    /// Returns its grammar.
    pub grammar: fn() -> tree_sitter::Language,
    /// What defines something, in lists that languages share.
    definitions: &'static [&'static [DefinitionRow]],
    /// Kinds of nodes that only wrap a name. The name is in the field `declarator`, else in the first named child.
    pub wraps: &'static [&'static str],
    /// Kinds of nodes, besides comments, that belong to the definition directly below them.
    leads: &'static [&'static str],
}

/// A kind of node that defines something.
pub(super) struct DefinitionRow {
    /// The node's kind in the grammar.
    pub kind: &'static str,
    /// What a section path calls it. A path in braces stands for the text of a part: `{type_spec.name}` is the field `name`
    /// of the child of kind `type_spec`. A label `=path` says that the node only wraps a definition, the one at the path.
    pub label: &'static str,
    /// The path of a part that must be there, and the kinds or texts that it may have (any, if there are none).
    pub only: Option<(&'static str, &'static [&'static str])>,
}

/// Calls nodes of a kind by a label. If several rows name a kind, the first one counts whose parts are all there.
const fn define(kind: &'static str, label: &'static str) -> DefinitionRow {
    DefinitionRow { kind, label, only: None }
}

impl DefinitionRow {
    /// Restricts a row to nodes with a part of one of these kinds or texts.
    const fn only(self, path: &'static str, values: &'static [&'static str]) -> Self {
        Self { only: Some((path, values)), ..self }
    }
}

impl CodeLanguage {
    /// Returns the language of a file. Its name and extension are in lower case; the first line of its text may name a program.
    pub fn of(name: &str, extension: &str, text: &str) -> Option<&'static Self> {
        let by_extension = LANGUAGES.iter().find(|language| language.extensions.contains(&extension));
        let by_name = || LANGUAGES.iter().find(|language| language.names.contains(&name));
        let by_program = || {
            let program = interpreter(text)?;
            LANGUAGES.iter().find(|language| language.interpreters.contains(&program))
        };
        by_extension.or_else(by_name).or_else(by_program)
    }

    /// Returns the rows of its definitions in order.
    pub fn definitions(&self) -> impl Iterator<Item = &'static DefinitionRow> {
        self.definitions.iter().copied().flatten()
    }

    /// Whether a kind of node belongs to the definition directly below it.
    pub fn leads(&self, kind: &str) -> bool {
        kind.contains("comment") || self.leads.contains(&kind)
    }
}

/// Returns the program that the first line of a script names, without its version: `python` for `#!/usr/bin/env python3`.
fn interpreter(text: &str) -> Option<&str> {
    let mut words = text.strip_prefix("#!")?.lines().next()?.split_whitespace();
    let mut program = words.next()?;
    if program.ends_with("/env") {
        program = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    }
    let name = program.rsplit('/').next()?;
    Some(name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.'))
}

/// The languages in alphabetical order of their names.
static LANGUAGES: &[CodeLanguage] = &[
    CodeLanguage {
        extensions: &["c", "h"],
        names: &[],
        interpreters: &[],
        grammar: || tree_sitter_c::LANGUAGE.into(),
        definitions: &[C],
        wraps: DECLARATORS,
        leads: &[],
    },
    CodeLanguage {
        extensions: &["go"],
        names: &[],
        interpreters: &[],
        grammar: || tree_sitter_go::LANGUAGE.into(),
        definitions: &[&[
            define("function_declaration", "func {name}"),
            define("method_declaration", "func {receiver} {name}"),
            define("type_declaration", "type {type_spec.name}"),
            define("type_declaration", "type {type_alias.name}"),
        ]],
        wraps: &[],
        leads: &[],
    },
    CodeLanguage {
        extensions: &["java"],
        names: &[],
        interpreters: &[],
        grammar: || tree_sitter_java::LANGUAGE.into(),
        definitions: &[&[
            define("class_declaration", "class {name}"),
            define("interface_declaration", "interface {name}"),
            define("enum_declaration", "enum {name}"),
            define("record_declaration", "record {name}"),
            define("annotation_type_declaration", "@interface {name}"),
            define("method_declaration", "method {name}"),
            define("constructor_declaration", "constructor {name}"),
        ]],
        wraps: &[],
        leads: &["annotation", "marker_annotation"],
    },
    CodeLanguage {
        extensions: &["js", "jsx", "mjs", "cjs"],
        names: &[],
        interpreters: &["node", "nodejs"],
        grammar: || tree_sitter_javascript::LANGUAGE.into(),
        definitions: &[JAVASCRIPT],
        wraps: &[],
        leads: &["decorator"],
    },
    CodeLanguage {
        extensions: &["py", "pyi", "pyw"],
        names: &["sconstruct", "wscript"],
        interpreters: &["python", "pypy"],
        grammar: || tree_sitter_python::LANGUAGE.into(),
        definitions: &[&[
            define("decorated_definition", "=definition"),
            define("class_definition", "class {name}"),
            define("function_definition", "def {name}"),
        ]],
        wraps: &[],
        leads: &["decorator"],
    },
    CodeLanguage {
        extensions: &["rs"],
        names: &[],
        interpreters: &[],
        grammar: || tree_sitter_rust::LANGUAGE.into(),
        definitions: &[&[
            define("function_item", "fn {name}"),
            define("function_signature_item", "fn {name}"),
            define("struct_item", "struct {name}"),
            define("enum_item", "enum {name}"),
            define("union_item", "union {name}"),
            define("trait_item", "trait {name}"),
            define("mod_item", "mod {name}"),
            define("macro_definition", "macro {name}"),
            define("const_item", "const {name}"),
            define("static_item", "static {name}"),
            define("type_item", "type {name}"),
            define("impl_item", "impl {trait} for {type}"),
            define("impl_item", "impl {type}"),
        ]],
        wraps: &[],
        leads: &["attribute_item"],
    },
    CodeLanguage {
        extensions: &["ts", "mts", "cts"],
        names: &[],
        interpreters: &[],
        grammar: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        definitions: &[JAVASCRIPT, TYPESCRIPT],
        wraps: &[],
        leads: &["decorator"],
    },
    CodeLanguage {
        extensions: &["tsx"],
        names: &[],
        interpreters: &[],
        grammar: || tree_sitter_typescript::LANGUAGE_TSX.into(),
        definitions: &[JAVASCRIPT, TYPESCRIPT],
        wraps: &[],
        leads: &["decorator"],
    },
];

const C: &[DefinitionRow] = &[
    define("function_definition", "{declarator}"),
    define("struct_specifier", "struct {name}").only("body", &[]),
    define("union_specifier", "union {name}").only("body", &[]),
    define("enum_specifier", "enum {name}").only("body", &[]),
    define("type_definition", "typedef {declarator}"),
    define("preproc_function_def", "#define {name}"),
];

const DECLARATORS: &[&str] = &[
    "array_declarator",
    "attributed_declarator",
    "function_declarator",
    "parenthesized_declarator",
    "pointer_declarator",
];

const JAVASCRIPT: &[DefinitionRow] = &[
    define("export_statement", "=declaration"),
    define("function_declaration", "function {name}"),
    define("generator_function_declaration", "function {name}"),
    define("class_declaration", "class {name}"),
    define("class", "class {name}"),
    define("method_definition", "method {name}"),
    define("lexical_declaration", "const {variable_declarator.name}")
        .only("variable_declarator.value", VALUES),
    define("variable_declaration", "const {variable_declarator.name}")
        .only("variable_declarator.value", VALUES),
];

/// The values for which a constant of JavaScript is a definition.
const VALUES: &[&str] = &["arrow_function", "function_expression", "class", "call_expression", "object"];

const TYPESCRIPT: &[DefinitionRow] = &[
    define("ambient_declaration", "=0"),
    define("abstract_class_declaration", "class {name}"),
    define("interface_declaration", "interface {name}"),
    define("enum_declaration", "enum {name}"),
    define("type_alias_declaration", "type {name}"),
    define("internal_module", "namespace {name}"),
    define("module", "namespace {name}"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_names_its_interpreter() {
        for (text, expected) in [
            ("#!/usr/bin/python3.11\nimport os\n", Some("python")),
            ("#! /usr/bin/env python3\n", Some("python")),
            ("#!/usr/bin/env -S NODE_ENV=test node --test\n", Some("node")),
            ("#!/usr/bin/env\n", None),
            ("#!\nnode\n", None),
            ("import os\n", None),
        ] {
            assert_eq!(interpreter(text), expected, "{text}");
        }
    }

    #[test]
    fn the_extension_counts_before_the_first_line() {
        let kinds =
            |name, extension, text| CodeLanguage::of(name, extension, text).map(|found| found.extensions[0]);
        assert_eq!(kinds("serve", "", "#!/usr/bin/env python3\n"), Some("py"));
        assert_eq!(kinds("serve.js", "js", "#!/usr/bin/env python3\n"), Some("js"));
        assert_eq!(kinds("wscript", "", "import os\n"), Some("py"));
        assert_eq!(kinds("serve", "", "#!/usr/bin/awk -f\n"), None);
    }

    #[test]
    fn every_row_names_kinds_and_fields_of_its_grammar() {
        for language in LANGUAGES {
            let grammar = (language.grammar)();
            let known = |word: &str, named| grammar.id_for_node_kind(word, named) != 0;
            let step = |word: &str| {
                word == "0"
                    || grammar.field_id_for_name(word).is_some()
                    || known(word, true)
                    || known(word, false)
            };
            for row in language.definitions() {
                assert!(known(row.kind, true), "{:?}: {}", language.extensions, row.kind);
                let braces = row.label.split('{').skip(1).filter_map(|piece| piece.split('}').next());
                let paths = braces.chain(row.label.strip_prefix('=')).chain(row.only.map(|only| only.0));
                for word in paths.flat_map(|path| path.split('.')) {
                    assert!(step(word), "{:?}: {}: {word}", language.extensions, row.kind);
                }
            }
        }
    }
}
