"""Who reads and who writes, where one clause alone knows: each wrong module beside a right one."""

from __future__ import annotations

from typing import Final

import pytest

from hloproof.claims.asynchronous import judge
from hloproof.models.hlo.parser import parse_module

_GIVEN: Final = (
    "p = f32[8] parameter(0)",
    "q = f32[8] copy(p)",
    "q2 = f32[8] exponential(p)",
    "u = f32[2] constant({1,2})",
    "z = s32[] constant(0)",
)
_PARTS: Final = "(f32[8], f32[8], s32[])"
_UPDATE: Final = "f32[8] dynamic-update-slice"
_BRANCHES: Final = """keeps {
  ROOT x = f32[8] parameter(0)
}
negates {
  x = f32[8] parameter(0)
  ROOT y = f32[8] negate(x)
}
copies {
  x = f32[8] parameter(0)
  ROOT y = f32[8] copy(x)
}
gives {
  x = f32[8] parameter(0)
  ROOT y = f32[8] constant({1,2,3,4,5,6,7,8})
}
"""


def _computation(name: str, *lines: str) -> str:
    *most, root = lines
    return f"{name} {{\n" + "".join(f"  {line}\n" for line in most) + f"  ROOT {root}\n}}\n"


def _module(*lines: str, before: str = "") -> str:
    header = "HloModule m, is_scheduled=true, replica_count=2\n"
    return header + before + _computation("ENTRY e", *_GIVEN, *lines)


def _condition(writes: bool, left: str, *after: str) -> str:
    """A loop whose condition writes over part 0 of the state, or reads it, and whose turn leaves there what is said."""
    update = ("u = f32[2] constant({1,2})", "i = s32[] constant(0)", f"v = {_UPDATE}(x, u, i)") if writes else ()
    state = f"s = {_PARTS} parameter(0)"
    parts = [f"{name} = f32[8] get-tuple-element(s), index={n}" for n, name in enumerate("xy")]
    count = ("j = s32[] get-tuple-element(s), index=2", "n = s32[] constant(3)")
    more = _computation("more", state, parts[0], *update, *count, "less = pred[] compare(j, n), direction=LT")
    new = ("c = f32[8] constant({1,2,3,4,5,6,7,8})", "new = f32[8] copy(c)")
    step = ("one = s32[] constant(1)", "k = s32[] add(j, one)", f"r = {_PARTS} tuple({left}, y, k)")
    turn = _computation("turn", state, *parts, *count, *new, *step)
    loop = (f"t = {_PARTS} tuple(q, q2, z)", f"w = {_PARTS} while(t), condition=more, body=turn")
    return _module(*loop, *after, before=more + turn)


def _gathered(operand: int, written: str, late: bool) -> str:
    """Two arrays gathered at once, one of them updated, and one read as the state of the exchange holds it."""
    lines = [
        "a = f32[8] negate(p)",
        "b = f32[8] exponential(p)",
        "s = ((f32[8], f32[8]), (f32[16], f32[16])) all-gather-start(a, b), dimensions={0}, replica_groups={{0,1}}",
        "h = (f32[8], f32[8]) get-tuple-element(s), index=0",
        f"k = f32[8] get-tuple-element(h), index={operand}",
        "d = (f32[16], f32[16]) all-gather-done(s)",
        f"v = {_UPDATE}({written}, u, z)",
    ]
    lines.insert(7 if late else 6, "n = f32[8] negate(k)")
    return _module(*lines, "o = f32[8] add(n, v)")


def _chosen(update_first: bool, branch: str = "keeps") -> str:
    """A branch hands an array on, in the buffer into which the other one makes its own."""
    lines = [f"v = {_UPDATE}(q, u, z)"]
    chosen = f"c = f32[8] conditional(g, q, q2), true_computation={branch}, false_computation=gives"
    lines.insert(1 if update_first else 0, chosen)
    return _module("g = pred[] parameter(1)", *lines, "o = f32[8] add(c, v)", before=_BRANCHES)


def _updated_in_branches(one: str, two: str, *after: str, kept: bool = False) -> str:
    """Each branch updates what it is given; with `kept` a copy of it."""
    made = f"  c = f32[8] copy(x)\n  ROOT v = {_UPDATE}(c, u, z)" if kept else f"  ROOT v = {_UPDATE}(x, u, z)"
    bodies = "".join(
        f"{name} {{\n  x = f32[8] parameter(0)\n  u = f32[2] constant({{{k},2}})\n  z = s32[] constant(0)\n{made}\n}}\n"
        for k, name in enumerate(("this", "that"))
    )
    lines = (
        "g = pred[] parameter(1)",
        f"a = f32[8] conditional(g, {one}, {two}), true_computation=this, false_computation=that",
        *(after or ("o = f32[8] negate(a)",)),
    )
    return _module(*lines, before=bodies)


_PAIR: Final = "(f32[8], f32[8])"


def _beside(branch: str, opcode: str = "negate") -> str:
    """One branch updates what both are given, so that the other one makes its first result there, too."""
    made = "".join(f"  {name} = f32[8] {opcode}(x)\n" for name in ("b1", "b2"))
    bodies = (
        f"this {{\n  x = f32[8] parameter(0)\n  m = f32[8] exponential(x)\n  u = f32[2] constant({{1,2}})\n"
        f"  z = s32[] constant(0)\n  v = {_UPDATE}(x, u, z)\n  ROOT r = {_PAIR} tuple(v, m)\n}}\n"
        f"that {{\n  x = f32[8] parameter(0)\n{made}  ROOT r = {_PAIR} tuple({branch})\n}}\n"
    )
    lines = (
        "g = pred[] parameter(1)",
        f"a = {_PAIR} conditional(g, q, q), true_computation=this, false_computation=that",
        "c = f32[8] get-tuple-element(a), index=0",
        "d = f32[8] get-tuple-element(a), index=1",
        "o = f32[8] add(c, d)",
    )
    return _module(*lines, before=bodies)


def _turn_by_call(first: str) -> str:
    """A turn is a call: what it returns lies in the state that it is given."""
    state = "(f32[8])"
    step = (
        "step {\n  x = f32[8] parameter(0)\n  a = f32[8] negate(x)\n  b = f32[8] exponential(x)\n"
        f'  ROOT o = f32[8] custom-call({first}), custom_call_target="f", '
        "output_to_operand_aliasing={{}: (0, {})}\n}\n"
    )
    turn = (
        f"turn {{\n  s = {state} parameter(0)\n  x = f32[8] get-tuple-element(s), index=0\n"
        f"  y = f32[8] call(x), to_apply=step\n  ROOT r = {state} tuple(y)\n}}\n"
        f'more {{\n  s = {state} parameter(0)\n  ROOT m = pred[] custom-call(), custom_call_target="more"\n}}\n'
    )
    lines = (
        f"t = {state} tuple(q)",
        f"w = {state} while(t), condition=more, body=turn",
        "y = f32[8] get-tuple-element(w), index=0",
        "o = f32[8] negate(y)",
    )
    return _module(*lines, before=step + turn)


def _chosen_inside(runs: str, read_first: bool, branch: str = "keeps") -> str:
    """A body hands back what its branches leave in the buffer of its argument."""
    body = (
        "inside {\n  x = f32[8] parameter(0)\n  g = pred[] parameter(1)\n  ROOT c = f32[8] conditional(g, x, x), "
        f"true_computation={branch}, false_computation=negates\n}}\n"
    )
    lines = (runs, "n = f32[8] negate(q)") if not read_first else ("n = f32[8] negate(q)", runs)
    done = ("r = f32[8] async-done(s)",) if runs.startswith("s") else ()
    return _module("g = pred[] parameter(1)", *lines, *done, "o = f32[8] add(r, n)", before=_BRANCHES + body)


_RUNS_CALL: Final = "r = f32[8] call(q, g), to_apply=inside"
_RUNS_BESIDE: Final = "s = ((f32[8], pred[]), f32[8], u32[]) async-start(q, g), calls=inside"


def _written_beside(*body: str) -> str:
    """What is in flight writes its result where its start says, and reads its argument inside."""
    inside = "inside {\n  x = f32[8] parameter(0)\n" + "".join(f"  {line}\n" for line in body) + "}\n"
    lines = (
        "s = ((f32[8]), f32[8], u32[]) async-start(q), calls=inside, output_to_operand_aliasing={{1}: (0, {})}",
        "r = f32[8] async-done(s)",
        "o = f32[8] negate(r)",
    )
    return _module(*lines, before=inside)


def _two_deep(first: str) -> str:
    """A branch returns what a call returns to it: both write into the buffer that the other branch hands on."""
    step = (
        "step {\n  x = f32[8] parameter(0)\n  a = f32[8] negate(x)\n  b = f32[8] exponential(x)\n"
        f'  ROOT o = f32[8] custom-call({first}), custom_call_target="f", '
        "output_to_operand_aliasing={{}: (0, {})}\n}\n"
    )
    middle = "middle {\n  x = f32[8] parameter(0)\n  ROOT y = f32[8] call(x), to_apply=step\n}\n"
    chosen = "c = f32[8] conditional(g, q, q), true_computation=keeps, false_computation=middle"
    return _module("g = pred[] parameter(1)", chosen, "o = f32[8] negate(c)", before=_BRANCHES + step + middle)


_LOGGED: Final = 'z = f32[8] custom-call(x), custom_call_target="log", custom_call_has_side_effect=true'


def _asked(update_first: bool) -> str:
    """What decides on a branch is updated."""
    lines = ["v = pred[] dynamic-update-slice(g, n)"]
    chosen = "c = f32[8] conditional(g, q, q2), true_computation=negates, false_computation=negates"
    lines.insert(1 if update_first else 0, chosen)
    made = ("h = pred[] parameter(1)", "g = pred[] copy(h)", "n = pred[] not(h)")
    end = ("f = f32[] convert(v)", "b = f32[8] broadcast(f), dimensions={}", "o = f32[8] add(c, b)")
    return _module(*made, *lines, *end, before=_BRANCHES)


_FIRST: Final = "g = f32[8] get-tuple-element(w), index=0"
_COUNT: Final = "g = s32[] get-tuple-element(w), index=2"
_RETURNED: Final = "r = (f32[8], f32[8]) tuple"

CASES: Final = {
    "what a condition writes is what the loop gives": (
        _condition(True, "new", _FIRST),
        _condition(False, "new", _FIRST),
    ),
    "what a condition writes is not asked for": (
        _condition(True, "new", _FIRST),
        _condition(True, "new", _FIRST.replace("0", "1")),
    ),
    "what a condition writes it is given again": (_condition(True, "x", _COUNT), _condition(True, "new", _COUNT)),
    "the first of two gathered arrays": (_gathered(0, "a", True), _gathered(0, "b", True)),
    "the second of two gathered arrays": (_gathered(1, "b", True), _gathered(1, "a", True)),
    "a gathered array read before": (_gathered(1, "b", True), _gathered(1, "b", False)),
    "what a branch hands on": (_chosen(True), _chosen(False, "copies")),
    "what a branch hands on, updated behind it": (_chosen(False), _chosen(False, "copies")),
    "two arrays that branches update": (_updated_in_branches("q", "q2"), _updated_in_branches("q", "q2", kept=True)),
    "two arrays that branches update, one by one": (_updated_in_branches("q", "q2"), _updated_in_branches("q", "q")),
    "what a branch makes where another one updates": (_beside("b1, b2"), _beside("b2, b1")),
    "what a turn returns of a call": (_turn_by_call("a, b"), _turn_by_call("b, a")),
    "what a call hands on of a branch": (_chosen_inside(_RUNS_CALL, False), _chosen_inside(_RUNS_CALL, True)),
    "what a call makes of a branch": (_chosen_inside(_RUNS_CALL, False), _chosen_inside(_RUNS_CALL, False, "copies")),
    "what is in flight hands on of a branch": (_chosen_inside(_RUNS_BESIDE, False), _chosen_inside(_RUNS_BESIDE, True)),
    "what a branch's own call makes": (_two_deep("a, b"), _two_deep("b, a")),
    "what is written and read in flight": (
        _written_beside("ROOT a = f32[8] negate(x)", _LOGGED),
        _written_beside(_LOGGED, "ROOT a = f32[8] negate(x)"),
    ),
    "what decides on a branch": (_asked(True), _asked(False)),
    "what is returned, and updated": (
        _module(f"v = {_UPDATE}(q, u, z)", f"{_RETURNED}(q, v)"),
        _module(f"v = {_UPDATE}(q, u, z)", f"{_RETURNED}(q2, v)"),
    ),
    "what nobody reads, returned when a loop has replaced it": (
        _condition(False, "new", _FIRST, f"{_RETURNED}(q, g)"),
        _condition(False, "new", _FIRST, f"{_RETURNED}(p, g)"),
    ),
}


def _said(text: str) -> set[str]:
    found = judge(parse_module(text), lambda claim: claim == "hazard-overwrite", lambda claim: False)
    return {j.found.verdict.value for j in found}


@pytest.mark.parametrize(("wrong", "right"), CASES.values(), ids=CASES)
def test_what_is_overwritten_before_it_is_read_is_refuted(wrong: str, right: str) -> None:
    assert "refuted" in _said(wrong)
    assert _said(right) == {"proved"}


_BESIDE_A_COPY: Final = """HloModule m

inside {
  x = f32[8] parameter(0)
  s = (f32[8], f32[8], u32[]) copy-start(x)
  ROOT a = f32[8] negate(x)
  d = f32[8] copy-done(s)
  z = () custom-call(d), custom_call_target="log", custom_call_has_side_effect=true
}

ENTRY e {
  p = f32[8] parameter(0)
  q = f32[8] negate(p)
  s = ((f32[8]), f32[8], u32[]) async-start(q), calls=inside, output_to_operand_aliasing={{1}: (0, {})}
  ROOT d = f32[8] async-done(s)
}
"""


def test_what_a_start_declares_holds_inside_in_every_compilation() -> None:
    """Schedule or none, the result of what is in flight lies in its argument, which a copy reads meanwhile."""
    for text, broken in (
        (_BESIDE_A_COPY, {"s"}),
        (_BESIDE_A_COPY.replace(", output_to_operand_aliasing={{1}: (0, {})}", ""), set()),
        (_BESIDE_A_COPY.replace("negate(x)", "negate(x), control-predecessors={d}"), set()),
    ):
        found = judge(parse_module(text), lambda claim: claim == "hazard-operand", lambda claim: False)
        assert {j.place.instruction for j in found if j.problem and j.place.computation == "inside"} == broken


def test_before_copies_are_inserted_branches_share_nothing() -> None:
    """What a branch hands on may be copied yet; once a schedule stands it is not."""
    text = """HloModule m, is_scheduled=true

keeps {
  ROOT x = f32[8] parameter(0)
}
negates {
  x = f32[8] parameter(0)
  ROOT y = f32[8] negate(x)
}
ENTRY e {
  p = f32[8] parameter(0)
  g = pred[] parameter(1)
  q = f32[8] negate(p)
  s = (f32[8], f32[8], u32[]) copy-start(q)
  c = f32[8] conditional(g, q, q), true_computation=keeps, false_computation=negates
  d = f32[8] copy-done(s)
  ROOT o = f32[8] add(c, d)
}
"""
    for written, verdict in ((text, "refuted"), (text.replace(", is_scheduled=true", ""), "proved")):
        found = judge(parse_module(written), lambda claim: claim == "hazard-operand", lambda claim: False)
        assert {j.found.verdict.value for j in found} == {verdict}
