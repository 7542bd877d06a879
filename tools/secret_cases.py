#!/usr/bin/env python3
"""Makes `crates/bower-bench/data/memory/secrets.jsonl` of `secrets.tsv` beside it: texts with secrets, and texts that look alike. Needs numpy.

    tools/secret_cases.py           write the file
    tools/secret_cases.py --check   fail if the committed file is not what the committed texts give

Every value is made up by a seeded generator, with right check digits. Every second text of a language is left out: nobody reads what goes
wrong there. A line is a case in base64, so that no scanner of repositories takes its values for real.
"""
import base64
import json
import re
import sys

from fit_random import A, BASE62, DATA, Random, chosen, halves, prose, states, words_of

TABLE = DATA / 'memory/secrets.tsv'
CASES = DATA / 'memory/secrets.jsonl'
DIGITS = '0123456789'
HEX = '0123456789abcdef'
URL = BASE62 + '-_'


def luhn(digits):
    total = sum(d if at % 2 else d * 2 // 10 + d * 2 % 10 for at, d in enumerate(reversed([int(c) for c in digits])))
    return digits + str(-total % 10)


def weighted(digits, weights, modulus):
    return sum(int(d) * w for d, w in zip(digits, weights)) % modulus


def iban(country, rest):
    number = ''.join(str(int(c, 36)) for c in rest + country + '00')
    return f'{country}{98 - int(number) % 97:02}{rest}'


def spaced(text, size=4):
    return ' '.join(text[at:at + size] for at in range(0, len(text), size))


def cpf(r):
    digits = r.text(DIGITS, 9)
    for length in (9, 10):
        rest = sum(int(d) * (length + 1 - at) for at, d in enumerate(digits)) * 10 % 11
        digits += str(rest % 10)
    return f'{digits[:3]}.{digits[3:6]}.{digits[6:9]}-{digits[9:]}'


def bsn(r):
    while True:
        digits = r.text(DIGITS, 8)
        rest = weighted(digits, range(9, 1, -1), 11)
        if rest < 10 and digits[0] != '0':
            return digits + str(rest)


def steuerid(r):
    digits, product = r.of('123456789') + r.text(DIGITS, 9), 10
    for digit in digits:
        total = (int(digit) + product) % 10 or 10
        product = total * 2 % 11
    return digits + str((11 - product) % 10)


def made_up(r, words, choices):
    """What stands in braces, by its name."""
    up = A.upper()
    date = lambda: f'{r.between(50, 99)}{r.between(1, 12):02}{r.between(1, 28):02}'
    def pesel():
        digits = date() + r.text(DIGITS, 4)
        return digits + str(-weighted(digits, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3), 10) % 10)
    def zhid():
        digits = '1101051' + r.text(DIGITS, 10)
        rest = weighted(digits, (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2), 11)
        return digits + '10X98765432'[rest]
    def isbn():
        digits = '978' + r.text(DIGITS, 9)
        return digits + str(-sum(int(d) * (3 if at % 2 else 1) for at, d in enumerate(digits)) % 10)
    def nir():
        digits = r.of('12') + r.text(DIGITS, 2) + f'{r.between(1, 12):02}' + '75' + r.text(DIGITS, 6)
        return f'{digits}{97 - int(digits) % 97:02}'
    def password():
        while True:
            value = chosen(r, r.of([words, choices]), None)
            if value.isascii() and any(c.isdigit() for c in value) and len(value) >= 7:
                return value
    lower = [w.lower() for w in words if w.isascii() and 4 <= len(w) <= 8]
    number = r.between(10**7, 10**8 - 1)
    return {
        'pw': password, 'phrase': lambda: '-'.join(r.of(lower) for _ in range(4)), 'word': lambda: r.of(choices),
        'chars': lambda: r.text(BASE62, 1) + r.text(BASE62 + '!#%*+-=?', 10, 13) + r.text(DIGITS, 1) + r.text(A, 1),
        'card_spaced': lambda: spaced(luhn('4' + r.text(DIGITS, 14))), 'amex': lambda: luhn('37' + r.text(DIGITS, 12)),
        'ssn': lambda: f'{r.between(100, 665)}-{r.between(10, 99)}-{r.between(1000, 9999)}', 'passport': lambda: r.text(up, 1) + r.text(DIGITS, 8),
        'uklicence': lambda: r.text(up, 5) + r.text(DIGITS, 6) + r.text(up, 2) + '9' + r.text(up, 2),
        'nino': lambda: 'QQ ' + ' '.join(r.text(DIGITS, 2) for _ in range(3)) + ' C', 'iban_gb': lambda: spaced(iban('GB', 'NWBK' + r.text(DIGITS, 14))),
        'iban_de': lambda: spaced(iban('DE', r.text(DIGITS, 18))), 'iban_fr': lambda: spaced(iban('FR', r.text(DIGITS, 23))),
        'iban_it': lambda: iban('IT', 'X' + r.text(DIGITS, 22)), 'iban_nl': lambda: iban('NL', 'ABNA' + r.text(DIGITS, 10)),
        'github': lambda: 'ghp_' + r.text(BASE62, 36), 'aws': lambda: 'AKIA' + r.text(up + '234567', 16),
        'slack': lambda: f'T{r.text(up + DIGITS, 8)}/B{r.text(up + DIGITS, 8)}/{r.text(BASE62, 24)}', 'openai': lambda: 'sk-proj-' + r.text(URL, 74),
        'stripe': lambda: 'sk_live_' + r.text(BASE62, 24), 'sendgrid': lambda: f'SG.{r.text(URL, 22)}.{r.text(URL, 43)}',
        'telegram': lambda: r.text('123456789', 1) + r.text(DIGITS, 9) + ':AA' + r.text(URL, 33), 'vault': lambda: 'hvs.' + r.text(BASE62, 24),
        'basic': lambda: base64.b64encode(b'admin:' + r.text(BASE62, 12).encode()).decode(), 'rec': lambda: f'{r.text(HEX, 5)}-{r.text(DIGITS, 2)}{r.text(HEX, 3)}',
        'seed': lambda: ' '.join(r.of(lower) for _ in range(12)), 'wg': lambda: base64.b64encode(bytes(r.below(256) for _ in range(32))).decode(),
        'bcrypt': lambda: '$2y$10$' + r.text(BASE62 + './', 53), 'hf': lambda: 'hf_' + r.text(BASE62, 34),
        'dashed': lambda: '-'.join(r.text(up + DIGITS, 5) for _ in range(5)), 'steuerid': lambda: steuerid(r), 'nir': nir,
        'dni': lambda: f'{number}{"TRWAGMYFPDXBNJZSQVHLCKE"[number % 23]}',
        'cf': lambda: r.text(up, 6) + r.text(DIGITS, 2) + r.of('ABCDEHLMPRST') + r.text('0123', 1) + r.text(DIGITS, 1) + r.text(up, 1) + r.text(DIGITS, 3) + r.text(up, 1),
        'cpf': lambda: cpf(r), 'bsn': lambda: bsn(r), 'personnummer': lambda: (lambda d: f'{d[:6]}-{d[6:]}')(luhn(date() + r.text(DIGITS, 3))),
        'pesel': pesel, 'zhid': zhid, 'isbn': isbn,
        'uuid': lambda: '-'.join(r.text(HEX, n) for n in (8, 4, 4, 4, 12)), 'sshpub': lambda: 'AAAAC3NzaC1lZDI1NTE5AAAAI' + r.text(BASE62, 43),
        'pkstripe': lambda: 'pk_live_' + r.text(BASE62, 24), 'age': lambda: 'age1' + r.text('qpzry9x8gf2tvdw0s3jn54khce6mua7l', 58),
        'order': lambda: f'{r.text(up, 2)}-{r.text(DIGITS, 8)}', 'mac': lambda: ':'.join(r.text(HEX, 2) for _ in range(6)),
        'ipv6': lambda: '2001:db8:' + ':'.join(r.text(HEX, 4) for _ in range(6)), 'plate': lambda: f'{r.text(up, 2)}{r.text(DIGITS, 2)} {r.text(up, 3)}',
        'ulid': lambda: '01' + r.text('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 24),
    }


SIZED = {'b62': BASE62, 'b64': BASE62 + '+/', 'hex': HEX, 'b32': A.upper() + '234567', 'l36': A + DIGITS}


def fill(template, r, words, choices):
    names = made_up(r, words, choices)
    def value(match):
        name, _, size = match[1].partition(':')
        if size:
            return r.text(SIZED[name], int(size))
        if re.fullmatch(r'd\d', name):
            return r.of('123456789') + r.text(DIGITS, int(name[1:]) - 1) if name != 'd1' else r.text(DIGITS, 1)
        return names[name]()
    return re.sub(r'\{(\w+(?::\d+)?)\}', value, template.replace('\\n', '\n'))


def cases():
    fitting, out = halves(sorted(set(words_of(prose()))))
    choices = halves([word for word, is_state in states() if not is_state and word.isascii()])
    seen, lines = {}, []
    for line in TABLE.read_text(encoding='utf-8').splitlines():
        if line.startswith('#'):
            continue
        language, template = line.split('\t')
        key = (language, '⟦' in template)
        seen[key] = seen.get(key, 0) + 1
        is_out = seen[key] % 2 == 0
        r = Random(sum(ord(c) * (at + 1) for at, c in enumerate(template)))
        pool = [w for w in (out if is_out else fitting) if 4 <= len(w) <= 9]
        marked = fill(template, r, pool, choices[is_out])
        case = {'part': 'held-out' if is_out else 'fit', 'language': language, 'text': re.sub('[⟦⟧]', '', marked), 'secrets': re.findall('⟦(.*?)⟧', marked, re.S)}
        lines.append(base64.b64encode(json.dumps(case, ensure_ascii=False).encode()).decode())
    return '\n'.join(lines) + '\n'


if __name__ == '__main__':
    text = cases()
    if '--check' in sys.argv:
        if CASES.read_text(encoding='utf-8') != text:
            sys.exit(f'{CASES.name} is not what tools/secret_cases.py makes of {TABLE.name}; run it without --check')
    else:
        CASES.write_text(text, encoding='utf-8')
