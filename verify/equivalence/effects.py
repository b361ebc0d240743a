"""Effects of two modules: paired one by one, in an order that the module after still demands.

Trusted. The order of the text alone is one that a compiler may change. What is demanded follows from operands, which
the graph shows, and from control edges and add-dependency, which it leaves out; so these are kept here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from hloproof.equivalence.graph import Node
from hloproof.equivalence.kernel import Denied
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.async_syntax import step_of
from hloproof.models.hlo.attributes import Word
from hloproof.models.hlo.module import Instruction
from hloproof.models.hlo.opcodes import HANDS_ON

Numbers = frozenset[int]
"""Effects by their place in the text."""
_NONE: Numbers = frozenset()


@dataclass(frozen=True, slots=True)
class Earlier:
    """Effects that are over where a value is there: all of them, and those of which a control edge says so."""

    all: Numbers = _NONE
    told: Numbers = _NONE

    def joined(self, *others: Earlier) -> Earlier:
        """What is over where all of the values are there."""
        return Earlier(self.all.union(*(o.all for o in others)), self.told.union(*(o.told for o in others)))

    def behind(self, waited: Numbers) -> Earlier:
        """The same behind control edges from these effects."""
        return Earlier(self.all | waited, self.told | waited) if waited else self


@dataclass(frozen=True, slots=True)
class Standing:
    """What is over where an instruction is: for each part of its value, and for who waits for the instruction itself.

    A computation is no step: whoever uses a part of what it returns waits for what that part is made from, as after the
    call has been put in line. Otherwise an order could be left out in two steps, first into a call, then out of it.
    """

    value: Any = Earlier()
    """An `Earlier`, or a list of such for the parts of a tuple."""
    whole: Numbers = _NONE
    """The effects that are over when the instruction is, which is what a control edge from it waits for."""
    flying: Standing | None = None
    """Of a start or update: what is over where its done is."""

    @property
    def every(self) -> Earlier:
        """What is over where all parts of the value are there."""
        return Earlier().joined(*_leaves(self.value))

    def part(self, k: int) -> Any:
        """Part k of a tuple's value."""
        return self.value[k] if isinstance(self.value, list) else self.value

    def behind(self, waited: Numbers) -> Standing:
        """The same behind control edges from these effects."""
        return Standing(_behind(self.value, waited), self.whole | waited, self.flying) if waited else self


NOTHING: Final = Standing()


def _leaves(value: Any) -> Iterator[Earlier]:
    if isinstance(value, list):
        for part in value:
            yield from _leaves(part)
    else:
        yield value


def _behind(value: Any, waited: Numbers) -> Any:
    return [_behind(part, waited) for part in value] if isinstance(value, list) else value.behind(waited)


def mark(k: int) -> Earlier:
    """Stands for what is over where part k of a loop's state is, when a turn begins: for all, and for what is told."""
    return Earlier(frozenset((-1 - 2 * k,)), frozenset((-2 - 2 * k,)))


def after_turns(over: Sequence[Earlier], turns: Mapping[int, Earlier]) -> list[Earlier]:
    """What is over where the parts of a state are after any number of turns: `over` says it of the first state, and
    `turns`, in marks, of what a turn leaves in each part that it changes."""
    now = list(over)
    while any(o != Earlier() for o in now):
        more = [now[k].joined(_of_marks(turns[k], now)) if k in turns else now[k] for k in range(len(now))]
        if more == now:
            break
        now = more
    return now


def _of_marks(marked: Earlier, now: Sequence[Earlier]) -> Earlier:
    def found(numbers: Numbers) -> Numbers:
        parts = (divmod(-1 - n, 2) for n in numbers if n < 0)
        given = _NONE.union(*(now[k].told if is_told else now[k].all for k, is_told in parts))
        return given.union(n for n in numbers if n >= 0)

    return Earlier(found(marked.all), found(marked.told))


HANDED_ON: Final = HANDS_ON | {"copy", "copy-done", "all-reduce-done", "add-dependency"}
"""Instructions that give their first operand, part by part."""


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

    def after(self, i: Instruction, known: Mapping[str, Standing], first: int, inside: Standing | None) -> Standing:
        """What is over where the instruction is, whose own effects are those from number `first` on; `known` says it of
        the instructions before, where there is anything to say, and `inside` of what its computation returns, where it
        runs one and that is followed."""
        names = [*waited_for(i)]
        if i.opcode == "add-dependency":
            names.append(i.operands[1])
        waited = _NONE.union(*(known.get(name, NOTHING).whole for name in names))
        operands = [known.get(o, NOTHING) for o in i.operands]
        if i.opcode == "tuple" or i.opcode == "get-tuple-element" or i.opcode in HANDED_ON:
            handed = [o.value for o in operands] if i.opcode == "tuple" else operands[0].value
            if i.opcode == "get-tuple-element":
                handed = operands[0].part(i.attributes.integer("index", 0))
            return Standing(handed, Standing(handed).every.all).behind(waited)
        everything = Earlier().joined(*(o.every for o in operands)).behind(waited)
        own = range(first, len(self.nodes))
        # What is inside of a computation that is followed waits for the parameters that it uses.
        follows = inside is not None and i.opcode != "conditional"
        for k in own:
            before = self.earlier.get(k, Earlier())
            self.earlier[k] = before.behind(waited) if follows else before.joined(everything)
        over = everything.all.union(own)
        result = Standing(Earlier(over, everything.told), over)
        if inside is not None:
            result = Standing(inside.value, over | inside.whole).behind(waited)
        match step_of(i.opcode):
            case "start":
                self.asynchronous = self.asynchronous or bool(own)
                return Standing(everything, everything.all, result)
            case "update":
                return Standing(everything, everything.all, operands[0].flying)
            case "done" if operands[0].flying is not None:
                flown = operands[0].flying
                return Standing(flown.value, flown.whole | over).behind(waited)
        return result


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
    if any(a is not b and a in same for a, b in pairs):
        raise Denied("effects come in another order")
    for k, (_, node) in enumerate(pairs):
        # Only what was told has to stay so; the module after may order more.
        if not (scheduled and not theirs.asynchronous) and not ours.earlier[k].told <= theirs.earlier[k].all:
            raise Denied(f"an effect ({node.head}) no longer waits for one before it")
    return pairs
