"""Effects of two modules: paired one by one, in an order that the module after still demands.

Trusted. The order of the text alone is one that a compiler may change. What is demanded follows from operands, which
the graph shows, and from control edges and add-dependency, which it leaves out; so these are kept here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hloproof.equivalence.graph import Node
from hloproof.equivalence.kernel import Denied
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.async_syntax import step_of
from hloproof.models.hlo.attributes import Word
from hloproof.models.hlo.module import Instruction

Numbers = frozenset[int]
"""Effects by their place in the text."""
_NONE: Numbers = frozenset()


@dataclass(frozen=True, slots=True)
class Earlier:
    """Effects that are over when an instruction is: all of them, and those of which a control edge says so."""

    all: Numbers = _NONE
    told: Numbers = _NONE
    flying: Numbers = _NONE
    """Effects of an asynchronous computation that has started, and is over at its done."""


def waited_for(i: Instruction) -> tuple[str, ...]:
    """The names of the instructions that control edges put before this one."""
    control = i.attributes.get("control-predecessors")
    return tuple(w.text for w in control if isinstance(w, Word)) if isinstance(control, tuple) else ()


@dataclass
class Effects:
    """The nodes with effects in the order of the text, and for each the effects that come before it."""

    nodes: list[Node] = field(default_factory=list)
    earlier: dict[int, Earlier] = field(default_factory=dict)
    unordered: str = ""
    """An instruction that waits for one further down."""
    asynchronous: bool = False
    """Whether one takes place beside what stands below it in the text."""

    def after(self, i: Instruction, known: Mapping[str, Earlier], first: int, inside: Numbers) -> Earlier:
        """What is over when the instruction is, whose own effects are those from number `first` on; `known` says it of
        the instructions before, where there is anything to say, and `inside` of which of its own effects control edges
        say that its result waits for them."""
        names = [*waited_for(i)]
        if i.opcode == "add-dependency":
            names.append(i.operands[1])
        operands = [known.get(o, Earlier()) for o in i.operands]
        waited = [known.get(name, Earlier()).all for name in names]
        told = _NONE.union(*waited, *(e.told for e in operands))
        everything = told.union(*(e.all for e in operands))
        own = range(first, len(self.nodes))
        for k in own:
            before = self.earlier.get(k, Earlier())
            self.earlier[k] = Earlier(before.all | everything, before.told | told)
        match step_of(i.opcode):
            case "start":
                self.asynchronous = self.asynchronous or bool(own)
                return Earlier(everything, told, inside.union(own))
            case "update":
                return Earlier(everything, told, operands[0].flying)
            case "done":
                everything |= operands[0].flying
        return Earlier(everything.union(own), told | inside)


def paired(ours: Effects, theirs: Effects, scheduled: bool) -> list[tuple[Node, Node]]:
    """Each effect with the one at its place. Raises Denied where equal ones come in another order, or where one no
    longer waits for another as it did, unless the module after is `scheduled` and so kept in the order of its text;
    NotModelled where the text is in no order of execution."""
    for effects in (ours, theirs):
        if effects.nodes and effects.unordered:
            raise NotModelled(f"{effects.unordered} waits for an instruction further down")
    pairs = list(zip(ours.nodes, theirs.nodes, strict=True))
    same = set(ours.nodes) & set(theirs.nodes)
    # A node of the graph is shared by equal operations. Where both modules have the very same effect, pairing it with
    # another one would say that they came in another order.
    if any(a is not b and (a in same or b in same) for a, b in pairs):
        raise Denied("effects come in another order")
    for k, (_, node) in enumerate(pairs):
        # Only what was told has to stay so; the module after may order more.
        if not (scheduled and not theirs.asynchronous) and not ours.earlier[k].told <= theirs.earlier[k].all:
            raise Denied(f"an effect ({node.head}) no longer waits for one before it")
    return pairs
