//! Settles pairs of memories by the caller's word, and reads wordings and what is possible.
//! An event stores the relations that it added and removed, so that undo restores both.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Result, params};
use serde_json::{Map, Value, json};

use super::SqliteStore;
use super::chains::{OBSERVED, promote, supersede};
use super::columns::{first, parse_word, row_id};
use super::events::{are_few_since, next_change, record};
use super::schema::KEEPS_WORDINGS;
use super::states::{State, turn};
use super::tags::{add_tags, written_tags};
use super::ties::{end_possible, id_of, memory_of, relate, row_of, strength_of, tie, wordings_of};
use crate::item::{Change, PairRuling, Relation, RowId, Ruling, Status};
use crate::store::{OpenPair, PairOutcome, Pairs, PossibleRow, RelationRow, Stamp, WordingChanges};

/// Relations that a settled pair has no more.
const OPEN: &[Relation] = &[Relation::MayReplace, Relation::MayRepeat];

/// Relations that end where the two are different facts, or the same.
const TIED: &[Relation] =
    &[Relation::MayReplace, Relation::MayRepeat, Relation::RelatedTo, Relation::Contradicts];

impl Pairs for SqliteStore {
    fn settle_pair(
        &self,
        newer: RowId,
        older: RowId,
        ruling: PairRuling,
        stamp: Stamp<'_>,
    ) -> crate::Result<PairOutcome> {
        self.write("settle the pair", |connection| {
            if let Some(outcome) = settled(connection, newer, older, ruling)? {
                return Ok(outcome);
            }
            let change = next_change(connection)?;
            settle(connection, newer, older, ruling, change, stamp).map(PairOutcome::Settled)
        })
    }

    fn relate(
        &self,
        row: RowId,
        relation: Relation,
        other: RowId,
        strength: Option<f32>,
        stamp: Stamp<'_>,
    ) -> crate::Result<PairOutcome> {
        self.write("relate the memories", |connection| {
            let is_seen = |row| {
                Ok::<_, rusqlite::Error>(State::of(connection, row)?.is_some_and(|state| state.is_seen()))
            };
            if row == other || !is_seen(row)? || !is_seen(other)? {
                return Ok(PairOutcome::Void);
            }
            let before = strength_of(connection, row, relation.word(), other)?;
            if before == strength {
                return Ok(PairOutcome::Unchanged);
            }
            let change = next_change(connection)?;
            let mut ties = Ties::default();
            ties.untie(connection, row, &[relation], other)?;
            if let Some(strength) = strength {
                ties.tie(connection, row, relation, other, strength, stamp)?;
            }
            let mut detail = Map::from_iter([("rule".to_owned(), json!("told"))]);
            ties.note(&mut detail);
            let id = id_of(connection, row)?;
            record(connection, change, stamp, "relate", Some(&id), &Value::Object(detail))
                .map(PairOutcome::Settled)
        })
    }

    fn relations(&self, rows: &[RowId]) -> crate::Result<Vec<RelationRow>> {
        self.read("read the relations of memories", |connection| {
            let mut find = connection.prepare_cached(
                "SELECT row, relation, other, strength FROM relations WHERE row = ?1
                 UNION ALL SELECT row, relation, other, strength FROM relations WHERE other = ?1",
            )?;
            let mut all: Vec<RelationRow> = Vec::new();
            for row in rows {
                let found = find.query_map([row.0], |found| {
                    Ok(RelationRow {
                        row: first(found)?,
                        relation: parse_word(&found.get::<_, String>(1)?)?,
                        other: row_id(found.get(2)?)?,
                        strength: found.get(3)?,
                    })
                })?;
                all.extend(found.collect::<Result<Vec<_>>>()?);
            }
            all.sort_unstable_by_key(|one| (one.row, one.relation, one.other));
            all.dedup_by_key(|one| (one.row, one.relation, one.other));
            Ok(all)
        })
    }

    fn possible(&self, rows: &[RowId]) -> crate::Result<Vec<Vec<PossibleRow>>> {
        self.read("read what is possible", |connection| {
            let mut find = connection.prepare_cached(
                "SELECT r.other, r.relation, r.strength FROM relations r
                 JOIN items n ON n.row = r.row JOIN items o ON o.row = r.other
                 WHERE r.row = ?1 AND r.relation IN ('may_replace', 'may_repeat')
                   AND n.status IN ('candidate', 'active') AND o.status IN ('candidate', 'active')
                 ORDER BY r.strength DESC, r.other",
            )?;
            let mut read = |row: &RowId| {
                find.query_map([row.0], |row| {
                    Ok(PossibleRow {
                        row: first(row)?,
                        relation: parse_word(&row.get::<_, String>(1)?)?,
                        likelihood: row.get(2)?,
                    })
                })?
                .collect()
            };
            rows.iter().map(&mut read).collect()
        })
    }

    fn open_pairs(&self, before: Timestamp, most: usize) -> crate::Result<Vec<OpenPair>> {
        self.read("read the open pairs", |connection| {
            connection
                .prepare_cached(
                    "SELECT r.row, r.other FROM relations r
                     JOIN items n ON n.row = r.row JOIN items o ON o.row = r.other
                     WHERE r.relation IN ('may_replace', 'may_repeat') AND r.create_time < ?1
                       AND n.status = 'active' AND o.status = 'active' AND n.tier > 1 AND o.tier > 1
                       AND n.reviewed AND o.reviewed
                     ORDER BY r.strength DESC, r.row DESC, r.other LIMIT ?2",
                )?
                .query_map(params![before.as_microsecond(), most.cast_signed()], |row| {
                    Ok(OpenPair { newer: first(row)?, older: row_id(row.get(1)?)? })
                })?
                .collect()
        })
    }

    fn wordings(&self) -> crate::Result<Vec<(RowId, RowId)>> {
        if self.schema < KEEPS_WORDINGS {
            return Ok(Vec::new());
        }
        self.read("read the wordings", |connection| {
            connection
                .prepare_cached(
                    "SELECT i.row, r.other FROM items i JOIN relations r ON r.row = i.row AND r.relation = 'variant_of'
                     WHERE i.status = 'variant'",
                )?
                .query_map([], |row| Ok((first(row)?, row_id(row.get(1)?)?)))?
                .collect()
        })
    }

    fn wordings_since(&self, after: Change) -> crate::Result<Option<WordingChanges>> {
        if self.schema < KEEPS_WORDINGS {
            return Ok(None);
        }
        self.read("read the wordings", |connection| {
            if !are_few_since(connection, after)? {
                return Ok(None);
            }
            // Every change of an item's status has an event with the item as its subject.
            let mut changed = connection.prepare_cached(
                "SELECT i.row, CASE WHEN i.status = 'variant' THEN (SELECT r.other FROM relations r
                   WHERE r.row = i.row AND r.relation = 'variant_of') END
                 FROM events e JOIN items i ON i.id = e.subject WHERE e.change > ?1
                 UNION ALL SELECT row, NULL FROM removals WHERE change > ?1 AND row > 0",
            )?;
            let mut rows = changed.query([after.0])?;
            let mut changes = WordingChanges::default();
            while let Some(row) = rows.next()? {
                match row.get::<_, Option<i64>>(1)? {
                    Some(memory) => changes.came.push((first(row)?, row_id(memory)?)),
                    None => changes.went.push(first(row)?),
                }
            }
            Ok(Some(changes))
        })
    }

    fn wordings_of(&self, rows: &[RowId]) -> crate::Result<Vec<RowId>> {
        self.read("read the wordings of memories", |connection| {
            let mut all = Vec::new();
            for row in rows {
                all.extend(wordings_of(connection, *row)?);
            }
            all.sort_unstable();
            Ok(all)
        })
    }

    fn worded_by(&self, rows: &[RowId]) -> crate::Result<Vec<Option<RowId>>> {
        self.read("read the memories of wordings", |connection| {
            rows.iter().map(|row| memory_of(connection, *row)).collect()
        })
    }
}

/// Whether a row has a relation to another.
fn has(connection: &Connection, row: RowId, relation: Relation, other: RowId) -> Result<bool> {
    Ok(strength_of(connection, row, relation.word(), other)?.is_some())
}

/// Returns the result where nothing has to be written: it is so already, or one side is hidden.
pub(super) fn settled(
    connection: &Connection,
    newer: RowId,
    older: RowId,
    ruling: PairRuling,
) -> Result<Option<PairOutcome>> {
    let (Some(one), Some(two)) = (State::of(connection, newer)?, State::of(connection, older)?) else {
        return Ok(Some(PairOutcome::Void));
    };
    let worded = memory_of(connection, newer)?;
    let is_so = match ruling {
        PairRuling::Replaces => {
            two.status == Status::Superseded.word()
                && (one.supersedes_id == Some(id_of(connection, older)?)
                    || has(connection, newer, Relation::Supersedes, older)?)
        }
        PairRuling::Confirms => worded == Some(older),
        PairRuling::DifferentFrom => {
            worded != Some(older) && has(connection, newer, Relation::DiffersFrom, older)?
        }
    };
    if is_so {
        return Ok(Some(PairOutcome::Unchanged));
    }
    // A wording may be parted from its memory, or take its place; elsewhere both sides are seen.
    let is_open = (one.is_seen() || worded.is_some()) && two.is_seen() && newer != older;
    Ok((!is_open).then_some(PairOutcome::Void))
}

/// Relations that an event adds and removes.
#[derive(Default)]
struct Ties {
    tied: Vec<Value>,
    untied: Vec<Value>,
}

impl Ties {
    fn tie(
        &mut self,
        connection: &Connection,
        row: RowId,
        relation: Relation,
        other: RowId,
        strength: f32,
        stamp: Stamp<'_>,
    ) -> Result<()> {
        relate(connection, row, relation, other, strength, stamp)?;
        self.tied.push(tie(connection, row, relation.word(), other, strength.into())?);
        Ok(())
    }

    /// Removes the relations of some kinds from one row to another.
    fn untie(
        &mut self,
        connection: &Connection,
        row: RowId,
        relations: &[Relation],
        other: RowId,
    ) -> Result<()> {
        for relation in relations {
            let strength: Option<f64> = connection
                .prepare_cached(
                    "DELETE FROM relations WHERE row = ?1 AND relation = ?2 AND other = ?3 RETURNING strength",
                )?
                .query_row(params![row.0, relation.word(), other.0], |row| row.get(0))
                .optional()?;
            if let Some(strength) = strength {
                self.untied.push(tie(connection, row, relation.word(), other, strength)?);
            }
        }
        Ok(())
    }

    /// Adds the relations to the detail of the event.
    fn note(self, detail: &mut Map<String, Value>) {
        for (key, ties) in [("tied", self.tied), ("untied", self.untied)] {
            if !ties.is_empty() {
                detail.insert(key.to_owned(), Value::Array(ties));
            }
        }
    }
}

/// Applies the caller's word, which [`settled`] found to change something. Returns the event.
pub(super) fn settle(
    connection: &Connection,
    newer: RowId,
    older: RowId,
    ruling: PairRuling,
    change: Change,
    stamp: Stamp<'_>,
) -> Result<u64> {
    let mut ties = Ties::default();
    let ended = if ruling == PairRuling::Replaces { OPEN } else { TIED };
    for (row, other) in [(newer, older), (older, newer)] {
        ties.untie(connection, row, ended, other)?;
        if ruling == PairRuling::Confirms {
            ties.untie(connection, row, &[Relation::DiffersFrom], other)?;
        }
    }
    let mut detail = Map::from_iter([
        ("rule".to_owned(), json!("told")),
        ("ruling".to_owned(), json!(ruling.word())),
        ("other".to_owned(), json!(id_of(connection, older)?)),
    ]);
    let event = match ruling {
        PairRuling::Replaces => replace(connection, newer, older, ties, detail, change, stamp)?,
        PairRuling::Confirms => reword(connection, newer, older, ties, detail, change, stamp)?,
        PairRuling::DifferentFrom => {
            ties.tie(connection, newer, Relation::DiffersFrom, older, 1.0, stamp)?;
            part(connection, newer, &mut ties, &mut detail, stamp)?;
            ties.note(&mut detail);
            record_settled(connection, newer, detail, change, stamp)?
        }
    };
    close_reviews(connection, newer, older, ruling, change, stamp)?;
    Ok(event)
}

fn record_settled(
    connection: &Connection,
    row: RowId,
    detail: Map<String, Value>,
    change: Change,
    stamp: Stamp<'_>,
) -> Result<u64> {
    record(connection, change, stamp, "settle", Some(&id_of(connection, row)?), &Value::Object(detail))
}

/// Makes a wording a memory of its own; a row that is none stays as it is.
fn part(
    connection: &Connection,
    row: RowId,
    ties: &mut Ties,
    detail: &mut Map<String, Value>,
    stamp: Stamp<'_>,
) -> Result<()> {
    let (Some(memory), Some(before)) = (memory_of(connection, row)?, State::of(connection, row)?) else {
        return Ok(());
    };
    ties.untie(connection, row, &[Relation::VariantOf], memory)?;
    let status = if before.reviewed { Status::Active } else { Status::Candidate };
    let after = before.clone().with_status(status, stamp.now.as_microsecond());
    turn(connection, row, &before, &after, detail, stamp)
}

/// Supersedes the older memory by the newer one.
fn replace(
    connection: &Connection,
    newer: RowId,
    older: RowId,
    mut ties: Ties,
    mut detail: Map<String, Value>,
    change: Change,
    stamp: Stamp<'_>,
) -> Result<u64> {
    if State::of(connection, older)?.is_some_and(|older| older.tier == 1) {
        detail.insert("pinned".to_owned(), json!(true));
    }
    let why = Map::from_iter([("rule".to_owned(), json!("told"))]);
    part(connection, newer, &mut ties, &mut detail, stamp)?;
    ties.note(&mut detail);
    // The first event: undo goes backwards, and the pair is parted again last.
    let event = record_settled(connection, newer, detail, change, stamp)?;
    supersede(connection, older, Some(newer), &why, change, stamp)?;
    promote(connection, newer, change, stamp)?;
    Ok(event)
}

/// Makes the newer memory a wording of the older one, which takes over its place in a chain and its own wordings.
fn reword(
    connection: &Connection,
    newer: RowId,
    older: RowId,
    mut ties: Ties,
    mut detail: Map<String, Value>,
    change: Change,
    stamp: Stamp<'_>,
) -> Result<u64> {
    let (Some(before), Some(kept)) = (State::of(connection, newer)?, State::of(connection, older)?) else {
        return Err(rusqlite::Error::QueryReturnedNoRows);
    };
    if let Some(memory) = memory_of(connection, newer)? {
        ties.untie(connection, newer, &[Relation::VariantOf], memory)?;
    }
    for wording in wordings_of(connection, newer)? {
        // The event has the wording as its subject: whoever caches wordings reads the events.
        let mut moved = Ties::default();
        moved.untie(connection, wording, &[Relation::VariantOf], newer)?;
        moved.tie(connection, wording, Relation::VariantOf, older, 1.0, stamp)?;
        let mut detail = Map::from_iter([("rule".to_owned(), json!("told"))]);
        moved.note(&mut detail);
        record_settled(connection, wording, detail, change, stamp)?;
    }
    ties.tie(connection, newer, Relation::VariantOf, older, 1.0, stamp)?;
    let replaced = before.supersedes_id.clone();
    let inherits = replaced.is_some() && kept.supersedes_id.is_none();
    if let Some(replaced) = replaced.as_deref().filter(|_| !inherits)
        && let Some(replaced) = row_of(connection, replaced)?
    {
        ties.tie(connection, older, Relation::Supersedes, replaced, 1.0, stamp)?;
    }
    let after = State { supersedes_id: None, ..before.clone() }
        .with_status(Status::Variant, stamp.now.as_microsecond());
    turn(connection, newer, &before, &after, &mut detail, stamp)?;
    ties.note(&mut detail);
    let event = record_settled(connection, newer, detail, change, stamp)?;
    // A wording is no side of a review: its memory takes its place against a third one.
    for (side, other) in [("row", "other"), ("other", "row")] {
        connection
            .prepare_cached(&format!(
                "UPDATE reviews SET {side} = ?2 WHERE {side} = ?1 AND {other} <> ?2 AND outcome IS NULL"
            ))?
            .execute([newer.0, older.0])?;
    }
    // Whatever else was possible between the wording and other memories has no subject any more.
    end_possible(connection, newer)?;
    let chain = replaced.filter(|_| inherits);
    observe_wording(connection, newer, older, chain, change, stamp)?;
    Ok(event)
}

/// Closes the open reviews of the two.
fn close_reviews(
    connection: &Connection,
    newer: RowId,
    older: RowId,
    ruling: PairRuling,
    change: Change,
    stamp: Stamp<'_>,
) -> Result<()> {
    let open: Vec<(u64, bool)> = connection
        .prepare_cached(
            "SELECT review, row = ?1 FROM reviews WHERE outcome IS NULL AND (row, other) IN (VALUES (?1, ?2), (?2, ?1))",
        )?
        .query_map([newer.0, older.0], |row| Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get(1)?)))?
        .collect::<Result<_>>()?;
    for (review, is_newer) in open {
        let outcome = match (ruling, is_newer) {
            (PairRuling::Replaces, true) => Ruling::Accept,
            (PairRuling::Replaces, false) => Ruling::Reject,
            (PairRuling::Confirms | PairRuling::DifferentFrom, _) => Ruling::Both,
        };
        close_review(connection, review, [newer, older], outcome, change, stamp)?;
    }
    Ok(())
}

/// Closes a review, with an event of each side.
pub(super) fn close_review(
    connection: &Connection,
    review: u64,
    sides: [RowId; 2],
    ruling: Ruling,
    change: Change,
    stamp: Stamp<'_>,
) -> Result<()> {
    connection
        .prepare_cached("UPDATE reviews SET outcome = ?2, close_time = ?3 WHERE review = ?1")?
        .execute(params![review.cast_signed(), ruling.word(), stamp.now.as_microsecond()])?;
    for row in sides {
        let detail = json!({ "review": review, "ruling": ruling.word() });
        record(connection, change, stamp, "review", Some(&id_of(connection, row)?), &detail)?;
    }
    Ok(())
}

/// Confirms a memory by another one that became its wording: one more observation, and the tags of both. `replaced` is the
/// memory that the wording had taken the place of.
fn observe_wording(
    connection: &Connection,
    wording: RowId,
    row: RowId,
    replaced: Option<String>,
    change: Change,
    stamp: Stamp<'_>,
) -> Result<()> {
    let (Some(told), Some(before)) = (State::of(connection, wording)?, State::of(connection, row)?) else {
        return Err(rusqlite::Error::QueryReturnedNoRows);
    };
    let mut after = State { supersedes_id: before.supersedes_id.clone().or(replaced), ..before.clone() };
    after.tier = before.tier.min(told.tier);
    if told.reviewed || !told.provenance()?.is_outside() {
        after.observations += 1;
        after.confidence = (after.confidence + OBSERVED).min(1.0);
    }
    let added = add_tags(connection, row, &written_tags(connection, wording)?, change)?;
    let mut detail = Map::from_iter([("rule".to_owned(), json!("told")), ("added".to_owned(), json!(added))]);
    turn(connection, row, &before, &after, &mut detail, stamp)?;
    record(connection, change, stamp, "confirm", Some(&id_of(connection, row)?), &Value::Object(detail))?;
    if told.reviewed && !before.reviewed {
        promote(connection, row, change, stamp)?;
    }
    Ok(())
}
