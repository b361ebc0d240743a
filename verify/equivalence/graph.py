"""One graph of tensors for both modules: a node is made once, so nodes that are written alike are the same object.

Trusted. A node is a value, not an instruction: calls, fusions, tuples and copies have vanished, layouts play no part.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import Any, Final

from hloproof.equivalence.answer import Place
from hloproof.models.hlo.attributes import Attributes

Side = int
"""0 for the module before, 1 for the one after."""


class Node:
    """A tensor, or the tuple of results of one operation.

    `key` is what identifies the operation beside head, type and operands: attributes without names, in order. `bodies`
    are functions that the operation applies, each a value over `bound` nodes: comparators, combiners, loop bodies.
    """

    __slots__ = (
        "attributes", "bodies", "head", "key", "of_constants", "operands", "places", "serial", "sizes", "static", "type"
    )  # fmt: skip

    def __init__(
        self,
        serial: int,
        head: str,
        type_: str,
        sizes: tuple[int, ...],
        operands: tuple[Node, ...],
        key: Any,
        bodies: tuple[Node, ...],
        attributes: Attributes,
        static: bool,
    ) -> None:
        self.serial, self.head, self.type, self.sizes = serial, head, type_, sizes
        self.operands, self.key, self.bodies, self.attributes = operands, key, bodies, attributes
        self.static = static
        """Every element follows from constants and its index alone."""
        self.of_constants: bool = static or (bool(operands) and all(o.of_constants for o in operands))
        """Whether nothing that the tensor is made of is given from outside."""
        self.places: list[Place | None] = [None, None]

    def __repr__(self) -> str:
        return f"{self.head}#{self.serial}{list(self.sizes)}"


def operands_first(root: Node, known: Container[object]) -> Iterator[Node]:
    """The nodes below that are not known, each after its operands; each is to be known before the next is asked for."""
    stack = [root]
    while stack:
        node = stack[-1]
        if node in known:
            stack.pop()
            continue
        waiting = [o for o in node.operands if o not in known]
        if waiting:
            stack.extend(waiting)
            continue
        stack.pop()
        yield node


def applies_functions(root: Node) -> bool:
    """Whether a function applies others: their arguments go by the same names, so its own cannot be renamed."""
    seen, stack = {root}, [root]
    while stack:
        node = stack.pop()
        if node.bodies:
            return True
        new = [o for o in node.operands if o not in seen]
        seen.update(new)
        stack += new
    return False


STATIC_HEADS: Final = frozenset(
    {
        "add",
        "and",
        "broadcast",
        "bitcast",
        "clamp",
        "compare",
        "concatenate",
        "convert",
        "divide",
        "iota",
        "maximum",
        "minimum",
        "multiply",
        "negate",
        "not",
        "or",
        "pad",
        "remainder",
        "reshape",
        "reverse",
        "select",
        "shift-left",
        "shift-right-logical",
        "slice",
        "subtract",
        "transpose",
        "xor",
        "sign",
        "abs",
        "is-finite",
        "bitcast-convert",
        "sqrt",
        "floor",
        "ceil",
        "round-nearest-even",
        "round-nearest-afz",
        "shift-right-arithmetic",
        "popcnt",
        "count-leading-zeros",
    }
)
"""Operations that are evaluated when all operands are static."""


class Graph:
    """Makes nodes; equal ones are one."""

    def __init__(self) -> None:
        self.nodes: dict[tuple[Any, ...], Node] = {}
        self.unknown: set[str] = set()
        """What is written beside operations, of which it is not known what it says."""
        self.assumed: set[str] = set()
        """What is taken for granted in what the modules write, to be told with a proof."""

    def node(
        self,
        head: str,
        type_: str,
        sizes: tuple[int, ...],
        operands: Iterable[Node] = (),
        key: Any = (),
        bodies: Iterable[Node] = (),
        attributes: Attributes = Attributes(),
    ) -> Node:
        operands, bodies = tuple(operands), tuple(bodies)
        identity = (head, type_, sizes, operands, key, bodies)
        found = self.nodes.get(identity)
        if found is None:
            static = head == "constant" or (head in STATIC_HEADS and all(o.static for o in operands))
            if head == "dynamic-slice" and operands[0].sizes == sizes:  # its starts are clamped to 0
                static = operands[0].static
            found = Node(len(self.nodes), head, type_, sizes, operands, key, bodies, attributes, static)
            self.nodes[identity] = found
        return found

    def replaced(self, roots: Iterable[Node], by: dict[Node, Node]) -> list[Node]:
        """The roots with nodes replaced, in bodies too: those of loops may mention outer values. The places of the old
        nodes are taken over.

        A loop binds its states: where states of a level are replaced, the bodies of a loop of that level keep theirs,
        for two loops one after the other have the same names for them.
        """
        roots = list(roots)
        bound = {n.key[1] for n in by if n.head == "bound" and isinstance(n.key, tuple) and n.key[0] == "state"}
        done = dict(by)
        first = min((n.serial for n in by), default=0)
        stack = list(roots)
        while stack:
            node = stack[-1]
            if node in done:
                stack.pop()
                continue
            if node.serial < first:  # made before any of those replaced, so it does not hold them
                done[node] = node
                stack.pop()
                continue
            binds = node.head == "while" and isinstance(node.key, tuple) and node.key[0] in bound
            open_ = [o for o in (*node.operands, *(() if binds else node.bodies)) if o not in done]
            if open_:
                stack.extend(open_)
                continue
            stack.pop()
            operands = tuple(done[o] for o in node.operands)
            bodies = node.bodies if binds else tuple(done[o] for o in node.bodies)
            if operands == node.operands and bodies == node.bodies:
                done[node] = node
                continue
            new = self.node(node.head, node.type, node.sizes, operands, node.key, bodies, node.attributes)
            for side in (0, 1):
                if new.places[side] is None:
                    new.places[side] = node.places[side]
            done[node] = new
        return [done[r] for r in roots]
