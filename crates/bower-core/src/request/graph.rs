//! Requests and answers about the graph: entities, what is near them, paths between them, and the graph as a whole.
//! Names are as the items write them. Only items that the caller may see count.

use schemars::JsonSchema;
use serde::Serialize;

use super::{EntityAlias, Selection};
use crate::item::{EntityKind, NodeKind, Relation};

/// An entity: a name, title, link target, tag or word that items mention.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EntityName {
    /// Its id: the 16 hex digits of its key. Equal names have equal ids in every store.
    pub id: String,
    /// Its name, as the item writes it that mentions it most strongly.
    pub name: String,
    /// How that item mentions it.
    pub kind: EntityKind,
    /// Number of items that mention it.
    pub items: usize,
}

/// An item with the text in which it mentions something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Proof {
    /// Id of the item.
    pub id: String,
    /// Title of its document, or the memory's first sentence.
    pub title: String,
    /// The words around the names.
    pub text: String,
}

/// One item on a path, with the entities that lead to it and on from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Hop {
    /// Name of the entity before the item; `None` if the path starts at the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// How the item mentions the entity behind it; the one before it where the path ends at the item.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<EntityKind>,
    /// Name of the entity behind the item; `None` if the path ends at the item, or goes on to a related memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The name by which the next item calls the entity behind, if an alias connects it with this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// The relation that the item states between the two names, or that connects it with the memory of the next hop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation: Option<String>,
    /// The source of that relation if a language model read it off the item: `llm:` and the model's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation_source: Option<String>,
    /// The item.
    pub proof: Proof,
}

/// A request for an entity.
#[derive(Clone, Debug, PartialEq)]
pub struct EntityRequest {
    /// Its name, `#tag`, or path (`notes/gamma.md`).
    pub name: String,
    /// Most mentions that are returned, 1 to 200.
    pub limit: usize,
    /// The items that may be found.
    pub select: Selection,
}

/// An entity with the items that mention it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EntityReport {
    /// The entity.
    pub entity: EntityName,
    /// Other spellings of its name, the most used first.
    pub aliases: Vec<String>,
    /// The aliases that people stated of it, for a caller that sees the whole store.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stated: Vec<EntityAlias>,
    /// Number of different documents and memories that mention it.
    pub documents: usize,
    /// Whether so many items mention it that questions do not pass it.
    pub hub: bool,
    /// The mentions, strongest first.
    pub mentions: Vec<EntityMention>,
    /// Relations of it that a language model read off these items.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<EntityRelation>,
    /// Other entities of that name, such as a tag.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<EntityName>,
}

/// A relation of an entity that a language model read off an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EntityRelation {
    /// The name that has the relation.
    pub subject: String,
    /// The relation.
    pub relation: String,
    /// The name to which it leads.
    pub object: String,
    /// Its source: `llm:` and the model's name.
    pub source: String,
    /// The item.
    pub proof: Proof,
}

/// A mention of an entity by an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EntityMention {
    /// How the item mentions it.
    pub kind: EntityKind,
    /// Number of times, at most 31.
    pub count: u32,
    /// The item.
    pub proof: Proof,
}

/// A request for what is near an entity or an item.
#[derive(Clone, Debug, PartialEq)]
pub struct NeighboursRequest {
    /// An entity's name, `#tag` or path, or an item's id.
    pub name: String,
    /// Steps from entity to entity, 1 to 4.
    pub depth: usize,
    /// Only entities of these kinds; empty means all.
    pub kinds: Vec<EntityKind>,
    /// Most neighbours at each step, 1 to 200.
    pub limit: usize,
    /// The items that may be found.
    pub select: Selection,
}

/// The entities near an entity or an item.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Neighbours {
    /// The entity, if the request named one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entity: Option<EntityName>,
    /// The item, if the request named one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<Proof>,
    /// The memories that the item is related to, if it is a memory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<RelatedMemory>,
    /// Relations of the entity, or those of the item, that a language model read off texts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<EntityRelation>,
    /// Its neighbours, those at one step first, then the likeliest first.
    pub neighbours: Vec<NearEntity>,
}

/// An entity near another.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NearEntity {
    /// The entity.
    pub entity: EntityName,
    /// Steps to it.
    pub depth: usize,
    /// Probability that a walker who goes on at random is at it after these steps, 0..1.
    pub weight: f32,
    /// The relation that this item states between the two, if it states one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation: Option<String>,
    /// The source of that relation if a language model read it off the item: `llm:` and the model's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation_source: Option<String>,
    /// The item that connects them most strongly.
    pub proof: Proof,
}

/// A memory that is related to another one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RelatedMemory {
    /// The relation.
    pub relation: Relation,
    /// Whether the other memory has it; otherwise it leads to the other memory.
    pub inverse: bool,
    /// Its strength, 0..1.
    pub strength: f32,
    /// The other memory.
    pub memory: Proof,
}

/// A request for the strongest connection of two entities or items.
#[derive(Clone, Debug, PartialEq)]
pub struct PathRequest {
    /// Where it starts: an entity's name, `#tag` or path, or an item's id.
    pub from: String,
    /// Where it ends.
    pub to: String,
    /// The items that may be found.
    pub select: Selection,
}

/// The likeliest way of a walker from one entity or item to another.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GraphPath {
    /// Name of the entity, or title of the item, where it starts.
    pub from: String,
    /// Name of the entity, or title of the item, where it ends.
    pub to: String,
    /// The items on the way. Empty if nothing connects the two.
    pub path: Vec<Hop>,
}

/// A request for the whole graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphRequest {
    /// Only entities of these kinds; empty means all.
    pub kinds: Vec<EntityKind>,
    /// Most nodes: those whose edges weigh most, if they are connected. `None` means all.
    pub limit: Option<usize>,
    /// Whether each node gets the number of its community.
    pub communities: bool,
    /// The items that may be found.
    pub select: Selection,
}

/// The graph: documents and memories, the entities that connect at least two of them, and an edge for each mention.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WholeGraph {
    /// Documents and memories in the order in which they were stored, then entities by id.
    pub nodes: Vec<GraphNode>,
    /// Mentions, by entity.
    pub edges: Vec<GraphEdge>,
    /// Relations between entities that language models read off items, by entity.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<GraphRelation>,
    /// Relations between memories that somebody stated or the store keeps, by the ids of both and by type.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub memory_relations: Vec<MemoryRelation>,
    /// Names of the entities that so many documents mention that they are no nodes.
    pub hubs: Vec<String>,
}

/// A node of the graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GraphNode {
    /// Its id: of a document or memory, or the 16 hex digits of an entity.
    pub id: String,
    /// Its title or name.
    pub name: String,
    /// Its kind.
    pub kind: NodeKind,
    /// Number of a document's chunks, or of the items that mention an entity.
    pub items: usize,
    /// Number of its community, if communities were computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub community: Option<u32>,
}

/// A mention of an entity by a document or memory.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GraphEdge {
    /// Id of the document or memory.
    pub from: String,
    /// Id of the entity.
    pub to: String,
    /// How it mentions the entity.
    pub kind: EntityKind,
    /// (1 + ln n) ln(1 + D / d): n mentions here, d of D documents and memories mention it.
    pub weight: f32,
}

/// A relation between two entities that a language model read off items.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GraphRelation {
    /// Id of the entity that has the relation.
    pub from: String,
    /// Id of the entity to which it leads.
    pub to: String,
    /// The relation.
    pub relation: String,
    /// Its source: `llm:` and the model's name.
    pub source: String,
    /// Id of the first item off which it was read.
    pub proof: String,
    /// Number of such items.
    pub items: usize,
}

/// A relation between two memories, which leads from one to the other.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MemoryRelation {
    /// Id of the memory that has the relation.
    pub from: String,
    /// Its type.
    pub relation: Relation,
    /// Id of the memory to which it leads.
    pub to: String,
    /// Its strength, 0..1.
    pub strength: f32,
}

impl MemoryRelation {
    /// Returns its weight among the edges of the graph, 0..1: its strength times the weight of its type. 0 connects nothing.
    pub fn weight(&self) -> f32 {
        self.strength * self.relation.weight()
    }
}

/// A request for the communities of the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct CommunitiesRequest {
    /// How fine the communities of level 0 are: at least 0, more with a higher one. The default is .5.
    pub resolution: f64,
    /// The level: 0 is the finest, and each further one joins whole communities of the level before.
    pub level: usize,
    /// Most communities that are returned, the largest, 1 to 200.
    pub limit: usize,
    /// Whether the partition is saved, so that the next run starts from it. Only one of the whole store is.
    pub save: bool,
    /// The items that may be found.
    pub select: Selection,
}

impl CommunitiesRequest {
    /// The default resolution. Exports have the communities of this one.
    pub const RESOLUTION: f64 = 0.5;
}

/// The communities of the graph: groups of documents, memories and entities with more connections within the group than to the rest.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CommunitiesReport {
    /// The communities of at least two nodes, the largest first.
    pub communities: Vec<GraphCommunity>,
    /// Number of such communities.
    pub total: usize,
    /// Number of documents and memories that nothing connects.
    pub alone: usize,
    /// The level that is shown.
    pub level: usize,
    /// All levels, the finest first.
    pub levels: Vec<GraphLevel>,
    /// Why the partition could not be saved for the next run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub save_error: Option<String>,
}

/// A level of communities.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GraphLevel {
    /// Its resolution.
    pub resolution: f64,
    /// Its modularity at that resolution.
    pub modularity: f64,
    /// Number of communities, those of one node included.
    pub count: usize,
}

/// A community of the graph.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GraphCommunity {
    /// Its number on its level.
    pub number: u32,
    /// The number of the community that contains it on the next level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
    /// Names of its most central entities, at most 5.
    pub entities: Vec<String>,
    /// Number of its entities.
    pub entity_count: usize,
    /// Words that more of its texts have than of the other texts that were read, as they write them, at most 8. No word of its
    /// entities above is among them.
    pub terms: Vec<String>,
    /// Its most central documents and memories, at most 3.
    pub central: Vec<CentralItem>,
    /// Number of its documents and memories.
    pub item_count: usize,
    /// Share of the weight of its edges that stays within it, 0..1.
    pub inner_share: f32,
}

/// A document or memory that is central to a community.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CentralItem {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
}
