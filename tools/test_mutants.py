"""Tests of tools/mutants.py."""
import io
import pathlib
import random
import sys
import tempfile
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import mutants


class Mutants(unittest.TestCase):
    def test_the_same_seed_makes_the_same_mutants(self):
        data = b'<p>One 1</p>\n<p>Two 22</p>\n' * 40
        made = [[mutants.mutated(data, random.Random(seed)) for seed in range(50)] for _ in range(2)]
        self.assertEqual(made[0], made[1])
        self.assertGreater(len(set(made[0])), 45)

    def test_a_changed_member_leaves_a_sound_archive(self):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, 'w') as archive:
            archive.writestr('a.xml', '<a>1</a>' * 20)
            archive.writestr('b.png', 'picture')
        for seed in range(20):
            changed = mutants.mutated_member(packed.getvalue(), random.Random(seed))
            with zipfile.ZipFile(io.BytesIO(changed)) as archive:
                self.assertIsNone(archive.testzip())
                self.assertEqual(archive.read('b.png'), b'picture')

    def test_files_are_found_by_what_they_are(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in ('a.md', 'b.1.gz', 'msg_07.txt', 'none', 'c.txt'):
                (root / name).write_text('x')
            (root / 'empty.md').touch()
            found = {key: [path.name for path in paths] for key, paths in mutants.sources([root], set()).items()}
            self.assertEqual(found, {'md': ['a.md'], '1': ['b.1.gz'], 'eml': ['msg_07.txt'], 'txt': ['c.txt']})


if __name__ == '__main__':
    unittest.main()
