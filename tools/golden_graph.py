#!/usr/bin/env python3
"""Writes a small graph index of format 3, byte by byte from the format's description: `tests/golden/graph-3`.

    tools/golden_graph.py OUT

A released format's golden file is never written again; this tool says how it came about.
"""
import pathlib
import struct
import sys

from golden_tokens import padded, write

START, NAME, TAG, LINK, TITLE = 0, 4, 5, 6, 7
# Keys of entities: the upper 56 bits of a number.
A, B, C = 0x1100, 0x2200, 0xFFFF_FFFF_FFFF_FF00
# Row id: the number of its document, and its mentions as (entity, role, occurrences).
ROWS = {
    3: (7, [(A, NAME, 2), (B, TITLE, 1)]),
    9: (7, [(A, START, 1), (C, TITLE, 31)]),
    70_000: (0, []),
    70_001: (9, [(A, LINK, 3), (C, TAG, 1)]),
}
DEAD = 9


def main():
    rows = [[key | role << 5 | count for key, role, count in mentions] for _, mentions in ROWS.values()]
    mentions = [one for row in rows for one in row]
    ends = [sum(map(len, rows[:at + 1])) for at in range(len(rows))]
    places = [number for end, (document, _) in zip(ends, ROWS.values()) for number in (end, document)]
    # The stronger role and more occurrences come first, so the lowest byte is turned round.
    by_entity = sorted((mention ^ 0xFF, position) for position, row in enumerate(rows) for mention in row)
    firsts = [order >> 8 for order, _ in by_entity]
    starts = [firsts.index(mention >> 8) for mention in mentions]
    segment = b''.join([
        padded(struct.pack(f'<{len(mentions)}Q', *mentions)),
        padded(struct.pack(f'<{len(places)}I', *places)),
        padded(struct.pack(f'<{len(ROWS)}I', *ROWS)),
        padded(struct.pack(f'<{len(by_entity)}Q', *(order for order, _ in by_entity))),
        padded(struct.pack(f'<{len(by_entity)}I', *(position for _, position in by_entity))),
        padded(struct.pack(f'<{len(starts)}I', *starts)),
        padded(b'BOWERGRA' + struct.pack('<3I', 3, len(ROWS), len(mentions))),
    ])
    write(pathlib.Path(sys.argv[1]), 'golden.g1', 1, list(ROWS), DEAD, segment, 3)


if __name__ == '__main__':
    main()
