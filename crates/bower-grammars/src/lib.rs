//! Supplies tree-sitter grammars of programming languages, with compressed parse tables.
//!
//! The tables of all languages have 30 MB, and 1.9 MB compressed. A language's tables are unpacked when it is first asked for.
//! Each grammar is compiled from its published package; `build.rs` says how.

use flate2::{Decompress, FlushDecompress, Status};
use std::sync::OnceLock;
use tree_sitter::Language;
use tree_sitter_language::LanguageFn;

const _: () = assert!(cfg!(target_endian = "little"), "the compressed tables are little-endian");

/// Defines the function that returns a grammar: its name, its package, its function in C, and its tables, each with its name in C,
/// its number of entries and the file that has them.
macro_rules! grammar {
    ($name:ident, $package:literal, $function:ident, $($table:ident: $entries:literal = $file:literal),+) => {
        #[doc = concat!("Returns the grammar of the package `", $package, "`.")]
        pub fn $name() -> Language {
            unsafe extern "C" {
                $(static mut $table: [u16; $entries];)+
                fn $function() -> *const ();
            }
            static UNPACKED: OnceLock<()> = OnceLock::new();
            UNPACKED.get_or_init(|| {
                // SAFETY: C reserves so many entries. Only the parser reads them, and nobody has the grammar before this returns.
                $(unsafe {
                    let packed = include_bytes!(concat!(env!("OUT_DIR"), "/", $file));
                    unpack(packed, (&raw mut $table).cast(), size_of::<[u16; $entries]>());
                })+
            });
            // SAFETY: tree-sitter's generator wrote this function, and it returns a grammar.
            unsafe { LanguageFn::from_raw($function) }.into()
        }
    };
}

include!(concat!(env!("OUT_DIR"), "/grammars.rs"));

/// Writes the little-endian numbers of a table, in the format of zlib, to their room of `bytes` bytes.
///
/// # Safety
/// The room must have so many bytes. Nothing else may read or write it meanwhile.
unsafe fn unpack(packed: &[u8], room: *mut u8, bytes: usize) {
    // SAFETY: the caller grants the room, which C fills with zeros.
    let room = unsafe { std::slice::from_raw_parts_mut(room, bytes) };
    let mut reader = Decompress::new(true);
    let status = reader.decompress(packed, room, FlushDecompress::Finish);
    let is_whole = matches!(status, Ok(Status::StreamEnd)) && reader.total_out() == bytes as u64;
    assert!(is_whole, "a parse table does not have the size that build.rs gave it");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the syntax tree of a source: the parser reads both tables and calls the grammar's lexer and scanner.
    #[track_caller]
    fn check(language: &Language, source: &str, expected: &str) {
        let mut parser = tree_sitter::Parser::new();
        parser.set_language(language).expect("a language of a known version");
        let tree = parser.parse(source, None).expect("a tree");
        assert_eq!(tree.root_node().to_sexp(), expected);
    }

    #[test]
    fn unpacked_tables_parse() {
        check(
            &bash(),
            "cat <<A\nb\nA\n",
            "(program (redirected_statement body: (command name: (command_name (word))) redirect: \
             (heredoc_redirect (heredoc_start) (heredoc_body) (heredoc_end))))",
        );
        check(
            &c(),
            "int a = 1;",
            "(translation_unit (declaration type: (primitive_type) declarator: (init_declarator declarator: \
             (identifier) value: (number_literal))))",
        );
    }

    #[test]
    fn a_scanner_that_misses_the_end_of_a_file_is_stopped() {
        for source in ["val a: Int\n@b", "class A\n@b(c"] {
            let mut parser = tree_sitter::Parser::new();
            parser.set_language(&kotlin()).expect("a language of a known version");
            assert_eq!(parser.parse(source, None).expect("a tree").root_node().end_byte(), source.len());
        }
    }

    #[test]
    fn threads_share_the_tables_of_a_language() {
        let all: Vec<_> = (0..8).map(|_| std::thread::spawn(rust)).collect();
        for one in all {
            assert_eq!(one.join().expect("a language"), rust());
        }
    }
}
