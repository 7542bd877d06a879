//! Ranks items by a walk over the graph: personalised `PageRank` by forward push (Andersen, Chung and Lang, FOCS 2006).
//!
//! The graph is bipartite: items and the entities that they mention. An edge weighs (1 + ln n) ln(N / df): `n` is the number
//! of occurrences (two more in a title), `df` the number of items with the entity, `N` the number of items. A walker restarts
//! at a seed with probability .15. Only items that may be found are nodes and count, so neither ranks nor paths depend on
//! anything else. An entity that one item mentions leads nowhere, and one that many mention leads everywhere: neither is a
//! node. The number of pushes is bounded, not the time, so equal questions have equal answers. All nodes of a round are pushed at
//! once, so the order in which items arrived does not matter.

use foldhash::{HashMap, HashMapExt, HashSet};

use super::entity::{EntityKey, NodeId};
use super::path::Ways;
use super::view::{Graph, KnownEntities};
use crate::error::Result;
use crate::item::RowId;

/// Probability of a restart at a seed.
const RESTART: f64 = 0.15;
/// A node is pushed when its residue is this many times its number of edges. An item counts with all entities that it mentions, so
/// that only those of pushed items are read.
const EPSILON: f64 = 1e-3;
/// Pushes after which no further round begins.
const MOST_PUSHES: usize = 2_000;
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
    /// Positions of the nodes where it began, with their shares.
    starts: Vec<(usize, f64)>,
    nodes: Vec<Node>,
    places: HashMap<NodeId, usize>,
}

impl Walked {
    /// Returns for each of some items the likeliest way of the walker to it from another node where it started; none for an item to
    /// which there is no way. A way from an item that mentions an entity where the walker started too begins at that entity: the
    /// question names it.
    pub fn paths(&self, items: &[RowId]) -> Vec<Vec<NodeId>> {
        let ids: Vec<NodeId> = self.nodes.iter().map(|node| node.id).collect();
        let edges = |at: usize| self.nodes[at].edges.as_deref().unwrap_or_default();
        let ways = Ways::find(&ids, &self.starts, edges);
        let path = |row: &RowId| {
            let to = *self.places.get(&NodeId::Item(*row))?;
            let mut way = ways.to(to)?;
            let first = way[0];
            if matches!(ids[first], NodeId::Item(_)) {
                let leads_there = |at: usize| edges(at).iter().any(|(to, _)| *to == first);
                let named = self.starts.iter().filter(|(at, _)| {
                    matches!(ids[*at], NodeId::Entity(_)) && !way.contains(at) && leads_there(*at)
                });
                let best = named.max_by(|one, two| one.1.total_cmp(&two.1).then(ids[two.0].cmp(&ids[one.0])));
                way.splice(0..0, best.map(|(entity, _)| *entity));
            }
            Some(way.into_iter().map(|at| ids[at]).collect())
        };
        items.iter().map(|row| path(row).unwrap_or_default()).collect()
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
    entities: KnownEntities,
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
        entities: KnownEntities::new(),
        queue: Vec::new(),
    };
    let entities = seeds.entities.iter().map(|(key, share)| (NodeId::Entity(*key), *share));
    let items = seeds.items.iter().map(|(row, share)| (NodeId::Item(*row), *share));
    let mut starts = Vec::new();
    for (id, share) in entities.chain(items) {
        let at = walk.node(id);
        starts.push((at, share));
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
        let degree = match self.nodes[at].id {
            NodeId::Item(row) => self.graph.most_edges(row)?,
            NodeId::Entity(_) => self.edges(at)?,
        };
        if self.nodes[at].residue >= EPSILON * degree.max(1) as f64 {
            self.edges(at)?;
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

    fn finish(self, starts: Vec<(usize, f64)>) -> Walked {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::{Arc, LazyLock};

    use super::*;
    use crate::graph::{EntityAliases, EntityOrder, MentionDelta, Role, StoredMention};
    use crate::item::{Allowed, RowSet};

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
        assert_eq!(joined.item(RowId(3)).unwrap().0.len(), 1);
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
