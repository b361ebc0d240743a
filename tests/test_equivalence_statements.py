"""Statements that stand for how others are read: two of one key are undefined in the same cases, whatever device,
branch or turn they are read in."""

from __future__ import annotations

import pytest
from red_pairs import ENDLESS, PROMISE, entry, is_named, on_two, parts_of, unproved

from hloproof.equivalence import decide
from hloproof.models.hlo.parser import parse_module

V, NV, NVU = "s32[4]", "(s32[], s32[4])", "(s32[], s32[4], s32[4])"
PAIRS = "source_target_pairs={{0,1},{1,0}}"
GATHER = "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}"
SORTED = ", indices_are_sorted=true"
COUNT = ', backend_config={"known_trip_count":{"n":"8"}}'
TURNS = "promised: known_trip_count of while"
LESS = "z = s32[] constant(9)\n ROOT o = pred[] compare(n, z), direction=LT"
UP = "one = s32[] constant(1)\n j = s32[] add(n, one)"
FUNCTIONS = (
    ENDLESS + f"negates {{\n v = {V} parameter(0)\n ROOT r = {V} negate(v)\n}}\n"
    f"permutes {{\n v = {V} parameter(0)\n ROOT r = {V} collective-permute(v), {PAIRS}\n}}\n"
    f"sends {{\n v = {V} parameter(0)\n k = token[] after-all()\n o = token[] outfeed(v, k), outfeed_shape={V}\n"
    f" ROOT r = {V} copy(v)\n}}\n"
    f"less {{\n{parts_of(NVU, 'nvu')} {LESS}\n}}\n"
)
LOOPS = "".join(
    f"{name} {{\n{parts_of(NVU, 'nvu')} {UP}\n {lines}\n ROOT r = {NVU} tuple(j, {gives})\n}}\n"
    for name, lines, gives in (
        (
            "meets",
            "four = s32[] constant(4)\n q = pred[] compare(n, four), direction=EQ\n"
            f" d = {V} conditional(q, v, v), true_computation=permutes, false_computation=copies\n e = {V} negate(u)",
            "d, e",
        ),
        ("apart", f"d = {V} negate(v)\n e = {V} negate(u)", "d, e"),
    )
)
"""In one turn of the first devices meet, of which the other part is made of nothing."""


def told(lines: list[str], functions: str = "", what: str = PROMISE, devices: bool = False) -> bool:
    """Whether a proof names what is promised of `c` and not before; `a` is the same, promised in both, `b` the same
    without a promise, and `d` something else that is promised in both. `k0` is made of `a`, and `k1` of `c`."""
    head = [f"x = {V} parameter(0)", "i = s32[4,1] parameter(1)", "s = s32[] parameter(2)", "n = s32[] parameter(3)"]
    head += [f"{name} = {V} gather(x, i), {GATHER}{said}" for name, said in (("a", SORTED), ("b", ""), ("c", "SAID"))]
    head.append(f'd = {V} copy(b), backend_config={{"dynamic_slice_config":{{"loop_index":0}}}}')
    for k, of in enumerate("ac"):
        head += [f"l{k} = s32[1] slice({of}), slice={{[0:1]}}", f"k{k} = s32[] reshape(l{k})"]
    text = entry(*head, *lines, before=FUNCTIONS + functions)
    text = on_two(text) if devices else text
    before, after = (text.replace("SAID", f).replace("COUNTED", c) for f, c in (("", ""), (SORTED, COUNT)))
    for one in (before, after):
        assert not is_named(parse_module(one), parse_module(one), what)
    return is_named(parse_module(before), parse_module(after), what)


def two(first: str, last: str, root: str = "") -> list[str]:
    """Two values that are read, one in the place of the other."""
    return [first, last, root or f"ROOT r = ({V}, {V}) tuple(w0, w1)"]


@pytest.mark.parametrize(
    ("first", "last", "named"),
    [
        ("negates, copies", "permutes, copies", True),
        ("permutes, copies", "permutes, copies", False),
        ("negates, copies", "negates, copies", False),
        ("copies, permutes", "permutes, copies", True),
    ],
)
def test_who_takes_part_in_an_exchange_is_chosen_for_all(first: str, last: str, named: bool) -> None:
    """Nothing is said of what is exchanged; and a device may take another branch than the one that reads it."""
    lines = [f"v{k} = {V} conditional(k{k}, x, x), branch_computations={{{of}}}" for k, of in enumerate((first, last))]
    lines += [f"w{k} = {V} conditional(s, v{k}, x), branch_computations={{negates, copies}}" for k in (0, 1)]
    assert told([*lines, f"ROOT r = ({V}, {V}) tuple(w0, w1)"], devices=True) is named


@pytest.mark.parametrize(
    ("turn", "first", "named"), [("meets", 2, True), ("meets", 1, False), ("apart", 2, False), ("apart", 1, False)]
)
def test_how_many_turns_there_are_in_which_devices_meet_is_said_to_all(turn: str, first: int, named: bool) -> None:
    lines = [f"t = {NVU} tuple(n, x, x)"]
    lines += [f"h{k} = {NVU} while(t), condition=less, body={turn}{said}" for k, said in enumerate((COUNT, "COUNTED"))]
    lines += [f"v{k} = {V} get-tuple-element(h{k}), index={at}" for k, at in ((0, first), (1, 1))]
    lines += [f"w{k} = {V} conditional(s, v{k}, x), branch_computations={{negates, copies}}" for k in (0, 1)]
    assert told([*lines, f"ROOT r = ({V}, {V}) tuple(w0, w1)"], LOOPS, TURNS, devices=True) is named


ODD = ', frontend_attributes={odd="1"}'


@pytest.mark.parametrize("words", [ODD, ', backend_config={"odd":"1"}'])
@pytest.mark.parametrize("run", ["call(t), to_apply=takes", "fusion(t), kind=kLoop, calls=takes"])
def test_words_beside_a_parameter_may_make_any_part_of_it_of_all(run: str, words: str) -> None:
    takes = f"takes {{\n t = ({V}, {V}) parameter(0)WORDS\n ROOT v = {V} get-tuple-element(t), index=0\n}}\n"
    head = [f"{name} = {V} parameter({k})" for k, name in enumerate("xyz")]
    before, after = (
        entry(*head, f"t = ({V}, {V}) tuple(x, {of})", f"ROOT r = {V} {run}", before=takes.replace("WORDS", words))
        for of in "yz"
    )
    unproved(before, after, "exact")
    one, other = (parse_module(text.replace(words, "")) for text in (before, after))
    assert decide(one, other, "exact").verdict == "proved"


@pytest.mark.parametrize(("first", "named"), [("s", True), ("m", False)])
def test_words_beside_a_parameter_are_the_same_of_the_same_parts(first: str, named: bool) -> None:
    takes = (
        f"takes {{\n t = ({V}, s32[]) parameter(0){ODD}\n v = s32[] get-tuple-element(t), index=1\n"
        f" ROOT w = {V} broadcast(v), dimensions={{}}\n}}\n"
    )
    lines = ["m = s32[] negate(n)"]
    lines += [f"t{k} = ({V}, s32[]) tuple({of})" for k, of in enumerate((f"a, {first}", "c, m"))]
    assert told([*lines, *two(*(f"w{k} = {V} call(t{k}), to_apply=takes" for k in (0, 1)))], takes) is named


@pytest.mark.parametrize("words", [', frontend_attributes={odd="1"}', ""])
@pytest.mark.parametrize(("first", "named"), [("1", False), ("2", True)])
def test_what_a_call_promises_beside_words_is_stated_whoever_reads_it(first: str, named: bool, words: str) -> None:
    """With its value."""
    beside = 'backend_config={"fusion_backend_config":{"dynamic_memcpy_config":{"src_dynamic_offsets":["OF"]}}}'
    lines = [f"x = {V} parameter(0)", f"d = {V} fusion(x), kind=kLoop, calls=negates{words}, {beside}"]
    text = entry(*lines, f"ROOT r = {V} negate(x)", before=FUNCTIONS)
    before, after = (parse_module(text.replace("OF", of)) for of in (first, "1"))
    promise = "promised: fusion_backend_config.dynamic_memcpy_config of fusion"
    assert is_named(before, after, promise) is named


@pytest.mark.parametrize(("words", "named"), [(ODD, True), ("", False)])
def test_what_is_promised_beside_words_says_nothing_of_the_same_without(words: str, named: bool) -> None:
    states = f"states {{\n x = {V} parameter(0)\n i = s32[4,1] parameter(1)\n"
    states += f" ROOT g = {V} gather(x, i), {GATHER}{SORTED}\n}}\n"
    assert told(two(f"w0 = {V} call(x, i), to_apply=states{words}", f"w1 = {V} negate(c)"), states) is named


@pytest.mark.parametrize(
    ("branches", "named"), [("sends", True), ("copies", True), ("sends, sends", True), ("sends, copies", False)]
)
def test_what_chooses_among_one_is_not_read(branches: str, named: bool) -> None:
    """Nor is what chooses among as many effects known to be."""
    given = ", ".join("x" * (1 + branches.count(",")))
    first = f"w0 = {V} conditional(k0, {given}), branch_computations={{{branches}}}"
    assert told(two(first, f"w1 = {V} broadcast(k1), dimensions={{}}")) is named


@pytest.mark.parametrize("result", ["()", "((), ())", "s32[1]", "token[]"])
def test_what_an_effect_applies_counts_also_where_it_gives_nothing(result: str) -> None:
    applied = "".join(
        f"{name} {{\n x = {V} parameter(0)\n i = s32[4,1] parameter(1)\n"
        f" g = {V} gather(x, i), {GATHER}{said}\n ROOT r = {V} negate(g)\n}}\n"
        for name, said in (("states", SORTED), ("reads", "SAID"))
    )
    lines = ['e = s32[1] custom-call(x, i), custom_call_target="g", to_apply=states']
    lines += [
        f'o = {result} custom-call(x, i), custom_call_target="f", to_apply=reads, custom_call_has_side_effect=true'
    ]
    head = [f"x = {V} parameter(0)", "i = s32[4,1] parameter(1)"]
    text = entry(*head, *lines, f"ROOT r = {V} negate(x)", before=applied)
    before, after = (parse_module(text.replace("SAID", s)) for s in ("", SORTED))
    assert is_named(before, after, PROMISE)


@pytest.mark.parametrize("count", ["", ', backend_config={"known_trip_count":{"n":"51"}}'])
def test_a_condition_that_is_nested_deeply(count: str) -> None:
    """Nobody follows the loop, so that it is taken for granted that it ends."""
    steps = "".join(f" a{n} = s32[] add(a{n - 1}, one)\n" for n in range(1, 500))
    functions = (
        f"asks {{\n a0 = s32[] parameter(0)\n one = s32[] constant(1)\n{steps} z = s32[] constant(550)\n"
        " ROOT o = pred[] compare(a499, z), direction=LT\n}\n"
        "turn {\n k = s32[] parameter(0)\n one = s32[] constant(1)\n ROOT j = s32[] add(k, one)\n}\n"
    )
    head, root = f"x = {V} parameter(0)", f"ROOT r = {V} negate(x)"
    loop = ("z = s32[] constant(0)", f"w = s32[] while(z), condition=asks, body=turn{count}")
    found = decide(parse_module(entry(head, root)), parse_module(entry(head, *loop, root, before=functions)), "exact")
    assert found.verdict == "proved"
    assert {n for n, _ in found.axioms} == ({TURNS} if count else set()) | {"assumed: a loop ends"}


@pytest.mark.parametrize(("last", "named"), [("negates", True), ("copies", False)])
def test_what_chooses_among_values_is_read_otherwise_than_among_the_same(last: str, named: bool) -> None:
    first = f"w0 = {V} conditional(k0, d, b), branch_computations={{copies, copies}}"
    assert told(two(first, f"w1 = {V} conditional(k1, d, b), branch_computations={{{last}, copies}}")) is named


def test_what_is_exchanged_in_the_only_branch() -> None:
    """Compared with itself, where nothing chooses."""
    assert told(two(f"w0 = {V} conditional(s, c), branch_computations={{permutes}}", f"w1 = {V} copy(x)"), devices=True)


@pytest.mark.parametrize(("first", "named"), [("sorts", False), ("slices", True), ("copies", True)])
def test_what_a_function_promises_by_which_devices_reduce(first: str, named: bool) -> None:
    adds = "".join(
        f"{name} {{\n p = s32[] parameter(0)\n q = s32[] parameter(1)\n v = {V} broadcast(p), dimensions={{}}\n"
        f" i = s32[4,1] broadcast(q), dimensions={{}}\n g = {V} gather(v, i), {GATHER}{said}\n"
        f" h = {V} copy(g){beside}\n l = s32[1] slice(h), slice={{[0:1]}}\n k = s32[] reshape(l)\n"
        " ROOT r = s32[] add(k, q)\n}\n"
        for name, said, beside in (
            ("sorts", SORTED, ""),
            ("slices", "", ', backend_config={"dynamic_slice_config":{"loop_index":0}}'),
            ("adds", "", ""),
            ("last", "SAID", ""),
        )
    )
    used = (first.replace("copies", "adds"), "last")
    lines = [f"w{k} = {V} all-reduce(x), replica_groups={{{{0,1}}}}, to_apply={f}" for k, f in enumerate(used)]
    assert told([*lines, f"ROOT r = ({V}, {V}) tuple(w0, w1)"], adds, devices=True) is named


FIVE = f"(s32[], {V}, {V}, {V}, {V})"


@pytest.mark.parametrize(("first", "named"), [("v, u", False), ("u, v", True)])
def test_which_part_is_read_after_how_many_turns(first: str, named: bool) -> None:
    functions, lines = f"asks {{\n{parts_of(FIVE, 'nvuwy')} {LESS}\n}}\n", []
    for k, (of, given) in enumerate((("a", first), ("c", "v, u"))):
        one, other = given.split(", ")
        functions += (
            f"turn{k} {{\n{parts_of(FIVE, 'nvuwy')} {UP}\n m = {V} negate({one})\n q = {V} add(m, y)\n"
            f" h = {V} negate({other})\n ROOT r = {FIVE} tuple(j, v, u, q, h)\n}}\n"
        )
        lines += [f"t{k} = {FIVE} tuple(n, {of}, b, x, x)", f"h{k} = {FIVE} while(t{k}), condition=asks, body=turn{k}"]
    assert told([*lines, *two(*(f"w{k} = {V} get-tuple-element(h{k}), index=3" for k in (0, 1)))], functions) is named


@pytest.mark.parametrize(("first", "named"), [("asked", False), ("a turn", True)])
def test_a_loop_in_a_turn_is_none_where_it_is_asked_for_one(first: str, named: bool) -> None:
    """That is run once more; nobody reads what it gives."""
    runs = "l = s32[1] slice(v), slice={[0:1]}\n i = s32[] reshape(l)\n"
    runs += " w = s32[] while(i), condition=differs, body=up2\n "
    functions, lines = "", []
    for k, (of, where) in enumerate((("a", first), ("c", "asked"))):
        asked, turn = (runs, "") if where == "asked" else ("", runs)
        functions += f"asks{k} {{\n{parts_of(NV, 'nv')} {asked}{LESS}\n}}\n"
        functions += f"turn{k} {{\n{parts_of(NV, 'nv')} {turn}{UP}\n ROOT r = {NV} tuple(j, v)\n}}\n"
        lines += [f"t{k} = {NV} tuple(n, {of})", f"h{k} = {NV} while(t{k}), condition=asks{k}, body=turn{k}"]
    assert told([*lines, f"ROOT r = {V} negate(x)"], functions) is named


@pytest.mark.parametrize("gives", ["u, v", "h, v"])
def test_what_a_function_promises_in_a_turn_is_stated_whether_a_part_stays_or_not(gives: str) -> None:
    """The turn is read again where one does, and the function only once; nobody reads what it gives."""
    functions = (
        "below { k = s32[] parameter(0)\n z = s32[] constant(5)\n ROOT o = pred[] compare(k, z), direction=LT\n}\n"
        "next { k = s32[] parameter(0)\n o = s32[] constant(1)\n ROOT j = s32[] add(k, o)\n}\n"
        "counts { e = s32[] parameter(0)\n z = s32[] constant(0)\n l = s32[] while(z), condition=below, body=nextSAID\n"
        " ROOT r = s32[] negate(e)\n}\n"
        f"turn {{\n{parts_of(NVU, 'nuv')} {UP}\n m = {V} map(u), dimensions={{0}}, to_apply=counts\n"
        f" h = {V} negate(u)\n ROOT r = {NVU} tuple(j, {gives})\n}}\n"
    )
    lines = [f"x = {V} parameter(0)", "n = s32[] parameter(1)", f"t = {NVU} tuple(n, x, x)"]
    lines += [f"w = {NVU} while(t), condition=less, body=turn", f"ROOT r = {V} get-tuple-element(w), index=1"]
    text = entry(*lines, before=FUNCTIONS + functions)
    before, right, wrong = (
        parse_module(text.replace("SAID", f', backend_config={{"known_trip_count":{{"n":"{n}"}}}}' if n else ""))
        for n in (0, 5, 3)
    )
    assert dict(decide(before, right, "exact").axioms) == {}
    found = decide(before, wrong, "exact")
    assert (found.verdict, found.reason) == ("unknown", "a loop is said to take 3 turns, and takes 5")


def of_one(name: str, takes: str, lines: str, gives: str) -> str:
    """A function of numbers, of which `takes` names the arguments; `e` is the one that is gathered by. Of the second
    one, whose name ends with 1, that is promised after alone."""
    given = "".join(f" {one} = s32[] parameter({k})\n" for k, one in enumerate(takes))
    said = "SAID" if name.endswith("1") else SORTED
    read = f" v = {V} broadcast(e), dimensions={{}}\n i = s32[4,1] broadcast(e), dimensions={{}}\n"
    read += f" c = {V} gather(v, i), {GATHER}{said}\n d = {V} gather(v, i), {GATHER}\n"
    return f"{name} {{\n{given}{read} {lines}\n ROOT r = {gives}\n}}\n"


CHOICE = (
    f"m = {V} conditional(a, c, d), branch_computations={{copies, copies}}\n"
    " l = s32[1] slice(m), slice={[0:1]}\n h = s32[] reshape(l)\n"
)


@pytest.mark.parametrize(("step", "named"), [(1, False), (2, True)])
def test_what_one_result_chooses_by_is_told_by_all_values_of_the_function(step: int, named: bool) -> None:
    """An accumulator that nobody reads chooses what the other one reads."""
    steps = [f"{CHOICE} o = s32[] constant({k})\n j = s32[] add(a, o)\n u = s32[] add(b, h)" for k in (1, step)]
    functions = "".join(of_one(f"f{k}", "abef", of, "(s32[], s32[]) tuple(j, u)") for k, of in enumerate(steps))
    lines = [f"t{k} = (s32[], s32[]) reduce(x, x, n, n), dimensions={{0}}, to_apply=f{k}" for k in (0, 1)]
    lines += [f"w{k} = s32[] get-tuple-element(t{k}), index=1" for k in (0, 1)]
    assert told([*lines, "ROOT r = (s32[], s32[]) tuple(w0, w1)"], functions) is named


@pytest.mark.parametrize(("pad", "named"), [("1_0", False), ("0_1", True)])
def test_what_a_function_reads_is_told_with_where_it_is_applied(pad: str, named: bool) -> None:
    functions = "".join(of_one(f"f{k}", "ae", CHOICE, "s32[] add(a, h)") for k in (0, 1))
    pads = enumerate((pad, "1_0"))
    lines = [f"w{k} = {V} reduce-window(x, n), window={{size=2 pad={of}}}, to_apply=f{k}" for k, of in pads]
    assert told([*lines, f"ROOT r = ({V}, {V}) tuple(w0, w1)"], functions) is named


@pytest.mark.parametrize(("first", "named"), [("scatter", False), ("select", True)])
def test_which_function_has_a_loop_tells_it_apart(first: str, named: bool) -> None:
    """Nobody reads what the loop gives, and both functions are given two numbers."""
    loop = " l = s32[1] slice(c), slice={[0:1]}\n k = s32[] reshape(l)\n"
    loop += " w = s32[] while(k), condition=differs, body=up2"
    plain = " e = s32[] parameter(0)\n f = s32[] parameter(1)\n"
    functions, lines = "", ["y = s32[2] slice(x), slice={[0:2]}"]
    for k, where in enumerate((first, "scatter")):
        for name, gives in (("select", "pred[] compare(e, f), direction=GE"), ("scatter", "s32[] add(e, f)")):
            runs = of_one(f"{name}{k}", "ef", loop, gives)
            functions += runs if name == where else f"{name}{k} {{\n{plain} ROOT r = {gives}\n}}\n"
        applied = f"window={{size=2 stride=2}}, select=select{k}, scatter=scatter{k}"
        lines.append(f"w{k} = {V} select-and-scatter(x, y, n), {applied}")
    assert told([*lines, f"ROOT r = {V} negate(x)"], functions) is named


PAIR = f"({V}, s32[4,1])"
GIVEN = f" x = {V} parameter(0)\n i = s32[4,1] parameter(1)\n"


@pytest.mark.parametrize(
    ("first", "named"),
    [("call(t), to_apply=words", False), ("conditional(s, t, t), branch_computations={words, takes}", True)],
)
def test_what_is_said_beside_words_may_decide_on_a_loop_there(first: str, named: bool) -> None:
    parts = f" t = {PAIR} parameter(0)\n x = {V} get-tuple-element(t), index=0\n"
    parts += " i = s32[4,1] get-tuple-element(t), index=1\n"
    functions = (
        f"states {{\n{GIVEN} c = {V} call(x), to_apply=runs\n g = {V} gather(x, i), {GATHER}{SORTED}\n"
        f" ROOT r = {V} copy(c)\n}}\n"
        f"words {{\n{parts} ROOT r = {V} call(x, i), to_apply=states{ODD}\n}}\n"
        f"takes {{\n t = {PAIR} parameter(0)\n ROOT x = {V} get-tuple-element(t), index=0\n}}\n"
    )
    lines = [f"x = {V} parameter(0)", "i = s32[4,1] parameter(1)", "s = s32[] parameter(2)", f"t = {PAIR} tuple(x, i)"]
    lines.append(f"w0 = {V} {first}")
    root, again = f"ROOT r = {V} negate(x)", f"w1 = {V} call(t), to_apply=words"
    before = parse_module(entry(*lines, root, before=FUNCTIONS + functions))
    after = parse_module(entry(*lines, again, root, before=FUNCTIONS + functions))
    assert is_named(before, after, PROMISE) is named


def test_what_an_effect_applies_counts_also_where_nobody_reads_what_it_gives() -> None:
    """Though the same is stated elsewhere."""
    functions = "".join(
        f"{name} {{\n{GIVEN} ROOT g = {V} gather(x, i), {GATHER}{said}\n}}\n"
        for name, said in (("plain", ""), ("sorted", SORTED))
    )
    lines = [f"x = {V} parameter(0)", "i = s32[4,1] parameter(1)", f"d = {V} call(x, i), to_apply=sorted"]
    acts = 'custom_call_target="t", custom_call_has_side_effect=true, called_computations={OF}'
    text = entry(*lines, f"e = {V} custom-call(x, i), {acts}", f"ROOT r = {V} negate(x)", before=functions)
    before, after = (parse_module(text.replace("OF", of)) for of in ("plain", "sorted"))
    assert is_named(before, after, PROMISE)
