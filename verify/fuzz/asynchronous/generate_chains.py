"""Strategies for asynchronous chains, right ones and broken ones, as text.

Chains of every form go through tuples, barriers, calls, branches and loops. Now and then a link is written wrongly: the
done of another chain or kind, none at all, a shape with a part exchanged, another computation or thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Draw, Writer

NAME: Final = "chains"
"""What these modules are called."""

ODD: Final = "// something is written wrongly\n"
"""Opens a module that a reader may refuse."""

ShapeText = str | tuple["ShapeText", ...]

F4: Final = "f32[4]"
F2: Final = "f32[2]"
_BODIES: Final = """one {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x)
}

again {
  k = f32[4] parameter(0)
  ROOT l = f32[4] negate(k)
}

other {
  x = f32[4] parameter(0)
  ROOT y = f32[4] abs(x)
}

more {
  x = f32[4] parameter(0)
  n = f32[4] negate(x)
  ROOT y = f32[4] abs(n)
}

two {
  x = f32[4] parameter(0)
  y = f32[2] parameter(1)
  ROOT z = f32[4] custom-call(x, y), custom_call_target="f"
}

aside {
  x = f32[4] parameter(0)
  n = f32[4] negate(x)
  ROOT y = f32[4] abs(n)
}, execution_thread="aside"

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

"""
_COMPUTATIONS: Final = ("one", "one", "one", "more", "two", "two", "aside", "aside")


def written(shape: ShapeText) -> str:
    if isinstance(shape, str):
        return shape
    return "(" + ", ".join(written(s) for s in shape) + ")"


def _never(name: str, shape: str) -> str:
    """A loop's condition."""
    return f"{name} {{\n  t = {shape} parameter(0)\n  ROOT k = pred[] constant(false)\n}}\n\n"


@dataclass(slots=True)
class _State:
    name: str
    shape: ShapeText
    kind: str
    """The opcode without -start."""
    computation: str
    bound: int
    begun: str = ""
    """The start, without its operands, its shape before and its attributes after a bar."""


class _Writer(Writer):
    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.bodies: list[str] = []
        self.lines: list[str] = []
        self.states: list[_State] = []
        self.values: list[str] = ["p"]
        self.odd = False

    def slip(self, one_in: int) -> bool:
        """Whether something is to be written wrongly here."""
        wrong = self.chance(one_in * 3)
        self.odd = self.odd or wrong
        return wrong

    def wrong(self, shape: ShapeText) -> ShapeText:
        """The shape with something exchanged, left out or turned round."""
        if isinstance(shape, str) or not shape:
            return self.one_of((F2, "u32[]", (F4,), "f32[4,1]"))  # type: ignore[no-any-return]
        at = self.draw(st.integers(0, len(shape) - 1))
        match self.draw(st.integers(0, 3)):
            case 0:
                return shape[:at] + shape[at + 1 :]
            case 1:
                return (shape[at], *shape[:at], *shape[at + 1 :])
        return (*shape[:at], self.wrong(shape[at]), *shape[at + 1 :])

    def maybe(self, shape: ShapeText) -> ShapeText:
        """Now and then another shape."""
        return self.wrong(shape) if self.slip(9) else shape

    def start(self, lines: list[str], operand: str | None = None) -> _State:
        """A start on an array of four floats, in these lines."""
        kind = self.one_of(
            ("copy", "collective-permute", "all-gather", "all-reduce", "async", "async", "async", "negate", "call")
        )
        x = operand or self.one_of(self.values)
        name, computation, bound, inside = self.name(), "", 1, x
        match kind:
            case "copy":
                shape: ShapeText = (F4, F4, "u32[]")
                tail = ""
            case "collective-permute":
                shape, tail = (F4, F4), ", source_target_pairs={{0,0}}"
            case "all-gather":
                several = self.chance(4) and operand is None
                shape, tail = (F4, "f32[8]"), ", dimensions={0}, replica_groups={{0,1}}"
                if several:
                    shape, inside = ((F4, F2), ("f32[8]", F4)), f"{x}, q"
            case "all-reduce":
                shape, tail = F4, ", to_apply=add, replica_groups={{0}}"
            case "negate":
                shape, tail = ((F4,), F4, "s32[]"), ""
            case _:
                computation = self.one_of(_COMPUTATIONS)
                promised: ShapeText = () if self.chance(6) else F4
                if computation == "two" and self.chance(2):
                    bound, inside = 2, f"{x}, q"
                elif self.chance(8):
                    bound, inside = 0, ""
                carried = (F4, F2)[:bound]
                shape = (carried, promised, "s32[]")
                if bound == 1 and computation != "two" and promised and self.chance(5):
                    shape = (F4, promised, "s32[]")
                tail = f", {'calls' if kind == 'async' else 'to_apply'}={computation}"
                if computation == "aside" or self.slip(12):
                    thread = "aside" if computation == "aside" and not self.slip(8) else "main"
                    tail += f', async_execution_thread="{thread}"'
        shape = self.maybe(shape)
        lines.append(f"  {name} = {written(shape)} {kind}-start({inside}){tail}\n")
        again = f"{written(shape)} {kind}-start(|{tail}"
        return _State(name, shape, kind, computation, bound, again if bound <= 1 and inside in (x, "") else "")

    def _kind(self, s: _State) -> str:
        return self.one_of(("async", "copy", "negate", "call")) if self.slip(12) else s.kind

    def _about(self, s: _State, kind: str) -> str:
        """Attributes that a link may repeat."""
        text = ""
        if kind == "async" and s.computation and self.chance(3):
            text += f", calls={self.one_of(('again', 'other')) if self.slip(3) else s.computation}"
        if s.computation and self.chance(6):
            thread = "aside" if (s.computation == "aside") != self.slip(5) else "main"
            text += f', async_execution_thread="{thread}"'
        return text

    def update(self, lines: list[str], s: _State, given: tuple[str, ...] = ("p", "q")) -> _State:
        """An update; `given` are arrays of four and of two floats, as far as there are any."""
        kind = self._kind(s)
        if kind in ("copy", "all-gather", "all-reduce", "collective-permute"):
            return s
        further, bound = "", s.bound
        if bound < len(given) and ((s.computation == "two" and bound < 2) or bound < 1 or self.slip(10)):
            further, bound = f", {given[bound]}", bound + 1
        flat = not further and len(s.shape) == 3 and s.shape[0] == F4
        shape = self.maybe((F4 if flat else (F4, F2)[:bound], F4, "s32[]"))
        name = self.name()
        lines.append(f"  {name} = {written(shape)} {kind}-update({s.name}{further}){self._about(s, kind)}\n")
        return _State(name, shape, s.kind, s.computation, bound, s.begun if shape == s.shape else "")

    def done(self, lines: list[str], s: _State) -> str:
        kind, name = self._kind(s), self.name()
        shape: ShapeText = F4
        if s.kind == "all-gather" and len(s.shape) > 1:
            shape = s.shape[1]
        text = f"{written(self.maybe(shape))} {kind}-done({s.name}){self._about(s, kind)}"
        lines.append(f"  {name} = {text}\n")
        return name

    def carry(self, s: _State) -> _State | None:
        """The state behind something that hands it on; None where that finished it."""
        shape, name = written(s.shape), self.name()
        kind = self.one_of(("tuple", "barrier", "call", "branch", "loop", "loop"))
        match kind:
            case "tuple":
                whole = self.name()
                self.lines.append(f"  {whole} = ({shape}, f32[4]) tuple({s.name}, p)\n")
                self.lines.append(f"  {name} = {shape} get-tuple-element({whole}), index=0\n")
            case "barrier":
                self.lines.append(f"  {name} = {shape} opt-barrier({s.name})\n")
            case "call":
                body = self.body(s, self.chance(2))
                result = F4 if body.endswith("f") else shape
                self.lines.append(f"  {name} = {result} call({s.name}), to_apply={body}\n")
                if result == F4 and body.endswith("f"):
                    return None
            case "branch":
                ends = self.chance(2)
                first, second = self.body(s, ends), self.body(s, ends, idle=ends and self.chance(2))
                result = F4 if ends else shape
                inside = f"choice, {s.name}, {s.name}), branch_computations={{{first}, {second}}}"
                self.lines.append(f"  {name} = {result} conditional({inside}\n")
                if ends:
                    return None
            case _:
                self.loop(s, name)
        return _State(name, s.shape, s.kind, s.computation, s.bound, s.begun)

    def body(self, s: _State, ends: bool, idle: bool = False) -> str:
        """A computation that takes the state and hands it on, finishes it, or (idle) forgets it."""
        lines = [f"  s = {written(s.shape)} parameter(0)\n"]
        inner = _State("s", s.shape, s.kind, s.computation, s.bound)
        name = self.name() + ("f" if ends else "p")
        if idle:
            lines.append("  ROOT r = f32[4] constant({0,0,0,0})\n")
        elif ends:
            last = self.done(lines, inner)
            lines.append(f'  ROOT r = f32[4] custom-call({last}), custom_call_target="g"\n')
        else:
            lines.append(f"  ROOT r = {written(s.shape)} opt-barrier(s)\n")
        self.bodies.append(f"{name} {{\n{''.join(lines)}}}\n\n")
        return name

    def loop(self, s: _State, name: str) -> None:
        """A loop whose state is the operation in flight: mostly it ends one and starts the next of the same kind."""
        shape = written(s.shape)
        lines = [
            f"  t = ({shape}, f32[4]) parameter(0)\n",
            f"  s = {shape} get-tuple-element(t), index=0\n",
            "  x = f32[4] get-tuple-element(t), index=1\n",
        ]
        inner, out, last = _State("s", s.shape, s.kind, s.computation, s.bound), "s", "x"
        ready = s.computation != "two" or s.bound == 2
        if ready and s.begun and not self.slip(2):
            if s.kind in ("async", "call", "negate") and self.chance(4):
                inner = self.update(lines, inner, ("x",))
            last, out = self.done(lines, inner), self.name()
            first, second = s.begun.split("|")
            lines.append(f"  {out} = {first}{'x' if s.bound or s.kind not in ('async', 'call') else ''}){second}\n")
        elif self.slip(2):
            last = self.done(lines, inner)
        lines.append(f'  n = f32[4] custom-call({last}), custom_call_target="g"\n')
        lines.append(f"  ROOT r = ({shape}, f32[4]) tuple({out}, n)\n")
        stop, body = self.name(), self.name()
        self.bodies.append(_never(stop, f"({shape}, f32[4])"))
        self.bodies.append(f"{body} {{\n{''.join(lines)}}}\n\n")
        given, whole = self.name(), self.name()
        self.lines.append(f"  {given} = ({shape}, f32[4]) tuple({s.name}, p)\n")
        self.lines.append(f"  {whole} = ({shape}, f32[4]) while({given}), condition={stop}, body={body}\n")
        self.lines.append(f"  {name} = {shape} get-tuple-element({whole}), index=0\n")

    def exchange(self) -> None:
        """A loop that holds two copies in flight, and ends, starts and turns round what it likes."""
        shape, copy = "(f32[4], f32[4], u32[])", "copy-start"
        whole = f"({shape}, {shape}, f32[4])"
        names = [self.name() for _ in range(2)]
        for n in names:
            self.lines.append(f"  {n} = {shape} {copy}(p)\n")
        lines = [f"  t = {whole} parameter(0)\n"]
        lines += [f"  s{k} = {shape} get-tuple-element(t), index={k}\n" for k in range(2)]
        lines.append("  x = f32[4] get-tuple-element(t), index=2\n")
        inside, count = ["s0", "s1"], self.draw(st.integers(0, 3))
        for _ in range(count):
            name = self.name()
            if self.chance(2):
                lines.append(f"  {name} = {shape} {copy}(x)\n")
                inside.append(name)
            else:
                lines.append(f"  {name} = f32[4] copy-done({self.one_of(inside)})\n")
        out = ", ".join(self.one_of(inside) for _ in range(2))
        lines.append(f"  ROOT r = {whole} tuple({out}, x)\n")
        stop, body, given, loop = (self.name() for _ in range(4))
        self.bodies.append(_never(stop, whole))
        self.bodies.append(f"{body} {{\n{''.join(lines)}}}\n\n")
        self.lines.append(f"  {given} = {whole} tuple({', '.join(names)}, p)\n")
        self.lines.append(f"  {loop} = {whole} while({given}), condition={stop}, body={body}\n")
        for k in range(2):
            if not self.chance(4):
                part, end = self.name(), self.name()
                self.lines.append(f"  {part} = {shape} get-tuple-element({loop}), index={k}\n")
                self.lines.append(f"  {end} = f32[4] copy-done({part})\n")


@st.composite
def chain_modules(draw: Draw) -> str:
    """One to three chains in one module."""
    w = _Writer(draw)
    for _ in range(draw(st.integers(1, 3))):
        first = w.start(w.lines)
        w.states.append(first)
        s: _State | None = first
        for _ in range(draw(st.integers(0, 3))):
            assert s is not None
            if w.chance(2):
                s = w.update(w.lines, s)
            elif (s := w.carry(s)) is None:
                break
            w.states.append(s)
        if s is not None and s.computation == "two" and s.bound < 2 and not w.slip(8):
            s = w.update(w.lines, s)
        if s is None:
            if w.slip(8):
                w.done(w.lines, w.states[-1])
            continue
        for _ in range(draw(st.sampled_from((0, 2))) if w.slip(3) else 1):
            w.done(w.lines, w.one_of(w.states) if w.slip(6) else s)
    if w.chance(6):
        w.exchange()
    if w.slip(8):
        w.lines.append("  extra = f32[4] call(p), to_apply=one\n")
    if w.chance(8):
        w.lines.append(f'  seen = {F4} custom-call({w.one_of(w.states).name}), custom_call_target="look"\n')
    given = "  p = f32[4] parameter(0)\n  q = f32[2] parameter(1)\n  choice = s32[] parameter(2)\n"
    return (
        f"{ODD if w.odd else ''}HloModule {NAME}\n\n{_BODIES}{''.join(w.bodies)}ENTRY e {{\n{given}{''.join(w.lines)}"
        "  ROOT root = f32[4] negate(p)\n}\n"
    )
