"""Layouts: where each element of an array lies in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hloproof.results.verdict import Verdict


@dataclass(frozen=True)
class Layout:
    """What is known of a shape in memory. `elements` and `padding` count places of one element each."""

    shape: str
    verdict: Verdict
    elements: int | None
    padding: int | None
    facts: dict[str, Any]

    def _repr_svg_(self) -> str | None:
        """The picture of the layout; None where it is too large for one."""
        from hloproof.models.errors import NotModelled
        from hloproof.models.hlo.shape import ArrayShape
        from hloproof.models.hlo.text.shapes import parse_shape
        from hloproof.report.layout_svg import SliceTooLarge, draw

        shape = parse_shape(self.shape)
        try:
            return draw(shape) if isinstance(shape, ArrayShape) else None
        except (SliceTooLarge, NotModelled):
            return None


def layout(shape: str, index: tuple[int, ...] | None = None) -> Layout:
    """Facts about a shape with a layout, its claims judged; `facts` also has the position of `index`.

    Raises InputError for text that is no shape, LookupError or ValueError for an index that it does not have.

    >>> found = layout("f32[3,5]{1,0:T(2,4)}", (2, 4))
    >>> found.verdict, found.elements, found.padding
    (<Verdict.PROVED: 'proved'>, 15, 17)
    """
    from hloproof.queries.layouts import answer

    facts = answer(shape, index=index)
    return Layout(facts["shape"], Verdict(facts["verdict"]), facts["elements"], facts["padding"], facts)
