"""Part of target `ops`: modules that are only run, and those that have no meaning, which must not run."""

from __future__ import annotations

from hloproof.fuzz.operations.generators.runs import REFUSED
from hloproof.fuzz.operations.malformed import examine_malformed
from hloproof.fuzz.operations.tagged_run import Tagged
from hloproof.fuzz.target import Failure
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Module
from hloproof.models.interpreter.run import Machine
from hloproof.models.interpreter.semantics.element_type import INTEGERS
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.value import indices


def examine_run(module: Module) -> tuple[str, ...]:
    """Raises Failure where a module that has no meaning runs, or one that has does not."""
    tagged = Tagged(module, 0)
    machine = Machine(module, Real(), tagged.across, 0)
    try:
        found = machine.run(machine.random_inputs())
    except NotModelled as reason:
        if module.name != REFUSED:
            raise Failure(f"{tagged.op.opcode}: does not run", str(reason)) from reason
        return (f"{tagged.op.opcode}: refused by the interpreter",)
    if module.name == REFUSED:
        raise Failure(f"{tagged.op.opcode}: runs what has no meaning", f"{tagged.op}: {found}")
    examine_malformed(tagged, only_run=True)
    if tagged.op.opcode == "iota":
        _examine_tags(tagged)
    return (f"{tagged.op.opcode}: runs",)


def _examine_tags(tagged: Tagged) -> None:
    """Where reads are counted, integers are the numbers that they are, since they may be indices; other constants count
    nothing."""
    ((found,),), axis = tagged.run({}), tagged.op.attributes.integer("iota_dimension", 0)
    is_index = found.element_type in INTEGERS
    if found.data != [d[axis] if is_index else 0 for d in indices(found.sizes)]:
        raise Failure("iota: counts as something that is read", str(found))
