"""Small modules with their plans, and ways to spoil them."""

from __future__ import annotations

import re

from hloproof.memory.plan import Plan, bytes_needed
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import TupleShape
from hloproof.models.hlo.text.shapes import print_shape
from hloproof.models.memory.assignment import BufferAssignment, Key, place_text
from hloproof.pipeline.memory_plans import check_plan
from hloproof.results.verdict import ClaimResult, Verdict

CHAIN = """HloModule chain, is_scheduled=true, entry_computation_layout={(f32[32]{0}, f32[32]{0})->f32[32]{0}}

%fused (p0: f32[32], p1: f32[32]) -> f32[32] {
  %p0 = f32[32]{0} parameter(0)
  %p1 = f32[32]{0} parameter(1)
  ROOT %sum = f32[32]{0} add(%p0, %p1)
}

ENTRY %main (a: f32[32], b: f32[32]) -> f32[32] {
  %a = f32[32]{0} parameter(0)
  %b = f32[32]{0} parameter(1)
  %one = f32[32]{0} constant({...})
  %x = f32[32]{0} multiply(%a, %b)
  %y = f32[32]{0} subtract(%a, %x)
  %z = f32[32]{0} add(%x, %one)
  ROOT %out = f32[32]{0} fusion(%y, %z), kind=kLoop, calls=%fused
}
"""
CHAIN_PLAN = """BufferAssignment:
allocation 0: size 128, parameter 0, shape |f32[32]| at ShapeIndex {}:
 value: <0 a @0> (size=128,offset=0): f32[32]{0}
allocation 1: size 128, parameter 1, shape |f32[32]| at ShapeIndex {}:
 value: <1 b @0> (size=128,offset=0): f32[32]{0}
allocation 2: size 128, constant:
 value: <2 one @0> (size=128,offset=0): f32[32]{0}
allocation 3: size 128, output shape is |f32[32]|, maybe-live-out:
 value: <6 out @0> (size=128,offset=0): f32[32]{0}
allocation 4: size 256, preallocated-temp:
 value: <3 x @0> (size=128,offset=0): f32[32]{0}
 value: <4 y @0> (size=128,offset=128): f32[32]{0}
 value: <5 z @0> (size=128,offset=0): f32[32]{0}
"""

LOOP = """HloModule loop, is_scheduled=true, input_output_alias={ {1}: (0, {}, may-alias) }

%body (s: (s32[], f32[32])) -> (s32[], f32[32]) {
  %s = (s32[], f32[32]{0}) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %v = f32[32]{0} get-tuple-element(%s), index=1
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %w = f32[32]{0} negate(%v)
  ROOT %t = (s32[], f32[32]{0}) tuple(%next, %w)
}

%cond (c: (s32[], f32[32])) -> pred[] {
  %c = (s32[], f32[32]{0}) parameter(0)
  %j = s32[] get-tuple-element(%c), index=0
  %ten = s32[] constant(10)
  ROOT %less = pred[] compare(%j, %ten), direction=LT
}

ENTRY %main (a: f32[32]) -> (s32[], f32[32]) {
  %a = f32[32]{0} parameter(0)
  %zero = s32[] constant(0)
  %start = s32[] copy(%zero)
  %init = (s32[], f32[32]{0}) tuple(%start, %a)
  ROOT %loop = (s32[], f32[32]{0}) while(%init), condition=%cond, body=%body
}
"""
LOOP_PLAN = """BufferAssignment:
allocation 0: size 128, parameter 0, shape |f32[32]| at ShapeIndex {}, maybe-live-out:
 value: <0 a @0> (size=128,offset=0): f32[32]{0}
 value: <1 w @0> (size=128,offset=0): f32[32]{0}
 value: <2 s{1} (phi) @0> (size=128,offset=0): f32[32]{0}
 value: <3 c{1} (phi) @0> (size=128,offset=0): f32[32]{0}
 value: <4 loop{1} (phi) @0> (size=128,offset=0): f32[32]{0}
allocation 1: size 4, constant:
 value: <5 zero @0> (size=4,offset=0): s32[]
allocation 2: size 4, constant:
 value: <6 one @0> (size=4,offset=0): s32[]
allocation 3: size 4, constant:
 value: <7 ten @0> (size=4,offset=0): s32[]
allocation 4: size 16, output shape is |(s32[], f32[32])|, maybe-live-out:
 value: <8 init{} @0> (size=16,offset=0): (s32[], f32[32]{0})
 value: <9 t{} @0> (size=16,offset=0): (s32[], f32[32]{0})
 value: <10 s{} (phi) @0> (size=16,offset=0): (s32[], f32[32]{0})
 value: <11 c{} (phi) @0> (size=16,offset=0): (s32[], f32[32]{0})
 value: <12 loop{} (phi) @0> (size=16,offset=0): (s32[], f32[32]{0})
allocation 5: size 4, maybe-live-out:
 value: <13 start @0> (size=4,offset=0): s32[]
 value: <14 next @0> (size=4,offset=0): s32[]
 value: <15 s{0} (phi) @0> (size=4,offset=0): s32[]
 value: <16 c{0} (phi) @0> (size=4,offset=0): s32[]
 value: <17 loop{0} (phi) @0> (size=4,offset=0): s32[]
allocation 6: size 65, preallocated-temp:
 value: <18 less @0> (size=1,offset=64): pred[]
"""


def judged(hlo: str, assignment: str) -> list[ClaimResult]:
    """All records of a plan."""
    return list(check_plan(hlo, assignment).records())


def refuted(hlo: str, assignment: str) -> dict[str, list[str]]:
    """The claims that a plan breaks, each with the instructions that it is refuted for."""
    out: dict[str, list[str]] = {}
    for r in judged(hlo, assignment):
        assert r.verdict in (Verdict.PROVED, Verdict.REFUTED), r
        if r.verdict is Verdict.REFUTED:
            out.setdefault(r.claim, []).append(r.instruction)
    return out


def changed(text: str, old: str, new: str) -> str:
    """The text with `old`, which is there once, replaced."""
    assert text.count(old) == 1, (old, text.count(old))
    return text.replace(old, new)


FLIGHT = """HloModule flight, is_scheduled=true

ENTRY %main (a: f32[32]) -> f32[32] {
  %a = f32[32]{0} parameter(0)
  %x = f32[32]{0} negate(%a)
  %start = (f32[32]{0}, f32[32]{0}, u32[]) copy-start(%x)
  %y = f32[32]{0} exponential(%a)
  %z = f32[32]{0} add(%y, %a)
  %done = f32[32]{0} copy-done(%start)
  ROOT %out = f32[32]{0} add(%done, %z)
}
"""
FLIGHT_PLAN = """BufferAssignment:
allocation 0: size 128, parameter 0, shape |f32[32]| at ShapeIndex {}:
 value: <0 a @0> (size=128,offset=0): f32[32]{0}
allocation 1: size 128, output shape is |f32[32]|, maybe-live-out:
 value: <6 out @0> (size=128,offset=0): f32[32]{0}
allocation 2: size 512, preallocated-temp:
 value: <1 x @0> (size=128,offset=128): f32[32]{0}
 value: <2 start{} @0> (size=24,offset=384): (f32[32]{0}, f32[32]{0}, u32[])
 value: <3 start{0} @0> (size=128,offset=256): f32[32]{0}
 value: <7 start{2} @0> (size=4,offset=448): u32[]
 value: <4 y @0> (size=128,offset=0): f32[32]{0}
 value: <5 z @0> (size=128,offset=0): f32[32]{0}
"""


def fused(name: str, body: str) -> tuple[str, str]:
    """One fusion of f32[32] over its own parameter, which is donated, with the plan that says so."""
    header = f"HloModule {name}, is_scheduled=true, input_output_alias={{ {{}}: (0, {{}}, may-alias) }}"
    hlo = f"""{header}

%fused (p: f32[32]) -> f32[32] {{
  %p = f32[32]{{0}} parameter(0)
{body}
}}

ENTRY %main (a: f32[32]) -> f32[32] {{
  %a = f32[32]{{0}} parameter(0)
  ROOT %{name} = f32[32]{{0}} fusion(%a), kind=kLoop, calls=%fused
}}
"""
    plan = f"""BufferAssignment:
allocation 0: size 128, parameter 0, shape |f32[32]| at ShapeIndex {{}}, output shape is |f32[32]|, maybe-live-out:
 value: <0 a @0> (size=128,offset=0): f32[32]{{0}}
 value: <1 {name} @0> (size=128,offset=0): f32[32]{{0}}
"""
    return hlo, plan


REVERSED = fused("r", "  ROOT %q = f32[32]{0} reverse(%p), dimensions={0}")
SHIFTED = fused(
    "u",
    """  %front = f32[3]{0} slice(%p), slice={[0:3]}
  %one = s32[] constant(1)
  ROOT %q = f32[32]{0} dynamic-update-slice(%p, %front, %one)""",
)


def roomy_plan(hlo: str, together: tuple[tuple[str, ...], ...] = ()) -> str:
    """A plan that gives every value a place of its own, and one to those that a loop or conditional merges. The values
    of each tuple in `together` (`name{index}`) are put in one place, too."""
    plan = Plan(parse_module(hlo), BufferAssignment(()))
    values, group = plan.values.values, {key: key for key in plan.values.values}
    texts = {place_text(key): key for key in values}

    def find(key: Key) -> Key:
        while group[key] != key:
            key = group[key]
        return key

    joined = [(key, source) for key, value in values.items() for source in value.sources]
    joined += [(texts[names[0]], texts[other]) for names in together for other in names[1:]]
    for a, b in joined:
        group[find(a)] = find(b)
    places: dict[Key, list[Key]] = {}
    for key in values:
        places.setdefault(find(key), []).append(key)
    returned = {value for _, value in plan.values.places_in(plan.module.entry.root_name)}
    lines = ["BufferAssignment:"]
    for number, members in enumerate(places.values()):
        words = []
        for name, at in members:
            i = plan.instruction(name)
            if i.opcode == "constant" and "constant" not in words:
                words.append("constant")
            elif i.opcode == "parameter" and plan.values.computation_of[name] is plan.module.entry:
                index = ",".join(map(str, at))
                shape = re.sub(r"\{[^{}]*\}", "", print_shape(values[name, at].shape))
                words.append(f"parameter {i.parameter_number}, shape |{shape}| at ShapeIndex {{{index}}}")
        if returned & set(members):
            words.append("maybe-live-out")
        size = max(bytes_needed(values[key].shape) for key in members)
        lines.append(f"allocation {number}: size {size}" + "".join(f", {w}" for w in words) + ":")
        for n, key in enumerate(members):
            position = (
                "{" + ",".join(map(str, key[1])) + "}" if isinstance(plan.instruction(key[0]).shape, TupleShape) else ""
            )
            phi = " (phi)" if values[key].phi else ""
            needed, shape = bytes_needed(values[key].shape), print_shape(values[key].shape)
            lines.append(f" value: <{number * 1000 + n} {key[0]}{position}{phi} @0> (size={needed},offset=0): {shape}")
    return "\n".join(lines) + "\n"


CONDITIONAL = """HloModule conditional, is_scheduled=true

%both (p: f32[8]) -> (f32[8], f32[8]) {
  %p = f32[8]{0} parameter(0)
  %q = f32[8]{0} abs(%p)
  %r = f32[8]{0} negate(%p)
  ROOT %qr = (f32[8]{0}, f32[8]{0}) tuple(%q, %r)
}

%first (x: f32[8]) -> (f32[8], f32[8]) {
  %x = f32[8]{0} parameter(0)
  %e = f32[8]{0} exponential(%x)
  %f = f32[8]{0} exponential(%x)
  ROOT %ef = (f32[8]{0}, f32[8]{0}) tuple(%e, %f)
}

%second (y: f32[8]) -> (f32[8], f32[8]) {
  %y = f32[8]{0} parameter(0)
  ROOT %two = (f32[8]{0}, f32[8]{0}) fusion(%y), kind=kLoop, calls=%both
}

ENTRY %main (c: pred[], a: f32[8]) -> f32[8] {
  %c = pred[] parameter(0)
  %a = f32[8]{0} parameter(1)
  %if = (f32[8]{0}, f32[8]{0}) conditional(%c, %a, %a), true_computation=%first, false_computation=%second
  %g = f32[8]{0} get-tuple-element(%if), index=0
  %h = f32[8]{0} get-tuple-element(%if), index=1
  ROOT %sum = f32[8]{0} add(%g, %h)
}
"""

PERMUTED = """HloModule permuted, is_scheduled=true, replica_count=2

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %x = f32[8]{0} negate(%a)
  %s = (f32[8]{0}, f32[8]{0}) collective-permute-start(%x), source_target_pairs={{0,1},{1,0}}
  %d = f32[8]{0} collective-permute-done(%s)
  %w = f32[8]{0} exponential(%a)
  ROOT %sum = f32[8]{0} add(%d, %w)
}
"""


GENERIC = """HloModule generic, is_scheduled=true, replica_count=2

%wrapped (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %exchanged = f32[8]{0} all-to-all(%p), dimensions={0}, replica_groups={{0,1}}
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %x = f32[8]{0} negate(%a)
  %s = ((f32[8]{0}), f32[8]{0}) async-start(%x), calls=%wrapped
  %w = f32[8]{0} exponential(%a)
  %d = f32[8]{0} async-done(%s), calls=%wrapped
  ROOT %sum = f32[8]{0} add(%d, %w)
}
"""
