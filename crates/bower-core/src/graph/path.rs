//! Finds the likeliest way of a walker between nodes, by Dijkstra's algorithm over -ln of the shares.
//! Of equally likely ways the one over the lower nodes wins, so equal graphs have equal paths.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};

use super::entity::NodeId;
use crate::error::Result;

/// Likelihood that a walker goes on instead of restarting, so that of equally likely ways the shorter wins.
const GOES_ON: f64 = 0.85;

/// A node with the cost of the cheapest way to it that is known, and the node before it.
#[derive(Clone, Copy, Debug)]
struct Reached {
    cost: f64,
    id: NodeId,
    from: Option<NodeId>,
}

impl PartialEq for Reached {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Reached {}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Reached {
    fn cmp(&self, other: &Self) -> Ordering {
        self.cost.total_cmp(&other.cost).then(self.id.cmp(&other.id)).then(self.from.cmp(&other.from))
    }
}

/// Returns the nodes of the likeliest way from one of the starts to a target; `None` if none leads there, or if `most` nodes were
/// expanded before. A start has its share of all starts. `edges` returns the nodes to which a node leads, each with its share.
///
/// Fails where `edges` fails.
pub fn likeliest(
    starts: &[(NodeId, f64)],
    target: NodeId,
    most: usize,
    mut edges: impl FnMut(NodeId) -> Result<Vec<(NodeId, f64)>>,
) -> Result<Option<Vec<NodeId>>> {
    let mut queue: BinaryHeap<Reverse<Reached>> = starts
        .iter()
        .filter(|(_, share)| *share > 0.0)
        .map(|&(id, share)| Reverse(Reached { cost: -share.ln(), id, from: None }))
        .collect();
    let mut settled: HashMap<NodeId, Option<NodeId>> = HashMap::new();
    while let Some(Reverse(next)) = queue.pop() {
        if settled.contains_key(&next.id) {
            continue;
        }
        settled.insert(next.id, next.from);
        if next.id == target {
            return Ok(Some(way(&settled, target)));
        }
        if settled.len() > most {
            return Ok(None);
        }
        for (id, share) in edges(next.id)? {
            if share > 0.0 && !settled.contains_key(&id) {
                let cost = next.cost - (GOES_ON * share).ln();
                queue.push(Reverse(Reached { cost, id, from: Some(next.id) }));
            }
        }
    }
    Ok(None)
}

/// Returns the nodes on the way to a settled node, which is the last of them.
fn way(settled: &HashMap<NodeId, Option<NodeId>>, target: NodeId) -> Vec<NodeId> {
    let mut way = vec![target];
    while let Some(Some(before)) = way.last().and_then(|last| settled.get(last)) {
        way.push(*before);
    }
    way.reverse();
    way
}

/// The likeliest ways to all nodes of a graph: to each the likeliest of all, and the likeliest of those that begin at another start.
/// So one search answers for each node how a walker comes to it from elsewhere.
#[derive(Debug)]
pub struct Ways(Vec<[Option<Step>; 2]>);

/// The end of a way.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// Position of the node where the way begins.
    origin: usize,
    /// Position of the node before, and which of the two ways to it this one continues; none for a start.
    before: Option<(usize, usize)>,
}

/// A way that was found: its cost, its last node and the node before, which break ties, and where these are.
type FoundWay = Reverse<(Reached, usize, usize, Option<(usize, usize)>)>;

impl Ways {
    /// Finds the ways from the starts over the edges of nodes; both are positions of nodes with shares.
    pub fn find<'a>(
        nodes: &[NodeId],
        starts: &[(usize, f64)],
        edges: impl Fn(usize) -> &'a [(usize, f64)],
    ) -> Self {
        let mut ways: Vec<[Option<Step>; 2]> = vec![[None; 2]; nodes.len()];
        let mut queue: BinaryHeap<FoundWay> = BinaryHeap::new();
        for (at, share) in starts.iter().filter(|(_, share)| *share > 0.0) {
            let reached = Reached { cost: -share.ln(), id: nodes[*at], from: None };
            queue.push(Reverse((reached, *at, *at, None)));
        }
        while let Some(Reverse((reached, at, origin, before))) = queue.pop() {
            let slot = match &ways[at] {
                [None, _] => 0,
                [Some(first), None] if first.origin != origin => 1,
                _ => continue,
            };
            ways[at][slot] = Some(Step { origin, before });
            for (to, share) in edges(at).iter().filter(|(_, share)| *share > 0.0) {
                let cost = reached.cost - (GOES_ON * share).ln();
                let next = Reached { cost, id: nodes[*to], from: Some(reached.id) };
                queue.push(Reverse((next, *to, origin, Some((at, slot)))));
            }
        }
        Self(ways)
    }

    /// Returns the positions of the nodes on the likeliest way to a node that begins elsewhere; `None` if there is none.
    pub fn to(&self, at: usize) -> Option<Vec<usize>> {
        let end = self.0[at].iter().flatten().find(|step| step.origin != at)?;
        let mut way = vec![at];
        let mut before = end.before;
        while let Some((node, slot)) = before {
            way.push(node);
            before = self.0[node][slot].and_then(|step| step.before);
        }
        way.reverse();
        Some(way)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::item::RowId;

    fn node(row: u32) -> NodeId {
        NodeId::Item(RowId(row))
    }

    /// The likeliest way over edges (from, to, share), as row numbers.
    fn check(starts: &[(u32, f64)], target: u32, edges: &[(u32, u32, f64)], expected: Option<&[u32]>) {
        let starts: Vec<_> = starts.iter().map(|(row, share)| (node(*row), *share)).collect();
        let of = |from: NodeId| {
            let ways = edges.iter().filter(|edge| node(edge.0) == from);
            Ok(ways.map(|edge| (node(edge.1), edge.2)).collect())
        };
        let found = likeliest(&starts, node(target), 100, of).unwrap();
        let expected = expected.map(|rows| rows.iter().map(|row| node(*row)).collect::<Vec<_>>());
        assert_eq!(found, expected);
    }

    #[test]
    fn the_likeliest_way_wins_and_of_equals_the_one_over_lower_nodes() {
        // Two steps of .9 (.85 * .9)^2 = .585 beat one of .5 (.425).
        let edges = [(1, 3, 0.5), (1, 2, 0.9), (2, 3, 0.9)];
        check(&[(1, 1.0)], 3, &edges, Some(&[1, 2, 3]));
        // A likely start beats a short way: .9 * .425 against .1 * .765.
        check(&[(1, 0.9), (2, 0.1)], 3, &[(1, 3, 0.5), (2, 3, 0.9)], Some(&[1, 3]));
        let equal = [(1, 5, 0.5), (1, 4, 0.5), (5, 3, 1.0), (4, 3, 1.0)];
        check(&[(1, 1.0)], 3, &equal, Some(&[1, 4, 3]));
        // A circle ends, and a start is a way to itself.
        check(&[(1, 1.0)], 3, &[(1, 2, 1.0), (2, 1, 1.0)], None);
        check(&[(3, 1.0)], 3, &[], Some(&[3]));
        check(&[(1, 1.0)], 2, &[(1, 2, 0.0)], None);
    }

    #[test]
    fn the_number_of_expanded_nodes_is_bounded() {
        let chain = |from: NodeId| match from {
            NodeId::Item(RowId(row)) => Ok(vec![(node(row + 1), 1.0)]),
            NodeId::Entity(_) => Ok(Vec::new()),
        };
        assert_eq!(
            likeliest(&[(node(0), 1.0)], node(50), 100, chain).unwrap().map(|way| way.len()),
            Some(51)
        );
        assert_eq!(likeliest(&[(node(0), 1.0)], node(500), 100, chain).unwrap(), None);
    }

    proptest! {
        /// One search from all starts gives what a search for each node from the other starts gives.
        #[test]
        fn ways_to_all_nodes_are_those_to_each_of_them(
            starts in proptest::collection::btree_map(0_usize..12, 1_u32..50, 1..5),
            edges in proptest::collection::btree_map((0_usize..12, 0_usize..12), 1_u32..50, 0..40),
        ) {
            let nodes: Vec<NodeId> = (0..12).map(node).collect();
            let starts: Vec<(usize, f64)> = starts.iter().map(|(at, share)| (*at, f64::from(*share) / 64.0)).collect();
            let mut of_node: Vec<Vec<(usize, f64)>> = vec![Vec::new(); 12];
            for ((from, to), share) in &edges {
                of_node[*from].push((*to, f64::from(*share) / 64.0));
            }
            let ways = Ways::find(&nodes, &starts, |at| &of_node[at]);
            for to in 0..12 {
                let others: Vec<_> =
                    starts.iter().filter(|(at, _)| *at != to).map(|(at, share)| (nodes[*at], *share)).collect();
                let of = |id: NodeId| {
                    let at = nodes.iter().position(|one| *one == id).unwrap();
                    Ok(of_node[at].iter().map(|(to, share)| (nodes[*to], *share)).collect())
                };
                let expected = likeliest(&others, nodes[to], usize::MAX, of).unwrap();
                let found = ways.to(to).map(|way| way.into_iter().map(|at| nodes[at]).collect::<Vec<_>>());
                let cost = |way: &Option<Vec<NodeId>>| way.as_ref().map(|way| {
                    let place = |id: &NodeId| nodes.iter().position(|one| one == id).unwrap();
                    let start = starts.iter().find(|(at, _)| *at == place(&way[0])).unwrap().1;
                    way.windows(2).fold(start, |all, step| {
                        let edge = of_node[place(&step[0])].iter().find(|(to, _)| *to == place(&step[1])).unwrap();
                        all * GOES_ON * edge.1
                    })
                });
                prop_assert_eq!(found.is_some(), expected.is_some());
                if let (Some(one), Some(other)) = (cost(&found), cost(&expected)) {
                    prop_assert!((one - other).abs() <= 1e-9 * one, "{:?} and {:?}", found, expected);
                }
            }
        }
    }
}
