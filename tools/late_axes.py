#!/usr/bin/env python3
"""Makes `crates/bower-core/src/embed/late.bin`: the axes and weights of late interaction. Needs numpy.

    bower-bench states --model FOLDER --passages FILE.jsonl --out KIND     for each kind of text
    tools/late_axes.py OUT KIND...

Each KIND is a folder with `states.f32` (384 float32 a token, unit length), `pieces.u32` (its WordPiece) and
`lengths.u32` (tokens of each text). What is committed was made of 7,900 passages of python3.11-doc, perl-doc, dict-gcide,
wordnet-base, dict-foldoc, dict-jargon and fortunes; 5,800 functions and blocks of Python's standard library, C headers, Perl
modules, JavaScript and shell scripts; and 2,800 English passages of debian-handbook, debian-reference-en and
developers-reference: all of it software documentation that anyone may read, none of it text that ranking is judged on.
Every kind counts the same. Another file is another scheme: raise the number in `TOKENS_IDENTITY`.

The file: 384 x 64 signed bytes (a row an input), 64 float32 (what a step of each axis is worth), 64 float32 (the shift:
the centre's projection, negated), and a byte for each of 30,522 pieces (its weight in sixteenths: the logarithm of
1 + (texts - with + .5) / (with + .5), as BM25 has it).
"""
import pathlib
import sys

import numpy as np

WIDTH, AXES, PIECES = 384, 64, 30_522
# Signs are taken along 64 random directions of the space of this many principal axes. nDCG@10 of MaxSim alone, mean over four
# sets and two seeds: 64 axes .432, 96 .434, 160 .435, all 384 .428. Axes of another text than the one that is searched
# should not be chosen too narrowly.
SPACE = 128
SAMPLE = 100_000
SEED = 1


def sampled(folder, dice):
    states = np.memmap(folder / 'states.f32', dtype=np.float32, mode='r').reshape(-1, WIDTH)
    chosen = np.sort(dice.choice(len(states), min(SAMPLE, len(states)), replace=False))
    return np.asarray(states[chosen], dtype=np.float64)


def frequencies(folder):
    """In how many texts each piece stands, and how many texts there are."""
    pieces = np.fromfile(folder / 'pieces.u32', dtype=np.uint32)
    lengths = np.fromfile(folder / 'lengths.u32', dtype=np.uint32)
    found, at = np.zeros(PIECES), 0
    for length in lengths:
        found[np.unique(pieces[at:at + length])] += 1
        at += length
    return found, len(lengths)


def main():
    out, kinds = pathlib.Path(sys.argv[1]), [pathlib.Path(kind) for kind in sys.argv[2:]]
    dice = np.random.default_rng(SEED)
    samples = [sampled(kind, dice) for kind in kinds]
    centre = np.mean([sample.mean(0) for sample in samples], axis=0)
    spread = np.mean([(sample - centre).T @ (sample - centre) / len(sample) for sample in samples], axis=0)
    _, vectors = np.linalg.eigh(spread)
    turn, _ = np.linalg.qr(dice.standard_normal((SPACE, AXES)))
    axes = vectors[:, ::-1][:, :SPACE] @ turn
    steps = (np.abs(axes).max(0) / 127).astype(np.float32)
    values = np.clip(np.round(axes / steps), -127, 127).astype(np.int8)
    shift = (-(centre @ (values * steps.astype(np.float64)))).astype(np.float32)
    found, texts = map(sum, zip(*(frequencies(kind) for kind in kinds)))
    weights = np.log(1 + (texts - found + .5) / (found + .5))
    weights = np.clip(np.round(weights * 16), 0, 255).astype(np.uint8)
    out.write_bytes(values.tobytes() + steps.tobytes() + shift.tobytes() + weights.tobytes())


if __name__ == '__main__':
    main()
