"""The names of pass dumps, as XLA writes them: of which module, and after which pass.

module_0004.jit_f.before_optimizations.txt
module_0004.jit_f.0005.simplification.after_algsimp.before_dce.txt
module_0004.jit_f.cpu_after_optimizations.txt
module_0004.jit_f.sm_9.0a_gpu_after_optimizations.txt

With --xla_dump_include_timestamp a number and a dot stand before all that. Where a name would be too long for a file,
that of the module is left out of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

_NUMBERED: Final = re.compile(
    r"(?:(?P<module>.+?)\.)??(?P<number>\d{4,})\.(?!module_\d)(?P<pipeline>.+?)\.after_(?P<after>.+?)(?:\.before_(?P<next>.+))?\.(?:txt|hlo)",
    re.DOTALL,
)
_ENDS: Final = (
    re.compile(r"(?:(?P<module>.+)\.)?before(?:_optimizations)?\.(?:txt|hlo)", re.DOTALL),
    re.compile(
        r"(?:(?P<module>.+)\.)?(?:sm_[\d.]+[a-z]?_)?(?:[a-z][a-z\d]*_)*after(?:_optimizations)?\.(?:txt|hlo)", re.DOTALL
    ),
)
"""The module before the first pass, and after the last: of a device, `sm_9.0a_gpu_`, `gfx942_gpu_`, or of none."""

FIRST: Final = "before_optimizations"
LAST: Final = "after_optimizations"

_WITHOUT_NAME: Final = re.compile(r"(?:\d+\.)?module_\d+")


class DumpPlace(NamedTuple):
    """Where a dump stands: `order` among those of its module."""

    order: int
    module: str
    pipeline: str
    after: str


def place_of(name: str) -> DumpPlace | None:
    """What the name of a dump says, without the suffix of what packs it; None where it is the name of none."""
    if numbered := _NUMBERED.fullmatch(name):
        return DumpPlace(int(numbered["number"]), numbered["module"] or "", numbered["pipeline"], numbered["after"])
    for end, order, label in zip(_ENDS, (-1, 1 << 30), (FIRST, LAST), strict=True):
        if found := end.fullmatch(name):
            return DumpPlace(order, found["module"] or "", "", label)
    return None


def is_without_name(module: str, others: Iterable[str]) -> bool:
    """Whether these may be dumps of one of the others, whose names were too long for their files."""
    return bool(_WITHOUT_NAME.fullmatch(module)) and any(o.startswith(f"{module}.") for o in others)
