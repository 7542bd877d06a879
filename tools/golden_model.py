#!/usr/bin/env python3
"""Regenerates what the tests compare the local model with: the reference's characters, token ids and sentence vectors.

    python3 tools/golden_model.py SOURCE_DIR [unicode] [wordpiece] [minilm]

SOURCE_DIR holds model.safetensors, vocab.txt and tokenizer.json of all-MiniLM-L6-v2. Needs the Python packages numpy,
tokenizers and safetensors. Nothing here shares code with the crates: that is the point. The output is the same for the
same package versions (the seeds are fixed).
"""

import json
import math
import random
import sys
import unicodedata
from pathlib import Path

import numpy as np
from golden_texts import SENTENCES, WORDS
from safetensors.numpy import load_file
from tokenizers import Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordPiece

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "crates/bower-core/tests/golden"
UNICODE_RS = ROOT / "crates/bower-core/src/embed/wordpiece/unicode.rs"
SCALARS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def reference(source):
    """The model's tokenizer without its added tokens: a literal `[SEP]` in a text is three words, never the control token."""
    settings = json.loads((source / "tokenizer.json").read_text(encoding="utf-8"))
    model = settings["model"]
    tokenizer = Tokenizer(WordPiece(model["vocab"], unk_token=model["unk_token"],
                                    max_input_chars_per_word=model["max_input_chars_per_word"],
                                    continuing_subword_prefix=model["continuing_subword_prefix"]))
    normalizer = dict(settings["normalizer"])
    assert normalizer.pop("type") == "BertNormalizer"
    assert settings["pre_tokenizer"] == {"type": "BertPreTokenizer"}
    tokenizer.normalizer = normalizers.BertNormalizer(**normalizer)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    lines = (source / "vocab.txt").read_text(encoding="utf-8").split("\n")
    assert all(model["vocab"][piece] == row for row, piece in enumerate(lines) if piece), "vocab.txt is another vocabulary"
    return tokenizer


# ---- characters -----------------------------------------------------------------------------------------------------


def ranges(codes):
    """Sorted code points as closed ranges; the gap of the surrogates, which no text holds, does not split a range."""
    out = []
    for code in sorted(codes):
        if out and (out[-1][1] == code - 1 or (out[-1][1], code) == (0xD7FF, 0xE000)):
            out[-1][1] = code
        else:
            out.append([code, code])
    return out


def literal(code):
    """As clippy wants it: groups of four from six digits on."""
    return f"0x{code:x}" if code < 0x100000 else f"0x{code >> 16:04x}_{code & 0xFFFF:04x}"


def write_unicode(tokenizer):
    """Asks the reference about every character and writes the two tables that the standard library cannot give."""
    normal, words = tokenizer.normalizer, tokenizer.pre_tokenizer
    dropped, alone = [], []
    for code in SCALARS:
        if code < 0x80:
            continue
        text = f"x{chr(code)}x"
        if normal.normalize_str(text) == "xx":
            dropped.append(code)
        if [word for word, _ in words.pre_tokenize_str(text)] == ["x", chr(code), "x"]:
            alone.append(code)
    lines = [
        "//! Which characters the reference tokenizer drops and which it cuts out, asked of it code point by code point.",
        "//! Written by `tools/golden_model.py unicode`, never by hand: its tables are older than Unicode's newest, and the",
        "//! vectors of a text depend on following it exactly.",
        "",
        "/// Controls, formats, private use and non-spacing marks: gone before words are formed. Closed ranges, ascending.",
    ]
    for name, codes, after in (
        ("DROPPED", dropped, ["", "/// Punctuation outside ASCII: each is a word of its own. Closed ranges, ascending."]),
        ("PUNCTUATION", alone, []),
    ):
        found = ranges(codes)
        lines += ["#[rustfmt::skip]", f"pub(super) static {name}: [(u32, u32); {len(found)}] = ["]
        row = "   "
        for first, last in found:
            cell = f" ({literal(first)}, {literal(last)}),"
            if len(row) + len(cell) > 110:
                lines.append(row)
                row = "   "
            row += cell
        lines += [row, "];", *after]
    UNICODE_RS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{UNICODE_RS}: {len(dropped)} dropped, {len(alone)} punctuation")


# ---- token ids ------------------------------------------------------------------------------------------------------

# Where random characters come from: a string picks a few of these, so that neighbours belong together.
BLOCKS = [
    (0x00, 0x1F), (0x20, 0x7E), (0x20, 0x7E), (0x7F, 0xFF), (0xA0, 0xFF), (0x100, 0x17F), (0x180, 0x24F), (0x250, 0x2AF),
    (0x2B0, 0x2FF), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x4FF), (0x500, 0x52F), (0x530, 0x58F), (0x590, 0x5FF),
    (0x600, 0x6FF), (0x700, 0x74F), (0x780, 0x7BF), (0x840, 0x8FF), (0x900, 0x97F), (0x980, 0x9FF), (0xA00, 0xAFF),
    (0xB00, 0xBFF), (0xC00, 0xD7F), (0xE00, 0xE7F), (0xE80, 0xFFF), (0x1000, 0x109F), (0x10A0, 0x10FF), (0x1100, 0x11FF),
    (0x1200, 0x139F), (0x13A0, 0x16FF), (0x1700, 0x18AF), (0x1AB0, 0x1AFF), (0x1B00, 0x1C7F), (0x1C80, 0x1CFF),
    (0x1D00, 0x1DFF), (0x1E00, 0x1EFF), (0x1E00, 0x1EFF), (0x1F00, 0x1FFF), (0x2000, 0x206F), (0x2070, 0x20CF),
    (0x20D0, 0x20FF), (0x2100, 0x218F), (0x2190, 0x22FF), (0x2300, 0x24FF), (0x2500, 0x27BF), (0x27C0, 0x2BFF),
    (0x2C00, 0x2DFF), (0x2E00, 0x2E7F), (0x2E80, 0x2FFF), (0x3000, 0x303F), (0x3040, 0x30FF), (0x3100, 0x33FF),
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0x4E00, 0x9FFF), (0xA000, 0xA6FF), (0xA700, 0xABFF), (0xAC00, 0xD7FF),
    (0xAC00, 0xD7FF), (0xE000, 0xF8FF), (0xF900, 0xFAFF), (0xFB00, 0xFDFF), (0xFE00, 0xFE6F), (0xFE70, 0xFEFF),
    (0xFF00, 0xFFEF), (0xFFF0, 0xFFFF), (0x10000, 0x1083F), (0x10840, 0x10FFF), (0x11000, 0x11FFF), (0x12000, 0x14FFF),
    (0x16000, 0x18FFF), (0x1B000, 0x1CFFF), (0x1D000, 0x1D7FF), (0x1D800, 0x1EFFF), (0x1F000, 0x1FAFF), (0x20000, 0x2A6DF),
    (0x2A700, 0x2CEAF), (0x2F800, 0x2FA1F), (0x30000, 0x323AF), (0xE0000, 0xE01EF), (0x100000, 0x10FFFF),
]
SPACES = [" ", " ", " ", " ", "  ", "\t", "\n", "\r\n", "\u00a0", "\u2003", "\u3000", "\u200b", "\x0b", "\x85"]
MARKS = list(".,;:!?-_'\"()[]{}<>/\\@#$%^&*+=~`|") + ["\u2019", "\u2014", "\u2026", "\u3002", "\uff0c", "[SEP]", "[MASK]"]


def fuzzed(random_, pieces):
    """One string of a few parts: pieces, random characters of chosen blocks, punctuation, spaces."""
    blocks = random_.sample(BLOCKS, random_.randint(1, 3))
    out = []
    for _ in range(random_.randint(1, 9)):
        kind = random_.random()
        if kind < 0.40:
            word = "".join(random_.choice(pieces).removeprefix("##") for _ in range(random_.randint(1, 2)))
            out.append(random_.choice([str, str, str.upper, str.title, lambda w: unicodedata.normalize("NFD", w)])(word))
        elif kind < 0.75:
            for _ in range(random_.randint(1, 4)):
                code = random_.randint(*random_.choice(blocks))
                out.append(chr(code) if not 0xD800 <= code < 0xE000 else " ")
        elif kind < 0.85:
            out.append(random_.choice(MARKS))
        if random_.random() < 0.45:
            out.append(random_.choice(SPACES))
    return "".join(out)


def written():
    """The written texts, and each again in other forms: case, decomposition, joined, cut, very long words."""
    out = ["", " ", "\n\t ", *SENTENCES]
    for number, text in enumerate(SENTENCES):
        out.append([text.upper(), text.lower(), text.swapcase(), text.title()][number % 4])
        out.append(unicodedata.normalize(["NFD", "NFC", "NFKD", "NFKC"][number % 4], text))
        out.append([text[::-1], text.replace(" ", ""), "\u200b".join(text), "\u0301".join(text)][number % 4])
    for count in (99, 100, 101, 400):
        out += ["a" * count, "\u00e9" * count, "e\u0301" * count, "\u4e2d" * count, "x" * (count - 1) + "\u0130",
                "1" * count + "." + "2" * count]
    return out


def write_wordpiece(tokenizer):
    """Writes texts with their ids (JSON lines), and for all characters a digest of the ids in each block of 256."""
    random_ = random.Random(20_260_101)
    pieces = [piece for piece, row in tokenizer.get_vocab().items() if not piece.startswith("[") or row > 998]
    pieces.sort()
    texts = written() + [fuzzed(random_, pieces) for _ in range(3_000)]
    texts = list(dict.fromkeys(texts))
    path = GOLDEN / "wordpiece.jsonl"
    with path.open("w", encoding="ascii", newline="\n") as out:
        for text in texts:
            ids = tokenizer.encode(text, add_special_tokens=False).ids
            out.write(json.dumps([text, ids], separators=(",", ":")) + "\n")
    print(f"{path}: {len(texts)} texts, {path.stat().st_size} bytes")

    # A line covers consecutive blocks of one digest: the first block, how many, FNV-1a (32 bits) over the ids.
    runs = []
    for block in range(0x1100):
        digest = 0x811C9DC5
        for code in range(block << 8, (block + 1) << 8):
            if 0xD800 <= code < 0xE000:
                continue
            for number in tokenizer.encode(in_places(chr(code)), add_special_tokens=False).ids:
                for byte in number.to_bytes(4, "little"):
                    digest = (digest ^ byte) * 0x01000193 & 0xFFFFFFFF
        if runs and runs[-1][2] == digest:
            runs[-1][1] += 1
        else:
            runs.append([block, 1, digest])
    path = GOLDEN / "characters.txt"
    path.write_text("".join(f"{first:x} {count} {digest:08x}\n" for first, count, digest in runs), encoding="ascii")
    print(f"{path}: {len(runs)} runs, {path.stat().st_size} bytes")


def in_places(character):
    """A character alone, inside a word, and after a capital."""
    return f"{character} x{character}x A{character} {character}s."


# ---- sentence vectors -----------------------------------------------------------------------------------------------

LAYERS, HEADS, EPSILON = 6, 12, 1e-12
MAX_PIECES = 254  # what a window holds beside [CLS] and [SEP]
CLS, SEP = 101, 102


class Float64:
    """The whole model in float64, written from the architecture (Devlin et al. 2018), not from anybody's code."""

    layers, heads, epsilon = LAYERS, HEADS, EPSILON

    def __init__(self, path):
        self.weights = {name: value.astype(np.float64) for name, value in load_file(path).items()}
        self.erf = np.frompyfunc(math.erf, 1, 1)

    def norm(self, rows, name):
        centred = rows - rows.mean(axis=1, keepdims=True)
        scale = np.sqrt((centred**2).mean(axis=1, keepdims=True) + self.epsilon)
        return centred / scale * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def dense(self, rows, name):
        return rows @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def states(self, ids):
        """The last layer's states, one row for each id."""
        table = "embeddings.{}_embeddings.weight"
        rows = self.weights[table.format("word")][ids] + self.weights[table.format("position")][: len(ids)]
        rows = self.norm(rows + self.weights[table.format("token_type")][0], "embeddings.LayerNorm")
        for layer in range(self.layers):
            at = f"encoder.layer.{layer}."
            query, key, value = (
                self.dense(rows, f"{at}attention.self.{part}").reshape(len(ids), self.heads, -1).swapaxes(0, 1)
                for part in ("query", "key", "value")
            )
            scores = query @ key.swapaxes(1, 2) / math.sqrt(query.shape[2])
            weights = np.exp(scores - scores.max(axis=2, keepdims=True))
            weights /= weights.sum(axis=2, keepdims=True)
            mixed = (weights @ value).swapaxes(0, 1).reshape(len(ids), -1)
            rows = self.norm(rows + self.dense(mixed, f"{at}attention.output.dense"), f"{at}attention.output.LayerNorm")
            inner = self.dense(rows, f"{at}intermediate.dense")
            inner = inner * 0.5 * (1 + self.erf(inner / math.sqrt(2)).astype(np.float64))
            rows = self.norm(rows + self.dense(inner, f"{at}output.dense"), f"{at}output.LayerNorm")
        return rows

    def vector(self, ids):
        """Near-equal windows of at most 254 pieces, each between [CLS] and [SEP]; mean over all their rows; unit length."""
        windows = max(1, -(-len(ids) // MAX_PIECES))
        cuts = [len(ids) * window // windows for window in range(windows + 1)]
        rows = [self.states([CLS, *ids[start:end], SEP]) for start, end in zip(cuts, cuts[1:])]
        mean = np.concatenate(rows).mean(axis=0)
        return mean / np.linalg.norm(mean)


def check_published(tokenizer, model):
    """The similarities that the model's documentation prints, so that the float64 pass is not only ours."""
    texts = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    vectors = [model.vector(tokenizer.encode(text, add_special_tokens=False).ids) for text in texts]
    for one, other, published in ((0, 1, 0.6660), (0, 2, 0.1046), (1, 2, 0.1411)):
        found = vectors[one] @ vectors[other]
        assert abs(found - published) < 6e-5, (texts[one], texts[other], found, published)


def of_length(tokenizer, random_, pieces):
    """A text of exactly so many pieces: whole sentences in random order, then single words."""
    count = lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)
    words = [word for word in WORDS if count(word) == 1]
    out, left = [], pieces
    for text in random_.sample(SENTENCES * 8, len(SENTENCES) * 8):
        if left >= (size := count(text)):
            out.append(text)
            left -= size
        if left < 12:
            break
    out += random_.choices(words, k=left)
    text = " ".join(out)
    assert count(text) == pieces
    return text


def write_minilm(tokenizer, source):
    """Writes texts, how many pieces they have, and their vectors in millionths (JSON lines)."""
    model = Float64(source / "model.safetensors")
    check_published(tokenizer, model)
    random_ = random.Random(20_260_102)
    lengths = (2, 14, 31, 62, 126, 127, 200, 253, 254, 255, 256, 400, 508, 509, 763, 1_300)
    texts = ["", *SENTENCES, *(of_length(tokenizer, random_, pieces) for pieces in lengths)]
    path = GOLDEN / "minilm.jsonl"
    with path.open("w", encoding="ascii", newline="\n") as out:
        for text in texts:
            ids = tokenizer.encode(text, add_special_tokens=False).ids
            vector = [round(float(value) * 1e6) for value in model.vector(ids)]
            line = {"text": text, "pieces": len(ids), "vector": vector}
            out.write(json.dumps(line, separators=(",", ":")) + "\n")
    print(f"{path}: {len(texts)} texts, {path.stat().st_size} bytes")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    source, wanted = Path(sys.argv[1]), sys.argv[2:] or ["unicode", "wordpiece", "minilm"]
    tokenizer = reference(source)
    GOLDEN.mkdir(parents=True, exist_ok=True)
    if "unicode" in wanted:
        write_unicode(tokenizer)
    if "wordpiece" in wanted:
        write_wordpiece(tokenizer)
    if "minilm" in wanted:
        write_minilm(tokenizer, source)


if __name__ == "__main__":
    main()
