"""Tests of the graphs that tools/communities.py makes; comparing needs leidenalg, and is scripts/communities.sh."""

import random
import unittest

import communities


class Graphs(unittest.TestCase):
    def test_a_seed_makes_the_same_graph_again(self):
        for name, sizes in {"power-law": (500, 900), "planted": (500, 900), "vault": (200, 400)}.items():
            first, second = (communities.GRAPHS[name](random.Random(name), *sizes) for _ in range(2))
            self.assertEqual(first, second)
            nodes, edges = first
            self.assertEqual(nodes, sizes[0])
            self.assertTrue(0.75 * sizes[1] < len(edges) <= sizes[1], (name, len(edges)))
            self.assertTrue(all(0 <= one <= two < nodes for one, two in edges))

    def test_planted_edges_are_mostly_inside_of_a_group(self):
        _, edges = communities.planted(random.Random(1), 1000, 3000, size=100, inner=0.9)
        inside = sum(one % 10 == two % 10 for one, two in edges)
        self.assertTrue(0.85 < inside / len(edges) < 0.95, inside / len(edges))


if __name__ == "__main__":
    unittest.main()
