#!/usr/bin/env python3
"""Fits the constants of crates/bower-core/src/rank/calibrate.rs and measures them on sets that they have not seen.

    pip install numpy
    tools/calibrate.py HITS.jsonl...          constants and tables, each set judged by what the others teach
    tools/calibrate.py --golden               the values that the tests of calibrate.rs expect

A line of HITS is one of the ten best documents of one question, at its best chunk:

    {"set": "notes", "question": "q7", "removed": false, "rank": 1, "place": 1, "standing": -0.41, "share": 0.38,
     "coverage": 0.62, "closeness": 0.64, "relevant": true}

`bower eval SET --calibration --features FILE` writes them. `rank` counts documents from 1, `place` hits, as the engine does:
a document may have several. `standing`, `share`, `coverage` and `closeness` (null where it is not known) are defined in
calibrate.rs. `relevant` says that the document answers the question: of graded judgements only the highest grade, because in sets that
judge one or two documents a question nothing less was labelled. `removed` is true for the second run of the same
question with every judged document taken out of the store; then nothing is relevant. Sets count equally.
"""
import collections
import json
import sys

import numpy as np

FLOOR, POOL = 8.0, 50
RIDGE = 1e-3
BINS = 10
FALSE_ABSTENTION = 0.05
UNKNOWN_CLOSENESS = 0.61


def sigmoid(x):
    return 1 / (1 + np.exp(-np.clip(x, -30, 30)))


def fit(parts):
    """Ridge logistic regression by Newton's method on standardised features; `parts` are (features, labels), one a set."""
    x = np.concatenate([features for features, _ in parts])
    y = np.concatenate([labels for _, labels in parts])
    weight = np.concatenate([np.full(len(labels), 1 / len(labels) / len(parts)) for _, labels in parts])
    mean, spread = x.mean(0), x.std(0)
    a = np.c_[np.ones(len(x)), (x - mean) / spread]
    ridge = np.eye(a.shape[1]) * RIDGE
    ridge[0, 0] = 0
    b = np.zeros(a.shape[1])
    for _ in range(60):
        p = sigmoid(a @ b)
        step = np.linalg.solve((a * (weight * p * (1 - p))[:, None]).T @ a + ridge, a.T @ (weight * (p - y)) + ridge @ b)
        b -= step
        if np.abs(step).max() < 1e-10:
            break
    slopes = b[1:] / spread
    return np.r_[b[0] - (slopes * mean).sum(), slopes]


def apply(constants, features):
    return sigmoid(constants[0] + features @ constants[1:])


def error(p, y, width=False):
    """Expected calibration error: ten bins of equal count, or of equal width."""
    order = np.argsort(p, kind='stable')
    bins = [order[(p[order] * BINS).astype(int).clip(0, BINS - 1) == b] for b in range(BINS)] if width \
        else np.array_split(order, BINS)
    return sum(len(b) * abs(p[b].mean() - y[b].mean()) for b in bins if len(b)) / len(p)


def auroc(good, bad):
    both = np.concatenate([good, bad])
    _, inverse, count = np.unique(both, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[inverse]
    return (rank[:len(good)].sum() - len(good) * (len(good) + 1) / 2) / (len(good) * len(bad))


def read(paths):
    sets = collections.defaultdict(lambda: collections.defaultdict(list))
    for path in paths:
        for line in open(path, encoding='utf-8'):
            hit = json.loads(line)
            sets[hit['set']][hit['question'], hit['removed']].append(hit)
    for questions in sets.values():
        for hits in questions.values():
            hits.sort(key=lambda hit: hit['rank'])
    return sets


def hits_of(questions):
    hits = [hit for (_, removed), hits in questions.items() if not removed for hit in hits]
    return (np.array([[hit['standing'], hit['share'], np.log(hit['place'])] for hit in hits]),
            np.array([hit['relevant'] for hit in hits], float), np.array([hit['rank'] for hit in hits]))


def answers_of(questions):
    known = lambda hit: UNKNOWN_CLOSENESS if hit['closeness'] is None else hit['closeness']
    rows = [(hits[0]['standing'], hits[0]['coverage'], known(hits[0]), any(hit['relevant'] for hit in hits), removed)
            for (_, removed), hits in questions.items()]
    rows = np.array(rows, float)
    return rows[:, :3], rows[:, 3], rows[:, 4] > 0


def at_share(values, share):
    """The value below which lies `share` of each set's answered questions, sets counting equally."""
    x = np.concatenate(values)
    weight = np.concatenate([np.full(len(one), 1 / len(one) / len(values)) for one in values])
    order = np.argsort(x, kind='stable')
    return x[order][np.searchsorted(np.cumsum(weight[order]), share)]


def report(paths):
    sets = read(paths)
    hits = {name: hits_of(questions) for name, questions in sets.items()}
    answers = {name: answers_of(questions) for name, questions in sets.items()}
    print('hits: base standing share ln(place)  ', np.round(fit([hits[name][:2] for name in sets]), 4))
    final = fit([answers[name][:2] for name in sets])
    print('answers: base standing coverage close', np.round(final, 4))
    answered = [apply(final, x[(y > 0) & ~gone]) for x, y, gone in answers.values()]
    print(f'abstain below ({FALSE_ABSTENTION:.0%} of answered questions) {at_share(answered, FALSE_ABSTENTION):.4f}')
    if len(sets) < 2:
        return print('\none set alone: nothing to judge it by')
    print('\nleft out            ECE  width  first | HIGH right  a question  MED right  LOW right  kept by strict')
    for name, (x, y, rank) in hits.items():
        p = apply(fit([hits[other][:2] for other in sets if other != name]), x)
        first, high, low = rank == 1, p >= 0.5, p < 0.05
        print(f'{name:18s} {error(p, y):.3f}  {error(p, y, True):.3f}  {error(p[first], y[first]):.3f} | '
              f'{y[high].mean():10.2f} {high.sum() / first.sum():11.2f} {y[~high & ~low].mean():10.2f} '
              f'{y[low].mean():10.3f} {y[~low].sum() / y.sum():15.2f}')
    print('\nten bins of equal count: mean probability / share relevant')
    for name, (x, y, _) in hits.items():
        p = apply(fit([hits[other][:2] for other in sets if other != name]), x)
        bins = np.array_split(np.argsort(p, kind='stable'), BINS)
        print(f'{name:18s}', ' '.join(f'{p[b].mean():.3f}/{y[b].mean():.3f}' for b in bins), len(p))
    print('\nleft out          AUROC intact:removed  answered:removed   ECE | abstains on answered, on removed')
    for name, (x, y, gone) in answers.items():
        others = [answers[other] for other in sets if other != name]
        constants = fit([other[:2] for other in others])
        p = apply(constants, x)
        least = at_share([apply(constants, a[(b > 0) & ~c]) for a, b, c in others], FALSE_ABSTENTION)
        good = (y > 0) & ~gone
        print(f'{name:18s} {auroc(p[~gone], p[gone]):.3f} {auroc(p[good], p[gone]):.3f} {error(p, y):.3f} | '
              f'{(p[good] < least).mean():.3f} {(p[gone] < least).mean():.3f}')


def golden():
    """By the formulas of calibrate.rs's page, not by its code."""
    hit, answer = (0.56, 0.918, 2.441, -0.51), (-2.058, 0.754, 1.379, 3.96)
    for scale, scores in ((1, (3.5, 2.0, -1.25, -90)), (2, (0.4, 0.4, 0.1))):
        below = [max(scale * (s - max(scores)), -FLOOR) for s in scores]
        total = np.log(np.exp(below[:POOL]).sum())
        print(scale, scores, [round(float(b - total), 6) for b in below])
    for standing, share, coverage, closeness, rank in ((-0.2, 0.45, 0.8, 0.7, 1), (-2.5, 0.3, 0.5, UNKNOWN_CLOSENESS, 2),
                                                       (-6.0, 0.0, 0.0, 0.4, 10)):
        p = sigmoid(hit[0] + hit[1] * standing + hit[2] * share + hit[3] * np.log(rank))
        q = sigmoid(answer[0] + answer[1] * standing + answer[2] * coverage + answer[3] * closeness)
        print(standing, share, coverage, closeness, rank, round(float(p), 6), round(float(q), 6))


if __name__ == '__main__':
    golden() if sys.argv[1:] == ['--golden'] else report(sys.argv[1:]) if sys.argv[1:] else sys.exit(__doc__)
