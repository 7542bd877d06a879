//! Holds the lines of pages, and the size, font and leading that most of the text has.

use std::collections::HashMap;

use super::layout::TextLine;

/// The lines of a page in reading order.
pub(super) struct PageLines {
    pub(super) number: u32,
    pub(super) lines: Vec<TextLine>,
}

/// What most of the text is like.
pub(super) struct BodyStyle {
    pub(super) size: f32,
    pub(super) font: u32,
    /// The distance of its lines in parts of its size.
    pub(super) leading: f32,
}

impl BodyStyle {
    pub(super) fn of(pages: &[PageLines]) -> Self {
        let mut letters: HashMap<(u32, i32), usize> = HashMap::new();
        for line in pages.iter().flat_map(|page| &page.lines) {
            *letters.entry((line.font, (line.size * 2.0).round() as i32)).or_default() += line.text.len();
        }
        let most = letters.into_iter().max_by_key(|&(key, count)| (count, key));
        let (font, half_points) = most.map_or((0, 20), |(key, _)| key);
        let size = half_points as f32 / 2.0;
        let mut gaps: Vec<f32> = pages
            .iter()
            .flat_map(|page| page.lines.windows(2))
            .filter(|pair| pair[0].block == pair[1].block && pair[0].font == font && pair[1].font == font)
            .map(|pair| (pair[1].y - pair[0].y) / size)
            .filter(|gap| gap.is_finite())
            .collect();
        gaps.sort_by(f32::total_cmp);
        // Text is set with 1.2 where nothing else is asked for.
        let leading = gaps.get(gaps.len() / 2).copied().unwrap_or(1.2).clamp(1.0, 2.5);
        Self { size, font, leading }
    }
}
