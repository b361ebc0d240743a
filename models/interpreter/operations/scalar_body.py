"""Called computations on scalars: comparators, reducers, what map applies. Compiled once, called per element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from hloproof.models.expressions.python_text import compiled
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.hlo.opcodes import SCALAR
from hloproof.models.hlo.shape import ArrayShape, TupleShape
from hloproof.models.interpreter.semantics.semantics import Function, Scalars
from hloproof.models.interpreter.step import Body
from hloproof.models.interpreter.value import Array, Element, Value

_SAME: Final = frozenset({"copy", "reshape", "bitcast", "broadcast", "transpose"})
"""On scalars these change nothing."""


def scalar_body(
    computation: Computation,
    order: Sequence[Instruction],
    scalars: Scalars,
    literal: Callable[[Instruction], Value],
    evaluate: Callable[[Sequence[Value]], Value],
) -> Body:
    """The computation as a function on elements. `order` has operands before users; `evaluate` runs what is more than
    elementwise operations on scalars."""
    found = _compiled(computation, order, scalars, literal)
    if found is not None:
        return found
    shapes = [p.shape for p in computation.parameters]

    def run(elements: Sequence[Element]) -> tuple[Element, ...]:
        arguments: list[Value] = []
        for shape, element in zip(shapes, elements, strict=True):
            kind = shape.element_type if isinstance(shape, ArrayShape) else "pred"
            arguments.append(Array(kind, (), [element]))
        result = evaluate(arguments)
        parts = result if isinstance(result, tuple) else (result,)
        return tuple(p.data[0] for p in parts if isinstance(p, Array))

    return run


def _compiled(
    computation: Computation, order: Sequence[Instruction], scalars: Scalars, literal: Callable[[Instruction], Value]
) -> Body | None:
    slots: dict[str, int] = {p.name: n for n, p in enumerate(computation.parameters)}
    constants: list[tuple[int, Element]] = []
    program: list[tuple[int, Function, tuple[int, ...]]] = []
    count, root = len(slots), computation.root
    for i in order:
        if i.opcode == "parameter":
            if not (isinstance(i.shape, ArrayShape) and i.shape.rank == 0):
                return None
            continue
        if i.opcode == "tuple" and i is root:
            continue
        if not isinstance(i.shape, ArrayShape) or i.shape.rank or any(o not in slots for o in i.operands):
            return None
        kinds = [s.element_type for s in computation.operand_shapes(i) if isinstance(s, ArrayShape)]
        opcode = i.opcode
        if opcode in _SAME and kinds[0] == i.shape.element_type:
            slots[i.name] = slots[i.operands[0]]
            continue
        if opcode == "bitcast":
            opcode = "bitcast-convert"
        slots[i.name] = count
        if opcode == "constant":
            value = literal(i)
            if not isinstance(value, Array):
                return None
            constants.append((count, value.data[0]))
        elif opcode in SCALAR or opcode == "bitcast-convert":
            function = scalars.function(opcode, kinds, i.shape.element_type, i.attributes)
            program.append((count, function, tuple(slots[o] for o in i.operands)))
        else:
            return None
        count += 1
    if isinstance(root.shape, TupleShape) and root.opcode != "tuple":
        return None
    results = [slots[o] for o in root.operands] if root.opcode == "tuple" else [slots[root.name]]
    parameters = len(computation.parameters)
    if parameters == 2 and count == 3 and len(program) == 1 and results == [2] and program[0][2] == (0, 1):
        only = program[0][1]
        return lambda e: (only(e[0], e[1]),)
    return _as_python(parameters, constants, program, results)


def _as_python(
    parameters: int,
    constants: Sequence[tuple[int, Element]],
    program: Sequence[tuple[int, Function, tuple[int, ...]]],
    results: Sequence[int],
) -> Body:
    """The program as one Python function: slots are its local names."""

    def row(prefix: str, numbers: Sequence[int]) -> str:
        return "".join(f"{prefix}{n}, " for n in numbers)

    lines = ["def made(functions, constants):"]
    if program:
        lines.append(f"    {row('f', range(len(program)))}= functions")
    if constants:
        lines.append(f"    {row('v', [slot for slot, _ in constants])}= constants")
    lines.append("    def run(elements):")
    if parameters:
        lines.append(f"        {row('v', range(parameters))}= elements")
    lines += [f"        v{slot} = f{n}({row('v', sources)})" for n, (slot, _, sources) in enumerate(program)]
    lines += [f"        return ({row('v', results)})", "    return run"]
    run: Body = compiled(lines)([f for _, f, _ in program], [value for _, value in constants])
    return run
