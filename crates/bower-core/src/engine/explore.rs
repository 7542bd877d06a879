//! Explores the graph for people and programs: an entity, what is near it, and the path between two of them.
//! Everything is read from the items that the caller may see, so nothing else shows.

mod communities;
mod terms;
mod whole;

use jiff::Timestamp;
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::engine::Engine;
use crate::engine::query::graph::{links, related, with_graph};
use crate::engine::query::lookup::{ID_DIGITS, looks_like_id, resolve};
use crate::engine::query::paths::{NamedItem, hops, kind_of, named_items, relations_between, rows_of};
use crate::engine::query::plan::{Depth, FoundRows, RankRequest, Scope};
use crate::engine::query::rank::rank;
use crate::error::{Error, Result};
use crate::graph::{
    EntityAliases, EntityKey, Graph, KnownEntities, NodeId, Role, StoredMention, add_links, entities_of,
    keys_of, likeliest,
};
use crate::item::{Channel, Profile, RowId, Visibility};
use crate::request::{
    CommunitiesReport, CommunitiesRequest, EntityAlias, EntityMention, EntityName, EntityReport,
    EntityRequest, GraphPath, GraphRequest, Hop, NearEntity, Neighbours, NeighboursRequest, PathRequest,
    RelatedMemory, Selection, WholeGraph,
};
use crate::store::AliasRow;

/// Most mentions or neighbours of one answer.
const MOST: usize = 200;
/// Most steps from entity to entity.
const MOST_STEPS: usize = 4;
/// Items of an entity that are read for its name and its other spellings: those that mention it most strongly.
const SPELLED: usize = 50;
/// Nodes that are expanded before a path counts as not found; each costs some 20 microseconds.
const MOST_EXPANDED: usize = 5_000;
/// Best hits in which similar names are looked for.
const NEAR_HITS: usize = 10;
/// Most similar names that are offered.
const MOST_OFFERED: usize = 3;

/// An entity with its mentions by visible items, strongest first.
struct Listed {
    key: EntityKey,
    mentions: Vec<(StoredMention, RowId, u32)>,
    is_hub: bool,
}

impl Listed {
    /// Returns an entity; `None` if no visible item mentions it.
    fn of(graph: &Graph<'_>, key: EntityKey) -> Option<Self> {
        let mut mentions = graph.mentions_of(key);
        mentions.sort_unstable_by_key(|(mention, row, _)| (mention.order(), *row));
        let is_hub = graph.entity(key).is_hub;
        (!mentions.is_empty()).then_some(Self { key, mentions, is_hub })
    }

    /// Returns the number of its documents. A memory counts as one of its own.
    fn documents(&self) -> usize {
        let memories = self.mentions.iter().filter(|(.., document)| *document == 0).count();
        let documents: HashSet<u32> =
            self.mentions.iter().map(|(.., document)| *document).filter(|one| *one != 0).collect();
        memories + documents.len()
    }

    /// Returns its name as the strongest mention has it.
    fn name(&self, items: &HashMap<RowId, NamedItem>) -> EntityName {
        let strongest = self.mentions.iter().find_map(|(_, row, _)| items.get(row)?.mention(self.key));
        EntityName {
            id: self.key.hex(),
            name: strongest.map_or_else(|| self.key.hex(), |mention| mention.name.clone()),
            kind: kind_of(strongest.map_or(Role::Start, |mention| mention.role)),
            items: self.mentions.len(),
        }
    }
}

/// Returns the items to which an entity leads, each with its share. One that a walk does not pass leads to the items that mention
/// it most strongly.
fn items_of(graph: &Graph<'_>, key: EntityKey, known: &mut KnownEntities) -> Result<Vec<(NodeId, f64)>> {
    let mut edges = graph.edges(NodeId::Entity(key), known)?;
    if edges.is_empty() {
        let mentions = Listed::of(graph, key).map(|listed| listed.mentions).unwrap_or_default();
        let share = 1.0 / mentions.len().clamp(1, MOST) as f64;
        edges.extend(mentions.iter().take(MOST).map(|(_, row, _)| (NodeId::Item(*row), share)));
    }
    Ok(edges)
}

/// An entity near another one.
struct Near {
    weight: f64,
    depth: usize,
    /// The item that connects them most strongly, with the share that it adds, and the entity before it.
    by: (f64, RowId, Option<EntityKey>),
}

/// Returns the most strongly connected entities of a node, with the probability that a walker comes to them over one item.
fn around(graph: &Graph<'_>, from: NodeId, known: &mut KnownEntities) -> Result<BTreeMap<EntityKey, Near>> {
    let before = match from {
        NodeId::Entity(key) => Some(key),
        NodeId::Item(_) => None,
    };
    let items = match from {
        NodeId::Item(row) => vec![(NodeId::Item(row), 1.0)],
        NodeId::Entity(key) => items_of(graph, key, known)?,
    };
    let mut found: BTreeMap<EntityKey, Near> = BTreeMap::new();
    for (item, share) in items {
        let NodeId::Item(row) = item else { continue };
        for (to, onward) in graph.edges(item, known)? {
            let NodeId::Entity(key) = to else { continue };
            if Some(key) == before {
                continue;
            }
            let weight = share * onward;
            let near = found.entry(key).or_insert(Near { weight: 0.0, depth: 1, by: (0.0, row, before) });
            near.weight += weight;
            if weight > near.by.0 {
                near.by = (weight, row, before);
            }
        }
    }
    Ok(found)
}

/// What [`nearest`] returns.
type Nearest = (Vec<(Listed, Near)>, Option<Listed>);

/// Returns the entities near a node, nearest first, and the entity that the node is, if it is one.
fn nearest(graph: &Graph<'_>, start: NodeId, request: &NeighboursRequest) -> Result<Nearest> {
    let mut known = KnownEntities::default();
    let mut seen: HashSet<EntityKey> = HashSet::new();
    let mut near: Vec<(Listed, Near)> = Vec::new();
    let mut last: Vec<(NodeId, f64)> = vec![(start, 1.0)];
    for depth in 1..=request.depth {
        let mut next: BTreeMap<EntityKey, Near> = BTreeMap::new();
        for (from, share) in last {
            for (key, near) in around(graph, from, &mut known)? {
                let (weight, by) = (share * near.weight, (share * near.by.0, near.by.1, near.by.2));
                let one = next.entry(key).or_insert(Near { weight: 0.0, depth, by });
                one.weight += weight;
                if by.0 > one.by.0 {
                    one.by = by;
                }
            }
        }
        let mut best: Vec<(EntityKey, Near)> = next
            .into_iter()
            .filter(|(key, _)| !seen.contains(key) && NodeId::Entity(*key) != start)
            .collect();
        best.sort_by(|(_, one), (_, two)| two.weight.total_cmp(&one.weight));
        seen.extend(best.iter().map(|(key, _)| *key));
        // Farther steps go on from the nearest only.
        last =
            best.iter().take(request.limit).map(|(key, near)| (NodeId::Entity(*key), near.weight)).collect();
        let is_wanted = |key: EntityKey| {
            request.kinds.is_empty() || request.kinds.contains(&kind_of(graph.entity(key).role))
        };
        let wanted = best.into_iter().filter(|(key, _)| is_wanted(*key)).take(request.limit);
        near.extend(wanted.filter_map(|(key, near)| Some((Listed::of(graph, key)?, near))));
    }
    let own = match start {
        NodeId::Entity(key) => Listed::of(graph, key),
        NodeId::Item(_) => None,
    };
    Ok((near, own))
}

impl Engine {
    /// Returns an entity by its name, with the items that mention it. Letter case, accents and punctuation of the name do not count.
    ///
    /// Fails with [`Error::UnknownEntity`] if no visible item mentions it.
    pub fn graph_entity(
        &self,
        visibility: &Visibility,
        request: &EntityRequest,
        now: Timestamp,
    ) -> Result<EntityReport> {
        check_limit(request.limit)?;
        let select = request.select.within(visibility)?;
        let found = FoundRows::of(self, &select, None)?;
        let scope = found.scope(Profile::Bower, Depth::Hits(1));
        let joined = self.caches.aliases(&*self.store, scope.newest)?;
        let keys = known_as(&joined, &request.name);
        let listed = |graph: &Graph<'_>| Ok(keys.iter().filter_map(|key| Listed::of(graph, *key)).collect());
        let (listed, _): (Vec<Listed>, _) = with_graph(self, &scope, &[], listed)?;
        let Some((entity, others)) = listed.split_first() else {
            return Err(self.unknown(&request.name, &select, now)?);
        };
        let most = SPELLED.max(request.limit);
        let shown = |listed: &Listed, most: usize| {
            listed.mentions.iter().take(most).map(|(_, row, _)| *row).collect::<Vec<_>>()
        };
        let mut rows = shown(entity, most);
        rows.extend(others.iter().flat_map(|other| shown(other, 1)));
        let items = named_items(self, &rows)?;
        let name = entity.name(&items);
        let mut spellings: BTreeMap<&str, usize> = BTreeMap::new();
        let mut mentions = Vec::new();
        for (stored, row, _) in entity.mentions.iter().take(most) {
            let Some((item, mention)) =
                items.get(row).and_then(|item| Some((item, item.mention(entity.key)?)))
            else {
                continue;
            };
            *spellings.entry(&mention.name).or_default() += mention.count as usize;
            if mentions.len() < request.limit {
                let proof = item.proof(&[&mention.name]);
                mentions.push(EntityMention { kind: kind_of(stored.role()), count: stored.count(), proof });
            }
        }
        let shown = entity.mentions.iter().take(most).filter_map(|(_, row, _)| items.get(row));
        let relations = shown.flat_map(|item| item.relations_of(entity.key)).take(request.limit).collect();
        spellings.remove(name.name.as_str());
        let mut aliases: Vec<(&str, usize)> = spellings.into_iter().collect();
        aliases.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let stated =
            if visibility.is_everything() { aliases_of(self, &joined, entity.key)? } else { Vec::new() };
        Ok(EntityReport {
            stated,
            aliases: aliases.into_iter().map(|(name, _)| name.to_owned()).collect(),
            documents: entity.documents(),
            hub: entity.is_hub,
            mentions,
            relations,
            also: others.iter().map(|other| other.name(&items)).collect(),
            entity: name,
        })
    }

    /// Returns the entities near an entity or an item, nearest first.
    ///
    /// Fails with [`Error::UnknownEntity`] if no visible item mentions the name, or [`Error::InvalidId`] for an id of no visible item.
    pub fn graph_neighbours(
        &self,
        visibility: &Visibility,
        request: &NeighboursRequest,
        now: Timestamp,
    ) -> Result<Neighbours> {
        check_limit(request.limit)?;
        if !(1..=MOST_STEPS).contains(&request.depth) {
            return Err(Error::invalid(format!("depth {}", request.depth), format!("use 1 to {MOST_STEPS}")));
        }
        let select = request.select.within(visibility)?;
        let found = FoundRows::of(self, &select, None)?;
        let scope = found.scope(Profile::Bower, Depth::Hits(1));
        let start = self.node(visibility, &scope, &request.name, &select, now)?;
        let near = |graph: &Graph<'_>| nearest(graph, start, request);
        let ((near, own), _) = with_graph(self, &scope, &[], near)?;
        let strongest = |listed: &Listed| listed.mentions.first().map(|(_, row, _)| *row);
        let of_start: Vec<RowId> = match start {
            NodeId::Item(row) => vec![row],
            NodeId::Entity(_) => {
                own.iter().flat_map(|own| &own.mentions).take(SPELLED).map(|(_, row, _)| *row).collect()
            }
        };
        let mut rows: Vec<RowId> = near.iter().map(|(_, near)| near.by.1).collect();
        rows.extend(near.iter().filter_map(|(listed, _)| strongest(listed)));
        rows.extend(&of_start);
        let related = match start {
            NodeId::Item(row) => related(self, &scope, &[row])?,
            NodeId::Entity(_) => Vec::new(),
        };
        rows.extend(related.iter().flat_map(|one| [one.row, one.other]));
        rows.extend(rows_of(std::iter::once(&start)));
        let items = named_items(self, &rows)?;
        let item = match start {
            NodeId::Item(row) => items.get(&row).map(|item| item.proof(&[])),
            NodeId::Entity(_) => None,
        };
        let neighbours = near.iter().filter_map(|(listed, near)| {
            let item = items.get(&near.by.1)?;
            let names = [near.by.2, Some(listed.key)].into_iter().flatten();
            let names: Vec<&str> = names.filter_map(|key| Some(item.mention(key)?.name.as_str())).collect();
            let relation = near.by.2.and_then(|before| item.relation(before, listed.key));
            Some(NearEntity {
                entity: listed.name(&items),
                depth: near.depth,
                weight: near.weight as f32,
                relation_source: relation.as_ref().and_then(|one| one.source.clone()),
                relation: relation.map(|one| one.relation),
                proof: item.proof(&names),
            })
        });
        let related = related.iter().filter_map(|one| {
            let inverse = NodeId::Item(one.row) != start;
            let memory = items.get(if inverse { &one.row } else { &one.other })?.proof(&[]);
            Some(RelatedMemory { relation: one.relation, inverse, strength: one.strength, memory })
        });
        let stated = of_start.iter().filter_map(|row| items.get(row));
        let relations = stated.flat_map(|item| match start {
            NodeId::Item(_) => item.relations().collect::<Vec<_>>(),
            NodeId::Entity(key) => item.relations_of(key).collect(),
        });
        Ok(Neighbours {
            relations: relations.take(request.limit).collect(),
            neighbours: neighbours.collect(),
            related: related.collect(),
            entity: own.map(|own| own.name(&items)),
            item,
        })
    }

    /// Returns the likeliest way of a walker from one entity or item to another. The path is empty if nothing connects them.
    ///
    /// Fails as [`Engine::graph_neighbours`] does.
    pub fn graph_path(
        &self,
        visibility: &Visibility,
        request: &PathRequest,
        now: Timestamp,
    ) -> Result<GraphPath> {
        let select = request.select.within(visibility)?;
        let found = FoundRows::of(self, &select, None)?;
        let scope = found.scope(Profile::Bower, Depth::Hits(1));
        let from = self.node(visibility, &scope, &request.from, &select, now)?;
        let to = self.node(visibility, &scope, &request.to, &select, now)?;
        if from == to {
            return Err(Error::invalid("path", "it starts where it ends; name two entities or items"));
        }
        let (nodes, _) = with_graph(self, &scope, &[], |graph| {
            let mut known = KnownEntities::default();
            // Both ends count even if one document alone mentions them, or very many do.
            let ends: HashSet<RowId> = match to {
                NodeId::Entity(key) => graph.mentions_of(key).iter().map(|(_, row, _)| *row).collect(),
                NodeId::Item(_) => HashSet::new(),
            };
            likeliest(&[(from, 1.0)], to, MOST_EXPANDED, |node| {
                let mut edges = graph.edges(node, &mut known)?;
                match node {
                    NodeId::Entity(key) if node == from => edges = items_of(graph, key, &mut known)?,
                    NodeId::Item(row) if ends.contains(&row) && !edges.iter().any(|(id, _)| *id == to) => {
                        edges.push((to, 1.0 / (edges.len() + 1) as f64));
                    }
                    NodeId::Entity(_) | NodeId::Item(_) => {}
                }
                if let NodeId::Item(row) = node {
                    add_links(&mut edges, row, &links(self, &scope, &[row])?);
                }
                Ok(edges)
            })
        })?;
        let nodes = nodes.unwrap_or_default();
        let mut rows = rows_of(nodes.iter());
        rows.extend(rows_of([from, to].iter()));
        let items = named_items(self, &rows)?;
        let path: Vec<Hop> = hops(&nodes, &items, &relations_between(self, &nodes)?);
        let name = |node: NodeId, asked: &str, on_path: Option<&String>| match node {
            NodeId::Item(row) => {
                items.get(&row).map_or_else(|| asked.to_owned(), |item| item.title().to_owned())
            }
            NodeId::Entity(_) => on_path.cloned().unwrap_or_else(|| asked.trim().to_owned()),
        };
        Ok(GraphPath {
            from: name(from, &request.from, path.first().and_then(|hop| hop.from.as_ref())),
            to: name(to, &request.to, path.last().and_then(|hop| hop.to.as_ref())),
            path,
        })
    }

    /// Returns the documents and memories with the entities that connect at least two of them. Reads every text.
    pub fn graph(&self, visibility: &Visibility, request: &GraphRequest) -> Result<WholeGraph> {
        if request.limit == Some(0) {
            return Err(Error::invalid("limit 0", "use 1 or more"));
        }
        let mut collected = whole::whole(self, visibility, request)?;
        if request.communities {
            communities::mark(self, visibility, request, &mut collected.graph)?;
        }
        Ok(collected.with_related(request.limit))
    }

    /// Returns the communities of the documents, memories and entities that the caller may see. Reads every text.
    ///
    /// Fails with [`Error::Invalid`] for a level or resolution that there is not.
    pub fn graph_communities(
        &self,
        visibility: &Visibility,
        request: &CommunitiesRequest,
    ) -> Result<CommunitiesReport> {
        check_limit(request.limit)?;
        communities::communities(self, visibility, request)
    }

    /// Returns the entity or item that a name or an id means.
    fn node(
        &self,
        visibility: &Visibility,
        scope: &Scope<'_>,
        name: &str,
        select: &Selection,
        now: Timestamp,
    ) -> Result<NodeId> {
        let found = resolve(self, visibility, name);
        // A whole id is no name, even if a text has it.
        if let (Ok((row, id)), true) = (&found, name.trim().len() == ID_DIGITS)
            && id.eq_ignore_ascii_case(name.trim())
            && scope.contains(*row)
        {
            return Ok(NodeId::Item(*row));
        }
        let keys = known_as(&*self.caches.aliases(&*self.store, scope.newest)?, name);
        let known =
            |graph: &Graph<'_>| Ok(keys.iter().find(|key| !graph.mentions_of(**key).is_empty()).copied());
        if let (Some(key), _) = with_graph(self, scope, &[], known)? {
            return Ok(NodeId::Entity(key));
        }
        match found {
            Ok((row, _)) if scope.contains(row) => Ok(NodeId::Item(row)),
            Err(error @ Error::InvalidId { .. }) if looks_like_id(name) => Err(error),
            Ok(_) | Err(Error::InvalidId { .. } | Error::NotFound { .. }) => {
                Err(self.unknown(name, select, now)?)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the error for a name that no item mentions, with similar names of the items that it finds.
    fn unknown(&self, name: &str, select: &Selection, now: Timestamp) -> Result<Error> {
        if name.trim().is_empty() {
            return Err(Error::invalid(
                "name",
                "the name is empty; write the name of an entity, or an item's id",
            ));
        }
        let request = RankRequest {
            fast: true,
            depth: Depth::Hits(NEAR_HITS),
            without: Some(Channel::Graph),
            ..RankRequest::new(name, select, now)
        };
        let rows: Vec<RowId> =
            rank(self, &request)?.fused.iter().take(NEAR_HITS).map(|one| one.row).collect();
        let items = named_items(self, &rows)?;
        let wanted: HashSet<EntityKey> = entities_of(name).into_iter().collect();
        let mut near: Vec<(usize, String)> = Vec::new();
        for (place, row) in rows.iter().enumerate() {
            for mention in items.get(row).into_iter().flat_map(NamedItem::names) {
                let shares = entities_of(&mention.name).iter().any(|key| wanted.contains(key));
                if shares && mention.role > Role::Word && !near.iter().any(|(_, name)| *name == mention.name)
                {
                    near.push((place, mention.name.clone()));
                }
            }
        }
        near.sort_unstable();
        let near = near.into_iter().map(|(_, name)| name).take(MOST_OFFERED).collect();
        Ok(Error::UnknownEntity { name: name.trim().to_owned(), near })
    }
}

/// Returns the entities that a person may mean by a name, the likeliest first, each as the one that aliases make of it.
fn known_as(aliases: &EntityAliases, name: &str) -> Vec<EntityKey> {
    let mut seen = HashSet::new();
    let keys = keys_of(name).into_iter().map(|key| aliases.resolve(key));
    keys.filter(|key| seen.insert(*key)).collect()
}

/// Returns the aliases that were stated of an entity.
fn aliases_of(engine: &Engine, aliases: &EntityAliases, key: EntityKey) -> Result<Vec<EntityAlias>> {
    if aliases.members(key).is_none() {
        return Ok(Vec::new());
    }
    let is_of = |row: &AliasRow| known_as(aliases, &row.name).contains(&aliases.resolve(key));
    let rows = engine.store.aliases()?.into_iter().filter(is_of);
    Ok(rows.map(AliasRow::shown).collect())
}

fn check_limit(limit: usize) -> Result<()> {
    if (1..=MOST).contains(&limit) {
        return Ok(());
    }
    Err(Error::invalid(format!("limit {limit}"), format!("use 1 to {MOST}")))
}
