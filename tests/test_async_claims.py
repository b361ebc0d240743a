"""Claims about asynchronous instructions: every planted violation is refuted by its claim, its repair by none."""

from __future__ import annotations

from pathlib import Path

import pytest

import hloproof
from hloproof.claims.asynchronous import CLAIMS, judge
from hloproof.models.hlo.parser import parse_module
from hloproof.pipeline.driver import check_hlo
from hloproof.pipeline.options import Options

OP = "c { x = f32[8] parameter(0) ROOT y = f32[4] slice(x), slice={[0:4]} }\n"
TWO = "two { x = f32[8] parameter(0) y = f32[8] parameter(1) ROOT z = f32[8] add(x, y) }\n"
P = "p = f32[8] parameter(0)"
START = "s = ((f32[8]), f32[4], s32[]) async-start(p), calls=c"
DONE = "d = f32[4] async-done(s)"
COPY = "s = (f32[8], f32[8], u32[]) copy-start(p)"
TOKEN = "t = token[] after-all()"
SEND = "s = (f32[8], u32[], token[]) send(p, t), channel_id=1"
RECV = "r = (f32[8], u32[], token[]) recv(t), channel_id=2"
PIN = 'b = b(f32[8]) custom-call(p), custom_call_target="Pin", output_to_operand_aliasing={{}: (0, {})}'
UNPIN = 'u = f32[8] custom-call(w), custom_call_target="Unpin", output_to_operand_aliasing={{}: (0, {})}'
WRITE = 'w = b(f32[8]) custom-call(b), custom_call_target="write"'
SLICES = "collective-permute-start(p, q, t, t), source_target_pairs={{0,1}}, slice_sizes={{4}}"
PAIRS = 'frontend_attributes={{_xla_send_recv_source_target_pairs="{}"}}'


def text(*lines: str, before: str = "") -> str:
    *most, last = lines
    return "HloModule m\n" + before + "ENTRY e {\n" + "\n".join(f"  {x}" for x in most) + f"\n  ROOT {last}\n}}\n"


def exchange(first: str, second: str) -> str:
    """Device pairs of a send and of the recv that should match it."""
    return text(
        P,
        TOKEN,
        SEND + ", " + PAIRS.format(first),
        "sd = token[] send-done(s), channel_id=1",
        "r = (f32[8], u32[], token[]) recv(t), channel_id=1, " + PAIRS.format(second),
        "rd = (f32[8], token[]) recv-done(r), channel_id=1",
        "d = f32[8] get-tuple-element(rd), index=0",
    ).replace("HloModule m", "HloModule m, is_scheduled=true")


def in_flight(inside: str, order: str) -> str:
    """Two devices that send to one another, by one operation each; one of the four stands in a computation that runs
    beside the others, between `start` and `done`."""
    ways = {"a": PAIRS.format("{{0,1}}") + ", channel_id=1", "b": PAIRS.format("{{1,0}}") + ", channel_id=2"}
    state = "(f32[8], u32[], token[])"
    lines = {"done": f"fd = {state} async-done(f)"}
    for way, rest in ways.items():
        channel = rest.partition(", ")[2]
        lines[f"send-{way}"] = f"s{way} = {state} send(p, t), {rest}"
        lines[f"sent-{way}"] = f"sd{way} = token[] send-done(s{way}), {channel}"
        lines[f"recv-{way}"] = f"r{way} = {state} recv(t), {rest}"
        lines[f"received-{way}"] = f"rd{way} = (f32[8], token[]) recv-done(r{way}), {channel}"
    body = f'c {{ p = f32[8] parameter(0) t = token[] parameter(1) ROOT {lines[inside]} }}, execution_thread="x"\n'
    lines["start"] = f'f = ((f32[8], token[]), {state}, s32[]) async-start(p, t), calls=c, async_execution_thread="x"'
    told = [lines[word] for word in order.split()]
    return text(P, TOKEN, *told, "d = f32[8] negate(p)", before=body).replace(
        "HloModule m", "HloModule m, is_scheduled=true"
    )


TWO_STEPS = "c { x = f32[8] parameter(0) n = f32[8] negate(x) ROOT y = f32[4] slice(n), slice={[0:4]} }\n"

PLANTED = [
    (
        "two devices that wait for what one of them starts to send only afterwards",
        "collective-deadlock",
        in_flight("send-a", "recv-a recv-b received-a received-b start send-b done sent-b"),
        in_flight("send-a", "recv-a recv-b start send-b received-a received-b done sent-b"),
    ),
    (
        "a done of what receives in flight, before anybody sends",
        "collective-deadlock",
        in_flight("recv-b", "recv-a received-a start done send-a send-b sent-a sent-b"),
        in_flight("recv-b", "recv-a start send-a send-b received-a done sent-a sent-b"),
    ),
    (
        "a recv without the send in flight",
        "collective-deadlock",
        in_flight("send-a", "recv-a recv-b send-b received-a received-b sent-b"),
        in_flight("send-a", "recv-a recv-b start send-b received-a received-b done sent-b"),
    ),
    (
        "a start without a done",
        "async-chain",
        text(P, COPY, "n = f32[8] negate(p)"),
        text(P, COPY, "n = f32[8] copy-done(s)"),
    ),
    (
        "two dones of one start",
        "async-chain",
        text(P, COPY, "a = f32[8] copy-done(s)", "b = f32[8] copy-done(s)", "r = f32[8] add(a, b)"),
        text(P, COPY, "a = f32[8] copy-done(s)", "r = f32[8] add(a, a)"),
    ),
    (
        "a done of something that is no start",
        "async-chain",
        text(P, "k = u32[] constant(0)", "s = (f32[8], f32[8], u32[]) tuple(p, p, k)", "d = f32[8] copy-done(s)"),
        text(P, COPY, "d = f32[8] copy-done(s)"),
    ),
    (
        "a done of another kind of start",
        "async-chain",
        text(
            P,
            "s = (f32[8], f32[8]) all-gather-start(p), dimensions={0}, replica_groups={{0}}",
            "d = f32[8] collective-permute-done(s)",
        ),
        text(
            P,
            "s = (f32[8], f32[8]) all-gather-start(p), dimensions={0}, replica_groups={{0}}",
            "d = f32[8] all-gather-done(s)",
        ),
    ),
    (
        "a done that returns another shape than its computation",
        "async-done",
        text(P, START, "d = f32[8] async-done(s)", before=OP),
        text(P, START, DONE, before=OP),
    ),
    (
        "the positions of copy-start swapped",
        "async-shape",
        text(
            "p = f32[8]{0:S(1)} parameter(0)",
            "s = (f32[8]{0:S(1)}, f32[8]{0:S(2)}, u32[]) copy-start(p)",
            "d = f32[8]{0:S(1)} copy-done(s)",
        ),
        text(
            "p = f32[8]{0:S(1)} parameter(0)",
            "s = (f32[8]{0:S(2)}, f32[8]{0:S(1)}, u32[]) copy-start(p)",
            "d = f32[8]{0:S(2)} copy-done(s)",
        ),
    ),
    (
        "an operand position that is not the operand",
        "async-shape",
        text(P, "s = ((f32[7]), f32[4], s32[]) async-start(p), calls=c", DONE, before=OP),
        text(P, START, DONE, before=OP),
    ),
    (
        "a result position that is not the result",
        "async-shape",
        text(P, "s = ((f32[8]), f32[5], s32[]) async-start(p), calls=c", DONE, before=OP),
        text(P, START, DONE, before=OP),
    ),
    (
        "an all-gather-start whose result is its operand's shape",
        "async-shape",
        text(
            P,
            "s = f32[16] all-gather-start(p), dimensions={0}, replica_groups={{0,1}}",
            "d = f32[16] all-gather-done(s)",
        ),
        text(
            P,
            "s = (f32[8], f32[16]) all-gather-start(p), dimensions={0}, replica_groups={{0,1}}",
            "d = f32[16] all-gather-done(s)",
        ),
    ),
    (
        "an all-gather-start with a context",
        "async-shape",
        text(
            P,
            "s = (f32[8], f32[16], u32[]) all-gather-start(p), dimensions={0}, replica_groups={{0,1}}",
            "d = f32[16] all-gather-done(s)",
        ),
        text(
            P,
            "s = (f32[8], f32[16]) all-gather-start(p), dimensions={0}, replica_groups={{0,1}}",
            "d = f32[16] all-gather-done(s)",
        ),
    ),
    (
        "a permutation of two arrays that carries one",
        "async-shape",
        text(
            P,
            "s = (f32[8], f32[8]) collective-permute-start(p, p), source_target_pairs={{0,1}}",
            "d = f32[8] collective-permute-done(s)",
        ),
        text(
            P,
            "s = ((f32[8], f32[8]), (f32[8], f32[8])) collective-permute-start(p, p), source_target_pairs={{0,1}}",
            "d = (f32[8], f32[8]) collective-permute-done(s)",
        ),
    ),
    (
        "a copy-done in another memory than its start copies into",
        "async-done",
        text(P, "s = (f32[8]{0:S(1)}, f32[8], u32[]) copy-start(p)", "d = f32[8]{0} copy-done(s)"),
        text(P, "s = (f32[8]{0:S(1)}, f32[8], u32[]) copy-start(p)", "d = f32[8]{0:S(1)} copy-done(s)"),
    ),
    *(
        (
            f"a permutation of slices of {shape} that returns another array than it writes into",
            "async-shape",
            text(*given, f"s = ({shape}, {other}, u32[], u32[]) {SLICES}", f"d = {other} collective-permute-done(s)"),
            text(*given, f"s = ({shape}, {shape}, u32[], u32[]) {SLICES}", f"d = {shape} collective-permute-done(s)"),
        )
        for shape, other in (("f32[8]", "f32[4]"), ("(f32[8], f32[8])", "(f32[8], f32[4])"))
        for given in (
            (
                f"p = {shape} parameter(0)",
                f"q = {shape} parameter(1)",
                "z = s32[] constant(0)",
                "o = (s32[]) tuple(z)",
                "t = ((s32[]), (s32[])) tuple(o, o)" if shape[0] == "(" else "t = (s32[]) tuple(z)",
            ),
        )
    ),
    (
        "an operand that nobody binds",
        "async-binding",
        text(P, "s = ((f32[8]), f32[8], s32[]) call-start(p), to_apply=two", "d = f32[8] call-done(s)", before=TWO),
        text(
            P,
            "s = ((f32[8]), f32[8], s32[]) call-start(p), to_apply=two",
            "k = ((f32[8], f32[8]), f32[8], s32[]) call-update(s, p)",
            "d = f32[8] call-done(k)",
            before=TWO,
        ),
    ),
    (
        "a computation with work beside its root",
        "async-computation",
        text(P, START, DONE, before=TWO_STEPS),
        text(P, START, DONE, before=OP),
    ),
    (
        "a thread that is not that of the computation",
        "async-thread",
        text(P, START + ', async_execution_thread="a"', DONE, before=OP.replace("}\n", '}, execution_thread="b"\n')),
        text(P, START + ', async_execution_thread="a"', DONE, before=OP.replace("}\n", '}, execution_thread="a"\n')),
    ),
    (
        "aliasing of an operand that does not exist",
        "async-alias",
        text(
            P,
            "s = ((f32[8]), f32[8], s32[]) async-start(p), calls=c, output_to_operand_aliasing={{1}: (5, {})}",
            "d = f32[8] async-done(s)",
            before="c { x = f32[8] parameter(0) ROOT y = f32[8] negate(x) }\n",
        ),
        text(
            P,
            "s = ((f32[8]), f32[8], s32[]) async-start(p), calls=c, output_to_operand_aliasing={{1}: (0, {})}",
            "d = f32[8] async-done(s)",
            before="c { x = f32[8] parameter(0) ROOT y = f32[8] negate(x) }\n",
        ),
    ),
    (
        "aliasing of different shapes",
        "async-alias",
        text(P, START + ", output_to_operand_aliasing={{1}: (0, {})}", DONE, before=OP),
        text(P, START, DONE, before=OP),
    ),
    (
        "a send with two consumers",
        "async-channel",
        text(
            P,
            TOKEN,
            SEND,
            "a = token[] send-done(s), channel_id=1",
            "b = token[] send-done(s), channel_id=1",
            "d = f32[8] negate(p)",
        ),
        text(P, TOKEN, SEND, "a = token[] send-done(s), channel_id=1", "d = f32[8] negate(p)"),
    ),
    (
        "a recv-done on another channel",
        "async-channel",
        text(TOKEN, RECV, "d = (f32[8], token[]) recv-done(r), channel_id=3"),
        text(TOKEN, RECV, "d = (f32[8], token[]) recv-done(r), channel_id=2"),
    ),
    (
        "a send and its recv with different device pairs",
        "collective-deadlock",
        exchange("{{0,1}}", "{{0,2}}"),
        exchange("{{0,1}}", "{{0,1}}"),
    ),
    (
        "two sends to one device",
        "collective-deadlock",
        exchange("{{0,1},{2,1}}", "{{0,1},{2,1}}"),
        exchange("{{0,1},{2,3}}", "{{0,1},{2,3}}"),
    ),
    (
        "devices that wait in a circle",
        "collective-deadlock",
        exchange("{{0,1},{1,2},{2,0}}", "{{0,1},{1,2},{2,0}}"),
        exchange("{{0,1},{1,2}}", "{{0,1},{1,2}}"),
    ),
    (
        "a buffer that goes in and does not come out",
        "buffer-alias",
        text(P, PIN, WRITE, UNPIN),
        text(P, PIN, WRITE + ", output_to_operand_aliasing={{}: (0, {})}", UNPIN),
    ),
    (
        "a buffer with two writers",
        "buffer-alias",
        text(
            P,
            PIN,
            WRITE + ", output_to_operand_aliasing={{}: (0, {})}",
            UNPIN.replace("(w)", "(b)").replace("u =", "u2 ="),
            UNPIN,
        ),
        text(P, PIN, WRITE + ", output_to_operand_aliasing={{}: (0, {})}", UNPIN),
    ),
]


def test_who_takes_a_buffer_owes_an_alias_wherever_it_stands() -> None:
    """Also where nothing else concerns these claims: no call gives a buffer, nothing is in flight or scheduled."""
    taken = text("p = b(f32[8]) parameter(0)", UNPIN.replace("(w)", "(p)"))
    untold = taken.replace(", output_to_operand_aliasing={{}: (0, {})}", "")
    for source, wrong in ((untold, {"u"}), (taken, set())):
        (module,) = check_hlo(source, Options()).files[0].modules
        owed = [(i.instruction.name, c.verdict.value) for i in module.instructions for c in i.own]
        assert {name for name, verdict in owed if verdict == "refuted"} == wrong
        assert {name for name, _ in owed} == {"p", "u"}


def test_who_takes_a_tuple_takes_the_buffers_in_it() -> None:
    """Also where no instruction gives a buffer by itself."""
    taken = text("p = (b(f32[8]), f32[8]) parameter(0)", UNPIN.replace("(w)", "(p)").replace("(0, {})", "(0, {0})"))
    for source, wrong in ((taken.partition(", output_to")[0] + "\n}\n", {"u"}), (taken, set())):
        (module,) = check_hlo(source, Options()).files[0].modules
        owed = [(i.instruction.name, c.verdict.value) for i in module.instructions for c in i.own]
        assert {name for name, verdict in owed if verdict == "refuted"} == wrong
        assert {name for name, _ in owed} == {"p", "u"}


@pytest.mark.parametrize(
    ("opcode", "wrong"), [("reverse(x), dimensions={0}", {"hazard-in-place"}), ("negate(x)", set())]
)
def test_what_lies_in_its_operand_is_looked_at_where_nothing_else_is(opcode: str, wrong: set[str]) -> None:
    """No schedule, nothing in flight and no buffer type."""
    body = f"f {{\n  x = f32[8] parameter(0)\n  ROOT n = f32[8] {opcode}\n}}\n"
    fused = "c = f32[8] fusion(p), kind=kLoop, calls=f, output_to_operand_aliasing={{}: (0, {})}"
    (module,) = check_hlo(text(P, fused, before=body), Options()).files[0].modules
    assert {c.claim for i in module.instructions for c in i.own if c.verdict.value == "refuted"} == wrong


def of_computations(source: str) -> set[str]:
    """The verdicts of `async-computation`."""
    (module,) = check_hlo(source, Options()).files[0].modules
    return {c.verdict.value for i in module.instructions for c in i.own if c.claim == "async-computation"}


@pytest.mark.parametrize(
    ("body", "words", "verdict"),
    [
        (TWO_STEPS, "", "refuted"),
        (TWO_STEPS, '_collectives_group="a"', "proved"),
        (TWO_STEPS, '_collectives_group="a",b="1",b="2"', "unknown"),
        (TWO_STEPS, 'b="1"', "refuted"),
        (OP, 'b="1",b="2"', "proved"),
    ],
)
def test_what_is_begun_together_is_said_by_a_list_that_can_be_read(body: str, words: str, verdict: str) -> None:
    assert of_computations(text(P, f"{START}, frontend_attributes={{{words}}}", DONE, before=body)) == {verdict}


@pytest.mark.parametrize(("thread", "verdict"), [("host", "proved"), ("main", "refuted")])
def test_what_runs_on_another_thread_may_be_several_operations(thread: str, verdict: str) -> None:
    body = TWO_STEPS.replace("}\n", f'}}, execution_thread="{thread}"\n')
    start = START.replace("calls=", f'async_execution_thread="{thread}", calls=')
    assert of_computations(text(P, start, DONE, before=body)) == {verdict}


@pytest.mark.parametrize("begun", [SEND, RECV])
def test_what_is_sent_and_never_ended_is_refuted_where_nothing_else_is_in_flight(begun: str) -> None:
    """No opcode there names a step, and the text is no schedule."""
    (module,) = check_hlo(text(P, TOKEN, begun, "a = f32[8] negate(p)"), Options()).files[0].modules
    found = {c.claim for i in module.instructions for c in i.own if c.verdict.value == "refuted"}
    assert "async-chain" in found


def buffers(entry: str) -> str:
    """Computations that write two buffers, apart or in a tuple, and one that takes one of two."""
    apart = "y = b(f32[8]) parameter(0) z = b(f32[8]) parameter(1)"
    parts = "y = b(f32[8]) get-tuple-element(s), index=0 z = b(f32[8]) get-tuple-element(s), index=1"
    ends = (
        " ".join(UNPIN.replace("u =", f"u{v} =").replace("(w)", f"({v})") for v in "yz")
        + " ROOT a = f32[8] add(uy, uz)"
    )
    one = "one { w = b(f32[8]) parameter(0) ROOT " + UNPIN + " }"
    two = f"two {{ {apart} {ends} }}\ntuple {{ s = (b(f32[8]), b(f32[8])) parameter(0) {parts} {ends} }}\n{one}"
    given = "p = b(f32[8]) parameter(0) q = b(f32[8]) parameter(1) c = pred[] parameter(2)"
    loop = "never { s = (b(f32[8]), b(f32[8])) parameter(0) ROOT z = pred[] constant(false) }\n"
    loop += "same { ROOT s = (b(f32[8]), b(f32[8])) parameter(0) }"
    wrapped = f"wrapped {{ {apart} ROOT r = f32[8] call(y, z), to_apply=two }}"
    return f"HloModule m\n{two}\n{wrapped}\n{loop}\nENTRY e {{ {given} {entry} }}\n"


def unpinned(name: str, buffer: str) -> str:
    return UNPIN.replace("u =", f"{name} =").replace("(w)", f"({buffer})")


TAKERS = {
    "a call": "ROOT r = f32[8] call(p, OTHER), to_apply=two",
    "a fusion": "ROOT r = f32[8] fusion(p, OTHER), kind=kLoop, calls=two",
    "a call in flight": "r = ((b(f32[8]), b(f32[8])), f32[8], u32[]) call-start(p, OTHER), to_apply=two "
    "ROOT d = f32[8] call-done(r)",
    "a tuple that is called with": "t = (b(f32[8]), b(f32[8])) tuple(p, OTHER) ROOT r = f32[8] call(t), to_apply=tuple",
    "a tuple in one branch": "t = (b(f32[8]), b(f32[8])) tuple(p, OTHER) "
    "ROOT r = f32[8] conditional(c, t, p), true_computation=tuple, false_computation=one",
    "a loop": "t = (b(f32[8]), b(f32[8])) tuple(p, OTHER) "
    "ROOT r = (b(f32[8]), b(f32[8])) while(t), condition=never, body=same",
    "an opaque call": 'ROOT r = (b(f32[8]), b(f32[8])) custom-call(p, OTHER), custom_call_target="f", '
    "output_to_operand_aliasing={{0}: (0, {}), {1}: (1, {})}",
    "a barrier before a call": "t = (b(f32[8]), b(f32[8])) tuple(p, OTHER) k = (b(f32[8]), b(f32[8])) opt-barrier(t) "
    "ROOT r = f32[8] call(k), to_apply=tuple",
    "a part, and the buffer in it": f"t = (b(f32[8])) tuple(p) w = b(f32[8]) get-tuple-element(t), index=0 {UNPIN} "
    f"{unpinned('v', 'OTHER')} ROOT r = f32[8] add(u, v)",
    "what a barrier gives, and what it is given": f"w = b(f32[8]) opt-barrier(p) {UNPIN} {unpinned('v', 'OTHER')} "
    "ROOT r = f32[8] add(u, v)",
    "a loop and a call": "o = b(f32[8]) parameter(3) t = (b(f32[8]), b(f32[8])) tuple(OTHER, o) "
    f"r = (b(f32[8]), b(f32[8])) while(t), condition=never, body=same ROOT {unpinned('u', 'p')}",
    "what is wrapped in flight": "r = ((b(f32[8]), b(f32[8])), f32[8], u32[]) async-start(p, OTHER), calls=wrapped "
    "ROOT d = f32[8] async-done(r)",
    "what starts and another beside it": "r = ((b(f32[8])), f32[8], u32[]) call-start(p), to_apply=one "
    f"{unpinned('u', 'OTHER')} d = f32[8] call-done(r) ROOT v = f32[8] add(u, d)",
    "a result": "ROOT r = (b(f32[8]), b(f32[8])) tuple(p, OTHER)",
    "a result of tuples": "t = (b(f32[8])) tuple(p) o = (b(f32[8])) tuple(OTHER) "
    "ROOT r = ((b(f32[8])), (b(f32[8]))) tuple(t, o)",
    "a result, after a call": UNPIN.replace("(w)", "(OTHER)") + " ROOT r = (f32[8], b(f32[8])) tuple(u, p)",
}


@pytest.mark.parametrize("taker", TAKERS.values(), ids=TAKERS)
def test_nobody_takes_one_buffer_twice(taker: str) -> None:
    assert set(refuted(buffers(taker.replace("OTHER", "p")), True)) == {"buffer-alias"}
    assert refuted(buffers(taker.replace("OTHER", "q")), True) == {}


@pytest.mark.parametrize("taker", TAKERS.values(), ids=TAKERS)
def test_nor_does_anybody_where_it_is_called(taker: str) -> None:
    def called(other: str) -> str:
        head, _, entry = buffers(taker.replace("OTHER", other)).partition("ENTRY e {")
        return f"{head}inner {{{entry}ENTRY e {{ ROOT z = f32[] constant(0) }}\n"

    assert set(refuted(called("p"), True)) == {"buffer-alias"}
    assert refuted(called("q"), True) == {}


def test_each_that_takes_it_after_the_first_is_told() -> None:
    takers = [unpinned(name, "p") for name in ("u", "v", "w")]
    source = text("p = b(f32[8]) parameter(0)", *takers, "r = (f32[8], f32[8], f32[8]) tuple(u, v, w)")
    found = judge(parse_module(source), lambda c: c == "buffer-alias", lambda c: False)
    assert {j.place.instruction for j in found if j.found.verdict == "refuted"} == {"v", "w"}


@pytest.mark.parametrize(
    ("given", "aliasing", "fine"),
    [
        ("(b(f32[8]), b(f32[8]))", "{0}: (0, {}), {1}: (0, {})", False),
        ("(b(f32[8]), b(f32[8]))", "{0}: (0, {})", False),
        ("(b(f32[8]), f32[8])", "{0}: (0, {})", True),
    ],
)
def test_each_result_has_a_buffer_of_its_own(given: str, aliasing: str, fine: bool) -> None:
    call = f'r = {given} custom-call(p), custom_call_target="f", output_to_operand_aliasing={{{aliasing}}}'
    assert set(refuted(text("p = b(f32[8]) parameter(0)", call), True)) == (set() if fine else {"buffer-alias"})


def test_an_opaque_call_in_flight_says_where_its_buffer_goes() -> None:
    start = 's = ((b(f32[8])), b(f32[8]), u32[]) custom-call-start(p), custom_call_target="f"'
    for aliasing, wrong in (("", {"buffer-alias"}), (", output_to_operand_aliasing={{}: (0, {})}", set())):
        source = text("p = b(f32[8]) parameter(0)", start + aliasing, "d = b(f32[8]) custom-call-done(s)")
        assert set(refuted(source, True)) == wrong


def test_what_is_given_back_nobody_else_takes() -> None:
    taken = UNPIN.replace("(w)", "(p)")
    both = f"HloModule m\nENTRY e {{ ROOT p = b(f32[8]) parameter(0) {taken} }}\n"
    assert set(refuted(both, True)) == {"buffer-alias"}
    assert refuted(both.replace(taken, ""), True) == {}


LAST = {
    "an opaque call": WRITE.replace("w =", "r =").replace("(b)", "(p)") + ", output_to_operand_aliasing={{}: (0, {})}",
    "a call": "r = b(f32[8]) call(p), to_apply=same",
    "what was in flight": 's = ((b(f32[8])), b(f32[8]), u32[]) custom-call-start(p), custom_call_target="f", '
    "output_to_operand_aliasing={{}: (0, {})} r = b(f32[8]) custom-call-done(s)",
}


@pytest.mark.parametrize("last", LAST.values(), ids=LAST)
def test_nor_where_what_is_given_back_is_made_here(last: str) -> None:
    """A root that is no parameter and no tuple gives its result back, too; so it does where it is called."""
    made = "ROOT r =".join(last.rsplit("r =", 1))
    entry = f"p = b(f32[8]) parameter(0) {made} TAKEN }}\n"
    same = "HloModule m\nsame { ROOT y = b(f32[8]) parameter(0) }\n"
    called = f"{same}inner {{ {entry}ENTRY e {{ ROOT z = f32[] constant(0) }}\n"
    for source in (f"{same}ENTRY e {{ {entry}", called):
        assert set(refuted(source.replace("TAKEN", unpinned("u", "r")), True)) == {"buffer-alias"}
        assert refuted(source.replace("TAKEN", ""), True) == {}


def test_each_of_two_branches_may_take_one_buffer() -> None:
    """One of them runs."""
    branches = "ROOT r = f32[8] conditional(c, p, p), true_computation=one, false_computation=one"
    assert refuted(buffers(branches), True) == {}


def refuted(source: str, layout_sensitive: bool, *named: str) -> dict[str, str]:
    module = parse_module(source)
    found = judge(module, lambda c: not c.startswith("hazard"), lambda c: c in named, layout_sensitive)
    return {j.claim: j.problem for j in found if j.problem is not None}


@pytest.mark.parametrize("hands_on", ["opt-barrier(s)", 'domain(s), domain={kind="sharding"}'])
def test_a_chain_goes_on_through_what_hands_it_on(hands_on: str) -> None:
    held = f"h = (f32[8], f32[8], u32[]) {hands_on}"
    assert refuted(text(P, COPY, held, "d = f32[8] copy-done(h)"), True) == {}
    twice = text(P, COPY, held, "d = f32[8] copy-done(h)", "e = f32[8] copy-done(s)", "a = f32[8] add(d, e)")
    assert set(refuted(twice, True)) == {"async-chain"}


@pytest.mark.parametrize(("claim", "broken", "repaired"), [p[1:] for p in PLANTED], ids=[p[0] for p in PLANTED])
def test_planted_violation_is_refuted_and_its_repair_is_not(claim: str, broken: str, repaired: str) -> None:
    assert claim in refuted(broken, True)
    assert not refuted(repaired, True)


def test_every_claim_has_a_planted_violation() -> None:
    planted = {p[1] for p in PLANTED} | {"async-linear"}
    assert {c.name for c in CLAIMS if not c.name.startswith("hazard")} == planted


CARRIED = text(
    P,
    COPY,
    "k = s32[] constant(0)",
    "c = ((f32[8], f32[8], u32[]), s32[]) tuple(s, k)",
    "g = (f32[8], f32[8], u32[]) get-tuple-element(c), index=0",
    "d = f32[8] copy-done(g)",
)


def test_exactly_one_user_is_asked_for_by_name_only() -> None:
    assert not refuted(CARRIED, False)
    assert set(refuted(CARRIED, False, "async-linear")) == {"async-linear"}
    assert not refuted(text(P, COPY, "d = f32[8] copy-done(s)"), False, "async-linear")


def _gathered(state: str) -> str:
    return (
        "HloModule m, replica_count=2\nENTRY e {\n  p = f32[4] parameter(0)\n"
        f"  s = {state} all-gather-start(p), dimensions={{0}}, replica_groups={{{{0,1}}}}\n"
        "  ROOT d = f32[8] all-gather-done(s)\n}\n"
    )


def _updated(first: str, second: str) -> str:
    return (
        "HloModule m\nf {\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] negate(x)\n}\nENTRY e {\n"
        f"  p = f32[4] parameter(0)\n  s = ((f32[4]), f32[4]{first}) async-start(p), calls=f\n"
        f"  t = ((f32[4]), f32[4]{second}) async-update(s)\n  ROOT d = f32[4] async-done(t)\n}}\n"
    )


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (_gathered("((f32[4]), f32[8])"), _gathered("(f32[4], f32[8])")),
        (_updated(", u32[]", ""), _updated(", u32[]", ", u32[]")),
        (_updated("", ", u32[]"), _updated("", "")),
    ],
)
def test_what_a_state_carries_is_of_one_form(wrong: str, right: str) -> None:
    """Operands and result are tuples both or neither, and an update neither loses nor gains a context."""
    assert set(refuted(wrong, False, "async-shape")) == {"async-shape"}
    assert refuted(right, False, "async-shape") == {}


@pytest.mark.parametrize(
    ("layout", "scheduled", "verdict"), [("1,0", True, "refuted"), ("0,1", True, "proved"), ("1,0", False, "proved")]
)
def test_what_is_scheduled_is_done_in_the_layout_of_its_start(
    layout: str, scheduled: bool, verdict: str, tmp_path: Path
) -> None:
    file = tmp_path / "m.hlo"
    file.write_text(
        f"HloModule m{', is_scheduled=true' if scheduled else ''}\nENTRY e {{\n  x = f32[4,4]{{1,0}} parameter(0)\n"
        "  s = (f32[4,4]{0,1}, f32[4,4]{1,0}, u32[]) copy-start(x)\n"
        f"  ROOT d = f32[4,4]{{{layout}}} copy-done(s)\n}}\n"
    )
    assert hloproof.check(str(file)).verdict.value == verdict
