//! The memories that a told text could repeat, extend, replace or deny: those of its place, by slot, by meaning and by words.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;

use super::Engine;
use super::answer::{Depth, hidden};
use super::retrieve::{Scope, Words, by_vector, text_channel};
use crate::embed::Embedder;
use crate::error::Result;
use crate::item::{Coverage, Kind, Profile, RowId, RowSet, Statistics, Status};
use crate::memory::merge::Kept;
use crate::memory::said::Said;
use crate::request::{Clocks, Item};
use crate::store::{NewVector, Place};
use crate::vector::{ExactQuery, floats};

/// Memories that each way of finding gives. A text that is told again stands in the first places; what comes after the tenth
/// has to do with the same subject at most.
const EACH: usize = 10;

/// Memories of the same names.
const OF_THING: usize = 40;

/// So many texts are compared without their names and values for one that is told, the nearest first: a millisecond of the model
/// each, where it has not seen them lately.
const MOST_MASKED: usize = 16;

/// Masked texts whose vectors are kept between writes, 2 kB each: what is told alike is alike without its names and values, and
/// asks for the same ones again.
const KEPT_MASKED: NonZeroUsize = NonZeroUsize::new(1_024).unwrap();

/// Places whose rows are kept: 125 KB each in a store of a million rows.
const MOST_PLACES: usize = 16;

/// A memory that is there, and how close its meaning is to the text's.
pub(super) struct Neighbour {
    pub(super) item: Item,
    /// Cosine; `None` where one of the two has no vector.
    pub(super) cosine: Option<f32>,
}

/// The rows of some places, as far as they were read: rows are never used again, so only newer ones are read.
#[derive(Debug, Default)]
pub(super) struct Places(Vec<(Place, Arc<RowSet>, RowId)>);

/// The rows of a place's memories, whatever their status; some of them may be gone.
fn rows_of(engine: &Engine, place: &Place) -> Result<Arc<RowSet>> {
    let mut places = engine.places.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = places.0.iter().position(|(one, ..)| one == place).map(|at| places.0.remove(at));
    let (place, mut rows, mut last) = kept.unwrap_or_else(|| (place.clone(), Arc::default(), RowId(0)));
    for row in engine.store.memories_of(&place, last)? {
        Arc::make_mut(&mut rows).insert(row);
        last = row;
    }
    let found = Arc::clone(&rows);
    if places.0.len() == MOST_PLACES {
        places.0.remove(0);
    }
    places.0.push((place, rows, last));
    Ok(found)
}

/// Memories that are candidate or active, nearest first: those of the slot, then by meaning, then by words.
///
/// `newest` was read from the store before.
pub(super) fn neighbours(
    engine: &Engine,
    place: &Place,
    content: &str,
    said: &Said,
    vector: Option<&NewVector>,
    newest: &Coverage,
) -> Result<Vec<Neighbour>> {
    // Who meets a damaged index keeps what he was told all the same.
    engine.indexes.again(|| neighbours_once(engine, place, content, said, vector, newest))
}

fn neighbours_once(
    engine: &Engine,
    place: &Place,
    content: &str,
    said: &Said,
    vector: Option<&NewVector>,
    newest: &Coverage,
) -> Result<Vec<Neighbour>> {
    let keep = rows_of(engine, place)?;
    if keep.is_empty() {
        return Ok(Vec::new());
    }
    let hidden = hidden(engine, newest, Clocks::default())?;
    let scope = Scope {
        keep: Some(&keep),
        hidden: &hidden,
        profile: Profile::Bower,
        depth: Depth::Rows(EACH),
        newest,
        counted: (engine.settings.statistics == Statistics::Own).then_some(&*keep),
    };
    let slot = said.slot.as_ref().map(|slot| slot.key.as_str());
    let mut rows: Vec<RowId> = slot.map_or(Ok(Vec::new()), |slot| engine.store.in_slot(place, slot, EACH))?;
    if let Some(vector) = vector {
        let near =
            by_vector(engine, vector.model.clone(), floats(&vector.half), None, &scope, EACH, &mut drop)?;
        rows.extend(near.rows.iter().map(|hit| hit.row));
    }
    let words = Words::of(content);
    if !words.terms.is_empty() {
        rows.extend(text_channel(engine, &words, &scope, &mut drop)?.rows.iter().map(|hit| hit.row));
    }
    // What is told of a thing is mostly known of it in other words, which neither the vector nor the words find first.
    let names = Words::of(&said.frame.names().collect::<Vec<_>>().join(" "));
    if !names.terms.is_empty() {
        let scope = Scope { depth: Depth::Rows(OF_THING), ..scope };
        rows.extend(text_channel(engine, &names, &scope, &mut drop)?.rows.iter().map(|hit| hit.row));
    }
    let mut seen = RowSet::new();
    rows.retain(|&row| seen.insert(row));
    let cosines = cosines(engine, vector, &rows)?;
    let stands = |item: &Item| {
        item.kind == Kind::Memory
            && matches!(item.status, Status::Candidate | Status::Active)
            && item.collection == place.collection
            && item.scope == place.scope
            && item.owner == place.owner
    };
    let items = engine.store.items(&rows)?.into_iter().zip(cosines);
    Ok(items.filter_map(|(item, cosine)| Some(Neighbour { item: item.filter(stands)?, cosine })).collect())
}

/// The vectors of masked texts that were made last, by text: an engine has one model.
#[derive(Debug)]
pub(super) struct Masked(Mutex<LruCache<String, Arc<[f32]>>>);

impl Default for Masked {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(KEPT_MASKED)))
    }
}

impl Masked {
    /// The vector of a text, from the model where it is not kept; `None` where the model fails.
    fn vector(&self, embedder: &dyn Embedder, text: &str) -> Option<Arc<[f32]>> {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(vector) = kept().get(text) {
            return Some(Arc::clone(vector));
        }
        // Not locked meanwhile: others do not wait for the model, and two that want the same make it twice.
        let vector: Arc<[f32]> = embedder.embed(text).ok()?.into();
        kept().put(text.to_owned(), Arc::clone(&vector));
        Some(vector)
    }
}

/// The vectors of the masked texts of one that is told.
#[derive(Debug, Default)]
pub(super) struct Likenesses(HashMap<String, Option<Arc<[f32]>>>);

impl Likenesses {
    /// Gives memories the likeness of what is asked; the nearest first, as far as it may cost. What is kept counts as if it were
    /// made: a decision does not depend on what was told before.
    pub(super) fn give(&mut self, engine: &Engine, asked: &[Option<[String; 2]>], kept: &mut [Kept<'_>]) {
        let Ok(embedder) = engine.model.get() else { return };
        let mut order: Vec<usize> = (0..kept.len()).filter(|&at| asked[at].is_some()).collect();
        order.sort_by(|&one, &two| {
            kept[two].cosine.unwrap_or(0.0).total_cmp(&kept[one].cosine.unwrap_or(0.0))
        });
        for at in order {
            let Some(texts) = &asked[at] else { continue };
            let fresh = texts.iter().filter(|text| !self.0.contains_key(*text)).count();
            if self.0.len() + fresh > MOST_MASKED {
                continue;
            }
            for text in texts {
                self.0.entry(text.clone()).or_insert_with(|| engine.masked.vector(embedder, text));
            }
            let vectors = [&texts[0], &texts[1]].map(|text| self.0[text].as_deref());
            if let [Some(one), Some(two)] = vectors {
                kept[at].likeness = Some(one.iter().zip(two).map(|(one, two)| one * two).sum());
            }
        }
    }
}

fn cosines(engine: &Engine, vector: Option<&NewVector>, rows: &[RowId]) -> Result<Vec<Option<f32>>> {
    let Some(vector) = vector else { return Ok(vec![None; rows.len()]) };
    let told = floats(&vector.half);
    let exact = ExactQuery::new(&told);
    let halves = engine.store.vectors(&vector.model, rows)?;
    Ok(halves.into_iter().map(|half| half.map(|half| exact.cosine_f16(&half))).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A model that counts how often it is asked.
    #[derive(Default)]
    struct Counts(AtomicUsize);

    impl Embedder for Counts {
        fn model(&self) -> &'static str {
            "counts"
        }

        fn dimension(&self) -> usize {
            1
        }

        fn embed(&self, _: &str) -> Result<Vec<f32>> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(vec![1.0])
        }

        fn count_pieces(&self, text: &str) -> Result<usize> {
            Ok(text.len())
        }
    }

    #[test]
    fn a_masked_text_is_embedded_once_and_the_oldest_is_dropped() {
        let (model, masked) = (Counts::default(), Masked::default());
        let asked = || model.0.load(Ordering::Relaxed);
        for _ in 0..3 {
            masked.vector(&model, "the port of it is some number").unwrap();
        }
        assert_eq!(asked(), 1);
        for at in 0..KEPT_MASKED.get() {
            masked.vector(&model, &format!("text {at}")).unwrap();
        }
        assert_eq!(masked.0.lock().unwrap().len(), KEPT_MASKED.get());
        let before = asked();
        masked.vector(&model, "the port of it is some number").unwrap();
        assert_eq!(asked(), before + 1);
    }
}
