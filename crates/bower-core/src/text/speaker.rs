//! Finds who speaks in a text, by lines such as `Ada: I moved the server`.
//! Names are plain words followed by speech. A text that does not mostly consist of such lines has no speakers.

use super::chars;

/// Longest name in characters; a longer beginning of a line is a sentence with a colon.
const LONGEST_NAME: usize = 40;

/// Most words of a name: `Ada`, `Dr. Grace B. Hopper`.
const MOST_WORDS: usize = 4;

/// The index term for every spoken line, whoever the speaker is. No word of a name is a colon.
pub(super) const LINES: &str = ":";

/// Returns the names before a text's lines, one for each line that has one, in order. Empty if fewer than half of the
/// lines have one. A first line without a name is a title and does not count.
///
/// A name is up to four words of letters, each with a capital if its script has them (except `van` and the like). It is
/// at the very beginning of the line, before a colon, white space and speech. `Coverage threshold: 45 %` is a label
/// with its value, and so is `Port: 8080`.
pub fn speakers(text: &str) -> Vec<&str> {
    let mut lines = 0;
    let mut names = Vec::new();
    for (nth, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match name(line) {
            Some(name) => names.push(name),
            None if nth == 0 => continue,
            None => {}
        }
        lines += 1;
    }
    if names.len() * 2 < lines {
        names.clear();
    }
    names
}

/// Emits every spoken line's terms for the index: the words of the name, then [`LINES`].
pub(super) fn terms(text: &str, mut emit: impl FnMut(&str)) {
    for name in speakers(text) {
        words(name).for_each(|word| emit(&word));
        emit(LINES);
    }
}

/// Returns the share of lines that are spoken; a name of two words that the question contains in full counts once.
pub(super) fn share(spoken: u32, lines: u32) -> f32 {
    if lines == 0 { 0.0 } else { (spoken as f32 / lines as f32).min(1.0) }
}

/// Returns the words of a name in the form of a question's words: lower case, without accents, never empty.
pub(super) fn words(name: &str) -> impl Iterator<Item = String> {
    let folded = name.split(|c: char| !c.is_alphanumeric()).map(chars::fold_word);
    // Folding leaves nothing of some characters: the Arabic tatweel, letters in a square.
    folded.filter(|word| !word.is_empty())
}

/// Words of names that are written in lower case.
const PARTICLES: &[&str] = &[
    "al", "bin", "da", "de", "del", "della", "den", "der", "di", "do", "dos", "du", "el", "ibn", "la", "le",
    "of", "the", "van", "von", "y", "zu",
];

/// Whether a word in lower case may be within a name (`van`, `of`).
pub fn is_particle(word: &str) -> bool {
    PARTICLES.binary_search(&word).is_ok()
}

/// Words before a colon that label what follows, and do not name its speaker.
const LABELS: &[&str] = &[
    "caution",
    "change",
    "correction",
    "decision",
    "example",
    "fact",
    "fix",
    "fyi",
    "hint",
    "important",
    "info",
    "memo",
    "nb",
    "note",
    "ps",
    "reason",
    "reminder",
    "result",
    "see also",
    "source",
    "summary",
    "tip",
    "todo",
    "update",
    "usage",
    "warning",
];

fn name(line: &str) -> Option<&str> {
    let name = head(line)?;
    let is_name = |(nth, word): (usize, &str)| {
        let is_small = word.starts_with(char::is_lowercase);
        // `Speaker 2`
        let is_number = nth > 0 && word.chars().all(char::is_numeric);
        is_number || !is_small || (nth > 0 && PARTICLES.contains(&word))
    };
    let is_label = LABELS.iter().any(|label| name.eq_ignore_ascii_case(label));
    let is_speech = says(line[name.len() + 1..].trim());
    (name.split(' ').enumerate().all(is_name) && !is_label && is_speech).then_some(name)
}

/// Whether the text may be speech: not a single number (with or without a unit), address or path. An empty text is a pause.
fn says(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or("");
    let rest = words.count();
    let is_code = |word: &str| {
        word.contains("://") || word.contains('_') || (word.contains(['/', '=']) && !word.ends_with('/'))
    };
    let is_number = first
        .trim_start_matches(['-', '+', '$', '€', '£', '#', '~', 'v'])
        .starts_with(|c: char| c.is_ascii_digit());
    let is_mark = first.starts_with(['`', '{', '[', '#']) && rest == 0;
    !((is_number && rest < 2) || (rest == 0 && is_code(first)) || is_mark)
}

/// Returns the text before the first colon, if it is written like a name.
fn head(line: &str) -> Option<&str> {
    let mut words = 1;
    let mut before = None;
    for (count, (at, c)) in line.char_indices().enumerate() {
        let good = match c {
            ':' => {
                let ended = line[at + 1..].starts_with([' ', '\t']) && before.is_some_and(|c| c != ' ');
                return ended.then(|| &line[..at]);
            }
            ' ' => {
                words += 1;
                before.is_some_and(|c| c != ' ')
            }
            '.' | '\'' | '-' | '’' | '_' => before.is_some(),
            c if c.is_numeric() => before.is_some(),
            c => c.is_alphabetic() && (before.is_some() || !c.is_lowercase()),
        };
        if !good || count >= LONGEST_NAME || words > MOST_WORDS {
            return None;
        }
        before = Some(c);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_turn_has_one_speaker_and_a_conversation_one_a_line() {
        let check = |text: &str, expected: &[&str]| assert_eq!(speakers(text), expected, "{text}");
        check("Ada: I moved the server", &["Ada"]);
        check(
            "1:56 pm on 8 May, 2023\nAda: Hi!\nDr. Grace B. Hopper: Hello.",
            &["Ada", "Dr. Grace B. Hopper"],
        );
        check("Élise O'Neill: oui", &["Élise O'Neill"]);
        check("李雷: 你好", &["李雷"]);
        check("Ada: first\n\nand more\n", &["Ada"]);
        check("Ada: first\nand more\nand more", &[]);
        check("try: x\n10:30 it began\nhttps://example.org\n: \n A: b\nAda:b", &[]);
        check("This is a whole sentence that ends so: with a colon", &[]);
        check("Speaker 2: well\nLudwig van Beethoven: Muß es sein?", &["Speaker 2", "Ludwig van Beethoven"]);
        check("Ada: 8 o'clock is fine", &["Ada"]);
        // A label with its value.
        check("Frostmont coverage threshold: 45 %", &[]);
        check("Heron deploy day: every Tuesday", &[]);
        check("Port: 8080\nTimeout: 30 s\nDocs: https://example.org/a", &[]);
        check("Note: the server moved", &[]);
        check("", &[]);
    }

    #[test]
    fn the_words_of_a_name_are_folded() {
        assert_eq!(words("Dr. Élise O'Neill").collect::<Vec<_>>(), ["dr", "elise", "o", "neill"]);
    }

    proptest! {
        #[test]
        fn any_text_is_valid(text in "(\\PC{0,9}|[A-Z][a-z]{0,5}: \n|\n){0,9}") {
            for name in speakers(&text) {
                prop_assert!(!name.is_empty() && words(name).count() <= text.len());
            }
        }
    }

    #[test]
    fn no_word_of_a_name_is_empty() {
        // A tatweel is removed with the accents. A letter in a square is no letter in lower case.
        for name in ["س ـ", "🅰", "Ada ـ Lovelace"] {
            assert!(words(name).all(|word| !word.is_empty()), "{name}");
        }
        assert_eq!(words("Ada ـ Lovelace").collect::<Vec<_>>(), ["ada", "lovelace"]);
    }
}
