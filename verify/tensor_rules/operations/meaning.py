"""Tensors whose sizes are symbols, and how attributes of a rule are read at one rank of its groups.

Trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from hloproof.elements.movement import Cases, Test
from hloproof.logic.formula import TRUE, Compare, Formula, atoms, conj, disj, eq, le, lt, ne
from hloproof.models.errors import InputError
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, lift, postorder, substitute
from hloproof.models.tensor_rules.rule import Call, Comparison, GroupEntry, Name, TensorRule
from hloproof.tensor_rules.digits import canonical
from hloproof.tensor_rules.operations.arithmetic import Sym
from hloproof.tensor_rules.terms import Cond, Term

_DIVISIONS: Final = ("floordiv", "ceildiv", "mod")
RuleIndex = tuple[tuple[Expr, ...], ...]
"""One expression per dimension, dimensions in groups."""


@dataclass(frozen=True)
class Group:
    """Dimensions that a rule writes as one: one, or with `each` as many as the rank says."""

    sizes: tuple[Expr, ...]
    each: bool = False


@dataclass(frozen=True)
class Symbolic:
    """A tensor: its dimensions, and the element at an index within them."""

    groups: tuple[Group, ...]
    at: Callable[[RuleIndex], Term]
    pred: bool = False

    @property
    def sizes(self) -> tuple[Expr, ...]:
        return tuple(s for g in self.groups for s in g.sizes)


@dataclass
class Meaning:
    """Reads tensors of a rule at one rank of its groups `k...`.

    `wellformed` collects what HLO demands of each operation.
    """

    rule: TensorRule
    rank: int
    wellformed: list[Formula] = field(default_factory=list)
    fresh: int = 0
    device: Expr = Var("i.device")
    """Where the element that is being read lies: which device."""

    def __post_init__(self) -> None:
        each, alone = _used(self.rule)
        for name in sorted(alone & _declared_each(self.rule)):
            raise self.rule.error(f"{name}... stands for one number per dimension; {name} by itself says nothing")
        self.aggregated = each - alone
        self.shapes = {name: self.groups(entries) for name, entries in self.rule.tensors}

    @property
    def devices(self) -> Expr | None:
        """How many devices there are; None where the rule is about one."""
        return self.rule.devices

    # Entries.

    def member(self, e: Expr, i: int) -> Expr:
        """The expression for member i of a group; no rule can write its names, and no proof makes such ones up."""
        return substitute(e, {name: Var(f"{name}:{i}") for name in e.free & self.aggregated})

    def members(self, entry: GroupEntry) -> tuple[Expr, ...]:
        return tuple(self.member(entry.value, i) for i in range(self.rank)) if entry.each else (entry.value,)

    def groups(self, entries: Sequence[GroupEntry]) -> tuple[Group, ...]:
        return tuple(Group(self.members(e), e.each) for e in entries)

    def defined(self, entry: GroupEntry) -> Iterator[Formula]:
        """That no divisor in what a rule writes is 0."""
        for e in self.members(entry):
            yield from divisors_of(e)

    def listed(
        self, call: Call, name: str, groups: Sequence[Group], default: int | None = None
    ) -> list[tuple[Expr, ...]]:
        """The entries of an attribute, one for each group; `default` for all where the attribute is left out."""
        entries = call.entries(name)
        if entries is None:
            if default is None or call.word(name):
                raise self.error(call, f"{call.op} needs {name}=[...], one entry for each dimension")
            return [(lift(default),) * len(g.sizes) for g in groups]
        if len(entries) != len(groups):
            raise self.error(call, f"{name} has {len(entries)} entries where the operand has {len(groups)} dimensions")
        for n, (entry, group) in enumerate(zip(entries, groups, strict=True)):
            if entry.each != group.each:
                how = "with" if group.each else "without"
                raise self.error(call, f"entry {n} of {name} is written {how} '...', as the dimension is")
        return [self.members(e) for e in entries]

    def numbers(self, call: Call, name: str, optional: bool = False) -> tuple[int, ...]:
        """Numbers of groups, written as integers."""
        entries = call.entries(name)
        if entries is None:
            if optional:
                return ()
            raise self.error(call, f"{call.op} needs {name}=[...]")
        out = []
        for e in entries:
            if not isinstance(e.value, Const) or e.each or e.value.value < 0:
                raise self.error(call, f"{name} lists dimensions by number")
            out.append(e.value.value)
        if len(set(out)) != len(out):
            raise self.error(call, f"{name} names a dimension twice")
        return tuple(out)

    def number(self, call: Call, name: str) -> int:
        """The number of one group."""
        found = self.numbers(call, name)
        if len(found) != 1:
            raise self.error(call, f"{call.op} needs {name}=, one dimension by its number")
        return found[0]

    def shape(self, call: Call) -> tuple[Group, ...]:
        """The sizes of the result as the call lists them."""
        entries = call.entries("shape")
        if entries is None:
            raise self.error(call, f"{call.op} needs shape=[...]")
        return self.groups(entries)

    def error(self, node: Call | Name | None, message: str) -> InputError:
        return self.rule.error(message, node.line if node else 0, node.column if node else 0)

    def variable(self, stem: str) -> str:
        self.fresh += 1
        return f"{stem}.{self.fresh}"

    def owe(self, *formulas: Formula) -> None:
        self.wellformed += formulas

    def same_sizes(self, call: Call, a: Symbolic, b: Symbolic) -> None:
        if [(g.each, len(g.sizes)) for g in a.groups] != [(g.each, len(g.sizes)) for g in b.groups]:
            raise self.error(call, f"the operands of {call.op} have other numbers of dimensions")
        self.owe(*(eq(x, y) for x, y in zip(a.sizes, b.sizes, strict=True) if x is not y))

    def group(self, call: Call, tensor: Symbolic, number: int) -> Group:
        if number >= len(tensor.groups):
            raise self.error(call, f"{call.op} names dimension {number} of {len(tensor.groups)}")
        return tensor.groups[number]

    @contextmanager
    def on(self, device: Expr) -> Iterator[None]:
        """Elements that are read inside are those of this device."""
        before, self.device = self.device, device
        try:
            yield
        finally:
            self.device = before


def divisors_of(e: Expr) -> Iterator[Formula]:
    """That no divisor in the expression is 0."""
    for node in postorder(e):
        is_division = isinstance(node, Binary) and node.op in _DIVISIONS
        if isinstance(node, Binary) and is_division and not (isinstance(node.rhs, Const) and node.rhs.value):
            yield ne(node.rhs, 0)


def written_divisors(m: Meaning) -> list[Expr]:
    """What a rule itself divides by, at the rank of the meaning; constants above 0 are left out."""
    rule = m.rule
    entries = [e for _, listed in rule.tensors for e in listed] + list(rule.side_entries())
    written = [e for entry in entries for e in m.members(entry)]
    written += [] if rule.devices is None else [rule.devices]
    compared = (atom for condition in conditions(m) for atom in atoms(condition))
    written += [e for atom in compared for e in (atom.lhs, atom.rhs)]
    found = (node for e in written for node in postorder(e) if isinstance(node, Binary) and node.op in _DIVISIONS)
    return list(dict.fromkeys(n.rhs for n in found if not (isinstance(n.rhs, Const) and n.rhs.value > 0)))


def divides(formula: Formula) -> bool:
    """Whether a quotient or remainder stands in the formula."""
    sides = (e for atom in atoms(formula) for e in (atom.lhs, atom.rhs))
    return any(isinstance(node, Binary) and node.op in _DIVISIONS for e in sides for node in postorder(e))


def _declared_each(rule: TensorRule) -> frozenset[str]:
    """Names that a declaration writes as `k...`."""
    entries = [e for _, listed in rule.tensors for e in listed] + list(rule.indices)
    return frozenset(e.value.name for e in entries if e.each and isinstance(e.value, Var))


def _used(rule: TensorRule) -> tuple[frozenset[str], frozenset[str]]:
    """Names in entries with `...`, and in those without."""
    each: set[str] = set()
    alone: set[str] = set()
    entries = [e for _, listed in rule.tensors for e in listed] + list(rule.indices)
    for e in (*entries, *rule.side_entries()):
        (each if e.each else alone).update(e.value.free)
    alone.update(() if rule.devices is None else rule.devices.free)
    for condition in rule.conditions:
        for c in (c for part in condition.alternatives for c in part):
            (each if c.each else alone).update(c.lhs.free | c.rhs.free)
    return frozenset(each), frozenset(alone)


def flat(at: RuleIndex) -> tuple[Expr, ...]:
    """The index with its groups put behind each other."""
    return tuple(e for group in at for e in group)


def each(groups: Sequence[Group], values: Sequence[tuple[Expr, ...]]) -> tuple[Group, ...]:
    """Groups of the same kinds with other sizes."""
    return tuple(Group(v, g.each) for g, v in zip(groups, values, strict=True))


def sizes_of(groups: Sequence[Group]) -> tuple[Expr, ...]:
    """The sizes with their groups put behind each other."""
    return tuple(s for g in groups for s in g.sizes)


def regrouped(values: Sequence[Expr], groups: Sequence[Group]) -> RuleIndex:
    """Values, one for each dimension, in the groups of the dimensions."""
    out, at = [], 0
    for g in groups:
        out.append(tuple(values[at : at + len(g.sizes)]))
        at += len(g.sizes)
    return tuple(out)


def placed(cases: Cases[Sym], operands: Sequence[Symbolic]) -> Term:
    """The element that the cases lead to."""
    out: Term | None = None
    for case in reversed(cases):
        operand = operands[case.operand]
        here = operand.at(regrouped([canonical(x.e) for x in case.at], operand.groups))
        test = held(case.tests)
        out = here if out is None or test == TRUE else Cond(test, here, out)
    assert out is not None
    return out


def held(tests: Sequence[Test[Sym]]) -> Formula:
    """That all tests hold."""
    found = [_tested(t.kind, canonical(t.of.e)) for t in tests]
    return conj(*(t for t in found if t is not None))


def _tested(kind: str, of: Expr) -> Formula | None:
    """None where the test always holds."""
    if isinstance(of, Const) and (of.value >= 0 if kind == "within" else of.value == 0):
        return None
    return le(0, of) if kind == "within" else eq(of, 0)


def conditions(m: Meaning) -> list[Formula]:
    """The rule's conditions as formulas, at the rank of the meaning."""
    return [disj(*(conj(*_compared(m, part)) for part in c.alternatives)) for c in m.rule.conditions]


def _compared(m: Meaning, comparisons: Sequence[Comparison]) -> Iterator[Formula]:
    for c in comparisons:
        rows = [(c.lhs, c.rhs)]
        if c.each:
            rows = [(m.member(c.lhs, i), m.member(c.rhs, i)) for i in range(m.rank)]
        yield from (Compare(c.op, lhs, rhs) for lhs, rhs in rows)


def declared_sizes(m: Meaning) -> list[Formula]:
    """Sizes of declared tensors have values of at least 0; the device is one of those that there are."""
    written = [e for _, entries in m.rule.tensors for e in entries]
    if m.devices is not None:
        written.append(GroupEntry(m.devices))
    out = [d for entry in written for d in m.defined(entry)]
    out += [le(0, s) for groups in m.shapes.values() for g in groups for s in g.sizes]
    return out if m.devices is None else [*out, le(1, m.devices), le(0, m.device), lt(m.device, m.devices)]
