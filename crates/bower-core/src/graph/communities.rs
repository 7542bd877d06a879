//! Detects communities: groups of nodes with more weight between them than their degrees let expect.
//! They are connected, and each level joins whole communities of the level before. The order of the edges does not matter.
//!
//! [`detect_communities`] finds them by the Leiden algorithm (`leiden`). It returns several levels, each coarser than the one
//! before. [`describe`] gives the members of each community and how central they are. [`modularity`] measures a partition.
//!
//! ```
//! use bower_core::parts::graph::{CommunityOptions, WeightedGraph, detect_communities};
//!
//! # fn main() -> bower_core::Result<()> {
//! // Two triangles that one edge connects.
//! let edges = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)].map(|(one, two)| (one, two, 1.0));
//! let graph = WeightedGraph::new(6, &edges)?;
//! let levels = detect_communities(&graph, &CommunityOptions { resolution: 1.0, ..CommunityOptions::default() })?;
//! assert_eq!(levels[0].of_node, [0, 0, 0, 1, 1, 1]);
//! # Ok(())
//! # }
//! ```

mod leiden;
#[cfg(test)]
mod tests;
mod weighted_graph;

use std::collections::HashMap;

#[cfg(any(test, feature = "parts"))]
pub use weighted_graph::connected_components;
pub use weighted_graph::{WeightedGraph, modularity};

use crate::error::{Error, Result};
use leiden::leiden;
use weighted_graph::{Groups, numbered};

/// Fewest and most rounds of the algorithm from nothing. Three rounds reach the modularity of `leidenalg`'s two. 20 rounds gain another
/// .005 on the graph `vault` of `tools/communities.py` (median of 40 seeds).
const COLD_ROUNDS: (usize, usize) = (3, 20);
/// Edges that the rounds from nothing pass, if their number allows it: as many as in two rounds of half a million edges.
const COLD_EDGES: usize = 1_000_000;
/// Most rounds from an earlier partition.
const WARM_ROUNDS: usize = 1;
/// Most levels.
const MOST_LEVELS: usize = 4;
/// A level has the resolution of the one before, divided by this. With 4, levels that differ are left out.
const LEVEL_STEP: f64 = 2.0;

/// Options of [`detect_communities`].
#[derive(Clone, Copy, Debug)]
pub struct CommunityOptions<'a> {
    /// The resolution of the first level, at least 0. With a higher one there are more communities, and smaller ones.
    pub resolution: f64,
    /// Decides in which order nodes are visited.
    pub seed: u64,
    /// An earlier partition of the first level to start from: the community of each node, as any number. It may have fewer
    /// nodes than the graph; the others, and those of community [`CommunityOptions::NONE`], start alone.
    pub previous: Option<&'a [u32]>,
}

impl CommunityOptions<'_> {
    /// The community of a node in [`CommunityOptions::previous`] that was in none.
    pub const NONE: u32 = u32::MAX;
}

impl Default for CommunityOptions<'_> {
    fn default() -> Self {
        Self { resolution: 0.5, seed: 1, previous: None }
    }
}

/// A partition of a graph into communities.
#[derive(Clone, Debug, PartialEq)]
pub struct CommunityLevel {
    /// The resolution at which it was found.
    pub resolution: f64,
    /// Its modularity at that resolution.
    pub modularity: f64,
    /// The community of each node, numbered from 0 by their lowest node.
    pub of_node: Vec<u32>,
    /// Number of communities.
    pub count: usize,
}

impl CommunityLevel {
    /// Returns for each community the one of a coarser level that contains it.
    pub fn parents(&self, coarser: &Self) -> Vec<u32> {
        let mut parents = vec![0; self.count];
        for (community, parent) in self.of_node.iter().zip(&coarser.of_node) {
            parents[*community as usize] = *parent;
        }
        parents
    }
}

/// Detects the communities of a graph; returns one to four levels, the finest first. Each has fewer communities than the one before.
///
/// The first level has the given resolution. Each further one is found in the graph whose nodes are the communities of the
/// level before, at half of its resolution, so communities are joined whole. Nodes without edges stay alone. In a graph
/// without edges the communities are its connected components, as in every graph at resolution 0.
///
/// From an earlier partition it takes about a third of the time. Its modularity is at
/// least that of the earlier partition in the given graph.
///
/// Fails with [`Error::Invalid`] if the resolution is not a finite number of at least 0, or if the earlier partition has more nodes
/// than the graph.
pub fn detect_communities(
    graph: &WeightedGraph,
    options: &CommunityOptions<'_>,
) -> Result<Vec<CommunityLevel>> {
    if !options.resolution.is_finite() || options.resolution < 0.0 {
        let reason = format!("{} is not a finite number of at least 0", options.resolution);
        return Err(Error::invalid("resolution", reason));
    }
    let (start, rounds) = match options.previous {
        Some(previous) => (start_of(graph, previous)?, WARM_ROUNDS),
        None => ((0..graph.nodes() as u32).collect(), cold_rounds(graph)),
    };
    let mut of_node = leiden(graph, options.resolution, start, rounds, options.seed);
    let mut count = numbered(&of_node).1;
    let level = |resolution: f64, of_node: &[u32], count: usize| -> Result<CommunityLevel> {
        let modularity = modularity(graph, of_node, resolution)?;
        Ok(CommunityLevel { resolution, modularity, of_node: of_node.to_vec(), count })
    };
    let mut levels = vec![level(options.resolution, &of_node, count)?];
    let mut resolution = options.resolution;
    for _ in 1..MOST_LEVELS {
        resolution /= LEVEL_STEP;
        let coarse = graph.aggregate(&of_node, count);
        let alone = (0..count as u32).collect();
        let joined = leiden(&coarse, resolution, alone, cold_rounds(&coarse), options.seed);
        let joined_count = numbered(&joined).1;
        if joined_count < count {
            for community in &mut of_node {
                *community = joined[*community as usize];
            }
            count = joined_count;
            levels.push(level(resolution, &of_node, count)?);
        }
    }
    Ok(levels)
}

fn cold_rounds(graph: &WeightedGraph) -> usize {
    (COLD_EDGES / graph.edges().max(1)).clamp(COLD_ROUNDS.0, COLD_ROUNDS.1)
}

/// Returns the partition to start from, numbered from 0 without gaps.
fn start_of(graph: &WeightedGraph, previous: &[u32]) -> Result<Vec<u32>> {
    if previous.len() > graph.nodes() {
        let reason = format!("it has {} nodes, the graph {}", previous.len(), graph.nodes());
        return Err(Error::invalid("previous partition", reason));
    }
    let mut numbers = HashMap::new();
    let mut count = 0;
    let mut fresh = || {
        count += 1;
        count - 1
    };
    let rest = std::iter::repeat_n(&CommunityOptions::NONE, graph.nodes() - previous.len());
    let number = |community: &u32| {
        if *community == CommunityOptions::NONE {
            fresh()
        } else {
            *numbers.entry(*community).or_insert_with(&mut fresh)
        }
    };
    Ok(previous.iter().chain(rest).map(number).collect())
}

/// A community with its members.
#[derive(Clone, Debug, PartialEq)]
pub struct Community {
    /// Its nodes in ascending order.
    pub members: Vec<CommunityMember>,
    /// Number of edges between its members.
    pub inner_edges: usize,
    /// The weight of these edges.
    pub inner_weight: f64,
    /// Number of edges from its members to other nodes.
    pub outer_edges: usize,
    /// The weight of these edges.
    pub outer_weight: f64,
}

/// A node of a community.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CommunityMember {
    /// The node.
    pub node: u32,
    /// The weight of its edges to other members: the higher, the more central is the node.
    pub inner_degree: f64,
}

/// Returns the communities of a partition, in the order of its numbers. `of_node` has the community of each node, as any number;
/// communities come in the order of their lowest node.
///
/// Fails with [`Error::Invalid`] if `of_node` has another length than the graph has nodes.
pub fn describe(graph: &WeightedGraph, of_node: &[u32]) -> Result<Vec<Community>> {
    if of_node.len() != graph.nodes() {
        let reason = format!("it has {} nodes, the graph {}", of_node.len(), graph.nodes());
        return Err(Error::invalid("partition", reason));
    }
    let (of_node, count) = numbered(of_node);
    let groups = Groups::new(&of_node, count);
    let community = |number: u32| {
        let mut community = Community {
            members: Vec::new(),
            inner_edges: 0,
            inner_weight: 0.0,
            outer_edges: 0,
            outer_weight: 0.0,
        };
        for node in groups.members(number) {
            let mut inner_degree = 0.0;
            for (target, weight) in graph.neighbours(*node) {
                if of_node[target as usize] != number {
                    community.outer_edges += 1;
                    community.outer_weight += weight;
                    continue;
                }
                inner_degree += weight;
                if target > *node {
                    community.inner_edges += 1;
                    community.inner_weight += weight;
                }
            }
            community.members.push(CommunityMember { node: *node, inner_degree });
        }
        community
    };
    Ok((0..count as u32).map(community).collect())
}
