"""What flies and works in place: operands that are bound after the start are operands, wherever the end stands. And
what else decides on where a result lies: calls beside loops, branches that write or make anew, and declarations."""

from __future__ import annotations

from typing import Final

import pytest

from hloproof.pipeline.driver import check_hlo
from hloproof.pipeline.options import Options, Selection

_FIRST: Final = "((f32[8]), f32[8])"
_BOTH: Final = "((f32[8], f32[8]), f32[8])"
_UNBOUND: Final = "((f32[8]), ())"
_BOTH_UNBOUND: Final = "((f32[8], f32[8]), ())"
"""States of a chain that has a result already, and of one that has none yet."""
_OVER: Final = "kind=kLoop, calls=fused, output_to_operand_aliasing={{}: (0, {})}"
_WRITES: Final = 'custom_call_target="w", output_to_operand_aliasing={{}: (0, {})}'
_BODIES: Final = """fused {
 p = f32[8] parameter(0)
 q = f32[8] parameter(1)
 r = f32[8] reverse(q), dimensions={0}
 ROOT d = f32[8] add(p, r)
}
first {
 p = f32[8] parameter(0)
 q = f32[8] parameter(1)
 r = f32[8] reverse(p), dimensions={0}
 ROOT d = f32[8] add(q, r)
}
third {
 p = f32[8] parameter(0)
 q = f32[8] parameter(1)
 v = f32[8] parameter(2)
 r = f32[8] reverse(v), dimensions={0}
 a = f32[8] add(p, q)
 ROOT d = f32[8] add(a, r)
}
updates {
 p = f32[8] parameter(0)
 q = f32[8] parameter(1)
 h = f32[4] slice(q), slice={[2:6]}
 z = s32[] constant(0)
 ROOT d = f32[8] dynamic-update-slice(p, h, z)
}
turned {
 p = f32[8] parameter(0)
 ROOT r = f32[8] reverse(p), dimensions={0}
}
hands {
 p = f32[8] parameter(0)
 ROOT r = f32[8] bitcast(p)
}
anew {
 p = f32[8] parameter(0)
 ROOT r = f32[8] negate(p)
}
writes {
 p = f32[8] parameter(0)
 ROOT r = f32[8] custom-call(p), WRITES
}
""".replace("WRITES", _WRITES)
_ENTRY: Final = (
    "ENTRY e {\n a = f32[8] parameter(0)\n b = f32[8] parameter(1)\n k = s32[] parameter(2)\n"
    " x = f32[8] negate(a)\n y = f32[8] negate(b)\n z = s32[] constant(0)\n"
)
_SCHEDULED: Final = ", is_scheduled=true"


def _found(steps: str, head: str, bodies: str = "", claim: str = "hazard-in-place") -> set[str]:
    """Steps of the entry, which has two arrays x and y, and a number k."""
    text = f"HloModule m{head}\n{_BODIES}{bodies}{_ENTRY}{steps}}}\n"
    only = Options(jobs=1, selection=Selection(only=(claim,)))
    found = check_hlo(text, only).records()
    return {str(r.verdict) for r in found if r.claim == claim}


_LATER: Final = (
    f" s = {_FIRST} fusion-start(x), HOW\n u = {_BOTH} fusion-update(s, LAST)\n ROOT d = f32[8] fusion-done(u)\n"
)
_WITH_RESULT: Final = _LATER.replace(_FIRST, _UNBOUND)
_LAST_RESULT: Final = _WITH_RESULT.replace(_BOTH, _BOTH_UNBOUND)
_THREE: Final = (
    f" s = {_FIRST} fusion-start(x), HOW\n t = {_BOTH} fusion-update(s, y)\n"
    " u = ((f32[8], f32[8], f32[8]), f32[8]) fusion-update(t, LAST)\n ROOT d = f32[8] fusion-done(u)\n"
)
_BY_A_TUPLE: Final = _LATER.replace(
    " u =",
    f" t = ({_FIRST}) tuple(s)\n v = ({_FIRST}) opt-barrier(t)\n g = {_FIRST} get-tuple-element(v), index=0\n u =",
).replace("fusion-update(s,", "fusion-update(g,")
_ENDS_ELSEWHERE: Final = (
    f" s = {_BOTH} fusion-start(x, LAST), HOW\n ROOT d = f32[8] call(s), to_apply=goes_on\n",
    f"goes_on {{\n s = {_BOTH} parameter(0)\n u = {_BOTH} fusion-update(s)\n ROOT d = f32[8] fusion-done(u)\n}}\n",
)
_SECOND: Final = _OVER.replace("fused", "first").replace("(0, ", "(1, ")
_KNOWN: Final = {
    "the second": (_LATER.replace("HOW", _OVER), ""),
    "the second, and the result with it": (_WITH_RESULT.replace("HOW", _OVER), ""),
    "the second, and the result at the end": (_LAST_RESULT.replace("HOW", _OVER), ""),
    "the second, over which the result lies": (_LATER.replace("HOW", _SECOND), ""),
    "the third, by another update": (_THREE.replace("HOW", _OVER.replace("fused", "third")), ""),
    "the second, behind a tuple": (_BY_A_TUPLE.replace("HOW", _OVER), ""),
    "none, by an update that is called": (_ENDS_ELSEWHERE[0].replace("HOW", _OVER), _ENDS_ELSEWHERE[1]),
}


@pytest.mark.parametrize("head", ["", _SCHEDULED])
@pytest.mark.parametrize(("last", "expected"), [("x", "refuted"), ("y", "proved")])
@pytest.mark.parametrize("bound", _KNOWN)
def test_what_an_update_binds_is_read_and_written_as_what_the_start_binds(
    bound: str, last: str, expected: str, head: str
) -> None:
    steps, bodies = _KNOWN[bound]
    if "third" in bound and last == "y":
        last = "a"
    # Where a result lies that another computation ends is not followed.
    expected = "unknown" if bodies and expected == "proved" else expected
    assert _found(steps.replace("LAST", last), head, bodies) == {expected}


_UPDATED: Final = _LATER.replace("HOW", "kind=kLoop, calls=updates")
_ALIAS: Final = f"{_SCHEDULED}, input_output_alias={{ {{}}: (0, {{}}, may-alias) }}"
_UNDECLARED: Final = _LATER.replace("HOW", "kind=kLoop, calls=fused").replace("fusion-start(x)", "fusion-start(y)")
_CHOSEN: Final = _UNDECLARED.replace("ROOT d", "d") + (
    " ROOT c = f32[8] conditional(k, d, x), branch_computations={hands, hands}\n"
)
_BOUND_CHOSEN: Final = _CHOSEN.replace(_FIRST, _UNBOUND)
_BOUND_IN_A_CALL: Final = (
    f" s = {_BOTH_UNBOUND} fusion-start(y, LAST), kind=kLoop, calls=fused\n ROOT d = f32[8] call(s), to_apply=goes_on\n"
)


@pytest.mark.parametrize(
    ("steps", "last", "head", "expected"),
    [
        (_UPDATED, "x", _SCHEDULED, {"refuted"}),
        (_UPDATED, "x", "", {"proved"}),  # a copy can be put in
        (_UPDATED, "y", _SCHEDULED, {"proved"}),
        (_UPDATED.replace(_FIRST, _UNBOUND), "x", _SCHEDULED, {"refuted"}),
        (_UPDATED.replace(_FIRST, _UNBOUND), "y", _SCHEDULED, {"proved"}),
        (_UNDECLARED, "a", _ALIAS, {"refuted"}),
        (_UNDECLARED, "b", _ALIAS, set()),
        (_CHOSEN, "x", _SCHEDULED, {"refuted"}),
        (_CHOSEN, "a", _SCHEDULED, set()),
        (_BOUND_CHOSEN, "x", _SCHEDULED, {"refuted"}),
        (_BOUND_CHOSEN, "a", _SCHEDULED, set()),
        (_BOUND_IN_A_CALL, "a", _ALIAS, {"unknown"}),
        (_BOUND_IN_A_CALL, "b", _ALIAS, set()),
    ],
)
def test_what_an_update_binds_lies_where_the_result_is_put(
    steps: str, last: str, head: str, expected: set[str]
) -> None:
    """Nothing is declared: the buffer is shared by an update in place, the module's aliases, or branches."""
    assert _found(steps.replace("LAST", last), head, _ENDS_ELSEWHERE[1].replace(_BOTH, _BOTH_UNBOUND, 1)) == expected


@pytest.mark.parametrize(("read", "expected"), [("p", "proved"), ("q", "unknown")])
def test_one_of_two_results_lies_where_the_second_operand_does(read: str, expected: str) -> None:
    """The other one lies elsewhere, and nobody says in which order the two are made."""
    both = "(f32[8], f32[4])"
    parts = (
        "parts {\n p = f32[8] parameter(0)\n q = f32[8] parameter(1)\n n = f32[8] negate(q)\n"
        f" h = f32[4] slice({read}), slice={{[4:8]}}\n ROOT t = {both} tuple(n, h)\n}}\n"
    )
    over = "kind=kLoop, calls=parts, output_to_operand_aliasing={{0}: (1, {})}"
    steps = f" s = ((), ()) fusion-start(), {over}\n u = ((f32[8], f32[8]), {both}) fusion-update(s, x, y)\n"
    assert _found(f"{steps} ROOT d = {both} fusion-done(u)\n", _SCHEDULED, parts) == {expected}


def _other(opcode: str, attributes: str, given: str, when: str) -> str:
    """What is no fusion, of three operands, which are bound at once or one after the other."""
    all_of, unbound = "((f32[8], f32[8], s32[]), f32[8])", "((f32[8], f32[8], s32[]), ())"
    end = f" ROOT d = f32[8] {opcode}-done(u)\n"
    one, rest = given.split(", ", 1)
    return {
        "at once": f" u = {all_of} {opcode}-start({given}){attributes}\n{end}",
        "later": f" s = {_FIRST} {opcode}-start({one}){attributes}\n u = {all_of} {opcode}-update(s, {rest})\n{end}",
        "the result, too": f" s = ((f32[8]), ()) {opcode}-start({one}){attributes}\n"
        f" u = {all_of} {opcode}-update(s, {rest})\n{end}",
        "all later": f" s = ((), ()) {opcode}-start(){attributes}\n u = {all_of} {opcode}-update(s, {given})\n{end}",
        "the result alone": f" s = {unbound} {opcode}-start({given}){attributes}\n"
        f" u = {all_of} {opcode}-update(s)\n{end}",
        "the result at the end": f" s = {unbound} {opcode}-start({given}){attributes}\n"
        f" u = {unbound} {opcode}-update(s)\n{end}",
        "the result at the end, alone": f" u = {unbound} {opcode}-start({given}){attributes}\n{end}",
    }[when]


@pytest.mark.parametrize("when", ["at once", "later", "the result, too", "all later"])
@pytest.mark.parametrize(("opcode", "attributes"), [("dynamic-update-slice", ""), ("custom-call", f", {_WRITES}")])
def test_so_it_is_for_what_is_no_fusion(opcode: str, attributes: str, when: str) -> None:
    assert _found(_other(opcode, attributes, "x, x, z", when), _SCHEDULED) == {"unknown"}
    assert _found(_other(opcode, attributes, "x, y, z", when), _SCHEDULED) == set()


_CALLED: Final = (
    f" s = {_FIRST} fusion-start(x), HOW\n ROOT d = f32[8] call(s, LAST), to_apply=binds\n",
    f"binds {{\n s = {_FIRST} parameter(0)\n q = f32[8] parameter(1)\n u = {_BOTH} fusion-update(s, q)\n"
    " ROOT d = f32[8] fusion-done(u)\n}\n",
)
_ONE_OF_TWO: Final = (
    f" s = {_FIRST} fusion-start(x), HOW\n t = {_FIRST} fusion-start(y), HOW\n"
    f" c = {_FIRST} conditional(k, s, t), branch_computations={{stays, stays}}\n u = {_BOTH} fusion-update(c, LAST)\n"
    " ROOT d = f32[8] fusion-done(u)\n",
    f"stays {{\n s = {_FIRST} parameter(0)\n ROOT r = {_FIRST} opt-barrier(s)\n}}\n",
)
_TWO_OF_ONE: Final = (
    f" s = {_FIRST} fusion-start(x), HOW\n t = {_BOTH} fusion-update(s, y)\n u = {_BOTH} fusion-update(s, LAST)\n"
    f" c = {_BOTH} conditional(k, t, u), branch_computations={{stays, stays}}\n ROOT d = f32[8] fusion-done(c)\n",
    _ONE_OF_TWO[1].replace(_FIRST, _BOTH),
)
_NEXT_TURN: Final = (
    f" s = {_FIRST} fusion-start(x), HOW\n t = ({_FIRST}, f32[8]) tuple(s, LAST)\n"
    f" w = ({_FIRST}, f32[8]) while(t), condition=more, body=turn\n g = {_FIRST} get-tuple-element(w), index=0\n"
    f" u = {_BOTH} fusion-update(g, y)\n ROOT d = f32[8] fusion-done(u)\n",
    f"turn {{\n s = ({_FIRST}, f32[8]) parameter(0)\n g = {_FIRST} get-tuple-element(s), index=0\n"
    f" p = f32[8] get-tuple-element(s), index=1\n u = {_BOTH} fusion-update(g, p)\n d = f32[8] fusion-done(u)\n"
    f" n = {_FIRST} fusion-start(d), HOW\n ROOT t = ({_FIRST}, f32[8]) tuple(n, p)\n}}\n"
    f'more {{\n s = ({_FIRST}, f32[8]) parameter(0)\n ROOT m = pred[] custom-call(), custom_call_target="m"\n}}\n',
)
_NEXT_TURN_ALONE: Final = (
    _NEXT_TURN[0].split(" g =")[0] + " ROOT d = f32[8] get-tuple-element(w), index=1\n",
    _NEXT_TURN[1],
)
_SAYS_SO_ITSELF: Final = (_WITH_RESULT.replace("LAST)", "LAST), output_to_operand_aliasing={{1}: (1, {})}"), "")
_NEVER: Final = (
    f" s = {_FIRST} fusion-start(x), HOW\n t = ({_FIRST}, f32[8]) tuple(s, LAST)\n"
    f" g = {_FIRST} get-tuple-element(t), index=0\n ROOT d = f32[8] fusion-done(g)\n",
    "",
)
_NOT_KNOWN: Final = {
    "in a call": _CALLED,
    "by what was chosen": _ONE_OF_TWO,
    "twice": _TWO_OF_ONE,
    "in a call, and the result with it": (_CALLED[0].replace(_FIRST, _UNBOUND), _CALLED[1].replace(_FIRST, _UNBOUND)),
    "in the next turn": _NEXT_TURN,
    "in the next turn alone": _NEXT_TURN_ALONE,
    "by an update that declares": _SAYS_SO_ITSELF,
    "by nobody": _NEVER,
}


@pytest.mark.parametrize("last", ["x", "y"])
@pytest.mark.parametrize("bound", _NOT_KNOWN)
def test_what_is_bound_elsewhere_proves_nothing(bound: str, last: str) -> None:
    steps, bodies = (part.replace("LAST", last) for part in _NOT_KNOWN[bound])
    for how in (_OVER, "kind=kLoop, calls=updates", "kind=kLoop, calls=fused"):
        given = steps.replace("HOW", how), bodies.replace("HOW", how)
        assert _found(given[0], _SCHEDULED, given[1]) == {"unknown"}
        # Without a schedule and a declaration a fusion that ends in no update has an array of its own.
        owes = how != "kind=kLoop, calls=fused" or bound == "by an update that declares"
        assert _found(given[0], "", given[1]) == ({"unknown"} if owes else set())


def test_what_is_bound_twice_is_not_counted_twice() -> None:
    """Nobody binds the third operand."""
    steps = _TWO_OF_ONE[0].replace("HOW", _OVER.replace("fused", "third"))
    for last in ("x", "a"):
        assert _found(steps.replace("LAST", last), _SCHEDULED, _TWO_OF_ONE[1]) == {"unknown"}


def test_a_call_in_flight_is_judged_inside() -> None:
    steps, bodies = (part.replace("fusion", "call").replace("HOW", "to_apply=fused") for part in _CALLED)
    assert _found(steps.replace("LAST", "x"), _SCHEDULED, bodies) == set()


_STATE: Final = "(f32[8], s32[])"
_TURN: Final = (
    f"turn {{\n s = {_STATE} parameter(0)\n p = f32[8] get-tuple-element(s), index=0\n"
    " k = s32[] get-tuple-element(s), index=1\n n = f32[8] fusion(p), kind=kLoop, calls=HOW\n"
    f" i = s32[] constant(1)\n j = s32[] subtract(k, i)\n ROOT t = {_STATE} tuple(n, j)\n}}\n"
    f"more {{\n s = {_STATE} parameter(0)\n k = s32[] get-tuple-element(s), index=1\n z = s32[] constant(0)\n"
    " ROOT o = pred[] compare(k, z), direction=GT\n}\n"
)


@pytest.mark.parametrize(("fused", "expected"), [("turned", "refuted"), ("anew", "proved")])
def test_a_turn_of_a_loop_is_in_place_though_it_is_called_before(fused: str, expected: str) -> None:
    steps = f" c = s32[] copy(k)\n t = {_STATE} tuple(x, c)\n d = {_STATE} call(t), to_apply=turn\n"
    steps += f" ROOT w = {_STATE} while(d), condition=more, body=turn\n"
    assert _found(steps, _SCHEDULED, _TURN.replace("HOW", fused)) == {expected}


_GIVEN: Final = "((f32[8], f32[8], s32[]), f32[8])"
_ENDS: Final = f"ends {{\n s = {_GIVEN} parameter(0)\n d = f32[8] async-done(s)\n"
_HELD: Final = " g = (f32[8], f32[8], s32[]) get-tuple-element(s), index=0\n h = f32[8] get-tuple-element(g), index=0\n"


@pytest.mark.parametrize("head", ["", _SCHEDULED])
@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize(
    ("gives", "expected"),
    [
        ("conditional(k, p, q), branch_computations={hands, hands}", "refuted"),
        ("conditional(k, q, q), branch_computations={hands, hands}", "unknown"),
    ],
)
def test_what_ends_in_a_call_gives_back_what_it_was_given(gives: str, expected: str, inside: bool, head: str) -> None:
    """One of its operands, perhaps the one that is written then, beside the start or beside the end."""
    ends = _ENDS + (f"{_HELD} ROOT r = f32[8] fusion(h, d), {_OVER}\n" if inside else " ROOT r = f32[8] bitcast(d)\n")
    run = "run {\n p = f32[8] parameter(0)\n q = f32[8] parameter(1)\n k = s32[] parameter(2)\n"
    run += f" ROOT r = f32[8] {gives}\n}}\n"
    steps = f" s = {_GIVEN} async-start(x, y, k), calls=run\n ROOT v = f32[8] call(s), to_apply=ends\n"
    if not inside:
        steps = steps.replace("ROOT v", "v") + f" ROOT f = f32[8] fusion(x, v), {_OVER}\n"
    # Once copies are inserted both operands lie where the choice does.
    assert _found(steps, head, f"{ends}}}\n{run}") == {expected if head else "unknown"}


_CHOICE: Final = " ROOT r = f32[8] conditional(k, p, q), branch_computations={FIRST, hands}\n"
_PICKS: Final = (
    " v = f32[8] call(x, y, k), to_apply=picks\n",
    f"picks {{\n p = f32[8] parameter(0)\n q = f32[8] parameter(1)\n k = s32[] parameter(2)\n{_CHOICE}}}\n",
)
_AT_ONCE: Final = (_CHOICE.replace("ROOT r", "v").replace("p, q", "x, y"), "")


@pytest.mark.parametrize("first", ["anew", "writes", "hands"])
@pytest.mark.parametrize(("read", "expected"), [("y", "refuted"), ("a", "proved")])
@pytest.mark.parametrize("chosen", [_PICKS, _AT_ONCE])
def test_a_choice_lies_where_one_branch_hands_it_on(
    chosen: tuple[str, str], read: str, expected: str, first: str
) -> None:
    """Whatever the other branch does: what is chosen is written over what is handed on, and so is what follows."""
    steps, bodies = (part.replace("FIRST", first) for part in chosen)
    assert _found(f"{steps} ROOT f = f32[8] fusion(v, {read}), {_OVER}\n", _SCHEDULED, bodies) == {expected}


def test_a_call_that_may_hand_on_its_operand_writes_there() -> None:
    """Where the first branch makes its result anew it does so over what the second one hands on."""
    steps, bodies = (part.replace("FIRST", "anew") for part in _PICKS)
    for read, expected in (("y", {"proved", "refuted"}), ("a", {"proved"})):
        assert _found(f"{steps} ROOT r = f32[8] add(v, {read})\n", _SCHEDULED, bodies, "hazard-overwrite") == expected


_THREE_OF_TWO: Final = "(f32[8], f32[8], f32[8])"
_TWO: Final = "(f32[8], f32[8])"


@pytest.mark.parametrize(("never", "expected"), [("a", "unknown"), ("b", "proved")])
def test_a_branch_that_is_never_taken_refutes_nothing(never: str, expected: str) -> None:
    """It gives one array twice; the one that is taken gives two."""
    bodies = "".join(
        f"{name} {{\n s = {_TWO} parameter(0)\n a = f32[8] get-tuple-element(s), index=0\n"
        f" b = f32[8] get-tuple-element(s), index=1\n ROOT t = {_THREE_OF_TWO} tuple(a, b, {last})\n}}\n"
        for name, last in (("one", never), ("other", "b"))
    )
    steps = (
        f" c = s32[] constant(1)\n t = {_TWO} tuple(x, y)\n"
        f" d = {_THREE_OF_TWO} conditional(c, t, t), branch_computations={{one, other}}\n"
        " u = f32[8] get-tuple-element(d), index=0\n v = f32[8] get-tuple-element(d), index=2\n"
        f" ROOT f = f32[8] fusion(u, v), {_OVER}\n"
    )
    assert _found(steps, "", bodies) == {expected}


@pytest.mark.parametrize("head", ["", _SCHEDULED])
@pytest.mark.parametrize(("updated", "declared"), [("p", 0), ("p", 1), ("q", 0), ("q", 1)])
def test_an_update_of_one_operand_is_not_declared_over_another(updated: str, declared: int, head: str) -> None:
    fused = (
        "part {\n p = f32[8] parameter(0)\n q = f32[8] parameter(1)\n c = f32[2] constant({1, 2})\n"
        f" z = s32[] constant(2)\n ROOT u = f32[8] dynamic-update-slice({updated}, c, z)\n}}\n"
    )
    over = f"kind=kLoop, calls=part, output_to_operand_aliasing={{{{}}: ({declared}, {{}})}}"
    fits = "pq"[declared] == updated
    assert ("unknown" in _found(f" ROOT f = f32[8] fusion(x, y), {over}\n", head, fused)) != fits


_WHEN: Final = (
    "at once",
    "later",
    "the result, too",
    "all later",
    "the result alone",
    "the result at the end",
    "the result at the end, alone",
)
_FLOWN: Final = {
    "an update": ("dynamic-update-slice", ""),
    "a custom call": ("custom-call", f", {_WRITES}"),
    "what a fusion declares": ("fusion", f", {_OVER.replace('fused', 'three_given')}"),
    "what a fusion updates": ("fusion", ", kind=kLoop, calls=three_updated"),
}
_THREE_GIVEN: Final = "".join(
    f"{name} {{\n p = f32[8] parameter(0)\n q = f32[8] parameter(1)\n k = s32[] parameter(2)\n{ends}}}\n"
    for name, ends in (
        ("three_given", " r = f32[8] reverse(q), dimensions={0}\n ROOT d = f32[8] add(p, r)\n"),
        ("three_updated", " h = f32[4] slice(q), slice={[2:6]}\n ROOT d = f32[8] dynamic-update-slice(p, h, k)\n"),
    )
)
_THEN: Final = {
    "": f" ROOT f = f32[8] fusion(d, READ), {_OVER}\n",
    "in a call": " ROOT f = f32[8] call(d, READ), to_apply=goes_on\n",
    "behind a choice": (
        " c = f32[8] conditional(k, d, d), branch_computations={hands, hands}\n"
        f" ROOT f = f32[8] fusion(c, READ), {_OVER}\n"
    ),
    "behind a turn": (
        f" o = s32[] copy(k)\n t = {_STATE} tuple(d, o)\n w = {_STATE} while(t), condition=more, body=turn\n"
        f" c = f32[8] get-tuple-element(w), index=0\n ROOT f = f32[8] fusion(c, READ), {_OVER}\n"
    ),
}
_GOES_ON: Final = (
    f"goes_on {{\n p = f32[8] parameter(0)\n q = f32[8] parameter(1)\n ROOT f = f32[8] fusion(p, q), {_OVER}\n}}\n"
)


@pytest.mark.parametrize("then", _THEN)
@pytest.mark.parametrize("when", _WHEN)
@pytest.mark.parametrize("flies", _FLOWN)
def test_a_result_lies_where_its_operand_did_whenever_it_is_bound(flies: str, when: str, then: str) -> None:
    """What follows is written over what it reads; before copies are inserted only what is declared is."""
    steps = _other(*_FLOWN[flies], "x, y, z", when).replace("ROOT d", "d") + _THEN[then]
    bodies = _THREE_GIVEN + {"in a call": _GOES_ON, "behind a turn": _TURN.replace("HOW", "anew")}.get(then, "")
    assert "refuted" in _found(steps.replace("READ", "x"), _SCHEDULED, bodies)
    assert _found(steps.replace("READ", "b"), _SCHEDULED, bodies) == {"proved"}
    if then != "behind a turn":  # what a loop gives is not known without a schedule
        declared = flies in ("a custom call", "what a fusion declares")
        assert (_found(steps.replace("READ", "x"), "", bodies) == {"proved"}) != declared
        assert _found(steps.replace("READ", "b"), "", bodies) == {"proved"}


@pytest.mark.parametrize("state", [_BOTH, _BOTH_UNBOUND])
@pytest.mark.parametrize("head", ["", _SCHEDULED])
@pytest.mark.parametrize(("opcode", "how"), [("fusion", _OVER), ("custom-call", _WRITES)])
@pytest.mark.parametrize("read", ["x", "y"])
def test_what_ends_in_a_call_lies_where_its_operand_did(
    read: str, opcode: str, how: str, head: str, state: str
) -> None:
    steps = f" n = f32[8] cosine(b)\n s = {state} {opcode}-start(x, n), {how}\n d = f32[8] call(s), to_apply=ends\n"
    bodies = f"ends {{\n s = {state} parameter(0)\n ROOT d = f32[8] {opcode}-done(s)\n}}\n"
    found = _found(f"{steps} ROOT f = f32[8] fusion(d, {read}), {_OVER}\n", head, bodies)
    assert ("refuted" in found) == (read == "x") and "proved" not in found
