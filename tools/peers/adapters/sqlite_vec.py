"""sqlite-vec beside FTS5 in one SQLite file: every vector is compared; ranks are fused in one SQL statement."""
import sqlite3

import figures
import inputs
from adapters import base

if not hasattr(sqlite3.Connection, 'enable_load_extension'):  # this interpreter was built without extensions
    import pysqlite3 as sqlite3

# As the library's author writes hybrid search: reciprocal rank fusion with k = 60 over both lists.
DEPTH = 100
NEAR = {
    'exact': 'SELECT rowid AS row, distance FROM vectors WHERE vector MATCH :vector AND k = {k}',
    # Hamming distance of signs finds `candidates`, the float vectors order them: the library's advice for larger tables.
    'bits': '''SELECT c.rowid AS row, vec_distance_cosine(v.vector, :vector) AS distance
               FROM (SELECT rowid FROM bits WHERE bits MATCH vec_quantize_binary(:vector) AND k = {candidates}) AS c
               JOIN vectors AS v ON v.rowid = c.rowid ORDER BY distance LIMIT {k}''',
}
WORDS = 'SELECT rowid AS row FROM texts WHERE texts MATCH :words ORDER BY rank LIMIT {k}'
HYBRID = '''WITH near AS (SELECT row, row_number() OVER (ORDER BY distance) AS place FROM ({near})),
                 said AS (SELECT row, row_number() OVER () AS place FROM ({words}))
            SELECT coalesce(near.row, said.row) AS row FROM near FULL OUTER JOIN said ON said.row = near.row
            ORDER BY coalesce(1.0 / (60 + near.place), 0) + coalesce(1.0 / (60 + said.place), 0) DESC, 1 LIMIT {k}'''


class Peer(base.Peer):
    NAME = 'sqlite_vec'
    PACKAGES = ('sqlite-vec', 'pysqlite3-binary', 'numpy')
    CAN = ('hybrid', 'vector', 'text', 'filtered')
    DEFAULT = {'exact': True}
    LADDER = tuple({'candidates': count} for count in (100, 200, 400, 800, 1_600, 3_200)) + ({'exact': True},)
    FILTER_LADDER = ({'exact': True},)

    def about(self, count):
        return {'index': 'vec0 float32 (exact) and vec0 bit (rescored), lot a metadata column; FTS5 porter unicode61, rank'
                         ' bm25', 'fusion': 'RRF k=60 over 100 of each in SQL', 'sqlite': sqlite3.sqlite_version}

    def connect(self):
        import sqlite_vec

        self.db = sqlite3.connect(self.path('store.db'))
        self.db.enable_load_extension(True)
        sqlite_vec.load(self.db)

    def load(self, source):
        self.connect()
        self.db.executescript('''
            PRAGMA journal_mode = WAL;
            CREATE TABLE passages (row INTEGER PRIMARY KEY, id TEXT NOT NULL, lot INTEGER NOT NULL, text TEXT NOT NULL);
            CREATE VIRTUAL TABLE vectors USING vec0 (vector float[384] distance_metric=cosine, lot INTEGER);
            CREATE VIRTUAL TABLE bits USING vec0 (bits bit[384]);
            CREATE VIRTUAL TABLE texts USING fts5 (text, content = 'passages', content_rowid = 'row',
                                                   tokenize = 'porter unicode61');
        ''')
        vectors = source.vectors()
        with self.db:
            for row, passage in enumerate(source.passages()):
                text = inputs.whole_text(passage)
                vector = vectors[row].tobytes()
                lot = inputs.lot(row)
                self.db.execute('INSERT INTO passages VALUES (?, ?, ?, ?)', (row, passage['_id'], lot, text))
                self.db.execute('INSERT INTO vectors (rowid, vector, lot) VALUES (?, ?, ?)', (row, vector, lot))
                self.db.execute('INSERT INTO bits (rowid, bits) VALUES (?, vec_quantize_binary(?))', (row, vector))
                self.db.execute('INSERT INTO texts (rowid, text) VALUES (?, ?)', (row, text))

    def build(self):
        with self.db:
            self.db.execute("INSERT INTO texts (texts) VALUES ('optimize')")
        self.db.execute('PRAGMA wal_checkpoint(TRUNCATE)')

    def open(self):
        self.connect()
        self.db.execute('PRAGMA mmap_size = 4294967296')

    def given(self, vector):
        return vector.tobytes()

    def rows(self, statement, **values):
        return [row for row, *_ in self.db.execute(statement, values)]

    @staticmethod
    def near(setting, k):
        count = setting.get('candidates')
        return NEAR['bits'].format(candidates=max(count, k), k=k) if count else NEAR['exact'].format(k=k)

    @staticmethod
    def match(text):
        return ' OR '.join(f'"{word}"' for word in base.words(text)) or '""'

    def vector(self, vector, setting):
        return self.rows(self.near(setting, figures.K), vector=vector)

    def text(self, text):
        return self.rows(WORDS.format(k=figures.K), words=self.match(text))

    def hybrid(self, text, vector, setting):
        statement = HYBRID.format(near=self.near(setting, DEPTH), words=WORDS.format(k=DEPTH), k=figures.K)
        return self.rows(statement, vector=vector, words=self.match(text))

    def filtered(self, vector, setting):
        return self.rows(f"{NEAR['exact'].format(k=figures.K)} AND lot = {figures.LOT}", vector=vector)

    def close(self):
        self.db.close()
