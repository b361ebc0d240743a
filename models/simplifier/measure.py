"""The measure that every rewriting step makes smaller, so that simplification ends on every input.

A sum is measured by four numbers that add up over its terms, compared in this order:

1. operations: divisions, remainders, min and max (ceildiv counts three, since it becomes floordiv);
2. depth: a variable counts 3, `x floordiv c` twice x plus one, `x mod c` twice x plus two, so that moving a term out of
   a division, or a remainder out of a division, counts as progress;
3. divisors: their absolute values, one more where negative;
4. signs: divisions of sums whose first coefficient is negative;

and, where all four are equal, by the sizes of the numbers inside divisions, the innermost compared first. Each is
monotone: a smaller part makes the whole smaller. Numbers outside all divisions do not count, because a step may
multiply them.
"""

from __future__ import annotations

from typing import Final

from hloproof.models.expressions.expr import Binary, Const
from hloproof.models.simplifier.linear import Atom, Linear, linear_of

Measure = tuple[int, int, int, int]

_LIMIT: Final = 300_000
_atoms: dict[Atom, Measure] = {}


def measure(s: Linear) -> Measure:
    """The four numbers of a sum."""
    ops = depth = divisors = signs = 0
    for atom, _ in s.terms:
        a = _atoms.get(atom)
        if a is None:
            a = _measure_below(atom)
        ops += a[0]
        depth += a[1]
        divisors += a[2]
        signs += a[3]
    return ops, depth, divisors, signs


def smaller(after: Linear, before: Linear) -> bool:
    """`after` is smaller than `before`."""
    a, b = measure(after), measure(before)
    if a != b:
        return a < b
    x, y = _numbers(after), _numbers(before)
    size = max(len(x), len(y))
    return [0] * (size - len(x)) + x < [0] * (size - len(y)) + y


def _measure_below(root: Atom) -> Measure:
    stack: list[Atom] = [root]
    if len(_atoms) > _LIMIT:
        _atoms.clear()
    while stack:
        atom = stack[-1]
        if isinstance(atom, Binary):
            due = [a for e in (atom.lhs, atom.rhs) for a, _ in linear_of(e).terms if a not in _atoms]
            if due:
                stack += due
                continue
        _atoms[atom] = _measure(atom)
        stack.pop()
    return _atoms[root]


def _measure(atom: Atom) -> Measure:
    if not isinstance(atom, Binary):
        return 0, 3, 0, 0
    lhs, rhs = linear_of(atom.lhs), linear_of(atom.rhs)
    ops, depth, divisors, signs = measure(lhs)
    r = measure(rhs)
    ops, divisors, signs = ops + r[0], divisors + r[2], signs + r[3]
    match atom.op:
        case "floordiv" | "ceildiv" | "mod":
            ops += 3 if atom.op == "ceildiv" else 1
            depth = 2 * depth + (2 if atom.op == "mod" else 1) + 2 * r[1]
            if isinstance(atom.rhs, Const):
                divisors += abs(atom.rhs.value) + (atom.rhs.value < 0)
            if atom.op == "floordiv" and lhs.terms and lhs.terms[0][1] < 0:
                signs += 1
        case "min" | "max":
            ops, depth = ops + 1, depth + r[1] + 1
        case _:
            depth += r[1] + 1
    return ops, depth, divisors, signs


def _numbers(s: Linear) -> list[int]:
    """Sizes of numbers by nesting depth, innermost first; the outermost level left out."""
    levels: list[int] = []
    here = [(s, 0)]
    while here:
        total = 0
        below: list[tuple[Linear, int]] = []
        for inner, divisor in here:
            if divisor:
                k = inner.const
                total += k if 0 <= k < divisor else abs(k) + divisor
            else:
                total += 2 * abs(inner.const) + (inner.const < 0)
            for atom, c in inner.terms:
                total += 2 * abs(c) + (c < 0)
                if isinstance(atom, Binary):
                    by = atom.rhs.value if isinstance(atom.rhs, Const) and atom.op in ("floordiv", "mod") else 0
                    below.append((linear_of(atom.lhs), max(by, 0)))
                    if not isinstance(atom.rhs, Const):
                        below.append((linear_of(atom.rhs), 0))
        levels.append(total)
        here = below
    return levels[:0:-1]
