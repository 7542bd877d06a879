//! Finds tags (`#word`) in running text and keeps lists of tags without duplicates.
//! The caller masks code and links.

use std::ops::Range;

/// Most tags of one document; more carry no information, and each is compared with all others.
const MAX_TAGS: usize = 500;

/// Adds a tag as written, without `#` and outer white space. Empty tags, duplicates and those beyond the limit are ignored.
pub(super) fn add(tags: &mut Vec<String>, tag: &str) {
    let tag = tag.trim().trim_start_matches('#').trim();
    if !tag.is_empty() && tags.len() < MAX_TAGS && !tags.iter().any(|known| known == tag) {
        tags.push(tag.to_owned());
    }
}

/// Returns the `#tag`s (a letter, then letters, digits, `_` and `-`) of `text[range]` outside the `masked` ranges. `/` joins
/// such words to a nested tag (`#infra/db`).
///
/// A tag follows white space, an opening bracket or quote, or nothing. `#fff` and `#a1b2c3` are colours. `masked` is ascending.
pub(super) fn inline(text: &str, range: Range<usize>, masked: &[Range<usize>]) -> Vec<String> {
    let mut tags = Vec::new();
    for (at, _) in text[range.clone()].match_indices('#') {
        let at = range.start + at;
        let opens = match text[..at].chars().next_back() {
            None => true,
            Some(before) => {
                before.is_whitespace()
                    || matches!(before, '(' | '"' | '\'' | '\u{201C}' | '（' | '「' | '、' | '。')
            }
        };
        let next = masked.partition_point(|mask| mask.end <= at);
        if !opens || masked.get(next).is_some_and(|mask| mask.start <= at) {
            continue;
        }
        let rest = &text[at + 1..range.end];
        let end = rest.find(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '-' | '/')));
        let tag = &rest[..end.unwrap_or(rest.len())];
        let tag = tag.split_once("//").map_or(tag, |(before, _)| before).trim_end_matches(['-', '/']);
        if tag.starts_with(char::is_alphabetic) && !is_colour(tag) {
            add(&mut tags, tag);
        }
    }
    tags
}

/// Returns the tag that a folder's name gives to the untagged documents in it: its words joined by `-`, from the first letter
/// on (`01 My Projects` gives `My-Projects`). `None` if the name gives none that could be written as `#tag`.
pub(crate) fn of_folder(name: &str) -> Option<String> {
    let mut tag = String::with_capacity(name.len());
    for letter in name.chars().skip_while(|letter| !letter.is_alphabetic()) {
        if letter.is_alphanumeric() || letter == '_' {
            tag.push(letter);
        } else if !tag.ends_with('-') {
            tag.push('-');
        }
    }
    let tag = tag.trim_end_matches('-');
    (!tag.is_empty() && !is_colour(tag)).then(|| tag.to_owned())
}

fn is_colour(tag: &str) -> bool {
    matches!(tag.len(), 3 | 4 | 6 | 8)
        && tag.bytes().all(|byte| byte.is_ascii_hexdigit())
        && (tag.bytes().any(|byte| byte.is_ascii_digit())
            || tag.bytes().all(|byte| tag.starts_with(byte as char)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(inline(text, 0..text.len(), &[]), expected, "{text}");
    }

    #[test]
    fn a_folders_name_becomes_a_tag_that_could_be_written() {
        for (name, tag) in [
            ("alpha", Some("alpha")),
            ("01 My Projects", Some("My-Projects")),
            ("a.b (c)", Some("a-b-c")),
            ("Ärger & Co.", Some("Ärger-Co")),
            ("日記", Some("日記")),
            ("2024", None),
            ("---", None),
            ("fff", None),
        ] {
            assert_eq!(of_folder(name).as_deref(), tag, "{name}");
            if let Some(tag) = tag {
                check(&format!("#{tag}"), &[tag]);
            }
        }
    }

    #[test]
    fn tags_are_told_from_other_hashes() {
        check("#one and #two-b, (#three_3). #one", &["one", "two-b", "three_3"]);
        check("# heading ## more #1 #-a a#b \\#c /#d [#e] #", &[]);
        check("#grün #日本語 #Ärger-", &["grün", "日本語", "Ärger"]);
        check("#fff #FFFFFF #a1b2c3 #add #facade #beef1", &["add", "facade", "beef1"]);
        check("#a/b #c. #d/ #e//f #/g #h/1/ö", &["a/b", "c", "d", "e", "h/1/ö"]);
        assert_eq!(inline("#a #b #c", 0..5, std::slice::from_ref(&(0..2))), ["b"]);
    }
}
