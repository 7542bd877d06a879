//! Writes read marks, and finds pinned and newest memories.
//! A mark says how far somebody read something; it is an event on a subject of its own.

use rusqlite::params;
use serde_json::{Map, Value};

use super::columns::first;
use super::events::{next_change, record};
use super::{SqliteStore, schema};
use crate::item::{MemoryType, RowId, Status, Visibility};
use crate::store::Stamp;

impl SqliteStore {
    pub(super) fn write_mark(
        &self,
        subject: &str,
        action: &str,
        detail: &Map<String, Value>,
        stamp: Stamp<'_>,
    ) -> crate::Result<u64> {
        self.write("leave a mark", |connection| {
            let change = next_change(connection)?;
            record(connection, change, stamp, action, Some(subject), &Value::Object(detail.clone()))
        })
    }

    pub(super) fn read_pinned(&self) -> crate::Result<Vec<RowId>> {
        let index = if self.schema >= schema::KEEPS_NEWS { "items_pinned" } else { OF_MEMORIES };
        let sql = format!(
            "SELECT row FROM items INDEXED BY {index} WHERE kind = 'memory' AND tier = 1
             AND status IN ('candidate', 'active') ORDER BY row DESC"
        );
        self.read("read what is pinned", |connection| {
            connection.prepare_cached(&sql)?.query_map([], first)?.collect()
        })
    }

    pub(super) fn read_newest(
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

    pub(super) fn read_number(&self, status: Status, visibility: &Visibility) -> crate::Result<u64> {
        let sql = format!("SELECT count(*) {}", self.memories_within(status, visibility));
        self.read("count memories", |connection| {
            connection
                .prepare_cached(&sql)?
                .query_row(params![visibility.owner, names_of(visibility)], |row| row.get(0))
        })
    }

    /// From where memories with a status are read, and which of them are visible: `?1` is the owner, `?2` the names of the
    /// collections.
    fn memories_within(&self, status: Status, visibility: &Visibility) -> String {
        // Memories are few beside chunks, so an index of theirs is the way to them.
        let index = if self.schema >= schema::KEEPS_NEWS { "items_newest" } else { OF_MEMORIES };
        // These words are ours; who owns something is not.
        let of_scope =
            visibility.scope.map_or_else(String::new, |scope| format!("AND scope = '{}'", scope.word()));
        // Not asked where all collections are visible: the index has no collections, so that it would cost a look at each row.
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

/// The names of the collections that are visible, as a JSON list; none where all are.
fn names_of(visibility: &Visibility) -> Option<String> {
    visibility.collections.as_ref().map(|names| serde_json::json!(names).to_string())
}

/// The index of all memories, which older stores have too.
const OF_MEMORIES: &str = "items_memory";
