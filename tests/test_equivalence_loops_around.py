"""Whether a loop ends, by what stands around it: other loops, branches, functions that an operation applies.

The loop falls by two until it is nothing: it ends for even numbers alone, and nobody can count its turns.
"""

from __future__ import annotations

import pytest
from red_pairs import entry, parts_of

from hloproof.equivalence import Certificate, decide, recheck
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Verdict

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
