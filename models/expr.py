"""Integer expressions: constants, named variables, + * floordiv ceildiv mod min max.

Nodes are interned: equal expressions are the same object, and `==` is identity. Constructors build what they are
asked for and simplify nothing. Every walk is a loop, so depth is limited by memory only.

Integers are mathematical. `floordiv` rounds to minus infinity, `x mod c = x - c * (x floordiv c)` and
`x ceildiv c = -((-x) floordiv c)`. A divisor of zero is an error of whoever evaluates, never of the constructor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal
from weakref import WeakValueDictionary

Operator = Literal["+", "*", "floordiv", "ceildiv", "mod", "min", "max"]
OPERATORS: Final[tuple[Operator, ...]] = ("+", "*", "floordiv", "ceildiv", "mod", "min", "max")

_EMPTY: Final[frozenset[str]] = frozenset()


class Expr:
    """An interned expression: a `Const`, a `Var` or a `Binary`."""

    __slots__ = ("__weakref__", "free")

    free: frozenset[str]
    """The names of the variables that occur in it."""

    def __add__(self, other: Expr | int) -> Expr:
        return Binary("+", self, lift(other))

    def __radd__(self, other: int) -> Expr:
        return Binary("+", lift(other), self)

    def __mul__(self, other: Expr | int) -> Expr:
        return Binary("*", self, lift(other))

    def __rmul__(self, other: int) -> Expr:
        return Binary("*", lift(other), self)

    def __neg__(self) -> Expr:
        return Binary("*", self, Const(-1))

    def __sub__(self, other: Expr | int) -> Expr:
        return Binary("+", self, Const(-other) if isinstance(other, int) else -other)

    def __rsub__(self, other: int) -> Expr:
        return Binary("+", lift(other), -self)

    def __floordiv__(self, other: Expr | int) -> Expr:
        return Binary("floordiv", self, lift(other))

    def __mod__(self, other: Expr | int) -> Expr:
        return Binary("mod", self, lift(other))

    def ceildiv(self, other: Expr | int) -> Expr:
        return Binary("ceildiv", self, lift(other))

    def __reduce__(self) -> tuple[Callable[..., Expr], tuple[Any, ...]]:
        return _from_table, (to_table(self),)


class Const(Expr):
    """An integer constant."""

    __slots__ = ("value",)
    __match_args__ = ("value",)
    value: int

    def __new__(cls, value: int) -> Const:
        node = _consts.get(value)
        if node is None:
            node = object.__new__(cls)
            node.value, node.free = value, _EMPTY
            _consts[value] = node
        return node

    def __repr__(self) -> str:
        return f"Const({self.value})"


class Var(Expr):
    """A variable. Maps call theirs d0, d1, ... (dims), s0, ... (range) and rt0, ... (runtime)."""

    __slots__ = ("name",)
    __match_args__ = ("name",)
    name: str

    def __new__(cls, name: str) -> Var:
        node = _vars.get(name)
        if node is None:
            node = object.__new__(cls)
            node.name, node.free = name, frozenset((name,))
            _vars[name] = node
        return node

    def __repr__(self) -> str:
        return f"Var({self.name!r})"


class Binary(Expr):
    """An operator applied to two expressions."""

    __slots__ = ("lhs", "op", "rhs")
    __match_args__ = ("op", "lhs", "rhs")
    op: Operator
    lhs: Expr
    rhs: Expr

    def __new__(cls, op: Operator, lhs: Expr, rhs: Expr) -> Binary:
        key = (op, lhs, rhs)
        node = _binaries.get(key)
        if node is None:
            node = object.__new__(cls)
            node.op, node.lhs, node.rhs = op, lhs, rhs
            left, right = lhs.free, rhs.free
            node.free = left if right <= left else right if left <= right else left | right
            _binaries[key] = node
        return node

    def __repr__(self) -> str:
        return f"<{to_text(self)}>"


_consts: WeakValueDictionary[int, Const] = WeakValueDictionary()
_vars: WeakValueDictionary[str, Var] = WeakValueDictionary()
_binaries: WeakValueDictionary[tuple[Operator, Expr, Expr], Binary] = WeakValueDictionary()


def lift(value: Expr | int) -> Expr:
    """An integer as a constant; an expression as it is."""
    return value if isinstance(value, Expr) else Const(value)


def minimum(lhs: Expr | int, rhs: Expr | int) -> Expr:
    return Binary("min", lift(lhs), lift(rhs))


def maximum(lhs: Expr | int, rhs: Expr | int) -> Expr:
    return Binary("max", lift(lhs), lift(rhs))


def postorder(root: Expr) -> Iterator[Expr]:
    """Every distinct node below `root`, children before parents, `root` last."""
    seen: set[Expr] = set()
    stack: list[tuple[Expr, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
        elif node not in seen:
            seen.add(node)
            if isinstance(node, Binary):
                stack.append((node, True))
                stack.append((node.rhs, False))
                stack.append((node.lhs, False))
            else:
                yield node


def rebuild(root: Expr, leaf: Callable[[Expr], Expr], node: Callable[[Operator, Expr, Expr], Expr]) -> Expr:
    """Fold bottom up: `leaf` maps constants and variables, `node` joins two mapped children."""
    done: dict[Expr, Expr] = {}
    for e in postorder(root):
        done[e] = node(e.op, done[e.lhs], done[e.rhs]) if isinstance(e, Binary) else leaf(e)
    return done[root]


def substitute(root: Expr, values: Mapping[str, Expr]) -> Expr:
    """Replace variables by expressions, all at once. Simplifies nothing."""
    if root.free.isdisjoint(values):
        return root
    return rebuild(root, lambda e: values.get(e.name, e) if isinstance(e, Var) else e, Binary)


def to_table(root: Expr) -> tuple[tuple[Any, ...], ...]:
    """A flat form: one row per distinct node, children by row number. Equal tables mean equal expressions."""
    rows: dict[Expr, int] = {}
    table: list[tuple[Any, ...]] = []
    for e in postorder(root):
        match e:
            case Const(value):
                table.append((value,))
            case Var(name):
                table.append((name,))
            case Binary(op, lhs, rhs):
                table.append((op, rows[lhs], rows[rhs]))
        rows[e] = len(table) - 1
    return tuple(table)


def _from_table(table: tuple[tuple[Any, ...], ...]) -> Expr:
    nodes: list[Expr] = []
    for row in table:
        if len(row) == 3:
            nodes.append(Binary(row[0], nodes[row[1]], nodes[row[2]]))
        else:
            nodes.append(Const(row[0]) if isinstance(row[0], int) else Var(row[0]))
    return nodes[-1]


def to_text(root: Expr, names: Mapping[str, str] | None = None, floordiv: str = "/") -> str:
    """XLA's spelling: `d0 * 2 + s0 - 1`, `(d0 + s0) / 2`, `(v0 mod 2) * 4`, `max(d0, 0)`.

    `names` renames variables for display. Sums print without parentheses on the left; every other nested operand
    that is itself a sum, product or division is parenthesised, except the product inside a sum.
    """
    names = names or {}
    done: dict[Expr, str] = {}

    def wrap(e: Expr) -> str:
        bare = not isinstance(e, Binary) or e.op in ("min", "max")
        return done[e] if bare else f"({done[e]})"

    for e in postorder(root):
        match e:
            case Const(value):
                done[e] = str(value)
            case Var(name):
                done[e] = names.get(name, name)
            case Binary("min" | "max" as op, lhs, rhs):
                done[e] = f"{op}({done[lhs]}, {done[rhs]})"
            case Binary("+", lhs, rhs):
                done[e] = _sum_text(lhs, rhs, done, wrap)
            case Binary("*", lhs, Const(-1)):
                done[e] = f"-{wrap(lhs)}"
            case Binary(op, lhs, rhs):
                sign = floordiv if op == "floordiv" else op
                done[e] = f"{wrap(lhs)} {sign} {wrap(rhs)}"
    return done[root]


def _sum_text(lhs: Expr, rhs: Expr, done: Mapping[Expr, str], wrap: Callable[[Expr], str]) -> str:
    left = done[lhs]
    match rhs:
        case Const(value) if value < 0:
            return f"{left} - {-value}"
        case Binary("*", factor, Const(-1)):
            return f"{left} - {wrap(factor)}"
        case Binary("*", factor, Const(value)) if value < 0:
            return f"{left} - {wrap(factor)} * {-value}"
        case Binary("+", _, _):
            return f"{left} + ({done[rhs]})"
        case _:
            return f"{left} + {done[rhs]}"
