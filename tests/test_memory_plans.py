"""Memory plans: what is right is proved, and each kind of error is refuted by the claim that is about it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from memory_cases import CHAIN, CHAIN_PLAN, LOOP, LOOP_PLAN, changed, judged, refuted, roomy_plan

from hloproof.engines.door import How, prove_one
from hloproof.logic.formula import TRUE, disj, eq
from hloproof.logic.obligation import Obligation, Outcome
from hloproof.memory.interference import _Occupied
from hloproof.memory.judge import CLAIMS, judge
from hloproof.memory.runtime_values import fails_whatever_is_read
from hloproof.models.errors import InputError
from hloproof.models.expressions.expr import Var, maximum, minimum
from hloproof.models.hlo.parser import parse_module
from hloproof.models.memory.assignment import Key, parse_assignment
from hloproof.models.memory.values import HloValues
from hloproof.results.verdict import Verdict
from hloproof.server.answering import Answering, Asked

PLANS = Path(__file__).parents[1].parent / "shared" / "corpus" / "plans"
needs_plans = pytest.mark.skipif(not PLANS.is_dir(), reason="the corpus of plans is not beside the project")


@pytest.mark.parametrize(("hlo", "plan"), [(CHAIN, CHAIN_PLAN), (LOOP, LOOP_PLAN)])
def test_a_plan_that_is_right_is_proved(hlo: str, plan: str) -> None:
    records = judged(hlo, plan)
    assert {r.verdict for r in records} == {Verdict.PROVED}
    assert {r.claim for r in records} <= set(CLAIMS)


Y, OUT = " value: <4 y @0> (size=128,offset=128): f32[32]{0}\n", " value: <6 out @0> (size=128,offset=0): f32[32]{0}\n"
CONSTANT = " value: <2 one @0> (size=128,offset=0): f32[32]{0}\n"
SPOILED_CHAIN = [
    ("plan-complete", Y, ""),
    ("plan-complete", Y, Y.replace("y", "nobody")),
    ("plan-complete", Y, Y.replace("f32", "s32")),
    ("plan-complete", Y, Y + Y),
    ("plan-complete", "allocation 4: size 256, preallocated-temp", "allocation 4: size 256, thread-local"),
    ("plan-complete", "size 128, parameter 1, shape", "size 128, parameter 0, shape"),
    ("plan-size", Y, Y.replace("size=128", "size=124")),
    ("plan-size", "allocation 4: size 256", "allocation 4: size 255"),
    ("plan-size", "allocation 4: size 256", "allocation 4: size 256, color 5"),
    ("plan-size", Y, Y.replace("offset=128", "offset=124")),
    ("plan-size", Y, Y.replace("size=128", "size=127")),
    ("plan-complete", Y, Y.replace("{0}", "{0:T(8)}")),
    ("plan-interference", Y, Y.replace("offset=128", "offset=64")),
    ("plan-interference", "<5 z @0> (size=128,offset=0)", "<5 z @0> (size=128,offset=128)"),
    ("plan-constant", CONSTANT, CONSTANT + OUT.replace("out", "y").replace("<6", "<4")),
]
SPOILED_LOOP = [
    ("plan-alias", "allocation 5: size 4, maybe-live-out", "allocation 5: size 4, maybe-live-out, preallocated-temp"),
    ("plan-alias", "<16 c{0} (phi) @0> (size=4,offset=0)", "<16 c{0} (phi) @0> (size=4,offset=64)"),
    ("plan-alias", "allocation 5: size 4, maybe-live-out", "allocation 5: size 4, preallocated-temp"),
]
SPOILED_PLANS = [
    *((claim, CHAIN, CHAIN_PLAN, old, new) for claim, old, new in SPOILED_CHAIN),
    *((claim, LOOP, LOOP_PLAN, old, new) for claim, old, new in SPOILED_LOOP),
]


@pytest.mark.parametrize(("claim", "hlo", "plan", "old", "new"), SPOILED_PLANS)
def test_an_error_in_the_plan_is_refuted(claim: str, hlo: str, plan: str, old: str, new: str) -> None:
    if claim == "plan-constant":
        plan = changed(plan, Y, "")
    assert claim in refuted(hlo, changed(plan, old, new))


@pytest.mark.parametrize(
    ("name", "allocation"),
    [("one", "2: size 128, constant"), ("a", "0: size 128, parameter 0"), ("b", "1: size 128, p")],
)
def test_what_the_caller_puts_somewhere_begins_there(name: str, allocation: str) -> None:
    larger = changed(CHAIN_PLAN, f"allocation {allocation}", f"allocation {allocation}".replace("128", "256"))
    assert refuted(CHAIN, larger) == {}
    line = next(line for line in larger.splitlines() if f" {name} @0>" in line)
    moved = changed(larger, line, line.replace("offset=0", "offset=64"))
    assert refuted(CHAIN, moved) == {"plan-complete": [name]}


@pytest.mark.parametrize(("space", "claims"), [("", {}), (":S(5)", {"plan-size": ["y"]})])
def test_a_layout_names_the_memory_of_its_allocation(space: str, claims: dict[str, list[str]]) -> None:
    module = changed(CHAIN, "%y = f32[32]{0} subtract", f"%y = f32[32]{{0{space}}} subtract")
    plan = changed(CHAIN_PLAN, Y, Y.replace("f32[32]{0}", f"f32[32]{{0{space}}}"))
    assert refuted(module, plan) == claims


def test_who_is_met_in_an_allocation_is_found_in_any_order() -> None:
    random = Random(3)
    for _ in range(300):
        occupied, there = _Occupied(), list[tuple[int, int, Key]]()
        for n in range(random.randint(1, 12)):
            if there and random.random() < 0.3:
                occupied.remove(*there.pop(random.randrange(len(there))))
            else:
                begin = random.randint(0, 12)
                there.append((begin, begin + random.randint(1, 5), (f"v{n}", ())))
                occupied.add(*there[-1])
            for begin in range(18):
                for end in (begin + 1, begin + 4):
                    met = sorted(key for low, high, key in there if low < end and begin < high)
                    assert sorted(occupied.meeting(begin, end)) == met


@pytest.mark.parametrize(("offset", "claims"), [(192, {}), (160, {"plan-size": ["y"]})])
def test_half_of_the_alignment_is_none(offset: int, claims: dict[str, list[str]]) -> None:
    plan = changed(CHAIN_PLAN, "allocation 4: size 256", "allocation 4: size 512")
    assert refuted(CHAIN, changed(plan, "offset=128", f"offset={offset}")) == claims


def test_a_table_of_pointers_lies_in_the_memory_of_its_allocation() -> None:
    plan = changed(LOOP_PLAN, "allocation 4: size 16", "allocation 4: size 16, color 5")
    assert refuted(LOOP, plan).keys() == {"plan-size"}


def test_a_result_that_takes_a_parameters_place_lies_there() -> None:
    module = changed(CHAIN, "is_scheduled=true", "is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }")
    assert "plan-alias" in refuted(module, CHAIN_PLAN)


@pytest.mark.parametrize(("operands", "claims"), [("x, y", set()), ("x, x", {"plan-interference"})])
def test_an_all_reduce_in_flight_may_not_destroy_its_other_operand(operands: str, claims: set[str]) -> None:
    module = f"""HloModule m, is_scheduled=true

%add (p: f32[], q: f32[]) -> f32[] {{
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %r = f32[] add(%p, %q)
}}

ENTRY %main (a: f32[32]) -> (f32[32], f32[32]) {{
  %a = f32[32]{{0}} parameter(0)
  %x = f32[32]{{0}} negate(%a)
  %y = f32[32]{{0}} abs(%a)
  %s = (f32[32]{{0}}, f32[32]{{0}}) all-reduce-start({operands}), to_apply=%add
  ROOT %d = (f32[32]{{0}}, f32[32]{{0}}) all-reduce-done(%s)
}}
"""
    together = [("s{0}", "x"), ("s{1}", "y")]
    found = refuted(module, roomy_plan(module, tuple(together)))
    assert found.keys() & {"plan-interference", "plan-in-place"} >= claims and bool(claims) == bool(
        found.keys() & {"plan-interference", "plan-in-place"}
    )


def test_a_module_that_no_longer_donates_keeps_its_parameter() -> None:
    module = changed(LOOP, ", input_output_alias={ {1}: (0, {}, may-alias) }", "")
    assert refuted(module, LOOP_PLAN) == {"plan-constant": ["a"]}


def test_an_instruction_moved_up_destroys_what_is_still_read() -> None:
    z = "  %z = f32[32]{0} add(%x, %one)\n"
    module = changed(CHAIN, z, "").replace("  %y = ", z + "  %y = ")
    assert refuted(module, CHAIN_PLAN) == {"plan-interference": ["z"]}


def test_the_timeline_of_a_conflict_names_the_write_the_value_and_the_read() -> None:
    plan = changed(CHAIN_PLAN, "<4 y @0> (size=128,offset=128)", "<4 y @0> (size=128,offset=64)")
    told = next(r.counterexample for r in judged(CHAIN, plan) if r.claim == "plan-interference" and r.counterexample)
    assert "They share bytes 64 to 128 of allocation 4" in told
    for line in ("writes x", "writes y over it", "reads x"):
        assert line in told


def test_an_unscheduled_module_has_no_order_to_judge() -> None:
    records = judged(changed(CHAIN, ", is_scheduled=true", ""), CHAIN_PLAN)
    assert {r.verdict for r in records} == {Verdict.UNKNOWN}


@pytest.mark.parametrize(("result", "verdict"), [("f32[8]{0}", Verdict.PROVED), ("(f32[8]{0})", Verdict.UNKNOWN)])
def test_a_result_that_names_parts_its_operand_does_not_have_has_no_plan(result: str, verdict: Verdict) -> None:
    hlo = f"""HloModule m, is_scheduled=true

ENTRY %main (a: f32[8]) -> f32[8] {{
  %a = f32[8]{{0}} parameter(0)
  %s = ({result}, f32[8]{{0}}) all-gather-start(%a), dimensions={{0}}, replica_groups={{}}
  ROOT %z = f32[8]{{0}} all-gather-done(%s)
}}
"""
    plan = roomy_plan(hlo.replace(result + ", f32", "f32[8]{0}, f32"))
    assert {r.verdict for r in judged(hlo, plan)} == {verdict}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1:1: expected 'BufferAssignment:'"),
        ("BufferAssignment:\n value: <0 a @0> (size=4,offset=0): f32[]", "2:1: a value before any allocation"),
        ("BufferAssignment:\nallocation 0: size 4, purple:", "2:23: expected color N"),
        ("BufferAssignment:\nallocation 0: size 4:\n value: <0 a @0> (size=4,offset=0): f32[", "3:41: expected a dim"),
        ("BufferAssignment:\nallocation 0: size 4:\n something", "3:2: expected 'allocation N"),
        ("BufferAssignment:\nallocation 0: size 4:\nallocation 0: size 4:", "3:12: there is an allocation 0"),
        (
            "BufferAssignment:\nallocation 0: size 4, constant, constant:",
            "2:33: this is said of the allocation already",
        ),
        ("BufferAssignment:\nallocation 0: size 4, color 1, color 0:", "2:32: this is said of the allocation already"),
        (f"BufferAssignment:\nallocation 0: size {'9' * 5000}:", "2:1: expected 'allocation N"),
        ("BufferAssignment:\nallocation 0: size 4:\n value: <0 a{,} @0> (size=4,offset=0): f32[]", "3:2: expected"),
        ("BufferAssignment:\nallocation 0: size 4, output shape is |f32|:", "2:"),
    ],
)
def test_a_text_that_is_no_plan_is_refused_at_its_place(text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        parse_assignment(text)
    assert str(error.value).startswith(message)


def test_the_server_answers_like_check() -> None:
    asked = Asked(1, "memory", {"hlo": CHAIN, "assignment": CHAIN_PLAN})
    answer = Answering(60, 2048).answer(asked)["result"]
    assert answer["verdict"] == "proved" and answer["obligations"]


@needs_plans
def test_the_real_plans_are_proved() -> None:
    for module in sorted(PLANS.rglob("module.hlo")):
        records = judged(module.read_text(), module.with_name("assignment.txt").read_text())
        assert {r.verdict for r in records} == {Verdict.PROVED}, module.parent.name


@needs_plans
def test_every_value_has_the_positions_that_the_compiler_lists() -> None:
    """values.txt: ` positions:` below `<ID NAME{INDEX} @C>`, each `NAME {INDEX}`."""
    compared = 0
    for module in sorted(PLANS.rglob("module.hlo")):
        values = HloValues(parse_module(module.read_text()))
        found: dict[str, set[str]] = {}
        for place, value in values.places.items():
            found.setdefault(_text(value, ""), set()).add(_text(place, " "))
        listed: dict[str, set[str]] = {}
        current, reading = set[str](), False
        for line in module.with_name("values.txt").read_text().splitlines():
            if line.startswith("<"):
                name = line.split()[1]
                current = listed.setdefault(name.removesuffix("{}"), set())
            elif line.startswith(" ") and not line.startswith("  "):
                reading = line == " positions:"
            elif reading:
                current.add(line.strip().removesuffix(" {}"))
        for name, positions in listed.items():
            assert found[name] == positions, (module.parent.name, name)
            compared += 1
    assert compared > 4000


def _text(place: tuple[str, tuple[int, ...]], space: str) -> str:
    return place[0] + (space + "{" + ",".join(map(str, place[1])) + "}" if place[1] else "")


def test_updates_in_place_are_proved_as_the_run_asks() -> None:
    turned = parse_module(CHAIN.replace("add(%x, %one)", "reverse(%x), dimensions={0}"))
    asked: list[Outcome] = []
    found = judge(turned, parse_assignment(CHAIN_PLAN), lambda c: c == "plan-in-place", How(told=asked.append))
    assert any(j.problem for j in found)
    assert "refuted" in {outcome.verdict for outcome in asked}


def _call(target: str, operands: str, config: str) -> tuple[str, str]:
    """A library's product over its last operand, with a plan that puts it there."""
    hlo = f"""HloModule m, is_scheduled=true

ENTRY %main (a: f32[4,4], b: f32[4,4]) -> f32[4,4] {{
  %a = f32[4,4]{{1,0}} parameter(0)
  %b = f32[4,4]{{1,0}} parameter(1)
  %c = f32[4,4]{{1,0}} negate(%a)
  ROOT %g = f32[4,4]{{1,0}} custom-call({operands}), custom_call_target="{target}", backend_config={config}
}}
"""
    return hlo, roomy_plan(hlo, (("g", "c"),))


@pytest.mark.parametrize(
    ("operands", "beta", "verdict"),
    [("a, b, c", 1, "proved"), ("a, b, c", 0, "unknown"), ("a, c, c", 1, "unknown"), ("a, c, b", 1, "unknown")],
)
def test_a_library_adds_in_the_place_of_an_operand_that_it_reads_once(operands: str, beta: int, verdict: str) -> None:
    hlo, plan = _call("__cublas$gemm", operands, f'{{"gemm_backend_config":{{"beta":{beta}}}}}')
    found = {str(r.verdict) for r in judged(hlo, plan) if r.claim == "plan-in-place"}
    assert found == {verdict}


HALF = """HloModule half, is_scheduled=true

%fused (p: f32[32]) -> f32[16] {{
  %p = f32[32]{{0}} parameter(0)
  %s = f32[16]{{0}} slice(%p), slice={{[16:32]}}
  ROOT %q = f32[16]{{0}} {operation}
}}

ENTRY %main (a: f32[32]) -> f32[16] {{
  %a = f32[32]{{0}} parameter(0)
  %c = f32[32]{{0}} negate(%a)
  %f = f32[16]{{0}} fusion(%c), kind=kLoop, calls=%fused
  ROOT %out = f32[16]{{0}} negate(%f)
}}
"""
HALF_PLAN = """BufferAssignment:
allocation 0: size 128, parameter 0, shape |f32[32]| at ShapeIndex {}:
 value: <0 a @0> (size=128,offset=0): f32[32]{0}
allocation 1: size 64, output shape is |f32[16]|, maybe-live-out:
 value: <1 out @0> (size=64,offset=0): f32[16]{0}
allocation 2: size 128, preallocated-temp:
 value: <2 c @0> (size=128,offset=0): f32[32]{0}
 value: <3 f @0> (size=64,offset=64): f32[16]{0}
"""


@pytest.mark.parametrize(
    ("operation", "wrong"), [("negate(%s)", {}), ("reverse(%s), dimensions={0}", {"plan-in-place": ["f"]})]
)
def test_a_result_over_the_second_half_of_what_is_read(operation: str, wrong: dict[str, list[str]]) -> None:
    assert refuted(HALF.format(operation=operation), HALF_PLAN) == wrong


_EACH = "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}"


@pytest.mark.parametrize(("places", "verdict"), [("%i", "unknown"), ("%b", "refuted")])
def test_a_fusion_that_reads_where_an_array_says_is_refuted_where_the_array_may_be_any(
    places: str, verdict: str
) -> None:
    """Of an iota each element reads itself."""
    hlo = f"""HloModule m, is_scheduled=true

%fused (q: f32[8], g: s32[8]) -> f32[8] {{
  %q = f32[8]{{0}} parameter(0)
  %g = s32[8]{{0}} parameter(1)
  ROOT %n = f32[8]{{0}} gather(%q, %g), {_EACH}
}}

ENTRY %main (a: f32[8], b: s32[8]) -> f32[8] {{
  %a = f32[8]{{0}} parameter(0)
  %b = s32[8]{{0}} parameter(1)
  %x = f32[8]{{0}} negate(%a)
  %j = s32[8]{{0}} iota(), iota_dimension=0
  %i = s32[8]{{0}} abs(%j)
  %d = f32[8]{{0}} fusion(%x, {places}), kind=kLoop, calls=%fused
  ROOT %o = f32[8]{{0}} copy(%d)
}}
"""
    found = [r for r in judged(hlo, roomy_plan(hlo, (("d", "x"),))) if r.claim == "plan-in-place"]
    assert [str(r.verdict) for r in found] == [verdict]


def test_outputs_of_other_sizes_are_not_made_in_the_same_steps() -> None:
    hlo = """HloModule m, is_scheduled=true

%fused (p: f32[32]) -> (f32[32], f32[16]) {
  %p = f32[32]{0} parameter(0)
  %n = f32[32]{0} negate(%p)
  %s = f32[16]{0} slice(%p), slice={[0:16]}
  ROOT %t = (f32[32]{0}, f32[16]{0}) tuple(%n, %s)
}

ENTRY %main (a: f32[32]) -> (f32[32], f32[16]) {
  %a = f32[32]{0} parameter(0)
  %c = f32[32]{0} negate(%a)
  ROOT %f = (f32[32]{0}, f32[16]{0}) fusion(%c), kind=kLoop, calls=%fused
}
"""
    found = [r for r in judged(hlo, roomy_plan(hlo, (("f{0}", "c"),))) if r.claim == "plan-in-place"]
    assert [str(r.verdict) for r in found] == ["unknown"]


def test_a_reducer_with_a_loop_is_unknown() -> None:
    """What the loop makes has no places in the plan: that each value has one was proved."""
    hlo = """HloModule m, is_scheduled=true

%again (c: f32[]) -> pred[] {
  %c = f32[] parameter(0)
  ROOT %less = pred[] compare(%c, %c), direction=LT
}

%turn (s: f32[]) -> f32[] {
  %s = f32[] parameter(0)
  ROOT %n = f32[] negate(%s)
}

%step (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  %sum = f32[] add(%x, %y)
  ROOT %r = LAST
}

ENTRY %main (a: f32[8], z: f32[]) -> f32[] {
  %a = f32[8]{0} parameter(0)
  %z = f32[] parameter(1)
  ROOT %o = f32[] reduce(%a, %z), dimensions={0}, to_apply=%step
}
"""
    plan = """BufferAssignment:
allocation 0: size 32, parameter 0, shape |f32[8]| at ShapeIndex {}:
 value: <0 a @0> (size=32,offset=0): f32[8]{0}
allocation 1: size 4, parameter 1, shape |f32[]| at ShapeIndex {}:
 value: <1 z @0> (size=4,offset=0): f32[]
allocation 2: size 4, output shape is |f32[]|, maybe-live-out:
 value: <2 o @0> (size=4,offset=0): f32[]
"""
    loop = hlo.replace("LAST", "f32[] while(%sum), condition=%again, body=%turn")
    assert {str(r.verdict) for r in judged(loop, plan)} == {"unknown"}
    assert {str(r.verdict) for r in judged(hlo.replace("LAST", "f32[] negate(%sum)"), plan)} == {"proved"}


FOLDED = """HloModule folded, is_scheduled=true

%add (p: f32[], q: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %s = f32[] add(%p, %q)
}

ENTRY %main (a: f32[32]) -> f32[] {
  %a = f32[32]{0} parameter(0)
  %zero = f32[] constant(0)
  ROOT %out = f32[] reduce(%a, %zero), dimensions={0}, to_apply=%add
}
"""
FOLDED_PLAN = """BufferAssignment:
allocation 0: size 128, parameter 0, shape |f32[32]| at ShapeIndex {}:
 value: <0 a @0> (size=128,offset=0): f32[32]{0}
allocation 1: size 4, constant:
 value: <1 zero @0> (size=4,offset=0): f32[]
allocation 2: size 4, output shape is |f32[]|, maybe-live-out:
 value: <2 out @0> (size=4,offset=0): f32[]
allocation 3: size 4, thread-local:
 value: <3 p @0> (size=4,offset=0): f32[]
allocation 4: size 4, thread-local:
 value: <4 q @0> (size=4,offset=0): f32[]
allocation 5: size 4, thread-local:
 value: <5 s @0> (size=4,offset=0): f32[]
"""


def test_what_a_function_of_a_reduce_computes_belongs_to_each_thread() -> None:
    assert {r.verdict for r in judged(FOLDED, FOLDED_PLAN)} == {Verdict.PROVED}
    shared = changed(FOLDED_PLAN, "allocation 5: size 4, thread-local", "allocation 5: size 4, preallocated-temp")
    assert refuted(FOLDED, shared) == {"plan-complete": ["s"]}


def test_values_that_a_clamp_stands_for_are_not_all_where_something_else_is_done_with_them() -> None:
    v = Var("v0")
    clamp = minimum(maximum(v, 0), 3)
    fails = Obligation((("v0", None),), eq(clamp, 7), TRUE, "of the clamp alone")
    holds_of_ten = Obligation((("v0", None),), disj(eq(clamp, 7), eq(v + 0 * clamp - 10, 0)), TRUE, "and of ten")
    assert fails_whatever_is_read(fails, prove_one)
    assert not fails_whatever_is_read(holds_of_ten, prove_one)
    wide = minimum(maximum(v, 0), 5)
    for parts in (eq(clamp, 7), eq(wide, 5)), (eq(wide, 5), eq(clamp, 7)):
        assert not fails_whatever_is_read(Obligation((("v0", None),), disj(*parts), TRUE, "of five"), prove_one)


HANDED = """HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }

ENTRY %main (a: f32[8], b: f32[9]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[9]{0} parameter(1)
  %n = f32[8]{0} negate(%a)
  %t = f32[9]{0} negate(%b)
  %s = f32[8]{0} slice(%t), slice={[0:8]}
  ROOT %r = f32[8]{0} add(%n, %s)
}
"""
HANDED_PLAN = """BufferAssignment:
allocation 0: size 36, parameter 0, shape |f32[8]| at ShapeIndex {}, output shape is |f32[8]|, maybe-live-out:
 value: <0 a @0> (size=32,offset=0): f32[8]{0}
 value: <3 t @0> (size=36,offset=0): f32[9]{0}
 value: <5 r @0> (size=32,offset=0): f32[8]{0}
allocation 1: size 36, parameter 1, shape |f32[9]| at ShapeIndex {}:
 value: <1 b @0> (size=36,offset=0): f32[9]{0}
allocation 2: size 192, preallocated-temp:
 value: <2 n @0> (size=32,offset=0): f32[8]{0}
 value: <4 s @0> (size=32,offset=64): f32[8]{0}
"""


def test_what_ends_a_few_bytes_beyond_what_the_caller_hands_over_is_told() -> None:
    assert refuted(HANDED, HANDED_PLAN) == {"plan-size": ["t"]}
    (beyond,) = (line for line in HANDED_PLAN.splitlines() if "<3 t" in line)
    apart = HANDED_PLAN.replace(f"{beyond}\n", "") + f"{beyond.replace('offset=0', 'offset=128')}\n"
    assert refuted(HANDED, apart.replace("size 36, parameter 0", "size 32, parameter 0")) == {}
