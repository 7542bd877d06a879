#!/usr/bin/env python3
"""Fits how an answer orders an earlier and a later memory: the numbers ODDS and LEAST of `engine/query/time_order.rs`. Needs numpy.

    tools/fit_order.py
    tools/fit_order.py --check

`data/memory/order.tsv` of bower-bench has English pairs of an earlier and a later statement with a question about the earlier one's
subject: an update or a rewrite, whose later statement should stand first, or a twin, whose earlier one should. It has the difference
of their cosines with the question, and the likelihood of another value by a model that was fitted without the pair's author.

The later statement stands first where ODDS * log odds - difference is at least LEAST. For each ODDS, LEAST is the value at which as
many twins keep their place for a close question as by cosine alone. The ODDS is chosen that orders most updates rightly.
`--check` fails where the committed numbers differ.
"""
import pathlib
import re
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / 'crates/bower-bench/data/memory/order.tsv'
SOURCE = ROOT / 'crates/bower-core/src/engine/query/time_order.rs'
ALLOWED = 0.


def main():
    rows = [line.split('\t') for line in DATA.read_text(encoding='utf-8').splitlines() if line[0] != '#']
    kind, question = (np.array([row[at] for row in rows]) for at in (0, 1))
    difference, likelihood = (np.array([int(row[at]) / 1000 for row in rows]) for at in (2, 3))
    likelihood = likelihood.clip(1e-4, 1 - 1e-4)
    odds = np.log(likelihood / (1 - likelihood))
    of = lambda what, asked: (kind == what) & (question == asked)
    kept = (difference[of('twin', 'close')] >= 0).mean()
    best = None
    for weight in np.arange(0, .2001, .01):
        score = weight * odds - difference
        least = np.quantile(score[of('twin', 'close')], kept - ALLOWED)
        right = {what: [(score[of(what, asked)] >= least).mean() for asked in ('close', 'far')] for what in ('update', 'rewrite')}
        twins = [(score[of('twin', asked)] < least).mean() for asked in ('close', 'far')]
        found = np.mean(right['update'])
        if best is None or found > best[0]:
            best = found, weight, least, right, twins
    _, weight, least, right, twins = best
    show = lambda shares: ' and '.join(f'{share:.3f}' for share in shares)
    print(f'ODDS {weight:.2f}, LEAST {least:.2f}; for a close and for a far question, the later stands first of updates {show(right["update"])}, '
          f'of rewrites {show(right["rewrite"])}; the earlier of twins {show(twins)}; by cosine alone of twins {kept:.3f}')
    if '--check' in sys.argv:
        source = SOURCE.read_text(encoding='utf-8')
        found = [float(re.search(rf'const {name}: f32 = (-?[\d.]+);', source)[1]) for name in ('ODDS', 'LEAST')]
        if found != [round(weight, 2), round(least, 2)]:
            sys.exit(f'{SOURCE.name} has {found}, not {[round(weight, 2), round(least, 2)]}')


if __name__ == '__main__':
    main()
