#!/usr/bin/env python3
"""Makes `crates/bower-core/src/memory/past.tsv`: which words tell that a question is about an earlier state. Needs numpy.

    tools/fit_past.py > crates/bower-core/src/memory/past.tsv
    tools/fit_past.py --check

A logistic regression with ridge over the words and pairs of neighbouring words of a question. It is fitted to the questions of
bower-bench's `data/memory/statements`: each group has one about the past (`past`) and some that are not (`close`, `far`).
Each author is left out once; standard error tells how right the model is on the author that was left out.
`--check` fits anew, and fails where the committed table differs.
"""
import collections
import json
import pathlib
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / 'crates/bower-bench/data/memory/statements'
TABLE = ROOT / 'crates/bower-core/src/memory/past.tsv'
RIDGE = 2.
# Rarer features cannot be told from chance; smaller weights change no decision.
LEAST_QUESTIONS, LEAST_WEIGHT = 5, .15
# Questions that are not about the past weigh less, as they are three times as many.
BALANCE = 1 / 3
# Characters that part words, besides white space. `memory/linear.rs` has the same.
MARKS = '.,;:!?\'"()[]{}<>/\\|*_`~@#%^&+=-\u2013\u2014\u2026\u2018\u2019\u201c\u201d\u00ab\u00bb\u00bf\u00a1\u3001\u3002\uff0c\uff1f\uff01\uff1a\uff1b\u300c\u300d\u061f\u060c\u0964'


def words(text):
    """The words of a text in lower case. Each character of a script without spaces is a word."""
    found, word = [], ''
    for c in text.lower() + ' ':
        alone = '\u3040' <= c <= '\u30ff' or '\u3400' <= c <= '\u9fff'
        if c.isspace() or c in MARKS or alone:
            if word:
                found.append(word)
            word = ''
            if alone:
                found.append(c)
        else:
            word += c
    return found


def features(text):
    """The words of a text, and its pairs of neighbouring words; `^` and `$` are its ends."""
    all_words = ['^', *words(text), '$']
    return set(all_words[1:-1]) | {f'{a} {b}' for a, b in zip(all_words, all_words[1:])}


def questions():
    """Each question as (author, language, features, whether it is about the past)."""
    for path in sorted(DATA.glob('*.jsonl')):
        for line in path.read_text(encoding='utf-8').splitlines():
            group = json.loads(line)
            if group.get('past'):
                for text, is_past in [(group['past'], 1.)] + [(text, 0.) for text in [group['close'], *group['far']]]:
                    yield path.stem, group['lang'], features(text), is_past


def fit(rows):
    """The weight of each feature, and the base."""
    counts = collections.Counter(name for _, _, found, _ in rows for name in found)
    names = sorted(name for name, count in counts.items() if count >= LEAST_QUESTIONS)
    place = {name: at for at, name in enumerate(names, 1)}
    x = np.zeros((len(rows), len(names) + 1))
    x[:, 0] = 1
    for at, (_, _, found, _) in enumerate(rows):
        x[at, [place[name] for name in found if name in place]] = 1
    y = np.array([row[3] for row in rows])
    weight = np.where(y > 0, 1., BALANCE)
    ridge = np.full(len(names) + 1, RIDGE)
    ridge[0] = 1e-3
    w = np.zeros(len(names) + 1)
    for _ in range(12):
        p = 1 / (1 + np.exp(-x @ w))
        step = np.linalg.solve((x * (weight * p * (1 - p))[:, None]).T @ x + np.diag(ridge), x.T @ (weight * (p - y)) + ridge * w)
        w -= step
        if abs(step).max() < 1e-4:
            break
    return w[0], {name: weight for name, weight in zip(names, w[1:]) if abs(weight) >= LEAST_WEIGHT}


def score(model, found):
    base, weights = model
    return base + sum(weights.get(name, 0) for name in found)


def left_out(rows):
    """How right the model is on authors that it was not fitted to: English, and other languages."""
    told = []
    for author in sorted({row[0] for row in rows}):
        model = fit([row for row in rows if row[0] != author])
        told += [(row[1] == 'en', row[3], score(model, row[2]) > 0) for row in rows if row[0] == author]
    for name, is_english in (('English', True), ('other languages', False)):
        past = [said for english, y, said in told if english == is_english and y]
        other = [said for english, y, said in told if english == is_english and not y]
        yield f'{name}: {sum(past)} of {len(past)} about the past are found, {sum(other)} of {len(other)} others are taken for such'


def check(fresh):
    """Ends the program where the committed table is not the fresh one."""
    read = lambda lines: dict(line.rsplit('\t', 1) for line in lines if not line.startswith('#'))
    fresh, committed = read(fresh), read(TABLE.read_text(encoding='utf-8').splitlines())
    # A weight near the least one may stand in one of the two alone.
    far = [name for name in {*fresh, *committed} if abs(float(fresh.get(name, 0)) - float(committed.get(name, 0))) > LEAST_WEIGHT + .02]
    if far:
        sys.exit(f'{TABLE.name} is not what the script makes: {len(far)} weights differ, {sorted(far)[:5]}; run tools/fit_past.py')


def main():
    rows = list(questions())
    base, weights = fit(rows)
    table = [f'(base)\t{base:.2f}', *(f'{name}\t{weight:.2f}' for name, weight in sorted(weights.items()))]
    if sys.argv[1:] == ['--check']:
        check(table)
        return
    lines = ['# Written by tools/fit_past.py from bower-bench\'s data/memory/statements. Each author left out once:']
    lines += [f'# {line}.' for line in left_out(rows)]
    lines += ['# word or pair of words (^ and $ are the ends of the question), weight']
    print('\n'.join(lines + table))


if __name__ == '__main__':
    main()
