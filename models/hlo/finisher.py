"""One computation of a module: from drafts of its instructions to instructions, its callees being settled."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from hloproof.models.hlo.async_syntax import check_link, check_wrapped, step_of
from hloproof.models.hlo.attributes import Attributes, Word
from hloproof.models.hlo.draft import DraftComputation, DraftInstruction
from hloproof.models.hlo.inference.infer import ShapeError, Signature, compatible, infer
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.hlo.shape import Shape, TupleShape, leaves
from hloproof.models.hlo.text.lexer import Scanner
from hloproof.models.hlo.text.literal import LiteralError, check_literal
from hloproof.models.hlo.text.shapes import print_shape

NO_ATTRIBUTES: Final = Attributes()


class Finisher:
    """Settles one computation whose callees are settled."""

    def __init__(self, draft: DraftComputation, signatures: dict[str, Signature], scanner: Scanner) -> None:
        self.draft, self.signatures, self.scanner = draft, signatures, scanner
        self.shapes: dict[str, Shape] = {}
        self.links: dict[str, tuple[Instruction, Instruction | None]] = {}
        """Asynchronous instructions so far, each with the start that its chain leads to."""
        self.doubtful_tuples: list[tuple[DraftInstruction, str]] = []

    def finish(self) -> Computation:
        draft, scanner = self.draft, self.scanner
        if not draft.instructions:
            raise scanner.error(f"the computation {draft.name} has no instructions", draft.pos)
        self.name_the_nameless()
        instructions = tuple([self.instruction(i) for i in draft.instructions])
        self.check_wrapped()
        self.check_predecessors()
        root = self.root(instructions)
        parameters = self.parameters()
        root_shape = self.shapes[root]
        if draft.result_shape is not None and not compatible(draft.result_shape, root_shape, exactly=True):
            raise scanner.error(
                f"the result of {draft.name} is declared as {print_shape(draft.result_shape)}, "
                f"its root is {print_shape(root_shape)}",
                draft.result_pos,
            )
        self.signatures[draft.name] = Signature(parameters, root_shape)
        attributes = Attributes(tuple(draft.attributes)) if draft.attributes else NO_ATTRIBUTES
        return Computation(draft.name, instructions, root, attributes, scanner.position(draft.pos))

    def name_the_nameless(self) -> None:
        """Instructions inside operand lists get the name of their opcode, made unique; `%p#1` the name `p.1`."""
        nameless = [i for i in self.draft.instructions if not i.name]
        if not nameless and not self.draft.free_operands:
            return
        taken = {i.name for i in self.draft.instructions if i.name}
        elements: dict[tuple[str, int], DraftInstruction] = {}
        kept: list[DraftInstruction] = []
        for instruction in self.draft.instructions:
            for k, operand in enumerate(instruction.operands):
                if isinstance(operand, DraftInstruction):
                    instruction.operands[k] = operand.name
            if not instruction.name:
                base = instruction.opcode
                if instruction.opcode == "get-tuple-element" and instruction.shape is None:
                    source = instruction.operands[0]
                    index = instruction.attributes[0][1] if instruction.attributes else None
                    assert isinstance(source, str)
                    if isinstance(index, int):
                        base = f"{source}.{index}"
                        known = elements.setdefault((source, index), instruction)
                        if known is not instruction:
                            instruction.name = known.name
                            continue
                name, n = base, 0
                while name in taken:
                    n += 1
                    name = f"{base}.{n}"
                taken.add(name)
                instruction.name = name
            kept.append(instruction)
        self.draft.instructions[:] = kept

    def instruction(self, draft: DraftInstruction) -> Instruction:
        scanner, shapes = self.scanner, self.shapes
        name = draft.name
        if name in shapes:
            raise scanner.error(f"duplicate name: there is already an instruction {name}", draft.pos)
        operand_shapes: list[Shape] = []
        for operand in draft.operands:
            shape = shapes.get(operand)  # type: ignore[arg-type]
            if shape is None:
                raise scanner.error(self.undefined(draft, str(operand)), draft.pos)
            operand_shapes.append(shape)
        if draft.declared_operands is not None:
            for number, declared, pos in draft.declared_operands:
                actual = operand_shapes[number]
                if declared is not actual and not compatible(declared, actual):
                    raise scanner.error(
                        f"the declared operand shape {print_shape(declared)} is not compatible with "
                        f"{draft.operands[number]}, which is {print_shape(actual)}",
                        pos,
                    )
        attributes = Attributes(tuple(draft.attributes)) if draft.attributes else NO_ATTRIBUTES
        shape = self.shape(draft, tuple(operand_shapes), attributes)
        if "parameter_replication" in attributes:
            self.check_replication(draft, shape, attributes)
        shapes[name] = shape
        instruction = Instruction(
            name,
            draft.opcode,
            shape,
            tuple(draft.operands),  # type: ignore[arg-type]
            attributes,
            draft.parameter_number,
            draft.literal,
            scanner.position(draft.pos),
        )
        if "-" in draft.opcode:
            self.link(instruction, draft)
        return instruction

    def check_replication(self, draft: DraftInstruction, shape: Shape, attributes: Attributes) -> None:
        """`parameter_replication={true,false}` has one flag per array of the shape."""
        flags, arrays = attributes.get("parameter_replication"), sum(1 for _ in leaves(shape))
        given = len(flags) if isinstance(flags, tuple) else 0 if flags == Word("{}") else 1
        if given != arrays:
            raise self.scanner.error(
                f"parameter_replication has {given} entries, and {draft.name} holds {arrays} arrays", draft.pos
            )

    def link(self, instruction: Instruction, draft: DraftInstruction) -> None:
        """Remembers asynchronous instructions, and compares updates and dones with what they follow."""
        step = step_of(instruction.opcode)
        if step is None:
            return
        before, start = self.links.get(instruction.operands[0], (None, None)) if instruction.operands else (None, None)
        if step != "start" and before is not None:
            try:
                check_link(instruction.opcode, instruction.attributes, instruction.shape, before, start)
            except ShapeError as error:
                raise self.scanner.error(str(error), draft.pos) from None
        self.links[instruction.name] = (instruction, instruction if step == "start" else start)

    def check_wrapped(self) -> None:
        """Sugared starts are checked as what they stand for, where the text shows the whole chain."""
        chains: dict[str, list[Instruction]] = {}
        for instruction, start in self.links.values():
            if start is not None:
                chains.setdefault(start.name, []).append(instruction)
        for name, chain in chains.items():
            if any(later.operands[0] != before.name for before, later in pairwise(chain)):
                continue
            try:
                check_wrapped(chain, self.shapes, self.signatures)
            except ShapeError as error:
                pos = next(i.pos for i in self.draft.instructions if i.name == name)
                raise self.scanner.error(str(error), pos) from None

    def shape(self, draft: DraftInstruction, operands: tuple[Shape, ...], attributes: Attributes) -> Shape:
        """The declared shape, checked against the inferred one; or the inferred one where none is declared."""
        scanner, declared = self.scanner, draft.shape
        opcode = draft.opcode
        try:
            inferred = infer(opcode, operands, attributes, declared, self.signatures)
        except ShapeError as error:
            raise scanner.error(str(error), draft.pos) from None
        if declared is None:
            if inferred is None:
                raise scanner.error(f"the shape of {opcode} cannot be inferred; it must be written", draft.pos)
            declared = inferred
        elif inferred is not None and inferred is not declared and not compatible(declared, inferred):
            message = (
                f"{draft.name} is declared as {print_shape(declared)}, but {opcode} of its operands gives "
                f"{print_shape(inferred)}"
            )
            if opcode != "tuple" or not _same_arity(declared, inferred):
                raise scanner.error(message, draft.pos)
            self.doubtful_tuples.append((draft, message))
        if draft.literal is not None:
            try:
                check_literal(draft.literal, declared)
            except LiteralError as error:
                raise scanner.error(str(error), draft.pos) from None
        return declared

    def undefined(self, draft: DraftInstruction, operand: str) -> str:
        """Why an operand has no shape yet: it does not exist, it comes later, or it waits for this very instruction."""
        by_name = {i.name: i for i in self.draft.instructions}
        if operand not in by_name:
            return f"the operand {operand} of {draft.name} is not defined"
        seen = {operand}
        parent: dict[str, str] = {operand: draft.name}
        queue = [operand]
        while queue:
            current = queue.pop()
            for below in by_name[current].operands:
                if below == draft.name:
                    chain = [current]
                    while chain[-1] != operand:
                        chain.append(parent[chain[-1]])
                    return "cycle: " + " -> ".join([draft.name, *reversed(chain), draft.name][:20])
                if isinstance(below, str) and below in by_name and below not in seen:
                    seen.add(below)
                    parent[below] = current
                    queue.append(below)
        return f"the operand {operand} of {draft.name} is defined only later, at {self.place(by_name[operand])}"

    def place(self, instruction: DraftInstruction) -> str:
        where = self.scanner.position(instruction.pos)
        return f"{where.line}:{where.column}"

    def check_predecessors(self) -> None:
        """Control predecessors exist, and together with operands they form no cycle."""
        control: dict[str, list[str]] = {}
        index = {i.name: n for n, i in enumerate(self.draft.instructions)}
        for instruction in self.draft.instructions:
            for key, value in instruction.attributes:
                if key != "control-predecessors" or not isinstance(value, tuple):
                    continue
                for word in value:
                    assert isinstance(word, Word)
                    if word.text not in index:
                        raise self.scanner.error(
                            f"the control predecessor '{word.text}' of {instruction.name} is not defined",
                            instruction.pos,
                        )
                    control.setdefault(instruction.name, []).append(word.text)
        if not any(index[p] >= index[name] for name, ps in control.items() for p in ps):
            return  # the order of the text is an order of the graph
        below = {i.name: [*map(str, i.operands), *control.get(i.name, [])] for i in self.draft.instructions}
        state: dict[str, int] = {}
        for first in below:
            if first in state:
                continue
            state[first] = 1
            stack = [(first, iter(below[first]))]
            while stack:
                name, remaining = stack[-1]
                step = next(remaining, None)
                if step is None:
                    state[name] = 2
                    stack.pop()
                elif step not in state:
                    state[step] = 1
                    stack.append((step, iter(below[step])))
                elif state[step] == 1:
                    names = [n for n, _ in stack]
                    cycle = " -> ".join([*names[names.index(step) :], step][:20])
                    raise self.scanner.error(
                        f"cycle through control predecessors: {cycle}", self.draft.instructions[index[name]].pos
                    )

    def root(self, instructions: tuple[Instruction, ...]) -> str:
        roots = self.draft.roots
        if len(roots) > 1:
            raise self.scanner.error("one computation has only one ROOT", roots[1].pos)
        return roots[0].name if roots else instructions[-1].name

    def parameters(self) -> tuple[Shape, ...]:
        by_number: dict[int, DraftInstruction] = {}
        for instruction in self.draft.instructions:
            if instruction.parameter_number is None:
                continue
            other = by_number.setdefault(instruction.parameter_number, instruction)
            if other is not instruction:
                raise self.scanner.error(
                    f"duplicate parameter number {instruction.parameter_number}: {other.name} has it, too",
                    instruction.pos,
                )
        for number, instruction in by_number.items():
            if number >= len(by_number):
                missing = next(n for n in range(len(by_number)) if n not in by_number)
                raise self.scanner.error(
                    f"parameter number {number} of {len(by_number)} parameters; number {missing} is missing",
                    instruction.pos,
                )
        return tuple(self.shapes[by_number[n].name] for n in range(len(by_number)))


def _same_arity(declared: Shape, inferred: Shape) -> bool:
    return (
        isinstance(declared, TupleShape)
        and isinstance(inferred, TupleShape)
        and len(declared.elements) == len(inferred.elements)
    )
