"""Modules to HLO text that `parse_module` reads back to an equal module."""

from __future__ import annotations

from hloproof.models.hlo.attributes import Attributes
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.text.attributes import print_attribute
from hloproof.models.hlo.text.shapes import print_shape


def print_module(module: Module) -> str:
    """The text of a module, one instruction per line, names with `%`, operands without shapes."""
    lines = [f"HloModule {module.name}{_attributes(module.attributes)}", ""]
    for line in module.preamble:
        if not line[0].isdigit() and lines[-1]:
            lines.append("")
        lines.append(line)
    if module.preamble:
        lines.append("")
    for computation in module.computations:
        lines.extend(_computation_lines(computation, computation.name == module.entry_name))
        lines.append("")
    return "\n".join(lines)


def print_modules(modules: tuple[Module, ...]) -> str:
    """Several modules in one text, separated as `parse_modules` expects."""
    return "\n// -----\n\n".join(print_module(m) for m in modules)


def print_instruction(instruction: Instruction) -> str:
    """`%name = shape opcode(%operand), attribute=value`."""
    if instruction.opcode == "parameter":
        inside = str(instruction.parameter_number)
    elif instruction.literal is not None:
        inside = instruction.literal
    else:
        inside = ", ".join(["%" + name for name in instruction.operands])
    return (
        f"%{instruction.name} = {print_shape(instruction.shape)} {instruction.opcode}({inside})"
        f"{_attributes(instruction.attributes)}"
    )


def _attributes(attributes: Attributes) -> str:
    return "".join([", " + print_attribute(name, value) for name, value in attributes.pairs])


def _bare(name: str) -> str:
    """As the head of a computation is read by XLA: without %, where the name can be told without it."""
    return name if name[0].isalpha() or name[0] == "_" else f"%{name}"


def _computation_lines(computation: Computation, entry: bool) -> list[str]:
    parameters = ", ".join(f"{_bare(p.name)}: {print_shape(p.shape, layout=False)}" for p in computation.parameters)
    result = print_shape(computation.root.shape, layout=False)
    head = f"{'ENTRY ' if entry else ''}%{computation.name} ({parameters}) -> {result} {{"
    body = [
        ("  ROOT " if i.name == computation.root_name else "  ") + print_instruction(i)
        for i in computation.instructions
    ]
    return [head, *body, "}" + _attributes(computation.attributes)]
