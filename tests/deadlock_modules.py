"""Modules of sends, recvs and collective operations, made of short words: what tests of deadlocks are written in."""

from __future__ import annotations

from typing import Final

from hloproof.claims.asynchronous import judge
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Found

STATE: Final = "(f32[8], u32[], token[])"
SUM: Final = "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n"


ASIDE: Final = 'execution_thread="x"'
WORDS: Final = {
    "sum": "sum = f32[8] all-reduce(p), replica_groups={}, to_apply=add",
    "sum-alone": "sum = f32[8] all-reduce(p), replica_groups={{0},{1}}, to_apply=add",
    "sum-start": "sums = f32[8] all-reduce-start(p), replica_groups={}, to_apply=add",
    "alone-start": "sums = f32[8] all-reduce-start(p), replica_groups={{0},{1}}, to_apply=add",
    "sum-done": "sum = f32[8] all-reduce-done(sums)",
    "cast": "cast = f32[8] collective-broadcast(p), replica_groups={{0,1}}",
    "forth": "moved = f32[8] collective-permute(p), source_target_pairs={{0,1}}",
    "back": "moved = f32[8] collective-permute(p), source_target_pairs={{1,0}}",
    "turned": "moved = f32[8] collective-permute(p), source_target_pairs={{2,1}}",
    "sum-at-one": "sum = f32[8] collective-reduce(p), replica_groups={{0,1}}, to_apply=add",
    "sum-in-a-mode": "sum = f32[8] all-reduce(p), replica_groups={{0,1}}, to_apply=add, mode=cross_replica",
    "start": f"f = ((f32[8]), f32[8], u32[]) async-start(p), calls=aside, async_{ASIDE}",
    "done": "fd = f32[8] async-done(f)",
    "start-two": f"f = ((token[]), ({STATE}, {STATE}), u32[]) async-start(t), calls=aside, async_{ASIDE}",
    "done-two": f"fd = ({STATE}, {STATE}) async-done(f)",
    "const": "p = f32[8] constant({1,2,3,4,5,6,7,8})",
    "call-aside-again": "z2 = f32[8] call(p), to_apply=aside",
    "call-aside": "z = f32[8] call(p), to_apply=aside",
    "call": "y = f32[8] call(p), to_apply=inside",
    "again": "z = f32[8] call(p), to_apply=inside",
}


PAIRS: Final = {"2": "{1,0}", "4": "{1,0}", "6": "{1,2}", "7": "{2,0}", "0": "{3,4}", "8": "{4,5}", "9": "{5,3}"}


def line_of(word: str) -> str:
    """`s1` sends on channel 1 and `r1` receives, from device 0 to 1; on channels 2 and 4 it is from 1 to 0, on 6 from
    1 to 2, on 7 from 2 to 0, on 0, 8 and 9 round 3, 4 and 5. Capital letters are their dones, further letters tell
    those of one channel apart."""
    if word in WORDS:
        return WORDS[word]
    name = word[1:]
    pair = PAIRS.get(name[0], "{0,1}")
    said = f'channel_id={name[0]}, frontend_attributes={{_xla_send_recv_source_target_pairs="{{{pair}}}"}}'
    return {
        "s": f"s{name} = {STATE} send(p, t), {said}",
        "r": f"r{name} = {STATE} recv(t), {said}",
        "S": f"sd{name} = token[] send-done(s{name}), channel_id={name[0]}",
        "R": f"rd{name} = (f32[8], token[]) recv-done(r{name}), channel_id={name[0]}",
    }[word[0]]


def lines_of(order: str) -> list[str]:
    return [line_of(word) for word in order.split()]


def computation_of(name: str, lines: list[str], given: str = "p = f32[8] parameter(0)") -> str:
    token = [] if given.startswith("t =") else ["t = token[] after-all()"]
    *most, root = [given, *token, *lines]
    return f"{name} {{\n" + "".join(f"  {line}\n" for line in most) + f"  ROOT {root}\n}}"


def module_of(lines: list[str], before: str = "", devices: str = "replica_count=2") -> str:
    entry = computation_of("ENTRY e", [*lines, "n = f32[8] negate(p)"])
    return f"HloModule m, is_scheduled=true, {devices}\n{SUM}{before}{entry}\n"


def flat(order: str, devices: str = "replica_count=2") -> str:
    return module_of(lines_of(order), devices=devices)


ADDS: Final = "adds {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT c = s32[] add(a, b)\n}\n"
CHOSEN: Final = "  ROOT y = f32[8] conditional(q, p, p), true_computation=this, false_computation=that\n"


def decided(lines: list[str], before: str = "", devices: str = "replica_count=4") -> str:
    """A branch with a send and its recv, taken as the lines say in q."""
    lines = ["one = s32[] constant(1)", *lines]
    lines.append(CHOSEN.replace("ROOT", "").strip())
    this = computation_of("this", [*lines_of("r1 s1 R1 S1"), "q = f32[8] negate(p)"]) + "\n"
    return module_of(lines, this + computation_of("that", ["q = f32[8] negate(p)"]) + "\n" + before, devices)


def exchanged(held: str, done: str, begun: list[str], order: str, aside: str = "") -> str:
    """What is begun as `a` and `b` changes places in one turn; `X` ends `b` then, and `Y` ends `a`."""
    state = f"(s32[], {held}, {held})"
    words = {n.upper(): f"d{n} = {done.format(n)}" for n in "xy"}
    body = (
        f"turn {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        f"  a = {held} get-tuple-element(st), index=1\n  b = {held} get-tuple-element(st), index=2\n"
        f"  one = s32[] constant(1)\n  j = s32[] add(k, one)\n  ROOT r = {state} tuple(j, b, a)\n}}\n"
        f"more {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        "  m = s32[] constant(1)\n  ROOT l = pred[] compare(k, m), direction=LT\n}\n"
    )
    lines = [
        *begun,
        "zero = s32[] constant(0)",
        f"i = {state} tuple(zero, a, b)",
        f"w = {state} while(i), condition=more, body=turn",
        *(f"{n} = {held} get-tuple-element(w), index={k}" for n, k in (("x", 1), ("y", 2))),
        *(words.get(w) or line_of(w) for w in order.split()),
    ]
    return module_of(lines, aside + body)


def found_of(text: str) -> list[Found]:
    return [j.found for j in judge(parse_module(text), lambda c: c == "collective-deadlock", lambda c: False)]
