"""What a power cut leaves, by hand."""
import os
import pathlib
import random
import shutil
import tempfile
import unittest

import faults


class Cuts(unittest.TestCase):
    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp()) / 'home'
        self.home.mkdir()
        self.file = str(self.home / 'a')
        pathlib.Path(self.file).write_bytes(b'before')

    def tearDown(self):
        shutil.rmtree(self.home.parent)

    def left(self, calls, seed):
        """The files of the home after these calls and a power cut."""
        shutil.rmtree(self.home)
        self.home.mkdir()
        pathlib.Path(self.file).write_bytes(b'before')
        disk = faults.Disk(self.home)
        disk.play(calls)
        disk.cut(random.Random(seed))
        return {name: (self.home / name).read_bytes() for name in os.listdir(self.home)}

    def test_what_was_synced_stays_and_the_rest_may_go(self):
        write, sync = ('w', self.file, '', 0, b'after.'), ('s', self.file, '', 0, b'')
        seeds = range(40)
        self.assertEqual({self.left([write, sync], seed)['a'] for seed in seeds}, {b'after.'})
        self.assertEqual({self.left([write], seed)['a'] for seed in seeds}, {b'before', b'after.'})

    def test_names_keep_their_order(self):
        new, other = str(self.home / 'b'), str(self.home / 'c')
        calls = [('c', new, '', 0, b''), ('w', new, '', 0, b'x'), ('s', new, '', 0, b''), ('r', new, self.file, 0, b''),
                 ('c', other, '', 0, b'')]
        found = {tuple(sorted((name, bytes(content)) for name, content in self.left(calls, seed).items())) for seed in range(80)}
        self.assertEqual(found, {(('a', b'before'), ('b', b'x')), (('a', b'x'),), (('a', b'x'), ('c', b''))})
        calls.append(('s', str(self.home), '', 0, b''))
        found = {tuple(sorted(self.left(calls, seed))) for seed in range(20)}
        self.assertEqual(found, {('a', 'c')})

    def test_a_write_tears_at_sectors(self):
        write = ('w', self.file, '', 0, bytes(range(256)) * 8)
        lengths, mixed = set(), 0
        for seed in range(200):
            content = self.left([write], seed)['a']
            parts = [content[at:at + 512] for at in range(0, len(content), 512)]
            whole = [part == write[4][at * 512:at * 512 + 512] for at, part in enumerate(parts)]
            mixed += any(whole) and not all(whole)
            lengths.add(len(content))
        self.assertGreater(mixed, 10)
        self.assertTrue(lengths <= {6, 512, 1024, 1536, 2048})


if __name__ == '__main__':
    unittest.main()
