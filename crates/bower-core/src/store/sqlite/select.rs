//! Translates a selection into a condition in SQL.
//! Every value a user wrote is bound; no user text becomes part of a statement.

use rusqlite::types::Value as Sql;

use super::clocks;
use super::condition::{Condition, every};
use super::filter::filter_condition;
use super::lookup::{self, Conjunct, Lookup};
use crate::filter::Filter;
use crate::item::{Scope, Status, Visibility};
use crate::request::{Clocks, Selection};
use crate::store::Audience;

/// Whether a selection only excludes what its clocks hide.
pub(super) fn is_everything(select: &Selection) -> bool {
    *select == Selection { clocks: select.clocks, ..Selection::default() }
}

/// Returns the conditions of a selection, including its statuses.
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
        // Each part is a condition of its own: a narrow part saves reading the rows of the others.
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

/// Returns the condition for items that a caller may see; empty if that is everything.
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

/// Returns the condition for items that an audience may learn of: [`Visibility::is_known_at`] as SQL.
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

/// Returns the condition of a selection, including its statuses.
pub(super) fn condition(select: &Selection) -> Condition {
    every(conjuncts(select).into_iter().map(|conjunct| conjunct.condition))
}

/// Returns the condition for chunks of documents at or below some paths, and memories of some sources or conversations.
fn from_sources(sources: &[String]) -> Condition {
    let mut all = Condition::default();
    for source in sources {
        // Paths below a folder continue with a separator: they sort between that and the next character.
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
