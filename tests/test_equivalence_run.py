"""What decides whether a loop is run, or may decide on it: in functions, in turns and beside words that nobody knows.

It licenses the same of the same loop where all else that decides on it is the same, for it is worse the more is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from red_pairs import ENDLESS, OTHER_SORTED, PLAIN, PROMISE, SORTED, entry, is_named, parts_of

from hloproof.models.hlo.parser import parse_module

COUNT = ', backend_config={"known_trip_count":{"n":"8"}}'
TRIPS = "promised: known_trip_count of while"
ODD = ', frontend_attributes={odd="1"}'
NK, NV, NVU = "(s32[], s32[])", "(s32[], s32[4])", "(s32[], s32[4], s32[4])"
LESS = "z0 = s32[] constant(9)\n ROOT o = pred[] compare(n, z0), direction=LT"
UP = "one = s32[] constant(1)\n j = s32[] add(n, one)"
COUNTS = (
    f"less {{\n{parts_of(NK, 'nk')} {LESS}\n}}\n"
    f"up {{\n{parts_of(NK, 'nk')} {UP}\n i = s32[] subtract(k, j)\n ROOT r = {NK} tuple(j, i)\n}}\n"
    "same {\n k = s32[] parameter(0)\n ROOT r = s32[] copy(k)\n}\n"
)
NUMBER = " l = s32[1] slice(v), slice={[0:1]}\n k = s32[] reshape(l)\n"


def function(name: str, parameters: str, lines: str) -> str:
    given = "".join(f" {p} = s32[] parameter({k})\n" for k, p in enumerate(parameters))
    return f"{name} {{\n{given} {lines}\n}}\n"


RUNS = {
    "map": (
        function("f", "pq", "w = s32[] while(p), condition=differs, body=up2\n ROOT r = s32[] add(p, q)"),
        "m@ = s32[4] map(ONE, TWO), dimensions={0}, to_apply=f",
    ),
    "sort": (
        function(
            "f", "pqst", "w = s32[] while(p), condition=differs, body=up2\n ROOT r = pred[] compare(p, q), direction=LT"
        ),
        "m@ = (s32[4], s32[4]) sort(ONE, TWO), dimensions={0}, to_apply=f",
    ),
    "scatter": (
        function("f", "pq", "w = s32[] while(q), condition=differs, body=up2\n ROOT r = s32[] copy(q)"),
        "m@ = s32[4] scatter(TWO, i, ONE), update_window_dims={}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f",
    ),
    "map by what it chooses": (
        function(
            "f", "pq", "c = s32[] conditional(p, q, q), branch_computations={loops, same}\n ROOT r = s32[] copy(c)"
        ),
        "m@ = s32[4] map(ONE, TWO), dimensions={0}, to_apply=f",
    ),
    "a call beside words that nobody knows": (
        f"f {{\n v = s32[4] parameter(0)\n u = s32[4] parameter(1)\n{NUMBER}"
        " w = s32[] while(k), condition=differs, body=up2\n ROOT r = s32[4] add(v, u)\n}\n",
        f"m@ = s32[4] call(ONE, TWO), to_apply=f{ODD}",
    ),
}
LOOPS = function("loops", "k", "w = s32[] while(k), condition=differs, body=up2\n ROOT r = s32[] copy(k)")


def tells(lines: Sequence[str], functions: str, root: str = "negate(x)") -> bool:
    """Whether a proof names what is promised of `c` after and not before; of `a` it is promised in both, and of `b`,
    which is the same, in neither. Of `d`, which is the same as well, something else is promised in both."""
    head = ["x = s32[4] parameter(0)", "n = s32[] parameter(1)", "i = s32[4,1] parameter(2)"]
    of = (("a", "sorted"), ("b", "plain"), ("c", "SAID"), ("d", "other"))
    head += [f"{name} = s32[4] call(x), to_apply={f}" for name, f in of]
    before = PLAIN + SORTED + OTHER_SORTED + ENDLESS + COUNTS + LOOPS + functions
    text = entry(*head, *lines, f"ROOT r = s32[4] {root}", before=before)
    one, other = (parse_module(text.replace("SAID", said)) for said in ("plain", "sorted"))
    return is_named(one, other, PROMISE)


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [
        ([("a", "b")], ("c", "b"), False),
        ([("b", "a")], ("b", "c"), False),
        ([("b", "a")], ("c", "b"), True),
        ([("a", "d")], ("c", "d"), False),
        ([("a", "b"), ("b", "d")], ("c", "d"), True),
        ([("b", "d")], ("c", "d"), True),
    ],
)
@pytest.mark.parametrize("way", RUNS)
def test_what_may_decide_on_a_loop_does_so_of_the_same_with_the_same(
    way: str, first: list[tuple[str, str]], last: tuple[str, str], told: bool
) -> None:
    """Nothing is read of what the operations give, and their functions look at one operand alone."""
    functions, line = RUNS[way]
    lines = [line.replace("@", str(k)).replace("ONE", p).replace("TWO", q) for k, (p, q) in enumerate((*first, last))]
    assert tells(lines, functions) is told


BEGINS = "while(p1), condition=differs, body=up2"


def two_loops(name: str, first: str, last: str) -> str:
    """A function with two loops that count alike, the last of which decides on another."""
    return function(
        name,
        "ab",
        f"t = {NK} tuple(b, b)\n w0 = {NK} while(t), condition=less, body=up{first}\n"
        f" w1 = {NK} while(t), condition=less, body=up{last}\n p0 = s32[] get-tuple-element(w0), index=1\n"
        f" p1 = s32[] get-tuple-element(w1), index=1\n v = s32[] {BEGINS}\n ROOT r = s32[] add(p0, a)",
    )


def counts(text: str) -> bool:
    """Whether a proof names the number of turns that is said after where the text has SAID, and not before."""
    before, after = (parse_module(text.replace("SAID", said)) for said in ("", COUNT))
    return is_named(before, after, TRIPS)


@pytest.mark.parametrize("last_one", [BEGINS, "conditional(p1, b, b), branch_computations={loops, same}"])
@pytest.mark.parametrize(("first", "last", "told"), [(COUNT, "", True), ("", COUNT, False)])
def test_what_one_loop_of_a_function_takes_decides_on_nothing_beside_it(
    first: str, last: str, told: bool, last_one: str
) -> None:
    functions = (two_loops("f0", first, last) + two_loops("f1", "", "SAID")).replace(BEGINS, last_one)
    lines = [f"m{k} = s32[4] map(x, y), dimensions={{0}}, to_apply=f{k}" for k in (0, 1)]
    head = ["x = s32[4] parameter(0)", "y = s32[4] parameter(1)"]
    assert (
        counts(entry(*head, *lines, "ROOT r = s32[4] negate(x)", before=ENDLESS + COUNTS + LOOPS + functions)) is told
    )


@pytest.mark.parametrize(("first", "last", "told"), [("h0", "h1", True), ("h1", "h0", True), ("h0", "e", False)])
def test_a_branch_of_a_function_is_none_of_one_that_applies_it(first: str, last: str, told: bool) -> None:
    """Both are chosen by the first argument."""
    applied = "".join(
        function(
            f"f{k}",
            "ab",
            f"t = {NK} tuple(b, b)\n w = {NK} while(t), condition=less, body=up{said}\n"
            " p = s32[] get-tuple-element(w), index=1\n"
            " c = s32[] conditional(a, p, b), branch_computations={same, same}\n ROOT r = s32[] add(c, a)",
        )
        for k, said in ((0, COUNT), (1, "SAID"))
    )
    applies = function(
        "g",
        "ab",
        "e = s32[4] broadcast(b), dimensions={}\n i = s32[4] iota(), iota_dimension=0\n"
        " h0 = s32[4] map(i, e), dimensions={0}, to_apply=f0\n h1 = s32[4] map(i, e), dimensions={0}, to_apply=f1\n"
        f" c = s32[4] conditional(a, {first}, e), branch_computations={{copies, copies}}\n"
        f" d = s32[4] add(c, {last})\n s = s32[1] slice(d), slice={{[0:1]}}\n ROOT r = s32[] reshape(s)",
    )
    head = ["x = s32[4] parameter(0)", "y = s32[4] parameter(1)"]
    root = "ROOT m = s32[4] map(x, y), dimensions={0}, to_apply=g"
    assert counts(entry(*head, root, before=ENDLESS + COUNTS + applied + applies)) is told


INNER = f"{NUMBER} w = s32[] while(k), condition=differs, body=up2\n"
ASKS = f"asks {{\n{parts_of(NV, 'nv')} {LESS}\n}}\n"
TURNS = f"turns {{\n{parts_of(NV, 'nv')} {UP}\n{INNER} ROOT r = {NV} tuple(j, v)\n}}\n"


@pytest.mark.parametrize(("first", "told"), [("d", False), ("b", True)])
@pytest.mark.parametrize("inside", ["a turn", "a branch of a turn", "what is asked"])
def test_how_many_turns_a_loop_inside_is_run_in_is_worse_where_it_begins_wrong(
    inside: str, first: str, told: bool
) -> None:
    """More turns do no harm to a loop that ends."""
    functions = ASKS + TURNS
    if inside == "a branch of a turn":
        functions = functions.replace(
            "w = s32[] while(k), condition=differs, body=up2",
            "w = s32[] conditional(n, k, k), branch_computations={loops, same}",
        )
    if inside == "what is asked":
        functions = functions.replace(INNER, "").replace(LESS, f"\n{INNER} {LESS}")
    lines = ["x = s32[4] parameter(0)", "n = s32[] parameter(1)"]
    lines += [f"{name} = s32[4] call(x), to_apply={f}" for name, f in (("b", "plain"), ("d", "other"))]
    for k, of, said in ((0, first, COUNT), (1, "d", "SAID")):
        lines += [f"t{k} = {NV} tuple(n, {of})", f"h{k} = {NV} while(t{k}), condition=asks, body=turns{said}"]
    before = PLAIN + OTHER_SORTED + ENDLESS + COUNTS + LOOPS + functions
    assert counts(entry(*lines, "ROOT r = s32[4] negate(x)", before=before)) is told


@pytest.mark.parametrize(("first", "told"), [("d", False), ("b", True)])
def test_what_asks_for_a_turn_in_which_a_loop_is_run_is_worse_where_it_begins_wrong(first: str, told: bool) -> None:
    kind = "(s32[], s32[], s32[4])"
    functions = (
        f"asks {{\n{parts_of(kind, 'nmv')} ROOT o = pred[] compare(n, m), direction=LT\n}}\n"
        f"turns {{\n{parts_of(kind, 'nmv')} {UP}\n{INNER} ROOT r = {kind} tuple(j, m, v)\n}}\n"
    )
    lines = []
    for k, number, of in ((0, "a", first), (1, "c", "d")):
        lines += [f"s{k} = s32[1] slice({number}), slice={{[0:1]}}", f"u{k} = s32[] reshape(s{k})"]
        lines += [f"t{k} = {kind} tuple(n, u{k}, {of})", f"h{k} = {kind} while(t{k}), condition=asks, body=turns"]
    assert tells(lines, functions) is told


STRIDE = ', backend_config={"dynamic_slice_config":{"loop_index":"0","byte_offset":"0","byte_stride":"16"}}'
IN_A_TURN = {
    "a copy": "u = s32[4] copy(v)SAID",
    "a branch": "u = s32[4] conditional(n, v, v), branch_computations={copies, says}",
    "a loop inside": f"q = {NV} tuple(n, v)\n h = {NV} while(q), condition=asks, body=inner\n"
    " u = s32[4] get-tuple-element(h), index=1",
}


@pytest.mark.parametrize(("first", "root", "told"), [("", "w1", True), (STRIDE, "w1", True), (STRIDE, "w0", False)])
@pytest.mark.parametrize("way", IN_A_TURN)
def test_what_is_said_of_a_part_that_each_turn_hands_on_as_it_was(way: str, first: str, root: str, told: bool) -> None:
    """Of a loop of which nobody reads anything it says nothing."""
    functions = ASKS
    for k, said in ((0, first), (1, "SAID")):
        text = (
            "says {\n v = s32[4] parameter(0)\n ROOT r = s32[4] copy(v)SAID\n}\n"
            f"inner {{\n{parts_of(NV, 'nv')} {UP}\n u = s32[4] copy(v)SAID\n ROOT r = {NV} tuple(j, u)\n}}\n"
            f"turns {{\n{parts_of(NV, 'nv')} {UP}\n {IN_A_TURN[way]}\n ROOT r = {NV} tuple(j, u)\n}}\n"
        )
        for name in ("says", "inner", "turns"):
            text = text.replace(name, f"{name}{k}")
        functions += text.replace("SAID", said)
    lines = ["x = s32[4] parameter(0)", "n = s32[] parameter(1)", f"t = {NV} tuple(n, x)"]
    for k in (0, 1):
        lines += [
            f"h{k} = {NV} while(t), condition=asks, body=turns{k}",
            f"w{k} = s32[4] get-tuple-element(h{k}), index=1",
        ]
    text = entry(*lines, f"ROOT r = s32[4] negate({root})", before=ENDLESS + functions)
    before, after = (parse_module(text.replace("SAID", said)) for said in ("", STRIDE))
    assert is_named(before, after, "promised: dynamic_slice_config of copy") is told


@pytest.mark.parametrize(("first", "told"), [("b", True), ("d", False)])
def test_how_many_turns_is_worse_where_a_turn_hands_on_a_part_wrongly(first: str, told: bool) -> None:
    """Nothing is made of the number of turns but where that is read which is said in them."""
    functions = ASKS + "".join(
        f"turns{k} {{\n{parts_of(NV, 'nv')} {UP}\n u = s32[4] copy(v){said}\n ROOT r = {NV} tuple(j, u)\n}}\n"
        for k, said in ((0, STRIDE if first == "d" else ""), (1, STRIDE))
    )
    lines = ["x = s32[4] parameter(0)", "n = s32[] parameter(1)", f"t = {NV} tuple(n, x)"]
    lines += [f"h = {NV} while(t), condition=asks, body=turns1", "w = s32[4] get-tuple-element(h), index=1"]
    for k, said in ((0, COUNT), (1, "SAID")):
        lines += [f"h{k} = {NV} while(t), condition=asks, body=turns{k}{said}"]
        lines += [f"w{k} = s32[4] get-tuple-element(h{k}), index=1"]
    kind = "(s32[4], s32[4], s32[4])"
    assert counts(entry(*lines, f"ROOT r = {kind} tuple(w, w0, w1)", before=functions)) is told


@pytest.mark.parametrize(("kept", "told"), [("w0", True), ("n0", False)])
def test_what_asks_for_a_turn_is_not_read_of_a_part_that_turns_hand_on(kept: str, told: bool) -> None:
    kind = "(s32[], s32[], s32[4])"
    functions = (
        f"asks {{\n{parts_of(kind, 'nmv')} ROOT o = pred[] compare(n, m), direction=LT\n}}\n"
        f"turns {{\n{parts_of(kind, 'nmv')} {UP}\n u = s32[4] copy(v){STRIDE}\n ROOT r = {kind} tuple(j, m, u)\n}}\n"
    )
    lines = ["s0 = s32[1] slice(a), slice={[0:1]}", "u0 = s32[] reshape(s0)", f"t0 = {kind} tuple(n, u0, x)"]
    lines += [f"h0 = {kind} while(t0), condition=asks, body=turns", "w0 = s32[4] get-tuple-element(h0), index=2"]
    lines += ["g0 = s32[] get-tuple-element(h0), index=0", "n0 = s32[4] broadcast(g0), dimensions={}"]
    lines += [f"k = s32[4] add({kept}, x)", "w1 = s32[4] add(k, c)"]
    assert tells(lines, functions, "copy(w1)") is told


@pytest.mark.parametrize(("kept", "told"), [("w0", True), ("n0", False)])
def test_how_many_turns_are_said_is_not_read_of_a_part_that_turns_hand_on(kept: str, told: bool) -> None:
    functions = ASKS
    functions += f"turns {{\n{parts_of(NV, 'nv')} {UP}\n u = s32[4] copy(v){STRIDE}\n ROOT r = {NV} tuple(j, u)\n}}\n"
    lines = ["x = s32[4] parameter(0)", "n = s32[] parameter(1)", f"t = {NV} tuple(n, x)"]
    for k, said in ((0, COUNT), (1, "SAID")):
        lines += [f"h{k} = {NV} while(t), condition=asks, body=turns{said}"]
        lines += [f"w{k} = s32[4] get-tuple-element(h{k}), index=1", f"g{k} = s32[] get-tuple-element(h{k}), index=0"]
        lines += [f"n{k} = s32[4] broadcast(g{k}), dimensions={{}}"]
    assert counts(entry(*lines, f"ROOT r = s32[4] add({kept}, n1)", before=functions)) is told


FEWER = COUNT.replace('"8"', '"7"')
COUNTED = "".join(
    f"{name} {{\n t = {NV} parameter(0)\n h = {NV} while(t), condition=asks, body=flips{said}\n"
    " ROOT r = s32[4] get-tuple-element(h), index=1\n}\n"
    for name, said in (("counted", COUNT), ("fewer", FEWER), ("uncounted", ""))
)
FLIPS = f"flips {{\n{parts_of(NV, 'nv')} {UP}\n m = s32[4] negate(v)\n ROOT r = {NV} tuple(j, m)\n}}\n"
SAYS = {
    "the same": "conditional(s, t, t), branch_computations={counted, uncounted}",
    "by another number": "conditional(m, t, t), branch_computations={counted, uncounted}",
    "in another branch": "conditional(s, t, t), branch_computations={uncounted, counted}",
    "of fewer turns": "conditional(s, t, t), branch_computations={fewer, uncounted}",
}
CHOOSES = {
    "among the same": "w@ = s32[4] conditional(k@, g@, e), branch_computations={copies, copies}",
    "whether a loop is run": "w@ = s32[4] conditional(k@, g@, x), branch_computations={runs, copies}",
}


@pytest.mark.parametrize("way", SAYS)
@pytest.mark.parametrize("where", CHOOSES)
def test_what_is_chosen_is_said_by_who_chooses_how_many_turns_where(where: str, way: str) -> None:
    """What is said of turns is the same only in the same branch."""
    lines = [
        "s = s32[] negate(n)",
        "m = s32[] negate(s)",
        f"t = {NV} tuple(n, x)",
        "e = s32[4] call(t), to_apply=uncounted",
    ]
    for k, of, says in ((0, "a", "the same"), (1, "c", way)):
        lines += [f"l{k} = s32[1] slice({of}), slice={{[0:1]}}", f"k{k} = s32[] reshape(l{k})"]
        lines += [f"g{k} = s32[4] {SAYS[says]}", CHOOSES[where].replace("@", str(k))]
    found = tells(
        [*lines, "w = s32[4] add(w0, w1)"],
        ASKS + FLIPS + COUNTED,
        "negate(w)" if where == "among the same" else "negate(x)",
    )
    assert found is (way != "the same")


@pytest.mark.parametrize(("first", "told"), [("runs, copies", False), ("copies, runs", True)])
def test_what_chooses_around_a_choice_is_that_of_the_same_branch(first: str, told: bool) -> None:
    functions = "".join(
        f"f{k} {{\n{parts_of(NV, 'mv')} ROOT r = s32[4] conditional(m, v, v), branch_computations={{{of}}}\n}}\n"
        for k, of in ((0, first), (1, "runs, copies"))
    )
    functions += f"none {{\n t = {NV} parameter(0)\n ROOT v = s32[4] get-tuple-element(t), index=1\n}}\n"
    lines = [f"t = {NV} tuple(n, x)"]
    for k, of in ((0, "a"), (1, "c")):
        lines += [f"l{k} = s32[1] slice({of}), slice={{[0:1]}}", f"k{k} = s32[] reshape(l{k})"]
        lines += [f"w{k} = s32[4] conditional(k{k}, t, t), branch_computations={{f{k}, none}}"]
    assert tells(lines, functions) is told


@pytest.mark.parametrize(
    ("first", "told"), [([("b", "d"), ("a", "b")], True), ([("a", "b")], True), ([("a", "d")], False)]
)
def test_one_of_two_loops_in_a_turn_begins_with_what_is_chosen(first: list[tuple[str, str]], told: bool) -> None:
    kind = "(s32[], s32[], s32[4], s32[4], s32[4])"
    number = " l@ = s32[1] slice(@), slice={[0:1]}\n i@ = s32[] reshape(l@)\n"
    number += " w@ = s32[] while(i@), condition=differs, body=up2\n"
    functions = (
        f"asks {{\n{parts_of(kind, 'nkvuy')} {LESS}\n}}\n"
        f"turns {{\n{parts_of(kind, 'nkvuy')} {UP}\n h = s32[] add(k, one)\n{number.replace('@', 'y')}"
        f" m = s32[4] conditional(k, v, u), branch_computations={{copies, copies}}\n{number.replace('@', 'm')}"
        f" ROOT r = {kind} tuple(j, h, v, u, y)\n}}\n"
    )
    lines = []
    for k, (of, among) in enumerate((*first, ("c", "d"))):
        lines += [f"l{k} = s32[1] slice({of}), slice={{[0:1]}}", f"k{k} = s32[] reshape(l{k})"]
        lines += [
            f"t{k} = {kind} tuple(n, k{k}, {among}, b, d)",
            f"h{k} = {kind} while(t{k}), condition=asks, body=turns",
        ]
    assert tells(lines, functions) is told


@pytest.mark.parametrize(("first", "told"), [("f, g", False), ("g, f", True)])
def test_what_a_turn_leaves_is_not_where_a_loop_in_it_begins(first: str, told: bool) -> None:
    """Of the last turn nothing is read that it leaves, and its loop is run."""
    kind = "(s32[], s32[], s32[4])"
    functions = "".join(
        f"asks{k} {{\n{parts_of(kind, 'knv')} {LESS}\n}}\n"
        f"turns{k} {{\n{parts_of(kind, 'knv')} {UP}\n"
        f" f = s32[4] call(v), to_apply={said}\n g = s32[4] call(v), to_apply=plain\n"
        f" fl = s32[1] slice({given[0]}), slice={{[0:1]}}\n fk = s32[] reshape(fl)\n"
        f" gl = s32[1] slice({given[-1]}), slice={{[0:1]}}\n gk = s32[] reshape(gl)\n"
        f" i = s32[] add(k, fk)\n w = s32[] while(i), condition=differs, body=up2\n h = s32[] add(k, gk)\n"
        f" ROOT r = {kind} tuple(h, j, v)\n}}\n"
        for k, said, given in ((0, "sorted", first), (1, "SAID", "f, g"))
    )
    lines = [f"t = {kind} tuple(n, n, x)"]
    lines += [f"h{k} = {kind} while(t), condition=asks{k}, body=turns{k}" for k in (0, 1)]
    assert tells(lines, functions) is told


@pytest.mark.parametrize(("first", "last", "told"), [("0", "1", True), ("1", "1", False)])
def test_of_several_results_each_is_made_of_what_is_said_of_it(first: str, last: str, told: bool) -> None:
    functions = "".join(
        function(
            f"f{k}",
            "abcd",
            f"t = {NK} tuple(c, c)\n w = {NK} while(t), condition=less, body=up{said}\n"
            " p = s32[] get-tuple-element(w), index=1\n e = s32[] add(a, c)\n f = s32[] add(p, d)\n"
            f" ROOT r = {NK} tuple(e, f)",
        )
        for k, said in ((0, COUNT), (1, "SAID"))
    )
    lines = ["x = s32[4] parameter(0)", "n = s32[] parameter(1)"]
    for k, index in ((0, first), (1, last)):
        lines += [f"r{k} = {NK} reduce(x, x, n, n), dimensions={{0}}, to_apply=f{k}"]
        lines += [f"w{k} = s32[] get-tuple-element(r{k}), index={index}"]
    assert counts(entry(*lines, "ROOT r = s32[] add(w0, w1)", before=COUNTS + functions)) is told
