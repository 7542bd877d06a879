//! SQL conditions with the values that they bind, and functions that join them.

use rusqlite::types::Value as Sql;

/// A condition over `items i` and the values it binds, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Condition {
    pub(super) sql: String,
    pub(super) values: Vec<Sql>,
}

impl Condition {
    pub(super) fn of(sql: &str, value: impl Into<Sql>) -> Self {
        Self { sql: sql.to_owned(), values: vec![value.into()] }
    }

    /// Returns the condition that a column's value is one of some words; no condition for an empty list.
    pub(super) fn within<T: ToString>(column: &str, words: &[T]) -> Self {
        if words.is_empty() {
            return Self::default();
        }
        Self {
            sql: format!("{column} IN ({})", marks(words.len())),
            values: words.iter().map(|word| Sql::Text(word.to_string())).collect(),
        }
    }

    /// Returns the whole statement that selects the rows of a condition.
    pub(super) fn rows_of(&self, table: &str) -> Self {
        Self { sql: format!("SELECT i.row FROM {table} WHERE {}", self.sql), values: self.values.clone() }
    }
}

/// Joins conditions with `AND`.
pub(super) fn every(conditions: impl Iterator<Item = Condition>) -> Condition {
    let mut all = Condition::default();
    for part in conditions {
        if !all.sql.is_empty() {
            all.sql.push_str(" AND ");
        }
        all.sql.push_str(&part.sql);
        all.values.extend(part.values);
    }
    all
}

/// Returns `n` parameter marks.
fn marks(n: usize) -> String {
    vec!["?"; n].join(", ")
}
