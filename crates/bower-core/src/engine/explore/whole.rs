//! Reads the whole graph that a caller may see: documents, memories, relations, and entities that connect two.
//! It is read from the texts, so it has every name and needs no index.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::engine::Engine;
use crate::engine::mentions::text_of;
use crate::engine::query::graph::related;
use crate::engine::query::paths::{kind_of, shown};
use crate::engine::query::plan::{Depth, FoundRows};
use crate::error::Result;
use crate::graph::{EntityAliases, EntityKey, Role, hub_limit, mentions_and_edges};
use crate::item::{Change, NodeKind, Profile, RowId, Visibility};
use crate::request::{GraphEdge, GraphNode, GraphRelation, GraphRequest, MemoryRelation, WholeGraph};
use crate::store::{MentionSource, RelationRow};

/// Rows whose texts are read at once.
const BATCH: usize = 1_000;

/// A mention by all chunks of a document, or by a memory.
#[derive(Clone, Copy)]
struct Mentioned {
    role: Role,
    count: u32,
}

/// An entity while the graph is read.
struct Collected {
    name: String,
    /// The strongest role so far, whose first spelling is the name.
    role: Role,
    is_name: bool,
    items: usize,
    /// By the number of the document or memory.
    by: BTreeMap<usize, Mentioned>,
}

impl Collected {
    fn new() -> Self {
        Self { name: String::new(), role: Role::Start, is_name: false, items: 0, by: BTreeMap::new() }
    }
}

/// What was read so far.
#[derive(Default)]
struct Collection {
    nodes: Vec<GraphNode>,
    /// The rows of each node.
    rows: Vec<Vec<RowId>>,
    places: BTreeMap<String, usize>,
    entities: BTreeMap<EntityKey, Collected>,
    relations: BTreeMap<TypedEdgeKey, RelationProof>,
    memory_relations: Vec<RelationRow>,
}

/// A relation between two entities, with its source.
type TypedEdgeKey = (EntityKey, String, EntityKey, String);

/// The first item of which a relation was read, and the number of such items.
struct RelationProof {
    item: String,
    items: usize,
}

/// The graph, and the entities that are connected by relations only.
pub(super) struct CollectedGraph {
    pub(super) graph: WholeGraph,
    /// The rows of each document and memory, which are the first nodes.
    pub(super) rows: Vec<Vec<RowId>>,
    related: Vec<GraphNode>,
}

impl CollectedGraph {
    /// Returns the graph with the entities that are connected by relations only, unless the number of nodes is limited.
    pub(super) fn with_related(mut self, limit: Option<usize>) -> WholeGraph {
        if let Some(most) = limit {
            keep_strongest(&mut self.graph, most);
        } else {
            self.graph.nodes.append(&mut self.related);
        }
        let nodes: HashSet<&str> = self.graph.nodes.iter().map(|node| node.id.as_str()).collect();
        self.graph.relations.retain(|one| nodes.contains(&*one.from) && nodes.contains(&*one.to));
        self.graph.memory_relations.retain(|one| nodes.contains(&*one.from) && nodes.contains(&*one.to));
        self.graph
    }
}

impl Collection {
    /// Adds an item with its id and its summary.
    fn add(&mut self, source: &MentionSource, id: &str, summary: &str, aliases: &EntityAliases) {
        let item = id;
        let (id, name, kind) = match &source.document {
            Some(document) => {
                let name = source.title.as_ref().or(source.path.as_ref()).unwrap_or(document);
                (document.as_str(), name.as_str(), NodeKind::Document)
            }
            None => (id, summary, NodeKind::Memory),
        };
        let node = match self.places.entry(id.to_owned()) {
            Entry::Occupied(place) => *place.get(),
            Entry::Vacant(place) => {
                let (id, name) = (id.to_owned(), name.to_owned());
                self.nodes.push(GraphNode { id, name, kind, items: 0, community: None });
                self.rows.push(Vec::new());
                *place.insert(self.nodes.len() - 1)
            }
        };
        self.nodes[node].items += 1;
        self.rows[node].push(source.row);
        let text = text_of(source);
        let (mentions, edges) = mentions_and_edges(&text);
        for edge in edges {
            let (from, to) = (aliases.resolve(edge.from), aliases.resolve(edge.to));
            let relation = (from, edge.stated.triple.relation.clone(), to, edge.stated.source.clone());
            let proof = self.relations.entry(relation);
            proof.or_insert_with(|| RelationProof { item: item.to_owned(), items: 0 }).items += 1;
        }
        let mut seen = HashSet::new();
        for mention in mentions {
            let key = aliases.resolve(mention.key);
            let entity = self.entities.entry(key).or_insert_with(Collected::new);
            entity.items += usize::from(seen.insert(key));
            entity.is_name |= mention.role.is_name();
            if entity.name.is_empty() || mention.role > entity.role {
                (entity.name, entity.role) = (shown(&mention.name, mention.role), mention.role);
            }
            let by = entity.by.entry(node).or_insert(Mentioned { role: mention.role, count: 0 });
            by.role = by.role.max(mention.role);
            by.count += mention.count;
        }
    }

    /// Returns the relations between memories, each once and in the order of their ids and types.
    fn memory_relations(&self) -> Vec<MemoryRelation> {
        if self.memory_relations.is_empty() {
            return Vec::new();
        }
        let ids: HashMap<RowId, &str> = self
            .nodes
            .iter()
            .zip(&self.rows)
            .flat_map(|(node, rows)| rows.iter().map(|row| (*row, node.id.as_str())))
            .collect();
        let shown = |one: &RelationRow| {
            let (from, to) = (ids.get(&one.row)?, ids.get(&one.other)?);
            let (from, to) = ((*from).to_owned(), (*to).to_owned());
            Some(MemoryRelation { from, relation: one.relation, to, strength: one.strength })
        };
        let mut relations: Vec<MemoryRelation> = self.memory_relations.iter().filter_map(shown).collect();
        let key = |one: &MemoryRelation| (one.from.clone(), one.to.clone(), one.relation.word());
        relations.sort_by_cached_key(key);
        // Both ends of a relation may be in different batches, which read it twice.
        relations.dedup_by_key(|one| key(one));
        relations
    }

    /// Returns the graph of the entities that connect at least two documents or memories, and are no hubs.
    fn graph(self, request: &GraphRequest) -> CollectedGraph {
        let limit = hub_limit(self.nodes.len());
        let memory_relations = self.memory_relations();
        let documents = self.nodes.len() as f32;
        let ends: HashSet<EntityKey> =
            self.relations.keys().flat_map(|(from, _, to, _)| [*from, *to]).collect();
        let relations =
            self.relations.into_iter().map(|((from, relation, to, source), proof)| GraphRelation {
                from: from.hex(),
                to: to.hex(),
                relation,
                source,
                proof: proof.item,
                items: proof.items,
            });
        let relations = relations.collect();
        let mut graph = WholeGraph {
            nodes: self.nodes,
            edges: Vec::new(),
            relations,
            memory_relations,
            hubs: Vec::new(),
        };
        let mut related = Vec::new();
        for (key, mut entity) in self.entities {
            let is_wanted = request.kinds.is_empty() || request.kinds.contains(&kind_of(entity.role));
            let counts = |mentioned: &Mentioned| mentioned.role > Role::Start || entity.is_name;
            entity.by.retain(|_, mentioned| counts(mentioned));
            if entity.role <= Role::Part || !is_wanted {
                continue;
            }
            let node = |name: String| GraphNode {
                id: key.hex(),
                name,
                kind: kind_of(entity.role).into(),
                items: entity.items,
                community: None,
            };
            if entity.by.len() < 2 {
                if ends.contains(&key) {
                    related.push(node(entity.name));
                }
                continue;
            }
            if entity.by.len() > limit {
                graph.hubs.push(entity.name);
                continue;
            }
            let rarity = (documents / entity.by.len() as f32).ln_1p();
            for (node, mentioned) in &entity.by {
                graph.edges.push(GraphEdge {
                    from: graph.nodes[*node].id.clone(),
                    to: key.hex(),
                    kind: kind_of(mentioned.role),
                    weight: (1.0 + (mentioned.count as f32).ln()) * rarity,
                });
            }
            graph.nodes.push(node(entity.name));
        }
        graph.hubs.sort_unstable();
        CollectedGraph { graph, rows: self.rows, related }
    }
}

/// Returns the graph of the items that the caller may see, without a limit and without communities.
pub(super) fn whole(
    engine: &Engine,
    visibility: &Visibility,
    request: &GraphRequest,
) -> Result<CollectedGraph> {
    let select = request.select.within(visibility)?;
    let found = FoundRows::of(engine, &select, None)?;
    let scope = found.scope(Profile::Bower, Depth::Hits(1));
    let mut rows = engine.store.text_rows(Change(0), scope.newest.change)?;
    rows.retain(|row| scope.contains(*row));
    let mut collection = Collection::default();
    let aliases = engine.caches.aliases(&*engine.store, scope.newest)?;
    for batch in rows.chunks(BATCH) {
        let titles = engine.store.titles(batch)?;
        let titles: BTreeMap<RowId, (String, String)> =
            batch.iter().zip(titles).filter_map(|(row, title)| Some((*row, title?))).collect();
        let mut memories = Vec::new();
        for source in engine.store.mention_sources(batch)? {
            if let Some((id, summary)) = titles.get(&source.row) {
                if source.document.is_none() {
                    memories.push(source.row);
                }
                collection.add(&source, id, summary, &aliases);
            }
        }
        collection.memory_relations.extend(related(engine, &scope, &memories)?);
    }
    Ok(collection.graph(request))
}

/// Keeps the `most` nodes whose edges weigh most, ties by id, and of these only what is connected.
fn keep_strongest(graph: &mut WholeGraph, most: usize) {
    let mut weights: BTreeMap<&str, f32> = BTreeMap::new();
    for edge in &graph.edges {
        *weights.entry(&edge.from).or_default() += edge.weight;
        *weights.entry(&edge.to).or_default() += edge.weight;
    }
    for one in &graph.memory_relations {
        *weights.entry(&one.from).or_default() += one.weight();
        *weights.entry(&one.to).or_default() += one.weight();
    }
    let mut best: Vec<(&str, f32)> = weights.into_iter().collect();
    best.sort_by(|one, two| two.1.total_cmp(&one.1));
    let kept: HashSet<String> = best.into_iter().take(most).map(|(id, _)| id.to_owned()).collect();
    graph.edges.retain(|edge| kept.contains(&edge.from) && kept.contains(&edge.to));
    graph.memory_relations.retain(|one| kept.contains(&one.from) && kept.contains(&one.to));
    let mentions = graph.edges.iter().flat_map(|edge| [edge.from.as_str(), edge.to.as_str()]);
    let relations = graph.memory_relations.iter().flat_map(|one| [one.from.as_str(), one.to.as_str()]);
    let connected: HashSet<&str> = mentions.chain(relations).collect();
    graph.nodes.retain(|node| connected.contains(node.id.as_str()));
}
