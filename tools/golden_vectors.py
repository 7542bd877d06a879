#!/usr/bin/env python3
"""Writes a small vector index of format 2, byte by byte from the format's description: `tests/golden/vectors-2`.

    tools/golden_vectors.py OUT

A released format's golden file is never written again; this tool says how it came about. Segments below 10,000 rows have
neither centre nor codes. (Format 1 had the number 1 in their place, and no clusters from 200,000 rows on.)
"""
import math
import pathlib
import struct
import sys

from golden_tokens import padded, write

FORMAT = 2
DIMENSION = 72
STRIDE = 128  # the next multiple of 64
DEAD = 9
# Row: its values by place, and what makes them coordinates of a unit vector.
ROWS = {
    3: ({0: 127}, 1 / 127),
    9: ({1: 127}, 1 / 127),
    70_000: ({}, 0),
    70_001: ({0: 127, 71: -127}, math.sqrt(.5) / 127),
}


def main():
    segment = b''.join([
        bytes(128 + values.get(at, 0) for values, _ in ROWS.values() for at in range(STRIDE)),
        padded(struct.pack(f'<{len(ROWS)}f', *(scale for _, scale in ROWS.values()))),
        padded(struct.pack(f'<{len(ROWS)}I', *ROWS)),
        padded(b'BOWERVEC' + struct.pack('<3I', FORMAT, DIMENSION, len(ROWS))),
    ])
    write(pathlib.Path(sys.argv[1]), 'golden', DIMENSION, list(ROWS), DEAD, segment, FORMAT)


if __name__ == '__main__':
    main()
