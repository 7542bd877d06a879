"""The comparison's own test: its arithmetic by hand, its report on a small made-up input, and that every peer keeps the shape."""
import array
import ast
import gzip
import importlib
import importlib.util
import json
import math
import pathlib
import sys
import tempfile
import types
import unittest
import xml.etree.ElementTree as xml

HERE = pathlib.Path(__file__).parent / 'peers'
sys.path.insert(0, str(HERE))
import figures  # noqa: E402
import golden_packed  # noqa: E402
import inputs  # noqa: E402
import minilm_onnx  # noqa: E402
import onnx_speed  # noqa: E402
import report  # noqa: E402
import run  # noqa: E402
import worker  # noqa: E402
from adapters import base  # noqa: E402


def measured(p50, recall=None, setting=None, p99=None):
    return {'setting': setting or {}, 'recall': recall, 'p50_ms': p50, 'p95_ms': 2 * p50, 'p99_ms': p99 or 4 * p50, 'cpu_ms': p50,
            'queries': 100, 'rounds': 3}


OURS = {
    'peer': 'bowerbird', 'title': 'Bowerbird', 'error': None, 'items': 1000, 'versions': {'bower': '0.1.0'}, 'settings': {},
    'build': {'load_s': 1.5, 'load_cpu_s': 2, 'build_s': .5, 'build_cpu_s': 1, 'disk_bytes': 20_000_000},
    'warm': {'one': {'peak_rss_bytes': 80_000_000, 'open_ms': 1, 'failed': {}, 'hybrid': [measured(.5, .995)],
                     'vector': [measured(.2, .995)], 'text': [measured(.1)], 'filtered': [measured(.02, 1.0)]}},
    'cold': {'kind': 'hybrid', 'wall_ms': 10.0, 'cpu_ms': 8, 'answer_ms': 9, 'peak_rss_bytes': 40_000_000, 'floor_ms': 1,
             'runs': 7},
}
THEIRS = {
    'peer': 'pail', 'title': 'Pail', 'error': None, 'items': 1000, 'versions': {'pail': '2.0'}, 'settings': {'index': 'HNSW'},
    'build': {'load_s': 10.0, 'load_cpu_s': 9, 'build_s': 30.0, 'build_cpu_s': 29, 'disk_bytes': 50_000_000},
    'warm': {'one': {'peak_rss_bytes': 160_000_000, 'open_ms': 30, 'failed': {'text': 'ValueError: no words'},
                     'hybrid': [measured(1.0, .91), measured(2.5, .992, {'ef': 64})],
                     'vector': [measured(.4, .91), measured(.3, .8, {'ef': 8}), measured(1.0, .992, {'ef': 64})],
                     'filtered': [measured(4.0, .5), measured(6.0, .7, {'ef': 64})]}},
    'cold': {'kind': 'hybrid', 'wall_ms': 250.0, 'cpu_ms': 200, 'answer_ms': 240, 'peak_rss_bytes': 120_000_000, 'floor_ms': 15,
             'runs': 7},
}
BROKEN = {'peer': 'sieve', 'title': 'Sieve', 'error': 'not installed: no wheel', 'items': None, 'build': None, 'warm': {},
          'cold': None}


class FiguresTest(unittest.TestCase):
    def test_percentiles_are_values_that_were_measured(self):
        values = [15, 20, 35, 40, 50]  # the nearest-rank example of Wikipedia's page on percentiles
        self.assertEqual([figures.percentile(values, percent) for percent in (5, 30, 40, 50, 100)], [15, 20, 20, 35, 50])
        self.assertEqual(figures.percentile([7], 99), 7)
        self.assertIsNone(figures.percentile([], 50))

    def test_recall_is_the_share_of_the_truth(self):
        self.assertEqual(figures.recall([1, 2, 3], [1, 2, 3, 4], .5), .75)
        self.assertEqual(figures.recall([9, 8], [1, 2], .5), 0)
        self.assertEqual(figures.recall([1, 1, 1], [1, 2, 3], .5), 1 / 3)  # once each
        self.assertEqual(figures.recall([], [], .5), 1)  # nothing to find

    def test_a_row_that_scores_as_well_as_the_truth_is_true(self):
        scores = {1: .9, 2: .5, 3: .5, 4: .4}
        self.assertEqual(figures.recall([1, 3], [1, 2], .5, scores.get), 1)
        self.assertEqual(figures.recall([1, 4], [1, 2], .5, scores.get), .5)
        self.assertEqual(figures.recall([1, 2, 3], [1, 2], .5, scores.get), 1)  # never above one

    def test_a_summary_is_the_least_of_the_rounds(self):
        rounds = [[1, 2, 3, 100], [2, 2, 3, 4]]
        self.assertEqual(figures.summary(rounds), {'p50_ms': 2, 'p95_ms': 4, 'p99_ms': 4})

    def test_the_fastest_with_enough_recall_is_chosen(self):
        self.assertEqual(figures.tuned(THEIRS['warm']['one']['vector'])['setting'], {'ef': 64})
        self.assertEqual(figures.tuned([measured(3, .999), measured(1, .9901), measured(2, .95)])['p50_ms'], 1)
        self.assertEqual(figures.tuned(THEIRS['warm']['one']['filtered'])['recall'], .7)  # none has enough: the most
        self.assertEqual(figures.tuned([measured(2), measured(1)])['p50_ms'], 1)
        self.assertIsNone(figures.tuned([]))
        self.assertIsNone(figures.tuned(None))


class InputTest(unittest.TestCase):
    def test_a_folder_is_read_as_it_is_described(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / 'passages.jsonl').write_text('{"_id": "a", "title": "Tea", "text": "Wärme"}\n', encoding='utf8')
            (path / 'queries.jsonl').write_text('{"text": "one"}\n{"text": "two"}\n', encoding='utf8')
            floats = [array.array('f', [at] * inputs.DIMENSIONS) for at in (1, 2, 3)]
            (path / 'vectors.f32').write_bytes(b''.join(one.tobytes() for one in floats))
            (path / 'queries.f32').write_bytes(b''.join(one.tobytes() for one in floats))
            source = inputs.Input(folder)
            self.assertEqual(source.queries(), ['one', 'two'])
            self.assertEqual(source.count(), 3)
            self.assertEqual(source.text_bytes(), 9)
            self.assertEqual(source.query_vector(1), floats[1])
            self.assertEqual(inputs.whole_text(source.passages()[0]), 'Tea\nWärme')

    def test_a_lot_is_one_row_in_a_hundred(self):
        self.assertEqual([row for row in range(1000) if inputs.lot(row) == figures.LOT][:2], [7, 107])
        self.assertEqual(sum(inputs.lot(row) == figures.LOT for row in range(1000)), 10)


@unittest.skipUnless(importlib.util.find_spec('numpy'), 'truth.py needs numpy')
class TruthTest(unittest.TestCase):
    def test_the_nearest_are_found_across_blocks_and_ties_are_by_row(self):
        import numpy
        import truth

        angles = [.5, .1, .3, .1, .9, .2, .7]  # rows 1 and 3 are the same
        vectors = numpy.array([[math.cos(angle), math.sin(angle)] for angle in angles], dtype=numpy.float32)
        questions = numpy.array([[1, 0], [0, 1]], dtype=numpy.float32)
        block, spare = truth.BLOCK, truth.SPARE
        truth.BLOCK, truth.SPARE = 3, 1
        try:
            rows, scores = truth.nearest(vectors, questions, numpy.arange(7), k=3)
            some, _ = truth.nearest(vectors, questions, numpy.array([0, 2, 4]), k=3)
        finally:
            truth.BLOCK, truth.SPARE = block, spare
        self.assertEqual(rows, [[1, 3, 5], [4, 6, 0]])
        self.assertAlmostEqual(scores[0][2], math.cos(.2), places=6)
        self.assertEqual(some, [[2, 0, 4], [4, 0, 2]])


class WorkerTest(unittest.TestCase):
    def test_questions_are_timed_in_order_and_once_where_they_are_slow(self):
        asked = []

        def step(at):
            asked.append(at)
            return [at]

        got, found = worker.measure(step, 30, seconds=60, rounds=2)
        self.assertEqual(found, [[at] for at in range(30)])
        self.assertEqual((got['queries'], got['rounds']), (30, 2))
        self.assertEqual(len(asked), worker.WARM_UP + 60)
        got, found = worker.measure(step, 30, seconds=0, rounds=3)
        self.assertEqual((got['queries'], got['rounds']), (worker.LEAST, 1))

    def test_a_warm_run_walks_its_ladder_until_it_finds_enough(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / 'queries.jsonl').write_text('{"text": "one"}\n' * 12)
            (path / 'queries.f32').write_bytes(b'\0' * 4 * inputs.DIMENSIONS * 12)
            rows = [[0, 1]] * 12
            scores = [[.9, .8]] * 12
            (path / 'exact.json').write_text(json.dumps(
                {'k': 2, 'rows': rows, 'scores': scores, 'filtered': {'lot': 7, 'rows': rows, 'scores': scores}}))
            numbers = types.SimpleNamespace(vectors=lambda: Zeros(), query_vectors=lambda: Zeros())
            source = inputs.Input(folder)
            source.vectors, source.query_vectors = numbers.vectors, numbers.query_vectors
            saved = []
            got = worker.warm(Ladder(folder), source, 60, saved.append)
        self.assertEqual([(one['setting'], one['recall']) for one in got['vector']], [({}, 0), ({'ef': 1}, .5), ({'ef': 2}, 1)])
        self.assertEqual([one['setting'] for one in got['hybrid']], [{}, {'ef': 2}])
        self.assertEqual(got['hybrid'][1]['recall'], 1)
        self.assertEqual(got['failed'], {'text': 'ValueError: no words'})
        self.assertNotIn('filtered', got)
        self.assertGreaterEqual(len(saved), 3)  # what an interrupted process leaves


class Zeros:
    def __getitem__(self, at):
        return self

    def __matmul__(self, other):
        return 0.0


class Ladder(base.Peer):
    """Finds as many of rows 0 and 1 as its setting says, and knows no words."""

    CAN = ('hybrid', 'vector', 'text')
    LADDER = tuple({'ef': ef} for ef in (1, 2, 3))

    def open(self):
        pass

    def vector(self, vector, setting):
        return [0, 1][:setting.get('ef', 0)]

    def hybrid(self, text, vector, setting):
        return self.vector(vector, setting)

    def text(self, text):
        raise ValueError('no words')


class AdapterTest(unittest.TestCase):
    def test_every_peer_is_described_without_its_library(self):
        for name in run.PEERS:
            with self.subTest(name):
                if name == 'qmd':
                    self.assertTrue((HERE / 'qmd_worker.mjs').exists())
                    continue
                tree = ast.parse((HERE / 'adapters' / f'{name}.py').read_text(encoding='utf8'))
                self.assertIn('Peer', [node.name for node in tree.body if isinstance(node, ast.ClassDef)])
                if name == 'sqlite_vec':  # needs an interpreter that loads extensions, or its package
                    continue
                peer = importlib.import_module(f'adapters.{name}').Peer('somewhere')
                self.assertEqual(peer.NAME, name)
                self.assertTrue(set(peer.CAN) <= {'hybrid', 'vector', 'text', 'filtered'})
                for kind in peer.CAN:
                    self.assertIsNot(getattr(type(peer), kind), getattr(base.Peer, kind), f'{name} says it can {kind}')
                self.assertTrue(peer.about(1000)['index'])

    def test_every_environment_has_its_pinned_versions(self):
        for home in [*(home for home, _ in run.PEERS.values()), 'onnx']:
            path = HERE / 'requirements' / ('qmd/package.json' if home == 'qmd' else f'{home}.txt')
            text = path.read_text()
            if home == 'qmd':
                self.assertIn('@tobilu/qmd', json.loads(text)['dependencies'])
            else:
                for line in text.splitlines():
                    self.assertRegex(line, r'^[A-Za-z0-9_.-]+==[0-9][0-9A-Za-z.+]*$')

    def test_questions_become_words(self):
        self.assertEqual(base.words('What is the "GIL" in C_API? the gil'), ['gil', 'c_api'])
        self.assertEqual(base.words('To be or not to be'), ['to', 'be', 'or', 'not'])
        self.assertEqual(base.words('?!'), [])


class RunTest(unittest.TestCase):
    def test_what_is_not_installed_is_said_in_the_result(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / 'failed').mkdir()
            (path / 'failed' / 'chroma').write_text('no wheel for this machine\n')
            given = types.SimpleNamespace(envs=path, work=path / 'work', input=path, timeout=600, seconds=1, keep=False)
            got = run.Run('chroma', given).measure()
        self.assertEqual(got['error'], 'not installed: no wheel for this machine')
        self.assertEqual((got['peer'], got['title'], got['warm']), ('chroma', 'Chroma', {}))


    def test_a_peer_is_not_given_more_rows_than_it_advises(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            python = path / 'qdrant_local' / 'bin' / 'python'
            python.parent.mkdir(parents=True)
            python.write_text('')
            with open(path / 'vectors.f32', 'wb') as file:  # a hole: 20,001 rows without their bytes
                file.truncate(20_001 * 4 * inputs.DIMENSIONS)
            given = types.SimpleNamespace(envs=path, work=path / 'work', input=path, timeout=600, seconds=1, keep=False)
            got = run.Run('qdrant_local', given).measure()
        self.assertEqual(got['error'], 'not measured: it advises against more than 20,000 rows itself')
        self.assertEqual(got['items'], 20_001)


def rounds(*walls):
    """Rounds of (ours, float32, int8) wall seconds; processor time is twice as much, the model's share .9."""
    return [{'bowerbird': {'wall_s': ours, 'cpu_s': 2 * ours, 'model_share': .9, 'model_s': .9 * ours},
             'float32': {'wall_s': float32, 'cpu_s': 2 * float32, 'load_s': .1},
             'int8': {'wall_s': int8, 'cpu_s': 2 * int8, 'load_s': .1}} for ours, float32, int8 in walls]


SAME_MODEL = {
    'items': 1000, 'tokens': 203_400, 'rows': 1060, 'machine': {'cpus': 2, 'model': 'Some'}, 'load_average': .1,
    'versions': {'bower': '0.1.0', 'onnxruntime': '1.2.3'},
    'settings': {'float32': {'batch': 8, 'at_once': 1, 'padding': .0123}, 'int8': {'batch': 1, 'at_once': 2, 'padding': 0.0}},
    'cosine_to_float32': {'bowerbird': {'mean': .99931, 'least': .9981}, 'int8': {'mean': .9936, 'least': .98}},
    'rounds': rounds((12, 30, 16), (10, 35, 15), (11, 25, 20)),
    'summary': onnx_speed.summary(rounds((12, 30, 16), (10, 35, 15), (11, 25, 20)), 1000),
}


class SameModelTest(unittest.TestCase):
    def test_a_long_text_is_read_in_few_equal_rows(self):
        # The lengths that the test of `split` in embed/minilm.rs has.
        for pieces, lengths in ((0, [0]), (1, [1]), (254, [254]), (255, [127, 128]), (508, [254, 254]), (509, [169, 170, 170])):
            rows = minilm_onnx.windows(list(range(pieces)))
            self.assertEqual([len(row) for row in rows], lengths)
            self.assertEqual(sum(rows, []), list(range(pieces)))

    def test_passages_are_different_and_neither_short_nor_long(self):
        texts = ['x' * 199, 'a' * 200, 'y' * 1201, 'a' * 200, 'b' * 1200, 'c' * 300]
        lines = ''.join(json.dumps({'title': 'Two \n words', 'text': text}) + '\n' for text in texts)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / 'some.jsonl').write_text(lines, encoding='utf8')
            (path / 'some.jsonl.gz').write_bytes(gzip.compress(lines.encode()))
            for name in ('some.jsonl', 'some.jsonl.gz'):
                got = onnx_speed.passages(path / name, 2)
                self.assertEqual(got, [f'# Two words\n\n{text}\n' for text in ('a' * 200, 'b' * 1200)])
            with self.assertRaisesRegex(onnx_speed.Failed, 'only 3 passages of 4'):
                onnx_speed.passages(path / 'some.jsonl', 4)

    def test_a_file_is_named_by_its_row(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            onnx_speed.write([f'text {row}' for row in range(501)], path)
            self.assertEqual((path / '000' / '000499.md').read_text(), 'text 499')
            self.assertEqual([file.name for file in (path / '001').iterdir()], ['000500.md'])

    def test_every_row_is_in_one_batch_beside_rows_of_its_length(self):
        lengths = [5, 9, 5, 7, 2]
        self.assertEqual(onnx_speed.batches(lengths, 2), [[1, 3], [0, 2], [4]])
        self.assertEqual(onnx_speed.batches(lengths, 1), [[1], [3], [0], [2], [4]])
        self.assertEqual(onnx_speed.padding(lengths, 1), 0)
        self.assertAlmostEqual(onnx_speed.padding(lengths, 2), 2 / 30)  # 28 tokens in 2 x 9, 2 x 5 and 2
        self.assertEqual(onnx_speed.padding([4, 4, 4], 32), 0)

    def test_one_processor_has_no_second_way(self):
        self.assertEqual([(one['batch'], one['at_once']) for one in onnx_speed.settings(2)],
                         [(1, 1), (8, 1), (32, 1), (1, 2), (8, 2), (32, 2)])
        self.assertEqual([one['at_once'] for one in onnx_speed.settings(1)], [1, 1, 1])

    def test_the_best_and_the_median_of_each_are_compared(self):
        got = SAME_MODEL['summary']
        self.assertEqual((got['int8']['best_s'], got['int8']['median_s'], got['int8']['cpu_s']), (15, 16, 30))
        self.assertEqual((got['int8']['best_ratio'], got['int8']['median_ratio'], got['int8']['cpu_ratio']), (1.5, 16 / 11, 1.5))
        self.assertEqual((got['bowerbird']['best_per_s'], got['float32']['median_per_s']), (100, 1000 / 30))
        self.assertEqual(got['model'], {'best_s': 9, 'share': .9})

    def test_the_report_ends_with_the_table_and_takes_it_for_no_peer(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            self.assertEqual(report.same_model(path), '')
            figures.write_json(path / 'bowerbird.json', OURS)
            figures.write_json(path / 'onnx.json', SAME_MODEL)
            self.assertEqual([one['peer'] for one in report.read(path)], ['bowerbird'])
            got = report.same_model(path)
        self.assertIn('\n### Indexing with the same model, 1,000 passages of 203 tokens\n', got)
        self.assertIn('| **Bowerbird**, all of `bower index` | 100 | 90.9 | 10.0 | 11.0 | 20.0 | .9993 | .9981 |\n'
                      '| of it the model | | | 9.00 | | | | |\n', got)
        self.assertIn('| onnxruntime, float32, embedding alone | 40.0 | 33.3 '
                      '| 25.0 (×2.50) | 30.0 (×2.73) | 50.0 (×2.50) | – | – |\n', got)
        self.assertIn('| 66.7 | 62.5 | 15.0 (×1.50) | 16.0 (×1.45) | 30.0 (×1.50) | .9936 | .9800 |\n', got)
        self.assertIn('float32: batches of 8, 1 at once, 1.2% padding; int8: batches of 1, 2 at once, 0.0% padding. '
                      'bower 0.1.0, ', got)

    def test_what_is_not_one_chunk_a_passage_is_not_measured(self):
        told = {'chunks_added': 3, 'embedded': 3, 'model_share': .9}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            program = path / 'bower'
            program.write_text(f"#!/bin/sh\ntest -d \"$BOWER_HOME\" && echo '{json.dumps({'data': told})}'\n")
            program.chmod(0o755)
            ours = onnx_speed.Ours(program, path / 'models', path)
            self.assertEqual(ours.measure(3)['model_share'], .9)
            with self.assertRaisesRegex(onnx_speed.Failed, '2 passages became 3 chunks'):
                ours.measure(2)

    @unittest.skipUnless(importlib.util.find_spec('numpy'), 'vectors need numpy')
    def test_a_text_of_several_rows_is_their_mean_by_tokens(self):
        import numpy

        batch = minilm_onnx.padded([[7, 8, 9], [5]])
        self.assertEqual(batch['ids'].tolist(), [[7, 8, 9], [5, 0, 0]])
        self.assertEqual(batch['mask'].tolist(), [[1, 1, 1], [1, 0, 0]])
        means = numpy.array([[1, 0], [0, 2], [0, 3]], dtype=numpy.float32)
        got = minilm_onnx.sentences(means, [3, 2, 9], [0, 0, 1], 2)  # the first is (3, 4) / 5
        numpy.testing.assert_allclose(got, [[.6, .8], [0, 1]], atol=1e-6)
        self.assertAlmostEqual(minilm_onnx.closeness(got, numpy.array([[1, 0], [0, 1]]))['least'], .6, places=6)


class Halves(unittest.TestCase):
    def test_packed_numbers_come_back(self):
        # Exponent 15 is none of the frequent: eleven ones for the escape, then 15 in five bits, lowest first.
        packed = bytes([1]) + bytes(8) + bytes(3) + b'\xff\x7f' * 8 + bytes(1)
        self.assertEqual(golden_packed.unpack(packed), b'\x00\x3c' * 8)  # 1.0
        self.assertEqual(golden_packed.unpack(b'\x00\x3c' * 8), b'\x00\x3c' * 8)

    def test_every_sequence_of_bits_is_a_code(self):
        self.assertEqual(sum(2.0 ** -len(code) for code in golden_packed.codes().values()), 1)


class ReportTest(unittest.TestCase):
    def test_numbers_have_three_digits(self):
        self.assertEqual([report.number(one) for one in (.0123, .5, 1.234, 12.34, 123.4, 1234.5, 0)],
                         ['.0123', '.500', '1.23', '12.3', '123', '1,234', '0'])

    def test_the_tables_hold_every_figure_with_its_ratio(self):
        got = report.markdown([OURS, THEIRS, BROKEN], 'one')
        self.assertIn('1,000 passages, one processor', got)
        # The setting with enough recall counts: 2.5 ms is 5 times .5; the filter never finds enough and says so.
        self.assertIn('| **Bowerbird** | .500 @.995 | 1.00 | 2.00 | .500 | .200 @.995 | .200 | .100 | .0200 @1.0 |\n', got)
        self.assertIn('| Pail | 2.50 @.992 (×5.00) | 5.00 (×5.00) | 10.0 (×5.00) | 2.50 (×5.00) | 1.00 @.992 (×5.00) '
                      '| 1.00 (×5.00) | – | 6.00 @.700 (×300) |\n', got)
        # 40 s against 2 s until it is ready, 38 against 3 of processor time; 50 MB against 20; 250 ms against 10, 200 against 8
        # of processor time; 120 MB against 40; 160 against 80.
        self.assertIn('| Pail | 10.0 (×6.67) | 30.0 (×60.0) | 40.0 (×20.0) | 38.0 (×12.7) | 50.0 (×2.50) | 250 (×25.0) '
                      '| 200 (×25.0) | 15.0 (×15.0) | 120 (×3.00) | 160 (×2.00) |\n', got)
        # Where nobody chose: 1.0 ms at .91, .4 ms at .91, 4 ms at .5.
        self.assertIn('| Pail | 1.00 @.910 (×2.00) | .400 @.910 (×2.00) | 4.00 @.500 (×200) |\n', got)
        self.assertIn('- Pail (pail 2.0). index: HNSW. vector: ef 64 (100 questions); filtered: ef 64 (100 questions); '
                      'hybrid: ef 64 (100 questions). text failed: ValueError: no words.\n', got)
        self.assertIn('- Sieve: not installed: no wheel\n', got)
        self.assertNotIn('| Sieve', got)

    def test_without_bowerbird_there_are_no_ratios(self):
        got = report.markdown([THEIRS], 'one')
        self.assertIn('| Pail | 2.50 @.992 | 5.00 |', got)
        self.assertNotIn('(×', got)

    def test_bowerbird_is_first_then_the_fastest(self):
        with tempfile.TemporaryDirectory() as folder:
            slow = THEIRS | {'peer': 'a-slow', 'warm': {'one': {'hybrid': [measured(9, .99)]}}}
            for one in (THEIRS, BROKEN, slow, OURS):
                figures.write_json(pathlib.Path(folder) / f"{one['peer']}.json", one)
            self.assertEqual([one['peer'] for one in report.read(pathlib.Path(folder))], ['bowerbird', 'pail', 'a-slow', 'sieve'])

    def test_the_picture_is_well_formed_and_names_everyone(self):
        named = THEIRS | {'title': 'Pail & <Spade>'}
        drawn = report.picture([OURS, named, BROKEN], 'one')
        words = [node.text for node in xml.fromstring(drawn).iter('{http://www.w3.org/2000/svg}text')]
        self.assertEqual(words.count('Pail & <Spade>'), 2)
        self.assertEqual(words.count('Bowerbird'), 2)
        self.assertNotIn('Sieve', words)
        self.assertEqual(report.decades([.3, 250]), (-1, 3))
        self.assertEqual(report.decades([10]), (1, 2))
        xml.fromstring(report.picture([], 'one'))


if __name__ == '__main__':
    unittest.main()
