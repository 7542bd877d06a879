#!/usr/bin/env python3
"""Fits the weights of the default profile, and judges them on sets that the fit has not seen.

    pip install numpy
    bower eval SET --factors FACTORS/SET.jsonl      once for each set
    tools/fit_rank.py FACTORS/*.jsonl

A line of a file is one question: its grades, and all candidates with the factors of their scores, as crates/bower/src/eval/factors.rs
writes them. Each set is left out once. The weights in WEIGHTS are searched on the others, one after the other, among multiples of the
present ones, for the best mean nDCG@10; sets count equally. The left-out set is then ranked by these weights.

The gains from the graph are computed anew from the new scores. Those from neighbours, from turns beside a turn and from times stay as
they are: their weights are judged by `bower eval SET --set bower.NAME=VALUE`.
"""
import argparse
import json
import os

import numpy as np

# The factors whose weights are fitted, and their settings with the present values, as in crates/bower-core/src/rank/profile/native.rs.
WEIGHTS = {
    'words': ('text_weight', .13),
    'meaning': ('vector_weight', .6),
    'word by word': ('tokens_weight', .4),
    'context': ('parent_weight', .3),
    'speaker': ('speaker_weight', 1.),
}
MULTIPLES = (.5, .75, 1., 1.33, 2.)
ROUNDS = 2
TOP = 100
K = 10
# What comes after the graph.
LAST = ('reference',)
DISCOUNT = 1 / np.log2(np.arange(K) + 2)


def gain(grades):
    """DCG of a list of grades, as in crates/bower/src/eval/metrics.rs."""
    grades = np.asarray(grades[:K], float)
    return (grades * DISCOUNT[:len(grades)]).sum()


class Set:
    """The questions of a set as arrays: questions x candidates x factors. A document counts at its best chunk."""

    def __init__(self, path):
        self.name = os.path.splitext(os.path.basename(path))[0]
        with open(path, encoding='utf-8') as file:
            questions = [json.loads(line) for line in file]
        questions = [one for one in questions if any(grade > 0 for grade in one['grades'].values())]
        shape = (len(questions), TOP)
        self.factors = np.zeros((*shape, len(WEIGHTS)))
        self.others, self.last, self.share = np.full(shape, -1e9), np.zeros(shape), np.zeros(shape)
        self.grades, self.ideal, self.baselines = np.zeros(shape), np.zeros(len(questions)), []
        for at, one in enumerate(questions):
            self.ideal[at] = gain(sorted((grade for grade in one['grades'].values() if grade > 0), reverse=True))
            self.read(at, one)

    def read(self, at, one):
        grade = lambda document: max(one['grades'].get(document, 0), 0)
        seen, before = set(), []
        for candidate in one['candidates']:
            if candidate['document'] in seen or len(before) == TOP:
                continue
            seen.add(candidate['document'])
            factors, place = candidate['factors'], len(before)
            plus = {name: value for name, value in factors.items() if name not in ('trust in meaning', 'pieces per letter')}
            self.factors[at, place] = [factors.get(name, 0.) / weight for name, (_, weight) in WEIGHTS.items()]
            self.last[at, place] = sum(plus.get(name, 0.) for name in LAST)
            self.others[at, place] = sum(plus.values()) - plus.get('graph', 0.) - self.last[at, place] \
                - sum(plus.get(name, 0.) for name in WEIGHTS)
            self.grades[at, place] = grade(candidate['document'])
            before.append(sum(plus.values()) - plus.get('graph', 0.) - self.last[at, place])
        below = np.array(before) - max(before, default=0.)
        graph = [candidate['factors'].get('graph', 0.) for candidate in best_chunks(one['candidates'])]
        self.share[at, :len(before)] = np.where(np.array(graph) > 0, np.exp(below + graph) - np.exp(below), 0.)
        lists = [sorted(one['candidates'], key=lambda candidate: -(candidate[channel] or 0.)) for channel in ('text', 'vector')]
        lists = [[candidate['document'] for candidate in list] for list in lists] + [one['fusion']]
        self.baselines.append([gain([grade(document) for document in dict.fromkeys(list)]) for list in lists])

    def ndcg(self, weights):
        score = self.factors @ weights + self.others
        below = np.maximum(score - score.max(1, keepdims=True), -600)
        score = score + np.log(np.exp(below) + self.share) - below + self.last
        best = np.argsort(-score, 1, kind='stable')[:, :K]
        return ((np.take_along_axis(self.grades, best, 1) * DISCOUNT).sum(1) / self.ideal).mean()


def best_chunks(candidates):
    chunks = {}
    for candidate in candidates:
        chunks.setdefault(candidate['document'], candidate)
    return list(chunks.values())[:TOP]


def search(sets, start):
    weights, best = start.copy(), np.mean([one.ndcg(start) for one in sets])
    for _ in range(ROUNDS):
        for at in range(len(weights)):
            for multiple in MULTIPLES:
                tried = weights.copy()
                tried[at] = start[at] * multiple
                figure = np.mean([one.ndcg(tried) for one in sets])
                if figure > best + 1e-6:
                    weights, best = tried, figure
    return weights


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('factors', nargs='+')
    sets = [Set(path) for path in parser.parse_args().factors]
    start = np.array([weight for _, weight in WEIGHTS.values()])
    show = lambda weights: ' '.join(f'{name} {weight:.3f}' for (name, _), weight in zip(WEIGHTS.values(), weights))
    print('all sets:', show(search(sets, start)))
    print(f'\nnDCG@{K}            text vector fusion    now  left out')
    differences = []
    for one in sets:
        weights = search([other for other in sets if other is not one], start)
        now, fitted = one.ndcg(start), one.ndcg(weights)
        differences.append(fitted - now)
        text, vector, fusion = np.mean(np.array(one.baselines) / one.ideal[:, None], 0)
        print(f'{one.name:18s} {text:.4f} {vector:.4f} {fusion:.4f} {now:.4f} {fitted - now:+.4f}  {show(weights)}')
    print(f'mean of the differences {np.mean(differences):+.4f}')


if __name__ == '__main__':
    main()
