//! Measures the detection of communities in a graph from a list of edges: modularity and CPU time, cold and warm.
//! `tools/communities.py` compares the modularity with that of another program.

use std::path::Path;

use bower_core::parts::graph::{CommunityLevel, CommunityOptions, WeightedGraph, detect_communities};
use serde_json::{Value, json};

use crate::gauge::process_cpu_s;
use crate::options::{Failed, Options, Verdict};
use crate::tokens::Dice;

/// Limit for a graph of at most this many nodes and edges, in CPU seconds.
const LIMIT: (u32, usize, f64) = (100_000, 500_000, 4.0);
/// One of so many edges is removed, and as many are added, so that 2 % change.
const CHANGED: usize = 100;

type Edge = (u32, u32, f32);

/// Detects the communities of the graph in `options.data`: lines of two nodes and perhaps a weight, after `# nodes N` where the
/// last nodes have no edge. Prints one line of JSON, and writes the community of each node into the file of that name with
/// `.communities` behind it, one a line.
///
/// It measures a run from nothing, then both kinds of run on the graph with 2 % of its edges changed.
pub fn run(options: &Options) -> Result<Verdict, Failed> {
    let (nodes, mut edges) = read(&options.data)?;
    let detect = CommunityOptions {
        resolution: options.resolution,
        seed: options.seed,
        ..CommunityOptions::default()
    };
    let (cold, cold_s) = timed(nodes, &edges, &detect)?;
    let first = cold.first().ok_or("there is no level")?;
    let mut path = options.data.clone().into_os_string();
    path.push(".communities");
    let lines: Vec<String> = first.of_node.iter().map(u32::to_string).collect();
    std::fs::write(path, lines.join("\n"))?;

    let mut dice = Dice(options.seed);
    let count = edges.len() / CHANGED;
    for _ in 0..count {
        edges.swap_remove(dice.next() as usize % edges.len());
    }
    let mut node = || (dice.next() % u64::from(nodes)) as u32;
    edges.extend((0..count).map(|_| (node(), node(), 1.0)));
    let warm = CommunityOptions { previous: Some(&first.of_node), ..detect };
    let (changed_cold, changed_cold_s) = timed(nodes, &edges, &detect)?;
    let (changed_warm, changed_warm_s) = timed(nodes, &edges, &warm)?;

    let is_limited = nodes <= LIMIT.0 && edges.len() <= LIMIT.1;
    println!(
        "{}",
        json!({
            "nodes": nodes,
            "edges": edges.len(),
            "resolution": options.resolution,
            "limit_cpu_s": is_limited.then_some(LIMIT.2),
            "cold": figures(&cold, cold_s),
            "changed_cold": figures(&changed_cold, changed_cold_s),
            "changed_warm": figures(&changed_warm, changed_warm_s),
        })
    );
    Ok(Verdict::of(!is_limited || cold_s.max(changed_cold_s).max(changed_warm_s) <= LIMIT.2))
}

fn timed(
    nodes: u32,
    edges: &[Edge],
    options: &CommunityOptions<'_>,
) -> Result<(Vec<CommunityLevel>, f64), Failed> {
    let start = process_cpu_s();
    let levels = detect_communities(&WeightedGraph::new(nodes, edges)?, options)?;
    Ok((levels, process_cpu_s() - start))
}

fn figures(levels: &[CommunityLevel], cpu_s: f64) -> Value {
    json!({
        "modularity": levels.first().map(|level| level.modularity),
        "communities": levels.first().map(|level| level.count),
        "levels": levels.iter().map(|level| level.count).collect::<Vec<_>>(),
        "cpu_s": cpu_s,
    })
}

fn read(path: &Path) -> Result<(u32, Vec<Edge>), Failed> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut nodes = 0;
    let mut edges = Vec::new();
    for (line, at) in text.lines().zip(1..) {
        let wrong = || format!("{}:{at}: not two nodes and perhaps a weight", path.display());
        if let Some(comment) = line.strip_prefix('#') {
            if let Some(count) = comment.trim().strip_prefix("nodes ") {
                nodes = nodes.max(count.trim().parse().map_err(|_| wrong())?);
            }
            continue;
        }
        let mut words = line.split_whitespace();
        let mut node = || words.next().and_then(|word| word.parse::<u32>().ok());
        let (one, two) = node().zip(node()).ok_or_else(wrong)?;
        let weight = words.next().map_or(Ok(1.0), str::parse).map_err(|_| wrong())?;
        nodes = nodes.max(one.max(two).checked_add(1).ok_or_else(wrong)?);
        edges.push((one, two, weight));
    }
    if edges.is_empty() {
        return Err(format!("{} has no edges; name a list of edges with --data", path.display()).into());
    }
    Ok((nodes, edges))
}
