#!/usr/bin/env python3
"""Makes `crates/bower-core/src/memory/gate/random.tsv`: the weights by which a value is judged made or chosen. Needs numpy.

    tools/fit_random.py           write the table; print how right it is on what was left out
    tools/fit_random.py --check   fail if the committed table is not what the committed data give

Three logistic regressions with ridge over features of a value (`memory/gate/random.rs` computes the same):

- `made`: a machine made the value (keys, tokens), against words, names of code, paths, dates and what people choose;
- `chosen`: a machine made it or somebody chose it as a password, against words, numbers, names of code and products;
- `state`: a single word says how a password is ("stored", "abgelaufen"), against words that people choose as one.

Letters that follow each other are learned from `bower-bench/data/memory/prose.tsv` and the texts of `data/turns`. Values are made from the
words of these files by a seeded generator. A third of the words is left out; values of the left-out part are made of these words alone.
"""
import json
import math
import re
import sys
import unicodedata
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / 'crates/bower-bench/data'
TABLE = ROOT / 'crates/bower-core/src/memory/gate/random.tsv'
RIDGE = {'made': 1., 'chosen': 1., 'state': .7}
LEAST_ENDING = 4
# A bar is the score that this share of the left-out values of other kinds stays below.
BARS = (.80, .90, .97, .99)
SAMPLES = ('hunter2', 'Sommer2024!', 'correct-horse-battery', 'swordfish', '3f2a91c07be45d6688a1f0c2d9e4b5a6', '7Gk2pQ9xVb4LmT8wZc1R', 'getUserToken2',
           'Straße', 'пароль7', '2026-03-01', 'Xk9#mQ2v!', 'a', '1Password', "O'Neill's", 'AES256', '+49-170-5551234')
COMMON = 220
# In a text of so many characters (those of prose.tsv) a word that comes twice is frequent in its language.
LONG = 600
A = 'abcdefghijklmnopqrstuvwxyz'


class Random:
    """SplitMix64: the same values with every version of Python."""
    def __init__(self, seed):
        self.state = seed

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & (2**64 - 1)
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
        return z ^ (z >> 31)

    def below(self, n):
        return self.bits() % n

    def of(self, values):
        return values[self.below(len(values))]

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def text(self, letters, low, high=None):
        return ''.join(self.of(letters) for _ in range(self.between(low, high or low)))


# --- the features, as `random.rs` computes them ---

def plain(char):
    """The letter a to z of a character without its marks; '' for what has none."""
    base = unicodedata.normalize('NFD', char)[0].lower()
    return base if base in A else ''


def kind(char):
    if char.isdigit() and char.isascii():
        return 'd'
    if char.isalpha():
        return 'u' if char.isupper() else 'l'
    return 's'


def runs(value):
    """Runs that a reader sees: digits, capitals, small letters with the capital before them; signs end them."""
    count, last, before = 0, 's', 's'
    for char in value:
        now = kind(char)
        if now != 's':
            begins = last == 'u' and now == 'l' and before != 'u'
            if now != last and not begins:
                count += 1
        before, last = last, now
    return count


def surprise(value, pairs):
    """Mean and highest surprise (bits) of a letter behind another, in the words of the value."""
    total, count, high, run = 0., 0, [], '^'
    last = 's'
    for char in list(value) + ['\0']:
        letter = plain(char) if char != '\0' else ''
        now = kind(char) if char != '\0' else 's'
        if run != '^' and (not letter or (last == 'l' and now == 'u')):
            bits = pairs[27 * (A.index(run) + 1)]
            total, count = total + bits, count + 1
            run = '^'
        if letter:
            bits = pairs[27 * (0 if run == '^' else A.index(run) + 1) + A.index(letter) + 1]
            total, count = total + bits, count + 1
            if run != '^':
                high.append(bits)
            run = letter
        last = now
    high.sort(reverse=True)
    top = sum(high[:3]) / 3 if len(high) >= 3 else (sum(high) / 3)
    return (total / count if count else 0.), top


NAMES = ['base', 'length', 'longer', 'surprise', 'top', 'digits', 'runs', 'short_runs', 'capitals_inside', 'signs', 'joints', 'hex',
         'only_digits', 'entropy', 'mixed', 'year', 'few_digits_last', 'leet', 'no_small', 'dotted_number', 'longest_letters', 'sign_last', 'letters',
         'surprise_long', 'runs_long', 'hex_long', 'no_vowel', 'spread_signs', 'foreign', 'only_letters', 'first_capital', 'one_letter', 'joined_words']


def features(value, pairs):
    value = value[:128]
    n = len(value)
    kinds = [kind(c) for c in value]
    digits, capitals, small, other = (kinds.count(k) for k in 'duls')
    letters = capitals + small
    mean, top = surprise(value, pairs)
    count = runs(value)
    per = count / n
    joints = sum(c in "-_./,:'@" for c in value)
    signs = other - joints
    is_hex = float(n >= 6 and all(c in '0123456789abcdefABCDEF-' for c in value) and digits > 0 and not (capitals and small))
    counts = {}
    for char in value:
        counts[char] = counts.get(char, 0) + 1
    entropy = -sum(c / n * math.log2(c / n) for c in counts.values())
    inside = sum(kinds[i] == 'u' and kinds[i - 1] in 'ul' for i in range(1, n))
    leet = sum(kinds[i] == 'd' and kinds[i - 1] in 'ul' and kinds[i + 1] in 'ul' for i in range(1, n - 1))
    spread = sum(kinds[i] == 's' and value[i] not in "-_./,:'@" and 0 < i < n - 1 for i in range(n))
    tail = len(value) - len(value.rstrip('0123456789'))
    core = value.rstrip('!?*#$%&+.')
    tail_core = len(core) - len(core.rstrip('0123456789'))
    year = float(tail_core == 4 and core[-4:-2] in ('19', '20') and letters >= 3)
    longest = run = 0
    for k in kinds:
        run = run + 1 if k in 'ul' else 0
        longest = max(longest, run)
    vowels = sum(plain(c) in 'aeiouy' and plain(c) != '' for c in value)
    mixed = float(capitals > 0 and small > 0 and digits > 0)
    long = min(max(n - 12, 0), 20) / 20
    words = sum(len(w) >= 3 for w in re.split(r'[-_.]', value) if w.isalpha())
    return [1., math.log(n), float(n >= 16), mean, top, digits / n, per, float(per > 1 / 3), inside / n, min(signs, 3), min(joints, 4), is_hex,
            float(digits == n), entropy, mixed, year, float(1 <= tail <= 3 and letters >= 3), min(leet, 3) / 3, float(small == 0 and letters > 0),
            float(digits > 0 and letters == 0 and joints > 0), longest / n, float(kinds[-1] == 's' and value[-1] not in "-_./,:'@"), letters / n,
            mean * long, per * long, is_hex * float(n >= 20), float(letters >= 4 and vowels * 5 < letters), min(spread, 3),
            float(any(not c.isascii() and c.isalpha() and not plain(c) for c in value)), float(letters == n), float(kinds[0] == 'u'),
            float(letters == 1 and digits > 1), float(words >= 3)]


# --- the data ---

def prose():
    lines = [line.split('\t') for line in (DATA / 'memory/prose.tsv').read_text(encoding='utf-8').splitlines() if not line.startswith('#')]
    texts = [text for _, text in lines]
    for name in ('train', 'languages'):
        with open(DATA / f'turns/{name}.jsonl', encoding='utf-8') as file:
            texts += [json.loads(line)['text'] for line in file]
    return texts


def words_of(texts):
    return [w for text in texts for w in re.findall(r"[^\W\d_]+", text) if plain(w[0])]


def letter_pairs(words):
    counts = np.full((27, 27), .5)
    for word in words:
        letters = [A.index(plain(c)) + 1 for c in word if plain(c)]
        for a, b in zip([0] + letters, letters + [0]):
            counts[a, b] += 1
    share = counts / counts.sum(axis=1, keepdims=True)
    return [round(float(x), 2) for x in -np.log2(share).ravel()]


BASE62 = A + A.upper() + '0123456789'
LEET = {'a': '4@', 'e': '3', 'i': '1!', 'o': '0', 's': '5$', 't': '7'}


def made(r):
    which = r.below(14)
    if which < 3:
        return r.text(BASE62, r.of([16, 20, 24, 32, 40, 48]))
    if which == 3:
        return r.text('0123456789abcdef', r.of([24, 32, 40, 48, 64]))
    if which == 4:
        return r.text(BASE62 + '+/', r.of([20, 28, 42, 63])) + '='
    if which == 5:
        return r.text(BASE62 + '-_', r.of([20, 22, 32, 43]))
    if which == 6:
        return r.text(A.upper() + '234567', r.of([16, 26, 32]))
    if which == 7:
        return '-'.join(r.text(A.upper() + '0123456789', 5) for _ in range(r.between(3, 5)))
    if which == 8:
        return r.text(A + '0123456789', r.of([16, 20, 24, 30, 32, 40]))
    if which == 9:
        return r.of(['sk', 'key', 'tok', 'pat', 'api', 'live', 'prod', 'acme', 'app']) + r.of('_-.') + r.text(BASE62, 16, 40)
    if which == 10:
        return r.text(BASE62, 8) + '-' + r.text(BASE62, 12, 24)
    if which == 11:
        return r.text(BASE62, 12, 19)
    if which == 12:
        return r.text(BASE62, 6, 14) + '.' + r.text(BASE62 + '-_', 16, 32)
    return r.text(BASE62 + '!#$%&*+-=?@^_~', r.between(16, 28))


def chosen(r, words, names):
    word = lambda: r.of(words)
    capital = lambda w: w[:1].upper() + w[1:]
    number = lambda: r.of([str(r.between(1, 99)), str(r.between(1950, 2027)), r.text('0123456789', 3, 4), '123', '1234', '007', '42'])
    mark = lambda: r.of('!!!?*#$.&+%-_')
    which = r.below(14)
    if which < 3:
        return capital(word()) + number() + r.of(['', '', mark()])
    if which == 3:
        return word() + number()
    if which == 4:
        text = ''.join(r.of(LEET[c]) if c in LEET and r.below(2) else c for c in word())
        return r.of([capital(text), text]) + r.of(['', number(), mark()])
    if which == 5:
        return r.of('-._ '.strip() + '-').join(word() for _ in range(r.between(3, 4))) + r.of(['', number()])
    if which == 6:
        return capital(word()) + capital(word()) + r.of(['', number(), mark()])
    if which == 7:
        return word() + word() + number()
    if which in (8, 9):
        return r.text(BASE62 + '!#$%&*+-=?@', 7, 14)
    if which == 10:
        return r.of(['qwertz', 'qwerty', 'asdf', 'azerty', 'abc', 'qaz', 'yxcv', 'zxcv', '1q2w3e', 'q1w2e3']) + number() + r.of(['', mark()])
    if which == 11:
        return capital(word()) + mark() + number()
    if which == 12:
        return r.text(A + '0123456789', 7, 12)
    return r.of([mark() + capital(word()) + number(), number() + capital(word()) + mark(), capital(word()) + r.of('-_.@#&') + capital(word()) + number()])


def natural(r, words):
    """Words, names of code and products, numbers, and whatever else stands in notes and is no secret."""
    word = lambda: r.of(words)
    capital = lambda w: w[:1].upper() + w[1:]
    short = lambda: r.of(words)[:r.between(2, 6)]
    n = lambda low, high: str(r.between(low, high))
    which = r.below(36)
    if which < 10:
        return r.of([word(), word(), capital(word()), word().upper()])
    if which == 10:
        return r.of(['-', "'", '/', '-']).join([word(), word()])
    if which == 11:
        return word() + capital(word()) + r.of(['', capital(word()), 'V' + n(1, 9)])
    if which == 12:
        return '_'.join(word() for _ in range(r.between(2, 4)))
    if which == 13:
        return r.of(['/', './', '~/', '']) + '/'.join(word() for _ in range(r.between(2, 4))) + r.of(['', '.md', '.rs', '.txt', '.py', '.pdf'])
    if which == 14:
        return r.of(['v', '', '']) + '.'.join(n(0, 30) for _ in range(r.between(2, 4)))
    if which == 15:
        return f'{n(2015, 2030)}-{r.between(1, 12):02}-{r.between(1, 28):02}'
    if which == 16:
        return r.of([f'{r.between(0, 23):02}:{r.between(0, 59):02}', f'{n(1, 28)}.{n(1, 12)}.{n(2015, 2030)}', f'{n(1, 12)}/{n(1, 28)}/{n(20, 30)}'])
    if which == 17:
        return n(1, 10 ** r.between(1, 9))
    if which == 18:
        return r.of(['+49', '+1', '+44', '0', '+33', '+81']) + r.of(['-', '', ' ']).strip() + '-'.join(r.text('0123456789', 3, 4) for _ in range(3))
    if which == 19:
        return r.of(['€', '$', '']) + n(1, 9999) + r.of(['.50', ',99', '%', 'kg', 'GB', 'ms', 'MB', 'km', 'px', 'EUR', 'h', 'k', 'x'])
    if which == 20:
        return short().upper()[:4] + n(1, 9999)
    if which == 21:
        return short().upper()[:3] + '-' + n(1, 99999)
    if which == 22:
        return word() + n(1, 99)
    if which == 23:
        return '-'.join([word()] + [short() for _ in range(r.between(1, 2))] + [n(1, 24)])
    if which == 24:
        return '.'.join([word(), word(), r.of(['com', 'org', 'de', 'internal', 'local', 'io', 'test', 'fr'])]) + r.of(['', ':' + n(80, 65535)])
    if which == 25:
        return word() + r.of(['', '.' + word()]) + '@' + word() + '.' + r.of(['com', 'org', 'de', 'net'])
    if which == 26:
        return '.'.join(n(0, 255) for _ in range(4)) + r.of(['', '/24', ':8080'])
    if which == 27:
        return r.of([word() + '()', word() + '::' + word(), word() + '.' + word() + '()', '--' + word(), '#' + word(), '@' + word(), word() + 's'])
    if which == 28:
        return r.of(['SHA', 'AES', 'RSA', 'UTF', 'ISO', 'RFC', 'PBKDF', 'HMAC', 'TLS', 'USB', 'IPv', 'ES', 'HS', 'x', 'MP', 'H']) + r.of(['', '-']) + n(1, 9999)
    if which == 29:
        return r.of(['Q' + n(1, 4) + '-' + n(2019, 2030), 'KW' + n(1, 52), 'FY' + n(20, 30), n(1, 3) + 'x' + n(1, 9), n(2, 4) + 'FA', 'i' + n(3, 9), 'G' + n(2, 9)])
    if which == 30:
        return ':'.join(r.text('0123456789abcdef', 2) for _ in range(6))
    if which == 31:
        return r.text('0123456789abcdef', r.of([7, 8, 10]))
    if which == 32:
        return '"' + word() + '"'
    if which == 33:
        return r.of(['1Password', 'Bitwarden', 'KeePassXC', 'LastPass', 'PostgreSQL16', 'Node20', 'Windows11', 'iPhone15', 'macOS14', 'MySQL8', 'HTTP2',
                     'K8s', 'log4j', 'OAuth2', 'WPA2', 'WPA3', 'Win32', 'GitHub', 'GitLab', 'JavaScript', 'LDAP', 'argon2id', 'bcrypt', 'sha256', 'ed25519',
                     'base64', 'S3', 'EC2', 'n8n', 'i18n', 'B2B', 'web3', 'Office365', '7zip', '4chan', 'U2F', 'FIDO2', 'YubiKey5', 'TypeScript5.4'])
    if which == 34:
        return capital(word()) + '-' + capital(word())
    return word() + r.of(['_', '-', '']) + r.of(['id', 'name', 'key', 'v' + n(1, 9), 'prod', 'dev', n(1, 9)])


def code(r, words):
    """Long names of code, with digits in them: no machine made them. As passwords they would be good ones, so `chosen` does not see them."""
    word = lambda: r.of(words) + (str(r.between(1, 99)) if r.below(5) == 0 else '')
    count = r.between(3, 6)
    if r.below(2):
        return r.of('-_./').join(word() for _ in range(count))
    text = ''.join(w[:1].upper() + w[1:] for w in (word() for _ in range(count)))
    return r.of([text, text[:1].lower() + text[1:]])


def halves(words):
    """Two thirds for fitting, a third left out, by a checksum of the word."""
    is_out = lambda word: sum(ord(c) * (i + 7) for i, c in enumerate(word.lower())) % 3 == 0
    return [w for w in words if not is_out(w)], [w for w in words if is_out(w)]


def values(seed, words, choices, count):
    r = Random(seed)
    rows = [(made(r), 'made') for _ in range(count)]
    rows += [(chosen(r, r.of([words, choices]), None), 'chosen') for _ in range(count)]
    rows += [(natural(r, words), 'natural') for _ in range(2 * count)]
    rows += [(code(r, words), 'code') for _ in range(count // 4)]
    return [(value, of) for value, of in rows if len(value) > 1]


def fit(x, y, ridge):
    w = np.zeros(x.shape[1])
    cost = np.full(x.shape[1], ridge)
    cost[0] = 1e-3
    for _ in range(60):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        step = np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + np.diag(cost), x.T @ (p - y) + cost * w)
        w -= step
        if abs(step).max() < 1e-9:
            break
    return w


def endings(word):
    letters = ''.join(plain(c) for c in word)
    return [letters[-size:] + '$' for size in (1, 2, 3, 4) if len(letters) > size]


def states():
    lines = [line.split('\t') for line in (DATA / 'memory/states.tsv').read_text(encoding='utf-8').splitlines() if not line.startswith('#')]
    return [(word, 1.) for _, said, _ in lines for word in said.split()] + [(word, 0.) for _, _, chosen in lines for word in chosen.split()]


def fit_states(rows):
    counts = {}
    for word, _ in rows:
        for end in set(endings(word)):
            counts[end] = counts.get(end, 0) + 1
    names = sorted(end for end, count in counts.items() if count >= LEAST_ENDING)
    x = np.array([[1., len(word) / 10] + [float(end in endings(word)) for end in names] for word, _ in rows])
    return names, fit(x, np.array([y for _, y in rows]), RIDGE['state'])


def judge_state(word, names, w):
    return w[0] + w[1] * len(word) / 10 + sum(w[2 + names.index(end)] for end in endings(word) if end in names)


def report(name, score, y):
    cuts = np.quantile(score[y == 0], [.97, .99])
    shares = ', '.join(f'{(score[y == 1] >= cut).mean():.3f} at {1 - share:.2f} of the others (from {cut:.2f} on)' for share, cut in zip((.97, .99), cuts))
    order = np.argsort(np.argsort(score, kind='stable'), kind='stable')
    area = (order[y == 1].sum() - (y == 1).sum() * ((y == 1).sum() - 1) / 2) / ((y == 1).sum() * (y == 0).sum())
    print(f'{name}, left out: area {area:.4f}; found {shares}', file=sys.stderr)


def table():
    texts = prose()
    all_words = sorted(set(words_of(texts)))
    fitting, out = halves([w for w in all_words if 3 <= len(w) <= 16])
    said = states()
    in_states, out_states = [[row for row in said if row[0] in set(part)] for part in halves([w for w, _ in said])]
    pairs = letter_pairs([w for w in words_of(texts) if w in set(fitting)] + fitting + [w for w, _ in in_states])
    choices = lambda rows: [word for word, is_state in rows if not is_state]
    rows = values(1, fitting, choices(in_states), 4000)
    held = values(2, out, choices(out_states), 1500)
    lines, bars, weights = [], [], []
    for name, is_one, skip in (('made', ('made',), ''), ('chosen', ('made', 'chosen'), 'code')):
        pick = lambda rows: [(v, float(of in is_one)) for v, of in rows if of != skip]
        x = np.array([features(v, pairs) for v, _ in pick(rows)])
        w = fit(x, np.array([y for _, y in pick(rows)]), RIDGE[name])
        held_x = np.array([features(v, pairs) for v, _ in pick(held)])
        score = held_x @ w
        held_y = np.array([y for _, y in pick(held)])
        report(name, score, held_y)
        bars += [f'bar\t{name}_{100 * share:.0f}\t{np.quantile(score[held_y == 0], share):.2f}' for share in BARS]
        weights.append([round(float(value), 2) for value in w])
        if '--errors' in sys.argv:
            at = sorted(zip(score, held_y, [v for v, _ in pick(held)]))
            print([v for s, y, v in at if y][:60], [v for s, y, v in at if not y][-60:], file=sys.stderr)
        lines += [f'{name}\t{feature}\t{value:.2f}' for feature, value in zip(NAMES, w)]
    lines += bars
    for value in SAMPLES:
        scores = [sum(a * b for a, b in zip(features(value, pairs), w)) for w in weights]
        lines.append(f'sample\t{value}\t{scores[0]:.2f} {scores[1]:.2f}')
    names, w = fit_states(in_states)
    report('state', np.array([judge_state(word, names, w) for word, _ in out_states]), np.array([y for _, y in out_states]))
    names, w = fit_states(said)
    lines += [f'state\t{name}\t{value:.2f}' for name, value in zip(['base', 'length'] + names, w)]
    counts = {}
    for text in texts:
        for word in set(w.lower() for w in words_of([text])):
            counts[word] = counts.get(word, 0) + 1
    frequent = sorted((-count, word) for word, count in counts.items() if 3 <= len(word) <= 8)
    common = set(word for _, word in frequent[:COMMON])
    for text in texts:
        words = [w.lower() for w in words_of([text])] if len(text) > LONG else []
        common |= set(word for word in words if 3 <= len(word) <= 8 and words.count(word) > 1)
    lines += [f'common\t{word}\t1' for word in sorted(common)]
    for at, letter in enumerate('^' + A):
        lines.append('pairs\t' + letter + '\t' + ' '.join(f'{x:.2f}' for x in pairs[27 * at:27 * at + 27]))
    head = ('# Written by tools/fit_random.py from bower-bench\'s data/memory/prose.tsv, states.tsv and data/turns; values from a seeded generator.\n'
            '# table\tname\tweight; of `pairs`: the surprise in bits of the end and of a to z behind the letter (^ begins a word)\n')
    return head + '\n'.join(lines) + '\n'


def numbers(text):
    return [re.split(r'[\t ]', line) for line in text.splitlines()]


def is_same(old, new):
    """Whether two tables have the same rows; sums in another order may move the last digit."""
    def same(a, b):
        try:
            return abs(float(a) - float(b)) < .03
        except ValueError:
            return a == b
    old, new = numbers(old), numbers(new)
    return len(old) == len(new) and all(len(a) == len(b) and all(map(same, a, b)) for a, b in zip(old, new))


if __name__ == '__main__':
    text = table()
    if '--check' in sys.argv:
        if not is_same(TABLE.read_text(encoding='utf-8'), text):
            sys.exit(f'{TABLE.name} is not what tools/fit_random.py makes of the committed data; run it without --check')
    else:
        TABLE.write_text(text, encoding='utf-8')
