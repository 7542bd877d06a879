#!/usr/bin/env python3
"""Compares the communities that Bowerbird detects with those of PyPI's leidenalg, on three graphs made from a seed.

    scripts/communities.sh target/debug/bower-bench     # installs leidenalg below target/ and runs this
    tools/communities.py --bench target/release/bower-bench [--seed N] [--folder DIR] [--graph NAME]

Each graph is written as a list of edges and given to `bower-bench communities`. python-igraph computes the modularity of its
result, and of leidenalg's (2 iterations, its default). At each resolution ours may be lower by .005 at most. It exits with 1 if one
is, if a community is disconnected, or if bower-bench reports a missed limit. leidenalg and igraph are under the GPL: they run here,
and no part of Bowerbird is linked with them.
"""

import argparse
import itertools
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# How much lower the modularity may be than leidenalg's.
MARGIN = 0.005
RESOLUTIONS = (1.0, 0.5)


def power_law(dice, nodes=100_000, edges=490_000, exponent=2.5, inner=0.75):
    """Chung and Lu's model in groups: degrees and sizes of groups follow power laws, and a share `inner` of the edges is inside of one."""
    weights = [(at + 10) ** (-1 / (exponent - 1)) for at in range(nodes)]
    groups = []
    left = list(range(nodes))
    dice.shuffle(left)
    while left:
        size = min(len(left), int(20 * dice.paretovariate(1.0)), nodes // 20)
        groups.append(left[-size:])
        del left[-size:]
    group = {node: at for at, members in enumerate(groups) for node in members}
    sums = [list(itertools.accumulate(weights[node] for node in members)) for members in groups]
    found = set()
    ends = iter(dice.choices(range(nodes), weights, k=2 * edges))
    for one, two in zip(ends, ends):
        if dice.random() < inner:
            at = group[one]
            two = dice.choices(groups[at], cum_weights=sums[at])[0]
        found.add(edge(one, two))
    return nodes, found


def planted(dice, nodes=100_000, edges=497_000, size=100, inner=0.72):
    """Groups of `size` nodes, with a share `inner` of the edges inside of one."""
    groups = nodes // size
    found = set()
    for _ in range(edges):
        one = dice.randrange(nodes)
        two = one % groups + groups * dice.randrange(size) if dice.random() < inner else dice.randrange(nodes)
        found.add(edge(one, two))
    return nodes, found


def vault(dice, nodes=749, edges=1_850):
    """Notes of some folders: each links to earlier notes, mostly of its folder, and often to what is much linked already."""
    folder = [dice.randrange(12) for _ in range(nodes)]
    linked = [[at for at in range(nodes) if folder[at] == one][:1] for one in range(12)]
    found = set()
    while len(found) < edges:
        one = dice.randrange(nodes)
        where = folder[one] if dice.random() < 0.8 else dice.randrange(12)
        two = dice.choice(linked[where]) if linked[where] and dice.random() < 0.5 else dice.randrange(nodes)
        if one != two:
            found.add(edge(one, two))
            linked[folder[two]].append(two)
    return nodes, found


def edge(one, two):
    return min(one, two), max(one, two)


# Edges that are drawn twice count once, so the first two graphs have about 435,000 and 481,000.
GRAPHS = {"power-law": power_law, "planted": planted, "vault": vault}


def ours(bench, path, resolution, seed):
    """Runs `bower-bench communities`; returns its figures and the community of each node."""
    command = [bench, "communities", "--data", path, "--resolution", resolution, "--seed", seed]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{bench} communities failed with {done.returncode}")
    of_node = [int(line) for line in Path(f"{path}.communities").read_text().split()]
    return done.returncode == 0, json.loads(done.stdout), of_node


def compare(name, bench, folder, seed):
    """Compares both on one graph; returns whether ours is good enough at every resolution."""
    import igraph
    import leidenalg

    nodes, edges = GRAPHS[name](random.Random(f"{name} {seed}"))
    edges = sorted(one for one in edges if one[0] != one[1])
    path = folder / f"{name}.edges"
    path.write_text(f"# nodes {nodes}\n" + "".join(f"{one} {two}\n" for one, two in edges))
    graph = igraph.Graph(n=nodes, edges=edges)
    good = True
    for resolution in RESOLUTIONS:
        start = time.process_time()
        theirs = leidenalg.find_partition(
            graph, leidenalg.RBConfigurationVertexPartition, resolution_parameter=resolution, seed=seed
        )
        seconds = time.process_time() - start
        within_limit, figures, of_node = ours(bench, path, resolution, seed)
        wanted = graph.modularity(theirs.membership, resolution=resolution)
        got = graph.modularity(of_node, resolution=resolution)
        clusters = igraph.VertexClustering(graph, of_node)
        parts = sum(len(one.connected_components()) for one in clusters.subgraphs())
        wrong = []
        if got < wanted - MARGIN:
            wrong.append(f"the modularity is lower by {wanted - got:.4f}")
        if abs(got - figures["cold"]["modularity"]) > 1e-6:
            wrong.append(f"bower-bench says {figures['cold']['modularity']:.6f}, igraph {got:.6f}")
        if parts != len(clusters):
            wrong.append(f"{len(clusters)} communities have {parts} connected parts")
        if not within_limit:
            wrong.append("a limit is missed")
        good = good and not wrong
        print(
            f"{name:10} {nodes:7} nodes {len(edges):7} edges, resolution {resolution}: "
            f"ours {got:.4f} ({figures['cold']['cpu_s']:.2f} s, {figures['cold']['communities']} communities), "
            f"leidenalg {wanted:.4f} ({seconds:.2f} s, {len(theirs)}); 2 % of edges changed: "
            f"cold {figures['changed_cold']['modularity']:.4f} ({figures['changed_cold']['cpu_s']:.2f} s), "
            f"warm {figures['changed_warm']['modularity']:.4f} ({figures['changed_warm']['cpu_s']:.2f} s): "
            f"{'; '.join(wrong) or 'ok'}",
            flush=True,
        )
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bench", type=Path, required=True, help="the program bower-bench")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where the graphs are written; else a temporary folder")
    parser.add_argument("--graph", choices=GRAPHS, action="append", help="only this one; also several")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        results = [compare(name, options.bench.resolve(), folder, options.seed) for name in options.graph or GRAPHS]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
