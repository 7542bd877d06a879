//! Finds the memories that a new text may repeat, extend, replace or contradict: by vector and by words.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use crate::engine::Engine;
use crate::engine::languages::languages;
use crate::engine::query::plan::{Depth, Scope, Words};
use crate::engine::query::retrieve::{by_vector, text_channel};
use crate::error::Result;
use crate::item::{Change, Coverage, Kind, Profile, RowId, RowSet, Statistics, Status};
use crate::memory::analysis::Analysis;
use crate::request::{Clocks, Item};
use crate::store::{Namespace, NewVector};
use crate::vector::{ExactQuery, floats};

/// Number of memories that each search returns. A repeated text is among the first; after the tenth, texts have at most the
/// same subject.
pub(crate) const EACH: usize = 10;

/// Most namespaces whose rows are cached: 125 KB each in a store of a million rows.
const MOST_PLACES: usize = 16;

/// An existing memory, and how close its meaning is to that of the new text.
pub(crate) struct Neighbour {
    pub(crate) item: Item,
    /// Its text.
    pub(crate) text: Analysis,
    /// Cosine, the best of the memory and its wordings; `None` where one of the two has no vector.
    pub(crate) cosine: Option<f32>,
    /// Its other wordings that were found.
    wordings: Vec<Analysis>,
}

impl Neighbour {
    /// Creates a neighbour without other wordings.
    pub(crate) fn new(item: Item, text: Analysis, cosine: Option<f32>) -> Self {
        Self { item, text, cosine, wordings: Vec::new() }
    }

    /// Whether the memory, or a wording of it that was found, has a text but for its form.
    pub(crate) fn has_text(&self, told: &Analysis) -> bool {
        self.text.plain() == told.plain() || self.has_wording(told)
    }

    /// Whether a wording that was found has a text but for its form.
    pub(crate) fn has_wording(&self, told: &Analysis) -> bool {
        self.wordings.iter().any(|text| text.plain() == told.plain())
    }
}

/// Returns the rows of a namespace's memories, with any status; some of them may be gone. `newest` was read from the store
/// before.
fn rows_of(engine: &Engine, place: &Namespace, newest: &Coverage) -> Result<Arc<RowSet>> {
    let mut places = engine.caches.places.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = places.0.iter().position(|(one, ..)| one == place).map(|at| places.0.remove(at));
    let (place, mut rows, upto) = kept.unwrap_or_else(|| (place.clone(), Arc::default(), Change(0)));
    for row in engine.store.memories_of(&place, upto)? {
        Arc::make_mut(&mut rows).insert(row);
    }
    let found = Arc::clone(&rows);
    if places.0.len() == MOST_PLACES {
        places.0.remove(0);
    }
    places.0.push((place, rows, newest.change));
    Ok(found)
}

/// Returns memories that are candidate or active: first by meaning, then by words.
///
/// `newest` was read from the store before.
pub(crate) fn neighbours(
    engine: &Engine,
    place: &Namespace,
    content: &str,
    vector: Option<&NewVector>,
    newest: &Coverage,
) -> Result<Vec<Neighbour>> {
    // A damaged index does not prevent that a memory is kept.
    engine.indexes.again(|| neighbours_once(engine, place, content, vector, newest))
}

fn neighbours_once(
    engine: &Engine,
    place: &Namespace,
    content: &str,
    vector: Option<&NewVector>,
    newest: &Coverage,
) -> Result<Vec<Neighbour>> {
    let keep = rows_of(engine, place, newest)?;
    if keep.is_empty() {
        return Ok(Vec::new());
    }
    let in_place = |item: &Item| {
        item.collection == place.collection && item.scope == place.scope && item.owner == place.owner
    };
    nearest(engine, &keep, &in_place, content, vector, newest)
}

/// Returns the memories among some rows that are candidate or active, first by meaning, then by words, as far as `is_wanted` accepts
/// them.
///
/// `newest` was read from the store before.
pub(crate) fn nearest(
    engine: &Engine,
    keep: &RowSet,
    is_wanted: &dyn Fn(&Item) -> bool,
    content: &str,
    vector: Option<&NewVector>,
    newest: &Coverage,
) -> Result<Vec<Neighbour>> {
    let mut hidden = engine.caches.hidden(&*engine.store, newest, Clocks::default())?;
    let worded = engine.caches.wordings(&*engine.store, newest)?;
    worded.limit(Clocks::default(), &mut None, &mut hidden);
    let scope = Scope {
        keep: Some(keep),
        hidden: &hidden,
        profile: Profile::Bower,
        depth: Depth::Rows(EACH),
        newest,
        counted: (engine.settings.statistics == Statistics::Own).then_some(keep),
    };
    let mut rows: Vec<RowId> = Vec::new();
    if let Some(vector) = vector {
        let near =
            by_vector(engine, vector.model.clone(), floats(&vector.half), None, &scope, EACH, &mut drop)?;
        rows.extend(near.rows.iter().map(|hit| hit.row));
    }
    let words = Words::of(content, &languages(engine, scope.newest, scope.counted)?);
    if !words.terms.is_empty() {
        rows.extend(text_channel(engine, &words, &scope, &mut drop)?.rows.iter().map(|hit| hit.row));
    }
    let mut seen = RowSet::new();
    rows.retain(|&row| seen.insert(row));
    let cosines = cosines(engine, vector, &rows)?;
    let stands = |item: &Item| {
        item.kind == Kind::Memory
            && matches!(item.status, Status::Candidate | Status::Active)
            && is_wanted(item)
    };
    let mut found: Vec<(RowId, Option<f32>, Option<RowId>)> = Vec::with_capacity(rows.len());
    for (&row, cosine) in rows.iter().zip(cosines) {
        let memory = worded.memory(row);
        found.push((memory.unwrap_or(row), cosine, memory.map(|_| row)));
    }
    joined(engine, &found, stands)
}

/// Loads the memories that were found, each once, in the order of `found`: a row, its cosine, and the wording that found it.
fn joined(
    engine: &Engine,
    found: &[(RowId, Option<f32>, Option<RowId>)],
    stands: impl Fn(&Item) -> bool,
) -> Result<Vec<Neighbour>> {
    let mut places: HashMap<RowId, usize> = HashMap::new();
    let mut memories: Vec<(RowId, Option<f32>)> = Vec::new();
    for &(row, cosine, _) in found {
        let at = *places.entry(row).or_insert_with(|| {
            memories.push((row, None));
            memories.len() - 1
        });
        // `None` is less than every cosine.
        let best = &mut memories[at].1;
        *best = if *best < cosine { cosine } else { *best };
    }
    let wordings: Vec<(usize, RowId)> =
        found.iter().filter_map(|(row, _, wording)| Some((places[row], (*wording)?))).collect();
    let rows: Vec<RowId> =
        memories.iter().map(|(row, _)| *row).chain(wordings.iter().map(|(_, row)| *row)).collect();
    let mut items = engine.store.items(&rows)?;
    let texts = items.split_off(memories.len());
    let mut near: Vec<Option<Neighbour>> = items
        .into_iter()
        .zip(&memories)
        .map(|(item, (_, cosine))| {
            let item = item.filter(&stands)?;
            let text = Analysis::of(&item.content);
            Some(Neighbour { item, text, cosine: *cosine, wordings: Vec::new() })
        })
        .collect();
    for ((at, _), text) in wordings.iter().zip(texts) {
        if let (Some(near), Some(text)) = (&mut near[*at], text) {
            near.wordings.push(Analysis::of(&text.content));
        }
    }
    Ok(near.into_iter().flatten().collect())
}

fn cosines(engine: &Engine, vector: Option<&NewVector>, rows: &[RowId]) -> Result<Vec<Option<f32>>> {
    let Some(vector) = vector else { return Ok(vec![None; rows.len()]) };
    let told = floats(&vector.half);
    let exact = ExactQuery::new(&told);
    let halves = engine.store.vectors(&vector.model, rows)?;
    Ok(halves.into_iter().map(|half| half.map(|half| exact.cosine_f16(&half))).collect())
}
