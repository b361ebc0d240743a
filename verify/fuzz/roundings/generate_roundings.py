"""Pairs of programs of sums, products and conversions: the second is the first, rewritten as over real numbers, and
sometimes with another constant. Arrays have three elements, some of which may be constants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from hloproof.fuzz.drawing import Writer
from hloproof.fuzz.roundings.running_errors import DIGITS, SMALLEST
from hloproof.models.interpreter.semantics.element_type import rounded

SIZE: Final = 3
INPUTS: Final = ("x", "y")
_KINDS: Final = ("f32", "f16", "bf16", "f8e4m3fn", "f8e5m2", "f64")
_SUMS: Final = frozenset({"sum", "dot"})


@dataclass(frozen=True)
class Term:
    """An operation on terms; `held` are the elements of a constant, the name of an input, or where a choice takes its
    first operand."""

    op: str
    kind: str
    args: tuple[Term, ...] = ()
    held: tuple[float, ...] | tuple[bool, ...] | str = ()

    @property
    def is_scalar(self) -> bool:
        return self.op in _SUMS or (bool(self.args) and all(a.is_scalar for a in self.args))


def converted(term: Term, kind: str) -> Term:
    return term if term.kind == kind else Term("convert", kind, (term,))


class Programs:
    """Draws a term over inputs of two types, and rewrites it."""

    def __init__(self, w: Writer) -> None:
        self.w = w
        self.kinds = {name: self.kind() for name in INPUTS}

    def kind(self) -> str:
        return str(self.w.one_of(_KINDS))

    def number(self, kind: str) -> float:
        """One that the type holds, mostly with all of its digits; often as small as types are that hold less."""
        mantissa = self.w.one_of((1.0, 1.1, 1.3, 1.5, 1.75))
        exponent = self.w.one_of((0, 1, -1, -7, -10, -20, -30, 5, SMALLEST[kind] // 2, SMALLEST[kind] + 2))
        found = rounded(kind, mantissa * 2.0 ** max(exponent, SMALLEST[kind]))
        return float(found) * self.w.one_of((1, 1, -1)) if isinstance(found, float) else 1.0

    def constant(self, kind: str) -> Term:
        match self.w.number(0, 9):
            case 0 | 1 | 2 | 3:
                return Term("constant", kind, (), (self.number(kind),) * SIZE)
            case 4 | 5 | 6:
                return Term("constant", kind, (), tuple(self.number(kind) for _ in range(SIZE)))
            case 7 | 8:
                return converted(converted(self.constant(kind), self.kind()), kind)
        op = self.w.one_of(("multiply", "add", "divide"))
        return Term(op, kind, (self.constant(kind), self.constant(kind)))

    def term(self, kind: str, depth: int) -> Term:
        if not depth:
            name = self.w.one_of(INPUTS)
            found = converted(Term("parameter", self.kinds[name], (), name), kind)
            if self.w.chance(2):
                chosen = tuple(self.w.chance(2) for _ in range(SIZE))
                return Term("choice", kind, (found, self.constant(kind)), chosen)
            return found
        match self.w.number(0, 9):
            case 0 | 1 | 2 | 3:
                return Term("multiply", kind, (self.term(kind, depth - 1), self.constant(kind)))
            case 4:
                return Term("divide", kind, (self.term(kind, depth - 1), self.constant(kind)))
            case 5 | 6:
                op = self.w.one_of(("add", "subtract"))
                return Term(op, kind, (self.term(kind, depth - 1), self.term(kind, depth - 1)))
            case 7:
                return Term("negate", kind, (self.term(kind, depth - 1),))
        return converted(self.term(self.kind(), depth - 1), kind)

    def whole(self) -> Term:
        kind = self.kind()
        found = self.term(kind, self.w.number(1, 3))
        match self.w.number(0, 4):
            case 0:
                return Term("sum", kind, (found,))
            case 1:
                other = self.constant(self.kind()) if self.w.chance(2) else self.term(self.kind(), 1)
                return Term("dot", kind, (converted(found, self.kind()), other))
        return found

    def rewritten(self, term: Term) -> Term:
        """Some steps further; perhaps with another constant."""
        for _ in range(self.w.number(1, 4)):
            places = list(_places(term))
            wanted = [p for p in places if _at(term, p).op in ("convert", *_SUMS)]
            place = self.w.one_of(wanted if wanted and self.w.chance(2) else places)
            steps = list(self.steps(_at(term, place)))
            if steps:
                term = _put(term, place, self.w.one_of(steps))
        constants = [p for p in _places(term) if _at(term, p).op == "constant"]
        if constants and self.w.chance(4):
            place = self.w.one_of(constants)
            found = _at(term, place)
            factor = self.w.one_of((2.0, 0.5, -1.0, 1.0625))
            moved = [rounded(found.kind, float(x) * factor) for x in found.held]
            if all(isinstance(x, float) and abs(x) < float("inf") for x in moved):
                term = _put(term, place, replace(found, held=tuple(moved)))
        return term

    def steps(self, t: Term) -> Iterator[Term]:
        """What the term may become over real numbers."""
        if t.op in ("add", "multiply"):
            yield replace(t, args=t.args[::-1])
            for k, one in enumerate(t.args):
                if one.op == t.op:
                    yield replace(t, args=(one.args[0], replace(t, args=(one.args[1], t.args[1 - k]))))
        if t.op == "multiply":
            for k, one in enumerate(t.args):
                if one.op in ("add", "subtract"):
                    yield replace(one, args=tuple(replace(t, args=(a, t.args[1 - k])) for a in one.args))
                if one.op == "divide":
                    yield replace(one, args=(replace(t, args=(one.args[0], t.args[1 - k])), one.args[1]))
        if t.op == "divide":
            one = Term("constant", t.kind, (), (1.0,) * SIZE)
            yield Term("multiply", t.kind, (t.args[0], replace(t, args=(one, t.args[1]))))
        if t.op == "subtract":
            yield Term("add", t.kind, (t.args[0], Term("negate", t.kind, (t.args[1],))))
        if t.op == "convert":
            yield from self._converted(t, t.args[0])
        if t.op == "sum" and t.args[0].op == "multiply":
            yield Term("dot", t.kind, t.args[0].args)
        if t.op == "dot":
            yield Term("sum", t.kind, (Term("multiply", t.kind, tuple(converted(a, t.kind) for a in t.args)),))
        if t.op in ("add", "subtract", "multiply", "divide"):
            wide = self.kind()
            yield converted(Term(t.op, wide, tuple(converted(a, wide) for a in t.args)), t.kind)
        if not t.is_scalar:
            yield converted(converted(t, self.kind()), t.kind)

    def _converted(self, t: Term, inner: Term) -> Iterator[Term]:
        if inner.op == "convert":
            yield converted(inner.args[0], t.kind)
        if inner.op in ("add", "subtract", "multiply", "divide", "negate", "sum", "choice"):
            yield replace(inner, kind=t.kind, args=tuple(converted(a, t.kind) for a in inner.args))
        if inner.op == "dot":
            yield replace(inner, kind=t.kind)


def _places(term: Term, place: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    yield place
    for k, a in enumerate(term.args):
        yield from _places(a, (*place, k))


def _at(term: Term, place: tuple[int, ...]) -> Term:
    for k in place:
        term = term.args[k]
    return term


def _put(term: Term, place: tuple[int, ...], new: Term) -> Term:
    if not place:
        return new
    args = tuple(_put(a, place[1:], new) if k == place[0] else a for k, a in enumerate(term.args))
    return replace(term, args=args)


_ADD: Final = """add_KIND {
  a = KIND[] parameter(0)
  b = KIND[] parameter(1)
  ROOT c = KIND[] add(a, b)
}

"""


def text(term: Term, kinds: dict[str, str]) -> str:
    """The term as a module."""
    lines = [f"{name} = {kind}[{SIZE}] parameter({k})" for k, (name, kind) in enumerate(kinds.items())]
    names: dict[Term, str] = {}

    def written(t: Term) -> str:
        if t.op == "parameter":
            return str(t.held)
        if t not in names:
            args = ", ".join(written(a) for a in t.args)
            names[t] = name = f"v{len(names)}"
            shape = t.kind + ("[]" if t.is_scalar else f"[{SIZE}]")
            match t.op:
                case "constant":
                    numbers = ", ".join(map(repr, t.held))
                    lines.append(f"{name} = {shape} constant({{{numbers}}})")
                case "choice":
                    chosen = ", ".join("true" if b else "false" for b in t.held)
                    lines.append(f"p{name} = pred[{SIZE}] constant({{{chosen}}})")
                    lines.append(f"{name} = {shape} select(p{name}, {args})")
                case "sum":
                    lines.append(f"z{name} = {t.kind}[] constant(0)")
                    lines.append(f"{name} = {shape} reduce({args}, z{name}), dimensions={{0}}, to_apply=add_{t.kind}")
                case "dot":
                    dims = "lhs_contracting_dims={0}, rhs_contracting_dims={0}"
                    lines.append(f"{name} = {shape} dot({args}), {dims}")
                case _:
                    lines.append(f"{name} = {shape} {t.op}({args})")
        return names[t]

    last = f"ROOT r = {term.kind}[{'' if term.is_scalar else SIZE}] copy({written(term)})"
    sums = "".join(
        _ADD.replace("KIND", kind) for kind in sorted(DIGITS) if any(f"add_{kind}" in line for line in lines)
    )
    body = "\n  ".join((*lines, last))
    return f"HloModule m\n\n{sums}ENTRY e {{\n  {body}\n}}\n"


def pair(w: Writer) -> str:
    """Two modules, one behind the other."""
    programs = Programs(w)
    first = programs.whole()
    second = programs.rewritten(first)
    return text(first, programs.kinds) + "\n// -----\n\n" + text(second, programs.kinds)
