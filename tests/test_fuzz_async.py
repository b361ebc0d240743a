"""Target `async`: each judge finds a claim that has gone blind and one that refutes too much; orders are all orders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import permutations
from typing import Any

import pytest
from hypothesis import find

from hloproof.claims.asynchronous import judge
from hloproof.claims.asynchronous.judgement import Judgement, judged
from hloproof.fuzz.asynchronous import target_async
from hloproof.fuzz.asynchronous.generate import BREAKS, SLIP, chain_modules
from hloproof.fuzz.asynchronous.in_place import spoils_itself
from hloproof.fuzz.asynchronous.simulation import Step, moments
from hloproof.fuzz.asynchronous.slips import SLIPS
from hloproof.fuzz.chunk import first_failure
from hloproof.fuzz.target import Failure
from hloproof.fuzz.targets import target
from hloproof.models.hlo.parser import parse_module

CLAIMS = (
    "async-chain",
    "async-linear",
    "async-thread",
    "async-computation",
    "async-shape",
    "async-done",
    "async-binding",
    "async-channel",
    "collective-deadlock",
    "buffer-alias",
    "hazard-operand",
    "hazard-output",
    "hazard-overwrite",
    "hazard-in-place",
)


KIND = {
    "async-channel": "channels",
    "collective-deadlock": "channels",
    "buffer-alias": "buffers",
    "hazard-in-place": "in_place",
}
"""The cases of the target that break a claim; hazards are those of flights, what is left belongs to chains."""


def blind(claim: str) -> Callable[..., Iterator[Judgement]]:
    """A judge that finds nothing wrong with one claim."""

    def wrong(*arguments: Any) -> Iterator[Judgement]:
        return (judged(j.claim, j.place) if j.claim == claim else j for j in judge(*arguments))

    return wrong


def strict(*arguments: Any) -> Iterator[Judgement]:
    return (judged(j.claim, j.place, j.problem or "planted") for j in judge(*arguments))


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_claim_that_finds_nothing_is_found_out(claim: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target_async, "judge", blind(claim))
    kind = KIND.get(claim, "flights" if claim.startswith("hazard") else "chains")
    found = first_failure(replace(target("async"), cases=target_async.KINDS[kind].drawn), 1, 3000)
    assert found is not None and found.cause.startswith(f"async: {claim} is proved where it is broken")


def test_a_claim_that_finds_too_much_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target_async, "judge", strict)
    found = first_failure(target("async"), 1, 20)
    assert found is not None and "is refuted where it holds" in found.cause


@pytest.mark.parametrize(
    ("kind", "oracle", "wrong"),
    [
        ("aliases", "reading.handed", lambda i, given: ()),
        ("aliases", "reading.updated", lambda module, i: ()),
        ("flights", "simulation.handed", lambda i, given: ()),
        ("flights", "simulation.updated", lambda module, i: ()),
        ("branches", "simulation.written_in", lambda i: []),
        ("orders", "order_checks.waits_of", lambda i: frozenset(i.operands)),
        ("channels", "channels._stuck", lambda module, steps: set()),
        ("buffers", "buffers._loses", lambda module, i: False),
        ("in_place", "in_place.spoils_itself", lambda module: False),
    ],
)
def test_an_oracle_that_is_wrong_is_found_out(
    kind: str, oracle: str, wrong: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"hloproof.fuzz.asynchronous.{oracle}", wrong)
    assert first_failure(replace(target("async"), cases=target_async.KINDS[kind].drawn), 1, 300) is not None


@pytest.mark.parametrize("slip", SLIPS)
def test_every_slip_is_planted_and_breaks_its_claim(slip: str) -> None:
    made = partial(chain_modules, (slip,))
    text = find(
        made(), lambda text: text.startswith(f"{SLIP}{slip}\n") and "refused" not in target_async.examine(text)[0]
    )
    assert f"{BREAKS}{SLIPS[slip].claim} " in text


def test_moments_are_those_of_all_orders() -> None:
    waits = {"a": "", "b": "", "c": "a", "d": "bc", "e": "a"}
    steps = [Step(name, frozenset(before)) for name, before in waits.items()]
    expected = set()
    for order in permutations(waits):
        if all(set(order[:n]) >= set(waits[name]) for n, name in enumerate(order)):
            expected |= {(frozenset(order[:n]), name) for n, name in enumerate(order)}
    assert {(before, step.name) for before, step in moments(steps)} == expected


STATE = "(f32[4], f32[4], u32[])"
LOOP = f"""HloModule chains

stop {{
  t = ({STATE}, {STATE}, f32[4]) parameter(0)
  ROOT k = pred[] constant(false)
}}

body {{
  t = ({STATE}, {STATE}, f32[4]) parameter(0)
  s0 = {STATE} get-tuple-element(t), index=0
  s1 = {STATE} get-tuple-element(t), index=1
  x = f32[4] get-tuple-element(t), index=2
  d = f32[4] copy-done(s0)
  n = {STATE} copy-start(x)
  ROOT r = ({STATE}, {STATE}, f32[4]) tuple(OUT, x)
}}

ENTRY e {{
  p = f32[4] parameter(0)
  a = {STATE} copy-start(p)
  b = {STATE} copy-start(p)
  given = ({STATE}, {STATE}, f32[4]) tuple(a, b, p)
  loop = ({STATE}, {STATE}, f32[4]) while(given), condition=stop, body=body
  g0 = {STATE} get-tuple-element(loop), index=0
  g1 = {STATE} get-tuple-element(loop), index=1
  e0 = f32[4] copy-done(g0)
  e1 = f32[4] copy-done(g1)
  ROOT root = f32[4] negate(p)
}}
"""


@pytest.mark.parametrize(
    ("out", "finished_twice"),
    [("s1, n", set()), ("n, s1", set()), ("s1, s1", {"b"}), ("n, n", {"n"}), ("s0, n", {"a"}), ("s1, s0", {"a", "b"})],
)
def test_two_operations_that_a_loop_turns_round(out: str, finished_twice: set[str]) -> None:
    found = judge(parse_module(LOOP.replace("OUT", out)), lambda c: c == "async-chain", lambda c: False)
    assert {j.place.instruction for j in found if "twice" in (j.problem or "")} == finished_twice


FUSED = """HloModule in_place, is_scheduled=true

fused {
  v = f32[4] parameter(0)
  i = s32[] parameter(1)
  j = s32[] parameter(2)
  a = f32[2] dynamic-slice(v, WHERE), dynamic_slice_sizes={2}
  b = f32[2] TURN
  ROOT u = f32[4] dynamic-update-slice(v, b, i)
}

ENTRY e {
  v = f32[4] parameter(0)
  i = s32[] parameter(1)
  j = s32[] parameter(2)
  ROOT f = f32[4] fusion(v, i, j), kind=kLoop, calls=fused
}
"""


@pytest.mark.parametrize(
    ("where", "turn", "spoils"),
    [("i", "add(a, a)", False), ("i", "reverse(a), dimensions={0}", True), ("j", "add(a, a)", True)],
)
def test_an_update_carried_out_in_place(where: str, turn: str, spoils: bool) -> None:
    text = FUSED.replace("WHERE", where).replace("TURN", turn)
    assert spoils_itself(parse_module(text)) is spoils
    assert target_async.examine(text)


def test_a_module_that_cannot_be_read_is_a_failure_unless_it_is_written_wrongly() -> None:
    wrong = "HloModule chains\n\nENTRY e {\n  p = f32[4] parameter(0)\n  ROOT s = f32[4] copy-start(p)\n}\n"
    assert target_async.examine("// a slip: \n" + wrong) == ("refused when read",)
    with pytest.raises((Failure, Exception), match="copy-start"):
        target_async.examine(wrong)


_NAMES_DEVICES = """HloModule channels, is_scheduled=true

ENTRY e {
  p = f32[4] parameter(0)
  t = token[] after-all()
  r = (f32[4], u32[], token[]) recv(t), channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1}}"}
  rd = (f32[4], token[]) recv-done(r), channel_id=1
  s = (f32[4], u32[], token[]) send(p, t), channel_id=2, is_host_transfer=true,
    frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1}}"}
  sd = token[] send-done(s), channel_id=2, is_host_transfer=true
  ROOT v = f32[4] negate(p)
}
"""


def test_what_is_unknown_of_a_whole_module_is_said_of_each_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """A transfer to the host that names devices: the recv that nobody serves is not named, and nothing is proved."""
    assert "collective-deadlock unknown" in target_async.examine(_NAMES_DEVICES)
    monkeypatch.setattr(target_async, "judged", lambda module, claims: (set(), set(), set()))
    with pytest.raises(Failure, match="collective-deadlock says nothing of what breaks it"):
        target_async.examine(_NAMES_DEVICES)
