//! Lists of words, written as one text and looked up as a set.

use std::collections::HashSet;
use std::sync::OnceLock;

/// Words parted by `|`; the set is made when it is first asked.
pub(super) struct List {
    text: &'static str,
    words: OnceLock<HashSet<&'static str>>,
}

impl List {
    pub(super) const fn of(text: &'static str) -> Self {
        Self { text, words: OnceLock::new() }
    }

    pub(super) fn has(&self, word: &str) -> bool {
        self.words.get_or_init(|| self.text.split('|').collect()).contains(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_whole() {
        let list = List::of("one|two words|three");
        assert!(list.has("one") && list.has("two words"));
        assert!(!list.has("two") && !list.has(""));
    }
}
