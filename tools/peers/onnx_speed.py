#!/usr/bin/env python3
"""Indexing by Bowerbird beside the same model in onnxruntime, on the same passages, in one run.

    DIR/onnx/bin/python tools/peers/onnx_speed.py --passages FILE --work WORK [--count 1000] [--rounds 3]
                                                  [--bower target/release/bower] [--models target/model]

FILE is .jsonl or .jsonl.gz with title and text a line. Ours is all of `bower index`, from nothing to a compacted index; theirs
is the embedding alone: tokens, batches and vectors, with the file open and warm. Both use all processors and read the same
tokens. Writes WORK/onnx.json, of which report.py makes a table, and prints that table. WORK/onnx/ is removed at the end.
"""
import argparse
import gzip
import importlib.metadata
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import figures
import minilm_onnx
import run

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MODEL = 'all-MiniLM-L6-v2'
OURS, KINDS = 'bowerbird', ('float32', 'int8')
TITLES = {OURS: '**Bowerbird**, all of `bower index`', 'float32': 'onnxruntime, float32, embedding alone',
          'int8': 'onnxruntime, int8, embedding alone'}
# Passages as `bower-bench` takes them: a chunk each, in characters; and so many files in a folder.
SHORTEST, LONGEST, FOLDER = 200, 1_200, 500
BATCHES = (1, 8, 32)
TRIAL_SHARE = 4  # one passage in so many is enough to choose a setting
TRIAL_ROUNDS = 2
WARM_UP = 8  # texts
# ARCHITECTURE.md has .998 as the least cosine of ours to the exact pass: well below that it has read another text.
SAME_TEXT = .99


class Failed(Exception):
    """It could not be measured; the text says why."""


def passages(path, count):
    """The first different passages of a file, as the texts of the files that are indexed."""
    unpack = gzip.open if path.suffix == '.gz' else open
    found = {}
    with unpack(path, 'rt', encoding='utf8') as file:
        for line in file:
            passage = json.loads(line)
            if SHORTEST <= len(passage['text']) <= LONGEST:
                found[markdown(passage.get('title') or '', passage['text'])] = None
            if len(found) == count:
                return list(found)
    raise Failed(f'only {len(found)} passages of {count} in {path}; name another file or ask for fewer with --count')


def markdown(title, text):
    return f"# {' '.join(title.split())}\n\n{text}\n"


def write(texts, folder):
    """One file a passage, named by its row."""
    for row, text in enumerate(texts):
        part = folder / f'{row // FOLDER:03}'
        part.mkdir(parents=True, exist_ok=True)
        (part / f'{row:06}.md').write_text(text, encoding='utf8')


def settings(processors):
    """What is tried: sizes of a batch, and all processors on one batch or a batch for each of them."""
    ways = sorted({1, processors})
    return [{'batch': batch, 'at_once': at_once} for at_once in ways for batch in BATCHES]


def batches(lengths, size):
    """Rows in batches of neighbours in length, the longest first: little padding, and no long batch left for the end."""
    order = sorted(range(len(lengths)), key=lambda row: (-lengths[row], row))
    return [order[at:at + size] for at in range(0, len(order), size)]


def padding(lengths, size):
    """The share of the tokens that is only there to make batches rectangular."""
    computed = sum(len(batch) * lengths[batch[0]] for batch in batches(lengths, size))
    return 1 - sum(lengths) / computed


class Theirs:
    """One file in onnxruntime, open in one way."""

    def __init__(self, path, words, setting, processors):
        self.words, self.setting = words, setting
        start = time.perf_counter()
        self.session = minilm_onnx.session(path, processors // setting['at_once'])
        self.load_s = time.perf_counter() - start

    def embed(self, texts):
        """The vectors of texts."""
        import numpy

        ids, owners = self.words.rows(texts)
        lengths = [len(row) for row in ids]
        parts = batches(lengths, self.setting['batch'])
        means = numpy.empty((len(ids), minilm_onnx.HIDDEN), dtype=numpy.float32)

        def one(part):
            means[part] = self.session.run(['mean'], minilm_onnx.padded([ids[row] for row in part]))[0]

        if self.setting['at_once'] == 1:
            for part in parts:
                one(part)
        else:
            with ThreadPoolExecutor(self.setting['at_once']) as threads:
                for _ in threads.map(one, parts):
                    pass
        return minilm_onnx.sentences(means, lengths, owners, len(texts))

    def measure(self, texts):
        """Seconds of wall and of all threads, and the vectors."""
        self.embed(texts[:WARM_UP])
        start, cpu = time.perf_counter(), time.process_time()
        vectors = self.embed(texts)
        return {'wall_s': time.perf_counter() - start, 'cpu_s': time.process_time() - cpu, 'load_s': self.load_s}, vectors


class Ours:
    """`bower index` of a folder into an empty home."""

    def __init__(self, bower, models, folder):
        self.bower, self.passages, self.home, self.out = bower, folder / 'passages', folder / 'home', folder / 'index.json'
        self.models = models
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith('BOWER_')}
        self.environment['BOWER_HOME'] = str(self.home)

    def version(self):
        return subprocess.run([self.bower, '--version'], capture_output=True, text=True, check=True).stdout.split()[-1]

    def measure(self, count):
        """Seconds of the whole process; of it the model's, by the share of processor time that the program reports."""
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir(parents=True)
        (self.home / 'models').symlink_to(self.models)
        with open(self.out, 'wb') as out:
            start = time.perf_counter()
            process = subprocess.Popen([self.bower, '--quiet', 'index', '--format', 'json', self.passages],
                                       env=self.environment, stdin=subprocess.DEVNULL, stdout=out)
            _, status, used = os.wait4(process.pid, 0)
            wall = time.perf_counter() - start
            process.returncode = os.waitstatus_to_exitcode(status)
        told = self.out.read_text(encoding='utf8')
        if process.returncode:
            raise Failed(f'bower index: exit {process.returncode}: {told[:300]}')
        report = json.loads(told)['data']
        if (report['chunks_added'], report['embedded']) != (count, count):
            raise Failed(f"{count} passages became {report['chunks_added']} chunks, {report['embedded']} with a vector; "
                         'for the same work each must be one')
        return {'wall_s': wall, 'cpu_s': used.ru_utime + used.ru_stime, 'model_share': report['model_share'],
                'model_s': wall * report['model_share'], 'peak_rss_bytes': used.ru_maxrss * 1024}

    def vectors(self, count):
        """What the store holds, row r for passage r: half floats that need not be of unit length."""
        import numpy
        sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
        from golden_packed import unpack

        vectors = numpy.zeros((count, minilm_onnx.HIDDEN), dtype=numpy.float32)
        store = sqlite3.connect(self.home / 'memory.db')
        try:
            for name, vector in store.execute('SELECT d.file_name, v.vector FROM vectors v JOIN items i ON i.row = v.row '
                                              'JOIN documents d ON d.row = i.document'):
                vectors[int(pathlib.Path(name).stem)] = numpy.frombuffer(unpack(vector), dtype='<f2')
        finally:
            store.close()
        return vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)


def trials(texts, files, words, processors):
    """Each setting's least seconds on some of the passages, by kind, the quickest first. Settings alternate."""
    some = texts[::TRIAL_SHARE]
    found = {}
    for kind, path in files.items():
        ways = settings(processors)
        times = [[Theirs(path, words, way, processors).measure(some)[0]['wall_s'] for way in ways] for _ in range(TRIAL_ROUNDS)]
        found[kind] = sorted((way | {'wall_s': min(column)} for way, column in zip(ways, zip(*times))),
                             key=lambda one: one['wall_s'])
    return found


def summary(rounds, items):
    """Best and median of each, passages a second, the least processor time, and how many times ours each is."""
    found = {}
    for name in (OURS, *KINDS):
        walls = [one[name]['wall_s'] for one in rounds]
        best, median = min(walls), figures.percentile(walls, 50)
        found[name] = {'best_s': best, 'median_s': median, 'best_per_s': items / best, 'median_per_s': items / median,
                       'cpu_s': min(one[name]['cpu_s'] for one in rounds)}
        for which in ('best', 'median', 'cpu'):
            found[name][f'{which}_ratio'] = found[name][f'{which}_s'] / found[OURS][f'{which}_s']
    quickest = min((one[OURS] for one in rounds), key=lambda one: one['wall_s'])
    return found | {'model': {'best_s': quickest['model_s'], 'share': quickest['model_share']}}


def measure(given):
    """Everything that is written to onnx.json."""
    folder = given.work / 'onnx'
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    processors = len(os.sched_getaffinity(0))
    texts = passages(given.passages, given.count)
    write(texts, folder / 'passages')
    source = given.models / MODEL
    joined = minilm_onnx.write(source, folder)
    checked = minilm_onnx.check(source, folder)
    files = {kind: folder / f'{kind}.onnx' for kind in KINDS}
    words, ours = minilm_onnx.Words(source / 'vocab.txt'), Ours(given.bower, given.models, folder)
    load = os.getloadavg()[0]
    tried = trials(texts, files, words, processors)
    chosen = {kind: {name: tried[kind][0][name] for name in ('batch', 'at_once')} for kind in KINDS}
    rounds, vectors = [], {}
    for number in range(given.rounds):
        rounds.append({OURS: ours.measure(len(texts))})
        for kind in KINDS:
            # Opened and dropped each time: no idle thread of one is in another's way.
            rounds[-1][kind], vectors[kind] = Theirs(files[kind], words, chosen[kind], processors).measure(texts)
        print(f'round {number + 1}:', ', '.join(f"{name} {one['wall_s']:.2f} s" for name, one in rounds[-1].items()),
              file=sys.stderr, flush=True)
    lengths = [len(row) for row in words.rows(texts)[0]]
    cosine = {OURS: minilm_onnx.closeness(ours.vectors(len(texts)), vectors['float32']),
              'int8': minilm_onnx.closeness(vectors['int8'], vectors['float32'])}
    if not cosine[OURS]['least'] > SAME_TEXT:
        raise Failed(f"they have not read the same texts: cosine {cosine[OURS]['least']:.4f}")
    return {
        'items': len(texts), 'tokens': sum(lengths), 'rows': len(lengths), 'machine': run.machine(), 'load_average': load,
        'versions': {'bower': ours.version()} | {name: importlib.metadata.version(name)
                                                 for name in ('onnxruntime', 'onnx', 'tokenizers')},
        'joined': joined, 'cosine_to_float64': checked, 'cosine_to_float32': cosine,
        'settings': {kind: chosen[kind] | {'padding': padding(lengths, chosen[kind]['batch'])} for kind in KINDS},
        'trials': tried, 'rounds': rounds, 'summary': summary(rounds, len(texts)),
    }


def table(result, number):
    """The Markdown of a result; `number` prints a figure."""
    found, cosines = result['summary'], result['cosine_to_float32']
    lines = ['| | passages a second, best | median | s, best | median | CPU, s | cosine to float32 | least |',
             '|---|---:|---:|---:|---:|---:|---:|---:|']
    for name in (OURS, *KINDS):
        one, close = found[name], cosines.get(name)
        seconds = (number(one[f'{which}_s']) + (f" (×{number(one[f'{which}_ratio'])})" if name != OURS else '')
                   for which in ('best', 'median', 'cpu'))
        cells = [number(one['best_per_s']), number(one['median_per_s']), *seconds,
                 *(f'{close[which]:.4f}'.lstrip('0') if close else '–' for which in ('mean', 'least'))]
        lines.append(f"| {TITLES[name]} | {' | '.join(cells)} |")
        if name == OURS:
            lines.append(f"| of it the model | | | {number(found['model']['best_s'])} | | | | |")
    told = '; '.join(f"{kind}: batches of {setting['batch']}, {setting['at_once']} at once, {setting['padding']:.1%} padding"
                     for kind, setting in result['settings'].items())
    versions = ', '.join(f'{name} {version}' for name, version in result['versions'].items())
    tokens = result['tokens'] / result['items']
    return (f"### Indexing with the same model, {result['items']:,} passages of {tokens:.0f} tokens\n\n"
            f"{result['machine']['cpus']} processors, {len(result['rounds'])} rounds in turn; × the ratio to Bowerbird's time. "
            'Ours is the whole command, from files to compacted indexes; theirs has its file open and warm and stores nothing.\n\n'
            + '\n'.join(lines) + f'\n\n{told}. {versions}.\n')


def main():
    from report import number

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--passages', required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument('--work', required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument('--count', default=1000, type=int)
    parser.add_argument('--rounds', default=3, type=int)
    parser.add_argument('--bower', default=ROOT / 'target/release/bower', type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument('--models', default=ROOT / 'target/model', type=lambda path: pathlib.Path(path).resolve())
    given = parser.parse_args()
    os.environ['TOKENIZERS_PARALLELISM'] = 'true'  # all processors, whatever the caller has set
    try:
        result = measure(given)
    except Failed as failed:
        sys.exit(f'onnx_speed.py: {failed}')
    finally:
        shutil.rmtree(given.work / 'onnx', ignore_errors=True)
    figures.write_json(given.work / 'onnx.json', result)
    print(table(result, number), end='')


if __name__ == '__main__':
    main()
