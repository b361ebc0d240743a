"""From the text of a module to its draft: headers, computations, instructions and operands as they are written.

Names, roots, parameter numbers and shapes are settled by `resolve`. All errors are InputError with line and column.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final

from hloproof.models.hlo.attributes import AttributeValue, ComputationRef, Word
from hloproof.models.hlo.draft import DraftComputation, DraftInstruction, DraftModule
from hloproof.models.hlo.opcodes import (
    COMPUTATION_ATTRIBUTES,
    MODULE_ATTRIBUTES,
    Opcode,
    attribute_refusal,
    refusal,
    row_of,
    suggestion,
)
from hloproof.models.hlo.text.attributes import algorithms_of, read_attribute
from hloproof.models.hlo.text.lexer import COMMENT, Scanner
from hloproof.models.hlo.text.shapes import read_shape, starts_shape
from hloproof.models.hlo.text.structured_attributes import not_a_word
from hloproof.models.stages import checkpoint

_HEAD = re.compile(r"(ROOT[ \t\r\n]+)?(%[A-Za-z0-9_.\-]+|[A-Za-z_][A-Za-z0-9_.\-]*)[ \t\r\n]*=[ \t\r\n]*", re.ASCII)
_OPCODE = re.compile(r"([A-Za-z][A-Za-z0-9_\-]*)[ \t\r\n]*\(", re.ASCII)
_NAMES = re.compile(
    r"[ \t\r\n]*(?:([%A-Za-z0-9_.\-]+(?:[ \t\r\n]*,[ \t\r\n]*[%A-Za-z0-9_.\-]+)*+)[ \t\r\n]*)?\)", re.ASCII
)
_NAME = re.compile(r"%[A-Za-z0-9_.\-]+|[A-Za-z_][A-Za-z0-9_.\-]*", re.ASCII)
_ATTRIBUTE = re.compile(r"[ \t\r\n]*,[ \t\r\n]*([A-Za-z_][A-Za-z0-9_.\-]*)=", re.ASCII)
_LITERAL = re.compile(r"[^()\"/{}]*\)")
_BLANKS = re.compile(r"\s+")
_COMPUTATION_HEAD = re.compile(r"(?:ENTRY\b\s*)?(?:%[A-Za-z0-9_.\-]+|[A-Za-z_][A-Za-z0-9_.\-]*)?\s*[({]", re.ASCII)
_SIGNATURE = re.compile(r"[ \t\r\n]*(?:[%A-Za-z0-9_.\-]+[ \t\r\n]*:|\)[ \t\r\n]*(?:->|\{))", re.ASCII)
"""What follows the parenthesis behind the name of a computation, and no opcode's."""
_TEXT_PROTO = re.compile(r"[a-z_]+[ \t]*(?::|\{[ \t\r\n]*[a-z_]+[ \t]*[:{])", re.ASCII)
_MAX_OPERANDS: Final = 500_000
_PREAMBLE: Final = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
_PREAMBLE_LINE = re.compile(r"[0-9]+[ \t]+[^\n]*", re.ASCII)


def _row(opcode: str) -> Opcode:
    row = row_of(opcode)
    assert row is not None, "unknown opcodes are refused where they are read"
    return row


def _only(known: frozenset[str], owner: str) -> Callable[[str], str | None]:
    """Refuses attributes that are not in `known`."""

    def refused(name: str) -> str | None:
        return None if name in known else f"{owner} takes no attribute {name}{suggestion(name, known)}"

    return refused


class DraftReader:
    """Reads one module at the scanner's cursor."""

    def __init__(self, scanner: Scanner) -> None:
        self.scanner = scanner
        self.draft = DraftModule("", scanner.pos)
        self.instruction: DraftInstruction | None = None

    def module(self) -> DraftModule:
        scanner, draft = self.scanner, self.draft
        scanner.skip()
        draft.pos = scanner.pos
        word = scanner.peek_word()
        if word == "HloModule":
            scanner.accept("HloModule")
            draft.name = scanner.name("the name of the module")
            scanner.accept(":")
            draft.attributes = self.attributes(_only(MODULE_ATTRIBUTES, "HloModule"), draft.places)
            self.preamble()
        elif _HEAD.match(scanner.text, scanner.pos, scanner.end) or self.without_name():
            return self.single_instruction()
        elif _TEXT_PROTO.match(scanner.text, scanner.pos, scanner.end):
            raise scanner.error("this is a protocol buffer in text form (HloModuleProto); convert it to HLO text first")
        elif not _COMPUTATION_HEAD.match(scanner.text, scanner.pos, scanner.end):
            raise scanner.error(f"expected 'HloModule', a computation or an instruction, found {scanner.found()}")
        while not scanner.at_end():
            self.computation()
        if not draft.computations:
            raise scanner.error("the module has no computation")
        if not draft.name:
            entries = [c for c in draft.computations if c.is_entry] or [draft.computations[-1]]
            draft.name = entries[0].name
        return draft

    def single_instruction(self) -> DraftModule:
        computation = DraftComputation("entry", self.scanner.pos, is_entry=True, free_operands=True)
        if self.without_name():
            self.finish_instruction(self.right_hand_side(computation, "", self.scanner.pos))
        else:
            self.instruction_into(computation)
        if not self.scanner.at_end():
            raise self.scanner.error(f"expected the end after a single instruction, found {self.scanner.found()}")
        computation.roots = [computation.instructions[-1]]
        self.draft.computations.append(computation)
        self.draft.name = computation.roots[0].name or computation.roots[0].opcode
        return self.draft

    def preamble(self) -> None:
        scanner = self.scanner
        while scanner.peek_word() in _PREAMBLE:
            self.draft.preamble.append(scanner.word("a block"))
            while found := scanner.match(_PREAMBLE_LINE):
                self.draft.preamble.append(found.group().rstrip())

    def computation(self) -> None:
        """`ENTRY %name (p: shape) -> shape { ... }, execution_thread="t"`."""
        scanner = self.scanner
        scanner.skip()
        start = scanner.pos
        is_entry = False
        if scanner.peek_word() == "ENTRY":
            scanner.accept("ENTRY")
            is_entry = True
        if scanner.peek() in ("{", "("):
            name = "entry" if is_entry else "computation"
        else:
            name = scanner.name("the name of a computation")
        computation = DraftComputation(name, start, is_entry=is_entry)
        if scanner.peek() == "(":
            self.signature(computation)
        self.body(computation)
        computation.attributes = self.attributes(_only(COMPUTATION_ATTRIBUTES, "a computation"))
        self.draft.computations.append(computation)

    def signature(self, computation: DraftComputation) -> None:
        scanner = self.scanner
        scanner.expect("(", "before the parameters")
        for _ in scanner.separated(")", "among the parameters"):
            scanner.name("the name of a parameter")
            scanner.expect(":", "after the name of a parameter")
            read_shape(scanner)
        scanner.expect("->", "after the parameters")
        scanner.skip()
        computation.result_pos = scanner.pos
        computation.result_shape = read_shape(scanner)

    def body(self, computation: DraftComputation) -> None:
        scanner = self.scanner
        scanner.expect("{", f"before the instructions of {computation.name}")
        scanner.enter()
        while not scanner.accept("}"):
            if scanner.pos >= scanner.end:
                raise scanner.error(f"the computation {computation.name} is never closed: expected '}}'")
            checkpoint()
            self.instruction_into(computation)
        scanner.leave()

    def nested(self, scanner: Scanner, attribute: str) -> ComputationRef:
        """A computation written in place of its name."""
        owner = self.instruction
        base = f"{owner.name or owner.opcode}.{attribute}" if owner else attribute
        name, n = base, 0
        taken = {c.name for c in self.draft.computations}
        while name in taken or name in scanner.text:
            n += 1
            name = f"{base}.{n}"
        computation = DraftComputation(name, scanner.pos, is_nested=True)
        self.body(computation)
        self.instruction = owner
        self.draft.computations.append(computation)
        return ComputationRef(name)

    def instruction_into(self, computation: DraftComputation) -> None:
        scanner = self.scanner
        head = _HEAD.match(scanner.text, scanner.pos, scanner.end)
        start = scanner.pos
        if head is not None:
            scanner.pos = head.end()
            root, name = head.group(1) is not None, head.group(2)
            if name == "ROOT":
                raise scanner.error("expected the name of an instruction behind ROOT, found '='", head.end(2))
        else:
            root = scanner.peek_word() == "ROOT"
            if root:
                scanner.accept("ROOT")
            name = scanner.name("the name of an instruction")
            scanner.expect("=", f"after the name {name}")
        instruction = self.right_hand_side(computation, name[1:] if name[0] == "%" else name, start)
        self.finish_instruction(instruction)
        if root:
            computation.roots.append(instruction)

    def without_name(self) -> bool:
        """A single instruction without a name comes next: `f32[4] negate(f32[4] p)`, `negate(f32[4])`."""
        scanner = self.scanner
        scanner.skip()
        if starts_shape(scanner):
            return not (scanner.peek() == "(" and _SIGNATURE.match(scanner.text, scanner.pos + 1, scanner.end))
        opcode = _OPCODE.match(scanner.text, scanner.pos, scanner.end)
        if opcode is None or row_of(opcode.group(1)) is None:
            return False
        return _SIGNATURE.match(scanner.text, opcode.end(), scanner.end) is None

    def finish_instruction(self, instruction: DraftInstruction) -> None:
        """The attributes behind the operands."""
        scanner = self.scanner
        self.instruction = instruction
        row = _row(instruction.opcode)
        if scanner.text.startswith(",", scanner.pos) or scanner.peek() == ",":
            instruction.attributes = self.attributes(partial(attribute_refusal, row))
        self.require(instruction, row)

    def right_hand_side(self, computation: DraftComputation, name: str, start: int) -> DraftInstruction:
        """`shape opcode(operands)`; the instructions inside the operands come before it."""
        scanner = self.scanner
        opcode = _OPCODE.match(scanner.text, scanner.pos, scanner.end)
        shape = None
        if opcode is None or opcode.group(1) == "b":
            if opcode is not None or starts_shape(scanner):
                shape = read_shape(scanner)
            scanner.skip()
            opcode = _OPCODE.match(scanner.text, scanner.pos, scanner.end)
        if opcode is None:
            raise scanner.error(f"expected an opcode and its operands in parentheses, found {scanner.found()}")
        if row_of(opcode.group(1)) is None:
            raise scanner.error(refusal(opcode.group(1)), opcode.start())
        scanner.pos = opcode.end()
        instruction = DraftInstruction(name, opcode.group(1), shape, start)
        if instruction.opcode == "parameter":
            at = scanner.pos
            number = scanner.integer("the parameter number")
            if number < 0:
                raise scanner.error("a parameter number is not negative", at)
            instruction.parameter_number = number
            scanner.expect(")", "after the parameter number")
        elif instruction.opcode == "constant":
            instruction.literal = self.literal()
        else:
            self.operands(computation, instruction)
        computation.instructions.append(instruction)
        return instruction

    def literal(self) -> str:
        """What stands between the parentheses of a constant, comments removed and white space folded."""
        scanner = self.scanner
        start = scanner.pos
        simple = _LITERAL.match(scanner.text, start, scanner.end)
        if simple is not None:
            scanner.pos = simple.end()
            raw = scanner.text[start : simple.end() - 1]
        else:
            scanner.pos -= 1
            raw = scanner.group()[1:-1]
            if "/" in raw and '"' not in raw:
                raw = COMMENT.sub(" ", raw)
        return _BLANKS.sub(" ", raw).strip()

    def operands(self, computation: DraftComputation, instruction: DraftInstruction) -> None:
        scanner = self.scanner
        simple = _NAMES.match(scanner.text, scanner.pos, scanner.end)
        if simple is not None:
            names = simple.group(1)
            if names is None:
                scanner.pos = simple.end()
                return
            if "," not in names:
                if _NAME.fullmatch(names):
                    scanner.pos = simple.end()
                    instruction.operands.append(names[1:] if names[0] == "%" else names)
                    return
            else:
                if names.count(",") >= _MAX_OPERANDS:
                    raise scanner.error(f"more than {_MAX_OPERANDS} operands")
                parts = [part.strip() for part in names.split(",")]
                if all(_NAME.fullmatch(part) for part in parts):
                    scanner.pos = simple.end()
                    instruction.operands.extend([p[1:] if p[0] == "%" else p for p in parts])
                    return
        scanner.enter()
        while not scanner.accept(")"):
            if instruction.operands:
                scanner.expect(",", "or ')' among the operands")
            self.operand(computation, instruction)
            if len(instruction.operands) > _MAX_OPERANDS:
                raise scanner.error(f"more than {_MAX_OPERANDS} operands")
        scanner.leave()

    def operand(self, computation: DraftComputation, instruction: DraftInstruction) -> None:
        """`%name`, `shape %name`, `%name#1#0` or an instruction without a name."""
        scanner = self.scanner
        scanner.skip()
        at = scanner.pos
        shape = read_shape(scanner) if starts_shape(scanner) else None
        scanner.skip()
        nested = _OPCODE.match(scanner.text, scanner.pos, scanner.end)
        if nested is not None:
            scanner.pos = at
            inner = self.right_hand_side(computation, "", at)
            self.require(inner, _row(inner.opcode))
            instruction.operands.append(inner)
            return
        if shape is not None and computation.free_operands and scanner.peek() in (",", ")"):
            instruction.operands.append(self._parameter(computation, "", shape, at))
            return
        scanner.skip()
        place = scanner.pos
        operand: str | DraftInstruction = scanner.name("the name of an operand")
        while scanner.accept("#"):
            number = scanner.integer("a tuple index")
            element = DraftInstruction("", "get-tuple-element", None, place)
            element.operands.append(operand)
            element.attributes.append(("index", number))
            computation.instructions.append(element)
            operand = element
        if shape is not None:
            if computation.free_operands and isinstance(operand, str):
                known = next((i for i in computation.instructions if i.name == operand), None)
                operand = known or self._parameter(computation, operand, shape, at)
            if instruction.declared_operands is None:
                instruction.declared_operands = []
            instruction.declared_operands.append((len(instruction.operands), shape, at))
        instruction.operands.append(operand)

    def _parameter(self, computation: DraftComputation, name: str, shape: object, pos: int) -> DraftInstruction:
        """A parameter that a single instruction implies by naming an operand with its shape."""
        parameter = DraftInstruction(name, "parameter", shape, pos)  # type: ignore[arg-type]
        parameter.parameter_number = sum(i.opcode == "parameter" for i in computation.instructions)
        computation.instructions.append(parameter)
        return parameter

    def require(self, instruction: DraftInstruction, row: Opcode) -> None:
        """Raises where a required attribute is missing."""
        if row.required and (missing := row.missing([name for name, _ in instruction.attributes])) is not None:
            raise self.scanner.error(f"{row.name} needs {missing}=", instruction.pos)

    def attributes(
        self, refused: Callable[[str], str | None], places: dict[str, int] | None = None
    ) -> list[tuple[str, AttributeValue]]:
        """`, name=value, ...`; raises where a name comes twice, or where `refused` says why it may not stand here.
        Where names stand is written into `places`."""
        scanner = self.scanner
        out: list[tuple[str, AttributeValue]] = []
        while True:
            found = _ATTRIBUTE.match(scanner.text, scanner.pos, scanner.end)
            if found is not None:
                name = found.group(1)
                at = found.start(1)
                scanner.pos = found.end()
            else:
                if not scanner.accept(","):
                    break
                scanner.skip()
                at = scanner.pos
                name = scanner.word("the name of an attribute")
                scanner.expect("=", f"after the attribute name {name}")
            if out and any(key == name for key, _ in out):
                raise scanner.error(f"the attribute {name} is given twice", at)
            if (why := refused(name)) is not None:
                raise scanner.error(why, at)
            if places is not None:
                places[name] = at
            start = scanner.pos
            value = read_attribute(scanner, name, self.nested)
            if name == "algorithm" and self.instruction is not None:
                known = algorithms_of(self.instruction.opcode)
                if not isinstance(value, Word) or value.text not in known:
                    raise scanner.error(not_a_word(name, scanner.text[start : scanner.pos], known), start)
            out.append((name, value))
        return out
