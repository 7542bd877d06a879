"""The input folder: passages, vectors, questions, exact answers, as README.md describes it. Row r is passage r everywhere."""
import array
import json
import pathlib

import figures

DIMENSIONS = 384


class Input:
    """Reads the parts of a folder when they are asked for; nothing is loaded that a measurement does not need."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def passages(self):
        """`{"_id", "title", "text"}` for each row."""
        return self._lines('passages.jsonl')

    def queries(self):
        return [line['text'] for line in self._lines('queries.jsonl')]

    def vectors(self):
        """Rows x 384 float32 of unit length, mapped."""
        return self._matrix('vectors.f32')

    def query_vectors(self):
        return self._matrix('queries.f32')

    def query_vector(self, at):
        """One question's vector without numpy: a cold process is to start nothing that its library does not start."""
        vector = array.array('f')
        with open(self.folder / 'queries.f32', 'rb') as file:
            file.seek(at * DIMENSIONS * vector.itemsize)
            vector.fromfile(file, DIMENSIONS)
        return vector

    def exact(self):
        return json.loads((self.folder / 'exact.json').read_text(encoding='utf8'))

    def count(self):
        return (self.folder / 'vectors.f32').stat().st_size // (4 * DIMENSIONS)

    def text_bytes(self):
        return sum(len(one['title'].encode()) + len(one['text'].encode()) for one in self.passages())

    def _lines(self, name):
        with open(self.folder / name, encoding='utf8') as file:
            return [json.loads(line) for line in file]

    def _matrix(self, name):
        import numpy

        return numpy.memmap(self.folder / name, dtype='<f4', mode='r').reshape(-1, DIMENSIONS)


def lot(row):
    """The metadata that filtered questions filter by."""
    return row % figures.LOTS


def whole_text(passage):
    """What the word indexes index: title and text as one, the same for every peer."""
    return f"{passage['title']}\n{passage['text']}"
