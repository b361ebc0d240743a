"""Collectives combined and split; promises about indices that a pass adds are told."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from red_pairs import parts_of

from hloproof.equivalence import decide
from hloproof.equivalence.graph import Node
from hloproof.equivalence.reading import GraphReader
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Verdict

FUNCTIONS = """sum {
 x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT r = f32[] add(x, y)
}
most {
 x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT r = f32[] maximum(x, y)
}
"""
HEAD = " p = f32[4] parameter(0)\n q = f32[8] parameter(1)\n"


def module(body: str) -> Module:
    return parse_module(f"HloModule m, num_partitions=4\n{FUNCTIONS}ENTRY e {{\n{HEAD}{body}}}\n")


def reduced(name: str, operand: str, size: int, function: str = "sum", groups: str = "{{0,1},{2,3}}") -> str:
    return (
        f" {name} = f32[{size}] all-reduce({operand}), channel_id=1, use_global_device_ids=true, "
        f"replica_groups={groups}, to_apply={function}\n"
    )


TUPLE = " ROOT t = (f32[4], f32[8]) tuple(a, b)\n"
PARTS = " a = f32[4] get-tuple-element(c), index={}\n b = f32[8] get-tuple-element(c), index={}\n" + TUPLE
TOGETHER = (
    " c = (f32[4], f32[8]) all-reduce(p, q), channel_id=3, use_global_device_ids=true, "
    "replica_groups={{0,1},{2,3}}, to_apply=sum\n" + PARTS.format(0, 1)
)
ASYNCHRONOUS = (
    " s = (f32[4], f32[8]) all-reduce-start(p, q), channel_id=3, use_global_device_ids=true, "
    "replica_groups={{0,1},{2,3}}, to_apply=sum\n c = (f32[4], f32[8]) all-reduce-done(s)\n" + PARTS.format(0, 1)
)
GATHER = "channel_id=1, replica_groups={{0,1},{2,3}}, dimensions={0}, use_global_device_ids=true\n"
GATHERED = (
    f" a = f32[8] all-gather(p), {GATHER} b = f32[16] all-gather(q), {GATHER} ROOT t = (f32[8], f32[16]) tuple(a, b)\n"
)
GATHERED_TOGETHER = f" ROOT c = (f32[8], f32[16]) all-gather(p, q), {GATHER}"


@pytest.mark.parametrize("together", [TOGETHER, ASYNCHRONOUS], ids=["at once", "asynchronous"])
def test_reductions_are_combined_and_split(together: str) -> None:
    apart = module(reduced("a", "p", 4) + reduced("b", "q", 8) + TUPLE)
    assert decide(apart, module(together), "exact").verdict is Verdict.PROVED
    assert decide(module(together), apart, "exact").verdict is Verdict.PROVED


def test_gathers_are_combined() -> None:
    assert decide(module(GATHERED), module(GATHERED_TOGETHER), "exact").verdict is Verdict.PROVED


@pytest.mark.parametrize(
    "apart",
    [
        reduced("a", "p", 4, "most") + reduced("b", "q", 8),
        reduced("a", "p", 4, groups="{{0,2},{1,3}}") + reduced("b", "q", 8),
        reduced("a", "p", 4) + reduced("b", "q", 8, groups="{{0,1,2,3}}"),
        reduced("a", "p", 4) + reduced("n", "q", 8) + " b = f32[8] negate(n)\n",
        " a = f32[4] copy(p)\n" + reduced("b", "q", 8),
    ],
    ids=["another function", "other groups", "larger groups", "more done", "one left out"],
)
def test_reductions_that_differ_are_not_combined(apart: str) -> None:
    assert decide(module(apart + TUPLE), module(TOGETHER)).verdict is Verdict.UNKNOWN


def test_operands_do_not_change_places_in_a_combined_reduction() -> None:
    one = " c = (f32[4], f32[4]) all-reduce(p, h), channel_id=3, use_global_device_ids=true, "
    tail = "replica_groups={{0,1},{2,3}}, to_apply=sum\n ROOT t = (f32[4], f32[4]) tuple(a, b)\n"
    half = " h = f32[4] slice(q), slice={[0:4]}\n"
    parts = " a = f32[4] get-tuple-element(c), index=INDEX0\n b = f32[4] get-tuple-element(c), index=INDEX1\n"
    text = half + one + tail.replace(" ROOT", parts + " ROOT", 1)
    same, turned = (text.replace("INDEX0", a).replace("INDEX1", b) for a, b in (("0", "1"), ("1", "0")))
    apart = half + reduced("a", "p", 4) + reduced("b", "h", 4) + " ROOT t = (f32[4], f32[4]) tuple(a, b)\n"
    assert decide(module(apart), module(same)).verdict is Verdict.PROVED
    assert decide(module(apart), module(turned)).verdict is Verdict.UNKNOWN


def test_an_all_to_all_of_several_operands_is_no_several_ones() -> None:
    several = " ROOT c = (f32[4], f32[4]) all-to-all(p, h), replica_groups={{0,1},{2,3}}, channel_id=1\n"
    turned = " c = (f32[4], f32[4]) all-to-all(h, p), replica_groups={{0,1},{2,3}}, channel_id=1\n" + (
        " a = f32[4] get-tuple-element(c), index=1\n b = f32[4] get-tuple-element(c), index=0\n"
        " ROOT t = (f32[4], f32[4]) tuple(a, b)\n"
    )
    half = " h = f32[4] slice(q), slice={[0:4]}\n"
    assert decide(module(half + several), module(half + turned)).verdict is Verdict.UNKNOWN


def test_a_promise_that_is_new_is_told() -> None:
    scatter = (
        " i = s32[2,1] constant({{{{0}}, {{1}}}})\n u = f32[2] slice(q), slice={{[0:2]}}\n"
        " ROOT r = f32[4] scatter(p, i, u), to_apply=sum, update_window_dims={{}}, inserted_window_dims={{0}}, "
        "scatter_dims_to_operand_dims={{0}}, index_vector_dim=1{}\n"
    )
    plain, promising = (module(scatter.format(more)) for more in ("", ", unique_indices=true"))
    told = ("promised: unique_indices of scatter", "exact")
    assert told in decide(plain, promising).axioms
    assert decide(promising, plain).axioms == decide(promising, promising).axioms == ()


WRITTEN = (
    "scatter({}, {}, u), to_apply=sum, update_window_dims={{}}, inserted_window_dims={{0}}, "
    "scatter_dims_to_operand_dims={{0}}, index_vector_dim=1"
)
UNIQUE = ", unique_indices=true"


PLACES = " b = s32[8] bitcast-convert(q)\n c = s32[2] slice(b), slice={[0:2]}\n u = f32[2] slice(q), slice={[0:2]}\n"


def written_twice(first: str, second: str) -> Module:
    """Two scatters at the same places into other arrays, and what each promises."""
    where = " i = s32[2,1] reshape(c)\n d = s32[2] negate(c)\n j = s32[2,1] reshape(d)\n"
    a, b = (WRITTEN.format(*given) for given in (("p", "i"), ("a", "j")))
    return module(f"{PLACES}{where} a = f32[4] {a}{first}\n ROOT r = f32[4] {b}{second}\n")


def written_in_loops(first: str, second: str) -> Module:
    """Two loops one after the other, which count otherwise and write where they stand; and what each promises."""
    loops = ""
    for name, step, promise in (("f", 1, first), ("g", 2, second)):
        loops += (
            f"{name} {{\n s = (f32[4], s32[2,1], f32[2]) parameter(0)\n x = f32[4] get-tuple-element(s), index=0\n"
            " i = s32[2,1] get-tuple-element(s), index=1\n u = f32[2] get-tuple-element(s), index=2\n"
            f" n = s32[] constant({step})\n m = s32[2,1] broadcast(n), dimensions={{}}\n j = s32[2,1] add(i, m)\n"
            f" y = f32[4] {WRITTEN.format('x', 'i')}{promise}\n"
            " ROOT t = (f32[4], s32[2,1], f32[2]) tuple(y, j, u)\n}\n"
            f"{name}c {{\n s = (f32[4], s32[2,1], f32[2]) parameter(0)\n i = s32[2,1] get-tuple-element(s), index=1\n"
            " k = s32[1,1] slice(i), slice={[0:1], [0:1]}\n h = s32[] reshape(k)\n n = s32[] constant(9)\n"
            " ROOT r = pred[] compare(h, n), direction=LT\n}\n"
        )
    state = "(f32[4], s32[2,1], f32[2])"
    body = (
        f"{PLACES} i = s32[2,1] reshape(c)\n t = {state} tuple(p, i, u)\n"
        f" v = {state} while(t), condition=fc, body=f\n x = f32[4] get-tuple-element(v), index=0\n"
        f" w = {state} tuple(x, i, u)\n z = {state} while(w), condition=gc, body=g\n"
        " ROOT r = f32[4] get-tuple-element(z), index=0\n"
    )
    return parse_module(f"HloModule m, num_partitions=4\n{FUNCTIONS}{loops}ENTRY e {{\n{HEAD}{body}}}\n")


@pytest.mark.parametrize("written", [written_twice, written_in_loops])
def test_a_promise_of_one_is_none_of_another(written: Callable[[str, str], Module]) -> None:
    """Where the same number of operations promise the same of other indices."""
    told = ("promised: unique_indices of scatter", "exact")
    neither, first, second, both = (written(a, b) for a in ("", UNIQUE) for b in ("", UNIQUE))
    assert told in decide(first, second).axioms and told in decide(second, first).axioms
    assert told in decide(neither, first).axioms and told in decide(first, both).axioms
    assert decide(both, first).axioms == decide(second, second).axioms == decide(first, neither).axioms == ()
    assert decide(both, first).verdict is Verdict.PROVED


def _in_a_branch(inside: bool) -> str:
    """A scatter in one branch, or beside the choice."""
    lines = "p = s32[4] parameter({})\n  i = s32[2,1] parameter({})\n  u = s32[2] parameter({})\n"
    scatter = (
        "s32[4] scatter(p, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
        "index_vector_dim=1, unique_indices=true, to_apply=add"
    )
    add = "add {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT r = s32[] add(a, b)\n}\n"
    given = "  p = s32[4] get-tuple-element(t), index=0\n"
    branches = (
        f"yes {{\n  t = (s32[4], s32[2,1], s32[2]) parameter(0)\n{given}  i = s32[2,1] get-tuple-element(t), index=1\n"
        f"  u = s32[2] get-tuple-element(t), index=2\n  ROOT r = {scatter}\n}}\n"
        f"no {{\n  t = (s32[4], s32[2,1], s32[2]) parameter(0)\n{given}  ROOT r = s32[4] copy(p)\n}}\n"
    )
    choice = (
        "t = (s32[4], s32[2,1], s32[2]) tuple(p, i, u)\n"
        "  ROOT r = s32[4] conditional(c, t, t), true_computation=yes, false_computation=no"
    )
    beside = f"s = {scatter}\n  b = pred[4] broadcast(c), dimensions={{}}\n  ROOT r = s32[4] select(b, s, p)"
    return (
        f"HloModule m\n{add}{branches if inside else ''}ENTRY e {{\n  {lines.format(0, 1, 2)}"
        f"  c = pred[] parameter(3)\n  {choice if inside else beside}\n}}\n"
    )


@pytest.mark.parametrize(("before", "after", "told"), [(True, False, True), (True, True, False), (False, False, False)])
def test_what_a_branch_promises_is_not_promised_always(before: bool, after: bool, told: bool) -> None:
    found = decide(parse_module(_in_a_branch(before)), parse_module(_in_a_branch(after)), "exact")
    assert found.verdict == "proved"
    assert (("promised: unique_indices of scatter", "exact") in found.axioms) is told


def _turning(states: str, exchanging: int) -> str:
    """A loop whose exchange stands in a branch that one of its two numbers chooses; where the other one does not choose
    it too, its result is left out."""
    state = "(s32[], s32[], s32[], f32[4])"
    parts = (
        f"  s = {state} parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
        "  s1 = s32[] get-tuple-element(s), index=1\n  s2 = s32[] get-tuple-element(s), index=2\n"
        "  x = f32[4] get-tuple-element(s), index=3\n"
    )
    branches = "".join(
        f"{name} {{\n  x = f32[4] parameter(0)\n  ROOT r = f32[4] {value}\n}}\n"
        for name, value in (
            ("sum", "all-reduce(x), replica_groups={{0,1}}, to_apply=add, channel_id=1, use_global_device_ids=true"),
            ("same", "copy(x)"),
            ("less", "negate(x)"),
        )
    )
    return (
        "HloModule m, num_partitions=2\n"
        f"add {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] add(a, b)\n}}\n{branches}"
        f"cond {{\n{parts}  n = s32[] constant(3)\n  ROOT r = pred[] compare(i, n), direction=LT\n}}\n"
        f"body {{\n{parts}  one = s32[] constant(1)\n  j = s32[] add(i, one)\n"
        f"  c = f32[4] conditional(s{exchanging}, x, x), branch_computations={{sum, less}}\n"
        f"  y = f32[4] conditional(s{3 - exchanging}, c, x), branch_computations={{same, less}}\n"
        f"  t1 = s32[] negate(s1)\n  t2 = s32[] negate(s2)\n  ROOT r = {state} tuple(j, t1, t2, y)\n}}\n"
        "ENTRY e {\n  p = s32[] parameter(0)\n  q = s32[] parameter(1)\n  x = f32[4] parameter(2)\n"
        f"  z = s32[] constant(0)\n  t = {state} tuple(z, {states}, x)\n"
        f"  w = {state} while(t), condition=cond, body=body\n  ROOT r = f32[4] get-tuple-element(w), index=3\n}}\n"
    )


@pytest.mark.parametrize(("states", "exchanging", "same"), [("q, p", 2, True), ("p, q", 1, True), ("q, p", 1, False)])
def test_who_takes_part_in_an_exchange_is_told_by_what_a_state_holds(states: str, exchanging: int, same: bool) -> None:
    """Not by the number of the state: a turn puts other values in its place."""
    before, after = parse_module(_turning("p, q", 1)), parse_module(_turning(states, exchanging))
    assert (decide(before, after, "exact").verdict == "proved") is same
    reader = GraphReader()
    reader.read(after, 0)
    exchanges = [n for n in reader.graph.nodes.values() if n.head == "all-reduce"]
    assert exchanges and not any(isinstance(part, Node) for n in exchanges for part in n.key[1])


SUMMED = "s = f32[4] all-reduce-start(p), replica_groups={{0,1}}, to_apply=sum"
STEP = "step { a = f32[4] parameter(0)\n ROOT n = f32[4] all-reduce-start(a), replica_groups={{0,1}}, to_apply=sum\n}\n"
SAME = "same { a = f32[4] parameter(0)\n ROOT n = f32[4] copy(a)\n}\n"
READ_EARLY = {
    "by an operation": lambda s: (f"ROOT r = f32[4] negate({s})",),
    "by a copy": lambda s: (f"c = f32[4] copy({s})", "ROOT r = f32[4] negate(c)"),
    "by a call of a library": lambda s: (f'ROOT r = f32[4] custom-call({s}), custom_call_target="f"',),
    "as the result": lambda s: (f"ROOT r = f32[4] opt-barrier({s})",),
    "in a tuple that is the result": lambda s: (f"ROOT r = (f32[4]) tuple({s})",),
    "behind a call": lambda s: (f"c = f32[4] call({s}), to_apply=neg", "ROOT r = f32[4] copy(c)"),
    "behind a branch that begins it": lambda s: (
        "i = s32[] constant(0)",
        f"c = f32[4] conditional(i, d, p), branch_computations={{same, {'same' if s == 'd' else 'step'}}}",
        "ROOT r = f32[4] negate(c)",
    ),
}


@pytest.mark.parametrize("read", READ_EARLY.values(), ids=READ_EARLY)
def test_a_sum_in_flight_is_not_read_before_its_end(read: Callable[[str], tuple[str, ...]]) -> None:
    """A start names the array that its done gives: read from the start it is not there yet."""

    def text(s: str) -> str:
        lines = "\n ".join(("p = f32[4] parameter(0)", SUMMED, "d = f32[4] all-reduce-done(s)", *read(s)))
        negative = "neg { a = f32[4] parameter(0)\n ROOT n = f32[4] negate(a)\n}\n"
        return f"HloModule m, replica_count=2\n{FUNCTIONS}{negative}{STEP}{SAME}ENTRY e {{\n {lines}\n}}\n"

    ended, early = parse_module(text("d")), parse_module(text("s"))
    assert decide(ended, ended, "exact").verdict == "proved"
    for before, after in ((ended, early), (early, early)):
        assert "in flight" in decide(before, after, "rounding").reason


def gathered(carried: str, *operands: str) -> Module:
    """Arrays that are gathered from two devices, in flight with what is carried beside them."""
    results = ", ".join(["f32[8]"] * len(operands))
    whole = f"({results})" if len(operands) > 1 else results
    return parse_module(
        "HloModule m, replica_count=2\nENTRY e {\n p = f32[4] parameter(0)\n q = f32[4] parameter(1)\n"
        f" s = ({carried}, {whole}) all-gather-start({', '.join(operands)}), dimensions={{0}}, replica_groups={{}}\n"
        f" ROOT d = {whole} all-gather-done(s)\n}}\n"
    )


def permuted(carried: str) -> Module:
    return parse_module(
        "HloModule m, replica_count=2\nENTRY e {\n p = f32[4] parameter(0)\n"
        f" s = ({carried}, f32[4]) collective-permute-start(p), source_target_pairs={{{{0,1}}}}\n"
        " ROOT d = f32[4] collective-permute-done(s)\n}\n"
    )


def called(opcode: str, carried: str, result: str) -> Module:
    function = "to_apply=f" if opcode == "call" else "calls=f"
    return parse_module(
        "HloModule m\nf {\n x = f32[4] parameter(0)\n ROOT y = f32[4] negate(x)\n}\nENTRY e {\n"
        f" p = f32[4] parameter(0)\n s = ({carried}, {result}, u32[]) {opcode}-start(p), {function}\n"
        f" ROOT d = f32[4] {opcode}-done(s)\n}}\n"
    )


def subtracted(carried: str) -> Module:
    return parse_module(
        "HloModule m\nf {\n x = f32[4] parameter(0)\n y = f32[4] parameter(1)\n ROOT z = f32[4] subtract(x, y)\n}\n"
        "ENTRY e {\n p = f32[4] parameter(0)\n q = f32[4] parameter(1)\n"
        f" s = ({carried}, f32[4], u32[]) call-start(p, q), to_apply=f\n ROOT d = f32[4] call-done(s)\n}}\n"
    )


def test_a_start_names_what_it_is_given() -> None:
    """What lies in flight before the result was read as anything."""
    for right, wrong in (
        (gathered("f32[4]", "p"), gathered("f32[5]", "p")),
        (gathered("f32[4]", "p"), gathered("(f32[4])", "p")),
        (gathered("(f32[4], f32[4])", "p", "q"), gathered("f32[4]", "p", "q")),
        (gathered("(f32[4], f32[4])", "p", "q"), gathered("(f32[4], f32[2])", "p", "q")),
        (permuted("f32[4]"), permuted("f32[4,1]")),
        (called("call", "(f32[4])", "f32[4]"), called("call", "(f32[5])", "f32[4]")),
        (called("call", "(f32[4])", "f32[4]"), called("call", "(f32[4])", "f32[5]")),
        (called("async", "(f32[4])", "f32[4]"), called("async", "(f32[5])", "f32[4]")),
        (called("async", "f32[4]", "f32[4]"), called("async", "f32[4]", "(f32[4])")),
        (subtracted("(f32[4], f32[4])"), subtracted("f32[4]")),
    ):
        assert decide(right, right, "exact").verdict is Verdict.PROVED
        for before, after in ((right, wrong), (wrong, right), (wrong, wrong)):
            assert decide(before, after, "rounding").reason.endswith("-start of this shape")


def in_turns(inside: bool, around: str) -> Module:
    """What all have together of x is added in every turn: put together in each, or once before; perhaps in the turns of
    a loop around it, or in a branch."""
    state = "(s32[], f32[4], f32[4])"
    given = f" t = {state} parameter(0)\n k = s32[] get-tuple-element(t), index=0\n"
    given += "".join(f" {name} = f32[4] get-tuple-element(t), index={n}\n" for n, name in enumerate("xa", 1))
    lines = (
        (reduced("y", "p", 4), " y = f32[4] copy(x)\n")
        if not inside
        else (" y = f32[4] copy(p)\n", reduced("y", "x", 4))
    )
    functions = (
        f"more {{\n{given} n = s32[] constant(0)\n ROOT o = pred[] compare(k, n), direction=GT\n}}\n"
        f"turn {{\n{given} one = s32[] constant(1)\n j = s32[] subtract(k, one)\n{lines[1]}"
        f" d = f32[4] add(a, y)\n ROOT r = {state} tuple(j, x, d)\n}}\n"
    )
    body = f"{HEAD}{lines[0]} i = s32[] parameter(2)\n v = {state} tuple(i, y, p)\n"
    body += f" l = {state} while(v), condition=more, body=turn\n ROOT r = f32[4] get-tuple-element(l), index=2\n"
    if not around:
        return parse_module(f"HloModule m, num_partitions=4\n{FUNCTIONS}{functions}ENTRY e {{\n{body}}}\n")
    whole = "(s32[], f32[4], f32[8])"
    parts = f" u = {whole} parameter(0)\n" + "".join(
        f" {name} = {kind} get-tuple-element(u), index={n}\n"
        for n, (name, kind) in enumerate((("i", "s32[]"), ("p", "f32[4]"), ("q", "f32[8]")))
    )
    functions += (
        f"all {{\n{body}}}\n"
        f"once {{\n{parts} ROOT c = f32[4] call(p, q, i), to_apply=all\n}}\n"
        f"none {{\n{parts} ROOT c = f32[4] copy(p)\n}}\n"
        f"again {{\n{parts} n = s32[] constant(0)\n ROOT o = pred[] compare(i, n), direction=GT\n}}\n"
        f"round {{\n{parts} one = s32[] constant(1)\n j = s32[] subtract(i, one)\n"
        f" c = f32[4] call(p, q, i), to_apply=all\n ROOT r = {whole} tuple(j, c, q)\n}}\n"
    )
    body = f"{HEAD} i = s32[] parameter(2)\n b = pred[] parameter(3)\n v = {whole} tuple(i, p, q)\n"
    if around == "branch":
        body += " ROOT r = f32[4] conditional(b, v, v), true_computation=once, false_computation=none\n"
    else:
        body += f" l = {whole} while(v), condition=again, body=round\n ROOT r = f32[4] get-tuple-element(l), index=1\n"
    return parse_module(f"HloModule m, num_partitions=4\n{FUNCTIONS}{functions}ENTRY e {{\n{body}}}\n")


@pytest.mark.parametrize("around", ["", "loop", "branch"])
def test_who_meets_in_the_turns_of_a_loop(around: str) -> None:
    """Those that take so many turns."""
    inside, outside = in_turns(True, around), in_turns(False, around)
    assert decide(inside, inside).verdict == Verdict.PROVED
    for before, after in ((inside, outside), (outside, inside)):
        assert decide(before, after).verdict == Verdict.UNKNOWN


_DEVICES = (
    "x = s32[4] parameter(0)",
    "i = u32[] replica-id()",
    "z = u32[] constant(0)",
    "two = u32[] constant(2)",
    "first = pred[] compare(i, two), direction=LT",
    "some = pred[] compare(i, two), direction=LE",
    "alone = pred[] compare(i, z), direction=EQ",
)
_ALWAYS = "g = s32[4] all-reduce(x), replica_groups={}, to_apply=adds"
_OF_TWO = "c = s32[4] conditional(first, x, x), true_computation=all, false_computation=own"
_OF_ONE = _OF_TWO.replace("=all", "=both")
_ALONE = _OF_TWO.replace("first", "alone")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ((_ALWAYS,), (_ALWAYS,), False),
        ((_OF_TWO,), (_OF_TWO,), False),
        ((_ALWAYS,), (_ALWAYS, _OF_TWO), True),
        ((_ALWAYS,), (_OF_TWO,), True),
        ((_OF_TWO,), (_ALWAYS,), True),
        ((_OF_TWO,), (_OF_ONE,), True),
        ((_ALONE,), (_OF_ONE,), True),
        ((_OF_TWO,), (_OF_TWO.replace("first", "some"),), True),
    ],
)
def test_what_a_sum_over_devices_applies_may_not_end_for_fewer_of_them(
    before: tuple[str, ...], after: tuple[str, ...], told: bool
) -> None:
    """They give it other numbers: whether the loop in it ends for all devices says nothing of some."""
    state = "(s32[], s32[])"
    given = parts_of(state, ["k", "a"])
    functions = (
        f"ends {{\n{given} n = s32[] constant(0)\n ROOT o = pred[] compare(k, n), direction=NE\n}}\n"
        f"turn {{\n{given} two = s32[] constant(2)\n j = s32[] subtract(k, two)\n d = s32[] add(a, a)\n"
        f" ROOT r = {state} tuple(j, d)\n}}\n"
        f"adds {{\n a = s32[] parameter(0)\n b = s32[] parameter(1)\n v = {state} tuple(b, a)\n"
        f" w = {state} while(v), condition=ends, body=turn\n ROOT s = s32[] add(a, b)\n}}\n"
        f"all {{\n x = s32[4] parameter(0)\n ROOT {_ALWAYS}\n}}\nown {{\n ROOT x = s32[4] parameter(0)\n}}\n"
        "both {\n x = s32[4] parameter(0)\n i = u32[] replica-id()\n z = u32[] constant(0)\n"
        " e = pred[] compare(i, z), direction=EQ\n"
        " ROOT c = s32[4] conditional(e, x, x), true_computation=all, false_computation=own\n}\n"
    )
    one, other = (
        parse_module(
            f"HloModule m, replica_count=4\n{functions}ENTRY e {{\n"
            + "".join(f" {line}\n" for line in (*_DEVICES, *lines, "ROOT r = s32[4] copy(x)"))
            + "}\n"
        )
        for lines in (before, after)
    )
    found = decide(one, other, "exact")
    assert found.verdict == Verdict.PROVED
    assert ("assumed: a loop ends" in dict(found.axioms)) is told
