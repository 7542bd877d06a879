#!/usr/bin/env python3
"""Compares the program's sentence encoders with a float64 pass and the reference tokenizer: token ids and cosines.

    tools/model_parity.py FOLDER            a published model: config.json, model.safetensors, tokenizer.json or vocab.txt, ...
    tools/model_parity.py --shapes          random weights of the shape of each encoder that `bower model list` names

Needs numpy, safetensors and tokenizers, and target/release/bower-bench. Exit 1: a cosine is below .997, or ids differ.
"""

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from golden_model import Float64, reference as word_pieces
from golden_texts import SENTENCES
from golden_unigram import reference as unigram
from safetensors.numpy import save_file

ROOT = Path(__file__).resolve().parent.parent
LEAST = 0.997
OTHERS = ["Wo liegt der Schlüssel zum Lager?", "Où se trouve la clé de l'entrepôt ?", "¿Dónde está la llave del almacén?",
          "Где лежит ключ от склада?", "倉庫の鍵はどこにありますか。", "钥匙在哪里？", "창고 열쇠는 어디에 있나요?", "أين مفتاح المستودع؟",
          "Onde está a chave do armazém?", "कुंजी कहाँ है?"]
TEXTS = [*SENTENCES[:60], *OTHERS, " ".join(SENTENCES)]

# Name: layers, hidden size, heads, inner size, pooling, outputs of a dense layer.
SHAPES = {
    "snowflake-arctic-embed-xs": (6, 384, 12, 1536, "cls", None),
    "mdbr-leaf-ir": (6, 384, 12, 1536, "mean", 768),
    "bge-small-en-v1.5": (12, 384, 12, 1536, "cls", None),
    "gte-small": (12, 384, 12, 1536, "mean", None),
    "bge-base-en-v1.5": (12, 768, 12, 3072, "cls", None),
}


class Encoder(Float64):
    """A sentence encoder of any sizes, in float64."""

    def __init__(self, folder):
        super().__init__(folder / "model.safetensors")
        config = json.loads((folder / "config.json").read_text())
        self.layers, self.heads = config["num_hidden_layers"], config["num_attention_heads"]
        self.epsilon = config.get("layer_norm_eps", 1e-12)
        self.weights = {name.removeprefix("bert.").replace(".gamma", ".weight").replace(".beta", ".bias"): value
                        for name, value in self.weights.items()}
        read = lambda name: json.loads(path.read_text()) if (path := folder / name).exists() else {}
        pooling = read("1_Pooling/config.json")
        self.first = pooling.get("pooling_mode_cls_token", False)
        self.linear = None
        if (dense := folder / "2_Dense").exists():
            self.linear = Float64(dense / "model.safetensors").weights

    def pooled(self, windows):
        rows = [self.states(ids) for ids in windows]
        if self.first:
            mean = sum(row[0] * len(row) for row in rows)
        else:
            mean = np.concatenate(rows).mean(axis=0)
        if self.linear:
            mean = self.linear["linear.weight"] @ mean + self.linear.get("linear.bias", 0)
        return mean / np.linalg.norm(mean)


def random_model(folder, shape, seed):
    """Writes a model with random weights, in the form of a published one; the vocabulary is that of MiniLM."""
    layers, hidden, heads, inner, pooling, outputs = shape
    random = np.random.default_rng(seed)
    vocabulary = (ROOT / "target/model/all-MiniLM-L6-v2/vocab.txt").read_text(encoding="utf-8")
    pieces = len(vocabulary.splitlines())
    tensors = {}

    def add(name, *sizes, mean=0.0, spread=1.0):
        tensors[name] = (mean + spread * random.standard_normal(sizes)).astype(np.float32)

    def norm(name):
        add(f"{name}.LayerNorm.weight", hidden, mean=1.0, spread=0.2)
        add(f"{name}.LayerNorm.bias", hidden, spread=0.2)

    def product(name, rows, columns, size=1.0):
        add(f"{name}.weight", rows, columns, spread=size / math.sqrt(columns))
        add(f"{name}.bias", rows, spread=0.1)

    for name, rows, spread in (("word", pieces, 1.0), ("position", 512, 0.2), ("token_type", 2, 0.2)):
        add(f"embeddings.{name}_embeddings.weight", rows, hidden, spread=spread)
    norm("embeddings")
    for layer in range(layers):
        at = f"encoder.layer.{layer}."
        for part in ("query", "key", "value"):
            product(f"{at}attention.self.{part}", hidden, hidden)
        product(f"{at}attention.output.dense", hidden, hidden)
        norm(f"{at}attention.output")
        product(f"{at}intermediate.dense", inner, hidden)
        product(f"{at}output.dense", hidden, inner)
        norm(f"{at}output")
    save_file(tensors, folder / "model.safetensors")
    (folder / "vocab.txt").write_text(vocabulary, encoding="utf-8")
    tokenizer = ROOT / "target/model/all-MiniLM-L6-v2/tokenizer.json"
    if tokenizer.exists():
        (folder / "tokenizer.json").write_text(tokenizer.read_text(encoding="utf-8"), encoding="utf-8")
    config = {"model_type": "bert", "architectures": ["BertModel"], "hidden_size": hidden, "num_hidden_layers": layers,
              "num_attention_heads": heads, "intermediate_size": inner, "max_position_embeddings": 512, "hidden_act": "gelu"}
    (folder / "config.json").write_text(json.dumps(config))
    kinds = ["Transformer", "Pooling"] + (["Dense"] if outputs else [])
    paths = ["", "1_Pooling", "2_Dense"]
    modules = [{"idx": row, "path": paths[row], "type": f"sentence_transformers.models.{kind}"} for row, kind in enumerate(kinds)]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    mode = {"cls": "pooling_mode_cls_token", "mean": "pooling_mode_mean_tokens"}[pooling]
    (folder / "1_Pooling/config.json").write_text(json.dumps({mode: True}))
    if outputs:
        (folder / "2_Dense").mkdir()
        tensors = {}
        product("linear", outputs, hidden)
        save_file(tensors, folder / "2_Dense/model.safetensors")
        said = {"in_features": hidden, "out_features": outputs, "bias": True,
                "activation_function": "torch.nn.modules.linear.Identity"}
        (folder / "2_Dense/config.json").write_text(json.dumps(said))


def expected_ids(folder, texts, control, prompt):
    """The reference's ids of each text, or None where the model has no tokenizer.json."""
    path = folder / "tokenizer.json"
    if not path.exists():
        return None
    settings = json.loads(path.read_text(encoding="utf-8"))
    is_list = isinstance(settings["model"]["vocab"], list)
    if not is_list and not (folder / "vocab.txt").exists():
        return None
    tokenizer = unigram(settings) if is_list else word_pieces(folder)
    before = tokenizer.encode(prompt, add_special_tokens=False).ids if prompt else []
    return [[control[0], *before, *tokenizer.encode(text, add_special_tokens=False).ids, control[1]] for text in texts]


def compare(name, folder):
    """Prints the figures of one model; returns whether they are good."""
    with tempfile.TemporaryDirectory() as place:
        command = [ROOT / "target/release/bower-bench", "encode", "--data", folder, "--out", Path(place) / "packed"]
        asked = "".join(json.dumps(text) + "\n" for text in TEXTS)
        run = subprocess.run(command, input=asked, capture_output=True, text=True)
    if run.returncode:
        print(f"{name}: {run.stderr.strip()}")
        return False
    about, *found = map(json.loads, run.stdout.splitlines())
    encoder = Encoder(folder)
    cosines = []
    for row in found:
        vector = encoder.pooled(row["ids"])[: about["dimension"]]
        cosines.append(float(np.dot(vector / np.linalg.norm(vector), row["vector"])))
    control = (found[0]["ids"][0][0], found[0]["ids"][0][-1])
    expected = expected_ids(folder, TEXTS, control, about["prompts"]["text"])
    wrong = "not compared"
    if expected:
        pairs = [(text, ids, row["ids"][0]) for text, ids, row in zip(TEXTS, expected, found) if len(row["ids"]) == 1]
        wrong = [pair for pair in pairs if pair[1] != pair[2]]
        for text, ids, got in wrong[:5]:
            print(repr(text), ids, got, sep="\n  ")
        wrong = f"{len(wrong)} of {len(pairs)} differ"
    good = min(cosines) >= LEAST and not (expected and not wrong.startswith("0 "))
    print(f"{name}: cosine {np.mean(cosines):.5f} on average, {min(cosines):.5f} at least of {len(cosines)} texts; ids: {wrong}"
          f"{'' if good else '   FAIL'}", flush=True)
    return good


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] != "--shapes":
        sys.exit(0 if compare(Path(sys.argv[1]).name, Path(sys.argv[1])) else 1)
    good = True
    for seed, (name, shape) in enumerate(SHAPES.items()):
        with tempfile.TemporaryDirectory() as folder:
            random_model(Path(folder), shape, seed)
            good &= compare(name, Path(folder))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
