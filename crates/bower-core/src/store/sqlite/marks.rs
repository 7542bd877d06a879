//! What is kept beside items: marks of how far somebody read something, as events on a subject of their own; and who is pinned.

use rusqlite::params;
use serde_json::{Map, Value};

use super::SqliteStore;
use super::read::first;
use super::write::{next_change, record};
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
        self.read("read what is pinned", |connection| {
            connection
                .prepare_cached(
                    // Memories are few beside chunks, so their own index is the way to them.
                    "SELECT row FROM items INDEXED BY items_memory WHERE kind = 'memory' AND tier = 1
                     AND status IN ('candidate', 'active') ORDER BY row DESC",
                )?
                .query_map([], first)?
                .collect()
        })
    }

    pub(super) fn read_newest(
        &self,
        types: &[MemoryType],
        status: Status,
        reach: &Reach,
        most: usize,
    ) -> crate::Result<Vec<RowId>> {
        // These words are ours; who owns something is not.
        let types: Vec<String> = types.iter().map(|one| format!("'{}'", one.word())).collect();
        let of_types =
            if types.is_empty() { String::new() } else { format!("AND type IN ({})", types.join(", ")) };
        let of_scope =
            reach.scope.map_or_else(String::new, |scope| format!("AND scope = '{}'", scope.word()));
        let sql = format!(
            "SELECT row FROM items INDEXED BY items_memory WHERE kind = 'memory' {of_types} AND status = '{}' {of_scope}
             AND (?1 IS NULL OR owner = ?1) ORDER BY create_time DESC, row DESC LIMIT ?2",
            status.word()
        );
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.read("read the newest memories", |connection| {
            connection.prepare_cached(&sql)?.query_map(params![reach.owner, most], first)?.collect()
        })
    }
}
