"""What an instruction owes for the layouts written in it: the claims `layout` and `bitcast`."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from hloproof.claims.layouts.bitcasts import bitcast_claims
from hloproof.claims.layouts.claims import ClaimedLayout, LayoutClaim, claims
from hloproof.claims.layouts.formats import format_claims, is_format
from hloproof.claims.operations.owed import OwedClaim
from hloproof.claims.statements.statement import Describe, Part, Point
from hloproof.logic.obligation import Obligation
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.shape import ArrayShape, BufferShape, Layout, leaves
from hloproof.models.maps.indexing_map import IndexingMap

DEFAULT_ASSUMED = "no layout is written: row-major, without tiles"
DYNAMIC_ASSUMED = "dynamic dimensions take the space of their bound"


def owed_layout(op: Operation) -> tuple[OwedClaim, ...]:
    """`layout` for each array of the result whose layout is written; `bitcast` for a bitcast."""
    out: list[OwedClaim] = []
    for path, leaf in leaves(op.shape):
        array = leaf.inner if isinstance(leaf, BufferShape) else leaf
        if isinstance(array, ArrayShape) and array.layout is not None:
            words = f"output {{{','.join(map(str, path))}}}" if path else "output"
            assumed = (DYNAMIC_ASSUMED,) if array.is_dynamic and not is_format(array) else ()
            out.append(OwedClaim("layout", words, lambda a=array: layout_parts(a), lambda a=assumed: a))  # type: ignore[misc]
    if op.opcode == "bitcast":
        unwritten = any(isinstance(s, ArrayShape) and s.layout is None for s in (op.shape, *op.operands))
        default = (DEFAULT_ASSUMED,) if unwritten else ()
        out.append(OwedClaim("bitcast", "operand to output", lambda: bitcast_parts(op), lambda: default))
    return tuple(out)


def layout_parts(shape: ArrayShape) -> list[Part]:
    """The sub-goals of all layout claims of a shape; with unbounded dimensions, for all their sizes. Raises
    NotModelled."""
    return list(_layout_parts(_only_order_and_tiles(shape)))


@lru_cache(maxsize=1024)
def _layout_parts(shape: ArrayShape) -> tuple[Part, ...]:
    return tuple(_parts(format_claims(shape) if is_format(shape) else claims(ClaimedLayout.by_formula(shape))))


def _only_order_and_tiles(shape: ArrayShape) -> ArrayShape:
    """What positions depend on; the rest would make equal claims look different."""
    layout = shape.layout
    if layout is not None:
        layout = Layout(
            layout.minor_to_major,
            layout.tiles,
            tail_padding=layout.tail_padding,
            split_configs=layout.split_configs,
            level_types=layout.level_types,
        )
    return replace(shape, element_type="u8", dynamic=(), layout=layout)


def bitcast_parts(op: Operation) -> list[Part]:
    """The sub-goals of the bitcast claims, about the operation's own maps where there are any. Raises NotModelled."""
    if len(op.operands) != 1 or not isinstance(op.shape, ArrayShape) or not isinstance(op.operands[0], ArrayShape):
        raise NotModelled("a bitcast of something else than one array")
    return _parts(bitcast_claims(op.operands[0], op.shape, _maps(op)))


def _maps(op: Operation) -> list[IndexingMap]:
    from hloproof.models.indexing import output_to_input

    try:
        return [m for found in output_to_input(op, 0) for m in found.maps]
    except NotModelled:  # nothing is said of the elements then; `definition` reports it
        return []


def _parts(owed: tuple[LayoutClaim, ...]) -> list[Part]:
    out: dict[Obligation, Part] = {}
    for claim in owed:
        for obligation in claim.steps:
            direct = obligation == claim.direct  # a step of one claim may be all of another
            if direct or obligation not in out:
                out[obligation] = Part(obligation, _teller(claim, obligation), necessary=direct)
    return list(out.values())


def _teller(claim: LayoutClaim, obligation: Obligation) -> Describe:
    def tell(point: Point) -> str:
        if obligation == claim.direct:
            return claim.describe(point)
        values = ", ".join(f"{name} = {point[name]}" for name, _ in obligation.variables)
        return f"{claim.statement}: `{obligation.label}` fails" + (f" at {values}" if values else "")

    return tell
