//! From hits to evidence: packs what fits a budget, knows what a session was already given, and remembers it after the
//! answer is out.

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};
use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::PoisonError;

use super::answer::{Ranking, best_effort, counted};
use super::indexes::covered;
use super::retrieve::text_tail;
use super::{Engine, LANGUAGE};
use crate::error::{Error, Result};
use crate::evidence::Evidence;
use crate::item::{
    Admission, Allowed, Kind, RowId, RowSet, Scope, Status, Visibility, derive_id, indexed_text,
};
use crate::rank::budget::{Candidate, Question, estimate_tokens, pack as pack_candidates};
use crate::rank::prefetch::{Background, Bar, Signals, passes};
use crate::request::{Hit, Item, QueryRequest, Selection};
use crate::store::Given;
use crate::text::analyze::{Analyzer, Purpose};
use crate::text::{self, QueryTerm, Rarity};

/// A smaller budget has no room for a citation and a sentence.
pub const LEAST_BUDGET: usize = 32;

/// No model reads more at once; a larger budget is a slip.
const MOST_BUDGET: usize = 1_000_000;

/// The hits whose neighbours in their document are loaded to fill what is left of the budget.
const WITH_NEIGHBOURS: usize = 5;

/// Exposures that wait to be written; who never writes them keeps the last.
const MOST_FRESH: usize = 1_000;

/// What stands in [`Evidence::counted_by`] where no model's tokenizer counted.
pub(super) const ESTIMATE: &str = "estimate";

/// File names that end so hold code or data: their lines are not put together into sentences.
const LINES: &[&str] = &[
    "bash", "c", "cc", "cfg", "clj", "conf", "cpp", "cs", "css", "csv", "cxx", "dart", "ex", "exs", "fish",
    "go", "gradle", "h", "hpp", "hs", "ini", "ipynb", "java", "js", "json", "jsonl", "jsx", "kt", "less",
    "lua", "m", "mjs", "ml", "nix", "php", "pl", "proto", "ps1", "py", "pyi", "r", "rb", "rs", "scala",
    "scss", "sh", "sql", "svelte", "swift", "tf", "toml", "ts", "tsv", "tsx", "vue", "xml", "yaml", "yml",
    "zig", "zsh",
];

/// The hash by which a text is known again: whoever stored it, however it is spaced.
fn text_hash(content: &str) -> i64 {
    let mut hash = Sha256::new();
    for word in content.split_whitespace() {
        hash.update(word.to_lowercase());
        hash.update(b" ");
    }
    let digest = hash.finalize();
    let (first, _) = digest.as_chunks::<8>();
    i64::from_le_bytes(first[0])
}

/// The texts that a session was given and has not lost.
#[derive(Debug, Default)]
pub(super) struct Known {
    hashes: HashSet<i64>,
}

impl Known {
    /// Those of the request's session; none where it names none.
    pub(super) fn of(engine: &Engine, visibility: &Visibility, request: &QueryRequest) -> Result<Self> {
        match session_of(visibility, request)? {
            Some(session) => Self::of_session(engine, &session),
            None => Ok(Self::default()),
        }
    }

    /// Those of a session by its whole name.
    pub(super) fn of_session(engine: &Engine, session: &str) -> Result<Self> {
        let kept = engine.store.given(session)?;
        let fresh = engine.fresh_given.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = fresh.iter().filter(|(other, _)| *other == session).flat_map(|(_, given)| given);
        let hashes = kept.iter().chain(fresh).map(|given| given.text_hash);
        Ok(Self { hashes: hashes.filter(|hash| *hash != Given::LOST).collect() })
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Whether the session has this text. An item that changed since has another.
    pub(super) fn has(&self, item: &Item) -> bool {
        self.has_text(&item.content)
    }

    /// Whether the session has this text.
    pub(super) fn has_text(&self, text: &str) -> bool {
        !self.hashes.is_empty() && self.hashes.contains(&text_hash(text))
    }
}

/// Notes what somebody is given, so that it is known again when it is told back. [`keep_given`] writes that down.
pub(super) fn note_shown(engine: &Engine, rows: impl Iterator<Item = RowId>, now: Timestamp) {
    let mut fresh = engine.fresh_exposed.lock().unwrap_or_else(PoisonError::into_inner);
    fresh.extend(rows.map(|row| (row, now)));
    let most = fresh.len().saturating_sub(MOST_FRESH);
    fresh.drain(..most);
}

/// Writes what answers gave since the last time, to sessions and at all. Best effort: a store that is busy or read-only keeps
/// nothing.
pub(super) fn keep_given(engine: &Engine, now: Timestamp) -> Result<()> {
    let exposed = std::mem::take(&mut *engine.fresh_exposed.lock().unwrap_or_else(PoisonError::into_inner));
    if !exposed.is_empty() {
        best_effort(engine.store.expose(&exposed))?;
    }
    let fresh = std::mem::take(&mut *engine.fresh_given.lock().unwrap_or_else(PoisonError::into_inner));
    let kept = SignedDuration::from_hours(24 * i64::from(engine.settings.session_days));
    let keep_after = now.checked_sub(kept).unwrap_or(Timestamp::MIN);
    for (session, given) in fresh {
        best_effort(engine.store.give(&session, &given, now, keep_after))?;
    }
    Ok(())
}

/// What answers gave before this time is not known again.
pub(super) fn echoes_since(engine: &Engine, now: Timestamp) -> Timestamp {
    let hours = SignedDuration::from_hours(i64::from(engine.settings.echo_hours));
    now.checked_sub(hours).unwrap_or(Timestamp::MIN)
}

/// Checks what can be wrong with a request for evidence.
pub(super) fn check(request: &QueryRequest) -> Result<()> {
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

/// Packs the hits (best first) into the request's budget, where it names one, and notes for its session what is given:
/// the items that evidence was taken from, else all hits. [`keep_given`] writes that down.
///
/// What is left after the hits is filled with their neighbours in the document, as far as the request may see them.
/// Tokens are pieces of the local model's tokenizer, where a model takes part, else an estimate.
pub(super) fn pack(
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
        // Whatever counted the nothing that there is, it did not have to be opened for it.
        let counted_by = ESTIMATE.to_owned();
        return Ok(Some(Evidence { budget_tokens, counted_by, ..Evidence::default() }));
    }
    let (terms, rarity) = terms.get()?;
    let weights = rarity.weights();
    let neighbours = neighbours(engine, visibility, request, hits)?;
    let sources: Vec<Source> = hits
        .iter()
        .map(|hit| Source::new(&hit.memory, hit.score, neighbours.places.get(&hit.memory.row), false))
        .chain(
            neighbours
                .items
                .iter()
                .map(|(item, score)| Source::new(item, *score, neighbours.places.get(&item.row), true)),
        )
        .collect();
    let candidates: Vec<Candidate<'_>> = sources.iter().map(Source::candidate).collect();

    let wanted = places(terms);
    let analyzer = RefCell::new(Analyzer::new(LANGUAGE));
    let marks = |text: &str, marks: &mut Vec<(usize, usize)>| {
        analyzer.borrow_mut().each(text, Purpose::Index, |found| {
            marks.extend(wanted.get(found.term).map(|&nth| (found.at.start, nth)));
            ControlFlow::Continue(())
        });
        // The parts of a compound may come after the whole.
        marks.sort_unstable();
    };
    let question = Question { marks: &marks, weights: &weights };
    let embedder = if request.fast { None } else { engine.model.get().ok() };
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

/// The session's name: of those who name a scope or an owner, each has sessions of its own, for "already given" tells that
/// somebody else was given it.
fn session_of(visibility: &Visibility, request: &QueryRequest) -> Result<Option<String>> {
    let Some(session) = &request.session else { return Ok(None) };
    let Selection { scope, owner, .. } = &request.select;
    Ok(Some(session_name(session, &visibility.narrowed(*scope, owner.as_deref())?)))
}

/// The same of a session of a caller. Each part of what the caller may see is told apart from the others.
pub(super) fn session_name(session: &str, visibility: &Visibility) -> String {
    if visibility.is_everything() {
        return session.to_owned();
    }
    let scope = visibility.scope.map_or("", Scope::word);
    let owner = visibility.owner.as_deref().unwrap_or_default();
    match &visibility.collections {
        None => format!("{scope}\u{1f}{owner}\u{1f}{session}"),
        Some(names) => {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            format!("{scope}\u{1f}{owner}\u{1f}{}\u{1f}{session}", derive_id(&names))
        }
    }
}

/// What a session was asked has a name of its own: a question is not the memory that it is about.
pub(super) fn questions_of(session: &str) -> String {
    format!("{session}\u{1f}?")
}

fn note_given<'a>(
    engine: &Engine,
    visibility: &Visibility,
    request: &QueryRequest,
    items: impl Iterator<Item = &'a Item>,
) -> Result<()> {
    if let Some(session) = session_of(visibility, request)? {
        note_given_to(engine, session, items.map(|item| (item.row, item.content.as_str())));
    }
    Ok(())
}

/// Notes which texts a session is given, by its whole name, and the row that each is of.
pub(super) fn note_given_to(
    engine: &Engine,
    session: String,
    texts: impl Iterator<Item = (RowId, impl AsRef<str>)>,
) {
    let given = |(row, text): (RowId, _)| Given { row, text_hash: text_hash(AsRef::as_ref(&text)) };
    let given: Vec<Given> = texts.map(given).collect();
    if !given.is_empty() {
        let mut fresh = engine.fresh_given.lock().unwrap_or_else(PoisonError::into_inner);
        fresh.push((session, given));
    }
}

/// Whether a request may be given an item: one that nobody asked is given nothing from outside before somebody kept it.
pub(super) fn admits(request: &QueryRequest, item: &Item) -> bool {
    !request.prefetch || item.provenance.admission(item.kind, item.status) != Admission::Held
}

/// Applies the bar for what nobody asked for, where the request says that nobody did; how many hits it held back.
pub(super) fn hold_back(
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
            .map(|background| Background::of(background.rows, background.mean, background.deviation()));
        let bar = Bar { rows: rarity.rows, having: &rarity.having, background };
        let mut having = HavingTerms::new(terms);
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

/// Which of the question's terms an item has, in its title and headings too.
struct HavingTerms<'a> {
    wanted: HashMap<&'a str, usize>,
    analyzer: Analyzer,
}

impl<'a> HavingTerms<'a> {
    fn new(terms: &'a [QueryTerm]) -> Self {
        Self { wanted: places(terms), analyzer: Analyzer::new(LANGUAGE) }
    }

    fn of(&mut self, item: &Item) -> Vec<usize> {
        let title = if item.kind == Kind::Chunk { Some(item.summary.as_str()) } else { None };
        let text = indexed_text(title, field(item, "section_title"), &item.content);
        let mut terms = Vec::new();
        self.analyzer.each(&text, Purpose::Index, |found| {
            terms.extend(self.wanted.get(found.term).copied());
            ControlFlow::Continue(())
        });
        terms.sort_unstable();
        terms.dedup();
        terms
    }
}

/// Where each term stands in the question.
fn places(terms: &[QueryTerm]) -> HashMap<&str, usize> {
    terms.iter().enumerate().map(|(nth, term)| (term.term.as_str(), nth)).collect()
}

/// The question's terms and how rare they are in this store: counted once, when a budget or the bar first asks, because
/// the whole tail is read for it.
pub(super) struct Terms<'a> {
    engine: &'a Engine,
    request: &'a QueryRequest,
    counted: OnceCell<(Vec<QueryTerm>, Rarity)>,
}

impl<'a> Terms<'a> {
    pub(super) fn of(engine: &'a Engine, request: &'a QueryRequest) -> Self {
        Self { engine, request, counted: OnceCell::new() }
    }

    fn get(&self) -> Result<&(Vec<QueryTerm>, Rarity)> {
        if let Some(counted) = self.counted.get() {
            return Ok(counted);
        }
        let terms = text::query_terms(&self.request.text, LANGUAGE);
        let rarity = self.engine.indexes.again(|| self.rarity(&terms))?;
        Ok(self.counted.get_or_init(|| (terms, rarity)))
    }

    fn rarity(&self, terms: &[QueryTerm]) -> Result<Rarity> {
        let store = &*self.engine.store;
        let newest = store.coverage()?;
        let index = self.engine.indexes.text(store)?;
        let new = self.engine.tails.text(store, &newest, covered(&index))?;
        let nothing = RowSet::new();
        let everything = Allowed { keep: None, drop: &nothing };
        let own = counted(self.engine, &self.request.select)?;
        let tail = text_tail(terms, &[], &new, everything, own.as_deref())?;
        let own = own.as_deref().map(|own| Allowed { keep: Some(own), drop: &new.gone });
        match index.good() {
            Some(index) => index.ask(|index| text::rarity(Some(index), &tail, terms, own)),
            None => text::rarity(None, &tail, terms, own),
        }
    }
}

/// What stands beside the hits.
#[derive(Default)]
struct Neighbours {
    /// Where hits and their neighbours stand in their document.
    places: HashMap<RowId, u32>,
    /// Neighbours that are no hits, each with the score of the best hit beside it.
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
    let known = Known::of(engine, visibility, request)?;
    let rows: Vec<RowId> = beside.iter().map(|(row, _)| *row).collect();
    let items = engine.store.items(&rows)?.into_iter().zip(beside);
    found.items = items
        .filter_map(|(item, (_, score))| Some((item?, score)))
        .filter(|(item, _)| match &keep {
            Some(keep) => keep.contains(item.row),
            None => matches!(item.status, Status::Candidate | Status::Active),
        })
        .filter(|(item, _)| !item.damaged && !known.has(item) && admits(request, item))
        .collect();
    Ok(found)
}

/// An item with what its citation needs.
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

    fn candidate(&self) -> Candidate<'_> {
        let item = self.item;
        let line = |at: usize| item.metadata.get("lines")?.get(at)?.as_u64();
        let lines = line(0).zip(line(1)).map(|(first, last)| (first as u32, last as u32));
        let is_code = item.kind == Kind::Chunk
            && field(item, "file_name").and_then(|name| name.rsplit_once('.')).is_some_and(
                |(_, extension)| LINES.binary_search(&extension.to_ascii_lowercase().as_str()).is_ok(),
            );
        Candidate {
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
    fn a_text_is_known_again_however_it_is_spaced() {
        // printf 'ports are 8080. ' | sha256sum | cut -c1-16, read as a little-endian number.
        assert_eq!(text_hash("Ports are 8080."), 7_444_010_604_583_644_254);
        assert_eq!(text_hash("Ports  are\n8080."), text_hash("ports are 8080."));
        assert_ne!(text_hash("ports are 8080."), text_hash("ports are 9090."));
    }

    #[test]
    fn the_list_of_code_is_sorted() {
        assert!(LINES.is_sorted());
    }
}
