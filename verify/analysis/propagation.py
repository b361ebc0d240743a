"""Tile propagation: the tile of an operand that a tile of the output needs.

The output is cut into tiles; along dimension i tile number b_i covers the indices b_i * size_i, ... of which the last
tile may stick out. For each operand dimension the answer is a progression: an offset over the tile's position b0, b1,
..., a number of steps and a stride. It encloses every element that a whole tile reads, which is proved; where it is
called exact, every one of its elements is read, which is proved too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from models.bounds import range_of
from models.expr import Binary, Const, Expr, Var, postorder, substitute, to_text
from models.indexing_map import IndexingMap
from models.interval import Interval
from verify.budget import DEFAULT, Budget
from verify.formula import Exists, Formula, conj, eq, le, within
from verify.obligation import Obligation
from verify.portfolio import prove


@dataclass(frozen=True)
class Progression:
    """offset, offset + stride, ..., of `size` values; `moving` are the variables inside the tile that make them."""

    offset: Expr
    size: int
    stride: int
    exact: bool
    moving: frozenset[str] = frozenset()


@dataclass(frozen=True)
class TileDimension:
    """What a tile needs of one operand dimension. `exact` and `enclosing` are verdicts of proofs."""

    offset: Expr
    size: int
    stride: int
    exact: bool
    enclosing: str
    engines: tuple[str, ...] = ()
    moving: frozenset[str] = frozenset()
    """Variables inside the tile that this dimension follows."""

    def __str__(self) -> str:
        what = "exactly" if self.exact else "at most"
        step = f", stride {self.stride}" if self.stride != 1 else ""
        return f"{what} {self.size} from {to_text(self.offset)}{step}"


def operand_tile(m: IndexingMap, tile: Sequence[int], budget: Budget = DEFAULT) -> tuple[TileDimension, ...]:
    """The operand tile that a tile of the output needs through one map.

    `tile` gives a size for each output dimension, at least 1; a tile larger than the dimension is cut down to it.
    Raises ValueError when the numbers of sizes and dims differ.
    """
    if len(tile) != len(m.dims) or any(t < 1 for t in tile):
        raise ValueError(f"a tile of {len(m.dims)} sizes is needed, each at least 1: {tuple(tile)}")
    inside = _Inside(m, [min(t, max(1, v.interval.upper + 1)) for t, v in zip(tile, m.dims, strict=True)])
    return tuple(inside.dimension(e, budget) for e in m.results)


def is_exact(dimensions: Sequence[TileDimension]) -> bool:
    """The whole operand tile is read, not only each dimension's progression: no two dimensions follow one variable."""
    seen: set[str] = set()
    for d in dimensions:
        if not d.exact or seen & d.moving:
            return False
        seen |= d.moving
    return True


class _Inside:
    """A map with its dims split into the tile's position and the place inside the tile."""

    def __init__(self, m: IndexingMap, tile: Sequence[int]) -> None:
        self.m = m
        self.split: dict[str, Expr] = {}
        self.outer: dict[str, Interval] = {}
        self.inner: dict[str, Interval] = {}
        for i, (t, v) in enumerate(zip(tile, m.dims, strict=True)):
            count = max(1, v.interval.upper // t + 1)
            if count == 1:
                self.split[f"d{i}"] = Var(f"u{i}")
            elif t == 1:
                self.split[f"d{i}"] = Var(f"b{i}")
            else:
                self.split[f"d{i}"] = Var(f"b{i}") * t + Var(f"u{i}")
            self.outer[f"b{i}"] = Interval.of_size(count)
            self.inner[f"u{i}"] = Interval.of_size(t if count > 1 else v.interval.upper + 1)
        self.inner |= {f"s{j}": v.interval for j, v in enumerate(m.ranges)}
        self.outer |= {f"rt{k}": v.interval for k, v in enumerate(m.runtime)}

    def dimension(self, e: Expr, budget: Budget) -> TileDimension:
        placed = substitute(e, self.split)
        found = self.progression(placed)
        enclosing = prove(self._encloses(placed, found), budget)
        exact = False
        if found.exact and enclosing.verdict == "proved":
            exact = prove(self._onto(placed, found), budget).verdict == "proved"
        return TileDimension(
            found.offset, found.size, found.stride, exact, enclosing.verdict, enclosing.engines, found.moving
        )

    def progression(self, root: Expr) -> Progression:
        """The values of an expression while the tile's position is fixed, or an enclosing interval."""
        done: dict[Expr, Progression] = {}
        for e in postorder(root):
            if isinstance(e, Const):
                done[e] = Progression(e, 1, 1, True)
            elif isinstance(e, Var) and e.name in self.inner:
                interval = self.inner[e.name]
                moving = frozenset((e.name,)) if interval.count > 1 else frozenset[str]()
                done[e] = Progression(Const(interval.lower), max(1, interval.count), 1, True, moving)
            elif isinstance(e, Var):
                done[e] = Progression(e, 1, 1, True)
            elif isinstance(e, Binary):
                done[e] = self._binary(e, done[e.lhs], done[e.rhs])
        return done[root]

    def _binary(self, e: Binary, x: Progression, y: Progression) -> Progression:
        if x.size == 1 and y.size == 1:
            return Progression(_folded(Binary(e.op, x.offset, y.offset)), 1, 1, True)
        if e.op == "+":
            return _sum(x, y)
        if e.op == "*" and isinstance(e.rhs, Const):
            return _times(x, e.rhs.value)
        if e.op == "*" and isinstance(e.lhs, Const):
            return _times(y, e.lhs.value)
        if e.op in ("floordiv", "mod") and isinstance(e.rhs, Const) and e.rhs.value > 0 and x.stride == 1:
            found = self._cut(e.op, x, e.rhs.value)
            if found is not None:
                return found
        return self._interval(e, x.moving | y.moving)

    def _cut(self, op: str, x: Progression, c: int) -> Progression | None:
        """Quotient or remainder by c of consecutive values that start at a multiple of c or stay in one block of c."""
        factor = _known_factor(x.offset)
        if factor % c == 0 and x.size % c == 0:  # Whole blocks.
            if op == "mod":
                return Progression(Const(0), c, 1, x.exact, x.moving)
            return Progression(_folded(x.offset // c), x.size // c, 1, x.exact, x.moving)
        if (factor and c % factor == 0 and x.size <= factor) or (factor % c == 0 and x.size <= c):
            # Part of one block.
            if op == "mod":
                return Progression(_folded(x.offset % c), x.size, 1, x.exact, x.moving)
            return Progression(_folded(x.offset // c), 1, 1, x.exact, frozenset())
        if op == "floordiv" and factor % c == 0:
            return Progression(_folded(x.offset // c), (x.size + c - 1) // c, 1, x.exact, x.moving)
        return None

    def _interval(self, e: Expr, moving: frozenset[str]) -> Progression:
        """An enclosing interval from bounds alone, for all positions of the tile together."""
        possible = range_of(e, {**self.outer, **self.inner})
        return Progression(Const(possible.lower), max(1, possible.count), 1, False, moving)

    def _hypothesis(self) -> Formula:
        """The point lies in the map's domain."""
        dims = [within(self.split[f"d{i}"], v.interval) for i, v in enumerate(self.m.dims)]
        return conj(*dims, *(within(substitute(c.expr, self.split), c.interval) for c in self.m.constraints))

    def _encloses(self, placed: Expr, found: Progression) -> Obligation:
        """Every value read is one of the progression."""
        step = placed - found.offset
        parts = [within(step, Interval(0, (found.size - 1) * found.stride))]
        if found.stride > 1:
            parts.append(eq(step % found.stride, 0))
        variables = tuple({**self.outer, **self.inner}.items())
        return Obligation(variables, conj(*parts), self._hypothesis(), "the operand tile holds all that is read")

    def _onto(self, placed: Expr, found: Progression) -> Obligation:
        """Every value of the progression is read by every whole tile, for some place inside it."""
        place = Var("k")
        inner = tuple((n, i) for n, i in self.inner.items())
        whole_tile = []
        for i, v in enumerate(self.m.dims):
            last = substitute(self.split[f"d{i}"], {f"u{i}": Const(self.inner[f"u{i}"].upper)})
            first = substitute(self.split[f"d{i}"], {f"u{i}": Const(0)})
            whole_tile += [le(v.interval.lower, first), le(last, v.interval.upper)]
        goal = Exists(inner, conj(eq(placed, found.offset + place * found.stride), self._hypothesis()))
        variables = (*self.outer.items(), ("k", Interval.of_size(found.size)))
        return Obligation(tuple(variables), goal, conj(*whole_tile), "all of the operand tile is read")


def _sum(x: Progression, y: Progression) -> Progression:
    offset = _folded(x.offset + y.offset)
    if x.size == 1 or y.size == 1:
        moving = y if x.size == 1 else x
        return Progression(offset, moving.size, moving.stride, x.exact and y.exact, moving.moving)
    stride = gcd(x.stride, y.stride)
    span = (x.size - 1) * x.stride + (y.size - 1) * y.stride
    fine, coarse = (x, y) if x.stride <= y.stride else (y, x)
    # The fine one must reach the next place of the coarse one.
    filled = fine.stride == stride and coarse.stride <= (fine.size - 1) * fine.stride + stride
    apart = not x.moving & y.moving
    exact = x.exact and y.exact and filled and apart
    return Progression(offset, span // stride + 1, stride, exact, x.moving | y.moving)


def _times(x: Progression, factor: int) -> Progression:
    if factor == 0:
        return Progression(Const(0), 1, 1, True)
    if factor > 0:
        return Progression(_folded(x.offset * factor), x.size, x.stride * factor, x.exact, x.moving)
    low = x.offset * factor + (x.size - 1) * x.stride * factor
    return Progression(_folded(low), x.size, -factor * x.stride, x.exact, x.moving)


def _known_factor(e: Expr) -> int:
    """A number that divides every value of e; 0 for the constant 0."""
    done: dict[Expr, int] = {}
    for node in postorder(e):
        if isinstance(node, Const):
            done[node] = abs(node.value)
        elif isinstance(node, Binary) and node.op == "+":
            done[node] = gcd(done[node.lhs], done[node.rhs])
        elif isinstance(node, Binary) and node.op == "*":
            done[node] = done[node.lhs] * done[node.rhs]
        else:
            done[node] = 1
    return done[e]


def _folded(e: Expr) -> Expr:
    """e with constants folded and neutral terms left out; enough for offsets to read well."""
    match e:
        case Binary("+", x, Const(0)) | Binary("+", Const(0), x) | Binary("*", x, Const(1)):
            return x
        case Binary("+", Const(a), Const(b)):
            return Const(a + b)
        case Binary("*", Const(a), Const(b)):
            return Const(a * b)
        case Binary("*", _, Const(0)) | Binary("floordiv" | "mod", Const(0), _):
            return Const(0)
        case Binary("+", Binary("+", x, Const(a)), Const(b)):
            return _folded(Binary("+", x, Const(a + b)))
        case Binary("*", Binary("*", x, Const(a)), Const(b)):
            return _folded(Binary("*", x, Const(a * b)))
        case Binary("floordiv", Binary("*", x, Const(a)), Const(b)) if b > 0 and a % b == 0:
            return _folded(Binary("*", x, Const(a // b)))
        case Binary("floordiv", Binary("*", x, Const(a)), Const(b)) if a > 0 and b > 0 and b % a == 0:
            return _folded(Binary("floordiv", x, Const(b // a)))
        case Binary("floordiv", x, Const(1)):
            return x
        case Binary("mod", Binary("*", _, Const(a)), Const(b)) if b and a % b == 0:
            return Const(0)
    return e
