"""Strategies for asynchronous chains that are right by the way they are made, and such with one slip, as text.

Chains of every form go through tuples, barriers, calls, branches and loops. What a slip breaks is known from where it
was made, and is written in the first lines of the module.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.asynchronous.generate_flights import BODIES, FORMS, STATE, Form, bodies_of
from hloproof.fuzz.drawing import Draw, Writer

NAME: Final = "chains"
"""What these modules are called."""

SLIP: Final = "// a slip: "
"""Opens the first line of a module that a reader may refuse."""
BREAKS: Final = "// breaks "
"""Opens a line that tells a claim and where it does not hold."""

_ASIDE: Final = ', async_execution_thread="aside"'
_FORMS: Final[dict[str, Form]] = {
    **{name: form for name, form in FORMS.items() if name not in ("send", "recv")},
    "aside": Form(STATE, f"async-start({{x}}), calls=aside{_ASIDE}", "async-done", update="async-update"),
    "silent": Form("((f32[4]), (), s32[])", "async-start({x}), calls=opaque", "async-done", update="async-update"),
    "silent call": Form("((f32[4]), (), s32[])", "call-start({x}), to_apply=reads", "call-done", update="call-update"),
    "busy": Form(STATE, "async-start({x}), calls=more", "async-done", update="async-update"),
}
_BODIES: Final = BODIES + "".join(
    f"{name} {{\n  x = f32[4] parameter(0)\n  n = f32[4] negate(x)\n  ROOT y = f32[4] abs(n)\n}}{thread}\n\n"
    for name, thread in (("more", ""), ("aside", ', execution_thread="aside"'))
)

SLIPS: Final = (
    "start's shape",
    "update's shape",
    "another context",
    "done's shape",
    "another computation",
    "another thread",
    "main says aside",
    "two dones",
    "no done",
    "another kind",
    "no operation",
    "looked at",
    "not bound",
    "busy on main",
    "called elsewhere",
    "idle branch",
    "twice in a loop",
)


@dataclass(frozen=True, slots=True)
class _InFlight:
    """An operation in flight: where its value stands, the link that made it, and how it goes on."""

    name: str
    maker: str
    form: Form
    start: str
    shape: str
    restarts: bool
    """A start binds all that there is to bind, so that another one may follow in the place of this one."""
    endless: bool = False
    """A loop has handed it on and may do so for ever, so that nobody need finish it."""
    once: bool = True
    """One start made it: no loop has begun it anew."""
    direct: bool = True
    """The value is that of the link itself, not one that handed it on."""


class _Chains(Writer):
    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.bodies: list[str] = []
        self.lines: list[str] = []
        self.broken: list[tuple[str, str]] = []
        self.slip = self.one_of(("", "", "", *SLIPS))
        self.planted = False

    def slips(self, slip: str, claim: str, place: str, computation: str = "e") -> bool:
        """Whether this slip is to be made here; what it breaks is noted."""
        if self.slip != slip or self.planted:
            return False
        self.planted = True
        self.broken.append((claim, f"{computation}.{place}"))
        return True

    def add(self, shape: str, text: str, lines: list[str] | None = None, name: str = "") -> str:
        name = name or self.name()
        (self.lines if lines is None else lines).append(f"  {name} = {shape} {text}\n")
        return name

    def wrong(self, shape: str) -> str:
        """Another type or size in the first array."""
        other: str = self.one_of(("f32[2]", "s32[4]", "f32[4,1]"))
        return shape.replace("f32[4]", other, 1)

    # -- links ----------------------------------------------------------------------------------------------------

    def start(self) -> _InFlight:
        key = self.one_of(tuple(_FORMS)) if self.slip != "busy on main" else "busy"
        form, name = _FORMS[key], self.name()
        text, shape = form.start.format(x="p", y="p"), form.result
        if key == "busy" and not self.slips("busy on main", "async-computation", name):
            text += _ASIDE
        if key == "aside" and self.slips("main says aside", "async-thread", name):
            text = text.replace(_ASIDE, ', async_execution_thread="main"')
        if "calls=opaque" in text and self.slips("called elsewhere", "async-computation", name):
            self.add("f32[4]", "call(p), to_apply=opaque")
        if self.slips("start's shape", "async-shape", name):
            shape = self.wrong(shape)
        self.add(shape, text, name=name)
        return _InFlight(name, name, form, name, shape, not form.bound and shape == form.result)

    def _said(self, s: _InFlight, name: str) -> str:
        """What a link may repeat of its start."""
        text = ""
        if "calls=opaque" in s.form.start and self.slips("another computation", "async-computation", name):
            text += ", calls=reads"
        elif "calls=opaque" in s.form.start and self.chance(3):
            text += ", calls=opaque"
        if s.form.update and _ASIDE not in s.form.start and "more" not in s.form.start:
            if self.slips("another thread", "async-thread", name):
                text += _ASIDE
            else:
                text += self.one_of(("", "", ', async_execution_thread="main"'))
        return text

    def update(self, s: _InFlight) -> _InFlight:
        name, form = self.name(), s.form
        shape, further = form.bound or form.result, ", p" if form.bound else ""
        if self.slips("update's shape", "async-shape", name):
            shape = self.wrong(shape)
        if self.slips("another context", "async-shape", name):
            shape = shape.replace("s32[])", "u32[])")
        self.add(shape, f"{form.update}({s.name}{further}){self._said(s, name)}", name=name)
        bound = replace(form, result=form.bound or form.result, bound="")
        return _InFlight(name, name, bound, s.start, shape, s.restarts and shape == form.result)

    def done(self, s: _InFlight, lines: list[str] | None = None, computation: str = "e") -> str:
        name, form = self.name(), s.form
        opcode, shape, operand = form.done, form.finished, s.name
        own = not form.update
        if form.bound and not self.slips("not bound", "async-binding", name, computation):
            raise AssertionError("something is left to be bound")
        if lines is None:
            if self.slips("another kind", "async-chain", name):
                opcode = "copy-done" if opcode != "copy-done" else "all-reduce-done"
            if self.slips("no operation", "async-chain", name):
                operand = "p"
            if "exponential" not in opcode and self.slips("done's shape", "async-done", name):
                shape = self.wrong(shape)
        said = "" if own or lines is not None else self._said(s, name)
        return self.add(shape, f"{opcode}({operand}){said}", lines, name)

    # -- ways -----------------------------------------------------------------------------------------------------

    def carried(self, s: _InFlight) -> _InFlight | None:
        """The operation behind something that hands it on; None where that finished it."""
        if s.direct:
            self.broken.append(("async-linear", f"e.{s.maker}"))
        match self.one_of(("tuple", "barrier", "call", "branch", "loop", "loop")):
            case "tuple":
                whole = self.add(f"({s.shape}, f32[4])", f"tuple({s.name}, p)")
                name = self.add(s.shape, f"get-tuple-element({whole}), index=0")
            case "barrier":
                name = self.add(s.shape, f"opt-barrier({s.name})")
            case "call":
                ends = not s.form.bound and self.chance(2)
                body = self.body(s, ends)
                name = self.add("f32[4]" if ends else s.shape, f"call({s.name}), to_apply={body}")
                if ends:
                    return None
            case "branch":
                ends = not s.form.bound and (self.slip == "idle branch" or self.chance(2))
                idle = ends and self.slips("idle branch", "async-chain", s.start)
                bodies = f"{self.body(s, ends)}, {self.body(s, ends, idle)}"
                text = f"conditional(choice, {s.name}, {s.name}), branch_computations={{{bodies}}}"
                name = self.add("f32[4]" if ends else s.shape, text)
                if ends:
                    return None
            case _:
                return self.loop(s)
        return replace(s, name=name, direct=False)

    def body(self, s: _InFlight, ends: bool, idle: bool = False) -> str:
        """A computation that takes the state and hands it on, finishes it, or (idle) forgets it."""
        name, lines = self.name("b"), [f"  s = {s.shape} parameter(0)\n"]
        if idle:
            lines.append("  ROOT r = f32[4] constant({0,0,0,0})\n")
        elif ends:
            last = self.done(replace(s, name="s"), lines, name)
            lines.append(f'  ROOT r = f32[4] custom-call({last}), custom_call_target="g"\n')
        else:
            lines.append(f"  ROOT r = {s.shape} opt-barrier(s)\n")
        self.bodies.append(f"{name} {{\n{''.join(lines)}}}\n\n")
        return name

    def loop(self, s: _InFlight) -> _InFlight:
        """A loop whose state is the operation in flight: it is handed on, or ended with the next of its kind begun."""
        state, stop, body = f"({s.shape}, f32[4])", self.name("c"), self.name("b")
        lines = [
            f"  t = {state} parameter(0)\n",
            f"  s = {s.shape} get-tuple-element(t), index=0\n",
            "  x = f32[4] get-tuple-element(t), index=1\n",
        ]
        out, inner, once, endless = "s", replace(s, name="s"), s.once, False
        whole = not s.form.bound and s.restarts
        if whole and self.slips("twice in a loop", "async-chain", s.start):
            self.done(inner, lines, body)
        elif whole and not self.chance(3):
            self.done(inner, lines, body)
            out = self.add(
                s.shape, s.form.start.format(x="x", y="x") + (_ASIDE if "more" in s.form.start else ""), lines
            )
            self.broken.append(("async-linear", f"{body}.{out}"))
            once = False
        else:
            endless = True
        lines.append(f"  ROOT r = {state} tuple({out}, x)\n")
        self.bodies.append(f"{stop} {{\n  t = {state} parameter(0)\n  ROOT k = pred[] constant(false)\n}}\n\n")
        self.bodies.append(f"{body} {{\n{''.join(lines)}}}\n\n")
        given = self.add(state, f"tuple({s.name}, p)")
        after = self.add(state, f"while({given}), condition={stop}, body={body}")
        name = self.add(s.shape, f"get-tuple-element({after}), index=0")
        return replace(s, name=name, endless=endless, once=once, direct=False)

    # -- a chain --------------------------------------------------------------------------------------------------

    def chain(self) -> None:
        s = self.start()
        for _ in range(self.number(0, 2)):
            if s.form.update and self.chance(2):
                s = self.update(s)
            else:
                after = self.carried(s)
                if after is None:
                    return
                s = after
        if s.endless and s.once and self.chance(4):
            return
        if s.form.bound and self.slip != "not bound":
            s = self.update(s)
        if s.direct and self.slips("looked at", "async-linear", s.maker):
            self.add("f32[4]", f'custom-call({s.name}), custom_call_target="look"')
        if not s.form.bound and s.direct and s.name == s.start and self.slips("no done", "async-chain", s.start):
            return
        if not s.form.bound and self.slips("two dones", "async-chain", s.start):
            self.done(s)
        self.done(s)


@st.composite
def chain_modules(draw: Draw) -> str:
    """One or two chains in one module."""
    w = _Chains(draw)
    for _ in range(w.number(1, 2)):
        w.chain()
    said = f"{SLIP}{w.slip}\n" if w.planted else ""
    said += "".join(f"{BREAKS}{claim} {place}\n" for claim, place in dict.fromkeys(w.broken))
    lines = "".join(w.lines)
    entry = f"  p = f32[4] parameter(0)\n  choice = s32[] parameter(1)\n{lines}  ROOT root = f32[4] negate(p)\n"
    bodies = "".join(w.bodies)
    return f"{said}HloModule {NAME}\n\n{bodies_of(bodies + entry, _BODIES)}{bodies}ENTRY e {{\n{entry}}}\n"
