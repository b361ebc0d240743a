"""The text of a module of one operation, and the strategies that all operations share.

Extents zero and one come up often.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import ADD, Draw

FLIP: Final = ADD.replace("add {", "flip {").replace("add(x, y)", "subtract(y, x)")
"""Neither commutative nor associative: it tells orders apart."""
MOST: Final = ADD.replace("add {", "most {").replace("add(x, y)", "maximum(x, y)")
_COMPARE: Final = "{\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = pred[] compare(x, y), direction="
GE: Final = f"ge {_COMPARE}GE\n}}\n"
LESS: Final = f"less {_COMPARE}LT\n}}\n"
extent = st.sampled_from((0, 1, 1, 2, 2, 2, 3, 3, 4, 5))
positive = st.sampled_from((1, 2, 2, 3, 4, 5))
_FOLDS: Final = (("add", ADD), ("flip", FLIP), ("most", MOST))
index_types = st.sampled_from(("s32", "u32", "s8", "u8", "s64"))


def sizes(minimum: int = 0, maximum: int = 4, of: st.SearchStrategy[int] = extent) -> st.SearchStrategy[list[int]]:
    return st.lists(of, min_size=minimum, max_size=maximum)


@st.composite
def boxes(draw: Draw, minimum: int = 0, maximum: int = 4, most: int = 48) -> list[int]:
    """Sizes of at most `most` elements together, larger ones in low ranks; one box in sixteen has no elements."""
    found, left = list[int](), most
    for _ in range(draw(st.integers(minimum, maximum))):
        found.append(draw(st.sampled_from([n for n in (1, 2, 2, 3, 3, 4, 5, 6, 7, 9) if n <= left])))
        left //= found[-1]
    if found and draw(st.integers(0, 15)) == 0:
        found[draw(st.integers(0, len(found) - 1))] = 0
    order: list[int] = draw(st.permutations(found))
    return order


def fold() -> st.SearchStrategy[tuple[str, str]]:
    """A body of two scalars: its name and its text."""
    return st.sampled_from(_FOLDS)


def shape(dimensions: Sequence[int], kind: str = "f32") -> str:
    return f"{kind}[{','.join(map(str, dimensions))}]"


def braces(values: Sequence[object]) -> str:
    return "{" + ",".join(map(str, values)) + "}"


def one(
    opcode: str, operands: Sequence[str], attributes: str = "", before: str = "", header: str = "", result: str = ""
) -> str:
    """A module whose entry applies one operation to its parameters. The shape of the result is left to the shape rules
    of the reader, unless it is given."""
    parameters = "".join(f"  p{k} = {s} parameter({k})\n" for k, s in enumerate(operands))
    names = ", ".join(f"p{k}" for k in range(len(operands)))
    tail = f", {attributes}" if attributes else ""
    root = f"  ROOT r = {f'{result} ' if result else ''}{opcode}({names}){tail}\n"
    return f"HloModule case{header}\n\n{before}ENTRY e {{\n{parameters}{root}}}\n"


_PAIR: Final = "".join(f"  {n} = f32[] parameter({k})\n" for k, n in enumerate("abcd"))
CROSSED: Final = (
    f"both {{\n{_PAIR}  s = f32[] subtract(d, a)\n  t = f32[] maximum(b, c)\n  u = f32[] add(s, t)\n"
    "  v = f32[] subtract(t, s)\n  ROOT r = (f32[], f32[]) tuple(u, v)\n}\n"
)
"""A body that folds two arrays at once and tells them and all orders apart."""


def pair_sum(kinds: str = "f32") -> str:
    """A body that folds two arrays at once."""
    lines = [f"  {n} = {kinds}[] parameter({k})\n" for k, n in enumerate("abcd")]
    return (
        "both {\n" + "".join(lines) + f"  s = {kinds}[] add(a, c)\n  t = {kinds}[] add(b, d)\n"
        f"  u = {kinds}[] add(s, t)\n  ROOT r = ({kinds}[], {kinds}[]) tuple(u, u)\n}}\n"
    )
