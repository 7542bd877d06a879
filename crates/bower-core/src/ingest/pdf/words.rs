//! Joins glyphs to words by the gaps between them.

use hayro_font::kurbo::{Point, Vec2};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_compatible, is_combining_mark};

/// A gap of this part of the font's size separates words. The blanks of justified text shrink to about 0.2, kerning stays
/// below 0.1.
pub(super) const WORD_GAP: f32 = 0.15;

/// Most words of a page: a page of a newspaper has about 5,000. A drawing may show each letter alone.
const MOST_WORDS: usize = 100_000;

/// A glyph on a page.
pub(super) struct Glyph<'a> {
    /// Its text; empty if it has none.
    pub(super) text: &'a str,
    /// Where its baseline starts and ends, in points from the top left corner of the page.
    pub(super) start: Point,
    pub(super) end: Point,
    /// Where its letters point upwards to. A mirrored glyph still has it.
    pub(super) up: Vec2,
    pub(super) size: f64,
    pub(super) font: u32,
}

/// A word, or a part of one, on a page. Places are in points; the text of each angle has axes of its own.
#[derive(Clone, Debug)]
pub(super) struct PageWord {
    pub(super) text: String,
    pub(super) x0: f32,
    pub(super) x1: f32,
    /// The baseline: larger is lower.
    pub(super) y: f32,
    pub(super) size: f32,
    pub(super) font: u32,
    /// Whole degrees clockwise; 0 is upright text.
    pub(super) angle: i16,
    /// Whether a blank precedes it.
    pub(super) spaced: bool,
}

impl PageWord {
    pub(super) fn width(&self) -> f32 {
        self.x1 - self.x0
    }
}

/// The words of a page as they are made.
pub(super) struct PageWords {
    done: Vec<PageWord>,
    open: Option<PageWord>,
    blank: bool,
    width: f64,
    height: f64,
}

impl PageWords {
    pub(super) fn new((width, height): (f32, f32)) -> Self {
        Self { done: Vec::new(), open: None, blank: false, width: width.into(), height: height.into() }
    }

    /// Returns whether the page has more words than any that people read.
    pub(super) fn is_full(&self) -> bool {
        self.done.len() >= MOST_WORDS
    }

    pub(super) fn finish(mut self) -> Vec<PageWord> {
        self.close();
        self.done
    }

    fn close(&mut self) {
        if let Some(mut word) = self.open.take() {
            if !word.text.is_ascii() {
                word.text = word.text.nfc().collect();
            }
            self.done.push(word);
        }
    }

    pub(super) fn add(&mut self, glyph: &Glyph<'_>) {
        if self.is_full() {
            return;
        }
        if glyph.text.trim().is_empty() {
            if !glyph.text.is_empty() {
                self.close();
                self.blank = true;
            }
            return;
        }
        let on_page = |at: f64, most: f64| (-1.0..=most + 1.0).contains(&at);
        let is_number = glyph.size.is_finite() && glyph.end.x.is_finite() && glyph.end.y.is_finite();
        if !is_number || !on_page(glyph.start.x, self.width) || !on_page(glyph.start.y, self.height) {
            self.close();
            return;
        }
        let new = place(glyph);
        if let Some(word) = &mut self.open
            && !self.blank
            && is_next(word, &new)
        {
            append(word, &new);
            return;
        }
        self.close();
        self.open = Some(PageWord { spaced: std::mem::take(&mut self.blank), ..new });
    }
}

/// Returns a glyph as a word on the axes of its angle.
fn place(glyph: &Glyph<'_>) -> PageWord {
    // Slanted letters lean: what is nearly upright is upright, as is the slightly skewed text of scans.
    let mut angle = glyph.up.x.atan2(-glyph.up.y).to_degrees().round();
    let along = glyph.end - glyph.start;
    let direction = along.y.atan2(along.x).to_degrees();
    if angle.abs() <= 30.0 && direction.abs() <= 2.0 || angle.abs() <= 2.0 {
        angle = 0.0;
    }
    let (sin, cos) = if angle == 0.0 { (0.0, 1.0) } else { angle.to_radians().sin_cos() };
    let turned = |at: Point| (at.x * cos + at.y * sin, at.y * cos - at.x * sin);
    let ((x0, y), (x1, _)) = (turned(glyph.start), turned(glyph.end));
    PageWord {
        text: glyph.text.to_owned(),
        x0: x0.min(x1) as f32,
        x1: x1.max(x0) as f32,
        y: y as f32,
        size: glyph.size as f32,
        font: glyph.font,
        angle: angle as i16,
        spaced: false,
    }
}

/// Returns whether a glyph goes on with the open word.
fn is_next(word: &PageWord, new: &PageWord) -> bool {
    let size = word.size.max(new.size);
    let gap = new.x0 - word.x1;
    word.angle == new.angle
        && (new.y - word.y).abs() < 0.2 * size
        && gap > -0.7 * size
        && gap < WORD_GAP * size
}

fn append(word: &mut PageWord, new: &PageWord) {
    // Older fonts have accents as glyphs of their own, which are shown over their letter.
    let overlaps = new.x0 < word.x1 - 0.1 * word.size;
    let mark = |text: &str| text.chars().next().filter(|_| overlaps).and_then(combining);
    if let Some(mark) = mark(&new.text) {
        word.text.push(mark);
    } else if let Some(last) = word.text.pop() {
        if let Some(mark) = combining(last).filter(|_| overlaps) {
            let (letter, rest) = new.text.split_at(new.text.chars().next().map_or(0, char::len_utf8));
            word.text.extend([letter, mark.encode_utf8(&mut [0; 4]), rest]);
        } else {
            word.text.push(last);
            word.text.push_str(&new.text);
        }
    }
    word.x1 = word.x1.max(new.x1);
}

/// Returns the combining mark of an accent that stands alone: Unicode decomposes these to a blank with the mark.
fn combining(accent: char) -> Option<char> {
    let mut parts = [None; 2];
    let mut count = 0;
    decompose_compatible(accent, |part| {
        if let Some(place) = parts.get_mut(count) {
            *place = Some(part);
        }
        count += 1;
    });
    match (count, parts) {
        (2, [Some(' '), Some(mark)]) if is_combining_mark(mark) => Some(mark),
        _ => None,
    }
}

/// Returns a glyph's text with ligatures and other presentation forms as letters, and without control characters.
pub(super) fn letters(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\u{FB00}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}' => {
                decompose_compatible(letter, |part| plain.push(part));
            }
            '\t' | '\n' | '\r' | '\u{A0}' => plain.push(' '),
            '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}' => {}
            letter if letter.is_control() => {}
            letter => plain.push(letter),
        }
    }
    plain
}
