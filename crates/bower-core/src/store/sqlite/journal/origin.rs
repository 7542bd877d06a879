//! Undoes everything that one origin wrote: change by change, the last first, in one run.
//! The run is undone as a whole. Later changes by others to the same memories stay.

use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OptionalExtension, Result, params_from_iter};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::item::{Change, Kind, Origin, RowId, Status, TakenHow, Turn, Visibility};
use crate::request::{Taken, Undone, Unmoved};
use crate::store::Stamp;
use crate::store::sqlite::SqliteStore;
use crate::store::sqlite::columns::{first, parse_word};
use crate::store::sqlite::condition::{Condition, every};
use crate::store::sqlite::events::{Entry, entries, next_change, record};
use crate::store::sqlite::select::visible;
use crate::store::sqlite::states::{State, back, turn};
use crate::store::sqlite::ties::row_of;

/// An item that an origin wrote.
struct Written {
    row: RowId,
    kind: Kind,
}

pub(super) fn undo_origin(
    store: &SqliteStore,
    visibility: &Visibility,
    origin: &Origin,
    dry_run: bool,
    stamp: Stamp<'_>,
) -> crate::Result<Option<Undone>> {
    let mut looked = None;
    let done = store.write("take back what an origin wrote", |connection| {
        let Some(mut undone) = undo(connection, origin, &visible(visibility), stamp)? else {
            return Ok(None);
        };
        if dry_run || undone.items.is_empty() {
            // Nothing is written if nothing was undone, or in a dry run.
            undone.event = 0;
            looked = Some(Undone { dry_run, ..undone });
            return Err(rusqlite::Error::StatementChangedRows(0));
        }
        Ok(Some(undone))
    });
    match (looked, done) {
        (Some(looked), _) => Ok(Some(looked)),
        (None, done) => done,
    }
}

/// Returns the condition for items that an origin wrote: memories, and turns of conversations. Chunks of files are left
/// out.
fn wrote(origin: &Origin) -> Condition {
    let named = [
        ("i.source_conv_id = ?", &origin.session),
        ("i.host = ?", &origin.host),
        ("i.source = ?", &origin.source),
    ];
    let named = named.into_iter().filter_map(|(sql, name)| Some(Condition::of(sql, name.clone()?)));
    let kinds = Condition {
        sql: "(i.kind = 'memory' OR i.source_conv_id IS NOT NULL)".to_owned(),
        values: Vec::new(),
    };
    every(named.chain([kinds]))
}

fn undo(
    connection: &Connection,
    origin: &Origin,
    within: &Condition,
    stamp: Stamp<'_>,
) -> Result<Option<Undone>> {
    let written = written(connection, origin, within)?;
    let confirmations = confirmations(connection, origin, within)?;
    if written.is_empty() && confirmations.is_empty() {
        return Ok(None);
    }
    let mut undone = Undone {
        event: 0,
        undoes: None,
        origin: Some(origin.clone()),
        action: "origin".to_owned(),
        items: Vec::new(),
        taken: Vec::new(),
        unmoved: Vec::new(),
        dry_run: false,
    };
    let now = next_change(connection)?;
    let mut changes: BTreeMap<Change, Part> = changes_of(connection, &written)?;
    for (change, event) in confirmations {
        changes.entry(change).or_default().events.insert(event);
    }
    let (mut taken, mut unmoved) = (BTreeMap::new(), BTreeMap::new());
    for (change, part) in changes.into_iter().rev() {
        connection.execute_batch("SAVEPOINT origin")?;
        let mut moved = Vec::new();
        let stays = part.back(connection, change, &written, now, &mut moved, stamp)?;
        if let Some((id, why)) = stays {
            // Half of it would leave a chain with two heads, or none.
            connection.execute_batch("ROLLBACK TO origin")?;
            unmoved.insert(id, why);
        } else {
            taken.extend(moved);
        }
        connection.execute_batch("RELEASE origin")?;
    }
    for (id, one) in &written {
        if one.kind == Kind::Chunk && archive(connection, id, one.row, now, stamp)? {
            taken.insert(id.clone(), TakenHow::Archived);
        }
    }
    undone.items = taken.keys().cloned().collect();
    undone.unmoved = unmoved.into_iter().map(|(id, why)| Unmoved { id, why: why.to_owned() }).collect();
    for (id, what) in taken {
        undone.taken.push(Taken { summary: summary(connection, &id)?, id, what });
    }
    let detail = json!({ "origin": origin, "items": undone.items.len(), "unmoved": undone.unmoved.len() });
    undone.event = record(connection, now, stamp, "undo", None, &detail)?;
    Ok(Some(undone))
}

/// Reads the items that an origin wrote, by id.
fn written(connection: &Connection, origin: &Origin, within: &Condition) -> Result<HashMap<String, Written>> {
    let condition = every([wrote(origin), within.clone()].into_iter().filter(|one| !one.sql.is_empty()));
    connection
        .prepare(&format!("SELECT i.row, i.id, i.kind FROM items i WHERE {}", condition.sql))?
        .query_map(params_from_iter(condition.values), |row| {
            let kind = parse_word(&row.get::<_, String>(2)?)?;
            Ok((row.get(1)?, Written { row: first(row)?, kind }))
        })?
        .collect()
}

/// The part of a change to undo.
#[derive(Default)]
struct Part {
    /// Whether all of the change is undone: it wrote one memory, or one pattern.
    is_whole: bool,
    /// Otherwise these of its events: the same transaction wrote others too.
    events: BTreeSet<i64>,
}

/// Returns the changes that wrote some memories, and those that made patterns of them.
fn changes_of(connection: &Connection, written: &HashMap<String, Written>) -> Result<BTreeMap<Change, Part>> {
    let mut find = connection.prepare_cached(
        "SELECT change, event, action FROM events WHERE subject = ?1 AND action IN ('curate', 'import', 'stand_for')",
    )?;
    let mut patterns = connection.prepare_cached(
        "SELECT p.row, p.id FROM relations r JOIN items p ON p.row = r.other
         WHERE r.row = ?1 AND r.relation = 'example_of' AND p.status IN ('candidate', 'active')",
    )?;
    let mut changes: BTreeMap<Change, Part> = BTreeMap::new();
    let memories = written.iter().filter(|(_, one)| one.kind == Kind::Memory);
    let mut open: Vec<(RowId, String)> = memories.map(|(id, one)| (one.row, id.clone())).collect();
    let mut seen: BTreeSet<RowId> = open.iter().map(|(row, _)| *row).collect();
    while let Some((row, id)) = open.pop() {
        let mut events = find.query([&id])?;
        while let Some(event) = events.next()? {
            let part = changes.entry(Change(event.get(0)?)).or_default();
            if event.get_ref(2)?.as_str()? == "import" {
                part.events.insert(event.get(1)?);
            } else {
                part.is_whole = true;
            }
        }
        // A pattern repeats its examples.
        let mut above = patterns.query([row.0])?;
        while let Some(pattern) = above.next()? {
            let (row, id) = (first(pattern)?, pattern.get(1)?);
            if seen.insert(row) {
                open.push((row, id));
            }
        }
    }
    Ok(changes)
}

/// Returns the events by which an origin confirmed memories of others.
fn confirmations(connection: &Connection, origin: &Origin, within: &Condition) -> Result<Vec<(Change, i64)>> {
    let named = [
        ("json_extract(e.detail, '$.origin.session') = ?", &origin.session),
        ("json_extract(e.detail, '$.origin.host') = ?", &origin.host),
        ("json_extract(e.detail, '$.origin.source') = ?", &origin.source),
    ];
    let named =
        named.into_iter().filter_map(|(sql, name)| Some(Condition::of(sql, Sql::Text(name.clone()?))));
    let condition = every(named.chain([within.clone()]).filter(|one| !one.sql.is_empty()));
    connection
        .prepare(&format!(
            "SELECT e.change, e.event FROM events e JOIN items i ON i.id = e.subject
             WHERE e.action = 'confirm' AND e.detail LIKE '%\"origin\"%' AND {}
               AND NOT EXISTS (SELECT 1 FROM events u WHERE u.subject = e.subject AND u.action = 'undo'
                 AND json_extract(u.detail, '$.of') = e.event
                 AND NOT EXISTS (SELECT 1 FROM events r WHERE r.subject = u.subject AND r.action = 'undo'
                   AND json_extract(r.detail, '$.of') = u.event))",
            condition.sql
        ))?
        .query_map(params_from_iter(condition.values), |row| Ok((Change(row.get(0)?), row.get(1)?)))?
        .collect()
}

impl Part {
    /// Undoes this part of a change. If something prevents it, returns the item and the reason.
    fn back(
        &self,
        connection: &Connection,
        change: Change,
        written: &HashMap<String, Written>,
        now: Change,
        moved: &mut Vec<(String, TakenHow)>,
        stamp: Stamp<'_>,
    ) -> Result<Option<(String, &'static str)>> {
        let of_part = |entry: &Entry| self.is_whole || self.events.contains(&entry.event);
        for entry in entries(connection, change)?.iter().filter(|entry| of_part(entry)) {
            let Some(id) = &entry.subject else { continue };
            let is_own = written.get(id);
            if let Some(own) = is_own.filter(|_| is_beginning(entry))
                && State::of(connection, own.row)?.is_some_and(|now| now.status == Status::Archived.word())
            {
                // It is already hidden.
                continue;
            }
            if let Some(why) = back(connection, entry, id, now, stamp)? {
                let is_done = was_taken_back(connection, entry, id)?;
                return Ok((!is_done).then(|| (id.clone(), why)));
            }
            let what = match (is_own.is_some() || is_beginning(entry), entry.action.as_str()) {
                (true, _) => TakenHow::Archived,
                (false, "confirm") => TakenHow::Unconfirmed,
                (false, _) => TakenHow::Restored,
            };
            moved.push((id.clone(), what));
        }
        Ok(None)
    }
}

/// Whether an event is the first of an item.
fn is_beginning(entry: &Entry) -> bool {
    matches!(entry.action.as_str(), "curate" | "import")
}

/// Whether an event was undone before.
fn was_taken_back(connection: &Connection, entry: &Entry, id: &str) -> Result<bool> {
    connection
        .prepare_cached(
            "SELECT 1 FROM events WHERE subject = ?1 AND action = 'undo' AND json_extract(detail, '$.of') = ?2",
        )?
        .exists(rusqlite::params![id, entry.event])
}

/// Archives a turn of a conversation; returns false if it is already hidden.
fn archive(connection: &Connection, id: &str, row: RowId, change: Change, stamp: Stamp<'_>) -> Result<bool> {
    let Some(before) = State::of(connection, row)?.filter(State::is_seen) else { return Ok(false) };
    let after = before.clone().with_status(Status::Archived, stamp.now.as_microsecond());
    let mut detail = Map::from_iter([("rule".to_owned(), Value::from("origin"))]);
    turn(connection, row, &before, &after, &mut detail, stamp)?;
    record(connection, change, stamp, Turn::Archive.word(), Some(id), &Value::Object(detail))?;
    Ok(true)
}

/// Returns an item's text in one line.
fn summary(connection: &Connection, id: &str) -> Result<String> {
    let Some(row) = row_of(connection, id)? else { return Ok(String::new()) };
    let summary: Option<String> = connection
        .prepare_cached(
            "SELECT CASE summary WHEN '' THEN substr(content, 1, 160) ELSE summary END FROM texts WHERE row = ?1",
        )?
        .query_row([row.0], |row| row.get(0))
        .optional()?;
    Ok(summary.unwrap_or_default())
}
