"""Rewrite rules as data: what is applied by the simplifier, proved by the solvers and printed is the same object."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from hloproof.models.expressions.expr import Comparator as Comparator
from hloproof.models.expressions.expr import Expr, to_text

Sort = Literal["constant", "variable", "expression"]
"""What a metavariable stands for: an integer constant, a variable of the map, or any expression."""

ModReading = Literal["floor", "nonnegative"]
"""floor: x mod c = x - c * (x floordiv c). nonnegative: a remainder in [0, |c| - 1], as XLA's evaluator computes it;
both agree where c > 0. A rule that does not say has the remainder that goes with its division: 
x - c * (x floordiv c)."""

Division = Literal["floor", "trunc", "euclidean"]


@dataclass(frozen=True, slots=True)
class Condition:
    """`lhs op rhs`. Where metavariables for expressions occur it must hold over their whole range."""

    op: Comparator
    lhs: Expr
    rhs: Expr

    def __str__(self) -> str:
        return f"{to_text(self.lhs)} {self.op} {to_text(self.rhs)}"


@dataclass(frozen=True, slots=True)
class Bounded:
    """A constraint pattern: `expr in [lower, upper]`, bounds inclusive."""

    expr: Expr
    lower: Expr
    upper: Expr

    @property
    def terms(self) -> tuple[Expr, Expr, Expr]:
        return self.expr, self.lower, self.upper

    def __str__(self) -> str:
        return f"{to_text(self.expr)} in [{to_text(self.lower)}, {to_text(self.upper)}]"


@dataclass(frozen=True, slots=True)
class Computed:
    """How the simplifier finds a constant that matching leaves open: `name = function(arguments)`; the function is
    `value` (of one expression), gcd, lcm, inverse (of the first modulo the second), `range` (the single value that an
    expression takes), `least` or `greatest` (the bounds of its range). A proof does not rely on it: it takes any value
    that meets the conditions."""

    name: str
    function: str
    arguments: tuple[Expr, ...]

    def __str__(self) -> str:
        text = ", ".join(to_text(a) for a in self.arguments)
        return f"{self.name} = {text}" if self.function == "value" else f"{self.name} = {self.function}({text})"


@dataclass(frozen=True)
class RuleBase:
    """What every rule has. `witness` and `because` are hints for the proof: values for what must exist, and statements
    that are proved one after the other and then used. `source` says where the rule comes from; `expect` is the verdict
    that the file states."""

    name: str
    sorts: tuple[tuple[str, Sort], ...] = ()
    conditions: tuple[Condition, ...] = ()
    computed: tuple[Computed, ...] = ()
    witness: tuple[tuple[str, Expr], ...] = ()
    because: tuple[Condition, ...] = ()
    source: str = ""
    expect: Literal["proved", "refuted"] = "proved"
    mod: ModReading | None = None
    division: Division = "floor"
    note: str = ""
    file: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)
    column: int = field(default=0, compare=False)
    sides: tuple[tuple[int, int], ...] = field(default=(), compare=False)
    """Line and column, from 1, where the left and the right side begin in the file; () for a rule of no file."""

    def sort(self, name: str) -> Sort:
        return dict(self.sorts)[name]

    @property
    def statement(self) -> str:
        raise NotImplementedError

    def __str__(self) -> str:
        parts = [self.statement]
        if self.conditions:
            parts.append("when " + ", ".join(str(c) for c in self.conditions))
        return " ".join(parts)


@dataclass(frozen=True)
class ExpressionRule(RuleBase):
    """`lhs => rhs`: equal wherever the left side is defined."""

    lhs: Expr = field(kw_only=True)
    rhs: Expr = field(kw_only=True)

    @property
    def statement(self) -> str:
        return f"{to_text(self.lhs)} => {to_text(self.rhs)}"


@dataclass(frozen=True)
class ConstraintRule(RuleBase):
    """Constraints that hold together become others, or nothing (`always`), or a contradiction (`never`): the two
    domains are the same set."""

    before: tuple[Bounded, ...] = field(kw_only=True)
    after: tuple[Bounded, ...] = field(kw_only=True)
    never: bool = field(kw_only=True, default=False)

    @property
    def statement(self) -> str:
        right = "never" if self.never else ", ".join(str(b) for b in self.after) or "always"
        return f"{', '.join(str(b) for b in self.before)} => {right}"


@dataclass(frozen=True)
class VariableRule(RuleBase):
    """`for s in [l, u], constraints => for t in [p, q] with s = image`: the values of s that the left side admits are
    the images of the values of t, each of exactly one. With no `image`, the variable is left out: the left side admits
    some value."""

    variable: str = field(kw_only=True)
    before: tuple[Bounded, ...] = field(kw_only=True)
    fresh: str = field(kw_only=True, default="")
    after: tuple[Bounded, ...] = field(kw_only=True, default=())
    image: Expr | None = field(kw_only=True, default=None)

    @property
    def statement(self) -> str:
        left = f"for {', '.join(str(b) for b in self.before)}"
        if self.image is None:
            return f"{left} => nothing"
        return f"{left} => for {', '.join(str(b) for b in self.after)} with {self.variable} = {to_text(self.image)}"


Rule = ExpressionRule | ConstraintRule | VariableRule
