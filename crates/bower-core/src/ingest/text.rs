//! Chunks plain text, data files, and code without a grammar.
//! It cuts at paragraphs, lines and sentences, and never fails.

use super::draft::{Draft, ParsedFile};
use super::split::{Lines, pieces};
use crate::config::Settings;

/// Extensions of data, which is chunked without overlap: it is searched by its values, and an overlap would only list
/// them twice.
const DATA: &[&str] = &[
    "cfg",
    "conf",
    "env",
    "ini",
    "json",
    "json5",
    "jsonc",
    "jsonl",
    "lock",
    "properties",
    "toml",
    "xml",
    "yaml",
    "yml",
];

/// Extensions of source code without a grammar here: chunked with code's size and without overlap.
const CODE: &[&str] = &[
    "asm", "awk", "bat", "clj", "cljs", "cmake", "css", "cu", "el", "elm", "erl", "ex", "exs", "fish", "fs",
    "gd", "glsl", "gradle", "graphql", "groovy", "hlsl", "hrl", "hs", "jl", "less", "lisp", "m", "mk", "ml",
    "mli", "mm", "nim", "nix", "pas", "pl", "pm", "proto", "rkt", "s", "sass", "scm", "scss", "sol", "sql",
    "svelte", "tcl", "tf", "v", "vb", "vim", "vue", "wgsl", "zsh",
];

/// Whether an extension is that of source code without a grammar here.
pub(super) fn is_code(extension: &str) -> bool {
    CODE.contains(&extension)
}

/// Cuts a text by its kind. Prose has overlapping chunks of `text_chunk_max`, data the same size without overlap, code
/// `code_chunk_max` without overlap.
pub(super) fn parse(text: &str, extension: &str, settings: &Settings) -> ParsedFile {
    let (max, overlap) = if is_code(extension) {
        (settings.code_chunk_max, 0)
    } else if DATA.contains(&extension) {
        (settings.text_chunk_max, 0)
    } else {
        (settings.text_chunk_max, settings.text_chunk_overlap)
    };
    ParsedFile { drafts: drafts(text, max, overlap), ..ParsedFile::default() }
}

/// Returns the chunks of a whole text.
pub(super) fn drafts(text: &str, max: usize, overlap: usize) -> Vec<Draft> {
    let lines = Lines::new(text);
    let draft = |range: std::ops::Range<usize>| Draft {
        content: text[range.clone()].to_owned(),
        section: None,
        lines: lines.of(&range),
        tags: Vec::new(),
    };
    pieces(text, max, overlap).into_iter().map(draft).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, extension: &str, expected: &[(&str, (u32, u32))]) {
        let settings = Settings {
            text_chunk_max: 40,
            text_chunk_overlap: 10,
            code_chunk_max: 60,
            ..Settings::default()
        };
        let reading = parse(text, extension, &settings);
        let got: Vec<_> = reading.drafts.iter().map(|draft| (draft.content.as_str(), draft.lines)).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn kinds_of_text_are_cut_their_own_way() {
        let prose = "The first day was calm.\nThe second.\nThe third one brought rain.";
        check(
            prose,
            "txt",
            &[
                ("The first day was calm.\nThe second.", (1, 2)),
                ("second.\nThe third one brought rain.", (2, 3)),
            ],
        );
        check(
            "def a\n  1\nend\n\ndef b\n  puts 'some more words'\n  2\nend\n\ndef c\nend\n",
            "ex",
            &[
                ("def a\n  1\nend\n\ndef b\n  puts 'some more words'\n  2\nend", (1, 8)),
                ("def c\nend", (10, 11)),
            ],
        );
    }
}
