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
    /// Returns the languages that a file may be written in. Its name and extension are in lower case; the first line of its text may
    /// name a program. A header of C++ has the extension of C, so there can be several.
    pub fn of(name: &str, extension: &str, text: &str) -> Vec<&'static Self> {
        let all = |fits: &dyn Fn(&Self) -> bool| LANGUAGES.iter().filter(|one| fits(one)).collect::<Vec<_>>();
        let mut found = all(&|language| language.extensions.contains(&extension));
        if found.is_empty() {
            found = all(&|language| language.names.contains(&name));
        }
        if found.is_empty()
            && let Some(program) = interpreter(text)
        {
            found = all(&|language| language.interpreters.contains(&program));
        }
        found
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

/// The languages in alphabetical order of their grammars.
static LANGUAGES: &[CodeLanguage] = &[
    CodeLanguage {
        extensions: &["sh", "bash", "ksh", "bats"],
        names: &[".bashrc", ".bash_profile", ".bash_aliases", ".profile"],
        interpreters: &["sh", "bash", "dash", "ksh"],
        grammar: bower_grammars::bash,
        definitions: &[BASH],
        wraps: &[],
        leads: &[],
    },
    CodeLanguage {
        extensions: &["c", "h"],
        names: &[],
        interpreters: &[],
        grammar: bower_grammars::c,
        definitions: &[C],
        wraps: DECLARATORS,
        leads: &[],
    },
    CodeLanguage {
        extensions: &["cs", "csx"],
        names: &[],
        interpreters: &[],
        grammar: bower_grammars::c_sharp,
        definitions: &[C_SHARP],
        wraps: &[],
        leads: &[],
    },
    CodeLanguage {
        extensions: &["cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "h", "ipp", "tpp"],
        names: &[],
        interpreters: &[],
        grammar: bower_grammars::cpp,
        definitions: &[CPP, C],
        wraps: DECLARATORS,
        leads: &[],
    },
    CodeLanguage {
        extensions: &["dart"],
        names: &[],
        interpreters: &["dart"],
        grammar: bower_grammars::dart,
        definitions: &[DART],
        wraps: &[],
        leads: &[],
    },
    CodeLanguage {
        extensions: &["go"],
        names: &[],
        interpreters: &[],
        grammar: bower_grammars::go,
        definitions: &[GO],
        wraps: &[],
        leads: &[],
    },
    CodeLanguage {
        extensions: &["java"],
        names: &[],
        interpreters: &[],
        grammar: bower_grammars::java,
        definitions: &[JAVA],
        wraps: &[],
        leads: &["annotation", "marker_annotation"],
    },
    CodeLanguage {
        extensions: &["js", "jsx", "mjs", "cjs"],
        names: &[],
        interpreters: &["node", "nodejs"],
        grammar: bower_grammars::javascript,
        definitions: &[JAVASCRIPT],
        wraps: &[],
        leads: &["decorator"],
    },
    CodeLanguage {
        extensions: &["kt", "kts"],
        names: &[],
        interpreters: &["kotlin"],
        grammar: bower_grammars::kotlin,
        definitions: &[KOTLIN],
        wraps: &[],
        leads: &[],
    },
    CodeLanguage {
        extensions: &["lua"],
        names: &[],
        interpreters: &["lua", "luajit"],
        grammar: bower_grammars::lua,
        definitions: &[LUA],
        wraps: &[],
        leads: &[],
    },
    CodeLanguage {
        extensions: &["php", "phtml"],
        names: &[],
        interpreters: &["php"],
        grammar: bower_grammars::php,
        definitions: &[PHP],
        wraps: &[],
        leads: &[],
    },
    CodeLanguage {
        extensions: &["ps1", "psm1"],
        names: &[],
        interpreters: &["pwsh"],
        grammar: bower_grammars::powershell,
        definitions: &[POWERSHELL],
        wraps: &[],
        leads: &[],
    },
    CodeLanguage {
        extensions: &["py", "pyi", "pyw"],
        names: &["sconstruct", "wscript"],
        interpreters: &["python", "pypy"],
        grammar: bower_grammars::python,
        definitions: &[PYTHON],
        wraps: &[],
        leads: &["decorator"],
    },
    CodeLanguage {
        extensions: &["r"],
        names: &[".rprofile"],
        interpreters: &["rscript"],
        grammar: bower_grammars::r,
        definitions: &[R],
        wraps: &[],
        leads: &[],
    },
    CodeLanguage {
        extensions: &["rb", "rake", "gemspec", "ru", "podspec"],
        names: &["rakefile", "gemfile", "podfile", "vagrantfile", "brewfile", "fastfile"],
        interpreters: &["ruby", "jruby"],
        grammar: bower_grammars::ruby,
        definitions: &[RUBY],
        wraps: &[],
        leads: &[],
    },
    CodeLanguage {
        extensions: &["rs"],
        names: &[],
        interpreters: &[],
        grammar: bower_grammars::rust,
        definitions: &[RUST],
        wraps: &[],
        leads: &["attribute_item"],
    },
    CodeLanguage {
        extensions: &["scala", "sc", "sbt"],
        names: &[],
        interpreters: &["scala"],
        grammar: bower_grammars::scala,
        definitions: &[SCALA],
        wraps: &[],
        leads: &[],
    },
    CodeLanguage {
        extensions: &["swift"],
        names: &[],
        interpreters: &["swift"],
        grammar: bower_grammars::swift,
        definitions: &[SWIFT],
        wraps: &[],
        leads: &[],
    },
    CodeLanguage {
        extensions: &["ts", "mts", "cts"],
        names: &[],
        interpreters: &[],
        grammar: bower_grammars::typescript,
        definitions: &[JAVASCRIPT, TYPESCRIPT],
        wraps: &[],
        leads: &["decorator"],
    },
    CodeLanguage {
        extensions: &["tsx"],
        names: &[],
        interpreters: &[],
        grammar: bower_grammars::tsx,
        definitions: &[JAVASCRIPT, TYPESCRIPT],
        wraps: &[],
        leads: &["decorator"],
    },
    CodeLanguage {
        extensions: &["zig"],
        names: &[],
        interpreters: &[],
        grammar: bower_grammars::zig,
        definitions: &[ZIG],
        wraps: &[],
        leads: &[],
    },
];

const BASH: &[DefinitionRow] = &[define("function_definition", "function {name}")];

const CPP: &[DefinitionRow] = &[
    define("template_declaration", "=class_specifier"),
    define("template_declaration", "=struct_specifier"),
    define("template_declaration", "=union_specifier"),
    define("template_declaration", "=function_definition"),
    define("template_declaration", "=alias_declaration"),
    define("template_declaration", "=concept_definition"),
    define("template_declaration", "=template_declaration"),
    define("namespace_definition", "namespace {name}"),
    define("class_specifier", "class {name}").only("body", &[]),
    define("alias_declaration", "using {name}"),
    define("concept_definition", "concept {name}"),
    // A class with a macro before its name, `class EXPORT Shelf { ... }`, is read as a function without parameters.
    define("function_definition", "class {declarator}").only("declarator", &["identifier"]),
];

const C_SHARP: &[DefinitionRow] = &[
    define("namespace_declaration", "namespace {name}"),
    define("class_declaration", "class {name}"),
    define("record_declaration", "record {name}"),
    define("struct_declaration", "struct {name}"),
    define("interface_declaration", "interface {name}"),
    define("enum_declaration", "enum {name}"),
    define("delegate_declaration", "delegate {name}"),
    define("method_declaration", "method {name}"),
    define("constructor_declaration", "constructor {name}"),
    define("destructor_declaration", "destructor {name}"),
    define("operator_declaration", "operator {operator}"),
    define("conversion_operator_declaration", "operator {type}"),
    define("indexer_declaration", "this"),
    define("property_declaration", "property {name}"),
    define("event_declaration", "event {name}"),
];

const DART: &[DefinitionRow] = &[
    define("class_declaration", "class {name}"),
    define("mixin_declaration", "mixin {name}"),
    define("enum_declaration", "enum {name}"),
    define("extension_declaration", "extension {name}"),
    define("extension_type_declaration", "extension type {name}"),
    define("type_alias", "typedef {type_identifier}"),
    define("function_declaration", "function {signature.name}"),
    define("getter_declaration", "get {signature.name}"),
    define("setter_declaration", "set {signature.name}"),
    define("member_declaration", "=method_declaration"),
    define("method_declaration", "method {signature.function_signature.name}"),
    define("method_declaration", "get {signature.getter_signature.name}"),
    define("method_declaration", "set {signature.setter_signature.name}"),
    define("method_declaration", "operator {signature.operator_signature.operator}"),
    define("method_declaration", "factory {signature.factory_constructor_signature.name}"),
    define("method_declaration", "constructor {signature.constructor_signature.name}"),
];

const GO: &[DefinitionRow] = &[
    define("function_declaration", "func {name}"),
    define("method_declaration", "func {receiver} {name}"),
    define("type_declaration", "type {type_spec.name}"),
    define("type_declaration", "type {type_alias.name}"),
];

const JAVA: &[DefinitionRow] = &[
    define("class_declaration", "class {name}"),
    define("interface_declaration", "interface {name}"),
    define("enum_declaration", "enum {name}"),
    define("record_declaration", "record {name}"),
    define("annotation_type_declaration", "@interface {name}"),
    define("method_declaration", "method {name}"),
    define("constructor_declaration", "constructor {name}"),
];

const KOTLIN: &[DefinitionRow] = &[
    define("class_declaration", "{interface} {name}"),
    define("class_declaration", "class {name}"),
    define("object_declaration", "object {name}"),
    define("companion_object", "companion object"),
    define("function_declaration", "fun {name}"),
    define("secondary_constructor", "constructor"),
    define("type_alias", "typealias {type}"),
];

const LUA: &[DefinitionRow] = &[
    define("function_declaration", "function {name}"),
    define("variable_declaration", "=assignment_statement"),
    define("assignment_statement", "function {variable_list.name}")
        .only("expression_list.value", &["function_definition"]),
];

const PHP: &[DefinitionRow] = &[
    define("namespace_definition", "namespace {name}").only("body", &[]),
    define("class_declaration", "class {name}"),
    define("interface_declaration", "interface {name}"),
    define("trait_declaration", "trait {name}"),
    define("enum_declaration", "enum {name}"),
    define("function_definition", "function {name}"),
    define("method_declaration", "method {name}"),
];

const POWERSHELL: &[DefinitionRow] = &[
    define("function_statement", "function {function_name}"),
    define("class_statement", "class {simple_name}"),
    define("class_method_definition", "method {simple_name}"),
    define("enum_statement", "enum {simple_name}"),
];

const PYTHON: &[DefinitionRow] = &[
    define("decorated_definition", "=definition"),
    define("class_definition", "class {name}"),
    define("function_definition", "def {name}"),
];

const R: &[DefinitionRow] =
    &[define("binary_operator", "function {lhs}").only("rhs", &["function_definition"])];

const RUBY: &[DefinitionRow] = &[
    define("module", "module {name}"),
    define("class", "class {name}"),
    define("singleton_class", "class << {value}"),
    define("method", "def {name}"),
    define("singleton_method", "def {object}.{name}"),
];

const RUST: &[DefinitionRow] = &[
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
];

const SCALA: &[DefinitionRow] = &[
    define("class_definition", "class {name}"),
    define("object_definition", "object {name}"),
    define("package_object", "package object {name}"),
    define("trait_definition", "trait {name}"),
    define("enum_definition", "enum {name}"),
    define("given_definition", "given {name}"),
    define("type_definition", "type {name}"),
    define("function_definition", "def {name}"),
    define("function_declaration", "def {name}"),
];

const SWIFT: &[DefinitionRow] = &[
    define("class_declaration", "extension of {name}").only("declaration_kind", &["extension"]),
    define("class_declaration", "{declaration_kind} {name}"),
    define("protocol_declaration", "protocol {name}"),
    define("function_declaration", "func {name}"),
    define("protocol_function_declaration", "func {name}"),
    define("init_declaration", "init"),
    define("deinit_declaration", "deinit"),
    define("subscript_declaration", "subscript"),
    define("property_declaration", "var {name}").only("computed_value", &[]),
    define("typealias_declaration", "typealias {name}"),
];

const ZIG: &[DefinitionRow] = &[
    define("function_declaration", "fn {name}"),
    define("variable_declaration", "struct {identifier}").only("struct_declaration", &[]),
    define("variable_declaration", "enum {identifier}").only("enum_declaration", &[]),
    define("variable_declaration", "union {identifier}").only("union_declaration", &[]),
    define("variable_declaration", "opaque {identifier}").only("opaque_declaration", &[]),
    define("variable_declaration", "error {identifier}").only("error_set_declaration", &[]),
    define("test_declaration", "test {string}"),
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
    "reference_declarator",
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
        let kinds = |name, extension, text| {
            CodeLanguage::of(name, extension, text)
                .iter()
                .map(|found| found.extensions[0])
                .collect::<Vec<_>>()
        };
        assert_eq!(kinds("serve", "", "#!/usr/bin/env python3\n"), ["py"]);
        assert_eq!(kinds("serve.js", "js", "#!/usr/bin/env python3\n"), ["js"]);
        assert_eq!(kinds("wscript", "", "import os\n"), ["py"]);
        assert_eq!(kinds("serve", "", "#!/usr/bin/awk -f\n"), [""; 0]);
        assert_eq!(kinds("shelf.h", "h", ""), ["c", "cc"]);
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
