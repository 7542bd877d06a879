//! Finds lines that are no text of a page: running heads and feet, page numbers, tables of contents.

use std::collections::HashMap;

use super::body::{BodyStyle, PageLines};
use super::layout::TextLine;

/// How many of a page's highest and of its lowest lines may be running heads or feet.
const MARGIN_LINES: usize = 3;

/// A head is on at least so many pages: two may be alike by chance.
const FEWEST_PAGES: usize = 3;

/// Lines at most so far apart are at the same height, in points.
const SAME_HEIGHT: f32 = 3.0;

/// Letters so much larger than the body's are a title's, of a slide that is shown in steps.
const TITLE: f32 = 1.1;

/// Removes the lines that are not text of the document.
pub(super) fn remove(pages: &mut [PageLines]) {
    remove_steps(pages);
    remove_repeated(pages);
    for page in pages.iter_mut() {
        let is_entry = contents(&page.lines);
        let mut at = 0;
        page.lines.retain(|_| {
            at += 1;
            !is_entry[at - 1]
        });
    }
}

/// A place in the margin, and what stands there without its figures.
type Place = (bool, i32);

/// Removes the pages that the next page shows again with more: the steps of a slide.
fn remove_steps(pages: &mut [PageLines]) {
    for at in 1..pages.len() {
        let (before, page) = pages.split_at_mut(at);
        let Some(last) = before.last_mut() else { continue };
        let mut rest = page[0].lines.iter();
        // The page number alone may differ.
        let same = last.lines.iter().filter(|line| rest.any(|other| is_same(line, other))).count();
        if same > 1 && same + 1 >= last.lines.len() && page[0].lines.len() >= last.lines.len() {
            last.lines.clear();
        }
    }
}

fn is_same(line: &TextLine, other: &TextLine) -> bool {
    line.text == other.text
        && (line.y - other.y).abs() < SAME_HEIGHT
        && (line.x0 - other.x0).abs() < SAME_HEIGHT
}

fn remove_repeated(pages: &mut [PageLines]) {
    let body = BodyStyle::of(pages);
    let half = pages.len() / 2;
    let margins: Vec<Vec<(usize, Place)>> = pages.iter().map(|page| margin(&page.lines)).collect();
    let mut times: HashMap<(Place, String), usize> = HashMap::new();
    let mut at_place: HashMap<Place, usize> = HashMap::new();
    for (page, margin) in pages.iter().zip(&margins) {
        for &(at, place) in margin {
            *times.entry((place, without_figures(&page.lines[at].text))).or_default() += 1;
            *at_place.entry(place).or_default() += 1;
        }
    }
    let near = |(is_top, height): Place| [(is_top, height - 1), (is_top, height), (is_top, height + 1)];
    let count = |place: Place, text: &str| -> usize {
        near(place).into_iter().filter_map(|place| times.get(&(place, text.to_owned()))).sum()
    };
    // Where half of all lines are repeated, the others are heads of a single page.
    let mut repeated_at: HashMap<Place, usize> = HashMap::new();
    for ((place, text), often) in &times {
        if count(*place, text) >= FEWEST_PAGES {
            *repeated_at.entry(*place).or_default() += often;
        }
    }
    for (page, margin) in pages.iter_mut().zip(&margins) {
        let mut is_head = vec![false; page.lines.len()];
        for &(at, place) in margin {
            let text = without_figures(&page.lines[at].text);
            let all: usize = near(place).into_iter().filter_map(|place| at_place.get(&place)).sum();
            let repeated: usize = near(place).into_iter().filter_map(|place| repeated_at.get(&place)).sum();
            let is_own_number = page.lines[at].text.trim() == page.number.to_string();
            let is_title = page.lines[at].size > TITLE * body.size;
            let fewest = if is_title { half.max(FEWEST_PAGES) } else { FEWEST_PAGES };
            is_head[at] = count(place, &text) >= fewest || !is_title && repeated * 2 > all || is_own_number;
        }
        // Where nothing else stands, what is repeated is the text.
        if is_head.iter().all(|is| *is) {
            continue;
        }
        let mut at = 0;
        page.lines.retain(|_| {
            at += 1;
            !is_head[at - 1]
        });
    }
}

/// Returns the highest and the lowest lines of a page, each with its place.
fn margin(lines: &[TextLine]) -> Vec<(usize, Place)> {
    let mut order: Vec<usize> = (0..lines.len()).filter(|&at| lines[at].angle == 0).collect();
    order.sort_by(|&a, &b| lines[a].y.total_cmp(&lines[b].y));
    let half = order.len().div_ceil(2).min(MARGIN_LINES);
    let place = |at: usize, is_top: bool| (at, (is_top, (lines[at].y / SAME_HEIGHT).round() as i32));
    let top = order.iter().take(half).map(|&at| place(at, true));
    let bottom = order.iter().rev().take(half.min(order.len() - half)).map(|&at| place(at, false));
    top.chain(bottom).collect()
}

/// Returns a text without figures, Roman numbers, blanks and the case of its letters.
fn without_figures(text: &str) -> String {
    let is_roman = |word: &str| word.bytes().all(|letter| b"ivxlcdm".contains(&letter));
    let words = text.split_whitespace().filter(|word| !is_roman(word));
    words.flat_map(str::chars).filter(|letter| !letter.is_numeric()).flat_map(char::to_lowercase).collect()
}

/// Returns which lines are entries of a table of contents, or stand among them.
fn contents(lines: &[TextLine]) -> Vec<bool> {
    // An entry without dots, and an entry's first line, are between others.
    const APART: usize = 4;
    let entries: Vec<usize> = (0..lines.len()).filter(|&at| has_leader(&lines[at].text)).collect();
    let mut marked = vec![false; lines.len()];
    for pair in entries.windows(2) {
        if pair[1] - pair[0] <= APART {
            marked[pair[0]..=pair[1]].fill(true);
        }
    }
    // A few lines before the first entry, and after the last, that end in a number as entries do.
    if let (Some(&first), Some(&last)) = (entries.first(), entries.last())
        && entries.len() >= FEWEST_PAGES
    {
        for at in (0..first).rev().take_while(|&at| ends_in_number(&lines[at].text)) {
            marked[at] = true;
        }
        for at in (last + 1..lines.len()).take_while(|&at| ends_in_number(&lines[at].text)) {
            marked[at] = true;
        }
    }
    // On a page of entries nothing else stands.
    let count = marked.iter().filter(|is| **is).count();
    if entries.len() * 2 >= lines.len().max(2) || count * 3 > lines.len() * 2 {
        marked.fill(true);
    }
    marked
}

fn ends_in_number(text: &str) -> bool {
    let last = text.split_whitespace().next_back().unwrap_or_default();
    !last.is_empty() && last.chars().all(char::is_numeric)
}

/// Returns whether a line ends in a row of dots and a page number.
fn has_leader(text: &str) -> bool {
    // An ellipsis has three dots.
    const DOTS: usize = 4;
    let is_page =
        |word: &str| word.chars().all(|letter| letter.is_alphanumeric() || letter == '-') && word.len() <= 6;
    let text = text.trim_end();
    let before = text.trim_end_matches(|letter: char| letter.is_alphanumeric() || letter == '-');
    let dots = before
        .chars()
        .rev()
        .take_while(|letter| letter.is_whitespace() || matches!(letter, '.' | '\u{B7}' | '\u{2026}'))
        .map(|letter| if letter == '\u{2026}' { 3 } else { usize::from(!letter.is_whitespace()) })
        .sum::<usize>();
    dots >= DOTS && is_page(&text[before.len()..])
}
