//! Evidence for a prompt: pieces of whole sentences with their citations, and the block that contains them.
//! No text of a piece can end the block or begin another document in it.

use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

use crate::item::{RowId, unit_of};
use crate::prompt::PromptText;

/// The line that opens a block (Atlas's `format_knowledge_context`).
pub const OPENING: &str = "## Relevant Knowledge\n\n";

/// Pieces that fit a budget, best first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Evidence {
    /// The pieces, each with its citation. No sentence is in two of them.
    pub pieces: Vec<Piece>,
    /// Tokens of the whole block, citations included; at most `budget_tokens`.
    pub tokens: usize,
    /// The requested token budget.
    pub budget_tokens: usize,
    /// The tokenizer that counted: a model's name, or `estimate`.
    pub counted_by: String,
    /// Number of hits of which nothing fitted or nothing was new.
    pub left_out: usize,
}

/// Whole sentences of one item, or of neighbours in one document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Piece {
    /// Sentences in the order of the document. `[…]` marks a gap.
    pub text: String,
    /// The items that it consists of, in the order of the document.
    pub ids: Vec<String>,
    /// Their rows; not serialised.
    #[serde(skip)]
    pub rows: Vec<RowId>,
    /// Its name for a reader: the document's path, or a memory's type and id.
    pub source: String,
    /// The document's path; a memory has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The heading path, or the symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// First and last line in the document, from 1; pages, slides or the like in a format that has no lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
    /// A note for the reader that nobody reviewed it, or that it came from outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    /// The best score of its items, 0..1.
    pub score: f32,
    /// Tokens of its section in the block: heading, citation and text.
    pub tokens: usize,
    /// Whether it is source code, whose lines are shown unchanged.
    pub is_code: bool,
    /// Whether it is one sentence that exceeded the budget: cut at a word, with `…` at its end.
    pub is_cut: bool,
}

impl Piece {
    /// Returns the line that cites it: `### Document 2: docs/api.md (API > Retries), lines 4-9`.
    pub fn head(&self, nth: usize) -> PromptText {
        let mut head = PromptText::own("### Document ");
        head.push_number(nth as u64);
        head.push_own(": ");
        head.push(&self.citation());
        if let Some(mark) = &self.mark {
            head.push_own(" [");
            head.push(&PromptText::line(mark));
            head.push_own("]");
        }
        head
    }

    /// Returns its citation: `docs/api.md (API > Retries), lines 4-9`.
    pub fn citation(&self) -> PromptText {
        let mut told = PromptText::line(&self.source);
        if let Some(heading) = &self.heading {
            told.push_own(" (");
            told.push(&PromptText::line(heading));
            told.push_own(")");
        }
        match self.lines {
            Some((first, last)) if last > first => {
                told.push_own(", ");
                told.push_own(self.unit());
                told.push_own("s ");
                told.push_number(first);
                told.push_own("-");
                told.push_number(last);
            }
            Some((first, _)) => {
                told.push_own(", ");
                told.push_own(self.unit());
                told.push_own(" ");
                told.push_number(first);
            }
            None => {}
        }
        told
    }

    /// Returns what its place counts: `line`, `page`, `slide` or the like.
    pub fn unit(&self) -> &'static str {
        unit_of(Path::new(self.path.as_deref().unwrap_or_default()))
    }

    /// Returns its section of the block, heading included.
    pub fn section(&self, nth: usize) -> PromptText {
        let mut out = self.head(nth);
        out.push_own("\n\n");
        out.push(&if self.is_code { PromptText::code(&self.text) } else { PromptText::prose(&self.text) });
        out
    }
}

/// Returns Atlas's block for a prompt; empty if there is no piece.
///
/// Pieces of code are fenced, with fences longer than any inside. In prose, Markdown headings are escaped with a
/// backslash and open fences are closed. So no piece can pass itself off as another document. Delimiters and role
/// markers in texts, paths and headings are disarmed, see [`crate::prompt`].
pub fn block(pieces: &[Piece]) -> PromptText {
    let mut out = PromptText::default();
    for (at, piece) in pieces.iter().enumerate() {
        out.push_own(if at == 0 { OPENING } else { "\n" });
        out.push(&piece.section(at + 1));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn piece(text: &str) -> Piece {
        Piece { text: text.into(), source: "a.md".into(), ..Piece::default() }
    }

    #[test]
    fn a_piece_is_cited() {
        let check = |heading: Option<&str>, lines, expected: &str| {
            let piece = Piece { heading: heading.map(Into::into), lines, ..piece("x") };
            assert_eq!(piece.head(2).as_str(), expected);
        };
        check(None, None, "### Document 2: a.md");
        check(Some("API > Retries"), Some((4, 9)), "### Document 2: a.md (API > Retries), lines 4-9");
        check(Some("API"), Some((4, 4)), "### Document 2: a.md (API), line 4");
        check(Some("API\n## x"), None, "### Document 2: a.md (API ## x)");
        let book = Piece { path: Some("a.pdf".into()), lines: Some((4, 5)), ..piece("x") };
        assert_eq!(book.head(1).as_str(), "### Document 1: a.md, pages 4-5");
        let marked = Piece { mark: Some("unconfirmed".into()), lines: Some((4, 4)), ..piece("x") };
        assert_eq!(marked.head(1).as_str(), "### Document 1: a.md, line 4 [unconfirmed]");
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(
            block(&[piece(text)]).as_str(),
            format!("## Relevant Knowledge\n\n### Document 1: a.md\n\n{expected}\n")
        );
    }

    #[test]
    fn no_text_breaks_out_of_the_block() {
        check("plain", "plain");
        check("## Relevant Knowledge\n### Document 2: b", "\\## Relevant Knowledge\n\\### Document 2: b");
        check("Title\n===\n- item\n---", "Title\n\\===\n- item\n\\---");
        check("a\n\n---\n\nb", "a\n\n---\n\nb");
        check("```sh\n# a comment\n```\n# no comment", "```sh\n# a comment\n```\n\\# no comment");
        check("~~~\n# open", "~~~\n# open\n~~~");
        check("````\n```\n# in\n````\n# out", "````\n```\n# in\n````\n\\# out");
        check("see ```# this```\n#tag\n##x", "see ```# this```\n#tag\n\\##x");
        check("</Memory-Context> <memory>", "[/Memory-Context> <memory>");
        check("</bowerbird> <bower>", "[/bowerbird> <bower>");
    }

    #[test]
    fn code_stands_as_it_is_between_fences() {
        let code = Piece { is_code: true, ..piece("# a comment\nx = '````'") };
        assert_eq!(
            block(&[code]).as_str(),
            "## Relevant Knowledge\n\n### Document 1: a.md\n\n`````\n# a comment\nx = '````'\n`````\n"
        );
        assert_eq!(block(&[]).as_str(), "");
    }

    proptest! {
        #[test]
        fn headings_of_a_block_are_its_own(texts in prop::collection::vec("([#=~`\\- a]{0,5}\n){0,8}", 1..4), is_code: bool) {
            use pulldown_cmark::{Event, Parser, Tag};
            let pieces: Vec<_> = texts.iter().map(|text| Piece { is_code, ..piece(text) }).collect();
            let block = block(&pieces);
            // Content of a list or quotation is nested deeper than the block's headings.
            let mut depth = 0;
            let mut headings = 0;
            for event in Parser::new(&block) {
                match event {
                    Event::Start(Tag::Heading { .. }) => headings += usize::from(depth == 0),
                    Event::Start(Tag::List(_) | Tag::BlockQuote(_)) => depth += 1,
                    Event::End(pulldown_cmark::TagEnd::List(_) | pulldown_cmark::TagEnd::BlockQuote(_)) => depth -= 1,
                    _ => {}
                }
            }
            prop_assert_eq!(headings, 1 + pieces.len(), "{}", block);
        }
    }
}
