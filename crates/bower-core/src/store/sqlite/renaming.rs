//! Lists tags, renames them and gives them to documents; undoes this, and forgets names that nothing has.

use rusqlite::{Connection, OptionalExtension, Result, params, params_from_iter};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::columns::row_id;
use super::events::{Entry, next_change, record};
use super::schema::KEEPS_RENAMED_TAGS;
use super::tags::{
    TagChange, add_tags, is_below, replace, rows_below, shown_tag, tags_of, trace, written_tags,
};
use super::{SqliteStore, select};
use crate::item::{Change, RowId};
use crate::request::{RenamedTags, Selection, TagAlias, TagCount, Undone, Unmoved};
use crate::store::{DocumentTags, GivenTags, RenameOutcome, Stamp, TagRenaming, Tags};

/// The action of events that rename or give tags.
const ACTION: &str = "retag";

impl Tags for SqliteStore {
    fn tag_list(&self, select: &Selection, under: Option<&str>) -> crate::Result<Vec<TagCount>> {
        let mut condition = select::condition(select);
        if let Some(under) = under {
            condition.sql.push_str(if condition.sql.is_empty() { "" } else { " AND " });
            condition.sql.push_str("(g.tag = ? OR (g.tag > ? AND g.tag < ?))");
            let bounds = [under.to_owned(), format!("{under}/"), format!("{under}0")];
            condition.values.extend(bounds.map(rusqlite::types::Value::Text));
        }
        let sql = format!(
            "SELECT g.tag, count(*), sum(i.kind = 'memory'), count(DISTINCT i.document)
             FROM tags g JOIN items i ON i.row = g.row WHERE {} GROUP BY g.tag",
            if condition.sql.is_empty() { "1" } else { &condition.sql }
        );
        let mut tags = self.read("count the tags", |connection| {
            connection
                .prepare(&sql)?
                .query_map(params_from_iter(&condition.values), |row| {
                    Ok(TagCount {
                        tag: row.get(0)?,
                        items: row.get::<_, i64>(1)?.unsigned_abs(),
                        memories: row.get::<_, i64>(2)?.unsigned_abs(),
                        documents: row.get::<_, i64>(3)?.unsigned_abs(),
                    })
                })?
                .collect::<Result<Vec<_>>>()
        })?;
        // By parts: `a/b` comes right after `a`, before `a-b`.
        tags.sort_unstable_by(|one, other| one.tag.split('/').cmp(other.tag.split('/')));
        Ok(tags)
    }

    fn document_tags(&self, select: &Selection) -> crate::Result<Vec<(String, String)>> {
        let condition = select::condition(select);
        let sql = format!(
            "SELECT DISTINCT d.path, g.tag FROM items i JOIN documents d ON d.row = i.document JOIN tags g ON g.row = i.row
             WHERE {} ORDER BY 1, 2",
            if condition.sql.is_empty() { "1" } else { &condition.sql }
        );
        self.read("read the documents' tags", |connection| {
            connection
                .prepare(&sql)?
                .query_map(params_from_iter(&condition.values), |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        })
    }

    fn is_written(&self, document: &str, tag: &str) -> crate::Result<bool> {
        let of_document =
            "row IN (SELECT i.row FROM items i JOIN documents d ON d.row = i.document WHERE d.id = ?1)";
        let written = if self.schema < KEEPS_RENAMED_TAGS {
            String::new()
        } else {
            format!("UNION ALL SELECT 1 FROM written_tags WHERE written = ?2 AND {of_document}")
        };
        let sql = format!("SELECT 1 FROM tags WHERE tag = ?2 AND {of_document} {written} LIMIT 1");
        self.read("read the document's tags", |connection| {
            connection.prepare_cached(&sql)?.exists(params![document, tag])
        })
    }

    fn tag_aliases(&self) -> crate::Result<Vec<TagAlias>> {
        if self.schema < KEEPS_RENAMED_TAGS {
            return Ok(Vec::new());
        }
        self.read("read the renamed tags", |connection| {
            connection
                .prepare_cached("SELECT tag, target FROM tag_aliases ORDER BY tag")?
                .query_map([], |row| Ok(TagAlias { from: row.get(0)?, to: row.get(1)? }))?
                .collect()
        })
    }

    fn rename_tags(&self, renaming: TagRenaming<'_>, stamp: Stamp<'_>) -> crate::Result<RenameOutcome> {
        rename(self, renaming, stamp)
    }

    fn give_tags(&self, given: &[DocumentTags], dry_run: bool, stamp: Stamp<'_>) -> crate::Result<GivenTags> {
        give(self, given, dry_run, stamp)
    }
}

/// Runs a write; with `dry_run` it is rolled back, and its result is returned all the same. So is one that `keeps` refuses.
fn write<T>(
    store: &SqliteStore,
    doing: &'static str,
    keeps: impl Fn(&T) -> bool,
    body: impl FnOnce(&Connection) -> Result<T>,
) -> crate::Result<T> {
    let mut left = None;
    let done = store.write(doing, |connection| {
        let made = body(connection)?;
        if keeps(&made) {
            return Ok(made);
        }
        left = Some(made);
        Err(rusqlite::Error::StatementChangedRows(0))
    });
    match left {
        Some(made) => Ok(made),
        None => done,
    }
}

fn rename(store: &SqliteStore, renaming: TagRenaming<'_>, stamp: Stamp<'_>) -> crate::Result<RenameOutcome> {
    let is_done = |outcome: &RenameOutcome| matches!(outcome, RenameOutcome::Renamed(_));
    let keeps = |outcome: &RenameOutcome| is_done(outcome) && !renaming.dry_run;
    let outcome = write(store, "rename the tags", keeps, |connection| apply(connection, renaming, stamp))?;
    Ok(match outcome {
        RenameOutcome::Renamed(renamed) if renaming.dry_run => {
            RenameOutcome::Renamed(RenamedTags { event: 0, ..renamed })
        }
        outcome => outcome,
    })
}

fn apply(connection: &Connection, renaming: TagRenaming<'_>, stamp: Stamp<'_>) -> Result<RenameOutcome> {
    let TagRenaming { from, to, merges, dry_run } = renaming;
    let mut rows = BTreeSet::new();
    for tag in from {
        let found = rows_below(connection, tag)?;
        if found.is_empty() {
            let now = Some(shown_tag(connection, tag)?).filter(|now| now != tag);
            return Ok(RenameOutcome::Unknown { tag: tag.clone(), now });
        }
        rows.extend(found);
    }
    let items = if merges {
        0
    } else {
        connection
            .prepare_cached("SELECT count(*) FROM tags WHERE tag = ?1")?
            .query_row([shown_tag(connection, to)?], |row| row.get(0))?
    };
    let change = next_change(connection)?;
    let renamed: Vec<TagAlias> =
        from.iter().map(|tag| TagAlias { from: tag.clone(), to: to.to_owned() }).collect();
    for alias in &renamed {
        put_alias(connection, alias, change, stamp)?;
    }
    if let Some((tag, event)) = circle(connection, change)? {
        return Ok(RenameOutcome::Circle { tag, event });
    }
    if items > 0 {
        return Ok(RenameOutcome::Taken { items });
    }
    let mut changed = Changed::default();
    for row in rows {
        let written = written_tags(connection, row)?;
        if let Some(tags) = replace(connection, row, &written, change)? {
            changed.note(connection, row, &tags)?;
        }
    }
    changed.record(connection, change, stamp)?;
    let detail = json!({ "renamed": renamed, "items": changed.items() });
    let event = record(connection, change, stamp, ACTION, None, &detail)?;
    Ok(RenameOutcome::Renamed(RenamedTags {
        event,
        renamed,
        memories: changed.memories.len() as u64,
        chunks: changed.chunks(),
        documents: changed.documents.len() as u64,
        dry_run,
    }))
}

fn put_alias(connection: &Connection, alias: &TagAlias, change: Change, stamp: Stamp<'_>) -> Result<bool> {
    let added = connection
        .prepare_cached(
            "INSERT OR IGNORE INTO tag_aliases (tag, target, change, create_time) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![alias.from, alias.to, change.0, stamp.now.as_microsecond()])?;
    Ok(added > 0)
}

/// Returns a tag whose renamings have no end, with the event of one that is older than a change.
fn circle(connection: &Connection, change: Change) -> Result<Option<(String, Option<u64>)>> {
    let renamed: Vec<String> = connection
        .prepare_cached("SELECT tag FROM tag_aliases ORDER BY change DESC, tag")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_>>()?;
    for tag in renamed {
        let trace = trace(connection, &tag)?;
        if trace.ends {
            continue;
        }
        for passed in &trace.passed {
            let event: Option<u64> = connection
                .prepare_cached(
                    "SELECT e.event FROM tag_aliases a JOIN events e ON e.change = a.change AND e.subject IS NULL
                     WHERE a.tag = ?1 AND a.change < ?2",
                )?
                .query_row(params![passed, change.0], |row| row.get(0))
                .optional()?;
            if event.is_some() {
                return Ok(Some((tag, event)));
            }
        }
        return Ok(Some((tag, None)));
    }
    Ok(None)
}

/// The items that a change gave other tags: memories one by one, and documents with their chunks.
#[derive(Default)]
struct Changed {
    memories: BTreeMap<String, TagChange>,
    documents: BTreeMap<String, DocumentChange>,
}

#[derive(Default)]
struct DocumentChange {
    chunks: u64,
    removed: BTreeSet<String>,
    added: BTreeSet<String>,
}

impl Changed {
    fn note(&mut self, connection: &Connection, row: RowId, tags: &TagChange) -> Result<()> {
        let (id, document): (String, Option<String>) = connection
            .prepare_cached(
                "SELECT i.id, d.id FROM items i LEFT JOIN documents d ON d.row = i.document WHERE i.row = ?1",
            )?
            .query_row([row.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let TagChange { removed, added } = tags;
        if let Some(document) = document {
            let changed = self.documents.entry(document).or_default();
            changed.chunks += 1;
            changed.removed.extend(removed.iter().cloned());
            changed.added.extend(added.iter().cloned());
        } else {
            let tags = TagChange { removed: removed.clone(), added: added.clone() };
            self.memories.insert(id, tags);
        }
        Ok(())
    }

    fn chunks(&self) -> u64 {
        self.documents.values().map(|changed| changed.chunks).sum()
    }

    fn items(&self) -> u64 {
        self.memories.len() as u64 + self.chunks()
    }

    /// Returns the ids of the memories and documents, sorted.
    fn ids(&self) -> Vec<String> {
        let ids: BTreeSet<&String> = self.memories.keys().chain(self.documents.keys()).collect();
        ids.into_iter().cloned().collect()
    }

    /// Writes one event for each memory, and one for each document: it may have a thousand chunks.
    fn record(&self, connection: &Connection, change: Change, stamp: Stamp<'_>) -> Result<()> {
        for (id, TagChange { removed, added }) in &self.memories {
            let detail = json!({ "removed": removed, "added": added });
            record(connection, change, stamp, ACTION, Some(id), &detail)?;
        }
        for (id, DocumentChange { chunks, removed, added }) in &self.documents {
            let detail = json!({ "removed": removed, "added": added, "chunks": chunks });
            record(connection, change, stamp, ACTION, Some(id), &detail)?;
        }
        Ok(())
    }
}

fn give(
    store: &SqliteStore,
    given: &[DocumentTags],
    dry_run: bool,
    stamp: Stamp<'_>,
) -> crate::Result<GivenTags> {
    let keeps = |given: &GivenTags| given.changed > 0 && !dry_run;
    let made = write(store, "tag the documents", keeps, |connection| {
        let change = next_change(connection)?;
        let mut made = GivenTags::default();
        let documents = documents_by_path(connection)?;
        for DocumentTags { paths, tags } in given {
            let Some(found) = paths.iter().find_map(|path| documents.get(path)) else {
                made.missing.extend(paths.first().cloned());
                continue;
            };
            for (document, id) in found {
                let (added, others) = give_to(connection, *document, tags, change)?;
                made.kept += others;
                if added.is_empty() {
                    made.unchanged += 1;
                    continue;
                }
                made.changed += 1;
                made.added += added.len() as u64;
                record(connection, change, stamp, ACTION, Some(id), &json!({ "given": added }))?;
            }
        }
        let detail = json!({ "documents": made.changed, "items": made.changed });
        made.event = record(connection, change, stamp, ACTION, None, &detail)?;
        Ok(made)
    })?;
    Ok(if keeps(&made) { made } else { GivenTags { event: 0, ..made } })
}

/// Reads row and id of all documents, by path: several collections and owners may have one of the same path.
fn documents_by_path(connection: &Connection) -> Result<HashMap<String, Vec<(i64, String)>>> {
    let mut documents: HashMap<String, Vec<(i64, String)>> = HashMap::new();
    let mut statement = connection.prepare_cached("SELECT path, row, id FROM documents ORDER BY row")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        documents.entry(row.get(0)?).or_default().push((row.get(1)?, row.get(2)?));
    }
    Ok(documents)
}

/// Gives a document the tags that none of its chunks has. Returns these, and the number of its other tags.
fn give_to(
    connection: &Connection,
    document: i64,
    tags: &[String],
    change: Change,
) -> Result<(Vec<String>, u64)> {
    let rows = rows_of(connection, document)?;
    let mut present = BTreeSet::new();
    for row in &rows {
        present.extend(tags_of(connection, *row)?);
    }
    let shown: BTreeSet<String> = tags.iter().map(|tag| shown_tag(connection, tag)).collect::<Result<_>>()?;
    let lacking: Vec<String> = shown.difference(&present).cloned().collect();
    for tag in &lacking {
        connection
            .prepare_cached("INSERT OR IGNORE INTO document_tags (document, tag) VALUES (?1, ?2)")?
            .execute(params![document, tag])?;
    }
    if !lacking.is_empty() {
        for row in rows {
            add_tags(connection, row, &lacking, change)?;
        }
    }
    Ok((lacking, present.difference(&shown).count() as u64))
}

/// Takes tags from a document that were given to it. Returns those that it had.
fn withdraw(connection: &Connection, document: i64, tags: &[String], change: Change) -> Result<Vec<String>> {
    let mut gone = Vec::new();
    for tag in tags {
        let removed = connection
            .prepare_cached("DELETE FROM document_tags WHERE document = ?1 AND tag = ?2")?
            .execute(params![document, tag])?;
        if removed > 0 {
            gone.push(tag.clone());
        }
    }
    for row in rows_of(connection, document)? {
        let mut written = written_tags(connection, row)?;
        written.retain(|tag| !gone.contains(tag));
        replace(connection, row, &written, change)?;
    }
    Ok(gone)
}

fn rows_of(connection: &Connection, document: i64) -> Result<Vec<RowId>> {
    connection
        .prepare_cached("SELECT row FROM items WHERE document = ?1 ORDER BY row")?
        .query_map([document], |row| row_id(row.get(0)?))?
        .collect()
}

/// Reads the renamings that an event names.
fn aliases(entry: &Entry, key: &str) -> Vec<TagAlias> {
    let named = entry.detail.get(key).cloned().unwrap_or_default();
    serde_json::from_value(named).unwrap_or_default()
}

fn names(entry: &Entry, key: &str) -> Vec<String> {
    let named = entry.detail.get(key).cloned().unwrap_or_default();
    serde_json::from_value(named).unwrap_or_default()
}

/// Whether a change renamed tags, gave tags to documents, or undid one of these.
pub(super) fn is_retagging(entries: &[Entry]) -> bool {
    let keys = ["renamed", "unrenamed", "given", "withdrawn"];
    entries.iter().any(|entry| {
        [ACTION, "undo"].contains(&entry.action.as_str())
            && keys.iter().any(|key| entry.detail.contains_key(*key))
    })
}

/// Undoes a change that renamed tags or gave tags to documents. Tags that were written since are shown under the names
/// that they have without it. Undoing the undo brings the change back.
pub(super) fn undo_retagging(
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
        action: entries
            .iter()
            .find(|entry| entry.subject.is_none())
            .map_or(ACTION, |head| &head.action)
            .to_owned(),
        items: Vec::new(),
        taken: Vec::new(),
        unmoved: Vec::new(),
        dry_run: false,
    };
    let mut detail = Map::from_iter([("undoes".to_owned(), json!(event))]);
    let mut changed = Changed::default();
    let (mut gone, mut back) = (Vec::new(), Vec::new());
    for entry in entries {
        for alias in aliases(entry, "renamed") {
            let removed = connection
                .prepare_cached("DELETE FROM tag_aliases WHERE tag = ?1 AND target = ?2")?
                .execute(params![alias.from, alias.to])?;
            if removed > 0 {
                gone.push(alias);
            } else {
                undone.unmoved.push(stays(&alias));
            }
        }
        for alias in aliases(entry, "unrenamed") {
            if put_alias(connection, &alias, change, stamp)? {
                back.push(alias);
            } else {
                undone.unmoved.push(stays(&alias));
            }
        }
    }
    if circle(connection, change)?.is_some() {
        // An undo of an undo; nothing of it is kept.
        undone.unmoved = back.iter().map(stays).collect();
        return Ok(undone);
    }
    for row in affected(connection, &back)? {
        let written = written_tags(connection, row)?;
        if let Some(tags) = replace(connection, row, &written, change)? {
            changed.note(connection, row, &tags)?;
        }
    }
    changed.record(connection, change, stamp)?;
    undone.items = changed.ids();
    // The renaming itself is undone, though nothing has the tag any more.
    undone.items.extend(
        gone.iter().chain(&back).filter(|_| changed.items() == 0).map(|alias| format!("#{}", alias.from)),
    );
    for (key, list) in [("unrenamed", gone), ("renamed", back)] {
        if !list.is_empty() {
            detail.insert(key.to_owned(), json!(list));
        }
    }
    for entry in entries {
        let Some(id) = &entry.subject else { continue };
        let document: Option<i64> = connection
            .prepare_cached("SELECT row FROM documents WHERE id = ?1")?
            .query_row([id], |row| row.get(0))
            .optional()?;
        let Some(document) = document else { continue };
        let taken = withdraw(connection, document, &names(entry, "given"), change)?;
        let (given, _) = give_to(connection, document, &names(entry, "withdrawn"), change)?;
        for (key, tags) in [("withdrawn", taken), ("given", given)] {
            if !tags.is_empty() {
                undone.items.push(id.clone());
                record(connection, change, stamp, "undo", Some(id), &json!({ key: tags }))?;
            }
        }
    }
    undone.items.sort_unstable();
    undone.items.dedup();
    detail.insert("items".to_owned(), json!(undone.items.len()));
    undone.event = record(connection, change, stamp, "undo", None, &Value::Object(detail))?;
    Ok(undone)
}

fn stays(alias: &TagAlias) -> Unmoved {
    Unmoved { id: format!("#{}", alias.from), why: "it was renamed otherwise since".to_owned() }
}

/// Returns the rows whose tags may be shown under another name after the renamings changed: those with a renamed tag, and
/// those with a tag that `new` renames.
fn affected(connection: &Connection, new: &[TagAlias]) -> Result<BTreeSet<RowId>> {
    let mut rows: BTreeSet<RowId> = BTreeSet::new();
    for alias in new {
        rows.extend(rows_below(connection, &alias.from)?);
    }
    let written: Vec<(String, String)> = connection
        .prepare_cached("SELECT DISTINCT written, tag FROM written_tags ORDER BY written")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_>>()?;
    for (written, tag) in written {
        if shown_tag(connection, &written)? != tag {
            let found = connection
                .prepare_cached("SELECT row FROM written_tags WHERE written = ?1")?
                .query_map([&written], |row| row_id(row.get(0)?))?
                .collect::<Result<Vec<_>>>()?;
            rows.extend(found);
        }
    }
    Ok(rows)
}

/// Removes the renamings of names that nothing has any more, after the last items with `gone` were forgotten. Returns the
/// events that named them.
pub(super) fn forget_names(connection: &Connection, gone: &BTreeSet<String>) -> Result<Vec<i64>> {
    if gone.is_empty() {
        return Ok(Vec::new());
    }
    let is_used = |name: &str| -> Result<bool> {
        connection
            .prepare_cached(
                "SELECT 1 FROM tags WHERE tag = ?1 OR (tag > ?1 || '/' AND tag < ?1 || '0')
                 UNION ALL SELECT 1 FROM written_tags WHERE written = ?1 OR (written > ?1 || '/' AND written < ?1 || '0')
                 UNION ALL SELECT 1 FROM document_tags WHERE tag = ?1 LIMIT 1",
            )?
            .exists([name])
    };
    let is_touched = |name: &str| gone.iter().any(|tag| is_below(tag, name) || is_below(name, tag));
    let kept: Vec<TagAlias> = connection
        .prepare_cached("SELECT tag, target FROM tag_aliases")?
        .query_map([], |row| Ok(TagAlias { from: row.get(0)?, to: row.get(1)? }))?
        .collect::<Result<_>>()?;
    for alias in kept {
        if (is_touched(&alias.from) || is_touched(&alias.to))
            && !is_used(&shown_tag(connection, &alias.from)?)?
        {
            connection.prepare_cached("DELETE FROM tag_aliases WHERE tag = ?1")?.execute([&alias.from])?;
        }
    }
    let heads: Vec<(i64, String)> = connection
        .prepare_cached(
            "SELECT event, detail FROM events WHERE action IN ('retag', 'undo') AND subject IS NULL ORDER BY event",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_>>()?;
    let mut found = Vec::new();
    for (event, detail) in heads {
        let detail: Map<String, Value> = serde_json::from_str(&detail).unwrap_or_default();
        let entry = Entry { event, action: String::new(), subject: None, detail };
        let named = [aliases(&entry, "renamed"), aliases(&entry, "unrenamed")].concat();
        for name in named.iter().flat_map(|alias| [&alias.from, &alias.to]) {
            let is_renamed = connection
                .prepare_cached("SELECT 1 FROM tag_aliases WHERE tag = ?1 OR target = ?1")?
                .exists([name])?;
            if is_touched(name) && !is_renamed && !is_used(name)? {
                found.push(event);
                break;
            }
        }
    }
    Ok(found)
}
