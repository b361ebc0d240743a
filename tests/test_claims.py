"""Owed claims: what is proved of right maps, what is refuted of wrong ones and in which words, what is not claimed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations, product
from random import Random

import pytest
from random_operations import KINDS
from test_indexing_counted import CASES, _module

import hloproof.models.indexing
from hloproof.claims import CLAIMS, owed
from hloproof.claims.statements.elimination import Membership, solve
from hloproof.claims.statements.statement import Statement
from hloproof.engines.portfolio import prove
from hloproof.logic.evaluate import holds, is_counterexample
from hloproof.logic.formula import Compare, Formula, conj, disj, eq, le, lt, ne, within
from hloproof.logic.obligation import Obligation
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Const, Expr, Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.shape import ArrayShape, TokenShape, TupleShape
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, Variable, boxed, dim, identity, rng


def operation(name: str) -> Operation:
    module = _module(*CASES[name])
    return Operation.of(module.entry.root, module.entry)


def verdicts(op: Operation, width: int = 64) -> dict[tuple[str, str], tuple[str, str]]:
    """Per claim and subject the verdict, and the counterexample or the reason."""
    out: dict[tuple[str, str], tuple[str, str]] = {}
    for claim in owed(op, width):
        try:
            found = ("proved", "")
            for obligation in claim.obligations():
                outcome = prove(obligation)
                if outcome.verdict == "refuted":
                    assert is_counterexample(obligation, dict(outcome.model))
                    found = ("refuted", claim.describe(dict(outcome.model), obligation))
                    break
                if outcome.verdict != "proved":
                    found = (outcome.verdict, outcome.reason)
        except NotModelled as error:
            found = ("unknown", str(error))
        out[claim.claim, claim.subject] = found
    return out


@pytest.mark.parametrize("name", CASES)
def test_right_maps_are_proved(name: str) -> None:
    found = verdicts(operation(name))
    assert found
    assert {k: v for k, v in found.items() if v[0] != "proved"} == {}


Forth, Back = "output 0 -> operand 0", "operand 0 -> output 0"
Answer = tuple[OperandMaps, ...]


def first_map(change: Callable[[IndexingMap], IndexingMap], operand: int = 0) -> Callable[[Answer], Answer]:
    """Changes the first map to one operand."""

    def changed(answer: Answer) -> Answer:
        return tuple(
            replace(s, maps=(change(s.maps[0]), *s.maps[1:])) if s.operand == operand and s.maps else s for s in answer
        )

    return changed


def shifted(m: IndexingMap) -> IndexingMap:
    return replace(m, results=(m.results[0] + 1, *m.results[1:]))


def swapped_runtime(m: IndexingMap) -> IndexingMap:
    """The starts of two dimensions exchanged, intervals staying."""
    a, b = m.runtime[:2]
    return replace(
        m, runtime=(replace(a, provider=b.provider, index=b.index), replace(b, provider=a.provider, index=a.index))
    )


def wider_clamp(m: IndexingMap) -> IndexingMap:
    v = m.runtime[0]
    return replace(m, runtime=(replace(v, interval=Interval(0, v.interval.upper + 1)), *m.runtime[1:]))


def twice(m: IndexingMap) -> IndexingMap:
    """One more range variable that nothing mentions."""
    return replace(m, ranges=(*m.ranges, Variable(Interval(0, 1))))


def emptied(m: IndexingMap) -> IndexingMap:
    return replace(m, constraints=(*m.constraints, Constraint(Const(1), Interval(0, 0))))


def shortened(m: IndexingMap) -> IndexingMap:
    v = m.ranges[0]
    return replace(m, ranges=(Variable(Interval(v.interval.lower, v.interval.upper - 1)), *m.ranges[1:]))


WRONG = [
    ("slice", first_map(shifted), "definition", Forth, "by the map, and by the definition of slice it does not"),
    ("reshape split", first_map(shifted), "in-bounds", Forth, "and operand 0 is f32[12]"),
    ("add", first_map(emptied), "definition", Forth, "by the definition of add, and by no map"),
    ("add", first_map(shifted), "in-bounds", Forth, "reads operand 0 at [2, "),
    ("reduce", first_map(twice), "definition", Forth, "more than once"),
    ("dot", first_map(twice), "definition", Forth, "more than once"),
    ("reduce", first_map(shortened), "definition", Forth, "by no map"),
    ("dynamic-slice", first_map(swapped_runtime), "definition", Forth, "operand"),
    ("dynamic-slice", first_map(wider_clamp), "in-bounds", Forth, "and operand 0 is f32[5,4]"),
    ("dynamic-slice", first_map(wider_clamp), "definition", Forth, ""),
    ("gather", first_map(wider_clamp), "in-bounds", Forth, ""),
    ("gather", first_map(swapped_runtime), "definition", Forth, "the definition of gather it does not"),
    ("scatter", first_map(wider_clamp, 2), "definition", "output 0 -> operand 2", "where operand 1 holds"),
    ("pad interior", first_map(emptied, 1), "partition", "output 0", "comes from no operand"),
    ("pad interior", first_map(lambda m: replace(m, constraints=()), 0), "partition", "output 0", "and from operand"),
    ("concatenate", first_map(shifted), "definition", Forth, ""),
    ("reverse", first_map(lambda m: identity([2, 3, 4])), "converse", Forth, ""),
    ("reverse", first_map(lambda m: identity([2, 3, 4])), "bijective", Forth, "comes back as"),
    ("transpose", first_map(lambda m: identity([4, 2, 3])), "in-bounds", Forth, "and operand 0 is f32[2,3,4]"),
    ("reshape regroup", first_map(shifted), "bijective", Forth, ""),
    ("add", lambda a: a[1:], "definition", Forth, "by no map"),
    ("add", lambda a: (*a, replace(a[0], operand=7)), "definition", "output 0 -> operand 7", "has no such pair"),
    ("add", lambda a: (replace(a[0], kind="moves"), a[1]), "definition", Forth, "computes new ones"),
    ("copy", lambda a: (replace(a[0], kind="reads"),), "definition", Forth, "moves them unchanged"),
    ("copy", lambda a: (replace(a[0], maps=a[0].maps * 2),), "definition", Forth, "by two maps"),
    ("copy", first_map(lambda m: replace(m, results=m.results[:1])), "definition", Forth, "1 results"),
]


@pytest.mark.parametrize(("name", "change", "claim", "subject", "words"), WRONG)
def test_wrong_maps_are_refuted(
    name: str, change: Callable[[Answer], Answer], claim: str, subject: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = hloproof.models.indexing.output_to_input
    monkeypatch.setattr(hloproof.models.indexing, "output_to_input", lambda op, output=0: change(right(op, output)))
    verdict, told = verdicts(operation(name))[claim, subject]
    assert (verdict, words in told) == ("refuted", True), told
    assert told.startswith(("output", "operand", "where", "a map", "the maps", "there are", "along")), told


def test_the_reader_is_told_elements_and_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    op = Operation("copy", ArrayShape("f32", (20, 18)), (ArrayShape("f32", (20, 18)),))
    wrong = IndexingMap(boxed((20, 18)), (dim(0) * 17, dim(1)))
    monkeypatch.setattr(
        hloproof.models.indexing, "output_to_input", lambda op, output=0: (OperandMaps(0, "moves", (wrong,)),)
    )
    told = verdicts(op)["in-bounds", Forth][1]
    assert told.endswith("and operand 0 is f32[20,18]")
    assert told.startswith("output[") and "] reads operand 0 at [" in told


def test_a_bound_is_never_a_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    right = hloproof.models.indexing.output_to_input
    monkeypatch.setattr(
        hloproof.models.indexing,
        "output_to_input",
        lambda op, output=0: tuple(replace(s, kind="bound") for s in right(op, output)),
    )
    assert verdicts(operation("add"))["definition", Forth] == ("unknown", "the maps are only a bound")


def test_where_only_a_bound_is_known_coverage_is_owed_and_no_definition() -> None:
    from hloproof.claims.operations.owed import ONLY_A_BOUND

    shape = ArrayShape("f32", (4, 5))
    told = {c.claim: ONLY_A_BOUND in c.assumptions for c in owed(Operation("custom-call", shape, (shape,)))}
    assert told == {"in-bounds": False, "coverage": True, "index-range": False, "converse": True}
    assert not any(ONLY_A_BOUND in c.assumptions for c in owed(operation("add")))


def test_nothing_is_read_only_where_the_maps_say_so_too(monkeypatch: pytest.MonkeyPatch) -> None:
    one = ArrayShape("f32", (8,))
    done = Operation("all-reduce-done", one, (TupleShape((one, one)),))
    assert {v for v, _ in verdicts(done).values()} == {"unknown"}

    def refuse(op: Operation, output: int = 0) -> tuple[OperandMaps, ...]:
        raise NotModelled("a new form")

    recv = Operation("infeed", TupleShape((one, TokenShape())), (TokenShape(),))
    assert verdicts(recv) == {}
    monkeypatch.setattr(hloproof.models.indexing, "output_to_input", refuse)
    assert verdicts(recv) == {("definition", "output 0"): ("unknown", "a new form")}


def test_indices_beyond_the_width_are_refuted() -> None:
    op = operation("reshape regroup")
    big = ArrayShape("f32", (1 << 20, 1 << 15))
    op = replace(op, shape=ArrayShape("f32", (1 << 35,)), operands=(big,))
    assert verdicts(op, 64)["index-range", Forth][0] == "proved"
    verdict, told = verdicts(op, 32)["index-range", Forth]
    assert verdict == "refuted" and "beyond 32 bits" in told


def test_empty_arrays_are_proved_and_marked() -> None:
    claims = owed(operation("reshape to nothing"))
    assert claims and all(c.empty for c in claims)
    assert not any(c.empty for c in owed(operation("add")))


def test_the_table_is_fixed() -> None:
    opaque = Operation("custom-call", ArrayShape("f32", (4,)), (ArrayShape("f32", (4,)),))
    assert {c.claim for op in (opaque, *map(operation, CASES)) for c in owed(op)} == set(CLAIMS)
    assert [c.subject for c in owed(operation("add")) if c.claim == "definition"] == [
        "output 0 -> operand 0",
        "operand 0 -> output 0",
        "output 0 -> operand 1",
        "operand 1 -> output 0",
    ]
    assert owed(Operation("iota", ArrayShape("s32", (4,)), ())) == ()
    with pytest.raises(NotModelled):
        [c.obligations() for c in owed(Operation("no-such", ArrayShape("s32", (4,)), (ArrayShape("s32", (4,)),)))]


# What claims are made of.


def test_a_witness_is_the_only_value_there_can_be() -> None:
    random = Random(5)
    solved = 0
    for _ in range(800):
        unknowns = {f"s{j}": _interval(random) for j in range(random.randint(1, 2))}
        given = {f"d{i}": Interval(0, 4) for i in range(2)}
        conditions = [_condition(random, [*unknowns, *given]) for _ in range(random.randint(1, 3))]
        witness = solve(unknowns, conditions)
        for d in product(*(range(i.lower, i.upper + 1) for i in given.values())):
            at = dict(zip(given, d, strict=True))
            for s in product(*(range(i.lower, i.upper + 1) for i in unknowns.values())):
                point = at | dict(zip(unknowns, s, strict=True))
                if all(evaluate(c.expr, point) in c.interval for c in conditions):
                    for name, e in witness.items():
                        solved += 1
                        assert evaluate(e, at) == point[name], (conditions, witness, point)
    assert solved > 500


def _interval(random: Random) -> Interval:
    low = random.randint(-2, 2)
    return Interval(low, low + random.randint(0, 3))


def _condition(random: Random, names: list[str]) -> Membership:
    e: Expr = Const(random.randint(-3, 3))
    for name in random.sample(names, random.randint(1, 3)):
        e = e + Var(name) * random.choice([1, 1, -1, 2, 3, -4])
    shape = random.randrange(5)
    if shape == 4:  # beside a variable one that is divided
        e, other = Var(names[0]) * random.choice([1, -1, 3]), Var(random.choice(names))
        return Membership(e + other % 2, Interval.point(random.randint(0, 2)))
    if shape == 0:
        return Membership(e % random.choice([2, 3]), Interval.point(random.randint(0, 1)))
    if shape == 1:
        return Membership(e // random.choice([2, 3]) - Var(names[-1]), Interval.point(0))
    low = random.randint(-3, 3)
    return Membership(e, Interval(low, low + random.choice([0, 0, 1, 2])))


def test_an_obligation_says_what_its_statement_says() -> None:
    random = Random(11)
    refuted = 0
    for _ in range(400):
        names = [f"v{i}" for i in range(4)]
        intervals = [_interval(random) if random.random() > 0.03 else Interval(1, 0) for _ in names]
        hypotheses = tuple(_formula(random, names) for _ in range(random.randint(0, 4)))
        conclusion = _formula(random, names)
        statement = Statement(tuple(zip(names, intervals, strict=True)), hypotheses)
        points = [dict(zip(names, p, strict=True)) for p in product(*(range(i.lower, i.upper + 1) for i in intervals))]
        broken = [p for p in points if all(holds(h, p) for h in hypotheses) and not holds(conclusion, p)]
        part = statement.therefore(conclusion, "", lambda p: repr(sorted(p.items())))
        model = _counterexample(part.obligation)
        assert (model is None) == (not broken), (statement, conclusion, part.obligation)
        if model is not None:
            refuted += 1
            assert part.describe(model) in {repr(sorted(p.items())) for p in broken}
    assert 50 < refuted < 350


def test_hypotheses_that_hang_together_are_kept_together() -> None:
    """The last one ties two groups; where one has no point among those that are tried, none is left out."""
    nine = Interval(0, 9)
    a, b, c, d = (Var(n) for n in "abcd")
    boxes = tuple((n, nine) for n in "abcd")
    for given in permutations((lt(a, b), lt(c, d), lt(b, c))):
        assert _counterexample(Statement(boxes, given).therefore(lt(a, d), "", repr).obligation) is None
        assert _counterexample(Statement(boxes, given[:2]).therefore(lt(a, d), "", repr).obligation) is not None
    never = (eq(a % 5, 2), eq(a, b), eq(b % 5, 3))
    assert _counterexample(Statement(boxes, never).therefore(lt(c, d), "", repr).obligation) is None


def test_a_hypothesis_without_a_value_is_none_that_holds() -> None:
    """Put in for the variable that it defines, a quotient would no longer say that its divisor is not zero."""
    x, y = Var("x"), Var("y")
    statement = Statement((("x", Interval(0, 9)), ("y", Interval(0, 9))), (eq(x, Const(7) // y),))
    assert _counterexample(statement.therefore(ne(y, 0), "", repr).obligation) is None


def _formula(random: Random, names: list[str]) -> Formula:
    a, b = random.sample(names, 2)
    e = Var(b) * random.choice([1, 2, -1]) + random.randint(-2, 2)
    match random.randrange(6):
        case 0 | 1:
            return eq(Var(a), e)
        case 2:
            return le(Var(a), e)
        case 3:
            return within(Var(a), Interval(-1, random.randint(-1, 3)))
        case 4:
            return disj(eq(Var(a), e), eq(Var(b) % 2, 0))
        case _:
            return conj(Compare("!=", Var(a), e), le(Var(a), 2))


def _counterexample(obligation: Obligation) -> dict[str, int] | None:
    names = [n for n, _ in obligation.variables]
    boxes = [range(i.lower, i.upper + 1) for _, i in obligation.variables if i is not None]
    for p in product(*boxes):
        point = dict(zip(names, p, strict=True))
        if is_counterexample(obligation, point):
            return point
    return None


def test_range_variables_may_be_found_by_division() -> None:
    """A result made of two digits names both range variables."""
    terms = solve(
        {"s0": Interval(0, 4), "s1": Interval(0, 3)}, [Membership(rng(0) * 4 + rng(1) - dim(0), Interval.point(0))]
    )
    assert [evaluate(terms[n], {"d0": 14}) for n in ("s0", "s1")] == [3, 2]


@pytest.mark.parametrize("opcode", KINDS)
def test_random_operations_are_proved(opcode: str) -> None:
    """Maps and definitions were written apart; on random attributes they never disagree."""
    random = Random(opcode)
    for _ in range(6):
        op = KINDS[opcode](random)
        wrong = {k: v for k, v in verdicts(op).items() if v[0] != "proved"}
        assert not wrong, (op, wrong)
