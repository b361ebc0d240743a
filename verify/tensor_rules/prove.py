"""A tensor rule, judged: well formed on the right wherever on the left, of the same sizes, element by element equal."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from time import monotonic
from typing import Final

from hloproof.engines.door import HOW, How
from hloproof.logic.formula import FALSE, le
from hloproof.models.expressions.expr import Var
from hloproof.models.tensor_rules.rule import Call, NumberKind, TensorRule
from hloproof.tensor_rules.equality import TermEquality
from hloproof.tensor_rules.facts import Facts, RuleTimeOver
from hloproof.tensor_rules.laws import LawUses, noted
from hloproof.tensor_rules.operations.meaning import (
    Group,
    Meaning,
    RuleIndex,
    Symbolic,
    conditions,
    declared_sizes,
    divides,
    written_divisors,
)
from hloproof.tensor_rules.operations.table import read
from hloproof.tensor_rules.pieces import ranges
from hloproof.tensor_rules.ranks import larger_ranks_open, ranks
from hloproof.tensor_rules.words import to_words, told

SECONDS: Final = 60.0
NEEDLESS_SECONDS: Final = 2.0
"""For looking for conditions that are not needed, once the rule is proved."""


@dataclass(frozen=True)
class RuleProof:
    """What the prover found. `open` says what is not shown; `ranks` those at which everything is."""

    proved: bool
    tier: str = "exact"
    open: str = ""
    ranks: tuple[int, ...] = ()
    engines: tuple[str, ...] = ()
    vacuous: bool = False
    applies: bool = False
    """Whether an engine found sizes that meet the conditions."""
    not_needed: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    """The obligations that engines proved for it, by their normal forms."""


def prove_rule(rule: TensorRule, seconds: float = SECONDS, how: How = HOW) -> RuleProof:
    """Try to prove the rule. Raises InputError for a rule that is not well formed whatever the sizes."""
    return _proved_with(rule, Facts(monotonic() + seconds, how), seconds)


def accepted(rule: TensorRule, shown: frozenset[str], seconds: float = SECONDS) -> RuleProof:
    """The proof of a rule from obligations that were shown, given by their normal forms, and no others."""
    return _proved_with(rule, Facts(monotonic() + seconds, only=shown), seconds)


def _proved_with(rule: TensorRule, facts: Facts, seconds: float) -> RuleProof:
    with noted(facts.how.cross) as uses:
        return _at_all_ranks(rule, facts, seconds, uses)


def _at_all_ranks(rule: TensorRule, facts: Facts, seconds: float, uses: LawUses) -> RuleProof:
    tried = ranks(rule)
    applicable = [rank for rank in tried if rank] or tried  # of no dimensions everything with `...` is true
    reorders = applies = False
    vacuous = 0
    try:
        for rank, kind in product(tried, kinds(rule)):
            shown = _at_rank(rule, rank, kind, facts, range(len(rule.conditions)))
            vacuous += shown.vacuous and rank in applicable
            if shown.open:
                where = [f"at rank {rank}"] * (len(tried) > 1) + [f"for {kind}"] * (len(kinds(rule)) > 1)
                return RuleProof(False, open=f"{', '.join(where)}: {shown.open}" if where else shown.open)
            reorders |= shown.reorders
            applies |= shown.applies
        unsaid = facts.unsaid(uses)
        if unsaid:
            return RuleProof(False, open=unsaid)
    except RuleTimeOver:
        return RuleProof(False, open=f"not decided within {seconds:g} seconds")
    if vacuous == len(applicable) * len(kinds(rule)):
        return RuleProof(False, open="no sizes and elements meet the conditions", vacuous=True)
    more = larger_ranks_open(rule)
    if more:
        return RuleProof(False, open=more)
    used = tuple(sorted(facts.shown))
    needless = tuple(rule.conditions[n].text for n in _needless(rule, tried, facts)) if facts.only is None else ()
    tier = "real" if reorders else "exact"
    return RuleProof(True, tier, "", tuple(sorted(tried)), tuple(sorted(facts.engines)), False, applies, needless, used)


def kinds(rule: TensorRule) -> tuple[NumberKind, ...]:
    """What the rule is proved for. What holds for reals holds for integers, unless they are divided."""
    if rule.kinds:
        return rule.kinds
    divides = any(c.op in ("divide", "remainder") for c in rule.calls())
    return ("reals", "integers") if divides else ("reals",)


def check_form(rule: TensorRule) -> None:
    """Raises InputError for a rule that is not well formed whatever the sizes."""
    for rank in ranks(rule):
        m = Meaning(rule, rank)
        left = read(m, rule.left)
        _alike(rule, left, read(m, rule.right))
        _assumed(m, left)
        conditions(m)
        declared_sizes(m)


@dataclass(frozen=True)
class _Shown:
    open: str = ""
    reorders: bool = False
    vacuous: bool = False
    applies: bool = False


def _alike(rule: TensorRule, left: Symbolic, right: Symbolic) -> None:
    """Raises InputError where one side holds truth values and the other numbers."""
    if left.pred != right.pred:
        raise rule.error("one side holds truth values and the other numbers; truths are written true and false")


def _assumed(m: Meaning, left: Symbolic) -> list[Symbolic]:
    """What the rule takes for true of elements: of one, or of those at the result's places."""
    out = [read(m, node) for node in m.rule.assumed]
    for node, found in zip(m.rule.assumed, out, strict=True):
        call = node if isinstance(node, Call) else None
        if not found.pred:
            raise m.error(call, "where takes truth values, such as compare(A, B)")
        if found.groups and [*map(_extent, found.groups)] != [*map(_extent, left.groups)]:
            raise m.error(call, "what is assumed has the dimensions of the result")
    return out


def _extent(group: Group) -> tuple[bool, int]:
    """What kind of entry of a shape it is, and how many dimensions that are."""
    return group.each, len(group.sizes)


def _at_rank(rule: TensorRule, rank: int, kind: NumberKind, facts: Facts, kept: Sequence[int]) -> _Shown:
    m = Meaning(rule, rank)
    left = read(m, rule.left)
    assumed = _assumed(m, left)
    asked = len(m.wellformed)
    right = read(m, rule.right)
    _alike(rule, left, right)
    held = conditions(m)
    given = (*declared_sizes(m), *m.wellformed[:asked], *(held[n] for n in kept))
    # Terms are built by laws of digits for divisors above 0. What they made of sizes is not asked whether they hold.
    plain = (f for f in m.wellformed[:asked] if not divides(f))
    signs = (*declared_sizes(m), *(held[n] for n in kept), *plain)
    for divisor in written_divisors(m):
        if not facts.follows(signs, le(0, divisor)):
            return _Shown(f"a divisor that may be negative: {to_words(le(0, divisor))} is not shown")
    met = facts.ask(given, FALSE).verdict
    if met == "proved":
        return _Shown(vacuous=True)
    if len(left.sizes) != len(right.sizes):
        return _Shown("the sides have other numbers of dimensions")
    for formula in m.wellformed[asked:]:
        if not facts.follows(given, formula):
            return _Shown(f"the right side may not be well formed: {to_words(formula)}")
    for n, (x, y) in enumerate(zip(left.sizes, right.sizes, strict=True)):
        if not facts.equal(given, x, y):
            return _Shown(f"dimension {n} of the sides may have other sizes")
    index = _index(left)
    for found in assumed:
        if found.groups and any(not facts.equal(given, x, y) for x, y in zip(found.sizes, left.sizes, strict=True)):
            return _Shown("what is assumed may have other sizes than the result")
    inside = (*given, *ranges([(f"i.{n}", s) for n, s in enumerate(left.sizes)]))
    truths = tuple(a.at(index if a.groups else ()) for a in assumed)
    equality = TermEquality(facts, kind, truths)
    if truths and equality.contradicted(inside):
        return _Shown(vacuous=True)
    if equality.equal(left.at(index), right.at(_index(right)), inside):
        return _Shown(reorders=equality.reorders, applies=met == "refuted")
    return _Shown(f"elements that are not shown equal: {_pair(equality)}")


def _index(side: Symbolic) -> RuleIndex:
    return _numbered([len(g.sizes) for g in side.groups])


def _numbered(lengths: Sequence[int]) -> RuleIndex:
    out, n = [], 0
    for length in lengths:
        out.append(tuple(Var(f"i.{k}") for k in range(n, n + length)))
        n += length
    return tuple(out)


def _needless(rule: TensorRule, tried: Sequence[int], facts: Facts) -> list[int]:
    """Conditions without any one of which the rule is proved as well."""
    out: list[int] = []
    everything = range(len(rule.conditions))
    facts.deadline = monotonic() + NEEDLESS_SECONDS
    with suppress(RuleTimeOver):
        for n in everything:
            kept = [k for k in everything if k != n]
            if not any(_at_rank(rule, rank, kind, facts, kept).open for rank, kind in product(tried, kinds(rule))):
                out.append(n)
    return out


def _pair(equality: TermEquality) -> str:
    if equality.mismatch is None:
        return "no pair is to blame alone"
    a, b = equality.mismatch
    return f"{told(a)} and {told(b)}"
