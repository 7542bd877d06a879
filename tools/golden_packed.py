#!/usr/bin/env python3
"""Packs and unpacks half floats as `vector/packed.rs` describes it, written from that description alone. Run, it prints some
as SQL's hex.

    tools/golden_packed.py

The numbers are those of `crates/bower-core/tests/golden/schema-6.sql`: 384 by a formula, all exponents from 6 to 12, and
five that a prefix code escapes or that are rare (zero, subnormal, one, infinite, not a number).
"""
LENGTHS = {0: 7, 1: 11, 2: 10, 3: 9, 4: 8, 5: 7, 6: 5, 7: 4, 8: 3, 9: 2, 10: 2, 11: 2, 12: 7}
ESCAPE = 11


def numbers():
    plain = [(at * at * 31 + at * 7) & 0x83ff | (6 + at * at % 7) << 10 for at in range(384)]
    plain[7], plain[70], plain[170], plain[270], plain[383] = 0, 0x8001, 0x3c00, 0xfc00, 0x7e01
    return plain


def codes():
    """Canonical: by length, then by exponent, the escape last; each code's bits as text, first bit first."""
    found, next_code, length_before = {}, 0, 0
    order = sorted((length, exponent) for exponent, length in LENGTHS.items()) + [(ESCAPE, None)]
    for length, exponent in order:
        next_code <<= length - length_before
        found[exponent] = format(next_code, f'0{length}b')
        next_code, length_before = next_code + 1, length
    assert next_code == 1 << ESCAPE
    return found


def pack(halves):
    found, bits, high = codes(), '', ''
    for number in halves:
        exponent = number >> 10 & 31
        # What follows an escape is a number, its lowest bit first.
        bits += found[exponent] if exponent in LENGTHS else found[None] + format(exponent, '05b')[::-1]
        high += format(number >> 15 << 2 | number >> 8 & 3, '03b')[::-1]
    to_bytes = lambda text: bytes(int(text[at:at + 8][::-1], 2) for at in range(0, len(text), 8))
    packed = bytes([len(halves) // 8]) + bytes(number & 255 for number in halves) + to_bytes(high) + to_bytes(bits)
    return packed if len(packed) % 2 else packed + b'\0'


def unpack(kept):
    """The half floats, as bytes, from what a store keeps of them: an even number of bytes is not packed."""
    if len(kept) % 2 == 0:
        return kept
    exponents = {code: exponent for exponent, code in codes().items()}
    to_bits = lambda some: ''.join(format(byte, '08b')[::-1] for byte in some)
    count, halves = kept[0] * 8, b''
    high, bits, place = to_bits(kept[1 + count:1 + count * 11 // 8]), to_bits(kept[1 + count * 11 // 8:]), 0
    for at in range(count):
        code = ''
        while code not in exponents:
            code, place = code + bits[place], place + 1
        exponent = exponents[code]
        if exponent is None:
            exponent, place = int(bits[place:place + 5][::-1], 2), place + 5
        top = int(high[3 * at:3 * at + 3][::-1], 2)
        halves += bytes((kept[1 + at], (top >> 2) << 7 | exponent << 2 | top & 3))
    return halves


if __name__ == '__main__':
    print(pack(numbers()).hex().upper())
