"""Claims of maps of the operations of a module, written as a spec writes them and judged in this process."""

from __future__ import annotations

from spec_texts import check_maps_text

from hloproof.engines.door import HOW, How
from hloproof.results.verdict import ClaimResult

ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }"
OWN = "output-to-input 0 (d0) -> (d0), domain: d0 in [0, 1]"
EACH = (
    OWN.replace("(d0) ->", "(d0)[s0] ->")
    + ", s0 in [0, 1]\n    replica id:\n    (d0)[s0] -> (s0), domain: d0 in [0, 1], s0 in [0, 1]"
)


def checked(
    instructions: str, *clauses: str, header: str = "HloModule m", bodies: str = "", how: How = HOW
) -> ClaimResult:
    module = f"{header}\n{bodies}\nENTRY e {{\n{instructions}\n}}"
    text = "".join(f"    {line}\n" for line in module.split("\n")) + "".join(f"  {c}\n" for c in clauses)
    (found,) = check_maps_text(f"map a\n  hlo\n{text}", "x.map", how)
    return found


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.split("\n"))
