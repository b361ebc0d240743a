"""Chains on every path, and what links declare: each module that breaks a claim stands beside one that keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest

from hloproof.pipeline.driver import check_hlo
from hloproof.pipeline.options import Options

_STATE: Final = "((f32[4]), f32[4], u32[])"
_WRAPPED: Final = 'wrapped {\n p = f32[4] parameter(0)\n ROOT c = f32[4] custom-call(p), custom_call_target="foo"\n}\n'
_HAND_ON: Final = f"f {{\n ROOT s = {_STATE} parameter(0)\n}}\ng {{\n ROOT s = {_STATE} parameter(0)\n}}\n"
_FINISH: Final = (
    f"f {{\n s = {_STATE} parameter(0)\n ROOT d = f32[4] async-done(s), calls=wrapped\n}}\n"
    f"g {{\n s = {_STATE} parameter(0)\n d = f32[4] async-done(s), calls=wrapped\n ROOT n = f32[4] negate(d)\n}}\n"
)
_FORGET: Final = (
    f"f {{\n s = {_STATE} parameter(0)\n ROOT d = f32[4] async-done(s), calls=wrapped\n}}\n"
    f"g {{\n s = {_STATE} parameter(0)\n ROOT n = f32[4] constant({{1,2,3,4}})\n}}\n"
)
_BY_BRANCH: Final = "true_computation=f, false_computation=g"


def _entry(body: str, before: str = "", header: str = "") -> str:
    given = " p = f32[4] parameter(0)\n q = pred[] parameter(1)\n"
    return f"HloModule m{header}\n{_WRAPPED}{before}ENTRY e {{\n{given}{body}}}\n"


def _start(name: str, operand: str = "p") -> str:
    return f" {name} = {_STATE} async-start({operand}), calls=wrapped\n"


def _done(operand: str) -> str:
    return f" ROOT r = f32[4] async-done({operand}), calls=wrapped\n"


def _loop(body: str, after: str = _done("o")) -> str:
    """A start before a loop of three turns whose state is a counter and the operation."""
    state = f"(s32[], {_STATE})"
    before = (
        f"cond {{\n t = {state} parameter(0)\n k = s32[] get-tuple-element(t), index=0\n n = s32[] constant(3)\n"
        " ROOT l = pred[] compare(k, n), direction=LT\n}\n"
        f"body {{\n t = {state} parameter(0)\n k = s32[] get-tuple-element(t), index=0\n"
        f" s = {_STATE} get-tuple-element(t), index=1\n{body} ROOT r = {state} tuple(k, u)\n}}\n"
    )
    main = (
        f"{_start('s')} z = s32[] constant(0)\n i = {state} tuple(z, s)\n"
        f" w = {state} while(i), condition=cond, body=body\n o = {_STATE} get-tuple-element(w), index=1\n{after}"
    )
    return _entry(main, before)


def _branches(first: str, second: str, bodies: str, result: str, after: str) -> str:
    starts = "".join(_start(n) for n in dict.fromkeys((first, second)))
    return _entry(f"{starts} {result} conditional(q, {first}, {second}), {_BY_BRANCH}\n{after}", bodies)


def _update(rest: str, shape: str = _STATE) -> str:
    return _entry(f"{_start('s')} u = {shape} async-update(s), calls=wrapped{rest}\n{_done('u')}")


def _opaque(alias: str, result: str = "f32[4]") -> str:
    rest = f'custom_call_target="foo", output_to_operand_aliasing={alias}'
    return _entry(f" ROOT c = {result} custom-call(p), {rest}\n")


def _to_host(shape: str, value: str) -> str:
    host = "channel_id=1, is_host_transfer=true"
    return _entry(
        f" w = f32[8] constant({{1,2,3,4,5,6,7,8}})\n t = token[] after-all()\n"
        f" s = (f32[4], u32[], token[]) send(p, t), {host}\n sd = token[] send-done(s), {host}\n"
        f" v = ({shape}, u32[], token[]) send({value}, sd), {host}\n vd = token[] send-done(v), {host}\n"
        " ROOT r = f32[4] negate(p)\n"
    )


def _from_host(said: str) -> str:
    return _entry(
        " t = token[] after-all()\n v = (f32[4], u32[], token[]) recv(t), channel_id=1, is_host_transfer=true\n"
        f" vd = (f32[4], token[]) recv-done(v), channel_id=1{said}\n ROOT r = f32[4] get-tuple-element(vd), index=0\n"
    )


def _scheduled(first: str, second: str) -> str:
    return _entry(f" {first}\n {second}\n ROOT r = f32[4] add(x, y)\n", header=", is_scheduled=true")


def _sugar(text: str, done: str, result: str) -> str:
    return _entry(f" {text}\n ROOT d = {result} {done}(s)\n")


def _gathered(result: str) -> str:
    start = f" s = (f32[4], {result}) all-gather-start(p), dimensions={{0}}, replica_groups={{{{0,1}}}}\n"
    return _entry(f"{start} ROOT d = {result} all-gather-done(s)\n", header=", replica_count=2")


def _called(aliases: str, given: str = "p, n", result: str = "f32[4]") -> str:
    rest = f'custom_call_target="foo", output_to_operand_aliasing={aliases}'
    return _entry(f" n = f32[4] negate(p)\n ROOT c = {result} custom-call({given}), {rest}\n")


def _inside(end: str) -> str:
    """An operation in flight whose computation starts another one."""
    mid = (
        f"mid {{\n p = f32[4] parameter(0)\n s = {_STATE} async-start(p), calls=wrapped\n {end}\n}},"
        ' execution_thread="aside"\n'
    )
    thread = 'calls=mid, async_execution_thread="aside"'
    return _entry(f" o = {_STATE} async-start(p), {thread}\n ROOT r = f32[4] async-done(o), {thread}\n", mid)


def _written_in_flight(first: str, second: str) -> str:
    """Sugar around a call whose result is written where its operand lies, and a reader of that operand."""
    lines = {
        "start": f's = {_STATE} custom-call-start(k), custom_call_target="foo", '
        "output_to_operand_aliasing={{}: (0, {})}",
        "read": "v = f32[4] negate(k)",
    }
    body = f" k = f32[4] copy(p)\n {lines[first]}\n {lines[second]}\n d = f32[4] custom-call-done(s)\n"
    return _entry(f"{body} ROOT r = f32[4] add(d, v)\n", header=", is_scheduled=true")


def _transfers(order: str) -> str:
    """Two devices: channels 1 and 3 lead from the first to the second, channel 2 back. Sends, recvs and their dones."""
    lines: list[str] = []
    for word in order.split():
        way, n = word[0], word[1]
        there = "{{1,0}}" if n == "2" else "{{0,1}}"
        pairs = f'channel_id={n}, frontend_attributes={{_xla_send_recv_source_target_pairs="{there}"}}'
        lines.append(
            {
                "s": f"s{n} = (f32[4], u32[], token[]) send(p, t), {pairs}",
                "r": f"r{n} = (f32[4], u32[], token[]) recv(t), {pairs}",
                "S": f"sd{n} = token[] send-done(s{n}), channel_id={n}",
                "R": f"rd{n} = (f32[4], token[]) recv-done(r{n}), channel_id={n}",
            }[way]
        )
    body = " t = token[] after-all()\n" + "".join(f" {line}\n" for line in lines)
    return _entry(f"{body} ROOT r = f32[4] negate(p)\n", header=", is_scheduled=true, replica_count=2")


def _sent_by_two(then: str) -> str:
    """A computation that hands back a send is run in flight, and called once more."""
    state, host = "(f32[4], u32[], token[])", "channel_id=1, is_host_transfer=true"
    before = f"sends {{\n x = f32[4] parameter(0)\n t = token[] after-all()\n ROOT s = {state} send(x, t), {host}\n}}\n"
    main = f" a = ((f32[4]), {state}, u32[]) call-start(p), to_apply=sends\n b = {state} call-done(a)\n{then}"
    return _entry(main.replace("STATE", state).replace("HOST", host) + " ROOT n = f32[4] negate(p)\n", before)


def _sent(*dones: str, root: str) -> str:
    """What is sent to the host, and what the module gives of it."""
    lines = ("s = (f32[4], u32[], token[]) send(p, t)", *dones)
    whole = "".join(f" {line}, channel_id=1, is_host_transfer=true\n" for line in lines)
    return _entry(" t = token[] after-all()\n" + whole.replace(f" {root} =", f" ROOT {root} ="))


_X, _Y = "x = f32[4] negate(p)", "y = f32[4] exponential(p), control-predecessors={x}"
_CHOSEN = f"c = {_STATE}"

PAIRS: Final[Mapping[str, tuple[str, str, str, tuple[str, ...]]]] = {
    "a done in one branch only": (
        "async-chain",
        _branches("s", "s", _FORGET, "ROOT r = f32[4]", ""),
        _branches("s", "s", _FINISH, "ROOT r = f32[4]", ""),
        ("s",),
    ),
    "a conditional that chooses between two starts": (
        "async-chain",
        _branches("s", "t", _HAND_ON, _CHOSEN, _done("c")),
        _branches("s", "s", _HAND_ON, _CHOSEN, _done("c")),
        ("s", "t"),
    ),
    "a loop that replaces the operation it carries": (
        "async-chain",
        _loop(f" x = f32[4] constant({{1,2,3,4}})\n{_start('u', 'x')}"),
        _loop(f" x = f32[4] async-done(s), calls=wrapped\n{_start('u', 'x')}"),
        ("s", "u"),
    ),
    "an update that the loop around it forgets": (
        "async-chain",
        _loop(f" v = {_STATE} async-update(s), calls=wrapped\n u = {_STATE} opt-barrier(s)\n"),
        _loop(f" u = {_STATE} async-update(s), calls=wrapped\n"),
        ("v",),
    ),
    "a loop whose last operation nobody finishes": (
        "async-chain",
        _loop(f" x = f32[4] async-done(s), calls=wrapped\n{_start('u', 'x')}", " ROOT r = f32[4] negate(p)\n"),
        _loop(f" x = f32[4] async-done(s), calls=wrapped\n{_start('u', 'x')}"),
        ("s", "u"),
    ),
    "an update whose aliased result is not there": (
        "async-alias",
        _update(", output_to_operand_aliasing={{3}: (0, {2})}"),
        _update(", output_to_operand_aliasing={{2}: (0, {2})}"),
        ("u",),
    ),
    "an update whose aliased operand is not there": (
        "async-alias",
        _update(", output_to_operand_aliasing={{2}: (0, {3})}"),
        _update(", output_to_operand_aliasing={{0,0}: (0, {0,0})}"),
        ("u",),
    ),
    "an update that aliases other shapes": (
        "async-alias",
        _update(", output_to_operand_aliasing={{1}: (0, {2})}"),
        _update(", output_to_operand_aliasing={{1}: (0, {1})}"),
        ("u",),
    ),
    "an update with another context": ("async-shape", _update("", "((f32[4]), f32[4], s32[])"), _update(""), ("u",)),
    "an opaque call that aliases another size": (
        "buffer-alias",
        _opaque("{{}: (0, {})}", "f32[8]"),
        _opaque("{{}: (0, {})}"),
        ("c",),
    ),
    "an opaque call that aliases an operand it does not have": (
        "buffer-alias",
        _opaque("{{}: (1, {})}"),
        _opaque("{{1}: (0, {})}", "(f32[8], f32[4])"),
        ("c",),
    ),
    "one result of an opaque call in two operands": (
        "buffer-alias",
        _called("{{}: (0, {}), {}: (1, {})}"),
        _called("{{}: (0, {}), {}: (1, {})}", "p, p"),
        ("c",),
    ),
    "two results of an opaque call in one operand": (
        "buffer-alias",
        _called("{{0}: (0, {}), {1}: (0, {})}", result="(f32[4], f32[4])"),
        _called("{{0}: (0, {}), {1}: (1, {})}", result="(f32[4], f32[4])"),
        ("c",),
    ),
    "a result in flight in two operands": (
        "async-alias",
        _update(", output_to_operand_aliasing={{1}: (0, {1}), {1}: (0, {0,0})}"),
        _update(", output_to_operand_aliasing={{1}: (0, {1}), {0,0}: (0, {0,0})}"),
        ("u",),
    ),
    "an operation started by another and not finished": (
        "async-chain",
        _inside("ROOT n = f32[4] negate(p)"),
        _inside("ROOT d = f32[4] async-done(s), calls=wrapped"),
        ("s",),
    ),
    "sugar around a call that writes its operand, which is read meanwhile": (
        "hazard-output",
        _written_in_flight("start", "read"),
        _written_in_flight("read", "start"),
        ("s",),
    ),
    "transfers to the host of other shapes on one channel": (
        "async-channel",
        _to_host("f32[8]", "w"),
        _to_host("f32[4]", "p"),
        ("v",),
    ),
    "a recv from the host that no done of the host ends": (
        "async-channel",
        _from_host(""),
        _from_host(", is_host_transfer=true"),
        ("vd",),
    ),
    "what another channel brings is waited for on this one": (
        "collective-deadlock",
        _transfers("s3 r3 r1 r2 R1 R2 s1 s2 R3 S1 S2 S3"),
        _transfers("s3 r3 r1 s1 R1 s2 r2 R2 R3 S1 S2 S3"),
        ("r1", "r2"),
    ),
    "a send that flies and is called as well": (
        "async-chain",
        _sent_by_two(" c = STATE call(p), to_apply=sends\n"),
        _sent_by_two(" c = STATE call(p), to_apply=sends\n d = token[] send-done(c), HOST\n"),
        ("s",),
    ),
    "a send that the module hands back": (
        "async-chain",
        _sent(root="s"),
        _sent("d = token[] send-done(s)", root="d"),
        ("s",),
    ),
    "a done of what a done gave": (
        "async-chain",
        _sent("d = token[] send-done(s)", "e = token[] send-done(d)", root="e"),
        _sent("d = token[] send-done(s)", root="d"),
        ("e",),
    ),
    "a schedule against a control predecessor": ("hazard-order", _scheduled(_Y, _X), _scheduled(_X, _Y), ("y",)),
    **{
        f"a gathering of {what}": ("async-shape", _gathered(result), _gathered("f32[8]"), ("s",))
        for what, result in (("another size", "f32[9]"), ("another type", "s32[8]"))
    },
    "a sugared slice of another size": (
        "async-done",
        _sugar("s = ((f32[4]), f32[3], u32[]) slice-start(p), slice={[0:2]}", "slice-done", "f32[3]"),
        _sugar("s = ((f32[4]), f32[2], u32[]) slice-start(p), slice={[0:2]}", "slice-done", "f32[2]"),
        ("d",),
    ),
    "a sugared sum of another size": (
        "async-done",
        _sugar("s = ((f32[4], f32[4]), f32[3], u32[]) add-start(p, p)", "add-done", "f32[3]"),
        _sugar("s = ((f32[4], f32[4]), f32[4], u32[]) add-start(p, p)", "add-done", "f32[4]"),
        ("d",),
    ),
    "a sugared slice at run time of another size": (
        "async-done",
        _sugar(
            "z = s32[] constant(0)\n s = ((f32[4], s32[]), f32[3], u32[]) dynamic-slice-start(p, z), "
            "dynamic_slice_sizes={2}",
            "dynamic-slice-done",
            "f32[3]",
        ),
        _sugar(
            "z = s32[] constant(0)\n s = ((f32[4], s32[]), f32[2], u32[]) dynamic-slice-start(p, z), "
            "dynamic_slice_sizes={2}",
            "dynamic-slice-done",
            "f32[2]",
        ),
        ("d",),
    ),
}


def _refuted(text: str) -> set[tuple[str, str]]:
    records = list(check_hlo(text, Options(jobs=1)).records())
    assert records
    assert {r.verdict for r in records} <= {"proved", "refuted", "unknown"}
    return {(r.claim, r.instruction or "") for r in records if r.verdict == "refuted"}


@pytest.mark.parametrize(("claim", "broken", "kept", "places"), PAIRS.values(), ids=PAIRS)
def test_what_breaks_a_claim_is_refuted_and_its_twin_is_not(
    claim: str, broken: str, kept: str, places: tuple[str, ...]
) -> None:
    assert {(claim, place) for place in places} <= _refuted(broken)
    assert _refuted(kept) == set()
    assert any(r.claim == claim and r.verdict == "proved" for r in check_hlo(kept, Options(jobs=1)).records())


def test_a_loop_that_goes_on_for_ever_may_carry_an_operation_that_nobody_finishes() -> None:
    """No done stands anywhere, and the loop is the result: the form that compilers let pass."""
    text = _entry(
        f"{_start('s')} ROOT w = {_STATE} while(s), condition=cond, body=body\n",
        f"cond {{\n t = {_STATE} parameter(0)\n ROOT l = pred[] constant(true)\n}}\n"
        f"body {{\n t = {_STATE} parameter(0)\n x = f32[4] get-tuple-element(t), index=1\n"
        f" ROOT u = {_STATE} async-start(x), calls=wrapped\n}}\n",
    )
    assert _refuted(text) == set()


def test_a_done_in_a_loops_condition_counts() -> None:
    state = _STATE
    text = _entry(
        f"{_start('s')} w = {state} while(s), condition=cond, body=body\n{_done('w')}",
        f"cond {{\n t = {state} parameter(0)\n d = f32[4] async-done(t), calls=wrapped\n"
        f" ROOT l = pred[] constant(false)\n}}\nbody {{\n ROOT t = {state} parameter(0)\n}}\n",
    )
    assert ("async-chain", "s") in _refuted(text)


def test_a_send_in_a_branch_is_not_known_to_meet_a_recv_outside() -> None:
    pairs = 'channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1}}"}'
    send = f" s = (f32[4], u32[], token[]) send(x, t), {pairs}\n sd = token[] send-done(s), channel_id=1\n"
    recv = f" v = (f32[4], u32[], token[]) recv(t), {pairs}\n vd = (f32[4], token[]) recv-done(v), channel_id=1\n"
    begin, end = " x = f32[4] parameter(0)\n t = token[] after-all()\n", " ROOT n = f32[4] negate(x)\n"
    header = ", is_scheduled=true, replica_count=2"

    def verdicts(first: str, second: str) -> set[str]:
        bodies = f"f {{\n{begin}{first}{end}}}\ng {{\n{begin}{second}{end}}}\n"
        text = _entry(f" ROOT r = f32[4] conditional(q, p, p), {_BY_BRANCH}\n", bodies, header)
        return {r.verdict for r in check_hlo(text, Options(jobs=1)).records() if r.claim == "collective-deadlock"}

    assert verdicts(send, recv) == {"unknown"}
    assert verdicts(send + recv, "") == verdicts(send + recv, send + recv) == {"proved"}
