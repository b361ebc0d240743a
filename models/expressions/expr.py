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
Comparator = Literal["==", "!=", "<=", "<"]
"""How two expressions are compared; `>` and `>=` are written the other way round."""
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
    """The expression min(lhs, rhs), as it is: nothing is folded."""
    return Binary("min", lift(lhs), lift(rhs))


def maximum(lhs: Expr | int, rhs: Expr | int) -> Expr:
    """The expression max(lhs, rhs), as it is: nothing is folded."""
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

    `names` renames variables for display. Operands of products and divisions that are themselves sums, products or
    divisions are parenthesised; so is a sum on the right of `+` and `-`. A constant factor that is negative is shown as
    a subtraction where it stands on the right of `+`.
    """
    names = names or {}
    out: list[str] = []
    todo: list[Expr | str] = [root]
    while todo:
        e = todo.pop()
        match e:
            case str():
                out.append(e)
            case Const(value):
                out.append(decimal(value))
            case Var(name):
                out.append(names.get(name, name))
            case Binary("min" | "max" as op, lhs, rhs):
                todo += (")", rhs, ", ", lhs, f"{op}(")
            case Binary("+", lhs, rhs):
                todo += reversed((lhs, *_right_of_sum(rhs)))
            case Binary("*", Var() | Binary() as factor, Const(-1)):
                todo += reversed(("-", *_operand(factor)))
            case Binary(op, lhs, rhs):
                todo += reversed((*_operand(lhs), f" {floordiv if op == 'floordiv' else op} ", *_operand(rhs)))
    return "".join(out)


def decimal(value: int) -> str:
    """The decimal digits of any integer, however long (str() refuses beyond some thousands)."""
    if value.bit_length() < 10_000:
        return str(value)
    sign, value = ("-", -value) if value < 0 else ("", value)
    chunk, parts = 10**3000, list[str]()
    while value >= chunk:
        value, low = divmod(value, chunk)
        parts.append(f"{low:03000d}")
    return sign + str(value) + "".join(reversed(parts))


def _operand(e: Expr) -> tuple[Expr | str, ...]:
    """An operand of a tightly binding operator, in parentheses where it needs them."""
    return ("(", e, ")") if isinstance(e, Binary) and e.op not in ("min", "max") else (e,)


def _right_of_sum(rhs: Expr) -> tuple[Expr | str, ...]:
    """What follows the left side of a sum: the sign, and the right side without it."""
    match rhs:
        case Const(value) if value < 0:
            return (f" - {decimal(-value)}",)
        case Binary("*", Binary("+") as factor, Const(-1)):
            return (" - (", factor, ")")
        case Binary("*", Binary("*", _, Const(inner)) as factor, Const(-1)) if inner > 0:
            # Without parentheses this would read as one product with a negative constant.
            return (" - (", factor, ")")
        case Binary("*", Var() | Binary() as factor, Const(-1)):
            return (" - ", factor)
        case Binary("*", factor, Const(value)) if value < -1:
            return (" - ", *_operand(factor), f" * {decimal(-value)}")
        case Binary("+"):
            return (" + (", rhs, ")")
        case _:
            return (" + ", rhs)
