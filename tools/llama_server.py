#!/usr/bin/env python3
"""Lets `bower` ask a real llama.cpp server for vectors, and compares them with our own of the same model.

    tools/llama_server.py [--bower target/release/bower] [--models target/model] [--texts 2000]

Needs the Python packages xllamacpp (llama.cpp's server), gguf, numpy and safetensors, and all-MiniLM-L6-v2 in the models' folder. It
writes the model as GGUF, starts the server on the loopback, and runs `bower model use compatible/minilm` in a home of its own. It
prints the cosines with the local model's vectors and how long the server alone and `bower` took for the same texts. Exit 1: a cosine
is below .997, or a text has no vector.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import gguf
import numpy as np
import xllamacpp
from safetensors.numpy import load_file

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEAST = 0.997
NAMES = {"attention.self.query": "attn_q", "attention.self.key": "attn_k", "attention.self.value": "attn_v",
         "attention.output.dense": "attn_output", "attention.output.LayerNorm": "attn_output_norm",
         "intermediate.dense": "ffn_up", "output.dense": "ffn_down", "output.LayerNorm": "layer_output_norm"}


def write_gguf(source, path):
    """Writes the published float32 MiniLM in llama.cpp's format."""
    tensors = load_file(source / "model.safetensors")
    writer = gguf.GGUFWriter(str(path), "bert")
    writer.add_context_length(512)
    writer.add_embedding_length(384)
    writer.add_block_count(6)
    writer.add_feed_forward_length(1536)
    writer.add_head_count(12)
    writer.add_layer_norm_eps(1e-12)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    pieces = (source / "vocab.txt").read_text(encoding="utf-8").splitlines()
    # A piece that begins a word has a mark in front, one that continues it has none.
    is_control = [piece.startswith("[") and piece.endswith("]") and len(piece) > 2 for piece in pieces]
    mark = lambda piece: piece[2:] if piece.startswith("##") and len(piece) > 2 else "\u2581" + piece
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("jina-v2-en")
    writer.add_token_list([piece if control else mark(piece) for piece, control in zip(pieces, is_control)])
    writer.add_token_types([gguf.TokenType.CONTROL if control else gguf.TokenType.NORMAL for control in is_control])
    writer.add_token_type_count(2)
    for name, piece in (("bos", "[CLS]"), ("eos", "[SEP]"), ("sep", "[SEP]"), ("pad", "[PAD]"), ("unk", "[UNK]"), ("mask", "[MASK]")):
        getattr(writer, f"add_{name}_token_id")(pieces.index(piece))
    add = lambda name, own: writer.add_tensor(name, tensors[own].astype(np.float32))
    add("token_embd.weight", "embeddings.word_embeddings.weight")
    add("position_embd.weight", "embeddings.position_embeddings.weight")
    add("token_types.weight", "embeddings.token_type_embeddings.weight")
    for part in ("weight", "bias"):
        add(f"token_embd_norm.{part}", f"embeddings.LayerNorm.{part}")
        for layer in range(6):
            for own, name in NAMES.items():
                add(f"blk.{layer}.{name}.{part}", f"encoder.layer.{layer}.{own}.{part}")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def start(path):
    """Starts the server; returns it with its address."""
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.embedding = True
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_parallel, params.n_batch, params.n_ubatch, params.n_ctx = 4, 2048, 2048, 2048
    params.warmup = False
    server = xllamacpp.Server(params)
    return server, server.listening_address


def embed(address, texts):
    body = json.dumps({"model": "minilm", "input": texts}).encode()
    request = urllib.request.Request(f"{address}/v1/embeddings", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=300) as answer:
        data = json.load(answer)["data"]
    return [row["embedding"] for row in sorted(data, key=lambda row: row["index"])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bower", default=ROOT / "target/release/bower")
    parser.add_argument("--models", default=ROOT / "target/model", type=pathlib.Path)
    parser.add_argument("--texts", default=2_000, type=int)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write_gguf(options.models.resolve() / "all-MiniLM-L6-v2", folder / "minilm.gguf")
        server, address = start(folder / "minilm.gguf")
        paths = sorted(ROOT.glob("docs/*.md")) + sorted(ROOT.glob("*.md"))
        sentences = [line.strip() for path in paths for line in path.read_text(encoding="utf-8").splitlines() if len(line) > 40]
        texts = [f"{text} ({number})" for number, text in enumerate(sentences * 9)][: options.texts]
        environment = {**os.environ, "BOWER_MODELS_FOLDER": str(options.models.resolve()), "BOWER_HOME": str(folder / "home")}

        def bower(*arguments):
            run = subprocess.run([options.bower, *arguments], env=environment, capture_output=True, text=True)
            if run.returncode:
                sys.exit(f"bower {' '.join(arguments)}: {run.stdout[:1000]}{run.stderr[:1000]}")
            return json.loads(run.stdout)["data"]

        (folder / "notes").mkdir()
        for number, text in enumerate(texts):
            (folder / f"notes/{number}.txt").write_text(text + "\n", encoding="utf-8")
        bower("index", str(folder / "notes"))
        bower("export", str(folder / "local.jsonl"), "--vectors", "--documents")
        begun = time.perf_counter()
        batches = [texts[at: at + 100] for at in range(0, len(texts), 100)]
        with ThreadPoolExecutor(10) as threads:
            list(threads.map(lambda batch: embed(address, batch), batches))
        alone = time.perf_counter() - begun
        begun = time.perf_counter()
        used = bower("model", "use", "compatible/minilm", "--url", f"{address}/v1")
        took = time.perf_counter() - begun
        answer = bower("query", sentences[0])
        print(f"first hit of a text's own question: {answer['results'][0]['memory']['content'][:60]!r}, by {answer['model_used']}")
        bower("export", str(folder / "remote.jsonl"), "--vectors", "--documents")
        kept = cosines(vectors(folder / "local.jsonl"), vectors(folder / "remote.jsonl"))
        print(f"{used['embedded']} texts embedded, {len(kept)} compared with the local model: cosine {np.mean(kept):.5f} on average, "
              f"{min(kept):.5f} at least")
        print(f"server alone {alone:.2f} s, bower {took:.2f} s, {took / alone:.2f} times")
        del server
        sys.exit(0 if kept and min(kept) >= LEAST else 1)


def vectors(path):
    """The vector of each exported item."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    kept = {row["id"]: row["vector"]["half_floats"] for row in rows if row.get("vector")}
    return {row: np.frombuffer(bytes.fromhex(half), "<f2").astype(np.float64) for row, half in kept.items()}


def cosines(one, other):
    """Cosines of the vectors of the items that both exports have."""
    return [float(a @ other[row] / np.linalg.norm(a) / np.linalg.norm(other[row])) for row, a in one.items() if row in other]


if __name__ == "__main__":
    main()
