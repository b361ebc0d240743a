"""Pairs that differ in effects, calls, attributes or orders, each found by reading the prover: none may be proved."""

from __future__ import annotations

import pytest
from red_pairs import ADD, entry, one, proved, unproved

from hloproof.equivalence import decide
from hloproof.equivalence.meaning import attribute_key
from hloproof.models.hlo.attributes import Attributes, Word
from hloproof.models.hlo.module import Instruction
from hloproof.models.hlo.opcodes import BODIES, COMMON, OPCODES
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.text.attributes import BOOLEANS

TWO_LOOPS = """HloModule m

c1 {
  s = (s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT r = pred[] compare(i, n), direction=LT
}

b1 {
  s = (s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(1)
  j = s32[] add(i, n)
  ROOT r = (s32[]) tuple(j)
}

c2 {
  s = (s32[], s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(11)
  ROOT r = pred[] compare(i, n), direction=LT
}

b2 {
  s = (s32[], s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = s32[] get-tuple-element(s), index=2
  n = s32[] constant(1)
  j = s32[] add(i, n)
  ROOT r = (s32[], s32[], s32[]) tuple(j, v, v)
}

ENTRY e {
  z = s32[] constant(0)
  t = (s32[]) tuple(z)
  w = (s32[]) while(t), condition=c1, body=b1
  five = s32[] get-tuple-element(w), index=0
  ten = s32[] constant(10)
  u = (s32[], s32[], s32[]) tuple(ten, z, five)
  w2 = (s32[], s32[], s32[]) while(u), condition=c2, body=b2
  ROOT o = s32[] get-tuple-element(w2), index=1
}
"""

SENT = ("p0 = f32[] parameter(0)", "p1 = f32[] parameter(1)", "t = token[] after-all()")


def outfed(first: str, second: str) -> str:
    return entry(
        *SENT,
        f"a = token[] outfeed({first}, t), outfeed_shape=f32[]",
        f"q = f32[] add-dependency({second}, a)",
        "b = token[] outfeed(q, t), outfeed_shape=f32[]",
        "ROOT r = f32[] add(p0, p1)",
    )


def predicates(attributes: str) -> str:
    """select-and-scatter over truth values, whose two functions are of one type."""
    functions = "".join(
        f"{n} {{\n  x = pred[] parameter(0)\n  y = pred[] parameter(1)\n  ROOT r = pred[] {n}(x, y)\n}}\n\n".replace(
            f"{n} {{", f"{n}.f {{"
        )
        for n in ("and", "xor")
    )
    return entry(
        "p0 = pred[4] parameter(0)",
        "p1 = pred[2] parameter(1)",
        "z = pred[] constant(false)",
        f"ROOT r = pred[4] select-and-scatter(p0, p1, z), window={{size=2 stride=2}}, {attributes}",
        before=functions,
    )


def sent(first: int, second: int) -> str:
    return entry(
        *SENT,
        f"s = (f32[], u32[], token[]) send(p0, t), channel_id={first}",
        f"d = token[] send-done(s), channel_id={first}",
        f"s2 = (f32[], u32[], token[]) send(p1, d), channel_id={second}",
        f"ROOT d2 = token[] send-done(s2), channel_id={second}",
    )


def peers(opcode: str, pairs: str) -> str:
    """What is sent, or received, with the pairs of devices in the attributes that compilers write for one another."""
    named = f'channel_id=1, frontend_attributes={{_xla_send_recv_source_target_pairs="{{{{{pairs}}}}}"}}'
    made = {
        "send": (f"s = (f32[], u32[], token[]) send(p0, t), {named}", f"ROOT r = token[] send-done(s), {named}"),
        "recv": (f"s = (f32[], u32[], token[]) recv(t), {named}", f"ROOT r = (f32[], token[]) recv-done(s), {named}"),
    }
    return entry(*SENT, *made[opcode])


def scattered(kind: str, turned: bool) -> str:
    """Updates added one after another, in the order of rows or of columns."""
    given = "j, v" if turned else "i, u"
    return entry(
        f"p = {kind}[5] parameter(0)",
        "i = s32[2,3,1] parameter(1)",
        f"u = {kind}[2,3] parameter(2)",
        "j = s32[3,2,1] transpose(i), dimensions={1,0,2}",
        f"v = {kind}[3,2] transpose(u), dimensions={{1,0}}",
        f"ROOT r = {kind}[5] scatter(p, {given}), update_window_dims={{}}, inserted_window_dims={{0}}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=2, to_apply=add",
        before=ADD.replace("f32", kind),
    )


def random_state(count: int) -> str:
    """The state after `count` random numbers."""
    return entry(
        "s = u64[2] parameter(0)",
        f"g = (u64[2], u32[{count}]) rng-bit-generator(s), algorithm=rng_philox",
        "ROOT r = u64[2] get-tuple-element(g), index=0",
    )


def fed(first: str) -> str:
    """What comes in second."""
    return entry(
        "t = token[] after-all()",
        f"i = ({first}, token[]) infeed(t)",
        "u = token[] get-tuple-element(i), index=1",
        "j = (f32[4], token[]) infeed(u)",
        "ROOT r = f32[4] get-tuple-element(j), index=0",
    )


def called(results: str) -> str:
    return entry(
        "p = f32[4] parameter(0)",
        f'c = {results} custom-call(p), custom_call_target="f"',
        "ROOT r = f32[4] get-tuple-element(c), index=0",
    )


def factored(order: str, given: str = "") -> str:
    """A call of a function that reads memory column by column, and may give it in another order."""
    return entry(
        "p = f32[4,4] parameter(0)",
        f'ROOT r = f32[4,4]{given or order} custom-call(p), custom_call_target="getrf", '
        f"operand_layout_constraints={{f32[4,4]{order}}}",
    )


def called_with(*operands: str) -> str:
    """A call of what takes three arrays, two of which may come as one tuple."""
    return entry(
        *(f"p{k} = f32[4] parameter({k})" for k in range(3)),
        "first = (f32[4], f32[4]) tuple(p0, p1)",
        "last = (f32[4], f32[4]) tuple(p1, p2)",
        f'ROOT r = f32[4] custom-call({", ".join(operands)}), custom_call_target="f"',
    )


def copied(told: str) -> str:
    """The first part of a pair, one of which may come from a copy in flight."""
    return entry(
        "p0 = f32[4] parameter(0)",
        "p1 = f32[4] parameter(1)",
        "pair = (f32[4], f32[4]) tuple(p0, p1)",
        "s = ((f32[4], f32[4]), (f32[4], f32[4]), u32[]) copy-start(pair)",
        "d = (f32[4], f32[4]) copy-done(s)",
        f"x = f32[4] get-tuple-element({told}), index=0",
        "t = (f32[4], f32[4]) tuple(x, p1)",
        'ROOT r = f32[4] custom-call(t), custom_call_target="f"',
    )


def called_for(*functions: str) -> str:
    """A call of what is handed functions of two numbers; each is what it gives, and may say what it takes."""
    text = ""
    for k, function in enumerate(functions):
        gives, _, takes = function.partition(" of ")
        kinds = takes.split() or ["f32[]", "f32[]"]
        kind = f"({', '.join(['f32[]'] * (gives.count(',') + 1))})" if gives.startswith("tuple") else "f32[]"
        parameters = "".join(f"  {'ab'[n]} = {kind} parameter({n})\n" for n, kind in enumerate(kinds))
        text += f"f{k} {{\n{parameters}  ROOT r = {kind} {gives}\n}}\n"
    names = ", ".join(f"f{k}" for k in range(len(functions)))
    call = f'custom-call(p0), custom_call_target="f", called_computations={{{names}}}'
    return entry("p0 = f32[4] parameter(0)", f"ROOT r = f32[4] {call}", before=text)


def chosen(branches: str) -> str:
    functions = "".join(
        f"{n}.f {{\n  x = f32[] parameter(0)\n  ROOT r = f32[] {n}(x)\n}}\n\n" for n in ("negate", "abs")
    )
    return entry(
        "p0 = pred[] parameter(0)",
        "p1 = f32[] parameter(1)",
        f"ROOT r = f32[] conditional(p0, p1, p1), {branches}",
        before=functions,
    )


def chained(last: str) -> str:
    """A loop of many turns whose first number comes from the second, that from the third, and so on; the last is
    doubled."""
    state = "(s32[], f32[], f32[], f32[], f32[])"
    parts = "".join(f"  {n} = f32[] get-tuple-element(s), index={k + 1}\n" for k, n in enumerate("abcd"))
    counter = f"  s = {state} parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
    return entry(
        "p0 = f32[] parameter(0)",
        "p1 = f32[] parameter(1)",
        "z = s32[] constant(0)",
        f"t = {state} tuple(z, p0, p0, p0, {last})",
        f"w = {state} while(t), condition=cond, body=body",
        "ROOT r = f32[] get-tuple-element(w), index=1",
        before=f"cond {{\n{counter}  n = s32[] constant(500)\n  ROOT r = pred[] compare(i, n), direction=LT\n}}\n\n"
        f"body {{\n{counter}{parts}  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  e = f32[] add(d, d)\n"
        f"  ROOT r = {state} tuple(j, b, c, d, e)\n}}\n\n",
    )


def outfed_once_chosen(edge: str) -> str:
    """Two outfeeds, the second in a branch, whose choice may wait for the first."""
    sends = "  t = token[] after-all()\n  o = token[] outfeed(p, t), outfeed_shape=f32[]\n"
    return entry(
        *SENT,
        "a = token[] outfeed(p0, t), outfeed_shape=f32[]",
        f"c = pred[] compare(p0, p1), direction=LT{edge}",
        "ROOT r = f32[] conditional(c, p1, p1), true_computation=yes, false_computation=no",
        before="".join(
            f"{name} {{\n  p = f32[] parameter(0)\n{lines}  ROOT r = f32[] copy(p)\n}}\n\n"
            for name, lines in (("yes", sends), ("no", ""))
        ),
    )


def outfed_where(place: str) -> str:
    """What both branches hand back is p; one of them, or both, or the entry sends it out as well."""
    sends = "  t = token[] after-all()\n  o = token[] outfeed(p, t), outfeed_shape=f32[]\n"
    functions = "".join(
        f"{name} {{\n  p = f32[] parameter(0)\n{sends if name in place else ''}  ROOT r = f32[] copy(p)\n}}\n\n"
        for name in ("yes", "no")
    )
    return entry(
        "p = f32[] parameter(0)",
        "c = pred[] parameter(1)",
        *(line.strip() for line in (sends.splitlines() if place == "entry" else ())),
        "ROOT r = f32[] conditional(c, p, p), true_computation=yes, false_computation=no",
        before=functions,
    )


def top(more: str) -> str:
    return entry(
        "p = pred[8] parameter(0)",
        f"t = (pred[3], s32[3]) topk(p), k=3{more}",
        "ROOT r = pred[3] get-tuple-element(t), index=0",
    )


def outfed_apart(first: str, second: str) -> str:
    return entry(
        *SENT,
        "s = f32[] add(p0, p1)",
        "q = f32[] add(p1, p0)",
        f"a = token[] outfeed({first}, t), outfeed_shape=f32[]",
        f"b = token[] outfeed({second}, t), outfeed_shape=f32[]",
        "ROOT r = f32[] negate(p0)",
    )


def waiting(second: str, more: str = "", first: str = "") -> str:
    """Two outfeeds that no token orders."""
    return entry(
        *SENT,
        f"a = token[] outfeed(p0, t), outfeed_shape=f32[]{first}",
        f"q = f32[] {second}",
        f"b = token[] outfeed(q, t), outfeed_shape=f32[]{more}",
        "ROOT r = f32[] negate(p0)",
    )


def aliased(more: str) -> str:
    return one("f32[4]", f'ROOT r = f32[4] custom-call(p), custom_call_target="f"{more}')


def outfed_within(told: bool, called: bool) -> str:
    """Two outfeeds, the first in a function whose result waits for it."""
    outfeed = "outfeed({}, t), outfeed_shape=f32[]"
    lines = ("p = f32[] parameter(0)", "t = token[] after-all()")
    first = f"a = token[] {outfeed.format('p')}"
    waits = "= f32[] copy(p)" + (", control-predecessors={a}" if told else "")
    body = [*lines, first, f"ROOT r {waits}"]
    function = "f {\n" + "".join(f"  {line}\n" for line in body) + "}\n\n"
    return entry(
        *lines,
        *(("q = f32[] call(p), to_apply=f",) if called else (first, f"q {waits}")),
        f"b = token[] {outfeed.format('q')}",
        "ROOT r = f32[] negate(p)",
        before=function if called else "",
    )


def outfed_beside(asynchronous: bool) -> str:
    """Two outfeeds, of which the second waits for the first, or may overtake it though the text is scheduled."""
    lines = ("p = f32[] parameter(0)", "t = token[] after-all()")
    second = "b = token[] outfeed(p, t), outfeed_shape=f32[]"
    root = "ROOT r = f32[] negate(p)"
    if not asynchronous:
        first = "a = token[] outfeed(p, t), outfeed_shape=f32[]"
        return entry(*lines, first, second + ", control-predecessors={a}", root)
    body = ("x = f32[] parameter(0)", "u = token[] after-all()", "ROOT a = token[] outfeed(x, u), outfeed_shape=f32[]")
    return entry(
        *lines,
        "s = ((f32[]), token[]) async-start(p), calls=f",
        second,
        "d = token[] async-done(s)",
        root,
        before="f {\n" + "".join(f"  {line}\n" for line in body) + "}\n\n",
    ).replace("HloModule m", "HloModule m, is_scheduled=true")


def kept(called: bool, called_for: bool) -> str:
    """A call whose result nobody takes, and that may have side effects."""
    more = ", called_computations={n}" if called_for else ""
    line = f'c = s32[] custom-call(a), custom_call_target="f"{more}, custom_call_has_side_effect=true'
    lines = ["a = s32[] parameter(0)", *([line] if called else []), "ROOT r = s32[] copy(a)"]
    return entry(*lines, before="n {\n  ROOT x = s32[] parameter(0)\n}\n")


def given_twice(second: str) -> str:
    return entry("a = s32[] parameter(0)", "b = s32[] parameter(1)", f"ROOT r = (s32[], s32[]) tuple(a, {second})")


def nested_otherwise(deep: bool) -> str:
    """The same three numbers, in other tuples."""
    pair, three = ("a, b", "t = ((s32[], s32[]), s32[]) tuple(u, a)")
    if deep:
        pair, three = ("b, a", "t = (s32[], (s32[], s32[])) tuple(a, u)")
    head = ["a = s32[] parameter(0)", "b = s32[] parameter(1)", f"u = (s32[], s32[]) tuple({pair})", three]
    return entry(*head, 'ROOT c = s32[] custom-call(t), custom_call_target="f"')


PAIRS = {
    "a call with side effects is lost": (kept(True, False), kept(False, False), "exact"),
    "a call with side effects that calls something is lost": (kept(True, True), kept(False, True), "exact"),
    "one result is given twice": (given_twice("b"), given_twice("a"), "exact"),
    "what a call is given is nested otherwise": (nested_otherwise(False), nested_otherwise(True), "exact"),
    "two loops have states of one name": (TWO_LOOPS, entry("ROOT z = s32[] constant(0)"), "exact"),
    "what selects and what scatters": (
        predicates("select=and.f, scatter=xor.f"),
        predicates("scatter=and.f, select=xor.f"),
        "exact",
    ),
    "peers are named by their channels": (sent(1, 2), sent(2, 1), "exact"),
    "the order of updates that are added": (scattered("f32", False), scattered("f32", True), "exact"),
    "what goes out first": (outfed("p0", "p1"), outfed("p1", "p0"), "exact"),
    "what goes out first, of which one is written otherwise": (
        outfed_apart("p0", "s"),
        outfed_apart("q", "p0"),
        "exact",
    ),
    "what waited by add-dependency": (waiting("add-dependency(p1, a)"), waiting("copy(p1)"), "exact"),
    "what waited by a control edge": (waiting("copy(p1)", ", control-predecessors={a}"), waiting("copy(p1)"), "exact"),
    "what waited by a control edge elsewhere": (
        waiting("copy(p1)", ", control-predecessors={a}"),
        waiting("copy(p1)", first=", control-predecessors={b}"),
        "exact",
    ),
    "how many random numbers were made": (random_state(8), random_state(1000), "exact"),
    "how much came in first": (fed("f32[8]"), fed("f32[4]"), "exact"),
    "the other results of a call": (called("(f32[4], f32[4])"), called("(f32[4], f32[8])"), "exact"),
    "the types of other results of a call": (called("(f32[4], f32[4])"), called("(f32[4], s32[4])"), "exact"),
    "the number of results of a call": (called("(f32[4], f32[4])"), called("(f32[4])"), "exact"),
    "the order of memory that a call demands": (factored("{0,1}"), factored("{1,0}"), "exact"),
    "the order of memory that a call gives": (factored("{0,1}"), factored("{0,1}", "{1,0}"), "exact"),
    "the tiles that a call demands": (factored("{1,0:T(2,2)}", "{1,0}"), factored("{1,0:T(4,2)}", "{1,0}"), "exact"),
    "the tiles that a call gives": (factored("{1,0}", "{1,0:T(2,2)}"), factored("{1,0}", "{1,0}"), "exact"),
    "operands of a call as one tuple": (called_with("first", "p2"), called_with("p0", "p1", "p2"), "exact"),
    "which operands of a call are one tuple": (called_with("first", "p2"), called_with("p0", "last"), "exact"),
    "which function of a call gives a pair": (
        called_for("tuple(a, b)", "copy(b)"),
        called_for("copy(a)", "tuple(b, b)"),
        "exact",
    ),
    "a function of a call that gives a tuple of one": (called_for("copy(a)"), called_for("tuple(a)"), "exact"),
    "a function of a call that takes less": (called_for("copy(a)"), called_for("copy(a) of f32[]"), "exact"),
    "a function of a call that takes another type": (
        called_for("copy(a)"),
        called_for("copy(a) of f32[] s32[]"),
        "exact",
    ),
    "the order of the functions of a call": (
        called_for("copy(a)", "copy(b)"),
        called_for("copy(b)", "copy(a)"),
        "exact",
    ),
    "the same bytes in another order": (
        one("f32[3,3]{1,0}", "ROOT r = f32[3,3]{0,1} bitcast(p)"),
        one("f32[3,3]", "ROOT r = f32[3,3] copy(p)"),
        "exact",
    ),
    "a state that others come from turn after turn": (chained("p0"), chained("p1"), "exact"),
    "an effect in a branch whose choice waits": (
        outfed_once_chosen(", control-predecessors={a}"),
        outfed_once_chosen(""),
        "exact",
    ),
    "which branch is for true": (
        chosen("true_computation=negate.f, false_computation=abs.f"),
        chosen("false_computation=negate.f, true_computation=abs.f"),
        "exact",
    ),
    "an effect in the other branch": (outfed_where("yes"), outfed_where("no"), "exact"),
    "an effect in a branch, or always": (outfed_where("yes"), outfed_where("entry"), "exact"),
    "an effect always, or in a branch": (outfed_where("entry"), outfed_where("no"), "exact"),
    "the largest where nothing is said": (top(""), top(", largest=false"), "exact"),
    "a call that writes in place": (aliased(", output_to_operand_aliasing={{}: (0, {})}"), aliased(""), "exact"),
    "a function whose result waits": (outfed_within(True, True), outfed_within(False, False), "exact"),
    "an effect beside another one": (outfed_beside(False), outfed_beside(True), "exact"),
    "devices that send": (peers("send", "0,1"), peers("send", "1,0"), "exact"),
    "devices that receive": (peers("recv", "0,1"), peers("recv", "1,0"), "exact"),
}


@pytest.mark.parametrize(("before", "after", "tier"), PAIRS.values(), ids=PAIRS)
def test_a_pair_that_differs_is_not_proved(before: str, after: str, tier: str) -> None:
    unproved(before, after, tier)


SOUND = {
    "a call with side effects that calls something": (kept(True, True), kept(True, True), "exact"),
    "one result that is given twice": (given_twice("a"), given_twice("a"), "exact"),
    "what a call is given is nested alike": (nested_otherwise(True), nested_otherwise(True), "exact"),
    "a function whose result waits, and the same written out": (
        outfed_within(True, True),
        outfed_within(True, False),
        "exact",
    ),
    "integers are added in any order": (scattered("s32", False), scattered("s32", True), "exact"),
    "an effect that waits more": (waiting("copy(p1)"), waiting("add-dependency(p1, a)"), "exact"),
    "an effect that waits for it otherwise": (
        waiting("add-dependency(p1, a)"),
        waiting("copy(p1)", ", control-predecessors={a}"),
        "exact",
    ),
    "the same numbers of random ones": (random_state(8), random_state(8), "exact"),
    "effects that are written otherwise": (outfed_apart("p0", "s"), outfed_apart("p0", "q"), "exact"),
    "a tuple for a call": (called_with("first", "p2"), called_with("first", "p2"), "exact"),
    "the same bytes in another order, which is a transpose": (
        one("f32[3,3]{1,0}", "ROOT r = f32[3,3]{0,1} bitcast(p)"),
        one("f32[3,3]", "ROOT r = f32[3,3] transpose(p), dimensions={1,0}"),
        "exact",
    ),
    "the same bytes in the same order": (
        one("f32[3,3]{0,1}", "ROOT r = f32[3,3]{0,1} bitcast(p)"),
        one("f32[3,3]", "ROOT r = f32[3,3] copy(p)"),
        "exact",
    ),
    "a state that others come from": (chained("p1"), chained("p1"), "exact"),
    "an effect in a branch whose choice waits more": (
        outfed_once_chosen(""),
        outfed_once_chosen(", control-predecessors={a}"),
        "exact",
    ),
    "the branch for false said first": (
        chosen("true_computation=negate.f, false_computation=abs.f"),
        chosen("false_computation=abs.f, true_computation=negate.f"),
        "exact",
    ),
    "functions of a call, one written otherwise": (
        called_for("tuple(a, b)", "negate(a)"),
        called_for("tuple(a, b)", 'negate(a), metadata={op_name="n"}'),
        "exact",
    ),
    "a tuple that is copied, and a part of it in another": (copied("d"), copied("pair"), "exact"),
    "the largest, said": (top(""), top(", largest=true"), "exact"),
    "floats are, over real numbers": (scattered("f32", False), scattered("f32", True), "real"),
}


@pytest.mark.parametrize(("before", "after", "tier"), SOUND.values(), ids=SOUND)
def test_a_pair_beside_them_is_proved(before: str, after: str, tier: str) -> None:
    proved(before, after, tier)


CALL = 'ROOT r = f32[4] custom-call(p), custom_call_target="f", api_version=API_VERSION_'


@pytest.mark.parametrize(
    ("one", "other", "same"), [("TYPED_FFI", "STATUS_RETURNING", False), ("TYPED_FFI", "TYPED_FFI", True)]
)
def test_the_version_of_a_calls_interface_is_part_of_it(one: str, other: str, same: bool) -> None:
    """It says which of a library's functions of that name is called, and how."""
    before, after = (parse_module(entry("p = f32[4] parameter(0)", CALL + v)) for v in (one, other))
    assert (decide(before, after).verdict.value == "proved") is same


SILENT = {
    "async_execution_thread": "where it runs",
    "channel_id": "a number without meaning of its own; that there is one is kept",
    "dimensions of map": "all of them",
    "indices_are_sorted": "told as a promise",
    "operand_layout_constraints": "kept with the layout of the results",
    "output_to_operand_aliasing of async-done": "where the result lies",
    "output_to_operand_aliasing of async-start": "where the result lies",
    "output_to_operand_aliasing of async-update": "where the result lies",
    "output_to_operand_aliasing of call": "where the result lies",
    "output_to_operand_aliasing of fusion": "where the result lies",
    "schedule": "when it runs",
    "type of compare": "that of the operands, but for the total order",
    "unique_indices": "told as a promise",
}
"""Attributes in the table of opcodes that two equal operations may have with two values, and why."""


@pytest.mark.parametrize("opcode", sorted(OPCODES))
def test_operations_that_differ_in_an_attribute_are_two(opcode: str) -> None:
    """Called computations aside, which are compared as functions."""
    for name in OPCODES[opcode].attributes - BODIES - {n for n in SILENT if " " not in n}:
        made = (
            Instruction("i", opcode, ArrayShape("f32", ()), attributes=Attributes(((name, Word(value)),)))
            for value in ("one", "other")
        )
        assert len({attribute_key(i, opcode) for i in made}) == (1 if f"{name} of {opcode}" in SILENT else 2), name


SAID_TRUE_BY_SILENCE = {"largest of topk", "is_stable of topk"}


@pytest.mark.parametrize("opcode", sorted(o for o in OPCODES if OPCODES[o].attributes & BOOLEANS))
def test_a_flag_that_is_false_is_one_that_is_left_out(opcode: str) -> None:
    """And one that is true is another operation; of some flags it is the other way round."""

    def key(*value: bool) -> object:
        pairs = tuple((name, v) for v in value)
        return attribute_key(Instruction("i", opcode, ArrayShape("f32", ()), attributes=Attributes(pairs)), opcode)

    for name in (OPCODES[opcode].attributes & BOOLEANS) - SILENT.keys():
        default = f"{name} of {opcode}" in SAID_TRUE_BY_SILENCE
        assert key(default) == key() != key(not default), name


WITHOUT_MEANING = {
    "backend_config": "not for operations without it: see test_written_beside",
    "control-predecessors": "an order, which effects keep",
    "frontend_attributes": "not for operations without them: see test_written_beside",
    "metadata": "where it comes from",
    "origin": "where it comes from",
    "original_value": "where it comes from",
    "parameter_replication": "a promise of what is given to a parameter of the entry: see test_written_beside",
    "sharding": "where parts lie, but for calls and what comes from outside",
    "statistics": "what was measured",
}
"""Attributes of every opcode, and why two equal operations may have two of them."""
KEPT = {
    *((name, "custom-call") for name in ("backend_config", "frontend_attributes", "sharding")),
    *((name, o) for o in ("send", "recv", "send-done", "recv-done") for name in ("frontend_attributes", "sharding")),
    *(("sharding", o) for o in ("infeed", "outfeed")),
}


@pytest.mark.parametrize("opcode", sorted(OPCODES))
def test_what_every_operation_may_have_means_nothing_but_for_some(opcode: str) -> None:
    assert set(WITHOUT_MEANING) == COMMON
    for name in COMMON:
        made = (
            Instruction("i", opcode, ArrayShape("f32", ()), attributes=Attributes(((name, Word(value)),)))
            for value in ("one", "other")
        )
        assert len({attribute_key(i, opcode) for i in made}) == (2 if (name, opcode) in KEPT else 1), name


INSIDE = {
    "numbers drawn": (
        "l = f32[] constant(0)\n h = f32[] constant(1)\n ROOT r = f32[] rng(l, h), distribution=rng_uniform"
    ),
    "what is put out": (
        "t = token[] after-all()\n o = token[] outfeed(a, t), outfeed_shape=f32[]\n ROOT r = f32[] negate(a)"
    ),
}


@pytest.mark.parametrize("body", INSIDE.values(), ids=INSIDE)
def test_effects_of_functions_that_are_applied_are_not_modelled(body: str) -> None:
    """Two applications draw twice, and put out twice."""
    function = f"f {{\n a = f32[] parameter(0)\n {body}\n}}\n"
    once, twice = (
        entry(
            "p = f32[4] parameter(0)",
            "x = f32[4] map(p), dimensions={0}, to_apply=f",
            "y = f32[4] map(p), dimensions={0}, to_apply=f",
            f"ROOT r = (f32[4], f32[4]) tuple(x, {other})",
            before=function,
        )
        for other in "xy"
    )
    for after in (once, twice):
        found = decide(parse_module(twice), parse_module(after), "exact", 5.0)
        assert found.verdict.value == "unknown" and "effects inside f" in found.reason


IN_FLIGHT = (
    'wa { x = f32[4] parameter(0)\n ROOT c = f32[4] custom-call(x), custom_call_target="A", '
    "custom_call_has_side_effect=true\n}\nwn { x = f32[4] parameter(0)\n ROOT c = f32[4] negate(x)\n}\n"
)


@pytest.mark.parametrize("waits", [False, True])
def test_a_start_without_effects_does_not_end_the_flight_of_another(waits: bool) -> None:
    x, n = "x = f32[4] parameter(0)", "n = f32[4] negate(x)"
    a = 'a = f32[4] custom-call(x), custom_call_target="A", custom_call_has_side_effect=true'
    b = 'b = f32[4] custom-call(x), custom_call_target="B", custom_call_has_side_effect=true'
    before = entry(x, a, f"{b}, control-predecessors={{a}}", n, "ROOT r = (f32[4], f32[4], f32[4]) tuple(a, b, n)")
    done, last = "da = f32[4] async-done(sa)", "ROOT r = (f32[4], f32[4], f32[4]) tuple(da, b, dn)"
    starts = (
        "sa = ((f32[4]), f32[4], u32[]) async-start(x), calls=wa",
        "sn = ((f32[4]), f32[4], u32[]) async-start(x), calls=wn",
    )
    between = (done, f"{b}, control-predecessors={{da}}") if waits else (b, done)
    after = entry(x, *starts, *between, "dn = f32[4] async-done(sn)", last, before=IN_FLIGHT)
    after = after.replace("HloModule m", "HloModule m, is_scheduled=true")
    (proved if waits else unproved)(before, after, "exact")
