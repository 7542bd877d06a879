//! What is kept beside items: marks of how far somebody read something, as events on a subject of their own; and who is pinned.

use serde_json::{Map, Value};

use super::SqliteStore;
use super::read::first;
use super::write::{next_change, record};
use crate::item::RowId;
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
}
