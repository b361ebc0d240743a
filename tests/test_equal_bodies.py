"""Instructions whose bodies are equal but for names owe the same and are stated once; those that differ in anything
that the maps depend on are not taken for equal."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace

import pytest

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.alike import AlikeComputations
from hloproof.models.hlo.attributes import Attributes, ComputationRef
from hloproof.models.hlo.module import Computation, Instruction, Module, Operation
from hloproof.models.hlo.parser import parse_module
from hloproof.models.indexing.composition.module_maps import composer_of, instruction_maps
from hloproof.models.maps.indexing_map import Direction, IndexingMap
from hloproof.pipeline.driver import check_hlo
from hloproof.pipeline.equal_bodies import body_key
from hloproof.pipeline.instruction_claims import InstructionClaims
from hloproof.pipeline.options import Options
from hloproof.pipeline.prover import Owed
from hloproof.results.verdict import Exit, Verdict


def _equal_keys(text: str) -> bool:
    """Whether the instructions x and y of the entry have one key; then their maps are the same but for names."""
    module = parse_module(text)
    by_name, composer_ = module.entry.by_name, composer_of(module)
    x, y = (body_key(composer_, module.entry, by_name[n], Operation.of(by_name[n], module.entry)) for n in "xy")
    equal = x is not None and x == y
    assert not equal or _all_maps(module, by_name["x"]) == _all_maps(module, by_name["y"])
    return equal


def _all_maps(module: Module, instruction: Instruction) -> list[Hashable]:
    """The maps of an instruction, providers numbered as they come; made by a composer that takes nothing for alike."""
    composer_, numbers = composer_of(module), dict[str | None, int]()
    composer_.alike._found = {c.name: None for c in module.computations}

    def unnamed(m: IndexingMap) -> IndexingMap:
        runtime = tuple(
            replace(
                v,
                provider=str(numbers.setdefault(v.provider, len(numbers))),
                index=None if v.index is None else unnamed(v.index),
            )
            for v in m.runtime
        )
        return replace(m, runtime=runtime)

    asked: list[tuple[Direction, int]] = [("output-to-input", 0)]
    asked += [("input-to-output", n) for n in range(len(instruction.operands))]
    return [
        (s.operand, s.kind, s.position, s.unknown, tuple(map(unnamed, s.maps)))
        for direction, number in asked
        for s in instruction_maps(composer_, module.entry, instruction, direction, number)
    ]


def test_bodies_of_two_modules_are_not_taken_for_one() -> None:
    """The second body is not modelled, whatever stands in the module before: what it owes is unknown."""

    def module(name: str, root: str) -> str:
        given = "  p = f32[<=4] parameter(0)\n"
        body = f"f {{\n{given}  ROOT r = f32[<=4] {root}\n}}\n"
        twice = "".join(f"  {k} = f32[<=4] fusion(p), kind=kLoop, calls=f\n" for k in ("k", "ROOT l"))
        return f"HloModule {name}\n{body}ENTRY e {{\n{given}{twice}}}\n"

    text = module("one", "negate(p)") + "// -----\n" + module("two", "reverse(p), dimensions={0}")
    modules = check_hlo(text, Options(jobs=1)).files[0].modules
    for name in ("k", "l"):
        told = [{r.claim: r.verdict for r in m.records("x.hlo") if r.instruction == name} for m in modules]
        assert set(told[0].values()) == {Verdict.PROVED}
        assert set(told[1].values()) == {Verdict.UNKNOWN}


def test_what_could_not_be_stated_is_not_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """A claim that came too late to be stated was owed by none of the instructions with equal bodies but the first."""

    def late(*_: object) -> Iterator[Owed]:
        yield from ()
        raise NotModelled("too late")

    monkeypatch.setattr(InstructionClaims, "_owed_composed", late)
    body = "f {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] negate(p)\n}\n"
    twice = "".join(f"  {k} = f32[4] fusion(p), kind=kLoop, calls=f\n" for k in ("k", "l", "ROOT m"))
    text = f"HloModule m\n{body}ENTRY e {{\n  p = f32[4] parameter(0)\n{twice}}}\n"
    found = {r.instruction: r.verdict for r in check_hlo(text, Options(jobs=1)).records()}
    assert [found[name] for name in ("k", "l", "m")] == [Verdict.UNKNOWN] * 3


STARTS = "  p = f32[8,4] parameter(0)\n  i = s32[] parameter(1)\n  j = s32[] parameter(2)\n  c = s32[] constant(3)\n"
ALIKE = [
    ("f(p, i, j)", "f(p, j, i)", True, "operands are named by where they stand"),
    ("f(p, i, j)", "f(p, i, i)", False, "the same value at two places"),
    ("f(p, i, c)", "f(p, i, j)", False, "a start that is known"),
    ("f(p, i, c)", "f(p, j, c)", True, "the same constant"),
    ("f(p, i, j)", "g(p, i, j)", True, "a body with other names, and another float"),
    ("f(p, i, j)", "h(p, i, j)", False, "another integer in the body"),
]


@pytest.mark.parametrize("one, other, equal, why", ALIKE, ids=[row[3] for row in ALIKE])
def test_what_is_read_at_run_time_is_part_of_equal_bodies(one: str, other: str, equal: bool, why: str) -> None:
    def body(n: str, factor: str, start: int) -> str:
        return (
            f"{n} {{\n  {n}p = f32[8,4] parameter(0)\n  {n}i = s32[] parameter(1)\n  {n}j = s32[] parameter(2)\n"
            f"  {n}k = s32[] constant({start})\n  {n}s = f32[2,2] dynamic-slice({n}p, {n}i, {n}j), "
            f"dynamic_slice_sizes={{2,2}}\n  {n}t = f32[1,1] dynamic-slice({n}s, {n}k, {n}i), "
            f"dynamic_slice_sizes={{1,1}}\n  {n}c = f32[] constant({factor})\n"
            f"  {n}b = f32[1,1] broadcast({n}c), dimensions={{}}\n  ROOT {n}r = f32[1,1] multiply({n}t, {n}b)\n}}\n"
        )

    def call(name: str, text: str) -> str:
        return f"  {name} = f32[1,1] fusion{text[1:]}, kind=kLoop, calls={text[0]}\n"

    bodies = body("f", "1.5", 0) + body("g", "2.5", 0) + body("h", "1.5", 1)
    both = call("x", one) + call("y", other)
    text = f"HloModule m\n{bodies}ENTRY e {{\n{STARTS}{both}  ROOT a = f32[1,1] add(x, y)\n}}\n"
    assert _equal_keys(text) is equal
    shared = {r.instruction.name: r.shared for r in check_hlo(text, Options(jobs=1)).files[0].modules[0].instructions}
    # What the first one simplified is owed by it alone.
    claims = [{c.claim: c.verdict for c in shared[n].claims if c.claim != "simplify"} for n in "xy"]
    assert claims[0] == claims[1] or not equal
    assert {str(verdict) for found in claims for verdict in found.values()} == {"proved"}


LOOPS = [(8, 8, "multiply", True), (8, 7, "multiply", False), (8, 8, "add", False)]


@pytest.mark.parametrize("trips, others, opcode, equal", LOOPS)
def test_loops_with_equal_turns_and_bodies_are_equal(trips: int, others: int, opcode: str, equal: bool) -> None:
    state = "(s32[], f32[8,4])"

    def loop(n: str, count: int, opcode: str, factor: str) -> str:
        return (
            f"b{n} {{\n  p = {state} parameter(0)\n  c = s32[] get-tuple-element(p), index=0\n"
            f"  x = f32[8,4] get-tuple-element(p), index=1\n  one = s32[] constant(1)\n  k = f32[] constant({factor})\n"
            f"  z = s32[] constant(0)\n  s = f32[1,4] dynamic-slice(x, c, z), dynamic_slice_sizes={{1,4}}\n"
            f"  b = f32[1,4] broadcast(k), dimensions={{}}\n  m = f32[1,4] {opcode}(s, b)\n"
            f"  u = f32[8,4] dynamic-update-slice(x, m, z, z)\n  next = s32[] add(c, one)\n"
            f"  ROOT r = {state} tuple(next, u)\n}}\n"
            f"c{n} {{\n  p = {state} parameter(0)\n  c = s32[] get-tuple-element(p), index=0\n"
            f"  k = s32[] constant({count})\n  ROOT r = pred[] compare(c, k), direction=LT\n}}\n"
        )

    text = (
        f"HloModule m\n{loop('x', trips, 'multiply', '1')}{loop('y', others, opcode, '2')}ENTRY e {{\n"
        f"  p = f32[8,4] parameter(0)\n  z = s32[] constant(0)\n  t = {state} tuple(z, p)\n"
        f"  x = {state} while(t), condition=cx, body=bx\n  q = f32[8,4] get-tuple-element(x), index=1\n"
        f"  t2 = {state} tuple(z, q)\n  ROOT y = {state} while(t2), condition=cy, body=by\n}}\n"
    )
    assert _equal_keys(text) is equal
    assert check_hlo(text, Options(jobs=1)).exit_status() is Exit.OK


@pytest.mark.parametrize("there, equal", [("i", True), ("j", False), ("k", False)])
def test_loops_are_equal_where_they_are_given_the_same_places(there: str, equal: bool) -> None:
    """What no turn changes is known from what stands before the loop: the same constant, another one, or none."""
    state = "(s32[], f32[8,4], s32[1])"

    def loop(n: str) -> str:
        return (
            f"b{n} {{\n  p = {state} parameter(0)\n  c = s32[] get-tuple-element(p), index=0\n"
            f"  x = f32[8,4] get-tuple-element(p), index=1\n  at = s32[1] get-tuple-element(p), index=2\n"
            f"  one = s32[] constant(1)\n  z = s32[] constant(0)\n"
            f"  g = f32[1,4] gather(x, at), offset_dims={{0,1}}, collapsed_slice_dims={{}}, start_index_map={{0}}, "
            f"index_vector_dim=0, slice_sizes={{1,4}}\n"
            f"  u = f32[8,4] dynamic-update-slice(x, g, c, z)\n  next = s32[] add(c, one)\n"
            f"  ROOT r = {state} tuple(next, u, at)\n}}\n"
            f"c{n} {{\n  p = {state} parameter(0)\n  c = s32[] get-tuple-element(p), index=0\n"
            f"  k = s32[] constant(3)\n  ROOT r = pred[] compare(c, k), direction=LT\n}}\n"
        )

    text = (
        f"HloModule m\n{loop('x')}{loop('y')}ENTRY e {{\n  p = f32[8,4] parameter(0)\n  k = s32[1] parameter(1)\n"
        f"  i = s32[1] constant({{2}})\n  j = s32[1] constant({{5}})\n  z = s32[] constant(0)\n"
        f"  t = {state} tuple(z, p, i)\n  x = {state} while(t), condition=cx, body=bx\n"
        f"  q = f32[8,4] get-tuple-element(x), index=1\n  t2 = {state} tuple(z, q, {there})\n"
        f"  ROOT y = {state} while(t2), condition=cy, body=by\n}}\n"
    )
    assert _equal_keys(text) is equal


PAIR = "p = f32[2,2] parameter(0); q = f32[2,2] parameter(1); "
TURNED, SWAPPED = (f"ROOT r = f32[2,2] transpose(p), dimensions={{{order}}}" for order in ("1,0", "0,1"))
INNER = {
    "t": "p = f32[2,2] parameter(0); " + TURNED,
    "u": "p = f32[2,2] parameter(0); " + SWAPPED,
    "v": "z = f32[2,2] parameter(0); " + TURNED.replace("(p)", "(z)"),
}
CALLED = "ROOT r = f32[2,2] fusion(p), kind=kLoop, calls={}"
MADE = "c = {0}[] constant({1}); k = f32[] convert(c); ROOT r = f32[2,2] broadcast(k), dimensions={{}}"
BODIES = [
    (PAIR + TURNED, PAIR + SWAPPED, False, "an attribute"),
    (PAIR + TURNED, PAIR + TURNED + ", sharding={replicated}", True, "an attribute that moves nothing"),
    (PAIR + "ROOT r = f32[2,2] abs(p)", PAIR + "ROOT r = f32[2,2] negate(p)", False, "an opcode"),
    (PAIR + "ROOT r = f32[2,2] subtract(p, q)", PAIR + "ROOT r = f32[2,2] subtract(q, p)", False, "operands in turn"),
    (PAIR + "ROOT r = f32[2,2] subtract(p, q)", PAIR + "ROOT r = f32[2,2] subtract(p, p)", False, "an operand twice"),
    (
        PAIR + "a = f32[2,2] abs(p); ROOT r = f32[2,2] abs(q)",
        PAIR + "ROOT a = f32[2,2] abs(p); r = f32[2,2] abs(q)",
        False,
        "a root",
    ),
    (
        PAIR + "ROOT r = f32[2,2] abs(p)",
        PAIR.replace("(1)", "(x)").replace("(0)", "(1)").replace("(x)", "(0)") + "ROOT r = f32[2,2] abs(p)",
        False,
        "numbers of parameters",
    ),
    (PAIR + "ROOT r = f32[2,2] copy(p)", PAIR + "ROOT r = f32[2,2]{0,1} copy(p)", False, "a layout"),
    (PAIR + "ROOT r = f32[4] reshape(p)", PAIR + "ROOT r = f32[1,4] reshape(p)", False, "a shape"),
    (PAIR + CALLED.format("t"), PAIR + CALLED.format("u"), False, "what is called inside"),
    (PAIR + CALLED.format("t"), PAIR + CALLED.format("v"), True, "names inside of what is called"),
    (PAIR + MADE.format("f32", 1), PAIR + MADE.format("f32", 2), True, "a float"),
    (PAIR + MADE.format("s32", 1), PAIR + MADE.format("s32", 2), False, "an integer"),
    (PAIR + MADE.format("pred", "true"), PAIR + MADE.format("pred", "false"), False, "a truth value"),
]


@pytest.mark.parametrize("one, other, equal, why", BODIES, ids=[row[3] for row in BODIES])
def test_bodies_that_differ_in_anything_that_places_elements_are_not_alike(
    one: str, other: str, equal: bool, why: str
) -> None:
    def written(name: str, body: str) -> str:
        return f"{name} {{\n" + "".join(f"  {line}\n" for line in body.split("; ")) + "}\n"

    bodies = "".join(written(*given) for given in (*INNER.items(), ("x", one), ("y", other)))
    module = parse_module(f"HloModule m\n{bodies}ENTRY e {{\n  ROOT p = f32[] parameter(0)\n}}\n")
    alike = AlikeComputations(module)
    x, y = (alike.of(module.by_name[name]) for name in "xy")
    assert x is not None and (x == y) is equal


SIZED = [
    ("reverse(p), dimensions={0}", True, "what moves as the sizes say, whichever they are"),
    ("dynamic-slice(p, c), dynamic_slice_sizes={8}", False, "what is read at run time beside sizes that are"),
]


@pytest.mark.parametrize("root, equal, why", SIZED, ids=[row[2] for row in SIZED])
def test_sizes_that_are_known_at_run_time_are_told_apart_by_their_arrays_alone(
    root: str, equal: bool, why: str
) -> None:
    array = "f32[<=8]"
    text = (
        f"HloModule m\nf {{\n  p = {array} parameter(0)\n  c = s32[] constant(1)\n  ROOT r = {array} {root}\n}}\n"
        f"ENTRY e {{\n  p = f32[8] parameter(0)\n  four = s32[] constant(4)\n  six = s32[] constant(6)\n"
        f"  a = {array} set-dimension-size(p, four), dimensions={{0}}\n"
        f"  b = {array} set-dimension-size(p, six), dimensions={{0}}\n"
        f"  x = {array} fusion(a), kind=kLoop, calls=f\n  ROOT y = {array} fusion(b), kind=kLoop, calls=f\n}}\n"
    )
    assert _equal_keys(text) is equal


LAID_OUT = [("{1,0}", "{1,0}", True), ("{1,0}", "{0,1}", False), ("{0,1}", "{1,0}", False)]


@pytest.mark.parametrize("given, made, equal", LAID_OUT)
def test_layouts_written_at_a_call_are_part_of_equal_bodies(given: str, made: str, equal: bool) -> None:
    body = "f {\n  p = f32[2,2] parameter(0)\n  ROOT r = f32[2,2] negate(p)\n}\n"
    text = (
        f"HloModule m\n{body}ENTRY e {{\n  p = f32[2,2]{{1,0}} parameter(0)\n  q = f32[2,2]{given} parameter(1)\n"
        f"  x = f32[2,2]{{1,0}} fusion(p), kind=kLoop, calls=f\n"
        f"  ROOT y = f32[2,2]{made} fusion(q), kind=kLoop, calls=f\n}}\n"
    )
    assert _equal_keys(text) is equal


def test_bodies_that_decide_by_what_is_computed_outside_are_not_equal() -> None:
    """The branch that is taken inside follows from a sum outside, which no one looks at beforehand."""

    def bodies(n: str) -> str:
        return "".join(
            f"{name} {{\n  {name}p = f32[4,4] parameter(0)\n  ROOT {name}r = f32[4,4] {root.format(name)}\n}}\n"
            for name, root in (
                (f"s{n}", "transpose({}p), dimensions={{1,0}}"),
                (f"t{n}", "reverse({}p), dimensions={{0}}"),
            )
        ) + (
            f"f{n} {{\n  p{n} = f32[4,4] parameter(0)\n  i{n} = s32[] parameter(1)\n"
            f"  ROOT r{n} = f32[4,4] conditional(i{n}, p{n}, p{n}), branch_computations={{s{n}, t{n}}}\n}}\n"
        )

    text = (
        f"HloModule m\n{bodies('x')}{bodies('y')}ENTRY e {{\n  p = f32[4,4] parameter(0)\n  z = s32[] constant(0)\n"
        f"  o = s32[] constant(1)\n  a = s32[] add(z, z)\n  b = s32[] add(z, o)\n"
        f"  x = f32[4,4] call(p, a), to_apply=fx\n  ROOT y = f32[4,4] call(x, b), to_apply=fy\n}}\n"
    )
    assert _equal_keys(text) is False
    assert check_hlo(text, Options(jobs=1)).exit_status() is Exit.OK


HANDED_ON = [
    ("i, j", "j, i", True, "values that are named by where they stand"),
    ("i, j", "i, i", False, "the same value at two places"),
    ("v, j", "w, j", False, "constants that are no counters"),
    ("v, j", "i, j", False, "a constant and a value that is not known"),
    ("v, j", "v, i", True, "the same constant"),
]


@pytest.mark.parametrize("one, other, equal, why", HANDED_ON, ids=[row[3] for row in HANDED_ON])
def test_what_loops_hand_on_is_part_of_equal_bodies(one: str, other: str, equal: bool, why: str) -> None:
    """Two vectors that no turn changes place what each turn looks up."""
    state = "(s32[], f32[8,4], s32[2], s32[2])"
    parts = "".join(
        f"  g{n} = {shape} get-tuple-element(p), index={n}\n" for n, shape in enumerate(state[1:-1].split(", "))
    )
    looked = "".join(
        f"  l{n} = f32[1,1] gather(g1, g{n}), offset_dims={{0,1}}, collapsed_slice_dims={{}}, start_index_map={{0,1}}, "
        f"index_vector_dim=0, slice_sizes={{1,1}}\n"
        for n in (2, 3)
    )
    text = (
        f"HloModule m\nb {{\n  p = {state} parameter(0)\n{parts}  one = s32[] constant(1)\n{looked}"
        f"  a = f32[1,1] add(l2, l3)\n  z = s32[] constant(0)\n  u = f32[8,4] dynamic-update-slice(g1, a, z, z)\n"
        f"  next = s32[] add(g0, one)\n  ROOT r = {state} tuple(next, u, g2, g3)\n}}\n"
        f"c {{\n  p = {state} parameter(0)\n  n = s32[] get-tuple-element(p), index=0\n"
        f"  k = s32[] constant(2)\n  ROOT r = pred[] compare(n, k), direction=LT\n}}\n"
        f"ENTRY e {{\n  p = f32[8,4] parameter(0)\n  i = s32[2] parameter(1)\n  j = s32[2] parameter(2)\n"
        f"  v = s32[2] constant({{1, 2}})\n  w = s32[2] constant({{3, 0}})\n  z = s32[] constant(0)\n"
        f"  s = {state} tuple(z, p, {one})\n  x = {state} while(s), condition=c, body=b\n"
        f"  t = {state} tuple(z, p, {other})\n  ROOT y = {state} while(t), condition=c, body=b\n}}\n"
    )
    assert _equal_keys(text) is equal
    assert check_hlo(text, Options(jobs=1)).exit_status() is Exit.OK


@pytest.mark.parametrize("selected, equal", [("i", True), ("c", False)])
def test_conditionals_are_equal_where_the_same_branch_is_taken(selected: str, equal: bool) -> None:
    branch = "b{0} {{\n  p = f32[4,4] parameter(0)\n  ROOT r{0} = f32[4,4] {1}(p), dimensions={{{2}}}\n}}\n"
    bodies = "".join(branch.format(n, *way) for n, way in enumerate([("transpose", "1,0"), ("reverse", "0")] * 2))
    text = (
        f"HloModule m\n{bodies}ENTRY e {{\n  i = s32[] parameter(0)\n  c = s32[] constant(1)\n"
        f"  p = f32[4,4] parameter(1)\n  x = f32[4,4] conditional(i, p, p), branch_computations={{b0, b1}}\n"
        f"  ROOT y = f32[4,4] conditional({selected}, x, x), branch_computations={{b2, b3}}\n}}\n"
    )
    assert _equal_keys(text) is equal


def test_computations_that_call_each_other_in_a_circle_are_alike_to_none() -> None:
    text = "a {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] call(p), to_apply=b\n}\n"
    called = "b {\n  ROOT p = f32[4] parameter(0)\n}\n"
    module = parse_module(f"HloModule m\n{called}{text}{text.replace('a {', 'ENTRY e {')}")
    a = module.by_name["a"]
    circle = replace(module, computations=(a, replace(a, name="b", instructions=_calling(a, "a"))))
    assert AlikeComputations(circle).of(a) is None
    assert AlikeComputations(module).of(a) is not None


def _calling(computation: Computation, name: str) -> tuple[Instruction, ...]:
    called = Attributes((("to_apply", ComputationRef(name)),))
    return tuple(replace(i, attributes=called) if i.opcode == "call" else i for i in computation.instructions)


SLICED = "dynamic-slice(p, {}), dynamic_slice_sizes={{1,1,1}}"
THREE = "p = f32[4,4,4] parameter(0); a = s32[] parameter(1); b = s32[] parameter(2); c = s32[] parameter(3)"
GIVEN = (
    "q = f32[4,4,4] parameter(0); i = s32[] parameter(1); j = s32[] parameter(2); h = pred[] parameter(3); "
    "z = s32[] constant(0); o = s32[] constant(1); e = s32[2,2] iota(), iota_dimension=0; "
    "g = s32[2,2] iota(), iota_dimension=1; u = s32[2,2] parameter(4)"
)
FUNCTIONS = {
    "starts": f"{THREE}; ROOT r = f32[1,1,1] {SLICED.format('a, b, c')}",
    "table": (
        "p = f32[4,4,4] parameter(0); t = s32[2,2] parameter(1); s = s32[1,1] slice(t), slice={[0:1], [1:2]}; "
        f"k = s32[] reshape(s); z = s32[] constant(0); ROOT r = f32[1,1,1] {SLICED.format('k, z, z')}"
    ),
    "state": (
        "t = (f32[4,4,4], s32[], s32[], s32[]) parameter(0); p = f32[4,4,4] get-tuple-element(t), index=0; "
        "a = s32[] get-tuple-element(t), index=1; b = s32[] get-tuple-element(t), index=2; "
        f"c = s32[] get-tuple-element(t), index=3; ROOT r = f32[1,1,1] {SLICED.format('a, b, c')}"
    ),
    "turned": "p = f32[4,4,4] parameter(0); ROOT r = f32[4,4,4] transpose(p), dimensions={1,0,2}",
    "mirrored": "p = f32[4,4,4] parameter(0); ROOT r = f32[4,4,4] reverse(p), dimensions={0}",
    "placed": (
        "t = (f32[4,4,4], s32[]) parameter(0); p = f32[4,4,4] get-tuple-element(t), index=0; "
        f"k = s32[] get-tuple-element(t), index=1; ROOT r = f32[1,1,1] {SLICED.format('k, k, k')}"
    ),
    "first": "p = f32[4,4,4] parameter(0); ROOT r = f32[1,1,1] slice(p), slice={[0:1], [0:1], [0:1]}",
    "body": (
        "t = (s32[], f32[4,4,4]) parameter(0); k = s32[] get-tuple-element(t), index=0; "
        "p = f32[4,4,4] get-tuple-element(t), index=1; z = s32[] constant(0); n = s32[] constant(2); "
        "s = f32[1,4,4] dynamic-slice(p, k, z, z), dynamic_slice_sizes={1,4,4}; "
        "w = f32[4,4,4] dynamic-update-slice(p, s, z, z, z); l = s32[] add(k, n); "
        "ROOT r = (s32[], f32[4,4,4]) tuple(l, w)"
    ),
    "below": (
        "t = (s32[], f32[4,4,4]) parameter(0); k = s32[] get-tuple-element(t), index=0; n = s32[] constant(4); "
        "ROOT r = pred[] compare(k, n), direction=LT"
    ),
}
FUSED = "{} fusion({}), kind=kLoop, calls={}"
ONE = "f32[1,1,1]"
CHOSEN = "f32[4,4,4] conditional(h, q, q), {}"
BRANCH = f"{ONE} conditional(i, {{}}, q), branch_computations={{{{placed, first}}}}"
LOOPED = "(s32[], f32[4,4,4]) while({}), condition=below, body=body"
PAIRS = [
    ("", FUSED.format(ONE, "q, i, i, j", "starts"), FUSED.format(ONE, "q, j, j, i", "starts"), True, "two starts"),
    ("", FUSED.format(ONE, "q, i, i, j", "starts"), FUSED.format(ONE, "q, i, j, j", "starts"), False, "which are one"),
    (
        "m = (f32[4,4,4], s32[], s32[], s32[]) tuple(q, i, i, j); "
        "n = (f32[4,4,4], s32[], s32[], s32[]) tuple(q, i, j, j)",
        FUSED.format(ONE, "m", "state"),
        FUSED.format(ONE, "n", "state"),
        False,
        "which are one in a tuple",
    ),
    ("", FUSED.format(ONE, "q, e", "table"), FUSED.format(ONE, "q, e", "table"), True, "a table that counts"),
    ("", FUSED.format(ONE, "q, e", "table"), FUSED.format(ONE, "q, g", "table"), False, "one counts along the other"),
    ("", FUSED.format(ONE, "q, e", "table"), FUSED.format(ONE, "q, u", "table"), False, "... and one that is unknown"),
    (
        "",
        CHOSEN.format("true_computation=turned, false_computation=mirrored"),
        CHOSEN.format("false_computation=turned, true_computation=mirrored"),
        False,
        "the same branches for the other truth value",
    ),
    (
        "",
        CHOSEN.format("true_computation=turned, false_computation=mirrored"),
        CHOSEN.format("true_computation=turned, false_computation=turned"),
        False,
        "another second branch",
    ),
    (
        "m = (f32[4,4,4], s32[]) tuple(q, z); n = (f32[4,4,4], s32[]) tuple(q, o)",
        BRANCH.format("m"),
        BRANCH.format("n"),
        False,
        "a branch that is placed before one that is not",
    ),
    (
        "k = s32[] add(z, z); l = s32[] add(z, o); m = (s32[], f32[4,4,4]) tuple(k, q); "
        "n = (s32[], f32[4,4,4]) tuple(l, q)",
        LOOPED.format("m"),
        LOOPED.format("n"),
        False,
        "as many turns from another start",
    ),
    (
        "k = s32[] add(z, z); l = s32[] add(z, z); m = (s32[], f32[4,4,4]) tuple(k, q); "
        "n = (s32[], f32[4,4,4]) tuple(l, q)",
        LOOPED.format("m"),
        LOOPED.format("n"),
        True,
        "turns that are computed to be the same",
    ),
    (
        "m = (s32[], f32[4,4,4]) tuple(i, q); n = (s32[], f32[4,4,4]) tuple(j, q)",
        LOOPED.format("m"),
        LOOPED.format("n"),
        False,
        "turns that nobody counts",
    ),
]


@pytest.mark.parametrize("before, one, other, equal, why", PAIRS, ids=[row[4] for row in PAIRS])
def test_the_same_body_with_another_thing_around_it_shares_nothing(
    before: str, one: str, other: str, equal: bool, why: str
) -> None:
    lines = [*GIVEN.split("; "), *(line for line in before.split("; ") if line), f"x = {one}", f"ROOT y = {other}"]
    functions = "".join(
        f"{name} {{\n" + "".join(f"  {line}\n" for line in body.split("; ")) + "}\n" for name, body in FUNCTIONS.items()
    )
    entry = "".join(f"  {line}\n" for line in lines)
    assert _equal_keys(f"HloModule m\n{functions}ENTRY main {{\n{entry}}}\n") is equal
