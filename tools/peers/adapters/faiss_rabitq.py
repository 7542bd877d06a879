"""faiss: vectors alone, as lists of 1-bit codes scanned by byte shuffles and scored again: its way closest to Bowerbird's."""
import math

import figures
from adapters import faiss as hnsw


class Peer(hnsw.Peer):
    NAME = 'faiss_rabitq'
    # Lists read, and how many times ten candidates are scored again; the library's own are 1 and 1.
    DEFAULT = {}
    LADDER = tuple({'nprobe': nprobe, 'k_factor': k_factor} for nprobe, k_factor in
                   ((4, 10), (8, 10), (16, 10), (16, 20), (32, 20), (32, 40), (64, 40), (128, 40), (256, 40), (256, 80)))
    FILTER_LADDER = LADDER

    def about(self, count):
        return {'index': f'{self.factory(count)}, inner product', 'opened': 'read_index'}

    @staticmethod
    def factory(count):
        """Four times the root of the number of rows, as the library's guide says, as a power of two."""
        lists = 2 ** round(math.log2(4 * math.sqrt(count)))
        return f'IVF{lists},RaBitQfs,Refine(SQfp16)'

    def load(self, source):
        super().load(source)
        self.FACTORY = self.factory(len(self.vectors))

    def open(self):
        super().open()
        import faiss

        self.lists = faiss.extract_index_ivf(self.index)

    def parameters(self, setting, selector=None):
        import faiss

        inner = faiss.IVFSearchParameters(sel=selector, nprobe=setting.get('nprobe', 1))
        return faiss.IndexRefineSearchParameters(k_factor=setting.get('k_factor', 1), base_index_params=inner)
