//! Tells the language of a text by the n-grams of its words, with a trained table.
//!
//! The model is a multinomial logistic regression over hashed n-grams of characters (Joulin et al. 2017, "Bag of Tricks for
//! Efficient Text Classification"). `tools/fit_languages.py` trains it on translated messages and manuals, and prints how many
//! texts of other packages it tells right. Parts of paths, options, addresses, identifiers and acronyms do not count.

use super::language::Language;

/// The languages of the table's columns.
const COLUMNS: [Language; 39] = [
    Language::Arabic,
    Language::Bulgarian,
    Language::Catalan,
    Language::Czech,
    Language::Danish,
    Language::German,
    Language::Greek,
    Language::English,
    Language::Spanish,
    Language::Estonian,
    Language::Persian,
    Language::Finnish,
    Language::French,
    Language::Hebrew,
    Language::Hindi,
    Language::Croatian,
    Language::Hungarian,
    Language::Indonesian,
    Language::Italian,
    Language::Japanese,
    Language::Korean,
    Language::Lithuanian,
    Language::Latvian,
    Language::Norwegian,
    Language::Dutch,
    Language::Polish,
    Language::Portuguese,
    Language::Romanian,
    Language::Russian,
    Language::Slovak,
    Language::Slovenian,
    Language::Serbian,
    Language::Swedish,
    Language::Tamil,
    Language::Thai,
    Language::Turkish,
    Language::Ukrainian,
    Language::Vietnamese,
    Language::Chinese,
];

/// The column of English.
const ENGLISH: usize = 7;

/// Buckets of n-grams: the rows of the table. A power of two.
const BUCKETS: usize = 4_096;

/// The size of one weight (`f32`, little endian), then the weights: one signed byte for each bucket and language.
static FILE: &[u8; 4 + BUCKETS * COLUMNS.len()] = include_bytes!("languages.bin");

/// Distinct words that are read. A language is certain long before, and the cost stays the same for a text of any length.
const MOST_WORDS: usize = 96;

/// Letters of one word; a longer run is cut, because some scripts have no spaces.
const LONGEST_WORD: usize = 24;

/// Characters of the longest n-gram.
const LONGEST_GRAM: usize = 4;

/// N-grams below which nothing is told: a name and one word have this many.
const LEAST_GRAMS: usize = 40;

/// How much more than English another language must score, in units of the logarithm of its odds. At this bar one in 1,000
/// English messages and passages is taken for another language (`tools/fit_languages.py`).
const MARGIN: f32 = 1.0;

/// Returns the language of a text: English unless the text is long enough and another language is much likelier.
pub fn language_of(text: &str) -> Language {
    let counted = Counted::of(text);
    if counted.grams < LEAST_GRAMS {
        return Language::English;
    }
    let best = counted.best(|_| true);
    let lead = (counted.scores[best] - counted.scores[ENGLISH]) as f32 * scale();
    if lead > MARGIN * (counted.grams as f32).sqrt() { COLUMNS[best] } else { Language::English }
}

/// Returns the likeliest of English and some other languages for a text of any length, such as a question.
pub fn likeliest(text: &str, others: &[Language]) -> Language {
    if others.is_empty() {
        return Language::English;
    }
    let among = |language| language == Language::English || others.contains(&language);
    COLUMNS[Counted::of(text).best(among)]
}

/// Returns the likeliest of English and some other languages for a text, such as a question, if it leads the next by the
/// margin. `None` also if there are no others.
pub fn certain_language(text: &str, others: &[Language]) -> Option<Language> {
    if others.iter().all(|language| *language == Language::English) {
        return None;
    }
    let among = |language| language == Language::English || others.contains(&language);
    let counted = Counted::of(text);
    let best = counted.best(among);
    let next = counted.best(|language| language != COLUMNS[best] && among(language));
    let lead = (counted.scores[best] - counted.scores[next]) as f32 * scale();
    (lead > MARGIN * (counted.grams as f32).sqrt()).then_some(COLUMNS[best])
}

fn scale() -> f32 {
    f32::from_le_bytes([FILE[0], FILE[1], FILE[2], FILE[3]])
}

/// The sum of the weights of a text's n-grams for each language, and their number.
struct Counted {
    scores: [i32; COLUMNS.len()],
    grams: usize,
}

impl Counted {
    fn of(text: &str) -> Self {
        let mut counted = Self { scores: [0; COLUMNS.len()], grams: 0 };
        let mut word = Vec::with_capacity(LONGEST_WORD + 2);
        each_word(text, &mut word, &mut |word| counted.add(word));
        counted
    }

    /// Adds the n-grams of a word, which has a space at both ends.
    fn add(&mut self, word: &[char]) {
        let mut bytes = [0; 4];
        for (start, &first) in word.iter().enumerate() {
            let mut hash = Hash::new();
            for (nth, c) in word[start..].iter().take(LONGEST_GRAM).enumerate() {
                c.encode_utf8(&mut bytes)[..].bytes().for_each(|byte| hash.push(byte));
                if nth > 0 || !c.is_ascii() {
                    self.count(hash);
                }
            }
            if !first.is_ascii() {
                // The block of its script.
                let mut hash = Hash::new();
                let block = u32::from(first) >> 7;
                for byte in [0xFF, block as u8, (block >> 8) as u8] {
                    hash.push(byte);
                }
                self.count(hash);
            }
        }
    }

    fn count(&mut self, hash: Hash) {
        let row = &FILE[4 + hash.bucket() * COLUMNS.len()..][..COLUMNS.len()];
        for (score, weight) in self.scores.iter_mut().zip(row) {
            *score += i32::from(weight.cast_signed());
        }
        self.grams += 1;
    }

    /// Returns the column with the highest score among some; of equal ones the first.
    fn best(&self, among: impl Fn(Language) -> bool) -> usize {
        let columns = (0..COLUMNS.len()).filter(|&column| among(COLUMNS[column]));
        columns.rev().max_by_key(|&column| self.scores[column]).unwrap_or(ENGLISH)
    }
}

/// FNV-1a of 32 bits.
#[derive(Clone, Copy)]
struct Hash(u32);

impl Hash {
    fn new() -> Self {
        Self(0x811c_9dc5)
    }

    fn push(&mut self, byte: u8) {
        self.0 = (self.0 ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }

    fn bucket(self) -> usize {
        (self.0 ^ (self.0 >> 15)) as usize & (BUCKETS - 1)
    }
}

/// Passes the distinct words that a language is told by, in lower case, each with a space at both ends. `word` is a buffer.
///
/// A word that a log or a table repeats is no further evidence.
fn each_word(text: &str, word: &mut Vec<char>, each: &mut dyn FnMut(&[char])) {
    let mut seen: Vec<u32> = Vec::with_capacity(MOST_WORDS);
    let mut before = Before::default();
    let mut rest = text.chars();
    while seen.len() < MOST_WORDS {
        let Some(first) = rest.next() else { return };
        if !is_letter(first) {
            before.push(first);
            continue;
        }
        word.clear();
        word.push(' ');
        let (mut shown, mut last) = (0, first);
        let (mut is_shouted, mut has_inner_capital) = (true, false);
        let mut next = Some(first);
        while let Some(c) = next {
            is_shouted &= c.is_ascii_uppercase();
            has_inner_capital |= shown > 0 && last.is_ascii_lowercase() && c.is_ascii_uppercase();
            word.extend(c.to_lowercase());
            (shown, last) = (shown + 1, c);
            let mut ahead = rest.clone();
            next = ahead.next().filter(|&c| {
                let is_inside =
                    is_letter(c) || (is_apostrophe(c) && ahead.clone().next().is_some_and(is_letter));
                shown < LONGEST_WORD && is_inside
            });
            if next.is_some() {
                rest.next();
            }
        }
        let is_name = (shown > 1 && is_shouted) || has_inner_capital;
        if !is_name && !before.joins() && !joins_after(rest.clone()) {
            word.push(' ');
            let mut hash = Hash::new();
            word.iter().flat_map(|c| u32::from(*c).to_le_bytes()).for_each(|byte| hash.push(byte));
            if !seen.contains(&hash.0) {
                seen.push(hash.0);
                each(word);
            }
        }
        before = Before { last: Some(last), second: None };
    }
}

/// The last two characters before a word.
#[derive(Default)]
struct Before {
    last: Option<char>,
    second: Option<char>,
}

impl Before {
    fn push(&mut self, c: char) {
        (self.second, self.last) = (self.last, Some(c));
    }

    /// Whether they make the word a part of something technical.
    fn joins(&self) -> bool {
        match self.last {
            Some('.' | ':') => self.second.is_some_and(is_technical),
            Some('-') => !self.second.is_some_and(is_letter),
            Some(c) => is_sign(c),
            None => false,
        }
    }
}

/// Whether what follows a word makes it a part of something technical.
fn joins_after(mut rest: std::str::Chars<'_>) -> bool {
    match rest.next() {
        Some('.' | ':') => rest.next().is_some_and(is_technical),
        Some(c) => is_sign(c),
        None => false,
    }
}

fn is_technical(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/')
}

fn is_sign(c: char) -> bool {
    c.is_ascii_digit()
        || matches!(
            c,
            '_' | '/'
                | '\\'
                | '@'
                | '='
                | '<'
                | '>'
                | '$'
                | '%'
                | '&'
                | '*'
                | '+'
                | '|'
                | '#'
                | '~'
                | '^'
                | '`'
                | '{'
                | '}'
                | '['
                | ']'
        )
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}')
}

/// Whether a character is a letter or its mark, by ranges of code points: no version of Unicode matters.
fn is_letter(c: char) -> bool {
    match c {
        '\0'..='\x7f' => c.is_ascii_alphabetic(),
        '\u{d7}' | '\u{f7}' => false,
        '\u{c0}'..'\u{2000}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3021}'..='\u{d7ff}'
        | '\u{f900}'..'\u{ff00}'
        | '\u{ff21}'..'\u{ff5b}'
        | '\u{ff66}'..'\u{ffe0}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The golden lines are the training script's: text, number of n-grams, likeliest language and its score.
    #[test]
    fn the_n_grams_and_scores_are_those_of_the_training_script() {
        for line in include_str!("../../tests/golden/languages.jsonl").lines() {
            let (text, grams, code, score): (String, usize, String, i32) =
                serde_json::from_str(line).unwrap();
            let counted = Counted::of(&text);
            let best = counted.best(|_| true);
            let found = (counted.grams, COLUMNS[best].code(), counted.scores[best]);
            assert_eq!(found, (grams, code.as_str(), score), "{text}");
        }
    }

    #[test]
    fn a_text_is_english_unless_another_language_is_much_likelier() {
        let check = |text: &str, expected: Language| assert_eq!(language_of(text), expected, "{text}");
        check("Der Heizungsmonteur kommt am Donnerstag zwischen acht und zehn Uhr.", Language::German);
        check("Klucze do piwnicy wiszą za drzwiami garażu.", Language::Polish);
        check("地下室の鍵はガレージのドアの裏に掛けてあります。", Language::Japanese);
        check("The keys of the cellar hang behind the garage door.", Language::English);
        for text in [
            "",
            "Kilian: vegan.",
            "fn main() { let config_path = \"/etc/app.conf\"; }",
            "SELECT * FROM items WHERE id = 7;",
        ] {
            check(text, Language::English);
        }
    }

    #[test]
    fn a_question_is_in_one_of_the_given_languages() {
        let others = [Language::German, Language::French];
        let check = |text: &str, expected: Language| assert_eq!(likeliest(text, &others), expected, "{text}");
        check("wann kommt der Monteur?", Language::German);
        check("où sont les clés?", Language::French);
        check("when does the plumber come?", Language::English);
        assert_eq!(likeliest("wann kommt der Monteur?", &[]), Language::English);
    }

    #[test]
    fn a_question_is_certainly_in_a_language_if_that_leads_the_next() {
        let others = [Language::German, Language::Dutch];
        assert_eq!(
            certain_language("wann kommt der Monteur wegen der Heizung?", &others),
            Some(Language::German)
        );
        assert_eq!(
            certain_language("when does the plumber come for the heating?", &others),
            Some(Language::English)
        );
        // Names and numbers are no language; without others nothing is looked for.
        assert_eq!(certain_language("nginx 1.25 TLS", &others), None);
        assert_eq!(certain_language("wann kommt der Monteur wegen der Heizung?", &[]), None);
    }

    #[test]
    fn every_language_has_one_column() {
        let mut columns = COLUMNS.to_vec();
        columns.sort_unstable();
        assert_eq!(columns, Language::ALL);
        assert_eq!(COLUMNS[ENGLISH], Language::English);
    }
}
