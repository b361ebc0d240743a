"""The naive readings that campaigns compare with: right where it was worked out by hand, and none is blind."""

from __future__ import annotations

from typing import Any

import pytest

from hloproof.claims.asynchronous import judge
from hloproof.claims.asynchronous.judgement import judged
from hloproof.claims.asynchronous.orders import Orders
from hloproof.fuzz.asynchronous import target_async
from hloproof.fuzz.asynchronous.alias_checks import check_aliases
from hloproof.fuzz.asynchronous.hazards import Hazards
from hloproof.fuzz.asynchronous.order_checks import check_orders
from hloproof.fuzz.asynchronous.reading import Reading
from hloproof.fuzz.asynchronous.simulation import Program
from hloproof.fuzz.chunk import first_failure
from hloproof.fuzz.layouts import bitcast_checks
from hloproof.fuzz.layouts.bitcast_checks import check_bitcasts
from hloproof.fuzz.layouts.layout_readings import is_modelled, memory
from hloproof.fuzz.target import Failure
from hloproof.fuzz.targets import target
from hloproof.models.dataflow.alias_classes import Buffers
from hloproof.models.dataflow.async_chain import AsyncChains
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.text.shapes import parse_shape

# Cells in order, `.` for padding, parts behind one another; by hand from the pictures of tiled layouts.
CELLS = [
    ("f32[2,3]{1,0}", ["00 01 02 10 11 12"]),
    ("f32[2,3]{0,1}", ["00 10 01 11 02 12"]),
    ("f32[3,3]{1,0:T(2,2)}", ["00 01 10 11 02 . 12 . 20 21 . . 22 . . ."]),
    ("f32[3]{0:T(2,2)}", ["0 1 . . 2 . . ."]),
    ("f32[2,2]{1,0:T(*,3)}", ["00 01 10 11 . ."]),
    ("f32[4]{0:T(4)(2)}", ["0 1 2 3"]),
    ("f32[3]{0:L(4)}", ["0 1 2 ."]),
    ("f32[5]{0:SC(0:2)}", ["0 1 .", "2 3 4"]),
    ("f32[]{:T(2)}", ["- ."]),
]


@pytest.mark.parametrize(("text", "parts"), CELLS)
def test_memory_read_cell_by_cell(text: str, parts: list[str]) -> None:
    shape = parse_shape(text)
    assert isinstance(shape, ArrayShape)
    found = [
        " ".join("." if cell is None else "".join(map(str, cell)) or "-" for cell in cells) for cells in memory(shape)
    ]
    assert found == parts


@pytest.mark.parametrize(
    "function",
    ["same_bits_map", "reshape_is_bitcast", "transpose_of_bitcast", "decompose", "aligned_layout", "is_decomposable"],
)
def test_bitcasts_that_are_wrong_are_found(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shape = parse_shape("f32[2,3]{0,1}")
    assert isinstance(shape, ArrayShape)
    check_bitcasts(shape)
    right = getattr(bitcast_checks, function)

    def turned(one: ArrayShape, other: Any) -> Any:
        """The answer on the row-major array of the same sizes."""
        return right(ArrayShape(one.element_type, one.dimensions), other)

    monkeypatch.setattr(bitcast_checks, function, turned if function != "is_decomposable" else lambda *given: False)
    with pytest.raises(Failure):
        check_bitcasts(shape)


@pytest.mark.parametrize("text", ["f32[?]{0}", "f32[2]{0:D(C)}", "f32[4]{0:SC(0:2,2)}", "f32[4]{0:SC(0:4)}"])
def test_memory_that_the_shape_does_not_tell(text: str) -> None:
    shape = parse_shape(text)
    assert isinstance(shape, ArrayShape) and not is_modelled(shape)


ALIASED = """HloModule aliases, input_output_alias={ {}: (0, {}, must-alias) }

body { q = (f32[4], f32[4]) parameter(0)  a = f32[4] get-tuple-element(q), index=0  n = f32[4] negate(a)
  ROOT r = (f32[4], f32[4]) tuple(n, a) }
never { q = (f32[4], f32[4]) parameter(0)  ROOT r = pred[] constant(false) }
two { x = f32[4] parameter(0)  y = f32[4] parameter(1)  ROOT z = f32[4] add(x, y) }

ENTRY e { p = f32[4] parameter(0)  o = f32[4] parameter(1)
  i = (f32[4], f32[4]) tuple(p, o)  w = (f32[4], f32[4]) while(i), condition=never, body=body
  s = ((f32[4]), (), s32[]) async-start(o), calls=two
  u = ((f32[4], f32[4]), f32[4], s32[]) async-update(s, p)  d = f32[4] async-done(u)
  ROOT g = f32[4] get-tuple-element(w), index=1 }"""


def test_aliases_read_off_by_hand() -> None:
    read = Reading(parse_module(ALIASED))
    values = read.values()
    assert values["e", "g", ()] == {("e", "o", ()), ("e", "p", ()), ("body", "n", ())}
    assert values["e", "d", ()] == {("two", "z", ())}
    assert values["two", "y", ()] == {("e", "p", ())}
    (shared,) = [c for c in read.shared(may=False) if ("e", "p", ()) in c]
    assert {("e", "g", ()), ("e", "o", ()), ("body", "n", ()), ("two", "x", ()), ("e", "u", (0, 1))} <= shared
    assert ("e", "d", ()) not in shared


@pytest.mark.parametrize(
    "method",
    ["must_share", "may_share", "classes", "binds", "declared_by_module", "merges", "leaves_module", "defined_at"],
)
def test_aliases_that_are_wrong_are_found(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = parse_module(ALIASED)
    assert check_aliases(module)
    monkeypatch.setattr(AsyncChains if method == "binds" else Buffers, method, lambda *arguments: ())
    with pytest.raises(Failure):
        check_aliases(module)


ORDERED = """HloModule orders

ENTRY e { p = f32[4] parameter(0)  a = f32[4] negate(p), control-predecessors={b}  b = f32[4] negate(p)
  ROOT c = f32[4] negate(p) }"""


def test_orders_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    module = parse_module(ORDERED)
    assert check_orders(module)
    for method in ("must_precede", "between", "witness"):
        with monkeypatch.context() as patched:
            patched.setattr(Orders, method, lambda *arguments: ())
            with pytest.raises(Failure):
                check_orders(module)


BRANCHES = """HloModule branches, is_scheduled=true

one { p = (f32[4], f32[4]) parameter(0)  a = f32[4] get-tuple-element(p), index=0
  n = f32[4] negate(a)  ROOT r = (f32[4], f32[4]) tuple(n, n) }
other { p = (f32[4], f32[4]) parameter(0)  a = f32[4] get-tuple-element(p), index=0
  m = f32[4] negate(a)  n = f32[4] negate(a)  ROOT r = (f32[4], f32[4]) tuple(m, n) }

ENTRY e { p = (f32[4], f32[4]) parameter(0)  k = s32[] parameter(1)
  ROOT c = (f32[4], f32[4]) conditional(k, p, p), branch_computations={one, other} }"""


def test_branches_that_disagree(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "branches that disagree" in target_async.examine(BRANCHES)
    right = judge

    def exchanged(*arguments: Any) -> Any:
        return [
            judged(j.claim, j.place, j.problem and j.problem.replace("one returns", "other returns"))
            for j in right(*arguments)
        ]

    for wrong in (exchanged, lambda *arguments: [judged(j.claim, j.place) for j in right(*arguments)]):
        monkeypatch.setattr(target_async, "judge", wrong)
        with pytest.raises(Failure):
            target_async.examine(BRANCHES)


STALE = """HloModule m, is_scheduled=true

passes { q = f32[4] parameter(0)  ROOT r = f32[4] copy(q) }

ENTRY e { a = f32[4] parameter(0)  k = s32[] parameter(1)  x = f32[4] negate(a)  y = f32[4] abs(a)
  w = f32[4] custom-call(WHAT), custom_call_target="f", output_to_operand_aliasing={{}: (0, {})}
  c = f32[4] conditional(k, x, y), branch_computations={passes, passes}
  ROOT t = (f32[4], f32[4]) tuple(w, c) }"""


@pytest.mark.parametrize(("what", "broken"), [("x", {"x"}), ("y", {"y"}), ("a", set())])
def test_what_one_branch_copies_is_read_there(what: str, broken: set[str]) -> None:
    text = STALE.replace("WHAT", what)
    found = judge(parse_module(text), lambda c: c == "hazard-overwrite", lambda c: False)
    assert {j.place.instruction for j in found if j.problem} == broken
    # Without the copies all of it is one buffer.
    found = judge(
        parse_module(text.replace("copy(q)", "bitcast(q)")), lambda c: c == "hazard-overwrite", lambda c: False
    )
    assert "x" in {j.place.instruction for j in found if j.problem}


FLIGHT = """HloModule flights

ENTRY e { a = f32[4] parameter(0)
  s = (f32[4], f32[4], u32[]) copy-start(a)
  w = f32[4] custom-call(a), custom_call_target="f", output_to_operand_aliasing={{}: (0, {})}
  d = f32[4] copy-done(s)
  ROOT t = (f32[4], f32[4]) tuple(d, w) }"""


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        ("(line 5)", "(line 6)"),
        ("buffer of a,", "buffer of d,"),
        ("which s reads", "which d reads"),
        ("until here", "from there"),
        ("predecessors={%d} on w", "predecessors={%s} on w"),
        ("in flight from", "up to"),
        ("  mended by control-predecessors={%d} on w", "  mended by a copy of a for w, or by finishing s first"),
    ],
)
def test_words_that_are_not_so_are_found(said: str, instead: str) -> None:
    module = parse_module(FLIGHT)
    shown = Hazards(Program(module, module.entry))
    found = list(judge(module, lambda c: c == "hazard-operand", lambda c: False))
    shown.check(found)
    (wrong,) = found
    assert wrong.problem is not None and said in wrong.problem
    with pytest.raises(Failure):
        shown.check([judged(wrong.claim, wrong.place, wrong.problem.replace(said, instead))])


def test_a_copy_that_is_not_told_of_is_found() -> None:
    module = parse_module(
        FLIGHT.replace(
            'custom-call(a), custom_call_target="f", output_to_operand_aliasing={{}: (0, {})}',
            "dynamic-update-slice(a, b, k)",
        ).replace("  s =", "  b = f32[1] parameter(1)  k = s32[] parameter(2)  s =")
    )
    (found,) = judge(module, lambda c: c == "hazard-operand", lambda c: False)
    shown = Hazards(Program(module, module.entry))
    assert found.problem is None and found.note is not None
    shown.check([found])
    for note in (None, "needs-copy: d may not update a in place while s reads it"):
        with pytest.raises(Failure):
            shown.check([judged(found.claim, found.place, note=note)])
    with pytest.raises(Failure):
        shown.check([judged("hazard-output", found.place, note="needs-copy: w reads a, whose")])


def test_nothing_is_found_on_a_few_examples() -> None:
    assert first_failure(target("async"), 5, 60) is None
