//! Writes the tags of items under their present names.
//!
//! `tags` holds the names that are shown. For rows with a renamed tag, `written_tags` holds what the writer gave: a change of
//! the renamings computes the shown names anew from it.

use rusqlite::{Connection, OptionalExtension, Result, params};
use std::collections::BTreeSet;

use super::columns::row_id;
use crate::item::{Change, RowId};
use crate::store::below;

/// Longest chain of renamings that is followed: a longer one is refused like a circle.
const MOST_STEPS: usize = 64;

/// The way of a tag through the renamings.
pub(super) struct Trace {
    /// Its present name.
    pub(super) tag: String,
    /// The renamed tags that it passed.
    pub(super) passed: Vec<String>,
    /// Whether it came to an end.
    pub(super) ends: bool,
}

/// Follows the renamings of a tag and of the tags above it.
pub(super) fn trace(connection: &Connection, written: &str) -> Result<Trace> {
    let mut find = connection.prepare_cached("SELECT target FROM tag_aliases WHERE tag = ?1")?;
    let mut trace = Trace { tag: written.to_owned(), passed: Vec::new(), ends: true };
    'steps: loop {
        let ends = trace.tag.rmatch_indices('/').map(|(at, _)| at);
        for end in std::iter::once(trace.tag.len()).chain(ends) {
            let name = &trace.tag[..end];
            let target: Option<String> = find.query_row([name], |row| row.get(0)).optional()?;
            let Some(target) = target else { continue };
            if trace.passed.len() == MOST_STEPS {
                trace.ends = false;
                break 'steps;
            }
            let name = name.to_owned();
            trace.tag.replace_range(..end, &target);
            trace.passed.push(name);
            continue 'steps;
        }
        break;
    }
    Ok(trace)
}

/// Returns the present name of a tag.
pub(super) fn shown_tag(connection: &Connection, written: &str) -> Result<String> {
    let trace = trace(connection, written)?;
    // No renaming that is kept leads in a circle; should one, the tag stays as it was written.
    Ok(if trace.ends { trace.tag } else { written.to_owned() })
}

/// Returns the present names of tags, sorted, each once.
pub(super) fn shown_tags(connection: &Connection, written: &[String]) -> Result<Vec<String>> {
    let shown: BTreeSet<String> =
        written.iter().map(|tag| shown_tag(connection, tag)).collect::<Result<_>>()?;
    Ok(shown.into_iter().collect())
}

/// Adds tags to a new row under their present names, and returns those that it did not have. Called after its mentions were
/// written: these name the tags as they were given, so they are dropped if one is renamed.
pub(super) fn put_tags(connection: &Connection, row: RowId, tags: &[String]) -> Result<Vec<String>> {
    let mut insert = connection.prepare_cached("INSERT OR IGNORE INTO tags (tag, row) VALUES (?1, ?2)")?;
    let mut added = Vec::new();
    let mut is_renamed = false;
    for written in tags {
        let tag = shown_tag(connection, written)?;
        let is_new = insert.execute(params![tag, row.0])? > 0;
        if tag != *written {
            is_renamed = true;
            if !is_new && !is_written_otherwise(connection, row, &tag)? {
                put_written(connection, row, &tag, &tag)?;
            }
            put_written(connection, row, written, &tag)?;
        } else if !is_new && is_written_otherwise(connection, row, &tag)? {
            put_written(connection, row, written, &tag)?;
        }
        if is_new {
            added.push(tag);
        }
    }
    if is_renamed {
        forget_mentions(connection, row)?;
    }
    Ok(added)
}

/// Whether a row has a tag because it was written under another name.
fn is_written_otherwise(connection: &Connection, row: RowId, tag: &str) -> Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM written_tags WHERE row = ?1 AND tag = ?2")?
        .exists(params![row.0, tag])
}

fn put_written(connection: &Connection, row: RowId, written: &str, tag: &str) -> Result<()> {
    connection
        .prepare_cached("INSERT OR IGNORE INTO written_tags (row, written, tag) VALUES (?1, ?2, ?3)")?
        .execute(params![row.0, written, tag])?;
    Ok(())
}

/// Adds tags to a row that exists, and returns those that it did not have.
pub(super) fn add_tags(
    connection: &Connection,
    row: RowId,
    tags: &[String],
    change: Change,
) -> Result<Vec<String>> {
    let added = put_tags(connection, row, tags)?;
    if !added.is_empty() {
        mark_remade(connection, row, change)?;
    }
    Ok(added)
}

/// Tag of a text that salvage could not read whole.
const DAMAGED: &str = "damaged";

/// Replaces the tags of a chunk that its file still has. Its text stays, and with it the mark that it is damaged.
pub(super) fn set_file_tags(
    connection: &Connection,
    row: RowId,
    mut tags: Vec<String>,
    change: Change,
) -> Result<()> {
    if written_tags(connection, row)?.iter().any(|tag| tag == DAMAGED) {
        tags.push(DAMAGED.to_owned());
    }
    set_tags(connection, row, &tags, change)
}

/// Replaces the tags of a row that exists.
pub(super) fn set_tags(connection: &Connection, row: RowId, tags: &[String], change: Change) -> Result<()> {
    let new: BTreeSet<&String> = tags.iter().collect();
    let old = written_tags(connection, row)?;
    if new != old.iter().collect() {
        let new: Vec<String> = new.into_iter().cloned().collect();
        replace(connection, row, &new, change)?;
    }
    Ok(())
}

/// Removes tags that an event added, under the names that they had then.
pub(super) fn remove_tags(connection: &Connection, row: RowId, tags: &[&str], change: Change) -> Result<()> {
    if tags.is_empty() {
        return Ok(());
    }
    let shown: BTreeSet<String> = tags.iter().map(|tag| shown_tag(connection, tag)).collect::<Result<_>>()?;
    let mut kept = Vec::new();
    for written in written_tags(connection, row)? {
        if !shown.contains(&shown_tag(connection, &written)?) {
            kept.push(written);
        }
    }
    set_tags(connection, row, &kept, change)
}

/// The tags that a row lost and got.
#[derive(Debug, Default)]
pub(super) struct TagChange {
    pub(super) removed: Vec<String>,
    pub(super) added: Vec<String>,
}

/// Writes all tags of a row anew. Returns `None` if it shows the same as before.
pub(super) fn replace(
    connection: &Connection,
    row: RowId,
    written: &[String],
    change: Change,
) -> Result<Option<TagChange>> {
    let before: BTreeSet<String> = tags_of(connection, row)?.into_iter().collect();
    for table in ["tags", "written_tags"] {
        connection.prepare_cached(&format!("DELETE FROM {table} WHERE row = ?1"))?.execute([row.0])?;
    }
    put_tags(connection, row, written)?;
    let after: BTreeSet<String> = tags_of(connection, row)?.into_iter().collect();
    if before == after {
        return Ok(None);
    }
    mark_remade(connection, row, change)?;
    Ok(Some(TagChange {
        removed: before.difference(&after).cloned().collect(),
        added: after.difference(&before).cloned().collect(),
    }))
}

/// Returns the tags of a row as they are shown, sorted.
pub(super) fn tags_of(connection: &Connection, row: RowId) -> Result<Vec<String>> {
    connection
        .prepare_cached("SELECT tag FROM tags WHERE row = ?1 ORDER BY tag")?
        .query_map([row.0], |row| row.get(0))?
        .collect()
}

/// Returns the tags of a row as they were written, sorted.
pub(super) fn written_tags(connection: &Connection, row: RowId) -> Result<Vec<String>> {
    connection
        .prepare_cached(
            "SELECT written FROM written_tags WHERE row = ?1
             UNION SELECT tag FROM tags WHERE row = ?1 AND tag NOT IN (SELECT tag FROM written_tags WHERE row = ?1)
             ORDER BY 1",
        )?
        .query_map([row.0], |row| row.get(0))?
        .collect()
}

/// Returns the tags of a row, both as they are shown and as they were written.
pub(super) fn all_tags(connection: &Connection, row: RowId) -> Result<Vec<String>> {
    Ok([tags_of(connection, row)?, written_tags(connection, row)?].concat())
}

/// Returns the tags that a person gave a document, sorted.
pub(super) fn given_tags(connection: &Connection, document: i64) -> Result<Vec<String>> {
    connection
        .prepare_cached("SELECT tag FROM document_tags WHERE document = ?1 ORDER BY tag")?
        .query_map([document], |row| row.get(0))?
        .collect()
}

/// Notes that the tags or triples of a row changed, for the graph index.
pub(super) fn mark_remade(connection: &Connection, row: RowId, change: Change) -> Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO retagged (row, change) VALUES (?1, ?2)")?
        .execute(params![row.0, change.0])?;
    forget_mentions(connection, row)
}

/// Drops the mentions that wait for the graph index: they are extracted again from the text and the present tags.
pub(super) fn forget_mentions(connection: &Connection, row: RowId) -> Result<()> {
    connection.prepare_cached("DELETE FROM mention_tail WHERE row = ?1")?.execute([row.0])?;
    Ok(())
}

/// Returns the rows with a tag, or with one below it.
pub(super) fn rows_below(connection: &Connection, tag: &str) -> Result<Vec<RowId>> {
    connection
        .prepare_cached(
            "SELECT row FROM tags WHERE tag = ?1 OR (tag > ?1 || '/' AND tag < ?1 || '0') GROUP BY row ORDER BY row",
        )?
        .query_map([tag], |row| row_id(row.get(0)?))?
        .collect()
}

/// Returns findings about tags: what is written has a shown name, and no renaming leads in a circle.
pub(super) fn findings(connection: &Connection) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    let unshown: u64 = connection.query_row(
        "SELECT count(*) FROM written_tags w WHERE NOT EXISTS (SELECT 1 FROM tags g WHERE g.row = w.row AND g.tag = w.tag)",
        [],
        |row| row.get(0),
    )?;
    if unshown > 0 {
        findings.push(format!("{unshown} renamed tags have no present name"));
    }
    let stray: u64 = connection.query_row(
        "SELECT count(*) FROM document_tags WHERE document NOT IN (SELECT row FROM documents)",
        [],
        |row| row.get(0),
    )?;
    if stray > 0 {
        findings.push(format!("{stray} tags belong to documents that are not there"));
    }
    let renamed: Vec<String> = connection
        .prepare("SELECT tag FROM tag_aliases ORDER BY tag")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_>>()?;
    for tag in renamed {
        if !trace(connection, &tag)?.ends {
            findings.push(format!("the renaming of the tag {tag} leads in a circle"));
        }
    }
    Ok(findings)
}

/// Whether a tag is another, or is nested below it.
pub(super) fn is_below(tag: &str, other: &str) -> bool {
    below(tag, other).is_some()
}
