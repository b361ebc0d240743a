"""What two modules must share before it makes sense to compare them: parameters and results. Trusted."""

from __future__ import annotations

from hloproof.models.errors import InputError, Position
from hloproof.models.hlo.attributes import Aliasing, Word
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.shape import ArrayShape, BufferShape, Shape, TupleShape
from hloproof.models.hlo.text.lexer import Scanner
from hloproof.models.hlo.text.shapes import print_shape
from hloproof.models.hlo.text.structured_attributes import read_entry_shapes


def check_boundary(before: Module, after: Module, file: str = "") -> None:
    """Raises InputError at the line of `after` where parameters or results differ from those of `before` in number,
    element type, dimensions or tuple nesting. Layouts may differ. Raises it too for a module whose header names other
    parameters or another result than its entry has."""
    for module in (before, after):
        _check_header(module, file)
    ours, theirs = before.entry.parameters, after.entry.parameters
    if len(ours) != len(theirs):
        message = f"the entry takes {len(theirs)} parameters, before the pass it took {len(ours)}"
        raise _error(message, after.entry.position, file)
    for number, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if not _same(a.shape, b.shape):
            was, now = print_shape(_plain(a.shape)), print_shape(_plain(b.shape))
            raise _error(f"parameter {number} is {now}, before the pass it was {was}", b.position, file)
    a, b = before.entry.root, after.entry.root
    if not _same(a.shape, b.shape):
        was, now = print_shape(_plain(a.shape)), print_shape(_plain(b.shape))
        raise _error(f"the result is {now}, before the pass it was {was}", b.position, file)


def header_shapes(module: Module) -> tuple[Shape, ...]:
    """The shapes of the parameters and of the result, last, that the header of a module names; () where silent."""
    said = module.attributes.get("entry_computation_layout")
    if not isinstance(said, Word):
        return ()
    parameters, result = read_entry_shapes(Scanner(said.text))
    return *parameters, result


def entry_shapes(module: Module) -> tuple[Shape, ...]:
    """The same of the entry itself."""
    return *(p.shape for p in module.entry.parameters), module.entry.root.shape


def given_away(module: Module) -> frozenset[tuple[int, tuple[int, ...]]]:
    """The parts of parameters, by number and place, that a caller must give away: the result is written over them."""
    aliases = module.attributes.get("input_output_alias")
    entries = aliases if isinstance(aliases, tuple) else ()
    return frozenset(
        (a.operand, a.operand_index) for a in entries if isinstance(a, Aliasing) and a.kind == "must-alias"
    )


def _check_header(module: Module, file: str) -> None:
    said, own = header_shapes(module), entry_shapes(module)
    if said and (len(said) != len(own) or not all(map(_same, said, own))):
        text = module.attributes.get("entry_computation_layout")
        assert isinstance(text, Word)
        raise _error(
            f"the entry is not of the shapes that entry_computation_layout={text.text} names", module.position, file
        )


def _error(message: str, position: Position, file: str) -> InputError:
    return InputError(message, position.line, position.column, file=file)


def _plain(shape: Shape) -> Shape:
    if isinstance(shape, TupleShape):
        return TupleShape(tuple(_plain(e) for e in shape.elements))
    if isinstance(shape, BufferShape):
        return BufferShape(shape.inner.without_layout())
    return shape.without_layout() if isinstance(shape, ArrayShape) else shape


def _same(a: Shape, b: Shape) -> bool:
    return _plain(a) == _plain(b)
