"""What maps read, by evaluation: at single points, and as a loop over the places of a warp."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from random import Random

from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const, Expr
from hloproof.models.expressions.python_text import compiled, python_text
from hloproof.models.indexing.composition.sizes import operand_number
from hloproof.models.interpreter.maps import points as points_of
from hloproof.models.maps.indexing_map import IndexingMap, RuntimeVariable


def any_contents(m: IndexingMap) -> bool:
    """Whether all that a map reads at run time may be anything: elements of one array that is given, each read by one
    variable, and no value that is computed, of which nobody knows what it may hold."""
    used = frozenset[str]().union(*(e.free for e in m.results), *(c.expr.free for c in m.constraints))
    read = [v for k, v in enumerate(m.runtime) if f"rt{k}" in used]
    apart = all(_are_two(a, b) for a, b in combinations(read, 2))
    return len({v.provider for v in read}) <= 1 and apart and all(map(_is_given, read))


def _are_two(a: RuntimeVariable, b: RuntimeVariable) -> bool:
    """Whether two variables read two elements of their array wherever they are asked, as one coordinate says."""
    if a.index is None or b.index is None:
        return False
    pairs = zip(a.index.results, b.index.results, strict=False)
    return any(isinstance(x, Const) and isinstance(y, Const) and x.value != y.value for x, y in pairs)


def _is_given(v: RuntimeVariable) -> bool:
    given = any(operand_number(v.provider or "", word) is not None for word in ("operand", "parameter"))
    return given and (v.index is None or not v.index.runtime)


class Requests:
    """An expression over a map, evaluated for all values of one dim at once.

    What runtime variables read is made up, one number per element and contents; a variable whose index is not known, or
    is looked up by another, has no value, and then nothing is read.
    """

    def __init__(self, m: IndexingMap, value: Expr, place: int) -> None:
        self._m, self._place = m, place
        self._known = all(v.index is not None and not v.index.runtime for v in m.runtime)
        self._loop = _loop(m, value, place)

    def at(self, others: Sequence[int], contents: int = 0) -> dict[int, int]:
        """Value by place, where the other dims and the range variables have these values. Places outside of the domain
        are left out. Raises NotModelled where a divisor is zero."""
        if not self._known:
            return {}
        try:
            return self._loop(*others, lambda k, *at: self._held(k, at, contents))
        except ZeroDivisionError as error:
            raise NotModelled("a divisor that is zero") from error

    def _held(self, k: int, at: tuple[int, ...], contents: int) -> int:
        v = self._m.runtime[k]
        assert v.index is not None
        dims, ranges = at[: len(self._m.dims)], at[len(self._m.dims) :]
        own = ranges[: len(v.index.ranges)]
        for found, element, _ in points_of(v.index, dims):
            if found == own:
                whole = [w.interval for w in self._m.runtime if w.provider == v.provider]
                low, high = min(i.lower for i in whole), max(i.upper for i in whole)
                held = Random(repr((v.provider, element, contents))).randint(low, high)
                return max(v.interval.lower, min(held, v.interval.upper))
        return v.interval.lower


def value_at(m: IndexingMap, value: Expr) -> Callable[[Mapping[str, int]], int | None]:
    """An expression over the variables of a map at points of the domain; None outside of it, and where it divides by
    zero."""
    names = [n for n, _ in m.intervals()]
    lines = [f"def at({', '.join(names)}):"]
    for n, c in enumerate(m.constraints):
        steps, (name,) = python_text([c.expr], f"c{n}_")
        lines += [*steps, f"if not {c.interval.lower} <= {name} <= {c.interval.upper}: return None"]
    steps, (name,) = python_text([value], "t")
    made = compiled([lines[0], *(f"  {line}" for line in (*lines[1:], *steps, f"return {name}"))])

    def at(values: Mapping[str, int]) -> int | None:
        try:
            found: int | None = made(*(values[n] for n in names))
        except ZeroDivisionError:
            found = None
        return found

    return at


def _loop(m: IndexingMap, value: Expr, place: int) -> Callable[..., dict[int, int]]:
    """A Python function of the other dims, the range variables and `read`, made from the expressions as they stand."""
    names = [n for n, _ in m.intervals() if not n.startswith("rt")]
    own = f"d{place}"
    interval = m.dims[place].interval
    lines = [f"def at({', '.join([*(n for n in names if n != own), 'read'])}):", "  found = {}"]
    lines.append(f"  for {own} in range({interval.lower}, {interval.upper + 1}):")
    body: list[str] = []
    for k in range(len(m.runtime)):
        body.append(f"rt{k} = read({k}, {', '.join(names)})")
    for n, c in enumerate(m.constraints):
        steps, (name,) = python_text([c.expr], f"c{n}_")
        body += [*steps, f"if not {c.interval.lower} <= {name} <= {c.interval.upper}: continue"]
    steps, (name,) = python_text([value], "t")
    body += [*steps, f"found[{own}] = {name}"]
    lines += [f"    {line}" for line in body]
    lines.append("  return found")
    return compiled(lines)
