#!/usr/bin/env python3
"""Writes exact.json: the true nearest rows of every question by cosine, among all rows and among one lot. Needs numpy.

    tools/peers/truth.py --input DIR

Products are float32 in blocks of rows; what is left of them is scored again in float64, so that the order is exact. Equal
scores are ordered by row.
"""
import argparse
import sys

import numpy

import figures
import inputs

BLOCK = 16_384  # rows at a time: 25 MB of vectors, and as many scores for 400 questions
SPARE = 6  # rows kept beyond ten, for scores that float32 cannot tell apart


def nearest(vectors, queries, rows, k=figures.K):
    """The k best of `rows` for each question: two lists of lists, rows and their cosines, best first."""
    keep = k + SPARE
    best_rows = numpy.zeros((len(queries), 0), dtype=numpy.int64)
    best_scores = numpy.zeros((len(queries), 0), dtype=numpy.float32)
    for start in range(0, len(rows), BLOCK):
        part = rows[start:start + BLOCK]
        scores = queries @ numpy.asarray(vectors[part]).T
        best_scores = numpy.concatenate([best_scores, scores], axis=1)
        best_rows = numpy.concatenate([best_rows, numpy.broadcast_to(part, scores.shape)], axis=1)
        if best_scores.shape[1] > keep:
            top = numpy.argpartition(-best_scores, keep - 1, axis=1)[:, :keep]
            best_scores = numpy.take_along_axis(best_scores, top, axis=1)
            best_rows = numpy.take_along_axis(best_rows, top, axis=1)
    ids, scores = [], []
    for query, found in zip(queries, best_rows):
        exact = numpy.asarray(vectors[found], dtype=numpy.float64) @ query.astype(numpy.float64)
        order = sorted(range(len(found)), key=lambda at: (-exact[at], found[at]))[:k]
        ids.append([int(found[at]) for at in order])
        scores.append([float(exact[at]) for at in order])
    return ids, scores


def truth(source):
    """What exact.json holds."""
    vectors, queries = source.vectors(), numpy.array(source.query_vectors())
    everything = numpy.arange(len(vectors))
    rows, scores = nearest(vectors, queries, everything)
    lot_rows, lot_scores = nearest(vectors, queries, everything[everything % figures.LOTS == figures.LOT])
    return {'k': figures.K, 'rows': rows, 'scores': scores,
            'filtered': {'lot': figures.LOT, 'rows': lot_rows, 'scores': lot_scores}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--input', required=True)
    source = inputs.Input(parser.parse_args().input)
    figures.write_json(source.folder / 'exact.json', truth(source))
    print(f'{source.count()} rows, {len(source.queries())} questions', file=sys.stderr)


if __name__ == '__main__':
    main()
