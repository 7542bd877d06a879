//! Caches the deltas as this process last read them: a question reads only what was written since the last one.
//!
//! A cached delta has the store's last change. It is used while that is still the last change. It is updated if the store
//! confirms that change as a part of its history, and read anew otherwise. Every committed change is in the next answer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::engine::mentions;
use crate::error::Result;
use crate::graph::{EntityOrder, MentionDelta};
use crate::item::{Change, Coverage, RowId, RowSet};
use crate::store::{DeltaText, Store};
use crate::text::{self, Language};

/// Most rows of a cached delta; a longer one is read for each question. This many rows take some 12 MB with their vectors.
/// Compaction usually happens long before.
const MOST_ROWS: usize = 8_192;

/// Rows that are newer than an index.
#[derive(Clone, Debug)]
pub(crate) struct NewRows {
    /// Last change of the index.
    after: Change,
    /// Coverage of the store when the rows were read.
    upto: Coverage,
    /// Rows of the index that were changed or removed, and all new rows.
    pub(crate) gone: RowSet,
    /// Contents of the new rows: terms by [`text::encode_terms`], half floats, or mentions.
    pub(crate) rows: BTreeMap<RowId, Arc<[u8]>>,
    /// Mentions by entity, once a question asked for them.
    by_entity: OnceLock<EntityOrder>,
}

impl NewRows {
    /// Returns the languages of texts in the rows, or in some of them, other than English, with the number of texts.
    pub(crate) fn languages(&self, among: Option<&RowSet>) -> BTreeMap<Language, u64> {
        let mut languages = BTreeMap::new();
        for (row, blob) in &self.rows {
            let language = text::language_in(blob);
            if language != Language::English && among.is_none_or(|among| among.contains(*row)) {
                *languages.entry(language).or_default() += 1;
            }
        }
        languages
    }

    /// Returns the mentions that the new rows hold.
    pub(crate) fn as_mentions(&self) -> MentionDelta<'_> {
        let by_entity = self.by_entity.get_or_init(|| EntityOrder::of(&self.rows));
        MentionDelta { rows: &self.rows, by_entity }
    }
}

/// The delta of one index, with the index's name where there are several.
type Slot = Mutex<Option<(String, Arc<NewRows>)>>;

/// Deltas that are kept between questions.
#[derive(Debug, Default)]
pub(crate) struct Deltas {
    text: Slot,
    vectors: Slot,
    mentions: Slot,
}

impl Deltas {
    /// Returns the terms of rows whose text is newer than a change. `newest` was read from the store before.
    pub(crate) fn text(&self, store: &dyn Store, newest: &Coverage, after: Change) -> Result<Arc<NewRows>> {
        kept(
            &self.text,
            store,
            newest,
            ("", after),
            |store, since, upto| store.gone(since, upto),
            |since, rows| {
                let mut old = Vec::new();
                store.delta_texts(since, &mut |row, text| match text {
                    DeltaText::Terms(blob) if text::is_whole(blob) => {
                        rows.insert(row, blob.into());
                    }
                    // Written by an older version, or damaged.
                    DeltaText::Terms(_) => old.push(row),
                    DeltaText::Text(text) => {
                        rows.insert(row, text::encode_terms(&text).into());
                    }
                })?;
                for text in store.texts(&old)? {
                    rows.insert(text.row, text::encode_terms(&text.text).into());
                }
                Ok(())
            },
        )
    }

    /// Returns the encoded mentions of rows whose text is newer than a change. `newest` was read from the store before.
    pub(crate) fn mentions(
        &self,
        store: &dyn Store,
        newest: &Coverage,
        after: Change,
    ) -> Result<Arc<NewRows>> {
        kept(&self.mentions, store, newest, ("", after), mentions::gone, |since, rows| {
            let new = mentions::changed_rows(store, since, Change(u64::MAX >> 1))?;
            rows.extend(mentions::of_rows(store, &new)?.into_iter().map(|(row, bytes)| (row, bytes.into())));
            Ok(())
        })
    }

    /// Returns the vectors of a model that are newer than a change. `newest` was read from the store before.
    pub(crate) fn vectors(
        &self,
        store: &dyn Store,
        newest: &Coverage,
        model: &str,
        after: Change,
    ) -> Result<Arc<NewRows>> {
        kept(
            &self.vectors,
            store,
            newest,
            (model, after),
            |store, since, upto| store.gone(since, upto),
            |since, rows| {
                store.delta_vectors(model, since, &mut |row, half| {
                    rows.insert(row, half.into());
                })?;
                Ok(())
            },
        )
    }
}

/// Returns the rows newer than `after`, using those of the slot where they are still valid. `gone` reads the rows that the
/// index must not find any more, and `read` adds all rows newer than a change. These may be newer than `newest`; then they are read again the next time.
fn kept(
    slot: &Slot,
    store: &dyn Store,
    newest: &Coverage,
    (name, after): (&str, Change),
    gone: impl FnOnce(&dyn Store, Change, Change) -> Result<RowSet>,
    read: impl FnOnce(Change, &mut BTreeMap<RowId, Arc<[u8]>>) -> Result<()>,
) -> Result<Arc<NewRows>> {
    let mut kept = slot.lock().unwrap_or_else(PoisonError::into_inner);
    let known = kept.take().map(|(of, rows)| (of == name && rows.after == after, rows));
    let mut new = match known {
        Some((true, rows)) if rows.upto == *newest => {
            *kept = Some((name.to_owned(), Arc::clone(&rows)));
            return Ok(rows);
        }
        Some((true, rows)) if rows.upto.change <= newest.change && store.confirms(&rows.upto)? => {
            Arc::unwrap_or_clone(rows)
        }
        Some(_) | None => {
            // The index may be newer than `newest`, which was read before the index was opened.
            let upto = Coverage { change: after, ..newest.clone() };
            NewRows { after, upto, gone: RowSet::new(), rows: BTreeMap::new(), by_entity: OnceLock::new() }
        }
    };
    new.by_entity.take();
    let since = new.upto.change;
    let gone = gone(store, since, newest.change)?;
    for row in gone.iter() {
        new.rows.remove(&row);
    }
    new.gone.add_all(&gone);
    read(since, &mut new.rows)?;
    if newest.change >= since {
        new.upto = newest.clone();
    }
    let new = Arc::new(new);
    if new.rows.len() <= MOST_ROWS && new.upto == *newest {
        *kept = Some((name.to_owned(), Arc::clone(&new)));
    }
    Ok(new)
}
