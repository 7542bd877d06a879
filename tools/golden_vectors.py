#!/usr/bin/env python3
"""Writes a small vector index of format 1, byte by byte from the format's description: `tests/golden/vectors-1`.

    tools/golden_vectors.py OUT

A released format's golden file is never written again; this tool says how it came about. A segment this small has no 1-bit
codes: its vectors are int8 with 128 added, and a scale that makes each a coordinate of the unit vector again.
"""
import math
import pathlib
import struct
import sys

from golden_tokens import padded, write_generation

DIMENSION = 64
# Row: int8 values by axis, the others 0. Each is exact: no vector loses anything by being kept in bytes.
ROWS = {
    3: {0: 127},
    9: {0: 127, 5: 1},
    70_000: {0: 127, 1: 127},
    70_001: {1: -127},
    70_002: {},
    70_003: {0: -127, 1: 127, 2: 127, 3: -127},
}
DEAD = 9


def main():
    values = [[row.get(axis, 0) for axis in range(DIMENSION)] for row in ROWS.values()]
    norms = [math.sqrt(sum(value * value for value in row)) for row in values]
    segment = b''.join([
        padded(bytes(128 + value for row in values for value in row)),
        padded(struct.pack(f'<{len(ROWS)}f', *[1 / norm if norm else 0.0 for norm in norms])),
        padded(struct.pack(f'<{len(ROWS)}I', *ROWS)),
        padded(b'BOWERVEC' + struct.pack('<3I', 1, DIMENSION, len(ROWS))),
    ])
    names = {'model': 'golden.i8', 'dimension': DIMENSION}
    write_generation(pathlib.Path(sys.argv[1]), names, segment, len(ROWS), [list(ROWS).index(DEAD)])


if __name__ == '__main__':
    main()
