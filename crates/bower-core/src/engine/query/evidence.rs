//! Packs hits into evidence within a budget of tokens, and holds back weak hits of a prefetch.

use jiff::Timestamp;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::ControlFlow;

use crate::engine::Engine;
use crate::engine::anchors::remark;
use crate::engine::indexes::covered;
use crate::engine::languages::languages;
use crate::engine::query::load::may_stand_beside;
use crate::engine::query::plan::counted;
use crate::engine::query::rank::Ranking;
use crate::engine::query::record::{SessionTexts, note_given};
use crate::engine::query::retrieve::text_delta;
use crate::error::{Error, Result};
use crate::evidence::Evidence;
use crate::item::{Admission, Allowed, Kind, RowId, RowSet, Visibility, indexed_text};
use crate::rank::budget::{QuestionWords, RankedText, estimate_tokens, pack as pack_candidates};
use crate::rank::prefetch::{Bar, CosineStats, Signals, passes};
use crate::request::{Hit, Item, QueryRequest};
use crate::text::analyze::{Analyzer, Purpose};
use crate::text::{self, QueryTerm, Rarity};

/// Smallest budget: a smaller one has no room for a citation and a sentence.
pub const LEAST_BUDGET: usize = 32;

/// Largest budget: no model reads more at once, so a larger value is a mistake.
const MOST_BUDGET: usize = 1_000_000;

/// Number of hits whose neighbours in their document are loaded to fill what is left of the budget.
const WITH_NEIGHBOURS: usize = 5;

/// Value of [`Evidence::counted_by`] where no model's tokenizer counted.
pub(crate) const ESTIMATE: &str = "estimate";

/// Extensions of files that hold code or data: their lines are not joined into sentences.
const LINES: &[&str] = &[
    "bash", "c", "cc", "cfg", "clj", "conf", "cpp", "cs", "css", "csv", "cxx", "dart", "ex", "exs", "fish",
    "go", "gradle", "h", "hpp", "hs", "ini", "ipynb", "java", "js", "json", "jsonl", "jsx", "kt", "less",
    "lua", "m", "mjs", "ml", "nix", "php", "pl", "proto", "ps1", "py", "pyi", "r", "rb", "rs", "scala",
    "scss", "sh", "sql", "svelte", "swift", "tf", "toml", "ts", "tsv", "tsx", "vue", "xml", "yaml", "yml",
    "zig", "zsh",
];

/// Checks the budget and the session id of a request.
pub(crate) fn check(request: &QueryRequest) -> Result<()> {
    if let Some(budget) = request.budget_tokens
        && !(LEAST_BUDGET..=MOST_BUDGET).contains(&budget)
    {
        let reason = format!("use {LEAST_BUDGET} to {MOST_BUDGET} tokens");
        return Err(Error::invalid(format!("budget {budget}"), reason));
    }
    if request.session.as_ref().is_some_and(|session| session.trim().is_empty()) {
        return Err(Error::invalid("session", "the id is empty; use the same text in each turn"));
    }
    Ok(())
}

/// Packs the hits (best first) into the request's budget, if it has one. Notes the items for the request's session: those
/// that evidence was taken from, or all hits without a budget. [`keep_given`] writes the notes.
///
/// Neighbours of the hits in their documents fill the rest of the budget, as far as the request may see them. The local
/// model's tokenizer counts the tokens where a model takes part; else they are estimated.
pub(crate) fn pack(
    engine: &Engine,
    visibility: &Visibility,
    request: &QueryRequest,
    terms: &Terms<'_>,
    hits: &[Hit],
) -> Result<Option<Evidence>> {
    let Some(budget_tokens) = request.budget_tokens else {
        note_given(engine, visibility, request, hits.iter().map(|hit| &hit.memory))?;
        return Ok(None);
    };
    if hits.is_empty() {
        // There is nothing to count, so the model is not opened for it.
        let counted_by = ESTIMATE.to_owned();
        return Ok(Some(Evidence { budget_tokens, counted_by, ..Evidence::default() }));
    }
    let (terms, rarity) = terms.get()?;
    let weights = rarity.weights();
    let neighbours = neighbours(engine, visibility, request, hits)?;
    let sources: Vec<Source> = hits
        .iter()
        .map(|hit| Source::of_hit(hit, neighbours.places.get(&hit.memory.row)))
        .chain(
            neighbours
                .items
                .iter()
                .map(|(item, score)| Source::new(item, *score, neighbours.places.get(&item.row), true)),
        )
        .collect();
    let candidates: Vec<RankedText<'_>> = sources.iter().map(Source::candidate).collect();

    let wanted = places(terms);
    let marks = |text: &str, marks: &mut Vec<(usize, usize)>| {
        Analyzer::of(text).each(text, Purpose::Index, |found| {
            marks.extend(wanted.get(found.term).map(|&nth| (found.at.start, nth)));
            ControlFlow::Continue(())
        });
        // The parts of a compound may come after the whole.
        marks.sort_unstable();
    };
    let question = QuestionWords { marks: &marks, weights: &weights };
    let embedder = if request.fast { None } else { engine.model.counter() };
    let count = |text: &str| {
        let pieces = embedder.and_then(|embedder| embedder.count_pieces(text).ok());
        pieces.unwrap_or_else(|| estimate_tokens(text))
    };
    let mut evidence = pack_candidates(&candidates, &question, budget_tokens, &count);
    evidence.counted_by.push_str(embedder.map_or(ESTIMATE, |embedder| embedder.model()));
    let given = |item: &&Item| evidence.pieces.iter().any(|piece| piece.rows.contains(&item.row));
    note_given(engine, visibility, request, sources.iter().map(|source| source.item).filter(given))?;
    Ok(Some(evidence))
}

/// Whether a request may return an item: a prefetch returns no item that is held until a person keeps it.
pub(crate) fn admits(request: &QueryRequest, item: &Item) -> bool {
    !request.prefetch || item.provenance.admission(item.kind, item.status) != Admission::Held
}

/// Applies the prefetch bar if the request is a prefetch. Returns the number of hits that it held back; `None` for other
/// requests.
pub(crate) fn hold_back(
    request: &QueryRequest,
    terms: &Terms<'_>,
    ranking: &Ranking,
    hits: &mut Vec<Hit>,
) -> Result<Option<usize>> {
    if !request.prefetch {
        return Ok(None);
    }
    let found = hits.len();
    if found > 0 {
        let (terms, rarity) = terms.get()?;
        let background = ranking
            .background
            .map(|background| CosineStats::of(background.rows, background.mean, background.deviation()));
        let bar = Bar { rows: rarity.rows, having: &rarity.having, background };
        let having = HavingTerms::new(terms);
        hits.retain(|hit| {
            let terms = having.of(&hit.memory);
            passes(
                &bar,
                &Signals {
                    terms: &terms,
                    cosine: hit.semantic,
                    calibrated: ranking.answerable.map(|_| hit.score),
                },
            )
        });
    }
    Ok(Some(found - hits.len()))
}

/// Finds which of the question's terms an item has, also in its title and headings.
struct HavingTerms<'a> {
    wanted: HashMap<&'a str, usize>,
}

impl<'a> HavingTerms<'a> {
    fn new(terms: &'a [QueryTerm]) -> Self {
        Self { wanted: places(terms) }
    }

    fn of(&self, item: &Item) -> Vec<usize> {
        let title = if item.kind == Kind::Chunk { Some(item.summary.as_str()) } else { None };
        let text = indexed_text(title, field(item, "section_title"), &item.content);
        let mut terms = Vec::new();
        Analyzer::of(&text).each(&text, Purpose::Index, |found| {
            terms.extend(self.wanted.get(found.term).copied());
            ControlFlow::Continue(())
        });
        terms.sort_unstable();
        terms.dedup();
        terms
    }
}

/// Returns the position in the question of each form of its terms.
fn places(terms: &[QueryTerm]) -> HashMap<&str, usize> {
    text::forms(terms).map(|(nth, form)| (form, nth)).collect()
}

/// The question's terms and their rarity in this store. They are counted once, when a budget or the bar first needs them,
/// because counting reads the whole delta.
pub(crate) struct Terms<'a> {
    engine: &'a Engine,
    request: &'a QueryRequest,
    counted: OnceCell<(Vec<QueryTerm>, Rarity)>,
}

impl<'a> Terms<'a> {
    pub(crate) fn of(engine: &'a Engine, request: &'a QueryRequest) -> Self {
        Self { engine, request, counted: OnceCell::new() }
    }

    fn get(&self) -> Result<&(Vec<QueryTerm>, Rarity)> {
        if let Some(counted) = self.counted.get() {
            return Ok(counted);
        }
        let newest = self.engine.store.coverage()?;
        let own = counted(self.engine, &self.request.select)?;
        let languages = languages(self.engine, &newest, own.as_deref())?;
        let terms = text::query_terms(&self.request.text, &languages);
        let rarity = self.engine.indexes.again(|| self.rarity(&terms))?;
        Ok(self.counted.get_or_init(|| (terms, rarity)))
    }

    fn rarity(&self, terms: &[QueryTerm]) -> Result<Rarity> {
        let store = &*self.engine.store;
        let newest = store.coverage()?;
        let index = self.engine.indexes.text(store)?;
        let new = self.engine.caches.deltas.text(store, &newest, covered(&index))?;
        let nothing = RowSet::new();
        let everything = Allowed { keep: None, drop: &nothing };
        let own = counted(self.engine, &self.request.select)?;
        let delta = text_delta(terms, &new, everything, own.as_deref())?;
        let own = own.as_deref().map(|own| Allowed { keep: Some(own), drop: &new.gone });
        match index.good() {
            Some(index) => index.ask(|index| text::rarity(Some(index), &delta, terms, own)),
            None => text::rarity(None, &delta, terms, own),
        }
    }
}

/// Neighbours of the hits in their documents.
#[derive(Default)]
struct Neighbours {
    /// Positions of hits and their neighbours in their document.
    places: HashMap<RowId, u32>,
    /// Neighbours that are not hits, each with the score of the best hit beside it.
    items: Vec<(Item, f32)>,
}

fn neighbours(
    engine: &Engine,
    visibility: &Visibility,
    request: &QueryRequest,
    hits: &[Hit],
) -> Result<Neighbours> {
    let mut found = Neighbours::default();
    let mut beside: Vec<(RowId, f32)> = Vec::new();
    for (at, hit) in hits.iter().enumerate().filter(|(_, hit)| hit.memory.kind == Kind::Chunk) {
        let reach = u32::from(at < WITH_NEIGHBOURS);
        for (place, row) in engine.store.around(hit.memory.row, reach)? {
            found.places.insert(row, place);
            let is_hit = hits.iter().any(|other| other.memory.row == row);
            if !is_hit && !beside.iter().any(|(other, _)| *other == row) {
                beside.push((row, hit.score));
            }
        }
    }
    if beside.is_empty() {
        return Ok(found);
    }
    let keep = engine.store.select(&request.select)?;
    let known = SessionTexts::of(engine, visibility, request)?;
    let rows: Vec<RowId> = beside.iter().map(|(row, _)| *row).collect();
    let items = engine.store.items(&rows)?.into_iter().zip(beside);
    found.items = items
        .filter_map(|(item, (_, score))| Some((item?, score)))
        .filter(|(item, _)| {
            may_stand_beside(item, keep.as_deref()) && !known.has(item) && admits(request, item)
        })
        .collect();
    Ok(found)
}

/// An item with the data that its citation needs.
struct Source<'a> {
    item: &'a Item,
    score: f32,
    position: Option<u32>,
    is_beside: bool,
    name: String,
    mark: Option<String>,
}

impl<'a> Source<'a> {
    fn new(item: &'a Item, score: f32, position: Option<&u32>, is_beside: bool) -> Self {
        let shown = ["source", "path"].into_iter().filter_map(|key| field(item, key));
        let path =
            if item.kind == Kind::Chunk { shown.into_iter().find(|path| !path.is_empty()) } else { None };
        let name = match (path, item.memory_type) {
            (Some(path), _) => path.to_owned(),
            (None, Some(memory_type)) => format!("{memory_type} {}", item.id),
            (None, None) => item.id.clone(),
        };
        let mark = item.provenance.mark(item.kind, item.status);
        Self { item, score, position: position.copied(), is_beside, name, mark }
    }

    /// Creates it from a hit. The citation says what became of the code that it names. Where a later memory may replace it,
    /// the citation says so, and when both were told.
    fn of_hit(hit: &'a Hit, position: Option<&u32>) -> Self {
        let mut source = Self::new(&hit.memory, hit.score, position, false);
        let remarks: Vec<String> = source.mark.into_iter().chain(remark(&hit.anchors)).collect();
        source.mark = (!remarks.is_empty()).then(|| remarks.join("; "));
        let Some(later) = &hit.perhaps_replaced_by else { return source };
        let day = |time: Timestamp| time.strftime("%Y-%m-%d").to_string();
        let (told, since) = (day(hit.memory.create_time), day(later.told));
        let note = format!("told {told}, perhaps replaced on {since} by {}", later.id);
        let mark = Some(source.mark.map_or(note.clone(), |mark| format!("{mark}; {note}")));
        Self { mark, ..source }
    }

    fn candidate(&self) -> RankedText<'_> {
        let item = self.item;
        let line = |at: usize| item.metadata.get("lines")?.get(at)?.as_u64();
        let lines = line(0).zip(line(1)).map(|(first, last)| (first as u32, last as u32));
        let is_code = item.kind == Kind::Chunk
            && field(item, "file_name").and_then(|name| name.rsplit_once('.')).is_some_and(
                |(_, extension)| LINES.binary_search(&extension.to_ascii_lowercase().as_str()).is_ok(),
            );
        RankedText {
            row: item.row,
            id: &item.id,
            document: self.position.and(field(item, "document")),
            position: self.position.unwrap_or(0),
            lines,
            source: &self.name,
            path: if item.kind == Kind::Chunk { field(item, "path") } else { None },
            heading: if item.kind == Kind::Chunk { field(item, "section_title") } else { None },
            mark: self.mark.as_deref(),
            is_code,
            is_beside: self.is_beside,
            score: self.score,
            content: &item.content,
        }
    }
}

fn field<'a>(item: &'a Item, key: &str) -> Option<&'a str> {
    item.metadata.get(key)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_code_is_sorted() {
        assert!(LINES.is_sorted());
    }
}
