#!/usr/bin/env python3
"""Chooses the bars of `crates/bower-core/src/memory/turns.rs`, from which a piece of a turn is kept.

    tools/fit_turns.py FILE...

Each FILE has the pieces of authors that the classifier was not fitted to, gzipped: a JSON line has `"piece"`, then a list that
begins with the speaker, the text before the piece, the piece and the text after it, then its class (0 worth keeping, 1 the same
with the sentence before it, 2 not worth keeping, 3 somebody else's, 4 somebody else's orders) and the five probabilities.
A bar is the lowest at which PRECISION of what is kept is right. Of what a user quotes, at most FOREIGN of the pieces are kept;
what other persons in a group say is from outside in any case. Prints each weight of the other pieces of a paragraph (SHARED) with the bars, and what they keep.
"""
import gzip
import json
import math
import re
import sys

PRECISION, FOREIGN = .82, .04
LEAST = 1e-6
WEIGHTS = (0, .1, .2, .3, .4, .5)
VOICES = ('user', 'person', 'assistant')


def read(paths):
    """The turns, each a list of (voice, text before, text, class, odds of somebody else's words, worth)."""
    turns = {}
    for path in paths:
        with gzip.open(path, 'rt', encoding='utf-8') as file:
            for line in file:
                row = json.loads(line)
                if row[0] == 'piece':
                    (voice, before, text, after, *_), label, p = row[1:4]
                    own, foreign = sum(p[:3]), sum(p[3:])
                    row = (voice, before, text, label, math.log((foreign + LEAST) / (own + LEAST)), sum(p[:2]) / (own + LEAST))
                    turns.setdefault((path, voice, before + text + after), []).append(row)
    return turns.values()


def paragraphs(turns):
    for turn in turns:
        part = []
        for row in turn:
            if part:
                end = len(part[-1][1]) + len(part[-1][2])
                if re.search(r'\n[ \t]*\n', row[1][end:]):
                    yield part
                    part = []
            part.append(row)
        yield part


def scores(parts, weight):
    """(voice, class, probability) of each piece."""
    for part in parts:
        total = sum(row[4] for row in part)
        for voice, _, _, label, foreign, worth in part:
            shared = foreign + weight * (total - foreign) / max(1, len(part) - 1)
            yield voice, label, worth / (1 + math.exp(shared))


def shares(rows, bar):
    kept = [label for _, label, p in rows if p >= bar]
    of = lambda labels, which: sum(label in which for label in labels)
    labels = [label for _, label, _ in rows]
    right = of(kept, (0, 1))
    return (right / max(1, len(kept)), right / max(1, of(labels, (0, 1))),
            *(of(kept, which) / max(1, of(labels, which)) for which in ((2,), (3,), (4,))))


def main():
    parts = list(paragraphs(read(sys.argv[1:])))
    for weight in WEIGHTS:
        rows = list(scores(parts, weight))
        for voice in VOICES:
            own = [row for row in rows if row[0] == voice]
            bars = (bar / 100 for bar in range(30, 96))
            bar = next(b for b in bars if (s := shares(own, b))[0] >= PRECISION and (voice != 'user' or s[3] <= FOREIGN))
            s = shares(own, bar)
            print(f'{weight:.1f} {voice:10} bar {bar:.2f}: {100 * s[0]:.1f} % right, {100 * s[1]:.1f} % found; kept '
                  f'{100 * s[2]:.1f} % of own pieces not worth it, {100 * s[3]:.1f} % of others\', {100 * s[4]:.1f} % of others\' orders')


if __name__ == '__main__':
    main()
