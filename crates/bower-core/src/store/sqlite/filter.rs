//! Translates a filter into a condition in SQL.

use rusqlite::types::Value as Sql;
use serde_json::Value;

use super::condition::Condition;
use crate::filter::{Filter, Test};

pub(super) fn filter_condition(filter: &Filter) -> Condition {
    match filter {
        Filter::All(parts) => join(parts, " AND ", "1"),
        Filter::Any(parts) => join(parts, " OR ", "0"),
        Filter::Field { name, test } => field_condition(name, test),
        Filter::Contains(words) => Condition {
            sql: format!("instr({CONTENT}, lower(?)) > 0"),
            values: vec![Sql::Text(words.clone())],
        },
        Filter::NotContains(words) => Condition {
            sql: format!("instr({CONTENT}, lower(?)) = 0"),
            values: vec![Sql::Text(words.clone())],
        },
    }
}

const CONTENT: &str = "lower((SELECT t.content FROM texts t WHERE t.row = i.row))";

fn join(parts: &[Filter], with: &str, empty: &str) -> Condition {
    if parts.is_empty() {
        return Condition { sql: empty.into(), values: Vec::new() };
    }
    let mut all = Condition::default();
    for part in parts {
        let part = filter_condition(part);
        if !all.sql.is_empty() {
            all.sql.push_str(with);
        }
        all.sql.push_str(&part.sql);
        all.values.extend(part.values);
    }
    all.sql = format!("({})", all.sql);
    all
}

/// Whether a filter's field is a column, not metadata.
pub(super) fn is_column(name: &str) -> bool {
    COLUMNS.iter().any(|(column, _)| *column == name)
}

/// Fields that are columns; every other name is looked up in the item's metadata, then in its document's.
const COLUMNS: &[(&str, &str)] = &[
    ("path", "SELECT d.path AS value FROM documents d WHERE d.row = i.document"),
    (
        "source",
        "SELECT coalesce((SELECT d.path FROM documents d WHERE d.row = i.document), i.source) AS value",
    ),
    ("file_name", "SELECT d.file_name AS value FROM documents d WHERE d.row = i.document"),
    ("version", "SELECT d.version AS value FROM documents d WHERE d.row = i.document"),
    ("section_title", "SELECT t.section AS value FROM texts t WHERE t.row = i.row AND t.section IS NOT NULL"),
    ("chunk_size", "SELECT length(t.content) AS value FROM texts t WHERE t.row = i.row"),
    ("collection", "SELECT i.collection AS value"),
    ("kind", "SELECT i.kind AS value"),
    ("type", "SELECT i.type AS value WHERE i.type IS NOT NULL"),
    ("owner", "SELECT i.owner AS value WHERE i.owner IS NOT NULL"),
    ("importance", "SELECT i.importance AS value"),
    ("confidence", "SELECT i.confidence AS value"),
    ("said_by", "SELECT coalesce(i.said_by, 'document') AS value"),
    ("least_trusted", "SELECT coalesce(i.least_trusted, 'document') AS value"),
    ("host", "SELECT i.host AS value WHERE i.host IS NOT NULL"),
];

const METADATA: &str = "SELECT j.atom AS value, j.type AS type FROM json_each(i.metadata) j WHERE j.key = ?
 UNION ALL SELECT j.atom, j.type FROM documents d, json_each(d.metadata) j WHERE d.row = i.document AND j.key = ?";

fn field_condition(name: &str, test: &Test) -> Condition {
    let mut condition = Condition::default();
    let source = if let Some((_, query)) = COLUMNS.iter().find(|(column, _)| *column == name) {
        format!("SELECT value, typeof(value) AS type FROM ({query})")
    } else {
        condition.values.extend([Sql::Text(name.to_owned()), Sql::Text(name.to_owned())]);
        METADATA.to_owned()
    };
    let (negated, sql, values) = test_condition(test);
    condition.values.extend(values);
    let not = if negated { "NOT " } else { "" };
    condition.sql = format!("{not}EXISTS (SELECT 1 FROM ({source}) f WHERE {sql})");
    condition
}

/// Returns a test on `f.value`. If the flag is set, the field must hold no value that passes.
fn test_condition(test: &Test) -> (bool, String, Vec<Sql>) {
    match test {
        Test::Equal(value) => one("=", value, false),
        Test::NotEqual(value) => one("=", value, true),
        Test::Greater(value) => one(">", value, false),
        Test::GreaterOrEqual(value) => one(">=", value, false),
        Test::Less(value) => one("<", value, false),
        Test::LessOrEqual(value) => one("<=", value, false),
        Test::In(values) => any(values, false),
        Test::NotIn(values) => any(values, true),
    }
}

fn one(operator: &str, value: &Value, negated: bool) -> (bool, String, Vec<Sql>) {
    let (sql, values) = comparison(operator, value);
    (negated, sql, values)
}

fn any(values: &[Value], negated: bool) -> (bool, String, Vec<Sql>) {
    let parts: Vec<_> = values.iter().map(|value| comparison("=", value)).collect();
    let sql = parts.iter().map(|(sql, _)| format!("({sql})")).collect::<Vec<_>>().join(" OR ");
    let sql = if sql.is_empty() { "0".to_owned() } else { sql };
    (negated, sql, parts.into_iter().flat_map(|(_, values)| values).collect())
}

/// Numbers compare with numbers and strings with strings: SQLite alone would order every number before every string.
fn comparison(operator: &str, value: &Value) -> (String, Vec<Sql>) {
    match value {
        Value::Null => ("f.type = 'null'".into(), Vec::new()),
        Value::Bool(truth) => (format!("f.type = '{truth}' AND '{operator}' = '='"), Vec::new()),
        Value::Number(number) => {
            let bound =
                number.as_i64().map_or_else(|| Sql::Real(number.as_f64().unwrap_or(f64::NAN)), Sql::Integer);
            (format!("f.type IN ('integer', 'real') AND f.value {operator} ?"), vec![bound])
        }
        Value::String(text) => {
            (format!("f.type = 'text' AND f.value {operator} ?"), vec![Sql::Text(text.clone())])
        }
        // Parsing a filter rejects both.
        Value::Array(_) | Value::Object(_) => ("0".into(), Vec::new()),
    }
}
