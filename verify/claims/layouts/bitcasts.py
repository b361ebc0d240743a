"""What is claimed of a bitcast: memory is not touched, and no element is torn apart.

Elements are compared in atoms, as large as the smaller element of the two sides. Both sides take equally many bits,
padding included. With equally many bits of data, each atom that belongs to an element of one side belongs to an
element of the other. Where one side has more, it keeps all of the other's, and what it has beyond is whole elements on
padding there. How many elements there are says nothing, as XLA's verifier compares sizes in memory alone; its evaluator
takes results with less data than the operand, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from hloproof.claims.layouts.claims import ClaimedLayout, LayoutClaim, Model, index_box, inside, inverse, padding
from hloproof.claims.layouts.steps import chain
from hloproof.logic.formula import Formula, conj, eq, within
from hloproof.logic.obligation import Obligation
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Expr, Var, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.text.shapes import print_shape
from hloproof.models.layouts.memory_size import check_one_memory, element_bits, padded_elements
from hloproof.models.layouts.physical import part_count
from hloproof.models.layouts.tiling import expanded_dimensions, index_map, position_expression
from hloproof.models.maps.indexing_map import IndexingMap


def bitcast_claims(
    operand: ArrayShape, result: ArrayShape, maps: Sequence[IndexingMap] | None = None
) -> tuple[LayoutClaim, ...]:
    """The claims of `result = bitcast(operand)`; with `maps` from a result index to operand indices, also that these
    name the elements that lie there. Raises NotModelled."""
    if part_count(operand) > 1 or part_count(result) > 1:
        raise NotModelled("a bitcast of an array that is split over memories")
    if operand.is_dynamic or result.is_dynamic:
        raise NotModelled("a bitcast with dynamic dimensions")
    check_one_memory(operand, result)
    bits = [padded_elements(s) * element_bits(s) for s in (operand, result)]
    if bits[0] != bits[1] and -(-bits[0] // 8) == -(-bits[1] // 8):
        raise NotModelled("what the bits hold that are left over in the last byte of the smaller side")
    out = [same_size(operand, result)]
    data_operand, data_result = operand.elements * element_bits(operand), result.elements * element_bits(result)
    if data_operand <= data_result:
        out.append(kept(operand, result, "operand", "result"))
    if data_result <= data_operand:
        out.append(kept(result, operand, "result", "operand"))
    if data_operand != data_result and element_bits(operand) != element_bits(result):
        wide_result = element_bits(result) > element_bits(operand)
        sides = (result, operand, "result", "operand") if wide_result else (operand, result, "operand", "result")
        out.append(whole(*sides))
    out.extend(said_to_be(operand, result, m) for m in maps or ())
    return tuple(out)


def same_size(operand: ArrayShape, result: ArrayShape) -> LayoutClaim:
    """Both take equally many bits of memory, padding included."""
    bits = [padded_elements(s) * element_bits(s) for s in (operand, result)]
    direct = Obligation((), eq(bits[0], bits[1]), label="both sides take equally many bits of memory")

    def describe(_: Model) -> str:
        return f"{print_shape(operand)} takes {bits[0]} bits of memory, {print_shape(result)} takes {bits[1]}"

    return LayoutClaim("same-size", "both take equally many bits of memory", (direct,), direct, describe)


def kept(one: ArrayShape, other: ArrayShape, name: str, other_name: str) -> LayoutClaim:
    """Every atom of every element of `one` is an atom of an element of `other`: none falls on padding."""
    own, their, atom = _atoms(one, other)
    place = position_expression(one)
    if own > 1:
        place = place * own + Var("s")
    there = place if their == 1 else place // their
    steps = chain(other)
    found = ClaimedLayout.by_formula(other)
    parts = (("s", Interval.of_size(own)),) if own > 1 else ()
    direct = Obligation(
        (*index_box(one), *parts),
        _is_element(other, there),
        label=f"no element of the {name} lies on padding of the {other_name}",
    )

    def describe(model: Model) -> str:
        index = ", ".join(str(model[f"d{i}"]) for i in range(one.rank))
        where = f"position {evaluate(there, model)} of the {other_name}, where no element is"
        bits = "" if own == 1 and their == 1 else f" (bits from {evaluate(place, model) * atom} on)"
        return f"element [{index}] of the {name} {print_shape(one)} lies at {where}{bits}"

    more = inverse(found, steps).steps + padding(found).steps + inside(found, steps).steps
    statement = f"every element of the {name} lies on elements of the {other_name}"
    return LayoutClaim("kept", statement, (direct, *more), direct, describe, complete=False)


def whole(wide: ArrayShape, narrow: ArrayShape, name: str, other_name: str) -> LayoutClaim:
    """No element of the side with the larger ones is made of elements and padding of the other."""
    own, _, _ = _atoms(wide, narrow)
    place = position_expression(wide) * own
    first, second = place + Var("s"), place + Var("t")
    here, there = _is_element(narrow, first), _is_element(narrow, second)
    part = Interval.of_size(own)
    direct = Obligation(
        (*index_box(wide), ("s", part), ("t", part)),
        there,
        here,
        f"no element of the {name} is partly padding of the {other_name}",
    )

    def describe(model: Model) -> str:
        index = ", ".join(str(model[f"d{i}"]) for i in range(wide.rank))
        one, two = evaluate(first, model), evaluate(second, model)
        return (
            f"element [{index}] of the {name} lies on position {one} of the {other_name}, an element, and on {two}, "
            "where no element is"
        )

    found = ClaimedLayout.by_formula(narrow)
    more = inverse(found, chain(narrow)).steps + padding(found).steps
    return LayoutClaim(
        "whole",
        f"no element of the {name} is partly padding of the {other_name}",
        (direct, *more),
        direct,
        describe,
        complete=False,
    )


def _is_element(shape: ArrayShape, position: Expr) -> Formula:
    """That an element lies at a position, which may be any."""
    at = {"d0": position}
    return conj(
        within(position, Interval.of_size(prod(expanded_dimensions(shape)))),
        *(within(substitute(c.expr, at), c.interval) for c in index_map(shape).constraints),
    )


def said_to_be(operand: ArrayShape, result: ArrayShape, m: IndexingMap) -> LayoutClaim:
    """The operand element that a map names lies at the same bits as the result element."""
    operand_atoms, result_atoms, _ = _atoms(operand, result)
    larger = max(operand_atoms, result_atoms)
    named = substitute(position_expression(operand), {f"d{i}": e for i, e in enumerate(m.results)})
    place = position_expression(result)
    direct = Obligation(
        tuple(m.intervals()),
        eq(_block(named, operand_atoms, larger), _block(place, result_atoms, larger)),
        conj(*(within(c.expr, c.interval) for c in m.constraints)),
        "the operand element that the map names lies where the result element lies",
    )

    def describe(model: Model) -> str:
        index = ", ".join(str(model[f"d{i}"]) for i in range(result.rank))
        source = ", ".join(str(evaluate(e, model)) for e in m.results)
        return (
            f"result [{index}] lies at position {evaluate(place, model)}, and operand [{source}], which it is said to "
            f"be, at position {evaluate(named, model)}"
        )

    return LayoutClaim("said-to-be", "the map names the element that lies there", (direct,), direct, describe)


def same_positions(one: ArrayShape, two: ArrayShape) -> LayoutClaim:
    """Two layouts of one shape put every element at the same position. Raises NotModelled for different sizes and
    for split dimensions."""
    if one.dimensions != two.dimensions:
        raise NotModelled("two layouts of shapes of different sizes")
    if part_count(one) > 1 or part_count(two) > 1:
        raise NotModelled("positions of an array that is split over memories beside those of another")
    first, second = position_expression(one), position_expression(two)
    direct = Obligation(index_box(one), eq(first, second), label="both layouts put every element at the same position")

    def describe(model: Model) -> str:
        index = ", ".join(str(model[f"d{i}"]) for i in range(one.rank))
        places = evaluate(first, model), evaluate(second, model)
        shapes = print_shape(one), print_shape(two)
        return f"element [{index}] lies at position {places[0]} in {shapes[0]}, at position {places[1]} in {shapes[1]}"

    return LayoutClaim("same-positions", "both put every element at the same position", (direct,), direct, describe)


def _block(position: Expr, atoms: int, larger: int) -> Expr:
    """The number of the block of `larger` atoms in which an element of `atoms` atoms lies: one, or as many."""
    return position if atoms == larger else position // larger


def _atoms(one: ArrayShape, other: ArrayShape) -> tuple[int, int, int]:
    """Atoms per element of each side, and bits per atom. Raises NotModelled where neither size divides the other."""
    bits = element_bits(one), element_bits(other)
    atom = min(bits)
    if max(bits) % atom:
        raise NotModelled(f"a bitcast between elements of {bits[0]} and {bits[1]} bits")
    return bits[0] // atom, bits[1] // atom, atom
