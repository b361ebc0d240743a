"""What stands in a branch of a conditional: which one it is, and of how many, decides when it happens."""

from __future__ import annotations

import pytest
from red_pairs import entry

from hloproof.equivalence import decide
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Verdict

SENDS = (
    "sends {\n  x = s32[4] parameter(0)\n  t = token[] after-all()\n  o = token[] outfeed(x, t), outfeed_shape=s32[4]\n"
    "  ROOT r = s32[4] copy(x)\n}\n"
)
STAYS = "stays {\n  ROOT x = s32[4] parameter(0)\n}\n"
READS = (
    "reads {\n  x = s32[4] parameter(0)\n  i = s32[2,1] constant({{2},{1}})\n"
    "  g = s32[2] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
    "slice_sizes={1}, indices_are_sorted=true\n"
    "  b = s32[4] concatenate(g, g), dimensions={0}\n  ROOT r = s32[4] add(x, b)\n}\n"
)
HEAD = ("s = s32[] parameter(0)", "x = s32[4] parameter(1)")


def by_number(name: str, *branches: str) -> str:
    given = ", ".join(["s", *["x"] * len(branches)])
    return f"{name} = s32[4] conditional({given}), branch_computations={{{', '.join(branches)}}}"


def sent(*branches: str) -> str:
    return entry(*HEAD, by_number("c", *branches), "ROOT r = s32[4] copy(c)", before=SENDS + STAYS)


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        (("stays", "sends"), ("stays", "sends"), Verdict.PROVED),
        (("stays", "sends", "stays"), ("stays", "sends", "stays"), Verdict.PROVED),
        (("stays", "sends", "stays"), ("stays", "sends"), Verdict.UNKNOWN),
        (("stays", "sends"), ("stays", "sends", "stays"), Verdict.UNKNOWN),
        (("stays", "sends"), ("sends", "stays"), Verdict.UNKNOWN),
    ],
)
def test_what_is_sent(before: tuple[str, ...], after: tuple[str, ...], found: Verdict) -> None:
    """The last of the branches is taken for all numbers behind it, and for those below 0."""
    assert decide(parse_module(sent(*before)), parse_module(sent(*after)), "exact").verdict == found


def read(*more: str) -> str:
    lines = [by_number("c", "stays", "reads", "stays")]
    if more:
        lines += [by_number("d", *more), "z = s32[4] subtract(d, d)", "ROOT r = s32[4] add(c, z)"]
    else:
        lines += ["ROOT r = s32[4] copy(c)"]
    return entry(*HEAD, *lines, before=READS + STAYS)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ((), False),
        (("stays", "reads", "stays"), False),
        (("stays", "reads"), True),
        (("reads", "stays", "stays"), True),
    ],
)
def test_what_is_promised(more: tuple[str, ...], told: bool) -> None:
    """Indices of which a branch says that they go up do so where the branch is taken, if at all."""
    found = decide(parse_module(read()), parse_module(read(*more)), "exact")
    assert found.verdict == Verdict.PROVED
    assert ("promised: indices_are_sorted of gather" in dict(found.axioms)) is told
