"""Tensor rules: what is read and refused, what is proved at every size, and that planted errors are not."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from tensor_rule_cases import planted_errors, told, tried_by_equiv

from hloproof.equivalence import decide
from hloproof.models.errors import InputError
from hloproof.models.hlo.parser import parse_module
from hloproof.models.tensor_rules.rule import TensorRule
from hloproof.models.tensor_rules.text import parse_tensor_rules
from hloproof.results.verdict import Verdict
from hloproof.tensor_rules import prove
from hloproof.tensor_rules.instances import difference, instances
from hloproof.tensor_rules.judge import check_tensor_rule, instance_texts
from hloproof.tensor_rules.prove import check_form, prove_rule
from hloproof.tensor_rules.ranks import larger_ranks_open, ranks

FOLDER = Path(__file__).parents[1] / "specs" / "tensor_rules"
RULES = {r.name: r for path in sorted(FOLDER.glob("*.trules")) for r in parse_tensor_rules(path.read_text(), path.name)}


def rule(body: str) -> TensorRule:
    (found,) = parse_tensor_rules("rule r\n" + "\n".join(f"  {line}" for line in body.splitlines()))
    return found


@pytest.mark.parametrize("name", RULES)
def test_every_rule_of_the_project_is_what_its_file_says(name: str) -> None:
    found = check_tensor_rule(RULES[name])
    assert found.verdict is Verdict.PROVED, found.reason or found.counterexample


WRONG = [
    ("A: [n]\nslice(A, start=[0], limit=[n]) => B", "no tensor 'B' is declared; there are: A", 3, 37),
    ("A: [n]\nslice(A, start=[0, 0], limit=[n]) => A", "start has 2 entries where the operand has 1", 3, 3),
    ("A: [n]\nslice(A, begin=[0], limit=[n]) => A", "slice has no attribute 'begin'", 3, 3),
    ("A: [n, k...]\nslice(A, start=[0, 0], limit=[n, k...]) => A", "entry 1 of start is written with '...'", 3, 3),
    ("A: [n]  A: [m]\nA => A", "'A' is declared twice", 2, 11),
    ("A: [n]\nreverse(A, dims=[0]", "expected ','", 3, 22),
    ("A: [n]\nreverse(A, dims=[0]) = A", "expected '=>', found '='", 3, 24),
    ("A: [n]\nreverse(A, dims=[0]) => A\nA => A", "unexpected 'A'", 4, 3),
    ("A: [n]\ntranspose(A, dims=[0, 1]) => A", "dims of transpose names each dimension", 3, 3),
    ("A: [n]\nselect(A, A, A) => A", "holds truth values", 3, 3),
    ("A: [n]\nwhen n\nA => A", "expected a comparison", 3, 9),
    ("A: [n]  inf: [n]\nA => A", "inf is a constant", 2, 11),
    ("A: [n]\nall-gather(A, dim=0) => A", "say how many: devices p", 3, 3),
    ("A: [n]\nwhere A\nA => A", "where takes truth values", 1, 1),
    ("A: [n]\ntype floats\nA => A", "type is integers or reals", 1, 1),
    ("A: [n]  B: [n, m]\nwhere compare(B, B, direction=EQ)\nA => A", "the dimensions of the result", 3, 9),
    ("A: [n, m]  B: [m]\nwhere compare(B, B, direction=EQ)\nA => A", "the dimensions of the result", 3, 9),
    ("A: [n]\nwhere compare(A, A, direction=EQ)\nreduce(A, dims=[0], op=add) => 0", "the dimensions of", 3, 9),
    ("A: [k...]  B: [n]\nwhere compare(B, B, direction=EQ)\nA => A", "the dimensions of the result", 3, 9),
    ("A: [n]\nindex i\ndevices p\nA => A", "no index", 1, 1),
    ("A: [n]\nsort(A) => A", "sort does not go element by element", 3, 3),
    ("A: [n]\nmap(A) => A", "map does not go element by element", 3, 3),
    ("A: [n]\nsubtract(A, rng(A, A)) => A", "rng does not go element by element", 3, 15),
    ("A: [n]  P: [n]\npred P\nadd(A, P) => A", "add is about numbers here", 4, 3),
    ("A: [n]\nmultiply(A, true) => A", "multiply is about numbers here", 3, 3),
    ("A: [n]  P: [n]\npred P\ncompare(A, P, direction=EQ) => P", "compare has truth values beside numbers", 4, 3),
    ("A: [n]  P: [n]\npred P\nselect(P, P, A) => A", "select has truth values beside numbers", 4, 3),
    ("A: [n]  P: [m]\npred P\nconcatenate(A, P, dim=0) => A", "concatenate has truth values beside", 4, 3),
    ("P: [n, m]\npred P\ndot(P, P, lhs_contract=[0], rhs_contract=[0]) => P", "dot is about numbers here", 4, 3),
    ("A: [n]  a: []  P: [n]\npred P\nselect(P, a, A) => A", "other numbers of dimensions", 4, 3),
    ("A: [n]\ntype integers\nA => sqrt(A)", "sqrt is of real numbers", 4, 8),
    ("P: [n]\npred P\nP => select(P, 2, 0)", "one side holds truth values", 1, 1),
    ("A: [n]", "the rule has no LEFT => RIGHT", 1, 1),
    ("A: [n]\nand(A, A) => A", "and takes truth values (pred NAME), or integers only", 3, 3),
    ("A: [n]\ntype reals\nshift-left(A, 0) => A", "shift-left takes integers", 4, 3),
    ("A: [n]\nbitwise-not(A) => subtract(negate(A), 1)", "bitwise-not is written not, of integers", 3, 3),
    ("A: [n]\ntype integers\nA => bitwise-and(A, A)", "bitwise-and is written and, of integers", 4, 8),
    ("A: [n, m]\nconcatenate(A, A, dim=[0, 1]) => A", "needs dim=, one dimension", 3, 3),
    ("A: [n]\nconcatenate(A, A, dim=[]) => A", "needs dim=, one dimension", 3, 3),
    ("A: [n]\nA => iota(shape=[n, n], dim=[0, 1])", "needs dim=, one dimension", 3, 8),
    ("A: [n]\nA => iota(shape=[n], dim=[])", "needs dim=, one dimension", 3, 8),
    ("A: [n, m]\ndevices p\nall-gather(A, dim=[0, 1]) => A", "needs dim=, one dimension", 4, 3),
    ("A: [n]\ndevices p\nall-to-all(A, dim=[]) => A", "needs dim=, one dimension", 4, 3),
    ("A: [n]\nwhen n == 1\nreshape(A) => reshape(A, shape=[])", "reshape needs shape=", 4, 3),
    ("a: []\nbroadcast(a) => a", "broadcast needs shape=", 3, 3),
    ("A: [n]\nA => broadcast(A, shape=[n], dims=[1])", "dims of broadcast names dimensions of the shape", 3, 8),
    ("A: [n]\nA => iota(shape=[n], dim=1)", "dim= names one dimension of shape=", 3, 8),
    ("A: [n]\nadd(A, A, direction=EQ) => A", "add has no attribute 'direction'", 3, 3),
    ("A: [n]  P: [n]\npred P + A\nA => A", "pred names tensors", 3, 8),
    ("A: [n]  P: [n]\npred P...\nA => A", "pred names tensors", 3, 3),
    ("A: [n]\npred\nA => A", "pred names tensors", 1, 1),
    ("A: [n]\nindex i + 1\nA => A", "index declares scalars by name", 3, 9),
    (
        "A: [n, n]\ndot(A, A, lhs_contract=[0], rhs_contract=[0], lhs_batch=[0], rhs_batch=[1]) => A",
        "either contracted or a batch dimension",
        3,
        3,
    ),
    ("A: [n, m...]\ndot(A, A, lhs_contract=[0], rhs_contract=[1]) => A", "dimensions of different kinds", 3, 3),
    ("A: [n]\nslice(A, start=[0], limit=[n-m]) => A", "a minus between sizes has blanks", 3, 30),
]


@pytest.mark.parametrize(("body", "message", "line", "column"), WRONG)
def test_what_is_no_rule_is_refused_at_its_place(body: str, message: str, line: int, column: int) -> None:
    """Also before anybody judges it: who reads a file of rules says which of them are none."""
    for refuses in (check_tensor_rule, check_form):
        with pytest.raises(InputError) as caught:
            refuses(rule(body))
        assert message in caught.value.message
        assert (caught.value.line, caught.value.column) == (line, column)


def test_a_file_without_rules_is_refused() -> None:
    for text in ("", "# nothing\n", "  A => A\n", "slice(A) => A\n"):
        with pytest.raises(InputError):
            parse_tensor_rules(text)


def test_conditions_that_contradict_each_other_are_vacuous() -> None:
    found = check_tensor_rule(rule("A: [n]\nwhen n >= 3, n <= 2\nreverse(A, dims=[0]) => A"))
    assert found.verdict is Verdict.VACUOUS


@pytest.mark.longer
def test_conditions_that_no_sizes_are_known_to_meet_prove_nothing() -> None:
    body = "A: [n]\nwhen n >= 1, m >= 1, n * n == {} * m * m\nA => slice(A, start=[0], limit=[n])"
    assert check_tensor_rule(rule(body.format(2))).verdict is Verdict.UNKNOWN
    assert check_tensor_rule(rule(body.format(4))).verdict is Verdict.PROVED


@pytest.mark.parametrize(
    ("assumed", "verdict"),
    [("multiply(divide(A, 2), 2), A", Verdict.PROVED), ("divide(A, 2), divide(A, 2)", Verdict.VACUOUS)],
)
def test_what_no_real_number_meets_may_be_met_by_integers(assumed: str, verdict: Verdict) -> None:
    body = f"A: [n]  B: [n]\nwhere compare({assumed}, direction=NE)\ndivide(add(A, B), 2) => divide(add(B, A), 2)"
    assert check_tensor_rule(rule(body)).verdict is verdict


@pytest.mark.parametrize(("width", "verdict"), [("1", Verdict.REFUTED), ("k", Verdict.PROVED)])
def test_what_is_assumed_is_of_each_size_of_the_result(width: str, verdict: Verdict) -> None:
    """That a column is nothing does not say so of the others."""
    assumed = f"where compare(slice(A, start=[0, 0], limit=[n, {width}]), 0, direction=EQ)"
    body = f"A: [n, k]\nwhen n >= 1, k >= 1\n{assumed}\nA => subtract(0, A)"
    assert prove_rule(rule(body)).proved is (verdict is Verdict.PROVED)
    assert check_tensor_rule(rule(body)).verdict in (verdict, Verdict.UNKNOWN)


@pytest.mark.parametrize("body", ["A => compare(A, A, direction=EQ)", "compare(A, A, direction=EQ) => A"])
def test_truths_and_numbers_are_no_sides_of_one_rule(body: str) -> None:
    with pytest.raises(InputError, match="one side holds truth values"):
        check_form(rule(f"A: [n]\n{body}"))


def test_a_remainder_by_nothing_is_not_a_number() -> None:
    """Of integers it is what is divided."""
    found = check_tensor_rule(rule("A: [n]\nremainder(A, 0) => broadcast(7, shape=[n], dims=[])"))
    assert found.verdict is Verdict.REFUTED
    found = check_tensor_rule(rule("A: [n]\nwhere compare(remainder(A, 0), 0, direction=EQ)\nA => add(A, 1)"))
    assert found.verdict is Verdict.REFUTED


def test_what_one_kind_of_numbers_reorders_is_told_though_another_is_never_met() -> None:
    """There is no whole number between 0 and 1."""
    assumed = "where compare(A, 0, direction=GT)\nwhere compare(A, 1, direction=LT)"
    found = prove_rule(rule(f"A: [n]  B: [n]\n{assumed}\ndivide(add(A, B), 2) => divide(add(B, A), 2)"))
    assert found.proved and found.tier == "real"


def test_an_assumption_about_elements_that_never_holds_is_vacuous() -> None:
    found = check_tensor_rule(rule("A: [n]  B: [n]\nwhere compare(A, A, direction=LT)\nA => B"))
    assert found.verdict is Verdict.VACUOUS


def test_a_condition_that_is_not_needed_is_named() -> None:
    found = check_tensor_rule(rule("A: [n]\nwhen n >= 3\nreverse(reverse(A, dims=[0]), dims=[0]) => A"))
    assert found.verdict is Verdict.PROVED and found.reason == "the proof does not need the condition n >= 3"


def test_a_name_cannot_be_taken_for_a_member_of_a_group() -> None:
    """`k...` at rank 1 is k.0, which no rule can write."""
    found = check_tensor_rule(rule("A: [k..., k_0]\nwhen (k == k_0)...\ntranspose(A, dims=[1, 0]) => A"))
    assert found.verdict in ("unknown", "refuted")


QUOTIENTS = "A: [n]  B: [n]  C: [n]  D: [n]\ntype reals\n"
A_B, C_D = "divide(A, B)", "divide(C, D)"
HOLES = "A: [n]  B: [2 * n]  C: [2 * n]\ntype reals\nwhen n >= 1\n"
STRIDED = "dot(A, slice(divide(B, C), start=[0], limit=[2 * n], stride=[2]), lhs_contract=[0], rhs_contract=[0])"
PADDED = "dot(pad(A, 0, low=[0], high=[1], interior=[1]), divide(B, C), lhs_contract=[0], rhs_contract=[0])"
SCATTERED = "A: [n]  U: [m]\nwhen m >= 1, m <= n\n"
REMAINDERS = (
    "A: [n]  B: [n]\ntype integers\nwhere compare(A, 0, direction=GE)\nwhere compare(B, 0, direction=GE)\n"
    "remainder(add(A, {}), multiply(B, 2)) => remainder(A, multiply(B, 2))"
)
SUM_OF_ONE_NUMBER = (
    "c: []\nwhen n >= {1}\n"
    "reduce(broadcast({0}, shape=[n], dims=[]), dims=[0], op=add) => multiply({0}, constant(value=n))"
)
CUT = (
    "A: [n]\nwhen m >= 0, k >= 0, k <= n + m{}\n"
    "reduce(slice(pad(A, 0, low=[0], high=[m]), start=[0], limit=[k]), dims=[0], op=add) => reduce(A, dims=[0], op=add)"
)
CHOSEN = (
    "A: [n]  P: [n]  Q: [n]\npred P, Q\ntype reals\nwhere compare(select(P, 1, Q), 1, direction=EQ)\nwhere not(P)\n"
)
LOWER = "reduce(slice(A, start=[1...], limit=[2...]), dims=[0], op=add)"
UPPER = "reduce(slice(broadcast(a, shape=[1...], dims=[]), start=[k - 1...], limit=[k - 1...]), dims=[0], op=add)"
EIGHT = "reshape(A, shape=[p]) => slice(reshape(A, shape=[p]), start=[0], limit=[min(p, 8)])"
EMPTY = [f"{t}: [{t.lower()}..., n]" for t in "HIJK"]
RESHAPED = [f"reshape({t}, shape=[{t.lower()}..., q])" for t in "HIJK"]
NONE_OF = "slice({}, start=[0..., 0], limit=[0..., {}])"
THIRDS = "scatter(reshape(B, shape=[k...]), U, start=[0 - (k floordiv 3)...]) => reshape(B, shape=[k...])"
ENDED = "slice(pad(P, false, low=[0], high=[n]), start=[0], limit=[n])"
TRUTHS = "slice(concatenate(compare(A, A, direction=EQ), compare(A, A, direction=NE), dim=0), start=[0], limit=[n])"
PADDED_TRUTH = f"A: [n]  P: [n]\npred P\ntype reals\nwhere compare({ENDED}, true, direction=EQ)\n"
WINDOWED = "slice(convolution(A, W, low=[l]), start=[0, 0, 0], limit=[b, 0, o])"
STEPS = (
    "broadcast(0, shape=[0], dims=[]) => slice(reduce-window(A, size=[1], stride=[s], op=add), start=[0], limit=[0])"
)
TWO_OF_THREE = "P: [p, 3]  Q: [p, 3]  W: [p * 2, 2]\n"
THREES = "reshape(reshape(concatenate(P, Q, dim=1), shape=[p, 2, 3]), shape=[p * 2, 3])"
BOTH = "lhs_contract=[0, 1], rhs_contract=[0, 1]"
DIVIDED = (
    "A: [n]\nwhen s >= 1, 0 <= m, 0 <= (y floordiv {0}) floordiv s, (y floordiv {0}) floordiv s + m <= n{1}\n"
    "slice(A, start=[((y floordiv 2) floordiv {2}) floordiv s], limit=[((y floordiv 2) floordiv {2}) floordiv s + m])"
    " => slice(A, start=[(y floordiv {0}) floordiv s], limit=[(y floordiv {0}) floordiv s + m])"
)
_PARTS = "reshape(broadcast(A, shape=[n, s], dims=[0]), shape=[n * s])"
DIVIDED_AS_A_PLACE = (
    "A: [n]\nwhen s >= 1, 0 <= y floordiv (2 * t), y floordiv (2 * t) < n * s{}\n"
    f"reshape(slice({_PARTS}, start=[(y floordiv 2) floordiv t], limit=[(y floordiv 2) floordiv t + 1]), shape=[]) =>"
    f" reshape(slice({_PARTS}, start=[y floordiv (2 * t)], limit=[y floordiv (2 * t) + 1]), shape=[])"
)
FALSE_PROOFS = {
    "quotients by what is below 0": DIVIDED.format("(2 * t)", ", t <= -1", "t"),
    "quotients by a number below 0": DIVIDED.format("-2", "", "-1"),
    "a position that was divided by what is below 0": DIVIDED_AS_A_PLACE.format(", t <= -1"),
    "a divisor is shown to be no less than 0 by nothing that it was divided with": "A: [(y floordiv 2) floordiv t]\n"
    "devices p\nwhen p == 1, t * t == 1, y == t, 2 * m == 1 - t\n"
    "slice(reduce-scatter(A, dim=0, op=add), start=[0], limit=[m]) => "
    "broadcast(0, shape=[m], dims=[])",
    "a sum over all but the last": "A: [n + 1]\n"
    "reduce(slice(A, start=[0], limit=[n]), dims=[0], op=add) => reduce(A, dims=[0], op=add)",
    "a sum over all pairs but the last": "A: [n, m]\nwhen n >= 1, m >= 1\n"
    "reduce(slice(reshape(A, shape=[n * m]), start=[0], limit=[n * m - 1]), dims=[0], op=add) => "
    "reduce(A, dims=[0, 1], op=add)",
    "the remainder of a quotient": "A: [n]  B: [n]  C: [n]\ntype reals\nremainder(divide(A, B), C) => remainder(A, C)",
    "no integer is what it is divided by 0": "A: [n]\ntype integers\nA => add(A, divide(A, 0))",
    "the power of a quotient": "A: [n]  B: [n]\ntype reals\nexponential(divide(A, B)) => exponential(A)",
    "the root of a quotient": "A: [n]  B: [n]\ntype reals\nsqrt(divide(A, B)) => sqrt(A)",
    "infinity is no number": "subtract(inf, inf) => 0",
    "the sum of infinities": "add(-inf, inf) => 0",
    "a sum of infinities is no multiple where there are none": "type reals\nwhen n >= 0\n"
    "reduce(broadcast(inf, shape=[n], dims=[]), dims=[0], op=add) => multiply(inf, constant(value=n))",
    "a sum of what infinity makes of 0": "type reals\nwhen n >= 0\n0 => "
    "reduce(multiply(broadcast(0, shape=[n], dims=[]), broadcast(inf, shape=[n], dims=[])), dims=[0], op=add)",
    **{
        f"what infinity makes of 0 is {place} 0": "type reals\nwhen n >= 1\n0 => "
        f"reduce(pad(broadcast(0, shape=[n], dims=[]), multiply(inf, 0), {sides}), dims=[0], op=add)"
        for place, sides in (("before", "low=[1], high=[0]"), ("behind", "low=[0], high=[1]"))
    },
    **{
        f"what infinity makes of 0 is added to a sum {place}": "A: [n]\ntype reals\n"
        f"reduce(A, dims=[0], op=add) => {more}"
        for place, more in (
            (
                "before",
                "reduce(concatenate(broadcast(multiply(0, inf), shape=[1], dims=[]), A, dim=0), dims=[0], op=add)",
            ),
            (
                "behind",
                "reduce(concatenate(A, broadcast(multiply(0, inf), shape=[1], dims=[]), dim=0), dims=[0], op=add)",
            ),
            ("at its start", "reduce(A, multiply(0, inf), dims=[0], op=add)"),
        )
    },
    "a remainder is less than the divisor": "type integers\nremainder(5, -3) => 7",
    "what begins without a value has none": "A: [n]  b: []\ntype reals\n"
    "0 => multiply(0, f(reduce(A, divide(1, b), dims=[0], op=multiply)))",
    "an exponential beside integers may lie between 0 and 1": "A: [n]  B: [n]  C: [n]\n"
    "select(compare(exponential(A), 1, direction=LT), multiply(divide(B, C), C), B) => B",
    "less than nothing is left of a sum": "A: [n]  v: []\n"
    "0 => reduce(pad(A, v, low=[l], high=[0 - l - 1 - n]), dims=[0], op=add)",
    "windows that go back": f"A: [n]\n{STEPS}".replace("[s]", "[-1]"),
    **{
        f"what is at least {least} may be below 0": f"when p >= {least}, p != 0\n"
        "constant(value=n ceildiv p) => constant(value=(n + p - 1) floordiv p)"
        for least in ("-3", "q")
    },
    "the third root is not the second": "A: []\ntype reals\npower(A, divide(1, 3)) => sqrt(A)",
    "bits are not moved by less than nothing": "A: [n]\ntype integers\nshift-left(A, -1) => shift-left(A, 63)",
    "more is cut off than there is": "A: [n]  v: []\nbroadcast(v, shape=[0], dims=[]) => "
    "slice(pad(A, v, low=[l], high=[0 - l - 1 - n]), start=[0], limit=[0])",
    "more is cut off before a window than there is": "A: [b, s, f]  W: [w, f, o]\nwhen w >= 1\n"
    f"broadcast(0, shape=[b, 0, o], dims=[]) => {WINDOWED}",
    "windows that go nowhere": f"A: [n]\n{STEPS}",
    "a window beyond its operand": "A: [n]\nindex i\nwhen m >= 0\n"
    "A => slice(concatenate(A, dynamic-slice(A, start=[i], size=[m]), dim=0), start=[0], limit=[n])",
    "elements that lie over each other": "A: [n]\n"
    "A => slice(concatenate(A, pad(A, 0, low=[0], high=[n], interior=[0 - 1]), dim=0), start=[0], limit=[n])",
    "steps that go nowhere": "A: [n]\nwhen n == 0, s != 0\n"
    "A => slice(concatenate(A, slice(A, start=[0], limit=[n], stride=[s]), dim=0), start=[0], limit=[n])",
    "parts that are not alike": "A: [n]\ndevices p\n"
    "A => slice(concatenate(A, all-to-all(A, dim=0), dim=0), start=[0], limit=[n])",
    "a size that is broadcast to another": "A: [n]\nwhen m >= 0\n"
    "A => slice(concatenate(A, broadcast(A, shape=[m], dims=[0]), dim=0), start=[0], limit=[n])",
    "a truth that a select takes beside 1 is no real number": f"{CHOSEN}"
    "and(Q, and(compare(A, 0, direction=GT), compare(multiply(A, 4), 1, direction=LT))) => and(P, Q)",
    "slices say that each member of a group is two": f"A: [k...]  a: []\n"
    f"where compare(a, {UPPER}, direction=EQ)\nwhere compare({LOWER}, a, direction=EQ)\n{EIGHT}",
    "a divisor says that a member of a group is not one": f"A: [k...]  a: []\n"
    f"where compare(a, {UPPER}, direction=EQ)\n"
    + EIGHT.replace("reshape(A", "reshape(dynamic-slice(A, start=[1 floordiv ((k - 1) * k)...], size=[k...])", 1),
    "a start is not the index of the result": "A: [k...]\nindex i...\n"
    "dynamic-slice(A, start=[i...], size=[w...]) => slice(A, start=[0...], limit=[w...])",
    "a size is not a variable of a fold": "A: [r..., n]\n"
    "reduce(A, dims=[1], op=add) => reduce(A, dims=[1], op=maximum)",
    "zero is nothing in a sum only": "A: [n]\n"
    "maximum(reduce(A, dims=[0], op=maximum), 0) => reduce(A, dims=[0], op=maximum)",
    "the maximum of sums is no sum of maxima": "A: [n]  B: [m]  C: [n]  D: [m]\n"
    "reduce(concatenate(add(A, C), add(B, D), dim=0), dims=[0], op=maximum) => maximum(maximum("
    "reduce(A, dims=[0], op=maximum), reduce(C, dims=[0], op=maximum)), maximum(reduce(B, dims=[0], op=maximum),"
    " reduce(D, dims=[0], op=maximum)))",
    "a sum of squares is no square of sums": "A: [n]\nreduce(multiply(A, A), dims=[0], op=add) => "
    "multiply(reduce(A, dims=[0], op=add), reduce(A, dims=[0], op=add))",
    "an empty product is one": "A: [n]\nwhen n == 0\nreduce(A, dims=[0], op=multiply) => 0",
    "two functions of one name have one meaning, two names have two": "A: [n]\nf(A) => g(A)",
    "arguments keep their order": "A: [n]  B: [n]\nf(A, B) => f(B, A)",
    "there are halves between integers": "A: [n]\ncompare(A, 0, direction=GT) => compare(A, 1, direction=GE)",
    "a square of a real number may be 2": "A: [n]  B: [n]  C: [n]\ntype reals\n"
    "select(compare(multiply(A, A), 2, direction=EQ), B, C) => C",
    "a square may be less than its root": "A: [n]\nmaximum(multiply(A, A), A) => multiply(A, A)",
    "a divisor may be 0": "A: [n]\ntype reals\nsubtract(A, A) => subtract(divide(1, A), divide(1, A))",
    "0 by 0 is no 1": "A: [n]\ntype integers\ndivide(A, A) => broadcast(1, shape=[n], dims=[])",
    "integers are rounded when they are divided": "A: [n]  B: [n]\nmultiply(divide(A, B), B) => A",
    "a negative number has no root": "A: [n]\ntype reals\nA => multiply(sqrt(A), sqrt(A))",
    "a square's root has no sign": "A: [n]\ntype reals\nsqrt(multiply(A, A)) => A",
    "a remainder has the sign of what was divided": "A: [n]  c: [n]\ntype integers\n"
    "remainder(add(A, c), c) => remainder(A, c)",
    "infinity is no neutral element of the other": "A: [n]\nminimum(A, -inf) => A",
    "what is assumed is assumed there only": "A: [n]  B: [n]\nwhere compare(A, B, direction=LT)\n"
    "maximum(reverse(A, dims=[0]), B) => B",
    "what is left out of a sum is counted": "A: [n]  v: []\n"
    "reduce(pad(A, v, low=[0], high=[0], interior=[1]), dims=[0], op=add) => reduce(A, dims=[0], op=add)",
    "holes are not values of a product": "A: [n]\nwhen n >= 1\n"
    "reduce(pad(A, 0, low=[0], high=[0], interior=[1]), dims=[0], op=multiply) => reduce(A, dims=[0], op=multiply)",
    "a sum over devices is not repeated for nothing": "A: [n]\ndevices p\n"
    "all-reduce(all-reduce(A, op=add), op=add) => all-reduce(A, op=add)",
    "the largest of nothing is nothing's": "A: [n]\nwhen m >= 0\n"
    "reduce(broadcast(A, shape=[m, n], dims=[1]), dims=[0], op=maximum) => A",
    "devices hold their own": "A: [n]\ndevices p\ncollective-permute(A, shift=1) => A",
    "gathered parts lie side by side": "A: [n]  B: [m]\ndevices p\nall-gather(concatenate(A, B, dim=0), dim=0) => "
    "concatenate(all-gather(A, dim=0), all-gather(B, dim=0), dim=0)",
    "the right side has a value": "A: [n]\nA => slice(A, start=[n floordiv p - n floordiv p], limit=[n])",
    "a declared size may divide, not an attribute": "A: [n floordiv p]\n"
    "A => slice(A, start=[0 * (n floordiv q)], limit=[n floordiv p])",
    "more dimensions than are tried": "A: [k...]\nwhen (k == 2)...\n"
    "reshape(A, shape=[p]) => slice(reshape(A, shape=[p]), start=[0], limit=[min(p, 8)])",
    "as many elements": "c: []\nwhen m >= 0\nbroadcast(c, shape=[m], dims=[]) => broadcast(c, shape=[2 * m], dims=[])",
    "as many dimensions": "c: []\nwhen m >= 0\nbroadcast(c, shape=[m], dims=[]) => broadcast(c, shape=[m, 1], dims=[])",
    "a sum of differences is no sum": "A: [n]  B: [n]\nreduce(subtract(A, B), dims=[0], op=add) => "
    "add(reduce(A, dims=[0], op=add), reduce(B, dims=[0], op=add))",
    "a sum of negatives is no sum": "A: [n]\nreduce(negate(A), dims=[0], op=add) => reduce(A, dims=[0], op=add)",
    "two signs are none": "A: [n]  B: [n]\nreduce(multiply(negate(A), negate(B)), dims=[0], op=add) => "
    "negate(reduce(multiply(A, B), dims=[0], op=add))",
    "a product of one number many times is a power": "A: [n]\nwhen m >= 1\n"
    "reduce(broadcast(A, shape=[m, n], dims=[1]), dims=[0], op=multiply) => A",
    "two directions": "A: [n]  B: [n]\ncompare(A, B, direction=LT) => compare(A, B, direction=LE)",
    "two directions of what little is known of": "A: [n]  B: [n]\n"
    "compare(f(A), f(B), direction=GT) => compare(f(A), f(B), direction=GE)",
    "one size for all members of a group": "a: []\nwhen w == 2\nreshape(broadcast(a, shape=[w...], dims=[]),"
    " shape=[p]) => slice(reshape(broadcast(a, shape=[w...], dims=[]), shape=[p]), start=[0], limit=[min(p, 8)])",
    "members of a group that were padded to two": "a: []\nreshape(pad(broadcast(a, shape=[1...], dims=[]), a,"
    " low=[1...]), shape=[p]) =>\nslice(reshape(pad(broadcast(a, shape=[1...], dims=[]), a, low=[1...]), shape=[p]),"
    " start=[0], limit=[min(p, 8)])",
    **{
        f"{part} has a value in its branch alone": f"A: [n]  B: [n]  P: [n]\npred P\ntype reals\n"
        f"select(P, {part}, B) => add(select(P, {part}, B), multiply(0, {part}))"
        for part in ("log(A)", "remainder(A, B)", "divide(A, B)", "sqrt(A)", "power(A, B)", "f(log(A))", "f(A)")
    },
    **{
        f"{part} may have no value": f"A: [n]  B: [n]\nB => add(B, multiply({part}, 0))"
        for part in ("f(A)", "acos(A)", "tan(A)", "atan2(A, B)", "f(A, B)")
    },
    "a divisor below zero turns an order": "A: [n]  B: [n]  C: [n]\ntype reals\n"
    "compare(divide(C, A), B, direction=LT) => compare(C, multiply(A, B), direction=LT)",
    "a divisor below zero turns a maximum": "A: [n]  B: [n]  C: [n]\ntype reals\n"
    "maximum(divide(C, A), B) => divide(maximum(C, multiply(A, B)), A)",
    "half a divisor more is another remainder": REMAINDERS.format("B"),
    "nothing times a function": SUM_OF_ONE_NUMBER.format("asin(c)", 0),
    "a branch of truths that is not taken": "A: [n]\ntype reals\nselect(compare(A, 0, direction=NE),"
    " compare(divide(1, A), 1, direction=GT), true) =>\nselect(compare(A, 0, direction=NE),"
    " compare(divide(1, A), 1, direction=GT), false)",
    "the other branch of truths that is not taken": "A: [n]\ntype reals\nselect(compare(A, 0, direction=EQ),"
    " compare(A, A, direction=EQ), compare(divide(1, A), 1, direction=GT)) =>\nselect(compare(A, 0, direction=EQ),"
    " compare(A, A, direction=NE), compare(divide(1, A), 1, direction=GT))",
    "a difference of quotients is no sum": f"{QUOTIENTS}subtract({A_B}, {C_D}) => add({A_B}, {C_D})",
    "a difference of quotients has a sign": f"{QUOTIENTS}subtract({A_B}, {C_D}) => subtract({C_D}, {A_B})",
    "what the zeros in holes are multiplied with has a value": f"{HOLES}{STRIDED} => {PADDED}",
    "what is assumed of one element is not of all": "A: [n]\ntype integers\n"
    "where compare(iota(shape=[1], dim=0), broadcast(0, shape=[1], dims=[]), direction=EQ)\n"
    "add(A, iota(shape=[n], dim=0)) => A",
    "a window that ends outside is dropped whole": f"{SCATTERED}scatter(A, U, start=[n - m + 1]) => "
    "concatenate(slice(A, start=[0], limit=[n - m + 1]), slice(U, start=[0], limit=[m - 1]), dim=0)",
    "a window that starts outside is dropped whole": f"{SCATTERED}scatter(A, U, start=[-1]) => "
    "concatenate(slice(U, start=[1], limit=[m]), slice(A, start=[m - 1], limit=[n]), dim=0)",
    "a range may end before the place where it would be cut": CUT.format(""),
    "three members of 16 elements have one of three or more": f"B: [16]  U: [1...]\n{THIRDS}",
    "three members of 9 or more elements too": f"B: [p]  U: [1...]\nwhen p >= 9\n{THIRDS}",
    "four groups of which each is empty along another dimension": f"{'  '.join(EMPTY)}\nwhen n >= 0, q >= 0, "
    + ", ".join(f"({a} + {b} >= 1)..." for a, b in combinations("hijk", 2))
    + f"\nconcatenate({', '.join(map(NONE_OF.format, RESHAPED, 'qqqq'))}, dim=1)"
    + f" => concatenate({', '.join(map(NONE_OF.format, 'HIJK', 'nnnn'))}, dim=1)",
    "three members of 16 elements do not end after two each": "compare(reshape(dynamic-slice(reshape(iota(shape=[16],"
    " dim=0), shape=[k...]), start=[1...], size=[1...]), shape=[]), 15, direction=NE) => true",
    "a truth of a padded tensor that is a number elsewhere": f"{PADDED_TRUTH}where {ENDED}\n"
    "compare(multiply(A, 4), 2, direction=EQ) => compare(A, A, direction=NE)",
    "a truth of constants that is a number elsewhere": "A: [n]\ntype reals\n"
    f"where compare({TRUTHS}, true, direction=EQ)\nwhere {TRUTHS}\n"
    "compare(multiply(A, 4), 2, direction=EQ) => compare(A, A, direction=NE)",
    "a bound of a product is not one of its factor": "A: [n]\nwhen 2 <= g * n\n"
    "slice(A, start=[0], limit=[1]) => slice(A, start=[1], limit=[2])",
}


def test_as_many_dimensions_are_tried_as_an_index_can_miss_windows() -> None:
    names = ("B", "C", "D")
    declared = "A: [k...]  " + "  ".join(f"{n}: [{n.lower()}...]" for n in names)
    left, right = "A", "negate(A)"
    for n in names:
        left, right = (f"dynamic-update-slice({side}, {n}, start=[0...])" for side in (left, right))
        # One window of each side more, and one element that differs.
    assert ranks(rule(f"{declared}\n{left} => {right}"))[-1] == 7
    assert ranks(rule("A: [k...]  v: []\npad(pad(A, v, low=[a...]), v, low=[b...]) => A"))[-1] == 3
    assert ranks(rule("A: [n]\nA => A")) == (0,)
    twice = "dynamic-update-slice(dynamic-update-slice(A, B, start=[0...]), C, start=[0...])"
    scalar = f"reshape(dynamic-slice({twice}, start=[0...], size=[1...]), shape=[])"
    assert (
        ranks(rule(f"{declared}\npad(D, {scalar}, low=[a...]) => A"))[-1] == 4
    )  # it is missed, and both that are below
    # What lies in a window, too, may have missed some.
    for inside in (f"pad({left}, v, low=[a...])", f"dynamic-update-slice(D, {left}, start=[0...])"):
        assert ranks(rule(f"{declared}  v: []\n{inside} => A"))[-1] == 4
    both = "concatenate(" + ", ".join(f"dynamic-update-slice({n}, {n}, start=[0, 0...])" for n in "EEEE") + ", dim=0)"
    assert ranks(rule(f"E: [n, k...]\n{both} => E"))[-1] == 3
    assert ranks(rule(f"E: [n, k...]\nreduce({both}, dims=[0], op=add) => reduce(E, dims=[0], op=add)"))[-1] == 5
    assumed = f"where compare({right}, 0, direction=GT)"
    assert ranks(rule(f"{declared}\n{assumed}\nnegate(A) => A"))[-1] == 4


MULTIPLIED = [
    ("A: [k...]", "reshape(A, shape=[p]) => reshape(A, shape=[p])"),
    ("A: [p]", "reshape(A, shape=[k...]) => reshape(A, shape=[k...])"),
    ("A: [k...]", "reduce(A, dims=[0], op=add) => reduce(negate(A), dims=[0], op=add)"),
    ("A: [k...]", "dot(A, A, lhs_contract=[0], rhs_contract=[0]) => 0"),
]


@pytest.mark.parametrize(("declared", "body"), MULTIPLIED)
def test_bounds_of_a_group_whose_sizes_are_multiplied_leave_more_dimensions_open(declared: str, body: str) -> None:
    assert larger_ranks_open(rule(f"{declared}\nwhen (k <= 2)...\n{body}"))
    assert not larger_ranks_open(rule(f"{declared}\n{body}"))


def test_windows_of_a_group_are_no_wholes() -> None:
    assert larger_ranks_open(rule("A: [k...]\nA => reduce-window(A, size=[w...], op=add)"))


@pytest.mark.parametrize("body", ["reverse(A, dims=[0]) => A", "reduce-window(A, size=[1...], op=add) => A"])
def test_bounds_of_a_group_whose_sizes_are_not_multiplied_leave_nothing_open(body: str) -> None:
    assert not larger_ranks_open(rule(f"A: [k...]\nwhen (k <= 2)...\n{body}"))


CUT_GROUPS = [
    "slice(A, start=[0...], limit=[w...])",
    "slice(A, start=[0...], limit=[k...], stride=[w...])",
    "slice(A, start=[w...], limit=[k...])",
    "pad(A, 0, low=[w...], high=[0 - w...])",
    "pad(A, 0, low=[0...], high=[0...], interior=[w...])",
    "dynamic-slice(A, start=[0...], size=[w...])",
    "gather(A, start=[0...], size=[w...])",
    "dynamic-update-slice(A, B, start=[0...])",
    "scatter(A, B, start=[0...])",
    "scatter(A, A, start=[w...])",
    "reduce-window(A, size=[1...], stride=[w...], op=add)",
    "broadcast(a, shape=[(k + 1)...])",
]


@pytest.mark.parametrize("body", CUT_GROUPS)
def test_a_group_that_is_multiplied_is_taken_as_a_whole(body: str) -> None:
    declared = "A: [k...]  B: [w...]  a: []"
    assert larger_ranks_open(rule(f"{declared}\nreshape(A, shape=[p]) => reshape({body}, shape=[p])"))
    assert not larger_ranks_open(rule(f"{declared}\nA => {body}"))


@pytest.mark.parametrize(
    ("condition", "open_"), [("j == k", False), ("k >= 1", False), ("j <= k", True), ("k == 2", True), ("j < k", True)]
)
def test_conditions_on_members_hold_of_their_products(condition: str, open_: bool) -> None:
    body = "reshape(A, shape=[p]) => reshape(A, shape=[p])"
    assert bool(larger_ranks_open(rule(f"A: [k...]  B: [j...]\nwhen ({condition})...\n{body}"))) is open_


def test_bounds_of_a_window_of_a_convolution_leave_more_dimensions_open() -> None:
    assert larger_ranks_open(rule("A: [b, k..., f]  W: [w..., f, o]\nwhen (w <= 2)...\nconvolution(A, W) => 0"))


MEETS = {
    "beyond 32 bits": "type integers\nwhere compare(A, 0, direction=GT)\n"
    "compare(multiply(A, 1000000000), A, direction=GE) => compare(A, A, direction=EQ)",
    "no number on the way": "type reals\n"
    "compare(multiply(divide(1, A), A), 1, direction=EQ) => compare(A, A, direction=EQ)",
    "what is assumed has no value": "type reals\n"
    "where or(compare(A, 0, direction=EQ), compare(divide(1, A), 0, direction=GT))\n"
    "compare(A, 0, direction=GT) => compare(A, A, direction=EQ)",
}


EXPONENT = "multiply(A, multiply(A, multiply(A, A)))"
MEETS |= {
    "sums of which rounding is a large part": "B: [n]\ntype reals\nmultiply(A, 0) => subtract(multiply(exponential("
    "multiply(3, A)), exponential(multiply(5, B))), exponential(add(multiply(3, A), multiply(5, B))))",
    "beyond 64 bits": f"type reals\n"
    f"exponential(multiply(A, 0)) => multiply(exponential({EXPONENT}), exponential(negate({EXPONENT})))",
}


MEETS |= {
    "differences of what is nearly equal": "type reals\nmultiply(subtract(subtract(add(divide(A, 3), 100000000),"
    " 100000000), divide(A, 3)), 100000000) => broadcast(0, shape=[n], dims=[])",
    "constants beyond its bits": "type reals\nselect(compare(9007199254740993, 9007199254740992, direction=EQ), A,"
    " negate(A)) => negate(A)",
}


@pytest.mark.parametrize("body", MEETS.values(), ids=MEETS)
def test_a_run_beyond_the_numbers_of_a_rule_says_nothing(body: str) -> None:
    assert check_tensor_rule(rule(f"A: [n]\n{body}")).verdict is Verdict.PROVED


def test_a_sum_of_one_product_is_the_product() -> None:
    body = (
        "A: [n, k]  B: [k, m]\nwhen {}\ndot(A, B, lhs_contract=[1], rhs_contract=[0]) =>\n"
        "multiply(broadcast(reshape(slice(A, start=[0, 0], limit=[n, 1]), shape=[n]), shape=[n, m], dims=[0]),"
        " broadcast(reshape(slice(B, start=[0, 0], limit=[1, m]), shape=[m]), shape=[n, m], dims=[1]))"
    )
    assert check_tensor_rule(rule(body.format("k == 1"))).verdict is Verdict.PROVED
    assert check_tensor_rule(rule(body.format("k >= 1, k <= 2"))).verdict is Verdict.REFUTED


@pytest.mark.parametrize("body", ["shift-left(A, 1) => add(A, A)", "and(A, B) => and(B, A)", "xor(A, A) => 0"])
def test_what_is_known_of_bits(body: str) -> None:
    left, _, right = body.partition(" => ")
    right = "broadcast(constant(value=0), shape=[n], dims=[])" if right == "0" else right
    assert check_tensor_rule(rule(f"A: [n]  B: [n]\ntype integers\n{left} => {right}")).verdict is Verdict.PROVED


@pytest.mark.parametrize("body", FALSE_PROOFS.values(), ids=FALSE_PROOFS)
def test_what_is_false_is_not_proved(body: str) -> None:
    assert not prove_rule(rule(body)).proved


TRUE_TWINS = {
    "quotients by what is above 0": DIVIDED.format("(2 * t)", ", t >= 1", "t"),
    "quotients by a number above 0": DIVIDED.format("2", "", "1"),
    "a position that was divided by what is above 0": DIVIDED_AS_A_PLACE.format(", t >= 1"),
    "a sum over all": "A: [n + 1]\n"
    "reduce(slice(A, start=[0], limit=[n + 1]), dims=[0], op=add) => reduce(A, dims=[0], op=add)",
    "a sum over all pairs": "A: [n, m]\n"
    "reduce(slice(reshape(A, shape=[n * m]), start=[0], limit=[n * m]), dims=[0], op=add) => "
    "reduce(A, dims=[0, 1], op=add)",
    "an integer divided by 0 is -1": "A: [n]\ntype integers\nA => add(A, add(1, divide(A, 0)))",
    "the remainder by what is below 0": "type integers\nremainder(5, -3) => 2",
    "less is cut off before a window than there is": "A: [b, s, f]  W: [w, f, o]\nwhen w >= 1, l >= 0\n"
    f"broadcast(0, shape=[b, 0, o], dims=[]) => {WINDOWED}",
    "what is at least 1": "when p >= 1\nconstant(value=n ceildiv p) => constant(value=(n + p - 1) floordiv p)",
    "a sum that is cut where one of its factors changes, whatever else it adds up": f"{TWO_OF_THREE}"
    f"dot({THREES}, pad(W, 0, low=[0, 0], high=[0, 1]), {BOTH}) => "
    f"dot(slice({THREES}, start=[0, 0], limit=[p * 2, 2]), W, {BOTH})",
    "windows that go on": f"A: [n]\nwhen s >= 1\n{STEPS}",
    "a truth that a select takes beside 1": f"{CHOSEN}Q => not(P)",
    "selects of truths": "P: [n]  Q: [n]\npred P, Q\nselect(P, 1, Q) => select(Q, 1, P)",
    "a group that is taken as a whole": "A: [k...]  U: [k...]\nindex i...\nwhen (k >= 1)...\n"
    "reshape(dynamic-slice(dynamic-update-slice(A, U, start=[i...]), start=[i...], size=[k...]), shape=[p]) =>"
    " reshape(slice(pad(U, 0, low=[0...]), start=[0...], limit=[k...]), shape=[p])",
    "a scatter at other places": "A: [k...]  U: [1...]\nscatter(A, U, start=[0 - (k floordiv 3)...]) =>"
    " scatter(A, U, start=[min(0, 0 - (k floordiv 3))...])",
    "a truth of a padded tensor": f"{PADDED_TRUTH}where {ENDED}\n"
    "compare(multiply(A, 4), 2, direction=EQ) => compare(multiply(A, 2), 1, direction=EQ)",
    "a difference of quotients": f"{QUOTIENTS}subtract({A_B}, {C_D}) => "
    "divide(subtract(multiply(A, D), multiply(C, B)), multiply(B, D))",
    "what zeros in holes are multiplied with may go": f"{HOLES}{PADDED} => {STRIDED}",
    "zeros in holes times what has a value": f"{HOLES}{STRIDED} => {PADDED}".replace("divide", "subtract"),
    "cosine(A) has a value": "A: [n]  B: [n]\nB => add(B, multiply(cosine(A), 0))",
    "twice the divisor more is the same remainder": REMAINDERS.format("multiply(B, 4)"),
    "a reciprocal has the sign of its divisor": "A: [n]\ntype reals\n"
    "compare(divide(1, A), 0, direction=LT) => compare(A, 0, direction=LT)",
    "what may have no value may go": "A: [n]  B: [n]\nadd(B, multiply(f(A), 0)) => B",
    "nothing times what has a value": SUM_OF_ONE_NUMBER.format("sine(c)", 0),
    "at least once a function": SUM_OF_ONE_NUMBER.format("asin(c)", 1),
    "what is assumed of all elements": "A: [n]\ntype integers\n"
    "where compare(iota(shape=[n], dim=0), broadcast(0, shape=[n], dims=[]), direction=EQ)\n"
    "add(A, iota(shape=[n], dim=0)) => A",
    "a window that ends outside": f"{SCATTERED}scatter(A, U, start=[n - m + 1]) => A",
    "a range that is cut where it does not end before": CUT.format(", k >= n"),
    "a window that starts outside": f"{SCATTERED}scatter(A, U, start=[-1]) => A",
}


@pytest.mark.parametrize("body", TRUE_TWINS.values(), ids=TRUE_TWINS)
def test_what_is_true_beside_it_is_proved(body: str) -> None:
    assert prove_rule(rule(body)).proved


@pytest.mark.parametrize("op", ["log(A)", "power(A, B)", "sqrt(A)", "exponential(A)", "logistic(A)"])
@pytest.mark.parametrize("other", ["B", "log(B)", "power(B, A)", "exponential(add(A, B))", "f(A)"])
def test_functions_of_which_little_is_known_are_told_apart(op: str, other: str) -> None:
    assert not prove_rule(rule(f"A: [n]  B: [n]\ntype reals\n{op} => {other}"), 5.0).proved


@pytest.mark.parametrize("op", ["and(A, B)", "shift-left(A, B)", "xor(A, B)"])
@pytest.mark.parametrize("other", ["B", "or(B, A)", "shift-left(B, A)"])
def test_bits_of_which_little_is_known_are_told_apart(op: str, other: str) -> None:
    assert not prove_rule(rule(f"A: [n]  B: [n]\ntype integers\n{op} => {other}"), 5.0).proved


LITERALS = [
    ("reduce(P, {}, dims=[0], op=and)", "0", "1"),
    ("pad(P, {}, low=[1], high=[0])", "0", "1"),
    ("select(P, Q, {})", "0", "1"),
    ("concatenate(P, broadcast({}, shape=[1]), dim=0)", "false", "true"),
]


@pytest.mark.parametrize(("side", "one", "other"), LITERALS)
def test_truths_written_as_numbers_are_run_as_truths(side: str, one: str, other: str) -> None:
    wrong = rule(f"P: [n]  Q: [n]\npred P, Q\n{side.format(one)} => {side.format(other)}")
    assert check_tensor_rule(wrong).verdict is Verdict.REFUTED
    right = rule(f"P: [n]  Q: [n]\npred P, Q\nor(Q, {one}) => select(Q, true, {one})")
    assert check_tensor_rule(right).verdict is Verdict.PROVED


def test_no_sizes_meet_conditions_at_any_rank() -> None:
    twos = "A: [k...]\nwhen (k == 2)...\nreshape(A, shape=[{0}]) => reverse(reshape(A, shape=[{0}]), dims=[0])"
    assert check_tensor_rule(rule(twos.format(4))).verdict is Verdict.REFUTED  # at rank two
    assert check_tensor_rule(rule(twos.format(3))).verdict is Verdict.VACUOUS
    never = "A: [k...]\nwhen (k >= 5)..., (k <= 3)...\nreverse(A, dims=[0]) => A"
    assert check_tensor_rule(rule(never)).verdict is Verdict.VACUOUS  # though of no dimensions all are met


_TURNED_TWICE = "reverse(reverse(A, dims=[0]), dims=[0]) => A"
WRITTEN_DIVISORS = {
    "in a declared size": "A: [n floordiv t]\nwhen n >= 0{}\n" + _TURNED_TWICE,
    "in a condition": "A: [n]\nwhen n floordiv t >= 0{}\n" + _TURNED_TWICE,
    "in an attribute": "A: [n]\nwhen n >= 0{}\nA => slice(A, start=[0 * (n floordiv t)], limit=[n])",
    "in the count of devices": "A: [n]\ndevices p floordiv t\nwhen n >= 0{}\n" + _TURNED_TWICE,
    "rounded up": "A: [n]\nwhen n ceildiv t >= 0{}\n" + _TURNED_TWICE,
    "of a remainder": "A: [n]\nwhen n mod t >= 0{}\n" + _TURNED_TWICE,
}


@pytest.mark.parametrize("body", WRITTEN_DIVISORS.values(), ids=WRITTEN_DIVISORS)
def test_each_written_divisor_is_asked_for_its_sign(body: str) -> None:
    unsigned, signed = (check_tensor_rule(rule(body.format(also))) for also in (", t != 0", ", t >= 1"))
    assert unsigned.verdict is Verdict.UNKNOWN and "a divisor that may be negative: 0 <= t" in (unsigned.reason or "")
    assert signed.verdict is Verdict.PROVED, signed.reason


def test_a_condition_that_more_dimensions_need_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prove, "NEEDLESS_SECONDS", 600.0)
    covered = "dynamic-update-slice(dynamic-update-slice({}, U, start=[0...]), V, start=[a...])"
    body = (
        "A: [k...]  B: [k...]  U: [a...]  V: [b...]\nwhen (a + b == k)..., {}\n"
        f"{covered.format('A')} => {covered.format('B')}"
    )
    needed, needless = (
        check_tensor_rule(rule(body.format(also))) for also in ("(b == 0)...", "(b == 0)..., (a >= 0)...")
    )
    assert needed.verdict is needless.verdict is Verdict.PROVED
    assert not needed.reason
    assert "a >= 0" in (needless.reason or "") and "b == 0" not in (needless.reason or "")


LOST_VALUES = [
    ("{sum}", "add({sum}, multiply(0, {right}))", "divide(b, c)"),
    ("{sum}", "add({sum}, multiply(0, {right}))", "inf"),
    ("{sum}", "add({sum}, multiply(0, {right}))", "reduce(A, dims=[0], op=maximum)"),
    ("{sum}", "reduce(add(A, multiply(0, broadcast({right}, shape=[n], dims=[]))), dims=[0], op=add)", "divide(b, c)"),
    ("reduce(multiply(A, broadcast({right}, shape=[n], dims=[])), dims=[0], op=add)", "multiply({sum}, {right})", ""),
    ("reduce(broadcast({right}, shape=[n], dims=[]), dims=[0], op=add)", "multiply(constant(value=n), {right})", ""),
    ("dot(A, slice({long}, start=[0], limit=[n]), lhs_contract=[0], rhs_contract=[0])",
     "dot(pad(A, 0, low=[0], high=[m]), {long}, lhs_contract=[0], rhs_contract=[0])", ""),
    # a zero that comes up only when the one value of a fold's variable is put in
    ("{sum}", "add({sum}, reduce(multiply(iota(shape=[1], dim=0), broadcast({right}, shape=[1], dims=[])), dims=[0],"
     " op=add))", ""),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right", "what"), LOST_VALUES)
def test_zero_times_what_may_have_no_value_is_not_left_out(left: str, right: str, what: str) -> None:
    names = "A: [n]  B: [n + m]  C: [n + m]  b: []  c: []\ntype reals\nwhen m >= 0\n"

    def proved(by: str, long: str) -> bool:
        words = {"sum": "reduce(A, dims=[0], op=add)", "right": by, "long": long}
        return prove_rule(rule(f"{names}{left.format(**words)} => {right.format(**words)}"), 10.0).proved

    assert not proved(what or "divide(b, c)", "divide(B, C)")
    assert proved("b", "B")


def test_zero_times_a_quotient_of_the_left_side_may_go() -> None:
    names = "A: [n]  b: []  c: []\ntype reals\n"
    total = "reduce(A, dims=[0], op=add)"
    assert prove_rule(rule(f"{names}add({total}, multiply(0, divide(b, c))) => {total}")).proved


def test_a_group_is_not_taken_for_one_size() -> None:
    with pytest.raises(InputError, match="one number per dimension"):
        check_tensor_rule(rule("A: [k...]\nbroadcast(A, shape=[k, k...], dims=[1]) => A"))


CLAMPED = """A: [n]
index i, j
dynamic-slice(dynamic-slice(A, start=[i], size=[m]), start=[j], size=[w]) => """
UNCLAMPED = CLAMPED + "dynamic-slice(A, start=[i + j], size=[w])"
SOUND = CLAMPED + "dynamic-slice(A, start=[min(max(i, 0), n - m) + min(max(j, 0), m - w)], size=[w])"


def test_nested_dynamic_slices_fold_only_with_clamped_starts() -> None:
    assert check_tensor_rule(rule(SOUND)).verdict is Verdict.PROVED
    found = check_tensor_rule(rule(UNCLAMPED))
    assert found.verdict is Verdict.REFUTED and "on the left" in (found.counterexample or "")


def test_a_refutation_is_two_modules_that_are_no_equals() -> None:
    texts = instance_texts(rule(UNCLAMPED))
    assert texts is not None
    left, right = map(parse_module, texts)
    assert decide(left, right, "rounding", 5.0).verdict in ("unknown", "refuted")


@pytest.mark.parametrize("name", sorted(RULES)[::6])
def test_instances_of_proved_rules_are_equal_when_run(name: str) -> None:
    if RULES[name].expect == "proved":
        found = list(instances(RULES[name], 7, 10))
        assert found and all(difference(i, n) is None for n, i in enumerate(found))


NOT_BY_EQUIV = ("all-", "reduce-scatter", "collective-permute", "scatter-", "multiply-of-reduces")
"""Of these equiv does not prove all instances: collectives and scatters are no folds there that it takes apart."""


def test_instances_of_proved_rules_are_proved_as_modules() -> None:
    """By `equiv`, which shares the meaning of movement and folds with tensor rules, and nothing else."""
    tried = 0
    for name in sorted(RULES)[::7]:
        if RULES[name].expect == "proved" and not name.startswith(NOT_BY_EQUIV) and not RULES[name].assumed:
            counts, why = tried_by_equiv(RULES[name], 3, 2)
            assert set(counts) <= {"proved"}, (name, why)
            tried += counts["proved"]
    assert tried > 40


@pytest.mark.longer
def test_no_planted_error_is_proved_that_a_run_tells_apart() -> None:
    rules = [r for r in RULES.values() if r.expect == "proved"]
    counts = Counter(told(p) for p in planted_errors(rules, 2, 24))
    assert not counts["proved and refuted"]
    assert counts["refuted"] >= 16 and counts["unknown"] <= 2, counts


NOT_REFUTED = {
    "too large on the right": "broadcast(1, shape=[n], dims=[]) => divide(exponential({0}), exponential({0}))",
    "a root of what is 0 but for rounding": "where compare(B, 0, direction=GT)\n"
    "multiply(A, 0) => sqrt(subtract(divide(A, B), multiply(A, divide(1, B))))",
    "sizes of which no elements are assumed": "where compare(iota(shape=[n], dim=0), broadcast(3, shape=[n], dims=[]),"
    " direction=LT)\nA => slice(pad(A, 0, low=[0], high=[3 - n]), start=[0], limit=[n])",
}


@pytest.mark.parametrize("body", NOT_REFUTED.values(), ids=NOT_REFUTED)
def test_what_is_true_and_not_proved_is_not_refuted(body: str) -> None:
    found = check_tensor_rule(rule(f"A: [n]  B: [n]\ntype reals\n{body.format(EXPONENT)}"))
    assert found.verdict in (Verdict.UNKNOWN, Verdict.PROVED), found.counterexample


def test_sizes_of_which_elements_are_assumed_refute() -> None:
    wrong = NOT_REFUTED["sizes of which no elements are assumed"].replace("(3,", "(5,")
    assert check_tensor_rule(rule(f"A: [n]\n{wrong}")).verdict is Verdict.REFUTED


def test_sizes_at_which_the_right_side_is_no_operation_refute() -> None:
    found = check_tensor_rule(rule("A: [n]\nA => slice(pad(A, 0, low=[0], high=[1]), start=[1], limit=[n])"))
    assert found.verdict is Verdict.REFUTED and "not well formed" in (found.counterexample or "")
