//! Finds the rows of a selection by indexes, as operations on sets of rows.
//! The cost depends on the number of rows that the selection keeps. Conditions without an index are checked on the rows
//! that remain, or by a scan of all. The result always equals that of a scan.

use rusqlite::types::Value as Sql;
use rusqlite::{Connection, params_from_iter};
use serde_json::Value;

use super::columns::{first, row_id};
use super::condition::{Condition, every};
use super::filter::is_column;
use super::schema::LONG_TEXT;
use crate::filter::{Filter, Test};
use crate::item::{Kind, MemoryType, RowSet, Status};

/// A way to find rows by indexes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Lookup {
    /// The rows of each of these statements.
    Rows(Vec<Condition>),
    /// The chunks of the documents of each of these statements.
    Documents(Vec<Condition>),
    /// The rows of these collections.
    Collections(Vec<String>),
    /// All rows but these.
    Not(Box<Lookup>),
    /// Rows in each of these.
    All(Vec<Lookup>),
    /// Rows in any of these.
    Any(Vec<Lookup>),
}

/// A condition of a selection, all of which must hold, with the lookup of its rows by an index, if possible.
#[derive(Debug, PartialEq)]
pub(super) struct Conjunct {
    pub(super) condition: Condition,
    pub(super) lookup: Option<Lookup>,
}

/// Rows that were found, or all but those.
enum Known {
    Rows(RowSet),
    AllBut(RowSet),
}

/// Largest number of rows of a narrow condition. If there is one, wide conditions are checked on its rows. Checking a row
/// costs about fifteen times as much as reading the next one of an index.
pub(super) const NARROW: usize = 4_096;

/// Cost of checking a row by itself, in rows of a scan.
const ASKING: usize = 4;

/// Number of adjacent documents whose chunks are read in the time that it takes to look up one document's chunks.
const SEEKING: u64 = 12;

/// Selects all chunks in a range of documents, by an index that holds only chunks.
const CHUNKS: &str =
    "SELECT document, row FROM items WHERE document BETWEEN ? AND ? ORDER BY document, position";

pub(super) fn statuses(statuses: &[Status]) -> Option<Lookup> {
    let others: Vec<_> = Status::ALL.iter().filter(|status| !statuses.contains(status)).collect();
    // One index holds the first two, another one the wordings.
    let is_indexed =
        |status: &&Status| matches!(status, Status::Superseded | Status::Archived | Status::Variant);
    let rows = |status: &Status| {
        let indexed = match status {
            Status::Variant => "status = 'variant'",
            Status::Candidate | Status::Active | Status::Superseded | Status::Archived => {
                "status IN ('superseded', 'archived')"
            }
        };
        Condition::of(
            &format!("SELECT row FROM items WHERE {indexed} AND status = ?"),
            status.word().to_owned(),
        )
    };
    others.iter().all(is_indexed).then(|| not(Lookup::Rows(others.into_iter().map(rows).collect())))
}

pub(super) fn kinds(kinds: &[Kind]) -> Option<Lookup> {
    let sql = "SELECT row FROM items WHERE kind = 'memory'".to_owned();
    let memories = || Lookup::Rows(vec![Condition { sql, values: Vec::new() }]);
    match (kinds.contains(&Kind::Memory), kinds.contains(&Kind::Chunk)) {
        (true, false) => Some(memories()),
        (false, true) => Some(not(memories())),
        (true, true) | (false, false) => None,
    }
}

pub(super) fn collections(names: &[String]) -> Lookup {
    Lookup::Collections(names.to_vec())
}

pub(super) fn types(types: &[MemoryType]) -> Lookup {
    // Only memories have a type.
    let words = types.iter().map(|word| word.word().to_owned());
    each("SELECT row FROM items WHERE kind = 'memory' AND type = ?", words)
}

pub(super) fn tag(tag: &str) -> Lookup {
    each("SELECT row FROM tags WHERE tag = ?", std::iter::once(tag.to_owned()))
}

fn each(sql: &str, values: impl Iterator<Item = String>) -> Lookup {
    let mut values: Vec<String> = values.collect();
    values.sort_unstable();
    values.dedup();
    Lookup::Rows(values.into_iter().map(|value| Condition::of(sql, value)).collect())
}

/// Returns how indexes find the rows that pass a filter; `None` if they cannot.
pub(super) fn filter(filter: &Filter) -> Option<Lookup> {
    match filter {
        Filter::All(parts) => Some(Lookup::All(parts.iter().map(self::filter).collect::<Option<_>>()?)),
        Filter::Any(parts) => Some(Lookup::Any(parts.iter().map(self::filter).collect::<Option<_>>()?)),
        Filter::Field { name, test } => {
            let find = |operator, values: &[Value]| match name.as_str() {
                "path" => Some(paths(operator, values)),
                "collection" => collection(operator, values),
                _ if is_column(name) => None,
                _ => field(name, operator, values),
            };
            match test {
                Test::Equal(value) => find("=", std::slice::from_ref(value)),
                Test::Greater(value) => find(">", std::slice::from_ref(value)),
                Test::GreaterOrEqual(value) => find(">=", std::slice::from_ref(value)),
                Test::Less(value) => find("<", std::slice::from_ref(value)),
                Test::LessOrEqual(value) => find("<=", std::slice::from_ref(value)),
                Test::In(values) => find("=", values),
                Test::NotEqual(value) => Some(not(find("=", std::slice::from_ref(value))?)),
                Test::NotIn(values) => Some(not(find("=", values)?)),
            }
        }
        Filter::Contains(_) | Filter::NotContains(_) => None,
    }
}

fn not(lookup: Lookup) -> Lookup {
    Lookup::Not(Box::new(lookup))
}

/// Looks up rows with a field that compares with one of some values: an item's own field, or its document's.
fn field(name: &str, operator: &str, values: &[Value]) -> Option<Lookup> {
    let (mut items, mut documents) = (Vec::new(), Vec::new());
    for value in values {
        let (sql, value) = match value {
            // As in the scan: null only compares with null, and booleans only compare for equality.
            Value::Null => ("= x''".to_owned(), None),
            Value::Bool(_) if operator != "=" => continue,
            Value::Bool(true) => ("= x'01'".to_owned(), None),
            Value::Bool(false) => ("= x'00'".to_owned(), None),
            Value::Number(number) => {
                let bound = number
                    .as_i64()
                    .map_or_else(|| Sql::Real(number.as_f64().unwrap_or(f64::NAN)), Sql::Integer);
                // Numbers sort before every text, the least of which is the empty one.
                let end = if operator.starts_with('>') { " AND f.value < ''" } else { "" };
                (format!("{operator} ?{end}"), Some(bound))
            }
            Value::String(text) if text.len() >= LONG_TEXT => return None,
            Value::String(text) => {
                // Texts sort between the numbers and the blobs that stand for booleans and null.
                let end = match operator {
                    "=" => "",
                    _ if operator.starts_with('>') => " AND f.value < x''",
                    _ => " AND f.value >= ''",
                };
                (format!("{operator} ?{end}"), Some(Sql::Text(text.clone())))
            }
            Value::Array(_) | Value::Object(_) => return None,
        };
        let values: Vec<Sql> = std::iter::once(Sql::Text(name.to_owned())).chain(value).collect();
        let of = |column, table, values| {
            let sql = format!("SELECT f.{column} FROM {table} f WHERE f.name = ? AND f.value {sql}");
            Condition { sql, values }
        };
        items.push(of("row", "item_fields", values.clone()));
        documents.push(of("document", "document_fields", values));
    }
    Some(Lookup::Any(vec![Lookup::Rows(items), Lookup::Documents(documents)]))
}

/// Looks up chunks whose document's path compares with one of some values; only texts compare with a path.
fn paths(operator: &str, values: &[Value]) -> Lookup {
    // The collection is the first column of the index.
    let sql = format!(
        "SELECT d.row AS document FROM documents d
         WHERE d.collection IN (SELECT collection FROM counts WHERE kind = 'document') AND d.path {operator} ?"
    );
    let texts = values.iter().filter_map(Value::as_str);
    Lookup::Documents(texts.map(|text| Condition::of(&sql, text.to_owned())).collect())
}

/// Looks up rows whose collection is one of some values.
fn collection(operator: &str, values: &[Value]) -> Option<Lookup> {
    let names = values.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect();
    (operator == "=").then_some(Lookup::Collections(names))
}

/// Returns the rows that meet all conditions; `None` if a scan is quicker, or the only way.
pub(super) fn rows(
    connection: &Connection,
    conjuncts: Vec<Conjunct>,
    narrow: usize,
) -> rusqlite::Result<Option<RowSet>> {
    let (mut known, mut open) = (Vec::new(), Vec::new());
    let (mut keeping, mut first): (Vec<_>, Vec<_>) =
        conjuncts.into_iter().partition(|conjunct| !matches!(conjunct.lookup, Some(Lookup::Not(_)) | None));
    let last = if keeping.len() == 1 { keeping.pop() } else { None };
    first.append(&mut keeping);
    for (conjunct, is_last) in first.into_iter().zip(std::iter::repeat(false)).chain(last.zip(Some(true))) {
        // If all other conditions are resolved, this one must be read in full, however wide it is.
        let most = if is_last && open.is_empty() { usize::MAX } else { narrow };
        let found = conjunct.lookup.as_ref().map(|lookup| find(connection, lookup, most)).transpose()?;
        match found.flatten() {
            Some(found) => known.push(found),
            None => open.push(conjunct),
        }
    }
    if !known.iter().any(|found| matches!(found, Known::Rows(_))) {
        // All conditions are wide: those that indexes can find are read in full.
        let (wide, rest): (Vec<_>, Vec<_>) = open.into_iter().partition(|conjunct| conjunct.lookup.is_some());
        if !rest.is_empty() && wide.iter().all(|conjunct| matches!(conjunct.lookup, Some(Lookup::Not(_)))) {
            return Ok(None);
        }
        for lookup in wide.iter().filter_map(|conjunct| conjunct.lookup.as_ref()) {
            known.extend(find(connection, lookup, usize::MAX)?);
        }
        open = rest;
    }
    let rows = match known.into_iter().reduce(Known::and) {
        Some(Known::Rows(rows)) => rows,
        Some(Known::AllBut(_)) | None if !open.is_empty() => return Ok(None),
        Some(Known::AllBut(others)) => {
            let mut rows = RowSet::new();
            read(
                connection,
                &Condition { sql: "SELECT row FROM items".into(), values: Vec::new() },
                &mut rows,
                usize::MAX,
            )?;
            rows.remove_all(&others);
            rows
        }
        None => return Ok(None),
    };
    if open.is_empty() || rows.is_empty() {
        return Ok(Some(rows));
    }
    let newest: Option<usize> =
        connection.prepare_cached("SELECT max(row) FROM items")?.query_row([], |row| row.get(0))?;
    if rows.len().saturating_mul(ASKING) > newest.unwrap_or(0).max(narrow) {
        return Ok(None);
    }
    ask(connection, &rows, open).map(Some)
}

/// Returns those rows that meet the remaining conditions.
fn ask(connection: &Connection, rows: &RowSet, conjuncts: Vec<Conjunct>) -> rusqlite::Result<RowSet> {
    let list: Vec<String> = rows.iter().map(|row| row.0.to_string()).collect();
    let rest = every(conjuncts.into_iter().map(|conjunct| conjunct.condition));
    let sql =
        format!("SELECT i.row FROM json_each(?) r CROSS JOIN items i ON i.row = r.value WHERE {}", rest.sql);
    let list = Sql::Text(format!("[{}]", list.join(",")));
    connection
        .prepare(&sql)?
        .query_map(params_from_iter(std::iter::once(list).chain(rest.values)), first)?
        .collect()
}

/// Returns the rows that a lookup finds; `None` if they are more than `most`.
fn find(connection: &Connection, lookup: &Lookup, most: usize) -> rusqlite::Result<Option<Known>> {
    match lookup {
        Lookup::Rows(statements) => {
            let mut rows = RowSet::new();
            for statement in statements {
                if !read(connection, statement, &mut rows, most)? {
                    return Ok(None);
                }
            }
            Ok(Some(Known::Rows(rows)))
        }
        Lookup::Documents(statements) => Ok(chunks(connection, statements, most)?.map(Known::Rows)),
        Lookup::Collections(names) => {
            let (others, is_smaller) = other_collections(connection, names)?;
            let rows =
                |names: &[String]| each("SELECT row FROM items WHERE collection = ?", names.iter().cloned());
            if is_smaller {
                Ok(find(connection, &rows(&others), most)?.map(Known::not))
            } else {
                find(connection, &rows(names), most)
            }
        }
        Lookup::Not(inner) => Ok(find(connection, inner, most)?.map(Known::not)),
        Lookup::All(parts) => {
            let all = Known::AllBut(RowSet::new());
            fold(connection, parts, most, all, Known::and)
        }
        Lookup::Any(parts) => fold(connection, parts, most, Known::Rows(RowSet::new()), Known::or),
    }
}

/// Returns the collections that have items and are not among `names`, and whether they have fewer items together.
fn other_collections(connection: &Connection, names: &[String]) -> rusqlite::Result<(Vec<String>, bool)> {
    let mut prepared = connection.prepare_cached(
        "SELECT collection, sum(number) FROM counts WHERE kind <> 'document' GROUP BY 1 HAVING sum(number) > 0",
    )?;
    let mut all = prepared.query([])?;
    let (mut others, mut here, mut there) = (Vec::new(), 0_i64, 0_i64);
    while let Some(row) = all.next()? {
        let (name, number): (String, i64) = (row.get(0)?, row.get(1)?);
        if names.contains(&name) {
            here += number;
        } else {
            there += number;
            others.push(name);
        }
    }
    Ok((others, there < here))
}

/// Returns the chunks of the documents that some statements select; `None` if they are more than `most`.
fn chunks(
    connection: &Connection,
    statements: &[Condition],
    most: usize,
) -> rusqlite::Result<Option<RowSet>> {
    let mut documents: Vec<i64> = Vec::new();
    for statement in statements {
        let mut prepared = connection.prepare_cached(&statement.sql)?;
        let mut found = prepared.query(params_from_iter(&statement.values))?;
        while let Some(row) = found.next()? {
            documents.push(row.get(0)?);
            // Few documents have no chunks.
            if documents.len() > most {
                return Ok(None);
            }
        }
    }
    documents.sort_unstable();
    documents.dedup();
    let (Some(first), Some(last)) = (documents.first(), documents.last()) else {
        return Ok(Some(RowSet::new()));
    };
    let mut rows = RowSet::new();
    if last.abs_diff(*first) / SEEKING >= documents.len() as u64 {
        for statement in statements {
            let sql = format!(
                "SELECT i.row FROM ({}) f CROSS JOIN items i ON i.document = f.document",
                statement.sql
            );
            let joined = Condition { sql, values: statement.values.clone() };
            if !read(connection, &joined, &mut rows, most)? {
                return Ok(None);
            }
        }
        return Ok(Some(rows));
    }
    let mut wanted = documents.iter().peekable();
    let mut prepared = connection.prepare_cached(CHUNKS)?;
    let mut found = prepared.query([first, last])?;
    while let Some(row) = found.next()? {
        let document: i64 = row.get(0)?;
        while wanted.next_if(|wanted| **wanted < document).is_some() {}
        if wanted.peek() == Some(&&document) {
            rows.insert(row_id(row.get(1)?)?);
            if rows.len() > most {
                return Ok(None);
            }
        }
    }
    Ok(Some(rows))
}

fn fold(
    connection: &Connection,
    parts: &[Lookup],
    most: usize,
    start: Known,
    with: impl Fn(Known, Known) -> Known,
) -> rusqlite::Result<Option<Known>> {
    let mut all = start;
    for part in parts {
        let Some(found) = find(connection, part, most)? else { return Ok(None) };
        all = with(all, found);
    }
    Ok(Some(all))
}

/// Adds the rows of a statement; returns false if there are then more than `most`.
fn read(
    connection: &Connection,
    statement: &Condition,
    rows: &mut RowSet,
    most: usize,
) -> rusqlite::Result<bool> {
    let mut prepared = connection.prepare_cached(&statement.sql)?;
    let mut found = prepared.query(params_from_iter(&statement.values))?;
    while let Some(row) = found.next()? {
        rows.insert(first(row)?);
        if rows.len() > most {
            return Ok(false);
        }
    }
    Ok(true)
}

impl Known {
    fn not(self) -> Self {
        match self {
            Self::Rows(rows) => Self::AllBut(rows),
            Self::AllBut(rows) => Self::Rows(rows),
        }
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Rows(mut rows), Self::Rows(others)) => {
                rows.keep_all(&others);
                Self::Rows(rows)
            }
            (Self::Rows(mut rows), Self::AllBut(others)) | (Self::AllBut(others), Self::Rows(mut rows)) => {
                rows.remove_all(&others);
                Self::Rows(rows)
            }
            (Self::AllBut(mut rows), Self::AllBut(others)) => {
                rows.add_all(&others);
                Self::AllBut(rows)
            }
        }
    }

    fn or(self, other: Self) -> Self {
        self.not().and(other.not()).not()
    }
}
