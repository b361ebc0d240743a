"""Target `async`: branches that join what others keep apart, by following every part of their results by hand.

A conditional's result has one buffer for each part, or one for several: all branches have to agree on that.
"""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any, Final

from hypothesis import strategies as st

from hloproof.claims.asynchronous import judge
from hloproof.fuzz.target import Failure
from hloproof.models.hlo.attributes import ComputationRef
from hloproof.models.hlo.module import Computation, Module

NAME: Final = "branches"
"""What these modules are called."""

_F: Final = "f32[4]"
_SHAPES: Final = (f"({_F}, {_F})", f"({_F}, {_F}, {_F})", f"(({_F}, {_F}), {_F})")
_ALIASED: Final = 'custom_call_target="f", output_to_operand_aliasing={{}: (0, {})}'
_WORDS: Final = re.compile(
    r"(\S+) returns one buffer for (\S+) and (\S+), into which (\S+) writes two values\n"
    r"  mended by a copy of one of them in (\S+)"
)


@st.composite
def branch_modules(draw: Any) -> str:
    """Two or three branches that hand on, negate or overwrite the parts of a pair."""
    shape, count = draw(st.sampled_from(_SHAPES)), draw(st.integers(2, 3))
    text = f"HloModule {NAME}{', is_scheduled=true' if draw(st.integers(0, 5)) else ''}\n\n"
    for k in range(count):
        lines = [
            f"  p = ({_F}, {_F}) parameter(0)\n",
            f"  a{k} = {_F} get-tuple-element(p), index=0\n",
            f"  b{k} = {_F} get-tuple-element(p), index=1\n",
        ]
        values = [f"a{k}", f"b{k}"]
        for n in range(draw(st.integers(0, 2))):
            x = draw(st.sampled_from(values))
            step = draw(st.sampled_from((f"negate({x})", f"custom-call({x}), {_ALIASED}", f"opt-barrier({x})")))
            lines.append(f"  v{n} = {_F} {step}\n")
            values.append(f"v{n}")
        chosen = [draw(st.sampled_from(values)) for _ in range(shape.count(_F))]
        if shape.startswith("(("):
            lines.append(f"  t = ({_F}, {_F}) tuple({chosen[0]}, {chosen[1]})\n")
            chosen = ["t", chosen[2]]
        lines.append(f"  ROOT r = {shape} tuple({', '.join(chosen)})\n")
        text += f"branch{k} {{\n{''.join(lines)}}}\n\n"
    names, given = ", ".join(f"branch{k}" for k in range(count)), ", ".join(["p"] * count)
    text += f"ENTRY e {{\n  p = ({_F}, {_F}) parameter(0)\n  k = s32[] parameter(1)\n"
    return text + f"  ROOT c = {shape} conditional(k, {given}), branch_computations={{{names}}}\n}}\n"


def parts(branch: Computation) -> dict[tuple[int, ...], str]:
    """For each array of the result where it lies: named after the instruction that first put something there."""
    where: dict[str, Any] = {}
    for i in branch.instructions:
        match i.opcode:
            case "parameter":
                where[i.name] = ("first", "second")
            case "get-tuple-element":
                where[i.name] = where[i.operands[0]][i.attributes.integer("index", 0)]
            case "tuple":
                where[i.name] = tuple(where[o] for o in i.operands)
            case "opt-barrier" | "custom-call":
                where[i.name] = where[i.operands[0]]
            case _:
                where[i.name] = i.name
    found: dict[tuple[int, ...], str] = {}
    for k, part in enumerate(where[branch.root_name]):
        found |= {(k, n): p for n, p in enumerate(part)} if isinstance(part, tuple) else {(k,): part}
    return found


def check_branches(module: Module) -> tuple[str, ...]:
    """Raises Failure where the claim and the reading by hand differ."""
    named = module.entry.root.attributes.get("branch_computations")
    assert isinstance(named, tuple)
    held = {n.name: parts(module.by_name[n.name]) for n in named if isinstance(n, ComputationRef)}
    joined = {
        f"{one} {other} c{{{','.join(map(str, a))}}} c{{{','.join(map(str, b))}}}"
        for one, first in held.items()
        for other, second in held.items()
        for a, b in combinations(first, 2)
        if first[a] == first[b] and second[a] != second[b]
    }
    scheduled = module.attributes.flag("is_scheduled")
    said = [
        j
        for j in judge(module, lambda n: n == "hazard-overwrite", lambda n: False)
        if (j.place.computation, j.place.instruction) == (module.entry_name, "c")
    ]
    problems = [j.problem for j in said if j.problem is not None and "returns one buffer for" in j.problem]
    if bool(said) != scheduled:
        raise Failure("async: hazard-overwrite of a conditional is said at the wrong time", f"{scheduled}: {said}")
    if bool(problems) != (bool(joined) and scheduled):
        raise Failure("async: hazard-overwrite of a conditional is decided wrongly", f"{problems}, by hand {joined}")
    for problem in problems:
        words = _WORDS.fullmatch(problem)
        if words is None or f"{words[1]} {words[4]} {words[2]} {words[3]}" not in joined or words[5] != words[1]:
            raise Failure("async: hazard-overwrite of a conditional says what is not so", f"{problem}: {joined}")
    return ("branches", *(("branches that disagree",) if joined else ()))
