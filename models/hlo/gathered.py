"""A gather that nothing gives a meaning to, although its shapes fit."""

from __future__ import annotations

from collections.abc import Sequence

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Attributes


def require_slices(a: Attributes, result: Sequence[int]) -> None:
    """Raises NotModelled where a dimension is left out of which the slices have no element, and the result of these
    sizes has some: XLA's shapes allow it, and where such a slice starts at the end it reads behind the operand."""
    sizes = a.integers("slice_sizes")
    dropped = (*a.integers("collapsed_slice_dims"), *a.integers("operand_batching_dims"))
    if 0 not in result and any(sizes[i] == 0 for i in dropped if i < len(sizes)):
        raise NotModelled("gather that leaves out a dimension of which its slices have no element")
