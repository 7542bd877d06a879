//! Joins the selected sentences into pieces in the document's order, each with its citation.
//! A run of neighbours is a literal part of the source.

use super::part::{CutItem, PackState, RankedText};
use super::units::TextUnit;
use crate::evidence::{OPENING, Piece};

/// Stands where sentences were left out.
pub(super) const GAP: &str = "[…]";

/// The pieces of everything that was taken, best first.
pub(super) fn pieces(parts: &[CutItem<'_>]) -> Vec<Piece> {
    let mut open: Vec<&CutItem<'_>> = parts.iter().filter(|part| part.is_open()).collect();
    // By document and place; what has no document stays where it is, each for itself.
    open.sort_by_key(|part| (part.item.document, part.item.position, part.item.row));
    let mut pieces: Vec<Piece> = open.chunk_by(|a, b| are_neighbours(&a.item, &b.item)).map(piece).collect();
    pieces.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.rows.cmp(&b.rows)));
    pieces
}

/// Counts each piece as it will stand in the block; the whole is the sum with the opening.
pub(super) fn measure(pieces: &mut [Piece], count: &dyn Fn(&str) -> usize) -> usize {
    let mut tokens = if pieces.is_empty() { 0 } else { count(OPENING) };
    for (at, piece) in pieces.iter_mut().enumerate() {
        let section = piece.section(at + 1);
        // Sections after the first stand below an empty line.
        piece.tokens = if at == 0 { count(&section) } else { count(&format!("\n{section}")) };
        tokens += piece.tokens;
    }
    tokens
}

/// A citation of the item with the widest numbers that it may get.
pub(super) fn head_of(item: &RankedText<'_>, most: usize) -> String {
    cite(item, item.lines).head(most).into()
}

/// The beginning of a sentence that is longer than the budget.
pub(super) fn cut_piece(item: &RankedText<'_>, unit: &TextUnit, text: &str) -> Piece {
    let lines = lines_of(item, unit.range.start, unit.range.start + text.len());
    Piece { text: format!("{}…", text.trim_end()), is_cut: true, ..cite(item, lines) }
}

/// Next to each other in one document, or sharing lines of it.
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

/// One piece from parts that stand next to each other.
fn piece(run: &[&CutItem<'_>]) -> Piece {
    let first = &run[0].item;
    let mut piece = Piece { ids: Vec::new(), rows: Vec::new(), ..cite(first, None) };
    let mut lines: Option<(u32, u32)> = None;
    // Whether something was left out since the text's end.
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
                // At its ends a chunk shares text with the next one: nothing is missing there.
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

/// What stands between two sentences: what stood there, or the mark of a gap on the same or a line of its own.
fn join(text: &mut String, between: &str, gap: bool) {
    match (text.is_empty(), gap) {
        // The citation's lines say where the piece begins.
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

/// The headings that both have: `API > Retries` and `API > Limits` are both below `API`.
fn shared_heading(one: Option<&str>, two: Option<&str>) -> Option<String> {
    let (one, two) = (one?.split(" > "), two?.split(" > "));
    let shared: Vec<&str> = one.zip(two).take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
    (!shared.is_empty()).then(|| shared.join(" > "))
}

/// The lines of a part of the content: exact where the content stands in the document as it is, else the item's.
fn lines_of(item: &RankedText<'_>, start: usize, end: usize) -> Option<(u32, u32)> {
    let (first, last) = item.lines?;
    let breaks = |text: &str| text.bytes().filter(|&byte| byte == b'\n').count() as u32;
    if breaks(item.content.trim_end()) != last.saturating_sub(first) {
        return Some((first, last));
    }
    let from = first + breaks(&item.content[..start]);
    Some((from, from + breaks(item.content[start..end].trim_end())))
}
