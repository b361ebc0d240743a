"""Attribute values with a form of their own: slices, aliasing, donors, layouts, shardings, literals, accuracies."""

from __future__ import annotations

import re
from typing import Final

from hloproof.models.errors import InputError
from hloproof.models.hlo.attributes import Aliasing, BufferDonor, ComputationRef, SliceDimension, Word
from hloproof.models.hlo.opcodes import suggestion
from hloproof.models.hlo.shape import Shape
from hloproof.models.hlo.text.device_groups import read_iota
from hloproof.models.hlo.text.lexer import COMMENT, Scanner
from hloproof.models.hlo.text.literal import LiteralError, check_literal
from hloproof.models.hlo.text.shapes import read_shape

LOG_MODES: Final = ("default", "fusion_debugger")
INTEGER: Final = re.compile(r"-?[0-9]{1,19}", re.ASCII)

_BARE = re.compile(r"[^,\s{}()\[\]\"/]*")
_LOG_MODE = re.compile(r"\blog_mode\s*=\s*([A-Za-z0-9_]*)", re.ASCII)
_PLAIN_SHAPE = re.compile(r"[a-z][a-z0-9]*\[[0-9,\s]*\]", re.ASCII)
_NUMBER = re.compile(r"[-+]?nan\(0x[0-9a-f]+\)|[^,\s{}()\[\]\"/]*", re.ASCII | re.IGNORECASE)
_SHARDING_DEVICES = re.compile(r"devices=")


def bare_word(scanner: Scanner) -> str:
    """The characters up to a blank, comma, brace, bracket, parenthesis, quote or slash; empty where there are none."""
    found = scanner.match(_BARE)
    return found.group() if found else ""


def not_a_word(name: str, raw: str, known: tuple[str, ...]) -> str:
    """The message where attribute `name` takes none of the words that are known."""
    return f"{name} takes one of {', '.join(known)}, found '{raw[:60]}'{suggestion(raw[:60], known)}"


def read_debug_attributes(scanner: Scanner) -> Word:
    """`{ {"name"}:({log_mode=default,callback_id=1}) }`: kept as written, with a log mode that exists."""
    scanner.skip()
    start = scanner.pos
    raw = scanner.group()
    for found in _LOG_MODE.finditer(raw):
        if found.group(1) not in LOG_MODES:
            raise scanner.error(not_a_word("log_mode", found.group(1), LOG_MODES), start + found.start(1))
    return Word(raw)


def read_computations(scanner: Scanner) -> tuple[ComputationRef, ...]:
    """`{%a, %b}`, or one name without braces."""
    if scanner.peek() != "{":
        return (ComputationRef(scanner.name("the name of a computation")),)
    scanner.expect("{", "before the names of computations")
    names: list[ComputationRef] = []
    while not scanner.accept("}"):
        if names:
            scanner.expect(",", "or '}' among the names of computations")
        names.append(ComputationRef(scanner.name("the name of a computation")))
    return tuple(names)


def read_predecessors(scanner: Scanner) -> tuple[Word, ...]:
    """`{%a, %b}`. Raises InputError."""
    scanner.expect("{", "before the names of control predecessors")
    names: list[Word] = []
    while not scanner.accept("}"):
        if names:
            scanner.expect(",", "or '}' among the names of control predecessors")
        names.append(Word(scanner.name("the name of an instruction")))
    return tuple(names)


def read_slice(scanner: Scanner) -> tuple[SliceDimension, ...]:
    """`{[0:8:2], [1:3]}`."""
    scanner.expect("{", "before the ranges of a slice")
    ranges: list[SliceDimension] = []
    while not scanner.accept("}"):
        if ranges:
            scanner.expect(",", "or '}' among the ranges of a slice")
        scanner.expect("[", "before a range of a slice")
        start = scanner.integer("the start of a range")
        scanner.expect(":", "after the start of a range")
        limit = scanner.integer("the limit of a range")
        stride = scanner.integer("the stride of a range") if scanner.accept(":") else 1
        scanner.expect("]", "after a range of a slice")
        ranges.append(SliceDimension(start, limit, stride))
    return tuple(ranges)


def _read_index(scanner: Scanner) -> tuple[int, ...]:
    """A position in a tuple tree, `{}` or `{0,1}`."""
    scanner.expect("{", "at the start of a position in a tuple")
    values: list[int] = []
    while not scanner.accept("}"):
        if values:
            scanner.expect(",", "or '}' in a position in a tuple")
        at = scanner.pos
        values.append(scanner.integer("a tuple index"))
        if values[-1] < 0:
            raise scanner.error("a tuple index is not negative", at)
    return tuple(values)


def read_aliasing(scanner: Scanner) -> tuple[Aliasing, ...]:
    """`{ {0}: (0, {}, may-alias), {1}: (1, {}) }`."""
    scanner.expect("{", "at the start of the aliasing description")
    entries: list[Aliasing] = []
    while not scanner.accept("}"):
        if entries:
            scanner.expect(",", "or '}' at the end of the aliasing description")
        output = _read_index(scanner)
        scanner.expect(":", "after the output's position")
        scanner.expect("(", "before the number of an operand")
        operand = scanner.integer("the number of an operand")
        scanner.expect(",", "after the number of an operand")
        index = _read_index(scanner)
        kind = ""
        if scanner.accept(","):
            at = scanner.pos
            kind = scanner.word("may-alias or must-alias")
            if kind not in ("may-alias", "must-alias"):
                raise scanner.error(f"expected may-alias or must-alias, found '{kind}'", at)
        scanner.expect(")", "at the end of an aliasing entry")
        entries.append(Aliasing(output, operand, index, kind))
    return tuple(entries)


def read_donors(scanner: Scanner) -> tuple[BufferDonor, ...]:
    """`{ (0, {0}), (1, {}) }`."""
    scanner.expect("{", "at the start of the donors")
    entries: list[BufferDonor] = []
    while not scanner.accept("}"):
        if entries:
            scanner.expect(",", "or '}' among the donors")
        scanner.expect("(", "before the number of a parameter")
        parameter = scanner.integer("the number of a parameter")
        scanner.expect(",", "after the number of a parameter")
        index = _read_index(scanner)
        scanner.expect(")", "at the end of a donor")
        entries.append(BufferDonor(parameter, index))
    return tuple(entries)


def read_shapes(scanner: Scanner) -> Word:
    """`{f32[2]{0}, (s32[])}`: checked, and kept as written."""
    start = scanner.pos
    scanner.expect("{", "before a list of shapes")
    for _ in scanner.separated("}", "in a list of shapes"):
        read_shape(scanner)
    return Word(scanner.text[start : scanner.pos].strip())


def read_one_shape(scanner: Scanner) -> Word:
    """`f32[2]{0}`: checked, and kept as written. Raises InputError."""
    scanner.skip()
    start = scanner.pos
    read_shape(scanner)
    return Word(scanner.text[start : scanner.pos])


def read_entry_layout(scanner: Scanner) -> Word:
    """`{(f32[2]{0})->f32[2]{0}}`: checked, and kept as written."""
    scanner.skip()
    start = scanner.pos
    read_entry_shapes(scanner)
    return Word(scanner.text[start : scanner.pos])


def read_entry_shapes(scanner: Scanner) -> tuple[list[Shape], Shape]:
    """The shapes of the parameters and of the result that the layout of the entry computation names."""
    scanner.expect("{", "before the layout of the entry computation")
    scanner.expect("(", "before the parameters' shapes")
    parameters = [read_shape(scanner) for _ in scanner.separated(")", "among the parameters' shapes")]
    scanner.expect("->", "before the result's shape")
    result = read_shape(scanner)
    scanner.expect("}", "after the layout of the entry computation")
    return parameters, result


def read_typed_literal(scanner: Scanner) -> Word:
    """`literal=s32[2]{0} {1, 2}` of a custom call: a shape and a value of it. What stands between braces behind a shape
    is its layout; where nothing follows that, it is the value."""
    scanner.skip()
    start = scanner.pos
    plain = _PLAIN_SHAPE.match(scanner.text, start, scanner.end)
    try:
        shape = read_shape(scanner)
        if plain is not None and scanner.peek() in (",", "}", ""):
            raise scanner.error("expected the value of the literal")
    except InputError:
        if plain is None:
            raise
        scanner.pos = start
        shape = read_shape(Scanner(plain.group()))
        scanner.pos = plain.end()
    scanner.skip()
    at = scanner.pos
    if scanner.peek() in ("{", "("):
        raw = scanner.group()
    else:
        found = scanner.match(_NUMBER)
        raw = found.group() if found else ""
    try:
        check_literal(COMMENT.sub(" ", raw) if "/" in raw else raw, shape)
    except LiteralError as error:
        raise scanner.error(str(error), at) from None
    return Word(scanner.text[start : scanner.pos])


def read_sharding(scanner: Scanner) -> Word:
    """Kept as written; the number of devices must fit the tile assignment."""
    scanner.skip()
    start = scanner.pos
    if scanner.peek() != "{":
        return Word(bare_word(scanner))
    raw = scanner.group()
    for found in _SHARDING_DEVICES.finditer(raw):
        inner = Scanner(scanner.text, scanner.file, start + found.end(), scanner.pos)
        inner.share_lines(scanner)
        _check_devices(inner)
    return Word(raw)


def _check_devices(scanner: Scanner) -> None:
    """`[2,2]0,1,2,3` or `[2,2]<=[4]`."""
    start = scanner.pos
    sizes: list[int] = []
    scanner.expect("[", "before a tile assignment")
    while not scanner.accept("]"):
        if sizes:
            scanner.expect(",", "or ']' in a tile assignment")
        sizes.append(scanner.integer("a size of the tile assignment"))
    if scanner.accept("<="):
        scanner.pos = start
        read_iota(scanner)
        return
    count, total = 0, 1
    for size in sizes:
        total *= size
    while INTEGER.match(scanner.text, scanner.pos):
        scanner.integer("a device id")
        count += 1
        before = scanner.pos
        if not scanner.accept(",") or not scanner.peek().isdigit():
            scanner.pos = before
            break
    if count != total:
        raise scanner.error(f"the list of {count} devices does not match the tile assignment size {total}", start)


def read_result_accuracy(scanner: Scanner) -> Word:
    """`{mode=highest}` or `{tolerance={rtol=0.5, atol=1.0, ulps=2}}`."""
    scanner.skip()
    start = scanner.pos
    raw = scanner.group() if scanner.peek() == "{" else bare_word(scanner)
    plain = "".join(raw.split())
    mode = re.fullmatch(r"\{mode=([A-Za-z]+)\}", plain)
    if mode:
        if mode.group(1).lower() not in ("default", "highest"):
            raise scanner.error(f"the mode of result_accuracy is default or highest, found '{mode.group(1)}'", start)
    elif not re.fullmatch(r"\{tolerance=\{((atol|rtol|ulps)=[-+0-9.eE]+,?)*\}\}", plain):
        raise scanner.error("result_accuracy is {mode=..} or {tolerance={atol=.., rtol=.., ulps=..}}", start)
    return Word(raw)
