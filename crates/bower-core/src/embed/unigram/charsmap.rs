//! Normalises characters by a table that comes with the model: `precompiled_charsmap` of `SentencePiece`.
//!
//! The table is a trie from texts to places in a run of texts that end with a null byte. As in the reference, a short
//! grapheme is looked up as a whole and then by its characters, and the shortest key that it begins with counts.

use unicode_segmentation::UnicodeSegmentation;

use super::trie::Trie;

/// Graphemes of fewer bytes are looked up as a whole (the reference's limit).
const WHOLE_BYTES: usize = 6;

/// A table of characters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Charsmap<'a> {
    keys: Trie<'a>,
    texts: &'a [u8],
}

impl<'a> Charsmap<'a> {
    /// Views a trie and its texts as a table; nothing is read.
    pub(super) fn new(keys: &'a [u8], texts: &'a [u8]) -> Self {
        Self { keys: Trie::new(keys), texts }
    }

    /// Splits a `precompiled_charsmap`: the length of the trie in four bytes, the trie, the texts. `None` if it is cut.
    pub(super) fn split(map: &[u8]) -> Option<(&[u8], &[u8])> {
        let length = super::trie::read(map, 0)? as usize;
        let rest = map.get(4..)?;
        (length.is_multiple_of(4) && length <= rest.len()).then(|| rest.split_at(length))
    }

    /// Whether every printable ASCII character stays as it is.
    pub(super) fn keeps_ascii(self) -> bool {
        (b' '..=b'~').all(|byte| self.keys.shortest(&[byte]).is_none())
    }

    /// Appends a text in its normal form.
    pub(super) fn apply(self, text: &str, keeps_ascii: bool, out: &mut String) {
        let mut rest = text;
        while !rest.is_empty() {
            // Printable ASCII before ASCII is a grapheme of its own; the last one of a run may carry a mark.
            let plain = rest.bytes().take_while(|byte| (b' '..=b'~').contains(byte)).count();
            let plain = if plain == rest.len() { plain } else { plain.saturating_sub(1) };
            if keeps_ascii && plain > 0 {
                out.push_str(&rest[..plain]);
                rest = &rest[plain..];
                continue;
            }
            let grapheme = rest.graphemes(true).next().unwrap_or(rest);
            self.push(grapheme, out);
            rest = &rest[grapheme.len()..];
        }
    }

    fn push(self, grapheme: &str, out: &mut String) {
        let whole = if grapheme.len() < WHOLE_BYTES { self.find(grapheme) } else { None };
        if let Some(normal) = whole {
            out.push_str(normal);
            return;
        }
        for (at, char) in grapheme.char_indices() {
            match self.find(&grapheme[at..at + char.len_utf8()]) {
                Some(normal) => out.push_str(normal),
                None => out.push(char),
            }
        }
    }

    fn find(self, text: &str) -> Option<&'a str> {
        let normal = self.texts.get(self.keys.shortest(text.as_bytes())? as usize..)?;
        let end = normal.iter().position(|byte| *byte == 0)?;
        std::str::from_utf8(&normal[..end]).ok()
    }
}
