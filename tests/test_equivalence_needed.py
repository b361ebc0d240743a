"""What is promised of what neither the root nor an effect needs licenses nothing where the same is needed: told part by
part, through all that hands on parts."""

from __future__ import annotations

import pytest
from red_pairs import PLAIN, PROMISE, SAID, SORTED, entry, is_named, on_two, parts_of

from hloproof.models.hlo.parser import parse_module

TRIPS = "promised: known_trip_count of while"

BOTH = "(s32[4], s32[4])"
FIRST = f"{{\n{parts_of(BOTH, 'ax')} ROOT r = s32[4] negate(TAKEN)\n}}\n"
PAIR = (
    "pair {\n  x = s32[4] parameter(0)\n  a = s32[4] call(x), to_apply=sorted\n"
    f"  y = s32[4] negate(x)\n  ROOT r = {BOTH} tuple(a, y)\n}}\n"
)
SENT = ("k = token[] after-all()", "o = token[] outfeed(x, k), outfeed_shape=s32[4]")
ACTS = PAIR.replace("  y", f"  {SENT[0]}\n  {SENT[1]}\n  y")
SENDS = f"sends {{\n  x = s32[4] parameter(0)\n  {SENT[0]}\n  {SENT[1]}\n  ROOT r = s32[4] copy(x)\n}}\n"
STAY = f"stay {{\n  x = s32[4] parameter(0)\n  ROOT r = {BOTH} tuple(x, x)\n}}\n"
FLIES = f"((s32[4]), {BOTH})"
SORTS = "a = s32[4] call(x), to_apply=sorted"
PART = "p = s32[4] get-tuple-element(v), index=TAKEN"
TUPLE = f"u = {BOTH} tuple(a, x)"
DOES = {"a": "0", "x": "1"}

WAYS: dict[str, tuple[str, tuple[str, ...]]] = {
    "a tuple": ("", (SORTS, f"v = {BOTH} tuple(a, x)", PART)),
    "a copy of a tuple": ("", (SORTS, TUPLE, f"v = {BOTH} copy(u)", PART)),
    "a barrier": ("", (SORTS, TUPLE, f"v = {BOTH} opt-barrier(u)", PART)),
    "a domain": (
        "",
        (
            SORTS,
            TUPLE,
            f'v = {BOTH} domain(u), domain={{kind="sharding", entry={{replicated}}, exit={{replicated}}}}',
            PART,
        ),
    ),
    "what waits": ("", (SORTS, TUPLE, "t = token[] after-all()", f"v = {BOTH} add-dependency(u, t)", PART)),
    "a tuple in a tuple": (
        "",
        (
            SORTS,
            TUPLE,
            f"w = (s32[4], {BOTH}, s32[4]) tuple(x, u, a)",
            f"v = {BOTH} get-tuple-element(w), index=1",
            PART,
        ),
    ),
    "behind a tuple": (
        "",
        (SORTS, TUPLE, f"w = ({BOTH}, s32[4], s32[4]) tuple(u, TAKEN, n)", "p = s32[4] get-tuple-element(w), index=1"),
    ),
    "a call": (PAIR, (f"v = {BOTH} call(x), to_apply=pair", PART)),
    "a fusion": (PAIR, (f"v = {BOTH} fusion(x), kind=kLoop, calls=pair", PART)),
    "a call that acts": (ACTS, (f"v = {BOTH} call(x), to_apply=pair", PART)),
    "a fusion that acts": (ACTS, (f"v = {BOTH} fusion(x), kind=kLoop, calls=pair", PART)),
    "a call that acts in a call": (
        ACTS + f"calls {{\n  x = s32[4] parameter(0)\n  ROOT c = {BOTH} call(x), to_apply=pair\n}}\n",
        (f"v = {BOTH} call(x), to_apply=calls", PART),
    ),
    "a parameter": (
        "takes {\n  a = s32[4] parameter(0)\n  x = s32[4] parameter(1)\n  ROOT r = s32[4] negate(TAKEN)\n}\n",
        (SORTS, "p = s32[4] call(a, x), to_apply=takes"),
    ),
    "a part of a parameter": (f"takes {FIRST}", (SORTS, TUPLE, "p = s32[4] call(u), to_apply=takes")),
    "a parameter of what acts": (
        f"takes {FIRST}".replace(" ROOT", f"  {SENT[0]}\n  {SENT[1]}\n ROOT"),
        (SORTS, TUPLE, "p = s32[4] call(u), to_apply=takes"),
    ),
    "what is sent of a parameter": (
        f"takes {FIRST}".replace("TAKEN", "x").replace(
            " ROOT", f"  {SENT[0]}\n  {SENT[1].replace('(x', '(TAKEN')}\n ROOT"
        ),
        (SORTS, TUPLE, "p = s32[4] call(u), to_apply=takes"),
    ),
    "what is sent": ("", (SORTS, SENT[0], SENT[1].replace("(x", "(TAKEN"), "p = s32[4] negate(x)")),
    "what flies": (PAIR, (f"f = {FLIES} async-start(x), calls=pair", f"v = {BOTH} async-done(f)", PART)),
    "what flies behind an update": (
        PAIR,
        (f"f = {FLIES} async-start(x), calls=pair", f"h = {FLIES} async-update(f)", f"v = {BOTH} async-done(h)", PART),
    ),
    "what flies in a tuple": (
        PAIR,
        (
            f"f = {FLIES} async-start(x), calls=pair",
            f"w = (s32[4], {FLIES}) tuple(x, f)",
            f"h = {FLIES} get-tuple-element(w), index=1",
            f"v = {BOTH} async-done(h)",
            PART,
        ),
    ),
    "what flies and acts": (ACTS, (f"f = {FLIES} async-start(x), calls=pair", f"v = {BOTH} async-done(f)", PART)),
    "what is given to what flies": (
        f"takes {FIRST}",
        (SORTS, TUPLE, f"f = (({BOTH}), s32[4]) async-start(u), calls=takes", "p = s32[4] async-done(f)"),
    ),
    "one of two that are given to what flies": (
        "takes {\n  a = s32[4] parameter(0)\n  x = s32[4] parameter(1)\n  ROOT r = s32[4] negate(TAKEN)\n}\n",
        (SORTS, "f = ((s32[4], s32[4]), s32[4]) async-start(a, x), calls=takes", "p = s32[4] async-done(f)"),
    ),
    "the other of two that are given to what flies": (
        "takes {\n  x = s32[4] parameter(0)\n  a = s32[4] parameter(1)\n  ROOT r = s32[4] negate(TAKEN)\n}\n",
        (SORTS, "f = ((s32[4], s32[4]), s32[4]) async-start(x, a), calls=takes", "p = s32[4] async-done(f)"),
    ),
    "a copy that flies": (
        "",
        (
            SORTS,
            "f = (s32[4], s32[4], u32[]) copy-start(a)",
            "d = s32[4] copy-done(f)",
            f"v = {BOTH} tuple(d, x)",
            PART,
        ),
    ),
    "what a branch is given": (
        f"takes {FIRST}stays {FIRST}".replace("negate", "copy", 1),
        (SORTS, TUPLE, "p = s32[4] conditional(s, u, u), branch_computations={takes, stays}"),
    ),
    "what both branches give": (
        f"straight {{\n{parts_of(BOTH, 'ax')} y = s32[4] negate(x)\n ROOT r = {BOTH} tuple(a, y)\n}}\n"
        f"turned {{\n{parts_of(BOTH, 'ax')} b = s32[4] negate(a)\n ROOT r = {BOTH} tuple(b, x)\n}}\n",
        (SORTS, TUPLE, f"v = {BOTH} conditional(s, u, u), branch_computations={{straight, turned}}", PART),
    ),
    "what chooses": (
        f"one {{\n  x = s32[4] parameter(0)\n  y = s32[4] negate(x)\n  ROOT r = {BOTH} tuple(y, x)\n}}\n{STAY}",
        (
            SORTS,
            "l = s32[1] slice(a), slice={[0:1]}",
            "k = s32[] reshape(l)",
            f"v = {BOTH} conditional(k, x, x), branch_computations={{one, stay}}",
            PART,
        ),
    ),
    "what chooses whether is sent": (
        SENDS,
        (
            SORTS,
            "l = s32[1] slice(TAKEN), slice={[0:1]}",
            "k = s32[] reshape(l)",
            "p = s32[4] conditional(k, x, x), branch_computations={sends, copies}",
        ),
    ),
    "what chooses in a branch whether is sent": (
        SENDS + f"inner {{\n{parts_of('(s32[], s32[4])', 'kx')}"
        " ROOT r = s32[4] conditional(k, x, x), branch_computations={sends, copies}\n}\n"
        f"outer {{\n{parts_of('(s32[], s32[4])', 'kx')} ROOT r = s32[4] copy(x)\n}}\n",
        (
            SORTS,
            "l = s32[1] slice(TAKEN), slice={[0:1]}",
            "k = s32[] reshape(l)",
            "u = (s32[], s32[4]) tuple(k, x)",
            "p = s32[4] conditional(s, u, u), branch_computations={inner, outer}",
        ),
    ),
    "what a branch is given that sends": (
        f"takes {FIRST}".replace(" ROOT", f"  {SENT[0]}\n  {SENT[1]}\n ROOT") + f"stays {FIRST}",
        (SORTS, TUPLE, "p = s32[4] conditional(s, u, u), branch_computations={takes, stays}"),
    ),
    "what is sent before something else": (
        "",
        (
            SORTS,
            "t = token[] after-all()",
            "o = token[] outfeed(TAKEN, t), outfeed_shape=s32[4]",
            "d = token[] after-all()",
            "e = token[] outfeed(x, d), outfeed_shape=s32[4]",
            "p = s32[4] negate(x)",
        ),
    ),
    "what is given to a call with effects": (
        "",
        (
            SORTS,
            f'e = {BOTH} custom-call(TAKEN), custom_call_target="f", custom_call_has_side_effect=true',
            "p = s32[4] negate(x)",
        ),
    ),
    "a tuple that flies": (
        "",
        (SORTS, TUPLE, f"f = ({BOTH}, {BOTH}, u32[]) copy-start(u)", f"v = {BOTH} copy-done(f)", PART),
    ),
    "what is known by words that nobody knows": (
        f"takes {{\n{parts_of(BOTH, 'ax')} ROOT r = {BOTH} tuple(a, x)\n}}\n",
        (SORTS, 'u = s32[4] call(TAKEN), to_apply=copies, frontend_attributes={odd="1"}', "p = s32[4] negate(u)"),
    ),
    "what one branch is given": (
        f"takes {FIRST}stays {FIRST}".replace("TAKEN", "x", 1).replace("negate", "copy", 1),
        (SORTS, TUPLE, "p = s32[4] conditional(s, u, u), branch_computations={takes, stays}"),
    ),
    "what the first branch is given": (
        f"takes {FIRST}stays {FIRST.replace('TAKEN', 'x')}".replace("negate", "copy", 1),
        (SORTS, TUPLE, "p = s32[4] conditional(s, u, u), branch_computations={takes, stays}"),
    ),
    "what both branches are given, each its own": (
        "takes {\n  y = s32[4] parameter(0)\n  ROOT r = s32[4] negate(y)\n}\n",
        (SORTS, "p = s32[4] conditional(s, x, TAKEN), branch_computations={takes, copies}"),
    ),
    "what the first of both is given": (
        "takes {\n  y = s32[4] parameter(0)\n  ROOT r = s32[4] negate(y)\n}\n",
        (SORTS, "p = s32[4] conditional(s, TAKEN, x), branch_computations={takes, copies}"),
    ),
    "what is sent of a tuple": (
        "",
        (
            SORTS,
            f"u = {BOTH} tuple(x, TAKEN)",
            "t = token[] after-all()",
            f"o = token[] outfeed(u, t), outfeed_shape={BOTH}",
            "p = s32[4] negate(x)",
        ),
    ),
    "what is waited for": (
        "",
        (SORTS, 'e = token[] custom-call(TAKEN), custom_call_target="waits"', "p = s32[4] add-dependency(x, e)"),
    ),
    "what a function reads": (
        "adds {\n  k = s32[] parameter(0)\n  j = s32[] parameter(1)\n  ROOT r = s32[] add(k, j)\n}\n",
        (SORTS, "e = s32[] reduce(TAKEN, s), dimensions={0}, to_apply=adds", "p = s32[4] broadcast(e), dimensions={}"),
    ),
}
IN_ONE_PLACE = {
    "what is waited for",
    "what chooses in a branch whether is sent",
    "what one branch is given",
    "what the first branch is given",
    "what both branches are given, each its own",
    "what the first of both is given",
}
"""There the part is read where that branch is taken, or waited for, and nowhere else: see test_equivalence_taken, and
test_equivalence_exchanged."""
COPIES = "copies {\n  x = s32[4] parameter(0)\n  ROOT r = s32[4] copy(x)\n}\n"


def taken(text: str, part: str) -> str:
    """The text that takes the part which is made of the promise, or the one beside it."""
    return text.replace("index=TAKEN", f"index={DOES[part]}").replace("TAKEN", part)


def tells(text: str, words: tuple[str, str] = ("plain", "sorted"), what: str = PROMISE) -> bool:
    """Whether the proof names the promise, where the text says the second of the words after and the first before."""
    before, after = (parse_module(text.replace("SAID", said)) for said in words)
    return is_named(before, after, what)


@pytest.mark.parametrize(("part", "told"), [("a", False), ("x", True)])
@pytest.mark.parametrize("way", WAYS)
def test_what_is_promised_of_a_part(way: str, part: str, told: bool) -> None:
    functions, lines = WAYS[way]

    def text(said: str) -> str:
        head = ["s = s32[] parameter(0)", "x = s32[4] parameter(1)", "n = s32[4] parameter(2)"]
        last = [f"c = s32[4] call(x), to_apply={said}", f"ROOT r = {BOTH} tuple(c, p)"]
        return taken(entry(*head, *lines, *last, before=PLAIN + SORTED + COPIES + functions), part)

    named = is_named(parse_module(text("plain")), parse_module(text("sorted")), PROMISE)
    assert named is (told or way in IN_ONE_PLACE)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_promised_of_the_same_parts(way: str) -> None:
    """Of a module that stays as it is nothing is told."""
    functions, lines = WAYS[way]
    head = ["s = s32[] parameter(0)", "x = s32[4] parameter(1)", "n = s32[4] parameter(2)"]
    text = entry(*head, *lines, f"ROOT r = {BOTH} tuple(x, p)", before=PLAIN + SORTED + COPIES + functions)
    for part in DOES:
        same = parse_module(taken(text, part))
        assert not is_named(same, same, PROMISE)


ODD = ', frontend_attributes={odd="1"}'


@pytest.mark.parametrize(("part", "told"), [("a", False), ("x", True)])
@pytest.mark.parametrize("way", ["call(u), to_apply=both", "tuple(a, x)", "opt-barrier(u)", "copy(u)"])
def test_what_is_promised_of_what_words_that_nobody_knows_stand_beside(way: str, part: str, told: bool) -> None:
    """Each part may be made of all that is given, and need not be."""
    functions = PLAIN + SORTED + f"both {{\n{parts_of(BOTH, 'ax')} ROOT r = {BOTH} tuple(a, x)\n}}\n"
    lines = ["x = s32[4] parameter(0)", SORTS, TUPLE, f"v = {BOTH} {way}{ODD}", PART]
    text = entry(*lines, "c = s32[4] call(x), to_apply=SAID", f"ROOT r = {BOTH} tuple(c, p)", before=functions)
    assert tells(taken(text, part)) is told
    last = [f"w = {BOTH} {way}{ODD}".replace("(u)", "(y)").replace("(a", "(c"), f"y = {BOTH} tuple(c, x)"][::-1]
    last.append(f"q = s32[4] get-tuple-element(w), index={DOES['x']}")
    text = entry(*lines, "c = s32[4] call(x), to_apply=SAID", *last, f"ROOT r = {BOTH} tuple(p, q)", before=functions)
    assert not tells(taken(text, part))


@pytest.mark.parametrize(("part", "told"), [("a", False), ("x", True)])
def test_what_is_promised_in_what_is_called_beside_words_that_nobody_knows(part: str, told: bool) -> None:
    functions = PLAIN + SORTED + PAIR + PAIR.replace("pair", "other").replace("sorted", "SAID")
    lines = ["x = s32[4] parameter(0)", f"v = {BOTH} call(x), to_apply=pair{ODD}", PART]
    lines += [f"w = {BOTH} call(x), to_apply=other{ODD}", "c = s32[4] get-tuple-element(w), index=0"]
    text = entry(*lines, f"ROOT r = {BOTH} tuple(c, p)", before=functions)
    assert tells(taken(text, part)) is told


@pytest.mark.parametrize("part", DOES)
@pytest.mark.parametrize(("used", "told"), [("v", True), ("w", False)])
def test_what_may_be_made_of_what_is_promised_beside_words_that_nobody_knows(part: str, used: str, told: bool) -> None:
    """What they do with what is called nobody knows: a part that is read may be made of all that is promised there."""
    functions = PLAIN + SORTED + PAIR + PAIR.replace("pair", "other").replace("sorted", "SAID")
    lines = ["x = s32[4] parameter(0)", f"w = {BOTH} call(x), to_apply=pair{ODD}"]
    lines += [f"v = {BOTH} call(x), to_apply=other{ODD}", PART, PART.replace("p =", "q =").replace("v", used)]
    text = taken(entry(*lines, f"ROOT r = {BOTH} tuple(p, q)", before=functions), part)
    assert tells(text) is told


@pytest.mark.parametrize(("first", "told"), [("plain", True), ("sorted", False)])
def test_what_is_promised_of_no_tensors_beside_words_that_nobody_knows(first: str, told: bool) -> None:
    called = "calls {\n  x = s32[4] parameter(0)\n  a = s32[4] call(x), to_apply=SAID\n  ROOT r = () tuple()\n}\n"
    lines = ["x = s32[4] parameter(0)", f"c = () call(x), to_apply=calls{ODD}", "ROOT r = s32[4] copy(x)"]
    assert tells(entry(*lines, before=PLAIN + SORTED + called), (first, "sorted")) is told


@pytest.mark.parametrize(("last", "told"), [("1", False), ("0", True)])
def test_what_is_promised_of_nothing_beside_words_that_nobody_knows(last: str, told: bool) -> None:
    """They may make another part of it in one call than in another."""
    unused = PAIR.replace("sorted", "copies").replace("  y", "  b = s32[4] call(x), to_apply=SAID\n  y")
    functions = PLAIN + SORTED + COPIES + unused.replace("SAID", "sorted") + unused.replace("pair", "other")
    lines = ["x = s32[4] parameter(0)", f"w = {BOTH} call(x), to_apply=pair{ODD}"]
    lines += [f"v = {BOTH} call(x), to_apply=other{ODD}", "p = s32[4] get-tuple-element(w), index=1"]
    lines += [f"q = s32[4] get-tuple-element(v), index={last}"]
    text = entry(*lines, f"ROOT r = {BOTH} tuple(p, q)", before=functions)
    assert tells(text) is told


@pytest.mark.parametrize("made", ["b", "x"])
@pytest.mark.parametrize(("first", "told"), [("plain", True), ("sorted", False)])
def test_which_of_two_is_promised_beside_words_that_nobody_knows(first: str, told: bool, made: str) -> None:
    """Something is made of the one alone, or of neither, as far as anybody knows."""
    called = (
        "calls {\n  x = s32[4] parameter(0)\n  a = s32[4] call(x), to_apply=sorted\n"
        f"  b = s32[4] call(x), to_apply=SAID\n  ROOT r = s32[4] negate({made})\n}}\n"
    )
    text = entry(
        "x = s32[4] parameter(0)", f"ROOT c = s32[4] call(x), to_apply=calls{ODD}", before=PLAIN + SORTED + called
    )
    assert tells(text, (first, "sorted")) is told


STATE = "(s32[], s32[4], s32[4], s32[4])"
LOOP = (
    f"asks {{\n{parts_of(STATE, 'kxyz')} z0 = s32[] constant(9)\n LESS\n}}\n"
    f"turn {{\n{parts_of(STATE, 'kxyz')} one = s32[] constant(1)\n j = s32[] add(k, one)\n TURN\n"
    f" ROOT r = {STATE} tuple(j, NEXT)\n}}\n"
)
LESS = "ROOT o = pred[] compare(k, z0), direction=LT"
NEGATING = LOOP.replace("LESS", LESS).replace("TURN", "v = s32[4] negate(x)").replace("NEXT", "v, y, z")
"""In each turn it negates the first of its arrays and leaves the others."""


def turning(begins: str, turn: str, after: str, part: int, less: str = LESS) -> str:
    """A loop that begins with three arrays, changes them in each turn, and is read at one part."""
    function = LOOP.replace("LESS", less).replace("TURN", turn).replace("NEXT", after)
    lines = ["x = s32[4] parameter(0)", "n = s32[] parameter(1)", "a = s32[4] call(x), to_apply=sorted"]
    lines += [f"t = {STATE} tuple(n, {begins})", f"w = {STATE} while(t), condition=asks, body=turn"]
    lines += [f"p = s32[4] get-tuple-element(w), index={part}", "c = s32[4] call(x), to_apply=SAID"]
    return entry(*lines, f"ROOT r = {BOTH} tuple(c, p)", before=PLAIN + SORTED + function)


@pytest.mark.parametrize(
    ("begins", "turn", "after", "part", "told"),
    [
        ("a, x, x", "v = s32[4] negate(x)", "v, y, z", 1, False),
        ("a, x, x", "v = s32[4] negate(x)", "v, y, z", 2, True),
        ("a, x, x", "v = s32[4] negate(y)", "x, v, z", 1, False),
        ("a, x, x", "v = s32[4] negate(y)", "x, v, z", 2, True),
        ("x, x, a", "v = s32[4] add(x, y)", "v, z, z", 3, False),
        ("a, x, x", "v = s32[4] negate(y)", "x, z, v", 3, True),
        ("x, a, x", "v = s32[4] negate(z)", "x, v, v", 3, True),
        ("x, a, x", "v = s32[4] negate(z)", "x, v, v", 2, True),
        ("x, a, x", "v = s32[4] negate(y)", "x, v, v", 2, False),
    ],
)
def test_what_is_promised_of_a_part_that_a_loop_begins_with(
    begins: str, turn: str, after: str, part: int, told: bool
) -> None:
    """A part that is read may be made of another one as many turns before."""
    text = turning(begins, turn, after, part)
    assert tells(text) is told


@pytest.mark.parametrize(
    ("begins", "turn", "after", "part", "told"),
    [
        ("x, x, c", "v = s32[4] add(x, y)", "v, z, z", 1, True),
        ("x, x, c", "v = s32[4] add(x, y)", "v, z, z", 2, True),
        ("x, x, c", "v = s32[4] add(x, y)", "v, y, z", 1, False),
        ("c, x, x", "v = s32[4] negate(y)", "x, x, v", 3, True),
        ("x, c, x", "v = s32[4] negate(y)", "x, x, v", 3, True),
        ("c, x, x", "v = s32[4] negate(y)", "x, z, v", 3, False),
        ("c, x, x", "v = s32[4] negate(x)", "v, y, x", 3, True),
        ("c, x, x", "v = s32[4] negate(x)", "x, v, v", 3, True),
    ],
)
def test_what_a_loop_begins_with_is_read_behind_its_turns(
    begins: str, turn: str, after: str, part: int, told: bool
) -> None:
    """Nothing is made of the same before."""
    text = turning(begins, turn, after, part).replace("tuple(c, p)", "tuple(x, p)")
    made = "c = s32[4] call(x), to_apply=SAID"
    assert tells(text.replace(f"  {made}\n", "").replace("  t = (", f"  {made}\n  t = (")) is told


TURN = "b = s32[4] call(z), to_apply=sorted\n d = s32[4] call(z), to_apply=SAID\n"


@pytest.mark.parametrize(
    ("turn", "after", "part", "told"),
    [
        ("v = s32[4] add(b, d)", "v, y, z", 1, False),
        ("v = s32[4] add(x, d)", "v, y, z", 1, True),
        ("v = s32[4] add(x, d)", "v, b, z", 1, True),
        ("v = s32[4] add(x, d)", "v, b, z", 2, False),
        ("v = s32[4] add(y, d)", "v, b, z", 1, True),
    ],
)
def test_what_is_promised_in_the_turns_of_a_loop(turn: str, after: str, part: int, told: bool) -> None:
    text = turning("x, x, x", TURN + turn, after, part).replace("call(x), to_apply=SAID", "negate(x)")
    assert tells(text) is told


@pytest.mark.parametrize("part", [1, 2])
def test_what_is_promised_of_a_part_that_a_loop_in_a_loop_begins_with(part: int) -> None:
    """Of two that the inner turn changes, each by itself; of the first it is made in both, and it is told."""
    inner = "(s32[], s32[4], s32[4])"
    given = parts_of(inner, "kxy")
    loops = (
        f"asks {{\n{given} z0 = s32[] constant(9)\n {LESS}\n}}\n"
        f"turn {{\n{given} one = s32[] constant(1)\n j = s32[] add(k, one)\n"
        f" a = s32[4] negate(x)\n b = s32[4] negate(y)\n ROOT r = {inner} tuple(j, a, b)\n}}\n"
        f"turns {{\n{given} one = s32[] constant(1)\n j = s32[] add(k, one)\n a = s32[4] call(x), to_apply=sorted\n"
        f" v = {inner} tuple(k, a, y)\n w = {inner} while(v), condition=asks, body=turn\n"
        f" p = s32[4] get-tuple-element(w), index={part}\n c = s32[4] call(x), to_apply=SAID\n"
        f" q = s32[4] subtract(c, p)\n ROOT r = {inner} tuple(j, x, q)\n}}\n"
    )
    lines = ["x = s32[4] parameter(0)", "n = s32[] parameter(1)", f"t = {inner} tuple(n, x, x)"]
    lines += [f"w = {inner} while(t), condition=asks, body=turns", "ROOT p = s32[4] get-tuple-element(w), index=2"]
    text = entry(*lines, before=PLAIN + SORTED + loops)
    assert tells(text)
    assert not tells(text.replace("c = s32[4] call(x), to_apply=SAID", "c = s32[4] call(x), to_apply=sorted"))


@pytest.mark.parametrize(("after", "told"), [("v, y, x", False), ("x, y, v", True)])
def test_what_is_promised_of_what_decides_on_a_turn(after: str, told: bool) -> None:
    """Of a part that no turn changes it says nothing."""
    less = "e = s32[1] slice(y), slice={[0:1]}\n f = s32[] reshape(e)\n ROOT o = pred[] compare(k, f), direction=LT"
    text = turning("x, a, x", "v = s32[4] negate(x)", after, 1, less)
    assert tells(text) is told


@pytest.mark.parametrize(("begins", "told"), [("x, x, c", True), ("x, x, x", False)])
def test_what_is_promised_of_what_decides_on_a_later_turn(begins: str, told: bool) -> None:
    """It is handed on to where the condition looks, and nothing is made of the same before."""
    less = "e = s32[1] slice(y), slice={[0:1]}\n f = s32[] reshape(e)\n ROOT o = pred[] compare(k, f), direction=LT"
    text = turning(begins, "v = s32[4] negate(x)", "v, z, x", 1, less).replace("tuple(c, p)", "tuple(x, p)")
    made = "c = s32[4] call(x), to_apply=SAID"
    assert tells(text.replace(f"  {made}\n", "").replace("  t = (", f"  {made}\n  t = (")) is told


COUNT = ', backend_config={"known_trip_count":{"n":"9"}}'
COUNTER = ', backend_config={"known_induction_variable":{"tuple_index":"0"}}'


@pytest.mark.parametrize("said", [COUNT, COUNTER])
@pytest.mark.parametrize(("part", "told"), [(1, False), (2, True)])
@pytest.mark.parametrize("way", ["", "in what is called"])
def test_what_is_said_of_a_loop_of_which_a_part_is_read(way: str, part: int, said: str, told: bool) -> None:
    """The other one no turn changes; where the loop runs again, and is read, the same is said of it."""

    def text(first: str, second: str) -> str:
        function = NEGATING
        lines = [f"t = {STATE} tuple(n, x, x, x)", f"w = {STATE} while(t), condition=asks, body=turn{first}"]
        if way:
            body = "".join(f"  {line}\n" for line in ("x = s32[4] parameter(0)", "n = s32[] parameter(1)", *lines))
            function += f"runs {{\n{body}  ROOT r = {STATE} tuple(n, x, x, x)\n}}\n".replace(
                f"ROOT r = {STATE} tuple(n, x, x, x)", f"ROOT r = {STATE} copy(w)"
            )
            lines = [f"w = {STATE} call(x, n), to_apply=runs"]
        lines += [f"t1 = {STATE} tuple(n, x, x, x)"]
        lines += [f"w1 = {STATE} while(t1), condition=asks, body=turn{second}"]
        lines += [f"p = s32[4] get-tuple-element(w), index={part}", "q = s32[4] get-tuple-element(w1), index=1"]
        head = ["x = s32[4] parameter(0)", "n = s32[] parameter(1)"]
        return entry(*head, *lines, f"ROOT r = {BOTH} tuple(p, q)", before=function)

    name = "known_trip_count" if said is COUNT else "known_induction_variable"
    before, same = parse_module(text(said, "")), parse_module(text(said, said))
    assert is_named(before, same, f"promised: {name} of while") is told


@pytest.mark.parametrize("said", [COUNT, COUNTER])
@pytest.mark.parametrize("part", [1, 2])
@pytest.mark.parametrize(("used", "told"), [("w1", True), ("w", False)])
@pytest.mark.parametrize("way", ["", "in what is called"])
def test_what_is_said_of_a_loop_beside_words_that_nobody_knows(
    way: str, said: str, used: str, part: int, told: bool
) -> None:
    """They may change what it makes of a part that no turn changes."""

    def text(first: str, second: str) -> str:
        function = NEGATING
        head = ["x = s32[4] parameter(0)", "n = s32[] parameter(1)"]
        lines = [f"t = {STATE} tuple(n, x, x, x)"]
        for name, more in (("w", first), ("w1", second)):
            loop = f"while(t), condition=asks, body=turn{more}"
            if way:
                body = "".join(f"  {line}\n" for line in (*head, *lines[:1], f"ROOT r = {STATE} {loop}"))
                function += f"runs_{name} {{\n{body}}}\n"
                lines.append(f"{name} = {STATE} call(x, n), to_apply=runs_{name}{ODD}")
            else:
                lines.append(f"{name} = {STATE} {loop}{ODD}")
        lines += [f"{p} = s32[4] get-tuple-element({of}), index={part}" for p, of in (("p", used), ("q", "w1"))]
        return entry(*head, *lines, f"ROOT r = {BOTH} tuple(p, q)", before=function)

    name = "known_trip_count" if said is COUNT else "known_induction_variable"
    before, same = parse_module(text(said, "")), parse_module(text(said, said))
    assert is_named(before, same, f"promised: {name} of while") is told


RUNS = "".join(
    f"{name} {{\n  x = s32[4] parameter(0)\n  n = s32[] parameter(1)\n  t = {STATE} tuple(n, x, x, x)\n"
    f"  ROOT w = {STATE} while(t), condition=asks, body=turn{words}\n}}\n"
    for name, words in (("counts", COUNT), ("turns", ""))
)
"""A loop that is called, and that says how many turns it takes, or not."""
PLACES = {
    "in branches": (
        "".join(
            f"in{k} {{\n  x = s32[4] parameter(0)\n  n = s32[] constant(4)\n LINES{k}\n"
            f"  ROOT r = s32[4] {way}(p{k})\n}}\n"
            for k, way in enumerate(("copy", "negate"))
        ),
        ["p = s32[4] conditional(n, x, x), branch_computations={in0, in1}"],
    ),
    "in a turn and its condition": (
        f"in0 {{\n{parts_of('(s32[], s32[4])', 'nx')} LINES0\n e = s32[1] slice(p0), slice={{[0:1]}}\n"
        " f = s32[] reshape(e)\n ROOT o = pred[] compare(n, f), direction=LT\n}\n"
        f"in1 {{\n{parts_of('(s32[], s32[4])', 'nx')} LINES1\n one = s32[] constant(1)\n j = s32[] add(n, one)\n"
        " ROOT r = (s32[], s32[4]) tuple(j, p1)\n}\n",
        [
            "l = (s32[], s32[4]) tuple(n, x)",
            "k = (s32[], s32[4]) while(l), condition=in0, body=in1",
            "p = s32[4] get-tuple-element(k), index=1",
        ],
    ),
    "beside other words": ("", ["LINES0", "LINES1", "p = s32[4] subtract(p0, p1)"]),
}


@pytest.mark.parametrize("part", [1, 2])
@pytest.mark.parametrize(("second", "told"), [("counts", False), ("turns", True)])
@pytest.mark.parametrize("place", PLACES)
def test_where_turns_are_said_beside_words_that_nobody_knows(place: str, second: str, part: int, told: bool) -> None:
    """Where the first of two calls, which is needed, says it, it is not said of the second, beside which stands one of
    which nothing is made."""

    def called(name: str, which: str, words: str) -> str:
        made = f'{name} = {STATE} call(x, n), to_apply={which}, frontend_attributes={{odd="{words}"}}'
        return f"{made}\n  p{name} = s32[4] get-tuple-element({name}), index={part}"

    functions, lines = PLACES[place]
    other = "2" if place == "beside other words" else "1"
    first = f"{called('a', 'counts', other)}\n  p0 = s32[4] copy(pa)"
    last = f"{called('v', 'counts', '1')}\n  {called('b', 'SAID', '1')}\n  p1 = s32[4] copy(pb)"
    head = ["x = s32[4] parameter(0)", "n = s32[] parameter(1)"]
    text = entry(*head, *lines, "ROOT r = s32[4] copy(p)", before=NEGATING + RUNS + functions)
    assert tells(text.replace("LINES0", first).replace("LINES1", last), (second, "counts"), TRIPS) is told


SORTED_INDICES, UNIQUE_INDICES = ", indices_are_sorted=true", ", unique_indices=true"
ADDS = "adds {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT r = s32[] add(a, b)\n}\n"
ALIKE = {
    "scatter": (
        ADDS,
        ["i = s32[2,1] constant({{2},{1}})", "u = s32[2] constant({5, 6})"],
        "s32[4] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
        "index_vector_dim=1, to_apply=adds",
    ),
    "while": (
        NEGATING,
        ["l = s32[1] slice(x), slice={[0:1]}", "n = s32[] reshape(l)", f"t = {STATE} tuple(n, x, x, x)"],
        f"{STATE} while(t), condition=asks, body=turn",
    ),
    "collective-permute": ("", [], "s32[4] collective-permute(x), source_target_pairs={{0,1}}"),
}
"""What two operations that are alike are given, and what they are."""
STATED: list[tuple[str, str, str, str]] = [
    ("scatter", "indices_are_sorted", SORTED_INDICES, ""),
    ("scatter", "unique_indices", UNIQUE_INDICES, ""),
    ("scatter", "unique_indices", UNIQUE_INDICES, SORTED_INDICES),
    ("while", "known_trip_count", COUNT, ""),
    ("while", "known_trip_count", COUNT, COUNT.replace("9", "8")),
    ("while", "known_induction_variable", COUNTER, ""),
    ("while", "known_induction_variable", COUNTER, COUNTER.replace("0", "1")),
    ("collective-permute", "_xla_send_recv_validation", SAID, ""),
    ("collective-permute", "_xla_send_recv_validation", SAID, SAID.replace("6", "5")),
]
RUN_BY = {
    "a call": ["ROOT c = s32[4] call(x), to_apply=runsODD"],
    "a fusion": ["ROOT c = s32[4] fusion(x), kind=kLoop, calls=runsODD"],
    "a start": ["f = ((s32[4]), s32[4]) async-start(x), calls=runsODD", "ROOT c = s32[4] async-done(f)"],
    "the first branch": ["ROOT c = s32[4] conditional(s, x, x), branch_computations={runs, copies}ODD"],
    "the second branch": ["ROOT c = s32[4] conditional(s, x, x), branch_computations={copies, runs}ODD"],
    "a true branch": ["ROOT c = s32[4] conditional(b, x, x), true_computation=runs, false_computation=copiesODD"],
    "a false branch": ["ROOT c = s32[4] conditional(b, x, x), true_computation=copies, false_computation=runsODD"],
    "a call in a call": ["ROOT c = s32[4] call(x), to_apply=nestsODD"],
}


@pytest.mark.parametrize(
    ("way", "opcode", "name", "one", "other"),
    # Exchanges in branches beside words that nobody knows are not modelled.
    [(way, *case) for way in RUN_BY for case in STATED if case[0] != "collective-permute" or "branch" not in way],
)
@pytest.mark.parametrize("after", ["as before", "turned", "both"])
def test_what_is_said_of_two_that_are_alike_beside_words_that_nobody_knows(
    way: str, opcode: str, name: str, one: str, other: str, after: str
) -> None:
    """Nothing is made of either; the words may make something of either of them."""
    functions, given, operation = ALIKE[opcode]
    body = [
        "x = s32[4] parameter(0)",
        *given,
        f"a = {operation}FIRST",
        f"b = {operation}LAST",
        "ROOT r = s32[4] copy(x)",
    ]
    nests = "nests {\n  x = s32[4] parameter(0)\n  ROOT c = s32[4] call(x), to_apply=runs\n}\n"
    functions += COPIES + "runs {\n" + "".join(f"  {line}\n" for line in body) + "}\n" + nests
    head = ["s = s32[] parameter(0)", "x = s32[4] parameter(1)", "b = pred[] parameter(2)"]
    text = on_two(entry(*head, *(line.replace("ODD", ODD) for line in RUN_BY[way]), before=functions))
    said = {"as before": (one, other), "turned": (other, one), "both": (one, one)}
    left, right = (
        parse_module(text.replace("FIRST", first).replace("LAST", last)) for first, last in ((one, other), said[after])
    )
    assert is_named(left, right, f"promised: {name} of {opcode}") is (after != "as before")


@pytest.mark.parametrize(("then", "other", "told"), [("first", "last", False), ("last", "first", True)])
def test_branches_beside_words_that_nobody_knows_go_by_what_they_are_called_as(
    then: str, other: str, told: bool
) -> None:
    """Not by the order of the text: each promises one of two that are alike."""
    pair = "  a = s32[4] call(x), to_apply={}\n  b = s32[4] call(x), to_apply={}\n  ROOT r = s32[4] copy(x)\n"
    functions = PLAIN + SORTED
    for name, said in (("first", ("sorted", "plain")), ("last", ("plain", "sorted"))):
        functions += f"{name} {{\n  x = s32[4] parameter(0)\n{pair.format(*said)}}}\n"
    ways = ["true_computation=first, false_computation=last", f"false_computation={other}, true_computation={then}"]
    before, after = (
        parse_module(
            entry(
                "x = s32[4] parameter(0)",
                "b = pred[] parameter(1)",
                f"ROOT c = s32[4] conditional(b, x, x), {way}{ODD}",
                before=functions,
            )
        )
        for way in ways
    )
    assert is_named(before, after, PROMISE) is told


@pytest.mark.parametrize(("first", "second", "told"), [(COUNT, COUNT, False), (COUNT, "", True), ("", COUNT, True)])
def test_what_is_said_of_two_loops_of_which_nothing_comes_beside_words_that_nobody_knows(
    first: str, second: str, told: bool
) -> None:
    """What is said of the one is not said of the other; nor is it where the whole call is not read."""

    def text(*of: tuple[str, str]) -> str:
        function = NEGATING
        lines = []
        for k, words in enumerate(of):
            body = ["x = s32[4] parameter(0)", "n = s32[] parameter(1)", "m = s32[] negate(n)"]
            body += [f"t{at} = {STATE} tuple({at}, x, x, x)" for at in "nm"]
            body += [
                f"w{at} = {STATE} while(t{at}), condition=asks, body=turn{word}"
                for at, word in zip("nm", words, strict=True)
            ]
            body.append("ROOT r = s32[4] copy(x)")
            function += f"runs{k} {{\n" + "".join(f"  {line}\n" for line in body) + "}\n"
            lines.append(f"c{k} = s32[4] call(x, n), to_apply=runs{k}{ODD}")
        head = ["x = s32[4] parameter(0)", "n = s32[] parameter(1)"]
        return entry(*head, *lines, "ROOT r = s32[4] copy(c1)", before=function)

    before = parse_module(text((COUNT, COUNT), (first, second)))
    after = parse_module(text((COUNT, COUNT), (COUNT, COUNT)))
    assert is_named(before, after, TRIPS) is told


def test_what_is_promised_of_what_two_results_are_made_of() -> None:
    """One of them is needed."""
    lines = ["x = s32[4] parameter(0)", "a = s32[4] call(x), to_apply=sorted", "u = s32[4] negate(a)"]
    text = entry(
        *lines,
        "v = s32[4] copy(a)",
        "c = s32[4] call(x), to_apply=SAID",
        "ROOT r = s32[4] add(c, v)",
        before=PLAIN + SORTED,
    )
    assert not tells(text)


COUNTED = "(s32[], s32[])"
COUNTED_LOOP = (
    f"asks {{\n{parts_of(COUNTED, 'kn')} z = s32[] constant(9)\n ROOT o = pred[] compare(k, z), direction=LT\n}}\n"
    f"turn {{\n{parts_of(COUNTED, 'kn')} j = s32[] add(k, n)\n ROOT r = {COUNTED} tuple(j, n)\n}}\n"
)


def counting(*last: str, given: str = "kn") -> str:
    """Two functions that are alike, which run a loop to `p`; the first says how many turns it takes."""
    lines = [f"{name} = s32[] parameter({k})" for k, name in enumerate(given)]
    lines += [f"t = {COUNTED} tuple({given[0]}, {given[1]})", f"w = {COUNTED} while(t), condition=asks, body=turnWORDS"]
    lines += ["p = s32[] get-tuple-element(w), index=0", *last]
    body = "".join(f"  {line}\n" for line in lines)
    return COUNTED_LOOP + "".join(
        f"{name} {{\n{body.replace('WORDS', words)}}}\n" for name, words in (("counts", COUNT), ("turns", ""))
    )


@pytest.mark.parametrize(("used", "told"), [("d", True), ("e", False)])
def test_what_is_said_of_a_loop_in_a_function_that_is_applied_twice(used: str, told: bool) -> None:
    """What is said in one use, which is needed, is not said in the other, which is not."""
    lines = ["x = s32[4] parameter(0)", "y = s32[4] parameter(1)", "n = s32[] parameter(2)"]
    for name, of, by in (("d", "y", "counts"), ("e", "x", "counts"), ("c", "x", "SAID")):
        lines.append(f"{name} = s32[] reduce({of}, n), dimensions={{0}}, to_apply={by}")
    text = entry(*lines, f"ROOT r = (s32[], s32[]) tuple(c, {used})", before=counting("ROOT r = s32[] copy(p)"))
    assert tells(text, ("turns", "counts"), TRIPS) is told


SLICES = ', backend_config={"dynamic_slice_config":{"byte_offset":"0"}}'


@pytest.mark.parametrize("way", ["copy(x)", "slice(x), slice={[0:4]}"])
@pytest.mark.parametrize(("used", "told"), [("v", True), ("w", False)])
def test_what_an_operation_says_of_what_it_hands_on(way: str, used: str, told: bool) -> None:
    lines = ["x = s32[4] parameter(0)", f"w = s32[4] {way}{SLICES}", f"v = s32[4] {way}SAID"]
    text = entry(*lines, f"ROOT r = s32[4] add(v, {used})")
    assert tells(text, ("", SLICES), f"promised: dynamic_slice_config of {way.partition('(')[0]}") is told


@pytest.mark.parametrize("way", ["select=larger, scatter", "scatter=adds, select"])
@pytest.mark.parametrize(("used", "told"), [("v", True), ("w", False)])
def test_what_is_said_of_a_loop_in_one_of_two_functions_that_are_applied(way: str, used: str, told: bool) -> None:
    last = "s32[] copy(p)" if way.startswith("select") else "pred[] compare(p, n), direction=GE"
    functions = counting(f"ROOT r = {last}") + (
        "larger {\n a = s32[] parameter(0)\n b = s32[] parameter(1)\n"
        f" ROOT o = pred[] compare(a, b), direction=GE\n}}\n{ADDS}"
    )
    scatter = f"s32[4] select-and-scatter(x, x, n), window={{size=1}}, {way}"
    head = ["x = s32[4] parameter(0)", "n = s32[] parameter(1)"]
    text = entry(
        *head, f"w = {scatter}=counts", f"v = {scatter}=SAID", f"ROOT r = {BOTH} tuple(v, {used})", before=functions
    )
    assert tells(text, ("turns", "counts"), TRIPS) is told


@pytest.mark.parametrize("flag", ["indices_are_sorted", "unique_indices"])
@pytest.mark.parametrize(("used", "told"), [("v", True), ("w", False)])
def test_each_of_two_promises_of_one_operation(flag: str, used: str, told: bool) -> None:
    flags = SORTED_INDICES + UNIQUE_INDICES
    adds, given, scatter = ALIKE["scatter"]
    lines = ["x = s32[4] parameter(0)", *given, f"w = {scatter}{flags}", f"v = {scatter}SAID"]
    text = entry(*lines, f"ROOT r = s32[4] add(v, {used})", before=adds)
    assert tells(text, ("", flags), f"promised: {flag} of scatter") is told


@pytest.mark.parametrize("way", ["start", "done", "permute"])
@pytest.mark.parametrize(("used", "told"), [("v", True), ("w", False)])
def test_what_a_permutation_says_of_what_it_carries(way: str, used: str, told: bool) -> None:
    pairs = "source_target_pairs={{0,1}}"
    flies = f"runs {{\n  x = s32[4] parameter(0)\n  ROOT y = s32[4] collective-permute(x), {pairs}\n}}\n"

    def carried(name: str, said: str) -> list[str]:
        if way == "permute":
            return [f"{name} = s32[4] collective-permute(x), {pairs}{said}"]
        start, done = (said, "") if way == "start" else ("", said)
        begun = f"f{name} = ((s32[4]), s32[4]) async-start(x), calls=runs{start}"
        return [begun, f"{name} = s32[4] async-done(f{name}){done}"]

    def text(said: str) -> str:
        lines = ["x = s32[4] parameter(0)", *carried("w", SAID), *carried("v", said)]
        return on_two(entry(*lines, f"ROOT r = s32[4] add(v, {used})", before=flies))

    opcode = "collective-permute" if way == "permute" else f"async-{way}"
    before, after = parse_module(text("")), parse_module(text(SAID))
    assert is_named(before, after, f"promised: _xla_send_recv_validation of {opcode}") is told


@pytest.mark.parametrize("way", ["sort", "reduce of two"])
@pytest.mark.parametrize(("used", "told"), [("v", True), ("w", False)])
def test_what_is_said_of_a_loop_in_a_function(way: str, used: str, told: bool) -> None:
    """Of the second result of the function alone."""
    if way == "sort":
        functions = counting("ROOT r = pred[] compare(p, n), direction=LT")
    else:
        functions = counting("q = s32[] add(c, d)", f"ROOT r = {COUNTED} tuple(q, p)", given="kncd")
    head = ["x = s32[4] parameter(0)", "n = s32[] parameter(1)"]
    if way == "sort":
        kind = "s32[4]"
        lines = [f"{o} = {kind} sort(x), dimensions={{0}}, to_apply={f}" for o, f in (("w", "counts"), ("v", "SAID"))]
    else:
        kind = "s32[]"
        for o, f in (("w", "counts"), ("v", "SAID")):
            head.append(f"t{o} = {COUNTED} reduce(x, x, n, n), dimensions={{0}}, to_apply={f}")
        lines = [f"{o} = s32[] get-tuple-element(t{o}), index=1" for o in "wv"]
    text = entry(*head, *lines, f"ROOT r = {kind} add(v, {used})", before=functions)
    assert tells(text, ("turns", "counts"), TRIPS) is told


def test_what_is_needed_before_says_nothing_of_what_is_needed_after() -> None:
    """Of other indices than what is sent."""
    later = SORTED.replace("sorted {", "later {").replace("{{2},{1}}", "{{3},{1}}")
    lines = ("o = s32[4] call(x), to_apply=sorted", "d = s32[4] call(x), to_apply=later")
    sent = ("k = token[] after-all()", "s = token[] outfeed(o, k), outfeed_shape=s32[4]")
    before, after = (
        parse_module(entry("x = s32[4] parameter(0)", *way, *sent, "ROOT r = s32[4] copy(x)", before=SORTED + later))
        for way in (lines, lines[::-1])
    )
    assert not is_named(before, after, PROMISE)
