"""Devices that wait for one another for ever: the claim collective-deadlock on schedules with collective operations,
loops, branches, calls and operations in flight, each decided by hand."""

from __future__ import annotations

from typing import Final

import pytest
from deadlock_modules import (
    ADDS,
    ASIDE,
    STATE,
    SUM,
    WORDS,
    computation_of,
    decided,
    flat,
    found_of,
    line_of,
    lines_of,
    module_of,
)

from hloproof.claims.asynchronous import device_events


def _called(inside: str, order: str) -> str:
    return module_of(lines_of(order), computation_of("inside", [*lines_of(inside), "q = f32[8] negate(p)"]) + "\n")


def _with_pairs(order: str, pairs: str, channel: str = "channel_id=1") -> str:
    """`r1b` and `s1b` have other pairs than `r1a` and `s1a`, and perhaps another channel."""
    lines = [
        line_of(w).replace('"{{0,1}}"', f'"{pairs}"').replace("channel_id=1", channel) if w[1:] == "1b" else line_of(w)
        for w in order.split()
    ]
    return module_of(lines, devices="replica_count=3")


def _on_streams(order: str, streams: str) -> str:
    """Channel 1 leads from 0 to 1 and channel 2 back, on one stream or two; or what is received there on the second."""
    second = {"equal": "", "other": "rs2", "mixed": "r2"}[streams]
    said = ',_xla_send_recv_pipeline="1"}'
    lines = [line_of(w)[:-1] + said if w[0] in second and w[1] in second else line_of(w) for w in order.split()]
    return module_of(lines)


_CHOICES: Final = {
    "given": "q = pred[] parameter(1)",
    "given to all": "q = pred[] parameter(1), sharding={replicated}, parameter_replication={true}",
    "split": "qs = pred[2] parameter(1), sharding={devices=[2]0,1}\n  qq = pred[1] slice(qs), slice={[0:1]}\n"
    "  q = pred[] reshape(qq)",
    "given to each": "q = pred[] parameter(1), parameter_replication={false}",
    "manual": "q = pred[] parameter(1), sharding={manual}",
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
        before += computation_of(name, [*lines_of(order), "q = f32[8] negate(p)"]) + "\n"
    choice = "y = f32[8] conditional(q, p, p), true_computation=this, false_computation=that"
    return module_of([_CHOICES[chosen], choice, *lines_of(after)], before)


_MINE: Final = "mine {\n  a = u32[] parameter(0)\n  ROOT b = u32[] replica-id()\n}\n"


def _counted(groups: str) -> str:
    """A branch that is taken where two devices are in a group."""
    total = f"total = s32[] all-reduce(one), replica_groups={groups}, to_apply=adds"
    is_two = "q = pred[] compare(total, two), direction=EQ"
    return decided([total, "two = s32[] constant(2)", is_two], ADDS)


def _mapped(function: str) -> str:
    lines = [
        "ones = u32[1] constant({1})",
        f"all = u32[1] map(ones), dimensions={{0}}, to_apply={function}",
        "first = u32[] reshape(all)",
        "two = u32[] constant(2)",
        "q = pred[] compare(first, two), direction=EQ",
    ]
    return decided(lines, _MINE + _MINE.replace("mine", "theirs").replace("replica-id()", "negate(a)"))


def _mapped_by_a_call(inner: str) -> str:
    other = _MINE.replace("mine", "other").replace("replica-id()", inner)
    text = _mapped("theirs").replace("negate(a)", "call(a), to_apply=other")
    return text.replace("theirs {", f"{other}theirs {{")


def _said(more: str, send: str = "", recv: str = "") -> str:
    """A send and its recv on channel 5, with what the text says of each, before those of channel 1."""
    lines = [
        f"r5 = {STATE} recv(t), channel_id=5{recv}{more}",
        f"s5 = {STATE} send(p, t), channel_id=5{send}{more}",
        f"rd5 = (f32[8], token[]) recv-done(r5), channel_id=5{recv if 'host' in recv else ''}",
        f"sd5 = token[] send-done(s5), channel_id=5{send if 'host' in send else ''}",
    ]
    return module_of([*lines, *lines_of("r1 s1 R1 S1")])


def _pairs(value: str, more: str = "") -> str:
    return f", frontend_attributes={{_xla_send_recv_source_target_pairs={value}{more}}}"


def _inside_of_another(outer: str) -> str:
    """A branch that deadlocks where q holds, inside of one that is taken where it holds, or where it does not."""
    parts = {"deep": "r1 R1 sum s1 S1", "idle": ""}
    before = "".join(computation_of(n, [*lines_of(o), "q = f32[8] negate(p)"]) + "\n" for n, o in parts.items())
    before += (
        "both {\n  st = (pred[], f32[8]) parameter(0)\n  q = pred[] get-tuple-element(st), index=0\n"
        "  p = f32[8] get-tuple-element(st), index=1\n"
        "  ROOT y = f32[8] conditional(q, p, p), true_computation=deep, false_computation=idle\n}\n"
    )
    yes, no = ("st", "p") if outer == "where it holds" else ("p", "st")
    ways = ("both", "idle") if outer == "where it holds" else ("idle", "both")
    choice = f"y = f32[8] conditional(q, {yes}, {no}), true_computation={ways[0]}, false_computation={ways[1]}"
    return module_of(["q = pred[] parameter(1)", "st = (pred[], f32[8]) tuple(q, p)", choice], before)


def _numbered(number: str) -> str:
    """A branch with a deadlock behind one without, of which a number chooses one."""
    parts = {"idle": "", "deep": "r1 R1 sum s1 S1"}
    before = "".join(computation_of(n, [*lines_of(o), "q = f32[8] negate(p)"]) + "\n" for n, o in parts.items())
    choice = "y = f32[8] conditional(n0, p, p), branch_computations={idle, deep}"
    return module_of([f"n0 = s32[] constant({number})", *lines_of("r1a s1a R1a S1a"), choice], before)


def _called_by_turns(other: str) -> str:
    """A call that does something where q holds, and again where it does not, or does: twice it holds 2 behind 0."""
    text = _inside_of_another("where it holds")
    end = text.index("idle {")
    deep = computation_of("deep", [*lines_of("s6a S6a r6a R6a s1a S1a r1a R1a"), "q = f32[8] negate(p)"]) + "\n"
    lines = [
        *lines_of("r7 R7"),
        "q = pred[] parameter(1)",
        f"o = pred[] {other}(q)",
        "st = (pred[], f32[8]) tuple(q, p)",
        "su = (pred[], f32[8]) tuple(o, p)",
        "y = f32[8] call(st), to_apply=both",
        "z = f32[8] call(su), to_apply=both",
        *lines_of("s7 S7"),
    ]
    before = deep + text[end : text.index("ENTRY")]
    return module_of(lines, before, "replica_count=3")


def _given_to(what: str, first: str = "r1 R1", last: str = "s1 S1") -> str:
    """A sum inside of what something else runs, between a recv-done and its send."""
    inside = computation_of("inside", lines_of("sum")) + "\n"
    return module_of([*lines_of(first), f"u = f32[8] {what}", *lines_of(last)], inside)


def _ended_by(made: str, done: str = "x") -> str:
    """A recv that is ended by way of something else, with a sum between the done and its send."""
    of = "(f32[8], token[])"
    aside = f"aside {{\n  r = {STATE} parameter(0)\n  ROOT d = {of} recv-done(r), channel_id=1\n}}, {ASIDE}\n"
    flight = f"x = (({STATE}), {of}, u32[]) async-start(r1), calls=aside, async_{ASIDE}\n  d = {of} async-done(x)"
    parts = [f"x{n} = {part} get-tuple-element(r1), index={n}" for n, part in enumerate(("f32[8]", "u32[]", "token[]"))]
    way = {
        "flight": flight,
        "parameter": f"x = {STATE} parameter(1)",
        "parts": "\n  ".join([*parts, f"x = {STATE} tuple(x0, x1, x2)"]),
    }.get(made, f"x = {STATE} {made}")
    ended = [] if made == "flight" else [f"d = {of} recv-done({done}), channel_id=1"]
    return module_of([*lines_of("r1"), way, *ended, *lines_of("sum s1 S1")], aside if made == "flight" else "")


def _told(order: str, opcode: str, word: str) -> str:
    """The order with a word behind the first attribute of one of its operations."""
    begin, _, end = flat(order).partition(f" {opcode}(")
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
    return decided(lines, ADDS)


def _worked_out(said: str) -> str:
    """A branch with a deadlock that a constant does not choose, if what is written beside it says nothing."""
    choice = _branches("no", "r1 R1 sum s1 S1", "r2 s2 R2 S2")
    return choice.replace("q = pred[] constant(false)", f"q0 = pred[] constant(true)\n  q = pred[] not(q0){said}")


def _two_groups(a: int, b: int) -> str:
    """Groups of two of 2000 devices: device 1 waits for one that waits for device 0, and the other way round."""

    def groups(a: int, b: int) -> str:
        rest = ",".join(str(n) for n in range(2000) if n not in (a, b))
        return f"{{{{{a},{b}}},{{{rest}}}}}"

    sums = [f"a{n} = f32[8] all-reduce(p), replica_groups={groups(n, b)}, to_apply=add" for n in (1, 0)]
    return module_of([*lines_of("r1 R1"), *sums[:a], *lines_of("s1 S1")], devices="replica_count=2000")


_PERMUTED: Final = [
    "m1 = f32[8] collective-permute(p), source_target_pairs={{1,5}}",
    "m2 = f32[8] collective-permute(p), source_target_pairs={{5,0}}",
]


def _sums_of_branches() -> str:
    """Each branch begins a sum that is ended behind them."""
    sums = line_of("sum-start")
    before = computation_of("this", [sums]) + "\n" + computation_of("that", [sums]) + "\n"
    chosen = "y = f32[8] conditional(q, p, p), true_computation=this, false_computation=that"
    return module_of(
        ["q = pred[] parameter(1)", *lines_of("r1 s1"), chosen, "yd = f32[8] all-reduce-done(y)", *lines_of("R1 S1")],
        before,
    )


_EXCHANGE: Final = "x = ((f32[8]), f32[8], u32[]) all-to-all-start(p), replica_groups={}, dimensions={0}"
_RAGGED: Final = (
    "sizes = s32[2] constant({4,4})\n"
    "  x = f32[8] ragged-all-to-all(p, p, sizes, sizes, sizes, sizes), replica_groups={{0,1}}"
)
_OF_FIVE: Final = "channel_id=5, frontend_attributes={"

CASES: Final = {
    "a sum between a recv-done and its send": (flat("r1 R1 sum s1 S1"), "refuted"),
    "a sum behind the send": (flat("r1 s1 sum R1 S1"), "proved"),
    "a sum of each device alone": (flat("r1 R1 sum-alone s1 S1"), "proved"),
    "a sum of who knows whom": (flat("r1 R1 sum s1 S1", "replica_count=2, num_partitions=2"), "unknown"),
    "a sum of the replicas of each partition": (flat("r1 R1 sum s1 S1", "num_partitions=2"), "proved"),
    # Two partitions: by numbers of devices, all of a replica, of partitions, or of replicas, one each.
    **{
        f"between partitions, {order}: {made}": (
            module_of(
                [line_of(w) if w != "here" else f"here = {made}" for w in order.split()], devices="num_partitions=2"
            ),
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
    "a permutation that waits for the one who waits": (flat("r1 R1 back s1 S1"), "refuted"),
    # Who sends in a permutation may wait for who takes it, and all may wait for all.
    "a permutation that waits for the other": (flat("r1 R1 forth s1 S1"), "unknown"),
    "a permutation that waits for the other, behind the send": (flat("r1 s1 forth R1 S1"), "proved"),
    "a permutation of others": (flat("r1 R1 turned s1 S1", "replica_count=3"), "unknown"),
    "a permutation of others, behind the send": (flat("r1 s1 turned R1 S1", "replica_count=3"), "proved"),
    "a sum that begins before a recv-done": (flat("sum-start r1 R1 sum-done s1 S1"), "proved"),
    "a sum that begins behind a recv-done": (flat("r1 R1 sum-start sum-done s1 S1"), "refuted"),
    "a sum that ends behind the send": (flat("r1 R1 sum-start s1 S1 sum-done"), "unknown"),
    "a sum that begins behind a recv": (flat("r1 sum-start sum-done s1 S1 R1"), "unknown"),
    "the same, behind the send": (flat("r1 s1 sum-start sum-done S1 R1"), "proved"),
    "a sum that begins before who waits for the send": (flat("sum-start r1 R1 s1 S1 sum-done"), "proved"),
    "two recv-dones, one send so far": (flat("r1a r1b s1a r2 R1a R1b s2 R2 s1b S1a S1b S2"), "refuted"),
    "two recv-dones, and two sends": (flat("r1a r1b s1a s1b r2 R1a R1b s2 R2 S1a S1b S2"), "proved"),
    "a call, and again, that sends": (_called("s1 S1", "call again r1 R1"), "refuted"),
    "a call, and again, and two recvs": (_called("s1 S1", "call again r1 R1 r1b R1b"), "proved"),
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
    "a device that is not there": (flat("r1 s1 R1 S1").replace("{{0,1}}", "{{0,2}}"), "refuted"),
    "a device that may be there": (flat("r1 s1 R1 S1", "replica_count=1").replace("{{0,1}}", "{{0,2}}"), "proved"),
    **{
        f"a sum in a branch that is {chosen}": (_branches(chosen, "sum", "", after="r1 s1 R1 S1"), said)
        for chosen, said in (("own", "unknown"), ("given", "proved"))
    },
    "behind a branch that is own, with both": (_branches("own", "r1 s1 R1 S1", "", after="r2 s2 R2 S2"), "unknown"),
    "sums that branches begin": (_sums_of_branches(), "unknown"),
    "both branches send, and one recv": (_branches("given", "s1 S1", "s1 S1", after="r1 R1"), "unknown"),
    "a branch sends, and nobody receives": (_branches("given", "s1 S1", ""), "refuted"),
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
    "a recv that is sent, behind one that is not": (flat("r7 r2 s2 R2 sum s7 R7 S2 S7", "replica_count=3"), "unknown"),
    "a recv that is sent, before one that is not": (flat("r2 r7 s2 R2 sum s7 R7 S2 S7", "replica_count=3"), "proved"),
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
    "a send of others behind a recv": (flat("r2 s6 S6 sum s2 S2 R2 r6 R6", "replica_count=3"), "proved"),
    "a send of its own behind a recv": (flat("r2 s1 S1 sum s2 S2 R2 r1 R1"), "unknown"),
    **{
        f"two channels on {streams} streams, received the other way round": (
            flat("s1 s5 r5 R5 r1 R1 S1 S5").replace(_OF_FIVE, _OF_FIVE + more),
            said,
        )
        for streams, more, said in (("equal", "", "unknown"), ("other", '_xla_send_recv_pipeline="1",', "proved"))
    },
    "a branch by a sum over groups of two sizes": (_counted("{{0,2,3},{1}}"), "unknown"),
    "a branch by a sum over groups of one size": (_counted("{{0,2},{1,3}}"), "proved"),
    # Where a header does not count devices: who stands in no group of a broadcast is given zeros.
    **{
        f"a branch by a {made} of what is given, device 2 apart": (
            decided(["g = s32[] parameter(1)", f"o = s32[] {made}", "q = pred[] compare(o, one), direction=EQ"], ADDS)
            .replace(", replica_count=4", "")
            .replace('{{0,1}}"', '{{2,1}}"'),
            said,
        )
        for made, said in (("collective-broadcast(g), replica_groups={{0,1}}", "unknown"), ("negate(g)", "proved"))
    },
    # Groups are then of devices only where they say so.
    **{
        f"a sum of two of three devices{words}": (
            module_of(
                [
                    *lines_of("r6 R6"),
                    f"sum = f32[8] all-reduce(p), channel_id=9, replica_groups={{{{0,1}},{{2}}}}, to_apply=add{words}",
                    *lines_of("s6 S6"),
                ],
                devices="replica_count=1",
            ),
            said,
        )
        for words, said in (("", "unknown"), (", use_global_device_ids=true", "proved"))
    },
    "a branch by a function that asks who runs it": (_mapped("mine"), "unknown"),
    "a branch by a function of its operand": (_mapped("theirs"), "proved"),
    "a sum inside of a fusion": (_given_to("fusion(p), kind=kCustom, calls=inside"), "refuted"),
    "a sum inside of a fusion, behind the send": (
        _given_to("fusion(p), kind=kCustom, calls=inside", "r1 s1 S1", "R1"),
        "proved",
    ),
    "a sum inside of what nobody knows": (
        _given_to('custom-call(p), custom_call_target="x", called_computations={inside}'),
        "unknown",
    ),
    "more devices than are followed, who meet": (_two_groups(2, 1500), "unknown"),
    "more devices than are followed, who do not": (flat("r1 s1 R1 S1", "replica_count=2000"), "proved"),
    "devices that only a permutation names": (
        module_of([*lines_of("r1 R1"), *_PERMUTED, *lines_of("s1 S1")], devices="replica_count=1"),
        "refuted",
    ),
    "devices that only a permutation names, one way": (
        module_of([*lines_of("r1 R1"), *_PERMUTED[1:], *lines_of("s1 S1")], devices="replica_count=1"),
        "unknown",
    ),
    # A recv is given what is sent in the order in which recvs began.
    "who began first has what is sent first": (flat("r1a r1b s1a R1b sum s1b R1a S1a S1b"), "unknown"),
    "who began first is ended first": (flat("r1a r1b s1a R1a sum s1b R1b S1a S1b"), "proved"),
    "who began second, behind both sends": (flat("r1a r1b s1a s1b R1b sum R1a S1a S1b"), "proved"),
    # What is said of transfers has to be read whole.
    "pairs in marks": (_said(_pairs('"{{0,1}}"')), "proved"),
    "pairs in the open": (_said(_pairs("{ {0, 1} }", ', _xla_send_recv_pipeline="1"')), "proved"),
    "no pairs at all": (_said(_pairs('"{}"')), "proved"),
    "a transfer between who knows whom": (_said(""), "unknown"),
    "a recv from who knows whom": (_said("", send=_pairs('"{{0,1}}"')), "unknown"),
    "pairs in other brackets": (_said(_pairs('"[[0,1]]"')), "unknown"),
    "pairs, and pairs once more": (_said(_pairs('"{{0,1}}{{1,2}}"')), "unknown"),
    "a call with a sum at one device": (_called("sum-at-one", "r1 R1 call s1 S1"), "unknown"),
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
    "a sum at one device": (flat("r1 R1 sum-at-one s1 S1"), "unknown"),
    "a sum in a mode": (flat("r1 R1 sum-in-a-mode s1 S1"), "unknown"),
    "a sum in a mode, behind the send": (flat("r1 s1 sum-in-a-mode R1 S1"), "proved"),
    "a branch by a function that calls who asks who runs it": (_mapped_by_a_call("replica-id()"), "unknown"),
    "a branch by a function that calls another": (_mapped_by_a_call("negate(a)"), "proved"),
    **{
        f"a branch that is {chosen}, with a sum": (_branches(chosen, "r1 s1 sum R1 S1", ""), said)
        for chosen, said in (
            ("given to all", "proved"),
            ("split", "unknown"),
            ("given to each", "unknown"),
            ("manual", "unknown"),
        )
    },
    "a branch sends, and one recv": (_branches("given", "s1 S1", "", after="r1 R1"), "unknown"),
    "a recv that is ended by way of a branch": (
        _ended_by("conditional(q, r1, r1), true_computation=same, false_computation=same")
        .replace("p = f32[8] parameter(0)\n", "p = f32[8] parameter(0)\n  q = pred[] parameter(1)\n")
        .replace(SUM, f"{SUM}same {{\n  ROOT r = {STATE} parameter(0)\n}}\n"),
        "unknown",
    ),
    # What need not happen is no certain deadlock; what happens behind it is.
    **{
        f"a sum before the send {where}": (_branches("given", *orders), said)
        for where, orders, said in (
            ("in one branch", ("r1 R1 sum s1 S1", ""), "unknown"),
            ("in both", ("r1 R1 sum s1 S1", "r1 R1 sum s1 S1"), "unknown"),
            ("behind them", ("sum", "cast", "r1 R1 sum s1 S1"), "refuted"),
        )
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
        f"behind a recv-done, {made}": (flat("r1 R1 sum s1 S1").replace(WORDS["sum"], f"sum = f32[8] {made}"), said)
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
        flat("r1 s1 sum R1 S1").replace(WORDS["sum"], "sum = f32[8] collective-broadcast(p), replica_groups={{0,1}}"),
        "proved",
    ),
    "a branch by what falls on one place in any order": (_scattered(""), "unknown"),
    "a branch by what falls on places of its own": (_scattered(", unique_indices=true"), "proved"),
    **{
        f"a branch by a sum{' that says more' if said else ''}": (
            decided(
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
    # Where devices go different ways, one may be sent what another way would not have sent.
    **{
        f"a deadlock behind a branch that is {chosen}": (
            _branches(chosen, "r1 s1 R1 S1", "", after="r1b R1b sum s1b S1b"),
            said,
        )
        for chosen, said in (("own", "unknown"), ("given", "refuted"))
    },
    # And a recv that is not sent may take what another is sent on its channel, if their pairs are not the same.
    **{
        f"a recv on a channel with {pairs}, too": (_with_pairs("r1a s1b R1a sum r1b s1a R1b", pairs), said)
        for pairs, said in (("{{0,1},{1,2}}", "unknown"), ("{{1,2}}", "refuted"))
    },
    **{
        f"a channel on {streams}": (
            module_of(
                [
                    line_of(w)[:-1] + said + "}" if w in ("r1b", "s1b") else line_of(w)
                    for w in "r1a s1a R1a S1a r1b s1b R1b S1b".split()
                ]
            ),
            verdict,
        )
        for streams, said, verdict in (
            ("one stream", "", "proved"),
            ("two streams", ',_xla_send_recv_pipeline="1"', "unknown"),
        )
    },
    "a number of partitions that each replica has alone": (
        _given_to("all-to-all(p), replica_groups={}, dimensions={0}, channel_id=9"),
        "proved",
    ),
    "a sum of who knows how many, who waits for the first": (flat("r2 R2 sum s2 S2", "replica_count=1"), "unknown"),
    "a sum inside of what a library runs": (
        _given_to('custom-call(p), custom_call_target="__cublas$x", called_computations={inside}'),
        "unknown",
    ),
    **{
        f"parts of any size that are exchanged, {order}": (
            module_of([_RAGGED if w == "ragged" else line_of(w) for w in order.split()]),
            said,
        )
        for order, said in (("r1 R1 ragged s1 S1", "unknown"), ("r1 s1 ragged R1 S1", "proved"))
    },
    **{
        f"a done of what is exchanged{said}": (
            module_of([*lines_of("r1 s1 R1 S1"), _EXCHANGE, f"d = f32[8] all-to-all-done(x){said}"]),
            verdict,
        )
        for said, verdict in (("", "proved"), (', backend_config={"who":"all"}', "unknown"))
    },
    "a branch that is own, without any": (_branches("own", "", "", after="r1 s1 R1 S1"), "proved"),
    **{
        f"transfers between no devices alone, by a branch that is {chosen}": (
            _branches(chosen, "sum", "", after="r1 s1 R1 S1").replace('"{{0,1}}"', '"{}"'),
            said,
        )
        for chosen, said in (("given", "proved"), ("own", "unknown"))
    },
}


@pytest.mark.parametrize(("text", "said"), CASES.values(), ids=CASES)
def test_who_waits_for_ever_is_told(text: str, said: str) -> None:
    verdicts = {f.verdict.value for f in found_of(text)}
    assert verdicts and (verdicts == {said} if said == "proved" else said in verdicts)
    assert said == "refuted" or "refuted" not in verdicts


def _opened_by_calls(order: str) -> str:
    """Two calls that each begin a recv, which are ended in some order."""
    opened = computation_of("opened", lines_of("r1"), "t = token[] parameter(0)") + "\n"
    words = {
        "A": f"a = {STATE} call(t), to_apply=opened",
        "B": f"b = {STATE} call(t), to_apply=opened",
        "X": "x = (f32[8], token[]) recv-done(a), channel_id=1",
        "Y": "y = (f32[8], token[]) recv-done(b), channel_id=1",
    }
    return module_of([words.get(w) or line_of(w) for w in order.split()], opened)


@pytest.mark.parametrize(("order", "said"), [("A B s1 Y sum s1b X", "unknown"), ("A B s1 s1b Y sum X", "proved")])
def test_calls_begin_one_recv_twice(order: str, said: str) -> None:
    assert {f.verdict.value for f in found_of(_opened_by_calls(order))} == {said}


def test_what_is_taken_for_granted_is_said() -> None:
    assumed = {name: {a for f in found_of(CASES[name][0]) for a in f.assumptions} for name in CASES}
    assert assumed["a branch that is given, with both"] == {"every device is given the same q"}
    assert assumed["a sum behind the send"] == set()


def test_schedules_that_are_too_long_are_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_events, "_MOST_EVENTS", 3)
    (found,) = found_of(flat("r1 s1 R1 S1"))
    assert found.verdict.value == "unknown" and "more than 3" in (found.reason or "")
