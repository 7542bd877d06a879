//! Lists the languages with a grammar: the files they are in, and the nodes of their syntax trees that define something.
//! A further language is one more row and, if it is new, one more crate.

/// A language with a grammar.
pub(super) struct Language {
    /// Its usual name.
    pub name: &'static str,
    /// Extensions of its files, in lower case.
    extensions: &'static [&'static str],
    /// Whole names of its files, in lower case.
    names: &'static [&'static str],
    /// Programs that run it, as the first line of a script names them, without their version.
    interpreters: &'static [&'static str],
    /// Returns its grammar.
    pub grammar: fn() -> tree_sitter::Language,
    /// What defines something, in lists that languages share.
    definitions: &'static [&'static [Definition]],
    /// Kinds of nodes that only wrap a name. The name is in the field `declarator`, else in the first named child.
    pub wraps: &'static [&'static str],
    /// Kinds of nodes, besides comments, that belong to the definition directly below them.
    leads: &'static [&'static str],
}

/// A kind of node that defines something.
pub(super) struct Definition {
    /// The node's kind in the grammar.
    pub kind: &'static str,
    /// What a section path calls it. A path in braces stands for the text of a part: `{type_spec.name}` is the field `name`
    /// of the child of kind `type_spec`. A label `=path` says that the node only wraps a definition, the one at the path.
    pub label: &'static str,
    /// The path of a part that must be there, and the kinds or texts that it may have (any, if there are none).
    pub only: Option<(&'static str, &'static [&'static str])>,
}

/// Calls nodes of a kind by a label. If several rows name a kind, the first one counts whose parts are all there.
const fn define(kind: &'static str, label: &'static str) -> Definition {
    Definition { kind, label, only: None }
}

impl Definition {
    /// Restricts a row to nodes with a part of one of these kinds or texts.
    const fn only(self, path: &'static str, values: &'static [&'static str]) -> Self {
        Self { only: Some((path, values)), ..self }
    }
}

impl Language {
    /// Returns the language of a file; its name and its extension are in lower case.
    pub fn of(name: &str, extension: &str) -> Option<&'static Self> {
        let by_extension = LANGUAGES.iter().find(|language| language.extensions.contains(&extension));
        by_extension.or_else(|| LANGUAGES.iter().find(|language| language.names.contains(&name)))
    }

    /// Returns the rows of its definitions in order.
    pub fn definitions(&self) -> impl Iterator<Item = &'static Definition> {
        self.definitions.iter().copied().flatten()
    }

    /// Whether a kind of node belongs to the definition directly below it.
    pub fn leads(&self, kind: &str) -> bool {
        kind.contains("comment") || self.leads.contains(&kind)
    }
}

/// The languages, by name.
static LANGUAGES: &[Language] = &[
    Language {
        name: "C",
        extensions: &["c", "h"],
        names: &[],
        interpreters: &[],
        grammar: || tree_sitter_c::LANGUAGE.into(),
        definitions: &[C],
        wraps: DECLARATORS,
        leads: &[],
    },
    Language {
        name: "Go",
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
    Language {
        name: "Java",
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
    Language {
        name: "JavaScript",
        extensions: &["js", "jsx", "mjs", "cjs"],
        names: &[],
        interpreters: &["node", "nodejs"],
        grammar: || tree_sitter_javascript::LANGUAGE.into(),
        definitions: &[JAVASCRIPT],
        wraps: &[],
        leads: &["decorator"],
    },
    Language {
        name: "Python",
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
    Language {
        name: "Rust",
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
    Language {
        name: "TypeScript",
        extensions: &["ts", "mts", "cts"],
        names: &[],
        interpreters: &[],
        grammar: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        definitions: &[JAVASCRIPT, TYPESCRIPT],
        wraps: &[],
        leads: &["decorator"],
    },
    Language {
        name: "TSX",
        extensions: &["tsx"],
        names: &[],
        interpreters: &[],
        grammar: || tree_sitter_typescript::LANGUAGE_TSX.into(),
        definitions: &[JAVASCRIPT, TYPESCRIPT],
        wraps: &[],
        leads: &["decorator"],
    },
];

const C: &[Definition] = &[
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

const JAVASCRIPT: &[Definition] = &[
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

const TYPESCRIPT: &[Definition] = &[
    define("ambient_declaration", "=0"),
    define("abstract_class_declaration", "class {name}"),
    define("interface_declaration", "interface {name}"),
    define("enum_declaration", "enum {name}"),
    define("type_alias_declaration", "type {name}"),
    define("internal_module", "namespace {name}"),
    define("module", "namespace {name}"),
];
