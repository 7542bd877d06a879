//! Ranks items by a walk over the graph: personalised `PageRank` by forward push (Andersen, Chung and Lang, FOCS 2006).
//!
//! The graph is bipartite: items and the entities that they mention. An edge weighs (1 + ln n) ln(N / df): `n` is the number
//! of occurrences (two more in a title), `df` the number of items with the entity, `N` the number of items. A walker restarts
//! at a seed with probability .15. Only items that may be found are nodes and count, so neither ranks nor paths depend on
//! anything else. An entity that one item mentions leads nowhere, and one that many mention leads everywhere: neither is a
//! node. The number of pushes is bounded, not the time, so equal questions have equal answers. All nodes of a round are pushed at
//! once, so the order in which items arrived does not matter.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::aliases::EntityAliases;
use super::delta::MentionDelta;
use super::entity::{EntityKey, NodeId, Role, StoredMention};
use super::path::likeliest;
use super::segment::{GraphIndex, MentionSegment, read};
use crate::error::Result;
use crate::item::{Allowed, RowId, RowSet};

/// Probability of a restart at a seed.
const RESTART: f64 = 0.15;
/// A node is pushed when its residue is this many times its number of edges.
const EPSILON: f64 = 1e-3;
/// Pushes after which no further round begins.
const MOST_PUSHES: usize = 2_000;
/// Most items of an entity: those that mention it most strongly.
const MOST_ITEMS: usize = 200;
/// Most items of one document to which an entity leads.
const MOST_OF_A_DOCUMENT: usize = 3;
/// An entity that more than this share of the items mention is no node. In a store of fewer than 1,600 items, the limit for names
/// is twice the square root of their number.
const HUB_SHARE: f64 = 0.05;
/// Least rarity of an entity.
const LEAST_RARITY: f64 = 0.01;
/// Occurrences that a title counts in addition.
const TITLE_COUNT: u32 = 2;

/// The mentions of all items that may be found.
#[derive(Clone, Copy, Debug)]
pub struct Graph<'a> {
    /// The index, if there is one.
    pub index: Option<&'a GraphIndex>,
    /// The rows that it lacks.
    pub delta: &'a MentionDelta<'a>,
    /// The rows that may be found.
    pub allowed: Allowed<'a>,
    /// Rows of the index that were replaced or removed.
    pub stale: &'a RowSet,
    /// Number of rows that may be found.
    pub items: usize,
    /// Relations between items that may be found.
    pub links: &'a [ItemLink],
    /// Names that mean one entity.
    pub aliases: &'a EntityAliases,
}

/// A relation from one item to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ItemLink {
    /// The item that leads to the other one.
    pub from: RowId,
    /// The other item.
    pub to: RowId,
    /// Its weight, 0..1. All that an item mentions weighs 1 together.
    pub weight: f64,
}

/// Adds an item's relations, among some, to the nodes to which it leads, which have their shares of all ways.
pub fn add_links(edges: &mut Vec<(NodeId, f64)>, row: RowId, links: &[ItemLink]) {
    let links: Vec<&ItemLink> = links.iter().filter(|link| link.from == row && link.weight > 0.0).collect();
    if links.is_empty() {
        return;
    }
    let mentioned = if edges.is_empty() { 0.0 } else { 1.0 };
    let total = mentioned + links.iter().map(|link| link.weight).sum::<f64>();
    for (_, share) in &mut *edges {
        *share /= total;
    }
    edges.extend(links.into_iter().map(|link| (NodeId::Item(link.to), link.weight / total)));
}

/// An entity with its visible items.
#[derive(Clone, Debug, PartialEq)]
pub struct Entity {
    /// Number of items that mention it; not known of a hub.
    pub df: usize,
    /// The strongest role in which any of them does.
    pub role: Role,
    /// Whether an item mentions it in its text, or links to it. A title alone is often no name (`Getting started`).
    pub is_name: bool,
    /// Whether items of more than one document mention it. A memory counts as a document of its own.
    pub is_shared: bool,
    /// Whether too many items mention it for a walk.
    pub is_hub: bool,
    /// The items with their mentions, strongest first: at most 200, and three of a document.
    items: Vec<(RowId, StoredMention)>,
}

impl Entity {
    /// Makes an entity of its mentions, each with the row of its item and the number of its document.
    fn of(mut items: Vec<(StoredMention, RowId, u32)>) -> Self {
        let df = items.len();
        items.sort_unstable_by_key(|(mention, row, _)| (mention.order(), *row));
        let role = items.first().map_or(Role::Start, |(mention, ..)| mention.role());
        let is_name = items.iter().any(|(mention, ..)| mention.role().is_name());
        let mut of_documents: Vec<u32> =
            items.iter().map(|(.., document)| *document).filter(|document| *document != 0).collect();
        let memories = df - of_documents.len();
        of_documents.sort_unstable();
        of_documents.dedup();
        let documents = memories + of_documents.len();
        if documents < df {
            // Chunks of one document that share its title would lead to nothing but each other.
            let mut counts = vec![0; of_documents.len()];
            items.retain(|(.., document)| {
                let Ok(at) = of_documents.binary_search(document) else { return true };
                counts[at] += 1;
                counts[at] <= MOST_OF_A_DOCUMENT
            });
        }
        items.truncate(MOST_ITEMS);
        let items = items.into_iter().map(|(mention, row, _)| (row, mention)).collect();
        Self { df, role, is_name, is_shared: documents > 1, is_hub: false, items }
    }

    /// Makes an entity of the only mention of it. Most entities have only one.
    fn of_one((mention, row, _): (StoredMention, RowId, u32)) -> Self {
        let role = mention.role();
        let is_name = role.is_name();
        Self { df: 1, role, is_name, is_shared: false, is_hub: false, items: vec![(row, mention)] }
    }

    /// Makes an entity that too many items mention. Nothing else about it counts.
    fn hub() -> Self {
        Self {
            df: usize::MAX,
            role: Role::Title,
            is_name: true,
            is_shared: true,
            is_hub: true,
            items: Vec::new(),
        }
    }

    /// Whether items mention it as more than a part of a longer name.
    pub fn is_known(&self) -> bool {
        self.df > 0 && self.role > Role::Part
    }

    /// Whether a walk can pass it.
    fn is_node(&self) -> bool {
        self.is_shared && !self.is_hub && self.is_known()
    }
}

/// Returns the most items that may mention an entity which is no hub, of a number of items.
pub fn hub_limit(items: usize) -> usize {
    let items = items as f64;
    (HUB_SHARE * items).max(2.0 * items.sqrt()) as usize
}

impl<'a> Graph<'a> {
    /// Returns an entity.
    pub fn entity(&self, key: EntityKey) -> Entity {
        let limit = hub_limit(self.items);
        let items = if let Some(members) = self.aliases.members(key) {
            self.joined(self.aliases.resolve(key), members)
        } else {
            let ranges = self.ranges(key);
            if self.is_surely_hub(&ranges, limit) {
                return Entity::hub();
            }
            self.mentions_in(key, ranges).take(limit + 1).collect()
        };
        let entity = match items.as_slice() {
            [only] => Entity::of_one(*only),
            all if all.len() > limit => return Entity::hub(),
            _ => Entity::of(items),
        };
        // In a small store every other word is in more than 5 % of the items.
        let is_common = entity.role == Role::Word && entity.df as f64 > HUB_SHARE * self.items as f64;
        if is_common { Entity::hub() } else { entity }
    }

    /// Whether an entity has so many mentions that more items than `limit` mention it, whichever rows may not be found.
    fn is_surely_hub(&self, ranges: &[(&MentionSegment, Range<usize>)], limit: usize) -> bool {
        let most: usize = ranges.iter().map(|(segment, range)| range.len().min(segment.live())).sum();
        if self.allowed.keep.is_some() || most <= limit {
            return false;
        }
        let dead: usize = self.segments().map(|segment| segment.rows() - segment.live()).sum();
        most > limit + dead + self.stale.len() + self.allowed.drop.len()
    }

    /// Returns the mentions of an entity by items that may be found: each with the row of its item and the number of its document.
    /// An item that mentions it by several names has one mention.
    pub fn mentions_of(&self, key: EntityKey) -> impl Iterator<Item = (StoredMention, RowId, u32)> + '_ {
        let members = self.aliases.members(key);
        let one = members.is_none().then(|| self.mentions_in(key, self.ranges(key)));
        let several = members.map(|members| self.joined(self.aliases.resolve(key), members));
        one.into_iter().flatten().chain(several.into_iter().flatten())
    }

    /// Returns the mentions of several entities as those of the one entity that they are, by row.
    fn joined(&self, whole: EntityKey, members: &[EntityKey]) -> Vec<(StoredMention, RowId, u32)> {
        let mut all: Vec<(StoredMention, RowId, u32)> =
            members.iter().flat_map(|key| self.mentions_in(*key, self.ranges(*key))).collect();
        all.sort_unstable_by_key(|(mention, row, document)| (*row, *document, mention.order()));
        let mut joined: Vec<(StoredMention, RowId, u32)> = Vec::with_capacity(all.len());
        for (mention, row, document) in all {
            match joined.last_mut().filter(|(_, last, _)| *last == row) {
                Some((last, ..)) => *last = last.joined(mention, whole),
                None => joined.push((mention.of(whole), row, document)),
            }
        }
        joined
    }

    /// Returns the items that may be found and whose document has an entity as its title or file name, each with the number of
    /// the document.
    pub fn titled(&self, key: EntityKey) -> Vec<(RowId, u32)> {
        let one = [key];
        let members = self.aliases.members(key).unwrap_or(&one);
        members.iter().flat_map(|key| self.titled_so(*key)).collect()
    }

    fn titled_so(&self, key: EntityKey) -> impl Iterator<Item = (RowId, u32)> + '_ {
        // The strongest mentions are first.
        let new = self.delta.of_entity(key).take_while(|(mention, _)| mention.role() == Role::Title);
        let new = new.filter(|(_, row)| self.allowed.contains(*row));
        let new = new.map(|(_, row)| (row, self.delta.document(row)));
        let stored = self.ranges(key).into_iter().flat_map(move |(segment, range)| {
            let view = segment.view();
            let titles = segment.mentions(range).take_while(|(mention, _)| mention.role() == Role::Title);
            titles.filter_map(move |(_, at)| {
                let row = RowId(view.ids[at]);
                let is_found = !view.is_dead(at) && !self.stale.contains(row) && self.allowed.contains(row);
                is_found.then(|| (row, segment.document(at)))
            })
        });
        new.chain(stored)
    }

    /// Returns where each segment has the mentions of an entity.
    fn ranges(&self, key: EntityKey) -> Vec<(&'a MentionSegment, Range<usize>)> {
        let all = self.segments().map(|segment| (segment, segment.range(key)));
        all.filter(|(_, range)| !range.is_empty()).collect()
    }

    fn mentions_in(
        &self,
        key: EntityKey,
        ranges: Vec<(&'a MentionSegment, Range<usize>)>,
    ) -> impl Iterator<Item = (StoredMention, RowId, u32)> + '_ {
        let new = self.delta.of_entity(key).filter(|(_, row)| self.allowed.contains(*row));
        let new = new.map(|(mention, row)| (mention, row, self.delta.document(row)));
        let stored = ranges.into_iter().flat_map(move |(segment, range)| {
            let view = segment.view();
            segment.mentions(range).filter_map(move |(mention, at)| {
                let row = RowId(view.ids[at]);
                let is_found = !view.is_dead(at) && !self.stale.contains(row) && self.allowed.contains(row);
                is_found.then(|| (mention, row, segment.document(at)))
            })
        });
        new.chain(stored)
    }

    /// Returns the nodes to which a node leads, each with its share of all ways. `known` keeps the entities that were read.
    ///
    /// Fails if the index is damaged.
    pub fn edges(&self, id: NodeId, known: &mut HashMap<EntityKey, Entity>) -> Result<Vec<(NodeId, f64)>> {
        let mut weighted: Vec<(NodeId, f64)> = Vec::new();
        let items = self.items.max(2) as f64;
        match id {
            NodeId::Item(row) => {
                for mention in self.item(row)? {
                    let key = mention.key();
                    let entity = known.entry(key).or_insert_with(|| self.entity(key));
                    let counts = mention.role() > Role::Start || entity.is_name;
                    if entity.is_node() && counts {
                        // In a store of a few notes, all may mention it.
                        let idf = (items / entity.df as f64).ln().max(LEAST_RARITY);
                        weighted.push((NodeId::Entity(key), strength(mention) * idf));
                    }
                }
            }
            NodeId::Entity(key) => {
                let entity = known.entry(key).or_insert_with(|| self.entity(key));
                weighted.extend(
                    entity.items.iter().map(|(row, mention)| (NodeId::Item(*row), strength(*mention))),
                );
            }
        }
        let total: f64 = weighted.iter().map(|(_, weight)| weight).sum();
        if total <= 0.0 {
            weighted.clear();
        }
        for (_, weight) in &mut weighted {
            *weight /= total;
        }
        if let NodeId::Item(row) = id {
            add_links(&mut weighted, row, self.links);
        }
        Ok(weighted)
    }

    /// Returns the mentions of an item, each entity once.
    pub fn item(&self, row: RowId) -> Result<Vec<StoredMention>> {
        let mut mentions = self.written(row)?;
        if mentions.iter().any(|mention| self.aliases.members(mention.key()).is_some()) {
            for mention in &mut mentions {
                *mention = mention.of(self.aliases.resolve(mention.key()));
            }
            mentions.sort_unstable_by_key(|mention| mention.order());
            mentions.dedup_by(|next, kept| {
                let is_same = next.key() == kept.key();
                if is_same {
                    *kept = kept.joined(*next, kept.key());
                }
                is_same
            });
        }
        Ok(mentions)
    }

    /// Returns the mentions of an item by the names that it writes.
    fn written(&self, row: RowId) -> Result<Vec<StoredMention>> {
        if let Some(mentions) = self.delta.of_row(row) {
            return Ok(mentions.collect());
        }
        for segment in self.segments() {
            let view = segment.view();
            if let Ok(at) = view.find(row, 0)
                && !view.is_dead(at)
                && !self.stale.contains(row)
            {
                return Ok(read(segment.row(at)?).collect());
            }
        }
        Ok(Vec::new())
    }

    fn segments(&self) -> impl Iterator<Item = &'a MentionSegment> + use<'a> {
        self.index.into_iter().flat_map(|index| &index.segments)
    }
}

/// Where a walk starts, each with its share of all starts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seeds {
    /// Entities.
    pub entities: Vec<(EntityKey, f64)>,
    /// Items.
    pub items: Vec<(RowId, f64)>,
}

/// The result of a walk.
#[derive(Clone, Debug, Default)]
pub struct Walked {
    /// The items that the walker visits, with the estimate of their share of its time; best first, ties by row.
    pub items: Vec<(RowId, f64)>,
    /// Those of them that it reached from another node; the others are only starts.
    pub reached: HashSet<RowId>,
    starts: Vec<(NodeId, f64)>,
    nodes: Vec<Node>,
    places: HashMap<NodeId, usize>,
}

impl Walked {
    /// Returns the likeliest way of the walker to an item from another node where it started; `None` if there is none. A way from an item
    /// that mentions an entity where it started too begins at that entity: the question names it.
    pub fn path(&self, to: RowId) -> Option<Vec<NodeId>> {
        let to = NodeId::Item(to);
        let starts: Vec<(NodeId, f64)> = self.starts.iter().copied().filter(|(id, _)| *id != to).collect();
        let edges = |id: NodeId| {
            let edges =
                self.places.get(&id).and_then(|at| self.nodes[*at].edges.as_deref()).unwrap_or_default();
            Ok(edges.iter().map(|(to, share)| (self.nodes[*to].id, *share)).collect())
        };
        // Nothing is read, so nothing fails.
        let mut path = likeliest(&starts, to, usize::MAX, edges).ok().flatten()?;
        if let Some(first @ NodeId::Item(_)) = path.first().copied() {
            let leads_there = |id: NodeId| edges(id).unwrap_or_default().iter().any(|(to, _)| *to == first);
            let named = starts
                .iter()
                .filter(|(id, _)| matches!(id, NodeId::Entity(_)) && !path.contains(id) && leads_there(*id));
            if let Some((entity, _)) =
                named.max_by(|one, two| one.1.total_cmp(&two.1).then(two.0.cmp(&one.0)))
            {
                path.insert(0, *entity);
            }
        }
        Some(path)
    }
}

/// A node while the walk goes on.
#[derive(Clone, Debug)]
struct Node {
    id: NodeId,
    estimate: f64,
    residue: f64,
    /// Whether another node gave it something.
    is_reached: bool,
    is_queued: bool,
    /// The nodes that it leads to, with their shares; once they were needed.
    edges: Option<Vec<(usize, f64)>>,
}

/// A walk over a graph.
struct Walk<'g, 'a> {
    graph: &'g Graph<'a>,
    nodes: Vec<Node>,
    places: HashMap<NodeId, usize>,
    entities: HashMap<EntityKey, Entity>,
    queue: Vec<usize>,
}

/// Walks from the seeds. The shares of the seeds should sum to 1.
///
/// Fails if the index is damaged.
pub fn walk(graph: &Graph<'_>, seeds: &Seeds) -> Result<Walked> {
    let mut walk = Walk {
        graph,
        nodes: Vec::new(),
        places: HashMap::new(),
        entities: HashMap::new(),
        queue: Vec::new(),
    };
    let starts = seeds.entities.iter().map(|(key, share)| (NodeId::Entity(*key), *share));
    let starts: Vec<(NodeId, f64)> =
        starts.chain(seeds.items.iter().map(|(row, share)| (NodeId::Item(*row), *share))).collect();
    for &(id, share) in &starts {
        let at = walk.node(id);
        walk.nodes[at].residue += share;
        walk.consider(at)?;
    }
    let mut pushes = 0;
    while pushes < MOST_PUSHES && !walk.queue.is_empty() {
        pushes += walk.queue.len();
        walk.push()?;
    }
    Ok(walk.finish(starts))
}

impl Walk<'_, '_> {
    fn node(&mut self, id: NodeId) -> usize {
        let next = self.nodes.len();
        let at = *self.places.entry(id).or_insert(next);
        if at == next {
            self.nodes.push(Node {
                id,
                estimate: 0.0,
                residue: 0.0,
                is_reached: false,
                is_queued: false,
                edges: None,
            });
        }
        at
    }

    /// Queues a node whose residue is large for its number of edges.
    fn consider(&mut self, at: usize) -> Result<()> {
        if self.nodes[at].is_queued || self.nodes[at].residue < EPSILON {
            return Ok(());
        }
        let edges = self.edges(at)?;
        if self.nodes[at].residue >= EPSILON * edges.max(1) as f64 {
            self.nodes[at].is_queued = true;
            self.queue.push(at);
        }
        Ok(())
    }

    /// Finds a node's edges if they are not known yet; returns their number.
    fn edges(&mut self, at: usize) -> Result<usize> {
        if let Some(edges) = &self.nodes[at].edges {
            return Ok(edges.len());
        }
        let weighted = self.graph.edges(self.nodes[at].id, &mut self.entities)?;
        let edges: Vec<(usize, f64)> =
            weighted.into_iter().map(|(id, share)| (self.node(id), share)).collect();
        let count = edges.len();
        self.nodes[at].edges = Some(edges);
        Ok(count)
    }

    /// Moves the residues of all queued nodes at once, so that their order does not matter: a part stays with each, the rest goes
    /// to its neighbours.
    fn push(&mut self) -> Result<()> {
        let round = std::mem::take(&mut self.queue);
        let residues: Vec<f64> = round
            .iter()
            .map(|&at| {
                let node = &mut self.nodes[at];
                node.is_queued = false;
                let residue = std::mem::take(&mut node.residue);
                node.estimate += RESTART * residue;
                residue
            })
            .collect();
        let mut touched = Vec::new();
        for (&at, residue) in round.iter().zip(residues) {
            let edges = self.nodes[at].edges.take().unwrap_or_default();
            for (to, share) in &edges {
                let node = &mut self.nodes[*to];
                node.residue += (1.0 - RESTART) * residue * share;
                node.is_reached = true;
                touched.push(*to);
            }
            self.nodes[at].edges = Some(edges);
        }
        for at in touched {
            self.consider(at)?;
        }
        Ok(())
    }

    fn finish(self, starts: Vec<(NodeId, f64)>) -> Walked {
        let mut walked = Walked { starts, ..Walked::default() };
        for node in &self.nodes {
            // What was not pushed on would leave at least this much.
            let estimate = node.estimate + RESTART * node.residue;
            if let (NodeId::Item(row), true) = (node.id, estimate > 0.0) {
                walked.items.push((row, estimate));
                if node.is_reached {
                    walked.reached.insert(row);
                }
            }
        }
        walked.items.sort_unstable_by(|one, two| two.1.total_cmp(&one.1).then(one.0.cmp(&two.0)));
        (walked.nodes, walked.places) = (self.nodes, self.places);
        walked
    }
}

/// Returns the weight of a mention without the entity's rarity.
fn strength(mention: StoredMention) -> f64 {
    let more = if mention.role() == Role::Title { TITLE_COUNT } else { 0 };
    1.0 + f64::from(mention.count() + more).ln()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::{Arc, LazyLock};

    use super::*;
    use crate::graph::EntityOrder;

    /// A graph in which each item mentions some of the entities, as (entity, occurrences) in its own document.
    fn rows_of(items: &[&[(u32, u32)]]) -> BTreeMap<RowId, Arc<[u8]>> {
        let mut rows: BTreeMap<RowId, Arc<[u8]>> = BTreeMap::new();
        for (row, mentions) in (1..).zip(items) {
            let mut stored: Vec<u64> = mentions
                .iter()
                .map(|(entity, count)| StoredMention::new(key(*entity), Role::Name, *count).0)
                .collect();
            stored.sort_unstable();
            let bytes = stored.iter().flat_map(|mention| mention.to_le_bytes());
            let bytes: Vec<u8> = u32::to_le_bytes(row).into_iter().chain(bytes).collect();
            rows.insert(RowId(row), bytes.into());
        }
        rows
    }

    fn key(entity: u32) -> EntityKey {
        EntityKey::of(&entity.to_string())
    }

    fn graph<'a>(
        delta: &'a MentionDelta<'a>,
        keep: Option<&'a RowSet>,
        none: &'a RowSet,
        items: usize,
    ) -> Graph<'a> {
        static NONE: LazyLock<EntityAliases> = LazyLock::new(EntityAliases::default);
        let allowed = Allowed { keep, drop: none };
        Graph { index: None, delta, allowed, stale: none, items, links: &[], aliases: &NONE }
    }

    /// The share of each item by power iteration over the dense matrix, from the definition.
    fn exact(items: &[&[(u32, u32)]], entities: u32, starts: &[f64]) -> Vec<f64> {
        let (count, total) = (items.len(), items.len() + entities as usize);
        let df = |entity: u32| items.iter().filter(|item| item.iter().any(|(one, _)| *one == entity)).count();
        let limit = (0.05 * count as f64).max(2.0 * (count as f64).sqrt()) as usize;
        let mut weights = vec![vec![0.0; total]; total];
        for (at, item) in items.iter().enumerate() {
            for (entity, occurrences) in *item {
                let df = df(*entity);
                if df > 1 && df <= limit {
                    let strength = 1.0 + f64::from(*occurrences).ln();
                    let other = count + *entity as usize;
                    weights[at][other] = strength * (count as f64 / df as f64).ln();
                    weights[other][at] = strength;
                }
            }
        }
        let mut share = starts.to_vec();
        share.resize(total, 0.0);
        let start = share.clone();
        for _ in 0..200 {
            let mut next: Vec<f64> = start.iter().map(|start| 0.15 * start).collect();
            for (from, row) in weights.iter().enumerate() {
                let sum: f64 = row.iter().sum();
                for (to, weight) in row.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
                    next[to] += 0.85 * share[from] * weight / sum;
                }
            }
            share = next;
        }
        share.truncate(count);
        share
    }

    #[test]
    fn a_walk_is_near_the_exact_shares() {
        let mut seed = 11_u64;
        let mut dice = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((seed >> 33) % below) as u32
        };
        let none = RowSet::new();
        for _ in 0..20 {
            let mentions: Vec<Vec<(u32, u32)>> = (0..60)
                .map(|_| {
                    let mut mentions: Vec<(u32, u32)> =
                        (0..=dice(4)).map(|_| (dice(30), 1 + dice(3))).collect();
                    mentions.sort_unstable();
                    mentions.dedup_by_key(|(entity, _)| *entity);
                    mentions
                })
                .collect();
            let items: Vec<&[(u32, u32)]> = mentions.iter().map(Vec::as_slice).collect();
            let mut starts = vec![0.0; 60];
            (starts[4], starts[7]) = (0.75, 0.25);
            let seeds = Seeds { items: vec![(RowId(5), 0.75), (RowId(8), 0.25)], entities: Vec::new() };
            let rows = rows_of(&items);
            let delta = MentionDelta { rows: &rows, by_entity: &EntityOrder::of(&rows) };
            let walked = walk(&graph(&delta, None, &none, 60), &seeds).unwrap();
            let exact = exact(&items, 30, &starts);
            for (row, share) in &walked.items {
                let exact = exact[row.0 as usize - 1];
                assert!((exact - share).abs() < 0.02, "{row:?}: {share} and {exact}");
            }
            let missed = (0..60).filter(|at| !walked.items.iter().any(|(row, _)| row.0 == at + 1));
            assert!(missed.into_iter().all(|at| exact[at as usize] < 0.01));
        }
    }

    #[test]
    fn an_item_out_of_reach_is_not_passed_and_does_not_count() {
        // 1 - a - 2 - b - 3, and 13 more items, so that two of 16 are no hub.
        let mut items: Vec<&[(u32, u32)]> = vec![&[(0, 1)], &[(0, 1), (1, 1)], &[(1, 1)]];
        items.resize(16, &[]);
        let (all_rows, none) = (rows_of(&items), RowSet::new());
        let all = MentionDelta { rows: &all_rows, by_entity: &EntityOrder::of(&all_rows) };
        let seeds = Seeds { items: vec![(RowId(1), 1.0)], entities: Vec::new() };
        let rows = |keep: Option<&RowSet>, delta: &MentionDelta<'_>| -> Vec<(u32, u64)> {
            let items = walk(&graph(delta, keep, &none, keep.map_or(16, RowSet::len)), &seeds).unwrap().items;
            items.iter().map(|(row, share)| (row.0, share.to_bits())).collect()
        };
        assert_eq!(rows(None, &all).iter().map(|(row, _)| *row).collect::<Vec<_>>(), [1, 2, 3]);
        let keep: RowSet = (1..=16).filter(|row| *row != 2).map(RowId).collect();
        items[1] = &[];
        let rows_without = rows_of(&items);
        let without = MentionDelta { rows: &rows_without, by_entity: &EntityOrder::of(&rows_without) };
        assert_eq!(rows(Some(&keep), &all), rows(Some(&keep), &without), "as if there were no item 2");
        assert_eq!(rows(Some(&keep), &all).len(), 1);
    }

    /// What the aliases join is what one name for all would give.
    #[test]
    fn names_of_one_entity_are_walked_as_one() {
        let mut items: Vec<&[(u32, u32)]> =
            vec![&[(0, 1), (3, 2)], &[(1, 1)], &[(0, 2), (1, 3)], &[(2, 1), (3, 1)]];
        let mut renamed: Vec<&[(u32, u32)]> =
            vec![&[(0, 1), (3, 2)], &[(0, 1)], &[(0, 5)], &[(0, 1), (3, 1)]];
        items.resize(25, &[]);
        renamed.resize(25, &[]);
        let names = ["0", "1", "2"];
        let aliases = EntityAliases::new([(names[0], names[1]), (names[1], names[2])]);
        let least = aliases.resolve(key(0));
        let none = RowSet::new();
        let (rows, rows_of_one) = (rows_of(&items), rows_of(&renamed));
        let delta = MentionDelta { rows: &rows, by_entity: &EntityOrder::of(&rows) };
        let delta_of_one = MentionDelta { rows: &rows_of_one, by_entity: &EntityOrder::of(&rows_of_one) };
        let joined = Graph { aliases: &aliases, ..graph(&delta, None, &none, 25) };
        let one = graph(&delta_of_one, None, &none, 25);
        for name in [0, 1, 2] {
            let (found, expected) = (joined.entity(key(name)), one.entity(key(0)));
            assert_eq!(
                (found.df, found.role, found.is_shared),
                (expected.df, expected.role, expected.is_shared)
            );
        }
        let walked = |graph: &Graph<'_>, start| {
            let seeds = Seeds { items: vec![(RowId(2), 0.5)], entities: vec![(start, 0.5)] };
            walk(graph, &seeds)
                .unwrap()
                .items
                .iter()
                .map(|(row, share)| (row.0, share.to_bits()))
                .collect::<Vec<_>>()
        };
        assert_eq!(walked(&joined, least), walked(&one, key(0)));
        assert_eq!(joined.item(RowId(3)).unwrap().len(), 1);
    }

    #[test]
    fn hubs_and_entities_of_one_document_lead_nowhere() {
        let mut items: Vec<&[(u32, u32)]> = vec![&[(0, 1), (1, 1)]; 9];
        items.resize(16, &[]);
        let (rows, none) = (rows_of(&items), RowSet::new());
        let delta = MentionDelta { rows: &rows, by_entity: &EntityOrder::of(&rows) };
        let walked = |entities| {
            let seeds = Seeds { items: vec![(RowId(1), 1.0)], entities };
            walk(&graph(&delta, None, &none, 16), &seeds).unwrap().items.len()
        };
        assert_eq!(walked(Vec::new()), 1, "nine of 16 are more than eight");
        assert!(graph(&delta, None, &none, 16).entity(key(0)).is_hub);
        assert_eq!(graph(&delta, None, &none, 25).entity(key(0)).df, 9);
        let unknown = graph(&delta, None, &none, 16).entity(key(9));
        assert!((unknown.df, unknown.is_known()) == (0, false));
        assert_eq!(walked(vec![(key(9), 0.5)]), 1, "an entity that nothing mentions");
        let empty = Seeds::default();
        assert!(walk(&graph(&delta, None, &none, 0), &empty).unwrap().items.is_empty());
    }
}
