#!/usr/bin/env python3
"""Writes crates/bower/tests/golden/intervals.json: bootstrap intervals of means, by numpy.

    pip install numpy
    tools/golden_intervals.py

The generator, the seed and the number of resamples are those that crates/bower/src/eval/bootstrap.rs states.
"""
import json
import pathlib

import numpy as np

RESAMPLES, SEED, MASK = 2000, 1979, (1 << 64) - 1


def split_mix(state):
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def intervals(rows):
    draws = split_mix(SEED)
    count = len(rows)
    means = np.array([rows[[next(draws) * count >> 64 for _ in range(count)]].mean(0) for _ in range(RESAMPLES)])
    return np.percentile(means, [2.5, 97.5], axis=0).T


def main():
    random = np.random.default_rng(3)
    cases = []
    for count, width in ((1, 1), (2, 2), (7, 3), (101, 2)):
        rows = np.round(random.random((count, width)) ** 3, 4)
        cases.append({'rows': rows.tolist(), 'expected': intervals(rows).tolist()})
    rows = (random.random((60, 1)) < 0.2).astype(float)
    cases.append({'rows': rows.tolist(), 'expected': intervals(rows).tolist()})
    path = pathlib.Path(__file__).parent.parent / 'crates/bower/tests/golden/intervals.json'
    path.write_text(json.dumps(cases) + '\n')


if __name__ == '__main__':
    main()
