//! Evidence for a prompt: pieces of whole sentences with their citations, and the block that carries them.
//! No text of a piece can end the block or begin another document of it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::item::RowId;
use crate::prompt::PromptText;

/// The line that opens a block (Atlas's `format_knowledge_context`).
pub const OPENING: &str = "## Relevant Knowledge\n\n";

/// What fits a budget, best piece first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Evidence {
    /// Each with its citation; no sentence stands in two of them.
    pub pieces: Vec<Piece>,
    /// Tokens of the whole block, citations included; at most `budget_tokens`.
    pub tokens: usize,
    /// What was asked for.
    pub budget_tokens: usize,
    /// How tokens were counted: a model's name, or `estimate`.
    pub counted_by: String,
    /// Hits of which nothing fitted or nothing was new.
    pub left_out: usize,
}

/// Whole sentences of one item, or of neighbours in one document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Piece {
    /// Sentences in the order of the document. `[…]` stands where some were left out.
    pub text: String,
    /// The items that it comes from, in the order of the document.
    pub ids: Vec<String>,
    /// Their rows; not shown.
    #[serde(skip)]
    pub rows: Vec<RowId>,
    /// How a reader names it: the document's path, or a memory's type and id.
    pub source: String,
    /// The document's path; a memory has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The headings above it, or the symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// First and last line in the document, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
    /// What a reader must know of whose words it is: that nobody confirmed them, or that they came from outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    /// The best score among its items, 0..1.
    pub score: f32,
    /// Tokens of its part of the block: heading, citation and text.
    pub tokens: usize,
    /// It is source code: its lines are shown as they are.
    pub is_code: bool,
    /// Its only sentence was longer than the budget and ends with `…`, cut at a word.
    pub is_cut: bool,
}

impl Piece {
    /// The line that cites it: `### Document 2: docs/api.md (API > Retries), lines 4-9`.
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

    /// Where it is from: `docs/api.md (API > Retries), lines 4-9`.
    pub fn citation(&self) -> PromptText {
        let mut told = PromptText::line(&self.source);
        if let Some(heading) = &self.heading {
            told.push_own(" (");
            told.push(&PromptText::line(heading));
            told.push_own(")");
        }
        match self.lines {
            Some((first, last)) if last > first => {
                told.push_own(", lines ");
                told.push_number(first);
                told.push_own("-");
                told.push_number(last);
            }
            Some((first, _)) => {
                told.push_own(", line ");
                told.push_number(first);
            }
            None => {}
        }
        told
    }

    /// Its part of the block, from its heading on.
    pub fn section(&self, nth: usize) -> PromptText {
        let mut out = self.head(nth);
        out.push_own("\n\n");
        out.push(&if self.is_code { PromptText::code(&self.text) } else { PromptText::prose(&self.text) });
        out
    }
}

/// Atlas's block for a prompt; nothing where there is no piece.
///
/// Pieces of code stand between fences longer than any inside. In prose, what Markdown would take for a heading is
/// escaped with a backslash and a fence left open is closed, so that no piece can pass itself off as another document.
/// What of a text, a path or a heading could end the block or be another's words is defused, see [`crate::prompt`].
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
            // What stands in a list or quotation is deeper than any heading of the block.
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
