"""Small changes of a program: which there are is one table. After each, the shapes that follow are written anew; where
they do not fit the change is left out, or now and then kept as it is, to see whether the compiler refuses it too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from hypothesis import strategies as st

from hloproof.fuzz.compiler.corpus_shapes import LEFT_OPEN, settled, with_computation, with_instruction
from hloproof.fuzz.drawing import Draw, Writer
from hloproof.models.hlo.attributes import (
    Attributes,
    AttributeValue,
    ConvolutionDimensions,
    PaddingDimension,
    SliceDimension,
    Window,
    WindowDimension,
    Word,
)
from hloproof.models.hlo.inference.infer import ShapeError
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.printer import print_module
from hloproof.models.hlo.shape import ArrayShape, Layout, TupleShape

MOST: Final = 3
"""Changes of one module."""
_CLASSES: Final = (
    "add subtract multiply maximum minimum",
    "negate abs sign",
    "floor ceil round-nearest-even round-nearest-afz",
    "exponential exponential-minus-one log log-plus-one sqrt rsqrt cbrt tanh sine cosine tan logistic erf "
    "asin acos atan asinh acosh atanh sinh cosh",
    "and or xor",
    "divide remainder power",
    "shift-left shift-right-logical shift-right-arithmetic",
    "not popcnt count-leading-zeros",
)
"""Opcodes of one trait, which take the same operands and give the same shape."""
_ALIKE: Final[Mapping[str, tuple[str, ...]]] = {
    name: tuple(n for n in line.split() if n != name) for line in _CLASSES for name in line.split()
}
_NUMBERS: Final = ("0", "1", "2", "-1", "3", "7", "-3", "127", "-128")
_TYPES: Final = ("f32", "s32", "s8", "u8", "bf16", "f16", "f64", "pred", "s64", "u32", "s16", "s4", "u4")
_SIZES: Final = (1, 2, 3, 4, 5, 7, 8, 0)
_DIRECTIONS: Final = ("EQ", "NE", "LT", "LE", "GT", "GE")

_FOLDS: Final = frozenset({"reduce", "reduce-window", "select-and-scatter"})
"""How often these take their initial value is open, so that it stays the neutral one: no other constant or operand."""

Change = Callable[[Writer, Module, Computation, Instruction], Module | None]


@dataclass(frozen=True, slots=True)
class Mutation:
    """A change of one instruction. Those that change `values` could make a loop endless, and leave loops alone."""

    applies: Callable[[Computation, Instruction], bool]
    change: Change
    values: bool = True


def _same_shape(c: Computation, i: Instruction) -> bool:
    shapes = c.operand_shapes(i)
    return i.opcode not in _FOLDS and len(shapes) > 1 and len(set(shapes)) < len(shapes)


def _swap(w: Writer, m: Module, c: Computation, i: Instruction) -> Module | None:
    shapes, operands = c.operand_shapes(i), list(i.operands)
    pairs = [
        (a, b) for b in range(len(shapes)) for a in range(b) if shapes[a] == shapes[b] and operands[a] != operands[b]
    ]
    if not pairs:
        return None
    a, b = w.one_of(pairs)
    operands[a], operands[b] = operands[b], operands[a]
    return with_instruction(m, c, replace(i, operands=tuple(operands)))


def _other_operand(w: Writer, m: Module, c: Computation, i: Instruction) -> Module | None:
    """In the place of one operand another value of its shape that is computed before."""
    k = w.number(0, len(i.operands) - 1)
    before = c.instructions[: c.instructions.index(i)]
    fit = [x.name for x in before if x.shape == c.by_name[i.operands[k]].shape and x.name != i.operands[k]]
    if not fit:
        return None
    return with_instruction(m, c, replace(i, operands=(*i.operands[:k], w.one_of(fit), *i.operands[k + 1 :])))


def _opcode(w: Writer, m: Module, c: Computation, i: Instruction) -> Module | None:
    return with_instruction(m, c, replace(i, opcode=w.one_of(_ALIKE[i.opcode])))


def _constant(w: Writer, m: Module, c: Computation, i: Instruction) -> Module | None:
    assert isinstance(i.shape, ArrayShape)
    literal = w.one_of(("false", "true")) if i.shape.element_type == "pred" else w.one_of(_NUMBERS)
    return with_instruction(m, c, replace(i, literal=literal))


def _scalar(c: Computation, i: Instruction) -> bool:
    scalar = isinstance(i.shape, ArrayShape) and not i.shape.dimensions
    started = any(x.opcode in _FOLDS and i.name in x.operands for x in c.instructions)
    real = scalar and isinstance(i.shape, ArrayShape) and i.shape.element_type[0] != "c"
    return i.opcode == "constant" and real and not started


def _with(m: Module, c: Computation, i: Instruction, name: str, value: AttributeValue) -> Module:
    pairs = tuple((k, value if k == name else v) for k, v in i.attributes.pairs)
    return with_instruction(m, c, replace(i, attributes=Attributes(pairs)))


def _has(name: str) -> Callable[[Computation, Instruction], bool]:
    return lambda c, i: bool(i.attributes.get(name))


def _one_of_many(name: str, drawn: Callable[[Writer, Any, int], Any]) -> Change:
    """One entry of a list is drawn anew, from its value and the size of its dimension."""

    def change(w: Writer, m: Module, c: Computation, i: Instruction) -> Module | None:
        value = i.attributes.get(name)
        entries: list[Any] = list(value.dimensions if isinstance(value, Window) else value)  # type: ignore[arg-type]
        k = w.number(0, len(entries) - 1)
        operand = c.operand_shapes(i)[0]
        size = operand.dimensions[k] if isinstance(operand, ArrayShape) and k < operand.rank else 4
        entries[k] = drawn(w, entries[k], size)
        return _with(m, c, i, name, Window(tuple(entries)) if isinstance(value, Window) else tuple(entries))

    return change


def _slice(w: Writer, old: SliceDimension, size: int) -> SliceDimension:
    start = w.number(0, size)
    return SliceDimension(start, w.number(start, size), w.one_of((1, 2, 3)))


def _padding(w: Writer, old: PaddingDimension, size: int) -> PaddingDimension:
    return PaddingDimension(w.number(-2, 3), w.number(-2, 3), w.one_of((0, 1, 2)))


def _window(w: Writer, old: WindowDimension, size: int) -> WindowDimension:
    match w.number(0, 5):
        case 0:
            return replace(old, padding_low=w.number(-1, 2))
        case 1:
            return replace(old, padding_high=w.number(-1, 2))
        case 2:
            return replace(old, stride=w.number(1, 3))
        case 3:
            return replace(old, base_dilation=w.number(1, 3))
        case 4:
            return replace(old, window_dilation=w.number(1, 3))
        case _:
            return replace(old, reversal=not old.reversal)


def _lists(c: Computation, i: Instruction) -> bool:
    return any(_is_list(v) for _, v in i.attributes.pairs)


def _is_list(value: AttributeValue) -> bool:
    return isinstance(value, tuple) and bool(value) and all(isinstance(n, int) for n in value)


def _dimension_numbers(w: Writer, m: Module, c: Computation, i: Instruction) -> Module | None:
    """In one list of numbers two change places, or one becomes another."""
    name = w.one_of([k for k, v in i.attributes.pairs if _is_list(v)])
    numbers = list(i.attributes.integers(name))
    a, b = (w.number(0, len(numbers) - 1) for _ in range(2))
    if a != b:
        numbers[a], numbers[b] = numbers[b], numbers[a]
    else:
        numbers[a] = w.number(0, 3)
    return _with(m, c, i, name, tuple(numbers))


def _direction(w: Writer, m: Module, c: Computation, i: Instruction) -> Module | None:
    return _with(m, c, i, "direction", Word(w.one_of(_DIRECTIONS)))


def _labels(w: Writer, m: Module, c: Computation, i: Instruction) -> Module | None:
    """In one array of a convolution two dimensions change their meaning."""
    labels = i.attributes.get("dim_labels")
    assert isinstance(labels, ConvolutionDimensions)
    array = w.one_of(("input", "kernel", "output"))
    others = {k: getattr(labels, k) for k in labels.__slots__ if k.startswith(array)}
    numbers = [n for v in others.values() for n in (v if isinstance(v, tuple) else (v,))]
    a, b = w.one_of(numbers), w.one_of(numbers)
    swapped = {a: b, b: a}

    def again(v: Any) -> Any:
        return tuple(swapped.get(n, n) for n in v) if isinstance(v, tuple) else swapped.get(v, v)

    return _with(m, c, i, "dim_labels", replace(labels, **{k: again(v) for k, v in others.items()}))


def _layout(w: Writer, m: Module, c: Computation, i: Instruction) -> Module | None:
    """A value lies in memory in another order."""
    assert isinstance(i.shape, ArrayShape)
    layout = Layout(tuple(w.shuffled(range(i.shape.rank))))
    return with_instruction(m, c, replace(i, shape=replace(i.shape, layout=layout)))


def _iota(w: Writer, m: Module, c: Computation, i: Instruction) -> Module | None:
    return _with(m, c, i, "iota_dimension", w.number(0, 3))


def _size(w: Writer, m: Module, c: Computation, i: Instruction) -> Module | None:
    """One size of a parameter is another in the whole module."""
    assert isinstance(i.shape, ArrayShape)
    old, new = w.one_of(i.shape.dimensions), w.one_of(_SIZES)
    return settled(m, lambda n: new if n == old else n)


def _type(w: Writer, m: Module, c: Computation, i: Instruction) -> Module | None:
    """One element type is another in the whole module."""
    assert isinstance(i.shape, ArrayShape)
    old, new = i.shape.element_type, w.one_of(_TYPES)

    def changed(shape: Any) -> Any:
        if isinstance(shape, TupleShape):
            return TupleShape(tuple(changed(e) for e in shape.elements))
        return replace(shape, element_type=new) if getattr(shape, "element_type", None) == old else shape

    def again(x: Instruction) -> Instruction:
        shape = changed(x.shape)
        literal = x.literal
        if literal is not None and shape != x.shape and not literal.lstrip("-").isdigit():
            literal = (
                "true"
                if new == "pred"
                else "1"
                if isinstance(shape, ArrayShape) and not shape.dimensions
                else LEFT_OPEN
            )
        elif literal is not None and shape != x.shape and new == "pred":
            literal = "false" if literal == "0" else "true"
        return replace(x, shape=shape, literal=literal)

    for computation in m.computations:
        m = with_computation(m, replace(computation, instructions=tuple(again(x) for x in computation.instructions)))
    return m


def _root(w: Writer, m: Module, c: Computation, i: Instruction) -> Module | None:
    """The entry gives this value, and none that comes later is computed."""
    at = c.instructions.index(i)
    kept = tuple(x for n, x in enumerate(c.instructions) if n <= at or x.opcode == "parameter")
    return with_computation(m, replace(c, instructions=kept, root_name=i.name))


def _array_parameter(c: Computation, i: Instruction) -> bool:
    return i.opcode == "parameter" and isinstance(i.shape, ArrayShape) and i.shape.rank > 0


MUTATIONS: Final[Mapping[str, Mutation]] = {
    "swap operands": Mutation(_same_shape, _swap),
    "other operand": Mutation(lambda c, i: i.opcode not in _FOLDS and bool(i.operands), _other_operand),
    "opcode": Mutation(lambda c, i: i.opcode in _ALIKE, _opcode),
    "constant": Mutation(_scalar, _constant),
    "slice": Mutation(_has("slice"), _one_of_many("slice", _slice), values=False),
    "padding": Mutation(_has("padding"), _one_of_many("padding", _padding), values=False),
    "window": Mutation(
        lambda c, i: isinstance(i.attributes.get("window"), Window), _one_of_many("window", _window), values=False
    ),
    "slice sizes": Mutation(
        _has("dynamic_slice_sizes"),
        _one_of_many("dynamic_slice_sizes", lambda w, old, size: w.number(0, size)),
        values=False,
    ),
    "dimension numbers": Mutation(_lists, _dimension_numbers, values=False),
    "dimension labels": Mutation(_has("dim_labels"), _labels, values=False),
    "layout": Mutation(lambda c, i: isinstance(i.shape, ArrayShape) and i.shape.rank > 1, _layout, values=False),
    "direction": Mutation(_has("direction"), _direction),
    "iota dimension": Mutation(lambda c, i: i.opcode == "iota", _iota),
    "size": Mutation(_array_parameter, _size, values=False),
    "type": Mutation(lambda c, i: isinstance(i.shape, ArrayShape), _type),
    "root": Mutation(lambda c, i: isinstance(i.shape, ArrayShape) and i.opcode != "parameter", _root),
}


def _places(m: Module) -> dict[str, list[tuple[Computation, Instruction]]]:
    """Where each mutation applies: in the entry and what is called as a whole; bodies of folds and the conditions of
    loops stay as they are."""
    found: dict[str, list[tuple[Computation, Instruction]]] = {}
    todo, seen = [(m.entry_name, False)], set[str]()
    while todo:
        name, looping = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        c = m.by_name[name]
        for i in c.instructions:
            for kind, mutation in MUTATIONS.items():
                of_entry = name == m.entry_name or kind not in ("root", "size")
                if of_entry and not (looping and mutation.values) and mutation.applies(c, i):
                    found.setdefault(kind, []).append((c, i))
            if i.opcode in ("call", "conditional"):
                todo += [(n, looping) for n in i.attributes.computations()]
            elif i.opcode == "while":
                todo += [(n, True) for key in ("body",) for n in _named(i, key)]
    return found


def _named(i: Instruction, key: str) -> list[str]:
    value = i.attributes.get(key)
    return [] if value is None else [getattr(value, "name", "")]


@st.composite
def mutants(draw: Draw, programs: tuple[Module, ...]) -> str:
    """A program with up to MOST changes; none of them is what a case shrinks to."""
    w = Writer(draw)
    module = programs[w.number(0, len(programs) - 1)]
    kinds: list[str] = []
    for _ in range(w.number(0, MOST)):
        places = _places(module)
        if not places:
            break
        kind = w.one_of(list(places))
        computation, instruction = w.one_of(places[kind])
        keep_wrong = w.chance(6)
        changed = None
        try:
            changed = MUTATIONS[kind].change(w, module, computation, instruction)
            made = changed and settled(changed)
        except (ShapeError, TypeError):
            if not keep_wrong or changed is None:
                continue
            return _text(changed, [*kinds, kind])
        if made is not None:
            module, kinds = made, [*kinds, kind]
    return _text(module, kinds)


def _text(module: Module, kinds: list[str]) -> str:
    """The kinds of changes stand in a comment behind the head."""
    head, _, rest = print_module(module).partition("\n")
    return f"{head}\n/* changed: {', '.join(kinds) or 'nothing'} */{rest}"
