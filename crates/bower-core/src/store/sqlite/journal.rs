//! The journal: events by subject and by change, marks, and undo of an event or an origin.

mod origin;

use rusqlite::{Connection, OptionalExtension, Result, params_from_iter};
use serde_json::{Map, Value, json};

use super::aliases::{is_aliasing, undo_aliasing};
use super::columns::{json_field, timestamp};
use super::events::{entries, next_change, record};
use super::renaming::{is_retagging, undo_retagging};
use super::states::{HEADS, back};
use super::{SqliteStore, select};
use crate::item::{Change, Origin, Visibility};
use crate::request::{Event, StoreChange, Undone, Unmoved};
use crate::store::{Journal, Stamp};

impl Journal for SqliteStore {
    fn events(&self, subject: &str) -> crate::Result<Vec<Event>> {
        self.read("read the history", |connection| {
            connection
                .prepare_cached(
                    "SELECT event, change, time, action, subject, actor, detail FROM events WHERE subject = ?1 ORDER BY event",
                )?
                .query_map([subject], |row| {
                    Ok(Event {
                        event: row.get::<_, i64>(0)?.unsigned_abs(),
                        change: row.get::<_, i64>(1)?.unsigned_abs(),
                        time: timestamp(row.get(2)?)?,
                        action: row.get(3)?,
                        subject: row.get(4)?,
                        actor: row.get(5)?,
                        detail: json_field(&row.get::<_, String>(6)?)?,
                    })
                })?
                .collect()
        })
    }

    fn changes(
        &self,
        visibility: &Visibility,
        after: Change,
        most: usize,
    ) -> crate::Result<(Vec<StoreChange>, Change)> {
        let visible = select::visible(visibility);
        // An event without a subject concerns the whole store.
        let is_visible = if visibility.is_everything() {
            "1".to_owned()
        } else {
            format!(
                "e.subject IS NOT NULL AND (EXISTS (SELECT 1 FROM items i WHERE i.id = e.subject AND {0})
                 OR EXISTS (SELECT 1 FROM documents d JOIN items i ON i.document = d.row WHERE d.id = e.subject AND {0}))",
                visible.sql
            )
        };
        let sql = format!(
            "SELECT e.change, e.time, e.action, e.subject, {is_visible} FROM events e WHERE e.change > {}
             ORDER BY e.change, e.event",
            after.0
        );
        self.read("read the changes", |connection| {
            let mut statement = connection.prepare(&sql)?;
            let mut rows = statement.query(params_from_iter(visible.values.iter().chain(&visible.values)))?;
            let (mut changes, mut looked, mut last): (Vec<StoreChange>, usize, Change) =
                (Vec::new(), 0, after);
            while let Some(row) = rows.next()? {
                let change = Change(row.get::<_, i64>(0)?.unsigned_abs());
                if change != last {
                    if looked == most {
                        break;
                    }
                    (looked, last) = (looked + 1, change);
                }
                if !row.get::<_, bool>(4)? {
                    continue;
                }
                if changes.last().is_none_or(|told| told.change != change.0) {
                    changes.push(StoreChange::new(change.0, timestamp(row.get(1)?)?));
                }
                let told = changes.last_mut().expect("one was pushed");
                told.add(row.get(2)?, row.get(3)?);
            }
            Result::Ok((changes, last))
        })
    }

    fn mark(
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

    fn note(&self, action: &str, detail: &Map<String, Value>, stamp: Stamp<'_>) -> crate::Result<u64> {
        self.write("leave an event", |connection| {
            let change = next_change(connection)?;
            record(connection, change, stamp, action, None, &Value::Object(detail.clone()))
        })
    }

    fn undo(&self, event: u64, stamp: Stamp<'_>) -> crate::Result<Option<Undone>> {
        let mut refused = None;
        let done = self.write("undo the event", |connection| {
            let found: Option<u64> = connection
                .prepare_cached("SELECT change FROM events WHERE event = ?1")?
                .query_row([event.cast_signed()], |row| row.get(0))
                .optional()?;
            let Some(change) = found.map(Change) else { return Ok(None) };
            let undone = undo(connection, change, event, stamp)?;
            if undone.items.is_empty() {
                // Nothing was undone, so nothing is written.
                refused = Some(Undone { event: 0, ..undone });
                return Err(rusqlite::Error::StatementChangedRows(0));
            }
            Ok(Some(undone))
        });
        match (refused, done) {
            (Some(refused), _) => Ok(Some(refused)),
            (None, done) => done,
        }
    }

    fn undo_origin(
        &self,
        visibility: &Visibility,
        origin: &Origin,
        dry_run: bool,
        stamp: Stamp<'_>,
    ) -> crate::Result<Option<Undone>> {
        origin::undo_origin(self, visibility, origin, dry_run, stamp)
    }
}

/// Undoes a transaction: in a run over many memories whatever is unchanged since, otherwise all or nothing.
fn undo(connection: &Connection, change: Change, event: u64, stamp: Stamp<'_>) -> Result<Undone> {
    let entries = entries(connection, change)?;
    if is_retagging(&entries) {
        return undo_retagging(connection, &entries, event, stamp);
    }
    if is_aliasing(&entries) {
        return undo_aliasing(connection, &entries, event, stamp);
    }
    let head = entries.iter().find(|entry| entry.subject.is_none());
    let action = head.or(entries.last()).map_or_else(String::new, |entry| entry.action.clone());
    let is_run = head.is_some_and(|head| HEADS.contains(&head.action.as_str()));
    let mut undone = Undone {
        event: 0,
        undoes: Some(event),
        origin: None,
        action,
        items: Vec::new(),
        taken: Vec::new(),
        unmoved: Vec::new(),
        dry_run: false,
    };
    let now = next_change(connection)?;
    for entry in &entries {
        let Some(id) = &entry.subject else { continue };
        let Some(why) = back(connection, entry, id, now, stamp)? else {
            undone.items.push(id.clone());
            continue;
        };
        undone.unmoved.push(Unmoved { id: id.clone(), why: why.to_owned() });
        if !is_run {
            // Half of it would leave a chain with two heads, or none.
            undone.items.clear();
            return Ok(undone);
        }
    }
    undone.items.sort_unstable();
    undone.items.dedup();
    let detail = json!({ "undoes": event, "items": undone.items.len(), "unmoved": undone.unmoved.len() });
    undone.event = record(connection, now, stamp, "undo", None, &detail)?;
    Ok(undone)
}
