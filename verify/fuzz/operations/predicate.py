"""Definitions evaluated by counting: which operand elements each output element reads, and how often.

A predicate is turned into a Python function, since campaigns try it at millions of points.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any

from hloproof.definitions.definition import Definition
from hloproof.logic.formula import And, Compare, Exists, Formula, Not, Or
from hloproof.models.expressions.python_text import python_term
from hloproof.models.hlo.shape import Index

Read = Callable[[int, Index], int]
"""The value of an integer operand at an index."""


def python_expression(formula: Formula) -> str:
    """The formula as a Python expression over its variables' names."""
    match formula:
        case Compare(op, lhs, rhs):
            return f"({python_term(lhs)} {op} {python_term(rhs)})"
        case And(parts):
            return "(" + " and ".join(python_expression(p) for p in parts) + ")" if parts else "True"
        case Or(parts):
            return "(" + " or ".join(python_expression(p) for p in parts) + ")" if parts else "False"
        case Not(part):
            return f"(not {python_expression(part)})"
        case Exists(variables, part):
            loops = " ".join(f"for {name} in range({i.lower}, {i.upper + 1})" for name, i in variables)
            return f"any({python_expression(part)} {loops})" if variables else python_expression(part)


def count_reads(definition: Definition, read: Read, own: int = 0) -> Counter[tuple[Index, Index, int]]:
    """How often each output index reads each operand index of the device at each position of the group.

    `own` is the position of the reader. Raises ZeroDivisionError where the definition divides by zero.
    """
    dims = [f"d{k}" for k in range(len(definition.output_sizes))]
    elements = [f"x{k}" for k in range(len(definition.operand_sizes))]
    ranges = [name for name, _ in definition.iteration]
    runtime = [f"r{k}" for k in range(len(definition.runtime))]
    names = [*dims, *elements, *ranges, *runtime, "p", "q"]
    scope: dict[str, Any] = {"any": any, "range": range, "min": min, "max": max}
    test = eval(f"lambda {', '.join(names)}: {python_expression(definition.predicate)}", scope)
    taken = ", ".join([*dims, *elements, *ranges])
    reads = [
        eval(f"lambda {taken}: ({''.join(python_term(e) + ', ' for e in r.index)})", scope) for r in definition.runtime
    ]
    found: Counter[tuple[Index, Index, int]] = Counter()
    positions = range(definition.group_size) if definition.group_size else (0,)
    iteration = list(product(*(range(i.lower, i.upper + 1) for _, i in definition.iteration)))
    for d in product(*(range(n) for n in definition.output_sizes)):
        for w in iteration:
            for x in product(*(range(n) for n in definition.operand_sizes)):
                values = []
                for r, index in zip(definition.runtime, reads, strict=True):
                    value = read(r.operand, index(*d, *x, *w))
                    values.append(max(r.interval.lower, min(value, r.interval.upper)) if r.clamped else value)
                for q in positions:
                    if test(*d, *x, *w, *values, own, q):
                        found[d, x, q] += 1
    return found
