//! Groups the graph into communities, and names each by its most central entities and documents, and by its terms.
//! The partition of the whole store is saved beside the indexes. The next run starts from it, so that communities stay while
//! little changes. Forgetting removes the file.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::terms::add_terms;
use super::whole::{CollectedGraph, whole};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::files;
use crate::graph::{
    Community, CommunityLevel, CommunityOptions, WeightedGraph, describe, detect_communities,
};
use crate::item::Visibility;
use crate::request::{
    CentralItem, CommunitiesReport, CommunitiesRequest, GraphCommunity, GraphEdge, GraphLevel, GraphRequest,
    MemoryRelation, Selection, WholeGraph,
};

/// Entities that name a community.
const NAMES: usize = 5;
/// Documents or memories that are shown of a community.
const CENTRAL: usize = 3;
/// Decides in which order nodes are visited, so that equal graphs have equal communities.
const SEED: u64 = 1;
/// Name of the file with the last partition, in the store's index folder.
const FILE: &str = "communities.json";

/// A partition as it is saved: the community of each node by its id.
#[derive(Serialize, Deserialize)]
struct SavedPartition {
    resolution: f64,
    communities: BTreeMap<String, u32>,
}

/// A graph with its communities.
pub(super) struct Partition {
    graph: WeightedGraph,
    pub(super) levels: Vec<CommunityLevel>,
}

/// Detects the communities of a graph, from those of an earlier partition if there is one.
///
/// Fails with [`Error::Invalid`] if the resolution is not a finite number of at least 0.
pub(super) fn partition(
    whole: &WholeGraph,
    resolution: f64,
    previous: Option<&BTreeMap<String, u32>>,
) -> Result<Partition> {
    let places: HashMap<&str, u32> = whole.nodes.iter().map(|node| node.id.as_str()).zip(0_u32..).collect();
    let edge = |edge: &GraphEdge| {
        let ends = (places.get(edge.from.as_str())?, places.get(edge.to.as_str())?);
        (edge.weight > 0.0).then_some((*ends.0, *ends.1, edge.weight))
    };
    let relation = |one: &MemoryRelation| {
        let ends = (places.get(one.from.as_str())?, places.get(one.to.as_str())?);
        (one.weight() > 0.0).then_some((*ends.0, *ends.1, one.weight()))
    };
    let relations = whole.memory_relations.iter().filter_map(relation);
    let edges: Vec<(u32, u32, f32)> = whole.edges.iter().filter_map(edge).chain(relations).collect();
    let graph = WeightedGraph::new(whole.nodes.len() as u32, &edges)?;
    let of_node = |previous: &BTreeMap<String, u32>| -> Vec<u32> {
        let community = |id: &String| previous.get(id).copied().unwrap_or(CommunityOptions::NONE);
        whole.nodes.iter().map(|node| community(&node.id)).collect()
    };
    let previous = previous.map(of_node);
    let options = CommunityOptions { resolution, seed: SEED, previous: previous.as_deref() };
    let levels = detect_communities(&graph, &options)?;
    Ok(Partition { graph, levels })
}

/// Returns the file with the last partition of the whole store; `None` for a part of it, which it would not fit.
fn file(engine: &Engine, visibility: &Visibility, select: &Selection) -> Option<PathBuf> {
    let is_whole = visibility.is_everything() && *select == Selection::default();
    is_whole.then(|| engine.indexes.folder().join(FILE))
}

/// Returns the last partition with a resolution; `None` if there is none, or if it cannot be read: it is made again.
fn load(file: &Path, resolution: f64) -> Option<BTreeMap<String, u32>> {
    let text = std::fs::read_to_string(file).ok()?;
    let saved: SavedPartition = serde_json::from_str(&text).ok()?;
    saved.resolution.total_cmp(&resolution).is_eq().then_some(saved.communities)
}

/// Writes a partition for the next run.
fn save(file: &Path, whole: &WholeGraph, level: &CommunityLevel) -> Result<()> {
    let communities = whole.nodes.iter().zip(&level.of_node).map(|(node, one)| (node.id.clone(), *one));
    let saved = SavedPartition { resolution: level.resolution, communities: communities.collect() };
    let text = serde_json::to_vec(&saved).map_err(|error| Error::io("write", file, error.into()))?;
    // Two processes may write at once.
    let aside = file.with_extension(format!("{}.new", std::process::id()));
    let write = || -> std::io::Result<()> {
        if let Some(folder) = file.parent() {
            files::create_folder(folder)?;
        }
        let mut out = files::create(&aside)?;
        out.write_all(&text)?;
        out.sync_all()?;
        std::fs::rename(&aside, file)
    };
    write().map_err(|source| Error::io("write", file, source))
}

/// Returns what is to be told of a community.
fn described(whole: &WholeGraph, number: u32, community: &Community, parent: Option<u32>) -> GraphCommunity {
    let mut members = community.members.clone();
    members.sort_by(|one, two| two.inner_degree.total_cmp(&one.inner_degree).then(one.node.cmp(&two.node)));
    let nodes = members.iter().filter_map(|member| whole.nodes.get(member.node as usize));
    let entities = nodes.clone().filter(|node| !node.kind.is_item());
    let items = nodes.clone().filter(|node| node.kind.is_item());
    let weight = community.inner_weight + community.outer_weight;
    GraphCommunity {
        number,
        parent,
        entities: entities.clone().take(NAMES).map(|node| node.name.clone()).collect(),
        entity_count: entities.count(),
        terms: Vec::new(),
        central: items
            .clone()
            .take(CENTRAL)
            .map(|node| CentralItem { id: node.id.clone(), title: node.name.clone() })
            .collect(),
        item_count: items.count(),
        inner_share: if weight > 0.0 { (community.inner_weight / weight) as f32 } else { 1.0 },
    }
}

/// Returns the communities of the graph that the caller may see, the largest first.
pub(super) fn communities(
    engine: &Engine,
    visibility: &Visibility,
    request: &CommunitiesRequest,
) -> Result<CommunitiesReport> {
    let everything = GraphRequest { select: request.select.clone(), ..GraphRequest::default() };
    let CollectedGraph { graph, rows, .. } = whole(engine, visibility, &everything)?;
    let file = file(engine, visibility, &request.select);
    let previous = file.as_ref().and_then(|file| load(file, request.resolution));
    let partition = partition(&graph, request.resolution, previous.as_ref())?;
    let Some(level) = partition.levels.get(request.level) else {
        let most = partition.levels.len().saturating_sub(1);
        return Err(Error::invalid(format!("level {}", request.level), format!("use 0 to {most}")));
    };
    let parents = partition.levels.get(request.level + 1).map(|coarser| level.parents(coarser));
    let mut found: Vec<GraphCommunity> = describe(&partition.graph, &level.of_node)?
        .iter()
        .zip(0_u32..)
        .filter(|(community, _)| community.members.len() > 1)
        .map(|(community, number)| {
            let parent = parents.as_ref().and_then(|parents| parents.get(number as usize)).copied();
            described(&graph, number, community, parent)
        })
        .collect();
    let alone = level.count - found.len();
    found.sort_by_key(|one| (std::cmp::Reverse(one.item_count + one.entity_count), one.number));
    let total = found.len();
    found.truncate(request.limit);
    add_terms(engine, &rows, &level.of_node, &mut found)?;
    let file = file.filter(|_| request.save);
    let save_error = file.and_then(|file| save(&file, &graph, partition.levels.first()?).err());
    Ok(CommunitiesReport {
        communities: found,
        total,
        alone,
        level: request.level,
        levels: partition
            .levels
            .iter()
            .map(|level| GraphLevel {
                resolution: level.resolution,
                modularity: level.modularity,
                count: level.count,
            })
            .collect(),
        save_error: save_error.map(|error| error.to_string()),
    })
}

/// Writes the community of each node into a graph. The whole store has those of the last run.
pub(super) fn mark(
    engine: &Engine,
    visibility: &Visibility,
    request: &GraphRequest,
    graph: &mut WholeGraph,
) -> Result<()> {
    let resolution = CommunitiesRequest::RESOLUTION;
    let file = file(engine, visibility, &request.select).filter(|_| request.kinds.is_empty());
    let previous = file.and_then(|file| load(&file, resolution));
    let partition = partition(graph, resolution, previous.as_ref())?;
    if let Some(level) = partition.levels.first() {
        for (node, community) in graph.nodes.iter_mut().zip(&level.of_node) {
            node.community = Some(*community);
        }
    }
    Ok(())
}
