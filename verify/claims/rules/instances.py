"""Concrete instances of rules: values of metavariables that meet the conditions, small ones first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random
from typing import Final

from hloproof.claims.rules.rounding import evaluate
from hloproof.logic.obligation import RoundingSemantics
from hloproof.models.expressions.evaluate import UndefinedValue
from hloproof.models.expressions.expr import Var
from hloproof.models.rules.rule import Computed, Condition, RuleBase
from hloproof.models.simplifier.compiled_rules import compare, compute

Instance = dict[str, int]

_EXHAUSTIVE: Final = 30_000
_SEED: Final = 20_260_101


def meets(conditions: Sequence[Condition], values: Instance, reading: RoundingSemantics) -> bool:
    """All conditions are defined and hold."""
    try:
        return all(
            compare(c.op, evaluate(c.lhs, values, reading), evaluate(c.rhs, values, reading)) for c in conditions
        )
    except UndefinedValue:
        return False


def instances(
    rule: RuleBase, names: Sequence[str], conditions: Sequence[Condition], reading: RoundingSemantics, tries: int
) -> Iterator[Instance]:
    """Values of `names` that meet the conditions: all small ones while they are few, then random ones, some of them
    large. Constants that the rule computes are computed where they can be."""
    defined = _defined_by(conditions, {c.name for c in rule.computed}, names)
    computed = {c.name for c in (*rule.computed, *defined)}
    free = [n for n in names if n not in computed]
    seen: set[tuple[int, ...]] = set()
    for values in _candidates(free, tries):
        for full in _completed((*defined, *rule.computed), dict(zip(free, values, strict=True)), reading):
            k = tuple(full[n] for n in names)
            if k not in seen and meets(conditions, full, reading):
                seen.add(k)
                yield full


def _defined_by(conditions: Sequence[Condition], computed: set[str], names: Sequence[str]) -> list[Computed]:
    """Metavariables that a condition `name == expression` gives, in terms of others that nothing gives."""
    out: list[Computed] = []
    taken = set(computed)
    for c in conditions:
        if c.op == "==" and isinstance(c.lhs, Var) and c.lhs.name in names and c.lhs.name not in taken:
            used = {n for d in out for a in d.arguments for n in a.free}
            if c.rhs.free.isdisjoint(taken | {c.lhs.name}) and c.lhs.name not in used:
                out.append(Computed(c.lhs.name, "value", (c.rhs,)))
                taken.add(c.lhs.name)
    return out


def _candidates(free: Sequence[str], tries: int) -> Iterator[tuple[int, ...]]:
    done = 0
    for bound in range(1, 9):
        if (2 * bound + 1) ** len(free) > min(_EXHAUSTIVE, tries):
            break
        for values in product(_ordered(bound), repeat=len(free)):
            if max(map(abs, values), default=0) == bound or bound == 1:
                done += 1
                yield values
    random = Random(_SEED)
    while done < tries and free:
        done += 1
        bound = random.choice((3, 6, 6, 12, 12, 40, 1000))
        yield tuple(random.randint(-bound // 2, bound) for _ in free)


def _ordered(bound: int) -> list[int]:
    return sorted(range(-bound, bound + 1), key=lambda v: (abs(v), v < 0))


def _completed(computed: Sequence[Computed], values: Instance, reading: RoundingSemantics) -> Iterator[Instance]:
    """The values with the computed constants; where only a bound is asked for, the value itself and its neighbours."""
    open_values: list[tuple[str, list[int]]] = []
    full = dict(values)
    for c in computed:
        try:
            arguments: list[int | None] = [evaluate(a, full, reading) for a in c.arguments]
        except (UndefinedValue, KeyError):
            return
        at = arguments[0]
        match c.function:
            case "range":
                found = at
            case "least" | "greatest":
                assert at is not None
                found = at
                step = -1 if c.function == "least" else 1
                open_values.append((c.name, [at, at + step, at + 3 * step]))
            case function:
                found = compute(function, arguments)
        if found is None:
            return
        full[c.name] = found
    for choice in product(*(v for _, v in open_values)):
        yield {**full, **dict(zip((n for n, _ in open_values), choice, strict=True))}
