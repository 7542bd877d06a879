//! Renders what became of the code that memories name.

use bower_core::item::CheckedAnchor;

use super::{Look, cut, line, style};

/// Renders what became of the code that a memory names, one line each.
pub fn anchors(anchors: &[CheckedAnchor], indent: usize, look: &Look) -> String {
    let lead = " ".repeat(indent);
    let one = |anchor: &CheckedAnchor| {
        let style = if anchor.is_doubtful() { style::WEAK } else { style::DIM };
        let room = look.width.saturating_sub(indent + "anchor ".len()).max(16);
        let phrase = line(&anchor.phrase());
        format!("{lead}{}\n", look.paint(style, &format!("anchor {}", cut(&phrase, room))))
    };
    anchors.iter().map(one).collect()
}
