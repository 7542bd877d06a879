//! Writes memories, each as decided, in one transaction with its events.
//! Events contain no text: both texts of a replacement are read from its chain.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Result, Row, params};
use serde_json::{Map, Value, json};

use super::SqliteStore;
use super::beside::{anchors_of, put_anchors, put_delta, put_vector};
use super::chains::{OBSERVED, promote, supersede};
use super::checksums::seal;
use super::columns::{author, first, json_field, json_text, parse_word, row_id, timestamp};
use super::events::{next_change, record};
use super::pairs::{close_review, settle, settled};
use super::schema::KEEPS_ANCHORS;
use super::states::{State, start, turn};
use super::tags::{add_tags, put_tags};
use super::ties::{id_of, memory_of, relate};
use crate::item::{Anchor, Change, Kind, Origin, PairRuling, Relation, RowId, Ruling, Scope, Status, Tier};
use crate::store::{Decided, Kept, Memories, Namespace, NewMemory, OWN, ReviewRow, Stamp, WriteAction};

/// Longest chain that is followed. A longer one is a circle; real chains are far shorter.
pub(super) const LONGEST_CHAIN: usize = 10_000;

impl Memories for SqliteStore {
    fn put_memory(
        &self,
        memory: &NewMemory,
        decided: &Decided,
        stamp: Stamp<'_>,
    ) -> crate::Result<Option<Kept>> {
        self.write("keep the memory", |connection| {
            if let Some((row, status)) = by_id(connection, &memory.id)? {
                return say_again(connection, row, status, memory, decided, stamp);
            }
            if is_void(connection, memory, decided)? {
                return Ok(None);
            }
            let change = next_change(connection)?;
            place(connection, memory, decided, change, stamp).map(Some)
        })
    }

    fn settle(&self, review: u64, ruling: Ruling, stamp: Stamp<'_>) -> crate::Result<Option<ReviewRow>> {
        self.write("end the review", |connection| {
            let found = connection
                .prepare_cached(&format!("{REVIEW} WHERE review = ?1 AND outcome IS NULL"))?
                .query_row([review.cast_signed()], read_review)
                .optional()?;
            let Some(found) = found else { return Ok(None) };
            let change = next_change(connection)?;
            let why = Map::from_iter([("review".to_owned(), json!(review))]);
            match ruling {
                Ruling::Accept | Ruling::Merge => {
                    supersede(connection, found.other, Some(found.row), &why, change, stamp)?;
                }
                Ruling::Reject => supersede(connection, found.row, None, &why, change, stamp)?,
                Ruling::Both => {}
            }
            if matches!(ruling, Ruling::Accept | Ruling::Both) {
                promote(connection, found.row, change, stamp)?;
            }
            close_review(connection, review, [found.row, found.other], ruling, change, stamp)?;
            Ok(Some(ReviewRow { outcome: Some(ruling), ..found }))
        })
    }

    fn memories_of(&self, place: &Namespace, after: Change) -> crate::Result<Vec<RowId>> {
        // All memories of a namespace are found by its index, and the few newer ones by the index of changes. The unary
        // `+` keeps SQLite from using the other one.
        let of_place = match after {
            Change(0) => {
                "+text_change > ?4 AND kind = 'memory' AND collection = ?1 AND scope = ?2 AND owner IS ?3"
            }
            _ => {
                "text_change > ?4 AND +kind = 'memory' AND +collection = ?1 AND +scope = ?2 AND +owner IS ?3"
            }
        };
        self.read("read the memories of a place", |connection| {
            connection
                .prepare_cached(&format!("SELECT row FROM items WHERE {of_place}"))?
                .query_map(params![place.collection, place.scope.word(), place.owner, after.0], first)?
                .collect()
        })
    }

    fn is_told_since(&self, scope: Scope, owner: Option<&str>, after: Change) -> crate::Result<bool> {
        self.read("look for newer memories", |connection| {
            connection
                .prepare_cached(
                    // Few rows are newer; without the unary `+` SQLite goes through all memories.
                    "SELECT 1 FROM items WHERE text_change > ?1 AND +kind = 'memory' AND +scope = ?2 AND +owner IS ?3
                     AND source <> ?4",
                )?
                .exists(params![after.0, scope.word(), owner, OWN])
        })
    }

    fn chain(&self, row: RowId) -> crate::Result<Vec<RowId>> {
        self.read("read the chain of a memory", |connection| {
            let mut back = connection.prepare_cached(
                "SELECT o.row FROM items i JOIN items o ON o.id = i.supersedes_id WHERE i.row = ?1",
            )?;
            let mut forth = connection.prepare_cached(
                "SELECT n.row FROM items i JOIN items n ON n.supersedes_id = i.id WHERE i.row = ?1
                 UNION ALL SELECT row FROM relations WHERE other = ?1 AND relation = 'supersedes'",
            )?;
            let mut chain = vec![row];
            while let Some(older) = back.query_row([chain[0].0], first).optional()?
                && chain.len() < LONGEST_CHAIN
            {
                chain.insert(0, older);
            }
            let mut newest = row;
            while let Some(newer) = forth.query_row([newest.0], first).optional()?
                && chain.len() < LONGEST_CHAIN
            {
                chain.push(newer);
                newest = newer;
            }
            Ok(chain)
        })
    }

    fn anchors(&self, rows: &[RowId]) -> crate::Result<Vec<Vec<Anchor>>> {
        if self.schema < KEEPS_ANCHORS {
            return Ok(vec![Vec::new(); rows.len()]);
        }
        self.read("read the anchors", |connection| {
            rows.iter().map(|&row| anchors_of(connection, row)).collect()
        })
    }

    fn anchored(&self) -> crate::Result<Vec<RowId>> {
        if self.schema < KEEPS_ANCHORS {
            return Ok(Vec::new());
        }
        self.read("read which memories have anchors", |connection| {
            connection
                .prepare_cached("SELECT DISTINCT row FROM anchors ORDER BY row")?
                .query_map([], first)?
                .collect()
        })
    }

    fn reviews(&self, all: bool) -> crate::Result<Vec<ReviewRow>> {
        self.read("read the reviews", |connection| {
            let which = if all { "" } else { " WHERE outcome IS NULL" };
            connection
                .prepare_cached(&format!("{REVIEW}{which} ORDER BY review"))?
                .query_map([], read_review)?
                .collect()
        })
    }
}

/// Keeps a text that is there already, as a memory or as a wording of one. Returns `None` if a successor says otherwise:
/// then it is a new memory, under another id.
fn say_again(
    connection: &Connection,
    row: RowId,
    status: Status,
    memory: &NewMemory,
    decided: &Decided,
    stamp: Stamp<'_>,
) -> Result<Option<Kept>> {
    let subject = match status {
        Status::Superseded => return Ok(None),
        Status::Candidate | Status::Active | Status::Archived => row,
        Status::Variant => memory_of(connection, row)?.unwrap_or(row),
    };
    if State::of(connection, subject)?.is_some_and(|state| state.status == Status::Superseded.word()) {
        return Ok(None);
    }
    let change = next_change(connection)?;
    let mut kept = observe(connection, subject, memory, decided, change, stamp)?;
    if !decided.is_told {
        return Ok(Some(kept));
    }
    let told = match decided.standing {
        WriteAction::Replaces(other) => Some((other, PairRuling::Replaces)),
        WriteAction::Confirms(other) | WriteAction::Rewords(other) => Some((other, PairRuling::Confirms)),
        WriteAction::Alone | WriteAction::Relates(..) | WriteAction::Disputes(_) | WriteAction::Yields(_) => {
            None
        }
    };
    let different = decided.different.iter().map(|&other| (other, PairRuling::DifferentFrom));
    for (other, ruling) in told.into_iter().chain(different) {
        // The caller means the text's memory, unless it parts the text from it.
        let side = if other == subject { row } else { subject };
        if side != other && settled(connection, side, other, ruling)?.is_none() {
            settle(connection, side, other, ruling, change, stamp)?;
        }
    }
    if told.is_some_and(|(other, ruling)| ruling == PairRuling::Confirms && other != subject) {
        let other = decided.standing.other().unwrap_or(subject);
        kept = Kept { row: other, id: id_of(connection, other)?, ..kept };
    } else if told.is_some_and(|(other, _)| other == subject) || decided.different.contains(&subject) {
        kept = Kept { row, id: memory.id.clone(), ..kept };
    }
    Ok(Some(kept))
}

const REVIEW: &str = "SELECT review, row, other, reason, create_time, outcome FROM reviews";

fn read_review(row: &Row<'_>) -> Result<ReviewRow> {
    let outcome: Option<String> = row.get(5)?;
    Ok(ReviewRow {
        review: row.get::<_, i64>(0)?.unsigned_abs(),
        row: row_id(row.get(1)?)?,
        other: row_id(row.get(2)?)?,
        reason: row.get(3)?,
        create_time: timestamp(row.get(4)?)?,
        outcome: outcome.map(|word| parse_word(&word)).transpose()?,
    })
}

fn by_id(connection: &Connection, id: &str) -> Result<Option<(RowId, Status)>> {
    connection
        .prepare_cached("SELECT row, status FROM items WHERE id = ?1")?
        .query_row([id], |row| Ok((first(row)?, parse_word(&row.get::<_, String>(1)?)?)))
        .optional()
}

/// Whether a decision is void.
fn is_void(connection: &Connection, memory: &NewMemory, decided: &Decided) -> Result<bool> {
    let newer = connection
        .prepare_cached(
            // Few rows are newer; without the unary `+` SQLite goes through the whole namespace.
            "SELECT 1 FROM items WHERE text_change > ?1 AND kind = 'memory' AND +collection = ?2 AND +scope = ?3
             AND +owner IS ?4",
        )?
        .exists(params![decided.seen.0, memory.collection, memory.scope.word(), memory.owner])?;
    let Some(other) = decided.standing.other() else { return Ok(newer) };
    let stands = connection
        .prepare_cached("SELECT 1 FROM items WHERE row = ?1 AND status IN ('candidate', 'active')")?
        .exists([other.0])?;
    Ok(newer || !stands)
}

/// Writes a new memory, with the effects on the one that it was compared with.
fn place(
    connection: &Connection,
    memory: &NewMemory,
    decided: &Decided,
    change: Change,
    stamp: Stamp<'_>,
) -> Result<Kept> {
    if let WriteAction::Confirms(other) | WriteAction::Rewords(other) = decided.standing {
        let kept = observe(connection, other, memory, decided, change, stamp)?;
        if matches!(decided.standing, WriteAction::Rewords(_)) {
            insert_wording(connection, memory, other, change, stamp)?;
        }
        return Ok(kept);
    }
    let why = &decided.why;
    let row = insert_memory(connection, memory, change, stamp)?;
    let mut kept = Kept { row, id: memory.id.clone(), is_update: false, review: None };
    match decided.standing {
        WriteAction::Alone | WriteAction::Confirms(_) | WriteAction::Rewords(_) => {}
        WriteAction::Relates(other, relation, strength) => {
            relate(connection, kept.row, relation, other, strength, stamp)?;
            tell(connection, &kept.id, "link", other, why, change, stamp)?;
        }
        WriteAction::Replaces(other) => {
            supersede(connection, other, Some(kept.row), why, change, stamp)?;
            kept.is_update = true;
        }
        WriteAction::Disputes(other) => {
            relate(connection, kept.row, Relation::Contradicts, other, 1.0, stamp)?;
            connection
                .prepare_cached(
                    "INSERT INTO reviews (row, other, reason, create_time) VALUES (?1, ?2, ?3, ?4)",
                )?
                .execute(params![
                    kept.row.0,
                    other.0,
                    why.get("rule").and_then(Value::as_str).unwrap_or_default(),
                    stamp.now.as_microsecond()
                ])?;
            kept.review = Some(connection.last_insert_rowid().unsigned_abs());
            tell(connection, &kept.id, "contradict", other, why, change, stamp)?;
        }
        WriteAction::Yields(other) => {
            relate(connection, kept.row, Relation::Contradicts, other, 1.0, stamp)?;
            supersede(connection, kept.row, None, why, change, stamp)?;
            tell(connection, &kept.id, "contradict", other, why, change, stamp)?;
        }
    }
    for possible in &decided.possible {
        relate(connection, row, possible.relation, possible.row, possible.likelihood, stamp)?;
    }
    for &other in &decided.different {
        relate(connection, row, Relation::DiffersFrom, other, 1.0, stamp)?;
    }
    Ok(kept)
}

/// Writes a text as another wording of a memory: it is found like any text, and has no tags or fields of its own.
fn insert_wording(
    connection: &Connection,
    memory: &NewMemory,
    of: RowId,
    change: Change,
    stamp: Stamp<'_>,
) -> Result<()> {
    let wording = NewMemory {
        status: Status::Variant,
        tier: Tier::Active,
        tags: Vec::new(),
        metadata: Map::new(),
        anchors: Vec::new(),
        ..memory.clone()
    };
    let row = insert_memory(connection, &wording, change, stamp)?;
    relate(connection, row, Relation::VariantOf, of, 1.0, stamp)
}

/// Records an event that names the other memory.
fn tell(
    connection: &Connection,
    id: &str,
    action: &str,
    other: RowId,
    why: &Map<String, Value>,
    change: Change,
    stamp: Stamp<'_>,
) -> Result<()> {
    let mut detail = why.clone();
    detail.insert("other".to_owned(), json!(id_of(connection, other)?));
    record(connection, change, stamp, action, Some(id), &Value::Object(detail)).map(drop)
}

/// Removes one item from every table, and records its row as removed, so that indexes mask it.
pub(super) fn remove_row(
    connection: &Connection,
    row: RowId,
    change: Change,
    stamp: Stamp<'_>,
) -> Result<bool> {
    for table in [
        "tags",
        "written_tags",
        "retagged",
        "extracted",
        "anchors",
        "vectors",
        "token_tail",
        "tail",
        "mention_tail",
        "injections",
        "exposures",
        "checksums",
        "texts",
    ] {
        connection.prepare_cached(&format!("DELETE FROM {table} WHERE row = ?1"))?.execute([row.0])?;
    }
    unlink(connection, row, change, stamp)?;
    let removed = connection.prepare_cached("DELETE FROM items WHERE row = ?1")?.execute([row.0])? > 0;
    if removed {
        connection
            .prepare_cached("INSERT OR IGNORE INTO removals (change, row) VALUES (?1, ?2)")?
            .execute(params![change.0, row.0])?;
    }
    Ok(removed)
}

/// Removes the references to a memory that is about to be removed: relations, reviews, and its link in a chain. The
/// neighbours in the chain are joined.
fn unlink(connection: &Connection, row: RowId, change: Change, stamp: Stamp<'_>) -> Result<()> {
    for table in ["relations", "reviews"] {
        connection
            .prepare_cached(&format!("DELETE FROM {table} WHERE row = ?1 OR other = ?1"))?
            .execute([row.0])?;
    }
    let next: Option<RowId> = connection
        .prepare_cached("SELECT row FROM items WHERE supersedes_id = (SELECT id FROM items WHERE row = ?1)")?
        .query_row([row.0], first)
        .optional()?;
    let (Some(next), Some(gone)) = (next, State::of(connection, row)?) else { return Ok(()) };
    let Some(before) = State::of(connection, next)? else { return Ok(()) };
    let mut detail = Map::new();
    let after = State { supersedes_id: gone.supersedes_id, ..before.clone() };
    turn(connection, next, &before, &after, &mut detail, stamp)?;
    record(connection, change, stamp, "unlink", Some(&id_of(connection, next)?), &Value::Object(detail))?;
    Ok(())
}

pub(super) fn insert_memory(
    connection: &Connection,
    memory: &NewMemory,
    change: Change,
    stamp: Stamp<'_>,
) -> Result<RowId> {
    let now = stamp.now.as_microsecond();
    // With a clock that is behind, a new memory would seem unused for years.
    connection
        .prepare_cached(
            "INSERT INTO items (id, kind, collection, type, importance, confidence, decay_rate, create_time, access_time,
             update_time, scope, owner, status, tier, metadata, source, source_conv_id, text_change, valid_from,
             valid_to, hidden_time, said_by, least_trusted, reviewed, host)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?19,
             max(?8, coalesce((SELECT CASE WHEN is_trusted THEN jump_time ELSE time END FROM clock), ?8)),
             ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
             CASE WHEN ?11 IN ('superseded', 'archived', 'variant') THEN ?8 END, ?20, ?21, ?22, ?23)",
        )?
        .execute(params![
            memory.id,
            Kind::Memory.word(),
            memory.collection,
            memory.memory_type.word(),
            memory.importance,
            memory.confidence,
            memory.decay_rate,
            now,
            memory.scope.word(),
            memory.owner,
            memory.status.word(),
            memory.tier as i64 + 1,
            json_text(&memory.metadata)?,
            memory.source,
            memory.source_conv_id,
            change.0,
            memory.valid_from.map(Timestamp::as_microsecond),
            memory.valid_to.map(Timestamp::as_microsecond),
            memory.create_time.unwrap_or(stamp.now).as_microsecond(),
            author(memory.provenance.said_by),
            author(memory.provenance.least_trusted),
            memory.provenance.reviewed,
            memory.host,
        ])?;
    let row = row_id(connection.last_insert_rowid())?;
    connection
        .prepare_cached("INSERT INTO texts (row, summary, content, keywords) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![row.0, memory.summary, memory.content, json_text(&memory.keywords)?])?;
    put_anchors(connection, row, &memory.anchors)?;
    put_delta(connection, row, change, &memory.delta)?;
    put_tags(connection, row, &memory.tags)?;
    if let Some(vector) = &memory.vector {
        put_vector(connection, row, vector, change)?;
    }
    seal(connection, row)?;
    let mut detail = Map::from_iter([
        ("type".to_owned(), json!(memory.memory_type.word())),
        ("collection".to_owned(), json!(memory.collection)),
    ]);
    note_writer(memory, &mut detail);
    start(connection, row, &mut detail)?;
    record(connection, change, stamp, "curate", Some(&memory.id), &Value::Object(detail))?;
    Ok(row)
}

/// Adds the origin to an event, by which everything that one origin wrote is found again.
fn note_writer(memory: &NewMemory, detail: &mut Map<String, Value>) {
    if memory.source_conv_id.is_none() && memory.host.is_none() {
        return;
    }
    let origin = Origin {
        session: memory.source_conv_id.clone(),
        host: memory.host.clone(),
        source: Some(memory.source.clone()),
    };
    detail.insert("origin".to_owned(), json!(origin));
}

/// Confirms a memory: one more observation, and a little more confidence. Tags and metadata are merged, and an archived
/// memory comes back; the text stays.
fn observe(
    connection: &Connection,
    row: RowId,
    memory: &NewMemory,
    decided: &Decided,
    change: Change,
    stamp: Stamp<'_>,
) -> Result<Kept> {
    let (id, metadata): (String, String) = connection
        .prepare_cached("SELECT id, metadata FROM items WHERE row = ?1")?
        .query_row([row.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let Some(before) = State::of(connection, row)? else { return Err(rusqlite::Error::QueryReturnedNoRows) };
    let (kept, told) = (before.provenance()?, memory.provenance);
    // Unreviewed memories do not change the fields of reviewed ones, and memories from outside confirm nothing.
    let is_heard = told.reviewed || !kept.reviewed;
    let mut after = before.clone();
    if is_heard {
        after.tier = before.tier.min(memory.tier as i64 + 1);
    }
    if before.status == Status::Archived.word() || before.status == Status::Variant.word() {
        after = after.with_status(memory.status, stamp.now.as_microsecond());
        // It is valid again, and no wording of another one.
        after.valid_to = memory.valid_to.map(Timestamp::as_microsecond);
        connection
            .prepare_cached("DELETE FROM relations WHERE row = ?1 AND relation = 'variant_of'")?
            .execute([row.0])?;
    } else if before.status == Status::Candidate.word() && told.reviewed && memory.id == id {
        // The exact words that were only extracted so far are now stated.
        after = after.with_status(Status::Active, stamp.now.as_microsecond());
    }
    if memory.id == id {
        after = after.with_provenance(kept.said_again(told));
    }
    if decided.is_observed && (told.reviewed || !told.is_outside()) {
        after.observations += 1;
        after.confidence = (after.confidence + OBSERVED).min(1.0);
    }
    let mut merged: Map<String, Value> = json_field(&metadata)?;
    if is_heard {
        merged.extend(memory.metadata.clone());
    }
    // A restated memory is in use, though nobody asked for it.
    connection
        .prepare_cached("UPDATE items SET metadata = ?2, access_time = max(access_time, ?3) WHERE row = ?1")?
        .execute(params![row.0, json_text(&merged)?, stamp.now.as_microsecond()])?;
    let tags: &[String] = if is_heard { &memory.tags } else { &[] };
    let added = add_tags(connection, row, tags, change)?;
    // The same text said again is about the code as it is now.
    if is_heard && memory.id == id && !memory.anchors.is_empty() {
        put_anchors(connection, row, &memory.anchors)?;
    }
    // The vector belongs to this exact text: another text that says the same has its own.
    if let Some(vector) = memory.vector.as_ref().filter(|_| memory.id == id) {
        let has_one = connection
            .prepare_cached(
                "SELECT 1 FROM vectors v JOIN models m ON m.row = v.model WHERE v.row = ?1 AND m.name = ?2",
            )?
            .exists(params![row.0, vector.model])?;
        if !has_one {
            put_vector(connection, row, vector, change)?;
        }
    }
    // An equal id confirms whatever was decided, so the reasons for another decision are left out.
    let is_decided = matches!(decided.standing, WriteAction::Confirms(_) | WriteAction::Rewords(_));
    let mut detail = if is_decided { decided.why.clone() } else { Map::new() };
    detail.insert("tags".to_owned(), json!(tags));
    detail.insert("added".to_owned(), json!(added));
    note_writer(memory, &mut detail);
    turn(connection, row, &before, &after, &mut detail, stamp)?;
    record(connection, change, stamp, "confirm", Some(&id), &Value::Object(detail))?;
    Ok(Kept { row, id, is_update: true, review: None })
}
