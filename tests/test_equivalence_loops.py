"""Loops: matched by induction over paired states, taken turn by turn, and not confused with other loops."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product

import pytest
from red_pairs import parts_of

from hloproof.equivalence import Certificate, decide, recheck, rules_loops
from hloproof.equivalence.answer import Tier
from hloproof.equivalence.graph import Graph, Node
from hloproof.equivalence.loop_states import FreeState, LoopState
from hloproof.equivalence.matcher import loops
from hloproof.equivalence.matcher.samples import name_of
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Verdict


def counted(turns: int, states: str, body: str, condition: str = "i = s32[] get-tuple-element(s), index=0") -> Module:
    """A loop over (s32[], f32[4], ...) from 0, x, ...; `body` gives `next`. The result is the second state."""
    start = "zero, x" + ", zero" * (states.count("s32[]") - 1)
    return parse_module(
        f"HloModule m\n"
        f"cond {{ s = ({states}) parameter(0)\n {condition}\n n = s32[] constant({turns})\n"
        f" ROOT r = pred[] compare(i, n), direction=LT }}\n"
        f"body {{ s = ({states}) parameter(0)\n{body}\n }}\n"
        f"ENTRY e {{ x = f32[4] parameter(0)\n zero = s32[] constant(0)\n t = ({states}) tuple({start})\n"
        f" w = ({states}) while(t), condition=cond, body=body\n ROOT r = f32[4] get-tuple-element(w), index=1 }}\n"
    )


def straight(expression: str) -> Module:
    return parse_module(f"HloModule m\nENTRY e {{ x = f32[4] parameter(0)\n{expression}\n }}\n")


STEP = (
    " i = s32[] get-tuple-element(s), index=0\n v = f32[4] get-tuple-element(s), index=1\n one = s32[] constant(1)\n"
    " j = s32[] add(i, one)\n"
)
ONE_STATE = STEP + " u = f32[4] cosine(v)\n ROOT t = (s32[], f32[4]) tuple(j, u)"
TWO = "s32[], f32[4], s32[]"
SECOND = " k = s32[] get-tuple-element(s), index=2\n l = s32[] add(k, one)\n"
ADDED = " c = f32[] convert({})\n b = f32[4] broadcast(c), dimensions={{}}\n u = f32[4] add(v, b)\n"
DEAD = STEP + SECOND + f" u = f32[4] cosine(v)\n ROOT t = ({TWO}) tuple(j, u, l)"
BY_SECOND = STEP + SECOND + ADDED.format("k") + f" ROOT t = ({TWO}) tuple(j, u, l)"
BY_FIRST = STEP + ADDED.format("i") + " ROOT t = (s32[], f32[4]) tuple(j, u)"
BY_NEXT = STEP + ADDED.format("j") + " ROOT t = (s32[], f32[4]) tuple(j, u)"
BY_TWICE = STEP + " k = s32[] get-tuple-element(s), index=2\n l = s32[] add(k, j)\n" + ADDED.format("k")
BY_TWICE += f" ROOT t = ({TWO}) tuple(j, u, l)"
PAIR = "s32[], f32[4]"

SAME = {
    "a state that nobody needs": (counted(9, TWO, DEAD), counted(9, PAIR, ONE_STATE)),
    "two counters that go together": (counted(9, TWO, BY_SECOND), counted(9, PAIR, BY_FIRST)),
    "two turns written out": (
        counted(2, PAIR, ONE_STATE),
        straight(" a = f32[4] cosine(x)\n ROOT b = f32[4] cosine(a)"),
    ),
    "no turn": (counted(0, PAIR, ONE_STATE), straight(" ROOT a = f32[4] copy(x)")),
}
DIFFERENT = {
    "another number of turns": (counted(9, PAIR, ONE_STATE), counted(8, PAIR, ONE_STATE)),
    "the counter after its step": (counted(9, PAIR, BY_FIRST), counted(9, PAIR, BY_NEXT)),
    "two counters that part": (counted(9, TWO, BY_TWICE), counted(9, PAIR, BY_FIRST)),
    "a turn too few written out": (counted(2, PAIR, ONE_STATE), straight(" ROOT a = f32[4] cosine(x)")),
}


@pytest.mark.parametrize("name", SAME)
def test_loops_that_compute_the_same_are_proved(name: str) -> None:
    before, after = SAME[name]
    for one, other in ((before, after), (after, before)):
        result = decide(one, other, "exact")
        assert result.verdict is Verdict.PROVED, result
        assert result.certificate is not None
        assert recheck(one, other, result.certificate).verdict is Verdict.PROVED


@pytest.mark.parametrize("name", DIFFERENT)
def test_loops_that_differ_are_not_proved(name: str) -> None:
    assert decide(*DIFFERENT[name]).verdict is Verdict.UNKNOWN


def test_states_that_are_not_equal_cannot_be_paired_by_a_certificate() -> None:
    for before, after in DIFFERENT.values():
        for pairs in ([[1, 1]], [[1, 1], [0, 0]], [[1, 1], [0, 0], [2, 0]], [[1, 1], [2, 0]], [[0, 1], [1, 1]]):
            for tail in (["same"], ["arguments"], ["generalise"], ["lemma"], ["keep"], ["again"], ["whole"]):
                steps = [["loop", pairs], *[tail] * 6]
                assert recheck(before, after, Certificate("rounding", steps)).verdict is Verdict.UNKNOWN


def in_another(read: str) -> Module:
    """A loop of 3 turns in each of 3 turns; `read` says which counter is added, that of the inner loop or the outer."""
    both = "s32[], s32[], f32[4]"
    return parse_module(
        f"HloModule m\n"
        f"inner.cond {{ s = ({both}) parameter(0)\n j = s32[] get-tuple-element(s), index=0\n n = s32[] constant(3)\n"
        f" ROOT r = pred[] compare(j, n), direction=LT }}\n"
        f"inner {{ s = ({both}) parameter(0)\n inner = s32[] get-tuple-element(s), index=0\n"
        f" outer = s32[] get-tuple-element(s), index=1\n v = f32[4] get-tuple-element(s), index=2\n"
        f" one = s32[] constant(1)\n l = s32[] add(inner, one)\n{ADDED.format(read)}"
        f" ROOT t = ({both}) tuple(l, outer, u) }}\n"
        f"cond {{ s = ({PAIR}) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n n = s32[] constant(3)\n"
        f" ROOT r = pred[] compare(i, n), direction=LT }}\n"
        f"body {{ s = ({PAIR}) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
        f" v = f32[4] get-tuple-element(s), index=1\n zero = s32[] constant(0)\n one = s32[] constant(1)\n"
        f" j = s32[] add(i, one)\n t = ({both}) tuple(zero, i, v)\n"
        f" w = ({both}) while(t), condition=inner.cond, body=inner\n u = f32[4] get-tuple-element(w), index=2\n"
        f" ROOT n = ({PAIR}) tuple(j, u) }}\n"
        f"ENTRY e {{ x = f32[4] parameter(0)\n zero = s32[] constant(0)\n t = ({PAIR}) tuple(zero, x)\n"
        f" w = ({PAIR}) while(t), condition=cond, body=body\n ROOT r = f32[4] get-tuple-element(w), index=1 }}\n"
    )


def test_states_of_a_loop_in_another_have_names_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """All free states at one depth are any value, and go by one name; without depths this would be a false proof."""
    inner, outer = in_another("inner"), in_another("outer")
    assert decide(inner, inner).verdict == decide(outer, outer).verdict == Verdict.PROVED
    assert decide(inner, outer).verdict == Verdict.UNKNOWN
    for module in (rules_loops, loops):
        monkeypatch.setattr(module, "turns_around", lambda rules, loops: 0)
    assert decide(inner, outer).verdict == Verdict.PROVED


def wide(results: int, swapped: bool) -> Module:
    """A loop with so many results, each of which adds the same long sum in every turn."""
    states = ", ".join(["s32[]", *["f32[4]"] * results])
    lines = [f" v{k} = f32[4] get-tuple-element(s), index={1 + k}" for k in range(results)]
    lines += [" zero = s32[] constant(0)", " c0 = f32[] convert(i)", " s0 = f32[4] broadcast(c0), dimensions={}"]
    for k in range(20):
        lines.append(f" e{k} = f32[4] cosine(s{k})")
        lines.append(f" s{k + 1} = f32[4] add({f'e{k}, s{k}' if swapped else f's{k}, e{k}'})")
    lines += [f" n{k} = f32[4] add(v{k}, s20)" for k in range(results)]
    turn = "\n".join(lines)
    starts = ", ".join(["zero", *["x"] * results])
    given = ", ".join(f"r{k}" for k in range(results))
    parts = "\n".join(f" r{k} = f32[4] get-tuple-element(w), index={1 + k}" for k in range(results))
    return parse_module(
        f"HloModule m\n"
        f"cond {{ s = ({states}) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n n = s32[] constant(90)\n"
        f" ROOT r = pred[] compare(i, n), direction=LT }}\n"
        f"body {{ s = ({states}) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n one = s32[] constant(1)\n"
        f" j = s32[] add(i, one)\n{turn}\n"
        f" ROOT t = ({states}) tuple(j, {', '.join(f'n{k}' for k in range(results))}) }}\n"
        f"ENTRY e {{ x = f32[4] parameter(0)\n zero = s32[] constant(0)\n t = ({states}) tuple({starts})\n"
        f" w = ({states}) while(t), condition=cond, body=body\n{parts}\n"
        f" ROOT r = ({', '.join(['f32[4]'] * results)}) tuple({given}) }}\n"
    )


def test_what_the_results_of_a_loop_share_is_proved_once() -> None:
    steps = []
    for results in (1, 9):
        found = decide(wide(results, False), wide(results, True))
        assert found.verdict == Verdict.PROVED and found.certificate is not None
        steps.append(len(found.certificate.proof))
    assert steps[1] < 3 * steps[0]


def handing_on(direction: str, step: str, around: bool = False, counted: bool = False) -> Module:
    """A loop over (s32[], s32[], f32[4]) from 0, 1, x that hands x on, which is the result; it may stand in another one
    that does so five times, and be used for its count."""
    states = "(s32[], s32[], f32[4])"
    parts = (
        f"s = {states} parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
        f" k = s32[] get-tuple-element(s), index=1\n x = f32[4] get-tuple-element(s), index=2\n"
    )
    started = f" o = s32[] constant(0)\n l = s32[] constant(1)\n t = {states} tuple(o, l, x)\n w = {states} while(t)"
    last = " n = s32[] get-tuple-element(w), index=0\n c = f32[] convert(n)\n b = f32[4] broadcast(c), dimensions={}\n"
    given = " y = f32[4] get-tuple-element(w), index=2\n" + (last + " z = f32[4] add(y, b)\n" if counted else "")
    return parse_module(
        f"HloModule m\n"
        f"cond {{ {parts} ROOT r = pred[] compare(i, k), direction={direction} }}\n"
        f"body {{ {parts} j = s32[] {step}\n ROOT t = {states} tuple(j, k, x) }}\n"
        f"five {{ {parts} v = s32[] constant(5)\n ROOT r = pred[] compare(i, v), direction=LT }}\n"
        f"outer {{ {parts}{started}, condition=cond, body=body\n{given} j = s32[] add(i, l)\n"
        f" ROOT r = {states} tuple(j, k, {'z' if counted else 'y'}) }}\n"
        f"ENTRY e {{ x = f32[4] parameter(0)\n{started}, "
        f"{'condition=five, body=outer' if around else 'condition=cond, body=body'}\n{'' if around else given}"
        f" ROOT r = f32[4] {'get-tuple-element(w), index=2' if around or not counted else 'copy(z)'} }}\n"
    )


HANDED_ON = straight(" ROOT r = f32[4] copy(x)")
UP, STAYS = "add(i, k)", "copy(i)"
ENDLESS = handing_on("LT", STAYS)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (HANDED_ON, ENDLESS, True),
        (HANDED_ON, handing_on("LT", STAYS, around=True), True),
        (HANDED_ON, handing_on("NE", "subtract(i, k)"), True),
        (handing_on("LT", UP), ENDLESS, True),
        (HANDED_ON, handing_on("LT", UP), False),
        (HANDED_ON, handing_on("LT", UP, around=True), False),
        (HANDED_ON, handing_on("GT", STAYS), False),
        (ENDLESS, HANDED_ON, False),
        (ENDLESS, ENDLESS, False),
        (handing_on("LT", STAYS, around=True), handing_on("LT", STAYS, around=True), False),
        (handing_on("LT", UP, counted=True), handing_on("LT", UP, counted=True), False),
    ],
)
def test_a_loop_that_is_left_out_ends_or_that_is_said(before: Module, after: Module, told: bool) -> None:
    """Nobody compares loops of which nothing is left but what they were given."""
    found = decide(before, after, "exact")
    assert found.verdict == Verdict.PROVED
    assert [*found.axioms] == ([("assumed: a loop ends", "exact")] if told else [])
    assert found.certificate is not None and recheck(before, after, found.certificate).axioms == found.axioms


def test_a_loop_that_may_not_end_is_not_one_that_does() -> None:
    assert decide(handing_on("LT", UP, counted=True), handing_on("LT", STAYS, counted=True)).verdict in (
        "unknown",
        "refuted",
    )


def stated(kinds: str, names: str, starts: str, turn: str, ends: str, result: int, given: str = "") -> Module:
    """A loop over states of these types and names."""
    state = f"({kinds})"
    parts = parts_of(state, names.split())
    kind = kinds.split(", ")[result]
    return parse_module(
        f"HloModule m\nends {{\n{parts}{ends}\n}}\nturn {{\n{parts}{turn}\n}}\nENTRY e {{\n x = f32[4] parameter(0)\n"
        f" y = f32[4] parameter(1)\n zero = s32[] constant(0)\n{given} t = {state} tuple({starts})\n"
        f" l = {state} while(t), condition=ends, body=turn\n ROOT r = {kind} get-tuple-element(l), index={result}\n}}\n"
    )


def until(step: int, begins: int) -> Module:
    """The bound falls by what another state has grown to."""
    return stated(
        "s32[], f32[4], s32[], s32[]",
        "k a n h",
        "zero, x, bound, first",
        " one = s32[] constant(1)\n j = s32[] add(k, one)\n d = f32[4] sine(a)\n m = s32[] subtract(n, h)\n"
        f" o = s32[] constant({step})\n g = s32[] add(h, o)\n ROOT r = (s32[], f32[4], s32[], s32[]) tuple(j, d, m, g)",
        " ROOT o = pred[] compare(k, n), direction=LT",
        1,
        f" bound = s32[] constant(500)\n first = s32[] constant({begins})\n",
    )


@pytest.mark.parametrize(("step", "begins", "same"), [(1, 0, True), (3, 0, False), (1, 7, False)])
def test_what_decides_the_end_is_decided_by_other_states(step: int, begins: int, same: bool) -> None:
    assert (decide(until(1, 0), until(step, begins), "exact").verdict == Verdict.PROVED) is same


ROUNDED_OTHERWISE = "e = f32[4] sine(a)\n f = f32[4] add(e, c)\n d = f32[4] subtract(f, c)"
"""The next value of a state, made by way of another one."""


def read_late(first: str, read: str, turn: str = "d = f32[4] sine(a)") -> Module:
    """What a state is reaches the bits that are read two turns later."""
    return stated(
        "s32[], f32[4], f32[4], f32[4], s32[4]",
        "k a b c i",
        f"zero, {first}, y, y, none",
        f" one = s32[] constant(1)\n j = s32[] add(k, one)\n {turn}\n g = s32[4] {read}(c)\n"
        " h = s32[4] add(i, g)\n ROOT r = (s32[], f32[4], f32[4], f32[4], s32[4]) tuple(j, d, a, b, h)",
        " n = s32[] constant(9)\n ROOT o = pred[] compare(k, n), direction=LT",
        4,
        " none = s32[4] broadcast(zero), dimensions={}\n s = f32[4] add(x, y)\n u = f32[4] subtract(s, y)\n",
    )


@pytest.mark.parametrize("tier", ["rounding", "real"])
def test_bits_that_are_read_turns_later_are_owed(tier: Tier) -> None:
    for read, found in (("bitcast-convert", Verdict.UNKNOWN), ("convert", Verdict.PROVED)):
        assert decide(read_late("x", read), read_late("u", read), tier).verdict == found
        assert decide(read_late("x", read), read_late("x", read, ROUNDED_OTHERWISE), tier).verdict == found


def read_next(
    first: str,
    handed_on: str,
    turn: str = "d = f32[4] sine(a)",
    read: str = "bitcast-convert",
    order: Sequence[str] = "kaci",
) -> Module:
    """What a state is made of has its bits read in the next turn."""
    states = {
        "k": ("s32[]", "zero", "j"),
        "a": ("f32[4]", first, "d"),
        "c": ("f32[4]", "y", "e0"),
        "i": ("s32[4]", "none", "h"),
    }
    kinds, starts, after = (", ".join(states[name][part] for name in order) for part in range(3))
    return stated(
        kinds,
        " ".join(order),
        starts,
        f" one = s32[] constant(1)\n j = s32[] add(k, one)\n {turn}\n e0 = f32[4] {handed_on}\n g = s32[4] {read}(c)\n"
        f" h = s32[4] add(i, g)\n ROOT r = ({kinds}) tuple({after})",
        " n = s32[] constant(9)\n ROOT o = pred[] compare(k, n), direction=LT",
        order.index("i"),
        " none = s32[4] broadcast(zero), dimensions={}\n s = f32[4] add(x, y)\n u = f32[4] subtract(s, y)\n"
        " q = f32[4] negate(x)\n v = f32[4] negate(q)\n",
    )


def test_the_members_of_a_class_of_states_ascend() -> None:
    """The first one's loop says whether they have values."""
    for i, j in product(range(8), repeat=2):
        both = (0, i), (1, j)
        assert rules_loops.connected([both]) == dict.fromkeys(both, both)
    three = (0, 3), (0, 7), (1, 5)
    assert rules_loops.connected([((0, 7), (1, 5)), ((0, 3), (1, 5))]) == dict.fromkeys(three, three)


@pytest.mark.parametrize("order", [*permutations("kaci")], ids="".join)
def test_bits_of_what_a_state_is_made_of_are_owed_wherever_it_stands(order: Sequence[str]) -> None:
    before = read_next("x", "copy(a)", order=order)
    for first, found in (("u", Verdict.UNKNOWN), ("v", Verdict.PROVED)):
        assert decide(before, read_next(first, "copy(a)", order=order), "rounding").verdict == found


@pytest.mark.parametrize("handed_on", ["negate(a)", "add(a, c)", "copy(a)"])
def test_bits_of_what_a_state_is_made_of_are_owed(handed_on: str) -> None:
    """At the start and in each turn, each for itself and both at once."""
    before = read_next("x", handed_on)
    assert decide(before, read_next("v", handed_on), "rounding").verdict == Verdict.PROVED
    for first in ("x", "v"):
        after = read_next(first, handed_on, ROUNDED_OTHERWISE)
        assert decide(before, after, "rounding").verdict == Verdict.UNKNOWN
    assert decide(before, read_next("u", handed_on), "rounding").verdict == Verdict.UNKNOWN
    one, two = (read_next(first, handed_on, read="convert") for first in ("x", "u"))
    assert decide(one, two, "rounding").verdict == Verdict.PROVED


def with_nothing_added(function: str) -> Module:
    """To a state is added what another one has in common with itself."""
    return stated(
        "s32[], f32[4], f32[4]",
        "k a q",
        "zero, x, first",
        " one = s32[] constant(1)\n j = s32[] add(k, one)\n e = f32[4] sine(a)\n u = f32[4] subtract(q, q)\n"
        " d = f32[4] add(e, u)\n w = f32[4] sine(q)\n ROOT r = (s32[], f32[4], f32[4]) tuple(j, d, w)",
        " n = s32[] constant(3)\n ROOT o = pred[] compare(k, n), direction=LT",
        1,
        f" first = f32[4] {function}(y)\n",
    )


def test_what_a_state_of_one_side_begins_with_may_have_no_value() -> None:
    """A certificate for what begins with a number does not do where it may be none."""
    plain = stated(
        "s32[], f32[4]",
        "k a",
        "zero, x",
        " one = s32[] constant(1)\n j = s32[] add(k, one)\n d = f32[4] sine(a)\n ROOT r = (s32[], f32[4]) tuple(j, d)",
        " n = s32[] constant(3)\n ROOT o = pred[] compare(k, n), direction=LT",
        1,
    )
    found = decide(plain, with_nothing_added("negate"), "real")
    assert found.certificate is not None
    assert recheck(plain, with_nothing_added("negate"), found.certificate).verdict == Verdict.PROVED
    assert recheck(plain, with_nothing_added("log"), found.certificate).verdict == Verdict.UNKNOWN


def test_states_that_are_paired_are_told_apart_by_samples() -> None:
    """Of those that are not, all are alike: which of them are equal is still to be found out."""
    graph = Graph()

    def named(*members: LoopState, begins: tuple[Node, ...] = ()) -> object:
        return name_of(graph.node("free", "f32", (4,), (), FreeState(0, members, True, begins)))

    x = graph.node("parameter", "f32", (4,), (), (0,))
    assert named((0, 1)) == named((1, 2)) == named((0, 1), (0, 2))
    assert named((0, 1), (1, 1)) != named((0, 2), (1, 2)) != named((0, 1))
    assert named((0, 1), (1, 1)) == named((0, 1), (1, 1), begins=(x, x))


def three(starts: str, turn: str, result: int) -> Module:
    """A counter and two arrays a and b, which become d and e."""
    return stated(
        "s32[], f32[4], f32[4]",
        "k a b",
        f"zero, {starts}",
        f" one = s32[] constant(1)\n j = s32[] add(k, one)\n {turn}\n ROOT r = (s32[], f32[4], f32[4]) tuple(j, d, e)",
        " n = s32[] constant(3)\n ROOT o = pred[] compare(k, n), direction=LT",
        result,
    )


def test_the_results_are_paired_in_their_order() -> None:
    """State 2 of the left loop is state 1 of the right one, and nothing else."""
    left, right = "d = f32[4] add(a, b)\n e = f32[4] cosine(b)", "d = f32[4] cosine(a)\n e = f32[4] add(a, b)"
    certificate = Certificate("exact", [["loop", [[2, 1], [0, 0]]]])
    for one, other, found in ((2, 1, Verdict.PROVED), (1, 2, Verdict.UNKNOWN)):
        assert recheck(three("x, y", left, one), three("y, y", right, other), certificate).verdict == found


def test_a_state_is_owed_where_its_own_loop_has_it() -> None:
    """The left loop needs no second state, and what the right one has there is what the left one gives."""
    before = three("y, x", "d = f32[4] cosine(a)\n e = f32[4] sine(b)", 2)
    after = three("x, y", "d = f32[4] sine(b)\n e = f32[4] add(a, b)", 2)
    assert decide(before, after, "exact").verdict == Verdict.UNKNOWN
    assert (
        decide(before, three("y, x", "d = f32[4] sine(a)\n e = f32[4] sine(b)", 2), "exact").verdict == Verdict.PROVED
    )


IGNORED = {
    "a factor of nothing": "o = s32[4] subtract(i, i)\n u = s32[4] multiply(w, o)\n q = s32[4] add(i, u)",
    "a choice that is never taken": "q = s32[4] select(never, w, i)",
    "what lies behind": "c = s32[8] concatenate(i, w), dimensions={0}\n q = s32[4] slice(c), slice={[0:4]}",
    "its own difference": "u = s32[4] subtract(w, w)\n q = s32[4] add(i, u)",
}


def ignored(lines: str, ends: str) -> Module:
    """Of a loop whose condition is this one nothing is used that matters."""
    state = "(s32[], s32[4])"
    given = parts_of(state, ["k", "a"])
    return parse_module(
        f"HloModule m\nends {{\n{given}{ends}\n}}\n"
        f"turn {{\n{given} one = s32[] constant(1)\n j = s32[] add(k, one)\n d = s32[4] add(a, a)\n"
        f" ROOT r = {state} tuple(j, d)\n}}\nENTRY e {{\n i = s32[4] parameter(0)\n zero = s32[] constant(0)\n"
        f" never = pred[] constant(false)\n t = {state} tuple(zero, i)\n"
        f" l = {state} while(t), condition=ends, body=turn\n w = s32[4] get-tuple-element(l), index=1\n {lines}\n"
        f" ROOT r = s32[4] copy(q)\n}}\n"
    )


@pytest.mark.parametrize("what", IGNORED)
def test_that_a_loop_ends_of_which_nothing_matters_is_said(what: str) -> None:
    plain = parse_module("HloModule m\nENTRY e {\n i = s32[4] parameter(0)\n ROOT r = s32[4] copy(i)\n}\n")
    nine = " n = s32[] constant(9)\n ROOT o = pred[] compare(k, n), direction="
    for ends, told in ((" ROOT o = pred[] constant(true)", True), (nine + "NE", False), (nine + "LT", False)):
        found = decide(plain, ignored(IGNORED[what], ends), "exact")
        assert found.verdict == Verdict.PROVED
        assert ("assumed: a loop ends" in dict(found.axioms)) is told
        assert found.certificate is not None
        assert recheck(plain, ignored(IGNORED[what], ends), found.certificate).axioms == found.axioms


def in_turns(total: str, ends: str = "compare(k, n), direction=LT") -> Module:
    """A loop in a loop, each with as many turns as is given."""
    state = "(s32[], s32[], f32[4])"
    given = parts_of(state, ["k", "n", "a"])
    more = " one = s32[] constant(1)\n j = s32[] add(k, one)\n zero = s32[] constant(0)\n"
    return parse_module(
        f"HloModule m\nends {{\n{given} ROOT o = pred[] {ends}\n}}\n"
        f"turn {{\n{given}{more} b = f32[4] sine(a)\n d = f32[4] add({total})\n ROOT r = {state} tuple(j, n, d)\n}}\n"
        f"around {{\n{given}{more} v = {state} tuple(zero, n, a)\n l = {state} while(v), condition=ends, body=turn\n"
        f" d = f32[4] get-tuple-element(l), index=2\n ROOT r = {state} tuple(j, n, d)\n}}\n"
        f"ENTRY e {{\n n = s32[] parameter(0)\n x = f32[4] parameter(1)\n zero = s32[] constant(0)\n"
        f" v = {state} tuple(zero, n, x)\n l = {state} while(v), condition=ends, body=around\n"
        f" ROOT r = f32[4] get-tuple-element(l), index=2\n}}\n"
    )


OTHERWISE = "compare(n, k), direction=GT"


@pytest.mark.parametrize(("total", "otherwise"), [("b, a", False), ("a, b", True), ("b, a", True)])
def test_of_a_loop_that_is_written_otherwise_in_another_it_is_taken_for_granted(total: str, otherwise: bool) -> None:
    """What a proof compares in the turns of a loop is not held against all the loops around which it may stand."""
    after = in_turns(total, OTHERWISE) if otherwise else in_turns(total)
    found = decide(in_turns("a, b"), after, "exact")
    assert found.verdict == Verdict.PROVED
    assert ("assumed: a loop ends" in dict(found.axioms)) is otherwise


@pytest.mark.parametrize("turns", [0, 1])
def test_a_state_that_nobody_needs_stands_before_those_that_are_needed(turns: int) -> None:
    """What a loop gives that ends at once, or after one turn."""
    loop = stated(
        "f32[4], f32[4], f32[4], s32[]",
        "z a b k",
        "y, x, y, zero",
        " one = s32[] constant(1)\n j = s32[] add(k, one)\n d = f32[4] add(a, b)\n e = f32[4] cosine(b)\n"
        " g = f32[4] cosine(z)\n ROOT r = (f32[4], f32[4], f32[4], s32[]) tuple(g, d, e, j)",
        f" n = s32[] constant({turns})\n ROOT o = pred[] compare(k, n), direction=LT",
        1,
    )
    given = "HloModule m\nENTRY e {\n x = f32[4] parameter(0)\n y = f32[4] parameter(1)\n ROOT r = f32[4] "
    right, wrong = ("copy(x)", "copy(y)") if turns == 0 else ("add(x, y)", "add(y, y)")
    assert decide(loop, parse_module(f"{given}{right}\n}}\n"), "exact").verdict == Verdict.PROVED
    assert decide(loop, parse_module(f"{given}{wrong}\n}}\n"), "exact").verdict == Verdict.UNKNOWN


def test_two_results_of_one_loop_are_two_though_all_states_are_paired() -> None:
    turn = " w = f32[4] add(a, b)\n d = f32[4] cosine(w)\n e = f32[4] sine(w)"
    paired = [["loop", [[0, 0], [1, 1], [2, 2]]]]
    for other, steps, found in ((1, [], Verdict.PROVED), (2, paired, Verdict.UNKNOWN)):
        certificate = Certificate("exact", steps)
        assert recheck(three("x, x", turn, 1), three("x, x", turn, other), certificate).verdict == found


def lost(function: str, total: str) -> Module:
    """A state q is made of another one, p, and that one of itself."""
    kinds = "s32[], f32[4], f32[4], f32[4]"
    return stated(
        kinds,
        "k a q p",
        "zero, x, y, y",
        f" one = s32[] constant(1)\n j = s32[] add(k, one)\n e = f32[4] sine(a)\n h = f32[4] sine(p)\n"
        f" v = f32[4] {function}(p)\n u = f32[4] subtract(q, q)\n d = f32[4] {total}\n"
        f" ROOT r = ({kinds}) tuple(j, d, h, v)",
        " n = s32[] constant(3)\n ROOT o = pred[] compare(k, n), direction=LT",
        1,
    )


def test_a_value_may_be_lost_by_way_of_another_state() -> None:
    """Nothing has 2 for its sine."""
    for function, found in (("asin", Verdict.UNKNOWN), ("sine", Verdict.PROVED)):
        assert decide(lost(function, "copy(e)"), lost(function, "add(e, u)"), "real").verdict == found


def counted_in_three(product: str) -> Module:
    """Three loops, one in another, with counters k, m and o; in the innermost a product of two of them is added."""
    states = ["(s32[], s32[], s32[], f32[4])", "(s32[], s32[], f32[4])", "(s32[], f32[4])"]
    names = ["k m o a", "m o a", "o a"]
    makes = [
        f" q = s32[] multiply({product})\n f = f32[] convert(q)\n g = f32[4] broadcast(f), dimensions={{}}\n"
        " d = f32[4] add(a, g)\n"
    ]
    for n in (1, 2):
        makes.append(
            f" v = {states[n - 1]} tuple(zero, {', '.join(names[n].split())})\n"
            f" l = {states[n - 1]} while(v), condition=ends{n - 1}, body=turn{n - 1}\n"
            f" d = f32[4] get-tuple-element(l), index={len(names[n].split())}\n"
        )
    text = "HloModule m\n"
    for n in range(3):
        given, counter, *more = parts_of(states[n], names[n].split()), *names[n].split()
        handed = "".join(f"{name}, " for name in more[:-1])
        text += (
            f"ends{n} {{\n{given} n = s32[] constant({5 - n})\n"
            f" ROOT p = pred[] compare({counter}, n), direction=LT\n}}\n"
            f"turn{n} {{\n{given} one = s32[] constant(1)\n zero = s32[] constant(0)\n j = s32[] add({counter}, one)\n"
            f"{makes[n]} ROOT r = {states[n]} tuple(j, {handed}d)\n}}\n"
        )
    return parse_module(
        f"{text}ENTRY e {{\n x = f32[4] parameter(0)\n zero = s32[] constant(0)\n v = {states[2]} tuple(zero, x)\n"
        f" l = {states[2]} while(v), condition=ends2, body=turn2\n ROOT r = f32[4] get-tuple-element(l), index=1\n}}\n"
    )


def test_counters_of_three_loops_are_three() -> None:
    before = counted_in_three("k, o")
    assert decide(before, counted_in_three("o, k"), "exact").verdict == Verdict.PROVED
    for other in ("m, o", "k, m"):
        assert decide(before, counted_in_three(other), "exact").verdict == Verdict.UNKNOWN


def added_inside(begins: int) -> Module:
    """In each of three turns a loop of two turns adds m, which grows outside of it and which only its body reads."""
    outer, inner = "(s32[], s32[], s32[])", "(s32[], s32[], s32[])"
    given, named = parts_of(outer, ["k", "m", "a"]), parts_of(inner, ["o", "m", "a"])
    one = " one = s32[] constant(1)\n"
    return parse_module(
        f"HloModule m\n"
        f"ends {{\n{named} n = s32[] constant(2)\n ROOT p = pred[] compare(o, n), direction=LT\n}}\n"
        f"turn {{\n{named}{one} j = s32[] add(o, one)\n d = s32[] add(a, m)\n ROOT r = {inner} tuple(j, m, d)\n}}\n"
        f"three {{\n{given} n = s32[] constant(3)\n ROOT p = pred[] compare(k, n), direction=LT\n}}\n"
        f"around {{\n{given}{one} zero = s32[] constant(0)\n j = s32[] add(k, one)\n g = s32[] add(m, one)\n"
        f" v = {inner} tuple(zero, m, a)\n l = {inner} while(v), condition=ends, body=turn\n"
        f" d = s32[] get-tuple-element(l), index=2\n ROOT r = {outer} tuple(j, g, d)\n}}\n"
        f"ENTRY e {{\n x = s32[] parameter(0)\n zero = s32[] constant(0)\n b = s32[] constant({begins})\n"
        f" v = {outer} tuple(zero, b, x)\n l = {outer} while(v), condition=three, body=around\n"
        f" ROOT r = s32[] get-tuple-element(l), index=2\n}}\n"
    )


def test_a_state_that_only_the_body_of_a_loop_inside_reads() -> None:
    assert decide(added_inside(0), added_inside(0), "exact").verdict == Verdict.PROVED
    assert decide(added_inside(0), added_inside(1), "exact").verdict == Verdict.UNKNOWN
