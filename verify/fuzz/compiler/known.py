"""Defects of the released compiler that are in the ledger already: a campaign counts them and goes on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_TWO_BITS: Final = r"\b[su]2\["


@dataclass(frozen=True, slots=True)
class Known:
    """A defect by its name in the ledger: the kind of failure, a pattern of what is said, and one of the module."""

    name: str
    cause: str
    said: str
    module: str

    def matches(self, cause: str, said: str, text: str) -> bool:
        return all(
            re.search(pattern, where) is not None
            for pattern, where in ((self.cause, cause), (self.said, said), (self.module, text))
        )


KNOWN: Final = (
    Known("size-beyond-the-bound", "process ends", "", r"set-dimension-size\("),
    Known("scatter-of-two-into-one", "internal error", "Expected instruction to have shape equal", r"\bscatter\("),
    Known("concatenate-of-two-bits", "process ends", "", _TWO_BITS),
    Known("scan-of-nothing", "refuses its own", "after scan_expander", r"\bscan\("),
    Known("top-k-of-four-bits", "refuses its own", "custom element sizes", r"\btopk\("),
    Known("dot-of-four-bits", "refuses its own", "custom element sizes", r"\b(dot|convolution)\("),
    Known("argmax-of-two-bits", "internal error", r"reduce_decomposer", r"\b[su][24]\["),
    Known("sort-of-two-element-sizes", "internal error", "must have the same shape", r"\bsort\("),
    Known("sort-of-two-bits", "result|changes|arrive", "", rf"(?s){_TWO_BITS}.*\bsort\("),
    Known("popcnt-of-four-bits", "result", "", r"= s4\[.*popcnt\("),
    Known("power-of-large-exponents", "result", "", r"= [su]\d+\[.*power\("),
    Known("nested-dynamic-slices", "pass|changes|arrive|result", "", r"(?s)dynamic-slice\(.*dynamic-slice\("),
    Known(
        "update-in-place-through-a-bitcast",
        "plan-in-place|result|changes",
        "",
        r"(?s)(bitcast|reshape)\(.*dynamic-update-slice\(",
    ),
)


def known(cause: str, said: str, text: str) -> str | None:
    """The name of the defect, or None for one that is new."""
    return next((k.name for k in KNOWN if k.matches(cause, said, text)), None)
