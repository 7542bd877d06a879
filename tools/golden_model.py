#!/usr/bin/env python3
"""Regenerates what the tests compare the local model with: the reference's characters, token ids and sentence vectors.

    python3 tools/golden_model.py SOURCE_DIR [unicode] [wordpiece] [minilm]

SOURCE_DIR holds model.safetensors, vocab.txt and tokenizer.json of all-MiniLM-L6-v2. Needs the Python packages numpy,
tokenizers and safetensors. Nothing here shares code with the crates: that is the point. The output is the same for the
same package versions (the seeds are fixed).
"""

import base64
import hashlib
import json
import math
import random
import sys
from pathlib import Path

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
            cell = f" (0x{first:x}, 0x{last:x}),"
            if len(row) + len(cell) > 110:
                lines.append(row)
                row = "   "
            row += cell
        lines += [row, "];", *after]
    UNICODE_RS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{UNICODE_RS}: {len(dropped)} dropped, {len(alone)} punctuation")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    source, wanted = Path(sys.argv[1]), sys.argv[2:] or ["unicode", "wordpiece", "minilm"]
    tokenizer = reference(source)
    GOLDEN.mkdir(parents=True, exist_ok=True)
    if "unicode" in wanted:
        write_unicode(tokenizer)


if __name__ == "__main__":
    main()
