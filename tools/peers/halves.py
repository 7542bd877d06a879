"""Reads the vectors of a store: half floats, or an odd number of bytes of them packed (crates/bower-core/src/vector/packed.rs)."""

# Bits of each exponent's code; 0 is one that stands in five bits behind the escape.
LENGTHS = [7, 11, 10, 9, 8, 7, 5, 4, 3, 2, 2, 2, 7] + [0] * 19
ESCAPE = 11


def codes():
    """Canonical prefix codes, shorter before longer, then by exponent, the escape last: exponent by (length, code)."""
    table, code = {}, 0
    for length in range(1, ESCAPE + 1):
        for exponent, own in enumerate(LENGTHS):
            if own == length:
                table[length, code] = exponent
                code += 1
        if length == ESCAPE:
            table[length, code] = None
        code <<= 1
    return table


CODES = codes()


def unpack(kept):
    """Little-endian half floats from what the store keeps of them."""
    if len(kept) % 2 == 0:
        return kept
    count = kept[0] * 8
    low, high, rest = kept[1:1 + count], kept[1 + count:1 + count + count // 8 * 3], kept[1 + count + count // 8 * 3:]
    bits = (byte >> at & 1 for byte in rest for at in range(8))
    half = bytearray()
    for at in range(count):
        length = code = 0
        while (length, code) not in CODES:
            length, code = length + 1, code << 1 | next(bits)
        exponent = CODES[length, code]
        if exponent is None:
            exponent = sum(next(bits) << place for place in range(5))
        eight = int.from_bytes(high[at // 8 * 3:at // 8 * 3 + 3], 'little') >> at % 8 * 3 & 7
        half += bytes((low[at], (eight >> 2) << 7 | exponent << 2 | eight & 3))
    return bytes(half)
