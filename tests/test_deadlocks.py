"""Devices that wait for one another for ever: the claim collective-deadlock on schedules with collective operations,
loops, branches, calls and operations in flight, each decided by hand."""

from __future__ import annotations

from typing import Final

import pytest

from hloproof.claims.asynchronous import device_events, judge
from hloproof.claims.asynchronous.closed_blocks import blocks_of
from hloproof.claims.asynchronous.device_events import Schedule
from hloproof.models.dataflow.async_chain import AsyncChains
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Found

_STATE: Final = "(f32[8], u32[], token[])"
_SUM: Final = "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n"
_ASIDE: Final = 'execution_thread="x"'
_WORDS: Final = {
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
    "start": f"f = ((f32[8]), f32[8], u32[]) async-start(p), calls=aside, async_{_ASIDE}",
    "done": "fd = f32[8] async-done(f)",
    "start-two": f"f = ((token[]), ({_STATE}, {_STATE}), u32[]) async-start(t), calls=aside, async_{_ASIDE}",
    "done-two": f"fd = ({_STATE}, {_STATE}) async-done(f)",
    "const": "p = f32[8] constant({1,2,3,4,5,6,7,8})",
    "call-aside-again": "z2 = f32[8] call(p), to_apply=aside",
    "call-aside": "z = f32[8] call(p), to_apply=aside",
    "call": "y = f32[8] call(p), to_apply=inside",
    "again": "z = f32[8] call(p), to_apply=inside",
}


_PAIRS: Final = {"2": "{1,0}", "4": "{1,0}", "6": "{1,2}", "7": "{2,0}", "0": "{3,4}", "8": "{4,5}", "9": "{5,3}"}


def _line(word: str) -> str:
    """`s1` sends on channel 1 and `r1` receives, from device 0 to 1; on channels 2 and 4 it is from 1 to 0, on 6 from
    1 to 2, on 7 from 2 to 0, on 0, 8 and 9 round 3, 4 and 5. Capital letters are their dones, further letters tell
    those of one channel apart."""
    if word in _WORDS:
        return _WORDS[word]
    name = word[1:]
    pair = _PAIRS.get(name[0], "{0,1}")
    said = f'channel_id={name[0]}, frontend_attributes={{_xla_send_recv_source_target_pairs="{{{pair}}}"}}'
    return {
        "s": f"s{name} = {_STATE} send(p, t), {said}",
        "r": f"r{name} = {_STATE} recv(t), {said}",
        "S": f"sd{name} = token[] send-done(s{name}), channel_id={name[0]}",
        "R": f"rd{name} = (f32[8], token[]) recv-done(r{name}), channel_id={name[0]}",
    }[word[0]]


def _lines(order: str) -> list[str]:
    return [_line(word) for word in order.split()]


def _computation(name: str, lines: list[str], given: str = "p = f32[8] parameter(0)") -> str:
    token = [] if given.startswith("t =") else ["t = token[] after-all()"]
    *most, root = [given, *token, *lines]
    return f"{name} {{\n" + "".join(f"  {line}\n" for line in most) + f"  ROOT {root}\n}}"


def _module(lines: list[str], before: str = "", devices: str = "replica_count=2") -> str:
    entry = _computation("ENTRY e", [*lines, "n = f32[8] negate(p)"])
    return f"HloModule m, is_scheduled=true, {devices}\n{_SUM}{before}{entry}\n"


def _flat(order: str, devices: str = "replica_count=2") -> str:
    return _module(_lines(order), devices=devices)


def _beside(inside: str, order: str) -> str:
    """The first order runs in flight, beside the second."""
    aside = _computation("aside", [*_lines(inside), "q = f32[8] negate(p)"])
    return _module(_lines(order), f"{aside}, {_ASIDE}\n")


def _sent_in_flight(order: str) -> str:
    """What is in flight begins a send and hands it back; its done ends it."""
    words = {
        "F": f"f = ((token[], f32[8]), {_STATE}, u32[]) async-start(t, p), calls=aside, async_{_ASIDE}",
        "D": f"fd = {_STATE} async-done(f)",
    }
    aside = f"aside {{\n  t = token[] parameter(0)\n  p = f32[8] parameter(1)\n  ROOT {_line('s2')}\n}}, {_ASIDE}\n"
    return _module([words.get(w) or _line(w) for w in order.split()], aside)


def _two_received(order: str) -> str:
    """What is in flight hands back two recvs, which its done ends both."""
    handed = f"q = ({_STATE}, {_STATE}) tuple(r1a, r1b)"
    aside = _computation("aside", [*_lines("r1a r1b"), handed], "t = token[] parameter(0)")
    return _module(_lines(order), f"{aside}, {_ASIDE}\n")


def _called(inside: str, order: str) -> str:
    return _module(_lines(order), _computation("inside", [*_lines(inside), "q = f32[8] negate(p)"]) + "\n")


_GIVEN: Final = "number = s32[] parameter(1)"
_OWN: Final = "own = u32[] replica-id()\n  number = s32[] convert(own)"


def _loop(turns: str, inside: str, before: str = "", after: str = "", asked: str = "") -> str:
    """A loop of so many turns: a number, one that the program is given, one that every device has of its own, or no
    end."""
    state = "(s32[], f32[8], s32[])"
    less = "l = pred[] constant(true)" if turns == "endless" else "l = pred[] compare(k, m), direction=LT"
    tested = "".join(f"  {line}\n" for line in (_line("const"), *_lines(asked)) if asked)
    body = (
        f"turn {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        "  p = f32[8] get-tuple-element(st), index=1\n  m = s32[] get-tuple-element(st), index=2\n"
        "  t = token[] after-all()\n"
        + "".join(f"  {line}\n" for line in _lines(inside))
        + f"  one = s32[] constant(1)\n  j = s32[] add(k, one)\n  ROOT r = {state} tuple(j, p, m)\n}}\n"
        f"more {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        f"  m = s32[] get-tuple-element(st), index=2\n{tested}  ROOT {less}\n}}\n"
    )
    number = {"given": _GIVEN, "own": _OWN}.get(turns, f"number = s32[] constant({turns.replace('endless', '1')})")
    lines = [number, *_lines(before), "zero = s32[] constant(0)", f"i = {state} tuple(zero, p, number)"]
    return _module([*lines, f"w = {state} while(i), condition=more, body=turn", *_lines(after)], body)


def _two_beside(order: str, threads: str, first: str = "r1 R1", second: str = "sum") -> str:
    """`F` and `D` are the start and the done of the first, `G` and `E` of the second, each on its thread."""
    words, before = dict[str, str](), ""
    for name, inside, thread, begin, end in zip("fg", (first, second), threads, "FG", "DE", strict=True):
        on = f'execution_thread="{thread}"'
        before += f"{_computation(f'run_{name}', [*_lines(inside), 'q = f32[8] negate(p)'])}, {on}\n"
        words[begin] = f"{name} = ((f32[8]), f32[8], u32[]) async-start(p), calls=run_{name}, async_{on}"
        words[end] = f"{name}d = f32[8] async-done({name})"
    return _module([words.get(w) or _line(w) for w in order.split()], before)


def _with_pairs(order: str, pairs: str, channel: str = "channel_id=1") -> str:
    """`r1b` and `s1b` have other pairs than `r1a` and `s1a`, and perhaps another channel."""
    lines = [
        _line(w).replace('"{{0,1}}"', f'"{pairs}"').replace("channel_id=1", channel) if w[1:] == "1b" else _line(w)
        for w in order.split()
    ]
    return _module(lines, devices="replica_count=3")


def _on_streams(order: str, streams: str) -> str:
    """Channel 1 leads from 0 to 1 and channel 2 back, on one stream or two; or what is received there on the second."""
    second = {"equal": "", "other": "rs2", "mixed": "r2"}[streams]
    said = ',_xla_send_recv_pipeline="1"}'
    lines = [_line(w)[:-1] + said if w[0] in second and w[1] in second else _line(w) for w in order.split()]
    return _module(lines)


def _choosing(order: str, inside: str, aside: str = "") -> str:
    """`if` stands for a branch with the inner order, beside what flies from `start` to `done`."""
    choice = "y = f32[8] conditional(q, p, p), true_computation=this, false_computation=that"
    words = {"if": f"q = pred[] parameter(1)\n  {choice}"}
    before = f"{_computation('aside', [*_lines(aside), 'q = f32[8] negate(p)'])}, {_ASIDE}\n"
    before += _computation("this", [*_lines(inside), "q = f32[8] negate(p)"]) + "\n"
    before += _computation("that", ["q = f32[8] negate(p)"]) + "\n"
    return _module([words.get(w) or _line(w) for w in order.split()], before, "replica_count=3")


def _decided_by_turns(most: str) -> str:
    """A branch by how often another loop turns."""
    parts = (
        "  st = (s32[], u32[]) parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        "  most = u32[] get-tuple-element(st), index=1\n"
    )
    loop = (
        f"fewer {{\n{parts}  c = s32[] convert(most)\n  ROOT l = pred[] compare(k, c), direction=LT\n}}\n"
        f"next {{\n{parts}  one = s32[] constant(1)\n  j = s32[] add(k, one)\n"
        "  ROOT r = (s32[], u32[]) tuple(j, most)\n}\n"
    )
    lines = [
        f"most = u32[] {most}",
        "none = s32[] constant(0)",
        "i = (s32[], u32[]) tuple(none, most)",
        "w = (s32[], u32[]) while(i), condition=fewer, body=next",
        "turned = s32[] get-tuple-element(w), index=0",
        "q = pred[] compare(turned, one), direction=EQ",
    ]
    return _decided(lines, loop)


def _ended_behind_its_done(order: str) -> str:
    """A recv in flight that is handed back by the done of its flight, and ended once more."""
    words = {
        "F": f"f = ((token[]), {_STATE}, u32[]) async-start(t), calls=aside, async_{_ASIDE}",
        "D": f"fd = {_STATE} async-done(f)",
        "E": "e = (f32[8], token[]) recv-done(fd), channel_id=1",
    }
    aside = _computation("aside", _lines("r1"), "t = token[] parameter(0)")
    return _module([words.get(w) or _line(w) for w in order.split()], f"{aside}, {_ASIDE}\n")


_CHOICES: Final = {
    "given": "q = pred[] parameter(1)",
    "given to all": "q = pred[] parameter(1), sharding={replicated}, parameter_replication={true}",
    "split": "qs = pred[2] parameter(1), sharding={devices=[2]0,1}\n  qq = pred[1] slice(qs), slice={[0:1]}\n"
    "  q = pred[] reshape(qq)",
    "given to each": "q = pred[] parameter(1), parameter_replication={false}",
    "yes": "q = pred[] constant(true)",
    "no": "q = pred[] constant(false)",
    "own": "own = u32[] replica-id()\n  zero = u32[] constant(0)\n  q = pred[] compare(own, zero), direction=EQ",
    "called": "q = pred[] call(), to_apply=who",
    "received": "fed = (pred[], token[]) infeed(t)\n  q = pred[] get-tuple-element(fed), index=0",
    "in flight": "fs = ((), pred[], u32[]) async-start(), calls=who\n  q = pred[] async-done(fs)",
    "in sugared flight": "fs = ((), pred[], u32[]) call-start(), to_apply=who\n  q = pred[] call-done(fs)",
    "part of what flew": 'fs = ((), (pred[], u32[]), u32[]) async-start(), calls=whose, async_execution_thread="x"\n'
    "  fd = (pred[], u32[]) async-done(fs)\n  q = pred[] get-tuple-element(fd), index=0",
    "copied in flight": "g = pred[] parameter(1)\n  fs = (pred[], pred[], u32[]) copy-start(g)\n"
    "  q = pred[] copy-done(fs)",
}
_WHO: Final = (
    "who {\n  own = u32[] partition-id()\n  zero = u32[] constant(0)\n"
    "  ROOT q = pred[] compare(own, zero), direction=EQ\n}\n"
    "whose {\n  own = u32[] partition-id()\n  zero = u32[] constant(0)\n"
    "  q = pred[] compare(own, zero), direction=EQ\n  ROOT r = (pred[], u32[]) tuple(q, own)\n}, "
    'execution_thread="x"\n'
)


def _branches(chosen: str, first: str, second: str, after: str = "") -> str:
    before = _WHO if "who" in _CHOICES[chosen] else ""
    for name, order in (("this", first), ("that", second)):
        before += _computation(name, [*_lines(order), "q = f32[8] negate(p)"]) + "\n"
    choice = "y = f32[8] conditional(q, p, p), true_computation=this, false_computation=that"
    return _module([_CHOICES[chosen], choice, *_lines(after)], before)


_ADDS: Final = "adds {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT c = s32[] add(a, b)\n}\n"
_MINE: Final = "mine {\n  a = u32[] parameter(0)\n  ROOT b = u32[] replica-id()\n}\n"
_CHOSEN: Final = "  ROOT y = f32[8] conditional(q, p, p), true_computation=this, false_computation=that\n"
_BOTH: Final = (
    f"both {{\n  q = pred[] parameter(0)\n  p = f32[8] constant({{1,2,3,4,5,6,7,8}})\n{_CHOSEN}}}, "
    'execution_thread="x"\n'
)


def _decided(lines: list[str], before: str = "", devices: str = "replica_count=4") -> str:
    """A branch with a send and its recv, taken as the lines say in q."""
    lines = ["one = s32[] constant(1)", *lines]
    lines.append(_CHOSEN.replace("ROOT", "").strip())
    this = _computation("this", [*_lines("r1 s1 R1 S1"), "q = f32[8] negate(p)"]) + "\n"
    return _module(lines, this + _computation("that", ["q = f32[8] negate(p)"]) + "\n" + before, devices)


def _counted(groups: str) -> str:
    """A branch that is taken where two devices are in a group."""
    total = f"total = s32[] all-reduce(one), replica_groups={groups}, to_apply=adds"
    is_two = "q = pred[] compare(total, two), direction=EQ"
    return _decided([total, "two = s32[] constant(2)", is_two], _ADDS)


def _mapped(function: str) -> str:
    lines = [
        "ones = u32[1] constant({1})",
        f"all = u32[1] map(ones), dimensions={{0}}, to_apply={function}",
        "first = u32[] reshape(all)",
        "two = u32[] constant(2)",
        "q = pred[] compare(first, two), direction=EQ",
    ]
    return _decided(lines, _MINE + _MINE.replace("mine", "theirs").replace("replica-id()", "negate(a)"))


def _mapped_by_a_call(inner: str) -> str:
    other = _MINE.replace("mine", "other").replace("replica-id()", inner)
    text = _mapped("theirs").replace("negate(a)", "call(a), to_apply=other")
    return text.replace("theirs {", f"{other}theirs {{")


def _said(more: str, send: str = "", recv: str = "") -> str:
    """A send and its recv on channel 5, with what the text says of each, before those of channel 1."""
    lines = [
        f"r5 = {_STATE} recv(t), channel_id=5{recv}{more}",
        f"s5 = {_STATE} send(p, t), channel_id=5{send}{more}",
        f"rd5 = (f32[8], token[]) recv-done(r5), channel_id=5{recv if 'host' in recv else ''}",
        f"sd5 = token[] send-done(s5), channel_id=5{send if 'host' in send else ''}",
    ]
    return _module([*lines, *_lines("r1 s1 R1 S1")])


def _pairs(value: str, more: str = "") -> str:
    return f", frontend_attributes={{_xla_send_recv_source_target_pairs={value}{more}}}"


def _inside_of_another(outer: str) -> str:
    """A branch that deadlocks where q holds, inside of one that is taken where it holds, or where it does not."""
    parts = {"deep": "r1 R1 sum s1 S1", "idle": ""}
    before = "".join(_computation(n, [*_lines(o), "q = f32[8] negate(p)"]) + "\n" for n, o in parts.items())
    before += (
        "both {\n  st = (pred[], f32[8]) parameter(0)\n  q = pred[] get-tuple-element(st), index=0\n"
        "  p = f32[8] get-tuple-element(st), index=1\n"
        "  ROOT y = f32[8] conditional(q, p, p), true_computation=deep, false_computation=idle\n}\n"
    )
    yes, no = ("st", "p") if outer == "where it holds" else ("p", "st")
    ways = ("both", "idle") if outer == "where it holds" else ("idle", "both")
    choice = f"y = f32[8] conditional(q, {yes}, {no}), true_computation={ways[0]}, false_computation={ways[1]}"
    return _module(["q = pred[] parameter(1)", "st = (pred[], f32[8]) tuple(q, p)", choice], before)


def _numbered(number: str) -> str:
    """A branch with a deadlock behind one without, of which a number chooses one."""
    parts = {"idle": "", "deep": "r1 R1 sum s1 S1"}
    before = "".join(_computation(n, [*_lines(o), "q = f32[8] negate(p)"]) + "\n" for n, o in parts.items())
    choice = "y = f32[8] conditional(n0, p, p), branch_computations={idle, deep}"
    return _module([f"n0 = s32[] constant({number})", *_lines("r1a s1a R1a S1a"), choice], before)


def _called_by_turns(other: str) -> str:
    """A call that does something where q holds, and again where it does not, or does: twice it holds 2 behind 0."""
    text = _inside_of_another("where it holds")
    end = text.index("idle {")
    deep = _computation("deep", [*_lines("s6a S6a r6a R6a s1a S1a r1a R1a"), "q = f32[8] negate(p)"]) + "\n"
    lines = [
        *_lines("r7 R7"),
        "q = pred[] parameter(1)",
        f"o = pred[] {other}(q)",
        "st = (pred[], f32[8]) tuple(q, p)",
        "su = (pred[], f32[8]) tuple(o, p)",
        "y = f32[8] call(st), to_apply=both",
        "z = f32[8] call(su), to_apply=both",
        *_lines("s7 S7"),
    ]
    before = deep + text[end : text.index("ENTRY")]
    return _module(lines, before, "replica_count=3")


def _flown(is_called_again: bool) -> str:
    """A computation with a sum in one branch that is called with a constant, and runs in flight with another number,
    or is called with that constant once more."""
    lines = [
        "own = u32[] replica-id()",
        "zero = u32[] constant(0)",
        "q = pred[] compare(own, zero), direction=EQ",
        "no = pred[] constant(false)",
        "c = f32[8] call(no), to_apply=both",
        *_lines("r1 s1 R1 S1"),
    ]
    if is_called_again:
        lines.append("d = f32[8] call(no), to_apply=both")
    else:
        lines += ["f = ((pred[]), f32[8], u32[]) async-start(q), calls=both", "fd = f32[8] async-done(f)"]
    this = _computation("this", _lines("sum")) + "\n"
    return _module(lines, this + _computation("that", ["q = f32[8] negate(p)"]) + "\n" + _BOTH)


def _given_to(what: str, first: str = "r1 R1", last: str = "s1 S1") -> str:
    """A sum inside of what something else runs, between a recv-done and its send."""
    inside = _computation("inside", _lines("sum")) + "\n"
    return _module([*_lines(first), f"u = f32[8] {what}", *_lines(last)], inside)


def _sent_by_a_branch(idle: str) -> str:
    """One branch sends and leaves in flight who receives; the other leaves what is idle."""
    flight = f"f = ((f32[8]), f32[8], u32[]) async-start(p), calls={{}}, async_{_ASIDE}"
    before = f"{_computation('aside', [*_lines('r1 R1'), 'q = f32[8] negate(p)'])}, {_ASIDE}\n"
    before += f"{_computation('idle', ['q = f32[8] negate(p)'])}, {_ASIDE}\n"
    before += _computation("this", [*_lines("s1 S1"), flight.format("aside")]) + "\n"
    sent = _lines("s1 S1") if idle == "aside" else []
    before += _computation("that", [*sent, flight.format(idle)]) + "\n"
    y = "y = ((f32[8]), f32[8], u32[]) conditional(q, p, p), true_computation=this, false_computation=that"
    return _module(
        ["q = pred[] parameter(1)", *_lines("r1a"), y, *_lines("R1a s1z S1z"), "yd = f32[8] async-done(y)"], before
    )


def _ended_by(made: str, done: str = "x") -> str:
    """A recv that is ended by way of something else, with a sum between the done and its send."""
    of = "(f32[8], token[])"
    aside = f"aside {{\n  r = {_STATE} parameter(0)\n  ROOT d = {of} recv-done(r), channel_id=1\n}}, {_ASIDE}\n"
    flight = f"x = (({_STATE}), {of}, u32[]) async-start(r1), calls=aside, async_{_ASIDE}\n  d = {of} async-done(x)"
    parts = [f"x{n} = {part} get-tuple-element(r1), index={n}" for n, part in enumerate(("f32[8]", "u32[]", "token[]"))]
    way = {
        "flight": flight,
        "parameter": f"x = {_STATE} parameter(1)",
        "parts": "\n  ".join([*parts, f"x = {_STATE} tuple(x0, x1, x2)"]),
    }.get(made, f"x = {_STATE} {made}")
    ended = [] if made == "flight" else [f"d = {of} recv-done({done}), channel_id=1"]
    return _module([*_lines("r1"), way, *ended, *_lines("sum s1 S1")], aside if made == "flight" else "")


def _told(order: str, opcode: str, word: str) -> str:
    """The order with a word behind the first attribute of one of its operations."""
    begin, _, end = _flat(order).partition(f" {opcode}(")
    operands, _, rest = end.partition("), ")
    return f"{begin} {opcode}({operands}), {word}, {rest}"


def _scattered(how: str) -> str:
    lines = [
        "g = s32[2] parameter(1)",
        "at = s32[2,1] constant({{0},{0}})",
        "updated = s32[2] scatter(g, at, g), update_window_dims={}, inserted_window_dims={0}, "
        f"scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=adds{how}",
        "first = s32[1] slice(updated), slice={[0:1]}",
        "number = s32[] reshape(first)",
        "q = pred[] compare(number, one), direction=EQ",
    ]
    return _decided(lines, _ADDS)


def _worked_out(said: str) -> str:
    """A branch with a deadlock that a constant does not choose, if what is written beside it says nothing."""
    choice = _branches("no", "r1 R1 sum s1 S1", "r2 s2 R2 S2")
    return choice.replace("q = pred[] constant(false)", f"q0 = pred[] constant(true)\n  q = pred[] not(q0){said}")


def _turned_beside(said: str) -> str:
    text = _loop("1", "s1 S1", after="r1 R1")
    return text.replace("direction=LT", f"direction=LT{said}")


def _turned_sums(order: str) -> str:
    """A loop that carries a sum in flight: a turn begins the next one, and ends that of the turn before."""
    words = {
        "begin": "an = f32[8] all-reduce-start(p), replica_groups={}, to_apply=add",
        "end": "ad = f32[8] all-reduce-done(x)",
    }
    body = (
        "turn {\n  st = (s32[], f32[8]) parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        "  x = f32[8] get-tuple-element(st), index=1\n  t = token[] after-all()\n"
        "  p = f32[8] constant({1,2,3,4,5,6,7,8})\n"
        + "".join(f"  {words.get(w) or _line(w)}\n" for w in order.split())
        + "  one = s32[] constant(1)\n  j = s32[] add(k, one)\n  ROOT r = (s32[], f32[8]) tuple(j, an)\n}\n"
        "more {\n  st = (s32[], f32[8]) parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        "  m = s32[] constant(3)\n  ROOT l = pred[] compare(k, m), direction=LT\n}\n"
    )
    lines = [
        _line("sum-start"),
        "zero = s32[] constant(0)",
        "i = (s32[], f32[8]) tuple(zero, sums)",
        "w = (s32[], f32[8]) while(i), condition=more, body=turn",
        "xx = f32[8] get-tuple-element(w), index=1",
        "last = f32[8] all-reduce-done(xx)",
    ]
    return _module(lines, body)


def _two_groups(a: int, b: int) -> str:
    """Groups of two of 2000 devices: device 1 waits for one that waits for device 0, and the other way round."""

    def groups(a: int, b: int) -> str:
        rest = ",".join(str(n) for n in range(2000) if n not in (a, b))
        return f"{{{{{a},{b}}},{{{rest}}}}}"

    sums = [f"a{n} = f32[8] all-reduce(p), replica_groups={groups(n, b)}, to_apply=add" for n in (1, 0)]
    return _module([*_lines("r1 R1"), *sums[:a], *_lines("s1 S1")], devices="replica_count=2000")


_PERMUTED: Final = [
    "m1 = f32[8] collective-permute(p), source_target_pairs={{1,5}}",
    "m2 = f32[8] collective-permute(p), source_target_pairs={{5,0}}",
]


def _with(inside: str, text: str) -> str:
    """A computation that runs in flight, in a module that starts it."""
    aside = _computation("aside", [*_lines(inside), "q = f32[8] negate(p)"])
    return text.replace(_SUM, f"{_SUM}{aside}, {_ASIDE}\n")


def _loop_in_flight(inside: str, before: str, after: str, run: str = "start done") -> str:
    """A loop that runs in flight between two orders, or is called, of as many turns as four numbers add up to."""
    turn, entry = _loop("given", inside).split("ENTRY e")
    lines = entry.split("\n")
    loop = "\n".join(lines[4:7])
    aside = (
        "aside {\n  p = f32[8] parameter(0)\n  four = s32[4] iota(), iota_dimension=0\n  none = s32[] constant(0)\n"
        "  number = s32[] reduce(four, none), dimensions={0}, to_apply=adds\n"
        f"{loop}\n  ROOT q = f32[8] negate(p)\n}}, {_ASIDE}\n"
    )
    return _module(_lines(f"{before} {run} {after}"), _ADDS + turn.split(_SUM)[1] + aside)


def _two_loops(inside: str) -> str:
    """Two loops that the program counts alike, device 1 two turns behind."""
    text = _loop("given", inside, **_TWO_AHEAD)
    loop = next(line for line in text.split("\n") if " while(i)" in line)
    return text.replace(loop, f"{loop}\n{loop.replace('w =', 'w2 =')}")


def _four_devices(inside: str) -> str:
    """Each device is a turn behind the one before it, and the first is let three turns ahead of the last."""
    before, after = "s2a s2b s2c S2a S2b S2c r1a R1a", "s1z S1z r2x r2y r2z R2x R2y R2z"
    text = _loop("given", inside, before=before, after=after).replace("{{0,1}}", "{{0,1},{1,2},{2,3}}")
    return text.replace("{{1,0}}", "{{3,0}}").replace("replica_count=2", "replica_count=4")


def _sums_of_branches() -> str:
    """Each branch begins a sum that is ended behind them."""
    sums = _line("sum-start")
    before = _computation("this", [sums]) + "\n" + _computation("that", [sums]) + "\n"
    chosen = "y = f32[8] conditional(q, p, p), true_computation=this, false_computation=that"
    return _module(
        ["q = pred[] parameter(1)", *_lines("r1 s1"), chosen, "yd = f32[8] all-reduce-done(y)", *_lines("R1 S1")],
        before,
    )


_OF_FIVE: Final = "channel_id=5, frontend_attributes={"
_TWO_AHEAD: Final = {"before": "s2a s2b S2a S2b r1a r1b R1a R1b", "after": "s1y s1z S1y S1z r2y r2z R2y R2z"}
"""Device 1 is two turns behind device 0, which is let two turns ahead."""


CASES: Final = {
    "a sum between a recv-done and its send": (_flat("r1 R1 sum s1 S1"), "refuted"),
    "a sum behind the send": (_flat("r1 s1 sum R1 S1"), "proved"),
    "a sum of each device alone": (_flat("r1 R1 sum-alone s1 S1"), "proved"),
    "a sum of who knows whom": (_flat("r1 R1 sum s1 S1", "replica_count=2, num_partitions=2"), "unknown"),
    "a sum of the replicas of each partition": (_flat("r1 R1 sum s1 S1", "num_partitions=2"), "proved"),
    # Two partitions: by numbers of devices, all of a replica, of partitions, or of replicas, one each.
    **{
        f"between partitions, {order}: {made}": (
            _module([_line(w) if w != "here" else f"here = {made}" for w in order.split()], devices="num_partitions=2"),
            "refuted" if order.startswith("r1 R1") and not made.endswith("dimensions={0}") else "proved",
        )
        for order in ("r1 R1 here s1 S1", "r1 s1 here R1 S1")
        for made in (
            "f32[8] all-reduce(p), replica_groups={{0,1}}, to_apply=add, channel_id=9, use_global_device_ids=true",
            "f32[8] all-reduce(p), replica_groups=[1,2]<=[2], to_apply=add, channel_id=9, use_global_device_ids=true",
            "f32[8] all-reduce(p), replica_groups={{0}}, to_apply=add, channel_id=9",
            "f32[8] all-to-all(p), replica_groups={{0,1}}, dimensions={0}, channel_id=9",
            "f32[8] all-to-all(p), replica_groups={{0}}, dimensions={0}",
        )
    },
    "a permutation that waits for the one who waits": (_flat("r1 R1 back s1 S1"), "refuted"),
    # Who sends in a permutation may wait for who takes it, and all may wait for all.
    "a permutation that waits for the other": (_flat("r1 R1 forth s1 S1"), "unknown"),
    "a permutation that waits for the other, behind the send": (_flat("r1 s1 forth R1 S1"), "proved"),
    "a permutation of others": (_flat("r1 R1 turned s1 S1", "replica_count=3"), "unknown"),
    "a permutation of others, behind the send": (_flat("r1 s1 turned R1 S1", "replica_count=3"), "proved"),
    "a sum that begins before a recv-done": (_flat("sum-start r1 R1 sum-done s1 S1"), "proved"),
    "a sum that begins behind a recv-done": (_flat("r1 R1 sum-start sum-done s1 S1"), "refuted"),
    "a sum that ends behind the send": (_flat("r1 R1 sum-start s1 S1 sum-done"), "unknown"),
    "a sum that begins behind a recv": (_flat("r1 sum-start sum-done s1 S1 R1"), "unknown"),
    "the same, not in flight": (_flat("r1 sum s1 S1 R1"), "proved"),
    "the same, behind the send": (_flat("r1 s1 sum-start sum-done S1 R1"), "proved"),
    "a sum in flight behind a recv": (_beside("sum", "r1 start done s1 S1 R1"), "unknown"),
    "a sum in flight behind a recv and its send": (_beside("sum", "r1 s1 start done S1 R1"), "proved"),
    "a sum that begins before who waits for the send": (_flat("sum-start r1 R1 s1 S1 sum-done"), "proved"),
    "what is in flight sends only after it has received": (_beside("r2 R2 s1 S1", "start r1 R1 s2 S2 done"), "refuted"),
    "the same, and who receives sends first": (_beside("r2 R2 s1 S1", "start r1 s2 S2 R1 done"), "unknown"),
    "a flight that sends behind a recv, over before a sum": (_sent_in_flight("r1 F D sum s1 R1 S1 r2 R2"), "unknown"),
    "a flight that sends behind a recv, over behind it": (_sent_in_flight("r1 F sum s1 D R1 S1 r2 R2"), "proved"),
    "the same, and who receives has sent": (_beside("r2 R2 s1 S1", "s2 S2 start r1 R1 done"), "proved"),
    "what is in flight sends first": (_beside("s1 S1 r2 R2", "start r1 R1 s2 S2 done"), "proved"),
    "a done of what waits for what comes later": (_beside("r2 R2 s1 S1", "start done r1 R1 s2 S2"), "refuted"),
    "a sum in flight beside a recv-done": (_beside("sum", "start r1 R1 s1 S1 done"), "proved"),
    "a sum in flight behind a recv-done": (_beside("sum", "r1 R1 start done s1 S1"), "refuted"),
    "two recvs at one done, one send so far": (
        _two_received("start-two s1a r2 done-two s2 R2 s1b S1a S1b S2"),
        "refuted",
    ),
    "two recvs at one done, and two sends": (_two_received("start-two s1a s1b r2 done-two s2 R2 S1a S1b S2"), "proved"),
    "two recv-dones, one send so far": (_flat("r1a r1b s1a r2 R1a R1b s2 R2 s1b S1a S1b S2"), "refuted"),
    "two recv-dones, and two sends": (_flat("r1a r1b s1a s1b r2 R1a R1b s2 R2 S1a S1b S2"), "proved"),
    "a call, and again, that sends": (_called("s1 S1", "call again r1 R1"), "refuted"),
    "a call, and again, and two recvs": (_called("s1 S1", "call again r1 R1 r1b R1b"), "proved"),
    **{
        f"a loop of {n} turns that sends, and one recv": (_loop(n, "s1 S1", after="r1 R1"), said)
        for n, said in (("0", "refuted"), ("1", "proved"), ("2", "refuted"), ("given", "unknown"))
    },
    "a loop of three turns that sends, and three recvs": (_loop("3", "s1 S1", after="r1 R1 r1b R1b r1c R1c"), "proved"),
    "a loop of one turn that sends what is waited for before it": (_loop("1", "s1 S1", before="r1 R1"), "proved"),
    "a loop of no turns that sends what is waited for": (_loop("0", "s1 S1", before="r1 R1"), "refuted"),
    "a loop that the program counts, with both": (_loop("given", "r1 s1 R1 S1"), "proved"),
    "a loop that each device counts, with both": (_loop("own", "r1 s1 R1 S1"), "unknown"),
    "a loop with a send of each kind ahead": (
        _loop("given", "s1 S1 r1 R1 r2 R2 s2 S2", before="r1a s1a s2a S2a", after="R1a S1a r2a R2a"),
        "proved",
    ),
    # The form that compilers let pass: device 0 is said to leave a loop that has no end.
    "a loop without an end": (_loop("endless", "s1 S1 r2 R2", before="r1 R1", after="s2 S2"), "proved"),
    **{
        f"a branch that is {chosen}, with both": (_branches(chosen, "r1 s1 R1 S1", ""), said)
        for chosen, said in (
            ("given", "proved"),
            ("own", "unknown"),
            ("called", "unknown"),
            ("received", "unknown"),
            ("in flight", "unknown"),
            ("in sugared flight", "unknown"),
            ("part of what flew", "unknown"),
            ("copied in flight", "proved"),
        )
    },
    "a device that is not there": (_flat("r1 s1 R1 S1").replace("{{0,1}}", "{{0,2}}"), "refuted"),
    "a device that may be there": (_flat("r1 s1 R1 S1", "replica_count=1").replace("{{0,1}}", "{{0,2}}"), "proved"),
    **{
        f"a sum in a branch that is {chosen}": (_branches(chosen, "sum", "", after="r1 s1 R1 S1"), said)
        for chosen, said in (("own", "unknown"), ("given", "proved"))
    },
    "a sum in a loop that each device counts": (_loop("own", "sum", after="r1 s1 R1 S1"), "unknown"),
    "a sum in a loop that the program counts": (_loop("given", "sum", after="r1 s1 R1 S1"), "proved"),
    "behind a branch that is own, with both": (_branches("own", "r1 s1 R1 S1", "", after="r2 s2 R2 S2"), "unknown"),
    # Two turns and four turns are different matters.
    **{
        f"{n} turns, device 1 two turns behind": (_loop(n, "r2 R2 s1 S1 r1 R1 s2 S2", **_TWO_AHEAD), said)
        for n, said in (("2", "proved"), ("3", "refuted"), ("given", "unknown"))
    },
    # The second send lies behind the recv of the first turn, and who sends to that recv meets the others before.
    **{
        f"a send of a second turn behind a recv, {met}": (
            _loop("2", "s1 S1 r2", after="s2 S2 s2b S2b r1 R1 r1b R1b", asked=asked),
            said,
        )
        for met, asked, said in (("all meet at each turn", "sum", "unknown"), ("nobody meets", "", "proved"))
    },
    "in flight, device 1 two turns behind": (_loop_in_flight("r2 R2 s1 S1 r1 R1 s2 S2", **_TWO_AHEAD), "unknown"),
    "in flight, device 1 as far": (_loop_in_flight("r2 s2 R2 S2 r1 s1 R1 S1", "r3 s3", "R3 S3"), "proved"),
    "two turns behind what is sent in flight, when the loop is over": (
        _with(
            "r4 R4 s1y S1y s1z S1z",
            _loop(
                "given",
                "r2 R2 s1 S1 r1 R1 s2 S2",
                "s2a s2b S2a S2b start r1a r1b R1a R1b",
                "r2y r2z R2y R2z s4 S4 done",
            ),
        ),
        "unknown",
    ),
    **{
        f"one loop, {run}, device 1 two turns behind": (
            _loop_in_flight("s1 S1 r2 R2 r1 R1 s2 S2", run=run, **_TWO_AHEAD),
            said,
        )
        for run, said in (("call-aside", "proved"), ("call-aside call-aside-again", "unknown"))
    },
    "a loop that leaves its recvs open": (_loop("given", "s1 S1 r1"), "unknown"),
    "two loops, device 1 two turns behind": (_two_loops("s1 S1 r2 R2 r1 R1 s2 S2"), "unknown"),
    "four devices, each a turn behind another": (_four_devices("r2 R2 r1 R1 s1 S1 s2 S2"), "unknown"),
    "a loop that sends, and one send too many": (_loop("given", "s1 S1", "r1", "s1z S1z R1"), "unknown"),
    **{
        f"{n} turns, in which all wait first": (_loop(n, "r1 r2 R1 R2 s1 s2 S1 S2"), said)
        for n, said in (("1", "refuted"), ("given", "unknown"))
    },
    "a turn that waits for what comes later, a sum before each turn": (
        _loop("1", "r1 R1", after="s1 S1", asked="sum"),
        "refuted",
    ),
    "a turn that waits for what comes later": (_loop("1", "r1 R1", after="s1 S1"), "proved"),
    **{
        f"two turns with {words} that wait for what comes later": (
            _loop("2", f"{words} r1 R1", after="s1 S1 s1b S1b"),
            said,
        )
        for words, said in (("sum", "refuted"), ("sum-start sum-done", "refuted"), ("sum-alone", "proved"))
    },
    "a call of what is in flight, both with a sum": (_beside("sum", "start r1 R1 call-aside s1 S1 done"), "unknown"),
    "a call of what is in flight, both with a sum that begins and ends": (
        _beside("sum-start sum-done", "start r1 R1 call-aside s1 S1 done"),
        "unknown",
    ),
    # What is sent first is for `r1a`: that the flight takes it, when device 1 is busy elsewhere, holds nobody for ever.
    "a recv before a flight, ended beside it": (
        _beside("r1b R1b", "r1a start s1a r2 s2 R2 r5 s5 R5 r2b s2b R2b r5b s5b R5b R1a sum s1b done r1c R1c cast s1c"),
        "unknown",
    ),
    "a call of what was in flight, both with a sum": (_beside("sum", "start done call-aside r1 s1 R1 S1"), "proved"),
    "sums that branches begin": (_sums_of_branches(), "unknown"),
    "a loop behind a flight with the same transfers": (
        _with("r1 R1", _loop("given", "r1 s1 R1 S1", before="start s1a S1a done")),
        "proved",
    ),
    "a loop that sends before it receives, device 1 two turns behind": (
        _loop("given", "s1 S1 r2 R2 r1 R1 s2 S2", **_TWO_AHEAD),
        "proved",
    ),
    "a loop that the program counts sends, and two recvs": (_loop("given", "s1 S1", after="r1 R1 r1b R1b"), "unknown"),
    "both branches send, and one recv": (_branches("given", "s1 S1", "s1 S1", after="r1 R1"), "unknown"),
    "a branch sends, and nobody receives": (_branches("given", "s1 S1", ""), "refuted"),
    "two of a device for what one sends": (
        _beside("r1 R1", "start r1a s1a R1a s2 r2 R2 s1b done S1a S1b S2"),
        "unknown",
    ),
    # What flies may be over only when all that began before it is, and before anything else begins.
    **{
        f"two flights on {threads}, {order}": (_two_beside(order, threads), said)
        for threads, order, said in (
            ("xx", "F G E s1 S1 D", "unknown"),
            ("xx", "F G s1 S1 E D", "unknown"),
            ("xx", "s1 S1 F G E D", "proved"),
            ("xx", "G F E s1 S1 D", "proved"),
            ("xy", "F G E s1 S1 D", "unknown"),
            ("xy", "G F E s1 S1 D", "proved"),
        )
    },
    # What is sent from 0 to 1 on channel 1 goes to the recv that began first, whatever else that takes.
    **{
        f"on one channel pairs {{{{0,1}}}} and {pairs}": (
            _with_pairs("r1b r1a s1a R1a sum s1b R1b S1a S1b", pairs),
            said,
        )
        for pairs, said in (("{{0,1},{1,2}}", "unknown"), ("{{1,2}}", "proved"))
    },
    "on two channels pairs {{0,1}} and {{0,1},{1,2}}": (
        _with_pairs("r1a r1b s1a R1a sum s1b R1b S1a S1b", "{{0,1},{1,2}}", "channel_id=5"),
        "proved",
    ),
    # Device 0 receives from 1 when it has received from 2.
    "a recv that is sent, behind one that is not": (_flat("r7 r2 s2 R2 sum s7 R7 S2 S7", "replica_count=3"), "unknown"),
    "a recv that is sent, before one that is not": (_flat("r2 r7 s2 R2 sum s7 R7 S2 S7", "replica_count=3"), "proved"),
    # What one device sends another on a stream is received in that order, whatever the channel.
    **{
        f"two channels, {order}": (_with_pairs(order, "{{0,1}}", "channel_id=5"), said)
        for order, said in (
            ("s1a s1b r1b r1a R1b R1a S1a S1b", "unknown"),
            ("s1a s1b r1a r1b R1b R1a S1a S1b", "proved"),
        )
    },
    # Transfers of a stream come one after the other: device 0 sends when it has received, and so does device 1.
    **{
        f"two ways on {streams} streams: {order}": (_on_streams(order, streams), said)
        for order, streams, said in (
            ("r1 r2 s1 s2 R1 R2 S1 S2", "equal", "unknown"),
            ("r1 r2 s1 s2 R1 R2 S1 S2", "other", "proved"),
            ("r1 s1 r2 s2 R1 R2 S1 S2", "equal", "proved"),
            ("r2 s1 S1 r1 R1 s2 S2 R2", "equal", "unknown"),  # the send's done waits for what is before it
            ("r2 s1 S1 r1 R1 s2 S2 R2", "other", "proved"),
            ("r1 s2 S2 sum s1 R1 S1 r2 R2", "equal", "unknown"),  # and who waits for it comes to no sum
            ("r1 s2 sum S2 s1 R1 S1 r2 R2", "equal", "proved"),
            ("r2 sum-start sum-done s2 S2 R2", "other", "unknown"),  # what is in flight may share either stream
            ("r2 s2 sum-start sum-done S2 R2", "other", "proved"),
            ("r1 s1 r2 s2 R1 R2 S1 S2", "mixed", "unknown"),  # a recv on one stream, its send on the other
        )
    },
    # A device that has no part in a send, or in a recv, is not held.
    "a send of others behind a recv": (_flat("r2 s6 S6 sum s2 S2 R2 r6 R6", "replica_count=3"), "proved"),
    "a send of its own behind a recv": (_flat("r2 s1 S1 sum s2 S2 R2 r1 R1"), "unknown"),
    "what is in flight on one device, and a recv on another": (_flat("r2 alone-start sum-done s2 S2 R2"), "proved"),
    **{
        f"two channels on {streams} streams, received the other way round": (
            _flat("s1 s5 r5 R5 r1 R1 S1 S5").replace(_OF_FIVE, _OF_FIVE + more),
            said,
        )
        for streams, more, said in (("equal", "", "unknown"), ("other", '_xla_send_recv_pipeline="1",', "proved"))
    },
    # What flies may run beside the rest: which transfer is first on a stream is not known, and it holds the other.
    **{
        f"beside a flight with {inside}: {order}": (_beside(inside, order), said)
        for inside, order, said in (
            ("r1 s1 R1 S1", "start r2 s2 R2 S2 done", "unknown"),  # 1 may be at r1 when 0 is at r2
            ("r1 s1 R1 S1", "start done r2 s2 R2 S2", "proved"),
            ("r1 R1", "s1 s5 start r5 R5 done S1 S5", "unknown"),
            ("r1 R1", "s1 s5 start done r5 R5 S1 S5", "proved"),
            ("s1 S1", "start s5 S5 done r1 r5 R1 R5", "unknown"),
            ("r1 s1 R1 S1", "start r2 R2 sum s2 S2 done", "refuted"),  # whoever is first
        )
    },
    "beside a flight on another stream": (
        _beside("r1 s1 R1 S1", "start r2 s2 R2 S2 done").replace(
            '"{{1,0}}"}', '"{{1,0}}",_xla_send_recv_pipeline="1"}'
        ),
        "proved",
    ),
    **{
        f"what a branch may send is waited for before it: {order}": (_choosing(order, "s1b r1 R1 S1b"), said)
        for order, said in (
            ("r1x R1x s6 if r6 R6 s7 r7 R7 s1z", "unknown"),
            ("r1x s1z R1x s6 if r6 R6 s7 r7 R7", "proved"),
        )
    },
    "a send that a flight holds back, and a branch may not": (
        _choosing("start r1x R1x s6 if r6 R6 s7 S6 S7 done", "s1b r1 R1 S1b", "r7 R7 s1 S1"),
        "unknown",
    ),
    "a send that a flight has done, and a branch": (
        _choosing("start s7 S7 done r1x R1x s6 if r6 R6 S6", "s1b r1 R1 S1b", "r7 R7 s1 S1"),
        "proved",
    ),
    **{
        f"a recv that is handed back by its done: {order}": (_ended_behind_its_done(order), said)
        for order, said in (("F D sum s1 S1 E", "unknown"), ("F s1 S1 D E sum", "unknown"), ("F s1 S1 D sum", "proved"))
    },
    "two of a device, one behind the other": (_beside("r1 R1", "start s1a done r1a s1b R1a S1a S1b"), "proved"),
    "a branch by the turns of a loop that each device counts": (_decided_by_turns("replica-id()"), "unknown"),
    "a branch by the turns of a loop that the program counts": (_decided_by_turns("parameter(1)"), "proved"),
    "a branch by a sum over groups of two sizes": (_counted("{{0,2,3},{1}}"), "unknown"),
    "a branch by a sum over groups of one size": (_counted("{{0,2},{1,3}}"), "proved"),
    "a branch by a function that asks who runs it": (_mapped("mine"), "unknown"),
    "a branch by a function of its operand": (_mapped("theirs"), "proved"),
    "a branch by what is given where it also flies": (_flown(False), "unknown"),
    "a branch by what is given where it is called": (_flown(True), "proved"),
    "a sum inside of a fusion": (_given_to("fusion(p), kind=kCustom, calls=inside"), "refuted"),
    "a sum inside of a fusion, behind the send": (
        _given_to("fusion(p), kind=kCustom, calls=inside", "r1 s1 S1", "R1"),
        "proved",
    ),
    "a sum inside of what nobody knows": (
        _given_to('custom-call(p), custom_call_target="x", called_computations={inside}'),
        "unknown",
    ),
    "a branch that sends for what another may leave": (_sent_by_a_branch("idle"), "unknown"),
    "a turn that ends the sum before": (_turned_sums("end r1 s1 S1 R1 begin"), "proved"),
    "a turn that receives what it sends later, around a sum": (_turned_sums("r1 R1 begin end s1 S1"), "unknown"),
    "a turn that receives what it sends later, behind a sum": (_turned_sums("begin r1 R1 end s1 S1"), "proved"),
    "more devices than are followed, who meet": (_two_groups(2, 1500), "unknown"),
    "more devices than are followed, who do not": (_flat("r1 s1 R1 S1", "replica_count=2000"), "proved"),
    "devices that only a permutation names": (
        _module([*_lines("r1 R1"), *_PERMUTED, *_lines("s1 S1")], devices="replica_count=1"),
        "refuted",
    ),
    "devices that only a permutation names, one way": (
        _module([*_lines("r1 R1"), *_PERMUTED[1:], *_lines("s1 S1")], devices="replica_count=1"),
        "unknown",
    ),
    # A recv is given what is sent in the order in which recvs began.
    "who began first has what is sent first": (_flat("r1a r1b s1a R1b sum s1b R1a S1a S1b"), "unknown"),
    "who began first is ended first": (_flat("r1a r1b s1a R1a sum s1b R1b S1a S1b"), "proved"),
    "who began second, behind both sends": (_flat("r1a r1b s1a s1b R1b sum R1a S1a S1b"), "proved"),
    "a loop whose recv takes what one before it waits for": (
        _loop("given", "s1 S1 r1 R1", before="r1a", after="s1z S1z R1a"),
        "proved",
    ),
    "a loop whose recv waits for the next turn": (
        _loop("given", "r1 s1 R1 sum S1", before="r1a", after="s1z S1z R1a"),
        "unknown",
    ),
    "recvs in flight and beside it": (_beside("r1a s1a R1a S1a", "start r1b s1b R1b S1b done"), "unknown"),
    "recvs in flight and behind it": (_beside("r1a s1a R1a S1a", "start done r1b s1b R1b S1b"), "proved"),
    # What is said of transfers has to be read whole.
    "pairs in marks": (_said(_pairs('"{{0,1}}"')), "proved"),
    "pairs in the open": (_said(_pairs("{ {0, 1} }", ', _xla_send_recv_pipeline="1"')), "proved"),
    "no pairs at all": (_said(_pairs('"{}"')), "proved"),
    "a transfer between who knows whom": (_said(""), "unknown"),
    "a recv from who knows whom": (_said("", send=_pairs('"{{0,1}}"')), "unknown"),
    "pairs in other brackets": (_said(_pairs('"[[0,1]]"')), "unknown"),
    "pairs, and pairs once more": (_said(_pairs('"{{0,1}}{{1,2}}"')), "unknown"),
    "a call with a sum at one device": (_called("sum-at-one", "r1 R1 call s1 S1"), "unknown"),
    "recvs that a flight begins beside another": (
        _two_received("start-two r1 s1a s1b R1 sum s1c S1a S1b S1c done-two"),
        "unknown",
    ),
    "recvs that a flight begins, and another behind it": (
        _two_received("start-two s1a s1b s1c S1a S1b S1c done-two r1 R1 sum"),
        "proved",
    ),
    **{
        f"the branch of number {n}, the last of which deadlocks": (_numbered(n), said)
        for n, said in (("0", "proved"), ("1", "refuted"), ("2", "refuted"), ("-1", "refuted"))
    },
    "a call that deadlocks with another that is not taken with it": (_called_by_turns("not"), "unknown"),
    "a call that deadlocks with another": (_called_by_turns("copy"), "unknown"),
    "pairs and one that is none": (_said(_pairs('"{{0,1},{a,2}}"')), "unknown"),
    "transfers of certain turns": (_said(_pairs('"{{0,1}}"', ', _xla_send_recv_validation="{{0,3}}"')), "unknown"),
    "a transfer to the host": (_said("", ", is_host_transfer=true", ", is_host_transfer=true"), "proved"),
    "a transfer to the host between devices": (_said(_pairs('"{{0,1}}"'), recv=", is_host_transfer=true"), "unknown"),
    "a sum at one device": (_flat("r1 R1 sum-at-one s1 S1"), "unknown"),
    "a sum in a mode": (_flat("r1 R1 sum-in-a-mode s1 S1"), "unknown"),
    "a sum in a mode, behind the send": (_flat("r1 s1 sum-in-a-mode R1 S1"), "proved"),
    "a branch by a function that calls who asks who runs it": (_mapped_by_a_call("replica-id()"), "unknown"),
    "a branch by a function that calls another": (_mapped_by_a_call("negate(a)"), "proved"),
    **{
        f"a branch that is {chosen}, with a sum": (_branches(chosen, "r1 s1 sum R1 S1", ""), said)
        for chosen, said in (("given to all", "proved"), ("split", "unknown"), ("given to each", "unknown"))
    },
    "a branch that constants choose": (_branches("yes", "r1 R1 sum s1 S1", ""), "refuted"),
    "a branch that constants do not choose": (_branches("no", "r1 R1 sum s1 S1", "r1 s1 R1 S1"), "proved"),
    "a deadlock of two devices where only another goes": (
        _branches("own", "r6 R6 turned s6 S6", "").replace("replica_count=2", "replica_count=3"),
        "unknown",
    ),
    **{
        f"a deadlock inside of a branch taken {outer}": (_inside_of_another(outer), "unknown")
        for outer in ("where it holds", "where it does not")
    },
    # What is ended that is not seen to begin.
    **{
        f"a recv that is ended by way of {made.partition('(')[0]}": (_ended_by(made), "unknown")
        for made in (
            "flight",
            "parameter",
            "parts",
            'domain(r1), domain={kind="sharding", entry={replicated}, exit={replicated}}',
            'custom-call(r1), custom_call_target="Pin"',
        )
    },
    "a recv that is ended by way of a barrier": (_ended_by("opt-barrier(r1)"), "refuted"),
    # What is written at what waits.
    **{
        f"at the {opcode}: {word}": (_told("r1 s1 sum R1 S1", opcode, word), said)
        for opcode, word, said in (
            ("recv", 'backend_config={"who":"all"}', "unknown"),
            ("recv", 'backend_config={"operation_queue_id":"1"}', "proved"),
            ("recv", "sharding={{maximal device=0}, {maximal device=0}, {maximal device=0}}", "unknown"),
            ("recv", "sharding={{manual}, {manual}, {manual}}", "proved"),
            ("recv-done", 'backend_config={"who":"all"}', "unknown"),
            ("recv-done", 'backend_config={"operation_queue_id":"1"}', "proved"),
            ("all-reduce", 'backend_config={"who":"all"}', "unknown"),
            ("all-reduce", 'backend_config={"operation_queue_id":"1"}', "proved"),
            ("all-reduce", "frontend_attributes={who=all}", "unknown"),
            ("all-reduce", "frontend_attributes={_xla_stream_annotation=1}", "proved"),
            ("all-reduce", "all_reduce_id=3", "unknown"),
            ("all-reduce", "constrain_layout=true", "proved"),
        )
    },
    "a flight in a group": (
        _beside("sum", "start r1 s1 R1 S1 done").replace("calls=aside,", "calls=aside, async_group_id=3,"),
        "unknown",
    ),
    "pairs twice": (_said(_pairs("{{0,1}},_xla_send_recv_source_target_pairs={{1,0}}")), "unknown"),
    "other words at a transfer": (_said(_pairs('"{{0,1}}"', ', who="all"')), "unknown"),
    "words without meaning at a transfer": (_said(_pairs('"{{0,1}}"', ', grad_x="all"')), "proved"),
    **{
        f"a custom call of {target}": (_given_to(f'custom-call(p), custom_call_target="{target}"'), said)
        for target, said in (("nobody knows", "unknown"), ("__cublas$gemm", "proved"))
    },
    **{
        f"a branch that is own, with {target}": (
            _branches("own", "", "", after="r1 s1 R1 S1").replace("this {", f"this {{\n  {call}", 1),
            said,
        )
        for target, said in (("nobody knows", "unknown"), ("__cublas$gemm", "proved"))
        for call in (f'c = f32[8] custom-call(), custom_call_target="{target}"',)
    },
    # Who sends to all waits for nobody's data, and who is sent nothing in a turn need not wait.
    **{
        f"behind a recv-done, {made}": (_flat("r1 R1 sum s1 S1").replace(_WORDS["sum"], f"sum = f32[8] {made}"), said)
        for made, said in (
            ("collective-broadcast(p), replica_groups={{0,1}}", "unknown"),
            ("collective-permute(p), source_target_pairs={{1,0}}", "refuted"),
            (
                "collective-permute(p), source_target_pairs={{1,0}}, "
                'frontend_attributes={_xla_send_recv_validation="{{3,5}}"}',
                "unknown",
            ),
        )
    },
    "behind a send, collective-broadcast": (
        _flat("r1 s1 sum R1 S1").replace(_WORDS["sum"], "sum = f32[8] collective-broadcast(p), replica_groups={{0,1}}"),
        "proved",
    ),
    "a branch by what falls on one place in any order": (_scattered(""), "unknown"),
    "a branch by what falls on places of its own": (_scattered(", unique_indices=true"), "proved"),
    **{
        f"a branch by a sum{' that says more' if said else ''}": (
            _decided(
                ["g = s32[] parameter(1)", f"o = s32[] add(g, g){said}", "q = pred[] compare(o, one), direction=EQ"]
            ),
            verdict,
        )
        for said, verdict in (("", "proved"), (', backend_config={"own":"1"}', "unknown"))
    },
    **{
        f"a constant that is worked out{' and says more' if said else ''}": (_worked_out(said), verdict)
        for said, verdict in (("", "proved"), (', backend_config={"own":"1"}', "unknown"))
    },
    **{
        f"turns that are counted{' and say more' if said else ''}": (_turned_beside(said), verdict)
        for said, verdict in (("", "proved"), (', backend_config={"own":"1"}', "unknown"))
    },
    "a branch that is own, without any": (_branches("own", "", "", after="r1 s1 R1 S1"), "proved"),
}


def _found(text: str) -> list[Found]:
    return [j.found for j in judge(parse_module(text), lambda c: c == "collective-deadlock", lambda c: False)]


@pytest.mark.parametrize(("text", "said"), CASES.values(), ids=CASES)
def test_who_waits_for_ever_is_told(text: str, said: str) -> None:
    verdicts = {f.verdict.value for f in _found(text)}
    assert verdicts and (verdicts == {said} if said == "proved" else said in verdicts)
    assert said == "refuted" or "refuted" not in verdicts


def _rotated(turn: str, last: str) -> str:
    """A loop that carries two recvs, one each way: a turn begins the next ones, and ends those of the turn before."""
    state = f"(s32[], {_STATE}, {_STATE})"
    carried = {"R1": "rd1b = (f32[8], token[]) recv-done(x), channel_id=1"}
    carried["R2"] = "rd2b = (f32[8], token[]) recv-done(y), channel_id=2"
    body = (
        f"turn {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        f"  x = {_STATE} get-tuple-element(st), index=1\n  y = {_STATE} get-tuple-element(st), index=2\n"
        "  t = token[] after-all()\n  p = f32[8] constant({1,2,3,4,5,6,7,8})\n"
        + "".join(f"  {carried.get(word) or _line(word)}\n" for word in turn.split())
        + f"  one = s32[] constant(1)\n  j = s32[] add(k, one)\n  ROOT r = {state} tuple(j, r1n, r2n)\n}}\n"
        f"more {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        "  m = s32[] constant(2)\n  ROOT l = pred[] compare(k, m), direction=LT\n}\n"
    )
    ended = [
        f"x = {_STATE} get-tuple-element(w), index=1",
        f"y = {_STATE} get-tuple-element(w), index=2",
        *(carried.get(word) or _line(word) for word in last.split()),
    ]
    lines = [*_lines("r1 s1 r2 s2 S1 S2"), "zero = s32[] constant(0)", f"i = {state} tuple(zero, r1, r2)"]
    return _module([*lines, f"w = {state} while(i), condition=more, body=turn", *ended], body)


def _handed_on(turns: int, left: str, order: str, inside: str = "") -> str:
    """Two recvs of one channel through turns that hand them on in another order; `X` and `Y` end what is left."""
    state = f"(s32[], {_STATE}, {_STATE})"
    words = {n.upper(): f"d{n} = (f32[8], token[]) recv-done({n}), channel_id=1" for n in "xya"}
    body = (
        f"turn {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        f"  a = {_STATE} get-tuple-element(st), index=1\n  b = {_STATE} get-tuple-element(st), index=2\n"
        "  t = token[] after-all()\n  one = s32[] constant(1)\n  j = s32[] add(k, one)\n"
        + "".join(f"  {words.get(w) or _line(w)}\n" for w in inside.split())
        + f"  ROOT r = {state} tuple(j, {left})\n}}\n"
        f"more {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        f"  m = s32[] constant({turns})\n  ROOT l = pred[] compare(k, m), direction=LT\n}}\n"
    )
    lines = [
        "zero = s32[] constant(0)",
        *_lines("r1a r1b s1a"),
        f"i = {state} tuple(zero, r1a, r1b)",
        f"w = {state} while(i), condition=more, body=turn",
        *(f"{n} = {_STATE} get-tuple-element(w), index={k}" for n, k in (("x", 1), ("y", 2))),
        *(words.get(w) or _line(w) for w in order.split()),
    ]
    return _module(lines, body)


@pytest.mark.parametrize(
    ("turns", "left", "order", "inside", "said"),
    [
        # Device 0 sends the second only behind a sum with device 1, which waits for it before.
        (1, "b, a", "X sum s1b Y", "", "unknown"),
        (2, "b, a", "Y sum s1b X", "", "unknown"),
        (0, "b, a", "Y sum s1b X", "", "unknown"),
        (1, "b, a", "s1b X sum Y", "", "proved"),
        (1, "r1n, a", "X sum s1b s1c Y", "", "unknown"),
        (1, "r1n, a", "s1b s1c X sum Y", "", "proved"),
        (1, "r1n, b", "s1b s1c Y sum X", "A r1n", "proved"),
        (1, "r1n, b", "s1b Y sum s1c X", "A r1n", "proved"),
        (1, "r1n, b", "s1b X sum s1c Y", "A r1n", "unknown"),
    ],
)
def test_turns_may_hand_on_in_another_order(turns: int, left: str, order: str, inside: str, said: str) -> None:
    if "r1n" in left and "r1n" not in inside:
        inside = f"{inside} r1n"
    assert {f.verdict.value for f in _found(_handed_on(turns, left, order, inside))} == {said}


def _opened_by_calls(order: str) -> str:
    """Two calls that each begin a recv, which are ended in some order."""
    opened = _computation("opened", _lines("r1"), "t = token[] parameter(0)") + "\n"
    words = {
        "A": f"a = {_STATE} call(t), to_apply=opened",
        "B": f"b = {_STATE} call(t), to_apply=opened",
        "X": "x = (f32[8], token[]) recv-done(a), channel_id=1",
        "Y": "y = (f32[8], token[]) recv-done(b), channel_id=1",
    }
    return _module([words.get(w) or _line(w) for w in order.split()], opened)


@pytest.mark.parametrize(("order", "said"), [("A B s1 Y sum s1b X", "unknown"), ("A B s1 s1b Y sum X", "proved")])
def test_calls_begin_one_recv_twice(order: str, said: str) -> None:
    assert {f.verdict.value for f in _found(_opened_by_calls(order))} == {said}


@pytest.mark.parametrize(
    ("before", "after", "said"), [("s3a s3b s3c S3a S3b S3c", "", "proved"), ("s3a s3b S3a S3b", "s3c S3c", "unknown")]
)
def test_the_third_turn_waits_for_what_is_sent_behind_the_loop(before: str, after: str, said: str) -> None:
    state = ", ".join(["s32[]", *[_STATE] * 3, "s32[]"])
    parts = [f"  x{n} = {_STATE} get-tuple-element(st), index={n}\n" for n in (1, 2, 3)]
    body = (
        f"turn {{\n  st = ({state}) parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n{''.join(parts)}"
        "  m = s32[] get-tuple-element(st), index=4\n  t = token[] after-all()\n"
        "  p = f32[8] constant({1,2,3,4,5,6,7,8})\n  done = (f32[8], token[]) recv-done(x1), channel_id=3\n"
        + "".join(f"  {line}\n" for line in _lines("s2n S2n r2n R2n r5n s5n S5n"))
        + f"  one = s32[] constant(1)\n  j = s32[] add(k, one)\n  ROOT r = ({state}) tuple(j, x2, x3, r5n, m)\n}}\n"
        f"more {{\n  st = ({state}) parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        "  m = s32[] get-tuple-element(st), index=4\n  ROOT l = pred[] compare(k, m), direction=LT\n}\n"
    )
    ended = [f"y{n} = {_STATE} get-tuple-element(w), index={n}" for n in (1, 2, 3)]
    ended += [f"z{n} = (f32[8], token[]) recv-done(y{n}), channel_id=3" for n in (1, 2, 3)]
    lines = [
        _GIVEN,
        *_lines(f"r3a r3b r3c {before}"),
        "zero = s32[] constant(0)",
        f"i = ({state}) tuple(zero, r3a, r3b, r3c, number)",
        f"w = ({state}) while(i), condition=more, body=turn",
        *_lines(after),
    ]
    verdicts = {f.verdict.value for f in _found(_module([*lines, *ended], body))}
    assert verdicts == {said}


@pytest.mark.parametrize(
    ("turn", "said"),
    [
        ("r1n s1n r2n s2n R1 R2 S1n S2n", "proved"),
        ("R1 R2 r1n s1n r2n s2n S1n S2n", "proved"),
        ("R1 R2 r1n r2n s1n s2n S1n S2n", "unknown"),
        ("r1n r2n R1 R2 s1n S1n", "refuted"),
        ("r1n r2n R1 R2", "refuted"),
    ],
)
def test_a_turn_ends_what_the_turn_before_began(turn: str, said: str) -> None:
    verdicts = {f.verdict.value for f in _found(_rotated(turn, "R1 R2"))}
    assert verdicts == {said} if said == "proved" else said in verdicts


def test_what_is_taken_for_granted_is_said() -> None:
    assumed = {name: {a for f in _found(CASES[name][0]) for a in f.assumptions} for name in CASES}
    assert assumed["a loop without an end"] == {"the loop w, which has no end, counts once"}
    assert assumed["a branch that is given, with both"] == {"every device is given the same q"}
    assert assumed["a loop that the program counts, with both"] == {"every device is given the same number"}
    assert assumed["a sum behind the send"] == assumed["a loop of 1 turns that sends, and one recv"] == set()


def test_schedules_that_are_too_long_are_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_events, "_MOST_EVENTS", 3)
    (found,) = _found(_flat("r1 s1 R1 S1"))
    assert found.verdict.value == "unknown" and "more than 3" in (found.reason or "")


_FIVE: Final = "cdefg"
_AHEAD: Final = " ".join(f"s6{c} S6{c}" for c in _FIVE)
_LEFT: Final = " ".join(f"r6{c} R6{c}" for c in _FIVE)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("r7 R7", "s7 S7", "unknown"),  # two turns hold what one does not
        ("r7 s7 R7 S7", "", "proved"),
        (f"{_AHEAD} r7 R7", f"s7 S7 {_LEFT}", "unknown"),  # and here seven
        (f"{_AHEAD} r7 s7 R7 S7", _LEFT, "proved"),
        ("r7a r7b s7a S7a R7b", "s7b S7b R7a", "unknown"),  # as much is sent as is taken, but not the second
        ("r7a r7b s7a S7a s7b S7b R7b", "R7a", "proved"),
    ],
)
def test_turns_together_hold_what_one_does_not(before: str, after: str, said: str) -> None:
    turn = "s6a S6a r6a R6a s1a S1a r1a R1a"
    text = _loop("given", turn, before, after).replace("replica_count=2", "replica_count=3")
    assert {f.verdict.value for f in _found(text)} == {said}


@pytest.mark.parametrize(("ended", "said"), [("", "unknown"), ("f2d = f32[8] async-done(f2)", "proved")])
def test_what_a_thread_leaves_running_runs_on_behind_its_done(ended: str, said: str) -> None:
    def start(name: str, run: str, thread: str) -> str:
        return f'{name} = ((f32[8]), f32[8], u32[]) async-start(p), calls={run}, async_execution_thread="{thread}"'

    second = _computation("second", [*_lines("sum"), "q = f32[8] negate(p)"]) + ', execution_thread="y"\n'
    lines = [start("f2", "second", "y"), *([ended] if ended else []), "q = f32[8] negate(p)"]
    first = _computation("first", lines) + f", {_ASIDE}\n"
    entry = [*_lines("r1 s1 R1 S1"), start("f", "first", "x"), *_lines("done"), "z = f32[8] call(p), to_apply=second"]
    assert {f.verdict.value for f in _found(_module(entry, second + first))} == {said}


@pytest.mark.parametrize(
    ("other", "said"), [("idle that", "unknown"), ("that idle", "unknown"), ("sums idle", "refuted")]
)
def test_two_branches_that_shut_each_other_out_are_no_deadlock_together(other: str, said: str) -> None:
    """The first holds device 1 behind 0, `that` 2 behind 1, and 0 waits for 2; `sums` alone hold all of them."""
    parts = {"this": "s1a S1a r1a R1a", "that": "s6a S6a r6a R6a", "sums": "sum", "idle": ""}
    before = "".join(_computation(n, [*_lines(o), "q = f32[8] negate(p)"]) + "\n" for n, o in parts.items())
    yes, no = other.split()
    lines = [
        *_lines("r7 R7"),
        "q = pred[] parameter(1)",
        "y = f32[8] conditional(q, p, p), true_computation=this, false_computation=idle",
        f"z = f32[8] conditional(q, p, p), true_computation={yes}, false_computation={no}",
        *_lines("s7 S7"),
    ]
    verdicts = {f.verdict.value for f in _found(_module(lines, before, "replica_count=3"))}
    assert said in verdicts and (said == "refuted") == ("refuted" in verdicts)


@pytest.mark.parametrize(("after", "said"), [("r7 R7 s1z if-none s9", "unknown"), ("s1z r7 R7 s9 if-none", "proved")])
def test_turns_and_what_happens_where_there_are_none_shut_each_other_out(after: str, said: str) -> None:
    """Devices 0 to 2 wait for ever where there are no turns, and `if-any` is entered, 3 to 5 where there are some, and
    `if-none` is: neither ever happens."""
    words = {
        "if-any": "none = s32[] constant(0)\n  any = pred[] compare(number, none), direction=GT\n"
        "  ya = f32[8] conditional(any, p, p), true_computation=link, false_computation=idle",
        "if-none": "zeros = pred[] not(any)\n"
        "  yb = f32[8] conditional(zeros, p, p), true_computation=other, false_computation=idle",
    }
    parts = {"link": "s6 S6 r6 R6", "other": "s8 S8 r8 R8", "idle": ""}
    before = "".join(_computation(n, [*_lines(o), "q = f32[8] negate(p)"]) + "\n" for n, o in parts.items())
    with pytest.MonkeyPatch.context() as patch:
        for word, line in words.items():
            patch.setitem(_WORDS, word, line)
        text = _loop("given", "s1 S1 r1b R1b s0 S0 r0 R0", "r1 R1 if-any s7 r9 R9", after)
    text = text.replace(_SUM, _SUM + before).replace("replica_count=2", "replica_count=6")
    assert {f.verdict.value for f in _found(text)} == {said}


@pytest.mark.parametrize(("after", "said"), [("r7 R7 s1z", "unknown"), ("s1z r7 R7", "proved")])
def test_no_turn_may_hold_what_one_does_not(after: str, said: str) -> None:
    """Device 1 gets on with what the first turn sends; where there is none, it waits for 0, who waits for 2."""
    text = _loop("given", "s1 S1 r1b R1b", "r1 R1 s6 r6 R6 s7", after).replace("replica_count=2", "replica_count=3")
    assert {f.verdict.value for f in _found(text)} == {said}


def _exchanged(held: str, done: str, begun: list[str], order: str, aside: str = "") -> str:
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
        *(words.get(w) or _line(w) for w in order.split()),
    ]
    return _module(lines, aside + body)


@pytest.mark.parametrize(
    ("order", "first", "said"),
    [
        ("X sum s1 S1 Y", "ab", "unknown"),
        ("X sum s1 S1 Y", "ba", "unknown"),  # `b` is over, and `a` began first
        ("s1 S1 X sum Y", "ab", "proved"),
        ("s1 S1 X sum Y", "ba", "unknown"),  # `b` may begin when `a` is over
    ],
)
def test_flights_that_change_places_are_all_waited_for(order: str, first: str, said: str) -> None:
    runs = {"x": ("ahead", "s2 S2"), "y": ("behind", "r1 R1")}
    aside = "".join(
        f'{_computation(run, [*_lines(inside), "q = f32[8] negate(p)"])}, execution_thread="{on}"\n'
        for on, (run, inside) in runs.items()
    )
    held = "((f32[8]), f32[8], u32[])"
    begun = [
        f'{name} = {held} async-start(p), calls={run}, async_execution_thread="{on}"'
        for name, (on, (run, _)) in zip(first, runs.items(), strict=True)
    ]
    text = _exchanged(held, "f32[8] async-done({})", [*sorted(begun), *_lines("r2 R2")], order, aside)
    text = text.replace('"{{1,0}}"}', '"{{1,0}}",_xla_send_recv_pipeline="1"}')  # no flight holds the other's transfer
    assert {f.verdict.value for f in _found(text)} == {said}


@pytest.mark.parametrize(
    ("begun", "order", "said"),
    [
        ("s1a r2 s1b", "X sum s2 S2 R2 Y", "unknown"),  # `X` ends `b`, which is behind the recv
        ("s1a s1b r2", "X sum s2 S2 R2 Y", "proved"),
        ("s1a r2 s1b", "s2 S2 X sum R2 Y", "proved"),
    ],
)
def test_sends_that_change_places_are_all_waited_for(begun: str, order: str, said: str) -> None:
    lines = [_line(w).replace("s1a =", "a =").replace("s1b =", "b =") for w in begun.split()]
    text = _exchanged(_STATE, "token[] send-done({}), channel_id=1", lines, f"{order} r1c R1c r1d R1d")
    assert {f.verdict.value for f in _found(text)} == {said}


def test_sums_that_change_places_are_no_certain_deadlock() -> None:
    """`X` ends `b`, for which nobody is waited; that it ends `a`, for which device 1 would be, is not said."""
    begun = [*_lines("r1 R1"), _WORDS["sum-start"].replace("sums", "a"), _WORDS["alone-start"].replace("sums", "b")]
    text = _exchanged("f32[8]", "f32[8] all-reduce-done({})", begun, "X s1 S1 Y")
    assert {f.verdict.value for f in _found(text)} == {"unknown"}


@pytest.mark.parametrize(("order", "said"), [("X sum s1 S1 Y", "unknown"), ("X sum Y", "proved")])
def test_recvs_of_two_kinds_that_change_places_are_all_waited_for(order: str, said: str) -> None:
    """`X` ends `b`, whose send is there: that device 1 waits there for what is sent to `a` is not said."""
    back = [line.replace("{{0,1}}", "{{1,0}}").replace("r1 =", "b =") for line in _lines("s1back S1back r1")]
    begun = [*back[:2], *_lines("" if "s1" in order else "s1 S1"), _line("r1").replace("r1 =", "a ="), back[2]]
    text = _exchanged(_STATE, "(f32[8], token[]) recv-done({}), channel_id=1", begun, order)
    assert {f.verdict.value for f in _found(text)} == {said}


@pytest.mark.parametrize(("begun", "said"), [("r1b, r1a", "unknown"), ("late", "proved")])
def test_a_turn_that_hands_on_another_recv_may_end_the_younger(begun: str, said: str) -> None:
    text = _handed_on(1, "b, r1n", "s1b s1c X Y", "const A sum r1n")
    text = text.replace("tuple(zero, r1a, r1b)", f"tuple(zero, {begun.replace('late', 'r1b, r1a')})")
    if begun == "late":
        sends = "".join(f"  {_line(word)}\n" for word in ("s1b", "s1c"))
        text = text.replace(sends, "").replace("  i = (s32[]", f"{sends}  i = (s32[]")
    assert {f.verdict.value for f in _found(text)} == {said}


@pytest.mark.parametrize("loops", [1, 2])
@pytest.mark.parametrize("is_sent", [False, True])
def test_a_loop_that_is_given_what_calls_begin_may_end_the_younger(loops: int, is_sent: bool) -> None:
    """Of two recvs that calls begin, a loop is given the second: it ends that, not the first. Another loop before it
    runs the same turn, and is given what its own computation began."""
    state = f"(s32[], {_STATE})"
    before = _computation("opened", _lines("r1"), "t = token[] parameter(0)") + "\n"
    before += (
        f"turn {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        f"  g = {_STATE} get-tuple-element(st), index=1\n  t = token[] after-all()\n"
        "  p = f32[8] constant({1,2,3,4,5,6,7,8})\n  d = (f32[8], token[]) recv-done(g), channel_id=1\n"
        + "".join(f"  {line}\n" for line in _lines("sum r1n s1n"))
        + f"  one = s32[] constant(1)\n  j = s32[] add(k, one)\n  ROOT r = {state} tuple(j, r1n)\n}}\n"
        f"more {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        "  m = s32[] constant(1)\n  ROOT l = pred[] compare(k, m), direction=LT\n}\n"
    )

    def loop(name: str, given: str) -> list[str]:
        return [
            f"i{name} = {state} tuple(zero, {given})",
            f"w{name} = {state} while(i{name}), condition=more, body=turn",
            f"x{name} = {_STATE} get-tuple-element(w{name}), index=1",
            f"d{name} = (f32[8], token[]) recv-done(x{name}), channel_id=1",
        ]

    own = [*_lines("r1f s1f"), *loop("f", "r1f")] if loops == 2 else []
    opened = [f"{name} = {_STATE} call(t), to_apply=opened" for name in "ab"]
    sent = _lines("s1g s1h") if is_sent else _lines("s1g")
    late = [] if is_sent else _lines("s1h")
    given = loop("g", "b")
    last = "da = (f32[8], token[]) recv-done(a), channel_id=1"
    lines = ["zero = s32[] constant(0)", *own, *opened, *sent, *given[:2], *late, *given[2:], last]
    assert {f.verdict.value for f in _found(_module(lines, before))} == {"proved" if is_sent else "unknown"}


@pytest.mark.parametrize(
    ("before", "after", "bound"),
    [
        ("s1a s1b S1a S1b r1a r1b", "Y Z", 2 + 2),  # nobody waits for what comes behind: two are open
        (
            "r6 R6 s1a S1a r1a r1b",
            "s6 s1z Y Z",
            2 + 2 + 3 * (2 + 1),
        ),  # two are open, one more than sends, three devices
        ("r1x R1x r1a r1b", "s1x s1y s1z Y Z", 2 + 2 + 2 * (3 + 1)),  # three more recvs than sends, two devices
    ],
)
def test_so_many_turns_are_as_good_as_any_number(before: str, after: str, bound: int) -> None:
    state = f"(s32[], {_STATE}, {_STATE})"
    body = (
        f"turn {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        f"  a = {_STATE} get-tuple-element(st), index=1\n  b = {_STATE} get-tuple-element(st), index=2\n"
        "  t = token[] after-all()\n  p = f32[8] constant({1,2,3,4,5,6,7,8})\n"
        "  d = (f32[8], token[]) recv-done(a), channel_id=1\n"
        + "".join(f"  {line}\n" for line in _lines("s1n S1n r1n"))
        + f"  one = s32[] constant(1)\n  j = s32[] add(k, one)\n  ROOT r = {state} tuple(j, b, r1n)\n}}\n"
        f"more {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        "  four = s32[4] iota(), iota_dimension=0\n  none = s32[] constant(0)\n"
        "  m = s32[] reduce(four, none), dimensions={0}, to_apply=adds\n"
        "  ROOT l = pred[] compare(k, m), direction=LT\n}\n"
    )
    words = {n: f"{n}d = (f32[8], token[]) recv-done({n.lower()}), channel_id=1" for n in "YZ"}
    lines = [
        *_lines(before),
        "zero = s32[] constant(0)",
        f"i = {state} tuple(zero, r1a, r1b)",
        f"w = {state} while(i), condition=more, body=turn",
        *(f"{n} = {_STATE} get-tuple-element(w), index={k}" for n, k in (("y", 1), ("z", 2))),
        *(words.get(w) or _line(w) for w in after.split()),
    ]
    module = parse_module(_module(lines, _ADDS + body))
    assert list(blocks_of(Schedule(AsyncChains(module), {})).even.values()) == [bound]


def _ends_and_begins(begun: str) -> tuple[str, list[str]]:
    """What a loop of one turn calls, which ends the recv that it is given and hands on what it began; and the lines of
    the loop, which hand back x."""
    state = f"(s32[], {_STATE})"
    called = (
        f"turn {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        f"  a = {_STATE} get-tuple-element(st), index=1\n  t = token[] after-all()\n"
        f"  d = (f32[8], token[]) recv-done(a), channel_id=1\n  {begun}\n"
        f"  one = s32[] constant(1)\n  j = s32[] add(k, one)\n  ROOT r = {state} tuple(j, r1n)\n}}\n"
        f"more {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        "  m = s32[] constant(1)\n  ROOT l = pred[] compare(k, m), direction=LT\n}\n"
    )
    lines = [
        *_lines("r1a"),
        "zero = s32[] constant(0)",
        f"i = {state} tuple(zero, r1a)",
        f"w = {state} while(i), condition=more, body=turn",
        f"x = {_STATE} get-tuple-element(w), index=1",
    ]
    return called, lines


@pytest.mark.parametrize(("pairs", "said"), [("{{1,2}}", "unknown"), ("{{0,1}}", "proved")])
def test_what_ends_recvs_of_two_kinds_in_flight_is_not_followed(pairs: str, said: str) -> None:
    """In flight a turn ends what is given and begins another recv, which is ended behind the loop."""
    called, lines = _ends_and_begins(_line("r1n").replace("{{0,1}}", pairs))
    lines += ["xd = (f32[8], token[]) recv-done(x), channel_id=1", "q = f32[8] negate(p)"]
    sent = [_line("s1a"), _line("s1b").replace("{{0,1}}", pairs)]
    flight = f"{_computation('aside', lines)}, {_ASIDE}\n"
    text = _module([*sent, *_lines("start done")], called + flight, "replica_count=3")
    assert {f.verdict.value for f in _found(text)} == {said}


@pytest.mark.parametrize(
    ("order", "said"), [("start s1a done sum s1b", "refuted"), ("start s1a s1b done sum", "proved")]
)
def test_a_flight_hands_back_what_its_last_turn_began(order: str, said: str) -> None:
    """In flight a turn ends what is given and begins another recv, which the done of the flight ends."""
    called, lines = _ends_and_begins(_line("r1n"))
    words = {
        "start": f"f = ((f32[8]), {_STATE}, u32[]) async-start(p), calls=aside, async_{_ASIDE}",
        "done": f"fd = {_STATE} async-done(f)",
    }
    flight = f"{_computation('aside', lines)}, {_ASIDE}\n"
    text = _module([words.get(w) or _line(w) for w in order.split()], called + flight)
    verdicts = {f.verdict.value for f in _found(text)}
    assert said in verdicts and ("proved" in verdicts) == (said == "proved")


@pytest.mark.parametrize(("after", "said"), [("s7b X", "unknown"), ("X", "proved")])
def test_the_younger_of_two_that_calls_begin_may_be_waited_for_across_turns(after: str, said: str) -> None:
    """Of two recvs that calls begin, the second is ended before a loop, whose two turns hold what one does not."""
    words = {
        "A": f"a = {_STATE} call(t), to_apply=opened",
        "B": f"b = {_STATE} call(t), to_apply=opened",
        "X": "x = (f32[8], token[]) recv-done(a), channel_id=7",
        "Y": "y = (f32[8], token[]) recv-done(b), channel_id=7",
    }
    opened = _computation("opened", _lines("r7"), "t = token[] parameter(0)") + "\n"
    with pytest.MonkeyPatch.context() as patch:
        for word, line in words.items():
            patch.setitem(_WORDS, word, line)
        before = "A B s7a Y" if "s7b" in after else "A B s7a s7b Y"
        text = _loop("given", "s6a S6a r6a R6a s1a S1a r1a R1a", before, after)
    text = text.replace(_SUM, _SUM + opened).replace("replica_count=2", "replica_count=3")
    assert {f.verdict.value for f in _found(text)} == {said}
