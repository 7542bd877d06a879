//! Orders the words of a page as they are read: columns and blocks by a recursive X-Y cut, then lines.
//!
//! Sources: Nagy and Seth, "Hierarchical representation of optically scanned documents" (1984), for the recursive cut; Breuel,
//! "Two geometric algorithms for layout analysis" (2002), for taking the tallest empty rectangle between texts as a gutter.

use super::unpack::Budget;
use super::words::{PageWord, WORD_GAP};

/// A line of text.
#[derive(Clone, Debug)]
pub(super) struct TextLine {
    pub(super) text: String,
    pub(super) x0: f32,
    pub(super) x1: f32,
    /// The baseline: larger is lower.
    pub(super) y: f32,
    /// Size and font of most of its letters.
    pub(super) size: f32,
    pub(super) font: u32,
    /// Whether nearly all of its letters are of that font.
    pub(super) is_pure: bool,
    pub(super) angle: i16,
    /// The number of its block on the page.
    pub(super) block: u32,
}

/// The part of its size by which a letter rises above the baseline, and falls below it. Less than the font's own measures, so that
/// the lines of tight text do not touch.
const ABOVE: f32 = 0.7;
const BELOW: f32 = 0.15;

/// Narrowest gutter between columns, in parts of the size of the body's text: the default of LaTeX is one, at ten points.
const NARROWEST_GUTTER: f32 = 0.9;

/// Narrowest column, in parts of the text's width. Narrower ones are labels of lists and cells of tables, which are read by rows.
const NARROWEST_COLUMN: f32 = 0.2;

/// Fewest lines of a column: in fewer ones, blanks between words stand above one another by chance.
const FEWEST_LINES: usize = 4;

/// Most strips and gaps in which columns are looked for, which takes the product of both; a page has about a hundred lines.
const MOST_STRIPS: usize = 400;
const MOST_GAPS: usize = 8;

/// Most gutters that are open at once, and that are tried, tallest first.
const MOST_GUTTERS: usize = 64;

/// Returns the lines of a page in reading order. The blanks of lines in monospaced fonts are kept. Text of each other angle follows the upright text.
pub(super) fn lines(mut words: Vec<PageWord>, monospaced: &[bool], budget: &mut Budget) -> Vec<TextLine> {
    let mut lines = Vec::new();
    words.sort_by_key(|word| word.angle);
    let mut block = 0;
    for part in words.chunk_by(|a, b| a.angle == b.angle) {
        let mut part: Vec<&PageWord> = part.iter().collect();
        let size = usual_size(&part);
        let mut cutter = Cutter { size, monospaced, budget, lines: &mut lines, block: &mut block };
        cutter.cut(&mut part, 0);
    }
    lines
}

/// Returns the size of most letters.
fn usual_size(words: &[&PageWord]) -> f32 {
    let mut sizes: Vec<(f32, usize)> = words.iter().map(|word| (word.size, word.text.len())).collect();
    sizes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = sizes.iter().map(|(_, letters)| letters).sum::<usize>() / 2;
    let mut before = 0;
    for (size, letters) in sizes {
        before += letters;
        if before > half {
            return size;
        }
    }
    0.0
}

/// Words that overlap vertically, and the free spaces between them.
struct Strip {
    top: f32,
    bottom: f32,
    first: usize,
    after: usize,
    gaps: Vec<(f32, f32)>,
}

/// An empty rectangle between two columns: the strips from `first` to before `after`.
#[derive(Clone, Copy, Debug)]
struct Gutter {
    first: usize,
    after: usize,
    x0: f32,
    x1: f32,
    height: f32,
}

struct Cutter<'a> {
    size: f32,
    monospaced: &'a [bool],
    budget: &'a mut Budget,
    lines: &'a mut Vec<TextLine>,
    block: &'a mut u32,
}

impl Cutter<'_> {
    /// Writes the lines of some words.
    fn cut(&mut self, words: &mut [&PageWord], depth: usize) {
        // Each cut makes the parts narrower by a column or ends in a block; the limit is for wild input.
        const DEEPEST: usize = 32;
        words.sort_by(|a, b| top(a).total_cmp(&top(b)));
        let gutter = if depth < DEEPEST { self.gutter(words) } else { None };
        let Some((gutter, first, after)) = gutter else {
            self.block(words);
            return;
        };
        let (before, rest) = words.split_at_mut(first);
        let (columns, behind) = rest.split_at_mut(after - first);
        if !before.is_empty() {
            self.cut(before, depth + 1);
        }
        let middle = f32::midpoint(gutter.x0, gutter.x1);
        columns.sort_by_key(|word| word.x0 > middle);
        let right = columns.partition_point(|word| word.x0 <= middle);
        let (left, right) = columns.split_at_mut(right);
        self.cut(left, depth + 1);
        self.cut(right, depth + 1);
        if !behind.is_empty() {
            self.cut(behind, depth + 1);
        }
    }

    /// Returns the tallest gutter that separates two columns, with the range of the words beside it.
    fn gutter(&mut self, words: &[&PageWord]) -> Option<(Gutter, usize, usize)> {
        let x0 = words.iter().map(|word| word.x0).fold(f32::INFINITY, f32::min);
        let x1 = words.iter().map(|word| word.x1).fold(f32::NEG_INFINITY, f32::max);
        let strips = self.strips(words, x0, x1);
        if strips.len() > MOST_STRIPS || x1 - x0 < 2.0 * NARROWEST_COLUMN {
            return None;
        }
        let mut found = self.gutters(&strips);
        found.sort_by(|a, b| b.height.total_cmp(&a.height).then(a.first.cmp(&b.first)));
        found.into_iter().take(MOST_GUTTERS).find_map(|gutter| {
            let (first, after) = (strips[gutter.first].first, strips[gutter.after - 1].after);
            let beside = &words[first..after];
            if !self.budget.step((beside.len() / 16) as u64) {
                return None;
            }
            let middle = f32::midpoint(gutter.x0, gutter.x1);
            let (left, right): (Vec<&PageWord>, Vec<&PageWord>) =
                beside.iter().partition(|word| word.x0 <= middle);
            let narrowest = NARROWEST_COLUMN * (x1 - x0);
            (is_column(&left, narrowest) && is_column(&right, narrowest)).then_some((gutter, first, after))
        })
    }

    fn strips(&self, words: &[&PageWord], x0: f32, x1: f32) -> Vec<Strip> {
        let mut strips: Vec<Strip> = Vec::new();
        for (at, word) in words.iter().enumerate() {
            match strips.last_mut() {
                Some(strip) if top(word) < strip.bottom => {
                    strip.bottom = strip.bottom.max(bottom(word));
                    strip.after = at + 1;
                }
                _ => strips.push(Strip {
                    top: top(word),
                    bottom: bottom(word),
                    first: at,
                    after: at + 1,
                    gaps: Vec::new(),
                }),
            }
        }
        for strip in &mut strips {
            strip.gaps = self.gaps(&words[strip.first..strip.after], x0, x1);
        }
        strips
    }

    /// Returns the free spaces of a strip that are wide enough for a gutter.
    fn gaps(&self, words: &[&PageWord], x0: f32, x1: f32) -> Vec<(f32, f32)> {
        let mut spans: Vec<(f32, f32)> = words.iter().map(|word| (word.x0, word.x1)).collect();
        spans.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut gaps = Vec::new();
        let mut covered = x0;
        for (start, end) in spans.into_iter().chain([(x1, x1)]) {
            if start - covered >= NARROWEST_GUTTER * self.size {
                gaps.push((covered, start));
            }
            covered = covered.max(end);
        }
        gaps.sort_by(|a, b| (b.1 - b.0).total_cmp(&(a.1 - a.0)));
        gaps.truncate(MOST_GAPS);
        gaps
    }

    /// Returns the empty rectangles that no strip above or below goes on with.
    fn gutters(&mut self, strips: &[Strip]) -> Vec<Gutter> {
        let mut done = Vec::new();
        let mut open: Vec<Gutter> = Vec::new();
        for (at, strip) in strips.iter().enumerate() {
            let mut next: Vec<Gutter> = Vec::new();
            let mut add =
                |new: Gutter| match next.iter_mut().find(|old| is_same((old.x0, old.x1), (new.x0, new.x1))) {
                    Some(old) => old.first = old.first.min(new.first),
                    None => next.push(new),
                };
            // Real pages have a few of each.
            self.budget.step((open.len() * strip.gaps.len() / 16) as u64);
            for gutter in &open {
                let mut goes_on = false;
                for &(x0, x1) in &strip.gaps {
                    let (x0, x1) = (x0.max(gutter.x0), x1.min(gutter.x1));
                    if x1 - x0 >= NARROWEST_GUTTER * self.size {
                        goes_on |= is_same((x0, x1), (gutter.x0, gutter.x1));
                        add(Gutter { x0, x1, ..*gutter });
                    }
                }
                if !goes_on {
                    done.push(Gutter { after: at, ..*gutter });
                }
            }
            for &(x0, x1) in &strip.gaps {
                add(Gutter { first: at, after: at, x0, x1, height: 0.0 });
            }
            next.sort_by_key(|gutter| gutter.first);
            next.truncate(MOST_GUTTERS);
            open = next;
        }
        done.extend(open.into_iter().map(|gutter| Gutter { after: strips.len(), ..gutter }));
        for gutter in &mut done {
            gutter.height = strips[gutter.after - 1].bottom - strips[gutter.first].top;
        }
        done
    }

    /// Writes the lines of a block of one column.
    fn block(&mut self, words: &mut [&PageWord]) {
        words.sort_by(|a, b| a.y.total_cmp(&b.y));
        let mut rows: Vec<(f32, f32, Vec<&PageWord>)> = Vec::new();
        for &word in words.iter() {
            // A line's raised and lowered parts come just before and after it.
            let row = rows.iter_mut().rev().take(3).find(|(y, size, _)| {
                let shared = bottom(word).min(y + BELOW * size) - top(word).max(y - ABOVE * size);
                shared > 0.5 * (ABOVE + BELOW) * word.size.min(*size)
            });
            match row {
                Some((y, size, row)) => {
                    if word.size > *size {
                        (*y, *size) = (word.y, word.size);
                    }
                    row.push(word);
                }
                None => rows.push((word.y, word.size, vec![word])),
            }
        }
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (y, _, row) in rows {
            self.lines.push(line(y, row, *self.block, self.monospaced));
        }
        *self.block += 1;
    }
}

/// Returns whether two spans are the same: one is taken from the other, without computing.
fn is_same(one: (f32, f32), other: (f32, f32)) -> bool {
    one.0.total_cmp(&other.0).is_eq() && one.1.total_cmp(&other.1).is_eq()
}

fn top(word: &PageWord) -> f32 {
    word.y - ABOVE * word.size
}

fn bottom(word: &PageWord) -> f32 {
    word.y + BELOW * word.size
}

/// Returns whether words can be a column: wide enough, of enough lines.
fn is_column(words: &[&PageWord], narrowest: f32) -> bool {
    let mut rows: Vec<(f32, f32, f32)> = Vec::new();
    let mut sorted: Vec<&&PageWord> = words.iter().collect();
    sorted.sort_by(|a, b| a.y.total_cmp(&b.y));
    for word in sorted {
        match rows.last_mut() {
            Some((y, x0, x1)) if word.y - *y < 0.5 * word.size => {
                (*x0, *x1) = (x0.min(word.x0), x1.max(word.x1));
            }
            _ => rows.push((word.y, word.x0, word.x1)),
        }
    }
    // Half of the lines must be wide.
    let wide = rows.iter().filter(|(_, x0, x1)| x1 - x0 >= narrowest).count();
    rows.len() >= FEWEST_LINES && wide * 2 >= rows.len()
}

/// Most fonts and sizes that are counted in a line.
const MOST_FONTS: usize = 16;

fn line(y: f32, mut row: Vec<&PageWord>, block: u32, monospaced: &[bool]) -> TextLine {
    row.sort_by(|a, b| a.x0.total_cmp(&b.x0));
    // Shadows and bold letters are the same word shown twice.
    row.dedup_by(|word, last| last.text == word.text && (word.x0 - last.x0).abs() < 0.3 * word.size);
    let mut fonts: Vec<(u32, f32, usize)> = Vec::new();
    for word in &row {
        let known =
            fonts.iter().position(|(font, size, _)| *font == word.font && size.total_cmp(&word.size).is_eq());
        match known {
            Some(at) => fonts[at].2 += word.text.len(),
            None if fonts.len() < MOST_FONTS => fonts.push((word.font, word.size, word.text.len())),
            None => {}
        }
    }
    let all: usize = fonts.iter().map(|(.., letters)| letters).sum();
    let (font, size, most) = fonts.into_iter().max_by_key(|(.., letters)| *letters).unwrap_or_default();
    let is_pure = most * 10 >= all * 9;
    let is_code = is_pure && monospaced.get(font as usize).copied().unwrap_or(false);
    let mut text = String::new();
    for (at, word) in row.iter().enumerate() {
        if let Some(last) = at.checked_sub(1).map(|before| row[before]) {
            let gap = word.x0 - last.x1;
            let blank = last.width() / last.text.chars().count().max(1) as f32;
            if is_code && blank > 0.0 {
                // As many blanks as fit, and at most as many as a line has.
                let count = (gap / blank).round().clamp(usize::from(word.spaced) as f32, 100.0) as usize;
                text.extend(std::iter::repeat_n(' ', count));
            } else if word.spaced || gap >= WORD_GAP * last.size.max(word.size) {
                text.push(' ');
            }
        }
        text.push_str(&word.text);
    }
    TextLine {
        text,
        x0: row.first().map_or(0.0, |word| word.x0),
        x1: row.iter().map(|word| word.x1).fold(f32::NEG_INFINITY, f32::max),
        y,
        size,
        font,
        is_pure,
        angle: row.first().map_or(0, |word| word.angle),
        block,
    }
}
