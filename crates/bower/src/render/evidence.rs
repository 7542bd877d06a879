//! Renders evidence: as a block for a prompt, or for a person with its citations and omissions.
//! The block has Atlas's form.

use bower_core::evidence::{self, Evidence, Piece};
use bower_core::request::Answer;
use std::fmt::Write as _;
use std::path::Path;

use super::item::span;
use super::{Look, clean, columns, count, cut, cut_start, line, style, thousands};

/// Renders the block for a prompt; without evidence it is empty.
pub fn context(answer: &Answer, look: &Look) -> String {
    let block =
        answer.evidence.as_ref().map(|evidence| evidence::block(&evidence.pieces)).unwrap_or_default();
    if look.terminal { clean(&block).into_owned() } else { block.into() }
}

/// Explains an empty block in one line for standard error.
pub fn nothing(answer: &Answer) -> String {
    let mut reasons = Vec::new();
    if let Some(held @ 1..) = answer.held_back {
        reasons.push(format!("{} not close enough to be given unasked", count(held as u64, "hit")));
    }
    if let Some(given @ 1..) = answer.already_given {
        reasons.push(format!("{} given to this session before", count(given as u64, "hit")));
    }
    if reasons.is_empty() {
        "nothing found".into()
    } else {
        format!("nothing to add: {}", reasons.join(", "))
    }
}

/// Renders the evidence for a person: each piece under its citation, then the tokens used.
pub fn text(evidence: &Evidence, look: &Look) -> String {
    let mut out = String::new();
    for (at, piece) in evidence.pieces.iter().enumerate() {
        let rank = look.paint(style::DIM, &format!("{:>3}", at + 1));
        let place = place(piece, look.width.saturating_sub(4), look);
        let _ = writeln!(out, "{rank} {}", look.paint(style::TITLE, &place));
        if let Some(mark) = &piece.mark {
            let _ = writeln!(out, "    {}", look.paint(style::WEAK, &format!("[{}]", line(mark))));
        }
        for shown in clean(piece.text.trim_end()).lines() {
            out.push_str(if shown.trim().is_empty() { "" } else { "    " });
            out.push_str(shown.trim_end());
            out.push('\n');
        }
        out.push('\n');
    }
    let pieces = count(evidence.pieces.len() as u64, "piece");
    let (tokens, budget) = (thousands(evidence.tokens as u64), thousands(evidence.budget_tokens as u64));
    let by = line(&evidence.counted_by);
    let mut told = format!("evidence: {pieces}, {tokens} of {budget} tokens, counted by {by}");
    if evidence.pieces.iter().any(|piece| piece.is_cut) {
        told.push_str("; its one sentence was cut to fit");
    }
    if evidence.left_out > 0 {
        let _ = write!(told, "; {} left out", count(evidence.left_out as u64, "hit"));
    }
    out.push_str(&super::wrapped("", &told, look));
    out
}

/// Reports the hits that were given to the session before or were not close enough, for a person; empty if there are none.
pub fn kept_back(answer: &Answer, look: &Look) -> String {
    let mut out = String::new();
    if let Some(given @ 1..) = answer.already_given {
        let told = format!("left out: {} that this session was already given", count(given as u64, "hit"));
        out.push_str(&super::wrapped("", &told, look));
    }
    if let Some(held @ 1..) = answer.held_back {
        let told = format!("held back: {} not close enough to be given unasked", count(held as u64, "hit"));
        out.push_str(&super::wrapped("", &told, look));
    }
    out
}

/// Formats `path:120-134  Guide › Install`, in at most `width` columns.
fn place(piece: &Piece, width: usize, look: &Look) -> String {
    let source = line(&piece.source);
    let near = look
        .here
        .as_deref()
        .and_then(|here| Path::new(&source).strip_prefix(here).ok())
        .and_then(Path::to_str);
    let lines =
        piece.lines.map_or_else(String::new, |(first, last)| span(&source, first.into(), last.into()));
    let path = cut_start(near.unwrap_or(&source), width.saturating_sub(columns(&lines)).max(8)).into_owned()
        + &lines;
    let heading =
        piece.heading.as_deref().map(|heading| line(heading).replace(" > ", " › ")).unwrap_or_default();
    let room = width.saturating_sub(columns(&path) + 2);
    if heading.is_empty() || room < 8 { path } else { format!("{path}  {}", cut(&heading, room)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;

    #[test]
    fn a_block_for_a_prompt() {
        insta::assert_snapshot!(context(&sample::answer_with_evidence(), &sample::look(80)));
    }

    #[test]
    fn evidence_for_a_person() {
        let answer = sample::answer_with_evidence();
        insta::assert_snapshot!(text(answer.evidence.as_ref().unwrap(), &sample::look(80)));
    }

    #[test]
    fn no_block_says_why() {
        let check = |held_back, already_given, expected: &str| {
            let answer = Answer { held_back, already_given, evidence: None, ..sample::answer() };
            assert_eq!(
                (nothing(&answer).as_str(), context(&answer, &sample::look(80)).as_str()),
                (expected, "")
            );
        };
        check(None, None, "nothing found");
        check(Some(0), Some(0), "nothing found");
        check(Some(2), None, "nothing to add: 2 hits not close enough to be given unasked");
        check(
            Some(1),
            Some(3),
            "nothing to add: 1 hit not close enough to be given unasked, 3 hits given to this session before",
        );
    }
}
