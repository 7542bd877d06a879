"""usearch: an HNSW graph of vectors alone, mapped from its file."""
import figures
from adapters import base


class Peer(base.Peer):
    NAME = 'usearch'
    PACKAGES = ('usearch', 'numkong', 'numpy')
    CAN = ('vector', 'filtered')
    # expansion_search of the library: 64.
    LADDER = tuple({'expansion_search': ef} for ef in (16, 32, 48, 64, 96, 128, 192, 256, 512, 1024))
    # The Python package has no predicate, so a filter is more answers than wanted, and those of the lot kept.
    FILTER_LADDER = tuple({'count': count} for count in (1_000, 2_000, 4_000, 8_000, 16_000))

    def about(self, count):
        return {'index': 'HNSW, connectivity 16, expansion_add 128, float16', 'opened': 'view (mapped)'}

    def load(self, source):
        import numpy
        from usearch.index import Index

        vectors = source.vectors()
        self.index = Index(ndim=vectors.shape[1], metric='cos', dtype='f16')
        # The graph is the index: there is no state between loaded and built.
        self.index.add(numpy.arange(len(vectors)), numpy.array(vectors), threads=0)
        self.index.save(self.path('vectors.usearch'))

    def open(self):
        from usearch.index import Index

        self.index = Index.restore(self.path('vectors.usearch'), view=True)
        self.own = self.index.expansion_search

    def given(self, vector):
        import numpy

        return numpy.array(vector, dtype=numpy.float32)

    def vector(self, vector, setting):
        self.index.expansion_search = setting.get('expansion_search', self.own)
        return self.index.search(vector, figures.K, threads=1).keys.tolist()

    def filtered(self, vector, setting):
        self.index.expansion_search = self.own
        found = self.index.search(vector, setting.get('count', figures.K * figures.LOTS), threads=1).keys
        return found[found % figures.LOTS == figures.LOT][:figures.K].tolist()
