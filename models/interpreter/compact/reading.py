"""An input that is written in short: `{"starts": [[0, 3], [0, 1, 2]], "values": [[...], [...]]}`.

`starts` cuts each dimension into ranges, given by where they begin; `values` has one element for each combination of
ranges. All elements of such a box are equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.interpreter.compact.classed import Classes, listed, made
from hloproof.models.interpreter.semantics.semantics import Scalars
from hloproof.models.interpreter.value import BadArgument, Value, elements


def read_starts(shape: ArrayShape, given: Mapping[str, Any], scalars: Scalars, what: str) -> Value:
    """The array of this shape. Raises BadArgument, and NotModelled where it is too large."""
    starts = given.get("starts")
    if set(given) != {"starts", "values"} or not isinstance(starts, list) or len(starts) != shape.rank:
        raise BadArgument(f"{what}: expected starts for {shape.rank} dimensions, and values")
    classes: list[Classes] = []
    for d, (row, n) in enumerate(zip(starts, shape.dimensions, strict=True)):
        if (
            not isinstance(row, list)
            or any(not isinstance(k, int) or isinstance(k, bool) for k in row)
            or row[:1] != [0][: min(n, 1)]
            or any(not a < b < n for a, b in pairwise(row))
        ):
            raise BadArgument(f"{what}: the starts of dimension {d} begin with 0 and rise below {n}")
        ends = [*row[1:], listed(n)]
        classes.append(tuple(c for c, (a, b) in enumerate(zip(row, ends, strict=True)) for _ in range(b - a)))
    kind, counts = shape.element_type, tuple(len(row) for row in starts)
    data = elements(given["values"], counts, kind, what)
    try:
        return made(kind, classes, [scalars.constant(kind, v) for v in data])
    except (TypeError, ValueError, OverflowError) as error:
        raise BadArgument(f"{what}: {error}") from error
