//! Reads memories for the runs that maintain them, and applies the decisions.
//! Such runs are the sweep, pruning and consolidation. Each writes its decisions in one transaction with its events.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Result, params};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

use super::checksums::seal_fields;
use super::columns::{first, parse_word, timestamp};
use super::events::{next_change, record};
use super::memories::insert_memory;
use super::states::{HEADS, State, turn};
use super::ties::{id_of, relate, row_of};
use super::{SqliteStore, schema};
use crate::item::{Change, Facts, Kind, Provenance, Relation, RowId, Status, Tier, Turn};
use crate::store::{AppliedTransitions, Lifecycle, LifecycleRow, NewPattern, OWN, Stamp, Transition};

fn tier(word: i64) -> Tier {
    match word {
        1 => Tier::Pinned,
        3 => Tier::Fading,
        _ => Tier::Active,
    }
}

impl Lifecycle for SqliteStore {
    fn lives(&self, each: &mut dyn FnMut(LifecycleRow<'_>)) -> crate::Result<()> {
        self.read("read the lives of memories", |connection| {
            // If most rows are memories, reading them one by one through an index takes twice as long as reading all
            // rows.
            let memories: i64 = connection
                .prepare_cached("SELECT coalesce(sum(number), 0) FROM counts WHERE kind = 'memory'")?
                .query_row([], |row| row.get(0))?;
            let rows: i64 = connection
                .prepare_cached("SELECT coalesce(max(row), 0) FROM items")?
                .query_row([], |row| row.get(0))?;
            let how = if 2 * memories > rows { "NOT INDEXED" } else { "" };
            let provenance = if self.schema >= schema::KEEPS_PROVENANCE {
                "coalesce(said_by, 'document'), coalesce(least_trusted, 'document'), reviewed"
            } else {
                "'import', 'import', 0"
            };
            let mut statement = connection.prepare_cached(&format!(
                "SELECT row, id, type, status, tier, importance, confidence, observations, decay_rate, access_count,
                 create_time, access_time, scope, owner, collection, source, {provenance}
                 FROM items {how} WHERE kind = 'memory' AND status IN ('candidate', 'active')",
            ))?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let text = |at| row.get_ref(at).and_then(|value| Ok(value.as_str()?));
                let memory_type = row.get_ref(2)?.as_str_or_null()?.map(parse_word).transpose()?;
                each(LifecycleRow {
                    row: first(row)?,
                    id: text(1)?,
                    status: parse_word(text(3)?)?,
                    observations: row.get::<_, i64>(7)?.unsigned_abs(),
                    scope: parse_word(text(12)?)?,
                    owner: row.get_ref(13)?.as_str_or_null()?,
                    collection: text(14)?,
                    is_own: text(15)? == OWN,
                    provenance: Provenance {
                        said_by: parse_word(text(16)?)?,
                        least_trusted: parse_word(text(17)?)?,
                        reviewed: row.get(18)?,
                    },
                    facts: Facts {
                        kind: Kind::Memory,
                        memory_type,
                        importance: row.get(5)?,
                        confidence: row.get(6)?,
                        access_count: row.get::<_, i64>(9)?.unsigned_abs(),
                        decay_rate: row.get(8)?,
                        created: timestamp(row.get(10)?)?,
                        accessed: timestamp(row.get(11)?)?,
                        tier: tier(row.get(4)?),
                        asked_time: None,
                    },
                });
            }
            Ok(())
        })
    }

    fn turn(
        &self,
        head: Option<(&'static str, &Map<String, Value>)>,
        turns: &[Transition],
        stamp: Stamp<'_>,
    ) -> crate::Result<AppliedTransitions> {
        self.write("turn the memories", |connection| {
            let change = next_change(connection)?;
            let mut turned = AppliedTransitions::default();
            for one in turns {
                if let Some(event) = apply(connection, one, change, stamp)? {
                    turned.event = event;
                    turned.rows.push(one.row);
                }
            }
            if let Some((action, detail)) = head {
                debug_assert!(HEADS.contains(&action), "{action} could not be undone as a run");
                let mut detail = detail.clone();
                detail.insert("turned".to_owned(), json!(turned.rows.len()));
                turned.event = record(connection, change, stamp, action, None, &Value::Object(detail))?;
            }
            Ok(turned)
        })
    }

    fn add_uses(&self, used: &[(RowId, Timestamp)]) -> crate::Result<()> {
        self.write("remember what was used", |connection| {
            used.iter().try_for_each(|(row, time)| add_use(connection, *row, time.as_microsecond()))
        })
    }

    fn put_patterns(&self, patterns: &[NewPattern], stamp: Stamp<'_>) -> crate::Result<Vec<Option<u64>>> {
        self.write("keep the patterns", |connection| {
            patterns.iter().map(|pattern| put_pattern(connection, pattern, stamp)).collect()
        })
    }

    fn last_runs(&self) -> crate::Result<BTreeMap<String, Timestamp>> {
        self.read("read when runs were made", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT time FROM events WHERE action = ?1 AND subject IS NULL ORDER BY event DESC LIMIT 1",
            )?;
            let mut last = |action: &&str| -> Result<Option<(String, Timestamp)>> {
                let time: Option<i64> = statement.query_row([action], |row| row.get(0)).optional()?;
                Ok(time.map(timestamp).transpose()?.map(|time| ((*action).to_owned(), time)))
            };
            HEADS.iter().filter_map(|action| last(action).transpose()).collect()
        })
    }
}

/// Writes one pattern as a separate change, so that it can be undone alone.
fn put_pattern(connection: &Connection, pattern: &NewPattern, stamp: Stamp<'_>) -> Result<Option<u64>> {
    let NewPattern { memory, members } = pattern;
    let is_there = row_of(connection, &memory.id)?.is_some();
    let mut states = Vec::with_capacity(members.len());
    for row in members {
        states.extend(State::of(connection, *row)?.filter(State::is_seen));
    }
    if is_there || states.len() < members.len() {
        return Ok(None);
    }
    let change = next_change(connection)?;
    let row = insert_memory(connection, memory, change, stamp)?;
    let observations = states.iter().map(|state| state.observations).sum();
    let before = State::of(connection, row)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let mut detail = Map::from_iter([("members".to_owned(), json!(members.len()))]);
    turn(connection, row, &before, &State { observations, ..before.clone() }, &mut detail, stamp)?;
    record(connection, change, stamp, "stand_for", Some(&memory.id), &Value::Object(detail))?;
    for (member, before) in members.iter().zip(states) {
        relate(connection, *member, Relation::ExampleOf, row, 1.0, stamp)?;
        let after = before.clone().with_status(Status::Archived, stamp.now.as_microsecond());
        let mut detail = Map::from_iter([
            ("rule".to_owned(), json!("patterned")),
            ("pattern".to_owned(), json!(memory.id)),
        ]);
        turn(connection, *member, &before, &after, &mut detail, stamp)?;
        let id = id_of(connection, *member)?;
        record(connection, change, stamp, Turn::Archive.word(), Some(&id), &Value::Object(detail))?;
    }
    let detail = json!({ "pattern": memory.id, "turned": members.len() });
    record(connection, change, stamp, "consolidate", None, &detail).map(Some)
}

/// Changes one memory, unless it changed since the decision. Returns the event's number.
fn apply(connection: &Connection, one: &Transition, change: Change, stamp: Stamp<'_>) -> Result<Option<u64>> {
    let Some(before) = State::of(connection, one.row)? else { return Ok(None) };
    let seen = &one.seen;
    let id_and_use: (String, i64) = connection
        .prepare_cached("SELECT id, access_time FROM items WHERE row = ?1")?
        .query_row([one.row.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (id, accessed) = id_and_use;
    let is_same = before.status == seen.status.word()
        && before.tier == seen.tier as i64 + 1
        && (before.confidence as f32).total_cmp(&seen.confidence).is_eq()
        && seen.accessed.is_none_or(|time| time.as_microsecond() == accessed);
    if !is_same {
        return Ok(None);
    }
    let now = stamp.now.as_microsecond();
    let mut after = State { tier: one.tier as i64 + 1, ..before.clone() };
    if !one.confidence.total_cmp(&seen.confidence).is_eq() {
        after.confidence = f64::from(one.confidence);
    }
    if one.status != seen.status {
        after = after.with_status(one.status, now);
    }
    if one.ends {
        after.valid_to = after.valid_to.or(Some(now));
    }
    after.reviewed |= one.is_review;
    if one.is_use {
        add_use(connection, one.row, now)?;
    }
    let mut detail = one.why.clone();
    turn(connection, one.row, &before, &after, &mut detail, stamp)?;
    record(connection, change, stamp, one.action, Some(&id), &Value::Object(detail)).map(Some)
}

fn add_use(connection: &Connection, row: RowId, time: i64) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE items SET access_count = access_count + 1, access_time = max(access_time, ?2) WHERE row = ?1",
        )?
        .execute(params![row.0, time])?;
    seal_fields(connection, row)
}
