//! Checks that no sentence of a document is too long to be understood at the first reading.

/// Words of a sentence at most.
const MOST_WORDS: usize = 30;

/// Abbreviations whose full stop ends no sentence.
const ABBREVIATIONS: &[&str] = &["al.", "cf.", "e.g.", "etc.", "i.e.", "vs."];

/// Long sentences that stay: the beginning of each, and the reason. There is none.
const EXCEPTIONS: &[(&str, &str)] = &[];

/// The sentences of a Markdown document that have too many words.
///
/// A paragraph, a heading and a list item are read each by itself, so list items without a full stop count one by one. Code blocks,
/// tables, comments and the targets of links are not read. A code span is one word.
pub fn long_sentences(document: &str, text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (line, block) in blocks(text) {
        for words in sentences(&prose(&block)) {
            let count = words.iter().filter(|word| word.contains(char::is_alphanumeric)).count();
            let beginning = words.iter().take(8).copied().collect::<Vec<_>>().join(" ");
            if count > MOST_WORDS && !EXCEPTIONS.iter().any(|(long, _)| beginning.starts_with(long)) {
                wrong.push(format!(
                    "{document}:{line}: a sentence has {count} words, {MOST_WORDS} is the most: {beginning} …"
                ));
            }
        }
    }
    wrong
}

/// The paragraphs, headings and list items of a document, each on one line, with the number of its first line.
fn blocks(text: &str) -> Vec<(usize, String)> {
    let mut blocks: Vec<(usize, String)> = Vec::new();
    let (mut is_code, mut is_comment, mut is_open) = (false, false, false);
    for (line, nth) in text.lines().zip(1..) {
        let line = line.trim().trim_start_matches("> ");
        let is_fence = line.starts_with("```");
        let begins_comment = !is_code && line.starts_with("<!--");
        let is_aside = is_code || is_fence || is_comment || begins_comment || line.starts_with('|');
        is_code ^= is_fence;
        is_comment = (is_comment || begins_comment) && !line.contains("-->");
        let is_definition = line.starts_with('[') && line.contains("]: ");
        if is_aside || is_definition || line.is_empty() {
            is_open = false;
            continue;
        }
        let heading = line.strip_prefix('#').map(|rest| rest.trim_start_matches('#'));
        match (blocks.last_mut(), heading.or_else(|| list_item(line))) {
            (Some((_, block)), None) if is_open => {
                block.push(' ');
                block.push_str(line);
            }
            (_, beginning) => blocks.push((nth, beginning.unwrap_or(line).to_owned())),
        }
        is_open = heading.is_none();
    }
    blocks
}

/// The text behind the mark of a list item: `-`, `*`, `+`, or a number with a full stop.
fn list_item(line: &str) -> Option<&str> {
    let (mark, item) = line.split_once(' ')?;
    let is_number = mark.strip_suffix('.').is_some_and(|number| number.parse::<u8>().is_ok());
    (is_number || ["-", "*", "+"].contains(&mark)).then_some(item)
}

/// A block as a reader sees it: each code span as the word `Code`, links by their text, no marks of emphasis.
fn prose(block: &str) -> String {
    let mut spans = block.split('`');
    let mut text = spans.next().unwrap_or("").to_owned();
    while let (Some(_), Some(after)) = (spans.next(), spans.next()) {
        text.push_str("Code");
        text.push_str(after);
    }
    let mut parts = text.split("](");
    let mut shown = parts.next().unwrap_or("").to_owned();
    for part in parts {
        shown.push_str(part.split_once(')').map_or("", |(_, behind)| behind));
    }
    shown.replace("![", "").replace(['[', ']', '*'], "")
}

/// The sentences of a text, each as its words.
fn sentences(text: &str) -> Vec<Vec<&str>> {
    let mut sentences = vec![Vec::new()];
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        sentences.last_mut().expect("there is a sentence from the start").push(word);
        if ends_sentence(word, words.peek().copied()) {
            sentences.push(Vec::new());
        }
    }
    sentences
}

/// Whether a word is the last of its sentence.
fn ends_sentence(word: &str, next: Option<&str>) -> bool {
    let bare = word.trim_end_matches([')', '"', '”', '’', '\'']);
    // `"Which port?" is a question` goes on behind the quotation.
    let goes_on = bare != word && next.is_some_and(|next| next.starts_with(char::is_lowercase));
    let opened = bare.trim_start_matches('(');
    let is_initial = opened.len() == 2 && opened.starts_with(char::is_uppercase);
    let is_short = is_initial || ABBREVIATIONS.contains(&opened.to_lowercase().as_str());
    bare.ends_with(['.', '!', '?']) && !goes_on && !is_short
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many words, without a full stop.
    fn words(count: usize) -> String {
        vec!["word"; count].join(" ")
    }

    /// The words of each sentence that is too long.
    fn check(text: &str, expected: &[usize]) {
        let found = long_sentences("A.md", text);
        let expected: Vec<String> = expected.iter().map(|count| format!(" {count} words,")).collect();
        assert_eq!(found.len(), expected.len(), "{text}: {found:?}");
        assert!(found.iter().zip(&expected).all(|(found, count)| found.contains(count)), "{text}: {found:?}");
    }

    #[test]
    fn a_sentence_has_thirty_words_at_most() {
        check(&format!("{}. {}!", words(30), words(30)), &[]);
        check(&format!("{}. {}?\n", words(31), words(30)), &[31]);
        check(&format!("{}\n{}.", words(20), words(12)), &[32]);
        assert!(long_sentences("A.md", &format!("x\n\n{}", words(31)))[0].starts_with("A.md:3: "));
    }

    #[test]
    fn headings_and_list_items_stand_by_themselves() {
        check(&format!("# {}\n{}", words(20), words(20)), &[]);
        check(&format!("{}:\n\n- {}\n- {}\n  - {}", words(20), words(20), words(20), words(20)), &[]);
        check(&format!("1. {}\n2. {}\n   {}", words(20), words(20), words(20)), &[40]);
    }

    #[test]
    fn code_tables_comments_and_targets_are_not_read() {
        let long = words(40);
        check(
            &format!("```sh\n{long}\n```\n| {long} |\n<!-- {long} -->\n<!--\n{long}\n-->\n[1]: {long}"),
            &[],
        );
        check(&format!("{} [two words](a b c d e) `{long}` ![alt](x y)", words(26)), &[]);
        check(&format!("{} [two words](a b c d e) `{long}` and ![alt](x y)", words(27)), &[32]);
        check(&format!("{} · – `a`", words(29)), &[]);
    }

    #[test]
    fn only_the_end_of_a_sentence_ends_it() {
        let half = words(16);
        for inside in ["e.g.", "(i.e.", "A.", ".33", "1.0", "v0.1.0", "\"why?\""] {
            check(&format!("{half} {inside} {half}."), &[33]);
        }
        for end in ["end.", "end.)", "(end?)", "\"End.\" Then", "`code`.", "**end.**", "5.", "end. `code`"] {
            check(&format!("{half} {end} {}.", half.replacen("word", "Word", 1)), &[]);
        }
    }
}
