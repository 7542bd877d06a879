//! Stores an undirected weighted graph in compressed rows; finds its components and measures a partition of it.
//! Edges are sorted first, so that no result depends on the order in which they were given.

use std::collections::HashMap;

use crate::error::{Error, Result};

/// An undirected graph with weighted edges. Its nodes are the numbers from 0.
///
/// It takes 24 bytes for each edge, and 24 for each node.
#[derive(Clone, Debug)]
pub struct WeightedGraph {
    /// Where each node's edges begin, and the end of the last one's.
    offsets: Vec<usize>,
    /// The other end of each edge; each edge is there twice.
    targets: Vec<u32>,
    weights: Vec<f64>,
    /// The weight of the edges inside of a node that stands for several; 0 for nodes of the original graph.
    inside: Vec<f64>,
    /// The sum of the weights of each node's edges, where those inside of it count twice.
    degrees: Vec<f64>,
    /// The sum of all degrees: twice the weight of all edges.
    total: f64,
}

impl WeightedGraph {
    /// Makes the graph of `nodes` nodes with the given edges, each a pair of nodes and a weight above 0.
    ///
    /// The weights of edges between the same two nodes are added, in whichever direction they are given. Edges from a node to
    /// itself are ignored: they say nothing of how nodes belong together.
    ///
    /// Fails with [`Error::Invalid`] if a node is out of range, or if a weight is not a finite number above 0.
    pub fn new(nodes: u32, edges: &[(u32, u32, f32)]) -> Result<Self> {
        let wrong = |edge: &&(u32, u32, f32)| {
            edge.0 >= nodes || edge.1 >= nodes || !edge.2.is_finite() || edge.2 <= 0.0
        };
        if let Some((one, two, weight)) = edges.iter().find(wrong) {
            let reason = if *one >= nodes || *two >= nodes {
                format!("the graph has {nodes} nodes, numbered from 0")
            } else {
                format!(
                    "the weight {weight} is not a finite number above 0; leave the edge out or correct it"
                )
            };
            return Err(Error::invalid(format!("edge {one}-{two}"), reason));
        }
        let mut sorted: Vec<(u32, u32, f32)> = edges
            .iter()
            .filter(|(one, two, _)| one != two)
            .map(|(one, two, weight)| (*one.min(two), *one.max(two), *weight))
            .collect();
        // Sums of floats depend on their order, so the weights of one pair are sorted too.
        sorted.sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
        let mut merged: Vec<(u32, u32, f64)> = Vec::with_capacity(sorted.len());
        for (one, two, weight) in sorted {
            match merged.last_mut() {
                Some(last) if (last.0, last.1) == (one, two) => last.2 += f64::from(weight),
                _ => merged.push((one, two, f64::from(weight))),
            }
        }
        Ok(Self::of_sorted(nodes as usize, &merged))
    }

    /// Makes the rows. As the edges are sorted and their first node is the lower one, each row is sorted.
    fn of_sorted(nodes: usize, edges: &[(u32, u32, f64)]) -> Self {
        let mut offsets = vec![0; nodes + 1];
        for (one, two, _) in edges {
            offsets[*one as usize + 1] += 1;
            offsets[*two as usize + 1] += 1;
        }
        for at in 0..nodes {
            offsets[at + 1] += offsets[at];
        }
        let mut next = offsets[..nodes].to_vec();
        let mut targets = vec![0; 2 * edges.len()];
        let mut weights = vec![0.0; 2 * edges.len()];
        for (one, two, weight) in edges {
            for (from, to) in [(*one, *two), (*two, *one)] {
                let at = &mut next[from as usize];
                (targets[*at], weights[*at]) = (to, *weight);
                *at += 1;
            }
        }
        let degrees: Vec<f64> =
            offsets.windows(2).map(|row| weights[row[0]..row[1]].iter().sum::<f64>()).collect();
        let total = degrees.iter().sum();
        Self { offsets, targets, weights, inside: vec![0.0; nodes], degrees, total }
    }

    /// Returns the number of nodes.
    pub fn nodes(&self) -> usize {
        self.degrees.len()
    }

    /// Returns the number of edges between different nodes.
    pub fn edges(&self) -> usize {
        self.targets.len() / 2
    }

    /// Returns a node's neighbours with the weights of the edges to them.
    pub(super) fn neighbours(&self, node: u32) -> impl Iterator<Item = (u32, f64)> + '_ {
        let row = self.offsets[node as usize]..self.offsets[node as usize + 1];
        self.targets[row.clone()].iter().copied().zip(self.weights[row].iter().copied())
    }

    pub(super) fn degrees(&self) -> &[f64] {
        &self.degrees
    }

    pub(super) fn total(&self) -> f64 {
        self.total
    }

    /// Returns the graph whose nodes are the communities of this one. `of_node` numbers them from 0 without gaps.
    pub(super) fn aggregate(&self, of_node: &[u32], count: usize) -> Self {
        let groups = Groups::new(of_node, count);
        let mut graph = Self {
            offsets: Vec::with_capacity(count + 1),
            targets: Vec::new(),
            weights: Vec::new(),
            inside: vec![0.0; count],
            degrees: vec![0.0; count],
            total: self.total,
        };
        graph.offsets.push(0);
        let mut sums = Sums::new(count);
        for community in 0..count as u32 {
            let at = community as usize;
            for node in groups.members(community) {
                graph.inside[at] += self.inside[*node as usize];
                graph.degrees[at] += self.degrees[*node as usize];
                for (target, weight) in self.neighbours(*node) {
                    let other = of_node[target as usize];
                    if other == community {
                        // Such an edge is met from both of its ends.
                        graph.inside[at] += weight / 2.0;
                    } else {
                        sums.add(other, weight);
                    }
                }
            }
            for other in sums.keys() {
                graph.targets.push(*other);
                graph.weights.push(sums.get(*other));
            }
            sums.clear();
            graph.offsets.push(graph.targets.len());
        }
        graph
    }
}

/// Sums of weights by community. Clearing them costs as much as was added.
pub(super) struct Sums {
    values: Vec<f64>,
    keys: Vec<u32>,
}

impl Sums {
    pub(super) fn new(communities: usize) -> Self {
        Self { values: vec![0.0; communities], keys: Vec::new() }
    }

    /// Adds a weight, which is above 0.
    pub(super) fn add(&mut self, community: u32, weight: f64) {
        let value = &mut self.values[community as usize];
        if *value == 0.0 {
            self.keys.push(community);
        }
        *value += weight;
    }

    pub(super) fn get(&self, community: u32) -> f64 {
        self.values[community as usize]
    }

    /// The communities with a sum, in the order in which they were first added.
    pub(super) fn keys(&self) -> &[u32] {
        &self.keys
    }

    pub(super) fn clear(&mut self) {
        for community in self.keys.drain(..) {
            self.values[community as usize] = 0.0;
        }
    }
}

/// The nodes of each community, in ascending order.
pub(super) struct Groups {
    offsets: Vec<usize>,
    nodes: Vec<u32>,
}

impl Groups {
    pub(super) fn new(of_node: &[u32], count: usize) -> Self {
        let mut offsets = vec![0; count + 1];
        for community in of_node {
            offsets[*community as usize + 1] += 1;
        }
        for at in 0..count {
            offsets[at + 1] += offsets[at];
        }
        let mut next = offsets[..count].to_vec();
        let mut nodes = vec![0; of_node.len()];
        for (node, community) in (0..).zip(of_node) {
            let at = &mut next[*community as usize];
            nodes[*at] = node;
            *at += 1;
        }
        Self { offsets, nodes }
    }

    pub(super) fn members(&self, community: u32) -> &[u32] {
        &self.nodes[self.offsets[community as usize]..self.offsets[community as usize + 1]]
    }
}

/// Numbers the communities from 0 by their lowest node; returns the community of each node and the number of communities.
pub(super) fn numbered(labels: &[u32]) -> (Vec<u32>, usize) {
    let mut numbers = HashMap::new();
    let of_node = labels
        .iter()
        .map(|label| {
            let next = numbers.len() as u32;
            *numbers.entry(*label).or_insert(next)
        })
        .collect();
    (of_node, numbers.len())
}

#[cfg(any(test, feature = "parts"))]
/// Returns the connected component of each node, numbered from 0 by their lowest node.
pub fn connected_components(graph: &WeightedGraph) -> Vec<u32> {
    split(graph, &vec![0; graph.nodes()])
}

/// Splits each community into its connected parts; returns the part of each node, numbered from 0 by their lowest node.
pub(super) fn split(graph: &WeightedGraph, of_node: &[u32]) -> Vec<u32> {
    const UNSEEN: u32 = u32::MAX;
    let mut parts = vec![UNSEEN; graph.nodes()];
    let mut count = 0;
    let mut open = Vec::new();
    for first in 0..graph.nodes() as u32 {
        if parts[first as usize] != UNSEEN {
            continue;
        }
        parts[first as usize] = count;
        open.push(first);
        while let Some(node) = open.pop() {
            for (target, _) in graph.neighbours(node) {
                let at = target as usize;
                if parts[at] == UNSEEN && of_node[at] == of_node[node as usize] {
                    parts[at] = count;
                    open.push(target);
                }
            }
        }
        count += 1;
    }
    parts
}

/// Returns the modularity of a partition: the sum over communities of `e / m - resolution * (K / 2m)^2`.
/// `m` is the weight of all edges, and `e` that of the edges inside of a community. `K` is the sum of its nodes' degrees.
///
/// `of_node` has the community of each node, as any number. The value lies below 1; it is 0 for a graph without edges.
/// At resolution 1 it is the modularity of Newman, "Modularity and community structure in networks" (PNAS, 2006). Resolutions
/// are those of Reichardt and Bornholdt, "Statistical mechanics of community detection" (Physical Review E, 2006).
///
/// Fails with [`Error::Invalid`] if `of_node` has another length than the graph has nodes.
pub fn modularity(graph: &WeightedGraph, of_node: &[u32], resolution: f64) -> Result<f64> {
    if of_node.len() != graph.nodes() {
        let reason = format!("it has {} nodes, the graph {}", of_node.len(), graph.nodes());
        return Err(Error::invalid("partition", reason));
    }
    if graph.total == 0.0 {
        return Ok(0.0);
    }
    let (of_node, count) = numbered(of_node);
    // Twice the weight inside of each community, and the sum of its degrees.
    let mut sums = vec![(0.0, 0.0); count];
    for (node, community) in (0..).zip(&of_node) {
        let (inside, degrees) = &mut sums[*community as usize];
        let inner = graph.neighbours(node).filter(|(target, _)| of_node[*target as usize] == *community);
        *inside += 2.0 * graph.inside[node as usize] + inner.map(|(_, weight)| weight).sum::<f64>();
        *degrees += graph.degrees[node as usize];
    }
    let share = |(inside, degrees): &(f64, f64)| {
        inside / graph.total - resolution * (degrees / graph.total) * (degrees / graph.total)
    };
    Ok(sums.iter().map(share).sum())
}
