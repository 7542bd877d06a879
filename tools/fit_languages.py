#!/usr/bin/env python3
"""Trains the table by which `crates/bower-core/src/text/detect.rs` tells the language of a text.

    tools/fit_languages.py FOLDER [--held FOLDER] [--write]
    tools/fit_languages.py --golden FILE

FOLDER holds unpacked packages of translated programs: their messages (`usr/share/locale/LANGUAGE/LC_MESSAGES/*.mo`), manuals
(`usr/share/help/LANGUAGE/`) and sayings (`usr/share/games/fortunes/LANGUAGE/`). The written table was trained on these of Debian 12:
gnome-user-docs libgtk-3-common libgtk-4-common evolution-common nautilus-data gnome-control-center-data gedit-common gnucash-common
gramps homebank-data shotwell-common rhythmbox-data krita-l10n gnumeric-common digikam-data freeciv-data transmission-common
fortunes-de fortunes-es fortunes-it fortunes-pl fortunes-cs fortunes-ru fortunes-bg. A text is a message or paragraph that differs from
the English one. The held-out folder has other packages in the same form: git coreutils apt dpkg tar.

The model is a multinomial logistic regression over hashed character n-grams (Joulin et al. 2017, "Bag of Tricks for Efficient
Text Classification"). Each text is also cut to a random number of its words, so that short texts are learned too.
Prints how many held-out texts of each language are told right: with each of several margins over English, which the program has at
1. `--write` writes the table. `--golden` prints for each line of FILE the number of its n-grams, the likeliest language and its
score by the written table, which a test compares with the program's. Needs numpy and scipy.
"""
import argparse
import collections
import gettext
import json
import pathlib
import random
import re
import struct

import numpy as np
import scipy.sparse as sp

LANGUAGES = ('ar bg ca cs da de el en es et fa fi fr he hi hr hu id it ja ko lt lv nb nl pl pt ro ru sk sl sr sv ta th tr uk vi zh').split()
ALIASES = {'pt_BR': 'pt', 'pt_PT': 'pt', 'zh_CN': 'zh', 'zh_TW': 'zh', 'zh_HK': 'zh', 'nn': 'nb', 'no': 'nb', 'C': 'en'}
BUCKETS = 4096
MOST_WORDS = 96
LONGEST = 24
# Texts a language, passes over them, and the strength of the pull of weights to zero: the held-out figure hardly depends on these.
TEXTS, PASSES, DECAY = 9_000, 14, 1e-6
ROOT = pathlib.Path(__file__).parent.parent
TABLE = ROOT / 'crates/bower-core/src/text/languages.bin'

FNV, PRIME, MASK = 0x811C9DC5, 0x01000193, 0xFFFFFFFF


def is_letter(c):
    """Letters and their marks by ranges of code points, so that no version of Unicode matters."""
    n = ord(c)
    if n < 0x80:
        return c.isalpha()
    return (0xC0 <= n < 0x2000 and n not in (0xD7, 0xF7)) or 0x3005 <= n <= 0x3007 or 0x3021 <= n < 0xD800 or 0xF900 <= n < 0xFF00 or 0xFF21 <= n < 0xFF5B or 0xFF66 <= n < 0xFFE0


def words(text):
    """The distinct words that a language is told by, lower case. Parts of paths, options, addresses, identifiers and acronyms are none."""
    found, at, size = {}, 0, len(text)
    while at < size and len(found) < MOST_WORDS:
        if not is_letter(text[at]):
            at += 1
            continue
        start = at
        while at < size and at - start < LONGEST and (is_letter(text[at]) or (text[at] in "'\u2019" and at + 1 < size and is_letter(text[at + 1]))):
            at += 1
        word = text[start:at]
        if not (is_sign(text, start, -1) or is_sign(text, at - 1, 1) or is_name(word)):
            found.setdefault(''.join(c.lower() for c in word))
    return list(found)


def is_sign(text, at, step):
    """Whether the character beside a word, or a point and a letter or digit beside it, makes it a part of something technical."""
    beside = at + step
    if not 0 <= beside < len(text):
        return False
    c = text[beside]
    if c in '0123456789_/\\@=<>$%&*+|#~^`{}[]':
        return True
    after = beside + step
    has_after = 0 <= after < len(text) and text[after] < '\x80' and (text[after].isalnum() or text[after] in '-_/')
    if c in '.:':
        return has_after
    return c == '-' and step < 0 and not (0 <= after < len(text) and is_letter(text[after]))


def is_name(word):
    """Whether it is an acronym or has a capital after a small letter."""
    if len(word) > 1 and all('A' <= c <= 'Z' for c in word):
        return True
    return any('a' <= a <= 'z' and 'A' <= b <= 'Z' for a, b in zip(word, word[1:]))


def features(text):
    """The buckets of the n-grams of a text: up to four characters of a word with a space at both ends."""
    found = []
    for word in words(text):
        chars = [(c, c.encode()) for c in ' ' + word + ' ']
        for start in range(len(chars)):
            h = FNV
            for nth, (c, raw) in enumerate(chars[start:start + 4]):
                for byte in raw:
                    h = ((h ^ byte) * PRIME) & MASK
                if nth or c > '\x7f':
                    found.append((h ^ h >> 15) & (BUCKETS - 1))
            c = chars[start][0]
            if c > '\x7f':
                h = FNV
                for byte in (0xFF, ord(c) >> 7 & 0xFF, ord(c) >> 15):
                    h = ((h ^ byte) * PRIME) & MASK
                found.append((h ^ h >> 15) & (BUCKETS - 1))
    return found


def language(name):
    return ALIASES.get(name, name)


def plain(markup):
    markup = re.sub(r'<(?:code|cmd|screen|input|output|file|sys|email|link|media)\b[^>]*>.*?</[^>]*>', ' ', markup, flags=re.S)
    return ' '.join(re.sub(r'<[^>]+>|&\w+;', ' ', markup).split())


def texts(folder):
    """The texts of each language."""
    found = collections.defaultdict(set)
    for path in sorted(pathlib.Path(folder).rglob('*.mo')):
        name = language(path.parent.parent.name)
        if name not in LANGUAGES:
            continue
        try:
            catalogue = gettext.GNUTranslations(open(path, 'rb'))._catalog
        except Exception:
            continue
        for key, text in catalogue.items():
            key = key[0] if isinstance(key, tuple) else key
            if not key or text == key:
                continue
            key = key.split('\x04')[-1]
            found[name].add(' '.join(text.replace('_', '').split()))
            found['en'].add(' '.join(key.replace('_', '').split()))
    for path in sorted(pathlib.Path(folder).glob('usr/share/help/*/**/*')):
        if path.suffix in ('.page', '.docbook', '.xml'):
            name = language(path.relative_to(pathlib.Path(folder) / 'usr/share/help').parts[0])
            if name in LANGUAGES:
                for part in re.findall(r'<p>(.*?)</p>|<para>(.*?)</para>|<title>(.*?)</title>', path.read_text('utf-8', 'replace'), flags=re.S):
                    found[name].add(plain(''.join(part)))
    for path in sorted(pathlib.Path(folder).glob('usr/share/games/fortunes/*/*')):
        name = language(path.parent.name.split('.')[0])
        if name in LANGUAGES and path.suffix in ('', '.u8') and path.is_file():
            for part in path.read_text('utf-8', 'ignore').split('\n%'):
                found[name].add(' '.join(part.split()))
    # What no translator has changed is English, wherever it stands.
    english = found['en']
    return {name: sorted(t for t in part if len(t) > 2 and (name == 'en' or t not in english)) for name, part in found.items()}


def cut(text, chance):
    parts = text.split()
    if len(parts) < 4:
        return text[:400]
    size = min(len(parts), int(2 ** chance.uniform(1.5, 7)))
    start = chance.randrange(len(parts) - size + 1)
    return ' '.join(parts[start:start + size])[:600]


def matrix(rows):
    """One row a text: how often each bucket occurs, over the root of the number of occurrences."""
    indices, data, ends = [], [], [0]
    for row in rows:
        counts = collections.Counter(row)
        scale = 1 / max(1, len(row)) ** .5
        indices += counts.keys()
        data += [n * scale for n in counts.values()]
        ends.append(len(indices))
    return sp.csr_matrix((np.array(data, np.float32), np.array(indices, np.int32), np.array(ends)), shape=(len(rows), BUCKETS))


def fit(x, y, weight, chance):
    w = np.zeros((BUCKETS, len(LANGUAGES)), np.float32)
    m, v, step = np.zeros_like(w), np.zeros_like(w), 0
    order = np.arange(len(y))
    for nth in range(PASSES):
        chance.shuffle(order)
        rate = .02 * (1 - nth / PASSES) + .0005
        for start in range(0, len(order), 1024):
            part = order[start:start + 1024]
            batch = x[part]
            z = batch @ w
            z -= z.max(1, keepdims=True)
            p = np.exp(z)
            p /= p.sum(1, keepdims=True)
            p[np.arange(len(part)), y[part]] -= 1
            p *= weight[y[part]][:, None] / len(part)
            g = batch.T @ p + DECAY * w
            step += 1
            m = .9 * m + .1 * g
            v = .999 * v + .001 * g * g
            w -= rate * (m / (1 - .9 ** step)) / (np.sqrt(v / (1 - .999 ** step)) + 1e-8)
    return w


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('folder', nargs='?')
    parser.add_argument('--golden')
    parser.add_argument('--held')
    parser.add_argument('--write', action='store_true')
    options = parser.parse_args()
    if options.golden:
        return golden(options.golden)
    chance = random.Random(1)
    rows, labels = [], []
    known = texts(options.folder)
    for nth, name in enumerate(LANGUAGES):
        part = known.get(name, [])
        most = TEXTS * (3 if name == 'en' else 1)
        part = chance.sample(part, most) if len(part) > most else part
        print(name, len(part), flush=True)
        for text in part:
            found = features(cut(text, chance))
            if len(found) >= 8:
                rows.append(found)
                labels.append(nth)
    x, y = matrix(rows), np.array(labels)
    counts = np.bincount(y, minlength=len(LANGUAGES))
    weight = (len(y) / len(LANGUAGES) / np.maximum(counts, 1)) ** .5
    weight[LANGUAGES.index('en')] *= 2
    w = fit(x, y, weight.astype(np.float32), np.random.default_rng(1))
    scale = np.abs(w).max() / 127
    q = np.round(w / scale).astype(np.int8)
    print('scale', scale, 'trained right', (np.argmax(x @ w, 1) == y).mean(), 'in bytes', (np.argmax(x @ (q * scale), 1) == y).mean())
    if options.held:
        report(q * scale, texts(options.held))
    if options.write:
        TABLE.write_bytes(struct.pack('<f', scale) + q.tobytes())


def report(w, held):
    english = LANGUAGES.index('en')
    chance = random.Random(2)
    for name in LANGUAGES:
        part = [t for t in held.get(name, ()) if len(t) >= 25]
        part = chance.sample(part, min(len(part), 1500))
        if not part:
            continue
        z = matrix([features(t) for t in part]) @ w
        best = z.argmax(1)
        margin = z.max(1) - z[:, english]
        told = collections.Counter(LANGUAGES[n] for n in best)
        line = ' '.join(f'{np.mean(np.where(margin > bar, best, english) == LANGUAGES.index(name)):.3f}' for bar in (0, .5, 1, 1.5, 2, 3))
        print(f'{name} {len(part):5} {line}', told.most_common(4))


def golden(path):
    table = np.frombuffer(TABLE.read_bytes()[4:], np.int8).reshape(BUCKETS, len(LANGUAGES)).astype(int)
    for line in open(path, encoding='utf-8'):
        text = json.loads(line)
        text = text if isinstance(text, str) else text[0]
        found = features(text)
        scores = table[found].sum(0) if found else np.zeros(len(LANGUAGES), int)
        best = int(scores.argmax())
        print(json.dumps([text, len(found), LANGUAGES[best], int(scores[best])], ensure_ascii=False))


if __name__ == '__main__':
    main()
