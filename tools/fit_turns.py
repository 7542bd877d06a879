#!/usr/bin/env python3
"""Makes `crates/bower-core/src/memory/turns/scorer.tsv`: the weights by which sentences of a session are kept. Needs numpy.

    bower-bench turns-rows --out ROWS
    tools/fit_turns.py ROWS > crates/bower-core/src/memory/turns/scorer.tsv

A logistic regression with ridge over the signs of a sentence (`memory/turns/signs.rs`). Both voices share a weight and each has
its difference from it, which costs more. Fitted to `train`; each voice's bar is the lowest at which PRECISION of the sentences
above it are right, of `tune` and of folds of `train` (by turn) that were left out. Prints on standard error how right they are.
"""
import json
import sys

import numpy as np

RIDGE, DIFFERENCE = 3., 5.
# Above what is asked for: what other people say costs some.
PRECISION = .80
FOLDS = 8


def read(path):
    with open(path, encoding='utf-8') as file:
        names = json.loads(file.readline())['signs']
        rows = [json.loads(line) for line in file]
    column = lambda of: np.array([of(row) for row in rows])
    return (names, column(lambda r: r['signs']).astype(float), column(lambda r: float(r['kept'] is not None)),
            column(lambda r: r['voice'] == 'user'), column(lambda r: r['set'] == 'train'), column(lambda r: r['turn']))


def design(signs, user):
    side = np.where(user, .5, -.5)[:, None]
    x = np.hstack([np.ones((len(signs), 1)), side, signs, signs * side])
    width = signs.shape[1]
    return x, np.concatenate([[1e-3, 1e-2], np.full(width, RIDGE), np.full(width, DIFFERENCE)])


def fit(x, y, ridge):
    w = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ w))
        step = np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + np.diag(ridge), x.T @ (p - y) + ridge * w)
        w -= step
        if abs(step).max() < 1e-7:
            break
    return w


def curve(p, y):
    order = np.argsort(-p, kind='stable')
    right = np.cumsum(y[order])
    return p[order], right / np.arange(1, len(y) + 1), right / y.sum()


def bar(p, y):
    values, precision, _ = curve(p, y)
    at = np.where(precision >= PRECISION)[0][-1]
    return (values[at] + values[min(at + 1, len(values) - 1)]) / 2


def main(path):
    names, signs, y, user, train, turn = read(path)
    x, ridge = design(signs, user)
    w = fit(x[train], y[train], ridge)
    p = 1 / (1 + np.exp(-x @ w))
    left_out = np.zeros(len(y))
    for fold in range(FOLDS):
        inside = train & (turn % FOLDS != fold)
        outside = train & (turn % FOLDS == fold)
        left_out[outside] = 1 / (1 + np.exp(-x[outside] @ fit(x[inside], y[inside], ridge)))
    bars = [max(bar(p[~train & of], y[~train & of]), bar(left_out[train & of], y[train & of])) for of in (user, ~user)]
    for name, of, cut in (('user', user, bars[0]), ('assistant', ~user, bars[1])):
        for what, q, rows in (('left out of train', left_out, train & of), ('tune', p, ~train & of)):
            kept = q[rows] >= cut
            print(f'{name}, {what}: {rows.sum()} sentences, {int(y[rows].sum())} worth keeping; '
                  f'precision {y[rows][kept].mean():.3f}, recall {y[rows][kept].sum() / y[rows].sum():.3f}', file=sys.stderr)
    width = len(names)
    voices = [(w[0] + half * w[1], w[2:2 + width] + half * w[2 + width:]) for half in (.5, -.5)]
    line = lambda name, values: print(name, *(f'{value:.3f}' for value in values), sep='\t')
    print(f'# Written by tools/fit_turns.py: {int(train.sum())} sentences of bower-bench\'s data/turns/train.jsonl, bars on tune.')
    print('# sign, weight for users, weight for assistants')
    line('(bar)', bars)
    line('(base)', [base for base, _ in voices])
    for at, name in enumerate(names):
        line(name, [weights[at] for _, weights in voices])


if __name__ == '__main__':
    main(sys.argv[1])
