//! States that two names mean one entity, takes such a statement back, and lists those that hold.
//! Names are never joined because they are similar: only a person says so.

use jiff::Timestamp;
use std::collections::BTreeMap;

use crate::engine::caches::joined;
use crate::engine::query::graph::with_graph;
use crate::engine::query::plan::{Depth, FoundRows};
use crate::engine::{ACTOR, Engine};
use crate::error::{Error, Missing, Result};
use crate::graph::{EntityAliases, EntityKey, Graph, alias_form, keys_of};
use crate::item::{Profile, Visibility};
use crate::request::{AliasList, AliasOutcome, AliasRequest, AliasedEntity, Selection, StatedAlias};
use crate::store::{AliasRow, Stamp};

/// Longest name, in bytes: as long as the name in a link may be.
const LONGEST_NAME: usize = 200;

impl Engine {
    /// States that two names mean one entity, or takes it back. It holds for the whole store, so the caller must see all of it.
    ///
    /// Fails with [`Error::Invalid`] for names that are one already without an alias, and with [`Error::NotFound`] if an alias is to
    /// be taken back that nobody stated.
    pub fn alias(
        &self,
        visibility: &Visibility,
        request: &AliasRequest,
        now: Timestamp,
    ) -> Result<StatedAlias> {
        visibility.check_everything("stating aliases")?;
        let row = row_of(&request.name, &request.other, now)?;
        let stamp = Stamp { now, actor: ACTOR };
        let (outcome, event) = if request.undo {
            let Some((_, event)) = self.store.remove_alias(&row.forms, stamp)? else {
                let id = format!("{} = {}", row.name, row.other);
                return Err(Error::NotFound { what: Missing::Named("alias"), id });
            };
            (AliasOutcome::Ended, Some(event))
        } else {
            match self.store.add_alias(&row, stamp)? {
                Some(event) => (AliasOutcome::Stated, Some(event)),
                None => (AliasOutcome::Unchanged, None),
            }
        };
        let unknown = if request.undo { Vec::new() } else { self.unmentioned(&[&row.name, &row.other])? };
        let rows = self.store.aliases()?;
        let names = entities(&rows)
            .into_iter()
            .find(|one| has_form(one, &row.forms[0]) || has_form(one, &row.forms[1]));
        Ok(StatedAlias {
            name: row.name,
            other: row.other,
            outcome,
            event,
            names: names.filter(|_| !request.undo).map(|one| one.names).unwrap_or_default(),
            unknown,
        })
    }

    /// Returns the entities with aliases, by their names; with `name` only the one that it means.
    pub fn aliases(&self, visibility: &Visibility, name: Option<&str>) -> Result<AliasList> {
        visibility.check_everything("listing aliases")?;
        let form = name.map(form).transpose()?;
        let mut entities = entities(&self.store.aliases()?);
        if let Some(form) = form {
            entities.retain(|one| has_form(one, &form));
        }
        Ok(AliasList { entities })
    }

    /// Returns the names that no item mentions by themselves.
    fn unmentioned(&self, names: &[&String]) -> Result<Vec<String>> {
        let found = FoundRows::of(self, &Selection::default(), None)?;
        let scope = found.scope(Profile::Bower, Depth::Hits(1));
        let none = EntityAliases::default();
        let unknown = |graph: &Graph<'_>| {
            let graph = Graph { aliases: &none, ..*graph };
            let is_unknown = |name: &str| keys_of(name).iter().all(|key| graph.mentions_of(*key).is_empty());
            Ok(names.iter().filter(|name| is_unknown(name)).map(|name| (*name).clone()).collect())
        };
        Ok(with_graph(self, &scope, &[], unknown)?.0)
    }
}

/// Makes the row of an alias.
pub(crate) fn row_of(name: &str, other: &str, time: Timestamp) -> Result<AliasRow> {
    let mut forms = [form(name)?, form(other)?];
    if forms[0] == forms[1] {
        return Err(Error::invalid(
            format!("alias {} = {}", on_a_line(name), on_a_line(other)),
            "they are one name already: case, accents and punctuation do not count",
        ));
    }
    forms.sort_unstable();
    Ok(AliasRow { name: on_a_line(name), other: on_a_line(other), forms, time })
}

fn on_a_line(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Checks a name, and returns the form by which it is compared.
fn form(name: &str) -> Result<String> {
    let shown: String = on_a_line(name).chars().take(40).collect();
    if on_a_line(name).len() > LONGEST_NAME {
        return Err(Error::invalid(format!("name {shown:?}"), "it is longer than 200 bytes"));
    }
    alias_form(name).ok_or_else(|| Error::invalid(format!("name {shown:?}"), "it has no letter or digit"))
}

fn has_form(entity: &AliasedEntity, wanted: &str) -> bool {
    entity.names.iter().any(|name| alias_form(name).as_deref() == Some(wanted))
}

/// Groups aliases by the entity that they are about, sorted by the first name.
fn entities(rows: &[AliasRow]) -> Vec<AliasedEntity> {
    let aliases = joined(rows);
    let mut by_key: BTreeMap<EntityKey, AliasedEntity> = BTreeMap::new();
    for row in rows {
        let Some(key) = keys_of(&row.name).first().map(|key| aliases.resolve(*key)) else { continue };
        let entity =
            by_key.entry(key).or_insert_with(|| AliasedEntity { names: Vec::new(), aliases: Vec::new() });
        for name in [&row.name, &row.other] {
            let is_new = !entity.names.iter().any(|one| alias_form(one) == alias_form(name));
            if is_new {
                entity.names.push(name.clone());
            }
        }
        entity.aliases.push(row.clone().shown());
    }
    let mut entities: Vec<AliasedEntity> = by_key.into_values().collect();
    for entity in &mut entities {
        entity.names.sort_by_key(|name| alias_form(name));
        entity.aliases.sort_by(|one, two| (one.time, &one.name).cmp(&(two.time, &two.name)));
    }
    entities.sort_by(|one, two| one.names.cmp(&two.names));
    entities
}
