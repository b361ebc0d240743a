"""In which buffer something is made, by states, branches, aliases and calls: what reads there is judged there."""

from __future__ import annotations

from typing import Final, Literal

import pytest

from hloproof.pipeline.driver import check_hlo
from hloproof.pipeline.options import Options, Selection

_PAIR: Final = "(f32[8], f32[8])"
_HEAD: Final = "HloModule m, is_scheduled=true\n"
_LESS: Final = """less {
 a = f32[] parameter(0)
 b = f32[] parameter(1)
 c = f32[] parameter(2)
 d = f32[] parameter(3)
 ROOT e = pred[] compare(a, b), direction=LT
}
"""


def _turn(fused: str, steps: str) -> str:
    """A loop whose state is two arrays x0 and x1; the steps of a turn make y0 and y1."""
    return (
        f"{_HEAD}{fused}turn {{\n s = {_PAIR} parameter(0)\n x0 = f32[8] get-tuple-element(s), index=0\n"
        f" x1 = f32[8] get-tuple-element(s), index=1\n{steps} ROOT t = {_PAIR} tuple(y0, y1)\n}}\n"
        f'more {{\n s = {_PAIR} parameter(0)\n ROOT m = pred[] custom-call(), custom_call_target="m"\n}}\n'
        "ENTRY e {\n a = f32[8] parameter(0)\n b = f32[8] copy(a)\n c = f32[8] copy(a)\n"
        f" t0 = {_PAIR} tuple(b, c)\n ROOT w = {_PAIR} while(t0), condition=more, body=turn\n}}\n"
    )


def _one_result_twice(read: str) -> str:
    fused = f"fused {{\n p = f32[8] parameter(0)\n q = f32[8] parameter(1)\n r = f32[8] {read}\n"
    fused += f" ROOT o = {_PAIR} tuple(r, r)\n}}\n"
    steps = "".join(f" y{k} = f32[8] get-tuple-element(f), index={k}\n" for k in (0, 1))
    return _turn(fused, f" f = {_PAIR} fusion(x0, x1), kind=kLoop, calls=fused\n{steps}")


def _another_is_updated(write: int) -> str:
    """What is updated is a reshape of another operand than that in whose buffer the result is made."""
    fused = (
        "fused {\n p = f32[2,4] parameter(0)\n q = f32[8] parameter(1)\n r = f32[8] reshape(p)\n"
        f" s = f32[4] slice(q), slice={{[0:4]}}\n k = s32[] constant({write})\n"
        " ROOT u = f32[8] dynamic-update-slice(r, s, k)\n}\n"
    )
    steps = " b0 = f32[2,4] bitcast(x1)\n y0 = f32[8] fusion(b0, x0), kind=kLoop, calls=fused\n"
    return _turn(fused, steps + " y1 = f32[8] copy(x1)\n")


def _two_updates(start_in: str, size: int = 2) -> str:
    return (
        f"{_HEAD}fused {{\n p = s32[8] parameter(0)\n q = s32[8] parameter(1)\n u = s32[{size}] parameter(2)\n"
        f" s = s32[1] slice({start_in}), slice={{[0:1]}}\n k = s32[] reshape(s)\n z = s32[] constant(0)\n"
        " a = s32[8] dynamic-update-slice(p, u, z)\n b = s32[8] dynamic-update-slice(q, u, k)\n"
        " ROOT o = (s32[8], s32[8]) tuple(a, b)\n}\n"
        f"ENTRY e {{\n x = s32[8] parameter(0)\n u = s32[{size}] parameter(1)\n"
        " c = s32[8] copy(x)\n d = s32[8] copy(x)\n"
        " ROOT f = (s32[8], s32[8]) fusion(c, d, u), kind=kLoop, calls=fused\n}\n"
    )


def _declared(fused: str, result: str, operands: str, aliases: str) -> str:
    return (
        f"{_HEAD}{_LESS if 'less' in fused else ''}fused {{\n{fused}}}\nENTRY e {{\n x = f32[8] parameter(0)\n"
        f" c = f32[8] copy(x)\n d = f32[8] copy(x)\n t = {_PAIR} tuple(c, d)\n"
        f" ROOT f = {result} fusion({operands}), kind=kLoop, calls=fused, "
        f"output_to_operand_aliasing={{{aliases}}}\n}}\n"
    )


def _beside(value: str, other: str) -> str:
    """Two results of one fusion; the first is made in the buffer of its operand."""
    fused = " p = f32[8] parameter(0)\n k = s32[] constant(2)\n c = f32[2] constant({1, 2})\n"
    fused += f" u = f32[8] {value}\n{other} ROOT o = {_PAIR} tuple(u, v)\n"
    return _declared(fused, _PAIR, "c", "{0}: (0, {})")


def _tuple_beside(made: str) -> str:
    """The second result is made in the buffer of its operand; the first are a number for each place, and another."""
    fused = f" p = f32[8] parameter(0)\n i = f32[8] iota(), iota_dimension=0\n m = f32[8] {made}\n"
    fused += f" t = {_PAIR} tuple(i, m)\n n = f32[8] negate(p)\n"
    return _declared(f"{fused} ROOT o = ({_PAIR}, f32[8]) tuple(t, n)\n", f"({_PAIR}, f32[8])", "c", "{1}: (0, {})")


def _update_beside(read: str) -> str:
    """Beside a result in place an array of the fusion's own is updated, from the elements at the same places."""
    other = f" w = f32[8] iota(), iota_dimension=0\n s = f32[2] slice({read}), slice={{[2:4]}}\n"
    return _beside("negate(p)", f"{other} v = f32[8] dynamic-update-slice(w, s, k)\n")


_UPDATE: Final = "dynamic-update-slice(p, c, k)"
_OUTSIDE: Final = " q = f32[2] slice(p), slice={[4:6]}\n v = f32[8] concatenate(q, q, q, q), dimensions={0}\n"


def _second_update(read: str) -> str:
    """Its value is made from what the first update writes in the same step, or from what it leaves."""
    return (
        f"{_HEAD}fused {{\n p = f32[8] parameter(0)\n q = f32[8] parameter(1)\n k = s32[] constant(2)\n"
        f" c = f32[2] constant({{1, 2}})\n s = f32[2] slice(p), slice={{[{read}]}}\n n = f32[2] negate(s)\n"
        " a = f32[8] dynamic-update-slice(p, c, k)\n b = f32[8] dynamic-update-slice(q, n, k)\n"
        f" ROOT o = {_PAIR} tuple(a, b)\n}}\nENTRY e {{\n x = f32[8] parameter(0)\n c = f32[8] copy(x)\n"
        f" d = f32[8] copy(x)\n ROOT f = {_PAIR} fusion(c, d), kind=kLoop, calls=fused\n}}\n"
    )


_UPDATES: Final = (
    "dynamic-update-slice(p, q, z, z)",
    "scatter(p, i, q), update_window_dims={0,1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, "
    "index_vector_dim=0, to_apply=second",
)


def _laid_elsewhere(update: str, layout: str, fused: bool) -> str:
    """An update of an array that lies in memory by rows; the result may lie there by columns."""
    steps = " p = f32[4,4]{1,0} parameter(0)\n q = f32[1,4]{1,0} parameter(1)\n z = s32[] constant(1)\n"
    steps += f" i = s32[1] constant({{1}})\n ROOT u = f32[4,4]{layout} {update}\n}}\n"
    head = _HEAD.strip() + ", input_output_alias={ {}: (0, {}, must-alias) }\n"
    head += "second {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] copy(b)\n}\n"
    if not fused:
        return f"{head}ENTRY e {{\n{steps}"
    call = f" ROOT f = f32[4,4]{layout} fusion(x, y), kind=kLoop, calls=fused\n}}\n"
    given = " x = f32[4,4]{1,0} parameter(0)\n y = f32[1,4]{1,0} parameter(1)\n"
    return f"{head}fused {{\n{steps}ENTRY e {{\n{given}{call}"


def _another_size(other: str) -> str:
    fused = f" p = f32[8] parameter(0)\n n = f32[8] negate(p)\n s = f32[4] {other}\n"
    result = "(f32[8], f32[4])"
    return _declared(f"{fused} ROOT o = {result} tuple(n, s)\n", result, "c", "{0}: (0, {})")


def _sorted_over(aliases: str, beside: str = "q", made: str = "") -> str:
    fused = f" p = f32[8] parameter(0)\n q = f32[8] parameter(1)\n{made}"
    fused += f" ROOT r = {_PAIR} sort(p, {beside}), dimensions={{0}}, to_apply=less\n"
    return _declared(fused, _PAIR, "c, d", aliases)


def _updated_and_declared(operand: int) -> str:
    fused = " p = f32[8] parameter(0)\n q = f32[2] parameter(1)\n r = f32[8] parameter(2)\n k = s32[] constant(2)\n"
    fused += " ROOT u = f32[8] dynamic-update-slice(p, q, k)\n"
    text = _declared(fused, "f32[8]", "c, h, d", f"{{}}: ({2 * operand}, {{}})")
    return text.replace(" t = (f32[8], f32[8]) tuple(c, d)", " h = f32[2] constant({1, 2})")


def _over_a_part(aliases: str) -> str:
    fused = f" t = {_PAIR} parameter(0)\n p = f32[8] get-tuple-element(t), index=1\n"
    return _declared(f"{fused} ROOT r = f32[8] reverse(p), dimensions={{0}}\n", "f32[8]", "t", aliases)


def _beside_a_tuple(parts: str) -> str:
    """What an update in place writes comes of a part of a tuple. In a module without an order of execution nothing else
    looks at the operands of a step that shares its buffer."""
    fused = f" p = f32[8] parameter(0)\n w = {_PAIR} parameter(1)\n g = f32[8] get-tuple-element(w), index=1\n"
    fused += " s = f32[4] slice(g), slice={[0:4]}\n k = s32[] constant(2)\n"
    text = _declared(f"{fused} ROOT u = f32[8] dynamic-update-slice(p, s, k)\n", "f32[8]", "c, t", "{}: (0, {})")
    return text.replace(", is_scheduled=true", "").replace("tuple(c, d)", f"tuple({parts})")


def _laid(inside: str, result: str) -> str:
    return (
        f"{_HEAD}fused {{\n p = f32[4,4]{inside} parameter(0)\n ROOT n = f32[4,4]{inside} negate(p)\n}}\n"
        "ENTRY e {\n x = f32[4,4]{0,1} parameter(0)\n c = f32[4,4]{0,1} copy(x)\n"
        f" ROOT f = f32[4,4]{result} fusion(c), kind=kLoop, calls=fused, "
        "output_to_operand_aliasing={{}: (0, {})}\n}\n"
    )


def _second_name(outside: str) -> str:
    """The first four elements, negated, go to where they are; the fusion reads them by a second name, by columns."""
    fused = " p = f32[8] parameter(0)\n q = f32[2,4]{0,1} parameter(1)\n z = s32[] constant(0)\n"
    fused += " s = f32[2,2]{0,1} slice(q), slice={[0:2],[0:2]}\n b = f32[4] bitcast(s)\n n = f32[4] negate(b)\n"
    text = _declared(f"{fused} ROOT u = f32[8] dynamic-update-slice(p, n, z)\n", "f32[8]", "c, w", "{}: (0, {})")
    return text.replace(" ROOT f =", f" w = f32[2,4]{outside} bitcast(c)\n ROOT f =")


IN_PLACE: Final[dict[str, tuple[str, Literal["refuted", "unknown"], str]]] = {
    "one result at two places": (
        _one_result_twice("reverse(q), dimensions={0}"),
        "refuted",
        _one_result_twice("negate(q)"),
    ),
    "a result elsewhere than where it is an update": (_another_is_updated(1), "refuted", _another_is_updated(0)),
    "the start of an update beside": (_two_updates("p"), "unknown", _two_updates("u")),
    "a result beside that reads what is written": (
        _beside("negate(p)", " v = f32[8] reverse(p), dimensions={0}\n"),
        "refuted",
        _beside("negate(p)", " v = f32[8] add(p, p)\n"),
    ),
    "a result beside an update": (_beside(_UPDATE, " v = f32[8] negate(p)\n"), "unknown", _beside(_UPDATE, _OUTSIDE)),
    "an update beside a result": (_update_beside("p"), "unknown", _update_beside("w")),
    "an update that reads what another writes in the same step": (
        _second_update("2:4"),
        "unknown",
        _second_update("4:6"),
    ),
    "one element that another update writes says where": (_two_updates("p", 1), "unknown", _two_updates("u", 1)),
    "a result of another size beside": (
        _another_size("slice(p), slice={[0:4]}"),
        "unknown",
        _another_size("constant({1, 2, 3, 4})"),
    ),
    "results of a sort crossed by a declaration": (
        _sorted_over("{0}: (1, {}), {1}: (0, {})"),
        "unknown",
        _sorted_over("{0}: (0, {}), {1}: (1, {})"),
    ),
    "a sort by what the fusion makes of what it sorts": (
        _sorted_over("{0}: (0, {})", "i", " i = f32[8] reverse(p), dimensions={0}\n"),
        "unknown",
        _sorted_over("{0}: (0, {})"),
    ),
    "a tuple of results beside": (
        _tuple_beside("reverse(p), dimensions={0}"),
        "unknown",
        _beside("negate(p)", " v = f32[8] add(p, p)\n"),
    ),
    "a part of a tuple lies where an update is made": (_beside_a_tuple("d, c"), "unknown", _beside_a_tuple("d, d")),
    "a declaration beside an update of another operand": (
        _updated_and_declared(1),
        "unknown",
        _updated_and_declared(0),
    ),
    "a declared part of an operand": (
        _over_a_part("{}: (0, {1})"),
        "unknown",
        _declared(" p = f32[8] parameter(0)\n ROOT r = f32[8] negate(p)\n", "f32[8]", "c", "{}: (0, {})"),
    ),
    "a result that the fused computation lays out in another way": (
        _laid("{0,1}", "{1,0}"),
        "unknown",
        _laid("{0,1}", "{0,1}"),
    ),
    "another name of it that the fused computation lays out in another way": (
        _second_name("{1,0}"),
        "unknown",
        _second_name("{0,1}"),
    ),
    "an operand that the fused computation lays out in another way": (
        _laid("", "{1,0}"),
        "unknown",
        _laid("{0,1}", "{0,1}"),
    ),
}


def _said(text: str, claim: str) -> set[str]:
    return {r.verdict.value for r in check_hlo(text, Options(jobs=1)).records() if r.claim == claim}


@pytest.mark.parametrize(("broken", "comes_to", "sound"), IN_PLACE.values(), ids=IN_PLACE)
def test_what_reads_where_a_result_is_made_is_judged_there(broken: str, comes_to: str, sound: str) -> None:
    assert _said(broken, "hazard-in-place") - {"proved"} == {comes_to}
    assert _said(sound, "hazard-in-place") == {"proved"}


@pytest.mark.parametrize(
    ("given", "found"), [("x1", "refuted"), ("e", "proved"), ("tuple(e, x1)", "unknown"), ("tuple(x1, e)", "unknown")]
)
def test_each_part_of_a_tuple_may_lie_where_a_state_does(given: str, found: str) -> None:
    """What is handed on to the other state lies where that one does; what is made in the turn does not."""
    several = given.startswith("tuple")
    shape, read = (_PAIR, "get-tuple-element(t), index=1") if several else ("f32[8]", "bitcast(t)")
    fused = (
        f"fused {{\n p = f32[8] parameter(0)\n t = {shape} parameter(1)\n q = f32[8] {read}\n"
        " v = f32[8] reverse(q), dimensions={0}\n ROOT d = f32[8] add(p, v)\n}\n"
    )
    steps = (
        f" e = f32[8] negate(x1)\n h = {shape} {given if several else f'bitcast({given})'}\n"
        " y1 = f32[8] fusion(x0, h), kind=kLoop, calls=fused, output_to_operand_aliasing={{}: (0, {})}\n"
        " y0 = f32[8] bitcast(x1)\n"
    )
    assert _said(_turn(fused, steps), "hazard-in-place") == {found}


@pytest.mark.parametrize("fused", (False, True))
@pytest.mark.parametrize("update", _UPDATES)
def test_what_an_update_leaves_lies_where_the_operand_has_it(update: str, fused: bool) -> None:
    assert _said(_laid_elsewhere(update, "{0,1}", fused), "hazard-in-place") == {"unknown"}
    assert _said(_laid_elsewhere(update, "{1,0}", fused), "hazard-in-place") <= {"proved"}


def test_what_is_declared_is_written_whatever_else_is_updated() -> None:
    kept = _updated_and_declared(1).replace("c, h, d)", "c, h, x)")
    assert _said(kept, "hazard-constant") == {"refuted"}
    assert _said(_updated_and_declared(1), "hazard-constant") == {"proved"}


def _packed(result: str) -> str:
    text = _turn("", f" y0 = f32[8] copy(x0)\n y1 = {result} copy(x1)\n")
    return text.replace("f32[8]", "s4[8]{0:E(4)}")


def test_numbers_that_are_packed_in_another_way_are_not_copied_in_their_place() -> None:
    assert _said(_packed("s4[8]"), "hazard-in-place") == {"unknown"}
    assert _said(_packed("f32[8]"), "hazard-in-place") == set()


_FUSED: Final = """fused {
 p = f32[8] parameter(0)
 q = f32[8] parameter(1)
 s = f32[4] slice(q), slice={[0:4]}
 k = s32[] constant(2)
 ROOT u = f32[8] dynamic-update-slice(p, s, k)
}
"""
_STEPS: Final = {
    "an update in place": "fusion(p, q), kind=kLoop, calls=fused",
    "an opaque call": 'custom-call(p, q), custom_call_target="w", output_to_operand_aliasing={{}: (0, {})}',
}
_CALLS: Final = {
    "calls": (
        "work {\n p = f32[8] parameter(0)\n q = f32[8] parameter(1)\n f = f32[8] STEP\n ROOT n = f32[8] negate(f)\n}\n"
        "ENTRY e {\n x = f32[8] parameter(0)\n c = f32[8] copy(x)\n d = f32[8] copy(x)\n"
        " y = f32[8] call(c, d), to_apply=work\n g = f32[8] copy(x)\n h = f32[8] copy(x)\n"
        f" z = f32[8] call(g, OTHER), to_apply=work\n ROOT t = {_PAIR} tuple(y, z)\n}}\n"
    ),
    "branches": (
        f"work {{\n s = {_PAIR} parameter(0)\n p = f32[8] get-tuple-element(s), index=0\n"
        " q = f32[8] get-tuple-element(s), index=1\n f = f32[8] STEP\n ROOT n = f32[8] negate(f)\n}\n"
        "ENTRY e {\n x = f32[8] parameter(0)\n b = pred[] parameter(1)\n h = f32[8] copy(x)\n g = f32[8] copy(x)\n"
        f" t1 = {_PAIR} tuple(h, g)\n t2 = {_PAIR} tuple(g, OTHER)\n"
        " ROOT y = f32[8] conditional(b, t1, t2), true_computation=work, false_computation=work\n}\n"
    ),
}


@pytest.mark.parametrize("way", _CALLS)
@pytest.mark.parametrize("step", _STEPS)
def test_one_instruction_of_a_callee_that_reads_and_writes_what_only_one_caller_knows_to_be_one(
    way: str, step: str
) -> None:
    text = _HEAD + _FUSED + _CALLS[way].replace("STEP", _STEPS[step])
    assert _said(text.replace("OTHER", "g"), "hazard-overwrite") == {"unknown", "proved"}
    assert _said(text.replace("OTHER", "h"), "hazard-overwrite") == {"proved"}


def test_what_all_callers_hand_over_as_one_buffer_is_judged_where_it_is_written() -> None:
    """One caller hands one array over twice: what the fusion reads of it lies behind what it writes."""
    text = _HEAD + _FUSED.replace("[0:4]", "[4:8]").replace("constant(2)", "constant(0)")
    text += _CALLS["calls"].replace("STEP", _STEPS["an update in place"]).replace("call(c, d)", "call(c, c)")
    for read, comes_to in ("4:8", "proved"), ("2:6", "refuted"):
        one = text.replace("[4:8]", f"[{read}]").replace("OTHER", "g")
        assert _said(one, "hazard-in-place") == {comes_to}
        assert _said(one, "hazard-overwrite") == {"proved"}


def test_two_parameters_of_a_callee_may_lie_where_its_result_does() -> None:
    """One of its callers hands it one array twice, and leaves what it makes of the one there."""
    work = "work {\n p = f32[8] parameter(0)\n q = f32[8] parameter(1)\n ROOT n = f32[8] negate(p)\n}\n"
    steps = " y0 = f32[8] call(x0, x0), to_apply=work\n c = f32[8] copy(x1)\n d = f32[8] copy(x1)\n"
    text = _turn(work, steps + " y1 = f32[8] call(c, d), to_apply=work\n")
    assert _said(text, "hazard-overwrite") == {"proved"}
    assert _said(text.replace("negate(p)", "reverse(p), dimensions={0}"), "hazard-in-place") == {"unknown"}


def test_what_a_callee_writes_and_keeps_may_lie_where_its_result_does() -> None:
    write = 'custom-call(p), custom_call_target="w", output_to_operand_aliasing={{}: (0, {})}'
    work = f"work {{\n p = f32[8] parameter(0)\n w = f32[8] {write}\n ROOT n = f32[8] negate(w)\n}}\n"
    text = _turn(work, " y0 = f32[8] call(x0), to_apply=work\n y1 = f32[8] copy(x1)\n")
    assert _said(text, "hazard-overwrite") == {"proved"}
    late = text.replace("ROOT n = f32[8] negate(w)", "n = f32[8] negate(w)\n ROOT m = f32[8] add(n, w)")
    assert _said(late, "hazard-overwrite") == {"proved"}


def test_what_a_turn_leaves_lies_in_memory_as_the_state_does() -> None:
    turn = _turn("", " c = f32[8] copy(x0)\n y0 = f32[8] negate(c)\n y1 = f32[8] copy(x1)\n").replace(
        "f32[8]", "f32[2,4]{1,0}"
    )
    assert _said(turn, "hazard-overwrite") == {"proved"}
    moved = turn.replace("y0 = f32[2,4]{1,0}", "y0 = f32[2,4]{0,1}")
    moved = moved.replace("ROOT t = (f32[2,4]{1,0}", "ROOT t = (f32[2,4]{0,1}")
    assert _said(moved, "hazard-overwrite") == {"proved", "unknown"}


def _both_updated(number: int, needed: str) -> str:
    """Two updates in one fusion, of one parameter or of two; the caller needs one of them or both."""
    return (
        f"{_HEAD}fused {{\n p = f32[8] parameter(0)\n q = f32[8] parameter(1)\n u = f32[2] parameter(2)\n"
        " k = s32[] constant(0)\n l = s32[] constant(4)\n a = f32[8] dynamic-update-slice(p, u, k)\n"
        f" b = f32[8] dynamic-update-slice({'pq'[number]}, u, l)\n ROOT o = {_PAIR} tuple(a, b)\n}}\n"
        "ENTRY e {\n x = f32[8] parameter(0)\n u = f32[2] parameter(1)\n c = f32[8] copy(x)\n d = f32[8] copy(x)\n"
        f" f = {_PAIR} fusion(c, d, u), kind=kLoop, calls=fused\n"
        f" g = f32[8] get-tuple-element(f), index={needed[0]}\n h = f32[8] get-tuple-element(f), index={needed[1]}\n"
        f" ROOT t = {_PAIR} tuple(g, h)\n}}\n"
    )


@pytest.mark.parametrize("needed", ("01", "00", "11"))
def test_of_two_results_in_one_buffer_the_one_that_nobody_needs_is_written_as_well(needed: str) -> None:
    assert "refuted" in _said(_both_updated(0, needed), "hazard-overwrite")
    assert _said(_both_updated(1, needed), "hazard-overwrite") == {"proved"}


def _donated(results: str, aliases: str) -> str:
    return (
        f"HloModule m, is_scheduled=true, input_output_alias={{ {aliases} }}\n"
        "one {\n p = f32[2] parameter(0)\n ROOT k = f32[2] constant({1, 2})\n}\n"
        "ENTRY e {\n x = f32[2] parameter(0)\n y = f32[2] parameter(1)\n z = f32[2] parameter(2)\n"
        " k = f32[2] constant({1, 2})\n n = f32[2] negate(y)\n c = f32[2] call(x), to_apply=one\n"
        f" ROOT t = (f32[2], f32[2]) tuple({results})\n}}\n"
    )


_FIRST: Final = "{0}: (0, {}, may-alias)"
_SECOND: Final = ", {1}: (1, {}, must-alias)"
_GIVEN: Final = {
    "another parameter that is donated": (("y, n", _FIRST + _SECOND), ("x, n", _FIRST + _SECOND)),
    "another parameter that is kept": (("z, n", _FIRST), ("x, n", _FIRST)),
    "one array for two parameters": (("n, n", _FIRST + _SECOND), ("n, n", _SECOND[2:])),
    "a constant": (("k, n", _FIRST), ("n, k", _FIRST)),
    "a constant that a call returns": (("c, n", _FIRST), ("n, c", _FIRST)),
}


@pytest.mark.parametrize(("broken", "sound"), _GIVEN.values(), ids=_GIVEN)
def test_what_is_returned_where_a_parameter_is_donated_lies_there(
    broken: tuple[str, str], sound: tuple[str, str]
) -> None:
    claims = ("hazard-donation", "hazard-constant")
    assert "refuted" in set[str]().union(*(_said(_donated(*broken), c) for c in claims))
    assert set[str]().union(*(_said(_donated(*sound), c) for c in claims)) <= {"proved"}


def _branches(one: str, other: str) -> str:
    return (
        f"{_HEAD}one {{\n p = f32[2] parameter(0)\n ROOT r = f32[2] {one}\n}}\n"
        f"two {{\n p = f32[2] parameter(0)\n ROOT r = f32[2] {other}\n}}\n"
        "ENTRY e {\n x = f32[2] parameter(0)\n b = pred[] parameter(1)\n c = f32[2] copy(x)\n"
        " ROOT y = f32[2] conditional(b, c, c), true_computation=one, false_computation=two\n}\n"
    )


def test_a_constant_is_not_left_where_other_turns_and_branches_write() -> None:
    constant = "constant({1, 2})"
    assert _said(_branches("negate(p)", constant), "hazard-constant") == {"unknown"}
    assert _said(_branches("negate(p)", "negate(p)"), "hazard-constant") <= {"proved"}
    turn = _turn("", " y0 = f32[8] negate(x0)\n y1 = f32[8] OTHER\n")
    assert _said(turn.replace("OTHER", "constant({1, 2, 3, 4, 5, 6, 7, 8})"), "hazard-constant") == {"unknown"}
    assert _said(turn.replace("OTHER", "copy(y0)"), "hazard-constant") == {"proved"}


def _combined(root: str, levels: int) -> str:
    """What lies there, turned round, is combined by a function that combines by another one, twice, and so on."""
    text = "f0 {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] maximum(a, b)\n}\n"
    for k in range(1, levels + 1):
        text += f"f{k} {{\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
        text += "".join(
            f" {n}1 = f32[1] broadcast({n}), dimensions={{}}\n"
            f" {n}2 = f32[] reduce({n}1, {n}), dimensions={{0}}, to_apply=f{k - 1}\n"
            for n in "ab"
        )
        text += f" ROOT r = f32[] {root}(a2, b2)\n}}\n"
    fused = " p = f32[8] parameter(0)\n q = f32[8] reverse(p), dimensions={0}\n h = f32[8,1] reshape(q)\n"
    fused += f" z = f32[] constant(0)\n ROOT o = f32[8] reduce(h, z), dimensions={{1}}, to_apply=f{levels}\n"
    return _declared(fused, "f32[8]", "c", "{}: (0, {})").replace("fused {", f"{text}fused {{", 1)


@pytest.mark.parametrize("root", ["maximum", "add"])
def test_functions_that_combine_by_others_are_looked_into_once(root: str) -> None:
    """Each level takes no more than the one before, and none is too deep."""
    assert _said(_combined(root, 600), "hazard-in-place") == {"refuted"}


@pytest.mark.parametrize("calls", ["", ", calls=%inner"])
@pytest.mark.parametrize("context", ["", ", u32[]"])
@pytest.mark.parametrize("scheduled", [False, True])
def test_the_end_of_what_flies_is_no_way_into_what_it_runs(calls: str, context: str, scheduled: bool) -> None:
    """Both operands are one array, though the end says as well what was run."""
    text = (
        f"HloModule m{', is_scheduled=true' if scheduled else ''}\n\n%fused {{\n %p = f32[8]{{0}} parameter(0)\n"
        " %q = f32[8]{0} parameter(1)\n ROOT %d = f32[8]{0} reverse(%q), dimensions={0}\n}\n\n%inner {\n"
        " %u = f32[8]{0} parameter(0)\n %v = f32[8]{0} parameter(1)\n ROOT %y = f32[8]{0} fusion(%u, %v), kind=kLoop, "
        "calls=%fused, output_to_operand_aliasing={{}: (0, {})}\n}\n\nENTRY %main {\n %a = f32[8]{0} parameter(0)\n"
        " %x = f32[8]{0} negate(%a)\n"
        f" %s = ((f32[8]{{0}}, f32[8]{{0}}), f32[8]{{0}}{context}) async-start(%x, %x), calls=%inner\n"
        f" %e = f32[8]{{0}} async-done(%s){calls}\n ROOT %r = f32[8]{{0}} negate(%e)\n}}\n"
    )
    only = Options(jobs=1, selection=Selection(only=("hazard-in-place",)))
    assert "refuted" in [str(r.verdict) for r in check_hlo(text, only).records()]


def _judged(text: str) -> str:
    """Whether it is proved that nothing is read behind its being written."""
    found = _said(text, "hazard-in-place")
    assert found and found <= {"proved", "refuted", "unknown"}
    return "proved" if found == {"proved"} else "not proved"


_STATE: Final = "(f32[8], f32[8], s32[])"
_TAKES: Final = "".join(
    f" {n} = {s} parameter({k})\n" for k, (n, s) in enumerate((("p", "f32[8]"), ("q", "f32[8]"), ("k", "s32[]")))
)
_CHOICE: Final = " ROOT r = f32[8] conditional(k, p, q), branch_computations={hands, hands}\n"
_PARTS: Final = f" s = {_STATE} parameter(0)\n" + "".join(
    f" {n} = {s} get-tuple-element(s), index={k}\n"
    for k, (n, s) in enumerate((("p", "f32[8]"), ("q", "f32[8]"), ("k", "s32[]")))
)
_LOOP: Final = (
    f"more {{\n{_PARTS} z = s32[] constant(0)\n ROOT m = pred[] compare(k, z), direction=GT\n}}\n"
    f"turn {{\n{_PARTS} one = s32[] constant(1)\n j = s32[] subtract(k, one)\n ROOT t = {_STATE} tuple(q, p, j)\n}}\n"
)
_OF_LOOP: Final = (
    f" t = {_STATE} tuple(p, q, k)\n w = {_STATE} while(t), condition=more, body=turn\n"
    " ROOT r = f32[8] get-tuple-element(w), index=PART\n"
)
_EITHER: Final = {
    "a branch that hands on either": _CHOICE,
    "a branch that hands on either, the other way round": _CHOICE.replace("p, q", "q, p"),
    "a branch that hands on either, or what is made": _CHOICE.replace("p, q", "p, q, p").replace(
        "hands}", "hands, makes}"
    ),
    "a call of that": " ROOT r = f32[8] call(q, p, k), to_apply=chooses\n",
    "what flies and does that": (
        " s = ((f32[8], f32[8], s32[]), f32[8]) async-start(q, p, k), calls=chooses\n ROOT r = f32[8] async-done(s)\n"
    ),
    "a part of a tuple": (
        " t = (f32[8], f32[8]) tuple(p, q)\n"
        " ROOT r = f32[8] conditional(k, t, t), branch_computations={first, second}\n"
    ),
    "a loop that turns them round": _OF_LOOP.replace("PART", "0"),
    "a loop that turns them round, its other part": _OF_LOOP.replace("PART", "1"),
}
_HANDS: Final = "hands {\n ROOT v = f32[8] parameter(0)\n}\n"
_CHOOSES: Final = f"chooses {{\n{_TAKES}{_CHOICE}}}\n"
_REVERSES: Final = (
    "fused {\n p = f32[8] parameter(0)\n q = f32[8] parameter(1)\n b = f32[8] reverse(q), dimensions={0}\n"
    " ROOT d = f32[8] add(p, b)\n}\n"
)
_OVER: Final = "kind=kLoop, calls=fused, output_to_operand_aliasing={{}: (0, {})}"
_THREE: Final = "three = f32[8] constant({1, 2, 3, 4, 5, 6, 7, 8})"
_RUN: Final = {
    "a call": "f32[8] call(GIVEN, k), to_apply=runs",
    "a call in flight": "f32[8] async-done(s)",
    "a call in flight that is given more later": "f32[8] async-done(m)",
    "a branch of two that do the same": "f32[8] conditional(k, u, o), branch_computations={run, run}",
    "a branch of two that do the same, the last": "f32[8] conditional(k, o, u), branch_computations={run, run}",
    "a branch": "f32[8] conditional(k, u, u), branch_computations={run, run}",
}


def _either(does: str, run: str, given: str, copied: bool, read: str) -> str:
    """A fusion declared over `x` that reads, turned round, what is one of `x` and `y`; or copies of these."""
    pair = "".join(f" e{k} = f32[8] get-tuple-element(t), index={k}\n" for k in (0, 1))
    functions = (
        f"{_HANDS}{_CHOOSES}{_REVERSES}makes {{\n v = f32[8] parameter(0)\n ROOT n = f32[8] negate(v)\n}}\n"
        f"first {{\n t = {_PAIR} parameter(0)\n{pair} ROOT r = f32[8] bitcast(e0)\n}}\n"
        f"second {{\n t = {_PAIR} parameter(0)\n{pair} ROOT r = f32[8] bitcast(e1)\n}}\n"
        f"{_LOOP}runs {{\n{_TAKES}{_EITHER[does]}}}\n"
        f"run {{\n{_PARTS} ROOT r = f32[8] call(p, q, k), to_apply=runs\n}}\n"
    )
    lines = [f"{n} = f32[8] parameter({k})" for k, n in enumerate("ab")]
    lines += ["k = s32[] parameter(2)", "x = f32[8] negate(a)", "y = f32[8] negate(b)"]
    lines += ["cx = f32[8] copy(x)", "cy = f32[8] copy(y)"] if copied else []
    given = given.replace("x", "cx").replace("y", "cy") if copied else given
    if "later" in run:
        first, last = given.split(", ")
        lines.append(f"s = ((f32[8]), f32[8]) async-start({first}), calls=runs")
        lines.append(f"m = ((f32[8], f32[8], s32[]), f32[8]) async-update(s, {last}, k)")
    elif "flight" in run:
        lines.append(f"s = ((f32[8], f32[8], s32[]), f32[8]) async-start({given}, k), calls=runs")
    elif "branch" in run:
        lines += [f"u = {_STATE} tuple({given}, k)", "n = f32[8] negate(a)", f"o = {_STATE} tuple(n, n, k)"]
    lines.append(f"v = {_RUN[run].replace('GIVEN', given)}")
    lines.append(f"ROOT z = f32[8] fusion({read}), {_OVER}")
    return f"{_HEAD}{functions}ENTRY e {{\n" + "".join(f" {line}\n" for line in lines) + "}\n"


@pytest.mark.parametrize("given", ["x, y", "y, x"])
@pytest.mark.parametrize("run", _RUN)
@pytest.mark.parametrize("does", _EITHER)
def test_what_is_one_of_two_arrays_lies_with_both(does: str, run: str, given: str) -> None:
    """Wherever that is decided: what lies in one buffer there does so where it is handed over."""
    assert _judged(_either(does, run, given, False, "x, v")) == "not proved"
    assert _judged(_either(does, run, given, True, "x, v")) == "proved"


@pytest.mark.parametrize("run", _RUN)
@pytest.mark.parametrize(
    ("given", "read", "said"),
    [("x, three", "v", "not proved"), ("three, x", "v", "not proved"), ("three, x", "three", "proved")],
)
def test_what_is_an_array_or_a_constant_lies_with_the_array(run: str, given: str, read: str, said: str) -> None:
    """The constant does not: nothing is written over it."""
    text = _either("a branch that hands on either", run, given, False, f"x, {read}")
    assert _judged(text.replace("y = f32[8] negate(b)", _THREE)) == said


@pytest.mark.parametrize(
    ("read", "said"), [("p", "not proved"), ("q", "not proved"), ("o", "not proved"), ("l", "proved")]
)
def test_what_is_one_of_three_arrays_lies_with_each(read: str, said: str) -> None:
    lines = [f"{n} = f32[8] negate(a)" for n in "pqol"]
    text = (
        f"{_HEAD}hands {{\n ROOT v = f32[8] parameter(0)\n}}\nruns {{\n"
        + "".join(f" {n} = f32[8] parameter({k})\n" for k, n in enumerate("pqol"))
        + " k = s32[] parameter(4)\n"
        + " ROOT r = f32[8] conditional(k, p, q, o), branch_computations={hands, hands, hands}\n}\n"
        "fused {\n p = f32[8] parameter(0)\n q = f32[8] parameter(1)\n b = f32[8] reverse(q), dimensions={0}\n"
        " ROOT d = f32[8] add(p, b)\n}\nENTRY e {\n a = f32[8] parameter(0)\n k = s32[] parameter(1)\n"
        + "".join(f" {line}\n" for line in lines)
        + f" v = f32[8] call(p, q, o, l, k), to_apply=runs\n ROOT z = f32[8] fusion({read}, v), kind=kLoop, "
        "calls=fused, output_to_operand_aliasing={{}: (0, {})}\n}\n"
    )
    assert _judged(text) == said


@pytest.mark.parametrize("run", _RUN)
def test_what_is_one_of_two_arrays_lies_with_no_third_one(run: str) -> None:
    """Two calls of the same, of which one is given what the other is not."""
    text = _either("a branch that hands on either", run, "y, y", False, "x, v")
    assert _judged(text) == "proved"


def _over(functions: str, lines: list[str], given: str) -> str:
    """A fusion declared over the first of what it is given that reads the second turned round."""
    head = ["a = f32[8] parameter(0)", "b = f32[8] parameter(1)", "k = s32[] parameter(2)"]
    head += ["x = f32[8] negate(a)", "y = f32[8] negate(b)", "zero = s32[] constant(0)"]
    body = "".join(f" {line}\n" for line in (*head, *lines, f"ROOT z = f32[8] fusion({given}), {_OVER}"))
    return f"{_HEAD}{_HANDS}{_CHOOSES}{_REVERSES}{functions}ENTRY e {{\n{body}}}\n"


_ONE_MADE: Final = {
    "a choice": " ROOT r = f32[8] conditional(k, p, n), branch_computations={hands, hands}\n",
    "a call": " ROOT r = f32[8] call(p, n, k), to_apply=chooses\n",
    "a call, the other way round": " ROOT r = f32[8] call(n, p, k), to_apply=chooses\n",
    "a call in flight": (
        " s = ((f32[8], f32[8], s32[]), f32[8]) async-start(p, n, k), calls=chooses\n ROOT r = f32[8] async-done(s)\n"
    ),
}


@pytest.mark.parametrize("given", ["x", "y"])
@pytest.mark.parametrize("levels", [1, 2])
@pytest.mark.parametrize("way", _ONE_MADE)
def test_what_is_given_or_made_lies_with_what_is_given(way: str, levels: int, given: str) -> None:
    """Of the two that what is called chooses between the caller has given one."""
    functions = (
        f"runs1 {{\n p = f32[8] parameter(0)\n k = s32[] parameter(1)\n n = f32[8] negate(p)\n{_ONE_MADE[way]}}}\n"
    )
    functions += (
        "runs2 {\n p = f32[8] parameter(0)\n k = s32[] parameter(1)\n ROOT r = f32[8] call(p, k), to_apply=runs1\n}\n"
    )
    called = [f"v = f32[8] call({given}, k), to_apply=runs{levels}"]
    flies = [f"s = ((f32[8], s32[]), f32[8]) async-start({given}, k), calls=runs{levels}", "v = f32[8] async-done(s)"]
    later = [
        f"s = ((f32[8]), f32[8]) async-start({given}), calls=runs{levels}",
        "m = ((f32[8], s32[]), f32[8]) async-update(s, k)",
        "v = f32[8] async-done(m)",
    ]
    for lines in (called, flies, later):
        found = _judged(_over(functions, lines, "x, v"))
        assert found == ("not proved" if given == "x" else "proved")


_TWO_MADE: Final = {
    "an update": " r = f32[8] dynamic-update-slice(n, h, z)\n",
    "a choice": " m = f32[8] cosine(p)\n r = f32[8] conditional(k, m, n), branch_computations={hands, hands}\n",
    "another array": " r = f32[8] cosine(n)\n",
}


@pytest.mark.parametrize("run", ["call(x, k), to_apply=runs", "async-done(s)"])
@pytest.mark.parametrize("way", _TWO_MADE)
def test_two_results_that_lie_in_one_buffer_do_so_where_they_are_given_back(way: str, run: str) -> None:
    functions = (
        "runs {\n p = f32[8] parameter(0)\n k = s32[] parameter(1)\n z = s32[] constant(0)\n"
        f" h = f32[4] slice(p), slice={{[0:4]}}\n n = f32[8] negate(p)\n{_TWO_MADE[way]}"
        f" ROOT t = {_PAIR} tuple(n, r)\n}}\n"
    )
    lines = [f"s = ((f32[8], s32[]), {_PAIR}) async-start(x, k), calls=runs"] if "done" in run else []
    lines += [f"t = {_PAIR} {run}", *(f"{n} = f32[8] get-tuple-element(t), index={k}" for k, n in enumerate("uv"))]
    said = "proved" if way == "another array" else "not proved"
    assert _judged(_over(functions, lines, "u, v")) == said


_TWO_GIVEN: Final = {
    "an update": ["h = f32[4] slice(y), slice={[0:4]}", "e = f32[8] dynamic-update-slice(x, h, zero)"],
    "a call that chooses": ["e = f32[8] call(x, y, k), to_apply=chooses"],
    "a conditional": ["e = f32[8] conditional(k, x, y), branch_computations={hands, hands}"],
    "a copy": ["e = f32[8] copy(x)"],
}


@pytest.mark.parametrize("run", ["a call", "a call in a call", "what flies", "a branch", "a turn"])
@pytest.mark.parametrize("given", ["x, e", "e, x"])
@pytest.mark.parametrize("way", _TWO_GIVEN)
def test_two_versions_that_lie_in_one_buffer_do_so_where_they_are_handed_over(way: str, given: str, run: str) -> None:
    two = f" f = f32[8] fusion(p, q), {_OVER}\n"
    takes = " p = f32[8] parameter(0)\n q = f32[8] parameter(1)\n"
    called = f"two {{\n{takes}{two} ROOT g = f32[8] cosine(f)\n}}\n"
    functions = {
        "a call in a call": f"{called}calls {{\n{takes} ROOT g = f32[8] call(p, q), to_apply=two\n}}\n",
        "a branch": f"taken {{\n{_PARTS}{two} ROOT g = f32[8] cosine(f)\n}}\n",
        "a turn": f"asks {{\n{_PARTS} z = s32[] constant(0)\n ROOT o = pred[] compare(k, z), direction=GT\n}}\n"
        f"turns {{\n{_PARTS}{two} c = f32[8] copy(q)\n one = s32[] constant(1)\n j = s32[] subtract(k, one)\n"
        f" ROOT r = {_STATE} tuple(f, c, j)\n}}\n",
    }.get(run, called)
    lines = [
        *_TWO_GIVEN[way],
        f"u = {_STATE} tuple({given}, k)",
        "w = f32[8] negate(b)",
        "m = f32[8] cosine(b)",
        f"o = {_STATE} tuple(w, m, k)",
    ]
    lines += {
        "a call": [f"v = f32[8] call({given}), to_apply=two"],
        "a call in a call": [f"v = f32[8] call({given}), to_apply=calls"],
        "what flies": [f"s = ({_PAIR}, f32[8]) async-start({given}), calls=two", "v = f32[8] async-done(s)"],
        "a branch": ["v = f32[8] conditional(k, o, u), branch_computations={taken, taken}"],
        "a turn": [f"l = {_STATE} while(u), condition=asks, body=turns", "v = f32[8] get-tuple-element(l), index=0"],
    }[run]
    text = _over(functions, lines, "v, v").replace(f"fusion(v, v), {_OVER}", "negate(v)")
    assert _judged(text) == ("proved" if way == "a copy" else "not proved")


@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize(("own", "said"), [(True, "not proved"), (False, "proved")])
def test_each_of_two_buffers_is_shared(index: int, own: bool, said: str) -> None:
    functions = (
        "runs {\n"
        + "".join(f" {n} = f32[8] parameter({k})\n" for k, n in enumerate("pqol"))
        + " k = s32[] parameter(4)\n"
        + "".join(
            f" {r} = f32[8] conditional(k, {given}), branch_computations={{hands, hands}}\n"
            for r, given in (("d", "p, q"), ("r", "o, l"))
        )
        + f" ROOT t = {_PAIR} tuple(d, r)\n}}\n"
    )
    lines = ["o = f32[8] cosine(a)", "l = f32[8] cosine(b)", f"t = {_PAIR} call(x, y, o, l, k), to_apply=runs"]
    lines.append(f"v = f32[8] get-tuple-element(t), index={index}")
    assert _judged(_over(functions, lines, f"{'xo'[index if own else 1 - index]}, v")) == said


@pytest.mark.parametrize(("read", "said"), [("x", "not proved"), ("o", "proved")])
@pytest.mark.parametrize("run", ["f32[8] async-done(s)", "f32[8] call(u), to_apply=runs"])
def test_parts_of_a_tuple_in_a_tuple_are_handed_over_each(run: str, read: str, said: str) -> None:
    state = f"(s32[], {_PAIR})"
    functions = (
        f"runs {{\n s = {state} parameter(0)\n k = s32[] get-tuple-element(s), index=0\n"
        f" t = {_PAIR} get-tuple-element(s), index=1\n"
        + "".join(f" {n} = f32[8] get-tuple-element(t), index={k}\n" for k, n in enumerate("pq"))
        + f"{_CHOICE}}}\n"
    )
    lines = ["o = f32[8] cosine(a)", f"t = {_PAIR} tuple(x, y)", f"u = {state} tuple(k, t)"]
    lines += [f"s = (({state}), f32[8]) async-start(u), calls=runs"] if "done" in run else []
    assert _judged(_over(functions, [*lines, f"v = {run}"], f"{read}, v")) == said


@pytest.mark.parametrize(("run", "given"), [("call(x, y, k), to_apply=runs", ""), ("async-done(s)", "x, y, k")])
def test_what_gives_nothing_may_choose_all_the_same(run: str, given: str) -> None:
    functions = f"runs {{\n{_TAKES}{_CHOICE.replace('ROOT ', '')} ROOT e = () tuple()\n}}\n"
    lines = [f"s = ((f32[8], f32[8], s32[]), ()) async-start({given}), calls=runs"] if given else []
    assert _judged(_over(functions, [*lines, f"v = () {run}"], "x, y")) == "not proved"


_BACK: Final = [f"{n} = f32[8] get-tuple-element(d), index={k}" for k, n in enumerate("uv")]


@pytest.mark.parametrize(("read", "said"), [("u, v", "not proved"), ("x, v", "proved")])
def test_two_results_that_are_bound_before_what_they_are_made_of_lie_together(read: str, said: str) -> None:
    """And not with it: a copy comes between."""
    functions = (
        "runs {\n k = s32[] parameter(0)\n p = f32[8] parameter(1)\n n = f32[8] negate(p)\n"
        f" c = f32[8] conditional(k, p, n), branch_computations={{hands, hands}}\n ROOT t = {_PAIR} tuple(c, n)\n}}\n"
    )
    lines = [f"s = ((s32[]), {_PAIR}) async-start(k), calls=runs", f"m = ((s32[], f32[8]), {_PAIR}) async-update(s, x)"]
    lines += [f"d = {_PAIR} async-done(m)", *_BACK]
    assert _judged(_over(functions, lines, read)) == said


@pytest.mark.parametrize("update", ["m = ((s32[], f32[8]), f32[8]) async-update(s, x)", ""])
def test_a_result_that_is_bound_with_what_it_is_made_of_lies_there(update: str) -> None:
    """By an update, or by a start behind which one comes that binds nothing."""
    functions = (
        f"runs {{\n k = s32[] parameter(0)\n p = f32[8] parameter(1)\n n = f32[8] negate(p)\n{_ONE_MADE['a call']}}}\n"
    )
    first = "((s32[]), ()) async-start(k)" if update else "((s32[], f32[8]), f32[8]) async-start(k, x)"
    lines = [f"s = {first}, calls=runs", update or "m = ((s32[], f32[8]), f32[8]) async-update(s)"]
    text = _over(functions, [*lines, "v = f32[8] async-done(m)"], "x, v")
    assert _judged(text) == "not proved"


@pytest.mark.parametrize(("branches", "said"), [("hands, hands", "not proved"), ("makes, makes", "proved")])
def test_two_results_that_lie_in_one_buffer_outside_do_so_where_they_are_made(branches: str, said: str) -> None:
    functions = (
        "makes {\n v = f32[8] parameter(0)\n ROOT n = f32[8] negate(v)\n}\nruns {\n p = f32[8] parameter(0)\n"
        f" n = f32[8] negate(p)\n r = f32[8] cosine(p)\n f = f32[8] fusion(n, r), {_OVER}\n"
        f" ROOT t = {_PAIR} tuple(f, r)\n}}\n"
    )
    lines = [f"d = {_PAIR} call(x), to_apply=runs", *_BACK]
    lines.append(f"w = f32[8] conditional(k, u, v), branch_computations={{{branches}}}")
    text = _over(functions, lines, "w, w").replace(f"fusion(w, w), {_OVER}", "negate(w)")
    assert _judged(text) == said


@pytest.mark.parametrize("order", ["pqr", "rqp", "qrp"])
@pytest.mark.parametrize(
    ("given", "said"), [("x, x, e", "not proved"), ("y, x, e", "not proved"), ("x, y, e", "proved")]
)
def test_one_array_that_is_handed_over_twice_lies_twice_with_another(given: str, said: str, order: str) -> None:
    """In another call of the same all three are apart."""
    functions = (
        "three {\n"
        + "".join(f" {n} = f32[8] parameter({'pqr'.index(n)})\n" for n in order)
        + f" f = f32[8] fusion(r, q), {_OVER}\n ROOT g = f32[8] cosine(f)\n}}\n"
    )
    lines = [
        *_TWO_GIVEN["an update"],
        *(f"{n} = f32[8] {o}(a)" for n, o in (("l", "sine"), ("o", "cosine"), ("m", "abs"))),
    ]
    lines += ["w = f32[8] call(l, o, m), to_apply=three", f"v = f32[8] call({given}), to_apply=three"]
    text = _over(functions, lines, "v, v").replace(f"fusion(v, v), {_OVER}", "add(v, w)")
    assert _judged(text) == said


_TWO: Final = f" f = f32[8] fusion(p, q), {_OVER}\n"
"""What is declared over `p` reads `q` turned round."""
_TAKES_TWO: Final = " p = f32[8] parameter(0)\n q = f32[8] parameter(1)\n"
_CALLED: Final = f"two {{\n{_TAKES_TWO}{_TWO} ROOT g = f32[8] cosine(f)\n}}\n"
_OF_PAIR: Final = f" t = {_PAIR} parameter(0)\n" + "".join(
    f" {n} = f32[8] get-tuple-element(t), index={k}\n" for k, n in enumerate("pq")
)
_WRITES: Final = " z = s32[] constant(0)\n h = f32[4] slice(p), slice={[4:8]}\n"
_UPDATED: Final = {
    "an update": f"{_WRITES} n = f32[8] dynamic-update-slice(p, h, z)\n",
    "a fusion": " n = f32[8] fusion(p, p), kind=kLoop, calls=adds, output_to_operand_aliasing={{}: (0, {})}\n",
    "a custom call": (' n = f32[8] custom-call(p), custom_call_target="w", output_to_operand_aliasing={{}: (0, {})}\n'),
    "a call": " n = f32[8] call(p), to_apply=updates\n",
    "a branch": " n = f32[8] conditional(k, p, p), branch_computations={hands, updates}\n",
    "a turn": (
        " u = (f32[8], s32[]) tuple(p, k)\n w = (f32[8], s32[]) while(u), condition=again, body=negates\n"
        " n = f32[8] get-tuple-element(w), index=0\n"
    ),
    "what flies": " a = ((f32[8]), f32[8]) async-start(p), calls=updates\n n = f32[8] async-done(a)\n",
    "a call that is started": " a = ((f32[8]), f32[8]) call-start(p), to_apply=updates\n n = f32[8] call-done(a)\n",
}
_ONE: Final = (
    " s = (f32[8], s32[]) parameter(0)\n p = f32[8] get-tuple-element(s), index=0\n"
    " k = s32[] get-tuple-element(s), index=1\n one = s32[] constant(1)\n"
)
_UPDATING: Final = (
    "adds {\n p = f32[8] parameter(0)\n q = f32[8] parameter(1)\n ROOT d = f32[8] add(p, q)\n}\n"
    f"updates {{\n p = f32[8] parameter(0)\n{_WRITES} ROOT n = f32[8] dynamic-update-slice(p, h, z)\n}}\n"
    f"again {{\n{_ONE} ROOT o = pred[] compare(k, one), direction=GT\n}}\n"
    f"negates {{\n{_ONE} n = f32[8] negate(p)\n j = s32[] subtract(k, one)\n"
    " ROOT r = (f32[8], s32[]) tuple(n, j)\n}\n"
)
_ONCE_MORE: Final = " f = f32[8] fusion(n, q), " + _OVER + "\n"
_ENTERED: Final = {
    "a call": ["v = f32[8] call(GIVEN, k), to_apply=runs"],
    "a call in a call": ["v = f32[8] call(GIVEN, k), to_apply=calls"],
    "a call that is given it once and hands it over twice": ["v = f32[8] call(x, k), to_apply=doubles"],
    "a call in flight": [
        "s = ((f32[8], f32[8], s32[]), f32[8]) async-start(GIVEN, k), calls=runs",
        "v = f32[8] async-done(s)",
    ],
    "a call that is started": [
        "s = ((f32[8], f32[8], s32[]), f32[8]) call-start(GIVEN, k), to_apply=runs",
        "v = f32[8] call-done(s)",
    ],
    "a call in flight that is given more later": [
        "s = ((f32[8]), f32[8]) async-start(x), calls=runs",
        "e = ((f32[8], f32[8], s32[]), f32[8]) async-update(s, LAST, k)",
        "v = f32[8] async-done(e)",
    ],
    "a branch": ["v = f32[8] conditional(k, u, o), branch_computations={run, run}"],
    "a branch, the last": ["v = f32[8] conditional(k, o, u), branch_computations={run, run}"],
    "a branch, the last of three": ["v = f32[8] conditional(k, o, o, u), branch_computations={run, run, run}"],
    "a turn": ["i = STATE while(u), condition=more, body=turns", "v = f32[8] get-tuple-element(i), index=0"],
    "what asks for a turn": [
        "i = STATE while(u), condition=asks, body=stays",
        "v = f32[8] get-tuple-element(i), index=0",
    ],
}


def _handed_twice(made: str, way: str, last: str, head: str = _HEAD) -> str:
    """What is given `x` and `last`, and in another run two arrays that lie apart, writes in the buffer of the first
    what then reads the second turned round."""
    steps = _UPDATED[made] + _ONCE_MORE
    twice = f" q = f32[8] {'bitcast' if last == 'x' else 'copy'}(p)\n"
    functions = (
        f"{_UPDATING}{_LOOP}runs {{\n{_TAKES}{steps} ROOT g = f32[8] cosine(f)\n}}\n"
        f"run {{\n{_PARTS} ROOT g = f32[8] call(p, q, k), to_apply=runs\n}}\n"
        f"calls {{\n{_TAKES} ROOT g = f32[8] call(p, q, k), to_apply=runs\n}}\n"
        f"doubles {{\n p = f32[8] parameter(0)\n k = s32[] parameter(1)\n{twice}"
        " ROOT g = f32[8] call(p, q, k), to_apply=runs\n}\n"
    )
    left = f" j = s32[] constant(0)\n ROOT t = {_STATE} tuple"
    if way == "a turn":
        functions += f"turns {{\n{_PARTS}{steps} g = f32[8] cosine(f)\n{left}(g, q, j)\n}}\n"
    elif way == "what asks for a turn":
        steps += " zero = s32[] constant(0)\n"
        functions += f"asks {{\n{_PARTS}{steps} ROOT i = pred[] compare(k, zero), direction=GT\n}}\n"
        functions += f"stays {{\n{_PARTS}{left}(p, q, j)\n}}\n"
    lines = [f"{n} = f32[8] {o}(b)" for n, o in (("l", "sine"), ("m", "abs"))]
    lines += [f"u = {_STATE} tuple(x, {last}, k)", f"o = {_STATE} tuple(l, m, k)"]
    given = (("GIVEN", f"x, {last}"), ("LAST", last), ("STATE", _STATE))
    for line in (*_ENTERED[way], "w = f32[8] call(l, m, k), to_apply=calls"):
        for word, stands_for in given:
            line = line.replace(word, stands_for)
        lines.append(line)
    text = _over(functions, lines, "v, w").replace(f"fusion(v, w), {_OVER}", "add(v, w)")
    return text.replace(_HEAD, head)


@pytest.mark.parametrize("way", _ENTERED)
@pytest.mark.parametrize("made", _UPDATED)
def test_one_array_that_is_handed_over_twice_lies_with_what_is_made_in_place_of_it(made: str, way: str) -> None:
    """Another run of the same is handed two arrays: inside they are not one."""
    assert _judged(_handed_twice(made, way, "x")) == "not proved"
    assert _judged(_handed_twice(made, way, "y")) == "proved"


@pytest.mark.parametrize("way", _ENTERED)
@pytest.mark.parametrize("made", ["a fusion", "a custom call"])
def test_what_is_declared_lies_there_before_copies_are_inserted(made: str, way: str) -> None:
    assert _judged(_handed_twice(made, way, "x", "HloModule m\n")) == "not proved"
    assert _judged(_handed_twice(made, way, "y", "HloModule m\n")) == "proved"


_ONE_OR_ANOTHER: Final = "conditional(k, {}), branch_computations={{hands, hands}}"
_ARRIVES_TWICE: Final = {
    "a choice": [f"o = f32[8] {_ONE_OR_ANOTHER.format('LAST, y')}", "v = f32[8] call(x, o), to_apply=updates_one"],
    "two choices": [
        f"o = f32[8] {_ONE_OR_ANOTHER.format('LAST, y')}",
        f"e = f32[8] {_ONE_OR_ANOTHER.format('l, x')}",
        "v = f32[8] call(e, o), to_apply=updates_one",
    ],
    "a turn": [f"v = {_STATE} while(i), condition=more, body=updates_state"],
    "what asks for a turn": [f"v = {_STATE} while(i), condition=asks, body=stays"],
    "a turn before": [f"w = {_STATE} while(i), condition=more, body=stays", "v = f32[8] call(w), to_apply=of_state"],
}


@pytest.mark.parametrize("head", ["HloModule m\n", _HEAD])
@pytest.mark.parametrize(("last", "said"), [("x", "not proved"), ("m", "proved")])
@pytest.mark.parametrize("way", _ARRIVES_TWICE)
def test_what_is_declared_lies_with_what_a_choice_or_a_turn_hands_over_twice(
    way: str, last: str, said: str, head: str
) -> None:
    """Before copies are inserted as well as behind them."""
    steps = _UPDATED["a fusion"] + _ONCE_MORE
    ends = f" j = s32[] constant(0)\n ROOT t = {_STATE} tuple(p, {'p' if last == 'x' else 'c'}, j)\n"
    bodies = {
        "updates_one": f"{_TAKES_TWO}{steps} ROOT g = f32[8] cosine(f)\n",
        "of_state": f"{_PARTS}{steps} ROOT g = f32[8] cosine(f)\n",
        "updates_state": f"{_PARTS}{steps} c = f32[8] cosine(q)\n{ends}",
        "stays": f"{_PARTS} c = f32[8] cosine(q)\n{ends}",
        "asks": f"{_PARTS}{steps} one = s32[] constant(1)\n ROOT o = pred[] compare(k, one), direction=GT\n",
    }
    run = " ".join(_ARRIVES_TWICE[way])
    functions = _UPDATING + _LOOP + "".join(f"{n} {{\n{body}}}\n" for n, body in bodies.items() if f"={n}" in run)
    lines = ["l = f32[8] sine(b)", "m = f32[8] abs(b)", f"i = {_STATE} tuple(x, y, k)"]
    lines += [line.replace("LAST", last) for line in _ARRIVES_TWICE[way]]
    text = _over(functions, lines, "y, y").replace(f"fusion(y, y), {_OVER}", "negate(y)")
    assert _judged(text.replace(_HEAD, head)) == said


@pytest.mark.parametrize(("given", "found"), [("x", {"refuted"}), ("y", {"proved"})])
@pytest.mark.parametrize("ends", ["f", "g"])
def test_what_a_branch_makes_lies_where_another_one_hands_on(ends: str, given: str, found: set[str]) -> None:
    """Surely: whichever branch is taken leaves it there."""
    functions = f"makes {{\n p = f32[8] parameter(0)\n n = f32[8] negate(p)\n f = f32[8] fusion(n, p), {_OVER}\n"
    functions += " g = f32[8] bitcast(f)\n}\n"
    functions = functions.replace(f" {ends} =", f" ROOT {ends} =")
    line = f"v = f32[8] conditional(k, x, {given}), branch_computations={{hands, makes}}"
    text = _over(functions, [line], "v, v").replace(f"fusion(v, v), {_OVER}", "negate(v)")
    assert _said(text, "hazard-in-place") == found


@pytest.mark.parametrize(("given", "found"), [("x", {"proved", "refuted"}), ("y", {"proved"})])
def test_what_a_branch_makes_is_written_over_what_it_reads_later(given: str, found: set[str]) -> None:
    functions = (
        "makes {\n p = f32[8] parameter(0)\n n = f32[8] negate(p)\n"
        ' s = f32[8] custom-call(p), custom_call_target="s", custom_call_has_side_effect=true\n'
        " ROOT g = f32[8] bitcast(n)\n}\n"
    )
    line = f"v = f32[8] conditional(k, x, {given}), branch_computations={{hands, makes}}"
    text = _over(functions, [line], "v, v").replace(f"fusion(v, v), {_OVER}", "negate(v)")
    assert _said(text, "hazard-overwrite") == found


_MADE_BY: Final = {
    "a fusion": ("fusion(x), kind=kLoop, calls=turned", "refuted"),
    "a fusion element by element": ("fusion(x), kind=kLoop, calls=negated", "proved"),
    "a fusion of a part of a tuple": ("fusion(u), kind=kLoop, calls=of_tuple", "unknown"),
    "what is no fusion": ("reverse(x), dimensions={0}", "unknown"),
    "what is no fusion, element by element": ("negate(x)", ""),
}
_CHOSEN: Final = {
    "a call": ["v = f32[8] call(GIVEN, k), to_apply=chooses"],
    "what flies": [
        "s = ((f32[8], f32[8], s32[]), f32[8]) async-start(GIVEN, k), calls=chooses",
        "v = f32[8] async-done(s)",
    ],
    "a branch": [
        f"i = {_STATE} tuple(GIVEN, k)",
        "v = f32[8] conditional(k, i, i), branch_computations={choose, choose}",
    ],
}


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("given", ["x, n", "n, x"])
@pytest.mark.parametrize("way", _CHOSEN)
@pytest.mark.parametrize("made", _MADE_BY)
def test_what_is_called_may_put_what_is_made_where_it_is_read(made: str, way: str, given: str, inside: bool) -> None:
    """Where a call chooses between an array and what is made of it, both lie in one buffer, declared or not."""
    operation, said = _MADE_BY[made]
    functions = (
        f"choose {{\n{_PARTS} ROOT r = f32[8] call(p, q, k), to_apply=chooses\n}}\n"
        "turned {\n p = f32[8] parameter(0)\n ROOT r = f32[8] reverse(p), dimensions={0}\n}\n"
        "negated {\n p = f32[8] parameter(0)\n ROOT r = f32[8] negate(p)\n}\n"
        f"of_tuple {{\n{_OF_PAIR} ROOT r = f32[8] reverse(q), dimensions={{0}}\n}}\n"
    )
    if inside:
        functions += f"makes {{\n x = f32[8] parameter(0)\n u = {_PAIR} tuple(x, x)\n ROOT n = f32[8] {operation}\n}}\n"
        operation = "call(x), to_apply=makes"
    steps = ["o = f32[8] sine(b)", f"u = {_PAIR} tuple(o, x)", f"n = f32[8] {operation}"]
    for other in (False, True):
        lines = [*steps, *(line.replace("GIVEN", given.replace("x", "y") if other else given) for line in _CHOSEN[way])]
        text = _over(functions, lines, "v, v").replace(f"fusion(v, v), {_OVER}", "negate(v)")
        assert _said(text, "hazard-in-place") == ({said} - {""} if not other else set())


@pytest.mark.parametrize("given", ["x, e", "e, x"])
@pytest.mark.parametrize("way", _TWO_GIVEN)
def test_what_asks_for_a_turn_is_handed_the_state_as_well(way: str, given: str) -> None:
    functions = (
        f"{_LOOP}asks {{\n{_PARTS}{_TWO} z = s32[] constant(0)\n ROOT o = pred[] compare(k, z), direction=GT\n}}\n"
        f"stays {{\n{_PARTS} one = s32[] constant(1)\n j = s32[] subtract(k, one)\n"
        f" ROOT t = {_STATE} tuple(p, q, j)\n}}\n"
    )
    lines = [*_TWO_GIVEN[way], f"u = {_STATE} tuple({given}, k)", f"l = {_STATE} while(u), condition=asks, body=stays"]
    lines.append("v = f32[8] get-tuple-element(l), index=0")
    text = _over(functions, lines, "v, v").replace(f"fusion(v, v), {_OVER}", "negate(v)")
    assert _judged(text) == ("proved" if way == "a copy" else "not proved")


@pytest.mark.parametrize("given", ["x, y", "y, x"])
@pytest.mark.parametrize(("chosen", "said"), [("p, q", "not proved"), ("p, p", "proved")])
def test_what_asks_for_a_turn_may_put_two_parts_of_the_state_into_one_buffer(
    chosen: str, said: str, given: str
) -> None:
    functions = (
        f"asks {{\n{_PARTS} c = f32[8] conditional(k, {chosen}), branch_computations={{hands, hands}}\n"
        " z = s32[] constant(0)\n ROOT o = pred[] compare(k, z), direction=GT\n}\n"
        f"stays {{\n{_PARTS} one = s32[] constant(1)\n j = s32[] subtract(k, one)\n"
        f" ROOT t = {_STATE} tuple(p, q, j)\n}}\n"
    )
    lines = [f"u = {_STATE} tuple({given}, k)", f"l = {_STATE} while(u), condition=asks, body=stays"]
    assert _judged(_over(functions, lines, "x, y")) == said


@pytest.mark.parametrize(("parts", "said"), [("o, v", "not proved"), ("v, o", "not proved"), ("o, l", "proved")])
@pytest.mark.parametrize("given", ["x, y", "y, x"])
@pytest.mark.parametrize("index", [0, 1])
def test_each_part_of_a_tuple_may_lie_where_a_call_puts_it(parts: str, said: str, index: int, given: str) -> None:
    """Which of its parts is read is not asked."""
    fused = "fused {\n p = f32[8] parameter(0)\n"
    fused += f" t = {_PAIR} parameter(1)\n q = f32[8] get-tuple-element(t), index={index}\n"
    lines = ["o = f32[8] cosine(b)", "l = f32[8] sine(b)", f"v = f32[8] call({given}, k), to_apply=chooses"]
    text = _over("", [*lines, f"t = {_PAIR} tuple({parts})"], "x, t")
    assert _judged(text.replace("fused {\n p = f32[8] parameter(0)\n q = f32[8] parameter(1)\n", fused)) == said


@pytest.mark.parametrize(("parts", "said"), [("o, n", "not proved"), ("n, o", "not proved"), ("o, l", "proved")])
@pytest.mark.parametrize("head", [_HEAD, "HloModule m\n"])
def test_each_part_of_a_tuple_may_lie_where_a_fusion_was_declared(head: str, parts: str, said: str) -> None:
    """Where both are handed over, before copies are inserted too."""
    functions = (
        "negated {\n p = f32[8] parameter(0)\n ROOT n = f32[8] negate(p)\n}\n"
        f"turns {{\n p = f32[8] parameter(0)\n t = {_PAIR} parameter(1)\n f = f32[8] fusion(p, t), "
        f"{_OVER.replace('fused', 'of_tuple')}\n ROOT g = f32[8] cosine(f)\n}}\n"
        f"of_tuple {{\n p = f32[8] parameter(0)\n t = {_PAIR} parameter(1)\n"
        " q = f32[8] get-tuple-element(t), index=1\n b = f32[8] reverse(q), dimensions={0}\n"
        " ROOT d = f32[8] add(p, b)\n}\n"
    )
    lines = ["o = f32[8] cosine(b)", "l = f32[8] sine(b)"]
    lines.append("n = f32[8] fusion(x), kind=kLoop, calls=negated, output_to_operand_aliasing={{}: (0, {})}")
    lines += [f"t = {_PAIR} tuple({parts})", "v = f32[8] call(x, t), to_apply=turns"]
    text = _over(functions, lines, "v, v").replace(f"fusion(v, v), {_OVER}", "negate(v)").replace(_HEAD, head)
    assert _judged(text) == said


@pytest.mark.parametrize("given", ["a, n", "n, a"])
@pytest.mark.parametrize(
    ("alias", "said"),
    [
        ("{}: (0, {}, may-alias)", "not proved"),
        ("{}: (0, {}, must-alias)", "not proved"),
        ("{}: (1, {}, may-alias)", "proved"),
        ("", "proved"),
    ],
)
@pytest.mark.parametrize("way", ["a call", "a call in flight", "a branch"])
def test_what_the_module_declares_to_lie_together_does_so_where_it_is_handed_over(
    way: str, alias: str, said: str, given: str
) -> None:
    head = f"{_HEAD.strip()}, input_output_alias={{ {alias} }}\n" if alias else _HEAD
    run = {
        "a call": [f"v = f32[8] call({given}), to_apply=two"],
        "a call in flight": [f"s = ({_PAIR}, f32[8]) async-start({given}), calls=two", "v = f32[8] async-done(s)"],
        "a branch": [
            f"t = {_PAIR} tuple({given})",
            f"o = {_PAIR} tuple(x, y)",
            "v = f32[8] conditional(k, t, o), branch_computations={taken, taken}",
        ],
    }[way]
    functions = _CALLED if way != "a branch" else f"taken {{\n{_OF_PAIR}{_TWO} ROOT g = f32[8] cosine(f)\n}}\n"
    text = _over(functions, ["n = f32[8] negate(b)", *run, "c = f32[8] copy(v)"], "v, v")
    text = text.replace(_HEAD, head).replace(f" ROOT z = f32[8] fusion(v, v), {_OVER}\n", "")
    assert _judged(text.replace(" n = ", " ROOT n = ")) == said


@pytest.mark.parametrize(
    ("given", "said"),
    [("p, g", "not proved"), ("g, p", "not proved"), ("q, g", "proved"), ("g, q", "proved"), ("p, q", "proved")],
)
@pytest.mark.parametrize("part", [0, 1])
def test_what_a_turn_leaves_and_what_it_began_with_lie_together_where_they_are_handed_over(
    part: int, given: str, said: str
) -> None:
    """The state that the turn leaves lies in the buffer of the state that it was given, part by part."""
    names = "pq" if part == 0 else "qp"
    parts = _PARTS.replace(" p =", " P =").replace(" q =", " Q =")
    parts = parts.replace(" P =", f" {names[0]} =").replace(" Q =", f" {names[1]} =")
    functions = (
        f"{_LOOP}{_CALLED}turns {{\n{parts} g = f32[8] cosine(q)\n v = f32[8] call({given}), to_apply=two\n"
        " c = f32[8] copy(q)\n one = s32[] constant(1)\n j = s32[] subtract(k, one)\n"
        f" ROOT t = {_STATE} tuple({'g, c' if part == 0 else 'c, g'}, j)\n}}\n"
    )
    lines = [f"u = {_STATE} tuple(x, y, k)", f"l = {_STATE} while(u), condition=more, body=turns"]
    lines.append("v = f32[8] get-tuple-element(l), index=0")
    text = _over(functions, lines, "v, v").replace(f"fusion(v, v), {_OVER}", "negate(v)")
    assert _judged(text) == said


@pytest.mark.parametrize("order", ["pqk", "qpk", "kqp", "kpq", "qkp"])
@pytest.mark.parametrize("bound", [1, 2])
@pytest.mark.parametrize(
    ("read", "said"), [("x, v", "not proved"), ("y, v", "not proved"), ("x, y", "not proved"), ("o, v", "proved")]
)
def test_what_is_bound_later_is_bound_by_its_number(read: str, said: str, bound: int, order: str) -> None:
    """In whatever order the text names the parameters: the first to be bound tells where the result may lie."""
    numbered = dict(zip("pqk", enumerate(("f32[8]", "f32[8]", "s32[]")), strict=True))
    takes = "".join(f" {n} = {numbered[n][1]} parameter({numbered[n][0]})\n" for n in order)
    given, shapes = ["x", "y", "k"], ["f32[8]", "f32[8]", "s32[]"]
    state = f"(({', '.join(shapes[:bound])}), f32[8])"
    lines = ["o = f32[8] cosine(b)", f"s = {state} async-start({', '.join(given[:bound])}), calls=runs"]
    lines.append(f"m = (({', '.join(shapes)}), f32[8]) async-update(s, {', '.join(given[bound:])})")
    lines.append("v = f32[8] async-done(m)")
    assert _judged(_over(f"runs {{\n{takes}{_CHOICE}}}\n", lines, read)) == said


@pytest.mark.parametrize("order", ["pqr", "rqp", "qrp"])
@pytest.mark.parametrize("bound", [1, 2])
@pytest.mark.parametrize(
    ("given", "said"),
    [("y, x, e", "not proved"), ("x, y, x", "proved"), ("x, y, e", "proved"), ("y, e, x", "not proved")],
)
def test_what_is_handed_over_later_is_handed_over_by_its_number(given: str, said: str, bound: int, order: str) -> None:
    functions = (
        "three {\n"
        + "".join(f" {n} = f32[8] parameter({'pqr'.index(n)})\n" for n in order)
        + " z = s32[] constant(0)\n h = f32[4] slice(r), slice={[4:8]}\n"
        " n = f32[8] dynamic-update-slice(r, h, z)\n" + f"{_ONCE_MORE} ROOT g = f32[8] cosine(f)\n}}\n"
    )
    names = given.split(", ")
    held = [f"({', '.join(['f32[8]'] * k)})" for k in (bound, 3)]
    lines = [*_TWO_GIVEN["an update"], f"s = ({held[0]}, f32[8]) async-start({', '.join(names[:bound])}), calls=three"]
    lines.append(f"i = ({held[1]}, f32[8]) async-update(s, {', '.join(names[bound:])})")
    text = _over(functions, [*lines, "v = f32[8] async-done(i)"], "v, v")
    assert _judged(text.replace(f"fusion(v, v), {_OVER}", "negate(v)")) == said


@pytest.mark.parametrize("way", ["a call", "what flies", "a branch", "a branch, the last", "what flies in a call"])
@pytest.mark.parametrize(("branches", "said"), [("hands, hands", "not proved"), ("makes, makes", "proved")])
def test_two_results_that_lie_in_one_buffer_only_outside_do_so_inside(branches: str, said: str, way: str) -> None:
    """Whatever gives them back."""
    functions = (
        "makes {\n v = f32[8] parameter(0)\n ROOT n = f32[8] negate(v)\n}\nruns {\n p = f32[8] parameter(0)\n"
        f" n = f32[8] negate(p)\n r = f32[8] cosine(p)\n f = f32[8] fusion(n, r), {_OVER}\n"
        f" ROOT t = {_PAIR} tuple(f, r)\n}}\n"
        "other {\n p = f32[8] parameter(0)\n n = f32[8] negate(p)\n r = f32[8] cosine(p)\n"
        f" ROOT t = {_PAIR} tuple(n, r)\n}}\n"
        f"calls {{\n p = f32[8] parameter(0)\n ROOT t = {_PAIR} call(p), to_apply=runs\n}}\n"
    )
    lines = {
        "a call": [f"d = {_PAIR} call(x), to_apply=runs"],
        "what flies": [f"s = ((f32[8]), {_PAIR}) async-start(x), calls=runs", f"d = {_PAIR} async-done(s)"],
        "what flies in a call": [f"s = ((f32[8]), {_PAIR}) async-start(x), calls=calls", f"d = {_PAIR} async-done(s)"],
        "a branch": [f"d = {_PAIR} conditional(k, x, y), branch_computations={{runs, other}}"],
        "a branch, the last": [f"d = {_PAIR} conditional(k, y, x), branch_computations={{other, runs}}"],
    }[way]
    lines += [*_BACK, f"w = f32[8] conditional(k, u, v), branch_computations={{{branches}}}"]
    text = _over(functions, lines, "w, w").replace(f"fusion(w, w), {_OVER}", "negate(w)")
    assert _judged(text) == said
