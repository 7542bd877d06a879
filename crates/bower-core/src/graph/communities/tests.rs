//! Tests the detection of communities with values from arithmetic by hand and from publications, and for any graph.

use proptest::prelude::*;

use super::*;

type Edge = (u32, u32, f32);

/// Two triangles that the edge 2-3 connects.
const TRIANGLES: [Edge; 7] =
    [(0, 1, 1.0), (0, 2, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 4, 1.0), (3, 5, 1.0), (4, 5, 1.0)];

/// The friendships in a karate club (Zachary, "An information flow model for conflict and fission in small groups", 1977):
/// for each member those with a higher number.
const KARATE: [&[u32]; 33] = [
    &[1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31],
    &[2, 3, 7, 13, 17, 19, 21, 30],
    &[3, 7, 8, 9, 13, 27, 28, 32],
    &[7, 12, 13],
    &[6, 10],
    &[6, 10, 16],
    &[16],
    &[],
    &[30, 32, 33],
    &[33],
    &[],
    &[],
    &[],
    &[33],
    &[32, 33],
    &[32, 33],
    &[],
    &[],
    &[32, 33],
    &[33],
    &[32, 33],
    &[],
    &[32, 33],
    &[25, 27, 29, 32, 33],
    &[25, 27, 31],
    &[31],
    &[29, 33],
    &[33],
    &[31, 33],
    &[32, 33],
    &[32, 33],
    &[32, 33],
    &[33],
];

fn graph(nodes: u32, edges: &[Edge]) -> WeightedGraph {
    WeightedGraph::new(nodes, edges).unwrap()
}

fn karate() -> WeightedGraph {
    let edges = (0..).zip(KARATE).flat_map(|(one, others)| others.iter().map(move |two| (one, *two, 1.0)));
    graph(34, &edges.collect::<Vec<Edge>>())
}

fn at(resolution: f64) -> CommunityOptions<'static> {
    CommunityOptions { resolution, ..CommunityOptions::default() }
}

fn detect(graph: &WeightedGraph, options: &CommunityOptions<'_>) -> Vec<CommunityLevel> {
    detect_communities(graph, options).unwrap()
}

/// The first level at the default resolution.
fn first(graph: &WeightedGraph) -> CommunityLevel {
    detect(graph, &CommunityOptions::default()).swap_remove(0)
}

fn check_modularity(graph: &WeightedGraph, of_node: &[u32], resolution: f64, expected: f64) {
    let found = modularity(graph, of_node, resolution).unwrap();
    assert!((found - expected).abs() < 5e-5, "{found} is not {expected}");
}

/// `groups` groups of 25 nodes: node `n` belongs to group `n % groups`. A node has about eight edges inside of its group and two others.
fn planted(groups: u32) -> (WeightedGraph, Vec<u32>) {
    let nodes = 25 * groups;
    let mut state = 3;
    let mut below =
        |bound: u32| (bower_kernels::scan::rotate::splitmix(&mut state) % u64::from(bound)) as u32;
    let mut edges = Vec::new();
    for node in 0..nodes {
        for _ in 0..4 {
            edges.push((node, node % groups + groups * below(25), 1.0));
        }
        edges.push((node, below(nodes), 1.0));
    }
    (graph(nodes, &edges), (0..nodes).map(|node| node % groups).collect())
}

#[test]
fn modularity_is_as_computed_by_hand() {
    let triangles = graph(6, &TRIANGLES);
    // Each triangle has 3 of 7 edges inside, and degrees that sum to 7 of 14: 2 * (3/7 - 1/4) = 5/14.
    check_modularity(&triangles, &[7, 7, 7, 9, 9, 9], 1.0, 5.0 / 14.0);
    // Half of the second term: 2 * (3/7 - 1/8) = 17/28.
    check_modularity(&triangles, &[0, 0, 0, 1, 1, 1], 0.5, 17.0 / 28.0);
    // All edges inside: 1 - 1 and 1 - 1/2.
    check_modularity(&triangles, &[4; 6], 1.0, 0.0);
    check_modularity(&triangles, &[4; 6], 0.5, 0.5);
    // None inside: the degrees are 2, 2, 3, 3, 2, 2, so -(4 * 4 + 2 * 9) / 196.
    check_modularity(&triangles, &[0, 1, 2, 3, 4, 5], 1.0, -34.0 / 196.0);
    // Weights 3 and 1 in a row of three nodes, cut at the second edge: 3/4 - (7/8)^2 - (1/8)^2.
    check_modularity(&graph(3, &[(0, 1, 3.0), (1, 2, 1.0)]), &[0, 0, 1], 1.0, 0.75 - 50.0 / 64.0);
    check_modularity(&graph(3, &[]), &[0, 1, 2], 1.0, 0.0);
    assert!(modularity(&triangles, &[0; 5], 1.0).is_err());
}

#[test]
fn the_karate_club_has_its_published_communities() {
    let club = karate();
    assert_eq!(club.edges(), 78);
    // As the club split, by igraph.
    let second = [8, 9, 14, 15, 18, 20, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33];
    let split: Vec<u32> = (0..34).map(|node| u32::from(second.contains(&node))).collect();
    check_modularity(&club, &split, 1.0, 0.3715);
    // The highest possible is .4198, with four communities (Brandes et al., "On modularity clustering", 2008).
    for seed in 0..20 {
        let levels = detect(&club, &CommunityOptions { resolution: 1.0, seed, previous: None });
        assert_eq!(levels[0].count, 4, "seed {seed}");
        check_modularity(&club, &levels[0].of_node, 1.0, 0.4198);
    }
}

#[test]
fn planted_groups_are_found_and_joined_by_levels() {
    let (graph, groups) = planted(12);
    let levels = detect(&graph, &at(1.0));
    assert_eq!(levels[0].of_node, groups);
    let again = detect(&graph, &CommunityOptions { previous: Some(&groups), ..at(1.0) });
    assert_eq!(again, levels, "nothing is better than the groups");
    assert!(levels.len() > 1 && levels.last().unwrap().count < 12, "{levels:?}");
    for pair in levels.windows(2) {
        let parents = pair[0].parents(&pair[1]);
        let of_node: Vec<u32> = pair[0].of_node.iter().map(|one| parents[*one as usize]).collect();
        assert_eq!(of_node, pair[1].of_node);
    }
}

#[test]
fn graphs_without_structure_have_an_answer() {
    assert!(first(&graph(0, &[])).of_node.is_empty());
    assert_eq!(detect(&graph(0, &[]), &at(0.5)).len(), 1);
    assert_eq!(first(&graph(1, &[])).of_node, [0]);
    assert_eq!(first(&graph(1, &[(0, 0, 1.0)])).of_node, [0]);
    assert_eq!(first(&graph(3, &[])).of_node, [0, 1, 2]);
    // Two components, and a node alone between them.
    let two = graph(5, &[(0, 3, 1.0), (1, 4, 1.0)]);
    assert_eq!(first(&two).of_node, [0, 1, 2, 0, 1]);
    assert_eq!(detect(&two, &at(0.5)).len(), 1, "nothing is left to join");
    assert_eq!(connected_components(&two), [0, 1, 2, 0, 1]);
    let levels = detect(&karate(), &at(0.0));
    assert_eq!((levels.len(), levels[0].count), (1, 1), "at resolution 0 components stay whole");
}

#[test]
fn double_edges_are_added_and_loops_ignored() {
    let once = graph(3, &[(0, 1, 3.0), (1, 2, 1.0)]);
    let double = graph(3, &[(1, 0, 1.0), (2, 2, 9.0), (1, 2, 1.0), (0, 1, 2.0)]);
    assert_eq!(double.edges(), 2);
    let of_node = [0, 0, 1];
    assert_eq!(describe(&once, &of_node).unwrap(), describe(&double, &of_node).unwrap());
    assert_eq!(first(&once), first(&double));
}

#[test]
fn wrong_arguments_are_refused() {
    let message = |nodes, edge| WeightedGraph::new(nodes, &[edge]).unwrap_err().to_string();
    assert_eq!(message(2, (0, 2, 1.0)), "edge 0-2: the graph has 2 nodes, numbered from 0");
    for weight in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, 0.0] {
        let reason =
            format!("the weight {weight} is not a finite number above 0; leave the edge out or correct it");
        assert_eq!(message(2, (0, 1, weight)), format!("edge 0-1: {reason}"));
    }
    let triangles = graph(6, &TRIANGLES);
    for resolution in [f64::NAN, f64::INFINITY, -0.1] {
        assert!(detect_communities(&triangles, &at(resolution)).is_err());
    }
    let long = CommunityOptions { previous: Some(&[0; 7]), ..at(0.5) };
    let refused = detect_communities(&triangles, &long).unwrap_err().to_string();
    assert_eq!(refused, "previous partition: it has 7 nodes, the graph 6");
    assert!(describe(&triangles, &[0; 7]).is_err());
}

#[test]
fn an_earlier_partition_may_lack_nodes() {
    let (graph, groups) = planted(8);
    let mut previous = groups[..190].to_vec();
    previous[5] = CommunityOptions::NONE;
    previous[77] = CommunityOptions::NONE;
    let levels = detect(&graph, &CommunityOptions { previous: Some(&previous), ..at(1.0) });
    assert_eq!(levels[0].of_node, groups);
}

#[test]
fn a_community_is_described_by_its_edges() {
    let communities = describe(&graph(6, &TRIANGLES), &[5, 5, 5, 2, 2, 2]).unwrap();
    let member = |node| CommunityMember { node, inner_degree: 2.0 };
    let community = |nodes: [u32; 3]| Community {
        members: nodes.map(member).to_vec(),
        inner_edges: 3,
        inner_weight: 3.0,
        outer_edges: 1,
        outer_weight: 1.0,
    };
    assert_eq!(communities, [community([0, 1, 2]), community([3, 4, 5])]);
}

#[test]
fn most_small_graphs_have_the_best_of_all_partitions() {
    let mut state = 5;
    let mut best_found = 0;
    for _ in 0..100 {
        let mut below =
            |bound: u32| (bower_kernels::scan::rotate::splitmix(&mut state) % u64::from(bound)) as u32;
        let edges: Vec<Edge> = (0..12).map(|_| (below(7), below(7), 1.0)).collect();
        let graph = graph(7, &edges);
        let mut best = f64::MIN;
        each_partition(&mut vec![0], 7, &mut |of_node| {
            best = best.max(modularity(&graph, of_node, 1.0).unwrap());
        });
        let by_seed = |seed| detect(&graph, &CommunityOptions { seed, ..at(1.0) }).swap_remove(0).modularity;
        let found = (1..=5).map(by_seed).fold(f64::MIN, f64::max);
        assert!(found <= best + 1e-12);
        best_found += usize::from(found > best - 1e-12);
    }
    // The others have partitions that no move of one node and no join of two communities improves.
    assert!(best_found >= 90, "{best_found} of 100");
}

/// Calls `visit` with each partition of `nodes` nodes, numbered by lowest node, that begins with `of_node`.
fn each_partition(of_node: &mut Vec<u32>, nodes: usize, visit: &mut impl FnMut(&[u32])) {
    if of_node.len() == nodes {
        return visit(of_node);
    }
    let next = of_node.iter().max().map_or(0, |most| most + 1);
    for community in 0..=next {
        of_node.push(community);
        each_partition(of_node, nodes, visit);
        of_node.pop();
    }
}

#[test]
fn extreme_weights_are_sorted_out() {
    let extremes = [f32::MAX, f32::MIN_POSITIVE, 1e-45, 1.0];
    let edges: Vec<Edge> = (0..60_u32).map(|at| (at % 17, at * 7 % 23, extremes[at as usize % 4])).collect();
    for level in detect(&graph(23, &edges), &at(1.0)) {
        assert!(level.modularity.is_finite() && level.modularity <= 1.0);
    }
}

fn any_graph() -> impl Strategy<Value = (u32, Vec<Edge>)> {
    (1_u32..40).prop_flat_map(|nodes| {
        let edge = (0..nodes, 0..nodes, prop_oneof![Just(1.0_f32), 0.01_f32..10.0]);
        (Just(nodes), proptest::collection::vec(edge, 0..120))
    })
}

/// The modularity as a sum over all pairs of nodes: `(A - resolution * k * k' / 2m) / 2m` for those of one community.
fn modularity_of_pairs(nodes: u32, edges: &[Edge], of_node: &[u32], resolution: f64) -> f64 {
    let mut matrix = vec![vec![0.0; nodes as usize]; nodes as usize];
    for (one, two, weight) in edges.iter().filter(|edge| edge.0 != edge.1) {
        matrix[*one as usize][*two as usize] += f64::from(*weight);
        matrix[*two as usize][*one as usize] += f64::from(*weight);
    }
    let degrees: Vec<f64> = matrix.iter().map(|row| row.iter().sum()).collect();
    let total: f64 = degrees.iter().sum();
    if total == 0.0 {
        return 0.0;
    }
    let mut sum = 0.0;
    for (one, row) in matrix.iter().enumerate() {
        for (two, weight) in row.iter().enumerate().filter(|(two, _)| of_node[one] == of_node[*two]) {
            sum += (weight - resolution * degrees[one] * degrees[two] / total) / total;
        }
    }
    sum
}

proptest! {
    #[test]
    fn the_order_and_direction_of_edges_do_not_matter(
        ((nodes, edges), shuffled, flips) in any_graph().prop_flat_map(|(nodes, edges)| {
            let flips = proptest::collection::vec(any::<bool>(), edges.len());
            (Just((nodes, edges.clone())), Just(edges).prop_shuffle(), flips)
        })
    ) {
        let turned: Vec<Edge> =
            shuffled.iter().zip(flips).map(|(edge, flip)| if flip { (edge.1, edge.0, edge.2) } else { *edge }).collect();
        prop_assert_eq!(detect(&graph(nodes, &edges), &at(0.5)), detect(&graph(nodes, &turned), &at(0.5)));
    }

    #[test]
    fn levels_nest_and_communities_are_connected(
        (nodes, edges) in any_graph(), resolution in 0.0..3.0, seed: u64,
    ) {
        let graph = graph(nodes, &edges);
        let levels = detect(&graph, &CommunityOptions { resolution, seed, previous: None });
        for level in &levels {
            prop_assert_eq!(&weighted_graph::split(&graph, &level.of_node), &level.of_node, "connected, numbered by lowest node");
            let pairs = modularity_of_pairs(nodes, &edges, &level.of_node, level.resolution);
            prop_assert!((pairs - level.modularity).abs() < 1e-9, "{} is not {}", level.modularity, pairs);
            prop_assert_eq!(level.count, describe(&graph, &level.of_node).unwrap().len());
        }
        for pair in levels.windows(2) {
            prop_assert!(pair[1].count < pair[0].count);
            let parents = pair[0].parents(&pair[1]);
            let inside = |(one, two): (&u32, &u32)| parents[*one as usize] == *two;
            prop_assert!(pair[0].of_node.iter().zip(&pair[1].of_node).all(inside));
        }
    }

    #[test]
    fn a_warm_start_loses_nothing(
        (nodes, edges) in any_graph(), labels in proptest::collection::vec(0_u32..6, 40), seed: u64,
    ) {
        let graph = graph(nodes, &edges);
        let previous = &labels[..nodes as usize];
        let warm = |previous| detect(&graph, &CommunityOptions { seed, previous: Some(previous), ..at(0.5) }).swap_remove(0);
        let better = warm(previous);
        prop_assert!(better.modularity >= modularity(&graph, previous, 0.5).unwrap() - 1e-12);
        let cold = first(&graph);
        prop_assert!(warm(&cold.of_node).modularity >= cold.modularity - 1e-12);
    }

    #[test]
    fn components_are_those_of_a_matrix((nodes, edges) in any_graph()) {
        // The lowest node that each reaches, lowered until nothing changes.
        let mut lowest: Vec<u32> = (0..nodes).collect();
        for _ in 0..nodes {
            for (one, two, _) in &edges {
                let low = lowest[*one as usize].min(lowest[*two as usize]);
                (lowest[*one as usize], lowest[*two as usize]) = (low, low);
            }
        }
        prop_assert_eq!(connected_components(&graph(nodes, &edges)), numbered(&lowest).0);
    }
}
