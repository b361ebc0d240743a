"""The element rules read what the definitions of the operations say, each element as often: the rules that two modules
are compared by, held against the predicates that maps are proved by."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from typing import Any

import pytest
from test_equivalence_elements import ADD, OPERATIONS, OVERWRITE, form, nested

from hloproof.definitions import define
from hloproof.equivalence import decide
from hloproof.equivalence.elements import unfold
from hloproof.equivalence.indices import constant
from hloproof.equivalence.reading import GraphReader
from hloproof.equivalence.terms import App, Cond, Elem, Fold, Term, TermSubstitution
from hloproof.logic.evaluate import holds
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ArrayShape

Reads = Counter[tuple[int, tuple[int, ...]]]
"""How often each element of each parameter is read."""

COMPARED = [
    "broadcast",
    "reshape",
    "reshape with ones",
    "transpose",
    "reverse",
    "slice",
    "pad",
    "pad that crops",
    "concatenate",
    "dynamic-slice",
    "gather",
    "gather of windows",
    "reduce",
    "reduce-window",
    "dot",
    "convolution",
]


def reads(term: Term, inputs: list[Any], found: Reads) -> None:
    """What a term without free variables reads."""
    match term:
        case Elem(node, at):
            index = tuple(form(x, inputs, {}) for x in at)
            if node.head == "parameter":
                found[node.key[0], index] += 1
                return
            inner = unfold(node, at, 0)
            assert inner is not None, node
            reads(inner, inputs, found)
        case Cond(test, then, other):
            reads(then if form(test, inputs, {}) >= 0 else other, inputs, found)
        case App(args=args):
            for a in args:
                reads(a, inputs, found)
        case Fold(_, _, place, sizes, bodies, _):
            for point in product(*map(range, sizes)):
                at_point = TermSubstitution({place + k: constant(i) for k, i in enumerate(point)})
                for body in bodies:
                    reads(at_point(body), inputs, found)


def stated(op: Operation, operand: int, at: tuple[int, ...], inputs: list[Any]) -> Counter[tuple[int, ...]]:
    """How often the definition reads each element of an operand, by enumeration."""
    definition = define(op, 0, operand)
    values = {f"d{k}": i for k, i in enumerate(at)}
    out: Counter[tuple[int, ...]] = Counter()
    for k, read in enumerate(definition.runtime):
        value: Any = inputs[read.operand]
        for e in read.index:
            value = value[evaluate(e, values)]
        values[f"r{k}"] = min(max(value, read.interval.lower), read.interval.upper) if read.clamped else value
    names = [name for name, _ in definition.iteration]
    spans = [range(i.lower, i.upper + 1) for _, i in definition.iteration]
    for x in product(*map(range, definition.operand_sizes)):
        point = {**values, **{f"x{k}": i for k, i in enumerate(x)}}
        for w in product(*spans):
            if holds(definition.predicate, {**point, **dict(zip(names, w, strict=True))}):
                out[x] += 1
    return out


@pytest.mark.parametrize("name", COMPARED)
def test_an_element_reads_what_the_definition_says(name: str) -> None:
    module = parse_module(f"HloModule m\n{ADD}{OVERWRITE}ENTRY e {{\n{OPERATIONS[name]}\n}}\n")
    (node,) = GraphReader().read(module, 0).results
    entry, root = module.entry, module.entry.root
    op = Operation(root.opcode, root.shape, entry.operand_shapes(root), root.attributes)
    source = random.Random(name)
    inputs: list[Any] = []
    for parameter in entry.parameters:
        assert isinstance(parameter.shape, ArrayShape)
        index = parameter.name in "ij"
        inputs.append(nested(parameter.shape.dimensions, source, -2 if index else -9, 7 if index else 9))
    numbers = [entry.by_name[o].parameter_number for o in root.operands]
    told = [k for k in range(len(op.operands)) if numbers[k] is not None and define(op, 0, k).multiplicity]
    told = [k for k in told if entry.by_name[root.operands[k]].name not in "ij"]
    points = list(product(*map(range, node.sizes)))
    for at in random.Random(0).sample(points, min(len(points), 12)):
        seen: Reads = Counter()
        reads(Elem(node, tuple(constant(i) for i in at)), inputs, seen)
        want: Reads = Counter()
        for k in told:
            for x, times in stated(op, k, at, inputs).items():
                want[numbers[k] or 0, x] += times
        assert {key: n for key, n in seen.items() if key[0] in {numbers[k] for k in told}} == dict(want), at


NORMAL = """HloModule m
ENTRY e {{
  x = f32[2,3] parameter(0)
  s = f32[3] parameter(1)
  o = f32[3] parameter(2)
  m = f32[3] parameter(3)
  v = f32[3] parameter(4)
  ROOT r = f32[2,3] batch-norm-inference(x, s, o, m, v), epsilon={}, feature_index=1
}}
"""


@pytest.mark.parametrize(("one", "two", "same"), [("0", "-0", False), ("0", "0.0", True), ("1e-3", "0.001", True)])
def test_zero_and_negative_zero_are_two_numbers_of_an_attribute(one: str, two: str, same: bool) -> None:
    """A variance of -0 has 0 or -0 with them, and the root of its reciprocal another sign."""
    before, after = (parse_module(NORMAL.format(e)) for e in (one, two))
    found = decide(before, after, "exact")
    assert (found.verdict.value == "proved") == same
