"""Modules of a few lines, and what is asked of pairs of them that a prover must not, or must, take for equal."""

from __future__ import annotations

from collections.abc import Iterable

from hloproof.equivalence import decide
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_module

ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b)\n}\n"

TIMES = ADD.replace("add {", "times {").replace("add(", "multiply(")
LARGER = ADD.replace("add {", "larger {").replace("add(", "maximum(")
BOTH = (
    "both { a = f32[] parameter(0)\n i = s32[] parameter(1)\n b = f32[] parameter(2)\n j = s32[] parameter(3)\n"
    " s = f32[] add(a, b)\n k = s32[] add(i, j)\n ROOT t = (f32[], s32[]) tuple(s, k)\n}\n"
)
"""Functions that are folded by."""


def entry(*lines: str, before: str = "") -> str:
    return "HloModule m\n\n" + before + "ENTRY e {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def parts_of(state: str, names: Iterable[str]) -> str:
    """The state of a loop, and its parts by these names: the first lines of a body or condition."""
    kinds = state[1:-1].split(", ")
    return f" t = {state} parameter(0)\n" + "".join(
        f" {name} = {kind} get-tuple-element(t), index={k}\n"
        for k, (name, kind) in enumerate(zip(names, kinds, strict=True))
    )


_GATHER = (
    "gather(x, @), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}"
)
_GATHERS = (
    "{\n  x = s32[4] parameter(0)\n  i = s32[2,1] constant({{2},{1}})\n  j = s32[2,1] constant({{3},{0}})\n"
    f"  g = s32[2] {_GATHER.replace('@', 'i')}OF_ONE\n  h = s32[2] {_GATHER.replace('@', 'j')}OF_OTHER\n"
    "  b = s32[4] concatenate(g, h), dimensions={0}\n  ROOT r = s32[4] add(x, b)\n}\n"
)
"""What a function does that reads by two sets of indices, of each of which something may be promised."""
_SORTED = ", indices_are_sorted=true"
PLAIN = "plain " + _GATHERS.replace("OF_ONE", "").replace("OF_OTHER", "")
SORTED = "sorted " + _GATHERS.replace("OF_ONE", _SORTED).replace("OF_OTHER", "")
OTHER_SORTED = "other " + _GATHERS.replace("OF_ONE", "").replace("OF_OTHER", _SORTED)
PROMISE = "promised: indices_are_sorted of gather"
ENDLESS = (
    "copies {\n  v = s32[4] parameter(0)\n  ROOT r = s32[4] copy(v)\n}\n"
    "differs {\n  k = s32[] parameter(0)\n  z0 = s32[] constant(9)\n  ROOT o = pred[] compare(k, z0), direction=NE\n}\n"
    "up2 {\n  k = s32[] parameter(0)\n  two = s32[] constant(2)\n  ROOT j = s32[] add(k, two)\n}\n"
    "runs {\n  v = s32[4] parameter(0)\n  l = s32[1] slice(v), slice={[0:1]}\n  k = s32[] reshape(l)\n"
    "  w = s32[] while(k), condition=differs, body=up2\n  ROOT r = s32[4] copy(v)\n}\n"
)
"""A function with a loop that its argument decides on, and that nobody reads; and one without."""
SAID = ', frontend_attributes={_xla_send_recv_validation="{{0,6}}"}'


def on_two(text: str) -> str:
    """The module on two devices."""
    return text.replace("m\n", "m, replica_count=2\n", 1)


def is_named(before: Module, after: Module, what: str) -> bool:
    """Whether the proof that both are the same names what it assumes."""
    found = decide(before, after, "exact")
    assert found.verdict == "proved"
    return what in dict(found.axioms)


def one(kind: str, *lines: str) -> str:
    return entry(f"p = {kind} parameter(0)", *lines)


def product(precision: str) -> str:
    return entry(
        "p0 = f32[2,2] parameter(0)",
        "p1 = f32[2,2] parameter(1)",
        "ROOT r = f32[2,2] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
        f"operand_precision={{{precision}}}",
    )


def turned(precision: str, swapped: bool) -> str:
    """x times y, or the transpose of the transposed y times the transposed x."""
    sides = "dot(y, x), lhs_contracting_dims={0}, rhs_contracting_dims={1}"
    straight = "dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    return entry(
        "x = f32[4,4] parameter(0)",
        "y = f32[4,4] parameter(1)",
        f"d = f32[4,4] {sides if swapped else straight}, operand_precision={{{precision}}}",
        "ROOT r = f32[4,4] transpose(d), dimensions={1,0}" if swapped else "ROOT r = f32[4,4] copy(d)",
    )


COPY = one("f32[4]", "ROOT r = f32[4] copy(p)")


def unproved(before: str, after: str, tier: str) -> None:
    """The two differ, and each is equal to itself: the pair is unknown for its difference, not because it cannot be
    read."""
    assert decide(parse_module(before), parse_module(after), tier, 5.0).verdict in ("unknown", "refuted")  # type: ignore[arg-type]
    assert decide(parse_module(before), parse_module(before), "exact", 5.0).verdict == "proved"


def proved(before: str, after: str, tier: str) -> None:
    """Beside what is wrong stands what is right."""
    assert decide(parse_module(before), parse_module(after), tier, 5.0).verdict == "proved"  # type: ignore[arg-type]
