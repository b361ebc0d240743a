"""What `hloproof layout` prints for a reader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hloproof.queries.layouts import LayoutAnswer


def lines(answer: LayoutAnswer) -> Iterator[str]:
    """Facts, places, claims; a tuple leaf by leaf."""
    yield answer["shape"]
    for leaf in answer.get("leaves", ()):
        yield f"  {{{','.join(map(str, leaf['path']))}}}"
        for line in _array(leaf):
            yield f"  {line}"
    if "leaves" not in answer:
        yield from _array(answer)
    for name, text in answer.get("maps", {}).items():
        if name != "verdict":
            yield f"  {name}: {text}"
    yield from _compared(answer)


def _array(a: LayoutAnswer) -> Iterator[str]:
    for name, value in _facts(a):
        yield f"  {name:<22}{value}"
    for note in a.get("assumptions", ()):
        yield f"  note: {note}"
    if a.get("reason"):
        yield f"  unknown: {a['reason']}"
    yield from _claims(a.get("obligations", ()))


def _facts(a: LayoutAnswer) -> Iterator[tuple[str, str]]:
    if a.get("elements") is None:
        if "element_bits" in a:
            yield "element", f"{a['element_bits']} bits"
        return
    yield "physical dimensions", _sizes(a["physical_dimensions"])
    if a["tiled_dimensions"] != a["physical_dimensions"]:
        yield "after tiling", _sizes(a["tiled_dimensions"])
    yield "elements", f"{a['elements']:,}"
    parts = f" in each of {a['parts']} parts" if a["parts"] > 1 else ""
    yield "padded to", f"{a['padded_elements']:,}{parts}"
    yield "padding", f"{a['padding']:,} ({100 * a['padding_share']:.2f} %)"
    yield "element", f"{a['element_bits']} bits"
    yield "bytes", f"{a['transfer_bytes']:,} to move, {a['data_bytes']:,} of data"
    if a["upstream_bytes"] is None:
        yield "bytes by XLA", "not defined: its size leaves combined dimensions out"
    elif a["upstream_bytes"] != a["transfer_bytes"]:
        yield "bytes by XLA", f"{a['upstream_bytes']:,} (the first tile alone, one part)"
    for r in a.get("contiguous", ()):
        yield f"dimension {r['dimension']}", f"runs of {r['run']:,}, {r['stride']:,} apart; {r['bits']:,} bits at once"
    if "bit_offset" in a:
        part = f" of part {a['part']}" if "part" in a else ""
        yield f"index {a['index']}", f"position {a['linear_index']:,}{part}, bit {a['bit_offset']:,}"
    if "at" in a:
        at = a["at"]
        yield f"position {at['linear_index']:,}", "padding" if at["padding"] else f"index {at['index']}"


def _sizes(sizes: list[int]) -> str:
    return f"[{', '.join(map(str, sizes))}]"


def _claims(claims: Any) -> Iterator[str]:
    width = max((len(c["claim"]) for c in claims), default=0) + 2
    for c in claims:
        engines = ", ".join(c["engines"])
        yield f"  {c['verdict']:<9}{c['claim']:<{width}}{c['statement']}  [{engines}; {c['ms']:.1f} ms]"
        if c["counterexample"]:
            yield f"           {c['counterexample']}"
        if c["reason"]:
            yield f"           {c['reason']}"


def _compared(answer: LayoutAnswer) -> Iterator[str]:
    compared = answer.get("compare")
    if compared is None:
        return
    yield f"compared with {compared['shape']}"
    yield from _claims(compared["obligations"])
    steps = compared.get("decomposition")
    if steps is not None:
        yield f"  as a transpose by {steps['first']} to {steps['flattened']},"
        yield f"  a reshape to {steps['reshaped']}, and a transpose by {steps['second']}"
