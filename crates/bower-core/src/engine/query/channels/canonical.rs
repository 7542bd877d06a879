//! Searches the canonical channel: the facts of canonical documents, the most trusted source.
//! Each hit is cited by the fact that answers.

use crate::engine::Engine;
use crate::engine::indexes::LANGUAGE;
use crate::engine::query::facts::{Fact, FactCitation, canonical_documents, canonical_text, facts};
use crate::error::Result;
use crate::item::{RowId, RowSet, Scored};
use crate::store::DocumentRow;
use crate::text::{AskedScan, Compare};

/// Lowest score of a hit: a line below it shares one word with a long question by chance.
const LEAST: f32 = 0.2;

/// A canonical hit with the fact that matched best.
#[derive(Clone, Debug, PartialEq)]
pub struct Cited {
    /// The chunk, scored by its best line.
    pub hit: Scored,
    /// The fact of that line.
    pub fact: FactCitation,
}

/// Returns the chunks of canonical documents with the question's words in one line, best first.
///
/// A line's score is the share of the question's words that it has; words count by their rarity over all canonical lines (see
/// [`AskedScan`]). The headings above the line count by half. A chunk has the score of its best line, the first of equals.
pub fn canonical(
    engine: &Engine,
    question: &str,
    depth: usize,
    allowed: &dyn Fn(RowId) -> bool,
) -> Result<Vec<Cited>> {
    search(engine, question, &canonical_documents(engine)?, depth, allowed)
}

/// Does so for these canonical documents only; words count by their rarity over their lines.
pub fn search(
    engine: &Engine,
    question: &str,
    documents: &[DocumentRow],
    depth: usize,
    allowed: &dyn Fn(RowId) -> bool,
) -> Result<Vec<Cited>> {
    let mut scan = AskedScan::new(question, LANGUAGE, Compare::Lines);
    if scan.is_empty() {
        return Ok(Vec::new());
    }
    let mut texts = Vec::new();
    for document in documents {
        texts.extend(canonical_text(&*engine.store, *document)?);
    }
    let lines: Vec<Fact<'_>> = texts
        .iter()
        .flat_map(|(name, passages)| facts(&name.id, passages))
        .filter(|fact| allowed(fact.row))
        .collect();
    for (nth, fact) in lines.iter().enumerate() {
        let above: Vec<&str> = fact.headings.iter().copied().chain(fact.head).collect();
        scan.push(nth as u64, fact.text, &above.join("\n"));
    }
    let mut cited: Vec<Cited> = Vec::new();
    let mut seen = RowSet::new();
    for (nth, score) in scan.finish().into_iter().take_while(|(_, score)| *score >= LEAST) {
        let fact = &lines[nth as usize];
        if seen.insert(fact.row) {
            cited.push(Cited { hit: Scored { row: fact.row, score }, fact: fact.cited.clone() });
        }
    }
    cited.sort_unstable_by(|a, b| Scored::cmp_best_first(&a.hit, &b.hit));
    cited.truncate(depth);
    Ok(cited)
}
