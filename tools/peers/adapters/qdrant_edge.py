"""Qdrant Edge, the engine of Qdrant inside the process: an HNSW graph, its own BM25, fusion in one query."""
import figures
import inputs
from adapters import base

BATCH = 1_000
DEPTH = 20  # of each list, as its hybrid examples have it


class Peer(base.Peer):
    NAME = 'qdrant_edge'
    PACKAGES = ('qdrant-edge-py', 'numpy')
    CAN = ('hybrid', 'vector', 'text', 'filtered')
    # hnsw_ef; the engine's own is ef_construct, 100.
    LADDER = tuple({'hnsw_ef': ef} for ef in (16, 32, 64, 128, 192, 256, 512, 1_024))
    ALSO = ({'exact': True},)

    def about(self, count):
        return {'index': 'HNSW m 16, ef_construct 100, float32; lot an integer index; BM25 by its embedder, English, as a '
                         'sparse vector with IDF', 'fusion': f'RRF over {DEPTH} of each'}

    def config(self):
        import qdrant_edge as edge

        threads = {'max_search_threads': self.threads} if self.threads else {}
        return edge.EdgeConfig(
            vectors={'meaning': edge.EdgeVectorParams(size=inputs.DIMENSIONS, distance=edge.Distance.Cosine)},
            sparse_vectors={'words': edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
            hnsw_config=edge.HnswIndexConfig(m=16, ef_construct=100, full_scan_threshold=10_000), **threads)

    def load(self, source):
        import qdrant_edge as edge

        self.shard = edge.EdgeShard.create(self.path('shard'), self.config())
        self.shard.update(edge.UpdateOperation.create_field_index('lot', edge.PayloadSchemaType.Integer))
        model = edge.Bm25(edge.Bm25Config(language='english'))
        vectors, passages = source.vectors(), source.passages()
        for start in range(0, len(passages), BATCH):
            points = []
            for row in range(start, min(start + BATCH, len(passages))):
                text = inputs.whole_text(passages[row])
                points.append(edge.Point(row, {'meaning': vectors[row].tolist(), 'words': model.embed_document(text)},
                                         {'id': passages[row]['_id'], 'lot': inputs.lot(row), 'text': text}))
            self.shard.update(edge.UpdateOperation.upsert_points(points))
        self.shard.flush()

    def build(self):
        self.shard.optimize()
        self.shard.flush()

    def open(self):
        import qdrant_edge as edge

        self.edge = edge
        self.shard = edge.EdgeShard.load(self.path('shard'), self.config() if self.threads else None)
        self.model = edge.Bm25(edge.Bm25Config(language='english'))

    def given(self, vector):
        return vector.tolist()

    def rows(self, **request):
        return [point.id for point in self.shard.query(self.edge.QueryRequest(limit=figures.K, **request))]

    def near(self, vector):
        return self.edge.Query.Nearest(vector, using='meaning')

    def said(self, text):
        return self.edge.Query.Nearest(self.model.embed_query(text), using='words')

    def parameters(self, setting):
        return self.edge.SearchParams(**setting)

    def vector(self, vector, setting):
        return self.rows(query=self.near(vector), params=self.parameters(setting))

    def text(self, text):
        return self.rows(query=self.said(text))

    def hybrid(self, text, vector, setting):
        prefetch = self.edge.Prefetch
        return self.rows(query=self.edge.Fusion.Rrf(k=2), prefetches=[
            prefetch(limit=DEPTH, query=self.near(vector), params=self.parameters(setting)),
            prefetch(limit=DEPTH, query=self.said(text))])

    def filtered(self, vector, setting):
        edge = self.edge
        lot = edge.Filter(must=[edge.FieldCondition('lot', match=edge.MatchValue(figures.LOT))])
        return self.rows(query=self.near(vector), params=self.parameters(setting), filter=lot)

    def close(self):
        self.shard.close()
