#!/usr/bin/env python3
"""Fits the weights by which a question ranks memories: `memory_*_weight` in crates/bower-core/src/rank/profile/native.rs.

    pip install numpy
    tools/fit_memory_rank.py BOWER --models FOLDER [--against OTHER_BOWER] [STATEMENTS.jsonl...]

The statements are crates/bower-bench/data/memory/statements unless files are named. A file has one author. Two authors of English
and one of other languages make a fold. Each fold has three stores: every statement, every statement beside a twin, and a few of these.
The program is asked every question with all weights set to 1, so the factors of its hits are the features. A softmax over the best 50
hits is fitted, with ridge and no weight below 0. English and other languages, close and far questions and the three stores count
equally. The other weights of the ranking stay as they are. Each fold is ranked by what the others teach.

With --against, another program answers the same questions in the same stores, for comparison.
"""
import argparse
import collections
import concurrent.futures
import glob
import json
import math
import os
import random
import subprocess
import tempfile

import numpy as np

FITTED = {'words': 'memory_text_weight', 'meaning': 'memory_vector_weight', 'word by word': 'memory_tokens_weight'}
# As in native.rs. Statements of one moment say little about these.
FIXED = {'every word': ('complete_weight', 6.), 'names': ('name_weight', 4.)}
RIDGE = 1e-3
FEW = 40
OTHERS = 60
STATEMENTS = os.path.join(os.path.dirname(__file__), '../crates/bower-bench/data/memory/statements')


def folds(paths):
    """Lists of files."""
    english = [path for path in paths if os.path.basename(path).startswith('en-')]
    others = [path for path in paths if path not in english]
    made = [english[at:at + 2] for at in range(0, len(english), 2)]
    for at, path in enumerate(others):
        made[at % len(made)].append(path)
    return made


def call(bower, home, *words, text=None):
    done = subprocess.run([bower, *words, '--format', 'json'], capture_output=True, text=True, input=text, env=dict(os.environ, BOWER_HOME=home))
    answer = json.loads(done.stdout)
    return answer.get('data') if answer.get('success') else {}


def tell(bower, home, groups, twins, order):
    """Stores each group's statement, with so many of its twins; returns the groups whose statement is a memory of its own."""
    texts = [(at, group['s']) for at, group in enumerate(groups)]
    texts += [(None, twin[1]) for group in groups for twin in order.sample(group['twin'], min(twins, len(group['twin'])))]
    order.shuffle(texts)
    ids = {}
    for at, text in texts:
        kept = call(bower, home, 'curate', '-', '--gate', 'off', text=text)
        if at is not None and kept.get('outcome') in ('create', 'link'):
            ids[at] = kept['id']
    live = {memory['id'] for memory in call(bower, home, 'list', '--limit', '5000')['memories']}
    return [(group, ids[at]) for at, group in enumerate(groups) if ids.get(at) in live]


def ask(bower, home, question, wanted, settings=()):
    """The features of the hits, and the place of the wanted memory among them; `None` where it is not among them."""
    hits = call(bower, home, 'query', question, '--limit', '50', '--explain', *settings).get('results', [])
    at = next((at for at, hit in enumerate(hits) if hit['memory']['id'] == wanted), None)
    values = [{factor['name']: factor['value'] for factor in hit['factors']} for hit in hits]
    return np.array([[value.get(name, 0.) for name in [*FITTED, *FIXED]] for value in values]), at


def questions(args, work, fold, files, kind):
    """Rows of one store: its questions with their features."""
    order = random.Random(f'{fold} {kind}')
    english, others = [], []
    for path in files:
        with open(path, encoding='utf-8') as file:
            groups = [group for group in map(json.loads, file) if group.get('close')]
        (english if os.path.basename(path).startswith('en-') else others).extend(groups)
    others = order.sample(others, min(OTHERS, len(others)))
    if kind == 'few':
        english, others = order.sample(english, min(FEW, len(english))), others[:FEW // 4]
    home = os.path.join(work, f'{fold}-{kind}')
    os.makedirs(home)
    os.symlink(os.path.abspath(args.models), os.path.join(home, 'models'))
    ones = [word for name in [*FITTED.values(), *(name for name, _ in FIXED.values())] for word in ('--set', f'bower.{name}=1')]
    rows = []
    for group, wanted in tell(args.bower, home, english + others, 0 if kind == 'all' else 1, order):
        for sort, question in [('close', group['close']), *(('far', question) for question in group['far'])]:
            features, at = ask(args.bower, home, question, wanted, ones)
            before = ask(args.against, home, question, wanted)[1] if args.against else None
            rows.append(dict(fold=fold, kind=kind, sort=sort, language='English' if group['lang'] == 'en' else 'other', features=features, at=at,
                             before=99 if before is None else before + 1))
    return rows


def fit(rows):
    """Projected Newton on a convex loss."""
    cells = collections.Counter(cell(row) for row in rows)
    rows = [row for row in rows if row['at'] is not None and len(row['features']) > 1]
    count = len(FITTED)
    fixed = np.array([value for _, value in FIXED.values()])
    scale = np.concatenate([row['features'][:, :count] - row['features'][:, :count].mean(0) for row in rows]).std(0)
    parts = [((row['features'] - row['features'][row['at']]), 1 / cells[cell(row)] / len(cells)) for row in rows]
    parts = [(part[:, :count] / scale, part[:, count:] @ fixed, share) for part, share in parts]

    def loss(w):
        return sum(share * np.logaddexp.reduce(x @ w + offset) for x, offset, share in parts) + RIDGE * w @ w

    w = np.full(count, .1)
    for _ in range(50):
        gradient, curvature = 2 * RIDGE * w, 2 * RIDGE * np.eye(count)
        for x, offset, share in parts:
            score = x @ w + offset
            p = np.exp(score - np.logaddexp.reduce(score))
            mean = p @ x
            gradient, curvature = gradient + share * mean, curvature + share * ((x * p[:, None]).T @ x - np.outer(mean, mean))
        free = (w > 0) | (gradient < 0)
        step = np.zeros(count)
        step[free] = np.linalg.solve(curvature[np.ix_(free, free)], gradient[free])
        length = 1.
        while length > 1e-6 and loss(np.maximum(w - length * step, 0)) > loss(w):
            length /= 2
        after = np.maximum(w - length * step, 0)
        if abs(after - w).max() < 1e-8:
            break
        w = after
    return w / scale


def cell(row):
    return row['language'], row['sort'], row['kind']


def place(row, weights):
    if row['at'] is None:
        return 99
    score = row['features'] @ np.concatenate([weights, [value for _, value in FIXED.values()]])
    return 1 + int((score > score[row['at']]).sum())


def share(places, top, z=1.96):
    """A share in percent with its Wilson interval."""
    of = len(places)
    p, d = sum(at <= top for at in places) / of, 1 + z * z / of
    middle, half = (p + z * z / 2 / of) / d, z * math.sqrt(p * (1 - p) / of + z * z / 4 / of / of) / d
    return f'{100 * p:5.1f} ({100 * (middle - half):3.0f} to {100 * (middle + half):3.0f})'


def report(rows):
    weights = fit(rows)
    print(', '.join(f'{name} {value:.3g}' for name, value in zip(FITTED.values(), weights)))
    for row in rows:
        row['own'] = place(row, weights)
    for fold in sorted({row['fold'] for row in rows}):
        learned = fit([row for row in rows if row['fold'] != fold])
        for row in rows:
            if row['fold'] == fold:
                row['after'] = place(row, learned)
    print('store  language question     of |  first: before |      left out |       all in | in five: before |      left out')
    for key in sorted({cell(row) for row in rows}, key=lambda key: (key[2], key[0], key[1])):
        part = [row for row in rows if cell(row) == key]
        columns = [share([row[name] for row in part], top) for name, top in (('before', 1), ('after', 1), ('own', 1), ('before', 5), ('after', 5))]
        print(f'{key[2]:6} {key[0]:8} {key[1]:8} {len(part):6} |', ' | '.join(columns))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('bower')
    parser.add_argument('files', nargs='*')
    parser.add_argument('--models', required=True)
    parser.add_argument('--against')
    args = parser.parse_intermixed_args()
    args.bower, args.against = os.path.abspath(args.bower), args.against and os.path.abspath(args.against)
    made = folds(args.files or sorted(glob.glob(os.path.join(STATEMENTS, '*.jsonl'))))
    jobs = [(fold, files, kind) for kind in ('twins', 'all', 'few') for fold, files in enumerate(made)]
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(2) as pool:
        rows = [row for part in pool.map(lambda job: questions(args, work, *job), jobs) for row in part]
    report(rows)


if __name__ == '__main__':
    main()
