"""faiss: vectors alone, as an HNSW graph."""
import figures
from adapters import base


class Peer(base.Peer):
    NAME = 'faiss'
    PACKAGES = ('faiss-cpu', 'numpy')
    CAN = ('vector', 'filtered')
    # efSearch of the library: 16.
    LADDER = tuple({'efSearch': ef} for ef in (16, 32, 48, 64, 96, 128, 192, 256, 512, 1024))
    FILTER_LADDER = tuple({'efSearch': ef} for ef in (64, 256, 1_024, 2_048, 4_096, 8_192, 16_384))
    FACTORY = 'HNSW32'
    EF_CONSTRUCTION = 200

    def about(self, count):
        return {'index': f'{self.FACTORY}, inner product, efConstruction {self.EF_CONSTRUCTION}', 'opened': 'IO_FLAG_MMAP_IFC'}

    def load(self, source):
        """The library keeps nothing but the index; reading the vectors is all there is to load."""
        import numpy

        self.vectors = numpy.array(source.vectors())

    def build(self):
        import faiss

        index = faiss.index_factory(self.vectors.shape[1], self.FACTORY, faiss.METRIC_INNER_PRODUCT)
        if hasattr(index, 'hnsw'):
            index.hnsw.efConstruction = self.EF_CONSTRUCTION
        index.train(self.vectors)
        index.add(self.vectors)
        faiss.write_index(index, self.path('vectors.faiss'))

    def open(self):
        import faiss
        import numpy

        if self.threads:
            faiss.omp_set_num_threads(self.threads)
        self.index = faiss.read_index(self.path('vectors.faiss'), faiss.IO_FLAG_MMAP_IFC)
        wanted = numpy.arange(figures.LOT, self.index.ntotal, figures.LOTS, dtype=numpy.int64)
        self.bits = numpy.zeros((self.index.ntotal + 7) // 8, dtype=numpy.uint8)
        numpy.bitwise_or.at(self.bits, wanted // 8, (1 << (wanted % 8)).astype(numpy.uint8))
        self.selector = faiss.IDSelectorBitmap(self.index.ntotal, faiss.swig_ptr(self.bits))

    def given(self, vector):
        import numpy

        return numpy.array(vector, dtype=numpy.float32).reshape(1, -1)

    def parameters(self, setting, selector=None):
        import faiss

        return faiss.SearchParametersHNSW(sel=selector, efSearch=setting.get('efSearch', 16))

    def vector(self, vector, setting):
        return self.index.search(vector, figures.K, params=self.parameters(setting))[1][0].tolist()

    def filtered(self, vector, setting):
        found = self.index.search(vector, figures.K, params=self.parameters(setting, self.selector))[1][0]
        return [row for row in found.tolist() if row >= 0]
