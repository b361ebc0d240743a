"""Under cross-checking a claim about maps is stated twice; both statements tell right maps from wrong ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest

from hloproof.claims.maps.plain_inclusion import plain_inclusion
from hloproof.claims.operations import definition as first
from hloproof.claims.operations.converse import converse_parts
from hloproof.claims.operations.definition import Subject, definition_parts
from hloproof.claims.operations.plain_definition import plain_converse, plain_definition
from hloproof.claims.statements.relation import piece_of
from hloproof.definitions import define
from hloproof.definitions.definition import Definition
from hloproof.engines.door import How, prove
from hloproof.logic.formula import eq
from hloproof.logic.obligation import Obligation
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const, Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.indexing import input_to_output, output_to_input
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.indexing_map import Direction, IndexingMap, Variable
from hloproof.models.maps.text import parse_map
from hloproof.pipeline.driver import check_hlo
from hloproof.pipeline.options import Options, Selection
from hloproof.results.verdict import Found

SUM = "sum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"
OPERATIONS = {
    "slice": "p = f32[11] parameter(0)\n ROOT r = f32[4] slice(p), slice={[2:10:2]}",
    "reshape": "p = f32[6,4] parameter(0)\n ROOT r = f32[3,8] reshape(p)",
    "reverse": "p = f32[5,2] parameter(0)\n ROOT r = f32[5,2] reverse(p), dimensions={0}",
    "broadcast": "p = f32[3] parameter(0)\n ROOT r = f32[2,3] broadcast(p), dimensions={1}",
    "pad": "p = f32[4] parameter(0)\n z = f32[] parameter(1)\n ROOT r = f32[9] pad(p, z), padding=1_1_1",
    "concatenate": "p = f32[4] parameter(0)\n q = f32[3] parameter(1)\n"
    " ROOT r = f32[7] concatenate(p, q), dimensions={0}",
    "dot": "p = f32[3,4] parameter(0)\n q = f32[4,2] parameter(1)\n"
    " ROOT r = f32[3,2] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    "reduce": "p = f32[3,4] parameter(0)\n z = f32[] parameter(1)\n"
    " ROOT r = f32[3] reduce(p, z), dimensions={1}, to_apply=sum",
    "reduce of what is there": "p = f32[3,<=4] parameter(0)\n z = f32[] parameter(1)\n"
    " ROOT r = f32[3] reduce(p, z), dimensions={1}, to_apply=sum",
    "concatenate of what is there": "p = f32[<=4] parameter(0)\n q = f32[<=3] parameter(1)\n"
    " ROOT r = f32[<=7] concatenate(p, q), dimensions={0}",
    "pad of what is there": "p = f32[<=4] parameter(0)\n z = f32[] parameter(1)\n"
    " ROOT r = f32[<=6] pad(p, z), padding=1_1",
    "reduce-window": "p = f32[7] parameter(0)\n z = f32[] parameter(1)\n"
    " ROOT r = f32[3] reduce-window(p, z), window={size=3 stride=2}, to_apply=sum",
    "dynamic-slice": "p = f32[9] parameter(0)\n i = s32[] parameter(1)\n"
    " ROOT r = f32[4] dynamic-slice(p, i), dynamic_slice_sizes={4}",
    "dynamic-update-slice": "p = f32[9] parameter(0)\n u = f32[4] parameter(1)\n i = s32[] parameter(2)\n"
    " ROOT r = f32[9] dynamic-update-slice(p, u, i)",
    "gather": "p = f32[7,3] parameter(0)\n i = s32[2,1] parameter(1)\n ROOT r = f32[2,3] gather(p, i), offset_dims={1},"
    " collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}",
    "collective-permute": "p = f32[4] parameter(0)\n ROOT r = f32[4] collective-permute(p),"
    " source_target_pairs={{0,1},{1,0}}",
    "all-gather": "p = f32[4] parameter(0)\n ROOT r = f32[8] all-gather(p), replica_groups={{0,1}}, dimensions={0}",
}
DIRECTIONS: tuple[Direction, ...] = ("output-to-input", "input-to-output")


def operation(text: str) -> Operation:
    module = parse_module(f"HloModule m, replica_count=2\n{SUM}ENTRY e {{\n {text}\n}}\n")
    entry = next(c for c in module.computations if c.name == "e")
    return Operation.of(entry.instructions[-1], entry, 2, 1, ())


def subjects(op: Operation) -> Iterator[tuple[Subject, OperandMaps]]:
    """Every operand in both directions, with its maps."""
    assert isinstance(op.shape, ArrayShape)
    for operand, shape in enumerate(op.operands):
        assert isinstance(shape, ArrayShape)
        for direction in DIRECTIONS:
            forward = direction == "output-to-input"
            found = output_to_input(op, 0) if forward else input_to_output(op, operand)
            for maps in (m for m in found if m.operand == (operand if forward else 0)):
                yield Subject(op, 0, operand, op.shape, shape, direction), maps


def wrong(maps: OperandMaps) -> Iterator[tuple[str, OperandMaps]]:
    """The maps with one thing changed each; some changes make no difference."""
    for n, m in enumerate(maps.maps):
        rest = (*maps.maps[:n], *maps.maps[n + 1 :])
        yield "without one", replace(maps, maps=rest)
        yield "one twice", replace(maps, maps=(*maps.maps, m))
        for what, changed in _changed(m):
            yield what, replace(maps, maps=(*maps.maps[:n], changed, *maps.maps[n + 1 :]))


def _changed(m: IndexingMap) -> Iterator[tuple[str, IndexingMap]]:
    for k, e in enumerate(m.results):
        yield "shifted", replace(m, results=(*m.results[:k], e + 1, *m.results[k + 1 :]))
        yield "one place", replace(m, results=(*m.results[:k], Const(0), *m.results[k + 1 :]))
    for k in range(len(m.constraints)):
        yield "unconstrained", replace(m, constraints=(*m.constraints[:k], *m.constraints[k + 1 :]))
    for k, v in enumerate(m.ranges):
        if v.interval.lower < v.interval.upper:
            narrow = Variable(Interval(v.interval.lower, v.interval.upper - 1))
            yield "narrower", replace(m, ranges=(*m.ranges[:k], narrow, *m.ranges[k + 1 :]))
    for k, r in enumerate(m.runtime):
        loose = replace(r, interval=Interval(r.interval.lower, r.interval.upper + 1))
        yield "clamped elsewhere", replace(m, runtime=(*m.runtime[:k], loose, *m.runtime[k + 1 :]))
        if r.index is not None and r.index.results:
            other = replace(r, index=replace(r.index, results=(r.index.results[0] * 0 + 1, *r.index.results[1:])))
            yield "another element", replace(m, runtime=(*m.runtime[:k], other, *m.runtime[k + 1 :]))


def verdict(obligations: list[Obligation]) -> str:
    said = {o.verdict for o in prove(obligations, How(where="here"))}
    return next((v for v in ("internal", "refuted", "unknown") if v in said), "proved")


def _stricter(one: str, two: str, what: str) -> bool:
    """The first wants a runtime variable clamped as the operation clamps it, even where it makes no difference."""
    return (one, two, what) == ("refuted", "proved", "clamped elsewhere")


@pytest.mark.parametrize("name", OPERATIONS)
def test_both_statements_of_a_definition_say_the_same(name: str) -> None:
    op = operation(OPERATIONS[name])
    refuted = 0
    for about, right in subjects(op):
        definition = define(op, 0, about.operand, ())
        for what, maps in [("right", right), *wrong(right)]:
            one = verdict([p.obligation for p in definition_parts(about, maps, definition)])
            two = verdict(plain_definition(about, maps, definition))
            assert one == two or _stricter(one, two, what), (name, about.direction, about.operand, what)
            assert what != "right" or one == "proved"
            refuted += one == "refuted"
    assert refuted >= 3


@pytest.mark.parametrize("name", OPERATIONS)
def test_both_statements_of_a_converse_say_the_same(name: str) -> None:
    op = operation(OPERATIONS[name])
    found = {(about.operand, about.direction): (about, maps) for about, maps in subjects(op)}
    for (operand, direction), (about, forth) in found.items():
        if direction != "output-to-input" or (operand, "input-to-output") not in found:
            continue
        back = found[operand, "input-to-output"][1]
        definition = define(op, 0, operand, ())
        for what, maps in [("right", back), *wrong(back)]:
            one = verdict([p.obligation for p in converse_parts(about, forth, maps, definition)])
            two = verdict(plain_converse(about, forth, maps, definition))
            assert one == two or _stricter(one, two, what), (name, operand, what)
            assert what != "right" or one == "proved"


def definitions(module: str, cross: bool = False) -> list[Found]:
    options = Options(selection=Selection(only=("definition",)), cross=cross)
    (file,) = check_hlo(module, options).files
    return [c for m in file.modules for i in m.instructions for c in i.claims()]


def test_a_first_statement_that_says_too_little_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A builder that is wrong, and a statement that leaves out what would show it: proved without cross-checking, an
    error of this tool with it."""
    from hloproof.models.indexing import output_to_input as right

    module = f"HloModule m\nENTRY e {{\n {OPERATIONS['slice']}\n}}\n"

    def shifted(op: Operation, output: int) -> tuple[OperandMaps, ...]:
        return tuple(
            replace(s, maps=tuple(replace(m, results=tuple(e + 1 for e in m.results)) for m in s.maps))
            for s in right(op, output)
        )

    monkeypatch.setattr("hloproof.claims.operations.owed._KNOWN", {})
    monkeypatch.setattr("hloproof.models.indexing.output_to_input", shifted)
    assert "refuted" in {c.verdict.value for c in definitions(module)}
    monkeypatch.setattr(first, "_inside", lambda *a: [])
    monkeypatch.setattr(first, "_covered", lambda *a: [])
    monkeypatch.setattr("hloproof.claims.operations.owed._KNOWN", {})
    assert {c.verdict.value for c in definitions(module)} == {"proved"}
    (found,) = (c for c in definitions(module, cross=True) if c.verdict.value != "proved")
    assert found.verdict.value == "internal"
    assert "refuted in another" in str(found.reason)


REDUCED = "p = f32[2] parameter(0)\n ROOT r = f32[2] all-reduce(p), replica_groups={{0,1}}, to_apply=sum"


def sent(position: str, upper: int = 1, lower: int = 0) -> IndexingMap:
    """Element d0 of the devices at these positions."""
    domain = f"domain: d0 in [0, 1], s0 in [{lower}, {upper}]"
    return parse_map(f"(d0)[s0] -> (d0), {domain}\nreplica id:\n(d0)[s0] -> ({position}), {domain}")


@pytest.mark.parametrize(
    ("maps", "what"),
    [
        ((sent("s0"),), "proved"),
        ((sent("s0", 2),), "refuted"),
        ((sent("s0", 1, -1),), "refuted"),
        # Two maps share a pair where they read one element of one device.
        ((sent("s0", 0), sent("s0 + 1", 0)), "proved"),
        ((sent("s0", 0), sent("s0")), "refuted"),
        ((sent("s0 * 0"), sent("s0 + 1", 0)), "refuted"),
    ],
)
def test_positions_count_in_both_statements(maps: tuple[IndexingMap, ...], what: str) -> None:
    """The definition alone says so of what all devices send, whatever else is claimed of the maps."""
    op = operation(REDUCED)
    about, _ = next(subjects(op))
    definition, all_of_them = define(op, 0, 0, ()), OperandMaps(0, "reads", maps)
    assert verdict([p.obligation for p in definition_parts(about, all_of_them, definition)]) == what
    assert verdict(plain_definition(about, all_of_them, definition)) == what


def test_a_position_that_nothing_ties_to_one_value_is_not_followed() -> None:
    """Range variables choose the element that says which device is read: it is not the same at all of them."""
    op = operation(REDUCED)
    about, _ = next(subjects(op))
    domain = "domain: d0 in [0, 1], s0 in [0, 1], rt0 in [0, 1]"
    text = (
        f"(d0)[s0]{{rt0}} -> (d0), {domain}\nruntime variables:\nrt0: operand(0); (d0)[s0] -> (s0), "
        f"domain: d0 in [0, 1], s0 in [0, 1]\nreplica id:\n(d0)[s0]{{rt0}} -> (rt0), {domain}"
    )
    with pytest.raises(NotModelled, match="which elements are read"):
        definition_parts(about, OperandMaps(0, "reads", (parse_map(text),)), define(op, 0, 0, ()))


@pytest.mark.parametrize(("by_map", "meant"), list(product(range(4), repeat=2)))
def test_a_counterexample_of_how_often_is_one_where_the_numbers_differ(by_map: int, meant: int) -> None:
    """Whichever of the two reads the element more often."""
    m = parse_map(f"(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 3], s0 + d0 in [0, {by_map - 1 + 2}]")
    piece = piece_of(m, 0, "output-to-input", ())
    read = Definition("reads", (4,), (4,), eq(Var("d0"), Var("x0")), (("w0", Interval(1, meant)),))
    assert first._counted(piece, read, {"d0": 2, "s0": 0}) is (by_map != meant)
    assert first._counted(piece, read, {"d0": 2, "x0": 2}) is (by_map != meant)


STARTED = (
    "p = f32[1000] parameter(0)\n i = u8[] parameter(1)\n ROOT r = f32[4] dynamic-slice(p, i), dynamic_slice_sizes={4}"
)
FROM_BYTE = (
    "(d0){{rt0}} -> (d0 + {}), domain: d0 in [0, 3], rt0 in [0, {}]\n"
    "runtime variables:\nrt0: operand(1); (d0) -> (), domain: d0 in [0, 3]"
)


@pytest.mark.parametrize(
    ("start", "upper", "what"),
    [
        ("rt0", 996, "proved"),
        ("min(rt0, 255)", 996, "proved"),  # no byte holds more
        ("min(rt0, 254)", 996, "refuted"),
        ("rt0", 254, "refuted"),
    ],
)
def test_a_matched_value_lies_in_both_intervals(start: str, upper: int, what: str) -> None:
    op = operation(STARTED)
    about, _ = next(subjects(op))
    maps = OperandMaps(0, "moves", (parse_map(FROM_BYTE.format(start, upper)),))
    assert verdict([p.obligation for p in definition_parts(about, maps, define(op, 0, 0, ()))]) == what


READS = "(d0)[s0]{{rt0}} -> (rt0), domain: d0 in [0, 3], s0 in [0, {}], rt0 in [0, 9]\nruntime variables:\n"
READS += "rt0: p; (d0)[s0] -> ({}), domain: d0 in [0, 3], s0 in [0, {}]"


@pytest.mark.parametrize(("index", "what"), [("d0 + 0", "proved"), ("s0", None), ("d0 + s0 - s0", None)])
def test_what_range_variables_choose_is_not_one_value(index: str, what: str | None) -> None:
    """One map reads all elements and the other the first alone: as one value each would lie in the other."""
    wide, narrow = (parse_map(READS.format(upper, index, upper)) for upper in (3, 0))
    for one, two in ((wide, narrow), (narrow, wide)):
        stated = plain_inclusion(one, [two])
        assert (None if stated is None else verdict([stated])) == what


def test_what_is_read_by_way_of_another_value_or_device_is_not_stated_twice() -> None:
    (plain,) = (parse_map(READS.format(0, "d0", 0)).runtime,)
    by_way = parse_map("(d0)[s0]{rt0} -> (rt0), domain: d0 in [0, 3], s0 in [0, 0], rt0 in [0, 3]")
    for index in (replace(by_way, runtime=plain), replace(by_way, runtime=(), results=(), replica=by_way)):
        m = replace(by_way, runtime=(replace(plain[0], index=index),))
        assert plain_inclusion(m, [m]) is None
