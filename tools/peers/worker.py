"""One process of one peer, run by run.py with that peer's own interpreter: `build`, `warm` or `cold`. Writes JSON to --out.

Nothing is imported that the peer does not need for what is measured, for its memory and its start are measured too.
"""
import argparse
import importlib
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import figures  # noqa: E402
import inputs  # noqa: E402

WARM_UP = 20  # questions before any is timed
ROUNDS = 3  # of each measurement; the least counts
LEAST = 10  # questions, however slow they are
JUDGED = 200  # questions whose recall is worth a decision, unless they take six times as long as they may
FIRST = ('hybrid', 'vector', 'text')  # what a new process is asked: the fullest answer that the peer has


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('step', choices=['build', 'warm', 'cold'])
    for name in ('--peer', '--input', '--store', '--out'):
        parser.add_argument(name, required=True)
    parser.add_argument('--threads', type=int)
    parser.add_argument('--query', type=int, default=0)
    parser.add_argument('--seconds', type=float, default=8, help='for one round of one measurement')
    given = parser.parse_args()
    peer = importlib.import_module(f'adapters.{given.peer}').Peer(given.store, given.threads)
    source = inputs.Input(given.input)
    match given.step:
        case 'build':
            result = build(peer, source)
        case 'warm':
            result = warm(peer, source, given.seconds, lambda so_far: figures.write_json(given.out, so_far))
        case 'cold':
            result = cold(peer, source, given.query)
    figures.write_json(given.out, result)
    peer.close()


def timed(step):
    """Wall and processor seconds of a step, all threads counted."""
    wall, cpu = time.perf_counter(), time.process_time()
    step()
    return time.perf_counter() - wall, time.process_time() - cpu


def build(peer, source):
    load_s, load_cpu_s = timed(lambda: peer.load(source))
    build_s, build_cpu_s = timed(peer.build)
    from importlib import metadata

    versions = {}
    for name in peer.PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            pass
    return {'load_s': load_s, 'load_cpu_s': load_cpu_s, 'build_s': build_s, 'build_cpu_s': build_cpu_s,
            'peak_rss_bytes': figures.peak_bytes(), 'settings': peer.about(source.count()),
            'versions': versions | {'python': sys.version.split()[0]}}


def cold(peer, source, at):
    """Opens the store and asks one question: hybrid where the peer can, else by what it has."""
    import json

    with open(source.folder / 'queries.jsonl', encoding='utf8') as file:
        for _ in range(at):
            next(file)
        text = json.loads(next(file))['text']
    vector = source.query_vector(at)
    peer.open()
    kind = next(kind for kind in FIRST if kind in peer.CAN)
    vector = peer.given(vector)
    match kind:
        case 'hybrid':
            found = peer.hybrid(text, vector, peer.DEFAULT)
        case 'vector':
            found = peer.vector(vector, peer.DEFAULT)
        case 'text':
            found = peer.text(text)
    return {'kind': kind, 'found': found, 'answered': time.time(), 'peak_rss_bytes': figures.peak_bytes()}


class Truth:
    """The exact answers, and the cosine of any row, to judge what was found."""

    def __init__(self, source):
        exact = source.exact()
        self.rows = {'vector': exact['rows'], 'filtered': exact['filtered']['rows']}
        self.scores = {'vector': exact['scores'], 'filtered': exact['filtered']['scores']}
        self.vectors, self.queries = source.vectors(), source.query_vectors()

    def recall(self, kind, found):
        """The mean over the questions that were asked; `found` is one list of rows a question."""
        total = 0
        for at, rows in enumerate(found):
            lot = (lambda row: row % figures.LOTS == figures.LOT) if kind == 'filtered' else (lambda row: True)
            score = lambda row: float(self.vectors[row] @ self.queries[at]) if lot(row) else -2  # noqa: E731
            total += figures.recall(rows, self.rows[kind][at], self.scores[kind][at][-1], score)
        return total / len(found)


def warm(peer, source, seconds, save):
    """Every kind of question the peer can answer, with its own settings and with those that find enough."""
    texts = source.queries()
    floats = [source.query_vector(at) for at in range(len(texts))]
    open_s, _ = timed(peer.open)
    given = [peer.given(vector) for vector in floats]
    result = {'open_ms': open_s * 1e3, 'failed': {}}

    def ask(kind, setting):
        match kind:
            case 'text':
                return lambda at: peer.text(texts[at])
            case 'vector':
                return lambda at: peer.vector(given[at], setting)
            case 'hybrid':
                return lambda at: peer.hybrid(texts[at], given[at], setting)
            case 'filtered':
                return lambda at: peer.filtered(given[at], setting)

    def once(kind, setting, recall=None, rounds=ROUNDS):
        judged = kind in ('vector', 'filtered')
        measured, found = measure(ask(kind, setting), len(texts), seconds, rounds, JUDGED if judged else LEAST)
        if judged:
            recall = truth.recall(kind, found)
        return {'setting': setting, 'recall': recall} | measured

    def ladder(kind, steps, also=()):
        walked = [once(kind, setting) for setting in (peer.DEFAULT, *also)]
        for setting in steps:
            if setting not in (peer.DEFAULT, *also):
                walked.append(once(kind, setting))
                if walked[-1]['recall'] >= figures.ENOUGH:
                    break
        return walked

    def attempt(kind, work):
        if kind in peer.CAN:
            try:
                result[kind] = work()
            except Exception as error:  # a peer's failure is a result
                result['failed'][kind] = f'{type(error).__name__}: {error}'[:400]
            save(result | {'peak_rss_bytes': memory})

    # Memory is that of a process that has answered, before this one reads vectors to judge the answers.
    try:
        measure(ask(next(kind for kind in FIRST if kind in peer.CAN), peer.DEFAULT), len(texts), seconds, 1)
    except Exception as error:
        result['failed']['first'] = f'{type(error).__name__}: {error}'[:400]
    memory = figures.peak_bytes()
    truth = Truth(source)
    attempt('text', lambda: [once('text', {})])
    attempt('vector', lambda: ladder('vector', peer.LADDER, peer.ALSO))
    attempt('filtered', lambda: ladder('filtered', peer.LADDER if peer.FILTER_LADDER is None else peer.FILTER_LADDER))

    def hybrid():
        by_vector = result.get('vector') or [{'setting': peer.DEFAULT, 'recall': None}]
        best = figures.tuned(by_vector) if 'vector' in result else by_vector[0]
        chosen = [by_vector[0]] + ([best] if best is not by_vector[0] else [])
        return [once('hybrid', one['setting'], one['recall']) for one in chosen]

    attempt('hybrid', hybrid)
    return result | {'peak_rss_bytes': memory}


def measure(step, count, seconds, rounds, least=LEAST):
    """Asks the questions in order, in each round as many as the first one had answered after `seconds`, but at least `least`.

    Returns the measurement, and what the first round found.
    """
    start = time.perf_counter()
    for at in range(min(WARM_UP, count)):
        step(at)
        if time.perf_counter() - start > seconds:
            break
    latencies, cpus, found = [], [], []
    begun = time.perf_counter()
    for number in range(rounds):
        values = []
        cpu, start = time.process_time(), time.perf_counter()
        for at in range(count if number == 0 else len(found)):
            before = time.perf_counter()
            rows = step(at)
            after = time.perf_counter()
            values.append((after - before) * 1e3)
            if number == 0:
                found.append(rows)
                spent = after - start
                if spent > seconds and len(found) >= (least if spent < 6 * seconds else LEAST):
                    break
        cpus.append((time.process_time() - cpu) * 1e3 / len(values))
        latencies.append(values)
        if time.perf_counter() - begun > rounds * seconds:
            break
    return figures.summary(latencies) | {'cpu_ms': min(cpus), 'queries': len(found), 'rounds': len(latencies)}, found


if __name__ == '__main__':
    main()
