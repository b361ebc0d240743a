"""Two modules that differ are refuted with inputs that show it; two that only round differently never are."""

from __future__ import annotations

import math
import signal
from typing import Any

import pytest
from red_pairs import entry

from hloproof.equivalence.refuting.refute import Refutation, refute
from hloproof.equivalence.refuting.restricted import restricted, work
from hloproof.equivalence.refuting.witness import where_a_number_is_lost
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Attributes
from hloproof.models.hlo.parser import parse_module
from hloproof.models.interpreter.run import run_module
from hloproof.models.interpreter.semantics.perturbed import Perturbed
from hloproof.queries.equivalence import compare

ADD = "add_f {\n x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT s = f32[] add(x, y)\n}\n"


def module(*lines: str, called: str = "") -> str:
    body = "\n".join(f"  {line}" for line in lines[:-1])
    return f"HloModule m\n{called}\nENTRY e {{\n{body}\n  ROOT {lines[-1]}\n}}\n"


P = "p = f32[6]{0} parameter(0)"
Q = "q = f32[6]{0} parameter(1)"
I = "i = s32[] parameter(1)"  # noqa: E741
MAX = "s = f32[6]{0} maximum(p, d)"
W, V = "w = s32[64]{0} parameter(0)", "v = s32[64]{0} parameter(1)"

NONE = ("i = f32[] constant(inf)", "d = f32[] subtract(i, i)", "e = pred[] compare(d, d), direction=EQ")
"""e is false, as d is no number."""
CHOSEN = (*NONE, "n = f32[6]{0} negate(p)", "b = f32[6]{0} select(e, n, p)")
BELOW = (
    "l = f32[] constant(1e9)",
    "z = f32[6]{0} broadcast(l), dimensions={}",
    "c = pred[6]{0} compare(b, z), direction=LT",
    "s = f32[6]{0} select(c, p, q)",
)
SPREAD = ("i = f32[] constant(inf)", "d = f32[] subtract(i, i)", "x = f32[6]{0} broadcast(d), dimensions={}",
          "c = pred[6]{0} compare(x, x), direction=NE")  # fmt: skip

PAIRS = (
    "pairs_f {\n a = s32[] parameter(0)\n b = s32[] parameter(1)\n c = s32[] parameter(2)\n d = s32[] parameter(3)\n"
    " ROOT s = pred[] compare(a, b), direction=LT\n}\n"
)
LATER = "later_f {\n x = f32[] parameter(0)\n ROOT y = f32[] parameter(1)\n}\n"


def argsorted(turned: bool, stable: bool) -> str:
    """Where the sorted elements stood, of the elements as they are or from the last to the first."""
    last = ("a = s32[8] reverse(k), dimensions={0}", "b = s32[8] reverse(i), dimensions={0}")
    return module(
        "k = s32[8] parameter(0)",
        "i = s32[8] iota(), iota_dimension=0",
        *(last if turned else ()),
        f"o = (s32[8], s32[8]) sort({'a, b' if turned else 'k, i'}), dimensions={{0}}, to_apply=pairs_f"
        + (", is_stable=true" if stable else ""),
        "s = s32[8] get-tuple-element(o), index=1",
        called=PAIRS,
    )


def written(turned: bool, more: str = "", combiner: str = LATER, update: str = "u") -> str:
    """Elements written at indices, as they are or from the last to the first."""
    last = ("a = s32[6,1] reverse(j), dimensions={0}", "b = f32[6] reverse(n), dimensions={0}")
    return module(
        P,
        "u = f32[6] parameter(1)",
        "j = s32[6,1] parameter(2)",
        f"n = f32[6] copy({update})",
        *(last if turned else ()),
        f"s = f32[6] scatter({'p, a, b' if turned else 'p, j, n'}), update_window_dims={{}},"
        f" inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1,"
        f" to_apply={combiner.split()[0]}{more}",
        called=combiner,
    )


def taken(in_order: bool) -> str:
    """Elements at indices that are said to be sorted, or are sorted first."""
    called = (
        "less_f {\n x = s32[] parameter(0)\n y = s32[] parameter(1)\n ROOT s = pred[] compare(x, y), direction=LT\n}\n"
    )
    first = ("k = s32[6] sort(j), dimensions={0}, to_apply=less_f",) if in_order else ()
    return module(
        P,
        "j = s32[6] parameter(1)",
        *first,
        f"s = f32[6] gather(p, {'k' if in_order else 'j'}), offset_dims={{}}, collapsed_slice_dims={{0}},"
        " start_index_map={0}, index_vector_dim=1, slice_sizes={1}" + ("" if in_order else ", indices_are_sorted=true"),
        called=called,
    )


def subtracted(turned: bool) -> str:
    last = "v = f32[6] reverse(p), dimensions={0}"
    return module(
        P,
        "z = f32[] constant(0)",
        *((last,) if turned else ()),
        f"s = f32[] reduce({'v' if turned else 'p'}, z), dimensions={{0}}, to_apply=less_f",
        called=ADD.replace("add_f", "less_f").replace("add(", "subtract("),
    )


DIFFERENT: dict[str, tuple[str, str]] = {
    "a slice that starts one too far": (
        module(P, "s = f32[3]{0} slice(p), slice={[1:4]}"),
        module(P, "s = f32[3]{0} slice(p), slice={[2:5]}"),
    ),
    "a clamp that is left out": (
        module(P, I, "s = f32[4]{0} dynamic-slice(p, i), dynamic_slice_sizes={4}"),
        module(P, I, "c = s32[] constant(1)", "j = s32[] and(i, c)",
               "s = f32[4]{0} dynamic-slice(p, j), dynamic_slice_sizes={4}"),
    ),
    "operands exchanged": (module(P, Q, "s = f32[6]{0} subtract(p, q)"), module(P, Q, "s = f32[6]{0} subtract(q, p)")),
    "less or equal": (
        module(W, V, "s = pred[64]{0} compare(w, v), direction=LT"),
        module(W, V, "s = pred[64]{0} compare(w, v), direction=LE"),
    ),
    "unsigned division": (
        module("p = u8[64]{0} parameter(0)", "c = u8[] constant(2)", "d = u8[64]{0} broadcast(c), dimensions={}",
               "s = u8[64]{0} divide(p, d)"),
        module("p = u8[64]{0} parameter(0)", "c = u8[] constant(1)", "d = u8[64]{0} broadcast(c), dimensions={}",
               "s = u8[64]{0} shift-right-arithmetic(p, d)"),
    ),
    "one element of a tuple": (
        module(P, "n = f32[6]{0} negate(p)", "t = (f32[6]{0}, f32[6]{0}) tuple(p, n)"),
        module(P, "n = f32[6]{0} negate(p)", "t = (f32[6]{0}, f32[6]{0}) tuple(p, p)"),
    ),
    "eight bits on the way": (
        module(P, "s = s32[6]{0} convert(p)"),
        module(P, "a = f8e5m2[6]{0} convert(p)", "s = s32[6]{0} convert(a)"),
    ),
    "an infinity": (
        module(P, "z = f32[] constant(0)", "d = f32[6]{0} broadcast(z), dimensions={}", MAX),
        module(P, "z = f32[] constant(inf)", "d = f32[6]{0} broadcast(z), dimensions={}", MAX),
    ),
    "no number whatever is put in": (
        module(P, "e = f32[6]{0} exponential(p)", "s = f32[6]{0} log(e)"),
        module(P, "e = f32[6]{0} exponential(p)", "n = f32[6]{0} negate(e)", "s = f32[6]{0} log(n)"),
    ),
    "beside what is no number": (
        module(P, *NONE, "a = f32[3]{0} slice(p), slice={[1:4]}", "t = (pred[], f32[3]{0}) tuple(e, a)"),
        module(P, *NONE, "a = f32[3]{0} slice(p), slice={[2:5]}", "t = (pred[], f32[3]{0}) tuple(e, a)"),
    ),
    "below a decision on what is no number, which both take": (
        module(P, *CHOSEN, "a = f32[3]{0} slice(b), slice={[1:4]}"),
        module(P, *CHOSEN, "a = f32[3]{0} slice(b), slice={[2:5]}"),
    ),
    "branches exchanged for what is no number": (
        module(P, *SPREAD, "s = f32[6]{0} select(c, p, x)"),
        module(P, *SPREAD, "s = f32[6]{0} select(c, x, p)"),
    ),
    "a decision on what is no number that only the second takes": (
        module(P, Q, "a = f32[6]{0} exponential(p)", "b = f32[6]{0} log(a)", *BELOW),
        module(P, Q, "a = f32[6]{0} exponential(p)", "m = f32[6]{0} negate(a)", "b = f32[6]{0} log(m)", *BELOW),
    ),
    "a threshold at which a sum lies": (
        module(P, "z = f32[] constant(0)", "b = f32[] reduce(p, z), dimensions={0}, to_apply=add_f",
               "s = pred[] compare(b, z), direction=GT", called=ADD),
        module(P, "z = f32[] constant(0)", "b = f32[] reduce(p, z), dimensions={0}, to_apply=add_f",
               "s = pred[] compare(b, z), direction=GE", called=ADD),
    ),
    "a threshold of its own": (
        module(P, "l = f32[] constant(37)", "z = f32[6]{0} broadcast(l), dimensions={}",
               "s = pred[6]{0} compare(p, z), direction=GT"),
        module(P, "l = f32[] constant(37)", "z = f32[6]{0} broadcast(l), dimensions={}",
               "s = pred[6]{0} compare(p, z), direction=GE"),
    ),
    "a stable sort turned": (argsorted(False, True), argsorted(True, True)),
    "a stable sort that is none any more, turned": (argsorted(False, True), argsorted(True, False)),
    "other elements written": (written(False), written(False, update="p")),
    "an order that the second module promises": (taken(True), taken(False)),
    "a sum over too little": (
        module(P, "z = f32[] constant(0)", "s = f32[] reduce(p, z), dimensions={0}, to_apply=add_f", called=ADD),
        module(P, "z = f32[] constant(0)", "a = f32[5]{0} slice(p), slice={[0:5]}",
               "s = f32[] reduce(a, z), dimensions={0}, to_apply=add_f", called=ADD),
    ),
}  # fmt: skip

ALIKE: dict[str, tuple[str, str]] = {
    "a sum in another order": (
        module(P, Q, "a = f32[6]{0} add(p, q)", "s = f32[6]{0} subtract(a, q)"),
        module(P, Q, "a = f32[6]{0} subtract(p, q)", "s = f32[6]{0} add(a, q)"),
    ),
    "a division as a product with the rounded reciprocal": (
        module(P, "c = f32[] constant(3)", "d = f32[6]{0} broadcast(c), dimensions={}", "s = f32[6]{0} divide(p, d)"),
        module(P, "c = f32[] constant(0.333333343)", "d = f32[6]{0} broadcast(c), dimensions={}",
               "s = f32[6]{0} multiply(p, d)"),
    ),
    "a constant folded with its rounding": (
        module("p = f32[] parameter(0)", "a = f32[] constant(0.1)", "b = f32[] exponential(a)", "s = f32[] add(p, b)"),
        module("p = f32[] parameter(0)", "b = f32[] constant(1.10517097)", "s = f32[] add(p, b)"),
    ),
    "a law of exp": (
        module(P, Q, "a = f32[6]{0} exponential(p)", "b = f32[6]{0} exponential(q)", "s = f32[6]{0} multiply(a, b)"),
        module(P, Q, "a = f32[6]{0} add(p, q)", "s = f32[6]{0} exponential(a)"),
    ),
    "x / y * y, where y may be zero": (
        module(P, Q, "a = f32[6]{0} divide(p, q)", "b = f32[6]{0} multiply(a, q)", "s = f32[6]{0} maximum(b, p)"),
        module(P, Q, "s = f32[6]{0} maximum(p, p)"),
    ),
    "bf16 on the way": (
        module(P, "a = bf16[6]{0} convert(p)", "s = f32[6]{0} convert(a)"),
        module("s = f32[6]{0} parameter(0)"),
    ),
    "0 times an infinity, with a like decision on what is no number in both": (
        module(P, *NONE, "z = f32[] constant(0)", "y = f32[] multiply(i, z)", "f = pred[] compare(y, y), direction=EQ",
               "n = pred[] not(e)", "s = pred[] and(n, f)"),
        module(P, *NONE, "z = f32[] constant(0)", "f = pred[] compare(z, z), direction=EQ", "n = pred[] not(e)",
               "s = pred[] and(n, f)"),
    ),
    "max(x, x)": (module(P, "s = f32[6]{0} maximum(p, p)"), module("s = f32[6]{0} parameter(0)")),
    "a NaN for some inputs": (
        module(P, "s = f32[6]{0} maximum(p, p)"),
        module(P, Q, "a = f32[6]{0} divide(p, q)", "s = f32[6]{0} multiply(a, q)").replace("parameter(1)", "copy(p)"),
    ),
    "a number chosen by a threshold on a result that was rounded": (
        module(P, Q, "a = f32[6]{0} divide(p, q)", "b = f32[6]{0} multiply(a, q)",
               "c = pred[6]{0} compare(b, p), direction=EQ", "s = f32[6]{0} convert(c)"),
        module(P, Q, "c = pred[6]{0} compare(p, p), direction=EQ", "s = f32[6]{0} convert(c)"),
    ),
    "a whole number of something that was rounded": (
        module(P, Q, "a = f32[6]{0} divide(p, q)", "b = f32[6]{0} multiply(a, q)", "c = f32[6]{0} subtract(b, p)",
               "s = f32[6]{0} floor(c)"),
        module(P, Q, "c = f32[6]{0} subtract(p, p)", "s = f32[6]{0} floor(c)"),
    ),
    "the order of equal elements": (argsorted(False, False), argsorted(True, True)),
    "the order of updates": (written(False), written(True)),
    "indices that are not unique": (written(False, ", unique_indices=true"), written(True)),
    "indices that are not sorted": (taken(False), taken(True)),
    "the order of a reduce": (subtracted(False), subtracted(True)),
    "a threshold on a result that was rounded": (
        module(P, Q, "a = f32[6]{0} divide(p, q)", "b = f32[6]{0} multiply(a, q)",
               "s = pred[6]{0} compare(b, p), direction=EQ"),
        module(P, Q, "s = pred[6]{0} compare(p, p), direction=EQ"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", DIFFERENT)
def test_a_difference_is_found_and_replays(what: str) -> None:
    before, after = map(parse_module, DIFFERENT[what])
    found = refute(before, after, 20)
    assert isinstance(found, Refutation), found
    shown: list[Any] = []
    for m in (before, after):
        result: Any = run_module(m, found.inputs)
        for k in (*found.position, *found.index):
            result = result[k]
        shown.append(result)
    assert repr(shown) == repr([found.before, found.after]) and shown[0] != shown[1]
    assert found.after_place is not None and found.after_place.line > 1


@pytest.mark.parametrize("what", ALIKE)
def test_what_rounding_or_a_law_of_the_reals_explains_is_not_refuted(what: str) -> None:
    before, after = map(parse_module, ALIKE[what])
    assert isinstance(refute(before, after, 20), str)


def test_what_is_looked_at_is_one_array_of_the_result() -> None:
    m = parse_module(
        module(P, "a = f32[6]{0} negate(p)", "t = (f32[6]{0}, f32[6]{0}) tuple(p, a)",
               "u = ((f32[6]{0}, f32[6]{0}), f32[6]{0}) tuple(t, p)")
    )  # fmt: skip
    found = {path: restricted(m, path) for path in [(0, 1), (1,), (0,), ()]}
    assert [(n.entry.root_name, taken) for n, taken in found.values()] == [("a", 2), ("p", 1), ("t", 1), ("u", 0)]
    assert [work(n.entry) for n, _ in found.values()] == [12, 6, 24, 42]
    split = parse_module(module("q = (f32[6]{0}, f32[6]{0}) parameter(0)", "c = (f32[6]{0}, f32[6]{0}) copy(q)"))
    assert restricted(split, (1,)) == (split, 0)  # a tuple that comes from elsewhere stays whole


CALL = 'c = f32[6]{0} custom-call(p), custom_call_target="nobody_knows"'


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (module(P, CALL), module(P, "s = f32[6]{0} negate(p)"), "not known"),
        (module("p = f32[6]{0} constant({...})"), module("p = f32[6]{0} constant({...})"), "leaves out"),
        (
            module(
                P, "z = f32[] constant(0)", "o = f32[] constant(1)", "s = f32[6]{0} rng(z, o), distribution=rng_uniform"
            ),
            module(P, "s = f32[6]{0} negate(p)"),
            "what rng gives",
        ),
        (
            module("p = f32[999999999]{0} parameter(0)"),
            module("p = f32[999999999]{0} parameter(0)", "s = f32[999999999]{0} negate(p)"),
            "elements",
        ),
    ],
)
def test_what_cannot_be_run_is_not_refuted(before: str, after: str, said: str) -> None:
    found = refute(parse_module(before), parse_module(after), 5)
    assert isinstance(found, str) and said in found


def test_the_guilty_instruction_is_named_in_both() -> None:
    lines = [P, "a = f32[6]{0} negate(p)", "b = f32[6]{0} reverse(a), dimensions={0}", "c = f32[6]{0} exponential(b)"]
    before = module(*lines, "s = f32[6]{0} add(c, c)")
    after = before.replace("reverse(a)", "copy(a)").replace(", dimensions={0}", "")
    found = refute(parse_module(before), parse_module(after), 10)
    assert isinstance(found, Refutation) and found.before_place is not None and found.after_place is not None
    # A copy changes no value, so what parts is its user; the reverse is what `after` no longer computes.
    assert found.after_place.line in (6, 7) and found.before_place.line in (6, 7)
    assert "they part at" in found.reason


def test_perturbed_leaves_exact_results_alone_and_moves_the_others_by_a_few_roundings() -> None:
    def divided(seed: int, a: float, b: float) -> float:
        return float(Perturbed(seed).function("divide", ["f32", "f32"], "f32", Attributes())(a, b))

    assert divided(1, 3.0, 2.0) == divided(2, 3.0, 2.0) == 1.5
    assert divided(1, 1.0, 3.0) == divided(1, 1.0, 3.0) != divided(2, 1.0, 3.0)
    assert all(abs(divided(s, 1.0, 3.0) * 3 - 1) < 2**-20 for s in range(50))
    assert (
        math.isnan(divided(1, 0.0, 0.0)) and math.isnan(divided(1, 1.0, 0.0)) and math.isinf(divided(1, math.inf, 2.0))
    )
    assert Perturbed(1).constant("f32", 0.5) == 0.5 and Perturbed(1).constant("f32", 1 / 3) != Perturbed(2).constant(
        "f32", 1 / 3
    )
    assert Perturbed(3).sum_of_products("f32", [1.0, 2.0], [3.0, 0.5]) == 4.0


LOOP = """HloModule m
body {
  s = (s32[], f32[6]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[6]{0} get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  r = f32[6]{0} reverse(v), dimensions={0}
  w = f32[6]{0} cosine(r)
  ROOT t = (s32[], f32[6]{0}) tuple(j, w)
}
cond {
  s = (s32[], f32[6]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT l = pred[] compare(i, n), direction=LT
}
ENTRY e {
  p = f32[6]{0} parameter(0)
  z = s32[] constant(0)
  t = (s32[], f32[6]{0}) tuple(z, p)
  u = (s32[], f32[6]{0}) while(t), condition=cond, body=body
  ROOT g = f32[6]{0} get-tuple-element(u), index=1
}
"""
FOLD = module(P, "z = f32[] constant(0)", "s = f32[] reduce(p, z), dimensions={0}, to_apply=add_f", called=ADD)
PADDED = module(P, "z = f32[] constant(0)", "s = f32[8]{0} pad(p, z), padding=1_1")


@pytest.mark.parametrize(
    ("before", "old", "new", "guilty"),
    [
        (LOOP, "cosine(r)", "sine(r)", "w"),
        (LOOP, "reverse(v), dimensions={0}", "negate(v)", "r"),
        (FOLD, "add(x, y)", "subtract(x, y)", "s"),
        (PADDED, "constant(0)", "constant(1)", "z"),
    ],
    ids=["a step in a loop", "another operation in a loop", "an operation that is folded with", "a constant"],
)
def test_the_guilty_instruction_is_found_inside(before: str, old: str, new: str, guilty: str) -> None:
    found = refute(parse_module(before), parse_module(before.replace(old, new)), 10)
    assert isinstance(found, Refutation) and found.after_place is not None and found.before_place is not None
    assert (found.before_place.instruction, found.after_place.instruction) == (guilty, guilty)


def test_large_modules_are_refuted_on_inputs_in_few_parts() -> None:
    """No array of these sizes is ever made, and the inputs replay."""
    text = (
        "HloModule m\n\nENTRY e {\n  p = f32[8192,65536]{1,0} parameter(0)\n  q = f32[65536,4096]{1,0} parameter(1)\n"
        "  s = f32[8192,65536]{1,0} tanh(p)\n"
        "  ROOT d = f32[8192,4096]{1,0} dot(s, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n"
    )
    before, after = parse_module(text), parse_module(text.replace("tanh(p)", "sine(p)"))
    found = refute(before, after, 20)
    assert isinstance(found, Refutation) and found.before != found.after
    assert len(str(found.as_json()["inputs"])) < 5000 and found.inputs[0]["starts"][0][0] == 0


PRODUCT = (
    'c = (f32[1024,1024]{{1,0}}, s8[64]{{0}}) custom-call(a, b), custom_call_target="__cublas$lt$matmul", '
    'backend_config={{"gemm_backend_config":{{"alpha_real":1,"beta":0,"dot_dimension_numbers":{{"lhs_contracting_dimensions":["1"],'
    '"rhs_contracting_dimensions":["0"],"lhs_batch_dimensions":[],"rhs_batch_dimensions":[]}},"epilogue":"{}"}}}}'
)


def test_one_operation_that_takes_long_does_not_outlast_the_budget() -> None:
    """A library's product says nothing of how long it takes: it is interrupted."""
    before, after = (
        module(
            "a = f32[1024,1024]{1,0} parameter(0)",
            "b = f32[1024,1024]{1,0} parameter(1)",
            PRODUCT.format(epilogue),
            "y = f32[1024,1024]{1,0} get-tuple-element(c), index=0",
        )
        for epilogue in ("DEFAULT", "RELU")
    )
    assert refute(parse_module(before), parse_module(after), 1.5) == "not run: the budget ran out in a run"
    assert where_a_number_is_lost(parse_module(before), parse_module(after), 1.5) == ""
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def by_branches(first: str, second: str, last: str) -> str:
    """A map whose function chooses one of two branches, b0 and b1, of which the first computes `first` and `second`."""
    return f"""HloModule m
b0 {{
  q = (f32[], f32[]) parameter(0)
  x = f32[] get-tuple-element(q), index=0
  y = f32[] get-tuple-element(q), index=1
  a = f32[] {first}
  ROOT s = f32[] {second}
}}
b1 {{
  q = (f32[], f32[]) parameter(0)
  ROOT x = f32[] get-tuple-element(q), index=0
}}
f {{
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  t = (f32[], f32[]) tuple(x, y)
  c = s32[] constant(0)
  ROOT r = f32[] conditional(c, t, t), branch_computations={{b0, b1}}
}}
ENTRY e {{
  p = f32[6] parameter(0)
  q = f32[6] parameter(1)
  m = f32[6] map(p, q), dimensions={{0}}, to_apply=f
  ROOT n = f32[6] {last}
}}
"""


def largest(order: str, last: str) -> str:
    return module(
        "p = f32[6] parameter(0)",
        'k = (f32[6], s32[6]) custom-call(p), custom_call_target="TopK", called_computations={order_f}',
        "v = f32[6] get-tuple-element(k), index=0",
        f"r = f32[6] {last}",
        called="order_f {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n i = s32[] parameter(2)\n"
        f" j = s32[] parameter(3)\n ROOT c = pred[] compare(a, b), direction={order}\n}}\n",
    )


def numbered(inside: bool) -> str:
    """p plus the number of the replica, which stands in what is applied to each element or not."""
    text = module(
        "p = u32[3] parameter(0)",
        *(() if inside else ("r = u32[] replica-id()", "b = u32[3] broadcast(r), dimensions={}")),
        "s = u32[3] map(p), dimensions={0}, to_apply=add_f" if inside else "s = u32[3] add(p, b)",
        called="add_f {\n a = u32[] parameter(0)\n r = u32[] replica-id()\n ROOT s = u32[] add(a, r)\n}\n"
        if inside
        else "",
    )
    return text.replace("HloModule m", "HloModule m, replica_count=2")


def received_twice(at_once: bool, sources: tuple[int, int] = (0, 2)) -> str:
    """Device 1 receives twice on one channel, one after the other or at once."""
    words = [f"channel_id=1, frontend_attributes={{_xla_send_recv_source_target_pairs={{{{{k},1}}}}}}" for k in sources]
    in_flight = "(s32[2], u32[], token[])"
    steps = [
        [
            f"r{k} = {in_flight} recv({'t' if at_once or not k else 'e0'}), {words[k]}",
            f"s{k} = {in_flight} send({'xn'[k]}, {'e0' if k and not at_once else 't'}), {words[k]}",
            f"d{k} = (s32[2], token[]) recv-done(r{k}), {words[k]}",
            f"e{k} = token[] send-done(s{k}), {words[k]}",
        ]
        for k in range(2)
    ]
    # By steps, both of each kind, or all of the first transfer before the second.
    order = [line for pair in zip(*steps, strict=True) for line in pair] if at_once else [*steps[0], *steps[1]]
    text = module(
        "x = s32[2] parameter(0)",
        "t = token[] after-all()",
        "n = s32[2] negate(x)",
        *order,
        "g0 = s32[2] get-tuple-element(d0), index=0",
        "g1 = s32[2] get-tuple-element(d1), index=0",
        "o = (s32[2], s32[2]) tuple(g0, g1)",
    )
    return text.replace("HloModule m", "HloModule m, replica_count=3")


def applied(function: str, last: str, given: str = "x, y") -> str:
    """What a function makes of two parameters, one element after the other."""
    return module(
        "x = s32[4] parameter(0)",
        "y = s32[4] parameter(1)",
        f"m = s32[4] map({given}), dimensions={{0}}, to_apply=f",
        "c = s32[] constant(-1)",
        "k = s32[4] broadcast(c), dimensions={}",
        f"r = s32[4] {last}",
        called=f"f {{\n{function}}}\n",
    )


def less(first: int, second: int, more: str = "", root: str = "s") -> str:
    lines = f" a = s32[] parameter({first})\n b = s32[] parameter({second})\n s = s32[] subtract(a, b)\n{more}"
    return lines.replace(f" {root} = ", f" ROOT {root} = ")


def turned_bits(constant: int, last: int) -> str:
    """x with the bits of a constant turned in a function, and those of another outside."""
    function = f" a = s32[] parameter(0)\n c = s32[] constant({constant})\n ROOT s = s32[] xor(a, c)\n"
    return applied(function, "xor(m, k)", "x").replace("constant(-1)", f"constant({last})")


TURNED = " t = s32[] subtract(b, a)\n"


def padded_size(counted: bool) -> str:
    """The size of what is padded, of which nothing is there."""
    return module(
        "p = f32[4] parameter(0)",
        "n = s32[] constant(0)",
        "d = f32[<=4] set-dimension-size(p, n), dimensions={0}",
        "z = f32[] constant(0)",
        "q = f32[<=9] pad(d, z), padding=1_1_1",
        "r = s32[] get-dimension-size(q), dimensions={0}" if counted else "r = s32[] constant(2)",
    )


ONE_MODULE = {
    "constants in what is applied": (turned_bits(1, 3), turned_bits(2, 0)),
    # not(x) is -x - 1
    "parameters in what is applied": (applied(less(0, 1), "not(m)"), applied(less(1, 0), "add(m, k)")),
    "roots in what is applied": (applied(less(0, 1, TURNED), "not(m)"), applied(less(0, 1, TURNED, "t"), "add(m, k)")),
    "the size of nothing, padded inside": (padded_size(True), padded_size(False)),
    "branches that have the same names": (
        by_branches("add(x, y)", "copy(a)", "negate(m)"),
        by_branches("add(x, y)", "negate(a)", "copy(m)"),
    ),
    "orders that have the same name": (largest("GT", "reverse(v), dimensions={0}"), largest("LT", "copy(v)")),
    "a device in what is applied to each element": (numbered(True), numbered(False)),
    "what is received at once": (received_twice(True), received_twice(False)),
}


@pytest.mark.parametrize("what", ONE_MODULE)
def test_modules_that_are_one_are_not_told_apart(what: str) -> None:
    one, other = map(parse_module, ONE_MODULE[what])
    assert isinstance(refute(one, other, 5), str)


def test_branches_that_differ_are_told_apart() -> None:
    one, other = by_branches("add(x, y)", "copy(a)", "copy(m)"), by_branches("add(x, y)", "negate(a)", "copy(m)")
    assert isinstance(refute(parse_module(one), parse_module(other), 5), Refutation)


def test_what_several_devices_send_one_after_the_other_is_received_in_turn() -> None:
    """What was taken from one device counted as taken from another."""
    found = run_module(parse_module(received_twice(False)), [[[1, 2]], [[3, 4]], [[5, 6]]], replicas=3)
    assert found == [([0, 0], [0, 0]), ([1, 2], [-5, -6]), ([0, 0], [0, 0])]


@pytest.mark.parametrize(("sources", "said"), [((0, 2), "from several devices at once"), ((0, 0), "several times")])
def test_of_what_is_under_way_at_once_nobody_says_which_arrives_first(sources: tuple[int, int], said: str) -> None:
    with pytest.raises(NotModelled, match=said):
        run_module(parse_module(received_twice(True, sources)), [[[1, 2]], [[3, 4]], [[5, 6]]], replicas=3)


@pytest.mark.parametrize(
    "given", ["parameter_replication={true}", "sharding={replicated}", "sharding={maximal device=0}"]
)
def test_what_all_devices_are_given_alike_is_the_same_when_it_is_passed_round(given: str) -> None:
    head = f"HloModule m, replica_count=2\n\nENTRY e {{\n  p = f32[6] parameter(0), {given}\n"
    passed = f"{head}  ROOT r = f32[6] collective-permute(p), source_target_pairs={{{{0,1}},{{1,0}}}}\n}}\n"
    kept = f"{head}  ROOT r = f32[6] copy(p)\n}}\n"
    before, after = map(parse_module, (passed, kept))
    assert compare(before, after).verdict != "refuted"
    before, after = (parse_module(text.replace(f", {given}", "")) for text in (passed, kept))
    assert compare(before, after).verdict == "refuted"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("z = c64[] constant((0,0))", "ROOT r = c64[] power(z, z)"), ("ROOT r = c64[] constant((1,0))",)),
        (
            ("ROOT r = c64[6] logistic(p)",),
            (
                "o = c64[6] constant({(1,0),(1,0),(1,0),(1,0),(1,0),(1,0)})",
                "n = c64[6] negate(p)",
                "e = c64[6] exponential(n)",
                "s = c64[6] add(o, e)",
                "ROOT r = c64[6] divide(o, s)",
            ),
        ),
    ],
    ids=["power", "logistic"],
)
def test_functions_of_complex_numbers_are_what_they_are_defined_as(
    one: tuple[str, ...], other: tuple[str, ...]
) -> None:
    given = "p = c64[6] parameter(0)"
    before, after = (parse_module(entry(given, *lines)) for lines in (one, other))
    assert compare(before, after).verdict != "refuted"
    assert compare(after, before).verdict != "refuted"


def test_bitcasts_of_other_layouts_are_other_values() -> None:
    """The second module lays its elements out anew, and gives the same ones at the same places."""
    p = "p = s32[3,4]{1,0} parameter(0)"
    moved = [
        *(p, "c = s32[3,4]{0,1} copy(p)", "b = s32[4,3]{0,1} bitcast(c)", "f = s32[12]{0} bitcast(b)"),
        *("g = s32[4,3]{1,0} bitcast(f)", "three = s32[] constant(3)", "others = s32[] constant(-4)"),
        *("t = s32[4,3]{1,0} broadcast(three), dimensions={}", "o = s32[4,3]{1,0} broadcast(others), dimensions={}"),
        *("m = s32[4,3]{1,0} and(g, t)", "n = s32[4,3]{1,0} and(g, o)", "r = s32[4,3]{1,0} or(m, n)"),
    ]
    plain = module(p, "b = s32[4,3]{0,1} bitcast(p)")
    assert not isinstance(refute(parse_module(plain), parse_module(module(*moved)), 5), Refutation)
    wrong = module(*(line.replace("constant(3)", "constant(1)") for line in moved))
    assert isinstance(refute(parse_module(plain), parse_module(wrong), 5), Refutation)


@pytest.mark.parametrize(("to", "refuted"), [("1,0", False), ("0,1", True)])
def test_indices_are_sorted_as_the_operand_has_its_dimensions(to: str, refuted: bool) -> None:
    """The first is (0, 1) as it is written; by the dimensions that they are meant for they are sorted, or not."""
    gather = (
        "x = f32[3,3] parameter(0)",
        "i = s32[2,2] constant({{0,1},{1,0}})",
        f"r = f32[2] gather(x, i), offset_dims={{}}, collapsed_slice_dims={{0,1}}, start_index_map={{{to}}}, "
        "index_vector_dim=1, slice_sizes={1,1}, indices_are_sorted=true",
    )
    after = module("x = f32[3,3] parameter(0)", "v = f32[2] constant({7, 8})", "r = f32[2] copy(v)")
    found = refute(parse_module(module(*gather)), parse_module(after), 5)
    assert isinstance(found, Refutation) is refuted
