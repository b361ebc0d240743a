"""Where in a user's program an instruction comes from: what `metadata={...}` and the blocks behind the header say.

Two forms are in use. Older text has `source_file="a.py" source_line=12` in the metadata itself. Newer text has
`stack_frame_id=3`, a row of the block StackFrames, which leads through FileLocations to FileNames and FunctionNames.
Ids count from 1; `parent_frame_id` is written one higher than the parent's id, so that 1 ends a stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from hloproof.models.hlo.attributes import Word
from hloproof.models.hlo.module import Computation, Instruction, Module

_FIELD: Final = re.compile(r'(\w+)=(?:"((?:[^"\\]|\\.)*)"|(-?\d+))')
_ROW: Final = re.compile(r'\s*(\d+)\s+(?:"((?:[^"\\]|\\.)*)"|(\{.*\}))\s*')
_BLOCKS: Final = frozenset({"FileNames", "FunctionNames", "FileLocations", "StackFrames"})


@dataclass(frozen=True)
class SourceLine:
    """A line of the user's program; `line` counts from 1. `function` is empty where the text does not name it."""

    file: str
    line: int
    function: str = ""

    def __str__(self) -> str:
        within = f" in {self.function}" if self.function else ""
        return f"{self.file}:{self.line}{within}"


class SourceLines:
    """The source lines of one module's instructions."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._blocks = _blocks(module)

    def of(self, instruction: Instruction) -> SourceLine | None:
        """The innermost line; of a call or fusion without one, that of its body's root; None where none is said."""
        return next(iter(self.stack(instruction)), None)

    def stack(self, instruction: Instruction) -> tuple[SourceLine, ...]:
        """The lines that led to an instruction, innermost first."""
        for one in _with_roots(self._module, instruction):
            found = tuple(self._frames(fields(one)))
            if found:
                return found
        return ()

    def op_name(self, instruction: Instruction) -> str:
        """The name that the framework gave, such as `jit(f)/transpose`; empty where there is none."""
        names = (fields(one).get("op_name", "") for one in _with_roots(self._module, instruction))
        return next(filter(None, names), "")

    def nearest(self, computation: str, instruction: str) -> SourceLine | None:
        """The line of an instruction by its names, else that of the nearest one that it is computed from, else that of
        the nearest one that uses it: passes leave out the metadata of what they make. None where nothing says a line.
        """
        owner = self._module.find(computation)
        if owner is None or instruction not in owner.by_name:
            return None

        def operands(one: Instruction) -> Iterator[Instruction]:
            return (owner.by_name[name] for name in one.operands)

        def users(one: Instruction) -> Iterator[Instruction]:
            return iter(owner.users[one.name])

        for steps in (operands, users):
            seen, waiting = {instruction}, [owner.by_name[instruction]]
            while waiting:
                one = waiting.pop(0)
                if (found := self.of(one)) is not None:
                    return found
                fresh = [o for o in steps(one) if o.name not in seen]
                seen.update(o.name for o in fresh)
                waiting += fresh
        return None

    def _frames(self, given: Mapping[str, str]) -> Iterator[SourceLine]:
        if given.get("source_file"):
            yield SourceLine(given["source_file"], int(given.get("source_line", "0")))
            return
        frame, seen = given.get("stack_frame_id", "0"), set[str]()
        while frame not in seen and (row := self._blocks["StackFrames"].get(frame)) is not None:
            seen.add(frame)
            place = fields_of(row)
            location = fields_of(self._blocks["FileLocations"].get(place.get("file_location_id", ""), ""))
            file = self._blocks["FileNames"].get(location.get("file_name_id", ""))
            if file is not None:
                function = self._blocks["FunctionNames"].get(location.get("function_name_id", ""), "")
                yield SourceLine(file, int(location.get("line", "0")), function)
            frame = str(int(place.get("parent_frame_id", "1")) - 1)


def fields(instruction: Instruction) -> dict[str, str]:
    """The fields of an instruction's metadata, without quotes; empty where it has none."""
    given = instruction.attributes.get("metadata")
    return fields_of(given.text) if isinstance(given, Word) else {}


def fields_of(text: str) -> dict[str, str]:
    """`{op_name="a" source_line=3}` as names and values."""
    return {m[1]: m[3] if m[3] is not None else _plain(m[2]) for m in _FIELD.finditer(text)}


def _with_roots(module: Module, instruction: Instruction) -> Iterator[Instruction]:
    """The instruction, then the roots of what it calls, from the outside in."""
    seen: set[str] = set()
    waiting = [instruction]
    while waiting:
        one = waiting.pop(0)
        yield one
        for name in one.attributes.computations():
            body: Computation | None = module.find(name)
            if body is not None and name not in seen:
                seen.add(name)
                waiting.append(body.root)


def _blocks(module: Module) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {name: {} for name in _BLOCKS}
    rows: dict[str, str] = {}
    for text in module.preamble:
        for line in text.splitlines():
            if line.strip() in _BLOCKS:
                rows = found[line.strip()]
            elif row := _ROW.fullmatch(line):
                rows[row[1]] = _plain(row[2]) if row[2] is not None else row[3]
    return found


def _plain(quoted: str) -> str:
    return re.sub(r"\\(.)", r"\1", quoted)
