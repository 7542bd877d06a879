//! Reports the state of a store without changing it: counts for `status`, examinations for `doctor`.

use std::path::Path;

use crate::embed::{Embedder, SentenceEncoder};
use crate::engine::Engine;
use crate::engine::indexes::{Derived, IndexState, covered};
use crate::engine::languages;
use crate::engine::late::missing_codes;
use crate::engine::maintain::conflicts::canonical_check;
use crate::engine::maintain::lifecycle::held;
use crate::engine::maintain::links::link_check;
use crate::engine::maintain::worker::worker_status;
use crate::engine::vector_cache::cache_status;
use crate::error::{Error, Result};
use crate::graph::GraphIndex;
use crate::item::{Change, Kind, MemoryType, RowId, RowSet, Visibility};
use crate::request::{Check, ModelState, Selection, StatusReport, VisibleStatus};
use crate::store::Store;
use crate::text::TextIndex;
use crate::tokens::TokenIndex;
use crate::vector::VectorIndex;

fn status(engine: &Engine) -> Result<StatusReport> {
    engine.indexes.again(|| status_once(engine))
}

fn status_once(engine: &Engine) -> Result<StatusReport> {
    let store = &*engine.store;
    let model = engine.model.state();
    let identity = engine.model.get().map_or("", |embedder| embedder.model());
    let newest = store.coverage()?.change;
    let text = engine.indexes.text(store)?;
    let vector = engine.indexes.vector(identity, store)?;
    let text_delta = store.text_rows(covered(&text), newest)?.len() as u64;
    let newer = store.vector_rows(identity, covered(&vector), newest)?;
    let vector_delta = newer.len() as u64;
    // An index has counted its rows; the store goes through all of them to count.
    let indexed = vector.ask(|index| {
        let gone = store.gone(index.coverage().change, newest)?;
        Ok(present(index.len(), |rows| index.count(rows), &newer, &gone))
    })?;
    let embedded = indexed.map_or_else(|| store.embedded(identity), Ok)?;
    let counts = store.counts()?;
    let languages = languages::counts(engine)?;
    let (token_delta, tokens_sound, uncoded) = match engine.model.get() {
        Ok(embedder) => tokens_status(engine, embedder, newest, indexed)?,
        Err(_) => (0, true, 0),
    };
    let tier = match (vector.ask(|index| Ok(index.tier()))?, vector_delta, embedded) {
        (Some(tier), _, _) => tier.word().to_owned(),
        (None, _, 0) => "none".to_owned(),
        (None, _, _) => "tail".to_owned(),
    };
    Ok(StatusReport {
        total_memories: counts.memories,
        total_chunks: counts.chunks,
        total_documents: counts.documents,
        total_size_bytes: store.size_bytes()? + folder_bytes(engine.indexes.folder()),
        by_type: counts.by_type,
        by_collection: counts.by_collection,
        avg_importance: counts.avg_importance,
        index_healthy: !is_unusable(&text)
            && !is_unusable(&vector)
            && !is_unusable(&engine.indexes.graph(store)?)
            && tokens_sound,
        db_path: store.files().into_iter().next().unwrap_or_default(),
        vector_index_tier: tier,
        schema: store.schema(),
        change: newest.0,
        text_delta,
        vector_delta,
        token_delta,
        uncoded,
        unembedded: (counts.memories + counts.chunks).saturating_sub(embedded),
        unknown_languages: languages::unknown(engine, &languages)
            .map(|unknown| format!("{unknown}: {}", languages::REMEDY)),
        languages,
        model,
        cache: cache_status(engine)?,
        worker: worker_status(engine),
        scopes: held(engine)?,
        last_runs: store.last_runs()?,
        losses: store.losses()?,
    })
}

/// Returns the number of rows with codes that are not compacted yet, and whether the index is sound. The third value is the
/// number of items with a vector and no codes. `vectors` is the number of items with a vector, if an index has counted it.
fn tokens_status(
    engine: &Engine,
    embedder: &dyn Embedder,
    newest: Change,
    vectors: Option<u64>,
) -> Result<(u64, bool, u64)> {
    let Some(scheme) = embedder.tokens() else { return Ok((0, true, 0)) };
    let found = engine.indexes.tokens(scheme, &*engine.store)?;
    let newer = engine.store.code_rows(scheme, covered(&found), newest)?;
    // Codes are computed with their vector, in one pass. So a row that has codes has a vector, and the difference is the
    // number without codes. Comparing row by row takes 10 ms for 100,000 rows.
    let coded = found.ask(|index| {
        let gone = engine.store.gone(index.coverage().change, newest)?;
        Ok(present(index.len(), |rows| index.count(rows), &newer, &gone))
    })?;
    let uncoded = match (vectors, coded) {
        (Some(vectors), Some(coded)) => vectors.saturating_sub(coded),
        (None, _) | (_, None) => missing_codes(engine, embedder)?.len() as u64,
    };
    Ok((newer.len() as u64, !is_unusable(&found), uncoded))
}

/// Returns the number of rows of an index and its delta together. `indexed` is the number of rows that the index can find,
/// and `count` counts some of them. `newer` are the delta's rows; `gone` are those that a compaction would remove.
fn present(indexed: usize, count: impl FnOnce(&RowSet) -> usize, newer: &[RowId], gone: &RowSet) -> u64 {
    let stale: RowSet = gone.iter().chain(newer.iter().copied()).collect();
    (indexed - count(&stale) + newer.len()) as u64
}

fn is_unusable<T: Derived>(found: &IndexState<T>) -> bool {
    found.unusable().is_some()
}

fn folder_bytes(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => folder_bytes(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}

fn store_check(store: &dyn Store) -> Check {
    match store.verify() {
        Ok(findings) if findings.is_empty() => {
            Check::good("store", format!("schema {}, every page is sound", store.schema()))
        }
        Ok(findings) => Check::bad("store", findings.join("; "), "restore memory.db from a backup"),
        Err(error) => Check::bad("store", error.to_string(), "restore memory.db from a backup"),
    }
}

fn index_check<T: Derived>(
    name: &str,
    found: &IndexState<T>,
    store: &dyn Store,
    verify: impl FnOnce(&T) -> Result<()>,
) -> Check {
    const REBUILD: &str = "nothing is lost: the next bower index or curate builds it anew";
    match found {
        IndexState::Absent => Check::good(name, "none yet: everything is searched directly"),
        IndexState::Unusable(reason) => Check::weak(name, reason.clone(), REBUILD),
        // This puts a damaged index aside, and the next compaction rebuilds it.
        IndexState::Good(index) => match index.ask(verify) {
            Ok(()) => {
                let newest = store.coverage().map_or(0, |coverage| coverage.change.0);
                Check::good(name, format!("holds change {} of {newest}", covered(found).0))
            }
            Err(error) => Check::bad(name, error.to_string(), REBUILD),
        },
    }
}

impl Engine {
    /// Reads all of the packed model. A service is not asked: a check costs nothing.
    fn model_check(&self, embedder: &dyn Embedder) -> Result<Check> {
        let Some(packed) = self.model.packed() else {
            return Ok(Check::good("model", format!("{} makes vectors at a service", embedder.model())));
        };
        let verified = SentenceEncoder::open(packed).and_then(|model| model.verify());
        let check = match &verified {
            Ok(()) => Check::good("model", format!("{} is whole", embedder.model())),
            Err(error) => Check::bad("model", error.to_string(), "run bower model pull"),
        };
        // This process no longer uses a damaged model.
        if matches!(verified, Err(Error::Model { .. })) {
            self.model.give(|_| verified)?;
        }
        Ok(check)
    }

    /// Returns counts, sizes and the state of the indexes.
    pub fn status(&self, visibility: &Visibility) -> Result<StatusReport> {
        visibility.check_everything("status")?;
        status(self)
    }

    /// Returns the status for a caller that sees a part of the store: counts of visible items, and nothing of the rest.
    pub fn visible_status(&self, visibility: &Visibility) -> Result<VisibleStatus> {
        let report = status(self)?;
        let within = Selection::default().within(visibility)?;
        let count = |select: Selection| Ok::<_, Error>(self.store.page(&select, 0, 0)?.1 as u64);
        let of_kind = |kind| Selection { kinds: vec![kind], ..within.clone() };
        let some = |counted: Result<(String, u64)>| {
            counted.map(|one| Some(one).filter(|(_, count)| *count > 0)).transpose()
        };
        let by_type = MemoryType::ALL.iter().map(|&memory_type| {
            let select = Selection { types: vec![memory_type], ..of_kind(Kind::Memory) };
            Ok((memory_type.to_string(), count(select)?))
        });
        let names = report.by_collection.into_keys().filter(|name| visibility.holds_collection(name));
        let by_collection = names.map(|name| {
            let select = Selection { collections: vec![name.clone()], ..within.clone() };
            Ok((name, count(select)?))
        });
        // The count of a scope includes all its collections, so a caller that sees only some of them does not get it.
        let mut scopes = if visibility.collections.is_none() { report.scopes } else { Vec::new() };
        let of_anything = Visibility { collections: None, ..visibility.clone() };
        scopes.retain(|held| of_anything.holds("", held.scope, held.owner.as_deref()));
        Ok(VisibleStatus {
            total_memories: count(of_kind(Kind::Memory))?,
            total_chunks: count(of_kind(Kind::Chunk))?,
            by_type: by_type.filter_map(some).collect::<Result<_>>()?,
            by_collection: by_collection.filter_map(some).collect::<Result<_>>()?,
            scopes,
            index_healthy: report.index_healthy,
            model: ModelState { reason: None, ..report.model },
        })
    }

    /// Returns the indexes (`text`, `graph`, `vectors`, `tokens`) that cannot be read and wait to be rebuilt, each with the reason.
    /// Until then the store answers, slowly.
    pub fn unusable_indexes(&self) -> Result<Vec<(&'static str, String)>> {
        let store = &*self.store;
        let mut unusable = Vec::new();
        let mut note = |name, reason: Option<&str>| unusable.extend(reason.map(|why| (name, why.to_owned())));
        note("text", self.indexes.text(store)?.unusable());
        note("graph", self.indexes.graph(store)?.unusable());
        if let Ok(embedder) = self.model.get() {
            note("vectors", self.indexes.vector(embedder.model(), store)?.unusable());
            if let Some(scheme) = embedder.tokens() {
                note("tokens", self.indexes.tokens(scheme, store)?.unusable());
            }
        }
        Ok(unusable)
    }

    /// Examines store, indexes and model, the links between documents, and what memories say beside canonical facts.
    pub fn doctor(&self, visibility: &Visibility) -> Result<Vec<Check>> {
        visibility.check_everything("an examination")?;
        let store = &*self.store;
        let mut checks = vec![store_check(store)];
        checks.extend(store.losses()?.iter().map(|loss| {
            let kept =
                loss.kept.as_ref().map_or_else(String::new, |kept| format!("; kept: {}", kept.display()));
            Check::bad(
                "changes",
                format!("{}{kept}", loss.sentence()),
                "run bower doctor --salvage DIR, then --accept-loss",
            )
        }));
        if store.erasure_due()?.is_some() {
            checks.push(Check::weak(
                "forgotten",
                "what was forgotten may still have left traces in files: that was cut short",
                "any bower query, curate or index goes on with it",
            ));
        }
        let text = self.indexes.text(store)?;
        checks.push(index_check("text index", &text, store, TextIndex::verify));
        let graph = self.indexes.graph(store)?;
        checks.push(index_check("graph index", &graph, store, GraphIndex::verify));
        match self.model.get() {
            Ok(embedder) => {
                let vector = self.indexes.vector(embedder.model(), store)?;
                checks.push(index_check("vector index", &vector, store, VectorIndex::verify));
                if let Some(scheme) = embedder.tokens() {
                    let tokens = self.indexes.tokens(scheme, store)?;
                    checks.push(index_check("token index", &tokens, store, TokenIndex::verify));
                }
                checks.push(self.model_check(embedder)?);
                let uncoded = missing_codes(self, embedder)?.len();
                if uncoded > 0 {
                    checks.push(Check::weak(
                        "token codes",
                        format!("{uncoded} items have no token codes: late interaction passes them over"),
                        "run bower index on any path: it makes what is missing",
                    ));
                }
                let missing = store.unembedded(embedder.model(), RowId(0), 1)?;
                if !missing.is_empty() {
                    let report = status(self)?;
                    checks.push(Check::weak(
                        "vectors",
                        format!("{} items have no vector of the present model", report.unembedded),
                        "run bower index on any path: it embeds what is waiting",
                    ));
                }
            }
            Err(state) => checks.push(Check::weak(
                "model",
                state.why(),
                "run bower model pull; until then questions are answered by words alone",
            )),
        }
        if let Some(unknown) = languages::unknown(self, &languages::counts(self)?) {
            checks.push(Check::weak("languages", unknown, languages::REMEDY));
        }
        checks.push(link_check(self).unwrap_or_else(|error| unfinished("links", &error)));
        match canonical_check(self) {
            Ok(check) => checks.extend(check),
            Err(error) => checks.push(unfinished("canonical", &error)),
        }
        Ok(checks)
    }
}

/// Reports a check of contents that failed: what is damaged, another check says.
fn unfinished(name: &str, error: &Error) -> Check {
    Check::weak(name, format!("not examined: {error}"), "the checks above name what is broken")
}
