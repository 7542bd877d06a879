//! Joins the selected sentences into pieces in the document's order, each with its citation.
//! A run of neighbours is a literal part of the source.

use super::part::{CutItem, PackState, RankedText};
use super::units::TextUnit;
use crate::evidence::{OPENING, Piece};

/// Marks left-out sentences.
pub(super) const GAP: &str = "[…]";

/// Returns the pieces of everything that was taken, best first.
pub(super) fn pieces(parts: &[CutItem<'_>]) -> Vec<Piece> {
    let mut open: Vec<&CutItem<'_>> = parts.iter().filter(|part| part.is_open()).collect();
    // By document and position. Items without a document keep their place, each on its own.
    open.sort_by_key(|part| (part.item.document, part.item.position, part.item.row));
    let mut pieces: Vec<Piece> = open.chunk_by(|a, b| are_neighbours(&a.item, &b.item)).map(piece).collect();
    pieces.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.rows.cmp(&b.rows)));
    pieces
}

/// Counts the tokens of each piece as it is in the block, and returns the sum with the opening line.
pub(super) fn measure(pieces: &mut [Piece], count: &dyn Fn(&str) -> usize) -> usize {
    let mut tokens = if pieces.is_empty() { 0 } else { count(OPENING) };
    for (at, piece) in pieces.iter_mut().enumerate() {
        let section = piece.section(at + 1);
        // Sections after the first follow an empty line.
        piece.tokens = if at == 0 { count(&section) } else { count(&format!("\n{section}")) };
        tokens += piece.tokens;
    }
    tokens
}

/// Returns a citation of the item with the widest numbers that it may get.
pub(super) fn head_of(item: &RankedText<'_>, most: usize) -> String {
    cite(item, item.lines).head(most).into()
}

/// Returns a piece with the beginning of a sentence that is longer than the budget.
pub(super) fn cut_piece(item: &RankedText<'_>, unit: &TextUnit, text: &str) -> Piece {
    let lines = lines_of(item, unit.range.start, unit.range.start + text.len());
    Piece { text: format!("{}…", text.trim_end()), is_cut: true, ..cite(item, lines) }
}

/// Whether two items are adjacent in one document or share lines of it.
fn are_neighbours(a: &RankedText<'_>, b: &RankedText<'_>) -> bool {
    if a.document.is_none() || a.document != b.document || a.mark != b.mark {
        return false;
    }
    let touch =
        matches!((a.lines, b.lines), (Some((_, end)), Some((start, _))) if start <= end.saturating_add(1));
    touch || b.position.saturating_sub(a.position) <= 1
}

fn cite(item: &RankedText<'_>, lines: Option<(u32, u32)>) -> Piece {
    Piece {
        text: String::new(),
        ids: vec![item.id.to_owned()],
        rows: vec![item.row],
        source: item.source.to_owned(),
        path: item.path.map(str::to_owned),
        heading: item.heading.filter(|heading| !heading.trim().is_empty()).map(str::to_owned),
        lines,
        mark: item.mark.map(str::to_owned),
        score: item.score,
        tokens: 0,
        is_code: item.is_code,
        is_cut: false,
    }
}

/// Joins adjacent parts into one piece.
fn piece(run: &[&CutItem<'_>]) -> Piece {
    let first = &run[0].item;
    let mut piece = Piece { ids: Vec::new(), rows: Vec::new(), ..cite(first, None) };
    let mut lines: Option<(u32, u32)> = None;
    // Whether something was left out since the end of the text so far.
    let mut gap = false;
    for (at, part) in run.iter().enumerate() {
        let item = &part.item;
        piece.ids.push(item.id.to_owned());
        piece.rows.push(item.row);
        piece.score = piece.score.max(item.score);
        if at > 0 {
            piece.heading = shared_heading(piece.heading.as_deref(), item.heading);
        }
        let (mut end, mut twice) = (None, false);
        for (unit, state) in part.units.iter().zip(&part.state) {
            match state {
                PackState::Free => gap = true,
                // The next chunk repeats this text at the chunk's end, so nothing is missing.
                PackState::Twice => twice = true,
                PackState::Taken => {
                    gap |= twice && end.is_some();
                    let between = &item.content[end.unwrap_or(0)..unit.range.start];
                    join(&mut piece.text, if end.is_some() { between } else { "\n" }, gap);
                    piece.text.push_str(&item.content[unit.range.clone()]);
                    if let Some((from, to)) = lines_of(item, unit.range.start, unit.range.end) {
                        lines =
                            Some(lines.map_or((from, to), |(first, last)| (first.min(from), last.max(to))));
                    }
                    (gap, twice, end) = (false, false, Some(unit.range.end));
                }
            }
        }
    }
    Piece { lines, ..piece }
}

/// Joins two sentences with the text between them in the source, or with the mark of a gap. The mark has its own line
/// if `between` contains a line break.
fn join(text: &mut String, between: &str, gap: bool) {
    match (text.is_empty(), gap) {
        // The citation's lines show where the piece begins.
        (true, _) => {}
        (false, false) => text.push_str(between),
        (false, true) if between.contains('\n') => {
            text.push('\n');
            text.push_str(GAP);
            text.push('\n');
        }
        (false, true) => {
            text.push(' ');
            text.push_str(GAP);
            text.push(' ');
        }
    }
}

/// Returns the common headings: `API > Retries` and `API > Limits` share `API`.
fn shared_heading(one: Option<&str>, two: Option<&str>) -> Option<String> {
    let (one, two) = (one?.split(" > "), two?.split(" > "));
    let shared: Vec<&str> = one.zip(two).take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
    (!shared.is_empty()).then(|| shared.join(" > "))
}

/// Returns the lines of a part of the content. They are exact if the content has as many lines as its place in the
/// document, else they are the item's.
fn lines_of(item: &RankedText<'_>, start: usize, end: usize) -> Option<(u32, u32)> {
    let (first, last) = item.lines?;
    let breaks = |text: &str| text.bytes().filter(|&byte| byte == b'\n').count() as u32;
    if breaks(item.content.trim_end()) != last.saturating_sub(first) {
        return Some((first, last));
    }
    let from = first + breaks(&item.content[..start]);
    Some((from, from + breaks(item.content[start..end].trim_end())))
}
