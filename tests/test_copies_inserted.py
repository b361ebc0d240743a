"""Once copies are inserted: what lies in one buffer is told apart by the orders that are left, and what nobody may
write is not written. Only a module itself says that the order of its text is its schedule."""

from __future__ import annotations

import re
from typing import Final

import pytest

from hloproof.claims.asynchronous import judge
from hloproof.models.dataflow.in_place import fused_in_place
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Verdict

_SCHEDULED: Final = ", is_scheduled=true"
_GIVEN: Final = (
    "p = f32[8] parameter(0)",
    "u = f32[2] parameter(1)",
    "i = s32[] parameter(2)",
    "c = f32[8] constant({1,2,3,4,5,6,7,8})",
    "k = f32[8] copy(p)",
)
_BODIES: Final = """body {
  s = (f32[8], s32[]) parameter(0)
  x = f32[8] get-tuple-element(s), index=0
  j = s32[] get-tuple-element(s), index=1
  y = f32[8] negate(x)
  ROOT o = (f32[8], s32[]) tuple(y, j)
}
keeps {
  ROOT s = (f32[8], s32[]) parameter(0)
}
more {
  s = (f32[8], s32[]) parameter(0)
  ROOT z = pred[] constant(false)
}
updates {
  x = f32[8] parameter(0)
  y = f32[2] parameter(1)
  n = s32[] parameter(2)
  ROOT z = f32[8] dynamic-update-slice(x, y, n)
}
negates {
  x = f32[8] parameter(0)
  ROOT y = f32[8] negate(x)
}
hides {
  x = f32[8] parameter(0)
  y = f32[2] parameter(1)
  n = s32[] parameter(2)
  z = f32[8] dynamic-update-slice(x, y, n)
  ROOT w = f32[2] slice(z), slice={[0:2]}
}
"""
_ALIAS: Final = "output_to_operand_aliasing={{}: (0, {})}"


def _module(*lines: str, header: str = "") -> str:
    *most, last = (*_GIVEN, *lines)
    return f"HloModule m{header}\n{_BODIES}ENTRY e {{\n" + "".join(f"  {x}\n" for x in most) + f"  ROOT {last}\n}}\n"


def _refuted(text: str, copies_inserted: bool) -> dict[tuple[str, str], str]:
    said = judge(
        parse_module(text), lambda c: c.startswith("hazard-"), lambda c: False, after_copy_insertion=copies_inserted
    )
    return {(j.claim, j.place.instruction): j.problem for j in said if j.problem is not None}


# -- what nobody may write ------------------------------------------------------------------------------------------

WRITERS: Final = {
    "an update in place": ("v = f32[8] dynamic-update-slice({}, u, i)",),
    "an update of what was updated": (
        "w = f32[8] dynamic-update-slice({}, u, i)",
        "v = f32[8] dynamic-update-slice(w, u, i)",
    ),
    "an update through a bitcast": ("b = f32[8] bitcast({})", "v = f32[8] dynamic-update-slice(b, u, i)"),
    "a call of an update": ("v = f32[8] call({}, u, i), to_apply=updates",),
    "a call that keeps its update to itself": ("v = f32[2] call({}, u, i), to_apply=hides",),
    "a fused update": ("v = f32[8] fusion({}, u, i), kind=kLoop, calls=updates",),
    "an update in flight": (
        "a = ((f32[8], f32[2], s32[]), f32[8], u32[]) async-start({}, u, i), calls=updates",
        "v = f32[8] async-done(a)",
    ),
    "a declared alias": (f'v = f32[8] custom-call({{}}), custom_call_target="t", {_ALIAS}',),
    "a loop that replaces its state": (
        "t = (f32[8], s32[]) tuple({}, i)",
        "w = (f32[8], s32[]) while(t), condition=more, body=body",
        "v = f32[8] get-tuple-element(w), index=0",
    ),
}


def written(what: str, into: str, header: str = _SCHEDULED) -> str:
    lines = [
        line.replace("{}", into) if "{}:" not in line else line.replace("({})", f"({into})") for line in WRITERS[what]
    ]
    shape = "f32[2]" if "itself" in what else "f32[8]"
    return _module(*lines, f"r = {shape} negate(v)", header=header)


@pytest.mark.parametrize("what", WRITERS)
def test_what_lies_in_a_constant_or_in_a_parameter_that_is_kept_is_not_written(what: str) -> None:
    into_parameter, into_constant = _refuted(written(what, "p"), False), _refuted(written(what, "c"), False)
    assert {claim for claim, _ in into_parameter} == {"hazard-constant"}
    assert all("parameter that is not donated" in said for said in into_parameter.values())
    # A constant that is a loop's first state stands for its value.
    assert {claim for claim, _ in into_constant} == (set() if "loop" in what else {"hazard-constant"})
    assert _refuted(written(what, "k"), False) == {}


@pytest.mark.parametrize("donated", ["buffer_donor={ (0, {}) }", "input_output_alias={ {}: (0, {}, may-alias) }"])
@pytest.mark.parametrize("what", [w for w in WRITERS if "itself" not in w])
def test_what_the_caller_gives_away_may_bewritten(what: str, donated: str) -> None:
    assert _refuted(written(what, "p", f"{_SCHEDULED}, {donated}"), False) == {}


def test_before_copies_are_inserted_one_will_stand_there() -> None:
    for what in WRITERS:
        assert _refuted(written(what, "p", ""), False) == {}
        assert "hazard-constant" in {claim for claim, _ in _refuted(written(what, "p", ""), True)}


def test_a_state_that_no_turn_replaces_is_not_written() -> None:
    loop = written("a loop that replaces its state", "p").replace("body=body", "body=keeps")
    assert _refuted(loop, False) == {}


def test_the_constant_of_a_first_state_is_told() -> None:
    module = parse_module(written("a loop that replaces its state", "c"))
    said = [j for j in judge(module, lambda c: c == "hazard-constant", lambda c: False) if j.note is not None]
    assert [(j.place.instruction, (j.note or "").partition(":")[0]) for j in said] == [("w", "needs-copy")]


def test_a_part_of_a_parameter_is_given_away_alone() -> None:
    def parts(donated: str) -> str:
        return (
            f"HloModule m{_SCHEDULED}, buffer_donor={{ (0, {{{donated}}}) }}\n"
            "ENTRY e {\n  p = (f32[8], f32[8]) parameter(0)\n  u = f32[2] parameter(1)\n  i = s32[] parameter(2)\n"
            "  x = f32[8] get-tuple-element(p), index=1\n  ROOT v = f32[8] dynamic-update-slice(x, u, i)\n}\n"
        )

    assert set(_refuted(parts("0"), False)) == {("hazard-constant", "v")}
    assert _refuted(parts("1"), False) == {}


_HANDED: Final = """gives {{
  x = f32[8] parameter(0)
  n = f32[8] constant({{1,2,3,4,5,6,7,8}})
  m = f32[8] copy(n)
  ROOT r = f32[8] bitcast({given})
}}
keeps {{
  x = f32[8] parameter(0)
  m = f32[8] copy(x)
  ROOT r = f32[8] bitcast({kept})
}}
"""
HANDED_BACK: Final = {
    "a constant that a call returns": ("d = f32[8] call(k), to_apply=gives", ("n", "m"), ("m", "m")),
    "a constant that a branch returns": (
        "d = f32[8] conditional(b, k, k), true_computation=gives, false_computation=keeps",
        ("n", "m"),
        ("m", "m"),
    ),
    "a parameter that a branch hands on": (
        "d = f32[8] conditional(b, p, p), true_computation=gives, false_computation=keeps",
        ("m", "x"),
        ("m", "m"),
    ),
    "a parameter that a call hands on": ("d = f32[8] call(p), to_apply=keeps", ("m", "x"), ("m", "m")),
}


def handed_back(what: str, broken: bool) -> str:
    """What a computation returns is updated in place."""
    made, wrong, right = HANDED_BACK[what]
    given, kept = wrong if broken else right
    bodies = _HANDED.format(given=given, kept=kept).replace("keeps", "hands")
    text = _module(
        "b = pred[] constant(true)",
        made.replace("keeps", "hands"),
        "r = f32[8] dynamic-update-slice(d, u, i)",
        header=_SCHEDULED,
    )
    return text.replace("ENTRY", bodies + "ENTRY")


@pytest.mark.parametrize("what", HANDED_BACK)
def test_what_a_computation_hands_back_is_followed(what: str) -> None:
    """Where one branch hands the parameter on, what the other one makes lies there too, which is a hazard already."""
    made = {("hazard-constant", "d")} if what == "a parameter that a branch hands on" else set()
    assert set(_refuted(handed_back(what, True), False)) == {("hazard-constant", "r"), *made}
    assert _refuted(handed_back(what, False), False) == {}


# -- one buffer given twice ------------------------------------------------------------------------------------------


def scattered(values: str, header: str = _SCHEDULED) -> str:
    """Elements put into an array in the order of some indices."""
    second = "second { x = f32[] parameter(0) ROOT y = f32[] parameter(1) }\n"
    return _module(
        "a = s32[8,1] constant({{7},{6},{5},{4},{3},{2},{1},{0}})",
        "q = f32[8] copy(k)",
        f"r = f32[8] scatter(k, a, {values}), update_window_dims={{}}, inserted_window_dims={{0}}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=second",
        header=header,
    ).replace("ENTRY", second + "ENTRY")


def test_an_array_that_is_turned_round_in_its_own_buffer_is_not_proved() -> None:
    """From the middle on what is read has been written. Which elements those are nobody asks yet."""
    for values, header, verdicts in (
        ("k", _SCHEDULED, {"unknown"}),
        ("q", _SCHEDULED, {"proved"}),
        ("k", "", set[str]()),
    ):
        module = parse_module(scattered(values, header))
        said = judge(module, lambda c: c == "hazard-overwrite", lambda c: False)
        assert {j.found.verdict.value for j in said if j.place.instruction == "r"} - {"proved"} == verdicts - {"proved"}


# -- orders ---------------------------------------------------------------------------------------------------------

_READ: Final = "d = f32[8] negate(k)"
_WRITE: Final = "v = f32[8] dynamic-update-slice(k, u, i)"
_SUM: Final = "r = f32[8] add(d, v)"


def test_the_order_of_the_text_is_a_schedule_only_where_the_module_says_so() -> None:
    free, told = _module(_READ, _WRITE, _SUM), _module(_READ, _WRITE + ", control-predecessors={d}", _SUM)
    scheduled = _module(_READ, _WRITE, _SUM, header=_SCHEDULED)
    found = _refuted(free, True)
    assert set(found) == {("hazard-overwrite", "k")}
    # The order that is shown is one in which the reader comes late.
    rows = found["hazard-overwrite", "k"].splitlines()
    assert [r.split(" = ")[0].split()[-1] for r in rows if " = " in r] == ["k", "v", "d"]
    for text, copies_inserted in ((free, False), (told, True), (scheduled, False), (scheduled, True)):
        assert _refuted(text, copies_inserted) == {}, (text, copies_inserted)


def test_a_flag_makes_no_schedule_for_an_operation_in_flight() -> None:
    lines = ("s = (f32[8], f32[8], u32[]) copy-start(k)", "d = f32[8] copy-done(s)")
    assert set(_refuted(_module(*lines, _WRITE, _SUM), True)) >= {("hazard-operand", "s")}
    assert _refuted(_module(*lines, _WRITE + ", control-predecessors={d}", _SUM), True) == {}
    assert _refuted(_module(*lines, _WRITE, _SUM, header=_SCHEDULED), False) == {}


_TWO: Final = """two {{
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  n = f32[8] negate(y)
  u = f32[2] constant({{1, 2}})
  z = s32[] constant(0)
  w = f32[8] dynamic-update-slice(x, u, z){after}
  ROOT t = (f32[8], f32[8]) tuple(w, n)
}}
"""


def test_two_arguments_in_one_buffer_are_told_apart_by_the_orders_of_the_body() -> None:
    """In the order of the body's text the second argument is read before the first is written."""
    call = _module("r = (f32[8], f32[8]) call(k, k), to_apply=two")
    for header, after, copies_inserted, holds in (
        ("", "", True, False),
        ("", ", control-predecessors={n}", True, True),
        (_SCHEDULED, "", False, True),
    ):
        text = call.replace("HloModule m\n", f"HloModule m{header}\n{_TWO.format(after=after)}")
        assert (_refuted(text, copies_inserted) == {}) == holds


# -- an operation in flight that writes where its operand lies ------------------------------------------------------

_FLYING: Final = (
    'a = ((f32[8]), f32[8], u32[]) custom-call-start(k), custom_call_target="t", output_to_operand_aliasing={{}: (0, '
    "{})}"
)
_LANDED: Final = "v = f32[8] custom-call-done(a)"


def test_what_lay_in_a_result_before_is_read_from_a_copy_but_never_written_twice() -> None:
    read = parse_module(_module(_FLYING, "d = f32[8] negate(k)", _LANDED, _SUM))
    said = {j.claim: j for j in judge(read, lambda c: c == "hazard-output", lambda c: False)}
    assert said["hazard-output"].problem is None and (said["hazard-output"].note or "").startswith("needs-copy")
    again = _FLYING.replace("a = ", "b = ")
    twice = _module(_FLYING, again, _LANDED, "d = f32[8] custom-call-done(b)", _SUM)
    assert {("hazard-output", "a"), ("hazard-output", "b")} <= set(_refuted(twice, False))
    after = _module(_FLYING, _LANDED, again + ", control-predecessors={v}", "d = f32[8] custom-call-done(b)", _SUM)
    assert not {c for c, _ in _refuted(after, False)} & {"hazard-output"}


# -- what works in place, as XLA says of it ---------------------------------------------------------------------------

_PLUS: Final = "plus { x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = f32[] add(x, y) }\n"
_SUMS: Final = {
    "one": ("s = f32[8] all-reduce-start({}), replica_groups={{0,1}}, to_apply=plus", "d = f32[8] all-reduce-done(s)"),
    "the second of two": (
        "o = f32[8] negate(p)",
        "s = (f32[8], f32[8]) all-reduce-start(o, {}), replica_groups={{0,1}}, to_apply=plus",
        "f = (f32[8], f32[8]) all-reduce-done(s)",
        "d = f32[8] get-tuple-element(f), index=1",
    ),
}


def _sum_in_flight(what: str, of: str, reads: str, besides: str = "") -> str:
    lines = [re.sub(r"(?<=[( ])\{\}(?=\))", of, line) + besides for line in _SUMS[what][:-1]]
    text = _module(*lines, _SUMS[what][-1], f"r = f32[8] add(d, {reads})", header=_SCHEDULED)
    return text.replace("ENTRY", f"{_PLUS}ENTRY")


@pytest.mark.parametrize("what", _SUMS)
def test_a_sum_in_flight_is_made_in_the_buffer_of_its_operand(what: str) -> None:
    assert {claim for claim, _ in _refuted(_sum_in_flight(what, "k", "k"), False)} == {"hazard-overwrite"}
    assert {claim for claim, _ in _refuted(_sum_in_flight(what, "p", "d"), False)} == {"hazard-constant"}
    assert _refuted(_sum_in_flight(what, "k", "p"), False) == {}


def test_a_sum_by_nvshmem_has_a_buffer_of_its_own() -> None:
    by = ', backend_config={"collective_backend_config":{"backend":"NVSHMEM"}}'
    assert _refuted(_sum_in_flight("one", "k", "k", by), False) == {}


_GIVEN_TO_FUSION: Final = "a = f32[8] parameter(0) b = f32[2] parameter(1) c = s32[] parameter(2)"
_MADE_IN_FUSIONS: Final = {
    "in a fusion inside": "ROOT d = f32[8] fusion(a, b, c), kind=kLoop, calls=updates",
    "over a fusion inside": (
        "n = f32[8] fusion(a, b, c), kind=kLoop, calls=updates ROOT d = f32[8] dynamic-update-slice(n, b, c)"
    ),
    "over a fusion inside that declares it": (
        f"n = f32[8] fusion(a), kind=kLoop, calls=negates, {_ALIAS} ROOT d = f32[8] dynamic-update-slice(n, b, c)"
    ),
    "by what is declared": f'ROOT d = f32[8] custom-call(a, b, c), custom_call_target="w", {_ALIAS}',
    "as the first of two": (
        'n = (f32[8], s8[4]) custom-call(b, a), custom_call_target="w", output_to_operand_aliasing={{0}: (1, {})} '
        "ROOT d = f32[8] get-tuple-element(n), index=0"
    ),
}


@pytest.mark.parametrize("what", _MADE_IN_FUSIONS)
def test_what_a_fusion_makes_in_place_is_no_update_alone(what: str) -> None:
    def said(over: str, reads: str) -> dict[str, set[Verdict]]:
        lines = (f"d = f32[8] fusion({over}, u, i), kind=kLoop, calls=fused", f"r = f32[8] add(d, {reads})")
        before, _, rest = _module(*lines, header=_SCHEDULED).partition("ENTRY")
        text = f"{before}fused {{ {_GIVEN_TO_FUSION} {_MADE_IN_FUSIONS[what]} }}\nENTRY{rest}"
        found: dict[str, set[Verdict]] = {}
        for j in judge(parse_module(text), lambda c: c.startswith("hazard-"), lambda c: False):
            found.setdefault(j.claim, set()).add(j.found.verdict)
        return {claim: verdicts - {Verdict.PROVED} for claim, verdicts in found.items() if verdicts != {Verdict.PROVED}}

    assert said("k", "k") == {"hazard-overwrite": {Verdict.REFUTED}, "hazard-in-place": {Verdict.UNKNOWN}}
    assert said("p", "d") == {"hazard-constant": {Verdict.REFUTED}, "hazard-in-place": {Verdict.UNKNOWN}}
    # In which steps it reads and writes is not known, but who needs what afterwards is.
    assert said("k", "p") == {"hazard-in-place": {Verdict.UNKNOWN}}


def test_an_array_that_a_fusion_makes_for_itself_is_no_operand() -> None:
    made = "n = f32[8] dynamic-update-slice(a, b, c) ROOT d = f32[8] dynamic-update-slice(n, b, c)"
    before, _, rest = _module(
        "d = f32[8] fusion(k, u, i), kind=kLoop, calls=fused", "r = f32[8] add(d, k)", header=_SCHEDULED
    ).partition("ENTRY")
    assert _refuted(f"{before}fused {{ {_GIVEN_TO_FUSION} {made} }}\nENTRY{rest}", False) == {}


def test_each_part_that_a_fusion_makes_in_place_lies_where_its_own_operand_does() -> None:
    made = (
        "x = f32[8] parameter(0) y = f32[8] parameter(1) "
        'n = (f32[8], f32[8]) custom-call(x, y), custom_call_target="w", '
        "output_to_operand_aliasing={{0}: (1, {}), {1}: (0, {})} "
        "v = f32[8] get-tuple-element(n), index=0 w = f32[8] get-tuple-element(n), index=1 "
        "ROOT t = (f32[8], f32[8]) tuple(v, w)"
    )
    text = _module("d = (f32[8], f32[8]) fusion(k, p), kind=kCustom, calls=fused", header=_SCHEDULED)
    before, _, rest = text.partition("ENTRY")
    module = parse_module(f"{before}fused {{ {made} }}\nENTRY{rest}")
    assert fused_in_place(module, module.entry.root) == (((0,), 1, ()), ((1,), 0, ()))


def test_a_start_that_tells_of_more_results_than_its_fusion_makes_is_judged() -> None:
    lines = (
        "s = ((f32[8]), (f32[8], f32[8]), u32[]) fusion-start(k), kind=kLoop, calls=fused",
        "d = (f32[8], f32[8]) fusion-done(s)",
    )
    before, _, rest = _module(*lines, header=_SCHEDULED).partition("ENTRY")
    made = "a = f32[8] parameter(0) n = f32[8] negate(a) ROOT t = (f32[8]) tuple(n)"
    module = parse_module(f"{before}fused {{ {made} }}\nENTRY{rest}")
    said = judge(module, lambda c: True, lambda c: False)
    assert {j.place.instruction for j in said if j.found.verdict is not Verdict.PROVED} != set()


def test_a_sum_that_tells_of_more_results_than_it_is_given_is_judged() -> None:
    lines = (
        "s = (f32[8], f32[8]) all-reduce-start(k), replica_groups={{0,1}}, to_apply=plus",
        "f = (f32[8], f32[8]) all-reduce-done(s)",
        "d = f32[8] get-tuple-element(f), index=0",
    )
    module = parse_module(_module(*lines, header=_SCHEDULED).replace("ENTRY", f"{_PLUS}ENTRY"))
    said = judge(module, lambda c: True, lambda c: False)
    assert {j.place.instruction for j in said if j.found.verdict is not Verdict.PROVED} != set()


def _in_place_at_the_root(module: Module) -> set[Verdict]:
    said = judge(module, lambda c: c == "hazard-in-place", lambda c: False)
    return {j.found.verdict for j in said if j.place.instruction == module.entry.root_name}


_OF_PARTS: Final = """parts {
  s = (f32[8], (f32[8], f32[2])) parameter(0)
  u = f32[2] parameter(1)
  i = s32[] parameter(2)
  x = f32[8] get-tuple-element(s), index=0
  r = (f32[8], f32[2]) get-tuple-element(s), index=1
  y = f32[8] get-tuple-element(r), index=0
  v = f32[8] dynamic-update-slice(x, u, i)
  w = f32[8] dynamic-update-slice(y, u, i)
  ROOT t = (f32[8], f32[8]) tuple(w, v)
}
"""


@pytest.mark.parametrize(
    "made",
    [
        "ROOT n = (f32[8], f32[8]) fusion(q, u, i), kind=kLoop, calls=parts",
        "n = (f32[8], f32[8]) fusion(q, u, i), kind=kLoop, calls=parts "
        "v = f32[8] get-tuple-element(n), index=0 w = f32[8] get-tuple-element(n), index=1 "
        'a = (f32[8], f32[8]) custom-call(v, w), custom_call_target="w", '
        "output_to_operand_aliasing={{0}: (0, {}), {1}: (1, {})} "
        "x = f32[8] get-tuple-element(a), index=0 y = f32[8] get-tuple-element(a), index=1 "
        "ROOT t = (f32[8], f32[8]) tuple(x, y)",
    ],
)
def test_a_fusion_makes_in_place_the_parts_of_a_tuple_that_fusions_inside_of_it_do(made: str) -> None:
    given = "q = (f32[8], (f32[8], f32[2])) parameter(0) u = f32[2] parameter(1) i = s32[] parameter(2)"
    lines = (
        "h = (f32[8], f32[2]) tuple(p, u)",
        "g = (f32[8], (f32[8], f32[2])) tuple(k, h)",
        "d = (f32[8], f32[8]) fusion(g, u, i), kind=kLoop, calls=fused",
    )
    before, _, rest = _module(*lines, header=_SCHEDULED).partition("ENTRY")
    module = parse_module(f"{before}{_OF_PARTS}fused {{ {given} {made} }}\nENTRY{rest}")
    assert fused_in_place(module, module.entry.root) == (((0,), 0, (1, 0)), ((1,), 0, (0,)))
    assert _in_place_at_the_root(module) == {Verdict.UNKNOWN}


def test_a_fusion_makes_in_place_that_part_alone_of_a_tuple_in_a_tuple() -> None:
    given = "a = f32[8] parameter(0) u = f32[2] parameter(1) i = s32[] parameter(2)"
    made = "v = f32[8] dynamic-update-slice(a, u, i) n = f32[8] negate(a) t = (f32[8], f32[8]) tuple(n, v)"
    inside = f"deep {{ {given} {made} ROOT r = ((f32[8], f32[8]), f32[2]) tuple(t, u) }}\n"
    fused = f"fused {{ {given} ROOT d = ((f32[8], f32[8]), f32[2]) fusion(a, u, i), kind=kLoop, calls=deep }}\n"
    line = "d = ((f32[8], f32[8]), f32[2]) fusion(k, u, i), kind=kLoop, calls=fused"
    before, _, rest = _module(line, header=_SCHEDULED).partition("ENTRY")
    module = parse_module(f"{before}{inside}{fused}ENTRY{rest}")
    assert fused_in_place(module, module.entry.root) == (((0, 1), 0, ()),)


def test_a_scatter_of_several_arrays_is_no_update_of_one() -> None:
    """Also where both are written into one buffer: which of the two is written when is not modelled."""
    both = "both { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] parameter(2) d = f32[] parameter(3) "
    both += "ROOT t = (f32[], f32[]) tuple(c, d) }\n"
    made = (
        "d = (f32[8], f32[8]) scatter(a, a, j, u, u), update_window_dims={}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=both"
    )
    given = "a = f32[8] parameter(0) u = f32[2] parameter(1) i = s32[] parameter(2)"
    fused = f"fused {{ {given} j = s32[2,1] broadcast(i), dimensions={{}} ROOT {made} }}\n"
    line = "d = (f32[8], f32[8]) fusion(k, u, i), kind=kLoop, calls=fused"
    before, _, rest = _module(line, header=_SCHEDULED).partition("ENTRY")
    assert Verdict.UNKNOWN in _in_place_at_the_root(parse_module(f"{before}{both}{fused}ENTRY{rest}"))
