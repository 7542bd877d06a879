"""What every peer is asked to do, and the word list that those share which bring none of their own."""
import os
import re

# For peers whose word index keeps stop words (LanceDB, Qdrant Edge and txtai bring their own list). Without it one "the"
# in a question would make them read every passage, which nobody who measured once would leave so.
STOP_WORDS = frozenset('''a about above after again against all also am an and any are as at be because been before being
below between both but by can cannot could did do does doing down during each few for from further had has have having he her
here hers herself him himself his how i if in into is it its itself just me more most my myself no nor not now of off on once
only or other our ours ourselves out over own same she should so some such than that the their theirs them themselves then
there these they this those through to too under until up very was we were what when where which while who whom why will with
would you your yours yourself yourselves'''.split())


def words(text):
    """The words of a question in lower case, each once, without stop words; all of them where nothing else is left."""
    every = list(dict.fromkeys(re.findall(r'\w+', text.lower())))
    return [word for word in every if word not in STOP_WORDS] or every


class Peer:
    """One library over one folder. Every search returns at most ten row numbers, best first."""

    NAME = ''
    PACKAGES = ()
    # Which of 'hybrid', 'vector', 'text', 'filtered' it can do.
    CAN = ()
    # What a search does where nobody chose anything; {} lets the library choose.
    DEFAULT = {}
    # Search-time settings, cheapest first; walked until recall@10 is enough.
    LADDER = ()
    # Settings that are measured besides, whatever the ladder gave: an exact scan may be the fastest for few rows.
    ALSO = ()
    # The same for searches with a filter; None: as without.
    FILTER_LADDER = None

    def __init__(self, folder, threads=None):
        """`folder` is empty before `load`; `threads` is a number or None for the library's own choice."""
        self.folder = os.path.abspath(folder)
        self.threads = threads

    def path(self, name):
        return os.path.join(self.folder, name)

    def about(self, count):
        """The build settings and choices for `count` rows, for the report."""
        return {}

    def load(self, source):
        """Stores passages, vectors and lots durably: everything up to where searches give right answers."""
        raise NotImplementedError

    def build(self):
        """Builds or optimises indexes, where that is a step of its own."""

    def open(self):
        """Opens what load and build left, in a new process."""
        raise NotImplementedError

    def given(self, vector):
        """An array of 384 floats as the library likes it; not timed."""
        return vector

    def vector(self, vector, setting):
        raise NotImplementedError

    def text(self, text):
        raise NotImplementedError

    def hybrid(self, text, vector, setting):
        raise NotImplementedError

    def filtered(self, vector, setting):
        """Nearest rows whose lot is figures.LOT."""
        raise NotImplementedError

    def close(self):
        """Leaves the store as a process that ends in good order does."""
