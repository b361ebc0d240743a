"""Philox4x32-10 and ThreeFry2x32-20: the answers that their authors publish, and how counters go with elements."""

from __future__ import annotations

from typing import Any

import pytest

from hloproof.models.hlo.parser import parse_module
from hloproof.models.interpreter.run import run_module
from hloproof.models.interpreter.semantics.random_bits import philox, philox_bits, threefry, threefry_bits


def joined(*words: int) -> int:
    """Words of 32 bits, the lowest first."""
    return sum(w << 32 * k for k, w in enumerate(words))


@pytest.mark.parametrize(
    ("key", "counter", "expected"),
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 2, (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_threefry_as_published(key: Any, counter: Any, expected: Any) -> None:
    assert threefry(joined(*key), joined(*counter)) == expected


@pytest.mark.parametrize(
    ("key", "counter", "expected"),
    [
        ((0, 0), (0, 0, 0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 4, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0xA4093822, 0x299F31D0),
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_philox_as_published(key: Any, counter: Any, expected: Any) -> None:
    assert philox(joined(*key), joined(*counter)) == expected


@pytest.mark.parametrize(
    ("sizes", "width", "counters"),
    [((), 32, 1), ((5,), 32, 3), ((3, 4), 32, 6), ((5, 3), 32, 9), ((3, 0), 32, 0), ((4,), 64, 4), ((4,), 8, 2)],
)
def test_counters_of_threefry(sizes: tuple[int, ...], width: int, counters: int) -> None:
    (key, counter), bits = threefry_bits([9, (1 << 64) - 1], sizes, width)
    assert (key, counter) == (9, (counters - 1) % (1 << 64))
    assert all(0 <= b < 1 << width for b in bits)


def test_pairs_of_threefry_lie_along_the_first_even_dimension() -> None:
    _, bits = threefry_bits([1, 5], (3, 4), 32)
    pairs = [threefry(1, 5 + n) for n in range(6)]
    assert bits == [pairs[2 * i + j // 2][j % 2] for i in range(3) for j in range(4)]
    _, bits = threefry_bits([1, 5], (3, 3), 32)  # where none is even, along the first of the largest
    assert bits == [pairs[i // 2 * 3 + j][i % 2] for i in range(3) for j in range(3)]


@pytest.mark.parametrize(
    ("state", "after"),
    [([7, 5], [7, 7]), ([7, 5, 1], [7, 7, 1]), ([7, (1 << 64) - 1, 1], [7, 1, 2]), ([7, (1 << 64) - 1], [7, 1])],
)
def test_counters_of_philox(state: list[int], after: list[int]) -> None:
    found, bits = philox_bits(state, (7,), 32)
    assert found == after
    high = state[2] if len(state) > 2 else state[0]
    assert bits[:4] == list(philox(state[0], state[1] | high << 64))
    assert philox_bits(state, (2, 0), 32) == (state, [])


@pytest.mark.parametrize("semantics", ["real", "hashed"])
def test_the_operation(semantics: Any) -> None:
    text = (
        "HloModule m\nENTRY e {\n  s = u64[2] parameter(0)\n"
        "  ROOT r = (u64[2], u32[3]) rng-bit-generator(s), algorithm=rng_three_fry\n}\n"
    )
    state, bits = run_module(parse_module(text), [[0, 0]], semantics=semantics)
    assert state == [0, 2] and bits[:2] == [0x6B200159, 0x99BA4EFE]


@pytest.mark.parametrize("state", ["u32[4]", "u64[2]", "f32[4]"])
@pytest.mark.parametrize("other", ["s", "t"])
def test_equal_states_give_equal_bits_and_others_do_not(state: str, other: str) -> None:
    """Also where the algorithm is the interpreter's own: who writes one operation for two was refuted."""
    a, b = (
        f"{n} = ({state}, u32[3]) rng-bit-generator({s}), algorithm=rng_default\n"
        for n, s in zip("ab", ("s", other), strict=True)
    )
    module = parse_module(
        f"HloModule m\n\nENTRY e {{\n  s = {state} parameter(0)\n  t = {state} parameter(1)\n  {a}  {b}"
        "  x = u32[3] get-tuple-element(a), index=1\n  y = u32[3] get-tuple-element(b), index=1\n"
        "  ROOT r = (u32[3], u32[3]) tuple(x, y)\n}\n"
    )
    one, two = run_module(module)
    assert (one == two) is (other == "s")
