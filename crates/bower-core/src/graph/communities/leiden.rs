//! Runs the Leiden algorithm: finds a partition of high modularity whose communities are connected.
//! Each step takes time in proportion to the edges. The same graph, start and seed give the same partition.
//!
//! Source: Traag, Waltman and van Eck, "From Louvain to Leiden: guaranteeing well-connected communities" (Scientific Reports
//! 9, 5233, 2019), appendix A. A gain is the change of modularity times the weight of all edges: moving a node of degree `k` into a
//! community whose degrees sum to `K`, and to which its edges weigh `w`, gains `w - resolution * k * K / 2m`.

use std::collections::VecDeque;

use bower_kernels::scan::rotate::splitmix;

use super::weighted_graph::{Sums, WeightedGraph, numbered, split};

/// A move must gain more than this share of the node's degree, so that rounding cannot move nodes for ever.
const LEAST_GAIN: f64 = 1e-10;
/// Most visits for each node while nodes are moved; the graphs of `tools/communities.py` take up to 7.
const MOST_VISITS: usize = 100;

/// Returns the community of each node, numbered from 0 by their lowest node.
///
/// It starts from the communities of `start`, which are numbered from 0 without gaps, and repeats the algorithm until nothing
/// changes or for `rounds` rounds. The result never has a lower modularity than the start. Communities are connected.
pub(super) fn leiden(
    graph: &WeightedGraph,
    resolution: f64,
    start: Vec<u32>,
    rounds: usize,
    seed: u64,
) -> Vec<u32> {
    let mut of_node = start;
    if graph.total() > 0.0 {
        let mut leiden = Leiden { scale: resolution / graph.total(), random: seed };
        for _ in 0..rounds {
            if !leiden.round(graph, &mut of_node) {
                break;
            }
        }
    }
    // Moving a node away can leave its community in two parts.
    split(graph, &of_node)
}

struct Leiden {
    /// The resolution divided by twice the weight of all edges.
    scale: f64,
    /// The state of the generator of random numbers.
    random: u64,
}

impl Leiden {
    /// Improves a partition once: moves nodes, refines, aggregates, and goes on with the smaller graph. Returns whether a node moved.
    fn round(&mut self, graph: &WeightedGraph, of_node: &mut Vec<u32>) -> bool {
        let mut moved = false;
        let mut partition = std::mem::take(of_node);
        // The node of the current graph that each node is a part of.
        let mut places: Vec<u32> = (0..graph.nodes() as u32).collect();
        let mut aggregated: Option<WeightedGraph> = None;
        loop {
            let current = aggregated.as_ref().unwrap_or(graph);
            moved |= self.move_nodes(current, &mut partition);
            let (refined, count) = numbered(&self.refine(current, &partition));
            if count == current.nodes() {
                break;
            }
            let mut coarse = vec![0; count];
            for (community, part) in partition.iter().zip(&refined) {
                coarse[*part as usize] = *community;
            }
            for place in &mut places {
                *place = refined[*place as usize];
            }
            aggregated = Some(current.aggregate(&refined, count));
            partition = numbered(&coarse).0;
        }
        let flat: Vec<u32> = places.iter().map(|place| partition[*place as usize]).collect();
        *of_node = numbered(&flat).0;
        moved
    }

    /// Moves single nodes to the communities where they gain most, until no move gains; returns whether a node moved.
    ///
    /// This is `MoveNodesFast`: the neighbours of a moved node are visited again. A community's number is below the number of
    /// nodes, before and after.
    fn move_nodes(&mut self, graph: &WeightedGraph, partition: &mut [u32]) -> bool {
        let nodes = graph.nodes();
        let degrees = graph.degrees();
        let (mut totals, mut sizes) = (vec![0.0; nodes], vec![0_u32; nodes]);
        for (community, degree) in partition.iter().zip(degrees) {
            totals[*community as usize] += degree;
            sizes[*community as usize] += 1;
        }
        let mut free: Vec<u32> = (0..nodes as u32).rev().filter(|one| sizes[*one as usize] == 0).collect();
        let mut queue: VecDeque<u32> = self.shuffled(nodes).into();
        let mut is_queued = vec![true; nodes];
        let mut sums = Sums::new(nodes);
        let mut moved = false;
        let mut visits = MOST_VISITS.saturating_mul(nodes);
        while let Some(node) = queue.pop_front()
            && visits > 0
        {
            visits -= 1;
            let at = node as usize;
            is_queued[at] = false;
            let (here, degree) = (partition[at], degrees[at]);
            for (target, weight) in graph.neighbours(node) {
                sums.add(partition[target as usize], weight);
            }
            let stay = sums.get(here) - self.scale * degree * (totals[here as usize] - degree);
            let (mut best, mut most) = (here, stay + LEAST_GAIN * degree);
            for community in sums.keys().iter().filter(|one| **one != here) {
                let gain = sums.get(*community) - self.scale * degree * totals[*community as usize];
                if gain > most {
                    (best, most) = (*community, gain);
                }
            }
            // Alone it would gain nothing.
            if sizes[here as usize] > 1
                && most < 0.0
                && let Some(empty) = free.pop()
            {
                best = empty;
            }
            sums.clear();
            if best == here {
                continue;
            }
            moved = true;
            partition[at] = best;
            totals[here as usize] -= degree;
            totals[best as usize] += degree;
            sizes[here as usize] -= 1;
            sizes[best as usize] += 1;
            if sizes[here as usize] == 0 {
                // What rounding left of its total must not weigh on the next node.
                totals[here as usize] = 0.0;
                free.push(here);
            }
            for (target, _) in graph.neighbours(node) {
                if partition[target as usize] != best && !is_queued[target as usize] {
                    is_queued[target as usize] = true;
                    queue.push_back(target);
                }
            }
        }
        moved
    }

    /// Divides each community into connected parts that are worth keeping together, and returns the part of each node. A part
    /// has the number of one of its nodes.
    ///
    /// This is `RefinePartition`. A node joins the part where it gains most, as in the authors' program `leidenalg`, where their paper
    /// draws a part at random: the order of the visits is random already.
    fn refine(&mut self, graph: &WeightedGraph, partition: &[u32]) -> Vec<u32> {
        let nodes = graph.nodes();
        let degrees = graph.degrees();
        let mut wholes = vec![0.0; nodes];
        for (community, degree) in partition.iter().zip(degrees) {
            wholes[*community as usize] += degree;
        }
        let is_inner = |node: u32, target: u32| partition[node as usize] == partition[target as usize];
        // For each part the sum of its degrees, its size, and the weight of its edges to the rest of its community.
        let (mut totals, mut sizes) = (degrees.to_vec(), vec![1_u32; nodes]);
        let mut outward: Vec<f64> = (0..nodes as u32)
            .map(|node| {
                let inner = graph.neighbours(node).filter(|(target, _)| is_inner(node, *target));
                inner.map(|(_, weight)| weight).sum()
            })
            .collect();
        let mut parts: Vec<u32> = (0..nodes as u32).collect();
        let mut sums = Sums::new(nodes);
        for node in self.shuffled(nodes) {
            let at = node as usize;
            let (whole, degree) = (wholes[partition[at] as usize], degrees[at]);
            let is_well_connected = |part: u32, totals: &[f64], outward: &[f64]| {
                let total = totals[part as usize];
                outward[part as usize] >= self.scale * total * (whole - total)
            };
            let is_alone = parts[at] == node && sizes[at] == 1;
            if !is_alone || !is_well_connected(node, &totals, &outward) {
                continue;
            }
            for (target, weight) in graph.neighbours(node).filter(|(target, _)| is_inner(node, *target)) {
                sums.add(parts[target as usize], weight);
            }
            let (mut best, mut most) = (node, 0.0);
            for part in sums.keys() {
                let gain = sums.get(*part) - self.scale * degree * totals[*part as usize];
                if gain >= most && is_well_connected(*part, &totals, &outward) {
                    (best, most) = (*part, gain);
                }
            }
            if best != node {
                let to = best as usize;
                parts[at] = best;
                sizes[at] = 0;
                sizes[to] += 1;
                totals[to] += degree;
                outward[to] += outward[at] - 2.0 * sums.get(best);
            }
            sums.clear();
        }
        parts
    }

    /// Returns the nodes in random order (Fisher and Yates).
    fn shuffled(&mut self, nodes: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..nodes as u32).collect();
        for at in (1..nodes).rev() {
            let other = splitmix(&mut self.random) % (at as u64 + 1);
            order.swap(at, other as usize);
        }
        order
    }
}
