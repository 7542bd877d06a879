//! Compiles the grammars without the values of their parse tables, which it compresses and leaves to `src/lib.rs`.
//!
//! Tree-sitter's generator writes a grammar as one C file. Nine tenths of what the file compiles to are two arrays of 16-bit numbers,
//! `ts_parse_table` and `ts_small_parse_table`, and a number in them is mostly the one before it or zero. This script takes the values
//! out of the text. The arrays stay in the program as room that is reserved, but takes no bytes in the file.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// A grammar: its name, its package, and the folder of its C files there.
struct Grammar(&'static str, &'static str, &'static str);

const GRAMMARS: &[Grammar] = &[
    Grammar("bash", "tree-sitter-bash", "src"),
    Grammar("c", "tree-sitter-c", "src"),
    Grammar("c_sharp", "tree-sitter-c-sharp", "src"),
    Grammar("cpp", "tree-sitter-cpp", "src"),
    Grammar("dart", "tree-sitter-dart", "src"),
    Grammar("go", "tree-sitter-go", "src"),
    Grammar("java", "tree-sitter-java", "src"),
    Grammar("javascript", "tree-sitter-javascript", "src"),
    Grammar("kotlin", "tree-sitter-kotlin-ng", "src"),
    Grammar("lua", "tree-sitter-lua", "src"),
    Grammar("php", "tree-sitter-php", "php/src"),
    Grammar("powershell", "tree-sitter-powershell", "src"),
    Grammar("python", "tree-sitter-python", "src"),
    Grammar("r", "tree-sitter-r", "src"),
    Grammar("ruby", "tree-sitter-ruby", "src"),
    Grammar("rust", "tree-sitter-rust", "src"),
    Grammar("scala", "tree-sitter-scala", "src"),
    Grammar("swift", "tree-sitter-swift", "src"),
    Grammar("tsx", "tree-sitter-typescript", "tsx/src"),
    Grammar("typescript", "tree-sitter-typescript", "typescript/src"),
    Grammar("zig", "tree-sitter-zig", "src"),
];

/// The arrays that are compressed.
const TABLES: [&str; 2] = ["ts_parse_table", "ts_small_parse_table"];

/// Why writing to a string cannot fail.
const GROWS: &str = "a string grows";

/// Wraps the scanner of a grammar, which is written by hand. Some search a character without a look at the end of the file, where
/// they advance for ever (`@b` at the end of a file in Kotlin). A scanner that advances so often at the end finds nothing.
const GUARDED: &str = r#"
#define tree_sitter_NAME_external_scanner_scan bower_unguarded_scan_NAME
#include "SCANNER"
#undef tree_sitter_NAME_external_scanner_scan
#include <setjmp.h>

static _Thread_local jmp_buf bower_give_up;
static _Thread_local unsigned bower_calls_at_end;
static _Thread_local void (*bower_advance)(TSLexer *, bool);

static void bower_guarded_advance(TSLexer *lexer, bool skip) {
  if (lexer->eof(lexer) && ++bower_calls_at_end > 1000) longjmp(bower_give_up, 1);
  bower_advance(lexer, skip);
}

bool tree_sitter_NAME_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid_symbols) {
  volatile bool found = false;
  bower_advance = lexer->advance;
  bower_calls_at_end = 0;
  lexer->advance = bower_guarded_advance;
  if (setjmp(bower_give_up) == 0) found = bower_unguarded_scan_NAME(payload, lexer, valid_symbols);
  lexer->advance = bower_advance;
  return found;
}
"#;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../../Cargo.lock");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let packages = packages();
    let mut rust = String::new();
    for grammar in GRAMMARS {
        let package =
            packages.get(grammar.1).unwrap_or_else(|| panic!("cargo knows no package {}", grammar.1));
        build(grammar, &package.join(grammar.2), &out, &mut rust);
    }
    fs::write(out.join("grammars.rs"), rust).expect("OUT_DIR is writable");
}

/// Returns the folder of each package of the workspace's dependencies. Cargo downloads those that are not there.
fn packages() -> HashMap<String, PathBuf> {
    let manifest = Path::new(&env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"))
        .join("Cargo.toml");
    let done = Command::new(env::var_os("CARGO").expect("cargo sets CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--features", "sources", "--filter-platform"])
        .arg(env::var_os("TARGET").expect("cargo sets TARGET"))
        .arg("--manifest-path")
        .arg(&manifest)
        .output()
        .expect("cargo runs");
    assert!(done.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&done.stderr));
    let all: serde_json::Value = serde_json::from_slice(&done.stdout).expect("cargo metadata writes JSON");
    let text = |value: &serde_json::Value| value.as_str().expect("cargo metadata writes text").to_owned();
    let folder = |package: &serde_json::Value| {
        let manifest = PathBuf::from(text(&package["manifest_path"]));
        (text(&package["name"]), manifest.parent().expect("a manifest is in a folder").to_owned())
    };
    all["packages"].as_array().expect("cargo metadata lists packages").iter().map(folder).collect()
}

/// Compiles a grammar, and adds its call of the macro `grammar!` to the text of `grammars.rs`.
fn build(Grammar(name, package, _): &Grammar, folder: &Path, out: &Path, rust: &mut String) {
    let path = folder.join("parser.c");
    let source = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let constants = constants(&source);
    let (mut names, mut c, mut tables) = (String::new(), String::new(), String::new());
    let mut taken = 0;
    for table in TABLES {
        let (values, range) = values(&source, table, &constants);
        let (own, file) = (format!("bower_{name}_{table}"), format!("{name}_{table}.zlib"));
        // The array stays without its values. It gets a name of its own, because Rust fills it.
        let (head, _) = source[range.clone()].split_once(" = {").expect("an array has values");
        let head = head.strip_prefix("static const ").expect("a table is static");
        let head = head.replace("[]", &format!("[{}]", values.len()));
        writeln!(names, "#define {table} {own}").expect(GROWS);
        write!(c, "{}{head};", &source[taken..range.start]).expect(GROWS);
        taken = range.end;
        fs::write(out.join(&file), packed(&values)).expect("OUT_DIR is writable");
        write!(tables, ", {own}: {} = {file:?}", values.len()).expect(GROWS);
    }
    writeln!(rust, "grammar!({name}, {package:?}, tree_sitter_{name}{tables});").expect(GROWS);

    let file = out.join(format!("{name}.c"));
    fs::write(&file, [&names, &c, &source[taken..]].concat()).expect("OUT_DIR is writable");
    let mut compiler = cc::Build::new();
    compiler.std("c11").include(folder).warnings(false).file(&file);
    let scanner = folder.join("scanner.c");
    if scanner.exists() {
        let guarded = out.join(format!("{name}_scanner.c"));
        let text = GUARDED
            .replace("NAME", name)
            .replace("SCANNER", &scanner.display().to_string().replace('\\', "/"));
        fs::write(&guarded, text).expect("OUT_DIR is writable");
        compiler.file(guarded);
    }
    compiler.compile(&format!("bower-grammar-{name}"));
}

/// Returns the numbers that the names in the tables stand for.
fn constants(source: &str) -> HashMap<&str, usize> {
    let mut all = HashMap::from([("ts_builtin_sym_end", 0)]);
    for line in source.lines() {
        if let Some((name, value)) = line.strip_prefix("#define ").and_then(|rest| rest.split_once(' '))
            && let Ok(value) = value.parse()
        {
            all.insert(name, value);
        }
    }
    let (_, rest) = source.split_once("enum ts_symbol_identifiers {").expect("a grammar numbers its symbols");
    let (symbols, _) = rest.split_once("};").expect("an enumeration ends");
    for symbol in symbols.split(',').map(str::trim).filter(|symbol| !symbol.is_empty()) {
        let (name, value) = symbol.split_once(" = ").expect("each symbol has its number");
        all.insert(name, value.parse().expect("a symbol's number"));
    }
    all
}

/// Returns the values of an array of 16-bit numbers, and its range in the source.
fn values(source: &str, name: &str, constants: &HashMap<&str, usize>) -> (Vec<u16>, std::ops::Range<usize>) {
    let declaration = format!("static const uint16_t {name}[");
    let start = source.find(&declaration).unwrap_or_else(|| panic!("no {name}"));
    let open = start + source[start..].find('{').expect("an array has values");
    let end = open + source[open..].find("\n};").expect("an array ends") + "\n};".len();
    let mut reader = Reader { text: &source.as_bytes()[open..end], at: 0, constants };
    let (rows, row) = match name {
        "ts_parse_table" => (constants["LARGE_STATE_COUNT"], constants["SYMBOL_COUNT"]),
        _ => (0, 0),
    };
    let mut values = Vec::new();
    reader.array(&mut values, 0, row);
    assert!(
        row == 0 || values.len() == rows * row,
        "{name} has {} values, not {rows} times {row}",
        values.len()
    );
    (values, start..end)
}

/// Reads the values of a C array.
struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    constants: &'a HashMap<&'a str, usize>,
}

impl Reader<'_> {
    /// Reads `{ VALUE, [INDEX] = VALUE, [INDEX] = { ... }, }` into `values`, from `first` on. Each row in braces has `row` values.
    fn array(&mut self, values: &mut Vec<u16>, first: usize, row: usize) {
        let mut at = first;
        self.expect(b'{');
        while !self.take(b'}') {
            if self.take(b'[') {
                at = first + self.number() * row.max(1);
                self.expect(b']');
                self.expect(b'=');
            }
            if self.peek() == b'{' {
                values.resize(values.len().max(at + row), 0);
                self.array(values, at, 0);
                at += row;
            } else {
                values.resize(values.len().max(at + 1), 0);
                values[at] = u16::try_from(self.number()).expect("a value has 16 bits");
                at += 1;
            }
            self.take(b',');
        }
    }

    /// Reads a number, a constant, or one in the parentheses of a macro that only says what it is, such as `STATE(3)`.
    fn number(&mut self) -> usize {
        self.peek();
        let start = self.at;
        while self.text[self.at].is_ascii_alphanumeric() || self.text[self.at] == b'_' {
            self.at += 1;
        }
        let word = std::str::from_utf8(&self.text[start..self.at]).expect("ASCII");
        if self.peek() == b'(' {
            assert!(matches!(word, "STATE" | "ACTIONS"), "unknown macro {word}");
            self.expect(b'(');
            let value = self.number();
            self.expect(b')');
            return value;
        }
        match word.as_bytes().first() {
            Some(b'0'..=b'9') => word.parse().expect("a number"),
            _ => *self.constants.get(word).unwrap_or_else(|| panic!("unknown constant {word:?}")),
        }
    }

    /// Returns the next character that is not white space.
    fn peek(&mut self) -> u8 {
        while self.text[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        self.text[self.at]
    }

    fn take(&mut self, wanted: u8) -> bool {
        let found = self.peek() == wanted;
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, wanted: u8) {
        assert!(self.take(wanted), "expected {:?} at byte {}", char::from(wanted), self.at);
    }
}

/// Compresses numbers in the format of zlib.
fn packed(values: &[u16]) -> Vec<u8> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut writer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    writer.write_all(&bytes).and_then(|()| writer.finish()).expect("memory is always written")
}
