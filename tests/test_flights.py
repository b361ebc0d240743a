"""Operations in flight that other computations carry on, end or hide, and results that lie in one buffer: each wrong
module stands beside a right one, and each takes one guard to be told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest

from hloproof.claims.asynchronous import judge
from hloproof.models.hlo.parser import parse_module

_COPIED: Final = "(f32[8], f32[8], u32[])"
_STATE: Final = "((f32[8]), f32[8], u32[])"
_TWO: Final = "(f32[8], f32[8])"
_GIVEN: Final = ("p = f32[8] parameter(0)", "g = pred[] parameter(1)", "k = f32[8] copy(p)", "i = s32[] constant(0)")
_SMALL: Final = "  u = f32[2] constant({1,2})\n  z = s32[] constant(0)\n"


def _module(*lines: str, before: str = "", header: str = ", is_scheduled=true") -> str:
    *most, last = (*_GIVEN, "u = f32[2] constant({1,2})", *lines)
    body = "".join(f"  {x}\n" for x in most)
    return f"HloModule m{header}\n{before}ENTRY e {{\n{body}  ROOT {last}\n}}\n"


def _looked_at(written: str) -> str:
    """A state in flight goes to a call, and out of its computation: what is written behind the call is written in
    flight."""
    before = (
        f"peek {{\n  s = {_COPIED} parameter(0)\n  ROOT n = u32[] get-tuple-element(s), index=2\n}}\n"
        f"begin {{\n  x = f32[8] parameter(0)\n{_SMALL}  y = f32[8] copy(x)\n  s = {_COPIED} copy-start(x)\n"
        f"  n = u32[] call(s), to_apply=peek\n  v = f32[8] dynamic-update-slice({written}, u, z)\n"
        f"  ROOT t = ({_COPIED}, f32[8], u32[]) tuple(s, v, n)\n}}\n"
    )
    return _module(
        f"c = ({_COPIED}, f32[8], u32[]) call(k), to_apply=begin",
        f"s = {_COPIED} get-tuple-element(c), index=0",
        "d = f32[8] copy-done(s)",
        "w = f32[8] get-tuple-element(c), index=1",
        "v = f32[8] add(d, w)",
        before=before,
    )


def _before_its_parameter(given: str) -> str:
    """A callee writes before the line of the parameter that brings the state, which was in flight all the time."""
    before = (
        f"ends {{\n  x = f32[8] parameter(1)\n{_SMALL}  v = f32[8] dynamic-update-slice(x, u, z)\n"
        f"  s = {_COPIED} parameter(0)\n  d = f32[8] copy-done(s)\n  ROOT a = f32[8] add(v, d)\n}}\n"
    )
    return _module(
        "o = f32[8] copy(p)",
        f"s = {_COPIED} copy-start(k)",
        f"v = f32[8] call(s, {given}), to_apply=ends",
        before=before,
    )


def _of_branches(first: str, second: str) -> str:
    """Two branches return two arrays each; the first of what comes is updated, and then the second read."""
    before = "".join(
        f"{name} {{\n  x = f32[8] parameter(0)\n{_SMALL}  n = f32[8] negate(x)\n  m = f32[8] copy(n)\n"
        f"  ROOT t = {_TWO} tuple({returned})\n}}\n"
        for name, returned in (("this", first), ("that", second))
    )
    return _module(
        f"c = {_TWO} conditional(g, k, k), true_computation=this, false_computation=that",
        "a = f32[8] get-tuple-element(c), index=0",
        "b = f32[8] get-tuple-element(c), index=1",
        "w = f32[8] dynamic-update-slice(a, u, i)",
        "n = f32[8] negate(b)",
        "v = f32[8] add(w, n)",
        before=before,
    )


def _updated_by_branches(second: str) -> str:
    """Both branches update what they are given in place; they return it in one place, or each in its own."""
    before = "".join(
        f"{name} {{\n  x = f32[8] parameter(0)\n{_SMALL}  m = f32[8] iota(), iota_dimension=0\n"
        f"  w = f32[8] dynamic-update-slice(x, u, z)\n  ROOT t = {_TWO} tuple({returned})\n}}\n"
        for name, returned in (("this", "w, m"), ("that", second))
    )
    return _module(
        f"c = {_TWO} conditional(g, k, k), true_computation=this, false_computation=that",
        "a = f32[8] get-tuple-element(c), index=0",
        "b = f32[8] get-tuple-element(c), index=1",
        "v = f32[8] add(a, b)",
        before=before,
    )


def _moving_up(last: str) -> str:
    """A loop whose turn updates the first of two arrays, hands on the second in its place, and leaves a new one."""
    state = "(f32[8], f32[8], s32[])"
    before = (
        f"turn {{\n  s = {state} parameter(0)\n  x = f32[8] get-tuple-element(s), index=0\n"
        f"  y = f32[8] get-tuple-element(s), index=1\n  j = s32[] get-tuple-element(s), index=2\n{_SMALL}"
        "  w = f32[8] dynamic-update-slice(x, u, z)\n  n = f32[8] negate(w)\n"
        f"  c = f32[8] constant({{1,2,3,4,5,6,7,8}})\n  l = f32[8] {last}\n"
        f"  one = s32[] constant(1)\n  q = s32[] add(j, one)\n  ROOT o = {state} tuple(y, l, q)\n}}\n"
        f"ask {{\n  s = {state} parameter(0)\n  j = s32[] get-tuple-element(s), index=2\n  n = s32[] constant(3)\n"
        "  ROOT l = pred[] compare(j, n), direction=LT\n}\n"
    )
    return _module(
        "o = f32[8] copy(p)",
        f"t = {state} tuple(k, o, i)",
        f"w = {state} while(t), condition=ask, body=turn",
        "v = f32[8] get-tuple-element(w), index=0",
        before=before,
    )


_SLOW: Final = (
    "never {\n  x = f32[8] parameter(0)\n  ROOT f = pred[] constant(false)\n}\n"
    "turn {\n  x = f32[8] parameter(0)\n  ROOT n = f32[8] negate(x)\n}\n"
)


def _late_alias(entry: str) -> str:
    """An operand that an update binds is read behind it."""
    both = "both {\n  x = f32[8] parameter(0)\n  y = f32[8] parameter(1)\n  ROOT z = f32[8] add(x, y)\n}\n"
    return _module(
        "o = f32[8] copy(p)",
        f"s = ((f32[8]), f32[8], u32[]) async-start(k), calls=both, output_to_operand_aliasing={{{entry}}}",
        "q = ((f32[8], f32[8]), f32[8], u32[]) async-update(s, o)",
        "n = f32[8] negate(o)",
        "d = f32[8] async-done(q)",
        "v = f32[8] add(d, n)",
        before=both,
    )


def _ended_in_a_call(first: str, then: str) -> str:
    lines = {"end": "d = f32[8] call(s), to_apply=ends", "write": "w = f32[8] dynamic-update-slice(k, u, i)"}
    before = f"ends {{\n  s = {_COPIED} parameter(0)\n  ROOT d = f32[8] copy-done(s)\n}}\n"
    return _module(f"s = {_COPIED} copy-start(k)", lines[first], lines[then], "v = f32[8] add(d, w)", before=before)


def _sugared(operation: str, rest: str) -> str:
    """Sugar around one operation, and a reader of its operand meanwhile."""
    return _module(
        f"s = {_STATE} {operation}-start(k), {rest}",
        "n = f32[8] negate(k)",
        f"d = f32[8] {operation}-done(s)",
        "v = f32[8] add(d, n)",
        before="less {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
        "  ROOT l = pred[] compare(a, b), direction=LT\n}\n",
    )


def _hidden(read: str, late: bool) -> str:
    """A call in flight updates its operand in place, and returns another array."""
    bound = ["s = ((), f32[8], u32[]) call-start(), to_apply=hides", f"q = {_STATE} call-update(s, k)"]
    return _module(
        "o = f32[8] copy(p)",
        *(bound if late else (f"q = {_STATE} call-start(k), to_apply=hides",)),
        f"n = f32[8] negate({read})",
        "d = f32[8] call-done(q)",
        "v = f32[8] add(d, n)",
        before=f"hides {{\n  x = f32[8] parameter(0)\n{_SMALL}  w = f32[8] dynamic-update-slice(x, u, z)\n"
        "  ROOT n = f32[8] negate(w)\n}\n",
    )


def _aliased(entries: str) -> str:
    return _module(
        "s = ((f32[8], f32[8]), f32[8], u32[]) async-start(k, p), calls=both, "
        f"output_to_operand_aliasing={{{entries}}}",
        "v = f32[8] async-done(s)",
        before="both {\n  x = f32[8] parameter(0)\n  y = f32[8] parameter(1)\n  ROOT z = f32[8] add(x, y)\n}\n",
    )


def _part_declared(read: str) -> str:
    """One of two results is made in the place of k."""
    return _module(
        f'c = {_TWO} custom-call(k), custom_call_target="t", output_to_operand_aliasing={{{{0}}: (0, {{}})}}',
        "a = f32[8] get-tuple-element(c), index=0",
        f"n = f32[8] negate({read})",
        "v = f32[8] add(a, n)",
    )


def _returned_twice(at: tuple[int, int]) -> str:
    """One array is returned in two parts, and a part of the state is read in flight."""
    twice = f"twice {{\n  x = f32[8] parameter(0)\n  n = f32[8] negate(x)\n  ROOT t = {_TWO} tuple(n, n)\n}}"
    return _module(
        f's = ((f32[8]), {_TWO}, u32[]) async-start(k), calls=twice, async_execution_thread="other"',
        f"h = {_TWO if at[0] else '(f32[8])'} get-tuple-element(s), index={at[0]}",
        f"a = f32[8] get-tuple-element(h), index={at[1]}",
        "n = f32[8] negate(a)",
        f"d = {_TWO} async-done(s)",
        "b = f32[8] get-tuple-element(d), index=1",
        "v = f32[8] add(b, n)",
        before=twice + ', execution_thread="other"\n',
    )


def _bound_before(read: str, *part: str) -> str:
    """Of two parts that are one array the second is bound by the start, the first by an update."""
    pair = "((f32[8], f32[8]), (f32[8]))"
    before = (
        "slow {\n  x = f32[8] parameter(0)\n  n = f32[8] negate(x)\n  m = f32[8] abs(x)\n"
        f"  y = {_TWO} tuple(n, m)\n  z = (f32[8]) tuple(m)\n  ROOT t = {pair} tuple(y, z)\n"
        '}, execution_thread="other"\n'
    )
    return _module(
        's = ((f32[8]), ((f32[8]), (f32[8])), u32[]) async-start(k), calls=slow, async_execution_thread="other"',
        f"q = ((f32[8]), {pair}, u32[]) async-update(s)",
        *part,
        f"h = {read}",
        "n = f32[8] negate(h)",
        f"d = {pair} async-done(q)",
        "a = (f32[8]) get-tuple-element(d), index=1",
        "b = f32[8] get-tuple-element(a), index=0",
        "v = f32[8] add(b, n)",
        before=before,
    )


def _transferred(sent: str = "f32[8]", context: str = "u32[]", other: str = "u32[]", third: str = "u32[]") -> str:
    return _module(
        "t = token[] after-all()",
        f"s = ({sent}, {context}, token[]) send(k, t), channel_id=1",
        "sd = token[] send-done(s), channel_id=1",
        f"r = (f32[8], {other}, token[]) recv(t), channel_id=2",
        "rd = (f32[8], token[]) recv-done(r), channel_id=2",
        "d = f32[8] get-tuple-element(rd), index=0",
        f"c = (f32[8], f32[8], {third}) copy-start(d)",
        "v = f32[8] copy-done(c)",
    )


PAIRS: Final[Mapping[str, tuple[str, str, str]]] = {
    "a part of a result in the place of an operand": ("hazard-overwrite", _part_declared("k"), _part_declared("a")),
    "the second part of one array, read in flight": ("hazard-output", _returned_twice((1, 1)), _returned_twice((0, 0))),
    "an array that is bound in its second place first": (
        "hazard-output",
        _bound_before(
            "f32[8] get-tuple-element(c), index=0",
            "w = ((f32[8]), (f32[8])) get-tuple-element(s), index=1",
            "c = (f32[8]) get-tuple-element(w), index=1",
        ),
        _bound_before("f32[8] abs(k)"),
    ),
    **{
        f"{what}, in a transfer or copy": ("async-shape", _transferred(*changed), _transferred("f32[8]{0}", *near))
        for what, changed, near in (
            ("numbers of another precision", ("bf16[8]",), ()),
            ("the context of a send", ("f32[8]", "f32[9]"), ("u32[]{:S(2)}",)),
            ("the context of a recv", ("f32[8]", "u32[]", "s32[]"), ("u32[]", "u32[]{:S(2)}")),
            ("the context of a copy", ("f32[8]", "u32[]", "u32[]", "u32[1]"), ("u32[]", "u32[]", "u32[]{:S(2)}")),
        )
    },
    "what is written behind a call that a state goes to and does not end in": (
        "hazard-operand",
        _looked_at("x"),
        _looked_at("y"),
    ),
    "what a callee writes before the line of the state": (
        "hazard-operand",
        _before_its_parameter("k"),
        _before_its_parameter("o"),
    ),
    "one array of one branch and two of the other": (
        "hazard-overwrite",
        _of_branches("n, n", "n, m"),
        _of_branches("n, m", "n, m"),
    ),
    "one buffer that two branches return in two places": (
        "hazard-overwrite",
        _updated_by_branches("m, w"),
        _updated_by_branches("w, m"),
    ),
    "an operand bound late and aliased": ("hazard-output", _late_alias("{1}: (1, {})"), _late_alias("{0,1}: (1, {})")),
    "what is written before a call ends the operation": (
        "hazard-operand",
        _ended_in_a_call("write", "end"),
        _ended_in_a_call("end", "write"),
    ),
    "what writes its operand in flight, and a sort": (
        "hazard-output",
        _sugared("custom-call", 'custom_call_target="t", output_to_operand_aliasing={{}: (0, {})}'),
        _sugared("sort", "dimensions={0}, to_apply=less"),
    ),
    **{
        f"what is {how} in flight and read meanwhile": ("hazard-output", _hidden("k", bound), _hidden("o", bound))
        for how, bound in (("hidden", False), ("hidden and bound late", True))
    },
    "the place of an operand as another one": ("async-alias", _aliased("{0,0}: (1, {})"), _aliased("{0,0}: (0, {})")),
    "the place of an operand as a part of it": (
        "async-alias",
        _aliased("{0,1}: (1, {}), {0,0}: (1, {})"),
        _aliased("{0,1}: (1, {}), {0,0}: (0, {}), {1}: (0, {})"),
    ),
}


def _said(text: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for j in judge(parse_module(text), lambda c: c.startswith(("hazard", "async")), lambda c: False):
        found.setdefault(j.claim, set()).add(j.found.verdict.value)
    return found


@pytest.mark.parametrize(("claim", "broken", "kept"), PAIRS.values(), ids=PAIRS)
def test_what_takes_one_guard_to_be_told_is_told(claim: str, broken: str, kept: str) -> None:
    assert "refuted" in _said(broken)[claim]
    assert set().union(*_said(kept).values()) == {"proved"}


def test_a_constant_that_moves_up_from_turn_to_turn_is_followed() -> None:
    """Two parts of the state are exchanged without a copy, which is wrong in any case, and told by another claim."""
    verdicts = [_said(_moving_up(f"{how}(c)"))["hazard-constant"] for how in ("bitcast", "copy")]
    assert "refuted" in verdicts[0] and verdicts[1] == {"proved"}


_OPAQUE: Final = {
    "while": "while-start(k), condition=never, body=turn",
    "conditional": "conditional-start(g, k, k), true_computation=turn, false_computation=turn",
    "bitcast": "bitcast-start(k)",
}


@pytest.mark.parametrize("operation", _OPAQUE)
def test_what_sugar_hides_is_not_known(operation: str) -> None:
    held = "(pred[], f32[8], f32[8])" if operation == "conditional" else "(f32[8])"
    text = _module(
        f"s = ({held}, f32[8], u32[]) {_OPAQUE[operation]}",
        "n = f32[8] negate(k)",
        f"d = f32[8] {operation}-done(s)",
        "w = f32[8] dynamic-update-slice(d, u, i)",
        "m = f32[8] negate(k)",
        "v = f32[8] add(w, m)",
        before=_SLOW,
    )
    said = _said(text)
    hazards = ("hazard-operand", "hazard-output", "hazard-overwrite", "hazard-constant")
    assert all("unknown" in said[claim] for claim in hazards)
    # A computation that holds the operation shows it.
    shown = text.replace(_OPAQUE[operation], "async-start(k), calls=shown").replace(f"{operation}-done", "async-done")
    inside = {"while": "while(x), condition=never, body=turn", "bitcast": "bitcast(x)"}.get(operation)
    if inside is not None:
        said = _said(
            shown.replace("ENTRY", f"shown {{\n  x = f32[8] parameter(0)\n  ROOT r = f32[8] {inside}\n}}\nENTRY")
        )
        assert "refuted" in said["hazard-overwrite"] and "unknown" not in set().union(*said.values())
