"""Cases made of the project's tensor rules: instances for `equiv`, and rules with one error planted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from hloproof.equivalence import decide
from hloproof.models.errors import InputError
from hloproof.models.expressions.expr import Binary, Const, Expr, postorder
from hloproof.models.hlo.parser import parse_module
from hloproof.models.tensor_rules.rule import Alternatives, Call, Comparison, GroupEntry, Tensor, TensorRule
from hloproof.models.tensor_rules.text import parse_tensor_rules
from hloproof.tensor_rules.instances import element_types, instances, refuted_by
from hloproof.tensor_rules.prove import check_form, prove_rule

FOLDER = Path(__file__).parents[1] / "specs" / "tensor_rules"


def rules_of_the_project() -> list[TensorRule]:
    """All of specs/tensor_rules, in the order of the files."""
    files = sorted(FOLDER.glob("*.trules"))
    return [r for f in files for r in parse_tensor_rules(f.read_text(encoding="utf-8"), f.name)]


def tried_by_equiv(rule: TensorRule, seed: int, count: int, seconds: float = 5.0) -> tuple[Counter[str], str]:
    """What `equiv` says of the rule at random sizes: how often which verdict, and why one was not proved."""
    counts: Counter[str] = Counter()
    why = ""
    if rule.assumed:
        return Counter({"skipped": 1}), "equiv takes nothing for true of elements"
    for found in instances(rule, seed, count, kinds=element_types(rule)[:1]):
        answer = decide(parse_module(found.left), parse_module(found.right), "rounding", seconds)
        counts[str(answer.verdict)] += 1
        if answer.verdict != "proved" and not why:
            place = answer.mismatch.said if answer.mismatch is not None else ""
            sizes = ", ".join(f"{n} = {v}" for n, v in found.values)
            why = f"{sizes}: {answer.reason}; {place}"
    return counts, why


@dataclass(frozen=True)
class Planted:
    """A rule with one error."""

    rule: TensorRule
    what: str


def told(planted: Planted) -> str:
    """refuted, vacuous, proved (the change makes no difference), unknown, or `proved and refuted`: an error of the
    prover. `no rule`: dimensions of other kinds were exchanged."""
    try:
        differs = refuted_by(planted.rule, count=60)
        if differs is not None and not planted.rule.assumed:
            # What a run tells apart must not be proved, so the prover is asked as well.
            return "proved and refuted" if prove_rule(planted.rule, 10.0).proved else "refuted"
        proof = prove_rule(planted.rule, 20.0)
    except InputError:
        return "no rule"
    if proof.vacuous:
        return "vacuous"
    if proof.proved:
        return "proved and refuted" if differs is not None else "proved"
    return "refuted" if differs is not None else "unknown"


def planted_errors(rules: Sequence[TensorRule], seed: int, count: int) -> Iterator[Planted]:
    """`count` of all errors that can be planted, drawn at random; those that leave no rule are left out."""
    everything = [p for r in rules for p in errors_in(r)]
    random = Random(seed)
    random.shuffle(everything)
    taken = 0
    for p in everything:
        if taken == count:
            return
        try:
            check_form(p.rule)
        except InputError:
            continue
        taken += 1
        yield p


def errors_in(rule: TensorRule) -> Iterator[Planted]:
    """One error each: a condition left out or weakened, a number off by one, two dimensions or operands exchanged, a
    clamp left out, another combiner or direction."""
    for n, condition in enumerate(rule.conditions):
        rest = (*rule.conditions[:n], *rule.conditions[n + 1 :])
        yield Planted(replace(rule, conditions=rest), f"without {condition.text}")
        for weaker in _weakened(condition):
            changed = (*rule.conditions[:n], weaker, *rule.conditions[n + 1 :])
            yield Planted(replace(rule, conditions=changed), f"a bound of {condition.text}")
    for what, right in _changed(rule.right):
        yield Planted(replace(rule, right=right), what)
    for what, left in _changed(rule.left):
        yield Planted(replace(rule, left=left), f"on the left: {what}")


def _weakened(condition: Alternatives) -> Iterator[Alternatives]:
    for a, part in enumerate(condition.alternatives):
        for k, c in enumerate(part):
            if c.op in ("<=", "<"):
                by = Comparison(c.op, c.lhs, c.rhs + Const(1), c.each)
                changed = (*part[:k], by, *part[k + 1 :])
                parts = (*condition.alternatives[:a], changed, *condition.alternatives[a + 1 :])
                yield Alternatives(parts, condition.text)


def _changed(node: Tensor) -> Iterator[tuple[str, Tensor]]:
    if not isinstance(node, Call):
        return
    for n, argument in enumerate(node.args):
        for what, other in _changed(argument):
            yield what, replace(node, args=(*node.args[:n], other, *node.args[n + 1 :]))
    if len(node.args) == 2 and node.args[0] != node.args[1]:
        yield f"operands of {node.op} exchanged", replace(node, args=node.args[::-1])
    for n, (key, value) in enumerate(node.attributes):
        for what, changed in _attribute(key, value):
            attributes = (*node.attributes[:n], (key, changed), *node.attributes[n + 1 :])
            yield f"{what} of {node.op}", replace(node, attributes=attributes)


def _attribute(key: str, value: tuple[GroupEntry, ...] | str) -> Iterator[tuple[str, tuple[GroupEntry, ...] | str]]:
    if isinstance(value, str):
        other = {"add": "maximum", "maximum": "minimum", "LT": "LE", "LE": "LT", "GT": "GE", "GE": "GT", "EQ": "NE"}
        if value in other:
            yield f"{key} {value}", other[value]
        return
    if key.startswith(("dim", "lhs", "rhs")) and key != "dilation":
        if len(value) > 1:
            yield f"two dimensions in {key}", (value[1], value[0], *value[2:])
        return
    for k, entry in enumerate(value):
        for by in (1, -1):
            changed = replace(entry, value=entry.value + Const(by))
            yield f"{key}[{k}] {by:+d}", (*value[:k], changed, *value[k + 1 :])
        for plain in _unclamped(entry.value):
            yield f"{key}[{k}] not clamped", (*value[:k], replace(entry, value=plain), *value[k + 1 :])
    if len(value) > 1 and value[0] != value[1] and value[0].each == value[1].each:
        yield f"two entries of {key}", (value[1], value[0], *value[2:])


def _unclamped(e: Expr) -> Iterator[Expr]:
    """The expression with one minimum or maximum left out."""
    for node in postorder(e):
        if isinstance(node, Binary) and node.op in ("min", "max"):
            for kept in (node.lhs, node.rhs):
                yield _with(e, node, kept)


def _with(e: Expr, node: Expr, instead: Expr) -> Expr:
    done: dict[Expr, Expr] = {}
    for n in postorder(e):
        if n is node:
            done[n] = instead
        else:
            done[n] = Binary(n.op, done[n.lhs], done[n.rhs]) if isinstance(n, Binary) else n
    return done[e]
