"""qdrant-client's local mode: Qdrant's interface in Python and numpy, every vector compared; made for tests and small sets."""
import re
import zlib

import figures
import inputs
from adapters import base

BATCH = 1_000
DEPTH = 20


def every_word(text):
    """A passage's words as often as they occur; stop words never count."""
    return [word for word in re.findall(r'\w+', text.lower()) if word not in base.STOP_WORDS]


class Peer(base.Peer):
    NAME = 'qdrant_local'
    PACKAGES = ('qdrant-client', 'numpy')
    CAN = ('hybrid', 'vector', 'text', 'filtered')
    LADDER = ({},)

    def about(self, count):
        return {'index': 'none (numpy)', 'fusion': f'RRF over {DEPTH}',
                'words': 'saturated term frequencies as a sparse vector with IDF'}

    def connect(self):
        from qdrant_client import QdrantClient, models

        self.models = models
        self.client = QdrantClient(path=self.path('store'))

    def sparse(self, text, weigh):
        """BM25's term weight with k 1.2 and b 0; a word's number is a hash of it, for the client keeps no dictionary."""
        counts = {}
        for word in every_word(text) if weigh else base.words(text):
            number = zlib.crc32(word.encode())
            counts[number] = counts.get(number, 0) + 1
        return self.models.SparseVector(
            indices=list(counts), values=[count * 2.2 / (count + 1.2) if weigh else 1.0 for count in counts.values()])

    def load(self, source):
        self.connect()
        models = self.models
        self.client.create_collection(
            'passages',
            vectors_config={'meaning': models.VectorParams(size=inputs.DIMENSIONS, distance=models.Distance.COSINE)},
            sparse_vectors_config={'words': models.SparseVectorParams(modifier=models.Modifier.IDF)})
        vectors, passages = source.vectors(), source.passages()
        for start in range(0, len(passages), BATCH):
            self.client.upsert('passages', [
                models.PointStruct(
                    id=row,
                    vector={'meaning': vectors[row].tolist(), 'words': self.sparse(inputs.whole_text(passages[row]), True)},
                    payload={'id': passages[row]['_id'], 'lot': inputs.lot(row), 'text': inputs.whole_text(passages[row])})
                for row in range(start, min(start + BATCH, len(passages)))])

    def open(self):
        self.connect()

    def given(self, vector):
        return vector.tolist()

    def rows(self, **request):
        return [point.id for point in self.client.query_points('passages', limit=figures.K, with_payload=False, **request).points]

    def vector(self, vector, setting):
        return self.rows(query=vector, using='meaning')

    def text(self, text):
        return self.rows(query=self.sparse(text, False), using='words')

    def hybrid(self, text, vector, setting):
        models = self.models
        return self.rows(query=models.FusionQuery(fusion=models.Fusion.RRF), prefetch=[
            models.Prefetch(query=vector, using='meaning', limit=DEPTH),
            models.Prefetch(query=self.sparse(text, False), using='words', limit=DEPTH)])

    def filtered(self, vector, setting):
        models = self.models
        lot = models.Filter(must=[models.FieldCondition(key='lot', match=models.MatchValue(value=figures.LOT))])
        return self.rows(query=vector, using='meaning', query_filter=lot)

    def close(self):
        self.client.close()
