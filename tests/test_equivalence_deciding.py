"""What is promised of what decides whether a loop ends, of which nobody reads anything: it licenses the same of the
same loop, and nothing of another, nor of what is read."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from red_pairs import ENDLESS, OTHER_SORTED, PLAIN, PROMISE, SORTED, entry, is_named, parts_of

from hloproof.models.hlo.parser import parse_module

COUNT = ', backend_config={"known_trip_count":{"n":"9"}}'
TRIPS = "promised: known_trip_count of while"
ODD = ', frontend_attributes={odd="1"}'

NUMBER = ("l@ = s32[1] slice(OF), slice={[0:1]}", "k@ = s32[] reshape(l@)")
NK, NV = "(s32[], s32[])", "(s32[], s32[4])"
LESS = "z0 = s32[] constant(9)\n ROOT o = pred[] compare(n, z0), direction=LT"
UP = "one = s32[] constant(1)\n j = s32[] add(n, one)"
FLIES = "((s32[4]), s32[4])"
ADDS = "a = s32[] parameter(0)\n b = s32[] parameter(1)\n"
ENDS = "w = s32[] while(a), condition=differs, body=up2\n ROOT r = s32[] add(a, b)\n"

WAYS: dict[str, tuple[str, tuple[str, ...]]] = {
    "what it begins with": ("", (*NUMBER, "w@ = s32[] while(k@), condition=differs, body=up2")),
    "what it is asked for a turn later": (
        f"asks {{\n{parts_of(NK, 'nk')} {LESS}\n}}\n"
        f"turns {{\n{parts_of(NK, 'nk')} {UP}\n ROOT r = {NK} tuple(k, j)\n}}\n",
        (*NUMBER, f"t@ = {NK} tuple(n, k@)", f"w@ = {NK} while(t@), condition=asks, body=turns"),
    ),
    "what no turn changes": (
        f"asks {{\n{parts_of(NK, 'nk')} ROOT o = pred[] compare(n, k), direction=NE\n}}\n"
        f"turns {{\n{parts_of(NK, 'nk')} {UP}\n ROOT r = {NK} tuple(j, k)\n}}\n",
        (*NUMBER, f"t@ = {NK} tuple(n, k@)", f"w@ = {NK} while(t@), condition=asks, body=turns"),
    ),
    "a call": ("", ("w@ = s32[4] call(OF), to_apply=runs",)),
    "a fusion": ("", ("w@ = s32[4] fusion(OF), kind=kLoop, calls=runs",)),
    "what flies": ("", (f"f@ = {FLIES} async-start(OF), calls=runs", "w@ = s32[4] async-done(f@)")),
    "what a branch is given": ("", ("w@ = s32[4] conditional(s, OF, x), branch_computations={runs, copies}",)),
    "what the last branch is given": ("", ("w@ = s32[4] conditional(s, x, OF), branch_computations={copies, runs}",)),
    "what chooses a branch": ("", (*NUMBER, "w@ = s32[4] conditional(k@, x, x), branch_computations={runs, copies}")),
    "what chooses the last branch": (
        "",
        (*NUMBER, "w@ = s32[4] conditional(k@, x, x), branch_computations={copies, runs}"),
    ),
    "what chooses a branch in a branch": (
        f"outer {{\n{parts_of(NV, 'kv')}"
        " ROOT c = s32[4] conditional(k, v, v), branch_computations={runs, copies}\n}\n"
        f"stays {{\n{parts_of(NV, 'kv')} ROOT c = s32[4] copy(v)\n}}\n",
        (*NUMBER, f"t@ = {NV} tuple(k@, x)", "w@ = s32[4] conditional(s, t@, t@), branch_computations={outer, stays}"),
    ),
    "what a turn is given": (
        f"asks {{\n{parts_of(NV, 'nv')} {LESS}\n}}\n"
        f"turns {{\n{parts_of(NV, 'nv')} {UP}\n c = s32[4] call(v), to_apply=runs\n ROOT r = {NV} tuple(j, v)\n}}\n",
        (f"t@ = {NV} tuple(n, OF)", f"w@ = {NV} while(t@), condition=asks, body=turns"),
    ),
    "what a turn is given a turn later": (
        f"asks {{\n{parts_of('(s32[], s32[4], s32[4])', 'nvu')} {LESS}\n}}\n"
        f"turns {{\n{parts_of('(s32[], s32[4], s32[4])', 'nvu')} {UP}\n c = s32[4] call(v), to_apply=runs\n"
        " ROOT r = (s32[], s32[4], s32[4]) tuple(j, u, u)\n}\n",
        (
            "t@ = (s32[], s32[4], s32[4]) tuple(n, x, OF)",
            "w@ = (s32[], s32[4], s32[4]) while(t@), condition=asks, body=turns",
        ),
    ),
    "what is asked with a loop": (
        f"asks {{\n{parts_of(NV, 'nv')} c = s32[4] call(v), to_apply=runs\n {LESS}\n}}\n"
        f"turns {{\n{parts_of(NV, 'nv')} {UP}\n ROOT r = {NV} tuple(j, v)\n}}\n",
        (f"t@ = {NV} tuple(n, OF)", f"w@ = {NV} while(t@), condition=asks, body=turns"),
    ),
    "what a function is given": (
        f"ends {{\n{ADDS}{ENDS}}}\n",
        ("w@ = s32[] reduce(OF, s), dimensions={0}, to_apply=ends",),
    ),
    "what a function begins with": (
        f"ends {{\n{ADDS}{ENDS}}}\n",
        (*NUMBER, "w@ = s32[] reduce(x, k@), dimensions={0}, to_apply=ends"),
    ),
    "what a function in a function is given": (
        f"ends {{\n{ADDS}{ENDS}}}\nfolds {{\n{ADDS} e = s32[4] broadcast(a), dimensions={{}}\n"
        " c = s32[] reduce(e, b), dimensions={0}, to_apply=ends\n ROOT r = s32[] add(a, b)\n}\n",
        ("w@ = s32[] reduce(OF, s), dimensions={0}, to_apply=folds",),
    ),
    "what is called beside words that nobody knows": ("", (f"w@ = s32[4] call(OF), to_apply=runs{ODD}",)),
    "what chooses beside words that nobody knows": (
        "",
        (*NUMBER, f"w@ = s32[4] conditional(k@, x, x), branch_computations={{runs, copies}}{ODD}"),
    ),
    "a loop beside words that nobody knows": ("", (*NUMBER, f"w@ = s32[] while(k@), condition=differs, body=up2{ODD}")),
}

OTHER = (
    "away {\n  k = s32[] parameter(0)\n  z0 = s32[] constant(9)\n  ROOT o = pred[] compare(k, z0), direction=GT\n}\n"
)
BESIDE: dict[str, tuple[tuple[str, ...], str, bool]] = {
    "nothing": ((), "negate(x)", True),
    "the same loop": (("SAME",), "negate(x)", False),
    "another loop": (
        ("m = s32[1] slice(a), slice={[0:1]}", "i = s32[] reshape(m)", "u = s32[] while(i), condition=away, body=up2"),
        "negate(x)",
        True,
    ),
    "what is read": ((), "negate(a)", False),
    "the same loop, and it is read": (("SAME",), "negate(c)", True),
}
"""What stands beside it that is made of the same promise before, what the result is, and whether a proof names it."""


def tells(first: Sequence[str], last: Sequence[str], functions: str, root: str = "negate(x)") -> bool:
    """Whether a proof names what the last lines, which are made of `c`, promise only after; the first are made of the
    same promise, as `a`, before as well."""
    head = ["s = s32[] parameter(0)", "x = s32[4] parameter(1)", "n = s32[] parameter(2)"]
    head += [f"{name} = s32[4] call(x), to_apply={f}" for name, f in (("a", "sorted"), ("b", "plain"), ("c", "SAID"))]
    text = entry(*head, *first, *last, f"ROOT r = s32[4] {root}", before=PLAIN + SORTED + ENDLESS + OTHER + functions)
    before, after = (parse_module(text.replace("SAID", said)) for said in ("plain", "sorted"))
    return is_named(before, after, PROMISE)


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("way", WAYS)
def test_what_is_promised_of_what_decides_on_a_loop(way: str, beside: str) -> None:
    functions, lines = WAYS[way]
    more, root, told = BESIDE[beside]
    same = [line.replace("@", "0").replace("OF", "a") for line in lines] if more == ("SAME",) else more
    last = [line.replace("@", "1").replace("OF", "c") for line in lines]
    assert tells(same, last, functions, root) is told


@pytest.mark.parametrize("way", WAYS)
def test_what_is_promised_of_what_decides_on_nothing(way: str) -> None:
    """The loops stand there, and are made of something else."""
    functions, lines = WAYS[way]
    assert not tells([], [line.replace("@", "1").replace("OF", "x") for line in lines], functions)


ASKS = f"less {{\n{parts_of(NK, 'nk')} {LESS}\n}}\n"
TURNS = f"up {{\n{parts_of(NK, 'nk')} {UP}\n i = s32[] subtract(k, j)\n ROOT r = {NK} tuple(j, i)\n}}\n"
COUNTING = ASKS + TURNS


def with_loop(function: str) -> str:
    """The same, by another name, with a loop that hangs on how many turns were before."""
    return "more" + function.replace(" ROOT", " w = s32[] while(k), condition=differs, body=up2\n ROOT")


COUNTED: dict[str, tuple[str, tuple[str, ...], str]] = {
    "what another begins with": (
        "",
        ("k@ = s32[] get-tuple-element(w@), index=1", "d@ = s32[] while(k@), condition=differs, body=up2"),
        "less, body=up",
    ),
    "in its turns": (with_loop(TURNS), (), "less, body=moreup"),
    "in what asks for a turn": (with_loop(ASKS), (), "moreless, body=up"),
}


@pytest.mark.parametrize(
    ("same", "root", "told"), [(False, "n", True), (True, "n", False), (False, "p", False), (True, "q", True)]
)
@pytest.mark.parametrize("way", COUNTED)
def test_how_many_turns_are_said_where_they_decide_on_another_loop(way: str, same: bool, root: str, told: bool) -> None:
    functions, lines, by = COUNTED[way]
    head = ["n = s32[] parameter(0)", "k = s32[] parameter(1)", f"t = {NK} tuple(n, k)"]
    head += [f"w0 = {NK} while(t), condition={by if same else 'less, body=up'}{COUNT}"]
    head += [line.replace("@", "0") for line in lines if same]
    head += [f"w1 = {NK} while(t), condition={by}SAID", *(line.replace("@", "1") for line in lines)]
    head += ["p = s32[] get-tuple-element(w0), index=1", "q = s32[] get-tuple-element(w1), index=1"]
    text = entry(*head, f"ROOT r = s32[] negate({root})", before=ENDLESS + COUNTING + functions)
    before, after = (parse_module(text.replace("SAID", said)) for said in ("", COUNT))
    assert is_named(before, after, TRIPS) is told


@pytest.mark.parametrize(("first", "told"), [("adds", True), ("ends", False)])
def test_what_an_operation_promises_whose_function_has_a_loop(first: str, told: bool) -> None:
    """How often it is applied, and to what, hangs on the promise, which is about the indices alone."""
    functions = ENDLESS + f"ends {{\n{ADDS}{ENDS}}}\nadds {{\n{ADDS} ROOT r = s32[] add(a, b)\n}}\n"
    lines = ["x = s32[4] parameter(0)", "i = s32[2,1] constant({{2},{1}})", "u = s32[2] constant({5, 6})"]
    scatter = (
        "s32[4] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
        "index_vector_dim=1, to_apply="
    )
    lines += [f"w0 = {scatter}{first}, unique_indices=true", f"w1 = {scatter}endsSAID", "ROOT r = s32[4] negate(x)"]
    text = entry(*lines, before=functions)
    before, after = (parse_module(text.replace("SAID", said)) for said in ("", ", unique_indices=true"))
    assert is_named(before, after, "promised: unique_indices of scatter") is told


@pytest.mark.parametrize(("first", "told"), [("plain", True), ("looping", False)])
def test_how_many_turns_are_said_of_what_a_function_is_given_again(first: str, told: bool) -> None:
    """What it gives it is applied to, so that it decides on another loop there."""

    def counts(name: str, said: str, more: str) -> str:
        loop = f" t = {NK} tuple(a, b)\n w = {NK} while(t), condition=less, body=up{said}\n"
        return f"{name} {{\n{ADDS}{loop}{more} ROOT p = s32[] get-tuple-element(w), index=1\n}}\n"

    ends = " v = s32[] while(a), condition=differs, body=up2\n"
    functions = counts("plain", COUNT, "") + counts("looping", COUNT, ends) + counts("said", "SAID", ends)
    lines = ["x = s32[4] parameter(0)", "n = s32[] parameter(1)"]
    lines += [f"e{k} = s32[] reduce(x, n), dimensions={{0}}, to_apply={f}" for k, f in enumerate((first, "said"))]
    text = entry(*lines, "ROOT r = s32[] negate(n)", before=ENDLESS + COUNTING + functions)
    before, after = (parse_module(text.replace("SAID", said)) for said in ("", COUNT))
    assert is_named(before, after, TRIPS) is told


IN_BRANCH = "w@ = s32[4] conditional(s, OF, x), branch_computations={runs, copies}"
LAST_BRANCH = "w@ = s32[4] conditional(s, x, OF), branch_computations={copies, runs}"
ALWAYS = "w@ = s32[4] call(OF), to_apply=runs"
CHOSEN = "\n  ".join((*NUMBER, "w@ = s32[4] conditional(k@, x, x), branch_computations={runs, copies}"))


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [
        (ALWAYS, IN_BRANCH, False),
        (IN_BRANCH, ALWAYS, True),
        (IN_BRANCH, IN_BRANCH, False),
        (IN_BRANCH, LAST_BRANCH, True),
        (IN_BRANCH.replace("(s", "(n"), IN_BRANCH, True),
        (CHOSEN, CHOSEN, False),
        (CHOSEN.replace("runs, copies", "copies, runs"), CHOSEN, True),
    ],
)
def test_what_is_promised_of_what_decides_on_a_loop_in_a_branch(first: str, last: str, told: bool) -> None:
    """It matters where the loop is run."""
    one, other = first.replace("OF", "a").replace("@", "0"), last.replace("OF", "c").replace("@", "1")
    assert tells([one], [other], "") is told


UNTIL = f"asks {{\n{parts_of(NK, 'nk')} ROOT o = pred[] compare(n, k), direction=NE\n}}\n"
COUNTS = f"turns {{\n{parts_of(NK, 'nk')} {UP}\n ROOT r = {NK} tuple(j, k)\n}}\n"
TURNED = UNTIL + COUNTS + "".join(with_loop(f).replace("while(k)", "while(n)") for f in (UNTIL, COUNTS))


def number(at: int, of: str) -> list[str]:
    """The lines that make of an array the number that something hangs on."""
    return [line.replace("@", str(at)).replace("OF", of) for line in NUMBER]


@pytest.mark.parametrize("last", ["asks, body=moreturns", "moreasks, body=turns"])
@pytest.mark.parametrize("same", [False, True])
def test_what_is_promised_of_what_decides_on_turns_in_which_a_loop_is(last: str, same: bool) -> None:
    """Of how often it is run, and not only of whether there is one turn more."""

    def lines(at: int, of: str, by: str) -> list[str]:
        return [*number(at, of), f"t{at} = {NK} tuple(n, k{at})", f"w{at} = {NK} while(t{at}), condition={by}"]

    assert tells(lines(0, "a", last if same else "asks, body=turns"), lines(1, "c", last), TURNED) is not same


@pytest.mark.parametrize("same", [False, True])
def test_what_is_promised_of_what_chooses_whether_there_are_turns_in_which_a_loop_is(same: bool) -> None:
    functions = TURNED + "".join(
        f"{name} {{\n t = {NK} parameter(0)\n w = {NK} while(t), condition=asks, body={by}\n"
        f" ROOT r = {NK} copy(t)\n}}\n"
        for name, by in (("few", "turns"), ("all", "moreturns"))
    )

    def lines(at: int, of: str, by: str) -> list[str]:
        chosen = f"w{at} = {NK} conditional(k{at}, t{at}, t{at}), branch_computations={{{by}, few}}"
        return [*number(at, of), f"t{at} = {NK} tuple(n, n)", chosen]

    assert tells(lines(0, "a", "all" if same else "few"), lines(1, "c", "all"), functions) is not same


VU, NVU = "(s32[4], s32[4])", "(s32[], s32[4], s32[4])"
NUMBERED = " l = s32[1] slice(v), slice={[0:1]}\n k = s32[] reshape(l)\n"
TAKES = f"takes {{\n{parts_of(VU, 'vu')} c = s32[4] call(v), to_apply=runs\n ROOT r = s32[4] copy(u)\n}}\n"
NOT_BY: dict[str, tuple[str, tuple[str, ...]]] = {
    "a part that a turn changes": (
        f"asks {{\n{parts_of(NVU, 'nvu')}{NUMBERED} ROOT o = pred[] compare(n, k), direction=NE\n}}\n"
        f"turns {{\n{parts_of(NVU, 'nvu')} {UP}\n m = s32[4] negate(u)\n ROOT r = {NVU} tuple(j, v, m)\n}}\n",
        (f"t@ = {NVU} tuple(n, OF, BY)", f"w@ = {NVU} while(t@), condition=asks, body=turns"),
    ),
    "a part that a turn of a loop around changes": (
        f"asks {{\n{parts_of(NVU, 'nvu')} {LESS}\n}}\nturns {{\n{parts_of(NVU, 'nvu')} {UP}\n m = s32[4] negate(u)\n"
        f" c = s32[4] call(v), to_apply=runs\n ROOT r = {NVU} tuple(j, v, m)\n}}\n",
        (f"t@ = {NVU} tuple(n, OF, BY)", f"w@ = {NVU} while(t@), condition=asks, body=turns"),
    ),
    "what a call is given beside": (TAKES, (f"t@ = {VU} tuple(OF, BY)", "w@ = s32[4] call(t@), to_apply=takes")),
    "what flies and is given beside": (
        TAKES,
        (
            f"t@ = {VU} tuple(OF, BY)",
            f"f@ = (({VU}), s32[4]) async-start(t@), calls=takes",
            "w@ = s32[4] async-done(f@)",
        ),
    ),
    "what a branch is given beside": (
        TAKES + f"stays {{\n{parts_of(VU, 'vu')} ROOT r = s32[4] copy(u)\n}}\n",
        (f"t@ = {VU} tuple(OF, BY)", "w@ = s32[4] conditional(s, t@, t@), branch_computations={takes, stays}"),
    ),
    "what another branch is given": ("", ("w@ = s32[4] conditional(s, OF, BY), branch_computations={runs, copies}",)),
    "what chooses another branch": (
        "",
        (
            "w@ = s32[4] call(OF), to_apply=runs",
            *(line.replace("OF", "BY") for line in NUMBER),
            "v@ = s32[4] conditional(k@, x, x), branch_computations={copies, copies}",
        ),
    ),
}


@pytest.mark.parametrize(("first", "told"), [("ba", True), ("ab", False)])
@pytest.mark.parametrize("way", NOT_BY)
def test_what_is_promised_of_what_stands_beside_what_decides(way: str, first: str, told: bool) -> None:
    """Of the two that the first loop is given, which are equal, the one decides."""
    functions, lines = NOT_BY[way]
    one, other = (
        [line.replace("@", str(at)).replace("OF", given[0]).replace("BY", given[1]) for line in lines]
        for at, given in enumerate((first, "cb"))
    )
    assert tells(one, other, functions) is told


@pytest.mark.parametrize("way", ["what it begins with", "what no turn changes"])
def test_what_is_promised_of_what_decides_on_a_loop_that_says_how_many_turns_it_takes(way: str) -> None:
    """Whoever runs it may ask the condition all the same."""
    functions, lines = WAYS[way]
    counted = [line + COUNT if "while" in line else line for line in lines]
    first, last = ([line.replace("@", at).replace("OF", of) for line in counted] for at, of in ("0a", "1c"))
    assert tells([], last, functions)
    assert not tells(first, last, functions)


@pytest.mark.parametrize(("first", "told"), [("folds, copies", False), ("copies, folds", True)])
def test_what_is_promised_of_what_decides_on_a_loop_in_a_function_in_a_branch(first: str, told: bool) -> None:
    functions = (
        f"ends {{\n{ADDS}{ENDS}}}\nfolds {{\n v = s32[4] parameter(0)\n z = s32[] constant(1)\n"
        " q = s32[] reduce(v, z), dimensions={0}, to_apply=ends\n ROOT r = s32[4] copy(v)\n}\n"
    )
    one, other = (
        f"w{at} = s32[4] conditional(s, {of}, {of}), branch_computations={{{by}}}"
        for at, of, by in ((0, "a", first), (1, "c", "folds, copies"))
    )
    assert tells([one], [other], functions) is told


@pytest.mark.parametrize(("first", "told"), [("fewer", True), ("asks", False)])
def test_what_is_promised_of_what_decides_on_a_loop_in_the_turns_of_another(first: str, told: bool) -> None:
    """It is the same only in the same turns."""
    asks = f"asks {{\n{parts_of(NV, 'nv')} {LESS}\n}}\n"
    functions = asks + asks.replace("asks", "fewer").replace("(9)", "(8)")
    functions += (
        f"turns {{\n{parts_of(NV, 'nv')} {UP}\n c = s32[4] call(v), to_apply=runs\n ROOT r = {NV} tuple(j, v)\n}}\n"
    )
    first_lines = [f"t0 = {NV} tuple(n, a)", f"w0 = {NV} while(t0), condition={first}, body=turns"]
    last_lines = [f"t1 = {NV} tuple(n, c)", f"w1 = {NV} while(t1), condition=asks, body=turns"]
    assert tells(first_lines, last_lines, functions) is told


@pytest.mark.parametrize(
    ("given", "of", "words", "told"),
    [
        ("x, OF", "v", "", False),
        ("x, OF", "v", ODD, True),
        ("OF, x", "v", "", True),
        ("OF, x", "v", ODD, True),
        ("OF, x", "u", "", False),
        ("OF, x", "u", ODD, True),
    ],
)
def test_what_is_promised_of_what_is_given_beside_words_that_nobody_knows(
    given: str, of: str, words: str, told: bool
) -> None:
    """They may let a loop hang on any of it."""
    functions = (
        f"takes {{\n  v = s32[4] parameter(0)\n  u = s32[4] parameter(1)\n  c = s32[4] call({of}), to_apply=runs\n"
        "  ROOT r = s32[4] copy(u)\n}\n"
    )
    last = f"w = s32[4] call({given.replace('OF', 'c')}), to_apply=takes{words}"
    assert tells([], [last], functions) is told


def counted_in_function(name: str, said: str, more: str) -> str:
    """A function that an operation applies, with a loop of which nobody reads anything, and perhaps more."""
    loop = f" t = {NK} tuple(a, b)\n w = {NK} while(t), condition=less, body=up{said}\n"
    return f"{name} {{\n{ADDS}{loop} p = s32[] get-tuple-element(w), index=1\n{more} ROOT r = s32[] add(a, b)\n}}\n"


INNER = " v = s32[] while(p), condition=differs, body=up2\n"


@pytest.mark.parametrize("root", ["n", "e0"])
@pytest.mark.parametrize(("more", "told"), [("", True), (INNER, False)])
def test_how_many_turns_are_said_where_they_decide_on_another_loop_in_a_function(
    more: str, told: bool, root: str
) -> None:
    """That what the operation gives is read says nothing of what nobody reads in the function."""
    functions = counted_in_function("first", COUNT, more) + counted_in_function("last", "SAID", INNER)
    lines = ["x = s32[4] parameter(0)", "n = s32[] parameter(1)"]
    lines += [f"e{k} = s32[] reduce(x, n), dimensions={{0}}, to_apply={f}" for k, f in enumerate(("first", "last"))]
    text = entry(*lines, f"ROOT r = s32[] negate({root})", before=ENDLESS + COUNTING + functions)
    before, after = (parse_module(text.replace("SAID", said)) for said in ("", COUNT))
    assert is_named(before, after, TRIPS) is told


@pytest.mark.parametrize(("more", "told"), [("", True), (INNER, False)])
def test_how_many_turns_are_said_in_a_branch_of_a_function_in_turns(more: str, told: bool) -> None:
    """A function is read once, and the turn in which it is applied twice."""
    functions = "".join(
        counted_in_function(name, said, "").replace(
            " ROOT",
            " o = s32[] conditional(a, p, b), branch_computations={same, same}\n"
            + inner.replace("while(p)", "while(o)")
            + " ROOT",
        )
        for name, said, inner in (("first", COUNT, more), ("last", "SAID", INNER))
    )
    functions += "same {\n k = s32[] parameter(0)\n ROOT r = s32[] negate(k)\n}\n"
    state = "(s32[], s32[4], s32[])"
    for name in ("first", "last"):
        functions += (
            f"turns{name} {{\n{parts_of(state, 'nxs')} {UP}\n"
            f" e = s32[] reduce(x, j), dimensions={{0}}, to_apply={name}\n"
            f" ROOT r = {state} tuple(j, x, s)\n}}\n"
        )
    functions += f"asks {{\n{parts_of(state, 'nxs')} {LESS}\n}}\n"
    lines = ["x = s32[4] parameter(0)", "n = s32[] parameter(1)", f"t = {state} tuple(n, x, n)"]
    lines += [f"w{k} = {state} while(t), condition=asks, body=turns{f}" for k, f in enumerate(("first", "last"))]
    text = entry(*lines, "ROOT r = s32[] negate(n)", before=ENDLESS + COUNTING + functions)
    before, after = (parse_module(text.replace("SAID", said)) for said in ("", COUNT))
    assert is_named(before, after, TRIPS) is told


def test_a_function_that_stands_twice_says_the_same_of_each_of_its_loops() -> None:
    """What is said in one use decides on nothing in the other."""
    functions = counted_in_function("one", COUNT, INNER) + counted_in_function("other", COUNT, INNER)
    lines = ["x = s32[4] parameter(0)", "n = s32[] parameter(1)"]
    lines += [
        f"e{k} = s32[] reduce(x, {of}), dimensions={{0}}, to_apply={f}"
        for k, of, f in ((0, "n", "one"), (1, "m", "SAID"))
    ]
    text = entry(
        lines[0],
        lines[1],
        "m = s32[] negate(n)",
        *lines[2:],
        "ROOT r = s32[] copy(m)",
        before=ENDLESS + COUNTING + functions,
    )
    before, after = (parse_module(text.replace("SAID", said)) for said in ("other", "one"))
    assert not is_named(before, after, TRIPS)


@pytest.mark.parametrize(("said", "told"), [(COUNT, False), ("", True)])
def test_how_many_turns_are_said_of_two_loops_that_are_one(said: str, told: bool) -> None:
    """Each decides on another before, and the one on both after."""

    def text(*begins: int) -> str:
        lines = ["n = s32[] parameter(0)", "k = s32[] parameter(1)", f"t = {NK} tuple(n, k)"]
        for k, words in enumerate((COUNT, "SAID")):
            lines += [f"w{k} = {NK} while(t), condition=less, body=up{words}"]
            lines += [f"k{k} = s32[] get-tuple-element(w{k}), index=1"]
        lines += [f"d0 = s32[] while(k{begins[0]}), condition=differs, body=up2", f"i = s32[] negate(k{begins[1]})"]
        lines += ["d1 = s32[] while(i), condition=differs, body=up2", "ROOT r = s32[] negate(n)"]
        return entry(*lines, before=ENDLESS + COUNTING)

    before, after = parse_module(text(0, 1).replace("SAID", said)), parse_module(text(1, 1).replace("SAID", COUNT))
    assert is_named(before, after, TRIPS) is told


BY_ANOTHER = (*NUMBER, "w@ = s32[4] conditional(k@, GIVEN, x), branch_computations={runs, copies}")


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [
        ([("a", "b")], [("c", "b")], False),
        ([("a", "b")], [("b", "c")], True),
        ([("b", "a")], [("c", "b")], True),
        ([("b", "a")], [("b", "c")], False),
        ([("a", "a")], [("c", "c")], False),
        ([("a", "b"), ("b", "a")], [("c", "c")], True),
        ([("a", "b"), ("b", "d")], [("c", "d")], True),
        ([("a", "d")], [("c", "d")], False),
    ],
)
def test_what_chooses_the_branch_of_a_loop_is_not_what_its_turns_are_made_of(
    first: list[tuple[str, str]], last: list[tuple[str, str]], told: bool
) -> None:
    """If that is wrong a loop is run that ends; what is wrong in both, of one loop, does not end where it is not run.
    Something else is said of `d`."""
    before, after = (
        [
            line.replace("@", f"{name}{n}").replace("OF", by).replace("GIVEN", given)
            for n, (by, given) in enumerate(pairs)
            for line in BY_ANOTHER
        ]
        for name, pairs in (("i", first), ("o", last))
    )
    assert tells(["d = s32[4] call(x), to_apply=other", *before], after, OTHER_SORTED) is told


IN_TWO = (
    *NUMBER,
    *(line.replace("l@", "m@").replace("k@", "i@").replace("OF", "INNER") for line in NUMBER),
    f"t@ = {NV} tuple(i@, x)",
    "w@ = s32[4] conditional(k@, t@, t@), branch_computations={outer, stays}",
)


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [
        ([("a", "b")], [("c", "b")], False),
        ([("b", "a")], [("b", "c")], False),
        ([("a", "b")], [("b", "c")], True),
        ([("b", "a")], [("c", "b")], True),
        ([("a", "d")], [("c", "d")], False),
        ([("a", "b"), ("b", "d")], [("c", "d")], True),
        ([("b", "a"), ("d", "b")], [("d", "c")], True),
    ],
)
def test_what_chooses_both_branches_of_a_loop(
    first: list[tuple[str, str]], last: list[tuple[str, str]], told: bool
) -> None:
    """If both are wrong it is run where neither is taken. Something else is said of `d`."""
    before, after = (
        [
            line.replace("@", f"{name}{n}").replace("OF", by).replace("INNER", inner)
            for n, (by, inner) in enumerate(pairs)
            for line in IN_TWO
        ]
        for name, pairs in (("p", first), ("o", last))
    )
    functions = OTHER_SORTED + (
        f"outer {{\n{parts_of(NV, 'kv')}"
        " ROOT c = s32[4] conditional(k, v, v), branch_computations={runs, copies}\n}\n"
        f"stays {{\n{parts_of(NV, 'kv')} ROOT c = s32[4] copy(v)\n}}\n"
    )
    assert tells(["d = s32[4] call(x), to_apply=other", *before], after, functions) is told


ELSE = ENDLESS[ENDLESS.index("runs {") :].replace("runs {", "others {").replace("differs", "away")


@pytest.mark.parametrize(("other", "told"), [("runs", False), ("others", True)])
def test_what_chooses_the_branch_of_another_loop(other: str, told: bool) -> None:
    before, after = (
        [line.replace("@", name).replace("OF", by).replace("GIVEN", "x") for line in BY_ANOTHER]
        for name, by in (("i", "a"), ("o", "c"))
    )
    assert tells([line.replace("runs", other) for line in before], after, ELSE) is told


@pytest.mark.parametrize(("first", "told"), [("a, b", False), ("b, a", True), ("b, b", True), ("a, a", True)])
def test_what_chooses_the_branch_of_a_loop_in_a_turn(first: str, told: bool) -> None:
    """What it chooses among counts as well."""
    kind = "(s32[], s32[4], s32[4])"
    number = " l = s32[1] slice(v), slice={[0:1]}\n k = s32[] reshape(l)\n"
    functions = (
        f"asks {{\n{parts_of(kind, 'nvu')} {LESS}\n}}\n"
        f"turns {{\n{parts_of(kind, 'nvu')} {UP}\n{number}"
        " c = s32[4] conditional(k, u, u), branch_computations={runs, copies}\n"
        f" ROOT r = {kind} tuple(j, v, u)\n}}\n"
    )
    before, after = (
        [f"t{name} = {kind} tuple(n, {of})", f"w{name} = {kind} while(t{name}), condition=asks, body=turns"]
        for name, of in (("i", first), ("o", "c, b"))
    )
    assert tells(before, after, functions) is told
