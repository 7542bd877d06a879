//! The states of an item's life: each event stores the fields that it changed, with their old values.
//! From `is` alone the state of every memory can be rebuilt; with `was` a change can be undone. Neither contains text.

use rusqlite::{Connection, OptionalExtension, Result, params};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::checksums::seal_fields;
use super::columns::{json_field, parse_word};
use super::events::{Entry, record};
use super::tags::remove_tags;
use super::ties::{end_possible, retie, row_of, ties_stand};
use super::trust::repaired;
use crate::item::{Author, Change, Provenance, Relation, RowId, Status};
use crate::store::Stamp;

/// The fields of a memory's life that change other than by use, as stored: times in microseconds since 1970.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    pub status: String,
    pub tier: i64,
    pub confidence: f64,
    pub observations: i64,
    pub hidden_time: Option<i64>,
    pub valid_from: Option<i64>,
    pub valid_to: Option<i64>,
    pub supersedes_id: Option<String>,
    #[serde(default = "anybody")]
    pub said_by: String,
    #[serde(default = "anybody")]
    pub least_trusted: String,
    #[serde(default)]
    pub reviewed: bool,
}

fn anybody() -> String {
    Author::Import.word().to_owned()
}

impl State {
    /// Reads the present state of an item; `None` if it was removed.
    pub(super) fn of(connection: &Connection, row: RowId) -> Result<Option<Self>> {
        connection
            .prepare_cached(
                "SELECT status, tier, confidence, observations, hidden_time, valid_from, valid_to, supersedes_id,
                 coalesce(said_by, 'document'), coalesce(least_trusted, 'document'), reviewed FROM items WHERE row = ?1",
            )?
            .query_row([row.0], |row| {
                Ok(Self {
                    status: row.get(0)?,
                    tier: row.get(1)?,
                    confidence: row.get(2)?,
                    observations: row.get(3)?,
                    hidden_time: row.get(4)?,
                    valid_from: row.get(5)?,
                    valid_to: row.get(6)?,
                    supersedes_id: row.get(7)?,
                    said_by: row.get(8)?,
                    least_trusted: row.get(9)?,
                    reviewed: row.get(10)?,
                })
            })
            .optional()
    }

    /// Whether answers may show it.
    pub(super) fn is_seen(&self) -> bool {
        self.status == Status::Candidate.word() || self.status == Status::Active.word()
    }

    /// Returns the state with another status, which may hide the item or show it again.
    pub(super) fn with_status(self, status: Status, now: i64) -> Self {
        let hidden_time = match status {
            Status::Candidate | Status::Active => None,
            Status::Superseded | Status::Archived | Status::Variant => Some(now),
        };
        Self { status: status.word().to_owned(), hidden_time, ..self }
    }

    /// Returns the provenance.
    pub(super) fn provenance(&self) -> Result<Provenance> {
        Ok(Provenance {
            said_by: parse_word(&self.said_by)?,
            least_trusted: parse_word(&self.least_trusted)?,
            reviewed: self.reviewed,
        })
    }

    /// Returns the state with another provenance.
    pub(super) fn with_provenance(self, provenance: Provenance) -> Self {
        Self {
            said_by: provenance.said_by.word().to_owned(),
            least_trusted: provenance.least_trusted.word().to_owned(),
            reviewed: provenance.reviewed,
            ..self
        }
    }

    fn fields(&self) -> Map<String, Value> {
        let Ok(Value::Object(fields)) = serde_json::to_value(self) else {
            unreachable!("a struct is an object")
        };
        fields
    }
}

/// Writes a new state, and adds the old and new values of the changed fields to the event's detail.
pub(super) fn turn(
    connection: &Connection,
    row: RowId,
    before: &State,
    after: &State,
    detail: &mut Map<String, Value>,
    stamp: Stamp<'_>,
) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE items SET status = ?2, tier = ?3, confidence = ?4, observations = ?5, hidden_time = ?6, valid_from = ?7,
             valid_to = ?8, supersedes_id = ?9, update_time = ?10, said_by = ?11, least_trusted = ?12, reviewed = ?13
             WHERE row = ?1",
        )?
        .execute(params![
            row.0,
            after.status,
            after.tier,
            after.confidence,
            after.observations,
            after.hidden_time,
            after.valid_from,
            after.valid_to,
            after.supersedes_id,
            stamp.now.as_microsecond(),
            Some(&after.said_by).filter(|word| *word != Author::Document.word()),
            Some(&after.least_trusted).filter(|word| *word != Author::Document.word()),
            after.reviewed,
        ])?;
    seal_fields(connection, row)?;
    let (was, mut is) = (before.fields(), after.fields());
    is.retain(|key, value| was.get(key) != Some(value));
    let was: Map<String, Value> = was.into_iter().filter(|(key, _)| is.contains_key(key)).collect();
    detail.insert("was".to_owned(), Value::Object(was));
    detail.insert("is".to_owned(), Value::Object(is));
    Ok(())
}

/// Adds the state of a new memory to the detail of its event.
pub(super) fn start(connection: &Connection, row: RowId, detail: &mut Map<String, Value>) -> Result<()> {
    if let Some(state) = State::of(connection, row)? {
        let mut is = state.fields();
        is.retain(|_, value| !value.is_null());
        detail.insert("is".to_owned(), Value::Object(is));
    }
    Ok(())
}

/// Adds the whole state of a memory to the detail of an event that replaced its fields, empty fields included. The old
/// values are left out, because more than the state changed.
pub(super) fn restart(connection: &Connection, row: RowId, detail: &mut Map<String, Value>) -> Result<()> {
    if let Some(state) = State::of(connection, row)? {
        detail.insert("is".to_owned(), Value::Object(state.fields()));
    }
    Ok(())
}

/// Whether an item is still as an event left it. Numbers are compared as printed and parsed.
fn stands(now: &Map<String, Value>, is: &Map<String, Value>) -> bool {
    is.iter().all(|(key, left)| match (now.get(key), left) {
        // What an undo hid again is hidden since that undo.
        (Some(Value::Number(_)), Value::Number(_)) if key == "hidden_time" => true,
        (Some(Value::Number(a)), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN));
            (a - b).abs() <= 1e-9 * a.abs().max(1.0)
        }
        (present, left) => present == Some(left) || (present.is_none() && left.is_null()),
    })
}

/// Numbers that each confirmation adds to.
const COUNTED: [&str; 2] = ["observations", "confidence"];

/// Whether only those numbers changed.
fn counts_alone(was: &Map<String, Value>) -> bool {
    !was.is_empty() && was.keys().all(|key| COUNTED.contains(&key.as_str()))
}

/// Subtracts from each number the part that a confirmation added.
fn uncount(fields: &mut Map<String, Value>, was: &Map<String, Value>, is: &Map<String, Value>) {
    let number = |of: &Map<String, Value>, key: &str| of.get(key).and_then(Value::as_f64);
    if let (Some(now), Some(was), Some(is)) =
        (number(fields, "confidence"), number(was, "confidence"), number(is, "confidence"))
    {
        fields.insert("confidence".to_owned(), json!((now - (is - was)).clamp(0.0, 1.0)));
    }
    let count = |of: &Map<String, Value>, key: &str| of.get(key).and_then(Value::as_i64);
    if let (Some(now), Some(was), Some(is)) =
        (count(fields, "observations"), count(was, "observations"), count(is, "observations"))
    {
        fields.insert("observations".to_owned(), json!((now - (is - was)).max(1)));
    }
}

fn object<'a>(detail: &'a Map<String, Value>, key: &str) -> Option<&'a Map<String, Value>> {
    detail.get(key)?.as_object()
}

fn has_successor(connection: &Connection, id: &str) -> Result<bool> {
    connection.prepare_cached("SELECT 1 FROM items WHERE supersedes_id = ?1")?.exists([id])
}

/// Returns why a state would break a chain, if it would. A link to a removed memory, to a visible one, or to one replaced
/// by another breaks it. So does a memory that becomes visible before its successor is undone. In a run each part is
/// undone by itself, so the other part may have stayed.
fn breaks_chain(
    connection: &Connection,
    id: &str,
    present: &State,
    after: &State,
) -> Result<Option<&'static str>> {
    let superseded = Status::Superseded.word();
    if present.status == superseded && after.status != superseded && has_successor(connection, id)? {
        return Ok(Some(REPLACED));
    }
    let Some(older) = after.supersedes_id.as_deref().filter(|_| after.supersedes_id != present.supersedes_id)
    else {
        return Ok(None);
    };
    let is_free = connection
        .prepare_cached(
            "SELECT 1 FROM items WHERE id = ?1 AND status = ?2
             AND NOT EXISTS (SELECT 1 FROM items WHERE supersedes_id = ?1)",
        )?
        .exists([older, superseded])?;
    Ok((!is_free).then_some(UNLINKED))
}

/// Actions of runs over many memories, in their one event without a subject.
pub(super) const HEADS: &[&str] = &["sweep", "prune", "consolidate", "import", "undo"];

/// Actions of events that change relations or reviews of memories, not a state.
const TIES: &[&str] = &["link", "contradict", "review", "settle"];

/// Reasons why an event cannot be undone.
const GONE: &str = "it was forgotten";
const MOVED: &str = "it changed since";
const UNLINKED: &str = "the memory that it replaced no longer exists";
const REPLACED: &str = "something else has its place since";

/// Undoes the effect of one event on its item. Returns the reason if it cannot.
pub(super) fn back(
    connection: &Connection,
    entry: &Entry,
    id: &str,
    change: Change,
    stamp: Stamp<'_>,
) -> Result<Option<&'static str>> {
    if matches!(entry.action.as_str(), "forget" | "remove" | "move" | "index" | "embed") {
        return Ok(Some("what was forgotten or indexed cannot be undone"));
    }
    if entry.detail.contains_key("changed") {
        return Ok(Some("an import or an edit gave it other fields; import its earlier form"));
    }
    let Some(row) = row_of(connection, id)? else { return Ok(Some(GONE)) };
    let Some(present) = State::of(connection, row)? else { return Ok(Some(GONE)) };
    let fields = present.fields();
    let mut detail =
        Map::from_iter([("undoes".to_owned(), json!(entry.action)), ("of".to_owned(), json!(entry.event))]);
    let of_event = |key| {
        let mut state = object(&entry.detail, key).cloned();
        state.as_mut().map_or(Ok(()), |state| repaired(connection, state)).map(|()| state)
    };
    let after = match (of_event("was")?, of_event("is")?) {
        (Some(was), Some(is)) => {
            let mut fields = fields;
            if stands(&fields, &is) {
                fields.extend(was);
            } else if entry.action == "confirm" && counts_alone(&was) {
                // Others confirmed it since: their part stays.
                uncount(&mut fields, &was, &is);
            } else {
                return Ok(Some(MOVED));
            }
            let text = serde_json::to_string(&fields).map_err(|_| rusqlite::Error::InvalidQuery)?;
            let mut after = json_field::<State>(&text)?;
            if present.is_seen() && !after.is_seen() {
                // It becomes hidden now; until now it was visible.
                after.hidden_time = Some(stamp.now.as_microsecond());
            }
            after
        }
        // A new memory is archived. If it had replaced an older one, that event was undone before this one.
        (None, Some(is)) => {
            let told = is.get("status").and_then(Value::as_str);
            if !present.is_seen() && told != Some(present.status.as_str()) {
                return Ok(Some(MOVED));
            }
            if present.status == Status::Superseded.word() && has_successor(connection, id)? {
                // It came as a link of a chain, and is already hidden.
                return Ok(None);
            }
            present.clone().with_status(Status::Archived, stamp.now.as_microsecond())
        }
        (Some(_) | None, None) if TIES.contains(&entry.action.as_str()) || has_ties(entry) => {
            if entry.action == "relate" && !ties_stand(connection, &entry.detail)? {
                return Ok(Some(MOVED));
            }
            untie(connection, entry, row, change, stamp)?;
            if has_ties(entry) {
                swap_ties(entry, &mut detail);
                record(connection, change, stamp, "undo", Some(id), &Value::Object(detail))?;
            }
            return Ok(None);
        }
        (Some(_) | None, None) => return Ok(Some("it was written before events could be undone")),
    };
    if let Some(why) = breaks_chain(connection, id, &present, &after)? {
        return Ok(Some(why));
    }
    untie(connection, entry, row, change, stamp)?;
    swap_ties(entry, &mut detail);
    if present.is_seen() && !after.is_seen() {
        end_possible(connection, row)?;
    }
    turn(connection, row, &present, &after, &mut detail, stamp)?;
    record(connection, change, stamp, "undo", Some(id), &Value::Object(detail))?;
    Ok(None)
}

/// Whether an event names relations that it added or removed.
fn has_ties(entry: &Entry) -> bool {
    ["tied", "untied"].iter().any(|key| entry.detail.contains_key(*key))
}

/// Notes in the event of an undo which relations it removed and added, so that undoing the undo brings them back.
fn swap_ties(entry: &Entry, detail: &mut Map<String, Value>) {
    for (key, other) in [("tied", "untied"), ("untied", "tied")] {
        if let Some(ties) = entry.detail.get(other) {
            detail.insert(key.to_owned(), ties.clone());
        }
    }
}

/// Undoes the relations, tags and reviews that came with an event.
fn untie(connection: &Connection, entry: &Entry, row: RowId, change: Change, stamp: Stamp<'_>) -> Result<()> {
    retie(connection, &entry.detail, stamp)?;
    let named = |key: &str| entry.detail.get(key).and_then(Value::as_str);
    let relation = match entry.action.as_str() {
        "link" => Some((row, named("other"))),
        "contradict" => {
            if let Some(other) = named("other").map(|id| row_of(connection, id)).transpose()?.flatten() {
                connection
                    .prepare_cached("DELETE FROM reviews WHERE row = ?1 AND other = ?2")?
                    .execute([row.0, other.0])?;
            }
            Some((row, named("other")))
        }
        "review" => {
            if let Some(review) = entry.detail.get("review").and_then(Value::as_i64) {
                connection
                    .prepare_cached("UPDATE reviews SET outcome = NULL, close_time = NULL WHERE review = ?1")?
                    .execute([review])?;
            }
            None
        }
        _ => None,
    };
    if let Some((row, Some(other))) = relation
        && let Some(other) = row_of(connection, other)?
    {
        for relation in [Relation::RelatedTo, Relation::Contradicts, Relation::ExampleOf] {
            connection
                .prepare_cached("DELETE FROM relations WHERE row = ?1 AND relation = ?2 AND other = ?3")?
                .execute(params![row.0, relation.word(), other.0])?;
        }
    }
    for (key, relation) in [("by", Relation::Supersedes), ("pattern", Relation::ExampleOf)] {
        if let Some(by) = named(key).map(|id| row_of(connection, id)).transpose()?.flatten() {
            // Both directions: a successor points at the memory that it replaced, an example at its pattern.
            connection
                .prepare_cached(
                    "DELETE FROM relations WHERE relation = ?3 AND ((row = ?1 AND other = ?2) OR (row = ?2 AND other = ?1))",
                )?
                .execute(params![row.0, by.0, relation.word()])?;
        }
    }
    if let Some(tags) = entry.detail.get("added").and_then(Value::as_array) {
        let tags: Vec<&str> = tags.iter().filter_map(Value::as_str).collect();
        remove_tags(connection, row, &tags, change)?;
    }
    Ok(())
}
