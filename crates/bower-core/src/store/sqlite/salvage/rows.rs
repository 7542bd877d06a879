//! Writes rows read from damaged files into a new store.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Result, params, params_from_iter};
use std::collections::{HashMap, HashSet};
use std::io;

use super::image::Image;
use super::tree::{Raw, Table, TableReader};
use crate::item::{Kind, MemoryType, Scope, Status, derive_id};
use crate::store::sqlite::checksums::of_text_values;

/// Tables whose rows are salvaged after items, in this order. All others are counts, caches, or computed from the texts,
/// such as terms and token codes.
const TABLES: &[&str] = &[
    "checksums",
    "texts",
    "tags",
    "written_tags",
    "document_tags",
    "tag_aliases",
    "entity_aliases",
    "anchors",
    "vectors",
    "relations",
    "reviews",
    "exposures",
    "injections",
    "events",
];

/// Tables whose rows are recognised by their shape if no tree leads to their page any more.
const TOLD_BY_SHAPE: &[&str] = &["items", "documents", "texts", "events"];

/// Largest number of rows that are listed one by one.
const MOST_NAMED: usize = 100;

/// A column of the new store.
struct Column {
    name: String,
    kind: String,
    required: bool,
    /// Whether every row has it, because the table was created with it.
    is_old: bool,
    /// Whether it is an alias of the row number.
    is_number: bool,
}

/// A table of the new store.
struct Shape {
    name: &'static str,
    columns: Vec<Column>,
}

impl Shape {
    fn of(connection: &Connection, name: &'static str) -> Result<Self> {
        let is_numbered: bool = connection.query_row(
            "SELECT sql NOT LIKE '%WITHOUT ROWID%' FROM sqlite_schema WHERE type = 'table' AND name = ?1",
            [name],
            |row| row.get(0),
        )?;
        let columns = connection
            .prepare("SELECT name, type, \"notnull\", pk, dflt_value IS NULL FROM pragma_table_info(?1) ORDER BY cid")?
            .query_map([name], |row| {
                let (kind, key): (String, i64) = (row.get(1)?, row.get(3)?);
                Ok(Column {
                    name: row.get(0)?,
                    is_number: is_numbered && key == 1 && kind == "INTEGER",
                    required: row.get(2)?,
                    is_old: row.get(4)?,
                    kind,
                })
            })?
            .collect::<Result<_>>()?;
        Ok(Self { name, columns })
    }

    /// Returns the values of a row for this table; `None` if they do not fit its columns.
    fn take(&self, raw: &Raw) -> Option<Vec<Value>> {
        if raw.values.len() > self.columns.len() || raw.values.is_empty() {
            return None;
        }
        let mut values = Vec::with_capacity(raw.values.len());
        for (column, value) in self.columns.iter().zip(&raw.values) {
            let fits = match (column.kind.as_str(), value) {
                (_, Value::Null) => column.is_number || !column.required,
                ("INTEGER", Value::Integer(_)) | ("REAL", Value::Integer(_) | Value::Real(_)) => {
                    !column.is_number
                }
                ("TEXT", Value::Text(_)) | ("BLOB", Value::Blob(_)) | ("ANY", _) => true,
                (_, _) => false,
            };
            if !fits {
                return None;
            }
            values.push(if column.is_number { Value::Integer(raw.row) } else { value.clone() });
        }
        Some(values)
    }

    fn at(&self, name: &str) -> usize {
        self.columns.iter().position(|column| column.name == name).expect("a column of our own schema")
    }

    /// Inserts values for the first columns, as many as there are values.
    fn insert(&self, connection: &Connection, values: &[Value]) -> Result<()> {
        let names: Vec<&str> =
            self.columns[..values.len()].iter().map(|column| column.name.as_str()).collect();
        let marks = vec!["?"; values.len()].join(", ");
        let sql = format!("INSERT INTO {} ({}) VALUES ({marks})", self.name, names.join(", "));
        connection.prepare_cached(&sql)?.execute(params_from_iter(values))?;
        Ok(())
    }
}

/// The result of a salvage.
#[derive(Debug, Default)]
pub struct Saved {
    /// Texts whose item could not be read: row, summary, heading, text.
    pub unplaced: Vec<[String; 4]>,
    /// Sentences about data that could not be read or placed.
    pub unreadable: Vec<String>,
    /// Ids of items whose text is not as it was written.
    pub damaged: Vec<String>,
    /// Rows whose text is incomplete, or is not as it was written.
    doubtful: HashSet<i64>,
}

impl Saved {
    fn name(&mut self, what: String) {
        if self.unreadable.len() < MOST_NAMED {
            self.unreadable.push(what);
        } else if self.unreadable.len() == MOST_NAMED {
            self.unreadable.push("and more".to_owned());
        }
    }
}

/// New row numbers of the rows of one source.
#[derive(Default)]
struct Places {
    items: HashMap<i64, i64>,
    documents: HashMap<i64, i64>,
    models: HashMap<i64, i64>,
    /// Ids of items, by the row in the source.
    ids: HashMap<i64, String>,
    /// Checksums of texts, by the row in the source.
    sums: HashMap<i64, i64>,
}

/// Fills a new store from several images of an old one. The first image takes precedence: from the others only items are
/// taken that no earlier one has. Foreign keys must be off; at the end they hold.
pub fn fill(connection: &Connection, images: &mut [Image], saved: &mut Saved) -> Result<()> {
    for (nth, image) in images.iter_mut().enumerate() {
        let mut places = Places::default();
        let is_first = nth == 0;
        for table in ["models", "documents", "items"] {
            each_row(
                connection,
                image,
                table,
                saved,
                is_first,
                &mut |connection, shape, values, raw, saved| {
                    let placed = match table {
                        "models" => place_named(connection, shape, values, "name")
                            .map(|row| (&mut places.models, row)),
                        "documents" => place_named(connection, shape, values, "id")
                            .map(|row| (&mut places.documents, row)),
                        _ => match place_item(connection, shape, values, &places.documents, is_first)? {
                            Some((row, id)) => {
                                places.ids.insert(raw.row, id);
                                Ok((&mut places.items, row))
                            }
                            None if is_first => {
                                saved.name(format!("item in row {}: its fields make no sense", raw.row));
                                return Ok(());
                            }
                            None => return Ok(()),
                        },
                    };
                    let (places, row) = placed?;
                    places.insert(raw.row, row);
                    Ok(())
                },
            )?;
        }
        for table in TABLES {
            each_row(
                connection,
                image,
                table,
                saved,
                is_first,
                &mut |connection, shape, values, raw, saved| {
                    place_other(connection, shape, values, raw, &mut places, is_first, saved)
                },
            )?;
        }
    }
    finish(connection, saved)
}

type Each<'a> = dyn FnMut(&Connection, &Shape, Vec<Value>, &Raw, &mut Saved) -> Result<()> + 'a;

/// Feeds the rows of one table of an image: those of its tree, then those recognised by their shape.
fn each_row(
    connection: &Connection,
    image: &mut Image,
    table: &str,
    saved: &mut Saved,
    is_first: bool,
    each: &mut Each<'_>,
) -> Result<()> {
    let names = [TABLES, &["models", "documents", "items"]].concat();
    let shapes: Vec<Shape> = names.iter().map(|name| Shape::of(connection, name)).collect::<Result<_>>()?;
    let shape = shapes.iter().find(|shape| shape.name == table).expect("one of the names above");
    let told: Vec<&Shape> = shapes.iter().filter(|shape| TOLD_BY_SHAPE.contains(&shape.name)).collect();
    let failed = |source: io::Error| rusqlite::Error::ToSqlConversionFailure(source.into());
    let mut reader = TableReader::new(image).map_err(failed)?;
    let tables: Vec<Table> = reader.tables().map_err(failed)?;
    let mut ended = Ok(());
    let mut take = |raw: &Raw, saved: &mut Saved| {
        if ended.is_err() {
            return;
        }
        match shape.take(raw) {
            Some(values) => match each(connection, shape, values, raw, saved) {
                Err(error) if is_refused(&error) => {
                    saved.name(format!("{table}, row {}: {error}", raw.row));
                }
                other => ended = other,
            },
            None => saved.name(format!("{table}, row {}: its values do not fit such a row", raw.row)),
        }
    };
    for found in &tables {
        let is_ours = found.name == table;
        reader
            .rows(found.root, &mut |raw| {
                if is_ours {
                    take(&raw, saved);
                }
            })
            .map_err(failed)?;
    }
    let mut lost = Vec::new();
    reader
        .orphans(&mut |raw| {
            // The one table whose rows have this shape; a row that fits several is skipped.
            let mut fitting = told.iter().filter(|shape| shape.take(&raw).is_some() && is_full(shape, &raw));
            if let (Some(only), None) = (fitting.next(), fitting.next())
                && only.name == table
            {
                lost.push(raw);
            }
        })
        .map_err(failed)?;
    for raw in &lost {
        take(raw, saved);
    }
    if is_first && table == "items" {
        for page in &reader.unread {
            saved.name(format!("page {page}: it cannot be read"));
        }
        for page in &reader.unread_rows {
            saved.name(format!("a row on page {page}: it cannot be read"));
        }
    }
    ended
}

/// Whether a row outside of any tree has at least the columns that every row of its table has.
fn is_full(shape: &Shape, raw: &Raw) -> bool {
    let required = shape.columns.iter().rposition(|column| column.required && column.is_old).unwrap_or(0);
    raw.values.len() > required
}

/// Whether the new store refuses the row; the others are still salvaged.
fn is_refused(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(rusqlite::ErrorCode::ConstraintViolation | rusqlite::ErrorCode::TypeMismatch)
    ) || matches!(error, rusqlite::Error::SqliteFailure(inner, _) if inner.extended_code == rusqlite::ffi::SQLITE_ERROR)
}

fn text(value: &Value) -> &str {
    if let Value::Text(text) = value { text } else { "" }
}

fn number(value: &Value) -> i64 {
    if let Value::Integer(number) = value { *number } else { 0 }
}

/// Places a row that has a unique name, and returns its new row number. An existing row with this name is used instead.
fn place_named(connection: &Connection, shape: &Shape, mut values: Vec<Value>, name: &str) -> Result<i64> {
    let name_at = shape.at(name);
    let find = format!("SELECT row FROM {} WHERE {name} = ?1", shape.name);
    let there =
        connection.prepare_cached(&find)?.query_row([text(&values[name_at])], |row| row.get(0)).optional()?;
    if let Some(row) = there {
        return Ok(row);
    }
    free_number(connection, shape, &mut values)?;
    shape.insert(connection, &values)?;
    Ok(connection.last_insert_rowid())
}

/// Clears the row number if another row has it, so that a new one is assigned.
fn free_number(connection: &Connection, shape: &Shape, values: &mut [Value]) -> Result<()> {
    let sql = format!("SELECT 1 FROM {} WHERE {} = ?1", shape.name, shape.columns[0].name);
    if connection.prepare_cached(&sql)?.exists([&values[0]])? {
        values[0] = Value::Null;
    }
    Ok(())
}

/// Places an item. Returns `None` if its words are unknown, or it exists already, or it was forgotten.
fn place_item(
    connection: &Connection,
    shape: &Shape,
    mut values: Vec<Value>,
    documents: &HashMap<i64, i64>,
    is_first: bool,
) -> Result<Option<(i64, String)>> {
    let of = |name: &str| &values[shape.at(name)];
    let id = text(of("id")).to_owned();
    let is_ours = text(of("kind")).parse::<Kind>().is_ok()
        && (matches!(of("type"), Value::Null) || text(of("type")).parse::<MemoryType>().is_ok())
        && text(of("scope")).parse::<Scope>().is_ok()
        && text(of("status")).parse::<Status>().is_ok()
        && (1..=3).contains(&number(of("tier")))
        && u32::try_from(number(of("row"))).is_ok();
    if !is_ours {
        return Ok(None);
    }
    if !is_first {
        let known = connection
            .prepare_cached(
                "SELECT 1 FROM items WHERE id = ?1
                 UNION ALL SELECT 1 FROM events WHERE subject = ?1 AND action = 'forget'",
            )?
            .exists([&id])?;
        if known {
            return Ok(None);
        }
    }
    let document = shape.at("document");
    if let Value::Integer(old) = values[document] {
        values[document] = Value::Integer(documents.get(&old).copied().unwrap_or(old));
    }
    free_number(connection, shape, &mut values)?;
    shape.insert(connection, &values)?;
    Ok(Some((connection.last_insert_rowid(), id)))
}

/// Places a row that belongs to an item, or an event.
fn place_other(
    connection: &Connection,
    shape: &Shape,
    mut values: Vec<Value>,
    raw: &Raw,
    places: &mut Places,
    is_first: bool,
    saved: &mut Saved,
) -> Result<()> {
    if shape.name == "checksums" {
        places.sums.insert(raw.row, number(&values[shape.at("text")]));
        return Ok(());
    }
    if matches!(shape.name, "tag_aliases" | "entity_aliases" | "document_tags") && !is_first {
        return Ok(());
    }
    if shape.name == "events" {
        if is_first {
            return shape.insert(connection, &values);
        }
        let subject = text(&values[shape.at("subject")]);
        if places.ids.values().any(|id| id == subject) {
            values[0] = Value::Null;
            return shape.insert(connection, &values);
        }
        return Ok(());
    }
    if let Some(at) = shape.columns.iter().position(|column| column.name == "document") {
        let Some(document) = places.documents.get(&number(&values[at])) else { return Ok(()) };
        values[at] = Value::Integer(*document);
    }
    for name in ["row", "other"] {
        let Some(at) = shape.columns.iter().position(|column| column.name == name) else { continue };
        match places.items.get(&number(&values[at])) {
            Some(row) => values[at] = Value::Integer(*row),
            None if shape.name == "texts" && is_first => {
                let part = |name: &str| text(&values[shape.at(name)]).to_owned();
                saved.unplaced.push([raw.row.to_string(), part("summary"), part("section"), part("content")]);
                return Ok(());
            }
            None => return Ok(()),
        }
    }
    if let Some(at) = shape.columns.iter().position(|column| column.name == "model") {
        let Some(model) = places.models.get(&number(&values[at])) else { return Ok(()) };
        values[at] = Value::Integer(*model);
    }
    if shape.name == "reviews" && !is_first {
        values[0] = Value::Null;
    }
    if shape.name == "texts" {
        let id = places.ids.get(&raw.row).map_or("", String::as_str);
        let of = ["summary", "section", "key", "content", "keywords"].map(|name| &values[shape.at(name)]);
        let sum = i64::from(of_text_values(raw.row, id, of));
        if raw.is_cut || places.sums.get(&raw.row).is_some_and(|written| *written != sum) {
            saved.doubtful.insert(number(&values[0]));
        }
        let keywords = shape.at("keywords");
        if serde_json::from_str::<Vec<String>>(text(&values[keywords])).is_err() {
            values[keywords] = Value::Text("[]".to_owned());
        }
    }
    shape.insert(connection, &values)
}

/// Establishes the store's invariants: each item has a text, each chunk a document, and each row its item.
fn finish(connection: &Connection, saved: &mut Saved) -> Result<()> {
    let bare: Vec<(i64, String)> = connection
        .prepare("SELECT row, id FROM items WHERE row NOT IN (SELECT row FROM texts)")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_>>()?;
    for (row, id) in &bare {
        saved.name(format!("item {id}: its text cannot be read"));
        connection.execute("DELETE FROM items WHERE row = ?1", [row])?;
    }
    for table in ["tags", "written_tags", "anchors", "vectors", "exposures", "injections"] {
        connection.execute(&format!("DELETE FROM {table} WHERE row NOT IN (SELECT row FROM items)"), [])?;
    }
    for table in ["relations", "reviews"] {
        connection.execute(
            &format!(
                "DELETE FROM {table} WHERE row NOT IN (SELECT row FROM items) OR other NOT IN (SELECT row FROM items)"
            ),
            [],
        )?;
    }
    let homeless: Vec<(i64, String)> = connection
        .prepare(
            "SELECT document, min(collection) FROM items
             WHERE document IS NOT NULL AND document NOT IN (SELECT row FROM documents) GROUP BY document",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_>>()?;
    for (row, collection) in homeless {
        let name = format!("salvaged document {row}");
        saved.name(format!("{name}: its path and title cannot be read"));
        connection.execute(
            "INSERT INTO documents (row, id, collection, path, file_name, version, hash, recipe, bytes, metadata,
             create_time, update_time) VALUES (?1, ?2, ?3, ?4, ?4, 'current', '', '', 0, '{}', 0, 0)",
            params![row, derive_id(&["salvaged", &collection, &name]), collection, name],
        )?;
    }
    // No row is newer than the last change.
    connection.execute(
        "UPDATE store SET change = max(change, (SELECT ifnull(max(change), 0) FROM events),
         (SELECT ifnull(max(text_change), 0) FROM items), (SELECT ifnull(max(change), 0) FROM vectors)) + 1",
        [],
    )?;
    for row in &saved.doubtful {
        let id: Option<String> = connection
            .query_row("SELECT id FROM items WHERE row = ?1", [row], |found| found.get(0))
            .optional()?;
        if let Some(id) = id {
            connection.execute("INSERT OR IGNORE INTO tags (tag, row) VALUES ('damaged', ?1)", [row])?;
            saved.damaged.push(id);
        }
    }
    Ok(())
}
