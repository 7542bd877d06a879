#!/usr/bin/env python3
"""Writes a small token index of format 1, byte by byte from the format's description: `tests/golden/tokens-1`.

    tools/golden_tokens.py OUT

A released format's golden file is never written again; this tool says how it came about.
"""
import hashlib
import json
import pathlib
import struct
import sys

ROWS = {3: [0x01, 0xFF], 9: [0x1234], 70_000: [], 70_001: [0x7FFF_FFFF_FFFF_FFFF]}
DEAD = 9


def padded(section):
    return section + bytes(-len(section) % 64)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def write(out, model, dimension, rows, dead, segment, number=1):
    """Writes a generation of one segment with these row ids, of which one is dead; `number` is that of the format."""
    out.mkdir(parents=True, exist_ok=True)
    bitmap = bytes([1 << rows.index(dead)])
    manifest = json.dumps({
        'format': number, 'model': model, 'dimension': dimension,
        'coverage': {'store': 'golden', 'change': 42, 'mark': 7},
        'segments': [{
            'number': 5, 'rows': len(rows), 'bytes': len(segment), 'sha256': sha256(segment),
            'dead': {'number': 6, 'count': 1, 'sha256': sha256(bitmap)},
        }],
    })
    (out / f'{5:016x}.segment').write_bytes(segment)
    (out / f'{6:016x}.dead').write_bytes(bitmap)
    (out / 'manifest').write_text(f'{manifest}\n{sha256(manifest.encode())}\n')


def main():
    codes = [code for row in ROWS.values() for code in row]
    ends = [sum(len(row) for row in list(ROWS.values())[:at + 1]) for at in range(len(ROWS))]
    segment = b''.join([
        padded(struct.pack(f'<{len(codes)}Q', *codes)),
        padded(struct.pack(f'<{len(ends)}I', *ends)),
        padded(struct.pack(f'<{len(ROWS)}I', *ROWS)),
        padded(b'BOWERTOK' + struct.pack('<3I', 1, len(ROWS), len(codes))),
    ])
    write(pathlib.Path(sys.argv[1]), 'golden.t1', 64, list(ROWS), DEAD, segment)


if __name__ == '__main__':
    main()
