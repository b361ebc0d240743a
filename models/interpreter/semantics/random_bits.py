"""The bits of rng-bit-generator, as XLA expands it: Philox4x32 with ten rounds, and ThreeFry2x32 with twenty.

The state is an array of u64: the key, then a counter of 64 bits (ThreeFry) or of 128, low half first (Philox; a state
of two elements has the low half only, and the key stands for the high one). Each number is a function of key and
counter alone. Sources: J. K. Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3 (2011), for the functions;
XLA's own expansion for how counters and elements correspond.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

from hloproof.models.interpreter.value import indices

_32: Final = (1 << 32) - 1
_64: Final = (1 << 64) - 1
_128: Final = (1 << 128) - 1

_ROTATIONS: Final = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY: Final = 0x1BD11BDA
_MULTIPLIERS: Final = (0xD2511F53, 0xCD9E8D57)
_WEYL: Final = (0x9E3779B9, 0xBB67AE85)


def threefry(key: int, counter: int) -> tuple[int, int]:
    """Two words of 32 bits from a key and a counter of 64."""
    schedule = (key & _32, key >> 32, _PARITY ^ (key & _32) ^ (key >> 32))
    x = (counter + schedule[0]) & _32
    y = ((counter >> 32) + schedule[1]) & _32
    for group in range(5):
        for distance in _ROTATIONS[group % 2]:
            x = (x + y) & _32
            y = (y << distance | y >> (32 - distance)) & _32 ^ x
        x = (x + schedule[(group + 1) % 3]) & _32
        y = (y + schedule[(group + 2) % 3] + group + 1) & _32
    return x, y


def philox(key: int, counter: int) -> tuple[int, int, int, int]:
    """Four words of 32 bits from a key of 64 and a counter of 128."""
    a, b, c, d = (counter >> shift & _32 for shift in (0, 32, 64, 96))
    k, m = key & _32, key >> 32
    for _ in range(10):
        first, second = a * _MULTIPLIERS[0], c * _MULTIPLIERS[1]
        a, b, c, d = second >> 32 ^ b ^ k, second & _32, first >> 32 ^ d ^ m, first & _32
        k, m = (k + _WEYL[0]) & _32, (m + _WEYL[1]) & _32
    return a, b, c, d


def threefry_bits(state: Sequence[int], sizes: Sequence[int], width: int) -> tuple[list[int], list[int]]:
    """The new state, and one number of `width` bits per element in row-major order.

    Numbers of 64 bits take one counter each. Narrower ones come in pairs: the first dimension of even size (else the
    first of the largest) is taken two by two, and the pairs are numbered in row-major order.
    """
    key, counter = state
    if width == 64:
        count = prod(sizes)
        words = [threefry(key, (counter + n) & _64) for n in range(count)]
        return [key, (counter + count) & _64], [x | y << 32 for x, y in words]
    if not sizes:
        return [key, (counter + 1) & _64], [threefry(key, counter)[0] & (1 << width) - 1]
    even = [d for d, n in enumerate(sizes) if n % 2 == 0]
    paired = even[0] if even else max(range(len(sizes)), key=lambda d: (sizes[d], -d))
    halves = [(n + 1) // 2 if d == paired else n for d, n in enumerate(sizes)]
    pairs = [threefry(key, (counter + n) & _64) for n in range(prod(halves))]
    bits = []
    for index in indices(sizes):
        number = 0
        for d, i in enumerate(index):
            number = number * halves[d] + (i // 2 if d == paired else i)
        bits.append(pairs[number][index[paired] % 2] & (1 << width) - 1)
    return [key, (counter + prod(halves)) & _64], bits


def philox_bits(state: Sequence[int], sizes: Sequence[int], width: int) -> tuple[list[int], list[int]]:
    """The new state, and one number of `width` bits per element in row-major order.

    Each counter gives four words of 32 bits, two words make a number of 64, and narrower numbers take one word each.
    """
    key, low = state[:2]
    counter = low | (state[2] if len(state) > 2 else key) << 64
    count, words = prod(sizes), 2 if width == 64 else 1
    steps = -(-count * words // 4)
    made = [w for n in range(steps) for w in philox(key, (counter + n) & _128)]
    if width == 64:
        bits = [made[2 * n] | made[2 * n + 1] << 32 for n in range(count)]
    else:
        bits = [w & (1 << width) - 1 for w in made[:count]]
    after = (counter + steps) & _128
    return [key, after & _64, after >> 64][: len(state)], bits
