"""The element rules say what the interpreter computes: each element of small operations, unfolded down to the inputs
and summed by hand, is the element of the interpreter's result. Index arithmetic is compared with enumeration."""

from __future__ import annotations

import random
from itertools import product
from typing import Any, assert_never

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hloproof.equivalence.elements import unfold
from hloproof.equivalence.elements_indexed import NOTHING
from hloproof.equivalence.evaluation import attributes_of
from hloproof.equivalence.indices import Clamp, Digit, Lin, TermValue, Var, clamp, constant, variable
from hloproof.equivalence.reading import GraphReader
from hloproof.equivalence.reductions import combiner
from hloproof.equivalence.terms import App, Cond, Elem, Fold, Lit, Num, Term, TermSubstitution, type_of, value_of
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.interpreter.run import run_module
from hloproof.models.interpreter.semantics.real import Real

ADD = "add { x = s32[] parameter(0)\n y = s32[] parameter(1)\n ROOT z = s32[] add(x, y) }\n"
OVERWRITE = "last { x = s32[] parameter(0)\n ROOT y = s32[] parameter(1) }\n"


def form(x: Lin, inputs: list[Any], point: dict[int, int]) -> int:
    total = x.constant
    for atom, c in x.terms.items():
        match atom:
            case Var(place, _):
                value = point[place]
            case Digit(of, divisor, modulus):
                value = form(of, inputs, point) // divisor
                value = value % modulus if modulus else value
            case Clamp(of, lo, hi):
                value = min(max(form(of, inputs, point), lo), hi)
            case TermValue(term):
                value = int(element(term, inputs))
            case _:
                assert_never(atom)
        total += c * value
    return total


def element(term: Term, inputs: list[Any]) -> Any:
    """The value of a term without free variables."""
    match term:
        case Elem(node, at):
            index = [form(x, inputs, {}) for x in at]
            if node.head == "parameter":
                value = inputs[node.key[0]]
                for i, n in zip(index, node.sizes, strict=True):
                    assert 0 <= i < n
                    value = value[i]
                return value
            found = unfold(node, at, 0)
            assert found is not None, node
            return element(found, inputs)
        case Num() | Lit():
            return value_of(term) if not isinstance(term, Num) else form(term.form, inputs, {})
        case Cond(test, then, other):
            return element(then if form(test, inputs, {}) >= 0 else other, inputs)
        case App(op, type_, args, key):
            if op == NOTHING:
                return None
            return Real().function(op, [type_of(a) for a in args], type_, attributes_of(key))(
                *(element(a, inputs) for a in args)
            )
        case Fold(head, _, place, sizes, bodies, sides):
            total = element(sides[0], inputs) if sides else 0
            for point in product(*map(range, sizes)):
                at_point = TermSubstitution({place + k: constant(i) for k, i in enumerate(point)})
                values = [element(at_point(b), inputs) for b in bodies]
                if head[0] == "contract":
                    total += values[0] * values[1]
                elif values[0] is not None:
                    total = total + values[0] if combiner(term) == "add" else values[0]
            return total


S = "s32"
OPERATIONS = {
    "broadcast": "p = s32[3] parameter(0)\n ROOT r = s32[2,3,2] broadcast(p), dimensions={1}",
    "reshape": "p = s32[4,6] parameter(0)\n ROOT r = s32[3,8] reshape(p)",
    "reshape with ones": "p = s32[1,4,6] parameter(0)\n ROOT r = s32[2,1,12] reshape(p)",
    "transpose": "p = s32[2,3,4] parameter(0)\n ROOT r = s32[4,2,3] transpose(p), dimensions={2,0,1}",
    "reverse": "p = s32[2,3] parameter(0)\n ROOT r = s32[2,3] reverse(p), dimensions={1}",
    "slice": "p = s32[9] parameter(0)\n ROOT r = s32[3] slice(p), slice={[1:9:3]}",
    "pad": "p = s32[3] parameter(0)\n z = s32[] parameter(1)\n ROOT r = s32[9] pad(p, z), padding=2_2_1",
    "pad that crops": "p = s32[4] parameter(0)\n z = s32[] parameter(1)\n ROOT r = s32[6] pad(p, z), padding=-1_0_1",
    "concatenate": "p = s32[2] parameter(0)\n q = s32[3] parameter(1)\n ROOT r = s32[7] concatenate(p, q, p), "
    "dimensions={0}",
    "iota": "p = s32[2,3] parameter(0)\n i = s32[2,3] iota(), iota_dimension=1\n ROOT r = s32[2,3] add(p, i)",
    "constant": "p = s32[4] parameter(0)\n c = s32[4] constant({3,5,7,9})\n ROOT r = s32[4] multiply(p, c)",
    "bitcast": "p = s32[2,3]{0,1} parameter(0)\n ROOT r = s32[3,2]{1,0} bitcast(p)",
    "dynamic-slice": "p = s32[3,5] parameter(0)\n i = s32[] parameter(1)\n j = s32[] parameter(2)\n"
    " ROOT r = s32[2,2] dynamic-slice(p, i, j), dynamic_slice_sizes={2,2}",
    "dynamic-update-slice": "p = s32[3,5] parameter(0)\n u = s32[2,2] parameter(1)\n i = s32[] parameter(2)\n"
    " j = s32[] parameter(3)\n ROOT r = s32[3,5] dynamic-update-slice(p, u, i, j)",
    "gather": "p = s32[5,4] parameter(0)\n i = s32[3,1] parameter(1)\n ROOT r = s32[3,4] gather(p, i), "
    "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}",
    "gather of windows": "p = s32[5,4] parameter(0)\n i = s32[2,3] parameter(1)\n ROOT r = s32[2,2,3] gather(p, i), "
    "offset_dims={0,1}, collapsed_slice_dims={}, start_index_map={1,0}, index_vector_dim=0, slice_sizes={2,2}",
    "reduce": "p = s32[2,3,4] parameter(0)\n z = s32[] parameter(1)\n ROOT r = s32[3] reduce(p, z), dimensions={0,2}, "
    "to_apply=add",
    "reduce-window": "p = s32[7] parameter(0)\n z = s32[] constant(0)\n ROOT r = s32[4] reduce-window(p, z), "
    "window={size=3 stride=2 pad=1_1}, to_apply=add",
    "dot": "p = s32[2,3,4] parameter(0)\n q = s32[4,2,5] parameter(1)\n ROOT r = s32[2,3,5] dot(p, q), "
    "lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={0}",
    "convolution": "p = s32[1,5,4] parameter(0)\n q = s32[3,2,4] parameter(1)\n ROOT r = s32[1,6,4] convolution(p, q), "
    "window={size=3 pad=1_2 rhs_reversal=1}, dim_labels=b0f_0io->b0f, feature_group_count=2",
    "scatter": "p = s32[5,2] parameter(0)\n i = s32[3,1] parameter(1)\n u = s32[3,2] parameter(2)\n"
    " ROOT r = s32[5,2] scatter(p, i, u), update_window_dims={1}, inserted_window_dims={0}, "
    "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
    "scatter of windows": "p = s32[6] parameter(0)\n i = s32[3,1] parameter(1)\n u = s32[3,2] parameter(2)\n"
    " ROOT r = s32[6] scatter(p, i, u), update_window_dims={1}, inserted_window_dims={}, "
    "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=last",
    "bitcast-convert to parts": "p = s32[3] parameter(0)\n c = s32[3] constant({19088743,-7,65537})\n"
    " m = s32[3] multiply(p, c)\n ROOT r = s8[3,4] bitcast-convert(m)",
    "bitcast-convert of parts": "p = s16[3,2] parameter(0)\n ROOT r = s32[3] bitcast-convert(p)",
    "bitcast-convert of bytes": "p = s8[2,8] parameter(0)\n ROOT r = u64[2] bitcast-convert(p)",
    "map": "p = s32[3] parameter(0)\n q = s32[3] parameter(1)\n"
    " ROOT r = s32[3] map(p, q), dimensions={0}, to_apply=add",
    "conditional": "p = s32[2] parameter(0)\n i = s32[] parameter(1)\n ROOT r = s32[2] conditional(i, p, p, p), "
    "branch_computations={minus, same, twice}",
}
BRANCHES = (
    "minus { x = s32[2] parameter(0)\n ROOT y = s32[2] negate(x) }\n"
    "same { ROOT x = s32[2] parameter(0) }\n"
    "twice { x = s32[2] parameter(0)\n ROOT y = s32[2] add(x, x) }\n"
)


def nested(sizes: tuple[int, ...], source: random.Random, low: int, high: int) -> Any:
    if not sizes:
        return source.randint(low, high)
    return [nested(sizes[1:], source, low, high) for _ in range(sizes[0])]


@pytest.mark.parametrize("name", OPERATIONS)
def test_elements_are_those_of_the_interpreter(name: str) -> None:
    module = parse_module(f"HloModule m\n{ADD}{OVERWRITE}{BRANCHES}ENTRY e {{\n{OPERATIONS[name]}\n}}\n")
    (node,) = GraphReader().read(module, 0).results
    for seed in range(4):
        source = random.Random(seed)
        inputs = []
        for parameter in module.entry.parameters:
            assert isinstance(parameter.shape, ArrayShape)
            index = parameter.name in "ij"
            inputs.append(nested(parameter.shape.dimensions, source, -2 if index else -9, 7 if index else 9))
        expected = run_module(module, inputs)
        for at in product(*map(range, node.sizes)):
            value = expected
            for i in at:
                value = value[i]
            assert element(Elem(node, tuple(constant(i) for i in at)), inputs) == value, at


@st.composite
def forms(draw: Any) -> Lin:
    """Forms over three small variables, built by every operation that forms have."""
    several = st.integers(-6, 6)
    out: Lin = variable(0, 4) * draw(several) + variable(1, 6) * draw(several) + draw(st.integers(-9, 9))
    for _ in range(draw(st.integers(0, 4))):
        match draw(st.integers(0, 4)):
            case 0:
                out = out // draw(st.integers(1, 12))
            case 1:
                out = out % draw(st.integers(1, 12))
            case 2:
                out = out * draw(st.integers(-4, 4)) + variable(*draw(st.sampled_from([(0, 4), (1, 6), (2, 5)])))
            case 3:
                k = draw(st.integers(1, 6))
                out = (out // k) * k + out % k
            case 4:
                out = clamp(out, -3, draw(st.integers(-3, 8)))
    return out


def plain(x: Lin, point: dict[int, int]) -> int:
    return form(x, [], point)


@settings(max_examples=300, deadline=None)
@given(forms(), st.integers(1, 12))
def test_division_and_remainder_of_forms_are_those_of_integers(x: Lin, c: int) -> None:
    for values in product(range(4), range(6), range(5)):
        point = dict(enumerate(values))
        value = plain(x, point)
        assert x.lo <= value <= x.hi
        assert plain(x // c, point) == value // c
        assert plain(x % c, point) == value % c
        assert plain(clamp(x, -2, c), point) == min(max(value, -2), c)
