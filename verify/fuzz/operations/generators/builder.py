"""The one writer of HLO modules for cases: instructions one after the other, each with what is drawn for it.

An operation is written once and drawn in two ways: alone on parameters of its own (`Builder`), and among others on what
they made (`modules/chain.py`). Attributes are printed by the models' own printer; the shape of a result is left to the
shape rules of the reader unless it is given. Extents zero and one come up often.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from hloproof.fuzz.drawing import Draw, Writer
from hloproof.models.hlo.text.attributes import print_attribute

Sizes = Sequence[int]
EXTENTS: Final = (0, 1, 1, 2, 2, 2, 3, 3, 4, 5)
POSITIVE: Final = (1, 2, 2, 3, 4, 5)
INDEX_TYPES: Final = ("s32", "u32", "s8", "u8", "s64")
FOLDS: Final = ("add", "flip", "most")


class Array(NamedTuple):
    """An array that an instruction made."""

    name: str
    sizes: tuple[int, ...]


def computation(head: str, *lines: str) -> str:
    """The text of a computation; its last line is the root."""
    return f"{head} {{\n" + "".join(f"  {line}\n" for line in [*lines[:-1], f"ROOT {lines[-1]}"]) + "}\n"


def body(name: str, parameters: str, *lines: str) -> str:
    """A computation of scalars."""
    return computation(name, *(f"{p} = f32[] parameter({k})" for k, p in enumerate(parameters)), *lines)


BODIES: Final[dict[str, str]] = {
    "add": body("add", "xy", "z = f32[] add(x, y)"),
    "flip": body("flip", "xy", "z = f32[] subtract(y, x)"),
    "most": body("most", "xy", "z = f32[] maximum(x, y)"),
    **{f"is_{d}": body(f"is_{d}", "xy", f"z = pred[] compare(x, y), direction={d}") for d in ("GE", "GT", "LE", "LT")},
    **{
        f"by_{a}{b}": body(f"by_{a}{b}", "abcd", f"z = pred[] compare({a}, {b}), direction=LT")
        for a, b in ("ab", "cd", "dc")
    },
    "pair_sum": body(
        "pair_sum",
        "abcd",
        "s = f32[] add(a, c)",
        "t = f32[] add(b, d)",
        "u = f32[] add(s, t)",
        "r = (f32[], f32[]) tuple(u, u)",
    ),
    "crossed": body(
        "crossed",
        "abcd",
        "s = f32[] subtract(d, a)",
        "t = f32[] maximum(b, c)",
        "u = f32[] add(s, t)",
        "v = f32[] subtract(t, s)",
        "r = (f32[], f32[]) tuple(u, v)",
    ),
}
"""Computations of scalars by name. `flip` is neither commutative nor associative: it tells orders apart; `pair_sum` and
`crossed` fold two arrays at once, `crossed` tells them and all orders apart."""


def shape(sizes: Sizes, kind: str = "f32") -> str:
    return f"{kind}[{','.join(map(str, sizes))}]"


def together(parts: Sequence[str]) -> str:
    """The shape of several arrays: of one the array's, of more a tuple; of none nothing is said."""
    return f"({', '.join(parts)})" if len(parts) > 1 else "".join(parts)


def braces(value: object) -> str:
    """Lists of numbers, or of lists of them, in braces."""
    return "{" + ",".join(map(braces, value)) + "}" if isinstance(value, (list, tuple, range)) else str(value)


def _attribute(name: str, value: Any) -> str:
    """Words and names as they are, lists of numbers in braces, everything else as modules print it."""
    text = braces(value) if isinstance(value, (list, range)) else value
    return f"{name}={text}" if isinstance(text, str) else print_attribute(name, value)


class Builder(Writer):
    """A module whose entry applies one operation to its parameters."""

    least = 0
    """The least size that a step may leave a dimension."""
    folds: tuple[str, ...] = FOLDS

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.header = ""
        self.module_name = "case"
        self.lines: list[str] = []
        self.bodies: dict[str, str] = {}
        self.parameters = 0

    def given(self, of_shape: str) -> str:
        """A new parameter of this shape: its name."""
        name = f"p{self.parameters}"
        self.lines.append(f"{name} = {of_shape} parameter({self.parameters})")
        self.parameters += 1
        return name

    def tensor(self, least: int = 0, most: int = 4, elements: int = 48) -> Array:
        """An array of `least` to `most` dimensions to work on."""
        return self.array(self.box(least, most, elements))

    def beside(self, x: Array, axis: int) -> list[Array]:
        """Up to three arrays of the same sizes, along one dimension apart."""
        return [self.array(resized(x.sizes, axis, self.one_of(EXTENTS))) for _ in range(self.number(0, 3))]

    def array(self, sizes: Sizes) -> Array:
        """An array of these sizes."""
        return Array(self.given(shape(sizes)), tuple(sizes))

    def zero(self) -> Array:
        """A scalar to begin with."""
        return self.array(())

    def starts(self, rank: int) -> list[Array]:
        """Where a window of so many dimensions begins: a number each, or one vector, as older modules have it."""
        kind = self.one_of(INDEX_TYPES)
        shapes = [shape([rank], kind)] if rank and self.chance(4) else [shape([], kind)] * rank
        return [Array(self.given(s), ()) for s in shapes]

    def op(
        self, opcode: str, *operands: Array | str, sizes: Sizes | None = None, result: str = "", **attributes: Any
    ) -> Array:
        """Applies an operation to arrays, or to new parameters of the shapes named. `sizes` are those of the result,
        which are not written; `result` is its shape where no rule tells it. Attributes that are None are left out."""
        names = [o.name if isinstance(o, Array) else self.given(o) for o in operands]
        tail = self.attributes(attributes)
        self.lines.append(f"r = {f'{result} ' if result else ''}{opcode}({', '.join(names)}){tail}")
        return Array("r", tuple(sizes or ()))

    def attributes(self, values: dict[str, Any]) -> str:
        """As text, each after a comma; the module gets the computations of scalars that they name."""
        self.bodies |= {v: BODIES[v] for v in values.values() if isinstance(v, str) and v in BODIES}
        return "".join(f", {_attribute(k, v)}" for k, v in values.items() if v is not None)

    def text(self) -> str:
        entry = computation("ENTRY e", *self.lines)
        return f"HloModule {self.module_name}{self.header}\n\n{''.join(self.bodies.values())}{entry}"

    # --- what is drawn ---------------------------------------------------------------------------------------------

    def sizes(self, least: int = 0, most: int = 4, of: Sequence[int] = EXTENTS) -> list[int]:
        return [self.one_of(of) for _ in range(self.number(least, most))]

    def box(self, least: int = 0, most: int = 4, elements: int = 48) -> list[int]:
        """Sizes of at most so many elements together, larger ones in low ranks; one box in sixteen has none."""
        found, left = list[int](), elements
        for _ in range(self.number(least, most)):
            found.append(self.one_of([n for n in (1, 2, 2, 3, 3, 4, 5, 6, 7, 9) if n <= left]))
            left //= found[-1]
        if found and self.chance(16):
            found[self.number(0, len(found) - 1)] = 0
        return self.shuffled(found)

    def axis(self, sizes: Sizes) -> int:
        return self.number(0, len(sizes) - 1)

    def some(self, items: Sequence[Any], least: int = 0) -> list[Any]:
        """At least so many of the items, in any order."""
        return self.shuffled(items, self.number(min(least, len(items)), len(items)))

    def grouped(self, factors: Sizes) -> list[int]:
        """A factorisation of the product of the factors."""
        out: list[int] = []
        for f in factors:
            if out and self.chance(2):
                out[-1] *= f
            else:
                out.append(f)
        return out


Write = Callable[[Builder], None]
"""Draws an operation and writes it."""


def one(opcode: str, *operands: str, result: str = "", header: str = "", **attributes: Any) -> str:
    """The text of a module of one operation, with nothing drawn."""
    made = Builder(_nothing)
    made.header = header
    made.op(opcode, *operands, result=result, **attributes)
    return made.text()


def _nothing(strategy: object) -> Any:
    raise AssertionError("nothing is drawn here")


def resized(sizes: Sizes, axis: int, size: int) -> list[int]:
    """The same with another size along one dimension."""
    return [*sizes[:axis], size, *sizes[axis + 1 :]]
