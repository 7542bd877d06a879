//! States aliases and takes them back, each with its event; undoes such an event.

use rusqlite::{Connection, OptionalExtension, Result, Row, params};
use serde_json::{Map, Value, json};

use super::SqliteStore;
use super::columns::timestamp;
use super::events::{Entry, next_change, record};
use super::schema::KEEPS_ALIASES;
use crate::item::Change;
use crate::request::{Undone, Unmoved};
use crate::store::{AliasRow, Aliases, Stamp};

/// The action of events that state an alias, or take one back.
const ACTION: &str = "alias";
/// The fields of an event with the aliases that it stated, and that it took back.
const STATED: &str = "aliased";
const ENDED: &str = "unaliased";

impl Aliases for SqliteStore {
    fn aliases(&self) -> crate::Result<Vec<AliasRow>> {
        if self.schema < KEEPS_ALIASES {
            return Ok(Vec::new());
        }
        self.read("read the aliases", |connection| {
            connection
                .prepare_cached(
                    "SELECT name, other, first_form, second_form, create_time FROM entity_aliases
                     ORDER BY first_form, second_form",
                )?
                .query_map([], alias)?
                .collect()
        })
    }

    fn add_alias(&self, alias: &AliasRow, stamp: Stamp<'_>) -> crate::Result<Option<u64>> {
        self.write("state the alias", |connection| {
            if is_stated(connection, &alias.forms)? {
                return Ok(None);
            }
            let change = next_change(connection)?;
            put_alias(connection, alias, change)?;
            let detail = json!({ STATED: [alias], "items": 1 });
            record(connection, change, stamp, ACTION, None, &detail).map(Some)
        })
    }

    fn remove_alias(&self, forms: &[String; 2], stamp: Stamp<'_>) -> crate::Result<Option<(AliasRow, u64)>> {
        self.write("take the alias back", |connection| {
            let Some(gone) = take_alias(connection, forms)? else { return Ok(None) };
            let change = next_change(connection)?;
            let detail = json!({ ENDED: [gone], "items": 1 });
            let event = record(connection, change, stamp, ACTION, None, &detail)?;
            Ok(Some((gone, event)))
        })
    }
}

fn alias(row: &Row<'_>) -> Result<AliasRow> {
    Ok(AliasRow {
        name: row.get(0)?,
        other: row.get(1)?,
        forms: [row.get(2)?, row.get(3)?],
        time: timestamp(row.get(4)?)?,
    })
}

fn is_stated(connection: &Connection, [first, second]: &[String; 2]) -> Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM entity_aliases WHERE first_form = ?1 AND second_form = ?2")?
        .exists([first, second])
}

/// Writes an alias; returns false if one of these forms is there.
pub(super) fn put_alias(connection: &Connection, alias: &AliasRow, change: Change) -> Result<bool> {
    let [first, second] = &alias.forms;
    let added = connection
        .prepare_cached(
            "INSERT OR IGNORE INTO entity_aliases (first_form, second_form, name, other, change, create_time)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![first, second, alias.name, alias.other, change.0, alias.time.as_microsecond()])?;
    Ok(added > 0)
}

/// Removes an alias and returns it.
fn take_alias(connection: &Connection, [first, second]: &[String; 2]) -> Result<Option<AliasRow>> {
    connection
        .prepare_cached(
            "DELETE FROM entity_aliases WHERE first_form = ?1 AND second_form = ?2
             RETURNING name, other, first_form, second_form, create_time",
        )?
        .query_row([first, second], alias)
        .optional()
}

/// Writes an imported alias with its event; returns false if it is stated here.
pub(super) fn import_alias(
    connection: &Connection,
    alias: &AliasRow,
    change: impl FnOnce() -> Result<Change>,
    stamp: Stamp<'_>,
) -> Result<bool> {
    if is_stated(connection, &alias.forms)? {
        return Ok(false);
    }
    let change = change()?;
    put_alias(connection, alias, change)?;
    record(connection, change, stamp, ACTION, None, &json!({ STATED: [alias], "items": 1 }))?;
    Ok(true)
}

fn named(entry: &Entry, field: &str) -> Vec<AliasRow> {
    let named = entry.detail.get(field).cloned().unwrap_or_default();
    serde_json::from_value(named).unwrap_or_default()
}

/// Whether a change stated aliases or took some back, or undid this.
pub(super) fn is_aliasing(entries: &[Entry]) -> bool {
    entries.iter().any(|entry| {
        [ACTION, "undo"].contains(&entry.action.as_str())
            && [STATED, ENDED].iter().any(|field| entry.detail.contains_key(*field))
    })
}

/// Undoes a change that stated aliases or took some back. Undoing the undo brings them back.
pub(super) fn undo_aliasing(
    connection: &Connection,
    entries: &[Entry],
    event: u64,
    stamp: Stamp<'_>,
) -> Result<Undone> {
    let change = next_change(connection)?;
    let mut undone = Undone {
        event: 0,
        undoes: Some(event),
        origin: None,
        action: entries.first().map_or(ACTION, |entry| &entry.action).to_owned(),
        items: Vec::new(),
        taken: Vec::new(),
        unmoved: Vec::new(),
        dry_run: false,
    };
    let (mut gone, mut back) = (Vec::new(), Vec::new());
    for alias in entries.iter().flat_map(|entry| named(entry, STATED)) {
        match take_alias(connection, &alias.forms)? {
            Some(alias) => gone.push(alias),
            None => undone.unmoved.push(stays(&alias, "it was taken back since")),
        }
    }
    for alias in entries.iter().flat_map(|entry| named(entry, ENDED)) {
        if put_alias(connection, &alias, change)? {
            back.push(alias);
        } else {
            undone.unmoved.push(stays(&alias, "it was stated again since"));
        }
    }
    undone.items.extend(gone.iter().chain(&back).map(shown));
    let mut detail = Map::from_iter([("undoes".to_owned(), json!(event))]);
    for (field, list) in [(ENDED, gone), (STATED, back)] {
        if !list.is_empty() {
            detail.insert(field.to_owned(), json!(list));
        }
    }
    detail.insert("items".to_owned(), json!(undone.items.len()));
    undone.event = record(connection, change, stamp, "undo", None, &Value::Object(detail))?;
    Ok(undone)
}

/// Returns the events that name an alias which does not hold any more, and which has a name that one of some texts has.
pub(super) fn ended_in(connection: &Connection, texts: &[String]) -> Result<Vec<i64>> {
    let heads: Vec<(i64, String)> = connection
        .prepare_cached(
            "SELECT event, detail FROM events WHERE action IN ('alias', 'undo') AND subject IS NULL ORDER BY event",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_>>()?;
    let mut found = Vec::new();
    for (event, detail) in heads {
        let detail: Map<String, Value> = serde_json::from_str(&detail).unwrap_or_default();
        let entry = Entry { event, action: String::new(), subject: None, detail };
        for alias in [named(&entry, STATED), named(&entry, ENDED)].concat() {
            let names = [alias.name.to_lowercase(), alias.other.to_lowercase()];
            let is_quoted = names.iter().any(|name| texts.iter().any(|text| text.contains(name)));
            if is_quoted && !is_stated(connection, &alias.forms)? {
                found.push(event);
                break;
            }
        }
    }
    Ok(found)
}

fn shown(alias: &AliasRow) -> String {
    format!("{} = {}", alias.name, alias.other)
}

fn stays(alias: &AliasRow, why: &str) -> Unmoved {
    Unmoved { id: shown(alias), why: why.to_owned() }
}
