#!/usr/bin/env python3
"""Writes a small store of a released schema, by SQL alone: `crates/bower-core/tests/golden/schema-1.db`.

    tools/golden_schema.py OUT

A released schema's golden file is never written again; this tool says how it came about.
"""
import hashlib
import pathlib
import re
import sqlite3
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent / 'crates/bower-core/src/store/sqlite/schema.rs'
MODEL = 'test-model'


def main():
    out = pathlib.Path(sys.argv[1])
    out.unlink(missing_ok=True)
    schema = re.search(r'const SCHEMA_1: &str = "(.*?)";', SOURCE.read_text(encoding='utf8'), re.S).group(1)
    database = sqlite3.connect(out)
    database.executescript(f"PRAGMA page_size = 512; PRAGMA auto_vacuum = 0; {schema}")
    insert = database.execute
    insert("INSERT INTO store VALUES (1, 'golden', 2, 1700000000000000)")
    insert('INSERT INTO models (name) VALUES (?)', [MODEL])
    for row, text in [(1, 'one'), (2, 'two')]:
        insert("""INSERT INTO items (id, kind, collection, type, importance, confidence, decay_rate, create_time, access_time,
            update_time, scope, owner, status, tier, metadata, source, text_change)
            VALUES (?, 'memory', 'memories', 'fact', .5, .5, .01, 0, 0, 0, 'project', NULL, 'active', 2, '{}', 'cli', ?)""",
               [f'{row:016x}', row])
        insert("INSERT INTO texts (row, summary, content, keywords) VALUES (?, ?, ?, '[]')", [row, text, text])
        insert('INSERT INTO vectors VALUES (?, 1, ?, ?)', [row, row, bytes([row] * 16)])
        insert('INSERT INTO tail VALUES (?, ?, ?)', [row, row, b''])
        insert("INSERT INTO events (change, time, action, subject, actor, detail) VALUES (?, 0, 'curate', ?, 'cli', '{}')",
               [row, f'{row:016x}'])
    key = hashlib.sha256(f'{MODEL}:an old question'.encode()).digest()
    insert('INSERT INTO embedding_cache VALUES (?, 1, 0, ?)', [key, bytes([9] * 16)])
    database.executescript('PRAGMA application_id = 0x424F5752; PRAGMA user_version = 1')
    database.commit()
    database.execute('VACUUM')
    database.close()


if __name__ == '__main__':
    main()
