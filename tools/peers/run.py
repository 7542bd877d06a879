#!/usr/bin/env python3
"""Measures one peer, or all that are installed: each step in a process of its own, with the peer's own interpreter.

    tools/peers/run.py --peer NAME|all --input DIR --work DIR [--envs DIR] [--timeout SECONDS] [--keep]

Writes WORK/NAME.json in the shape that README.md describes. What fails or takes too long is written there, not raised.
`--keep` measures a store again that an earlier run built. The store lies in WORK/NAME/ and is removed without --keep.
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import figures

HERE = pathlib.Path(__file__).resolve().parent
# A peer: the environment that setup.sh made for it, and its name for people.
PEERS = {
    'qdrant_edge': ('qdrant_edge', 'Qdrant Edge'), 'lancedb': ('lancedb', 'LanceDB'),
    'sqlite_vec': ('sqlite_vec', 'sqlite-vec + FTS5'), 'txtai': ('txtai', 'txtai'), 'chroma': ('chroma', 'Chroma'),
    'qdrant_local': ('qdrant_local', 'qdrant-client, local mode'), 'usearch': ('usearch', 'usearch'),
    'faiss': ('faiss', 'faiss, HNSW'), 'faiss_rabitq': ('faiss', 'faiss, RaBitQ'), 'qmd': ('qmd', 'qmd search'),
}
# Rows beyond which a peer's own words advise against it; 10,000 rows take qdrant-client 15 s of processor time to load.
MOST_ROWS = {'qdrant_local': 20_000}
COLD_RUNS = 7
COLD_S = 45  # after so long no other new process is tried
# For libraries that look at one of these; all are bound to one processor besides.
ONE_THREAD = {name: '1' for name in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS', 'RAYON_NUM_THREADS',
                                     'TOKIO_WORKER_THREADS')}
# No library is to speak with anyone, or to look for a model.
QUIET = {'HF_HUB_OFFLINE': '1', 'ANONYMIZED_TELEMETRY': 'False', 'DO_NOT_TRACK': '1', 'TOKENIZERS_PARALLELISM': 'false',
         'LANCEDB_LOG': 'error'}


class Failed(Exception):
    """A step ended badly; the text says how."""


class Run:
    """One peer's processes, under one deadline."""

    def __init__(self, peer, given):
        self.peer, self.given = peer, given
        self.home, title = given.envs / PEERS[peer][0], PEERS[peer][1]
        self.packages = self.home / 'node_modules'
        self.python = self.home / 'bin' / 'python'
        self.folder = given.work / peer
        self.store = self.folder / 'store'
        self.deadline = time.monotonic() + given.timeout
        self.result = {'peer': peer, 'title': title, 'error': None, 'items': None, 'build': None, 'warm': {}, 'cold': None}

    def words(self, step):
        """The command of a step, up to its own options."""
        if self.peer == 'qmd':
            return [self.packages / '.bin/node', HERE / 'qmd_worker.mjs', step, '--packages', self.packages]
        return [self.python, HERE / 'worker.py', step, '--peer', self.peer]

    def environment(self, one_thread=False):
        # Compiled modules are kept, beside the results: a cold process of an installed program would not compile its libraries.
        own = {'PYTHONPYCACHEPREFIX': str(self.given.work / 'pycache'), 'PYTHONDONTWRITEBYTECODE': ''}
        own |= QUIET | (ONE_THREAD if one_thread else {})
        if self.peer == 'qmd':  # it keeps its index where it is told, and looks for its settings below the home
            own |= {'HOME': str(self.store), 'XDG_CACHE_HOME': str(self.store), 'XDG_CONFIG_HOME': str(self.store),
                    'INDEX_PATH': str(self.store / 'qmd.sqlite'), 'PATH': f"{self.packages / '.bin'}:{os.environ['PATH']}"}
        return os.environ | own

    def spawn(self, words, one_thread=False, output=None):
        """Runs a process to its end: wall milliseconds, processor milliseconds, peak bytes. Raises Failed."""
        log = self.folder / 'log'
        last = max(os.sched_getaffinity(0))
        with open(log, 'ab') as errors:
            start = time.perf_counter()
            process = subprocess.Popen(
                [str(word) for word in words], env=self.environment(one_thread), cwd=self.folder, stdin=subprocess.DEVNULL,
                stdout=output or errors, stderr=errors, start_new_session=True,
                preexec_fn=(lambda: os.sched_setaffinity(0, {last})) if one_thread else None)
            timer = signal.signal(signal.SIGALRM, lambda *_: os.killpg(process.pid, signal.SIGKILL))
            signal.setitimer(signal.ITIMER_REAL, max(1, self.deadline - time.monotonic()))
            try:
                _, status, used = os.wait4(process.pid, 0)
            finally:
                wall = time.perf_counter() - start
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, timer)
            process.returncode = os.waitstatus_to_exitcode(status)
        if time.monotonic() >= self.deadline:
            raise Failed(f'not done after {self.given.timeout:.0f} s')
        if process.returncode:
            lines = log.read_text(errors='replace').strip().splitlines() or ['nothing was said']
            raise Failed(f'exit {process.returncode}: {lines[-1][:300]}')
        return wall * 1e3, (used.ru_utime + used.ru_stime) * 1e3, used.ru_maxrss * 1024

    def step(self, step, out, *options, one_thread=False):
        """A step that writes JSON; what an interrupted one had written counts."""
        path = self.folder / out
        path.unlink(missing_ok=True)
        try:
            self.spawn([*self.words(step), '--input', self.given.input, '--store', self.store, '--out', path, *options],
                       one_thread)
        except Failed as failed:
            if path.exists():
                return json.loads(path.read_text()) | {'error': str(failed)}
            raise
        return json.loads(path.read_text())

    def measure(self):
        """Fills self.result, as far as it gets."""
        self.result['load_average'] = os.getloadavg()[0]
        try:
            if not (self.packages if self.peer == 'qmd' else self.python).exists():
                raise Failed(self.missing())
            self.result |= {'items': rows(self.given.input), 'machine': machine()}
            most = MOST_ROWS.get(self.peer, self.result['items'])
            if self.result['items'] > most:
                raise Failed(f'not measured: it advises against more than {most:,} rows itself')
            self.build()
            self.cold()
            for name, options in (('one', ['--threads', '1']), ('all', [])):
                warm = self.step('warm', f'warm-{name}.json', '--seconds', str(self.given.seconds), *options,
                                 one_thread=name == 'one')
                self.result['error'] = warm.pop('error', None)
                self.result['warm'][name] = warm
        except Failed as failed:
            self.result['error'] = str(failed)
        return self.result

    def missing(self):
        """What setup.sh wrote about it."""
        told = self.given.envs / 'failed' / self.home.name
        return f"not installed: {told.read_text().strip() if told.exists() else 'run tools/peers/setup.sh'}"

    def build(self):
        kept = self.folder / 'build.json'
        if not (self.given.keep and kept.exists()):
            shutil.rmtree(self.folder, ignore_errors=True)
            self.store.mkdir(parents=True)
            aside = self.step('build', 'building.json')
            skip = figures.disk_bytes(self.store / 'passages') if self.peer == 'qmd' else 0  # its input, not its index
            figures.write_json(kept, aside | {'disk_bytes': figures.disk_bytes(self.store) - skip})
        self.result['build'] = json.loads(kept.read_text())
        for name in ('settings', 'versions'):
            self.result[name] = self.result['build'].pop(name)

    def cold(self):
        """New processes, page cache warm: from spawn to exit, and to the answer where the process can tell."""
        runs, start = [], time.monotonic()
        for at in range(-1, COLD_RUNS):  # the first only brings files into the page cache
            query = max(at, 0)
            out = self.folder / 'cold.json'
            if self.peer == 'qmd':
                words = [self.packages / '.bin/qmd', 'search', question(self.given.input, query), '-n', '10', '--format', 'json']
            else:
                words = [*self.words('cold'), '--input', self.given.input, '--store', self.store, '--out', out, '--query', query]
            started = time.time()
            wall, cpu, peak = self.spawn(words, output=subprocess.DEVNULL)
            answer, kind = None, 'text'
            if self.peer != 'qmd':
                told = json.loads(out.read_text())
                answer, peak, kind = (told['answered'] - started) * 1e3, told['peak_rss_bytes'], told['kind']
            if at >= 0:
                runs.append({'wall_ms': wall, 'cpu_ms': cpu, 'answer_ms': answer, 'peak_rss_bytes': peak})
                if time.monotonic() - start > COLD_S:
                    break
        least = min(runs, key=lambda run: run['wall_ms'])
        floor = [str(self.packages / '.bin/node'), '-e', '0'] if self.peer == 'qmd' else [self.python, '-c', 'pass']
        self.result['cold'] = least | {
            'kind': kind, 'runs': len(runs), 'wall_p50_ms': figures.percentile([run['wall_ms'] for run in runs], 50),
            'peak_rss_bytes': max(run['peak_rss_bytes'] for run in runs),
            # What the interpreter alone takes: an application in a compiled language would not pay it.
            'floor_ms': min(self.spawn(floor)[0] for _ in range(COLD_RUNS))}


def rows(folder):
    import inputs

    return inputs.Input(folder).count()


def question(folder, at):
    import inputs

    return inputs.Input(folder).queries()[at]


def machine():
    model = [line.split(':')[1].strip() for line in open('/proc/cpuinfo') if line.startswith('model name')]
    return {'cpus': len(os.sched_getaffinity(0)), 'model': model[0] if model else os.uname().machine}


def environments():
    """Where setup.sh puts them."""
    cache = os.environ.get('BOWER_CACHE')
    return pathlib.Path(cache) / 'peers' if cache else pathlib.Path.home() / '.cache/bowerbird/peers'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--peer', required=True, choices=[*PEERS, 'all'])
    parser.add_argument('--input', required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument('--work', required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument('--envs', default=environments(), type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument('--timeout', default=600, type=float, help='seconds for one peer')
    parser.add_argument('--seconds', default=5, type=float, help='for one round of one measurement')
    parser.add_argument('--keep', action='store_true')
    given = parser.parse_args()
    sys.dont_write_bytecode = True
    given.work.mkdir(parents=True, exist_ok=True)
    for peer in PEERS if given.peer == 'all' else [given.peer]:
        run = Run(peer, given)
        run.folder.mkdir(exist_ok=True)
        start = time.monotonic()
        figures.write_json(given.work / f'{peer}.json', run.measure())
        print(f"{peer}: {run.result['error'] or 'measured'} ({time.monotonic() - start:.0f} s)", file=sys.stderr, flush=True)
        if not given.keep:
            shutil.rmtree(run.folder, ignore_errors=True)


if __name__ == '__main__':
    main()
