#!/usr/bin/env python3
"""Makes `crates/bower-core/src/embed/late.bin`: the axes and weights of late interaction. Needs numpy.

    bower-bench states --model FOLDER --passages FILE.jsonl --out KIND     for each kind of text
    tools/late_axes.py OUT VOCAB KIND...

VOCAB is the model's vocab.txt.

Each KIND is a folder with `states.f32` (384 float32 a token, unit length), `pieces.u32` (its WordPiece) and
`lengths.u32` (tokens of each text). What is committed was made of 7,900 passages of python3.11-doc, perl-doc, dict-gcide,
wordnet-base, dict-foldoc, dict-jargon and fortunes; 5,800 functions and blocks of Python's standard library, C headers, Perl
modules, JavaScript and shell scripts; and 2,800 English passages of debian-handbook, debian-reference-en and
developers-reference: all of it software documentation that anyone may read, none of it text that ranking is judged on.
Every kind counts the same. Another file is another scheme: raise the number in `TOKENS_IDENTITY`.

The file: 384 x 64 signed bytes (a row an input), 64 float32 (what a step of each axis is worth), 64 float32 (the shift:
the centre's projection, negated), and a byte for each of 30,522 pieces (its weight in sixteenths: the logarithm of
1 + (texts - with + .5) / (with + .5), as BM25 has it; of that .3 for function words, in which questions match whatever is
asked; 0 for punctuation, which takes no part).
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
# What function words keep of their weight. nDCG@10 of the whole default profile, mean over six labelled sets:
# .609 with 1, .610 with .3; up to .003 on conversations and sessions, nowhere less than -.0001.
FUNCTION_SHARE = .3
# English articles, pronouns, prepositions, conjunctions, auxiliaries and question words, as `text/stopwords.rs` has them, and
# what is left of their contractions.
FUNCTION_WORDS = set("""a about all am an and any are as at be because been being but by can cannot could did do does doing
each else for from had has have having he her hers him his how i if in into is it its me might must my no nor not of on or our
ours shall she should so some such than that the their theirs them then there these they this those to us was we were what
when where which while who whom whose why with would you your yours s t d ll re ve""".split())


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


def share(piece):
    """What a piece keeps of its weight."""
    if not any(character.isalnum() for character in piece):
        return 0
    return FUNCTION_SHARE if piece in FUNCTION_WORDS else 1


def main():
    out, vocabulary, kinds = sys.argv[1], sys.argv[2], [pathlib.Path(kind) for kind in sys.argv[3:]]
    out, vocabulary = pathlib.Path(out), pathlib.Path(vocabulary).read_text().split('\n')
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
    weights *= [share(piece) for piece in vocabulary[:PIECES]]
    weights = np.clip(np.round(weights * 16), 0, 255).astype(np.uint8)
    out.write_bytes(values.tobytes() + steps.tobytes() + shift.tobytes() + weights.tobytes())


if __name__ == '__main__':
    main()
