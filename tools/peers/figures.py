"""The arithmetic of the comparison: percentiles, recall, which setting counts. The standard library is all it needs."""
import json
import math
import os
import pathlib

K = 10  # answers that are asked for, and judged
LOTS = 100  # row r is in lot r % LOTS, so a lot holds 1 % of the rows
LOT = 7  # the lot that filtered questions ask for
ENOUGH = .99  # recall@10 at which two vector searches may be compared by their time
# Scores closer than this are the same score: float32 sums of 384 products in another order differ by less than 1e-6.
SAME = 1e-5


def percentile(values, percent):
    """The nearest-rank percentile: the smallest value that at least `percent` of all are not above. None of nothing."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)]


def recall(found, exact, least, score=None):
    """The share of the exact answers that was found, 0 to 1.

    `found` are the rows a peer gave, `exact` the true ones, `least` the worst true score. A row that scores as well as the
    worst true one (`score(row)`, within SAME) counts as true as well: among equal passages nobody can know which was meant.
    """
    if not exact:
        return 1.0
    true = set(exact)
    good = sum(1 for row in set(found) if row in true or (score is not None and score(row) >= least - SAME))
    return min(good, len(exact)) / len(exact)


def summary(rounds):
    """p50, p95 and p99 of each round of latencies in milliseconds, the least over the rounds: others use this machine too."""
    return {f'p{percent}_ms': min(percentile(values, percent) for values in rounds) for percent in (50, 95, 99)}


def tuned(ladder):
    """The fastest measured setting with enough recall, else the one with the most recall (then the fastest); None of nothing."""
    if not ladder:
        return None
    good = [one for one in ladder if one['recall'] is not None and one['recall'] >= ENOUGH]
    if good:
        return min(good, key=lambda one: one['p50_ms'])
    return min(ladder, key=lambda one: (-(one['recall'] or 0), one['p50_ms']))


def disk_bytes(folder):
    """Bytes of all files below a folder as the disk holds them: holes of sparse files do not count."""
    total = 0
    for path, _, files in os.walk(folder):
        for name in files:
            total += os.lstat(os.path.join(path, name)).st_blocks * 512
    return total


def peak_bytes():
    """The most memory this process has had resident, mapped files included."""
    for line in pathlib.Path('/proc/self/status').read_text().splitlines():
        if line.startswith('VmHWM:'):
            return int(line.split()[1]) * 1024
    return None


def write_json(path, value):
    """Writes aside and renames, so that a reader never sees half a file."""
    aside = pathlib.Path(f'{path}.part')
    aside.write_text(json.dumps(value, indent=1, ensure_ascii=False) + '\n', encoding='utf8')
    os.replace(aside, path)
