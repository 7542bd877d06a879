#!/usr/bin/env python3
"""Chooses the bars of `crates/bower-core/src/memory/turns.rs`, from which a piece of a turn is kept.

    tools/fit_turns.py FILE...

Each FILE is what `tools/fit_statements.py --fold` writes of the authors that it leaves out, or the same gzipped. Of a JSON line for a
piece this reads the speaker, the text before the piece, the piece and the text after it; then its class (0 worth keeping, 1 the
same with the sentence before it, 2 not worth keeping, 3 somebody else's, 4 somebody else's orders) and the five probabilities.
A bar is the lowest at which PRECISION of what is kept is right. Of what a user quotes beside other pieces, at most FOREIGN of
the pieces are kept; what other persons in a group say is from outside in any case. Prints each weight of the other pieces of a
paragraph (SHARED) with the bars, and what they keep.
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
    """The turns, each a list of (voice, text before, text, class, log odds of somebody else's words, of their orders, worth)."""
    turns = {}
    for path in paths:
        with (gzip.open if path.endswith('.gz') else open)(path, 'rt', encoding='utf-8') as file:
            for line in file:
                row = json.loads(line)
                if row[0] == 'piece':
                    (voice, before, text, after, *_), label, p = row[1:4]
                    own = sum(p[:3])
                    foreign, orders = (math.log((odds + LEAST) / (own + LEAST)) for odds in (sum(p[3:]), p[4]))
                    row = (voice, before, text, label, foreign, orders, sum(p[:2]) / (own + LEAST))
                    turns.setdefault((path, voice, before + text + after), []).append(row)
    return turns.values()


def paragraphs(turn):
    part = []
    for row in turn:
        if part:
            end = len(part[-1][1]) + len(part[-1][2])
            if re.search(r'\n[ \t]*\n', row[1][end:]):
                yield part
                part = []
        part.append(row)
    yield part


def scores(turns, weight):
    """(voice, class, probability, whether it is all of its turn) of each piece. In a turn of one piece, which quotes nobody, orders
    alone are somebody else's."""
    for turn in turns:
        alone = len(turn) == 1
        for part in paragraphs(turn):
            odds = [row[5] if alone else row[4] for row in part]
            for (voice, _, _, label, *_, worth), foreign in zip(part, odds):
                shared = foreign + weight * (sum(odds) - foreign) / max(1, len(part) - 1)
                yield voice, label, worth / (1 + math.exp(shared)), alone


def shares(rows, bar):
    """Of the kept pieces those that are right, of those worth it those that are kept, and what is kept of each other class. Others'
    pieces that are all of their turn are left out of the last two."""
    share = lambda rows, test: sum(map(test, rows)) / max(1, len(rows))
    kept = lambda row: row[2] >= bar
    worth = lambda row: row[1] < 2
    of = lambda label: [row for row in rows if row[1] == label and not (label > 2 and row[3])]
    return share([r for r in rows if kept(r)], worth), share([r for r in rows if worth(r)], kept), *(share(of(n), kept) for n in (2, 3, 4))


def main():
    turns = read(sys.argv[1:])
    for weight in WEIGHTS:
        rows = list(scores(turns, weight))
        for voice in VOICES:
            own = [row for row in rows if row[0] == voice]
            bars = (bar / 100 for bar in range(30, 96))
            bar = next(b for b in bars if (s := shares(own, b))[0] >= PRECISION and (voice != 'user' or s[3] <= FOREIGN))
            s = [100 * share for share in shares(own, bar)]
            print(f'{weight:.1f} {voice:10} bar {bar:.2f}: {s[0]:.1f} % right, {s[1]:.1f} % found; kept {s[2]:.1f} % of own pieces not '
                  f'worth it, {s[3]:.1f} % of others\', {s[4]:.1f} % of others\' orders')


if __name__ == '__main__':
    main()
