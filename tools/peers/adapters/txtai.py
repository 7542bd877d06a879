"""txtai: faiss beside its own BM25 over SQLite, mixed by weights. Vectors are given to it as an external model would."""
import figures
import inputs
from adapters import base


class Peer(base.Peer):
    NAME = 'txtai'
    PACKAGES = ('txtai', 'faiss-cpu', 'torch', 'transformers', 'numpy')
    CAN = ('hybrid', 'vector', 'text', 'filtered')
    LADDER = tuple({'nprobe': nprobe} for nprobe in (4, 8, 16, 32, 64, 128, 256, 512))
    # A filter is SQL over the best `candidates` of the vector search.
    FILTER_LADDER = tuple({'candidates': count, 'nprobe': nprobe}
                          for count, nprobe in ((1_000, 64), (2_000, 128), (4_000, 256), (8_000, 512)))

    def about(self, count):
        return {'index': 'faiss with its own components for the size; BM25; content in SQLite', 'fusion': 'weights .5 and .5'}

    def embeddings(self, transform):
        from txtai import Embeddings

        return Embeddings({'method': 'external', 'transform': transform, 'dimensions': inputs.DIMENSIONS, 'hybrid': True,
                           'content': True, 'columns': {'text': 'text'}})

    def load(self, source):
        vectors, passages = source.vectors(), source.passages()
        texts = [inputs.whole_text(one) for one in passages]
        row_of = {text: row for row, text in enumerate(texts)}  # equal texts have equal vectors

        def transform(texts):
            return vectors[[row_of[text] for text in texts]]

        self.index = self.embeddings(transform)
        self.index.index((row, {'text': text, 'lot': inputs.lot(row)}, None) for row, text in enumerate(texts))
        del self.index.config['transform']
        self.index.save(self.path('store'))

    def open(self):
        from txtai import Embeddings

        self.asked = None
        self.index = Embeddings()
        self.index.load(self.path('store'), config={'transform': lambda texts: self.asked})
        self.own = dict(self.index.ann.config.get('faiss') or {})

    def given(self, vector):
        import numpy

        return numpy.array(vector, dtype=numpy.float32).reshape(1, -1)

    def probe(self, setting):
        nprobe = setting.get('nprobe')
        self.index.ann.config['faiss'] = self.own | ({'nprobe': nprobe} if nprobe else {})

    def vector(self, vector, setting):
        """Its vector index alone: a search through the front always runs both."""
        self.probe(setting)
        return [int(row) for row, _ in self.index.ann.search(vector, figures.K)[0]]

    def text(self, text):
        """Its word index alone."""
        return [int(row) for row, _ in self.index.scoring.search(text, figures.K)]

    def hybrid(self, text, vector, setting):
        return self.ask(text, vector, setting)

    def ask(self, query, vector, setting, weights=.5):
        self.probe(setting)
        self.asked = vector
        return [int(one['id']) for one in self.index.search(query, figures.K, weights=weights)]

    def filtered(self, vector, setting):
        count = setting.get('candidates', figures.K * 10)
        return self.ask(f"select id, score from txtai where similar('-', {count}) and lot = {figures.LOT} "
                        f'limit {figures.K}', vector, setting, weights=1)

    def close(self):
        self.index.close()
