#!/usr/bin/env python3
"""Makes ONNX files of the local model: float32 as onnxruntime's own optimiser leaves it, and int8 by its dynamic quantisation.

    DIR/onnx/bin/python tools/peers/minilm_onnx.py --model MODEL --out OUT

MODEL holds model.safetensors and vocab.txt of all-MiniLM-L6-v2. Writes OUT/float32.onnx and OUT/int8.onnx, and prints what
the optimiser joined and how close both are to a float64 pass of the same weights. The float file must agree with that pass.

Inputs are `ids` and `mask`, rows x tokens; the output is `mean`, rows x 384: the mean of the last states that the mask keeps.
Unit length is left to `sentences`, for a long text is the mean of several rows.

The file is not called onnx_model: onnxruntime's optimiser imports a module of its own by that name.
"""
import argparse
import json
import logging
import pathlib
import sys
import tempfile

LAYERS, HEADS, HIDDEN, EPSILON = 6, 12, 384, 1e-12
WINDOW = 254  # pieces of a row at most: with [CLS] and [SEP] the 256 tokens that the model was trained to read
LEAST_COSINE = .9999  # of the float file to the float64 pass
CHECKED = 12  # sentences that it is checked on; all of them in one text follow, which takes several rows
# Added to what attention may not see: far below any score, and far from what float32 cannot hold.
UNSEEN = -10_000.0


def windows(pieces):
    """A text's pieces as rows of the model: the fewest of at most WINDOW, their lengths one apart at most; one for no pieces."""
    count = max(1, -(-len(pieces) // WINDOW))
    cuts = [len(pieces) * at // count for at in range(count + 1)]
    return [pieces[start:end] for start, end in zip(cuts, cuts[1:])]


class Words:
    """The model's tokenizer, from its vocabulary. Its control tokens are added here: in a text they are words."""

    def __init__(self, vocabulary):
        from tokenizers import Tokenizer, normalizers, pre_tokenizers
        from tokenizers.models import WordPiece

        lines = pathlib.Path(vocabulary).read_text(encoding='utf8').split('\n')
        rows = {piece: row for row, piece in enumerate(lines) if piece}
        self.first, self.last = rows['[CLS]'], rows['[SEP]']
        self.tokenizer = Tokenizer(WordPiece(rows, unk_token='[UNK]', max_input_chars_per_word=100))
        self.tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        self.tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()

    def pieces(self, texts):
        return [one.ids for one in self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)]

    def rows(self, texts):
        """What the model reads of all texts: token ids of each row, and the text that each row belongs to."""
        ids, owners = [], []
        for text, pieces in enumerate(self.pieces(texts)):
            for window in windows(pieces):
                ids.append([self.first, *window, self.last])
                owners.append(text)
        return ids, owners


def padded(rows):
    """Ids and mask of a batch, as long as its longest row."""
    import numpy

    longest = max(map(len, rows))
    ids = numpy.zeros((len(rows), longest), dtype=numpy.int64)
    mask = numpy.zeros((len(rows), longest), dtype=numpy.int64)
    for at, row in enumerate(rows):
        ids[at, :len(row)] = row
        mask[at, :len(row)] = 1
    return {'ids': ids, 'mask': mask}


def sentences(means, lengths, owners, texts):
    """The vectors of texts: the means of their rows, weighted by tokens, at unit length."""
    import numpy

    total = numpy.zeros((texts, means.shape[1]), dtype=numpy.float32)
    numpy.add.at(total, numpy.asarray(owners), means * numpy.asarray(lengths, dtype=numpy.float32)[:, None])
    return total / numpy.linalg.norm(total, axis=1, keepdims=True)


class Graph:
    """Nodes, one after the other, as the exporters of other libraries write a BERT: those shapes the optimiser knows."""

    def __init__(self, weights):
        self.weights, self.nodes, self.values = weights, [], {}

    def add(self, kind, *inputs, **attributes):
        from onnx import helper

        name = f'{kind}_{len(self.nodes)}'
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name, **attributes))
        return name

    def value(self, value, kind='float32'):
        """A constant, kept once."""
        import numpy

        array = numpy.asarray(value, dtype=kind)
        name = f"{kind}_{'x'.join(map(str, array.shape))}_{'_'.join(map(str, array.flatten()[:8]))}"
        self.values[name] = array
        return name

    def weight(self, name, turned=False):
        self.values[name] = self.weights[name].T.copy() if turned else self.weights[name]
        return name

    def dense(self, rows, name):
        product = self.add('MatMul', rows, self.weight(f'{name}.weight', turned=True))
        return self.add('Add', product, self.weight(f'{name}.bias'))

    def norm(self, rows, name):
        return self.add('LayerNormalization', rows, self.weight(f'{name}.weight'), self.weight(f'{name}.bias'), axis=-1,
                        epsilon=EPSILON)

    def heads(self, rows, turn):
        parts = self.add('Reshape', rows, self.value([0, 0, HEADS, HIDDEN // HEADS], 'int64'))
        return self.add('Transpose', parts, perm=turn)

    def embeddings(self):
        words = self.add('Gather', self.weight('embeddings.word_embeddings.weight'), 'ids')
        tokens = self.add('Gather', self.add('Shape', 'ids'), self.value(1, 'int64'), axis=0)
        end = self.add('Unsqueeze', tokens, self.value([0], 'int64'))
        places = self.add('Slice', self.weight('embeddings.position_embeddings.weight'), self.value([0], 'int64'), end,
                          self.value([0], 'int64'))
        # All tokens are of the first type: its row is one constant.
        self.values['type'] = self.weights['embeddings.token_type_embeddings.weight'][0]
        return self.norm(self.add('Add', self.add('Add', words, 'type'), places), 'embeddings.LayerNorm')

    def unseen(self):
        """What is added to the scores of a row's padding."""
        mask = self.add('Unsqueeze', self.add('Unsqueeze', 'mask', self.value([1], 'int64')), self.value([2], 'int64'))
        return self.add('Mul', self.add('Sub', self.value(1), self.add('Cast', mask, to=1)), self.value(UNSEEN))

    def layer(self, rows, at, unseen):
        query = self.heads(self.dense(rows, f'{at}.attention.self.query'), [0, 2, 1, 3])
        key = self.heads(self.dense(rows, f'{at}.attention.self.key'), [0, 2, 3, 1])
        value = self.heads(self.dense(rows, f'{at}.attention.self.value'), [0, 2, 1, 3])
        scores = self.add('Div', self.add('MatMul', query, key), self.value((HIDDEN // HEADS) ** .5))
        shares = self.add('Softmax', self.add('Add', scores, unseen), axis=-1)
        mixed = self.add('Transpose', self.add('MatMul', shares, value), perm=[0, 2, 1, 3])
        mixed = self.add('Reshape', mixed, self.value([0, 0, HIDDEN], 'int64'))
        rows = self.norm(self.add('Add', self.dense(mixed, f'{at}.attention.output.dense'), rows),
                         f'{at}.attention.output.LayerNorm')
        # GELU as it is defined, not its approximation by tanh.
        inner = self.dense(rows, f'{at}.intermediate.dense')
        bent = self.add('Add', self.add('Erf', self.add('Div', inner, self.value(2 ** .5))), self.value(1))
        inner = self.add('Mul', self.add('Mul', inner, bent), self.value(.5))
        return self.norm(self.add('Add', self.dense(inner, f'{at}.output.dense'), rows), f'{at}.output.LayerNorm')

    def mean(self, rows):
        mask = self.add('Cast', self.add('Unsqueeze', 'mask', self.value([2], 'int64')), to=1)
        axis = self.value([1], 'int64')
        total = self.add('ReduceSum', self.add('Mul', rows, mask), axis, keepdims=0)
        self.add('Div', total, self.add('ReduceSum', mask, axis, keepdims=0))
        self.nodes[-1].output[0] = 'mean'


def build(weights):
    """The model as a graph of plain operators."""
    from onnx import TensorProto, checker, helper, numpy_helper

    graph = Graph(weights)
    rows, unseen = graph.embeddings(), graph.unseen()
    for layer in range(LAYERS):
        rows = graph.layer(rows, f'encoder.layer.{layer}', unseen)
    graph.mean(rows)
    whole = helper.make_graph(
        graph.nodes, 'all-MiniLM-L6-v2',
        [helper.make_tensor_value_info(name, TensorProto.INT64, ['rows', 'tokens']) for name in ('ids', 'mask')],
        [helper.make_tensor_value_info('mean', TensorProto.FLOAT, ['rows', HIDDEN])],
        [numpy_helper.from_array(value, name) for name, value in graph.values.items()])
    # The set of operators that brought LayerNormalization; a newer one is not needed.
    model = helper.make_model(whole, opset_imports=[helper.make_opsetid('', 17)], ir_version=9)
    checker.check_model(model, full_check=True)
    return model


def write(source, out):
    """Makes both files. Returns how often the optimiser found what it joins, by operator."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.transformers import optimizer
    from safetensors.numpy import load_file

    weights = {name: value.astype('float32') for name, value in load_file(source / 'model.safetensors').items()
               if value.dtype.kind == 'f'}
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out) as folder:
        plain = pathlib.Path(folder) / 'plain.onnx'
        onnx.save(build(weights), plain)
        # Level 0: the joining of operators alone. What onnxruntime does to any graph, it does when it opens the file.
        joined = optimizer.optimize_model(str(plain), 'bert', num_heads=HEADS, hidden_size=HIDDEN, opt_level=0)
        joined.save_model_to_file(str(out / 'float32.onnx'))
        found = {name: count for name, count in joined.get_fused_operator_statistics().items() if count}
    logging.getLogger().setLevel(logging.ERROR)  # it advises a step that the optimiser above has done
    # It cannot tell the type of what a joined operator gives: nothing here is anything but float32.
    quantize_dynamic(out / 'float32.onnx', out / 'int8.onnx', per_channel=True, weight_type=QuantType.QInt8,
                     extra_options={'DefaultTensorType': onnx.TensorProto.FLOAT})
    return found


def session(path, threads):
    """The file, open. `threads` work on one batch; with one of them the caller's own thread does."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(path, options, providers=['CPUExecutionProvider'])


def closeness(vectors, others):
    """The mean and the least cosine of vectors of unit length, row by row."""
    cosines = (vectors * others).sum(axis=1)
    return {'mean': float(cosines.mean()), 'least': float(cosines.min())}


def check(source, out):
    """How close both files are to a float64 pass; raises ValueError where the float file is not that model."""
    import numpy

    sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
    from golden_model import Float64
    from golden_texts import SENTENCES

    words, exact = Words(source / 'vocab.txt'), Float64(source / 'model.safetensors')
    texts = [*SENTENCES[:CHECKED], ' '.join(SENTENCES)]
    ids, owners = words.rows(texts)
    truth = numpy.array([exact.vector(pieces) for pieces in words.pieces(texts)])
    found = {}
    for kind in ('float32', 'int8'):
        opened = session(out / f'{kind}.onnx', 1)
        # One batch, for padding must not matter; but int8 takes its steps from all of a batch, so there it does.
        parts = [ids] if kind == 'float32' else [[row] for row in ids]
        means = numpy.concatenate([opened.run(['mean'], padded(part))[0] for part in parts])
        found[kind] = closeness(sentences(means, [len(row) for row in ids], owners, len(texts)), truth)
    if not found['float32']['least'] > LEAST_COSINE:
        raise ValueError(f"float32.onnx is another model: cosine {found['float32']['least']:.6f} to the float64 pass")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--model', required=True, type=pathlib.Path)
    parser.add_argument('--out', required=True, type=pathlib.Path)
    given = parser.parse_args()
    print(json.dumps({'joined': write(given.model, given.out), 'cosine': check(given.model, given.out)}, indent=1))


if __name__ == '__main__':
    main()
