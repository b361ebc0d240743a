"""A tensor rule at given sizes: two HLO modules, and whether the executable path tells them apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isclose, isfinite
from random import Random
from typing import Any, Final

from hloproof.logic.evaluate import truth
from hloproof.logic.formula import Formula, conj, eq, free_variables
from hloproof.models.errors import InputError, NotModelled
from hloproof.models.expressions.evaluate import UndefinedValue, evaluate
from hloproof.models.hlo.parser import parse_module
from hloproof.models.interpreter.run import run_module
from hloproof.models.tensor_rules.rule import Infinity, NumberLiteral, Tensor, TensorRule
from hloproof.tensor_rules.exact import OutsideTheRule, run_exactly
from hloproof.tensor_rules.operations.meaning import Meaning, conditions, declared_sizes
from hloproof.tensor_rules.operations.table import read
from hloproof.tensor_rules.scalar_operations import FUNCTIONS, KNOWN
from hloproof.tensor_rules.words import to_words
from hloproof.tensor_rules.writer import DoesNotFit, Writer

TRIES: Final = 6_000
_WITHOUT: Final = 600
"""Draws after which there seem to be no sizes at which the rule applies."""
_DRAWS: Final = 20
"""Inputs that are tried for what a rule assumes of elements."""
_COMPUTES: Final = frozenset({"reduce", "dot", "convolution", "reduce-window", "iota", "constant"}) | {
    *("all-reduce", "reduce-scatter")
}


@dataclass(frozen=True)
class RuleInstance:
    """The rule's sides at some sizes, as modules with the same parameters."""

    rank: int
    values: tuple[tuple[str, int], ...]
    left: str
    right: str
    parameters: tuple[tuple[str, tuple[int, ...], str], ...]
    """Name, sizes and element type of each."""
    assumed: tuple[str, ...] = ()
    """Modules of what the rule takes for true of elements."""
    devices: int = 1

    @property
    def kind(self) -> str:
        """The element type of what are no truth values; f32 for numbers that are only moved."""
        return next((kind for _, _, kind in self.parameters if kind != "pred"), "s32")


@dataclass(frozen=True)
class Difference:
    """The first element in which the two sides differ, at these inputs."""

    instance: RuleInstance
    inputs: tuple[Any, ...]
    index: tuple[int, ...]
    left: Any
    right: Any

    def words(self) -> str:
        """Sizes, element and values, for the reader."""
        sizes = ", ".join(f"{n} = {v}" for n, v in self.instance.values)
        where = f"element [{', '.join(map(str, self.index))}]" if self.index else "the element"
        return f"{sizes}: {where} is {self.left} on the left and {self.right} on the right"


@dataclass(frozen=True)
class IllFormed:
    """Sizes at which the left side is well formed and the right side is not, or has other sizes."""

    values: tuple[tuple[str, int], ...]
    needs: str

    def words(self) -> str:
        """Sizes, and what they do not meet, for the reader."""
        sizes = ", ".join(f"{n} = {v}" for n, v in self.values)
        return f"{sizes}: the right side is not well formed, or of another shape: it needs {self.needs}"


def instances(
    rule: TensorRule, seed: int, count: int, tries: int = TRIES, kinds: Sequence[str] = ()
) -> Iterator[RuleInstance]:
    """Up to `count` instances at small random sizes at which the left side is well formed and the conditions hold.

    `kinds` are the element types to take in turn; by default all that the rule speaks of.
    """
    random = Random(seed)
    kinds = kinds or element_types(rule)
    found = 0
    for n in range(tries):
        drawn = _drawn(rule, n, random)
        if drawn is None:
            if not found and n == _WITHOUT:
                return
            continue
        try:
            yield instance(rule, drawn.rank, drawn.values, kinds[found % len(kinds)])
        except (DoesNotFit, UndefinedValue):
            continue
        found += 1
        if found == count:
            return


@dataclass(frozen=True)
class _Drawn:
    """Sizes at which the left side is well formed and the conditions hold; `owed` is what the right side needs."""

    rank: int
    values: dict[str, int]
    owed: tuple[Formula, ...]


def _drawn(rule: TensorRule, n: int, random: Random) -> _Drawn | None:
    """The draw with this number; None where no sizes were found."""
    rank = random.choice((0, 1, 1, 2)) if n % 4 else 1
    m = Meaning(rule, rank)
    left = read(m, rule.left)
    for node in rule.assumed:
        read(m, node)
    asked = len(m.wellformed)
    given = conj(*declared_sizes(m), *m.wellformed, *conditions(m))
    right = read(m, rule.right)
    names = sorted(_names(rule, m, given) - m.device.free)
    values = _solved(given, names, random, m.device.free)
    if values is None:
        return None
    sizes = [eq(x, y) for x, y in zip(left.sizes, right.sizes, strict=False)]
    sizes.append(eq(len(left.sizes), len(right.sizes)))
    return _Drawn(rank, values, (*m.wellformed[asked:], *sizes))


def element_types(rule: TensorRule) -> tuple[str, ...]:
    """What elements are in instances: numbers that tell whether they moved, integers, halves."""
    if _is_movement(rule):
        return ("f32",)
    if any(c.op in FUNCTIONS for c in rule.calls()):
        return ("f64",)
    return {"integers": ("s32",), "reals": ("f64",)}[rule.kinds[0]] if rule.kinds else ("s32", "f64")


def _names(rule: TensorRule, m: Meaning, given: Formula) -> set[str]:
    """All integers of the rule at this rank."""
    out = set(free_variables(given))
    entries = (*rule.indices, *rule.side_entries())
    out |= set() if rule.devices is None else rule.devices.free
    out |= {n for entry in entries for e in m.members(entry) for n in e.free}
    return out


def _solved(given: Formula, names: list[str], random: Random, zero: frozenset[str]) -> dict[str, int] | None:
    """Random small values that meet the formula, or None: a few draws, each improved by what it fails.

    Names in `zero` stand for 0.
    """
    for _ in range(30):
        values = {n: random.choice((0, 1, 1, 2, 2, 3, 3, 4, 5, -1, -2)) for n in names}
        for _ in range(12):
            if truth(given, {**values, **dict.fromkeys(zero, 0)}) is True:
                return values
            name = random.choice(names) if names else ""
            if not name:
                return None
            values[name] = random.choice((0, 1, 2, 3, 4, 5, 6, -1, -2))
    return None


def _is_met(rule: TensorRule, drawn: _Drawn, random: Random) -> bool:
    """Whether elements were found at these sizes of which is true what the rule takes for true."""
    try:
        found = instance(rule, drawn.rank, drawn.values, one_sided=True)
        return next(_inputs(found, random), None) is not None
    except (DoesNotFit, UndefinedValue, InputError):
        return False


def instance(
    rule: TensorRule, rank: int, values: Mapping[str, int], kind: str = "", one_sided: bool = False
) -> RuleInstance:
    """The two modules at these values; `one_sided` where the right side is no operation: the left one twice."""
    m = Meaning(rule, rank)
    kind = kind or element_types(rule)[0]
    devices = 1 if rule.devices is None else evaluate(rule.devices, values)
    if not 1 <= devices <= 6:
        raise DoesNotFit
    sides = (rule.left, rule.left if one_sided else rule.right, *rule.assumed)
    left, right, *assumed = (Writer(rule, m, values, kind, devices).module(side) for side in sides)
    texts = tuple(text for text, _ in assumed)
    return RuleInstance(rank, tuple(sorted(values.items())), left[0], right[0], left[1], texts, devices)


def difference(found: RuleInstance, seed: int = 0) -> Difference | None:
    """Where the two sides differ on random inputs; None where they do not, or could not be evaluated."""
    for inputs in _inputs(found, Random(seed)):
        try:
            place = _first_difference(_run(found.left, found, inputs), _run(found.right, found, inputs, True))
        except OutsideTheRule:
            continue
        except (NotModelled, UndefinedValue, ZeroDivisionError):
            return None
        return None if place is None else Difference(found, inputs if found.devices > 1 else inputs[0], *place)
    return None


def _inputs(found: RuleInstance, random: Random) -> Iterator[tuple[Any, ...]]:
    """Random inputs on all devices that are what the rule takes for true."""
    for _ in range(_DRAWS if found.assumed else 1):
        inputs = tuple(
            tuple(_value(sizes, kind, random) for _, sizes, kind in found.parameters) for _ in range(found.devices)
        )
        try:
            if all(_all_true(_run(text, found, inputs)) for text in found.assumed):
                yield inputs
        except OutsideTheRule:
            continue
        except (NotModelled, UndefinedValue, ZeroDivisionError):
            return


def _run(text: str, found: RuleInstance, inputs: tuple[Any, ...], may_lack_value: bool = False) -> Any:
    given = inputs if found.devices > 1 else inputs[0]
    if found.kind == "f32":
        return run_module(parse_module(text), given, "hashed", replicas=found.devices)
    return run_exactly(parse_module(text), given, found.devices, may_lack_value)


def _value(sizes: tuple[int, ...], kind: str, random: Random) -> Any:
    if sizes:
        return [_value(sizes[1:], kind, random) for _ in range(sizes[0])]
    if kind == "pred":
        return random.random() < 0.5
    if kind == "f64":
        return random.randint(-8, 12) / 2
    return random.randint(-4, 7) if kind == "s32" else random.randint(1, 10**6)


def _all_true(value: Any) -> bool:
    return all(map(_all_true, value)) if isinstance(value, list) else bool(value)


def _first_difference(left: Any, right: Any, at: tuple[int, ...] = ()) -> tuple[tuple[int, ...], Any, Any] | None:
    if isinstance(left, list) and isinstance(right, list):
        if len(left) != len(right):
            return at, f"{len(left)} elements", f"{len(right)} elements"
        for n, (a, b) in enumerate(zip(left, right, strict=True)):
            found = _first_difference(a, b, (*at, n))
            if found is not None:
                return found
        return None
    if isinstance(left, float | Fraction) and isinstance(right, float | Fraction):
        left, right = float(left), float(right)
        # Where the left side is no number nothing is promised; otherwise up to rounding.
        same = not isfinite(left) or isclose(left, right, rel_tol=1e-6, abs_tol=1e-9)
        return None if same else (at, left, right)
    return None if left == right else (at, left, right)


def _is_movement(rule: TensorRule) -> bool:
    """Whether neither side computes with numbers: then any element type does, and hashes tell elements apart."""
    if any(c.op in KNOWN - {"select"} or c.op in _COMPUTES for c in rule.calls()):
        return False
    return not any(isinstance(a, NumberLiteral | Infinity) for a in _operands(rule))


def _operands(rule: TensorRule) -> Iterator[Tensor]:
    yield from (rule.left, rule.right)
    for call in rule.calls():
        yield from call.args


def refuted_by(rule: TensorRule, seed: int = 0, count: int = 60) -> Difference | IllFormed | None:
    """A small instance whose sides differ, or at which the right side is no operation; None when none of `count` is."""
    found = _ill_formed(rule, seed, count)
    if found is not None:
        return found
    for n, one in enumerate(instances(rule, seed, count)):
        try:
            for k in range(2):
                differs = difference(one, seed + 2 * n + k)
                if differs is not None:
                    return differs
        except InputError:
            continue
    return None


def _ill_formed(rule: TensorRule, seed: int, count: int) -> IllFormed | None:
    random = Random(seed)
    for n in range(count):
        drawn = _drawn(rule, n, random)
        for formula in drawn.owed if drawn is not None else ():
            false = drawn is not None and truth(formula, {**drawn.values, "i.device": 0}) is False
            if drawn is not None and false and (not rule.assumed or _is_met(rule, drawn, random)):
                return IllFormed(tuple(sorted(drawn.values.items())), to_words(formula))
    return None
