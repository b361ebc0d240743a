"""Opcode to builders, both directions. Neither direction is built by reversing the other.

Each subject has a table of its own at its end; here they are put together, with what a trait decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hloproof.models.hlo.opcodes import COMPOSED, ELEMENTWISE
from hloproof.models.indexing import (
    collective,
    contraction,
    control,
    dynamic,
    elementwise,
    gather_scatter,
    movement,
    reduction,
    reshape,
    window,
)
from hloproof.models.indexing.box import Builders

_WITHOUT_DATA: Final = (
    "after-all",
    "constant",
    "infeed",
    "iota",
    "outfeed",
    "parameter",
    "partition-id",
    "recv",
    "replica-id",
    "rng-get-and-update-state",
    "send-done",
)
_OPAQUE: Final = ("custom-call", "rng", "rng-bit-generator")


def _started(base: Builders) -> Builders:
    return Builders(
        control.start_output_to_input(base.output_to_input), control.start_input_to_output(base.input_to_output)
    )


_STARTED: Final[Mapping[str, Builders]] = {
    "all-gather-start": _started(collective.BUILDERS["all-gather"]),
    "all-reduce-start": Builders(
        control.all_reduce_start(collective.all_reduce_output_to_input),
        control.all_reduce_start(collective.all_reduce_input_to_output),
    ),
    "collective-permute-start": _started(collective.BUILDERS["collective-permute"]),
}
"""Explicit starts: the maps of what they start, beside what their tuples hold besides."""

_BUILDERS: Final[Mapping[str, Builders]] = {
    **dict.fromkeys(
        ELEMENTWISE, Builders(elementwise.elementwise_output_to_input, elementwise.elementwise_input_to_output)
    ),
    **dict.fromkeys(_WITHOUT_DATA, Builders(control.nothing, control.nothing)),
    **dict.fromkeys(_OPAQUE, Builders(control.opaque_output_to_input, control.opaque_input_to_output)),
    **dict.fromkeys(COMPOSED, Builders(control.by_body, control.by_body)),
    **collective.BUILDERS,
    **contraction.BUILDERS,
    **control.BUILDERS,
    **dynamic.BUILDERS,
    **elementwise.BUILDERS,
    **gather_scatter.BUILDERS,
    **movement.BUILDERS,
    **reduction.BUILDERS,
    **reshape.BUILDERS,
    **window.BUILDERS,
    **_STARTED,
}


def builders(opcode: str) -> Builders | None:
    """The builders of an opcode; None where the opcode is not known."""
    return _BUILDERS.get(opcode)


def opcodes() -> frozenset[str]:
    """Every opcode that has builders."""
    return frozenset(_BUILDERS)
