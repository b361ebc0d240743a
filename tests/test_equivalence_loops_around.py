"""Whether a loop ends, by what stands around it: other loops, branches, functions that an operation applies.

The loop falls by two until it is nothing: it ends for even numbers alone, and nobody can count its turns.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from red_pairs import entry, is_named, parts_of

from hloproof.equivalence import Certificate, decide, recheck
from hloproof.equivalence.answer import Tier
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ArrayShape, TupleShape
from hloproof.models.indexing.composition.trip_count import states_spoken_of
from hloproof.results.verdict import Verdict

COUNTER = '"known_induction_variable":{"tuple_index":"1"}'
STATE, OUTER = "(s32[], s32[])", "(s32[], s32[], s32[])"
HERE, THERE = "compare(k, n), direction=NE", "compare(n, k), direction=NE"


def falls(ends: str = HERE) -> str:
    """The loop as condition and body, over (k, a); a is doubled in every turn."""
    given = parts_of(STATE, ["k", "a"])
    return (
        f"ends {{\n{given} n = s32[] constant(0)\n ROOT o = pred[] {ends}\n}}\n"
        f"turn {{\n{given} two = s32[] constant(2)\n j = s32[] subtract(k, two)\n d = s32[] add(a, a)\n"
        f" ROOT r = {STATE} tuple(j, d)\n}}\n"
    )


def run(name: str, begins: str, a: str, more: str = "") -> str:
    """The loop from there, by this name."""
    return (
        f"{name}.v = {STATE} tuple({begins}, {a})\n"
        f"  {name}.l = {STATE} while({name}.v), condition=ends, body=turn{more}\n"
        f"  {name} = s32[] get-tuple-element({name}.l), index=1"
    )


def ignored(name: str, of: str) -> str:
    """What was computed, with the difference of a value to itself."""
    return f"{name}.u = s32[] subtract({of}, {of})\n  {name} = s32[] add(q, {name}.u)"


def is_said(before: str, after: str) -> bool:
    one, other = parse_module(before), parse_module(after)
    found = decide(one, other, "exact")
    assert found.verdict == Verdict.PROVED
    assert found.certificate is not None
    assert recheck(one, other, found.certificate).axioms == found.axioms
    return "assumed: a loop ends" in dict(found.axioms)


def turns(
    *starts: str, ends: str = HERE, condition: str = "compare(k, n), direction=LT", inside: str = "", more: str = ""
) -> str:
    """In each of three turns the loop runs from a number that grows by two; once for each start, of which the first
    gives the result, and no other one matters."""
    given = parts_of(OUTER, ["k", "m", "a"])
    before = (
        f"{falls(ends)}three {{\n{given} n = s32[] constant(3)\n ROOT o = pred[] {condition}\n}}\n"
        f"around {{\n{given} one = s32[] constant(1)\n two = s32[] constant(2)\n j = s32[] add(k, one)\n"
        f" g = s32[] add(m, two)\n {inside or run('w', 'm', 'a', more)}\n ROOT r = {OUTER} tuple(j, g, w)\n}}\n"
    )
    lines = ["i = s32[] parameter(0)", *(f"s{n} = s32[] constant({n})" for n in range(2))]
    for n, start in enumerate(starts):
        lines += [
            f"v{n} = {OUTER} tuple(s0, {start}, i)",
            f"l{n} = {OUTER} while(v{n}), condition=three, body=around",
            f"w{n} = s32[] get-tuple-element(l{n}), index=2",
        ]
    lines += ["q = s32[] copy(w0)"]
    for n in range(1, len(starts)):
        lines += [ignored(f"z{n}", f"w{n}")]
    last = f"z{len(starts) - 1}" if len(starts) > 1 else "q"
    return entry(*lines, f"ROOT r = s32[] copy({last})", before=before)


def test_in_the_turns_of_another_loop() -> None:
    assert not is_said(turns("s0"), turns("s0"))
    assert not is_said(turns("s0", "s1"), turns("s0", "s1"))
    assert not is_said(turns("s0", "s1"), turns("s0"))
    assert is_said(turns("s0"), turns("s0", "s1"))
    assert is_said(turns("s0"), turns("s0", "s1", ends=THERE))


def test_in_the_turns_of_a_loop_that_is_written_otherwise() -> None:
    """It is compared with the one before, and so is the one around it; only of that one it counts."""
    assert is_said(turns("s0"), turns("s0", ends=THERE))
    other = turns("s0", condition="compare(n, k), direction=GT")
    assert is_said(turns("s0"), other)


def test_in_a_branch_and_always_written_otherwise() -> None:
    """Which of the two is looked at first is one: of what a branch runs nothing follows for what always runs."""
    chooses = f"c = {STATE} conditional(p, v, v), true_computation=runs, false_computation=given"
    head = (chooses, "q = s32[] get-tuple-element(c), index=1")
    last = "ROOT r = (s32[], s32[]) tuple(q, x)"
    before = chosen(*head, "x = s32[] copy(q)", last)
    for always in (False, True):
        more = (run("w", "n", "i"), "x = s32[] select(p, w, i)") if always else ("x = s32[] copy(q)",)
        for lines in ((*head, *more), (*more, *head) if always else head + more):
            assert is_said(before, chosen(*lines, last, ends=THERE)) is always


@pytest.mark.parametrize(("branches", "told"), [("counts, given", False), ("given, counts", True)])
def test_in_the_turns_of_a_loop_in_a_branch(branches: str, told: bool) -> None:
    """Of the loop around it the turns are counted."""

    def text(branches: str) -> str:
        loops = turns("s0")
        loops = loops[loops.index("three {") : loops.index("ENTRY")]
        loops += f"counts {{\n{parts_of(STATE, ['m', 'a'])} z = s32[] constant(0)\n q = {OUTER} tuple(z, m, a)\n"
        loops += f" l = {OUTER} while(q), condition=three, body=around\n w = s32[] get-tuple-element(l), index=2\n"
        loops += f" ROOT r = {STATE} tuple(m, w)\n}}\n"
        c = f"c = {STATE} conditional(s, v, v), branch_computations={{{branches}}}"
        lines = (
            "w = s32[] get-tuple-element(c), index=1",
            "q = s32[] copy(i)",
            ignored("z", "w"),
            "ROOT r = s32[] copy(z)",
        )
        return chosen(c, *lines).replace("ENTRY", f"{loops}ENTRY")

    assert is_said(text("counts, given"), text(branches)) is told


def test_what_the_text_says_of_its_turns_there() -> None:
    """Of a loop with other turns around it nobody else says so."""
    said = ', backend_config={"known_trip_count":{"n":"4"}}'
    told = ("promised: known_trip_count of while", "exact")
    for starts, other in ((("s0",), False), (("s0", "s1"), True)):
        found = decide(parse_module(turns("s0", more=said)), parse_module(turns(*starts, more=said)), "exact")
        assert found.verdict == Verdict.PROVED
        assert (told in found.axioms) is other


def nested(*inside: str) -> str:
    """The loop, with another around it from these starts in turn, in the turns of a third."""
    given = parts_of(STATE, ["c", "b"])
    calls = [
        f"v{n} = {OUTER} tuple(z, {start}, b)\n l{n} = {OUTER} while(v{n}), condition=three, body=around\n"
        f" w{n} = s32[] get-tuple-element(l{n}), index=2\n u{n} = s32[] subtract(w{n}, w{n})"
        for n, start in enumerate(inside)
    ]
    total = "w0"
    for n in range(1, len(inside)):
        calls.append(f"t{n} = s32[] add({total}, u{n})")
        total = f"t{n}"
    lines = "\n ".join(calls)
    before = turns("s0").removeprefix("HloModule m\n\n").split("ENTRY")[0]
    before += (
        f"twice {{\n{given} n = s32[] constant(2)\n ROOT o = pred[] compare(c, n), direction=LT\n}}\n"
        f"outermost {{\n{given} z = s32[] constant(0)\n one = s32[] constant(1)\n j = s32[] add(c, one)\n {lines}\n"
        f" ROOT r = {STATE} tuple(j, {total})\n}}\n"
    )
    return entry(
        "i = s32[] parameter(0)",
        "z = s32[] constant(0)",
        f"v = {STATE} tuple(z, i)",
        f"l = {STATE} while(v), condition=twice, body=outermost",
        "ROOT r = s32[] get-tuple-element(l), index=1",
        before=before,
    )


def test_in_the_turns_of_another_loop_in_the_turns_of_a_third() -> None:
    assert not is_said(nested("z"), nested("z"))
    assert not is_said(nested("z", "one"), nested("z", "one"))
    assert is_said(nested("z"), nested("z", "one"))


def chosen(*lines: str, ends: str = HERE) -> str:
    """s chooses among these, p between two."""
    before = (
        f"{falls(ends)}given {{\n ROOT v = {STATE} parameter(0)\n}}\n"
        f"runs {{\n v = {STATE} parameter(0)\n ROOT l = {STATE} while(v), condition=ends, body=turn\n}}\n"
    )
    head = ["s = s32[] parameter(0)", "p = pred[] parameter(1)", "n = s32[] parameter(2)", "i = s32[] parameter(3)"]
    return entry(*head, f"v = {STATE} tuple(n, i)", *lines, before=before)


def by_number(name: str, *branches: str) -> str:
    """What the branch gives that the number chooses."""
    return (
        f"{name}.c = {STATE} conditional(s, {', '.join(['v'] * len(branches))}), "
        f"branch_computations={{{', '.join(branches)}}}\n  {name} = s32[] get-tuple-element({name}.c), index=1"
    )


EITHER = (
    f"c = {STATE} conditional(p, v, v), true_computation=runs, false_computation=given",
    "ROOT r = s32[] get-tuple-element(c), index=1",
)
ALWAYS = (run("w", "n", "i"), "ROOT r = s32[] select(p, w, i)")
LAST = (by_number("q", "given", "runs"), "ROOT r = s32[] copy(q)")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (EITHER, EITHER, False),
        (ALWAYS, EITHER, False),
        (EITHER, ALWAYS, True),
        (LAST, LAST, False),
        (
            LAST,
            (
                by_number("q", "given", "runs"),
                by_number("w", "runs", "given"),
                ignored("z", "w"),
                "ROOT r = s32[] copy(z)",
            ),
            True,
        ),
        (
            (by_number("q", "given", "runs", "given"), "ROOT r = s32[] copy(q)"),
            (
                by_number("q", "given", "runs", "given"),
                by_number("w", "given", "runs"),
                ignored("z", "w"),
                "ROOT r = s32[] copy(z)",
            ),
            True,
        ),
    ],
)
def test_in_a_branch(before: tuple[str, ...], after: tuple[str, ...], told: bool) -> None:
    assert is_said(chosen(*before), chosen(*after)) is told


def test_in_a_branch_that_is_compared_with_what_always_runs() -> None:
    assert is_said(chosen(*EITHER), chosen(*ALWAYS, ends=THERE))
    assert not is_said(chosen(*ALWAYS), chosen(*EITHER, ends=THERE))
    assert not is_said(chosen(*EITHER), chosen(*EITHER, ends=THERE))


def turned_if(line: str) -> str:
    """In three turns of another loop; its state c chooses whether the loop runs."""
    given = parts_of(OUTER, ["k", "m", "a"])
    before = (
        f"{falls()}given {{\n ROOT v = {STATE} parameter(0)\n}}\n"
        f"runs {{\n v = {STATE} parameter(0)\n ROOT l = {STATE} while(v), condition=ends, body=turn\n}}\n"
        f"three {{\n{given} n = s32[] constant(3)\n ROOT o = pred[] compare(k, n), direction=LT\n}}\n"
        f"around {{\n{given} one = s32[] constant(1)\n j = s32[] add(k, one)\n e = s32[] and(m, one)\n"
        f" odd = pred[] compare(e, one), direction=EQ\n g = s32[] add(m, one)\n v = {STATE} tuple(m, a)\n {line}\n"
        f" ROOT r = {OUTER} tuple(j, g, w)\n}}\n"
    )
    return entry(
        "i = s32[] parameter(0)",
        "z = s32[] constant(0)",
        f"v = {OUTER} tuple(z, z, i)",
        f"l = {OUTER} while(v), condition=three, body=around",
        "ROOT r = s32[] get-tuple-element(l), index=2",
        before=before,
    )


def test_in_a_branch_in_the_turns_of_another_loop() -> None:
    if_even = turned_if(
        f"c = {STATE} conditional(odd, v, v), true_computation=given, false_computation=runs\n"
        " w = s32[] get-tuple-element(c), index=1"
    )
    always = turned_if(
        f"l = {STATE} while(v), condition=ends, body=turn\n b = s32[] get-tuple-element(l), index=1\n"
        " w = s32[] select(odd, a, b)"
    )
    assert not is_said(if_even, if_even)
    assert not is_said(always, always)
    assert is_said(if_even, always)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("(odd, v, v), true_computation=given, false_computation=runs", False),
        ("(odd, v, v), true_computation=runs, false_computation=given", True),
        ("(late, v, v), true_computation=given, false_computation=runs", True),
        ("(late, v, v), true_computation=given, false_computation=given", False),
    ],
)
def test_in_another_branch_in_the_turns_of_another_loop(more: str, told: bool) -> None:
    """Which one, and chosen by what, though nothing of it matters."""
    once = (
        f"late = pred[] compare(m, one), direction=GT\n"
        f" c = {STATE} conditional(odd, v, v), true_computation=given, false_computation=runs\n"
        " w0 = s32[] get-tuple-element(c), index=1\n"
    )
    twice = (
        f"{once} d = {STATE} conditional{more}\n x = s32[] get-tuple-element(d), index=1\n"
        " u = s32[] subtract(x, x)\n w = s32[] add(w0, u)"
    )
    assert is_said(turned_if(once + " w = s32[] copy(w0)"), turned_if(twice)) is told


def applied(*lines: str) -> str:
    """A function that runs the loop is applied to what is given."""
    before = f"{falls()}f {{\n x = s32[] parameter(0)\n  {run('y', 'x', 'x')}\n ROOT r = s32[] copy(y)\n}}\n"
    head = ["i = s32[4] parameter(0)", "even = s32[4] constant({0, 2, 4, 6})", "odd = s32[4] constant({1, 3, 5, 7})"]
    return entry(*head, *lines, before=before)


MAPPED = "m = s32[4] map(even), dimensions={0}, to_apply=f\n  q = s32[4] add(i, m)"


def test_in_a_function() -> None:
    once = applied(MAPPED, "ROOT r = s32[4] copy(q)")
    more = "w = s32[4] map(DATA), dimensions={0}, to_apply=f\n  u = s32[4] subtract(w, w)\n  ROOT r = s32[4] add(q, u)"
    assert not is_said(once, once)
    assert not is_said(once, applied(MAPPED, more.replace("DATA", "even")))
    assert is_said(once, applied(MAPPED, more.replace("DATA", "odd")))


def combined(combiner: str, more: str = "") -> str:
    """A function that combines so, and beside it runs the loop from what is combined so far, of which nothing matters;
    `more` runs another."""
    name = f"{combiner}.more" if more else combiner
    return (
        f"{name} {{\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  {run('y', 'a', 'b')}\n"
        f"  {more or 'x = s32[] copy(b)'}\n  u = s32[] subtract(y, y)\n  v = s32[] subtract(x, x)\n"
        f"  w = s32[] add(u, v)\n  t = s32[] {combiner}(a, b)\n  ROOT r = s32[] add(t, w)\n}}\n"
    )


@pytest.mark.parametrize(("by", "told"), [("add", False), ("multiply", True), ("add.more", True)])
def test_in_functions_that_combine(by: str, told: bool) -> None:
    """What is combined so far follows from the function; and what another one runs, of which nothing matters, is
    another loop."""
    functions = falls() + combined("add") + combined("multiply") + combined("add", run("x", "b", "a"))
    head = ["i = s32[4] parameter(0)", "z = s32[] constant(0)", "q = s32[] reduce(i, z), dimensions={0}, to_apply=add"]
    once = entry(*head, "ROOT r = s32[] copy(q)", before=functions)
    again = f"w = s32[] reduce(i, z), dimensions={{0}}, to_apply={by}"
    assert is_said(once, entry(*head, again, ignored("o", "w"), "ROOT r = s32[] copy(o)", before=functions)) is told


def long(begins: int, first: str, ends: str = "compare(k, n), direction=LT") -> str:
    """Up to two hundred, which are more turns than are followed."""
    given = parts_of(STATE, ["k", "a"])
    before = (
        f"ends {{\n{given} n = s32[] constant(200)\n ROOT o = pred[] {ends}\n}}\n"
        f"turn {{\n{given} one = s32[] constant(1)\n j = s32[] add(k, one)\n d = s32[] add(a, a)\n"
        f" ROOT r = {STATE} tuple(j, d)\n}}\n"
    )
    head = ["i = s32[] parameter(0)", f"z = s32[] constant({begins})", f"d = s32[] {first}"]
    return entry(*head, run("w", "z", "d"), "ROOT r = s32[] copy(w)", before=before)


@pytest.mark.parametrize("side", [0, 1])
def test_one_turn_later(side: int) -> None:
    """Of a loop that is compared after one of its turns, on either side."""
    pair = [parse_module(long(0, "copy(i)")), parse_module(long(1, "add(i, i)"))]
    before, after = pair if side == 0 else pair[::-1]
    found = recheck(
        before, after, Certificate("exact", [["turn", side], ["same"], ["loop", [[1, 1], [0, 0]]], ["same"]])
    )
    assert found.verdict == Verdict.PROVED
    assert not found.axioms


@pytest.mark.parametrize(("direction", "told"), [("NE", False), ("EQ", True)])
def test_from_its_end(direction: str, told: bool) -> None:
    """A loop whose condition is never met is one that ends; another from the same states, of which nothing matters,
    need not be."""
    given = parts_of(STATE, ["k", "a"])
    never, other = (
        f"{name} {{\n{given} ROOT o = pred[] compare(k, k), direction={said}\n}}\n"
        for name, said in (("never", "NE"), ("other", direction))
    )
    loops = [run("q", "i", "i").replace("=ends", "=never"), run("w", "i", "i").replace("=ends", "=other")]
    after = entry(
        "i = s32[] parameter(0)", *loops, ignored("z", "w"), "ROOT r = s32[] copy(z)", before=falls() + never + other
    )
    assert is_said(entry("i = s32[] parameter(0)", "ROOT r = s32[] copy(i)"), after) is told


def by_count(*branches: str) -> str:
    """A branch that k chooses, of which nothing matters."""
    given = ", ".join(["k", *["v"] * len(branches)])
    return f"d = {STATE} conditional({given}), branch_computations={{{', '.join(branches)}}}"


OF_THREE = ("given", "runs", "given")


@pytest.mark.parametrize(
    ("more", "told"), [(OF_THREE, False), (("given", "runs"), True), (("runs", "given", "given"), True)]
)
def test_in_one_of_so_many_branches_in_turns_and_functions(more: tuple[str, ...], told: bool) -> None:
    once, other = (turned_if(f"{by_count(*b)}\n w = s32[] copy(a)") for b in (OF_THREE, more))
    assert is_said(once, other) is told
    texts = []
    for branches in (OF_THREE, more):
        before = turned_if("w = s32[] copy(a)").removeprefix("HloModule m\n\n").split("three {")[0]
        before += (
            f"f {{\n k = s32[] parameter(0)\n v = {STATE} tuple(k, k)\n {by_count(*branches)}\n"
            " ROOT r = s32[] copy(k)\n}\n"
        )
        text = entry("i = s32[4] parameter(0)", "ROOT m = s32[4] map(i), dimensions={0}, to_apply=f", before=before)
        texts.append(text)
    assert is_said(*texts) is told


BESIDE = run("w", "m", "a")
"""The loop, and nothing is made of what it gives."""


def met(in_turn: bool, in_condition: bool, words: str = "") -> str:
    """A turn of a loop over (k, m, a), in which the loop may run for nothing, as it may in the condition."""
    given = parts_of(OUTER, ["k", "m", "a"])
    before = (
        f"{falls()}once {{\n{given}  {BESIDE if in_condition else ''}\n n = s32[] constant(1)\n"
        f" ROOT o = pred[] compare(k, n), direction=LT\n}}\n"
        f"around {{\n{given}  {BESIDE if in_turn else ''}\n one = s32[] constant(1)\n j = s32[] add(k, one)\n"
        f" g = s32[] add(m, one)\n d = s32[] add(a, a)\n ROOT r = {OUTER} tuple(j, g, d)\n}}\n"
    )
    return entry(
        "i = s32[] parameter(0)",
        "z = s32[] constant(0)",
        f"v = {OUTER} tuple(z, z, i)",
        f"l = {OUTER} while(v), condition=once, body=around{words}",
        "ROOT r = s32[] get-tuple-element(l), index=2",
        before=before,
    )


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ((True, False), (True, False), False),
        ((False, True), (False, True), False),
        ((True, True), (True, True), False),
        ((True, False), (False, True), True),
        ((True, False), (True, True), True),
    ],
)
def test_in_what_decides_whether_there_is_one_more_turn(
    before: tuple[bool, bool], after: tuple[bool, bool], told: bool
) -> None:
    """That is met once more than the turns, here with an odd number."""
    assert is_said(met(*before), met(*after)) is told


def picked(select: bool, scatter: bool) -> str:
    """A select-and-scatter of which each function may run the loop."""
    both = " m = s32[] parameter(0)\n a = s32[] parameter(1)\n"
    before = (
        f"{falls()}picks {{\n{both}  {BESIDE if select else ''}\n ROOT o = pred[] compare(m, a), direction=GE\n}}\n"
        f"adds {{\n{both}  {BESIDE if scatter else ''}\n ROOT o = s32[] add(m, a)\n}}\n"
    )
    return entry(
        "x = s32[4] parameter(0)",
        "y = s32[2] parameter(1)",
        "z = s32[] constant(0)",
        "ROOT r = s32[4] select-and-scatter(x, y, z), window={size=2 stride=2}, select=picks, scatter=adds",
        before=before,
    )


@pytest.mark.parametrize(("after", "told"), [((True, False), False), ((False, True), True), ((True, True), True)])
def test_in_one_of_two_functions(after: tuple[bool, bool], told: bool) -> None:
    assert is_said(picked(True, False), picked(*after)) is told
    assert is_said(picked(False, False), picked(*after))


def test_in_the_same_function_of_another_operation() -> None:
    """All devices together may apply it to other elements than each of its own."""
    lines = ("x = s32[4] parameter(0)", "y = s32[4] parameter(1)")
    functions = f"{falls()}f {{\n m = s32[] parameter(0)\n a = s32[] parameter(1)\n {run('w', 'm', 'a')}\n"
    functions += " ROOT r = s32[] add(m, a)\n}\n"
    meets = "c = (s32[4], s32[4]) all-reduce(x, y), to_apply=f"
    maps = "d = s32[4] map(x, y), dimensions={0}, to_apply=f"
    once, twice = (
        entry(*lines, *more, "ROOT r = s32[4] add(x, y)", before=functions) for more in ((meets,), (meets, maps))
    )
    assert is_said(once, twice)
    assert not is_said(twice, once)


@pytest.mark.parametrize("tier", ["rounding", "real"])
def test_from_the_end_of_a_loop_that_is_compared_with_it(tier: Tier) -> None:
    """By what divides a number by itself it is the other one, and never ends where that is 0; a branch runs it before,
    and it always runs after, where nothing needs it."""
    state = "(f32[], f32[], f32[])"
    given = parts_of(state, ["k", "y", "a"]) + " z = f32[] constant(0)\n"
    functions = (
        f"more {{\n{given} q = f32[] divide(y, y)\n m = f32[] multiply(k, q)\n"
        " ROOT o = pred[] compare(m, z), direction=NE\n}\n"
        f"plain {{\n{given} ROOT o = pred[] compare(k, z), direction=NE\n}}\n"
        f"falls {{\n{given} two = f32[] constant(2)\n j = f32[] subtract(k, two)\n d = f32[] add(a, a)\n"
        f" ROOT r = {state} tuple(j, y, d)\n}}\n"
        f"runs {{\n x = {state} parameter(0)\n ROOT l = {state} while(x), condition=more, body=falls\n}}\n"
        f"given {{\n ROOT x = {state} parameter(0)\n}}\n"
    )
    head = [f"{name} = f32[] parameter({n})" for n, name in enumerate(("k", "y", "a"))]
    head += ["p = pred[] parameter(3)", f"v = {state} tuple(k, y, a)"]
    head += [f"l = {state} while(v), condition=plain, body=falls", "w = f32[] get-tuple-element(l), index=2"]
    chosen = (
        f"c = {state} conditional(p, v, v), true_computation=runs, false_computation=given",
        "s = f32[] get-tuple-element(c), index=2",
    )
    always = (f"m = {state} while(v), condition=more, body=falls", "s = f32[] select(p, w, a)")
    last = "ROOT r = (f32[], f32[]) tuple(s, w)"
    before, after = (parse_module(entry(*head, *lines, last, before=functions)) for lines in (chosen, always))
    found = decide(before, after, tier)
    assert found.verdict == Verdict.PROVED
    assert "assumed: a loop ends" in dict(found.axioms)
    assert "assumed: a loop ends" not in dict(decide(after, after, tier).axioms)


@pytest.mark.parametrize(("begins", "told"), [("a", False), ("b", True)])
@pytest.mark.parametrize("step", ["subtract(k, a)", "subtract(k, two)"])
def test_from_another_number_that_decides_after_a_turn(step: str, begins: str, told: bool) -> None:
    """The condition looks at what another state makes in each turn."""
    functions = falls().replace("subtract(k, two)", step)
    head = [f"{name} = s32[] parameter({n})" for n, name in enumerate("mab")]
    last = "ROOT r = s32[] copy(w)"
    before = entry(*head, run("w", "m", "a"), last, before=functions)
    after = entry(*head, run("w", "m", "a"), run("u", "m", begins), last, before=functions)
    assert is_said(before, after) is (told and "a)" in step)


def test_in_a_function_that_a_custom_call_is_given() -> None:
    """To what it applies it nobody knows."""
    f = f"{falls()}f {{\n m = s32[] parameter(0)\n a = s32[] copy(m)\n  {BESIDE}\n ROOT r = s32[] copy(m)\n}}\n"
    call = 'custom-call(i), custom_call_target="some", called_computations={f}'
    once = entry("i = s32[] parameter(0)", f"ROOT c = s32[] {call}", before=f)
    more = entry(
        "i = s32[] parameter(0)", f"c = s32[] {call}", f"d = s32[2] {call}", "ROOT r = s32[] copy(c)", before=f
    )
    assert is_said(once, more)
    assert is_said(once, once)


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [("", "", False), ("x", "x", False), ("", "x", True), ("x", "", True), ("x", "y", True)],
)
def test_with_words_that_nobody_knows(first: str, second: str, told: bool) -> None:
    """What they change nobody knows either."""
    words = {name: f', frontend_attributes={{odd="{name}"}}' if name else "" for name in (first, second)}
    head = ["m = s32[] parameter(0)", "a = s32[] parameter(1)"]
    sent = ["k = token[] after-all()", "o = token[] outfeed(m, k), outfeed_shape=s32[]"]
    for lines in (head, [*head, *sent]):
        before = entry(*lines, run("w", "m", "a", words[first]), "ROOT r = s32[] add(m, a)", before=falls())
        after = entry(*lines, run("w", "m", "a", words[second]), "ROOT r = s32[] add(m, a)", before=falls())
        assert is_said(before, after) is told


@pytest.mark.parametrize("place", ["before", "behind"])
@pytest.mark.parametrize("meets", ["", "d = s32[] all-reduce(m), replica_groups={}, to_apply=add"])
def test_beside_what_has_words_that_nobody_knows(place: str, meets: str) -> None:
    """They speak of what it runs alone, and not of a loop before or behind it."""
    odd = f'l = {STATE} call(v), to_apply=runs, frontend_attributes={{odd="x"}}'

    def text(*lines: str) -> str:
        add = "add {\n a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT o = s32[] add(a, b)\n}\n"
        runs = f"runs {{\n v = {STATE} parameter(0)\n ROOT l = {STATE} while(v), condition=ends, body=turn\n}}\n"
        head = [
            "m = s32[] parameter(0)",
            "a = s32[] parameter(1)",
            f"v = {STATE} tuple(m, a)",
            *([meets] if meets else []),
        ]
        return entry(*head, *lines, "ROOT r = s32[] add(m, a)", before=falls() + runs + add).replace(
            "HloModule m\n", "HloModule m, replica_count=2\n"
        )

    plain = run("w", "m", "a")
    more = text(plain, odd) if place == "before" else text(odd, plain)
    assert not is_said(text(odd), text(odd))
    assert not is_said(more, more)
    assert not is_said(more, text(odd))
    assert is_said(text(odd), more)
    assert is_said(text(plain), more)


@pytest.mark.parametrize("way", ["while(v), condition=ends, body=turn", "call(v), to_apply=runs"])
def test_with_words_that_nobody_knows_given_something_else(way: str) -> None:
    """Also what decides nothing, as far as the operations say."""
    one, other = (
        chosen(
            f"w = {STATE} tuple(n, s)",
            f'l = {STATE} {way.replace("(v)", f"({given})")}, frontend_attributes={{odd="x"}}',
            "ROOT r = s32[] copy(i)",
        )
        for given in "vw"
    )
    assert not is_said(one, one)
    assert is_said(one, other)


def test_of_so_many_turns_with_words_that_nobody_knows() -> None:
    """The loop around it is counted, unless somebody says something of it."""
    text = turns("s0").replace(run("w", "m", "a"), "w = s32[] add(a, two)")
    none = text.replace("q = s32[] copy(w0)", "q = s32[] copy(i)")
    loop = next(line for line in none.split("\n") if "while(v0)" in line)
    alone = none.replace(loop + "\n", "").replace("  w0 = s32[] get-tuple-element(l0), index=2\n", "")
    said = none.replace(loop, loop + ', frontend_attributes={odd="x"}')
    assert "while" not in alone
    assert not is_said(alone, none)
    assert not is_said(said, said)
    for before in (alone, none):
        assert is_said(before, said)


@pytest.mark.parametrize(
    ("chooses", "branches", "told"),
    [("s", "runs, given", False), ("s", "given, runs", True), ("n", "runs, given", True), ("k", "runs, given", True)],
)
def test_in_a_branch_with_words_that_nobody_knows(chooses: str, branches: str, told: bool) -> None:
    """It is the same loop where the same number chooses the same branch."""

    def text(chooses: str, branches: str) -> str:
        c = f"c = {STATE} conditional({chooses}, v, v), branch_computations={{{branches}}}"
        return chosen("k = s32[] negate(s)", f'{c}, frontend_attributes={{odd="x"}}', "ROOT r = s32[] copy(i)")

    assert is_said(text("s", "runs, given"), text(chooses, branches)) is told


@pytest.mark.parametrize(
    ("branches", "told"),
    [
        ("true_computation=runs, false_computation=given", False),
        ("false_computation=given, true_computation=runs", False),
        ("false_computation=runs, true_computation=given", True),
        ("true_computation=given, false_computation=runs", True),
    ],
)
def test_in_a_branch_of_what_is_called_with_words_that_nobody_knows(branches: str, told: bool) -> None:
    """Whatever their order in the text."""

    def text(branches: str) -> str:
        kind = f"({STATE}, pred[])"
        inner = (
            f"inner {{\n t = {kind} parameter(0)\n v = {STATE} get-tuple-element(t), index=0\n"
            f" p = pred[] get-tuple-element(t), index=1\n ROOT c = {STATE} conditional(p, v, v), {branches}\n}}\n"
        )
        call = f'c = {STATE} call(t), to_apply=inner, frontend_attributes={{odd="x"}}'
        module = chosen(f"t = {kind} tuple(v, p)", call, "ROOT r = s32[] copy(i)")
        return module.replace("ENTRY", f"{inner}ENTRY", 1)

    assert is_said(text("true_computation=runs, false_computation=given"), text(branches)) is told


def test_what_the_text_says_of_so_many_turns_with_words_that_nobody_knows() -> None:
    """Nobody counts them, so that it stays a promise."""
    head = ["m = s32[] parameter(0)", "a = s32[] parameter(1)"]
    words = ', frontend_attributes={odd="x"}'
    plain, said = (
        parse_module(entry(*head, run("w", "m", "a", words + more), "ROOT r = s32[] copy(w)", before=falls()))
        for more in ("", ', backend_config={"known_trip_count":{"n":"4"}}')
    )
    for before, told in ((plain, True), (said, False)):
        assert is_named(before, said, "promised: known_trip_count of while") is told


def test_what_the_text_says_of_turns_of_which_the_first_is_not_known() -> None:
    """A turn sets the counter to nothing: there is one, or none."""
    given = parts_of(STATE, ["k", "a"])
    functions = (
        f"ends {{\n{given} n = s32[] constant(0)\n ROOT o = pred[] {HERE}\n}}\n"
        f"turn {{\n{given} j = s32[] constant(0)\n d = s32[] add(a, a)\n ROOT r = {STATE} tuple(j, d)\n}}\n"
    )
    head = ["m = s32[] parameter(0)", "a = s32[] parameter(1)"]
    plain, said = (
        parse_module(entry(*head, run("w", "m", "a", more), "ROOT r = s32[] copy(w)", before=functions))
        for more in ("", ', backend_config={"known_trip_count":{"n":"1"}}')
    )
    found = decide(plain, said, "exact")
    assert found.verdict == Verdict.PROVED
    assert "promised: known_trip_count of while" in dict(found.axioms)


@pytest.mark.parametrize(
    "name", ["known_init_step", "known_induction_variable", "dynamic_variable_tuple_indices", "known_init_step alone"]
)
@pytest.mark.parametrize(("begins", "step", "told"), [("z", "one", False), ("o", "one", True), ("z", "two", True)])
def test_what_the_text_says_of_a_state_that_decides_nothing(name: str, begins: str, step: str, told: bool) -> None:
    said = {
        "known_init_step": '"known_init_step":{"init":"0","step":"1"},"known_induction_variable":{"tuple_index":"1"}',
        "known_induction_variable": '"known_induction_variable":{"tuple_index":"1"}',
        "dynamic_variable_tuple_indices": '"dynamic_variable_tuple_indices":["1"]',
        "known_init_step alone": '"known_init_step":{"init":"0","step":"1"}',
    }[name]
    every, name = name.endswith("alone"), name.split()[0]

    def of(begins: str, step: str, other: str) -> str:
        text = met(False, False, f", backend_config={{{said}}}").replace(
            "tuple(z, z, i)", f"tuple(z, {begins}, {other})"
        )
        text = text.replace("g = s32[] add(m, one)", f"two = s32[] constant(2)\n g = s32[] add(m, {step})")
        return text.replace("z = s32[] constant(0)", "z = s32[] constant(0)\n  o = s32[] constant(5)").replace(
            "index=2\n}", "index=0\n}"
        )

    for other, more in (("i", told), ("o", told or every)):  # where it may speak of any state, no other may change
        assert (
            is_named(
                parse_module(of("z", "one", "i")), parse_module(of(begins, step, other)), f"promised: {name} of while"
            )
            is more
        )


@pytest.mark.parametrize(
    ("said", "parts"),
    [
        ('"known_induction_variable":{"tuple_index":"1"}', (1,)),
        ('"known_induction_variable":{"tuple_index":1}', (1,)),
        ('"known_induction_variable":{}', (0,)),
        ('"known_induction_variable":{"tuple_index":"3"}', None),
        ('"known_induction_variable":{"tuple_index":"-1"}', None),
        ('"known_induction_variable":{"tuple_index":"1","more":"3"}', None),
        ('"known_induction_variable":"1"', None),
        ('"known_init_step":{"init":"0","step":"1"}', None),
        ('"known_init_step":{"init":"0","step":"1"},"known_induction_variable":{"tuple_index":"1"}', (1,)),
        ('"known_init_step":{"init":"0","step":"1"},"dynamic_variable_tuple_indices":["1"]', None),
        ('"dynamic_variable_tuple_indices":["2","0"]', (2, 0)),
        ('"dynamic_variable_tuple_indices":["2","x"]', None),
        ('"dynamic_variable_tuple_indices":[]', ()),
        ('"dynamic_variable_tuple_indices":"1"', None),
        ('"dynamic_variable_tuple_indices":["1"],"known_induction_variable":{"tuple_index":"2"}', (1, 2)),
    ],
)
def test_of_which_states_a_text_speaks(said: str, parts: tuple[int, ...] | None) -> None:
    """A field that is not there is 0; of what is not understood it may be any. In a tuple of tuples nobody counts."""
    module = parse_module(met(False, False, f", backend_config={{{said}}}"))
    loop = next(i for i in module.entry.instructions if i.opcode == "while")
    assert states_spoken_of(loop) == parts
    nested = replace(loop, shape=TupleShape((loop.shape, ArrayShape("s32", ()), ArrayShape("s32", ()))))
    assert states_spoken_of(nested) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"known_init_step":{"init":"0","step":"1"}', '"known_init_step":{"init":"0","step":"2"}'),
        ('"known_init_step":{"init":"0","step":"1"}', '"known_init_step":{"init":"1","step":"1"}'),
        ('"dynamic_variable_tuple_indices":["1","2"]', '"dynamic_variable_tuple_indices":["2","1"]'),
    ],
)
def test_what_a_text_says_otherwise_of_the_same_states(before: str, after: str) -> None:
    of = {k: met(False, False, f", backend_config={{{s},{COUNTER}}}") for k, s in ((0, before), (1, after))}
    name = f"promised: {before.split(':')[0][1:-1]} of while"
    for one, other, told in ((0, 0, False), (0, 1, True), (1, 0, True)):
        found = decide(parse_module(of[one]), parse_module(of[other]), "exact")
        assert found.verdict == Verdict.PROVED
        assert (name in dict(found.axioms)) is told


WORDS = f", backend_config={{{COUNTER}}}"
COUNT = ', backend_config={"known_trip_count":{"n":"4"}}'


def test_what_the_text_says_of_a_loop_in_a_branch() -> None:
    """Where only a branch runs it, it says so of the branch."""
    runs = (run("w", "n", "i", WORDS), "ROOT r = s32[] select(p, w, i)")
    text = chosen(*EITHER).replace("body=turn\n", f"body=turn{WORDS}\n")
    assert WORDS in text
    for before, after, told in (
        (text, text, False),
        (text, chosen(*runs), True),
        (chosen(*runs), chosen(*runs), False),
    ):
        assert (
            is_named(parse_module(before), parse_module(after), "promised: known_induction_variable of while") is told
        )


@pytest.mark.parametrize("words", [WORDS, COUNT])
@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (("said",), ("said",), False),
        (("plain",), ("said",), True),
        (("said unused", "plain"), ("said",), True),
        (("said unused", "plain"), ("said unused", "plain"), False),
        (("said",), ("said unused", "plain"), False),
        (("plain",), ("said unused", "plain"), True),
    ],
)
def test_what_the_text_says_of_a_loop_that_nobody_needs(
    before: tuple[str, ...], after: tuple[str, ...], told: bool, words: str
) -> None:
    """It is as good as not said of the same loop where that is needed."""

    def text(*which: str) -> str:
        lines = [run("u" if "unused" in w else "w", "n", "i", words if "said" in w else "") for w in which]
        head = ["i = s32[] parameter(0)", "n = s32[] parameter(1)"]
        return entry(*head, *lines, "ROOT r = s32[] copy(w)", before=falls())

    name = "known_trip_count" if words is COUNT else "known_induction_variable"
    assert is_named(parse_module(text(*before)), parse_module(text(*after)), f"promised: {name} of while") is told


AROUND = {
    "a turn": (
        f"again {{\n{parts_of(OUTER, ['k', 'n', 'i'])} z = s32[] constant(0)\n ROOT o = pred[] compare(k, z), "
        f"direction=GT\n}}\nonce {{\n{parts_of(OUTER, ['k', 'n', 'i'])} u = s32[] constant(1)\n"
        f" j = s32[] subtract(k, u)\n LINES\n ROOT r = {OUTER} tuple(j, n, w)\n}}\n",
        (
            f"v = {OUTER} tuple(a, b, a)",
            f"l = {OUTER} while(v), condition=again, body=once",
            "ROOT r = s32[] get-tuple-element(l), index=2",
        ),
    ),
    "a branch": (
        f"runs {{\n{parts_of(STATE, ['n', 'i'])} LINES\n ROOT r = s32[] copy(w)\n}}\n"
        f"stays {{\n{parts_of(STATE, ['n', 'i'])} ROOT r = s32[] copy(i)\n}}\n",
        (f"v = {STATE} tuple(b, a)", "ROOT c = s32[] conditional(a, v, v), branch_computations={runs, stays}"),
    ),
    "a function": (
        "adds {\n n = s32[] parameter(0)\n i = s32[] parameter(1)\n LINES\n ROOT r = s32[] add(w, n)\n}\n",
        ("s = s32[4] broadcast(a), dimensions={}", "ROOT c = s32[] reduce(s, b), dimensions={0}, to_apply=adds"),
    ),
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize(("before", "told"), [((COUNT, ""), True), ((COUNT, COUNT), False), (("", COUNT), False)])
def test_how_many_turns_are_said_of_a_loop_that_nobody_needs_there(
    around: str, before: tuple[str, str], told: bool
) -> None:
    """What is said first is said of the loop that nobody needs."""
    functions, entry_lines = AROUND[around]

    def text(unused: str, used: str) -> str:
        lines = f"{run('x', 'n', 'i', unused)}\n  {run('w', 'n', 'i', used)}"
        head = ["a = s32[] parameter(0)", "b = s32[] parameter(1)"]
        return entry(*head, *entry_lines, before=falls() + functions.replace("LINES", lines))

    after = parse_module(text("", COUNT))
    assert is_named(parse_module(text(*before)), after, "promised: known_trip_count of while") is told


@pytest.mark.parametrize("words", [WORDS, COUNT])
@pytest.mark.parametrize(("before", "told"), [((True, False), True), ((True, True), False), ((False, True), False)])
def test_what_is_said_of_a_loop_in_a_branch_of_what_nobody_needs(
    before: tuple[bool, bool], told: bool, words: str
) -> None:
    def text(unused: bool, used: bool) -> str:
        given = parts_of(STATE, ["n", "i"])
        functions = f"stays {{\n{given} ROOT r = s32[] copy(i)\n}}\n" + "".join(
            f"runs{k} {{\n{given}  {run('w', 'n', 'i', words if said else '')}\n ROOT r = s32[] copy(w)\n}}\n"
            for k, said in enumerate((unused, used))
        )
        lines = ["a = s32[] parameter(0)", "b = s32[] parameter(1)", f"v = {STATE} tuple(b, a)"]
        lines += [f"c{k} = s32[] conditional(a, v, v), branch_computations={{runs{k}, stays}}" for k in (0, 1)]
        return entry(*lines, "ROOT r = s32[] copy(c1)", before=falls() + functions)

    name = "known_trip_count" if words is COUNT else "known_induction_variable"
    assert is_named(parse_module(text(*before)), parse_module(text(False, True)), f"promised: {name} of while") is told


@pytest.mark.parametrize(("before", "told"), [((COUNT, ""), True), ((COUNT, COUNT), False), (("", COUNT), False)])
def test_how_many_turns_are_said_in_a_function_of_what_nobody_needs(before: tuple[str, str], told: bool) -> None:
    def text(unused: str, used: str) -> str:
        functions = "".join(
            f"adds{k} {{\n n = s32[] parameter(0)\n i = s32[] parameter(1)\n  {run('w', 'n', 'i', said)}\n"
            " ROOT r = s32[] add(w, n)\n}\n"
            for k, said in enumerate((unused, used))
        )
        lines = ["s = s32[4] parameter(0)", "b = s32[] parameter(1)"]
        lines += [f"c{k} = s32[] reduce(s, b), dimensions={{0}}, to_apply=adds{k}" for k in (0, 1)]
        return entry(*lines, "ROOT r = s32[] copy(c1)", before=falls() + functions)

    assert (
        is_named(parse_module(text(*before)), parse_module(text("", COUNT)), "promised: known_trip_count of while")
        is told
    )


@pytest.mark.parametrize("words", [WORDS, COUNT])
@pytest.mark.parametrize("begins", [("n", "i"), ("i", "n")])
def test_what_the_text_says_of_one_of_two_loops_that_nobody_needs(words: str, begins: tuple[str, str]) -> None:
    """Both are run by what is called."""
    head = ["i = s32[] parameter(0)", "n = s32[] parameter(1)"]
    both = (
        "both {\n i = s32[] parameter(0)\n n = s32[] parameter(1)\n"
        + "".join(f"  {run(f'u{k}', begin, 'i', words)}\n" for k, begin in enumerate(begins))
        + " ROOT o = s32[] add(u0, u1)\n}\n"
    )
    texts = [
        entry(*head, *more, run("w", "n", "i", said), "ROOT r = s32[] copy(w)", before=falls() + both)
        for more, said in ((("c = s32[] call(i, n), to_apply=both",), ""), ((), words))
    ]
    found = decide(parse_module(texts[0]), parse_module(texts[1]), "exact")
    assert found.verdict == Verdict.PROVED
    name = "known_trip_count" if words is COUNT else "known_induction_variable"
    assert f"promised: {name} of while" in dict(found.axioms)


def test_what_the_text_says_of_a_loop_that_ends_otherwise() -> None:
    """Of a state that stays as it is, which another loop counts by, or none."""
    given = parts_of(STATE, ["k", "b"])
    loops = f"stays {{\n{given} one = s32[] constant(1)\n j = s32[] add(k, one)\n ROOT r = {STATE} tuple(j, b)\n}}\n"
    for n, bound in enumerate(("b", "one")):
        ends = f"{given} one = s32[] constant(1)\n ROOT o = pred[] compare(k, {bound}), direction=LT"
        loops += f"ends{n} {{\n{ends}\n}}\n"
    head = ["i = s32[] parameter(0)", "z = s32[] constant(0)", f"v = {STATE} tuple(z, i)"]
    one, other = (f"l{n} = {STATE} while(v), condition=ends{n}, body=stays{WORDS}" for n in range(2))
    last = "ROOT r = s32[] get-tuple-element(l0), index=0"
    texts = [entry(*head, *lines, last, before=loops) for lines in ((one,), (one, other))]
    for after, told in ((texts[0], False), (texts[1], True)):
        assert (
            is_named(parse_module(texts[0]), parse_module(after), "promised: known_induction_variable of while") is told
        )


def in_both(first: str, second: str) -> str:
    """The loop in a branch that p chooses, which stands in one that the other number chooses; and then, for nothing, in
    one of the two alone."""
    inner = f"two {{\n t = ({STATE}, pred[]) parameter(0)\n v = {STATE} get-tuple-element(t), index=0\n"
    inner += " p = pred[] get-tuple-element(t), index=1\n"
    inner += f" ROOT c = {STATE} conditional(p, v, v), true_computation=runs, false_computation=given\n}}\n"
    none = f"none {{\n t = ({STATE}, pred[]) parameter(0)\n ROOT v = {STATE} get-tuple-element(t), index=0\n}}\n"
    lines = [
        f"t = ({STATE}, pred[]) tuple(v, p)",
        f"c = {STATE} conditional(s, t, t), branch_computations={{none, two}}",
        "q = s32[] get-tuple-element(c), index=1",
        *([first] if first else []),
        *([second] if second else []),
        "ROOT r = s32[] copy(q)",
    ]
    return chosen(*lines).replace("ENTRY", f"{inner}{none}ENTRY")


P_ALONE = f"a = {STATE} conditional(p, v, v), true_computation=runs, false_computation=given"
S_ALONE = f"b = {STATE} conditional(s, v, v), branch_computations={{given, runs}}"


def test_in_a_branch_in_another_branch() -> None:
    assert not is_said(in_both("", ""), in_both("", ""))
    assert not is_said(in_both(P_ALONE, ""), in_both("", ""))
    for more in ((P_ALONE, ""), ("", S_ALONE)):
        assert is_said(in_both("", ""), in_both(*more))


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ("reduce(i, z), dimensions={0}, to_apply=add", False),
        ("reduce(i, z), dimensions={1}, to_apply=add", True),
        ("reduce(i, o), dimensions={0}, to_apply=add", True),
        ("reduce(k, z), dimensions={0}, to_apply=add", True),
    ],
)
def test_in_functions_that_combine_something_else(other: str, told: bool) -> None:
    head = ["i = s32[4,4] parameter(0)", "k = s32[4,4] parameter(1)", "z = s32[] constant(0)", "o = s32[] constant(1)"]
    once = [*head, "q = s32[4] reduce(i, z), dimensions={0}, to_apply=add"]
    functions = falls() + combined("add")
    more = [f"w = s32[4] {other}", "u = s32[4] subtract(w, w)", "ROOT r = s32[4] add(q, u)"]
    before = entry(*once, "ROOT r = s32[4] copy(q)", before=functions)
    assert is_said(before, entry(*once, *more, before=functions)) is told


def test_in_a_function_in_the_turns_of_another_loop() -> None:
    """What it is given there is a state."""
    f = f"f {{\n x = s32[] parameter(0)\n  {run('y', 'x', 'x')}\n ROOT r = s32[] copy(y)\n}}\n"
    inside = (
        "h = s32[1] broadcast(m), dimensions={}\n e = s32[1] map(h), dimensions={0}, to_apply=f\n w = s32[] reshape(e)"
    )
    once, same, other = (
        turns(*starts, inside=inside).replace("three {", f"{f}three {{", 1)
        for starts in (("s0",), ("s0", "s0"), ("s0", "s1"))
    )
    assert not is_said(once, once)
    assert not is_said(once, same)
    assert is_said(once, other)


def test_in_functions_that_give_the_same() -> None:
    """What the loop begins with differs, and what is made of it is nothing."""
    both = " m = s32[] parameter(0)\n a = s32[] parameter(1)\n"
    functions = falls() + "".join(
        f"{name} {{\n{both}  {run('w', first, second)}\n ROOT o = s32[] add(m, a)\n}}\n"
        for name, first, second in (("f", "m", "a"), ("g", "a", "m"))
    )
    head = ["i = s32[4] parameter(0)", "z = s32[] constant(0)"]
    one, other = (
        entry(*head, f"ROOT q = s32[] reduce(i, z), dimensions={{0}}, to_apply={by}", before=functions) for by in "fg"
    )
    assert not is_said(one, one)
    assert is_said(one, other)


@pytest.mark.parametrize(("first", "second"), [("a", "b"), ("b", "b"), ("a", "a")])
def test_in_functions_that_run_two_loops(first: str, second: str) -> None:
    """Of none of them anything matters, and each may run for ever."""

    def text(first: str, second: str) -> str:
        function = (
            "f {\n a = s32[] parameter(0)\n b = s32[] parameter(1)\n"
            f"  {run('v', first, 'a')}\n  {run('w', second, 'a')}\n ROOT o = s32[] add(a, b)\n}}\n"
        )
        head = ["i = s32[4] parameter(0)", "z = s32[] constant(0)"]
        return entry(*head, "ROOT q = s32[] reduce(i, z), dimensions={0}, to_apply=f", before=falls() + function)

    assert is_said(text("b", "a"), text(first, second)) is False
    assert is_said(text(first, second), text("b", "a")) is (first == second)


@pytest.mark.parametrize(("second", "told"), [("n", False), ("b", True), ("k", True)])
def test_in_a_branch_of_a_branch_of_a_function(second: str, told: bool) -> None:
    """Both selectors count, and what they choose for."""

    def text(second: str) -> str:
        pair = parts_of(STATE, ["a", "b"])
        functions = (
            f"runs {{\n x = s32[] parameter(0)\n  {run('w', 'x', 'x')}\n ROOT y = s32[] copy(x)\n}}\n"
            "stays {\n ROOT x = s32[] parameter(0)\n}\n"
            f"inner {{\n{pair} c = s32[] conditional(b, a, a), branch_computations={{runs, stays}}\n"
            " ROOT y = s32[] copy(a)\n}\n"
            f"leaves {{\n{pair} ROOT y = s32[] copy(a)\n}}\n"
            "add {\n a = s32[] parameter(0)\n b = s32[] parameter(1)\n n = s32[] negate(b)\n k = s32[] add(b, b)\n"
            f" t = {STATE} tuple(a, {second})\n c = s32[] conditional(a, t, t), branch_computations={{inner, leaves}}\n"
            " ROOT s = s32[] add(a, b)\n}\n"
        )
        head = ["i = s32[4] parameter(0)", "z = s32[] constant(0)"]
        return entry(*head, "ROOT q = s32[] reduce(i, z), dimensions={0}, to_apply=add", before=falls() + functions)

    assert is_said(text("n"), text(second)) is told
    assert is_said(text(second), text("n")) is told


@pytest.mark.parametrize(("bound", "found"), [("n", Verdict.PROVED), ("j", Verdict.UNKNOWN)])
def test_in_what_decides_on_one_more_turn_its_states_are_its_own(bound: str, found: Verdict) -> None:
    """A loop counts up to a state of the loop around it."""

    def text(bound: str) -> str:
        inner, outer = parts_of(STATE, ["j", "n"]), parts_of(STATE, ["k", "a"])
        functions = (
            f"counts {{\n{inner} ROOT o = pred[] compare(j, {bound}), direction=LT\n}}\n"
            f"up {{\n{inner} one = s32[] constant(1)\n i = s32[] add(j, one)\n ROOT r = {STATE} tuple(i, n)\n}}\n"
            f"again {{\n{outer} z = s32[] constant(0)\n v = {STATE} tuple(z, k)\n"
            f" l = {STATE} while(v), condition=counts, body=up\n w = s32[] get-tuple-element(l), index=0\n"
            " ten = s32[] constant(10)\n ROOT o = pred[] compare(w, ten), direction=LT\n}\n"
            f"doubles {{\n{outer} one = s32[] constant(1)\n i = s32[] add(k, one)\n d = s32[] add(a, a)\n"
            f" ROOT r = {STATE} tuple(i, d)\n}}\n"
        )
        lines = ["x = s32[] parameter(0)", "y = s32[] parameter(1)", f"v = {STATE} tuple(x, y)"]
        lines.append(f"l = {STATE} while(v), condition=again, body=doubles")
        return entry(*lines, "ROOT r = s32[] get-tuple-element(l), index=1", before=functions)

    for texts in ((text("n"), text(bound)), (text(bound), text("n"))):
        assert decide(parse_module(texts[0]), parse_module(texts[1]), "exact").verdict == found


@pytest.mark.parametrize(("step", "told"), [("b", True), ("one", False)])
def test_from_states_that_stand_behind_another(step: str, told: bool) -> None:
    """What decides is followed by its own states, whatever stands before them: b is 0 at first and stays so."""
    state = "(f32[2], s32[], s32[])"
    given = parts_of(state, ["x", "k", "b"])
    functions = (
        f"more {{\n{given} z = s32[] constant(0)\n ROOT o = pred[] compare(k, z), direction=NE\n}}\n"
        f"once {{\n{given} y = f32[2] negate(x)\n one = s32[] constant(1)\n j = s32[] subtract(k, {step})\n"
        f" m = s32[] multiply(b, b)\n ROOT r = {state} tuple(y, j, m)\n}}\n"
    )
    head = ["p = f32[2] parameter(0)"]
    loop = ["o = s32[] constant(1)", "z = s32[] constant(0)", f"v = {state} tuple(p, o, z)"]
    loop += [f"l = {state} while(v), condition=more, body=once"]
    once, more = (entry(*head, *lines, "ROOT r = f32[2] copy(p)", before=functions) for lines in ([], loop))
    assert is_said(once, more) is told


def test_behind_a_loop_that_stands_alone() -> None:
    """It has begun and ended before those around it do."""
    once, more = (
        turns(*starts).replace("v0 = ", f"{run('first', 'i', 'i')}\n  v0 = ") for starts in (("s0",), ("s0", "s1"))
    )
    assert "first.l = " in once
    assert not is_said(once, once)
    assert not is_said(more, more)
    assert is_said(once, more)


def test_in_a_branch_that_a_state_chooses() -> None:
    """Which the loop itself does not depend on."""
    inside = (
        f"five = s32[] constant(5)\n v = {STATE} tuple(five, one)\n"
        f" c = {STATE} conditional(m, v, v), branch_computations={{given, runs}}\n"
        " w = s32[] get-tuple-element(c), index=1"
    )
    both = f"given {{\n ROOT v = {STATE} parameter(0)\n}}\n"
    both += f"runs {{\n v = {STATE} parameter(0)\n ROOT l = {STATE} while(v), condition=ends, body=turn\n}}\n"
    once, more = (
        turns(*starts, inside=inside).replace("three {", f"{both}three {{", 1) for starts in (("s0",), ("s0", "s1"))
    )
    assert not is_said(once, once)
    assert is_said(once, more)


def test_what_a_loop_begins_with_that_takes_no_turn() -> None:
    """The one ends at once; the other one, which gives what it begins with, is another loop."""
    given = parts_of(OUTER, ["k", "m", "a"])
    never = f"never {{\n{given} ROOT o = pred[] compare(k, k), direction=NE\n}}\n"
    never += f"next {{\n{given} j = s32[] add(k, m)\n d = s32[] add(m, a)\n e = s32[] add(a, k)\n"
    never += f" ROOT r = {OUTER} tuple(j, d, e)\n}}\n"
    lines = [
        run("w", "n", "i"),
        f"v = {OUTER} tuple(i, w, n)",
        f"l = {OUTER} while(v), condition=never, body=next",
        "ROOT r = s32[] get-tuple-element(l), index=0",
    ]
    head = ["i = s32[] parameter(0)", "n = s32[] parameter(1)"]
    assert is_said(entry(*head, "ROOT r = s32[] copy(i)"), entry(*head, *lines, before=falls() + never))


def test_one_turn_later_in_a_branch() -> None:
    """Both loops are taken one turn further: neither is shown to end by that."""
    seven = "e = s32[] constant(7)"
    state = f"y = {STATE} tuple(e, i)"
    branch = f"c = {STATE} conditional(p, y, y), true_computation=runs, false_computation=given"
    before = parse_module(chosen(seven, state, branch, "ROOT r = s32[] get-tuple-element(c), index=1"))
    after = parse_module(chosen(seven, run("w", "e", "i"), "ROOT r = s32[] select(p, w, i)"))
    steps = [["arguments"], ["same"], ["turn", 0], ["same"], ["turn", 1], ["same"], ["same"], ["same"]]
    found = recheck(before, after, Certificate("exact", steps))
    assert found.verdict == Verdict.PROVED
    assert "assumed: a loop ends" in dict(found.axioms)


def test_in_a_branch_of_a_function() -> None:
    """What chooses it is given to the function."""
    both = " k = s32[] parameter(0)\n a = s32[] parameter(1)\n"
    texts = []
    for chooses in ("k", "a"):
        before = turned_if("w = s32[] copy(a)").removeprefix("HloModule m\n\n").split("three {")[0]
        choice = f"conditional({chooses}, v, v), branch_computations={{given, runs}}"
        before += f"f {{\n{both} v = {STATE} tuple(k, k)\n d = {STATE} {choice}\n ROOT o = s32[] add(k, a)\n}}\n"
        head = ["i = s32[4] parameter(0)", "z = s32[] constant(0)"]
        texts.append(entry(*head, "ROOT q = s32[] reduce(i, z), dimensions={0}, to_apply=f", before=before))
    assert not is_said(texts[0], texts[0])
    assert is_said(*texts)


def test_how_many_turns_are_said_in_a_branch() -> None:
    """Whoever runs it only there says so only there."""
    said = ', backend_config={"known_trip_count":{"n":"4"}}'
    runs = (run("w", "n", "i", said), "ROOT r = s32[] select(p, w, i)")
    text = chosen(*EITHER).replace("body=turn\n", f"body=turn{said}\n")
    assert said in text
    for before, after, told in ((text, text, False), (text, chosen(*runs), True), (chosen(*runs), text, False)):
        assert is_named(parse_module(before), parse_module(after), "promised: known_trip_count of while") is told


@pytest.mark.parametrize(("met_before", "told"), [("z", False), ("o", True)])
def test_from_another_number_in_what_decides(met_before: str, told: bool) -> None:
    text = met(False, True).replace("z = s32[] constant(0)", "z = s32[] constant(0)\n  o = s32[] constant(1)")
    assert is_said(text, text.replace("tuple(z, z, i)", f"tuple(z, {met_before}, i)")) is told
    assert is_said(met(False, False), met(False, True))


@pytest.mark.parametrize(("begins", "told"), [("z", False), ("o", True)])
def test_from_what_a_state_of_a_state_leads_to(begins: str, told: bool) -> None:
    """The loop begins with m, to which h is added in every turn, to which g is."""
    four = "(s32[], s32[], s32[], s32[], s32[])"
    given = parts_of(four, ["k", "m", "h", "g", "a"])
    before = (
        f"{falls()}once {{\n{given} n = s32[] constant(3)\n ROOT o = pred[] compare(k, n), direction=LT\n}}\n"
        f"around {{\n{given}  {BESIDE}\n one = s32[] constant(1)\n j = s32[] add(k, one)\n e = s32[] add(m, h)\n"
        f" f = s32[] add(h, g)\n d = s32[] add(a, a)\n ROOT r = {four} tuple(j, e, f, g2, d)\n}}\n"
    ).replace(
        " ROOT r = (s32[], s32[], s32[], s32[], s32[]) tuple(j,", f" g2 = s32[] add(g, g)\n ROOT r = {four} tuple(j,"
    )

    def of(begins: str) -> str:
        return entry(
            "i = s32[] parameter(0)",
            "z = s32[] constant(0)",
            "o = s32[] constant(1)",
            f"v = {four} tuple(z, z, z, {begins}, i)",
            f"l = {four} while(v), condition=once, body=around",
            "ROOT r = s32[] get-tuple-element(l), index=4",
            before=before,
        )

    assert is_said(of("z"), of(begins)) is told
