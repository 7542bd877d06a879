//! What is kept beside items: marks of how far somebody read something, as events on a subject of their own; and who is pinned.

use rusqlite::params;
use serde_json::{Map, Value};

use super::read::first;
use super::write::{next_change, record};
use super::{SqliteStore, schema};
use crate::item::{MemoryType, Reach, RowId, Status};
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
        reach: &Reach,
        most: usize,
    ) -> crate::Result<Vec<RowId>> {
        let types = if types.is_empty() { MemoryType::ALL } else { types };
        let found = self.memories_within(status, reach);
        // One range of the index for each type, read from its end.
        let of_type = |one: &MemoryType| {
            format!(
                "SELECT * FROM (SELECT row, create_time {found} AND type = '{}' ORDER BY create_time DESC, row DESC LIMIT ?2)",
                one.word()
            )
        };
        let all: Vec<String> = types.iter().map(of_type).collect();
        let sql = format!("{} ORDER BY create_time DESC, row DESC LIMIT ?2", all.join(" UNION ALL "));
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.read("read the newest memories", |connection| {
            connection.prepare_cached(&sql)?.query_map(params![reach.owner, most], first)?.collect()
        })
    }

    pub(super) fn read_number(&self, status: Status, reach: &Reach) -> crate::Result<u64> {
        let sql = format!("SELECT count(*) {}", self.memories_within(status, reach));
        self.read("count memories", |connection| {
            connection.prepare_cached(&sql)?.query_row([&reach.owner], |row| row.get(0))
        })
    }

    /// From where memories with a status are read, and which are within a reach whose owner is `?1`.
    fn memories_within(&self, status: Status, reach: &Reach) -> String {
        // Memories are few beside chunks, so an index of theirs is the way to them.
        let index = if self.schema >= schema::KEEPS_NEWS { "items_newest" } else { OF_MEMORIES };
        // These words are ours; who owns something is not.
        let of_scope =
            reach.scope.map_or_else(String::new, |scope| format!("AND scope = '{}'", scope.word()));
        format!(
            "FROM items INDEXED BY {index} WHERE kind = 'memory' AND status = '{}' {of_scope} AND (?1 IS NULL OR owner = ?1)",
            status.word()
        )
    }
}

/// The index of all memories, which older stores have too.
const OF_MEMORIES: &str = "items_memory";
