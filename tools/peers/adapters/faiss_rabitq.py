"""faiss: vectors alone, as 1-bit codes scanned by byte shuffles and scored again: its way closest to Bowerbird's."""
import math

import figures
from adapters import faiss as graph

# One scan of all codes takes 1.3 ms of processor time for 98,900 rows at recall .995 and is built in .6 s; with lists it takes
# 1.5 ms at .989 and is built in 36 s. Beyond that many rows lists win.
FLAT_ROWS = 250_000


class Peer(graph.Peer):
    NAME = 'faiss_rabitq'
    # How many times ten candidates are scored again, and lists read where there are any; the library's own are 1 and 1.
    LADDER = tuple({'k_factor': k_factor, 'nprobe': nprobe} for k_factor, nprobe in
                   ((5, 16), (10, 32), (20, 64), (20, 128), (40, 256), (80, 512), (160, 1_024)))
    # A flat scan takes no selector, so a filter is more answers than wanted, and those of the lot kept.
    FILTER_LADDER = tuple({'count': count, 'nprobe': 1_024} for count in (1_000, 2_000, 4_000, 8_000))

    def about(self, count):
        return {'index': f'{self.factory(count)}, inner product', 'opened': 'read_index'}

    @staticmethod
    def factory(count):
        """Lists number four times the root of the rows, as the library's guide says, as a power of two."""
        lists = '' if count <= FLAT_ROWS else f'IVF{2 ** round(math.log2(4 * math.sqrt(count)))},'
        return f'{lists}RaBitQfs,Refine(SQfp16)'

    def load(self, source):
        super().load(source)
        self.FACTORY = self.factory(len(self.vectors))

    def parameters(self, setting, selector=None):
        import faiss

        lists = self.index.ntotal > FLAT_ROWS
        inner = faiss.IVFSearchParameters(nprobe=setting.get('nprobe', 1)) if lists else None
        return faiss.IndexRefineSearchParameters(k_factor=setting.get('k_factor', 1), base_index_params=inner)

    def filtered(self, vector, setting):
        count = min(setting.get('count', figures.K * figures.LOTS), self.index.ntotal)
        found = self.index.search(vector, count, params=self.parameters(setting))[1][0]
        return found[found % figures.LOTS == figures.LOT][:figures.K].tolist()
