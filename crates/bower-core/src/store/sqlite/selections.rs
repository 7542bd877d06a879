//! Finds and counts the rows of a selection: cached ones, or those that indexes or a scan find.

use rusqlite::{Connection, Result, params, params_from_iter};
use std::sync::Arc;

use super::columns::{first, parse_word, word};
use super::events::{are_few_since, mark};
use super::selection_cache::Moment;
use super::{SqliteStore, clocks, lookup, schema, select};
use crate::item::{Change, MemoryType, RowId, RowSet, Scope, Status, Visibility};
use crate::request::{Clocks, Selection};
use crate::store::{Counts, RowChanges, Selections};

impl Selections for SqliteStore {
    fn select(&self, selection: &Selection) -> crate::Result<Option<Arc<RowSet>>> {
        self.check_clocks(selection.clocks)?;
        if select::is_everything(selection) {
            return Ok(None);
        }
        self.read("select the items", |connection| {
            let moment =
                connection.prepare_cached("SELECT identity, change FROM store")?.query_row([], |row| {
                    let (identity, change) = (row.get(0)?, row.get(1)?);
                    Ok(Moment { identity, change, mark: mark(connection, Change(change))?.unwrap_or(0) })
                })?;
            if let Some(rows) = self.selected.get(&moment, selection) {
                return Ok(Some(rows));
            }
            // A store that cannot be written keeps its old schema.
            let found = if self.schema >= schema::KEEPS_FIELDS {
                lookup::rows(connection, select::conjuncts(selection), lookup::NARROW)?
            } else {
                None
            };
            let rows = Arc::new(found.map_or_else(|| scan(connection, selection), Ok)?);
            self.selected.put(moment, selection, &rows);
            Ok(Some(rows))
        })
    }

    fn hidden(&self, clocks: Clocks) -> crate::Result<RowSet> {
        self.check_clocks(clocks)?;
        self.read("select the hidden items", |connection| clocks::hidden(connection, clocks))
    }

    fn hidden_since(&self, after: Change) -> crate::Result<Option<RowChanges>> {
        self.read("select the hidden items", |connection| {
            if !are_few_since(connection, after)? {
                return Ok(None);
            }
            // Every change of an item's status has an event with the item as its subject.
            let mut changed = connection.prepare_cached(
                "SELECT i.row, i.status IN ('superseded', 'archived') FROM events e JOIN items i ON i.id = e.subject
                 WHERE e.change > ?1
                 UNION ALL SELECT row, 0 FROM removals WHERE change > ?1 AND row > 0",
            )?;
            let mut rows = changed.query([after.0])?;
            let mut changes = RowChanges::default();
            while let Some(row) = rows.next()? {
                let set = if row.get(1)? { &mut changes.came } else { &mut changes.went };
                set.insert(first(row)?);
            }
            Ok(Some(changes))
        })
    }

    fn page(&self, selection: &Selection, limit: usize, offset: usize) -> crate::Result<(Vec<RowId>, usize)> {
        let condition = select::condition(selection);
        self.read("list the items", |connection| {
            let total = connection
                .prepare(&format!("SELECT count(*) FROM items i WHERE {}", condition.sql))?
                .query_row(params_from_iter(&condition.values), |row| row.get(0))?;
            let mut statement = connection.prepare(&format!(
                "SELECT i.row FROM items i WHERE {} ORDER BY i.create_time DESC, i.row DESC LIMIT {limit} OFFSET {offset}",
                condition.sql
            ))?;
            let rows = statement.query_map(params_from_iter(&condition.values), first)?;
            Ok((rows.collect::<rusqlite::Result<_>>()?, total))
        })
    }

    fn pinned(&self) -> crate::Result<Vec<RowId>> {
        let index = if self.schema >= schema::KEEPS_NEWS { "items_pinned" } else { OF_MEMORIES };
        let sql = format!(
            "SELECT row FROM items INDEXED BY {index} WHERE kind = 'memory' AND tier = 1
             AND status IN ('candidate', 'active') ORDER BY row DESC"
        );
        self.read("read what is pinned", |connection| {
            connection.prepare_cached(&sql)?.query_map([], first)?.collect()
        })
    }

    fn newest(
        &self,
        types: &[MemoryType],
        status: Status,
        visibility: &Visibility,
        most: usize,
    ) -> crate::Result<Vec<RowId>> {
        let types = if types.is_empty() { MemoryType::ALL } else { types };
        let found = self.memories_within(status, visibility);
        let admitted = if self.schema >= schema::KEEPS_PROVENANCE {
            "AND (reviewed OR least_trusted IN ('user', 'agent'))"
        } else {
            ""
        };
        // One range of the index for each type, read from its end.
        let of_type = |one: &MemoryType| {
            format!(
                "SELECT * FROM (SELECT row, create_time {found} {admitted} AND type = '{}' ORDER BY create_time DESC, row DESC LIMIT ?3)",
                one.word()
            )
        };
        let all: Vec<String> = types.iter().map(of_type).collect();
        let sql = format!("{} ORDER BY create_time DESC, row DESC LIMIT ?3", all.join(" UNION ALL "));
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.read("read the newest memories", |connection| {
            connection
                .prepare_cached(&sql)?
                .query_map(params![visibility.owner, names_of(visibility), most], first)?
                .collect()
        })
    }

    fn number(&self, status: Status, visibility: &Visibility) -> crate::Result<u64> {
        let sql = format!("SELECT count(*) {}", self.memories_within(status, visibility));
        self.read("count memories", |connection| {
            connection
                .prepare_cached(&sql)?
                .query_row(params![visibility.owner, names_of(visibility)], |row| row.get(0))
        })
    }

    fn counts(&self) -> crate::Result<Counts> {
        // A store that cannot be written keeps its old schema.
        let from = if self.schema >= schema::KEEPS_COUNTS { "SELECT * FROM counts" } else { schema::COUNTED };
        self.read("count the items", |connection| read_counts(connection, from))
    }

    fn held(&self) -> crate::Result<Vec<(Scope, Option<String>, u64)>> {
        let from = if self.schema >= schema::KEEPS_HOLDERS {
            "holders".to_owned()
        } else {
            format!("({})", schema::HELD)
        };
        self.read("count what scopes hold", |connection| {
            connection
                .prepare_cached(&format!(
                    "SELECT scope, owner, number FROM {from} WHERE number > 0 ORDER BY scope, owner"
                ))?
                .query_map([], |row| {
                    let owner: String = row.get(1)?;
                    let scope = parse_word(&row.get::<_, String>(0)?)?;
                    Ok((scope, owner.strip_prefix('=').map(str::to_owned), row.get(2)?))
                })?
                .collect()
        })
    }
}

impl SqliteStore {
    /// Returns the `FROM` clause for visible memories with a status: `?1` is the owner, `?2` the names of the
    /// collections.
    fn memories_within(&self, status: Status, visibility: &Visibility) -> String {
        // There are few memories compared with chunks, so their own index is the best way to find them.
        let index = if self.schema >= schema::KEEPS_NEWS { "items_newest" } else { OF_MEMORIES };
        // These words are the program's own; the name of an owner is not, so it is bound.
        let of_scope =
            visibility.scope.map_or_else(String::new, |scope| format!("AND scope = '{}'", scope.word()));
        // Left out if all collections are visible: the index has no collections, so the condition would need access to
        // each row.
        let of_collections = if visibility.collections.is_some() {
            "AND collection IN (SELECT value FROM json_each(?2))"
        } else {
            "AND ?2 IS NULL"
        };
        format!(
            "FROM items INDEXED BY {index} WHERE kind = 'memory' AND status = '{}' {of_scope} {of_collections}
             AND (?1 IS NULL OR owner = ?1)",
            status.word()
        )
    }
}

/// Returns the names of the visible collections as a JSON list; `None` if all are visible.
fn names_of(visibility: &Visibility) -> Option<String> {
    visibility.collections.as_ref().map(|names| serde_json::json!(names).to_string())
}

/// The index of all memories, which older schemas have too.
const OF_MEMORIES: &str = "items_memory";

/// Number of units of importance in `counts`, where sums are whole numbers.
const IMPORTANCE_STEPS: f64 = (1u64 << 40) as f64;

/// Adds up the counts that `from` selects.
pub(super) fn read_counts(connection: &Connection, from: &str) -> rusqlite::Result<Counts> {
    let mut statement = connection.prepare(&format!(
        "SELECT kind, collection, type, status, number, importance FROM ({from}) WHERE number > 0"
    ))?;
    let mut rows = statement.query([])?;
    let (mut counts, mut memories, mut importance) = (Counts::default(), 0, 0);
    while let Some(row) = rows.next()? {
        let (collection, number): (String, u64) = (row.get(1)?, row.get(4)?);
        match row.get_ref(0)?.as_str()? {
            "document" => {
                counts.documents += number;
                continue;
            }
            "memory" => {
                let status = word(row, "status")?;
                if status == Status::Variant {
                    // A wording is no memory of its own.
                    continue;
                }
                memories += number;
                importance += row.get::<_, i64>(5)?;
                if matches!(status, Status::Candidate | Status::Active) {
                    counts.memories += number;
                    *counts.by_type.entry(row.get(2)?).or_default() += number;
                }
            }
            _ => counts.chunks += number,
        }
        *counts.by_collection.entry(collection).or_default() += number;
    }
    if memories > 0 {
        counts.avg_importance = importance as f64 / IMPORTANCE_STEPS / memories as f64;
    }
    Ok(counts)
}

/// Whether `holders` differs from the actual counts of each scope and owner.
pub(super) fn is_miscounted(connection: &Connection) -> Result<bool> {
    connection.query_row(
        &format!(
            "SELECT EXISTS (SELECT * FROM ({held}) EXCEPT SELECT * FROM holders)
             OR EXISTS (SELECT * FROM holders WHERE number > 0 EXCEPT SELECT * FROM ({held}))",
            held = schema::HELD
        ),
        [],
        |row| row.get(0),
    )
}

/// Returns the rows of a selection by reading all rows: indexes must find the same.
fn scan(connection: &Connection, selection: &Selection) -> rusqlite::Result<RowSet> {
    let condition = select::condition(selection);
    let sql = format!("SELECT i.row FROM items i WHERE {}", condition.sql);
    connection.prepare(&sql)?.query_map(params_from_iter(condition.values), first)?.collect()
}

#[cfg(test)]
impl SqliteStore {
    /// Returns the rows of a selection that indexes find, where a condition with more than `narrow` rows is wide.
    pub(crate) fn select_by_index(
        &self,
        selection: &Selection,
        narrow: usize,
    ) -> crate::Result<Option<RowSet>> {
        let conjuncts = select::conjuncts(selection);
        self.read("select the items", |connection| lookup::rows(connection, conjuncts, narrow))
    }

    /// Returns the rows of a selection that a scan finds.
    pub(crate) fn select_by_scan(&self, selection: &Selection) -> crate::Result<RowSet> {
        self.read("select the items", |connection| scan(connection, selection))
    }
}
