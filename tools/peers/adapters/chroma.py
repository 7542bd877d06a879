"""Chroma, in the process: an HNSW graph beside SQLite. It ranks by vectors alone; words only filter."""
import figures
import inputs
from adapters import base

BATCH = 5_000
OWN_EF = 100  # the library's own ef_search


class Peer(base.Peer):
    NAME = 'chroma'
    PACKAGES = ('chromadb', 'numpy')
    CAN = ('hybrid', 'vector', 'filtered')
    LADDER = tuple({'ef_search': ef} for ef in (16, 32, 64, 100, 128, 192, 256, 512, 1_024))

    def about(self, count):
        return {'index': 'HNSW, cosine, max_neighbors 16, ef_construction 100',
                'hybrid': 'the vector search among passages that contain the longest word of the question: no ranking by words'}

    def connect(self):
        import chromadb
        from chromadb.config import Settings

        self.client = chromadb.PersistentClient(self.path('store'), Settings(anonymized_telemetry=False))

    def load(self, source):
        self.connect()
        self.collection = self.client.create_collection(
            'passages', embedding_function=None,
            configuration={'hnsw': {'space': 'cosine', 'max_neighbors': 16, 'ef_construction': 100}})
        vectors, passages = source.vectors(), source.passages()
        for start in range(0, len(passages), BATCH):
            part = passages[start:start + BATCH]
            rows = range(start, start + len(part))
            self.collection.add(ids=[str(row) for row in rows], embeddings=vectors[start:start + len(part)],
                                documents=[inputs.whole_text(one) for one in part],
                                metadatas=[{'lot': inputs.lot(row)} for row in rows])

    def open(self):
        self.connect()
        self.collection = self.client.get_collection('passages', embedding_function=None)
        self.ef = OWN_EF

    def given(self, vector):
        import numpy

        return numpy.array(vector, dtype=numpy.float32)

    def rows(self, vector, setting, **where):
        ef = setting.get('ef_search', OWN_EF)
        if ef != self.ef:
            self.change(ef)
        found = self.collection.query(query_embeddings=[vector], n_results=figures.K, include=['distances'], **where)
        return [int(id) for id in found['ids'][0]]

    def change(self, ef):
        """The library keeps ef_search with the collection and reads it when that is opened: so only between settings."""
        self.collection.modify(configuration={'hnsw': {'ef_search': ef}})
        self.client.clear_system_cache()
        self.open()
        self.ef = ef

    def vector(self, vector, setting):
        return self.rows(vector, setting)

    def hybrid(self, text, vector, setting):
        return self.rows(vector, setting, where_document={'$contains': max(base.words(text), key=len)})

    def filtered(self, vector, setting):
        return self.rows(vector, setting, where={'lot': figures.LOT})

    def close(self):
        if getattr(self, 'ef', OWN_EF) != OWN_EF:
            self.change(OWN_EF)
