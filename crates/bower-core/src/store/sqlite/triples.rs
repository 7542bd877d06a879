//! Keeps triples by source.
//! `extractions` has an answer for each text, known by a hash, and `extracted` the rows with that text.

use rusqlite::{Connection, OptionalExtension, Result, params};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::columns::{first, json_text, row_id};
use super::events::{next_change, record};
use super::tags::mark_remade;
use super::{SqliteStore, schema};
use crate::item::{Change, RowId, RowSet, SourcedTriple, Triple};
use crate::request::{RemovedTriples, TripleSource};
use crate::store::{Extractor, NewTriples, Stamp, Triples};

/// Returns the hash by which a text is known.
fn text_hash(text: &str) -> Vec<u8> {
    Sha256::digest(text.as_bytes()).to_vec()
}

/// Returns the hash of a row's text; `None` if the row was removed.
fn hash_of(connection: &Connection, row: RowId) -> Result<Option<Vec<u8>>> {
    connection
        .prepare_cached("SELECT content FROM texts WHERE row = ?1")?
        .query_row([row.0], |found| Ok(text_hash(found.get_ref(0)?.as_str()?)))
        .optional()
}

/// Returns the number of an extractor's answer for a text.
fn answer(connection: &Connection, by: Extractor<'_>, hash: &[u8]) -> Result<Option<i64>> {
    connection
        .prepare_cached(
            "SELECT extraction FROM extractions WHERE source = ?1 AND prompt = ?2 AND text_hash = ?3",
        )?
        .query_row(params![by.source, by.prompt, hash], |row| row.get(0))
        .optional()
}

/// Gives a row an answer, in place of one to an earlier prompt.
fn link(connection: &Connection, by: Extractor<'_>, row: RowId, answer: i64) -> Result<()> {
    connection
        .prepare_cached(
            "DELETE FROM extracted WHERE row = ?1 AND extraction <> ?3
             AND extraction IN (SELECT extraction FROM extractions WHERE source = ?2)",
        )?
        .execute(params![row.0, by.source, answer])?;
    connection
        .prepare_cached("INSERT OR IGNORE INTO extracted (row, extraction) VALUES (?1, ?2)")?
        .execute(params![row.0, answer])?;
    Ok(())
}

/// Marks the answers for a forgotten text: they go with the last row that has the text. Returns the number of triples of a row.
pub(super) fn forget_text(connection: &Connection, row: RowId, text: &str) -> Result<usize> {
    connection
        .prepare_cached("UPDATE extractions SET is_forgotten = 1 WHERE text_hash = ?1")?
        .execute([text_hash(text)])?;
    Ok(triples_of(connection, row)?.len())
}

/// Removes the answers for texts that no row has any more.
pub(super) fn forget_unused(connection: &Connection) -> Result<()> {
    connection
        .prepare_cached(
            "DELETE FROM extractions WHERE NOT EXISTS
             (SELECT 1 FROM extracted e WHERE e.extraction = extractions.extraction)",
        )?
        .execute([])?;
    Ok(())
}

/// Returns the triples of a row, by source. An answer that cannot be read has none.
pub(super) fn triples_of(connection: &Connection, row: RowId) -> Result<Vec<SourcedTriple>> {
    let mut statement = connection.prepare_cached(
        "SELECT x.source, x.triples FROM extracted e JOIN extractions x ON x.extraction = e.extraction
         WHERE e.row = ?1 ORDER BY x.source, x.extraction",
    )?;
    let mut found = statement.query([row.0])?;
    let mut triples = Vec::new();
    while let Some(row) = found.next()? {
        let source = row.get_ref(0)?.as_str()?;
        let kept: Vec<Triple> = serde_json::from_str(row.get_ref(1)?.as_str()?).unwrap_or_default();
        triples.extend(kept.into_iter().map(|triple| SourcedTriple { source: source.to_owned(), triple }));
    }
    Ok(triples)
}

/// Returns findings about triples.
pub(super) fn findings(connection: &Connection) -> Result<Vec<String>> {
    let unread: u64 = connection.query_row(
        "SELECT count(*) FROM extractions WHERE NOT json_valid(triples)",
        [],
        |row| row.get(0),
    )?;
    let is_any = unread > 0;
    Ok(is_any.then(|| format!("{unread} lists of triples cannot be read")).into_iter().collect())
}

/// Marks rows whose triples changed, for the graph index.
fn mark(connection: &Connection, rows: &[RowId], change: Change) -> Result<()> {
    rows.iter().try_for_each(|row| mark_remade(connection, *row, change))
}

/// Returns the rows that have an answer of a source.
fn rows_of(connection: &Connection, source: &str) -> Result<Vec<RowId>> {
    connection
        .prepare_cached(
            "SELECT DISTINCT e.row FROM extracted e JOIN extractions x ON x.extraction = e.extraction
             WHERE x.source = ?1 ORDER BY e.row",
        )?
        .query_map([source], |row| row_id(row.get(0)?))?
        .collect()
}

impl Triples for SqliteStore {
    fn extracted_rows(&self, by: Extractor<'_>) -> crate::Result<RowSet> {
        if self.schema < schema::KEEPS_TRIPLES {
            return Ok(RowSet::new());
        }
        self.read("read the triples", |connection| {
            connection
                .prepare_cached(
                    "SELECT e.row FROM extracted e JOIN extractions x ON x.extraction = e.extraction
                     WHERE x.source = ?1 AND x.prompt = ?2",
                )?
                .query_map(params![by.source, by.prompt], first)?
                .collect()
        })
    }

    fn cached_rows(&self, by: Extractor<'_>, rows: &[RowId]) -> crate::Result<Vec<RowId>> {
        if self.schema < schema::KEEPS_TRIPLES {
            return Ok(Vec::new());
        }
        self.read("read the triples", |connection| {
            let mut cached = Vec::new();
            for row in rows {
                let Some(hash) = hash_of(connection, *row)? else { continue };
                cached.extend(answer(connection, by, &hash)?.map(|_| *row));
            }
            Ok(cached)
        })
    }

    fn link_triples(&self, by: Extractor<'_>, rows: &[RowId], stamp: Stamp<'_>) -> crate::Result<usize> {
        self.write("write the triples", |connection| {
            let change = next_change(connection)?;
            let mut linked = Vec::new();
            for row in rows {
                let Some(hash) = hash_of(connection, *row)? else { continue };
                if let Some(answer) = answer(connection, by, &hash)? {
                    link(connection, by, *row, answer)?;
                    linked.push(*row);
                }
            }
            mark(connection, &linked, change)?;
            let detail = json!({ "source": by.source, "items": linked.len() });
            record(connection, change, stamp, "extract", None, &detail)?;
            Ok(linked.len())
        })
    }

    fn put_triples(&self, by: Extractor<'_>, new: &[NewTriples], stamp: Stamp<'_>) -> crate::Result<usize> {
        self.write("write the triples", |connection| {
            let change = next_change(connection)?;
            let mut written = Vec::new();
            for NewTriples { row, triples } in new {
                // A row that was forgotten meanwhile leaves no answer.
                let Some(hash) = hash_of(connection, *row)? else { continue };
                connection
                    .prepare_cached(
                        "INSERT INTO extractions (source, prompt, text_hash, triples, create_time)
                         VALUES (?1, ?2, ?3, ?4, ?5)
                         ON CONFLICT (source, prompt, text_hash) DO NOTHING",
                    )?
                    .execute(params![
                        by.source,
                        by.prompt,
                        hash,
                        json_text(triples)?,
                        stamp.now.as_microsecond()
                    ])?;
                if let Some(answer) = answer(connection, by, &hash)? {
                    link(connection, by, *row, answer)?;
                    written.push(*row);
                }
            }
            mark(connection, &written, change)?;
            let triples: usize = new.iter().map(|one| one.triples.len()).sum();
            let detail = json!({ "source": by.source, "items": written.len(), "triples": triples });
            record(connection, change, stamp, "extract", None, &detail)?;
            Ok(written.len())
        })
    }

    fn remove_triples(&self, source: &str, stamp: Stamp<'_>) -> crate::Result<RemovedTriples> {
        self.write("remove the triples", |connection| {
            let change = next_change(connection)?;
            let (items, triples) = (rows_of(connection, source)?, number(connection, source)?);
            for table in ["extracted", "extractions"] {
                connection
                    .prepare_cached(&format!(
                        "DELETE FROM {table} WHERE extraction IN (SELECT extraction FROM extractions WHERE source = ?1)"
                    ))?
                    .execute([source])?;
            }
            mark(connection, &items, change)?;
            let removed = RemovedTriples { source: source.to_owned(), items: items.len(), triples };
            let detail = json!({ "source": source, "removed_from": removed.items, "triples": triples });
            record(connection, change, stamp, "extract", None, &detail)?;
            Ok(removed)
        })
    }

    fn triple_sources(&self) -> crate::Result<Vec<TripleSource>> {
        if self.schema < schema::KEEPS_TRIPLES {
            return Ok(Vec::new());
        }
        self.read("read the triples", |connection| {
            let sources: Vec<String> = connection
                .prepare_cached("SELECT DISTINCT source FROM extractions ORDER BY source")?
                .query_map([], |row| row.get(0))?
                .collect::<Result<_>>()?;
            let counted = |source: String| {
                let items = rows_of(connection, &source)?.len();
                Ok(TripleSource { items, triples: number(connection, &source)?, source })
            };
            sources.into_iter().map(counted).collect()
        })
    }
}

/// Returns the number of triples of all rows that have an answer of a source.
fn number(connection: &Connection, source: &str) -> Result<usize> {
    connection
        .prepare_cached(
            "SELECT coalesce(sum(CASE WHEN json_valid(x.triples) THEN json_array_length(x.triples) END), 0)
             FROM extracted e JOIN extractions x ON x.extraction = e.extraction WHERE x.source = ?1",
        )?
        .query_row([source], |row| row.get(0))
}
