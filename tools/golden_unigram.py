#!/usr/bin/env python3
"""Regenerates what the tests compare the unigram tokenizer with: a small vocabulary, and the reference's ids of texts.

    python3 tools/golden_unigram.py

Needs the Python packages sentencepiece and tokenizers. SentencePiece trains the vocabulary and compiles its character map; the
reference is `tokenizers`. The output is the same for the same package versions (the seeds are fixed).
"""

import base64
import json
import random
import tempfile
import unicodedata
from pathlib import Path

import sentencepiece
from golden_model import BLOCKS, MARKS, SPACES
from golden_texts import SENTENCES, WORDS
from sentencepiece import sentencepiece_model_pb2
from tokenizers import Tokenizer

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "crates/bower-core/tests/golden"
PIECES = 700
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]

# The character map of the small vocabulary: a part of NFKC, with keys of one to three characters, and white space.
MAPPED = [*map(chr, range(0xFF21, 0xFF3B)), *map(chr, range(0xFF41, 0xFF5B)), "ﬁ", "ﬂ", "①", "②", "½", "㎏", "Ⅳ", "ª", "…", "ﷺ", "ｶ", "ﾞ"]
COMPOSED = "áàâäåãéèêëíìîïóòôöõúùûüçñÁÉÍÓÚÜŠšŽžộệữ"
SPACED = ["\t", "\n", "\r", "\u00a0", "\u2003", "\u3000", "\u0085"]
DROPPED = ["\u200b", "\u00ad", "\ufeff", "\x07"]


def rules():
    """Lines of SentencePiece's table: code points of a text, a tab, code points of its normal form."""
    found = {char: unicodedata.normalize("NFKC", char) for char in MAPPED}
    found |= {unicodedata.normalize("NFD", char): char for char in COMPOSED}
    found |= {char: " " for char in SPACED} | {char: "" for char in DROPPED} | {"ｶﾞ": "ガ", "\r\n": " "}
    line = lambda text: " ".join(f"{ord(char):X}" for char in text)
    return "".join(f"{line(key)}\t{line(value)}\n" for key, value in sorted(found.items()))


def vocabulary():
    """A published tokenizer.json of a small unigram model."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "corpus.txt").write_text("\n".join([*SENTENCES, *WORDS]), encoding="utf-8")
        (folder / "rules.tsv").write_text(rules(), encoding="utf-8")
        sentencepiece.SentencePieceTrainer.train(
            input=str(folder / "corpus.txt"), model_prefix=str(folder / "small"), vocab_size=PIECES, model_type="unigram",
            normalization_rule_tsv=str(folder / "rules.tsv"), character_coverage=0.98, num_threads=1, minloglevel=2)
        model = sentencepiece_model_pb2.ModelProto()
        model.ParseFromString((folder / "small.model").read_bytes())
    # As XLM-R's files have it: its own four control tokens first, one that follows the vocabulary.
    pieces = [[piece, 0.0] for piece in SPECIAL]
    pieces += [[piece.piece, piece.score] for piece in model.pieces if piece.type == 1]
    added = [*enumerate(SPECIAL), (len(pieces), "<mask>")]
    return {
        "version": "1.0",
        "added_tokens": [{"id": row, "content": content, "single_word": False, "lstrip": content == "<mask>", "rstrip": False,
                          "normalized": False, "special": True} for row, content in added],
        "normalizer": {"type": "Precompiled",
                       "precompiled_charsmap": base64.b64encode(model.normalizer_spec.precompiled_charsmap).decode()},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "WhitespaceSplit"},
            {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}]},
        "model": {"type": "Unigram", "unk_id": 3, "vocab": pieces, "byte_fallback": False},
    }


def reference(settings):
    """The tokenizer without its added tokens: a literal `</s>` in a text is pieces, never the control token."""
    settings = {**settings, "added_tokens": [], "post_processor": None, "truncation": None, "padding": None, "decoder": None}
    # Its trie also has the control tokens of the vocabulary; a text that cannot hold them hides them.
    hidden = {token for token in SPECIAL + ["<mask>"]}
    vocab = [["\ue000" + piece if piece in hidden else piece, score] for piece, score in settings["model"]["vocab"]]
    return Tokenizer.from_str(json.dumps({**settings, "model": {**settings["model"], "vocab": vocab}}))


def texts(pieces):
    """The written texts in several forms, and random ones of pieces, characters, marks and spaces."""
    out = ["", " ", "\n\t ", "</s> <s>", "a</s>b <mask>", *SENTENCES]
    for number, text in enumerate(SENTENCES):
        out.append([text.upper(), text.lower(), text.swapcase(), text.title()][number % 4])
        out.append(unicodedata.normalize(["NFD", "NFC", "NFKD", "NFKC"][number % 4], text))
        out.append([text[::-1], text.replace(" ", ""), "\u200b".join(text), "\u0301".join(text)][number % 4])
    for count in (1, 2, 99, 400):
        out += ["a" * count, "\u00e9" * count, "e\u0301" * count, "\u4e2d" * count, "\U0001f600" * count]
    random_ = random.Random(20_261_129)
    for _ in range(1_000):
        blocks, parts = random_.sample(BLOCKS, random_.randint(1, 3)), []
        for _ in range(random_.randint(1, 9)):
            kind = random_.random()
            if kind < 0.45:
                parts.append(random_.choice(pieces).replace("\u2581", random_.choice(["", " "])))
            elif kind < 0.75:
                codes = [random_.randint(*random_.choice(blocks)) for _ in range(random_.randint(1, 4))]
                parts += [chr(code) if not 0xD800 <= code < 0xE000 and code != 0xE000 else " " for code in codes]
            elif kind < 0.85:
                parts.append(random_.choice(MARKS + MAPPED + DROPPED))
            if random_.random() < 0.45:
                parts.append(random_.choice(SPACES))
        out.append("".join(parts))
    return list(dict.fromkeys(out))


def ids(tokenizer, text):
    return tokenizer.encode(text, add_special_tokens=False).ids


def main():
    settings = vocabulary()
    (GOLDEN / "unigram.json").write_text(json.dumps(settings, ensure_ascii=True, separators=(",", ":")) + "\n", encoding="ascii")
    tokenizer = reference(settings)
    pieces = [piece for piece, _ in settings["model"]["vocab"]][4:]
    with (GOLDEN / "unigram.jsonl").open("w", encoding="ascii", newline="\n") as out:
        asked = texts(pieces)
        for text in asked:
            out.write(json.dumps([text, ids(tokenizer, text)], separators=(",", ":")) + "\n")
    sizes = [(GOLDEN / name).stat().st_size for name in ("unigram.json", "unigram.jsonl")]
    print(f"{len(pieces)} pieces, {len(asked)} texts, {sizes} bytes")


if __name__ == "__main__":
    main()
