//! Translates a selection into a condition in SQL.
//! Every value a user wrote is bound; no user text becomes part of a statement.

use rusqlite::types::Value as Sql;
use serde_json::Value;

use super::clocks;
use super::lookup::{self, Lookup};
use crate::filter::{Filter, Test};
use crate::item::{Scope, Status, Visibility};
use crate::request::{Clocks, Selection};
use crate::store::Audience;

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

    /// A column's value is one of some words; no condition where there are none.
    pub(super) fn within<T: ToString>(column: &str, words: &[T]) -> Self {
        if words.is_empty() {
            return Self::default();
        }
        Self {
            sql: format!("{column} IN ({})", marks(words.len())),
            values: words.iter().map(|word| Sql::Text(word.to_string())).collect(),
        }
    }

    /// The whole statement that gives the rows of a condition.
    fn rows_of(&self, table: &str) -> Self {
        Self { sql: format!("SELECT i.row FROM {table} WHERE {}", self.sql), values: self.values.clone() }
    }
}

/// Whether a selection leaves out nothing but what its clocks hide.
pub(super) fn is_everything(select: &Selection) -> bool {
    *select == Selection { clocks: select.clocks, ..Selection::default() }
}

/// One of the conditions of a selection, all of which must hold, and how an index finds its rows, where one can.
#[derive(Debug, PartialEq)]
pub(super) struct Conjunct {
    pub(super) condition: Condition,
    pub(super) lookup: Option<Lookup>,
}

/// The conditions of a selection, its statuses included.
pub(super) fn conjuncts(select: &Selection) -> Vec<Conjunct> {
    let mut all = Vec::new();
    let mut and = |condition: Condition, lookup| {
        if !condition.sql.is_empty() {
            all.push(Conjunct { condition, lookup });
        }
    };
    let now = select.clocks == Clocks::default();
    let statuses: &[Status] = if now && select.statuses.is_empty() {
        &[Status::Candidate, Status::Active]
    } else {
        &select.statuses
    };
    and(Condition::within("i.status", statuses), lookup::statuses(statuses));
    if !now {
        and(clocks::visible(select.clocks), None);
    }
    and(Condition::within("i.kind", &select.kinds), lookup::kinds(&select.kinds));
    and(
        Condition::within("i.collection", &select.collections),
        Some(lookup::collections(&select.collections)),
    );
    and(Condition::within("i.type", &select.types), Some(lookup::types(&select.types)));
    for tag in &select.tags {
        let found =
            Condition::of("EXISTS (SELECT 1 FROM tags g WHERE g.row = i.row AND g.tag = ?)", tag.clone());
        and(found, Some(lookup::tag(tag)));
    }
    let times: Vec<_> = [("i.create_time >= ?", select.since), ("i.create_time < ?", select.until)]
        .into_iter()
        .filter_map(|(sql, time)| Some((sql, time?.as_microsecond())))
        .collect();
    let sql = times.iter().map(|(sql, _)| *sql).collect::<Vec<_>>().join(" AND ");
    let created = Condition { sql, values: times.into_iter().map(|(_, time)| time.into()).collect() };
    and(created.clone(), Some(Lookup::Rows(vec![created.rows_of("items i")])));
    if let Some(version) = &select.version {
        let sql = "(SELECT d.version FROM documents d WHERE d.row = i.document) = ?";
        and(Condition::of(sql, version.clone()), None);
    }
    if let Some(scope) = select.scope {
        and(Condition::of("i.scope = ?", scope.word().to_owned()), None);
    }
    if let Some(owner) = &select.owner {
        and(Condition::of("i.owner = ?", owner.clone()), None);
    }
    and(Condition::within("coalesce(i.said_by, 'document')", &select.said_by), None);
    if !select.sources.is_empty() {
        and(from_sources(&select.sources), None);
    }
    match &select.filter {
        // Each part by itself: one that few rows pass spares the others' rows.
        Some(Filter::All(parts)) => {
            for part in parts {
                and(filter_condition(part), lookup::filter(part));
            }
        }
        Some(filter) => and(filter_condition(filter), lookup::filter(filter)),
        None => {}
    }
    all
}

/// The condition of what a caller may see; none where that is everything.
pub(super) fn visible(visibility: &Visibility) -> Condition {
    let Visibility { scope, owner, collections } = visibility;
    let none = || Condition { sql: "0".to_owned(), values: Vec::new() };
    let collections = collections.as_ref().map(|names| {
        let names: Vec<&String> = names.iter().collect();
        if names.is_empty() { none() } else { Condition::within("i.collection", &names) }
    });
    let scope = scope.map(|scope| Condition::of("i.scope = ?", scope.word().to_owned()));
    let owner = owner.as_ref().map(|owner| Condition::of("i.owner = ?", owner.clone()));
    every([collections, scope, owner].into_iter().flatten())
}

/// The condition of what an audience may know of: [`Visibility::is_known_at`] as SQL.
pub(super) fn known_to(to: &Audience<'_>) -> Condition {
    let visible = visible(to.visibility);
    let known = match &to.place.owner {
        None => Condition { sql: "i.owner IS NULL".to_owned(), values: Vec::new() },
        Some(owner) => {
            let scopes: Vec<Scope> =
                Scope::ALL.iter().copied().filter(|scope| to.place.scope.is_within(*scope)).collect();
            let owned = Condition::of("(i.owner IS NULL OR i.owner = ?)", owner.clone());
            every([owned, Condition::within("i.scope", &scopes)].into_iter())
        }
    };
    every([visible, known].into_iter().filter(|part| !part.sql.is_empty()))
}

/// The condition of a selection, its statuses included.
pub(super) fn condition(select: &Selection) -> Condition {
    every(conjuncts(select).into_iter().map(|conjunct| conjunct.condition))
}

/// Several conditions as one.
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

/// Chunks of documents at or below some paths, and memories of some sources or conversations.
fn from_sources(sources: &[String]) -> Condition {
    let mut all = Condition::default();
    for source in sources {
        // Below a folder is what goes on with a separator: everything between that and the character behind it.
        let folder = source.trim_end_matches(['/', '\\']);
        if !all.sql.is_empty() {
            all.sql.push_str(" OR ");
        }
        all.sql.push_str(
            "i.document IN (SELECT d.row FROM documents d WHERE d.path IN (?, ?) OR (d.path > ? AND d.path < ?)
             OR (d.path > ? AND d.path < ?)) OR i.source_conv_id = ? OR (i.kind = 'memory' AND i.source = ?)",
        );
        let bounds =
            [format!("{folder}/"), format!("{folder}0"), format!("{folder}\\"), format!("{folder}]")];
        let values = [source.clone(), folder.to_owned()].into_iter().chain(bounds);
        all.values.extend(values.chain([source.clone(), source.clone()]).map(Sql::Text));
    }
    all.sql = format!("({})", all.sql);
    all
}

fn filter_condition(filter: &Filter) -> Condition {
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

/// A test on `f.value`; the flag says that the field must hold no value that passes.
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
        // Parsing a filter lets neither through.
        Value::Array(_) | Value::Object(_) => ("0".into(), Vec::new()),
    }
}

/// `n` parameter marks.
pub(super) fn marks(n: usize) -> String {
    vec!["?"; n].join(", ")
}

#[cfg(test)]
impl super::SqliteStore {
    /// The rows of a selection as indexes find them, where a condition with more than `narrow` rows is a wide one.
    pub(crate) fn select_by_index(
        &self,
        selection: &Selection,
        narrow: usize,
    ) -> crate::Result<Option<crate::item::RowSet>> {
        let conjuncts = conjuncts(selection);
        self.read("select the items", |connection| super::lookup::rows(connection, conjuncts, narrow))
    }

    /// The rows of a selection as a scan finds them.
    pub(crate) fn select_by_scan(&self, selection: &Selection) -> crate::Result<crate::item::RowSet> {
        self.read("select the items", |connection| super::read::scan(connection, selection))
    }
}
