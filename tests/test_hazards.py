"""Hazards: every planted violation is refuted, and its smallest repair is proved."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from hloproof.claims.asynchronous import judge
from hloproof.claims.asynchronous.timeline import rows_of
from hloproof.models.dataflow.in_place import Pair, in_place_operand
from hloproof.models.hlo.parser import parse_module
from hloproof.report.timeline_svg import draw
from hloproof.results.verdict import ClaimResult, Found, Verdict

HEAD = """HloModule m{flags}
ENTRY e {{
"""
COPY = [
    "p = f32[8] parameter(0)",
    "u = f32[2] parameter(1)",
    "i = s32[] parameter(2)",
    "s = (f32[8], f32[8], u32[]) copy-start(p)",
]
FUSED = """f {{
  b = f32[4] parameter(0)
  part = f32[3] slice(b), slice={{[{range}]}}
  one = s32[] constant(1)
  ROOT d = f32[4] dynamic-update-slice(b, part, one)
}}
"""
CALLED = """c {
  x = f32[8] parameter(0)
  ROOT y = f32[8] custom-call(x), custom_call_target="write", output_to_operand_aliasing={{}: (0, {})}
}
"""
BODY = """body {{
  state = (f32[8], s32[]) parameter(0)
  x = f32[8] get-tuple-element(state), index=0
  k = s32[] get-tuple-element(state), index=1
{lines}
}}
cond {{
  state = (f32[8], s32[]) parameter(0)
  ROOT more = pred[] constant(false)
}}
"""
LOOP = [
    "p = f32[8] parameter(0)",
    "n = s32[] parameter(1)",
    "init = (f32[8], s32[]) tuple(p, n)",
    "w = (f32[8], s32[]) while(init), condition=cond, body=body",
]
CARRIED = """abody {{
  state = ((f32[8]), f32[8], s32[]) parameter(0)
{lines}
}}
acond {{
  state = ((f32[8]), f32[8], s32[]) parameter(0)
  ROOT more = pred[] constant(false)
}}
"""


def text(lines: list[str], before: str = "", flags: str = "") -> str:
    head = HEAD.format(flags=flags)
    name, _, rest = head.partition("\n")
    return name + "\n" + before + rest + "\n".join("  " + line for line in lines) + "\n}\n"


def found(source: str, unknown: str = "") -> dict[str, list[str]]:
    """The refuted claims and what they say; a hazard that only a copy mends under its own name. Parameters are the
    program's own to write into: what is said of those that are not stands in tests/test_copies_inserted.py."""
    module = parse_module(source)
    out: dict[str, list[str]] = {}
    for j in judge(module, lambda claim: claim != "hazard-constant", lambda claim: False):
        assert j.found.verdict in (Verdict.PROVED, Verdict.REFUTED) or j.claim == unknown, j
        if j.problem is not None:
            out.setdefault(j.claim, []).append(j.problem)
        if j.note is not None:
            out.setdefault("needs-copy", []).append(j.note)
    return out


SCHEDULED = ", is_scheduled=true"
GATHER = "s = (f32[4], f32[8]) all-gather-start(p), dimensions={0}, replica_groups={{0,1}}"
IN_FLIGHT = "s = ((f32[8], f32[2], s32[]), f32[8], s32[]) dynamic-update-slice-start(p, u, i)"
IN_FLIGHT_CALL = "s = ((f32[8], f32[2], s32[]), f32[8], s32[]) async-start(p, u, i), calls=update"
LATE = "s = ((f32[8]), (), s32[]) async-start(p), calls=both, output_to_operand_aliasing={{1}: (1, {})}"
BOTH = "both { x = f32[8] parameter(0) y = f32[8] parameter(1) ROOT z = f32[8] add(x, y) }\n"
UPDATING = """update {
  x = f32[8] parameter(0)
  y = f32[2] parameter(1)
  k = s32[] parameter(2)
  ROOT z = f32[8] dynamic-update-slice(x, y, k)
}
"""
DONE = "d = f32[8] copy-done(s)"
UPDATE = "v = f32[8] dynamic-update-slice(p, u, i)"
WRITE = 'v = f32[8] custom-call(p), custom_call_target="write", output_to_operand_aliasing={{}: (0, {})}'
SUM = "ROOT r = f32[8] add(d, v)"
PEEK = ["g = f32[8] get-tuple-element(s), index=0", "v = f32[8] negate(g)"]

# name, broken text, repaired text, the claim that refutes the broken one
PLANTED = [
    (
        "an update in place between start and done of a schedule",
        text([*COPY, UPDATE, DONE, SUM], flags=SCHEDULED),
        text([*COPY, DONE, UPDATE, SUM], flags=SCHEDULED),
        "hazard-operand",
    ),
    (
        "an opaque call that overwrites the operand, in some order",
        text([*COPY, WRITE, DONE, SUM]),
        text([*COPY, DONE, WRITE + ", control-predecessors={d}", SUM]),
        "hazard-operand",
    ),
    (
        "the same inside a called computation",
        text([*COPY, "v = f32[8] call(p), to_apply=c", DONE, SUM], CALLED),
        text([*COPY, DONE, "v = f32[8] call(p), to_apply=c, control-predecessors={d}", SUM], CALLED),
        "hazard-operand",
    ),
    (
        "the destination is read before the copy is done",
        text([*COPY, *PEEK, DONE, SUM]),
        text([*COPY, DONE, "v = f32[8] negate(d)", SUM]),
        "hazard-output",
    ),
    (
        "the same, ordered by a control dependency",
        text([*COPY, DONE, *PEEK, SUM]),
        text([*COPY, DONE, PEEK[0], PEEK[1] + ", control-predecessors={d}", SUM]),
        "hazard-output",
    ),
    (
        "the positions of copy-start are swapped: what is taken for the source is the destination",
        text([*COPY, "g = f32[8] get-tuple-element(s), index=0", "v = f32[8] negate(g)", DONE, SUM]),
        text([*COPY, "g = f32[8] get-tuple-element(s), index=1", "v = f32[8] negate(g)", DONE, SUM]),
        "hazard-output",
    ),
    (
        "the result of an all-gather is read before it is done",
        text(
            [
                "p = f32[4] parameter(0)",
                GATHER,
                "g = f32[8] get-tuple-element(s), index=1",
                "v = f32[8] negate(g)",
                "d = f32[8] all-gather-done(s)",
                SUM,
            ]
        ),
        text(["p = f32[4] parameter(0)", GATHER, "d = f32[8] all-gather-done(s)", "v = f32[8] negate(d)", SUM]),
        "hazard-output",
    ),
    (
        "what a recv writes is read before recv-done",
        text(
            [
                "t = token[] after-all()",
                "s = (f32[8], u32[], token[]) recv(t), channel_id=1",
                "g = f32[8] get-tuple-element(s), index=0",
                "v = f32[8] negate(g)",
                "rd = (f32[8], token[]) recv-done(s), channel_id=1",
                "d = f32[8] get-tuple-element(rd), index=0",
                SUM,
            ]
        ),
        text(
            [
                "t = token[] after-all()",
                "s = (f32[8], u32[], token[]) recv(t), channel_id=1",
                "rd = (f32[8], token[]) recv-done(s), channel_id=1",
                "d = f32[8] get-tuple-element(rd), index=0",
                "v = f32[8] negate(d)",
                SUM,
            ]
        ),
        "hazard-output",
    ),
    (
        "a loop carries the operation, and its body reads what is being written",
        text(
            [
                "p = f32[8] parameter(0)",
                's = ((f32[8]), f32[8], s32[]) custom-call-start(p), custom_call_target="t"',
                "w = ((f32[8]), f32[8], s32[]) while(s), condition=acond, body=abody",
                "ROOT d = f32[8] custom-call-done(w)",
            ],
            CARRIED.format(
                lines="  g = f32[8] get-tuple-element(state), index=1\n  n = f32[8] negate(g)\n"
                '  q = f32[8] custom-call(n), custom_call_target="u", custom_call_has_side_effect=true\n'
                "  ROOT o = ((f32[8]), f32[8], s32[]) custom-call-update(state)"
            ),
        ),
        text(
            [
                "p = f32[8] parameter(0)",
                's = ((f32[8]), f32[8], s32[]) custom-call-start(p), custom_call_target="t"',
                "w = ((f32[8]), f32[8], s32[]) while(s), condition=acond, body=abody",
                "ROOT d = f32[8] custom-call-done(w)",
            ],
            CARRIED.format(lines="  ROOT o = ((f32[8]), f32[8], s32[]) custom-call-update(state)"),
        ),
        "hazard-output",
    ),
    (
        "an operand bound at an update is overwritten after it",
        text(
            [
                "p = f32[8] parameter(0)",
                "q = f32[8] parameter(1)",
                "s = ((f32[8]), f32[8], s32[]) call-start(q), to_apply=two",
                "k = ((f32[8], f32[8]), f32[8], s32[]) call-update(s, p)",
                WRITE,
                "d = f32[8] call-done(k)",
                SUM,
            ],
            "two { a = f32[8] parameter(0) b = f32[8] parameter(1) ROOT c = f32[8] add(a, b) }\n",
            SCHEDULED,
        ),
        text(
            [
                "p = f32[8] parameter(0)",
                "q = f32[8] parameter(1)",
                "s = ((f32[8]), f32[8], s32[]) call-start(q), to_apply=two",
                "k = ((f32[8], f32[8]), f32[8], s32[]) call-update(s, p)",
                "d = f32[8] call-done(k)",
                WRITE,
                SUM,
            ],
            "two { a = f32[8] parameter(0) b = f32[8] parameter(1) ROOT c = f32[8] add(a, b) }\n",
            SCHEDULED,
        ),
        "hazard-operand",
    ),
    (
        "an update in place is in flight while its operand is read",
        text(
            [*COPY[:3], IN_FLIGHT, "v = f32[8] negate(p)", "d = f32[8] dynamic-update-slice-done(s)", SUM],
            flags=SCHEDULED,
        ),
        text(
            [*COPY[:3], "v = f32[8] negate(p)", IN_FLIGHT, "d = f32[8] dynamic-update-slice-done(s)", SUM],
            flags=SCHEDULED,
        ),
        "hazard-output",
    ),
    (
        "an operand that an update binds is where the result is written",
        text(
            [
                "p = f32[8] parameter(0)",
                "q = f32[8] parameter(1)",
                LATE,
                "k = ((f32[8], f32[8]), (), s32[]) async-update(s, q)",
                "v = f32[8] negate(q)",
                "d = f32[8] async-done(k)",
                SUM,
            ],
            BOTH,
            SCHEDULED,
        ),
        text(
            [
                "p = f32[8] parameter(0)",
                "q = f32[8] parameter(1)",
                LATE,
                "v = f32[8] negate(q)",
                "k = ((f32[8], f32[8]), (), s32[]) async-update(s, q)",
                "d = f32[8] async-done(k)",
                SUM,
            ],
            BOTH,
            SCHEDULED,
        ),
        "hazard-output",
    ),
    (
        "the same around a computation",
        text([*COPY[:3], IN_FLIGHT_CALL, "v = f32[8] negate(p)", "d = f32[8] async-done(s)", SUM], UPDATING, SCHEDULED),
        text([*COPY[:3], "v = f32[8] negate(p)", IN_FLIGHT_CALL, "d = f32[8] async-done(s)", SUM], UPDATING, SCHEDULED),
        "hazard-output",
    ),
    (
        "a value is read after its buffer was updated in place",
        text([*COPY[:3], UPDATE, "d = f32[8] negate(p)", SUM], flags=SCHEDULED),
        text([*COPY[:3], "d = f32[8] negate(p)", UPDATE, SUM], flags=SCHEDULED),
        "hazard-overwrite",
    ),
    (
        "a value is read after a loop has replaced it",
        text(
            [*LOOP, "d = f32[8] negate(p)", "v = f32[8] get-tuple-element(w), index=0", SUM],
            BODY.format(lines="  y = f32[8] negate(x)\n  ROOT o = (f32[8], s32[]) tuple(y, k)"),
            SCHEDULED,
        ),
        text(
            [LOOP[0], "d = f32[8] negate(p)", *LOOP[1:], "v = f32[8] get-tuple-element(w), index=0", SUM],
            BODY.format(lines="  y = f32[8] negate(x)\n  ROOT o = (f32[8], s32[]) tuple(y, k)"),
            SCHEDULED,
        ),
        "hazard-overwrite",
    ),
    (
        "a body reads its state after it has made the next one",
        text(
            [*LOOP, "ROOT v = f32[8] get-tuple-element(w), index=0"],
            BODY.format(
                lines="  y = f32[8] negate(x)\n  z = f32[8] add(x, y)\n  q = f32[8] custom-call(z), "
                'custom_call_target="u", custom_call_has_side_effect=true\n'
                "  ROOT o = (f32[8], s32[]) tuple(y, k)"
            ),
            SCHEDULED,
        ),
        text(
            [*LOOP, "ROOT v = f32[8] get-tuple-element(w), index=0"],
            BODY.format(
                lines="  c = f32[8] copy(x)\n  y = f32[8] negate(x)\n  z = f32[8] add(c, y)\n  q = f32[8] "
                'custom-call(z), custom_call_target="u", custom_call_has_side_effect=true\n'
                "  ROOT o = (f32[8], s32[]) tuple(y, k)"
            ),
            SCHEDULED,
        ),
        "hazard-overwrite",
    ),
    (
        "a body swaps two parts of its state without a copy",
        text(
            ["p = (f32[8], f32[8]) parameter(0)", "ROOT w = (f32[8], f32[8]) while(p), condition=cond, body=body"],
            "body { s = (f32[8], f32[8]) parameter(0) a = f32[8] get-tuple-element(s), index=0 "
            "b = f32[8] get-tuple-element(s), index=1 ROOT t = (f32[8], f32[8]) tuple(b, a) }\n"
            "cond { s = (f32[8], f32[8]) parameter(0) ROOT k = pred[] constant(false) }\n",
            SCHEDULED,
        ),
        text(
            ["p = (f32[8], f32[8]) parameter(0)", "ROOT w = (f32[8], f32[8]) while(p), condition=cond, body=body"],
            "body { s = (f32[8], f32[8]) parameter(0) a = f32[8] get-tuple-element(s), index=0 "
            "b = f32[8] get-tuple-element(s), index=1 ROOT t = (f32[8], f32[8]) tuple(a, b) }\n"
            "cond { s = (f32[8], f32[8]) parameter(0) ROOT k = pred[] constant(false) }\n",
            SCHEDULED,
        ),
        "hazard-overwrite",
    ),
    *(
        (
            f"a donated parameter is read after the result took its place{kind}",
            text(
                [
                    "p = f32[8] parameter(0)",
                    "n = f32[8] negate(p)",
                    "b = f32[8] add(n, p)",
                    "ROOT r = (f32[8], f32[8]) tuple(n, b)",
                ],
                flags=SCHEDULED + f", input_output_alias={{ {{0}}: (0, {{}}{kind}) }}",
            ),
            text(
                [
                    "p = f32[8] parameter(0)",
                    "c = f32[8] copy(p)",
                    "n = f32[8] negate(p)",
                    "b = f32[8] add(n, c)",
                    "ROOT r = (f32[8], f32[8]) tuple(n, b)",
                ],
                flags=SCHEDULED + f", input_output_alias={{ {{0}}: (0, {{}}{kind}) }}",
            ),
            "hazard-donation",
        )
        for kind in (", must-alias", ", may-alias", "")
    ),
    (
        "a fused update in place reads what it has overwritten",
        text(
            ["p = f32[4] parameter(0)", "ROOT r = f32[4] fusion(p), kind=kLoop, calls=f"],
            FUSED.format(range="0:3"),
            SCHEDULED,
        ),
        text(
            ["p = f32[4] parameter(0)", "ROOT r = f32[4] fusion(p), kind=kLoop, calls=f"],
            FUSED.format(range="1:4"),
            SCHEDULED,
        ),
        "hazard-in-place",
    ),
    (
        "the same in flight",
        text(
            [
                "p = f32[4] parameter(0)",
                "s = ((f32[4]), f32[4], u32[]) fusion-start(p), kind=kLoop, calls=f",
                "ROOT r = f32[4] fusion-done(s)",
            ],
            FUSED.format(range="0:3"),
            SCHEDULED,
        ),
        text(
            [
                "p = f32[4] parameter(0)",
                "s = ((f32[4]), f32[4], u32[]) fusion-start(p), kind=kLoop, calls=f",
                "ROOT r = f32[4] fusion-done(s)",
            ],
            FUSED.format(range="1:4"),
            SCHEDULED,
        ),
        "hazard-in-place",
    ),
]


@pytest.mark.parametrize(("broken", "repaired", "claim"), [p[1:] for p in PLANTED], ids=[p[0] for p in PLANTED])
def test_planted_violation_is_refuted_and_its_repair_proved(broken: str, repaired: str, claim: str) -> None:
    assert claim in found(broken)
    assert not {c for c in found(repaired) if c.startswith("hazard")}


def test_what_copy_insertion_mends_is_not_refuted() -> None:
    answer = found(text([*COPY, UPDATE, DONE, SUM]))
    assert set(answer) == {"needs-copy"} and "dynamic-update-slice" not in answer
    assert not found(text([*COPY[:3], UPDATE, "d = f32[8] negate(p)", SUM]))


def test_a_refuted_hazard_shows_its_schedule_and_what_mends_it() -> None:
    problem = found(text([*COPY, DONE, WRITE, SUM]))["hazard-operand"][0]
    lines = problem.splitlines()
    order = [next(n for n, line in enumerate(lines) if f" {name} = " in line) for name in ("s", "v", "d")]
    assert order == sorted(order)
    assert "line 6" in lines[order[0]] and "line 8" in lines[order[1]]
    assert lines[-1].strip() == "mended by control-predecessors={%d} on v"


def test_constants_are_never_overwritten() -> None:
    lines = [
        "p = f32[8] constant({...})",
        "n = s32[] parameter(0)",
        *LOOP[2:],
        "d = f32[8] negate(p)",
        "v = f32[8] get-tuple-element(w), index=0",
        SUM,
    ]
    body = BODY.format(lines="  y = f32[8] negate(x)\n  ROOT o = (f32[8], s32[]) tuple(y, k)")
    assert not found(text(lines, body, SCHEDULED))


def test_schedules_are_drawn() -> None:
    record = ClaimResult(
        "id",
        "instruction",
        "m.hlo",
        "m",
        6,
        3,
        "s",
        Found(
            Verdict.REFUTED,
            counterexample=found(text([*COPY, DONE, WRITE, SUM]))["hazard-operand"][0],
            claim="hazard-operand",
        ),
    )
    rows = rows_of(record.counterexample or "")
    assert [(r.what.partition(" = ")[0], r.line) for r in rows] == [("s", 6), ("v", 8), ("d", 7)]
    picture = ElementTree.fromstring("".join(draw([record])))
    shown = [element.text or "" for element in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert "m.hlo:6 hazard-operand" in shown and "in flight until here" in shown
    assert len(list(picture.iter("{http://www.w3.org/2000/svg}circle"))) == 3


STATE = "(s32[], f32[8], (f32[8], f32[8], u32[]))"
CROSSED = """HloModule m, is_scheduled=true

body {{
  state = STATE parameter(0)
  k = s32[] get-tuple-element(state), index=0
  v = f32[8] get-tuple-element(state), index=1
  flying = (f32[8], f32[8], u32[]) get-tuple-element(state), index=2
  part = f32[2] constant({{1, 2}})
  zero = s32[] constant(0)
  {written}
  ROOT next = STATE tuple(k, {handed}, flying)
}}

cond {{
  state = STATE parameter(0)
  ROOT more = pred[] constant(false)
}}

ENTRY e {{
  p = f32[8] parameter(0)
  n = s32[] parameter(1)
  x = f32[8] negate(p)
  y = f32[8] copy(x)
  s = (f32[8], f32[8], u32[]) copy-start(x)
  into = f32[8] get-tuple-element(s), index=0
  init = STATE tuple(n, {given}, s)
  w = STATE while(init), condition=cond, body=body
  flown = (f32[8], f32[8], u32[]) get-tuple-element(w), index=2
  d = f32[8] copy-done(flown)
  ROOT r = f32[8] negate(d)
}}
"""
WRITTEN = [
    ("w2 = f32[8] dynamic-update-slice(v, part, zero)", "w2", "x", {"hazard-operand"}),
    ("w2 = f32[8] negate(v)", "w2", "x", {"hazard-operand"}),
    ("w2 = f32[8] negate(v)", "v", "x", set()),
    ("w2 = f32[8] dynamic-update-slice(v, part, zero)", "w2", "y", set()),
    ("w2 = f32[8] negate(v)", "w2", "into", {"hazard-output"}),
    ("w2 = f32[8] negate(v)", "v", "into", {"hazard-output"}),
    ("w2 = f32[2] negate(part)", "v", "into", set()),
]


@pytest.mark.parametrize(("written", "handed", "given", "claims"), WRITTEN)
def test_what_a_loop_writes_it_writes_while_it_carries_an_operation_in_flight(
    written: str, handed: str, given: str, claims: set[str]
) -> None:
    text = CROSSED.format(written=written, handed=handed, given=given).replace("STATE", STATE)
    module = parse_module(text)
    said = judge(module, lambda claim: claim.startswith("hazard-"), lambda claim: False)
    assert {j.claim for j in said if j.problem is not None} - {"hazard-overwrite"} == claims


def test_what_the_next_turn_reads_counts_whoever_uses_the_result_of_the_loop() -> None:
    """What a turn makes may also be sent off, or end the loop."""
    turn = ["w2 = f32[8] negate(v)", "d0 = f32[8] copy-done(flying)", "w3 = f32[8] negate(d0)"]
    turn.append("more2 = (f32[8], f32[8], u32[]) copy-start(w3)")
    text = CROSSED.format(written="\n  ".join(turn), handed="w2", given="{given}").replace("STATE", STATE)
    text = text.replace("tuple(k, w2, flying)", "tuple(k, w2, more2)").replace("negate(d)\n", "negate(p)\n")
    # In the first turn both lie in one buffer, which the body does not know.
    assert "hazard-overwrite" in found(text.replace("{given}", "x"), unknown="hazard-operand")
    assert found(text.replace("{given}", "y")) == {}


# --- collectives that write into an operand ----------------------------------------------------------------------

GIVEN = [
    "p = f32[8] parameter(0)",
    "v = s32[2] parameter(1)",
    "z = s32[] constant(0)",
    "t = (s32[]) tuple(z)",
    "o = f32[8] negate(p)",
]
RAGGED = (
    "ragged { a = f32[8] parameter(0) b = f32[8] parameter(1) c = s32[2] parameter(2) d = s32[2] parameter(3)"
    " e = s32[2] parameter(4) f = s32[2] parameter(5)"
    " ROOT y = f32[8] ragged-all-to-all(a, b, c, d, e, f), replica_groups={{0,1}} }\n"
)
SLICES = "source_target_pairs={{0,1},{1,0}}, slice_sizes={{4}}"
INTO_SECOND = {
    "ragged": ["d = f32[8] ragged-all-to-all(p, o, v, v, v, v), replica_groups={{0,1}}"],
    "ragged in flight": [
        "s = ((f32[8], f32[8], s32[2], s32[2], s32[2], s32[2]), f32[8]) async-start(p, o, v, v, v, v), calls=ragged",
        "d = f32[8] async-done(s)",
    ],
    "slices": [f"d = f32[8] collective-permute(p, o, t, t), {SLICES}"],
    "slices in flight": [
        f"s = (f32[8], f32[8], u32[], u32[]) collective-permute-start(p, o, t, t), {SLICES}",
        "d = f32[8] collective-permute-done(s)",
    ],
}


@pytest.mark.parametrize("moved", INTO_SECOND.values(), ids=INTO_SECOND)
def test_a_collective_that_is_given_its_result_writes_into_it(moved: list[str]) -> None:
    before = RAGGED if "calls=" in moved[0] else ""
    lines = [*GIVEN, *moved, "n = f32[8] negate({})", "ROOT r = (f32[8], f32[8]) tuple(d, n)"]
    refuted = [set(found(text([line.replace("({})", f"({x})") for line in lines], before, SCHEDULED))) for x in "opd"]
    assert refuted == [{"hazard-overwrite"}, set(), set()]


@pytest.mark.parametrize(
    ("moved", "pairs"),
    [
        (f"(f32[4], f32[4]) collective-permute(p, p, z, z), {SLICES}", [((0,), 1, (0,)), ((1,), 1, (1,))]),
        (
            f"((f32[4], f32[4]), (f32[4], f32[4]), u32[], u32[]) collective-permute-start(p, p, z, z), {SLICES}",
            [((1, 0), 1, (0,)), ((1, 1), 1, (1,))],
        ),
        ("f32[4] collective-permute(x), source_target_pairs={{0,1}}", []),
    ],
)
def test_a_permutation_of_several_arrays_writes_into_each_and_not_into_their_table(
    moved: str, pairs: list[Pair]
) -> None:
    given = "x = f32[4] parameter(0)\np = (f32[4], f32[4]) parameter(1)\nz = u32[] constant(0)\n"
    module = parse_module(f"HloModule m\nENTRY e {{\n{given}ROOT r = {moved}\n}}\n")
    assert list(in_place_operand(module.entry.root)) == pairs
