"""A schedule as a short timeline: the instructions that matter, in the order in which they run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hloproof.models.hlo.module import Computation

_ROW: Final = re.compile(r"  +(\d+)  (\S.*?) *  line (\d+) *  (.*)")
BEGINS: Final = "in flight from here"
ENDS: Final = "in flight until here"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a timeline: when, what, in which line of the text, and why it is shown."""

    time: int
    what: str
    line: int
    mark: str


def timeline(computation: Computation, order: Sequence[str], marks: Mapping[str, str]) -> str:
    """One line per marked instruction, in order, with its mark and line number; the others are counted.

    3  start  = copy-start(p0)      line 7   reads p0 until done
    5  update = custom-call(p0)     line 9   overwrites p0
    8  done   = copy-done(start)    line 8   finishes
    """
    shown = [(n, name) for n, name in enumerate(order) if name in marks]
    texts = []
    for n, name in shown:
        i = computation.by_name[name]
        inside = ", ".join(i.operands[:3]) + (", ..." if len(i.operands) > 3 else "")
        texts.append((str(n), f"{name} = {i.opcode}({inside})", f"line {i.position.line}", marks[name]))
    widths = [max((len(t[k]) for t in texts), default=0) for k in range(3)]
    return "\n".join(
        f"  {n:>{widths[0]}}  {what:<{widths[1]}}  {line:<{widths[2]}}  {mark}" for n, what, line, mark in texts
    )


def rows_of(text: str) -> tuple[Row, ...]:
    """The rows of the timeline in a counterexample; () where it has none."""
    found = (_ROW.fullmatch(line) for line in text.splitlines())
    return tuple(Row(int(m[1]), m[2], int(m[3]), m[4]) for m in found if m is not None)
