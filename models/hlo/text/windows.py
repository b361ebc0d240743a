"""Windows, paddings and the dimension labels of convolutions as text."""

from __future__ import annotations

import re
from typing import Final

from hloproof.models.hlo.attributes import ConvolutionDimensions, PaddingDimension, Window, WindowDimension, Word
from hloproof.models.hlo.text.lexer import Scanner

_NUMBERS = re.compile(r"[-0-9_x]*", re.ASCII)
_LABELS = re.compile(r"([0-9bf?]+)_([0-9io?]+)->([0-9bf?]+)", re.ASCII)
_ANY_LABELS = re.compile(r"[^,\s{}()]*")
_SIGNED = re.compile(r"-?[0-9]{1,19}", re.ASCII)
_FIELDS: Final = ("size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal")


def _numbers(scanner: Scanner, parts: tuple[int, ...], what: str) -> list[list[int]]:
    """`1_2x3_4`: per dimension a list of numbers, whose length is one of `parts`."""
    scanner.skip()
    start = scanner.pos
    found = scanner.match(_NUMBERS)
    text = found.group() if found else ""
    if not text:
        return []
    out: list[list[int]] = []
    for dimension in text.split("x"):
        entries = dimension.split("_")
        if len(entries) not in parts:
            shape = " or ".join("_".join(["n"] * p) for p in parts)
            raise scanner.error(f"each dimension of {what} is written {shape}, found '{dimension[:40]}'", start)
        for entry in entries:
            if not _SIGNED.fullmatch(entry) or not -(2**63) <= int(entry) < 2**63:
                raise scanner.error(f"expected an integer of at most 64 bits in {what}, found '{entry[:40]}'", start)
        out.append([int(entry) for entry in entries])
    return out


def read_window(scanner: Scanner) -> Window:
    """`{size=3x3 stride=2x2 pad=0_1x0_1 lhs_dilate=1x1 rhs_dilate=1x1 rhs_reversal=0x1}`, fields in any order."""
    scanner.expect("{", "before a window")
    fields: dict[str, list[list[int]]] = {}
    places: dict[str, int] = {}
    while not scanner.accept("}"):
        scanner.accept(",")
        scanner.skip()
        at = scanner.pos
        name = scanner.word("a field of a window such as size=")
        if name not in _FIELDS or name in fields:
            why = "is given twice" if name in fields else f"is no field of a window; those are {', '.join(_FIELDS)}"
            raise scanner.error(f"'{name}' {why}", at)
        scanner.expect("=", f"after {name}")
        places[name] = at
        fields[name] = _numbers(scanner, (2,) if name == "pad" else (1,), name)
    rank = len(fields.get("size", []))
    for name, values in fields.items():
        if len(values) != rank:
            raise scanner.error(f"{name} has {len(values)} dimensions, the window's size has {rank}", places[name])
    if any(v not in ([0], [1]) for v in fields.get("rhs_reversal", [])):
        raise scanner.error("rhs_reversal is 0 or 1 per dimension", places["rhs_reversal"])

    def at_dimension(name: str, i: int, default: int, part: int = 0) -> int:
        return fields[name][i][part] if name in fields else default

    return Window(
        tuple(
            WindowDimension(
                size=fields["size"][i][0],
                stride=at_dimension("stride", i, 1),
                padding_low=at_dimension("pad", i, 0),
                padding_high=at_dimension("pad", i, 0, 1),
                base_dilation=at_dimension("lhs_dilate", i, 1),
                window_dilation=at_dimension("rhs_dilate", i, 1),
                reversal=at_dimension("rhs_reversal", i, 0) == 1,
            )
            for i in range(rank)
        )
    )


def print_window(window: Window) -> str:
    """`{size=2x2 stride=1x2}`; what has its default in every dimension is left out."""
    dimensions = window.dimensions
    parts: list[str] = []
    if dimensions:
        parts.append("size=" + "x".join(str(d.size) for d in dimensions))
    if any(d.stride != 1 for d in dimensions):
        parts.append("stride=" + "x".join(str(d.stride) for d in dimensions))
    if any(d.padding_low or d.padding_high for d in dimensions):
        parts.append("pad=" + "x".join(f"{d.padding_low}_{d.padding_high}" for d in dimensions))
    if any(d.base_dilation != 1 for d in dimensions):
        parts.append("lhs_dilate=" + "x".join(str(d.base_dilation) for d in dimensions))
    if any(d.window_dilation != 1 for d in dimensions):
        parts.append("rhs_dilate=" + "x".join(str(d.window_dilation) for d in dimensions))
    if any(d.reversal for d in dimensions):
        parts.append("rhs_reversal=" + "x".join(str(int(d.reversal)) for d in dimensions))
    return "{" + " ".join(parts) + "}"


def read_padding(scanner: Scanner) -> tuple[PaddingDimension, ...]:
    """`0_1x2_3_1`: low, high and, where written, interior, per dimension."""
    return tuple(PaddingDimension(*entry) for entry in _numbers(scanner, (2, 3), "padding"))


def print_padding(padding: tuple[PaddingDimension, ...]) -> str:
    """With the interior of every dimension as soon as one has it, as XLA prints it."""
    if any(p.interior for p in padding):
        return "x".join(f"{p.low}_{p.high}_{p.interior}" for p in padding)
    return "x".join(f"{p.low}_{p.high}" for p in padding)


def read_convolution(scanner: Scanner) -> ConvolutionDimensions | Word:
    """`b01f_01io->b01f`. Labels with `?`, which only custom calls have, are checked and kept as text."""
    scanner.skip()
    start = scanner.pos
    found = scanner.match(_LABELS)
    if found is None:
        shown = _ANY_LABELS.match(scanner.text, scanner.pos, scanner.end)
        raise scanner.error(
            f"expected dimension numbers such as b01f_01io->b01f, found '{shown.group()[:40] if shown else ''}'", start
        )
    operand, kernel, output = found.groups()
    spatial = len(operand.replace("?", "")) - 2
    for part, two in ((operand, "bf"), (kernel, "io"), (output, "bf")):
        digits = sorted(c for c in part if c.isdigit())
        if any(part.count(c) != 1 for c in two) or digits != [str(i) for i in range(spatial)]:
            raise scanner.error(
                f"the dimension numbers '{part}' need {two[0]}, {two[1]} and each of 0 to {spatial - 1} once", start
            )
    if "?" in found.group():
        return Word(found.group())
    order = [str(i) for i in range(spatial)]
    return ConvolutionDimensions(
        operand.index("b"),
        operand.index("f"),
        tuple(operand.index(d) for d in order),
        kernel.index("i"),
        kernel.index("o"),
        tuple(kernel.index(d) for d in order),
        output.index("b"),
        output.index("f"),
        tuple(output.index(d) for d in order),
    )


def print_convolution(dimensions: ConvolutionDimensions) -> str:
    """`b01f_01io->b01f`: a letter or a spatial number for each dimension of input, kernel and output."""

    def labels(first: int, first_label: str, second: int, second_label: str, spatial: tuple[int, ...]) -> str:
        out = [""] * (len(spatial) + 2)
        out[first], out[second] = first_label, second_label
        for i, d in enumerate(spatial):
            out[d] = str(i)
        return "".join(out)

    d = dimensions
    return (
        labels(d.input_batch, "b", d.input_feature, "f", d.input_spatial)
        + "_"
        + labels(d.kernel_input_feature, "i", d.kernel_output_feature, "o", d.kernel_spatial)
        + "->"
        + labels(d.output_batch, "b", d.output_feature, "f", d.output_spatial)
    )
