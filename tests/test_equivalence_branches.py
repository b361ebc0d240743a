"""What stands in a branch of a conditional: which one it is, and of how many, decides when it happens. And promises:
what decides whether they hold, in branches and in the turns of loops."""

from __future__ import annotations

import pytest
from red_pairs import PLAIN, SORTED, entry, is_named, parts_of

from hloproof.equivalence import decide
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Verdict

SENDS = (
    "sends {\n  x = s32[4] parameter(0)\n  t = token[] after-all()\n  o = token[] outfeed(x, t), outfeed_shape=s32[4]\n"
    "  ROOT r = s32[4] copy(x)\n}\n"
)
CALLS = (
    SENDS + "calls {\n  x = s32[4] parameter(0)\n  ROOT c = s32[4] call(x), to_apply=sends\n}\n"
    "fused {\n  x = s32[4] parameter(0)\n  ROOT c = s32[4] fusion(x), kind=kCustom, calls=sends\n}\n"
)
STAYS = "stays {\n  ROOT x = s32[4] parameter(0)\n}\n"
READS = SORTED.replace("sorted ", "reads ")
HEAD = ("s = s32[] parameter(0)", "x = s32[4] parameter(1)")


def by_number(name: str, *branches: str) -> str:
    given = ", ".join(["s", *["x"] * len(branches)])
    return f"{name} = s32[4] conditional({given}), branch_computations={{{', '.join(branches)}}}"


def sent(*branches: str) -> str:
    return entry(*HEAD, by_number("c", *branches), "ROOT r = s32[4] copy(c)", before=SENDS + STAYS)


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        (("stays", "sends"), ("stays", "sends"), Verdict.PROVED),
        (("stays", "sends", "stays"), ("stays", "sends", "stays"), Verdict.PROVED),
        (("stays", "sends", "stays"), ("stays", "sends"), Verdict.UNKNOWN),
        (("stays", "sends"), ("stays", "sends", "stays"), Verdict.UNKNOWN),
        (("stays", "sends"), ("sends", "stays"), Verdict.UNKNOWN),
    ],
)
def test_what_is_sent(before: tuple[str, ...], after: tuple[str, ...], found: Verdict) -> None:
    """The last of the branches is taken for all numbers behind it, and for those below 0."""
    assert decide(parse_module(sent(*before)), parse_module(sent(*after)), "exact").verdict == found


@pytest.mark.parametrize("way", ["calls", "fused"])
def test_what_is_sent_by_what_a_branch_calls(way: str) -> None:
    def text(*branches: str) -> str:
        return sent(*branches).replace(SENDS, CALLS)

    last, first, always = (parse_module(text(*b)) for b in (("stays", way), (way, "stays"), (way, way)))
    assert decide(last, last, "exact").verdict == "proved"
    assert decide(last, parse_module(text("stays", "sends")), "exact").verdict == "proved"
    for before, after in ((last, first), (first, last), (last, always), (always, first)):
        assert decide(before, after, "exact").verdict == "unknown"


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("0", "", Verdict.UNKNOWN),
        ("1", "", Verdict.UNKNOWN),
        ("", "0", Verdict.PROVED),
        ("", "1", Verdict.PROVED),
        ("01", "0", Verdict.PROVED),
        ("0", "1", Verdict.PROVED),
        ("1", "0", Verdict.PROVED),
    ],
)
def test_what_waits_by_what_a_branch_is_given(before: str, after: str, found: Verdict) -> None:
    """What comes out of a conditional waits for all that its branches are given, whichever is taken."""

    def text(waits: str) -> str:
        waiting = [", control-predecessors={o}" if n in waits else "" for n in "01"]
        return entry(
            *HEAD,
            "t = token[] after-all()",
            "o = token[] outfeed(x, t), outfeed_shape=s32[4]",
            f"y = s32[4] abs(x){waiting[0]}",
            f"z = s32[4] abs(x){waiting[1]}",
            "c = s32[4] conditional(s, y, z), branch_computations={stays, turns}",
            "n = token[] outfeed(c, t), outfeed_shape=s32[4]",
            "ROOT r = s32[4] copy(x)",
            before=STAYS + "turns {\n  x = s32[4] parameter(0)\n  ROOT y = s32[4] negate(x)\n}\n",
        )

    assert decide(parse_module(text(before)), parse_module(text(after)), "exact").verdict == found


@pytest.mark.parametrize(("chooses", "found"), [("s", Verdict.PROVED), ("p", Verdict.UNKNOWN), ("n", Verdict.UNKNOWN)])
def test_what_is_sent_where_another_number_chooses(chooses: str, found: Verdict) -> None:
    def text(chooses: str) -> str:
        lines = [*HEAD, "p = s32[] parameter(2)", "n = s32[] negate(s)", by_number("c", "stays", "sends")]
        return entry(*lines, "ROOT r = s32[4] copy(c)", before=SENDS + STAYS).replace(
            "conditional(s,", f"conditional({chooses},"
        )

    assert decide(parse_module(text("s")), parse_module(text(chooses)), "exact").verdict == found


def test_what_is_sent_with_words_that_nobody_knows() -> None:
    """Nobody knows what is sent then, nor whether."""
    lines = (*HEAD, 'c = s32[4] call(x), to_apply=sends, frontend_attributes={odd="x"}', "ROOT r = s32[4] copy(x)")
    text = parse_module(entry(*lines, before=SENDS))
    other = parse_module(entry(*lines, before=SENDS).replace("odd", "even"))
    assert decide(text, other, "exact").reason == "not modelled: frontend_attributes.odd of call, which has effects"


def sent_inside(outer: str, inner: str) -> str:
    """Sent in a branch of a branch."""
    two = (
        "two {\n  t = (s32[], s32[4]) parameter(0)\n  s = s32[] get-tuple-element(t), index=0\n"
        "  x = s32[4] get-tuple-element(t), index=1\n"
        f"  ROOT c = s32[4] conditional(s, x, x), branch_computations={{{inner}}}\n}}\n"
        "one {\n  t = (s32[], s32[4]) parameter(0)\n  ROOT x = s32[4] get-tuple-element(t), index=1\n}\n"
    )
    head = [*HEAD, "p = s32[] parameter(2)", "t = (s32[], s32[4]) tuple(s, x)"]
    choice = f"c = s32[4] conditional(p, t, t), branch_computations={{{outer}}}"
    return entry(*head, choice, "ROOT r = s32[4] copy(c)", before=SENDS + STAYS + two)


@pytest.mark.parametrize(
    ("outer", "inner", "found"),
    [
        ("one, two", "stays, sends", Verdict.PROVED),
        ("two, one", "stays, sends", Verdict.UNKNOWN),
        ("one, two", "sends, stays", Verdict.UNKNOWN),
    ],
)
def test_what_is_sent_in_a_branch_of_a_branch(outer: str, inner: str, found: Verdict) -> None:
    before, after = sent_inside("one, two", "stays, sends"), sent_inside(outer, inner)
    assert decide(parse_module(before), parse_module(after), "exact").verdict == found


def read(*more: str) -> str:
    lines = [by_number("c", "stays", "reads", "stays")]
    if more:
        lines += [by_number("d", *more), "z = s32[4] subtract(d, d)", "ROOT r = s32[4] add(c, z)"]
    else:
        lines += ["ROOT r = s32[4] copy(c)"]
    return entry(*HEAD, *lines, before=READS + STAYS)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ((), False),
        (("stays", "reads", "stays"), False),
        (("stays", "reads"), True),
        (("reads", "stays", "stays"), True),
    ],
)
def test_what_is_promised(more: tuple[str, ...], told: bool) -> None:
    """Indices of which a branch says that they go up do so where the branch is taken, if at all."""
    assert is_named(parse_module(read()), parse_module(read(*more)), "promised: indices_are_sorted of gather") is told


@pytest.mark.parametrize(
    ("of", "at", "told"),
    [("x, i", 0, False), ("y, i", 0, False), ("x, j", 0, True), ("w, i", 0, True), ("x, i", 1, True)],
)
def test_what_is_promised_of_indices(of: str, at: int, told: bool) -> None:
    """That they go up is true of them whatever is read there, of so many elements, along that dimension."""
    attributes = (
        "offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={AT}, index_vector_dim=1, slice_sizes={1,1}, "
        "indices_are_sorted=true"
    )
    lines = [f"{name} = s32[{size},4] parameter({n})" for n, (name, size) in enumerate((("x", 4), ("y", 4), ("w", 5)))]
    lines += ["i = s32[2,1] parameter(3)", "j = s32[2,1] parameter(4)"]
    lines += [f"g = s32[2] gather(x, i), {attributes}".replace("AT", "0")]
    more = f"h = s32[2] gather({of}), {attributes}".replace("AT", f"{at}")
    before, after = (entry(*lines, *others, "ROOT r = s32[2] copy(g)") for others in ((), (more,)))
    assert is_named(parse_module(before), parse_module(after), "promised: indices_are_sorted of gather") is told


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (("",), ("",), False),
        (("x",), ("x",), False),
        (("x",), ("",), True),
        (("",), ("x",), True),
        (("x",), ("y",), True),
        (("",), ("", "x"), True),
        (("",), ("x", ""), True),
        (("x",), ("x", ""), True),
        (("", "x"), ("x", ""), False),
    ],
)
def test_what_is_promised_beside_words_that_nobody_knows(
    before: tuple[str, ...], after: tuple[str, ...], told: bool
) -> None:
    """What they change in what is called nobody knows, nor whether the promise holds then; nor does another call of the
    same say so."""
    texts = []
    for calls in (before, after):
        words = [f', frontend_attributes={{odd="{said}"}}' if said else "" for said in calls]
        lines = [*HEAD, *(f"c{n} = s32[4] call(x), to_apply=reads{more}" for n, more in enumerate(words))]
        texts.append(entry(*lines, "ROOT r = s32[4] copy(x)", before=READS))
    assert is_named(parse_module(texts[0]), parse_module(texts[1]), "promised: indices_are_sorted of gather") is told


DEEPER = (
    "deeper {\n  x = s32[4] parameter(0)\n  a = s32[4] call(x), to_apply=reads\n"
    "  ROOT b = s32[4] call(x), to_apply=plain\n}\n"
)
SEEN = {
    "needed": ("c = s32[4] call(x), to_apply=reads",),
    "sent": (
        "a = s32[4] call(x), to_apply=reads",
        "t = token[] after-all()",
        "o = token[] outfeed(a, t), outfeed_shape=s32[4]",
        "c = s32[4] call(x), to_apply=plain",
    ),
    "plain": ("c = s32[4] call(x), to_apply=plain",),
    "beside": ("a = s32[4] call(x), to_apply=reads", "c = s32[4] call(x), to_apply=plain"),
    "behind": ("a = s32[4] call(x), to_apply=reads", "b = s32[4] negate(a)", "c = s32[4] call(x), to_apply=plain"),
    "beside inside": ("c = s32[4] call(x), to_apply=deeper",),
    "beside what is beside": ("a = s32[4] call(x), to_apply=deeper", "c = s32[4] call(x), to_apply=plain"),
}


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("needed", "needed", False),
        ("needed", "beside", False),
        ("needed", "beside what is beside", False),
        ("plain", "needed", True),
        ("plain", "beside", True),
        ("beside", "needed", True),
        ("behind", "needed", True),
        ("beside inside", "needed", True),
        ("beside what is beside", "needed", True),
        ("beside", "beside", False),
        ("beside", "behind", False),
        ("beside", "beside inside", False),
        ("beside inside", "beside what is beside", False),
        ("beside what is beside", "beside", False),
        ("sent", "sent", False),
    ],
)
def test_what_is_promised_of_what_nobody_needs(before: str, after: str, told: bool) -> None:
    """Whether it holds nobody sees: it says nothing of the same result where that is needed."""
    functions = PLAIN + READS + DEEPER
    texts = [entry(*HEAD, *SEEN[which], "ROOT r = s32[4] copy(c)", before=functions) for which in (before, after)]
    assert is_named(parse_module(texts[0]), parse_module(texts[1]), "promised: indices_are_sorted of gather") is told


def test_what_is_promised_beside_an_exchange_that_nobody_needs() -> None:
    meets = (
        "add {\n a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT r = s32[] add(a, b)\n}\n"
        "meets {\n  x = s32[4] parameter(0)\n  g = s32[4] all-reduce(x), replica_groups={}, to_apply=add\n"
        "  r = s32[4] call(x), to_apply=reads\n  ROOT s = s32[4] add(g, r)\n}\n"
    )
    head = [*HEAD, "a = s32[4] call(x), to_apply=meets"]
    before, after = (
        entry(*head, *SEEN[which], "ROOT r = s32[4] copy(c)", before=PLAIN + READS + meets)
        for which in ("plain", "needed")
    )
    found = decide(parse_module(before), parse_module(after), "exact")
    assert (found.verdict, [*dict(found.axioms)]) == ("proved", ["promised: indices_are_sorted of gather"])


@pytest.mark.parametrize("which", ["plain", "beside", "behind"])
def test_what_is_promised_beside_something_else_that_is_sent(which: str) -> None:
    sends = ("t = token[] after-all()", "o = token[] outfeed(x, t), outfeed_shape=s32[4]")
    before, after = (
        entry(*HEAD, *sends, *SEEN[lines], "ROOT r = s32[4] copy(c)", before=PLAIN + READS)
        for lines in (which, "needed")
    )
    found = decide(parse_module(before), parse_module(after), "exact")
    assert (found.verdict, [*dict(found.axioms)]) == ("proved", ["promised: indices_are_sorted of gather"])


@pytest.mark.parametrize(("given", "told"), [("x, a", False), ("a, x", False), ("x, b", True)])
def test_what_is_promised_of_what_a_call_with_side_effects_is_given(given: str, told: bool) -> None:
    """Every operand of it is needed."""

    def text(given: str) -> str:
        call = f'o = s32[4] custom-call({given}), custom_call_target="f", custom_call_has_side_effect=true'
        lines = ["a = s32[4] call(x), to_apply=reads", "b = s32[4] call(x), to_apply=plain", call]
        return entry(*HEAD, *lines, "ROOT r = s32[4] copy(x)", before=PLAIN + READS)

    assert (
        is_named(
            parse_module(text(given)),
            parse_module(text(given.replace("b", "a"))),
            "promised: indices_are_sorted of gather",
        )
        is told
    )


@pytest.mark.parametrize(("said", "told"), [("", True), (", indices_are_sorted=true", False)])
def test_what_is_promised_of_what_is_given_nothing(said: str, told: bool) -> None:
    def text(said: str) -> str:
        function = (
            "given {\n  x = s32[4] iota(), iota_dimension=0\n  s = s32[2] slice(x), slice={[1:3]}\n"
            "  i = s32[2,1] reshape(s)\n  g = s32[2] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, "
            f"start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1}}{said}\n"
            "  ROOT b = s32[4] concatenate(g, g), dimensions={0}\n}\n"
        )
        return entry("c = s32[4] call(), to_apply=given", "ROOT r = s32[4] copy(c)", before=function)

    assert (
        is_named(
            parse_module(text(said)),
            parse_module(text(", indices_are_sorted=true")),
            "promised: indices_are_sorted of gather",
        )
        is told
    )


def test_what_is_promised_of_what_stands_behind_the_root() -> None:
    lines = ("ROOT c = s32[4] call(x), to_apply=plain", "a = s32[4] call(x), to_apply=reads")
    before = entry(*HEAD, *lines, before=PLAIN + READS)
    after = entry(*HEAD, *SEEN["needed"], "ROOT r = s32[4] copy(c)", before=PLAIN + READS)
    found = decide(parse_module(before), parse_module(after), "exact")
    assert (found.verdict, [*dict(found.axioms)]) == ("proved", ["promised: indices_are_sorted of gather"])


@pytest.mark.parametrize(("windows", "told"), [("u", False), ("v", True)])
def test_what_is_promised_of_windows_of_another_size(windows: str, told: bool) -> None:
    """That no two of them meet."""
    add = "add {\n a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT r = s32[] add(a, b)\n}\n"
    into = (
        "update_window_dims={1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
        "to_apply=add, unique_indices=true"
    )
    head = ["x = s32[8] parameter(0)", "i = s32[2,1] parameter(1)", "u = s32[2,1] parameter(2)"]
    head += ["v = s32[2,2] parameter(3)", f"g = s32[8] scatter(x, i, u), {into}"]
    more = [f"h = s32[8] scatter(x, i, {windows}), {into}", "z = s32[8] subtract(h, h)", "ROOT r = s32[8] add(g, z)"]
    before, after = (entry(*head, *lines, before=add) for lines in (["ROOT r = s32[8] copy(g)"], more))
    assert is_named(parse_module(before), parse_module(after), "promised: unique_indices of scatter") is told


@pytest.mark.parametrize(("way", "told"), [("reads", False), ("plain", True)])
def test_what_is_promised_of_what_is_sent(way: str, told: bool) -> None:
    """It is needed, though nothing comes back."""

    def text(sent: str, more: str) -> str:
        lines = [line.replace("reads", sent) for line in SEEN["sent"]]
        return entry(
            *HEAD, *lines, f"d = s32[4] call(x), to_apply={more}", "ROOT r = s32[4] add(c, d)", before=PLAIN + READS
        )

    assert (
        is_named(
            parse_module(text(way, "plain")), parse_module(text(way, "reads")), "promised: indices_are_sorted of gather"
        )
        is told
    )


@pytest.mark.parametrize(("given", "told"), [("x", False), ("y", True)])
def test_what_is_promised_beside_words_of_what_is_given_something_else(given: str, told: bool) -> None:
    words = ', frontend_attributes={odd="x"}'
    head = ["x = s32[4] parameter(0)", "y = s32[4] parameter(1)", f"c = s32[4] call(x), to_apply=reads{words}"]
    more = f"d = s32[4] call({given}), to_apply=reads{words}"
    before, after = (entry(*head, *lines, "ROOT r = s32[4] copy(x)", before=READS) for lines in ((), (more,)))
    assert is_named(parse_module(before), parse_module(after), "promised: indices_are_sorted of gather") is told


@pytest.mark.parametrize(("of", "told"), [("x, y, i, u, v", False), ("y, x, i, v, u", False), ("x, y, j, u, v", True)])
def test_what_is_promised_of_where_several_are_scattered(of: str, told: bool) -> None:
    both = (
        "both {\n a = s32[] parameter(0)\n b = s32[] parameter(1)\n c = s32[] parameter(2)\n d = s32[] parameter(3)\n"
        " ROOT t = (s32[], s32[]) tuple(c, d)\n}\n"
    )
    names = (("x", "4"), ("y", "4"), ("i", "2,1"), ("j", "2,1"), ("u", "2"), ("v", "2"))
    head = [f"{name} = s32[{sizes}] parameter({n})" for n, (name, sizes) in enumerate(names)]
    into = (
        "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
        "to_apply=both, indices_are_sorted=true"
    )
    head.append(f"s = (s32[4], s32[4]) scatter(x, y, i, u, v), {into}")
    last = "ROOT r = s32[4] get-tuple-element(s), index=0"
    more = f"z = (s32[4], s32[4]) scatter({of}), {into}"
    before, after = (entry(*head, *lines, last, before=both) for lines in ((), (more,)))
    assert is_named(parse_module(before), parse_module(after), "promised: indices_are_sorted of scatter") is told


@pytest.mark.parametrize(
    ("of", "found"), [("0, 0, 0", "proved"), ("0, 1, 0", "unknown"), ("1, 0, 0", "unknown"), ("0, 0, 1", "unknown")]
)
def test_what_is_the_same_in_all_branches(of: str, found: str) -> None:
    functions = STAYS + "turns {\n  x = s32[4] parameter(0)\n  ROOT r = s32[4] negate(x)\n}\n"
    chosen = by_number("c", *(("stays", "turns")[int(n)] for n in of.split(", ")))
    before = parse_module(entry(*HEAD, chosen, "ROOT r = s32[4] copy(c)", before=functions))
    after = parse_module(entry(*HEAD, "ROOT r = s32[4] copy(x)"))
    assert decide(before, after, "exact").verdict == found
    assert decide(after, before, "exact").verdict == found


def test_who_meets_in_the_last_of_two_branches() -> None:
    """Those with larger numbers, too, which changes what the others are told."""
    functions = (
        "any {\n  a = pred[] parameter(0)\n  b = pred[] parameter(1)\n  ROOT r = pred[] or(a, b)\n}\n"
        "all {\n  q = pred[] parameter(0)\n  ROOT g = pred[] all-reduce(q), replica_groups={}, to_apply=any\n}\n"
        "own {\n  ROOT q = pred[] parameter(0)\n}\n"
    )
    head = ["s = s32[] parameter(0)", "p = pred[] parameter(1)", "one = s32[] constant(1)"]
    two = "c = pred[] conditional(s, p, p), branch_computations={own, all}"
    three = "c = pred[] conditional(s, p, p, p), branch_computations={own, all, own}"
    masked = ("is = pred[] compare(s, one), direction=EQ", "ROOT r = pred[] select(is, c, p)")
    before, after, plain = (
        parse_module(entry(*head, *lines, before=functions).replace("m\n", "m, replica_count=4\n", 1))
        for lines in ((two, *masked), (three, *masked), (three, "ROOT r = pred[] copy(c)"))
    )
    assert decide(after, plain, "exact").verdict == Verdict.PROVED
    assert decide(before, plain, "exact").verdict == Verdict.UNKNOWN
    assert decide(before, after, "exact").verdict == Verdict.UNKNOWN


WHEN = ', frontend_attributes={_xla_send_recv_validation="{{0,1}}"}'
MOVES = {
    "collective-permute": (
        f"  ROOT r = s32[4] collective-permute(x), channel_id=1, source_target_pairs={{{{0,1}}}}{WHEN}",
    ),
    "collective-permute-start": (
        f"  a = (s32[4], s32[4]) collective-permute-start(x), channel_id=1, source_target_pairs={{{{0,1}}}}{WHEN}",
        "  ROOT r = s32[4] collective-permute-done(a)",
    ),
    "async-start": (
        f"  a = ((s32[4]), s32[4]) async-start(x), calls=permutes{WHEN}",
        "  ROOT r = s32[4] async-done(a)",
    ),
    "async-done of what comes to nothing": (
        "  a = ((s32[4]), s32[4]) async-start(x), calls=drops",
        f"  ROOT r = s32[4] async-done(a){WHEN}",
    ),
    "async-done": ("  a = ((s32[4]), s32[4]) async-start(x), calls=permutes", f"  ROOT r = s32[4] async-done(a){WHEN}"),
}


@pytest.mark.parametrize("way", MOVES)
@pytest.mark.parametrize(
    ("more", "told"),
    [(("stays", "moves", "stays"), False), (("stays", "moves"), True), (("moves", "stays", "stays"), True)],
)
def test_when_something_is_carried(way: str, more: tuple[str, ...], told: bool) -> None:
    """What a branch says of it holds where the branch is taken."""
    functions = (
        "permutes {\n  y = s32[4] parameter(0)\n"
        "  ROOT p = s32[4] collective-permute(y), channel_id=1, source_target_pairs={{0,1}}\n}\n"
        "drops {\n  z = s32[4] parameter(0)\n"
        "  p = s32[4] collective-permute(z), channel_id=1, source_target_pairs={{0,1}}\n  ROOT w = s32[4] copy(z)\n}\n"
        "moves {\n  x = s32[4] parameter(0)\n" + "\n".join(MOVES[way]) + "\n}\n" + STAYS
    )
    lines = [by_number("c", "stays", "moves", "stays")]
    before = entry(*HEAD, *lines, "ROOT r = s32[4] copy(c)", before=functions)
    lines += [by_number("d", *more), "z = s32[4] subtract(d, d)", "ROOT r = s32[4] add(c, z)"]
    found = decide(parse_module(before), parse_module(entry(*HEAD, *lines, before=functions)), "exact")
    assert found.verdict == Verdict.PROVED
    assert any(name.startswith("promised: _xla_send_recv_validation of") for name, _ in found.axioms) is told


PAIR = "(s32[], s32[])"
STATE = "(s32[], s32[4])"
FLAG = ", indices_are_sorted=true"
TURNS = (
    f"ends {{\n  v = {STATE} parameter(0)\n  k = s32[] get-tuple-element(v), index=0\n  n = s32[] constant(3)\n"
    "  ROOT o = pred[] compare(k, n), direction=LT\n}\n"
    f"turn {{\n  v = {STATE} parameter(0)\n  k = s32[] get-tuple-element(v), index=0\n"
    "  x = s32[4] get-tuple-element(v), index=1\n  one = s32[] constant(1)\n  j = s32[] add(k, one)\n"
    "  i = s32[2,1] broadcast(k), dimensions={}\n  g = s32[2] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, "
    "start_index_map={0}, index_vector_dim=1, slice_sizes={1}, indices_are_sorted=true\n"
    "  b = s32[4] concatenate(g, g), dimensions={0}\n  d = s32[4] add(x, b)\n"
    f"  ROOT r = {STATE} tuple(j, d)\n}}\n"
    f"runs {{\n  x = s32[4] parameter(0)\n  z = s32[] constant(0)\n  v = {STATE} tuple(z, x)\n"
    f"  l = {STATE} while(v), condition=ends, body=turn\n  ROOT r = s32[4] get-tuple-element(l), index=1\n}}\n"
)


@pytest.mark.parametrize(
    ("more", "told"),
    [(("stays", "runs", "stays"), False), (("stays", "runs"), True), (("runs", "stays", "stays"), True)],
)
def test_what_is_promised_in_the_turns_of_a_loop(more: tuple[str, ...], told: bool) -> None:
    once = entry(*HEAD, by_number("c", "stays", "runs", "stays"), "ROOT r = s32[4] copy(c)", before=TURNS + STAYS)
    lines = (by_number("c", "stays", "runs", "stays"), by_number("d", *more), "z = s32[4] subtract(d, d)")
    twice = entry(*HEAD, *lines, "ROOT r = s32[4] add(c, z)", before=TURNS + STAYS)
    assert is_named(parse_module(once), parse_module(twice), "promised: indices_are_sorted of gather") is told


@pytest.mark.parametrize("inside", ["reads", "runs"])
@pytest.mark.parametrize(
    ("more", "told"),
    [(("stays", "starts", "stays"), False), (("stays", "starts"), True), (("starts", "stays", "stays"), True)],
)
def test_what_is_promised_in_what_flies_in_a_branch(inside: str, more: tuple[str, ...], told: bool) -> None:
    """Alone, and in a loop."""
    starts = (
        f"starts {{\n  y = s32[4] parameter(0)\n  a = ((s32[4]), s32[4]) async-start(y), calls={inside}\n"
        "  ROOT b = s32[4] async-done(a)\n}\n"
    )
    functions = TURNS + READS + STAYS + starts
    once = entry(*HEAD, by_number("c", "stays", "starts", "stays"), "ROOT r = s32[4] copy(c)", before=functions)
    lines = (by_number("c", "stays", "starts", "stays"), by_number("d", *more), "z = s32[4] subtract(d, d)")
    twice = entry(*HEAD, *lines, "ROOT r = s32[4] add(c, z)", before=functions)
    assert is_named(parse_module(once), parse_module(twice), "promised: indices_are_sorted of gather") is told


def test_what_is_promised_in_what_decides_on_one_more_turn() -> None:
    """That is met once more than the turns. Where one of two promises is left out the other one is told."""
    read = "".join(line + "\n" for line in TURNS.split("\n") if " i = " in line or " g = " in line)
    given = "  x = s32[4] get-tuple-element(v), index=1\n"
    nought = "  h = s32[1] slice(g), slice={[0:1]}\n  y = s32[1] subtract(h, h)\n  z = s32[] reshape(y)\n"
    less = f"{nought}  three = s32[] constant(3)\n  n = s32[] add(three, z)\n"
    texts = []
    for turn, asked in ((FLAG, ""), ("", FLAG), (FLAG, FLAG)):
        functions = TURNS.replace(FLAG, turn).replace(
            "  n = s32[] constant(3)\n", given + read.replace(FLAG, asked) + less
        )
        texts.append(entry(*HEAD, "ROOT c = s32[4] call(x), to_apply=runs", before=functions))
    for one, other, told in ((0, 0, False), (0, 1, True), (0, 2, True), (1, 1, False), (2, 2, False), (2, 0, True)):
        assert (
            is_named(parse_module(texts[one]), parse_module(texts[other]), "promised: indices_are_sorted of gather")
            is told
        ), (one, other)


def test_what_is_promised_before_a_loop() -> None:
    run = (
        "n = s32[] constant(0)",
        f"v = {STATE} tuple(n, y)",
        f"l = {STATE} while(v), condition=ends, body=turn",
        "ROOT r = s32[4] get-tuple-element(l), index=1",
    )
    plain = TURNS.replace(", indices_are_sorted=true", "")
    read = "g = s32[2] gather(x, i), " + READS.split("gather(x, i), ")[1].split("\n")[0]
    given = ("i = s32[2,1] constant({{2},{1}})", "y = s32[4] concatenate(g, g), dimensions={0}")
    before = entry(*HEAD, given[0], read.replace(", indices_are_sorted=true", ""), given[1], *run, before=plain)
    after = entry(*HEAD, given[0], read, given[1], *run, before=plain)
    for one, other, told in ((before, after, True), (after, before, False), (after, after, False)):
        assert is_named(parse_module(one), parse_module(other), "promised: indices_are_sorted of gather") is told


def around(state: str, inner: str, begins: str, more: str) -> str:
    """A loop with a promise in the turns of another: over states of their own, of which the first one counts."""
    counts, counted = ([f"k{n}" for n in range(1 + kind.count(","))] for kind in (state, inner))
    read = "i = s32[2,1] constant({{2},{1}})\n x = s32[4] iota(), iota_dimension=0\n g = s32[2] gather(x, i), "
    read += READS.split("gather(x, i), ")[1].split("\n")[0]
    read += "\n h = s32[1] slice(g), slice={[0:1]}\n y = s32[1] subtract(h, h)\n z = s32[] reshape(y)\n"
    one, next_ = " one = s32[] constant(1)\n", "j = s32[] add(k0, one)"
    step = read + " step = s32[] add(one, z)\n j = s32[] add(k0, step)"
    functions = (
        f"two {{\n{parts_of(inner, counted)} n = s32[] constant(2)\n ROOT o = pred[] compare(k0, n), direction=LT\n}}\n"
        f"reads {{\n{parts_of(inner, counted)}{one} {step}\n"
        f" ROOT r = {inner} tuple({', '.join(['j', *counted[1:]])})\n}}\n"
        f"more {{\n{parts_of(state, counts)} n = s32[] constant(3)\n ROOT o = pred[] {more}\n}}\n"
        f"turns {{\n{parts_of(state, counts)}{one} z = s32[] constant(0)\n"
        f" v = {inner} tuple({', '.join(['z', *counts[: len(counted) - 1]])})\n"
        f" l = {inner} while(v), condition=two, body=reads\n {next_}\n"
        f" ROOT r = {state} tuple({', '.join(['j' if len(counts) > 1 else 'k0', *counts[1:]])})\n}}\n"
        f"three {{\n{parts_of('(s32[])', ['k0'])} n = s32[] constant(3)\n"
        " ROOT o = pred[] compare(k0, n), direction=LT\n}\n"
        f"adds {{\n{parts_of('(s32[])', ['k0'])}{one} {next_}\n ROOT r = (s32[]) tuple(j)\n}}\n"
    )
    lines = ["p = s32[] parameter(0)", "z = s32[] constant(0)", "v = (s32[]) tuple(z)"]
    lines += ("w = (s32[]) while(v), condition=three, body=adds", "n = s32[] get-tuple-element(w), index=0")
    lines += (f"u = {state} tuple({begins})", f"l = {state} while(u), condition=more, body=turns")
    return entry(*lines, "ROOT r = s32[] copy(p)", before=functions)


def test_what_is_promised_in_the_turns_of_a_loop_in_another() -> None:
    """Of the inner loop and the outer one together the results are the same three: in one order, but two of the one and
    one of the other, which never turns, and the other way round."""
    before = around("(s32[])", "(s32[], s32[])", "n", "compare(k0, k0), direction=NE")
    after = around("(s32[], s32[])", "(s32[])", "z, n", "compare(k0, n), direction=LT")
    for one, other, told in ((before, after, True), (before, before, False), (after, after, False)):
        assert is_named(parse_module(one), parse_module(other), "promised: indices_are_sorted of gather") is told


@pytest.mark.parametrize(("second", "told"), [("p", False), ("q", True)])
def test_what_is_promised_of_a_state_that_begins_otherwise(second: str, told: bool) -> None:
    """Its turns are as many."""
    gather = READS.split("gather(x, i), ")[1].split("\n")[0]
    given = parts_of(PAIR, ["k", "x"])
    functions = (
        f"ends {{\n{given} n = s32[] constant(3)\n ROOT o = pred[] compare(k, n), direction=LT\n}}\n"
        f"turn {{\n{given} one = s32[] constant(1)\n j = s32[] add(k, one)\n d = s32[] add(x, x)\n"
        " five = s32[1] constant({5})\n y = s32[1] reshape(x)\n b = s32[2] concatenate(y, five), dimensions={0}\n"
        f" i = s32[2,1] reshape(b)\n a = s32[4] iota(), iota_dimension=0\n g = s32[2] gather(a, i), {gather}\n"
        " h = s32[1] slice(g), slice={[0:1]}\n e = s32[] reshape(h)\n f = s32[] add(d, e)\n"
        f" ROOT r = {PAIR} tuple(j, f)\n}}\n"
    )
    lines = ["p = s32[] parameter(0)", "q = s32[] parameter(1)", "z = s32[] constant(0)"]
    loops = [
        [f"v{n} = {PAIR} tuple(z, {of})", f"l{n} = {PAIR} while(v{n}), condition=ends, body=turn"]
        for n, of in enumerate(("p", second))
    ]
    first = "w = s32[] get-tuple-element(l0), index=1"
    other = ("v = s32[] get-tuple-element(l1), index=1", "m = s32[] subtract(v, v)", "ROOT r = s32[] add(w, m)")
    before = entry(*lines, *loops[0], first, "ROOT r = s32[] copy(w)", before=functions)
    after = entry(*lines, *loops[0], first, *loops[1], *other, before=functions)
    assert is_named(parse_module(before), parse_module(after), "promised: indices_are_sorted of gather") is told


WORDS = ', backend_config={"known_induction_variable":{"tuple_index":"1"}}'


def after_another(first: str, second: str | None, read: bool) -> str:
    """A loop that doubles x; and one that leaves it as it is, of what the first gives, or none. They read by it."""
    gather = READS.split("gather(x, i), ")[1].split("\n")[0].replace(FLAG, "")
    reads = (
        " five = s32[1] constant({5})\n y = s32[1] reshape(x)\n b = s32[2] concatenate(y, five), dimensions={0}\n"
        f" i = s32[2,1] reshape(b)\n a = s32[4] iota(), iota_dimension=0\n g = s32[2] gather(a, i), {gather}MORE\n"
    )
    given = parts_of(PAIR, ["k", "x"]) + " one = s32[] constant(1)\n j = s32[] add(k, one)\n d = s32[] add(x, x)\n"
    functions = f"ends {{\n{given} n = s32[] constant(3)\n ROOT o = pred[] compare(k, n), direction=LT\n}}\n"
    for name, more, left in (("doubles", first, "d"), ("stays", second or "", "x")):
        inside = reads.replace("MORE", more) if read else ""
        functions += f"{name} {{\n{given}{inside} ROOT r = {PAIR} tuple(j, {left})\n}}\n"
    beside = ("", "") if read else (first, second)
    lines = ["p = s32[] parameter(0)", "z = s32[] constant(0)", f"v = {PAIR} tuple(z, p)"]
    lines += [
        f"l = {PAIR} while(v), condition=ends, body=doubles{beside[0]}",
        "w = s32[] get-tuple-element(l), index=1",
    ]
    if second is not None:
        lines += [f"u = {PAIR} tuple(z, w)", f"m = {PAIR} while(u), condition=ends, body=stays{beside[1]}"]
        lines += ["s = s32[] get-tuple-element(m), index=1"]
    return entry(*lines, f"ROOT r = s32[] copy({'w' if second is None else 's'})", before=functions)


@pytest.mark.parametrize(
    ("more", "read", "name"),
    [(FLAG, True, "indices_are_sorted of gather"), (WORDS, False, "known_induction_variable of while")],
)
def test_what_is_promised_of_a_state_that_stays(more: str, read: bool, name: str) -> None:
    """It is what the other loop leaves, and is said of that one no more than of any other."""
    before, after = after_another("", more, read), after_another(more, None, read)
    for one, other, told in ((before, after, True), (after, after, False), (before, before, False)):
        assert is_named(parse_module(one), parse_module(other), f"promised: {name}") is told


FLYING = "(s32[4], s32[4], u32[])"
MADE = (
    "made {\n  x = s32[4] parameter(0)\n  n = u32[] constant(0)\n  ROOT t = (s32[4], s32[4], u32[]) tuple(x, x, n)\n}\n"
)
STARTED = "started {\n  x = s32[4] parameter(0)\n  ROOT t = (s32[4], s32[4], u32[]) copy-start(x)\n}\n"


@pytest.mark.parametrize(
    ("branches", "known"),
    [
        ("made, made", True),
        ("made, started", False),
        ("started, made", False),
        ("made, made, started", False),
        ("started, started, made", False),
        ("started, started, started", True),
    ],
)
@pytest.mark.parametrize("deep", [False, True])
def test_what_is_in_flight_after_one_branch_alone(branches: str, known: bool, deep: bool) -> None:
    """Also as a part of a part of what it gives."""
    gives, functions = FLYING, MADE + STARTED
    if deep:
        gives = f"(s32[4], ({FLYING}))"
        inside = f"  u = ({FLYING}) tuple(t)\n  ROOT w = {gives} tuple(x, u)\n}}\n"
        functions = functions.replace("ROOT t", "t").replace("\n}\n", f"\n{inside}")
    given = ", ".join(["x"] * (branches.count(",") + 1))
    lines = (f"c = {gives} conditional(s, {given}), branch_computations={{{branches}}}", "ROOT r = s32[] add(s, s)")
    module = parse_module(entry(*HEAD, *lines, before=functions))
    found = decide(module, module, "exact")
    assert found.verdict == (Verdict.PROVED if known else Verdict.UNKNOWN)
    assert known or "in flight" in found.reason


@pytest.mark.parametrize(("root", "known"), [("copy(t)", True), ("copy-start(x)", False)])
def test_what_is_in_flight_after_a_turn_alone(root: str, known: bool) -> None:
    given = f"t = {FLYING} parameter(0)\n  x = s32[4] get-tuple-element(t), index=0\n"
    turn = f"turn {{\n  {given}  ROOT r = {FLYING} {root}\n}}\n"
    ends = f"ends {{\n  t = {FLYING} parameter(0)\n  ROOT o = pred[] constant(false)\n}}\n"
    lines = (
        "n = u32[] constant(0)",
        f"t = {FLYING} tuple(x, x, n)",
        f"l = {FLYING} while(t), condition=ends, body=turn",
    )
    module = parse_module(entry(*HEAD, *lines, "ROOT r = s32[] add(s, s)", before=ends + turn))
    found = decide(module, module, "exact")
    assert found.verdict == (Verdict.PROVED if known else Verdict.UNKNOWN)
    assert known or "in flight" in found.reason
