"""Defects of the released compiler that are in the ledger already: a campaign counts them and goes on.

Each is told by what fails, by what is said, and by what in the module it hangs on, as narrow as the defect is: a
neighbour of it that fails is a finding.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Final

from hloproof.models.errors import InputError
from hloproof.models.hlo.attributes import PaddingDimension, Window
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ArrayShape, Shape, leaves

_TWO: Final = frozenset({"s2", "u2"})
_FOUR: Final = frozenset({"s4", "u4"})
_SIGNED: Final = frozenset({"s2", "s4", "s8", "s16", "s32", "s64"})
_INTEGERS: Final = _SIGNED | {"u2", "u4", "u8", "u16", "u32", "u64"}
_MOVING: Final = frozenset({"reshape", "bitcast", "copy", "transpose", "call", "fusion", "get-tuple-element", "tuple"})
_SEEN_THROUGH: Final = frozenset({"reshape", "bitcast"})

Test = Callable[[Computation, Instruction], bool]


@dataclass(frozen=True, slots=True)
class Known:
    """A defect by its name in the ledger: the kind of failure and what is said, as patterns, and an instruction that
    it hangs on."""

    name: str
    cause: str
    said: str
    test: Test

    def matches(self, cause: str, said: str, module: Module) -> bool:
        if re.search(self.cause, cause) is None or re.search(self.said, said) is None:
            return False
        return any(self.test(c, i) for c in module.computations for i in c.instructions)


def _types(shapes: Collection[Shape]) -> Iterator[str]:
    for shape in shapes:
        yield from (leaf.element_type for _, leaf in leaves(shape) if isinstance(leaf, ArrayShape))


def _is(opcode: str, result: Collection[str] | None = None, operand: Collection[str] | None = None) -> Test:
    """An instruction of this opcode, with a result and a first operand of one of these types."""

    def test(c: Computation, i: Instruction) -> bool:
        if i.opcode != opcode:
            return False
        if result is not None and not set(_types([i.shape])) & set(result):
            return False
        return operand is None or bool(set(_types(c.operand_shapes(i)[:1])) & set(operand))

    return test


def _any(*tests: Test) -> Test:
    return lambda c, i: any(test(c, i) for test in tests)


def _also(test: Test, more: Test) -> Test:
    return lambda c, i: test(c, i) and more(c, i)


def _element_sizes_differ(c: Computation, i: Instruction) -> bool:
    """Arrays of two and of four bits, or one of them beside others."""
    return len(set(_types(c.operand_shapes(i)))) > 1 and bool(set(_types(c.operand_shapes(i))) & (_TWO | _FOUR))


def _into_a_scalar(c: Computation, i: Instruction) -> bool:
    return any(isinstance(s, ArrayShape) and not s.dimensions for s in c.operand_shapes(i)[:1])


def _of_nothing(c: Computation, i: Instruction) -> bool:
    return any(isinstance(s, ArrayShape) and s.elements == 0 for s in c.operand_shapes(i))


def _size_is_computed(c: Computation, i: Instruction) -> bool:
    return c.by_name[i.operands[1]].opcode != "constant"


def _low_end_cut(c: Computation, i: Instruction) -> bool:
    padding = i.attributes.get("padding")
    dimensions = padding if isinstance(padding, tuple) else ()
    return any(isinstance(d, PaddingDimension) and d.low < 0 < d.interior for d in dimensions)


def _windows_overlap(c: Computation, i: Instruction) -> bool:
    window = i.attributes.get("window")
    return isinstance(window, Window) and any(d.stride < d.size for d in window.dimensions)


def _may_begin_beyond(c: Computation, i: Instruction) -> bool:
    """Not all starts are constants at which the update fits."""
    whole, part = c.operand_shapes(i)[:2]
    assert isinstance(whole, ArrayShape) and isinstance(part, ArrayShape)
    for name, n, own in zip(i.operands[2:], whole.dimensions, part.dimensions, strict=True):
        literal = c.by_name[name].literal or ""
        if not literal.isdigit() or int(literal) > n - own:
            return True
    return False


def _into_a_concatenation(c: Computation, i: Instruction) -> bool:
    at = c.by_name[i.operands[0]]
    while at.opcode in _MOVING and at.operands:
        at = c.by_name[at.operands[0]]
    return at.opcode == "concatenate"


def _reads_a_slice(c: Computation, i: Instruction) -> bool:
    """The sliced array is a dynamic slice itself, moved at most."""
    at = c.by_name[i.operands[0]]
    while at.opcode in _MOVING and at.operands:
        at = c.by_name[at.operands[0]]
    return at.opcode == "dynamic-slice"


def _updates_what_it_reads_otherwise(c: Computation, i: Instruction) -> bool:
    """Operand and update come from one value, on one of the ways through a reshape or a bitcast."""
    whole, part = (_sources(c, name) for name in i.operands[:2])
    return any(whole[name] or part[name] for name in whole.keys() & part.keys())


def _sources(c: Computation, name: str) -> dict[str, bool]:
    """What a value is made of in its computation, and whether a reshape or a bitcast is on the way."""
    found: dict[str, bool] = {}
    todo = [(name, False)]
    while todo:
        at, through = todo.pop()
        if found.get(at, not through) == through and at in found:
            continue
        found[at] = found.get(at, False) or through
        i = c.by_name[at]
        todo += [(o, through or i.opcode in _SEEN_THROUGH) for o in i.operands]
    return found


def _exponent_may_be_large(c: Computation, i: Instruction) -> bool:
    """All but a constant below 64."""
    exponent = c.by_name[i.operands[1]]
    while exponent.opcode in ("broadcast", "reshape"):
        exponent = c.by_name[exponent.operands[0]]
    numbers = [int(n) for n in re.findall(r"-?\d+", exponent.literal or "")]
    return exponent.opcode != "constant" or any(n >= 64 for n in numbers)


_RESULT: Final = "result|changes|arrive"
_FOLDED: Final = "folded"
KNOWN: Final = (
    Known("size-beyond-the-bound", "process ends", "", _also(_is("set-dimension-size"), _size_is_computed)),
    Known(
        "scatter-of-two-into-one",
        "internal error",
        "Expected instruction to have shape equal",
        _also(_is("scatter"), _into_a_scalar),
    ),
    Known("concatenate-of-two-bits", "process ends", "", _is("concatenate", _TWO)),
    Known("scan-of-nothing", "refuses its own", "after scan_expander", _also(_is("scan"), _of_nothing)),
    Known("top-k-of-four-bits", "refuses its own", "custom element sizes", _is("topk", operand=_FOUR | _TWO)),
    Known(
        "dot-of-four-bits",
        "refuses its own",
        "custom element sizes",
        _any(_is("dot", operand=_FOUR | _TWO), _is("convolution", operand=_FOUR | _TWO)),
    ),
    Known("argmax-of-two-bits", "internal error", "reduce_decomposer", _also(_is("reduce"), _element_sizes_differ)),
    Known(
        "sort-of-two-element-sizes",
        "internal error",
        "must have the same shape",
        _also(_is("sort"), _element_sizes_differ),
    ),
    Known("sort-of-two-bits", _RESULT, "", _is("sort", _TWO)),
    Known("popcnt-of-four-bits", "pass float-normalization|result", "", _is("popcnt", {"s4"})),
    Known("power-of-large-exponents", "result", "", _also(_is("power", _INTEGERS), _exponent_may_be_large)),
    Known("nested-dynamic-slices", f"pass|{_RESULT}", "", _also(_is("dynamic-slice"), _reads_a_slice)),
    Known(
        "update-in-place-through-a-bitcast",
        f"plan-in-place|{_RESULT}",
        "",
        _also(_is("dynamic-update-slice"), _updates_what_it_reads_otherwise),
    ),
    Known("pad-on-devices", "process ends, on several devices", "", _also(_is("pad"), _low_end_cut)),
    Known(
        "gradient-of-max-pool-on-devices",
        "result.*on several devices",
        "",
        _also(_is("select-and-scatter"), _windows_overlap),
    ),
    Known(
        "update-beyond-the-end-on-devices",
        "result.*on several devices",
        "",
        _also(_is("dynamic-update-slice"), _may_begin_beyond),
    ),
    Known(
        "set-of-a-concatenation-on-devices",
        "result.*on several devices",
        "",
        _also(_is("scatter"), _into_a_concatenation),
    ),
    Known("integer-of-a-four-bit-float", _RESULT, "", _is("convert", _INTEGERS, {"f4e2m1fn"})),
    Known(
        "round-of-folded-f8e3m4", _FOLDED, "", _any(*(_is(f"round-nearest-{k}", {"f8e3m4"}) for k in ("even", "afz")))
    ),
    Known("reduce-precision-of-a-folded-nan", _FOLDED, "inf.*nan|nan.*inf", _is("reduce-precision")),
    Known(
        "subnormal-halves-of-reduced-precision", _FOLDED, "", _is("reduce-precision", {"f16", "f8e5m2", "f8e5m2fnuz"})
    ),
    Known(
        "folded-exponents-have-no-sign",
        _FOLDED,
        "",
        _any(*(_is(o, {"f8e8m0fnu"}) for o in ("convert", "negate", "subtract", "floor", "round-nearest-even"))),
    ),
    Known(
        "folded-infinity-as-a-four-bit-float",
        _FOLDED,
        "",
        _any(_is("convert", {"f4e2m1fn"}), _is("divide", {"f4e2m1fn"})),
    ),
    Known("folded-nan-of-exponents", _FOLDED, "inf.*nan|nan.*inf", _is("convert", operand={"f8e8m0fnu"})),
    Known(
        "folded-total-order",
        _FOLDED,
        "",
        _also(_is("compare"), lambda c, i: "TOTALORDER" in str(i.attributes.get("type"))),
    ),
    Known("leading-zeros-of-folded-negatives", _FOLDED, "", _is("count-leading-zeros", _SIGNED)),
    Known("popcnt-of-folded-two-bits", _FOLDED, "", _is("popcnt", {"s2"})),
    Known("power-of-folded-negative-exponents", _FOLDED, "", _is("power", _SIGNED)),
    Known("clamp-of-folded-predicates", _FOLDED, "", _is("clamp", {"pred"})),
    Known(
        "division-of-constants-by-zero",
        "process ends, of constants",
        "",
        _any(_is("divide", _INTEGERS), _is("remainder", _INTEGERS)),
    ),
)


def known(cause: str, said: str, text: str) -> str | None:
    """The name of the defect, or None for one that is new."""
    try:
        module = parse_module(text)
    except InputError:
        return None
    return next((k.name for k in KNOWN if k.matches(cause, said, module)), None)
