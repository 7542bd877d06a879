//! Finds the lines that are headings: by the bookmarks where a file has them, else by the size of the letters.

use std::collections::{BTreeMap, HashMap};

use super::body::{BodyStyle, PageLines};
use super::layout::TextLine;
use super::outline::Bookmark;

/// A line of a heading.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heading {
    pub(super) level: usize,
    /// Whether it goes on with the heading of the line before.
    pub(super) goes_on: bool,
}

/// A heading is larger than the body by this: LaTeX's next size is 1.1 (at ten points 10.95 or 12), Word's 1.18 and more.
const LARGER: f32 = 1.08;

/// A title is larger than the body by this.
const TITLE: f32 = 1.2;

/// Most letters of a heading, and most lines: longer large text is an introduction or a slide.
const MOST_LETTERS: usize = 160;
const MOST_LINES: usize = 3;

/// Returns the headings by the number of their line, counted over all pages.
pub(super) fn find(
    pages: &[PageLines],
    bookmarks: &[Bookmark],
    body: &BodyStyle,
    monospaced: &[bool],
) -> HashMap<usize, Heading> {
    let lines: Vec<&TextLine> = pages.iter().flat_map(|page| &page.lines).collect();
    let named = by_bookmarks(&lines, bookmarks);
    let starts = named.values().filter(|heading| !heading.goes_on).count();
    // Bookmarks of which few are found name something else than headings: slides, pages, figures.
    if starts >= 3 && starts * 2 >= bookmarks.len() { named } else { by_size(&lines, body, monospaced) }
}

/// Returns the title: the one that the file states if the first pages print it, else the largest text of the first page.
///
/// Programs fill in the name of a file or of a template where nobody stated a title; those are not printed.
pub(super) fn title(pages: &[PageLines], stated: Option<String>) -> Option<String> {
    const FIRST_PAGES: usize = 3;
    let body = BodyStyle::of(pages);
    let printed: Vec<&TextLine> = pages.iter().take(FIRST_PAGES).flat_map(|page| &page.lines).collect();
    let all: String = printed.iter().map(|line| letters(&line.text)).collect();
    if let Some(title) = &stated {
        let words: Vec<String> =
            title.split_whitespace().map(letters).filter(|word| !word.is_empty()).collect();
        let found = words.iter().filter(|word| all.contains(word.as_str())).count();
        if found > 0 && found * 2 >= words.len() {
            return stated;
        }
    }
    let first = &pages.first()?.lines;
    let has_word = |line: &&TextLine| {
        line.angle == 0 && line.text.chars().filter(|letter| letter.is_alphabetic()).count() > 2
    };
    let largest = first.iter().filter(has_word).map(|line| line.size).fold(0.0, f32::max);
    let is_title = |line: &&TextLine| line.size > 0.95 * largest && line.angle == 0;
    let lines = first.iter().skip_while(|line| !is_title(line)).take_while(is_title).take(MOST_LINES);
    let title = lines.map(|line| line.text.as_str()).collect::<Vec<_>>().join(" ");
    (largest >= TITLE * body.size && title.len() <= MOST_LETTERS && !title.is_empty()).then_some(title)
}

fn letters(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns a heading's letters without its number: `2.3`, `A.1`, `Chapter 4`.
fn without_number(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let has_digit = |word: &&str| word.chars().any(char::is_numeric);
    let is_letter = |word: &&str| word.trim_end_matches('.').len() == 1;
    let number = if words.first().is_some_and(|word| has_digit(word) || is_letter(word)) {
        1
    } else if words.get(1).is_some_and(has_digit) {
        2
    } else {
        return None;
    };
    Some(letters(&words[number..].concat())).filter(|rest| !rest.is_empty())
}

/// Finds each bookmark's heading after that of the one before.
fn by_bookmarks(lines: &[&TextLine], bookmarks: &[Bookmark]) -> HashMap<usize, Heading> {
    let mut found = HashMap::new();
    if bookmarks.is_empty() {
        return found;
    }
    let mut places: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
    for bookmark in bookmarks {
        let other = without_number(&bookmark.title);
        places.extend(std::iter::once(letters(&bookmark.title)).chain(other).map(|key| (key, Vec::new())));
    }
    for at in 0..lines.len() {
        let mut text = String::new();
        for count in 1..=MOST_LINES {
            let Some(line) = lines.get(at + count - 1) else { break };
            let is_same = (line.size - lines[at].size).abs() < 0.5 && line.block == lines[at].block;
            if text.len() + line.text.len() > MOST_LETTERS || !is_same {
                break;
            }
            text.push_str(&line.text);
            text.push(' ');
            for key in std::iter::once(letters(&text)).chain(without_number(&text)) {
                if let Some(places) = places.get_mut(&key) {
                    places.push((at, count));
                }
            }
        }
    }
    let mut from = 0;
    for bookmark in bookmarks {
        let exact = letters(&bookmark.title);
        let find = |key: &str| {
            let places = places.get(key)?;
            places.get(places.partition_point(|(at, _)| *at < from)).copied()
        };
        let other = without_number(&bookmark.title);
        let place = find(&exact).or_else(|| other.as_deref().and_then(find));
        let Some((at, count)) = place.filter(|_| !exact.is_empty()) else { continue };
        for line in at..at + count {
            found.insert(line, Heading { level: bookmark.level, goes_on: line > at });
        }
        from = at + count;
    }
    found
}

/// Finds lines that are larger than the body, and those of its size that stand alone in another font.
fn by_size(lines: &[&TextLine], body: &BodyStyle, monospaced: &[bool]) -> HashMap<usize, Heading> {
    let is_larger = |line: &TextLine| line.size >= LARGER * body.size;
    let mut sizes: BTreeMap<i32, usize> = BTreeMap::new();
    for line in lines.iter().filter(|line| is_larger(line)) {
        *sizes.entry((line.size * 2.0).round() as i32).or_default() += 1;
    }
    // The largest size is the highest level; more than four sizes are rare.
    let levels: HashMap<i32, usize> =
        sizes.keys().rev().zip(1..).map(|(size, level)| (*size, level.min(4))).collect();
    let below = levels.values().max().map_or(1, |level| level + 1).min(5);
    let mut found = HashMap::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        let alike = |other: &&&TextLine| {
            (other.size - line.size).abs() < 0.25 && other.font == line.font && other.block == line.block
        };
        let count = lines[at..].iter().take(MOST_LINES + 1).take_while(alike).count().max(1);
        let length: usize = lines[at..at + count].iter().map(|line| line.text.len()).sum();
        let is_code = monospaced.get(line.font as usize).copied().unwrap_or(false);
        let has_word = line
            .text
            .split_whitespace()
            .any(|word| word.chars().filter(|letter| letter.is_alphabetic()).count() > 1);
        let level = if is_larger(line) {
            levels.get(&((line.size * 2.0).round() as i32)).copied()
        } else {
            stands_alone(lines, at, count, body).then_some(below)
        };
        if let Some(level) = level
            && count <= MOST_LINES
            && length <= MOST_LETTERS
            && has_word
            && !is_code
        {
            for place in at..at + count {
                found.insert(place, Heading { level, goes_on: place > at });
            }
        }
        at += count;
    }
    found
}

/// Returns whether a line in another font than the body's stands alone, as a heading does: apart from the text above it.
fn stands_alone(lines: &[&TextLine], at: usize, count: usize, body: &BodyStyle) -> bool {
    let line = lines[at];
    let is_apart = at == 0 || {
        let last = lines[at - 1];
        last.block != line.block || line.y - last.y > 1.3 * body.leading * body.size
    };
    let next = lines.get(at + count);
    let leads = next.is_some_and(|next| next.block == line.block && next.font == body.font);
    let starts = line.text.chars().next().is_some_and(|letter| letter.is_uppercase() || letter.is_numeric());
    let ends = line.text.ends_with(['.', ',', ';', ':']);
    count == 1
        && line.is_pure
        && line.font != body.font
        && line.size >= 0.95 * body.size
        && is_apart
        && leads
        && starts
        && !ends
}
