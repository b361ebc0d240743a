"""Operands that say where to read or write: every output element that another number in them changes depends on that
number, and definitions state just what the interpreter's sets of reads state. What definitions say of the numbers read
at run time.
"""

from __future__ import annotations

from random import Random
from typing import Final

from hloproof.definitions import define
from hloproof.fuzz.operations.tagged_run import Observed, Reads
from hloproof.fuzz.target import Failure
from hloproof.models.interpreter.observed import reads_of_starts
from hloproof.models.interpreter.semantics.element_type import highest, lowest
from hloproof.models.interpreter.value import Array, indices

MOST: Final = 6
"""Numbers that are exchanged for others."""


def examine_indices(found: Observed) -> None:
    """Raises Failure where the definitions of operands that say where to read are others than what is seen."""
    opcode = found.tagged.op.opcode
    _examine_reads(found)
    if not found.indices or opcode == "ragged-all-to-all":  # whose numbers have no meaning out of bounds
        return
    _examine_changes(found)
    if opcode != "ragged-dot":
        _examine_sets(found)


def _examine_changes(found: Observed) -> None:
    tagged = found.tagged
    (before,) = tagged.run(found.indices)
    numbers = [(k, n) for k, x in found.indices.items() for n in range(len(x.data))]
    for k, n in Random(tagged.seed).sample(numbers, min(MOST, len(numbers))):
        x, where = found.indices[k], list(indices(found.indices[k].sizes))[n]
        value, low, high = x.data[n], lowest(x.element_type), highest(x.element_type)
        for other in {max(low, value - 1), min(high, value + 1), max(low, -1), min(high, 100)} - {value}:
            changed = Array(x.element_type, x.sizes, [*x.data[:n], other, *x.data[n + 1 :]])
            (after,) = tagged.run({**found.indices, k: changed})
            for output, (a, b) in enumerate(zip(before, after, strict=True)):
                for at, u, v in zip(indices(a.sizes), a.data, b.data, strict=True):
                    if u != v and (at, where, 0) not in found.defined[0, output, (k, ())]:
                        said = f"{at} depends on {list(where)}"
                        raise Failure(f"{tagged.op.opcode}: the definition of indices misses one", said)


def _examine_sets(found: Observed) -> None:
    tagged = found.tagged
    op, places = tagged.op, [(k, at) for k, x in found.indices.items() for at in indices(x.sizes)]
    sets = iter([1 << n for n in range(len(places))])
    starts = [Array(x.element_type, x.sizes, [next(sets) for _ in x.data]) for x in found.indices.values()]
    update = op.operands[-1] if op.opcode == "scatter" else None
    read = reads_of_starts(tagged.module.entry.root, starts, update)
    for output, shape in enumerate(tagged.outputs):
        for k in found.indices:
            seen: Reads = Reads()
            for d in indices(shape.dimensions):
                seen.update((d, at, 0) for n, (own, at) in enumerate(places) if own == k and read(d) >> n & 1)
            if seen.keys() != found.defined[0, output, (k, ())].keys():
                where = min(seen.keys() ^ found.defined[0, output, (k, ())].keys())
                verb = "misses" if where in seen else "states too much:"
                raise Failure(f"{op.opcode}: the definition of indices {verb} a read", f"operand {k}: {where}")


def _examine_reads(found: Observed) -> None:
    """Numbers that a window is moved by are clamped, those that drop a window are not, and range over their type."""
    op = found.tagged.op
    for _, output, source in found.seen:
        for r in define(op, output, *source).runtime:
            if r.clamped == (op.opcode == "scatter"):
                raise Failure(f"{op.opcode}: a number is clamped, or is not", f"output {output}, operand {source}")
            kind = found.indices[r.operand].element_type
            if not r.clamped and (r.interval.lower, r.interval.upper) != (lowest(kind), highest(kind)):
                raise Failure(f"{op.opcode}: other values than those of {kind}", str(r.interval))
