"""What is promised of what devices exchange, and of what is waited for: what a branch reads on one device says nothing
of what others give."""

from __future__ import annotations

import pytest
from red_pairs import ENDLESS, PLAIN, PROMISE, SORTED, entry, is_named, on_two, parts_of

from hloproof.models.hlo.parser import parse_module

V, NV = "s32[4]", "(s32[], s32[4])"
FUNCTIONS = ENDLESS + (
    f"negates {{\n v = {V} parameter(0)\n ROOT r = {V} negate(v)\n}}\n"
    f"sends {{\n v = {V} parameter(0)\n k = token[] after-all()\n o = token[] outfeed(v, k), outfeed_shape={V}\n"
    f" ROOT r = {V} copy(v)\n}}\n"
    "adds {\n p = s32[] parameter(0)\n q = s32[] parameter(1)\n ROOT r = s32[] add(p, q)\n}\n"
)
PAIRS, GROUPS = "source_target_pairs={{0,1},{1,0}}", "replica_groups={{0,1}}"
EXCHANGES = {
    "permuted": f"d@ = {V} collective-permute(OF), {PAIRS}",
    "permuted in flight": f"f@ = ({V}, {V}) collective-permute-start(OF), {PAIRS}\n"
    f" d@ = {V} collective-permute-done(f@)",
    "reduced": f"d@ = {V} all-reduce(OF), {GROUPS}, to_apply=adds",
    "reduced in flight": f"f@ = {V} all-reduce-start(OF), {GROUPS}, to_apply=adds\n d@ = {V} all-reduce-done(f@)",
    "gathered": f"f@ = s32[8] all-gather(OF), dimensions={{0}}, {GROUPS}\n d@ = {V} slice(f@), slice={{[0:4]}}",
    "from all to all": f"d@ = {V} all-to-all(OF), dimensions={{0}}, {GROUPS}",
    "two at once": f"f@ = ({V}, {V}) all-reduce(OF, x), {GROUPS}, to_apply=adds\n"
    f" d@ = {V} get-tuple-element(f@), index=0",
}
READS = {
    "in a branch": f"w@ = {V} conditional(s, MADE, x), branch_computations={{negates, copies}}",
    "where a loop begins": f"w@ = {V} conditional(s, MADE, x), branch_computations={{runs, copies}}",
    "by an effect": f"w@ = {V} conditional(s, MADE, x), branch_computations={{sends, copies}}",
    "in another branch": f"w@ = {V} conditional(s, x, MADE), branch_computations={{copies, negates}}",
    "always": f"w@ = {V} negate(MADE)",
}


def tells(first: str, last: str, functions: str = "") -> bool:
    """Whether a proof names what is promised of `c` after and not before; of `a` it is promised in both, and of `b`,
    which is the same, in neither."""
    lines = [f"x = {V} parameter(0)", "s = s32[] parameter(1)", "n = s32[] parameter(2)"]
    lines += [f"{name} = {V} call(x), to_apply={f}" for name, f in (("a", "sorted"), ("b", "plain"), ("c", "SAID"))]
    for at, (of, text) in enumerate((("a", first), ("c", last))):
        lines += text.replace("@", str(at)).replace("OF", of).replace("MADE", of).split("\n ")
    root = f"ROOT r = ({V}, {V}) tuple(w0, w1)"
    text = on_two(entry(*lines, root, before=PLAIN + SORTED + FUNCTIONS + functions))
    before, after = (parse_module(text.replace("SAID", said)) for said in ("plain", "sorted"))
    return is_named(before, after, PROMISE)


def exchanged(exchange: str, reads: str) -> str:
    return f"{EXCHANGES[exchange]}\n {READS[reads].replace('MADE', 'd@')}"


@pytest.mark.parametrize("reads", ["in a branch", "where a loop begins", "by an effect"])
@pytest.mark.parametrize("exchange", EXCHANGES)
def test_what_is_exchanged_is_read_where_others_take_another_branch(exchange: str, reads: str) -> None:
    last = exchanged(exchange, reads)
    assert tells(READS[reads], last)
    assert tells(exchanged(exchange, "in another branch"), last)
    assert not tells(last, last)
    assert not tells(READS["always"], last)
    assert not tells(exchanged(exchange, "always"), last)


def test_what_one_exchange_reads_is_not_what_another_does() -> None:
    other = exchanged("permuted", "always").replace("{{0,1},{1,0}}", "{{0,1}}")
    assert tells(other, exchanged("permuted", "always"))
    assert tells(exchanged("permuted", "always"), READS["always"])
    twice = f"e@ = {V} collective-permute(OF), {PAIRS}\n {exchanged('permuted', 'in a branch').replace('(OF)', '(e@)')}"
    assert tells(exchanged("permuted", "in a branch"), twice)
    assert tells(twice, exchanged("permuted", "in a branch"))
    assert not tells(twice, twice)


def test_what_two_ways_read_of_one_exchange_are_two() -> None:
    """A shorter way does not stand for one through an exchange, which says nothing of this device."""
    both = f"{READS['in a branch']}\n {EXCHANGES['permuted']}\n u@ = {V} conditional(s, d@, x)"
    both = f"{both}, branch_computations={{negates, copies}}\n w@ = {V} add(w@a, u@)".replace("w@ =", "w@a =", 1)
    assert tells(READS["in a branch"], both)
    assert not tells(both, both)


def test_a_branch_before_an_exchange_is_none_behind_it() -> None:
    before = f"e@ = {V} conditional(s, OF, b), branch_computations={{copies, copies}}\n"
    before = f"{before} d@ = {V} collective-permute(e@), {PAIRS}\n {READS['always'].replace('MADE', 'd@')}"
    assert tells(before, exchanged("permuted", "in a branch").replace("negates", "copies"))
    assert tells(before, exchanged("permuted", "always"))
    assert not tells(before, before)


TURNS = {
    "in a branch around the loop": ("(s32[], s32[4], s32[4])", "nxv", "copy(d)", "negate(ONE)"),
    "in a branch of the turn": (
        "(s32[], s32[4], s32[4], s32[])",
        "nxvk",
        "conditional(k, d, v), branch_computations={negates, copies}",
        "conditional(k, ONE, v), branch_computations={negates, copies}",
    ),
}


@pytest.mark.parametrize(("first", "told"), [("u", True), ("d", False)])
@pytest.mark.parametrize("way", TURNS)
def test_what_is_exchanged_in_a_turn(way: str, first: str, told: bool) -> None:
    """Beside what is read on the same device: as `d` and `u`."""
    kind, names, of_exchanged, of_own = TURNS[way]
    parts = parts_of(kind, names)
    functions = f"less {{\n{parts} z = s32[] constant(9)\n ROOT o = pred[] compare(n, z), direction=LT\n}}\n"
    for at, said, reads in ((0, "sorted", first), (1, "SAID", "d")):
        exchanged_one, own = ("g", "e") if reads == "u" else ("e", "g")
        functions += (
            f"turn{at} {{\n{parts} one = s32[] constant(1)\n j = s32[] add(n, one)\n"
            f" e = {V} call(x), to_apply={said}\n g = {V} call(x), to_apply=plain\n"
            f" d = {V} collective-permute({exchanged_one}), {PAIRS}\n m = {V} {of_exchanged}\n"
            f" u = {V} {of_own.replace('ONE', own)}\n y = {V} add(m, u)\n"
            f" ROOT r = {kind} tuple({', '.join(('j', 'x', 'y', *names[3:]))})\n}}\n"
        )
    loop = f"t@ = {kind} tuple({', '.join(('n', 'x', 'x', *('s' for _ in names[3:])))})\n"
    loop += f" h@ = {kind} while(t@), condition=less, body=turn@\n"
    if names[3:]:
        loop += f" w@ = {V} get-tuple-element(h@), index=2"
    else:
        loop += f" g@ = {V} get-tuple-element(h@), index=2\n {READS['in a branch'].replace('MADE', 'g@')}"
    assert tells(loop, loop, functions=functions) is told


WAITS = 'k@ = token[] custom-call(OF), custom_call_target="waits"\n '
WAITING = {
    "added": f"w@ = {V} add-dependency(x, k@)",
    "sent": f"o@ = token[] outfeed(x, k@), outfeed_shape={V}\n w@ = {V} copy(x)",
    "after all": f"j@ = token[] after-all(k@)\n w@ = {V} add-dependency(x, j@)",
    "called": f'w@ = {V} custom-call(x, k@), custom_call_target="takes"',
    "given to a branch": f"t@ = ({V}, token[]) tuple(x, k@)\n"
    f" w@ = {V} conditional(s, t@, t@), branch_computations={{waits, waits}}",
}
BRANCH = (
    f"waits {{\n t = ({V}, token[]) parameter(0)\n v = {V} get-tuple-element(t), index=0\n"
    f" k = token[] get-tuple-element(t), index=1\n ROOT r = {V} add-dependency(v, k)\n}}\n"
)


@pytest.mark.parametrize("way", WAITING)
def test_what_is_waited_for_is_not_read(way: str) -> None:
    waits = WAITS + WAITING[way]
    assert tells(waits, READS["always"], functions=BRANCH)
    assert not tells(waits, waits, functions=BRANCH)
    assert not tells(READS["always"], waits, functions=BRANCH)


GIVEN = {
    "exchanged": f"d = {V} collective-permute(v), {PAIRS}",
    "exchanged in flight": f"f = ({V}, {V}) collective-permute-start(v), {PAIRS}\n d = {V} collective-permute-done(f)",
    "exchanged in a loop inside": f"t1 = {NV} tuple(n, v)\n h1 = {NV} while(t1), condition=less, body=inner\n"
    f" d = {V} get-tuple-element(h1), index=1",
    "not exchanged": f"d = {V} negate(v)",
}


@pytest.mark.parametrize("given", GIVEN)
def test_what_a_loop_begins_with_is_exchanged_in_its_turns(given: str) -> None:
    turn = f"{{\n{parts_of(NV, 'nv')} one = s32[] constant(1)\n j = s32[] add(n, one)\n LINES\n"
    turn += f" ROOT r = {NV} tuple(j, d)\n}}\n"
    functions = (
        f"less {{\n{parts_of(NV, 'nv')} z = s32[] constant(9)\n ROOT o = pred[] compare(n, z), direction=LT\n}}\n"
    )
    functions += f"inner {turn.replace('LINES', GIVEN['exchanged'])}turn {turn.replace('LINES', GIVEN[given])}"
    runs = f"t@ = {NV} tuple(n, MADE)\n h@ = {NV} while(t@), condition=less, body=turn\n"
    runs += f" g@ = {V} get-tuple-element(h@), index=1\n "
    last = runs.replace("MADE", "OF") + READS["in a branch"].replace("MADE", "g@")
    assert tells(READS["in a branch"], last, functions=functions)
    assert not tells(last, last, functions=functions)
    assert not tells(READS["always"], last, functions=functions)
    one = f"e@ = {V} conditional(s, OF, b), branch_computations={{copies, copies}}\n "
    first = one + runs.replace("MADE", "e@") + READS["always"].replace("MADE", "g@")
    assert tells(first, last.replace("negates", "copies"), functions=functions)


@pytest.mark.parametrize(
    "way",
    [
        "conditional(s, OF, x), branch_computations={negates, copies}",
        f"collective-permute(OF), {PAIRS}",
        "call(OF), to_apply=leaves",
    ],
)
def test_words_that_nobody_knows_may_say_nothing(way: str) -> None:
    functions = f"leaves {{\n v = {V} parameter(0)\n ROOT r = {V} iota(), iota_dimension=0\n}}\n"
    beside = f'w@ = {V} {way}, frontend_attributes={{odd="1"}}'
    assert tells(beside, READS["always"], functions=functions)
    assert not tells(beside, beside, functions=functions)
    in_branch = f"{beside.replace('w@', 'v@')}\n {READS['in a branch'].replace('MADE', 'v@')}"
    assert tells(in_branch, READS["in a branch"], functions=functions)
    assert not tells(in_branch, in_branch, functions=functions)


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [("OF, b", "OF, b", False), ("OF, b", "b, OF", True), ("b, OF", "OF, b", True), ("x, x", "OF, b", True)],
)
def test_words_that_nobody_knows_may_make_a_part_of_what_stands_beside_it(first: str, last: str, told: bool) -> None:
    """Of the part that is read nothing is said."""
    ways = []
    for given in (first, last):
        pair = f"({V}, {V})"
        way = f't@ = {pair} tuple({given})\n v@ = {pair} opt-barrier(t@), frontend_attributes={{odd="1"}}\n'
        ways.append(f"{way} w@ = {V} get-tuple-element(v@), index={int(given != 'b, OF')}")
    assert tells(ways[0], ways[1]) is told
