"""What is promised of what is read in a branch alone, or in a loop: it licenses what is read in the same way, as one.

Some is told that need not be: where one reads less than the other, or both read the same in other parts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from red_pairs import ENDLESS, OTHER_SORTED, PLAIN, PROMISE, SORTED, entry, is_named, parts_of

from hloproof.models.hlo.parser import parse_module

V, VV, NV = "s32[4]", "(s32[4], s32[4])", "(s32[], s32[4])"
NVU = "(s32[], s32[4], s32[4])"
SENT = "k = token[] after-all()\n o = token[] outfeed(v, k), outfeed_shape=s32[4]"
FUNCTIONS = (
    ENDLESS + f"negates {{\n v = {V} parameter(0)\n ROOT r = {V} negate(v)\n}}\n"
    f"sends {{\n v = {V} parameter(0)\n {SENT}\n ROOT r = {V} copy(v)\n}}\n"
)


def tells(lines: Sequence[str], root: str, functions: str = "") -> bool:
    """Whether a proof names what is promised of `c` after and not before; of `a` it is promised in both, and of `b`,
    which is the same, in neither."""
    head = ["s = s32[] parameter(0)", f"x = {V} parameter(1)", "n = s32[] parameter(2)", "q = pred[] parameter(3)"]
    head += [f"{name} = {V} call(x), to_apply={f}" for name, f in (("a", "sorted"), ("b", "plain"), ("c", "SAID"))]
    text = entry(*head, *lines, root, before=PLAIN + SORTED + FUNCTIONS + functions)
    before, after = (parse_module(text.replace("SAID", said)) for said in ("plain", "sorted"))
    return is_named(before, after, PROMISE)


def two(first: str, last: str) -> list[str]:
    """Two values, of which the first is made of `a` and the last of `c`."""
    return [first.replace("@", "0").replace("OF", "a"), last.replace("@", "1").replace("OF", "c")]


BOTH = f"ROOT r = {VV} tuple(w0, w1)"
ALWAYS = f"w@ = {V} negate(OF)"
ONE = f"w@ = {V} conditional(s, OF, x), branch_computations={{negates, copies}}"
OTHER = f"w@ = {V} conditional(s, x, OF), branch_computations={{copies, negates}}"
EITHER = f"w@ = {V} conditional(s, OF, OF), branch_computations={{negates, copies}}"
OF_THREE = f"w@ = {V} conditional(s, OF, x, x), branch_computations={{negates, copies, copies}}"
ALL_OF_THREE = f"w@ = {V} conditional(s, OF, OF, OF), branch_computations={{negates, copies, copies}}"
TWO_OF_THREE = f"w@ = {V} conditional(s, OF, OF, x), branch_computations={{negates, copies, copies}}"
THE_LAST = f"w@ = {V} conditional(s, x, x, OF), branch_computations={{negates, copies, copies}}"
BY_TRUTH = f"w@ = {V} conditional(q, OF, x), true_computation=negates, false_computation=copies"
BY_UNTRUTH = f"w@ = {V} conditional(q, x, OF), true_computation=negates, false_computation=copies"


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [
        (ONE, ONE, False),
        (ONE, OTHER, True),
        (ONE, ALWAYS, True),
        (OTHER, ALWAYS, True),
        (ALWAYS, ONE, False),
        (ALWAYS, OTHER, False),
        (EITHER, ALWAYS, False),
        (EITHER, OTHER, False),
        (ONE, EITHER, True),
        (OTHER, EITHER, True),
        (ONE, ONE.replace("(s", "(n"), True),
        (ONE, ONE.replace("negates", "copies"), False),
        (ONE, OF_THREE, True),
        (ALL_OF_THREE, ALWAYS, False),
        (TWO_OF_THREE, ALWAYS, True),
        (TWO_OF_THREE, OF_THREE, True),
        (TWO_OF_THREE, THE_LAST, True),
        (BY_TRUTH, BY_TRUTH, False),
        (BY_TRUTH, BY_UNTRUTH, True),
        (BY_TRUTH, ALWAYS, True),
        (ONE.replace("negates", "sends"), ALWAYS, True),
        (ONE.replace("negates", "sends"), ONE, False),
        (OTHER.replace("negates", "sends"), ONE, True),
    ],
)
def test_what_is_promised_of_what_a_branch_reads(first: str, last: str, told: bool) -> None:
    assert tells(two(first, last), BOTH) is told


@pytest.mark.parametrize("other", ["x", "a"])
def test_what_is_promised_of_what_one_conditional_and_another_read(other: str) -> None:
    """By the same number: that both read it between them always is not seen."""
    lines = [*two(ONE, ALWAYS), OTHER.replace("@", "2").replace("OF", other)]
    assert tells(lines, f"ROOT r = ({V}, {V}, {V}) tuple(w0, w1, w2)")


IOTA = f"p = {V} iota(), iota_dimension=0\n ROOT r = {V} conditional"
INNER = {
    "one": f"ROOT r = {V} conditional(k, v, v), branch_computations={{negates, copies}}",
    "other": f"{IOTA}(k, p, v), branch_computations={{copies, negates}}",
    "first": f"{IOTA}(k, v, p), branch_computations={{negates, copies}}",
    "none": f"ROOT r = {V} negate(v)",
}


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [
        ("first", "first", False),
        ("first", "other", True),
        ("first", "none", True),
        ("none", "first", True),
        ("none", "one", False),
        ("one", "none", False),
        ("one", "one", False),
        ("one", "other", True),
    ],
)
def test_what_is_promised_of_what_a_branch_of_a_branch_reads(first: str, last: str, told: bool) -> None:
    functions = "".join(f"f{name} {{\n{parts_of(NV, 'kv')} {lines}\n}}\n" for name, lines in INNER.items())
    functions += f"stays {{\n{parts_of(NV, 'kv')} m = {V} broadcast(k), dimensions={{}}\n ROOT r = {V} copy(m)\n}}\n"
    lines = [f"t{at} = {NV} tuple(n, {of})" for at, of in enumerate("ac")]
    lines += [
        f"w{at} = {V} conditional(s, t{at}, t{at}), branch_computations={{f{name}, stays}}"
        for at, name in enumerate((first, last))
    ]
    assert tells(lines, BOTH, functions) is told


NUMBER = ("l@ = s32[1] slice(g@), slice={[0:1]}", "k@ = s32[] reshape(l@)")
LOOP = (*NUMBER, "d@ = s32[] while(k@), condition=differs, body=up2")
CHOSEN = {
    "one": "g@ = s32[4] conditional(s, OF, b), branch_computations={copies, copies}",
    "other": "g@ = s32[4] conditional(s, b, OF), branch_computations={copies, copies}",
    "always": "g@ = s32[4] copy(OF)",
}


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [
        ("one", "one", False),
        ("one", "other", True),
        ("one", "always", True),
        ("always", "one", True),
        ("always", "always", False),
    ],
)
def test_what_is_promised_of_what_decides_on_a_loop_in_a_branch_alone(first: str, last: str, told: bool) -> None:
    """The loop itself is one, as what it begins with is the same in all branches."""
    lines = [
        line.replace("@", str(at)).replace("OF", of)
        for at, of, way in ((0, "a", first), (1, "c", last))
        for line in (CHOSEN[way], *LOOP)
    ]
    assert tells(lines, f"ROOT r = {V} negate(x)") is told


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [
        (ONE, "runs, copies", True),
        (OTHER, "runs, copies", True),
        (ONE, "copies, runs", True),
        (ALWAYS, "runs, copies", False),
    ],
)
def test_what_is_promised_of_what_is_read_where_it_decides_on_a_loop(first: str, last: str, told: bool) -> None:
    """Where the loop is run, or always; only that counts."""
    given = "c, x" if last.startswith("runs") else "x, c"
    lines = [first.replace("@", "0").replace("OF", "a")]
    lines += [f"w = {V} conditional(s, {given}), branch_computations={{{last}}}", f"ROOT r = {V} negate(w0)"]
    assert tells(lines[:-1], lines[-1]) is told


def loop(less: str, turn: str, gives: str, kind: str = NVU) -> str:
    names = "nvuy"[: kind.count("s32")]
    return (
        f"{less} {{\n{parts_of(kind, names)} z0 = s32[] constant({9 - len(less)})\n"
        f" ROOT o = pred[] compare(n, z0), direction=LT\n}}\n"
        f"{turn} {{\n{parts_of(kind, names)} one = s32[] constant(1)\n j = s32[] add(n, one)\n {gives}\n}}\n"
    )


TURNS = {
    "what a turn hands on": f"ROOT r = {NVU} tuple(j, u, u)",
    "what is made in a turn": f"m = {V} negate(u)\n ROOT r = {NVU} tuple(j, m, u)",
    "what a branch in a turn reads": (
        f"m = {V} conditional(n, u, v), branch_computations={{negates, copies}}\n ROOT r = {NVU} tuple(j, m, u)"
    ),
}


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize(
    ("first", "last", "told"),
    [
        ("less", "less", False),
        ("fewer", "less", True),
        ("less of s", "less", True),
        ("less", "", True),
        ("", "less", False),
    ],
)
def test_what_is_promised_of_what_a_turn_reads(turn: str, first: str, last: str, told: bool) -> None:
    """There may be none."""
    functions = loop("less", "turn", TURNS[turn]) + loop("fewer", "turned", TURNS[turn])
    lines = []
    for at, of, by in ((0, "a", first), (1, "c", last)):
        less, _, number = by.partition(" of ")
        begins = f"t{at} = {NVU} tuple({number or 'n'}, x, {of})"
        run = [begins, f"h{at} = {NVU} while(t{at}), condition={less}, body=turn"]
        lines += [*run, f"w{at} = {V} get-tuple-element(h{at}), index=1"] if by else [f"w{at} = {V} negate({of})"]
    assert tells(lines, BOTH, functions) is told


NK = "(s32[], s32[], s32[4], s32[4])"
STEPS = {
    "the same": ("n, n", "1", "9", False),
    "from another number": ("q, n", "1", "9", True),
    "by another number of another part": ("n, s", "1", "9", True),
    "by another step": ("n, n", "2", "9", True),
    "to another end": ("n, n", "1", "8", True),
}
READS = {
    "in a turn": (f" m = {V} conditional(k, u, v), branch_computations={{negates, copies}}\n", "", "m"),
    "where it is asked": (
        f" g = {V} negate(v)\n",
        f" m = {V} conditional(k, u, v), branch_computations={{negates, copies}}\n"
        " l = s32[1] slice(m), slice={[0:1]}\n h = s32[] reshape(l)\n",
        "g",
    ),
}


@pytest.mark.parametrize("reads", READS)
@pytest.mark.parametrize("way", STEPS)
def test_what_is_promised_of_what_a_number_in_a_turn_chooses(way: str, reads: str) -> None:
    """It is read in the same turns only if they are turns of the same loop."""
    made, asked, gives = READS[reads]
    begins, step, end, told = STEPS[way]

    def functions(name: str, step: str, end: str) -> str:
        parts = parts_of(NK, "nkvu")
        last = "h" if asked else "z0"
        return (
            f"less{name} {{\n{parts}{asked} z0 = s32[] constant({end})\n y = s32[] add({last}, z0)\n"
            f" ROOT o = pred[] compare(n, y), direction=LT\n}}\n"
            f"turn{name} {{\n{parts}{made} one = s32[] constant({step})\n j = s32[] add(n, one)\n"
            f" i = s32[] add(k, one)\n"
            f" ROOT r = {NK} tuple(j, i, {gives}, u)\n}}\n"
        )

    lines = []
    for at, of, given in ((0, "a", "n, n"), (1, "c", begins)):
        lines.append(f"t{at} = {NK} tuple({given.replace('q', 'm')}, x, {of})")
        lines.append(f"h{at} = {NK} while(t{at}), condition=less{at}, body=turn{at}")
        lines.append(f"w{at} = {V} get-tuple-element(h{at}), index=2")
    text = functions("0", "1", "9") + functions("1", step, end)
    assert tells(["m = s32[] negate(n)", *lines], BOTH, text) is told


@pytest.mark.parametrize(("begins", "index", "told"), [("a, x", 1, False), ("x, a", 2, True), ("a, x", 2, True)])
def test_what_a_loop_begins_with_is_read_where_it_takes_no_turn(begins: str, index: int, told: bool) -> None:
    """Of the other part it is read behind a turn alone."""
    functions = loop("less", "turn", f"m = {V} negate(v)\n ROOT r = {NVU} tuple(j, m, m)")
    lines = [f"t = {NVU} tuple(n, {begins})", f"h = {NVU} while(t), condition=less, body=turn"]
    lines += [f"w0 = {V} get-tuple-element(h), index={index}", f"w1 = {V} negate(c)"]
    assert tells(lines, BOTH, functions) is told


@pytest.mark.parametrize(("first", "told"), [("v, u", False), ("u, v", True)])
def test_what_is_promised_of_what_a_branch_in_a_turn_is_given(first: str, told: bool) -> None:
    """Of the branches in the turns of two loops that differ in nothing else."""
    gives = f"m = {V} conditional(n, GIVEN), branch_computations={{negates, copies}}\n ROOT r = {NVU} tuple(j, v, u)"
    ends = f" y = {V} negate(m)\n l = s32[1] slice(y), slice={{[0:1]}}\n k = s32[] reshape(l)\n"
    ends += " w = s32[] while(k), condition=differs, body=up2\n"
    functions = "".join(
        loop(less, turn, gives.replace("GIVEN", given).replace("\n ROOT", f"\n{ends} ROOT"))
        for less, turn, given in (("fewer", "turned", first), ("less", "turn", "v, u"))
    )
    lines = [f"t0 = {NVU} tuple(n, a, b)", f"w0 = {NVU} while(t0), condition=less, body=turned"]
    lines += [f"t1 = {NVU} tuple(n, c, b)", f"w1 = {NVU} while(t1), condition=less, body=turn"]
    assert tells(lines, f"ROOT r = {V} negate(x)", functions) is told


@pytest.mark.parametrize(("selector", "told"), [("0", True), ("1", False)])
def test_a_number_that_is_known_chooses_too(selector: str, told: bool) -> None:
    """What is given to a branch that is never taken nobody reads."""
    branches = "branch_computations={copies, negates}"
    lines = [f"i = s32[] constant({selector})", f"w0 = {V} conditional(i, x, a), {branches}"]
    lines += ["j = s32[] constant(1)", f"w1 = {V} conditional(j, x, c), {branches}"]
    assert tells(lines, BOTH) is told


ALIKE = f"w@ = {V} conditional(k@, OF, b), branch_computations={{copies, copies}}"


@pytest.mark.parametrize(("first", "told"), [("b", True), ("a", False)])
@pytest.mark.parametrize("branches", ["copies, copies", "negates, negates", "negates, copies"])
def test_what_chooses_between_values_that_are_the_same(branches: str, first: str, told: bool) -> None:
    """If it is wrong the other one is read, of which something wrong may be said, too."""
    lines = [
        line.replace("@", str(at)).replace("OF", of).replace("copies, copies", branches)
        for at, chooses, of in ((0, first, "a"), (1, "c", "c"))
        for line in (f"g@ = {V} copy({chooses})", *NUMBER, ALIKE)
    ]
    assert tells(lines, BOTH) is told


@pytest.mark.parametrize(("last", "told"), [(ALWAYS, True), (ALIKE, False)])
def test_what_chooses_between_values_that_are_the_same_is_read_there_alone(last: str, told: bool) -> None:
    number = [line.replace("@", str(at)) for at in (0, 1) for line in NUMBER]
    lines = ["g0 = s32[4] copy(a)", "g1 = s32[4] copy(c)", *number, *two(ALIKE, last)]
    assert tells(lines, BOTH) is told


def test_what_chooses_between_values_of_which_the_same_is_said_is_not_read() -> None:
    lines = [f"g1 = {V} copy(c)", *(line.replace("@", "1") for line in NUMBER), f"w0 = {V} copy(x)"]
    lines.append(f"w1 = {V} conditional(k1, b, b), branch_computations={{copies, copies}}")
    assert not tells(lines, BOTH)


FIVE = "(s32[], s32[4], s32[4], s32[4], s32[4])"
IN_TURN = f"e = {V} call(v), to_apply=sorted\n f = {V} call(v), to_apply=SAID\n g = {V} call(v), to_apply=plain\n"


def five(turn: str, gives: str, asked: str = "n") -> str:
    """A loop over a number and four arrays, which is asked by a number or by the first element of an array."""
    number = "" if asked == "n" else f" l = s32[1] slice({asked}), slice={{[0:1]}}\n m = s32[] reshape(l)\n"
    return (
        f"less {{\n{parts_of(FIVE, 'nvuyw')}{number} z0 = s32[] constant(5)\n"
        f" ROOT o = pred[] compare({'n' if asked == 'n' else 'm'}, z0), direction=LT\n}}\n"
        f"turn {{\n{parts_of(FIVE, 'nvuyw')} one = s32[] constant(1)\n j = s32[] add(n, one)\n {turn}\n"
        f" ROOT r = {FIVE} tuple(j, {gives})\n}}\n"
    )


def read_at(at: int, begins: str, index: int) -> list[str]:
    return [
        f"t{at} = {FIVE} tuple(n, {begins})",
        f"h{at} = {FIVE} while(t{at}), condition=less, body=turn",
        f"w{at} = {V} get-tuple-element(h{at}), index={index}",
    ]


NEXT = "u, y, y, w"
SWAPS = "u, v, y, w"


@pytest.mark.parametrize(
    ("gives", "first", "last", "told"),
    [
        (NEXT, ("a, b, b, b", 1), ("c, b, b, b", 1), False),
        (NEXT, ("b, b, a, b", 1), ("b, b, c, b", 1), False),
        (NEXT, ("b, b, a, b", 1), ("b, b, c, b", 2), True),
        (NEXT, ("b, b, a, b", 2), ("b, b, c, b", 1), True),
        (NEXT, ("a, b, b, b", 1), ("b, c, b, b", 1), True),
        (NEXT, ("b, a, b, b", 1), ("c, b, b, b", 1), True),
        (NEXT, ("b, b, b, a", 4), ("b, b, b, c", 4), False),
        (NEXT, ("b, b, b, a", 4), ("b, b, c, b", 1), False),
        ("u, u, y, w", ("a, b, b, b", 1), ("b, c, b, b", 1), True),
        ("u, u, y, w", ("b, a, b, b", 1), ("c, b, b, b", 1), True),
        ("u, u, y, w", ("b, a, b, b", 1), ("b, c, b, b", 1), False),
        (SWAPS, ("a, b, b, b", 1), ("c, b, b, b", 1), False),
        (SWAPS, ("a, b, b, b", 1), ("c, b, b, b", 2), True),
        (SWAPS, ("a, b, b, b", 1), ("b, c, b, b", 1), True),
    ],
)
def test_after_which_turns_a_part_of_the_state_is_read(
    gives: str, first: tuple[str, int], last: tuple[str, int], told: bool
) -> None:
    """Of the same part of the same result in the same turns."""
    assert tells(read_at(0, *first) + read_at(1, *last), BOTH, five("", gives)) is told


@pytest.mark.parametrize(
    ("turn", "gives", "read", "told"),
    [
        ("", "e, f, y, w", (1, 2), True),
        (f"h = {V} add(u, f)\n", "e, h, y, w", (1, 2), True),
        (f"h = {V} add(v, e)\n i = {V} add(v, f)\n", "h, i, y, w", (1, 2), True),
        (f"h = {V} add(e, f)\n", "h, u, y, w", (1, 1), False),
        (f"h = {V} add(e, g)\n i = {V} subtract(f, g)\n", "h, i, y, w", (1, 2), True),
        ("", "e, f, y, w", (1, 1), False),
        ("", "v, f, e, w", (3, 1), False),
    ],
)
def test_what_is_promised_in_a_turn_is_read_behind_it(turn: str, gives: str, read: tuple[int, int], told: bool) -> None:
    """Behind the last one only, or behind each."""
    lines = [f"t = {FIVE} tuple(n, x, x, x, x)", f"h = {FIVE} while(t), condition=less, body=turn"]
    lines += [f"w{k} = {V} get-tuple-element(h), index={index}" for k, index in enumerate(read)]
    assert tells(lines, BOTH, five(IN_TURN + " " + turn, gives)) is told


@pytest.mark.parametrize(
    ("asked", "gives", "first", "last", "told"),
    [
        ("v", "u, u, y, w", "a, b, b, b", "c, b, b, b", False),
        ("v", "u, u, y, w", "a, b, b, b", "b, c, b, b", True),
        ("v", "u, u, y, w", "b, a, b, b", "c, b, b, b", True),
        ("v", "u, u, y, w", "b, a, b, b", "b, c, b, b", False),
        ("w", "v, u, y, w", "b, b, b, a", "c, b, b, b", False),
        ("w", "v, u, y, w", "c, b, b, b", "b, b, b, a", False),
    ],
)
def test_what_decides_on_the_same_loop_by_the_same_part(
    asked: str, gives: str, first: str, last: str, told: bool
) -> None:
    """What is asked before the first turn, and what a turn leaves there."""
    lines = read_at(0, first, 3) + read_at(1, last, 3)
    assert tells(lines, f"ROOT r = {V} negate(x)", five("", gives, asked)) is told


@pytest.mark.parametrize(("first", "told"), [("b, a, b, b", True), ("b, b, b, a", False)])
def test_a_branch_in_what_is_asked_is_no_branch_of_a_turn(first: str, told: bool) -> None:
    """By the same number: it is asked once more than there are turns."""
    chooses = f" h = {V} conditional(n, {{}}), branch_computations={{{{copies, copies}}}}\n"
    functions = five(chooses.format("u, y").strip("\n"), "h, u, y, w").replace(
        " z0 = s32[] constant(5)\n",
        chooses.format("w, y") + " l = s32[1] slice(h), slice={[0:1]}\n i = s32[] reshape(l)\n z0 = s32[] add(i, i)\n",
        1,
    )
    assert tells(read_at(0, first, 1) + read_at(1, "b, b, b, c", 1), BOTH, functions) is told


OF_BRANCHES = {
    "in a branch": f"ROOT r = {V} conditional(k, v, u), branch_computations={{copies, copies}}",
    "in the other branch": f"ROOT r = {V} conditional(k, u, v), branch_computations={{copies, copies}}",
    "always": f"ROOT r = {V} copy(v)",
    "never": f"ROOT r = {V} copy(u)",
}


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [
        ("in a branch", "always", True),
        ("in a branch", "in the other branch", True),
        ("in a branch", "never", True),
        ("always", "always", False),
        ("never", "never", False),
    ],
)
def test_what_chooses_between_branches_that_read_the_same_elsewhere(first: str, last: str, told: bool) -> None:
    """Where it is wrong, that is read which is wrong, too, and which was read in a branch alone."""
    functions = "".join(
        f"{name} {{\n{parts_of(NVU, 'kvu')} {OF_BRANCHES[way]}\n}}\n" for name, way in (("f0", first), ("f1", last))
    )
    lines = [line.replace("@", "1").replace("g1", "c") for line in NUMBER]
    lines += [f"t = {NVU} tuple(n, a, b)", f"w0 = {V} conditional(k1, t, t), branch_computations={{f0, f1}}"]
    assert tells(lines, f"ROOT r = {V} copy(w0)", functions) is told


AMONG = f"w@ = {V} conditional(k@, OF), branch_computations={{copies, copies}}"


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [("f, g", "d, e", True), ("d, d", "d, e", True), ("d, e", "d, e", False), ("a, b", "a, b", False)],
)
def test_what_chooses_is_read_where_it_chooses_among_the_same(first: str, last: str, told: bool) -> None:
    """Something else is said of `d`, and of `f`."""
    functions, lines = "", []
    for name, indices in (("de", "{3},{0}"), ("fg", "{3},{2}")):
        functions += (PLAIN + SORTED).replace("plain ", f"as_{name[1]} ").replace("sorted ", f"as_{name[0]} ")
        functions = functions.replace("{2},{1}", indices)
        lines += [f"{one} = {V} call(x), to_apply=as_{one}" for one in name]
    for at, chooses, among in ((0, "a", first), (1, "c", last)):
        lines += [line.replace("@", str(at)).replace(f"g{at}", chooses) for line in NUMBER]
        lines.append(AMONG.replace("@", str(at)).replace("OF", among))
    assert tells(lines, BOTH, functions) is told


NVUY = "(s32[], s32[4], s32[4], s32[4])"
CHOOSING = "(s32[], s32[], s32[4], s32[4], s32[4])"


@pytest.mark.parametrize(
    ("begins", "step", "gives", "told"),
    [
        ("n, n", "1", "k, v, u", False),
        ("n, m", "1", "k, v, u", True),
        ("n, n", "2", "k, v, u", True),
        ("n, n", "1", "k, u, v", True),
        ("n, n", "1", "n, v, u", True),
    ],
)
def test_what_chooses_in_a_turn_between_values_that_are_the_same(
    begins: str, step: str, gives: str, told: bool
) -> None:
    """It makes nothing of what is read, and says where that is read."""

    def functions(name: str, step: str, gives: str) -> str:
        parts = parts_of(CHOOSING, "nkvuy")
        return (
            f"less{name} {{\n{parts} z0 = s32[] constant(9)\n ROOT o = pred[] compare(n, z0), direction=LT\n}}\n"
            f"turn{name} {{\n{parts} one = s32[] constant(1)\n j = s32[] add(n, one)\n step = s32[] constant({step})\n"
            f" i = s32[] add(k, step)\n m = {V} conditional({gives}), branch_computations={{copies, copies}}\n"
            f" ROOT r = {CHOOSING} tuple(j, i, v, u, m)\n}}\n"
        )

    lines = ["m = s32[] negate(n)"]
    for at, of, numbers in ((0, "a", "n, n"), (1, "c", begins)):
        lines.append(f"t{at} = {CHOOSING} tuple({numbers}, {of}, b, b)")
        lines.append(f"h{at} = {CHOOSING} while(t{at}), condition=less{at}, body=turn{at}")
        lines.append(f"w{at} = {V} get-tuple-element(h{at}), index=4")
    assert tells(lines, BOTH, functions("0", "1", "k, v, u") + functions("1", step, gives)) is told


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [
        (("in a branch", "always"), ("always", "always"), True),
        (("by device", "always"), ("always", "always"), True),
        (("always", "always"), ("by device", "always"), True),
        (("by device", "always"), ("by device", "always"), False),
        (("always", "in a branch"), ("in a branch", "always"), True),
        (("in a branch", "always"), ("always", "in a branch"), True),
        (("in a branch", "always"), ("in a branch", "always"), False),
        (("always", "in a branch"), ("always", "in a branch"), False),
    ],
)
def test_a_branch_in_a_turn_is_one_of_its_loop(first: tuple[str, str], last: tuple[str, str], told: bool) -> None:
    """Of two loops one after the other, one of which has the branch, which the number of the turn or device chooses."""
    functions, lines = "", []
    makes = f"p = {V} iota(), iota_dimension=0\n e = {V} call(p), to_apply=OF\n g = {V} call(p), to_apply=plain\n"
    chooses = f" m = {V} conditional(BY, ONE, TWO), branch_computations={{copies, copies}}\n"
    device = " w = u32[] partition-id()\n k = s32[] convert(w)\n"
    ways = {"always": f" m = {V} copy(ONE)\n", "in a branch": chooses.replace("BY", "n")}
    ways["by device"] = device + chooses.replace("BY", "k")
    for at, of, (one, two) in ((0, "sorted", first), (1, "SAID", last), (2, "plain", ("always", "always"))):
        for name, text in (("one", makes + ways[one]), ("two", ways[two].replace("ONE", "v").replace("TWO", "u"))):
            text = text.replace("OF", of).replace("ONE", "e").replace("TWO", "g")
            functions += loop(f"less{name}{at}", f"turn{name}{at}", f"{text} ROOT r = {NVUY} tuple(j, v, u, m)", NVUY)
        lines += [
            f"s{at} = {NVUY} tuple(n, x, x, x)",
            f"h{at} = {NVUY} while(s{at}), condition=lessone{at}, body=turnone{at}",
        ]
        lines += [f"o{at} = {V} get-tuple-element(h{at}), index=3"]
    for at in (0, 1):
        lines += [
            f"t{at} = {NVUY} tuple(n, o{at}, o2, x)",
            f"i{at} = {NVUY} while(t{at}), condition=lesstwo{at}, body=turntwo{at}",
        ]
        lines += [f"w{at} = {V} get-tuple-element(i{at}), index=3"]
    assert tells(lines, BOTH, functions) is told


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [("one", "one", False), ("one", "other", True), ("one", "always", True), ("always", "one", True)],
)
def test_what_chooses_between_values_that_are_the_same_is_read_in_a_branch(first: str, last: str, told: bool) -> None:
    lines = [
        line.replace("@", str(at)).replace("OF", of)
        for at, of, way in ((0, "a", first), (1, "c", last))
        for line in (CHOSEN[way], *NUMBER, AMONG.replace("OF", "d, e"))
    ]
    functions = (PLAIN + SORTED).replace("plain ", "as_e ").replace("sorted ", "as_d ").replace("{2},{1}", "{3},{0}")
    assert tells([*(f"{name} = {V} call(x), to_apply=as_{name}" for name in "de"), *lines], BOTH, functions) is told


@pytest.mark.parametrize(("first", "told"), [([ONE], True), ([ONE, OTHER], True), ([ALWAYS], False)])
def test_what_is_read_in_one_branch_and_in_two_at_once(first: list[str], told: bool) -> None:
    lines = [line.replace("@", f"0{k}").replace("OF", "a") for k, line in enumerate(first)]
    lines += [f"t = {NV} tuple(n, c)", ONE.replace("@", "1").replace("OF", "c")]
    lines.append(f"w2 = {V} conditional(q, t, t), true_computation=ffirst, false_computation=fstays")
    functions = f"ffirst {{\n{parts_of(NV, 'kv')} {INNER['first']}\n}}\n"
    functions += f"fstays {{\n{parts_of(NV, 'kv')} m = {V} broadcast(k), dimensions={{}}\n ROOT r = {V} copy(m)\n}}\n"
    read = [*(f"w0{k}" for k in range(len(first))), "w1", "w2"]
    assert tells(lines, f"ROOT r = ({', '.join([V] * len(read))}) tuple({', '.join(read)})", functions) is told


@pytest.mark.parametrize(
    ("first", "told"),
    [([("b", "d"), ("a", "b")], True), ([("a", "d")], False), ([("a", "b")], True), ([("b", "d")], True)],
)
@pytest.mark.parametrize(
    "where", ["in a turn", "in what a branch is given", "where it is asked", "what decides on a loop in a turn"]
)
def test_what_chooses_wrong_in_a_turn_is_worse_the_more_is_wrong(
    where: str, first: list[tuple[str, str]], told: bool
) -> None:
    """A loop may be told by what chooses in one place, and by what it chooses among in another. Something else is said
    of `d`."""
    parts = parts_of(CHOOSING, "nkvuy")
    chooses = f" m = {V} conditional(k, v, u), branch_computations={{copies, copies}}\n"
    number = " l = s32[1] slice(m), slice={[0:1]}\n i = s32[] reshape(l)\n"
    asked = (
        chooses + number + " z0 = s32[] add(i, i)\n" if where == "where it is asked" else " z0 = s32[] constant(9)\n"
    )
    runs = chooses + number + " w = s32[] while(i), condition=differs, body=up2\n"
    given = f" o = {V} conditional(n, m, y), branch_computations={{copies, negates}}\n"
    turns = {
        "in a turn": chooses,
        "in what a branch is given": chooses + given,
        "where it is asked": "",
        "what decides on a loop in a turn": runs,
    }
    gives = {"in a turn": "m", "in what a branch is given": "o"}
    functions = (
        f"less {{\n{parts}{asked} ROOT o = pred[] compare(n, z0), direction=LT\n}}\n"
        f"turn {{\n{parts} one = s32[] constant(1)\n j = s32[] add(n, one)\n h = s32[] add(k, one)\n"
        f"{turns[where]} ROOT r = {CHOOSING} tuple(j, h, v, u, {gives.get(where, 'y')})\n}}\n"
    )
    lines = [f"d = {V} call(x), to_apply=other"]
    for at, (number_of, among) in enumerate([*first, ("c", "d")]):
        lines += [line.replace("@", str(at)).replace(f"g{at}", number_of) for line in NUMBER]
        lines += [f"t{at} = {CHOOSING} tuple(n, k{at}, {among}, b, x)"]
        lines += [f"h{at} = {CHOOSING} while(t{at}), condition=less, body=turn"]
        lines += [f"w{at} = {V} get-tuple-element(h{at}), index=4"]
    functions += OTHER_SORTED
    read = [f"w{at}" for at in range(len(first) + 1)]
    assert tells(lines, f"ROOT r = ({', '.join([V] * len(read))}) tuple({', '.join(read)})", functions) is told


@pytest.mark.parametrize(("first", "last", "told"), [("k, v, u", "k, u, v", True), ("k, v, u", "k, v, u", False)])
def test_where_it_is_asked_what_a_part_is_tells_loops_apart(first: str, last: str, told: bool) -> None:
    functions = "".join(
        f"less{at} {{\n{parts_of(CHOOSING, 'nkvuy')}"
        f" m = {V} conditional({gives}), branch_computations={{copies, copies}}\n"
        f" l = s32[1] slice(m), slice={{[0:1]}}\n i = s32[] reshape(l)\n"
        " ROOT o = pred[] compare(n, i), direction=LT\n}\n"
        for at, gives in enumerate((first, last))
    )
    functions += (
        f"turn {{\n{parts_of(CHOOSING, 'nkvuy')} one = s32[] constant(1)\n j = s32[] add(n, one)\n"
        f" h = s32[] add(k, one)\n ROOT r = {CHOOSING} tuple(j, h, v, u, y)\n}}\n"
    )
    lines = [f"t{at} = {CHOOSING} tuple(n, s, {of}, b, x)" for at, of in enumerate("ac")]
    lines += [f"h{at} = {CHOOSING} while(t{at}), condition=less{at}, body=turn" for at in (0, 1)]
    lines += [f"n{at} = s32[] get-tuple-element(h{at}), index=0" for at in (0, 1)]
    assert tells(lines, "ROOT r = (s32[], s32[]) tuple(n0, n1)", functions) is told


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [
        ("f, g", "f, g", False),
        ("g, f", "f, g", True),
        ("g, g", "f, g", True),
        ("f, g", "f, f", True),
        ("f, f", "f, f", False),
    ],
)
def test_what_is_promised_where_it_is_asked_is_read_in_a_branch_there(first: str, last: str, told: bool) -> None:
    """What nobody reads there is promised, too."""
    functions = loop("fewer", "turn", f"ROOT r = {NVU} tuple(j, v, u)")
    for at, said, given in ((0, "sorted", first), (1, "SAID", last)):
        functions += (
            f"less{at} {{\n{parts_of(NVU, 'nvu')} f = {V} call(v), to_apply={said}\n g = {V} call(v), to_apply=plain\n"
            f" m = {V} conditional(n, {given}), branch_computations={{copies, copies}}\n"
            " l = s32[1] slice(m), slice={[0:1]}\n i = s32[] reshape(l)\n"
            " ROOT o = pred[] compare(n, i), direction=LT\n}\n"
        )
    lines = [f"t = {NVU} tuple(n, x, x)"]
    lines += [f"h{at} = {NVU} while(t), condition=less{at}, body=turn" for at in (0, 1)]
    assert tells(lines, f"ROOT r = ({NVU}, {NVU}) tuple(h0, h1)", functions) is told


def test_what_is_promised_of_what_a_branch_in_a_function_reads() -> None:
    """Of functions that operations apply nobody makes the same promise."""
    functions = (
        f"folds {{\n p = s32[] parameter(0)\n q = s32[] parameter(1)\n e = {V} broadcast(p), dimensions={{}}\n"
        f" f = {V} call(e), to_apply=SAID\n m = {V} conditional(q, f, e), branch_computations={{copies, negates}}\n"
        " l = s32[1] slice(m), slice={[0:1]}\n ROOT r = s32[] reshape(l)\n}\n"
    )
    lines = ["w = s32[] reduce(x, n), dimensions={0}, to_apply=folds"]
    assert tells(lines, "ROOT r = s32[] copy(w)", functions)
    assert not tells(lines, "ROOT r = s32[] copy(w)", functions.replace("SAID", "plain"))


@pytest.mark.parametrize(
    ("turn", "told"), [("conditional(n, v, u), branch_computations={copies, copies}", True), ("negate(v)", False)]
)
def test_what_a_turn_leaves_of_a_part_in_a_branch_is_not_always_read(turn: str, told: bool) -> None:
    """What each turn makes of what it was is made of what it began with."""
    functions = loop("less", "turn", f"m = {V} {turn}\n ROOT r = {NVU} tuple(j, m, u)")
    lines = [f"t = {NVU} tuple(n, a, x)", f"h = {NVU} while(t), condition=less, body=turn"]
    lines += [f"w0 = {V} get-tuple-element(h), index=1", f"w1 = {V} negate(c)"]
    assert tells(lines, BOTH, functions) is told


@pytest.mark.parametrize(("first", "told"), [("u, v", False), ("v, u", True)])
def test_which_part_of_a_loop_inside_begins_with_which_tells_loops_apart(first: str, told: bool) -> None:
    outer = f"(s32[], s32[], {V}, {V}, {V})"
    functions = (
        f"iless {{\n{parts_of(NVUY, 'nvuy')} z = s32[] constant(9)\n ROOT o = pred[] compare(n, z), direction=LT\n}}\n"
        f"iturn {{\n{parts_of(NVUY, 'npqy')} one = s32[] constant(1)\n j = s32[] add(n, one)\n ny = {V} negate(p)\n"
        f" np = {V} negate(q)\n ROOT r = {NVUY} tuple(j, np, q, ny)\n}}\n"
        f"less {{\n{parts_of(outer, 'nkuvy')} z = s32[] constant(9)\n ROOT o = pred[] compare(n, z), direction=LT\n}}\n"
    )
    lines = []
    for at, of, given in ((0, "a", first), (1, "c", "u, v")):
        functions += (
            f"turn{at} {{\n{parts_of(outer, 'nkuvy')} one = s32[] constant(1)\n j = s32[] add(n, one)\n"
            f" it = {NVUY} tuple(k, {given}, y)\n ih = {NVUY} while(it), condition=iless, body=iturn\n"
            f" iy = {V} get-tuple-element(ih), index=3\n ROOT r = {outer} tuple(j, k, u, v, iy)\n}}\n"
        )
        lines += [
            f"t{at} = {outer} tuple(n, s, {of}, b, x)",
            f"h{at} = {outer} while(t{at}), condition=less, body=turn{at}",
        ]
        lines += [f"w{at} = {V} get-tuple-element(h{at}), index=4"]
    assert tells(lines, BOTH, functions) is told
