"""Shapes and layouts as text: `f32[2,<=3]{1,0:T(2,128)S(1)}`, `(s32[], token[])`, `b(f32[4])`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from hloproof.models.hlo.shape import (
    COMBINE,
    ELEMENT_BITS,
    UNBOUNDED,
    ArrayShape,
    BufferShape,
    Layout,
    OpaqueShape,
    Shape,
    SplitConfig,
    Tile,
    TokenShape,
    TupleShape,
)
from hloproof.models.hlo.text.lexer import Scanner

_TYPE = re.compile(r"[A-Za-z][A-Za-z0-9]*(?=[ \t\r\n]*\[)", re.ASCII)
_ARRAY = re.compile(
    r"[A-Za-z][A-Za-z0-9]*\[[^\[\]/]*\](?:\{[^{}/]*\})?(?![{\s])|[A-Za-z][A-Za-z0-9]*\[[^\[\]/]*\]"
    r"(?:\{[^{}/]*\})?(?=[ \t]+[A-Za-z%])",
    re.ASCII,
)
_PAREN = re.compile(r"[()]")
_LAYOUT_FOLLOWS = re.compile(r"\{(?=[ \t\r\n]*[0-9:}\-])|[ \t\r\n]+\{(?=[ \t\r\n]*[0-9:\-])")
_UPPER_TYPES: Final = {name.upper(): name for name in ELEMENT_BITS}
_LEVEL = re.compile(r"[DCSH]\+?~?")
_known: dict[str, Shape] = {}
_MAX_RANK: Final = 1000
_KNOWN_LIMIT: Final = 1 << 17


def parse_shape(text: str) -> Shape:
    """The shape that `text` denotes. Raises InputError with line and column inside `text`."""
    scanner = Scanner(text)
    shape = read_shape(scanner)
    if not scanner.at_end():
        raise scanner.error(f"expected the end of the shape, found {scanner.found()}")
    return shape


def starts_shape(scanner: Scanner) -> bool:
    """Whether a shape, rather than an opcode or a name, stands at the cursor."""
    next_character = scanner.peek()
    if next_character == "(":
        return True
    if next_character == "b" and scanner.text.startswith("b(", scanner.pos):
        return True
    return _TYPE.match(scanner.text, scanner.pos, scanner.end) is not None


def read_shape(scanner: Scanner) -> Shape:
    """Reads a shape at the cursor. Equal texts give the same object."""
    scanner.skip()
    text, start = scanner.text, scanner.pos
    array = _ARRAY.match(text, start, scanner.end)
    if array is not None:
        key = array.group()
        shape = _known.get(key)
        if shape is not None:
            scanner.pos = array.end()
            return shape
    elif text.startswith("(", start):
        depth = 0
        for paren in _PAREN.finditer(text, start, scanner.end):
            depth += 1 if paren.group() == "(" else -1
            if depth == 0:
                shape = _known.get(text[start : paren.end()])
                if shape is not None:
                    scanner.pos = paren.end()
                    return shape
                break
        else:
            raise scanner.error("this tuple shape is never closed: expected ')'")
    shape = _read_uncached(scanner)
    if len(_known) >= _KNOWN_LIMIT:
        _known.clear()
    _known[text[start : scanner.pos]] = shape
    return shape


def _read_uncached(scanner: Scanner) -> Shape:
    if scanner.accept("("):
        scanner.enter()
        elements: list[Shape] = []
        while not scanner.accept(")"):
            if elements:
                scanner.expect(",", "or ')' in a tuple shape")
            elements.append(read_shape(scanner))
        scanner.leave()
        return TupleShape(tuple(elements))
    if scanner.peek() == "b" and scanner.text.startswith("b(", scanner.pos):
        scanner.pos += 2
        at = scanner.pos
        scanner.enter()
        inner = read_shape(scanner)
        scanner.leave()
        if not isinstance(inner, ArrayShape):
            raise scanner.error("a buffer holds an array", at)
        scanner.expect(")", "after the shape of a buffer")
        return BufferShape(inner)
    found = scanner.match(_TYPE)
    if found is None:
        raise scanner.error(f"expected a shape such as f32[2,3]{{1,0}}, found {scanner.found()}")
    name = found.group()
    scanner.expect("[", "after the element type")
    if name in ("token", "opaque", "TOKEN", "OPAQUE"):
        scanner.expect("]", f"after {name}[")
        if _LAYOUT_FOLLOWS.match(scanner.text, scanner.pos, scanner.end):
            scanner.group()
        return TokenShape() if name.lower() == "token" else OpaqueShape()
    element_type = name if name in ELEMENT_BITS else _UPPER_TYPES.get(name)
    if element_type is None:
        raise scanner.error(f"unknown element type '{name}'", found.start())
    dimensions, dynamic = _read_dimensions(scanner)
    total = -(-ELEMENT_BITS[element_type] // 8)
    for size in dimensions:
        total *= max(size, 1)
    if total >= 2**63:
        raise scanner.error("the size of this array in bytes does not fit into 64 bits", found.start())
    layout = (
        read_layout(scanner, len(dimensions)) if _LAYOUT_FOLLOWS.match(scanner.text, scanner.pos, scanner.end) else None
    )
    return ArrayShape(element_type, dimensions, dynamic, layout)


def _read_dimensions(scanner: Scanner) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    """The sizes after `[`, up to and with `]`."""
    sizes: list[int] = []
    dynamic: list[bool] = []
    while not scanner.accept("]"):
        if sizes:
            scanner.expect(",", "or ']' among the dimensions")
        if scanner.accept("?"):
            sizes.append(UNBOUNDED)
            dynamic.append(True)
            continue
        if len(sizes) >= _MAX_RANK:
            raise scanner.error(f"more than {_MAX_RANK} dimensions")
        dynamic.append(scanner.accept("<="))
        at = scanner.pos
        size = scanner.integer("a dimension's size")
        if size < 0:
            raise scanner.error("a dimension's size is not negative", at)
        sizes.append(size)
    return tuple(sizes), tuple(dynamic) if any(dynamic) else ()


def _integers(scanner: Scanner, what: str, least: int, star: int | None = None) -> tuple[int, ...]:
    """`(1,2,*)` after its opening parenthesis; every entry is at least `least`."""
    values: list[int] = []
    while not scanner.accept(")"):
        if values:
            scanner.expect(",", f"or ')' in {what}")
        scanner.skip()
        at = scanner.pos
        if star is not None and scanner.accept("*"):
            values.append(star)
            continue
        value = scanner.integer(what)
        if value < least:
            raise scanner.error(f"{what} must be at least {least}, found {value}", at)
        values.append(value)
    return tuple(values)


def read_layout(scanner: Scanner, rank: int) -> Layout:
    """`{1,0:T(8,128)(2,1)E(4)S(1)}` for an array of `rank` dimensions. `{:S(1)}` names none: rank 0."""
    scanner.expect("{", "at the start of a layout")
    start = scanner.pos
    order: list[int] = []
    while scanner.peek() not in (":", "}"):
        if order:
            scanner.expect(",", "or '}' in a layout")
        order.append(scanner.integer("a dimension number of the layout"))
    if sorted(order) != list(range(rank)):
        raise scanner.error(
            f"the layout's order {{{','.join(map(str, order))}}} is no permutation of the {rank} dimensions", start
        )
    fields: dict[str, object] = {}
    if scanner.accept(":"):
        while scanner.peek() != "}":
            _read_property(scanner, rank, fields)
    scanner.expect("}", "at the end of a layout")
    return Layout(minor_to_major=tuple(order), **fields)  # type: ignore[arg-type]


def _read_property(scanner: Scanner, rank: int, fields: dict[str, object]) -> None:
    """One of T D # * E L S SC M P, in any order, each at most once."""
    scanner.skip()
    at = scanner.pos
    if scanner.accept("#"):
        fields["index_type"] = _element_type(scanner)
        return
    if scanner.accept("*"):
        fields["pointer_type"] = _element_type(scanner)
        return
    letters = scanner.word("a layout property such as T(8,128), E(4) or S(1)")
    letters = "T" if letters == "t" else letters
    scanner.expect("(", f"after {letters}")
    if letters == "T":
        tiles = [Tile(_tile(scanner))]
        while scanner.accept("("):
            tiles.append(Tile(_tile(scanner)))
        if "tiles" in fields:
            raise scanner.error("this layout property is given twice", at)
        fields["tiles"] = tuple(tiles)
        return
    if letters == "SC":
        _split_configs(scanner, rank, fields)
        return
    if letters == "P":
        shape = read_shape(scanner)
        scanner.expect(")", "after the physical shape")
        levels = fields.get("level_types")
        if not isinstance(levels, tuple) or all(level == "D" for level in levels):
            raise scanner.error(f"a dense array has no physical shape {print_shape(shape)}", at)
        fields["physical_shape"] = shape
        return
    if letters == "D":
        fields["level_types"] = _level_types(scanner, rank)
        return
    names = {"E": "element_bits", "L": "tail_padding", "S": "memory_space", "M": "dynamic_prefix_bytes"}
    if letters not in names:
        raise scanner.error(f"unknown layout property '{letters}'; known are T, E, L, S, SC, M, #, *", at)
    numbers = _integers(scanner, f"{letters}(...)", 0)
    if len(numbers) != 1:
        raise scanner.error(f"{letters}(...) takes one number", at)
    key, value = names[letters], numbers[0]
    if key in fields:
        raise scanner.error("this layout property is given twice", at)
    fields[key] = value


def _tile(scanner: Scanner) -> tuple[int, ...]:
    at = scanner.pos
    tile = _integers(scanner, "a tile's size", 1, star=COMBINE)
    if not tile:
        raise scanner.error("a tile has at least one dimension", at)
    if tile[-1] == COMBINE:
        raise scanner.error("the most minor entry of a tile cannot be '*': it has nothing to be combined into", at)
    return tile


def _split_configs(scanner: Scanner, rank: int, fields: dict[str, object]) -> None:
    """`SC(0:2,4)(1:3)` after its first parenthesis."""
    configs: list[SplitConfig] = []
    while True:
        at = scanner.pos
        dimension = scanner.integer("the split dimension")
        if not 0 <= dimension < rank:
            raise scanner.error(f"split dimension {dimension} of an array with {rank} dimensions", at)
        scanner.expect(":", "after the split dimension")
        configs.append(SplitConfig(dimension, _integers(scanner, "a split index", 0)))
        if not scanner.accept("("):
            break
    fields["split_configs"] = tuple(configs)


def _level_types(scanner: Scanner, rank: int) -> tuple[str, ...]:
    """`D(D,C+)` of sparse arrays after its parenthesis: one level type per dimension."""
    levels: list[str] = []
    while not scanner.accept(")"):
        if levels:
            scanner.expect(",", "or ')' among the level types")
        found = scanner.match(_LEVEL)
        if found is None:
            raise scanner.error(f"expected a level type (D, C, S or H), found {scanner.found()}")
        levels.append(found.group())
    if len(levels) != rank:
        raise scanner.error(f"{len(levels)} level types for {rank} dimensions")
    return tuple(levels)


def _element_type(scanner: Scanner) -> str:
    scanner.expect("(", "before an element type")
    name = scanner.word("an element type")
    if name not in ELEMENT_BITS:
        raise scanner.error(f"unknown element type '{name}'")
    scanner.expect(")", "after an element type")
    return name


def print_shape(shape: Shape, layout: bool = True) -> str:
    """The text of a shape; `parse_shape` reads it back."""
    match shape:
        case ArrayShape():
            return _print_array(shape, layout)
        case TupleShape():
            return f"({', '.join(print_shape(s, layout) for s in shape.elements)})"
        case TokenShape():
            return "token[]"
        case OpaqueShape():
            return "opaque[]"
        case BufferShape():
            return f"b({_print_array(shape.inner, layout)})"


def _print_array(shape: ArrayShape, layout: bool) -> str:
    sizes = [
        "?" if size == UNBOUNDED else f"<={size}" if shape.dynamic and shape.dynamic[i] else str(size)
        for i, size in enumerate(shape.dimensions)
    ]
    text = f"{shape.element_type}[{','.join(sizes)}]"
    if not layout or shape.layout is None:
        return text
    return text + print_layout(shape.layout)


def print_layout(layout: Layout) -> str:
    """`{1,0:T(8,128)}`; read back by `read_layout`."""
    parts: list[str] = [f"D({','.join(layout.level_types)})" if layout.level_types else ""]
    number: Callable[[str, int], str] = lambda letter, value: f"{letter}({value})" if value else ""  # noqa: E731
    if layout.tiles:
        parts.append(
            "T" + "".join(f"({','.join('*' if d == COMBINE else str(d) for d in t.dimensions)})" for t in layout.tiles)
        )
    parts.append(number("L", layout.tail_padding))
    parts.append(f"#({layout.index_type})" if layout.index_type else "")
    parts.append(f"*({layout.pointer_type})" if layout.pointer_type else "")
    parts.append(number("E", layout.element_bits))
    parts.append(number("S", layout.memory_space))
    if layout.split_configs:
        parts.append(
            "SC" + "".join(f"({c.dimension}:{','.join(map(str, c.split_indices))})" for c in layout.split_configs)
        )
    parts.append(f"P({print_shape(layout.physical_shape)})" if layout.physical_shape else "")
    parts.append(number("M", layout.dynamic_prefix_bytes))
    properties = "".join(parts)
    return "{" + ",".join(map(str, layout.minor_to_major)) + (":" + properties if properties else "") + "}"
