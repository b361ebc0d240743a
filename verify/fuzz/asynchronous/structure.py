"""An asynchronous module while it is drawn: computations of typed values, operations in flight, what these are carried
through, at most one slip, and the text of it all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hloproof.fuzz.asynchronous.forms import CONSTANTS, FIXED, PAIR, TYPES, F, Form, G, S
from hloproof.fuzz.asynchronous.slips import SLIPS, Link, Type, text_of
from hloproof.fuzz.drawing import Draw, Writer


def part(shape: Type, index: Sequence[int]) -> Type:
    for k in index:
        assert isinstance(shape, tuple)
        shape = shape[k]
    return shape


def tree(shape: Type) -> list[tuple[int, ...]]:
    """All positions of a type, outer ones first."""
    if isinstance(shape, str):
        return [()]
    return [(), *((k, *rest) for k, inner in enumerate(shape) for rest in tree(inner))]


@dataclass(slots=True)
class Flying:
    """An operation in flight: its start, the latest link, and where its value stands now."""

    form: Form
    start: str = ""
    maker: str = ""
    state: str = ""
    shape: Type = ()
    late: list[tuple[Type, str]] = field(default_factory=list)
    """What has to be bound yet."""
    restarts: bool = True
    """A start binds all that there is to bind, so that another one may follow in the place of this one."""
    endless: bool = False
    """A loop has handed it on and may do so for ever, so that nobody need finish it."""
    anew: bool = False
    """A loop has begun it anew."""


@dataclass(frozen=True, slots=True)
class Style:
    """What is drawn in a computation: kinds of steps or groups of them, forms that it begins, ways that states go."""

    kinds: tuple[str | tuple[str, ...], ...] = ()
    forms: tuple[Form, ...] = ()
    ways: tuple[str, ...] = ("barrier",)
    nested: tuple[str, ...] = ("call", "while", "branch")
    """What runs computations that are drawn, too."""


class Drawn(Writer):
    """A module while it is drawn."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.finished: list[str] = []
        """Texts of finished computations."""
        self.broken: list[tuple[str, str]] = []
        """Claims and places where they do not hold."""
        self.slip, self.planted = "", False

    def slips(self, name: str, place: str) -> bool:
        """Whether this slip is to be made here; what it breaks is noted."""
        if self.slip != name or self.planted:
            return False
        self.planted = True
        self.broken.append((SLIPS[name].claim, place))
        return True

    def text(self, name: str, entry: Body, root: str, header: str = "") -> str:
        """The whole module, with those of the fixed computations that it names."""
        entry.close(root)
        body = "".join(self.finished[:-1]) + "ENTRY " + self.finished[-1]
        fixed = {c.partition(" ")[0]: f"{c}\n" for c in re.split(r"\n(?=\w)", FIXED.strip())}
        words = set(re.findall(r"\w+", body))
        words |= {w for name in words & set(fixed) for w in re.findall(r"to_apply=(\w+)", fixed[name])}
        return f"HloModule {name}{header}\n\n{''.join(c for n, c in fixed.items() if n in words)}\n{body}"


class Body:
    """A computation while it is drawn. `depth`: how deep calls may go from here; `controlled`: steps may wait for
    others that give them no data."""

    def __init__(
        self, module: Drawn, name: str, style: Style = Style(), depth: int = 0, controlled: bool = False
    ) -> None:
        self.module, self.name, self.style, self.depth, self.controlled = module, name, style, depth, controlled
        self.lines: list[tuple[str, str]] = []
        self.values: list[tuple[str, Type]] = []
        self.flying: list[Flying] = []
        self.read: list[str] = []
        """Arrays that operations in flight were given."""

    # -- values -------------------------------------------------------------------------------------------------------

    def add(self, shape: Type, text: str, name: str = "", shown: bool = True) -> str:
        """One more instruction; one that is not `shown` nobody picks as an operand."""
        name = name or self.module.name()
        steps = [n for n, t in self.lines if self.controlled and "parameter(" not in t]
        if steps and not text.startswith("get-tuple-element") and self.module.chance(6):
            text += f", control-predecessors={{{self.module.one_of(steps)}}}"
        self.lines.append((name, f"{text_of(shape)} {text}"))
        if shown:
            self.values.append((name, shape))
        return name

    def hidden(self, shape: Type, text: str) -> str:
        return self.add(shape, text, shown=False)

    def write(self, shape: Type | None, text: str) -> str:
        """An instruction with `<type>` for each operand, where F stands for that of `forms`, `new P` for a pair that is
        put together for it, and T for a type that is drawn here: the result's own where that is None."""
        drawn = self.any_type() if shape is None or "<T>" in text else F
        if "<new P>" in text:
            text = text.replace("<new P>", self.add(PAIR, f"tuple({self.pick(F)}, {self.pick(F)})"))
        named: dict[str, Type] = {"F": F, "T": drawn}
        text = re.sub(r"<([^>=]+)>", lambda hole: self.pick(named.get(hole[1], hole[1])), text)
        return self.add(drawn if shape is None else shape, text)

    def close(self, root: str, suffix: str = "") -> str:
        """Ends the computation; its name."""
        lines = "".join(f"  {'ROOT ' if name == root else ''}{name} = {text}\n" for name, text in self.lines)
        self.module.finished.append(f"{self.name} {{\n{lines}}}{suffix}\n\n")
        return self.name

    def any_type(self) -> Type:
        near = [s for _, s in self.values[-4:] if s in TYPES]
        found: Type = self.module.one_of(near if near and self.module.chance(2) else TYPES)
        return found

    def pick(self, shape: Type) -> str:
        """A value of this type: one that stands there, or one made for it."""
        m, found = self.module, [name for name, s in self.values if s == shape]
        if shape in CONSTANTS and shape not in (F, G):
            return self.hidden(shape, CONSTANTS[shape])
        if shape == F and self.read and m.chance(4):
            return str(m.one_of(self.read[-2:]))
        return str(m.one_of(found[-4:])) if found and not m.chance(8) else self.made(shape)

    def made(self, shape: Type) -> str:
        """A new value of this type."""
        m, found = self.module, [name for name, s in self.values if s == shape]
        ways = [(name, s, at) for name, s in self.values for at in tree(s) if at and part(s, at) == shape]
        if ways and (not found or m.chance(2)):
            return self.element(*m.one_of(ways[-6:]))
        if isinstance(shape, tuple):
            return self.add(shape, f"tuple({', '.join([self.pick(s) for s in shape])})")
        if found:
            return self.add(shape, f"{m.one_of(('negate', 'copy'))}({m.one_of(found)})")
        return self.add(shape, CONSTANTS[shape])

    def element(self, name: str, shape: Type, at: Sequence[int]) -> str:
        """A part of a value, taken out step by step."""
        for n, k in enumerate(at):
            inner = part(shape, at[: n + 1])
            name = self.add(inner, f"get-tuple-element({name}), index={k}", shown=n + 1 == len(at))
        return name

    # -- operations in flight -----------------------------------------------------------------------------------------

    def link(self, role: str, f: Flying, operands: Sequence[str], shape: Type, said: str) -> str:
        """One link of a chain, spoiled where a slip is to be made."""
        m, name = self.module, self.module.name()
        link = Link(role, f.form.opcode_of(role), f.form.attributes, tuple(operands), shape, said)
        slip = SLIPS.get(m.slip)
        if slip is not None and slip.fits(link):
            spoiled = slip.spoil(link, m)
            if spoiled != link and m.slips(m.slip, f"{self.name}.{name}"):
                link = spoiled
        for text in link.besides:
            self.add(F, text)
        said = f", {link.said}" if link.said else ""
        self.add(link.shape, f"{link.opcode}({', '.join(link.operands)}){said}", name, shown=role == "done")
        f.state, f.maker, f.shape = name, name, link.shape
        return name

    def start(self, form: Form) -> Flying:
        """Begins an operation."""
        form = replace(form, attributes=form.attributes.replace("{n}", self.module.name("")))
        operands = [self.pick(s) for s in form.given]
        bound = len(operands) if form.bound is None else form.bound
        f = Flying(form, late=list(zip(form.given, operands, strict=True))[bound:])
        f.start = self.link("start", f, operands[:bound], form.started(), form.attributes)
        f.restarts = not f.late and f.shape == form.started()
        self.read += [o for o, s in zip(operands[:bound], form.given, strict=False) if s == F]
        self.flying.append(f)
        return f

    def update(self, f: Flying, count: int = 1, own: bool = False) -> None:
        """Binds so many of the operands that are missing; `own`: the operation's own output instead of what it was to
        be."""
        now, f.late = f.late[:count], f.late[count:]
        assert isinstance(f.shape, tuple)
        held, promised, context = f.shape
        names = [self.element(f.state, f.shape, (1,)) if own and promised == s == F else name for s, name in now]
        if now:
            held = (*(held if isinstance(held, tuple) else (held,)), *(shape for shape, _ in now))
        if promised == () and self.module.chance(2):
            promised = f.form.result
        self.link("update", f, [f.state, *names], (held, promised, context), self.repeated(f))
        f.restarts, f.endless = f.restarts and f.shape == f.form.started(), False

    def repeated(self, f: Flying) -> str:
        """What a link says once more of its start, or may say."""
        attributes, m = f.form.attributes, self.module
        if "channel" in attributes:
            return attributes
        if "calls=opaque" in attributes and m.chance(3):
            return "calls=opaque"
        own = not f.form.updates or "aside" in attributes
        return "" if own or not m.chance(3) else 'async_execution_thread="main"'

    def done(self, f: Flying) -> str:
        """Finishes an operation, whatever it lacks; the result."""
        if f in self.flying:
            self.flying.remove(f)
        return self.link("done", replace(f), [f.state], f.form.result, self.repeated(f))

    # -- ways of a state ----------------------------------------------------------------------------------------------

    def carry(self, f: Flying, way: str) -> None:
        """The state behind something that hands it on; the operation flies no more where that finished it."""
        m, state = self.module, f.state
        if f.state == f.maker:
            m.broken.append(("async-linear", f"{self.name}.{f.maker}"))
        ends = not f.late and (m.slip == "idle branch" or m.chance(2))
        match way:
            case "tuple":
                whole = self.hidden((f.shape, F), f"tuple({state}, {self.pick(F)})")
                f.state = self.hidden(f.shape, f"get-tuple-element({whole}), index=0")
            case "barrier":
                f.state = self.hidden(f.shape, f"opt-barrier({state})")
            case "call" | "branch":
                bodies = [self._inside(f, ends)]
                if way == "branch":
                    idle = ends and m.slips("idle branch", f"{self.name}.{f.start}")
                    bodies.append(self._inside(f, ends, idle))
                f.state = self.run(way, bodies, [state] * len(bodies), f.form.result if ends else f.shape, shown=ends)
                if ends:
                    self.flying.remove(f)
            case "while":
                self._turn(f)

    def run(self, way: str, bodies: Sequence[str], operands: Sequence[str], result: Type, shown: bool = True) -> str:
        """What carries out bodies: a call, a loop that need not turn, or a branch, written in one of two ways."""
        said = f"call({', '.join(operands)}), to_apply={bodies[0]}"
        if way == "while":
            b = Body(self.module, self.module.name("k"))
            b.add(result, "parameter(0)", "s")
            condition = b.close(b.add("pred[]", "constant(false)"))
            said = f"while({operands[0]}), condition={condition}, body={bodies[0]}"
        elif way == "branch" and self.module.chance(2):
            choice = self.hidden("pred[]", "constant(true)")
            named = f"true_computation={bodies[0]}, false_computation={bodies[1]}"
            said = f"conditional({choice}, {', '.join(operands)}), {named}"
        elif way == "branch":
            said = f"conditional({self.pick(S)}, {', '.join(operands)}), branch_computations={{{', '.join(bodies)}}}"
        return self.add(result, said, shown=shown)

    def _inside(self, f: Flying, ends: bool, idle: bool = False) -> str:
        """A computation that takes the state and hands it on, finishes it, or (idle) forgets it."""
        b = Body(self.module, self.module.name("b"))
        inner = replace(f, state=b.add(f.shape, "parameter(0)", "s", shown=False))
        if idle:
            return b.close(b.add(F, CONSTANTS[F]))
        if ends:
            return b.close(b.add(F, f'custom-call({b.done(inner)}), custom_call_target="g"'))
        return b.close(b.add(f.shape, "opt-barrier(s)"))

    def _turn(self, f: Flying) -> None:
        """A loop whose state is the operation in flight: it is handed on, or ended with the next of its kind begun."""
        m, state = self.module, (f.shape, F)
        b = Body(m, m.name("b"))
        b.add(state, "parameter(0)", "t", shown=False)
        out = b.hidden(f.shape, "get-tuple-element(t), index=0")
        x = b.add(F, "get-tuple-element(t), index=1")
        inner = replace(f, state=out)
        if f.restarts and m.slips("twice in a loop", f"{self.name}.{f.start}"):
            b.done(inner)
        elif f.restarts and m.chance(2):
            b.done(inner)
            out = b.start(f.form).state
            m.broken.append(("async-linear", f"{b.name}.{out}"))
            f.anew = True
        f.endless = not f.anew and out == inner.state
        body = b.close(b.add(state, f"tuple({out}, {x})"))
        after = self.run("while", [body], [self.hidden(state, f"tuple({f.state}, {self.pick(F)})")], state, shown=False)
        f.state = self.hidden(f.shape, f"get-tuple-element({after}), index=0")
