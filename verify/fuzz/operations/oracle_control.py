"""Part of target `ops`: operations on tuples, tokens and sizes, against a run on elements that are all different.

What such an operation returns it has been given, so the number of an element tells where it comes from.
"""

from __future__ import annotations

from collections.abc import Iterator

from hloproof.definitions import define
from hloproof.fuzz.operations.plain_maps import not_plain
from hloproof.fuzz.operations.predicate import count_reads
from hloproof.fuzz.target import Failure
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Module, Operation
from hloproof.models.hlo.shape import ArrayShape, Index, Shape, TupleShape, leaves
from hloproof.models.indexing import input_to_output, output_to_input
from hloproof.models.interpreter.maps import relation
from hloproof.models.interpreter.operations.collective import Devices
from hloproof.models.interpreter.run import Machine
from hloproof.models.interpreter.semantics.hashed import Hashed
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.value import Array, Token, Value, indices

Source = tuple[int, Index, Index]
"""An operand, a position in its tuple, an index."""
Origins = set[tuple[Index, Source]]


def numbered(shape: Shape, counter: Iterator[int]) -> Value:
    """A value of this shape whose elements are the next numbers."""
    if isinstance(shape, TupleShape):
        return tuple(numbered(s, counter) for s in shape.elements)
    if isinstance(shape, ArrayShape):
        return Array(shape.element_type, shape.dimensions, [next(counter) for _ in range(shape.elements)])
    return Token()


def arrays(value: Value, at: Index = ()) -> Iterator[tuple[Index, Array]]:
    if isinstance(value, tuple):
        for k, part in enumerate(value):
            yield from arrays(part, (*at, k))
    elif isinstance(value, Array):
        yield at, value


def _result(module: Module, given: list[Value]) -> Value:
    root = module.entry.root
    if root.opcode == "send":
        return (given[0], Array("u32", (), [0]), Token())
    if root.opcode == "recv-done":
        assert isinstance(given[0], tuple)
        return (given[0][0], Token())
    opaque = root.opcode == "custom-call"
    by_number = {module.entry.by_name[o].parameter_number or 0: v for o, v in zip(root.operands, given, strict=True)}
    machine = Machine(module, Hashed() if opaque else Real(), Devices(), 0)
    return machine.run([tuple(by_number[n] for n in range(len(by_number)))])[0]


def came_from(module: Module) -> dict[int, Origins]:
    """For each array of the result, which element of which operand each of its elements is."""
    op = Operation.of(module.entry.root, module.entry)
    counter = iter(range(1, 100_000))
    given = [numbered(s, counter) for s in op.operands]
    where: dict[int, Source] = {}
    for k, value in enumerate(given):
        for position, array in arrays(value):
            where |= {n: (k, position, index) for index, n in zip(indices(array.sizes), array.data, strict=True)}
    found: dict[int, Origins] = {}
    result = dict(arrays(_result(module, given)))
    for number, (position, leaf) in enumerate(leaves(op.shape)):
        if isinstance(leaf, ArrayShape):
            out = result[position]
            found[number] = {
                (index, where[n]) for index, n in zip(indices(out.sizes), out.data, strict=True) if n in where
            }
    return found


def examine_control(module: Module) -> tuple[str, ...]:
    """Raises Failure where the definition or a map set says otherwise."""
    op = Operation.of(module.entry.root, module.entry)
    if op.opcode == "custom-call":
        _everything(op)
    elif op.opcode == "get-dimension-size":
        _agree(op, 0, set())
    elif op.opcode == "set-dimension-size":  # moves no elements
        _agree(op, 0, {(d, spot) for d in indices(_sizes(op.shape)) for spot in ((0, (), d), (1, (), ()))})
        for m in (m for s in (*output_to_input(op), *input_to_output(op)) for m in s.maps):
            if why := not_plain(m, op.opcode):
                raise Failure(f"{op.opcode}: maps are not plain", f"{why}: {m}")
    else:
        for output, pairs in came_from(module).items():
            _agree(op, output, pairs)
    return (op.opcode,)


def _agree(op: Operation, output: int, pairs: Origins) -> None:
    """The definition and the maps of both directions relate these pairs, and say of what kind they are alike."""
    stated: Origins = set()
    for operand, shape in enumerate(op.operands):
        for position, leaf in leaves(shape):
            if isinstance(leaf, ArrayShape):
                definition = define(op, output, operand, position)
                stated |= {(d, (operand, position, x)) for d, x, _ in count_reads(definition, _no_numbers)}
    _same(op, f"the definition of output {output}", stated, pairs)
    forwards = output_to_input(op, output)
    maps: Origins = {(d, (s.operand, s.position, x)) for s in forwards for m in s.maps for d, x in relation(m)}
    _same(op, f"the output-to-input maps of output {output}", maps, pairs)
    backwards: Origins = set()
    for operand in range(len(op.operands)):
        for s in input_to_output(op, operand):
            if s.operand == output:
                backwards |= {(d, (operand, s.position, x)) for m in s.maps for x, d in relation(m)}
    _same(op, f"the input-to-output maps to output {output}", backwards, pairs)


def _everything(op: Operation) -> None:
    """Every element of a custom-call may depend on everything; nothing more than that is promised."""
    for output, (_, out) in enumerate(leaves(op.shape)):
        pairs: Origins = set()
        for operand, shape in enumerate(op.operands):
            pairs |= {(d, (operand, (), x)) for d in indices(_sizes(out)) for x in indices(_sizes(shape))}
            if any(s.kind != "bound" for s in input_to_output(op, operand)):
                raise Failure(f"{op.opcode}: more than a bound is promised", str(op))
        _agree(op, output, pairs)


def _sizes(shape: Shape) -> Index:
    assert isinstance(shape, ArrayShape)
    return shape.dimensions


def _no_numbers(operand: int, index: Index) -> int:
    raise NotModelled("values are not read at run time here")


def _same(op: Operation, what: str, stated: Origins, found: Origins) -> None:
    if stated != found:
        where = min(stated ^ found)
        verb = "states a read that is none" if where in stated else "misses a read"
        raise Failure(f"{op.opcode}: {what} {verb}", f"{where}: {op}")
